// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Reliable-unconnected QPs */
#include "data.h"
#include "ru_qp.h"

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

void ru_send(void)	{ ru_matrix(SEND); }
void ru_send_imm(void)	{ ru_matrix(SEND_IMM); }
void ru_write(void)	{ ru_matrix(WRITE); }
void ru_write_imm(void)	{ ru_matrix(WRITE_IMM); }
void ru_read(void)	{ ru_matrix(READ); }

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

void ru_mix(void)
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

/*
 * A message longer than its buffer: both sides hear of it, and the receiver's other
 * peers hear nothing.
 */
void ru_too_long(void)
{
	struct ibv_qp *qa = ru_open(&A, 64), *qb = ru_open(&B, 64);
	struct wr w = { .id = 1, .op = SEND, .flags = IBV_SEND_SIGNALED };
	struct sgl la, lb;
	struct ibv_wc wc;

	ru_ah = ah_to(&A, &B);
	ru_qpn = wire_qpn(qb);
	sgl_cut(&A, &la, ARENA / 2, 65, 1);
	sgl_cut(&B, &lb, ARENA / 2, 64, 1);
	sgl_fill(&A, &la);
	w.l = &la;
	w.ah = ru_ah;
	w.qpn = ru_qpn;
	post_recv(qb, 2, &lb);
	post(qa, &w);
	next(&B, &wc);
	expect("wr_id", wc.wr_id, 2);
	expect_status(&wc, IBV_WC_LOC_LEN_ERR);
	next(&A, &wc);
	expect("wr_id", wc.wr_id, 1);
	expect_status(&wc, IBV_WC_REM_INV_REQ_ERR);
	message(&A, qa, &B, qb, SEND, 64, 1, 1, 0);
	if (ibv_destroy_ah(ru_ah) || ibv_destroy_qp(qa) || ibv_destroy_qp(qb))
		die("destroy");
}

/* No receive posted: the message waits, others to the same peer pass it. */
void ru_rnr(void)
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
