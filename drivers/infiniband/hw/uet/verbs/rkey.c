// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Remote keys that applications choose, and regions that only the peers of
 * one QP reach. The same key may stand for several regions as long as no
 * request could mean two of them; who is asked for which one is a matter of
 * protection domain, job and QP.
 */
#include <linux/rhashtable.h>

#include "job.h"

/* Who asks by a key walks past all regions that have it, in softirq. */
#define UET_RKEY_SAME_MAX	4096

static const struct rhashtable_params uet_rkey_params = {
	/* without the hole behind it that 32-bit kernels may have */
	.key_len = offsetofend(struct uet_rkey, pd),
	.key_offset = offsetof(struct uet_mkey, chosen),
	.head_offset = offsetof(struct uet_mkey, rkey_node),
	.automatic_shrinking = true,
};

/**
 * uet_rkey_dev_init - no key is chosen yet
 * @dev: device
 *
 * Context: process.
 * Return: 0 or a negative errno; uet_rkey_dev_exit() is right after both.
 */
int uet_rkey_dev_init(struct uet_dev *dev)
{
	mutex_init(&dev->rkey_mutex);
	return rhltable_init(&dev->rkeys, &uet_rkey_params);
}

/* All regions are gone. Context: process. */
void uet_rkey_dev_exit(struct uet_dev *dev)
{
	if (rcu_access_pointer(dev->rkeys.ht.tbl))
		rhltable_destroy(&dev->rkeys);
}

/*
 * Could a request mean both, @a being attached to @qp? They have the same key and
 * protection domain. Nobody is reached by a region for a QP that is not attached.
 * rkey_mutex held.
 */
static bool uet_rkey_clash(const struct uet_mkey *a, const struct uet_qp *qp,
			   const struct uet_mkey *b)
{
	u8 both = a->scope & b->scope;

	if (a == b)
		return false;
	if (both & UET_SCOPE_JOB && a->job_id != b->job_id)
		return false;
	return !(both & UET_SCOPE_QP) || (qp && b->qp == qp);
}

/*
 * How many regions have that key in that domain, or -EEXIST if a request could mean
 * one of them. rkey_mutex held.
 */
static int uet_rkey_others(struct uet_dev *dev, const struct uet_mkey *mkey,
			   const struct uet_qp *qp)
{
	struct rhlist_head *list, *pos;
	struct uet_mkey *other;
	bool taken = false;
	int n = 0;

	rcu_read_lock();
	list = rhltable_lookup(&dev->rkeys, &mkey->chosen, uet_rkey_params);
	rhl_for_each_entry_rcu(other, pos, list, rkey_node) {
		taken |= uet_rkey_clash(mkey, qp, other);
		n++;
	}
	rcu_read_unlock();
	return taken ? -EEXIST : n;
}

/**
 * uet_rkey_add - let peers find a region by the key that was chosen for it
 * @dev: device
 * @mkey: UET_SCOPE_CHOSEN, complete
 *
 * Context: process.
 * Return: 0; -EEXIST: a request could mean another region with that key as
 * well; -ENOSPC: %UET_RKEY_SAME_MAX regions of the domain have it; -ENOMEM.
 */
int uet_rkey_add(struct uet_dev *dev, struct uet_mkey *mkey)
{
	int err;

	mutex_lock(&dev->rkey_mutex);
	err = uet_rkey_others(dev, mkey, NULL);
	if (err >= UET_RKEY_SAME_MAX)
		err = -ENOSPC;
	else if (err >= 0)
		err = rhltable_insert(&dev->rkeys, &mkey->rkey_node,
				      uet_rkey_params) ? -ENOMEM : 0;
	mutex_unlock(&dev->rkey_mutex);
	return err;
}

/* rkey_mutex held. */
static void uet_rkey_let_go(struct uet_mr *mr)
{
	WRITE_ONCE(mr->mkey.qp, NULL);
	list_del_init(&mr->qp_node);
}

/**
 * uet_rkey_del - a region ends: no key, no QP
 * @dev: device
 * @mkey: of a region with a scope
 *
 * The region is freed after a grace period.
 *
 * Context: process.
 */
void uet_rkey_del(struct uet_dev *dev, struct uet_mkey *mkey)
{
	mutex_lock(&dev->rkey_mutex);
	/* No harm if adding it failed. */
	if (mkey->scope & UET_SCOPE_CHOSEN)
		rhltable_remove(&dev->rkeys, &mkey->rkey_node, uet_rkey_params);
	uet_rkey_let_go(container_of(mkey, struct uet_mr, mkey));
	mutex_unlock(&dev->rkey_mutex);
}

/**
 * uet_rkey_scope - is a region for peers of that job, by that QP?
 * @mkey: key of the QP's protection domain
 * @qp: to which the request came
 * @job_id: job of the peer, 0 for none
 *
 * Context: any, RCU read side.
 * Return: UET_RC_OK, UET_RC_BAD_MKEY or UET_RC_BAD_JOB_ID.
 */
enum uet_rc uet_rkey_scope(const struct uet_mkey *mkey, const struct uet_qp *qp,
			   u32 job_id)
{
	if (mkey->scope & UET_SCOPE_QP && READ_ONCE(mkey->qp) != qp)
		return UET_RC_BAD_MKEY;
	if (mkey->scope & UET_SCOPE_JOB && mkey->job_id != job_id)
		return UET_RC_BAD_JOB_ID;
	return UET_RC_OK;
}

/**
 * uet_rkey_find - the region that a request means by a chosen key
 * @qp: RU, to which the request came
 * @job_id: job of the peer, 0 for none
 * @rkey: key as on the wire
 * @found: set to its key on success
 *
 * Context: any, RCU read side.
 * Return: UET_RC_OK; UET_RC_BAD_JOB_ID if there would be one for another job;
 * UET_RC_BAD_MKEY.
 */
enum uet_rc uet_rkey_find(const struct uet_qp *qp, u32 job_id, u64 rkey,
			  struct uet_mkey **found)
{
	const struct uet_rkey chosen = { .key = rkey, .pd = qp->ib.pd };
	enum uet_rc one, rc = UET_RC_BAD_MKEY;
	struct rhlist_head *list, *pos;
	struct uet_mkey *mkey;

	list = rhltable_lookup(&qp->dev->rkeys, &chosen, uet_rkey_params);
	rhl_for_each_entry_rcu(mkey, pos, list, rkey_node) {
		one = uet_rkey_scope(mkey, qp, job_id);
		if (one == UET_RC_OK) {
			*found = mkey;
			return one;
		}
		if (one == UET_RC_BAD_JOB_ID)
			rc = one;
	}
	return rc;
}

/* rkey_mutex held. */
static int uet_rkey_may_attach(struct uet_qp *qp, const struct uet_mr *mr)
{
	if (qp->mode != UET_EP_RUD || mr->mkey.pd != qp->ib.pd ||
	    !(mr->mkey.scope & UET_SCOPE_QP))
		return -EINVAL;
	if (mr->mkey.qp)
		return -EBUSY;
	if (mr->mkey.scope & UET_SCOPE_CHOSEN &&
	    uet_rkey_others(qp->dev, &mr->mkey, qp) < 0)
		return -EEXIST;
	return 0;
}

/**
 * uet_rkey_attach - let peers reach a region by a QP
 * @qp: RU
 * @mr: region with UET_SCOPE_QP, of the same protection domain
 *
 * Context: process; the caller holds both.
 * Return: 0; -EINVAL: wrong kind of either; -EBUSY: attached already;
 * -EEXIST: the QP has a region with this key that the same peers reach.
 */
int uet_rkey_attach(struct uet_qp *qp, struct uet_mr *mr)
{
	int err;

	mutex_lock(&qp->dev->rkey_mutex);
	err = uet_rkey_may_attach(qp, mr);
	if (!err) {
		list_add(&mr->qp_node, &qp->mrs);
		WRITE_ONCE(mr->mkey.qp, qp);
	}
	mutex_unlock(&qp->dev->rkey_mutex);
	return err;
}

/**
 * uet_rkey_detach - and no more
 * @qp: RU
 * @mr: region
 *
 * Context: process; the caller holds both.
 * Return: 0; -EINVAL: not attached to that QP.
 */
int uet_rkey_detach(struct uet_qp *qp, struct uet_mr *mr)
{
	int err = -EINVAL;

	mutex_lock(&qp->dev->rkey_mutex);
	if (mr->mkey.scope & UET_SCOPE_QP && mr->mkey.qp == qp) {
		uet_rkey_let_go(mr);
		err = 0;
	}
	mutex_unlock(&qp->dev->rkey_mutex);
	return err;
}

/* The QP ends; no request comes by it any more. Context: process. */
void uet_rkey_detach_all(struct uet_qp *qp)
{
	struct uet_mr *mr, *next;

	mutex_lock(&qp->dev->rkey_mutex);
	list_for_each_entry_safe(mr, next, &qp->mrs, qp_node)
		uet_rkey_let_go(mr);
	mutex_unlock(&qp->dev->rkey_mutex);
}
