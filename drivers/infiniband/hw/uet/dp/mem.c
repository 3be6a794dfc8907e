// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Registered memory and scatter/gather lists: page references into outgoing
 * packets, one copy from incoming ones. A piece of memory is entered for just
 * as long as its bytes are touched, see struct uet_mem.
 */
#include <linux/atomic.h>
#include <linux/bvec.h>
#include <linux/export.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/skbuff_ref.h>
#include <linux/uio.h>

#include "ses.h"

/**
 * uet_mem_init - make memory alive
 * @mem: filled in by the caller: bvec, nr_bvec, shift, first_off, length
 * @release: frees the struct once the last reference is gone
 */
void uet_mem_init(struct uet_mem *mem, void (*release)(struct uet_mem *mem))
{
	kref_init(&mem->ref);
	refcount_set(&mem->users, 1);
	init_completion(&mem->dead);
	mem->release = release;
}
EXPORT_SYMBOL_GPL(uet_mem_init);

/**
 * uet_mem_get - keep the struct (not the memory behind it)
 * @mem: memory
 */
void uet_mem_get(struct uet_mem *mem)
{
	kref_get(&mem->ref);
}
EXPORT_SYMBOL_GPL(uet_mem_get);

static void uet_mem_release(struct kref *ref)
{
	struct uet_mem *mem = container_of(ref, struct uet_mem, ref);

	mem->release(mem);
}

/**
 * uet_mem_put - drop a reference
 * @mem: memory
 *
 * Context: any; may call @mem->release.
 */
void uet_mem_put(struct uet_mem *mem)
{
	kref_put(&mem->ref, uet_mem_release);
}
EXPORT_SYMBOL_GPL(uet_mem_put);

/**
 * uet_mem_enter - begin to read or write the bytes
 * @mem: memory
 *
 * Return: false if the memory is gone; then uet_mem_exit() is not due.
 */
bool uet_mem_enter(struct uet_mem *mem)
{
	return refcount_inc_not_zero(&mem->users);
}
EXPORT_SYMBOL_GPL(uet_mem_enter);

/**
 * uet_mem_begin - begin to read or write certain bytes
 * @mem: memory
 * @off: first byte
 * @len: bytes
 * @write: they will be written
 *
 * Context: BHs off, until after uet_mem_exit().
 * Return: 0; -EACCES: the memory is gone; -EAGAIN: not there yet, try again
 * soon; -EFAULT: not to be had. On error uet_mem_exit() is not due.
 */
int uet_mem_begin(struct uet_mem *mem, u64 off, u32 len, bool write)
{
	int err = 0;

	if (!uet_mem_enter(mem))
		return -EACCES;
	if (mem->page_in && len)
		err = mem->page_in(mem, off, len, write);
	if (err)
		uet_mem_exit(mem);
	return err;
}
EXPORT_SYMBOL_GPL(uet_mem_begin);

/**
 * uet_mem_exit - end what uet_mem_enter() or uet_mem_begin() began
 * @mem: memory
 */
void uet_mem_exit(struct uet_mem *mem)
{
	if (refcount_dec_and_test(&mem->users))
		complete(&mem->dead);
}
EXPORT_SYMBOL_GPL(uet_mem_exit);

/**
 * uet_mem_kill - no more access; wait for those under way
 * @mem: memory, alive; call once
 *
 * Context: process. The wait is for copies in softirq, never for the network.
 */
void uet_mem_kill(struct uet_mem *mem)
{
	uet_mem_exit(mem);
	wait_for_completion(&mem->dead);
}
EXPORT_SYMBOL_GPL(uet_mem_kill);

/* Skip @off bytes of a list: which entry, and where in it. */
static unsigned int uet_sge_seek(const struct uet_sge *sge, unsigned int nr,
				 u64 *off)
{
	unsigned int i = 0;

	while (i < nr && *off >= sge[i].len) {
		*off -= sge[i].len;
		i++;
	}
	return i;
}

/* Block of @mem that holds byte @off, and the offset in that block. */
static u32 uet_mem_block(const struct uet_mem *mem, u64 off, u32 *in_block)
{
	u64 pos = off + mem->first_off;
	u32 i = pos >> mem->shift;

	*in_block = pos & (BIT_ULL(mem->shift) - 1);
	if (!i)
		*in_block -= mem->first_off;
	return i;
}

/*
 * Add bytes of one physically contiguous block. A fragment takes one page
 * reference, so pieces grow together only within one folio.
 */
static int uet_skb_add_block(struct sk_buff *skb, const struct bio_vec *bv,
			     u32 off, u32 len)
{
	while (len) {
		u32 pos = bv->bv_offset + off;
		struct page *page = bv->bv_page + (pos >> PAGE_SHIFT);
		int i = skb_shinfo(skb)->nr_frags;
		u32 n;

		pos = offset_in_page(pos);
		n = min_t(u32, len, PAGE_SIZE - pos);
		if (i && skb_can_coalesce(skb, i, page, pos) &&
		    page_folio(skb_frag_page(&skb_shinfo(skb)->frags[i - 1])) ==
		    page_folio(page)) {
			skb_frag_size_add(&skb_shinfo(skb)->frags[i - 1], n);
		} else {
			if (i >= MAX_SKB_FRAGS || !sendpage_ok(page))
				return -EMSGSIZE;
			get_page(page);
			skb_fill_page_desc(skb, i, page, pos, n);
		}
		skb->len += n;
		skb->data_len += n;
		off += n;
		len -= n;
	}
	return 0;
}

static int uet_mem_add_frags(struct sk_buff *skb, struct uet_mem *mem, u64 off,
			     u32 len)
{
	int err = 0;

	while (len && !err) {
		u32 in_block, n;
		u32 i = uet_mem_block(mem, off, &in_block);

		n = min_t(u32, len, mem->bvec[i].bv_len - in_block);
		err = uet_skb_add_block(skb, &mem->bvec[i], in_block, n);
		off += n;
		len -= n;
	}
	return err;
}

static void uet_mem_iter(struct iov_iter *it, unsigned int dir,
			 struct uet_mem *mem, u64 off, u32 len)
{
	u32 in_block;
	u32 i = uet_mem_block(mem, off, &in_block);

	iov_iter_bvec(it, dir, &mem->bvec[i], mem->nr_bvec - i,
		      (size_t)len + in_block);
	iov_iter_advance(it, in_block);
}

/* Copy out of one entry; the memory is entered here. */
static int uet_sge_copy_from(const struct uet_sge *sge, u64 off, void *to,
			     u32 len)
{
	struct iov_iter it;
	bool ok;
	int err;

	if (!sge->mem) {
		memcpy(to, (void *)(uintptr_t)(sge->off + off), len);
		return 0;
	}
	err = uet_mem_begin(sge->mem, sge->off + off, len, false);
	if (err)
		return err;
	uet_mem_iter(&it, ITER_SOURCE, sge->mem, sge->off + off, len);
	/* @to may be on the stack: the usercopy check takes a sleeper's lock */
	ok = _copy_from_iter(to, len, &it) == len;
	uet_mem_exit(sge->mem);
	return ok ? 0 : -EFAULT;
}

/**
 * uet_sge_read - copy the first bytes of one entry
 * @sge: entry
 * @off: first byte
 * @buf: where to
 * @len: bytes, within the entry
 *
 * Return: 0, -EACCES if the memory is gone, -EFAULT.
 */
int uet_sge_read(const struct uet_sge *sge, u32 off, void *buf, u32 len)
{
	return uet_sge_copy_from(sge, off, buf, len);
}

/**
 * uet_sge_copy - copy part of a list
 * @sge: list
 * @nr: its entries
 * @off: first byte in the list
 * @to: where to
 * @len: bytes
 *
 * Return: 0, -EACCES if memory is gone, -EFAULT if the list is too short.
 */
int uet_sge_copy(const struct uet_sge *sge, unsigned int nr, u64 off, void *to,
		 u32 len)
{
	unsigned int i = uet_sge_seek(sge, nr, &off);
	int err;

	while (len && i < nr) {
		u32 n = min_t(u64, len, sge[i].len - off);

		err = uet_sge_copy_from(&sge[i], off, to, n);
		if (err)
			return err;
		to += n;
		len -= n;
		off = 0;
		i++;
	}
	return len ? -EFAULT : 0;
}

/**
 * uet_sge_ref - append part of a list to a packet as page references
 * @skb: packet
 * @sge: list
 * @nr: its entries
 * @off: first byte in the list
 * @len: bytes
 *
 * On error fragments may have been added; the caller takes them back.
 *
 * Return: 0; -EMSGSIZE: no fragment left, or memory that cannot be
 * referenced; -EACCES: memory is gone; -EFAULT: the list is too short.
 */
int uet_sge_ref(struct sk_buff *skb, const struct uet_sge *sge, unsigned int nr,
		u64 off, u32 len)
{
	unsigned int i = uet_sge_seek(sge, nr, &off);
	int err;

	while (len && i < nr) {
		u32 n = min_t(u64, len, sge[i].len - off);

		if (!sge[i].mem || sge[i].mem->copy)
			return -EMSGSIZE;
		if (!uet_mem_enter(sge[i].mem))
			return -EACCES;
		err = uet_mem_add_frags(skb, sge[i].mem, sge[i].off + off, n);
		uet_mem_exit(sge[i].mem);
		if (err)
			return err;
		len -= n;
		off = 0;
		i++;
	}
	return len ? -EFAULT : 0;
}

static int uet_skb_to_one(const struct sk_buff *skb, int skb_off,
			  const struct uet_sge *sge, u64 off, u32 len)
{
	struct iov_iter it;
	struct kvec kv;
	int err;

	if (!sge->mem) {
		kv.iov_base = (void *)(uintptr_t)(sge->off + off);
		kv.iov_len = len;
		iov_iter_kvec(&it, ITER_DEST, &kv, 1, len);
		return skb_copy_datagram_iter(skb, skb_off, &it, len);
	}
	err = uet_mem_begin(sge->mem, sge->off + off, len, true);
	if (err)
		return err;
	uet_mem_iter(&it, ITER_DEST, sge->mem, sge->off + off, len);
	err = skb_copy_datagram_iter(skb, skb_off, &it, len);
	uet_mem_exit(sge->mem);
	return err;
}

/**
 * uet_skb_to_sge - the one copy on receive
 * @skb: packet
 * @skb_off: first byte of the payload in it
 * @sge: list
 * @nr: its entries
 * @off: where in the list the payload goes
 * @len: bytes
 *
 * Context: softirq.
 * Return: 0, -EACCES if memory is gone, -EAGAIN if it is not there yet: then
 * some bytes may have been copied; -EFAULT if the list is too short.
 */
int uet_skb_to_sge(const struct sk_buff *skb, int skb_off,
		   const struct uet_sge *sge, unsigned int nr, u64 off,
		   u32 len)
{
	unsigned int i = uet_sge_seek(sge, nr, &off);
	int err;

	while (len && i < nr) {
		u32 n = min_t(u64, len, sge[i].len - off);

		err = uet_skb_to_one(skb, skb_off, &sge[i], off, n);
		if (err)
			return err;
		skb_off += n;
		len -= n;
		off = 0;
		i++;
	}
	return len ? -EFAULT : 0;
}

/**
 * uet_buf_to_sge - copy a small buffer to the start of a list
 * @buf: from
 * @sge: list
 * @nr: its entries
 * @len: bytes
 *
 * Return: 0, -EACCES if memory is gone, -EFAULT if the list is too short.
 */
int uet_buf_to_sge(const void *buf, const struct uet_sge *sge, unsigned int nr,
		   u32 len)
{
	unsigned int i;

	for (i = 0; i < nr && len; i++) {
		u32 n = min(len, sge[i].len);
		struct iov_iter it;
		size_t done;
		int err;

		if (!sge[i].mem) {
			memcpy((void *)(uintptr_t)sge[i].off, buf, n);
		} else {
			err = uet_mem_begin(sge[i].mem, sge[i].off, n, true);
			if (err)
				return err;
			uet_mem_iter(&it, ITER_DEST, sge[i].mem, sge[i].off, n);
			done = _copy_to_iter(buf, n, &it);
			uet_mem_exit(sge[i].mem);
			if (done != n)
				return -EFAULT;
		}
		buf += n;
		len -= n;
	}
	return len ? -EFAULT : 0;
}

static u64 uet_amo_run(atomic64_t *target, u8 amo, u64 operand, u64 compare)
{
	switch (amo) {
	case UET_AMO_CSWAP:
		return atomic64_cmpxchg(target, compare, operand);
	case UET_AMO_WRITE:
		return atomic64_xchg(target, operand);
	default:
		return atomic64_fetch_add(operand, target);
	}
}

/**
 * uet_sge_atomic - atomic operation on 8 bytes of memory
 * @sge: 8 bytes, naturally aligned in memory
 * @amo: UET_AMO_SUM, UET_AMO_WRITE or UET_AMO_CSWAP
 * @operand: what to add, or what to store
 * @compare: UET_AMO_CSWAP: what must be there
 * @old: what was there
 *
 * Atomic against processors of this host as well.
 *
 * Return: 0, -EINVAL if it is not aligned, else as uet_mem_begin().
 */
int uet_sge_atomic(const struct uet_sge *sge, u8 amo, u64 operand, u64 compare,
		   u64 *old)
{
	const struct bio_vec *bv;
	struct page *page;
	u32 in_block, pos;
	void *addr;
	int err;

	if (!sge->mem) {
		if (sge->off & 7)
			return -EINVAL;
		*old = uet_amo_run((atomic64_t *)(uintptr_t)sge->off, amo,
				   operand, compare);
		return 0;
	}
	err = uet_mem_begin(sge->mem, sge->off, sizeof(u64), true);
	if (err)
		return err;
	bv = &sge->mem->bvec[uet_mem_block(sge->mem, sge->off, &in_block)];
	pos = bv->bv_offset + in_block;
	if (pos & 7) {
		uet_mem_exit(sge->mem);
		return -EINVAL;
	}
	page = bv->bv_page + (pos >> PAGE_SHIFT);
	addr = kmap_local_page(page);
	*old = uet_amo_run(addr + offset_in_page(pos), amo, operand, compare);
	kunmap_local(addr);
	uet_mem_exit(sge->mem);
	return 0;
}
