// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Chains of requests from several threads. Each request, its list and its data
 * are one piece of memory, which the completion handler poisons and frees: the
 * device may look at nothing of a request once it can complete.
 */
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "uet_test.h"

#define KV_CHAIN	16
#define KV_THREADS	4
#define KV_DEPTH	(4 * KV_CHAIN)
#define KV_LEN_MAX	2000
#define KV_POISON	0x6b

struct kv_chains {
	struct kv_pair pair;
	struct kv_region target;
	struct task_struct *task;
	struct completion done;
	u32 id;
	u32 rounds;
	atomic_t sends;			/* under way */
	atomic_t recvs;
	atomic_t bad;
	wait_queue_head_t wait;
	int err;
};

/* A request with all that it needs. */
struct kv_link {
	union {
		struct ib_rdma_wr send;
		struct ib_recv_wr recv;
	};
	struct ib_cqe cqe;
	struct ib_sge sge;
	struct kv_chains *owner;
	u64 dma;
	u32 number;
	u32 len;
	u8 data[KV_LEN_MAX];
};

/* Lengths and bytes follow from the number of a message. */
static u32 kv_link_len(u32 number)
{
	return 1 + number * 7919 % KV_LEN_MAX;
}

static u8 kv_link_byte(const struct kv_chains *c, u32 number)
{
	return c->id * 64 + number;
}

static struct kv_side *kv_link_side(struct kv_chains *c, bool send)
{
	return &c->pair.side[send ? 0 : 1];
}

static void kv_link_free(struct kv_link *l, bool send)
{
	struct kv_chains *c = l->owner;

	ib_dma_unmap_single(kv_link_side(c, send)->dev, l->dma, KV_LEN_MAX,
			    DMA_BIDIRECTIONAL);
	memset(l, KV_POISON, sizeof(*l));
	kfree(l);
}

static void kv_link_bad(struct kv_chains *c, const char *what, u32 number,
			const struct ib_wc *wc)
{
	if (atomic_inc_return(&c->bad) == 1)
		kv_say("thread %u: %s %u: %s, %u bytes\n", c->id, what, number,
		       ib_wc_status_msg(wc->status), wc->byte_len);
}

static void kv_link_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kv_link *l = container_of(wc->wr_cqe, struct kv_link, cqe);
	struct kv_chains *c = l->owner;

	if (wc->status != IB_WC_SUCCESS)
		kv_link_bad(c, "request", l->number, wc);
	kv_link_free(l, true);
	atomic_dec(&c->sends);
	wake_up(&c->wait);
}

static void kv_link_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kv_link *l = container_of(wc->wr_cqe, struct kv_link, cqe);
	struct kv_chains *c = l->owner;

	if (wc->status != IB_WC_SUCCESS ||
	    wc->byte_len != kv_link_len(l->number) ||
	    memchr_inv(l->data, kv_link_byte(c, l->number), wc->byte_len))
		kv_link_bad(c, "receive", l->number, wc);
	kv_link_free(l, false);
	atomic_dec(&c->recvs);
	wake_up(&c->wait);
}

static struct kv_link *kv_link_new(struct kv_chains *c, u32 number, bool send)
{
	struct kv_side *s = kv_link_side(c, send);
	struct kv_link *l = kzalloc_obj(*l);

	if (!l)
		return NULL;
	l->owner = c;
	l->number = number;
	l->cqe.done = send ? kv_link_sent : kv_link_received;
	l->dma = ib_dma_map_single(s->dev, l->data, KV_LEN_MAX,
				   DMA_BIDIRECTIONAL);
	l->sge = (struct ib_sge){
		.addr = l->dma,
		.length = send ? kv_link_len(number) : KV_LEN_MAX,
		.lkey = s->pd->local_dma_lkey,
	};
	return l;
}

/* Number @first and every second behind it: as many as a chain has SENDs. */
static int kv_chain_recv(struct kv_chains *c, u32 first)
{
	struct kv_link *link[KV_CHAIN / 2];
	int i;

	for (i = ARRAY_SIZE(link); i--;) {
		struct kv_link *l = kv_link_new(c, first + 2 * i, false);

		if (!l)
			goto err;
		link[i] = l;
		l->recv.wr_cqe = &l->cqe;
		l->recv.sg_list = &l->sge;
		l->recv.num_sge = 1;
		if (i < ARRAY_SIZE(link) - 1)
			l->recv.next = &link[i + 1]->recv;
	}
	atomic_add(ARRAY_SIZE(link), &c->recvs);
	return ib_post_recv(c->pair.side[1].qp, &link[0]->recv, NULL);
err:
	while (++i < ARRAY_SIZE(link))
		kv_link_free(link[i], false);
	return -ENOMEM;
}

/* By turns a SEND, and a WRITE to a place that only this number has. */
static void kv_link_fill(struct kv_chains *c, struct kv_link *l)
{
	struct ib_mr *mr = c->target.mr;

	memset(l->data, kv_link_byte(c, l->number), l->sge.length);
	l->send.wr.wr_cqe = &l->cqe;
	l->send.wr.sg_list = &l->sge;
	l->send.wr.num_sge = 1;
	l->send.wr.send_flags = IB_SEND_SIGNALED;
	l->send.wr.opcode = IB_WR_SEND;
	if (l->number & 1) {
		l->send.wr.opcode = IB_WR_RDMA_WRITE;
		l->send.remote_addr = mr->iova +
				      l->number % KV_CHAIN * PAGE_SIZE;
		l->send.rkey = mr->rkey;
	}
}

static int kv_chain_send(struct kv_chains *c, u32 first)
{
	struct kv_link *link[KV_CHAIN];
	int i;

	for (i = ARRAY_SIZE(link); i--;) {
		struct kv_link *l = kv_link_new(c, first + i, true);

		if (!l)
			goto err;
		link[i] = l;
		kv_link_fill(c, l);
		if (i < ARRAY_SIZE(link) - 1)
			l->send.wr.next = &link[i + 1]->send.wr;
	}
	atomic_add(ARRAY_SIZE(link), &c->sends);
	return ib_post_send(c->pair.side[0].qp, &link[0]->send.wr, NULL);
err:
	while (++i < ARRAY_SIZE(link))
		kv_link_free(link[i], true);
	return -ENOMEM;
}

static bool kv_chains_below(struct kv_chains *c, int n)
{
	return atomic_read(&c->sends) <= n && atomic_read(&c->recvs) <= n;
}

static int kv_chains_wait(struct kv_chains *c, int n)
{
	if (wait_event_timeout(c->wait, kv_chains_below(c, n), KV_PATIENCE))
		return 0;
	kv_say("thread %u: %d sends, %d receives do not end\n", c->id,
	       atomic_read(&c->sends), atomic_read(&c->recvs));
	return -ETIMEDOUT;
}

static int kv_chains_thread(void *data)
{
	struct kv_chains *c = data;
	u32 i;
	int err = 0;

	for (i = 0; !err && i < c->rounds && !atomic_read(&c->bad); i++)
		err = kv_chains_wait(c, KV_DEPTH - KV_CHAIN) ?:
		      kv_chain_recv(c, i * KV_CHAIN) ?:
		      kv_chain_send(c, i * KV_CHAIN);
	c->err = err ?: kv_chains_wait(c, 0);
	complete(&c->done);
	return 0;
}

/* The last chain is what lies in the region. */
static int kv_chains_written(struct kv_chains *c)
{
	u8 got[64];
	u32 i;

	for (i = 1; i < KV_CHAIN; i += 2) {
		u32 number = (c->rounds - 1) * KV_CHAIN + i;
		u32 len = min_t(u32, kv_link_len(number), sizeof(got));

		kv_region_read(&c->target, i * PAGE_SIZE, got, len);
		if (memchr_inv(got, kv_link_byte(c, number), len)) {
			kv_say("thread %u: WRITE %u is not there\n", c->id,
			       number);
			return -EIO;
		}
	}
	return 0;
}

static int kv_chains_up(struct kv_chains *c, const struct kv_args *args,
			u32 id)
{
	const struct kv_conf conf = {
		.poll = id & 1 ? IB_POLL_WORKQUEUE : IB_POLL_SOFTIRQ,
		.wrs = KV_DEPTH,
		.sges = 1,
	};
	int err;

	c->id = id;
	c->rounds = args->rounds;
	init_waitqueue_head(&c->wait);
	init_completion(&c->done);
	err = kv_pair_up(&c->pair, args, &conf) ?:
	      kv_region_up(&c->target, &c->pair.side[1], KV_CHAIN);
	return err ?: kv_region_register(&c->target, IB_ACCESS_LOCAL_WRITE |
					 IB_ACCESS_REMOTE_WRITE);
}

static int kv_chains_start(struct kv_chains *c)
{
	struct task_struct *task;

	task = kthread_run(kv_chains_thread, c, "uet_test/%u", c->id);
	if (IS_ERR(task))
		return PTR_ERR(task);
	c->task = task;
	return 0;
}

/* What still waits if it failed is to be freed by its handler. */
static int kv_chains_down(struct kv_chains *c)
{
	int err = 0;

	if (c->task) {
		wait_for_completion(&c->done);
		err = c->err ?: atomic_read(&c->bad) ? -EIO :
		      kv_chains_written(c);
	}
	if (c->pair.side[0].qp && c->pair.side[1].qp) {
		ib_drain_qp(c->pair.side[0].qp);
		ib_drain_qp(c->pair.side[1].qp);
	}
	kv_region_down(&c->target);
	kv_pair_down(&c->pair);
	return err;
}

/* OBJ-12 */
int kv_chains(const struct kv_args *args)
{
	struct kv_chains *all = kvcalloc(KV_THREADS, sizeof(*all), GFP_KERNEL);
	int i, err = 0;

	if (!all)
		return -ENOMEM;
	for (i = 0; !err && i < KV_THREADS; i++)
		err = kv_chains_up(&all[i], args, i);
	for (i = 0; !err && i < KV_THREADS; i++)
		err = kv_chains_start(&all[i]);
	for (i = 0; i < KV_THREADS; i++) {
		int end = kv_chains_down(&all[i]);

		err = err ?: end;
	}
	kvfree(all);
	return err;
}
