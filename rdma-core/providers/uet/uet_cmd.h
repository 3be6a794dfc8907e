/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The verbs commands that carry a struct of uet-abi.h behind the core's own.
 */
#ifndef UET_CMD_H
#define UET_CMD_H

#include <assert.h>

#include <infiniband/kern-abi.h>
#include <rdma/uet-abi.h>
#include <kernel-abi/uet-abi.h>

/* The kernel has one layout for processes of 32 and of 64 bits. */
#define UET_ABI_SIZE(name, size) \
	static_assert(sizeof(struct name) == (size), "size differs")

UET_ABI_SIZE(uet_alloc_ucontext_resp, 32);
UET_ABI_SIZE(uet_ring, UET_RING_HDR);
UET_ABI_SIZE(uet_ring_info, 24);
UET_ABI_SIZE(uet_wqe_sge, 16);
UET_ABI_SIZE(uet_send_wqe, 96);
UET_ABI_SIZE(uet_recv_wqe, 16);
UET_ABI_SIZE(uet_cqe, 64);
UET_ABI_SIZE(uet_create_cq_resp, 32);
UET_ABI_SIZE(uet_resize_cq_resp, 32);
UET_ABI_SIZE(uet_create_srq_resp, 32);
UET_ABI_SIZE(uet_modify_srq_req, 16);
UET_ABI_SIZE(uet_modify_srq_resp, 32);
UET_ABI_SIZE(uet_create_qp_req, 72);
UET_ABI_SIZE(uet_create_qp_resp, 112);
UET_ABI_SIZE(uet_create_ah_resp, 8);
UET_ABI_SIZE(uet_reg_mr_req, 40);
UET_ABI_SIZE(uet_reg_mr_resp, 24);

DECLARE_DRV_CMD(uetcmd_get_context, IB_USER_VERBS_CMD_GET_CONTEXT,
		empty, uet_alloc_ucontext_resp);
DECLARE_DRV_CMD(uetcmd_create_cq, IB_USER_VERBS_CMD_CREATE_CQ,
		empty, uet_create_cq_resp);
DECLARE_DRV_CMD(uetcmd_resize_cq, IB_USER_VERBS_CMD_RESIZE_CQ,
		empty, uet_resize_cq_resp);
DECLARE_DRV_CMD(uetcmd_create_srq, IB_USER_VERBS_CMD_CREATE_SRQ,
		empty, uet_create_srq_resp);
DECLARE_DRV_CMD(uetcmd_modify_srq, IB_USER_VERBS_CMD_MODIFY_SRQ,
		uet_modify_srq_req, empty);
DECLARE_DRV_CMD(uetcmd_create_qp, IB_USER_VERBS_CMD_CREATE_QP,
		uet_create_qp_req, uet_create_qp_resp);
DECLARE_DRV_CMD(uetcmd_create_ah, IB_USER_VERBS_CMD_CREATE_AH,
		empty, uet_create_ah_resp);

DECLARE_DRV_CMD(uetcmd_reg_mr, IB_USER_VERBS_CMD_REG_MR,
		uet_reg_mr_req, empty);

/*
 * The core's answer has 12 bytes and ours follows at once, which the macro
 * cannot say of a struct that wants 8-byte alignment.
 */
struct uetcmd_reg_mr_answer {
	struct ib_uverbs_reg_mr_resp ibv_resp;
	struct uet_reg_mr_resp drv_payload;
} __attribute__((packed, aligned(8)));

#endif /* UET_CMD_H */
