// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Datagrams at the target: one packet, never answered. uet-wire 3.7. */
#include "ep.h"
#include "fep.h"
#include "mcast.h"
#include "ses.h"

static enum uet_stat uet_datagram_drop(const struct uet_recv *recv)
{
	if (!recv)
		return UET_STAT_DROP_NO_RECV;
	switch (PTR_ERR(recv)) {
	case -EPERM:
		return UET_STAT_DROP_QKEY;
	case -EMSGSIZE:
		return UET_STAT_DROP_TOO_LONG;
	default:
		return UET_STAT_DROP_MEM;
	}
}

/**
 * uet_datagram_place - deliver a datagram
 * @ep: to whom; locked
 * @skb: packet
 * @pkt: parsed
 * @rx: addresses
 * @d: collector
 */
void uet_datagram_place(struct uet_ep *ep, struct sk_buff *skb,
			const struct uet_pkt *pkt, const struct uet_rx *rx,
			struct uet_defer *d)
{
	const struct uet_ses_req *req = &pkt->req;
	struct uet_fep *fep = ep->fep;
	struct uet_recv *recv;

	if (ep->dead || ep->state != UET_EP_OPEN || ep->mode != UET_EP_UUD) {
		uet_stat_inc(fep, UET_STAT_DROP_NO_EP);
		return;
	}
	if (req->job_id && fep->ops->job_admit(ep, req->job_id) != UET_RC_OK) {
		uet_stat_inc(fep, UET_STAT_DROP_NO_EP);
		return;
	}
	recv = fep->ops->recv_get(ep, req->opcode, req->request_length,
				  req->match & ~UET_MATCH_SOLICITED, &rx->hdr,
				  d);
	if (IS_ERR_OR_NULL(recv)) {
		uet_stat_inc(fep, uet_datagram_drop(recv));
		return;
	}
	recv->op = req->opcode;
	recv->len = req->request_length;
	recv->src_wire = req->initiator;
	recv->job_id = req->job_id;
	recv->match = req->match & ~UET_MATCH_SOLICITED;
	recv->solicited = req->match & UET_MATCH_SOLICITED;
	recv->has_hdata = req->flags & UET_SES_HD;
	recv->hdata = req->header_data;
	if (uet_skb_to_sge(skb, pkt->skb_off, recv->sge, recv->nr_sge,
			   recv->skip, pkt->payload_len)) {
		fep->ops->recv_done(ep, recv, UET_ST_PROT, d);
		uet_stat_inc(fep, UET_STAT_DROP_MEM);
		return;
	}
	uet_stat_inc(fep, UET_STAT_RX_MSGS);
	uet_stat_add(fep, UET_STAT_RX_BYTES, pkt->payload_len);
	fep->ops->recv_done(ep, recv, UET_ST_OK, d);
}

/**
 * uet_ses_datagram - a UUD packet came, 3.7
 * @fep: fabric endpoint
 * @skb: packet
 * @pkt: parsed
 * @rx: addresses
 * @d: collector
 *
 * Context: softirq, RCU read side. Nothing is ever answered.
 */
void uet_ses_datagram(struct uet_fep *fep, struct sk_buff *skb,
		      const struct uet_pkt *pkt, const struct uet_rx *rx,
		      struct uet_defer *d)
{
	const struct uet_ses_req *req = &pkt->req;
	struct uet_ep *ep = NULL;

	if (req->opcode != UET_OP_DATAGRAM_SEND || !uet_req_is_single(req) ||
	    req->flags & UET_SES_IE) {
		uet_stat_inc(fep, UET_STAT_DROP_UNSUPPORTED);
		return;
	}
	if (uet_addr_is_mcast(&rx->hdr.dst)) {
		uet_mcast_deliver(fep, skb, pkt, rx, d);
		return;
	}
	/* Only unordered endpoints have relative addresses. */
	if (!(req->flags & UET_SES_REL))
		ep = uet_ep_find(fep, 0,
				 uet_wire_pair(req->pid_on_fep, req->ri));
	if (!ep) {
		uet_stat_inc(fep, UET_STAT_DROP_NO_EP);
		return;
	}
	spin_lock(&ep->lock);
	uet_datagram_place(ep, skb, pkt, rx, d);
	spin_unlock(&ep->lock);
}
