// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Memory regions with what UET adds; those of plain verbs are in mr.c. */

#include <errno.h>
#include <stdlib.h>

#include <infiniband/cmd_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/uet_user_ioctl_cmds.h>

#include "dv.h"
#include "uet_cmd.h"

#define MASK_KNOWN	(UETDV_REG_MR_MASK_FD | UETDV_REG_MR_MASK_IOVA | \
			 UETDV_REG_MR_MASK_JKEY | UETDV_REG_MR_MASK_RKEY | \
			 UETDV_REG_MR_MASK_CUR_MR | UETDV_REG_MR_MASK_FLAGS)
#define FLAGS_KNOWN	(UETDV_REG_MR_QP_RESTRICTED |			\
			 UETDV_REG_MR_IDEMPOTENT_SAFE)

static_assert((int)UETDV_REG_MR_QP_RESTRICTED == (int)UET_MR_QP_RESTRICTED,
	      "bit differs");
static_assert((int)UETDV_REG_MR_IDEMPOTENT_SAFE == (int)UET_MR_IDEMPOTENT,
	      "bit differs");

static int check_attr(struct ibv_pd *pd, const struct uetdv_reg_mr_attr *attr)
{
	uint64_t mask = attr->comp_mask;

	if (!check_comp_mask(mask, MASK_KNOWN) ||
	    (mask & UETDV_REG_MR_MASK_FLAGS &&
	     !check_comp_mask(attr->flags, FLAGS_KNOWN)))
		return EOPNOTSUPP;
	if (attr->reserved ||
	    (mask & UETDV_REG_MR_MASK_FD && mask & UETDV_REG_MR_MASK_CUR_MR))
		return EINVAL;
	/* Keys and handles mean nothing on another device. */
	if (mask & UETDV_REG_MR_MASK_JKEY &&
	    (!attr->jkey || attr->jkey->pd->context != pd->context))
		return EINVAL;
	if (mask & UETDV_REG_MR_MASK_CUR_MR &&
	    (!attr->cur_mr || attr->cur_mr->context != pd->context))
		return EINVAL;
	return 0;
}

/* Is there anything that a plain registration cannot say? */
static bool is_plain(const struct uetdv_reg_mr_attr *attr)
{
	return !(attr->comp_mask & (UETDV_REG_MR_MASK_JKEY |
				    UETDV_REG_MR_MASK_RKEY |
				    UETDV_REG_MR_MASK_CUR_MR)) &&
	       !(attr->comp_mask & UETDV_REG_MR_MASK_FLAGS && attr->flags);
}

static void make_request(struct uet_reg_mr_req *req,
			 const struct uetdv_reg_mr_attr *attr)
{
	uint64_t mask = attr->comp_mask;

	*req = (struct uet_reg_mr_req) {};
	if (mask & UETDV_REG_MR_MASK_FLAGS)
		req->flags = attr->flags;
	if (mask & UETDV_REG_MR_MASK_JKEY) {
		req->comp_mask |= UET_REG_MR_JKEY;
		req->jkey = attr->jkey->jkey;
	}
	if (mask & UETDV_REG_MR_MASK_RKEY) {
		req->comp_mask |= UET_REG_MR_RKEY;
		req->rkey = attr->rkey;
	}
	if (mask & UETDV_REG_MR_MASK_CUR_MR) {
		req->comp_mask |= UET_REG_MR_PARENT;
		req->parent_lkey = attr->cur_mr->lkey;
	}
}

static uint64_t iova_of(const struct uetdv_reg_mr_attr *attr)
{
	if (attr->comp_mask & UETDV_REG_MR_MASK_IOVA)
		return attr->iova;
	if (attr->comp_mask & UETDV_REG_MR_MASK_FD)
		return attr->fd_offset;
	return (uintptr_t)attr->addr;
}

static int reg_memory(struct ibv_pd *pd, const struct uetdv_reg_mr_attr *attr,
		      const struct uet_reg_mr_req *req, struct uet_mr *mr,
		      uint64_t *rkey)
{
	struct uetcmd_reg_mr_answer resp = {};
	struct uetcmd_reg_mr cmd = {};
	int ret;

	cmd.drv_payload = *req;
	ret = ibv_cmd_reg_mr(pd, attr->addr, attr->length, iova_of(attr),
			     attr->access, &mr->vmr, &cmd.ibv_cmd, sizeof(cmd),
			     &resp.ibv_resp, sizeof(resp));
	*rkey = resp.drv_payload.rkey;
	return ret;
}

#ifdef UET_OLD_DMABUF_CMD
static int reg_dmabuf(struct ibv_pd *pd, const struct uetdv_reg_mr_attr *attr,
		      const struct uet_reg_mr_req *req, struct uet_mr *mr,
		      uint64_t *rkey)
{
	return EOPNOTSUPP;
}
#else
static int reg_dmabuf(struct ibv_pd *pd, const struct uetdv_reg_mr_attr *attr,
		      const struct uet_reg_mr_req *req, struct uet_mr *mr,
		      uint64_t *rkey)
{
	DECLARE_COMMAND_BUFFER(driver, UVERBS_OBJECT_MR,
			       UVERBS_METHOD_REG_DMABUF_MR, 2);
	struct uet_reg_mr_resp resp = {};
	int ret;

	fill_attr_in_ptr(driver, UET_IB_ATTR_REG_DMABUF_MR_REQ, req);
	fill_attr_out_ptr(driver, UET_IB_ATTR_REG_DMABUF_MR_RESP, &resp);
	ret = ibv_cmd_reg_dmabuf_mr(pd, attr->fd_offset, attr->length,
				    iova_of(attr), attr->fd, attr->access,
				    &mr->vmr, driver);
	*rkey = resp.rkey;
	return ret;
}
#endif

static struct ibv_mr *reg_plain(struct ibv_pd *pd,
				const struct uetdv_reg_mr_attr *attr)
{
	if (attr->comp_mask & UETDV_REG_MR_MASK_FD)
		return uet_reg_dmabuf_mr(pd, attr->fd_offset, attr->length,
					 iova_of(attr), attr->fd,
					 attr->access);
	return uet_reg_mr(pd, attr->addr, attr->length, iova_of(attr),
			  attr->access);
}

static struct ibv_mr *reg_extended(struct ibv_pd *pd,
				   const struct uetdv_reg_mr_attr *attr)
{
	struct uet_reg_mr_req req;
	struct uet_mr *mr;
	uint64_t rkey;
	int ret;

	if (!uet_has_cap(pd->context, UET_CAP_USER_RKEY)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;

	make_request(&req, attr);
	ret = attr->comp_mask & UETDV_REG_MR_MASK_FD ?
	      reg_dmabuf(pd, attr, &req, mr, &rkey) :
	      reg_memory(pd, attr, &req, mr, &rkey);
	if (ret) {
		free(mr);
		errno = ret;
		return NULL;
	}
	if (attr->comp_mask & UETDV_REG_MR_MASK_RKEY) {
		mr->chosen = true;
		mr->rkey = rkey;
	}
	return &mr->vmr.ibv_mr;
}

struct ibv_mr *uetdv_reg_mr(struct ibv_pd *pd, struct uetdv_reg_mr_attr *uattr,
			    uint32_t inlen)
{
	struct uetdv_reg_mr_attr attr;
	struct ibv_mr *mr;
	int ret = EOPNOTSUPP;

	if (uet_is_uet(pd->context))
		ret = uet_copy_in(&attr, sizeof(attr), sizeof(attr), uattr,
				  inlen);
	if (!ret)
		ret = check_attr(pd, &attr);
	if (ret) {
		errno = ret;
		return NULL;
	}

	mr = is_plain(&attr) ? reg_plain(pd, &attr) : reg_extended(pd, &attr);
	if (!mr)
		return NULL;
	/* What libibverbs does for registrations that go through it. */
	mr->context = pd->context;
	mr->pd = pd;
	mr->length = attr.length;
	mr->addr = attr.comp_mask & UETDV_REG_MR_MASK_FD ?
		   (void *)(uintptr_t)attr.fd_offset : attr.addr;
	return mr;
}

/* Kernels without chosen keys know RU by keys of 32 bits. */
int uetdv_mr_rkey64(struct ibv_mr *ibmr, uint64_t *rkey)
{
	const struct uet_mr *mr;

	if (!uet_is_uet(ibmr->context))
		return EOPNOTSUPP;
	mr = to_umr(ibmr);
	if (mr->chosen)
		*rkey = mr->rkey;
	else if (uet_has_cap(ibmr->context, UET_CAP_USER_RKEY))
		*rkey = UET_RKEY_ASSIGNED | ibmr->rkey;
	else
		*rkey = ibmr->rkey;
	return 0;
}

static int attach_or_detach(struct ibv_qp *qp, struct ibv_mr *mr,
			    uint16_t method)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_QP, method, 2);

	if (!uet_has_cap(qp->context, UET_CAP_USER_RKEY))
		return EOPNOTSUPP;
	if (mr->context != qp->context)
		return EINVAL;
	fill_attr_in_obj(cmd, UET_IB_ATTR_QP_ATTACH_MR_QP, qp->handle);
	fill_attr_in_obj(cmd, UET_IB_ATTR_QP_ATTACH_MR_MR, mr->handle);
	return execute_ioctl(qp->context, cmd);
}

int uetdv_attach_mr(struct ibv_qp *qp, struct ibv_mr *mr)
{
	return attach_or_detach(qp, mr, UET_IB_METHOD_QP_ATTACH_MR);
}

int uetdv_detach_mr(struct ibv_qp *qp, struct ibv_mr *mr)
{
	return attach_or_detach(qp, mr, UET_IB_METHOD_QP_DETACH_MR);
}
