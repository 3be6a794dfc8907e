// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * On-demand paging: memory of both hosts that is not pinned, touched for the
 * first time, taken away under traffic, or not there at all. Started by odp.sh.
 *
 *	odp -a DEV -A ADDR -b DEV -B ADDR [-w SECONDS] [-n ROUNDS] TEST...
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "pair_test.h"

#include <infiniband/uetdv.h>

#define MEM	(1024 * 1024u)
#define ODP	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
		 IBV_ACCESS_ON_DEMAND)

static struct pair p;
static atomic_bool stop;

/* Memory that nobody has touched. @file: it outlives its mapping. */
static void memory(struct side *s, bool file)
{
	int fd = -1;

	if (file) {
		fd = memfd_create("odp", 0);
		if (fd < 0 || ftruncate(fd, MEM))
			die("memfd");
	}
	s->size = MEM;
	s->mem = mmap(NULL, MEM, PROT_READ | PROT_WRITE, file ? MAP_SHARED :
		      MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	if (s->mem == MAP_FAILED)
		die("mmap");
	if (file)
		close(fd);
	s->mr = ibv_reg_mr(s->pd, s->mem, MEM, ODP);
	if (!s->mr && (errno == EOPNOTSUPP || errno == EINVAL))
		skip("no on-demand paging in this kernel");
	if (!s->mr)
		die("reg_mr");
}

static void begin(bool file)
{
	struct conn conn = { .access = ODP & ~IBV_ACCESS_ON_DEMAND };

	side_open(&A, dev_a, addr_a, 0, 256);
	side_open(&B, dev_b, addr_b, 0, 256);
	memory(&A, file);
	memory(&B, file);
	pair_open(&A, &B, &p, &conn);
}

static void end(void)
{
	none_left(&A);
	none_left(&B);
	pair_close(&p);
	side_close(&A);
	side_close(&B);
}

static void receive(size_t at, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)B.mem + at, len, B.mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	errno = ibv_post_recv(p.b, &wr, &bad);
	if (errno)
		die("post_recv");
}

/* From or to @from in A, to or from @to in B. */
static void request(enum ibv_wr_opcode op, size_t from, size_t to, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)A.mem + from, len, A.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = op,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htobe32(7),
	};

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)B.mem + to;
		wr.wr.atomic.rkey = B.mr->rkey;
		wr.wr.atomic.compare_add = 5;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)B.mem + to;
		wr.wr.rdma.rkey = B.mr->rkey;
	}
	errno = ibv_post_send(p.a, &wr, &bad);
	if (errno)
		die("post_send");
}

static void done(struct side *s, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	next(s, &wc);
	expect_status(&wc, status);
}

/* One operation with noise of a random length at random places, and a look. */
static void transfer(enum ibv_wr_opcode op, uint32_t max)
{
	uint32_t len = 1 + below(max);
	size_t from = below(MEM - len), to = below(MEM - len);
	const __u8 *data = noise + below(noise_len - len);
	bool read = op == IBV_WR_RDMA_READ;

	memcpy(read ? B.mem + to : A.mem + from, data, len);
	if (op == IBV_WR_SEND)
		receive(to, len);
	if (op == IBV_WR_RDMA_WRITE_WITH_IMM)
		receive(0, 0);
	request(op, from, to, len);
	done(&A, IBV_WC_SUCCESS);
	if (op == IBV_WR_SEND || op == IBV_WR_RDMA_WRITE_WITH_IMM)
		done(&B, IBV_WC_SUCCESS);
	errno = 0;
	if (memcmp(data, read ? A.mem + from : B.mem + to, len))
		die("opcode %d: %u bytes from %zu to %zu are not right", op,
		    len, from, to);
}

static const enum ibv_wr_opcode ops[] = {
	IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
	IBV_WR_RDMA_READ,
};

/* Memory that is taken away before each operation, so that it reads as 0. */
static void untouched(enum ibv_wr_opcode op, uint32_t len)
{
	errno = 0;
	if (madvise(A.mem, MEM, MADV_DONTNEED) ||
	    madvise(B.mem, MEM, MADV_DONTNEED))
		die("madvise");
	if (op == IBV_WR_SEND)
		receive(PAGE - 8, len);
	if (op == IBV_WR_RDMA_WRITE_WITH_IMM)
		receive(0, 0);
	request(op, PAGE - 8, 2 * PAGE - 8, len);
	done(&A, IBV_WC_SUCCESS);
	if (op == IBV_WR_SEND || op == IBV_WR_RDMA_WRITE_WITH_IMM)
		done(&B, IBV_WC_SUCCESS);
}

static void first_touch(void)
{
	static const uint32_t lens[] = { 1, 8, 16, 17, PAGE, 100000, MEM / 2 };
	unsigned int i, j;

	begin(false);
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		for (j = 0; j < ARRAY_SIZE(lens); j++)
			untouched(ops[i], lens[j]);
	for (i = 0; i < 3; i++) {
		__u64 word;

		untouched(IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
		memcpy(&word, B.mem + 2 * PAGE - 8, 8);
		expect("sum", word, 5);
	}
	for (i = 0; i < rounds; i++)
		transfer(ops[below(ARRAY_SIZE(ops))], i & 1 ? 20 : 60000);
	end();
}

/* The mappings go and come; the file keeps the bytes. */
static void *unmapper(void *unused)
{
	while (!stop) {
		if (madvise(A.mem, MEM, MADV_DONTNEED) ||
		    madvise(B.mem, MEM, MADV_DONTNEED))
			die("madvise");
		usleep(200 + below(2000));
	}
	return NULL;
}

/* Each fork makes all pages read-only, and each write after it a new page. */
static void *forker(void *unused)
{
	while (!stop) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			die("fork");
		usleep(200);
	}
	return NULL;
}

static void under(void *(*fn)(void *), bool file)
{
	pthread_t thread;
	unsigned int i;

	begin(file);
	stop = false;
	errno = pthread_create(&thread, NULL, fn, NULL);
	if (errno)
		die("thread");
	for (i = 0; i < rounds; i++)
		transfer(ops[below(ARRAY_SIZE(ops))], i % 3 ? 100000 : 30);
	stop = true;
	pthread_join(thread, NULL);
	end();
}

static void unmapping(void)
{
	under(unmapper, true);
}

static void forking(void)
{
	under(forker, false);
}

static void hole(struct side *s)
{
	errno = 0;
	if (munmap(s->mem + 8 * PAGE, PAGE))
		die("munmap");
}

static void broken(struct side *with_hole, enum ibv_wr_opcode op,
		   enum ibv_wc_status a, enum ibv_wc_status b)
{
	begin(false);
	hole(with_hole);
	if (op == IBV_WR_SEND)
		receive(8 * PAGE, 100);
	request(op, 8 * PAGE, 8 * PAGE, 100);
	done(&A, a);
	if (op == IBV_WR_SEND && with_hole == &B)
		done(&B, b);
	expect("state", qp_state(p.a), IBV_QPS_ERR);
	pair_close(&p);
	side_close(&A);
	side_close(&B);
}

/* Memory that is not there fails what needs it, as a bad key would. */
static void holes(void)
{
	broken(&A, IBV_WR_SEND, IBV_WC_LOC_PROT_ERR, 0);
	broken(&A, IBV_WR_RDMA_WRITE, IBV_WC_LOC_PROT_ERR, 0);
	broken(&A, IBV_WR_RDMA_READ, IBV_WC_LOC_PROT_ERR, 0);
	broken(&B, IBV_WR_SEND, IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR);
	broken(&B, IBV_WR_RDMA_WRITE, IBV_WC_REM_ACCESS_ERR, 0);
	broken(&B, IBV_WR_RDMA_READ, IBV_WC_REM_ACCESS_ERR, 0);
}

/* Only the operation fails: the region lives, and so does the page later. */
static void back_again(void)
{
	struct conn conn = { .access = ODP & ~IBV_ACCESS_ON_DEMAND };

	begin(false);
	hole(&B);
	request(IBV_WR_RDMA_WRITE, 0, 8 * PAGE, 100);
	done(&A, IBV_WC_REM_ACCESS_ERR);
	pair_close(&p);
	if (mmap(B.mem + 8 * PAGE, PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		die("mmap");
	pair_open(&A, &B, &p, &conn);
	A.mem[0] = 77;
	request(IBV_WR_RDMA_WRITE, 0, 8 * PAGE, 100);
	done(&A, IBV_WC_SUCCESS);
	expect("byte", B.mem[8 * PAGE], 77);
	end();
}

/* Memory that may only be read cannot be written to by anybody. */
static void read_only(void)
{
	begin(false);
	errno = 0;
	if (mprotect(B.mem, PAGE, PROT_READ))
		die("mprotect");
	request(IBV_WR_RDMA_READ, 0, 0, 100);
	done(&A, IBV_WC_SUCCESS);
	request(IBV_WR_RDMA_WRITE, 0, 0, 100);
	done(&A, IBV_WC_REM_ACCESS_ERR);
	pair_close(&p);
	side_close(&A);
	side_close(&B);
}

static void prefetch(void)
{
	struct ibv_sge sge;
	int flush = IBV_ADVISE_MR_FLAG_FLUSH;

	begin(false);
	sge = (struct ibv_sge){ (uintptr_t)B.mem + 100, MEM - 100, B.mr->lkey };
	expect("write", ibv_advise_mr(B.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
				      flush, &sge, 1), 0);
	expect("read", ibv_advise_mr(B.pd, IBV_ADVISE_MR_ADVICE_PREFETCH,
				     0, &sge, 1), 0);
	hole(&B);
	expect("what is there",
	       ibv_advise_mr(B.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT,
			     flush, &sge, 1), 0);
	expect("a hole", ibv_advise_mr(B.pd, IBV_ADVISE_MR_ADVICE_PREFETCH,
				       flush, &sge, 1), EFAULT);
	sge.length = MEM;
	expect("too much", ibv_advise_mr(B.pd, IBV_ADVISE_MR_ADVICE_PREFETCH,
					 flush, &sge, 1), EINVAL);
	sge.length = 1;
	sge.lkey = 0x7fffff00;
	expect("no key", ibv_advise_mr(B.pd, IBV_ADVISE_MR_ADVICE_PREFETCH,
				       flush, &sge, 1), EINVAL);
	end();
}

/* What is not offered: windows, parts, and regions without an end. */
static void refused(void)
{
	struct uetdv_reg_mr_attr part = {
		.comp_mask = UETDV_REG_MR_MASK_CUR_MR,
		.length = PAGE,
		.access = IBV_ACCESS_LOCAL_WRITE,
	};

	begin(false);
	part.addr = A.mem;
	part.cur_mr = A.mr;
	if (ibv_reg_mr(A.pd, A.mem, PAGE, ODP | IBV_ACCESS_MW_BIND))
		die("windows on pages that come and go");
	expect("errno", errno, EOPNOTSUPP);
	if (ibv_reg_mr(A.pd, NULL, SIZE_MAX, ODP))
		die("an implicit region");
	/* The pages of a part would come and go without anybody asking for them. */
	errno = 0;
	if (uetdv_reg_mr(A.pd, &part, sizeof(part)))
		die("a part of a region on demand");
	expect("errno", errno, EOPNOTSUPP);
	end();
}

/* A process is killed in the middle of it; the guest sees what is left over. */
static void killed(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		begin(true);
		for (;;)
			transfer(ops[below(ARRAY_SIZE(ops))], 100000);
	}
	usleep(300000 + below(100000));
	kill(pid, SIGKILL);
	errno = 0;
	if (waitpid(pid, NULL, 0) != pid)
		die("wait");
}

static const struct entry tests[] = {
	{ "first_touch", first_touch },
	{ "unmapping", unmapping },
	{ "forking", forking },
	{ "holes", holes },
	{ "back_again", back_again },
	{ "read_only", read_only },
	{ "prefetch", prefetch },
	{ "refused", refused },
	{ "killed", killed },
	{}
};

int main(int argc, char **argv)
{
	char **names = pair_options(argc, argv, tests, NULL);

	noise_init(MEM);
	for (; *names; names++)
		pair_run(*names, tests);
	return 0;
}
