// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* What user space and kernel share: faults of the field, see bugs.h */
#include <assert.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/uet-abi.h>

#include "bugs.h"

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
	const __u32 wr = A.attr.max_qp_wr, sge = A.attr.max_sge;
	const __u32 n[] = { 1, wr, wr + 1, 1 << 16, 0x7fffffff, 0x80000000,
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
		too_big = n[i] > (__u32)A.attr.max_cqe;
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

/* One doorbell, one message, and nothing to wait for */
static void abi_08(void)
{
	__u64 start;

	pair_open(&A, &B, &p, &conn);
	works(&p);
	start = now_ns();
	works(&p);
	not_stuck(start, "it");
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
	__u32 most, len, cut;

	pair_open(&A, &B, &p, &conn);
	if (ibv_query_qp(p.a, &attr, IBV_QP_CAP, &init))
		die("query_qp");
	most = init.cap.max_inline_data;
	for (len = 0; len <= most; len++) {
		memset(B.mem, GUARD, most + 64);
		for (__u32 i = 0; i < len; i++)
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
		for (__u32 i = 0; i < most + 64; i++)
			if (B.mem[i] !=
			    (i < len ? (__u8)(len + i) : GUARD))
				die("length %u, byte %u", len, i);
		works(&p);
	}
	sge[0] = piece(&A, 0, most + 1);
	if (!ibv_post_send(p.a, &wr, &bad))
		die("%u bytes inline were taken", most + 1);
	pair_close(&p);
}

static unsigned int taken;

/* One thread posts, another polls: every entry is whole, and in its turn. */
static void *post_all(void *arg)
{
	struct ibv_sge sge = piece(&A, 0, 8);
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)B.mem, B.mr->rkey },
	};
	__u64 end = now_ns() + wait_s * 10000000000ull;

	for (wr.wr_id = 0; wr.wr_id < rounds * 20ull; wr.wr_id++) {
		/* no more than the queue is deep, as no CQ has room for more */
		while (wr.wr_id >= 64ull + __atomic_load_n(&taken,
							   __ATOMIC_ACQUIRE))
			if (sched_yield() || now_ns() > end)
				return arg;
		if (ibv_post_send(p.a, &wr, &bad))
			return arg;
	}
	return NULL;
}

static void abi_02(void)
{
	void *failed = NULL;
	pthread_t thread;
	struct ibv_wc wc;

	taken = 0;
	pair_open(&A, &B, &p, &conn);
	if (pthread_create(&thread, NULL, post_all, &p))
		die("pthread_create");
	for (__u64 i = 0; i < rounds * 20ull; i++) {
		next(&A, &wc);
		expect_status(&wc, IBV_WC_SUCCESS);
		expect("wr_id", wc.wr_id, i);
		expect("qp_num", wc.qp_num, p.a->qp_num);
		expect("opcode", wc.opcode, IBV_WC_RDMA_WRITE);
		__atomic_store_n(&taken, i + 1, __ATOMIC_RELEASE);
	}
	pthread_join(thread, &failed);
	errno = 0;
	if (failed)
		die("a request was refused");
	pair_close(&p);
}

/* A command of @len bytes with @tail bytes of the driver's part, all @fill */
static int raw(__u32 number, const void *core, size_t len, size_t tail,
	       __u8 fill, __u32 *made)
{
	static __u8 answer[512];
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		__u8 data[512];
	} cmd = { .hdr = { .command = number, .out_words = 64 } };
	__u64 response = (uintptr_t)answer;

	memcpy(cmd.data, core, len);
	memcpy(cmd.data, &response, sizeof(response));
	memset(cmd.data + len, fill, tail);
	len += sizeof(cmd.hdr) + tail;
	cmd.hdr.in_words = len / 4;
	if (write(A.ctx->cmd_fd, &cmd, len) != (ssize_t)len)
		return errno;
	memcpy(made, answer, 4);
	return 0;
}

static void raw_destroy(__u32 number, __u32 handle)
{
	struct ib_uverbs_destroy_qp core = { .qp_handle = handle };
	struct ib_uverbs_dealloc_pd short_core = { .pd_handle = handle };
	__u32 made;

	if (number == IB_USER_VERBS_CMD_DESTROY_QP ||
	    number == IB_USER_VERBS_CMD_DESTROY_CQ ||
	    number == IB_USER_VERBS_CMD_DESTROY_SRQ) {
		errno = raw(number, &core, sizeof(core), 0, 0, &made);
	} else {
		struct {
			struct ib_uverbs_cmd_hdr hdr;
			struct ib_uverbs_dealloc_pd core;
		} cmd = {
			.hdr = { .command = number,
				 .in_words = sizeof(cmd) / 4 },
			.core = short_core,
		};

		errno = write(A.ctx->cmd_fd, &cmd, sizeof(cmd)) ==
			sizeof(cmd) ? 0 : errno;
	}
	if (errno)
		die("destroy command %u", number);
}

/* The driver's part of a command: too short, too long, with something in it */
static void abi_05(void)
{
	struct ib_uverbs_alloc_pd pd = { 0 };
	struct ib_uverbs_create_cq cq = { .cqe = 4, .comp_channel = -1 };
	struct ib_uverbs_reg_mr mr = {
		.start = (uintptr_t)A.mem, .length = PAGE,
		.hca_va = (uintptr_t)A.mem, .pd_handle = A.pd->handle,
	};
	struct ib_uverbs_alloc_mw mw = {
		.pd_handle = A.pd->handle, .mw_type = IBV_MW_TYPE_1,
	};
	struct ib_uverbs_create_srq srq = {
		.pd_handle = A.pd->handle, .max_wr = 4, .max_sge = 1,
	};
	struct ib_uverbs_create_qp qp = {
		.pd_handle = A.pd->handle, .send_cq_handle = A.cq->handle,
		.recv_cq_handle = A.cq->handle, .max_send_wr = 4,
		.max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
		.qp_type = IBV_QPT_RC,
	};
	const struct {
		__u32 make, destroy;
		const void *core;
		size_t len, need;	/* bytes of the driver's part */
		bool may_lack;		/* or none at all */
	} cmds[] = {
		{ IB_USER_VERBS_CMD_ALLOC_PD, IB_USER_VERBS_CMD_DEALLOC_PD,
		  &pd, sizeof(pd), 0 },
		{ IB_USER_VERBS_CMD_CREATE_CQ, IB_USER_VERBS_CMD_DESTROY_CQ,
		  &cq, sizeof(cq), 0 },
		{ IB_USER_VERBS_CMD_REG_MR, IB_USER_VERBS_CMD_DEREG_MR,
		  &mr, sizeof(mr), sizeof(struct uet_reg_mr_req), true },
		{ IB_USER_VERBS_CMD_ALLOC_MW, IB_USER_VERBS_CMD_DEALLOC_MW,
		  &mw, sizeof(mw), 0 },
		{ IB_USER_VERBS_CMD_CREATE_SRQ, IB_USER_VERBS_CMD_DESTROY_SRQ,
		  &srq, sizeof(srq), 0 },
		{ IB_USER_VERBS_CMD_CREATE_QP, IB_USER_VERBS_CMD_DESTROY_QP,
		  &qp, sizeof(qp),
		  offsetof(struct uet_create_qp_req, addressing) },
	};
	__u32 made;
	int err;

	for (unsigned int i = 0; i < ARRAY_SIZE(cmds); i++) {
		for (size_t n = 0; n <= cmds[i].need + 64; n += 4) {
			bool enough = n >= cmds[i].need ||
				      (!n && cmds[i].may_lack);

			err = raw(cmds[i].make, cmds[i].core, cmds[i].len, n, 0,
				  &made);
			errno = err;
			if (enough ? err : err != EINVAL)
				die("command %u with %zu bytes of 0",
				    cmds[i].make, n);
			if (!err)
				raw_destroy(cmds[i].destroy, made);
			if (!n)
				continue;
			err = raw(cmds[i].make, cmds[i].core, cmds[i].len, n,
				  0xa5, &made);
			errno = err;
			if (err != EINVAL && err != EOPNOTSUPP)
				die("command %u with %zu bytes of nonsense",
				    cmds[i].make, n);
		}
	}
}

/* Post by one of the two ways of posting. */
static void post_either(bool builder, enum ibv_wr_opcode op,
			struct ibv_sge *sge, int n)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(p.a);

	if (!builder) {
		post(p.a, op, sge, n, (uintptr_t)B.mem, B.mr->rkey, 0);
		return;
	}
	ibv_wr_start(qp);
	qp->wr_id = 1;
	qp->wr_flags = IBV_SEND_SIGNALED;
	switch (op) {
	case IBV_WR_SEND:
		ibv_wr_send(qp);
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qp, B.mr->rkey, (uintptr_t)B.mem);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qp, B.mr->rkey, (uintptr_t)B.mem,
				      htobe32(0xa5a50001));
		break;
	default:
		ibv_wr_rdma_read(qp, B.mr->rkey, (uintptr_t)B.mem);
	}
	ibv_wr_set_sge_list(qp, n, sge);
	errno = ibv_wr_complete(qp);
	if (errno)
		die("wr_complete");
}

/* Both ways of posting give the same data, lengths and completions. */
static void abi_12(void)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ,
	};
	static const __u32 len[] = { 17, 0, 4096, 1 };
	const struct conn c = { .sge = 4, .wr_api = true };
	struct ibv_wc wc[2][2];
	struct ibv_sge sge[4];
	__u8 result[2][8192];
	__u32 total;

	pair_open(&A, &B, &p, &c);
	for (unsigned int i = 0; i < ARRAY_SIZE(ops) * 4 * 2; i++) {
		enum ibv_wr_opcode op = ops[i / 8];
		bool read = op == IBV_WR_RDMA_READ, builder = i & 1;
		int n = i / 2 % 4 + 1, k;

		for (size_t b = 0; b < 8192; b++) {
			A.mem[b] = read ? GUARD : b * 7 + n;
			B.mem[b] = read ? b * 7 + n : GUARD;
		}
		total = 0;
		for (k = 0; k < n; k++) {
			sge[k] = piece(&A, total, len[k]);
			total += len[k];
		}
		memset(wc[builder], 0, sizeof(wc[0]));
		if (op == IBV_WR_SEND || op == IBV_WR_RDMA_WRITE_WITH_IMM)
			post_recv(&B, p.b, 2, piece(&B, 0, 8192));
		post_either(builder, op, sge, n);
		next(&A, &wc[builder][0]);
		expect_status(&wc[builder][0], IBV_WC_SUCCESS);
		if (op == IBV_WR_SEND || op == IBV_WR_RDMA_WRITE_WITH_IMM) {
			next(&B, &wc[builder][1]);
			expect("byte_len", wc[builder][1].byte_len, total);
		}
		memcpy(result[builder], read ? A.mem : B.mem, 8192);
		errno = 0;
		if (memcmp(result[builder], read ? B.mem : A.mem, total) ||
		    result[builder][total] != GUARD)
			die("operation %d, %d pieces: wrong data", op, n);
		if (builder && (memcmp(result[0], result[1], 8192) ||
				memcmp(wc[0], wc[1], sizeof(wc[0]))))
			die("operation %d, %d pieces: the two ways differ", op,
			    n);
	}
	pair_close(&p);
}

static const struct entry entries[] = {
	{ "ABI-02", abi_02 },
	{ "ABI-03", abi_03 },
	{ "ABI-04", abi_04 },
	{ "ABI-05", abi_05 },
	{ "ABI-07", abi_07 },
	{ "ABI-08", abi_08 },
	{ "ABI-10", abi_10 },
	{ "ABI-12", abi_12 },
	{ }
};

int main(int argc, char **argv)
{
	return bugs_main(argc, argv, entries);
}
