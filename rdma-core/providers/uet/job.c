// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Jobs, but for their address tables. */

#include <errno.h>
#include <stdlib.h>

#include <infiniband/cmd_ioctl.h>
#include <infiniband/cmd_write.h>
#include <rdma/uet-abi.h>
#include <rdma/uet_user_ioctl_cmds.h>

#include "dv.h"

#define JOB_KNOWN	(UETDV_JOB_ATTR_FLAGS | UETDV_JOB_ATTR_ID |	\
			 UETDV_JOB_ATTR_MAX_ADDR_ENTRIES |		\
			 UETDV_JOB_ATTR_PORT_NUM |			\
			 UETDV_JOB_ATTR_SGID_INDEX |			\
			 UETDV_JOB_ATTR_OWNER | UETDV_JOB_ATTR_SKEY |	\
			 UETDV_JOB_ATTR_MAX_JOB_KEYS)

static_assert((int)UETDV_RIGHT_USE == (int)UET_RIGHT_USE, "bit differs");
static_assert((int)UETDV_RIGHT_ADDR == (int)UET_RIGHT_ADDR, "bit differs");
static_assert((int)UETDV_RIGHT_EXPORT == (int)UET_RIGHT_EXPORT, "bit differs");
static_assert((int)UETDV_RIGHT_REKEY == (int)UET_RIGHT_REKEY, "bit differs");
static_assert((int)UETDV_JOB_PERSISTENT == (int)UET_JOB_PERSISTENT,
	      "bit differs");
static_assert((int)UETDV_JOB_DEAD == (int)UET_JOB_DEAD, "bit differs");
static_assert(UETDV_OWNER_NONE == UET_OWNER_NONE, "value differs");

static struct uet_job *new_job(struct ibv_context *ibctx, void *user_context,
			       uint32_t id)
{
	struct uet_job *job = calloc(1, sizeof(*job));

	if (job) {
		job->dv.context = ibctx;
		job->dv.user_context = user_context;
		job->dv.id = id;
	}
	return job;
}

static int cmd_alloc(struct uet_job *job, const struct uet_job_attr *attr,
		     struct uetdv_skey *skey)
{
	DECLARE_COMMAND_BUFFER(cmd, UET_IB_OBJECT_JOB, UET_IB_METHOD_JOB_ALLOC,
			       3);
	struct ib_uverbs_attr *handle;
	int ret;

	handle = fill_attr_out_obj(cmd, UET_IB_ATTR_JOB_ALLOC_HANDLE);
	fill_attr_in_ptr(cmd, UET_IB_ATTR_JOB_ALLOC_ATTR, attr);
	if (skey)
		fill_attr_in_obj(cmd, UET_IB_ATTR_JOB_ALLOC_SKEY,
				 to_uskey(skey)->handle);

	ret = execute_ioctl(job->dv.context, cmd);
	if (!ret)
		job->handle = read_attr_obj(UET_IB_ATTR_JOB_ALLOC_HANDLE,
					    handle);
	return ret;
}

static struct uetdv_job *alloc_or_open(struct ibv_context *ibctx,
				       const struct uet_job_attr *attr,
				       struct uetdv_skey *skey,
				       void *user_context)
{
	struct uet_job *job = new_job(ibctx, user_context, attr->id);
	int ret;

	if (!job)
		return NULL;
	ret = cmd_alloc(job, attr, skey);
	if (!ret)
		return &job->dv;
	free(job);
	errno = ret;
	return NULL;
}

static int check_attr(struct ibv_context *ibctx,
		      const struct uetdv_job_attr *attr)
{
	if (!uet_has_cap(ibctx, UET_CAP_JOB) ||
	    !check_comp_mask(attr->comp_mask, JOB_KNOWN))
		return EOPNOTSUPP;
	if (!(attr->comp_mask & UETDV_JOB_ATTR_ID) || attr->reserved ||
	    (attr->comp_mask & UETDV_JOB_ATTR_FLAGS && attr->flags))
		return EINVAL;
	/* A handle means nothing on another device. */
	if (attr->comp_mask & UETDV_JOB_ATTR_SKEY && attr->skey &&
	    attr->skey->context != ibctx)
		return EINVAL;
	return 0;
}

static void to_kernel(struct uet_job_attr *to, const struct uetdv_job_attr *attr)
{
	uint64_t mask = attr->comp_mask;

	*to = (struct uet_job_attr) {
		.id = attr->id,
		.port_num = 1,
		.uid = UET_OWNER_NONE,
		.gid = UET_OWNER_NONE,
	};
	if (mask & UETDV_JOB_ATTR_MAX_ADDR_ENTRIES)
		to->max_addr = attr->max_addr_entries;
	if (mask & UETDV_JOB_ATTR_PORT_NUM)
		to->port_num = attr->port_num;
	if (mask & UETDV_JOB_ATTR_SGID_INDEX)
		to->sgid_index = attr->sgid_index;
	if (mask & UETDV_JOB_ATTR_OWNER) {
		to->uid = attr->uid;
		to->gid = attr->gid;
	}
	if (mask & UETDV_JOB_ATTR_MAX_JOB_KEYS)
		to->max_jkey = attr->max_job_keys;
}

struct uetdv_job *uetdv_alloc_job(struct ibv_context *context,
				  struct uetdv_job_attr *attr,
				  void *user_context)
{
	struct uet_job_attr kattr;
	int ret;

	ret = check_attr(context, attr);
	if (ret) {
		errno = ret;
		return NULL;
	}
	to_kernel(&kattr, attr);
	return alloc_or_open(context, &kattr,
			     attr->comp_mask & UETDV_JOB_ATTR_SKEY ?
			     attr->skey : NULL, user_context);
}

struct uetdv_job *uetdv_open_job(struct ibv_context *context, uint32_t id,
				 void *user_context)
{
	const struct uet_job_attr kattr = {
		.flags = UET_JOB_ALLOC_OPEN,
		.id = id,
	};

	if (!uet_has_cap(context, UET_CAP_JOB)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return alloc_or_open(context, &kattr, NULL, user_context);
}

int uetdv_dealloc_job(struct uetdv_job *job)
{
	int ret;

	ret = uet_handle_destroy(job->context, UET_IB_OBJECT_JOB,
				 UET_IB_METHOD_JOB_DEALLOC,
				 to_ujob(job)->handle);
	if (!ret)
		free(to_ujob(job));
	return ret;
}

int uetdv_query_job(struct uetdv_job *job, struct uetdv_job_attr *attr)
{
	DECLARE_COMMAND_BUFFER(cmd, UET_IB_OBJECT_JOB, UET_IB_METHOD_JOB_QUERY,
			       2);
	struct uet_job_attr kattr = {};
	int ret;

	fill_attr_in_obj(cmd, UET_IB_ATTR_JOB_QUERY_HANDLE,
			 to_ujob(job)->handle);
	fill_attr_out_ptr(cmd, UET_IB_ATTR_JOB_QUERY_RESP, &kattr);
	ret = execute_ioctl(job->context, cmd);
	if (ret)
		return ret;

	*attr = (struct uetdv_job_attr) {
		.comp_mask = JOB_KNOWN,
		.flags = kattr.flags,
		.id = kattr.id,
		.max_addr_entries = kattr.max_addr,
		.port_num = kattr.port_num,
		.sgid_index = kattr.sgid_index,
		.uid = kattr.uid,
		.gid = kattr.gid,
		.max_job_keys = kattr.max_jkey,
		.rights = kattr.rights,
		.num_addr_entries = kattr.num_addr,
		.skey_id = kattr.skey_id,
	};
	return 0;
}

int uetdv_export_job(struct uetdv_job *job, uint32_t rights, int *fd)
{
	return uet_handle_export(job->context, UET_IB_OBJECT_JOB,
				 UET_IB_METHOD_JOB_EXPORT,
				 to_ujob(job)->handle, rights, fd);
}

int uetdv_import_job(struct ibv_context *context, int fd,
		     struct uetdv_job **job)
{
	struct uet_job_attr kattr = {};
	struct uet_job *new;
	int ret;

	new = new_job(context, NULL, 0);
	if (!new)
		return ENOMEM;
	ret = uet_handle_import(context, UET_IB_OBJECT_JOB,
				UET_IB_METHOD_JOB_IMPORT, fd, &new->handle,
				&kattr, sizeof(kattr));
	if (ret) {
		free(new);
		return ret;
	}
	new->dv.id = kattr.id;
	*job = &new->dv;
	return 0;
}
