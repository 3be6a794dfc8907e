// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The target's semantics: which endpoint a request is for, whether it may do
 * what it asks, where its bytes go, and what is answered.
 * uet-wire 4.6 - 4.11, 5.2, 5.5.
 */
#include <linux/bitfield.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "../compat.h"
#include "ep.h"
#include "fep.h"
#include "mcast.h"
#include "pdc.h"
#include "ses.h"

/* What is being answered, so that helpers need not take six arguments. */
struct uet_request {
	struct uet_pdc *pdc;
	struct uet_ep *ep;
	struct sk_buff *skb;
	const struct uet_pkt *pkt;
	const struct uet_ses_req *req;
	struct uet_verdict *v;
	struct uet_defer *d;
};

static enum uet_stat uet_refused_stat(u8 rc)
{
	switch (rc) {
	case UET_RC_UNDELIVERABLE:
	case UET_RC_DISABLED:
		return UET_STAT_REFUSED_NO_EP;
	case UET_RC_BAD_PID:
		return UET_STAT_REFUSED_PEER;
	case UET_RC_BAD_JOB_ID:
		return UET_STAT_REFUSED_JOB;
	case UET_RC_BAD_MKEY:
		return UET_STAT_REFUSED_KEY;
	case UET_RC_BAD_ADDR:
		return UET_STAT_REFUSED_ADDR;
	case UET_RC_PERM_VIOLATION:
		return UET_STAT_REFUSED_PERM;
	case UET_RC_TOO_LONG:
		return UET_STAT_REFUSED_TOO_LONG;
	case UET_RC_UNSUPPORTED_OP:
	case UET_RC_UNSUPPORTED_SIZE:
	case UET_RC_OP_VIOLATION:
	case UET_RC_AMO_UNSUPPORTED_OP:
	case UET_RC_AMO_UNSUPPORTED_DT:
	case UET_RC_AMO_UNSUPPORTED_SIZE:
	case UET_RC_AMO_UNALIGNED:
		return UET_STAT_REFUSED_OP;
	case UET_RC_DISABLED_GEN:
	case UET_RC_BAD_GENERATION:
	case UET_RC_NO_MATCH:
		return UET_STAT_RNR_SENT;
	default:
		return UET_STAT_REFUSED_OTHER;
	}
}

/* An answer that is not plain success: full response, must not get lost. */
static void uet_refuse(struct uet_request *r, u8 rc)
{
	r->v->gtd = true;
	r->v->rsp.opcode = UET_RSP_RESPONSE;
	r->v->rsp.rc = rc;
	uet_stat_inc(r->pdc->fep, uet_refused_stat(rc));
}

/*
 * The peer broke the rules: an ordered endpoint takes nothing any more, so
 * that what was sent behind the bad request is not executed.
 */
static void uet_fault(struct uet_request *r, u8 rc)
{
	uet_refuse(r, rc);
	if (r->ep->mode != UET_EP_ROD || r->ep->unreliable)
		return;
	r->ep->state = UET_EP_ERROR;
	r->pdc->fep->ops->ep_fault(r->ep, rc, r->d);
}

/* ------------------------------------------------------------------ */
/* Messages of several packets                                         */

static struct uet_inbound *uet_inbound_find(const struct uet_pdc *pdc, u16 id)
{
	struct uet_inbound *in;

	list_for_each_entry(in, &pdc->inbound, pdc_node)
		if (in->id == id)
			return in;
	return NULL;
}

static struct uet_inbound *uet_inbound_add(struct uet_request *r)
{
	struct uet_inbound *in;

	in = kzalloc_obj(*in, GFP_ATOMIC | __GFP_NOWARN);
	if (!in)
		return NULL;
	in->id = r->req->message_id;
	in->rc = UET_RC_OK;
	in->len = r->req->request_length;
	in->ep = r->ep;
	list_add_tail(&in->pdc_node, &r->pdc->inbound);
	list_add_tail(&in->ep_node, &r->ep->inbound);
	return in;
}

/* PDC lock and endpoint lock held; the buffer is not given back here. */
static void uet_inbound_free(struct uet_inbound *in)
{
	list_del(&in->pdc_node);
	list_del_init(&in->ep_node);
	kfree(in);
}

/**
 * uet_inbound_drop - the PDC of a message ends before the message is complete
 * @pdc: locked
 * @in: message
 * @d: collector
 */
void uet_inbound_drop(struct uet_pdc *pdc, struct uet_inbound *in,
		      struct uet_defer *d)
{
	struct uet_ep *ep = READ_ONCE(in->ep);

	list_del(&in->pdc_node);
	/* The endpoint may be letting go of it right now; see uet_ep_flush() */
	if (ep) {
		spin_lock(&ep->lock);
		if (in->ep) {
			list_del_init(&in->ep_node);
			if (in->recv)
				pdc->fep->ops->recv_done(ep, in->recv,
							 UET_ST_TIMEOUT, d);
		}
		spin_unlock(&ep->lock);
	}
	kfree(in);
}

static u8 uet_recv_error(long err)
{
	switch (err) {
	case -EMSGSIZE:
		return UET_RC_TOO_LONG;
	case -EPERM:
		return UET_RC_PERM_VIOLATION;
	default:
		return UET_RC_HOST_UNSUCCESS_CMPL;
	}
}

/* Out of receive buffers, 4.10: ordered messages wait, others are dropped. */
static void uet_not_ready(struct uet_request *r)
{
	if (r->ep->mode != UET_EP_ROD || r->ep->unreliable) {
		uet_refuse(r, UET_RC_NO_MATCH);
		return;
	}
	r->ep->disabled = true;
	uet_refuse(r, UET_RC_DISABLED_GEN);
	r->v->rsp.ri_gen = r->ep->gen;
}

static struct uet_recv *uet_recv_get(struct uet_request *r)
{
	const struct uet_ses_req *req = r->req;
	struct uet_recv *recv;

	recv = r->pdc->fep->ops->recv_get(r->ep, req->opcode,
					  req->request_length, req->match, NULL,
					  r->d);
	if (IS_ERR(recv)) {
		uet_fault(r, uet_recv_error(PTR_ERR(recv)));
		return NULL;
	}
	if (!recv) {
		uet_not_ready(r);
		return NULL;
	}
	recv->op = req->opcode;
	recv->len = req->request_length;
	recv->src_wire = req->initiator;
	recv->job_id = req->job_id;
	recv->match = req->match & ~UET_MATCH_SOLICITED;
	recv->solicited = req->match & UET_MATCH_SOLICITED &&
			  req->opcode != UET_OP_WRITE;
	recv->has_hdata = false;
	return recv;
}

/*
 * Header data counts in the first packet only, 4.2. To an unordered endpoint
 * it is immediate all over, and a WRITE with it wakes the receiver.
 */
static void uet_recv_hdata(const struct uet_request *r, struct uet_recv *recv)
{
	const struct uet_ses_req *req = r->req;

	if (!recv || !(req->flags & UET_SES_HD) || !(req->flags & UET_SES_SOM))
		return;
	recv->has_hdata = true;
	recv->hdata = req->header_data;
	if (req->opcode == UET_OP_WRITE &&
	    (r->ep->mode == UET_EP_RUD || recv->hdata & UET_HDATA_SOLICITED))
		recv->solicited = true;
}

static void uet_recv_complete(struct uet_request *r, struct uet_recv *recv)
{
	uet_stat_inc(r->pdc->fep, UET_STAT_RX_MSGS);
	if (recv)
		r->pdc->fep->ops->recv_done(r->ep, recv, UET_ST_OK, r->d);
}

/*
 * The memory is not there yet. The packet leaves no trace and is sent again; a
 * buffer that was lent waits with what is known of its message.
 */
static bool uet_park(struct uet_request *r, struct uet_recv *recv)
{
	struct uet_inbound *in;

	r->v->nack = UET_NACK_NO_PKT_BUFFER;
	if (!recv)
		return true;
	in = uet_inbound_add(r);
	if (!in)
		return false;
	in->recv = recv;
	return true;
}

/* Bytes that could not be placed: our own memory is at fault. */
static void uet_recv_failed(struct uet_request *r, struct uet_recv *recv)
{
	r->v->nack = 0;
	if (recv)
		r->pdc->fep->ops->recv_done(r->ep, recv, UET_ST_PROT, r->d);
	uet_fault(r, UET_RC_HOST_UNSUCCESS_CMPL);
}

/* ------------------------------------------------------------------ */
/* SEND                                                                */

static int uet_place_recv(struct uet_request *r, struct uet_recv *recv)
{
	uet_stat_add(r->pdc->fep, UET_STAT_RX_BYTES, r->pkt->payload_len);
	return uet_skb_to_sge(r->skb, r->pkt->skb_off, recv->sge, recv->nr_sge,
			      (u64)recv->skip + r->req->message_offset,
			      r->pkt->payload_len);
}

static void uet_send_single(struct uet_request *r)
{
	struct uet_recv *recv = uet_recv_get(r);
	int err;

	if (!recv)
		return;
	err = uet_place_recv(r, recv);
	if (err == -EAGAIN && uet_park(r, recv))
		return;
	if (err) {
		uet_recv_failed(r, recv);
		return;
	}
	uet_recv_hdata(r, recv);
	uet_recv_complete(r, recv);
}

/*
 * The state of the message that a packet belongs to; made by whichever packet
 * comes first. A refused unordered message keeps its state, so that its other
 * packets are refused as well.
 */
static struct uet_inbound *uet_inbound_get(struct uet_request *r, bool recv)
{
	struct uet_inbound *in = uet_inbound_find(r->pdc, r->req->message_id);

	if (in && in->ep != r->ep) {
		/* Let go of by a flush, or an id used for two endpoints */
		uet_refuse(r, in->ep ? UET_RC_OP_VIOLATION : UET_RC_DISABLED);
		return NULL;
	}
	if (in)
		return in;
	in = uet_inbound_add(r);
	if (!in) {
		r->v->nack = UET_NACK_NO_SES_MSG_AVAIL;
		return NULL;
	}
	if (!recv)
		return in;
	in->recv = uet_recv_get(r);
	if (in->recv)
		return in;
	in->rc = r->v->rsp.rc;
	if (r->ep->mode == UET_EP_ROD) {
		uet_inbound_free(in);
		return NULL;
	}
	return in;
}

/* One more packet of @in; frees it after the last. */
static void uet_inbound_count(struct uet_request *r, struct uet_inbound *in)
{
	struct uet_recv *recv = in->recv;

	in->got += r->pkt->payload_len;
	if (in->got < in->len)
		return;
	if (in->rc == UET_RC_OK) {
		uet_recv_complete(r, recv);
		in->recv = NULL;
	}
	uet_inbound_free(in);
}

static void uet_send_part(struct uet_request *r)
{
	struct uet_inbound *in = uet_inbound_get(r, true);
	int err = 0;

	if (!in)
		return;
	if (in->rc == UET_RC_OK && r->req->request_length != in->len)
		in->rc = UET_RC_UNCOR;
	if (in->rc == UET_RC_OK)
		err = uet_place_recv(r, in->recv);
	if (err == -EAGAIN) {
		uet_park(r, NULL);
		return;
	}
	if (err) {
		uet_recv_failed(r, in->recv);
		in->recv = NULL;
		in->rc = UET_RC_HOST_UNSUCCESS_CMPL;
	}
	if (in->rc != UET_RC_OK)
		uet_refuse(r, in->rc);
	else
		uet_recv_hdata(r, in->recv);
	uet_inbound_count(r, in);
}

/* Is this a message of one packet that nothing is known of yet? */
static bool uet_is_simple(const struct uet_request *r)
{
	return uet_req_is_single(r->req) &&
	       (list_empty(&r->pdc->inbound) ||
		!uet_inbound_find(r->pdc, r->req->message_id));
}

static void uet_do_send(struct uet_request *r)
{
	if (uet_is_simple(r))
		uet_send_single(r);
	else
		uet_send_part(r);
}

/* ------------------------------------------------------------------ */
/* WRITE                                                               */

static u8 uet_rma(struct uet_request *r, u64 off, u32 len, u8 access,
		  struct uet_sge *sge)
{
	const struct uet_ses_req *req = r->req;
	u64 addr;

	if (check_add_overflow(req->buffer_offset, off, &addr))
		return UET_RC_BAD_ADDR;
	return r->pdc->fep->ops->mem_get(r->ep, req->job_id, req->match, addr,
					 len, access, sge);
}

/*
 * The first packet of a message checks all of its range, so that a write that
 * does not fit leaves nothing behind on an ordered endpoint. UET_RC_NULL: the
 * memory is not there yet.
 */
static u8 uet_write_place(struct uet_request *r)
{
	const struct uet_ses_req *req = r->req;
	struct uet_sge sge = {};
	u32 len = r->pkt->payload_len;
	int err;
	u8 rc;

	if (!req->request_length)
		return UET_RC_OK;
	rc = uet_rma(r, req->message_offset, req->flags & UET_SES_SOM ?
		     req->request_length : len, UET_ACCESS_WRITE, &sge);
	if (rc != UET_RC_OK)
		return rc;
	err = uet_skb_to_sge(r->skb, r->pkt->skb_off, &sge, 1, 0, len);
	if (sge.mem)
		uet_mem_put(sge.mem);
	if (err)
		return err == -EAGAIN ? UET_RC_NULL : UET_RC_BAD_MKEY;
	uet_stat_add(r->pdc->fep, UET_STAT_RX_BYTES, len);
	return rc;
}

static void uet_write_single(struct uet_request *r)
{
	struct uet_recv *recv = NULL;
	u8 rc;

	if (r->req->flags & UET_SES_HD) {
		recv = uet_recv_get(r);
		if (!recv)
			return;
	}
	rc = uet_write_place(r);
	if (rc == UET_RC_NULL) {
		uet_recv_hdata(r, recv);
		if (uet_park(r, recv))
			return;
		r->v->nack = 0;
		rc = UET_RC_HOST_UNSUCCESS_CMPL;
	}
	if (rc != UET_RC_OK) {
		if (recv)
			r->pdc->fep->ops->recv_done(r->ep, recv,
						    UET_ST_FLUSHED, r->d);
		uet_fault(r, rc);
		return;
	}
	uet_recv_hdata(r, recv);
	uet_recv_complete(r, recv);
}

/*
 * Only the first packet says whether a completion is wanted, but unordered it
 * may come last: so every write of several packets is counted.
 */
static void uet_write_part(struct uet_request *r)
{
	struct uet_inbound *in = uet_inbound_get(r, false);
	u8 rc;

	if (!in)
		return;
	if (in->rc == UET_RC_OK && r->req->request_length != in->len)
		in->rc = UET_RC_UNCOR;
	if (in->rc == UET_RC_OK && r->req->flags & UET_SES_HD &&
	    r->req->flags & UET_SES_SOM && !in->recv) {
		in->recv = uet_recv_get(r);
		if (!in->recv) {
			in->rc = r->v->rsp.rc;
			if (r->ep->mode == UET_EP_ROD) {
				uet_inbound_free(in);
				return;
			}
		}
		uet_recv_hdata(r, in->recv);
	}
	rc = in->rc == UET_RC_OK ? uet_write_place(r) : in->rc;
	if (rc == UET_RC_NULL) {
		uet_park(r, NULL);
		return;
	}
	if (rc != UET_RC_OK && in->rc == UET_RC_OK) {
		in->rc = rc;
		if (in->recv)
			r->pdc->fep->ops->recv_done(r->ep, in->recv,
						    UET_ST_FLUSHED, r->d);
		in->recv = NULL;
		uet_fault(r, rc);
	} else if (rc != UET_RC_OK) {
		uet_refuse(r, rc);
	}
	uet_inbound_count(r, in);
}

static void uet_do_write(struct uet_request *r)
{
	if (uet_is_simple(r))
		uet_write_single(r);
	else
		uet_write_part(r);
}

/* ------------------------------------------------------------------ */
/* READ                                                                */

/**
 * uet_rdrsp_free - free read data that is sent or given up
 * @rd: not on a list
 */
void uet_rdrsp_free(struct uet_rdrsp *rd)
{
	if (rd->sge.mem)
		uet_mem_put(rd->sge.mem);
	kfree(rd);
}

/**
 * uet_ses_fill_rdrsp - SES header of read data on the return direction
 * @rd: read data
 * @pkt: packet
 */
void uet_ses_fill_rdrsp(const struct uet_rdrsp *rd, struct uet_pkt *pkt)
{
	struct uet_ses_rsp *rsp = &pkt->rsp;

	pkt->next = rd->id ? UET_NEXT_RSP_DATA : UET_NEXT_RSP_DATA_SMALL;
	rsp->opcode = UET_RSP_DATA;
	rsp->rc = rd->rc;
	rsp->job_id = rd->job_id;
	rsp->read_message_id = rd->id;
	rsp->request_psn = rd->psn;
	rsp->payload_length = rd->sge.len;
	rsp->message_offset = rd->offset;
}

/* Up to Max_ACK_Data_Size: in the ACK, 2.15. */
static void uet_read_in_ack(struct uet_request *r, struct uet_sge *sge, u32 len)
{
	struct uet_verdict *v = r->v;

	int err = len ? uet_sge_read(sge, 0, v->data, len) : 0;

	if (err == -EAGAIN) {
		uet_park(r, NULL);
		return;
	}
	if (err) {
		uet_fault(r, UET_RC_BAD_MKEY);
		return;
	}
	v->gtd = true;
	v->rsp.opcode = UET_RSP_DATA;
	v->rsp.read_message_id = r->req->message_id;
	v->rsp.message_id = 0;
	v->rsp.payload_length = len;
	v->rsp.message_offset = r->req->message_offset;
	v->rsp.request_psn = r->pkt->psn;
}

static struct uet_rdrsp *uet_rdrsp_new(struct uet_request *r,
				       const struct uet_sge *sge, u32 at)
{
	struct uet_rdrsp *rd;

	rd = kzalloc_obj(*rd, GFP_ATOMIC | __GFP_NOWARN);
	if (!rd)
		return NULL;
	rd->sge = *sge;
	rd->sge.off += at;
	rd->sge.len = min(sge->len - at, r->pdc->mtu);
	if (sge->mem)
		uet_mem_get(sge->mem);
	rd->job_id = r->req->job_id;
	rd->id = r->req->message_id;
	rd->psn = r->pkt->psn;
	rd->offset = r->req->message_offset + at;
	rd->rc = UET_RC_OK;
	return rd;
}

/* In packets of our own: as many as it takes, where the reader's are larger. */
static void uet_read_later(struct uet_request *r, const struct uet_sge *sge)
{
	struct uet_rdrsp *rd, *tmp;
	LIST_HEAD(parts);
	u32 at = 0;

	do {
		rd = uet_rdrsp_new(r, sge, at);
		if (!rd)
			break;
		list_add_tail(&rd->node, &parts);
		at += rd->sge.len;
	} while (at < sge->len);
	if (rd) {
		list_splice_tail(&parts, &r->pdc->rdrsps);
		return;
	}
	list_for_each_entry_safe(rd, tmp, &parts, node)
		uet_rdrsp_free(rd);
	r->v->nack = UET_NACK_NO_RESOURCE;
}

static void uet_do_read(struct uet_request *r)
{
	const struct uet_ses_req *req = r->req;
	struct uet_sge sge = {};
	u32 len = req->payload_length;
	u8 rc = UET_RC_OK;

	/* The first packet of a longer read does not say how much it wants. */
	if (uet_req_is_single(req))
		len = req->request_length;
	else if (req->flags & UET_SES_SOM)
		len = min(req->request_length, r->pdc->mtu);
	if (len > UET_PAYLOAD_MTU_MAX)
		rc = UET_RC_UNSUPPORTED_SIZE;
	else if (len)
		rc = uet_rma(r, req->message_offset, len, UET_ACCESS_READ, &sge);
	if (rc != UET_RC_OK) {
		uet_fault(r, rc);
		return;
	}
	if (req->request_length > UET_ACK_DATA_MAX)
		uet_read_later(r, &sge);
	else
		uet_read_in_ack(r, &sge, len);
	if (sge.mem)
		uet_mem_put(sge.mem);
}

/* ------------------------------------------------------------------ */
/* Atomics                                                             */

static u8 uet_amo_check(const struct uet_request *r)
{
	const struct uet_ses_req *req = r->req;

	if (req->amo_op != UET_AMO_SUM && req->amo_op != UET_AMO_WRITE &&
	    req->amo_op != UET_AMO_CSWAP)
		return UET_RC_AMO_UNSUPPORTED_OP;
	if (req->amo_type != UET_AMO_UINT64 && req->amo_type != UET_AMO_INT64)
		return UET_RC_AMO_UNSUPPORTED_DT;
	if (req->amo_op != UET_AMO_CSWAP &&
	    r->pkt->payload_len != sizeof(u64))
		return UET_RC_AMO_UNSUPPORTED_SIZE;
	return UET_RC_OK;
}

/* UET_RC_NULL: the memory is not there yet. */
static u8 uet_amo_execute(struct uet_request *r, u64 *old)
{
	const struct uet_ses_req *req = r->req;
	struct uet_sge sge = {};
	u64 operand, compare = 0;
	u8 be[sizeof(u64)];
	int err;
	u8 rc;

	if (req->amo_op == UET_AMO_CSWAP) {
		compare = get_unaligned_be64(req->amo_compare + 8);
		operand = get_unaligned_be64(req->amo_swap + 8);
	} else {
		if (skb_copy_bits(r->skb, r->pkt->skb_off, be, sizeof(be)))
			return UET_RC_AMO_UNSUPPORTED_SIZE;
		operand = get_unaligned_be64(be);
	}
	/* To store without a look at what was there takes no more than that. */
	rc = uet_rma(r, 0, sizeof(u64), req->opcode == UET_OP_ATOMIC &&
		     req->amo_op == UET_AMO_WRITE ? UET_ACCESS_WRITE :
						    UET_ACCESS_ATOMIC, &sge);
	if (rc != UET_RC_OK)
		return rc;
	err = uet_sge_atomic(&sge, req->amo_op, operand, compare, old);
	if (sge.mem)
		uet_mem_put(sge.mem);
	switch (err) {
	case 0:
		return UET_RC_OK;
	case -EAGAIN:
		return UET_RC_NULL;
	case -EINVAL:
		return UET_RC_AMO_UNALIGNED;
	default:
		return UET_RC_BAD_MKEY;
	}
}

/* Executed once: a duplicate is answered from the stored response, 4.11. */
static void uet_do_atomic(struct uet_request *r)
{
	struct uet_verdict *v = r->v;
	u8 rc = uet_amo_check(r);
	u64 old = 0;

	if (rc == UET_RC_OK)
		rc = uet_amo_execute(r, &old);
	if (rc == UET_RC_NULL) {
		uet_park(r, NULL);
		return;
	}
	if (rc != UET_RC_OK) {
		uet_fault(r, rc);
		return;
	}
	uet_recv_complete(r, NULL);
	if (r->req->opcode == UET_OP_ATOMIC)
		return;
	put_unaligned_be64(old, v->data);
	v->gtd = true;
	v->rsp.opcode = UET_RSP_DATA;
	v->rsp.read_message_id = r->req->message_id;
	v->rsp.message_id = 0;
	v->rsp.payload_length = sizeof(u64);
	v->rsp.modified_length = sizeof(u64);
	v->rsp.request_psn = r->pkt->psn;
}

/* ------------------------------------------------------------------ */
/* FLUSH                                                               */

/*
 * All that the peer asked for before has been executed: packets of an ordered
 * PDC are executed one after the other. What one processor has written others
 * see in that order, and devices with coherent DMA as well. 4.15
 */
static u8 uet_flush(struct uet_request *r)
{
	const u64 what = r->req->header_data;
	u32 len = FIELD_GET(UET_FLUSH_LENGTH, what);
	struct uet_sge sge = {};
	u8 access = 0, rc;

	if (!(r->req->flags & UET_SES_HD) || !uet_req_is_single(r->req) ||
	    !(what & UET_FLUSH_TYPES) ||
	    what & ~(UET_FLUSH_TYPES | UET_FLUSH_MR | UET_FLUSH_LENGTH))
		return UET_RC_OP_VIOLATION;
	if (what & UET_FLUSH_GLOBAL)
		access |= UET_ACCESS_FLUSH_GLOBAL;
	if (what & UET_FLUSH_PERSISTENT)
		access |= UET_ACCESS_FLUSH_PERSISTENT;
	if (what & UET_FLUSH_MR)
		access |= UET_ACCESS_ANYWHERE;
	rc = uet_rma(r, 0, len, access, &sge);
	if (rc != UET_RC_OK)
		return rc;
	/* What was placed before is seen by all before the answer leaves. */
	smp_mb();
	if (sge.mem)
		uet_mem_put(sge.mem);
	return UET_RC_OK;
}

static void uet_do_flush(struct uet_request *r)
{
	/* Unordered there is no before. */
	u8 rc = r->ep->mode == UET_EP_ROD ? uet_flush(r) :
					    UET_RC_UNSUPPORTED_OP;

	if (rc != UET_RC_OK)
		uet_fault(r, rc);
	else
		uet_recv_complete(r, NULL);
}

/* ------------------------------------------------------------------ */
/* Requests                                                            */

/*
 * Does the request carry the current generation, and is there one? A receiver
 * that ran out of buffers refuses every request of its peer, so that none
 * overtakes a refused one, until a buffer is posted: then a new generation
 * begins, and what was sent in the old one is refused once more.
 */
static bool uet_generation(struct uet_request *r)
{
	struct uet_ep *ep = r->ep;
	u8 rc = UET_RC_BAD_GENERATION;

	if (!ep->disabled && r->req->ri_gen == ep->gen)
		return true;
	if (ep->disabled && r->pdc->fep->ops->recv_ready(ep)) {
		ep->disabled = false;
		ep->gen++;
	}
	if (ep->disabled)
		rc = UET_RC_DISABLED_GEN;
	uet_refuse(r, rc);
	r->v->rsp.ri_gen = ep->gen;
	return false;
}

/* May this job talk to this endpoint? A request without job belongs to all. */
static bool uet_admit_job(struct uet_request *r)
{
	u32 job_id = r->req->job_id;

	if (!job_id ||
	    r->pdc->fep->ops->job_admit(r->ep, job_id) == UET_RC_OK)
		return true;
	uet_fault(r, UET_RC_BAD_JOB_ID);
	return false;
}

/* May this peer talk to this endpoint at all? */
static bool uet_admit(struct uet_request *r)
{
	struct uet_ep *ep = r->ep;
	bool rod = ep->mode == UET_EP_ROD;

	if (ep->dead || ep->state == UET_EP_ERROR) {
		uet_refuse(r, UET_RC_DISABLED);
		return false;
	}
	if (ep->mode == UET_EP_UUD || rod != r->pdc->rod) {
		uet_refuse(r, UET_RC_OP_VIOLATION);
		return false;
	}
	if (ep->state == UET_EP_CLOSED) {
		/* Not connected yet: the peer tries again. */
		r->v->nack = UET_NACK_NO_RESOURCE;
		return false;
	}
	if (ep->mode != UET_EP_ROD)
		return uet_admit_job(r);
	if (r->req->initiator != ep->conn.peer_initiator ||
	    !ipv6_addr_equal(&r->pdc->path->attr.dst,
			     &ep->conn.path->attr.dst)) {
		uet_refuse(r, UET_RC_BAD_PID);
		return false;
	}
	return uet_admit_job(r) && uet_generation(r);
}

/* The initiator gave up a message that it had begun, 4.14. */
static void uet_do_error(struct uet_request *r)
{
	struct uet_inbound *in = uet_inbound_find(r->pdc, r->req->message_id);

	if (!in || in->ep != r->ep)
		return;
	if (in->recv)
		r->pdc->fep->ops->recv_done(r->ep, in->recv, UET_RC_CANCELLED,
					    r->d);
	uet_inbound_free(in);
}

static void uet_execute(struct uet_request *r)
{
	switch (r->req->opcode) {
	case UET_OP_SEND:
	case UET_OP_SEND_INVALIDATE:
		uet_do_send(r);
		break;
	case UET_OP_WRITE:
		uet_do_write(r);
		break;
	case UET_OP_READ:
		uet_do_read(r);
		break;
	case UET_OP_ATOMIC:
	case UET_OP_FETCHING_ATOMIC:
		uet_do_atomic(r);
		break;
	case UET_OP_FLUSH:
		uet_do_flush(r);
		break;
	case UET_OP_MSG_ERROR:
		uet_do_error(r);
		break;
	default:
		uet_fault(r, UET_RC_UNSUPPORTED_OP);
	}
}

/*
 * Whom a request is for, 5.2. Relative addresses are those of its job, so
 * without a job they are none.
 */
static u8 uet_find(struct uet_request *r)
{
	const struct uet_ses_req *req = r->req;
	bool rel = req->flags & UET_SES_REL;

	if (rel && !req->job_id)
		return UET_RC_BAD_JOB_ID;
	r->ep = uet_ep_find(r->pdc->fep, rel ? req->job_id : 0,
			    uet_wire_pair(req->pid_on_fep, req->ri));
	return r->ep ? UET_RC_OK : UET_RC_UNDELIVERABLE;
}

/**
 * uet_ses_request - execute one request packet
 * @pdc: locked
 * @skb: packet; payload starts at pkt->hdr_len
 * @pkt: parsed
 * @rx: addresses
 * @v: zeroed; filled in
 * @d: collector
 *
 * Context: softirq, RCU read side. Not called twice for one PSN.
 */
void uet_ses_request(struct uet_pdc *pdc, struct sk_buff *skb,
		     const struct uet_pkt *pkt, const struct uet_rx *rx,
		     struct uet_verdict *v, struct uet_defer *d)
{
	const struct uet_ses_req *req = &pkt->req;
	struct uet_request r = {
		.pdc = pdc,
		.skb = skb,
		.pkt = pkt,
		.req = req,
		.v = v,
		.d = d,
	};
	u8 rc;

	v->rsp.opcode = UET_RSP_DEFAULT;
	v->rsp.rc = UET_RC_OK;
	v->rsp.message_id = req->message_id;
	v->rsp.job_id = req->job_id;
	if (req->opcode == UET_OP_NO_OP)
		return;
	if (req->flags & UET_SES_IE) {
		uet_refuse(&r, UET_RC_INITIATOR_ERROR);
		return;
	}
	rc = uet_find(&r);
	if (rc != UET_RC_OK) {
		uet_refuse(&r, rc);
		return;
	}
	spin_lock(&r.ep->lock);
	if (uet_admit(&r))
		uet_execute(&r);
	spin_unlock(&r.ep->lock);
}

/* ------------------------------------------------------------------ */
/* Datagrams                                                           */

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
