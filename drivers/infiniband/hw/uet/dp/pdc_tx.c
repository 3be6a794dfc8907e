// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The sending half of a PDC: messages and read data become packets while the
 * window allows. What is remembered of a packet is a descriptor; a resend
 * builds the packet again from memory.
 */
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "burst.h"
#include "ep.h"
#include "pdc.h"

#define UET_TX_RING_MIN		16
/* What a packet weighs in the window beside its payload. */
#define UET_TX_PKT_COST		64
/* Packets between two pauses once the queues below were full, at first. */
#define UET_TX_CAP		8
/* More than this is no limit. */
#define UET_TX_CAP_MAX		64

/**
 * uet_tx_init - start a sender
 * @tx: zeroed
 * @start: Start_PSN
 *
 * Return: 0 or -ENOMEM.
 */
int uet_tx_init(struct uet_tx *tx, u32 start)
{
	tx->ring = kcalloc(UET_TX_RING_MIN, sizeof(*tx->ring), GFP_ATOMIC);
	if (!tx->ring)
		return -ENOMEM;
	tx->mask = UET_TX_RING_MIN - 1;
	tx->start = start;
	tx->next = start;
	tx->una = start;
	tx->cack = start - 1;
	tx->sack_high = start - 1;
	tx->mpr = UET_PDC_WINDOW_UNKNOWN;
	return 0;
}

/* Room for one more descriptor. */
static bool uet_tx_grow(struct uet_tx *tx)
{
	u32 n = tx->mask + 1, psn;
	struct uet_desc *ring;

	if (tx->next - tx->una < n)
		return true;
	if (n >= UET_PDC_WINDOW)
		return false;
	ring = kcalloc(2 * n, sizeof(*ring), GFP_ATOMIC | __GFP_NOWARN);
	if (!ring)
		return false;
	for (psn = tx->una; psn != tx->next; psn++)
		ring[psn & (2 * n - 1)] = tx->ring[psn & tx->mask];
	kfree(tx->ring);
	tx->ring = ring;
	tx->mask = 2 * n - 1;
	return true;
}

/**
 * uet_pdc_send - send a packet without PSN state: ACK, NACK, CP
 * @pdc: locked
 * @pkt: what to say
 * @data: payload behind the headers
 * @len: its bytes, at most UET_ACK_DATA_MAX
 * @sport: entropy value
 * @d: collector
 */
void uet_pdc_send(struct uet_pdc *pdc, const struct uet_pkt *pkt,
		  const void *data, unsigned int len, __be16 sport,
		  struct uet_defer *d)
{
	struct uet_payload pl = { .data = data, .len = len };
	struct uet_burst b;

	uet_burst_init(&b, pdc->path, sport, true, d);
	if (uet_burst_add(&b, pkt, &pl))
		uet_stat_inc(pdc->fep, UET_STAT_DROP_TX);
	uet_burst_flush(&b);
}

/**
 * uet_pdc_send_ctl - send a control packet that uses no PSN of its own
 * @pdc: locked
 * @ctl: enum uet_ctl_type
 * @psn: psn field
 * @payload: payload field
 * @d: collector
 */
void uet_pdc_send_ctl(struct uet_pdc *pdc, u8 ctl, u32 psn, u32 payload,
		      struct uet_defer *d)
{
	struct uet_pkt pkt = {
		.type = UET_PDS_CP,
		.ctl = ctl,
		.psn = psn,
		.spdcid = pdc->id,
		.dpdcid = pdc->peer_id,
		.payload32 = payload,
	};

	if (!pdc->peer_id)
		return;
	uet_stat_inc(pdc->fep, UET_STAT_TX_CPS);
	uet_pdc_send(pdc, &pkt, NULL, 0, pdc->sport, d);
}

/* ------------------------------------------------------------------ */
/* Descriptors to packets                                              */

static bool uet_msg_wants_data(const struct uet_msg *msg)
{
	return msg->op == UET_OP_READ || msg->op == UET_OP_FETCHING_ATOMIC;
}

/*
 * The bytes of memory that the packet of @desc carries; READs and atomics
 * only ask for some.
 */
static u32 uet_desc_payload(const struct uet_desc *desc)
{
	if (desc->kind == UET_DESC_RDRSP)
		return desc->len;
	if (desc->kind == UET_DESC_REQ && !uet_msg_wants_data(desc->msg))
		return desc->len;
	return 0;
}

/* What a packet weighs in the congestion window. */
u32 uet_desc_cost(const struct uet_desc *desc)
{
	return uet_desc_payload(desc) + UET_TX_PKT_COST;
}

static void uet_desc_head(const struct uet_pdc *pdc, u32 psn,
			  const struct uet_desc *desc, bool ar,
			  struct uet_pkt *pkt)
{
	const struct uet_tx *tx = &pdc->tx;

	pkt->psn = psn;
	pkt->clear_psn = tx->una - 1;
	pkt->spdcid = pdc->id;
	if (desc->flags & UET_DESC_SYN) {
		pkt->flags |= UET_REQ_SYN;
		pkt->psn_offset = psn - tx->start;
	} else {
		pkt->dpdcid = pdc->peer_id;
	}
	if (desc->retx)
		pkt->flags |= UET_REQ_RETX;
	if (ar || desc->retx)
		pkt->flags |= UET_REQ_AR;
	if (desc->kind == UET_DESC_CLOSE) {
		pkt->type = UET_PDS_CP;
		pkt->ctl = UET_CTL_CLOSE_COMMAND;
	} else {
		pkt->type = pdc->rod ? UET_PDS_ROD : UET_PDS_RUD;
	}
}

/* What is stored is read when it leaves, as that of a WRITE is. */
static int uet_desc_operand(const struct uet_msg *msg, u8 *operand)
{
	u64 val = msg->amo_operand;
	int err = 0;

	if (msg->op == UET_OP_ATOMIC)
		err = uet_sge_copy(msg->sge, msg->nr_sge, 0, &val, sizeof(val));
	put_unaligned_be64(val, operand);
	return err;
}

static int uet_desc_body(const struct uet_desc *desc, u8 *operand,
			 struct uet_payload *pl)
{
	const struct uet_msg *msg = desc->msg;

	pl->len = uet_desc_payload(desc);
	if (desc->kind == UET_DESC_RDRSP) {
		if (pl->len && !READ_ONCE(desc->rdrsp->ep))
			return -ECANCELED;
		pl->sge = &desc->rdrsp->sge;
		pl->nr_sge = 1;
	}
	if (desc->kind != UET_DESC_REQ)
		return 0;
	if (uet_msg_is_amo(msg)) {
		if (msg->amo_op == UET_AMO_CSWAP)
			return 0;
		pl->data = operand;
		pl->len = sizeof(u64);
		return uet_desc_operand(msg, operand);
	}
	if (pl->len) {
		pl->sge = msg->sge;
		pl->nr_sge = msg->nr_sge;
		pl->off = desc->offset;
	}
	return 0;
}

static int uet_desc_build(struct uet_pdc *pdc, u32 psn,
			  const struct uet_desc *desc, bool ar,
			  struct uet_burst *b)
{
	struct uet_payload pl = {};
	struct uet_pkt pkt = {};
	u8 operand[sizeof(u64)];
	int err;

	uet_desc_head(pdc, psn, desc, ar, &pkt);
	switch (desc->kind) {
	case UET_DESC_REQ:
		uet_ses_fill(desc->msg, &pkt, desc->offset, desc->len,
			     desc->gen,
			     uet_ses_msg_id(psn - pdc->tx.start));
		break;
	case UET_DESC_RDRSP:
		uet_ses_fill_rdrsp(desc->rdrsp, &pkt);
		break;
	case UET_DESC_ORPHAN:
		uet_ses_fill_orphan(&pkt);
		break;
	case UET_DESC_CANCEL:
		uet_ses_fill_cancel(desc->cancel, &pkt);
		pkt.req.ri_gen = desc->gen;
		break;
	}
	err = uet_desc_body(desc, operand, &pl);
	return err ?: uet_burst_add(b, &pkt, &pl);
}

/* A packet in flight carries less than it did; @was is what it weighed. */
static void uet_desc_lighter(struct uet_pdc *pdc, const struct uet_desc *desc,
			     u32 was)
{
	if (desc->flags & (UET_DESC_LOST | UET_DESC_RECEIVED))
		return;
	pdc->cc.ops->lost(&pdc->cc, was);
	pdc->cc.ops->sent(&pdc->cc, uet_desc_cost(desc));
}

/*
 * The memory of a packet is gone, or the endpoint that it is read for. Its PSN must
 * still be used up: read data becomes an error response, and requests, whose message
 * fails, a NO_OP; or, ordered, a MSG_ERROR, so that the target does not execute what
 * is behind without it. The target may have the packet all the same, so if the message
 * was not sent to its end, another MSG_ERROR takes the place of the rest.
 *
 * Return: 0, or -ENOMEM: nothing has changed.
 */
static int uet_desc_orphan(struct uet_pdc *pdc, struct uet_desc *desc,
			   struct uet_defer *d)
{
	struct uet_cancel *cancel = NULL, *rest = NULL;
	struct uet_msg *msg = desc->msg;
	u32 was = uet_desc_cost(desc);

	if (desc->kind == UET_DESC_RDRSP) {
		desc->len = 0;
		desc->rdrsp->sge.len = 0;
		desc->rdrsp->rc = READ_ONCE(desc->rdrsp->ep) ?
				  UET_RC_BAD_MKEY : UET_RC_DISABLED;
		uet_desc_lighter(pdc, desc, was);
		return 0;
	}
	if (pdc->rod) {
		cancel = uet_ses_give_up(msg);
		if (!msg->all_sent)
			rest = uet_ses_give_up(msg);
		if (!cancel || (!msg->all_sent && !rest)) {
			kfree(cancel);
			kfree(rest);
			return -ENOMEM;
		}
	}
	desc->cancel = cancel;
	desc->kind = cancel ? UET_DESC_CANCEL : UET_DESC_ORPHAN;
	desc->flags &= ~UET_DESC_WAIT_DATA;
	uet_desc_lighter(pdc, desc, was);
	msg->pending--;
	if (!pdc->rod && msg->status != UET_ST_PROT)
		uet_ses_cancel(pdc, msg);
	msg->status = UET_ST_PROT;
	if (rest)
		list_add_tail(&rest->node, &pdc->cancels);
	if (!msg->all_sent) {
		msg->all_sent = true;
		uet_pdc_pass(pdc, msg);
	}
	if (!msg->pending)
		uet_msg_finish(pdc, msg, msg->status, d);
	return 0;
}

static void uet_desc_xmit(struct uet_pdc *pdc, u32 psn, bool ar,
			  struct uet_burst *b)
{
	struct uet_desc *desc = uet_tx_desc(&pdc->tx, psn);
	int err;

	err = uet_desc_build(pdc, psn, desc, ar, b);
	if (err && err != -ENOMEM && err != -EAGAIN) {
		err = uet_desc_orphan(pdc, desc, b->d) ?:
		      uet_desc_build(pdc, psn, desc, ar, b);
	}
	/* One for the burst: the clock may cost as much as a packet's headers. */
	if (!b->stamp)
		b->stamp = uet_stamp(ktime_get());
	desc->stamp = b->stamp;
	if (err) {
		/* No memory, for now: as if it got lost, and soon sent again. */
		if (err == -ENOMEM)
			uet_stat_inc(pdc->fep, UET_STAT_DROP_TX);
		uet_pdc_mark_lost(pdc, psn);
		pdc->paused = true;
		uet_pdc_expect(pdc, UET_EV_RESUME, err == -EAGAIN ?
			       UET_PAGE_NS : UET_NACK_RETX_NS);
	} else if (desc->kind != UET_DESC_CLOSE) {
		pdc->tx.clear_owed = false;
	}
}

/**
 * uet_desc_free - let go of what only this packet needed
 * @desc: never sent again
 */
void uet_desc_free(struct uet_desc *desc)
{
	if (desc->kind == UET_DESC_RDRSP)
		uet_rdrsp_free(desc->rdrsp);
	else if (desc->kind == UET_DESC_CANCEL)
		kfree(desc->cancel);
}

/**
 * uet_pdc_mark_lost - a packet has to be sent again
 * @pdc: locked
 * @psn: in flight; nothing happens if the peer is known to have it
 */
void uet_pdc_mark_lost(struct uet_pdc *pdc, u32 psn)
{
	struct uet_desc *desc = uet_tx_desc(&pdc->tx, psn);

	if (desc->flags & (UET_DESC_RECEIVED | UET_DESC_ANSWERED |
			   UET_DESC_LOST))
		return;
	desc->flags |= UET_DESC_LOST;
	pdc->tx.lost++;
	pdc->cc.ops->lost(&pdc->cc, uet_desc_cost(desc));
}

/*
 * Build nothing more for a while. Nobody tells when the queues below are
 * empty, so a timer asks.
 */
static void uet_pdc_pause(struct uet_pdc *pdc)
{
	if (pdc->paused)
		return;
	uet_stat_inc(pdc->fep, UET_STAT_TX_PAUSED);
	pdc->paused = true;
	/* Messages that wait for a receive buffer must not go out early. */
	if (pdc->deadline[UET_EV_RESUME] == KTIME_MAX)
		uet_pdc_expect(pdc, UET_EV_RESUME, UET_NACK_RETX_NS);
}

/*
 * A queue that was full would refuse most of a window again, so that building
 * it is work for nothing. Few packets leave between two pauses then: half as
 * many each time they are refused, else twice as many until it does not matter.
 */
static void uet_tx_lower_cap(struct uet_tx *tx)
{
	if (!tx->refused)
		tx->cap = tx->cap ? max(tx->cap / 2, 1) : UET_TX_CAP;
	tx->refused = true;
}

/**
 * uet_tx_raise_cap - a pause is over
 * @tx: sender
 */
void uet_tx_raise_cap(struct uet_tx *tx)
{
	if (!tx->refused)
		tx->cap = tx->cap > UET_TX_CAP_MAX / 2 ? 0 : 2 * tx->cap;
	tx->refused = false;
	tx->used = 0;
}

/* One packet is about to leave. */
static void uet_pdc_use_cap(struct uet_pdc *pdc)
{
	if (pdc->tx.cap && ++pdc->tx.used >= pdc->tx.cap)
		uet_pdc_pause(pdc);
}

/**
 * uet_pdc_backed_up - the queues of this host are full
 * @fep: fabric endpoint
 * @pdcid: local PDCID
 * @psn: first of the packets that did not get into them
 * @lost: how many those are
 *
 * They are sent again after a pause, and nobody waits for their ACKs.
 *
 * Context: process or softirq, no engine lock held.
 */
void uet_pdc_backed_up(struct uet_fep *fep, u16 pdcid, u32 psn, u32 lost)
{
	struct uet_pdc *pdc;

	rcu_read_lock();
	pdc = uet_pdc_find(fep, pdcid);
	if (!pdc)
		goto unlock;
	spin_lock_bh(&pdc->lock);
	if (pdc->state != UET_PDC_DEAD) {
		for (; lost; lost--, psn++)
			if (uet_tx_holds(&pdc->tx, psn))
				uet_pdc_mark_lost(pdc, psn);
		uet_tx_lower_cap(&pdc->tx);
		uet_pdc_pause(pdc);
	}
	spin_unlock_bh(&pdc->lock);
unlock:
	rcu_read_unlock();
}

/* Lost packets go first, lowest PSN first. */
static void uet_pdc_resend(struct uet_pdc *pdc, struct uet_burst *b)
{
	struct uet_tx *tx = &pdc->tx;
	u32 psn;

	for (psn = tx->una; tx->lost && psn != tx->next; psn++) {
		struct uet_desc *desc = uet_tx_desc(tx, psn);

		if (!(desc->flags & UET_DESC_LOST))
			continue;
		if (pdc->paused ||
		    !pdc->cc.ops->may_send(&pdc->cc, uet_desc_cost(desc), 1))
			return;
		desc->flags &= ~UET_DESC_LOST;
		tx->lost--;
		tx->retx++;
		if (desc->retx < U8_MAX)
			desc->retx++;
		pdc->cc.ops->sent(&pdc->cc, uet_desc_cost(desc));
		uet_pdc_use_cap(pdc);
		uet_desc_xmit(pdc, psn, true, b);
	}
}

/* ------------------------------------------------------------------ */
/* New packets                                                         */

static u32 uet_pdc_next_len(const struct uet_pdc *pdc)
{
	if (!list_empty(&pdc->cancels))
		return 0;
	if (!list_empty(&pdc->rdrsps))
		return list_first_entry(&pdc->rdrsps, struct uet_rdrsp,
					node)->sge.len;
	return min(pdc->mtu, pdc->cur->len - pdc->cur->sent);
}

static bool uet_pdc_has_next(const struct uet_pdc *pdc)
{
	if (!list_empty(&pdc->rdrsps) || !list_empty(&pdc->cancels))
		return true;
	return pdc->cur && !pdc->rewind;
}

static bool uet_pdc_can_send(struct uet_pdc *pdc)
{
	struct uet_tx *tx = &pdc->tx;

	if (!uet_pdc_has_next(pdc) || pdc->paused || tx->lost ||
	    (pdc->probe && tx->una != tx->next))
		return false;
	if (pdc->state != UET_PDC_ESTABLISHED &&
	    (pdc->state != UET_PDC_SYN ||
	     tx->next - tx->start > UET_PSN_OFFSET_MAX))
		return false;
	return tx->next - tx->cack <= tx->mpr &&
	       pdc->cc.ops->may_send(&pdc->cc, uet_pdc_next_len(pdc) +
				     UET_TX_PKT_COST, 1) &&
	       uet_tx_grow(tx);
}

static struct uet_desc *uet_tx_new(struct uet_pdc *pdc, u8 kind)
{
	struct uet_tx *tx = &pdc->tx;
	struct uet_desc *desc;

	if (tx->una == tx->next) {
		tx->progress = ktime_get();
		tx->backoff = 0;
	}
	desc = uet_tx_desc(tx, tx->next++);
	memset(desc, 0, sizeof(*desc));
	desc->kind = kind;
	if (pdc->state == UET_PDC_SYN)
		desc->flags |= UET_DESC_SYN;
	return desc;
}

static void uet_pdc_take_rdrsp(struct uet_pdc *pdc)
{
	struct uet_desc *desc = uet_tx_new(pdc, UET_DESC_RDRSP);

	desc->rdrsp = list_first_entry(&pdc->rdrsps, struct uet_rdrsp, node);
	list_del_init(&desc->rdrsp->node);
	pdc->nr_rdrsps--;
	desc->len = desc->rdrsp->sge.len;
	pdc->queued -= desc->len;
}

static void uet_pdc_take_cancel(struct uet_pdc *pdc)
{
	struct uet_desc *desc = uet_tx_new(pdc, UET_DESC_CANCEL);

	desc->cancel = list_first_entry(&pdc->cancels, struct uet_cancel, node);
	list_del_init(&desc->cancel->node);
	desc->gen = pdc->rod && pdc->ep ? pdc->ep->peer_gen : 0;
}

static void uet_pdc_take_msg(struct uet_pdc *pdc)
{
	struct uet_desc *desc = uet_tx_new(pdc, UET_DESC_REQ);
	struct uet_msg *msg = pdc->cur;

	if (!msg->sent)
		msg->id = uet_ses_msg_id(pdc->tx.next - 1 - pdc->tx.start);
	desc->msg = msg;
	desc->gen = pdc->rod ? msg->ep->peer_gen : 0;
	desc->offset = msg->sent;
	desc->len = min(pdc->mtu, msg->len - msg->sent);
	if (uet_msg_wants_data(msg))
		desc->flags |= UET_DESC_WAIT_DATA;
	msg->sent += desc->len;
	msg->pending++;
	pdc->queued -= desc->len;
	if (msg->sent == msg->len) {
		msg->all_sent = true;
		desc->flags |= UET_DESC_EOM;
		uet_pdc_pass(pdc, msg);
	}
}

/*
 * A burst costs the stack as much as a packet does, and what an ACK has made
 * room for becomes a burst: small ones would stay small for ever. So wait until
 * there is room for a full one, or for all that is left; READs weigh little,
 * but are packets, too. What is in flight makes that room; if nothing is, do
 * not wait.
 */
static bool uet_pdc_awaits_room(const struct uet_pdc *pdc, u32 *quota)
{
	const struct uet_cc *cc = &pdc->cc;
	u32 bytes, packets;

	if (*quota)
		return false;
	bytes = min3((u64)pdc->tx.burst, pdc->queued, (u64)cc->window / 2);
	packets = (u32)min(pdc->queued, (u64)pdc->mtu * cc->max_packets / 2) /
		  pdc->mtu;
	*quota = max(bytes, packets * UET_TX_PKT_COST);
	return cc->inflight && !cc->ops->may_send(cc, bytes, packets);
}

/* @quota: bytes that may leave until the question is asked again */
static bool uet_pdc_sends_on(struct uet_pdc *pdc, u32 *quota)
{
	return uet_pdc_can_send(pdc) && !uet_pdc_awaits_room(pdc, quota);
}

static void uet_pdc_send_new(struct uet_pdc *pdc, struct uet_burst *b)
{
	struct uet_tx *tx = &pdc->tx;
	u32 quota = 0;
	bool more;

	more = uet_pdc_sends_on(pdc, &quota);
	/* Asked again, since a packet may have failed: no memory, or its message. */
	while (more && uet_pdc_can_send(pdc)) {
		u32 psn = tx->next;
		struct uet_desc *desc;

		if (!list_empty(&pdc->cancels))
			uet_pdc_take_cancel(pdc);
		else if (!list_empty(&pdc->rdrsps))
			uet_pdc_take_rdrsp(pdc);
		else
			uet_pdc_take_msg(pdc);
		desc = uet_tx_desc(tx, psn);
		pdc->cc.ops->sent(&pdc->cc, uet_desc_cost(desc));
		tx->bytes += uet_desc_payload(desc);
		uet_stat_add(pdc->fep, UET_STAT_TX_BYTES,
			     uet_desc_payload(desc));
		uet_pdc_use_cap(pdc);
		quota -= min(quota, uet_desc_cost(desc));
		/* The last one that may leave now asks for an ACK. */
		more = uet_pdc_sends_on(pdc, &quota);
		b->more = more;
		uet_desc_xmit(pdc, psn, !more, b);
	}
}

/*
 * After a refusal (receiver not ready) all that was in flight is answered:
 * send again, from the first message that is not finished.
 */
static void uet_pdc_rewind(struct uet_pdc *pdc, struct uet_defer *d)
{
	struct uet_msg *msg;
	u8 limit;

	pdc->rewind = false;
	msg = list_first_entry_or_null(&pdc->msgs, struct uet_msg, node);
	if (!msg)
		return;
	if (pdc->refused) {
		limit = READ_ONCE(msg->ep->conn.rnr_retry);
		if (limit < 7 && msg->rnr_count++ >= limit) {
			/* What is behind it must not be executed without it. */
			pdc->refused = false;
			uet_pdc_fail_msgs(pdc, UET_ST_RNR, d);
			return;
		}
	}
	pdc->cur = msg;
	list_for_each_entry(msg, &pdc->msgs, node) {
		pdc->queued += msg->sent;
		msg->sent = 0;
		msg->pending = 0;
		msg->all_sent = false;
		msg->status = UET_ST_OK;
	}
	pdc->probe = true;
	if (!pdc->refused)
		return;
	pdc->refused = false;
	pdc->paused = true;
	uet_pdc_expect(pdc, UET_EV_RESUME,
		       min_t(u64, UET_RNR_MIN_NS << pdc->rnr_backoff,
			     UET_RNR_MAX_NS));
	pdc->rnr_backoff = min(pdc->rnr_backoff + 1, 8);
}

/**
 * uet_pdc_pump - send what may be sent
 * @pdc: locked
 * @d: collector
 */
void uet_pdc_pump(struct uet_pdc *pdc, struct uet_defer *d)
{
	struct uet_tx *tx = &pdc->tx;
	bool was_empty = tx->una == tx->next;
	struct uet_burst b;

	if (pdc->state == UET_PDC_DEAD)
		return;
	if (uet_net_is_full(pdc->path))
		uet_pdc_pause(pdc);
	uet_burst_init(&b, pdc->path, pdc->sport, false, d);
	b.ordered = true;
	if (tx->lost)
		uet_pdc_resend(pdc, &b);
	if (pdc->rewind && was_empty)
		uet_pdc_rewind(pdc, d);
	uet_pdc_send_new(pdc, &b);
	uet_burst_flush(&b);
	if (b.full)
		tx->burst = b.full;
	if (was_empty && tx->una != tx->next)
		uet_pdc_arm_rto(pdc, tx->progress);
	if (tx->clear_owed) {
		tx->clear_owed = false;
		uet_pdc_send_ctl(pdc, UET_CTL_CLEAR_COMMAND, 0, tx->una - 1, d);
	}
}

/**
 * uet_pdc_add_msg - queue a message behind those that are there
 * @pdc: locked, not dead
 * @msg: message
 */
void uet_pdc_add_msg(struct uet_pdc *pdc, struct uet_msg *msg)
{
	msg->sent = 0;
	msg->pending = 0;
	msg->status = UET_ST_OK;
	msg->all_sent = false;
	list_add_tail(&msg->node, &pdc->msgs);
	if (!pdc->cur && !pdc->rewind)
		pdc->cur = msg;
	pdc->queued += msg->len;
}

/**
 * uet_pdc_close - send the Close Command, 3.6
 * @pdc: locked, quiet initiator
 * @d: collector
 */
void uet_pdc_close(struct uet_pdc *pdc, struct uet_defer *d)
{
	u32 psn = pdc->tx.next;
	struct uet_burst b;

	if (!uet_tx_grow(&pdc->tx))
		return;
	uet_burst_init(&b, pdc->path, pdc->sport, true, d);
	WRITE_ONCE(pdc->state, UET_PDC_CLOSE_WAIT);
	pdc->budget_ns = UET_BUDGET_NS;
	uet_tx_new(pdc, UET_DESC_CLOSE);
	uet_stat_inc(pdc->fep, UET_STAT_TX_CPS);
	uet_desc_xmit(pdc, psn, true, &b);
	uet_burst_flush(&b);
	uet_pdc_arm_rto(pdc, pdc->tx.progress);
}

static void uet_pdc_orphan_msg(struct uet_pdc *pdc, const struct uet_msg *msg)
{
	struct uet_tx *tx = &pdc->tx;
	u32 psn;

	for (psn = tx->una; psn != tx->next; psn++) {
		struct uet_desc *desc = uet_tx_desc(tx, psn);
		u32 was;

		if (desc->kind != UET_DESC_REQ || desc->msg != msg)
			continue;
		was = uet_desc_cost(desc);
		desc->kind = UET_DESC_ORPHAN;
		desc->flags &= ~UET_DESC_WAIT_DATA;
		desc->msg = NULL;
		uet_desc_lighter(pdc, desc, was);
	}
}

static void uet_pdc_abort_list(struct uet_pdc *pdc, struct list_head *list,
			       struct uet_ep *ep, struct uet_defer *d)
{
	struct uet_msg *msg, *tmp;

	list_for_each_entry_safe(msg, tmp, list, node) {
		if (msg->ep != ep)
			continue;
		uet_pdc_orphan_msg(pdc, msg);
		uet_ses_cancel(pdc, msg);
		uet_msg_finish(pdc, msg, UET_ST_FLUSHED, d);
	}
}

/**
 * uet_pdc_abort_ep - give up the messages of an endpoint
 * @pdc: locked
 * @ep: endpoint
 * @d: collector
 *
 * The PDC of a UET_EP_ROD endpoint is closed; others go on without.
 */
void uet_pdc_abort_ep(struct uet_pdc *pdc, struct uet_ep *ep,
		      struct uet_defer *d)
{
	if (pdc->state == UET_PDC_DEAD || !pdc->initiator)
		return;
	if (pdc->ep == ep) {
		uet_pdc_leave_ep(pdc);
		/* In good order if possible: the target lets go of it, too. */
		if (pdc->state == UET_PDC_ESTABLISHED && uet_pdc_quiet(pdc))
			uet_pdc_close(pdc, d);
		if (pdc->state != UET_PDC_CLOSE_WAIT)
			uet_pdc_kill(pdc, UET_ST_FLUSHED, d);
		return;
	}
	uet_pdc_abort_list(pdc, &pdc->waiting, ep, d);
	uet_pdc_abort_list(pdc, &pdc->msgs, ep, d);
	uet_pdc_pump(pdc, d);
}
