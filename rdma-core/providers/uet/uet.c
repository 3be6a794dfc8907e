// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The device, and the objects that need nothing but a command. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <util/util.h>

#include "uet.h"
#include "uet_cmd.h"

static int uet_query_device_ex(struct ibv_context *ibctx,
			       const struct ibv_query_device_ex_input *input,
			       struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp;
	size_t resp_size = sizeof(resp);
	uint64_t ver;
	int ret;

	ret = ibv_cmd_query_device_any(ibctx, input, attr, attr_size, &resp,
				       &resp_size);
	if (ret)
		return ret;

	ver = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver),
		 "%" PRIu64 ".%" PRIu64 ".%" PRIu64, ver >> 32 & 0xffff,
		 ver >> 16 & 0xffff, ver & 0xffff);

	/* Completions carry nanoseconds: that is in the ABI. */
	if (attr_size >=
	    offsetofend(struct ibv_device_attr_ex, hca_core_clock)) {
		attr->completion_timestamp_mask = UINT64_MAX;
		attr->hca_core_clock = UET_NSEC_PER_SEC / 1000;	/* kHz */
	}
	return 0;
}

static int uet_query_port(struct ibv_context *ibctx, uint8_t port,
			  struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd;

	return ibv_cmd_query_port(ibctx, port, attr, &cmd, sizeof(cmd));
}

/*
 * The clock of the completion timestamps, as a count of nanoseconds in tv_nsec:
 * callers take the raw clock of other providers from there too.
 */
static int uet_query_rt_values(struct ibv_context *ibctx,
			       struct ibv_values_ex *values)
{
	values->comp_mask &= IBV_VALUES_MASK_RAW_CLOCK;
	if (values->comp_mask) {
		values->raw_clock.tv_sec = 0;
		values->raw_clock.tv_nsec = uet_clock_ns(CLOCK_MONOTONIC);
	}
	return 0;
}

static struct ibv_ah *uet_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct uetcmd_create_ah_resp resp = {};
	struct uet_ah *ah;
	int ret;

	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;

	ret = ibv_cmd_create_ah(pd, &ah->ah, attr, &resp.ibv_resp,
				sizeof(resp));
	if (ret) {
		free(ah);
		errno = ret;
		return NULL;
	}
	ah->number = resp.ah;
	return &ah->ah;
}

static int uet_destroy_ah(struct ibv_ah *ibah)
{
	int ret;

	ret = ibv_cmd_destroy_ah(ibah);
	if (ret)
		return ret;
	free(to_uah(ibah));
	return 0;
}

static int uet_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
			    uint16_t lid)
{
	return ibv_cmd_attach_mcast(qp, gid, lid);
}

static int uet_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
			    uint16_t lid)
{
	return ibv_cmd_detach_mcast(qp, gid, lid);
}

static void uet_free_context(struct ibv_context *ibctx)
{
	struct uet_context *ctx = to_uctx(ibctx);

	uet_qpn_free(ctx);
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
}

static const struct verbs_context_ops uet_ctx_ops = {
	.advise_mr = ibv_cmd_advise_mr,
	.alloc_mw = uet_alloc_mw,
	.alloc_parent_domain = uet_alloc_parent_domain,
	.alloc_pd = uet_alloc_pd,
	.alloc_td = uet_alloc_td,
	.attach_mcast = uet_attach_mcast,
	.bind_mw = uet_bind_mw,
	.create_ah = uet_create_ah,
	.create_cq = uet_create_cq,
	.create_cq_ex = uet_create_cq_ex,
	.create_qp = uet_create_qp,
	.create_qp_ex = uet_create_qp_ex,
	.create_srq = uet_create_srq,
	.dealloc_mw = uet_dealloc_mw,
	.dealloc_pd = uet_dealloc_pd,
	.dealloc_td = uet_dealloc_td,
	.dereg_mr = uet_dereg_mr,
	.destroy_ah = uet_destroy_ah,
	.destroy_cq = uet_destroy_cq,
	.destroy_qp = uet_destroy_qp,
	.destroy_srq = uet_destroy_srq,
	.detach_mcast = uet_detach_mcast,
	.free_context = uet_free_context,
	.get_srq_num = uet_get_srq_num,
	.modify_cq = uet_modify_cq,
	.modify_qp = uet_modify_qp,
	.modify_srq = uet_modify_srq,
	.poll_cq = uet_poll_cq,
	.post_recv = uet_post_recv,
	.post_send = uet_post_send,
	.post_srq_recv = uet_post_srq_recv,
	.query_device_ex = uet_query_device_ex,
	.query_port = uet_query_port,
	.query_qp = uet_query_qp,
	.query_rt_values = uet_query_rt_values,
	.query_srq = uet_query_srq,
	.reg_dmabuf_mr = uet_reg_dmabuf_mr,
	.reg_mr = uet_reg_mr,
	.req_notify_cq = uet_req_notify_cq,
	.rereg_mr = uet_rereg_mr,
	.resize_cq = uet_resize_cq,
};

static bool env_is_set(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] == '1' && !value[1];
}

/* rdma-core 57 and later can pass file descriptors that stand for rights. */
static int get_context(struct uet_context *ctx,
		       struct uetcmd_get_context_resp *resp)
{
	struct ibv_get_context cmd = {};

	return ibv_cmd_get_context(&ctx->vctx, &cmd, sizeof(cmd),
#if IBVERBS_PABI_VERSION > 34
				   NULL,
#endif
				   &resp->ibv_resp, sizeof(*resp));
}

static struct verbs_context *uet_alloc_context(struct ibv_device *ibdev,
					       int cmd_fd, void *private_data)
{
	struct uetcmd_get_context_resp resp = {};
	struct uet_context *ctx;

	ctx = verbs_init_and_alloc_context(ibdev, cmd_fd, ctx, vctx,
					   UET_DRIVER_ID);
	if (!ctx)
		return NULL;

	if (get_context(ctx, &resp)) {
		verbs_uninit_context(&ctx->vctx);
		free(ctx);
		return NULL;
	}

	ctx->caps = resp.caps;
	ctx->max_inline = resp.max_inline;
	ctx->max_sge = resp.max_sge;
	if (resp.comp_mask & UET_UCONTEXT_JOBS) {
		ctx->max_job = resp.max_job;
		ctx->max_skey = resp.max_skey;
		ctx->max_jkey = resp.max_jkey;
		ctx->max_addr = resp.max_addr;
	}
	ctx->single_threaded = env_is_set("UET_SINGLE_THREADED");
	verbs_set_ops(&ctx->vctx, &uet_ctx_ops);
	return &ctx->vctx;
}

static struct verbs_device *uet_alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	return calloc(1, sizeof(struct verbs_device));
}

static void uet_uninit_device(struct verbs_device *vdev)
{
	free(vdev);
}

static const struct verbs_match_ent uet_match_table[] = {
	VERBS_DRIVER_ID(UET_DRIVER_ID),
	{},
};

static const struct verbs_device_ops uet_dev_ops = {
	.name = "uet",
	.match_min_abi_version = UET_ABI_VERSION,
	.match_max_abi_version = UET_ABI_VERSION,
	.match_table = uet_match_table,
	.alloc_device = uet_alloc_device,
	.uninit_device = uet_uninit_device,
	.alloc_context = uet_alloc_context,
};

/* Direct verbs are called with any context. */
bool uet_is_uet(struct ibv_context *ibctx)
{
	return verbs_get_device(ibctx->device)->ops == &uet_dev_ops;
}

PROVIDER_DRIVER(uet, uet_dev_ops);
