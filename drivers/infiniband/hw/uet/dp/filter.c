// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The local filter. A packet says by itself which job its sender belongs to, so
 * while packets are not encrypted no socket of a user may send to the UET port:
 * what leaves through a namespace with fabric endpoints must be of the engine's
 * own sockets. Forwarded packets are those of another host and not seen here,
 * nor are those of packet sockets, which are below IP and take CAP_NET_RAW.
 */
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/rculist.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ip6_fib.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "fep.h"
#include "filter.h"
#include "net.h"

/* Behind address translation and the security tables: as it will leave. */
#define UET_FILTER_PRIORITY	(NF_IP_PRI_SECURITY + 1)

static bool uet_filter_is_own(const struct uet_net *un,
			      const struct sk_buff *skb)
{
	const struct socket *sk4 = READ_ONCE(un->sk4);
	const struct socket *sk6 = READ_ONCE(un->sk6);

	return skb->sk && ((sk4 && skb->sk == READ_ONCE(sk4->sk)) ||
			   (sk6 && skb->sk == READ_ONCE(sk6->sk)));
}

static bool uet_filter_is_uet(const struct sk_buff *skb, unsigned int off)
{
	const struct udphdr *uh;
	struct udphdr buf;

	uh = skb_header_pointer(skb, off, sizeof(buf), &buf);
	return uh && uh->dest == htons(UET_UDP_PORT);
}

/*
 * The device that a packet leaves through decides, for this host's own
 * addresses the one that has the address. Through one that does not speak UET
 * nothing leaves while any device of the namespace has the filter on: the
 * peer could not tell.
 */
static unsigned int uet_filter_judge(const struct uet_net *un,
				     const struct net_device *dev)
{
	struct uet_fep *fep = dev ? uet_net_owner(un, dev) : NULL;

	if (fep) {
		if (!READ_ONCE(fep->params.local_filter))
			return NF_ACCEPT;
		uet_stat_inc(fep, UET_STAT_DROP_LOCAL);
		return NF_DROP;
	}
	list_for_each_entry_rcu(fep, &un->feps, node)
		if (READ_ONCE(fep->params.local_filter))
			return NF_DROP;
	return NF_ACCEPT;
}

static unsigned int uet_filter4(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	const struct iphdr *iph = ip_hdr(skb);
	const struct uet_net *un;
	struct net_device *dev;

	/* No fragment but the first has a port, and without it none counts. */
	if (iph->protocol != IPPROTO_UDP || iph->frag_off & htons(IP_OFFSET) ||
	    !uet_filter_is_uet(skb, skb_network_offset(skb) + ip_hdrlen(skb)))
		return NF_ACCEPT;
	un = uet_net_of(state->net);
	if (uet_filter_is_own(un, skb))
		return NF_ACCEPT;
	dev = __ip_dev_find(state->net, iph->daddr, false);
	return uet_filter_judge(un, dev ?: skb_dst(skb)->dev);
}

#if IS_ENABLED(CONFIG_IPV6)
/* Of a local address this is the device that has it, not lo. */
static struct net_device *uet_filter6_dev(const struct sk_buff *skb)
{
	struct inet6_dev *idev = ip6_dst_idev(skb_dst(skb));

	return idev ? idev->dev : skb_dst(skb)->dev;
}

static unsigned int uet_filter6(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	const struct uet_net *un;
	unsigned short frag = 0;
	unsigned int off = 0;

	/* Extension headers may stand in front. */
	if (ipv6_find_hdr(skb, &off, IPPROTO_UDP, &frag, NULL) < 0 || frag ||
	    !uet_filter_is_uet(skb, off))
		return NF_ACCEPT;
	un = uet_net_of(state->net);
	if (uet_filter_is_own(un, skb))
		return NF_ACCEPT;
	return uet_filter_judge(un, uet_filter6_dev(skb));
}
#endif

static const struct nf_hook_ops uet_filters[] = {
	{
		.hook		= uet_filter4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= UET_FILTER_PRIORITY,
	},
#if IS_ENABLED(CONFIG_IPV6)
	{
		.hook		= uet_filter6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= UET_FILTER_PRIORITY,
	},
#endif
};

/**
 * uet_filter_start - look at what leaves
 * @net: namespace that gets its first fabric endpoint
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int uet_filter_start(struct net *net)
{
	return nf_register_net_hooks(net, uet_filters, ARRAY_SIZE(uet_filters));
}

/**
 * uet_filter_stop - the opposite
 * @net: namespace that lost its last fabric endpoint
 *
 * Context: process.
 */
void uet_filter_stop(struct net *net)
{
	nf_unregister_net_hooks(net, uet_filters, ARRAY_SIZE(uet_filters));
}
