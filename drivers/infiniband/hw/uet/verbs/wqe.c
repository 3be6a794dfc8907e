// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Send queue entries: what user space or the kernel wrote, checked and turned
 * into a message of the engine. Nothing of an entry is looked at twice: it is
 * copied first, and the copy is what counts.
 */
#include <linux/bitfield.h>
#include <linux/string.h>

#include "job.h"

#define OP(op)		BIT(UET_WQE_##op)
#define OPS_SEND	(OP(SEND) | OP(SEND_IMM))
#define OPS_WRITE	(OP(WRITE) | OP(WRITE_IMM))
#define OPS_ATOMIC	(OP(CMP_SWAP) | OP(FETCH_ADD))
#define OPS_FETCH	(OP(READ) | OPS_ATOMIC)
#define OPS_LOCAL	(OP(LOCAL_INV) | OP(REG_MR) | OP(BIND_MW))
#define OPS_UD		OPS_SEND
#define OPS_UC		(OPS_SEND | OP(SEND_INV) | OPS_WRITE | OPS_LOCAL)
#define OPS_RC		(OPS_UC | OPS_FETCH | OP(ATOMIC_WRITE) | OP(FLUSH))
#define OPS_RU		(OPS_SEND | OPS_WRITE | OPS_FETCH)
#define UET_WQE_FLAGS	(UET_WQE_SIGNALED | UET_WQE_SOLICITED | \
			 UET_WQE_FENCE | UET_WQE_INLINE)
#define UET_WQE_RU_FLAGS (UET_WQE_DELIVERY | UET_WQE_ADDR_IDX)

/**
 * uet_op_ok - does a QP have this operation?
 * @qp: QP
 * @op: enum uet_wqe_op, or any other number
 *
 * Return: true if it has.
 */
bool uet_op_ok(const struct uet_qp *qp, unsigned int op)
{
	u32 ops;

	switch (qp->mode) {
	case UET_EP_ROD:
		ops = qp->unreliable ? OPS_UC : OPS_RC;
		break;
	case UET_EP_RUD:
		ops = OPS_RU;
		break;
	default:
		ops = OPS_UD;
	}
	/* REG_MR names a region by its address. */
	if (qp->user)
		ops &= ~OP(REG_MR);
	return op <= UET_WQE_FLUSH && ops & BIT(op);
}

/**
 * uet_op_fetches - is the operation one that brings data back?
 * @op: enum uet_wqe_op
 *
 * Those count against max_rd_atomic, and a fence waits for them.
 *
 * Return: true for READ and atomics.
 */
bool uet_op_fetches(unsigned int op)
{
	return op <= UET_WQE_FLUSH && OPS_FETCH & BIT(op);
}

/**
 * uet_op_is_local - is the operation one that sends nothing?
 * @op: enum uet_wqe_op
 *
 * Return: true for what changes keys only.
 */
bool uet_op_is_local(unsigned int op)
{
	return op <= UET_WQE_FLUSH && OPS_LOCAL & BIT(op);
}

static bool uet_wqe_flush_ok(const struct uet_send_wqe *wqe)
{
	return !wqe->num_sge && !(wqe->flags & UET_WQE_INLINE) &&
	       !wqe->inline_len && wqe->swap & UET_FLUSH_TYPES &&
	       !(wqe->swap & ~(UET_FLUSH_TYPES | UET_FLUSH_MR)) &&
	       (wqe->swap & UET_FLUSH_MR ||
		wqe->compare_add == (u32)wqe->compare_add);
}

/* Does the operation fit the kind of QP, and are all fields as they must? */
static bool uet_wqe_ok(const struct uet_qp *qp, const struct uet_send_wqe *wqe)
{
	const struct uet_sq *sq = &qp->sq;

	if (qp->mode != UET_EP_RUD &&
	    (wqe->flags & UET_WQE_RU_FLAGS || wqe->jkey || wqe->addr_idx))
		return false;
	if (!uet_op_ok(qp, wqe->opcode) ||
	    wqe->flags & ~(UET_WQE_FLAGS | UET_WQE_RU_FLAGS) ||
	    (wqe->mr_lkey && wqe->opcode != UET_WQE_BIND_MW) ||
	    memchr_inv(wqe->reserved, 0, sizeof(wqe->reserved)))
		return false;
	if (uet_op_is_local(wqe->opcode))
		return !wqe->num_sge && !wqe->inline_len;
	if (wqe->opcode == UET_WQE_FLUSH)
		return uet_wqe_flush_ok(wqe);
	if (wqe->flags & UET_WQE_INLINE)
		return !uet_op_fetches(wqe->opcode) && !wqe->num_sge &&
		       wqe->inline_len <= sq->max_inline;
	return !wqe->inline_len && wqe->num_sge <= sq->max_sge;
}

static u8 uet_wqe_sges(struct uet_qp *qp, const struct uet_send_wqe *wqe,
		       struct uet_msg *msg)
{
	const struct uet_wqe_sge *in = (const void *)(wqe + 1);
	u64 len = 0;
	u32 i;

	for (i = 0; i < wqe->num_sge; i++) {
		if (!in[i].length)
			continue;
		len += in[i].length;
		if (len > UET_MAX_MSG)
			return IB_WC_LOC_LEN_ERR;
		if (uet_mkey_local(qp->ib.pd, qp->user, in[i].lkey, in[i].addr,
				   in[i].length, uet_op_fetches(wqe->opcode),
				   &msg->sge[msg->nr_sge]))
			return IB_WC_LOC_PROT_ERR;
		msg->nr_sge++;
		if (qp->mode == UET_EP_UUD) {
			int err = uet_odp_ready(qp, &msg->sge[msg->nr_sge - 1]);

			if (err)
				return err == -EAGAIN ? UET_WC_WAIT :
							IB_WC_LOC_PROT_ERR;
		}
	}
	msg->len = len;
	return IB_WC_SUCCESS;
}

/*
 * Inline data stays in the ring until the request completes. User space may
 * change it meanwhile; that spoils its own message and nothing else. RU gives
 * entries back in another order than it got them, so there it is copied.
 */
static void uet_wqe_inline(const struct uet_sq *sq,
			   const struct uet_send_wqe *wqe, void *entry,
			   struct uet_sq_slot *slot)
{
	struct uet_msg *msg = &slot->msg;
	void *data = entry + sizeof(*wqe);

	msg->len = wqe->inline_len;
	if (!msg->len)
		return;
	if (sq->data) {
		data = sq->data + (size_t)(slot - sq->slots) * sq->max_inline;
		memcpy(data, wqe + 1, msg->len);
	}
	msg->sge[0] = (struct uet_sge){
		.off = (uintptr_t)data,
		.len = msg->len,
	};
	msg->nr_sge = 1;
}

/* What an atomic write stores, if no SGE says where that is. */
static void uet_wqe_operand(void *entry, struct uet_msg *msg)
{
	msg->len = sizeof(u64);
	msg->sge[0] = (struct uet_sge){
		.off = (uintptr_t)entry +
		       offsetof(struct uet_send_wqe, compare_add),
		.len = sizeof(u64),
	};
	msg->nr_sge = 1;
}

/* The memory of a request. */
static u8 uet_wqe_data(struct uet_qp *qp, const struct uet_send_wqe *wqe,
		       void *entry, struct uet_sq_slot *slot)
{
	struct uet_msg *msg = &slot->msg;
	u8 status = IB_WC_SUCCESS;

	if (wqe->flags & UET_WQE_INLINE)
		uet_wqe_inline(&qp->sq, wqe, entry, slot);
	else if (wqe->opcode == UET_WQE_ATOMIC_WRITE && !wqe->num_sge)
		uet_wqe_operand(entry, msg);
	else
		status = uet_wqe_sges(qp, wqe, msg);
	if (status == IB_WC_SUCCESS &&
	    (OPS_ATOMIC | OP(ATOMIC_WRITE)) & BIT(wqe->opcode) &&
	    msg->len != sizeof(u64))
		status = IB_WC_LOC_LEN_ERR;
	return status;
}

/* UD and RU: where to. */
static u8 uet_wqe_target(struct uet_qp *qp, const struct uet_send_wqe *wqe,
			 struct uet_sq_slot *slot)
{
	struct uet_msg *msg = &slot->msg;

	if (qp->mode == UET_EP_RUD)
		return uet_ru_target(qp, wqe, msg);
	if (qp->user) {
		msg->path = uet_ah_path(qp, wqe->ah);
	} else {
		msg->path = slot->path;
		slot->path = NULL;
	}
	if (!msg->path || wqe->dest_qpn > UET_QPN_MAX)
		return IB_WC_LOC_QP_OP_ERR;
	msg->peer_wire = wqe->dest_qpn;
	/* A Q_Key with the top bit set stands for the QP's own. */
	msg->match = wqe->qkey & BIT(31) ? READ_ONCE(qp->qkey) : wqe->qkey;
	if (msg->len > ib_mtu_enum_to_int(uet_active_mtu(qp->dev)))
		return IB_WC_LOC_LEN_ERR;
	return IB_WC_SUCCESS;
}

/* What goes into the headers. SEND_INV has no header data and no RU. */
static void uet_wqe_headers(const struct uet_qp *qp,
			    const struct uet_send_wqe *wqe,
			    struct uet_msg *msg)
{
	bool solicited = wqe->flags & UET_WQE_SOLICITED;
	bool imm = false;

	switch (wqe->opcode) {
	case UET_WQE_SEND_IMM:
		imm = true;
		fallthrough;
	case UET_WQE_SEND:
		msg->op = qp->mode == UET_EP_UUD ? UET_OP_DATAGRAM_SEND :
						   UET_OP_SEND;
		if (solicited)
			msg->flags |= UET_MSG_SOLICITED;
		break;
	case UET_WQE_WRITE_IMM:
		imm = true;
		fallthrough;
	case UET_WQE_WRITE:
		msg->op = UET_OP_WRITE;
		break;
	case UET_WQE_READ:
		msg->op = UET_OP_READ;
		break;
	case UET_WQE_SEND_INV:
		msg->op = UET_OP_SEND_INVALIDATE;
		msg->match = (u32)wqe->rkey;
		if (solicited)
			msg->flags |= UET_MSG_SOLICITED;
		return;
	case UET_WQE_CMP_SWAP:
		msg->op = UET_OP_FETCHING_ATOMIC;
		msg->amo_op = UET_AMO_CSWAP;
		msg->amo_operand = wqe->swap;
		msg->amo_compare = wqe->compare_add;
		break;
	case UET_WQE_FETCH_ADD:
		msg->op = UET_OP_FETCHING_ATOMIC;
		msg->amo_op = UET_AMO_SUM;
		msg->amo_operand = wqe->compare_add;
		break;
	case UET_WQE_ATOMIC_WRITE:
		msg->op = UET_OP_ATOMIC;
		msg->amo_op = UET_AMO_WRITE;
		break;
	case UET_WQE_FLUSH:
		msg->op = UET_OP_FLUSH;
		msg->flags |= UET_MSG_HDATA;
		msg->hdata = wqe->swap;
		if (!(wqe->swap & UET_FLUSH_MR))
			msg->hdata |= FIELD_PREP(UET_FLUSH_LENGTH,
						 (u32)wqe->compare_add);
		break;
	}
	if (!(OPS_SEND & BIT(wqe->opcode))) {
		msg->match = wqe->rkey;
		msg->offset = wqe->remote_addr;
	}
	if (wqe->flags & UET_WQE_DELIVERY)
		msg->flags |= UET_MSG_DC;
	if (!imm)
		return;
	msg->flags |= UET_MSG_HDATA;
	msg->hdata = wqe->imm_data;
	if (qp->mode == UET_EP_RUD)
		return;
	/* Of RU it is immediate all over, and wakes in any case. */
	msg->hdata = (u32)wqe->imm_data;
	if (msg->op == UET_OP_WRITE && solicited)
		msg->hdata |= BIT_ULL(32);
}

/**
 * uet_wqe_prepare - copy an entry and make a message of the copy
 * @qp: QP; the caller is the runner of its send queue
 * @slot: where the message is made
 * @entry: in the ring
 *
 * What @slot refers to afterwards is to be given back also on failure.
 *
 * Context: process or softirq, no lock held.
 * Return: enum ib_wc_status; UET_WC_WAIT: try again when the queue is run next.
 */
u8 uet_wqe_prepare(struct uet_qp *qp, struct uet_sq_slot *slot, void *entry)
{
	const struct uet_send_wqe *wqe = qp->sq.wqe;
	struct uet_msg *msg = &slot->msg;
	u8 status;

	memcpy(qp->sq.wqe, entry, qp->sq.ring->stride);
	/* User space may be writing there: from here on it is the copy. */
	barrier();
	slot->wr_id = wqe->wr_id;
	slot->opcode = wqe->opcode;
	slot->flags = wqe->flags;
	slot->bad = false;
	*msg = (struct uet_msg){ .sge = msg->sge };
	if (!uet_wqe_ok(qp, wqe))
		return IB_WC_LOC_QP_OP_ERR;
	if (uet_op_is_local(wqe->opcode))
		return IB_WC_SUCCESS;
	status = uet_wqe_data(qp, wqe, entry, slot);
	if (status != IB_WC_SUCCESS)
		return status;
	uet_wqe_headers(qp, wqe, msg);
	return qp->mode == UET_EP_ROD ? status : uet_wqe_target(qp, wqe, slot);
}

/**
 * uet_wqe_local - do what needs no message
 * @qp: QP; the caller is the runner of its send queue
 * @slot: the request that was prepared last
 *
 * Context: process or softirq, no lock held.
 * Return: enum ib_wc_status.
 */
u8 uet_wqe_local(struct uet_qp *qp, const struct uet_sq_slot *slot)
{
	const struct uet_send_wqe *wqe = qp->sq.wqe;
	int err;

	switch (wqe->opcode) {
	case UET_WQE_LOCAL_INV:
		err = wqe->rkey == (u32)wqe->rkey ?
		      uet_mkey_invalidate(qp, wqe->rkey) : -EINVAL;
		break;
	case UET_WQE_REG_MR:
		err = uet_frwr_register(qp, slot->mr, wqe->rkey, wqe->swap);
		break;
	default:
		err = uet_mw_bind(qp, wqe);
	}
	return err ? IB_WC_MW_BIND_ERR : IB_WC_SUCCESS;
}
