// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Moves data with every operation, in every size that has an edge, through
 * scatter/gather lists that cross pages, and compares each byte and the guard
 * bytes around it.
 *
 * data -a DEV -A ADDRESS -b DEV -B ADDRESS [OPTION...] TEST...
 * "data -h" lists the options and tests.
 */
#include "pair_test.h"

#include <infiniband/uetdv.h>

#define MB		1048576u
#define BIG		(16 * MB + 3)
#define ARENA		(BIG + 4 * MB)

static __u32 mtus[8] = { 1024 };	/* payload MTUs with edges of their own */
static int nr_mtu = 1;
static size_t largest = BIG;
static bool every_sge;			/* 1, 2, .. 16 instead of some */

enum op { SEND, SEND_IMM, WRITE, WRITE_IMM, READ };

static const struct {
	const char *name;
	enum ibv_wr_opcode wr;
	enum ibv_wc_opcode wc;
} ops[] = {
	[SEND]		= { "send", IBV_WR_SEND, IBV_WC_SEND },
	[SEND_IMM]	= { "send_imm", IBV_WR_SEND_WITH_IMM, IBV_WC_SEND },
	[WRITE]		= { "write", IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE },
	[WRITE_IMM]	= { "write_imm", IBV_WR_RDMA_WRITE_WITH_IMM,
			    IBV_WC_RDMA_WRITE },
	[READ]		= { "read", IBV_WR_RDMA_READ, IBV_WC_RDMA_READ },
};

static bool has_imm(enum op op)
{
	return op == SEND_IMM || op == WRITE_IMM;
}

static bool takes_recv(enum op op)
{
	return op == SEND || op == SEND_IMM || op == WRITE_IMM;
}

/* ------------------------------------------------------------------ */
/* Posting                                                             */

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

static bool addressed(const struct ibv_qp *qp)
{
	return qp->qp_type == IBV_QPT_UD || qp->qp_type == IBV_QPT_DRIVER;
}

static void post_classic(struct ibv_qp *qp, const struct wr *w)
{
	struct ibv_send_wr wr = {
		.wr_id = w->id,
		.sg_list = (struct ibv_sge *)w->l->sge,
		.num_sge = w->l->n,
		.opcode = ops[w->op].wr,
		.send_flags = w->flags,
		.imm_data = htobe32(w->imm),
	}, *bad;
	int ret;

	if (qp->qp_type == IBV_QPT_UD) {
		wr.wr.ud.ah = w->ah;
		wr.wr.ud.remote_qpn = w->qpn;
		wr.wr.ud.remote_qkey = QKEY;
	} else {
		wr.wr.rdma.remote_addr = w->remote;
		wr.wr.rdma.rkey = w->rkey;
	}
	ret = ibv_post_send(qp, &wr, &bad);
	if (ret) {
		errno = ret;
		die("post_send");
	}
}

static void post_builder(struct ibv_qp_ex *qp, const struct wr *w)
{
	struct ibv_data_buf buf[MAX_SGE];
	int i, ret;

	ibv_wr_start(qp);
	qp->wr_id = w->id;
	qp->wr_flags = w->flags;
	switch (w->op) {
	case SEND:
		ibv_wr_send(qp);
		break;
	case SEND_IMM:
		ibv_wr_send_imm(qp, htobe32(w->imm));
		break;
	case WRITE:
		ibv_wr_rdma_write(qp, w->rkey, w->remote);
		break;
	case WRITE_IMM:
		ibv_wr_rdma_write_imm(qp, w->rkey, w->remote, htobe32(w->imm));
		break;
	case READ:
		ibv_wr_rdma_read(qp, w->rkey, w->remote);
		break;
	}
	if (addressed(&qp->qp_base))
		ibv_wr_set_ud_addr(qp, w->ah, w->qpn, QKEY);
	if (w->flags & IBV_SEND_INLINE) {
		for (i = 0; i < w->l->n; i++) {
			buf[i].addr = (void *)(uintptr_t)w->l->sge[i].addr;
			buf[i].length = w->l->sge[i].length;
		}
		ibv_wr_set_inline_data_list(qp, w->l->n, buf);
	} else if (w->l->n == 1) {
		ibv_wr_set_sge(qp, w->l->sge[0].lkey, w->l->sge[0].addr,
			       w->l->sge[0].length);
	} else {
		ibv_wr_set_sge_list(qp, w->l->n, w->l->sge);
	}
	ret = ibv_wr_complete(qp);
	if (ret) {
		errno = ret;
		die("wr_complete");
	}
}

static bool builder;	/* post with ibv_wr_*() */

static void post(struct ibv_qp *qp, const struct wr *w)
{
	if (builder || qp->qp_type == IBV_QPT_DRIVER)
		post_builder(ibv_qp_to_qp_ex(qp), w);
	else
		post_classic(qp, w);
}

static void post_recv(struct ibv_qp *qp, __u64 id, const struct sgl *l)
{
	struct ibv_recv_wr wr = {
		.wr_id = id,
		.sg_list = l ? (struct ibv_sge *)l->sge : NULL,
		.num_sge = l ? l->n : 0,
	}, *bad;
	int ret = ibv_post_recv(qp, &wr, &bad);

	if (ret) {
		errno = ret;
		die("post_recv");
	}
}

static void expect_send(struct side *s, enum op kind, __u64 id, __u32 qpn)
{
	struct ibv_wc wc;

	next(s, &wc);
	expect_status(&wc, IBV_WC_SUCCESS);
	expect("wr_id of the send completion", wc.wr_id, id);
	expect("opcode of the send completion", wc.opcode, ops[kind].wc);
	expect("qp_num of the send completion", wc.qp_num, qpn);
}

static void check_recv(const struct ibv_wc *wc, enum op op, __u64 id,
		       __u32 qpn, size_t len, __u32 imm)
{
	expect_status(wc, IBV_WC_SUCCESS);
	expect("wr_id of the receive completion", wc->wr_id, id);
	expect("opcode of the receive completion", wc->opcode,
	       op == WRITE_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV);
	expect("qp_num of the receive completion", wc->qp_num, qpn);
	expect("byte_len of the receive completion", wc->byte_len, len);
	expect("immediate flag", !!(wc->wc_flags & IBV_WC_WITH_IMM),
	       has_imm(op));
	if (has_imm(op))
		expect("immediate", be32toh(wc->imm_data), imm);
}

/* ------------------------------------------------------------------ */
/* One message from @a to @b (READ: by @a, from @b), with all checks    */

/* Where messages of an RU QP go. */
static struct ibv_ah *ru_ah;
static __u32 ru_qpn;

static void message(struct side *a, struct ibv_qp *qa, struct side *b,
		    struct ibv_qp *qb, enum op op, size_t len, int n_a,
		    int n_b, int flags)
{
	struct wr w = {
		.id = rnd(), .op = op, .imm = rnd(), .rkey = b->mr->rkey,
		.flags = flags | IBV_SEND_SIGNALED, .ah = ru_ah, .qpn = ru_qpn,
	};
	__u64 recv_id = rnd();
	struct sgl la, lb;
	const __u8 *data;
	size_t room = len;
	struct ibv_wc wc;
	static char what[160];

	snprintf(what, sizeof(what),
		 "%s of %zu bytes from %d pieces to %d, flags %#x",
		 ops[op].name, len, n_a, n_b, flags);
	doing = what;
	if (op == SEND || op == SEND_IMM)
		room += below(2) * below(5000);
	else
		n_b = 1;
	sgl_cut(a, &la, 0, len, n_a);
	sgl_cut(b, &lb, 0, room, n_b);
	w.l = &la;
	w.remote = lb.sge[0].addr;
	data = sgl_fill(op == READ ? b : a, op == READ ? &lb : &la);
	if (op == READ)
		memset(a->mem + la.from, GUARD, la.span);
	else
		memset(b->mem + lb.from, GUARD, lb.span);

	if (takes_recv(op))
		post_recv(qb, recv_id, op == WRITE_IMM ? NULL : &lb);
	post(qa, &w);
	if (flags & IBV_SEND_INLINE)	/* the buffer is ours again */
		memset(a->mem + la.from, 0x55, la.span);
	if (takes_recv(op)) {
		next(b, &wc);
		check_recv(&wc, op, recv_id, qb->qp_num, len, w.imm);
		if (addressed(qb))
			expect("src_qp", wc.src_qp, qa->qp_num);
	}
	expect_send(a, op, w.id, qa->qp_num);
	sgl_check(b, &lb, data, len);
	if (!(flags & IBV_SEND_INLINE))
		sgl_check(a, &la, data, len);
	none_left(a);
	none_left(b);
}

static int sizes(size_t *size)
{
	static const size_t fixed[] = { 0, 1, 63, 64, MB, BIG };
	int n = 0, i;

	for (i = 0; i < (int)ARRAY_SIZE(fixed); i++)
		if (fixed[i] <= largest)
			size[n++] = fixed[i];
	for (i = 0; i < nr_mtu; i++) {
		size[n++] = mtus[i] - 1;
		size[n++] = mtus[i];
		size[n++] = mtus[i] + 1;
		size[n++] = 2 * mtus[i] + 1;
	}
	return n;
}

/* Numbers of pieces to try on both ends; large messages try fewer. */
static int pieces(size_t len, int limit, int (*n)[2])
{
	static const int some[][2] = {
		{ 1, 1 }, { 2, 3 }, { 3, 2 }, { 16, 16 }, { 5, 16 }, { 16, 1 },
	};
	int count = 0, i;

	if (every_sge) {
		for (i = 1; i <= limit; i++, count++) {
			n[count][0] = i;
			n[count][1] = 1 + below(limit);
		}
		return count;
	}
	for (i = 0; i < (int)ARRAY_SIZE(some); i++) {
		if (len > MB && i != 0 && i != 3)
			continue;
		n[count][0] = some[i][0] < limit ? some[i][0] : limit;
		n[count][1] = some[i][1] < limit ? some[i][1] : limit;
		count++;
	}
	return count;
}

static void matrix(struct ibv_qp *qa, struct ibv_qp *qb, enum op op, int flags,
		   size_t limit)
{
	int la = side_sge(&A), lb = side_sge(&B);
	int limit_sge = la < lb ? la : lb;
	size_t size[64];
	int n[MAX_SGE][2];
	int i, j, ni, nj;

	ni = sizes(size);
	for (i = 0; i < ni; i++) {
		if (size[i] > limit)
			continue;
		nj = pieces(size[i], limit_sge, n);
		for (j = 0; j < nj; j++)
			message(&A, qa, &B, qb, op, size[i], n[j][0], n[j][1],
				flags);
	}
	/* no piece at all */
	message(&A, qa, &B, qb, op, 0, 0, 1, flags);
}

static void rc_matrix(enum op op)
{
	const struct conn c = { .wr_api = builder };
	struct pair p;

	pair_open(&A, &B, &p, &c);
	matrix(p.a, p.b, op, 0, largest);
	pair_close(&p);
}

static void rc_send(void)	{ rc_matrix(SEND); }
static void rc_send_imm(void)	{ rc_matrix(SEND_IMM); }
static void rc_write(void)	{ rc_matrix(WRITE); }
static void rc_write_imm(void)	{ rc_matrix(WRITE_IMM); }
static void rc_read(void)	{ rc_matrix(READ); }

/* ------------------------------------------------------------------ */

static __u32 inline_limit(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(qp, &attr, IBV_QP_CAP, &init))
		die("query_qp");
	return init.cap.max_inline_data;
}

static void rc_inline(void)
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
static void rc_builder(void)
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
static void rc_unsignalled(void)
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
static void rc_queue_full(void)
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
static void rc_solicited(void)
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
static void rc_rnr(void)
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
static void rc_late_peer(void)
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
static void rc_fence(void)
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
static void rc_order(void)
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

/* ------------------------------------------------------------------ */
/* Many messages under way, in both directions, on many QPs             */

struct slot {
	bool busy;
	enum op op;
	size_t len;
	struct sgl local, remote;
	const __u8 *data;
	__u32 imm;
	bool sent, received;
};

struct flow {
	struct side *a, *b;
	struct ibv_qp *qa, *qb;
	struct slot *slot;
	unsigned int depth, head, tail;		/* free running */
	unsigned int recv_head, recv_tail;	/* receives in use */
	size_t base_a, base_b, room;		/* memory of one slot */
};

/* wr_id: flow in 31:16, slot in 15:0, bit 32 for a receive */
#define RECV_BIT	0x100000000ull

static void flow_post(struct flow *f, unsigned int number, size_t max)
{
	unsigned int at = f->head % f->depth;
	struct slot *s = &f->slot[at];
	struct wr w = { .flags = IBV_SEND_SIGNALED, .rkey = f->b->mr->rkey };
	__u64 id = number << 16 | at;

	s->busy = true;
	s->sent = false;
	s->op = below(READ + 1);
	s->received = !takes_recv(s->op);
	s->imm = rnd();
	s->len = below(4) ? below(max / 8 + 1) : below(max + 1);
	sgl_cut(f->a, &s->local, f->base_a + at * f->room, s->len,
		1 + below(4) % side_sge(f->a));
	sgl_cut(f->b, &s->remote, f->base_b + at * f->room, s->len,
		s->op > SEND_IMM ? 1 : 1 + below(4) % side_sge(f->b));
	if (s->op == READ) {
		s->data = sgl_fill(f->b, &s->remote);
		memset(f->a->mem + s->local.from, GUARD, s->local.span);
	} else {
		s->data = sgl_fill(f->a, &s->local);
		memset(f->b->mem + s->remote.from, GUARD, s->remote.span);
	}
	if (takes_recv(s->op))
		post_recv(f->qb, RECV_BIT | id,
			  s->op == WRITE_IMM ? NULL : &s->remote);
	w.id = id;
	w.op = s->op;
	w.imm = s->imm;
	w.l = &s->local;
	w.remote = s->remote.sge[0].addr;
	post(f->qa, &w);
	f->head++;
}

static unsigned int done;	/* messages */

static void flow_take(struct flow *flows, const struct ibv_wc *wc)
{
	unsigned int number = (wc->wr_id >> 16) & 0xffff;
	unsigned int at = wc->wr_id & 0xffff;
	struct flow *f = &flows[number];
	struct slot *s = &f->slot[at];

	expect_status(wc, IBV_WC_SUCCESS);
	if (wc->wr_id & RECV_BIT) {
		check_recv(wc, s->op, RECV_BIT | number << 16 | at,
			   f->qb->qp_num, s->len, s->imm);
		s->received = true;
	} else {
		expect("order of send completions", at, f->tail % f->depth);
		expect("opcode", wc->opcode, ops[s->op].wc);
		s->sent = true;
		f->tail++;
	}
	if (s->sent && s->received) {
		sgl_check(f->a, &s->local, s->data, s->len);
		sgl_check(f->b, &s->remote, s->data, s->len);
		s->busy = false;
		done++;
	}
}

static bool slot_free(const struct flow *f)
{
	return !f->slot[f->head % f->depth].busy;
}

/*
 * @pairs connections with a flow in either direction, @depth messages of up
 * to @max bytes each, until @total messages are through.
 */
static void flows_run(int pairs, unsigned int depth, size_t max,
		      unsigned int total)
{
	struct conn c = { .depth = depth + 1, .sge = 4 };
	int n = 2 * pairs, k;
	struct flow *flows = calloc(n, sizeof(*flows));
	size_t room = (max / PAGE + 12) * PAGE;
	unsigned int posted = 0;
	struct pair *p = calloc(pairs, sizeof(*p));
	struct ibv_wc wc;

	if (side_sge(&A) < 4 || side_sge(&B) < 4)
		c.sge = side_sge(&A) < side_sge(&B) ? side_sge(&A) : side_sge(&B);
	if (!flows || !p || n * depth * room > ARENA)
		die("%d flows of %u times %zu bytes do not fit", n, depth, room);
	for (k = 0; k < n; k++) {
		struct flow *f = &flows[k];

		if (k % 2 == 0)
			pair_open(&A, &B, &p[k / 2], &c);
		f->a = k % 2 ? &B : &A;
		f->b = k % 2 ? &A : &B;
		f->qa = k % 2 ? p[k / 2].b : p[k / 2].a;
		f->qb = k % 2 ? p[k / 2].a : p[k / 2].b;
		f->depth = depth;
		f->room = room;
		f->base_a = k * depth * room;
		f->base_b = f->base_a;
		f->slot = calloc(depth, sizeof(*f->slot));
		if (!f->slot)
			die("slots");
	}
	done = 0;
	while (done < total) {
		for (k = 0; k < n; k++)
			while (posted < total && slot_free(&flows[k])) {
				flow_post(&flows[k], k, max);
				posted++;
			}
		errno = 0;
		if (!take_any(&A, &B, &wc, wait_s * 1000))
			die("no completion in %u s, %u of %u messages done",
			    wait_s, done, total);
		flow_take(flows, &wc);
	}
	none_left(&A);
	none_left(&B);
	for (k = 0; k < n; k++)
		free(flows[k].slot);
	for (k = 0; k < pairs; k++)
		pair_close(&p[k]);
	free(flows);
	free(p);
}

static void rc_mix(void)	{ flows_run(1, 16, 100000, 20 * rounds); }
static void rc_64_qps(void)	{ flows_run(64, 2, 30000, 20 * rounds); }

/* ------------------------------------------------------------------ */
/* Datagrams                                                           */

static struct ibv_qp *ud_open(struct side *s, const struct conn *c)
{
	struct ibv_qp *qp;

	if (s->port.link_layer != IBV_LINK_LAYER_ETHERNET)
		skip("no UD");
	qp = qp_create(s, IBV_QPT_UD, c);
	if (qp_init(qp, c) || qp_rtr(s, qp, NULL, 0, c) || qp_rts(s, qp, c))
		die("UD QP of %s", s->name);
	return qp;
}

static struct ibv_ah *ah_to(struct side *s, const struct side *peer)
{
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;

	ah_attr(s, &peer->gid, &attr);
	ah = ibv_create_ah(s->pd, &attr);
	if (!ah)
		die("create_ah on %s", s->name);
	return ah;
}

static __u16 ip_sum(const __u8 *header)
{
	__u32 sum = 0;
	int i;

	for (i = 0; i < 20; i += 2)
		sum += header[i] << 8 | header[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* The 40 bytes in front of a datagram name sender and receiver. */
static void check_grh(const __u8 *grh, const struct side *from,
		      const struct side *to)
{
	static const __u8 v4[12] = { [10] = 0xff, [11] = 0xff };

	if (!memcmp(to->gid.raw, v4, 12)) {
		expect("IPv4 version and header length", grh[20], 0x45);
		expect("IPv4 header checksum", ip_sum(grh + 20), 0xffff);
		errno = 0;
		if (memcmp(grh + 32, from->gid.raw + 12, 4) ||
		    memcmp(grh + 36, to->gid.raw + 12, 4))
			die("addresses in the IPv4 header of the GRH");
		return;
	}
	expect("IPv6 version", grh[0] >> 4, 6);
	errno = 0;
	if (memcmp(grh + 8, from->gid.raw, 16) ||
	    memcmp(grh + 24, to->gid.raw, 16))
		die("addresses in the GRH");
}

static void gather(const struct sgl *l, __u8 *to, size_t len)
{
	size_t part;
	int i;

	for (i = 0; i < l->n && len; i++) {
		part = l->sge[i].length < len ? l->sge[i].length : len;
		memcpy(to, (void *)(uintptr_t)l->sge[i].addr, part);
		to += part;
		len -= part;
	}
}

/* The datagram that came last. */
static union {
	struct ibv_grh grh;
	__u8 raw[GRH_LEN + 65536];
} whole;

/* A datagram from @a to @b; returns its completion at @b. */
static struct ibv_wc transfer(struct side *a, struct ibv_qp *qa,
			      struct ibv_ah *ah, struct side *b,
			      struct ibv_qp *qb, enum op op, size_t len,
			      int n_a, int n_b, int flags)
{
	__u64 recv_id = rnd();
	struct sgl la, lb;
	struct wr w = { .id = rnd(), .op = op, .imm = rnd(), .l = &la,
			.flags = flags | IBV_SEND_SIGNALED, .ah = ah,
			.qpn = qb->qp_num };
	const __u8 *data;
	struct ibv_wc wc;
	static char what[160];

	snprintf(what, sizeof(what),
		 "%zu bytes in a datagram from %d pieces to %d, flags %#x",
		 len, n_a, n_b, flags);
	doing = what;
	sgl_cut(a, &la, 0, len, n_a);
	sgl_cut(b, &lb, 0, GRH_LEN + len + below(2) * below(100), n_b);
	data = sgl_fill(a, &la);
	memset(b->mem + lb.from, GUARD, lb.span);
	post_recv(qb, recv_id, &lb);
	post(qa, &w);
	expect_send(a, op, w.id, qa->qp_num);
	next(b, &wc);
	check_recv(&wc, op, recv_id, qb->qp_num, GRH_LEN + len, w.imm);
	expect("src_qp", wc.src_qp, qa->qp_num);
	expect("GRH flag", !!(wc.wc_flags & IBV_WC_GRH), 1);
	gather(&lb, whole.raw, GRH_LEN);
	check_grh(whole.raw, a, b);
	memcpy(whole.raw + GRH_LEN, data, len);
	sgl_check(b, &lb, whole.raw, GRH_LEN + len);
	none_left(a);
	none_left(b);
	return wc;
}

static size_t ud_limit(const struct side *s)
{
	return 128u << s->port.active_mtu;
}

static void ud_send(void)
{
	const struct conn c = { .inline_data = 64, .wr_api = builder };
	struct ibv_qp *qa = ud_open(&A, &c), *qb = ud_open(&B, &c);
	struct ibv_ah *ah = ah_to(&A, &B);
	int la = side_sge(&A), lb = side_sge(&B);
	size_t size[64], len;
	int n[MAX_SGE][2];
	int i, j, ni, nj;
	enum op op;

	ni = sizes(size);
	size[ni++] = ud_limit(&A);
	for (op = SEND; op <= SEND_IMM; op++)
		for (i = 0; i < ni; i++) {
			if (size[i] > ud_limit(&A))
				continue;
			nj = pieces(size[i], la < lb ? la : lb, n);
			for (j = 0; j < nj; j++)
				transfer(&A, qa, ah, &B, qb, op, size[i],
					 n[j][0], n[j][1], 0);
		}
	for (len = 0; len <= 64; len++)
		transfer(&A, qa, ah, &B, qb, SEND, len, 1 + below(3), 2,
			 IBV_SEND_INLINE);
	if (ibv_destroy_ah(ah) || ibv_destroy_qp(qa) || ibv_destroy_qp(qb))
		die("destroy");
}

static void ud_builder(void)
{
	builder = true;
	ud_send();
	builder = false;
}

/* Answer to whom it came from, knowing only the completion and the GRH. */
static void ud_reply(void)
{
	const struct conn c = { 0 };
	struct ibv_qp *qa = ud_open(&A, &c), *qb = ud_open(&B, &c);
	struct ibv_ah *ah = ah_to(&A, &B), *back;
	int i;

	for (i = 0; i < 20; i++) {
		struct ibv_wc wc;

		wc = transfer(&A, qa, ah, &B, qb, SEND, 1 + below(100), 1, 1,
			      0);
		expect("src_qp", wc.src_qp, qa->qp_num);
		doing = "create_ah_from_wc";
		back = ibv_create_ah_from_wc(B.pd, &wc, &whole.grh, 1);
		if (!back)
			die("create_ah_from_wc");
		transfer(&B, qb, back, &A, qa, SEND_IMM, below(1000), 2, 2, 0);
		if (ibv_destroy_ah(back))
			die("destroy_ah");
	}
	if (ibv_destroy_ah(ah) || ibv_destroy_qp(qa) || ibv_destroy_qp(qb))
		die("destroy");
}

/*
 * Datagrams through a bad net: those that arrive are whole, each fills a buffer
 * of its own, and all sends complete.
 */
static void ud_lossy(void)
{
	enum { N = 400, LEN = 900 };
	const struct conn c = { .depth = N };
	struct ibv_qp *qa = ud_open(&A, &c), *qb = ud_open(&B, &c);
	struct ibv_ah *ah = ah_to(&A, &B);
	static struct sgl la[N], lb[N];
	const __u8 *data[N];
	unsigned int i, arrived = 0;
	static bool seen[N];
	struct ibv_wc wc;

	memset(seen, 0, sizeof(seen));
	for (i = 0; i < N; i++) {
		sgl_cut(&A, &la[i], i ? la[i - 1].from + la[i - 1].span : 0,
			LEN, 1);
		sgl_cut(&B, &lb[i], i ? lb[i - 1].from + lb[i - 1].span : 0,
			GRH_LEN + LEN, 2);
		data[i] = sgl_fill(&A, &la[i]);
		memset(B.mem + lb[i].from, GUARD, lb[i].span);
		post_recv(qb, i, &lb[i]);
	}
	for (i = 0; i < N; i++) {
		struct wr w = { .id = i, .op = SEND_IMM, .imm = i,
				.flags = IBV_SEND_SIGNALED, .l = &la[i],
				.ah = ah, .qpn = qb->qp_num };

		post(qa, &w);
		expect_send(&A, SEND_IMM, i, qa->qp_num);
	}
	while (try_next(&B, &wc, arrived < N ? 200 : 0)) {
		__u32 number = be32toh(wc.imm_data);

		check_recv(&wc, SEND_IMM, wc.wr_id, qb->qp_num, GRH_LEN + LEN,
			   number);
		if (number >= N || seen[number])
			die("datagram %u came twice or never was", number);
		seen[number] = true;
		gather(&lb[wc.wr_id], whole.raw, GRH_LEN);
		check_grh(whole.raw, &A, &B);
		memcpy(whole.raw + GRH_LEN, data[number], LEN);
		sgl_check(&B, &lb[wc.wr_id], whole.raw, GRH_LEN + LEN);
		arrived++;
	}
	printf("%u of %d datagrams arrived\n", arrived, N);
	if (arrived < N / 2)
		die("only %u of %d datagrams arrived", arrived, N);
	if (ibv_destroy_ah(ah) || ibv_destroy_qp(qa) || ibv_destroy_qp(qb))
		die("destroy");
}

/* Wrong Q_Key, no such QP, no receive, receive too small: nothing arrives. */
static void ud_dropped(void)
{
	const struct conn c = { 0 };
	struct ibv_qp *qa = ud_open(&A, &c), *qb = ud_open(&B, &c);
	struct ibv_ah *ah = ah_to(&A, &B);
	struct ibv_sge sge = { .addr = (uintptr_t)A.mem, .length = 100,
			       .lkey = A.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_wc wc;
	struct sgl l;
	int i;

	wr.wr.ud.ah = ah;
	sgl_cut(&B, &l, 0, GRH_LEN + 100, 2);
	for (i = 0; i < 3; i++) {
		wr.wr.ud.remote_qpn = qb->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
		if (i == 0)
			wr.wr.ud.remote_qkey = QKEY + 1;
		if (i == 1)
			wr.wr.ud.remote_qpn ^= 0x800;
		if (i == 2 && ibv_destroy_qp(qb))
			die("destroy_qp");
		if (i == 2) {
			qb = ud_open(&B, &c);	/* nothing posted */
			wr.wr.ud.remote_qpn = qb->qp_num;
		} else {
			post_recv(qb, 2, &l);
		}
		doing = "dropped datagram";
		if (ibv_post_send(qa, &wr, &bad))
			die("post_send %d", i);
		expect_send(&A, SEND, 1, qa->qp_num);
		if (try_next(&B, &wc, 30))
			die("datagram %d arrived: %s", i,
			    ibv_wc_status_str(wc.status));
	}
	transfer(&A, qa, ah, &B, qb, SEND, 500, 2, 2, 0);
	if (ibv_destroy_ah(ah) || ibv_destroy_qp(qa) || ibv_destroy_qp(qb))
		die("destroy");
}

/* ------------------------------------------------------------------ */
/* Reliable unconnected                                                */

static struct ibv_qp *ru_open(struct side *s, __u32 depth)
{
	struct uetdv_qp_init_attr uet = {
		.driver_qp_type = UETDV_QP_DRIVER_TYPE_RU,
	};
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = s->cq,
		.recv_cq = s->cq,
		.cap = {
			.max_send_wr = depth,
			.max_recv_wr = depth,
			.max_send_sge = side_sge(s),
			.max_recv_sge = side_sge(s),
			.max_inline_data = 64,
		},
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = s->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND |
			IBV_QP_EX_WITH_SEND_WITH_IMM |
			IBV_QP_EX_WITH_RDMA_WRITE |
			IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
			IBV_QP_EX_WITH_RDMA_READ,
	};
	struct uetdv_device_attr cap;
	struct ibv_qp *qp;

	errno = 0;
	if (uetdv_query_device(s->ctx, &cap, sizeof(cap)) ||
	    !(cap.device_caps & UETDV_DEVICE_CAP_RU))
		skip("no reliable-unconnected QPs here");
	qp = uetdv_create_qp(s->ctx, &attr, &uet, sizeof(uet));
	if (!qp)
		die("uetdv_create_qp on %s", s->name);
	return qp;
}

static __u32 wire_qpn(struct ibv_qp *qp)
{
	__u32 number;

	if (uetdv_qp_wire_qpn(qp, &number))
		die("uetdv_qp_wire_qpn");
	return number;
}

static void ru_matrix(enum op op)
{
	struct ibv_qp *qa = ru_open(&A, 64), *qb = ru_open(&B, 64);
	__u32 len;

	ru_ah = ah_to(&A, &B);
	ru_qpn = wire_qpn(qb);
	matrix(qa, qb, op, 0, largest);
	for (len = 0; op != READ && len <= 64; len++)
		message(&A, qa, &B, qb, op, len, 1 + below(3), 2,
			IBV_SEND_INLINE);
	if (ibv_destroy_ah(ru_ah) || ibv_destroy_qp(qa) || ibv_destroy_qp(qb))
		die("destroy");
}

static void ru_send(void)	{ ru_matrix(SEND); }
static void ru_send_imm(void)	{ ru_matrix(SEND_IMM); }
static void ru_write(void)	{ ru_matrix(WRITE); }
static void ru_write_imm(void)	{ ru_matrix(WRITE_IMM); }
static void ru_read(void)	{ ru_matrix(READ); }

/*
 * One QP talks to many, a window of messages under way. Messages arrive in any
 * order: the immediate says which one filled a receive buffer.
 */
#define RU_PEERS	8
#define RU_DEPTH	16
#define RU_MAX		20000
#define RU_ROOM		((RU_MAX / PAGE + 12) * PAGE)

static struct ru {
	struct ibv_qp *qp, *peer[RU_PEERS];
	struct ibv_ah *ah;
	__u32 qpn[RU_PEERS];
	struct slot slot[RU_DEPTH];
	unsigned int to[RU_DEPTH];
	struct sgl recv[RU_PEERS][RU_DEPTH];
	unsigned int done;
} ru;

static void ru_post_recv(unsigned int peer, unsigned int n)
{
	struct sgl *l = &ru.recv[peer][n];

	sgl_cut(&B, l, (RU_DEPTH + peer * RU_DEPTH + n) * RU_ROOM, RU_MAX, 4);
	memset(B.mem + l->from, GUARD, l->span);
	post_recv(ru.peer[peer], RECV_BIT | peer << 16 | n, l);
}

static void ru_post(unsigned int n)
{
	static const enum op some[] = { SEND_IMM, WRITE, WRITE_IMM, READ };
	struct slot *s = &ru.slot[n];
	unsigned int peer = below(RU_PEERS);
	struct wr w;

	s->op = some[below(ARRAY_SIZE(some))];
	s->len = below(4) ? below(3000) : below(RU_MAX + 1);
	s->sent = false;
	s->received = !takes_recv(s->op);
	s->busy = true;
	ru.to[n] = peer;
	sgl_cut(&A, &s->local, n * RU_ROOM, s->len, 1 + below(4));
	sgl_cut(&B, &s->remote, n * RU_ROOM, s->len, 1);
	if (s->op == READ) {
		s->data = sgl_fill(&B, &s->remote);
		memset(A.mem + s->local.from, GUARD, s->local.span);
	} else {
		s->data = sgl_fill(&A, &s->local);
		memset(B.mem + s->remote.from, GUARD, s->remote.span);
	}
	w = (struct wr){ .id = n, .op = s->op, .imm = n, .l = &s->local,
			 .flags = IBV_SEND_SIGNALED, .rkey = B.mr->rkey,
			 .remote = s->remote.sge[0].addr, .ah = ru.ah,
			 .qpn = ru.qpn[peer] };
	post(ru.qp, &w);
}

static void ru_received(const struct ibv_wc *wc)
{
	unsigned int peer = (wc->wr_id >> 16) & 0xffff, n = wc->wr_id & 0xffff;
	unsigned int imm = be32toh(wc->imm_data);
	struct slot *s = &ru.slot[imm % RU_DEPTH];

	expect("immediate", imm, imm % RU_DEPTH);
	expect("peer", peer, ru.to[imm]);
	expect("a message that is under way", s->busy && !s->received, 1);
	check_recv(wc, s->op, wc->wr_id, ru.peer[peer]->qp_num, s->len, imm);
	expect("src_qp", wc->src_qp, ru.qp->qp_num);
	if (s->op == SEND_IMM)
		sgl_check(&B, &ru.recv[peer][n], s->data, s->len);
	s->received = true;
	ru_post_recv(peer, n);
}

static void ru_take(const struct ibv_wc *wc)
{
	unsigned int n = wc->wr_id & 0xffff;
	struct slot *s;

	expect_status(wc, IBV_WC_SUCCESS);
	if (wc->wr_id & RECV_BIT) {
		ru_received(wc);
		n = be32toh(wc->imm_data);
		s = &ru.slot[n];
	} else {
		s = &ru.slot[n];
		expect("opcode", wc->opcode, ops[s->op].wc);
		s->sent = true;
	}
	if (!s->sent || !s->received)
		return;
	sgl_check(&A, &s->local, s->data, s->len);
	if (s->op != SEND_IMM)
		sgl_check(&B, &s->remote, s->data, s->len);
	s->busy = false;
	ru.done++;
}

static void ru_mix(void)
{
	unsigned int total = 20 * rounds, posted = 0, i, n;
	struct ibv_wc wc;

	memset(&ru, 0, sizeof(ru));
	ru.qp = ru_open(&A, RU_DEPTH);
	ru.ah = ah_to(&A, &B);
	for (i = 0; i < RU_PEERS; i++) {
		ru.peer[i] = ru_open(&B, RU_DEPTH);
		ru.qpn[i] = wire_qpn(ru.peer[i]);
		for (n = 0; n < RU_DEPTH; n++)
			ru_post_recv(i, n);
	}
	while (ru.done < total) {
		for (n = 0; n < RU_DEPTH && posted < total; n++)
			if (!ru.slot[n].busy) {
				ru_post(n);
				posted++;
			}
		errno = 0;
		if (!take_any(&A, &B, &wc, wait_s * 1000))
			die("no completion in %u s, %u of %u messages done",
			    wait_s, ru.done, total);
		ru_take(&wc);
	}
	none_left(&A);
	none_left(&B);
	for (i = 0; i < RU_PEERS; i++)
		if (ibv_destroy_qp(ru.peer[i]))
			die("destroy_qp");
	if (ibv_destroy_ah(ru.ah) || ibv_destroy_qp(ru.qp))
		die("destroy");
}

/* No receive posted: the message waits, others to the same peer pass it. */
static void ru_rnr(void)
{
	struct ibv_qp *qa = ru_open(&A, 64), *qb = ru_open(&B, 64);
	struct ibv_qp *other = ru_open(&B, 64), *second = ru_open(&A, 64);
	struct wr w = { .id = 1, .op = SEND, .flags = IBV_SEND_SIGNALED };
	const __u8 *data;
	struct sgl la, lb;
	struct ibv_wc wc;
	int i;

	ru_ah = ah_to(&A, &B);
	sgl_cut(&A, &la, ARENA / 2, 5000, 3);
	sgl_cut(&B, &lb, ARENA / 2, 5000, 2);
	data = sgl_fill(&A, &la);
	memset(B.mem + lb.from, GUARD, lb.span);
	w.l = &la;
	w.ah = ru_ah;
	w.qpn = wire_qpn(qb);
	post(qa, &w);
	if (try_next(&A, &wc, 20))
		die("a send without a receive completed: %s",
		    ibv_wc_status_str(wc.status));
	ru_qpn = wire_qpn(other);
	for (i = 0; i < 20; i++)
		message(&A, second, &B, other, i % 2 ? SEND_IMM : WRITE,
			below(9000), 2, 2, 0);
	post_recv(qb, 2, &lb);
	next(&B, &wc);
	check_recv(&wc, SEND, 2, qb->qp_num, 5000, 0);
	expect_send(&A, SEND, 1, qa->qp_num);
	sgl_check(&B, &lb, data, 5000);
	if (ibv_destroy_ah(ru_ah) || ibv_destroy_qp(qa) || ibv_destroy_qp(second) ||
	    ibv_destroy_qp(qb) || ibv_destroy_qp(other))
		die("destroy");
}

/* ------------------------------------------------------------------ */

static const struct entry tests[] = {
	{ "rc_send", rc_send },
	{ "rc_send_imm", rc_send_imm },
	{ "rc_write", rc_write },
	{ "rc_write_imm", rc_write_imm },
	{ "rc_read", rc_read },
	{ "rc_inline", rc_inline },
	{ "rc_builder", rc_builder },
	{ "rc_unsignalled", rc_unsignalled },
	{ "rc_queue_full", rc_queue_full },
	{ "rc_solicited", rc_solicited },
	{ "rc_rnr", rc_rnr },
	{ "rc_late_peer", rc_late_peer },
	{ "rc_fence", rc_fence },
	{ "rc_order", rc_order },
	{ "rc_mix", rc_mix },
	{ "rc_64_qps", rc_64_qps },
	{ "ud_send", ud_send },
	{ "ud_builder", ud_builder },
	{ "ud_reply", ud_reply },
	{ "ud_dropped", ud_dropped },
	{ "ud_lossy", ud_lossy },
	{ "ru_send", ru_send },
	{ "ru_send_imm", ru_send_imm },
	{ "ru_write", ru_write },
	{ "ru_write_imm", ru_write_imm },
	{ "ru_read", ru_read },
	{ "ru_mix", ru_mix },
	{ "ru_rnr", ru_rnr },
	{}
};

static void parse_mtus(char *list)
{
	char *at;

	nr_mtu = 0;
	for (at = strtok(list, ","); at; at = strtok(NULL, ","))
		if (nr_mtu < (int)ARRAY_SIZE(mtus))
			mtus[nr_mtu++] = strtoul(at, NULL, 0);
}

static void own_option(int opt)
{
	switch (opt) {
	case 'm':
		parse_mtus(optarg);
		break;
	case 'M':
		largest = strtoul(optarg, NULL, 0);
		break;
	case 's':
		every_sge = true;
		break;
	case 'p':
		busy_poll = true;
		break;
	}
}

static const struct pair_more more = {
	.options = "m:M:sp",
	.option = own_option,
	.usage = "  -m N[,N...]          payload MTUs whose edges are tried (1024)\n"
		 "  -M BYTES             largest message (16 MiB + 3)\n"
		 "  -s                   1, 2, .. 16 pieces instead of some\n"
		 "  -p                   poll instead of waiting for events\n",
};

int main(int argc, char **argv)
{
	char **names;
	__u64 start;

	rounds = 100;
	names = pair_options(argc, argv, tests, &more);
	pair_seed();
	noise_init(BIG);
	side_open(&A, dev_a, addr_a, ARENA, 4096);
	side_open(&B, dev_b, addr_b, ARENA, 4096);
	for (; *names; names++) {
		start = now_ns();
		pair_run(*names, tests);
		printf("%s: %llu ms\n", *names,
		       (unsigned long long)(now_ns() - start) / 1000000);
		fflush(stdout);
	}
	side_close(&A);
	side_close(&B);
	return 0;
}
