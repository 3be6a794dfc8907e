/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* A path: addresses and header fields of packets to one peer, and its route. */
#ifndef UET_PATH_H
#define UET_PATH_H

#include <linux/kref.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <net/ipv6.h>

#include "uet_dp.h"

struct dst_entry;

/**
 * struct uet_path - where packets go
 * @ref: reference count; freed after a grace period
 * @fep: endpoint they leave from
 * @attr: what the creator said
 * @lock: protects @dst and @cookie; leaf
 * @dst: cached route, or NULL
 * @cookie: for dst_check()
 * @outq: packets of ordered PDCs, in the order of their PSNs
 * @sending: a CPU is sending from @outq; under its lock
 * @rcu: for freeing
 */
struct uet_path {
	struct kref ref;
	struct uet_fep *fep;
	struct uet_path_attr attr;
	spinlock_t lock;	/* the cached route */
	struct dst_entry *dst;
	u32 cookie;
	struct sk_buff_head outq;
	bool sending;
	struct rcu_head rcu;
};

static inline bool uet_path_is_v4(const struct uet_path *path)
{
	return ipv6_addr_v4mapped(&path->attr.dst);
}

/* DSCP of data packets on this path, 0..63. */
static inline u8 uet_path_dscp(const struct uet_path *path)
{
	return path->attr.tclass >> 2;
}

struct dst_entry *uet_path_route(struct uet_path *path);
u32 uet_path_payload_mtu(struct uet_path *path);
void uet_defer_ordered(struct uet_defer *d, struct uet_path *path,
		       struct sk_buff *skb);
void uet_path_drain(struct uet_path *path);

#endif /* UET_PATH_H */
