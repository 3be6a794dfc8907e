// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Regions of dma-buf memory. Software reads and writes it by the processor,
 * so the buffer is mapped for the kernel as long as the region lives, which
 * also keeps it in place. Its pages belong to the exporter: what is sent is
 * copied, no packet refers to them.
 */
#include <linux/dma-buf.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/uet_user_ioctl_cmds.h>

#include "job.h"

static struct page *uet_kernel_page(void *addr)
{
	if (is_vmalloc_addr(addr))
		return vmalloc_to_page(addr);
	return virt_addr_valid(addr) ? virt_to_page(addr) : NULL;
}

/* One block per page of the kernel mapping. */
static int uet_dmabuf_fill(struct uet_map *map, void *addr, u64 length)
{
	struct uet_mem *mem = &map->mem;
	u64 nr, left = length;
	u32 i;

	mem->first_off = offset_in_page(addr);
	nr = (mem->first_off + length + PAGE_SIZE - 1) >> PAGE_SHIFT;
	if (nr > INT_MAX / sizeof(*map->bvec))
		return -ENOMEM;
	map->bvec = kvcalloc(nr, sizeof(*map->bvec), GFP_KERNEL_ACCOUNT);
	if (!map->bvec)
		return -ENOMEM;
	map->room = nr;
	for (i = 0; i < nr; i++) {
		u32 n = min_t(u64, left, PAGE_SIZE - offset_in_page(addr));
		struct page *page = uet_kernel_page(addr);

		/* Memory of a device, which packets cannot be copied from. */
		if (!page)
			return -EOPNOTSUPP;
		bvec_set_page(&map->bvec[i], page, n, offset_in_page(addr));
		addr += n;
		left -= n;
	}
	mem->bvec = map->bvec;
	mem->nr_bvec = nr;
	mem->shift = PAGE_SHIFT;
	mem->length = length;
	mem->copy = true;
	return 0;
}

/* Undo uet_dmabuf_get(). Context: process. */
void uet_dmabuf_put(struct uet_mr *mr)
{
	dma_buf_end_cpu_access(mr->dmabuf, DMA_BIDIRECTIONAL);
	dma_buf_vunmap_unlocked(mr->dmabuf, &mr->vmap);
	dma_buf_put(mr->dmabuf);
}

static int uet_dmabuf_get(struct uet_mr *mr, int fd, u64 offset, u64 length)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	int err;

	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	err = -EINVAL;
	if (offset > dmabuf->size || length > dmabuf->size - offset)
		goto err_put;
	err = dma_buf_vmap_unlocked(dmabuf, &mr->vmap);
	if (err)
		goto err_put;
	err = -EOPNOTSUPP;
	if (mr->vmap.is_iomem)
		goto err_vunmap;
	err = dma_buf_begin_cpu_access(dmabuf, DMA_BIDIRECTIONAL);
	if (err)
		goto err_vunmap;
	mr->dmabuf = dmabuf;
	return 0;

err_vunmap:
	dma_buf_vunmap_unlocked(dmabuf, &mr->vmap);
err_put:
	dma_buf_put(dmabuf);
	return err;
}

/*
 * What the caller asks for beyond the verb. Where ib_core has one method for
 * all regions, these attributes are those of its udata: the same structs.
 */
static int uet_dmabuf_request(struct uverbs_attr_bundle *attrs,
			      struct uet_reg_mr_req *req)
{
	int err;

	if (!attrs || !uverbs_attr_is_valid(attrs,
					    UET_IB_ATTR_REG_DMABUF_MR_REQ))
		return 0;
	err = uverbs_copy_from_or_zero(req, attrs,
				       UET_IB_ATTR_REG_DMABUF_MR_REQ);
	if (err)
		return err;
	/* A region of its own memory is a part of no other. */
	return req->comp_mask & UET_REG_MR_PARENT ? -EINVAL : 0;
}

static int uet_dmabuf_publish(struct uet_mr *mr, struct uet_dev *dev,
			      const struct uet_reg_mr_req *req,
			      struct uverbs_attr_bundle *attrs)
{
	struct uet_reg_mr_resp resp;
	int err;

	err = uet_mr_ext_publish(mr, req, &resp);
	if (!err && attrs &&
	    uverbs_attr_is_valid(attrs, UET_IB_ATTR_REG_DMABUF_MR_RESP))
		err = uverbs_copy_to_struct_or_zero(attrs,
						    UET_IB_ATTR_REG_DMABUF_MR_RESP,
						    &resp, sizeof(resp));
	if (err)
		uet_mr_end(dev, mr);
	return err;
}

/**
 * uet_reg_user_mr_dmabuf - register a part of a dma-buf
 * @pd: protection domain
 * @offset: first byte in the buffer
 * @length: bytes
 * @iova: first address as users name it
 * @fd: the buffer
 * @access: enum ib_access_flags
 * @attrs: of the verb
 *
 * Context: process.
 * Return: the region, or ERR_PTR.
 */
struct ib_mr *uet_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				     u64 iova, int fd, int access,
				     UET_DMAH_PARAM
				     struct uverbs_attr_bundle *attrs)
{
	struct uet_reg_mr_req req = {};
	struct uet_mr *mr;
	int err;

	err = access & IB_ACCESS_ON_DEMAND ? -EOPNOTSUPP :
	      uet_mr_check(length, iova, access) ?:
	      uet_dmabuf_request(attrs, &req);
	if (err)
		return ERR_PTR(err);
	mr = uet_mr_alloc(pd, access, iova, length);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = uet_mr_ext_begin(mr, pd, &req);
	if (err)
		goto err_mr;
	err = uet_dmabuf_get(mr, fd, offset, length);
	if (err)
		goto err_ext;
	err = uet_dmabuf_fill(mr->mkey.map, mr->vmap.vaddr + offset, length);
	if (!err)
		err = uet_mr_publish(mr, pd);
	if (err)
		goto err_dmabuf;
	err = uet_dmabuf_publish(mr, to_udev(pd->device), &req, attrs);
	return err ? ERR_PTR(err) : &mr->ib;

err_dmabuf:
	uet_dmabuf_put(mr);
err_ext:
	uet_mr_ext_end(mr);
err_mr:
	uet_map_put(mr->mkey.map);
	kfree(mr);
	return ERR_PTR(err);
}
