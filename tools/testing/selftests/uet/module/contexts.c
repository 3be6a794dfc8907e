// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Where requests are posted from, and where completions are handled.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/slab.h>
#include <linux/timer.h>

#include "uet_test.h"

/* One message at a time, posted by post() wherever that is called. */
struct kv_contexts {
	struct kv_pair pair;
	u64 *data[2];
	u64 dma[2];
	u64 number;
	spinlock_t lock;		/* a lock of whoever posts */
	struct timer_list timer;
	struct hrtimer hrtimer;
	struct completion posted;
	int err;
};

static struct ib_sge kv_number_sge(struct kv_contexts *t, int i)
{
	return (struct ib_sge){
		.addr = t->dma[i],
		.length = sizeof(u64),
		.lkey = t->pair.side[i].pd->local_dma_lkey,
	};
}

/* Context: any. */
static int kv_number_recv(struct kv_contexts *t, int i)
{
	struct ib_sge sge = kv_number_sge(t, i);

	return kv_post_recv(&t->pair.side[i], &sge, 1);
}

/* Context: any. */
static void kv_number_post(struct kv_contexts *t)
{
	struct ib_sge sge = kv_number_sge(t, 0);
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND,
		.sg_list = &sge,
		.num_sge = 1,
	};

	t->err = kv_number_recv(t, 1) ?: kv_post(&t->pair.side[0], &wr);
	complete(&t->posted);
}

static void kv_by_process(struct kv_contexts *t)
{
	kv_number_post(t);
}

static void kv_by_lock(struct kv_contexts *t)
{
	unsigned long irq;

	spin_lock_irqsave(&t->lock, irq);
	kv_number_post(t);
	spin_unlock_irqrestore(&t->lock, irq);
}

static void kv_timer_fn(struct timer_list *timer)
{
	kv_number_post(container_of(timer, struct kv_contexts, timer));
}

static void kv_by_timer(struct kv_contexts *t)
{
	mod_timer(&t->timer, jiffies);
}

static enum hrtimer_restart kv_hrtimer_fn(struct hrtimer *timer)
{
	kv_number_post(container_of(timer, struct kv_contexts, hrtimer));
	return HRTIMER_NORESTART;
}

static void kv_by_interrupt(struct kv_contexts *t)
{
	hrtimer_start(&t->hrtimer, ns_to_ktime(1000), HRTIMER_MODE_REL_HARD);
}

static const struct {
	const char *name;
	void (*post)(struct kv_contexts *t);
} kv_places[] = {
	{ "process", kv_by_process },
	{ "process with interrupts off", kv_by_lock },
	{ "timer", kv_by_timer },
	{ "interrupt", kv_by_interrupt },
};

static const struct {
	const char *name;
	enum ib_poll_context poll;
	bool own_handler;
} kv_polls[] = {
	{ "softirq", IB_POLL_SOFTIRQ },
	{ "workqueue", IB_POLL_WORKQUEUE },
	{ "unbound workqueue", IB_POLL_UNBOUND_WORKQUEUE },
	{ "direct", IB_POLL_DIRECT },
	{ "own handler", .own_handler = true },
};

static int kv_one_number(struct kv_contexts *t,
			 void (*post)(struct kv_contexts *t))
{
	int err;

	*t->data[0] = ++t->number;
	*t->data[1] = 0;
	post(t);
	wait_for_completion(&t->posted);
	err = kv_want("posting", t->err, 0) ?:
	      kv_sent(&t->pair.side[0], "SEND", IB_WC_SUCCESS) ?:
	      kv_received(&t->pair.side[1], "receive", IB_WC_SUCCESS);
	return err ?: kv_want("number", *t->data[1], t->number);
}

static int kv_contexts_up(struct kv_contexts *t, const struct kv_args *args,
			  int kind)
{
	const struct kv_conf conf = {
		.poll = kv_polls[kind].poll,
		.own_handler = kv_polls[kind].own_handler,
		.wrs = 16,
		.sges = 1,
	};
	int i, err;

	spin_lock_init(&t->lock);
	init_completion(&t->posted);
	timer_setup(&t->timer, kv_timer_fn, 0);
	hrtimer_setup(&t->hrtimer, kv_hrtimer_fn, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_HARD);
	err = kv_pair_up(&t->pair, args, &conf);
	for (i = 0; !err && i < ARRAY_SIZE(t->data); i++) {
		t->data[i] = kzalloc_obj(u64);
		if (!t->data[i])
			return -ENOMEM;
		t->dma[i] = ib_dma_map_single(t->pair.side[i].dev, t->data[i],
					      sizeof(u64), DMA_BIDIRECTIONAL);
	}
	return err;
}

static void kv_contexts_down(struct kv_contexts *t)
{
	int i;

	timer_delete_sync(&t->timer);
	hrtimer_cancel(&t->hrtimer);
	kv_pair_down(&t->pair);
	for (i = 0; i < ARRAY_SIZE(t->data); i++) {
		if (!t->data[i])
			continue;
		ib_dma_unmap_single(t->pair.side[i].dev, t->dma[i],
				    sizeof(u64), DMA_BIDIRECTIONAL);
		kfree(t->data[i]);
	}
}

static int kv_numbers(struct kv_contexts *t, u32 rounds)
{
	u32 i, n;
	int err = 0;

	for (i = 0; !err && i < ARRAY_SIZE(kv_places); i++) {
		for (n = 0; !err && n < rounds; n++)
			err = kv_one_number(t, kv_places[i].post);
		if (err)
			kv_say("posted by %s\n", kv_places[i].name);
	}
	return err;
}

/*
 * A message that goes to and fro: each completion handler posts the next one.
 * Both hold the lock meanwhile, and so does who begins.
 */
struct kv_bounce {
	struct kv_contexts *t;
	struct kv_bounce_end {
		struct ib_cqe send;
		struct ib_cqe recv;
		struct kv_bounce *b;
		int i;
	} end[2];
	spinlock_t lock;	/* all below, and the posting */
	u32 left;
	struct completion done;
	struct ib_cqe flush;
	struct completion flushed;
	int err;
};

static int kv_bounce_recv(struct kv_bounce_end *e)
{
	struct ib_sge sge = kv_number_sge(e->b->t, e->i);
	struct ib_recv_wr wr = {
		.wr_cqe = &e->recv,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(e->b->t->pair.side[e->i].qp, &wr, NULL);
}

static int kv_bounce_send(struct kv_bounce_end *e)
{
	struct ib_sge sge = kv_number_sge(e->b->t, e->i);
	struct ib_send_wr wr = {
		.wr_cqe = &e->send,
		.opcode = IB_WR_SEND,
		.sg_list = &sge,
		.num_sge = 1,
		.send_flags = IB_SEND_SIGNALED,
	};

	return ib_post_send(e->b->t->pair.side[e->i].qp, &wr, NULL);
}

/* Locked. The last message gets no answer. */
static void kv_bounce_back(struct kv_bounce_end *e)
{
	struct kv_bounce *b = e->b;

	if (b->left && !b->err) {
		b->left--;
		*b->t->data[e->i] += 1;
		b->err = kv_bounce_recv(e) ?: kv_bounce_send(e);
	} else {
		complete(&b->done);
	}
}

static void kv_bounce_failed(struct kv_bounce *b, const struct ib_wc *wc)
{
	if (!b->err && wc->status != IB_WC_WR_FLUSH_ERR) {
		kv_say("%s\n", ib_wc_status_msg(wc->status));
		b->err = -EIO;
		complete(&b->done);
	}
}

static void kv_bounce_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kv_bounce_end *e = container_of(wc->wr_cqe,
					       struct kv_bounce_end, send);
	unsigned long irq;

	spin_lock_irqsave(&e->b->lock, irq);
	if (wc->status != IB_WC_SUCCESS)
		kv_bounce_failed(e->b, wc);
	spin_unlock_irqrestore(&e->b->lock, irq);
}

static void kv_bounce_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kv_bounce_end *e = container_of(wc->wr_cqe,
					       struct kv_bounce_end, recv);
	unsigned long irq;

	spin_lock_irqsave(&e->b->lock, irq);
	if (wc->status == IB_WC_SUCCESS)
		kv_bounce_back(e);
	else
		kv_bounce_failed(e->b, wc);
	spin_unlock_irqrestore(&e->b->lock, irq);
}

static void kv_bounce_flushed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kv_bounce *b = container_of(wc->wr_cqe, struct kv_bounce, flush);

	spin_lock_bh(&b->lock);
	complete(&b->flushed);
	spin_unlock_bh(&b->lock);
}

/*
 * A request that completes while it is posted, since the QP is in error. It is
 * posted under a lock that its handler takes, so a device that called that one
 * from within would wait for ever.
 */
static int kv_bounce_flush(struct kv_bounce *b)
{
	struct ib_send_wr wr = {
		.wr_cqe = &b->flush,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	int err;

	b->flush.done = kv_bounce_flushed;
	init_completion(&b->flushed);
	spin_lock_bh(&b->lock);
	err = ib_post_send(b->t->pair.side[0].qp, &wr, NULL);
	spin_unlock_bh(&b->lock);
	if (!err && b->t->pair.side[0].cq->poll_ctx == IB_POLL_DIRECT)
		ib_process_cq_direct(b->t->pair.side[0].cq, -1);
	if (!err && !wait_for_completion_timeout(&b->flushed, KV_PATIENCE)) {
		kv_say("a request to a QP in error does not complete\n");
		kv_pair_down(&b->t->pair);
		err = -ETIMEDOUT;
	}
	return err;
}

static bool kv_bounce_wait(struct kv_bounce *b)
{
	struct kv_side *side = b->t->pair.side;
	unsigned long end = jiffies + KV_PATIENCE;

	if (side->cq->poll_ctx != IB_POLL_DIRECT)
		return wait_for_completion_timeout(&b->done, KV_PATIENCE);
	while (!try_wait_for_completion(&b->done)) {
		if (time_after(jiffies, end))
			return false;
		if (!ib_process_cq_direct(side[0].cq, -1) &&
		    !ib_process_cq_direct(side[1].cq, -1))
			usleep_range(20, 50);
	}
	return true;
}

static int kv_bounces(struct kv_contexts *t, u32 rounds)
{
	struct kv_bounce *b = kzalloc_obj(*b);
	int i, err = 0;

	if (!b)
		return -ENOMEM;
	b->t = t;
	b->left = rounds;
	spin_lock_init(&b->lock);
	init_completion(&b->done);
	*t->data[0] = 0;
	for (i = 0; !err && i < ARRAY_SIZE(b->end); i++) {
		b->end[i].send.done = kv_bounce_sent;
		b->end[i].recv.done = kv_bounce_received;
		b->end[i].b = b;
		b->end[i].i = i;
		err = kv_bounce_recv(&b->end[i]);
	}
	if (!err) {
		spin_lock_irq(&b->lock);
		err = kv_bounce_send(&b->end[0]);
		spin_unlock_irq(&b->lock);
	}
	if (!err && !kv_bounce_wait(b)) {
		kv_say("%u messages to and fro are left\n", b->left);
		err = -ETIMEDOUT;
	}
	for (i = 0; i < ARRAY_SIZE(b->end); i++)
		ib_drain_qp(t->pair.side[i].qp);
	err = err ?: kv_bounce_flush(b) ?: kv_want("handler", b->err, 0) ?:
	      kv_want("messages to and fro", *t->data[rounds & 1 ? 0 : 1],
		      rounds);
	kfree(b);
	return err;
}

int kv_contexts(const struct kv_args *args)
{
	struct kv_contexts *t;
	int i, err = 0;

	for (i = 0; !err && i < ARRAY_SIZE(kv_polls); i++) {
		t = kzalloc_obj(*t);
		if (!t)
			return -ENOMEM;
		err = kv_contexts_up(t, args, i) ?:
		      kv_numbers(t, args->rounds) ?:
		      kv_bounces(t, 10 * args->rounds);
		kv_contexts_down(t);
		kfree(t);
		if (err)
			kv_say("completions by %s\n", kv_polls[i].name);
	}
	return err;
}
