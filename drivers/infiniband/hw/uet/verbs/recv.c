// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Receiving: buffers lent to the engine, and their completions.
 *
 * User space posts without a call. Only in error, when entries must be
 * flushed that no message will ever ask for, the ring says that a call is
 * wanted (UET_RING_KICK).
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/uio.h>
#include <net/ip.h>
#include <rdma/ib_cache.h>

#include "uet.h"

/* Completions of a reset or dying QP are nobody's. */
static bool uet_rq_silent(const struct uet_qp *qp)
{
	return READ_ONCE(qp->state) == IB_QPS_RESET;
}

static void uet_rq_push(struct uet_qp *qp, struct uet_cqe *cqe,
			struct uet_defer *d)
{
	if (uet_rq_silent(qp))
		return;
	cqe->qp_num = qp->ib.qp_num;
	if (!uet_cq_push(qp->ib.recv_cq, cqe, &qp->ib, d))
		uet_qp_to_error(qp, UET_QP_EV_FATAL);
}

static void uet_rq_push_error(struct uet_qp *qp, u64 wr_id, u8 status,
			      u32 vendor, struct uet_defer *d)
{
	struct uet_cqe cqe = {
		.wr_id = wr_id,
		.status = status,
		.vendor_err = vendor,
		.opcode = IB_WC_RECV,
	};

	uet_rq_push(qp, &cqe, d);
}

/* IPv4 in the place of a GRH: the header fills the last 20 of 40 bytes. */
static void uet_grh_ipv4(u8 *grh, const struct uet_rx_hdr *hdr, u32 len)
{
	struct iphdr ip = {
		.version = 4,
		.ihl = 5,
		.tos = hdr->tclass,
		.tot_len = htons(sizeof(ip) + sizeof(struct udphdr) + len),
		.ttl = hdr->hop_limit,
		.protocol = IPPROTO_UDP,
		.saddr = hdr->src.s6_addr32[3],
		.daddr = hdr->dst.s6_addr32[3],
	};

	ip_send_check(&ip);
	memset(grh, 0, UET_GRH_BYTES - sizeof(ip));
	memcpy(grh + UET_GRH_BYTES - sizeof(ip), &ip, sizeof(ip));
}

static void uet_grh_ipv6(u8 *grh, const struct uet_rx_hdr *hdr, u32 len)
{
	struct ipv6hdr ip = {
		.payload_len = htons(sizeof(struct udphdr) + len),
		.nexthdr = IPPROTO_UDP,
		.hop_limit = hdr->hop_limit,
		.saddr = hdr->src,
		.daddr = hdr->dst,
	};

	ip6_flow_hdr(&ip, hdr->tclass, 0);
	memcpy(grh, &ip, sizeof(ip));
}

/* Write to one entry; false if its memory is gone. */
static bool uet_sge_write(const struct uet_sge *sge, const void *from, u32 len)
{
	const struct uet_mem *mem = sge->mem;
	u64 pos, in_block;
	struct iov_iter it;
	bool ok;
	u32 i;

	if (!mem) {
		memcpy((void *)(uintptr_t)sge->off, from, len);
		return true;
	}
	if (uet_mem_begin(sge->mem, sge->off, len, true))
		return false;
	pos = sge->off + mem->first_off;
	i = pos >> mem->shift;
	/* Block 0 may lack bytes in front, see struct uet_mem. */
	in_block = i ? pos & (BIT_ULL(mem->shift) - 1) : sge->off;
	iov_iter_bvec(&it, ITER_DEST, mem->bvec + i, mem->nr_bvec - i,
		      in_block + len);
	iov_iter_advance(&it, in_block);
	/* Not copy_to_iter(): its check of @from is not for softirqs. */
	ok = _copy_to_iter(from, len, &it) == len;
	uet_mem_exit(sge->mem);
	return ok;
}

static bool uet_recv_put_grh(struct uet_recv_wr *wr,
			     const struct uet_rx_hdr *hdr, u32 len)
{
	u8 grh[UET_GRH_BYTES];
	u32 done = 0;
	u16 i;

	if (ipv6_addr_v4mapped(&hdr->dst))
		uet_grh_ipv4(grh, hdr, len);
	else
		uet_grh_ipv6(grh, hdr, len);
	for (i = 0; i < wr->rx.nr_sge && done < sizeof(grh); i++) {
		u32 n = min_t(u32, sizeof(grh) - done, wr->sge[i].len);

		if (!uet_sge_write(&wr->sge[i], grh + done, n))
			return false;
		done += n;
	}
	return true;
}

/*
 * ib_core finds the interface of a management datagram by VLAN: that of the
 * address it was sent to.
 */
static u16 uet_recv_vlan(struct uet_qp *qp, const struct uet_rx_hdr *hdr)
{
	const struct ib_gid_attr *attr;
	union ib_gid gid;
	u16 vlan = 0xffff;

	memcpy(gid.raw, &hdr->dst, sizeof(gid));
	attr = rdma_find_gid_by_port(&qp->dev->ib, &gid,
				     IB_GID_TYPE_ROCE_UDP_ENCAP, UET_PORT,
				     NULL);
	if (IS_ERR(attr))
		return vlan;
	if (rdma_read_gid_l2_fields(attr, &vlan, NULL))
		vlan = 0xffff;
	rdma_put_gid_attr(attr);
	return vlan;
}

/* The engine and the CQ are done with it. */
static void uet_recv_put(struct uet_qp *qp, struct uet_recv_wr *wr)
{
	uet_rq_done(qp->rxq, wr);
	atomic_dec(&qp->recvs);
	/* Pairs with the xchg() of uet_qp_stop(): one sees the other. */
	smp_mb__after_atomic();
	uet_qp_wake(qp);
}

/* The buffer is used up, the message is not delivered. */
static struct uet_recv *uet_recv_fail(struct uet_qp *qp, struct uet_recv_wr *wr,
				      u8 status, int err, struct uet_defer *d)
{
	uet_rq_push_error(qp, wr->wr_id, status, 0, d);
	uet_recv_put(qp, wr);
	/*
	 * A message that does not fit ends a connection. Elsewhere it costs its
	 * buffer: any peer could send one.
	 */
	if (status != IB_WC_LOC_LEN_ERR ||
	    (qp->mode == UET_EP_ROD && !qp->unreliable))
		uet_qp_to_error(qp, UET_QP_EV_FLUSH);
	return ERR_PTR(err);
}

/* Take the next posted entry; *@status tells whether it can be used. */
static struct uet_recv_wr *uet_recv_next(struct uet_qp *qp, bool data,
					 u8 *status)
{
	struct uet_rq *rq = qp->rxq;
	struct uet_recv_wr *wr;
	unsigned long irq;
	bool broken;

	irq = uet_queue_lock(&rq->lock, rq->user);
	wr = uet_rq_next(rq, data, status);
	if (wr)
		atomic_inc(&qp->recvs);
	broken = rq->broken;
	if (qp->ib.srq)
		uet_srq_check(to_usrq(qp->ib.srq));
	uet_queue_unlock(&rq->lock, rq->user, irq);
	if (broken)
		uet_qp_to_error(qp, UET_QP_EV_FATAL);
	return wr;
}

static bool uet_qp_receives(const struct uet_qp *qp)
{
	switch (READ_ONCE(qp->state)) {
	case IB_QPS_RTR:
	case IB_QPS_RTS:
	case IB_QPS_SQD:
	case IB_QPS_SQE:
		return true;
	default:
		return false;
	}
}

static bool uet_recv_may_invalidate(const struct uet_qp *qp, u64 match)
{
	return qp->mode == UET_EP_ROD && uet_mkey_may_invalidate(qp, match);
}

/**
 * uet_recv_get - struct uet_fep_ops.recv_get
 * @ep: endpoint
 * @op: UET_OP_SEND, _SEND_INVALIDATE, UET_OP_WRITE (immediate) or
 *	UET_OP_DATAGRAM_SEND
 * @len: bytes of the message
 * @match: datagrams: the Q_Key; SEND_INVALIDATE: the key
 * @hdr: datagrams: addresses
 * @d: for notifications
 *
 * Context: engine lock.
 * Return: the buffer, NULL for none, or ERR_PTR as the seam has it.
 */
struct uet_recv *uet_recv_get(struct uet_ep *ep, u8 op, u32 len, u64 match,
			      const struct uet_rx_hdr *hdr,
			      struct uet_defer *d)
{
	struct uet_qp *qp = uet_ep_priv(ep);
	bool data = op != UET_OP_WRITE;
	struct uet_recv_wr *wr;
	u8 status;

	if (!uet_qp_receives(qp))
		return NULL;
	if (qp->grh && (u32)match != READ_ONCE(qp->qkey))
		return ERR_PTR(-EPERM);
	if (op == UET_OP_SEND_INVALIDATE && !uet_recv_may_invalidate(qp, match))
		return ERR_PTR(-EPERM);
	wr = uet_recv_next(qp, data, &status);
	if (!wr)
		return NULL;
	if (status != IB_WC_SUCCESS) {
		uet_stat_inc(qp->dev->fep, UET_STAT_BAD_WQE);
		return uet_recv_fail(qp, wr, status, -EACCES, d);
	}

	wr->rx.skip = qp->grh ? UET_GRH_BYTES : 0;
	if (data && (u64)len + wr->rx.skip > wr->rx.room)
		return uet_recv_fail(qp, wr, IB_WC_LOC_LEN_ERR, -EMSGSIZE, d);
	if (qp->grh && !uet_recv_put_grh(wr, hdr, len))
		return uet_recv_fail(qp, wr, IB_WC_LOC_PROT_ERR, -EACCES, d);
	wr->vlan = qp->ib.qp_type == IB_QPT_GSI ? uet_recv_vlan(qp, hdr) :
						  0xffff;
	return &wr->rx;
}

/**
 * uet_recv_ready - struct uet_fep_ops.recv_ready
 * @ep: endpoint
 *
 * Context: engine lock.
 *
 * Return: true if a receive request waits for a message.
 */
bool uet_recv_ready(struct uet_ep *ep)
{
	struct uet_qp *qp = uet_ep_priv(ep);
	struct uet_rq *rq = qp->rxq;
	unsigned long irq;
	bool ready;

	if (!uet_qp_receives(qp))
		return false;
	irq = uet_queue_lock(&rq->lock, rq->user);
	ready = !rq->flushing && uet_rq_posted(rq);
	uet_queue_unlock(&rq->lock, rq->user, irq);
	return ready;
}

static void uet_recv_cqe(const struct uet_qp *qp, const struct uet_recv_wr *wr,
			 struct uet_cqe *cqe)
{
	const struct uet_recv *rx = &wr->rx;

	cqe->opcode = rx->op == UET_OP_WRITE ? IB_WC_RECV_RDMA_WITH_IMM :
					       IB_WC_RECV;
	cqe->byte_len = rx->len + rx->skip;
	cqe->job_id = rx->job_id;
	if (qp->mode != UET_EP_ROD)
		cqe->src_qp = rx->src_wire;
	if (rx->has_hdata) {
		cqe->flags |= UET_CQE_WITH_IMM;
		cqe->imm_data = qp->mode == UET_EP_RUD ? rx->hdata :
							 (u32)rx->hdata;
	}
	if (rx->op == UET_OP_SEND_INVALIDATE) {
		cqe->flags |= UET_CQE_WITH_INV;
		cqe->imm_data = (u32)rx->match;
	}
	/*
	 * WRITE carries the wish in its header data, uet-wire 4; of RU that is
	 * all immediate and wakes in any case.
	 */
	if (rx->solicited ||
	    (rx->op == UET_OP_WRITE &&
	     (qp->mode == UET_EP_RUD || rx->hdata & BIT_ULL(32))))
		cqe->flags |= UET_CQE_SOLICITED;
	if (qp->grh)
		cqe->flags |= UET_CQE_GRH;
	if (wr->vlan != 0xffff) {
		cqe->flags |= UET_CQE_VLAN;
		cqe->vlan_id = wr->vlan;
	}
}

static u8 uet_recv_status(int status)
{
	switch (status) {
	case UET_ST_OK:
		return IB_WC_SUCCESS;
	case UET_ST_FLUSHED:
		return IB_WC_WR_FLUSH_ERR;
	case UET_ST_PROT:
		return IB_WC_LOC_PROT_ERR;
	default:
		return IB_WC_REM_ABORT_ERR;
	}
}

/* Under the lock of the endpoint. */
static void uet_recv_count(struct uet_qp *qp, u32 len)
{
	struct uet_qp_stats *st = &qp->stats;

	WRITE_ONCE(st->rx_msgs, st->rx_msgs + 1);
	WRITE_ONCE(st->rx_bytes, st->rx_bytes + len);
}

/* A peer that gives up half way ends RC; UC only loses the buffer. */
static bool uet_recv_is_fatal(const struct uet_qp *qp, int status)
{
	if (status == UET_ST_OK || status == UET_ST_FLUSHED ||
	    qp->mode != UET_EP_ROD)
		return false;
	return !qp->unreliable || status == UET_ST_PROT;
}

/**
 * uet_recv_done - struct uet_fep_ops.recv_done
 * @ep: endpoint
 * @recv: what uet_recv_get() lent
 * @status: enum uet_status or enum uet_rc
 * @d: for notifications
 *
 * Context: engine lock.
 */
void uet_recv_done(struct uet_ep *ep, struct uet_recv *recv, int status,
		   struct uet_defer *d)
{
	struct uet_recv_wr *wr = container_of(recv, struct uet_recv_wr, rx);
	struct uet_qp *qp = uet_ep_priv(ep);
	struct uet_cqe cqe = {
		.wr_id = wr->wr_id,
		.status = uet_recv_status(status),
		.opcode = IB_WC_RECV,
		.vendor_err = status,
	};

	/* Somebody else may have invalidated the key since recv_get(). */
	if (status == UET_ST_OK && recv->op == UET_OP_SEND_INVALIDATE &&
	    uet_mkey_invalidate(qp, recv->match)) {
		status = UET_ST_PROT;
		cqe.status = IB_WC_LOC_ACCESS_ERR;
	}
	if (status == UET_ST_OK)
		uet_recv_cqe(qp, wr, &cqe);
	if (status == UET_ST_OK)
		uet_recv_count(qp, recv->len);
	if (READ_ONCE(qp->state) == IB_QPS_RTR &&
	    !test_and_set_bit(0, &qp->comm_est))
		uet_qp_event(qp, UET_QP_EV_COMM_EST);
	uet_rq_push(qp, &cqe, d);
	uet_recv_put(qp, wr);
	if (uet_recv_is_fatal(qp, status))
		uet_qp_to_error(qp, UET_QP_EV_FLUSH);
}

/*
 * Complete one posted entry as flushed. rq->lock held; the CQ lock is a leaf.
 */
static bool uet_rq_flush_one(struct uet_qp *qp, struct uet_defer *d)
{
	const struct uet_recv_wqe *wqe = qp->rq.wqe;

	if (!uet_rq_posted(&qp->rq))
		return false;
	uet_rq_take(&qp->rq);
	uet_rq_push_error(qp, wqe->wr_id, IB_WC_WR_FLUSH_ERR, 0, d);
	return true;
}

/*
 * Flush what is posted, at most one ring full: a process that goes on posting
 * brings its own call for each.
 */
static void uet_rq_flush_posted(struct uet_qp *qp, struct uet_defer *d)
{
	u32 left = qp->rq.ring ? qp->rq.ring->depth : 0;
	unsigned long irq;
	bool more = true;

	while (more && left--) {
		irq = uet_queue_lock(&qp->rq.lock, qp->rq.user);
		more = uet_rq_flush_one(qp, d);
		uet_queue_unlock(&qp->rq.lock, qp->rq.user, irq);
	}
}

/**
 * uet_rq_flush - from now on what is posted is flushed at once
 * @qp: in error; the engine holds no receive any more
 * @d: for notifications
 *
 * Context: process.
 */
void uet_rq_flush(struct uet_qp *qp, struct uet_defer *d)
{
	unsigned long irq;
	struct uet_rq *rq = &qp->rq;

	if (!rq->ring)
		return;
	irq = uet_queue_lock(&rq->lock, rq->user);
	rq->flushing = true;
	WRITE_ONCE(rq->ring->hdr->flags, UET_RING_KICK);
	uet_queue_unlock(&rq->lock, rq->user, irq);
	/*
	 * Pairs with the barrier of user space between its index and its look
	 * at the flag: one of us sees the other.
	 */
	smp_mb();
	uet_rq_flush_posted(qp, d);
}

/* User space has posted to a ring that asks for a call. Context: process. */
static int uet_recv_kick(struct uet_qp *qp)
{
	struct uet_defer d;

	uet_defer_init(&d);
	if (READ_ONCE(qp->rq.flushing))
		uet_rq_flush_posted(qp, &d);
	uet_defer_run(&d);
	return 0;
}

/**
 * uet_post_recv - post receive requests
 * @ib: QP
 * @wr: requests of the kernel; none for a QP of user space, whose requests are
 *	in its ring
 * @bad_wr: first one that was not posted
 *
 * Context: any.
 *
 * Return: 0, or a negative errno; the requests before @bad_wr are posted.
 */
int uet_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr)
{
	struct uet_qp *qp = to_uqp(ib);
	unsigned long irq;
	int err = 0;

	if (qp->user) {
		/* Its requests are in the ring; one given here would be lost */
		if (wr) {
			*bad_wr = wr;
			return -EINVAL;
		}
		return uet_recv_kick(qp);
	}
	irq = uet_queue_lock(&qp->rq.lock, qp->rq.user);
	if (READ_ONCE(qp->state) == IB_QPS_RESET)
		err = -EINVAL;
	while (wr && !err) {
		err = uet_rq_put(&qp->rq, wr);
		if (!err)
			wr = wr->next;
	}
	while (qp->rq.flushing && uet_rq_flush_one(qp, NULL))
		;
	uet_queue_unlock(&qp->rq.lock, qp->rq.user, irq);
	if (err)
		*bad_wr = wr;
	return err;
}
