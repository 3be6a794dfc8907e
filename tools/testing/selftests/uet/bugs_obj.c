// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Life of objects: faults of the field, see bugs.h */
#include "bugs.h"

/* Sent and destroyed at once, by several threads */
static void *short_life(void *arg)
{
	struct conn c = { .depth = 4, .sge = 1 };
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
	struct pair q;

	for (unsigned int i = 0; i < rounds / 4; i++) {
		pair_open(&A, &B, &q, &c);
		if (ibv_post_send(q.a, &wr, &bad))
			die("post_send");
		if (i & 1)
			usleep(below(2000));
		pair_close(&q);
	}
	return arg;
}

static void obj_01(void)
{
	pthread_t thread[4];
	struct ibv_wc wc;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, short_life, NULL))
			die("pthread_create");
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	while (ibv_poll_cq(A.cq, 1, &wc) > 0)
		;
	pair_open(&A, &B, &p, &conn);
	works(&p);
	pair_close(&p);
}

/* Nothing is acknowledged: destroyed about when the timer runs out */
static void obj_02(void)
{
	struct conn c = { .depth = 4, .sge = 1, .timeout = 8 };	/* 1 ms */
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };

	for (unsigned int i = 0; i < rounds; i++) {
		pair_open(&A, &B, &p, &c);
		if (ibv_post_send(p.a, &wr, &bad))
			die("post_send");
		usleep(below(3000));
		pair_close(&p);
	}
}

/* No queue at all on one side; an error brings no completion then. */
static void obj_06(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp;

	for (int i = 0; i < 3; i++) {
		memset(&init, 0, sizeof(init));
		init.send_cq = A.cq;
		init.recv_cq = A.cq;
		init.qp_type = IBV_QPT_RC;
		init.cap.max_send_wr = i & 1 ? 4 : 0;
		init.cap.max_recv_wr = i & 2 ? 4 : 0;
		init.cap.max_send_sge = 1;
		init.cap.max_recv_sge = 1;
		qp = ibv_create_qp(A.pd, &init);
		if (!qp)
			die("QP %d", i);
		qp_connect(&A, qp, &B, 0xfffff0, &conn);
		to_state(qp, IBV_QPS_ERR);
		usleep(10000);
		none_left(&A);
		if (ibv_destroy_qp(qp))
			die("destroy_qp");
	}
}

/* A child keeps the mapping of a CQ that is gone. */
static void obj_13(void)
{
	struct ring old[64], ring[64], *new = NULL;
	int n = find_rings(old, 64), i, k, go[2], status;
	struct ibv_cq *cq = ibv_create_cq(A.ctx, 64, NULL, NULL, 0);
	pid_t pid;
	char c;

	if (!cq || pipe(go))
		die("create_cq");
	for (i = find_rings(ring, 64); i-- > 0;) {
		for (k = 0; k < n && old[k].from != ring[i].from; k++)
			;
		if (k == n)
			new = &ring[i];
	}
	errno = 0;
	if (!new)
		die("no mapping of the CQ");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(go[1]);
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		scribble(new, 1);
		_exit(0);
	}
	close(go[0]);
	if (ibv_destroy_cq(cq) || write(go[1], "x", 1) != 1)
		die("destroy_cq");
	/* Old contents, zeros or a signal are all right. */
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	close(go[1]);
	pair_open(&A, &B, &p, &conn);
	works(&p);
	pair_close(&p);
}

static bool stop;

static void *map_about(void *arg)
{
	__u64 offset = 0;
	void *at;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			  A.ctx->cmd_fd, offset % 4096 * PAGE);
		if (at != MAP_FAILED)
			munmap(at, PAGE);
		offset++;
	}
	return arg;
}

/* mmap of what is being destroyed */
static void obj_14(void)
{
	pthread_t thread;
	struct ibv_cq *cq;

	stop = false;
	if (pthread_create(&thread, NULL, map_about, NULL))
		die("pthread_create");
	for (unsigned int i = 0; i < rounds * 5; i++) {
		cq = ibv_create_cq(A.ctx, 1, NULL, NULL, 0);
		if (!cq || ibv_destroy_cq(cq))
			die("CQ %u", i);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

/* Access to a key that comes and goes: wholly, or an error */
static void obj_16(void)
{
	struct ibv_sge sge = piece(&A, 0, 4096);
	unsigned int refused = 0;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	__u32 rkey;

	pair_open(&A, &B, &p, &conn);
	for (unsigned int i = 0; i < rounds; i++) {
		mr = ibv_reg_mr(B.pd, B.mem, PAGE, RIGHTS);
		if (!mr)
			die("reg_mr");
		rkey = mr->rkey;
		for (int k = 0; k < 8; k++)
			post(p.a, IBV_WR_RDMA_WRITE, &sge, 1,
			     (uintptr_t)B.mem, rkey, 0);
		if (i & 1)
			usleep(below(500));
		if (ibv_dereg_mr(mr))
			die("dereg_mr");
		for (int k = 0; k < 8; k++) {
			next(&A, &wc);
			if (wc.status != IBV_WC_SUCCESS && !refused++)
				expect_status(&wc, IBV_WC_REM_ACCESS_ERR);
		}
		/* A refused one has ended the connection already. */
		if (!refused)
			must_refuse((uintptr_t)B.mem, rkey,
				    "written after dereg_mr");
		reconnect();
		refused = 0;
	}
	pair_close(&p);
}

/* Groups of one QP that several threads enter and leave */
static struct ibv_qp *member;

static void *enter_and_leave(void *arg)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff, 239, 1, 1, 0 } };
	int err;

	for (unsigned int i = 0; i < rounds; i++) {
		gid.raw[15] = i & 3;
		err = ibv_attach_mcast(member, &gid, 0);
		if (err == EOPNOTSUPP)
			return (void *)1;
		ibv_detach_mcast(member, &gid, 0);
	}
	return NULL;
	(void)arg;
}

/* LIDs tell groups apart for ib_core, but not on Ethernet: left as often as entered. */
static void two_lids(struct ibv_qp *qp)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff, 239, 1, 1, 9 } };

	for (int lid = 0; lid < 2; lid++) {
		errno = ibv_attach_mcast(qp, &gid, lid);
		if (errno)
			die("attach with LID %d", lid);
	}
	for (int lid = 0; lid < 2; lid++) {
		errno = ibv_detach_mcast(qp, &gid, lid);
		if (errno)
			die("detach with LID %d", lid);
	}
}

static void obj_17(void)
{
	pthread_t thread[8];
	void *result = NULL;

	member = qp_create(&A, IBV_QPT_UD, &conn);
	qp_connect(&A, member, &B, 0, &conn);
	for (int i = 0; i < 8; i++)
		if (pthread_create(&thread[i], NULL, enter_and_leave, NULL))
			die("pthread_create");
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], &result);
	if (!result)
		two_lids(member);
	errno = 0;
	if (ibv_destroy_qp(member))
		die("destroy_qp");
	if (result)
		skip("no multicast");
}

static unsigned int taken;

static void *post_for_ever(void *arg)
{
	struct ibv_qp *qp = arg;
	struct ibv_send_wr *bad, wr = {
		.wr_id = 5, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	unsigned int posted = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		/* no more than the CQ has room for */
		if (posted - __atomic_load_n(&taken, __ATOMIC_ACQUIRE) < 32)
			posted += !ibv_post_send(qp, &wr, &bad);
	}
	return NULL;
}

/* Take what comes, for a while. */
static void take_for(unsigned int us)
{
	__u64 end = now_ns() + us * 1000ull;
	struct ibv_wc wc;

	do {
		if (ibv_poll_cq(A.cq, 1, &wc) > 0)
			__atomic_fetch_add(&taken, 1, __ATOMIC_RELEASE);
	} while (now_ns() < end);
}

/* Drained while another thread posts: the marker comes, and nothing after it. */
static void obj_03(void)
{
	struct ibv_recv_wr *bad, rr = { .wr_id = 3 };
	struct ibv_send_wr *bad_send, marker = { .wr_id = 4,
						 .opcode = IBV_WR_SEND };
	pthread_t thread;
	struct ibv_wc wc;
	__u64 start;

	for (unsigned int i = 0; i < rounds; i++) {
		pair_open(&A, &B, &p, &conn);
		for (int k = 0; k < 16; k++)
			ibv_post_recv(p.b, &rr, &bad);
		stop = false;
		taken = 0;
		if (pthread_create(&thread, NULL, post_for_ever, p.a))
			die("pthread_create");
		take_for(below(2000));
		to_state(p.a, IBV_QPS_ERR);
		take_for(below(500));
		__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
		pthread_join(thread, NULL);
		start = now_ns();
		errno = ibv_post_send(p.a, &marker, &bad_send);
		if (errno)
			die("post the marker");
		do {
			next(&A, &wc);
			if (wc.wr_id == 5 && wc.status == IBV_WC_SUCCESS)
				continue;
			if (wc.status == IBV_WC_RNR_RETRY_EXC_ERR)
				continue;
			expect_status(&wc, IBV_WC_WR_FLUSH_ERR);
		} while (wc.wr_id != 4);
		not_stuck(start, "draining");
		none_left(&A);
		pair_close(&p);
		while (ibv_poll_cq(B.cq, 1, &wc) > 0)
			;
	}
}

/* Destroyed at every moment of the first contact (on a slow link) */
static void obj_08(void)
{
	struct ibv_sge sge = piece(&A, 0, 20000);
	struct ibv_wc wc;
	__u64 start;

	for (unsigned int i = 0; i < rounds / 2; i++) {
		pair_open(&A, &B, &p, &conn);
		if (i & 1)
			post_recv(&B, p.b, 2, piece(&B, 0, 20000));
		post(p.a, i & 2 ? IBV_WR_RDMA_READ : IBV_WR_SEND, &sge, 1,
		     (uintptr_t)B.mem, B.mr->rkey, 0);
		usleep(below(25000));
		start = now_ns();
		if (i & 4)
			errno = ibv_destroy_qp(p.b) ?: ibv_destroy_qp(p.a);
		else
			errno = ibv_destroy_qp(p.a) ?: ibv_destroy_qp(p.b);
		if (errno)
			die("destroy_qp");
		not_stuck(start, "destroying");
		while (ibv_poll_cq(A.cq, 1, &wc) > 0 ||
		       ibv_poll_cq(B.cq, 1, &wc) > 0)
			;
	}
	pair_open(&A, &B, &p, &conn);
	works(&p);
	pair_close(&p);
}

/* A READ whose QP goes before its answer is there; false: it was too late for that. */
static bool read_abandoned(void)
{
	struct ibv_sge sge = piece(&A, 0, 20000);
	struct ibv_wc wc;
	__u64 start;
	int n;

	pair_open(&A, &B, &p, &conn);
	memset(A.mem, GUARD, 20000);
	start = now_ns();
	post(p.a, IBV_WR_RDMA_READ, &sge, 1, (uintptr_t)B.mem, B.mr->rkey, 0);
	/* 100 ms there, and half the way back */
	usleep(150000);
	pair_close(&p);
	n = ibv_poll_cq(A.cq, 1, &wc);
	if (ms_since(start) >= 200) {
		while (ibv_poll_cq(A.cq, 1, &wc) > 0)
			;
		return false;
	}
	expect("completions", n, 0);
	return true;
}

/* The answer comes when nobody waits for it any more (on a slow link). */
static void obj_15(void)
{
	int tries = 20;

	while (!read_abandoned())
		if (!--tries)
			die("this host takes 50 ms to destroy a QP");
	usleep(200000);
	errno = 0;
	for (int i = 0; i < 20000; i++)
		if (A.mem[i] != GUARD)
			die("byte %d was written by a late answer", i);
	pair_open(&A, &B, &p, &conn);
	works(&p);
	pair_close(&p);
}

static const struct entry entries[] = {
	{ "OBJ-01", obj_01 },
	{ "OBJ-02", obj_02 },
	{ "OBJ-03", obj_03 },
	{ "OBJ-06", obj_06 },
	{ "OBJ-08", obj_08 },
	{ "OBJ-13", obj_13 },
	{ "OBJ-14", obj_14 },
	{ "OBJ-15", obj_15 },
	{ "OBJ-16", obj_16 },
	{ "OBJ-17", obj_17 },
	{ }
};

int main(int argc, char **argv)
{
	return bugs_main(argc, argv, entries);
}
