// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Datagrams */
#include "data.h"

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

void ud_send(void)
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

void ud_builder(void)
{
	builder = true;
	ud_send();
	builder = false;
}

/* Answer to whom it came from, knowing only the completion and the GRH. */
void ud_reply(void)
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
void ud_lossy(void)
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
	/* half of them arrive, if late; the others are lost, if none comes for a while */
	while (try_next(&B, &wc, arrived < N / 2 ? wait_s * 1000 :
				 arrived < N ? 200 : 0)) {
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
void ud_dropped(void)
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
