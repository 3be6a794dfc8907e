// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Each asynchronous event, provoked, and what it is about. One after the other:
 * a test ends with an event that it knows, so that one too many before it is seen.
 * Host a asks, host b answers. Started by events.sh.
 *
 *	events -a DEV -A ADDR -b DEV -B ADDR [-w SECONDS] [-x COMMAND...] TEST...
 */
#include "pair_test.h"
#include "piece.h"

#include <rdma/uet-abi.h>

#define MEM	(1024 * 1024u)
#define NO_KEY	0x7fffff00u
#define ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* An event to come; of a port, which has no object, @about is NULL */
struct news {
	enum ibv_event_type type;
	void *about;
	bool came;
};

static struct conn conn = { .sge = 1, .access = ALL };

static struct pair p;

/* -x: what is done to the hosts meanwhile */
static const char *command[4];
static unsigned int nr_commands;

static bool of_port(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_GID_CHANGE:
		return true;
	default:
		return false;
	}
}

static bool try_event(struct side *s, struct ibv_async_event *ev,
		      unsigned int ms)
{
	struct pollfd fd = { .fd = s->ctx->async_fd, .events = POLLIN };

	if (poll(&fd, 1, ms) <= 0)
		return false;
	if (ibv_get_async_event(s->ctx, ev))
		die("get_async_event");
	ibv_ack_async_event(ev);
	return true;
}

/* @ev is one of these, and the first of it. */
static bool is_news(struct news *news, int n, const struct ibv_async_event *ev)
{
	for (int i = 0; i < n; i++) {
		if (news[i].came || news[i].type != ev->event_type)
			continue;
		if (of_port(ev->event_type))
			expect("port", ev->element.port_num, 1);
		else if (news[i].about != ev->element.qp)
			continue;
		news[i].came = true;
		return true;
	}
	return false;
}

/* The next events of a side are these, in any order. */
static void all_of(struct side *s, struct news *news, int n)
{
	struct ibv_async_event ev;
	int left = n;

	errno = 0;
	while (left) {
		if (!try_event(s, &ev, wait_s * 1000))
			die("%d of %d events did not come on %s, %s is the first asked for",
			    left, n, s->name, ibv_event_type_str(news[0].type));
		if (is_news(news, n, &ev))
			left--;
		/* Addresses come and go. */
		else if (ev.event_type != IBV_EVENT_GID_CHANGE)
			die("%s on %s, about something else or not asked for",
			    ibv_event_type_str(ev.event_type), s->name);
	}
}

static void event(struct side *s, enum ibv_event_type type, void *about)
{
	struct news news = { .type = type, .about = about };

	all_of(s, &news, 1);
}

/* Nothing but changes of addresses is there now. */
static void no_event(struct side *s)
{
	struct ibv_async_event ev;

	errno = 0;
	while (try_event(s, &ev, 0))
		if (ev.event_type != IBV_EVENT_GID_CHANGE)
			die("%s on %s", ibv_event_type_str(ev.event_type),
			    s->name);
}

static void post(struct ibv_qp *qp, enum ibv_wr_opcode op, struct ibv_sge sge,
		 uintptr_t remote, __u32 rkey)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = op,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = remote;
		wr.wr.atomic.rkey = rkey;
	} else {
		wr.wr.rdma.remote_addr = remote;
		wr.wr.rdma.rkey = rkey;
	}
	errno = ibv_post_send(qp, &wr, &bad);
	if (errno)
		die("post_send");
}

static void post_send(struct ibv_qp *qp)
{
	post(qp, IBV_WR_SEND, piece(&A, 0, 64), 0, 0);
}

/* A SEND from a to b goes through. */
static void works(struct pair *q)
{
	post_recv(&B, q->b, 2, piece(&B, 0, 64));
	post_send(q->a);
	gets(&A, 1, IBV_WC_SUCCESS);
	gets(&B, 2, IBV_WC_SUCCESS);
}

/* Host b's QP is the last one that hears of anything: it was written to. */
static void bad_write(struct ibv_qp *qp)
{
	post(qp, IBV_WR_RDMA_WRITE, piece(&A, 0, 64), (uintptr_t)B.mem, NO_KEY);
	gets(&A, 1, IBV_WC_REM_ACCESS_ERR);
}

/* ------------------------------------------------------------------ */
/* Of QPs                                                              */

/* The first message of a QP that is only ready to receive; not the second */
static void comm_est(void)
{
	p.a = qp_create(&A, IBV_QPT_RC, &conn);
	p.b = qp_create(&B, IBV_QPT_RC, &conn);
	qp_connect(&A, p.a, &B, p.b->qp_num, &conn);
	if (qp_init(p.b, &conn) ||
	    qp_rtr(&B, p.b, &A.gid, p.a->qp_num, &conn))
		die("RTR");
	works(&p);
	event(&B, IBV_EVENT_COMM_EST, p.b);
	works(&p);
	if (qp_rts(&B, p.b, &conn))
		die("RTS");
	works(&p);
	bad_write(p.a);
	event(&B, IBV_EVENT_QP_ACCESS_ERR, p.b);
	no_event(&A);
	pair_close(&p);
}

static void broken_rule(enum ibv_wr_opcode op, struct ibv_sge sge,
			uintptr_t remote, __u32 rkey, enum ibv_event_type type,
			enum ibv_wc_status status)
{
	pair_open(&A, &B, &p, &conn);
	works(&p);
	post(p.a, op, sge, remote, rkey);
	gets(&A, 1, status);
	event(&B, type, p.b);
	expect("state of the responder", qp_state(p.b), IBV_QPS_ERR);
	no_event(&A);
	pair_close(&p);
}

static void access_err(enum ibv_wr_opcode op, __u32 len, uintptr_t remote,
		       __u32 rkey)
{
	broken_rule(op, piece(&A, 0, len), remote, rkey,
		    IBV_EVENT_QP_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR);
}

/* Memory with a key that was never given, out of bounds, or without the right */
static void qp_access_err(void)
{
	uintptr_t at = (uintptr_t)B.mem;

	access_err(IBV_WR_RDMA_WRITE, 100, at, NO_KEY);
	access_err(IBV_WR_RDMA_READ, 100, at, NO_KEY);
	access_err(IBV_WR_RDMA_WRITE, 60000, at + MEM - 59999, B.mr->rkey);
	access_err(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, at, B.mr->rkey);
}

static void req_err(enum ibv_wr_opcode op, uintptr_t remote, __u32 rkey)
{
	broken_rule(op, piece(&A, 0, 8), remote, rkey, IBV_EVENT_QP_REQ_ERR,
		    IBV_WC_REM_INV_REQ_ERR);
}

/* An atomic that is not aligned, where atomics are allowed; what the QP forbids */
static void qp_req_err(void)
{
	uintptr_t at = (uintptr_t)B.mem;
	struct ibv_mr *mr = ibv_reg_mr(B.pd, B.mem, PAGE,
				       IBV_ACCESS_LOCAL_WRITE |
				       IBV_ACCESS_REMOTE_ATOMIC);

	if (!mr)
		die("reg_mr");
	req_err(IBV_WR_ATOMIC_FETCH_AND_ADD, at + 4, mr->rkey);
	conn.access = IBV_ACCESS_LOCAL_WRITE;
	req_err(IBV_WR_ATOMIC_FETCH_AND_ADD, at, mr->rkey);
	req_err(IBV_WR_RDMA_WRITE, at, B.mr->rkey);
	req_err(IBV_WR_RDMA_READ, at, B.mr->rkey);
	conn.access = ALL;
	if (ibv_dereg_mr(mr))
		die("dereg_mr");
}

static void to_sqd(struct ibv_qp *qp, bool notify)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD,
		.en_sqd_async_notify = notify,
	};

	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE |
			      IBV_QP_EN_SQD_ASYNC_NOTIFY);
	if (errno)
		die("SQD");
}

/* A message that waits for a buffer, and the buffer */
static void drain(bool notify)
{
	post_send(p.a);
	to_sqd(p.a, notify);
	expect("sq_draining", qp_now(p.a).sq_draining, true);
	no_event(&A);
	post_recv(&B, p.b, 2, piece(&B, 0, 64));
	gets(&A, 1, IBV_WC_SUCCESS);
	gets(&B, 2, IBV_WC_SUCCESS);
	expect("sq_draining", qp_now(p.a).sq_draining, false);
}

/* Once what is under way is over; at once if there is nothing; only if asked for */
static void sq_drained(void)
{
	pair_open(&A, &B, &p, &conn);
	drain(true);
	event(&A, IBV_EVENT_SQ_DRAINED, p.a);
	to_state(p.a, IBV_QPS_RTS);
	works(&p);
	to_sqd(p.a, true);
	event(&A, IBV_EVENT_SQ_DRAINED, p.a);
	to_state(p.a, IBV_QPS_RTS);
	drain(false);
	to_state(p.a, IBV_QPS_RTS);
	/* The next one is about something else. */
	post(p.b, IBV_WR_RDMA_WRITE, piece(&B, 0, 64), (uintptr_t)A.mem,
	     NO_KEY);
	event(&A, IBV_EVENT_QP_ACCESS_ERR, p.a);
	gets(&B, 1, IBV_WC_REM_ACCESS_ERR);
	no_event(&B);
	pair_close(&p);
}

/* ------------------------------------------------------------------ */
/* Of SRQs                                                             */

static struct ibv_srq *make_srq(struct side *s)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 64, .max_sge = 1 },
	};
	struct ibv_srq *srq = ibv_create_srq(s->pd, &init);

	if (!srq)
		die("create_srq");
	return srq;
}

static void fill_srq(struct ibv_srq *srq, int n)
{
	struct ibv_sge sge = piece(&B, 0, 64);
	struct ibv_recv_wr *bad, wr = {
		.wr_id = 2, .sg_list = &sge, .num_sge = 1,
	};

	for (; n > 0; n--) {
		errno = ibv_post_srq_recv(srq, &wr, &bad);
		if (errno)
			die("post_srq_recv");
	}
}

/* Host b receives into @srq. */
static void open_srq(struct pair *q, struct ibv_srq *srq)
{
	struct conn shared = conn;

	shared.srq = srq;
	pair_open_as(&A, &conn, &B, &shared, q);
}

static void close_srq(struct pair *q, struct ibv_srq *srq)
{
	pair_close(q);
	if (ibv_destroy_srq(srq))
		die("destroy_srq");
}

static void one_message(struct pair *q)
{
	post_send(q->a);
	gets(&A, 1, IBV_WC_SUCCESS);
	gets(&B, 2, IBV_WC_SUCCESS);
}

/* The owner ends it, or the peer breaks a rule: no other QP hears of it. */
static void qp_last_wqe_reached(void)
{
	struct ibv_srq *srq = make_srq(&B);
	struct pair other;

	open_srq(&p, srq);
	open_srq(&other, srq);
	fill_srq(srq, 4);
	one_message(&p);
	to_state(p.b, IBV_QPS_ERR);
	event(&B, IBV_EVENT_QP_LAST_WQE_REACHED, p.b);
	to_state(p.b, IBV_QPS_ERR);
	one_message(&other);
	bad_write(other.a);
	all_of(&B, (struct news[]){
		{ IBV_EVENT_QP_ACCESS_ERR, other.b },
		{ IBV_EVENT_QP_LAST_WQE_REACHED, other.b },
	}, 2);
	pair_close(&other);
	close_srq(&p, srq);
}

static void limit(struct ibv_srq *srq, __u32 n)
{
	struct ibv_srq_attr attr = { .srq_limit = n };

	errno = ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT);
	if (errno)
		die("modify_srq");
}

/* Once for each time that the limit is set */
static void srq_limit_reached(void)
{
	struct ibv_srq *srq = make_srq(&B);
	struct ibv_srq_attr attr;

	open_srq(&p, srq);
	fill_srq(srq, 5);
	limit(srq, 4);
	one_message(&p);
	no_event(&B);
	one_message(&p);
	event(&B, IBV_EVENT_SRQ_LIMIT_REACHED, srq);
	if (ibv_query_srq(srq, &attr))
		die("query_srq");
	expect("srq_limit", attr.srq_limit, 0);
	one_message(&p);
	limit(srq, 2);
	one_message(&p);
	event(&B, IBV_EVENT_SRQ_LIMIT_REACHED, srq);
	one_message(&p);
	to_state(p.b, IBV_QPS_ERR);
	event(&B, IBV_EVENT_QP_LAST_WQE_REACHED, p.b);
	close_srq(&p, srq);
}

/* Mapped rings of this process */
static int rings(struct uet_ring **ring, int most)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[300];
	unsigned long at;
	int n = 0;

	while (f && n < most && fgets(line, sizeof(line), f))
		if (strstr(line, "uverbs") && sscanf(line, "%lx-", &at) == 1)
			ring[n++] = (void *)at;
	if (f)
		fclose(f);
	return n;
}

static struct ibv_srq *make_srq_find_ring(struct uet_ring **ring)
{
	struct uet_ring *before[64], *after[64];
	int nr_before = rings(before, 64), nr_after, i, j;
	struct ibv_srq *srq = make_srq(&B);

	nr_after = rings(after, 64);
	for (i = 0; i < nr_after; i++) {
		for (j = 0; j < nr_before && before[j] != after[i]; j++)
			;
		if (j == nr_before) {
			*ring = after[i];
			return srq;
		}
	}
	die("the SRQ has no ring");
}

/* An index that cannot be, which no library writes: the queue and its QP end. */
static void srq_err(void)
{
	struct uet_ring *ring;
	struct ibv_srq *srq = make_srq_find_ring(&ring);

	open_srq(&p, srq);
	fill_srq(srq, 2);
	one_message(&p);
	WRITE_ONCE(ring->prod, READ_ONCE(ring->prod) + 10000);
	post_send(p.a);
	all_of(&B, (struct news[]){
		{ IBV_EVENT_SRQ_ERR, srq },
		{ IBV_EVENT_QP_FATAL, p.b },
		{ IBV_EVENT_QP_LAST_WQE_REACHED, p.b },
	}, 3);
	gets(&A, 1, IBV_WC_REM_OP_ERR);
	no_event(&A);
	close_srq(&p, srq);
}

/* ------------------------------------------------------------------ */
/* Of CQs                                                              */

/* Host a's completions go to @cq. */
static void open_on(struct pair *q, struct ibv_cq *cq)
{
	struct conn small = conn;

	small.cq = cq;
	pair_open_as(&A, &small, &B, &conn, q);
}

static void arrives(struct pair *q)
{
	post_recv(&B, q->b, 2, piece(&B, 0, 64));
	post_send(q->a);
	gets(&B, 2, IBV_WC_SUCCESS);
}

/* What was there before the CQ was full is not lost. */
static void all_there(struct ibv_cq *cq, int n, __u32 qpn)
{
	struct ibv_wc wc;

	for (; n > 0; n--) {
		if (ibv_poll_cq(cq, 1, &wc) != 1)
			die("%d completions are lost", n);
		expect_status(&wc, IBV_WC_SUCCESS);
		expect("qp_num", wc.qp_num, qpn);
	}
	if (ibv_poll_cq(cq, 1, &wc))
		die("one completion too many");
}

/*
 * One completion more than there is room for. Each QP of the CQ ends with the
 * next completion that it has; those of other CQs do not.
 */
static void cq_err(void)
{
	struct ibv_cq *cq = ibv_create_cq(A.ctx, 4, NULL, NULL, 0);
	struct pair other, apart;

	if (!cq)
		die("create_cq");
	open_on(&p, cq);
	open_on(&other, cq);
	pair_open(&A, &B, &apart, &conn);
	for (int i = 0; i < cq->cqe; i++)
		arrives(&p);
	no_event(&A);
	arrives(&p);
	all_of(&A, (struct news[]){
		{ IBV_EVENT_CQ_ERR, cq },
		{ IBV_EVENT_QP_FATAL, p.a },
	}, 2);
	expect("state of the QP", qp_state(p.a), IBV_QPS_ERR);
	expect("state of the other QP", qp_state(other.a), IBV_QPS_RTS);
	all_there(cq, cq->cqe, p.a->qp_num);
	/* There is room again, and no use in it. */
	arrives(&other);
	event(&A, IBV_EVENT_QP_FATAL, other.a);
	expect("state of the other QP", qp_state(other.a), IBV_QPS_ERR);
	all_there(cq, 0, 0);
	works(&apart);
	no_event(&A);
	no_event(&B);
	pair_close(&p);
	pair_close(&other);
	pair_close(&apart);
	if (ibv_destroy_cq(cq))
		die("destroy_cq");
}

/* ------------------------------------------------------------------ */
/* Of ports                                                            */

static void run(unsigned int i)
{
	if (i >= nr_commands)
		die("-x is missing");
	if (system(command[i]))
		die("%s", command[i]);
}

/* Host a's interface goes down and up again; the cable is seen on both ends. */
static void port_err_active(void)
{
	no_event(&A);
	no_event(&B);
	run(0);
	event(&A, IBV_EVENT_PORT_ERR, NULL);
	event(&B, IBV_EVENT_PORT_ERR, NULL);
	run(1);
	event(&A, IBV_EVENT_PORT_ACTIVE, NULL);
	event(&B, IBV_EVENT_PORT_ACTIVE, NULL);
}

/* Another MTU, which active_mtu may follow, and the old one again */
static void port_active_mtu(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		no_event(&A);
		run(i);
		event(&A, IBV_EVENT_PORT_ACTIVE, NULL);
	}
	no_event(&B);
}

/* An address comes and goes */
static void gid_change(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		no_event(&A);
		run(i);
		event(&A, IBV_EVENT_GID_CHANGE, NULL);
	}
}

static const struct entry tests[] = {
	{ "comm_est", comm_est },
	{ "qp_access_err", qp_access_err },
	{ "qp_req_err", qp_req_err },
	{ "sq_drained", sq_drained },
	{ "qp_last_wqe_reached", qp_last_wqe_reached },
	{ "srq_limit_reached", srq_limit_reached },
	{ "srq_err", srq_err },
	{ "cq_err", cq_err },
	{ "port_err_active", port_err_active },
	{ "port_active_mtu", port_active_mtu },
	{ "gid_change", gid_change },
	{}
};

static void own_option(int opt)
{
	if (nr_commands == ARRAY_SIZE(command))
		die("too many -x");
	command[nr_commands++] = optarg;
}

static const struct pair_more more = {
	.options = "x:",
	.option = own_option,
	.usage = "  -x COMMAND           what a test of ports does, in order\n",
};

int main(int argc, char **argv)
{
	return pair_main_more(argc, argv, tests, MEM, &more);
}
