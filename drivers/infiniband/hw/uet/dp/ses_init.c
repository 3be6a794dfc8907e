// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The initiator's semantics: request headers of messages, and the end of
 * messages. uet-wire 4.1 - 4.4, 4.11.
 */
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "../compat.h"
#include "ep.h"
#include "fep.h"
#include "pdc.h"
#include "ses.h"

static void uet_ses_fill_read(const struct uet_msg *msg, struct uet_pkt *pkt,
			      u32 offset, u32 len, u16 id)
{
	struct uet_ses_req *req = &pkt->req;

	req->flags |= UET_SES_SOM | UET_SES_EOM;
	req->message_id = id;
	req->buffer_offset = msg->offset + offset;
	req->request_length = len;
}

static void uet_ses_fill_data(const struct uet_msg *msg, struct uet_pkt *pkt,
			      u32 offset, u32 len)
{
	struct uet_ses_req *req = &pkt->req;

	if (!offset)
		req->flags |= UET_SES_SOM;
	if (offset + len == msg->len)
		req->flags |= UET_SES_EOM;
	req->message_id = msg->id;
	req->buffer_offset = msg->offset;
	req->payload_length = len;
	req->message_offset = offset;
	req->request_length = msg->len;
	if (msg->flags & UET_MSG_HDATA) {
		/* The layout has no room for it behind the first packet. */
		req->header_data = msg->hdata;
		if (!offset)
			req->flags |= UET_SES_HD;
	}
}

/*
 * 4.5: the operand of addition and WRITE is the payload, those of a compare-and-swap
 * stand in the extension, right-justified; big-endian.
 */
static void uet_ses_fill_amo(const struct uet_msg *msg, struct uet_pkt *pkt)
{
	struct uet_ses_req *req = &pkt->req;

	req->flags |= UET_SES_SOM | UET_SES_EOM;
	req->message_id = msg->id;
	req->buffer_offset = msg->offset;
	req->request_length = sizeof(u64);
	req->amo_op = msg->amo_op;
	req->amo_type = UET_AMO_UINT64;
	if (msg->amo_op != UET_AMO_CSWAP)
		return;
	req->request_length = sizeof(req->amo_compare) + sizeof(req->amo_swap);
	put_unaligned_be64(msg->amo_compare, req->amo_compare + 8);
	put_unaligned_be64(msg->amo_operand, req->amo_swap + 8);
}

/**
 * uet_ses_fill - SES header of one packet of a message
 * @msg: message
 * @pkt: packet; psn is set
 * @offset: message offset
 * @len: bytes of payload, or asked for
 * @gen: generation of the target's resource index
 * @read_id: message id of a READ packet
 */
void uet_ses_fill(const struct uet_msg *msg, struct uet_pkt *pkt, u32 offset,
		  u32 len, u8 gen, u16 read_id)
{
	struct uet_ses_req *req = &pkt->req;
	const struct uet_ep *ep = msg->ep;
	u32 wire = ep->mode == UET_EP_ROD ? ep->conn.peer_wire : msg->peer_wire;

	pkt->next = UET_NEXT_REQ_STD;
	req->opcode = msg->op;
	if (ep->job_id)
		req->flags |= UET_SES_REL;
	if (msg->flags & UET_MSG_DC)
		req->flags |= UET_SES_DC;
	req->ri_gen = gen;
	req->job_id = msg->job_id;
	req->pid_on_fep = uet_wire_pid(wire);
	req->ri = uet_wire_ri(wire);
	req->initiator = ep->initiator;
	req->match = msg->match;
	if (msg->flags & UET_MSG_SOLICITED && msg->op != UET_OP_WRITE)
		req->match |= UET_MATCH_SOLICITED;
	if (msg->op == UET_OP_READ)
		uet_ses_fill_read(msg, pkt, offset, len, read_id);
	else if (uet_msg_is_amo(msg))
		uet_ses_fill_amo(msg, pkt);
	else
		uet_ses_fill_data(msg, pkt, offset, len);
	if (msg->flags & UET_MSG_SOLICITED && msg->op == UET_OP_WRITE &&
	    msg->flags & UET_MSG_HDATA && !offset)
		req->header_data |= UET_HDATA_SOLICITED;
}

/**
 * uet_ses_fill_orphan - use up a PSN whose message was given up
 * @pkt: packet
 */
void uet_ses_fill_orphan(struct uet_pkt *pkt)
{
	pkt->next = UET_NEXT_REQ_STD;
	pkt->req.opcode = UET_OP_NO_OP;
	pkt->req.flags = UET_SES_SOM | UET_SES_EOM;
}

/**
 * uet_ses_give_up - what tells the target that the rest of a message never comes
 * @msg: message
 *
 * Return: for a packet; NULL: no memory.
 */
struct uet_cancel *uet_ses_give_up(const struct uet_msg *msg)
{
	const struct uet_ep *ep = msg->ep;
	struct uet_cancel *c = kmalloc_obj(*c, GFP_ATOMIC | __GFP_NOWARN);

	if (!c)
		return NULL;
	INIT_LIST_HEAD(&c->node);
	c->wire = ep->mode == UET_EP_ROD ? ep->conn.peer_wire : msg->peer_wire;
	c->job_id = msg->job_id;
	c->rel = ep->job_id;
	c->initiator = ep->initiator;
	c->id = msg->id;
	c->len = msg->len;
	c->sent = msg->sent;
	return c;
}

/**
 * uet_ses_cancel - a message of several packets is given up half way
 * @pdc: locked
 * @msg: message
 *
 * Without memory for it the target keeps the receive buffer until the PDC
 * closes.
 */
void uet_ses_cancel(struct uet_pdc *pdc, const struct uet_msg *msg)
{
	struct uet_cancel *c;

	if (!msg->sent || msg->len <= pdc->mtu || msg->op == UET_OP_READ)
		return;
	c = uet_ses_give_up(msg);
	if (c)
		list_add_tail(&c->node, &pdc->cancels);
}

/**
 * uet_ses_fill_cancel - SES header of MSG_ERROR, 4.14
 * @c: what is given up
 * @pkt: packet
 */
void uet_ses_fill_cancel(const struct uet_cancel *c, struct uet_pkt *pkt)
{
	struct uet_ses_req *req = &pkt->req;

	pkt->next = UET_NEXT_REQ_STD;
	req->opcode = UET_OP_MSG_ERROR;
	req->flags = UET_SES_EOM | (c->rel ? UET_SES_REL : 0);
	req->message_id = c->id;
	req->job_id = c->job_id;
	req->pid_on_fep = uet_wire_pid(c->wire);
	req->ri = uet_wire_ri(c->wire);
	req->initiator = c->initiator;
	req->message_offset = c->sent;
	req->request_length = c->len;
}

/**
 * uet_ses_answer - the peer refused a packet of a message
 * @pdc: locked
 * @msg: message
 * @rc: enum uet_rc, not OK
 * @gen: generation in the response
 *
 * The first refusal of a message counts, but for one that only says that there was
 * another before it, which it may have overtaken. Those that say that the receiver
 * is not ready are no error: the message will be sent again.
 */
void uet_ses_answer(struct uet_pdc *pdc, struct uet_msg *msg, u8 rc, u8 gen)
{
	if (msg->status == UET_ST_OK || msg->status == UET_RC_DISABLED)
		msg->status = rc;
	switch (rc) {
	case UET_RC_DISABLED_GEN:
		pdc->refused = pdc->rod;
		fallthrough;
	case UET_RC_BAD_GENERATION:
		uet_stat_inc(pdc->fep, UET_STAT_RNR_RECEIVED);
		pdc->rewind = pdc->rod;
		if (pdc->rod && rc == UET_RC_BAD_GENERATION)
			msg->ep->peer_gen = gen;
		break;
	case UET_RC_NO_MATCH:
		uet_stat_inc(pdc->fep, UET_STAT_RNR_RECEIVED);
		break;
	default:
		/* Ordered: what would follow is refused anyway. */
		if (pdc->rod && !msg->all_sent) {
			msg->all_sent = true;
			uet_pdc_pass(pdc, msg);
		}
	}
}

static void uet_ses_offer_again(struct uet_pdc *pdc, struct uet_msg *msg,
				struct uet_defer *d)
{
	u8 limit = READ_ONCE(msg->ep->conn.rnr_retry);

	if (limit < 7 && msg->rnr_count >= limit) {
		uet_msg_finish(pdc, msg, UET_ST_RNR, d);
		return;
	}
	if (msg->rnr_count < U8_MAX)
		msg->rnr_count++;
	list_move_tail(&msg->node, &pdc->waiting);
	uet_pdc_expect(pdc, UET_EV_RESUME,
		       min_t(u64, UET_RNR_MIN_NS << min(msg->rnr_count, 8),
			     UET_RNR_MAX_NS));
}

/**
 * uet_ses_settle - every packet of a message is answered
 * @pdc: locked
 * @msg: message, completely sent
 * @d: collector
 */
void uet_ses_settle(struct uet_pdc *pdc, struct uet_msg *msg,
		    struct uet_defer *d)
{
	if (pdc->rod && (msg->status == UET_RC_DISABLED_GEN ||
			 msg->status == UET_RC_BAD_GENERATION))
		return;		/* uet_pdc_rewind() sends it again */
	if (!pdc->rod && msg->status == UET_RC_NO_MATCH) {
		uet_ses_offer_again(pdc, msg, d);
		return;
	}
	uet_msg_finish(pdc, msg, msg->status, d);
}

/**
 * uet_msg_finish - a message ended; its owner gets it back
 * @pdc: locked
 * @msg: on one of the lists of @pdc
 * @status: enum uet_status or enum uet_rc
 * @d: collector
 */
void uet_msg_finish(struct uet_pdc *pdc, struct uet_msg *msg, int status,
		    struct uet_defer *d)
{
	struct uet_ep *ep = msg->ep;

	uet_pdc_pass(pdc, msg);
	list_del(&msg->node);
	pdc->queued -= msg->len - msg->sent;
	if (status == UET_ST_OK)
		uet_stat_inc(pdc->fep, UET_STAT_TX_MSGS);
	pdc->fep->ops->msg_done(ep, msg, status, d);
}
