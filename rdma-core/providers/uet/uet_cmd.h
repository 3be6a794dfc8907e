/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The verbs commands that carry a struct of uet-abi.h behind the core's own.
 */
#ifndef UET_CMD_H
#define UET_CMD_H

#include <infiniband/kern-abi.h>
#include <rdma/uet-abi.h>
#include <kernel-abi/uet-abi.h>

DECLARE_DRV_CMD(uetcmd_get_context, IB_USER_VERBS_CMD_GET_CONTEXT,
		empty, uet_alloc_ucontext_resp);
DECLARE_DRV_CMD(uetcmd_create_cq, IB_USER_VERBS_CMD_CREATE_CQ,
		empty, uet_create_cq_resp);
DECLARE_DRV_CMD(uetcmd_create_qp, IB_USER_VERBS_CMD_CREATE_QP,
		uet_create_qp_req, uet_create_qp_resp);
DECLARE_DRV_CMD(uetcmd_create_ah, IB_USER_VERBS_CMD_CREATE_AH,
		empty, uet_create_ah_resp);

#endif /* UET_CMD_H */
