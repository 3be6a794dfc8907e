/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Reliable-unconnected QPs without a job */
#ifndef UET_TEST_RU_QP_H
#define UET_TEST_RU_QP_H

#include "lib.h"

#include <infiniband/uetdv.h>

static inline struct ibv_qp *ru_open(struct side *s, __u32 depth)
{
	struct uetdv_qp_init_attr uet = {
		.driver_qp_type = UETDV_QP_DRIVER_TYPE_RU,
	};
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = s->cq,
		.recv_cq = s->cq,
		.cap = {
			.max_send_wr = depth,
			.max_recv_wr = depth,
			.max_send_sge = side_sge(s),
			.max_recv_sge = side_sge(s),
			.max_inline_data = 64,
		},
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = s->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND |
			IBV_QP_EX_WITH_SEND_WITH_IMM |
			IBV_QP_EX_WITH_RDMA_WRITE |
			IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
			IBV_QP_EX_WITH_RDMA_READ,
	};
	struct uetdv_device_attr cap;
	struct ibv_qp *qp;

	errno = 0;
	if (uetdv_query_device(s->ctx, &cap, sizeof(cap)) ||
	    !(cap.device_caps & UETDV_DEVICE_CAP_RU))
		skip("no reliable-unconnected QPs here");
	qp = uetdv_create_qp(s->ctx, &attr, &uet, sizeof(uet));
	if (!qp)
		die("uetdv_create_qp on %s", s->name);
	return qp;
}

static inline __u32 wire_qpn(struct ibv_qp *qp)
{
	__u32 number;

	if (uetdv_qp_wire_qpn(qp, &number))
		die("uetdv_qp_wire_qpn");
	return number;
}

#endif /* UET_TEST_RU_QP_H */
