// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Reliable unconnected QPs: what they may be asked for, the numbers by which
 * peers find them, and where their requests go.
 */
#include <linux/capability.h>
#include <linux/random.h>
#include <net/net_namespace.h>

#include "job.h"

#define UET_CREATE_QP_BITS	(UET_CREATE_QP_RU | UET_CREATE_QP_PID | \
				 UET_CREATE_QP_RI | UET_CREATE_QP_SRC_ID | \
				 UET_CREATE_QP_SEMANTICS)
#define UET_CREATE_QP_CHOSEN	(UET_CREATE_QP_PID | UET_CREATE_QP_RI)
#define UET_USAGE_FLAGS		(UET_USAGE_IMM_DATA_RQ | UET_USAGE_ATTACH_MR)

#define UET_PID_MAX		0xfffU
#define UET_RI_MAX		0xfffU

/**
 * uet_ru_semantics - the most that an RU QP can be asked for
 * @dev: device
 * @sem: filled in
 *
 * Context: any.
 */
void uet_ru_semantics(const struct uet_dev *dev, struct uet_semantics *sem)
{
	*sem = (struct uet_semantics){
		.max_pdu = uet_fep_payload_mtu(dev->fep),
		.imm_data_size = 64,
		.usage_flags = UET_USAGE_FLAGS,
	};
}

/* Messages have no order, so any that is asked for is too much. */
static int uet_ru_want_check(const struct uet_dev *dev,
			     const struct uet_semantics *want)
{
	if (want->reserved[0] || want->reserved[1])
		return -EINVAL;
	if (want->comp_mask || want->msg_order || want->max_rdma_raw_size ||
	    want->max_rdma_war_size || want->max_rdma_waw_size ||
	    want->max_pdu > uet_fep_payload_mtu(dev->fep) ||
	    want->usage_flags & ~UET_USAGE_FLAGS)
		return -EOPNOTSUPP;
	switch (want->imm_data_size) {
	case 0:
	case 32:
	case 64:
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

/* Fields whose bit is not set are 0, so that the bit can mean more later. */
static int uet_ru_req_check(const struct uet_dev *dev,
			    const struct uet_create_qp_req *req)
{
	u32 has = req->comp_mask, chosen = 0;

	if (has & ~UET_CREATE_QP_BITS)
		return -EOPNOTSUPP;
	if (has & UET_CREATE_QP_PID)
		chosen |= UET_PID_MAX;
	if (has & UET_CREATE_QP_RI)
		chosen |= UET_RI_MAX << 12;
	if ((has && !(has & UET_CREATE_QP_RU)) || req->wire_qpn & ~chosen ||
	    (has & UET_CREATE_QP_RI && !(req->wire_qpn & UET_RI_MAX << 12)) ||
	    (req->src_id && !(has & UET_CREATE_QP_SRC_ID)))
		return -EINVAL;
	if (!(has & UET_CREATE_QP_SEMANTICS))
		return memchr_inv(&req->want, 0, sizeof(req->want)) ?
		       -EINVAL : 0;
	return uet_ru_want_check(dev, &req->want);
}

/* A pair of the device is not for everybody to choose. */
static bool uet_ru_may_choose(const struct uet_dev *dev)
{
	struct net *net = dev_net(uet_fep_netdev(dev->fep));

	return ns_capable(net->user_ns, CAP_NET_RAW);
}

static int uet_ru_addressing(struct uet_qp *qp,
			     const struct uet_create_qp_req *req)
{
	if (!(req->comp_mask & UET_CREATE_QP_RU)) {
		/* A caller that knows neither addressing nor jobs. */
		qp->addressing = UET_ADDR_ABSOLUTE;
		return req->addressing || req->jkey ? -EINVAL : 0;
	}
	switch (req->addressing) {
	case UET_ADDR_RELATIVE:
		if (!req->jkey)
			return -EINVAL;
		break;
	case UET_ADDR_ABSOLUTE:
		if (req->comp_mask & UET_CREATE_QP_CHOSEN &&
		    !uet_ru_may_choose(qp->dev))
			return -EPERM;
		break;
	default:
		return -EINVAL;
	}
	qp->addressing = req->addressing;
	return 0;
}

/**
 * uet_ru_check - may there be such a QP?
 * @qp: QP of its protection domain, not yet numbered
 * @req: what is asked for
 *
 * Context: process.
 * Return: 0, and the job key is held until uet_ru_release(); else a negative
 * errno as struct uet_create_qp_req has them.
 */
int uet_ru_check(struct uet_qp *qp, const struct uet_create_qp_req *req)
{
	int err = uet_ru_req_check(qp->dev, req);
	struct uet_jkey *jkey;

	if (!err)
		err = uet_ru_addressing(qp, req);
	if (err || !req->jkey)
		return err;
	jkey = uet_jkey_get(qp->ib.pd, req->jkey);
	if (!jkey)
		return -EINVAL;
	qp->jkey = jkey;
	return 0;
}

/* What uet_ru_check() took. */
void uet_ru_release(struct uet_qp *qp)
{
	if (qp->jkey)
		uet_jkey_put(qp->jkey);
	qp->jkey = NULL;
}

/*
 * The @i-th wire pair to try, 0 if there is no more: what is chosen stays, RI
 * begins at 1 and PIDonFEP at that of @base.
 */
static u32 uet_ru_candidate(const struct uet_create_qp_req *req, u32 base,
			    u32 i)
{
	u32 pid = base & UET_PID_MAX;

	switch (req->comp_mask & UET_CREATE_QP_CHOSEN) {
	case UET_CREATE_QP_CHOSEN:
		return i ? 0 : req->wire_qpn;
	case UET_CREATE_QP_RI:
		return i > UET_PID_MAX ? 0 : req->wire_qpn |
					     ((base + i) & UET_PID_MAX);
	case UET_CREATE_QP_PID:
		pid = req->wire_qpn;
		break;
	}
	return i >= UET_RI_MAX ? 0 : (i + 1) << 12 | pid;
}

/**
 * uet_ru_number - give an absolute QP the number that is chosen for it
 * @qp: with UET_CREATE_QP_PID or _RI, or both
 * @req: what was asked for
 *
 * Context: process.
 * Return: 0; -EBUSY: in use; -ENOMEM.
 */
int uet_ru_number(struct uet_qp *qp, const struct uet_create_qp_req *req)
{
	u32 base = get_random_u32(), n, i;
	int err = -EBUSY;

	for (i = 0; err == -EBUSY; i++) {
		n = uet_ru_candidate(req, base, i);
		if (!n)
			break;
		err = xa_insert(&qp->dev->qps, n, qp, GFP_KERNEL);
		qp->ib.qp_num = n;
	}
	return err;
}

static int uet_ru_ep_try(struct uet_qp *qp, const struct uet_create_qp_req *req,
			 u32 wire)
{
	struct uet_ep_attr attr = {
		.mode = UET_EP_RUD,
		.wire = wire,
		.initiator = req->comp_mask & UET_CREATE_QP_SRC_ID ?
			     req->src_id : wire,
	};
	struct uet_ep *ep;

	if (qp->addressing == UET_ADDR_RELATIVE)
		attr.job_id = qp->jkey->job->obj.id;
	ep = uet_ep_create(qp->dev->fep, &attr, qp);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	qp->ep = ep;
	qp->wire = wire;
	qp->src_id = attr.initiator;
	return 0;
}

/**
 * uet_ru_ep_create - make a QP known on the wire
 * @qp: RU, numbered
 * @req: what was asked for
 *
 * An absolute QP is known by its number. A relative one gets a wire pair of
 * its job, near to its number so that most are free at the first look.
 *
 * Context: process.
 * Return: 0; -EBUSY: the pair is in use, or none that fits is free; -ENOMEM.
 */
int uet_ru_ep_create(struct uet_qp *qp, const struct uet_create_qp_req *req)
{
	int err = -EBUSY;
	u32 wire, i;

	if (qp->addressing == UET_ADDR_ABSOLUTE)
		return uet_ru_ep_try(qp, req, qp->ib.qp_num);
	for (i = 0; err == -EBUSY; i++) {
		wire = uet_ru_candidate(req, qp->ib.qp_num, i);
		if (!wire)
			break;
		err = uet_ru_ep_try(qp, req, wire);
	}
	return err;
}

/* What became of the request. */
void uet_ru_respond(const struct uet_qp *qp, struct uet_create_qp_resp *resp)
{
	resp->comp_mask |= UET_CREATE_QP_RESP_RU;
	resp->addressing = qp->addressing;
	resp->src_id = qp->src_id;
	resp->job_id = qp->jkey ? qp->jkey->job->obj.id : 0;
	uet_ru_semantics(qp->dev, &resp->granted);
}

/* The job to send in, NULL for none, or ERR_PTR. RCU read side. */
static const struct uet_job *uet_ru_job(const struct uet_qp *qp, u32 jkey)
{
	const struct uet_job *own = qp->jkey ? qp->jkey->job : NULL;
	const struct uet_job *job = own;

	if (jkey) {
		job = uet_jkey_job(qp->ib.pd, jkey);
		if (!job)
			return ERR_PTR(-EACCES);
	}
	if (job && READ_ONCE(job->obj.dead))
		return ERR_PTR(-EACCES);
	if (qp->addressing == UET_ADDR_RELATIVE && job != own)
		return ERR_PTR(-EACCES);
	return job;
}

/**
 * uet_ru_target - where a request goes, and in which job
 * @qp: RU
 * @wqe: request, a private copy
 * @msg: job, path and peer are filled in
 *
 * Context: process or softirq.
 * Return: enum ib_wc_status: IB_WC_LOC_ACCESS_ERR for the job key,
 * IB_WC_LOC_QP_OP_ERR for the address.
 */
u8 uet_ru_target(struct uet_qp *qp, const struct uet_send_wqe *wqe,
		 struct uet_msg *msg)
{
	const struct uet_job *job;
	u8 status = IB_WC_LOC_QP_OP_ERR;

	rcu_read_lock();
	job = uet_ru_job(qp, wqe->jkey);
	if (IS_ERR(job)) {
		status = IB_WC_LOC_ACCESS_ERR;
		goto out;
	}
	msg->job_id = job ? job->obj.id : 0;
	if (!(wqe->flags & UET_WQE_ADDR_IDX)) {
		if (wqe->addr_idx || wqe->dest_qpn > UET_QPN_MAX)
			goto out;
		msg->path = uet_ah_path(qp, wqe->ah);
		msg->peer_wire = wqe->dest_qpn;
	} else if (job && !wqe->ah && !wqe->dest_qpn) {
		msg->path = uet_job_addr_path(job, wqe->addr_idx,
					      &msg->peer_wire);
	}
	if (msg->path)
		status = IB_WC_SUCCESS;
out:
	rcu_read_unlock();
	return status;
}
