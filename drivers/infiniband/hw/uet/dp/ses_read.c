// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * READ at the target: in the ACK what fits, all else in packets of the return
 * direction. uet-wire 2.15, 3.5.
 */
#include <linux/slab.h>

#include "../compat.h"
#include "ep.h"
#include "pdc.h"
#include "ses.h"
#include "ses_target.h"

/**
 * uet_rdrsp_free - free read data that is sent or given up
 * @rd: not on a list of its PDC, which is locked
 */
void uet_rdrsp_free(struct uet_rdrsp *rd)
{
	/* Pairs with uet_ep_end_reads(). */
	struct uet_ep *ep = smp_load_acquire(&rd->ep);

	if (ep) {
		spin_lock(&ep->lock);
		if (rd->ep)
			list_del(&rd->ep_node);
		spin_unlock(&ep->lock);
	}
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

/*
 * As many as a reader can have under way, each as large as packets get. One that
 * asks for more and does not take what it asked for waits.
 */
static bool uet_read_room(const struct uet_pdc *pdc)
{
	return pdc->nr_rdrsps < UET_PDC_WINDOW *
				DIV_ROUND_UP(UET_PAYLOAD_MTU_MAX, pdc->mtu);
}

static void uet_rdrsp_queue(struct uet_request *r, struct list_head *parts)
{
	struct uet_rdrsp *rd;

	list_for_each_entry(rd, parts, node) {
		rd->ep = r->ep;
		list_add_tail(&rd->ep_node, &r->ep->reads);
		r->pdc->nr_rdrsps++;
		r->pdc->queued += rd->sge.len;
	}
	list_splice_tail(parts, &r->pdc->rdrsps);
}

/* In packets of our own: as many as it takes, where the reader's are larger. */
static void uet_read_later(struct uet_request *r, const struct uet_sge *sge)
{
	struct uet_rdrsp *rd, *tmp;
	LIST_HEAD(parts);
	u32 at = 0;

	if (!uet_read_room(r->pdc)) {
		r->v->nack = UET_NACK_NO_RESOURCE;
		return;
	}
	do {
		rd = uet_rdrsp_new(r, sge, at);
		if (!rd)
			break;
		list_add_tail(&rd->node, &parts);
		at += rd->sge.len;
	} while (at < sge->len);
	if (rd) {
		uet_rdrsp_queue(r, &parts);
		return;
	}
	list_for_each_entry_safe(rd, tmp, &parts, node)
		uet_rdrsp_free(rd);
	r->v->nack = UET_NACK_NO_RESOURCE;
}

void uet_do_read(struct uet_request *r)
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
