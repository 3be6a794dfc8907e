// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Direct verbs. */

#include <errno.h>
#include <string.h>

#include <ccan/array_size.h>
#include <rdma/uet-abi.h>

#include "uet.h"
#include "uetdv.h"

static_assert((int)UETDV_QP_DRIVER_TYPE_RU == (int)UET_QPT_RU, "type differs");
static_assert((int)UETDV_DEVICE_CAP_RU == (int)UET_CAP_RU, "bit differs");

/*
 * A caller that was built with a later header may hand in a longer struct, as
 * long as it asks for nothing that is not known here.
 */
static bool rest_is_zero(const void *attr, size_t known, size_t len)
{
	const uint8_t *byte = attr;

	while (known < len)
		if (byte[known++])
			return false;
	return true;
}

static int check_attr(const struct ibv_qp_init_attr_ex *attr_ex,
		      const struct uetdv_qp_init_attr *uet_attr, uint32_t inlen)
{
	if (inlen < sizeof(*uet_attr) || uet_attr->reserved ||
	    attr_ex->qp_type != IBV_QPT_DRIVER)
		return EINVAL;
	if (uet_attr->comp_mask ||
	    uet_attr->driver_qp_type != UETDV_QP_DRIVER_TYPE_RU ||
	    !rest_is_zero(uet_attr, sizeof(*uet_attr), inlen))
		return EOPNOTSUPP;
	return 0;
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

struct ibv_qp *uetdv_create_qp(struct ibv_context *context,
			       struct ibv_qp_init_attr_ex *attr_ex,
			       struct uetdv_qp_init_attr *uet_attr,
			       uint32_t inlen)
{
	struct ibv_qp *qp;
	int ret;

	ret = uet_is_uet(context) ? check_attr(attr_ex, uet_attr, inlen) :
				    EOPNOTSUPP;
	if (ret)
		goto err;

	qp = uet_create_any_qp(context, attr_ex, uet_attr->driver_qp_type);
	if (!qp)
		return NULL;

	ret = make_ready(qp);
	if (!ret)
		return qp;
	uet_destroy_qp(qp);
err:
	errno = ret;
	return NULL;
}

int uetdv_qp_wire_qpn(struct ibv_qp *qp, uint32_t *wire_qpn)
{
	if (!uet_is_uet(qp->context))
		return EOPNOTSUPP;
	*wire_qpn = to_uqp(qp)->wire_qpn;
	return 0;
}

int uetdv_query_device(struct ibv_context *context,
		       struct uetdv_device_attr *attr, uint32_t inlen)
{
	const struct uet_context *ctx;

	if (!uet_is_uet(context))
		return EOPNOTSUPP;
	if (inlen < sizeof(*attr))
		return EINVAL;

	ctx = to_uctx(context);
	memset(attr, 0, inlen);
	attr->device_caps = ctx->caps & UETDV_DEVICE_CAP_RU;
	attr->max_inline = ctx->max_inline;
	attr->max_sge = ctx->max_sge;
	return 0;
}
