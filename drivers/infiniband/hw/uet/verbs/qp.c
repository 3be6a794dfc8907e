// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Queue pairs: create, errors and events, reset, destroy. The other state
 * changes are in modify.c.
 *
 * A QP goes to error from any context by one cmpxchg; flushing and events
 * follow in process context (event_work). All other states are set under
 * qp->mutex.
 */
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "job.h"

/* Error events and what ib_core calls them. */
static const struct {
	enum uet_qp_event bit;
	enum ib_event_type type;
} uet_qp_ib_events[] = {
	{ UET_QP_EV_FATAL, IB_EVENT_QP_FATAL },
	{ UET_QP_EV_REQ_ERR, IB_EVENT_QP_REQ_ERR },
	{ UET_QP_EV_ACCESS_ERR, IB_EVENT_QP_ACCESS_ERR },
	{ UET_QP_EV_COMM_EST, IB_EVENT_COMM_EST },
	{ UET_QP_EV_SQ_DRAINED, IB_EVENT_SQ_DRAINED },
	{ UET_QP_EV_LAST_WQE, IB_EVENT_QP_LAST_WQE_REACHED },
};

/* Caller holds a reference or is called by the QP's endpoint. */
void uet_qp_get(struct uet_qp *qp)
{
	refcount_inc(&qp->refs);
}

void uet_qp_put(struct uet_qp *qp)
{
	if (refcount_dec_and_test(&qp->refs))
		complete(&qp->gone);
}

/**
 * uet_qp_event - have something done in process context
 * @qp: QP
 * @ev: what
 *
 * Context: any.
 */
void uet_qp_event(struct uet_qp *qp, enum uet_qp_event ev)
{
	set_bit(ev, &qp->events);
	uet_qp_get(qp);
	if (!queue_work(uet_verbs_wq, &qp->event_work))
		uet_qp_put(qp);
}

/**
 * uet_qp_to_error - the QP is broken
 * @qp: QP
 * @ev: event for its owner, or UET_QP_EV_FLUSH for none
 *
 * From here on nothing is started or let in; the flush follows.
 *
 * Context: any, also under queue and engine locks. Idempotent.
 */
void uet_qp_to_error(struct uet_qp *qp, enum uet_qp_event ev)
{
	int old = READ_ONCE(qp->state);

	do {
		if (old == IB_QPS_RESET || old == IB_QPS_ERR)
			return;
	} while (!try_cmpxchg(&qp->state, &old, IB_QPS_ERR));
	set_bit(UET_QP_EV_FLUSH, &qp->events);
	uet_qp_event(qp, ev);
}

/**
 * uet_qp_fault - struct uet_fep_ops.ep_fault
 * @ep: endpoint
 * @rc: which rule the peer broke
 * @d: unused, the rest needs process context
 *
 * A connection ends by it. Others have many peers, of which one misbehaved.
 *
 * Context: engine lock.
 */
void uet_qp_fault(struct uet_ep *ep, enum uet_rc rc, struct uet_defer *d)
{
	struct uet_qp *qp = uet_ep_priv(ep);

	if (qp->mode != UET_EP_ROD)
		return;
	switch (rc) {
	case UET_RC_BAD_MKEY:
	case UET_RC_BAD_ADDR:
	case UET_RC_PERM_VIOLATION:
		uet_qp_to_error(qp, UET_QP_EV_ACCESS_ERR);
		break;
	default:
		uet_qp_to_error(qp, UET_QP_EV_REQ_ERR);
		break;
	}
}

/**
 * uet_qp_flush - give everything back to its owner in error
 * @qp: in state ERR; qp->mutex held
 */
void uet_qp_flush(struct uet_qp *qp)
{
	struct uet_defer d;

	uet_defer_init(&d);
	uet_ep_flush(qp->ep, &d);
	uet_rq_flush(qp, &d);
	uet_defer_run(&d);
	uet_sq_run_all(qp);
	/* All that the QP took from the SRQ has completed. */
	if (qp->ib.srq && !test_and_set_bit(0, &qp->last_wqe))
		uet_qp_event(qp, UET_QP_EV_LAST_WQE);
}

static void uet_qp_dispatch(struct uet_qp *qp, enum ib_event_type type)
{
	struct ib_event ev = {
		.device = qp->ib.device,
		.event = type,
		.element.qp = &qp->ib,
	};

	if (qp->ib.event_handler)
		qp->ib.event_handler(&ev, qp->ib.qp_context);
}

static void uet_qp_event_work(struct work_struct *work)
{
	struct uet_qp *qp = container_of(work, struct uet_qp, event_work);
	int i;

	if (test_and_clear_bit(UET_QP_EV_FLUSH, &qp->events)) {
		mutex_lock(&qp->mutex);
		if (READ_ONCE(qp->state) == IB_QPS_ERR)
			uet_qp_flush(qp);
		mutex_unlock(&qp->mutex);
	}
	for (i = 0; i < ARRAY_SIZE(uet_qp_ib_events); i++)
		if (test_and_clear_bit(uet_qp_ib_events[i].bit, &qp->events))
			uet_qp_dispatch(qp, uet_qp_ib_events[i].type);
	uet_qp_put(qp);
}

/* Nobody works on the send queue. */
static bool uet_sq_is_idle(struct uet_qp *qp)
{
	unsigned long irq;
	bool idle;

	irq = uet_sq_lock(qp);
	idle = !qp->sq.running;
	uet_sq_unlock(qp, irq);
	return idle;
}

/* The engine holds nothing of the QP. */
static bool uet_qp_is_quiet(struct uet_qp *qp)
{
	unsigned long irq;
	bool quiet;

	irq = uet_sq_lock(qp);
	quiet = !qp->sq.active;
	uet_sq_unlock(qp, irq);
	return quiet && !atomic_read(&qp->recvs);
}

/**
 * uet_qp_wake - somebody may wait for the QP to become idle
 * @qp: QP
 *
 * To be called after the queue lock under which the state changed: the waiter
 * looks under the same lock, so one of the two sees the other.
 */
void uet_qp_wake(struct uet_qp *qp)
{
	if (unlikely(READ_ONCE(qp->state) == IB_QPS_RESET))
		wake_up_var(&qp->state);
}

/* From here on callbacks are silent and the runner starts nothing. */
static void uet_qp_stop(struct uet_qp *qp)
{
	xchg(&qp->state, IB_QPS_RESET);
	wait_var_event(&qp->state, uet_sq_is_idle(qp));
}

/**
 * uet_qp_reset - go to RESET and forget everything
 * @qp: qp->mutex held
 */
void uet_qp_reset(struct uet_qp *qp)
{
	struct uet_defer d;

	uet_qp_stop(qp);
	uet_defer_init(&d);
	uet_ep_flush(qp->ep, &d);
	uet_ep_end_reads(qp->ep);
	uet_defer_run(&d);
	wait_var_event(&qp->state, uet_qp_is_quiet(qp));
	uet_sq_reset(qp);
	uet_rq_reset(&qp->rq);
	uet_cq_forget(qp->ib.send_cq, &qp->ib);
	uet_cq_forget(qp->ib.recv_cq, &qp->ib);
	uet_path_put(qp->path);
	qp->path = NULL;
	qp->comm_est = 0;
	qp->last_wqe = 0;
	qp->sqd_event = false;
}

static int uet_qp_check_caps(const struct ib_qp_cap *cap)
{
	if (cap->max_send_wr > UET_MAX_WR || cap->max_recv_wr > UET_MAX_WR ||
	    cap->max_send_sge > UET_MAX_SGE ||
	    cap->max_recv_sge > UET_MAX_SGE ||
	    cap->max_inline_data > UET_MAX_INLINE)
		return -EINVAL;
	return 0;
}

static int uet_qp_set_mode(struct uet_qp *qp, enum ib_qp_type type,
			   u32 driver_type)
{
	if (driver_type != UET_QPT_NONE && type != IB_QPT_DRIVER)
		return -EINVAL;
	switch (type) {
	case IB_QPT_UC:
		qp->unreliable = true;
		fallthrough;
	case IB_QPT_RC:
		qp->mode = UET_EP_ROD;
		return 0;
	case IB_QPT_UD:
	case IB_QPT_GSI:
		qp->mode = UET_EP_UUD;
		qp->grh = true;
		return 0;
	case IB_QPT_DRIVER:
		if (driver_type != UET_QPT_RU)
			return -EOPNOTSUPP;
		qp->mode = UET_EP_RUD;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/* A caller from before RU had choices ends with reserved. */
static int uet_qp_request(struct ib_udata *udata, struct uet_create_qp_req *req)
{
	int err;

	err = uet_udata_in_min(udata, req, sizeof(*req),
			       offsetofend(struct uet_create_qp_req, reserved));
	if (err)
		return err;
	return req->reserved[0] || req->reserved[1] ? -EINVAL : 0;
}

/* What only RU has is not asked for. */
static int uet_qp_check_plain(const struct uet_create_qp_req *req)
{
	if (req->comp_mask)
		return -EOPNOTSUPP;
	return memchr_inv(&req->addressing, 0,
			  sizeof(*req) -
			  offsetof(struct uet_create_qp_req, addressing)) ?
	       -EINVAL : 0;
}

/* Takes the job key of RU, which uet_ru_release() gives back. */
static int uet_qp_check(struct uet_qp *qp, const struct ib_qp_init_attr *init,
			const struct uet_create_qp_req *req)
{
	int err;

	if (init->create_flags || init->rwq_ind_tbl ||
	    init->source_qpn)
		return -EOPNOTSUPP;
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	err = uet_qp_check_caps(&init->cap);
	if (!err)
		err = uet_qp_set_mode(qp, init->qp_type, req->driver_qp_type);
	if (err)
		return err;
	return qp->mode == UET_EP_RUD ? uet_ru_check(qp, req) :
					uet_qp_check_plain(req);
}

static int uet_sq_create(struct uet_qp *qp, const struct ib_qp_cap *cap,
			 struct ib_udata *udata)
{
	gfp_t gfp = udata ? GFP_KERNEL_ACCOUNT : GFP_KERNEL;
	u32 room = max_t(u32, cap->max_send_sge * sizeof(struct uet_wqe_sge),
			 cap->max_inline_data);
	u32 stride = ALIGN(sizeof(struct uet_send_wqe) + room, 16);
	u32 sges = max(cap->max_send_sge, 1U);
	u32 depth = uet_depth(cap->max_send_wr);
	struct uet_sq *sq = &qp->sq;
	u32 i;

	sq->max_sge = cap->max_send_sge;
	sq->max_inline = cap->max_inline_data;
	if (!depth)
		return 0;
	sq->wqe = kzalloc(stride, gfp);
	sq->slots = kvcalloc(depth, sizeof(*sq->slots), gfp);
	sq->sges = kvcalloc((size_t)depth * sges, sizeof(*sq->sges), gfp);
	if (!sq->wqe || !sq->slots || !sq->sges)
		return -ENOMEM;
	for (i = 0; i < depth; i++) {
		sq->slots[i].msg.sge = sq->sges + (size_t)i * sges;
		sq->slots[i].turn = i;
	}
	if (qp->mode == UET_EP_RUD && sq->max_inline) {
		sq->data = kvcalloc(depth, sq->max_inline, gfp);
		if (!sq->data)
			return -ENOMEM;
	}
	sq->ring = uet_ring_create(udata, depth, stride);
	return PTR_ERR_OR_ZERO(sq->ring);
}

static void uet_qp_free_queues(struct uet_qp *qp)
{
	uet_ring_free(qp->sq.ring);
	kvfree(qp->sq.data);
	kvfree(qp->sq.sges);
	kvfree(qp->sq.slots);
	kfree(qp->sq.wqe);
	uet_rq_free(&qp->rq);
}

/**
 * uet_qpn_init - QP numbers of a device: none is taken, and nobody knows the first
 * @dev: device
 */
void uet_qpn_init(struct uet_dev *dev)
{
	xa_init_flags(&dev->qps, XA_FLAGS_ALLOC);
	dev->qp_next = get_random_u32_inclusive(UET_QPN_MIN, UET_QPN_MAX);
}
EXPORT_SYMBOL_GPL(uet_qpn_init);

/**
 * uet_qpn_alloc - give a QP the next free number, so that one comes back late
 * @dev: device
 * @qp: gets the number, and is found by it
 *
 * Context: process.
 * Return: 0, -EBUSY if all are taken, -ENOMEM.
 */
int uet_qpn_alloc(struct uet_dev *dev, struct uet_qp *qp)
{
	int err = xa_alloc_cyclic(&dev->qps, &qp->ib.qp_num, qp,
				  XA_LIMIT(UET_QPN_MIN, UET_QPN_MAX),
				  &dev->qp_next, GFP_KERNEL);

	/* 1: the numbers began anew */
	return min(err, 0);
}
EXPORT_SYMBOL_GPL(uet_qpn_alloc);

static int uet_qp_number(struct uet_qp *qp, const struct uet_create_qp_req *req)
{
	struct uet_dev *dev = qp->dev;

	if (qp->ib.qp_type == IB_QPT_GSI) {
		qp->ib.qp_num = UET_GSI_QPN;
		return xa_insert(&dev->qps, UET_GSI_QPN, qp, GFP_KERNEL);
	}
	if (qp->addressing == UET_ADDR_ABSOLUTE &&
	    req->comp_mask & (UET_CREATE_QP_PID | UET_CREATE_QP_RI))
		return uet_ru_number(qp, req);
	return uet_qpn_alloc(dev, qp);
}

static void uet_qp_init(struct uet_qp *qp, const struct ib_qp_init_attr *init)
{
	mutex_init(&qp->mutex);
	INIT_LIST_HEAD(&qp->counter_node);
	INIT_LIST_HEAD(&qp->odp_node);
	INIT_LIST_HEAD(&qp->mrs);
	uet_queue_lock_init(&qp->sq.lock, qp->user);
	uet_look_init(qp);
	qp->rxq = init->srq ? &to_usrq(init->srq)->rq : &qp->rq;
	uet_notify_init(&qp->run_notify, uet_sq_run_notify);
	INIT_WORK(&qp->run_work, uet_sq_run_work);
	INIT_WORK(&qp->event_work, uet_qp_event_work);
	refcount_set(&qp->refs, 1);
	init_completion(&qp->gone);
	qp->sq.sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->state = IB_QPS_RESET;
	qp->attr.port_num = UET_PORT;
	qp->attr.path_mtu = uet_active_mtu(qp->dev);
	if (qp->mode == UET_EP_RUD) {
		/* Peers need a key for each access; the QP adds no bar. */
		qp->attr.qp_access_flags = IB_ACCESS_REMOTE_READ |
					   IB_ACCESS_REMOTE_WRITE |
					   IB_ACCESS_REMOTE_ATOMIC;
		qp->attr.max_rd_atomic = UET_MAX_RD_ATOMIC;
		qp->attr.timeout = 14;
		qp->attr.retry_cnt = 7;
		qp->attr.rnr_retry = 7;
	}
}

/* What was asked for becomes what there is. */
static void uet_qp_set_caps(struct uet_qp *qp, struct ib_qp_cap *cap)
{
	cap->max_send_wr = uet_depth(cap->max_send_wr);
	cap->max_recv_wr = uet_depth(cap->max_recv_wr);
	qp->attr.cap = *cap;
}

static int uet_qp_ep_create(struct uet_qp *qp,
			    const struct uet_create_qp_req *req)
{
	struct uet_ep_attr attr = {
		.mode = qp->mode,
		.unreliable = qp->unreliable,
		.wire = qp->ib.qp_num,
		.initiator = qp->ib.qp_num,
	};

	if (qp->mode == UET_EP_RUD)
		return uet_ru_ep_create(qp, req);
	qp->wire = attr.wire;
	qp->src_id = attr.initiator;
	qp->ep = uet_ep_create(qp->dev->fep, &attr, qp);
	return PTR_ERR_OR_ZERO(qp->ep);
}

static int uet_qp_respond(const struct uet_qp *qp, struct ib_udata *udata)
{
	struct uet_create_qp_resp resp = { .wire_qpn = qp->wire };

	if (!udata)
		return 0;
	if (qp->mode == UET_EP_RUD)
		uet_ru_respond(qp, &resp);
	uet_ring_info(qp->sq.ring, &resp.sq);
	uet_ring_info(qp->rq.ring, &resp.rq);
	return uet_udata_out(udata, &resp, sizeof(resp));
}

/* Queues and number; what is left by a failure is for the caller. */
static int uet_qp_build(struct uet_qp *qp, struct ib_qp_init_attr *init,
			const struct uet_create_qp_req *req,
			struct ib_udata *udata)
{
	int err;

	uet_qp_init(qp, init);
	err = uet_sq_create(qp, &init->cap, udata);
	if (!err)
		err = uet_rq_create(&qp->rq, qp->ib.pd,
				    uet_depth(init->cap.max_recv_wr),
				    init->cap.max_recv_sge, udata);
	if (!err)
		err = uet_qp_number(qp, req);
	if (err)
		return err;
	uet_qp_set_caps(qp, &init->cap);
	return 0;
}

int uet_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *init,
		  struct ib_udata *udata)
{
	struct uet_create_qp_req req = {};
	struct uet_qp *qp = to_uqp(ib);
	int err;

	qp->dev = to_udev(ib->device);
	qp->user = udata;
	if (init->srq) {
		init->cap.max_recv_wr = 0;
		init->cap.max_recv_sge = 0;
	}
	err = uet_qp_request(udata, &req) ?: uet_qp_check(qp, init, &req);
	if (err)
		return err;
	err = uet_obj_take(qp->dev, UET_OBJ_QP);
	if (err)
		goto err_release;
	err = uet_qp_build(qp, init, &req, udata);
	if (err)
		goto err_queues;
	err = uet_qp_ep_create(qp, &req);
	if (err)
		goto err_number;
	err = uet_qp_respond(qp, udata);
	if (err)
		goto err_ep;
	return 0;

err_ep:
	uet_ep_destroy(qp->ep);
err_number:
	xa_erase(&qp->dev->qps, ib->qp_num);
err_queues:
	uet_qp_free_queues(qp);
	uet_obj_give(qp->dev, UET_OBJ_QP);
err_release:
	uet_ru_release(qp);
	return err;
}

/*
 * Context: process. Waits for callbacks, handlers and works that are on their
 * way, never for the network.
 */
int uet_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct uet_qp *qp = to_uqp(ib);

	mutex_lock(&qp->mutex);
	uet_qp_stop(qp);
	mutex_unlock(&qp->mutex);
	uet_ep_destroy(qp->ep);
	uet_rkey_detach_all(qp);
	uet_qp_put(qp);
	wait_for_completion(&qp->gone);

	uet_sq_reset(qp);
	uet_cq_forget(ib->send_cq, ib);
	uet_cq_forget(ib->recv_cq, ib);
	uet_path_put(qp->path);
	uet_qp_free_queues(qp);
	xa_erase(&qp->dev->qps, ib->qp_num);
	uet_ru_release(qp);
	uet_obj_give(qp->dev, UET_OBJ_QP);
	return 0;
}
