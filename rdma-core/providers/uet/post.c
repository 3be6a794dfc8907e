// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* ibv_post_send() and ibv_post_recv(). */

#include <endian.h>
#include <errno.h>
#include <unistd.h>

#include <ccan/array_size.h>

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
};

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
	return (size_t)opcode < ARRAY_SIZE(wqe_op) &&
	       ops & 1U << wqe_op[opcode];
}

static int put_data(const struct uet_wq *sq, struct uet_send_wqe *wqe,
		    const struct ibv_send_wr *wr)
{
	const struct ibv_sge *sge = wr->sg_list;
	int i;

	if (!(wr->send_flags & IBV_SEND_INLINE)) {
		wqe->num_sge = wr->num_sge;
		uet_put_sges((struct uet_wqe_sge *)(wqe + 1), sge, wr->num_sge);
		return 0;
	}

	if (wqe->opcode == UET_WQE_READ)
		return EINVAL;
	wqe->flags |= UET_WQE_INLINE;
	for (i = 0; i < wr->num_sge; i++)
		if (!uet_put_inline(sq, wqe, (void *)(uintptr_t)sge[i].addr,
				    sge[i].length))
			return EINVAL;
	return 0;
}

static void put_target(const struct uet_qp *qp, struct uet_send_wqe *wqe,
		       const struct ibv_send_wr *wr)
{
	if (qp->addressed) {
		wqe->ah = to_uah(wr->wr.ud.ah)->number;
		wqe->dest_qpn = wr->wr.ud.remote_qpn;
		wqe->qkey = wr->wr.ud.remote_qkey;
	} else if (wqe->opcode != UET_WQE_SEND &&
		   wqe->opcode != UET_WQE_SEND_IMM) {
		wqe->remote_addr = wr->wr.rdma.remote_addr;
		wqe->rkey = wr->wr.rdma.rkey;
	}
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
		.opcode = wqe_op[wr->opcode],
		.flags = uet_wqe_flags(qp, wr->send_flags),
	};
	if (wqe->opcode == UET_WQE_SEND_IMM || wqe->opcode == UET_WQE_WRITE_IMM)
		wqe->imm_data = be32toh(wr->imm_data);
	put_target(qp, wqe, wr);

	ret = put_data(sq, wqe, wr);
	if (ret)
		return ret;
	sq->prod++;
	return 0;
}

/**
 * uet_doorbell - tell the kernel of new entries in the send queue
 * @qp: the QP; its lock is not held, since this is where the kernel transmits
 *
 * The doorbell is the write command POST_SEND without work requests. write()
 * is the quickest way to give it, but the kernel refuses that to a process
 * that has changed its credentials since it opened the device; the ioctl, which
 * libibverbs prefers where there is one, has no such rule.
 *
 * Return: 0 or an errno value; EIO when the device is gone
 */
int uet_doorbell(struct uet_qp *qp)
{
	struct uet_context *ctx = to_uctx(qp->vqp.qp.context);
	struct ib_uverbs_post_send_resp resp;
	struct ibv_post_send cmd = {
		.hdr.command = IB_USER_VERBS_CMD_POST_SEND,
		.hdr.in_words = sizeof(cmd) / 4,
		.hdr.out_words = sizeof(resp) / 4,
		.response = (uintptr_t)&resp,
		.qp_handle = qp->vqp.qp.handle,
		.wqe_size = sizeof(struct ib_uverbs_send_wr),
	};
	struct ibv_send_wr *bad_wr;

	if (!atomic_load_explicit(&ctx->no_write, memory_order_relaxed)) {
		if (write(ctx->vctx.context.cmd_fd, &cmd, sizeof(cmd)) ==
		    sizeof(cmd))
			return 0;
		if (errno != EACCES)
			return errno;
		atomic_store_explicit(&ctx->no_write, true,
				      memory_order_relaxed);
	}
	return ibv_cmd_post_send(&qp->vqp.qp, NULL, &bad_wr);
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

/*
 * The kernel looks at the queue when a message arrives and needs no call,
 * unless it says so: entries posted after an error must be flushed.
 */
int uet_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad_wr)
{
	struct uet_qp *qp = to_uqp(ibqp);
	struct ibv_recv_wr *first = wr, *kick_bad;
	struct uet_wq *rq = &qp->rq;
	int ret = 0, err;

	*bad_wr = wr;
	if (ibqp->state == IBV_QPS_RESET || !rq->ring.hdr)
		return EINVAL;

	uet_lock(&rq->lock);
	for (; wr; wr = wr->next) {
		ret = put_recv(rq, wr);
		if (ret)
			break;
	}
	if (wr != first)
		uet_store_prod(&rq->ring, rq->prod);
	uet_unlock(&rq->lock);

	*bad_wr = wr;
	if (wr == first || !uet_wants_kick(&rq->ring))
		return ret;

	err = ibv_cmd_post_recv(ibqp, NULL, &kick_bad);
	if (!err)
		return ret;
	*bad_wr = first;
	return err;
}
