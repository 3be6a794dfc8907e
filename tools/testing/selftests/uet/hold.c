// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Holds one of every object of a device, with data under way, until the device is
 * taken away. Then it must be told (IBV_EVENT_DEVICE_FATAL), every call must give
 * EIO, nothing may hang or crash, and everything can be given back.
 *
 * hold [-a DEV -A ADDRESS -b DEV -B ADDRESS] [-r FILE] [-i] [-l]
 *	-r FILE	make FILE when all is set up
 *	-i	idle: no data under way
 *	-l	listen with rdma_cm too (run it where ADDRESS is)
 * Which of the two devices goes does not matter; both may.
 */
#include "pair_test.h"

#include <sys/stat.h>

#include <rdma/rdma_cma.h>

#include <infiniband/uetdv.h>

#define DEPTH	16
#define LEN	65536

static const char *ready_file;
static bool idle, listening;

static struct ibv_qp *extra[4];
static struct ibv_srq *srq;
static struct ibv_ah *ah;
static struct rdma_event_channel *cm_channel;
static struct rdma_cm_id *cm_id;

static struct ibv_qp *make_ru(struct side *s)
{
	struct uetdv_qp_init_attr uet = {
		.driver_qp_type = UETDV_QP_DRIVER_TYPE_RU,
	};
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = s->cq, .recv_cq = s->cq,
		.cap = { 8, 8, 1, 1, 0 },
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = s->pd,
	};

	return uetdv_create_qp(s->ctx, &attr, &uet, sizeof(uet));
}

static void post_recvs(struct side *s, struct ibv_qp *qp, int n)
{
	struct ibv_sge sge = { (uintptr_t)s->mem, LEN, s->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	while (n--)
		if (ibv_post_recv(qp, &wr, &bad))
			return;
}

/* A shared queue with some receives, and a limit below them */
static void make_srq(void)
{
	struct ibv_sge sge = { (uintptr_t)A.mem, LEN, A.mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = DEPTH, .max_sge = 1 },
	};
	struct ibv_srq_attr attr = { .srq_limit = 2 };
	int i;

	srq = ibv_create_srq(A.pd, &init);
	if (!srq)
		die("create_srq");
	for (i = 0; i < 3; i++)
		if (ibv_post_srq_recv(srq, &wr, &bad))
			die("post_srq_recv");
	if (ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT))
		die("modify_srq");
}

/* QPs in every state, a UD QP, an RU QP, a shared queue, an address handle */
static void make_extras(const struct conn *c)
{
	struct ibv_ah_attr attr;
	int i;

	for (i = 0; i < 3; i++)
		extra[i] = qp_create(&A, i == 2 ? IBV_QPT_UD : IBV_QPT_RC, c);
	extra[3] = make_ru(&A);
	for (i = 1; i < 3; i++)
		if (qp_init(extra[i], c))
			die("INIT");
	if (qp_rtr(&A, extra[2], NULL, 0, c) || qp_rts(&A, extra[2], c))
		die("UD QP");
	post_recvs(&A, extra[1], 4);
	post_recvs(&A, extra[2], 4);
	make_srq();
	ah_attr(&A, &B.gid, &attr);
	ah = ibv_create_ah(A.pd, &attr);
	if (!ah)
		die("create_ah");
}

static void make_listener(void)
{
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} addr = { 0 };

	if (inet_pton(AF_INET, addr_a, &addr.in.sin_addr) == 1)
		addr.in.sin_family = AF_INET;
	else if (inet_pton(AF_INET6, addr_a, &addr.in6.sin6_addr) == 1)
		addr.in6.sin6_family = AF_INET6;
	cm_channel = rdma_create_event_channel();
	if (!cm_channel || rdma_create_id(cm_channel, &cm_id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(cm_id, &addr.sa) || rdma_listen(cm_id, 5))
		die("rdma_cm");
	fcntl(cm_channel->fd, F_SETFL, O_NONBLOCK);
}

static int post(struct ibv_qp *qp, int n)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND,
	};
	struct ibv_sge sge = { (uintptr_t)A.mem, LEN, A.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = n, .sg_list = &sge, .num_sge = 1,
		.opcode = ops[n % 3], .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)B.mem, B.mr->rkey },
	}, *bad;

	return ibv_post_send(qp, &wr, &bad);
}

static bool device_gone(struct side *s)
{
	struct pollfd p = { .fd = s->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	bool gone;

	while (poll(&p, 1, 0) > 0) {
		if (ibv_get_async_event(s->ctx, &event))
			die("async event");
		gone = event.event_type == IBV_EVENT_DEVICE_FATAL;
		if (!gone)
			printf("%s: %s\n", s->name,
			       ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
		if (gone)
			return true;
	}
	return false;
}

/* Move data until a device is gone; returns the side that is. */
static struct side *run(struct pair *p)
{
	unsigned int out = 0, number = 0;
	bool broken = idle;
	struct ibv_wc wc;

	post_recvs(&B, p->b, DEPTH);
	for (;;) {
		struct side *side;

		if (device_gone(&A))
			return &A;
		if (device_gone(&B))
			return &B;
		while (!broken && out < DEPTH) {
			if (post(p->a, number++)) {
				broken = true;
				break;
			}
			out++;
		}
		if (number >= DEPTH || broken) {
			if (ready_file && creat(ready_file, 0644) < 0)
				die("%s", ready_file);
			ready_file = NULL;
		}
		/* a device that went away has no completions any more */
		side = take_any(&A, &B, &wc, 20);
		if (!side)
			continue;
		if (wc.status) {
			broken = true;
			continue;
		}
		if (side == &B)
			post_recvs(&B, p->b, 1);
		else
			out--;
	}
}

static void must_be_gone(const char *what, bool failed, int err)
{
	errno = err;
	if (!failed)
		die("%s still works", what);
	if (err != EIO)
		die("%s does not give EIO", what);
	errno = 0;
}

#define GONE(call)	do {						\
	errno = 0;							\
	ret_ = (call);							\
	must_be_gone(#call, ret_ != 0, ret_ > 0 ? ret_ : errno);	\
} while (0)
#define GONE_PTR(call)	do {						\
	errno = 0;							\
	ret_ = !(call);							\
	must_be_gone(#call, ret_, errno);				\
} while (0)

static void check_gone(struct side *s, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp_init_attr init = {
		.send_cq = s->cq, .recv_cq = s->cq, .qp_type = IBV_QPT_RC,
		.cap = { 1, 1, 1, 1, 0 },
	};
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_port_attr port;
	struct ibv_ah_attr ah_to;
	struct ibv_wc wc;
	int ret_, i;

	doing = "a device that is gone";
	GONE(ibv_query_port(s->ctx, 1, &port));
	GONE_PTR(ibv_alloc_pd(s->ctx));
	GONE_PTR(ibv_reg_mr(s->pd, s->mem, PAGE, 0));
	GONE_PTR(ibv_create_cq(s->ctx, 4, NULL, NULL, 0));
	GONE_PTR(ibv_create_qp(s->pd, &init));
	ah_attr(s, &s->gid, &ah_to);
	GONE_PTR(ibv_create_ah(s->pd, &ah_to));
	GONE(ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	GONE(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	GONE(ibv_req_notify_cq(s->cq, 0));
	/* the library may have taken the QP to be in error, or its queue full */
	ret_ = ibv_post_send(qp, &wr, &bad);
	if (ret_ != EIO && ret_ != EINVAL && ret_ != ENOMEM)
		die("post_send gives %d", ret_);
	/* rings are still memory */
	for (i = 0; i < 1000 && ibv_poll_cq(s->cq, 1, &wc) > 0; i++)
		;
}

static void give_back(const char *what, int ret)
{
	errno = ret > 0 ? ret : errno;
	if (ret && errno != EIO)
		die("%s", what);
}

static void give_back_all(struct pair *p)
{
	struct side *s;
	int i;

	doing = "giving back";
	for (i = 0; i < 4; i++)
		if (extra[i])
			give_back("QP", ibv_destroy_qp(extra[i]));
	give_back("QP", ibv_destroy_qp(p->a));
	give_back("QP", ibv_destroy_qp(p->b));
	give_back("SRQ", ibv_destroy_srq(srq));
	give_back("AH", ibv_destroy_ah(ah));
	for (i = 0; i < 2; i++) {
		s = i ? &B : &A;
		give_back("MR", ibv_dereg_mr(s->mr));
		if (s->events)
			ibv_ack_cq_events(s->cq, s->events);
		give_back("CQ", ibv_destroy_cq(s->cq));
		give_back("channel", ibv_destroy_comp_channel(s->channel));
		give_back("PD", ibv_dealloc_pd(s->pd));
		give_back("device", ibv_close_device(s->ctx));
	}
}

static void end_listener(void)
{
	struct rdma_cm_event *event;

	while (!rdma_get_cm_event(cm_channel, &event)) {
		printf("rdma_cm: %s\n", rdma_event_str(event->event));
		rdma_ack_cm_event(event);
	}
	give_back("rdma_cm id", rdma_destroy_id(cm_id));
	rdma_destroy_event_channel(cm_channel);
}

static void own_option(int opt)
{
	if (opt == 'r')
		ready_file = optarg;
	else if (opt == 'i')
		idle = true;
	else
		listening = true;
}

static const struct pair_more more = {
	.options = "r:il",
	.option = own_option,
	.usage = "  -r FILE              make FILE when all is set up\n"
		 "  -i                   no data under way\n"
		 "  -l                   listen with rdma_cm too\n",
};

int main(int argc, char **argv)
{
	const struct conn c = { .depth = DEPTH, .sge = 1 };
	struct side *gone;
	struct pair p;

	pair_options(argc, argv, NULL, &more);
	noise_init(0);
	side_open(&A, dev_a, addr_a, 1 << 20, 512);
	side_open(&B, dev_b, addr_b, 1 << 20, 512);
	pair_open(&A, &B, &p, &c);
	make_extras(&c);
	if (listening)
		make_listener();
	gone = run(&p);
	printf("%s is gone\n", gone->name);
	check_gone(gone, gone == &A ? p.a : p.b);
	if (listening)
		end_listener();
	give_back_all(&p);
	printf("everything was given back\n");
	return 0;
}
