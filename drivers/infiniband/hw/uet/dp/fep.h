/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The fabric endpoint: one Ethernet device that speaks UET. */
#ifndef UET_FEP_H
#define UET_FEP_H

#include <asm/local64.h>
#include <linux/netdevice.h>
#include <linux/rhashtable-types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "eptab.h"
#include "uet_dp.h"

struct uet_net;

/* Lists of @mcast in struct uet_fep, by hash of the group. */
#define UET_MCAST_BUCKETS	64

/**
 * struct uet_fep - fabric endpoint
 * @node: entry of uet_net.feps; RCU readers, written under uet_net_mutex
 * @dev: netdev, held with @tracker from create to destroy
 * @tracker: reference tracker of @dev
 * @un: the namespace's sockets and hooks
 * @ops: callbacks of the provider
 * @priv: provider's own
 * @lock: serialises writers of @params
 * @params: settings; readers use READ_ONCE on single fields
 * @stats: per-CPU counters, indexed by enum uet_stat
 * @eps: {job, wire pair} -> struct uet_ep
 * @pdcs: local PDCID -> struct uet_pdc, both roles; RCU readers
 * @pdc_next: where the next PDCID is looked for, so that a PDCID comes back
 *	as late as possible (uet-wire 3.1)
 * @targets: {peer address, own address, peer PDCID} -> target PDC
 * @initiators: {own address, peer address, traffic class} -> RUD PDCs that we
 *	opened; several per key
 * @mcast: members of multicast groups; RCU readers, written under rtnl
 * @nr_mcast: entries of @mcast
 * @npdc: PDCs in @pdcs
 * @moved_back: how often a PDC in @pdcs got a smaller number
 * @lives: connections of UET_EP_ROD endpoints that there were
 * @reorder: bytes held in reorder buffers, bounded by UET_REORDER_FEP_MAX
 * @closing: no PDC is opened or accepted any more
 */
struct uet_fep {
	struct list_head node;
	struct net_device *dev;
	netdevice_tracker tracker;
	struct uet_net *un;
	const struct uet_fep_ops *ops;
	void *priv;

	spinlock_t lock;	/* writers of params */
	struct uet_fep_params params;
	local64_t __percpu *stats;

	struct uet_eptab eps;
	struct xarray pdcs;
	u32 pdc_next;
	struct rhashtable targets;
	struct rhltable initiators;
	struct hlist_head mcast[UET_MCAST_BUCKETS];
	u32 nr_mcast;
	atomic_t npdc;
	atomic_t moved_back;
	atomic64_t lives;
	atomic_t reorder;
	bool closing;
};

/* Bytes (skb truesize) that may wait for a gap to fill, 2.14. */
#define UET_REORDER_FEP_MAX	(64 << 20)
#define UET_REORDER_PDC_MAX	(2 << 20)

/* Frees PDCs from process context; see uet_pdc_kill(). */
extern struct workqueue_struct *uet_wq;

#endif /* UET_FEP_H */
