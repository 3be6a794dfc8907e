// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Atomics at the target, executed once. uet-wire 4.11. */
#include <linux/unaligned.h>

#include "pdc.h"
#include "ses.h"
#include "ses_target.h"

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
void uet_do_atomic(struct uet_request *r)
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
