// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Multicast datagrams: which endpoints want what is sent to a group. The
 * host joins a group on the netdev of the fabric endpoint with the first
 * member and leaves it with the last. What this host sends comes back to its
 * members through IP, as for any program.
 */
#include <linux/export.h>
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>

#include "../compat.h"
#include "ep.h"
#include "fep.h"
#include "mcast.h"
#include "ses.h"

/*
 * One endpoint in one group. It may have joined several times: ib_core takes a
 * group with another LID, which means nothing here, for another group.
 */
struct uet_member {
	struct hlist_node node;
	struct in6_addr group;
	struct uet_ep *ep;
	unsigned int times;	/* under rtnl */
	struct rcu_head rcu;
};

static struct hlist_head *uet_mcast_bucket(struct uet_fep *fep,
					   const struct in6_addr *group)
{
	return &fep->mcast[jhash(group, sizeof(*group), 0) %
			   UET_MCAST_BUCKETS];
}

static int uet_group_join(struct net_device *dev, const struct in6_addr *group)
{
	struct in_device *in_dev;

	if (!ipv6_addr_v4mapped(group))
		return IS_ENABLED(CONFIG_IPV6) && ipv6_mod_enabled() ?
		       ipv6_dev_mc_inc(dev, group) : -EAFNOSUPPORT;
	in_dev = __in_dev_get_rtnl(dev);
	if (!in_dev)
		return -ENODEV;
	ip_mc_inc_group(in_dev, group->s6_addr32[3]);
	return 0;
}

static void uet_group_leave(struct net_device *dev,
			    const struct in6_addr *group)
{
	struct in_device *in_dev;

	if (!ipv6_addr_v4mapped(group)) {
		if (IS_ENABLED(CONFIG_IPV6))
			ipv6_dev_mc_dec(dev, group);
		return;
	}
	in_dev = __in_dev_get_rtnl(dev);
	if (in_dev)
		ip_mc_dec_group(in_dev, group->s6_addr32[3]);
}

/* Under rtnl. @ep NULL: any. */
static struct uet_member *uet_member_find(struct uet_fep *fep,
					  const struct in6_addr *group,
					  const struct uet_ep *ep)
{
	struct uet_member *m;

	hlist_for_each_entry(m, uet_mcast_bucket(fep, group), node)
		if (ipv6_addr_equal(&m->group, group) && (!ep || m->ep == ep))
			return m;
	return NULL;
}

/**
 * uet_ep_join - let datagrams to a group in
 * @ep: UET_EP_UUD
 * @group: multicast address, v4 mapped for IPv4
 *
 * Context: process; takes rtnl.
 * Return: 0, to be undone by a uet_ep_leave() each time; -EINVAL: not a group,
 * or another kind of endpoint; -ENOSPC: UET_MCAST_MAX; -ENOMEM; what IP says.
 */
int uet_ep_join(struct uet_ep *ep, const struct in6_addr *group)
{
	struct uet_fep *fep = ep->fep;
	struct uet_member *m, *old;
	int err = 0;

	if (ep->mode != UET_EP_UUD || !uet_addr_is_mcast(group))
		return -EINVAL;
	m = kzalloc_obj(*m, GFP_KERNEL_ACCOUNT);
	if (!m)
		return -ENOMEM;
	m->group = *group;
	m->ep = ep;
	m->times = 1;
	rtnl_lock();
	old = uet_member_find(fep, group, ep);
	if (old) {
		old->times++;
		goto out;
	}
	err = -ENOSPC;
	if (fep->nr_mcast >= UET_MCAST_MAX)
		goto out;
	err = 0;
	if (!uet_member_find(fep, group, NULL))
		err = uet_group_join(fep->dev, group);
	if (err)
		goto out;
	fep->nr_mcast++;
	hlist_add_head_rcu(&m->node, uet_mcast_bucket(fep, group));
	m = NULL;
out:
	rtnl_unlock();
	kfree(m);
	return err;
}
EXPORT_SYMBOL_GPL(uet_ep_join);

/* Under rtnl. */
static void uet_member_drop(struct uet_fep *fep, struct uet_member *m)
{
	hlist_del_rcu(&m->node);
	fep->nr_mcast--;
	if (!uet_member_find(fep, &m->group, NULL))
		uet_group_leave(fep->dev, &m->group);
	kfree_rcu(m, rcu);
}

/**
 * uet_ep_leave - no more datagrams to a group
 * @ep: endpoint
 * @group: address
 *
 * Context: process; takes rtnl.
 * Return: 0, or -EINVAL if it is not a member.
 */
int uet_ep_leave(struct uet_ep *ep, const struct in6_addr *group)
{
	struct uet_member *m;

	rtnl_lock();
	m = uet_member_find(ep->fep, group, ep);
	if (m && !--m->times)
		uet_member_drop(ep->fep, m);
	rtnl_unlock();
	return m ? 0 : -EINVAL;
}
EXPORT_SYMBOL_GPL(uet_ep_leave);

/**
 * uet_mcast_deliver - a datagram to a group came
 * @fep: fabric endpoint
 * @skb: packet
 * @pkt: parsed
 * @rx: addresses
 * @d: collector
 *
 * Context: softirq, RCU read side.
 */
void uet_mcast_deliver(struct uet_fep *fep, struct sk_buff *skb,
		       const struct uet_pkt *pkt, const struct uet_rx *rx,
		       struct uet_defer *d)
{
	struct uet_member *m;
	bool found = false;

	hlist_for_each_entry_rcu(m, uet_mcast_bucket(fep, &rx->hdr.dst), node) {
		if (!ipv6_addr_equal(&m->group, &rx->hdr.dst))
			continue;
		found = true;
		spin_lock(&m->ep->lock);
		uet_datagram_place(m->ep, skb, pkt, rx, d);
		spin_unlock(&m->ep->lock);
	}
	if (!found)
		uet_stat_inc(fep, UET_STAT_DROP_NO_EP);
}
