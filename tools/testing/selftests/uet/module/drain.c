// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The end of QPs with work under way: ib_drain_qp() returns when every request
 * has completed, and then they may be destroyed at once.
 */
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "uet_test.h"

#define KV_WRS		32
#define KV_LEN		8192

struct kv_drain_op {
	struct ib_cqe cqe;
	struct kv_drain_side *owner;
	bool send;
	atomic_t completed;
};

struct kv_drain_side {
	struct kv_side *s;
	bool shared;		/* an SRQ, which is gone at the last check */
	u8 *buf;
	u64 dma;
	struct kv_drain_op op[2 * KV_WRS];
	u32 sends;
	u32 recvs;
	atomic_t sent;
	atomic_t received;
	bool drained;
	atomic_t late;
};

struct kv_drain {
	struct kv_pair pair;
	struct kv_drain_side side[2];
};

static const enum ib_poll_context kv_polls[] = {
	IB_POLL_SOFTIRQ, IB_POLL_WORKQUEUE, IB_POLL_UNBOUND_WORKQUEUE,
	IB_POLL_DIRECT,
};

static void kv_drain_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kv_drain_op *op = container_of(wc->wr_cqe, struct kv_drain_op,
					      cqe);
	struct kv_drain_side *d = op->owner;

	atomic_inc(&op->completed);
	atomic_inc(op->send ? &d->sent : &d->received);
	/* See kv_drain_check() for what an SRQ is owed. */
	if (READ_ONCE(d->drained) && (op->send || !d->shared))
		atomic_inc(&d->late);
}

static int kv_drain_recv(struct kv_drain_side *d)
{
	struct kv_drain_op *op = &d->op[KV_WRS + d->recvs];
	struct ib_sge sge = {
		.addr = d->dma,
		.length = KV_LEN,
		.lkey = d->s->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &op->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int err;

	err = d->s->srq ? ib_post_srq_recv(d->s->srq, &wr, NULL) :
			  ib_post_recv(d->s->qp, &wr, NULL);
	if (!err)
		d->recvs++;
	return err;
}

static int kv_drain_send(struct kv_drain_side *d)
{
	struct kv_drain_op *op = &d->op[d->sends];
	struct ib_sge sge = {
		.addr = d->dma,
		.length = get_random_u32_below(KV_LEN),
		.lkey = d->s->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe = &op->cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	int err;

	op->send = true;
	err = ib_post_send(d->s->qp, &wr, NULL);
	if (!err)
		d->sends++;
	return err;
}

static int kv_drain_side_up(struct kv_drain_side *d, struct kv_side *s)
{
	int i;

	d->s = s;
	d->shared = s->srq;
	for (i = 0; i < ARRAY_SIZE(d->op); i++) {
		d->op[i].owner = d;
		d->op[i].cqe.done = kv_drain_done;
	}
	d->buf = kzalloc(KV_LEN, GFP_KERNEL);
	if (!d->buf)
		return -ENOMEM;
	d->dma = ib_dma_map_single(s->dev, d->buf, KV_LEN, DMA_BIDIRECTIONAL);
	return 0;
}

/*
 * More messages than there are buffers for, so that some have gone, some wait
 * for the peer, and some have not begun.
 */
static int kv_drain_fill(struct kv_drain *t)
{
	u32 recvs = get_random_u32_below(KV_WRS), i;
	int err = 0;

	for (i = 0; !err && i < recvs; i++)
		err = kv_drain_recv(&t->side[0]) ?: kv_drain_recv(&t->side[1]);
	for (i = 0; !err && i < KV_WRS; i++)
		err = kv_drain_send(&t->side[0]) ?: kv_drain_send(&t->side[1]);
	return err;
}

/*
 * What an SRQ gave to the QP has completed when the QP is destroyed and its
 * CQ gone; what it did not give stays with it.
 */
static int kv_drain_check(struct kv_drain_side *d)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(d->op); i++)
		if (atomic_read(&d->op[i].completed) > 1)
			return kv_want("completions of a request",
				       atomic_read(&d->op[i].completed), 1);
	return kv_want("completions after the drain", atomic_read(&d->late),
		       0) ?:
	       kv_want("sends completed", atomic_read(&d->sent), d->sends) ?:
	       d->shared ? 0 :
	       kv_want("receives completed", atomic_read(&d->received),
		       d->recvs);
}

static int kv_drain_side_drain(struct kv_drain_side *d)
{
	unsigned long start = jiffies;

	ib_drain_qp(d->s->qp);
	WRITE_ONCE(d->drained, true);
	/* For an SRQ ib_drain_qp() gives up after a minute. */
	if (time_after(jiffies, start + KV_PATIENCE / 2)) {
		kv_say("a drain took %u s\n",
		       jiffies_to_msecs(jiffies - start) / 1000);
		return -ETIMEDOUT;
	}
	return kv_drain_check(d);
}

static void kv_drain_down(struct kv_drain *t)
{
	int i;

	kv_pair_down(&t->pair);
	for (i = 0; i < ARRAY_SIZE(t->side); i++) {
		struct kv_drain_side *d = &t->side[i];

		if (!d->buf)
			continue;
		ib_dma_unmap_single(d->s->dev, d->dma, KV_LEN,
				    DMA_BIDIRECTIONAL);
		kfree(d->buf);
	}
}

static int kv_drain_round(struct kv_drain *t, const struct kv_args *args,
			  const struct kv_conf *conf)
{
	u32 first = get_random_u32_below(2);
	int err;

	memset(t, 0, sizeof(*t));
	err = kv_pair_up(&t->pair, args, conf) ?:
	      kv_drain_side_up(&t->side[0], &t->pair.side[0]) ?:
	      kv_drain_side_up(&t->side[1], &t->pair.side[1]) ?:
	      kv_drain_fill(t);
	if (!err) {
		udelay(get_random_u32_below(200));
		err = kv_drain_side_drain(&t->side[first]) ?:
		      kv_drain_side_drain(&t->side[!first]);
	}
	kv_drain_down(t);
	if (!err)
		err = kv_drain_check(&t->side[0]) ?:
		      kv_drain_check(&t->side[1]);
	return err;
}

static int kv_drain_rounds(const struct kv_args *args, bool srq)
{
	struct kv_drain *t = kvzalloc(sizeof(*t), GFP_KERNEL);
	struct kv_conf conf = { .wrs = KV_WRS, .sges = 1, .srq = srq };
	u32 i;
	int err = 0;

	if (!t)
		return -ENOMEM;
	for (i = 0; !err && i < args->rounds; i++) {
		conf.poll = kv_polls[i % ARRAY_SIZE(kv_polls)];
		err = kv_drain_round(t, args, &conf);
	}
	if (err)
		kv_say("round %u\n", i - 1);
	kvfree(t);
	return err;
}

int kv_drain(const struct kv_args *args)
{
	return kv_drain_rounds(args, false);
}

int kv_drain_srq(const struct kv_args *args)
{
	return kv_drain_rounds(args, true);
}
