// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Jobs: what they are made of, and what there is to say about one. */
#include <linux/cred.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <rdma/ib_cache.h>

#include "job.h"

static int uet_job_check_reserved(const struct uet_job_attr *attr)
{
	if (attr->comp_mask)
		return -EOPNOTSUPP;
	if (attr->flags || attr->rights || attr->num_addr || attr->skey_id ||
	    memchr_inv(attr->reserved, 0, sizeof(attr->reserved)))
		return -EINVAL;
	return 0;
}

static int uet_job_check_gid(struct uet_dev *dev, u16 index,
			     struct netlink_ext_ack *extack)
{
	const struct ib_gid_attr *gid;
	bool ok;

	gid = rdma_get_gid_attr(&dev->ib, UET_PORT, index);
	if (IS_ERR(gid)) {
		NL_SET_ERR_MSG(extack, "no GID at this index");
		return -EINVAL;
	}
	ok = gid->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP;
	rdma_put_gid_attr(gid);
	if (!ok) {
		NL_SET_ERR_MSG(extack, "GID is not of type RoCE v2");
		return -EINVAL;
	}
	return 0;
}

static int uet_job_check(struct uet_dev *dev, const struct uet_job_attr *attr,
			 struct netlink_ext_ack *extack)
{
	int err;

	err = uet_job_check_reserved(attr);
	if (err)
		return err;
	if (!attr->id || attr->id > UET_JOB_ID_MAX) {
		NL_SET_ERR_MSG(extack, "JobID must be 1 to 16777215");
		return -EINVAL;
	}
	if (attr->port_num != UET_PORT) {
		NL_SET_ERR_MSG(extack, "port must be 1");
		return -EINVAL;
	}
	if (attr->transport != UET_JOB_TRANSPORT_UDP) {
		NL_SET_ERR_MSG(extack, "no such transport");
		return -EOPNOTSUPP;
	}
	if (attr->max_addr > UET_MAX_JOB_ADDR) {
		NL_SET_ERR_MSG(extack, "peer table is too large");
		return -EINVAL;
	}
	return uet_job_check_gid(dev, attr->sgid_index, extack);
}

static int uet_job_set_owner(struct uet_job *job,
			     const struct uet_job_attr *attr,
			     struct netlink_ext_ack *extack)
{
	struct user_namespace *ns = current_user_ns();

	job->obj.uid = make_kuid(ns, attr->uid);
	job->obj.gid = make_kgid(ns, attr->gid);
	if ((attr->uid != UET_OWNER_NONE && !uid_valid(job->obj.uid)) ||
	    (attr->gid != UET_OWNER_NONE && !gid_valid(job->obj.gid))) {
		NL_SET_ERR_MSG(extack, "owner does not exist in this user namespace");
		return -EINVAL;
	}
	return 0;
}

static void uet_job_explain(int err, struct netlink_ext_ack *extack)
{
	switch (err) {
	case -EEXIST:
		NL_SET_ERR_MSG(extack, "the device has a job with this id");
		break;
	case -ENOSPC:
		NL_SET_ERR_MSG(extack, "the device has as many jobs as it may have");
		break;
	case -ENOENT:
		NL_SET_ERR_MSG(extack, "the security key has ended");
		break;
	}
}

/**
 * uet_job_create - make a job
 * @dev: device, held by the caller, who has looked for the right to do it
 * @attr: what kind; @attr->flags is 0
 * @skey: security key that it refers to, or NULL; takes its own reference
 * @persistent: lives until uet_shared_del()
 * @extack: told what is wrong, or NULL
 *
 * Context: process; owners are as the caller's user namespace has them.
 * Return: the job with a reference, and unless it is persistent held, both to
 * be given back by uet_shared_put() or uet_shared_release() (which drops the
 * reference of the hold); ERR_PTR of -EINVAL, -EOPNOTSUPP, -EEXIST, -ENOSPC,
 * -ENOENT (@skey has ended), -ENOMEM.
 */
struct uet_job *uet_job_create(struct uet_dev *dev,
			       const struct uet_job_attr *attr,
			       struct uet_skey *skey, bool persistent,
			       struct netlink_ext_ack *extack)
{
	struct uet_job *job;
	int err;

	err = uet_job_check(dev, attr, extack);
	if (err)
		return ERR_PTR(err);
	job = kzalloc_obj(*job, GFP_KERNEL_ACCOUNT);
	if (!job)
		return ERR_PTR(-ENOMEM);

	uet_shared_init(&job->obj, dev, UET_SHARED_JOB);
	job->obj.id = attr->id;
	job->obj.persistent = persistent;
	job->sgid_index = attr->sgid_index;
	job->max_jkey = attr->max_jkey;
	job->max_addr = attr->max_addr;
	mutex_init(&job->addr_lock);
	xa_init_flags(&job->addrs, XA_FLAGS_ACCOUNT);
	if (skey) {
		uet_shared_get(&skey->obj);
		job->skey = skey;
	}

	err = uet_job_set_owner(job, attr, extack);
	if (!err) {
		err = uet_shared_add(&job->obj);
		uet_job_explain(err, extack);
	}
	if (err) {
		uet_shared_put(&job->obj);
		return ERR_PTR(err);
	}
	return job;
}

/* The last reference is gone. Data path readers may still look at it. */
void uet_job_free(struct uet_job *job)
{
	if (job->skey)
		uet_shared_put(&job->skey->obj);
	xa_destroy(&job->addrs);
	mutex_destroy(&job->addr_lock);
	kfree_rcu(job, obj.rcu);
}

static u32 uet_job_flags(const struct uet_shared *obj)
{
	return (obj->persistent ? UET_JOB_PERSISTENT : 0) |
	       (READ_ONCE(obj->dead) ? UET_JOB_DEAD : 0);
}

/**
 * uet_job_fill - say what a job is
 * @job: job
 * @hold: handle whose rights are told, or NULL
 * @attr: filled in
 *
 * Context: process; owners are as the caller's user namespace has them.
 */
void uet_job_fill(struct uet_job *job, const struct uet_hold *hold,
		  struct uet_job_attr *attr)
{
	const struct uet_shared *obj = &job->obj;
	struct user_namespace *ns = current_user_ns();

	memset(attr, 0, sizeof(*attr));
	attr->flags = uet_job_flags(obj);
	attr->id = obj->id;
	attr->max_addr = job->max_addr;
	attr->port_num = UET_PORT;
	attr->transport = UET_JOB_TRANSPORT_UDP;
	attr->sgid_index = job->sgid_index;
	attr->uid = uid_valid(obj->uid) ? from_kuid_munged(ns, obj->uid) :
					  UET_OWNER_NONE;
	attr->gid = gid_valid(obj->gid) ? from_kgid_munged(ns, obj->gid) :
					  UET_OWNER_NONE;
	attr->rights = hold ? hold->rights : 0;
	attr->num_addr = READ_ONCE(job->num_addr);
	attr->skey_id = job->skey ? job->skey->obj.id : 0;
	attr->max_jkey = job->max_jkey;
}
