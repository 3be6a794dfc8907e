// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Queue pairs: create, modify, query, destroy. */

#include <errno.h>
#include <stdlib.h>

#include <ccan/array_size.h>
#include <ccan/minmax.h>

#include "uet.h"
#include "uet_cmd.h"

#define OP(op)		(1U << UET_WQE_##op)
#define OPS_SEND	(OP(SEND) | OP(SEND_IMM))
#define OPS_WRITE	(OP(WRITE) | OP(WRITE_IMM))
#define OPS_KEYS	(OP(SEND_INV) | OP(LOCAL_INV) | OP(BIND_MW))
#define OPS_ATOMIC	(OP(CMP_SWAP) | OP(FETCH_ADD))

/* The operations of a kind of QP, 0 if there is no such kind. */
static uint32_t ops_of(enum ibv_qp_type type, uint32_t driver_type,
		       uint32_t caps)
{
	if (type == IBV_QPT_DRIVER)
		return driver_type == UET_QPT_RU ?
		       OPS_SEND | OPS_WRITE | OP(READ) |
		       (caps & UET_CAP_RU_ATOMIC ? OPS_ATOMIC : 0) : 0;
	if (driver_type != UET_QPT_NONE)
		return 0;

	switch (type) {
	case IBV_QPT_RC:
		return OPS_SEND | OPS_WRITE | OP(READ) | OPS_KEYS |
		       OPS_ATOMIC | OP(ATOMIC_WRITE) | OP(FLUSH);
	case IBV_QPT_UC:
		return OPS_SEND | OPS_WRITE | OPS_KEYS;
	case IBV_QPT_UD:
		return OPS_SEND;
	default:
		return 0;
	}
}

/* The same for the flags with which ibv_create_qp_ex() asks for operations. */
static uint64_t send_ops_of(uint32_t ops)
{
	static const uint64_t flags[] = {
		[UET_WQE_SEND] = IBV_QP_EX_WITH_SEND,
		[UET_WQE_SEND_IMM] = IBV_QP_EX_WITH_SEND_WITH_IMM,
		[UET_WQE_WRITE] = IBV_QP_EX_WITH_RDMA_WRITE,
		[UET_WQE_WRITE_IMM] = IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,
		[UET_WQE_READ] = IBV_QP_EX_WITH_RDMA_READ,
		[UET_WQE_CMP_SWAP] = IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,
		[UET_WQE_FETCH_ADD] = IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
		[UET_WQE_SEND_INV] = IBV_QP_EX_WITH_SEND_WITH_INV,
		[UET_WQE_LOCAL_INV] = IBV_QP_EX_WITH_LOCAL_INV,
		[UET_WQE_BIND_MW] = IBV_QP_EX_WITH_BIND_MW,
		[UET_WQE_ATOMIC_WRITE] = IBV_QP_EX_WITH_ATOMIC_WRITE,
		[UET_WQE_FLUSH] = IBV_QP_EX_WITH_FLUSH,
	};
	uint64_t result = 0;
	size_t op;

	for (op = 0; op < ARRAY_SIZE(flags); op++)
		if (ops & 1U << op)
			result |= flags[op];
	return result;
}

static int check_attr(const struct ibv_qp_init_attr_ex *attr, uint32_t ops)
{
	if (!ops)
		return EOPNOTSUPP;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->send_cq ||
	    !attr->recv_cq)
		return EINVAL;
	if (!check_comp_mask(attr->comp_mask,
			     IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_CREATE_FLAGS |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return EOPNOTSUPP;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS &&
	    attr->create_flags)
		return EOPNOTSUPP;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	    !check_comp_mask(attr->send_ops_flags, send_ops_of(ops)))
		return EOPNOTSUPP;
	return 0;
}

/* What the kernel granted, and never more than an entry has room for. */
static void set_limits(struct uet_qp *qp, const struct ibv_qp_cap *cap)
{
	uint32_t room;

	if (qp->sq.ring.hdr) {
		room = qp->sq.ring.stride - sizeof(struct uet_send_wqe);
		qp->sq.max_sge = min_t(uint32_t, cap->max_send_sge,
				       room / sizeof(struct uet_wqe_sge));
		qp->sq.max_inline = min(cap->max_inline_data, room);
	}
	if (qp->rq.ring.hdr) {
		room = qp->rq.ring.stride - sizeof(struct uet_recv_wqe);
		qp->rq.max_sge = min_t(uint32_t, cap->max_recv_sge,
				       room / sizeof(struct uet_wqe_sge));
	}
}

/* A depth of 0 stands for a queue that does not exist. */
static int map_wq(struct uet_wq *wq, int fd, const struct uet_ring_info *info,
		  size_t entry_size)
{
	return info->depth ? uet_map_ring(&wq->ring, fd, info, entry_size) : 0;
}

static int map_queues(struct uet_qp *qp, int fd,
		      const struct uet_create_qp_resp *resp)
{
	int ret;

	ret = map_wq(&qp->sq, fd, &resp->sq, sizeof(struct uet_send_wqe));
	if (ret)
		return ret;

	ret = map_wq(&qp->rq, fd, &resp->rq, sizeof(struct uet_recv_wqe));
	if (ret)
		uet_unmap_ring(&qp->sq.ring);
	return ret;
}

/* A new QP, and after a reset: the kernel has set both indices. */
static void restart_wq(struct uet_wq *wq)
{
	uet_lock(&wq->lock);
	if (wq->ring.hdr) {
		wq->cons = uet_load_cons(&wq->ring);
		wq->prod = uet_load_prod(&wq->ring);
	}
	uet_unlock(&wq->lock);
}

/* Kernels without jobs know the beginning of the request only. */
static size_t req_size(const struct uet_create_qp_req *req)
{
	size_t least = offsetof(struct uet_create_qp_req, addressing);

	return sizeof(struct uetcmd_create_qp) -
	       (req->comp_mask ? 0 : sizeof(*req) - least);
}

/* The numbers of a new QP, and what a reliable-unconnected one was given. */
static int take_answer(struct ibv_context *ibctx, struct uet_qp *qp,
		       const struct uet_create_qp_resp *resp)
{
	qp->wire_qpn = resp->wire_qpn;
	qp->number = qp->vqp.qp.qp_num;
	qp->ru.addressing = UET_ADDR_ABSOLUTE;
	qp->ru.src_id = qp->number;
	if (!(resp->comp_mask & UET_CREATE_QP_RESP_RU))
		return 0;

	qp->ru.addressing = resp->addressing;
	qp->ru.src_id = resp->src_id;
	qp->ru.granted = resp->granted;
	if (resp->addressing != UET_ADDR_RELATIVE)
		return 0;
	qp->vqp.qp.qp_num = qp->wire_qpn;
	return uet_qpn_add(to_uctx(ibctx), qp->number, qp->wire_qpn);
}

static void unmap_queues(struct uet_qp *qp)
{
	uet_unmap_ring(&qp->sq.ring);
	uet_unmap_ring(&qp->rq.ring);
}

static int create_and_map(struct ibv_context *ibctx, struct uet_qp *qp,
			  struct ibv_qp_init_attr_ex *attr,
			  const struct uet_create_qp_req *req)
{
	struct ibv_qp_init_attr_ex plain = *attr;
	struct uetcmd_create_qp_resp resp = {};
	struct uetcmd_create_qp cmd = {};
	int ret;

	/* No flags, said in so many words: the command does not know them. */
	plain.comp_mask &= ~IBV_QP_INIT_ATTR_CREATE_FLAGS;
	cmd.drv_payload = *req;
	ret = ibv_cmd_create_qp_ex(ibctx, &qp->vqp, &plain, &cmd.ibv_cmd,
				   req_size(req), &resp.ibv_resp, sizeof(resp));
	if (ret)
		return ret;
	attr->cap = plain.cap;

	ret = map_queues(qp, ibctx->cmd_fd, &resp.drv_payload);
	if (ret)
		goto err;
	ret = take_answer(ibctx, qp, &resp.drv_payload);
	if (!ret)
		return 0;
	unmap_queues(qp);
err:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
	return ret;
}

/**
 * uet_create_any_qp - create a QP of any kind
 * @ibctx: device
 * @attr: as of ibv_create_qp_ex(); the capabilities granted come back in it
 * @req: its type, and what belongs to it
 *
 * Return: the QP, or NULL with errno set
 */
struct ibv_qp *uet_create_any_qp(struct ibv_context *ibctx,
				 struct ibv_qp_init_attr_ex *attr,
				 const struct uet_create_qp_req *req)
{
	uint32_t ops = ops_of(attr->qp_type, req->driver_qp_type,
			      to_uctx(ibctx)->caps);
	struct uet_qp *qp;
	bool unlocked;
	int ret;

	ret = check_attr(attr, ops);
	if (ret)
		goto err;

	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;

	qp->ops = ops;
	qp->driver_type = req->driver_qp_type;
	qp->always = attr->sq_sig_all ? UET_WQE_SIGNALED : 0;
	qp->addressed = attr->qp_type == IBV_QPT_UD ||
			req->driver_qp_type == UET_QPT_RU;

	ret = create_and_map(ibctx, qp, attr, req);
	if (ret)
		goto err_free;

	set_limits(qp, &attr->cap);
	qp->domain = uet_domain_get(attr->pd);
	unlocked = uet_is_single_threaded(ibctx, attr->pd);
	uet_lock_init(&qp->sq.lock, unlocked);
	uet_lock_init(&qp->rq.lock, unlocked);
	restart_wq(&qp->sq);
	restart_wq(&qp->rq);
	/* The first request follows no other one. */
	qp->polls = to_ucq(attr->send_cq)->polls - 1;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		uet_set_wr_ops(qp, attr->send_ops_flags);
	return &qp->vqp.qp;

err_free:
	free(qp);
err:
	errno = ret;
	return NULL;
}

static const struct uet_create_qp_req standard_qp = {
	.driver_qp_type = UET_QPT_NONE,
};

struct ibv_qp *uet_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex attr_ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *ibqp;

	ibqp = uet_create_any_qp(pd->context, &attr_ex, &standard_qp);
	if (ibqp)
		attr->cap = attr_ex.cap;
	return ibqp;
}

struct ibv_qp *uet_create_qp_ex(struct ibv_context *ibctx,
				struct ibv_qp_init_attr_ex *attr)
{
	return uet_create_any_qp(ibctx, attr, &standard_qp);
}

/* No completion outlives its QP, or the reset of its QP. */
static void clean_cqs(struct ibv_qp *ibqp)
{
	uint32_t number = to_uqp(ibqp)->number;

	uet_clean_cq(ibqp->send_cq, number);
	if (ibqp->recv_cq != ibqp->send_cq)
		uet_clean_cq(ibqp->recv_cq, number);
}

int uet_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct uet_qp *qp = to_uqp(ibqp);
	struct ibv_modify_qp cmd = {};
	int ret;

	ret = ibv_cmd_modify_qp(ibqp, attr, mask, &cmd, sizeof(cmd));
	if (ret)
		return ret;

	if (mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET) {
		uet_forget_lazy(qp);
		clean_cqs(ibqp);
		restart_wq(&qp->sq);
		restart_wq(&qp->rq);
	}
	return 0;
}

int uet_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init)
{
	struct ibv_query_qp cmd;

	return ibv_cmd_query_qp(ibqp, attr, mask, init, &cmd, sizeof(cmd));
}

int uet_destroy_qp(struct ibv_qp *ibqp)
{
	struct uet_qp *qp = to_uqp(ibqp);
	int ret;

	uet_forget_lazy(qp);
	ret = ibv_cmd_destroy_qp(ibqp);
	if (ret)
		return ret;

	clean_cqs(ibqp);
	if (qp->ru.addressing == UET_ADDR_RELATIVE)
		uet_qpn_del(to_uctx(ibqp->context), qp->number);
	unmap_queues(qp);
	uet_lock_destroy(&qp->sq.lock);
	uet_lock_destroy(&qp->rq.lock);
	uet_domain_put(qp->domain);
	free(qp);
	return 0;
}
