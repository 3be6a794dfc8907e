// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Memory windows, types 1 and 2B. A bound window is memory of its own to the
 * engine: a struct uet_mem over the blocks of the region. So it can end
 * without the region, and it ends with it.
 */
#include <linux/overflow.h>
#include <linux/slab.h>

#include "uet.h"

#define UET_MW_ACCESS	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_ATOMIC | IB_ZERO_BASED)

int uet_alloc_mw(struct ib_mw *ib, struct ib_udata *udata)
{
	struct uet_mw *mw = to_umw(ib);
	int err;

	err = uet_udata_none(udata);
	if (err)
		return err;
	mw->mkey = kzalloc_obj(*mw->mkey, GFP_KERNEL_ACCOUNT);
	if (!mw->mkey)
		return -ENOMEM;
	mw->mkey->kind = ib->type == IB_MW_TYPE_1 ? UET_MKEY_MW1 :
						    UET_MKEY_MW2;
	mw->mkey->pd = ib->pd;
	err = uet_mkey_publish(to_udev(ib->device), mw->mkey, &ib->rkey);
	if (err)
		kfree(mw->mkey);
	return err;
}

/**
 * uet_window_end - no more access by a window
 * @dev: device
 * @map: memory of the window
 *
 * Context: any.
 */
void uet_window_end(struct uet_dev *dev, struct uet_map *map)
{
	unsigned long irq;
	bool mine;

	spin_lock_irqsave(&dev->mw_lock, irq);
	mine = !list_empty(&map->node);
	list_del_init(&map->node);
	spin_unlock_irqrestore(&dev->mw_lock, irq);
	if (mine)
		uet_map_revoke(map);
}

/**
 * uet_windows_end - end all windows on some memory, for good
 * @dev: device
 * @map: memory of a region
 *
 * Context: any.
 */
void uet_windows_end(struct uet_dev *dev, struct uet_map *map)
{
	struct uet_map *window;
	unsigned long irq;

	spin_lock_irqsave(&dev->mw_lock, irq);
	map->dying = true;
	while (!list_empty(&map->windows)) {
		window = list_first_entry(&map->windows, struct uet_map, node);
		list_del_init(&window->node);
		uet_map_revoke(window);
	}
	spin_unlock_irqrestore(&dev->mw_lock, irq);
}

/* Take what a window is bound to out of its key. */
static struct uet_map *uet_mw_unbind(struct uet_mkey *mkey)
{
	struct uet_map *map;
	bool irq;

	irq = uet_any_lock(&mkey->lock);
	map = mkey->map;
	mkey->map = NULL;
	mkey->key = 0;
	uet_any_unlock(&mkey->lock, irq);
	return map;
}

static void uet_mw_clear(struct uet_dev *dev, struct uet_mkey *mkey)
{
	struct uet_map *map = uet_mw_unbind(mkey);

	if (map) {
		uet_window_end(dev, map);
		uet_map_put(map);
	}
}

int uet_dealloc_mw(struct ib_mw *ib)
{
	struct uet_dev *dev = to_udev(ib->device);
	struct uet_mw *mw = to_umw(ib);
	bool irq;

	uet_mkey_retract(dev, mw->mkey, ib->rkey);
	/* A request that has found the window before must not bind it any more. */
	irq = uet_any_lock(&mw->mkey->lock);
	WRITE_ONCE(mw->mkey->pd, NULL);
	uet_any_unlock(&mw->mkey->lock, irq);
	uet_mw_clear(dev, mw->mkey);
	kfree_rcu(mw->mkey, rcu);
	return 0;
}

/* What a window will be once it is bound. */
struct uet_binding {
	u64 addr;
	u64 length;
	int access;
	u64 off;
	struct uet_map *region;
};

/*
 * May a window be bound to that region? Takes a reference on its memory. RCU
 * read side; what may change is locked.
 */
static bool uet_bind_ok(const struct uet_qp *qp, const struct uet_mkey *mkey,
			u32 lkey, struct uet_binding *b)
{
	u64 off = b->addr - mkey->iova;

	if ((mkey->kind != UET_MKEY_MR && mkey->kind != UET_MKEY_FRWR) ||
	    READ_ONCE(mkey->key) != lkey || mkey->pd != qp->ib.pd ||
	    !(mkey->access & IB_ACCESS_MW_BIND))
		return false;
	if (b->access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(mkey->access & IB_ACCESS_LOCAL_WRITE))
		return false;
	if (b->addr < mkey->iova || off >= mkey->length ||
	    b->length > mkey->length - off ||
	    !kref_get_unless_zero(&mkey->map->mem.ref))
		return false;
	b->region = mkey->map;
	b->off = mkey->off + off;
	return true;
}

static bool uet_bind_region(const struct uet_qp *qp, u32 lkey,
			    struct uet_binding *b)
{
	struct uet_mkey *mkey;
	bool irq;
	bool ok = false;

	rcu_read_lock();
	mkey = uet_mkey_find(qp->dev, lkey);
	if (mkey) {
		irq = uet_any_lock(&mkey->lock);
		ok = uet_bind_ok(qp, mkey, lkey, b);
		uet_any_unlock(&mkey->lock, irq);
	}
	rcu_read_unlock();
	return ok;
}

/* Memory for the window; consumes the reference on the region's. */
static struct uet_map *uet_window_create(struct uet_dev *dev,
					 struct uet_map *region)
{
	struct uet_map *map = uet_map_alloc(GFP_ATOMIC);
	unsigned long irq;
	bool dying;

	if (!map) {
		uet_map_put(region);
		return NULL;
	}
	map->parent = region;
	map->mem.bvec = region->mem.bvec;
	map->mem.nr_bvec = region->mem.nr_bvec;
	map->mem.shift = region->mem.shift;
	map->mem.first_off = region->mem.first_off;
	map->mem.length = region->mem.length;
	map->mem.copy = region->mem.copy;
	spin_lock_irqsave(&dev->mw_lock, irq);
	dying = region->dying;
	if (!dying)
		list_add(&map->node, &region->windows);
	spin_unlock_irqrestore(&dev->mw_lock, irq);
	if (dying) {
		uet_map_put(map);
		return NULL;
	}
	return map;
}

/*
 * Give the window its memory and key, unless it has one that must go first, or is
 * deallocated.
 */
static bool uet_mw_set(const struct uet_qp *qp, struct uet_mkey *mkey, u32 key,
		       const struct uet_binding *b, struct uet_map *map)
{
	bool irq;
	bool ok;

	irq = uet_any_lock(&mkey->lock);
	ok = !mkey->map && mkey->pd == qp->ib.pd;
	if (ok) {
		mkey->map = map;
		mkey->iova = b->access & IB_ZERO_BASED ? 0 : b->addr;
		mkey->length = b->length;
		mkey->off = b->off;
		mkey->access = b->access;
		mkey->qpn = mkey->kind == UET_MKEY_MW2 ? qp->ib.qp_num : 0;
		mkey->key = key;
	}
	uet_any_unlock(&mkey->lock, irq);
	return ok;
}

static int uet_mw_bind_to(const struct uet_qp *qp, struct uet_mkey *mkey,
			  const struct uet_send_wqe *wqe)
{
	struct uet_binding b = {
		.addr = wqe->remote_addr,
		.length = wqe->compare_add,
		.access = wqe->swap,
	};
	struct uet_map *map;

	if (wqe->swap & ~(u64)UET_MW_ACCESS ||
	    !uet_bind_region(qp, wqe->mr_lkey, &b))
		return -EINVAL;
	map = uet_window_create(qp->dev, b.region);
	if (!map)
		return -ENOMEM;
	if (mkey->kind == UET_MKEY_MW1)
		uet_mw_clear(qp->dev, mkey);
	if (uet_mw_set(qp, mkey, wqe->rkey, &b, map))
		return 0;
	uet_window_end(qp->dev, map);
	uet_map_put(map);
	return -EBUSY;
}

/**
 * uet_mw_bind - bind or unbind a window
 * @qp: whose request it is
 * @wqe: UET_WQE_BIND_MW
 *
 * Context: any.
 * Return: 0, or an errno: no such window or region, rights or range wrong,
 * type 2 window not invalid, no memory.
 */
int uet_mw_bind(const struct uet_qp *qp, const struct uet_send_wqe *wqe)
{
	struct uet_mkey *mkey;
	int err = -EINVAL;

	if (wqe->rkey != (u32)wqe->rkey)
		return -EINVAL;
	rcu_read_lock();
	mkey = uet_mkey_find(qp->dev, wqe->rkey);
	if (mkey && READ_ONCE(mkey->pd) == qp->ib.pd &&
	    (mkey->kind == UET_MKEY_MW1 || mkey->kind == UET_MKEY_MW2)) {
		if (wqe->compare_add) {
			err = uet_mw_bind_to(qp, mkey, wqe);
		} else if (mkey->kind == UET_MKEY_MW1) {
			uet_mw_clear(qp->dev, mkey);
			err = 0;
		}
	}
	rcu_read_unlock();
	return err;
}
