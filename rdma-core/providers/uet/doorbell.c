// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Doorbells. One is a system call, inside which the kernel transmits. A program
 * that posts request after request without asking for completions in between
 * need not pay that for each: the kernel then promises (UET_RING_LOOKING) to
 * look at the queue by itself soon, and the doorbell waits until the program
 * polls and finds nothing. What it has posted by then leaves together.
 */

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "uet.h"

/*
 * The doorbell is the write command POST_SEND without work requests. write()
 * is the quickest way to give it, but the kernel refuses that to a process
 * that has changed its credentials since it opened the device; the ioctl, which
 * libibverbs prefers where there is one, has no such rule.
 */
static int ring_by_write(struct uet_context *ctx, uint32_t handle)
{
	struct ib_uverbs_post_send_resp resp;
	struct ibv_post_send cmd = {
		.hdr.command = IB_USER_VERBS_CMD_POST_SEND,
		.hdr.in_words = sizeof(cmd) / 4,
		.hdr.out_words = sizeof(resp) / 4,
		.response = (uintptr_t)&resp,
		.qp_handle = handle,
		.wqe_size = sizeof(struct ib_uverbs_send_wr),
	};

	if (atomic_load_explicit(&ctx->no_write, memory_order_relaxed))
		return EACCES;
	if (write(ctx->vctx.context.cmd_fd, &cmd, sizeof(cmd)) == sizeof(cmd))
		return 0;
	if (errno == EACCES)
		atomic_store_explicit(&ctx->no_write, true,
				      memory_order_relaxed);
	return errno;
}

static int ring(struct uet_qp *qp)
{
	struct ibv_qp *ibqp = &qp->vqp.qp;
	struct ibv_send_wr *bad_wr;
	int err;

	err = ring_by_write(to_uctx(ibqp->context), ibqp->handle);
	if (err != EACCES)
		return err;
	return ibv_cmd_post_send(ibqp, NULL, &bad_wr);
}

/* Put the doorbell off, if the CQ can remember it. */
static bool wait_for_poll(struct uet_cq *cq, struct uet_qp *qp)
{
	bool waits;

	uet_lock(&cq->lazy_lock);
	waits = qp->lazy || cq->nr_lazy < UET_LAZY_MAX;
	if (waits && !qp->lazy++)
		cq->lazy[cq->nr_lazy++] = qp;
	uet_unlock(&cq->lazy_lock);
	return waits;
}

/**
 * uet_ring_lazy - ring the doorbells that were put off
 * @cq: completion queue; whether it is locked does not matter, but this is where
 *	the kernel transmits
 *
 * One request since the last time is no stream. A QP may be destroyed as soon
 * as the lock is given up, so that only its handle is used then; what becomes
 * of the doorbell shows in the completions.
 */
void uet_ring_lazy(struct uet_cq *cq)
{
	uint32_t handles[UET_LAZY_MAX];
	unsigned int n, i;

	if (!atomic_load_explicit(&cq->nr_lazy, memory_order_relaxed))
		return;
	uet_lock(&cq->lazy_lock);
	n = cq->nr_lazy;
	for (i = 0; i < n; i++) {
		struct uet_qp *qp = cq->lazy[i];

		handles[i] = qp->vqp.qp.handle;
		if (qp->lazy == 1)
			qp->stream = false;
		qp->lazy = 0;
	}
	cq->nr_lazy = 0;
	uet_unlock(&cq->lazy_lock);

	for (i = 0; i < n; i++)
		ring_by_write(to_uctx(cq->vcq.cq.context), handles[i]);
}

/**
 * uet_forget_lazy - a QP goes away
 * @qp: nobody posts to it any more
 */
void uet_forget_lazy(struct uet_qp *qp)
{
	struct uet_cq *cq = to_ucq(qp->vqp.qp.send_cq);
	unsigned int i;

	uet_lock(&cq->lazy_lock);
	for (i = 0; i < cq->nr_lazy; i++)
		if (cq->lazy[i] == qp)
			cq->lazy[i--] = cq->lazy[--cq->nr_lazy];
	qp->lazy = 0;
	uet_unlock(&cq->lazy_lock);
}

/**
 * uet_doorbell - tell the kernel of new entries in the send queue
 * @qp: the QP; its lock is not held, since this is where the kernel transmits
 *
 * Return: 0 or an errno value; EIO when the device is gone
 */
int uet_doorbell(struct uet_qp *qp)
{
	struct uet_cq *cq = to_ucq(qp->vqp.qp.send_cq);
	uint32_t polls = atomic_load_explicit(&cq->polls, memory_order_relaxed);

	if (qp->polls == polls)
		qp->stream = true;
	qp->polls = polls;
	uet_store_hints(&qp->sq.ring, qp->stream ? UET_RING_STREAM : 0);
	if (qp->stream && uet_kernel_looks(&qp->sq.ring) &&
	    wait_for_poll(cq, qp))
		return 0;
	return ring(qp);
}
