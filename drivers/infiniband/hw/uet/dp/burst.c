// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Bursts: consecutive packets to one peer leave as one UDP-GSO skb, so that
 * the stack is walked once for all of them. Each segment is a complete UET
 * packet; all but the last have the same length.
 *
 * A GSO skb needs CHECKSUM_PARTIAL; a single packet is sent without checksum
 * (uet-wire 1.2). The payload stands in the skb as references to the
 * registered pages as long as 17 fragments carry a burst worth having, else
 * headers and payload are copied.
 *
 * With the CRC trailer on each packet is an skb of its own, since the trailer
 * covers the UDP header, which only the last moment of a burst's life makes.
 * Its payload is copied: bytes that the program changes under way would look
 * like damage to the receiver.
 */
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/netdevice.h>
#include <net/dst.h>

#include "burst.h"
#include "crc.h"
#include "fep.h"
#include "net.h"
#include "path.h"
#include "ses.h"

/* Payloads from this size on are referenced, smaller ones copied: measured. */
#define UET_BURST_REF_MIN	4096
/* Copied packets go into pieces of so many pages, if there are any. */
#define UET_BURST_CHUNK_ORDER	3
/* Link, IP and UDP headers count in the limits of the device, too. */
#define UET_BURST_HEADERS	128
/* What the 16-bit length fields can say. */
#define UET_BURST_MAX		65535

/**
 * uet_burst_init - start collecting
 * @b: burst
 * @path: where to
 * @sport: entropy value
 * @ctrl: control packets
 * @d: collector
 */
void uet_burst_init(struct uet_burst *b, struct uet_path *path, __be16 sport,
		    bool ctrl, struct uet_defer *d)
{
	memset(b, 0, sizeof(*b));
	b->path = path;
	b->sport = sport;
	b->ctrl = ctrl;
	b->d = d;
	b->trailer = READ_ONCE(path->fep->params.crc) ? UET_CRC_LEN : 0;
	if (b->trailer)
		b->max_segs = 1;
}
EXPORT_SYMBOL_GPL(uet_burst_init);

static u32 uet_gso_max_size(const struct net_device *dev, bool v4)
{
	return v4 ? READ_ONCE(dev->gso_ipv4_max_size) :
		    READ_ONCE(dev->gso_max_size);
}

/**
 * uet_burst_limits - what a burst may be at most
 * @egress: device of the route
 * @dev: device of the fabric endpoint. It is another one for packets to this
 *	host itself, and its limits hold for those, too
 * @v4: the burst is of IPv4 packets
 * @segs: set to a number of packets, at least 1
 * @len: set to a number of bytes behind the first UDP header
 *
 * A larger burst would not be lost: the stack would cut it into packets. A
 * device above others (VLAN, bond) may have larger limits than those have; the
 * stack cuts for them in the same way.
 */
void uet_burst_limits(const struct net_device *egress,
		      const struct net_device *dev, bool v4, u32 *segs,
		      u32 *len)
{
	u32 size = min3(uet_gso_max_size(egress, v4), uet_gso_max_size(dev, v4),
			(u32)UET_BURST_MAX);

	*segs = min_t(u32, READ_ONCE(egress->gso_max_segs),
		      READ_ONCE(dev->gso_max_segs));
	*segs = max_t(u32, *segs, 1);
	*len = size - min_t(u32, size, UET_BURST_HEADERS);
}
EXPORT_SYMBOL_GPL(uet_burst_limits);

/* Looked up once a second packet comes, or is likely to come. */
static void uet_burst_learn_limits(struct uet_burst *b)
{
	struct dst_entry *dst;

	b->max_segs = 1;
	dst = uet_path_route(b->path);
	if (IS_ERR(dst))
		return;
	uet_burst_limits(dst->dev, b->path->fep->dev, uet_path_is_v4(b->path),
			 &b->max_segs, &b->max_len);
	dst_release(dst);
}

/**
 * uet_burst_flush - send what was collected
 * @b: burst; empty afterwards
 */
void uet_burst_flush(struct uet_burst *b)
{
	struct uet_fep *fep = b->path->fep;
	struct sk_buff *skb = b->skb;

	if (!skb)
		return;
	b->skb = NULL;
	if (b->trailer)
		skb_put(skb, b->trailer);
	if (uet_net_xmit_prepare(b->path, skb, b->sport, b->ctrl,
				 b->segs > 1 ? b->seg : 0)) {
		uet_stat_inc(fep, UET_STAT_DROP_TX);
		kfree_skb(skb);
		return;
	}
	if (b->trailer)
		uet_crc_seal(skb, &b->path->attr.src, &b->path->attr.dst);
	uet_stat_add(fep, UET_STAT_TX_PKTS, b->segs);
	if (b->ordered) {
		uet_tx_cb(skb)->pdcid = b->pdcid;
		uet_tx_cb(skb)->psn = b->psn;
		uet_defer_ordered(b->d, b->path, skb);
	} else {
		__skb_queue_tail(&b->d->xmit, skb);
	}
}
EXPORT_SYMBOL_GPL(uet_burst_flush);

static int uet_burst_start(struct uet_burst *b, const struct uet_pkt *pkt,
			   u32 hdr, u32 total, bool refs)
{
	u32 linear = refs ? hdr : total;

	if (b->more && !b->max_segs)
		uet_burst_learn_limits(b);
	if (!refs && b->more && b->max_segs > 1)
		linear = 0;
	b->pdcid = pkt->spdcid;
	b->psn = pkt->psn;
	b->refs = refs;
	b->chunk = NULL;
	b->room = 0;
	b->seg = total;
	b->segs = 0;
	b->linear = linear;
	b->skb = uet_skb_alloc(b->path->fep, linear + b->trailer);
	return b->skb ? 0 : -ENOMEM;
}

/*
 * May a packet of @total bytes join what is there? PSNs in a row, so that the
 * first one and the number tell which packets were in a burst that is lost
 * before it leaves this host.
 */
static bool uet_burst_suits(const struct uet_burst *b, const struct uet_pkt *pkt,
			    u32 total, bool refs)
{
	return b->refs == refs && total <= b->seg &&
	       (!b->ordered || pkt->psn == b->psn + b->segs) &&
	       b->skb->len == b->segs * b->seg;
}

static bool uet_burst_has_room(struct uet_burst *b, u32 total)
{
	if (!b->max_segs)
		uet_burst_learn_limits(b);
	return b->segs < b->max_segs && b->skb->len + total <= b->max_len;
}

/* For packets of @total bytes; a single page does when memory is in pieces. */
static int uet_burst_new_chunk(struct uet_burst *b, u32 total)
{
	gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN | __GFP_COMP;
	struct sk_buff *skb = b->skb;
	struct page *page;

	if (skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS)
		return -EMSGSIZE;
	page = alloc_pages(gfp, UET_BURST_CHUNK_ORDER);
	if (!page && total <= PAGE_SIZE)
		page = alloc_page(gfp);
	if (!page)
		return -ENOMEM;
	skb_fill_page_desc(skb, skb_shinfo(skb)->nr_frags, page, 0, 0);
	skb->truesize += page_size(page);
	b->chunk = page_address(page);
	b->room = page_size(page);
	return 0;
}

/* Where the next @total copied bytes go. */
static void *uet_burst_reserve(struct uet_burst *b, u32 total)
{
	struct sk_buff *skb = b->skb;
	skb_frag_t *frag;
	void *to;
	int err;

	if (b->linear)
		return skb_tailroom(skb) >= total ? skb_put(skb, total) :
						    ERR_PTR(-EMSGSIZE);
	if (b->room < total) {
		err = uet_burst_new_chunk(b, total);
		if (err)
			return ERR_PTR(err);
	}
	to = b->chunk;
	frag = &skb_shinfo(skb)->frags[skb_shinfo(skb)->nr_frags - 1];
	skb_frag_size_add(frag, total);
	skb->len += total;
	skb->data_len += total;
	b->chunk += total;
	b->room -= total;
	return to;
}

static int uet_burst_copy(struct uet_burst *b, const struct uet_pkt *pkt,
			  const struct uet_payload *pl, u32 hdr)
{
	void *to = uet_burst_reserve(b, hdr + pl->len);

	if (IS_ERR(to))
		return PTR_ERR(to);
	uet_pkt_build(pkt, to);
	if (pl->nr_sge)
		return uet_sge_copy(pl->sge, pl->nr_sge, pl->off, to + hdr,
				    pl->len);
	memcpy(to + hdr, pl->data, pl->len);
	return 0;
}

static int uet_burst_ref_hdr(struct uet_burst *b, const struct uet_pkt *pkt,
			     u32 hdr)
{
	struct sk_buff *skb = b->skb;
	void *va;

	if (!skb->len) {
		uet_pkt_build(pkt, skb_put(skb, hdr));
		return 0;
	}
	if (skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS)
		return -EMSGSIZE;
	va = netdev_alloc_frag(hdr);
	if (!va)
		return -ENOMEM;
	uet_pkt_build(pkt, va);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, virt_to_head_page(va),
			va - page_address(virt_to_head_page(va)), hdr, hdr);
	return 0;
}

static int uet_burst_ref(struct uet_burst *b, const struct uet_pkt *pkt,
			 const struct uet_payload *pl, u32 hdr)
{
	int err = uet_burst_ref_hdr(b, pkt, hdr);

	if (err)
		return err;
	err = uet_sge_ref(b->skb, pl->sge, pl->nr_sge, pl->off, pl->len);
	if (!err)
		b->skb->truesize += pl->len;
	return err;
}

/* Take back what a failed addition left behind: all from @len on. */
static void uet_burst_undo(struct uet_burst *b, u32 len, int nr_frags,
			   u32 truesize)
{
	struct sk_buff *skb = b->skb;
	u32 extra = skb->len - len;

	if (!b->segs) {
		kfree_skb(skb);
		b->skb = NULL;
		return;
	}
	b->chunk = NULL;
	b->room = 0;
	skb->truesize = truesize;
	if (!skb->data_len) {
		skb_trim(skb, len);
		return;
	}
	while (skb_shinfo(skb)->nr_frags > nr_frags) {
		int i = --skb_shinfo(skb)->nr_frags;

		extra -= skb_frag_size(&skb_shinfo(skb)->frags[i]);
		skb->len -= skb_frag_size(&skb_shinfo(skb)->frags[i]);
		skb->data_len -= skb_frag_size(&skb_shinfo(skb)->frags[i]);
		put_page(skb_frag_page(&skb_shinfo(skb)->frags[i]));
	}
	if (extra) {
		skb_frag_size_sub(&skb_shinfo(skb)->frags[nr_frags - 1], extra);
		skb->len -= extra;
		skb->data_len -= extra;
	}
}

/* Return: 0; -EMSGSIZE: no fragment left; another error of memory. */
static int uet_burst_append(struct uet_burst *b, const struct uet_pkt *pkt,
			    const struct uet_payload *pl, u32 hdr)
{
	int nr_frags = skb_shinfo(b->skb)->nr_frags;
	u32 truesize = b->skb->truesize;
	u32 len = b->skb->len;
	int err;

	err = b->refs ? uet_burst_ref(b, pkt, pl, hdr) :
			uet_burst_copy(b, pkt, pl, hdr);
	if (err)
		uet_burst_undo(b, len, nr_frags, truesize);
	else
		b->segs++;
	return err;
}

/* As uet_burst_append(), to a burst that may have no room. */
static int uet_burst_join(struct uet_burst *b, const struct uet_pkt *pkt,
			  const struct uet_payload *pl, u32 hdr)
{
	int err = -EMSGSIZE;

	if (uet_burst_has_room(b, hdr + pl->len))
		err = uet_burst_append(b, pkt, pl, hdr);
	if (err == -EMSGSIZE)
		b->full = b->skb->len;
	return err;
}

/**
 * uet_burst_add - one more packet
 * @b: burst; what is there is flushed if the packet does not fit
 * @pkt: its headers
 * @pl: its payload
 *
 * Return: 0; -ENOMEM; -EACCES or -EFAULT if the payload's memory is gone. On
 * error nothing of this packet is sent.
 */
int uet_burst_add(struct uet_burst *b, const struct uet_pkt *pkt,
		  const struct uet_payload *pl)
{
	bool refs = pl->nr_sge && pl->len >= UET_BURST_REF_MIN && !b->trailer;
	u32 hdr = uet_pkt_hdr_len(pkt);
	u32 total = hdr + pl->len;
	int err = -EMSGSIZE;

	if (b->skb && uet_burst_suits(b, pkt, total, refs))
		err = uet_burst_join(b, pkt, pl, hdr);
	if (err != -EMSGSIZE)
		return err;

	/* First packet of a new burst: with references, else as a copy. */
	uet_burst_flush(b);
	if (refs) {
		err = uet_burst_start(b, pkt, hdr, total, true) ?:
		      uet_burst_append(b, pkt, pl, hdr);
		if (err != -EMSGSIZE)
			return err;
	}
	return uet_burst_start(b, pkt, hdr, total, false) ?:
	       uet_burst_append(b, pkt, pl, hdr);
}
EXPORT_SYMBOL_GPL(uet_burst_add);
