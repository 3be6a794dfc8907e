/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Multicast: datagrams to several endpoints. */
#ifndef UET_MCAST_H
#define UET_MCAST_H

#include <net/ipv6.h>

#include "net.h"
#include "pkt.h"

static inline bool uet_addr_is_mcast(const struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(addr))
		return ipv4_is_multicast(addr->s6_addr32[3]);
	return ipv6_addr_is_multicast(addr);
}

void uet_mcast_deliver(struct uet_fep *fep, struct sk_buff *skb,
		       const struct uet_pkt *pkt, const struct uet_rx *rx,
		       struct uet_defer *d);

#endif /* UET_MCAST_H */
