// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The target's semantics: which endpoint a request is for, whether it may do
 * what it asks, and what is answered. What the requests do is in ses_inbound.c,
 * ses_read.c and ses_amo.c. uet-wire 4.6 - 4.11, 5.2, 5.5.
 */
#include <linux/bitfield.h>

#include "ep.h"
#include "fep.h"
#include "pdc.h"
#include "ses.h"
#include "ses_target.h"

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
void uet_refuse(struct uet_request *r, u8 rc)
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
void uet_fault(struct uet_request *r, u8 rc)
{
	uet_refuse(r, rc);
	if (r->ep->mode != UET_EP_ROD || r->ep->unreliable)
		return;
	r->ep->state = UET_EP_ERROR;
	r->pdc->fep->ops->ep_fault(r->ep, rc, r->d);
}

/**
 * uet_rma - look up memory that the peer names
 * @r: request; its endpoint is locked
 * @off: first byte, counted from the request's buffer offset
 * @len: bytes
 * @access: UET_ACCESS\_* that it takes
 * @sge: filled in; with a reference to its memory, if that is not NULL
 *
 * Return: enum uet_rc; @sge counts only with UET_RC_OK.
 */
u8 uet_rma(struct uet_request *r, u64 off, u32 len, u8 access,
	   struct uet_sge *sge)
{
	const struct uet_ses_req *req = r->req;
	u64 addr;

	if (check_add_overflow(req->buffer_offset, off, &addr))
		return UET_RC_BAD_ADDR;
	return r->pdc->fep->ops->mem_get(r->ep, req->job_id, req->match, addr,
					 len, access, sge);
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

/*
 * A PDC may outlive the connection that it was opened for. What is then still on its
 * way is not for the next one of the same two QPs. The endpoint's lock is held.
 */
static bool uet_admit_life(struct uet_request *r)
{
	struct uet_pdc *pdc = r->pdc;

	if (!pdc->life) {
		pdc->life = r->ep->life;
		pdc->life_key = r->ep->key;
	}
	if (pdc->life_key != r->ep->key || pdc->life == r->ep->life)
		return true;
	uet_refuse(r, UET_RC_DISABLED);
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
	return uet_admit_life(r) && uet_admit_job(r) && uet_generation(r);
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
