// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Rings: memory of work and completion queues, shared with user space or not.
 *
 * A mapping has its pages inserted once and no vm_ops of ours: it holds pages,
 * not code. When a queue goes, its memory goes; pages that are still
 * mapped stay with the process, old contents and all, until it unmaps them.
 */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "uet.h"

/* A small queue is a page, not an area of vmalloc with all that belongs to it. */
static void *uet_ring_alloc(size_t size, gfp_t gfp)
{
	gfp |= __GFP_ZERO | __GFP_NOWARN;
	return size > PAGE_SIZE ? __vmalloc(size, gfp) :
				  (void *)__get_free_page(gfp);
}

static void uet_ring_release(struct uet_ringbuf *rb)
{
	if (is_vmalloc_addr(rb->hdr))
		vfree(rb->hdr);
	else
		free_page((unsigned long)rb->hdr);
	kfree(rb);
}

static struct page *uet_ring_page(const struct uet_ringbuf *rb, unsigned long i)
{
	void *at = (void *)rb->hdr + i * PAGE_SIZE;

	return is_vmalloc_addr(at) ? vmalloc_to_page(at) : virt_to_page(at);
}

static int uet_ring_share(struct uet_ringbuf *rb, struct ib_udata *udata)
{
	struct uet_ucontext *uctx =
		rdma_udata_to_drv_context(udata, struct uet_ucontext, ib);

	return rdma_user_mmap_entry_insert(&uctx->ib, &rb->entry, rb->size);
}

/**
 * uet_ring_create - memory for a queue
 * @udata: of the create verb; the ring can be mapped there. NULL: kernel only
 * @depth: entries, power of two
 * @stride: bytes per entry
 *
 * Context: process.
 * Return: the ring, or ERR_PTR.
 */
struct uet_ringbuf *uet_ring_create(struct ib_udata *udata, u32 depth,
				    u32 stride)
{
	struct uet_ringbuf *rb;
	int err = -ENOMEM;

	rb = kzalloc_obj(*rb);
	if (!rb)
		return ERR_PTR(-ENOMEM);
	rb->depth = depth;
	rb->stride = stride;
	rb->user = udata;
	rb->size = size_add(UET_RING_HDR, size_mul(depth, stride));
	if (rb->size > INT_MAX)
		goto err;
	rb->size = PAGE_ALIGN(rb->size);
	/*
	 * Pages that are mapped to a process are charged to it. How many there
	 * are is its choice, so that there are too few deserves no warning.
	 */
	rb->hdr = uet_ring_alloc(rb->size, udata ? GFP_KERNEL_ACCOUNT :
						   GFP_KERNEL);
	if (!rb->hdr)
		goto err;
	if (udata) {
		err = uet_ring_share(rb, udata);
		if (err)
			goto err;
	}
	return rb;

err:
	uet_ring_release(rb);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(uet_ring_create);

/**
 * uet_ring_info - tell user space where a ring is
 * @rb: ring, or NULL: there is none
 * @info: filled in
 */
void uet_ring_info(const struct uet_ringbuf *rb, struct uet_ring_info *info)
{
	memset(info, 0, sizeof(*info));
	if (!rb || !rb->user)
		return;
	info->mmap_offset = rdma_user_mmap_get_offset(&rb->entry);
	info->mmap_size = rb->size;
	info->depth = rb->depth;
	info->stride = rb->stride;
}

/**
 * uet_ring_free - give up a ring
 * @rb: ring, NULL or ERR_PTR
 *
 * A mapping that outlives it asks its user to call for every receive posted
 * from now on, and the call says that the queue is gone.
 */
void uet_ring_free(struct uet_ringbuf *rb)
{
	if (IS_ERR_OR_NULL(rb))
		return;
	if (!rb->user) {
		uet_ring_release(rb);
		return;
	}
	WRITE_ONCE(rb->hdr->flags, UET_RING_KICK);
	rdma_user_mmap_entry_remove(&rb->entry);
}
EXPORT_SYMBOL_GPL(uet_ring_free);

/**
 * uet_ring_reset - forget what is in a ring
 * @rb: ring or NULL; nobody works on it
 */
void uet_ring_reset(struct uet_ringbuf *rb)
{
	if (!rb)
		return;
	WRITE_ONCE(rb->hdr->flags, 0);
	WRITE_ONCE(rb->hdr->prod, 0);
	WRITE_ONCE(rb->hdr->cons, 0);
}

/* The last reference to the mmap entry is gone. */
void uet_mmap_free(struct rdma_user_mmap_entry *entry)
{
	uet_ring_release(container_of(entry, struct uet_ringbuf, entry));
}

static int uet_ring_map(const struct uet_ringbuf *rb,
			struct vm_area_struct *vma)
{
	unsigned long i, nr = rb->size >> PAGE_SHIFT, left = nr;
	struct page **pages;
	int err;

	pages = kvmalloc_array(nr, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		pages[i] = uet_ring_page(rb, i);
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC);
	err = vm_insert_pages(vma, vma->vm_start, pages, &left);
	kvfree(pages);
	return err;
}

/**
 * uet_mmap - map a ring
 * @uctx: user context
 * @vma: offset and size as struct uet_ring_info has them
 *
 * Context: process, mmap lock.
 * Return: 0, -EINVAL if there is no such ring, -EPERM for an executable
 * mapping, -ENOMEM.
 */
int uet_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	int err;

	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	entry = rdma_user_mmap_entry_get(uctx, vma);
	if (!entry)
		return -EINVAL;
	err = uet_ring_map(container_of(entry, struct uet_ringbuf, entry), vma);
	rdma_user_mmap_entry_put(entry);
	return err;
}
