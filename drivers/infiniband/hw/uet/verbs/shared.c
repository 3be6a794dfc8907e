// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What jobs and security keys have in common: names on the device, owners,
 * who holds them, and how they end.
 *
 * An object is in the table of its device as long as somebody wants it: the
 * administrator (persistent), a handle or a file, or for a security key a job.
 * The table has a reference on its memory, and so has each of those. Out of the
 * table it is dead, and nothing brings it back.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <uapi/rdma/uet_netlink.h>

#include "job.h"

/*
 * From looking at uet_shared.dev to having a reference on the device, for files,
 * which may be released after it has gone.
 */
static DEFINE_SPINLOCK(uet_shared_dev_lock);

static struct net *uet_dev_net(const struct uet_dev *dev)
{
	return dev_net(uet_fep_netdev(dev->fep));
}

/**
 * uet_in_netns - is the caller in the network namespace of a device?
 * @dev: device
 *
 * RDMA devices are by default seen from every namespace; jobs are the business
 * of the one that the network interface is in.
 *
 * Context: process.
 * Return: true if it is.
 */
bool uet_in_netns(const struct uet_dev *dev)
{
	return net_eq(uet_dev_net(dev), current->nsproxy->net_ns);
}

/**
 * uet_may_create - may the caller make jobs and security keys?
 * @dev: device
 *
 * Context: process.
 * Return: true if it is an administrator, here.
 */
bool uet_may_create(const struct uet_dev *dev)
{
	return uet_in_netns(dev) &&
	       ns_capable(uet_dev_net(dev)->user_ns, CAP_NET_ADMIN);
}

/**
 * uet_may_open - may the caller open an object by its id?
 * @obj: job or security key; the caller holds its device
 *
 * Context: process.
 * Return: true if it is the owner, here.
 */
bool uet_may_open(const struct uet_shared *obj)
{
	if (!uet_in_netns(obj->dev))
		return false;
	return (uid_valid(obj->uid) && uid_eq(obj->uid, current_fsuid())) ||
	       (gid_valid(obj->gid) && in_group_p(obj->gid));
}

static struct xarray *uet_shared_table(struct uet_dev *dev,
				       enum uet_shared_kind kind)
{
	return kind == UET_SHARED_JOB ? &dev->jobs : &dev->skeys;
}

static enum uet_obj uet_shared_limit(const struct uet_shared *obj)
{
	return obj->kind == UET_SHARED_JOB ? UET_OBJ_JOB : UET_OBJ_SKEY;
}

static struct uet_skey *uet_shared_skey(struct uet_shared *obj)
{
	return obj->kind == UET_SHARED_JOB ? to_ujob(obj)->skey : NULL;
}

static void uet_shared_notify(struct uet_shared *obj, u8 job_cmd, u8 skey_cmd)
{
	if (obj->kind == UET_SHARED_JOB)
		uet_nl_job_notify(to_ujob(obj), job_cmd);
	else
		uet_nl_skey_notify(to_uskey(obj), skey_cmd);
}

/**
 * uet_shared_init - begin to make an object
 * @obj: zeroed
 * @dev: device
 * @kind: what it is
 *
 * The reference is the caller's.
 */
void uet_shared_init(struct uet_shared *obj, struct uet_dev *dev,
		     enum uet_shared_kind kind)
{
	kref_init(&obj->ref);
	obj->kind = kind;
	obj->dev = dev;
	INIT_LIST_HEAD(&obj->holders);
	obj->uid = INVALID_UID;
	obj->gid = INVALID_GID;
}

static int uet_shared_insert(struct uet_shared *obj)
{
	struct xarray *xa = uet_shared_table(obj->dev, obj->kind);
	int err;

	if (obj->id) {
		err = xa_insert(xa, obj->id, obj, GFP_KERNEL);
		return err == -EBUSY ? -EEXIST : err;
	}
	err = xa_alloc_cyclic(xa, &obj->id, obj, XA_LIMIT(1, INT_MAX),
			      &obj->dev->skey_next, GFP_KERNEL);
	return err == -EBUSY ? -ENOSPC : min(err, 0);
}

static int uet_shared_add_locked(struct uet_shared *obj)
{
	struct uet_skey *skey = uet_shared_skey(obj);
	int err;

	if (skey && !skey->obj.listed)
		return -ENOENT;
	if (uet_obj_take(obj->dev, uet_shared_limit(obj)))
		return -ENOSPC;
	err = uet_shared_insert(obj);
	if (err) {
		uet_obj_give(obj->dev, uet_shared_limit(obj));
		return err;
	}
	if (skey)
		skey->jobs++;
	kref_get(&obj->ref);
	obj->listed = true;
	if (!obj->persistent) {
		kref_get(&obj->ref);
		obj->holds = 1;
	}
	return 0;
}

/**
 * uet_shared_add - make an object known
 * @obj: complete; @obj->id is its name, or 0 for a security key that gets one
 *
 * Unless it is persistent it is held on success, once, for the caller, who
 * passes that on to uet_hold_create() or gives it back by uet_shared_release().
 * The caller's first reference stays his own.
 *
 * Context: process; the caller holds the device.
 * Return: 0, -EEXIST, -ENOSPC, -ENOMEM; -ENOENT: the security key of the job
 * has ended.
 */
int uet_shared_add(struct uet_shared *obj)
{
	int err;

	mutex_lock(&obj->dev->job_mutex);
	err = uet_shared_add_locked(obj);
	mutex_unlock(&obj->dev->job_mutex);
	if (!err)
		uet_shared_notify(obj, UET_CMD_JOB_ADD_NTF,
				  UET_CMD_SKEY_ADD_NTF);
	return err;
}

/**
 * uet_shared_find - look an object up
 * @dev: device, held by the caller
 * @kind: kind
 * @id: name
 *
 * Context: process.
 * Return: the object with a reference, to be dropped by uet_shared_put(); NULL
 * if there is none. It may be dead.
 */
struct uet_shared *uet_shared_find(struct uet_dev *dev,
				   enum uet_shared_kind kind, u32 id)
{
	struct uet_shared *obj;

	mutex_lock(&dev->job_mutex);
	obj = xa_load(uet_shared_table(dev, kind), id);
	if (obj)
		kref_get(&obj->ref);
	mutex_unlock(&dev->job_mutex);
	return obj;
}

/**
 * uet_shared_next - go through the objects of a device
 * @dev: device, held by the caller
 * @kind: kind
 * @pos: cursor: 0 at first, then left alone. Objects come by rising id
 *
 * Context: process.
 * Return: as uet_shared_find(); NULL at the end.
 */
struct uet_shared *uet_shared_next(struct uet_dev *dev,
				   enum uet_shared_kind kind, u32 *pos)
{
	unsigned long id = *pos;
	struct uet_shared *obj;

	mutex_lock(&dev->job_mutex);
	obj = xa_find(uet_shared_table(dev, kind), &id, UINT_MAX, XA_PRESENT);
	if (obj) {
		kref_get(&obj->ref);
		*pos = id + 1;
	}
	mutex_unlock(&dev->job_mutex);
	return obj;
}

void uet_shared_get(struct uet_shared *obj)
{
	kref_get(&obj->ref);
}

static void uet_shared_free(struct kref *ref)
{
	struct uet_shared *obj = container_of(ref, struct uet_shared, ref);

	if (obj->kind == UET_SHARED_JOB)
		uet_job_free(to_ujob(obj));
	else
		uet_skey_free(to_uskey(obj));
}

/**
 * uet_shared_put - drop a reference on the memory of an object
 * @obj: job or security key
 *
 * Context: process; the device may have gone.
 */
void uet_shared_put(struct uet_shared *obj)
{
	kref_put(&obj->ref, uet_shared_free);
}

/* What left the table by one act: a job and perhaps its security key. */
struct uet_gone {
	struct uet_shared *obj[2];
	unsigned int nr;
};

static bool uet_shared_wanted(struct uet_shared *obj)
{
	return obj->persistent || obj->holds ||
	       (obj->kind == UET_SHARED_SKEY && to_uskey(obj)->jobs);
}

/* Out of the table if nobody wants it; under job_mutex. */
static bool uet_shared_unlist(struct uet_shared *obj, struct uet_gone *gone)
{
	struct uet_dev *dev = obj->dev;

	lockdep_assert_held(&dev->job_mutex);
	if (!obj->listed || uet_shared_wanted(obj))
		return false;
	xa_erase(uet_shared_table(dev, obj->kind), obj->id);
	uet_obj_give(dev, uet_shared_limit(obj));
	obj->listed = false;
	WRITE_ONCE(obj->dead, true);
	gone->obj[gone->nr++] = obj;
	return true;
}

static void uet_shared_unlist_all(struct uet_shared *obj, struct uet_gone *gone)
{
	struct uet_skey *skey = uet_shared_skey(obj);

	if (!uet_shared_unlist(obj, gone) || !skey)
		return;
	skey->jobs--;
	uet_shared_unlist(&skey->obj, gone);
}

/* What an object has of its device ends with its place in the table. */
static void uet_shared_disarm(struct uet_shared *obj)
{
	if (obj->kind == UET_SHARED_JOB)
		uet_job_addr_clear(to_ujob(obj));
	else
		uet_skey_wipe(to_uskey(obj));
}

static void uet_gone_finish(struct uet_gone *gone)
{
	unsigned int i;

	for (i = 0; i < gone->nr; i++) {
		uet_shared_notify(gone->obj[i], UET_CMD_JOB_DEL_NTF,
				  UET_CMD_SKEY_DEL_NTF);
		uet_shared_disarm(gone->obj[i]);
		uet_shared_put(gone->obj[i]);
	}
}

/**
 * uet_shared_hold - keep an object from ending, for a handle or a file
 * @obj: job or security key; the caller holds its device
 *
 * Context: process.
 * Return: 0, to be given back by uet_shared_release(); -EIO if it has ended.
 */
int uet_shared_hold(struct uet_shared *obj)
{
	struct uet_dev *dev = obj->dev;
	int err = -EIO;

	mutex_lock(&dev->job_mutex);
	if (!obj->dead) {
		kref_get(&obj->ref);
		obj->holds++;
		err = 0;
	}
	mutex_unlock(&dev->job_mutex);
	return err;
}

/**
 * uet_shared_open - hold an object that the caller owns
 * @dev: device, held by the caller
 * @kind: kind
 * @id: name
 * @held: set to the object, held
 *
 * Context: process.
 * Return: 0, -ENOENT, -EPERM, -EIO if it has ended.
 */
int uet_shared_open(struct uet_dev *dev, enum uet_shared_kind kind, u32 id,
		    struct uet_shared **held)
{
	struct uet_shared *obj = uet_shared_find(dev, kind, id);
	int err = -EPERM;

	if (!obj)
		return -ENOENT;
	if (uet_may_open(obj))
		err = uet_shared_hold(obj);
	uet_shared_put(obj);
	if (!err)
		*held = obj;
	return err;
}

/* The device of an object, with a reference; NULL if it has gone or is going. */
static struct uet_dev *uet_shared_dev_get(const struct uet_shared *obj)
{
	struct uet_dev *dev;

	spin_lock(&uet_shared_dev_lock);
	dev = obj->dev;
	if (dev && !ib_device_try_get(&dev->ib))
		dev = NULL;
	spin_unlock(&uet_shared_dev_lock);
	return dev;
}

/**
 * uet_shared_release - give back a hold
 * @obj: job or security key
 *
 * A device that is going takes its objects out of its tables itself.
 *
 * Context: process; the device may have gone.
 */
void uet_shared_release(struct uet_shared *obj)
{
	struct uet_dev *dev = uet_shared_dev_get(obj);
	struct uet_gone gone = {};

	if (dev) {
		mutex_lock(&dev->job_mutex);
		obj->holds--;
		uet_shared_unlist_all(obj, &gone);
		mutex_unlock(&dev->job_mutex);
		uet_gone_finish(&gone);
		ib_device_put(&dev->ib);
	}
	uet_shared_put(obj);
}

static int uet_shared_may_del(struct uet_shared *obj, bool force,
			      struct netlink_ext_ack *extack)
{
	if (force)
		return 0;
	if (!obj->persistent) {
		NL_SET_ERR_MSG(extack, "made by a process or ended already; ends with its holders");
		return -EOPNOTSUPP;
	}
	if (obj->holds) {
		NL_SET_ERR_MSG(extack, "held by a process or a file");
		return -EBUSY;
	}
	if (obj->kind == UET_SHARED_SKEY && to_uskey(obj)->jobs) {
		NL_SET_ERR_MSG(extack, "a job refers to it");
		return -EBUSY;
	}
	return 0;
}

/* True if the object stays, dead, until its holders let go. */
static bool uet_shared_end(struct uet_shared *obj, struct uet_gone *gone)
{
	bool was_dead = obj->dead;

	obj->persistent = false;
	WRITE_ONCE(obj->dead, true);
	uet_shared_unlist_all(obj, gone);
	return obj->listed && !was_dead;
}

/**
 * uet_shared_del - end an object for the administrator
 * @dev: device, held by the caller
 * @kind: kind
 * @id: name
 * @force: also if somebody holds it, and whoever made it; jobs only
 * @extack: told why not
 *
 * Context: process.
 * Return: 0, -ENOENT, -EBUSY, -EOPNOTSUPP.
 */
int uet_shared_del(struct uet_dev *dev, enum uet_shared_kind kind, u32 id,
		   bool force, struct netlink_ext_ack *extack)
{
	struct uet_gone gone = {};
	struct uet_shared *obj;
	bool stays = false;
	int err;

	mutex_lock(&dev->job_mutex);
	obj = xa_load(uet_shared_table(dev, kind), id);
	if (!obj) {
		mutex_unlock(&dev->job_mutex);
		NL_SET_ERR_MSG(extack, "no such object on this device");
		return -ENOENT;
	}
	kref_get(&obj->ref);
	err = uet_shared_may_del(obj, force, extack);
	if (!err)
		stays = uet_shared_end(obj, &gone);
	mutex_unlock(&dev->job_mutex);

	if (stays)
		uet_shared_notify(obj, UET_CMD_JOB_CHANGE_NTF,
				  UET_CMD_SKEY_CHANGE_NTF);
	uet_gone_finish(&gone);
	uet_shared_put(obj);
	return err;
}

static void uet_hold_link(struct uet_hold *hold)
{
	struct list_head *holders = &hold->obj->holders;
	struct uet_hold *last;

	last = list_empty(holders) ? NULL :
	       list_last_entry(holders, struct uet_hold, node);
	hold->serial = last ? last->serial + 1 : 1;
	list_add_tail(&hold->node, holders);
}

/**
 * uet_hold_create - a handle of the calling process
 * @obj: job or security key, held; the hold is the handle's on success
 * @rights: enum uet_right
 *
 * Context: process; the caller holds the device.
 * Return: the handle, or ERR_PTR(-ENOMEM).
 */
struct uet_hold *uet_hold_create(struct uet_shared *obj, u32 rights)
{
	struct task_struct *leader = current->group_leader;
	struct uet_hold *hold;

	hold = kzalloc_obj(*hold, GFP_KERNEL_ACCOUNT);
	if (!hold)
		return ERR_PTR(-ENOMEM);
	hold->obj = obj;
	hold->rights = rights;
	hold->pid = get_task_pid(current, PIDTYPE_TGID);
	get_task_comm(hold->comm, leader);
	mutex_lock(&obj->dev->job_mutex);
	uet_hold_link(hold);
	mutex_unlock(&obj->dev->job_mutex);
	return hold;
}

/**
 * uet_hold_destroy - let go of a handle
 * @hold: handle without job keys
 *
 * Context: process; the caller holds the device.
 */
void uet_hold_destroy(struct uet_hold *hold)
{
	struct uet_shared *obj = hold->obj;
	struct uet_dev *dev = obj->dev;

	mutex_lock(&dev->job_mutex);
	list_del(&hold->node);
	mutex_unlock(&dev->job_mutex);
	put_pid(hold->pid);
	kfree(hold);
	uet_shared_release(obj);
}

/**
 * uet_shared_dev_init - begin to have jobs and keys
 * @dev: device
 */
void uet_shared_dev_init(struct uet_dev *dev)
{
	mutex_init(&dev->job_mutex);
	xa_init_flags(&dev->jobs, XA_FLAGS_ALLOC1);
	xa_init_flags(&dev->skeys, XA_FLAGS_ALLOC1);
	xa_init_flags(&dev->jkeys, XA_FLAGS_ALLOC1);
}

static void uet_shared_orphan(struct uet_shared *obj)
{
	obj->listed = false;
	WRITE_ONCE(obj->dead, true);
	spin_lock(&uet_shared_dev_lock);
	WRITE_ONCE(obj->dev, NULL);
	spin_unlock(&uet_shared_dev_lock);
}

static void uet_shared_orphan_all(struct xarray *xa)
{
	struct uet_shared *obj;
	unsigned long id;

	xa_for_each(xa, id, obj) {
		xa_erase(xa, id);
		uet_shared_orphan(obj);
		uet_shared_disarm(obj);
		uet_shared_put(obj);
	}
	xa_destroy(xa);
}

/**
 * uet_shared_dev_exit - the device goes
 * @dev: device without uobjects and netlink requests; only files may hold
 *	objects of it still
 *
 * Context: process.
 */
void uet_shared_dev_exit(struct uet_dev *dev)
{
	mutex_lock(&dev->job_mutex);
	uet_shared_orphan_all(&dev->jobs);
	uet_shared_orphan_all(&dev->skeys);
	mutex_unlock(&dev->job_mutex);
	xa_destroy(&dev->jkeys);
	/* Paths of peers go after a grace period and must not outlive the FEP */
	rcu_barrier();
	mutex_destroy(&dev->job_mutex);
}
