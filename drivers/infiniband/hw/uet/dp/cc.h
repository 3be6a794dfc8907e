/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Congestion control: how much may be in flight, uet-wire 7. */
#ifndef UET_CC_H
#define UET_CC_H

#include <linux/types.h>

struct uet_cc;

/**
 * struct uet_cc_ops - a congestion control algorithm
 * @name: shown to users
 * @init: start state for packets of up to @mtu bytes of payload
 * @may_send: may @packets leave now that have @bytes together?
 * @sent: a packet of @bytes left
 * @acked: @bytes arrived; @rtt_ns is a round trip sample or 0, @ecn: the
 *	packet was marked
 * @lost: @bytes are known to be lost and no longer in flight
 *
 * Context: softirq or BHs off, under the lock of the PDC.
 */
struct uet_cc_ops {
	const char *name;
	void (*init)(struct uet_cc *cc, u32 mtu);
	bool (*may_send)(const struct uet_cc *cc, u32 bytes, u32 packets);
	void (*sent)(struct uet_cc *cc, u32 bytes);
	void (*acked)(struct uet_cc *cc, u32 bytes, u64 rtt_ns, bool ecn);
	void (*lost)(struct uet_cc *cc, u32 bytes);
};

/**
 * struct uet_cc - congestion state of what is sent on one PDC
 * @ops: algorithm
 * @inflight: bytes sent and neither acknowledged nor lost
 * @packets: the same in packets
 * @window: bytes that may be in flight
 * @max_packets: packets that may be in flight
 */
struct uet_cc {
	const struct uet_cc_ops *ops;
	u32 inflight;
	u32 packets;
	u32 window;
	u32 max_packets;
};

extern const struct uet_cc_ops uet_cc_fixed;

#endif /* UET_CC_H */
