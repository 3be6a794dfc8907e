// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What RC pays for a peer, on any driver: the time from an rdma_cm id to the
 * completion of the first message, one connection after the other, and the memory of
 * the kernel for both ends of all of them.
 *
 *	scale_cm -s -A ADDR [-n PEERS]			the server; takes PEERS, then ends
 *	scale_cm -A ADDR [-n PEERS] [-d DRIVER] [-o FIGURES] [-e]	the client; -e: memory too
 */
#include "figures.h"

#include <getopt.h>

#include <rdma/rdma_cma.h>

#define PORT	7471
#define DEPTH	16
/*
 * Enough to cover page 144 of what a process can map: libsiw takes a queue that
 * begins there for an error, so none may.
 */
#define CQ_DEPTH	32767
#define TIMEOUT	5000	/* ms, of a step of rdma_cm */

static unsigned int peers = 200;
static struct rdma_event_channel *events;
static struct sockaddr_in address = { .sin_family = AF_INET };

/* What all connections share; made with the first. */
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static __u64 word;
static unsigned int made;

static void step(enum rdma_cm_event_type want)
{
	struct rdma_cm_event *ev;

	if (rdma_get_cm_event(events, &ev))
		die("event");
	errno = 0;
	if (ev->event != want)
		die("%s with %d, not %s", rdma_event_str(ev->event), ev->status,
		    rdma_event_str(want));
	rdma_ack_cm_event(ev);
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = { DEPTH, DEPTH, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};

	made++;
	if (!pd) {
		pd = ibv_alloc_pd(id->verbs);
		cq = ibv_create_cq(id->verbs, CQ_DEPTH, NULL, NULL, 0);
		if (!pd || !cq)
			die("PD or CQ");
		mr = ibv_reg_mr(pd, &word, sizeof(word),
				IBV_ACCESS_LOCAL_WRITE);
		if (!mr)
			die("region");
	}
	attr.send_cq = cq;
	attr.recv_cq = cq;
	if (rdma_create_qp(id, pd, &attr))
		die("QP of connection %u", made);
}

static void message(struct rdma_cm_id *id, bool receive)
{
	struct ibv_sge sge = { (uintptr_t)&word, sizeof(word), mr->lkey };
	struct ibv_recv_wr *bad_recv, recv = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_send_wr *bad_send, send = {
		.sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	};

	errno = receive ? ibv_post_recv(id->qp, &recv, &bad_recv) :
			  ibv_post_send(id->qp, &send, &bad_send);
	if (errno)
		die("posting");
}

static void take_one(void)
{
	__u64 end = now_ns() + wait_s * 1000000000ull;
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc))) {
		errno = 0;
		if (now_ns() > end)
			die("no completion");
	}
	if (n < 0)
		die("poll");
	expect_status(&wc, IBV_WC_SUCCESS);
}

/* ------------------------------------------------------------------ */

static void accept_one(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };

	make_qp(id);
	message(id, true);
	if (rdma_accept(id, &param))
		die("accept");
}

/*
 * The client asks for the next connection when its message is through, which may be
 * before this end hears that the last one is established.
 */
static void serve(void)
{
	struct rdma_cm_event *ev;
	enum rdma_cm_event_type what;
	struct rdma_cm_id *id;
	unsigned int n = 0, i;

	if (rdma_create_id(events, &id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(id, (struct sockaddr *)&address) ||
	    rdma_listen(id, 1024))
		die("listen");
	/* The client measures when it has them all, and then goes. */
	do {
		if (rdma_get_cm_event(events, &ev))
			die("event");
		what = ev->event;
		id = ev->id;
		rdma_ack_cm_event(ev);
		if (what == RDMA_CM_EVENT_CONNECT_REQUEST) {
			accept_one(id);
			n++;
		}
	} while (what == RDMA_CM_EVENT_CONNECT_REQUEST ||
		 what == RDMA_CM_EVENT_ESTABLISHED);
	errno = 0;
	if (what != RDMA_CM_EVENT_DISCONNECTED)
		die("%s", rdma_event_str(what));
	expect("connections", n, peers);
	for (i = 0; i < n; i++)
		take_one();
}

static void connect_one(void)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct rdma_cm_id *id;

	if (rdma_create_id(events, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, TIMEOUT))
		die("address");
	step(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, TIMEOUT))
		die("route");
	step(RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp(id);
	if (rdma_connect(id, &param))
		die("connect");
	step(RDMA_CM_EVENT_ESTABLISHED);
	message(id, false);
	take_one();
}

static void client(void)
{
	double *us = calloc(peers, sizeof(*us)), zero;
	unsigned int i;
	__u64 start;

	/* The first one makes what all share. */
	connect_one();
	zero = kernel_bytes();
	for (i = 1; i < peers; i++) {
		start = now_ns();
		connect_one();
		us[i - 1] = (now_ns() - start) / 1000.0;
	}
	figure("R7", "rdma_cm", peers, "us", us, peers - 1);
	if (figures_exact)
		figure_one("R6", "rc-both-ends", peers, "B/peer",
			   (kernel_bytes() - zero) / (peers - 1));
	free(us);
}

int main(int argc, char **argv)
{
	bool server = false;
	int opt;

	address.sin_port = htons(PORT);
	while ((opt = getopt(argc, argv, "sA:d:n:o:w:e")) != -1) {
		switch (opt) {
		case 's':
			server = true;
			break;
		case 'A':
			if (inet_pton(AF_INET, optarg, &address.sin_addr) != 1)
				return 2;
			break;
		case 'd':
			figures_driver = optarg;
			break;
		case 'n':
			peers = atoi(optarg);
			break;
		case 'o':
			figures_open(optarg);
			break;
		case 'w':
			wait_s = atoi(optarg);
			break;
		case 'e':
			figures_exact = true;
			break;
		default:
			return 2;
		}
	}
	if (peers < 2)
		return 2;
	doing = server ? "server" : "client";
	events = rdma_create_event_channel();
	if (!events)
		die("event channel");
	if (server)
		serve();
	else
		client();
	/* The kernel takes down all connections. */
	return 0;
}
