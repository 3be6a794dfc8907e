// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * KUnit suite uet_burst: packets to skbs, against devices that exist only as
 * limits, a route whose output is a function here, and a real socket.
 *
 * How many packets make a burst is a matter of tuning and not tested; what a
 * burst may never be is. Every packet is compared byte by byte.
 */
#include <kunit/test.h>
#include <linux/hex.h>
#include <linux/net.h>
#include <linux/udp.h>
#include <linux/unaligned.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/sock.h>

#include "burst.h"
#include "crc.h"
#include "fep.h"
#include "net.h"
#include "path.h"
#include "pkt.h"
#include "wire_vectors.h"

#define UET_FAKE_PAGES		64
#define UET_FAKE_PSN		0xfffffff0	/* wraps on the way */
#define UET_FAKE_PDCID		7
#define UET_FAKE_PORT		0x8123

/**
 * struct uet_fake - a fabric endpoint without a network
 * @dev: netdev of @fep; never registered
 * @egress: netdev of the route
 * @ops: of @dst
 * @dst: route to @egress
 * @sock: charged for what is sent
 * @un: has @sock
 * @fep: endpoint
 * @path: to the peer, over @dst
 * @d: collector
 * @page: where the payload comes from. Single pages: each is a fragment
 * @bvec: the same as blocks of @mem
 * @mem: registered memory
 * @answer: what sending an skb returns
 * @sent: skbs that were sent
 */
struct uet_fake {
	struct net_device *dev;
	struct net_device *egress;
	struct dst_ops ops;
	struct dst_entry dst;
	struct socket *sock;
	struct uet_net un;
	struct uet_fep fep;
	struct uet_path path;
	struct uet_defer d;
	struct page *page[UET_FAKE_PAGES];
	struct bio_vec bvec[UET_FAKE_PAGES];
	struct uet_mem mem;
	int answer;
	u32 sent;
};

static int uet_fake_output(struct net *net, struct sock *sk,
			   struct sk_buff *skb)
{
	struct uet_fake *f = container_of(skb_dst(skb), struct uet_fake, dst);
	int answer = f->answer;

	f->sent++;
	kfree_skb(skb);
	return answer;
}

static void uet_fake_mem_release(struct uet_mem *mem)
{
}

static u8 uet_fake_byte(u32 at)
{
	return at * 7 + (at >> 8);
}

static int uet_fake_init_mem(struct uet_fake *f)
{
	u32 i, at;

	for (i = 0; i < UET_FAKE_PAGES; i++) {
		f->page[i] = alloc_page(GFP_KERNEL);
		if (!f->page[i])
			return -ENOMEM;
		for (at = 0; at < PAGE_SIZE; at++)
			((u8 *)page_address(f->page[i]))[at] =
				uet_fake_byte(i * PAGE_SIZE + at);
		bvec_set_page(&f->bvec[i], f->page[i], PAGE_SIZE, 0);
	}
	f->mem.bvec = f->bvec;
	f->mem.nr_bvec = UET_FAKE_PAGES;
	f->mem.shift = PAGE_SHIFT;
	f->mem.length = UET_FAKE_PAGES * PAGE_SIZE;
	uet_mem_init(&f->mem, uet_fake_mem_release);
	return 0;
}

static struct net_device *uet_fake_dev(struct kunit *test)
{
	struct net_device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, dev);
	dev_net_set(dev, &init_net);
	dev->hard_header_len = ETH_HLEN;
	dev->gso_max_segs = GSO_MAX_SEGS;
	dev->gso_max_size = GSO_LEGACY_MAX_SIZE;
	dev->gso_ipv4_max_size = GSO_LEGACY_MAX_SIZE;
	return dev;
}

static void uet_fake_init_path(struct uet_fake *f)
{
	struct uet_path *path = &f->path;

	kref_init(&path->ref);
	spin_lock_init(&path->lock);
	skb_queue_head_init(&path->outq);
	path->fep = &f->fep;
	ipv6_addr_set_v4mapped(cpu_to_be32(0xc0000201), &path->attr.src);
	ipv6_addr_set_v4mapped(cpu_to_be32(0xc0000202), &path->attr.dst);
	path->attr.hop_limit = 64;
	path->dst = &f->dst;
}

static int uet_burst_test_init(struct kunit *test)
{
	struct uet_fake *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	test->priv = f;
	f->dev = uet_fake_dev(test);
	f->egress = uet_fake_dev(test);
	/* Without a device, which would have to be a real one */
	dst_init(&f->dst, &f->ops, NULL, DST_OBSOLETE_NONE, DST_NOCOUNT);
	f->dst.dev = f->egress;
	f->dst.output = uet_fake_output;
	f->fep.dev = f->dev;
	f->fep.un = &f->un;
	f->fep.stats = __alloc_percpu(UET_STAT_NR * sizeof(u64), sizeof(u64));
	xa_init_flags(&f->fep.pdcs, XA_FLAGS_ALLOC);
	uet_fake_init_path(f);
	uet_defer_init(&f->d);
	if (!f->fep.stats || uet_fake_init_mem(f) ||
	    sock_create_kern(&init_net, AF_INET, SOCK_DGRAM, IPPROTO_UDP,
			     &f->sock))
		return -ENOMEM;
	f->un.sk4 = f->sock;
	f->sock->sk->sk_sndbuf = 1 << 20;
	return 0;
}

static void uet_burst_test_exit(struct kunit *test)
{
	struct uet_fake *f = test->priv;
	int i;

	if (!f)
		return;
	__skb_queue_purge(&f->d.xmit);
	__skb_queue_purge(&f->path.outq);
	if (f->sock) {
		/* Whatever the test did, nothing is charged any more. */
		KUNIT_EXPECT_EQ(test, sk_wmem_alloc_get(f->sock->sk), 0);
		sock_release(f->sock);
	}
	for (i = 0; i < UET_FAKE_PAGES && f->page[i]; i++) {
		KUNIT_EXPECT_EQ(test, page_ref_count(f->page[i]), 1);
		__free_page(f->page[i]);
	}
	xa_destroy(&f->fep.pdcs);
	free_percpu(f->fep.stats);
}

static u64 uet_fake_stat(struct uet_fake *f, enum uet_stat stat)
{
	u64 all[UET_STAT_NR];

	uet_stats_read(&f->fep, all);
	return all[stat];
}

/* ------------------------------------------------------------------ */
/* Packets                                                             */

static void uet_fake_pkt(struct uet_pkt *pkt, u32 n, u32 len)
{
	*pkt = (struct uet_pkt) {
		.type = UET_PDS_ROD, .next = UET_NEXT_REQ_STD,
		.psn = UET_FAKE_PSN + n, .clear_psn = UET_FAKE_PSN - 1,
		.spdcid = UET_FAKE_PDCID, .dpdcid = 9,
		.req = {
			.opcode = UET_OP_WRITE,
			.flags = UET_SES_REL | UET_SES_SOM | UET_SES_EOM,
			.message_id = n + 1, .request_length = len,
			.buffer_offset = n * len,
		},
	};
}

/* Packet @n, whose payload is the @len bytes of memory from @n * @len on. */
static int uet_fake_add(struct uet_fake *f, struct uet_burst *b, u32 n,
			u32 len, u32 skew)
{
	struct uet_sge sge = {
		.mem = &f->mem, .off = n * len + skew, .len = len,
	};
	struct uet_payload pl = { .sge = &sge, .nr_sge = 1, .len = len };
	struct uet_pkt pkt;

	uet_fake_pkt(&pkt, n, len);
	return uet_burst_add(b, &pkt, &pl);
}

/* Is the packet at @at of @skb packet number @n? */
static void uet_check_packet(struct kunit *test, struct sk_buff *skb, u32 at,
			     u32 n, u32 len, u32 skew)
{
	u8 hdr[UET_PKT_HDR_MAX], got[UET_PKT_HDR_MAX];
	struct uet_pkt pkt;
	u32 hdr_len, i;
	u8 *data;

	uet_fake_pkt(&pkt, n, len);
	hdr_len = uet_pkt_build(&pkt, hdr);
	KUNIT_ASSERT_EQ(test, skb_copy_bits(skb, at, got, hdr_len), 0);
	KUNIT_EXPECT_MEMEQ(test, got, hdr, hdr_len);

	data = kunit_kmalloc(test, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_ASSERT_EQ(test, skb_copy_bits(skb, at + hdr_len, data, len), 0);
	for (i = 0; i < len; i++)
		if (data[i] != uet_fake_byte(n * len + skew + i))
			break;
	KUNIT_EXPECT_EQ_MSG(test, i, len, "packet %u differs at this byte", n);
	kunit_kfree(test, data);
}

/* A single packet has no checksum, a burst one that is made on the way. */
static void uet_check_checksum(struct kunit *test, struct sk_buff *skb,
			       u32 packets)
{
	const struct udphdr *uh = udp_hdr(skb);

	if (packets == 1) {
		KUNIT_EXPECT_FALSE(test, skb_is_gso(skb));
		KUNIT_EXPECT_EQ(test, (int)skb->ip_summed, CHECKSUM_NONE);
		KUNIT_EXPECT_EQ(test, (__force u16)uh->check, 0);
		return;
	}
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_type, SKB_GSO_UDP_L4);
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_segs, packets);
	KUNIT_EXPECT_EQ(test, (int)skb->ip_summed, CHECKSUM_PARTIAL);
	KUNIT_EXPECT_PTR_EQ(test, skb->head + skb->csum_start, (u8 *)uh);
	KUNIT_EXPECT_EQ(test, skb->csum_offset,
			offsetof(struct udphdr, check));
	KUNIT_EXPECT_EQ(test, (__force u16)uh->check,
			(__force u16)~csum_tcpudp_magic(ip_hdr(skb)->saddr,
							ip_hdr(skb)->daddr,
							skb->len - sizeof(struct iphdr),
							IPPROTO_UDP, 0));
}

/* At least what it holds, and not so much more that senders starve. */
static void uet_check_truesize(struct kunit *test, const struct sk_buff *skb)
{
	u32 least = SKB_TRUESIZE(skb_end_offset(skb)) + skb->data_len;

	KUNIT_EXPECT_GE(test, skb->truesize, least);
	KUNIT_EXPECT_LE(test, skb->truesize, 2 * least + (64 << 10));
	if (!skb_is_gso(skb) && !skb->data_len)
		KUNIT_EXPECT_LE(test, skb->truesize, 4 * skb->len + 4096);
}

/**
 * struct uet_shape - a stream of packets and the devices it meets
 * @name: of the case
 * @payload: bytes of payload of each packet
 * @skew: where the payload begins in its page
 * @packets: how many
 * @egress_segs: gso_max_segs of the egress device, 0: plenty
 * @dev_segs: the same of the endpoint's device
 * @egress_size: gso_ipv4_max_size of the egress device, 0: plenty
 * @dev_size: the same of the endpoint's device
 * @crc: with the CRC trailer
 * @single: no burst can be made
 */
struct uet_shape {
	const char *name;
	u32 payload;
	u32 skew;
	u32 packets;
	u32 egress_segs;
	u32 dev_segs;
	u32 egress_size;
	u32 dev_size;
	bool crc;
	bool single;
};

static const struct uet_shape uet_shapes[] = {
	{ .name = "one packet", .payload = 1024, .packets = 1, .single = true },
	{ .name = "8 bytes each", .payload = 8, .packets = 200 },
	{ .name = "512 bytes each", .payload = 512, .packets = 100 },
	{ .name = "1024 bytes each", .payload = 1024, .packets = 100 },
	{ .name = "2048 bytes each", .payload = 2048, .packets = 64 },
	{ .name = "4096 bytes each", .payload = 4096, .packets = 40 },
	{ .name = "8192 bytes each", .payload = 8192, .packets = 20 },
	{ .name = "4096 bytes across pages", .payload = 4096, .skew = 100,
	  .packets = 40 },
	{ .name = "8192 bytes across pages", .payload = 8192, .skew = 4000,
	  .packets = 20 },
	{ .name = "egress takes 3 packets", .payload = 1024, .packets = 50,
	  .egress_segs = 3 },
	{ .name = "lower device takes 3 packets", .payload = 4096,
	  .packets = 20, .dev_segs = 3 },
	{ .name = "egress takes 1 packet", .payload = 1024, .packets = 10,
	  .egress_segs = 1, .single = true },
	{ .name = "endpoint's device takes 1 packet", .payload = 64,
	  .packets = 10, .dev_segs = 1, .single = true },
	{ .name = "egress takes 10000 bytes", .payload = 1024, .packets = 50,
	  .egress_size = 10000 },
	{ .name = "endpoint's device takes 20000 bytes", .payload = 4096,
	  .packets = 20, .dev_size = 20000 },
	{ .name = "egress takes less than two packets", .payload = 8192,
	  .packets = 5, .egress_size = 12000, .single = true },
	{ .name = "egress takes next to nothing", .payload = 1024,
	  .packets = 5, .egress_size = 100, .single = true },
	{ .name = "CRC, 64 bytes", .payload = 64, .packets = 10, .crc = true,
	  .single = true },
	{ .name = "CRC, 1024 bytes", .payload = 1024, .packets = 10,
	  .crc = true, .single = true },
	{ .name = "CRC, 8192 bytes across pages", .payload = 8192, .skew = 333,
	  .packets = 10, .crc = true, .single = true },
};

static void uet_shape_desc(const struct uet_shape *shape, char *desc)
{
	strscpy(desc, shape->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(uet_shape, uet_shapes, uet_shape_desc);

/* Would the stack send it as it is, or have to cut it up for the device? */
static void uet_check_limits(struct kunit *test, const struct sk_buff *skb,
			     const struct net_device *dev, u32 packets)
{
	KUNIT_EXPECT_LE(test, skb_shinfo(skb)->nr_frags, MAX_SKB_FRAGS);
	KUNIT_EXPECT_LE(test, skb->len, IP_MAX_MTU);
	if (packets == 1)
		return;
	/* as gso_features_check() counts, with the link header */
	KUNIT_EXPECT_LE(test, packets, dev->gso_max_segs);
	KUNIT_EXPECT_LT(test, skb->len + ETH_HLEN, dev->gso_ipv4_max_size);
}

/* All of one skb, whose first packet has number @n; the number of packets. */
static u32 uet_check_skb(struct kunit *test, struct sk_buff *skb, u32 n,
			 const struct uet_shape *shape)
{
	u32 at = sizeof(struct iphdr) + sizeof(struct udphdr);
	struct uet_fake *f = test->priv;
	u32 trailer = shape->crc ? UET_CRC_LEN : 0;
	struct uet_pkt pkt;
	u32 each, packets;

	uet_fake_pkt(&pkt, n, shape->payload);
	each = uet_pkt_hdr_len(&pkt) + shape->payload + trailer;
	KUNIT_ASSERT_EQ(test, (skb->len - at) % each, 0);
	packets = (skb->len - at) / each;
	KUNIT_ASSERT_GT(test, packets, 0);
	if (packets > 1)
		KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_size, each);
	KUNIT_EXPECT_EQ(test, ntohs(udp_hdr(skb)->len),
			skb->len - sizeof(struct iphdr));
	KUNIT_EXPECT_PTR_EQ(test, skb->sk, f->sock->sk);
	KUNIT_EXPECT_PTR_EQ(test, skb->dev, f->egress);
	if (shape->crc)
		KUNIT_EXPECT_TRUE(test,
				  uet_crc_intact(skb, sizeof(struct iphdr),
						 &f->path.attr.src,
						 &f->path.attr.dst));
	uet_check_limits(test, skb, f->egress, packets);
	uet_check_limits(test, skb, f->dev, packets);
	uet_check_checksum(test, skb, packets);
	uet_check_truesize(test, skb);
	for (each = 0; each < packets; each++) {
		uet_check_packet(test, skb, at, n + each, shape->payload,
				 shape->skew);
		at += (skb->len - sizeof(struct iphdr) -
		       sizeof(struct udphdr)) / packets;
	}
	return packets;
}

static void uet_shape_apply(struct uet_fake *f, const struct uet_shape *shape)
{
	if (shape->egress_segs)
		f->egress->gso_max_segs = shape->egress_segs;
	if (shape->dev_segs)
		f->dev->gso_max_segs = shape->dev_segs;
	if (shape->egress_size)
		f->egress->gso_ipv4_max_size = shape->egress_size;
	if (shape->dev_size)
		f->dev->gso_ipv4_max_size = shape->dev_size;
	f->fep.params.crc = shape->crc;
}

/* A stream of packets comes out complete, in order, within all limits. */
static void uet_burst_stream(struct kunit *test)
{
	const struct uet_shape *shape = test->param_value;
	struct uet_fake *f = test->priv;
	u32 n, charged = 0, skbs = 0, full = 0, last = 0;
	struct sk_buff *skb;
	struct uet_burst b;

	uet_shape_apply(f, shape);
	local_bh_disable();
	uet_burst_init(&b, &f->path, cpu_to_be16(UET_FAKE_PORT), false, &f->d);
	for (n = 0; n < shape->packets; n++) {
		b.more = n + 1 < shape->packets;
		KUNIT_EXPECT_EQ(test, uet_fake_add(f, &b, n, shape->payload,
						   shape->skew), 0);
	}
	uet_burst_flush(&b);
	local_bh_enable();

	n = 0;
	skb_queue_walk(&f->d.xmit, skb) {
		n += uet_check_skb(test, skb, n, shape);
		charged += skb->truesize;
		skbs++;
		/* All but the last were full. */
		full = last;
		last = skb->len - sizeof(struct iphdr) -
		       sizeof(struct udphdr) - b.trailer;
	}
	KUNIT_EXPECT_EQ(test, b.full, full);
	KUNIT_EXPECT_EQ(test, n, shape->packets);
	KUNIT_EXPECT_EQ(test, uet_fake_stat(f, UET_STAT_TX_PKTS), n);
	if (shape->single)
		KUNIT_EXPECT_EQ(test, skbs, n);
	else
		KUNIT_EXPECT_LT(test, skbs, n);
	KUNIT_EXPECT_EQ(test, sk_wmem_alloc_get(f->sock->sk), charged);
}

/* ------------------------------------------------------------------ */
/* Limits as such                                                      */

static void uet_burst_limit_arithmetic(struct kunit *test)
{
	struct uet_fake *f = test->priv;
	u32 segs, len;

	/* Either device's limit holds, whichever is smaller */
	f->egress->gso_max_segs = 10;
	f->dev->gso_max_segs = 20;
	uet_burst_limits(f->egress, f->dev, true, &segs, &len);
	KUNIT_EXPECT_EQ(test, segs, 10);
	f->dev->gso_max_segs = 5;
	uet_burst_limits(f->egress, f->dev, true, &segs, &len);
	KUNIT_EXPECT_EQ(test, segs, 5);
	/* 0 is nonsense and means no bursts */
	f->dev->gso_max_segs = 0;
	uet_burst_limits(f->egress, f->dev, true, &segs, &len);
	KUNIT_EXPECT_EQ(test, segs, 1);

	/* IPv4 and IPv6 have sizes of their own */
	f->egress->gso_ipv4_max_size = 9000;
	f->egress->gso_max_size = 30000;
	uet_burst_limits(f->egress, f->dev, true, &segs, &len);
	KUNIT_EXPECT_EQ(test, len, 9000 - 128);
	uet_burst_limits(f->egress, f->dev, false, &segs, &len);
	KUNIT_EXPECT_EQ(test, len, 30000 - 128);
	f->dev->gso_max_size = 20000;
	uet_burst_limits(f->egress, f->dev, false, &segs, &len);
	KUNIT_EXPECT_EQ(test, len, 20000 - 128);

	/* BIG TCP allows what UDP length fields cannot say */
	f->egress->gso_max_size = GSO_MAX_SIZE;
	f->dev->gso_max_size = GSO_MAX_SIZE;
	uet_burst_limits(f->egress, f->dev, false, &segs, &len);
	KUNIT_EXPECT_EQ(test, len, 65535 - 128);
	/* No underflow */
	f->egress->gso_max_size = 100;
	uet_burst_limits(f->egress, f->dev, false, &segs, &len);
	KUNIT_EXPECT_EQ(test, len, 0);
}

/* ------------------------------------------------------------------ */
/* What does not go by the book                                        */

/* A packet whose second half cannot be read leaves no trace in the burst. */
static void uet_burst_undone(struct kunit *test)
{
	const struct uet_shape shape = { .payload = 4096 };
	struct uet_fake *f = test->priv;
	struct uet_mem gone = f->mem;
	struct uet_sge sge[] = {
		{ .mem = &f->mem, .off = 8192, .len = 2048 },
		{ .mem = &gone, .off = 0, .len = 2048 },
	};
	struct uet_payload pl = { .sge = sge, .nr_sge = 2, .len = 4096 };
	u32 frags, truesize, len;
	struct uet_burst b;
	struct uet_pkt *pkt;

	pkt = kunit_kzalloc(test, sizeof(*pkt), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pkt);
	uet_mem_init(&gone, uet_fake_mem_release);
	uet_mem_kill(&gone);
	uet_fake_pkt(pkt, 2, 4096);
	local_bh_disable();
	uet_burst_init(&b, &f->path, cpu_to_be16(UET_FAKE_PORT), false, &f->d);
	b.more = true;
	KUNIT_EXPECT_EQ(test, uet_fake_add(f, &b, 0, 4096, 0), 0);
	KUNIT_EXPECT_EQ(test, uet_fake_add(f, &b, 1, 4096, 0), 0);
	frags = skb_shinfo(b.skb)->nr_frags;
	truesize = b.skb->truesize;
	len = b.skb->len;
	KUNIT_EXPECT_EQ(test, uet_burst_add(&b, pkt, &pl), -EACCES);
	KUNIT_EXPECT_EQ(test, skb_shinfo(b.skb)->nr_frags, frags);
	KUNIT_EXPECT_EQ(test, b.skb->truesize, truesize);
	KUNIT_EXPECT_EQ(test, b.skb->len, len);
	KUNIT_EXPECT_EQ(test, uet_fake_add(f, &b, 2, 4096, 0), 0);
	uet_burst_flush(&b);
	local_bh_enable();
	KUNIT_ASSERT_EQ(test, skb_queue_len(&f->d.xmit), 1);
	KUNIT_EXPECT_EQ(test, uet_check_skb(test, skb_peek(&f->d.xmit), 0,
					    &shape), 3);
}

/* Packets of an ordered burst have PSNs in a row, so one PSN names them. */
static void uet_burst_psns(struct kunit *test)
{
	static const u32 psns[] = { 0, 1, 2, 5, 6, 9 };
	static const struct { u32 first, packets; } want[] = {
		{ 0, 3 }, { 5, 2 }, { 9, 1 },
	};
	struct uet_fake *f = test->priv;
	struct sk_buff *skb;
	struct uet_burst b;
	u32 i;

	local_bh_disable();
	uet_burst_init(&b, &f->path, cpu_to_be16(UET_FAKE_PORT), false, &f->d);
	b.ordered = true;
	b.more = true;
	for (i = 0; i < ARRAY_SIZE(psns); i++)
		KUNIT_EXPECT_EQ(test, uet_fake_add(f, &b, psns[i], 1024, 0), 0);
	uet_burst_flush(&b);
	local_bh_enable();
	KUNIT_ASSERT_EQ(test, skb_queue_len(&f->path.outq), ARRAY_SIZE(want));
	i = 0;
	skb_queue_walk(&f->path.outq, skb) {
		KUNIT_EXPECT_EQ(test, uet_tx_cb(skb)->pdcid, UET_FAKE_PDCID);
		KUNIT_EXPECT_EQ(test, uet_tx_cb(skb)->psn,
				UET_FAKE_PSN + want[i].first);
		KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_segs ?: 1,
				want[i].packets);
		i++;
	}
}

static void uet_fake_send(struct kunit *test, bool ctrl, u32 packets)
{
	struct uet_fake *f = test->priv;
	struct uet_burst b;
	u32 n;

	local_bh_disable();
	uet_burst_init(&b, &f->path, cpu_to_be16(UET_FAKE_PORT), ctrl, &f->d);
	b.more = true;
	for (n = 0; n < packets; n++)
		KUNIT_EXPECT_EQ(test, uet_fake_add(f, &b, n, 4096, 0), 0);
	uet_burst_flush(&b);
	local_bh_enable();
}

/* What the layers below answer is counted as what it is. */
static void uet_burst_answers(struct kunit *test)
{
	static const struct { int answer; u64 full, other; } cases[] = {
		{ NET_XMIT_SUCCESS, 0, 0 },
		{ NET_XMIT_DROP, 3, 0 },
		{ NET_XMIT_CN, 3, 0 },
		{ -ENOBUFS, 6, 0 },
		{ -EPERM, 6, 3 },
		{ -ENETDOWN, 6, 6 },
	};
	struct uet_fake *f = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		f->answer = cases[i].answer;
		uet_fake_send(test, false, 3);
		KUNIT_EXPECT_EQ(test, skb_queue_len(&f->d.xmit), 1);
		uet_defer_run(&f->d);
		KUNIT_EXPECT_EQ(test, f->sent, i + 1);
		KUNIT_EXPECT_EQ(test, uet_fake_stat(f, UET_STAT_DROP_TX_FULL),
				cases[i].full);
		KUNIT_EXPECT_EQ(test, uet_fake_stat(f, UET_STAT_DROP_TX),
				cases[i].other);
		KUNIT_EXPECT_EQ(test, sk_wmem_alloc_get(f->sock->sk), 0);
	}
}

/* The send buffer bounds what is queued; control packets pass. */
static void uet_burst_bound(struct kunit *test)
{
	struct uet_fake *f = test->priv;
	struct sk_buff_head held;
	struct sk_buff *skb;

	__skb_queue_head_init(&held);
	f->sock->sk->sk_sndbuf = 100000;
	KUNIT_EXPECT_FALSE(test, uet_net_is_full(&f->path));
	while (!uet_net_is_full(&f->path) && skb_queue_len(&held) < 100) {
		uet_fake_send(test, false, 3);
		skb_queue_splice_tail_init(&f->d.xmit, &held);
	}
	KUNIT_EXPECT_TRUE(test, uet_net_is_full(&f->path));
	KUNIT_EXPECT_LE(test, sk_wmem_alloc_get(f->sock->sk), 200000);

	uet_fake_send(test, false, 3);
	uet_defer_run(&f->d);
	KUNIT_EXPECT_EQ(test, f->sent, 0);
	KUNIT_EXPECT_EQ(test, uet_fake_stat(f, UET_STAT_DROP_TX_FULL), 3);
	uet_fake_send(test, true, 1);
	uet_defer_run(&f->d);
	KUNIT_EXPECT_EQ(test, f->sent, 1);

	while ((skb = __skb_dequeue(&held)))
		kfree_skb(skb);
	KUNIT_EXPECT_FALSE(test, uet_net_is_full(&f->path));
	uet_fake_send(test, false, 3);
	uet_defer_run(&f->d);
	KUNIT_EXPECT_EQ(test, f->sent, 2);
}

/* ------------------------------------------------------------------ */
/* The CRC trailer                                                     */

static u32 uet_vector_bytes(const struct uet_vector *v, u8 *buf)
{
	u32 i, n, len = 0;

	for (i = 0; i < ARRAY_SIZE(v->hex) && v->hex[i]; i++) {
		n = strlen(v->hex[i]) / 2;
		if (hex2bin(buf + len, v->hex[i], n))
			return 0;
		len += n;
	}
	for (i = 0; i < v->fill; i++)
		buf[len++] = i;
	return len;
}

/* The golden vectors as UDP packets, in one piece or in three */
static struct sk_buff *uet_vector_skb(struct kunit *test,
				      const struct uet_vector *v, bool cut)
{
	u8 *buf = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	struct udphdr *uh = (struct udphdr *)buf;
	u32 len, linear, at;
	struct sk_buff *skb;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	len = uet_vector_bytes(v, buf + sizeof(*uh));
	KUNIT_ASSERT_GT(test, len, 0);
	len += sizeof(*uh) + UET_CRC_LEN;
	uh->source = cpu_to_be16(0xbeef);
	uh->dest = cpu_to_be16(UET_UDP_PORT);
	uh->len = cpu_to_be16(len);
	put_unaligned_le32(v->crc, buf + len - UET_CRC_LEN);

	linear = cut ? sizeof(*uh) + 3 : len;
	skb = alloc_skb(linear, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_data(skb, buf, linear);
	/* the last cut goes through the trailer */
	for (at = linear; at < len;) {
		u32 n = at == linear ? len - linear - 2 : 2;
		struct page *page = alloc_page(GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, page);
		memcpy(page_address(page) + 5, buf + at, n);
		skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, 5, n,
				PAGE_SIZE);
		at += n;
	}
	return skb;
}

static void uet_vector_desc(const struct uet_vector *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(uet_vector, uet_vectors, uet_vector_desc);

/* Right as it is, wrong with any byte changed or missing */
static void uet_crc_vector(struct kunit *test)
{
	const struct uet_vector *v = test->param_value;
	struct uet_fake *f = test->priv;
	const struct in6_addr *src = v->to_a ? &f->path.attr.dst :
					       &f->path.attr.src;
	const struct in6_addr *dst = v->to_a ? &f->path.attr.src :
					       &f->path.attr.dst;
	struct sk_buff *skb;
	u32 i, len;
	int cut;

	if (v->entropy) /* native IP form */
		return;
	for (cut = 0; cut < 2; cut++) {
		skb = uet_vector_skb(test, v, cut);
		KUNIT_EXPECT_EQ(test, uet_crc_packet(skb, 0, skb->len - 4, src,
						     dst), v->crc);
		KUNIT_EXPECT_TRUE(test, uet_crc_intact(skb, 0, src, dst));
		KUNIT_EXPECT_FALSE(test, uet_crc_intact(skb, 0, src, src));
		kfree_skb(skb);
	}
	skb = uet_vector_skb(test, v, false);
	for (i = 0; i < skb->len; i++) {
		skb->data[i] ^= 1 << (i % 8);
		KUNIT_EXPECT_FALSE(test, uet_crc_intact(skb, 0, src, dst));
		skb->data[i] ^= 1 << (i % 8);
	}
	for (len = skb->len; len--;) {
		skb_trim(skb, len);
		KUNIT_EXPECT_FALSE(test, uet_crc_intact(skb, 0, src, dst));
	}
	kfree_skb(skb);
}

/*
 * V1 between fd00::1 and fd00::2. The value is that of the independent decoder,
 * selftests/uet/wire_decode.py.
 */
static void uet_crc_ipv6(struct kunit *test)
{
	const struct in6_addr a = { { { 0xfd, [15] = 1 } } };
	const struct in6_addr b = { { { 0xfd, [15] = 2 } } };
	struct sk_buff *skb = uet_vector_skb(test, &uet_vectors[V1], true);

	KUNIT_EXPECT_EQ(test, uet_crc_packet(skb, 0, skb->len - 4, &a, &b),
			0xad46d075);
	kfree_skb(skb);
}

static struct kunit_case uet_burst_cases[] = {
	KUNIT_CASE(uet_burst_limit_arithmetic),
	KUNIT_CASE_PARAM(uet_burst_stream, uet_shape_gen_params),
	KUNIT_CASE(uet_burst_undone),
	KUNIT_CASE(uet_burst_psns),
	KUNIT_CASE(uet_burst_answers),
	KUNIT_CASE(uet_burst_bound),
	KUNIT_CASE_PARAM(uet_crc_vector, uet_vector_gen_params),
	KUNIT_CASE(uet_crc_ipv6),
	{}
};

static struct kunit_suite uet_burst_suite = {
	.name = "uet_burst",
	.init = uet_burst_test_init,
	.exit = uet_burst_test_exit,
	.test_cases = uet_burst_cases,
};

kunit_test_suite(uet_burst_suite);

MODULE_DESCRIPTION("KUnit tests of bursts, limits of devices and the CRC trailer");
MODULE_LICENSE("Dual BSD/GPL");
