// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The state machine of a QP as its owner drives it. ib_core knows the rules
 * for the standard types; RU follows those of UD without a Q_Key.
 */
#include <rdma/ib_addr.h>

#include "uet.h"

/* What an RU QP takes beyond the attributes of UD, and what it does not. */
#define UET_RU_ATTRS	(IB_QP_ACCESS_FLAGS | IB_QP_TIMEOUT | \
			 IB_QP_RETRY_CNT | IB_QP_RNR_RETRY)

static bool uet_attr_ok(const struct uet_qp *qp, const struct ib_qp_attr *attr,
			int mask)
{
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index)
		return false;
	if (mask & IB_QP_PORT && attr->port_num != UET_PORT)
		return false;
	if (mask & IB_QP_DEST_QPN &&
	    (!attr->dest_qp_num || attr->dest_qp_num > UET_QPN_MAX))
		return false;
	if (mask & IB_QP_PATH_MTU &&
	    (attr->path_mtu < IB_MTU_256 ||
	     attr->path_mtu > IB_MTU_4096))
		return false;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC &&
	    attr->max_rd_atomic > UET_MAX_RD_ATOMIC)
		return false;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	    attr->max_dest_rd_atomic > UET_MAX_RD_ATOMIC)
		return false;
	if (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31)
		return false;
	if (mask & IB_QP_TIMEOUT && attr->timeout > 31)
		return false;
	if (mask & IB_QP_RETRY_CNT && attr->retry_cnt > 7)
		return false;
	return !(mask & IB_QP_RNR_RETRY && attr->rnr_retry > 7);
}

/* May the QP go from @cur to @next with these attributes? */
static int uet_modify_check(const struct uet_qp *qp,
			    const struct ib_qp_attr *attr, int mask,
			    enum ib_qp_state cur, enum ib_qp_state next)
{
	enum ib_qp_type type = qp->ib.qp_type;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	/* Another path for a live connection is not offered. */
	if (mask & IB_QP_ALT_PATH || (mask & IB_QP_AV && cur != IB_QPS_INIT))
		return -EOPNOTSUPP;
	if (!uet_attr_ok(qp, attr, mask))
		return -EINVAL;
	if (type == IB_QPT_DRIVER) {
		if (mask & IB_QP_QKEY)
			return -EINVAL;
		/* The table of ib_core knows UD, which needs a Q_Key. */
		mask &= ~UET_RU_ATTRS;
		if (cur == IB_QPS_RESET && next == IB_QPS_INIT)
			mask |= IB_QP_QKEY;
		type = IB_QPT_UD;
	}
	return ib_modify_qp_is_ok(cur, next, type, mask) ? 0 : -EINVAL;
}

/* @to becomes what @from says where @mask tells so. */
static void uet_attr_merge(struct ib_qp_attr *to, const struct ib_qp_attr *from,
			   int mask)
{
	if (mask & IB_QP_QKEY)
		to->qkey = from->qkey;
	if (mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = from->qp_access_flags;
	if (mask & IB_QP_PORT)
		to->port_num = from->port_num;
	if (mask & IB_QP_AV)
		to->ah_attr = from->ah_attr;
	if (mask & IB_QP_PATH_MTU)
		to->path_mtu = from->path_mtu;
	if (mask & IB_QP_DEST_QPN)
		to->dest_qp_num = from->dest_qp_num;
	if (mask & IB_QP_RQ_PSN)
		to->rq_psn = from->rq_psn;
	if (mask & IB_QP_SQ_PSN)
		to->sq_psn = from->sq_psn;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = from->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = from->max_dest_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = from->min_rnr_timer;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = from->timeout;
	if (mask & IB_QP_RETRY_CNT)
		to->retry_cnt = from->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		to->rnr_retry = from->rnr_retry;
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		to->en_sqd_async_notify = from->en_sqd_async_notify;
}

/* What callbacks look at. */
static void uet_attr_apply(struct uet_qp *qp, const struct ib_qp_attr *attr)
{
	WRITE_ONCE(qp->qkey, attr->qkey);
	WRITE_ONCE(qp->access, attr->qp_access_flags);
	WRITE_ONCE(qp->max_reads, attr->max_rd_atomic);
}

/* UC has no attribute for it: a peer silent for so long is taken for dead. */
#define UET_UC_BUDGET_NS	(2 * (u64)NSEC_PER_SEC)

/* How long a peer may stay silent: as long as RC of InfiniBand bears it. */
static u64 uet_budget_ns(const struct uet_qp *qp, const struct ib_qp_attr *attr)
{
	if (qp->unreliable)
		return UET_UC_BUDGET_NS;
	if (!attr->timeout)
		return 0;
	return (4 * (attr->retry_cnt + 1) * 4096ULL) << attr->timeout;
}

/* INIT to RTR for a connection. */
static int uet_qp_connect(struct uet_qp *qp, const struct ib_qp_attr *attr)
{
	struct uet_ep_conn conn = {
		.peer_wire = attr->dest_qp_num,
		.peer_initiator = attr->dest_qp_num,
		.budget_ns = uet_budget_ns(qp, attr),
		.rnr_retry = attr->rnr_retry,
	};
	struct uet_path *path;
	u32 limit = 0;
	int err;

	if (attr->path_mtu < uet_active_mtu(qp->dev))
		limit = ib_mtu_enum_to_int(attr->path_mtu);
	if (rdma_is_multicast_addr((struct in6_addr *)
				   attr->ah_attr.grh.dgid.raw))
		return -EINVAL;
	path = uet_path_from_attr(qp->dev, &attr->ah_attr, limit, GFP_KERNEL);
	if (IS_ERR(path))
		return PTR_ERR(path);
	conn.path = path;
	err = uet_ep_connect(qp->ep, &conn);
	if (err) {
		uet_path_put(path);
		return err;
	}
	qp->path = path;
	return 0;
}

static bool uet_qp_move(struct uet_qp *qp, int from, int to)
{
	return try_cmpxchg(&qp->state, &from, to);
}

/*
 * Receiving is on before the peer is let in, or its first message would find
 * no buffer and be made to wait.
 */
static int uet_qp_to_rtr(struct uet_qp *qp, const struct ib_qp_attr *attr)
{
	int err = 0;

	if (!uet_qp_move(qp, IB_QPS_INIT, IB_QPS_RTR))
		return -EINVAL;
	uet_attr_apply(qp, attr);
	if (qp->mode == UET_EP_ROD)
		err = uet_qp_connect(qp, attr);
	else
		uet_ep_open(qp->ep, true);
	if (err)
		uet_qp_move(qp, IB_QPS_RTR, IB_QPS_INIT);
	return err;
}

static int uet_qp_to_rts(struct uet_qp *qp, const struct ib_qp_attr *attr,
			 int cur)
{
	unsigned long irq;
	bool moved;

	uet_attr_apply(qp, attr);
	if (qp->mode != UET_EP_UUD)
		uet_ep_set_retry(qp->ep, uet_budget_ns(qp, attr),
				 attr->rnr_retry);
	/* Under the lock, so that no request sees one without the other. */
	irq = uet_sq_lock(qp);
	moved = uet_qp_move(qp, cur, IB_QPS_RTS);
	qp->sqd_event = false;
	if (moved && cur == IB_QPS_SQE) {
		qp->sq.error = false;
		qp->sq.halted = false;
	}
	uet_sq_unlock(qp, irq);
	if (!moved)
		return -EINVAL;
	uet_sq_run_all(qp);
	return 0;
}

static int uet_qp_to_sqd(struct uet_qp *qp, const struct ib_qp_attr *attr,
			 int mask, int cur)
{
	unsigned long irq;
	bool idle;

	if (!uet_qp_move(qp, cur, IB_QPS_SQD))
		return -EINVAL;
	uet_attr_apply(qp, attr);
	if (!(mask & IB_QP_EN_SQD_ASYNC_NOTIFY) || !attr->en_sqd_async_notify)
		return 0;
	irq = uet_sq_lock(qp);
	idle = qp->sq.cons == qp->sq.next;
	qp->sqd_event = !idle;
	uet_sq_unlock(qp, irq);
	if (idle)
		uet_qp_event(qp, UET_QP_EV_SQ_DRAINED);
	return 0;
}

/* qp->mutex held; everything is checked. */
static int uet_qp_go(struct uet_qp *qp, const struct ib_qp_attr *attr, int mask,
		     int cur, int next)
{
	switch (next) {
	case IB_QPS_RESET:
		if (cur != IB_QPS_RESET)
			uet_qp_reset(qp);
		return 0;
	case IB_QPS_INIT:
		uet_attr_apply(qp, attr);
		return uet_qp_move(qp, cur, IB_QPS_INIT) ? 0 : -EINVAL;
	case IB_QPS_RTR:
		return uet_qp_to_rtr(qp, attr);
	case IB_QPS_RTS:
		return uet_qp_to_rts(qp, attr, cur);
	case IB_QPS_SQD:
		return uet_qp_to_sqd(qp, attr, mask, cur);
	case IB_QPS_ERR:
		xchg(&qp->state, IB_QPS_ERR);
		uet_qp_flush(qp);
		uet_ep_end_reads(qp->ep);
		return 0;
	default:
		return -EINVAL;
	}
}

int uet_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata)
{
	struct uet_qp *qp = to_uqp(ib);
	struct ib_qp_attr new;
	int cur, next, err;

	err = uet_udata_none(udata);
	if (err)
		return err;
	mutex_lock(&qp->mutex);
	/*
	 * A claim about the present state (IB_QP_CUR_STATE) may be outdated;
	 * what counts is the state itself.
	 */
	cur = READ_ONCE(qp->state);
	next = mask & IB_QP_STATE ? attr->qp_state : cur;
	err = uet_modify_check(qp, attr, mask, cur, next);
	if (!err) {
		new = qp->attr;
		uet_attr_merge(&new, attr, mask);
		err = uet_qp_go(qp, &new, mask, cur, next);
	}
	if (!err) {
		qp->attr = new;
		/* Borrowed from the caller. */
		qp->attr.ah_attr.grh.sgid_attr = NULL;
	}
	mutex_unlock(&qp->mutex);
	return err;
}

int uet_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init)
{
	unsigned long irq;
	struct uet_qp *qp = to_uqp(ib);

	mutex_lock(&qp->mutex);
	*attr = qp->attr;
	attr->qp_state = READ_ONCE(qp->state);
	attr->cur_qp_state = attr->qp_state;
	irq = uet_sq_lock(qp);
	attr->sq_draining = attr->qp_state == IB_QPS_SQD &&
			    qp->sq.cons != qp->sq.next;
	uet_sq_unlock(qp, irq);
	mutex_unlock(&qp->mutex);

	init->event_handler = ib->event_handler;
	init->qp_context = ib->qp_context;
	init->send_cq = ib->send_cq;
	init->recv_cq = ib->recv_cq;
	init->srq = ib->srq;
	init->cap = attr->cap;
	init->sq_sig_type = qp->sq.sig_all ? IB_SIGNAL_ALL_WR :
					     IB_SIGNAL_REQ_WR;
	init->qp_type = ib->qp_type;
	return 0;
}
