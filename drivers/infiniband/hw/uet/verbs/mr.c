// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Memory regions and their keys.
 *
 * A key is a 24-bit index, handed out in turn so that it comes back late, and
 * eight random bits. Look-ups run under RCU and take a reference on the
 * engine's view of the memory (struct uet_mem); deregistration makes the key
 * unknown, waits for copies under way, unpins the pages and drops its own
 * reference. Requests in flight then find the memory dead and fail; nothing
 * waits for the network.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "uet.h"

#define UET_MR_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ)

/* Blocks stay within what bio_vec.bv_len can say. */
#define UET_BLOCK_SHIFT_MAX	30

static void uet_mr_release(struct uet_mem *mem)
{
	struct uet_mr *mr = container_of(mem, struct uet_mr, mem);

	kvfree(mr->bvec);
	kfree_rcu(mr, rcu);
}

/* Give the region a key; from then on it can be found. */
static int uet_mr_publish(struct uet_dev *dev, struct uet_mr *mr)
{
	u32 index;
	int err;

	err = xa_alloc_cyclic(&dev->mrs, &index, mr,
			      XA_LIMIT(1, UET_KEY_INDEX_MAX), &dev->mr_next,
			      GFP_KERNEL);
	if (err < 0)
		return err;
	mr->ib.lkey = index << 8 | get_random_u8();
	mr->ib.rkey = mr->ib.lkey;
	/* Look-ups compare this one: 0, which no key is, until here. */
	WRITE_ONCE(mr->key, mr->ib.lkey);
	return 0;
}

static struct uet_mr *uet_mr_alloc(struct ib_pd *pd, int access)
{
	struct uet_mr *mr = kzalloc_obj(*mr);

	if (mr) {
		mr->pd = pd;
		mr->access = access;
		uet_mem_init(&mr->mem, uet_mr_release);
	}
	return mr;
}

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
static void uet_mr_geometry(struct uet_mr *mr, u64 *first_run)
{
	struct sg_table *sgt = &mr->umem->sgt_append.sgt;
	u32 skip = ib_umem_offset(mr->umem);
	u64 left = mr->length, longest = 0;
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
	mr->mem.shift = inner ? __ffs(inner) : order_base_2(longest);
	mr->mem.shift = min_t(u8, mr->mem.shift, UET_BLOCK_SHIFT_MAX);
	mr->mem.first_off = 0;
	/* More than one run: the first one ends on a boundary. */
	if (*first_run < mr->length)
		mr->mem.first_off = -*first_run &
				    (BIT_ULL(mr->mem.shift) - 1);
}

/* Cut a run into blocks; @pos is in the space that blocks are counted in. */
static void uet_mr_fill_run(struct uet_mr *mr, struct page *page, u32 skip,
			    u64 pos, u64 bytes)
{
	u64 block = BIT_ULL(mr->mem.shift);
	u64 off = skip;

	while (bytes) {
		u32 n = min_t(u64, bytes, block - (pos & (block - 1)));

		bvec_set_page(&mr->bvec[pos >> mr->mem.shift],
			      pfn_to_page(page_to_pfn(page) +
					  (off >> PAGE_SHIFT)), n,
			      offset_in_page(off));
		off += n;
		pos += n;
		bytes -= n;
	}
}

static int uet_mr_fill(struct uet_mr *mr)
{
	struct sg_table *sgt = &mr->umem->sgt_append.sgt;
	u32 skip = ib_umem_offset(mr->umem);
	u64 left = mr->length, first_run = 0, nr, pos;
	struct scatterlist *sg;
	unsigned int i;

	uet_mr_geometry(mr, &first_run);
	pos = mr->mem.first_off;
	nr = (pos + mr->length + BIT_ULL(mr->mem.shift) - 1) >> mr->mem.shift;
	if (nr > INT_MAX / sizeof(*mr->bvec))
		return -ENOMEM;
	mr->bvec = kvcalloc(nr, sizeof(*mr->bvec), GFP_KERNEL_ACCOUNT);
	if (!mr->bvec)
		return -ENOMEM;

	for_each_sgtable_sg(sgt, sg, i) {
		u64 bytes = uet_run_bytes(sg, skip, left);

		if (!bytes)
			break;
		uet_mr_fill_run(mr, sg_page(sg), skip, pos, bytes);
		pos += bytes;
		left -= bytes;
		skip = 0;
	}
	mr->mem.bvec = mr->bvec;
	mr->mem.nr_bvec = nr;
	mr->mem.length = mr->length;
	return 0;
}

static int uet_mr_check(u64 length, u64 iova, int access)
{
	u64 last;

	/* Zero bytes would be a region that no length check protects. */
	if (!length || length > UET_MAX_MR_SIZE ||
	    check_add_overflow(iova, length - 1, &last))
		return -EINVAL;
	if (access & ~(UET_MR_ACCESS | IB_ACCESS_OPTIONAL))
		return -EOPNOTSUPP;
	return 0;
}

/* Register memory of a process. Context: process. */
struct ib_mr *uet_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			      u64 iova, int access,
			      UET_DMAH_PARAM struct ib_udata *udata)
{
	struct uet_mr *mr;
	int err;

	err = uet_mr_check(length, iova, access);
	if (!err)
		err = uet_udata_none(udata);
	if (err)
		return ERR_PTR(err);
	mr = uet_mr_alloc(pd, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->umem = ib_umem_get_va(pd->device, start, length, access);
	if (IS_ERR(mr->umem)) {
		err = PTR_ERR(mr->umem);
		goto err_put;
	}
	mr->iova = iova;
	mr->length = length;
	err = uet_mr_fill(mr);
	if (!err)
		err = uet_mr_publish(to_udev(pd->device), mr);
	if (err)
		goto err_umem;
	return &mr->ib;

err_umem:
	ib_umem_release(mr->umem);
err_put:
	uet_mem_put(&mr->mem);
	return ERR_PTR(err);
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

	if (access & ~(UET_MR_ACCESS | IB_ACCESS_OPTIONAL))
		return ERR_PTR(-EOPNOTSUPP);
	mr = uet_mr_alloc(pd, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->length = U64_MAX;
	err = uet_mr_publish(to_udev(pd->device), mr);
	if (err) {
		uet_mem_put(&mr->mem);
		return ERR_PTR(err);
	}
	return &mr->ib;
}

int uet_dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct uet_dev *dev = to_udev(ib->device);
	struct uet_mr *mr = to_umr(ib);

	xa_erase(&dev->mrs, mr->key >> 8);
	uet_mem_kill(&mr->mem);
	if (mr->umem)
		ib_umem_release(mr->umem);
	uet_mem_put(&mr->mem);
	return 0;
}

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

/*
 * Is [@addr, @addr + @len) inside, and what is the engine to use? Takes a
 * reference. RCU read side; @len is not 0.
 */
static bool uet_mr_range(struct uet_mr *mr, u64 addr, u32 len,
			 struct uet_sge *sge)
{
	u64 off = addr - mr->iova;

	if (addr < mr->iova || off >= mr->length || len > mr->length - off)
		return false;
	if (!mr->umem) {
		if (!uet_dma_range_ok(addr, len))
			return false;
		*sge = (struct uet_sge){ .off = addr, .len = len };
		return true;
	}
	if (!kref_get_unless_zero(&mr->mem.ref))
		return false;
	*sge = (struct uet_sge){ .mem = &mr->mem, .off = off, .len = len };
	return true;
}

/* RCU read side. */
static struct uet_mr *uet_mr_find(struct uet_dev *dev, u32 key)
{
	struct uet_mr *mr = xa_load(&dev->mrs, key >> 8);

	return mr && READ_ONCE(mr->key) == key ? mr : NULL;
}

/**
 * uet_mr_local - memory of a work request
 * @qp: whose request
 * @lkey: key
 * @addr: first byte
 * @len: bytes, not 0
 * @write: the request writes there
 * @sge: filled in, with a reference on the memory
 *
 * Context: any.
 * Return: 0, or -EACCES if key, protection domain, range or rights are wrong.
 */
int uet_mr_local(const struct uet_qp *qp, u32 lkey, u64 addr, u32 len,
		 bool write, struct uet_sge *sge)
{
	struct uet_mr *mr;
	bool ok;

	if (lkey == UET_LOCAL_DMA_LKEY && !qp->user) {
		*sge = (struct uet_sge){ .off = addr, .len = len };
		return 0;
	}
	rcu_read_lock();
	mr = uet_mr_find(qp->dev, lkey);
	ok = mr && mr->pd == qp->ib.pd &&
	     (!write || mr->access & IB_ACCESS_LOCAL_WRITE) &&
	     uet_mr_range(mr, addr, len, sge);
	rcu_read_unlock();
	return ok ? 0 : -EACCES;
}

static bool uet_mr_allows(int have, u8 access)
{
	return !((access & UET_ACCESS_READ && !(have & IB_ACCESS_REMOTE_READ)) ||
		 (access & UET_ACCESS_WRITE &&
		  !(have & IB_ACCESS_REMOTE_WRITE)) ||
		 (access & UET_ACCESS_ATOMIC &&
		  !(have & IB_ACCESS_REMOTE_ATOMIC)));
}

/**
 * uet_mr_remote - struct uet_fep_ops.mem_get
 * @ep: endpoint that the request came to
 * @key: memory key
 * @addr: first byte
 * @len: bytes
 * @access: UET_ACCESS_*
 * @sge: filled in, with a reference on the memory
 *
 * Zero bytes touch nothing and need no key, whatever the key says.
 *
 * Context: engine lock.
 * Return: UET_RC_OK, or why not.
 */
enum uet_rc uet_mr_remote(struct uet_ep *ep, u64 key, u64 addr, u32 len,
			  u8 access, struct uet_sge *sge)
{
	struct uet_qp *qp = uet_ep_priv(ep);
	enum uet_rc rc = UET_RC_OK;
	struct uet_mr *mr;

	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		return UET_RC_DISABLED;
	if (!uet_mr_allows(READ_ONCE(qp->access), access))
		return UET_RC_OP_VIOLATION;
	if (!len) {
		memset(sge, 0, sizeof(*sge));
		return UET_RC_OK;
	}

	rcu_read_lock();
	mr = key == (u32)key ? uet_mr_find(qp->dev, key) : NULL;
	if (!mr || mr->pd != qp->ib.pd)
		rc = UET_RC_BAD_MKEY;
	else if (!uet_mr_allows(mr->access, access))
		rc = UET_RC_PERM_VIOLATION;
	else if (!uet_mr_range(mr, addr, len, sge))
		rc = UET_RC_BAD_ADDR;
	rcu_read_unlock();
	return rc;
}

/**
 * uet_sges_put - give back what uet_mr_local() took
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
