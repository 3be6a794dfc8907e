/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What the parts of ru_mem share */
#ifndef UET_TEST_RU_MEM_H
#define UET_TEST_RU_MEM_H

#include <infiniband/uetdv.h>

#include "pair_test.h"

/* Refusals as the completion has them, uet-wire 4.9 */
#define RC_PERM		0x17
#define RC_BAD_JOB_ID	0x1b
#define RC_BAD_MKEY	0x1c
#define RC_BAD_ADDR	0x1d

#define DEPTH		16
#define LEN		64
#define JOB1		0x101
#define JOB2		0x102

extern struct ibv_context *ctx;
extern union ibv_gid gid;
extern int gid_index;
extern struct uetdv_job *job[2];
extern struct ibv_ah *ah;

/* One side: a protection domain with an RU QP. */
struct end {
	struct ibv_pd *pd;
	struct ibv_cq_ex *cq;
	struct uetdv_jkey *jkey[2];
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	__u8 *mem;
};

extern struct end a, b;

/* What a completion says. */
struct seen {
	__u64 id;
	enum ibv_wc_status status;
	__u32 vendor;
	__u64 imm;
	__u32 src_id, job_id, qp_num;
};

/* One operation of A's QP */
enum what { WRITE, READ, ADD, SWAP, SEND, WRITE_IMM };

struct req {
	enum what what;
	__u64 rkey, addr;
	struct ibv_qp *from, *to;	/* else those of A and B */
	__u32 jkey;
	int rank;			/* > 0: by table */
	__u64 imm;
	__u64 id;
	__u32 flags;
	bool inlined;
};

struct ibv_qp *ru_try(struct end *e, struct uetdv_qp_init_attr *uet);
struct ibv_qp *ru_open(struct end *e);
void next_of(struct end *e, struct seen *s);
void post_req(const struct req *r);

/* Do it and expect a status, and with IBV_WC_REM_ACCESS_ERR a refusal. */
#define want(...) want_at(__LINE__, __VA_ARGS__)
void want_at(int line, const struct req *r, enum ibv_wc_status status,
	     __u32 vendor);

#define good(r)		want(r, IBV_WC_SUCCESS, 0)
#define refused(r, rc)	want(r, IBV_WC_REM_ACCESS_ERR, rc)

/* A WRITE that arrives where it is meant to, and nowhere else. */
#define lands(r, at) lands_at(__LINE__, r, at)
void lands_at(int line, const struct req *r, __u8 *at);

__u64 key_of(struct ibv_mr *mr);

#define RIGHTS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* A region of B, @page of its memory. */
#define reg(page, ...) reg_at(__LINE__, \
	(struct uetdv_reg_mr_attr){ __VA_ARGS__ }, page)
struct ibv_mr *reg_at(int line, struct uetdv_reg_mr_attr r, unsigned int page);

#define reg_refused(error, page, ...) reg_refused_at(__LINE__, error, \
	(struct uetdv_reg_mr_attr){ __VA_ARGS__ }, page)
void reg_refused_at(int line, int error, struct uetdv_reg_mr_attr r,
		    unsigned int page);

#define dereg(mr) dereg_at(__LINE__, mr)
void dereg_at(int line, struct ibv_mr *mr);

#define must(call, error) must_at(__LINE__, call, error)
void must_at(int line, int got, int error);

void t_pd(void);
void t_job(void);
void t_qp(void);
void t_both(void);
void t_chosen(void);
void t_chosen_scopes(void);
void t_chosen_often(void);
void t_idempotent(void);
void t_derived(void);
void t_derived_scope(void);
void t_dmabuf(void);
void t_left_open(void);
void t_atomics(void);
void t_imm64(void);
void t_order(void);
void t_full(void);
void t_numbers(void);
void t_semantics(void);
void t_ranks(void);

#endif /* UET_TEST_RU_MEM_H */
