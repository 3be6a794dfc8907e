// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Each completion status of verbs, provoked: what the requester gets, what the
 * responder gets, and the states of both QPs. Host a asks, host b answers.
 * Started by status.sh.
 *
 *	status -a DEV -A ADDR -b DEV -B ADDR [-w SECONDS] TEST...
 */
#include "pair_test.h"
#include "piece.h"
#include "ru_qp.h"

#define MEM	(1024 * 1024u)
#define NO_KEY	0x7fffff00u
#define NACK_HDR_MISMATCH 0x0f	/* NACK code PDC_HDR_MISMATCH */

static struct pair p;
static struct conn conn = { .sge = 2, .rnr_retry = 7 };

static struct ibv_send_wr request(enum ibv_wr_opcode op, struct ibv_sge *sge)
{
	return (struct ibv_send_wr){
		.wr_id = 1,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = op,
		.send_flags = IBV_SEND_SIGNALED,
	};
}

static void post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	errno = ibv_post_send(qp, wr, &bad);
	if (errno)
		die("post_send");
}

static void states(enum ibv_qp_state a, enum ibv_qp_state b)
{
	expect("state of the requester", qp_state(p.a), a);
	expect("state of the responder", qp_state(p.b), b);
}

static void done(void)
{
	none_left(&A);
	none_left(&B);
	pair_close(&p);
}

/* The next asynchronous event of a side is this one, about that QP. */
static void event(struct side *s, enum ibv_event_type type, struct ibv_qp *qp)
{
	struct pollfd fd = { .fd = s->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event ev;

	errno = 0;
	for (;;) {
		if (poll(&fd, 1, wait_s * 1000) <= 0)
			die("no event %d on %s", type, s->name);
		if (ibv_get_async_event(s->ctx, &ev))
			die("get_async_event");
		ibv_ack_async_event(&ev);
		if (ev.event_type == type && ev.element.qp == qp)
			return;
		/* Of the port: addresses come and go */
		if (ev.event_type < IBV_EVENT_PORT_ACTIVE)
			die("event %d on %s, not %d", ev.event_type, s->name,
			    type);
	}
}

static void success(void)
{
	struct ibv_sge sge = piece(&A, 0, 100);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge);

	pair_open(&A, &B, &p, &conn);
	post_recv(&B, p.b, 2, piece(&B, 0, 100));
	post(p.a, &wr);
	gets(&A, 1, IBV_WC_SUCCESS);
	gets(&B, 2, IBV_WC_SUCCESS);
	states(IBV_QPS_RTS, IBV_QPS_RTS);
	done();
}

/* The message is longer than the buffer. */
static void loc_len_err(void)
{
	struct ibv_sge sge = piece(&A, 0, 1000);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge);

	pair_open(&A, &B, &p, &conn);
	post_recv(&B, p.b, 2, piece(&B, 0, 999));
	post_recv(&B, p.b, 3, piece(&B, 0, 999));
	post(p.a, &wr);
	gets(&A, 1, IBV_WC_REM_INV_REQ_ERR);
	gets(&B, 2, IBV_WC_LOC_LEN_ERR);
	gets(&B, 3, IBV_WC_WR_FLUSH_ERR);
	states(IBV_QPS_ERR, IBV_QPS_ERR);
	done();
}

/* A datagram that does not fit a packet */
static void loc_len_err_ud(void)
{
	struct ibv_sge sge = piece(&A, 0, 2 * 4096);
	struct ibv_send_wr *bad, wr = request(IBV_WR_SEND, &sge);
	struct ibv_ah_attr attr;
	struct ibv_qp *qp;
	int err;

	qp = qp_create(&A, IBV_QPT_UD, &conn);
	qp_connect(&A, qp, &B, 0, &conn);
	ah_attr(&A, &B.gid, &attr);
	wr.wr.ud.ah = ibv_create_ah(A.pd, &attr);
	if (!wr.wr.ud.ah)
		die("create_ah");
	wr.wr.ud.remote_qpn = 0x1234;
	wr.wr.ud.remote_qkey = QKEY;
	err = ibv_post_send(qp, &wr, &bad);
	if (!err)
		gets(&A, 1, IBV_WC_LOC_LEN_ERR);
	else
		expect("error of the post", err, EINVAL);
	none_left(&A);
	errno = 0;
	if (ibv_destroy_qp(qp) || ibv_destroy_ah(wr.wr.ud.ah))
		die("destroy");
}

/*
 * A datagram that cannot leave is one that got lost; status.sh has made the MTU too
 * small for any.
 */
static void success_ud_lost(void)
{
	struct ibv_sge sge = piece(&A, 0, 64);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge);
	struct ibv_qp *qp = qp_create(&A, IBV_QPT_UD, &conn);

	qp_connect(&A, qp, &B, 0, &conn);
	wr.wr.ud.ah = ah_to(&A, &B);
	wr.wr.ud.remote_qpn = 0x1234;
	wr.wr.ud.remote_qkey = QKEY;
	post(qp, &wr);
	gets(&A, 1, IBV_WC_SUCCESS);
	expect("state", qp_state(qp), IBV_QPS_RTS);
	none_left(&A);
	errno = 0;
	if (ibv_destroy_qp(qp) || ibv_destroy_ah(wr.wr.ud.ah))
		die("destroy");
}

/* An address of another protection domain */
static void loc_qp_op_err(void)
{
	struct ibv_sge sge = piece(&A, 0, 100);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge);
	struct ibv_pd *other = ibv_alloc_pd(A.ctx);
	struct ibv_ah_attr attr;
	struct ibv_qp *qp;

	qp = qp_create(&A, IBV_QPT_UD, &conn);
	qp_connect(&A, qp, &B, 0, &conn);
	ah_attr(&A, &B.gid, &attr);
	wr.wr.ud.ah = ibv_create_ah(other, &attr);
	if (!wr.wr.ud.ah)
		die("create_ah");
	wr.wr.ud.remote_qpn = 0x1234;
	wr.wr.ud.remote_qkey = QKEY;
	post(qp, &wr);
	gets(&A, 1, IBV_WC_LOC_QP_OP_ERR);
	none_left(&A);
	if (ibv_destroy_qp(qp) || ibv_destroy_ah(wr.wr.ud.ah) ||
	    ibv_dealloc_pd(other))
		die("destroy");
}

static void loc_prot_err(void)
{
	struct ibv_sge sge = piece(&A, 0, 100);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge);

	pair_open(&A, &B, &p, &conn);
	post_recv(&B, p.b, 2, piece(&B, 0, 100));
	sge.lkey = NO_KEY;
	post(p.a, &wr);
	gets(&A, 1, IBV_WC_LOC_PROT_ERR);
	/* The responder never hears of it */
	states(IBV_QPS_ERR, IBV_QPS_RTS);
	none_left(&B);
	done();
}

/* The buffer to receive into is not what its key says. */
static void rem_op_err(void)
{
	struct ibv_sge sge = piece(&A, 0, 100), to = piece(&B, 0, 100);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge);

	pair_open(&A, &B, &p, &conn);
	to.lkey = NO_KEY;
	post_recv(&B, p.b, 2, to);
	post(p.a, &wr);
	gets(&A, 1, IBV_WC_REM_OP_ERR);
	gets(&B, 2, IBV_WC_LOC_PROT_ERR);
	states(IBV_QPS_ERR, IBV_QPS_ERR);
	done();
}

/* In order, on both queues, also what is posted later */
static void wr_flush_err(void)
{
	struct ibv_sge sge = piece(&A, 0, 100);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge);
	uint64_t id;

	pair_open(&A, &B, &p, &conn);
	for (id = 10; id < 14; id++)
		post_recv(&A, p.a, id, piece(&A, 0, 100));
	to_state(p.a, IBV_QPS_ERR);
	for (id = 10; id < 14; id++)
		gets(&A, id, IBV_WC_WR_FLUSH_ERR);
	post(p.a, &wr);
	gets(&A, 1, IBV_WC_WR_FLUSH_ERR);
	post_recv(&A, p.a, 20, piece(&A, 0, 100));
	gets(&A, 20, IBV_WC_WR_FLUSH_ERR);
	states(IBV_QPS_ERR, IBV_QPS_RTS);
	done();
}

static void mw_bind_err(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(A.pd, IBV_MW_TYPE_2);
	struct ibv_send_wr wr = request(IBV_WR_BIND_MW, NULL);

	if (!mw && errno == EOPNOTSUPP)
		skip("no memory windows");
	if (!mw)
		die("alloc_mw");
	pair_open(&A, &B, &p, &conn);
	wr.num_sge = 0;
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	/* The region does not allow windows */
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
		A.mr, (uintptr_t)A.mem, 100, IBV_ACCESS_REMOTE_WRITE
	};
	post(p.a, &wr);
	gets(&A, 1, IBV_WC_MW_BIND_ERR);
	states(IBV_QPS_ERR, IBV_QPS_RTS);
	done();
	if (ibv_dealloc_mw(mw))
		die("dealloc_mw");
}

/* Memory of the responder with a key it never gave */
static void refused(enum ibv_wr_opcode op, uint32_t rkey, uint64_t addr,
		    uint32_t len, enum ibv_wc_status status)
{
	struct ibv_sge sge = piece(&A, 0, len);
	struct ibv_send_wr wr = request(op, &sge);
	struct conn all = conn;
	struct ibv_wc wc;

	/* What the QPs allow, the regions do not. */
	all.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	pair_open(&A, &B, &p, &all);
	post_recv(&B, p.b, 2, piece(&B, 0, 100));
	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = rkey;
	}
	memset(B.mem, GUARD, 4096);
	post(p.a, &wr);
	gets(&A, 1, status);
	if (status == IBV_WC_REM_ACCESS_ERR)
		event(&B, IBV_EVENT_QP_ACCESS_ERR, p.b);
	next(&B, &wc);
	expect("wr_id", wc.wr_id, 2);
	/* Only WRITE with immediate data is about a receive request at all */
	if (op != IBV_WR_RDMA_WRITE_WITH_IMM ||
	    wc.status != IBV_WC_LOC_ACCESS_ERR)
		expect_status(&wc, IBV_WC_WR_FLUSH_ERR);
	states(IBV_QPS_ERR, IBV_QPS_ERR);
	errno = 0;
	for (int i = 0; i < 4096; i++)
		if (B.mem[i] != GUARD)
			die("byte %d was written", i);
	done();
}

static void rem_access_err_write(void)
{
	refused(IBV_WR_RDMA_WRITE, NO_KEY, (uintptr_t)B.mem, 100,
		IBV_WC_REM_ACCESS_ERR);
}

static void rem_access_err_bounds(void)
{
	refused(IBV_WR_RDMA_WRITE, B.mr->rkey, (uintptr_t)B.mem + MEM - 99, 100,
		IBV_WC_REM_ACCESS_ERR);
}

static void rem_access_err_read(void)
{
	refused(IBV_WR_RDMA_READ, NO_KEY, (uintptr_t)B.mem, 100,
		IBV_WC_REM_ACCESS_ERR);
}

/* The region has no right to atomics. */
static void rem_access_err_atomic(void)
{
	refused(IBV_WR_ATOMIC_FETCH_AND_ADD, B.mr->rkey, (uintptr_t)B.mem, 8,
		IBV_WC_REM_ACCESS_ERR);
}

static void loc_access_err(void)
{
	refused(IBV_WR_RDMA_WRITE_WITH_IMM, NO_KEY, (uintptr_t)B.mem, 100,
		IBV_WC_REM_ACCESS_ERR);
}

/* An atomic that is not aligned, where atomics are allowed */
static void rem_inv_req_err(void)
{
	struct conn atomic = conn;
	struct ibv_sge sge = piece(&A, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge);
	struct ibv_mr *mr;

	mr = ibv_reg_mr(B.pd, B.mem, PAGE, IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_REMOTE_ATOMIC);
	if (!mr)
		die("reg_mr");
	atomic.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	pair_open(&A, &B, &p, &atomic);
	wr.wr.atomic.remote_addr = (uintptr_t)B.mem + 4;
	wr.wr.atomic.rkey = mr->rkey;
	post(p.a, &wr);
	gets(&A, 1, IBV_WC_REM_INV_REQ_ERR);
	states(IBV_QPS_ERR, IBV_QPS_ERR);
	done();
	if (ibv_dereg_mr(mr))
		die("dereg_mr");
}

/* The QP does not allow atomics, whatever the region says. */
static void rem_inv_req_err_qp(void)
{
	struct ibv_sge sge = piece(&A, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge);

	pair_open(&A, &B, &p, &conn);
	wr.wr.atomic.remote_addr = (uintptr_t)B.mem;
	wr.wr.atomic.rkey = B.mr->rkey;
	post(p.a, &wr);
	gets(&A, 1, IBV_WC_REM_INV_REQ_ERR);
	states(IBV_QPS_ERR, IBV_QPS_ERR);
	done();
}

/* A requester that soon gives up */
static void quick_open(void)
{
	struct conn quick = conn;

	quick.timeout = 12;	/* 16.8 ms */
	quick.retry = 2;
	pair_open(&A, &B, &p, &quick);
}

/* Nobody answers; status.sh has cut the wire. */
static void retry_exc_err(void)
{
	struct ibv_sge sge = piece(&A, 0, 100);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge);

	quick_open();
	post_recv(&A, p.a, 5, piece(&A, 0, 100));
	post(p.a, &wr);
	gets(&A, 1, IBV_WC_RETRY_EXC_ERR);
	gets(&A, 5, IBV_WC_WR_FLUSH_ERR);
	states(IBV_QPS_ERR, IBV_QPS_RTS);
	done();
}

/*
 * The peer's QP is gone. Other than in RoCE its host says so, and the
 * requester need not try until it has had enough.
 */
static void rem_op_err_gone(void)
{
	struct ibv_sge sge = piece(&A, 0, 100);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge);

	quick_open();
	if (ibv_destroy_qp(p.b))
		die("destroy_qp");
	post_recv(&A, p.a, 5, piece(&A, 0, 100));
	post(p.a, &wr);
	gets(&A, 1, IBV_WC_REM_OP_ERR);
	gets(&A, 5, IBV_WC_WR_FLUSH_ERR);
	expect("state of the requester", qp_state(p.a), IBV_QPS_ERR);
	none_left(&A);
	if (ibv_destroy_qp(p.a))
		die("destroy_qp");
}

/* The responder is in order and has no buffer; it never knows. */
static void rnr_retry_exc_err(void)
{
	struct conn quick = conn;
	struct ibv_sge sge = piece(&A, 0, 100);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge);

	quick.rnr_retry = 2;
	quick.min_rnr = 1;
	pair_open(&A, &B, &p, &quick);
	post(p.a, &wr);
	gets(&A, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	states(IBV_QPS_ERR, IBV_QPS_RTS);
	done();
}

/* status.sh has cut the wire, and gives a NACK that no peer sent. */
static void fatal_err(void)
{
	struct ibv_sge sge = piece(&A, 0, 100);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge);
	struct ibv_wc wc;

	pair_open(&A, &B, &p, &conn);
	post(p.a, &wr);
	next(&A, &wc);
	expect_status(&wc, IBV_WC_FATAL_ERR);
	expect("vendor_err", wc.vendor_err, 0x200 + NACK_HDR_MISMATCH);
	states(IBV_QPS_ERR, IBV_QPS_RTS);
	done();
}

/* An unconnected sender goes in the middle of a message (the link is slow). */
static void rem_abort_err(void)
{
	struct ibv_qp *qa = ru_open(&A, 4), *qb = ru_open(&B, 4);
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qa);
	struct ibv_ah *ah = ah_to(&A, &B);
	__u64 start = now_ns();

	memset(A.mem, 1, MEM);
	memset(B.mem, 0, MEM);
	post_recv(&B, qb, 2, piece(&B, 0, MEM));
	ibv_wr_start(ex);
	ex->wr_id = 1;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(ex);
	ibv_wr_set_ud_addr(ex, ah, wire_qpn(qb), 0);
	ibv_wr_set_sge(ex, A.mr->lkey, (uintptr_t)A.mem, MEM);
	errno = ibv_wr_complete(ex);
	if (errno)
		die("wr_complete");
	while (!some_came(B.mem, MEM)) {
		if (now_ns() - start > wait_s * 1000000000ull)
			die("nothing came");
		usleep(1000);
	}
	if (ibv_destroy_qp(qa))
		die("destroy_qp");
	gets(&B, 2, IBV_WC_REM_ABORT_ERR);
	expect("state of the responder", qp_state(qb), IBV_QPS_RTS);
	none_left(&B);
	errno = 0;
	if (ibv_destroy_ah(ah) || ibv_destroy_qp(qb))
		die("destroy");
}

static const struct entry tests[] = {
	{ "success", success },
	{ "loc_len_err", loc_len_err },
	{ "loc_len_err_ud", loc_len_err_ud },
	{ "loc_qp_op_err", loc_qp_op_err },
	{ "loc_prot_err", loc_prot_err },
	{ "rem_op_err", rem_op_err },
	{ "wr_flush_err", wr_flush_err },
	{ "mw_bind_err", mw_bind_err },
	{ "rem_access_err_write", rem_access_err_write },
	{ "rem_access_err_bounds", rem_access_err_bounds },
	{ "rem_access_err_read", rem_access_err_read },
	{ "rem_access_err_atomic", rem_access_err_atomic },
	{ "loc_access_err", loc_access_err },
	{ "rem_inv_req_err", rem_inv_req_err },
	{ "rem_inv_req_err_qp", rem_inv_req_err_qp },
	{ "rem_op_err_gone", rem_op_err_gone },
	{ "retry_exc_err", retry_exc_err },
	{ "rnr_retry_exc_err", rnr_retry_exc_err },
	{ "success_ud_lost", success_ud_lost },
	{ "fatal_err", fatal_err },
	{ "rem_abort_err", rem_abort_err },
	{}
};

int main(int argc, char **argv)
{
	return pair_main(argc, argv, tests, MEM);
}
