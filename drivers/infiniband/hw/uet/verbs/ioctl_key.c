// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Methods of UET_IB_OBJECT_SKEY and UET_IB_OBJECT_JKEY of the verbs ioctl, see
 * rdma/uet_user_ioctl_cmds.h. The uobject of a security key is a handle, struct
 * uet_hold; that of a job key is the key.
 */
#include <linux/string.h>
#include <rdma/uet_user_ioctl_cmds.h>

#include "job.h"

#define UVERBS_MODULE_NAME uet_key
#include <rdma/uverbs_named_ioctl.h>

static int uet_skey_uobj_destroy(struct ib_uobject *uobj,
				 enum rdma_remove_reason why,
				 struct uverbs_attr_bundle *attrs)
{
	uet_hold_destroy(uobj->object);
	return 0;
}

/* A held key becomes what a new uobject stands for; told in @resp. */
static int uet_skey_uobj_set(struct uverbs_attr_bundle *attrs, u16 handle,
			     struct uet_shared *obj, u32 rights, u16 resp)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs, handle);
	struct uet_skey_attr attr;
	struct uet_hold *hold;

	hold = uet_hold_create(obj, rights);
	if (IS_ERR(hold)) {
		uet_shared_release(obj);
		return PTR_ERR(hold);
	}
	uobj->object = hold;
	/* From here on the core destroys the uobject if we fail. */
	uverbs_finalize_uobj_create(attrs, handle);
	uet_skey_fill(to_uskey(obj), hold, &attr);
	return uverbs_copy_to_struct_or_zero(attrs, resp, &attr, sizeof(attr));
}

/* @key is the caller's to wipe, whatever comes out. */
static int uet_skey_get_key(const struct uverbs_attr_bundle *attrs, u16 id,
			    u8 (*key)[UET_SKEY_BYTES])
{
	int len = uverbs_attr_get_len(attrs, id);

	if (len < 0)
		return -EINVAL;
	if (len != UET_SKEY_BYTES)
		return -EKEYREJECTED;
	return uverbs_copy_from(key, attrs, id);
}

static int uet_skey_new(struct uverbs_attr_bundle *attrs, struct uet_dev *dev,
			const struct uet_skey_attr *attr,
			struct uet_shared **obj)
{
	struct uet_skey *skey;
	u8 key[UET_SKEY_BYTES];
	int err;

	if (!uet_may_create(dev))
		return -EPERM;
	err = uet_skey_get_key(attrs, UET_IB_ATTR_SKEY_ALLOC_KEY, &key);
	if (!err) {
		skey = uet_skey_create(dev, attr, key, false, NULL);
		err = PTR_ERR_OR_ZERO(skey);
	}
	memzero_explicit(key, sizeof(key));
	if (err)
		return err;
	*obj = &skey->obj;
	/* Held, so the first reference is not needed any more. */
	uet_shared_put(*obj);
	return 0;
}

static int uet_skey_open(struct uverbs_attr_bundle *attrs, struct uet_dev *dev,
			 const struct uet_skey_attr *attr,
			 struct uet_shared **obj)
{
	struct uet_skey_attr only = {
		.flags = UET_SKEY_ALLOC_OPEN,
		.id = attr->id,
	};

	if (attr->comp_mask)
		return -EOPNOTSUPP;
	if (memcmp(attr, &only, sizeof(only)) || !attr->id ||
	    uverbs_attr_is_valid(attrs, UET_IB_ATTR_SKEY_ALLOC_KEY))
		return -EINVAL;
	return uet_shared_open(dev, UET_SHARED_SKEY, attr->id, obj);
}

static int UVERBS_HANDLER(UET_IB_METHOD_SKEY_ALLOC)(
	struct uverbs_attr_bundle *attrs)
{
	struct uet_dev *dev = to_udev(attrs->context->device);
	struct uet_skey_attr attr;
	struct uet_shared *obj;
	int err;

	err = uverbs_copy_from_or_zero(&attr, attrs,
				       UET_IB_ATTR_SKEY_ALLOC_ATTR);
	if (err)
		return err;
	if (attr.flags & UET_SKEY_ALLOC_OPEN)
		err = uet_skey_open(attrs, dev, &attr, &obj);
	else
		err = uet_skey_new(attrs, dev, &attr, &obj);
	return err ?: uet_skey_uobj_set(attrs, UET_IB_ATTR_SKEY_ALLOC_HANDLE,
					obj, UET_RIGHTS_SKEY,
					UET_IB_ATTR_SKEY_ALLOC_RESP);
}

static int UVERBS_HANDLER(UET_IB_METHOD_SKEY_QUERY)(
	struct uverbs_attr_bundle *attrs)
{
	struct uet_hold *hold =
		uverbs_attr_get_obj(attrs, UET_IB_ATTR_SKEY_QUERY_HANDLE);
	struct uet_skey_attr attr;

	uet_skey_fill(to_uskey(hold->obj), hold, &attr);
	return uverbs_copy_to_struct_or_zero(attrs, UET_IB_ATTR_SKEY_QUERY_RESP,
					     &attr, sizeof(attr));
}

static int UVERBS_HANDLER(UET_IB_METHOD_SKEY_EXPORT)(
	struct uverbs_attr_bundle *attrs)
{
	const struct uet_hold *hold =
		uverbs_attr_get_obj(attrs, UET_IB_ATTR_SKEY_EXPORT_HANDLE);

	return uet_shared_export_fd(hold, attrs, UET_IB_ATTR_SKEY_EXPORT_RIGHTS,
				    UET_IB_ATTR_SKEY_EXPORT_FD);
}

static int UVERBS_HANDLER(UET_IB_METHOD_SKEY_IMPORT)(
	struct uverbs_attr_bundle *attrs)
{
	struct uet_dev *dev = to_udev(attrs->context->device);
	struct uet_shared *obj;
	u32 rights;
	int err, fd;

	err = uverbs_get_raw_fd(&fd, attrs, UET_IB_ATTR_SKEY_IMPORT_FD);
	if (err)
		return err;
	obj = uet_shared_import(dev, UET_SHARED_SKEY, fd, &rights);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	return uet_skey_uobj_set(attrs, UET_IB_ATTR_SKEY_IMPORT_HANDLE, obj,
				 rights, UET_IB_ATTR_SKEY_IMPORT_RESP);
}

static int UVERBS_HANDLER(UET_IB_METHOD_SKEY_REKEY)(
	struct uverbs_attr_bundle *attrs)
{
	const u16 id = UET_IB_ATTR_SKEY_REKEY_KEY;
	struct uet_hold *hold =
		uverbs_attr_get_obj(attrs, UET_IB_ATTR_SKEY_REKEY_HANDLE);
	bool has_key = uverbs_attr_is_valid(attrs, id);
	u8 key[UET_SKEY_BYTES];
	u32 op;
	int err;

	if (!(hold->rights & UET_RIGHT_REKEY))
		return -EPERM;
	err = uverbs_copy_from(&op, attrs, UET_IB_ATTR_SKEY_REKEY_OP);
	if (err)
		return err;
	if (has_key)
		err = uet_skey_get_key(attrs, id, &key);
	if (!err)
		err = uet_skey_rekey(to_uskey(hold->obj), op,
				     has_key ? key : NULL, NULL);
	memzero_explicit(key, sizeof(key));
	return err;
}

static int uet_jkey_uobj_destroy(struct ib_uobject *uobj,
				 enum rdma_remove_reason why,
				 struct uverbs_attr_bundle *attrs)
{
	return uet_jkey_destroy(uobj->object);
}

static int UVERBS_HANDLER(UET_IB_METHOD_JKEY_CREATE)(
	struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj =
		uverbs_attr_get_uobject(attrs, UET_IB_ATTR_JKEY_CREATE_HANDLE);
	struct ib_pd *pd =
		uverbs_attr_get_obj(attrs, UET_IB_ATTR_JKEY_CREATE_PD);
	struct uet_hold *hold =
		uverbs_attr_get_obj(attrs, UET_IB_ATTR_JKEY_CREATE_JOB);
	struct uet_jkey *jkey;

	jkey = uet_jkey_create(pd, hold);
	if (IS_ERR(jkey))
		return PTR_ERR(jkey);
	uobj->object = jkey;
	/* From here on the core destroys the uobject if we fail. */
	uverbs_finalize_uobj_create(attrs, UET_IB_ATTR_JKEY_CREATE_HANDLE);
	return uverbs_copy_to(attrs, UET_IB_ATTR_JKEY_CREATE_RESP, &jkey->value,
			      sizeof(jkey->value));
}

DECLARE_UVERBS_NAMED_METHOD(
	UET_IB_METHOD_SKEY_ALLOC,
	UVERBS_ATTR_IDR(UET_IB_ATTR_SKEY_ALLOC_HANDLE, UET_IB_OBJECT_SKEY,
			UVERBS_ACCESS_NEW, UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(UET_IB_ATTR_SKEY_ALLOC_ATTR,
			   UVERBS_ATTR_STRUCT(struct uet_skey_attr, reserved),
			   UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(UET_IB_ATTR_SKEY_ALLOC_KEY, UVERBS_ATTR_MIN_SIZE(0),
			   UA_OPTIONAL),
	UVERBS_ATTR_PTR_OUT(UET_IB_ATTR_SKEY_ALLOC_RESP,
			    UVERBS_ATTR_STRUCT(struct uet_skey_attr, reserved),
			    UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	UET_IB_METHOD_SKEY_DEALLOC,
	UVERBS_ATTR_IDR(UET_IB_ATTR_SKEY_DEALLOC_HANDLE, UET_IB_OBJECT_SKEY,
			UVERBS_ACCESS_DESTROY, UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	UET_IB_METHOD_SKEY_QUERY,
	UVERBS_ATTR_IDR(UET_IB_ATTR_SKEY_QUERY_HANDLE, UET_IB_OBJECT_SKEY,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(UET_IB_ATTR_SKEY_QUERY_RESP,
			    UVERBS_ATTR_STRUCT(struct uet_skey_attr, reserved),
			    UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	UET_IB_METHOD_SKEY_EXPORT,
	UVERBS_ATTR_IDR(UET_IB_ATTR_SKEY_EXPORT_HANDLE, UET_IB_OBJECT_SKEY,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(UET_IB_ATTR_SKEY_EXPORT_RIGHTS,
			   UVERBS_ATTR_TYPE(u32), UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(UET_IB_ATTR_SKEY_EXPORT_FD, UVERBS_ATTR_TYPE(s32),
			    UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	UET_IB_METHOD_SKEY_IMPORT,
	UVERBS_ATTR_IDR(UET_IB_ATTR_SKEY_IMPORT_HANDLE, UET_IB_OBJECT_SKEY,
			UVERBS_ACCESS_NEW, UA_MANDATORY),
	UVERBS_ATTR_RAW_FD(UET_IB_ATTR_SKEY_IMPORT_FD, UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(UET_IB_ATTR_SKEY_IMPORT_RESP,
			    UVERBS_ATTR_STRUCT(struct uet_skey_attr, reserved),
			    UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	UET_IB_METHOD_SKEY_REKEY,
	UVERBS_ATTR_IDR(UET_IB_ATTR_SKEY_REKEY_HANDLE, UET_IB_OBJECT_SKEY,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(UET_IB_ATTR_SKEY_REKEY_OP, UVERBS_ATTR_TYPE(u32),
			   UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(UET_IB_ATTR_SKEY_REKEY_KEY, UVERBS_ATTR_MIN_SIZE(0),
			   UA_OPTIONAL));

DECLARE_UVERBS_NAMED_METHOD(
	UET_IB_METHOD_JKEY_CREATE,
	UVERBS_ATTR_IDR(UET_IB_ATTR_JKEY_CREATE_HANDLE, UET_IB_OBJECT_JKEY,
			UVERBS_ACCESS_NEW, UA_MANDATORY),
	UVERBS_ATTR_IDR(UET_IB_ATTR_JKEY_CREATE_PD, UVERBS_OBJECT_PD,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_IDR(UET_IB_ATTR_JKEY_CREATE_JOB, UET_IB_OBJECT_JOB,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(UET_IB_ATTR_JKEY_CREATE_RESP, UVERBS_ATTR_TYPE(u32),
			    UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	UET_IB_METHOD_JKEY_DESTROY,
	UVERBS_ATTR_IDR(UET_IB_ATTR_JKEY_DESTROY_HANDLE, UET_IB_OBJECT_JKEY,
			UVERBS_ACCESS_DESTROY, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(
	UET_IB_OBJECT_SKEY,
	UVERBS_TYPE_ALLOC_IDR(uet_skey_uobj_destroy),
	&UVERBS_METHOD(UET_IB_METHOD_SKEY_ALLOC),
	&UVERBS_METHOD(UET_IB_METHOD_SKEY_DEALLOC),
	&UVERBS_METHOD(UET_IB_METHOD_SKEY_QUERY),
	&UVERBS_METHOD(UET_IB_METHOD_SKEY_EXPORT),
	&UVERBS_METHOD(UET_IB_METHOD_SKEY_IMPORT),
	&UVERBS_METHOD(UET_IB_METHOD_SKEY_REKEY));

DECLARE_UVERBS_NAMED_OBJECT(
	UET_IB_OBJECT_JKEY,
	UVERBS_TYPE_ALLOC_IDR(uet_jkey_uobj_destroy),
	&UVERBS_METHOD(UET_IB_METHOD_JKEY_CREATE),
	&UVERBS_METHOD(UET_IB_METHOD_JKEY_DESTROY));

const struct uapi_definition uet_key_uapi_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UET_IB_OBJECT_SKEY),
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UET_IB_OBJECT_JKEY),
	{},
};
