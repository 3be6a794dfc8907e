// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Paths and their routes. */
#include <linux/export.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/dst.h>
#include <net/inet_ecn.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/route.h>

#include "../compat.h"
#include "crc.h"
#include "fep.h"
#include "net.h"
#include "path.h"
#include "pkt.h"

/* UDP and the longest PDS + SES headers in front of the payload. */
#define UET_PATH_OVERHEAD	(sizeof(struct udphdr) + UET_PKT_HDR_MAX)

/**
 * uet_path_create - a path to one peer
 * @fep: where it leaves
 * @attr: addresses and header fields
 * @gfp: allocation flags
 *
 * The route is looked up when the first packet is sent.
 *
 * Context: any, also with interrupts off.
 * Return: a path with one reference, or ERR_PTR: -EINVAL for addresses of
 * different families, -EAFNOSUPPORT for IPv6 where it is off, -ENOMEM.
 */
struct uet_path *uet_path_create(struct uet_fep *fep,
				 const struct uet_path_attr *attr, gfp_t gfp)
{
	bool v4 = ipv6_addr_v4mapped(&attr->dst);
	struct uet_path *path;

	if (v4 != ipv6_addr_v4mapped(&attr->src))
		return ERR_PTR(-EINVAL);
	if (!v4 && !(IS_ENABLED(CONFIG_IPV6) && ipv6_mod_enabled()))
		return ERR_PTR(-EAFNOSUPPORT);

	path = kzalloc_obj(*path, gfp);
	if (!path)
		return ERR_PTR(-ENOMEM);
	kref_init(&path->ref);
	spin_lock_init(&path->lock);
	skb_queue_head_init(&path->outq);
	path->fep = fep;
	path->attr = *attr;
	if (!path->attr.tclass)
		path->attr.tclass = READ_ONCE(fep->params.dscp_data) << 2;
	path->attr.tclass &= ~INET_ECN_MASK;
	return path;
}
EXPORT_SYMBOL_GPL(uet_path_create);

/**
 * uet_path_get - take a reference
 * @path: path
 */
void uet_path_get(struct uet_path *path)
{
	kref_get(&path->ref);
}
EXPORT_SYMBOL_GPL(uet_path_get);

static void uet_path_release(struct kref *ref)
{
	struct uet_path *path = container_of(ref, struct uet_path, ref);

	__skb_queue_purge(&path->outq);
	dst_release(path->dst);
	kfree_rcu(path, rcu);
}

/**
 * uet_path_put - drop a reference
 * @path: path or NULL
 *
 * Context: any.
 */
void uet_path_put(struct uet_path *path)
{
	if (path)
		kref_put(&path->ref, uet_path_release);
}
EXPORT_SYMBOL_GPL(uet_path_put);

/**
 * uet_path_drain - send what waits in order
 * @path: path
 *
 * One CPU at a time sends; what another one queues meanwhile, it sends, too.
 *
 * Context: process or softirq, interrupts on, no engine lock held.
 */
void uet_path_drain(struct uet_path *path)
{
	struct sk_buff_head list;
	struct sk_buff *skb;

	__skb_queue_head_init(&list);
	spin_lock_bh(&path->outq.lock);
	if (path->sending) {
		spin_unlock_bh(&path->outq.lock);
		return;
	}
	path->sending = true;
	while (!skb_queue_empty(&path->outq)) {
		skb_queue_splice_tail_init(&path->outq, &list);
		/* BHs stay off: nobody waits for a preempted sender. */
		spin_unlock(&path->outq.lock);
		while ((skb = __skb_dequeue(&list)))
			uet_net_xmit(skb);
		spin_lock(&path->outq.lock);
	}
	path->sending = false;
	spin_unlock_bh(&path->outq.lock);
}

/* Packets leave by the VLAN that the source address belongs to. */
static int uet_path_oif(const struct uet_path *path,
			const struct net_device *owner)
{
	const struct net_device *dev = path->fep->dev;

	if (owner && is_vlan_dev(owner) && vlan_dev_real_dev(owner) == dev)
		dev = owner;
	return dev->ifindex;
}

static struct dst_entry *uet_route4(const struct uet_path *path)
{
	struct net_device *dev = path->fep->dev;
	struct net *net = dev_net(dev);
	struct flowi4 fl4 = {
		.daddr = path->attr.dst.s6_addr32[3],
		.saddr = path->attr.src.s6_addr32[3],
		.flowi4_proto = IPPROTO_UDP,
	};
	struct rtable *rt;

	/* An address of this host is reached through lo, whoever owns it. */
	if (!__ip_dev_find(net, fl4.daddr, false))
		fl4.flowi4_oif = uet_path_oif(path, __ip_dev_find(net, fl4.saddr,
								  false));
	rt = ip_route_output_key(net, &fl4);
	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *uet_route6(const struct uet_path *path)
{
	struct net_device *dev = path->fep->dev;
	struct net *net = dev_net(dev);
	struct flowi6 fl6 = {
		.daddr = path->attr.dst,
		.saddr = path->attr.src,
		.flowi6_proto = IPPROTO_UDP,
	};
	struct dst_entry *dst;
	int err;

	if (path->attr.scope)
		fl6.flowi6_oif = path->attr.scope;
	else if (!ipv6_chk_addr(net, &fl6.daddr, NULL, 0))
		fl6.flowi6_oif = uet_path_oif(path, ipv6_dev_find(net,
								  &fl6.saddr,
								  dev));
	dst = ip6_route_output(net, NULL, &fl6);
	err = dst->error;
	if (err) {
		dst_release(dst);
		return ERR_PTR(err);
	}
	return dst;
}
#else
static struct dst_entry *uet_route6(const struct uet_path *path)
{
	return ERR_PTR(-EAFNOSUPPORT);
}
#endif

/**
 * uet_path_route - the route, from the cache if it still holds
 * @path: path
 *
 * Context: softirq or BHs off.
 * Return: a route with a reference, or ERR_PTR.
 */
struct dst_entry *uet_path_route(struct uet_path *path)
{
	struct dst_entry *dst, *old;

	spin_lock(&path->lock);
	dst = path->dst;
	if (dst && !dst_check(dst, path->cookie))
		dst = NULL;
	if (dst)
		dst_hold(dst);
	spin_unlock(&path->lock);
	if (dst)
		return dst;

	dst = uet_path_is_v4(path) ? uet_route4(path) : uet_route6(path);
	if (IS_ERR(dst))
		return dst;

	spin_lock(&path->lock);
	old = path->dst;
	path->dst = dst;
	path->cookie = uet_path_is_v4(path) ? 0 :
		       rt6_get_cookie(dst_rt6_info(dst));
	dst_hold(dst);
	spin_unlock(&path->lock);
	dst_release(old);
	return dst;
}

/* Largest legal payload MTU that fits @mtu bytes of IP packet; 0: none. */
static u32 uet_payload_fit(const struct uet_fep *fep, u32 mtu)
{
	u32 room = sizeof(struct ipv6hdr) + UET_PATH_OVERHEAD;

	if (READ_ONCE(fep->params.crc))
		room += UET_CRC_LEN;
	if (mtu < room + UET_PAYLOAD_MTU_MIN)
		return 0;
	return min_t(u32, rounddown_pow_of_two(mtu - room),
		     UET_PAYLOAD_MTU_MAX);
}

/**
 * uet_path_payload_mtu - bytes of payload in a full packet, 1.5
 * @path: path
 *
 * Context: softirq or BHs off.
 * Return: 1024, 2048, 4096 or 8192; 0 if there is no route or its MTU is too
 * small for UET.
 */
u32 uet_path_payload_mtu(struct uet_path *path)
{
	u32 mtu, limit = path->attr.payload_mtu;
	struct dst_entry *dst;

	dst = uet_path_route(path);
	if (IS_ERR(dst))
		return 0;
	/* lo has a larger MTU than the fabric; the device decides. */
	mtu = min(dst_mtu(dst), READ_ONCE(path->fep->dev->mtu));
	dst_release(dst);
	mtu = uet_payload_fit(path->fep, mtu);
	mtu = min(mtu, READ_ONCE(path->fep->params.payload_mtu));
	if (!limit)
		return mtu;
	/* Verbs knows path MTUs of 256 and 512, UET does not. */
	return min_t(u32, mtu, max_t(u32, limit, UET_PAYLOAD_MTU_MIN));
}

/**
 * uet_fep_payload_mtu - the same for the device as a whole
 * @fep: fabric endpoint
 *
 * Return: 1024, 2048, 4096 or 8192; 0: the netdev's MTU is too small.
 */
u32 uet_fep_payload_mtu(const struct uet_fep *fep)
{
	return min(uet_payload_fit(fep, READ_ONCE(fep->dev->mtu)),
		   READ_ONCE(fep->params.payload_mtu));
}
EXPORT_SYMBOL_GPL(uet_fep_payload_mtu);
