/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A process that moves data between the two devices all the while something
 * hostile is done to them by another, and must not notice.
 */
#ifndef UET_TEST_WITNESS_H
#define UET_TEST_WITNESS_H

#include <signal.h>
#include <sys/wait.h>

#include "pair_test.h"

#define WITNESS_LEN		20000

static struct witness {
	unsigned int messages;
	bool stop;
} *witness;

static pid_t witness_pid;

/* One message there, checked byte by byte. */
static void witness_message(struct side *a, struct side *b, struct pair *p)
{
	const __u8 *data = noise + below(noise_len - WITNESS_LEN);
	struct ibv_sge from = { (uintptr_t)a->mem, WITNESS_LEN, a->mr->lkey };
	struct ibv_sge to = { (uintptr_t)b->mem, WITNESS_LEN, b->mr->lkey };
	struct ibv_recv_wr rr = { .sg_list = &to, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr wr = {
		.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_wc wc;

	memcpy(a->mem, data, WITNESS_LEN);
	memset(b->mem, GUARD, WITNESS_LEN + 1);
	errno = 0;
	if (ibv_post_recv(p->b, &rr, &bad_recv) ||
	    ibv_post_send(p->a, &wr, &bad))
		die("post");
	next(b, &wc);
	expect_status(&wc, IBV_WC_SUCCESS);
	expect("byte_len", wc.byte_len, WITNESS_LEN);
	next(a, &wc);
	expect_status(&wc, IBV_WC_SUCCESS);
	if (memcmp(b->mem, data, WITNESS_LEN) || b->mem[WITNESS_LEN] != GUARD)
		die("wrong data");
}

static void witness_run(void)
{
	const struct conn c = { .depth = 8, .sge = 1 };
	struct side a, b;
	struct pair p;

	doing = "the process that was not to notice";
	side_open(&a, dev_a, addr_a, 1 << 17, 64);
	side_open(&b, dev_b, addr_b, 1 << 17, 64);
	pair_open(&a, &b, &p, &c);
	while (!READ_ONCE(witness->stop)) {
		witness_message(&a, &b, &p);
		WRITE_ONCE(witness->messages, witness->messages + 1);
	}
	pair_close(&p);
	side_close(&a);
	side_close(&b);
	exit(0);
}

/* To be called before this process opens anything itself. */
static void witness_start(void)
{
	if (!noise)
		noise_init(1 << 17);
	witness = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (witness == MAP_FAILED)
		die("witness");
	witness_pid = fork();
	if (witness_pid < 0)
		die("fork");
	if (!witness_pid)
		witness_run();
}

/* It moves another few messages from now on, or has failed. */
static void witness_lives(void)
{
	unsigned int from = READ_ONCE(witness->messages);
	__u64 end = now_ns() + wait_s * 1000000000ull;

	doing = "the process that was not to notice";
	while (READ_ONCE(witness->messages) < from + 3) {
		struct timespec pause = { .tv_nsec = 1000000 };

		if (waitpid(witness_pid, NULL, WNOHANG))
			die("it ended after %u messages", witness->messages);
		if (now_ns() > end)
			die("it stands still at %u messages", witness->messages);
		nanosleep(&pause, NULL);
	}
}

static void witness_end(void)
{
	int status;

	WRITE_ONCE(witness->stop, true);
	if (waitpid(witness_pid, &status, 0) != witness_pid || status)
		die("the process that was not to notice ended with %#x", status);
}

#endif /* UET_TEST_WITNESS_H */
