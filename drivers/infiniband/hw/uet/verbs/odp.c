// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * On-demand paging: regions of a process whose pages are not pinned. The
 * engine asks for bytes (uet_odp_page_in()) and never waits for them: what is
 * missing is noted, a work item fetches it, and the packet is tried again. The
 * kernel takes pages back whenever it likes, and then waits for the copies
 * under way, which run with BHs off.
 *
 * A page that cannot be had fails the next access to it.
 */
#include <linux/bitmap.h>
#include <linux/hmm.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <rdma/ib_umem_odp.h>

#include "uet.h"

/* Pages fetched at once, and how many of them behind those asked for. */
#define UET_ODP_BATCH	64
#define UET_ODP_AHEAD	16

/* For so long a failure is news to those that asked. */
#define UET_ODP_BAD	HZ

/*
 * Page flags, a bitmap each. UET_PG_HERE and UET_PG_WRITE change under
 * umem_mutex, the page is known before they are set.
 */
enum uet_page_flag {
	UET_PG_HERE,		/* may be read */
	UET_PG_WRITE,		/* and written */
	UET_PG_WANTED,		/* for the work item: to be fetched */
	UET_PG_WANTED_WRITE,	/* to be written to */
	UET_PG_BAD,		/* could not be had */
	UET_PG_NR
};

/**
 * struct uet_odp - what comes with a region that is not pinned
 * @umem: the range of the process
 * @map: its memory as the engine sees it, with a reference
 * @dev: device
 * @work: fetches pages
 * @bad_at: when UET_PG_BAD was set last, jiffies
 * @waiters: QPs that go on when @work has run; under uet_odp_lock
 * @nr: pages
 * @flag: bitmaps
 */
struct uet_odp {
	struct ib_umem_odp *umem;
	struct uet_map *map;
	struct uet_dev *dev;
	struct work_struct work;
	unsigned long bad_at;
	struct list_head waiters;
	unsigned long nr;
	unsigned long *flag[UET_PG_NR];
};

static DEFINE_SPINLOCK(uet_odp_lock);

/* ------------------------------------------------------------------ */
/* Pages come and go                                                   */

/* umem_mutex held. */
static void uet_odp_take_in(struct uet_odp *odp, unsigned long i,
			    unsigned long pfn)
{
	if (!(pfn & HMM_PFN_VALID) || pfn & HMM_PFN_ERROR)
		return;
	odp->map->bvec[i].bv_page = hmm_pfn_to_page(pfn);
	/* Pairs with the acquire of uet_odp_is_here(). */
	smp_mb__before_atomic();
	if (pfn & HMM_PFN_WRITE && odp->umem->umem.writable)
		set_bit(i, odp->flag[UET_PG_WRITE]);
	set_bit(i, odp->flag[UET_PG_HERE]);
	clear_bit(i, odp->flag[UET_PG_BAD]);
}

/* @fault: bring in what is not there; else only note what is. May sleep. */
static int uet_odp_fetch(struct uet_odp *odp, unsigned long i, unsigned long nr,
			 bool write, bool fault)
{
	struct ib_umem_odp *umem = odp->umem;
	unsigned long end = i + nr;
	int n;

	n = ib_umem_odp_map_dma_and_lock(umem, ib_umem_start(umem) +
					 (i << PAGE_SHIFT), nr << PAGE_SHIFT,
					 UET_ODP_ACCESS(write), fault);
	if (n < 0)
		return n;
	for (; i < end; i++)
		uet_odp_take_in(odp, i, UET_ODP_PFNS(umem)[i]);
	mutex_unlock(&umem->umem_mutex);
	return 0;
}

static void uet_odp_fetch_or_fail(struct uet_odp *odp, unsigned long i,
				  bool write)
{
	if (!uet_odp_fetch(odp, i, 1, write, true))
		return;
	WRITE_ONCE(odp->bad_at, jiffies);
	set_bit(i, odp->flag[UET_PG_BAD]);
}

/*
 * Fetch a run of wanted pages that starts at @i, and some more: who reads on
 * will want them next. If that fails each page is on its own.
 */
static unsigned long uet_odp_run(struct uet_odp *odp, unsigned long i)
{
	unsigned long end, ahead, pos;
	bool write = false;

	end = find_next_zero_bit(odp->flag[UET_PG_WANTED],
				 min(odp->nr, i + UET_ODP_BATCH), i);
	ahead = min(odp->nr, end + UET_ODP_AHEAD);
	for (pos = i; pos < end; pos++) {
		clear_bit(pos, odp->flag[UET_PG_WANTED]);
		/* Who wants it from here on is served by another run. */
		smp_mb__after_atomic();
		if (test_and_clear_bit(pos, odp->flag[UET_PG_WANTED_WRITE]))
			write = true;
	}
	if (uet_odp_fetch(odp, i, ahead - i, write, true))
		for (pos = i; pos < end; pos++)
			uet_odp_fetch_or_fail(odp, pos, write);
	return end;
}

static void uet_odp_wake(struct uet_odp *odp)
{
	struct uet_qp *qp;

	spin_lock_bh(&uet_odp_lock);
	while ((qp = list_first_entry_or_null(&odp->waiters, struct uet_qp,
					      odp_node))) {
		list_del_init(&qp->odp_node);
		uet_sq_queue_work(qp);
		uet_qp_put(qp);
	}
	spin_unlock_bh(&uet_odp_lock);
}

static void uet_odp_work(struct work_struct *work)
{
	struct uet_odp *odp = container_of(work, struct uet_odp, work);
	unsigned long i = 0;

	while ((i = find_next_bit(odp->flag[UET_PG_WANTED], odp->nr, i)) <
	       odp->nr) {
		i = uet_odp_run(odp, i);
		cond_resched();
	}
	uet_odp_wake(odp);
}

/* Copies have ended. What they wrote must not get lost with the page. */
static void uet_odp_dirty(struct uet_odp *odp, unsigned long i,
			  unsigned long end)
{
	for (; i < end; i++)
		if (test_and_clear_bit(i, odp->flag[UET_PG_WRITE]))
			set_page_dirty(compound_head(odp->map->bvec[i].bv_page));
}

/* umem_mutex held. */
static void uet_odp_take_away(struct uet_odp *odp, unsigned long first,
			      unsigned long end)
{
	bool busy = false;
	unsigned long i;

	for (i = first; i < end; i++)
		busy |= test_and_clear_bit(i, odp->flag[UET_PG_HERE]);
	if (!busy)
		return;
	synchronize_rcu_expedited();
	uet_odp_dirty(odp, first, end);
}

static bool uet_odp_invalidate(struct mmu_interval_notifier *mni,
			       const struct mmu_notifier_range *range,
			       unsigned long seq)
{
	struct ib_umem_odp *umem = container_of(mni, struct ib_umem_odp,
						notifier);
	unsigned long start = max_t(u64, ib_umem_start(umem), range->start);
	unsigned long end = min_t(u64, ib_umem_end(umem), range->end);

	if (!mmu_notifier_range_blockable(range))
		return false;
	mutex_lock(&umem->umem_mutex);
	mmu_interval_set_seq(mni, seq);
	/* Not yet while the region is made, and not any more when it ends. */
	if (umem->private) {
		uet_odp_take_away(umem->private,
				  (start - ib_umem_start(umem)) >> PAGE_SHIFT,
				  (end - ib_umem_start(umem) + PAGE_SIZE - 1) >>
				  PAGE_SHIFT);
		ib_umem_odp_unmap_dma_pages(umem, start, end);
	}
	mutex_unlock(&umem->umem_mutex);
	return true;
}

static const struct mmu_interval_notifier_ops uet_odp_ops = {
	.invalidate = uet_odp_invalidate,
};

/* ------------------------------------------------------------------ */
/* Access                                                              */

static bool uet_odp_is_here(const struct uet_odp *odp, unsigned long i,
			    bool write)
{
	return test_bit_acquire(i, odp->flag[UET_PG_HERE]) &&
	       (!write || test_bit_acquire(i, odp->flag[UET_PG_WRITE]));
}

/* Was the page asked for and not to be had? Says so once. */
static bool uet_odp_is_bad(struct uet_odp *odp, unsigned long i)
{
	return test_and_clear_bit(i, odp->flag[UET_PG_BAD]) &&
	       time_before(jiffies, READ_ONCE(odp->bad_at) + UET_ODP_BAD);
}

static void uet_odp_want(struct uet_odp *odp, unsigned long i, bool write)
{
	if (write)
		set_bit(i, odp->flag[UET_PG_WANTED_WRITE]);
	/* uet_odp_run() looks at it after it has seen the other one. */
	smp_mb__before_atomic();
	set_bit(i, odp->flag[UET_PG_WANTED]);
}

/* struct uet_mem.page_in */
static int uet_odp_page_in(struct uet_mem *mem, u64 off, u32 len, bool write)
{
	struct uet_odp *odp = container_of(mem, struct uet_map, mem)->odp;
	unsigned long i = (off + mem->first_off) >> PAGE_SHIFT;
	unsigned long last = (off + mem->first_off + len - 1) >> PAGE_SHIFT;
	int err = 0;

	for (; i <= last; i++) {
		if (uet_odp_is_here(odp, i, write))
			continue;
		if (uet_odp_is_bad(odp, i))
			return -EFAULT;
		uet_odp_want(odp, i, write);
		err = -EAGAIN;
	}
	if (err) {
		uet_stat_inc(odp->dev->fep, UET_STAT_PAGE_FAULTS);
		queue_work(system_dfl_wq, &odp->work);
	}
	return err;
}

/* Take @qp from the list, if it is on it. */
static void uet_odp_wait_not(struct uet_qp *qp)
{
	bool was;

	spin_lock_bh(&uet_odp_lock);
	was = !list_empty(&qp->odp_node);
	list_del_init(&qp->odp_node);
	spin_unlock_bh(&uet_odp_lock);
	if (was)
		uet_qp_put(qp);
}

static void uet_odp_wait(struct uet_odp *odp, struct uet_qp *qp)
{
	spin_lock_bh(&uet_odp_lock);
	if (list_empty(&qp->odp_node)) {
		uet_qp_get(qp);
		list_add_tail(&qp->odp_node, &odp->waiters);
	}
	spin_unlock_bh(&uet_odp_lock);
}

/**
 * uet_odp_ready - are these bytes there?
 * @qp: its send queue is run again once they may be; the caller is its runner
 * @sge: to be read
 *
 * For datagrams, which are not sent again. Between this and the send a page may
 * still be taken away: then the datagram is lost.
 *
 * Context: process or softirq, no lock held.
 * Return: 0, -EAGAIN, or another errno if they never will be.
 */
int uet_odp_ready(struct uet_qp *qp, const struct uet_sge *sge)
{
	struct uet_odp *odp;
	int err;

	if (!sge->mem || !sge->mem->page_in)
		return 0;
	/* While the memory is entered its region cannot go. */
	if (!uet_mem_enter(sge->mem))
		return -EACCES;
	odp = container_of(sge->mem, struct uet_map, mem)->odp;
	/* On the list first, so that no wake-up is missed. */
	uet_odp_wait(odp, qp);
	err = uet_odp_page_in(sge->mem, sge->off, sge->len, false);
	if (err != -EAGAIN)
		uet_odp_wait_not(qp);
	uet_mem_exit(sge->mem);
	return err;
}

/* ------------------------------------------------------------------ */
/* Regions                                                             */

static void uet_odp_free(struct uet_odp *odp)
{
	int i;

	for (i = 0; i < UET_PG_NR; i++)
		kvfree(odp->flag[i]);
	kfree(odp);
}

static struct uet_odp *uet_odp_alloc(struct uet_dev *dev, unsigned long nr)
{
	struct uet_odp *odp = kzalloc_obj(*odp, GFP_KERNEL_ACCOUNT);
	int i;

	if (!odp)
		return NULL;
	odp->dev = dev;
	odp->nr = nr;
	INIT_LIST_HEAD(&odp->waiters);
	INIT_WORK(&odp->work, uet_odp_work);
	for (i = 0; i < UET_PG_NR; i++) {
		odp->flag[i] = kvcalloc(BITS_TO_LONGS(nr), sizeof(long),
					GFP_KERNEL_ACCOUNT);
		if (!odp->flag[i]) {
			uet_odp_free(odp);
			return NULL;
		}
	}
	return odp;
}

/* One block per page, each without its page for now. */
static int uet_odp_fill(struct uet_map *map, u64 start, u64 length)
{
	struct uet_mem *mem = &map->mem;
	u64 nr, left = length;
	u32 i, skip;

	mem->first_off = offset_in_page(start);
	nr = (mem->first_off + length + PAGE_SIZE - 1) >> PAGE_SHIFT;
	if (nr > INT_MAX / sizeof(*map->bvec))
		return -ENOMEM;
	map->bvec = kvcalloc(nr, sizeof(*map->bvec), GFP_KERNEL_ACCOUNT);
	if (!map->bvec)
		return -ENOMEM;
	skip = mem->first_off;
	for (i = 0; i < nr; i++) {
		u32 n = min_t(u64, left, PAGE_SIZE - skip);

		bvec_set_page(&map->bvec[i], NULL, n, skip);
		left -= n;
		skip = 0;
	}
	map->room = nr;
	mem->bvec = map->bvec;
	mem->nr_bvec = nr;
	mem->shift = PAGE_SHIFT;
	mem->length = length;
	/* A packet that referred to a page would outlive it. */
	mem->copy = true;
	mem->page_in = uet_odp_page_in;
	return 0;
}

/**
 * uet_odp_create - give a region the pages of a process, as they come
 * @mr: region with an empty map
 * @ib: device
 * @start: first byte in the process
 * @length: bytes
 * @access: enum ib_access_flags
 *
 * Context: process.
 * Return: 0, or a negative errno; then nothing has to be undone.
 */
int uet_odp_create(struct uet_mr *mr, struct ib_device *ib, u64 start,
		   u64 length, int access)
{
	struct uet_map *map = mr->mkey.map;
	struct uet_odp *odp;
	int err;

	/* A window has no pages of its own. */
	if (access & IB_ACCESS_MW_BIND)
		return -EOPNOTSUPP;
	err = uet_odp_fill(map, start, length);
	if (err)
		return err;
	odp = uet_odp_alloc(to_udev(ib), map->mem.nr_bvec);
	if (!odp)
		return -ENOMEM;
	odp->map = map;
	uet_mem_get(&map->mem);
	odp->umem = ib_umem_odp_get(ib, start, length, access, &uet_odp_ops);
	if (IS_ERR(odp->umem)) {
		err = PTR_ERR(odp->umem);
		uet_map_put(map);
		uet_odp_free(odp);
		return err;
	}
	mutex_lock(&odp->umem->umem_mutex);
	odp->umem->private = odp;
	mutex_unlock(&odp->umem->umem_mutex);
	map->odp = odp;
	mr->odp = odp;
	return 0;
}

/**
 * uet_odp_destroy - end what uet_odp_create() made
 * @mr: region; nobody can enter its memory any more
 *
 * Context: process.
 */
void uet_odp_destroy(struct uet_mr *mr)
{
	struct uet_odp *odp = mr->odp;

	cancel_work_sync(&odp->work);
	uet_odp_wake(odp);
	mutex_lock(&odp->umem->umem_mutex);
	odp->umem->private = NULL;
	uet_odp_dirty(odp, 0, odp->nr);
	mutex_unlock(&odp->umem->umem_mutex);
	ib_umem_odp_release(odp->umem);
	uet_map_put(odp->map);
	uet_odp_free(odp);
}

/* Part of a region, in pieces that let others have umem_mutex in between. */
static int uet_odp_prefetch(struct uet_odp *odp, const struct uet_sge *sge,
			    bool write, bool fault)
{
	u64 first = sge->off + odp->map->mem.first_off;
	unsigned long i = first >> PAGE_SHIFT;
	unsigned long end = (first + sge->len + PAGE_SIZE - 1) >> PAGE_SHIFT;
	int err = 0;

	while (i < end && !err) {
		unsigned long n = min(end - i, (unsigned long)UET_ODP_BATCH);

		err = uet_odp_fetch(odp, i, n, write, fault);
		i += n;
		cond_resched();
	}
	return err;
}

/**
 * uet_advise_mr - fetch pages before they are needed
 * @pd: protection domain
 * @advice: IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH*
 * @flags: whether the caller wants to wait; it always does
 * @sg_list: parts of regions
 * @num_sge: how many
 * @attrs: of the verb
 *
 * Context: process.
 * Return: 0; -EOPNOTSUPP for another advice; -EINVAL if a key, range or right
 * is wrong; -EFAULT and others if pages cannot be had.
 */
int uet_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		  u32 flags, struct ib_sge *sg_list, u32 num_sge,
		  struct uverbs_attr_bundle *attrs)
{
	bool write = advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	bool fault = advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;
	struct uet_sge sge;
	int err = 0;
	u32 i;

	if (advice > IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return -EOPNOTSUPP;
	for (i = 0; i < num_sge && !err; i++) {
		if (!sg_list[i].length)
			continue;
		if (uet_mkey_local(pd, true, sg_list[i].lkey, sg_list[i].addr,
				   sg_list[i].length, write, &sge))
			return -EINVAL;
		err = -EINVAL;
		if (sge.mem && sge.mem->page_in && uet_mem_enter(sge.mem)) {
			err = uet_odp_prefetch(container_of(sge.mem,
							    struct uet_map,
							    mem)->odp,
					       &sge, write, fault);
			uet_mem_exit(sge.mem);
		}
		uet_sges_put(&sge, 1);
	}
	return err;
}
