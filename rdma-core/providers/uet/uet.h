/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Private to the provider. */
#ifndef UET_H
#define UET_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <ccan/container_of.h>
#include <infiniband/driver.h>
#include <infiniband/verbs.h>

#include "ring.h"
#include "uetdv.h"

struct uet_qpn_table;

/**
 * struct uet_context - an open device
 * @vctx: the verbs context
 * @caps: enum uet_cap
 * @max_inline: largest inline payload, bytes
 * @max_sge: most scatter/gather entries of a work request
 * @max_job: most jobs, 0 if there are none
 * @max_skey: most security keys
 * @max_jkey: most job keys
 * @max_addr: most entries of a job's address table
 * @qpns: numbers of relative QPs; NULL until there is one
 * @single_threaded: the environment says that no locks are needed
 * @no_write: this process may not use write() on the command fd, because its
 *	credentials are not those with which the device was opened
 */
struct uet_context {
	struct verbs_context vctx;
	uint32_t caps;
	uint32_t max_inline;
	uint32_t max_sge;
	uint32_t max_job;
	uint32_t max_skey;
	uint32_t max_jkey;
	uint32_t max_addr;
	_Atomic(struct uet_qpn_table *) qpns;
	bool single_threaded;
	atomic_bool no_write;
};

/**
 * struct uet_td - a thread domain: one thread at a time uses what is in it
 * @td: the verbs object
 * @users: parent domains it is part of
 */
struct uet_td {
	struct ibv_td td;
	atomic_uint users;
};

/**
 * struct uet_pd - a protection domain or a parent domain
 * @pd: the verbs object
 * @users: a PD: parent domains of it; a parent domain: objects made in it.
 *	The kernel counts the objects of a PD
 * @parent: a parent domain: the PD behind it; NULL in a PD
 * @td: a parent domain: its thread domain or NULL
 */
struct uet_pd {
	struct ibv_pd pd;
	atomic_uint users;
	struct uet_pd *parent;
	struct uet_td *td;
};

/**
 * struct uet_mr - a memory region
 * @vmr: the verbs object
 * @chosen: the application chose the remote key
 * @rkey: that key, as peers use it
 */
struct uet_mr {
	struct verbs_mr vmr;
	bool chosen;
	uint64_t rkey;
};

/**
 * struct uet_ah - an address handle
 * @ah: the verbs object
 * @number: what the kernel calls it in work requests
 */
struct uet_ah {
	struct ibv_ah ah;
	uint32_t number;
};

/* QPs of one CQ that can wait with their doorbells; more do not wait. */
#define UET_LAZY_MAX	8

/**
 * struct uet_cq - a completion queue
 * @vcq: the verbs object
 * @domain: parent domain it is made in, or NULL
 * @lock: held from start_poll() to end_poll(), between which programs post, too
 * @ring: of struct uet_cqe
 * @cons: next entry to be taken
 * @cqe: entry that the read functions of the extended CQ look at
 * @polls: how often it was polled; written under @lock, read without
 * @lazy_lock: of what follows; other than @lock it is there also for a CQ that only
 *	one thread polls, because others post to its QPs; taken last
 * @lazy: QPs whose doorbell is due once there is nothing to poll
 * @nr_lazy: entries of @lazy; read without the lock
 */
struct uet_cq {
	struct verbs_cq vcq;
	struct uet_pd *domain;
	struct uet_lock lock;
	struct uet_map ring;
	uint32_t cons;
	const struct uet_cqe *cqe;
	_Atomic(uint32_t) polls;
	struct uet_lock lazy_lock;
	struct uet_qp *lazy[UET_LAZY_MAX];
	_Atomic(unsigned int) nr_lazy;
};

/**
 * struct uet_wq - a send, receive or shared receive queue
 * @lock: held from ibv_wr_start() to ibv_wr_complete()
 * @ring: of struct uet_send_wqe or struct uet_recv_wqe; no mapping with an SRQ
 * @prod: next entry to be filled
 * @cons: next entry that the kernel has not given back, as last seen
 * @max_sge: most entries of a work request
 * @max_inline: largest inline payload, bytes
 */
struct uet_wq {
	struct uet_lock lock;
	struct uet_map ring;
	uint32_t prod;
	uint32_t cons;
	uint32_t max_sge;
	uint32_t max_inline;
};

/**
 * struct uet_srq - a shared receive queue
 * @vsrq: the verbs object
 * @domain: parent domain it is made in, or NULL
 * @rq: the queue
 */
struct uet_srq {
	struct verbs_srq vsrq;
	struct uet_pd *domain;
	struct uet_wq rq;
};

/**
 * struct uet_ru - what only a reliable-unconnected QP has
 * @dvx: operations beside those of verbs
 * @jkey: as it was given; NULL for none
 * @addressing: enum uet_addressing
 * @src_id: what receivers see
 * @send_ops: enum uetdv_send_ops
 * @granted: semantics
 */
struct uet_ru {
	struct uetdv_qp_ex dvx;
	struct uetdv_jkey *jkey;
	uint32_t addressing;
	uint32_t src_id;
	uint32_t send_ops;
	struct uet_semantics granted;
};

/**
 * struct uet_qp - a queue pair
 * @vqp: the verbs object
 * @domain: parent domain it is made in, or NULL
 * @sq: send queue
 * @rq: receive queue
 * @wire_qpn: the number peers use
 * @number: the kernel's, which completions have; differs from qp_num in QPs
 *	with relative addressing
 * @driver_type: enum uet_qp_type
 * @ops: bit 1 << enum uet_wqe_op for each operation this kind of QP has
 * @always: enum uet_wqe_flags that every work request gets
 * @addressed: each work request names its destination (UD, RU)
 * @ru: of a reliable-unconnected QP
 * @polls: of the send CQ, when it was posted to last
 * @stream: requests come faster than completions are asked for
 * @lazy: posts since the last doorbell; under the @lazy_lock of the send CQ
 * @wr_first: ibv_wr_start(): prod before the batch
 * @wr_err: first error of the batch, 0 or an errno value
 * @wqe: work request that the setters fill in; NULL if there is none
 */
struct uet_qp {
	struct verbs_qp vqp;
	struct uet_pd *domain;
	struct uet_wq sq;
	struct uet_wq rq;
	uint32_t wire_qpn;
	uint32_t number;
	uint32_t driver_type;
	uint32_t ops;
	uint8_t always;
	bool addressed;
	struct uet_ru ru;

	uint32_t polls;
	bool stream;
	uint32_t lazy;

	uint32_t wr_first;
	int wr_err;
	struct uet_send_wqe *wqe;
};

static inline struct uet_context *to_uctx(struct ibv_context *ibctx)
{
	return container_of(ibctx, struct uet_context, vctx.context);
}

static inline struct uet_td *to_utd(struct ibv_td *ibtd)
{
	return container_of(ibtd, struct uet_td, td);
}

static inline struct uet_pd *to_upd(struct ibv_pd *ibpd)
{
	return container_of(ibpd, struct uet_pd, pd);
}

static inline struct uet_mr *to_umr(struct ibv_mr *ibmr)
{
	return container_of(ibmr, struct uet_mr, vmr.ibv_mr);
}

static inline struct uet_ah *to_uah(struct ibv_ah *ibah)
{
	return container_of(ibah, struct uet_ah, ah);
}

static inline struct uet_cq *to_ucq(struct ibv_cq *ibcq)
{
	return container_of(ibcq, struct uet_cq, vcq.cq);
}

static inline struct uet_cq *to_ucq_ex(struct ibv_cq_ex *ibcq)
{
	return container_of(ibcq, struct uet_cq, vcq.cq_ex);
}

static inline struct uet_srq *to_usrq(struct ibv_srq *ibsrq)
{
	return container_of(ibsrq, struct uet_srq, vsrq.srq);
}

static inline struct uet_qp *to_uqp(struct ibv_qp *ibqp)
{
	return container_of(ibqp, struct uet_qp, vqp.qp);
}

static inline struct uet_qp *to_uqp_ex(struct ibv_qp_ex *ibqp)
{
	return container_of(ibqp, struct uet_qp, vqp.qp_ex);
}

/* Posting is an error before the QP is ready to send. */
static inline bool uet_may_send(const struct uet_qp *qp)
{
	return qp->vqp.qp.state >= IBV_QPS_RTS && qp->sq.ring.hdr;
}

#define UET_NSEC_PER_SEC	1000000000ULL

static inline uint64_t uet_clock_ns(clockid_t clock)
{
	struct timespec now = {};

	clock_gettime(clock, &now);
	return now.tv_sec * UET_NSEC_PER_SEC + now.tv_nsec;
}

/* uet.c */
bool uet_is_uet(struct ibv_context *ibctx);

/* pd.c */
struct ibv_pd *uet_alloc_pd(struct ibv_context *ibctx);
struct ibv_pd *
uet_alloc_parent_domain(struct ibv_context *ibctx,
			struct ibv_parent_domain_init_attr *attr);
int uet_dealloc_pd(struct ibv_pd *ibpd);
struct ibv_td *uet_alloc_td(struct ibv_context *ibctx,
			    struct ibv_td_init_attr *attr);
int uet_dealloc_td(struct ibv_td *ibtd);
bool uet_is_single_threaded(struct ibv_context *ibctx,
			    const struct ibv_pd *ibpd);
struct uet_pd *uet_domain_get(struct ibv_pd *ibpd);
void uet_domain_put(struct uet_pd *pd);

/* mr.c */
struct ibv_mr *uet_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  uint64_t hca_va, int access);
struct ibv_mr *uet_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				 size_t length, uint64_t iova, int fd,
				 int access);
int uet_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr,
		 size_t length, int access);
int uet_dereg_mr(struct verbs_mr *vmr);
struct ibv_mw *uet_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int uet_dealloc_mw(struct ibv_mw *mw);

/* cq.c */
struct ibv_cq *uet_create_cq(struct ibv_context *ibctx, int cqe,
			     struct ibv_comp_channel *channel, int comp_vector);
struct ibv_cq_ex *uet_create_cq_ex(struct ibv_context *ibctx,
				   struct ibv_cq_init_attr_ex *attr);
int uet_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr);
int uet_resize_cq(struct ibv_cq *ibcq, int cqe);
int uet_destroy_cq(struct ibv_cq *ibcq);
int uet_poll_cq(struct ibv_cq *ibcq, int num, struct ibv_wc *wc);
int uet_req_notify_cq(struct ibv_cq *ibcq, int solicited_only);
void uet_clean_cq(struct ibv_cq *ibcq, uint32_t qp_num);

/* srq.c */
struct ibv_srq *uet_create_srq(struct ibv_pd *pd,
			       struct ibv_srq_init_attr *attr);
int uet_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask);
int uet_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr);
int uet_get_srq_num(struct ibv_srq *ibsrq, uint32_t *srq_num);
int uet_destroy_srq(struct ibv_srq *ibsrq);

/* qp.c */
struct ibv_qp *uet_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *uet_create_qp_ex(struct ibv_context *ibctx,
				struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *uet_create_any_qp(struct ibv_context *ibctx,
				 struct ibv_qp_init_attr_ex *attr,
				 const struct uet_create_qp_req *req);
int uet_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask);
int uet_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init);
int uet_destroy_qp(struct ibv_qp *ibqp);

/* post.c */
int uet_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		  struct ibv_send_wr **bad_wr);
int uet_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad_wr);
int uet_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad_wr);
int uet_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw,
		struct ibv_mw_bind *bind);

/* doorbell.c */
int uet_doorbell(struct uet_qp *qp);
void uet_ring_lazy(struct uet_cq *cq);
void uet_forget_lazy(struct uet_qp *qp);

/* wr.c */
struct uet_send_wqe *uet_wr_new(struct ibv_qp_ex *ibqp, uint8_t opcode);
void uet_set_wr_ops(struct uet_qp *qp, uint64_t flags);

/* ru_wr.c */
int uet_set_ru_ops(struct uet_qp *qp, uint32_t send_ops);

/* qpnum.c */
int uet_qpn_add(struct uet_context *ctx, uint32_t number, uint32_t wire);
void uet_qpn_del(struct uet_context *ctx, uint32_t number);
uint32_t uet_qpn_find(struct uet_qpn_table *table, uint32_t number);
void uet_qpn_free(struct uet_context *ctx);

/* What the application knows as the number of a QP. */
static inline uint32_t uet_shown_qpn(struct ibv_context *ibctx, uint32_t number)
{
	struct uet_qpn_table *table;

	table = atomic_load_explicit(&to_uctx(ibctx)->qpns,
				     memory_order_acquire);
	return table ? uet_qpn_find(table, number) : number;
}

#endif /* UET_H */
