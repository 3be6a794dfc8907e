/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Consecutive packets to one peer that leave as one skb. */
#ifndef UET_BURST_H
#define UET_BURST_H

#include <linux/skbuff.h>

#include "pkt.h"
#include "uet_dp.h"

/**
 * struct uet_burst - packets being collected; lives on a stack
 * @path: where all of them go
 * @d: what finished bursts are queued on
 * @sport: entropy value of all of them
 * @ctrl: they belong to the class of control packets
 * @ordered: must not be overtaken by later packets of the path
 * @more: after the next packet there will probably be another one
 * @skb: packets so far, or NULL
 * @seg: bytes of each of them; the last one may be shorter
 * @segs: how many
 * @max_segs: no more than this; 0: not known yet
 * @max_len: bytes, no more than this
 * @refs: payload as page references, not copied
 * @trailer: bytes of the CRC trailer, or 0
 * @pdcid: of the PDC that the packets belong to
 * @psn: of the first one; those of an ordered burst are in a row
 * @linear: copied packets are put into the linear part, else into @chunk
 * @chunk: where the next copied packet goes, or NULL: a new piece is due
 * @room: bytes left in @chunk
 * @stamp: when what is in it was built, in uet_stamp() units, or 0
 * @full: bytes of the last burst that had no room for the next packet, or 0
 */
struct uet_burst {
	struct uet_path *path;
	struct uet_defer *d;
	__be16 sport;
	bool ctrl;
	bool ordered;
	bool more;
	struct sk_buff *skb;
	u32 seg;
	u32 segs;
	u32 max_segs;
	u32 max_len;
	bool refs;
	u8 trailer;
	u16 pdcid;
	u32 psn;
	bool linear;
	void *chunk;
	u32 room;
	u32 stamp;
	u32 full;
};

/**
 * struct uet_payload - what stands behind the headers of a packet
 * @sge: memory
 * @nr_sge: entries of @sge; 0: @data instead
 * @off: first byte in @sge
 * @data: plain bytes
 * @len: bytes
 */
struct uet_payload {
	const struct uet_sge *sge;
	u16 nr_sge;
	u32 off;
	const void *data;
	u32 len;
};

void uet_burst_init(struct uet_burst *b, struct uet_path *path, __be16 sport,
		    bool ctrl, struct uet_defer *d);
int uet_burst_add(struct uet_burst *b, const struct uet_pkt *pkt,
		  const struct uet_payload *pl);
void uet_burst_flush(struct uet_burst *b);
void uet_burst_limits(const struct net_device *egress,
		      const struct net_device *dev, bool v4, u32 *segs,
		      u32 *len);

#endif /* UET_BURST_H */
