// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Memory keys: which memory a key leads to, and who may do what there.
 *
 * A key is a 24-bit index, handed out in turn so that it comes back late, and
 * eight bits: random at first, the user's where a region or window gets a new
 * key by a work request. Look-ups run under RCU and take a reference on the
 * engine's view of the memory (struct uet_mem). To end an access right the key
 * is made unknown, the memory dead, and copies under way are waited for;
 * requests in flight then find it dead and fail. Nothing waits for the
 * network.
 */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "job.h"

static void uet_map_release(struct uet_mem *mem)
{
	struct uet_map *map = container_of(mem, struct uet_map, mem);

	if (map->parent)
		uet_map_put(map->parent);
	kvfree(map->bvec);
	kfree_rcu(map, rcu);
}

/* An empty map with one reference, alive. */
struct uet_map *uet_map_alloc(gfp_t gfp)
{
	struct uet_map *map = kzalloc_obj(*map, gfp);

	if (map) {
		uet_mem_init(&map->mem, uet_map_release);
		INIT_LIST_HEAD(&map->node);
		INIT_LIST_HEAD(&map->windows);
	}
	return map;
}

void uet_map_put(struct uet_map *map)
{
	uet_mem_put(&map->mem);
}

/**
 * uet_map_revoke - no more access; wait for copies under way
 * @map: alive; called once
 *
 * This spins: it runs for work requests, so with BHs or interrupts off and
 * under locks of queues, engine and windows, and nobody may use the key any
 * more when it returns. A completion as in uet_mem_kill() would have to sleep.
 * The wait is short, for the copy of one packet on another CPU: copies run with
 * BHs off, so they are not preempted, and take no lock. A copy on this CPU is
 * not interrupted by this, since hard interrupts leave work requests to BH work.
 * Only FRWR regions and windows are revoked; memory with pages that come and go
 * (odp.c), which is entered with BHs on, is neither.
 *
 * Context: any but hard interrupts; no copy may be under way on this CPU.
 */
void uet_map_revoke(struct uet_map *map)
{
	uet_mem_exit(&map->mem);
	while (refcount_read(&map->mem.users))
		cpu_relax();
}

/**
 * uet_map_kill - end memory and all windows on it, and drop a reference
 * @dev: device
 * @map: alive
 *
 * Context: process.
 */
void uet_map_kill(struct uet_dev *dev, struct uet_map *map)
{
	uet_windows_end(dev, map);
	uet_mem_kill(&map->mem);
	uet_map_put(map);
}

static bool uet_key_is_window(const struct uet_mkey *mkey)
{
	return mkey->kind == UET_MKEY_MW1 || mkey->kind == UET_MKEY_MW2;
}

/**
 * uet_mkey_dev_init - keys of a device: there is none, and nobody knows the first
 * @dev: device
 */
void uet_mkey_dev_init(struct uet_dev *dev)
{
	xa_init_flags(&dev->mkeys, XA_FLAGS_ALLOC1);
	dev->mkey_next = get_random_u32_inclusive(1, UET_KEY_INDEX_MAX);
}
EXPORT_SYMBOL_GPL(uet_mkey_dev_init);

/**
 * uet_mkey_publish - give something a place among the keys
 * @dev: device
 * @mkey: with no key yet: not found by look-ups before it has one
 * @key: set to the first key it may have
 *
 * Context: process.
 * Return: 0, or -ENOMEM, also if there may not be more.
 */
int uet_mkey_publish(struct uet_dev *dev, struct uet_mkey *mkey, u32 *key)
{
	enum uet_obj obj = uet_key_is_window(mkey) ? UET_OBJ_MW : UET_OBJ_MR;
	u32 index;
	int err;

	err = uet_obj_take(dev, obj);
	if (err)
		return err;
	spin_lock_init(&mkey->lock);
	err = xa_alloc_cyclic(&dev->mkeys, &index, mkey,
			      XA_LIMIT(1, UET_KEY_INDEX_MAX), &dev->mkey_next,
			      GFP_KERNEL);
	if (err < 0) {
		uet_obj_give(dev, obj);
		return err;
	}
	*key = index << 8 | get_random_u8();
	return 0;
}
EXPORT_SYMBOL_GPL(uet_mkey_publish);

/**
 * uet_mkey_replace - let something take over a key
 * @dev: device
 * @mkey: what has the key from now on
 * @key: a key in use; who had it is not found by it any more
 *
 * Context: process.
 */
void uet_mkey_replace(struct uet_dev *dev, struct uet_mkey *mkey, u32 key)
{
	spin_lock_init(&mkey->lock);
	mkey->key = key;
	/* The place exists, so there is nothing to allocate. */
	xa_store(&dev->mkeys, key >> 8, mkey, GFP_KERNEL);
}
EXPORT_SYMBOL_GPL(uet_mkey_replace);

/* The caller frees what is behind it after a grace period. */
void uet_mkey_retract(struct uet_dev *dev, struct uet_mkey *mkey, u32 key)
{
	/* Not if somebody took over: then that one counts. */
	if (xa_cmpxchg(&dev->mkeys, key >> 8, mkey, NULL, GFP_KERNEL) == mkey)
		uet_obj_give(dev, uet_key_is_window(mkey) ? UET_OBJ_MW :
							    UET_OBJ_MR);
}
EXPORT_SYMBOL_GPL(uet_mkey_retract);

/* What has the index of @key, whatever its key is. RCU read side. */
struct uet_mkey *uet_mkey_find(struct uet_dev *dev, u32 key)
{
	return xa_load(&dev->mkeys, key >> 8);
}
EXPORT_SYMBOL_GPL(uet_mkey_find);

/*
 * Kernel memory that a peer names: only what the linear map has, so that a
 * wild address is refused and not an oops.
 */
static bool uet_dma_range_ok(u64 addr, u32 len)
{
	void *first = (void *)(uintptr_t)addr;

	return addr == (uintptr_t)addr && virt_addr_valid(first) &&
	       virt_addr_valid(first + len - 1);
}

/* Who wants what where. */
struct uet_key_use {
	u32 key;
	const struct ib_pd *pd;
	const struct uet_qp *qp;	/* remote access: to which QP */
	u32 job_id;		/* of the peer */
	int access;		/* enum ib_access_flags, all needed */
	u64 addr;
	u32 len;		/* not 0 */
	bool anywhere;		/* never mind @addr and @len */
};

static bool uet_key_is_for(const struct uet_mkey *mkey,
			   const struct uet_key_use *use)
{
	if (READ_ONCE(mkey->key) != use->key || mkey->pd != use->pd)
		return false;
	if (!uet_key_is_window(mkey))
		return true;
	/* Windows are for peers. */
	return use->qp && (!mkey->qpn || mkey->qpn == use->qp->ib.qp_num);
}

/*
 * The right memory is found: rights and range. RCU read side; what may change
 * is locked. Takes a reference.
 */
static enum uet_rc uet_mkey_take(const struct uet_mkey *mkey,
				 const struct uet_key_use *use,
				 struct uet_sge *sge)
{
	u64 off = use->addr - mkey->iova;

	if (use->access & ~mkey->access)
		return UET_RC_PERM_VIOLATION;
	if (!use->anywhere &&
	    (use->addr < mkey->iova || off >= mkey->length ||
	     use->len > mkey->length - off))
		return UET_RC_BAD_ADDR;
	if (use->anywhere) {
		*sge = (struct uet_sge){};
		return UET_RC_OK;
	}
	if (mkey->kind == UET_MKEY_DMA) {
		if (!uet_dma_range_ok(use->addr, use->len))
			return UET_RC_BAD_ADDR;
		*sge = (struct uet_sge){ .off = use->addr, .len = use->len };
		return UET_RC_OK;
	}
	if (!kref_get_unless_zero(&mkey->map->mem.ref))
		return UET_RC_BAD_MKEY;
	*sge = (struct uet_sge){
		.mem = &mkey->map->mem,
		.off = mkey->off + off,
		.len = use->len,
	};
	return UET_RC_OK;
}

/* Look-up by assigned key; the rest as uet_mkey_take(). */
static enum uet_rc uet_mkey_check(const struct uet_mkey *mkey,
				  const struct uet_key_use *use,
				  struct uet_sge *sge)
{
	enum uet_rc rc = UET_RC_OK;

	if (!uet_key_is_for(mkey, use))
		return UET_RC_BAD_MKEY;
	/* The owner chose what peers call it: for them it has no other key. */
	if (use->qp && mkey->scope & UET_SCOPE_CHOSEN)
		return UET_RC_BAD_MKEY;
	if (use->qp)
		rc = uet_rkey_scope(mkey, use->qp, use->job_id);
	return rc == UET_RC_OK ? uet_mkey_take(mkey, use, sge) : rc;
}

static enum uet_rc uet_mkey_use(struct uet_dev *dev,
				const struct uet_key_use *use,
				struct uet_sge *sge)
{
	enum uet_rc rc = UET_RC_BAD_MKEY;
	struct uet_mkey *mkey;
	bool irq;

	rcu_read_lock();
	mkey = uet_mkey_find(dev, use->key);
	if (mkey && mkey->kind <= UET_MKEY_DMA) {
		rc = uet_mkey_check(mkey, use, sge);
	} else if (mkey) {
		irq = uet_any_lock(&mkey->lock);
		rc = uet_mkey_check(mkey, use, sge);
		uet_any_unlock(&mkey->lock, irq);
	}
	rcu_read_unlock();
	return rc;
}

/**
 * uet_mkey_local - memory of a work request
 * @pd: protection domain of the queue
 * @user: the queue is of a process
 * @lkey: key
 * @addr: first byte
 * @len: bytes, not 0
 * @write: the request writes there
 * @sge: filled in, with a reference on the memory
 *
 * Context: any.
 * Return: 0, or -EACCES if key, protection domain, range or rights are wrong.
 */
int uet_mkey_local(const struct ib_pd *pd, bool user, u32 lkey, u64 addr,
		   u32 len, bool write, struct uet_sge *sge)
{
	struct uet_key_use use = {
		.key = lkey,
		.pd = pd,
		.access = write ? IB_ACCESS_LOCAL_WRITE : 0,
		.addr = addr,
		.len = len,
	};

	if (lkey == UET_LOCAL_DMA_LKEY && !user) {
		*sge = (struct uet_sge){ .off = addr, .len = len };
		return 0;
	}
	return uet_mkey_use(to_udev(pd->device), &use, sge) == UET_RC_OK ?
	       0 : -EACCES;
}

static int uet_ib_access(u8 access)
{
	return (access & UET_ACCESS_READ ? IB_ACCESS_REMOTE_READ : 0) |
	       (access & UET_ACCESS_WRITE ? IB_ACCESS_REMOTE_WRITE : 0) |
	       (access & UET_ACCESS_ATOMIC ? IB_ACCESS_REMOTE_ATOMIC : 0) |
	       (access & UET_ACCESS_FLUSH_GLOBAL ? IB_ACCESS_FLUSH_GLOBAL :
						   0) |
	       (access & UET_ACCESS_FLUSH_PERSISTENT ?
		IB_ACCESS_FLUSH_PERSISTENT : 0);
}

static enum uet_rc uet_mkey_use_chosen(const struct uet_key_use *use, u64 key,
				       struct uet_sge *sge)
{
	struct uet_mkey *mkey;
	enum uet_rc rc;

	rcu_read_lock();
	rc = uet_rkey_find(use->qp, use->job_id, key, &mkey);
	if (rc == UET_RC_OK)
		rc = uet_mkey_take(mkey, use, sge);
	rcu_read_unlock();
	return rc;
}

/*
 * A key of 64 bits: with bit 48 an assigned one; else a chosen one and, if
 * none of those is meant, an assigned one as plain verbs has them.
 */
static enum uet_rc uet_mkey_use_wide(struct uet_key_use *use, u64 key,
				     struct uet_sge *sge)
{
	enum uet_rc rc, plain;

	use->key = key;
	if (key & UET_RKEY_ASSIGNED)
		return key == (UET_RKEY_ASSIGNED | use->key) ?
		       uet_mkey_use(use->qp->dev, use, sge) : UET_RC_BAD_MKEY;
	rc = uet_mkey_use_chosen(use, key, sge);
	if ((rc != UET_RC_BAD_MKEY && rc != UET_RC_BAD_JOB_ID) ||
	    key != use->key)
		return rc;
	plain = uet_mkey_use(use->qp->dev, use, sge);
	return plain == UET_RC_BAD_MKEY ? rc : plain;
}

/**
 * uet_mkey_remote - struct uet_fep_ops.mem_get
 * @ep: endpoint that the request came to
 * @job_id: job of the peer, 0 for none
 * @key: memory key
 * @addr: first byte
 * @len: bytes
 * @access: UET_ACCESS_*
 * @sge: filled in, with a reference on the memory
 *
 * Zero bytes touch nothing and need no key, whatever the key says. With
 * UET_ACCESS_ANYWHERE @sge stays empty: the key is right, that is all.
 *
 * Context: engine lock.
 * Return: UET_RC_OK, or why not.
 */
enum uet_rc uet_mkey_remote(struct uet_ep *ep, u32 job_id, u64 key, u64 addr,
			    u32 len, u8 access, struct uet_sge *sge)
{
	struct uet_qp *qp = uet_ep_priv(ep);
	struct uet_key_use use = {
		.key = key,
		.pd = qp->ib.pd,
		.qp = qp,
		.job_id = job_id,
		.access = uet_ib_access(access),
		.addr = addr,
		.len = len,
		.anywhere = access & UET_ACCESS_ANYWHERE,
	};

	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		return UET_RC_DISABLED;
	if (use.access & ~READ_ONCE(qp->access))
		return UET_RC_OP_VIOLATION;
	if (!len && !use.anywhere) {
		memset(sge, 0, sizeof(*sge));
		return UET_RC_OK;
	}
	if (qp->mode == UET_EP_RUD)
		return uet_mkey_use_wide(&use, key, sge);
	if (key != use.key)
		return UET_RC_BAD_MKEY;
	return uet_mkey_use(qp->dev, &use, sge);
}

/* Locked. Regions of processes and type 1 windows end by a verb only. */
static bool uet_mkey_revocable(const struct uet_mkey *mkey,
			       const struct uet_qp *qp, u32 key)
{
	return mkey->key == key && mkey->pd == qp->ib.pd &&
	       (mkey->kind == UET_MKEY_FRWR ||
		(mkey->kind == UET_MKEY_MW2 && mkey->qpn == qp->ib.qp_num));
}

/**
 * uet_mkey_may_invalidate - would uet_mkey_invalidate() succeed?
 * @qp: to which the request belongs or came
 * @key: key
 *
 * Context: any.
 *
 * Return: true if it would.
 */
bool uet_mkey_may_invalidate(const struct uet_qp *qp, u32 key)
{
	struct uet_mkey *mkey;
	bool irq;
	bool ok = false;

	rcu_read_lock();
	mkey = uet_mkey_find(qp->dev, key);
	if (mkey) {
		irq = uet_any_lock(&mkey->lock);
		ok = uet_mkey_revocable(mkey, qp, key);
		uet_any_unlock(&mkey->lock, irq);
	}
	rcu_read_unlock();
	return ok;
}

/**
 * uet_mkey_invalidate - take the key from an FRWR region or a window
 * @qp: to which the request belongs or came
 * @key: key
 *
 * When it returns not one more byte is read or written by the key.
 *
 * Context: any; queue and engine locks may be held.
 * Return: 0, or -EINVAL if @key is not valid or cannot be invalidated.
 */
int uet_mkey_invalidate(const struct uet_qp *qp, u32 key)
{
	struct uet_map *map = NULL;
	struct uet_mkey *mkey;
	bool irq;
	bool window;

	rcu_read_lock();
	mkey = uet_mkey_find(qp->dev, key);
	if (mkey) {
		irq = uet_any_lock(&mkey->lock);
		if (uet_mkey_revocable(mkey, qp, key)) {
			map = mkey->map;
			mkey->map = NULL;
			mkey->key = 0;
		}
		window = uet_key_is_window(mkey);
		uet_any_unlock(&mkey->lock, irq);
	}
	rcu_read_unlock();
	if (!map)
		return -EINVAL;
	if (window) {
		uet_window_end(qp->dev, map);
	} else {
		uet_windows_end(qp->dev, map);
		uet_map_revoke(map);
	}
	/* What the key held; the maps of FRWR have the region's as well. */
	uet_map_put(map);
	return 0;
}

/**
 * uet_mkey_busy - does anybody hold on to the memory of a key?
 * @dev: device
 * @key: key
 *
 * Context: any.
 *
 * Return: true if more than region and key hold the memory of this FRWR key.
 */
bool uet_mkey_busy(struct uet_dev *dev, u32 key)
{
	struct uet_mkey *mkey;
	bool irq;
	bool busy = false;

	rcu_read_lock();
	mkey = uet_mkey_find(dev, key);
	if (mkey && mkey->kind == UET_MKEY_FRWR) {
		irq = uet_any_lock(&mkey->lock);
		/* One for the region, one for the key. */
		busy = mkey->map && kref_read(&mkey->map->mem.ref) > 2;
		uet_any_unlock(&mkey->lock, irq);
	}
	rcu_read_unlock();
	return busy;
}

/**
 * uet_sges_put - give back what uet_mkey_local() took
 * @sge: list
 * @nr: its entries
 *
 * Context: any.
 */
void uet_sges_put(struct uet_sge *sge, unsigned int nr)
{
	while (nr--)
		if (sge[nr].mem)
			uet_mem_put(sge[nr].mem);
}
