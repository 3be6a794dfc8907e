// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Shared receive queues. A QP that found none posted asks again when its peer
 * does (struct uet_fep_ops.recv_ready), so posting wakes nobody.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "uet.h"

static void uet_srq_put(struct uet_srq *srq)
{
	if (refcount_dec_and_test(&srq->refs))
		complete(&srq->gone);
}

static void uet_srq_event(struct uet_srq *srq, enum uet_srq_event ev)
{
	set_bit(ev, &srq->events);
	refcount_inc(&srq->refs);
	if (!queue_work(uet_verbs_wq, &srq->event_work))
		uet_srq_put(srq);
}

static void uet_srq_dispatch(struct uet_srq *srq, enum ib_event_type type)
{
	struct ib_event ev = {
		.device = srq->ib.device,
		.event = type,
		.element.srq = &srq->ib,
	};

	if (srq->ib.event_handler)
		srq->ib.event_handler(&ev, srq->ib.srq_context);
}

static void uet_srq_event_work(struct work_struct *work)
{
	struct uet_srq *srq = container_of(work, struct uet_srq, event_work);

	if (test_and_clear_bit(UET_SRQ_EV_LIMIT, &srq->events))
		uet_srq_dispatch(srq, IB_EVENT_SRQ_LIMIT_REACHED);
	if (test_and_clear_bit(UET_SRQ_EV_ERR, &srq->events))
		uet_srq_dispatch(srq, IB_EVENT_SRQ_ERR);
	uet_srq_put(srq);
}

/**
 * uet_srq_check - a request was taken, or none was there
 * @srq: its rq.lock is held
 *
 * Context: any.
 */
void uet_srq_check(struct uet_srq *srq)
{
	if (srq->limit && uet_rq_posted(&srq->rq) < srq->limit) {
		srq->limit = 0;
		uet_srq_event(srq, UET_SRQ_EV_LIMIT);
	}
	if (srq->rq.broken && !srq->reported) {
		srq->reported = true;
		uet_srq_event(srq, UET_SRQ_EV_ERR);
	}
}

static int uet_srq_respond(const struct uet_srq *srq, struct ib_udata *udata)
{
	struct uet_create_srq_resp resp = { .srq_num = srq->num };

	if (!udata)
		return 0;
	uet_ring_info(srq->rq.ring, &resp.rq);
	return uet_udata_out(udata, &resp, sizeof(resp));
}

static int uet_srq_number(struct uet_srq *srq)
{
	struct uet_dev *dev = to_udev(srq->ib.device);
	int err;

	err = xa_alloc_cyclic(&dev->srqs, &srq->num, srq,
			      XA_LIMIT(1, UET_MAX_SRQ), &dev->srq_next,
			      GFP_KERNEL);
	if (err == -EBUSY)
		return -ENOMEM;
	return err < 0 ? err : 0;
}

int uet_create_srq(struct ib_srq *ib, struct ib_srq_init_attr *init,
		   struct ib_udata *udata)
{
	struct ib_srq_attr *attr = &init->attr;
	struct uet_srq *srq = to_usrq(ib);
	int err;

	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!attr->max_wr || attr->max_wr > UET_MAX_WR ||
	    attr->max_sge > UET_MAX_SGE || attr->srq_limit > attr->max_wr)
		return -EINVAL;
	err = uet_udata_in(udata, NULL, 0);
	if (err)
		return err;

	mutex_init(&srq->mutex);
	INIT_WORK(&srq->event_work, uet_srq_event_work);
	refcount_set(&srq->refs, 1);
	init_completion(&srq->gone);
	attr->max_wr = uet_depth(attr->max_wr);
	srq->limit = attr->srq_limit;
	err = uet_rq_create(&srq->rq, ib->pd, attr->max_wr, attr->max_sge,
			    udata);
	if (!err)
		err = uet_srq_number(srq);
	if (err)
		goto err_rq;
	err = uet_srq_respond(srq, udata);
	if (err)
		goto err_num;
	return 0;

err_num:
	xa_erase(&to_udev(ib->device)->srqs, srq->num);
err_rq:
	uet_rq_free(&srq->rq);
	return err;
}

/* Move what is posted to @to. rq->lock held; -EINVAL if it does not fit. */
static int uet_rq_move(struct uet_rq *rq, struct uet_ringbuf *to)
{
	u32 i, n = uet_rq_posted(rq);

	if (rq->broken)
		return -EIO;
	if (n > to->depth)
		return -EINVAL;
	for (i = 0; i < n; i++)
		memcpy(uet_ring_at(to, i), uet_ring_at(rq->ring, rq->cons + i),
		       to->stride);
	/* Both are for the user, whose next access is after the verb. */
	WRITE_ONCE(to->hdr->prod, n);
	rq->prod = n;
	rq->cons = 0;
	rq->ring = to;
	return 0;
}

/* Where user space finds the new ring; the verb has no answer of its own. */
static int uet_srq_resize_respond(const struct uet_ringbuf *ring, u64 addr)
{
	struct uet_modify_srq_resp resp = {};

	uet_ring_info(ring, &resp.rq);
	return copy_to_user(u64_to_user_ptr(addr), &resp, sizeof(resp)) ?
	       -EFAULT : 0;
}

/* srq->mutex held. If it fails the old ring is in place. */
static int uet_srq_resize(struct uet_srq *srq, u32 max_wr, u64 resp_addr,
			  struct ib_udata *udata)
{
	unsigned long irq;
	struct uet_rq *rq = &srq->rq;
	struct uet_ringbuf *new, *old = rq->ring;
	int err = 0;

	if (!max_wr || max_wr > UET_MAX_WR)
		return -EINVAL;
	new = uet_ring_create(udata, uet_depth(max_wr), old->stride);
	if (IS_ERR(new))
		return PTR_ERR(new);
	if (udata)
		err = uet_srq_resize_respond(new, resp_addr);
	if (!err) {
		irq = uet_queue_lock(&rq->lock, rq->user);
		err = uet_rq_move(rq, new);
		uet_queue_unlock(&rq->lock, rq->user, irq);
	}
	uet_ring_free(err ? new : old);
	return err;
}

static int uet_srq_udata(struct ib_udata *udata, enum ib_srq_attr_mask mask,
			 u64 *resp_addr)
{
	struct uet_modify_srq_req req = {};
	int err;

	if (!udata)
		return 0;
	if (!udata->inlen && !(mask & IB_SRQ_MAX_WR))
		return 0;
	err = uet_udata_in(udata, &req, sizeof(req));
	if (err)
		return err;
	if (req.comp_mask)
		return -EOPNOTSUPP;
	if (req.reserved || (mask & IB_SRQ_MAX_WR && !req.resp_addr))
		return -EINVAL;
	*resp_addr = req.resp_addr;
	return 0;
}

/**
 * uet_modify_srq - resize, or arm the limit event
 * @ib: SRQ
 * @attr: new values
 * @mask: which of them count
 * @udata: struct uet_modify_srq_req
 *
 * Context: process.
 * Return: 0; -EINVAL: beyond the limits, or more is posted than would fit;
 * another errno.
 */
int uet_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr,
		   enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	unsigned long irq;
	struct uet_srq *srq = to_usrq(ib);
	u64 resp_addr = 0;
	u32 room;
	int err;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EOPNOTSUPP;
	err = uet_srq_udata(udata, mask, &resp_addr);
	if (err)
		return err;
	mutex_lock(&srq->mutex);
	room = mask & IB_SRQ_MAX_WR ? attr->max_wr : srq->rq.ring->depth;
	if (mask & IB_SRQ_LIMIT && attr->srq_limit > room)
		err = -EINVAL;
	if (!err && mask & IB_SRQ_MAX_WR)
		err = uet_srq_resize(srq, attr->max_wr, resp_addr, udata);
	if (!err && mask & IB_SRQ_LIMIT) {
		irq = uet_queue_lock(&srq->rq.lock, srq->rq.user);
		srq->limit = attr->srq_limit;
		uet_queue_unlock(&srq->rq.lock, srq->rq.user, irq);
	}
	mutex_unlock(&srq->mutex);
	return err;
}

int uet_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr)
{
	unsigned long irq;
	struct uet_srq *srq = to_usrq(ib);

	irq = uet_queue_lock(&srq->rq.lock, srq->rq.user);
	attr->max_wr = srq->rq.ring->depth;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = srq->limit;
	uet_queue_unlock(&srq->rq.lock, srq->rq.user, irq);
	return 0;
}

/* No QP uses it any more. Waits for handlers that are on their way. */
int uet_destroy_srq(struct ib_srq *ib, struct ib_udata *udata)
{
	struct uet_srq *srq = to_usrq(ib);

	uet_srq_put(srq);
	wait_for_completion(&srq->gone);
	xa_erase(&to_udev(ib->device)->srqs, srq->num);
	uet_rq_free(&srq->rq);
	return 0;
}

/**
 * uet_post_srq_recv - post receive requests
 * @ib: SRQ
 * @wr: requests of the kernel; user space has its own in the ring
 * @bad_wr: first one that was not posted
 *
 * Context: any.
 *
 * Return: 0, or a negative errno; the requests before @bad_wr are posted.
 */
int uet_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr)
{
	struct uet_srq *srq = to_usrq(ib);
	unsigned long irq;
	int err = 0;

	if (srq->rq.ring->user)
		return 0;
	irq = uet_queue_lock(&srq->rq.lock, srq->rq.user);
	while (wr && !err) {
		err = uet_rq_put(&srq->rq, wr);
		if (!err)
			wr = wr->next;
	}
	uet_queue_unlock(&srq->rq.lock, srq->rq.user, irq);
	if (err)
		*bad_wr = wr;
	return err;
}
