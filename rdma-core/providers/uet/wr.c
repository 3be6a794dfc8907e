// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * ibv_wr_*(): work requests built piece by piece, a batch at a time. Between
 * ibv_wr_start() and ibv_wr_complete() the send queue is locked and prod in the
 * ring stays as it was, so that the kernel sees the batch as a whole or not at
 * all.
 */

#include <endian.h>
#include <errno.h>

#include "uet.h"
#include "wqe.h"

static void wr_start(struct ibv_qp_ex *ibqp)
{
	struct uet_qp *qp = to_uqp_ex(ibqp);

	uet_lock(&qp->sq.lock);
	qp->wr_first = qp->sq.prod;
	qp->wr_err = uet_may_send(qp) ? 0 : EINVAL;
	qp->wqe = NULL;
}

/* The batch ends; what it built is taken back unless all of it is right. */
static int wr_end(struct uet_qp *qp, int err)
{
	if (err)
		qp->sq.prod = qp->wr_first;
	else
		uet_store_prod(&qp->sq.ring, qp->sq.prod);
	qp->wqe = NULL;
	uet_unlock(&qp->sq.lock);
	return err;
}

static int wr_complete(struct ibv_qp_ex *ibqp)
{
	struct uet_qp *qp = to_uqp_ex(ibqp);
	bool empty = qp->sq.prod == qp->wr_first;
	int err;

	err = wr_end(qp, qp->wr_err);
	if (err || empty)
		return err;
	return uet_doorbell(qp);
}

static void wr_abort(struct ibv_qp_ex *ibqp)
{
	wr_end(to_uqp_ex(ibqp), ECANCELED);
}

/* Later calls of the batch do nothing, and ibv_wr_complete() says why. */
static void wr_fail(struct uet_qp *qp, int err)
{
	if (!qp->wr_err)
		qp->wr_err = err;
	qp->wqe = NULL;
}

/* Begin a work request; NULL after an error. */
struct uet_send_wqe *uet_wr_new(struct ibv_qp_ex *ibqp, uint8_t opcode)
{
	struct uet_qp *qp = to_uqp_ex(ibqp);
	struct uet_send_wqe *wqe;

	if (qp->wr_err)
		return NULL;

	wqe = uet_free_entry(&qp->sq);
	if (!wqe) {
		wr_fail(qp, ENOMEM);
		return NULL;
	}

	*wqe = (struct uet_send_wqe) {
		.wr_id = ibqp->wr_id,
		.opcode = opcode,
		.flags = uet_wqe_flags(qp, ibqp->wr_flags),
	};
	qp->sq.prod++;
	qp->wqe = wqe;
	return wqe;
}

static void wr_send(struct ibv_qp_ex *ibqp)
{
	uet_wr_new(ibqp, UET_WQE_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ibqp, __be32 imm_data)
{
	struct uet_send_wqe *wqe = uet_wr_new(ibqp, UET_WQE_SEND_IMM);

	if (wqe)
		wqe->imm_data = be32toh(imm_data);
}

static struct uet_send_wqe *wr_rdma(struct ibv_qp_ex *ibqp, uint8_t opcode,
				    uint32_t rkey, uint64_t remote_addr)
{
	struct uet_send_wqe *wqe = uet_wr_new(ibqp, opcode);

	if (wqe) {
		wqe->rkey = rkey;
		wqe->remote_addr = remote_addr;
	}
	return wqe;
}

static void wr_rdma_write(struct ibv_qp_ex *ibqp, uint32_t rkey,
			  uint64_t remote_addr)
{
	wr_rdma(ibqp, UET_WQE_WRITE, rkey, remote_addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ibqp, uint32_t rkey,
			      uint64_t remote_addr, __be32 imm_data)
{
	struct uet_send_wqe *wqe;

	wqe = wr_rdma(ibqp, UET_WQE_WRITE_IMM, rkey, remote_addr);
	if (wqe)
		wqe->imm_data = be32toh(imm_data);
}

static void wr_rdma_read(struct ibv_qp_ex *ibqp, uint32_t rkey,
			 uint64_t remote_addr)
{
	wr_rdma(ibqp, UET_WQE_READ, rkey, remote_addr);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ibqp, uint32_t rkey,
			      uint64_t remote_addr, uint64_t compare,
			      uint64_t swap)
{
	struct uet_send_wqe *wqe;

	wqe = wr_rdma(ibqp, UET_WQE_CMP_SWAP, rkey, remote_addr);
	if (wqe) {
		wqe->compare_add = compare;
		wqe->swap = swap;
	}
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ibqp, uint32_t rkey,
				uint64_t remote_addr, uint64_t add)
{
	struct uet_send_wqe *wqe;

	wqe = wr_rdma(ibqp, UET_WQE_FETCH_ADD, rkey, remote_addr);
	if (wqe)
		wqe->compare_add = add;
}

static void wr_atomic_write(struct ibv_qp_ex *ibqp, uint32_t rkey,
			    uint64_t remote_addr, const void *atomic_wr)
{
	struct uet_send_wqe *wqe;

	wqe = wr_rdma(ibqp, UET_WQE_ATOMIC_WRITE, rkey, remote_addr);
	if (wqe)
		memcpy(&wqe->compare_add, atomic_wr, sizeof(wqe->compare_add));
}

static void wr_flush(struct ibv_qp_ex *ibqp, uint32_t rkey,
		     uint64_t remote_addr, size_t len, uint8_t type,
		     uint8_t level)
{
	struct uet_send_wqe *wqe;

	wqe = wr_rdma(ibqp, UET_WQE_FLUSH, rkey, remote_addr);
	if (wqe) {
		wqe->compare_add = len;
		wqe->swap = type | level << 8;
	}
}

static void wr_send_inv(struct ibv_qp_ex *ibqp, uint32_t invalidate_rkey)
{
	wr_rdma(ibqp, UET_WQE_SEND_INV, invalidate_rkey, 0);
}

static void wr_local_inv(struct ibv_qp_ex *ibqp, uint32_t invalidate_rkey)
{
	wr_rdma(ibqp, UET_WQE_LOCAL_INV, invalidate_rkey, 0);
}

/* Windows of type 1 are bound by ibv_bind_mw(). */
static void wr_bind_mw(struct ibv_qp_ex *ibqp, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct uet_send_wqe *wqe = uet_wr_new(ibqp, UET_WQE_BIND_MW);
	int err;

	if (!wqe)
		return;
	err = mw->type == IBV_MW_TYPE_2 && info->mr ?
	      uet_put_bind(wqe, rkey, info) : EINVAL;
	if (err)
		wr_fail(to_uqp_ex(ibqp), err);
}

static void wr_set_ud_addr(struct ibv_qp_ex *ibqp, struct ibv_ah *ah,
			   uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct uet_qp *qp = to_uqp_ex(ibqp);

	if (!qp->wqe)
		return;
	qp->wqe->ah = to_uah(ah)->number;
	qp->wqe->dest_qpn = remote_qpn;
	qp->wqe->qkey = remote_qkey;
}

/* Operations that are told all by their own call. */
static bool has_no_list(uint8_t opcode)
{
	return uet_op_is_local(opcode) || opcode == UET_WQE_ATOMIC_WRITE ||
	       opcode == UET_WQE_FLUSH;
}

static void wr_set_sge_list(struct ibv_qp_ex *ibqp, size_t num_sge,
			    const struct ibv_sge *sg_list)
{
	struct uet_qp *qp = to_uqp_ex(ibqp);

	if (!qp->wqe)
		return;
	if (num_sge > qp->sq.max_sge || has_no_list(qp->wqe->opcode)) {
		wr_fail(qp, EINVAL);
		return;
	}
	qp->wqe->num_sge = num_sge;
	uet_put_sges((struct uet_wqe_sge *)(qp->wqe + 1), sg_list, num_sge);
}

static void wr_set_sge(struct ibv_qp_ex *ibqp, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	struct ibv_sge sge = {
		.addr = addr,
		.length = length,
		.lkey = lkey,
	};

	wr_set_sge_list(ibqp, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ibqp, size_t num_buf,
				    const struct ibv_data_buf *buf_list)
{
	struct uet_qp *qp = to_uqp_ex(ibqp);
	struct uet_send_wqe *wqe = qp->wqe;
	size_t i;

	if (!wqe)
		return;
	if (!uet_op_may_inline(wqe->opcode) || has_no_list(wqe->opcode)) {
		wr_fail(qp, EINVAL);
		return;
	}

	wqe->flags |= UET_WQE_INLINE;
	for (i = 0; i < num_buf; i++) {
		if (!uet_put_inline(&qp->sq, wqe, buf_list[i].addr,
				    buf_list[i].length)) {
			wr_fail(qp, EINVAL);
			return;
		}
	}
}

static void wr_set_inline_data(struct ibv_qp_ex *ibqp, void *addr,
			       size_t length)
{
	struct ibv_data_buf buf = {
		.addr = addr,
		.length = length,
	};

	wr_set_inline_data_list(ibqp, 1, &buf);
}

static void set_builders(struct ibv_qp_ex *ibqp, uint64_t flags)
{
	if (flags & IBV_QP_EX_WITH_SEND)
		ibqp->wr_send = wr_send;
	if (flags & IBV_QP_EX_WITH_SEND_WITH_IMM)
		ibqp->wr_send_imm = wr_send_imm;
	if (flags & IBV_QP_EX_WITH_RDMA_WRITE)
		ibqp->wr_rdma_write = wr_rdma_write;
	if (flags & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		ibqp->wr_rdma_write_imm = wr_rdma_write_imm;
	if (flags & IBV_QP_EX_WITH_RDMA_READ)
		ibqp->wr_rdma_read = wr_rdma_read;
	if (flags & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		ibqp->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	if (flags & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		ibqp->wr_atomic_fetch_add = wr_atomic_fetch_add;
	if (flags & IBV_QP_EX_WITH_SEND_WITH_INV)
		ibqp->wr_send_inv = wr_send_inv;
	if (flags & IBV_QP_EX_WITH_LOCAL_INV)
		ibqp->wr_local_inv = wr_local_inv;
	if (flags & IBV_QP_EX_WITH_BIND_MW)
		ibqp->wr_bind_mw = wr_bind_mw;
	if (flags & IBV_QP_EX_WITH_ATOMIC_WRITE)
		ibqp->wr_atomic_write = wr_atomic_write;
	if (flags & IBV_QP_EX_WITH_FLUSH)
		ibqp->wr_flush = wr_flush;
}

/**
 * uet_set_wr_ops - make a QP usable with ibv_wr_*()
 * @qp: the QP, just created
 * @flags: IBV_QP_EX_WITH_*, all of which this kind of QP has
 */
void uet_set_wr_ops(struct uet_qp *qp, uint64_t flags)
{
	struct ibv_qp_ex *ibqp = &qp->vqp.qp_ex;

	set_builders(ibqp, flags);
	ibqp->wr_set_inline_data = wr_set_inline_data;
	ibqp->wr_set_inline_data_list = wr_set_inline_data_list;
	ibqp->wr_set_sge = wr_set_sge;
	ibqp->wr_set_sge_list = wr_set_sge_list;
	if (qp->addressed)
		ibqp->wr_set_ud_addr = wr_set_ud_addr;
	ibqp->wr_start = wr_start;
	ibqp->wr_complete = wr_complete;
	ibqp->wr_abort = wr_abort;
	qp->vqp.comp_mask |= VERBS_QP_EX;
}
