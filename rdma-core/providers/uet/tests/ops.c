// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Atomics, invalidation, memory windows, posted either way; shared receive
 * queues, resizing, domains.
 */
#include "fake.h"

#define KEY_OPS	(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |			\
		 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |			\
		 IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_LOCAL_INV | \
		 IBV_QP_EX_WITH_BIND_MW)

static struct ibv_mr mr = { .lkey = 0x1234, .rkey = 0x1234 };
static struct ibv_mw mw1 = { .rkey = 0x55ff, .type = IBV_MW_TYPE_1 };
static struct ibv_mw mw2 = { .rkey = 0x6600, .type = IBV_MW_TYPE_2 };

/* What is posted one way is posted the other way too, bit for bit. */
static void same(struct ibv_qp *qp, uint32_t a, uint32_t b)
{
	CHECK(!memcmp(sent(qp, a), sent(qp, b),
		      sizeof(struct uet_send_wqe) + 16));
}

static void test_atomics(struct ibv_qp *qp)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct ibv_sge sge = { 0x1000, 8, 1 };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.wr.atomic = { 0x2000, 3, 4, 0x55 },
	};
	struct uet_send_wqe *wqe = sent(qp, 0);

	CHECK(!post(qp, &wr));
	CHECK(wqe->opcode == UET_WQE_CMP_SWAP && wqe->rkey == 0x55);
	CHECK(wqe->remote_addr == 0x2000 && wqe->compare_add == 3);
	CHECK(wqe->swap == 4 && wqe->num_sge == 1);
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	CHECK(!post(qp, &wr));
	CHECK(sent(qp, 1)->opcode == UET_WQE_FETCH_ADD && !sent(qp, 1)->swap);

	qpx->wr_id = 0;
	qpx->wr_flags = 0;
	ibv_wr_start(qpx);
	ibv_wr_atomic_cmp_swp(qpx, 0x55, 0x2000, 3, 4);
	ibv_wr_set_sge(qpx, 1, 0x1000, 8);
	ibv_wr_atomic_fetch_add(qpx, 0x55, 0x2000, 3);
	ibv_wr_set_sge(qpx, 1, 0x1000, 8);
	CHECK(!ibv_wr_complete(qpx));
	same(qp, 0, 2);
	same(qp, 1, 3);

	wr.send_flags = IBV_SEND_INLINE;
	CHECK(post(qp, &wr) == EINVAL);
	ibv_wr_start(qpx);
	ibv_wr_atomic_fetch_add(qpx, 0x55, 0x2000, 3);
	ibv_wr_set_inline_data(qpx, &sge, 8);
	CHECK(ibv_wr_complete(qpx) == EINVAL);
	to_uqp(qp)->sq.ring.hdr->cons += 4;
}

static void test_invalidate(struct ibv_qp *qp)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct ibv_sge sge = { 0x1000, 8, 1 };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND_WITH_INV,
		.invalidate_rkey = 0x6600,
	};

	CHECK(!post(qp, &wr));
	CHECK(sent(qp, 4)->opcode == UET_WQE_SEND_INV);
	CHECK(sent(qp, 4)->rkey == 0x6600 && sent(qp, 4)->num_sge == 1);
	wr.opcode = IBV_WR_LOCAL_INV;
	CHECK(!post(qp, &wr));
	CHECK(sent(qp, 5)->opcode == UET_WQE_LOCAL_INV);
	CHECK(sent(qp, 5)->rkey == 0x6600 && !sent(qp, 5)->num_sge);

	ibv_wr_start(qpx);
	ibv_wr_send_inv(qpx, 0x6600);
	ibv_wr_set_sge(qpx, 1, 0x1000, 8);
	ibv_wr_local_inv(qpx, 0x6600);
	CHECK(!ibv_wr_complete(qpx));
	same(qp, 4, 6);
	CHECK(sent(qp, 7)->opcode == UET_WQE_LOCAL_INV);
	to_uqp(qp)->sq.ring.hdr->cons += 4;
}

static void test_bind(struct ibv_qp *qp)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct ibv_mw_bind_info info = { &mr, 0x1000, 64,
					 IBV_ACCESS_LOCAL_WRITE |
					 IBV_ACCESS_REMOTE_WRITE };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = { &mw2, 0x6601, info },
	};
	struct ibv_mw_bind bind = { .wr_id = 5, .bind_info = info };
	struct uet_send_wqe *wqe = sent(qp, 8);

	CHECK(!post(qp, &wr));
	CHECK(wqe->opcode == UET_WQE_BIND_MW && wqe->rkey == 0x6601);
	CHECK(wqe->mr_lkey == 0x1234 && wqe->remote_addr == 0x1000);
	CHECK(wqe->compare_add == 64);
	CHECK(wqe->swap == IBV_ACCESS_REMOTE_WRITE);
	CHECK(mw2.rkey == 0x6600);
	ibv_wr_start(qpx);
	ibv_wr_bind_mw(qpx, &mw2, 0x6601, &info);
	CHECK(!ibv_wr_complete(qpx));
	same(qp, 8, 9);

	/* type 1: a key of the library's choice, of the same window */
	CHECK(!uet_bind_mw(qp, &mw1, &bind));
	CHECK(mw1.rkey == 0x5500 && sent(qp, 10)->rkey == 0x5500);
	CHECK(sent(qp, 10)->wr_id == 5);
	bind.bind_info = (struct ibv_mw_bind_info) {};
	CHECK(!uet_bind_mw(qp, &mw1, &bind));
	CHECK(!sent(qp, 11)->compare_add && !sent(qp, 11)->mr_lkey);

	bind.bind_info = info;
	bind.bind_info.mw_access_flags = IBV_ACCESS_HUGETLB;
	CHECK(uet_bind_mw(qp, &mw1, &bind) == EINVAL);
	bind.send_flags = IBV_SEND_IP_CSUM;
	CHECK(uet_bind_mw(qp, &mw1, &bind) == EINVAL);
	wr.bind_mw.mw = &mw1;
	CHECK(post(qp, &wr) == EINVAL);
	CHECK(mw1.rkey == 0x5501);
	to_uqp(qp)->sq.ring.hdr->cons += 4;
}

static void test_srq(void)
{
	struct ibv_srq_init_attr init = { .attr = { DEPTH, MAX_SGE, 0 } };
	struct ibv_srq *ibsrq = uet_create_srq(&pd.pd, &init);
	struct uet_srq *srq = to_usrq(ibsrq);
	struct ibv_sge sge = { 0x1000, 10, 1 };
	struct ibv_recv_wr wr[2] = {
		{ .wr_id = 5, .next = &wr[1], .sg_list = &sge, .num_sge = 1 },
		{ .wr_id = 6 },
	};
	struct ibv_srq_attr attr = { .max_wr = DEPTH };
	struct uet_recv_wqe *wqe;
	struct ibv_recv_wr *bad;
	uint32_t number;

	CHECK(!uet_get_srq_num(ibsrq, &number) && number == 0x77);
	nr_kicks = 0;
	CHECK(!uet_post_srq_recv(ibsrq, wr, &bad) && !nr_kicks);
	CHECK(srq->rq.ring.hdr->prod == START + 2);
	wqe = uet_entry(&srq->rq.ring, START + 1);
	CHECK(wqe->wr_id == 6 && !wqe->num_sge);
	srq->rq.ring.hdr->flags = UET_RING_KICK;
	CHECK(!uet_post_srq_recv(ibsrq, wr, &bad) && nr_kicks == 1);
	wr[1].num_sge = MAX_SGE + 1;
	CHECK(uet_post_srq_recv(ibsrq, wr, &bad) == EINVAL && bad == &wr[1]);

	CHECK(!uet_modify_srq(ibsrq, &attr, IBV_SRQ_LIMIT));
	CHECK(srq->rq.prod == START + 5);
	CHECK(!uet_modify_srq(ibsrq, &attr, IBV_SRQ_MAX_WR));
	CHECK(srq->rq.prod == START && !srq->rq.ring.hdr->flags);
	CHECK(!uet_destroy_srq(ibsrq));
}

static void test_resize_cq(struct ibv_cq *cq)
{
	struct ibv_wc wc[DEPTH];
	int i;

	for (i = 0; i < 5; i++)
		complete(cq, 1, i);
	CHECK(uet_poll_cq(cq, 2, wc) == 2);
	CHECK(uet_resize_cq(cq, DEPTH + 1) == EINVAL);
	CHECK(!uet_resize_cq(cq, DEPTH));
	complete(cq, 1, 5);
	CHECK(uet_poll_cq(cq, DEPTH, wc) == 4);
	for (i = 0; i < 4; i++)
		CHECK(wc[i].wr_id == (uint64_t)i + 2);
}

/* Nothing goes before what is made in it. */
static void test_domains(struct ibv_cq *cq)
{
	struct ibv_context *ibctx = &ctx.vctx.context;
	struct ibv_td_init_attr td_attr = {};
	struct ibv_td *td = uet_alloc_td(ibctx, &td_attr);
	struct ibv_parent_domain_init_attr attr = { .pd = &pd.pd, .td = td };
	struct ibv_pd *parent = uet_alloc_parent_domain(ibctx, &attr);
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_cq_init_attr_ex cq_init = {
		.cqe = DEPTH,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
		.parent_domain = &pd.pd,
	};
	struct ibv_qp *qp = uet_create_qp(parent, &init);

	CHECK(to_uqp(qp)->sq.lock.off && to_uqp(qp)->rq.lock.off);
	CHECK(uet_dealloc_td(td) == EBUSY);
	CHECK(uet_dealloc_pd(parent) == EBUSY);
	CHECK(uet_dealloc_pd(&pd.pd) == EBUSY);
	CHECK(!uet_create_cq_ex(ibctx, &cq_init));
	uet_destroy_qp(qp);
	CHECK(!uet_dealloc_pd(parent));
	CHECK(!uet_dealloc_td(td));
	CHECK(!atomic_load(&pd.users));
	attr.pd = NULL;
	CHECK(!uet_alloc_parent_domain(ibctx, &attr));
}

int main(void)
{
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	memfd = memfd_create("rings", 0);
	if (memfd < 0)
		return 1;
	ctx.vctx.context.cmd_fd = memfd;
	cq = uet_create_cq(&ctx.vctx.context, DEPTH, NULL, 0);
	qp = make_qp(IBV_QPT_RC, UET_QPT_NONE, cq, KEY_OPS);

	test_atomics(qp);
	test_invalidate(qp);
	test_bind(qp);
	uet_destroy_qp(qp);
	CHECK(!make_qp(IBV_QPT_UD, UET_QPT_NONE, cq,
		       IBV_QP_EX_WITH_SEND_WITH_INV));
	CHECK(!make_qp(IBV_QPT_UC, UET_QPT_NONE, cq,
		       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD));
	test_srq();
	test_resize_cq(cq);
	test_domains(cq);

	uet_destroy_cq(cq);
	return line_of_failure ? 1 : 0;
}
