/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/*
 * Objects, methods and attributes of the uet provider in the driver's
 * namespace of the verbs ioctl: jobs, security keys, job keys, and what the
 * standard objects lack for the native endpoint. Structs are in uet-abi.h,
 * concepts and rights in Documentation/infiniband/uet-jobs.rst.
 *
 * Ids never change their meaning. An object has room for eight methods and a
 * device for twelve objects; JOB is full. Attributes are mandatory unless said
 * otherwise; an attribute the kernel does not know makes it refuse the method
 * (EPROTONOSUPPORT) unless the caller marked it as optional.
 *
 * Errors that every method may give: EINVAL (attribute missing, of a wrong
 * size, reserved field not 0, handle of another kind), ENOENT (no such handle in
 * this process), EBUSY (handle in use by another call), EOPNOTSUPP (unknown bits
 * of a comp_mask, or behind the struct that the kernel knows), EFAULT, ENOMEM,
 * EIO (the device has gone). "Privileged" means CAP_NET_ADMIN in the user
 * namespace that owns the network namespace of the device.
 */
#ifndef UET_USER_IOCTL_CMDS_H
#define UET_USER_IOCTL_CMDS_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>

enum uet_ib_objects {
	UET_IB_OBJECT_JOB = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_OBJECT_SKEY,
	UET_IB_OBJECT_JKEY,
	/* left for tagged receive contexts, counters; nine more fit */
};

/**
 * enum uet_ib_job_methods - methods of UET_IB_OBJECT_JOB
 * @UET_IB_METHOD_JOB_ALLOC: create a job (privileged), or with
 *	UET_JOB_ALLOC_OPEN open one by its id as owner
 * @UET_IB_METHOD_JOB_DEALLOC: let go of the job; EBUSY while job keys of this
 *	process refer to the handle. Other holders keep the job
 * @UET_IB_METHOD_JOB_QUERY: attributes of the job
 * @UET_IB_METHOD_JOB_EXPORT: a file descriptor that holds the job
 * @UET_IB_METHOD_JOB_IMPORT: a handle from such a file descriptor
 * @UET_IB_METHOD_JOB_ADDR_INSERT: set entries of the peer table, all or none
 * @UET_IB_METHOD_JOB_ADDR_REMOVE: clear entries of the peer table, all or none
 * @UET_IB_METHOD_JOB_ADDR_QUERY: read entries of the peer table
 */
enum uet_ib_job_methods {
	UET_IB_METHOD_JOB_ALLOC = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_METHOD_JOB_DEALLOC,
	UET_IB_METHOD_JOB_QUERY,
	UET_IB_METHOD_JOB_EXPORT,
	UET_IB_METHOD_JOB_IMPORT,
	UET_IB_METHOD_JOB_ADDR_INSERT,
	UET_IB_METHOD_JOB_ADDR_REMOVE,
	UET_IB_METHOD_JOB_ADDR_QUERY,
};

/**
 * enum uet_ib_job_alloc_attrs - UET_IB_METHOD_JOB_ALLOC
 * @UET_IB_ATTR_JOB_ALLOC_HANDLE: new handle
 * @UET_IB_ATTR_JOB_ALLOC_ATTR: in, struct uet_job_attr
 * @UET_IB_ATTR_JOB_ALLOC_SKEY: in, optional: handle of a security key that
 *	the job refers to from now on; not with UET_JOB_ALLOC_OPEN (EINVAL)
 *
 * Errors: EPERM (neither privileged nor, to open, the owner; the process is
 * not in the network namespace of the device), EINVAL (id 0 or wider than 24
 * bits; port; GID index without a GID; table larger than the device allows),
 * EEXIST (the id is in use on this device), ENOENT (open: no such job), ENOSPC
 * (as many jobs as the device allows).
 */
enum uet_ib_job_alloc_attrs {
	UET_IB_ATTR_JOB_ALLOC_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_ATTR_JOB_ALLOC_ATTR,
	UET_IB_ATTR_JOB_ALLOC_SKEY,
};

enum uet_ib_job_dealloc_attrs {
	UET_IB_ATTR_JOB_DEALLOC_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
};

/**
 * enum uet_ib_job_query_attrs - UET_IB_METHOD_JOB_QUERY
 * @UET_IB_ATTR_JOB_QUERY_HANDLE: job
 * @UET_IB_ATTR_JOB_QUERY_RESP: out, struct uet_job_attr
 */
enum uet_ib_job_query_attrs {
	UET_IB_ATTR_JOB_QUERY_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_ATTR_JOB_QUERY_RESP,
};

/**
 * enum uet_ib_job_export_attrs - UET_IB_METHOD_JOB_EXPORT
 * @UET_IB_ATTR_JOB_EXPORT_HANDLE: job
 * @UET_IB_ATTR_JOB_EXPORT_RIGHTS: in, u32: enum uet_right that go with the
 *	file descriptor
 * @UET_IB_ATTR_JOB_EXPORT_FD: out, s32: close-on-exec file descriptor, to be
 *	passed on by SCM_RIGHTS
 *
 * Errors: EPERM (the handle lacks UET_RIGHT_EXPORT, or a right to be given
 * on), EINVAL (a right that there is not), EIO (ended), EMFILE, ENFILE.
 */
enum uet_ib_job_export_attrs {
	UET_IB_ATTR_JOB_EXPORT_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_ATTR_JOB_EXPORT_RIGHTS,
	UET_IB_ATTR_JOB_EXPORT_FD,
};

/**
 * enum uet_ib_job_import_attrs - UET_IB_METHOD_JOB_IMPORT
 * @UET_IB_ATTR_JOB_IMPORT_HANDLE: new handle, with the rights of the file
 *	descriptor
 * @UET_IB_ATTR_JOB_IMPORT_FD: in, raw file descriptor; stays open
 * @UET_IB_ATTR_JOB_IMPORT_RESP: out, struct uet_job_attr
 *
 * Errors: EBADF (not open), EINVAL (not a job), EXDEV (job of another device),
 * EPERM (the process is not in the network namespace of the device), EIO (the
 * job was ended, or its device has gone).
 */
enum uet_ib_job_import_attrs {
	UET_IB_ATTR_JOB_IMPORT_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_ATTR_JOB_IMPORT_FD,
	UET_IB_ATTR_JOB_IMPORT_RESP,
};

/**
 * enum uet_ib_job_addr_insert_attrs - UET_IB_METHOD_JOB_ADDR_INSERT
 * @UET_IB_ATTR_JOB_ADDR_INSERT_HANDLE: job
 * @UET_IB_ATTR_JOB_ADDR_INSERT_ENTRIES: in, array of struct uet_job_addr, 1 to
 *	UET_JOB_ADDR_MAX of them; an index may come once only. What was there
 *	is replaced
 *
 * Errors: EPERM (the handle lacks UET_RIGHT_ADDR), EINVAL (index outside the
 * table or twice, GID index without a GID, GIDs of two families, QP number
 * wider than 24 bits), EIO (the job was ended).
 */
enum uet_ib_job_addr_insert_attrs {
	UET_IB_ATTR_JOB_ADDR_INSERT_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_ATTR_JOB_ADDR_INSERT_ENTRIES,
};

/**
 * enum uet_ib_job_addr_remove_attrs - UET_IB_METHOD_JOB_ADDR_REMOVE
 * @UET_IB_ATTR_JOB_ADDR_REMOVE_HANDLE: job
 * @UET_IB_ATTR_JOB_ADDR_REMOVE_FIRST: in, u32: first index
 * @UET_IB_ATTR_JOB_ADDR_REMOVE_COUNT: in, u32: indices, at least 1
 *
 * Errors: EPERM (the handle lacks UET_RIGHT_ADDR), EINVAL (range outside the
 * table), ENOENT (an entry of the range is empty).
 */
enum uet_ib_job_addr_remove_attrs {
	UET_IB_ATTR_JOB_ADDR_REMOVE_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_ATTR_JOB_ADDR_REMOVE_FIRST,
	UET_IB_ATTR_JOB_ADDR_REMOVE_COUNT,
};

/**
 * enum uet_ib_job_addr_query_attrs - UET_IB_METHOD_JOB_ADDR_QUERY
 * @UET_IB_ATTR_JOB_ADDR_QUERY_HANDLE: job
 * @UET_IB_ATTR_JOB_ADDR_QUERY_FIRST: in, u32: index to begin with
 * @UET_IB_ATTR_JOB_ADDR_QUERY_ENTRIES: out, array of struct uet_job_addr with
 *	room for 1 to UET_JOB_ADDR_MAX: the entries in use from there on, by
 *	rising index
 * @UET_IB_ATTR_JOB_ADDR_QUERY_COUNT: out, u32: how many were filled in; fewer
 *	than there is room for means that the table ends
 *
 * Errors: EINVAL (index outside the table).
 */
enum uet_ib_job_addr_query_attrs {
	UET_IB_ATTR_JOB_ADDR_QUERY_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_ATTR_JOB_ADDR_QUERY_FIRST,
	UET_IB_ATTR_JOB_ADDR_QUERY_ENTRIES,
	UET_IB_ATTR_JOB_ADDR_QUERY_COUNT,
};

/**
 * enum uet_ib_skey_methods - methods of UET_IB_OBJECT_SKEY
 * @UET_IB_METHOD_SKEY_ALLOC: create a security key (privileged), or with
 *	UET_SKEY_ALLOC_OPEN open one by its id as owner
 * @UET_IB_METHOD_SKEY_DEALLOC: let go of it. Jobs that refer to it and other
 *	holders keep it
 * @UET_IB_METHOD_SKEY_QUERY: all but the key material
 * @UET_IB_METHOD_SKEY_EXPORT: a file descriptor that holds it
 * @UET_IB_METHOD_SKEY_IMPORT: a handle from such a file descriptor
 * @UET_IB_METHOD_SKEY_REKEY: one step of changing the key
 */
enum uet_ib_skey_methods {
	UET_IB_METHOD_SKEY_ALLOC = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_METHOD_SKEY_DEALLOC,
	UET_IB_METHOD_SKEY_QUERY,
	UET_IB_METHOD_SKEY_EXPORT,
	UET_IB_METHOD_SKEY_IMPORT,
	UET_IB_METHOD_SKEY_REKEY,
};

/**
 * enum uet_ib_skey_alloc_attrs - UET_IB_METHOD_SKEY_ALLOC
 * @UET_IB_ATTR_SKEY_ALLOC_HANDLE: new handle
 * @UET_IB_ATTR_SKEY_ALLOC_ATTR: in, struct uet_skey_attr
 * @UET_IB_ATTR_SKEY_ALLOC_KEY: in: key material, UET_SKEY_BYTES; mandatory to
 *	create, not allowed to open. The kernel wipes its copies
 * @UET_IB_ATTR_SKEY_ALLOC_RESP: out, struct uet_skey_attr
 *
 * Errors: EPERM (as UET_IB_METHOD_JOB_ALLOC), EINVAL (id, SDI or association
 * number out of range), EKEYREJECTED (material of a wrong length, or all
 * zero), EOPNOTSUPP (algorithm or mode), EEXIST (the id is in use), ENOENT
 * (open: no such key), ENOSPC.
 */
enum uet_ib_skey_alloc_attrs {
	UET_IB_ATTR_SKEY_ALLOC_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_ATTR_SKEY_ALLOC_ATTR,
	UET_IB_ATTR_SKEY_ALLOC_KEY,
	UET_IB_ATTR_SKEY_ALLOC_RESP,
};

enum uet_ib_skey_dealloc_attrs {
	UET_IB_ATTR_SKEY_DEALLOC_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
};

/**
 * enum uet_ib_skey_query_attrs - UET_IB_METHOD_SKEY_QUERY
 * @UET_IB_ATTR_SKEY_QUERY_HANDLE: security key
 * @UET_IB_ATTR_SKEY_QUERY_RESP: out, struct uet_skey_attr
 */
enum uet_ib_skey_query_attrs {
	UET_IB_ATTR_SKEY_QUERY_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_ATTR_SKEY_QUERY_RESP,
};

/* As enum uet_ib_job_export_attrs. */
enum uet_ib_skey_export_attrs {
	UET_IB_ATTR_SKEY_EXPORT_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_ATTR_SKEY_EXPORT_RIGHTS,
	UET_IB_ATTR_SKEY_EXPORT_FD,
};

/* As enum uet_ib_job_import_attrs; the answer is a struct uet_skey_attr. */
enum uet_ib_skey_import_attrs {
	UET_IB_ATTR_SKEY_IMPORT_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_ATTR_SKEY_IMPORT_FD,
	UET_IB_ATTR_SKEY_IMPORT_RESP,
};

/**
 * enum uet_ib_skey_rekey_attrs - UET_IB_METHOD_SKEY_REKEY
 * @UET_IB_ATTR_SKEY_REKEY_HANDLE: security key
 * @UET_IB_ATTR_SKEY_REKEY_OP: in, u32: enum uet_skey_rekey_op
 * @UET_IB_ATTR_SKEY_REKEY_KEY: in: new material, with UET_SKEY_REKEY_INSTALL
 *	only
 *
 * Errors: EPERM (the handle lacks UET_RIGHT_REKEY), EBUSY (install: the other
 * association number has a key), ENOKEY (switch, retire: it has none),
 * EKEYREJECTED (as UET_IB_METHOD_SKEY_ALLOC).
 */
enum uet_ib_skey_rekey_attrs {
	UET_IB_ATTR_SKEY_REKEY_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_ATTR_SKEY_REKEY_OP,
	UET_IB_ATTR_SKEY_REKEY_KEY,
};

enum uet_ib_jkey_methods {
	UET_IB_METHOD_JKEY_CREATE = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_METHOD_JKEY_DESTROY,
};

/**
 * enum uet_ib_jkey_create_attrs - UET_IB_METHOD_JKEY_CREATE
 * @UET_IB_ATTR_JKEY_CREATE_HANDLE: new handle
 * @UET_IB_ATTR_JKEY_CREATE_PD: protection domain
 * @UET_IB_ATTR_JKEY_CREATE_JOB: job; the handle must have UET_RIGHT_USE
 * @UET_IB_ATTR_JKEY_CREATE_RESP: out, u32: value of the key, never 0
 *
 * Errors: EPERM (no UET_RIGHT_USE), EEXIST (the domain has a key for this
 * job), ENOSPC (as many as the device allows), EIO (the job was ended).
 */
enum uet_ib_jkey_create_attrs {
	UET_IB_ATTR_JKEY_CREATE_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_ATTR_JKEY_CREATE_PD,
	UET_IB_ATTR_JKEY_CREATE_JOB,
	UET_IB_ATTR_JKEY_CREATE_RESP,
};

/* EBUSY while a QP or a memory region uses the key. */
enum uet_ib_jkey_destroy_attrs {
	UET_IB_ATTR_JKEY_DESTROY_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
};

/* Methods of ours on UVERBS_OBJECT_DEVICE. */
enum uet_ib_device_methods {
	UET_IB_METHOD_DEVICE_QUERY_SEMANTICS = (1U << UVERBS_ID_NS_SHIFT),
};

/**
 * enum uet_ib_device_query_semantics_attrs - query of semantics
 * @UET_IB_ATTR_QUERY_SEMANTICS_QP_TYPE: in, u32: enum uet_qp_type; EOPNOTSUPP
 *	unless UET_QPT_RU
 * @UET_IB_ATTR_QUERY_SEMANTICS_PORT: in, u32: 1, else EINVAL
 * @UET_IB_ATTR_QUERY_SEMANTICS_SGID_INDEX: in, u32: EINVAL without a GID there
 * @UET_IB_ATTR_QUERY_SEMANTICS_RESP: out, struct uet_semantics: the most that
 *	a QP may ask for
 */
enum uet_ib_device_query_semantics_attrs {
	UET_IB_ATTR_QUERY_SEMANTICS_QP_TYPE = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_ATTR_QUERY_SEMANTICS_PORT,
	UET_IB_ATTR_QUERY_SEMANTICS_SGID_INDEX,
	UET_IB_ATTR_QUERY_SEMANTICS_RESP,
};

/**
 * enum uet_ib_qp_methods - methods of ours on UVERBS_OBJECT_QP
 * @UET_IB_METHOD_QP_ATTACH_MR: let peers reach a QP-restricted region by this
 *	QP
 * @UET_IB_METHOD_QP_DETACH_MR: and no more. Requests that arrive after it has
 *	returned are refused; data of a READ accepted before may be on its way
 */
enum uet_ib_qp_methods {
	UET_IB_METHOD_QP_ATTACH_MR = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_METHOD_QP_DETACH_MR,
};

/**
 * enum uet_ib_qp_attach_mr_attrs - attach and detach
 * @UET_IB_ATTR_QP_ATTACH_MR_QP: QP
 * @UET_IB_ATTR_QP_ATTACH_MR_MR: region of an access class that names a QP
 *
 * Errors: EINVAL (not RU; another protection domain; region without
 * UET_MR_QP_RESTRICTED; detach: not attached to this QP), EBUSY (attached
 * already), EEXIST (the QP has a region with this key for the same job).
 */
enum uet_ib_qp_attach_mr_attrs {
	UET_IB_ATTR_QP_ATTACH_MR_QP = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_ATTR_QP_ATTACH_MR_MR,
};

/**
 * enum uet_ib_reg_dmabuf_mr_attrs - of ours in UVERBS_METHOD_REG_DMABUF_MR
 * @UET_IB_ATTR_REG_DMABUF_MR_REQ: in, optional: struct uet_reg_mr_req
 * @UET_IB_ATTR_REG_DMABUF_MR_RESP: out, optional: struct uet_reg_mr_resp
 */
enum uet_ib_reg_dmabuf_mr_attrs {
	UET_IB_ATTR_REG_DMABUF_MR_REQ = (1U << UVERBS_ID_NS_SHIFT),
	UET_IB_ATTR_REG_DMABUF_MR_RESP,
};

#endif /* UET_USER_IOCTL_CMDS_H */
