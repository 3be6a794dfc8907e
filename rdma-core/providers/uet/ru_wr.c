// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Work requests of reliable-unconnected QPs, beside those of ibv_wr_*() in wr.c:
 * where to, in which job, keys and immediates of 64 bits.
 */

#include <endian.h>
#include <errno.h>

#include "dv.h"
#include "wqe.h"

#define OPS_KNOWN	(UETDV_QP_EX_WITH_RU | UETDV_QP_EX_WITH_SEND_IMM64 | \
			 UETDV_QP_EX_WITH_RDMA_READ64 |			\
			 UETDV_QP_EX_WITH_RDMA_WRITE64 |		\
			 UETDV_QP_EX_WITH_RDMA_WRITE64_IMM |		\
			 UETDV_QP_EX_WITH_RDMA_WRITE64_IMM64 |		\
			 UETDV_QP_EX_WITH_ATOMIC64)

static struct uet_qp *to_uqp_dvx(struct uetdv_qp_ex *dvx)
{
	return container_of(dvx, struct uet_qp, ru.dvx);
}

static void wr_set_ru_addr(struct uetdv_qp_ex *dvx, struct ibv_ah *ah,
			   uint32_t remote_qpn, uint32_t jkey)
{
	struct uet_send_wqe *wqe = to_uqp_dvx(dvx)->wqe;

	if (!wqe)
		return;
	wqe->flags &= ~UET_WQE_ADDR_IDX;
	wqe->addr_idx = 0;
	wqe->ah = to_uah(ah)->number;
	wqe->dest_qpn = remote_qpn;
	wqe->jkey = jkey;
}

static void wr_set_job_addr(struct uetdv_qp_ex *dvx, uint32_t addr_idx,
			    uint32_t jkey)
{
	struct uet_send_wqe *wqe = to_uqp_dvx(dvx)->wqe;

	if (!wqe)
		return;
	wqe->flags |= UET_WQE_ADDR_IDX;
	wqe->addr_idx = addr_idx;
	wqe->ah = 0;
	wqe->dest_qpn = 0;
	wqe->jkey = jkey;
}

static void wr_set_jkey(struct uetdv_qp_ex *dvx, uint32_t jkey)
{
	struct uet_send_wqe *wqe = to_uqp_dvx(dvx)->wqe;

	if (wqe)
		wqe->jkey = jkey;
}

static struct uet_send_wqe *wr_new(struct uetdv_qp_ex *dvx, uint8_t opcode)
{
	return uet_wr_new(&to_uqp_dvx(dvx)->vqp.qp_ex, opcode);
}

static struct uet_send_wqe *wr_rdma(struct uetdv_qp_ex *dvx, uint8_t opcode,
				    uint64_t rkey, uint64_t remote_addr)
{
	struct uet_send_wqe *wqe = wr_new(dvx, opcode);

	if (wqe) {
		wqe->rkey = rkey;
		wqe->remote_addr = remote_addr;
	}
	return wqe;
}

static void wr_send_imm64(struct uetdv_qp_ex *dvx, __be64 imm_data)
{
	struct uet_send_wqe *wqe = wr_new(dvx, UET_WQE_SEND_IMM);

	if (wqe)
		wqe->imm_data = be64toh(imm_data);
}

static void wr_rdma_read64(struct uetdv_qp_ex *dvx, uint64_t rkey,
			   uint64_t remote_addr)
{
	wr_rdma(dvx, UET_WQE_READ, rkey, remote_addr);
}

static void wr_rdma_write64(struct uetdv_qp_ex *dvx, uint64_t rkey,
			    uint64_t remote_addr)
{
	wr_rdma(dvx, UET_WQE_WRITE, rkey, remote_addr);
}

static void wr_rdma_write64_imm(struct uetdv_qp_ex *dvx, uint64_t rkey,
				uint64_t remote_addr, __be32 imm_data)
{
	struct uet_send_wqe *wqe;

	wqe = wr_rdma(dvx, UET_WQE_WRITE_IMM, rkey, remote_addr);
	if (wqe)
		wqe->imm_data = be32toh(imm_data);
}

static void wr_rdma_write64_imm64(struct uetdv_qp_ex *dvx, uint64_t rkey,
				  uint64_t remote_addr, __be64 imm_data)
{
	struct uet_send_wqe *wqe;

	wqe = wr_rdma(dvx, UET_WQE_WRITE_IMM, rkey, remote_addr);
	if (wqe)
		wqe->imm_data = be64toh(imm_data);
}

static void wr_atomic_cmp_swp64(struct uetdv_qp_ex *dvx, uint64_t rkey,
				uint64_t remote_addr, uint64_t compare,
				uint64_t swap)
{
	struct uet_send_wqe *wqe;

	wqe = wr_rdma(dvx, UET_WQE_CMP_SWAP, rkey, remote_addr);
	if (wqe) {
		wqe->compare_add = compare;
		wqe->swap = swap;
	}
}

static void wr_atomic_fetch_add64(struct uetdv_qp_ex *dvx, uint64_t rkey,
				  uint64_t remote_addr, uint64_t add)
{
	struct uet_send_wqe *wqe;

	wqe = wr_rdma(dvx, UET_WQE_FETCH_ADD, rkey, remote_addr);
	if (wqe)
		wqe->compare_add = add;
}

static void set_builders(struct uetdv_qp_ex *dvx, uint32_t send_ops)
{
	if (send_ops & UETDV_QP_EX_WITH_SEND_IMM64)
		dvx->wr_send_imm64 = wr_send_imm64;
	if (send_ops & UETDV_QP_EX_WITH_RDMA_READ64)
		dvx->wr_rdma_read64 = wr_rdma_read64;
	if (send_ops & UETDV_QP_EX_WITH_RDMA_WRITE64)
		dvx->wr_rdma_write64 = wr_rdma_write64;
	if (send_ops & UETDV_QP_EX_WITH_RDMA_WRITE64_IMM)
		dvx->wr_rdma_write64_imm = wr_rdma_write64_imm;
	if (send_ops & UETDV_QP_EX_WITH_RDMA_WRITE64_IMM64)
		dvx->wr_rdma_write64_imm64 = wr_rdma_write64_imm64;
	if (send_ops & UETDV_QP_EX_WITH_ATOMIC64) {
		dvx->wr_atomic_cmp_swp64 = wr_atomic_cmp_swp64;
		dvx->wr_atomic_fetch_add64 = wr_atomic_fetch_add64;
	}
}

/**
 * uet_set_ru_ops - make a QP usable with uetdv_wr_*()
 * @qp: RU QP, just created
 * @send_ops: enum uetdv_send_ops
 *
 * Return: 0 or EOPNOTSUPP
 */
int uet_set_ru_ops(struct uet_qp *qp, uint32_t send_ops)
{
	struct uetdv_qp_ex *dvx = &qp->ru.dvx;

	if (!check_comp_mask(send_ops, OPS_KNOWN) ||
	    (send_ops & UETDV_QP_EX_WITH_ATOMIC64 &&
	     !(qp->ops & 1U << UET_WQE_FETCH_ADD)))
		return EOPNOTSUPP;
	if (!send_ops)
		return 0;

	qp->ru.send_ops = send_ops;
	set_builders(dvx, send_ops);
	dvx->wr_set_ru_addr = wr_set_ru_addr;
	dvx->wr_set_job_addr = wr_set_job_addr;
	dvx->wr_set_jkey = wr_set_jkey;
	/* Starting, ending and data are verbs' own, asked for or not. */
	if (!(qp->vqp.comp_mask & VERBS_QP_EX))
		uet_set_wr_ops(qp, 0);
	return 0;
}

struct uetdv_qp_ex *uetdv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *ibqp)
{
	struct uet_qp *qp;

	if (uet_is_uet(ibqp->qp_base.context)) {
		qp = to_uqp_ex(ibqp);
		if (qp->driver_type == UET_QPT_RU && qp->ru.send_ops)
			return &qp->ru.dvx;
	}
	errno = EOPNOTSUPP;
	return NULL;
}
