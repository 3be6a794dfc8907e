// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What happens when something does not happen: one timer per PDC serves the
 * earliest of several deadlines, each with a function named after its event.
 */
#include "../compat.h"
#include "ep.h"
#include "pdc.h"

/* A target forgets a silent PDC after so many idle times. */
#define UET_TARGET_IDLE		3
/* Largest shift of the retransmission timeout. */
#define UET_BACKOFF_MAX		8

static u64 uet_pdc_idle_ns(const struct uet_pdc *pdc)
{
	u64 ns = READ_ONCE(pdc->fep->params.pdc_idle_ms) * (u64)NSEC_PER_MSEC;

	return pdc->initiator ? ns : ns * UET_TARGET_IDLE + UET_BUDGET_NS;
}

/**
 * uet_tx_rto_ns - how long to wait for an ACK
 * @tx: sender
 *
 * Return: nanoseconds, backoff included (3.5).
 */
u64 uet_tx_rto_ns(const struct uet_tx *tx)
{
	u64 rto = UET_RTO_INIT_NS;

	if (tx->srtt_ns)
		rto = max_t(u64, tx->srtt_ns + 4ULL * tx->rttvar_ns,
			    UET_RTO_MIN_NS);
	return min_t(u64, rto << tx->backoff, UET_RTO_MAX_NS);
}

static void uet_pdc_set_timer(struct uet_pdc *pdc)
{
	ktime_t next = KTIME_MAX;
	int ev;

	if (pdc->state == UET_PDC_DEAD)
		return;
	for (ev = 0; ev < UET_EV_NR; ev++)
		next = min(next, pdc->deadline[ev]);
	/* Too early is harmless: the handler looks and sets it again. */
	if (next >= pdc->timer_at)
		return;
	pdc->timer_at = next;
	hrtimer_start(&pdc->timer, next, HRTIMER_MODE_ABS_SOFT);
}

static void uet_pdc_expect_at(struct uet_pdc *pdc, enum uet_pdc_event ev,
			      ktime_t at)
{
	pdc->deadline[ev] = at;
	uet_pdc_set_timer(pdc);
}

/**
 * uet_pdc_expect - an event is due unless something happens before
 * @pdc: locked
 * @ev: event
 * @ns: from now
 */
void uet_pdc_expect(struct uet_pdc *pdc, enum uet_pdc_event ev, u64 ns)
{
	uet_pdc_expect_at(pdc, ev, ktime_add_ns(ktime_get(), ns));
}

/**
 * uet_pdc_expect_not - it happened; the event is not due
 * @pdc: locked
 * @ev: event
 */
void uet_pdc_expect_not(struct uet_pdc *pdc, enum uet_pdc_event ev)
{
	pdc->deadline[ev] = KTIME_MAX;
}

/**
 * uet_pdc_arm_rto - wait for ACKs if there is anything to wait for
 * @pdc: locked
 * @now: the time, as it was read for this packet or burst
 */
void uet_pdc_arm_rto(struct uet_pdc *pdc, ktime_t now)
{
	if (pdc->tx.una == pdc->tx.next)
		uet_pdc_expect_not(pdc, UET_EV_ACK_NOT_SEEN);
	else
		uet_pdc_expect_at(pdc, UET_EV_ACK_NOT_SEEN,
				  ktime_add_ns(now, uet_tx_rto_ns(&pdc->tx)));
}

static bool uet_pdc_out_of_budget(const struct uet_pdc *pdc)
{
	return pdc->budget_ns &&
	       ktime_to_ns(ktime_sub(ktime_get(), pdc->tx.progress)) >
	       pdc->budget_ns;
}

/*
 * The oldest packet is not done with. If the peer has it but the answer got
 * lost, ask for the answer; else send it again. The rest of the flight waits
 * for the ACK that this brings: it tells what is missing.
 */
static void uet_pdc_ack_not_seen(struct uet_pdc *pdc, struct uet_defer *d)
{
	struct uet_tx *tx = &pdc->tx;
	struct uet_desc *desc;

	if (tx->una == tx->next)
		return;
	if (uet_pdc_out_of_budget(pdc)) {
		uet_stat_inc(pdc->fep, UET_STAT_PDC_FAILED);
		uet_pdc_kill(pdc, UET_ST_TIMEOUT, d);
		return;
	}
	tx->backoff = min(tx->backoff + 1, UET_BACKOFF_MAX);
	desc = uet_tx_desc(tx, tx->una);
	if (desc->flags & (UET_DESC_RECEIVED | UET_DESC_ANSWERED)) {
		uet_pdc_send_ctl(pdc, UET_CTL_ACK_REQUEST, tx->una, 0, d);
	} else {
		uet_stat_inc(pdc->fep, UET_STAT_RETX_RTO);
		uet_pdc_mark_lost(pdc, tx->una);
	}
	/* Everything may be gone; let the resend leave in any case. */
	pdc->cc.ops->init(&pdc->cc, pdc->mtu);
	uet_pdc_pump(pdc, d);
	uet_pdc_arm_rto(pdc, ktime_get());
}

static void uet_pdc_ack_owed(struct uet_pdc *pdc, struct uet_defer *d)
{
	if (pdc->rx.ack_owed)
		uet_pdc_send_ack(pdc, d);
}

static void uet_pdc_resume(struct uet_pdc *pdc, struct uet_defer *d)
{
	pdc->paused = false;
	uet_tx_raise_cap(&pdc->tx);
	if (!list_empty(&pdc->waiting)) {
		struct uet_msg *msg, *tmp;

		list_for_each_entry_safe(msg, tmp, &pdc->waiting, node) {
			list_del(&msg->node);
			uet_pdc_add_msg(pdc, msg);
		}
	}
	uet_pdc_pump(pdc, d);
}

/* The peer got an answer that it should clear and does not, 2.13 6. */
static void uet_pdc_not_cleared(struct uet_pdc *pdc, struct uet_defer *d)
{
	struct uet_resp *last;

	if (list_empty(&pdc->rx.resps))
		return;
	/* The peer may be gone; then the PDC is forgotten in time. */
	if (pdc->rx.clear_tries++ >= UET_CLEAR_TRIES)
		return;
	last = list_last_entry(&pdc->rx.resps, struct uet_resp, node);
	uet_pdc_send_ctl(pdc, UET_CTL_CLEAR_REQUEST, 0, last->psn, d);
	uet_pdc_expect(pdc, UET_EV_NOT_CLEARED,
		       UET_CLEAR_NS << pdc->rx.clear_tries);
}

/**
 * uet_pdc_quiet - is there nothing to send and nothing to wait for?
 * @pdc: locked
 *
 * Return: whether it could be closed.
 */
bool uet_pdc_quiet(const struct uet_pdc *pdc)
{
	return pdc->tx.una == pdc->tx.next && list_empty(&pdc->msgs) &&
	       list_empty(&pdc->waiting) && list_empty(&pdc->rdrsps) &&
	       list_empty(&pdc->cancels);
}

/*
 * Nothing came for long. The initiator closes in good order; a target whose
 * initiator has vanished just forgets.
 */
static void uet_pdc_idle(struct uet_pdc *pdc, struct uet_defer *d)
{
	ktime_t at = ktime_add_ns(pdc->last_rx, uet_pdc_idle_ns(pdc));

	if (ktime_after(at, ktime_get()) ||
	    (pdc->initiator && !uet_pdc_quiet(pdc)) ||
	    pdc->state == UET_PDC_CLOSE_WAIT) {
		s64 left = ktime_to_ns(ktime_sub(at, ktime_get()));

		uet_pdc_expect(pdc, UET_EV_IDLE,
			       left > 0 ? left : uet_pdc_idle_ns(pdc));
		return;
	}
	if (!pdc->initiator || pdc->state == UET_PDC_SYN) {
		uet_stat_inc(pdc->fep, UET_STAT_PDC_CLOSED);
		uet_pdc_kill(pdc, UET_ST_TIMEOUT, d);
		return;
	}
	uet_pdc_close(pdc, d);
}

static void (* const uet_pdc_events[])(struct uet_pdc *, struct uet_defer *) = {
	[UET_EV_ACK_NOT_SEEN]	= uet_pdc_ack_not_seen,
	[UET_EV_ACK_OWED]	= uet_pdc_ack_owed,
	[UET_EV_RESUME]		= uet_pdc_resume,
	[UET_EV_NOT_CLEARED]	= uet_pdc_not_cleared,
	[UET_EV_IDLE]		= uet_pdc_idle,
	[UET_EV_DELIVER]	= uet_pdc_deliver,
};

/* Softirq. The PDC stays: freeing it waits for this handler. */
static enum hrtimer_restart uet_pdc_timer(struct hrtimer *timer)
{
	struct uet_pdc *pdc = container_of(timer, struct uet_pdc, timer);
	struct uet_defer d;
	ktime_t now;
	int ev;

	uet_defer_init(&d);
	rcu_read_lock();
	spin_lock(&pdc->lock);
	pdc->timer_at = KTIME_MAX;
	now = ktime_get();
	for (ev = 0; ev < UET_EV_NR && pdc->state != UET_PDC_DEAD; ev++) {
		if (ktime_after(pdc->deadline[ev], now))
			continue;
		pdc->deadline[ev] = KTIME_MAX;
		uet_pdc_events[ev](pdc, &d);
	}
	uet_pdc_set_timer(pdc);
	spin_unlock(&pdc->lock);
	uet_defer_run(&d);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/* Before the PDC is published. */
void uet_pdc_timer_init(struct uet_pdc *pdc)
{
	int ev;

	hrtimer_setup(&pdc->timer, uet_pdc_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	pdc->timer_at = KTIME_MAX;
	for (ev = 0; ev < UET_EV_NR; ev++)
		pdc->deadline[ev] = KTIME_MAX;
}

/* Process context; the PDC is dead, so nothing sets the timer again. */
void uet_pdc_timer_stop(struct uet_pdc *pdc)
{
	hrtimer_cancel(&pdc->timer);
}
