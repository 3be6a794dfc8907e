// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The receiving half of a PDC: requests in, ACKs and NACKs out.
 * uet-wire 2.11 - 2.14, 3.4, 11.
 */
#include <linux/bitfield.h>
#include <linux/slab.h>

#include "burst.h"
#include "ep.h"
#include "pdc.h"

/**
 * struct uet_ooo_cb - what a packet in the reorder buffer has to remember
 * @psn: its PSN
 * @off: where it starts in the skb, which may be a burst
 * @len: its bytes
 * @sport: entropy to echo
 * @ce: marked congestion experienced
 */
struct uet_ooo_cb {
	u32 psn;
	u32 off;
	u32 len;
	__be16 sport;
	bool ce;
};

static struct uet_ooo_cb *uet_ooo_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct uet_ooo_cb) > sizeof(skb->cb));
	return (struct uet_ooo_cb *)skb->cb;
}

static bool uet_pkt_is_rod(const struct uet_pkt *pkt)
{
	return pkt->type == UET_PDS_ROD || pkt->type == UET_PDS_ROD_CC;
}

/* ------------------------------------------------------------------ */
/* NACKs                                                               */

static void uet_nack_stateless(struct uet_fep *fep, const struct uet_pkt *nack,
			       const struct uet_rx *rx, struct uet_defer *d)
{
	struct uet_path_attr attr = {
		.src = rx->hdr.dst,
		.dst = rx->hdr.src,
	};
	struct uet_payload none = {};
	struct uet_path *path;
	struct uet_burst b;

	if (ipv6_addr_type(&attr.dst) & IPV6_ADDR_LINKLOCAL)
		attr.scope = fep->dev->ifindex;
	path = uet_path_create(fep, &attr, GFP_ATOMIC);
	if (IS_ERR(path))
		return;
	uet_burst_init(&b, path, rx->sport, true, d);
	if (uet_burst_add(&b, nack, &none))
		uet_stat_inc(fep, UET_STAT_DROP_TX);
	uet_burst_flush(&b);
	uet_path_put(path);
}

/**
 * uet_nack - refuse a packet
 * @fep: fabric endpoint
 * @pdc: its PDC, locked; NULL: none, the NACK has spdcid 0
 * @pkt: the refused packet
 * @rx: its addresses
 * @code: enum uet_nack_code
 * @d: collector
 */
void uet_nack(struct uet_fep *fep, struct uet_pdc *pdc,
	      const struct uet_pkt *pkt, const struct uet_rx *rx, u8 code,
	      struct uet_defer *d)
{
	struct uet_pkt nack = {
		.type = UET_PDS_NACK,
		.nack_code = code,
		.psn = pkt->psn,
		.spdcid = pdc ? pdc->id : 0,
		.dpdcid = pkt->spdcid,
	};

	if (pkt->flags & UET_REQ_RETX)
		nack.flags |= UET_NACK_RETX;
	if (rx->ce)
		nack.flags |= UET_NACK_M;
	uet_stat_inc(fep, UET_STAT_TX_NACKS);
	if (pdc)
		uet_pdc_send(pdc, &nack, NULL, 0, rx->sport, d);
	else
		uet_nack_stateless(fep, &nack, rx, d);
}

/* ------------------------------------------------------------------ */
/* ACKs                                                                */

static u64 uet_ack_cc_state(const struct uet_rxside *rx)
{
	return FIELD_PREP(UET_CC_RCVD_BYTES,
			  ((rx->rcvd + 255) >> 8) & 0xffffff) |
	       FIELD_PREP(UET_CC_OOO_COUNT, uet_rxwin_ooo_count(&rx->win));
}

/*
 * The long form tells what came behind a gap, and once how large our window
 * is; without either it would only cost bytes.
 */
static void uet_ack_head(struct uet_pdc *pdc, struct uet_pkt *pkt, u32 psn)
{
	struct uet_rxside *rx = &pdc->rx;

	pkt->type = UET_PDS_ACK;
	pkt->spdcid = pdc->id;
	pkt->dpdcid = pdc->peer_id;
	pkt->ack.cack_psn = uet_rxwin_cack(&rx->win);
	pkt->ack.ack_psn = psn;
	if (rx->told && !rx->win.marked)
		return;
	rx->told = true;
	pkt->type = UET_PDS_ACK_CC;
	pkt->ack.mpr = uet_rxwin_mpr(&rx->win);
	pkt->ack.cc_type = UET_CC_NSCC;
	pkt->ack.sack_bitmap = uet_rxwin_sack(&rx->win, psn,
					      &pkt->ack.sack_base);
	pkt->ack.cc_state = uet_ack_cc_state(rx);
}

static void uet_ack_done(struct uet_pdc *pdc)
{
	uet_stat_inc(pdc->fep, UET_STAT_TX_ACKS);
	pdc->rx.ack_owed = false;
	pdc->rx.ack_now = false;
	pdc->rx.ack_bytes = 0;
	uet_pdc_expect_not(pdc, UET_EV_ACK_OWED);
}

/**
 * uet_pdc_send_ack - acknowledge all that has come
 * @pdc: locked; rx.ack_psn and its companions are set
 * @d: collector
 */
void uet_pdc_send_ack(struct uet_pdc *pdc, struct uet_defer *d)
{
	struct uet_rxside *rx = &pdc->rx;
	struct uet_pkt pkt = { .flags = rx->ack_flags };

	uet_ack_head(pdc, &pkt, rx->ack_psn);
	if (rx->ack_rsp >= 0) {
		pkt.next = UET_NEXT_RSP;
		pkt.rsp.opcode = rx->ack_rsp;
		pkt.rsp.rc = UET_RC_OK;
		pkt.rsp.message_id = rx->ack_msg_id;
		pkt.rsp.job_id = rx->ack_job_id;
	}
	uet_pdc_send(pdc, &pkt, NULL, 0, rx->sport, d);
	uet_ack_done(pdc);
}

/* An ACK of its own, with a response that is stored until it is cleared. */
static void uet_pdc_send_resp(struct uet_pdc *pdc, const struct uet_resp *resp,
			      u8 flags, struct uet_defer *d)
{
	struct uet_pkt pkt = { .flags = flags | UET_ACK_REQ_CLEAR };

	uet_ack_head(pdc, &pkt, resp->psn);
	pkt.rsp = resp->rsp;
	if (resp->rsp.opcode != UET_RSP_DATA)
		pkt.next = UET_NEXT_RSP;
	else if (resp->rsp.read_message_id)
		pkt.next = UET_NEXT_RSP_DATA;
	else
		pkt.next = UET_NEXT_RSP_DATA_SMALL;
	uet_pdc_send(pdc, &pkt, resp->data,
		     resp->rsp.opcode == UET_RSP_DATA ?
		     resp->rsp.payload_length : 0, resp->sport, d);
	uet_stat_inc(pdc->fep, UET_STAT_TX_ACKS);
	pdc->rx.clear_tries = 0;
	uet_pdc_expect(pdc, UET_EV_NOT_CLEARED, UET_CLEAR_NS);
}

static u8 uet_ack_echo(const struct uet_pkt *pkt, const struct uet_rx *rx)
{
	return (pkt->flags & UET_REQ_RETX ? UET_ACK_RETX : 0) |
	       (rx->ce ? UET_ACK_M : 0);
}

/* Remember @pkt as the newest one that an ACK is owed for. */
static void uet_ack_about(struct uet_pdc *pdc, const struct uet_pkt *pkt,
			  const struct uet_rx *rx)
{
	struct uet_rxside *side = &pdc->rx;

	side->ack_psn = pkt->psn;
	side->ack_flags = uet_ack_echo(pkt, rx);
	side->sport = rx->sport;
	side->ack_msg_id = 0;
	side->ack_job_id = 0;
	if (pkt->type == UET_PDS_CP) {
		side->ack_rsp = -1;
		return;
	}
	side->ack_rsp = UET_RSP_DEFAULT;
	if (uet_next_is_req(pkt->next)) {
		side->ack_msg_id = pkt->req.message_id;
		side->ack_job_id = pkt->req.job_id;
	} else {
		side->ack_msg_id = pkt->rsp.read_message_id;
		side->ack_job_id = pkt->rsp.job_id;
	}
}

/*
 * 3.4: an ACK now, or one in company? Now means when all of a burst is seen.
 */
static void uet_ack_decide(struct uet_pdc *pdc, const struct uet_pkt *pkt,
			   const struct uet_rx *rx)
{
	struct uet_rxside *side = &pdc->rx;

	side->ack_bytes += max_t(u32, pkt->payload_len, UET_ACK_MIN_ADD);
	side->ack_owed = true;
	if (pkt->flags & (UET_REQ_AR | UET_REQ_SYN | UET_REQ_RETX) || rx->ce ||
	    side->win.marked || side->ack_bytes >= UET_ACK_TRIGGER)
		side->ack_now = true;
}

/* Pays the ACKs that a burst made due. */
static void uet_ack_settle(struct uet_pdc *pdc, struct uet_defer *d)
{
	struct uet_rxside *side = &pdc->rx;

	if (!side->ack_owed)
		return;
	if (side->ack_now)
		uet_pdc_send_ack(pdc, d);
	else if (pdc->deadline[UET_EV_ACK_OWED] == KTIME_MAX)
		uet_pdc_expect(pdc, UET_EV_ACK_OWED, UET_ACK_DELAY_NS);
}

/* ------------------------------------------------------------------ */
/* Stored responses and CACK                                           */

static struct uet_resp *uet_resp_find(const struct uet_rxside *rx, u32 psn)
{
	struct uet_resp *resp;

	list_for_each_entry(resp, &rx->resps, node)
		if (resp->psn == psn)
			return resp;
	return NULL;
}

/* The list is ordered; a new response is nearly always the newest. */
static void uet_resp_insert(struct uet_rxside *rx, struct uet_resp *resp)
{
	struct uet_resp *pos;

	list_for_each_entry_reverse(pos, &rx->resps, node)
		if (uet_psn_before(pos->psn, resp->psn))
			break;
	list_add(&resp->node, &pos->node);
}

/* CACK stops at a response that is not cleared, and at what SES has not seen */
static unsigned int uet_rx_advance(struct uet_pdc *pdc)
{
	struct uet_rxside *rx = &pdc->rx;
	u32 stop = uet_rxwin_end(&rx->win);
	const struct uet_resp *resp;

	resp = list_first_entry_or_null(&rx->resps, struct uet_resp, node);
	if (resp)
		stop = resp->psn;
	if (pdc->rod && uet_psn_before(rx->deliver, stop))
		stop = rx->deliver;
	return uet_rxwin_advance(&rx->win, stop);
}

/*
 * The peer has seen the responses up to @clear_psn. Returns whether CACK now
 * covers more than the packets whose responses were cleared.
 */
static bool uet_rx_clear(struct uet_pdc *pdc, u32 clear_psn)
{
	struct uet_rxside *rx = &pdc->rx;
	struct uet_resp *resp, *tmp;
	unsigned int freed = 0;

	if (!uet_psn_after(clear_psn, rx->clear) ||
	    uet_psn_after(clear_psn, rx->win.max_seen))
		return false;
	rx->clear = clear_psn;
	list_for_each_entry_safe(resp, tmp, &rx->resps, node) {
		if (uet_psn_after(resp->psn, clear_psn))
			break;
		list_del(&resp->node);
		kfree(resp);
		freed++;
	}
	if (!freed)
		return false;
	if (list_empty(&rx->resps))
		uet_pdc_expect_not(pdc, UET_EV_NOT_CLEARED);
	return uet_rx_advance(pdc) > freed;
}

/* ------------------------------------------------------------------ */
/* Delivery                                                            */

static void uet_rx_verdict(struct uet_pdc *pdc, struct sk_buff *skb,
			   const struct uet_pkt *pkt, const struct uet_rx *rx,
			   struct uet_verdict *v, struct uet_defer *d)
{
	memset(v, 0, sizeof(*v));
	if (pkt->type == UET_PDS_CP)
		return;
	if (uet_next_is_rsp(pkt->next))
		v->nack = uet_rx_read_data(pdc, skb, pkt, d);
	else
		uet_ses_request(pdc, skb, pkt, rx, v, d);
}

/*
 * Give a packet to SES and keep its response if it must not get lost. A
 * packet that is refused with a NACK (returned) leaves no trace.
 */
static u8 uet_rx_deliver(struct uet_pdc *pdc, struct sk_buff *skb,
			 const struct uet_pkt *pkt, const struct uet_rx *rx,
			 struct uet_defer *d)
{
	struct uet_rxside *side = &pdc->rx;
	struct uet_resp *resp;
	struct uet_verdict v;

	if (!side->spare)
		side->spare = kmalloc(sizeof(*resp), GFP_ATOMIC | __GFP_NOWARN);
	if (!side->spare)
		return UET_NACK_NO_GTD_DEL_AVAIL;

	uet_rx_verdict(pdc, skb, pkt, rx, &v, d);
	if (v.nack)
		return v.nack;
	side->bytes += pkt->payload_len;
	side->rcvd += pkt->hdr_len + pkt->payload_len + 48;
	if (pdc->rod)
		side->deliver = pkt->psn + 1;
	uet_rxwin_mark(&side->win, pkt->psn);
	if (!v.gtd) {
		uet_ack_about(pdc, pkt, rx);
		uet_ack_decide(pdc, pkt, rx);
		return 0;
	}

	resp = side->spare;
	side->spare = NULL;
	resp->psn = pkt->psn;
	resp->sport = rx->sport;
	resp->rsp = v.rsp;
	memcpy(resp->data, v.data, sizeof(resp->data));
	uet_resp_insert(side, resp);
	uet_rx_advance(pdc);
	uet_pdc_send_resp(pdc, resp, uet_ack_echo(pkt, rx), d);
	return 0;
}

/*
 * A packet by itself shares its data with the one that came. One of a burst gets a
 * copy: a clone would keep all of the burst's memory, whatever becomes of the others.
 */
static struct sk_buff *uet_rx_keep(struct sk_buff *skb, struct uet_ooo_cb *cb)
{
	struct sk_buff *copy;

	if (!skb_is_gso(skb))
		return skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
	copy = alloc_skb(cb->len, GFP_ATOMIC | __GFP_NOWARN);
	if (!copy)
		return NULL;
	if (skb_copy_bits(skb, cb->off, skb_put(copy, cb->len), cb->len)) {
		kfree_skb(copy);
		return NULL;
	}
	cb->off = 0;
	return copy;
}

/* ROD: a packet behind a gap waits for the gap to fill, if there is room. */
static bool uet_rx_hold(struct uet_pdc *pdc, struct sk_buff *skb,
			const struct uet_pkt *pkt, const struct uet_rx *rx)
{
	struct uet_rxside *side = &pdc->rx;
	struct uet_ooo_cb cb = {
		.psn = pkt->psn,
		.off = pkt->skb_off - pkt->hdr_len,
		.len = pkt->hdr_len + pkt->payload_len,
		.sport = rx->sport,
		.ce = rx->ce,
	};
	struct sk_buff *pos;

	skb = uet_rx_keep(skb, &cb);
	if (!skb) {
		uet_stat_inc(pdc->fep, UET_STAT_DROP_NO_MEMORY);
		return false;
	}
	if (side->ooo_bytes + skb->truesize > UET_REORDER_PDC_MAX ||
	    atomic_read(&pdc->fep->reorder) + skb->truesize >
	    UET_REORDER_FEP_MAX) {
		uet_stat_inc(pdc->fep, UET_STAT_DROP_REORDER_FULL);
		kfree_skb(skb);
		return false;
	}
	side->ooo_bytes += skb->truesize;
	atomic_add(skb->truesize, &pdc->fep->reorder);
	*uet_ooo_cb(skb) = cb;
	skb_queue_reverse_walk(&side->ooo, pos)
		if (uet_psn_before(uet_ooo_cb(pos)->psn, pkt->psn))
			break;
	__skb_queue_after(&side->ooo, pos, skb);
	uet_rxwin_mark(&side->win, pkt->psn);
	return true;
}

static void uet_rx_unhold(struct uet_pdc *pdc, struct sk_buff *skb)
{
	__skb_unlink(skb, &pdc->rx.ooo);
	pdc->rx.ooo_bytes -= skb->truesize;
	atomic_sub(skb->truesize, &pdc->fep->reorder);
	consume_skb(skb);
}

/*
 * Ask later: a page comes soon or, on what a peer makes up, nothing ever does. Others
 * who ask in between do not make the time longer.
 */
static void uet_rx_drain_later(struct uet_pdc *pdc)
{
	if (pdc->deadline[UET_EV_DELIVER] == KTIME_MAX)
		uet_pdc_expect(pdc, UET_EV_DELIVER,
			       UET_PAGE_NS << pdc->rx.late);
}

/*
 * The gap is filled: deliver what waited, up to the next gap. The sender knows
 * that it is here, so what SES cannot take now is not sent again but waits on.
 */
static void uet_rx_drain(struct uet_pdc *pdc, struct uet_defer *d)
{
	struct sk_buff *skb;

	while (pdc->state != UET_PDC_DEAD &&
	       (skb = skb_peek(&pdc->rx.ooo))) {
		const struct uet_ooo_cb *cb = uet_ooo_cb(skb);
		struct uet_rx rx = {
			.hdr.src = pdc->path->attr.dst,
			.hdr.dst = pdc->path->attr.src,
			.sport = cb->sport,
			.ce = cb->ce,
		};
		struct uet_pkt pkt;

		/* It was parsed when it came; that cannot fail now. */
		if (cb->psn != pdc->rx.deliver ||
		    uet_skb_parse(skb, cb->off, cb->len, &pkt))
			return;
		if (uet_rx_deliver(pdc, skb, &pkt, &rx, d)) {
			uet_rx_drain_later(pdc);
			return;
		}
		pdc->rx.late = 0;
		uet_rx_unhold(pdc, skb);
	}
}

/*
 * Close Command: everything is cleared and done with, 3.6. It may overtake the
 * last ACKs of read data; then it is as good as lost and comes again.
 */
static void uet_rx_close(struct uet_pdc *pdc, const struct uet_pkt *pkt,
			 const struct uet_rx *rx, struct uet_defer *d)
{
	if (!list_empty(&pdc->rdrsps)) {
		uet_nack(pdc->fep, pdc, pkt, rx, UET_NACK_CLOSING_IN_ERR, d);
		uet_stat_inc(pdc->fep, UET_STAT_PDC_FAILED);
		uet_pdc_kill(pdc, UET_ST_PROTO, d);
		return;
	}
	if (pdc->tx.una != pdc->tx.next) {
		uet_stat_inc(pdc->fep, UET_STAT_DROP_EARLY_CLOSE);
		return;
	}
	uet_rx_clear(pdc, pkt->psn - 1);
	pdc->rx.deliver = pkt->psn + 1;
	uet_rxwin_mark(&pdc->rx.win, pkt->psn);
	uet_rx_advance(pdc);
	uet_ack_about(pdc, pkt, rx);
	uet_pdc_send_ack(pdc, d);
	uet_stat_inc(pdc->fep, UET_STAT_PDC_CLOSED);
	uet_pdc_kill(pdc, UET_ST_TIMEOUT, d);
}

static void uet_rx_new(struct uet_pdc *pdc, struct sk_buff *skb,
		       const struct uet_pkt *pkt, const struct uet_rx *rx,
		       struct uet_defer *d)
{
	struct uet_rxside *side = &pdc->rx;
	u8 nack = 0;

	if (pdc->rod && pkt->psn != side->deliver) {
		uet_stat_inc(pdc->fep, UET_STAT_RX_OOO);
		if (!uet_rx_hold(pdc, skb, pkt, rx)) {
			uet_nack(pdc->fep, pdc, pkt, rx, UET_NACK_ROD_OOO, d);
			return;
		}
		uet_ack_about(pdc, pkt, rx);
		if (side->ack_rsp >= 0)
			side->ack_rsp = UET_RSP_NO_RESPONSE;
		side->ack_owed = true;
		side->ack_now = true;
		return;
	}
	if (pkt->type == UET_PDS_CP && pkt->ctl == UET_CTL_CLOSE_COMMAND &&
	    !pdc->initiator) {
		uet_rx_close(pdc, pkt, rx, d);
		return;
	}
	nack = uet_rx_deliver(pdc, skb, pkt, rx, d);
	if (nack) {
		uet_nack(pdc->fep, pdc, pkt, rx, nack, d);
		return;
	}
	if (pdc->rod)
		uet_rx_drain(pdc, d);
	if (pdc->state == UET_PDC_DEAD)
		return;
	uet_rx_advance(pdc);
}

/**
 * uet_pdc_deliver - try once more to deliver what waits
 * @pdc: locked
 * @d: collector
 */
void uet_pdc_deliver(struct uet_pdc *pdc, struct uet_defer *d)
{
	pdc->now = ktime_get();
	pdc->rx.late = min(pdc->rx.late + 1, UET_LATE_MAX);
	uet_rx_drain(pdc, d);
	if (pdc->state == UET_PDC_DEAD)
		return;
	uet_rx_advance(pdc);
	uet_ack_settle(pdc, d);
	uet_pdc_pump(pdc, d);
}

/* 2.13: answered from what is stored, else with a default response. */
static void uet_rx_duplicate(struct uet_pdc *pdc, const struct uet_pkt *pkt,
			     const struct uet_rx *rx, struct uet_defer *d)
{
	const struct uet_resp *resp = uet_resp_find(&pdc->rx, pkt->psn);

	uet_stat_inc(pdc->fep, UET_STAT_RX_DUP);
	if (resp) {
		uet_pdc_send_resp(pdc, resp, uet_ack_echo(pkt, rx), d);
		return;
	}
	uet_ack_about(pdc, pkt, rx);
	/* An ACK Request asks about a request, which has a response. */
	if (pkt->type == UET_PDS_CP && pkt->ctl == UET_CTL_ACK_REQUEST)
		pdc->rx.ack_rsp = UET_RSP_DEFAULT;
	if (pdc->rod && !uet_psn_before(pkt->psn, pdc->rx.deliver) &&
	    pdc->rx.ack_rsp >= 0)
		pdc->rx.ack_rsp = UET_RSP_NO_RESPONSE;
	uet_pdc_send_ack(pdc, d);
}

/* No sender asks for the answer to it any more. */
static bool uet_rxwin_is_ancient(const struct uet_rxwin *win, u32 psn)
{
	return uet_psn_before(psn, win->base) &&
	       uet_psn_diff(win->base, psn) > win->nbits;
}

static void uet_rx_sequenced(struct uet_pdc *pdc, struct sk_buff *skb,
			     const struct uet_pkt *pkt, const struct uet_rx *rx,
			     struct uet_defer *d)
{
	struct uet_rxwin *win = &pdc->rx.win;

	switch (uet_rxwin_classify(win, pkt->psn)) {
	case UET_RXWIN_NEW:
		uet_rx_new(pdc, skb, pkt, rx, d);
		break;
	case UET_RXWIN_OLD:
		if (uet_rxwin_is_ancient(win, pkt->psn)) {
			uet_stat_inc(pdc->fep, UET_STAT_DROP_OUT_OF_WINDOW);
			break;
		}
		fallthrough;
	case UET_RXWIN_DUPLICATE:
		uet_rx_duplicate(pdc, pkt, rx, d);
		break;
	case UET_RXWIN_OOR:
		uet_stat_inc(pdc->fep, UET_STAT_DROP_OUT_OF_WINDOW);
		uet_nack(pdc->fep, pdc, pkt, rx, UET_NACK_PSN_OOR_WINDOW, d);
		break;
	}
}

/* ------------------------------------------------------------------ */
/* Finding the PDC                                                     */

static bool uet_pkt_has_syn(const struct uet_pkt *pkt)
{
	return pkt->flags & UET_REQ_SYN;	/* the same bit in a CP */
}

static struct uet_pdc *uet_rx_lookup(struct uet_fep *fep,
				     const struct uet_pkt *pkt,
				     const struct uet_rx *rx, u8 *nack)
{
	struct uet_pdc *pdc;

	if (!uet_pkt_has_syn(pkt)) {
		*nack = UET_NACK_INV_DPDCID;
		return uet_pdc_find(fep, pkt->dpdcid);
	}
	pdc = uet_pdc_find_target(fep, rx, pkt->spdcid);
	if (pdc || !pkt->spdcid)
		return pdc;
	return uet_pdc_accept(fep, rx, pkt, nack);
}

/* Is @pkt consistent with the PDC that it claims? 0 or a NACK code. */
static u8 uet_rx_check(struct uet_pdc *pdc, const struct uet_pkt *pkt,
		       const struct uet_rx *rx)
{
	if (pdc->state == UET_PDC_DEAD)
		return uet_pkt_has_syn(pkt) ? UET_NACK_NO_PDC_AVAIL :
					      UET_NACK_INV_DPDCID;
	if (!uet_pdc_matches(pdc, pkt, rx))
		return UET_NACK_PDC_HDR_MISMATCH;
	if (uet_pkt_has_syn(pkt) &&
	    pkt->psn - pkt->psn_offset != pdc->tx.start)
		return UET_NACK_INVALID_SYN;
	if (pkt->type != UET_PDS_CP && uet_pkt_is_rod(pkt) != pdc->rod)
		return UET_NACK_PDC_MODE_MISMATCH;
	/* Only targets get requests, only initiators get read data. */
	if (pkt->type != UET_PDS_CP &&
	    uet_next_is_req(pkt->next) == pdc->initiator)
		return UET_NACK_UNEXP_EVENT;
	return 0;
}

/* Find and lock, or refuse. */
static struct uet_pdc *uet_rx_begin(struct uet_fep *fep,
				    const struct uet_pkt *pkt,
				    const struct uet_rx *rx,
				    struct uet_defer *d)
{
	struct uet_pdc *pdc;
	u8 nack = UET_NACK_NO_RESOURCE;

	pdc = uet_rx_lookup(fep, pkt, rx, &nack);
	if (!pdc) {
		uet_stat_inc(fep, UET_STAT_DROP_PDC_UNKNOWN);
		uet_nack(fep, NULL, pkt, rx, nack, d);
		return NULL;
	}
	spin_lock(&pdc->lock);
	nack = uet_rx_check(pdc, pkt, rx);
	if (nack) {
		spin_unlock(&pdc->lock);
		uet_stat_inc(fep, UET_STAT_DROP_PDC_MISMATCH);
		uet_nack(fep, NULL, pkt, rx, nack, d);
		return NULL;
	}
	pdc->now = ktime_get();
	pdc->last_rx = pdc->now;
	if (pdc->deadline[UET_EV_IDLE] == KTIME_MAX)
		uet_pdc_expect(pdc, UET_EV_IDLE, NSEC_PER_SEC);
	/* Stays locked; sparse cannot tell, as it depends on the result */
	__release(&pdc->lock);
	return pdc;
}

/* Does @pkt go on with what came before it in the same burst? */
static bool uet_rx_goes_on(const struct uet_pdc *pdc, const struct uet_pkt *pkt)
{
	return pkt->spdcid == pdc->peer_id && !uet_pkt_has_syn(pkt) &&
	       pkt->dpdcid == pdc->id;
}

/**
 * uet_pdc_rx_request - a RUD or ROD request came
 * @fep: fabric endpoint
 * @locked: PDC of the packet before, locked, or NULL; on return that of this
 *	packet. uet_pdc_rx_done() is due at the end of the burst
 * @skb: packet; a reference is taken if it has to wait
 * @pkt: parsed
 * @rx: addresses
 * @d: collector
 *
 * Context: softirq, RCU read side.
 */
void uet_pdc_rx_request(struct uet_fep *fep, struct uet_pdc **locked,
			struct sk_buff *skb, const struct uet_pkt *pkt,
			const struct uet_rx *rx, struct uet_defer *d)
{
	if (*locked && (!uet_rx_goes_on(*locked, pkt) ||
			uet_rx_check(*locked, pkt, rx)))
		uet_pdc_rx_done(locked, d);
	if (!*locked)
		*locked = uet_rx_begin(fep, pkt, rx, d);
	if (!*locked)
		return;
	uet_rx_clear(*locked, pkt->clear_psn);
	uet_rx_sequenced(*locked, skb, pkt, rx, d);
}

/**
 * uet_pdc_rx_done - the end of a burst, or of what one PDC has in it
 * @locked: from uet_pdc_rx_request(); NULL afterwards
 * @d: collector
 *
 * Sends what became due: ACKs, read data, and what waited for the peer's
 * PDCID.
 */
void uet_pdc_rx_done(struct uet_pdc **locked, struct uet_defer *d)
{
	struct uet_pdc *pdc = *locked;

	if (!pdc)
		return;
	*locked = NULL;
	__acquire(&pdc->lock);
	if (pdc->state != UET_PDC_DEAD) {
		uet_ack_settle(pdc, d);
		uet_pdc_pump(pdc, d);
	}
	spin_unlock(&pdc->lock);
}

/* ------------------------------------------------------------------ */
/* Control packets                                                     */

/* 2.12: what became of PSN @pkt->psn? */
static void uet_rx_ack_request(struct uet_pdc *pdc, const struct uet_pkt *pkt,
			       const struct uet_rx *rx, struct uet_defer *d)
{
	const struct uet_rxwin *win = &pdc->rx.win;
	enum uet_rxwin_class class;

	if (pdc->rod) {
		/* What could not be delivered for want of memory may be now */
		uet_rx_drain(pdc, d);
		uet_rx_advance(pdc);
	}
	class = uet_rxwin_classify(win, pkt->psn);
	if (class == UET_RXWIN_NEW || class == UET_RXWIN_OOR)
		uet_nack(pdc->fep, pdc, pkt, rx, UET_NACK_PKT_NOT_RCVD, d);
	else if (uet_rxwin_is_ancient(win, pkt->psn))
		uet_stat_inc(pdc->fep, UET_STAT_DROP_OUT_OF_WINDOW);
	else
		uet_rx_duplicate(pdc, pkt, rx, d);
}

static void uet_rx_probe(struct uet_pdc *pdc, const struct uet_pkt *pkt,
			 const struct uet_rx *rx, struct uet_defer *d)
{
	struct uet_pkt ack = {};

	pdc->rx.told = false;
	uet_ack_head(pdc, &ack, pkt->payload32);
	ack.flags = UET_ACK_P | (rx->ce ? UET_ACK_M : 0);
	ack.ack.probe_opaque = pkt->probe_opaque;
	uet_stat_inc(pdc->fep, UET_STAT_TX_ACKS);
	uet_pdc_send(pdc, &ack, NULL, 0, rx->sport, d);
}

static void uet_rx_ctl(struct uet_pdc *pdc, const struct uet_pkt *pkt,
		       const struct uet_rx *rx, struct uet_defer *d)
{
	switch (pkt->ctl) {
	case UET_CTL_NOOP:
	case UET_CTL_CLOSE_COMMAND:
	case UET_CTL_CLOSE_REQUEST:
		/* A held CP would need a packet; the peer sends it again. */
		if (pdc->rod && pkt->psn != pdc->rx.deliver &&
		    uet_rxwin_classify(&pdc->rx.win, pkt->psn) == UET_RXWIN_NEW)
			uet_nack(pdc->fep, pdc, pkt, rx, UET_NACK_ROD_OOO, d);
		else
			uet_rx_sequenced(pdc, NULL, pkt, rx, d);
		break;
	case UET_CTL_ACK_REQUEST:
		uet_rx_ack_request(pdc, pkt, rx, d);
		break;
	case UET_CTL_CLEAR_COMMAND:
		if (uet_rx_clear(pdc, pkt->payload32))
			uet_pdc_send_ack(pdc, d);
		break;
	case UET_CTL_CLEAR_REQUEST:
		pdc->tx.clear_owed = true;
		break;
	case UET_CTL_PROBE:
		uet_rx_probe(pdc, pkt, rx, d);
		break;
	default:
		uet_stat_inc(pdc->fep, UET_STAT_DROP_UNSUPPORTED);
	}
}

/**
 * uet_pdc_rx_ctl - a control packet came
 * @fep: fabric endpoint
 * @pkt: parsed
 * @rx: addresses
 * @d: collector
 *
 * Context: softirq, RCU read side.
 */
void uet_pdc_rx_ctl(struct uet_fep *fep, const struct uet_pkt *pkt,
		    const struct uet_rx *rx, struct uet_defer *d)
{
	struct uet_pdc *pdc;

	uet_stat_inc(fep, UET_STAT_RX_CPS);
	if (uet_pkt_has_syn(pkt) && pkt->ctl != UET_CTL_NOOP) {
		uet_stat_inc(fep, UET_STAT_DROP_UNSUPPORTED);
		return;
	}
	pdc = uet_rx_begin(fep, pkt, rx, d);
	if (!pdc)
		return;
	uet_rx_ctl(pdc, pkt, rx, d);
	uet_pdc_rx_done(&pdc, d);
}

/**
 * uet_rxside_drop - let go of all that the receiver holds
 * @pdc: locked, dying
 * @d: collector
 */
void uet_rxside_drop(struct uet_pdc *pdc, struct uet_defer *d)
{
	struct uet_inbound *in, *in_tmp;
	struct uet_resp *resp, *tmp;
	struct sk_buff *skb;

	while ((skb = skb_peek(&pdc->rx.ooo)))
		uet_rx_unhold(pdc, skb);
	list_for_each_entry_safe(resp, tmp, &pdc->rx.resps, node)
		kfree(resp);
	INIT_LIST_HEAD(&pdc->rx.resps);
	list_for_each_entry_safe(in, in_tmp, &pdc->inbound, pdc_node)
		uet_inbound_drop(pdc, in, d);
}
