// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Unreliable connections: messages as of reliable ones, and that a message which
 * the peer does not take harms neither side.
 */
#include "data.h"

#define NO_KEY	0x7fffff00u

static const struct conn uc = { .type = IBV_QPT_UC, .inline_data = 64 };

static struct pair p;

/* One packet; many, of which the first is refused and the others follow it */
static const size_t refused[] = { 100, 60000 };

static void uc_matrix(enum op op)
{
	struct conn c = uc;
	__u32 len;

	c.wr_api = builder;
	pair_open(&A, &B, &p, &c);
	matrix(p.a, p.b, op, 0, largest);
	for (len = 0; len <= 64; len++)
		message(&A, p.a, &B, p.b, op, len, 1 + below(3), 2,
			IBV_SEND_INLINE);
	pair_close(&p);
}

void uc_send(void)	{ uc_matrix(SEND); }
void uc_send_imm(void)	{ uc_matrix(SEND_IMM); }
void uc_write(void)	{ uc_matrix(WRITE); }
void uc_write_imm(void)	{ uc_matrix(WRITE_IMM); }

void uc_builder(void)
{
	builder = true;
	uc_send();
	uc_send_imm();
	uc_write();
	uc_write_imm();
	builder = false;
}

/* Nothing happened: both QPs take part as before, in every operation. */
static void unharmed(void)
{
	enum op op;

	none_left(&A);
	none_left(&B);
	expect("state of the sender", qp_state(p.a), IBV_QPS_RTS);
	expect("state of the receiver", qp_state(p.b), IBV_QPS_RTS);
	for (op = SEND; op <= WRITE_IMM; op++)
		message(&A, p.a, &B, p.b, op, 5000, 2, 2, 0);
	message(&B, p.b, &A, p.a, SEND, 5000, 2, 2, 0);
}

/* It succeeds, whatever becomes of it. */
static void sent(enum op op, size_t len, __u64 remote, __u32 rkey)
{
	struct sgl l;
	struct wr w = { .id = 1, .op = op, .l = &l, .imm = 7,
			.remote = remote, .rkey = rkey,
			.flags = IBV_SEND_SIGNALED };

	sgl_cut(&A, &l, 0, len, 2);
	sgl_fill(&A, &l);
	post(p.a, &w);
	doing = ops[op].name;
	expect_send(&A, op, 1, p.a->qp_num);
}

/* A buffer in the middle of guard bytes, and that they are all still there */
static void guard(struct sgl *l, size_t len)
{
	sgl_cut(&B, l, 0, len, 1);
	memset(B.mem, GUARD, l->span);
}

static void untouched(const struct sgl *l)
{
	sgl_check(&B, l, NULL, 0);
}

void uc_bad_key(void)
{
	struct sgl l;
	size_t len;

	pair_open(&A, &B, &p, &uc);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		len = refused[i];
		guard(&l, len);
		sent(WRITE, len, l.sge[0].addr, NO_KEY);
		sent(WRITE, len, (uintptr_t)B.mem + B.size - len + 1,
		     B.mr->rkey);
		untouched(&l);
		unharmed();
	}
	pair_close(&p);
}

/* The buffer that was to tell of the write is there for the next one. */
void uc_bad_key_imm(void)
{
	struct ibv_wc wc;
	struct sgl l;

	pair_open(&A, &B, &p, &uc);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		guard(&l, refused[i]);
		post_recv(p.b, 2, NULL);
		sent(WRITE_IMM, refused[i], l.sge[0].addr, NO_KEY);
		none_left(&B);
		untouched(&l);
		sent(WRITE_IMM, refused[i], l.sge[0].addr, B.mr->rkey);
		next(&B, &wc);
		expect("wr_id", wc.wr_id, 2);
		expect_status(&wc, IBV_WC_SUCCESS);
		unharmed();
	}
	pair_close(&p);
}

/* The QP of the peer does not let anybody write. */
void uc_no_right(void)
{
	struct conn none = uc;
	struct sgl l;

	none.access = -1;
	pair_open_as(&A, &uc, &B, &none, &p);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		guard(&l, refused[i]);
		sent(WRITE, refused[i], l.sge[0].addr, B.mr->rkey);
		untouched(&l);
		message(&A, p.a, &B, p.b, SEND, 5000, 2, 2, 0);
	}
	expect("state of the receiver", qp_state(p.b), IBV_QPS_RTS);
	pair_close(&p);
}

void uc_no_buffer(void)
{
	struct sgl l;

	pair_open(&A, &B, &p, &uc);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		guard(&l, refused[i]);
		sent(SEND, refused[i], 0, 0);
		sent(SEND_IMM, refused[i], 0, 0);
		sent(WRITE_IMM, refused[i], l.sge[0].addr, B.mr->rkey);
		untouched(&l);
		unharmed();
	}
	pair_close(&p);
}

/* The message is lost and costs the buffer that it does not fit. */
void uc_too_long(void)
{
	struct ibv_wc wc;
	struct sgl l;

	pair_open(&A, &B, &p, &uc);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		guard(&l, refused[i] - 1);
		post_recv(p.b, 2, &l);
		sent(SEND, refused[i], 0, 0);
		next(&B, &wc);
		expect("wr_id", wc.wr_id, 2);
		expect_status(&wc, IBV_WC_LOC_LEN_ERR);
		untouched(&l);
		unharmed();
	}
	pair_close(&p);
}

/* Refused ones between others, all under way at once: only those are missing. */
void uc_mix(void)
{
	enum { N = 60, LEN = 3000 };
	const __u8 *data[N];
	struct sgl la, lb[N];
	struct ibv_wc wc;
	int i;

	pair_open(&A, &B, &p, &uc);
	sgl_cut(&A, &la, 0, LEN, 2);
	data[0] = sgl_fill(&A, &la);
	for (i = 0; i < N; i++) {
		sgl_cut(&B, &lb[i], i ? lb[i - 1].from + lb[i - 1].span : 0,
			LEN, 1);
		memset(B.mem + lb[i].from, GUARD, lb[i].span);
		if (i % 3 == 2)
			post_recv(p.b, i, &lb[i]);
	}
	for (i = 0; i < N; i++) {
		struct wr w = { .id = i, .l = &la, .op = i % 3 == 2 ? SEND : WRITE,
				.flags = IBV_SEND_SIGNALED,
				.rkey = i % 3 ? B.mr->rkey : NO_KEY,
				.remote = lb[i].sge[0].addr };

		post(p.a, &w);
	}
	for (i = 0; i < N; i++)
		expect_send(&A, i % 3 == 2 ? SEND : WRITE, i, p.a->qp_num);
	for (i = 2; i < N; i += 3) {
		next(&B, &wc);
		check_recv(&wc, SEND, i, p.b->qp_num, LEN, 0);
	}
	for (i = 0; i < N; i++)
		sgl_check(&B, &lb[i], data[0], i % 3 ? LEN : 0);
	unharmed();
	pair_close(&p);
}

/* READs and atomics: there are none, which the library knows. */
void uc_no_reads(void)
{
	static const enum ibv_wr_opcode none[] = {
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_ATOMIC_CMP_AND_SWP,
	};
	struct ibv_sge sge = { (uintptr_t)A.mem, 8, A.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1,
		.wr.rdma = { (uintptr_t)B.mem, B.mr->rkey },
	};

	pair_open(&A, &B, &p, &uc);
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		wr.opcode = none[i];
		expect("post_send", ibv_post_send(p.a, &wr, &bad), EINVAL);
		unharmed();
	}
	pair_close(&p);
}

/*
 * A bad lkey is the sender's own fault: what is behind is flushed until the QP is
 * taken back to RTS. It receives all the time.
 */
void uc_own_fault(void)
{
	struct sgl l;
	struct wr w = { .op = SEND, .l = &l, .flags = IBV_SEND_SIGNALED };
	struct ibv_wc wc;

	pair_open(&A, &B, &p, &uc);
	sgl_cut(&A, &l, 0, 100, 1);
	l.sge[0].lkey = NO_KEY;
	for (w.id = 1; w.id <= 2; w.id++) {
		post(p.a, &w);
		next(&A, &wc);
		expect("wr_id", wc.wr_id, w.id);
		expect_status(&wc, w.id == 1 ? IBV_WC_LOC_PROT_ERR :
					       IBV_WC_WR_FLUSH_ERR);
		expect("state of the sender", qp_state(p.a), IBV_QPS_SQE);
	}
	none_left(&A);
	message(&B, p.b, &A, p.a, SEND, 5000, 2, 2, 0);
	to_state(p.a, IBV_QPS_RTS);
	unharmed();
	pair_close(&p);
}

/* The host says that there is no such QP, and the sender does not mind. */
void uc_peer_gone(void)
{
	pair_open(&A, &B, &p, &uc);
	if (ibv_destroy_qp(p.b))
		die("destroy_qp");
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		sent(SEND, refused[i], 0, 0);
		sent(WRITE, refused[i], (uintptr_t)B.mem, B.mr->rkey);
	}
	none_left(&A);
	expect("state of the sender", qp_state(p.a), IBV_QPS_RTS);
	if (ibv_destroy_qp(p.a))
		die("destroy_qp");
}

static void run(const char *command)
{
	if (!command || system(command))
		die("%s", command ? command : "-x and -y are missing");
}

/*
 * While the wire is cut nobody answers: the peer is given up after 2 s. What is
 * sent when it is mended finds both QPs as they were.
 */
void uc_silent(void)
{
	__u64 start, ms;

	pair_open(&A, &B, &p, &uc);
	unharmed();
	run(cut);
	start = now_ns();
	sent(SEND, 60000, 0, 0);
	ms = (now_ns() - start) / 1000000;
	errno = 0;
	if (ms < 1900)
		die("given up after %llu ms", (unsigned long long)ms);
	sent(WRITE, 100, (uintptr_t)B.mem, B.mr->rkey);
	run(mend);
	unharmed();
	pair_close(&p);
}
