// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Reliable connections, one message or a few at a time */
#include "data.h"

static void rc_matrix(enum op op)
{
	const struct conn c = { .wr_api = builder };
	struct pair p;

	pair_open(&A, &B, &p, &c);
	matrix(p.a, p.b, op, 0, largest);
	pair_close(&p);
}

void rc_send(void)	{ rc_matrix(SEND); }
void rc_send_imm(void)	{ rc_matrix(SEND_IMM); }
void rc_write(void)	{ rc_matrix(WRITE); }
void rc_write_imm(void)	{ rc_matrix(WRITE_IMM); }
void rc_read(void)	{ rc_matrix(READ); }

static __u32 inline_limit(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(qp, &attr, IBV_QP_CAP, &init))
		die("query_qp");
	return init.cap.max_inline_data;
}

void rc_inline(void)
{
	const struct conn c = { .inline_data = 64, .wr_api = builder };
	__u32 limit, len;
	struct pair p;
	enum op op;

	pair_open(&A, &B, &p, &c);
	limit = inline_limit(p.a);
	if (limit < 64)
		die("max_inline_data is %u after asking for 64", limit);
	for (op = SEND; op <= WRITE_IMM; op++)
		for (len = 0; len <= limit; len += len < 80 ? 1 : 37)
			message(&A, p.a, &B, p.b, op, len, 1 + below(4),
				1 + below(4), IBV_SEND_INLINE);
	pair_close(&p);
}

/* All operations with the ibv_wr_*() calls. */
void rc_builder(void)
{
	builder = true;
	rc_send();
	rc_send_imm();
	rc_write();
	rc_write_imm();
	rc_read();
	rc_inline();
	builder = false;
}

/*
 * Only every 16th message is signalled; batches are one chain of requests and
 * fill the queue. Completion of one means completion of all before it.
 */
void rc_unsignalled(void)
{
	enum { BATCH = 64, LEN = 777, EACH = 16 };
	const struct conn c = { .depth = BATCH };
	struct ibv_send_wr wr[BATCH], *bad;
	struct ibv_recv_wr rr[BATCH], *bad_recv;
	struct ibv_sge sa[BATCH], sb[BATCH];
	unsigned int round, i;
	const __u8 *data;
	struct ibv_wc wc;
	struct pair p;
	int ret;

	pair_open(&A, &B, &p, &c);
	for (round = 0; round < 10; round++) {
		data = noise + below(65536);
		memcpy(A.mem, data, BATCH * LEN);
		memset(B.mem, GUARD, 2 * BATCH * LEN);
		memset(wr, 0, sizeof(wr));
		memset(rr, 0, sizeof(rr));
		for (i = 0; i < BATCH; i++) {
			sa[i].addr = (uintptr_t)A.mem + i * LEN;
			sa[i].length = LEN;
			sa[i].lkey = A.mr->lkey;
			sb[i].addr = (uintptr_t)B.mem + i * LEN;
			sb[i].length = LEN;
			sb[i].lkey = B.mr->lkey;
			wr[i].wr_id = i;
			wr[i].sg_list = &sa[i];
			wr[i].num_sge = 1;
			wr[i].opcode = i % 2 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE;
			wr[i].wr.rdma.remote_addr = sb[i].addr;
			wr[i].wr.rdma.rkey = B.mr->rkey;
			if (i % EACH == EACH - 1)
				wr[i].send_flags = IBV_SEND_SIGNALED;
			wr[i].next = i < BATCH - 1 ? &wr[i + 1] : NULL;
			rr[i].wr_id = i;
			rr[i].sg_list = &sb[i];
			rr[i].num_sge = 1;
			rr[i].next = i < BATCH - 2 ? &rr[i + 2] : NULL;
		}
		ret = ibv_post_recv(p.b, &rr[1], &bad_recv);
		expect("post_recv of a chain", ret, 0);
		ret = ibv_post_send(p.a, wr, &bad);
		expect("post_send of a chain", ret, 0);
		for (i = EACH - 1; i < BATCH; i += EACH)
			expect_send(&A, SEND, i, p.a->qp_num);
		for (i = 1; i < BATCH; i += 2) {
			next(&B, &wc);
			check_recv(&wc, SEND, i, p.b->qp_num, LEN, 0);
		}
		none_left(&A);
		none_left(&B);
		errno = 0;
		if (memcmp(B.mem, data, BATCH * LEN) ||
		    B.mem[BATCH * LEN] != GUARD)
			die("wrong data");
	}
	pair_close(&p);
}

/* The queue takes as many as asked for, and says ENOMEM then. */
void rc_queue_full(void)
{
	const struct conn c = { .depth = 4, .sge = 1 };
	struct ibv_qp_init_attr init;
	struct ibv_recv_wr rr = { 0 }, *bad_recv;
	struct ibv_qp_attr attr;
	unsigned int n, round;
	struct pair p;

	pair_open(&A, &B, &p, &c);
	if (ibv_query_qp(p.b, &attr, IBV_QP_CAP, &init))
		die("query_qp");
	if (init.cap.max_recv_wr < 4)
		die("max_recv_wr is %u", init.cap.max_recv_wr);
	for (n = 0; n < 1000000 && !ibv_post_recv(p.b, &rr, &bad_recv); n++)
		;
	if (n < 4 || n == 1000000)
		die("%u receives were taken", n);
	for (round = 0; round < 3; round++) {
		struct wr w = { .id = round, .op = SEND,
				.flags = IBV_SEND_SIGNALED,
				.l = &(struct sgl){ 0 } };
		struct ibv_wc wc;

		post(p.a, &w);
		next(&B, &wc);
		expect_status(&wc, IBV_WC_SUCCESS);
		expect_send(&A, SEND, round, p.a->qp_num);
		/* one taken out: one goes in, and no more */
		expect("post_recv after one completed",
		       ibv_post_recv(p.b, &rr, &bad_recv), 0);
		if (!ibv_post_recv(p.b, &rr, &bad_recv))
			die("the receive queue took one too many");
	}
	pair_close(&p);
}

/* A CQ armed for solicited events stays silent for others. */
void rc_solicited(void)
{
	static const enum op some[] = { SEND, SEND_IMM, WRITE_IMM };
	const struct conn c = { 0 };
	struct sgl la, lb;
	struct ibv_wc wc;
	struct pair p;
	unsigned int i;
	int solicited;

	sgl_cut(&A, &la, 0, 100, 1);
	sgl_cut(&B, &lb, 0, 100, 1);
	pair_open(&A, &B, &p, &c);
	while (event_came(&B, 0))
		;
	for (i = 0; i < ARRAY_SIZE(some); i++) {
		if (ibv_req_notify_cq(B.cq, 1))
			die("req_notify_cq");
		for (solicited = 0; solicited < 2; solicited++) {
			struct wr w = {
				.id = 7, .op = some[i], .l = &la,
				.rkey = B.mr->rkey,
				.remote = (uintptr_t)B.mem,
				.flags = IBV_SEND_SIGNALED |
					(solicited ? IBV_SEND_SOLICITED : 0),
			};

			post_recv(p.b, 8, &lb);
			post(p.a, &w);
			expect_send(&A, some[i], 7, p.a->qp_num);
			doing = ops[some[i]].name;
			errno = 0;
			if (solicited && !event_came(&B, wait_s * 1000))
				die("no event for a solicited message");
			if (!solicited && event_came(&B, 20))
				die("event for an unsolicited message");
			if (!ibv_poll_cq(B.cq, 1, &wc))
				die("no completion");
			expect_status(&wc, IBV_WC_SUCCESS);
		}
		if (event_came(&B, 0))
			die("a second event without a second request");
	}
	pair_close(&p);
}

/* Receives posted late: the sends wait, and arrive in order and whole. */
void rc_rnr(void)
{
	enum { N = 32, LEN = 3000 };
	const struct conn c = { .min_rnr = 1 };
	struct sgl la[N], lb[N];
	const __u8 *data[N];
	struct ibv_wc wc;
	struct pair p;
	int i;

	pair_open(&A, &B, &p, &c);
	for (i = 0; i < N; i++) {
		struct wr w = { .id = i, .op = i % 3 ? SEND : WRITE_IMM,
				.flags = IBV_SEND_SIGNALED, .l = &la[i],
				.imm = i, .rkey = B.mr->rkey };

		sgl_cut(&A, &la[i], i ? la[i - 1].from + la[i - 1].span : 0,
			LEN, 3);
		sgl_cut(&B, &lb[i], i ? lb[i - 1].from + lb[i - 1].span : 0,
			LEN, i % 3 ? 2 : 1);
		data[i] = sgl_fill(&A, &la[i]);
		memset(B.mem + lb[i].from, GUARD, lb[i].span);
		w.remote = lb[i].sge[0].addr;
		post(p.a, &w);
	}
	/* let them run into the missing receives */
	if (try_next(&A, &wc, 20))
		die("a send without a receive completed");
	for (i = 0; i < N; i++) {
		post_recv(p.b, i, i % 3 ? &lb[i] : NULL);
		next(&B, &wc);
		check_recv(&wc, i % 3 ? SEND : WRITE_IMM, i, p.b->qp_num, LEN,
			   i);
		sgl_check(&B, &lb[i], data[i], LEN);
	}
	for (i = 0; i < N; i++)
		expect_send(&A, i % 3 ? SEND : WRITE_IMM, i, p.a->qp_num);
	pair_close(&p);
}

/* The peer gets ready a while after the first message was sent to it. */
void rc_late_peer(void)
{
	enum { LEN = 3000 };
	const struct conn c = { 0 };
	struct sgl la, lb;
	const __u8 *data;
	struct ibv_wc wc;
	struct pair p;
	int stage;

	for (stage = 0; stage < 2; stage++) {	/* RESET, INIT */
		struct wr w = { .id = 1, .op = SEND, .l = &la,
				.flags = IBV_SEND_SIGNALED };

		p.a = qp_create(&A, IBV_QPT_RC, &c);
		p.b = qp_create(&B, IBV_QPT_RC, &c);
		if (stage && qp_init(p.b, &c))
			die("INIT");
		qp_connect(&A, p.a, &B, p.b->qp_num, &c);
		sgl_cut(&A, &la, 0, LEN, 3);
		sgl_cut(&B, &lb, 0, LEN, 2);
		data = sgl_fill(&A, &la);
		memset(B.mem, GUARD, lb.span);
		post(p.a, &w);
		if (try_next(&A, &wc, 20))
			die("completed with the peer in %s: %s",
			    stage ? "INIT" : "RESET",
			    ibv_wc_status_str(wc.status));
		if (!stage && qp_init(p.b, &c))
			die("INIT");
		post_recv(p.b, 2, &lb);
		if (qp_rtr(&B, p.b, &A.gid, p.a->qp_num, &c))
			die("RTR");
		next(&B, &wc);
		check_recv(&wc, SEND, 2, p.b->qp_num, LEN, 0);
		expect_send(&A, SEND, 1, p.a->qp_num);
		sgl_check(&B, &lb, data, LEN);
		pair_close(&p);
	}
}

/* READ, then a fenced SEND of what the READ brings. */
void rc_fence(void)
{
	const struct conn c = { 0 };
	unsigned int i;
	struct pair p;

	pair_open(&A, &B, &p, &c);
	for (i = 0; i < 200; i++) {
		struct sgl local, remote, back;
		struct wr r = { .id = 1, .op = READ, .l = &local,
				.rkey = B.mr->rkey };
		struct wr w = { .id = 2, .op = SEND, .l = &local,
				.flags = IBV_SEND_FENCE | IBV_SEND_SIGNALED };
		size_t len = 1 + below(20000);
		const __u8 *data;
		struct ibv_wc wc;

		sgl_cut(&A, &local, 0, len, 2);
		sgl_cut(&B, &remote, 0, len, 1);
		sgl_cut(&B, &back, remote.span, len, 2);
		data = sgl_fill(&B, &remote);
		memset(A.mem, GUARD, local.span);
		memset(B.mem + back.from, GUARD, back.span);
		r.remote = remote.sge[0].addr;
		post_recv(p.b, 3, &back);
		post(p.a, &r);
		post(p.a, &w);
		next(&B, &wc);
		check_recv(&wc, SEND, 3, p.b->qp_num, len, 0);
		expect_send(&A, SEND, 2, p.a->qp_num);
		sgl_check(&A, &local, data, len);
		sgl_check(&B, &back, data, len);
	}
	pair_close(&p);
}

/*
 * WRITE, then SEND, then READ on one QP: when the SEND has arrived the data of
 * the WRITE is there, and the READ sees it.
 */
void rc_order(void)
{
	const struct conn c = { 0 };
	unsigned int i;
	struct pair p;

	pair_open(&A, &B, &p, &c);
	for (i = 0; i < 200; i++) {
		size_t len = 1 + below(i % 10 ? 9000 : 300000);
		struct sgl src, dst, back, none = { 0 };
		const __u8 *data;
		struct ibv_wc wc;
		struct wr w;

		sgl_cut(&A, &src, 0, len, 3);
		sgl_cut(&A, &back, src.span, len, 2);
		sgl_cut(&B, &dst, 0, len, 1);
		data = sgl_fill(&A, &src);
		memset(A.mem + back.from, GUARD, back.span);
		memset(B.mem, GUARD, dst.span);
		post_recv(p.b, 5, NULL);
		w = (struct wr){ .id = 1, .op = WRITE, .l = &src,
				 .remote = dst.sge[0].addr, .rkey = B.mr->rkey,
				 .flags = IBV_SEND_SIGNALED };
		post(p.a, &w);
		w.id = 2;
		w.op = SEND;
		w.l = &none;
		post(p.a, &w);
		w.id = 3;
		w.op = READ;
		w.l = &back;
		post(p.a, &w);
		next(&B, &wc);
		check_recv(&wc, SEND, 5, p.b->qp_num, 0, 0);
		sgl_check(&B, &dst, data, len);
		expect_send(&A, WRITE, 1, p.a->qp_num);
		expect_send(&A, SEND, 2, p.a->qp_num);
		expect_send(&A, READ, 3, p.a->qp_num);
		sgl_check(&A, &back, data, len);
	}
	pair_close(&p);
}
