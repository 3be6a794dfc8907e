/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Direct verbs of the uet provider: what Ultra Ethernet has and verbs do not
 * name. Link with -luet -libverbs.
 */
#ifndef UETDV_H
#define UETDV_H

#include <stdint.h>

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum uetdv_qp_driver_type - what an IBV_QPT_DRIVER QP is
 * @UETDV_QP_DRIVER_TYPE_RU: reliable unconnected: each work request names its
 *	peer, as with UD, and SEND, WRITE, READ and atomics are there. Messages
 *	arrive in any order
 */
enum uetdv_qp_driver_type {
	UETDV_QP_DRIVER_TYPE_RU = 1,
};

/**
 * enum uetdv_addressing - what the wire pair of an RU QP is relative to
 * @UETDV_ADDR_RELATIVE: its job: the QP talks to its own job only
 * @UETDV_ADDR_ABSOLUTE: the device: the QP talks to every job that its
 *	protection domain has a job key for, and to senders without a job
 */
enum uetdv_addressing {
	UETDV_ADDR_RELATIVE = 1,
	UETDV_ADDR_ABSOLUTE = 2,
};

/**
 * enum uetdv_msg_order - pairs of operations that a QP keeps in order
 *
 * First the later operation, then the earlier one that it comes after: reads
 * (R), writes (W), atomics of the two kinds, sends (S).
 */
enum uetdv_msg_order {
	UETDV_ORDER_ATOMIC_RAR = 1 << 0,
	UETDV_ORDER_ATOMIC_RAW = 1 << 1,
	UETDV_ORDER_ATOMIC_WAR = 1 << 2,
	UETDV_ORDER_ATOMIC_WAW = 1 << 3,
	UETDV_ORDER_RDMA_RAR = 1 << 4,
	UETDV_ORDER_RDMA_RAW = 1 << 5,
	UETDV_ORDER_RDMA_WAR = 1 << 6,
	UETDV_ORDER_RDMA_WAW = 1 << 7,
	UETDV_ORDER_RAS = 1 << 8,
	UETDV_ORDER_SAR = 1 << 9,
	UETDV_ORDER_SAS = 1 << 10,
	UETDV_ORDER_SAW = 1 << 11,
	UETDV_ORDER_WAS = 1 << 12,
	UETDV_ORDER_RAR = 1 << 13,
	UETDV_ORDER_RAW = 1 << 14,
	UETDV_ORDER_WAR = 1 << 15,
	UETDV_ORDER_WAW = 1 << 16,
};

/**
 * enum uetdv_qp_usage - other things a QP can do
 * @UETDV_QP_USAGE_IMM_DATA_RQ: a write with immediate uses a receive buffer
 * @UETDV_QP_USAGE_ATTACH_MR: memory regions can be attached to the QP
 */
enum uetdv_qp_usage {
	UETDV_QP_USAGE_IMM_DATA_RQ = 1 << 0,
	UETDV_QP_USAGE_ATTACH_MR = 1 << 1,
};

/**
 * struct uetdv_qp_semantics - what a QP guarantees, or is asked to
 * @comp_mask: 0
 * @msg_order: enum uetdv_msg_order
 * @max_rdma_raw_size: bytes up to which a read sees an earlier write
 * @max_rdma_war_size: bytes up to which a write comes after an earlier read
 * @max_rdma_waw_size: bytes up to which writes come in order
 * @max_pdu: payload of a full packet, bytes
 * @imm_data_size: bits of immediate data, 32 or 64
 * @usage_flags: enum uetdv_qp_usage
 *
 * In a request 0 means "no matter". In an answer it means "not given".
 */
struct uetdv_qp_semantics {
	uint64_t comp_mask;
	uint32_t msg_order;
	uint32_t max_rdma_raw_size;
	uint32_t max_rdma_war_size;
	uint32_t max_rdma_waw_size;
	uint32_t max_pdu;
	uint32_t imm_data_size;
	uint32_t usage_flags;
	uint32_t reserved;
};

/**
 * enum uetdv_qp_init_attr_mask - bits of uetdv_qp_init_attr.comp_mask
 * @UETDV_QP_INIT_ATTR_ADDRESSING: @addressing and @jkey. Without it: absolute,
 *	no job
 * @UETDV_QP_INIT_ATTR_PID_ON_FEP: @pid_on_fep is chosen by the caller
 * @UETDV_QP_INIT_ATTR_RI: @ri is chosen by the caller
 * @UETDV_QP_INIT_ATTR_SRC_ID: @src_id
 * @UETDV_QP_INIT_ATTR_SEMANTICS: @semantics
 * @UETDV_QP_INIT_ATTR_SEND_OPS: @send_ops
 */
enum uetdv_qp_init_attr_mask {
	UETDV_QP_INIT_ATTR_ADDRESSING = 1 << 0,
	UETDV_QP_INIT_ATTR_PID_ON_FEP = 1 << 1,
	UETDV_QP_INIT_ATTR_RI = 1 << 2,
	UETDV_QP_INIT_ATTR_SRC_ID = 1 << 3,
	UETDV_QP_INIT_ATTR_SEMANTICS = 1 << 4,
	UETDV_QP_INIT_ATTR_SEND_OPS = 1 << 5,
};

/**
 * enum uetdv_send_ops - operations of struct uetdv_qp_ex, beside verbs' own
 *
 * To ask for the setters as well: UETDV_QP_EX_WITH_RU.
 */
enum uetdv_send_ops {
	UETDV_QP_EX_WITH_RU = 1 << 0,
	UETDV_QP_EX_WITH_SEND_IMM64 = 1 << 1,
	UETDV_QP_EX_WITH_RDMA_READ64 = 1 << 2,
	UETDV_QP_EX_WITH_RDMA_WRITE64 = 1 << 3,
	UETDV_QP_EX_WITH_RDMA_WRITE64_IMM = 1 << 4,
	UETDV_QP_EX_WITH_RDMA_WRITE64_IMM64 = 1 << 5,
	UETDV_QP_EX_WITH_ATOMIC64 = 1 << 6,
};

struct uetdv_job;
struct uetdv_skey;
struct uetdv_jkey;

/**
 * struct uetdv_qp_init_attr - what uetdv_create_qp() needs beside verbs' own
 * @comp_mask: enum uetdv_qp_init_attr_mask
 * @driver_qp_type: enum uetdv_qp_driver_type
 * @reserved: 0
 * @addressing: enum uetdv_addressing
 * @pid_on_fep: 0 to 4095
 * @ri: resource index, 1 to 4095
 * @jkey: job of the QP; must be there with relative addressing, may be NULL
 *	with absolute
 * @src_id: what receivers see as source id; else the QP number
 * @send_ops: enum uetdv_send_ops
 * @semantics: asked for
 */
struct uetdv_qp_init_attr {
	uint64_t comp_mask;
	uint32_t driver_qp_type;
	uint32_t reserved;
	uint32_t addressing;
	uint16_t pid_on_fep;
	uint16_t ri;
	struct uetdv_jkey *jkey;
	uint32_t src_id;
	uint32_t send_ops;
	struct uetdv_qp_semantics semantics;
};

/**
 * uetdv_create_qp - create a QP of a type that only UET has
 * @context: a uet device
 * @attr_ex: as for ibv_create_qp_ex(); qp_type must be IBV_QPT_DRIVER. The
 *	capabilities granted come back in it
 * @uet_attr: the type and what belongs to it
 * @inlen: sizeof(*uet_attr), or what it was in an older version of this header
 *	(16 bytes at least)
 *
 * The QP is ready to receive and to send when the call returns. Its qp_num is
 * the wire pair, by which peers address it.
 *
 * Return: the QP, to be destroyed with ibv_destroy_qp(), or NULL with errno:
 * EOPNOTSUPP (no uet device, a type, operation or semantics it does not have),
 * EINVAL (also: relative without job key, key of another PD), EBUSY (wire pair
 * in use), EPERM (absolute pair chosen without CAP_NET_RAW), ENOMEM, or what
 * the kernel said.
 */
struct ibv_qp *uetdv_create_qp(struct ibv_context *context,
			       struct ibv_qp_init_attr_ex *attr_ex,
			       struct uetdv_qp_init_attr *uet_attr,
			       uint32_t inlen);

/**
 * uetdv_qp_wire_qpn - the number by which peers address a QP
 * @qp: any QP of a uet device
 * @wire_qpn: 24 bits: resource index in 23:12, PIDonFEP in 11:0
 *
 * Return: 0, or EOPNOTSUPP if @qp is of another provider.
 */
int uetdv_qp_wire_qpn(struct ibv_qp *qp, uint32_t *wire_qpn);

/**
 * enum uetdv_device_caps - capabilities of a uet device
 * @UETDV_DEVICE_CAP_RU: reliable-unconnected QPs can be created
 * @UETDV_DEVICE_CAP_JOB: jobs, security keys, job keys, relative addressing
 * @UETDV_DEVICE_CAP_USER_RKEY: uetdv_reg_mr() with all its attributes
 * @UETDV_DEVICE_CAP_RU_ATOMIC: atomics on reliable-unconnected QPs
 */
enum uetdv_device_caps {
	UETDV_DEVICE_CAP_RU = 1 << 0,
	UETDV_DEVICE_CAP_JOB = 1 << 1,
	UETDV_DEVICE_CAP_USER_RKEY = 1 << 2,
	UETDV_DEVICE_CAP_RU_ATOMIC = 1 << 3,
};

/**
 * struct uetdv_device_attr - answer of uetdv_query_device()
 * @comp_mask: enum uetdv_device_attr_mask
 * @device_caps: enum uetdv_device_caps
 * @max_inline: largest inline payload of a send, bytes
 * @max_sge: most scatter/gather entries of a work request
 * @reserved: 0
 * @max_job_ids: most jobs
 * @max_skeys: most security keys
 * @max_job_keys: most job keys
 * @max_addr_entries: most entries of a job's address table
 *
 * The first 24 bytes are what an older version of this header has.
 */
struct uetdv_device_attr {
	uint64_t comp_mask;
	uint32_t device_caps;
	uint32_t max_inline;
	uint32_t max_sge;
	uint32_t reserved;
	uint32_t max_job_ids;
	uint32_t max_skeys;
	uint32_t max_job_keys;
	uint32_t max_addr_entries;
};

/**
 * enum uetdv_device_attr_mask - bits of uetdv_device_attr.comp_mask
 * @UETDV_DEVICE_ATTR_JOB: @max_job_ids to @max_addr_entries
 */
enum uetdv_device_attr_mask {
	UETDV_DEVICE_ATTR_JOB = 1 << 0,
};

/**
 * uetdv_query_device - what a uet device can do
 * @context: the device
 * @attr: filled in
 * @inlen: sizeof(*attr)
 *
 * Return: 0, EOPNOTSUPP if it is no uet device, EINVAL.
 */
int uetdv_query_device(struct ibv_context *context,
		       struct uetdv_device_attr *attr, uint32_t inlen);

/**
 * uetdv_query_qp - what an RU QP was given
 * @qp: RU QP
 * @attr: filled in: addressing, numbers, source id, semantics granted; jkey as
 *	it was given
 * @inlen: sizeof(*attr)
 *
 * Return: 0, EOPNOTSUPP (not a RU QP), EINVAL.
 */
int uetdv_query_qp(struct ibv_qp *qp, struct uetdv_qp_init_attr *attr,
		   uint32_t inlen);

/**
 * uetdv_query_qp_semantics - the most that a QP may ask for
 * @context: device
 * @driver_qp_type: enum uetdv_qp_driver_type
 * @port_num: 1
 * @sgid_index: address that the QP would use
 * @semantics: filled in
 * @inlen: sizeof(*semantics)
 *
 * Return: 0, EOPNOTSUPP (no uet device, type unknown), EINVAL.
 */
int uetdv_query_qp_semantics(struct ibv_context *context,
			     uint32_t driver_qp_type, uint8_t port_num,
			     uint32_t sgid_index,
			     struct uetdv_qp_semantics *semantics,
			     uint32_t inlen);

/* ------------------------------------------------------------------ */
/* Jobs                                                                */

/**
 * enum uetdv_rights - what a handle lets its holder do
 * @UETDV_RIGHT_USE: make job keys; refer to a security key from a job
 * @UETDV_RIGHT_ADDR: change the address table of a job
 * @UETDV_RIGHT_EXPORT: export, with these rights or fewer
 * @UETDV_RIGHT_REKEY: change a security key
 */
enum uetdv_rights {
	UETDV_RIGHT_USE = 1 << 0,
	UETDV_RIGHT_ADDR = 1 << 1,
	UETDV_RIGHT_EXPORT = 1 << 2,
	UETDV_RIGHT_REKEY = 1 << 3,
};

/**
 * enum uetdv_job_attr_mask - bits of uetdv_job_attr.comp_mask
 *
 * UETDV_JOB_ATTR_ID must be there. What is not there is 0 or none; the port
 * is 1.
 */
enum uetdv_job_attr_mask {
	UETDV_JOB_ATTR_FLAGS = 1 << 0,
	UETDV_JOB_ATTR_ID = 1 << 1,
	UETDV_JOB_ATTR_MAX_ADDR_ENTRIES = 1 << 2,
	UETDV_JOB_ATTR_PORT_NUM = 1 << 3,
	UETDV_JOB_ATTR_SGID_INDEX = 1 << 4,
	UETDV_JOB_ATTR_OWNER = 1 << 5,
	UETDV_JOB_ATTR_SKEY = 1 << 6,
	UETDV_JOB_ATTR_MAX_JOB_KEYS = 1 << 7,
};

/* Bits of uetdv_job_attr.flags, of a query. */
enum uetdv_job_flags {
	UETDV_JOB_PERSISTENT = 1 << 1,	/* lives until uet(8) deletes it */
	UETDV_JOB_DEAD = 1 << 2,	/* the administrator ended it */
};

#define UETDV_OWNER_NONE	0xffffffffU

/**
 * struct uetdv_job_attr - a job
 * @comp_mask: enum uetdv_job_attr_mask
 * @flags: 0 to allocate; enum uetdv_job_flags
 * @id: JobID, 24 bits, not 0
 * @max_addr_entries: size of the address table
 * @port_num: 1
 * @sgid_index: address of the job
 * @uid: owner, or UETDV_OWNER_NONE
 * @gid: owning group, or UETDV_OWNER_NONE
 * @skey: security key of the job; NULL in answers
 * @max_job_keys: 0: no limit but the device's
 * @rights: answers: enum uetdv_rights of the handle
 * @num_addr_entries: answers: entries in use
 * @skey_id: answers: id of the security key, 0 for none
 */
struct uetdv_job_attr {
	uint64_t comp_mask;
	uint32_t flags;
	uint32_t id;
	uint32_t max_addr_entries;
	uint8_t port_num;
	uint8_t reserved;
	uint16_t sgid_index;
	uint32_t uid;
	uint32_t gid;
	struct uetdv_skey *skey;
	uint32_t max_job_keys;
	uint32_t rights;
	uint32_t num_addr_entries;
	uint32_t skey_id;
};

/**
 * struct uetdv_job - handle of a process on a job
 * @context: device
 * @user_context: of uetdv_alloc_job(), for the application
 * @id: JobID
 */
struct uetdv_job {
	struct ibv_context *context;
	void *user_context;
	uint32_t id;
};

/**
 * uetdv_alloc_job - create a job
 * @context: device
 * @attr: what job; unknown bits of comp_mask are refused
 * @user_context: for uetdv_job.user_context
 *
 * Needs CAP_NET_ADMIN over the network namespace of the device.
 *
 * Return: the job, or NULL with errno: EPERM, EINVAL, EEXIST (the id is in use
 * on this device), ENOSPC, ENOMEM, EOPNOTSUPP (no uet device, or its kernel
 * has no jobs).
 */
struct uetdv_job *uetdv_alloc_job(struct ibv_context *context,
				  struct uetdv_job_attr *attr,
				  void *user_context);

/**
 * uetdv_open_job - use a job that this user or group owns
 * @context: device
 * @id: JobID
 * @user_context: for uetdv_job.user_context
 *
 * Return: the job, or NULL with errno: EPERM (not the owner), ENOENT, EINVAL,
 * EIO (ended), ENOMEM, EOPNOTSUPP.
 */
struct uetdv_job *uetdv_open_job(struct ibv_context *context, uint32_t id,
				 void *user_context);

/* Lets go of the handle. Return: 0; EBUSY while job keys were made by it. */
int uetdv_dealloc_job(struct uetdv_job *job);

/* All bits of comp_mask are set in the answer. Return: 0 or errno. */
int uetdv_query_job(struct uetdv_job *job, struct uetdv_job_attr *attr);

/**
 * uetdv_export_job - a file descriptor that holds the job
 * @job: job
 * @rights: enum uetdv_rights that go with it
 * @fd: set; close-on-exec. To be passed on with SCM_RIGHTS
 *
 * Return: 0, EPERM (the handle has no right to export, or not these to give),
 * EINVAL (a right that there is not), EMFILE, ENOMEM, EIO.
 */
int uetdv_export_job(struct uetdv_job *job, uint32_t rights, int *fd);

/**
 * uetdv_import_job - a handle from a file descriptor
 * @context: device that the job is of
 * @fd: of uetdv_export_job(); stays open
 * @job: set
 *
 * Return: 0, EBADF, EINVAL (not of a job), EXDEV (of another device), EPERM
 * (another network namespace), EIO (ended), ENOMEM, EOPNOTSUPP.
 */
int uetdv_import_job(struct ibv_context *context, int fd,
		     struct uetdv_job **job);

/**
 * struct uetdv_ah_attr_ex - address of an endpoint
 * @ah_attr: is_global must be set; the GID is a RoCE v2 one
 * @remote_qpn: wire pair of the endpoint
 */
struct uetdv_ah_attr_ex {
	struct ibv_ah_attr ah_attr;
	uint32_t remote_qpn;
};

/**
 * uetdv_insert_addr - set an entry of a job's address table
 * @job: job; the handle must have UETDV_RIGHT_ADDR
 * @attr: address
 * @addr_idx: entry, the rank of the peer; what was there is replaced
 * @flags: 0
 *
 * Every holder of the job sees it. Requests started before keep the address
 * they had.
 *
 * Return: 0, EINVAL, EPERM, ENOMEM, EIO.
 */
int uetdv_insert_addr(struct uetdv_job *job,
		      const struct uetdv_ah_attr_ex *attr, uint32_t addr_idx,
		      uint32_t flags);

/*
 * The same for entries @first to @first + @count - 1. Of more than 2047 some may
 * have been set when it fails: the first ones, in full calls of 2047.
 */
int uetdv_insert_addrs(struct uetdv_job *job,
		       const struct uetdv_ah_attr_ex *attr, uint32_t first,
		       uint32_t count, uint32_t flags);

/* Return: 0, EINVAL, ENOENT (empty), EPERM, EIO. */
int uetdv_remove_addr(struct uetdv_job *job, uint32_t addr_idx, uint32_t flags);
int uetdv_remove_addrs(struct uetdv_job *job, uint32_t first, uint32_t count,
		       uint32_t flags);

/* Return: 0, EINVAL, ENOENT (empty), EIO. */
int uetdv_query_addr(struct uetdv_job *job, uint32_t addr_idx,
		     struct uetdv_ah_attr_ex *attr, uint32_t flags);

/**
 * uetdv_query_addrs - entries in use
 * @job: job
 * @first: index to begin with
 * @attr: room for @count
 * @addr_idx: the same: which entries they are
 * @count: room; set to how many there are. Fewer: the table ends
 * @flags: 0
 *
 * Return: 0, EINVAL, EIO.
 */
int uetdv_query_addrs(struct uetdv_job *job, uint32_t first,
		      struct uetdv_ah_attr_ex *attr, uint32_t *addr_idx,
		      uint32_t *count, uint32_t flags);

/* ------------------------------------------------------------------ */
/* Job keys                                                            */

/**
 * struct uetdv_jkey - what a protection domain needs to work in a job
 * @pd: protection domain
 * @job: job
 * @jkey: value for work requests
 */
struct uetdv_jkey {
	struct ibv_pd *pd;
	struct uetdv_job *job;
	uint32_t jkey;
};

/**
 * uetdv_create_jkey - let a protection domain work in a job
 * @pd: protection domain, or a parent domain
 * @job: handle with UETDV_RIGHT_USE, of the same context
 * @flags: 0
 *
 * Return: the key, or NULL with errno: EPERM, EINVAL, EEXIST (the domain has a
 * key for the job), ENOSPC, EIO, ENOMEM.
 */
struct uetdv_jkey *uetdv_create_jkey(struct ibv_pd *pd, struct uetdv_job *job,
				     uint32_t flags);

/* Return: 0; EBUSY while a QP or a memory region uses it. */
int uetdv_destroy_jkey(struct uetdv_jkey *jkey);

/* ------------------------------------------------------------------ */
/* Security keys                                                       */

#define UETDV_SKEY_BYTES	32

enum uetdv_skey_alg {
	UETDV_SKEY_AES_256_GCM = 1,
};

enum uetdv_skey_mode {
	UETDV_SKEY_DIRECT = 0,
	UETDV_SKEY_CLUSTER = 1,
	UETDV_SKEY_SERVER = 2,
	UETDV_SKEY_CLIENT = 3,
};

/* Bits of uetdv_skey_attr.comp_mask; ALG must be there. */
enum uetdv_skey_attr_mask {
	UETDV_SKEY_ATTR_ALG = 1 << 0,	/* @alg, @mode, @sdi, @an */
	UETDV_SKEY_ATTR_ID = 1 << 1,
	UETDV_SKEY_ATTR_SSI = 1 << 2,
	UETDV_SKEY_ATTR_OWNER = 1 << 3,
};

/**
 * struct uetdv_skey_attr - a security key, without its material
 * @comp_mask: enum uetdv_skey_attr_mask
 * @flags: 0; answers: as enum uetdv_job_flags
 * @id: name on the device; else assigned
 * @sdi: secure domain id, 24 bits
 * @ssi: source id
 * @alg: enum uetdv_skey_alg
 * @mode: enum uetdv_skey_mode
 * @an: association number to send with, 0 or 1
 * @an_valid: answers: a bit per association number that has material
 * @uid: owner
 * @gid: owning group
 * @rights: answers: enum uetdv_rights of the handle
 * @num_jobs: answers: jobs that refer to it
 */
struct uetdv_skey_attr {
	uint64_t comp_mask;
	uint32_t flags;
	uint32_t id;
	uint32_t sdi;
	uint32_t ssi;
	uint8_t alg;
	uint8_t mode;
	uint8_t an;
	uint8_t an_valid;
	uint32_t uid;
	uint32_t gid;
	uint32_t rights;
	uint32_t num_jobs;
	uint32_t reserved;
};

/**
 * struct uetdv_skey - handle of a process on a security key
 * @context: device
 * @id: name on the device
 */
struct uetdv_skey {
	struct ibv_context *context;
	uint32_t id;
};

/**
 * uetdv_alloc_skey - create a security key
 * @context: device
 * @attr: what kind
 * @key: material; the library keeps no copy and nothing gives it back
 * @key_len: UETDV_SKEY_BYTES
 *
 * Needs CAP_NET_ADMIN over the network namespace of the device.
 *
 * Return: the key, or NULL with errno: EPERM, EINVAL, EKEYREJECTED, EEXIST,
 * EOPNOTSUPP, ENOSPC, ENOMEM.
 */
struct uetdv_skey *uetdv_alloc_skey(struct ibv_context *context,
				    const struct uetdv_skey_attr *attr,
				    const void *key, size_t key_len);

/* As uetdv_open_job(). */
struct uetdv_skey *uetdv_open_skey(struct ibv_context *context, uint32_t id);
int uetdv_dealloc_skey(struct uetdv_skey *skey);
int uetdv_query_skey(struct uetdv_skey *skey, struct uetdv_skey_attr *attr);
/* As uetdv_export_job() and uetdv_import_job(). */
int uetdv_export_skey(struct uetdv_skey *skey, uint32_t rights, int *fd);
int uetdv_import_skey(struct ibv_context *context, int fd,
		      struct uetdv_skey **skey);

/* Steps of uetdv_rekey_skey(). */
enum uetdv_rekey_op {
	UETDV_REKEY_INSTALL = 0,	/* give the other AN a key, for receiving */
	UETDV_REKEY_SWITCH = 1,		/* send with the other AN */
	UETDV_REKEY_RETIRE = 2,		/* wipe the key that is not sent with */
};

/**
 * uetdv_rekey_skey - one step of changing the key without a gap
 * @skey: handle with UETDV_RIGHT_REKEY
 * @op: enum uetdv_rekey_op
 * @key: with UETDV_REKEY_INSTALL: new material, else NULL
 * @key_len: UETDV_SKEY_BYTES, else 0
 *
 * Return: 0, EPERM, EINVAL, EBUSY, ENOKEY, EKEYREJECTED, EIO.
 */
int uetdv_rekey_skey(struct uetdv_skey *skey, uint32_t op, const void *key,
		     size_t key_len);

/* ------------------------------------------------------------------ */
/* Memory regions                                                      */

/* Bits of uetdv_reg_mr_attr.comp_mask. */
enum uetdv_reg_mr_mask {
	UETDV_REG_MR_MASK_FD = 1 << 0,		/* a dma-buf */
	UETDV_REG_MR_MASK_IOVA = 1 << 1,
	UETDV_REG_MR_MASK_JKEY = 1 << 2,
	UETDV_REG_MR_MASK_RKEY = 1 << 3,
	UETDV_REG_MR_MASK_CUR_MR = 1 << 4,
	UETDV_REG_MR_MASK_FLAGS = 1 << 5,
};

/**
 * enum uetdv_reg_mr_flags - bits of uetdv_reg_mr_attr.flags
 * @UETDV_REG_MR_QP_RESTRICTED: reachable only by the QP that the region is
 *	attached to
 * @UETDV_REG_MR_IDEMPOTENT_SAFE: peers may do the same twice; wants a chosen
 *	rkey
 */
enum uetdv_reg_mr_flags {
	UETDV_REG_MR_QP_RESTRICTED = 1 << 0,
	UETDV_REG_MR_IDEMPOTENT_SAFE = 1 << 1,
};

/**
 * struct uetdv_reg_mr_attr - a memory region
 * @comp_mask: enum uetdv_reg_mr_mask
 * @addr: first byte; as @cur_mr names it if that is given
 * @length: bytes
 * @iova: address that names the first byte; if it is not given, @addr, or
 *	@fd_offset of a dma-buf. With IBV_ACCESS_ZERO_BASED peers name it 0
 * @fd: dma-buf; @addr is not used, @fd_offset is
 * @fd_offset: first byte in the dma-buf
 * @access: enum ibv_access_flags
 * @flags: enum uetdv_reg_mr_flags
 * @jkey: the region is for this job only
 * @rkey: remote key, 48 bits
 * @cur_mr: the region is a part of this one, which cannot be deregistered
 *	before
 */
struct uetdv_reg_mr_attr {
	uint64_t comp_mask;
	void *addr;
	size_t length;
	uint64_t iova;
	int fd;
	int access;
	uint64_t fd_offset;
	uint32_t flags;
	uint32_t reserved;
	struct uetdv_jkey *jkey;
	uint64_t rkey;
	struct ibv_mr *cur_mr;
};

/**
 * uetdv_reg_mr - register memory, with what UET adds
 * @pd: protection domain
 * @attr: what and for whom
 * @inlen: sizeof(*attr)
 *
 * Return: the region, to be deregistered with ibv_dereg_mr(), or NULL with
 * errno: EOPNOTSUPP (also: unknown bits, @cur_mr is on demand), EINVAL, EACCES
 * (more rights than the parent has), EEXIST (the rkey is in use in this scope),
 * ENOSPC (4096 regions of @pd have it), ENOMEM, or what the kernel said.
 */
struct ibv_mr *uetdv_reg_mr(struct ibv_pd *pd, struct uetdv_reg_mr_attr *attr,
			    uint32_t inlen);

/*
 * The key by which RU peers address a region of any kind, 64 bits.
 * Return: 0, EOPNOTSUPP if it is of another provider.
 */
int uetdv_mr_rkey64(struct ibv_mr *mr, uint64_t *rkey);

/* Return: 0, EINVAL, EBUSY (attached), EEXIST (key in use there), EOPNOTSUPP. */
int uetdv_attach_mr(struct ibv_qp *qp, struct ibv_mr *mr);
int uetdv_detach_mr(struct ibv_qp *qp, struct ibv_mr *mr);

/* ------------------------------------------------------------------ */
/* Posting                                                             */

/* A flag of ibv_qp_ex.wr_flags on RU: complete when the data is visible. */
#define UETDV_SEND_DELIVERY_COMPLETE	(1U << 5)

/**
 * struct uetdv_qp_ex - operations of an RU QP beside those of struct ibv_qp_ex
 * @comp_mask: 0
 *
 * Called between ibv_wr_start() and ibv_wr_complete() of the same QP; see the
 * functions below. An operation that was not asked for with send_ops is NULL.
 */
struct uetdv_qp_ex {
	uint64_t comp_mask;

	void (*wr_set_ru_addr)(struct uetdv_qp_ex *qp, struct ibv_ah *ah,
			       uint32_t remote_qpn, uint32_t jkey);
	void (*wr_set_job_addr)(struct uetdv_qp_ex *qp, uint32_t addr_idx,
				uint32_t jkey);
	void (*wr_set_jkey)(struct uetdv_qp_ex *qp, uint32_t jkey);
	void (*wr_send_imm64)(struct uetdv_qp_ex *qp, __be64 imm_data);
	void (*wr_rdma_read64)(struct uetdv_qp_ex *qp, uint64_t rkey,
			       uint64_t remote_addr);
	void (*wr_rdma_write64)(struct uetdv_qp_ex *qp, uint64_t rkey,
				uint64_t remote_addr);
	void (*wr_rdma_write64_imm)(struct uetdv_qp_ex *qp, uint64_t rkey,
				    uint64_t remote_addr, __be32 imm_data);
	void (*wr_rdma_write64_imm64)(struct uetdv_qp_ex *qp, uint64_t rkey,
				      uint64_t remote_addr, __be64 imm_data);
	void (*wr_atomic_cmp_swp64)(struct uetdv_qp_ex *qp, uint64_t rkey,
				    uint64_t remote_addr, uint64_t compare,
				    uint64_t swap);
	void (*wr_atomic_fetch_add64)(struct uetdv_qp_ex *qp, uint64_t rkey,
				      uint64_t remote_addr, uint64_t add);
};

/* Return: NULL with errno EOPNOTSUPP for anything but an RU QP with send_ops. */
struct uetdv_qp_ex *uetdv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qp);

/*
 * Where to: an address handle and the wire pair there. @jkey: value of a job
 * key, 0 for the QP's own job, or none if it has none.
 */
static inline void uetdv_wr_set_ru_addr(struct uetdv_qp_ex *qp,
					struct ibv_ah *ah, uint32_t remote_qpn,
					uint32_t jkey)
{
	qp->wr_set_ru_addr(qp, ah, remote_qpn, jkey);
}

/* Where to: an entry of the address table of the job. */
static inline void uetdv_wr_set_job_addr(struct uetdv_qp_ex *qp,
					 uint32_t addr_idx, uint32_t jkey)
{
	qp->wr_set_job_addr(qp, addr_idx, jkey);
}

/* In another job than the call that set the address said. */
static inline void uetdv_wr_set_jkey(struct uetdv_qp_ex *qp, uint32_t jkey)
{
	qp->wr_set_jkey(qp, jkey);
}

static inline void uetdv_wr_send_imm64(struct uetdv_qp_ex *qp, __be64 imm_data)
{
	qp->wr_send_imm64(qp, imm_data);
}

static inline void uetdv_wr_rdma_read64(struct uetdv_qp_ex *qp, uint64_t rkey,
					uint64_t remote_addr)
{
	qp->wr_rdma_read64(qp, rkey, remote_addr);
}

static inline void uetdv_wr_rdma_write64(struct uetdv_qp_ex *qp, uint64_t rkey,
					 uint64_t remote_addr)
{
	qp->wr_rdma_write64(qp, rkey, remote_addr);
}

static inline void uetdv_wr_rdma_write64_imm(struct uetdv_qp_ex *qp,
					     uint64_t rkey,
					     uint64_t remote_addr,
					     __be32 imm_data)
{
	qp->wr_rdma_write64_imm(qp, rkey, remote_addr, imm_data);
}

static inline void uetdv_wr_rdma_write64_imm64(struct uetdv_qp_ex *qp,
					       uint64_t rkey,
					       uint64_t remote_addr,
					       __be64 imm_data)
{
	qp->wr_rdma_write64_imm64(qp, rkey, remote_addr, imm_data);
}

static inline void uetdv_wr_atomic_cmp_swp64(struct uetdv_qp_ex *qp,
					     uint64_t rkey,
					     uint64_t remote_addr,
					     uint64_t compare, uint64_t swap)
{
	qp->wr_atomic_cmp_swp64(qp, rkey, remote_addr, compare, swap);
}

static inline void uetdv_wr_atomic_fetch_add64(struct uetdv_qp_ex *qp,
					       uint64_t rkey,
					       uint64_t remote_addr,
					       uint64_t add)
{
	qp->wr_atomic_fetch_add64(qp, rkey, remote_addr, add);
}

/* ------------------------------------------------------------------ */
/* Completions                                                         */

/* Bits of uetdv_cq_init_attr.wc_flags. */
enum uetdv_wc_flags {
	UETDV_WC_EX_WITH_IMM64 = 1 << 0,
	UETDV_WC_EX_WITH_SRC_ID = 1 << 1,
	UETDV_WC_EX_WITH_JOB_ID = 1 << 2,
};

/**
 * struct uetdv_cq_init_attr - what uetdv_create_cq() needs beside verbs' own
 * @comp_mask: 0
 * @wc_flags: enum uetdv_wc_flags
 */
struct uetdv_cq_init_attr {
	uint64_t comp_mask;
	uint64_t wc_flags;
};

/**
 * uetdv_create_cq - create a CQ that tells what UET adds to completions
 * @context: device
 * @attr_ex: as for ibv_create_cq_ex()
 * @uet_attr: what is wanted
 * @inlen: sizeof(*uet_attr)
 *
 * Return: the CQ, or NULL with errno: EOPNOTSUPP, EINVAL, ENOMEM, or what the
 * kernel said.
 */
struct ibv_cq_ex *uetdv_create_cq(struct ibv_context *context,
				  struct ibv_cq_init_attr_ex *attr_ex,
				  struct uetdv_cq_init_attr *uet_attr,
				  uint32_t inlen);

/*
 * Of the completion that the CQ stands at, as ibv_wc_read_*(); the CQ is one of
 * uetdv_create_cq() with the flag.
 */
/* All of the immediate; ibv_wc_read_imm_data() gives its low half. */
__be64 uetdv_wc_read_imm64(struct ibv_cq_ex *cq);
/* Source id of the sender; so does ibv_wc_read_src_qp(). */
uint32_t uetdv_wc_read_src_id(struct ibv_cq_ex *cq);
/* Job of the sender, 0 for none. */
uint32_t uetdv_wc_read_job_id(struct ibv_cq_ex *cq);

#ifdef __cplusplus
}
#endif

#endif /* UETDV_H */
