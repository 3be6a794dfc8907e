// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Rings of receive requests, of a QP or shared by many (srq.c).
 *
 * A posted entry stays in the ring until a message asks for it; then it is
 * copied once, checked, and its slot is free again. User space posts without
 * a call.
 */
#include <linux/log2.h>
#include <linux/slab.h>

#include "uet.h"

/* Request for one receive; NULL if memory is short. */
static struct uet_recv_wr *uet_recv_wr_alloc(u32 max_sge, gfp_t gfp)
{
	struct uet_recv_wr *wr;

	wr = kzalloc(struct_size(wr, sge, max_sge), gfp);
	if (wr)
		wr->rx.sge = wr->sge;
	return wr;
}

/**
 * uet_rq_create - make a ring of receive requests
 * @rq: zeroed
 * @pd: whose memory keys count
 * @depth: entries, power of two; 0: there is no ring
 * @max_sge: per request
 * @udata: of the create verb; NULL: kernel only
 *
 * Context: process. What is left by a failure is for uet_rq_free().
 * Return: 0 or -ENOMEM.
 */
int uet_rq_create(struct uet_rq *rq, const struct ib_pd *pd, u32 depth,
		  u32 max_sge, struct ib_udata *udata)
{
	gfp_t gfp = udata ? GFP_KERNEL_ACCOUNT : GFP_KERNEL;
	u32 stride = ALIGN(sizeof(struct uet_recv_wqe) +
			   max_sge * sizeof(struct uet_wqe_sge), 16);

	rq->user = udata;
	uet_queue_lock_init(&rq->lock, rq->user);
	rq->pd = pd;
	rq->max_sge = max_sge;
	if (!depth)
		return 0;
	rq->wqe = kzalloc(stride, gfp);
	rq->spare = uet_recv_wr_alloc(rq->max_sge, gfp);
	if (!rq->wqe || !rq->spare)
		return -ENOMEM;
	rq->ring = uet_ring_create(udata, depth, stride);
	return PTR_ERR_OR_ZERO(rq->ring);
}

void uet_rq_free(struct uet_rq *rq)
{
	uet_ring_free(rq->ring);
	kfree(rq->spare);
	kfree(rq->wqe);
}

/* rq->lock held. */
static struct uet_recv_wr *uet_rq_wr_get(struct uet_rq *rq)
{
	struct uet_recv_wr *wr;

	if (rq->spare_used)
		return uet_recv_wr_alloc(rq->max_sge, GFP_ATOMIC);
	rq->spare_used = true;
	wr = rq->spare;
	memset(&wr->rx, 0, sizeof(wr->rx));
	wr->rx.sge = wr->sge;
	wr->spare = true;
	return wr;
}

/**
 * uet_rq_done - the engine and the CQ are done with a request
 * @rq: where it came from
 * @wr: request
 *
 * Context: any.
 */
void uet_rq_done(struct uet_rq *rq, struct uet_recv_wr *wr)
{
	unsigned long irq;

	uet_sges_put(wr->sge, wr->rx.nr_sge);
	if (!wr->spare) {
		kfree(wr);
		return;
	}
	irq = uet_queue_lock(&rq->lock, rq->user);
	rq->spare_used = false;
	uet_queue_unlock(&rq->lock, rq->user, irq);
}

/**
 * uet_rq_posted - entries waiting in the ring
 * @rq: ring, locked
 *
 * User space may write any index; more than the ring holds ends this queue
 * and no other.
 *
 * Return: how many; 0 without a ring or once it is broken.
 */
u32 uet_rq_posted(struct uet_rq *rq)
{
	u32 n;

	if (!rq->ring || rq->broken)
		return 0;
	if (!rq->ring->user)
		return uet_ring_used(rq->prod, rq->cons);
	/* Pairs with the release of user space: the entries are whole. */
	n = uet_ring_used(smp_load_acquire(&rq->ring->hdr->prod), rq->cons);
	if (n <= rq->ring->depth)
		return n;
	rq->broken = true;
	uet_stat_inc(to_udev(rq->pd->device)->fep, UET_STAT_BAD_DOORBELL);
	return 0;
}

/**
 * uet_rq_take - copy the entry at the head to rq->wqe and free its slot
 * @rq: ring, locked, with an entry posted
 */
void uet_rq_take(struct uet_rq *rq)
{
	memcpy(rq->wqe, uet_ring_at(rq->ring, rq->cons), rq->ring->stride);
	/* User space may be writing there: from here on it is the copy. */
	barrier();
	rq->cons++;
	/* Pairs with the acquire of user space: we are done with the entry. */
	smp_store_release(&rq->ring->hdr->cons, rq->cons);
}

/*
 * Turn the copied entry into a scatter list. Memory is looked up only where
 * the message has data for it. rq->lock held.
 */
static u8 uet_rq_sges(struct uet_rq *rq, struct uet_recv_wr *wr, bool data)
{
	const struct uet_recv_wqe *wqe = rq->wqe;
	const struct uet_wqe_sge *in = (const void *)(wqe + 1);
	u32 i;

	wr->wr_id = wqe->wr_id;
	if (wqe->num_sge > rq->max_sge || wqe->reserved)
		return IB_WC_LOC_QP_OP_ERR;
	for (i = 0; data && i < wqe->num_sge; i++) {
		if (!in[i].length)
			continue;
		if (uet_mkey_local(rq->pd, rq->ring->user, in[i].lkey,
				   in[i].addr, in[i].length, true,
				   &wr->sge[wr->rx.nr_sge]))
			return IB_WC_LOC_PROT_ERR;
		wr->rx.nr_sge++;
		wr->rx.room += in[i].length;
	}
	return IB_WC_SUCCESS;
}

/**
 * uet_rq_next - take the next posted entry
 * @rq: ring, locked
 * @data: the message has data for the buffer
 * @status: enum ib_wc_status: can the entry be used?
 *
 * Return: a request, or NULL.
 */
struct uet_recv_wr *uet_rq_next(struct uet_rq *rq, bool data, u8 *status)
{
	struct uet_recv_wr *wr;

	if (rq->flushing || !uet_rq_posted(rq))
		return NULL;
	wr = uet_rq_wr_get(rq);
	if (wr) {
		uet_rq_take(rq);
		*status = uet_rq_sges(rq, wr, data);
	}
	return wr;
}

/**
 * uet_rq_reset - forget what is posted
 * @rq: nobody works on it
 *
 * Context: process.
 */
void uet_rq_reset(struct uet_rq *rq)
{
	unsigned long irq;

	irq = uet_queue_lock(&rq->lock, rq->user);
	rq->prod = 0;
	rq->cons = 0;
	rq->flushing = false;
	rq->broken = false;
	uet_ring_reset(rq->ring);
	uet_queue_unlock(&rq->lock, rq->user, irq);
}

/**
 * uet_rq_put - write one request of the kernel to the ring
 * @rq: ring, locked
 * @wr: request
 *
 * Return: 0; -EINVAL: too many entries; -ENOMEM: no room.
 */
int uet_rq_put(struct uet_rq *rq, const struct ib_recv_wr *wr)
{
	struct uet_recv_wqe *wqe;
	struct uet_wqe_sge *out;
	int i;

	if (wr->num_sge < 0 || wr->num_sge > rq->max_sge)
		return -EINVAL;
	if (!rq->ring ||
	    uet_ring_used(rq->prod, rq->cons) >= rq->ring->depth)
		return -ENOMEM;
	wqe = uet_ring_at(rq->ring, rq->prod);
	*wqe = (struct uet_recv_wqe){
		.wr_id = wr->wr_id,
		.num_sge = wr->num_sge,
	};
	out = (struct uet_wqe_sge *)(wqe + 1);
	for (i = 0; i < wr->num_sge; i++) {
		out[i].addr = wr->sg_list[i].addr;
		out[i].length = wr->sg_list[i].length;
		out[i].lkey = wr->sg_list[i].lkey;
	}
	rq->prod++;
	return 0;
}
