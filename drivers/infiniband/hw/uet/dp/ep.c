// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Endpoints: life, connection, submission of messages. */
#include <linux/export.h>
#include <linux/slab.h>

#include "burst.h"
#include "ep.h"
#include "fep.h"
#include "pdc.h"
#include "ses.h"

/* A PDC may die between finding and locking it; more often is a bug. */
#define UET_SUBMIT_TRIES	8

/**
 * uet_ep_create - an endpoint
 * @fep: where
 * @attr: what kind
 * @priv: for uet_ep_priv()
 *
 * Nothing is let in before uet_ep_connect() or uet_ep_open().
 *
 * Context: process.
 * Return: endpoint, or ERR_PTR: -EBUSY: the wire pair is in use; -ENOMEM.
 */
struct uet_ep *uet_ep_create(struct uet_fep *fep,
			     const struct uet_ep_attr *attr, void *priv)
{
	struct uet_ep *ep = kzalloc(sizeof(*ep), GFP_KERNEL);
	int err;

	if (!ep)
		return ERR_PTR(-ENOMEM);
	ep->fep = fep;
	ep->priv = priv;
	ep->mode = attr->mode;
	ep->key = uet_ep_key(attr->job_id, attr->wire);
	ep->job_id = attr->job_id;
	ep->initiator = attr->initiator;
	ep->unreliable = attr->unreliable;
	spin_lock_init(&ep->lock);
	INIT_LIST_HEAD(&ep->inbound);
	INIT_LIST_HEAD(&ep->reads);
	err = uet_eptab_insert(&fep->eps, ep);
	if (err) {
		kfree(ep);
		return ERR_PTR(err);
	}
	return ep;
}
EXPORT_SYMBOL_GPL(uet_ep_create);

/**
 * uet_ep_priv - what the provider gave to uet_ep_create()
 * @ep: endpoint
 *
 * Return: @priv of uet_ep_create().
 */
void *uet_ep_priv(const struct uet_ep *ep)
{
	return ep->priv;
}
EXPORT_SYMBOL_GPL(uet_ep_priv);

/**
 * uet_ep_fep - where the endpoint lives
 * @ep: endpoint
 *
 * Return: its fabric endpoint; no reference is taken.
 */
struct uet_fep *uet_ep_fep(const struct uet_ep *ep)
{
	return ep->fep;
}
EXPORT_SYMBOL_GPL(uet_ep_fep);

/**
 * uet_ep_find - endpoint of a wire pair
 * @fep: fabric endpoint
 * @job_id: of a request with relative addresses, not 0; 0: absolute ones
 * @wire: PIDonFEP and RI
 *
 * Context: RCU read side. Look at @dead under the lock before anything else.
 *
 * Return: the endpoint, or NULL.
 */
struct uet_ep *uet_ep_find(struct uet_fep *fep, u32 job_id, u32 wire)
{
	return uet_eptab_find(&fep->eps, job_id, wire);
}

/**
 * uet_ep_connect - let the requests of one peer in
 * @ep: UET_EP_ROD, flushed or new
 * @conn: peer; a reference to its path is taken
 *
 * Return: 0, or -EINVAL for another kind of endpoint.
 */
int uet_ep_connect(struct uet_ep *ep, const struct uet_ep_conn *conn)
{
	struct uet_path *old;

	if (ep->mode != UET_EP_ROD)
		return -EINVAL;
	uet_path_get(conn->path);
	spin_lock_bh(&ep->lock);
	old = ep->conn.path;
	ep->conn = *conn;
	ep->life = atomic64_inc_return(&ep->fep->lives);
	ep->gen = 0;
	ep->peer_gen = 0;
	ep->disabled = false;
	ep->state = UET_EP_OPEN;
	WRITE_ONCE(ep->flushing, false);
	spin_unlock_bh(&ep->lock);
	uet_path_put(old);
	return 0;
}
EXPORT_SYMBOL_GPL(uet_ep_connect);

/**
 * uet_ep_set_retry - how long and how often to try
 * @ep: UET_EP_ROD
 * @budget_ns: see struct uet_ep_conn
 * @rnr_retry: see struct uet_ep_conn
 */
void uet_ep_set_retry(struct uet_ep *ep, u64 budget_ns, u8 rnr_retry)
{
	struct uet_pdc *pdc;

	rcu_read_lock();
	spin_lock_bh(&ep->lock);
	WRITE_ONCE(ep->conn.budget_ns, budget_ns);
	WRITE_ONCE(ep->conn.rnr_retry, rnr_retry);
	pdc = rcu_dereference_protected(ep->pdc, lockdep_is_held(&ep->lock));
	spin_unlock_bh(&ep->lock);
	if (pdc) {
		spin_lock_bh(&pdc->lock);
		pdc->budget_ns = budget_ns;
		spin_unlock_bh(&pdc->lock);
	}
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(uet_ep_set_retry);

/**
 * uet_ep_open - let requests of any peer in, or not yet
 * @ep: UET_EP_RUD or UET_EP_UUD
 * @open: whether
 */
void uet_ep_open(struct uet_ep *ep, bool open)
{
	spin_lock_bh(&ep->lock);
	ep->state = open ? UET_EP_OPEN : UET_EP_CLOSED;
	WRITE_ONCE(ep->flushing, false);
	spin_unlock_bh(&ep->lock);
}
EXPORT_SYMBOL_GPL(uet_ep_open);

/* ------------------------------------------------------------------ */
/* Giving up                                                           */

/* Give receive buffers back. Endpoint lock held. */
static void uet_ep_drop_inbound(struct uet_ep *ep, struct uet_defer *d)
{
	struct uet_inbound *in, *tmp;

	list_for_each_entry_safe(in, tmp, &ep->inbound, ep_node) {
		list_del_init(&in->ep_node);
		in->rc = UET_RC_DISABLED;
		if (in->recv)
			ep->fep->ops->recv_done(ep, in->recv, UET_ST_FLUSHED,
						d);
		in->recv = NULL;
		/* Last: who finds none may free it, without this lock. */
		smp_store_release(&in->ep, NULL);
	}
}

static void uet_ep_abort_all(struct uet_ep *ep, struct uet_defer *d)
{
	struct uet_fep *fep = ep->fep;
	struct uet_pdc *pdc;
	unsigned long id;
	int moved_back;

	/* A PDC that gets a smaller number meanwhile may be missed. */
	do {
		moved_back = atomic_read(&fep->moved_back);
		xa_for_each(&fep->pdcs, id, pdc) {
			spin_lock_bh(&pdc->lock);
			uet_pdc_abort_ep(pdc, ep, d);
			spin_unlock_bh(&pdc->lock);
		}
		/* Pairs with uet_pdc_rename(): who misses it there sees it here. */
		smp_mb();
	} while (moved_back != atomic_read(&fep->moved_back));
}

/**
 * uet_ep_flush - refuse requests, give up messages
 * @ep: endpoint
 * @d: collector
 */
void uet_ep_flush(struct uet_ep *ep, struct uet_defer *d)
{
	struct uet_pdc *pdc;

	rcu_read_lock();
	spin_lock_bh(&ep->lock);
	WRITE_ONCE(ep->flushing, true);
	ep->state = UET_EP_ERROR;
	uet_ep_drop_inbound(ep, d);
	pdc = rcu_dereference_protected(ep->pdc, lockdep_is_held(&ep->lock));
	RCU_INIT_POINTER(ep->pdc, NULL);
	spin_unlock_bh(&ep->lock);
	if (pdc) {
		spin_lock_bh(&pdc->lock);
		uet_pdc_abort_ep(pdc, ep, d);
		spin_unlock_bh(&pdc->lock);
	}
	if (ep->mode == UET_EP_RUD)
		uet_ep_abort_all(ep, d);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(uet_ep_flush);

/**
 * uet_ep_end_reads - let no more data out that peers asked for
 * @ep: flushed endpoint
 *
 * They are told that there is none. Without this, what was accepted before the
 * flush goes on: a peer's bad request does not spoil the good ones before it.
 *
 * Context: process. Nothing is copied any more when it returns.
 */
void uet_ep_end_reads(struct uet_ep *ep)
{
	struct uet_rdrsp *rd, *tmp;
	bool any;

	spin_lock_bh(&ep->lock);
	any = !list_empty(&ep->reads);
	list_for_each_entry_safe(rd, tmp, &ep->reads, ep_node) {
		list_del(&rd->ep_node);
		/* Last: who finds none may free it, without this lock. */
		smp_store_release(&rd->ep, NULL);
	}
	spin_unlock_bh(&ep->lock);
	/* Packets that are being built are so in an RCU read side. */
	if (any)
		synchronize_rcu();
}
EXPORT_SYMBOL_GPL(uet_ep_end_reads);

/**
 * uet_ep_destroy - end an endpoint
 * @ep: endpoint; no message is submitted any more
 *
 * Context: process. When it returns no callback for @ep runs or will run.
 */
void uet_ep_destroy(struct uet_ep *ep)
{
	struct uet_defer d;

	uet_defer_init(&d);
	uet_ep_flush(ep, &d);
	uet_ep_end_reads(ep);
	uet_eptab_remove(&ep->fep->eps, ep);
	spin_lock_bh(&ep->lock);
	ep->dead = true;
	spin_unlock_bh(&ep->lock);
	uet_defer_run(&d);
	uet_path_put(ep->conn.path);
	kfree_rcu(ep, rcu);
}
EXPORT_SYMBOL_GPL(uet_ep_destroy);

/**
 * uet_ep_drop_pdc - forget a PDC that takes no more messages
 * @ep: UET_EP_ROD
 * @pdc: locked; what @ep may still point at
 */
void uet_ep_drop_pdc(struct uet_ep *ep, struct uet_pdc *pdc)
{
	spin_lock(&ep->lock);
	if (rcu_access_pointer(ep->pdc) == pdc)
		RCU_INIT_POINTER(ep->pdc, NULL);
	spin_unlock(&ep->lock);
}

/* ------------------------------------------------------------------ */
/* Submission                                                          */

/* The PDC of an ordered endpoint, opened when there is none. */
static struct uet_pdc *uet_ep_pdc(struct uet_ep *ep, int *err)
{
	struct uet_pdc *pdc = rcu_dereference(ep->pdc);

	if (pdc)
		return pdc;
	spin_lock(&ep->lock);
	pdc = rcu_dereference_protected(ep->pdc, lockdep_is_held(&ep->lock));
	if (!pdc) {
		pdc = uet_pdc_open(ep->fep, ep->conn.path, ep, err);
		if (pdc)
			rcu_assign_pointer(ep->pdc, pdc);
	}
	spin_unlock(&ep->lock);
	return pdc;
}

static bool uet_pdc_takes(struct uet_pdc *pdc, struct uet_defer *d)
{
	if (pdc->state != UET_PDC_SYN && pdc->state != UET_PDC_ESTABLISHED)
		return false;
	/* Long before PSNs could be mistaken for old ones: a new PDC. */
	if (pdc->tx.next - pdc->tx.start > UET_PDC_PSN_RANGE &&
	    pdc->state == UET_PDC_ESTABLISHED &&
	    pdc->tx.una == pdc->tx.next && list_empty(&pdc->msgs) &&
	    list_empty(&pdc->waiting)) {
		uet_pdc_close(pdc, d);
		return pdc->state == UET_PDC_ESTABLISHED;
	}
	return true;
}

/*
 * A message leaves with uet_ep_push(), together with those around it that go
 * the same way. Unordered, those may be few, and a burst holds no more bytes
 * than this.
 */
static void uet_ep_hold(struct uet_ep *ep, struct uet_pdc *pdc,
			struct uet_defer *d)
{
	if (pdc->rod)
		return;
	ep->held = pdc->id;
	if (pdc->queued < UET_FLOW_BUSY)
		return;
	uet_pdc_pump(pdc, d);
	ep->held = 0;
}

/*
 * The PDC may have got another number: then what it waited for has come, and
 * it went on by itself. Another one of that number is pushed for nothing.
 */
static void uet_ep_release(struct uet_ep *ep, struct uet_defer *d)
{
	struct uet_pdc *pdc = uet_pdc_find(ep->fep, ep->held);

	ep->held = 0;
	if (!pdc)
		return;
	spin_lock(&pdc->lock);
	uet_pdc_pump(pdc, d);
	spin_unlock(&pdc->lock);
}

static bool uet_pdc_try(struct uet_pdc *pdc, struct uet_ep *ep,
			struct uet_msg *msg, struct uet_defer *d)
{
	bool took;

	spin_lock(&pdc->lock);
	took = uet_pdc_takes(pdc, d);
	if (took && READ_ONCE(ep->flushing)) {
		ep->fep->ops->msg_done(ep, msg, UET_ST_FLUSHED, d);
	} else if (took) {
		uet_pdc_add_msg(pdc, msg);
		uet_ep_hold(ep, pdc, d);
	} else {
		uet_pdc_leave_ep(pdc);
	}
	spin_unlock(&pdc->lock);
	return took;
}

static void uet_msg_queue(struct uet_ep *ep, struct uet_msg *msg,
			  struct uet_defer *d)
{
	int err = UET_ST_NO_RESOURCE;
	struct uet_pdc *pdc;
	int tries;

	for (tries = 0; tries < UET_SUBMIT_TRIES; tries++) {
		if (ep->mode == UET_EP_ROD)
			pdc = uet_ep_pdc(ep, &err);
		else
			pdc = uet_pdc_pick(ep->fep, msg->path, msg->len, &err);
		if (!pdc)
			break;
		if (ep->held && ep->held != READ_ONCE(pdc->id))
			uet_ep_release(ep, d);
		if (uet_pdc_try(pdc, ep, msg, d))
			return;
	}
	ep->fep->ops->msg_done(ep, msg, err, d);
}

/*
 * One packet, no PDC, no answer: done when it is sent, 3.7. As on the wire,
 * what cannot be delivered is lost without a word.
 */
static int uet_datagram_send(struct uet_ep *ep, struct uet_msg *msg,
			     struct uet_defer *d)
{
	struct uet_payload pl = {
		.sge = msg->sge,
		.nr_sge = msg->nr_sge,
		.len = msg->len,
	};
	struct uet_pkt pkt = { .type = UET_PDS_UUD };
	u32 mtu = uet_path_payload_mtu(msg->path);
	struct uet_burst b;
	int err;

	/* No route, or one on which nothing fits */
	if (!mtu) {
		uet_stat_inc(ep->fep, UET_STAT_DROP_TX);
		return UET_ST_UNREACH;
	}
	if (msg->len > mtu)
		return UET_RC_UNSUPPORTED_SIZE;
	uet_ses_fill(msg, &pkt, 0, msg->len, 0, 0);
	uet_burst_init(&b, msg->path, htons(0x8000 | ep->initiator), false, d);
	err = uet_burst_add(&b, &pkt, &pl);
	if (err == -ENOMEM) {
		uet_stat_inc(ep->fep, UET_STAT_DROP_TX);
		return UET_ST_OK;
	}
	if (err)
		return UET_ST_PROT;
	uet_burst_flush(&b);
	uet_stat_add(ep->fep, UET_STAT_TX_BYTES, msg->len);
	uet_stat_inc(ep->fep, UET_STAT_TX_MSGS);
	return UET_ST_OK;
}

/**
 * uet_msg_submit - hand over a message
 * @ep: endpoint
 * @msg: message
 * @d: collector; packets leave with uet_defer_run()
 *
 * After the last of several messages uet_ep_push() is due.
 *
 * Context: process or softirq, interrupts on.
 */
void uet_msg_submit(struct uet_ep *ep, struct uet_msg *msg,
		    struct uet_defer *d)
{
	int status;

	msg->ep = ep;
	msg->id = 0;
	msg->rnr_count = 0;
	msg->sent = 0;
	msg->pending = 0;
	msg->status = UET_ST_OK;
	msg->all_sent = false;
	local_bh_disable();
	rcu_read_lock();
	if (ep->mode == UET_EP_UUD) {
		status = uet_datagram_send(ep, msg, d);
		ep->fep->ops->msg_done(ep, msg, status, d);
	} else {
		uet_msg_queue(ep, msg, d);
	}
	rcu_read_unlock();
	local_bh_enable();
}
EXPORT_SYMBOL_GPL(uet_msg_submit);

/**
 * uet_ep_push - let go of what uet_msg_submit() took
 * @ep: endpoint
 * @d: collector; packets leave with uet_defer_run()
 *
 * Small messages submitted one after the other share bursts, so that the stack
 * is walked once for all of them.
 *
 * Context: process or softirq, interrupts on.
 */
void uet_ep_push(struct uet_ep *ep, struct uet_defer *d)
{
	struct uet_pdc *pdc;

	if (ep->mode == UET_EP_UUD)
		return;
	local_bh_disable();
	rcu_read_lock();
	if (ep->held)
		uet_ep_release(ep, d);
	pdc = rcu_dereference(ep->pdc);
	if (pdc) {
		spin_lock(&pdc->lock);
		uet_pdc_pump(pdc, d);
		spin_unlock(&pdc->lock);
	}
	rcu_read_unlock();
	local_bh_enable();
}
EXPORT_SYMBOL_GPL(uet_ep_push);
