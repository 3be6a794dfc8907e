// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* What "rdma resource show -dd" tells about objects of this driver. */
#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "job.h"

static const char *uet_mode_name(const struct uet_qp *qp)
{
	switch (qp->mode) {
	case UET_EP_ROD:
		return qp->unreliable ? "rod-unreliable" : "rod";
	case UET_EP_RUD:
		return "rud";
	default:
		return "uud";
	}
}

static int uet_fill_sq(struct sk_buff *msg, struct uet_qp *qp)
{
	unsigned long irq;
	struct uet_sq *sq = &qp->sq;
	u32 depth, held, active, reads;

	irq = uet_sq_lock(qp);
	depth = sq->ring ? sq->ring->depth : 0;
	held = sq->next - sq->cons;
	active = sq->active;
	reads = sq->reads;
	uet_sq_unlock(qp, irq);
	if (rdma_nl_put_driver_u32(msg, "sq_depth", depth) ||
	    rdma_nl_put_driver_u32(msg, "sq_started", held) ||
	    rdma_nl_put_driver_u32(msg, "sq_active", active) ||
	    rdma_nl_put_driver_u32(msg, "sq_reads", reads))
		return -EMSGSIZE;
	return 0;
}

static int uet_fill_rq(struct sk_buff *msg, struct uet_rq *rq)
{
	unsigned long irq;
	u32 depth, posted;

	irq = uet_queue_lock(&rq->lock, rq->user);
	depth = rq->ring ? rq->ring->depth : 0;
	posted = uet_rq_posted(rq);
	uet_queue_unlock(&rq->lock, rq->user, irq);
	if (rdma_nl_put_driver_u32(msg, "rq_depth", depth) ||
	    rdma_nl_put_driver_u32(msg, "rq_posted", posted))
		return -EMSGSIZE;
	return 0;
}

static int uet_fill_ru(struct sk_buff *msg, const struct uet_qp *qp)
{
	if (qp->mode != UET_EP_RUD)
		return 0;
	if (rdma_nl_put_driver_string(msg, "addressing",
				      qp->addressing == UET_ADDR_RELATIVE ?
				      "relative" : "absolute") ||
	    rdma_nl_put_driver_u32_hex(msg, "src_id", qp->src_id) ||
	    (qp->jkey && rdma_nl_put_driver_u32(msg, "job",
						qp->jkey->job->obj.id)))
		return -EMSGSIZE;
	return 0;
}

int uet_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ib)
{
	struct nlattr *nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	struct uet_qp *qp = to_uqp(ib);

	if (!nest)
		return -EMSGSIZE;
	if (rdma_nl_put_driver_string(msg, "mode", uet_mode_name(qp)) ||
	    rdma_nl_put_driver_u32_hex(msg, "wire_qpn", qp->wire) ||
	    uet_fill_ru(msg, qp) ||
	    uet_fill_sq(msg, qp) || uet_fill_rq(msg, &qp->rq) ||
	    rdma_nl_put_driver_u32(msg, "rq_active",
				   atomic_read(&qp->recvs)) ||
	    (ib->srq && rdma_nl_put_driver_u32(msg, "srqn",
					       to_usrq(ib->srq)->num)))
		goto err;
	nla_nest_end(msg, nest);
	return 0;

err:
	nla_nest_cancel(msg, nest);
	return -EMSGSIZE;
}

int uet_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ib)
{
	unsigned long irq;
	struct nlattr *nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	struct uet_cq *cq = to_ucq(ib);
	u32 depth, used, armed;
	bool failed;

	if (!nest)
		return -EMSGSIZE;
	irq = uet_queue_lock(&cq->lock, !cq->qps);
	depth = cq->ring->depth;
	used = cq->prod - (cq->ring->user ? READ_ONCE(cq->ring->hdr->cons) :
					    cq->cons);
	armed = cq->armed;
	failed = cq->failed;
	uet_queue_unlock(&cq->lock, !cq->qps, irq);
	if (rdma_nl_put_driver_u32(msg, "depth", depth) ||
	    rdma_nl_put_driver_u32(msg, "unpolled", min(used, depth)) ||
	    rdma_nl_put_driver_u32(msg, "armed", armed) ||
	    rdma_nl_put_driver_u32(msg, "overflowed", failed))
		goto err;
	nla_nest_end(msg, nest);
	return 0;

err:
	nla_nest_cancel(msg, nest);
	return -EMSGSIZE;
}

static const char *uet_mr_kind(const struct uet_mr *mr)
{
	if (mr->mkey.kind == UET_MKEY_FRWR)
		return "fast-register";
	if (mr->mkey.kind == UET_MKEY_DMA)
		return "dma";
	if (mr->parent)
		return "derived";
	return mr->dmabuf ? "dma-buf" : "user";
}

/* For whom it is, beside its protection domain. */
static int uet_fill_mr_scope(struct sk_buff *msg, const struct uet_mr *mr)
{
	const struct uet_mkey *mkey = &mr->mkey;

	if (mkey->scope & UET_SCOPE_CHOSEN &&
	    rdma_nl_put_driver_u32(msg, "chosen_key", 1))
		return -EMSGSIZE;
	if (mkey->scope & UET_SCOPE_JOB &&
	    rdma_nl_put_driver_u32(msg, "job", mkey->job_id))
		return -EMSGSIZE;
	if (mkey->scope & UET_SCOPE_QP &&
	    rdma_nl_put_driver_u32(msg, "attached", !!READ_ONCE(mkey->qp)))
		return -EMSGSIZE;
	return 0;
}

int uet_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ib)
{
	struct nlattr *nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	struct uet_mr *mr = to_umr(ib);
	u32 blocks = 0, block = 0;
	bool valid;
	int access;

	if (!nest)
		return -EMSGSIZE;
	spin_lock_irq(&mr->mkey.lock);
	valid = mr->mkey.key;
	access = mr->mkey.access;
	if (mr->mkey.map) {
		blocks = mr->mkey.map->mem.nr_bvec;
		block = BIT(mr->mkey.map->mem.shift);
	}
	spin_unlock_irq(&mr->mkey.lock);
	if (rdma_nl_put_driver_string(msg, "kind", uet_mr_kind(mr)) ||
	    uet_fill_mr_scope(msg, mr) ||
	    rdma_nl_put_driver_u32(msg, "valid", valid) ||
	    rdma_nl_put_driver_u32_hex(msg, "access", access) ||
	    rdma_nl_put_driver_u32(msg, "blocks", blocks) ||
	    rdma_nl_put_driver_u32(msg, "block_size", block))
		goto err;
	nla_nest_end(msg, nest);
	return 0;

err:
	nla_nest_cancel(msg, nest);
	return -EMSGSIZE;
}

int uet_fill_res_srq_entry(struct sk_buff *msg, struct ib_srq *ib)
{
	struct nlattr *nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	struct uet_srq *srq = to_usrq(ib);

	if (!nest)
		return -EMSGSIZE;
	if (rdma_nl_put_driver_u32(msg, "srqn", srq->num) ||
	    uet_fill_rq(msg, &srq->rq) ||
	    rdma_nl_put_driver_u32(msg, "limit", READ_ONCE(srq->limit)))
		goto err;
	nla_nest_end(msg, nest);
	return 0;

err:
	nla_nest_cancel(msg, nest);
	return -EMSGSIZE;
}
