// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Completion queues: polled from the ring, armed by a command. */

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "uet.h"
#include "uet_cmd.h"

/* What the application sees of enum uet_cqe_flags. */
#define UET_CQE_PUBLIC	(UET_CQE_GRH | UET_CQE_WITH_IMM | UET_CQE_WITH_INV)

static_assert((int)UET_CQE_GRH == (int)IBV_WC_GRH, "value differs");
static_assert((int)UET_CQE_WITH_IMM == (int)IBV_WC_WITH_IMM, "value differs");
static_assert((int)UET_CQE_WITH_INV == (int)IBV_WC_WITH_INV, "value differs");

/* The next completion, or NULL. Under the lock. */
static const struct uet_cqe *next_cqe(const struct uet_cq *cq)
{
	if (uet_load_prod(&cq->ring) == cq->cons)
		return NULL;
	return uet_entry(&cq->ring, cq->cons);
}

static void to_wc(struct uet_cq *cq, struct ibv_wc *wc,
		  const struct uet_cqe *cqe)
{
	*wc = (struct ibv_wc) {
		.wr_id = cqe->wr_id,
		.status = cqe->status,
		.opcode = cqe->opcode,
		.vendor_err = cqe->vendor_err,
		.byte_len = cqe->byte_len,
		.qp_num = uet_shown_qpn(cq->vcq.cq.context, cqe->qp_num),
		.src_qp = cqe->src_qp,
		.wc_flags = cqe->flags & UET_CQE_PUBLIC,
		.pkey_index = cqe->pkey_index,
	};

	if (cqe->flags & UET_CQE_WITH_INV)
		wc->invalidated_rkey = cqe->imm_data;
	else
		wc->imm_data = htobe32(cqe->imm_data);
}

/* Under the lock. */
static void count_poll(struct uet_cq *cq)
{
	atomic_store_explicit(&cq->polls, cq->polls + 1, memory_order_relaxed);
}

int uet_poll_cq(struct ibv_cq *ibcq, int num, struct ibv_wc *wc)
{
	struct uet_cq *cq = to_ucq(ibcq);
	const struct uet_cqe *cqe;
	int n;

	uet_lock(&cq->lock);
	count_poll(cq);
	for (n = 0; n < num; n++) {
		cqe = next_cqe(cq);
		if (!cqe)
			break;
		to_wc(cq, &wc[n], cqe);
		cq->cons++;
	}
	if (n > 0)
		uet_store_cons(&cq->ring, cq->cons);
	uet_unlock(&cq->lock);
	if (!n)
		uet_ring_lazy(cq);
	return n;
}

/* Who arms a CQ is going to sleep: nothing more is posted for a while. */
int uet_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	uet_ring_lazy(to_ucq(ibcq));
	return ibv_cmd_req_notify_cq(ibcq, solicited_only);
}

/*
 * Forget the completions of a QP that the kernel has destroyed or reset and
 * that therefore get no more. The others move up, towards prod, in their order.
 * If somebody scribbled on prod, nobody can tell what is a completion.
 */
void uet_clean_cq(struct ibv_cq *ibcq, uint32_t qp_num)
{
	struct uet_cq *cq = to_ucq(ibcq);
	uint32_t from, to;

	uet_lock(&cq->lock);
	from = uet_load_prod(&cq->ring);
	if (from - cq->cons > cq->ring.depth)
		from = cq->cons;
	to = from;
	while (from != cq->cons) {
		struct uet_cqe *cqe = uet_entry(&cq->ring, --from);

		if (cqe->qp_num == qp_num)
			continue;
		if (--to != from)
			*(struct uet_cqe *)uet_entry(&cq->ring, to) = *cqe;
	}
	cq->cons = to;
	uet_store_cons(&cq->ring, to);
	uet_unlock(&cq->lock);
}

static void look_at(struct uet_cq *cq, const struct uet_cqe *cqe)
{
	cq->cqe = cqe;
	cq->vcq.cq_ex.wr_id = cqe->wr_id;
	cq->vcq.cq_ex.status = cqe->status;
}

static int start_poll(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr)
{
	struct uet_cq *cq = to_ucq_ex(ibcq);
	const struct uet_cqe *cqe;

	if (attr && attr->comp_mask)
		return EINVAL;

	uet_lock(&cq->lock);
	count_poll(cq);
	cqe = next_cqe(cq);
	if (!cqe) {
		uet_unlock(&cq->lock);
		uet_ring_lazy(cq);
		return ENOENT;
	}
	look_at(cq, cqe);
	return 0;
}

/* The entry that was looked at counts as taken, also if it was the last. */
static int next_poll(struct ibv_cq_ex *ibcq)
{
	struct uet_cq *cq = to_ucq_ex(ibcq);
	const struct uet_cqe *cqe;

	if (cq->cqe) {
		cq->cqe = NULL;
		cq->cons++;
	}

	cqe = next_cqe(cq);
	if (!cqe)
		return ENOENT;
	look_at(cq, cqe);
	return 0;
}

static void end_poll(struct ibv_cq_ex *ibcq)
{
	struct uet_cq *cq = to_ucq_ex(ibcq);

	if (cq->cqe) {
		cq->cqe = NULL;
		cq->cons++;
	}
	uet_store_cons(&cq->ring, cq->cons);
	uet_unlock(&cq->lock);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ibcq)
{
	return to_ucq_ex(ibcq)->cqe->opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ibcq)
{
	return to_ucq_ex(ibcq)->cqe->vendor_err;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *ibcq)
{
	return to_ucq_ex(ibcq)->cqe->flags & UET_CQE_PUBLIC;
}

static uint32_t read_byte_len(struct ibv_cq_ex *ibcq)
{
	return to_ucq_ex(ibcq)->cqe->byte_len;
}

/* ibv_wc_read_invalidated_rkey() comes here too and takes it as it is. */
static __be32 read_imm_data(struct ibv_cq_ex *ibcq)
{
	const struct uet_cqe *cqe = to_ucq_ex(ibcq)->cqe;

	if (cqe->flags & UET_CQE_WITH_INV)
		return (__force __be32)(uint32_t)cqe->imm_data;
	return htobe32(cqe->imm_data);
}

static uint32_t read_qp_num(struct ibv_cq_ex *ibcq)
{
	return uet_shown_qpn(ibcq->context, to_ucq_ex(ibcq)->cqe->qp_num);
}

static uint32_t read_src_qp(struct ibv_cq_ex *ibcq)
{
	return to_ucq_ex(ibcq)->cqe->src_qp;
}

/* There is no LID and no SL, but programs ask for the usual set of fields. */
static uint32_t read_slid(struct ibv_cq_ex *ibcq)
{
	return 0;
}

static uint8_t read_sl(struct ibv_cq_ex *ibcq)
{
	return 0;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *ibcq)
{
	return 0;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *ibcq)
{
	return to_ucq_ex(ibcq)->cqe->timestamp;
}

/* How long ago it was, counted back from the time of day. */
static uint64_t read_wallclock_ns(struct ibv_cq_ex *ibcq)
{
	uint64_t then = to_ucq_ex(ibcq)->cqe->timestamp;

	return uet_clock_ns(CLOCK_REALTIME) -
	       (uet_clock_ns(CLOCK_MONOTONIC) - then);
}

static void set_poll_ops(struct ibv_cq_ex *cq, uint64_t wc_flags)
{
	cq->start_poll = start_poll;
	cq->next_poll = next_poll;
	cq->end_poll = end_poll;
	cq->read_opcode = read_opcode;
	cq->read_vendor_err = read_vendor_err;
	cq->read_wc_flags = read_wc_flags;
	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		cq->read_byte_len = read_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		cq->read_imm_data = read_imm_data;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		cq->read_qp_num = read_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		cq->read_src_qp = read_src_qp;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		cq->read_slid = read_slid;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		cq->read_sl = read_sl;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		cq->read_dlid_path_bits = read_dlid_path_bits;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cq->read_completion_ts = read_completion_ts;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		cq->read_completion_wallclock_ns = read_wallclock_ns;
}

static int create_and_map(struct ibv_context *ibctx, struct uet_cq *cq, int cqe,
			  struct ibv_comp_channel *channel, int comp_vector)
{
	struct uetcmd_create_cq_resp resp = {};
	int ret;

	ret = ibv_cmd_create_cq(ibctx, cqe, channel, comp_vector, &cq->vcq.cq,
				NULL, 0, &resp.ibv_resp, sizeof(resp));
	if (ret)
		return ret;

	ret = uet_map_ring(&cq->ring, ibctx->cmd_fd, &resp.cq,
			   sizeof(struct uet_cqe));
	if (ret)
		ibv_cmd_destroy_cq(&cq->vcq.cq);
	return ret;
}

static struct uet_cq *create_cq(struct ibv_context *ibctx, int cqe,
				struct ibv_comp_channel *channel,
				int comp_vector, struct ibv_pd *domain,
				bool single_threaded)
{
	struct uet_cq *cq;
	int ret;

	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;

	ret = create_and_map(ibctx, cq, cqe, channel, comp_vector);
	if (ret) {
		free(cq);
		errno = ret;
		return NULL;
	}
	cq->cons = uet_load_cons(&cq->ring);
	cq->domain = uet_domain_get(domain);
	uet_lock_init(&cq->lock, single_threaded ||
				 uet_is_single_threaded(ibctx, domain));
	uet_lock_init(&cq->lazy_lock, uet_is_single_threaded(ibctx, NULL));
	return cq;
}

struct ibv_cq *uet_create_cq(struct ibv_context *ibctx, int cqe,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	struct uet_cq *cq;

	cq = create_cq(ibctx, cqe, channel, comp_vector, NULL, false);
	return cq ? &cq->vcq.cq : NULL;
}

/*
 * Every completion has every field, so the kernel need not know what the
 * application wants to read.
 */
struct ibv_cq_ex *uet_create_cq_ex(struct ibv_context *ibctx,
				   struct ibv_cq_init_attr_ex *attr)
{
	const uint64_t fields = IBV_WC_STANDARD_FLAGS |
				IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
				IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	struct ibv_pd *domain = NULL;
	uint32_t flags = 0;
	struct uet_cq *cq;

	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS)
		flags = attr->flags;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD)
		domain = attr->parent_domain;
	if (!check_comp_mask(attr->comp_mask, IBV_CQ_INIT_ATTR_MASK_FLAGS |
			     IBV_CQ_INIT_ATTR_MASK_PD) ||
	    !check_comp_mask(attr->wc_flags, fields) ||
	    !check_comp_mask(flags, IBV_CREATE_CQ_ATTR_SINGLE_THREADED)) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	/* A PD that is no parent domain has nothing to say about a CQ. */
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD &&
	    (!domain || !to_upd(domain)->parent)) {
		errno = EINVAL;
		return NULL;
	}

	cq = create_cq(ibctx, attr->cqe, attr->channel, attr->comp_vector,
		       domain, flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	if (!cq)
		return NULL;
	set_poll_ops(&cq->vcq.cq_ex, attr->wc_flags);
	return &cq->vcq.cq_ex;
}

int uet_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd = {};

	if (!check_comp_mask(attr->attr_mask, IBV_CQ_ATTR_MODERATE))
		return EOPNOTSUPP;
	return ibv_cmd_modify_cq(ibcq, attr, &cmd, sizeof(cmd));
}

/*
 * The kernel moves what was not polled yet to a new ring and tells where that
 * is. If it cannot be mapped nothing can be polled any more, so the CQ keeps
 * its old ring, to which nothing is added.
 */
int uet_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct uetcmd_resize_cq_resp resp = {};
	struct uet_cq *cq = to_ucq(ibcq);
	struct ibv_resize_cq cmd = {};
	struct uet_map ring;
	int ret;

	uet_lock(&cq->lock);
	ret = ibv_cmd_resize_cq(ibcq, cqe, &cmd, sizeof(cmd), &resp.ibv_resp,
				sizeof(resp));
	if (!ret)
		ret = uet_map_ring(&ring, ibcq->context->cmd_fd, &resp.cq,
				   sizeof(struct uet_cqe));
	if (!ret) {
		uet_unmap_ring(&cq->ring);
		cq->ring = ring;
		cq->cons = uet_load_cons(&ring);
	}
	uet_unlock(&cq->lock);
	return ret;
}

int uet_destroy_cq(struct ibv_cq *ibcq)
{
	struct uet_cq *cq = to_ucq(ibcq);
	int ret;

	ret = ibv_cmd_destroy_cq(ibcq);
	if (ret)
		return ret;

	uet_unmap_ring(&cq->ring);
	uet_lock_destroy(&cq->lock);
	uet_lock_destroy(&cq->lazy_lock);
	uet_domain_put(cq->domain);
	free(cq);
	return 0;
}
