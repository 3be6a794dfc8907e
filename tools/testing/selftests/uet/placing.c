// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Operations about when bytes are seen at the other end: ATOMIC WRITE and
 * FLUSH. Host a asks, host b has the memory. Started by placing.sh.
 *
 *	placing -a DEV -A ADDR -b DEV -B ADDR [-w SECONDS] [-n ROUNDS] TEST...
 */
#include "pair_test.h"

#define MEM	(1024 * 1024u)
#define NO_KEY	0x7fffff00u
#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_FLUSH_GLOBAL | \
		 IBV_ACCESS_FLUSH_PERSISTENT)

static struct pair p;
static struct ibv_mr *mr;	/* of B, with the right to flush */
static struct ibv_qp_ex *qpx;

static void open_pair(__u32 inline_data)
{
	struct conn conn = {
		.sge = 2,
		.inline_data = inline_data,
		.wr_api = true,
		.more_ops = IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_FLUSH,
		.access = ACCESS,
	};

	pair_open(&A, &B, &p, &conn);
	qpx = ibv_qp_to_qp_ex(p.a);
	mr = ibv_reg_mr(B.pd, B.mem, MEM,
			ACCESS & ~IBV_ACCESS_FLUSH_PERSISTENT);
	if (!mr)
		die("reg_mr");
	memset(B.mem, GUARD, PAGE);
}

static void close_pair(void)
{
	none_left(&A);
	none_left(&B);
	if (ibv_dereg_mr(mr))
		die("dereg_mr");
	pair_close(&p);
}

static void begin(__u64 id)
{
	ibv_wr_start(qpx);
	qpx->wr_id = id;
	qpx->wr_flags = IBV_SEND_SIGNALED;
}

static void end(void)
{
	errno = ibv_wr_complete(qpx);
	if (errno)
		die("wr_complete");
}

static void gets(__u64 id, enum ibv_wc_status status, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	next(&A, &wc);
	expect("wr_id", wc.wr_id, id);
	expect_status(&wc, status);
	if (status == IBV_WC_SUCCESS)
		expect("opcode", wc.opcode, opcode);
}

static __u64 word(size_t at)
{
	__u64 value;

	memcpy(&value, B.mem + at, sizeof(value));
	return value;
}

static void atomic_write(uint32_t rkey, size_t at, __u64 value,
			 enum ibv_wc_status status)
{
	begin(value);
	ibv_wr_atomic_write(qpx, rkey, (uintptr_t)B.mem + at, &value);
	end();
	gets(value, status, IBV_WC_ATOMIC_WRITE);
}

static void guarded(size_t from, size_t to)
{
	errno = 0;
	for (; from < to; from++)
		if (B.mem[from] != GUARD)
			die("byte %zu was written", from);
}

/* A queue without room for inline data has it too. */
static void atomic_values(void)
{
	unsigned int i;

	open_pair(0);
	for (i = 1; i <= rounds; i++) {
		__u64 value = 0x0123456700000000ull * i + i;

		atomic_write(mr->rkey, 64, value, IBV_WC_SUCCESS);
		expect("word", word(64), value);
	}
	guarded(0, 64);
	guarded(72, PAGE);
	close_pair();
}

static void posted(struct ibv_send_wr *wr, __u64 value)
{
	struct ibv_send_wr *bad;

	errno = ibv_post_send(p.a, wr, &bad);
	if (errno)
		die("post_send");
	gets(wr->wr_id, IBV_WC_SUCCESS, IBV_WC_ATOMIC_WRITE);
	expect("word", word(64), value);
}

/* By ibv_post_send(), from memory and inline; eight bytes and no other number. */
static void atomic_posted(void)
{
	struct ibv_sge sge[2] = {
		{ (uintptr_t)A.mem + 1, 5, A.mr->lkey },
		{ (uintptr_t)A.mem + 6, 3, A.mr->lkey },
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1,
		.sg_list = sge,
		.num_sge = 2,
		.opcode = IBV_WR_ATOMIC_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	};
	__u64 value = 0xa1b2c3d4e5f60718ull;

	open_pair(16);
	memcpy(A.mem + 1, &value, sizeof(value));
	wr.wr.rdma.remote_addr = (uintptr_t)B.mem + 64;
	wr.wr.rdma.rkey = mr->rkey;
	posted(&wr, value);
	value = ~value;
	memcpy(A.mem + 1, &value, sizeof(value));
	wr.send_flags |= IBV_SEND_INLINE;
	posted(&wr, value);
	wr.num_sge = 0;
	expect("post of nothing", ibv_post_send(p.a, &wr, &bad), EINVAL);
	wr.num_sge = 1;
	errno = ibv_post_send(p.a, &wr, &bad);
	if (errno)
		die("post_send");
	gets(1, IBV_WC_LOC_LEN_ERR, IBV_WC_ATOMIC_WRITE);
	expect("word", word(64), value);
	close_pair();
}

static void atomic_refused(uint32_t rkey, size_t at, enum ibv_wc_status status)
{
	open_pair(0);
	atomic_write(rkey ? rkey : mr->rkey, at, 7, status);
	expect("state", qp_state(p.a), IBV_QPS_ERR);
	expect("state of the peer", qp_state(p.b), IBV_QPS_ERR);
	guarded(0, PAGE);
	close_pair();
}

static void atomic_errors(void)
{
	struct ibv_mr *no_write;

	atomic_refused(0, 4, IBV_WC_REM_INV_REQ_ERR);
	atomic_refused(0, MEM, IBV_WC_REM_ACCESS_ERR);
	atomic_refused(0, MEM - 4, IBV_WC_REM_ACCESS_ERR);
	atomic_refused(NO_KEY, 0, IBV_WC_REM_ACCESS_ERR);
	no_write = ibv_reg_mr(B.pd, B.mem, PAGE, IBV_ACCESS_REMOTE_READ);
	if (!no_write)
		die("reg_mr");
	atomic_refused(no_write->rkey, 0, IBV_WC_REM_ACCESS_ERR);
	if (ibv_dereg_mr(no_write))
		die("dereg_mr");
}

/* A WRITE of several packets and the FLUSH behind it: only the latter signals. */
static void flush_round(unsigned int i, uint8_t level)
{
	size_t len = 1 + below(MEM / 2 - 1);

	memset(A.mem, i, len);
	ibv_wr_start(qpx);
	qpx->wr_id = 1;
	qpx->wr_flags = 0;
	ibv_wr_rdma_write(qpx, mr->rkey, (uintptr_t)B.mem);
	ibv_wr_set_sge(qpx, A.mr->lkey, (uintptr_t)A.mem, len);
	qpx->wr_id = i;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	/* The range does not count where all of the region is meant. */
	ibv_wr_flush(qpx, mr->rkey, level == IBV_FLUSH_MR ? below(1000) :
		     (uintptr_t)B.mem, level == IBV_FLUSH_MR ? rnd() : len,
		     IBV_FLUSH_GLOBAL, level);
	end();
	gets(i, IBV_WC_SUCCESS, IBV_WC_FLUSH);
	if (memcmp(A.mem, B.mem, len))
		die("round %u: %zu bytes are not all there", i, len);
}

static void flush(void)
{
	unsigned int i;

	open_pair(0);
	for (i = 1; i <= rounds / 5 + 2; i++)
		flush_round(i, i & 1 ? IBV_FLUSH_MR : IBV_FLUSH_RANGE);
	close_pair();
}

static void flush_refused(uint32_t rkey, size_t at, size_t len, uint8_t type,
			  uint8_t level, enum ibv_wc_status status)
{
	open_pair(0);
	begin(1);
	ibv_wr_flush(qpx, rkey ? rkey : mr->rkey, (uintptr_t)B.mem + at, len,
		     type, level);
	end();
	gets(1, status, IBV_WC_FLUSH);
	expect("state", qp_state(p.a), IBV_QPS_ERR);
	close_pair();
}

/* Persistent memory is not what a region may be of. */
static void flush_errors(void)
{
	flush_refused(NO_KEY, 0, 100, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE,
		      IBV_WC_REM_ACCESS_ERR);
	flush_refused(NO_KEY, 0, 0, IBV_FLUSH_GLOBAL, IBV_FLUSH_MR,
		      IBV_WC_REM_ACCESS_ERR);
	/* This one has no right to it. */
	flush_refused(B.mr->rkey, 0, 100, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE,
		      IBV_WC_REM_ACCESS_ERR);
	flush_refused(0, MEM - 99, 100, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE,
		      IBV_WC_REM_ACCESS_ERR);
	flush_refused(0, 0, 100, IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE,
		      IBV_WC_REM_ACCESS_ERR);
	flush_refused(0, 0, 100, IBV_FLUSH_GLOBAL | IBV_FLUSH_PERSISTENT,
		      IBV_FLUSH_MR, IBV_WC_REM_ACCESS_ERR);
	flush_refused(0, 0, 100, 0, IBV_FLUSH_RANGE, IBV_WC_LOC_QP_OP_ERR);
	flush_refused(0, 0, 100, IBV_FLUSH_GLOBAL, 2, IBV_WC_LOC_QP_OP_ERR);
	flush_refused(0, 0, 1ull << 32, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE,
		      IBV_WC_LOC_QP_OP_ERR);
	mr = ibv_reg_mr(B.pd, B.mem, PAGE, IBV_ACCESS_FLUSH_PERSISTENT);
	if (mr)
		die("a region of persistent memory that is none");
}

static const struct entry tests[] = {
	{ "atomic_values", atomic_values },
	{ "atomic_posted", atomic_posted },
	{ "atomic_errors", atomic_errors },
	{ "flush", flush },
	{ "flush_errors", flush_errors },
	{}
};

int main(int argc, char **argv)
{
	rounds = 1000;
	return pair_main(argc, argv, tests, MEM);
}
