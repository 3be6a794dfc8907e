// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * ACKs and NACKs of what we sent: which packets the peer has, which are
 * answered, which are lost. uet-wire 2.5 - 2.11, 3.8, 11.
 */
#include <linux/unaligned.h>

#include "ep.h"
#include "pdc.h"

/* So many later packets arrived on the one path of a PDC: it is lost. */
#define UET_DUP_THRESHOLD	128
/* Packets may overtake each other by a quarter round trip, at least this. */
#define UET_REORDER_MIN		100	/* uet_stamp() units */

static void uet_tx_rtt(struct uet_tx *tx, u32 stamp, ktime_t now)
{
	u64 ns = (u64)(uet_stamp(now) - stamp) << 10;
	u32 rtt = min_t(u64, max_t(u64, ns, 1), NSEC_PER_SEC);
	u32 err;

	if (!tx->srtt_ns) {
		tx->srtt_ns = rtt;
		tx->rttvar_ns = rtt / 2;
		return;
	}
	err = abs_diff(rtt, tx->srtt_ns);
	tx->rttvar_ns = tx->rttvar_ns - tx->rttvar_ns / 4 + err / 4;
	tx->srtt_ns = tx->srtt_ns - tx->srtt_ns / 8 + rtt / 8;
}

/**
 * uet_desc_received - the peer has a packet
 * @pdc: locked
 * @psn: in flight
 */
void uet_desc_received(struct uet_pdc *pdc, u32 psn)
{
	struct uet_tx *tx = &pdc->tx;
	struct uet_desc *desc = uet_tx_desc(tx, psn);

	if (desc->flags & UET_DESC_RECEIVED)
		return;
	desc->flags |= UET_DESC_RECEIVED;
	if (desc->flags & UET_DESC_LOST) {
		desc->flags &= ~UET_DESC_LOST;
		tx->lost--;
	} else {
		pdc->cc.ops->acked(&pdc->cc, uet_desc_cost(desc), 0, false);
	}
	tx->sack_high = uet_psn_max(tx->sack_high, psn);
	if (!tx->rack_valid || (s32)(desc->stamp - tx->rack_stamp) > 0) {
		tx->rack_stamp = desc->stamp;
		tx->rack_valid = true;
	}
}

/* Is that all for this packet? Then its message is one packet nearer. */
static void uet_desc_settle(struct uet_pdc *pdc, struct uet_desc *desc,
			    struct uet_defer *d)
{
	struct uet_msg *msg;

	if (desc->kind != UET_DESC_REQ || desc->flags & UET_DESC_WAIT_DATA ||
	    !(desc->flags & UET_DESC_ANSWERED))
		return;
	msg = desc->msg;
	desc->kind = UET_DESC_ORPHAN;
	desc->msg = NULL;
	if (!--msg->pending && msg->all_sent)
		uet_ses_settle(pdc, msg, d);
}

/* An atomic is not answered without the old value. */
static bool uet_desc_incomplete(const struct uet_desc *desc)
{
	return desc->kind == UET_DESC_REQ &&
	       desc->flags & UET_DESC_WAIT_DATA &&
	       desc->msg->op == UET_OP_FETCHING_ATOMIC;
}

/**
 * uet_desc_answered - the response to a packet is known
 * @pdc: locked
 * @psn: in flight
 * @rsp: the response; NULL: default, OK
 * @d: collector
 */
void uet_desc_answered(struct uet_pdc *pdc, u32 psn,
		       const struct uet_ses_rsp *rsp, struct uet_defer *d)
{
	struct uet_desc *desc = uet_tx_desc(&pdc->tx, psn);

	uet_desc_received(pdc, psn);
	if (desc->flags & UET_DESC_ANSWERED)
		return;
	if (uet_desc_incomplete(desc) && (!rsp || rsp->rc == UET_RC_OK))
		return;
	desc->flags |= UET_DESC_ANSWERED;
	if (desc->kind != UET_DESC_REQ)
		return;
	if (rsp && rsp->rc != UET_RC_OK && rsp->rc != UET_RC_NULL) {
		desc->flags &= ~UET_DESC_WAIT_DATA;
		uet_ses_answer(pdc, desc->msg, rsp->rc, rsp->ri_gen);
	} else {
		pdc->probe = false;
		pdc->rnr_backoff = 0;
	}
	uet_desc_settle(pdc, desc, d);
}

/**
 * uet_tx_release - let go of descriptors that are done with
 * @pdc: locked; @pdc->now is set
 * @d: collector
 */
void uet_tx_release(struct uet_pdc *pdc, struct uet_defer *d)
{
	struct uet_tx *tx = &pdc->tx;
	u32 old = tx->una;

	while (tx->una != tx->next) {
		struct uet_desc *desc = uet_tx_desc(tx, tx->una);

		if (!(desc->flags & UET_DESC_ANSWERED) ||
		    desc->flags & UET_DESC_WAIT_DATA)
			break;
		uet_desc_free(desc);
		if (desc->kind == UET_DESC_CLOSE) {
			uet_stat_inc(pdc->fep, UET_STAT_PDC_CLOSED);
			uet_pdc_kill(pdc, UET_ST_FLUSHED, d);
			return;
		}
		tx->una++;
	}
	if (tx->una == old)
		return;
	uet_tx_move_start(tx);
	tx->progress = pdc->now;
	tx->backoff = 0;
	uet_pdc_arm_rto(pdc, tx->progress);
}

/* The old value of an atomic, 4.11; big-endian like the operands. */
static int uet_amo_place(const struct uet_msg *msg, const struct sk_buff *skb,
			 const struct uet_pkt *pkt)
{
	u8 be[sizeof(u64)];
	u64 old;

	if (skb_copy_bits(skb, pkt->skb_off, be, sizeof(be)))
		return -EFAULT;
	old = get_unaligned_be64(be);
	return uet_buf_to_sge(&old, msg->sge, msg->nr_sge, sizeof(old));
}

/* Is the data a part of what was asked for, and no more than is still due? */
static bool uet_read_fits(const struct uet_desc *desc,
			  const struct uet_pkt *pkt)
{
	u64 at = pkt->rsp.message_offset;

	return at + pkt->payload_len <= desc->len &&
	       desc->got + pkt->payload_len <= desc->len &&
	       (pkt->payload_len || !desc->len);
}

/*
 * Data of a READ. Length and place were asked for by us; a peer whose packets
 * are smaller answers in parts. Returns -EAGAIN if the place is not there yet;
 * then nothing has changed.
 */
static int uet_read_place(struct uet_pdc *pdc, struct uet_desc *desc,
			  const struct sk_buff *skb, const struct uet_pkt *pkt)
{
	struct uet_msg *msg = desc->msg;
	int err;

	if (!uet_read_fits(desc, pkt)) {
		desc->flags &= ~UET_DESC_WAIT_DATA;
		uet_ses_answer(pdc, msg, UET_RC_UNSUPPORTED_SIZE, 0);
		return 0;
	}
	if (msg->op == UET_OP_FETCHING_ATOMIC)
		err = uet_amo_place(msg, skb, pkt);
	else
		err = uet_skb_to_sge(skb, pkt->skb_off, msg->sge, msg->nr_sge,
				     desc->offset + pkt->rsp.message_offset,
				     pkt->payload_len);
	if (err == -EAGAIN)
		return err;
	desc->got += pkt->payload_len;
	if (desc->got == desc->len)
		desc->flags &= ~UET_DESC_WAIT_DATA;
	if (err && msg->status == UET_ST_OK)
		msg->status = UET_ST_PROT;
	uet_stat_add(pdc->fep, UET_STAT_RX_BYTES, pkt->payload_len);
	pdc->rx.bytes += pkt->payload_len;
	return 0;
}

static bool uet_read_psn(const struct uet_pdc *pdc, const struct uet_pkt *pkt,
			 u32 *psn)
{
	const struct uet_tx *tx = &pdc->tx;
	u32 rel = tx->una - tx->start;
	u16 id = pkt->rsp.read_message_id;

	if (pkt->next == UET_NEXT_RSP_DATA_SMALL) {
		*psn = pkt->rsp.request_psn;
	} else {
		if (!id)
			return false;
		*psn = tx->una + (id - 1 + U16_MAX - rel % U16_MAX) % U16_MAX;
	}
	return uet_tx_holds(tx, *psn);
}

/**
 * uet_rx_read_data - data of a READ came on the return direction, 2.15
 * @pdc: locked
 * @skb: packet
 * @pkt: parsed, with a response header
 * @d: collector
 *
 * Data that nobody waits for (its message was given up) changes nothing.
 *
 * Return: 0, or the NACK with which the packet is to be refused.
 */
u8 uet_rx_read_data(struct uet_pdc *pdc, struct sk_buff *skb,
		    const struct uet_pkt *pkt, struct uet_defer *d)
{
	struct uet_desc *desc;
	u32 psn;

	if (!uet_read_psn(pdc, pkt, &psn))
		return 0;
	desc = uet_tx_desc(&pdc->tx, psn);
	if (desc->kind != UET_DESC_REQ || !(desc->flags & UET_DESC_WAIT_DATA))
		return 0;
	if (pkt->rsp.rc == UET_RC_OK || pkt->rsp.rc == UET_RC_NULL) {
		/* No error, so it is complete only with all of its data. */
		if (uet_read_place(pdc, desc, skb, pkt))
			return UET_NACK_NO_PKT_BUFFER;
		if (desc->flags & UET_DESC_ANSWERED)
			uet_desc_settle(pdc, desc, d);
		else
			uet_desc_answered(pdc, psn, NULL, d);
	} else {
		desc->flags &= ~(UET_DESC_ANSWERED | UET_DESC_WAIT_DATA);
		uet_desc_answered(pdc, psn, &pkt->rsp, d);
	}
	uet_tx_release(pdc, d);
	return 0;
}

/* A packet of which later ones arrived long ago is lost, 3.8. */
static void uet_tx_infer_loss(struct uet_pdc *pdc)
{
	struct uet_tx *tx = &pdc->tx;
	u32 wait = max_t(u32, tx->srtt_ns >> 12, UET_REORDER_MIN);
	u32 psn;

	if (!tx->rack_valid || !uet_psn_after(tx->sack_high, tx->una))
		return;
	for (psn = tx->una; uet_psn_before(psn, tx->sack_high); psn++) {
		struct uet_desc *desc = uet_tx_desc(tx, psn);

		if (desc->flags & (UET_DESC_RECEIVED | UET_DESC_LOST))
			continue;
		if ((s32)(tx->rack_stamp - desc->stamp) < (s32)wait &&
		    (desc->retx ||
		     uet_psn_diff(tx->sack_high, psn) < UET_DUP_THRESHOLD))
			continue;
		uet_stat_inc(pdc->fep, UET_STAT_RETX_SACK);
		uet_pdc_mark_lost(pdc, psn);
	}
}

static void uet_ack_sack(struct uet_pdc *pdc, const struct uet_ack_info *ack)
{
	u64 bits = ack->sack_bitmap;

	while (bits) {
		u32 psn = ack->sack_base + __ffs64(bits);

		bits &= bits - 1;
		if (uet_tx_holds(&pdc->tx, psn))
			uet_desc_received(pdc, psn);
	}
}

static void uet_ack_cack(struct uet_pdc *pdc, u32 cack, struct uet_defer *d)
{
	struct uet_tx *tx = &pdc->tx;
	u32 psn;

	if (uet_psn_after(cack, tx->cack))
		tx->cack = cack;
	for (psn = tx->una; !uet_psn_after(psn, cack) && psn != tx->next; psn++)
		uet_desc_answered(pdc, psn, NULL, d);
}

/* The response of the packet that the ACK is about. */
static void uet_ack_psn(struct uet_pdc *pdc, const struct sk_buff *skb,
			const struct uet_pkt *pkt, struct uet_defer *d)
{
	u32 psn = pkt->ack.ack_psn;
	struct uet_desc *desc;
	bool data;

	if (!uet_tx_holds(&pdc->tx, psn))
		return;
	desc = uet_tx_desc(&pdc->tx, psn);
	data = pkt->next != UET_NEXT_NONE && pkt->next != UET_NEXT_RSP &&
	       pkt->rsp.opcode != UET_RSP_NO_RESPONSE &&
	       pkt->rsp.rc == UET_RC_OK && desc->kind == UET_DESC_REQ &&
	       desc->flags & UET_DESC_WAIT_DATA;
	/* Data that cannot be placed yet is as good as lost: soon ask again. */
	if (data && uet_read_place(pdc, desc, skb, pkt)) {
		uet_pdc_expect(pdc, UET_EV_ACK_NOT_SEEN, UET_PAGE_NS);
		return;
	}
	if (!desc->retx && !(pkt->flags & UET_ACK_RETX) &&
	    !(desc->flags & UET_DESC_RECEIVED))
		uet_tx_rtt(&pdc->tx, desc->stamp, pdc->now);
	uet_desc_received(pdc, psn);
	if (pkt->next == UET_NEXT_NONE) {
		/* No response: that is enough for a control packet only. */
		if (desc->kind == UET_DESC_CLOSE)
			uet_desc_answered(pdc, psn, NULL, d);
		return;
	}
	if (pkt->rsp.opcode == UET_RSP_NO_RESPONSE)
		return;
	/* A plain ACK may have come before the one with the data. */
	if (data)
		uet_desc_settle(pdc, desc, d);
	uet_desc_answered(pdc, psn, &pkt->rsp, d);
}

/**
 * uet_pdc_matches - is this PDC the one that the packet means?
 * @pdc: locked, found by dpdcid
 * @pkt: parsed
 * @rx: addresses
 *
 * The first packet of the target tells its PDCID.
 *
 * Return: true if addresses and spdcid are those of @pdc.
 */
bool uet_pdc_matches(struct uet_pdc *pdc, const struct uet_pkt *pkt,
		     const struct uet_rx *rx)
{
	if (pdc->state == UET_PDC_DEAD ||
	    !ipv6_addr_equal(&rx->hdr.src, &pdc->path->attr.dst) ||
	    !ipv6_addr_equal(&rx->hdr.dst, &pdc->path->attr.src))
		return false;
	if (!pkt->spdcid)
		return pkt->type == UET_PDS_NACK ||
		       pkt->type == UET_PDS_NACK_CCX;
	if (pdc->state == UET_PDC_SYN && pkt->type != UET_PDS_NACK) {
		pdc->peer_id = pkt->spdcid;
		WRITE_ONCE(pdc->state, UET_PDC_ESTABLISHED);
	}
	return !pdc->peer_id || pdc->peer_id == pkt->spdcid;
}

/* An ACK of packets that were never sent is not for this PDC's life. */
static bool uet_ack_plausible(const struct uet_pdc *pdc,
			      const struct uet_ack_info *ack)
{
	const struct uet_tx *tx = &pdc->tx;

	return uet_psn_before(ack->cack_psn, tx->next) &&
	       !uet_psn_before(ack->cack_psn, tx->start - 1);
}

/**
 * uet_pdc_rx_ack - an ACK, ACK_CC or ACK_CCX came
 * @fep: fabric endpoint
 * @skb: packet
 * @pkt: parsed
 * @rx: addresses
 * @d: collector
 *
 * Context: softirq, RCU read side.
 */
void uet_pdc_rx_ack(struct uet_fep *fep, struct sk_buff *skb,
		    const struct uet_pkt *pkt, const struct uet_rx *rx,
		    struct uet_defer *d)
{
	struct uet_pdc *pdc = uet_pdc_find(fep, pkt->dpdcid);
	const struct uet_ack_info *ack = &pkt->ack;

	uet_stat_inc(fep, UET_STAT_RX_ACKS);
	if (!pdc) {
		uet_stat_inc(fep, UET_STAT_DROP_PDC_UNKNOWN);
		return;
	}
	spin_lock(&pdc->lock);
	if (!uet_pdc_matches(pdc, pkt, rx)) {
		uet_stat_inc(fep, UET_STAT_DROP_PDC_MISMATCH);
		goto unlock;
	}
	if (!uet_ack_plausible(pdc, ack)) {
		uet_stat_inc(fep, UET_STAT_DROP_STALE_ACK);
		goto unlock;
	}
	pdc->now = ktime_get();
	pdc->last_rx = pdc->now;
	if (pkt->type != UET_PDS_ACK && ack->mpr &&
	    !uet_psn_before(ack->cack_psn, pdc->tx.cack))
		pdc->tx.mpr = min_t(u32, ack->mpr * UET_MPR_UNIT,
				    UET_PDC_WINDOW);
	if ((pkt->flags & UET_ACK_REQ) == UET_ACK_REQ_CLEAR)
		pdc->tx.clear_owed = true;
	if (!(pkt->flags & UET_ACK_P))
		uet_ack_psn(pdc, skb, pkt, d);
	uet_ack_sack(pdc, ack);
	uet_ack_cack(pdc, ack->cack_psn, d);
	uet_tx_release(pdc, d);
	uet_tx_infer_loss(pdc);
	uet_pdc_pump(pdc, d);
unlock:
	spin_unlock(&pdc->lock);
}

/* The target does not know us and has executed nothing: begin again. */
static bool uet_nack_restart(struct uet_pdc *pdc, const struct uet_pkt *pkt)
{
	const struct uet_tx *tx = &pdc->tx;
	u32 psn;

	if (!pdc->initiator || pkt->psn != tx->una)
		return false;
	for (psn = tx->una; psn != tx->next; psn++) {
		const struct uet_desc *desc = uet_tx_desc(&pdc->tx, psn);

		if (desc->retx || desc->flags & (UET_DESC_RECEIVED |
						 UET_DESC_ANSWERED))
			return false;
	}
	return uet_pdc_rename(pdc);
}

static void uet_nack_fatal(struct uet_pdc *pdc, const struct uet_pkt *pkt,
			   struct uet_defer *d)
{
	if (pdc->state == UET_PDC_CLOSE_WAIT) {
		/* The ACK of our Close got lost, 3.6. */
		uet_stat_inc(pdc->fep, UET_STAT_PDC_CLOSED);
		uet_pdc_kill(pdc, UET_ST_FLUSHED, d);
		return;
	}
	if ((pkt->nack_code == UET_NACK_INV_DPDCID ||
	     (pkt->nack_code == UET_NACK_INVALID_SYN &&
	      pdc->state == UET_PDC_SYN)) && uet_nack_restart(pdc, pkt))
		return;
	uet_stat_inc(pdc->fep, UET_STAT_PDC_FAILED);
	uet_pdc_kill(pdc, UET_ST_NACK + pkt->nack_code, d);
}

static void uet_nack_resend(struct uet_pdc *pdc, u32 psn)
{
	uet_stat_inc(pdc->fep, UET_STAT_RETX_NACK);
	uet_pdc_mark_lost(pdc, psn);
}

/* Send again, but not at once: the target lacks something (3.5). */
static void uet_nack_later(struct uet_pdc *pdc, u32 psn, u64 ns)
{
	uet_nack_resend(pdc, psn);
	pdc->paused = true;
	uet_pdc_expect(pdc, UET_EV_RESUME, ns);
}

static void uet_nack_act(struct uet_pdc *pdc, const struct uet_pkt *pkt,
			 struct uet_defer *d)
{
	struct uet_desc *desc = uet_tx_desc(&pdc->tx, pkt->psn);

	switch (pkt->nack_code) {
	case UET_NACK_ROD_OOO:
		/* What is missing in front of it goes first. */
		uet_nack_resend(pdc, pdc->tx.una);
		fallthrough;
	case UET_NACK_TRIMMED:
	case UET_NACK_TRIMMED_LASTHOP:
	case UET_NACK_RCVR_INFER_LOSS:
		uet_nack_resend(pdc, pkt->psn);
		break;
	case UET_NACK_PKT_NOT_RCVD:
	case UET_NACK_ACK_WITH_DATA:
		if (!(desc->flags & UET_DESC_ANSWERED))
			desc->flags &= ~UET_DESC_RECEIVED;
		uet_nack_resend(pdc, pkt->psn);
		break;
	case UET_NACK_RCVD_SES_PROCG:
		break;
	case UET_NACK_NO_PKT_BUFFER:
		uet_nack_later(pdc, pkt->psn, UET_PAGE_NS);
		break;
	case UET_NACK_NO_PDC_AVAIL ... UET_NACK_NO_BITMAP:
	case UET_NACK_NO_GTD_DEL_AVAIL ... UET_NACK_PSN_OOR_WINDOW:
		uet_nack_later(pdc, pkt->psn, UET_NACK_RETX_NS);
		break;
	default:
		uet_nack_fatal(pdc, pkt, d);
	}
}

/**
 * uet_pdc_rx_nack - a NACK came
 * @fep: fabric endpoint
 * @pkt: parsed
 * @rx: addresses
 * @d: collector
 *
 * Context: softirq, RCU read side. A NACK of a PSN that is not in flight
 * changes nothing (2.8).
 */
void uet_pdc_rx_nack(struct uet_fep *fep, const struct uet_pkt *pkt,
		     const struct uet_rx *rx, struct uet_defer *d)
{
	struct uet_pdc *pdc = uet_pdc_find(fep, pkt->dpdcid);

	uet_stat_inc(fep, UET_STAT_RX_NACKS);
	if (!pdc || pkt->flags & UET_NACK_NT) {
		uet_stat_inc(fep, UET_STAT_DROP_PDC_UNKNOWN);
		return;
	}
	spin_lock(&pdc->lock);
	if (!uet_pdc_matches(pdc, pkt, rx)) {
		uet_stat_inc(fep, UET_STAT_DROP_PDC_MISMATCH);
	} else if (!uet_tx_holds(&pdc->tx, pkt->psn)) {
		uet_stat_inc(fep, UET_STAT_DROP_STALE_NACK);
	} else {
		uet_nack_act(pdc, pkt, d);
		uet_pdc_pump(pdc, d);
	}
	spin_unlock(&pdc->lock);
}
