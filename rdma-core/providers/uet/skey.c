// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Security keys. Material goes from the application's memory to the kernel and
 * is copied nowhere in between.
 */

#include <errno.h>
#include <stdlib.h>

#include <infiniband/cmd_ioctl.h>
#include <infiniband/cmd_write.h>
#include <rdma/uet-abi.h>
#include <rdma/uet_user_ioctl_cmds.h>

#include "dv.h"

#define SKEY_KNOWN	(UETDV_SKEY_ATTR_ALG | UETDV_SKEY_ATTR_ID |	\
			 UETDV_SKEY_ATTR_SSI | UETDV_SKEY_ATTR_OWNER)

static_assert(UETDV_SKEY_BYTES == UET_SKEY_BYTES, "length differs");
static_assert((int)UETDV_SKEY_AES_256_GCM == (int)UET_SKEY_AES_256_GCM,
	      "value differs");
static_assert((int)UETDV_SKEY_CLIENT == (int)UET_SKEY_CLIENT, "value differs");
static_assert((int)UETDV_REKEY_RETIRE == (int)UET_SKEY_REKEY_RETIRE,
	      "value differs");
static_assert((int)UETDV_JOB_PERSISTENT == (int)UET_SKEY_PERSISTENT,
	      "bit differs");
static_assert((int)UETDV_JOB_DEAD == (int)UET_SKEY_DEAD, "bit differs");

static struct uet_skey *new_skey(struct ibv_context *ibctx)
{
	struct uet_skey *skey = calloc(1, sizeof(*skey));

	if (skey)
		skey->dv.context = ibctx;
	return skey;
}

/* No material to open one. */
static int cmd_alloc(struct uet_skey *skey, const struct uet_skey_attr *attr,
		     const void *key)
{
	DECLARE_COMMAND_BUFFER(cmd, UET_IB_OBJECT_SKEY,
			       UET_IB_METHOD_SKEY_ALLOC, 4);
	struct uet_skey_attr resp = {};
	struct ib_uverbs_attr *handle;
	int ret;

	handle = fill_attr_out_obj(cmd, UET_IB_ATTR_SKEY_ALLOC_HANDLE);
	fill_attr_in_ptr(cmd, UET_IB_ATTR_SKEY_ALLOC_ATTR, attr);
	if (key)
		fill_attr_in(cmd, UET_IB_ATTR_SKEY_ALLOC_KEY, key,
			     UET_SKEY_BYTES);
	fill_attr_out_ptr(cmd, UET_IB_ATTR_SKEY_ALLOC_RESP, &resp);
	ret = execute_ioctl(skey->dv.context, cmd);
	if (ret)
		return ret;
	skey->handle = read_attr_obj(UET_IB_ATTR_SKEY_ALLOC_HANDLE, handle);
	skey->dv.id = resp.id;
	return 0;
}

static struct uetdv_skey *alloc_or_open(struct ibv_context *ibctx,
					const struct uet_skey_attr *attr,
					const void *key)
{
	struct uet_skey *skey = new_skey(ibctx);
	int ret;

	if (!skey)
		return NULL;
	ret = cmd_alloc(skey, attr, key);
	if (!ret)
		return &skey->dv;
	free(skey);
	errno = ret;
	return NULL;
}

static int check_attr(struct ibv_context *ibctx,
		      const struct uetdv_skey_attr *attr, const void *key,
		      size_t key_len)
{
	if (!uet_has_cap(ibctx, UET_CAP_JOB) ||
	    !check_comp_mask(attr->comp_mask, SKEY_KNOWN))
		return EOPNOTSUPP;
	if (!(attr->comp_mask & UETDV_SKEY_ATTR_ALG) || !key || attr->flags ||
	    attr->reserved)
		return EINVAL;
	return key_len == UETDV_SKEY_BYTES ? 0 : EKEYREJECTED;
}

static void to_kernel(struct uet_skey_attr *to,
		      const struct uetdv_skey_attr *attr)
{
	*to = (struct uet_skey_attr) {
		.sdi = attr->sdi,
		.alg = attr->alg,
		.mode = attr->mode,
		.an = attr->an,
		.uid = UET_OWNER_NONE,
		.gid = UET_OWNER_NONE,
	};
	if (attr->comp_mask & UETDV_SKEY_ATTR_ID)
		to->id = attr->id;
	if (attr->comp_mask & UETDV_SKEY_ATTR_SSI) {
		to->flags = UET_SKEY_HAS_SSI;
		to->ssi = attr->ssi;
	}
	if (attr->comp_mask & UETDV_SKEY_ATTR_OWNER) {
		to->uid = attr->uid;
		to->gid = attr->gid;
	}
}

struct uetdv_skey *uetdv_alloc_skey(struct ibv_context *context,
				    const struct uetdv_skey_attr *attr,
				    const void *key, size_t key_len)
{
	struct uet_skey_attr kattr;
	int ret;

	ret = check_attr(context, attr, key, key_len);
	if (ret) {
		errno = ret;
		return NULL;
	}
	to_kernel(&kattr, attr);
	return alloc_or_open(context, &kattr, key);
}

struct uetdv_skey *uetdv_open_skey(struct ibv_context *context, uint32_t id)
{
	const struct uet_skey_attr kattr = {
		.flags = UET_SKEY_ALLOC_OPEN,
		.id = id,
	};

	if (!uet_has_cap(context, UET_CAP_JOB)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return alloc_or_open(context, &kattr, NULL);
}

int uetdv_dealloc_skey(struct uetdv_skey *skey)
{
	int ret;

	ret = uet_handle_destroy(skey->context, UET_IB_OBJECT_SKEY,
				 UET_IB_METHOD_SKEY_DEALLOC,
				 to_uskey(skey)->handle);
	if (!ret)
		free(to_uskey(skey));
	return ret;
}

int uetdv_query_skey(struct uetdv_skey *skey, struct uetdv_skey_attr *attr)
{
	DECLARE_COMMAND_BUFFER(cmd, UET_IB_OBJECT_SKEY,
			       UET_IB_METHOD_SKEY_QUERY, 2);
	struct uet_skey_attr kattr = {};
	int ret;

	fill_attr_in_obj(cmd, UET_IB_ATTR_SKEY_QUERY_HANDLE,
			 to_uskey(skey)->handle);
	fill_attr_out_ptr(cmd, UET_IB_ATTR_SKEY_QUERY_RESP, &kattr);
	ret = execute_ioctl(skey->context, cmd);
	if (ret)
		return ret;

	*attr = (struct uetdv_skey_attr) {
		.comp_mask = SKEY_KNOWN,
		.flags = kattr.flags & (UET_SKEY_PERSISTENT | UET_SKEY_DEAD),
		.id = kattr.id,
		.sdi = kattr.sdi,
		.ssi = kattr.ssi,
		.alg = kattr.alg,
		.mode = kattr.mode,
		.an = kattr.an,
		.an_valid = kattr.an_valid,
		.uid = kattr.uid,
		.gid = kattr.gid,
		.rights = kattr.rights,
		.num_jobs = kattr.num_job,
	};
	if (!(kattr.flags & UET_SKEY_HAS_SSI))
		attr->comp_mask &= ~(uint64_t)UETDV_SKEY_ATTR_SSI;
	return 0;
}

int uetdv_export_skey(struct uetdv_skey *skey, uint32_t rights, int *fd)
{
	return uet_handle_export(skey->context, UET_IB_OBJECT_SKEY,
				 UET_IB_METHOD_SKEY_EXPORT,
				 to_uskey(skey)->handle, rights, fd);
}

int uetdv_import_skey(struct ibv_context *context, int fd,
		      struct uetdv_skey **skey)
{
	struct uet_skey_attr kattr = {};
	struct uet_skey *new;
	int ret;

	new = new_skey(context);
	if (!new)
		return ENOMEM;
	ret = uet_handle_import(context, UET_IB_OBJECT_SKEY,
				UET_IB_METHOD_SKEY_IMPORT, fd, &new->handle,
				&kattr, sizeof(kattr));
	if (ret) {
		free(new);
		return ret;
	}
	new->dv.id = kattr.id;
	*skey = &new->dv;
	return 0;
}

int uetdv_rekey_skey(struct uetdv_skey *skey, uint32_t op, const void *key,
		     size_t key_len)
{
	DECLARE_COMMAND_BUFFER(cmd, UET_IB_OBJECT_SKEY,
			       UET_IB_METHOD_SKEY_REKEY, 3);
	bool install = op == UETDV_REKEY_INSTALL;

	if (op > UETDV_REKEY_RETIRE || install != !!key ||
	    (!install && key_len))
		return EINVAL;
	if (install && key_len != UETDV_SKEY_BYTES)
		return EKEYREJECTED;

	fill_attr_in_obj(cmd, UET_IB_ATTR_SKEY_REKEY_HANDLE,
			 to_uskey(skey)->handle);
	fill_attr_in_uint32(cmd, UET_IB_ATTR_SKEY_REKEY_OP, op);
	if (install)
		fill_attr_in(cmd, UET_IB_ATTR_SKEY_REKEY_KEY, key, key_len);
	return execute_ioctl(skey->context, cmd);
}
