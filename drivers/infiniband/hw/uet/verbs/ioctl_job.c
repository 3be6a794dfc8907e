// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Methods of UET_IB_OBJECT_JOB of the verbs ioctl, see
 * rdma/uet_user_ioctl_cmds.h. The uobject is a handle, struct uet_hold; what it
 * may do was decided when it was made.
 */
#include <linux/file.h>
#include <rdma/uet_user_ioctl_cmds.h>

#include "job.h"

#define UVERBS_MODULE_NAME uet_job
#include <rdma/uverbs_named_ioctl.h>

static int uet_job_uobj_destroy(struct ib_uobject *uobj,
				enum rdma_remove_reason why,
				struct uverbs_attr_bundle *attrs)
{
	struct uet_hold *hold = uobj->object;

	/* When the file is closed job keys go in an earlier turn. */
	if (atomic_read(&hold->users))
		return -EBUSY;
	uet_hold_destroy(hold);
	return 0;
}

/* A held object becomes what a new uobject stands for. */
static int uet_job_uobj_set(struct ib_uobject *uobj, struct uet_shared *obj,
			    u32 rights)
{
	struct uet_hold *hold = uet_hold_create(obj, rights);

	if (IS_ERR(hold)) {
		uet_shared_release(obj);
		return PTR_ERR(hold);
	}
	uobj->object = hold;
	return 0;
}

static int uet_job_get_skey(struct uverbs_attr_bundle *attrs,
			    struct uet_skey **skey)
{
	struct uet_hold *hold;

	*skey = NULL;
	if (!uverbs_attr_is_valid(attrs, UET_IB_ATTR_JOB_ALLOC_SKEY))
		return 0;
	hold = uverbs_attr_get_obj(attrs, UET_IB_ATTR_JOB_ALLOC_SKEY);
	if (!(hold->rights & UET_RIGHT_USE))
		return -EPERM;
	if (READ_ONCE(hold->obj->dead))
		return -EIO;
	*skey = to_uskey(hold->obj);
	return 0;
}

static int uet_job_new(struct uverbs_attr_bundle *attrs, struct uet_dev *dev,
		       const struct uet_job_attr *attr, struct uet_shared **obj)
{
	struct uet_skey *skey;
	struct uet_job *job;
	int err;

	if (!uet_may_create(dev))
		return -EPERM;
	err = uet_job_get_skey(attrs, &skey);
	if (err)
		return err;
	job = uet_job_create(dev, attr, skey, false, NULL);
	if (IS_ERR(job))
		return PTR_ERR(job);
	*obj = &job->obj;
	/* Held, so the first reference is not needed any more. */
	uet_shared_put(*obj);
	return 0;
}

static int uet_job_open(struct uverbs_attr_bundle *attrs, struct uet_dev *dev,
			const struct uet_job_attr *attr,
			struct uet_shared **obj)
{
	struct uet_job_attr only = {
		.flags = UET_JOB_ALLOC_OPEN,
		.id = attr->id,
	};

	if (attr->comp_mask)
		return -EOPNOTSUPP;
	if (memcmp(attr, &only, sizeof(only)) ||
	    uverbs_attr_is_valid(attrs, UET_IB_ATTR_JOB_ALLOC_SKEY) ||
	    !attr->id || attr->id > UET_JOB_ID_MAX)
		return -EINVAL;
	return uet_shared_open(dev, UET_SHARED_JOB, attr->id, obj);
}

static int UVERBS_HANDLER(UET_IB_METHOD_JOB_ALLOC)(
	struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj =
		uverbs_attr_get_uobject(attrs, UET_IB_ATTR_JOB_ALLOC_HANDLE);
	struct uet_dev *dev = to_udev(attrs->context->device);
	struct uet_shared *obj;
	struct uet_job_attr attr;
	int err;

	err = uverbs_copy_from_or_zero(&attr, attrs,
				       UET_IB_ATTR_JOB_ALLOC_ATTR);
	if (err)
		return err;
	if (attr.flags & UET_JOB_ALLOC_OPEN)
		err = uet_job_open(attrs, dev, &attr, &obj);
	else
		err = uet_job_new(attrs, dev, &attr, &obj);
	return err ?: uet_job_uobj_set(uobj, obj, UET_RIGHTS_JOB);
}

static int UVERBS_HANDLER(UET_IB_METHOD_JOB_QUERY)(
	struct uverbs_attr_bundle *attrs)
{
	struct uet_hold *hold =
		uverbs_attr_get_obj(attrs, UET_IB_ATTR_JOB_QUERY_HANDLE);
	struct uet_job_attr attr;

	uet_job_fill(to_ujob(hold->obj), hold, &attr);
	return uverbs_copy_to_struct_or_zero(attrs, UET_IB_ATTR_JOB_QUERY_RESP,
					     &attr, sizeof(attr));
}

static int UVERBS_HANDLER(UET_IB_METHOD_JOB_EXPORT)(
	struct uverbs_attr_bundle *attrs)
{
	const struct uet_hold *hold =
		uverbs_attr_get_obj(attrs, UET_IB_ATTR_JOB_EXPORT_HANDLE);

	return uet_shared_export_fd(hold, attrs, UET_IB_ATTR_JOB_EXPORT_RIGHTS,
				    UET_IB_ATTR_JOB_EXPORT_FD);
}

static int UVERBS_HANDLER(UET_IB_METHOD_JOB_IMPORT)(
	struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj =
		uverbs_attr_get_uobject(attrs, UET_IB_ATTR_JOB_IMPORT_HANDLE);
	struct uet_dev *dev = to_udev(attrs->context->device);
	struct uet_job_attr attr;
	struct uet_shared *obj;
	u32 rights;
	int err, fd;

	err = uverbs_get_raw_fd(&fd, attrs, UET_IB_ATTR_JOB_IMPORT_FD);
	if (err)
		return err;
	obj = uet_shared_import(dev, UET_SHARED_JOB, fd, &rights);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	err = uet_job_uobj_set(uobj, obj, rights);
	if (err)
		return err;
	/* From here on the core destroys the uobject if we fail. */
	uverbs_finalize_uobj_create(attrs, UET_IB_ATTR_JOB_IMPORT_HANDLE);
	uet_job_fill(to_ujob(obj), uobj->object, &attr);
	return uverbs_copy_to_struct_or_zero(attrs, UET_IB_ATTR_JOB_IMPORT_RESP,
					     &attr, sizeof(attr));
}

static int UVERBS_HANDLER(UET_IB_METHOD_JOB_ADDR_INSERT)(
	struct uverbs_attr_bundle *attrs)
{
	const u16 id = UET_IB_ATTR_JOB_ADDR_INSERT_ENTRIES;
	struct uet_hold *hold =
		uverbs_attr_get_obj(attrs, UET_IB_ATTR_JOB_ADDR_INSERT_HANDLE);
	const struct uet_job_addr *addr;
	int nr;

	if (!(hold->rights & UET_RIGHT_ADDR))
		return -EPERM;
	nr = uverbs_attr_ptr_get_array_size(attrs, id, sizeof(*addr));
	if (nr <= 0)
		return nr ?: -EINVAL;
	addr = uverbs_attr_get_alloced_ptr(attrs, id);
	return uet_job_addr_insert(to_ujob(hold->obj), addr, nr, NULL);
}

static int UVERBS_HANDLER(UET_IB_METHOD_JOB_ADDR_REMOVE)(
	struct uverbs_attr_bundle *attrs)
{
	struct uet_hold *hold =
		uverbs_attr_get_obj(attrs, UET_IB_ATTR_JOB_ADDR_REMOVE_HANDLE);
	u32 first, nr;
	int err;

	if (!(hold->rights & UET_RIGHT_ADDR))
		return -EPERM;
	err = uverbs_copy_from(&first, attrs,
			       UET_IB_ATTR_JOB_ADDR_REMOVE_FIRST) ?:
	      uverbs_copy_from(&nr, attrs, UET_IB_ATTR_JOB_ADDR_REMOVE_COUNT);
	return err ?: uet_job_addr_remove(to_ujob(hold->obj), first, nr, false);
}

static int UVERBS_HANDLER(UET_IB_METHOD_JOB_ADDR_QUERY)(
	struct uverbs_attr_bundle *attrs)
{
	const u16 id = UET_IB_ATTR_JOB_ADDR_QUERY_ENTRIES;
	struct uet_hold *hold =
		uverbs_attr_get_obj(attrs, UET_IB_ATTR_JOB_ADDR_QUERY_HANDLE);
	struct uet_job *job = to_ujob(hold->obj);
	struct uet_job_addr *addr;
	u32 pos, nr;
	int err, room;

	err = uverbs_copy_from(&pos, attrs, UET_IB_ATTR_JOB_ADDR_QUERY_FIRST);
	if (err)
		return err;
	room = uverbs_attr_ptr_get_array_size(attrs, id, sizeof(*addr));
	if (room <= 0)
		return room ?: -EINVAL;
	if (pos >= job->max_addr)
		return -EINVAL;
	room = min_t(u32, room, job->max_addr - pos);
	addr = uverbs_kcalloc(attrs, room, sizeof(*addr));
	if (IS_ERR(addr))
		return PTR_ERR(addr);
	nr = uet_job_addr_next(job, &pos, addr, room);
	return uverbs_copy_to(attrs, id, addr, nr * sizeof(*addr)) ?:
	       uverbs_copy_to(attrs, UET_IB_ATTR_JOB_ADDR_QUERY_COUNT, &nr,
			      sizeof(nr));
}

DECLARE_UVERBS_NAMED_METHOD(
	UET_IB_METHOD_JOB_ALLOC,
	UVERBS_ATTR_IDR(UET_IB_ATTR_JOB_ALLOC_HANDLE, UET_IB_OBJECT_JOB,
			UVERBS_ACCESS_NEW, UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(UET_IB_ATTR_JOB_ALLOC_ATTR,
			   UVERBS_ATTR_STRUCT(struct uet_job_attr, reserved),
			   UA_MANDATORY),
	UVERBS_ATTR_IDR(UET_IB_ATTR_JOB_ALLOC_SKEY, UET_IB_OBJECT_SKEY,
			UVERBS_ACCESS_READ, UA_OPTIONAL));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(
	UET_IB_METHOD_JOB_DEALLOC,
	UVERBS_ATTR_IDR(UET_IB_ATTR_JOB_DEALLOC_HANDLE, UET_IB_OBJECT_JOB,
			UVERBS_ACCESS_DESTROY, UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	UET_IB_METHOD_JOB_QUERY,
	UVERBS_ATTR_IDR(UET_IB_ATTR_JOB_QUERY_HANDLE, UET_IB_OBJECT_JOB,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(UET_IB_ATTR_JOB_QUERY_RESP,
			    UVERBS_ATTR_STRUCT(struct uet_job_attr, reserved),
			    UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	UET_IB_METHOD_JOB_EXPORT,
	UVERBS_ATTR_IDR(UET_IB_ATTR_JOB_EXPORT_HANDLE, UET_IB_OBJECT_JOB,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(UET_IB_ATTR_JOB_EXPORT_RIGHTS,
			   UVERBS_ATTR_TYPE(u32), UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(UET_IB_ATTR_JOB_EXPORT_FD, UVERBS_ATTR_TYPE(s32),
			    UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	UET_IB_METHOD_JOB_IMPORT,
	UVERBS_ATTR_IDR(UET_IB_ATTR_JOB_IMPORT_HANDLE, UET_IB_OBJECT_JOB,
			UVERBS_ACCESS_NEW, UA_MANDATORY),
	UVERBS_ATTR_RAW_FD(UET_IB_ATTR_JOB_IMPORT_FD, UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(UET_IB_ATTR_JOB_IMPORT_RESP,
			    UVERBS_ATTR_STRUCT(struct uet_job_attr, reserved),
			    UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	UET_IB_METHOD_JOB_ADDR_INSERT,
	UVERBS_ATTR_IDR(UET_IB_ATTR_JOB_ADDR_INSERT_HANDLE, UET_IB_OBJECT_JOB,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(UET_IB_ATTR_JOB_ADDR_INSERT_ENTRIES,
			   UVERBS_ATTR_MIN_SIZE(sizeof(struct uet_job_addr)),
			   UA_MANDATORY, UA_ALLOC_AND_COPY));

DECLARE_UVERBS_NAMED_METHOD(
	UET_IB_METHOD_JOB_ADDR_REMOVE,
	UVERBS_ATTR_IDR(UET_IB_ATTR_JOB_ADDR_REMOVE_HANDLE, UET_IB_OBJECT_JOB,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(UET_IB_ATTR_JOB_ADDR_REMOVE_FIRST,
			   UVERBS_ATTR_TYPE(u32), UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(UET_IB_ATTR_JOB_ADDR_REMOVE_COUNT,
			   UVERBS_ATTR_TYPE(u32), UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(
	UET_IB_METHOD_JOB_ADDR_QUERY,
	UVERBS_ATTR_IDR(UET_IB_ATTR_JOB_ADDR_QUERY_HANDLE, UET_IB_OBJECT_JOB,
			UVERBS_ACCESS_READ, UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(UET_IB_ATTR_JOB_ADDR_QUERY_FIRST,
			   UVERBS_ATTR_TYPE(u32), UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(UET_IB_ATTR_JOB_ADDR_QUERY_ENTRIES,
			    UVERBS_ATTR_MIN_SIZE(sizeof(struct uet_job_addr)),
			    UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(UET_IB_ATTR_JOB_ADDR_QUERY_COUNT,
			    UVERBS_ATTR_TYPE(u32), UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(
	UET_IB_OBJECT_JOB,
	UVERBS_TYPE_ALLOC_IDR(uet_job_uobj_destroy),
	&UVERBS_METHOD(UET_IB_METHOD_JOB_ALLOC),
	&UVERBS_METHOD(UET_IB_METHOD_JOB_DEALLOC),
	&UVERBS_METHOD(UET_IB_METHOD_JOB_QUERY),
	&UVERBS_METHOD(UET_IB_METHOD_JOB_EXPORT),
	&UVERBS_METHOD(UET_IB_METHOD_JOB_IMPORT),
	&UVERBS_METHOD(UET_IB_METHOD_JOB_ADDR_INSERT),
	&UVERBS_METHOD(UET_IB_METHOD_JOB_ADDR_REMOVE),
	&UVERBS_METHOD(UET_IB_METHOD_JOB_ADDR_QUERY));

const struct uapi_definition uet_job_uapi_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(UET_IB_OBJECT_JOB),
	{},
};
