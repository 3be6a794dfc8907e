// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What a device says it can at most is reached: sizes of queues and of requests. One
 * more is refused, with a clear errno. limits_port.c has messages, regions and the
 * tables of the port, limits_count.c the numbers of objects.
 */
#include "limits.h"

#include <infiniband/uetdv.h>

/* ------------------------------------------------------------------ */
/* Queues of a QP                                                      */

static __u32 max_inline(void)
{
	struct uetdv_device_attr attr;

	errno = uetdv_query_device(A.ctx, &attr, sizeof(attr));
	if (errno)
		die("query");
	return attr.max_inline;
}

static void fill_queue(struct ibv_qp *qp, int most, bool receives)
{
	struct side *s = receives ? &B : &A;
	struct ibv_sge sge = piece(s, 0, MESSAGE);
	int i;

	for (i = 0; i < most; i++)
		if (receives ? recv_n(qp, &sge, 1) : send_n(qp, &sge, 1, 0))
			die("request %d of %d", i, most);
	refused("a request too many",
		receives ? recv_n(qp, &sge, 1) : send_n(qp, &sge, 1, 0),
		ENOMEM);
}

/* A pair with the most of everything; its queues are filled, and emptied. */
static void test_queues(void)
{
	const struct conn conn = {
		.depth = A.attr.max_qp_wr,
		.sge = A.attr.max_sge,
		.inline_data = max_inline(),
	};
	struct ibv_sge sge = piece(&B, 0, MESSAGE);
	struct pair p;
	int i;

	pair_open(&A, &B, &p, &conn);
	/* No buffer is there, so nothing completes. */
	fill_queue(p.a, A.attr.max_qp_wr, false);
	for (i = 0; i < A.attr.max_qp_wr; i++)
		if (recv_n(p.b, &sge, 1))
			die("receive %d", i);
	complete(&A, A.attr.max_qp_wr);
	complete(&B, A.attr.max_qp_wr);
	fill_queue(p.b, B.attr.max_qp_wr, true);
	for (i = 0; i < B.attr.max_qp_wr; i++) {
		sge = piece(&A, 0, MESSAGE);
		if (send_n(p.a, &sge, 1, 0))
			die("send %d", i);
	}
	complete(&A, B.attr.max_qp_wr);
	complete(&B, B.attr.max_qp_wr);
	pair_close(&p);
}

static void qp_too_large(const char *what, __u32 depth, __u32 sge, __u32 data)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = A.cq,
		.recv_cq = A.cq,
		.cap = { depth, depth, sge, sge, data },
		.qp_type = IBV_QPT_RC,
	};

	errno = 0;
	refused(what, !ibv_create_qp(A.pd, &attr), EINVAL);
}

static void test_lists(void)
{
	const __u32 most = A.attr.max_sge, data = max_inline();
	const struct conn conn = { .sge = most, .inline_data = data };
	struct ibv_sge from[most + 1], to[most + 1];
	struct pair p;
	__u32 i;

	qp_too_large("max_qp_wr", A.attr.max_qp_wr + 1, 1, 0);
	qp_too_large("max_sge", 1, most + 1, 0);
	qp_too_large("inline data", 1, 1, data + 1);
	pair_open(&A, &B, &p, &conn);
	for (i = 0; i < MEM; i++) {
		A.mem[i] = i * 7 + (i >> 9);
		B.mem[i] = GUARD;
	}
	/* Pieces of 100 bytes, 201 apart here and 303 apart there */
	for (i = 0; i <= most; i++) {
		from[i] = piece(&A, i * 201, 100);
		to[i] = piece(&B, i * 303, 100);
	}
	refused("an entry too many", recv_n(p.b, to, most + 1), EINVAL);
	refused("an entry too many", send_n(p.a, from, most + 1, 0), EINVAL);
	if (recv_n(p.b, to, most) || send_n(p.a, from, most, 0))
		die("%u entries", most);
	complete(&A, 1);
	complete(&B, 1);
	errno = 0;
	for (i = 0; i < most; i++)
		if (memcmp(A.mem + i * 201, B.mem + i * 303, 100) ||
		    B.mem[i * 303 + 100] != GUARD)
			die("entry %u", i);

	from[0] = piece(&A, 1, data + 1);
	refused("inline data", send_n(p.a, from, 1, IBV_SEND_INLINE), EINVAL);
	from[0].length = data;
	to[0] = piece(&B, 0, data);
	if (recv_n(p.b, to, 1) || send_n(p.a, from, 1, IBV_SEND_INLINE))
		die("inline data of %u bytes", data);
	complete(&A, 1);
	complete(&B, 1);
	errno = 0;
	if (memcmp(A.mem + 1, B.mem, data))
		die("inline data differ");
	pair_close(&p);
}

/* ------------------------------------------------------------------ */

/* As many READs under way as may be; depth and both ends allow no more. */
static void test_reads(void)
{
	const struct conn conn = { .depth = 1024 };
	struct ibv_sge sge = piece(&A, 0, 64);
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)B.mem, B.mr->rkey },
	};
	struct ibv_qp *qp[2] = { qp_create(&A, IBV_QPT_RC, &conn),
				 qp_create(&B, IBV_QPT_RC, &conn) };
	struct side *side[2] = { &A, &B };
	int i, mask;

	for (i = 0; i < 2; i++) {
		struct ibv_qp_attr rtr = {
			.qp_state = IBV_QPS_RTR,
			.path_mtu = A.port.active_mtu,
			.dest_qp_num = qp[!i]->qp_num,
			.max_dest_rd_atomic = A.attr.max_qp_rd_atom + 1,
			.min_rnr_timer = 1,
		};
		struct ibv_qp_attr rts = {
			.qp_state = IBV_QPS_RTS,
			.timeout = 16, .retry_cnt = 7, .rnr_retry = 7,
			.max_rd_atomic = A.attr.max_qp_init_rd_atom + 1,
		};

		if (qp_init(qp[i], &conn))
			die("INIT");
		ah_attr(side[i], &side[!i]->gid, &rtr.ah_attr);
		mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
		       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		errno = ibv_modify_qp(qp[i], &rtr, mask);
		refused("max_qp_rd_atom", errno, EINVAL);
		rtr.max_dest_rd_atomic--;
		errno = ibv_modify_qp(qp[i], &rtr, mask);
		if (errno)
			die("RTR");
		mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		       IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		       IBV_QP_MAX_QP_RD_ATOMIC;
		errno = ibv_modify_qp(qp[i], &rts, mask);
		refused("max_qp_init_rd_atom", errno, EINVAL);
		rts.max_rd_atomic--;
		errno = ibv_modify_qp(qp[i], &rts, mask);
		if (errno)
			die("RTS");
	}
	for (i = 0; i < 1024; i++) {
		errno = ibv_post_send(qp[0], &wr, &bad);
		if (errno)
			die("READ %d", i);
	}
	complete(&A, 1024);
	for (i = 0; i < 2; i++)
		if (ibv_destroy_qp(qp[i]))
			die("destroy_qp");
	/* All that all QPs could have */
	expect("max_res_rd_atom", A.attr.max_res_rd_atom,
	       (__u64)A.attr.max_qp_rd_atom * A.attr.max_qp);
}

/* ------------------------------------------------------------------ */
/* Completion queues                                                   */

static struct ibv_qp *in_error(struct ibv_cq *cq)
{
	const struct conn conn = {
		.depth = A.attr.max_qp_wr, .sge = 1, .cq = cq,
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp *qp = qp_create(&A, IBV_QPT_RC, &conn);

	if (qp_init(qp, &conn) || ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		die("error state");
	return qp;
}

/* Filled with requests that come back flushed */
static void test_completions(void)
{
	const int most = A.attr.max_cqe, depth = A.attr.max_qp_wr;
	struct ibv_cq *cq = ibv_create_cq(A.ctx, most, NULL, NULL, 0);
	struct ibv_sge sge = piece(&A, 0, MESSAGE);
	struct ibv_qp *qp[most / depth];
	struct ibv_wc wc[64];
	int i, k, n, total = 0;

	if (!cq)
		die("CQ of %d", most);
	expect("entries", cq->cqe, most);
	for (i = 0; i < most / depth; i++) {
		qp[i] = in_error(cq);
		for (k = 0; k < depth; k++)
			if (recv_n(qp[i], &sge, 1))
				die("receive %d", k);
	}
	do {
		n = ibv_poll_cq(cq, ARRAY_SIZE(wc), wc);
		if (n < 0)
			die("poll");
		for (k = 0; k < n; k++)
			expect("status", wc[k].status, IBV_WC_WR_FLUSH_ERR);
		total += n;
	} while (n);
	expect("completions", total, most);
	for (i = 0; i < most / depth; i++)
		if (ibv_destroy_qp(qp[i]))
			die("destroy_qp");
	errno = ibv_resize_cq(cq, most + 1);
	refused("max_cqe when resized", errno, EINVAL);
	if (ibv_destroy_cq(cq))
		die("destroy_cq");
	errno = 0;
	refused("max_cqe", !ibv_create_cq(A.ctx, most + 1, NULL, NULL, 0),
		EINVAL);
	n = A.ctx->num_comp_vectors;
	cq = ibv_create_cq(A.ctx, 1, NULL, A.channel, n - 1);
	if (!cq || ibv_destroy_cq(cq))
		die("vector %d", n - 1);
	errno = 0;
	refused("vectors", !ibv_create_cq(A.ctx, 1, NULL, A.channel, n),
		EINVAL);
}

static void test_moderation(void)
{
	struct ibv_device_attr_ex ex;
	struct ibv_modify_cq_attr attr = { .attr_mask = IBV_CQ_ATTR_MODERATE };

	errno = ibv_query_device_ex(A.ctx, NULL, &ex);
	if (errno)
		die("query");
	attr.moderate.cq_count = ex.cq_mod_caps.max_cq_count;
	attr.moderate.cq_period = ex.cq_mod_caps.max_cq_period;
	/* More than that the fields do not hold. */
	expect("max_cq_count", attr.moderate.cq_count, 0xffff);
	expect("max_cq_period", attr.moderate.cq_period, 0xffff);
	errno = ibv_modify_cq(A.cq, &attr);
	if (errno)
		die("moderation");
	attr.moderate.cq_count = 0;
	attr.moderate.cq_period = 0;
	errno = ibv_modify_cq(A.cq, &attr);
	if (errno)
		die("no moderation");
}

/* ------------------------------------------------------------------ */

static void srq_too_large(const char *what, __u32 wr, __u32 sge)
{
	struct ibv_srq_init_attr attr = { .attr = { wr, sge, 0 } };

	errno = 0;
	refused(what, !ibv_create_srq(B.pd, &attr), EINVAL);
}

static void test_srq(void)
{
	const __u32 most = B.attr.max_srq_wr, sges = B.attr.max_srq_sge;
	struct ibv_srq_init_attr attr = { .attr = { most, sges, 0 } };
	const struct conn conn = { .sge = sges };
	struct ibv_sge sge[sges + 1], from = piece(&A, 0, sges);
	struct ibv_recv_wr *bad, wr = { .sg_list = sge, .num_sge = sges };
	struct ibv_qp_init_attr init = {
		.send_cq = B.cq, .recv_cq = B.cq, .qp_type = IBV_QPT_RC,
		.cap = { 1, 0, 1, 0, 0 },
	};
	struct ibv_srq *srq = ibv_create_srq(B.pd, &attr);
	struct pair p;
	__u32 i;

	if (!srq)
		die("SRQ of %u", most);
	srq_too_large("max_srq_wr", most + 1, 1);
	srq_too_large("max_srq_sge", 1, sges + 1);
	/* The message is to be spread, one byte to each entry */
	for (i = 0; i <= sges; i++) {
		sge[i] = piece(&B, 2 * i, 1);
		A.mem[i] = i + 1;
		B.mem[2 * i] = 0;
	}
	wr.num_sge = sges + 1;
	errno = ibv_post_srq_recv(srq, &wr, &bad);
	refused("an entry too many", errno, EINVAL);
	wr.num_sge = sges;
	for (i = 0; i < most; i++) {
		errno = ibv_post_srq_recv(srq, &wr, &bad);
		if (errno)
			die("receive %u of %u", i, most);
	}
	errno = ibv_post_srq_recv(srq, &wr, &bad);
	refused("a receive too many", errno, ENOMEM);
	init.srq = srq;
	p.a = qp_create(&A, IBV_QPT_RC, &conn);
	p.b = ibv_create_qp(B.pd, &init);
	if (!p.b)
		die("QP on an SRQ");
	qp_connect(&A, p.a, &B, p.b->qp_num, &conn);
	qp_connect(&B, p.b, &A, p.a->qp_num, &conn);
	for (i = 0; i < most; i++) {
		if (send_n(p.a, &from, 1, 0))
			die("send %u", i);
		complete(&A, 1);
		complete(&B, 1);
	}
	errno = 0;
	for (i = 0; i < sges; i++)
		if (B.mem[2 * i] != i + 1)
			die("byte %u", i);
	pair_close(&p);
	if (ibv_destroy_srq(srq))
		die("destroy_srq");
}

/* ------------------------------------------------------------------ */

static const struct entry entries[] = {
	{ "queues", test_queues },
	{ "lists", test_lists },
	{ "reads", test_reads },
	{ "completions", test_completions },
	{ "moderation", test_moderation },
	{ "srq", test_srq },
	{}
};

int main(int argc, char **argv)
{
	return limits_main(argc, argv, entries);
}
