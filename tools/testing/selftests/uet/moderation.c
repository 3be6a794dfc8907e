// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Moderation of completion queues: how many completions, or how long after the
 * first, make an event. Host a sends to itself. Started by moderation.sh.
 *
 *	moderation -a DEV -A ADDR [-w SECONDS] TEST...
 */
#include "pair_test.h"

#define MEM	65536u
#define LONG	65535		/* us: longer than anything here takes */

static struct pair p;
static struct conn conn;

static void moderate(__u16 count, __u16 period)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = count, .cq_period = period },
	};

	errno = ibv_modify_cq(A.cq, &attr);
	if (errno)
		die("modify_cq");
}

static void arm_cq(int solicited)
{
	errno = ibv_req_notify_cq(A.cq, solicited);
	if (errno)
		die("req_notify_cq");
}

/* One WRITE, and its completion is there. */
static void write_one(__u32 lkey, enum ibv_wc_status status)
{
	struct ibv_sge sge = { (uintptr_t)A.mem, 8, lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)A.mem + PAGE, A.mr->rkey },
	};
	__u64 end = now_ns() + wait_s * 1000000000ull;
	struct ibv_wc wc;
	int n = 0;

	errno = ibv_post_send(p.a, &wr, &bad);
	if (errno)
		die("post_send");
	while (!n && now_ns() < end)
		n = ibv_poll_cq(A.cq, 1, &wc);
	errno = 0;
	if (n != 1)
		die("no completion");
	expect_status(&wc, status);
}

static void no_event(const char *when)
{
	errno = 0;
	if (event_came(&A, 0))
		die("an event %s", when);
}

static void an_event(const char *when)
{
	errno = 0;
	if (!event_came(&A, wait_s * 1000))
		die("no event %s", when);
	no_event("more than one");
}

/*
 * The period is much longer than eight writes take; a guest that is stopped for
 * as long is told from a driver that does not hold by the time that passed.
 */
static void by_number(void)
{
	unsigned int i, tries = 0;
	__u64 start;

	moderate(8, LONG);
again:
	arm_cq(0);
	start = now_ns();
	for (i = 1; i < 8; i++) {
		write_one(A.mr->lkey, IBV_WC_SUCCESS);
		if (!event_came(&A, 0))
			continue;
		if (now_ns() - start < LONG * 1000ull || ++tries > 20)
			die("an event after %u of 8", i);
		goto again;
	}
	write_one(A.mr->lkey, IBV_WC_SUCCESS);
	an_event("after the eighth");
	if (now_ns() - start >= LONG * 1000ull && ++tries <= 20)
		goto again;
	expect("in time", now_ns() - start < LONG * 1000ull, 1);
}

static void by_time(void)
{
	__u64 start, took;

	moderate(1000, 30000);
	arm_cq(0);
	start = now_ns();
	write_one(A.mr->lkey, IBV_WC_SUCCESS);
	an_event("after the period");
	took = now_ns() - start;
	if (took < 30000000)
		die("the event came after %llu us of 30000",
		    (unsigned long long)took / 1000);
	/* The event was one; it takes another arming for another. */
	write_one(A.mr->lkey, IBV_WC_SUCCESS);
	no_event("of a CQ that is not armed");
}

static void off(void)
{
	moderate(8, LONG);
	moderate(0, 0);
	arm_cq(0);
	write_one(A.mr->lkey, IBV_WC_SUCCESS);
	an_event("without moderation");
	moderate(8, 0);
	arm_cq(0);
	write_one(A.mr->lkey, IBV_WC_SUCCESS);
	an_event("with a period of 0");
}

/* What is held when moderation changes comes at once. */
static void change(void)
{
	moderate(1000, LONG);
	arm_cq(0);
	write_one(A.mr->lkey, IBV_WC_SUCCESS);
	moderate(0, 0);
	an_event("after the change");
}

static void error(void)
{
	__u64 start;

	moderate(1000, LONG);
	arm_cq(0);
	start = now_ns();
	write_one(0x7fffff00, IBV_WC_LOC_PROT_ERR);
	an_event("for the error");
	if (now_ns() - start >= LONG * 1000ull)
		skip("the guest was stopped for longer than the period");
}

/* A CQ is destroyed while its timer runs: side_close() and the guest tell. */
static void destroy(void)
{
	moderate(1000, LONG);
	arm_cq(0);
	write_one(A.mr->lkey, IBV_WC_SUCCESS);
}

static void limits(void)
{
	struct ibv_device_attr_ex attr;

	errno = ibv_query_device_ex(A.ctx, NULL, &attr);
	if (errno)
		die("query_device");
	expect("max_cq_count", attr.cq_mod_caps.max_cq_count, 65535);
	expect("max_cq_period", attr.cq_mod_caps.max_cq_period, 65535);
	moderate(65535, 65535);
}

static const struct entry tests[] = {
	{ "number", by_number },
	{ "time", by_time },
	{ "off", off },
	{ "change", change },
	{ "error", error },
	{ "destroy", destroy },
	{ "limits", limits },
	{}
};

int main(int argc, char **argv)
{
	char **names;

	for (names = pair_options(argc, argv, tests, NULL); *names; names++) {
		side_open(&A, dev_a, addr_a, MEM, 256);
		pair_open(&A, &A, &p, &conn);
		pair_run(*names, tests);
		pair_close(&p);
		side_close(&A);
	}
	return 0;
}
