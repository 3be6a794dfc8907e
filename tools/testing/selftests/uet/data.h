/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What the parts of data share */
#ifndef UET_TEST_DATA_H
#define UET_TEST_DATA_H

#include "pair_test.h"

#define MB		1048576u
#define BIG		(16 * MB + 3)
#define ARENA		(BIG + 4 * MB)

extern __u32 mtus[8];		/* payload MTUs with edges of their own */
extern int nr_mtu;
extern size_t largest;
extern bool every_sge;		/* 1, 2, .. 16 instead of some */
extern bool builder;		/* post with ibv_wr_*() */
extern const char *cut, *mend;	/* commands that do it to the wire */

enum op { SEND, SEND_IMM, WRITE, WRITE_IMM, READ };

struct op_desc {
	const char *name;
	enum ibv_wr_opcode wr;
	enum ibv_wc_opcode wc;
};

extern const struct op_desc ops[];

struct wr {
	__u64 id;
	enum op op;
	int flags;
	__u32 imm;
	const struct sgl *l;
	__u64 remote;
	__u32 rkey;
	/* UD, RU */
	struct ibv_ah *ah;
	__u32 qpn;
};

/* A message under way, of many */
struct slot {
	bool busy;
	enum op op;
	size_t len;
	struct sgl local, remote;
	const __u8 *data;
	__u32 imm;
	bool sent, received;
};

#define RECV_BIT	0x100000000ull	/* in the wr_id of a receive */

bool takes_recv(enum op op);
void post(struct ibv_qp *qp, const struct wr *w);
void post_recv(struct ibv_qp *qp, __u64 id, const struct sgl *l);
void expect_send(struct side *s, enum op kind, __u64 id, __u32 qpn);
void check_recv(const struct ibv_wc *wc, enum op op, __u64 id, __u32 qpn,
		size_t len, __u32 imm);

/* Where messages of an RU QP go. */
extern struct ibv_ah *ru_ah;
extern __u32 ru_qpn;

/* One message from @a to @b (READ: by @a, from @b), with all checks */
void message(struct side *a, struct ibv_qp *qa, struct side *b,
	     struct ibv_qp *qb, enum op op, size_t len, int n_a, int n_b,
	     int flags);

/* The sizes to try; returns how many. */
int sizes(size_t *size);

/* Numbers of pieces to try on both ends; large messages try fewer. */
int pieces(size_t len, int limit, int n[][2]);
void matrix(struct ibv_qp *qa, struct ibv_qp *qb, enum op op, int flags,
	    size_t limit);

void rc_send(void);
void rc_send_imm(void);
void rc_write(void);
void rc_write_imm(void);
void rc_read(void);
void rc_inline(void);
void rc_builder(void);
void rc_unsignalled(void);
void rc_queue_full(void);
void rc_solicited(void);
void rc_rnr(void);
void rc_late_peer(void);
void rc_fence(void);
void rc_order(void);
void rc_mix(void);
void rc_64_qps(void);
void rc_post_in_poll(void);
void rc_sqd_rights(void);
void uc_send(void);
void uc_send_imm(void);
void uc_write(void);
void uc_write_imm(void);
void uc_builder(void);
void uc_bad_key(void);
void uc_bad_key_imm(void);
void uc_no_right(void);
void uc_no_buffer(void);
void uc_too_long(void);
void uc_mix(void);
void uc_no_reads(void);
void uc_own_fault(void);
void uc_peer_gone(void);
void uc_silent(void);
void ud_send(void);
void ud_builder(void);
void ud_reply(void);
void ud_dropped(void);
void ud_lossy(void);
void ru_send(void);
void ru_send_imm(void);
void ru_write(void);
void ru_write_imm(void);
void ru_read(void);
void ru_mix(void);
void ru_rnr(void);
void ru_too_long(void);

#endif /* UET_TEST_DATA_H */
