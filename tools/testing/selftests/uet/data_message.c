// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* One message by any operation, checked on both ends */
#include "data.h"

const struct op_desc ops[] = {
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

bool takes_recv(enum op op)
{
	return op == SEND || op == SEND_IMM || op == WRITE_IMM;
}

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

void post(struct ibv_qp *qp, const struct wr *w)
{
	if (builder || qp->qp_type == IBV_QPT_DRIVER)
		post_builder(ibv_qp_to_qp_ex(qp), w);
	else
		post_classic(qp, w);
}

void post_recv(struct ibv_qp *qp, __u64 id, const struct sgl *l)
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

void expect_send(struct side *s, enum op kind, __u64 id, __u32 qpn)
{
	struct ibv_wc wc;

	next(s, &wc);
	expect_status(&wc, IBV_WC_SUCCESS);
	expect("wr_id of the send completion", wc.wr_id, id);
	expect("opcode of the send completion", wc.opcode, ops[kind].wc);
	expect("qp_num of the send completion", wc.qp_num, qpn);
}

void check_recv(const struct ibv_wc *wc, enum op op, __u64 id, __u32 qpn,
		size_t len, __u32 imm)
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

struct ibv_ah *ru_ah;
__u32 ru_qpn;

void message(struct side *a, struct ibv_qp *qa, struct side *b,
	     struct ibv_qp *qb, enum op op, size_t len, int n_a, int n_b,
	     int flags)
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

int sizes(size_t *size)
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

int pieces(size_t len, int limit, int n[][2])
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

void matrix(struct ibv_qp *qa, struct ibv_qp *qb, enum op op, int flags,
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
