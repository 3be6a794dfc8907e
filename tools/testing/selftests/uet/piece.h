/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Messages in one piece, and their completions one by one */
#ifndef UET_TEST_PIECE_H
#define UET_TEST_PIECE_H

#include "lib.h"

static inline struct ibv_sge piece(const struct side *s, size_t at,
				   __u32 len)
{
	return (struct ibv_sge){ (uintptr_t)s->mem + at, len, s->mr->lkey };
}

static inline void post_recv(struct side *s, struct ibv_qp *qp, __u64 id,
			     struct ibv_sge sge)
{
	struct ibv_recv_wr *bad, wr = {
		.wr_id = id,
		.sg_list = &sge,
		.num_sge = 1,
	};

	errno = ibv_post_recv(qp, &wr, &bad);
	if (errno)
		die("ibv_post_recv on %s", s->name);
}

static inline void gets(struct side *s, __u64 id, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	next(s, &wc);
	expect("wr_id", wc.wr_id, id);
	expect_status(&wc, status);
}

#endif /* UET_TEST_PIECE_H */
