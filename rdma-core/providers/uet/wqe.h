/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Filling entries of a send or receive queue. All under the queue's lock. */
#ifndef UET_WQE_H
#define UET_WQE_H

#include <errno.h>
#include <string.h>

#include "uet.h"

/*
 * The next free entry, or NULL when the queue is full. The caller counts prod
 * up once the entry is complete.
 */
static inline void *uet_free_entry(struct uet_wq *wq)
{
	uint32_t depth = wq->ring.depth;

	if (wq->prod - wq->cons >= depth) {
		wq->cons = uet_load_cons(&wq->ring);
		if (wq->prod - wq->cons >= depth)
			return NULL;
	}
	return uet_entry(&wq->ring, wq->prod);
}

/* enum ibv_send_flags as enum uet_wqe_flags; inline is not among them. */
static inline uint8_t uet_wqe_flags(const struct uet_qp *qp, unsigned int flags)
{
	return qp->always |
	       (flags & IBV_SEND_SIGNALED ? UET_WQE_SIGNALED : 0) |
	       (flags & IBV_SEND_SOLICITED ? UET_WQE_SOLICITED : 0) |
	       (flags & IBV_SEND_FENCE ? UET_WQE_FENCE : 0) |
	       (flags & UETDV_SEND_DELIVERY_COMPLETE &&
		qp->driver_type == UET_QPT_RU ? UET_WQE_DELIVERY : 0);
}

static inline void uet_put_sge(struct uet_wqe_sge *to, uint64_t addr,
			       uint32_t length, uint32_t lkey)
{
	to->addr = addr;
	to->length = length;
	to->lkey = lkey;
}

static inline void uet_put_sges(struct uet_wqe_sge *to,
				const struct ibv_sge *sge, size_t num)
{
	size_t i;

	for (i = 0; i < num; i++)
		uet_put_sge(&to[i], sge[i].addr, sge[i].length, sge[i].lkey);
}

/*
 * Append inline data to a work request. False if it would get too long.
 */
static inline bool uet_put_inline(const struct uet_wq *sq,
				  struct uet_send_wqe *wqe, const void *data,
				  size_t length)
{
	if (length > sq->max_inline - wqe->inline_len)
		return false;
	if (length)
		memcpy((uint8_t *)(wqe + 1) + wqe->inline_len, data, length);
	wqe->inline_len += length;
	return true;
}

/* Operations whose data does not only come back. */
static inline bool uet_op_may_inline(uint8_t opcode)
{
	return opcode <= UET_WQE_WRITE_IMM || opcode == UET_WQE_SEND_INV ||
	       opcode == UET_WQE_ATOMIC_WRITE;
}

/* Operations that move no data at all. */
static inline bool uet_op_is_local(uint8_t opcode)
{
	return opcode == UET_WQE_LOCAL_INV || opcode == UET_WQE_BIND_MW;
}

/*
 * What a memory window is bound to. A length of 0 unbinds one of type 1.
 * Windows are for peers, whose rights are all that the kernel takes; programs
 * also name the local one.
 */
static inline int uet_put_bind(struct uet_send_wqe *wqe, uint32_t rkey,
			       const struct ibv_mw_bind_info *info)
{
	const unsigned int known = IBV_ACCESS_LOCAL_WRITE |
				   IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC |
				   IBV_ACCESS_ZERO_BASED;

	if (info->mw_access_flags & ~known || (!info->mr && info->length))
		return EINVAL;
	wqe->rkey = rkey;
	wqe->remote_addr = info->addr;
	wqe->compare_add = info->length;
	wqe->swap = info->mw_access_flags & ~IBV_ACCESS_LOCAL_WRITE;
	wqe->mr_lkey = info->mr ? info->mr->lkey : 0;
	return 0;
}

#endif /* UET_WQE_H */
