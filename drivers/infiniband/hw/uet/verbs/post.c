// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Posting sends: the kernel's requests are written to the ring in the format
 * of user space, so that there is one way through the send queue; user space
 * has written its own and rings a doorbell.
 */
#include <linux/irqflags.h>
#include <linux/string.h>

#include "uet.h"

static int uet_wr_op(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_SEND:
		return UET_WQE_SEND;
	case IB_WR_SEND_WITH_IMM:
		return UET_WQE_SEND_IMM;
	case IB_WR_RDMA_WRITE:
		return UET_WQE_WRITE;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return UET_WQE_WRITE_IMM;
	case IB_WR_RDMA_READ:
		return UET_WQE_READ;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return UET_WQE_CMP_SWAP;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return UET_WQE_FETCH_ADD;
	case IB_WR_SEND_WITH_INV:
		return UET_WQE_SEND_INV;
	case IB_WR_LOCAL_INV:
		return UET_WQE_LOCAL_INV;
	case IB_WR_REG_MR:
		return UET_WQE_REG_MR;
	case IB_WR_ATOMIC_WRITE:
		return UET_WQE_ATOMIC_WRITE;
	default:
		return -EOPNOTSUPP;
	}
}

static u8 uet_wr_flags(int flags)
{
	return (flags & IB_SEND_SIGNALED ? UET_WQE_SIGNALED : 0) |
	       (flags & IB_SEND_SOLICITED ? UET_WQE_SOLICITED : 0) |
	       (flags & IB_SEND_FENCE ? UET_WQE_FENCE : 0) |
	       (flags & IB_SEND_INLINE ? UET_WQE_INLINE : 0);
}

static int uet_wr_put_inline(const struct uet_sq *sq,
			     const struct ib_send_wr *wr,
			     struct uet_send_wqe *wqe)
{
	u8 *to = (u8 *)(wqe + 1);
	u32 len = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		if (wr->sg_list[i].length > sq->max_inline - len)
			return -EINVAL;
		memcpy(to + len, (void *)(uintptr_t)wr->sg_list[i].addr,
		       wr->sg_list[i].length);
		len += wr->sg_list[i].length;
	}
	wqe->inline_len = len;
	return 0;
}

static int uet_wr_put_data(const struct uet_sq *sq,
			   const struct ib_send_wr *wr,
			   struct uet_send_wqe *wqe)
{
	struct uet_wqe_sge *out = (struct uet_wqe_sge *)(wqe + 1);
	int i;

	if (wr->send_flags & IB_SEND_INLINE)
		return uet_wr_put_inline(sq, wr, wqe);
	for (i = 0; i < wr->num_sge; i++) {
		out[i].addr = wr->sg_list[i].addr;
		out[i].length = wr->sg_list[i].length;
		out[i].lkey = wr->sg_list[i].lkey;
	}
	wqe->num_sge = wr->num_sge;
	return 0;
}

/* The AH may go as soon as the post returns, so take its path now. */
static int uet_wr_put_target(const struct ib_send_wr *wr,
			     struct uet_send_wqe *wqe,
			     struct uet_sq_slot *slot)
{
	const struct ib_ud_wr *ud = ud_wr(wr);

	if (!ud->ah)
		return -EINVAL;
	slot->path = to_uah(ud->ah)->path;
	uet_path_get(slot->path);
	wqe->dest_qpn = ud->remote_qpn;
	wqe->qkey = ud->remote_qkey;
	return 0;
}

/* The fields that depend on the operation. */
static void uet_wr_put_op(const struct ib_send_wr *wr, struct uet_send_wqe *wqe,
			  struct uet_sq_slot *slot)
{
	switch (wqe->opcode) {
	case UET_WQE_SEND_IMM:
		wqe->imm_data = be32_to_cpu(wr->ex.imm_data);
		break;
	case UET_WQE_WRITE_IMM:
		wqe->imm_data = be32_to_cpu(wr->ex.imm_data);
		fallthrough;
	case UET_WQE_WRITE:
	case UET_WQE_READ:
	case UET_WQE_ATOMIC_WRITE:
		wqe->rkey = rdma_wr(wr)->rkey;
		wqe->remote_addr = rdma_wr(wr)->remote_addr;
		break;
	case UET_WQE_CMP_SWAP:
	case UET_WQE_FETCH_ADD:
		wqe->rkey = atomic_wr(wr)->rkey;
		wqe->remote_addr = atomic_wr(wr)->remote_addr;
		wqe->compare_add = atomic_wr(wr)->compare_add;
		wqe->swap = atomic_wr(wr)->swap;
		break;
	case UET_WQE_SEND_INV:
	case UET_WQE_LOCAL_INV:
		wqe->rkey = wr->ex.invalidate_rkey;
		break;
	case UET_WQE_REG_MR:
		slot->mr = to_umr(reg_wr(wr)->mr);
		wqe->rkey = reg_wr(wr)->key;
		wqe->swap = reg_wr(wr)->access;
		break;
	}
}

/* Write one request of the kernel to the ring. sq->lock held. */
static int uet_sq_put(struct uet_qp *qp, const struct ib_send_wr *wr)
{
	struct uet_sq *sq = &qp->sq;
	int op = uet_wr_op(wr->opcode);
	struct uet_sq_slot *slot;
	struct uet_send_wqe *wqe;
	int err;

	if (op < 0 || !uet_op_ok(qp, op) || wr->num_sge < 0 ||
	    wr->num_sge > sq->max_sge)
		return -EINVAL;
	if (!sq->ring ||
	    uet_ring_used(sq->prod, sq->cons) >= sq->ring->depth)
		return -ENOMEM;
	slot = uet_sq_slot(sq, sq->prod);
	wqe = uet_ring_at(sq->ring, sq->prod);
	*wqe = (struct uet_send_wqe){
		.wr_id = wr->wr_id,
		.opcode = op,
		.flags = uet_wr_flags(wr->send_flags),
	};
	uet_wr_put_op(wr, wqe, slot);
	err = uet_wr_put_data(sq, wr, wqe);
	if (!err && qp->mode == UET_EP_UUD)
		err = uet_wr_put_target(wr, wqe, slot);
	if (!err)
		sq->prod++;
	return err;
}

/* Requests before a bad one are posted, CQE-05 of our list of faults. */
static int uet_sq_put_all(struct uet_qp *qp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad_wr)
{
	unsigned long irq;
	int err = 0;

	irq = uet_sq_lock(qp);
	switch (READ_ONCE(qp->state)) {
	case IB_QPS_RESET:
	case IB_QPS_INIT:
	case IB_QPS_RTR:
		err = -EINVAL;
		break;
	}
	while (wr && !err) {
		err = uet_sq_put(qp, wr);
		if (!err)
			wr = wr->next;
	}
	uet_sq_unlock(qp, irq);
	if (err)
		*bad_wr = wr;
	return err;
}

/**
 * uet_post_send - post send requests, or the doorbell of user space
 * @ib: QP
 * @wr: requests of the kernel; ignored for a QP of user space, whose requests
 *	are in its ring: the write command POST_SEND comes without any
 * @bad_wr: first one that was not posted
 *
 * Context: any; with interrupts off, BH work does the rest.
 *
 * Return: 0, or a negative errno; the requests before @bad_wr are posted.
 */
int uet_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr)
{
	struct uet_qp *qp = to_uqp(ib);
	int err;

	if (qp->user) {
		/* Its requests are in the ring; one given here would be lost */
		if (wr) {
			*bad_wr = wr;
			return -EINVAL;
		}
		return uet_doorbell(qp);
	}
	err = uet_sq_put_all(qp, wr, bad_wr);
	if (irqs_disabled())
		uet_sq_queue_work(qp);
	else
		uet_sq_run_some(qp);
	return err;
}
