// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Send queues: from an entry in the ring to a message of the engine, and back
 * to a completion.
 *
 * One runner at a time works on a queue: it takes the next entry, has it
 * checked (wqe.c), and hands over a message. Messages may end in any order;
 * requests complete in the order they were posted. The first failure ends an RC
 * QP (or takes a UC or UD QP to SQE) and what follows is flushed.
 *
 * An RU queue has many peers, of which a slow one must not delay the others:
 * requests complete in the order in which they end. One that a peer fails
 * completes in error alone, and only a bad entry takes the queue to SQE, where
 * entries that were not started are flushed. All of an entry is copied when it
 * is started, so with each completion, whichever it is, the room of the oldest
 * entry is free again.
 */
#include <linux/sched.h>

#include "uet.h"

static const u8 uet_wc_op[] = {
	[UET_WQE_SEND] = IB_WC_SEND,
	[UET_WQE_SEND_IMM] = IB_WC_SEND,
	[UET_WQE_WRITE] = IB_WC_RDMA_WRITE,
	[UET_WQE_WRITE_IMM] = IB_WC_RDMA_WRITE,
	[UET_WQE_READ] = IB_WC_RDMA_READ,
	[UET_WQE_CMP_SWAP] = IB_WC_COMP_SWAP,
	[UET_WQE_FETCH_ADD] = IB_WC_FETCH_ADD,
	[UET_WQE_SEND_INV] = IB_WC_SEND,
	[UET_WQE_LOCAL_INV] = IB_WC_LOCAL_INV,
	[UET_WQE_REG_MR] = IB_WC_REG_MR,
	[UET_WQE_BIND_MW] = UET_WC_BIND_MW,
	[UET_WQE_ATOMIC_WRITE] = IB_WC_ATOMIC_WRITE,
	[UET_WQE_FLUSH] = IB_WC_FLUSH,
};

/* UC: what becomes of a message once it has left is nobody's business. */
static bool uet_send_forgives(const struct uet_qp *qp, int status)
{
	return qp->unreliable && status != UET_ST_FLUSHED &&
	       status != UET_ST_PROT;
}

/* How a message ended, as a completion status; see enum uet_status. */
static u8 uet_send_status(const struct uet_qp *qp, int status)
{
	if (uet_send_forgives(qp, status))
		return IB_WC_SUCCESS;
	switch (status) {
	case UET_ST_OK:
	case UET_RC_OK:
		return IB_WC_SUCCESS;
	case UET_ST_FLUSHED:
		return IB_WC_WR_FLUSH_ERR;
	case UET_ST_PROT:
		return IB_WC_LOC_PROT_ERR;
	case UET_ST_TIMEOUT:
	case UET_ST_UNREACH:
	case UET_ST_NO_RESOURCE:
		/* A datagram that could not leave is one that got lost. */
		return qp->mode == UET_EP_UUD ? IB_WC_SUCCESS :
						IB_WC_RETRY_EXC_ERR;
	case UET_ST_RNR:
		return IB_WC_RNR_RETRY_EXC_ERR;
	case UET_ST_PROTO:
		return IB_WC_BAD_RESP_ERR;
	case UET_RC_BAD_MKEY:
	case UET_RC_BAD_ADDR:
	case UET_RC_PERM_VIOLATION:
	case UET_RC_BAD_JOB_ID:
	case UET_RC_AT_INVALID ... UET_RC_AT_OUT_OF_RANGE:
		return IB_WC_REM_ACCESS_ERR;
	case UET_RC_UNSUPPORTED_OP:
	case UET_RC_UNSUPPORTED_SIZE:
	case UET_RC_TOO_LONG:
	case UET_RC_OP_VIOLATION:
	case UET_RC_AMO_UNSUPPORTED_OP:
	case UET_RC_AMO_UNSUPPORTED_DT:
	case UET_RC_AMO_UNSUPPORTED_SIZE:
	case UET_RC_AMO_UNALIGNED:
		return IB_WC_REM_INV_REQ_ERR;
	case UET_RC_UNDELIVERABLE:
		/* The peer of a connection has gone; RU named it wrong. */
		return qp->mode == UET_EP_RUD ? IB_WC_REM_INV_REQ_ERR :
						IB_WC_REM_OP_ERR;
	default:
		/* A NACK that ends the PDC, or what else the peer says. */
		return status >= UET_ST_NACK ? IB_WC_FATAL_ERR :
					       IB_WC_REM_OP_ERR;
	}
}

/* Give back what the message of a slot refers to. */
static void uet_slot_release(struct uet_sq_slot *slot)
{
	uet_sges_put(slot->msg.sge, slot->msg.nr_sge);
	slot->msg.nr_sge = 0;
	uet_path_put(slot->msg.path);
	slot->msg.path = NULL;
}

/* The same for a request that the engine never saw. */
static void uet_slot_drop(struct uet_sq_slot *slot)
{
	uet_slot_release(slot);
	uet_path_put(slot->path);
	slot->path = NULL;
}

/* sq->lock held. */
static void uet_slot_done(struct uet_sq_slot *slot, u8 status, u32 vendor)
{
	slot->status = status;
	slot->vendor = vendor;
	slot->state = UET_SLOT_DONE;
}

/*
 * A request that is to complete now failed. RC goes to error; the others, whose
 * peers do not count on each message, to SQE. sq->lock held.
 */
static void uet_sq_fail(struct uet_qp *qp, const struct uet_sq_slot *slot)
{
	struct uet_sq *sq = &qp->sq;

	if (qp->mode == UET_EP_RUD && !slot->bad)
		return;
	sq->error = true;
	if (qp->mode == UET_EP_ROD && !qp->unreliable)
		uet_qp_to_error(qp, UET_QP_EV_FLUSH);
	else if (cmpxchg(&qp->state, IB_QPS_RTS, IB_QPS_SQE) == IB_QPS_SQD)
		cmpxchg(&qp->state, IB_QPS_SQD, IB_QPS_SQE);
}

static void uet_sq_push(struct uet_qp *qp, const struct uet_sq_slot *slot,
			u8 status, struct uet_defer *d)
{
	struct uet_cqe cqe = {
		.wr_id = slot->wr_id,
		.qp_num = qp->ib.qp_num,
		.status = status,
		.opcode = slot->opcode < ARRAY_SIZE(uet_wc_op) ?
			  uet_wc_op[slot->opcode] : IB_WC_SEND,
	};

	if (status == IB_WC_SUCCESS)
		cqe.byte_len = slot->msg.len;
	else if (status == slot->status)
		cqe.vendor_err = slot->vendor;
	if (!uet_cq_push(qp->ib.send_cq, &cqe, &qp->ib, d))
		uet_qp_to_error(qp, UET_QP_EV_FATAL);
}

/* sq->lock held. */
static void uet_sq_count(struct uet_qp *qp, const struct uet_sq_slot *slot)
{
	struct uet_qp_stats *st = &qp->stats;

	WRITE_ONCE(st->tx_msgs, st->tx_msgs + 1);
	if (!uet_op_fetches(slot->opcode))
		WRITE_ONCE(st->tx_bytes, st->tx_bytes + slot->msg.len);
}

/*
 * Complete a request. A ring entry is free before the completion can be seen,
 * or a poller might find the ring full. sq->lock held.
 */
static void uet_sq_retire_one(struct uet_qp *qp, struct uet_sq_slot *slot,
			      struct uet_defer *d)
{
	struct uet_sq *sq = &qp->sq;
	u8 status = slot->status;

	if (sq->error && qp->mode != UET_EP_RUD)
		status = IB_WC_WR_FLUSH_ERR;
	if (status != IB_WC_SUCCESS && !sq->error)
		uet_sq_fail(qp, slot);
	if (status == IB_WC_SUCCESS && !uet_op_is_local(slot->opcode))
		uet_sq_count(qp, slot);
	slot->state = UET_SLOT_FREE;
	sq->slots[sq->cons & (sq->ring->depth - 1)].turn = slot - sq->slots;
	sq->cons++;
	/* Pairs with the acquire of user space: we are done with the entry. */
	smp_store_release(&sq->ring->hdr->cons, sq->cons);
	if (READ_ONCE(qp->state) == IB_QPS_RESET)
		return;
	if (status != IB_WC_SUCCESS || sq->sig_all ||
	    slot->flags & UET_WQE_SIGNALED)
		uet_sq_push(qp, slot, status, d);
}

static void uet_sq_retire_in_order(struct uet_qp *qp, struct uet_defer *d)
{
	struct uet_sq *sq = &qp->sq;

	while (sq->cons != sq->next &&
	       uet_sq_slot(sq, sq->cons)->state == UET_SLOT_DONE)
		uet_sq_retire_one(qp, uet_sq_slot(sq, sq->cons), d);
}

/* @slot is done: complete what can be. sq->lock held. */
static void uet_sq_retire(struct uet_qp *qp, struct uet_sq_slot *slot,
			  struct uet_defer *d)
{
	struct uet_sq *sq = &qp->sq;

	if (qp->mode == UET_EP_RUD)
		uet_sq_retire_one(qp, slot, d);
	else
		uet_sq_retire_in_order(qp, d);
	if (sq->cons == sq->next && qp->sqd_event) {
		qp->sqd_event = false;
		uet_qp_event(qp, UET_QP_EV_SQ_DRAINED);
	}
}

/**
 * uet_msg_done - struct uet_fep_ops.msg_done
 * @ep: endpoint
 * @msg: message
 * @status: enum uet_status or enum uet_rc
 * @d: for notifications
 *
 * Context: engine lock.
 */
void uet_msg_done(struct uet_ep *ep, struct uet_msg *msg, int status,
		  struct uet_defer *d)
{
	struct uet_sq_slot *slot = container_of(msg, struct uet_sq_slot, msg);
	struct uet_qp *qp = uet_ep_priv(ep);
	struct uet_sq *sq = &qp->sq;
	unsigned long irq;
	bool resume;

	uet_slot_release(slot);
	irq = uet_sq_lock(qp);
	uet_slot_done(slot, uet_send_status(qp, status), status);
	sq->active--;
	if (uet_op_fetches(slot->opcode))
		sq->reads--;
	uet_sq_retire(qp, slot, d);
	resume = sq->blocked;
	sq->blocked = false;
	uet_sq_unlock(qp, irq);
	if (resume) {
		uet_qp_get(qp);
		if (!uet_defer_notify(d, &qp->run_notify))
			uet_qp_put(qp);
	}
	uet_qp_wake(qp);
}

enum uet_sq_todo {
	UET_SQ_IDLE,		/* nothing to do now */
	UET_SQ_START,		/* start the next entry */
	UET_SQ_FLUSH,		/* complete the next entry as flushed */
};

/* sq->lock held. */
static enum uet_sq_todo uet_sq_todo(struct uet_qp *qp)
{
	struct uet_sq *sq = &qp->sq;
	u32 prod;

	sq->blocked = false;
	if (!sq->ring || sq->broken)
		return UET_SQ_IDLE;
	/* Pairs with the release of user space: the entries are whole. */
	prod = qp->user ? smp_load_acquire(&sq->ring->hdr->prod) : sq->prod;
	if (uet_ring_used(prod, sq->cons) > sq->ring->depth) {
		sq->broken = true;
		uet_stat_inc(qp->dev->fep, UET_STAT_BAD_DOORBELL);
		uet_qp_to_error(qp, UET_QP_EV_FATAL);
		return UET_SQ_IDLE;
	}
	/* An index that moved backwards is a lie of the same kind. */
	if (uet_ring_used(prod, sq->cons) <= uet_ring_used(sq->next, sq->cons))
		return UET_SQ_IDLE;
	switch (READ_ONCE(qp->state)) {
	case IB_QPS_RTS:
		if (sq->halted) {
			sq->blocked = true;
			return UET_SQ_IDLE;
		}
		return UET_SQ_START;
	case IB_QPS_SQE:
	case IB_QPS_ERR:
		return UET_SQ_FLUSH;
	default:
		return UET_SQ_IDLE;
	}
}

/* sq->lock held. */
static void uet_sq_flush_next(struct uet_qp *qp, struct uet_defer *d)
{
	struct uet_sq *sq = &qp->sq;
	struct uet_sq_slot *slot = uet_sq_slot(sq, sq->next);
	const struct uet_send_wqe *wqe = uet_ring_at(sq->ring, sq->next);

	if (slot->state != UET_SLOT_HELD) {
		slot->wr_id = READ_ONCE(wqe->wr_id);
		slot->opcode = READ_ONCE(wqe->opcode);
	}
	uet_slot_drop(slot);
	uet_slot_done(slot, IB_WC_WR_FLUSH_ERR, 0);
	sq->next++;
	uet_sq_retire(qp, slot, d);
}

/*
 * Must the prepared entry wait for earlier ones? To invalidate a region that a
 * message of this queue may still use waits for those. sq->lock held.
 */
static bool uet_sq_must_wait(const struct uet_qp *qp,
			     const struct uet_sq_slot *slot)
{
	const struct uet_send_wqe *wqe = qp->sq.wqe;
	const struct uet_sq *sq = &qp->sq;

	if (!sq->active)
		return false;
	if (slot->opcode == UET_WQE_LOCAL_INV &&
	    uet_mkey_busy(qp->dev, wqe->rkey))
		return true;
	if (!sq->reads)
		return false;
	return slot->flags & UET_WQE_FENCE ||
	       (uet_op_fetches(slot->opcode) && sq->reads >= qp->max_reads);
}

/*
 * Start the next entry: @slot is prepared. sq->lock held.
 * Return: is there something to do or to submit?
 */
static bool uet_sq_start_next(struct uet_qp *qp, struct uet_sq_slot *slot,
			      u8 status, struct uet_defer *d)
{
	struct uet_sq *sq = &qp->sq;

	if (status == IB_WC_SUCCESS && uet_op_fetches(slot->opcode) &&
	    !qp->max_reads)
		status = IB_WC_LOC_QP_OP_ERR;
	if (status != IB_WC_SUCCESS) {
		uet_stat_inc(qp->dev->fep, UET_STAT_BAD_WQE);
		uet_slot_drop(slot);
		uet_slot_done(slot, status, 0);
		slot->bad = true;
		sq->next++;
		sq->halted = true;
		uet_sq_retire(qp, slot, d);
		return false;
	}
	slot->state = UET_SLOT_HELD;
	/* The QP may have gone to error meanwhile; then flush it instead. */
	if (READ_ONCE(qp->state) != IB_QPS_RTS)
		return false;
	if (uet_sq_must_wait(qp, slot)) {
		sq->blocked = true;
		return false;
	}
	slot->state = UET_SLOT_ACTIVE;
	sq->next++;
	sq->active++;
	if (uet_op_fetches(slot->opcode))
		sq->reads++;
	return true;
}

/* The runner, no lock held. */
static void uet_sq_do_local(struct uet_qp *qp, struct uet_sq_slot *slot,
			    struct uet_defer *d)
{
	struct uet_sq *sq = &qp->sq;
	u8 status = uet_wqe_local(qp, slot);
	unsigned long irq;

	irq = uet_sq_lock(qp);
	sq->active--;
	uet_slot_done(slot, status, 0);
	if (status != IB_WC_SUCCESS) {
		uet_stat_inc(qp->dev->fep, UET_STAT_BAD_WQE);
		slot->bad = true;
		sq->halted = true;
	}
	uet_sq_retire(qp, slot, d);
	uet_sq_unlock(qp, irq);
}

/*
 * Take one entry. Called by the runner with no lock held.
 * Return: false if there is nothing more to do now.
 */
static bool uet_sq_step(struct uet_qp *qp, struct uet_defer *d)
{
	struct uet_sq *sq = &qp->sq;
	u8 status = IB_WC_SUCCESS;
	struct uet_sq_slot *slot = NULL;
	enum uet_sq_todo todo;
	bool start, blocked;
	unsigned long irq;

	irq = uet_sq_lock(qp);
	todo = uet_sq_todo(qp);
	if (todo == UET_SQ_FLUSH)
		uet_sq_flush_next(qp, d);
	if (todo == UET_SQ_START)
		slot = uet_sq_slot(sq, sq->next);
	uet_sq_unlock(qp, irq);
	if (!slot)
		return todo == UET_SQ_FLUSH;

	if (slot->state == UET_SLOT_FREE)
		status = uet_wqe_prepare(qp, slot,
					 uet_ring_at(sq->ring, sq->next));
	if (status == UET_WC_WAIT) {
		uet_slot_release(slot);
		return false;
	}
	irq = uet_sq_lock(qp);
	start = uet_sq_start_next(qp, slot, status, d);
	blocked = sq->blocked;
	uet_sq_unlock(qp, irq);
	if (start && uet_op_is_local(slot->opcode))
		uet_sq_do_local(qp, slot, d);
	else if (start)
		uet_msg_submit(qp->ep, &slot->msg, d);
	return !blocked;
}

static bool uet_sq_enter(struct uet_qp *qp)
{
	struct uet_sq *sq = &qp->sq;
	bool mine;
	unsigned long irq;

	irq = uet_sq_lock(qp);
	mine = !sq->running;
	sq->running = true;
	sq->again = !mine;
	uet_sq_unlock(qp, irq);
	return mine;
}

/* Return: true if the queue must be looked at once more. */
static bool uet_sq_leave(struct uet_qp *qp, bool idle)
{
	struct uet_sq *sq = &qp->sq;
	bool again;
	unsigned long irq;

	irq = uet_sq_lock(qp);
	again = idle && sq->again;
	sq->again = false;
	sq->running = again;
	uet_sq_unlock(qp, irq);
	if (!again)
		uet_qp_wake(qp);
	return again;
}

/**
 * uet_sq_run - work on a send queue
 * @qp: QP; the caller sees to it that it stays
 * @d: for packets and notifications
 * @budget: entries to take at most
 *
 * Does nothing if somebody is at it already, who then looks once more.
 *
 * Context: process or softirq, interrupts on, no lock held that callbacks
 * take.
 * Return: true if entries may be left.
 */
bool uet_sq_run(struct uet_qp *qp, struct uet_defer *d, int budget)
{
	struct uet_sq *sq = &qp->sq;
	bool more;
	u32 first;

	if (!uet_sq_enter(qp))
		return false;
	/* Once for all locks below. */
	local_bh_disable();
	do {
		first = sq->next;
		do {
			more = uet_sq_step(qp, d);
		} while (more && --budget > 0);
		if (sq->next != first)
			uet_ep_push(qp->ep, d);
		/* Only a hint, not worth the lock; see uet_look_again(). */
		if (sq->next - first >= UET_SQ_BATCH)
			WRITE_ONCE(sq->batched, true);
	} while (uet_sq_leave(qp, !more));
	local_bh_enable();
	return more;
}

/* Go on with a send queue in BH work. Context: any. */
void uet_sq_queue_work(struct uet_qp *qp)
{
	uet_qp_get(qp);
	if (!queue_work(system_bh_wq, &qp->run_work))
		uet_qp_put(qp);
}

/**
 * uet_sq_run_some - work on a send queue for one budget
 * @qp: QP
 *
 * The rest is left to BH work, so that others get a turn.
 *
 * Context: as uet_sq_run().
 */
void uet_sq_run_some(struct uet_qp *qp)
{
	struct uet_defer d;
	bool more;

	uet_defer_init(&d);
	more = uet_sq_run(qp, &d, UET_SQ_BUDGET);
	uet_defer_run(&d);
	if (more)
		uet_sq_queue_work(qp);
}

/* Resume after a completion; struct uet_notify.fn. */
void uet_sq_run_notify(struct uet_notify *n)
{
	struct uet_qp *qp = container_of(n, struct uet_qp, run_notify);

	uet_sq_run_some(qp);
	uet_qp_put(qp);
}

void uet_sq_run_work(struct work_struct *work)
{
	struct uet_qp *qp = container_of(work, struct uet_qp, run_work);

	uet_sq_run_some(qp);
	uet_qp_put(qp);
}

/**
 * uet_sq_run_all - work on a send queue until it is empty or must wait
 * @qp: QP
 *
 * A process that posts from one thread while another is in here does not keep
 * that one for ever: after two ring fulls BH work takes over.
 *
 * Context: process.
 */
void uet_sq_run_all(struct uet_qp *qp)
{
	u32 passes = qp->sq.ring ? 2 * qp->sq.ring->depth / UET_SQ_BUDGET + 1 :
				   0;
	struct uet_defer d;
	bool more = true;

	uet_defer_init(&d);
	while (more && passes--) {
		more = uet_sq_run(qp, &d, UET_SQ_BUDGET);
		uet_defer_run(&d);
		cond_resched();
	}
	if (more)
		uet_sq_queue_work(qp);
}

/**
 * uet_sq_reset - forget what is posted
 * @qp: nobody works on it, the engine holds no message
 *
 * Context: process.
 */
void uet_sq_reset(struct uet_qp *qp)
{
	struct uet_sq *sq = &qp->sq;
	u32 i;
	unsigned long irq;

	if (!sq->ring)
		return;
	uet_look_stop(qp);
	for (i = 0; i < sq->ring->depth; i++) {
		struct uet_sq_slot *slot = &sq->slots[i];

		uet_slot_drop(slot);
		slot->state = UET_SLOT_FREE;
		slot->turn = i;
	}
	irq = uet_sq_lock(qp);
	sq->prod = 0;
	sq->next = 0;
	sq->cons = 0;
	sq->blocked = false;
	sq->halted = false;
	sq->error = false;
	sq->broken = false;
	uet_ring_reset(sq->ring);
	uet_sq_unlock(qp, irq);
}
