// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What struct uet_reg_mr_req adds to memory regions: for whom they are, keys
 * of the application's choice, and regions that are a part of another.
 */
#include <linux/slab.h>

#include "job.h"

#define UET_REG_MR_BITS		(UET_REG_MR_JKEY | UET_REG_MR_RKEY | \
				 UET_REG_MR_PARENT)
#define UET_REG_MR_FLAGS	(UET_MR_QP_RESTRICTED | UET_MR_IDEMPOTENT)

/* Is all that is said known, and nothing said that does not count? */
static int uet_reg_req_check(const struct uet_reg_mr_req *req)
{
	u32 has = req->comp_mask;

	if (has & ~UET_REG_MR_BITS || req->flags & ~UET_REG_MR_FLAGS)
		return -EOPNOTSUPP;
	if (req->reserved[0] || req->reserved[1] ||
	    (req->jkey && !(has & UET_REG_MR_JKEY)) ||
	    (req->rkey && !(has & UET_REG_MR_RKEY)) ||
	    (req->parent_lkey && !(has & UET_REG_MR_PARENT)) ||
	    req->rkey & ~UET_RKEY_CHOICE ||
	    (req->flags & UET_MR_IDEMPOTENT && !(has & UET_REG_MR_RKEY)))
		return -EINVAL;
	return 0;
}

static u8 uet_reg_scope(const struct uet_reg_mr_req *req)
{
	return (req->comp_mask & UET_REG_MR_RKEY ? UET_SCOPE_CHOSEN : 0) |
	       (req->comp_mask & UET_REG_MR_JKEY ? UET_SCOPE_JOB : 0) |
	       (req->flags & UET_MR_QP_RESTRICTED ? UET_SCOPE_QP : 0);
}

/**
 * uet_mr_ext_begin - for whom a region will be
 * @mr: new; nobody can find it yet
 * @pd: its protection domain
 * @req: what is asked for
 *
 * Context: process.
 * Return: 0, then uet_mr_ext_end() undoes it; else a negative errno as
 * struct uet_reg_mr_req has them.
 */
int uet_mr_ext_begin(struct uet_mr *mr, struct ib_pd *pd,
		     const struct uet_reg_mr_req *req)
{
	int err = uet_reg_req_check(req);
	struct uet_jkey *jkey;

	if (err)
		return err;
	mr->mkey.scope = uet_reg_scope(req);
	/* By a window everybody would get at what is for some. */
	if (mr->mkey.scope && mr->mkey.access & IB_ACCESS_MW_BIND)
		return -EOPNOTSUPP;
	if (req->comp_mask & UET_REG_MR_RKEY) {
		mr->mkey.chosen.pd = pd;
		mr->mkey.chosen.key = req->rkey;
		if (req->flags & UET_MR_IDEMPOTENT)
			mr->mkey.chosen.key |= UET_RKEY_IDEMPOTENT;
	}
	if (!(req->comp_mask & UET_REG_MR_JKEY))
		return 0;
	jkey = uet_jkey_get(pd, req->jkey);
	if (!jkey)
		return -EINVAL;
	mr->jkey = jkey;
	mr->mkey.job_id = jkey->job->obj.id;
	return 0;
}

/**
 * uet_mr_ext_publish - make the chosen key known, and say what it is
 * @mr: published, with its 32-bit key
 * @req: what was asked for
 * @resp: filled in
 *
 * Context: process.
 * Return: 0; -EEXIST: the key is in use; -ENOSPC: by very many; -ENOMEM.
 */
int uet_mr_ext_publish(struct uet_mr *mr, const struct uet_reg_mr_req *req,
		       struct uet_reg_mr_resp *resp)
{
	const struct uet_mkey *mkey = &mr->mkey;
	int err = 0;

	if (mkey->scope & UET_SCOPE_CHOSEN)
		err = uet_rkey_add(to_udev(mkey->pd->device), &mr->mkey);
	*resp = (struct uet_reg_mr_resp){
		.job_id = mkey->job_id,
		.rkey = mkey->scope & UET_SCOPE_CHOSEN ?
			mkey->chosen.key : UET_RKEY_ASSIGNED | mr->ib.rkey,
	};
	return err;
}

/**
 * uet_mr_ext_claim - a region is to end: nothing may be derived any more
 * @mr: region
 *
 * Context: process; only one caller at a time for a region.
 * Return: 0, also if it was claimed already; -EBUSY: regions are derived.
 */
int uet_mr_ext_claim(struct uet_mr *mr)
{
	int old = atomic_cmpxchg(&mr->children, 0, INT_MIN);

	return old > 0 ? -EBUSY : 0;
}

/* It stays after all. */
void uet_mr_ext_unclaim(struct uet_mr *mr)
{
	atomic_set(&mr->children, 0);
}

/* Let go of job key and parent: nobody gets at the memory any more. */
void uet_mr_ext_end(struct uet_mr *mr)
{
	if (mr->jkey)
		uet_jkey_put(mr->jkey);
	mr->jkey = NULL;
	if (mr->parent)
		atomic_dec(&mr->parent->children);
	mr->parent = NULL;
}

/* Find and hold the region of a process that a local key stands for. */
static struct uet_mr *uet_mr_parent_get(struct ib_pd *pd, u32 lkey)
{
	struct uet_mr *mr = NULL;
	struct uet_mkey *mkey;

	rcu_read_lock();
	mkey = uet_mkey_find(to_udev(pd->device), lkey);
	if (mkey && mkey->kind == UET_MKEY_MR && mkey->pd == pd &&
	    READ_ONCE(mkey->key) == lkey) {
		mr = container_of(mkey, struct uet_mr, mkey);
		if (!atomic_inc_unless_negative(&mr->children))
			mr = NULL;
	}
	rcu_read_unlock();
	return mr;
}

/* For what the memory was pinned; parents stay as long as children do. */
static bool uet_mr_writable(const struct uet_mr *mr)
{
	while (mr->parent)
		mr = mr->parent;
	return !mr->umem || mr->umem->writable;
}

/* A part of @parent as memory of its own, which ends on its own. */
static int uet_mr_take_part(struct uet_mr *mr, const struct uet_mr *parent,
			    u64 start)
{
	u64 off = start - parent->mkey.iova;
	struct uet_map *map = mr->mkey.map;
	struct uet_map *from = parent->mkey.map;

	/* Its pages come and go, and only its own keys ask for them. */
	if (parent->odp)
		return -EOPNOTSUPP;
	if (start < parent->mkey.iova || off >= parent->mkey.length ||
	    mr->mkey.length > parent->mkey.length - off)
		return -EINVAL;
	if (ib_access_writable(mr->mkey.access) && !uet_mr_writable(parent))
		return -EACCES;
	uet_mem_get(&from->mem);
	map->parent = from;
	map->mem.bvec = from->mem.bvec;
	map->mem.nr_bvec = from->mem.nr_bvec;
	map->mem.shift = from->mem.shift;
	map->mem.first_off = from->mem.first_off;
	map->mem.length = from->mem.length;
	map->mem.copy = from->mem.copy;
	mr->mkey.off = parent->mkey.off + off;
	return 0;
}

/**
 * uet_mr_derive - a region that is a part of another
 * @pd: protection domain of both
 * @start: first byte as the other region names it
 * @length: bytes
 * @iova: first address as users will name it
 * @access: enum ib_access_flags
 * @req: whose part, and for whom
 *
 * No memory is pinned. The new region can be found by its 32-bit key.
 *
 * Context: process.
 * Return: the region, or ERR_PTR: -EINVAL: no such region or part of it;
 * -EACCES: @access is more than it was pinned for; -EOPNOTSUPP: it is on demand;
 * -ENOMEM.
 */
struct uet_mr *uet_mr_derive(struct ib_pd *pd, u64 start, u64 length, u64 iova,
			     int access, const struct uet_reg_mr_req *req)
{
	int err = uet_mr_check(length, iova, access);
	struct uet_mr *mr;

	if (err)
		return ERR_PTR(err);
	mr = uet_mr_alloc(pd, access, iova, length);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = uet_mr_ext_begin(mr, pd, req);
	if (err)
		goto err_mr;
	mr->parent = uet_mr_parent_get(pd, req->parent_lkey);
	err = mr->parent ? uet_mr_take_part(mr, mr->parent, start) : -EINVAL;
	if (!err)
		err = uet_mr_publish(mr, pd);
	if (!err)
		return mr;

	uet_mr_ext_end(mr);
err_mr:
	uet_map_put(mr->mkey.map);
	kfree(mr);
	return ERR_PTR(err);
}
