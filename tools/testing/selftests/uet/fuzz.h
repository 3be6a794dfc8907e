/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What the random program of fuzz.c keeps in mind */
#ifndef UET_TEST_FUZZ_H
#define UET_TEST_FUZZ_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

enum kind { NOTHING = -1, PD, CQ, QP, SRQ, MR, MW, AH, CHANNEL, KINDS };

/* Handles of one kind of object */
struct pool {
	__u32 handle[32];
	unsigned int n;
};

enum ring_kind { CQ_RING, SQ_RING, RQ_RING };

struct ring {
	struct uet_ring *hdr;
	size_t size;
	__u32 depth, stride;
	enum ring_kind kind;
	__u32 object;		/* handle of the QP, CQ or SRQ */
};

/* A command as write() takes it, header and all */
struct cmd {
	__u32 number;
	__u8 qp_type;		/* as chosen for 'q' */
	__u64 address;		/* as chosen for 'a' */
	size_t len;
	union {
		__u8 data[1024];
		__u64 aligned;
	};
};

/**
 * struct cmd_form - how a command looks
 * @number: IB_USER_VERBS_CMD_
 * @fields: one letter for each field behind the header.
 *	64 bits: r where the answer goes, u anything, a address, v the same or a page
 *	on, l length.
 *	32 bits: P C Q S M W A handle of a PD, CQ, QP, SRQ, MR, MW, AH; c file of a
 *	channel, f access flags, d depth, s number of SGEs, x small number, . zero, D
 *	sub type of the QP type chosen.
 *	8 bits: , zero, b 0 to 2, q QP type, z whether there is an SRQ.
 *	Longer: g multicast GID, h address attributes.
 * @makes: object whose handle the answer starts with
 * @kills: destroys something; done less often
 */
struct cmd_form {
	__u32 number;
	const char *fields;
	enum kind makes;
	bool kills;
};

struct tally {
	unsigned int calls, succeeded, completions, crashes;
	unsigned int made[KINDS];
};

#endif /* UET_TEST_FUZZ_H */
