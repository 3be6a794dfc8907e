// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * QPs that are never idle, until one of their devices goes, or the module:
 * whoever comes to take it away finds work under way, and all of it ends.
 */
#include <linux/slab.h>

#include "uet_test.h"

#define KV_PAIRS_MAX	4
#define KV_SLOTS	16
#define KV_PAGES	8
#define KV_SEND_LEN	3000
#define KV_BYTES	(KV_PAGES * PAGE_SIZE)

/* A request that is posted again when it completes. */
struct kv_slot {
	struct ib_cqe cqe;
	struct kv_end *end;
	bool send;
	u8 number;
};

/* One side: what it posts, and the memory that its peer reaches. */
struct kv_end {
	struct kv_side *s;
	struct kv_end *peer;
	struct kv_region region;
	struct kv_slot slot[2 * KV_SLOTS];
	u8 *buf;
	u64 dma;
	spinlock_t lock;	/* all below */
	bool stopping;
	u64 posted;
	u64 completed;
	u64 good;
	u64 refused;
};

struct kv_traffic {
	struct kv_pair pair;
	struct kv_end end[2];
};

/* What there is now, and how the last one ended. kv_mutex held. */
static struct kv_traffic *kv_running;
static bool kv_ended;
/* How requests failed that were not flushed: 1 << enum ib_wc_status. */
static atomic_t kv_errors;
static u64 kv_ended_good, kv_ended_under_way, kv_ended_lost, kv_ended_refused;

static int kv_slot_recv(struct kv_slot *slot)
{
	struct kv_end *e = slot->end;
	struct ib_sge sge = {
		.addr = e->dma,
		.length = KV_SEND_LEN,
		.lkey = e->s->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &slot->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(e->s->qp, &wr, NULL);
}

static int kv_slot_send(struct kv_slot *slot)
{
	static const enum ib_wr_opcode op[] = {
		IB_WR_SEND, IB_WR_RDMA_WRITE, IB_WR_RDMA_READ,
	};
	struct kv_end *e = slot->end;
	struct ib_mr *mr = e->peer->region.mr;
	struct ib_sge sge = {
		.addr = e->dma,
		.length = KV_BYTES,
		.lkey = e->s->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &slot->cqe,
			.opcode = op[slot->number % ARRAY_SIZE(op)],
			.sg_list = &sge,
			.num_sge = 1,
			.send_flags = IB_SEND_SIGNALED,
		},
		.remote_addr = mr->iova,
		.rkey = mr->rkey,
	};

	if (wr.wr.opcode == IB_WR_SEND)
		sge.length = KV_SEND_LEN;
	return ib_post_send(e->s->qp, &wr.wr, NULL);
}

/* Nothing is posted once the QP is to be drained. */
static int kv_slot_post(struct kv_slot *slot)
{
	struct kv_end *e = slot->end;
	unsigned long irq;
	int err = 0;

	spin_lock_irqsave(&e->lock, irq);
	if (!e->stopping) {
		err = slot->send ? kv_slot_send(slot) : kv_slot_recv(slot);
		if (err)
			e->refused++;
		else
			e->posted++;
	}
	spin_unlock_irqrestore(&e->lock, irq);
	return err;
}

static void kv_slot_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kv_slot *slot = container_of(wc->wr_cqe, struct kv_slot, cqe);
	struct kv_end *e = slot->end;
	bool good = wc->status == IB_WC_SUCCESS;
	unsigned long irq;

	spin_lock_irqsave(&e->lock, irq);
	e->completed++;
	e->good += good;
	spin_unlock_irqrestore(&e->lock, irq);
	if (good)
		kv_slot_post(slot);
	else if (wc->status != IB_WC_WR_FLUSH_ERR)
		atomic_or(BIT(wc->status), &kv_errors);
}

static int kv_end_up(struct kv_end *e)
{
	int err = kv_region_up(&e->region, e->s, KV_PAGES);

	if (err)
		return err;
	e->buf = alloc_pages_exact(KV_BYTES, GFP_KERNEL | __GFP_ZERO);
	if (!e->buf)
		return -ENOMEM;
	e->dma = ib_dma_map_single(e->s->dev, e->buf, KV_BYTES,
				   DMA_BIDIRECTIONAL);
	return kv_region_register(&e->region, IB_ACCESS_LOCAL_WRITE |
				  IB_ACCESS_REMOTE_WRITE |
				  IB_ACCESS_REMOTE_READ);
}

/* Receives first: the peer may begin at once. */
static int kv_end_start(struct kv_end *e, bool send)
{
	int i, err = 0;

	for (i = 0; !err && i < KV_SLOTS; i++) {
		struct kv_slot *slot = &e->slot[i + (send ? KV_SLOTS : 0)];

		slot->cqe.done = kv_slot_done;
		slot->end = e;
		slot->send = send;
		slot->number = i;
		err = kv_slot_post(slot);
	}
	return err;
}

static int kv_traffic_up(struct kv_traffic *t, const struct kv_args *args,
			 enum ib_poll_context poll)
{
	const struct kv_conf conf = {
		.poll = poll,
		.wrs = KV_SLOTS,
		.sges = 1,
	};
	int i, err;

	err = kv_pair_up(&t->pair, args, &conf);
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(t->end); i++) {
		t->end[i].s = &t->pair.side[i];
		t->end[i].peer = &t->end[!i];
		spin_lock_init(&t->end[i].lock);
	}
	return kv_end_up(&t->end[0]) ?: kv_end_up(&t->end[1]) ?:
	       kv_end_start(&t->end[0], false) ?:
	       kv_end_start(&t->end[1], false) ?:
	       kv_end_start(&t->end[0], true) ?:
	       kv_end_start(&t->end[1], true);
}

static void kv_end_stop(struct kv_end *e)
{
	spin_lock_irq(&e->lock);
	e->stopping = true;
	kv_ended_under_way += e->posted - e->completed;
	spin_unlock_irq(&e->lock);
}

static void kv_end_down(struct kv_end *e)
{
	kv_ended_good += e->good;
	kv_ended_lost += e->posted - e->completed;
	kv_ended_refused += e->refused;
	kv_region_down(&e->region);
	if (e->buf) {
		ib_dma_unmap_single(e->s->dev, e->dma, KV_BYTES,
				    DMA_BIDIRECTIONAL);
		free_pages_exact(e->buf, KV_BYTES);
	}
}

static void kv_traffic_down(struct kv_traffic *t)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(t->end); i++)
		if (t->end[i].s)
			kv_end_stop(&t->end[i]);
	for (i = 0; i < ARRAY_SIZE(t->end); i++)
		if (t->end[i].s)
			ib_drain_qp(t->end[i].s->qp);
	for (i = 0; i < ARRAY_SIZE(t->end); i++)
		if (t->end[i].s)
			kv_end_down(&t->end[i]);
	kv_pair_down(&t->pair);
}

static void kv_all_down(struct kv_traffic *all)
{
	int i;

	kv_ended_good = 0;
	kv_ended_under_way = 0;
	kv_ended_lost = 0;
	kv_ended_refused = 0;
	for (i = 0; i < KV_PAIRS_MAX; i++)
		kv_traffic_down(&all[i]);
	kvfree(all);
	kv_ended = true;
}

static bool kv_uses(const struct kv_traffic *t, const struct ib_device *dev)
{
	return t->pair.side[0].dev == dev || t->pair.side[1].dev == dev;
}

/* The device goes. kv_mutex held. */
void kv_traffic_stop(const struct ib_device *dev)
{
	if (!kv_running || !kv_uses(kv_running, dev))
		return;
	kv_all_down(kv_running);
	kv_running = NULL;
}

/* As many pairs as @args has rounds; completion handlers post from now on. */
int kv_traffic_start(const struct kv_args *args)
{
	static const enum ib_poll_context polls[] = {
		IB_POLL_SOFTIRQ, IB_POLL_WORKQUEUE,
	};
	struct kv_traffic *all;
	int i, err = 0;

	if (kv_running)
		return -EBUSY;
	atomic_set(&kv_errors, 0);
	all = kvcalloc(KV_PAIRS_MAX, sizeof(*all), GFP_KERNEL);
	if (!all)
		return -ENOMEM;
	for (i = 0; !err && i < min(args->rounds, KV_PAIRS_MAX); i++)
		err = kv_traffic_up(&all[i], args, polls[i % 2]);
	if (err) {
		kv_all_down(all);
		return err;
	}
	kv_running = all;
	kv_ended = false;
	return 0;
}

static void kv_say_errors(void)
{
	unsigned long errors = atomic_read(&kv_errors);
	int status;

	for_each_set_bit(status, &errors, BITS_PER_LONG)
		kv_say("%s\n", ib_wc_status_msg(status));
}

/* Is it still as it was when it began? */
int kv_traffic_runs(const struct kv_args *args)
{
	if (!kv_running) {
		kv_say("there is no traffic\n");
		return -ENODEV;
	}
	kv_say_errors();
	return atomic_read(&kv_errors) ? -EIO : 0;
}

/* Has it ended as it should, with work under way? */
int kv_traffic_ended(const struct kv_args *args)
{
	if (kv_running || !kv_ended) {
		kv_say("the traffic goes on\n");
		return -EBUSY;
	}
	kv_say("%llu requests succeeded, %llu were under way\n", kv_ended_good,
	       kv_ended_under_way);
	/* Of a peer that ended first. */
	kv_say_errors();
	return !kv_ended_good || !kv_ended_under_way ? -EIO :
	       kv_want("requests lost", kv_ended_lost, 0) ?:
	       kv_want("requests refused", kv_ended_refused, 0);
}
