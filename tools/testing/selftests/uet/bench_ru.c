// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Bandwidth and latency of reliable-unconnected QPs, which perftest does not
 * know, in the shape of its tests: a sender and a receiver on a CPU each, one
 * buffer on either side, completions polled. They are two processes, as threads
 * of one take turns on User-mode Linux. "bench_ru -h" lists the options.
 */
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <infiniband/uetdv.h>

#include "lib.h"

#define MAX_QPS		64
#define BATCH		16
#define SIGNAL_ALL	8192	/* messages from this size on are all signaled */
#define WARM_UP		100	/* turns of the latency test that do not count */

enum op { OP_SEND, OP_WRITE, OP_READ };

static const char * const op_names[] = { "send", "write", "read" };

static enum op op = OP_WRITE;
static __u32 size = 65536, depth = 128, qps = 1, turns;
static double seconds = 1;
static atomic_bool *done;	/* shared by the two processes */
static double ticks_per_ns = 1;

/* What the other process must know to reach an end. */
struct address {
	union ibv_gid gid;
	__u32 wire_qpn[MAX_QPS];
	__u32 rkey;
	__u64 tx, rx;		/* halves of the memory */
};

/* One end with its QPs; the peer's are numbered alike. */
struct end {
	struct side side;
	struct ibv_qp *qp[MAX_QPS];
	struct ibv_ah *ah;
	struct address mine, peer;
	__u8 *tx, *rx;
	__u32 sent, received;	/* completions of the latency test */
};

/*
 * Time as perftest takes it, since asking the kernel may cost more than a
 * message does.
 */
static __u64 ticks(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return now_ns();
#endif
}

static __u64 ticks_of(double ns)
{
	return ns * ticks_per_ns;
}

static void calibrate(void)
{
	__u64 start = now_ns(), from = ticks(), now;

	do {
		now = now_ns();
	} while (now - start < 50000000);
	ticks_per_ns = 1.0 * (ticks() - from) / (now - start);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("CPU %d", cpu);
}

/* ------------------------------------------------------------------ */
/* Setting up                                                          */

static void make_qp(struct end *e, int i)
{
	struct uetdv_qp_init_attr uet = {
		.driver_qp_type = UETDV_QP_DRIVER_TYPE_RU,
	};
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = e->side.cq,
		.recv_cq = e->side.cq,
		.cap = {
			.max_send_wr = depth,
			.max_recv_wr = 2 * depth,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = e->side.pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND |
				  IBV_QP_EX_WITH_RDMA_WRITE |
				  IBV_QP_EX_WITH_RDMA_READ,
	};

	errno = 0;
	e->qp[i] = uetdv_create_qp(e->side.ctx, &attr, &uet, sizeof(uet));
	if (!e->qp[i])
		die("RU QP on %s", e->side.name);
	errno = uetdv_qp_wire_qpn(e->qp[i], &e->mine.wire_qpn[i]);
	if (errno)
		die("wire QPN");
}

static void make_end(struct end *e, const char *name, const char *address)
{
	size_t half = (size + PAGE - 1) / PAGE * PAGE;
	int i, cqe = 3 * depth * qps + 16;

	side_open(&e->side, name, address, 2 * half, cqe);
	e->tx = e->side.mem;
	e->rx = e->side.mem + half;
	memset(e->side.mem, 0, 2 * half);
	for (i = 0; i < (int)qps; i++)
		make_qp(e, i);
	e->mine.gid = e->side.gid;
	e->mine.rkey = e->side.mr->rkey;
	e->mine.tx = (uintptr_t)e->tx;
	e->mine.rx = (uintptr_t)e->rx;
}

/* Both have done what was to be done up to here. */
static void meet(int sock, const void *mine, void *theirs, size_t len)
{
	if (send(sock, mine, len, MSG_NOSIGNAL) != (ssize_t)len ||
	    recv(sock, theirs, len, MSG_WAITALL) != (ssize_t)len)
		die("the other end is gone");
}

static void barrier(int sock)
{
	char mine = 'x', theirs;

	meet(sock, &mine, &theirs, 1);
}

static void make_ah(struct end *e)
{
	struct ibv_ah_attr attr;

	ah_attr(&e->side, &e->peer.gid, &attr);
	errno = 0;
	e->ah = ibv_create_ah(e->side.pd, &attr);
	if (!e->ah)
		die("address handle of %s", e->side.name);
}

static void end_close(struct end *e)
{
	int i;

	errno = 0;
	for (i = 0; i < (int)qps; i++)
		if (ibv_destroy_qp(e->qp[i]))
			die("destroy_qp");
	if (ibv_destroy_ah(e->ah))
		die("destroy_ah");
	side_close(&e->side);
}

/* ------------------------------------------------------------------ */
/* Posting and polling                                                 */

static void post_recv(struct end *e, int i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)e->rx,
		.length = size,
		.lkey = e->side.mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	errno = ibv_post_recv(e->qp[i], &wr, &bad);
	if (errno)
		die("post_recv");
}

/* @count: how many requests have ended when this one has completed; 0: unsignaled */
static void post_send(struct end *e, int i, __u32 count)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(e->qp[i]);
	const struct address *to = &e->peer;

	ibv_wr_start(qp);
	qp->wr_id = (__u64)count << 32 | i;
	qp->wr_flags = count ? IBV_SEND_SIGNALED : 0;
	switch (op) {
	case OP_SEND:
		ibv_wr_send(qp);
		break;
	case OP_WRITE:
		ibv_wr_rdma_write(qp, to->rkey, to->rx);
		break;
	case OP_READ:
		ibv_wr_rdma_read(qp, to->rkey, to->tx);
		break;
	}
	ibv_wr_set_ud_addr(qp, e->ah, e->peer.wire_qpn[i], 0);
	ibv_wr_set_sge(qp, e->side.mr->lkey, (uintptr_t)(op == OP_READ ? e->rx : e->tx), size);
	errno = ibv_wr_complete(qp);
	if (errno)
		die("posting");
}

static int poll_batch(struct end *e, struct ibv_wc *wc)
{
	int i, n = ibv_poll_cq(e->side.cq, BATCH, wc);

	errno = 0;
	if (n < 0)
		die("poll_cq of %s", e->side.name);
	for (i = 0; i < n; i++)
		expect_status(&wc[i], IBV_WC_SUCCESS);
	return n;
}

/* ------------------------------------------------------------------ */
/* Bandwidth                                                           */

static void receive(struct end *e)
{
	struct ibv_wc wc[BATCH];
	int i, n;

	while (!atomic_load_explicit(done, memory_order_relaxed)) {
		n = poll_batch(e, wc);
		for (i = 0; i < n; i++)
			post_recv(e, wc[i].wr_id);
	}
}

/* Keep @depth requests under way on each QP until @end, in ticks; returns their count. */
static __u64 stream(struct end *e, __u64 end)
{
	__u32 step = size >= SIGNAL_ALL || depth < 4 ? 1 : depth / 4;
	__u32 under_way[MAX_QPS] = { 0 }, since[MAX_QPS] = { 0 };
	struct ibv_wc wc[BATCH];
	__u64 ended = 0, left = 0;
	bool stop = false;
	int i, n;

	while (!stop || left) {
		for (i = 0; i < (int)qps && !stop; i++) {
			while (under_way[i] + step <= depth) {
				since[i] = (since[i] + 1) % step;
				post_send(e, i, since[i] ? 0 : step);
				if (since[i])
					continue;
				under_way[i] += step;
				left += step;
			}
		}
		n = poll_batch(e, wc);
		for (i = 0; i < n; i++) {
			under_way[wc[i].wr_id & 0xffffffff] -= wc[i].wr_id >> 32;
			left -= wc[i].wr_id >> 32;
			ended += wc[i].wr_id >> 32;
		}
		stop = ticks() >= end;
	}
	return ended;
}

static void bandwidth(struct end *e)
{
	__u64 start, count;

	/* the first messages set the way up */
	stream(e, ticks() + ticks_of(1e8));
	start = ticks();
	count = stream(e, start + ticks_of(seconds * 1e9));
	printf("%.2f\n", 1e3 * count * size * ticks_per_ns / (ticks() - start));
	atomic_store(done, true);
}

/* ------------------------------------------------------------------ */
/* Latency                                                             */

static void poll_one(struct end *e, __u64 end)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(e->side.cq, 1, &wc);

	errno = 0;
	if (n < 0)
		die("poll_cq of %s", e->side.name);
	if (!n && ticks() > end)
		die("no completion on %s in %u s", e->side.name, wait_s);
	if (!n)
		return;
	expect_status(&wc, IBV_WC_SUCCESS);
	if (wc.opcode & IBV_WC_RECV)
		e->received++;
	else
		e->sent++;
}

/* A WRITE is seen in memory: its last byte comes last on a path without loss. */
static void await_write(struct end *e, __u8 value)
{
	__u64 end = ticks() + ticks_of(wait_s * 1e9);
	const __u8 *last = e->rx + size - 1;
	__u32 spins = 0;

	while (__atomic_load_n(last, __ATOMIC_ACQUIRE) != value)
		if (!(++spins & 0xffff) && ticks() > end)
			die("nothing came to %s in %u s", e->side.name, wait_s);
}

/* The peer's message number @turn, counted from 1. */
static void await(struct end *e, __u32 turn)
{
	__u64 end = ticks() + ticks_of(wait_s * 1e9);

	if (op == OP_WRITE) {
		await_write(e, turn);
		return;
	}
	while (e->received < turn)
		poll_one(e, end);
	post_recv(e, 0);
}

static void away(struct end *e, __u32 turn)
{
	__u64 end = ticks() + ticks_of(wait_s * 1e9);

	/* the one before has long been answered */
	while (e->sent + 1 < turn)
		poll_one(e, end);
	e->tx[size - 1] = turn;
	post_send(e, 0, 1);
}

static void finish(struct end *e)
{
	__u64 end = ticks() + ticks_of(wait_s * 1e9);

	while (e->sent < turns + WARM_UP)
		poll_one(e, end);
}

static void echo(struct end *e)
{
	__u32 i;

	for (i = 1; i <= turns + WARM_UP; i++) {
		await(e, i);
		away(e, i);
	}
	finish(e);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Half a round trip in microseconds, median and 99th percentile. */
static void latency(struct end *e)
{
	double *took = calloc(turns, sizeof(*took));
	__u64 start;
	__u32 i;

	if (!took)
		die("%u turns", turns);
	for (i = 1; i <= turns + WARM_UP; i++) {
		start = ticks();
		away(e, i);
		await(e, i);
		if (i > WARM_UP)
			took[i - WARM_UP - 1] = (ticks() - start) / ticks_per_ns / 2e3;
	}
	finish(e);
	qsort(took, turns, sizeof(*took), compare);
	printf("%.2f %.2f\n", took[turns / 2], took[turns - 1 - turns / 100]);
	free(took);
}

/* ------------------------------------------------------------------ */

static void post_recvs(struct end *e)
{
	__u32 i, k;

	for (i = 0; i < qps; i++)
		for (k = 0; k < 2 * depth; k++)
			post_recv(e, i);
}

/* One of the two processes. */
static void play(bool sends, int sock, char **names)
{
	static struct end e;

	pin(sends ? 0 : 1);
	calibrate();
	make_end(&e, names[0], names[1]);
	if (op == OP_SEND)
		post_recvs(&e);
	meet(sock, &e.mine, &e.peer, sizeof(e.mine));
	make_ah(&e);
	barrier(sock);
	if (turns && sends)
		latency(&e);
	else if (turns)
		echo(&e);
	else if (sends)
		bandwidth(&e);
	else if (op == OP_SEND)
		receive(&e);
	barrier(sock);
	end_close(&e);
}

static void print_help(FILE *to)
{
	fprintf(to, "usage: bench_ru [OPTION...] DEV ADDRESS DEV ADDRESS\n"
		"Devices and addresses of the sender and of the receiver.\n"
		"  -o OP      send, write (default), read\n"
		"  -s BYTES   size of a message (65536)\n"
		"  -q QPS     QPs on each side (1)\n"
		"  -t DEPTH   messages under way on each (128)\n"
		"  -D SECS    how long (1); prints MB/s\n"
		"  -l TURNS   latency instead, of send or write: prints microseconds for\n"
		"             half a round trip, median and 99th percentile\n");
	exit(to == stdout ? 0 : 2);
}

static __u32 number(const char *text, __u32 max)
{
	unsigned long n;
	char *end;

	n = strtoul(text, &end, 10);
	if (*end || end == text || !n || n > max)
		print_help(stderr);
	return n;
}

static void set_op(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(op_names); i++) {
		if (!strcmp(op_names[i], name)) {
			op = i;
			return;
		}
	}
	print_help(stderr);
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "o:s:q:t:D:l:h")) != -1) {
		switch (c) {
		case 'o':
			set_op(optarg);
			break;
		case 's':
			size = number(optarg, 1u << 30);
			break;
		case 'q':
			qps = number(optarg, MAX_QPS);
			break;
		case 't':
			depth = number(optarg, 4096);
			break;
		case 'D':
			seconds = number(optarg, 3600);
			break;
		case 'l':
			turns = number(optarg, 10000000);
			break;
		default:
			print_help(c == 'h' ? stdout : stderr);
		}
	}
	if (argc - optind != 4 || (turns && (op == OP_READ || qps > 1)))
		print_help(stderr);
}

int main(int argc, char **argv)
{
	int sock[2], status;
	pid_t child;

	doing = "RU bench";
	parse(argc, argv);
	argv += optind;
	done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (done == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM, 0, sock))
		die("setting up");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child && prctl(PR_SET_PDEATHSIG, SIGKILL))
		die("prctl");
	/* the sender has sock[0] */
	close(sock[child ? 1 : 0]);
	play(child, sock[child ? 0 : 1], child ? argv : argv + 2);
	if (child && (waitpid(child, &status, 0) != child || status))
		return 1;
	return 0;
}
