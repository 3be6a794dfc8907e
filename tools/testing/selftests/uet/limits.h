/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Limits of devices: two of them, requests, and what is refused. */
#ifndef UET_TEST_LIMITS_H
#define UET_TEST_LIMITS_H

#include "pair_test.h"

#define MEM	(4u << 20)
#define MESSAGE	8

static inline void refused(const char *what, bool refused, int err)
{
	int have = errno;

	errno = 0;
	if (!refused)
		die("%s was let through", what);
	expect(what, have, err);
}

static inline int send_n(struct ibv_qp *qp, struct ibv_sge *sge, int n, int flags)
{
	struct ibv_send_wr *bad, wr = {
		.sg_list = sge, .num_sge = n, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | flags,
	};

	errno = ibv_post_send(qp, &wr, &bad);
	return errno;
}

static inline int recv_n(struct ibv_qp *qp, struct ibv_sge *sge, int n)
{
	struct ibv_recv_wr *bad, wr = { .sg_list = sge, .num_sge = n };

	errno = ibv_post_recv(qp, &wr, &bad);
	return errno;
}

static inline struct ibv_sge piece(struct side *s, size_t at, __u32 len)
{
	return (struct ibv_sge){ (uintptr_t)s->mem + at, len, s->mr->lkey };
}

static inline void complete(struct side *s, int n)
{
	struct ibv_wc wc;

	while (n--) {
		next(s, &wc);
		expect_status(&wc, IBV_WC_SUCCESS);
	}
	none_left(s);
}

static inline int limits_main(int argc, char **argv, const struct entry *entries)
{
	char **names = pair_options(argc, argv, entries, NULL);

	side_open(&A, dev_a, addr_a, MEM, 1 << 17);
	side_open(&B, dev_b, addr_b, MEM, 1 << 17);
	for (; *names; names++)
		pair_run(*names, entries);
	side_close(&A);
	side_close(&B);
	return 0;
}

#endif /* UET_TEST_LIMITS_H */
