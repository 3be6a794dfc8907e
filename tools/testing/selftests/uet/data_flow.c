// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Many messages under way, in both directions, on many QPs */
#include "data.h"

struct flow {
	struct side *a, *b;
	struct ibv_qp *qa, *qb;
	struct slot *slot;
	unsigned int depth, head, tail;		/* free running */
	size_t base_a, base_b, room;		/* memory of one slot */
};

/* wr_id: flow in 31:16, slot in 15:0, RECV_BIT for a receive */
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

void rc_mix(void)	{ flows_run(1, 16, 100000, 20 * rounds); }
void rc_64_qps(void)	{ flows_run(64, 2, 30000, 20 * rounds); }

static void post_write(struct ibv_qp *qp)
{
	const struct sgl l = { .n = 1, .sge = { {
		.addr = (uintptr_t)A.mem, .length = 64, .lkey = A.mr->lkey,
	} } };
	struct wr w = {
		.op = WRITE, .flags = IBV_SEND_SIGNALED, .l = &l,
		.remote = (uintptr_t)B.mem, .rkey = B.mr->rkey,
	};

	post(qp, &w);
}

/* Post inside start_poll() .. end_poll(), as fast as completions come. */
void rc_post_in_poll(void)
{
	struct ibv_cq_init_attr_ex init = { .cqe = 128 };
	struct ibv_poll_cq_attr attr = {};
	struct conn ca = { .depth = 64 }, cb = { .depth = 64 };
	unsigned int total = 20 * rounds, posted = 0, taken = 0;
	__u64 end = now_ns() + wait_s * 1000000000ull;
	struct ibv_qp *qa, *qb;
	struct ibv_cq_ex *cq;

	errno = 0;
	cq = ibv_create_cq_ex(A.ctx, &init);
	if (!cq && errno == EOPNOTSUPP)
		skip("no extended CQs here");
	if (!cq)
		die("create_cq_ex");
	ca.cq = ibv_cq_ex_to_cq(cq);
	qa = qp_create(&A, IBV_QPT_RC, &ca);
	qb = qp_create(&B, IBV_QPT_RC, &cb);
	qp_connect(&A, qa, &B, qb->qp_num, &ca);
	qp_connect(&B, qb, &A, qa->qp_num, &cb);
	for (; posted < 32; posted++)
		post_write(qa);
	while (taken < total) {
		errno = 0;
		if (now_ns() > end)
			die("%u of %u in %u s", taken, total, wait_s);
		if (ibv_start_poll(cq, &attr))
			continue;
		do {
			if (cq->status != IBV_WC_SUCCESS)
				die("%s", ibv_wc_status_str(cq->status));
			taken++;
			if (posted < total)
				post_write(qa);
			posted++;
		} while (!ibv_next_poll(cq));
		ibv_end_poll(cq);
	}
	if (ibv_destroy_qp(qa) || ibv_destroy_qp(qb) ||
	    ibv_destroy_cq(ca.cq))
		die("destroy");
}

static void modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	errno = ibv_modify_qp(qp, attr, mask);
	if (errno)
		die("modify_qp");
}

/* Rights that are taken away while the send queue is drained are gone at once. */
void rc_sqd_rights(void)
{
	const struct conn c = { 0 };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };
	struct ibv_wc wc;
	struct pair p;

	pair_open(&A, &B, &p, &c);
	modify(p.b, &attr, IBV_QP_STATE);
	modify(p.b, &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS);
	post_write(p.a);
	next(&A, &wc);
	expect_status(&wc, IBV_WC_REM_INV_REQ_ERR);
	pair_close(&p);
}
