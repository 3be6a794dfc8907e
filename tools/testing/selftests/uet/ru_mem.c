// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * RU QPs and the memory that they reach: access classes, keys that are chosen,
 * regions that are a part of another, numbers, semantics, ranks, completions.
 * Both sides are protection domains of one device, in its network namespace:
 *	ru_mem DEVICE ADDRESS CHECK
 */
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <linux/capability.h>
#include <linux/udmabuf.h>

#include <infiniband/uetdv.h>

#include "lib.h"

/* Refusals as the completion has them, uet-wire 4.9 */
#define RC_PERM		0x17
#define RC_BAD_JOB_ID	0x1b
#define RC_BAD_MKEY	0x1c
#define RC_BAD_ADDR	0x1d

#define DEPTH		16
#define LEN		64
#define JOB1		0x101
#define JOB2		0x102

static struct ibv_context *ctx;
static union ibv_gid gid;
static int gid_index;

/* One side: a protection domain with an RU QP. */
struct end {
	struct ibv_pd *pd;
	struct ibv_cq_ex *cq;
	struct uetdv_jkey *jkey[2];
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	__u8 *mem;
} a, b;
static struct uetdv_job *job[2];
static struct ibv_ah *ah;

/* What a completion says. */
struct seen {
	__u64 id;
	enum ibv_wc_status status;
	__u32 vendor;
	__u64 imm;
	__u32 src_id, job_id, qp_num;
};

static struct ibv_cq_ex *cq_open(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4 * DEPTH,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
	};
	struct uetdv_cq_init_attr uet = {
		.wc_flags = UETDV_WC_EX_WITH_IMM64 | UETDV_WC_EX_WITH_SRC_ID |
			    UETDV_WC_EX_WITH_JOB_ID,
	};
	struct ibv_cq_ex *cq = uetdv_create_cq(ctx, &attr, &uet, sizeof(uet));

	if (!cq)
		die("uetdv_create_cq");
	return cq;
}

static struct ibv_qp *ru_try(struct end *e, struct uetdv_qp_init_attr *uet)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = ibv_cq_ex_to_cq(e->cq),
		.recv_cq = ibv_cq_ex_to_cq(e->cq),
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1,
			 .max_inline_data = 32 },
		.qp_type = IBV_QPT_DRIVER,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = e->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};

	uet->driver_qp_type = UETDV_QP_DRIVER_TYPE_RU;
	uet->comp_mask |= UETDV_QP_INIT_ATTR_SEND_OPS;
	uet->send_ops = UETDV_QP_EX_WITH_RU | UETDV_QP_EX_WITH_SEND_IMM64 |
			UETDV_QP_EX_WITH_RDMA_READ64 |
			UETDV_QP_EX_WITH_RDMA_WRITE64 |
			UETDV_QP_EX_WITH_RDMA_WRITE64_IMM64 |
			UETDV_QP_EX_WITH_ATOMIC64;
	errno = 0;
	return uetdv_create_qp(ctx, &attr, uet, sizeof(*uet));
}

static struct ibv_qp *ru_open(struct end *e)
{
	struct uetdv_qp_init_attr uet = {};
	struct ibv_qp *qp = ru_try(e, &uet);

	if (!qp)
		die("RU QP");
	return qp;
}

static void end_open(struct end *e)
{
	int i;

	e->pd = ibv_alloc_pd(ctx);
	e->cq = cq_open();
	e->mem = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!e->pd || e->mem == MAP_FAILED)
		die("side");
	e->mr = ibv_reg_mr(e->pd, e->mem, 16 * PAGE, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			   IBV_ACCESS_REMOTE_ATOMIC);
	for (i = 0; i < 2; i++)
		e->jkey[i] = uetdv_create_jkey(e->pd, job[i], 0);
	if (!e->mr || !e->jkey[0] || !e->jkey[1])
		die("region or job key");
	e->qp = ru_open(e);
}

static void all_open(const char *device, const char *address)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };
	int i;

	ctx = open_device(device);
	parse_gid(address, &gid);
	gid_index = find_gid(ctx, &gid);
	for (i = 0; i < 2; i++) {
		struct uetdv_job_attr ja = {
			.comp_mask = UETDV_JOB_ATTR_ID |
				     UETDV_JOB_ATTR_MAX_ADDR_ENTRIES |
				     UETDV_JOB_ATTR_SGID_INDEX,
			.id = i ? JOB2 : JOB1,
			.max_addr_entries = 8,
			.sgid_index = gid_index,
		};

		job[i] = uetdv_alloc_job(ctx, &ja, NULL);
		if (!job[i])
			die("job");
	}
	end_open(&a);
	end_open(&b);
	attr.grh.dgid = gid;
	attr.grh.sgid_index = gid_index;
	attr.grh.hop_limit = 64;
	ah = ibv_create_ah(a.pd, &attr);
	if (!ah)
		die("address handle");
}

static void end_close(struct end *e)
{
	int i;

	if (ibv_destroy_qp(e->qp) || ibv_dereg_mr(e->mr))
		die("destroy QP or region");
	for (i = 0; i < 2; i++)
		if (uetdv_destroy_jkey(e->jkey[i]))
			die("destroy job key");
	if (ibv_destroy_cq(ibv_cq_ex_to_cq(e->cq)) || ibv_dealloc_pd(e->pd))
		die("destroy CQ or PD");
}

static void all_close(void)
{
	int i;

	if (ibv_destroy_ah(ah))
		die("destroy AH");
	end_close(&a);
	end_close(&b);
	for (i = 0; i < 2; i++)
		if (uetdv_dealloc_job(job[i]))
			die("dealloc job");
}

static bool poll_once(struct end *e, struct seen *s)
{
	struct ibv_poll_cq_attr attr = {};

	if (ibv_start_poll(e->cq, &attr))
		return false;
	s->id = e->cq->wr_id;
	s->status = e->cq->status;
	s->vendor = ibv_wc_read_vendor_err(e->cq);
	s->imm = be64toh(uetdv_wc_read_imm64(e->cq));
	s->src_id = uetdv_wc_read_src_id(e->cq);
	s->job_id = uetdv_wc_read_job_id(e->cq);
	s->qp_num = ibv_wc_read_qp_num(e->cq);
	ibv_end_poll(e->cq);
	return true;
}

static void next_of(struct end *e, struct seen *s)
{
	__u64 end = now_ns() + wait_s * 1000000000ull;

	while (!poll_once(e, s))
		if (now_ns() > end)
			die("no completion");
}

/* ------------------------------------------------------------------ */
/* One operation of A's QP                                             */

enum what { WRITE, READ, ADD, SWAP, SEND, WRITE_IMM };

struct req {
	enum what what;
	__u64 rkey, addr;
	struct ibv_qp *from, *to;	/* else those of A and B */
	__u32 to_wire;
	__u32 jkey;
	int rank;			/* > 0: by table */
	__u64 imm;
	__u64 id;
	__u32 flags;
	bool inlined;
};

static void post_req(const struct req *r)
{
	struct ibv_qp_ex *qx = ibv_qp_to_qp_ex(r->from ?: a.qp);
	struct uetdv_qp_ex *ux = uetdv_qp_ex_from_ibv_qp_ex(qx);
	__u32 to = r->to_wire ?: (r->to ?: b.qp)->qp_num;
	bool atomic = r->what == ADD || r->what == SWAP;

	ibv_wr_start(qx);
	qx->wr_id = r->id;
	qx->wr_flags = IBV_SEND_SIGNALED | r->flags;
	switch (r->what) {
	case WRITE:
		uetdv_wr_rdma_write64(ux, r->rkey, r->addr);
		break;
	case READ:
		uetdv_wr_rdma_read64(ux, r->rkey, r->addr);
		break;
	case ADD:
		uetdv_wr_atomic_fetch_add64(ux, r->rkey, r->addr, 5);
		break;
	case SWAP:
		uetdv_wr_atomic_cmp_swp64(ux, r->rkey, r->addr, 12, 99);
		break;
	case SEND:
		uetdv_wr_send_imm64(ux, htobe64(r->imm));
		break;
	case WRITE_IMM:
		uetdv_wr_rdma_write64_imm64(ux, r->rkey, r->addr,
					    htobe64(r->imm));
		break;
	}
	if (r->rank > 0)
		uetdv_wr_set_job_addr(ux, r->rank, r->jkey);
	else
		uetdv_wr_set_ru_addr(ux, ah, to, r->jkey);
	if (r->inlined)
		ibv_wr_set_inline_data(qx, a.mem, 32);
	else
		ibv_wr_set_sge(qx, a.mr->lkey, (uintptr_t)a.mem,
			       atomic ? 8 : LEN);
	if (ibv_wr_complete(qx))
		die("post");
}

/* Do it and expect a status, and with IBV_WC_REM_ACCESS_ERR a refusal. */
#define want(...) want_at(__LINE__, __VA_ARGS__)
static void want_at(int line, const struct req *r, enum ibv_wc_status status,
		    __u32 vendor)
{
	struct seen s;

	post_req(r);
	next_of(&a, &s);
	if (s.status != status ||
	    (status == IBV_WC_REM_ACCESS_ERR && s.vendor != vendor))
		die("line %d: %s with 0x%x, not %s with 0x%x", line,
		    ibv_wc_status_str(s.status), s.vendor,
		    ibv_wc_status_str(status), vendor);
}

#define good(r)		want(r, IBV_WC_SUCCESS, 0)
#define refused(r, rc)	want(r, IBV_WC_REM_ACCESS_ERR, rc)

/* A WRITE that arrives where it is meant to, and nowhere else. */
#define lands(r, at) lands_at(__LINE__, r, at)
static void lands_at(int line, const struct req *r, __u8 *at)
{
	unsigned int i;

	for (i = 0; i < LEN; i++)
		a.mem[i] = rnd();
	memset(b.mem, GUARD, 16 * PAGE);
	want_at(line, r, IBV_WC_SUCCESS, 0);
	if (memcmp(at, a.mem, LEN))
		die("line %d: data is not where it was written to", line);
	memset(at, GUARD, LEN);
	for (i = 0; i < 16 * PAGE; i++)
		if (b.mem[i] != GUARD)
			die("line %d: byte %u was touched", line, i);
}

static __u64 key_of(struct ibv_mr *mr)
{
	uint64_t key;

	if (uetdv_mr_rkey64(mr, &key))
		die("uetdv_mr_rkey64");
	return key;
}

#define RIGHTS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* A region of B, @page of its memory. */
static struct ibv_mr *reg_try(struct uetdv_reg_mr_attr r, unsigned int page)
{
	if (!r.addr)
		r.addr = b.mem + page * PAGE;
	r.length = r.length ?: PAGE;
	r.access = r.access ?: RIGHTS;
	errno = 0;
	return uetdv_reg_mr(b.pd, &r, sizeof(r));
}

#define reg(page, ...) reg_at(__LINE__, \
	(struct uetdv_reg_mr_attr){ __VA_ARGS__ }, page)
static struct ibv_mr *reg_at(int line, struct uetdv_reg_mr_attr r,
			     unsigned int page)
{
	struct ibv_mr *mr = reg_try(r, page);

	if (!mr)
		die("line %d: region", line);
	return mr;
}

#define reg_refused(error, page, ...) reg_refused_at(__LINE__, error, \
	(struct uetdv_reg_mr_attr){ __VA_ARGS__ }, page)
static void reg_refused_at(int line, int error, struct uetdv_reg_mr_attr r,
			   unsigned int page)
{
	if (reg_try(r, page))
		die("line %d: a region that must not be", line);
	if (errno != error)
		die("line %d: not errno %d", line, error);
}

#define dereg(mr) dereg_at(__LINE__, mr)
static void dereg_at(int line, struct ibv_mr *mr)
{
	if (ibv_dereg_mr(mr))
		die("line %d: dereg", line);
}

#define must(call, error) must_at(__LINE__, call, error)
static void must_at(int line, int got, int error)
{
	if (got != error)
		die("line %d: %d, not %d", line, got, error);
}

#define CHOSEN(k)	.comp_mask = UETDV_REG_MR_MASK_RKEY, .rkey = (k)
#define FOR_JOB(i)	.comp_mask = UETDV_REG_MR_MASK_JKEY, .jkey = b.jkey[i]
#define FOR_QP		.comp_mask = UETDV_REG_MR_MASK_FLAGS, \
			.flags = UETDV_REG_MR_QP_RESTRICTED

/* ------------------------------------------------------------------ */
/* Access classes                                                      */

static void t_pd(void)
{
	struct ibv_mr *mr = reg(1, .comp_mask = 0);
	struct req r = { .rkey = key_of(mr), .addr = (uintptr_t)mr->addr };

	must(r.rkey == (1ull << 48 | mr->rkey), true);
	lands(&r, b.mem + PAGE);
	r.what = READ;
	good(&r);
	/* The plain key, as programs of other devices send it. */
	r.what = WRITE;
	r.rkey = mr->rkey;
	lands(&r, b.mem + PAGE);
	r.rkey = 1ull << 49 | mr->rkey;
	refused(&r, RC_BAD_MKEY);
	r.rkey = 1ull << 48 | (mr->rkey ^ 1);
	refused(&r, RC_BAD_MKEY);
	r.rkey = key_of(a.mr);
	refused(&r, RC_BAD_MKEY);
	r.rkey = key_of(mr);
	r.addr += PAGE - LEN + 1;
	refused(&r, RC_BAD_ADDR);
	dereg(mr);
	refused(&r, RC_BAD_MKEY);
}

static void t_job(void)
{
	struct ibv_mr *mr = reg(1, FOR_JOB(0));
	struct req r = { .rkey = key_of(mr), .addr = (uintptr_t)mr->addr };

	refused(&r, RC_BAD_JOB_ID);
	r.jkey = a.jkey[1]->jkey;
	refused(&r, RC_BAD_JOB_ID);
	r.jkey = a.jkey[0]->jkey;
	lands(&r, b.mem + PAGE);
	/* The key is held by the region. */
	must(uetdv_destroy_jkey(b.jkey[0]), EBUSY);
	/* What is for no job is for every job that is let in. */
	r.rkey = key_of(b.mr);
	good(&r);
	reg_refused(EOPNOTSUPP, 2, FOR_JOB(0),
		    .access = RIGHTS | IBV_ACCESS_MW_BIND);
	dereg(mr);
}

static void t_qp(void)
{
	struct ibv_mr *mr = reg(1, FOR_QP), *plain = reg(2, .comp_mask = 0);
	struct req r = { .rkey = key_of(mr), .addr = (uintptr_t)mr->addr };
	struct ibv_qp *second = ru_open(&b);

	refused(&r, RC_BAD_MKEY);
	must(uetdv_attach_mr(b.qp, plain), EINVAL);
	must(uetdv_attach_mr(a.qp, mr), EINVAL);
	must(uetdv_detach_mr(b.qp, mr), EINVAL);
	must(uetdv_attach_mr(b.qp, mr), 0);
	must(uetdv_attach_mr(b.qp, mr), EBUSY);
	must(uetdv_attach_mr(second, mr), EBUSY);
	lands(&r, b.mem + PAGE);
	r.to = second;
	refused(&r, RC_BAD_MKEY);
	must(uetdv_detach_mr(second, mr), EINVAL);
	must(uetdv_detach_mr(b.qp, mr), 0);
	r.to = NULL;
	refused(&r, RC_BAD_MKEY);
	/* The end of a QP lets go. */
	must(uetdv_attach_mr(second, mr), 0);
	must(ibv_destroy_qp(second), 0);
	must(uetdv_attach_mr(b.qp, mr), 0);
	lands(&r, b.mem + PAGE);
	dereg(mr);
	dereg(plain);
}

static void t_both(void)
{
	struct ibv_mr *mr = reg(1, .comp_mask = UETDV_REG_MR_MASK_JKEY |
				   UETDV_REG_MR_MASK_FLAGS,
				.jkey = b.jkey[0],
				.flags = UETDV_REG_MR_QP_RESTRICTED);
	struct req r = { .rkey = key_of(mr), .addr = (uintptr_t)mr->addr,
			 .jkey = a.jkey[0]->jkey };

	refused(&r, RC_BAD_MKEY);
	must(uetdv_attach_mr(b.qp, mr), 0);
	lands(&r, b.mem + PAGE);
	r.jkey = a.jkey[1]->jkey;
	refused(&r, RC_BAD_JOB_ID);
	dereg(mr);
}

/* ------------------------------------------------------------------ */
/* Chosen keys                                                         */

static void t_chosen(void)
{
	struct ibv_mr *one = reg(1, CHOSEN(0x123456789abcull));
	struct req r = { .rkey = 0x123456789abcull,
			 .addr = (uintptr_t)one->addr };
	struct ibv_mr *two;

	must(key_of(one) == r.rkey, true);
	lands(&r, b.mem + PAGE);
	reg_refused(EEXIST, 2, CHOSEN(0x123456789abcull));
	reg_refused(EINVAL, 2, CHOSEN(1ull << 48));
	/* By its other key it is for its own process only. */
	r.rkey = one->rkey;
	refused(&r, RC_BAD_MKEY);
	r.rkey |= 1ull << 48;
	refused(&r, RC_BAD_MKEY);
	dereg(one);
	r.rkey = 0x123456789abcull;
	refused(&r, RC_BAD_MKEY);
	/* A key that a region has as assigned one: the chosen one counts. */
	one = reg(1, .comp_mask = 0);
	two = reg(2, CHOSEN(one->rkey));
	r.rkey = one->rkey;
	r.addr = (uintptr_t)two->addr;
	lands(&r, b.mem + 2 * PAGE);
	r.rkey = key_of(one);
	r.addr = (uintptr_t)one->addr;
	lands(&r, b.mem + PAGE);
	dereg(two);
	r.rkey = one->rkey;
	lands(&r, b.mem + PAGE);
	dereg(one);
	/* The smallest */
	one = reg(1, CHOSEN(0));
	r.rkey = 0;
	lands(&r, b.mem + PAGE);
	dereg(one);
}

static void t_chosen_scopes(void)
{
	struct uetdv_reg_mr_attr attr = {
		.comp_mask = UETDV_REG_MR_MASK_RKEY | UETDV_REG_MR_MASK_JKEY,
		.rkey = 7,
	};
	struct ibv_qp *second = ru_open(&b);
	struct ibv_mr *mr[2];
	struct req r = { .rkey = 7 };
	int i;

	/* The same key in two jobs */
	for (i = 0; i < 2; i++) {
		attr.jkey = b.jkey[i];
		mr[i] = reg_at(__LINE__, attr, 1 + i);
	}
	reg_refused_at(__LINE__, EEXIST, attr, 3);
	reg_refused(EEXIST, 3, CHOSEN(7));
	for (i = 0; i < 2; i++) {
		r.jkey = a.jkey[i]->jkey;
		r.addr = (uintptr_t)mr[i]->addr;
		lands(&r, mr[i]->addr);
	}
	r.jkey = 0;
	refused(&r, RC_BAD_JOB_ID);
	dereg(mr[0]);
	dereg(mr[1]);

	/* The same key by two QPs, not twice by one */
	attr = (struct uetdv_reg_mr_attr){
		.comp_mask = UETDV_REG_MR_MASK_RKEY | UETDV_REG_MR_MASK_FLAGS,
		.rkey = 7,
		.flags = UETDV_REG_MR_QP_RESTRICTED,
	};
	for (i = 0; i < 2; i++)
		mr[i] = reg_at(__LINE__, attr, 1 + i);
	must(uetdv_attach_mr(b.qp, mr[0]), 0);
	must(uetdv_attach_mr(b.qp, mr[1]), EEXIST);
	must(uetdv_attach_mr(second, mr[1]), 0);
	for (i = 0; i < 2; i++) {
		r.to = i ? second : b.qp;
		r.addr = (uintptr_t)mr[i]->addr;
		lands(&r, mr[i]->addr);
	}
	dereg(mr[0]);
	dereg(mr[1]);
	must(ibv_destroy_qp(second), 0);
}

static void t_idempotent(void)
{
	struct ibv_mr *mr = reg(1, .comp_mask = UETDV_REG_MR_MASK_RKEY |
				   UETDV_REG_MR_MASK_FLAGS, .rkey = 9,
				.flags = UETDV_REG_MR_IDEMPOTENT_SAFE);
	struct req r = { .rkey = key_of(mr), .addr = (uintptr_t)mr->addr };

	must(r.rkey == (1ull << 63 | 9), true);
	lands(&r, b.mem + PAGE);
	r.rkey = 9;
	refused(&r, RC_BAD_MKEY);
	reg_refused(EINVAL, 2, .comp_mask = UETDV_REG_MR_MASK_FLAGS,
		    .flags = UETDV_REG_MR_IDEMPOTENT_SAFE);
	dereg(mr);
}

/* ------------------------------------------------------------------ */
/* Parts of other regions                                              */

#define PART_OF(mr_)	.comp_mask = UETDV_REG_MR_MASK_CUR_MR, .cur_mr = (mr_)

static void t_derived(void)
{
	struct ibv_mr *whole = reg(1, .length = 4 * PAGE);
	struct ibv_mr *part = reg(2, PART_OF(whole), .length = 2 * PAGE,
				  .access = IBV_ACCESS_LOCAL_WRITE |
					    IBV_ACCESS_REMOTE_WRITE);
	struct ibv_mr *inner = reg(3, PART_OF(part), .access = RIGHTS);
	struct req r = { .rkey = key_of(part),
			 .addr = (uintptr_t)b.mem + 2 * PAGE };

	lands(&r, b.mem + 2 * PAGE);
	r.what = READ;
	refused(&r, RC_PERM);
	r.what = WRITE;
	r.addr = (uintptr_t)b.mem + 2 * PAGE - LEN;
	refused(&r, RC_BAD_ADDR);
	r.rkey = key_of(inner);
	r.addr = (uintptr_t)b.mem + 3 * PAGE + 17;
	lands(&r, b.mem + 3 * PAGE + 17);
	must(ibv_dereg_mr(whole), EBUSY);
	must(ibv_dereg_mr(part), EBUSY);
	must(ibv_rereg_mr(whole, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			  IBV_ACCESS_REMOTE_READ) != 0, true);
	dereg(inner);
	dereg(part);
	must(ibv_rereg_mr(whole, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			  RIGHTS), 0);
	r.rkey = key_of(whole);
	lands(&r, b.mem + 3 * PAGE + 17);

	reg_refused(EINVAL, 0, PART_OF(whole));
	reg_refused(EINVAL, 4, PART_OF(whole), .length = 2 * PAGE);
	reg_refused(EINVAL, 2, PART_OF(a.mr), .addr = a.mem);
	dereg(whole);

	/* Memory that was pinned for reading */
	whole = reg(1, .length = 4 * PAGE, .access = IBV_ACCESS_REMOTE_READ);
	reg_refused(EACCES, 2, PART_OF(whole));
	part = reg(2, PART_OF(whole), .access = IBV_ACCESS_REMOTE_READ);
	r.rkey = key_of(part);
	r.addr = (uintptr_t)part->addr;
	r.what = READ;
	good(&r);
	r.what = WRITE;
	refused(&r, RC_PERM);
	dereg(part);
	dereg(whole);
}

static void t_derived_scope(void)
{
	struct ibv_mr *whole = reg(1, .length = 4 * PAGE);
	struct ibv_mr *zero = reg(2, PART_OF(whole), .access = RIGHTS |
				  IBV_ACCESS_ZERO_BASED);
	struct ibv_mr *part = reg(3, .comp_mask = UETDV_REG_MR_MASK_CUR_MR |
				  UETDV_REG_MR_MASK_JKEY |
				  UETDV_REG_MR_MASK_RKEY,
				  .cur_mr = whole, .jkey = b.jkey[1],
				  .rkey = 0xffffffffffffull);
	struct req r = { .rkey = key_of(zero), .addr = 0 };

	lands(&r, b.mem + 2 * PAGE);
	r.addr = PAGE - LEN + 1;
	refused(&r, RC_BAD_ADDR);
	r.rkey = 0xffffffffffffull;
	r.addr = (uintptr_t)part->addr;
	refused(&r, RC_BAD_JOB_ID);
	r.jkey = a.jkey[1]->jkey;
	lands(&r, b.mem + 3 * PAGE);
	dereg(zero);
	dereg(part);
	dereg(whole);
}

/* A dma-buf with a chosen key, and a part of it */
static void t_dmabuf(void)
{
	int mem = memfd_create("uet", MFD_ALLOW_SEALING);
	int dev = open("/dev/udmabuf", O_RDWR), buf;
	struct udmabuf_create create = { .memfd = mem, .size = 4 * PAGE };
	struct req r = { .rkey = 0xd0d0 };
	struct ibv_mr *whole, *part;
	__u8 *at;

	if (dev < 0)
		skip("no /dev/udmabuf");
	if (mem < 0 || ftruncate(mem, 4 * PAGE) ||
	    fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK))
		die("memfd");
	buf = ioctl(dev, UDMABUF_CREATE, &create);
	at = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
	if (buf < 0 || at == MAP_FAILED)
		die("UDMABUF_CREATE");
	whole = reg(0, .comp_mask = UETDV_REG_MR_MASK_FD |
		    UETDV_REG_MR_MASK_IOVA | UETDV_REG_MR_MASK_RKEY |
		    UETDV_REG_MR_MASK_JKEY, .fd = buf, .fd_offset = PAGE,
		    .length = 2 * PAGE, .iova = 0x10000, .rkey = 0xd0d0,
		    .jkey = b.jkey[0]);
	reg_refused(EEXIST, 0, .comp_mask = UETDV_REG_MR_MASK_FD |
		    UETDV_REG_MR_MASK_IOVA | UETDV_REG_MR_MASK_RKEY, .fd = buf,
		    .iova = 0, .rkey = 0xd0d0);
	r.addr = 0x10000 + 100;
	refused(&r, RC_BAD_JOB_ID);
	r.jkey = a.jkey[0]->jkey;
	memset(a.mem, 0x33, LEN);
	good(&r);
	must(at[PAGE + 99] == 0 && at[PAGE + 100] == 0x33 &&
	     at[PAGE + 99 + LEN] == 0x33 && at[PAGE + 100 + LEN] == 0, true);
	part = reg(0, PART_OF(whole), .addr = (void *)(0x10000ul + PAGE));
	r = (struct req){ .rkey = key_of(part), .addr = 0x10000 + PAGE + 8 };
	good(&r);
	must(at[2 * PAGE + 7] == 0 && at[2 * PAGE + 8] == 0x33, true);
	must(ibv_dereg_mr(whole), EBUSY);
	dereg(part);
	dereg(whole);
	close(buf);
	close(dev);
	close(mem);
	munmap(at, 4 * PAGE);
}

/* Whoever dies with parents and children leaves nothing behind. */
static void t_left_open(void)
{
	struct ibv_mr *whole = reg(1, .length = 4 * PAGE);
	struct ibv_mr *mr = reg(2, FOR_QP);

	reg(2, PART_OF(whole));
	reg(3, CHOSEN(77));
	must(uetdv_attach_mr(b.qp, mr), 0);
	exit(0);
}

/* ------------------------------------------------------------------ */
/* Operations, completions                                             */

static void t_atomics(void)
{
	struct ibv_mr *no = reg(1, .access = IBV_ACCESS_LOCAL_WRITE |
				   IBV_ACCESS_REMOTE_WRITE);
	__u64 *word = (__u64 *)b.mem, *old = (__u64 *)a.mem;
	struct req r = { .what = ADD, .rkey = key_of(b.mr),
			 .addr = (uintptr_t)b.mem };

	*word = 7;
	good(&r);
	must(*old == 7 && *word == 12, true);
	r.what = SWAP;
	good(&r);
	must(*old == 12 && *word == 99, true);
	good(&r);
	must(*old == 99 && *word == 99, true);
	r.rkey = key_of(no);
	r.addr = (uintptr_t)no->addr;
	refused(&r, RC_PERM);
	r.rkey = key_of(b.mr);
	r.addr = (uintptr_t)b.mem + 4;
	want(&r, IBV_WC_REM_INV_REQ_ERR, 0);
	must(*word == 99, true);
	dereg(no);
}

static void recv_post(struct ibv_qp *qp, __u64 id)
{
	struct ibv_sge sge = { .addr = (uintptr_t)b.mem, .length = PAGE,
			       .lkey = b.mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	if (ibv_post_recv(qp, &wr, &bad))
		die("post_recv");
}

static void t_imm64(void)
{
	struct uetdv_qp_init_attr uet = {
		.comp_mask = UETDV_QP_INIT_ATTR_SRC_ID |
			     UETDV_QP_INIT_ATTR_ADDRESSING,
		.addressing = UETDV_ADDR_ABSOLUTE,
		.jkey = a.jkey[1],
		.src_id = 4711,
	};
	struct ibv_qp *named = ru_try(&a, &uet);
	struct req r = { .what = SEND, .imm = 0x8899aabbccddeeffull };
	struct seen s;
	int i;

	if (!named)
		die("QP with a source id");
	for (i = 0; i < 4; i++) {
		r.what = i & 1 ? WRITE_IMM : SEND;
		r.from = i & 2 ? named : NULL;
		r.rkey = key_of(b.mr);
		r.addr = (uintptr_t)b.mem;
		r.flags = UETDV_SEND_DELIVERY_COMPLETE;
		recv_post(b.qp, i);
		good(&r);
		next_of(&b, &s);
		must(s.status, IBV_WC_SUCCESS);
		must(s.id == (unsigned int)i && s.imm == r.imm, true);
		must(s.qp_num == b.qp->qp_num, true);
		must(s.src_id == (i & 2 ? 4711 : a.qp->qp_num), true);
		must(s.job_id, i & 2 ? JOB2 : 0);
	}
	must(uetdv_destroy_jkey(a.jkey[1]), EBUSY);
	must(ibv_destroy_qp(named), 0);
}

/* One that must wait for its peer holds up nobody, and no room in the ring. */
static void t_order(void)
{
	struct ibv_qp *second = ru_open(&b);
	struct req slow = { .what = SEND, .id = 1, .to = second,
			    .inlined = true };
	struct req fast = { .rkey = key_of(b.mr), .id = 2,
			    .addr = (uintptr_t)b.mem + PAGE };
	struct seen s;
	int i;

	memset(a.mem, 0x11, PAGE);
	post_req(&slow);
	memset(a.mem, 0x22, PAGE);
	for (i = 0; i < 5 * DEPTH; i++) {
		fast.id = 2 + i;
		fast.inlined = i & 1;
		post_req(&fast);
		next_of(&a, &s);
		must(s.status, IBV_WC_SUCCESS);
		must(s.id == fast.id, true);
	}
	recv_post(second, 9);
	next_of(&a, &s);
	must(s.status, IBV_WC_SUCCESS);
	must(s.id == slow.id, true);
	next_of(&b, &s);
	must(s.id == 9, true);
	for (i = 0; i < 32; i++)
		must(b.mem[i], 0x11);
	must(ibv_destroy_qp(second), 0);
}

/* The ring is full when so many have not completed, whichever they are. */
static void t_full(void)
{
	struct ibv_qp_ex *qx = ibv_qp_to_qp_ex(a.qp);
	struct uetdv_qp_ex *ux = uetdv_qp_ex_from_ibv_qp_ex(qx);
	struct ibv_qp *second = ru_open(&b);
	struct req r = { .what = SEND, .to = second };
	struct seen s;
	int i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < DEPTH; i++) {
			r.id = i;
			post_req(&r);
		}
		ibv_wr_start(qx);
		uetdv_wr_send_imm64(ux, 0);
		uetdv_wr_set_ru_addr(ux, ah, second->qp_num, 0);
		must(ibv_wr_complete(qx), ENOMEM);
		for (i = 0; i < DEPTH; i++) {
			recv_post(second, i);
			next_of(&a, &s);
			must(s.status, IBV_WC_SUCCESS);
			next_of(&b, &s);
		}
	}
	must(ibv_destroy_qp(second), 0);
}

/* ------------------------------------------------------------------ */
/* Numbers, semantics, ranks                                           */

/* No CAP_NET_RAW from here on. */
static void drop_net_raw(void)
{
	struct __user_cap_header_struct hdr = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &hdr, data))
		die("capget");
	data[0].effective &= ~(1u << CAP_NET_RAW);
	data[0].permitted &= ~(1u << CAP_NET_RAW);
	if (syscall(SYS_capset, &hdr, data))
		die("capset");
}

#define qp_refused(error, ...) qp_refused_at(__LINE__, error, \
	(struct uetdv_qp_init_attr){ __VA_ARGS__ })
static void qp_refused_at(int line, int error, struct uetdv_qp_init_attr uet)
{
	if (ru_try(&b, &uet))
		die("line %d: a QP that must not be", line);
	if (errno != error)
		die("line %d: not errno %d", line, error);
}

#define CHOICE	(UETDV_QP_INIT_ATTR_ADDRESSING | \
		 UETDV_QP_INIT_ATTR_PID_ON_FEP | UETDV_QP_INIT_ATTR_RI)

static void t_numbers(void)
{
	struct uetdv_qp_init_attr uet = {
		.comp_mask = CHOICE,
		.addressing = UETDV_ADDR_ABSOLUTE,
		.pid_on_fep = 0x123,
		.ri = 0x456,
	};
	struct ibv_qp *both = ru_try(&b, &uet), *one;
	struct req r = { .rkey = key_of(b.mr), .addr = (uintptr_t)b.mem };

	if (!both || both->qp_num != 0x456123)
		die("chosen pair");
	r.to = both;
	good(&r);
	qp_refused_at(__LINE__, EBUSY, uet);
	uet.comp_mask &= ~UETDV_QP_INIT_ATTR_RI;
	uet.ri = 0;
	one = ru_try(&b, &uet);
	if (!one || (one->qp_num & 0xfff) != 0x123)
		die("chosen PIDonFEP");
	must(ibv_destroy_qp(one), 0);
	must(ibv_destroy_qp(both), 0);
	qp_refused(EINVAL, .comp_mask = CHOICE, .ri = 0, .pid_on_fep = 5,
		   .addressing = UETDV_ADDR_ABSOLUTE);
	qp_refused(EINVAL, .comp_mask = UETDV_QP_INIT_ATTR_ADDRESSING,
		   .addressing = UETDV_ADDR_RELATIVE);
	qp_refused(EINVAL, .comp_mask = UETDV_QP_INIT_ATTR_ADDRESSING,
		   .addressing = 3);
	qp_refused(EINVAL, .comp_mask = UETDV_QP_INIT_ATTR_ADDRESSING,
		   .addressing = UETDV_ADDR_RELATIVE, .jkey = a.jkey[0]);
	drop_net_raw();
	qp_refused(EPERM, .comp_mask = CHOICE, .ri = 6, .pid_on_fep = 5,
		   .addressing = UETDV_ADDR_ABSOLUTE);
	/* Of a job everybody in it may choose. */
	uet = (struct uetdv_qp_init_attr){
		.comp_mask = CHOICE,
		.addressing = UETDV_ADDR_RELATIVE,
		.jkey = b.jkey[0],
		.pid_on_fep = 5,
		.ri = 6,
	};
	one = ru_try(&b, &uet);
	if (!one || one->qp_num != 0x006005)
		die("chosen pair in a job");
	qp_refused_at(__LINE__, EBUSY, uet);
	must(ibv_destroy_qp(one), 0);
}

static void t_semantics(void)
{
	struct uetdv_qp_semantics most;
	struct uetdv_qp_init_attr uet = {
		.comp_mask = UETDV_QP_INIT_ATTR_SEMANTICS,
	}, got;
	struct ibv_qp *qp;

	must(uetdv_query_qp_semantics(ctx, UETDV_QP_DRIVER_TYPE_RU, 1,
				      gid_index, &most, sizeof(most)), 0);
	must(most.imm_data_size, 64);
	must(most.msg_order, 0);
	must(uetdv_query_qp_semantics(ctx, 2, 1, gid_index, &most,
				      sizeof(most)), EOPNOTSUPP);
	must(uetdv_query_qp_semantics(ctx, UETDV_QP_DRIVER_TYPE_RU, 2,
				      gid_index, &most, sizeof(most)), EINVAL);
	must(uetdv_query_qp_semantics(ctx, UETDV_QP_DRIVER_TYPE_RU, 1, 200,
				      &most, sizeof(most)), EINVAL);
	uet.semantics.max_pdu = most.max_pdu;
	uet.semantics.imm_data_size = 32;
	qp = ru_try(&b, &uet);
	if (!qp)
		die("QP with semantics");
	must(uetdv_query_qp(qp, &got, sizeof(got)), 0);
	must(got.semantics.max_pdu, most.max_pdu);
	must(got.semantics.imm_data_size, 64);
	must(ibv_destroy_qp(qp), 0);
	uet.semantics.imm_data_size = 16;
	qp_refused_at(__LINE__, EOPNOTSUPP, uet);
	uet.semantics.imm_data_size = 64;
	uet.semantics.max_pdu = most.max_pdu + 1;
	qp_refused_at(__LINE__, EOPNOTSUPP, uet);
	uet.semantics.max_pdu = 0;
	uet.semantics.msg_order = UETDV_ORDER_WAW;
	qp_refused_at(__LINE__, EOPNOTSUPP, uet);
}

static void set_rank(unsigned int rank, struct ibv_qp *qp)
{
	struct uetdv_ah_attr_ex attr = {
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .dgid = gid, .sgid_index = gid_index,
				      .hop_limit = 64 } },
		.remote_qpn = qp->qp_num,
	};

	must(uetdv_insert_addr(job[0], &attr, rank, 0), 0);
}

/* To RTS again after a request that was wrong. */
static void again(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };

	must(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
}

static void t_ranks(void)
{
	struct ibv_qp *second = ru_open(&b);
	struct req r = { .what = SEND, .jkey = a.jkey[0]->jkey };
	struct seen s;
	int i;

	set_rank(2, b.qp);
	set_rank(3, second);
	for (i = 2; i <= 3; i++) {
		r.rank = i;
		r.imm = i;
		recv_post(i == 2 ? b.qp : second, i);
		good(&r);
		next_of(&b, &s);
		must(s.id == (unsigned int)i && s.imm == r.imm, true);
		must(s.job_id, JOB1);
	}
	r.rank = 4;
	want(&r, IBV_WC_LOC_QP_OP_ERR, 0);
	again(a.qp);
	r.rank = 800;
	want(&r, IBV_WC_LOC_QP_OP_ERR, 0);
	again(a.qp);
	r.rank = 2;
	r.jkey = 0;
	want(&r, IBV_WC_LOC_QP_OP_ERR, 0);
	again(a.qp);
	r.jkey = b.jkey[0]->jkey;
	want(&r, IBV_WC_LOC_ACCESS_ERR, 0);
	again(a.qp);
	must(uetdv_remove_addr(job[0], 2, 0), 0);
	r.jkey = a.jkey[0]->jkey;
	want(&r, IBV_WC_LOC_QP_OP_ERR, 0);
	again(a.qp);
	r.rank = 3;
	recv_post(second, 3);
	good(&r);
	must(ibv_destroy_qp(second), 0);
}

static const struct {
	const char *name;
	void (*fn)(void);
} tests[] = {
	{ "pd", t_pd },
	{ "job", t_job },
	{ "qp", t_qp },
	{ "both", t_both },
	{ "chosen", t_chosen },
	{ "chosen_scopes", t_chosen_scopes },
	{ "idempotent", t_idempotent },
	{ "derived", t_derived },
	{ "derived_scope", t_derived_scope },
	{ "dmabuf", t_dmabuf },
	{ "left_open", t_left_open },
	{ "atomics", t_atomics },
	{ "imm64", t_imm64 },
	{ "order", t_order },
	{ "full", t_full },
	{ "numbers", t_numbers },
	{ "semantics", t_semantics },
	{ "ranks", t_ranks },
};

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc != 4) {
		for (i = 0; i < ARRAY_SIZE(tests); i++)
			puts(tests[i].name);
		return argc != 1;
	}
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (strcmp(tests[i].name, argv[3]))
			continue;
		doing = tests[i].name;
		all_open(argv[1], argv[2]);
		tests[i].fn();
		all_close();
		return 0;
	}
	fprintf(stderr, "no such check: %s\n", argv[3]);
	return 2;
}
