// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * PDCs: opening, accepting, finding, ending. uet-wire 3.1 - 3.3, 3.6.
 *
 * A PDC is found under RCU and used under its lock; whoever finds it
 * UET_PDC_DEAD there treats it as not found. uet_pdc_kill() may run in
 * softirq under the lock: it takes the PDC out of every table, gives back all
 * messages, and leaves stopping the timer and freeing to a work item.
 */
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "ep.h"
#include "pdc.h"

/*
 * RUD PDCs to one peer, beside the one that only short messages use so that
 * they pass long ones.
 */
#define UET_FLOW_PDCS		3

static struct kmem_cache *uet_pdc_cache;

static const struct rhashtable_params uet_target_params = {
	.key_len	= sizeof(struct uet_pdc_key),
	.key_offset	= offsetof(struct uet_pdc, key),
	.head_offset	= offsetof(struct uet_pdc, key_node),
	.automatic_shrinking = true,
};

static const struct rhashtable_params uet_flow_params = {
	.key_len	= sizeof(struct uet_flow_key),
	.key_offset	= offsetof(struct uet_pdc, flow),
	.head_offset	= offsetof(struct uet_pdc, flow_node),
	.automatic_shrinking = true,
};

static void uet_pdc_free_rcu(struct rcu_head *rcu)
{
	struct uet_pdc *pdc = container_of(rcu, struct uet_pdc, rcu);

	uet_path_put(pdc->path);
	kfree(pdc->tx.ring);
	kmem_cache_free(uet_pdc_cache, pdc);
}

static void uet_pdc_free_work(struct work_struct *work)
{
	struct uet_pdc *pdc = container_of(work, struct uet_pdc, free_work);

	uet_pdc_timer_stop(pdc);
	kfree(pdc->rx.spare);
	atomic_dec(&pdc->fep->npdc);
	call_rcu(&pdc->rcu, uet_pdc_free_rcu);
}

static void uet_rxside_init(struct uet_rxside *rx, u32 start)
{
	uet_rxwin_init(&rx->win, start, UET_PDC_WINDOW);
	rx->deliver = start;
	rx->clear = start - 1;
	rx->ack_owed = false;
	rx->ack_bytes = 0;
	rx->told = false;
}

static struct uet_pdc *uet_pdc_alloc(struct uet_fep *fep, struct uet_path *path,
				     u32 start)
{
	struct uet_pdc *pdc = kmem_cache_zalloc(uet_pdc_cache, GFP_ATOMIC);

	if (!pdc)
		return NULL;
	if (uet_tx_init(&pdc->tx, start)) {
		kmem_cache_free(uet_pdc_cache, pdc);
		return NULL;
	}
	pdc->fep = fep;
	pdc->path = path;
	spin_lock_init(&pdc->lock);
	pdc->sport = htons(get_random_u16() | 0x8000);
	pdc->budget_ns = UET_BUDGET_NS;
	INIT_LIST_HEAD(&pdc->msgs);
	INIT_LIST_HEAD(&pdc->waiting);
	INIT_LIST_HEAD(&pdc->rdrsps);
	INIT_LIST_HEAD(&pdc->cancels);
	INIT_LIST_HEAD(&pdc->inbound);
	INIT_LIST_HEAD(&pdc->rx.resps);
	__skb_queue_head_init(&pdc->rx.ooo);
	uet_rxside_init(&pdc->rx, start);
	INIT_WORK(&pdc->free_work, uet_pdc_free_work);
	uet_pdc_timer_init(pdc);
	pdc->last_rx = ktime_get();
	pdc->cc.ops = &uet_cc_fixed;
	pdc->cc.ops->init(&pdc->cc, pdc->mtu);
	return pdc;
}

/* Never inserted anywhere. */
static void uet_pdc_discard(struct uet_pdc *pdc)
{
	kfree(pdc->tx.ring);
	kmem_cache_free(uet_pdc_cache, pdc);
}

/*
 * Give @pdc a PDCID, by which nobody finds it yet. Numbers go round, so that one is
 * not used again soon after its PDC is closed (3.1).
 */
static int uet_pdc_number(struct uet_fep *fep, struct uet_pdc *pdc)
{
	u32 id;
	int err;

	if (atomic_inc_return(&fep->npdc) > READ_ONCE(fep->params.pdc_max)) {
		atomic_dec(&fep->npdc);
		return -ENOSPC;
	}
	err = xa_alloc_cyclic_bh(&fep->pdcs, &id, NULL, XA_LIMIT(1, U16_MAX),
				 &fep->pdc_next, GFP_ATOMIC);
	if (err < 0) {
		atomic_dec(&fep->npdc);
		return err;
	}
	pdc->id = id;
	return 0;
}

/* The room for it was made with the number. */
static void uet_pdc_publish(struct uet_fep *fep, struct uet_pdc *pdc)
{
	xa_store_bh(&fep->pdcs, pdc->id, pdc, GFP_ATOMIC);
}

/**
 * uet_pdc_open - open a PDC to a peer
 * @fep: fabric endpoint
 * @path: where to; the PDC takes a reference of its own
 * @ep: UET_EP_ROD endpoint it is for, or NULL for RUD
 * @err: set when NULL is returned: enum uet_status
 *
 * Nothing is sent: the first request opens it at the peer (0-RTT).
 *
 * Context: BHs off, RCU read side.
 *
 * Return: the PDC, not locked, or NULL.
 */
struct uet_pdc *uet_pdc_open(struct uet_fep *fep, struct uet_path *path,
			     struct uet_ep *ep, int *err)
{
	u32 mtu = uet_path_payload_mtu(path);
	struct uet_pdc *pdc;

	if (!mtu) {
		*err = UET_ST_UNREACH;
		return NULL;
	}
	*err = UET_ST_NO_RESOURCE;
	if (READ_ONCE(fep->closing))
		return NULL;
	pdc = uet_pdc_alloc(fep, path, get_random_u32());
	if (!pdc)
		return NULL;
	pdc->mtu = mtu;
	pdc->cc.ops->init(&pdc->cc, mtu);
	pdc->initiator = true;
	pdc->rod = ep;
	pdc->ep = ep;
	pdc->state = UET_PDC_SYN;
	if (ep)
		pdc->budget_ns = READ_ONCE(ep->conn.budget_ns);
	pdc->flow.src = path->attr.src;
	pdc->flow.dst = path->attr.dst;
	pdc->flow.dscp = uet_path_dscp(path);
	if (uet_pdc_number(fep, pdc)) {
		uet_pdc_discard(pdc);
		return NULL;
	}
	uet_path_get(path);
	uet_pdc_publish(fep, pdc);
	if (!ep && rhltable_insert(&fep->initiators, &pdc->flow_node,
				   uet_flow_params)) {
		struct uet_defer d;

		/* Nobody has seen it, so nothing is collected. */
		uet_defer_init(&d);
		pdc->rod = true;
		spin_lock(&pdc->lock);
		uet_pdc_kill(pdc, UET_ST_NO_RESOURCE, &d);
		spin_unlock(&pdc->lock);
		return NULL;
	}
	uet_stat_inc(fep, UET_STAT_PDC_OPENED);
	uet_pdc_expect(pdc, UET_EV_IDLE,
		       READ_ONCE(fep->params.pdc_idle_ms) * NSEC_PER_MSEC);
	return pdc;
}

static void uet_pdc_make_key(struct uet_pdc_key *key, const struct uet_rx *rx,
			     u16 spdcid)
{
	memset(key, 0, sizeof(*key));
	key->src = rx->hdr.src;
	key->dst = rx->hdr.dst;
	key->spdcid = spdcid;
}

static struct uet_path *uet_pdc_reply_path(struct uet_fep *fep,
					   const struct uet_rx *rx)
{
	struct uet_path_attr attr = {
		.src = rx->hdr.dst,
		.dst = rx->hdr.src,
		.tclass = rx->hdr.tclass,
	};

	if (ipv6_addr_type(&attr.dst) & IPV6_ADDR_LINKLOCAL)
		attr.scope = fep->dev->ifindex;
	return uet_path_create(fep, &attr, GFP_ATOMIC);
}

/**
 * uet_pdc_accept - a SYN of an unknown PDC came
 * @fep: fabric endpoint
 * @rx: packet addresses
 * @pkt: the request, of type RUD or ROD, or a NOOP control packet
 * @nack: set when NULL is returned: what to answer
 *
 * Context: softirq, RCU read side.
 *
 * Return: the PDC, not locked, new or just accepted by another CPU; or NULL.
 */
struct uet_pdc *uet_pdc_accept(struct uet_fep *fep, const struct uet_rx *rx,
			       const struct uet_pkt *pkt, u8 *nack)
{
	struct uet_path *path;
	struct uet_pdc *pdc, *old;

	*nack = UET_NACK_NO_PDC_AVAIL;
	if (READ_ONCE(fep->closing))
		return NULL;
	path = uet_pdc_reply_path(fep, rx);
	if (IS_ERR(path))
		return NULL;
	pdc = uet_pdc_alloc(fep, path, pkt->psn - pkt->psn_offset);
	if (!pdc)
		goto put_path;
	pdc->mtu = uet_path_payload_mtu(path) ?: UET_PAYLOAD_MTU_MIN;
	pdc->cc.ops->init(&pdc->cc, pdc->mtu);
	pdc->rod = pkt->type == UET_PDS_ROD || pkt->type == UET_PDS_ROD_CC ||
		   (pkt->type == UET_PDS_CP && pkt->flags & UET_CP_ISROD);
	pdc->state = UET_PDC_ESTABLISHED;
	pdc->peer_id = pkt->spdcid;
	uet_pdc_make_key(&pdc->key, rx, pkt->spdcid);
	if (uet_pdc_number(fep, pdc))
		goto discard;

	/* Locked, so that who finds it in one table does not end it before both. */
	spin_lock(&pdc->lock);
	old = rhashtable_lookup_get_insert_fast(&fep->targets, &pdc->key_node,
						uet_target_params);
	if (!old)
		uet_pdc_publish(fep, pdc);
	spin_unlock(&pdc->lock);
	if (old) {
		/* Another CPU accepted a packet of the same PDC, or no memory */
		xa_erase_bh(&fep->pdcs, pdc->id);
		atomic_dec(&fep->npdc);
		if (IS_ERR(old))
			goto discard;
		uet_pdc_discard(pdc);
		uet_path_put(path);
		return old;
	}
	uet_stat_inc(fep, UET_STAT_PDC_ACCEPTED);
	return pdc;

discard:
	uet_pdc_discard(pdc);
put_path:
	uet_path_put(path);
	return NULL;
}

/**
 * uet_pdc_find - by the PDCID that we gave it
 * @fep: fabric endpoint
 * @id: dpdcid of a packet
 *
 * Context: RCU read side. The caller checks spdcid and addresses.
 *
 * Return: the PDC, or NULL.
 */
struct uet_pdc *uet_pdc_find(struct uet_fep *fep, u16 id)
{
	return xa_load(&fep->pdcs, id);
}

/**
 * uet_pdc_find_target - by address and the peer's PDCID (SYN packets)
 * @fep: fabric endpoint
 * @rx: packet addresses
 * @spdcid: of the packet
 *
 * Context: RCU read side.
 *
 * Return: the PDC, or NULL.
 */
struct uet_pdc *uet_pdc_find_target(struct uet_fep *fep,
				    const struct uet_rx *rx, u16 spdcid)
{
	struct uet_pdc_key key;

	uet_pdc_make_key(&key, rx, spdcid);
	return rhashtable_lookup_fast(&fep->targets, &key, uet_target_params);
}

/**
 * uet_pdc_pick - the RUD PDC for a message
 * @fep: fabric endpoint
 * @path: where to
 * @len: bytes of the message
 * @err: set when NULL is returned: enum uet_status
 *
 * The first that would not delay the message, so that messages which follow one
 * another go the same way. If all would, another one is opened, up to a limit;
 * then it is the one with least to send. One of them is kept free of long
 * messages.
 *
 * Context: BHs off, RCU read side. The PDC is not locked and may be dead by
 * the time the caller has locked it.
 *
 * Return: the PDC, or NULL if there is none and none can be opened.
 */
struct uet_pdc *uet_pdc_pick(struct uet_fep *fep, struct uet_path *path,
			     u32 len, int *err)
{
	struct uet_flow_key key = {
		.src = path->attr.src,
		.dst = path->attr.dst,
		.dscp = uet_path_dscp(path),
	};
	struct uet_pdc *pdc, *best = NULL, *brief = NULL;
	bool is_short = len < UET_FLOW_BUSY, may_open;
	struct rhlist_head *list, *pos;
	u64 queued, least = U64_MAX;
	unsigned int n = 0;

	list = rhltable_lookup(&fep->initiators, &key, uet_flow_params);
	rhl_for_each_entry_rcu(pdc, pos, list, flow_node) {
		enum uet_pdc_state state = READ_ONCE(pdc->state);

		if (state != UET_PDC_SYN && state != UET_PDC_ESTABLISHED)
			continue;
		if (READ_ONCE(pdc->brief)) {
			brief = pdc;
			if (!is_short)
				continue;
		} else {
			n++;
		}
		queued = READ_ONCE(pdc->queued);
		if (queued < UET_FLOW_BUSY)
			return pdc;
		if (queued < least) {
			least = queued;
			best = pdc;
		}
	}
	may_open = n < UET_FLOW_PDCS || (is_short && !brief);
	if (best && !may_open)
		return best;
	pdc = uet_pdc_open(fep, path, NULL, err);
	if (!pdc)
		return best ?: brief;
	if (best && is_short && !brief)
		WRITE_ONCE(pdc->brief, true);
	return pdc;
}

static void uet_pdc_unpublish(struct uet_pdc *pdc)
{
	struct uet_fep *fep = pdc->fep;

	xa_erase_bh(&fep->pdcs, pdc->id);
	if (!pdc->initiator)
		rhashtable_remove_fast(&fep->targets, &pdc->key_node,
				       uet_target_params);
	else if (!pdc->rod)
		rhltable_remove(&fep->initiators, &pdc->flow_node,
				uet_flow_params);
}

/**
 * uet_pdc_fail_msgs - end all messages, in order
 * @pdc: locked; nothing of them is in flight, or will be answered
 * @status: enum uet_status
 * @d: collector
 */
void uet_pdc_fail_msgs(struct uet_pdc *pdc, int status, struct uet_defer *d)
{
	struct uet_msg *msg, *tmp;

	list_splice_init(&pdc->waiting, &pdc->msgs);
	pdc->cur = NULL;
	list_for_each_entry_safe(msg, tmp, &pdc->msgs, node)
		uet_msg_finish(pdc, msg, status, d);
}

static void uet_pdc_drop_tx(struct uet_pdc *pdc)
{
	struct uet_rdrsp *rd, *tmp;
	struct uet_cancel *c, *c_tmp;
	struct uet_tx *tx = &pdc->tx;

	for (; tx->una != tx->next; tx->una++)
		uet_desc_free(uet_tx_desc(tx, tx->una));
	list_for_each_entry_safe(c, c_tmp, &pdc->cancels, node)
		kfree(c);
	INIT_LIST_HEAD(&pdc->cancels);
	list_for_each_entry_safe(rd, tmp, &pdc->rdrsps, node)
		uet_rdrsp_free(rd);
	INIT_LIST_HEAD(&pdc->rdrsps);
	pdc->nr_rdrsps = 0;
}

/**
 * uet_pdc_leave_ep - the endpoint gets another PDC for its next message
 * @pdc: locked
 */
void uet_pdc_leave_ep(struct uet_pdc *pdc)
{
	if (pdc->ep)
		uet_ep_drop_pdc(pdc->ep, pdc);
	pdc->ep = NULL;
}

/**
 * uet_pdc_kill - end a PDC at once
 * @pdc: locked; dead already is fine
 * @status: enum uet_status for messages that are not finished
 * @d: collector
 *
 * Context: BHs off, PDC lock held. Nothing is sent.
 */
void uet_pdc_kill(struct uet_pdc *pdc, int status, struct uet_defer *d)
{
	if (pdc->state == UET_PDC_DEAD)
		return;
	WRITE_ONCE(pdc->state, UET_PDC_DEAD);
	uet_pdc_fail_msgs(pdc, status, d);
	uet_pdc_drop_tx(pdc);
	uet_rxside_drop(pdc, d);
	/* Last: who finds the PDC until now waits for the above. */
	uet_pdc_leave_ep(pdc);
	uet_pdc_unpublish(pdc);
	queue_work(uet_wq, &pdc->free_work);
}

/**
 * uet_pdc_rename - begin again with another PDCID
 * @pdc: locked initiator none of whose packets in flight was executed
 *
 * For when the target does not know the PDC any more, or still has an old one
 * of that number. What is in flight becomes the start of the new PDC.
 *
 * Return: false if that is not possible.
 */
bool uet_pdc_rename(struct uet_pdc *pdc)
{
	struct uet_fep *fep = pdc->fep;
	struct uet_tx *tx = &pdc->tx;
	u16 old = pdc->id;
	u32 psn, id;

	if (xa_alloc_cyclic_bh(&fep->pdcs, &id, pdc, XA_LIMIT(1, U16_MAX),
			       &fep->pdc_next, GFP_ATOMIC) < 0)
		return false;
	pdc->id = id;
	if (id < old) {
		atomic_inc(&fep->moved_back);
		/* Pairs with uet_ep_abort_all(). */
		smp_mb__after_atomic();
	}
	xa_erase_bh(&fep->pdcs, old);

	WRITE_ONCE(pdc->state, UET_PDC_SYN);
	pdc->peer_id = 0;
	tx->start = tx->una;
	tx->cack = tx->una - 1;
	tx->sack_high = tx->cack;
	tx->mpr = UET_PDC_WINDOW_UNKNOWN;
	tx->rack_valid = false;
	tx->clear_owed = false;
	uet_rxside_init(&pdc->rx, tx->start);
	for (psn = tx->una; psn != tx->next; psn++) {
		uet_tx_desc(tx, psn)->flags |= UET_DESC_SYN;
		uet_pdc_mark_lost(pdc, psn);
	}
	return true;
}

/**
 * uet_pdc_kill_all - end every PDC and wait until they are freed
 * @fep: with @closing set and no packet coming in
 *
 * Context: process.
 */
void uet_pdc_kill_all(struct uet_fep *fep)
{
	struct uet_pdc *pdc;
	struct uet_defer d;
	unsigned long id;

	uet_defer_init(&d);
	rcu_read_lock();
	xa_for_each(&fep->pdcs, id, pdc) {
		spin_lock_bh(&pdc->lock);
		uet_pdc_kill(pdc, UET_ST_FLUSHED, &d);
		spin_unlock_bh(&pdc->lock);
	}
	rcu_read_unlock();
	uet_defer_run(&d);
	/* Those that were ended elsewhere, by a timer: until their works are queued. */
	synchronize_rcu();
	flush_workqueue(uet_wq);
}

/**
 * uet_fep_pdc_next - list PDCs
 * @fep: fabric endpoint
 * @pos: where to go on; 0 at first, moves behind what is returned
 * @info: filled in
 *
 * Context: process.
 * Return: 0, or -ENOENT behind the last one.
 */
int uet_fep_pdc_next(struct uet_fep *fep, u32 *pos, struct uet_pdc_info *info)
{
	static const char * const states[] = {
		[UET_PDC_SYN]		= "syn",
		[UET_PDC_ESTABLISHED]	= "established",
		[UET_PDC_CLOSE_WAIT]	= "close-wait",
		[UET_PDC_DEAD]		= "dead",
	};
	unsigned long id = *pos;
	struct uet_pdc *pdc;

	rcu_read_lock();
	pdc = xa_find(&fep->pdcs, &id, U16_MAX, XA_PRESENT);
	if (!pdc) {
		rcu_read_unlock();
		return -ENOENT;
	}
	spin_lock_bh(&pdc->lock);
	*info = (struct uet_pdc_info) {
		.id = id,
		.peer_id = pdc->peer_id,
		.initiator = pdc->initiator,
		.rod = pdc->rod,
		.state = states[pdc->state],
		.src = pdc->path->attr.src,
		.dst = pdc->path->attr.dst,
		.dscp = uet_path_dscp(pdc->path),
		.payload_mtu = pdc->mtu,
		.tx_psn = pdc->tx.next,
		.tx_una = pdc->tx.una,
		.rx_cack = uet_rxwin_cack(&pdc->rx.win),
		.srtt_us = pdc->tx.srtt_ns / NSEC_PER_USEC,
		.window = min(pdc->tx.mpr, pdc->cc.max_packets),
		.retx = pdc->tx.retx,
		.tx_bytes = pdc->tx.bytes,
		.rx_bytes = pdc->rx.bytes,
	};
	spin_unlock_bh(&pdc->lock);
	rcu_read_unlock();
	*pos = id + 1;
	return 0;
}
EXPORT_SYMBOL_GPL(uet_fep_pdc_next);

/* Tables of a fabric endpoint. */
int uet_pdc_tables_init(struct uet_fep *fep)
{
	int err;

	xa_init_flags(&fep->pdcs, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_BH);
	fep->pdc_next = get_random_u16();
	err = rhashtable_init(&fep->targets, &uet_target_params);
	if (err)
		return err;
	err = rhltable_init(&fep->initiators, &uet_flow_params);
	if (err)
		rhashtable_destroy(&fep->targets);
	return err;
}

void uet_pdc_tables_exit(struct uet_fep *fep)
{
	rhltable_destroy(&fep->initiators);
	rhashtable_destroy(&fep->targets);
	xa_destroy(&fep->pdcs);
}

int __init uet_pdc_cache_init(void)
{
	uet_pdc_cache = KMEM_CACHE(uet_pdc, 0);
	return uet_pdc_cache ? 0 : -ENOMEM;
}

void uet_pdc_cache_exit(void)
{
	/* PDCs are freed by RCU callbacks of ours. */
	rcu_barrier();
	kmem_cache_destroy(uet_pdc_cache);
}
