/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Faults that other RDMA drivers had in the field, each tried here and named after
 * its entry in the project's list. One program for each group of entries
 * (bugs_cqe.c and so on), started by fieldbugs.sh. Host a asks, host b answers.
 *
 *	bugs_GROUP -a DEV -A ADDR -b DEV -B ADDR [-w SECONDS] [-n ROUNDS] ENTRY...
 */
#ifndef UET_TEST_BUGS_H
#define UET_TEST_BUGS_H

#include <pthread.h>
#include <sys/wait.h>

#include "pair_test.h"
#include "piece.h"

#define MEM	(4u << 20)
#define NO_KEY	0x7fffff00u
#define RIGHTS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ)

static struct pair p;
static struct conn conn = { .sge = 4, .inline_data = 64 };

static inline void post(struct ibv_qp *qp, enum ibv_wr_opcode op,
			struct ibv_sge *sge, int n, __u64 addr,
			__u32 rkey, unsigned int flags)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1,
		.sg_list = sge,
		.num_sge = n,
		.opcode = op,
		.send_flags = IBV_SEND_SIGNALED | flags,
		.imm_data = htobe32(0xa5a50001),
		.wr.rdma = { addr, rkey },
	};

	errno = ibv_post_send(qp, &wr, &bad);
	if (errno)
		die("post_send");
}

static inline void drop_events(struct side *s)
{
	struct pollfd fd = { .fd = s->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event ev;

	while (poll(&fd, 1, 0) > 0 && !ibv_get_async_event(s->ctx, &ev))
		ibv_ack_async_event(&ev);
}

/* A SEND goes through: the pair works. */
static inline void works(struct pair *q)
{
	struct ibv_sge sge = piece(&A, 0, 64);

	post_recv(&B, q->b, 2, piece(&B, 0, 64));
	post(q->a, IBV_WR_SEND, &sge, 1, 0, 0, 0);
	gets(&A, 1, IBV_WC_SUCCESS);
	gets(&B, 2, IBV_WC_SUCCESS);
}

static inline void reconnect(void)
{
	drop_events(&A);
	drop_events(&B);
	to_state(p.a, IBV_QPS_RESET);
	to_state(p.b, IBV_QPS_RESET);
	qp_connect(&A, p.a, &B, p.b->qp_num, &conn);
	qp_connect(&B, p.b, &A, p.a->qp_num, &conn);
}

static inline void must_refuse(__u64 addr, __u32 rkey,
			       const char *what)
{
	struct ibv_sge sge = piece(&A, 0, 1);
	struct ibv_wc wc;

	post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, addr, rkey, 0);
	next(&A, &wc);
	errno = 0;
	if (wc.status == IBV_WC_SUCCESS)
		die("%s", what);
	expect_status(&wc, IBV_WC_REM_ACCESS_ERR);
}

struct ring {
	unsigned long from, to;
};

/* Mapped rings of this process, found as any scribbler would. */
static inline int find_rings(struct ring *ring, int most)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[300];
	int n = 0;

	while (f && n < most && fgets(line, sizeof(line), f))
		if (strstr(line, "uverbs") &&
		    sscanf(line, "%lx-%lx rw", &ring[n].from, &ring[n].to) == 2)
			n++;
	if (f)
		fclose(f);
	return n;
}

static inline void scribble(const struct ring *ring, int n)
{
	for (int i = 0; i < 200 * n; i++) {
		const struct ring *r = &ring[i % n];

		__atomic_store_n((__u8 *)r->from + below(r->to - r->from),
				 rnd(), __ATOMIC_RELAXED);
	}
}

static inline __u64 ms_since(__u64 start)
{
	return (now_ns() - start) / 1000000;
}

/* Longer than a processor of a busy host stands still, less than all retries take */
static inline void not_stuck(__u64 start, const char *what)
{
	__u64 ms = ms_since(start);

	errno = 0;
	if (ms > 500 * wait_s)
		die("%s took %llu ms", what, (unsigned long long)ms);
}

static inline int bugs_main(int argc, char **argv, const struct entry *entries)
{
	rnd_state = now_ns() | 1;
	return pair_main(argc, argv, entries, MEM);
}

#endif /* UET_TEST_BUGS_H */
