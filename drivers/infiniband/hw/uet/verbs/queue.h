/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Queues of work requests: rings, send and receive queues, and their locks.
 */
#ifndef UET_QUEUE_H
#define UET_QUEUE_H

#include <linux/hrtimer.h>
#include <linux/log2.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/uet-abi.h>

#include "../dp/uet_dp.h"

struct uet_mr;

/* WQEs that one pass of the send queue takes before others get a turn. */
#define UET_SQ_BUDGET		64
/* So many requests started at once are a batch, see doorbell.c. */
#define UET_SQ_BATCH		4

/**
 * struct uet_ringbuf - a ring and its mapping
 * @entry: how user space finds it
 * @hdr: head of the ring, vmalloc memory
 * @size: bytes, whole pages
 * @depth: entries, power of two
 * @stride: bytes per entry
 * @user: shared with user space: its indices are not to be believed
 */
struct uet_ringbuf {
	struct rdma_user_mmap_entry entry;
	struct uet_ring *hdr;
	size_t size;
	u32 depth;
	u32 stride;
	bool user;
};

/* In the place of an enum ib_wc_status: not yet. */
#define UET_WC_WAIT	0xff

enum uet_slot_state {
	UET_SLOT_FREE,
	UET_SLOT_HELD,		/* checked, waits for earlier READs */
	UET_SLOT_ACTIVE,	/* with the engine */
	UET_SLOT_DONE,		/* waits for its turn to complete */
};

/**
 * struct uet_sq_slot - a send work request from doorbell to completion
 * @msg: what the engine works on
 * @path: kernel QPs: where to, taken when the request was posted
 * @mr: kernel QPs: region of REG_MR
 * @wr_id: of the request
 * @vendor: code that explains a bad @status
 * @status: enum ib_wc_status
 * @state: enum uet_slot_state
 * @opcode: enum uet_wqe_op
 * @flags: enum uet_wqe_flags
 * @bad: the entry itself was wrong
 * @turn: of the slot at place i: number of the slot that entry i (modulo the
 *	depth) gets. Slots go round: the one that completed as the i-th is used
 *	again by entry i + depth
 */
struct uet_sq_slot {
	struct uet_msg msg;
	struct uet_path *path;
	struct uet_mr *mr;
	u64 wr_id;
	u32 vendor;
	u8 status;
	u8 state;
	u8 opcode;
	u8 flags;
	bool bad;
	u16 turn;
};

/**
 * struct uet_sq - send queue
 * @lock: protects all below except @wqe, @batched and slots in other hands
 * @ring: WQEs; NULL for depth 0
 * @slots: as many as ring entries; see uet_sq_slot()
 * @sges: memory of the slots' scatter lists
 * @data: RU: memory of the slots' inline data, since their entries are given
 *	back before they complete; else NULL: inline data stays in the ring
 * @wqe: the entry being checked, a private copy; owned by the runner
 * @max_sge: per request
 * @max_inline: bytes per request
 * @sig_all: every request completes with a CQE
 * @prod: kernel QPs: next entry to post
 * @next: next entry to start
 * @cons: requests that have completed. In order, the oldest that has not
 * @reads: READs and atomics with the engine
 * @active: messages with the engine
 * @running: somebody works on the queue
 * @again: somebody else wanted to meanwhile
 * @blocked: the runner stopped at an entry that must wait for a completion
 * @halted: a bad WQE was met; nothing is started until it has completed
 * @error: an error completed; what follows is flushed
 * @broken: user space scribbled over the indices; the ring is not read again
 * @looking: the ring says UET_RING_LOOKING and @look is set
 * @batched: several requests were started together since the last look; a hint
 *	that the runner gives without the lock
 * @look_vain: looks since then
 * @look_skip: doorbells until a look may be promised again
 * @look_backoff: what @look_skip was set to last
 * @look: user QPs: see doorbell.c
 */
struct uet_sq {
	spinlock_t lock;	/* indices, states of slots */
	struct uet_ringbuf *ring;
	struct uet_sq_slot *slots;
	struct uet_sge *sges;
	void *data;
	void *wqe;
	u32 max_sge;
	u32 max_inline;
	bool sig_all;

	u32 prod;
	u32 next;
	u32 cons;
	u32 reads;
	u32 active;
	bool running;
	bool again;
	bool blocked;
	bool halted;
	bool error;
	bool broken;

	bool looking;
	bool batched;
	u32 look_vain;
	u32 look_skip;
	u32 look_backoff;
	struct hrtimer look;
};

/**
 * struct uet_recv_wr - a receive work request in use
 * @rx: what the engine works on
 * @wr_id: of the request
 * @vlan: VLAN of the address that a datagram came to, 0xffff: none
 * @spare: this is uet_rq.spare
 * @sge: scatter list
 */
struct uet_recv_wr {
	struct uet_recv rx;
	u64 wr_id;
	u16 vlan;
	bool spare;
	struct uet_sge sge[];
};

/**
 * struct uet_rq - ring of receive requests, of a QP or an SRQ
 * @lock: protects all below
 * @user: the ring is shared with user space
 * @pd: whose memory keys count
 * @ring: WQEs; NULL for depth 0
 * @wqe: the entry being read, a private copy
 * @spare: request for the usual case of one at a time
 * @max_sge: per request
 * @prod: kernel queues: next entry to post
 * @cons: next entry to use
 * @spare_used: @spare is with the engine
 * @flushing: what is posted completes with a flush error at once
 * @broken: as in struct uet_sq
 */
struct uet_rq {
	spinlock_t lock;	/* ring and state */
	bool user;
	const struct ib_pd *pd;
	struct uet_ringbuf *ring;
	void *wqe;
	struct uet_recv_wr *spare;
	u32 max_sge;

	u32 prod;
	u32 cons;
	bool spare_used;
	bool flushing;
	bool broken;
};

/*
 * Locks of queues. A queue of user space is touched in process context and in
 * softirq, one of the kernel in any context. Where interrupts need not go off
 * they stay on: that is what a small message costs most in a virtual machine
 * that must ask its host.
 */
static inline unsigned long uet_queue_lock(spinlock_t *lock, bool user)
	__acquires(lock)
{
	unsigned long irq = 0;

	if (user)
		spin_lock_bh(lock);
	else
		spin_lock_irqsave(lock, irq);
	return irq;
}

static inline void uet_queue_unlock(spinlock_t *lock, bool user,
				    unsigned long irq)
	__releases(lock)
{
	if (user)
		spin_unlock_bh(lock);
	else
		spin_unlock_irqrestore(lock, irq);
}

/*
 * The same for what queues of both kinds use: it is taken inside of locks that
 * an interrupt may want, since the kernel may post from one.
 */
static inline bool uet_any_lock(spinlock_t *lock)
	__acquires(lock)
{
	bool irqs_off = irqs_disabled();

	if (irqs_off)
		spin_lock(lock);
	else
		spin_lock_irq(lock);
	return irqs_off;
}

static inline void uet_any_unlock(spinlock_t *lock, bool irqs_off)
	__releases(lock)
{
	if (irqs_off)
		spin_unlock(lock);
	else
		spin_unlock_irq(lock);
}

/* The two kinds of queues do not share a lock class. */
#define uet_queue_lock_init(lock, user) do {	\
	spinlock_t *_lock = (lock);		\
						\
	if (user)				\
		spin_lock_init(_lock);		\
	else					\
		spin_lock_init(_lock);		\
} while (0)

/* Ring entries for a queue of @asked requests. */
static inline u32 uet_depth(u32 asked)
{
	return asked ? roundup_pow_of_two(asked) : 0;
}

static inline void *uet_ring_at(const struct uet_ringbuf *rb, u32 i)
{
	return (void *)rb->hdr + UET_RING_HDR +
	       (size_t)(i & (rb->depth - 1)) * rb->stride;
}

/* Entries between two free-running indices; more than the depth is a lie. */
static inline u32 uet_ring_used(u32 prod, u32 cons)
{
	return prod - cons;
}

/*
 * Slot of entry @i, from when entry i - depth has completed until as many
 * requests as @i have.
 */
static inline struct uet_sq_slot *uet_sq_slot(const struct uet_sq *sq, u32 i)
{
	return &sq->slots[sq->slots[i & (sq->ring->depth - 1)].turn];
}

/* ring.c */
struct uet_ringbuf *uet_ring_create(struct ib_udata *udata, u32 depth,
				    u32 stride);
void uet_ring_info(const struct uet_ringbuf *rb, struct uet_ring_info *info);
void uet_ring_free(struct uet_ringbuf *rb);
void uet_ring_reset(struct uet_ringbuf *rb);
int uet_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma);
void uet_mmap_free(struct rdma_user_mmap_entry *entry);

/* rq.c */
int uet_rq_create(struct uet_rq *rq, const struct ib_pd *pd, u32 depth,
		  u32 max_sge, struct ib_udata *udata);
void uet_rq_free(struct uet_rq *rq);
void uet_rq_done(struct uet_rq *rq, struct uet_recv_wr *wr);
u32 uet_rq_posted(struct uet_rq *rq);
void uet_rq_take(struct uet_rq *rq);
struct uet_recv_wr *uet_rq_next(struct uet_rq *rq, bool data, u8 *status);
void uet_rq_reset(struct uet_rq *rq);
int uet_rq_put(struct uet_rq *rq, const struct ib_recv_wr *wr);

#endif /* UET_QUEUE_H */
