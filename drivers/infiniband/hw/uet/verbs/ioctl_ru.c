// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Methods of ours on the standard objects DEVICE and QP, and attributes of
 * ours for regions of dma-bufs. include/uapi/rdma/uet_user_ioctl_cmds.h says
 * what they do.
 */
#include <rdma/ib_cache.h>
#include <rdma/uet_user_ioctl_cmds.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>

#include "job.h"

#define UVERBS_MODULE_NAME uet_ru
#include <rdma/uverbs_named_ioctl.h>

static int uet_query_sem_check(struct ib_device *ib,
			       struct uverbs_attr_bundle *attrs)
{
	const struct ib_gid_attr *gid;
	u32 type, port, index;
	int err;

	err = uverbs_copy_from(&type, attrs,
			       UET_IB_ATTR_QUERY_SEMANTICS_QP_TYPE);
	if (!err)
		err = uverbs_copy_from(&port, attrs,
				       UET_IB_ATTR_QUERY_SEMANTICS_PORT);
	if (!err)
		err = uverbs_copy_from(&index, attrs,
				       UET_IB_ATTR_QUERY_SEMANTICS_SGID_INDEX);
	if (err)
		return err;
	if (type != UET_QPT_RU)
		return -EOPNOTSUPP;
	if (port != UET_PORT || index > INT_MAX)
		return -EINVAL;
	gid = rdma_get_gid_attr(ib, port, index);
	if (IS_ERR(gid))
		return -EINVAL;
	rdma_put_gid_attr(gid);
	return 0;
}

static int UVERBS_HANDLER(UET_IB_METHOD_DEVICE_QUERY_SEMANTICS)
(struct uverbs_attr_bundle *attrs)
{
	struct ib_ucontext *uctx = ib_uverbs_get_ucontext(attrs);
	struct uet_semantics sem;
	int err;

	if (IS_ERR(uctx))
		return PTR_ERR(uctx);
	err = uet_query_sem_check(uctx->device, attrs);
	if (err)
		return err;
	uet_ru_semantics(to_udev(uctx->device), &sem);
	return uverbs_copy_to_struct_or_zero(attrs,
					     UET_IB_ATTR_QUERY_SEMANTICS_RESP,
					     &sem, sizeof(sem));
}

static int UVERBS_HANDLER(UET_IB_METHOD_QP_ATTACH_MR)
(struct uverbs_attr_bundle *attrs)
{
	struct ib_qp *qp = uverbs_attr_get_obj(attrs,
					       UET_IB_ATTR_QP_ATTACH_MR_QP);
	struct ib_mr *mr = uverbs_attr_get_obj(attrs,
					       UET_IB_ATTR_QP_ATTACH_MR_MR);

	return uet_rkey_attach(to_uqp(qp), to_umr(mr));
}

static int UVERBS_HANDLER(UET_IB_METHOD_QP_DETACH_MR)
(struct uverbs_attr_bundle *attrs)
{
	struct ib_qp *qp = uverbs_attr_get_obj(attrs,
					       UET_IB_ATTR_QP_ATTACH_MR_QP);
	struct ib_mr *mr = uverbs_attr_get_obj(attrs,
					       UET_IB_ATTR_QP_ATTACH_MR_MR);

	return uet_rkey_detach(to_uqp(qp), to_umr(mr));
}

#define UET_QUERY_SEM_U32(id)	\
	UVERBS_ATTR_PTR_IN(UET_IB_ATTR_QUERY_SEMANTICS_##id,	\
			   UVERBS_ATTR_TYPE(u32), UA_MANDATORY)

DECLARE_UVERBS_NAMED_METHOD(UET_IB_METHOD_DEVICE_QUERY_SEMANTICS,
			    UET_QUERY_SEM_U32(QP_TYPE),
			    UET_QUERY_SEM_U32(PORT),
			    UET_QUERY_SEM_U32(SGID_INDEX),
			    UVERBS_ATTR_PTR_OUT(UET_IB_ATTR_QUERY_SEMANTICS_RESP,
						UVERBS_ATTR_STRUCT(struct uet_semantics,
								   reserved),
						UA_MANDATORY));

ADD_UVERBS_METHODS(uet_ru_device_methods, UVERBS_OBJECT_DEVICE,
		   &UVERBS_METHOD(UET_IB_METHOD_DEVICE_QUERY_SEMANTICS));

#define UET_ATTACH_QP	\
	UVERBS_ATTR_IDR(UET_IB_ATTR_QP_ATTACH_MR_QP, UVERBS_OBJECT_QP,	\
			UVERBS_ACCESS_READ, UA_MANDATORY)
#define UET_ATTACH_MR	\
	UVERBS_ATTR_IDR(UET_IB_ATTR_QP_ATTACH_MR_MR, UVERBS_OBJECT_MR,	\
			UVERBS_ACCESS_READ, UA_MANDATORY)

DECLARE_UVERBS_NAMED_METHOD(UET_IB_METHOD_QP_ATTACH_MR, UET_ATTACH_QP,
			    UET_ATTACH_MR);
DECLARE_UVERBS_NAMED_METHOD(UET_IB_METHOD_QP_DETACH_MR, UET_ATTACH_QP,
			    UET_ATTACH_MR);

ADD_UVERBS_METHODS(uet_ru_qp_methods, UVERBS_OBJECT_QP,
		   &UVERBS_METHOD(UET_IB_METHOD_QP_ATTACH_MR),
		   &UVERBS_METHOD(UET_IB_METHOD_QP_DETACH_MR));

#define UET_REG_MR_IN	\
	UVERBS_ATTR_PTR_IN(UET_IB_ATTR_REG_DMABUF_MR_REQ,	\
			   UVERBS_ATTR_STRUCT(struct uet_reg_mr_req, reserved), \
			   UA_OPTIONAL)
#define UET_REG_MR_OUT	\
	UVERBS_ATTR_PTR_OUT(UET_IB_ATTR_REG_DMABUF_MR_RESP,	\
			    UVERBS_ATTR_STRUCT(struct uet_reg_mr_resp, reserved), \
			    UA_OPTIONAL)

ADD_UVERBS_ATTRIBUTES_SIMPLE(uet_ru_dmabuf_attrs, UVERBS_OBJECT_MR,
			     UVERBS_METHOD_REG_DMABUF_MR, UET_REG_MR_IN,
			     UET_REG_MR_OUT);

const struct uapi_definition uet_ru_uapi_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &uet_ru_device_methods),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_QP, &uet_ru_qp_methods),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_MR, &uet_ru_dmabuf_attrs),
	{}
};
