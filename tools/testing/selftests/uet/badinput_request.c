// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Wrong input: work requests, refused when they are posted or by a completion */
#include "badinput.h"

void t_post(void)
{
	const struct conn c = { .depth = 4, .sge = 2, .inline_data = 32 };
	struct ibv_sge sge[64];
	struct ibv_send_wr ok = {
		.wr_id = 1, .sg_list = sge, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	}, wr, *bad;
	struct ibv_recv_wr rr = { .sg_list = sge, .num_sge = 1 }, *bad_recv;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_qp *fresh, *ud;
	struct ibv_wc wc;
	struct pair p;
	int i;

	for (i = 0; i < 64; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)A.mem, 10, A.mr->lkey };
	fresh = qp_create(&A, IBV_QPT_RC, &c);
	wr = ok;
	refused_ret("send in RESET", ibv_post_send(fresh, &wr, &bad), INVALID);
	refused_ret("receive in RESET", ibv_post_recv(fresh, &rr, &bad_recv),
		    INVALID);
	if (qp_init(fresh, &c))
		die("INIT");
	wr = ok;
	refused_ret("send in INIT", ibv_post_send(fresh, &wr, &bad), INVALID);
	if (ibv_destroy_qp(fresh))
		die("destroy_qp");

	pair_open(&A, &B, &p, &c);
	if (ibv_query_qp(p.a, &attr, IBV_QP_CAP, &init))
		die("query_qp");
	for (i = 0; i < 8; i++) {
		static const char * const what[] = {
			"too many pieces", "-1 pieces", "opcode 77",
			"an atomic without support", "unknown send flag",
			"inline data that is too long", "inline READ",
			"local invalidate without support",
		};

		if ((i == 3 && A.attr.atomic_cap != IBV_ATOMIC_NONE) ||
		    (i == 7 && A.attr.device_cap_flags &
		     IBV_DEVICE_MEM_MGT_EXTENSIONS))
			continue;
		wr = ok;
		switch (i) {
		case 0:
			wr.num_sge = init.cap.max_send_sge + 1;
			break;
		case 1:
			wr.num_sge = -1;
			break;
		case 2:
			wr.opcode = 77;
			break;
		case 3:
			wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
			break;
		case 4:
			wr.send_flags |= 1 << 20;
			break;
		case 5:
			wr.send_flags |= IBV_SEND_INLINE;
			sge[0].length = init.cap.max_inline_data + 1;
			break;
		case 6:
			wr.send_flags |= IBV_SEND_INLINE;
			wr.opcode = IBV_WR_RDMA_READ;
			break;
		case 7:
			wr.opcode = IBV_WR_LOCAL_INV;
			break;
		}
		refused_ret(what[i], ibv_post_send(p.a, &wr, &bad),
			    ERRORS(EINVAL, EOPNOTSUPP, ENOMEM));
		expect("bad_wr", (uintptr_t)bad, (uintptr_t)&wr);
		sge[0].length = 10;
	}
	rr.num_sge = init.cap.max_recv_sge + 1;
	refused_ret("too many pieces to receive",
		    ibv_post_recv(p.b, &rr, &bad_recv), INVALID);
	rr.num_sge = -1;
	refused_ret("-1 pieces to receive",
		    ibv_post_recv(p.b, &rr, &bad_recv), INVALID);

	/* none of it did harm */
	rr.num_sge = 0;
	wr = ok;
	wr.num_sge = 0;
	if (ibv_post_recv(p.b, &rr, &bad_recv) || ibv_post_send(p.a, &wr, &bad))
		die("post");
	next(&B, &wc);
	expect_status(&wc, IBV_WC_SUCCESS);
	next(&A, &wc);
	expect_status(&wc, IBV_WC_SUCCESS);
	pair_close(&p);

	ud = qp_create(&A, IBV_QPT_UD, &c);
	if (qp_init(ud, &c) || qp_rtr(&A, ud, NULL, 0, &c) ||
	    qp_rts(&A, ud, &c))
		die("UD QP");
	wr = ok;
	refused_ret("datagram without an address handle",
		    ibv_post_send(ud, &wr, &bad), INVALID);
	wr.opcode = IBV_WR_RDMA_WRITE;
	refused_ret("WRITE on UD", ibv_post_send(ud, &wr, &bad), INVALID);
	if (ibv_destroy_qp(ud))
		die("destroy_qp");
	none_left(&A);
	none_left(&B);
}

/* ------------------------------------------------------------------ */
/* Work requests that end in an error completion                        */

static struct ibv_async_event last_event;

static bool async_event(struct side *s, enum ibv_event_type *type)
{
	struct pollfd p = { .fd = s->ctx->async_fd, .events = POLLIN };

	if (poll(&p, 1, 0) <= 0 || ibv_get_async_event(s->ctx, &last_event))
		return false;
	*type = last_event.event_type;
	ibv_ack_async_event(&last_event);
	return true;
}

struct broken {
	const char *what;
	enum ibv_wr_opcode opcode;
	int num_sge;
	/* the request; zero: what is right */
	__s64 local_addr;		/* offset in A's memory */
	__u32 length;		/* 100 */
	__u32 bad_lkey;		/* added to the key */
	__s64 remote_addr;		/* offset in B's memory */
	__u32 bad_rkey;
	/* the receive at B; length 0: none is posted */
	__u32 recv_length;
	__u32 recv_bad_lkey;
	__s64 recv_addr;
	/* what must come of it; IBV_WC_SUCCESS of @recv: nothing */
	enum ibv_wc_status send, recv;
	/* keys made for the purpose */
	struct ibv_mr **local_mr, **remote_mr, **recv_mr;
	int no_rnr;
	int access;			/* of B's QP; -1: none */
};

#define FAR	((__s64)1 << 40)

static struct ibv_mr *ro_a, *ro_b, *rd_b, *other_pd_a, *other_pd_b, *gone_a,
	*gone_b, *small_b;

static const struct broken broken[] = {
	{ .what = "lkey of nothing", .bad_lkey = 0x5500, .opcode = IBV_WR_SEND,
	  .recv_length = 100, .send = IBV_WC_LOC_PROT_ERR },
	{ .what = "lkey of an old generation", .bad_lkey = 1,
	  .opcode = IBV_WR_RDMA_WRITE, .send = IBV_WC_LOC_PROT_ERR },
	{ .what = "lkey of another PD", .local_mr = &other_pd_a,
	  .opcode = IBV_WR_SEND, .recv_length = 100,
	  .send = IBV_WC_LOC_PROT_ERR },
	{ .what = "lkey of a region that is gone", .local_mr = &gone_a,
	  .opcode = IBV_WR_SEND, .recv_length = 100,
	  .send = IBV_WC_LOC_PROT_ERR },
	{ .what = "local address in front of the region", .local_addr = -1,
	  .opcode = IBV_WR_SEND, .recv_length = 100,
	  .send = IBV_WC_LOC_PROT_ERR },
	{ .what = "local address behind the region", .local_addr = FAR,
	  .opcode = IBV_WR_RDMA_WRITE, .send = IBV_WC_LOC_PROT_ERR },
	{ .what = "local length that wraps", .length = INT32_MAX,
	  .local_addr = INT64_MIN, .opcode = IBV_WR_RDMA_WRITE,
	  .send = IBV_WC_LOC_PROT_ERR },
	{ .what = "READ into memory that may not be written",
	  .local_mr = &ro_a, .opcode = IBV_WR_RDMA_READ,
	  .send = IBV_WC_LOC_PROT_ERR },
	{ .what = "WRITE: rkey of nothing", .bad_rkey = 0x5500,
	  .opcode = IBV_WR_RDMA_WRITE, .send = IBV_WC_REM_ACCESS_ERR },
	{ .what = "READ: rkey of nothing", .bad_rkey = 0x5500,
	  .opcode = IBV_WR_RDMA_READ, .send = IBV_WC_REM_ACCESS_ERR },
	{ .what = "WRITE: rkey of an old generation", .bad_rkey = 1,
	  .opcode = IBV_WR_RDMA_WRITE, .send = IBV_WC_REM_ACCESS_ERR },
	{ .what = "WRITE: region that is gone", .remote_mr = &gone_b,
	  .opcode = IBV_WR_RDMA_WRITE, .send = IBV_WC_REM_ACCESS_ERR },
	{ .what = "WRITE: region of another PD", .remote_mr = &other_pd_b,
	  .opcode = IBV_WR_RDMA_WRITE, .send = IBV_WC_REM_ACCESS_ERR },
	{ .what = "READ: region of another PD", .remote_mr = &other_pd_b,
	  .opcode = IBV_WR_RDMA_READ, .send = IBV_WC_REM_ACCESS_ERR },
	{ .what = "WRITE: region without remote access", .remote_mr = &ro_b,
	  .opcode = IBV_WR_RDMA_WRITE, .send = IBV_WC_REM_ACCESS_ERR },
	{ .what = "READ: region without remote access", .remote_mr = &ro_b,
	  .opcode = IBV_WR_RDMA_READ, .send = IBV_WC_REM_ACCESS_ERR },
	{ .what = "WRITE: region for remote reads only", .remote_mr = &rd_b,
	  .opcode = IBV_WR_RDMA_WRITE, .send = IBV_WC_REM_ACCESS_ERR },
	{ .what = "WRITE: QP without remote access", .access = -1,
	  .opcode = IBV_WR_RDMA_WRITE, .send = IBV_WC_REM_INV_REQ_ERR },
	{ .what = "READ: QP without remote access", .access = -1,
	  .opcode = IBV_WR_RDMA_READ, .send = IBV_WC_REM_INV_REQ_ERR },
	{ .what = "WRITE one byte in front of the region", .remote_addr = -1,
	  .opcode = IBV_WR_RDMA_WRITE, .send = IBV_WC_REM_ACCESS_ERR },
	{ .what = "WRITE one byte too far", .remote_mr = &small_b,
	  .length = 1001, .opcode = IBV_WR_RDMA_WRITE,
	  .send = IBV_WC_REM_ACCESS_ERR },
	{ .what = "READ one byte too far", .remote_mr = &small_b,
	  .length = 1001, .opcode = IBV_WR_RDMA_READ,
	  .send = IBV_WC_REM_ACCESS_ERR },
	{ .what = "WRITE of several packets too far", .remote_mr = &small_b,
	  .length = 60000, .opcode = IBV_WR_RDMA_WRITE,
	  .send = IBV_WC_REM_ACCESS_ERR },
	{ .what = "READ of several packets too far", .remote_mr = &small_b,
	  .length = 60000, .opcode = IBV_WR_RDMA_READ,
	  .send = IBV_WC_REM_ACCESS_ERR },
	{ .what = "remote address that wraps", .remote_addr = INT64_MIN,
	  .length = 5000, .opcode = IBV_WR_RDMA_WRITE,
	  .send = IBV_WC_REM_ACCESS_ERR },
	{ .what = "immediate with a bad rkey", .bad_rkey = 0x5500,
	  .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .recv_length = 100,
	  .send = IBV_WC_REM_ACCESS_ERR },
	{ .what = "SEND one byte longer than the receive", .length = 101,
	  .opcode = IBV_WR_SEND, .recv_length = 100,
	  .send = IBV_WC_REM_INV_REQ_ERR, .recv = IBV_WC_LOC_LEN_ERR },
	{ .what = "SEND of several packets longer than the receive",
	  .length = 20000, .opcode = IBV_WR_SEND, .recv_length = 5000,
	  .send = IBV_WC_REM_INV_REQ_ERR, .recv = IBV_WC_LOC_LEN_ERR },
	{ .what = "receive with the lkey of nothing", .recv_bad_lkey = 0x5500,
	  .opcode = IBV_WR_SEND, .recv_length = 100,
	  .send = IBV_WC_REM_OP_ERR, .recv = IBV_WC_LOC_PROT_ERR },
	{ .what = "receive outside its region", .recv_addr = FAR,
	  .opcode = IBV_WR_SEND, .recv_length = 100,
	  .send = IBV_WC_REM_OP_ERR, .recv = IBV_WC_LOC_PROT_ERR },
	{ .what = "receive into memory that may not be written",
	  .recv_mr = &ro_b, .opcode = IBV_WR_SEND, .recv_length = 100,
	  .send = IBV_WC_REM_OP_ERR, .recv = IBV_WC_LOC_PROT_ERR },
	{ .what = "receive of another PD", .recv_mr = &other_pd_b,
	  .opcode = IBV_WR_SEND, .recv_length = 100,
	  .send = IBV_WC_REM_OP_ERR, .recv = IBV_WC_LOC_PROT_ERR },
	{ .what = "no receive, no retry", .opcode = IBV_WR_SEND, .no_rnr = 1,
	  .send = IBV_WC_RNR_RETRY_EXC_ERR },
	{ .what = "no receive for an immediate, no retry",
	  .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .no_rnr = 1,
	  .send = IBV_WC_RNR_RETRY_EXC_ERR },
};

static struct ibv_mr *mr_of(struct ibv_pd *pd, struct side *s, size_t len,
			    int access)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, s->mem, len, access);

	if (!mr)
		die("reg_mr");
	return mr;
}

static void post_broken(const struct broken *b, struct pair *p)
{
	struct ibv_mr *local = b->local_mr ? *b->local_mr : A.mr;
	struct ibv_mr *remote = b->remote_mr ? *b->remote_mr : B.mr;
	struct ibv_mr *recv = b->recv_mr ? *b->recv_mr : B.mr;
	struct ibv_sge sge = {
		.addr = (uintptr_t)A.mem + b->local_addr,
		.length = b->length ? b->length : 100,
		.lkey = local->lkey + b->bad_lkey,
	}, into = {
		.addr = (uintptr_t)B.mem + b->recv_addr,
		.length = b->recv_length,
		.lkey = recv->lkey + b->recv_bad_lkey,
	};
	struct ibv_recv_wr rr = { .wr_id = 2, .sg_list = &into, .num_sge = 1 };
	struct ibv_send_wr after = {
		.wr_id = 3, .sg_list = &sge, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1,
		.opcode = b->opcode, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma.remote_addr = (uintptr_t)B.mem + b->remote_addr,
		.wr.rdma.rkey = remote->rkey + b->bad_rkey,
		.next = &after,
	}, *bad;
	struct ibv_recv_wr *bad_recv;

	if (b->recv_length && ibv_post_recv(p->b, &rr, &bad_recv))
		die("post_recv");
	errno = ibv_post_send(p->a, &wr, &bad);
	if (errno)
		die("post_send");
}

static void run_broken(const struct broken *b)
{
	const struct conn ca = { .depth = 4, .sge = 1,
				 .rnr_retry = b->no_rnr ? -1 : 0 };
	const struct conn cb = { .depth = 4, .sge = 1, .access = b->access };
	enum ibv_event_type event;
	struct ibv_wc wc;
	struct pair p;
	size_t i;

	doing = b->what;
	memset(B.mem, GUARD, B.size);
	while (async_event(&B, &event) || async_event(&A, &event))
		;
	p.a = qp_create(&A, IBV_QPT_RC, &ca);
	p.b = qp_create(&B, IBV_QPT_RC, &cb);
	qp_connect(&B, p.b, &A, p.a->qp_num, &cb);
	qp_connect(&A, p.a, &B, p.b->qp_num, &ca);
	post_broken(b, &p);

	next(&A, &wc);
	expect("wr_id", wc.wr_id, 1);
	expect("qp_num", wc.qp_num, p.a->qp_num);
	expect_status(&wc, b->send);
	/* what was posted behind it is given back */
	next(&A, &wc);
	expect("wr_id", wc.wr_id, 3);
	expect_status(&wc, IBV_WC_WR_FLUSH_ERR);
	expect("state of the sender", qp_state(p.a), IBV_QPS_ERR);
	if (b->recv) {
		next(&B, &wc);
		expect("wr_id", wc.wr_id, 2);
		expect_status(&wc, b->recv);
	}
	if (b->recv || b->send == IBV_WC_REM_ACCESS_ERR || b->access)
		expect("state of the target", qp_state(p.b), IBV_QPS_ERR);
	for (i = 0; i < B.size; i++)
		if (B.mem[i] != GUARD)
			break;
	/* a SEND may have begun to fill its receive */
	if (i < B.size && (b->opcode != IBV_WR_SEND || i >= b->recv_length) &&
	    !(b->remote_mr == &small_b && i < 1000))
		die("byte %zu of the target was written", i);
	pair_close(&p);
	while (try_next(&B, &wc, 0))	/* flushed receives */
		expect_status(&wc, IBV_WC_WR_FLUSH_ERR);
	none_left(&A);
}

static void t_broken(bool remote)
{
	struct ibv_pd *pd_a = ibv_alloc_pd(A.ctx), *pd_b = ibv_alloc_pd(B.ctx);
	const int rw = IBV_ACCESS_LOCAL_WRITE | REMOTE;
	struct ibv_mr old_a, old_b;
	unsigned int i;

	if (!pd_a || !pd_b)
		die("alloc_pd");
	ro_a = mr_of(A.pd, &A, A.size, IBV_ACCESS_REMOTE_READ);
	ro_b = mr_of(B.pd, &B, B.size, 0);
	rd_b = mr_of(B.pd, &B, B.size, IBV_ACCESS_REMOTE_READ);
	small_b = mr_of(B.pd, &B, 1000, rw);
	other_pd_a = mr_of(pd_a, &A, A.size, rw);
	other_pd_b = mr_of(pd_b, &B, B.size, rw);
	gone_a = mr_of(A.pd, &A, A.size, rw);
	old_a = *gone_a;
	gone_b = mr_of(B.pd, &B, B.size, rw);
	old_b = *gone_b;
	if (ibv_dereg_mr(gone_a) || ibv_dereg_mr(gone_b))
		die("dereg_mr");
	gone_a = &old_a;
	gone_b = &old_b;
	for (i = 0; i < ARRAY_SIZE(broken); i++) {
		bool local = broken[i].send == IBV_WC_LOC_PROT_ERR;

		if (remote != local)
			run_broken(&broken[i]);
	}
	if (ibv_dereg_mr(ro_a) || ibv_dereg_mr(ro_b) || ibv_dereg_mr(rd_b) ||
	    ibv_dereg_mr(small_b) || ibv_dereg_mr(other_pd_a) ||
	    ibv_dereg_mr(other_pd_b) || ibv_dealloc_pd(pd_a) ||
	    ibv_dealloc_pd(pd_b))
		die("clean up");
}

void t_local(void)
{
	t_broken(false);
}

void t_remote(void)
{
	t_broken(true);
}

/* A length above the greatest message, and lengths whose sum wraps */
void t_length(void)
{
	const struct conn c = { .depth = 4, .sge = 4 };
	size_t piece = 1ull << 30;
	struct ibv_sge sge[4];
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = sge, .num_sge = 3,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	struct pair p;
	void *mem;
	int i, ret;

	mem = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mr = ibv_reg_mr(A.pd, mem, PAGE, IBV_ACCESS_LOCAL_WRITE);
	if (!mr)
		die("reg_mr");
	for (i = 0; i < 4; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)mem, piece, mr->lkey };
	for (i = 0; i < 4; i++) {
		static const enum ibv_wr_opcode ops[] = {
			IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
			IBV_WR_RDMA_WRITE,
		};

		doing = "message above the greatest length";
		wr.opcode = ops[i];
		wr.wr.rdma.remote_addr = (uintptr_t)B.mem;
		wr.wr.rdma.rkey = B.mr->rkey;
		if (i == 3) {	/* 4 GiB is 0 in 32 bits */
			wr.num_sge = 4;
			doing = "pieces whose sum wraps";
		}
		pair_open(&A, &B, &p, &c);
		ret = ibv_post_send(p.a, &wr, &bad);
		if (!ret) {
			next(&A, &wc);
			if (wc.status != IBV_WC_LOC_LEN_ERR &&
			    wc.status != IBV_WC_LOC_PROT_ERR)
				die("status %s", ibv_wc_status_str(wc.status));
		} else {
			refused_ret("too long", ret, ERRORS(EINVAL, EMSGSIZE));
		}
		pair_close(&p);
	}
	if (ibv_dereg_mr(mr))
		die("dereg_mr");
	munmap(mem, PAGE);
}

/* A datagram above the MTU */
void t_datagram(void)
{
	const struct conn c = { .depth = 4, .sge = 1 };
	struct ibv_sge sge = { .addr = (uintptr_t)A.mem, .lkey = A.mr->lkey,
			       .length = (128u << A.port.active_mtu) + 1 };
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_pd *pd = ibv_alloc_pd(A.ctx);
	struct ibv_ah_attr attr;
	struct ibv_ah *ah, *other;
	struct ibv_wc wc;
	struct ibv_qp *qp;
	int i, ret;

	ah_attr(&A, &B.gid, &attr);
	ah = ibv_create_ah(A.pd, &attr);
	other = ibv_create_ah(pd, &attr);
	if (!ah || !other)
		die("create_ah");
	for (i = 0; i < 3; i++) {
		static const char * const what[] = {
			"datagram above the MTU", "address handle of another PD",
			"QP number of 25 bits",
		};

		doing = what[i];
		qp = qp_create(&A, IBV_QPT_UD, &c);
		if (qp_init(qp, &c) || qp_rtr(&A, qp, NULL, 0, &c) ||
		    qp_rts(&A, qp, &c))
			die("UD QP");
		wr.wr.ud.ah = i == 1 ? other : ah;
		wr.wr.ud.remote_qpn = i == 2 ? 1 << 24 | 5 : 5;
		wr.wr.ud.remote_qkey = QKEY;
		if (i)
			sge.length = 10;
		ret = ibv_post_send(qp, &wr, &bad);
		if (!ret) {
			next(&A, &wc);
			if (wc.status == IBV_WC_SUCCESS)
				die("it was sent");
			if (!i)
				expect_status(&wc, IBV_WC_LOC_LEN_ERR);
			else
				expect_status(&wc, IBV_WC_LOC_QP_OP_ERR);
		}
		if (ibv_destroy_qp(qp))
			die("destroy_qp");
	}
	if (ibv_destroy_ah(ah) || ibv_destroy_ah(other) || ibv_dealloc_pd(pd))
		die("destroy_ah");
}

/* Peers that are not there, or are someone else's */
void t_peer(void)
{
	const struct conn c = { .depth = 4, .sge = 1, .timeout = 8, .retry = 1 };
	const struct conn right = { .depth = 4, .sge = 1 };
	struct ibv_send_wr wr = {
		.wr_id = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_recv_wr rr = { .wr_id = 2 }, *bad_recv;
	struct ibv_qp *stranger;
	struct ibv_wc wc;
	struct pair p;
	int i;

	pair_open(&A, &B, &p, &right);
	for (i = 0; i < 3; i++) {
		static const char * const what[] = {
			"to a QP number that is not there",
			"to a QP that is connected to another",
			"to a QP that was destroyed",
		};
		struct ibv_qp *gone = qp_create(&B, IBV_QPT_RC, &c);
		__u32 number = i == 0 ? gone->qp_num ^ 0x5a5000 :
			i == 1 ? p.b->qp_num : gone->qp_num;

		doing = what[i];
		if (ibv_destroy_qp(gone))
			die("destroy_qp");
		stranger = qp_create(&A, IBV_QPT_RC, &c);
		qp_connect(&A, stranger, &B, number, &c);
		if (i == 1 && ibv_post_recv(p.b, &rr, &bad_recv))
			die("post_recv");
		if (ibv_post_send(stranger, &wr, &bad))
			die("post_send");
		next(&A, &wc);
		expect("qp_num", wc.qp_num, stranger->qp_num);
		if (wc.status == IBV_WC_SUCCESS ||
		    wc.status == IBV_WC_WR_FLUSH_ERR)
			die("status %s", ibv_wc_status_str(wc.status));
		none_left(&B);
		if (ibv_destroy_qp(stranger))
			die("destroy_qp");
	}
	/* the connection that a stranger tried to use is as good as before */
	doing = "the right peer after a stranger";
	if (ibv_post_send(p.a, &wr, &bad))
		die("post_send");
	next(&B, &wc);
	expect_status(&wc, IBV_WC_SUCCESS);
	next(&A, &wc);
	expect_status(&wc, IBV_WC_SUCCESS);
	pair_close(&p);
}
