/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Jobs, security keys and job keys. Documentation/infiniband/uet-jobs.rst has
 * the concepts, who may do what, and which file has which part.
 *
 * Jobs and security keys are objects of the device. Processes have handles
 * (struct uet_hold) with rights of their own; files that were exported hold
 * them as well. Memory of an object stays until the last reference goes, also
 * when the device has gone before; what it has of the device ends with that.
 *
 * Locks, outer first:
 *	uet_dev.job_mutex	ids, creation, end, holders; process context
 *	uet_job.addr_lock	writers of the peer table; process context
 *	uet_skey.lock		leaf, BH
 * The data path takes none of them: job keys, admission and peer table are
 * read under RCU.
 */
#ifndef UET_VERBS_JOB_H
#define UET_VERBS_JOB_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <rdma/uet-abi.h>

#include "uet.h"

#define UET_RIGHTS_JOB		(UET_RIGHT_USE | UET_RIGHT_ADDR | \
				 UET_RIGHT_EXPORT)
#define UET_RIGHTS_SKEY		(UET_RIGHT_USE | UET_RIGHT_EXPORT | \
				 UET_RIGHT_REKEY)

enum uet_shared_kind {
	UET_SHARED_JOB,
	UET_SHARED_SKEY,
};

/**
 * struct uet_shared - what jobs and security keys have in common
 * @ref: references on the memory: the table of the device, handles, files, job
 *	keys, and jobs on their security key
 * @kind: enum uet_shared_kind
 * @dev: device; NULL once it has gone. Who holds the device may read it, files
 *	look first whether it is still there
 * @id: name on the device
 * @holds: handles and files; under uet_dev.job_mutex
 * @holders: struct uet_hold of processes; under uet_dev.job_mutex
 * @uid: owner, or INVALID_UID
 * @gid: owning group, or INVALID_GID
 * @persistent: made by netlink; the table of the device counts as a holder
 * @listed: in the table of the device; under uet_dev.job_mutex
 * @dead: ended with force, out of the table, or the device has gone; READ_ONCE,
 *	never cleared
 * @rcu: for freeing
 */
struct uet_shared {
	struct kref ref;
	u8 kind;
	struct uet_dev *dev;
	u32 id;
	u32 holds;
	struct list_head holders;
	kuid_t uid;
	kgid_t gid;
	bool persistent;
	bool listed;
	bool dead;
	struct rcu_head rcu;
};

/**
 * struct uet_hold - a process's handle; the object of its uobject
 * @node: entry of @obj->holders
 * @obj: job or security key, with a reference
 * @serial: rises along @obj->holders; where a dump goes on
 * @rights: enum uet_right
 * @users: job keys made through the handle
 * @pid: thread group that made it, with a reference
 * @comm: its name then
 */
struct uet_hold {
	struct list_head node;
	struct uet_shared *obj;
	u64 serial;
	u32 rights;
	atomic_t users;
	struct pid *pid;
	char comm[TASK_COMM_LEN];
};

/**
 * struct uet_job_peer - an entry of a peer table
 * @path: where to, with a reference
 * @addr: as it was set
 * @rcu: for freeing
 */
struct uet_job_peer {
	struct uet_path *path;
	struct uet_job_addr addr;
	struct rcu_head rcu;
};

/**
 * struct uet_job - job
 * @obj: common part; @obj.id is the JobID
 * @skey: security key, with a reference, or NULL; never changes
 * @sgid_index: address of the job
 * @max_jkey: 0: no limit
 * @jkeys: job keys
 * @addr_lock: writers of @addrs
 * @addrs: index -> struct uet_job_peer; RCU readers
 * @max_addr: indices are below
 * @num_addr: entries in use; under @addr_lock
 * @addr_seq: steps with each change of the table
 */
struct uet_job {
	struct uet_shared obj;
	struct uet_skey *skey;
	u16 sgid_index;
	u32 max_jkey;
	atomic_t jkeys;
	struct mutex addr_lock;	/* see above */
	struct xarray addrs;
	u32 max_addr;
	u32 num_addr;
	u32 addr_seq;
};

/**
 * struct uet_skey - security key
 * @obj: common part
 * @sdi: secure domain id
 * @ssi: source id
 * @has_ssi: @ssi is valid
 * @alg: enum uet_skey_alg
 * @mode: enum uet_skey_mode
 * @jobs: jobs that refer to it; under uet_dev.job_mutex
 * @lock: protects the rest; leaf
 * @an: association number to send with
 * @an_valid: bit per association number that has material
 * @key: material by association number; wiped when it ends
 */
struct uet_skey {
	struct uet_shared obj;
	u32 sdi;
	u32 ssi;
	bool has_ssi;
	u8 alg;
	u8 mode;
	u32 jobs;
	spinlock_t lock;	/* see above */
	u8 an;
	u8 an_valid;
	u8 key[2][UET_SKEY_BYTES];
};

/**
 * struct uet_jkey - job key; the object of its uobject
 * @pd: protection domain, with a use count
 * @job: job, with a reference
 * @hold: handle it was made through; counted in @hold->users
 * @value: what user space knows it by, never 0: 24 bits index, 8 bits random
 * @users: QPs and regions that name it
 * @rcu: for freeing
 */
struct uet_jkey {
	struct ib_pd *pd;
	struct uet_job *job;
	struct uet_hold *hold;
	u32 value;
	atomic_t users;
	struct rcu_head rcu;
};

static inline struct uet_job *to_ujob(struct uet_shared *obj)
{
	return container_of(obj, struct uet_job, obj);
}

static inline struct uet_skey *to_uskey(struct uet_shared *obj)
{
	return container_of(obj, struct uet_skey, obj);
}

static inline struct uet_pd *to_upd(const struct ib_pd *pd)
{
	return container_of(pd, struct uet_pd, ib);
}

/* shared.c */
bool uet_may_create(const struct uet_dev *dev);
bool uet_may_open(const struct uet_shared *obj);
bool uet_in_netns(const struct uet_dev *dev);
void uet_shared_init(struct uet_shared *obj, struct uet_dev *dev,
		     enum uet_shared_kind kind);
int uet_shared_add(struct uet_shared *obj);
struct uet_shared *uet_shared_find(struct uet_dev *dev,
				   enum uet_shared_kind kind, u32 id);
struct uet_shared *uet_shared_next(struct uet_dev *dev,
				   enum uet_shared_kind kind, u32 *pos);
int uet_shared_open(struct uet_dev *dev, enum uet_shared_kind kind, u32 id,
		    struct uet_shared **held);
void uet_shared_get(struct uet_shared *obj);
void uet_shared_put(struct uet_shared *obj);
int uet_shared_hold(struct uet_shared *obj);
void uet_shared_release(struct uet_shared *obj);
int uet_shared_del(struct uet_dev *dev, enum uet_shared_kind kind, u32 id,
		   bool force, struct netlink_ext_ack *extack);
struct uet_hold *uet_hold_create(struct uet_shared *obj, u32 rights);
void uet_hold_destroy(struct uet_hold *hold);
void uet_shared_dev_init(struct uet_dev *dev);
void uet_shared_dev_exit(struct uet_dev *dev);

/* shared_file.c: holding by a file descriptor */
int uet_shared_export(const struct uet_hold *hold, u32 rights,
		      struct file **file);
int uet_shared_export_fd(const struct uet_hold *hold,
			 const struct uverbs_attr_bundle *attrs, u16 in,
			 u16 out);
struct uet_shared *uet_shared_import(struct uet_dev *dev,
				     enum uet_shared_kind kind, int fd,
				     u32 *rights);

/* job.c */
struct uet_job *uet_job_create(struct uet_dev *dev,
			       const struct uet_job_attr *attr,
			       struct uet_skey *skey, bool persistent,
			       struct netlink_ext_ack *extack);
void uet_job_free(struct uet_job *job);
void uet_job_fill(struct uet_job *job, const struct uet_hold *hold,
		  struct uet_job_attr *attr);

/* job_addr.c */
int uet_job_addr_insert(struct uet_job *job, const struct uet_job_addr *addr,
			u32 nr, struct netlink_ext_ack *extack);
int uet_job_addr_remove(struct uet_job *job, u32 first, u32 nr, bool gaps);
u32 uet_job_addr_next(struct uet_job *job, u32 *pos, struct uet_job_addr *addr,
		      u32 room);
struct uet_path *uet_job_addr_path(const struct uet_job *job, u32 index,
				   u32 *qpn);
void uet_job_addr_clear(struct uet_job *job);

/* skey.c */
struct uet_skey *uet_skey_create(struct uet_dev *dev,
				 const struct uet_skey_attr *attr,
				 const u8 *key, bool persistent,
				 struct netlink_ext_ack *extack);
void uet_skey_free(struct uet_skey *skey);
void uet_skey_wipe(struct uet_skey *skey);
void uet_skey_fill(struct uet_skey *skey, const struct uet_hold *hold,
		   struct uet_skey_attr *attr);
int uet_skey_rekey(struct uet_skey *skey, enum uet_skey_rekey_op op,
		   const u8 *key, struct netlink_ext_ack *extack);

/* jkey.c */
struct uet_jkey *uet_jkey_create(struct ib_pd *pd, struct uet_hold *hold);
int uet_jkey_destroy(struct uet_jkey *jkey);
struct uet_jkey *uet_jkey_get(const struct ib_pd *pd, u32 value);
void uet_jkey_put(struct uet_jkey *jkey);
struct uet_job *uet_jkey_job(const struct ib_pd *pd, u32 value);
enum uet_rc uet_job_admit(struct uet_ep *ep, u32 job_id);

/* ioctl_job.c, ioctl_key.c, ioctl_ru.c */
extern const struct uapi_definition uet_job_uapi_defs[];
extern const struct uapi_definition uet_key_uapi_defs[];
extern const struct uapi_definition uet_ru_uapi_defs[];

/* ru.c */
int uet_ru_check(struct uet_qp *qp, const struct uet_create_qp_req *req);
int uet_ru_ep_create(struct uet_qp *qp, const struct uet_create_qp_req *req);
int uet_ru_number(struct uet_qp *qp, const struct uet_create_qp_req *req);
void uet_ru_respond(const struct uet_qp *qp, struct uet_create_qp_resp *resp);
void uet_ru_release(struct uet_qp *qp);
void uet_ru_semantics(const struct uet_dev *dev, struct uet_semantics *sem);
u8 uet_ru_target(struct uet_qp *qp, const struct uet_send_wqe *wqe,
		 struct uet_msg *msg);

/* rkey.c: chosen remote keys */
int uet_rkey_dev_init(struct uet_dev *dev);
void uet_rkey_dev_exit(struct uet_dev *dev);
int uet_rkey_add(struct uet_dev *dev, struct uet_mkey *mkey);
void uet_rkey_del(struct uet_dev *dev, struct uet_mkey *mkey);
enum uet_rc uet_rkey_scope(const struct uet_mkey *mkey, const struct uet_qp *qp,
			   u32 job_id);
enum uet_rc uet_rkey_find(const struct uet_qp *qp, u32 job_id, u64 rkey,
			  struct uet_mkey **found);
int uet_rkey_attach(struct uet_qp *qp, struct uet_mr *mr);
int uet_rkey_detach(struct uet_qp *qp, struct uet_mr *mr);
void uet_rkey_detach_all(struct uet_qp *qp);

/* mr_ext.c: regions as of struct uet_reg_mr_req */
int uet_mr_ext_begin(struct uet_mr *mr, struct ib_pd *pd,
		     const struct uet_reg_mr_req *req);
int uet_mr_ext_publish(struct uet_mr *mr, const struct uet_reg_mr_req *req,
		       struct uet_reg_mr_resp *resp);
struct uet_mr *uet_mr_derive(struct ib_pd *pd, u64 start, u64 length, u64 iova,
			     int access, const struct uet_reg_mr_req *req);
int uet_mr_ext_claim(struct uet_mr *mr);
void uet_mr_ext_unclaim(struct uet_mr *mr);
void uet_mr_ext_end(struct uet_mr *mr);

/* nl_job.c, nl_peer.c, nl_skey.c, nl_ntf.c; any process context */
void uet_nl_job_notify(struct uet_job *job, u8 cmd);
void uet_nl_skey_notify(struct uet_skey *skey, u8 cmd);
void uet_nl_dev_notify(struct uet_dev *dev, u8 cmd);

#endif /* UET_VERBS_JOB_H */
