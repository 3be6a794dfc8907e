// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Job keys: that a protection domain may work in a job. Two tables lead to one:
 * by value, for what user space says, and by JobID in the domain, for what
 * comes in. Both are read under RCU.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "job.h"

static bool uet_jkey_take(struct uet_job *job)
{
	u32 max = job->max_jkey ?: UET_MAX_JKEY;

	return atomic_add_unless(&job->jkeys, 1, min_t(u32, max, UET_MAX_JKEY));
}

/* By value. The value is complete before anybody can find it. */
static int uet_jkey_number(struct uet_dev *dev, struct uet_jkey *jkey)
{
	u32 index;
	int err;

	err = xa_alloc_cyclic(&dev->jkeys, &index, NULL,
			      XA_LIMIT(1, UET_KEY_INDEX_MAX), &dev->jkey_next,
			      GFP_KERNEL_ACCOUNT);
	if (err < 0)
		return err == -EBUSY ? -ENOSPC : err;
	jkey->value = index << 8 | get_random_u8();
	return 0;
}

static int uet_jkey_publish(struct uet_dev *dev, struct uet_jkey *jkey)
{
	struct xarray *jobs = &to_upd(jkey->pd)->jobs;
	u32 index;
	int err;

	err = uet_jkey_number(dev, jkey);
	if (err)
		return err;
	index = jkey->value >> 8;
	err = xa_insert(jobs, jkey->job->obj.id, jkey, GFP_KERNEL_ACCOUNT);
	if (err) {
		xa_erase(&dev->jkeys, index);
		return err == -EBUSY ? -EEXIST : err;
	}
	/* The place was reserved, so this allocates nothing. */
	xa_store(&dev->jkeys, index, jkey, GFP_KERNEL);
	return 0;
}

static struct uet_jkey *uet_jkey_alloc(struct ib_pd *pd, struct uet_hold *hold)
{
	struct uet_jkey *jkey;

	jkey = kzalloc_obj(*jkey, GFP_KERNEL_ACCOUNT);
	if (!jkey)
		return NULL;
	jkey->pd = pd;
	jkey->job = to_ujob(hold->obj);
	jkey->hold = hold;
	atomic_inc(&pd->usecnt);
	atomic_inc(&hold->users);
	uet_shared_get(hold->obj);
	return jkey;
}

static void uet_jkey_free(struct uet_jkey *jkey)
{
	uet_shared_put(&jkey->job->obj);
	atomic_dec(&jkey->hold->users);
	atomic_dec(&jkey->pd->usecnt);
	kfree_rcu(jkey, rcu);
}

/**
 * uet_jkey_create - let a protection domain work in a job
 * @pd: protection domain
 * @hold: handle on the job; neither it nor @pd can go meanwhile
 *
 * Context: process; the caller holds the device.
 * Return: the key, or ERR_PTR of -EPERM, -EIO (the job has ended), -EEXIST,
 * -ENOSPC, -ENOMEM.
 */
struct uet_jkey *uet_jkey_create(struct ib_pd *pd, struct uet_hold *hold)
{
	struct uet_dev *dev = to_udev(pd->device);
	struct uet_job *job = to_ujob(hold->obj);
	struct uet_jkey *jkey;
	int err;

	if (!(hold->rights & UET_RIGHT_USE))
		return ERR_PTR(-EPERM);
	if (READ_ONCE(job->obj.dead))
		return ERR_PTR(-EIO);
	if (uet_obj_take(dev, UET_OBJ_JKEY))
		return ERR_PTR(-ENOSPC);
	err = -ENOSPC;
	if (!uet_jkey_take(job))
		goto err_obj;
	err = -ENOMEM;
	jkey = uet_jkey_alloc(pd, hold);
	if (!jkey)
		goto err_job;
	err = uet_jkey_publish(dev, jkey);
	if (err)
		goto err_free;
	return jkey;

err_free:
	uet_jkey_free(jkey);
err_job:
	atomic_dec(&job->jkeys);
err_obj:
	uet_obj_give(dev, UET_OBJ_JKEY);
	return ERR_PTR(err);
}

/**
 * uet_jkey_destroy - the end of a job key
 * @jkey: job key
 *
 * Requests that were started go on, no new one is.
 *
 * Context: process; the caller holds the device.
 * Return: 0, or -EBUSY while a QP or a region uses it.
 */
int uet_jkey_destroy(struct uet_jkey *jkey)
{
	struct uet_dev *dev = to_udev(jkey->pd->device);
	struct uet_job *job = jkey->job;

	/* From here on uet_jkey_get() does not give it out. */
	if (atomic_cmpxchg(&jkey->users, 0, INT_MIN))
		return -EBUSY;
	xa_erase(&to_upd(jkey->pd)->jobs, job->obj.id);
	xa_erase(&dev->jkeys, jkey->value >> 8);
	atomic_dec(&job->jkeys);
	uet_jkey_free(jkey);
	uet_obj_give(dev, UET_OBJ_JKEY);
	return 0;
}

/* Under RCU. NULL: no such key in this domain, or its job has ended. */
static struct uet_jkey *uet_jkey_find(const struct ib_pd *pd, u32 value)
{
	struct uet_jkey *jkey;

	jkey = xa_load(&to_udev(pd->device)->jkeys, value >> 8);
	if (!jkey || jkey->value != value || jkey->pd != pd ||
	    READ_ONCE(jkey->job->obj.dead))
		return NULL;
	return jkey;
}

/**
 * uet_jkey_get - a job key by its value, for a QP or a region
 * @pd: protection domain of that
 * @value: as user space says
 *
 * Context: any.
 * Return: the key, to be given back by uet_jkey_put(); NULL if this domain has
 * none of this value, or its job has ended.
 */
struct uet_jkey *uet_jkey_get(const struct ib_pd *pd, u32 value)
{
	struct uet_jkey *jkey;

	rcu_read_lock();
	jkey = uet_jkey_find(pd, value);
	if (jkey && !atomic_inc_unless_negative(&jkey->users))
		jkey = NULL;
	rcu_read_unlock();
	return jkey;
}

void uet_jkey_put(struct uet_jkey *jkey)
{
	atomic_dec(&jkey->users);
}

/**
 * uet_jkey_job - the job that a value names in a work request
 * @pd: protection domain of the QP
 * @value: as user space says
 *
 * Context: any, under RCU; the job is good until rcu_read_unlock().
 * Return: the job, or NULL as uet_jkey_get().
 */
struct uet_job *uet_jkey_job(const struct ib_pd *pd, u32 value)
{
	struct uet_jkey *jkey = uet_jkey_find(pd, value);

	return jkey ? jkey->job : NULL;
}

/**
 * uet_job_admit - may requests of a job come to an endpoint?
 * @ep: endpoint
 * @job_id: job, not 0
 *
 * Context: as uet_fep_ops.job_admit.
 * Return: UET_RC_OK or UET_RC_BAD_JOB_ID.
 */
enum uet_rc uet_job_admit(struct uet_ep *ep, u32 job_id)
{
	const struct uet_qp *qp = uet_ep_priv(ep);
	struct uet_jkey *jkey;
	bool ok;

	rcu_read_lock();
	jkey = xa_load(&to_upd(qp->ib.pd)->jobs, job_id);
	ok = jkey && !READ_ONCE(jkey->job->obj.dead);
	rcu_read_unlock();
	return ok ? UET_RC_OK : UET_RC_BAD_JOB_ID;
}
