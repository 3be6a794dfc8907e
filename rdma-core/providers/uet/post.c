// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* ibv_post_send() and ibv_post_recv(). */

#include <endian.h>
#include <errno.h>

#include <ccan/array_size.h>
#include <util/compiler.h>

#include "uet.h"
#include "wqe.h"

#define SEND_FLAGS	(IBV_SEND_FENCE | IBV_SEND_SIGNALED | \
			 IBV_SEND_SOLICITED | IBV_SEND_INLINE)

static const uint8_t wqe_op[] = {
	[IBV_WR_RDMA_WRITE] = UET_WQE_WRITE,
	[IBV_WR_RDMA_WRITE_WITH_IMM] = UET_WQE_WRITE_IMM,
	[IBV_WR_SEND] = UET_WQE_SEND,
	[IBV_WR_SEND_WITH_IMM] = UET_WQE_SEND_IMM,
	[IBV_WR_RDMA_READ] = UET_WQE_READ,
	[IBV_WR_ATOMIC_CMP_AND_SWP] = UET_WQE_CMP_SWAP,
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = UET_WQE_FETCH_ADD,
	[IBV_WR_LOCAL_INV] = UET_WQE_LOCAL_INV,
	[IBV_WR_BIND_MW] = UET_WQE_BIND_MW,
	[IBV_WR_SEND_WITH_INV] = UET_WQE_SEND_INV,
};

/* What posts cannot do: UET_NO_OP, which no QP has. */
#define UET_NO_OP	31

static uint8_t to_wqe_op(enum ibv_wr_opcode opcode)
{
	if (opcode == IBV_WR_ATOMIC_WRITE)
		return UET_WQE_ATOMIC_WRITE;
	return (size_t)opcode < ARRAY_SIZE(wqe_op) ? wqe_op[opcode] : UET_NO_OP;
}

/*
 * ibv_send_wr has one union for the address handle and the remote memory, so
 * that a QP whose requests are addressed can only send this way. The others
 * are for ibv_wr_*().
 */
static bool op_is_ok(const struct uet_qp *qp, enum ibv_wr_opcode opcode)
{
	uint32_t ops = qp->ops;

	if (qp->addressed)
		ops &= 1U << UET_WQE_SEND | 1U << UET_WQE_SEND_IMM;
	return ops & 1U << to_wqe_op(opcode);
}

static int put_data(const struct uet_wq *sq, struct uet_send_wqe *wqe,
		    const struct ibv_send_wr *wr)
{
	const struct ibv_sge *sge = wr->sg_list;
	int i;

	if (uet_op_is_local(wqe->opcode))
		return 0;
	if (!(wr->send_flags & IBV_SEND_INLINE)) {
		wqe->num_sge = wr->num_sge;
		uet_put_sges((struct uet_wqe_sge *)(wqe + 1), sge, wr->num_sge);
		return 0;
	}

	if (!uet_op_may_inline(wqe->opcode))
		return EINVAL;
	wqe->flags |= UET_WQE_INLINE;
	for (i = 0; i < wr->num_sge; i++)
		if (!uet_put_inline(sq, wqe, (void *)(uintptr_t)sge[i].addr,
				    sge[i].length))
			return EINVAL;
	return 0;
}

/* Windows of type 1 are bound by ibv_bind_mw(). */
static int put_bind(struct uet_send_wqe *wqe, const struct ibv_send_wr *wr)
{
	if (wr->bind_mw.mw->type != IBV_MW_TYPE_2 ||
	    !wr->bind_mw.bind_info.mr)
		return EINVAL;
	return uet_put_bind(wqe, wr->bind_mw.rkey, &wr->bind_mw.bind_info);
}

static void put_atomic(struct uet_send_wqe *wqe, const struct ibv_send_wr *wr)
{
	wqe->remote_addr = wr->wr.atomic.remote_addr;
	wqe->rkey = wr->wr.atomic.rkey;
	wqe->compare_add = wr->wr.atomic.compare_add;
	if (wqe->opcode == UET_WQE_CMP_SWAP)
		wqe->swap = wr->wr.atomic.swap;
}

/* What the operation is about, in the terms of the connected QPs. */
static int put_op(struct uet_send_wqe *wqe, const struct ibv_send_wr *wr)
{
	switch (wqe->opcode) {
	case UET_WQE_SEND_IMM:
		wqe->imm_data = be32toh(wr->imm_data);
		break;
	case UET_WQE_WRITE_IMM:
		wqe->imm_data = be32toh(wr->imm_data);
		SWITCH_FALLTHROUGH;
	case UET_WQE_WRITE:
	case UET_WQE_READ:
	case UET_WQE_ATOMIC_WRITE:
		if (wqe->opcode == UET_WQE_ATOMIC_WRITE && !wr->num_sge)
			return EINVAL;
		wqe->remote_addr = wr->wr.rdma.remote_addr;
		wqe->rkey = wr->wr.rdma.rkey;
		break;
	case UET_WQE_CMP_SWAP:
	case UET_WQE_FETCH_ADD:
		put_atomic(wqe, wr);
		break;
	case UET_WQE_SEND_INV:
	case UET_WQE_LOCAL_INV:
		wqe->rkey = wr->invalidate_rkey;
		break;
	case UET_WQE_BIND_MW:
		return put_bind(wqe, wr);
	}
	return 0;
}

static void put_address(struct uet_send_wqe *wqe, const struct ibv_send_wr *wr)
{
	wqe->ah = to_uah(wr->wr.ud.ah)->number;
	wqe->dest_qpn = wr->wr.ud.remote_qpn;
	wqe->qkey = wr->wr.ud.remote_qkey;
}

static int put_send(struct uet_qp *qp, const struct ibv_send_wr *wr)
{
	struct uet_wq *sq = &qp->sq;
	struct uet_send_wqe *wqe;
	int ret;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > sq->max_sge ||
	    wr->send_flags & ~SEND_FLAGS || !op_is_ok(qp, wr->opcode) ||
	    (qp->addressed && !wr->wr.ud.ah))
		return EINVAL;

	wqe = uet_free_entry(sq);
	if (!wqe)
		return ENOMEM;

	*wqe = (struct uet_send_wqe) {
		.wr_id = wr->wr_id,
		.opcode = to_wqe_op(wr->opcode),
		.flags = uet_wqe_flags(qp, wr->send_flags),
	};
	if (qp->addressed)
		put_address(wqe, wr);
	ret = put_op(wqe, wr) ?: put_data(sq, wqe, wr);
	if (ret)
		return ret;
	sq->prod++;
	return 0;
}

int uet_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		  struct ibv_send_wr **bad_wr)
{
	struct uet_qp *qp = to_uqp(ibqp);
	struct ibv_send_wr *first = wr;
	int ret = 0, err;

	*bad_wr = wr;
	if (!uet_may_send(qp))
		return EINVAL;

	uet_lock(&qp->sq.lock);
	for (; wr; wr = wr->next) {
		ret = put_send(qp, wr);
		if (ret)
			break;
	}
	if (wr != first)
		uet_store_prod(&qp->sq.ring, qp->sq.prod);
	uet_unlock(&qp->sq.lock);

	*bad_wr = wr;
	if (wr == first)
		return ret;

	err = uet_doorbell(qp);
	if (!err)
		return ret;
	*bad_wr = first;
	return err;
}

static int put_recv(struct uet_wq *rq, const struct ibv_recv_wr *wr)
{
	struct uet_recv_wqe *wqe;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge)
		return EINVAL;

	wqe = uet_free_entry(rq);
	if (!wqe)
		return ENOMEM;

	*wqe = (struct uet_recv_wqe) {
		.wr_id = wr->wr_id,
		.num_sge = wr->num_sge,
	};
	uet_put_sges((struct uet_wqe_sge *)(wqe + 1), wr->sg_list, wr->num_sge);
	rq->prod++;
	return 0;
}

/* Fills the queue; @bad_wr is the first request that is not in it. */
static int put_recvs(struct uet_wq *rq, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad_wr)
{
	struct ibv_recv_wr *first = wr;
	int ret = 0;

	uet_lock(&rq->lock);
	if (!rq->ring.hdr)
		ret = EINVAL;
	while (wr && !ret) {
		ret = put_recv(rq, wr);
		if (!ret)
			wr = wr->next;
	}
	if (wr != first)
		uet_store_prod(&rq->ring, rq->prod);
	uet_unlock(&rq->lock);
	*bad_wr = wr;
	return ret;
}

/*
 * The kernel looks at the queue when a message arrives and needs no call,
 * unless it says so: entries posted after an error must be flushed.
 */
int uet_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad_wr)
{
	struct uet_qp *qp = to_uqp(ibqp);
	struct ibv_recv_wr *kick_bad;
	int ret, err;

	*bad_wr = wr;
	if (ibqp->state == IBV_QPS_RESET || !qp->rq.ring.hdr)
		return EINVAL;

	ret = put_recvs(&qp->rq, wr, bad_wr);
	if (*bad_wr == wr || !uet_wants_kick(&qp->rq.ring))
		return ret;

	err = ibv_cmd_post_recv(ibqp, NULL, &kick_bad);
	if (!err)
		return ret;
	*bad_wr = wr;
	return err;
}

int uet_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad_wr)
{
	struct uet_srq *srq = to_usrq(ibsrq);
	struct ibv_recv_wr *kick_bad;
	int ret, err;

	ret = put_recvs(&srq->rq, wr, bad_wr);
	if (*bad_wr == wr || !uet_wants_kick(&srq->rq.ring))
		return ret;

	err = ibv_cmd_post_srq_recv(ibsrq, NULL, &kick_bad);
	if (!err)
		return ret;
	*bad_wr = wr;
	return err;
}

static int put_mw(struct uet_qp *qp, const struct ibv_mw_bind *bind,
		  uint32_t rkey)
{
	struct uet_send_wqe *wqe;
	int ret;

	wqe = uet_free_entry(&qp->sq);
	if (!wqe)
		return ENOMEM;

	*wqe = (struct uet_send_wqe) {
		.wr_id = bind->wr_id,
		.opcode = UET_WQE_BIND_MW,
		.flags = uet_wqe_flags(qp, bind->send_flags),
	};
	ret = uet_put_bind(wqe, rkey, &bind->bind_info);
	if (!ret)
		uet_store_prod(&qp->sq.ring, ++qp->sq.prod);
	return ret;
}

/* Windows of type 1: the library chooses the key. libibverbs checks the type. */
int uet_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw,
		struct ibv_mw_bind *bind)
{
	uint32_t rkey = ibv_inc_rkey(mw->rkey);
	struct uet_qp *qp = to_uqp(ibqp);
	int ret;

	if (!uet_may_send(qp) || !(qp->ops & 1U << UET_WQE_BIND_MW) ||
	    bind->send_flags & ~SEND_FLAGS)
		return EINVAL;

	uet_lock(&qp->sq.lock);
	ret = put_mw(qp, bind, rkey);
	uet_unlock(&qp->sq.lock);

	if (!ret)
		ret = uet_doorbell(qp);
	if (!ret)
		mw->rkey = rkey;
	return ret;
}
