// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Faults that other RDMA drivers had in the field, each tried here and named
 * after its entry in the project's list. Host a asks, host b answers. Started by
 * fieldbugs.sh.
 *
 *	fieldbugs -a DEV -A ADDR -b DEV -B ADDR [-w SECONDS] [-n ROUNDS] TEST...
 */
#include <assert.h>
#include <linux/udmabuf.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <rdma/uet-abi.h>

#include "lib.h"

#define MEM	(4u << 20)
#define NO_KEY	0x7fffff00u
#define RIGHTS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ)

static struct side A, B;
static struct pair p;
static struct conn conn = { .sge = 4, .inline_data = 64 };
static const char *dev_a = "u1", *addr_a = "10.0.0.1";
static const char *dev_b = "u2", *addr_b = "10.0.0.2";
static unsigned int rounds = 200;

/* ABI-15, ABI-09: the layout is the same for everyone and stays so. */
static_assert(sizeof(struct uet_ring) == UET_RING_HDR, "uet_ring");
static_assert(sizeof(struct uet_ring_info) == 24, "uet_ring_info");
static_assert(sizeof(struct uet_wqe_sge) == 16, "uet_wqe_sge");
static_assert(sizeof(struct uet_send_wqe) == 96, "uet_send_wqe");
static_assert(offsetof(struct uet_send_wqe, rkey) == 32, "rkey");
static_assert(offsetof(struct uet_send_wqe, swap) == 64, "swap");
static_assert(offsetof(struct uet_send_wqe, mr_lkey) == 76, "mr_lkey");
static_assert(sizeof(struct uet_recv_wqe) == 16, "uet_recv_wqe");
static_assert(sizeof(struct uet_cqe) == 64, "uet_cqe");
static_assert(offsetof(struct uet_cqe, status) == 44, "status");
static_assert(sizeof(struct uet_create_cq_resp) == 32, "create_cq");
static_assert(offsetof(struct uet_create_qp_resp, addressing) == 56, "create_qp");
static_assert(sizeof(struct uet_create_srq_resp) == 32, "create_srq");
static_assert(sizeof(struct uet_modify_srq_req) == 16, "modify_srq");

static struct ibv_sge piece(const struct side *s, size_t at, uint32_t len)
{
	return (struct ibv_sge){ (uintptr_t)s->mem + at, len, s->mr->lkey };
}

static void post_recv(struct side *s, struct ibv_qp *qp, uint64_t id,
		      struct ibv_sge sge)
{
	struct ibv_recv_wr *bad, wr = {
		.wr_id = id,
		.sg_list = &sge,
		.num_sge = 1,
	};

	errno = ibv_post_recv(qp, &wr, &bad);
	if (errno)
		die("ibv_post_recv on %s", s->name);
}

static void post(struct ibv_qp *qp, enum ibv_wr_opcode op, struct ibv_sge *sge,
		 int n, uint64_t addr, uint32_t rkey, unsigned int flags)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1,
		.sg_list = sge,
		.num_sge = n,
		.opcode = op,
		.send_flags = IBV_SEND_SIGNALED | flags,
		.imm_data = htobe32(0xa5a50001),
		.wr.rdma = { addr, rkey },
	};

	errno = ibv_post_send(qp, &wr, &bad);
	if (errno)
		die("post_send");
}

static void gets(struct side *s, uint64_t id, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	next(s, &wc);
	expect("wr_id", wc.wr_id, id);
	expect_status(&wc, status);
}

static void to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	if (errno)
		die("to state %d", state);
}

static void drop_events(struct side *s)
{
	struct pollfd fd = { .fd = s->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event ev;

	while (poll(&fd, 1, 0) > 0 && !ibv_get_async_event(s->ctx, &ev))
		ibv_ack_async_event(&ev);
}

/* A SEND goes through: the pair works. */
static void works(struct pair *q)
{
	struct ibv_sge sge = piece(&A, 0, 64);

	post_recv(&B, q->b, 2, piece(&B, 0, 64));
	post(q->a, IBV_WR_SEND, &sge, 1, 0, 0, 0);
	gets(&A, 1, IBV_WC_SUCCESS);
	gets(&B, 2, IBV_WC_SUCCESS);
}

static void reconnect(void)
{
	drop_events(&A);
	drop_events(&B);
	to_state(p.a, IBV_QPS_RESET);
	to_state(p.b, IBV_QPS_RESET);
	qp_connect(&A, p.a, &B, p.b->qp_num, &conn);
	qp_connect(&B, p.b, &A, p.a->qp_num, &conn);
}

/* Completions go on after bad writes. */
static void cqe_01(void)
{
	struct ibv_sge sge = piece(&A, 0, 64);
	uint64_t start;

	pair_open(&A, &B, &p, &conn);
	for (unsigned int i = 0; i < rounds; i++) {
		start = now_ns();
		post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)B.mem,
		     B.mr->rkey, 0);
		gets(&A, 1, IBV_WC_SUCCESS);
		post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)B.mem, NO_KEY,
		     0);
		post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)B.mem, NO_KEY,
		     0);
		gets(&A, 1, IBV_WC_REM_ACCESS_ERR);
		gets(&A, 1, IBV_WC_WR_FLUSH_ERR);
		errno = 0;
		if (now_ns() - start > wait_s * 1000000000ull)
			die("round %u took too long", i);
		reconnect();
	}
	pair_close(&p);
}

/* Sizes of an SRQ: real ones, the old queue stays after a failure. */
static void cqe_03(void)
{
	struct ibv_srq_init_attr init = { .attr = { 8, 1, 0 } };
	struct ibv_srq *srq = ibv_create_srq(B.pd, &init);
	struct ibv_srq_attr attr = {};
	struct ibv_sge sge = piece(&B, 0, 64);
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	uint32_t now;

	if (!srq && errno == EOPNOTSUPP)
		skip("no SRQ");
	if (!srq)
		die("create_srq");
	for (int i = 0; i < 6; i++)
		if (ibv_post_srq_recv(srq, &wr, &bad))
			die("post_srq_recv");
	errno = ibv_query_srq(srq, &attr);
	if (errno || attr.max_wr < 8)
		die("query_srq: %u requests", attr.max_wr);
	now = attr.max_wr;
	attr.max_wr = 2;
	if (!ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR))
		die("made smaller than what is in it");
	attr.max_wr = B.attr.max_srq_wr + 1;
	if (!ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR))
		die("made larger than the largest");
	attr.max_wr = 0;
	if (!ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR))
		die("made 0 long");
	if (ibv_query_srq(srq, &attr) || attr.max_wr != now)
		die("%u requests after failures, not %u", attr.max_wr, now);
	attr.max_wr = 100;
	errno = ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
	if (errno)
		die("resize");
	if (ibv_query_srq(srq, &attr) || attr.max_wr < 100)
		die("%u requests, not 100", attr.max_wr);
	for (int i = 6; i < 100; i++) {
		errno = ibv_post_srq_recv(srq, &wr, &bad);
		if (errno)
			die("request %d", i);
	}
	if (ibv_destroy_srq(srq))
		die("destroy_srq");
}

/* WRITE with immediate data: the receiver is told how much. */
static void cqe_04(void)
{
	static const uint32_t sizes[] = { 0, 1, 1024, 1025, 4096, 4097, 1 << 20 };
	struct ibv_sge sge;
	struct ibv_wc wc;

	pair_open(&A, &B, &p, &conn);
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		sge = piece(&A, 0, sizes[i]);
		post_recv(&B, p.b, 2, piece(&B, 0, 0));
		post(p.a, IBV_WR_RDMA_WRITE_WITH_IMM, &sge, 1,
		     (uintptr_t)B.mem, B.mr->rkey, 0);
		gets(&A, 1, IBV_WC_SUCCESS);
		next(&B, &wc);
		expect_status(&wc, IBV_WC_SUCCESS);
		expect("byte_len", wc.byte_len, sizes[i]);
		expect("opcode", wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
		expect("flags", wc.wc_flags, IBV_WC_WITH_IMM);
		expect("immediate", be32toh(wc.imm_data), 0xa5a50001);
	}
	pair_close(&p);
}

/* One bad request in a chain: those before it are posted. */
static void cqe_05(void)
{
	struct ibv_sge sge[MAX_SGE + 1];
	struct ibv_send_wr wr[10], *bad;
	int i, k, err, limit;

	pair_open(&A, &B, &p, &conn);
	for (k = 0; k < 10; k++) {
		memset(wr, 0, sizeof(wr));
		for (i = 0; i < 10; i++) {
			sge[i] = piece(&A, 0, 8);
			wr[i] = (struct ibv_send_wr){
				.wr_id = i,
				.next = i < 9 ? &wr[i + 1] : NULL,
				.sg_list = sge,
				.num_sge = 1,
				.opcode = IBV_WR_RDMA_WRITE,
				.send_flags = IBV_SEND_SIGNALED,
				.wr.rdma = { (uintptr_t)B.mem, B.mr->rkey },
			};
		}
		limit = A.attr.max_sge + 1;
		wr[k].num_sge = limit;
		bad = NULL;
		err = ibv_post_send(p.a, wr, &bad);
		expect("error", err, EINVAL);
		expect("bad request", bad - wr, k);
		for (i = 0; i < k; i++)
			gets(&A, i, IBV_WC_SUCCESS);
		none_left(&A);
	}
	pair_close(&p);
}

/* Two CQs: each flush on its own. */
static void cqe_06(void)
{
	struct ibv_qp_init_attr init = {
		.cap = { 32, 32, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_cq *cq[2];
	struct ibv_qp *qp;
	struct ibv_wc wc;
	struct ibv_sge sge = piece(&A, 0, 8);
	uint64_t end;
	int i, k;

	for (i = 0; i < 2; i++) {
		cq[i] = ibv_create_cq(A.ctx, 64, NULL, NULL, 0);
		if (!cq[i])
			die("create_cq");
	}
	init.send_cq = cq[0];
	init.recv_cq = cq[1];
	qp = ibv_create_qp(A.pd, &init);
	if (!qp)
		die("create_qp");
	qp_connect(&A, qp, &B, 0xfffff0, &conn);
	for (i = 0; i < 16; i++)
		post_recv(&A, qp, 100 + i, piece(&A, 0, 8));
	to_state(qp, IBV_QPS_ERR);
	for (i = 0; i < 16; i++)
		post(qp, IBV_WR_SEND, &sge, 1, 0, 0, 0);
	for (k = 0; k < 2; k++) {
		end = now_ns() + 1000000000ull * wait_s;
		for (i = 0; i < 16;) {
			if (ibv_poll_cq(cq[k], 1, &wc) != 1) {
				errno = 0;
				if (now_ns() > end)
					die("flush %d of CQ %d", i, k);
				continue;
			}
			expect_status(&wc, IBV_WC_WR_FLUSH_ERR);
			expect("wr_id", wc.wr_id, k ? 100 + i : 1);
			expect("qp_num", wc.qp_num, qp->qp_num);
			i++;
		}
		expect("more", ibv_poll_cq(cq[k], 1, &wc), 0);
	}
	if (ibv_destroy_qp(qp) || ibv_destroy_cq(cq[0]) ||
	    ibv_destroy_cq(cq[1]))
		die("destroy");
}

/* Arm while completions come: none is slept through. */
static void cqe_07(void)
{
	struct ibv_sge sge = piece(&A, 0, 8);

	pair_open(&A, &B, &p, &conn);
	for (unsigned int i = 0; i < rounds * 10; i++) {
		post_recv(&B, p.b, 2, piece(&B, 0, 8));
		post(p.a, IBV_WR_SEND, &sge, 1, 0, 0, 0);
		gets(&B, 2, IBV_WC_SUCCESS);
		gets(&A, 1, IBV_WC_SUCCESS);
	}
	pair_close(&p);
}

/* Odd and zero depths: as much as asked for, and no more than was said. */
static void cqe_08(void)
{
	const uint32_t most = A.attr.max_qp_wr;
	const uint32_t depth[] = { 0, 1, 2, 3, 5, most - 1, most };
	struct ibv_qp_init_attr init;
	struct ibv_sge sge = piece(&A, 0, 8);
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_qp *qp;
	struct ibv_cq *cq;

	for (unsigned int i = 0; i < ARRAY_SIZE(depth); i++) {
		memset(&init, 0, sizeof(init));
		init.send_cq = A.cq;
		init.recv_cq = A.cq;
		init.qp_type = IBV_QPT_RC;
		init.cap.max_send_wr = depth[i];
		init.cap.max_recv_wr = depth[i];
		init.cap.max_send_sge = 1;
		init.cap.max_recv_sge = 1;
		qp = ibv_create_qp(A.pd, &init);
		if (!qp)
			die("QP of depth %u", depth[i]);
		if (init.cap.max_send_wr < depth[i] ||
		    init.cap.max_send_wr > most)
			die("depth %u became %u", depth[i],
			    init.cap.max_send_wr);
		errno = qp_init(qp, &conn);
		if (errno)
			die("to INIT");
		for (uint32_t n = 0; n < depth[i] && n < 1000; n++) {
			errno = ibv_post_recv(qp, &wr, &bad);
			if (errno)
				die("receive %u of %u", n, depth[i]);
		}
		if (ibv_destroy_qp(qp))
			die("destroy_qp");
		if (!depth[i])
			continue;
		cq = ibv_create_cq(A.ctx, depth[i], NULL, NULL, 0);
		if (!cq || cq->cqe < (int)depth[i] || ibv_destroy_cq(cq))
			die("CQ of %u", depth[i]);
	}
}

/* A CQ is resized with completions in it, or the verb says it cannot be. */
static void cqe_10(void)
{
	struct ibv_sge sge = piece(&A, 0, 8);
	int err;

	pair_open(&A, &B, &p, &conn);
	for (int i = 0; i < 10; i++)
		post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)B.mem,
		     B.mr->rkey, 0);
	usleep(100000);
	err = ibv_resize_cq(A.cq, 1000);
	if (err == EOPNOTSUPP)
		skip("no resizing of CQs");
	errno = err;
	if (err)
		die("resize_cq");
	for (int i = 0; i < 10; i++)
		gets(&A, 1, IBV_WC_SUCCESS);
	works(&p);
	if (!ibv_resize_cq(A.cq, A.attr.max_cqe + 1))
		die("resized to more than the most");
	works(&p);
	pair_close(&p);
}

/* Length 0: no memory is touched, so no key is looked at. */
static void mem_03(void)
{
	const uint32_t keys[] = { B.mr->rkey, NO_KEY, 0, 0xffffffff };
	struct ibv_sge sge = piece(&A, 0, 0);

	pair_open(&A, &B, &p, &conn);
	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++) {
		post(p.a, IBV_WR_RDMA_WRITE, &sge, 0, 0x1234, keys[i], 0);
		gets(&A, 1, IBV_WC_SUCCESS);
		post(p.a, IBV_WR_RDMA_READ, &sge, 0, 0x1234, keys[i], 0);
		gets(&A, 1, IBV_WC_SUCCESS);
		post_recv(&B, p.b, 2, piece(&B, 0, 0));
		post(p.a, IBV_WR_RDMA_WRITE_WITH_IMM, &sge, 0, 0x1234, keys[i],
		     0);
		gets(&A, 1, IBV_WC_SUCCESS);
		gets(&B, 2, IBV_WC_SUCCESS);
	}
	pair_close(&p);
}

static void must_refuse(uint64_t addr, uint32_t rkey, const char *what)
{
	struct ibv_sge sge = piece(&A, 0, 1);
	struct ibv_wc wc;

	post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, addr, rkey, 0);
	next(&A, &wc);
	errno = 0;
	if (wc.status == IBV_WC_SUCCESS)
		die("%s", what);
	expect_status(&wc, IBV_WC_REM_ACCESS_ERR);
}

/* A region of no length allows nothing. */
static void mem_04(void)
{
	struct ibv_mr *mr = ibv_reg_mr(B.pd, B.mem, 0, RIGHTS);

	if (!mr)
		return;
	pair_open(&A, &B, &p, &conn);
	must_refuse((uintptr_t)B.mem, mr->rkey,
		    "a region of length 0 could be written");
	drop_events(&B);
	pair_close(&p);
	if (ibv_dereg_mr(mr))
		die("dereg_mr");
}

/* The region of a bound window cannot go, or takes the window with it. */
static void mem_07(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(B.pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = { .wr_id = 7, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_sge sge = piece(&A, 0, 16);
	struct ibv_mr *mr;

	if (!mw && errno == EOPNOTSUPP)
		skip("no memory windows");
	mr = ibv_reg_mr(B.pd, B.mem, PAGE, RIGHTS | IBV_ACCESS_MW_BIND);
	if (!mr)
		die("reg_mr");
	pair_open(&A, &B, &p, &conn);
	bind.bind_info = (struct ibv_mw_bind_info){
		mr, (uintptr_t)B.mem, 64, IBV_ACCESS_REMOTE_WRITE
	};
	errno = ibv_bind_mw(p.b, mw, &bind);
	if (errno)
		die("bind_mw");
	gets(&B, 7, IBV_WC_SUCCESS);
	post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)B.mem, mw->rkey, 0);
	gets(&A, 1, IBV_WC_SUCCESS);
	if (ibv_dereg_mr(mr)) {
		expect("errno", errno, EBUSY);
		if (ibv_dealloc_mw(mw) || ibv_dereg_mr(mr))
			die("dealloc_mw, dereg_mr");
	} else {
		must_refuse((uintptr_t)B.mem, mw->rkey,
			    "a window outlived its region");
		drop_events(&B);
		if (ibv_dealloc_mw(mw))
			die("dealloc_mw");
	}
	pair_close(&p);
}

/* Memory that may only be read is not registered for writing. */
static void mem_09(void)
{
	void *ro = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	int fd = open("/proc/self/exe", O_RDONLY);
	void *file = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	const int rights[] = { IBV_ACCESS_LOCAL_WRITE, RIGHTS };
	void *const memory[] = { ro, file };
	struct ibv_mr *mr;

	for (int m = 0; m < 2; m++) {
		for (int r = 0; r < 2; r++) {
			mr = ibv_reg_mr(A.pd, memory[m], PAGE, rights[r]);
			if (mr)
				die("memory %d, rights %#x registered", m,
				    rights[r]);
			if (errno != EFAULT && errno != EACCES)
				die("memory %d", m);
		}
	}
	mr = ibv_reg_mr(A.pd, ro, PAGE, IBV_ACCESS_REMOTE_READ);
	if (!mr || ibv_dereg_mr(mr))
		die("read only");
	munmap(ro, PAGE);
	munmap(file, PAGE);
	close(fd);
}

static long status_kb(const char *what)
{
	char line[200];
	long kb = -1;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, what, strlen(what)))
			kb = atol(line + strlen(what) + 1);
	if (f)
		fclose(f);
	return kb;
}

/* Pinned pages are counted, limited, and given back. */
static void mem_10(void)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };
	long before = status_kb("VmPin"), over;
	struct ibv_mr *mr[300];
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	int status, n;
	pid_t pid;

	for (unsigned int i = 0; i < rounds; i++) {
		struct ibv_mr *one = ibv_reg_mr(A.pd, A.mem, MEM / 2, RIGHTS);

		if (!one || ibv_dereg_mr(one))
			die("round %u", i);
	}
	expect("VmPin", status_kb("VmPin"), before);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		/* All its own; no right to more than the limit */
		ctx = open_device(dev_a);
		pd = ibv_alloc_pd(ctx);
		if (!pd || setrlimit(RLIMIT_MEMLOCK, &limit) ||
		    setresuid(65534, 65534, 65534))
			die("setting up");
		before = status_kb("VmPin");
		for (n = 0; n < 300; n++) {
			mr[n] = ibv_reg_mr(pd, A.mem + n * PAGE, PAGE, RIGHTS);
			if (!mr[n])
				break;
		}
		if (errno != ENOMEM || n < 200 || n > 256)
			die("%d pages with a limit of 256", n);
		over = status_kb("VmPin") - before;
		expect("VmPin", over, n * 4);
		while (n-- > 0)
			if (ibv_dereg_mr(mr[n]))
				die("dereg_mr");
		expect("VmPin", status_kb("VmPin"), before);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die("the child ended with %#x", status);
}

/* Optional rights may be ignored, unknown ones not. */
static void mem_16(void)
{
	struct ibv_mr *mr;

	for (int bit = 20; bit < 30; bit++) {
		mr = ibv_reg_mr(A.pd, A.mem, PAGE, RIGHTS | 1 << bit);
		if (!mr || ibv_dereg_mr(mr))
			die("optional bit %d", bit);
	}
	mr = ibv_reg_mr(A.pd, A.mem, PAGE, RIGHTS | IBV_ACCESS_OPTIONAL_RANGE);
	if (!mr || ibv_dereg_mr(mr))
		die("all optional bits");
	mr = ibv_reg_mr(A.pd, A.mem, PAGE, RIGHTS | 1 << 19);
	if (mr)
		die("an unknown right was accepted");
	if (errno != EINVAL && errno != EOPNOTSUPP)
		die("an unknown right");
}

/* Longer than the longest message: refused, never cut short. */
static void mem_17(void)
{
	struct ibv_sge sge[4];
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1,
		.sg_list = sge,
		.num_sge = 4,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)B.mem, B.mr->rkey },
	};
	size_t part = (size_t)A.port.max_msg_sz / 4 + 1;
	struct ibv_mr *mr;
	void *big;

	big = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(big, PAGE);
	if (part > 512u << 20)
		skip("no memory for a message of %u bytes", A.port.max_msg_sz);
	big = mmap(NULL, part, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mr = ibv_reg_mr(A.pd, big, part, 0);	/* the zero page, mostly */
	if (!mr)
		skip("cannot register %zu bytes", part);
	for (int i = 0; i < 4; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)big, part, mr->lkey };
	pair_open(&A, &B, &p, &conn);
	if (!ibv_post_send(p.a, &wr, &bad))
		gets(&A, 1, IBV_WC_LOC_LEN_ERR);
	pair_close(&p);
	if (ibv_dereg_mr(mr))
		die("dereg_mr");
	munmap(big, part);
}

/* Fork with a region in part of a page: both keep the rest, traffic goes on. */
static void mem_18(void)
{
	uint8_t *page = aligned_alloc(PAGE, PAGE);
	struct ibv_sge sge;
	struct ibv_mr *mr;
	pid_t pid;
	int status;

	memset(page, 1, PAGE);
	mr = ibv_reg_mr(B.pd, page + 50, 100, RIGHTS);
	if (!mr)
		die("reg_mr");
	pair_open(&A, &B, &p, &conn);
	pid = fork();
	if (!pid) {
		for (int i = 0; i < (int)PAGE; i++)
			if (page[i] != 1)
				_exit(1);
		memset(page, 2, PAGE);
		_exit(0);
	}
	memset(page + 2000, 3, 96);
	if (waitpid(pid, &status, 0) != pid || status)
		die("the child lost data");
	errno = 0;
	if (page[0] != 1 || page[2000] != 3)
		die("the parent lost data");
	memset(A.mem, 0x77, 100);
	sge = piece(&A, 0, 100);
	post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)page + 50, mr->rkey, 0);
	gets(&A, 1, IBV_WC_SUCCESS);
	errno = 0;
	if (page[49] != 1 || page[50] != 0x77 || page[149] != 0x77 ||
	    page[150] != 1)
		die("the write went elsewhere");
	pair_close(&p);
	if (ibv_dereg_mr(mr))
		die("dereg_mr");
	free(page);
}

/* Many small regions in one mapping do not eat up the address space. */
static void mem_19(void)
{
	unsigned int n = rounds > 1000 ? 60000 : 3000, i;
	struct ibv_mr **mr = calloc(n, sizeof(*mr));
	void *map;

	for (i = 0; i < n; i++) {
		mr[i] = ibv_reg_mr(A.pd, A.mem + i % (MEM / PAGE) * PAGE, PAGE,
				   RIGHTS);
		if (!mr[i])
			break;
	}
	if (i < n && errno != ENOMEM)
		die("region %u", i);
	map = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		die("no mapping after %u regions", i);
	munmap(map, PAGE);
	while (i-- > 0)
		if (ibv_dereg_mr(mr[i]))
			die("dereg_mr");
	free(mr);
}

/* A region of a dma-buf, whose fd is closed while it is in use */
static void mem_20(void)
{
	int mem = memfd_create("pages", MFD_ALLOW_SEALING);
	int dev = open("/dev/udmabuf", O_RDWR), buf;
	struct udmabuf_create create = { .memfd = mem, .size = 4 * PAGE };
	struct ibv_sge sge = piece(&A, 0, 1000);
	struct ibv_mr *mr;
	uint8_t *view;

	if (dev < 0)
		skip("no /dev/udmabuf");
	if (ftruncate(mem, 4 * PAGE) || fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK))
		die("memfd");
	buf = ioctl(dev, UDMABUF_CREATE, &create);
	if (buf < 0)
		die("UDMABUF_CREATE");
	mr = ibv_reg_dmabuf_mr(B.pd, PAGE, 2 * PAGE, 0x10000, buf, RIGHTS);
	if (!mr && errno == EOPNOTSUPP)
		skip("no dma-buf regions");
	if (!mr)
		die("reg_dmabuf_mr");
	close(buf);
	close(dev);
	view = mmap(NULL, 4 * PAGE, PROT_READ, MAP_SHARED, mem, 0);
	memset(A.mem, 0x5a, 1000);
	pair_open(&A, &B, &p, &conn);
	post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, 0x10000 + 3500, mr->rkey, 0);
	gets(&A, 1, IBV_WC_SUCCESS);
	errno = 0;
	for (int i = 0; i < 4 * (int)PAGE; i++) {
		bool target = i >= (int)PAGE + 3500 && i < (int)PAGE + 4500;
		bool written = view[i] == 0x5a;

		if (written != target)
			die("byte %d is %#x", i, view[i]);
	}
	must_refuse(0x10000 + 2 * PAGE, mr->rkey, "written behind the region");
	drop_events(&B);
	pair_close(&p);
	if (ibv_dereg_mr(mr))
		die("dereg_mr");
	munmap(view, 4 * PAGE);
	close(mem);
}

struct ring {
	unsigned long from, to;
};

/* Mapped rings of this process, found as any scribbler would. */
static int find_rings(struct ring *ring, int most)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[300];
	int n = 0;

	while (f && n < most && fgets(line, sizeof(line), f))
		if (strstr(line, "uverbs") &&
		    sscanf(line, "%lx-%lx rw", &ring[n].from, &ring[n].to) == 2)
			n++;
	if (f)
		fclose(f);
	return n;
}

static void scribble(const struct ring *ring, int n)
{
	for (int i = 0; i < 200 * n; i++) {
		const struct ring *r = &ring[i % n];

		((volatile uint8_t *)r->from)[below(r->to - r->from)] = rnd();
	}
}

/* Rings full of nonsense hurt nobody but their owner, a child here. */
static void abi_03(void)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND };
		struct ibv_recv_wr *bad_recv, recv = {};
		struct ibv_wc wc[16];
		struct ring ring[64];
		struct side a, b;
		struct pair q;

		/* Only its own: those of the parent are shared with it */
		for (int n = find_rings(ring, 64); n-- > 0;)
			munmap((void *)ring[n].from,
			       ring[n].to - ring[n].from);
		side_open(&a, dev_a, addr_a, PAGE, 64);
		side_open(&b, dev_b, addr_b, PAGE, 64);
		for (unsigned int i = 0; i < rounds / 10; i++) {
			pair_open(&a, &b, &q, &conn);
			for (int k = 0; k < 20; k++) {
				ibv_post_recv(q.b, &recv, &bad_recv);
				ibv_post_send(q.a, &wr, &bad);
				scribble(ring, find_rings(ring, 64));
				ibv_poll_cq(a.cq, 16, wc);
				ibv_poll_cq(b.cq, 16, wc);
			}
			to_state(q.a, IBV_QPS_ERR);
			to_state(q.b, IBV_QPS_ERR);
			ibv_destroy_qp(q.a);
			ibv_destroy_qp(q.b);
		}
		_exit(0);
	}
	/* Its own end may well be a signal. */
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	pair_open(&A, &B, &p, &conn);
	works(&p);
	pair_close(&p);
}

/* Sizes that overflow: refused above what the device says, else granted. */
static void abi_04(void)
{
	const uint32_t wr = A.attr.max_qp_wr, sge = A.attr.max_sge;
	const uint32_t n[] = { 1, wr, wr + 1, 1 << 16, 0x7fffffff, 0x80000000,
			       0xffffffff };
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	unsigned int i, k;
	bool too_big;

	for (i = 0; i < ARRAY_SIZE(n); i++) {
		for (k = 0; k < 5; k++) {
			memset(&init, 0, sizeof(init));
			init.send_cq = A.cq;
			init.recv_cq = A.cq;
			init.qp_type = IBV_QPT_RC;
			init.cap.max_send_wr = k == 0 ? n[i] : 1;
			init.cap.max_recv_wr = k == 1 ? n[i] : 1;
			init.cap.max_send_sge = k == 2 ? n[i] : 1;
			init.cap.max_recv_sge = k == 3 ? n[i] : 1;
			init.cap.max_inline_data = k == 4 ? n[i] : 0;
			qp = ibv_create_qp(A.pd, &init);
			errno = 0;
			too_big = n[i] > (k < 2 ? wr : sge);
			if (k < 4 && !qp != too_big)
				die("cap %u of %u: %s", k, n[i],
				    qp ? "granted" : "refused");
			if (qp && ibv_destroy_qp(qp))
				die("destroy_qp");
		}
		cq = ibv_create_cq(A.ctx, n[i], NULL, NULL, 0);
		errno = 0;
		too_big = n[i] > (uint32_t)A.attr.max_cqe;
		if (!cq != too_big)
			die("CQ of %u: %s", n[i], cq ? "granted" : "refused");
		if (cq && ibv_destroy_cq(cq))
			die("destroy_cq");
	}
}

/* Many mappings later the old ones are what they were. */
static void abi_07(void)
{
	unsigned int n = rounds > 1000 ? 70000 : rounds * 10;
	struct pair old[10];
	struct ibv_cq *cq;

	for (int i = 0; i < 10; i++)
		pair_open(&A, &B, &old[i], &conn);
	for (unsigned int i = 0; i < n; i++) {
		cq = ibv_create_cq(A.ctx, 1, NULL, NULL, 0);
		if (!cq || ibv_destroy_cq(cq))
			die("CQ %u", i);
	}
	for (int i = 0; i < 10; i++) {
		works(&old[i]);
		pair_close(&old[i]);
	}
}

/* One doorbell, one message, within a second */
static void abi_08(void)
{
	uint64_t start;

	pair_open(&A, &B, &p, &conn);
	works(&p);
	start = now_ns();
	works(&p);
	errno = 0;
	if (now_ns() - start > 1000000000ull * (wait_s / 10 + 1))
		die("it took %llu ms",
		    (unsigned long long)(now_ns() - start) / 1000000);
	pair_close(&p);
}

/* Inline data of every length, cut in pieces, then none in the same entry */
static void abi_10(void)
{
	struct ibv_sge sge[4];
	struct ibv_send_wr *bad, wr = {
		.sg_list = sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE,
	};
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	uint32_t most, len, cut;

	pair_open(&A, &B, &p, &conn);
	if (ibv_query_qp(p.a, &attr, IBV_QP_CAP, &init))
		die("query_qp");
	most = init.cap.max_inline_data;
	for (len = 0; len <= most; len++) {
		memset(B.mem, GUARD, most + 64);
		for (uint32_t i = 0; i < len; i++)
			A.mem[i] = len + i;
		cut = len / 3;
		sge[0] = piece(&A, 0, cut);
		sge[1] = piece(&A, cut, 0);
		sge[2] = piece(&A, cut, len - cut);
		for (int i = 0; i < 3; i++)
			sge[i].lkey = NO_KEY;
		post_recv(&B, p.b, 2, piece(&B, 0, most + 64));
		post(p.a, IBV_WR_SEND, sge, 3, 0, 0, IBV_SEND_INLINE);
		memset(A.mem, 0, most);		/* it is taken already */
		gets(&A, 1, IBV_WC_SUCCESS);
		gets(&B, 2, IBV_WC_SUCCESS);
		errno = 0;
		for (uint32_t i = 0; i < most + 64; i++)
			if (B.mem[i] !=
			    (i < len ? (uint8_t)(len + i) : GUARD))
				die("length %u, byte %u", len, i);
		works(&p);
	}
	sge[0] = piece(&A, 0, most + 1);
	if (!ibv_post_send(p.a, &wr, &bad))
		die("%u bytes inline were taken", most + 1);
	pair_close(&p);
}

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

static volatile bool stop;

static void *map_about(void *arg)
{
	uint64_t offset = 0;
	void *at;

	while (!stop) {
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
	stop = true;
	pthread_join(thread, NULL);
}

/* Access to a key that comes and goes: wholly, or an error */
static void obj_16(void)
{
	struct ibv_sge sge = piece(&A, 0, 4096);
	unsigned int refused = 0;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	uint32_t rkey;

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
		must_refuse((uintptr_t)B.mem, rkey, "written after dereg_mr");
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
		if (err == EOPNOTSUPP || err == ENOSYS)
			return (void *)1;
		ibv_detach_mcast(member, &gid, 0);
	}
	return NULL;
	(void)arg;
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
	errno = 0;
	if (ibv_destroy_qp(member))
		die("destroy_qp");
	if (result)
		skip("no multicast");
}

static const struct {
	const char *name;
	void (*fn)(void);
} tests[] = {
	{ "CQE-01", cqe_01 }, { "CQE-03", cqe_03 }, { "CQE-04", cqe_04 },
	{ "CQE-05", cqe_05 }, { "CQE-06", cqe_06 }, { "CQE-07", cqe_07 },
	{ "CQE-08", cqe_08 }, { "CQE-10", cqe_10 },
	{ "MEM-03", mem_03 }, { "MEM-04", mem_04 }, { "MEM-07", mem_07 },
	{ "MEM-09", mem_09 }, { "MEM-10", mem_10 }, { "MEM-16", mem_16 },
	{ "MEM-17", mem_17 }, { "MEM-18", mem_18 }, { "MEM-19", mem_19 },
	{ "MEM-20", mem_20 },
	{ "ABI-03", abi_03 }, { "ABI-04", abi_04 }, { "ABI-07", abi_07 },
	{ "ABI-08", abi_08 }, { "ABI-10", abi_10 },
	{ "OBJ-01", obj_01 }, { "OBJ-02", obj_02 }, { "OBJ-06", obj_06 },
	{ "OBJ-13", obj_13 }, { "OBJ-14", obj_14 }, { "OBJ-16", obj_16 },
	{ "OBJ-17", obj_17 },
};

static void usage(void)
{
	fprintf(stderr, "usage: fieldbugs -a DEV -A ADDR -b DEV -B ADDR\n"
		"	[-w SECONDS] [-n ROUNDS] TEST...\n");
	exit(2);
}

static void run(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(tests); i++) {
		if (strcmp(tests[i].name, name))
			continue;
		doing = name;
		errno = 0;
		tests[i].fn();
		return;
	}
	usage();
}

int main(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "a:A:b:B:w:n:")) != -1) {
		switch (opt) {
		case 'a':
			dev_a = optarg;
			break;
		case 'A':
			addr_a = optarg;
			break;
		case 'b':
			dev_b = optarg;
			break;
		case 'B':
			addr_b = optarg;
			break;
		case 'w':
			wait_s = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			rounds = strtoul(optarg, NULL, 0);
			break;
		default:
			usage();
		}
	}
	if (optind == argc)
		usage();
	rnd_state = now_ns() | 1;
	side_open(&A, dev_a, addr_a, MEM, 256);
	side_open(&B, dev_b, addr_b, MEM, 256);
	for (; optind < argc; optind++)
		run(argv[optind]);
	side_close(&A);
	side_close(&B);
	return 0;
}
