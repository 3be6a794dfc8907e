// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Job keys. */

#include <errno.h>
#include <stdlib.h>

#include <infiniband/cmd_ioctl.h>
#include <infiniband/cmd_write.h>
#include <rdma/uet-abi.h>
#include <rdma/uet_user_ioctl_cmds.h>

#include "dv.h"

static int cmd_create(struct uet_jkey *jkey)
{
	DECLARE_COMMAND_BUFFER(cmd, UET_IB_OBJECT_JKEY,
			       UET_IB_METHOD_JKEY_CREATE, 4);
	struct ib_uverbs_attr *handle;
	int ret;

	handle = fill_attr_out_obj(cmd, UET_IB_ATTR_JKEY_CREATE_HANDLE);
	fill_attr_in_obj(cmd, UET_IB_ATTR_JKEY_CREATE_PD, jkey->dv.pd->handle);
	fill_attr_in_obj(cmd, UET_IB_ATTR_JKEY_CREATE_JOB,
			 to_ujob(jkey->dv.job)->handle);
	fill_attr_out_ptr(cmd, UET_IB_ATTR_JKEY_CREATE_RESP, &jkey->dv.jkey);
	ret = execute_ioctl(jkey->dv.pd->context, cmd);
	if (!ret)
		jkey->handle = read_attr_obj(UET_IB_ATTR_JKEY_CREATE_HANDLE,
					     handle);
	return ret;
}

struct uetdv_jkey *uetdv_create_jkey(struct ibv_pd *pd, struct uetdv_job *job,
				     uint32_t flags)
{
	struct uet_jkey *jkey;
	int ret;

	if (!uet_has_cap(pd->context, UET_CAP_JOB)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (flags || job->context != pd->context) {
		errno = EINVAL;
		return NULL;
	}

	jkey = calloc(1, sizeof(*jkey));
	if (!jkey)
		return NULL;
	jkey->dv.pd = pd;
	jkey->dv.job = job;
	ret = cmd_create(jkey);
	if (ret) {
		free(jkey);
		errno = ret;
		return NULL;
	}
	jkey->domain = uet_domain_get(pd);
	return &jkey->dv;
}

int uetdv_destroy_jkey(struct uetdv_jkey *dv)
{
	struct uet_jkey *jkey = to_ujkey(dv);
	int ret;

	ret = uet_handle_destroy(dv->pd->context, UET_IB_OBJECT_JKEY,
				 UET_IB_METHOD_JKEY_DESTROY, jkey->handle);
	if (ret)
		return ret;
	uet_domain_put(jkey->domain);
	free(jkey);
	return 0;
}
