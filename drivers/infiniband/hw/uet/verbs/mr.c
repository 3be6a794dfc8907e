// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Memory regions of processes, and the one of all kernel addresses. */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "job.h"

#define UET_MR_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
			 IB_ACCESS_MW_BIND | IB_ZERO_BASED | \
			 IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_ON_DEMAND | \
			 IB_ACCESS_OPTIONAL)

/* Blocks stay within what bio_vec.bv_len can say. */
#define UET_BLOCK_SHIFT_MAX	30

/*
 * Bytes of one run of pages that belong to the region. The first run starts
 * at the region's offset in its page, the last ends with the region.
 */
static u64 uet_run_bytes(const struct scatterlist *sg, u32 skip, u64 left)
{
	return min_t(u64, sg->length - skip, left);
}

/*
 * Largest power of two that all inner boundaries between runs allow as block
 * size. Only the first and the last block may be shorter, so the first run
 * gets the offset that makes it end on a boundary.
 */
static void uet_mr_geometry(struct uet_mem *mem, struct sg_table *sgt, u64 skip,
			    u64 *first_run)
{
	u64 left = mem->length, longest = 0;
	unsigned long inner = 0;
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(sgt, sg, i) {
		u64 bytes = uet_run_bytes(sg, skip, left);

		if (!bytes)
			break;
		left -= bytes;
		longest = max(longest, bytes);
		if (!i)
			*first_run = bytes;
		else if (left)
			inner |= bytes;
		skip = 0;
	}
	mem->shift = inner ? __ffs(inner) : order_base_2(longest);
	mem->shift = min_t(u8, mem->shift, UET_BLOCK_SHIFT_MAX);
	mem->first_off = 0;
	/* More than one run: the first one ends on a boundary. */
	if (*first_run < mem->length)
		mem->first_off = -*first_run &
				    (BIT_ULL(mem->shift) - 1);
}

/* Cut a run into blocks; @pos is in the space that blocks are counted in. */
static void uet_mr_fill_run(struct uet_map *map, struct page *page, u32 skip,
			    u64 pos, u64 bytes)
{
	u64 block = BIT_ULL(map->mem.shift);
	u64 off = skip;

	while (bytes) {
		u32 n = min_t(u64, bytes, block - (pos & (block - 1)));

		bvec_set_page(&map->bvec[pos >> map->mem.shift],
			      pfn_to_page(page_to_pfn(page) +
					  (off >> PAGE_SHIFT)), n,
			      offset_in_page(off));
		off += n;
		pos += n;
		bytes -= n;
	}
}

/**
 * uet_mr_fill - make blocks of pages
 * @map: with no blocks yet
 * @sgt: runs of pages
 * @skip: bytes of the first run that come before the region
 * @length: bytes of the region
 *
 * Context: process.
 * Return: 0, or -ENOMEM.
 */
int uet_mr_fill(struct uet_map *map, struct sg_table *sgt, u64 skip, u64 length)
{
	struct uet_mem *mem = &map->mem;
	u64 left = length, first_run = 0, nr, pos;
	struct scatterlist *sg;
	unsigned int i;

	mem->length = length;
	uet_mr_geometry(mem, sgt, skip, &first_run);
	pos = mem->first_off;
	nr = (pos + length + BIT_ULL(mem->shift) - 1) >> mem->shift;
	if (nr > INT_MAX / sizeof(*map->bvec))
		return -ENOMEM;
	map->bvec = kvcalloc(nr, sizeof(*map->bvec), GFP_KERNEL_ACCOUNT);
	if (!map->bvec)
		return -ENOMEM;
	map->room = nr;

	for_each_sgtable_sg(sgt, sg, i) {
		u64 bytes = uet_run_bytes(sg, skip, left);

		if (!bytes)
			break;
		uet_mr_fill_run(map, sg_page(sg), skip, pos, bytes);
		pos += bytes;
		left -= bytes;
		skip = 0;
	}
	mem->bvec = map->bvec;
	mem->nr_bvec = nr;
	return 0;
}

/**
 * uet_mr_check - may there be such a region?
 * @length: bytes
 * @iova: first address as users name it
 * @access: enum ib_access_flags
 *
 * Return: 0, -EINVAL, or -EOPNOTSUPP for rights that do not exist.
 */
int uet_mr_check(u64 length, u64 iova, int access)
{
	u64 last;

	/* Zero bytes would be a region that no length check protects. */
	if (!length || length > UET_MAX_MR_SIZE ||
	    check_add_overflow(iova, length - 1, &last))
		return -EINVAL;
	if (access & ~UET_MR_ACCESS)
		return -EOPNOTSUPP;
	return 0;
}

/* A region with an empty map; not yet published. */
struct uet_mr *uet_mr_alloc(struct ib_pd *pd, int access, u64 iova, u64 length)
{
	struct uet_mr *mr = kzalloc_obj(*mr, GFP_KERNEL_ACCOUNT);

	if (!mr)
		return NULL;
	mr->mkey.map = uet_map_alloc(GFP_KERNEL_ACCOUNT);
	if (!mr->mkey.map) {
		kfree(mr);
		return NULL;
	}
	INIT_LIST_HEAD(&mr->qp_node);
	mr->mkey.kind = UET_MKEY_MR;
	mr->mkey.pd = pd;
	mr->mkey.access = access;
	mr->mkey.iova = access & IB_ZERO_BASED ? 0 : iova;
	mr->mkey.length = length;
	mr->ib.iova = iova;
	mr->ib.length = length;
	mr->ib.page_size = PAGE_SIZE;
	return mr;
}

/* Give the region a key; from then on it can be found. */
int uet_mr_publish(struct uet_mr *mr, struct ib_pd *pd)
{
	int err;

	err = uet_mkey_publish(to_udev(pd->device), &mr->mkey, &mr->ib.lkey);
	if (err)
		return err;
	mr->ib.rkey = mr->ib.lkey;
	/* Look-ups compare this one: 0, which no key is, until here. */
	smp_store_release(&mr->mkey.key, mr->ib.lkey);
	return 0;
}

/* The pages of a process, pinned. */
static int uet_mr_pin(struct uet_mr *mr, struct ib_device *ib, u64 start,
		      u64 length, int access)
{
	int err;

	mr->umem = ib_umem_get_va(ib, start, length, access);
	if (IS_ERR(mr->umem))
		return PTR_ERR(mr->umem);
	err = uet_mr_fill(mr->mkey.map, &mr->umem->sgt_append.sgt,
			  ib_umem_offset(mr->umem), length);
	if (err)
		ib_umem_release(mr->umem);
	return err;
}

/* Give back the pages of a process. Nobody can enter the memory any more. */
static void uet_mr_leave(struct uet_mr *mr)
{
	if (mr->odp)
		uet_odp_destroy(mr);
	else if (mr->umem)
		ib_umem_release(mr->umem);
}

/*
 * @old: region whose key it takes over, or NULL
 * @req: for whom it is, or NULL
 */
static struct uet_mr *uet_mr_create(struct ib_pd *pd, u64 start, u64 length,
				    u64 iova, int access, struct uet_mr *old,
				    const struct uet_reg_mr_req *req)
{
	struct uet_mr *mr;
	int err;

	err = uet_mr_check(length, iova, access);
	if (err)
		return ERR_PTR(err);
	mr = uet_mr_alloc(pd, access, iova, length);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = req ? uet_mr_ext_begin(mr, pd, req) : 0;
	if (err)
		goto err_mr;
	err = access & IB_ACCESS_ON_DEMAND ?
	      uet_odp_create(mr, pd->device, start, length, access) :
	      uet_mr_pin(mr, pd->device, start, length, access);
	if (err)
		goto err_ext;
	if (!old)
		err = uet_mr_publish(mr, pd);
	if (err)
		goto err_pages;
	if (old) {
		mr->ib.lkey = old->ib.lkey;
		mr->ib.rkey = old->ib.rkey;
		uet_mkey_replace(to_udev(pd->device), &mr->mkey, mr->ib.lkey);
	}
	return mr;

err_pages:
	uet_mr_leave(mr);
err_ext:
	uet_mr_ext_end(mr);
err_mr:
	uet_map_put(mr->mkey.map);
	kfree(mr);
	return ERR_PTR(err);
}

/* As struct uet_reg_mr_req asks for. */
static struct uet_mr *uet_mr_reg_ext(struct ib_pd *pd, u64 start, u64 length,
				     u64 iova, int access,
				     struct ib_udata *udata)
{
	struct uet_reg_mr_resp resp;
	struct uet_reg_mr_req req;
	struct uet_mr *mr;
	int err;

	err = uet_udata_in(udata, &req, sizeof(req));
	if (err)
		return ERR_PTR(err);
	if (req.comp_mask & UET_REG_MR_PARENT)
		mr = uet_mr_derive(pd, start, length, iova, access, &req);
	else
		mr = uet_mr_create(pd, start, length, iova, access, NULL, &req);
	if (IS_ERR(mr))
		return mr;
	err = uet_mr_ext_publish(mr, &req, &resp) ?:
	      uet_udata_out(udata, &resp, sizeof(resp));
	if (!err)
		return mr;
	uet_mr_end(to_udev(pd->device), mr);
	return ERR_PTR(err);
}

/* Register memory of a process. Context: process. */
struct ib_mr *uet_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			      u64 iova, int access,
			      UET_DMAH_PARAM struct ib_udata *udata)
{
	struct uet_mr *mr;
	int err;

	if (udata && udata->inlen) {
		mr = uet_mr_reg_ext(pd, start, length, iova, access, udata);
	} else {
		err = uet_udata_none(udata);
		if (err)
			return ERR_PTR(err);
		mr = uet_mr_create(pd, start, length, iova, access, NULL, NULL);
	}
	return IS_ERR(mr) ? ERR_CAST(mr) : &mr->ib;
}

/**
 * uet_rereg_user_mr - change a region of a process
 * @ib: region
 * @flags: what changes: IB_MR_REREG_*
 * @start: first byte in the process
 * @length: bytes
 * @iova: first address as users name it
 * @access: enum ib_access_flags
 * @pd: protection domain, new or not
 * @udata: of the verb
 *
 * What is changed is a new region that takes over the key; the old one, which
 * ib_core ends then, is as it was if this fails. Regions that are for some
 * only, and those that others are derived from, stay as they are.
 *
 * Context: process.
 * Return: the new region, or ERR_PTR.
 */
struct ib_mr *uet_rereg_user_mr(struct ib_mr *ib, int flags, u64 start,
				u64 length, u64 iova, int access,
				struct ib_pd *pd, struct ib_udata *udata)
{
	struct uet_mr *mr = to_umr(ib);
	struct uet_mr *new;
	int err;

	err = uet_udata_none(udata);
	if (err)
		return ERR_PTR(err);
	if (!mr->umem || mr->mkey.scope || flags & ~IB_MR_REREG_SUPPORTED)
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_TRANS)) {
		/* Addresses of another process mean other memory. */
		if (mr->umem->owning_mm != current->mm)
			return ERR_PTR(-EINVAL);
		start = mr->umem->address;
		length = mr->umem->length;
		iova = mr->ib.iova;
	}
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->mkey.access;
	err = uet_mr_ext_claim(mr);
	if (err)
		return ERR_PTR(err);
	new = uet_mr_create(pd, start, length, iova, access, mr, NULL);
	if (!IS_ERR(new))
		return &new->ib;
	uet_mr_ext_unclaim(mr);
	return ERR_CAST(new);
}

/**
 * uet_get_dma_mr - all kernel addresses
 * @pd: protection domain of the kernel
 * @access: enum ib_access_flags
 *
 * ib_core hands out kernel virtual addresses as DMA addresses of a device
 * that has none.
 *
 * Return: the region, or ERR_PTR.
 */
struct ib_mr *uet_get_dma_mr(struct ib_pd *pd, int access)
{
	struct uet_mr *mr;
	int err;

	if (access & ~UET_MR_ACCESS)
		return ERR_PTR(-EOPNOTSUPP);
	mr = kzalloc_obj(*mr);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->mkey.kind = UET_MKEY_DMA;
	mr->mkey.pd = pd;
	mr->mkey.access = access;
	mr->mkey.length = U64_MAX;
	err = uet_mr_publish(mr, pd);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}

/**
 * uet_mr_end - end a published region and all windows on it
 * @dev: device
 * @mr: region that no other is derived from
 *
 * Context: process.
 */
void uet_mr_end(struct uet_dev *dev, struct uet_mr *mr)
{
	if (mr->mkey.scope)
		uet_rkey_del(dev, &mr->mkey);
	uet_mkey_retract(dev, &mr->mkey, mr->ib.lkey);
	spin_lock_irq(&mr->mkey.lock);
	mr->mkey.key = 0;
	spin_unlock_irq(&mr->mkey.lock);
	if (mr->mkey.map)
		uet_map_kill(dev, mr->mkey.map);
	uet_frwr_free(mr);
	if (mr->dmabuf)
		uet_dmabuf_put(mr);
	uet_mr_leave(mr);
	uet_mr_ext_end(mr);
	kfree_rcu(mr, mkey.rcu);
}

/* Context: process. */
int uet_dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct uet_mr *mr = to_umr(ib);
	int err = uet_mr_ext_claim(mr);

	if (!err)
		uet_mr_end(to_udev(ib->device), mr);
	return err;
}
