// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Completion queues. Kernel and user CQs use the same ring; the kernel is the
 * producer, whoever polls is the consumer. A full ring is an error that ends
 * the CQ, entries are never overwritten.
 */
#include <linux/hrtimer.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "uet.h"

static void uet_cq_put(struct uet_cq *cq)
{
	if (refcount_dec_and_test(&cq->refs))
		complete(&cq->gone);
}

/* No lock held, not inside a verb of the CQ's consumer. */
static void uet_cq_wake(struct uet_cq *cq)
{
	if (cq->ib.comp_handler)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
	uet_cq_put(cq);
}

static void uet_cq_notify_fn(struct uet_notify *n)
{
	uet_cq_wake(container_of(n, struct uet_cq, notify));
}

static void uet_cq_comp_work(struct work_struct *work)
{
	uet_cq_wake(container_of(work, struct uet_cq, comp_work));
}

static void uet_cq_err_work(struct work_struct *work)
{
	struct uet_cq *cq = container_of(work, struct uet_cq, err_work);
	struct ib_event ev = {
		.device = cq->ib.device,
		.event = IB_EVENT_CQ_ERR,
		.element.cq = &cq->ib,
	};

	if (cq->ib.event_handler)
		cq->ib.event_handler(&ev, cq->ib.cq_context);
	uet_cq_put(cq);
}

/*
 * Wake the reader soon. A kernel consumer may hold a lock around the verb
 * that brought us here and take it in its handler, so that one always waits
 * for BH work; the handler of uverbs only wakes a process.
 */
static void uet_cq_kick(struct uet_cq *cq, struct uet_defer *d)
{
	bool queued;

	refcount_inc(&cq->refs);
	if (cq->ring->user && d)
		queued = uet_defer_notify(d, &cq->notify);
	else
		queued = queue_work(system_bh_wq, &cq->comp_work);
	/* Never the last: the caller's QP keeps the CQ. */
	if (!queued)
		uet_cq_put(cq);
}

static void uet_cq_overflow(struct uet_cq *cq)
{
	cq->failed = true;
	uet_stat_inc(to_udev(cq->ib.device)->fep, UET_STAT_CQ_OVERFLOW);
	refcount_inc(&cq->refs);
	queue_work(uet_verbs_wq, &cq->err_work);
}

/* cq->lock held. */
static void uet_cq_fire(struct uet_cq *cq, struct uet_defer *d)
{
	cq->armed = 0;
	cq->held = 0;
	uet_cq_kick(cq, d);
}

/*
 * Moderation: the reader sleeps on until enough completions have come or the
 * first has waited long enough. Errors do not wait. cq->lock held.
 */
static bool uet_cq_holds(struct uet_cq *cq, const struct uet_cqe *cqe)
{
	if (!cq->mod_count || cqe->status != IB_WC_SUCCESS ||
	    ++cq->held >= cq->mod_count)
		return false;
	if (cq->held == 1)
		hrtimer_start(&cq->mod_timer,
			      ns_to_ktime(cq->mod_period * NSEC_PER_USEC),
			      HRTIMER_MODE_REL_SOFT);
	return true;
}

/* An armed CQ is disarmed by the first entry that counts. cq->lock held. */
static void uet_cq_signal(struct uet_cq *cq, const struct uet_cqe *cqe,
			  struct uet_defer *d)
{
	if (cq->armed == IB_CQ_NEXT_COMP ||
	    (cq->armed == IB_CQ_SOLICITED &&
	     (cqe->flags & UET_CQE_SOLICITED ||
	      cqe->status != IB_WC_SUCCESS))) {
		if (!uet_cq_holds(cq, cqe))
			uet_cq_fire(cq, d);
	}
}

/* Finds nothing held if the number was reached first. */
static enum hrtimer_restart uet_cq_mod_timer(struct hrtimer *timer)
{
	struct uet_cq *cq = container_of(timer, struct uet_cq, mod_timer);
	unsigned long irq;

	irq = uet_queue_lock(&cq->lock, !cq->qps);
	if (cq->held)
		uet_cq_fire(cq, NULL);
	uet_queue_unlock(&cq->lock, !cq->qps, irq);
	return HRTIMER_NORESTART;
}

/**
 * uet_cq_push - add a completion
 * @ib: CQ
 * @cqe: all but the timestamp
 * @qp: whose completion it is
 * @d: where a notification may go; NULL: none at hand
 *
 * Context: any; queue locks and engine locks may be held.
 * Return: false if the completion is lost because the CQ overflowed.
 */
bool uet_cq_push(struct ib_cq *ib, struct uet_cqe *cqe, struct ib_qp *qp,
		 struct uet_defer *d)
{
	struct uet_cq *cq = to_ucq(ib);
	struct uet_ringbuf *ring;
	unsigned long irq;
	u32 cons;

	cqe->timestamp = ktime_get_ns();
	irq = uet_queue_lock(&cq->lock, !cq->qps);
	ring = cq->ring;
	/* Pairs with the release of the reader: it is done with the entry. */
	cons = ring->user ? smp_load_acquire(&ring->hdr->cons) : cq->cons;
	if (!cq->failed && uet_ring_used(cq->prod, cons) >= ring->depth)
		uet_cq_overflow(cq);
	if (cq->failed) {
		uet_queue_unlock(&cq->lock, !cq->qps, irq);
		return false;
	}
	memcpy(uet_ring_at(ring, cq->prod), cqe, sizeof(*cqe));
	if (cq->qps)
		cq->qps[cq->prod & (ring->depth - 1)] = qp;
	cq->prod++;
	/* The entry is whole before it can be seen. */
	smp_store_release(&ring->hdr->prod, cq->prod);
	uet_cq_signal(cq, cqe, d);
	uet_queue_unlock(&cq->lock, !cq->qps, irq);
	return true;
}

/**
 * uet_cq_forget - drop what a QP left in a kernel CQ
 * @ib: CQ
 * @qp: destroyed or reset; adds nothing any more
 *
 * The library does the same for user CQs. Context: process.
 */
void uet_cq_forget(struct ib_cq *ib, const struct ib_qp *qp)
{
	struct uet_cq *cq = to_ucq(ib);
	unsigned long irq;
	u32 i;

	if (!cq->qps)
		return;
	irq = uet_queue_lock(&cq->lock, !cq->qps);
	for (i = cq->cons; i != cq->prod; i++) {
		struct ib_qp **slot = &cq->qps[i & (cq->ring->depth - 1)];

		if (*slot == qp)
			*slot = NULL;
	}
	uet_queue_unlock(&cq->lock, !cq->qps, irq);
}

static int uet_wc_flags(const struct uet_cqe *cqe)
{
	int flags = 0;

	if (cqe->flags & UET_CQE_GRH)
		flags |= IB_WC_GRH;
	if (cqe->flags & UET_CQE_WITH_IMM)
		flags |= IB_WC_WITH_IMM;
	if (cqe->flags & UET_CQE_WITH_INV)
		flags |= IB_WC_WITH_INVALIDATE;
	if (cqe->flags & UET_CQE_VLAN)
		flags |= IB_WC_WITH_VLAN;
	return flags;
}

static void uet_wc_fill(struct ib_wc *wc, const struct uet_cqe *cqe,
			struct ib_qp *qp)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	wc->qp = qp;
	wc->src_qp = cqe->src_qp;
	wc->pkey_index = cqe->pkey_index;
	wc->port_num = UET_PORT;
	wc->wc_flags = uet_wc_flags(cqe);
	wc->vlan_id = cqe->vlan_id;
	if (cqe->flags & UET_CQE_WITH_INV)
		wc->ex.invalidate_rkey = cqe->imm_data;
	else
		wc->ex.imm_data = cpu_to_be32(cqe->imm_data);
}

/* Kernel CQs only. Context: any. */
int uet_poll_cq(struct ib_cq *ib, int nr, struct ib_wc *wc)
{
	struct uet_cq *cq = to_ucq(ib);
	unsigned long irq;
	int n = 0;

	if (!cq->qps)
		return -EINVAL;
	irq = uet_queue_lock(&cq->lock, !cq->qps);
	while (n < nr && cq->cons != cq->prod) {
		struct ib_qp *qp = cq->qps[cq->cons & (cq->ring->depth - 1)];

		if (qp)
			uet_wc_fill(&wc[n++], uet_ring_at(cq->ring, cq->cons),
				    qp);
		cq->cons++;
	}
	uet_queue_unlock(&cq->lock, !cq->qps, irq);
	return n;
}

/* Context: any. */
int uet_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags)
{
	struct uet_cq *cq = to_ucq(ib);
	u8 want = flags & IB_CQ_SOLICITED_MASK;
	unsigned long irq;
	int missed = 0;
	u32 cons;

	irq = uet_queue_lock(&cq->lock, !cq->qps);
	if (cq->armed != IB_CQ_NEXT_COMP)
		cq->armed = want;
	cons = cq->ring->user ? READ_ONCE(cq->ring->hdr->cons) : cq->cons;
	if (flags & IB_CQ_REPORT_MISSED_EVENTS && cq->prod != cons)
		missed = 1;
	uet_queue_unlock(&cq->lock, !cq->qps, irq);
	return missed;
}

static int uet_cq_respond(const struct uet_cq *cq, struct ib_udata *udata)
{
	struct uet_create_cq_resp resp = {};

	if (!udata)
		return 0;
	uet_ring_info(cq->ring, &resp.cq);
	return uet_udata_out(udata, &resp, sizeof(resp));
}

/* What holds the entries of a CQ. */
struct uet_cq_store {
	struct uet_ringbuf *ring;
	struct ib_qp **qps;
};

static void uet_cq_store_free(struct uet_cq_store *st)
{
	kvfree(st->qps);
	uet_ring_free(st->ring);
}

static int uet_cq_store_alloc(struct uet_cq_store *st, u32 cqe,
			      struct ib_udata *udata)
{
	u32 depth = uet_depth(cqe);

	st->qps = NULL;
	st->ring = uet_ring_create(udata, depth, sizeof(struct uet_cqe));
	if (IS_ERR(st->ring))
		return PTR_ERR(st->ring);
	if (!udata) {
		st->qps = kvcalloc(depth, sizeof(*st->qps), GFP_KERNEL);
		if (!st->qps) {
			uet_ring_free(st->ring);
			return -ENOMEM;
		}
	}
	return 0;
}

int uet_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		  struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	struct uet_cq *cq = to_ucq(ib);
	struct uet_cq_store st;
	int err;

	/* Every completion has a timestamp, asked for or not. */
	if (attr->flags & ~IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > UET_MAX_CQE)
		return -EINVAL;
	err = uet_udata_in(udata, NULL, 0);
	if (err)
		return err;

	uet_queue_lock_init(&cq->lock, udata);
	refcount_set(&cq->refs, 1);
	init_completion(&cq->gone);
	uet_notify_init(&cq->notify, uet_cq_notify_fn);
	INIT_WORK(&cq->comp_work, uet_cq_comp_work);
	INIT_WORK(&cq->err_work, uet_cq_err_work);
	hrtimer_setup(&cq->mod_timer, uet_cq_mod_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	err = uet_obj_take(to_udev(ib->device), UET_OBJ_CQ);
	if (err)
		return err;
	err = uet_cq_store_alloc(&st, attr->cqe, udata);
	if (err)
		goto err_obj;
	cq->ring = st.ring;
	cq->qps = st.qps;
	err = uet_cq_respond(cq, udata);
	if (err)
		goto err_store;
	ib->cqe = cq->ring->depth;
	return 0;

err_store:
	uet_cq_store_free(&st);
err_obj:
	uet_obj_give(to_udev(ib->device), UET_OBJ_CQ);
	return err;
}

/* No QP uses it any more; waits for handlers that are on their way. */
int uet_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	struct uet_cq *cq = to_ucq(ib);

	struct uet_cq_store st = { .ring = cq->ring, .qps = cq->qps };

	hrtimer_cancel(&cq->mod_timer);
	uet_cq_put(cq);
	wait_for_completion(&cq->gone);
	uet_cq_store_free(&st);
	uet_obj_give(to_udev(ib->device), UET_OBJ_CQ);
	return 0;
}

/**
 * uet_modify_cq - set the moderation of a CQ
 * @ib: CQ
 * @count: completions that make one event
 * @period: or so long after the first of them, microseconds
 *
 * With 0 in either every completion makes an event again. Completions that are
 * held now make theirs at once.
 *
 * Context: process.
 * Return: 0.
 */
int uet_modify_cq(struct ib_cq *ib, u16 count, u16 period)
{
	struct uet_cq *cq = to_ucq(ib);
	unsigned long irq;

	irq = uet_queue_lock(&cq->lock, !cq->qps);
	cq->mod_count = period ? count : 0;
	cq->mod_period = period;
	if (cq->held)
		uet_cq_fire(cq, NULL);
	uet_queue_unlock(&cq->lock, !cq->qps, irq);
	return 0;
}

/*
 * Put another ring in the place of the present one, which is in @st
 * afterwards. cq->lock held.
 */
static int uet_cq_swap(struct uet_cq *cq, struct uet_cq_store *st)
{
	struct uet_ringbuf *old = cq->ring;
	u32 cons = old->user ? READ_ONCE(old->hdr->cons) : cq->cons;
	u32 i, n = uet_ring_used(cq->prod, cons);

	if (cq->failed || n > old->depth)
		return -EIO;
	if (n > st->ring->depth)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		memcpy(uet_ring_at(st->ring, i), uet_ring_at(old, cons + i),
		       sizeof(struct uet_cqe));
		if (cq->qps)
			st->qps[i] = cq->qps[(cons + i) & (old->depth - 1)];
	}
	WRITE_ONCE(st->ring->hdr->prod, n);
	cq->prod = n;
	cq->cons = 0;
	cq->ib.cqe = st->ring->depth;
	swap(cq->ring, st->ring);
	swap(cq->qps, st->qps);
	return 0;
}

/**
 * uet_resize_cq - make a CQ larger or smaller
 * @ib: CQ; nobody polls it meanwhile
 * @cqe: entries wanted
 * @udata: answered by struct uet_resize_cq_resp
 *
 * Context: process. If it fails the CQ is as it was.
 * Return: 0; -EINVAL: beyond the limits, or more completions wait than would
 * fit; -EIO: the CQ overflowed before; another errno.
 */
int uet_resize_cq(struct ib_cq *ib, UET_RESIZE_CQE cqe, struct ib_udata *udata)
{
	unsigned long irq;
	struct uet_resize_cq_resp resp = {};
	struct uet_cq *cq = to_ucq(ib);
	struct uet_cq_store st;
	int err;

	if (cqe < 1 || cqe > UET_MAX_CQE)
		return -EINVAL;
	err = uet_udata_in(udata, NULL, 0);
	if (err)
		return err;
	err = uet_cq_store_alloc(&st, cqe, udata);
	if (err)
		return err;
	uet_ring_info(st.ring, &resp.cq);
	err = uet_udata_out(udata, &resp, sizeof(resp));
	if (!err) {
		irq = uet_queue_lock(&cq->lock, !cq->qps);
		err = uet_cq_swap(cq, &st);
		uet_queue_unlock(&cq->lock, !cq->qps, irq);
	}
	uet_cq_store_free(&st);
	return err;
}
