// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Fast registration: regions of the kernel that get memory and key by work
 * requests. A region has two maps, since some users fill the next one before
 * the request is posted that ends the present one. A map is not filled again
 * while a message still refers to it.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "uet.h"

#define UET_FR_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
			 IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_OPTIONAL)

/* A map that may be filled has one reference: the region's. */
static struct uet_map *uet_fr_map_alloc(u32 max, gfp_t gfp)
{
	struct uet_map *map = uet_map_alloc(gfp);

	if (!map)
		return NULL;
	map->bvec = kvmalloc_array(max, sizeof(*map->bvec), gfp);
	if (!map->bvec) {
		uet_map_put(map);
		return NULL;
	}
	map->room = max;
	return map;
}

/**
 * uet_alloc_mr - a region for fast registration
 * @pd: protection domain of the kernel
 * @type: kind of region
 * @max: pages at most
 *
 * Context: process.
 * Return: the region, invalid, or ERR_PTR.
 */
struct ib_mr *uet_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max)
{
	struct uet_mr *mr;
	int i, err = -ENOMEM;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max || max > UET_MAX_FR_PAGES)
		return ERR_PTR(-EINVAL);
	mr = kzalloc_obj(*mr);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->mkey.kind = UET_MKEY_FRWR;
	mr->mkey.pd = pd;
	for (i = 0; i < ARRAY_SIZE(mr->fr); i++) {
		mr->fr[i] = uet_fr_map_alloc(max, GFP_KERNEL);
		if (!mr->fr[i])
			goto err;
	}
	err = uet_mkey_publish(to_udev(pd->device), &mr->mkey, &mr->ib.lkey);
	if (err)
		goto err;
	mr->ib.rkey = mr->ib.lkey;
	return &mr->ib;

err:
	uet_frwr_free(mr);
	kfree(mr);
	return ERR_PTR(err);
}

/* Drop the maps; none has a key any more. */
void uet_frwr_free(struct uet_mr *mr)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(mr->fr); i++)
		if (mr->fr[i])
			uet_map_put(mr->fr[i]);
}

/*
 * A map to fill: not the one in use, and unknown to everybody else. Messages
 * that still refer to an old one keep it; then a new one takes its place.
 */
static struct uet_map *uet_fr_next(struct uet_mr *mr)
{
	struct uet_map *map, *fresh;
	bool irq;

	irq = uet_any_lock(&mr->mkey.lock);
	mr->fr_ready = false;
	if (mr->mkey.map == mr->fr[mr->fr_next])
		mr->fr_next ^= 1;
	map = mr->fr[mr->fr_next];
	uet_any_unlock(&mr->mkey.lock, irq);
	if (kref_read(&map->mem.ref) == 1) {
		/* Ordered against what the last holder did to it. */
		smp_acquire__after_ctrl_dep();
		uet_mem_init(&map->mem, map->mem.release);
		map->dying = false;
		return map;
	}
	fresh = uet_fr_map_alloc(map->room, GFP_ATOMIC);
	if (fresh) {
		mr->fr[mr->fr_next] = fresh;
		uet_map_put(map);
	}
	return fresh;
}

/* ib_sg_to_pages(): addresses are those of the kernel, whole pages. */
static int uet_fr_page(struct ib_mr *ib, u64 addr)
{
	struct uet_mr *mr = to_umr(ib);
	struct uet_map *map = mr->fr[mr->fr_next];
	void *page = (void *)(uintptr_t)addr;

	if (map->mem.nr_bvec == map->room)
		return -ENOMEM;
	bvec_set_page(&map->bvec[map->mem.nr_bvec++], virt_to_page(page),
		      ib->page_size, offset_in_page(page));
	return 0;
}

/**
 * uet_map_mr_sg - prepare a scatterlist for registration
 * @ib: region of uet_alloc_mr()
 * @sg: list
 * @nents: its entries
 * @offset: where in the first entry to begin, or NULL
 *
 * Context: any; not twice at a time for one region.
 * Return: entries mapped, or a negative errno.
 */
int uet_map_mr_sg(struct ib_mr *ib, struct scatterlist *sg, int nents,
		  unsigned int *offset)
{
	struct uet_mr *mr = to_umr(ib);
	struct uet_map *map = uet_fr_next(mr);
	int n;

	if (!map)
		return -ENOMEM;
	map->mem.nr_bvec = 0;
	n = ib_sg_to_pages(ib, sg, nents, offset, uet_fr_page);
	if (n <= 0 || !map->mem.nr_bvec)
		return n;
	map->mem.bvec = map->bvec;
	map->mem.shift = order_base_2(ib->page_size);
	map->mem.first_off = ib->iova & (ib->page_size - 1);
	map->mem.length = ib->length;
	/* Block 0 begins where the memory does. */
	map->bvec[0].bv_page += (map->bvec[0].bv_offset + map->mem.first_off) >>
				PAGE_SHIFT;
	map->bvec[0].bv_offset = offset_in_page(map->bvec[0].bv_offset +
						map->mem.first_off);
	map->bvec[0].bv_len -= map->mem.first_off;
	mr->fr_ready = true;
	return n;
}

/**
 * uet_frwr_register - IB_WR_REG_MR
 * @qp: whose request it is
 * @mr: region
 * @key: its new key
 * @access: enum ib_access_flags
 *
 * Context: any.
 * Return: 0, or -EINVAL.
 */
int uet_frwr_register(const struct uet_qp *qp, struct uet_mr *mr, u32 key,
		      int access)
{
	struct uet_mkey *mkey = &mr->mkey;
	bool irq;
	int err = -EINVAL;

	if (mkey->kind != UET_MKEY_FRWR || mkey->pd != qp->ib.pd ||
	    key >> 8 != mr->ib.lkey >> 8 || access & ~UET_FR_ACCESS)
		return -EINVAL;
	irq = uet_any_lock(&mkey->lock);
	if (!mkey->key && mr->fr_ready) {
		struct uet_map *map = mr->fr[mr->fr_next];

		uet_mem_get(&map->mem);
		mkey->map = map;
		mkey->iova = mr->ib.iova;
		mkey->length = map->mem.length;
		mkey->off = 0;
		mkey->access = access;
		mkey->key = key;
		mr->fr_ready = false;
		err = 0;
	}
	uet_any_unlock(&mkey->lock, irq);
	return err;
}
