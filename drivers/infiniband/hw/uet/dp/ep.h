/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The endpoint: what a queue pair is to the engine. */
#ifndef UET_EP_H
#define UET_EP_H

#include <linux/rcupdate.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>

#include "uet_dp.h"

/**
 * enum uet_ep_state - what the endpoint lets in and out
 * @UET_EP_CLOSED: not ready; the peer is told to try later
 * @UET_EP_OPEN: requests are let in
 * @UET_EP_ERROR: flushed or at fault; requests are refused for good
 */
enum uet_ep_state {
	UET_EP_CLOSED,
	UET_EP_OPEN,
	UET_EP_ERROR,
};

/**
 * struct uet_ep - endpoint
 * @fep: where it lives
 * @priv: provider's own
 * @mode: how messages travel
 * @key: uet_ep_key() of @job_id and its wire pair
 * @node: entry of uet_fep.eps
 * @job_id: relative addressing: its job; else 0
 * @initiator: SES initiator value of what it sends
 * @unreliable: UC: see struct uet_ep_attr
 * @lock: protects everything from here to @pdc. Taken inside a PDC lock;
 *	provider callbacks of the target's side run under it
 * @state: enum uet_ep_state
 * @dead: being destroyed
 * @flushing: messages are given up at submission; READ_ONCE outside the lock
 * @conn: UET_EP_ROD: the peer; path is held
 * @life: UET_EP_ROD: number of this connection in @fep; see struct uet_pdc
 * @gen: generation of our receive side: every request must carry it
 * @disabled: out of receive buffers; requests are refused until one is posted,
 *	which makes a new generation (uet-wire 4.10 c)
 * @inbound: struct uet_inbound in progress
 * @reads: struct uet_rdrsp that the peers do not have yet
 * @pdc: UET_EP_ROD: the PDC for what we send; RCU, replaced under @lock
 * @peer_gen: UET_EP_ROD: generation that what we send carries; under the lock
 *	of @pdc
 * @held: UET_EP_RUD: PDCID of the PDC that got messages of ours which
 *	uet_ep_push() has yet to let go, 0: none. Belongs to who submits
 * @rcu: for freeing
 */
struct uet_ep {
	struct uet_fep *fep;
	void *priv;
	enum uet_ep_mode mode;
	u64 key;
	struct rhash_head node;
	u32 job_id;
	u32 initiator;
	bool unreliable;

	spinlock_t lock;	/* see above */
	enum uet_ep_state state;
	bool dead;
	bool flushing;
	struct uet_ep_conn conn;
	u64 life;
	u8 gen;
	bool disabled;
	struct list_head inbound;
	struct list_head reads;

	struct uet_pdc __rcu *pdc;
	u8 peer_gen;
	u16 held;
	struct rcu_head rcu;
};

/* RCU read side. */
struct uet_ep *uet_ep_find(struct uet_fep *fep, u32 job_id, u32 wire);
void uet_ep_drop_pdc(struct uet_ep *ep, struct uet_pdc *pdc);

static inline u32 uet_wire_pair(u16 pid_on_fep, u16 ri)
{
	return (u32)ri << 12 | pid_on_fep;
}

static inline u16 uet_wire_pid(u32 wire)
{
	return wire & 0xfff;
}

static inline u16 uet_wire_ri(u32 wire)
{
	return wire >> 12 & 0xfff;
}

#endif /* UET_EP_H */
