// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Lists of entries of several kinds: memory by the local DMA key, memory of a
 * registered region, and inline data. What leaves by one list and arrives by
 * another is the same, and a bad entry lets nothing leave.
 */
#include <linux/delay.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "uet_test.h"

#define KV_PAGES	40
#define KV_BYTES	(KV_PAGES * PAGE_SIZE)
#define KV_MESSAGE	(KV_BYTES - 4096)
#define KV_SGES		32
#define KV_INLINE	256
#define KV_BAD_SGES	6

/* Part of the memory of a side: of its region, or of its plain memory. */
struct kv_piece {
	bool region;
	u32 off;
	u32 len;
};

struct kv_list {
	u32 nr;
	u32 len;
	struct kv_piece piece[KV_SGES];
	struct ib_sge sge[KV_SGES];
};

struct kv_memory {
	struct kv_region region;
	u8 *plain;
	u64 dma;
};

struct kv_sges {
	struct kv_pair pair;
	struct kv_memory mem[2];
	struct kv_region other;		/* one that is not registered */
	struct kv_list src;
	struct kv_list dst;
	struct rnd_state rnd;
	u8 *sent;
	u8 *got;
};

enum kv_way { KV_SEND, KV_INLINE_SEND, KV_WRITE, KV_READ, KV_WAYS };

static const char * const kv_way_name[] = {
	"SEND", "inline SEND", "WRITE", "READ",
};

static u32 kv_below(struct kv_sges *t, u32 end)
{
	return prandom_u32_state(&t->rnd) % end;
}

static int kv_memory_up(struct kv_memory *m, struct kv_side *s)
{
	int err = kv_region_up(&m->region, s, KV_PAGES);

	if (err)
		return err;
	m->plain = alloc_pages_exact(KV_BYTES, GFP_KERNEL);
	if (!m->plain)
		return -ENOMEM;
	memset(m->plain, KV_FILL, KV_BYTES);
	m->dma = ib_dma_map_single(s->dev, m->plain, KV_BYTES,
				   DMA_BIDIRECTIONAL);
	return kv_region_register(&m->region, IB_ACCESS_LOCAL_WRITE |
				  IB_ACCESS_REMOTE_WRITE |
				  IB_ACCESS_REMOTE_READ);
}

static void kv_memory_down(struct kv_memory *m, struct kv_side *s)
{
	if (m->plain) {
		ib_dma_unmap_single(s->dev, m->dma, KV_BYTES,
				    DMA_BIDIRECTIONAL);
		free_pages_exact(m->plain, KV_BYTES);
	}
}

static void kv_sges_down(struct kv_sges *t)
{
	int i;

	kv_region_down(&t->other);
	for (i = 0; i < ARRAY_SIZE(t->mem); i++)
		kv_region_down(&t->mem[i].region);
	kv_pair_down(&t->pair);
	for (i = 0; i < ARRAY_SIZE(t->mem); i++)
		kv_memory_down(&t->mem[i], &t->pair.side[i]);
	kvfree(t->sent);
	kvfree(t->got);
	kfree(t);
}

static int kv_sges_up(struct kv_sges *t, const struct kv_args *args)
{
	const struct kv_conf conf = {
		.poll = IB_POLL_SOFTIRQ,
		.wrs = 16,
		.sges = KV_SGES,
		.inline_data = KV_INLINE,
	};
	int err;

	prandom_seed_state(&t->rnd, 0x2026);
	t->sent = kvmalloc(KV_BYTES, GFP_KERNEL);
	t->got = kvmalloc(KV_BYTES, GFP_KERNEL);
	if (!t->sent || !t->got)
		return -ENOMEM;
	err = kv_pair_up(&t->pair, args, &conf) ?:
	      kv_memory_up(&t->mem[0], &t->pair.side[0]) ?:
	      kv_memory_up(&t->mem[1], &t->pair.side[1]) ?:
	      kv_region_up(&t->other, &t->pair.side[0], 1);
	/* It has had a key. */
	return err ?: kv_region_register(&t->other, IB_ACCESS_LOCAL_WRITE) ?:
	       kv_region_invalidate(&t->other);
}

/* The list as the device sees it, in the memory of side @i. */
static void kv_list_name(struct kv_sges *t, struct kv_list *l, int i)
{
	struct kv_memory *m = &t->mem[i];
	u32 n;

	for (n = 0; n < l->nr; n++) {
		struct kv_piece *p = &l->piece[n];

		l->sge[n] = (struct ib_sge){
			.addr = p->region ? m->region.mr->iova + p->off :
					    m->dma + p->off,
			.length = p->len,
			.lkey = p->region ? m->region.mr->lkey :
				t->pair.side[i].pd->local_dma_lkey,
		};
	}
}

/* @nr pieces that have @len bytes together, with gaps; 0 is a length, too. */
static void kv_list_make(struct kv_sges *t, struct kv_list *l, u32 nr, u32 len)
{
	u32 off[2] = { kv_below(t, 64), kv_below(t, 64) };
	u32 left = len, i;

	l->nr = nr;
	l->len = len;
	for (i = 0; i < nr; i++) {
		struct kv_piece *p = &l->piece[i];

		p->region = kv_below(t, 2);
		p->len = left;
		if (i < nr - 1)
			p->len = kv_below(t, 8) ?
				 kv_below(t, 2 * left / (nr - i) + 1) : 0;
		p->off = off[p->region];
		off[p->region] += p->len + kv_below(t, 32);
		left -= p->len;
	}
}

/* One piece of the region, as a peer names it. */
static void kv_list_remote(struct kv_sges *t, struct kv_list *l, u32 len)
{
	l->nr = 1;
	l->len = len;
	l->piece[0] = (struct kv_piece){
		.region = true,
		.off = kv_below(t, KV_BYTES - len),
		.len = len,
	};
}

static void kv_list_write(const struct kv_list *l, struct kv_memory *m,
			  const u8 *from)
{
	u32 i;

	for (i = 0; i < l->nr; i++) {
		const struct kv_piece *p = &l->piece[i];

		if (p->region)
			kv_region_write(&m->region, p->off, from, p->len);
		else
			memcpy(m->plain + p->off, from, p->len);
		from += p->len;
	}
}

static void kv_list_read(const struct kv_list *l, struct kv_memory *m, u8 *to)
{
	u32 i;

	for (i = 0; i < l->nr; i++) {
		const struct kv_piece *p = &l->piece[i];

		if (p->region)
			kv_region_read(&m->region, p->off, to, p->len);
		else
			memcpy(to, m->plain + p->off, p->len);
		to += p->len;
	}
}

/* As if nothing had ever been written by the list. */
static void kv_list_clear(const struct kv_list *l, struct kv_memory *m)
{
	u32 i;

	for (i = 0; i < l->nr; i++) {
		const struct kv_piece *p = &l->piece[i];

		if (p->region)
			kv_region_fill(&m->region, p->off, p->len);
		else
			memset(m->plain + p->off, KV_FILL, p->len);
	}
}

static bool kv_memory_is_filled(struct kv_memory *m)
{
	return kv_region_is_filled(&m->region) &&
	       !memchr_inv(m->plain, KV_FILL, KV_BYTES);
}

/* Inline data needs no key, and is taken from where the kernel has it. */
static void kv_list_inline(struct kv_list *l)
{
	u32 i;

	for (i = 0; i < l->nr; i++)
		l->sge[i].lkey = 0xdeadbeef;
}

/* A request that moves the bytes of src to dst; READ is one of dst's owner. */
static struct ib_rdma_wr kv_way_wr(struct kv_sges *t, enum kv_way way)
{
	struct kv_list *own = way == KV_READ ? &t->dst : &t->src;
	struct kv_list *remote = way == KV_READ ? &t->src : &t->dst;
	struct ib_rdma_wr wr = {
		.wr = {
			.sg_list = own->sge,
			.num_sge = own->nr,
			.opcode = IB_WR_SEND,
		},
	};

	if (way == KV_INLINE_SEND)
		wr.wr.send_flags = IB_SEND_INLINE;
	if (way == KV_WRITE || way == KV_READ) {
		wr.wr.opcode = way == KV_READ ? IB_WR_RDMA_READ :
						IB_WR_RDMA_WRITE;
		wr.remote_addr = remote->sge[0].addr;
		wr.rkey = remote->sge[0].lkey;
	}
	return wr;
}

/* READ moves from side 1 to side 0, the others from 0 to 1. */
static int kv_src_side(enum kv_way way)
{
	return way == KV_READ;
}

static void kv_way_lists(struct kv_sges *t, enum kv_way way, u32 nr_src,
			 u32 nr_dst, u32 len)
{
	int from = kv_src_side(way);
	u32 i;

	if (way == KV_READ)
		kv_list_remote(t, &t->src, len);
	else
		kv_list_make(t, &t->src, nr_src, len);
	if (way == KV_WRITE)
		kv_list_remote(t, &t->dst, len);
	else
		kv_list_make(t, &t->dst, nr_dst, len);
	for (i = 0; way == KV_INLINE_SEND && i < t->src.nr; i++)
		t->src.piece[i].region = false;
	kv_list_name(t, &t->src, from);
	kv_list_name(t, &t->dst, !from);
	if (way == KV_INLINE_SEND)
		kv_list_inline(&t->src);
}

static int kv_arrived(struct kv_sges *t, enum kv_way way)
{
	struct kv_memory *to = &t->mem[!kv_src_side(way)];
	struct kv_memory *from = &t->mem[kv_src_side(way)];
	int err = 0;

	kv_list_read(&t->dst, to, t->got);
	if (memcmp(t->sent, t->got, t->dst.len)) {
		kv_say("other bytes arrived\n");
		err = -EIO;
	}
	kv_list_clear(&t->src, from);
	kv_list_clear(&t->dst, to);
	if (!err && !kv_memory_is_filled(to)) {
		kv_say("bytes arrived beside the list\n");
		err = -EIO;
	}
	return err;
}

static int kv_move(struct kv_sges *t, enum kv_way way)
{
	struct kv_side *s = &t->pair.side[0], *peer = &t->pair.side[1];
	bool two_sided = way == KV_SEND || way == KV_INLINE_SEND;
	struct ib_rdma_wr wr = kv_way_wr(t, way);
	int err = 0;

	prandom_bytes_state(&t->rnd, t->sent, t->src.len);
	kv_list_write(&t->src, &t->mem[kv_src_side(way)], t->sent);
	/* What the list holds now is not what lies in its order in memory. */
	kv_list_read(&t->src, &t->mem[kv_src_side(way)], t->sent);
	if (two_sided)
		err = kv_post_recv(peer, t->dst.sge, t->dst.nr);
	err = err ?: kv_do(s, &wr.wr, kv_way_name[way], IB_WC_SUCCESS);
	if (!err && two_sided)
		err = kv_received(peer, "receive", IB_WC_SUCCESS) ?:
		      kv_want("bytes received", peer->recv.wc.byte_len,
			      t->src.len);
	return err ?: kv_arrived(t, way);
}

/* MEM-12: byte-exact. */
int kv_sges(const struct kv_args *args)
{
	struct kv_sges *t = kzalloc_obj(*t);
	u32 i;
	int err;

	if (!t)
		return -ENOMEM;
	err = kv_sges_up(t, args);
	for (i = 0; !err && i < args->rounds; i++) {
		enum kv_way way = i % KV_WAYS;
		u32 src = 1 + (i < 2 * KV_WAYS ? KV_SGES - 1 :
						 kv_below(t, KV_SGES));
		u32 dst = 1 + kv_below(t, KV_SGES);
		u32 len = kv_below(t, 1 + (way == KV_INLINE_SEND ? KV_INLINE :
					   kv_below(t, 2) ? KV_MESSAGE : 3000));

		kv_way_lists(t, way, src, dst, len);
		err = kv_move(t, way);
		if (err)
			kv_say("round %u: %s, %u to %u entries, %u bytes\n", i,
			       kv_way_name[way], t->src.nr, t->dst.nr, len);
	}
	kv_sges_down(t);
	return err;
}

enum kv_spoil {
	KV_BAD_KEY,	/* a key that the region does not have */
	KV_BAD_RANGE,	/* the last byte is behind the region */
	KV_BAD_DOMAIN,	/* the other side's region */
	KV_BAD_STATE,	/* a region that is not registered now */
	KV_SPOILS,
};

static const char * const kv_spoil_name[] = {
	"wrong key", "beyond the region", "foreign region", "ended region",
};

static void kv_spoil(struct kv_sges *t, struct ib_sge *sge, enum kv_spoil how)
{
	struct ib_mr *mr = t->mem[0].region.mr;

	sge->lkey = mr->lkey;
	switch (how) {
	case KV_BAD_KEY:
		sge->addr = mr->iova;
		sge->lkey ^= 0x80;
		break;
	case KV_BAD_RANGE:
		sge->addr = mr->iova + mr->length - sge->length + 1;
		break;
	case KV_BAD_DOMAIN:
		sge->addr = t->mem[1].region.mr->iova;
		/* Two devices may have given the same key: then another one. */
		if (t->mem[1].region.mr->lkey != mr->lkey)
			sge->lkey = t->mem[1].region.mr->lkey;
		else
			sge->lkey += 0x10000;
		break;
	default:
		sge->addr = t->other.mr->iova;
		sge->lkey = t->other.mr->lkey;
	}
}

/* Nothing was moved; the receive that was posted is still there. */
static int kv_nothing(struct kv_sges *t, enum kv_way way)
{
	struct kv_memory *to = &t->mem[!kv_src_side(way)];
	int err = 0;

	/* Long enough for what has left against the rules. */
	usleep_range(1000, 1500);
	if (way == KV_SEND)
		err = kv_qp_to_error(&t->pair.side[1]) ?:
		      kv_received(&t->pair.side[1], "receive",
				  IB_WC_WR_FLUSH_ERR);
	kv_list_clear(&t->src, &t->mem[kv_src_side(way)]);
	if (!err && !kv_memory_is_filled(to)) {
		kv_say("something arrived\n");
		err = -EIO;
	}
	return err;
}

static int kv_move_bad(struct kv_sges *t, enum kv_way way, u32 at,
		       enum kv_spoil how)
{
	struct kv_list *l = way == KV_READ ? &t->dst : &t->src;
	struct ib_rdma_wr wr;
	u32 i;
	int err = 0;

	kv_way_lists(t, way, KV_BAD_SGES, KV_BAD_SGES, KV_BAD_SGES * 1000);
	/* All entries of some length, so that the bad one counts. */
	for (i = 0; i < l->nr; i++)
		l->piece[i] = (struct kv_piece){ i & 1, i * 1200, 1000 };
	kv_list_name(t, l, 0);
	kv_spoil(t, &l->sge[at], how);
	prandom_bytes_state(&t->rnd, t->sent, t->src.len);
	kv_list_write(&t->src, &t->mem[kv_src_side(way)], t->sent);
	wr = kv_way_wr(t, way);
	if (way == KV_SEND)
		err = kv_post_recv(&t->pair.side[1], t->dst.sge, t->dst.nr);
	return err ?: kv_do(&t->pair.side[0], &wr.wr, kv_way_name[way],
			    IB_WC_LOC_PROT_ERR) ?: kv_nothing(t, way);
}

/* A bad entry of the receiver: both sides hear of it. */
static int kv_move_into_bad(struct kv_sges *t, u32 at, enum kv_spoil how)
{
	struct kv_list *l = &t->dst;
	struct ib_rdma_wr wr;
	u32 i;
	int err;

	kv_way_lists(t, KV_SEND, 2, KV_BAD_SGES, KV_BAD_SGES * 1000);
	for (i = 0; i < l->nr; i++)
		l->piece[i] = (struct kv_piece){ i & 1, i * 1200, 1000 };
	/* It is side 0 that receives. */
	kv_list_name(t, &t->src, 1);
	kv_list_name(t, l, 0);
	kv_spoil(t, &l->sge[at], how);
	wr = kv_way_wr(t, KV_SEND);
	err = kv_post_recv(&t->pair.side[0], l->sge, l->nr) ?:
	      kv_do(&t->pair.side[1], &wr.wr, "SEND", IB_WC_REM_OP_ERR) ?:
	      kv_received(&t->pair.side[0], "receive", IB_WC_LOC_PROT_ERR);
	if (!err && !kv_memory_is_filled(&t->mem[0])) {
		kv_say("something was written\n");
		err = -EIO;
	}
	return err;
}

static int kv_bad_at(struct kv_sges *t, u32 at, enum kv_spoil how)
{
	static const enum kv_way ways[] = { KV_SEND, KV_WRITE, KV_READ };
	int i, err = 0;

	for (i = 0; !err && i < ARRAY_SIZE(ways); i++)
		err = kv_move_bad(t, ways[i], at, how) ?:
		      kv_pair_reconnect(&t->pair);
	err = err ?: kv_move_into_bad(t, at, how) ?:
	      kv_pair_reconnect(&t->pair);
	if (err)
		kv_say("entry %u of %u: %s\n", at, KV_BAD_SGES,
		       kv_spoil_name[how]);
	return err;
}

/* MEM-12: an error of the right kind, and nothing else, for each position. */
int kv_sges_bad(const struct kv_args *args)
{
	struct kv_sges *t = kzalloc_obj(*t);
	u32 at, how;
	int err;

	if (!t)
		return -ENOMEM;
	err = kv_sges_up(t, args);
	for (at = 0; !err && at < KV_BAD_SGES; at++)
		for (how = 0; !err && how < KV_SPOILS; how++)
			err = kv_bad_at(t, at, how);
	kv_sges_down(t);
	return err;
}
