/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Private structs of the verbs provider (uet.ko). It keeps queues, keys and
 * rights; packets are the engine's business, see dp/uet_dp.h. Keys and memory
 * are in mr.h, rings and the queues on them in queue.h.
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
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>
#include <rdma/uet-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "../compat.h"
#include "../dp/uet_dp.h"
#include "mr.h"
#include "queue.h"

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

/* The kernel has no name for this value of enum ib_wc_opcode. */
#define UET_WC_BIND_MW		IB_UVERBS_WC_BIND_MW

struct uet_jkey;

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

static inline struct uet_qp *to_uqp(struct ib_qp *ib)
{
	return container_of(ib, struct uet_qp, ib);
}

static inline struct uet_srq *to_usrq(struct ib_srq *ib)
{
	return container_of(ib, struct uet_srq, ib);
}

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
void uet_qpn_init(struct uet_dev *dev);
int uet_qpn_alloc(struct uet_dev *dev, struct uet_qp *qp);
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
