/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Queues without a kernel: the commands of libibverbs are replaced by a few
 * lines that keep the rings in a memfd, and the tests play the kernel's part on
 * a second mapping of it. Included by each test program, once.
 */
#include <config.h>

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../uet.h"
#include "../uet_cmd.h"

#define DEPTH		8
#define MAX_SGE		3
#define MAX_INLINE	40
#define SQ_STRIDE	(sizeof(struct uet_send_wqe) + 48)
#define RQ_STRIDE	(sizeof(struct uet_recv_wqe) + 48)
#define RING_BYTES	4096
#define START		0xfffffffdu	/* the indices soon wrap around */

static int line_of_failure;

#define CHECK(cond) do {						\
	if (!(cond)) {							\
		fprintf(stderr, "line %d: %s\n", __LINE__, #cond);	\
		line_of_failure = __LINE__;				\
	}								\
} while (0)

static struct uet_context ctx;
static struct uet_pd pd = { .pd.context = &ctx.vctx.context };
static int memfd, nr_rings, nr_doorbells, nr_ioctls, nr_kicks, write_error;
static uint32_t next_qpn = 0x1000;
static struct uet_create_qp_req asked;	/* the last QP that was created */
static size_t asked_size;

/* ------------------------------------------------------------------ */
/* The kernel's part                                                   */

static struct uet_ring *kernel_map(uint64_t offset)
{
	return mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memfd,
		    offset);
}

static void new_ring(struct uet_ring_info *info, uint32_t stride)
{
	struct uet_ring *ring;

	info->mmap_offset = (uint64_t)nr_rings++ * RING_BYTES;
	info->mmap_size = RING_BYTES;
	info->depth = DEPTH;
	info->stride = stride;
	if (ftruncate(memfd, (off_t)nr_rings * RING_BYTES))
		abort();
	ring = kernel_map(info->mmap_offset);
	ring->prod = START;
	ring->cons = START;
	munmap(ring, RING_BYTES);
}

/* The provider's mapping is as good as a second one to look at a ring. */
static __attribute__((unused))
struct uet_send_wqe *sent(struct ibv_qp *qp, uint32_t n)
{
	return uet_entry(&to_uqp(qp)->sq.ring, START + n);
}

static __attribute__((unused))
struct uet_wqe_sge *sges(void *wqe, size_t size)
{
	return (struct uet_wqe_sge *)((uint8_t *)wqe + size);
}

static __attribute__((unused))
void complete(struct ibv_cq *ibcq, uint32_t qpn, uint64_t wr_id)
{
	struct uet_map *map = &to_ucq(ibcq)->ring;
	uint32_t prod = uet_load_prod(map);

	*(struct uet_cqe *)uet_entry(map, prod) = (struct uet_cqe) {
		.wr_id = wr_id,
		.qp_num = qpn,
		.opcode = IBV_WC_RECV,
		.flags = UET_CQE_WITH_IMM | UET_CQE_SOLICITED,
		.imm_data = 0x01020304,
		.byte_len = wr_id + 100,
		.timestamp = 5000 + wr_id,
		.src_qp = 77,
	};
	uet_store_prod(map, prod + 1);
}

bool uet_is_uet(struct ibv_context *ibctx)
{
	return ibctx == &ctx.vctx.context;
}

ssize_t write(int fd, const void *buf, size_t len)
{
	const struct ibv_post_send *cmd = buf;

	if (cmd->hdr.command != IB_USER_VERBS_CMD_POST_SEND || cmd->wr_count)
		abort();
	errno = write_error;
	if (write_error)
		return -1;
	nr_doorbells++;
	return len;
}

int ibv_cmd_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		      struct ibv_send_wr **bad_wr)
{
	nr_ioctls++;
	return wr ? EINVAL : 0;
}

int ibv_cmd_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad_wr)
{
	nr_kicks++;
	return wr ? EINVAL : 0;
}

int ibv_cmd_create_cq(struct ibv_context *ibctx, int cqe,
		      struct ibv_comp_channel *channel, int comp_vector,
		      struct ibv_cq *cq, struct ibv_create_cq *cmd, size_t size,
		      struct ib_uverbs_create_cq_resp *resp, size_t resp_size)
{
	struct uetcmd_create_cq_resp *r = (void *)resp;

	cq->context = ibctx;
	new_ring(&r->cq, sizeof(struct uet_cqe));
	return 0;
}

int ibv_cmd_destroy_cq(struct ibv_cq *cq)
{
	return 0;
}

int ibv_cmd_create_qp_ex(struct ibv_context *ibctx, struct verbs_qp *qp,
			 struct ibv_qp_init_attr_ex *attr,
			 struct ibv_create_qp *cmd, size_t cmd_size,
			 struct ib_uverbs_create_qp_resp *resp,
			 size_t resp_size)
{
	struct uetcmd_create_qp_resp *r = (void *)resp;
	struct uetcmd_create_qp *c = (void *)cmd;

	asked_size = cmd_size - offsetof(struct uetcmd_create_qp, drv_payload);
	asked = (struct uet_create_qp_req) {};
	memcpy(&asked, &c->drv_payload, asked_size);
	qp->qp.context = ibctx;
	qp->qp.qp_num = next_qpn++;
	qp->qp.send_cq = attr->send_cq;
	qp->qp.recv_cq = attr->recv_cq;
	qp->qp.qp_type = attr->qp_type;
	attr->cap.max_send_sge = MAX_SGE;
	attr->cap.max_recv_sge = MAX_SGE;
	attr->cap.max_inline_data = MAX_INLINE;
	new_ring(&r->sq, SQ_STRIDE);
	new_ring(&r->rq, RQ_STRIDE);
	r->wire_qpn = qp->qp.qp_num;
	if (asked.comp_mask & UET_CREATE_QP_RU) {
		r->comp_mask = UET_CREATE_QP_RESP_RU;
		r->addressing = asked.addressing;
		r->src_id = asked.comp_mask & UET_CREATE_QP_SRC_ID ?
			    asked.src_id : r->wire_qpn;
		if (asked.wire_qpn)
			r->wire_qpn = asked.wire_qpn;
		r->granted.imm_data_size = 64;
	}
	return 0;
}

int ibv_cmd_destroy_qp(struct ibv_qp *qp)
{
	return 0;
}

int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		      struct ibv_modify_qp *cmd, size_t cmd_size)
{
	if (attr->qp_state == IBV_QPS_RESET) {
		to_uqp(qp)->sq.ring.hdr->prod = 0;
		to_uqp(qp)->sq.ring.hdr->cons = 0;
		to_uqp(qp)->rq.ring.hdr->prod = 0;
		to_uqp(qp)->rq.ring.hdr->cons = 0;
	}
	return 0;
}

int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd,
		      size_t cmd_size, struct ib_uverbs_resize_cq_resp *resp,
		      size_t resp_size)
{
	struct uetcmd_resize_cq_resp *r = (void *)resp;
	struct uet_map *old = &to_ucq(cq)->ring;
	struct uet_ring *ring;
	uint32_t i;

	if (cqe > DEPTH)
		return EINVAL;
	new_ring(&r->cq, sizeof(struct uet_cqe));
	ring = kernel_map(r->cq.mmap_offset);
	for (i = old->hdr->cons; i != old->hdr->prod; i++, ring->prod++)
		memcpy((uint8_t *)ring + UET_RING_HDR + ring->prod % DEPTH *
		       sizeof(struct uet_cqe), uet_entry(old, i),
		       sizeof(struct uet_cqe));
	munmap(ring, RING_BYTES);
	return 0;
}

int ibv_cmd_create_srq(struct ibv_pd *ibpd, struct ibv_srq *srq,
		       struct ibv_srq_init_attr *attr,
		       struct ibv_create_srq *cmd, size_t cmd_size,
		       struct ib_uverbs_create_srq_resp *resp, size_t resp_size)
{
	struct uetcmd_create_srq_resp *r = (void *)resp;

	srq->context = ibpd->context;
	attr->attr.max_sge = MAX_SGE;
	r->srq_num = 0x77;
	new_ring(&r->rq, RQ_STRIDE);
	return 0;
}

int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask,
		       struct ibv_modify_srq *cmd, size_t cmd_size)
{
	struct uetcmd_modify_srq *c = (void *)cmd;

	if (mask & IBV_SRQ_MAX_WR)
		new_ring(&((struct uet_modify_srq_resp *)(uintptr_t)
			   c->resp_addr)->rq, RQ_STRIDE);
	return 0;
}

int ibv_cmd_destroy_srq(struct ibv_srq *srq)
{
	return 0;
}

int ibv_cmd_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			  struct ibv_recv_wr **bad_wr)
{
	nr_kicks++;
	return wr ? EINVAL : 0;
}

int ibv_cmd_dealloc_pd(struct ibv_pd *ibpd)
{
	return 0;
}

/* ------------------------------------------------------------------ */

static __attribute__((unused))
struct ibv_qp *make_qp(enum ibv_qp_type type, uint32_t driver_type,
			      struct ibv_cq *cq, uint64_t send_ops)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     (send_ops ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0),
		.pd = &pd.pd,
		.send_ops_flags = send_ops,
	};
	const struct uet_create_qp_req req = { .driver_qp_type = driver_type };
	struct ibv_qp *qp;

	qp = uet_create_any_qp(&ctx.vctx.context, &attr, &req);
	if (qp)
		qp->state = IBV_QPS_RTS;
	return qp;
}

static __attribute__((unused))
int post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;
	int ret = uet_post_send(qp, wr, &bad);

	if (ret)
		CHECK(bad == wr);
	return ret;
}
