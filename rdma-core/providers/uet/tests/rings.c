// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Rings: what is in the entries, full and empty, wrapped around. */
#include "fake.h"

static void test_send_fields(struct ibv_cq *cq)
{
	struct ibv_qp *qp = make_qp(IBV_QPT_RC, UET_QPT_NONE, cq, 0);
	struct ibv_sge sge[2] = { { 0x1000, 10, 1 }, { 0x2000, 20, 2 } };
	struct ibv_send_wr wr = {
		.wr_id = 42,
		.sg_list = sge,
		.num_sge = 2,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
		.imm_data = htobe32(0xa1b2c3d4),
		.wr.rdma = { .remote_addr = 0x123456789, .rkey = 0x55 },
	};
	struct uet_send_wqe *wqe = sent(qp, 0);

	nr_doorbells = 0;
	CHECK(!post(qp, &wr));
	CHECK(nr_doorbells == 1);
	CHECK(to_uqp(qp)->sq.ring.hdr->prod == START + 1);
	CHECK(wqe->wr_id == 42 && wqe->opcode == UET_WQE_WRITE_IMM);
	CHECK(wqe->flags == (UET_WQE_SIGNALED | UET_WQE_FENCE));
	CHECK(wqe->num_sge == 2 && !wqe->inline_len);
	CHECK(wqe->imm_data == 0xa1b2c3d4);
	CHECK(wqe->remote_addr == 0x123456789 && wqe->rkey == 0x55);
	CHECK(sges(wqe, sizeof(*wqe))[1].addr == 0x2000);
	CHECK(sges(wqe, sizeof(*wqe))[1].length == 20);
	CHECK(sges(wqe, sizeof(*wqe))[1].lkey == 2);
	uet_destroy_qp(qp);
}

static void test_inline(struct ibv_cq *cq)
{
	struct ibv_qp *qp = make_qp(IBV_QPT_RC, UET_QPT_NONE, cq, 0);
	char one[MAX_INLINE] = "one", two[] = "two";
	struct ibv_sge sge[2] = {
		{ (uintptr_t)one, 3, 0 }, { (uintptr_t)two, 3, 0 },
	};
	struct ibv_send_wr wr = {
		.sg_list = sge,
		.num_sge = 2,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE,
	};
	struct uet_send_wqe *wqe = sent(qp, 0);

	CHECK(!post(qp, &wr));
	CHECK(wqe->flags == UET_WQE_INLINE && !wqe->num_sge);
	CHECK(wqe->inline_len == 6 && !memcmp(wqe + 1, "onetwo", 6));

	sge[0].length = MAX_INLINE - 3;
	CHECK(!post(qp, &wr));
	sge[0].length++;
	CHECK(post(qp, &wr) == EINVAL);
	wr.opcode = IBV_WR_RDMA_READ;
	sge[0].length = 1;
	CHECK(post(qp, &wr) == EINVAL);
	CHECK(to_uqp(qp)->sq.ring.hdr->prod == START + 2);
	uet_destroy_qp(qp);
}

static void test_bad_sends(struct ibv_cq *cq)
{
	struct ibv_qp *rc = make_qp(IBV_QPT_RC, UET_QPT_NONE, cq, 0);
	struct ibv_qp *ud = make_qp(IBV_QPT_UD, UET_QPT_NONE, cq, 0);
	struct ibv_qp *ru = make_qp(IBV_QPT_DRIVER, UET_QPT_RU, cq, 0);
	struct ibv_sge sge[MAX_SGE + 1] = {};
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = sge };
	struct uet_ah ah = { .number = 9 };

	nr_doorbells = 0;
	wr.num_sge = MAX_SGE + 1;
	CHECK(post(rc, &wr) == EINVAL);
	wr.num_sge = -1;
	CHECK(post(rc, &wr) == EINVAL);
	wr.num_sge = 0;
	wr.send_flags = IBV_SEND_IP_CSUM;
	CHECK(post(rc, &wr) == EINVAL);
	wr.send_flags = 0;
	wr.opcode = IBV_WR_TSO;
	CHECK(post(rc, &wr) == EINVAL);
	wr.opcode = 200;
	CHECK(post(rc, &wr) == EINVAL);
	wr.opcode = IBV_WR_SEND;
	CHECK(post(ud, &wr) == EINVAL);		/* no address handle */
	wr.wr.ud.ah = &ah.ah;
	wr.opcode = IBV_WR_RDMA_READ;
	CHECK(post(ud, &wr) == EINVAL);
	CHECK(post(ru, &wr) == EINVAL);
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	CHECK(post(ud, &wr) == EINVAL);
	wr.opcode = IBV_WR_SEND;
	rc->state = IBV_QPS_RTR;
	CHECK(post(rc, &wr) == EINVAL);
	CHECK(!nr_doorbells);

	wr.wr.ud.remote_qpn = 0x123;
	wr.wr.ud.remote_qkey = 0x456;
	CHECK(!post(ru, &wr));
	CHECK(sent(ru, 0)->ah == 9 && sent(ru, 0)->dest_qpn == 0x123);
	CHECK(sent(ru, 0)->qkey == 0x456);
	CHECK(make_qp(IBV_QPT_DRIVER, UET_QPT_NONE, cq, 0) == NULL);
	CHECK(make_qp(IBV_QPT_RAW_PACKET, UET_QPT_NONE, cq, 0) == NULL);
	CHECK(make_qp(IBV_QPT_UD, UET_QPT_NONE, cq,
		      IBV_QP_EX_WITH_RDMA_READ) == NULL);
	uet_destroy_qp(rc);
	uet_destroy_qp(ud);
	uet_destroy_qp(ru);
}

static void test_full(struct ibv_cq *cq)
{
	struct ibv_qp *qp = make_qp(IBV_QPT_RC, UET_QPT_NONE, cq, 0);
	struct uet_ring *ring = to_uqp(qp)->sq.ring.hdr;
	struct ibv_send_wr wr[DEPTH + 2] = {}, *bad;
	int i;

	for (i = 0; i < DEPTH + 2; i++) {
		wr[i].opcode = IBV_WR_SEND;
		wr[i].next = i < DEPTH + 1 ? &wr[i + 1] : NULL;
	}
	nr_doorbells = 0;
	CHECK(uet_post_send(qp, wr, &bad) == ENOMEM && bad == &wr[DEPTH]);
	CHECK(ring->prod == START + DEPTH && nr_doorbells == 1);
	CHECK(post(qp, &wr[DEPTH]) == ENOMEM && nr_doorbells == 1);

	ring->cons += 2;
	CHECK(!post(qp, &wr[DEPTH]));
	CHECK(ring->prod == START + DEPTH + 2 && nr_doorbells == 2);
	CHECK(post(qp, &wr[DEPTH + 1]) == ENOMEM);

	/* a good one, a bad one: the good one is posted */
	ring->cons += 2;
	wr[1].num_sge = -1;
	CHECK(uet_post_send(qp, wr, &bad) == EINVAL && bad == &wr[1]);
	CHECK(ring->prod == START + DEPTH + 3 && nr_doorbells == 3);

	/* a producer index that someone scribbled on is set right */
	ring->prod = 12345;
	CHECK(!post(qp, &wr[DEPTH + 1]));
	CHECK(ring->prod == START + DEPTH + 4);
	uet_destroy_qp(qp);
}

static void test_doorbell_errors(struct ibv_cq *cq)
{
	struct ibv_qp *qp = make_qp(IBV_QPT_RC, UET_QPT_NONE, cq, 0);
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	write_error = EIO;
	CHECK(post(qp, &wr) == EIO);
	write_error = EACCES;
	nr_ioctls = 0;
	CHECK(!post(qp, &wr) && nr_ioctls == 1);
	write_error = EIO;			/* not even tried any more */
	CHECK(!post(qp, &wr) && nr_ioctls == 2);
	write_error = 0;
	ctx.no_write = false;
	uet_destroy_qp(qp);
}

static void test_wr(struct ibv_cq *cq)
{
	struct ibv_qp *qp = make_qp(IBV_QPT_DRIVER, UET_QPT_RU, cq,
				    IBV_QP_EX_WITH_SEND_WITH_IMM |
				    IBV_QP_EX_WITH_RDMA_READ);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct uet_ring *ring = to_uqp(qp)->sq.ring.hdr;
	char ab[] = "ab", cde[] = "cde";
	struct ibv_data_buf buf[2] = { { ab, 2 }, { cde, 3 } };
	struct ibv_sge sge[MAX_SGE + 1] = {};
	struct uet_ah ah = { .number = 3 };
	int i;

	CHECK(qpx && !qpx->wr_send && !qpx->wr_rdma_write);
	nr_doorbells = 0;
	ibv_wr_start(qpx);
	qpx->wr_id = 1;
	qpx->wr_flags = IBV_SEND_SOLICITED;
	ibv_wr_send_imm(qpx, htobe32(7));
	ibv_wr_set_ud_addr(qpx, &ah.ah, 0x99, 0);
	ibv_wr_set_inline_data_list(qpx, 2, buf);
	qpx->wr_id = 2;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_read(qpx, 0x11, 0x22);
	ibv_wr_set_ud_addr(qpx, &ah.ah, 0x98, 0);
	ibv_wr_set_sge(qpx, 5, 0x3000, 6);
	CHECK(ring->prod == START && !nr_doorbells);
	CHECK(!ibv_wr_complete(qpx));
	CHECK(ring->prod == START + 2 && nr_doorbells == 1);
	CHECK(sent(qp, 0)->wr_id == 1 && sent(qp, 0)->imm_data == 7);
	CHECK(sent(qp, 0)->flags == (UET_WQE_SOLICITED | UET_WQE_INLINE));
	CHECK(!memcmp(sent(qp, 0) + 1, "abcde", 5));
	CHECK(sent(qp, 1)->dest_qpn == 0x98 && sent(qp, 1)->rkey == 0x11);
	CHECK(sges(sent(qp, 1), sizeof(struct uet_send_wqe))->lkey == 5);

	ibv_wr_start(qpx);
	ibv_wr_send_imm(qpx, 0);
	ibv_wr_abort(qpx);
	CHECK(ring->prod == START + 2 && nr_doorbells == 1);

	/* one mistake and nothing of the batch is posted */
	ibv_wr_start(qpx);
	ibv_wr_send_imm(qpx, 0);
	ibv_wr_set_sge_list(qpx, MAX_SGE + 1, sge);
	ibv_wr_send_imm(qpx, 0);
	ibv_wr_set_sge(qpx, 0, 0, 0);
	CHECK(ibv_wr_complete(qpx) == EINVAL);

	ibv_wr_start(qpx);
	for (i = 0; i < DEPTH - 1; i++)
		ibv_wr_send_imm(qpx, 0);
	CHECK(ibv_wr_complete(qpx) == ENOMEM);
	CHECK(ring->prod == START + 2 && nr_doorbells == 1);

	ibv_wr_start(qpx);
	CHECK(!ibv_wr_complete(qpx) && nr_doorbells == 1);

	/* all that was taken back leaves no gap */
	ibv_wr_start(qpx);
	qpx->wr_id = 3;
	ibv_wr_send_imm(qpx, 0);
	CHECK(!ibv_wr_complete(qpx) && nr_doorbells == 2);
	CHECK(ring->prod == START + 3 && sent(qp, 2)->wr_id == 3);
	uet_destroy_qp(qp);
}

static void test_recv(struct ibv_cq *cq)
{
	struct ibv_qp *qp = make_qp(IBV_QPT_RC, UET_QPT_NONE, cq, 0);
	struct uet_ring *ring = to_uqp(qp)->rq.ring.hdr;
	struct uet_recv_wqe *wqe = uet_entry(&to_uqp(qp)->rq.ring, START);
	struct ibv_sge sge = { 0x1000, 10, 1 };
	struct ibv_recv_wr wr = { .wr_id = 5, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;
	int i;

	for (i = 0; i < DEPTH; i++)
		CHECK(!uet_post_recv(qp, &wr, &bad));
	CHECK(uet_post_recv(qp, &wr, &bad) == ENOMEM && bad == &wr);
	CHECK(ring->prod == START + DEPTH);
	CHECK(wqe->wr_id == 5 && wqe->num_sge == 1);
	CHECK(sges(wqe, sizeof(*wqe))->length == 10);

	nr_kicks = 0;
	ring->cons += 2;
	CHECK(!uet_post_recv(qp, &wr, &bad) && !nr_kicks);
	ring->flags = UET_RING_KICK;
	CHECK(!uet_post_recv(qp, &wr, &bad) && nr_kicks == 1);
	ring->cons++;
	wr.num_sge = MAX_SGE + 1;
	CHECK(uet_post_recv(qp, &wr, &bad) == EINVAL && nr_kicks == 1);
	qp->state = IBV_QPS_RESET;
	wr.num_sge = 0;
	CHECK(uet_post_recv(qp, &wr, &bad) == EINVAL);
	uet_destroy_qp(qp);
}

static void test_poll(struct ibv_cq *cq)
{
	struct uet_ring *ring = to_ucq(cq)->ring.hdr;
	struct ibv_wc wc[DEPTH];
	int i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < DEPTH; i++)
			complete(cq, 1, i);
		CHECK(uet_poll_cq(cq, 3, wc) == 3);
		CHECK(wc[2].wr_id == 2 && wc[2].byte_len == 102);
		CHECK(wc[2].imm_data == htobe32(0x01020304));
		CHECK(wc[2].wc_flags == IBV_WC_WITH_IMM);
		CHECK(wc[2].opcode == IBV_WC_RECV && wc[2].src_qp == 77);
		CHECK(uet_poll_cq(cq, DEPTH, wc) == DEPTH - 3);
		CHECK(!uet_poll_cq(cq, DEPTH, wc));
		CHECK(ring->cons == ring->prod);
	}
}

static void test_clean(struct ibv_cq *cq)
{
	struct ibv_qp *gone = make_qp(IBV_QPT_RC, UET_QPT_NONE, cq, 0);
	struct ibv_qp *stays = make_qp(IBV_QPT_RC, UET_QPT_NONE, cq, 0);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_wc wc[DEPTH];
	uint64_t i;

	for (i = 0; i < DEPTH; i++)
		complete(cq, i % 3 ? gone->qp_num : stays->qp_num, i);
	uet_destroy_qp(gone);
	CHECK(uet_poll_cq(cq, DEPTH, wc) == 3);
	CHECK(wc[0].wr_id == 0 && wc[1].wr_id == 3 && wc[2].wr_id == 6);

	/* a producer index that someone scribbled on takes no time */
	to_ucq(cq)->ring.hdr->prod += 0x80000000;
	uet_clean_cq(cq, stays->qp_num);
	to_ucq(cq)->ring.hdr->prod -= 0x80000000;

	complete(cq, stays->qp_num, 1);
	complete(cq, 4711, 2);
	CHECK(!uet_modify_qp(stays, &attr, IBV_QP_STATE));
	CHECK(uet_poll_cq(cq, DEPTH, wc) == 1 && wc[0].wr_id == 2);
	CHECK(!to_uqp(stays)->sq.prod && !to_uqp(stays)->rq.cons);
	uet_destroy_qp(stays);
}

static void test_poll_ex(void)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = DEPTH,
		.wc_flags = IBV_WC_STANDARD_FLAGS |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
	};
	struct ibv_cq_ex *cqx = uet_create_cq_ex(&ctx.vctx.context, &init);
	struct ibv_cq *cq = ibv_cq_ex_to_cq(cqx);
	struct ibv_poll_cq_attr attr = {};
	uint64_t age;
	int n = 0;

	CHECK(ibv_start_poll(cqx, &attr) == ENOENT);
	complete(cq, 1, 10);
	complete(cq, 1, 11);
	CHECK(!ibv_start_poll(cqx, &attr));
	do {
		CHECK(cqx->wr_id == (uint64_t)(10 + n) && !cqx->status);
		CHECK(ibv_wc_read_byte_len(cqx) == cqx->wr_id + 100);
		CHECK(ibv_wc_read_completion_ts(cqx) == cqx->wr_id + 5000);
		CHECK(ibv_wc_read_imm_data(cqx) == htobe32(0x01020304));
		age = uet_clock_ns(CLOCK_REALTIME) -
		      ibv_wc_read_completion_wallclock_ns(cqx);
		CHECK(age <= uet_clock_ns(CLOCK_MONOTONIC));
		n++;
	} while (!ibv_next_poll(cqx));
	ibv_end_poll(cqx);
	CHECK(n == 2 && to_ucq(cq)->ring.hdr->cons == START + 2);

	/* end_poll() without next_poll() takes one */
	complete(cq, 1, 12);
	complete(cq, 1, 13);
	CHECK(!ibv_start_poll(cqx, &attr));
	ibv_end_poll(cqx);
	CHECK(!ibv_start_poll(cqx, &attr) && cqx->wr_id == 13);
	ibv_end_poll(cqx);
	CHECK(ibv_start_poll(cqx, &attr) == ENOENT);

	init.wc_flags = IBV_WC_EX_WITH_CVLAN;
	CHECK(!uet_create_cq_ex(&ctx.vctx.context, &init));
	uet_destroy_cq(cq);
}

static void test_bad_rings(void)
{
	struct uet_ring_info good, info;
	struct uet_map map = {};

	new_ring(&good, 64);
	CHECK(!uet_map_ring(&map, memfd, &good, 64));
	uet_unmap_ring(&map);
	CHECK(uet_map_ring(&map, memfd, &good, 65) == EPROTO);
	info = good;
	info.depth = 7;
	CHECK(uet_map_ring(&map, memfd, &info, 64) == EPROTO);
	info.depth = 64;
	CHECK(uet_map_ring(&map, memfd, &info, 64) == EPROTO);
	info = good;
	info.stride = 72;
	CHECK(uet_map_ring(&map, memfd, &info, 64) == EPROTO);
	CHECK(!map.hdr);
}

int main(void)
{
	struct ibv_cq *cq;

	memfd = memfd_create("rings", 0);
	if (memfd < 0)
		return 1;
	ctx.vctx.context.cmd_fd = memfd;
	cq = uet_create_cq(&ctx.vctx.context, DEPTH, NULL, 0);

	test_send_fields(cq);
	test_inline(cq);
	test_bad_sends(cq);
	test_full(cq);
	test_doorbell_errors(cq);
	test_wr(cq);
	test_recv(cq);
	test_poll(cq);
	test_clean(cq);
	test_poll_ex();
	test_bad_rings();

	uet_destroy_cq(cq);
	return line_of_failure ? 1 : 0;
}
