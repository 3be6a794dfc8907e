// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Reliable-unconnected QPs: creation, query, semantics. Posting is in ru_wr.c. */

#include <errno.h>
#include <stddef.h>

#include <ccan/array_size.h>
#include <infiniband/cmd_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/uet-abi.h>
#include <rdma/uet_user_ioctl_cmds.h>

#include "dv.h"

static_assert((int)UETDV_QP_DRIVER_TYPE_RU == (int)UET_QPT_RU, "type differs");
static_assert((int)UETDV_ADDR_RELATIVE == (int)UET_ADDR_RELATIVE,
	      "value differs");
static_assert((int)UETDV_ADDR_ABSOLUTE == (int)UET_ADDR_ABSOLUTE,
	      "value differs");
static_assert((int)UETDV_QP_USAGE_IMM_DATA_RQ == (int)UET_USAGE_IMM_DATA_RQ,
	      "bit differs");
static_assert((int)UETDV_QP_USAGE_ATTACH_MR == (int)UET_USAGE_ATTACH_MR,
	      "bit differs");

#define INIT_KNOWN	(UETDV_QP_INIT_ATTR_ADDRESSING |		\
			 UETDV_QP_INIT_ATTR_PID_ON_FEP |		\
			 UETDV_QP_INIT_ATTR_RI |			\
			 UETDV_QP_INIT_ATTR_SRC_ID |			\
			 UETDV_QP_INIT_ATTR_SEMANTICS |			\
			 UETDV_QP_INIT_ATTR_SEND_OPS)

/* Length of struct uetdv_qp_init_attr in its first version. */
#define INIT_LEAST	offsetof(struct uetdv_qp_init_attr, addressing)

#define PID_MAX		0xfff
#define RI_SHIFT	12
#define RI_MAX		0xfff

static int check_addressing(struct ibv_context *ibctx,
			    const struct uetdv_qp_init_attr *attr)
{
	if (attr->addressing != UETDV_ADDR_RELATIVE &&
	    attr->addressing != UETDV_ADDR_ABSOLUTE)
		return EINVAL;
	if (!attr->jkey)
		return attr->addressing == UETDV_ADDR_RELATIVE ? EINVAL : 0;
	/* The value of a key means nothing on another device. */
	return attr->jkey->pd->context == ibctx ? 0 : EINVAL;
}

static int check_semantics(const struct uetdv_qp_semantics *want)
{
	if (want->comp_mask)
		return EOPNOTSUPP;
	return want->reserved ? EINVAL : 0;
}

static int check_attr(struct ibv_context *ibctx,
		      const struct ibv_qp_init_attr_ex *attr_ex,
		      const struct uetdv_qp_init_attr *attr)
{
	uint64_t mask = attr->comp_mask;
	int ret = 0;

	if (attr_ex->qp_type != IBV_QPT_DRIVER || attr->reserved)
		return EINVAL;
	if (attr->driver_qp_type != UETDV_QP_DRIVER_TYPE_RU ||
	    !check_comp_mask(mask, INIT_KNOWN) ||
	    (mask && !(to_uctx(ibctx)->caps & UET_CAP_JOB)))
		return EOPNOTSUPP;

	if (mask & UETDV_QP_INIT_ATTR_ADDRESSING)
		ret = check_addressing(ibctx, attr);
	if (!ret && mask & UETDV_QP_INIT_ATTR_SEMANTICS)
		ret = check_semantics(&attr->semantics);
	if (ret)
		return ret;
	if ((mask & UETDV_QP_INIT_ATTR_PID_ON_FEP &&
	     attr->pid_on_fep > PID_MAX) ||
	    (mask & UETDV_QP_INIT_ATTR_RI && (!attr->ri || attr->ri > RI_MAX)))
		return EINVAL;
	return 0;
}

static void to_kernel(struct uet_semantics *to,
		      const struct uetdv_qp_semantics *from)
{
	*to = (struct uet_semantics) {
		.msg_order = from->msg_order,
		.max_rdma_raw_size = from->max_rdma_raw_size,
		.max_rdma_war_size = from->max_rdma_war_size,
		.max_rdma_waw_size = from->max_rdma_waw_size,
		.max_pdu = from->max_pdu,
		.imm_data_size = from->imm_data_size,
		.usage_flags = from->usage_flags,
	};
}

static void from_kernel(struct uetdv_qp_semantics *to,
			const struct uet_semantics *from)
{
	*to = (struct uetdv_qp_semantics) {
		.msg_order = from->msg_order,
		.max_rdma_raw_size = from->max_rdma_raw_size,
		.max_rdma_war_size = from->max_rdma_war_size,
		.max_rdma_waw_size = from->max_rdma_waw_size,
		.max_pdu = from->max_pdu,
		.imm_data_size = from->imm_data_size,
		.usage_flags = from->usage_flags,
	};
}

/*
 * Without anything that UET_CREATE_QP_RU stands for, the request is the one
 * that kernels without jobs know too.
 */
static void make_request(struct uet_create_qp_req *req,
			 const struct uetdv_qp_init_attr *attr)
{
	uint64_t mask = attr->comp_mask & ~(uint64_t)UETDV_QP_INIT_ATTR_SEND_OPS;

	*req = (struct uet_create_qp_req) { .driver_qp_type = UET_QPT_RU };
	if (!mask)
		return;

	req->comp_mask = UET_CREATE_QP_RU;
	req->addressing = UET_ADDR_ABSOLUTE;
	if (mask & UETDV_QP_INIT_ATTR_ADDRESSING) {
		req->addressing = attr->addressing;
		req->jkey = attr->jkey ? attr->jkey->jkey : 0;
	}
	if (mask & UETDV_QP_INIT_ATTR_PID_ON_FEP) {
		req->comp_mask |= UET_CREATE_QP_PID;
		req->wire_qpn |= attr->pid_on_fep;
	}
	if (mask & UETDV_QP_INIT_ATTR_RI) {
		req->comp_mask |= UET_CREATE_QP_RI;
		req->wire_qpn |= (uint32_t)attr->ri << RI_SHIFT;
	}
	if (mask & UETDV_QP_INIT_ATTR_SRC_ID) {
		req->comp_mask |= UET_CREATE_QP_SRC_ID;
		req->src_id = attr->src_id;
	}
	if (mask & UETDV_QP_INIT_ATTR_SEMANTICS) {
		req->comp_mask |= UET_CREATE_QP_SEMANTICS;
		to_kernel(&req->want, &attr->semantics);
	}
}

/*
 * There is no peer to connect to, so the states before RTS have no use for the
 * application.
 */
static int make_ready(struct ibv_qp *qp)
{
	static const struct {
		enum ibv_qp_state state;
		int mask;
	} steps[] = {
		{ IBV_QPS_INIT, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT },
		{ IBV_QPS_RTR, IBV_QP_STATE },
		{ IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_SQ_PSN },
	};
	struct ibv_qp_attr attr = { .port_num = 1 };
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		attr.qp_state = steps[i].state;
		ret = ibv_modify_qp(qp, &attr, steps[i].mask);
		if (ret)
			return ret;
	}
	return 0;
}

static struct ibv_qp *create(struct ibv_context *context,
			     struct ibv_qp_init_attr_ex *attr_ex,
			     const struct uetdv_qp_init_attr *attr)
{
	struct uet_create_qp_req req;
	struct ibv_qp *ibqp;
	int ret;

	make_request(&req, attr);
	ibqp = uet_create_any_qp(context, attr_ex, &req);
	if (!ibqp)
		return NULL;
	if (attr->comp_mask & UETDV_QP_INIT_ATTR_ADDRESSING)
		to_uqp(ibqp)->ru.jkey = attr->jkey;

	ret = attr->comp_mask & UETDV_QP_INIT_ATTR_SEND_OPS ?
	      uet_set_ru_ops(to_uqp(ibqp), attr->send_ops) : 0;
	if (!ret)
		ret = make_ready(ibqp);
	if (!ret)
		return ibqp;
	uet_destroy_qp(ibqp);
	errno = ret;
	return NULL;
}

struct ibv_qp *uetdv_create_qp(struct ibv_context *context,
			       struct ibv_qp_init_attr_ex *attr_ex,
			       struct uetdv_qp_init_attr *uet_attr,
			       uint32_t inlen)
{
	struct uetdv_qp_init_attr attr;
	int ret = EOPNOTSUPP;

	if (uet_is_uet(context))
		ret = uet_copy_in(&attr, sizeof(attr), INIT_LEAST, uet_attr,
				  inlen);
	if (!ret)
		ret = check_attr(context, attr_ex, &attr);
	if (!ret)
		return create(context, attr_ex, &attr);
	errno = ret;
	return NULL;
}

int uetdv_query_qp(struct ibv_qp *ibqp, struct uetdv_qp_init_attr *attr,
		   uint32_t inlen)
{
	struct uetdv_qp_init_attr answer = {};
	const struct uet_qp *qp;

	if (!uet_is_uet(ibqp->context))
		return EOPNOTSUPP;
	qp = to_uqp(ibqp);
	if (qp->driver_type != UET_QPT_RU)
		return EOPNOTSUPP;
	if (inlen < sizeof(answer))
		return EINVAL;

	answer.comp_mask = INIT_KNOWN;
	answer.driver_qp_type = qp->driver_type;
	answer.addressing = qp->ru.addressing;
	answer.pid_on_fep = qp->wire_qpn & PID_MAX;
	answer.ri = qp->wire_qpn >> RI_SHIFT & RI_MAX;
	answer.jkey = qp->ru.jkey;
	answer.src_id = qp->ru.src_id;
	answer.send_ops = qp->ru.send_ops;
	from_kernel(&answer.semantics, &qp->ru.granted);
	uet_copy_out(attr, inlen, &answer, sizeof(answer));
	return 0;
}

int uetdv_query_qp_semantics(struct ibv_context *context,
			     uint32_t driver_qp_type, uint8_t port_num,
			     uint32_t sgid_index,
			     struct uetdv_qp_semantics *semantics,
			     uint32_t inlen)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_DEVICE,
			       UET_IB_METHOD_DEVICE_QUERY_SEMANTICS, 4);
	struct uetdv_qp_semantics answer;
	struct uet_semantics resp = {};
	int ret;

	if (!uet_has_cap(context, UET_CAP_JOB))
		return EOPNOTSUPP;
	if (inlen < sizeof(answer))
		return EINVAL;

	fill_attr_in_uint32(cmd, UET_IB_ATTR_QUERY_SEMANTICS_QP_TYPE,
			    driver_qp_type);
	fill_attr_in_uint32(cmd, UET_IB_ATTR_QUERY_SEMANTICS_PORT, port_num);
	fill_attr_in_uint32(cmd, UET_IB_ATTR_QUERY_SEMANTICS_SGID_INDEX,
			    sgid_index);
	fill_attr_out_ptr(cmd, UET_IB_ATTR_QUERY_SEMANTICS_RESP, &resp);
	ret = execute_ioctl(context, cmd);
	if (ret)
		return ret;
	from_kernel(&answer, &resp);
	uet_copy_out(semantics, inlen, &answer, sizeof(answer));
	return 0;
}
