// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Two processes take turns in moving a message over reliable-unconnected QPs
 * and compare every byte. Start one without and one with the name of the
 * other's host; addresses and keys are exchanged over TCP.
 *
 * ru_pingpong [OPTION...] [HOST], "ru_pingpong -h" lists the options.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/uetdv.h>
#include <infiniband/verbs.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

enum op { OP_SEND, OP_WRITE, OP_WRITE_IMM, OP_READ };

static const char * const op_names[] = {
	[OP_SEND] = "send",
	[OP_WRITE] = "write",
	[OP_WRITE_IMM] = "write-imm",
	[OP_READ] = "read",
};

/* What the two tell each other; integers big endian. */
struct hello {
	uint8_t gid[16];
	uint64_t addr;
	uint32_t rkey;
	uint32_t qpn;
	uint32_t size;
	uint32_t iters;
	uint32_t op;
	uint32_t reserved;
};

static const char *device, *host, *port = "18515";
static int gid_index = -1;
static uint32_t size = 4096, iters = 1000, wait_s = 30;
static enum op op = OP_SEND;
static bool use_events;

static struct ibv_context *ctx;
static struct ibv_comp_channel *channel;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_qp_ex *qpx;
static struct ibv_ah *ah;
static struct ibv_mr *mr;
static uint8_t *tx, *rx;	/* halves of one buffer; the peer writes to rx */
static struct hello peer;
static int sock = -1;
static bool sent, received;	/* completions taken before they were wanted */
static uint32_t received_imm, received_len;

__attribute__((format(printf, 1, 2), noreturn))
static void die(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "ru_pingpong: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, err ? ": %s\n" : "\n", strerror(err));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* ------------------------------------------------------------------ */
/* The other side, over TCP                                            */

static int tcp_open(const struct addrinfo *ai)
{
	int one = 1, fd, conn;

	fd = socket(ai->ai_family, ai->ai_socktype, ai->ai_protocol);
	if (fd < 0)
		return -1;
	if (host) {
		if (!connect(fd, ai->ai_addr, ai->ai_addrlen))
			return fd;
	} else {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (!bind(fd, ai->ai_addr, ai->ai_addrlen) && !listen(fd, 1)) {
			conn = accept(fd, NULL, NULL);
			close(fd);
			return conn;
		}
	}
	close(fd);
	return -1;
}

/* A server waits for as long as it takes, a client a while for the server. */
static void tcp_connect(void)
{
	struct addrinfo hints = {
		.ai_family = host ? AF_UNSPEC : AF_INET6,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = host ? 0 : AI_PASSIVE,
	};
	double end = now() + (host ? wait_s : 0);
	struct addrinfo *list, *ai;
	int ret;

	ret = getaddrinfo(host, port, &hints, &list);
	errno = 0;
	if (ret)
		die("%s port %s: %s", host ? host : "any address", port,
		    gai_strerror(ret));
	do {
		for (ai = list; ai && sock < 0; ai = ai->ai_next)
			sock = tcp_open(ai);
		if (sock < 0)
			usleep(100000);
	} while (sock < 0 && now() < end);
	if (sock < 0)
		die("%s port %s", host ? host : "any address", port);
	freeaddrinfo(list);
}

static void swap(const void *mine, void *theirs, size_t len)
{
	errno = 0;
	if (send(sock, mine, len, MSG_NOSIGNAL) != (ssize_t)len ||
	    recv(sock, theirs, len, MSG_WAITALL) != (ssize_t)len)
		die("the other side went away");
}

static void meet(const union ibv_gid *gid, uint32_t qpn)
{
	struct hello mine = {
		.addr = htobe64((uintptr_t)rx),
		.rkey = htobe32(mr->rkey),
		.qpn = htobe32(qpn),
		.size = htobe32(size),
		.iters = htobe32(iters),
		.op = htobe32(op),
	};

	/* READ fetches what the peer wants to give, the others fill rx. */
	if (op == OP_READ)
		mine.addr = htobe64((uintptr_t)tx);
	memcpy(mine.gid, gid->raw, sizeof(mine.gid));
	swap(&mine, &peer, sizeof(mine));
	errno = 0;
	if (peer.size != mine.size || peer.iters != mine.iters ||
	    peer.op != mine.op)
		die("both sides need the same -s, -n and -o");
	peer.addr = be64toh(peer.addr);
	peer.rkey = be32toh(peer.rkey);
	peer.qpn = be32toh(peer.qpn);
}

/* Both are here: nobody may take its QP away before the other is done. */
static void barrier(void)
{
	char mine = 'x', theirs;

	swap(&mine, &theirs, 1);
}

/* ------------------------------------------------------------------ */
/* Setting up                                                          */

static void open_device(void)
{
	struct uetdv_device_attr attr = {};
	struct ibv_device **list;
	int i, n = 0;

	list = ibv_get_device_list(&n);
	for (i = 0; i < n && !ctx; i++) {
		if (device && strcmp(ibv_get_device_name(list[i]), device))
			continue;
		ctx = ibv_open_device(list[i]);
		if (!ctx || device ||
		    !uetdv_query_device(ctx, &attr, sizeof(attr)))
			continue;
		ibv_close_device(ctx);
		ctx = NULL;
	}
	if (!ctx)
		die("cannot open %s", device ? device : "any uet device");
	errno = uetdv_query_device(ctx, &attr, sizeof(attr));
	if (errno || !(attr.device_caps & UETDV_DEVICE_CAP_RU))
		die("%s has no RU QPs", ibv_get_device_name(ctx->device));
	ibv_free_device_list(list);
}

static void make_memory(void)
{
	size_t page = sysconf(_SC_PAGESIZE);

	/* rounded up, so that the halves never share a page */
	size_t half = (size + page) / page * page;

	tx = aligned_alloc(page, 2 * half);
	if (!tx)
		die("%zu bytes", 2 * half);
	memset(tx, 0, 2 * half);
	rx = tx + half;
	mr = ibv_reg_mr(pd, tx, 2 * half, IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	if (!mr)
		die("memory region");
}

static void make_qp(void)
{
	struct uetdv_qp_init_attr uet = {
		.driver_qp_type = UETDV_QP_DRIVER_TYPE_RU,
	};
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {
			.max_send_wr = 4,
			.max_recv_wr = 4,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_DRIVER,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND_WITH_IMM |
				  IBV_QP_EX_WITH_RDMA_WRITE |
				  IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
				  IBV_QP_EX_WITH_RDMA_READ,
	};

	qp = uetdv_create_qp(ctx, &attr, &uet, sizeof(uet));
	if (!qp)
		die("RU QP");
	qpx = ibv_qp_to_qp_ex(qp);
}

/* The first RoCE v2 GID with an IPv4 address, else the first of all. */
static int pick_gid(void)
{
	struct ibv_gid_entry table[64];
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };
	int best = -1;
	ssize_t n, i;

	n = ibv_query_gid_table(ctx, table, ARRAY_SIZE(table), 0);
	for (i = 0; i < n; i++) {
		if (table[i].gid_type != IBV_GID_TYPE_ROCE_V2)
			continue;
		if (!memcmp(table[i].gid.raw, v4, sizeof(v4)))
			return table[i].gid_index;
		if (best < 0)
			best = table[i].gid_index;
	}
	errno = 0;
	if (best < 0)
		die("no GID: has the netdev an address?");
	return best;
}

static void make_ah(void)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.grh.sgid_index = gid_index,
		.grh.hop_limit = 64,
		.port_num = 1,
	};

	memcpy(attr.grh.dgid.raw, peer.gid, sizeof(peer.gid));
	ah = ibv_create_ah(pd, &attr);
	if (!ah)
		die("address handle");
}

static void print_address(const char *who, const void *gid, uint32_t qpn)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, gid, text, sizeof(text));
	printf("  %s address: QPN 0x%06x, GID %s\n", who, qpn, text);
}

static void set_up(void)
{
	union ibv_gid gid;
	uint32_t qpn;

	open_device();
	pd = ibv_alloc_pd(ctx);
	if (!pd)
		die("PD");
	if (use_events)
		channel = ibv_create_comp_channel(ctx);
	if (use_events && !channel)
		die("completion channel");
	cq = ibv_create_cq(ctx, 16, NULL, channel, 0);
	if (!cq)
		die("CQ");
	make_memory();
	make_qp();
	if (gid_index < 0)
		gid_index = pick_gid();
	if (ibv_query_gid(ctx, 1, gid_index, &gid))
		die("GID %d", gid_index);
	errno = uetdv_qp_wire_qpn(qp, &qpn);
	if (errno)
		die("wire QPN");

	print_address("local", gid.raw, qpn);
	tcp_connect();
	meet(&gid, qpn);
	print_address("remote", peer.gid, peer.qpn);
	make_ah();
}

static void tear_down(void)
{
	errno = 0;
	if (ibv_destroy_ah(ah) || ibv_destroy_qp(qp) || ibv_destroy_cq(cq) ||
	    (channel && ibv_destroy_comp_channel(channel)) ||
	    ibv_dereg_mr(mr) || ibv_dealloc_pd(pd) || ibv_close_device(ctx))
		die("tearing down");
	free(tx);
	close(sock);
}

/* ------------------------------------------------------------------ */
/* Moving data                                                         */

static uint8_t pattern(uint32_t turn, size_t i)
{
	return turn * 31 + i + (i >> 8) * 7;
}

static void fill(uint32_t turn)
{
	size_t i;

	for (i = 0; i < size; i++)
		tx[i] = pattern(turn, i);
}

static void check(uint32_t turn)
{
	size_t i;

	errno = 0;
	for (i = 0; i < size; i++)
		if (rx[i] != pattern(turn, i))
			die("turn %u: byte %zu is %02x, not %02x", turn, i,
			    rx[i], pattern(turn, i));
	memset(rx, 0, size);
}

static void post_recv(void)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)rx,
		.length = size,
		.lkey = mr->lkey,
	};
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	errno = ibv_post_recv(qp, &wr, &bad);
	if (errno)
		die("post_recv");
}

static void take(const struct ibv_wc *wc)
{
	errno = 0;
	if (wc->status != IBV_WC_SUCCESS)
		die("completion: %s (vendor error 0x%x)",
		    ibv_wc_status_str(wc->status), wc->vendor_err);
	if (!(wc->opcode & IBV_WC_RECV)) {
		sent = true;
		return;
	}
	received = true;
	received_imm = be32toh(wc->imm_data);
	received_len = wc->byte_len;
	if (wc->src_qp != peer.qpn)
		die("message from QPN 0x%06x", wc->src_qp);
}

static void wait_for_event(void)
{
	struct ibv_cq *which;
	void *context;

	if (ibv_get_cq_event(channel, &which, &context))
		die("completion event");
	ibv_ack_cq_events(which, 1);
}

/* The caller polls once more after this before it sleeps. */
static void arm(void)
{
	errno = ibv_req_notify_cq(cq, 0);
	if (errno)
		die("req_notify_cq");
}

static void wait_until(const bool *flag)
{
	double end = now() + wait_s;
	bool armed = false;
	struct ibv_wc wc;
	int n;

	while (!*flag) {
		n = ibv_poll_cq(cq, 1, &wc);
		errno = 0;
		if (n < 0)
			die("poll_cq");
		if (n) {
			take(&wc);
		} else if (channel && !armed) {
			arm();
			armed = true;
		} else if (channel) {
			wait_for_event();
			armed = false;
		} else if (now() > end) {
			die("no completion in %u s", wait_s);
		}
	}
}

/* One operation on @len bytes of @buf, and its completion. */
static void move(enum op what, uint32_t imm, void *buf, uint32_t len)
{
	sent = false;
	ibv_wr_start(qpx);
	switch (what) {
	case OP_SEND:
		ibv_wr_send_imm(qpx, htobe32(imm));
		break;
	case OP_WRITE:
		ibv_wr_rdma_write(qpx, peer.rkey, peer.addr);
		break;
	case OP_WRITE_IMM:
		ibv_wr_rdma_write_imm(qpx, peer.rkey, peer.addr, htobe32(imm));
		break;
	case OP_READ:
		ibv_wr_rdma_read(qpx, peer.rkey, peer.addr);
		break;
	}
	ibv_wr_set_ud_addr(qpx, ah, peer.qpn, 0);
	if (len)
		ibv_wr_set_sge(qpx, mr->lkey, (uintptr_t)buf, len);
	errno = ibv_wr_complete(qpx);
	if (errno)
		die("posting");
	wait_until(&sent);
}

/*
 * Messages of an RU QP overtake each other, so a peer is told of a WRITE only
 * when that is complete.
 */
static void serve(uint32_t turn)
{
	fill(turn);
	switch (op) {
	case OP_SEND:
	case OP_WRITE_IMM:
		move(op, turn, tx, size);
		break;
	case OP_WRITE:
		move(OP_WRITE, 0, tx, size);
		move(OP_SEND, turn, NULL, 0);
		break;
	case OP_READ:
		move(OP_SEND, turn, NULL, 0);
		break;
	}
}

static void receive(uint32_t turn)
{
	uint32_t len = op == OP_SEND || op == OP_WRITE_IMM ? size : 0;

	wait_until(&received);
	received = false;
	errno = 0;
	if (received_imm != turn)
		die("turn %u came instead of %u", received_imm, turn);
	if (received_len != len)
		die("turn %u: %u bytes, not %u", turn, received_len, len);
	post_recv();
	if (op == OP_READ)
		move(OP_READ, 0, rx, size);
	check(turn);
}

static void play(void)
{
	double start, took, bytes = 2.0 * size * iters;
	uint32_t i;

	post_recv();
	post_recv();
	barrier();
	start = now();
	for (i = 0; i < iters; i++) {
		if (host)
			serve(2 * i);
		else
			receive(2 * i);
		if (host)
			receive(2 * i + 1);
		else
			serve(2 * i + 1);
	}
	took = now() - start;
	barrier();

	printf("%.0f bytes in %.2f seconds = %.2f Mbit/sec\n", bytes, took,
	       bytes * 8 / took / 1e6);
	printf("%u iters in %.2f seconds = %.2f usec/iter\n", iters, took,
	       took / iters * 1e6);
}

/* ------------------------------------------------------------------ */

static void usage(FILE *to)
{
	fprintf(to, "usage: ru_pingpong [OPTION...] [HOST]\n"
		"  -d DEV     RDMA device (default: the first uet device)\n"
		"  -g INDEX   GID index (default: the first with an IPv4 address)\n"
		"  -s BYTES   size of a message (4096)\n"
		"  -n ITERS   messages each way (1000)\n"
		"  -o OP      send, write, write-imm, read (send)\n"
		"  -p PORT    TCP port (18515)\n"
		"  -t SECS    longest wait for a completion (30; not with -e)\n"
		"  -e         sleep on completion events\n");
	exit(to == stdout ? 0 : 2);
}

static uint32_t number(const char *text, uint32_t max)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 0);
	if (errno || *end || end == text || *text == '-' || n > max)
		usage(stderr);
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
	usage(stderr);
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "d:g:s:n:o:p:t:eh")) != -1) {
		switch (c) {
		case 'd':
			device = optarg;
			break;
		case 'g':
			gid_index = number(optarg, 255);
			break;
		case 's':
			size = number(optarg, 1u << 30);
			break;
		case 'n':
			iters = number(optarg, INT32_MAX);
			break;
		case 'o':
			set_op(optarg);
			break;
		case 'p':
			port = optarg;
			break;
		case 't':
			wait_s = number(optarg, 3600);
			break;
		case 'e':
			use_events = true;
			break;
		default:
			usage(c == 'h' ? stdout : stderr);
		}
	}
	if (argc - optind > 1 || !iters)
		usage(stderr);
	host = argv[optind];
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	set_up();
	play();
	tear_down();
	return 0;
}
