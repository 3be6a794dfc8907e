// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What handles on jobs, security keys and job keys have alike: how they are given
 * back, and handed on to other processes as files.
 */

#include <errno.h>

#include <infiniband/cmd_ioctl.h>
#include <infiniband/cmd_write.h>
#include <rdma/uet_user_ioctl_cmds.h>

#include "dv.h"

#define SAME(a, b)	static_assert((int)(a) == (int)(b), "attribute differs")

SAME(UET_IB_ATTR_SKEY_DEALLOC_HANDLE, UET_IB_ATTR_JOB_DEALLOC_HANDLE);
SAME(UET_IB_ATTR_JKEY_DESTROY_HANDLE, UET_IB_ATTR_JOB_DEALLOC_HANDLE);
SAME(UET_IB_ATTR_SKEY_EXPORT_HANDLE, UET_IB_ATTR_JOB_EXPORT_HANDLE);
SAME(UET_IB_ATTR_SKEY_EXPORT_RIGHTS, UET_IB_ATTR_JOB_EXPORT_RIGHTS);
SAME(UET_IB_ATTR_SKEY_EXPORT_FD, UET_IB_ATTR_JOB_EXPORT_FD);
SAME(UET_IB_ATTR_SKEY_IMPORT_HANDLE, UET_IB_ATTR_JOB_IMPORT_HANDLE);
SAME(UET_IB_ATTR_SKEY_IMPORT_FD, UET_IB_ATTR_JOB_IMPORT_FD);
SAME(UET_IB_ATTR_SKEY_IMPORT_RESP, UET_IB_ATTR_JOB_IMPORT_RESP);

/* @method: the one of @object that takes its handle and nothing else */
int uet_handle_destroy(struct ibv_context *ibctx, uint16_t object,
		       uint16_t method, uint32_t handle)
{
	DECLARE_COMMAND_BUFFER(cmd, object, method, 1);
	int ret;

	fill_attr_in_obj(cmd, UET_IB_ATTR_JOB_DEALLOC_HANDLE, handle);
	ret = execute_ioctl(ibctx, cmd);
	return verbs_is_destroy_err(&ret) ? ret : 0;
}

int uet_handle_export(struct ibv_context *ibctx, uint16_t object,
		      uint16_t method, uint32_t handle, uint32_t rights,
		      int *fd)
{
	DECLARE_COMMAND_BUFFER(cmd, object, method, 3);
	int32_t new_fd = -1;
	int ret;

	fill_attr_in_obj(cmd, UET_IB_ATTR_JOB_EXPORT_HANDLE, handle);
	fill_attr_in_uint32(cmd, UET_IB_ATTR_JOB_EXPORT_RIGHTS, rights);
	fill_attr_out_ptr(cmd, UET_IB_ATTR_JOB_EXPORT_FD, &new_fd);
	ret = execute_ioctl(ibctx, cmd);
	if (!ret)
		*fd = new_fd;
	return ret;
}

/* @resp: attributes of what @fd stands for */
int uet_handle_import(struct ibv_context *ibctx, uint16_t object,
		      uint16_t method, int fd, uint32_t *handle, void *resp,
		      size_t resp_len)
{
	DECLARE_COMMAND_BUFFER(cmd, object, method, 3);
	struct ib_uverbs_attr *attr;
	int ret;

	if (!uet_has_cap(ibctx, UET_CAP_JOB))
		return EOPNOTSUPP;
	/* fill_attr_in_fd() takes -1 for "no attribute". */
	if (fd < 0)
		return EBADF;

	attr = fill_attr_out_obj(cmd, UET_IB_ATTR_JOB_IMPORT_HANDLE);
	fill_attr_in_fd(cmd, UET_IB_ATTR_JOB_IMPORT_FD, fd);
	fill_attr_out(cmd, UET_IB_ATTR_JOB_IMPORT_RESP, resp, resp_len);
	ret = execute_ioctl(ibctx, cmd);
	if (!ret)
		*handle = read_attr_obj(UET_IB_ATTR_JOB_IMPORT_HANDLE, attr);
	return ret;
}
