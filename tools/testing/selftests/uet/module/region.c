// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Memory for fast registration, by pages that have no order, so that each of
 * them must be found by the region's own list.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "uet_test.h"

static int kv_region_pages(struct kv_region *r)
{
	struct scatterlist *sg;
	u32 i;

	r->page = kvcalloc(r->nr, sizeof(*r->page), GFP_KERNEL);
	if (!r->page)
		return -ENOMEM;
	/* From the end, as the allocator likes to go up. */
	for (i = r->nr; i--;) {
		r->page[i] = alloc_page(GFP_KERNEL);
		if (!r->page[i])
			return -ENOMEM;
	}
	if (sg_alloc_table(&r->sgt, r->nr, GFP_KERNEL))
		return -ENOMEM;
	for_each_sgtable_sg(&r->sgt, sg, i)
		sg_set_page(sg, r->page[i], PAGE_SIZE, 0);
	r->mapped = ib_dma_map_sg(r->side->dev, r->sgt.sgl, r->nr,
				  DMA_BIDIRECTIONAL);
	return r->mapped == r->nr ? 0 : -ENOMEM;
}

/* To be taken down by kv_region_down() also if it fails. */
int kv_region_up(struct kv_region *r, struct kv_side *s, u32 nr)
{
	int err;

	memset(r, 0, sizeof(*r));
	r->side = s;
	r->nr = nr;
	err = kv_region_pages(r);
	if (err)
		return err;
	r->mr = ib_alloc_mr(s->pd, IB_MR_TYPE_MEM_REG, nr);
	if (IS_ERR(r->mr)) {
		err = PTR_ERR(r->mr);
		r->mr = NULL;
		kv_say("a region of %u pages: %d\n", nr, err);
		return err;
	}
	kv_region_fill(r, 0, nr * PAGE_SIZE);
	return 0;
}

void kv_region_down(struct kv_region *r)
{
	u32 i;

	if (r->mr)
		ib_dereg_mr(r->mr);
	if (r->mapped)
		ib_dma_unmap_sg(r->side->dev, r->sgt.sgl, r->nr,
				DMA_BIDIRECTIONAL);
	if (r->sgt.sgl)
		sg_free_table(&r->sgt);
	for (i = 0; r->page && i < r->nr; i++)
		if (r->page[i])
			__free_page(r->page[i]);
	kvfree(r->page);
	memset(r, 0, sizeof(*r));
}

/* Map all pages, and give the region its next key. */
int kv_region_map(struct kv_region *r)
{
	int n = ib_map_mr_sg(r->mr, r->sgt.sgl, r->nr, NULL, PAGE_SIZE);
	int err = kv_want("mapped pages", n, r->nr) ?:
		  kv_want("mapped bytes", r->mr->length, r->nr * PAGE_SIZE);

	if (!err)
		ib_update_fast_reg_key(r->mr, ib_inc_rkey(r->mr->rkey));
	return err;
}

struct ib_reg_wr kv_region_wr(struct kv_region *r, int access)
{
	return (struct ib_reg_wr){
		.wr.opcode = IB_WR_REG_MR,
		.mr = r->mr,
		.key = r->mr->rkey,
		.access = access,
	};
}

int kv_region_register(struct kv_region *r, int access)
{
	int err = kv_region_map(r);
	struct ib_reg_wr reg;

	if (err)
		return err;
	reg = kv_region_wr(r, access);
	return kv_do(r->side, &reg.wr, "registration", IB_WC_SUCCESS);
}

int kv_region_invalidate(struct kv_region *r)
{
	struct ib_send_wr inv = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = r->mr->rkey,
	};

	return kv_do(r->side, &inv, "invalidation", IB_WC_SUCCESS);
}

/* Bytes of the page of @off, of @len at most. */
static u8 *kv_region_at(struct kv_region *r, u32 off, u32 *len)
{
	*len = min_t(u32, *len, PAGE_SIZE - offset_in_page(off));
	return (u8 *)page_address(r->page[off >> PAGE_SHIFT]) +
	       offset_in_page(off);
}

void kv_region_write(struct kv_region *r, u32 off, const void *from, u32 len)
{
	u32 n;

	for (; len; len -= n, off += n, from += n) {
		u8 *at;

		n = len;
		at = kv_region_at(r, off, &n);
		memcpy(at, from, n);
	}
}

void kv_region_read(struct kv_region *r, u32 off, void *to, u32 len)
{
	u32 n;

	for (; len; len -= n, off += n, to += n) {
		u8 *at;

		n = len;
		at = kv_region_at(r, off, &n);
		memcpy(to, at, n);
	}
}

void kv_region_fill(struct kv_region *r, u32 off, u32 len)
{
	u32 n;

	for (; len; len -= n, off += n) {
		u8 *at;

		n = len;
		at = kv_region_at(r, off, &n);
		memset(at, KV_FILL, n);
	}
}

bool kv_region_is_filled(struct kv_region *r)
{
	u32 i;

	for (i = 0; i < r->nr; i++)
		if (memchr_inv(page_address(r->page[i]), KV_FILL, PAGE_SIZE))
			return false;
	return true;
}
