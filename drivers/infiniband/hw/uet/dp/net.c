// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The IP side. One socket per namespace and family owns the UDP port, so that
 * no program can take it; packets never reach that socket but are taken at
 * LOCAL_IN, behind the host's firewall and before UDP looks at lengths and
 * checksums (uet-wire 1.2, 1.6).
 */
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/rculist.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/dst.h>
#include <net/inet_ecn.h>
#include <net/ip6_checksum.h>
#include <net/ip.h>
#include <net/ip6_fib.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>
#include <net/route.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>

#include "crc.h"
#include "fep.h"
#include "filter.h"
#include "net.h"
#include "path.h"
#include "pkt.h"

/* Behind the security tables: what the firewall drops never gets here. */
#define UET_HOOK_PRIORITY	(NF_IP_PRI_SECURITY + 1)

/* Send buffer of the sockets: bounds what sits in queueing disciplines. */
#define UET_SNDBUF		(64 << 20)

static unsigned int uet_net_id __read_mostly;
static DEFINE_MUTEX(uet_net_mutex);

struct uet_net *uet_net_of(const struct net *net)
{
	return net_generic(net, uet_net_id);
}

/* ------------------------------------------------------------------ */
/* Receive                                                             */

static struct uet_fep *uet_net_find(const struct uet_net *un,
				    const struct net_device *dev)
{
	struct uet_fep *fep;

	list_for_each_entry_rcu(fep, &un->feps, node,
				lockdep_is_held(&uet_net_mutex))
		if (fep->dev == dev)
			return fep;
	return NULL;
}

struct uet_fep *uet_net_owner(const struct uet_net *un,
			      const struct net_device *dev)
{
	struct uet_fep *fep = uet_net_find(un, dev);

	if (!fep && is_vlan_dev(dev))
		fep = uet_net_find(un, vlan_dev_real_dev(dev));
	return fep;
}

/*
 * Who answers for an address: the device that has it. What only lo has are
 * addresses of the host as a whole; for them it is the device that the packet
 * came in by.
 */
static struct uet_fep *uet_net_target(const struct uet_net *un,
				      const struct net_device *owner,
				      const struct sk_buff *skb)
{
	if (owner && owner->flags & IFF_LOOPBACK)
		owner = skb->dev;
	return owner ? uet_net_owner(un, owner) : NULL;
}

/*
 * Cut the packet to what its UDP header says. A burst of this host or of GRO
 * has the length of all of it there, or none.
 */
static bool uet_net_trim(struct sk_buff *skb, unsigned int udp_off)
{
	const struct udphdr *uh = (void *)(skb->data + udp_off);
	unsigned int ulen = ntohs(uh->len);

	return skb_is_gso(skb) ||
	       (ulen >= sizeof(*uh) && ulen <= skb->len - udp_off &&
		!pskb_trim_rcsum(skb, udp_off + ulen));
}

/* The packets of a burst lost their UDP headers, which a trailer covers. */
static bool uet_net_intact(struct sk_buff *skb, unsigned int udp_off,
			   const struct uet_rx *rx)
{
	return !skb_is_gso(skb) &&
	       uet_crc_intact(skb, udp_off, &rx->hdr.src, &rx->hdr.dst);
}

static void uet_net_drop(struct uet_fep *fep, struct sk_buff *skb,
			 enum uet_stat stat)
{
	uet_stat_add(fep, stat, skb_shinfo(skb)->gso_segs ?: 1);
	kfree_skb(skb);
}

/* The engine gets @skb from the first PDS prologue on. */
static unsigned int uet_net_take(struct uet_fep *fep, struct sk_buff *skb,
				 unsigned int udp_off, struct uet_rx *rx)
{
	bool crc = READ_ONCE(fep->params.crc);

	skb_orphan(skb);
	if (!uet_net_trim(skb, udp_off)) {
		uet_net_drop(fep, skb, UET_STAT_DROP_MALFORMED);
		return NF_STOLEN;
	}
	if (crc && !uet_net_intact(skb, udp_off, rx)) {
		uet_net_drop(fep, skb, UET_STAT_DROP_CRC);
		return NF_STOLEN;
	}
	if (crc && pskb_trim_rcsum(skb, skb->len - UET_CRC_LEN)) {
		uet_net_drop(fep, skb, UET_STAT_DROP_NO_MEMORY);
		return NF_STOLEN;
	}
	if (rx->ce)
		uet_stat_inc(fep, UET_STAT_RX_ECN);
	__skb_pull(skb, udp_off + sizeof(struct udphdr));
	uet_fep_rx(fep, skb, rx);
	return NF_STOLEN;
}

static bool uet_net_is_ours(struct sk_buff *skb, unsigned int udp_off,
			    struct uet_rx *rx)
{
	const struct udphdr *uh;

	if (!pskb_may_pull(skb, udp_off + sizeof(*uh)))
		return false;
	uh = (void *)(skb->data + udp_off);
	rx->sport = uh->source;
	return uh->dest == htons(UET_UDP_PORT);
}

static unsigned int uet_hook4(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	struct uet_net *un = uet_net_of(state->net);
	const struct iphdr *iph = ip_hdr(skb);
	struct net_device *dev;
	struct uet_fep *fep;
	struct uet_rx rx;

	if (iph->protocol != IPPROTO_UDP ||
	    !uet_net_is_ours(skb, ip_hdrlen(skb), &rx))
		return NF_ACCEPT;

	iph = ip_hdr(skb);
	dev = ipv4_is_multicast(iph->daddr) ? skb->dev :
	      __ip_dev_find(state->net, iph->daddr, false);
	fep = uet_net_target(un, dev, skb);
	if (!fep)
		return NF_ACCEPT;

	ipv6_addr_set_v4mapped(iph->saddr, &rx.hdr.src);
	ipv6_addr_set_v4mapped(iph->daddr, &rx.hdr.dst);
	rx.hdr.tclass = iph->tos;
	rx.hdr.hop_limit = iph->ttl;
	rx.ce = INET_ECN_is_ce(iph->tos);
	return uet_net_take(fep, skb, ip_hdrlen(skb), &rx);
}

#if IS_ENABLED(CONFIG_IPV6)
/* Which device owns the address that @skb was sent to? */
static struct net_device *uet_hook6_dev(struct sk_buff *skb)
{
	struct inet6_dev *idev;

	if (ipv6_addr_is_multicast(&ipv6_hdr(skb)->daddr))
		return skb->dev;
	idev = ip6_dst_idev(skb_dst(skb));
	return idev ? idev->dev : skb->dev;
}

static unsigned int uet_hook6(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	struct uet_net *un = uet_net_of(state->net);
	const struct ipv6hdr *ip6h = ipv6_hdr(skb);
	struct uet_fep *fep;
	struct uet_rx rx;

	if (ip6h->nexthdr != IPPROTO_UDP ||
	    !uet_net_is_ours(skb, sizeof(*ip6h), &rx))
		return NF_ACCEPT;

	fep = uet_net_target(un, uet_hook6_dev(skb), skb);
	if (!fep)
		return NF_ACCEPT;

	ip6h = ipv6_hdr(skb);
	rx.hdr.src = ip6h->saddr;
	rx.hdr.dst = ip6h->daddr;
	rx.hdr.tclass = ipv6_get_dsfield(ip6h);
	rx.hdr.hop_limit = ip6h->hop_limit;
	rx.ce = INET_ECN_is_ce(rx.hdr.tclass);
	return uet_net_take(fep, skb, sizeof(*ip6h), &rx);
}
#endif

static const struct nf_hook_ops uet_hooks[] = {
	{
		.hook		= uet_hook4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= UET_HOOK_PRIORITY,
	},
#if IS_ENABLED(CONFIG_IPV6)
	{
		.hook		= uet_hook6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= UET_HOOK_PRIORITY,
	},
#endif
};

/* ------------------------------------------------------------------ */
/* Transmit                                                            */

/**
 * uet_net_headroom - bytes in front of the PDS prologue
 * @fep: fabric endpoint
 *
 * Return: room for link, IP and UDP headers.
 */
unsigned int uet_net_headroom(const struct uet_fep *fep)
{
	return LL_RESERVED_SPACE(fep->dev) + sizeof(struct ipv6hdr) +
	       sizeof(struct udphdr);
}

/**
 * uet_skb_alloc - an empty packet
 * @fep: where it will leave
 * @linear: bytes that will be put
 *
 * Return: skb with headroom for all lower headers, or NULL.
 */
struct sk_buff *uet_skb_alloc(struct uet_fep *fep, unsigned int linear)
{
	unsigned int headroom = uet_net_headroom(fep);
	struct sk_buff *skb;

	skb = alloc_skb(headroom + linear, GFP_ATOMIC | __GFP_NOWARN);
	if (skb)
		skb_reserve(skb, headroom);
	return skb;
}

static __sum16 uet_net_pseudo_sum(const struct uet_path *path, u32 len)
{
	if (uet_path_is_v4(path))
		return ~csum_tcpudp_magic(path->attr.src.s6_addr32[3],
					  path->attr.dst.s6_addr32[3], len,
					  IPPROTO_UDP, 0);
	return ~csum_ipv6_magic(&path->attr.src, &path->attr.dst, len,
				IPPROTO_UDP, 0);
}

/*
 * A single packet has no checksum, 1.2. What cuts a burst into packets wants
 * to compute one for each; nobody has to look at it.
 */
static void uet_net_push_udp(const struct uet_path *path, struct sk_buff *skb,
			     __be16 sport, u32 seg)
{
	u32 packets = seg ? DIV_ROUND_UP(skb->len, seg) : 1;
	struct udphdr *uh = skb_push(skb, sizeof(*uh));

	skb_reset_transport_header(skb);
	uh->source = sport;
	uh->dest = htons(UET_UDP_PORT);
	uh->len = htons(skb->len);
	uh->check = 0;
	skb->ip_summed = CHECKSUM_NONE;
	if (!seg)
		return;
	uh->check = uet_net_pseudo_sum(path, skb->len);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	skb_shinfo(skb)->gso_size = seg;
	skb_shinfo(skb)->gso_segs = packets;
}

static void uet_net_push_ip4(struct uet_path *path, struct sk_buff *skb, u8 tos)
{
	struct iphdr *iph = skb_push(skb, sizeof(*iph));
	u8 ttl = path->attr.hop_limit;

	skb_reset_network_header(skb);
	memset(iph, 0, sizeof(*iph));
	iph->version = 4;
	iph->ihl = sizeof(*iph) / 4;
	iph->tos = tos;
	iph->frag_off = htons(IP_DF);
	iph->ttl = ttl ?: ip4_dst_hoplimit(skb_dst(skb));
	iph->protocol = IPPROTO_UDP;
	iph->saddr = path->attr.src.s6_addr32[3];
	iph->daddr = path->attr.dst.s6_addr32[3];
	skb->protocol = htons(ETH_P_IP);
	memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
}

#if IS_ENABLED(CONFIG_IPV6)
static void uet_net_push_ip6(struct uet_path *path, struct sk_buff *skb, u8 tos)
{
	struct ipv6hdr *ip6h = skb_push(skb, sizeof(*ip6h));
	u16 len = skb->len - sizeof(*ip6h);
	u8 hops = path->attr.hop_limit;

	skb_reset_network_header(skb);
	ip6_flow_hdr(ip6h, tos, 0);
	ip6h->payload_len = htons(len);
	ip6h->nexthdr = IPPROTO_UDP;
	ip6h->hop_limit = hops ?: ip6_dst_hoplimit(skb_dst(skb));
	ip6h->saddr = path->attr.src;
	ip6h->daddr = path->attr.dst;
	skb->protocol = htons(ETH_P_IPV6);
	memset(IP6CB(skb), 0, sizeof(*IP6CB(skb)));
}
#else
static void uet_net_push_ip6(struct uet_path *path, struct sk_buff *skb, u8 tos)
{
}
#endif

/**
 * uet_net_xmit_prepare - route a packet and give it UDP and IP headers
 * @path: where to
 * @skb: from the PDS prologue on; not consumed on error
 * @sport: entropy value, network order
 * @ctrl: ACK, NACK, CP: class of control packets, not ECN capable
 * @seg: @skb is a burst of packets of this length each, the last one may be
 *	shorter; 0: one packet
 *
 * Context: BHs off.
 * Return: 0 or a negative errno: no route, no socket of that family.
 */
int uet_net_xmit_prepare(struct uet_path *path, struct sk_buff *skb,
			 __be16 sport, bool ctrl, u32 seg)
{
	bool v4 = uet_path_is_v4(path);
	struct uet_net *un = path->fep->un;
	struct socket *sock = v4 ? un->sk4 : un->sk6;
	struct dst_entry *dst;
	u8 tos;

	if (!sock)
		return -EAFNOSUPPORT;
	dst = uet_path_route(path);
	if (IS_ERR(dst))
		return PTR_ERR(dst);

	skb_dst_set(skb, dst);
	skb->dev = dst->dev;
	if (ctrl)
		tos = READ_ONCE(path->fep->params.dscp_ctrl) << 2;
	else
		tos = path->attr.tclass | INET_ECN_ECT_0;
	uet_net_push_udp(path, skb, sport, seg);
	if (v4)
		uet_net_push_ip4(path, skb, tos);
	else
		uet_net_push_ip6(path, skb, tos);
	skb_set_owner_w(skb, sock->sk);
	uet_tx_cb(skb)->fep = path->fep;
	uet_tx_cb(skb)->psn = 0;
	uet_tx_cb(skb)->pdcid = 0;
	uet_tx_cb(skb)->ctrl = ctrl;
	return 0;
}
EXPORT_SYMBOL_GPL(uet_net_xmit_prepare);

static bool uet_sk_is_full(const struct sock *sk)
{
	return sk_wmem_alloc_get(sk) > READ_ONCE(sk->sk_sndbuf);
}

/**
 * uet_net_is_full - do the queues below hold all that they may?
 * @path: where a packet would go
 *
 * The bound is one for all that leaves through a socket: queueing disciplines
 * count packets, and some not even those.
 *
 * Context: any.
 * Return: true if nothing more should be built now.
 */
bool uet_net_is_full(const struct uet_path *path)
{
	const struct uet_net *un = path->fep->un;
	const struct socket *sock = uet_path_is_v4(path) ? un->sk4 : un->sk6;

	return sock && uet_sk_is_full(sock->sk);
}
EXPORT_SYMBOL_GPL(uet_net_is_full);

static int uet_net_local_out(struct sk_buff *skb)
{
	struct net *net = dev_net(skb_dst(skb)->dev);

#if IS_ENABLED(CONFIG_IPV6)
	if (skb->protocol == htons(ETH_P_IPV6))
		return ip6_local_out(net, skb->sk, skb);
#endif
	return ip_local_out(net, skb->sk, skb);
}

/*
 * It did not get through. A queue that is full is no news to wait for: the
 * packets are lost, and their PDC knows at once. NET_XMIT_CN says that some
 * packet went, not which. Whatever else went wrong (a filter, a device that is
 * down) is as if lost on the way, or the resend would come at once, for ever.
 */
static void uet_net_lost(const struct uet_tx_cb *cb, u32 packets, int err)
{
	bool full = err == NET_XMIT_DROP || err == -ENOBUFS || err == -ENOMEM;

	if (err != NET_XMIT_CN)
		uet_stat_add(cb->fep, full ? UET_STAT_DROP_TX_FULL :
					     UET_STAT_DROP_TX, packets);
	if (cb->pdcid && (full || err == NET_XMIT_CN))
		uet_pdc_backed_up(cb->fep, cb->pdcid, cb->psn,
				  full ? packets : 0);
}

/**
 * uet_net_xmit - hand a prepared packet to IP
 * @skb: from uet_net_xmit_prepare(); consumed
 *
 * Control packets leave even if the bound is reached: they are small, no more
 * of them are made than packets arrive, and they make room.
 *
 * Context: process or softirq, no engine lock held.
 */
void uet_net_xmit(struct sk_buff *skb)
{
	struct uet_tx_cb cb = *uet_tx_cb(skb);
	u32 packets = skb_shinfo(skb)->gso_segs ?: 1;
	int err;

	if (unlikely(!cb.ctrl && uet_sk_is_full(skb->sk))) {
		kfree_skb(skb);
		err = NET_XMIT_DROP;
	} else {
		err = uet_net_local_out(skb);
	}
	if (unlikely(err))
		uet_net_lost(&cb, packets, err);
}
EXPORT_SYMBOL_GPL(uet_net_xmit);

/* ------------------------------------------------------------------ */
/* Sockets                                                             */

/* Shall GRO merge what comes for the port? */
static int uet_net_set_gro(struct socket *sock, int on)
{
	return sock_common_setsockopt(sock, SOL_UDP, UDP_GRO,
				      KERNEL_SOCKPTR(&on), sizeof(on));
}

static int uet_net_open_socket(struct net *net, int family,
			       struct socket **sockp)
{
	struct udp_port_cfg cfg = {
		.family = family,
		.local_udp_port = htons(UET_UDP_PORT),
		.ipv6_v6only = family == AF_INET6,
	};
	int err;

	err = udp_sock_create(net, &cfg, sockp);
	if (err)
		return err;
	err = uet_net_set_gro(*sockp, 1);
	if (err) {
		sock_release(*sockp);
		*sockp = NULL;
		return err;
	}
	(*sockp)->sk->sk_sndbuf = UET_SNDBUF;
	(*sockp)->sk->sk_allocation = GFP_ATOMIC;
	/* What the hook lets pass is for nobody: keep none of it. */
	(*sockp)->sk->sk_rcvbuf = 0;
	return 0;
}

static void uet_net_close_socket(struct socket **sockp)
{
	if (!*sockp)
		return;
	kernel_sock_shutdown(*sockp, SHUT_RDWR);
	sock_release(*sockp);
	/* The filter may still be looking; sockets are freed by RCU. */
	WRITE_ONCE(*sockp, NULL);
}

static int uet_net_start(struct uet_net *un)
{
	int err;

	err = uet_net_open_socket(un->net, AF_INET, &un->sk4);
	if (err)
		return err;
	if (IS_ENABLED(CONFIG_IPV6) && ipv6_mod_enabled()) {
		err = uet_net_open_socket(un->net, AF_INET6, &un->sk6);
		if (err && err != -EAFNOSUPPORT)
			goto close4;
	}
	err = nf_register_net_hooks(un->net, uet_hooks, ARRAY_SIZE(uet_hooks));
	if (err)
		goto close6;
	err = uet_filter_start(un->net);
	if (err)
		goto unhook;
	return 0;

unhook:
	nf_unregister_net_hooks(un->net, uet_hooks, ARRAY_SIZE(uet_hooks));
close6:
	uet_net_close_socket(&un->sk6);
close4:
	uet_net_close_socket(&un->sk4);
	return err;
}

static void uet_net_stop(struct uet_net *un)
{
	uet_filter_stop(un->net);
	nf_unregister_net_hooks(un->net, uet_hooks, ARRAY_SIZE(uet_hooks));
	uet_net_close_socket(&un->sk6);
	uet_net_close_socket(&un->sk4);
}

/*
 * GRO throws away the UDP headers that a trailer covers. It is one setting for
 * all devices of the namespace, as they share the socket.
 */
static void uet_net_tune_gro(struct uet_net *un)
{
	struct uet_fep *fep;
	int on = 1;

	list_for_each_entry(fep, &un->feps, node)
		if (READ_ONCE(fep->params.crc))
			on = 0;
	uet_net_set_gro(un->sk4, on);
	if (un->sk6)
		uet_net_set_gro(un->sk6, on);
}

/**
 * uet_net_crc_changed - a device's setting of the CRC trailer may have changed
 * @fep: attached
 *
 * Context: process.
 */
void uet_net_crc_changed(struct uet_fep *fep)
{
	mutex_lock(&uet_net_mutex);
	uet_net_tune_gro(fep->un);
	mutex_unlock(&uet_net_mutex);
}

/**
 * uet_net_attach - let packets for a fabric endpoint in
 * @fep: with its dev set
 *
 * Return: 0; -EEXIST: the netdev has a fabric endpoint; -EADDRINUSE: the UDP
 * port is taken in this namespace; -ENOMEM.
 */
int uet_net_attach(struct uet_fep *fep)
{
	struct uet_net *un = net_generic(dev_net(fep->dev), uet_net_id);
	int err = 0;

	mutex_lock(&uet_net_mutex);
	if (uet_net_find(un, fep->dev))
		err = -EEXIST;
	else if (!un->users)
		err = uet_net_start(un);
	if (!err) {
		un->users++;
		fep->un = un;
		list_add_tail_rcu(&fep->node, &un->feps);
	}
	mutex_unlock(&uet_net_mutex);
	return err;
}

/**
 * uet_net_detach - no packet comes in from when this returns
 * @fep: attached
 *
 * Context: process.
 */
void uet_net_detach(struct uet_fep *fep)
{
	mutex_lock(&uet_net_mutex);
	list_del_rcu(&fep->node);
	uet_net_tune_gro(fep->un);
	mutex_unlock(&uet_net_mutex);
	synchronize_net();
}

/**
 * uet_net_put - let go of the sockets; nothing is sent any more
 * @fep: detached
 */
void uet_net_put(struct uet_fep *fep)
{
	struct uet_net *un = fep->un;

	mutex_lock(&uet_net_mutex);
	if (un->users == 1)
		uet_net_stop(un);
	WRITE_ONCE(un->users, un->users - 1);
	/* Pairs with uet_net_ns_exit(), after which @un is gone. */
	smp_mb();
	wake_up_var(&un->users);
	mutex_unlock(&uet_net_mutex);
}

static int __net_init uet_net_ns_init(struct net *net)
{
	struct uet_net *un = net_generic(net, uet_net_id);

	un->net = net;
	INIT_LIST_HEAD(&un->feps);
	return 0;
}

/*
 * The devices of netdevs that outlive the namespace (hardware; it moves to the
 * initial one) are deleted by a work item that nobody else waits for.
 */
static void __net_exit uet_net_ns_exit(struct net *net)
{
	struct uet_net *un = net_generic(net, uet_net_id);

	wait_var_event(&un->users, !READ_ONCE(un->users));
}

static struct pernet_operations uet_net_ops = {
	.init	= uet_net_ns_init,
	.exit	= uet_net_ns_exit,
	.id	= &uet_net_id,
	.size	= sizeof(struct uet_net),
};

int __init uet_net_init(void)
{
	return register_pernet_subsys(&uet_net_ops);
}

void uet_net_exit(void)
{
	unregister_pernet_subsys(&uet_net_ops);
}
