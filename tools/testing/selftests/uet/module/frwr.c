// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Fast registration: how much, and when a key is one.
 */
#include <linux/prandom.h>
#include <linux/slab.h>

#include "uet_test.h"

#define KV_ALL	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
		 IB_ACCESS_REMOTE_READ)

/* Side 0 reads and writes what side 1 registers. */
struct kv_frwr {
	struct kv_pair pair;
	struct kv_region region;
	struct kv_region local;
};

static int kv_frwr_up(struct kv_frwr *t, const struct kv_args *args, u32 nr)
{
	const struct kv_conf conf = {
		.poll = IB_POLL_WORKQUEUE,
		.wrs = 16,
		.sges = 1,
	};

	return kv_pair_up(&t->pair, args, &conf) ?:
	       kv_region_up(&t->region, &t->pair.side[1], nr) ?:
	       kv_region_up(&t->local, &t->pair.side[0], nr) ?:
	       kv_region_register(&t->local, IB_ACCESS_LOCAL_WRITE);
}

static int kv_frwr_run(const struct kv_args *args, u32 nr,
		       int (*test)(struct kv_frwr *t, u32 rounds))
{
	struct kv_frwr *t = kzalloc_obj(*t);
	int err;

	if (!t)
		return -ENOMEM;
	err = kv_frwr_up(t, args, nr) ?: test(t, args->rounds);
	kv_region_down(&t->region);
	kv_region_down(&t->local);
	kv_pair_down(&t->pair);
	kfree(t);
	return err;
}

/* READ or WRITE from or to the region's byte @off. */
static int kv_access(struct kv_frwr *t, enum ib_wr_opcode op, u32 key, u32 off,
		     u32 len, const char *what, enum ib_wc_status want)
{
	struct ib_sge sge = {
		.addr = t->local.mr->iova,
		.length = len,
		.lkey = t->local.mr->lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = { .opcode = op, .sg_list = &sge, .num_sge = 1 },
		.remote_addr = t->region.mr->iova + off,
		.rkey = key,
	};

	return kv_do(&t->pair.side[0], &wr.wr, what, want);
}

static int kv_good(struct kv_frwr *t, u32 key, const char *what)
{
	return kv_access(t, IB_WR_RDMA_WRITE, key, 0, 16, what, IB_WC_SUCCESS);
}

/* The peer is refused, which costs the connection. */
static int kv_refused(struct kv_frwr *t, u32 key, const char *what)
{
	return kv_access(t, IB_WR_RDMA_WRITE, key, 0, 16, what,
			 IB_WC_REM_ACCESS_ERR) ?: kv_pair_reconnect(&t->pair);
}

/* A request of the owner that fails, which costs it as well. */
static int kv_own_refused(struct kv_frwr *t, struct ib_send_wr *wr,
			  const char *what)
{
	return kv_do(&t->pair.side[1], wr, what, IB_WC_MW_BIND_ERR) ?:
	       kv_pair_reconnect(&t->pair);
}

static void kv_frwr_random(struct kv_region *r, struct rnd_state *rnd)
{
	u32 i;

	for (i = 0; i < r->nr; i++)
		prandom_bytes_state(rnd, page_address(r->page[i]), PAGE_SIZE);
}

static int kv_frwr_same(struct kv_frwr *t, const char *what)
{
	u32 i;

	for (i = 0; i < t->region.nr; i++) {
		if (!memcmp(page_address(t->region.page[i]),
			    page_address(t->local.page[i]), PAGE_SIZE))
			continue;
		kv_say("%s: page %u differs\n", what, i);
		return -EIO;
	}
	return 0;
}

/* As many pages as the device says, and no one more. */
static int kv_frwr_full(struct kv_frwr *t, u32 rounds)
{
	u32 max = t->region.nr, len = max * PAGE_SIZE;
	struct rnd_state rnd;
	struct ib_mr *more;
	int err;

	more = ib_alloc_mr(t->pair.side[1].pd, IB_MR_TYPE_MEM_REG, max + 1);
	if (!IS_ERR(more)) {
		ib_dereg_mr(more);
		kv_say("there may be a page more than the device says\n");
		return -EIO;
	}
	prandom_seed_state(&rnd, max);
	kv_frwr_random(&t->local, &rnd);
	err = kv_region_register(&t->region, KV_ALL) ?:
	      kv_access(t, IB_WR_RDMA_WRITE, t->region.mr->rkey, 0, len,
			"WRITE to all pages", IB_WC_SUCCESS) ?:
	      kv_frwr_same(t, "WRITE");
	kv_frwr_random(&t->region, &rnd);
	err = err ?: kv_access(t, IB_WR_RDMA_READ, t->region.mr->rkey, 0, len,
			       "READ of all pages", IB_WC_SUCCESS) ?:
	      kv_frwr_same(t, "READ");
	return err ?: kv_access(t, IB_WR_RDMA_WRITE, t->region.mr->rkey,
				len - 15, 16, "WRITE across the end",
				IB_WC_REM_ACCESS_ERR);
}

/* A region of half the pages takes half of a list. */
static int kv_frwr_half(struct kv_frwr *t, u32 rounds)
{
	u32 half = t->region.nr / 2;
	struct ib_mr *mr;
	int n;

	mr = ib_alloc_mr(t->pair.side[1].pd, IB_MR_TYPE_MEM_REG, half);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	n = ib_map_mr_sg(mr, t->region.sgt.sgl, t->region.nr, NULL, PAGE_SIZE);
	ib_dereg_mr(mr);
	return kv_want("entries mapped", n, half);
}

int kv_frwr_limit(const struct kv_args *args)
{
	struct ib_device *dev = args->dev[1];

	if (!dev)
		return -ENODEV;
	return kv_frwr_run(args, dev->attrs.max_fast_reg_page_list_len,
			   kv_frwr_full) ?: kv_frwr_run(args, 8, kv_frwr_half);
}

/* SEND_WITH_INV of the peer: whose key it was hears of it, and it is gone. */
static int kv_frwr_remote_inv(struct kv_frwr *t, u32 key)
{
	struct kv_side *owner = &t->pair.side[1];
	struct ib_send_wr send = {
		.opcode = IB_WR_SEND_WITH_INV,
		.ex.invalidate_rkey = key,
	};
	int err;

	err = kv_post_recv(owner, NULL, 0) ?:
	      kv_do(&t->pair.side[0], &send, "SEND_WITH_INV", IB_WC_SUCCESS) ?:
	      kv_received(owner, "receive", IB_WC_SUCCESS);
	if (!err && !(owner->recv.wc.wc_flags & IB_WC_WITH_INVALIDATE)) {
		kv_say("the receiver does not hear of the invalidation\n");
		return -EIO;
	}
	return err ?: kv_want("key invalidated",
			      owner->recv.wc.ex.invalidate_rkey, key);
}

/* From one key to the next, by either way of ending one. */
static int kv_frwr_cycle(struct kv_frwr *t, u32 round)
{
	struct ib_mr *mr = t->region.mr;
	bool check = round % 16 < 2;
	u32 key, old = mr->rkey;
	int err = kv_region_register(&t->region, KV_ALL);

	if (err)
		return err;
	key = mr->rkey;
	err = kv_want("key", key, (old & ~0xff) | ((old + 1) & 0xff)) ?:
	      kv_want("local key", mr->lkey, key) ?:
	      kv_good(t, key, "WRITE by the new key");
	if (!err && check)
		err = kv_refused(t, old, "WRITE by the last key") ?:
		      kv_refused(t, ib_inc_rkey(key), "WRITE by the next key");
	err = err ?: round & 1 ? kv_frwr_remote_inv(t, key) :
				 kv_region_invalidate(&t->region);
	if (!err && check)
		err = kv_refused(t, key, "WRITE by an ended key");
	return err;
}

/* In long runs more rounds than a region has keys: they come again. */
static int kv_frwr_cycles(struct kv_frwr *t, u32 rounds)
{
	u32 i;
	int err = 0;

	for (i = 0; !err && i < rounds; i++)
		err = kv_frwr_cycle(t, i);
	if (err)
		kv_say("round %u\n", i - 1);
	return err;
}

int kv_frwr_keys(const struct kv_args *args)
{
	return kv_frwr_run(args, 2, kv_frwr_cycles);
}

/* What a key lets its user do, and what its owner may not do with it. */
static int kv_frwr_each_right(struct kv_frwr *t, u32 rounds)
{
	struct ib_mr *mr = t->region.mr;
	struct ib_reg_wr again, foreign;
	struct ib_send_wr inv = { .opcode = IB_WR_LOCAL_INV };
	int err;

	inv.ex.invalidate_rkey = mr->rkey;
	err = kv_own_refused(t, &inv, "invalidation of no key") ?:
	      kv_refused(t, mr->rkey, "WRITE before registration") ?:
	      kv_region_register(&t->region, IB_ACCESS_REMOTE_READ) ?:
	      kv_access(t, IB_WR_RDMA_READ, mr->rkey, 0, 16, "READ",
			IB_WC_SUCCESS) ?:
	      kv_refused(t, mr->rkey, "WRITE to what is for READs");
	if (!err && !kv_region_is_filled(&t->region))
		err = kv_want("what was refused was written", 1, 0);
	if (err)
		return err;

	again = kv_region_wr(&t->region, KV_ALL);
	foreign = again;
	foreign.key += 0x100;
	err = kv_own_refused(t, &again.wr, "registration again") ?:
	      kv_region_invalidate(&t->region) ?:
	      kv_region_map(&t->region) ?:
	      kv_own_refused(t, &foreign.wr, "registration by a foreign key");
	return err ?: kv_refused(t, foreign.key, "WRITE by a foreign key");
}

int kv_frwr_rights(const struct kv_args *args)
{
	return kv_frwr_run(args, 2, kv_frwr_each_right);
}

/* End one key and register the next in one go, with a message behind. */
static int kv_frwr_chain(struct kv_frwr *t, u32 old)
{
	struct kv_side *owner = &t->pair.side[1], *user = &t->pair.side[0];
	struct ib_send_wr send = { .opcode = IB_WR_SEND };
	struct ib_reg_wr reg = kv_region_wr(&t->region, KV_ALL);
	struct ib_send_wr inv = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = old,
		.next = &reg.wr,
	};

	reg.wr.next = &send;
	return kv_post_recv(user, NULL, 0) ?:
	       kv_do(owner, &inv, "chain", IB_WC_SUCCESS) ?:
	       kv_received(user, "receive", IB_WC_SUCCESS);
}

/*
 * The next memory may be mapped while the present one is in use, which stays
 * what peers reach until the new key is registered.
 */
static int kv_frwr_next_one(struct kv_frwr *t, struct kv_region *next)
{
	struct ib_mr *mr = t->region.mr;
	u32 old = mr->rkey;
	u64 iova = mr->iova;
	int n, err;

	n = ib_map_mr_sg(mr, next->sgt.sgl, next->nr, NULL, PAGE_SIZE);
	err = kv_want("mapped pages", n, next->nr);
	if (err)
		return err;
	swap(iova, mr->iova);
	err = kv_good(t, old, "WRITE to the present memory");
	swap(iova, mr->iova);
	if (!err && (kv_region_is_filled(&t->region) ||
		     !kv_region_is_filled(next)))
		err = kv_want("the present memory is written", 0, 1);
	kv_region_fill(&t->region, 0, t->region.nr * PAGE_SIZE);
	ib_update_fast_reg_key(mr, ib_inc_rkey(old));
	err = err ?: kv_frwr_chain(t, old) ?:
	      kv_good(t, mr->rkey, "WRITE to the next memory");
	if (!err && (!kv_region_is_filled(&t->region) ||
		     kv_region_is_filled(next)))
		err = kv_want("the next memory is written", 0, 1);
	kv_region_fill(next, 0, next->nr * PAGE_SIZE);
	return err;
}

static int kv_frwr_nexts(struct kv_frwr *t, u32 rounds)
{
	struct kv_region next;
	u32 i;
	int err;

	kv_region_write(&t->local, 0, "not the filling.", 16);
	err = kv_region_up(&next, &t->pair.side[1], t->region.nr) ?:
	      kv_region_register(&t->region, KV_ALL);
	for (i = 0; !err && i < rounds; i++) {
		err = kv_frwr_next_one(t, &next);
		/* Its memory and the other change places. */
		swap(t->region.page, next.page);
		swap(t->region.sgt, next.sgt);
	}
	kv_region_down(&next);
	return err;
}

int kv_frwr_next(const struct kv_args *args)
{
	return kv_frwr_run(args, 4, kv_frwr_nexts);
}
