// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * uet_rma: every rank sends to every other, writes to, reads from and adds to its
 * memory, under one key that is the same on all and good in this job only, and
 * checks the results. To be started by uet_job_launch.
 *
 * The window of a rank has a block for each peer and a counter.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "world.h"

#define WINDOW_KEY	0x524d41	/* "RMA" */
#define DEPTH		64

static uint32_t block = 4096, iters = 10;

static uint8_t *window, *local;		/* block per peer, counter; the same */
static struct ibv_mr *window_mr, *local_mr;
static size_t window_size;

static size_t block_at(uint32_t rank)
{
	return (size_t)rank * block;
}

static size_t counter_at(const struct world *w)
{
	return (block_at(w->size) + 7) & ~(size_t)7;
}

static uint8_t pattern(uint32_t from, uint32_t to, uint32_t iter, uint32_t i)
{
	return from * 131 + to * 31 + iter * 7 + i + (i >> 8) * 3;
}

static void fill(uint8_t *at, uint32_t from, uint32_t to, uint32_t iter)
{
	uint32_t i;

	for (i = 0; i < block; i++)
		at[i] = pattern(from, to, iter, i);
}

static void check(const uint8_t *at, uint32_t from, uint32_t to, uint32_t iter,
		  const char *op)
{
	uint32_t i;

	errno = 0;
	for (i = 0; i < block; i++)
		if (at[i] != pattern(from, to, iter, i))
			die("%s from %u to %u, round %u: byte %u is %02x, not %02x",
			    op, from, to, iter, i, at[i],
			    pattern(from, to, iter, i));
}

static void register_window(struct world *w)
{
	struct uetdv_reg_mr_attr attr = {
		.comp_mask = UETDV_REG_MR_MASK_RKEY | UETDV_REG_MR_MASK_JKEY,
		.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
			  IBV_ACCESS_ZERO_BASED,
		.jkey = w->jkey,
		.rkey = WINDOW_KEY,
	};
	size_t page = sysconf(_SC_PAGESIZE);

	window_size = counter_at(w) + sizeof(uint64_t);
	errno = posix_memalign((void **)&window, page, window_size);
	if (!errno)
		errno = posix_memalign((void **)&local, page, window_size);
	if (errno)
		die("memory");
	memset(window, 0, window_size);
	memset(local, 0, window_size);

	attr.addr = window;
	attr.length = window_size;
	window_mr = uetdv_reg_mr(w->pd, &attr, sizeof(attr));
	if (!window_mr)
		die("registering the window");
	local_mr = ibv_reg_mr(w->pd, local, window_size,
			      IBV_ACCESS_LOCAL_WRITE);
	if (!local_mr)
		die("registering memory");
}

/* A request to @peer has been started; its data is at @offset of local memory. */
static void finish(struct world *w, uint32_t peer, size_t offset, uint32_t len)
{
	uetdv_wr_set_job_addr(w->dvx, peer, 0);
	ibv_wr_set_sge(w->qpx, local_mr->lkey, (uintptr_t)local + offset, len);
	errno = ibv_wr_complete(w->qpx);
	if (errno)
		die("posting to rank %u", peer);
	w->in_flight++;
	world_wait(w, DEPTH - 1);
}

static void start(struct world *w, uint32_t flags)
{
	ibv_wr_start(w->qpx);
	w->qpx->wr_id = 0;
	w->qpx->wr_flags = flags;
}

/* One message of each peer, in any order. */
static void receive_round(struct world *w, uint32_t iter)
{
	uint8_t *seen = calloc(w->size, 1);
	struct message msg;
	uint32_t i;

	if (!seen)
		die("memory");
	for (i = 1; i < w->size; i++) {
		world_receive(w, &msg);
		errno = 0;
		if (msg.from >= w->size || seen[msg.from] ||
		    msg.value != iter || msg.len != block)
			die("rank %u: round %u, %u bytes from rank %u in round %u",
			    w->rank, msg.value, msg.len, msg.from, iter);
		seen[msg.from] = 1;
		check(msg.data, msg.from, w->rank, iter, "send");
		world_release(w, &msg);
	}
	free(seen);
}

static void send_round(struct world *w, uint32_t iter)
{
	uint32_t peer;

	for (peer = 0; peer < w->size; peer++) {
		if (peer == w->rank)
			continue;
		fill(local + block_at(peer), w->rank, peer, iter);
		world_send(w, peer, iter, local + block_at(peer), block,
			   local_mr->lkey);
	}
	receive_round(w, iter);
	world_barrier(w);
}

static void put_round(struct world *w, uint32_t iter)
{
	uint32_t peer;

	for (peer = 0; peer < w->size; peer++) {
		if (peer == w->rank)
			continue;
		fill(local + block_at(peer), w->rank, peer, iter);
		/* a completion says that the peer can read it */
		start(w, UETDV_SEND_DELIVERY_COMPLETE);
		uetdv_wr_rdma_write64(w->dvx, WINDOW_KEY, block_at(w->rank));
		finish(w, peer, block_at(peer), block);
	}
	world_barrier(w);
	for (peer = 0; peer < w->size; peer++)
		if (peer != w->rank)
			check(window + block_at(peer), peer, w->rank, iter,
			      "put");
	world_barrier(w);
}

static void get_round(struct world *w, uint32_t iter)
{
	uint32_t peer;

	for (peer = 0; peer < w->size; peer++)
		fill(window + block_at(peer), w->rank, peer, iter);
	world_barrier(w);
	for (peer = 0; peer < w->size; peer++) {
		if (peer == w->rank)
			continue;
		start(w, 0);
		uetdv_wr_rdma_read64(w->dvx, WINDOW_KEY, block_at(w->rank));
		finish(w, peer, block_at(peer), block);
	}
	world_barrier(w);
	for (peer = 0; peer < w->size; peer++)
		if (peer != w->rank)
			check(local + block_at(peer), peer, w->rank, iter,
			      "get");
}

static void add_round(struct world *w, uint32_t iter)
{
	const uint64_t *counter = (uint64_t *)(window + counter_at(w));
	uint64_t want = (uint64_t)(iter + 1) * (w->size - 1);
	uint32_t peer;

	for (peer = 0; peer < w->size; peer++) {
		if (peer == w->rank)
			continue;
		start(w, 0);
		uetdv_wr_atomic_fetch_add64(w->dvx, WINDOW_KEY, counter_at(w),
					    1);
		finish(w, peer, counter_at(w), sizeof(uint64_t));
	}
	world_barrier(w);
	errno = 0;
	if (__atomic_load_n(counter, __ATOMIC_ACQUIRE) != want)
		die("rank %u: the counter is %llu, not %llu", w->rank,
		    (unsigned long long)*counter, (unsigned long long)want);
	world_barrier(w);
}

static const struct {
	const char *name;
	void (*round)(struct world *w, uint32_t iter);
} ops[] = {
	{ "send", send_round },
	{ "put", put_round },
	{ "get", get_round },
	{ "add", add_round },
};

#define NUM_OPS		(sizeof(ops) / sizeof(ops[0]))

static void run(struct world *w, size_t op)
{
	double took, begin = now(), messages;
	uint32_t i;

	for (i = 0; i < iters; i++)
		ops[op].round(w, i);
	took = now() - begin;
	if (w->rank)
		return;
	messages = (double)iters * w->size * (w->size - 1);
	printf("%s: %u ranks, %.0f messages, %.0f per second\n", ops[op].name,
	       w->size, messages, messages / took);
}

static void usage(FILE *to)
{
	fprintf(to, "usage: uet_job_launch -j ID -n PROCESSES uet_rma [OPTION...]\n"
		"  -o OP      send, put, get or add (all of them)\n"
		"  -s BYTES   size of a block (4096)\n"
		"  -n ITERS   rounds (10)\n"
		"  -A         absolute addressing instead of relative\n");
	exit(to == stdout ? 0 : 2);
}

static size_t op_of(const char *name)
{
	size_t i;

	for (i = 0; i < NUM_OPS; i++)
		if (!strcmp(name, ops[i].name))
			return i;
	usage(stderr);
	return 0;
}

static void tear_down(struct world *w)
{
	world_barrier(w);
	if (ibv_dereg_mr(window_mr) || ibv_dereg_mr(local_mr))
		die("deregistering memory");
	free(window);
	free(local);
	world_leave(w);
}

int main(int argc, char **argv)
{
	uint32_t addressing = UETDV_ADDR_RELATIVE;
	size_t op, only = NUM_OPS;
	struct world w;
	int c;

	while ((c = getopt(argc, argv, "o:s:n:Ah")) != -1) {
		if (c == 'o')
			only = op_of(optarg);
		else if (c == 's')
			block = number_of(optarg, 1, 1 << 26);
		else if (c == 'n')
			iters = number_of(optarg, 1, 1u << 30);
		else if (c == 'A')
			addressing = UETDV_ADDR_ABSOLUTE;
		else
			usage(c == 'h' ? stdout : stderr);
	}
	if (optind != argc)
		usage(stderr);

	world_join(&w, addressing, DEPTH, block, 0,
		   UETDV_QP_EX_WITH_RDMA_WRITE64 |
		   UETDV_QP_EX_WITH_RDMA_READ64 | UETDV_QP_EX_WITH_ATOMIC64);
	register_window(&w);
	world_barrier(&w);
	for (op = 0; op < NUM_OPS; op++)
		if (only == NUM_OPS || only == op)
			run(&w, op);
	tear_down(&w);
	return 0;
}
