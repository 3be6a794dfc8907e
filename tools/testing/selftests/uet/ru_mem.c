// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * RU QPs and the memory that they reach: access classes, keys that are chosen,
 * regions that are a part of another, numbers, semantics, ranks, completions.
 * Both sides are protection domains of one device, in its network namespace:
 *	ru_mem -a DEVICE -A ADDRESS [-w SECONDS] CHECK...
 * Without arguments it lists the checks.
 */
#include "ru_mem.h"

struct ibv_context *ctx;
union ibv_gid gid;
int gid_index;
struct end a, b;
struct uetdv_job *job[2];
struct ibv_ah *ah;

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

struct ibv_qp *ru_try(struct end *e, struct uetdv_qp_init_attr *uet)
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

struct ibv_qp *ru_open(struct end *e)
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

static void all_open(void)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };
	int i;

	ctx = open_device(dev_a);
	parse_gid(addr_a, &gid);
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

void next_of(struct end *e, struct seen *s)
{
	__u64 end = now_ns() + wait_s * 1000000000ull;

	while (!poll_once(e, s))
		if (now_ns() > end)
			die("no completion");
}

void post_req(const struct req *r)
{
	struct ibv_qp_ex *qx = ibv_qp_to_qp_ex(r->from ?: a.qp);
	struct uetdv_qp_ex *ux = uetdv_qp_ex_from_ibv_qp_ex(qx);
	__u32 to = (r->to ?: b.qp)->qp_num;
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

void want_at(int line, const struct req *r, enum ibv_wc_status status,
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

void lands_at(int line, const struct req *r, __u8 *at)
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

__u64 key_of(struct ibv_mr *mr)
{
	uint64_t key;

	if (uetdv_mr_rkey64(mr, &key))
		die("uetdv_mr_rkey64");
	return key;
}

static struct ibv_mr *reg_try(struct uetdv_reg_mr_attr r, unsigned int page)
{
	if (!r.addr)
		r.addr = b.mem + page * PAGE;
	r.length = r.length ?: PAGE;
	r.access = r.access ?: RIGHTS;
	errno = 0;
	return uetdv_reg_mr(b.pd, &r, sizeof(r));
}

struct ibv_mr *reg_at(int line, struct uetdv_reg_mr_attr r, unsigned int page)
{
	struct ibv_mr *mr = reg_try(r, page);

	if (!mr)
		die("line %d: region", line);
	return mr;
}

void reg_refused_at(int line, int error, struct uetdv_reg_mr_attr r,
		    unsigned int page)
{
	if (reg_try(r, page))
		die("line %d: a region that must not be", line);
	if (errno != error)
		die("line %d: not errno %d", line, error);
}

void dereg_at(int line, struct ibv_mr *mr)
{
	if (ibv_dereg_mr(mr))
		die("line %d: dereg", line);
}

void must_at(int line, int got, int error)
{
	if (got != error)
		die("line %d: %d, not %d", line, got, error);
}

static const struct entry tests[] = {
	{ "pd", t_pd },
	{ "job", t_job },
	{ "qp", t_qp },
	{ "both", t_both },
	{ "chosen", t_chosen },
	{ "chosen_scopes", t_chosen_scopes },
	{ "chosen_often", t_chosen_often },
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
	{}
};

int main(int argc, char **argv)
{
	const struct entry *e;
	char **names;

	if (argc == 1) {
		for (e = tests; e->name; e++)
			puts(e->name);
		return 0;
	}
	for (names = pair_options(argc, argv, tests, NULL); *names; names++) {
		all_open();
		pair_run(*names, tests);
		all_close();
	}
	return 0;
}
