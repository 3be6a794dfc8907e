// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Doorbells of user space. A request that is alone leaves inside the doorbell.
 * A program that posts one request after the other would pay a system call and
 * a packet for each; when its library says that this is so, the kernel promises
 * to look at the send queue by itself for a while. Then the program rings once
 * it has nothing else to do (an empty completion queue), and what it posted
 * until then leaves together. The look is for programs that never ask.
 */
#include "uet.h"

#define UET_LOOK_NS		(UET_RING_LOOK_US * NSEC_PER_USEC)
/* Looks without a batch until the promise ends. */
#define UET_LOOK_VAIN		4
/* Doorbells for which it is not given again then; doubles each time. */
#define UET_LOOK_SKIP_MIN	16
#define UET_LOOK_SKIP_MAX	1024

/* sq->lock held. */
static void uet_look_promise(struct uet_sq *sq, bool on)
{
	sq->looking = on;
	sq->look_vain = 0;
	WRITE_ONCE(sq->ring->hdr->flags, on ? UET_RING_LOOKING : 0);
}

static bool uet_sq_has_new(const struct uet_sq *sq)
{
	return READ_ONCE(sq->ring->hdr->prod) != READ_ONCE(sq->next);
}

/* Look once more in a while? */
static bool uet_look_again(struct uet_qp *qp)
{
	struct uet_sq *sq = &qp->sq;
	bool again = true;
	unsigned long irq;

	irq = uet_sq_lock(qp);
	/*
	 * Set by the runner without the lock. A batch that comes in between the
	 * two lines is one that the next look does not hear of.
	 */
	if (READ_ONCE(sq->batched)) {
		WRITE_ONCE(sq->batched, false);
		sq->look_vain = 0;
		sq->look_backoff = 0;
	} else if (++sq->look_vain >= UET_LOOK_VAIN) {
		again = false;
		sq->look_backoff = clamp(2 * sq->look_backoff,
					 UET_LOOK_SKIP_MIN, UET_LOOK_SKIP_MAX);
		sq->look_skip = sq->look_backoff;
		uet_look_promise(sq, false);
	}
	uet_sq_unlock(qp, irq);
	return again;
}

/* Context: softirq. */
static enum hrtimer_restart uet_look(struct hrtimer *timer)
{
	struct uet_qp *qp = container_of(timer, struct uet_qp, sq.look);
	struct uet_sq *sq = &qp->sq;

	uet_sq_run_some(qp);
	if (uet_look_again(qp)) {
		hrtimer_forward_now(timer, ns_to_ktime(UET_LOOK_NS));
		return HRTIMER_RESTART;
	}
	/*
	 * What was posted before the promise ended came without a doorbell.
	 * Pairs with the barrier of user space between prod and flags.
	 */
	smp_mb();
	if (uet_sq_has_new(sq))
		uet_sq_run_some(qp);
	return HRTIMER_NORESTART;
}

/**
 * uet_look_init - prepare a send queue for looks
 * @qp: user QP
 */
void uet_look_init(struct uet_qp *qp)
{
	hrtimer_setup(&qp->sq.look, uet_look, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}

/**
 * uet_look_stop - end the looks at a send queue
 * @qp: nobody rings its doorbell
 *
 * Context: process.
 */
void uet_look_stop(struct uet_qp *qp)
{
	struct uet_sq *sq = &qp->sq;
	unsigned long irq;

	hrtimer_cancel(&sq->look);
	irq = uet_sq_lock(qp);
	if (sq->looking)
		uet_look_promise(sq, false);
	uet_sq_unlock(qp, irq);
}

static void uet_look_start(struct uet_qp *qp)
{
	struct uet_sq *sq = &qp->sq;
	unsigned long irq;

	irq = uet_sq_lock(qp);
	if (sq->look_skip) {
		sq->look_skip--;
	} else if (!sq->looking && !sq->broken) {
		uet_look_promise(sq, true);
		hrtimer_start(&sq->look, ns_to_ktime(UET_LOOK_NS),
			      HRTIMER_MODE_REL_SOFT);
	}
	uet_sq_unlock(qp, irq);
}

/**
 * uet_doorbell - user space has posted; one call for all that is in the ring
 * @qp: user QP
 *
 * Context: process.
 * Return: 0, or -EINVAL if the QP is not ready to send.
 */
int uet_doorbell(struct uet_qp *qp)
{
	struct uet_sq *sq = &qp->sq;

	switch (READ_ONCE(qp->state)) {
	case IB_QPS_RESET:
	case IB_QPS_INIT:
	case IB_QPS_RTR:
		return -EINVAL;
	}
	uet_sq_run_all(qp);
	if (sq->ring && READ_ONCE(sq->ring->hdr->hints) & UET_RING_STREAM &&
	    READ_ONCE(qp->state) == IB_QPS_RTS)
		uet_look_start(qp);
	return 0;
}
