/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What the random program of fuzz.c keeps in mind, and what it does */
#ifndef UET_TEST_FUZZ_H
#define UET_TEST_FUZZ_H

#include <rdma/uet-abi.h>

#include "pair_test.h"

#define MEM_SIZE	(1024u * 1024)

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

extern struct tally *tally;	/* one for each life at the same time */
extern struct ibv_context *ctx;
extern union ibv_gid gid[2];
extern int gid_index[2];
extern unsigned int me;		/* which of the two devices is this life's */
extern __u8 *mem, *answer;

extern struct pool pools[KINDS];
extern struct ring rings[24];
extern unsigned int n_rings;
extern __u32 lonely_qpn[3];	/* of an RC, UC, UD QP without a partner */

__u32 odd_value(void);
__u32 key(void);
__u64 address(void);
void spoil(void *data, size_t from, size_t to);
void put32(struct cmd *c, __u32 value);
void put64(struct cmd *c, __u64 value);
int command(struct cmd *c, bool by_ioctl);

void random_command(bool by_ioctl);
void first_commands(void);
void random_modify(void);
void random_ioctl(void);
void random_work(void);
void random_mmap(void);

#endif /* UET_TEST_FUZZ_H */
