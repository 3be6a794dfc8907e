/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Private structs of the verbs provider (uet.ko). It keeps queues, keys and
 * rights; packets are the engine's business, see dp/uet_dp.h.
 *
 * Locks, outer first:
 *	uet_qp.mutex	modify, destroy and the error work; process context
 *	engine locks	taken by uet_ep_*() and uet_msg_submit(); callbacks run
 *			under them
 *	uet_sq.lock, uet_rq.lock	see uet_queue_lock(), never one inside the other
 *	uet_cq.lock	the same, leaf
 *
 * Engine calls want interrupts on and none of the three spinlocks held. The
 * consumer's completion handler is called with no lock held and never from
 * inside a verb of that consumer (Documentation/infiniband/core_locking.rst).
 */
#ifndef UET_VERBS_H
#define UET_VERBS_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/iosys-map.h>
#include <linux/log2.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>
#include <rdma/uet-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "../compat.h"
#include "../dp/uet_dp.h"

#define UET_PORT		1
#define UET_MAX_SGE		32
#define UET_MAX_WR		16384
#define UET_MAX_QP		BIT(16)
#define UET_MAX_CQ		BIT(16)
#define UET_MAX_SRQ		BIT(16)
#define UET_MAX_PD		BIT(16)
#define UET_MAX_MR		BIT(20)
#define UET_MAX_MW		BIT(20)
#define UET_MAX_AH		BIT(20)
#define UET_MAX_JOB		BIT(16)
#define UET_MAX_SKEY		BIT(16)
#define UET_MAX_JKEY		BIT(20)
#define UET_MAX_JOB_ADDR	BIT(20)
#define UET_MAX_CQE		BIT(20)
#define UET_MAX_INLINE		512
#define UET_MAX_RD_ATOMIC	128
#define UET_MAX_FR_PAGES	1024
#define UET_MAX_MR_SIZE		BIT_ULL(38)
#define UET_MAX_MSG		0x80000000U
#define UET_GRH_BYTES		40
#define UET_GSI_QPN		1

/* QP numbers: RI 0 (numbers below 0x1000) is the provider's own channel. */
#define UET_QPN_MIN		0x1000
#define UET_QPN_MAX		0xffffff

/* Memory keys: a 24-bit index and 8 bits that change at each use of it. */
#define UET_KEY_INDEX_MAX	0xffffff
/* Index 0 is no region; this key of it means kernel addresses. */
#define UET_LOCAL_DMA_LKEY	0x000000ff

/* The kernel has no name for this value of enum ib_wc_opcode. */
#define UET_WC_BIND_MW		IB_UVERBS_WC_BIND_MW

/* WQEs that one pass of the send queue takes before others get a turn. */
#define UET_SQ_BUDGET		64
/* So many requests started at once are a batch, see doorbell.c. */
#define UET_SQ_BATCH		4

struct uet_jkey;
struct uet_qp;

/* Where ib_core makes room for a driver's part: there is none. */
struct uet_rdma_counter {
	struct rdma_counter ib;
};

/**
 * struct uet_qp_stats - what a QP did
 * @tx_msgs: sends, writes, reads and atomics that succeeded
 * @tx_bytes: of sends and writes
 * @rx_msgs: receives that succeeded
 * @rx_bytes: of receives
 */
struct uet_qp_stats {
	u64 tx_msgs;
	u64 tx_bytes;
	u64 rx_msgs;
	u64 rx_bytes;
};

/* Objects whose number is limited; SRQs are by their own numbers. */
enum uet_obj {
	UET_OBJ_QP,
	UET_OBJ_CQ,
	UET_OBJ_PD,
	UET_OBJ_MR,
	UET_OBJ_MW,
	UET_OBJ_AH,
	UET_OBJ_JOB,
	UET_OBJ_SKEY,
	UET_OBJ_JKEY,
	UET_OBJ_NR
};

struct uet_dev {
	struct ib_device ib;
	struct uet_fep *fep;

	struct xarray qps;	/* QP number -> struct uet_qp */
	u32 qp_next;
	struct xarray mkeys;	/* key index -> struct uet_mkey; RCU readers */
	u32 mkey_next;
	spinlock_t mw_lock;	/* windows of all maps */
	struct xarray srqs;	/* number -> struct uet_srq */
	u32 srq_next;
	struct xarray counters;	/* id -> struct uet_counter */
	u32 counter_next;
	struct mutex counter_mutex;	/* counters and QPs bound to them */
	struct uet_qp_stats counted;	/* by counters that are gone */
	struct xarray ahs;	/* handle -> struct uet_ah of user space */
	u32 ah_next;
	struct mutex job_mutex;	/* see job.h */
	struct xarray jobs;	/* JobID -> struct uet_job */
	struct xarray skeys;	/* id -> struct uet_skey */
	u32 skey_next;
	struct xarray jkeys;	/* index -> struct uet_jkey; RCU readers */
	u32 jkey_next;
	struct rhltable rkeys;	/* chosen remote keys, struct uet_mkey */
	struct mutex rkey_mutex;	/* changes of rkeys and attachments */

	atomic_t objs[UET_OBJ_NR];
	bool announced;		/* by netlink */
	int port_state;		/* last one told to users, enum ib_port_state */
};

struct uet_ucontext {
	struct ib_ucontext ib;
};

/**
 * struct uet_pd - protection domain
 * @ib: what ib_core sees
 * @jobs: JobID -> struct uet_jkey of this domain; RCU readers
 */
struct uet_pd {
	struct ib_pd ib;
	struct xarray jobs;
};

struct uet_ah {
	struct ib_ah ib;
	struct rdma_ah_attr attr;	/* without the GID reference */
	struct uet_path *path;
	u32 num;		/* 0: AH of the kernel */
};

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

/**
 * struct uet_cq - completion queue
 * @ib: what ib_core sees
 * @lock: protects everything below up to @failed
 * @ring: where CQEs go
 * @qps: kernel CQs: QP of each entry, NULL once that is destroyed
 * @prod: next entry to fill; ring->prod is a copy for the reader
 * @cons: kernel CQs: next entry to poll
 * @armed: 0, IB_CQ_SOLICITED or IB_CQ_NEXT_COMP
 * @failed: overflowed; nothing is added any more
 * @mod_count: completions that make one event; 0: each makes one
 * @mod_period: or so long after the first of them, microseconds
 * @held: completions that have not made an event yet
 * @mod_timer: ends @mod_period; runs only while @held is not 0
 * @notify: user CQs: wake the reader once no lock is held
 * @comp_work: kernel CQs: the same from BH work
 * @err_work: IB_EVENT_CQ_ERR
 * @refs: one for the CQ, one per pending notification or work
 * @gone: completed by the last reference
 */
struct uet_cq {
	struct ib_cq ib;
	spinlock_t lock;	/* ring and state */
	struct uet_ringbuf *ring;
	struct ib_qp **qps;
	u32 prod;
	u32 cons;
	u8 armed;
	bool failed;
	u16 mod_count;
	u16 mod_period;
	u16 held;

	struct hrtimer mod_timer;
	struct uet_notify notify;
	struct work_struct comp_work;
	struct work_struct err_work;
	refcount_t refs;
	struct completion gone;
};

/**
 * struct uet_map - memory that a key may lead to
 * @mem: what the engine sees; its last reference frees this struct
 * @bvec: blocks of @mem; NULL for a window, which uses those of @parent
 * @room: entries of @bvec
 * @parent: windows: memory of the region, with a reference
 * @odp: of a region that is not pinned, valid while @mem can be entered; or NULL
 * @node: windows: entry of @parent->windows; whoever takes it out revokes the
 *	window
 * @windows: windows on this memory
 * @dying: no window may be bound any more
 * @rcu: for freeing
 *
 * @node, @windows and @dying are under uet_dev.mw_lock.
 */
struct uet_map {
	struct uet_mem mem;
	struct bio_vec *bvec;
	u32 room;
	struct uet_map *parent;
	struct uet_odp *odp;
	struct list_head node;
	struct list_head windows;
	bool dying;
	struct rcu_head rcu;
};

/* For whom a region is, beside its protection domain. */
enum uet_mkey_scope {
	UET_SCOPE_CHOSEN	= BIT(0),	/* @rkey was chosen, is in rkeys */
	UET_SCOPE_JOB		= BIT(1),	/* peers of @job_id only */
	UET_SCOPE_QP		= BIT(2),	/* through @qp only */
};

enum uet_mkey_kind {
	UET_MKEY_MR,		/* never changes once it is published */
	UET_MKEY_DMA,		/* the same: all kernel addresses */
	UET_MKEY_FRWR,
	UET_MKEY_MW1,
	UET_MKEY_MW2,
};

/**
 * struct uet_mkey - what a key means
 * @lock: FRWR and windows: protects everything below but @rcu; leaf
 * @kind: enum uet_mkey_kind
 * @key: lkey or rkey; 0 while there is no valid one
 * @access: enum ib_access_flags
 * @qpn: windows of type 2: the one QP that may use it, else 0
 * @pd: protection domain; compared only
 * @map: memory; NULL for UET_MKEY_DMA and for FRWR and windows without a key
 * @iova: address of the first byte as users name it
 * @length: bytes
 * @off: where in @map the first byte is
 * @scope: enum uet_mkey_scope; never changes
 * @job_id: UET_SCOPE_JOB: the job, held by uet_mr.jkey; never changes
 * @qp: UET_SCOPE_QP: the QP that the region is attached to, or NULL; compared
 *	only. Written under uet_dev.rkey_mutex
 * @rkey: UET_SCOPE_CHOSEN: key as on the wire; never changes
 * @rkey_node: entry of uet_dev.rkeys, by @rkey
 * @rcu: for freeing
 */
struct uet_mkey {
	spinlock_t lock;	/* see above */
	u8 kind;
	u32 key;
	int access;
	u32 qpn;
	const struct ib_pd *pd;
	struct uet_map *map;
	u64 iova;
	u64 length;
	u64 off;
	u8 scope;
	u32 job_id;
	const struct uet_qp *qp;
	u64 rkey;
	struct rhlist_head rkey_node;
	struct rcu_head rcu;
};

/**
 * struct uet_mr - memory region
 * @ib: what ib_core sees
 * @mkey: its key
 * @umem: pinned pages of a process, or NULL
 * @odp: pages of a process that are not pinned, or NULL
 * @dmabuf: imported buffer, or NULL
 * @vmap: kernel mapping of @dmabuf
 * @fr: FRWR: two maps, so that one can be filled while the other is in use
 * @fr_next: FRWR: the one that map_mr_sg() filled last
 * @fr_ready: FRWR: @fr_next waits for its REG_MR
 * @jkey: job key of a region for one job, with a use; else NULL
 * @parent: region that this one is a part of, counted in its @children
 * @children: regions derived from this one; INT_MIN once none may be
 * @qp_node: entry of uet_qp.mrs; under uet_dev.rkey_mutex
 */
struct uet_mr {
	struct ib_mr ib;
	struct uet_mkey mkey;
	struct ib_umem *umem;
	struct uet_odp *odp;
	struct dma_buf *dmabuf;
	struct iosys_map vmap;
	struct uet_map *fr[2];
	u8 fr_next;
	bool fr_ready;
	struct uet_jkey *jkey;
	struct uet_mr *parent;
	atomic_t children;
	struct list_head qp_node;
};

/**
 * struct uet_mw - memory window
 * @ib: what ib_core sees
 * @mkey: its key; freed on its own, since look-ups may outlive this struct
 */
struct uet_mw {
	struct ib_mw ib;
	struct uet_mkey *mkey;
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
 * @lock: protects all below except @wqe and slots in other hands
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
 * @batched: several requests were started together since the last look
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

/* Bits of uet_srq.events. */
enum uet_srq_event {
	UET_SRQ_EV_LIMIT,
	UET_SRQ_EV_ERR,
};

/**
 * struct uet_srq - shared receive queue
 * @ib: what ib_core sees
 * @rq: the ring
 * @num: number among the SRQs of the device
 * @limit: fewer requests than that give an event, once; 0: none; under rq.lock
 * @reported: that the ring is broken was reported; under rq.lock
 * @mutex: one resize at a time
 * @event_work: events
 * @events: enum uet_srq_event bits for @event_work
 * @refs: one for the SRQ, one per pending work
 * @gone: completed by the last reference
 */
struct uet_srq {
	struct ib_srq ib;
	struct uet_rq rq;
	u32 num;
	u32 limit;
	bool reported;
	struct mutex mutex;	/* see above */
	struct work_struct event_work;
	unsigned long events;
	refcount_t refs;
	struct completion gone;
};

/* Bits of uet_qp.events: what the event work has to do. */
enum uet_qp_event {
	UET_QP_EV_FLUSH,	/* the QP went to error: flush it */
	UET_QP_EV_FATAL,
	UET_QP_EV_REQ_ERR,
	UET_QP_EV_ACCESS_ERR,
	UET_QP_EV_COMM_EST,
	UET_QP_EV_SQ_DRAINED,
	UET_QP_EV_LAST_WQE,
};

/**
 * struct uet_qp - queue pair
 * @ib: what ib_core sees
 * @dev: device
 * @ep: what it is on the wire
 * @mode: how messages travel
 * @unreliable: UC
 * @user: rings are shared with user space
 * @grh: datagrams: receive buffers start with 40 bytes of GRH
 * @mutex: serialises modify, destroy and the error work
 * @attr: what modify set; under @mutex
 * @path: RC: the peer; under @mutex
 * @state: enum ib_qp_state; goes to error from any context by cmpxchg,
 *	elsewhere only under @mutex
 * @qkey: datagrams
 * @wire: what peers address it by: RI and PIDonFEP
 * @src_id: what receivers see as source id
 * @addressing: RU: enum uet_addressing
 * @jkey: RU: job key of its own job, with a use; or NULL
 * @mrs: regions attached to it; under uet_dev.rkey_mutex
 * @access: RC, RU: what peers may do at all, enum ib_access_flags
 * @max_reads: READs and atomics under way at a time
 * @comm_est: IB_EVENT_COMM_EST was given
 * @last_wqe: IB_EVENT_QP_LAST_WQE_REACHED was given
 * @sqd_event: IB_EVENT_SQ_DRAINED is due; under sq.lock
 * @recvs: receive requests with the engine
 * @stats: tx part under sq.lock, rx part by receive callbacks; each with one
 *	writer at a time
 * @stats_base: @stats when the QP was bound to its counter
 * @counter_node: entry of the counter's list of QPs
 * @odp_node: entry of uet_odp.waiters, with a reference; see odp.c
 * @sq: send queue
 * @rq: receive queue of its own
 * @rxq: where receive requests come from: @rq, or that of an SRQ
 * @run_notify: resume the send queue once no lock is held
 * @run_work: the same as BH work
 * @event_work: everything that needs process context
 * @events: enum uet_qp_event bits for @event_work
 * @refs: one for the QP, one per pending notification or work
 * @gone: completed by the last reference
 */
struct uet_qp {
	struct ib_qp ib;
	struct uet_dev *dev;
	struct uet_ep *ep;
	enum uet_ep_mode mode;
	bool unreliable;
	bool user;
	bool grh;

	struct mutex mutex;	/* see above */
	struct ib_qp_attr attr;
	struct uet_path *path;

	int state;
	u32 qkey;
	u32 wire;
	u32 src_id;
	u8 addressing;
	struct uet_jkey *jkey;
	struct list_head mrs;
	int access;
	u32 max_reads;
	unsigned long comm_est;
	unsigned long last_wqe;
	bool sqd_event;
	atomic_t recvs;

	struct uet_qp_stats stats;
	struct uet_qp_stats stats_base;
	struct list_head counter_node;
	struct list_head odp_node;

	struct uet_sq sq;
	struct uet_rq rq;
	struct uet_rq *rxq;

	struct uet_notify run_notify;
	struct work_struct run_work;
	struct work_struct event_work;
	unsigned long events;
	refcount_t refs;
	struct completion gone;
};

static inline struct uet_dev *to_udev(struct ib_device *ib)
{
	return container_of(ib, struct uet_dev, ib);
}

static inline struct uet_ah *to_uah(struct ib_ah *ib)
{
	return container_of(ib, struct uet_ah, ib);
}

static inline struct uet_cq *to_ucq(struct ib_cq *ib)
{
	return container_of(ib, struct uet_cq, ib);
}

static inline struct uet_mr *to_umr(struct ib_mr *ib)
{
	return container_of(ib, struct uet_mr, ib);
}

static inline struct uet_mw *to_umw(struct ib_mw *ib)
{
	return container_of(ib, struct uet_mw, ib);
}

static inline struct uet_qp *to_uqp(struct ib_qp *ib)
{
	return container_of(ib, struct uet_qp, ib);
}

static inline struct uet_srq *to_usrq(struct ib_srq *ib)
{
	return container_of(ib, struct uet_srq, ib);
}

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

/* The same for what queues of both kinds use: BHs go off, or interrupts are. */
static inline bool uet_any_lock(spinlock_t *lock)
	__acquires(lock)
{
	bool irqs_off = irqs_disabled();

	if (irqs_off)
		spin_lock(lock);
	else
		spin_lock_bh(lock);
	return irqs_off;
}

static inline void uet_any_unlock(spinlock_t *lock, bool irqs_off)
	__releases(lock)
{
	if (irqs_off)
		spin_unlock(lock);
	else
		spin_unlock_bh(lock);
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

static inline unsigned long uet_sq_lock(struct uet_qp *qp)
	__acquires(&qp->sq.lock)
{
	return uet_queue_lock(&qp->sq.lock, qp->user);
}

static inline void uet_sq_unlock(struct uet_qp *qp, unsigned long irq)
	__releases(&qp->sq.lock)
{
	uet_queue_unlock(&qp->sq.lock, qp->user, irq);
}

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

/* main.c */
extern struct workqueue_struct *uet_verbs_wq;
struct uet_dev *uet_dev_next(struct net *net, u32 *pos);
struct uet_dev *uet_dev_by_name(struct net *net, const char *name);
int uet_dev_publish(struct ib_device *ib);
void uet_dev_unpublish(struct uet_dev *dev);

/* netlink.c */
int uet_nl_init(void);
void uet_nl_exit(void);

/* device.c */
extern const struct ib_device_ops uet_dev_ops;
int uet_udata_in(struct ib_udata *udata, void *req, size_t size);
int uet_udata_in_min(struct ib_udata *udata, void *req, size_t size,
		     size_t min);
int uet_udata_out(struct ib_udata *udata, const void *resp, size_t size);
int uet_udata_none(struct ib_udata *udata);
int uet_obj_take(struct uet_dev *dev, enum uet_obj obj);
void uet_obj_give(struct uet_dev *dev, enum uet_obj obj);
enum ib_mtu uet_active_mtu(const struct uet_dev *dev);
void uet_port_changed(struct uet_dev *dev, struct net_device *ndev,
		      bool attrs);

/* ring.c */
struct uet_ringbuf *uet_ring_create(struct ib_udata *udata, u32 depth,
				    u32 stride);
void uet_ring_info(const struct uet_ringbuf *rb, struct uet_ring_info *info);
void uet_ring_free(struct uet_ringbuf *rb);
void uet_ring_reset(struct uet_ringbuf *rb);
int uet_mmap(struct ib_ucontext *uctx, struct vm_area_struct *vma);
void uet_mmap_free(struct rdma_user_mmap_entry *entry);

/* cq.c */
int uet_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		  struct uverbs_attr_bundle *attrs);
int uet_destroy_cq(struct ib_cq *ib, struct ib_udata *udata);
int uet_modify_cq(struct ib_cq *ib, u16 count, u16 period);
int uet_resize_cq(struct ib_cq *ib, UET_RESIZE_CQE cqe, struct ib_udata *udata);
int uet_poll_cq(struct ib_cq *ib, int nr, struct ib_wc *wc);
int uet_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags);
bool uet_cq_push(struct ib_cq *ib, struct uet_cqe *cqe, struct ib_qp *qp,
		 struct uet_defer *d);
void uet_cq_forget(struct ib_cq *ib, const struct ib_qp *qp);

/* mkey.c */
int uet_mkey_publish(struct uet_dev *dev, struct uet_mkey *mkey, u32 *key);
void uet_mkey_replace(struct uet_dev *dev, struct uet_mkey *mkey, u32 key);
void uet_mkey_retract(struct uet_dev *dev, struct uet_mkey *mkey, u32 key);
struct uet_mkey *uet_mkey_find(struct uet_dev *dev, u32 key);
struct uet_map *uet_map_alloc(gfp_t gfp);
void uet_map_put(struct uet_map *map);
void uet_map_revoke(struct uet_map *map);
void uet_map_kill(struct uet_dev *dev, struct uet_map *map);
int uet_mkey_local(const struct ib_pd *pd, bool user, u32 lkey, u64 addr,
		   u32 len, bool write, struct uet_sge *sge);
enum uet_rc uet_mkey_remote(struct uet_ep *ep, u32 job_id, u64 key, u64 addr,
			    u32 len, u8 access, struct uet_sge *sge);
bool uet_mkey_may_invalidate(const struct uet_qp *qp, u32 key);
int uet_mkey_invalidate(const struct uet_qp *qp, u32 key);
bool uet_mkey_busy(struct uet_dev *dev, u32 key);
void uet_sges_put(struct uet_sge *sge, unsigned int nr);

/* mr.c */
struct uet_mr *uet_mr_alloc(struct ib_pd *pd, int access, u64 iova, u64 length);
int uet_mr_check(u64 length, u64 iova, int access);
int uet_mr_fill(struct uet_map *map, struct sg_table *sgt, u64 skip,
		u64 length);
int uet_mr_publish(struct uet_mr *mr, struct ib_pd *pd);
struct ib_mr *uet_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *uet_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			      u64 iova, int access,
			      UET_DMAH_PARAM struct ib_udata *udata);
struct ib_mr *uet_rereg_user_mr(struct ib_mr *ib, int flags, u64 start,
				u64 length, u64 iova, int access,
				struct ib_pd *pd, struct ib_udata *udata);
int uet_dereg_mr(struct ib_mr *ib, struct ib_udata *udata);
void uet_mr_end(struct uet_dev *dev, struct uet_mr *mr);

/* dmabuf.c */
#if IS_ENABLED(CONFIG_DMA_SHARED_BUFFER)
struct ib_mr *uet_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				     u64 iova, int fd, int access,
				     UET_DMAH_PARAM
				     struct uverbs_attr_bundle *attrs);
void uet_dmabuf_put(struct uet_mr *mr);
#else
static inline void uet_dmabuf_put(struct uet_mr *mr)
{
}
#endif

/* frwr.c */
struct ib_mr *uet_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max);
int uet_map_mr_sg(struct ib_mr *ib, struct scatterlist *sg, int nents,
		  unsigned int *offset);
void uet_frwr_free(struct uet_mr *mr);
int uet_frwr_register(const struct uet_qp *qp, struct uet_mr *mr, u32 key,
		      int access);

/* mw.c */
int uet_alloc_mw(struct ib_mw *ib, struct ib_udata *udata);
int uet_dealloc_mw(struct ib_mw *ib);
int uet_mw_bind(const struct uet_qp *qp, const struct uet_send_wqe *wqe);
void uet_window_end(struct uet_dev *dev, struct uet_map *map);
void uet_windows_end(struct uet_dev *dev, struct uet_map *map);

/* odp.c */
#if IS_ENABLED(CONFIG_INFINIBAND_ON_DEMAND_PAGING)
int uet_odp_create(struct uet_mr *mr, struct ib_device *ib, u64 start,
		   u64 length, int access);
void uet_odp_destroy(struct uet_mr *mr);
int uet_odp_ready(struct uet_qp *qp, const struct uet_sge *sge);
int uet_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		  u32 flags, struct ib_sge *sg_list, u32 num_sge,
		  struct uverbs_attr_bundle *attrs);
#else
static inline int uet_odp_create(struct uet_mr *mr, struct ib_device *ib,
				 u64 start, u64 length, int access)
{
	return -EOPNOTSUPP;
}

static inline void uet_odp_destroy(struct uet_mr *mr)
{
}

static inline int uet_odp_ready(struct uet_qp *qp, const struct uet_sge *sge)
{
	return 0;
}
#endif

/* ah.c */
int uet_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init,
		  struct ib_udata *udata);
int uet_destroy_ah(struct ib_ah *ib, u32 flags);
int uet_query_ah(struct ib_ah *ib, struct rdma_ah_attr *attr);
struct uet_path *uet_ah_path(struct uet_qp *qp, u32 num);
struct uet_path *uet_path_from_attr(struct uet_dev *dev,
				    const struct rdma_ah_attr *attr,
				    u32 payload_mtu, gfp_t gfp);

/* qp.c */
int uet_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *init,
		  struct ib_udata *udata);
int uet_destroy_qp(struct ib_qp *ib, struct ib_udata *udata);
void uet_qp_get(struct uet_qp *qp);
void uet_qp_put(struct uet_qp *qp);
void uet_qp_event(struct uet_qp *qp, enum uet_qp_event ev);
void uet_qp_to_error(struct uet_qp *qp, enum uet_qp_event ev);
void uet_qp_fault(struct uet_ep *ep, enum uet_rc rc, struct uet_defer *d);
void uet_qp_wake(struct uet_qp *qp);

void uet_qp_flush(struct uet_qp *qp);
void uet_qp_reset(struct uet_qp *qp);

/* modify.c */
int uet_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata);
int uet_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init);

/* doorbell.c */
void uet_look_init(struct uet_qp *qp);
void uet_look_stop(struct uet_qp *qp);
int uet_doorbell(struct uet_qp *qp);

/* post.c */
int uet_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr);

/* wqe.c */
bool uet_op_ok(const struct uet_qp *qp, unsigned int op);
bool uet_op_fetches(unsigned int op);
bool uet_op_is_local(unsigned int op);
u8 uet_wqe_prepare(struct uet_qp *qp, struct uet_sq_slot *slot, void *entry);
u8 uet_wqe_local(struct uet_qp *qp, const struct uet_sq_slot *slot);

/* sq.c */
bool uet_sq_run(struct uet_qp *qp, struct uet_defer *d, int budget);
void uet_sq_run_all(struct uet_qp *qp);
void uet_sq_run_some(struct uet_qp *qp);
void uet_sq_queue_work(struct uet_qp *qp);
void uet_sq_run_notify(struct uet_notify *n);
void uet_sq_run_work(struct work_struct *work);
void uet_sq_reset(struct uet_qp *qp);
void uet_msg_done(struct uet_ep *ep, struct uet_msg *msg, int status,
		  struct uet_defer *d);

/* recv.c */
int uet_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr);
void uet_rq_flush(struct uet_qp *qp, struct uet_defer *d);
struct uet_recv *uet_recv_get(struct uet_ep *ep, u8 op, u32 len, u64 match,
			      const struct uet_rx_hdr *hdr,
			      struct uet_defer *d);
bool uet_recv_ready(struct uet_ep *ep);
void uet_recv_done(struct uet_ep *ep, struct uet_recv *recv, int status,
		   struct uet_defer *d);

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

/* srq.c */
int uet_create_srq(struct ib_srq *ib, struct ib_srq_init_attr *init,
		   struct ib_udata *udata);
int uet_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr,
		   enum ib_srq_attr_mask mask, struct ib_udata *udata);
int uet_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr);
int uet_destroy_srq(struct ib_srq *ib, struct ib_udata *udata);
int uet_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad_wr);
void uet_srq_check(struct uet_srq *srq);

/* counter.c */
int uet_counter_bind_qp(struct rdma_counter *counter,
			struct ib_qp *ib UET_COUNTER_PORT);
int uet_counter_unbind_qp(struct ib_qp *ib UET_COUNTER_PORT);
int uet_counter_dealloc(struct rdma_counter *counter);
struct rdma_hw_stats *uet_counter_alloc_stats(struct rdma_counter *counter);
int uet_counter_update_stats(struct rdma_counter *counter);
void uet_counters_leave_out(struct uet_dev *dev, u64 *value);
void uet_counter_init(struct rdma_counter *counter);

/* restrack.c */
int uet_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ib);
int uet_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ib);
int uet_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ib);
int uet_fill_res_srq_entry(struct sk_buff *msg, struct ib_srq *ib);

/* mcast.c */
int uet_attach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid);
int uet_detach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid);

/* stats.c */
void uet_stats_init(void);
struct rdma_hw_stats *uet_alloc_hw_port_stats(struct ib_device *ib, u32 port);
int uet_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats,
		     u32 port, int index);

#endif /* UET_VERBS_H */
