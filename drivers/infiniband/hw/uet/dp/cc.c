// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A fixed window: three bursts, so that one is on the way while another is
 * being answered. Few enough packets that many PDCs together stay below the
 * receive backlog of a veth (net.core.netdev_max_backlog, 1000 packets).
 */
#include <linux/minmax.h>

#include "cc.h"

#define UET_FIXED_WINDOW	(192 << 10)
#define UET_FIXED_PACKETS	64

static void uet_fixed_init(struct uet_cc *cc, u32 mtu)
{
	cc->inflight = 0;
	cc->packets = 0;
	cc->window = max_t(u32, UET_FIXED_WINDOW, 4 * mtu);
	cc->max_packets = UET_FIXED_PACKETS;
}

static bool uet_fixed_may_send(const struct uet_cc *cc, u32 bytes, u32 packets)
{
	return cc->inflight + bytes <= cc->window &&
	       cc->packets + packets <= cc->max_packets;
}

static void uet_fixed_sent(struct uet_cc *cc, u32 bytes)
{
	cc->inflight += bytes;
	cc->packets++;
}

static void uet_fixed_gone(struct uet_cc *cc, u32 bytes)
{
	cc->inflight -= min(bytes, cc->inflight);
	cc->packets -= !!cc->packets;
}

static void uet_fixed_acked(struct uet_cc *cc, u32 bytes, u64 rtt_ns, bool ecn)
{
	uet_fixed_gone(cc, bytes);
}

const struct uet_cc_ops uet_cc_fixed = {
	.name		= "fixed",
	.init		= uet_fixed_init,
	.may_send	= uet_fixed_may_send,
	.sent		= uet_fixed_sent,
	.acked		= uet_fixed_acked,
	.lost		= uet_fixed_gone,
};
