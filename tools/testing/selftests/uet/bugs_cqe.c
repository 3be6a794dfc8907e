// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Completions and queues: faults of the field, see bugs.h */
#include "bugs.h"

/* Completions go on after bad writes. */
static void cqe_01(void)
{
	struct ibv_sge sge = piece(&A, 0, 64);
	__u64 start;

	pair_open(&A, &B, &p, &conn);
	for (unsigned int i = 0; i < rounds; i++) {
		start = now_ns();
		post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)B.mem,
		     B.mr->rkey, 0);
		gets(&A, 1, IBV_WC_SUCCESS);
		post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)B.mem, NO_KEY,
		     0);
		post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)B.mem, NO_KEY,
		     0);
		gets(&A, 1, IBV_WC_REM_ACCESS_ERR);
		gets(&A, 1, IBV_WC_WR_FLUSH_ERR);
		errno = 0;
		if (now_ns() - start > wait_s * 1000000000ull)
			die("round %u took too long", i);
		reconnect();
	}
	pair_close(&p);
}

/* Sizes of an SRQ: real ones, the old queue stays after a failure. */
static void cqe_03(void)
{
	struct ibv_srq_init_attr init = { .attr = { 8, 1, 0 } };
	struct ibv_srq *srq = ibv_create_srq(B.pd, &init);
	struct ibv_srq_attr attr = {};
	struct ibv_sge sge = piece(&B, 0, 64);
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	__u32 now;

	if (!srq && errno == EOPNOTSUPP)
		skip("no SRQ");
	if (!srq)
		die("create_srq");
	for (int i = 0; i < 6; i++)
		if (ibv_post_srq_recv(srq, &wr, &bad))
			die("post_srq_recv");
	errno = ibv_query_srq(srq, &attr);
	if (errno || attr.max_wr < 8)
		die("query_srq: %u requests", attr.max_wr);
	now = attr.max_wr;
	attr.max_wr = 2;
	if (!ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR))
		die("made smaller than what is in it");
	attr.max_wr = B.attr.max_srq_wr + 1;
	if (!ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR))
		die("made larger than the largest");
	attr.max_wr = 0;
	if (!ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR))
		die("made 0 long");
	if (ibv_query_srq(srq, &attr) || attr.max_wr != now)
		die("%u requests after failures, not %u", attr.max_wr, now);
	attr.max_wr = 100;
	errno = ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
	if (errno)
		die("resize");
	if (ibv_query_srq(srq, &attr) || attr.max_wr < 100)
		die("%u requests, not 100", attr.max_wr);
	for (int i = 6; i < 100; i++) {
		errno = ibv_post_srq_recv(srq, &wr, &bad);
		if (errno)
			die("request %d", i);
	}
	if (ibv_destroy_srq(srq))
		die("destroy_srq");
}

/* WRITE with immediate data: the receiver is told how much. */
static void cqe_04(void)
{
	static const __u32 sizes[] = { 0, 1, 1024, 1025, 4096, 4097, 1 << 20 };
	struct ibv_sge sge;
	struct ibv_wc wc;

	pair_open(&A, &B, &p, &conn);
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		sge = piece(&A, 0, sizes[i]);
		post_recv(&B, p.b, 2, piece(&B, 0, 0));
		post(p.a, IBV_WR_RDMA_WRITE_WITH_IMM, &sge, 1,
		     (uintptr_t)B.mem, B.mr->rkey, 0);
		gets(&A, 1, IBV_WC_SUCCESS);
		next(&B, &wc);
		expect_status(&wc, IBV_WC_SUCCESS);
		expect("byte_len", wc.byte_len, sizes[i]);
		expect("opcode", wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
		expect("flags", wc.wc_flags, IBV_WC_WITH_IMM);
		expect("immediate", be32toh(wc.imm_data), 0xa5a50001);
	}
	pair_close(&p);
}

/* One bad request in a chain: those before it are posted. */
static void cqe_05(void)
{
	struct ibv_sge sge[MAX_SGE + 1];
	struct ibv_send_wr wr[10], *bad;
	int i, k, err, limit;

	pair_open(&A, &B, &p, &conn);
	for (k = 0; k < 10; k++) {
		memset(wr, 0, sizeof(wr));
		for (i = 0; i < 10; i++) {
			sge[i] = piece(&A, 0, 8);
			wr[i] = (struct ibv_send_wr){
				.wr_id = i,
				.next = i < 9 ? &wr[i + 1] : NULL,
				.sg_list = sge,
				.num_sge = 1,
				.opcode = IBV_WR_RDMA_WRITE,
				.send_flags = IBV_SEND_SIGNALED,
				.wr.rdma = { (uintptr_t)B.mem, B.mr->rkey },
			};
		}
		limit = A.attr.max_sge + 1;
		wr[k].num_sge = limit;
		bad = NULL;
		err = ibv_post_send(p.a, wr, &bad);
		expect("error", err, EINVAL);
		expect("bad request", bad - wr, k);
		for (i = 0; i < k; i++)
			gets(&A, i, IBV_WC_SUCCESS);
		none_left(&A);
	}
	pair_close(&p);
}

/* Two CQs: each flush on its own. */
static void cqe_06(void)
{
	struct ibv_qp_init_attr init = {
		.cap = { 32, 32, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_cq *cq[2];
	struct ibv_qp *qp;
	struct ibv_wc wc;
	struct ibv_sge sge = piece(&A, 0, 8);
	__u64 end;
	int i, k;

	for (i = 0; i < 2; i++) {
		cq[i] = ibv_create_cq(A.ctx, 64, NULL, NULL, 0);
		if (!cq[i])
			die("create_cq");
	}
	init.send_cq = cq[0];
	init.recv_cq = cq[1];
	qp = ibv_create_qp(A.pd, &init);
	if (!qp)
		die("create_qp");
	qp_connect(&A, qp, &B, 0xfffff0, &conn);
	for (i = 0; i < 16; i++)
		post_recv(&A, qp, 100 + i, piece(&A, 0, 8));
	to_state(qp, IBV_QPS_ERR);
	for (i = 0; i < 16; i++)
		post(qp, IBV_WR_SEND, &sge, 1, 0, 0, 0);
	for (k = 0; k < 2; k++) {
		end = now_ns() + 1000000000ull * wait_s;
		for (i = 0; i < 16;) {
			if (ibv_poll_cq(cq[k], 1, &wc) != 1) {
				errno = 0;
				if (now_ns() > end)
					die("flush %d of CQ %d", i, k);
				continue;
			}
			expect_status(&wc, IBV_WC_WR_FLUSH_ERR);
			expect("wr_id", wc.wr_id, k ? 100 + i : 1);
			expect("qp_num", wc.qp_num, qp->qp_num);
			i++;
		}
		expect("more", ibv_poll_cq(cq[k], 1, &wc), 0);
	}
	if (ibv_destroy_qp(qp) || ibv_destroy_cq(cq[0]) ||
	    ibv_destroy_cq(cq[1]))
		die("destroy");
}

/* Arm while completions come: none is slept through. */
static void cqe_07(void)
{
	struct ibv_sge sge = piece(&A, 0, 8);

	pair_open(&A, &B, &p, &conn);
	for (unsigned int i = 0; i < rounds * 10; i++) {
		post_recv(&B, p.b, 2, piece(&B, 0, 8));
		post(p.a, IBV_WR_SEND, &sge, 1, 0, 0, 0);
		gets(&B, 2, IBV_WC_SUCCESS);
		gets(&A, 1, IBV_WC_SUCCESS);
	}
	pair_close(&p);
}

/* Odd and zero depths: as much as asked for, and no more than was said. */
static void cqe_08(void)
{
	const __u32 most = A.attr.max_qp_wr;
	const __u32 depth[] = { 0, 1, 2, 3, 5, most - 1, most };
	struct ibv_qp_init_attr init;
	struct ibv_sge sge = piece(&A, 0, 8);
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_qp *qp;
	struct ibv_cq *cq;

	for (unsigned int i = 0; i < ARRAY_SIZE(depth); i++) {
		memset(&init, 0, sizeof(init));
		init.send_cq = A.cq;
		init.recv_cq = A.cq;
		init.qp_type = IBV_QPT_RC;
		init.cap.max_send_wr = depth[i];
		init.cap.max_recv_wr = depth[i];
		init.cap.max_send_sge = 1;
		init.cap.max_recv_sge = 1;
		qp = ibv_create_qp(A.pd, &init);
		if (!qp)
			die("QP of depth %u", depth[i]);
		if (init.cap.max_send_wr < depth[i] ||
		    init.cap.max_send_wr > most)
			die("depth %u became %u", depth[i],
			    init.cap.max_send_wr);
		errno = qp_init(qp, &conn);
		if (errno)
			die("to INIT");
		for (__u32 n = 0; n < depth[i] && n < 1000; n++) {
			errno = ibv_post_recv(qp, &wr, &bad);
			if (errno)
				die("receive %u of %u", n, depth[i]);
		}
		if (ibv_destroy_qp(qp))
			die("destroy_qp");
		if (!depth[i])
			continue;
		cq = ibv_create_cq(A.ctx, depth[i], NULL, NULL, 0);
		if (!cq || cq->cqe < (int)depth[i] || ibv_destroy_cq(cq))
			die("CQ of %u", depth[i]);
	}
}

/* A CQ is resized with completions in it, or the verb says it cannot be. */
static void cqe_10(void)
{
	struct ibv_sge sge = piece(&A, 0, 8);
	int err;

	pair_open(&A, &B, &p, &conn);
	for (int i = 0; i < 10; i++)
		post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)B.mem,
		     B.mr->rkey, 0);
	usleep(100000);
	err = ibv_resize_cq(A.cq, 1000);
	if (err == EOPNOTSUPP)
		skip("no resizing of CQs");
	errno = err;
	if (err)
		die("resize_cq");
	for (int i = 0; i < 10; i++)
		gets(&A, 1, IBV_WC_SUCCESS);
	works(&p);
	if (!ibv_resize_cq(A.cq, A.attr.max_cqe + 1))
		die("resized to more than the most");
	works(&p);
	pair_close(&p);
}

static const struct entry entries[] = {
	{ "CQE-01", cqe_01 },
	{ "CQE-03", cqe_03 },
	{ "CQE-04", cqe_04 },
	{ "CQE-05", cqe_05 },
	{ "CQE-06", cqe_06 },
	{ "CQE-07", cqe_07 },
	{ "CQE-08", cqe_08 },
	{ "CQE-10", cqe_10 },
	{ }
};

int main(int argc, char **argv)
{
	return bugs_main(argc, argv, entries);
}
