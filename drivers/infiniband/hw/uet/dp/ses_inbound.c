// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The target's messages: SEND and WRITE, their state while it takes several
 * packets, and the receive buffers that they use. uet-wire 4.2, 4.10.
 */
#include <linux/slab.h>

#include "../compat.h"
#include "ep.h"
#include "fep.h"
#include "pdc.h"
#include "ses.h"
#include "ses_target.h"

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

/* PDC lock and endpoint lock held; the buffer is not given back here. */
static void uet_inbound_free(struct uet_pdc *pdc, struct uet_inbound *in)
{
	list_del(&in->pdc_node);
	pdc->nr_inbound--;
	list_del_init(&in->ep_node);
	kfree(in);
}

/* Nothing more of that message will come. It is of @r->ep, or of nobody. */
static void uet_inbound_forget(struct uet_request *r, struct uet_inbound *in)
{
	if (in->recv)
		r->pdc->fep->ops->recv_done(r->ep, in->recv, UET_RC_CANCELLED,
					    r->d);
	uet_inbound_free(r->pdc, in);
}

/* Packets of a message are sent one behind the other, within a window. */
static bool uet_inbound_is_old(const struct uet_request *r,
			       const struct uet_inbound *in)
{
	/* Pairs with uet_ep_drop_inbound(). */
	const struct uet_ep *ep = smp_load_acquire(&in->ep);

	return uet_psn_after(r->pkt->psn, in->psn + 4 * UET_PDC_WINDOW) &&
	       (!ep || ep == r->ep);
}

/*
 * As many as packets can be under way. More are left over by initiators that gave
 * up in the middle, or by endpoints that were flushed.
 */
static bool uet_inbound_room(struct uet_request *r)
{
	struct uet_inbound *in, *tmp;

	if (r->pdc->nr_inbound < UET_PDC_WINDOW)
		return true;
	list_for_each_entry_safe(in, tmp, &r->pdc->inbound, pdc_node)
		if (uet_inbound_is_old(r, in))
			uet_inbound_forget(r, in);
	return r->pdc->nr_inbound < UET_PDC_WINDOW;
}

static struct uet_inbound *uet_inbound_add(struct uet_request *r)
{
	struct uet_inbound *in;

	if (!uet_inbound_room(r))
		return NULL;
	in = kzalloc_obj(*in, GFP_ATOMIC | __GFP_NOWARN);
	if (!in)
		return NULL;
	in->psn = r->pkt->psn;
	in->id = r->req->message_id;
	in->rc = UET_RC_OK;
	in->len = r->req->request_length;
	in->ep = r->ep;
	list_add_tail(&in->pdc_node, &r->pdc->inbound);
	r->pdc->nr_inbound++;
	list_add_tail(&in->ep_node, &r->ep->inbound);
	return in;
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
	/* Pairs with uet_ep_drop_inbound(). */
	struct uet_ep *ep = smp_load_acquire(&in->ep);

	list_del(&in->pdc_node);
	pdc->nr_inbound--;
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

void uet_recv_complete(struct uet_request *r, struct uet_recv *recv)
{
	uet_stat_inc(r->pdc->fep, UET_STAT_RX_MSGS);
	if (recv)
		r->pdc->fep->ops->recv_done(r->ep, recv, UET_ST_OK, r->d);
}

/*
 * The memory is not there yet. The packet leaves no trace and is sent again; a
 * buffer that was lent waits with what is known of its message.
 */
bool uet_park(struct uet_request *r, struct uet_recv *recv)
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

/* The initiator gave up a message that it had begun, 4.14. */
void uet_do_error(struct uet_request *r)
{
	struct uet_inbound *in = uet_inbound_find(r->pdc, r->req->message_id);

	if (in && in->ep == r->ep)
		uet_inbound_forget(r, in);
	/* What comes behind it on a connection counts on it. */
	if (r->ep->mode == UET_EP_ROD)
		uet_fault(r, UET_RC_INITIATOR_ERROR);
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
 * packets are refused as well. Of UC, where nothing is offered again, those have
 * no first packet before them.
 */
static struct uet_inbound *uet_inbound_get(struct uet_request *r, bool recv)
{
	struct uet_inbound *in = uet_inbound_find(r->pdc, r->req->message_id);

	if (in && uet_inbound_is_old(r, in)) {
		uet_inbound_forget(r, in);
		in = NULL;
	}
	if (in && in->ep != r->ep) {
		/* Let go of by a flush, or an id used for two endpoints */
		uet_refuse(r, in->ep ? UET_RC_OP_VIOLATION : UET_RC_DISABLED);
		return NULL;
	}
	if (in) {
		if (uet_psn_after(r->pkt->psn, in->psn))
			in->psn = r->pkt->psn;
		return in;
	}
	if (r->ep->unreliable && !(r->req->flags & UET_SES_SOM)) {
		uet_refuse(r, UET_RC_NO_MATCH);
		return NULL;
	}
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
		uet_inbound_free(r->pdc, in);
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
	uet_inbound_free(r->pdc, in);
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

void uet_do_send(struct uet_request *r)
{
	if (uet_is_simple(r))
		uet_send_single(r);
	else
		uet_send_part(r);
}

/* ------------------------------------------------------------------ */
/* WRITE                                                               */

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

/*
 * The receive buffer of a write with immediate data. One that is refused takes
 * none; its first packet asks for all of its range.
 */
static struct uet_recv *uet_write_recv(struct uet_request *r)
{
	const struct uet_ses_req *req = r->req;
	struct uet_sge sge = {};
	u8 rc = UET_RC_OK;

	if (req->request_length)
		rc = uet_rma(r, 0, req->request_length, UET_ACCESS_WRITE, &sge);
	if (rc != UET_RC_OK) {
		uet_fault(r, rc);
		return NULL;
	}
	if (sge.mem)
		uet_mem_put(sge.mem);
	return uet_recv_get(r);
}

static void uet_write_single(struct uet_request *r)
{
	struct uet_recv *recv = NULL;
	u8 rc;

	if (r->req->flags & UET_SES_HD) {
		recv = uet_write_recv(r);
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
		in->recv = uet_write_recv(r);
		if (!in->recv) {
			in->rc = r->v->rsp.rc;
			/* Offered again as a whole, or the end of the connection */
			if (r->ep->mode == UET_EP_ROD && !r->ep->unreliable)
				uet_inbound_free(r->pdc, in);
			else
				uet_inbound_count(r, in);
			return;
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

void uet_do_write(struct uet_request *r)
{
	if (uet_is_simple(r))
		uet_write_single(r);
	else
		uet_write_part(r);
}
