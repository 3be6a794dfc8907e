// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Access by the peer to memory of every kind: faults of the field, see bugs.h */
#include <linux/udmabuf.h>
#include <sys/ioctl.h>

#include "bugs.h"

/* Remote writes while their window is invalidated: after that not a byte lands. */
static void window_bind(struct ibv_mw *mw, struct ibv_mr *mr)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = 7, .opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
	};

	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
		mr, (uintptr_t)B.mem, PAGE, IBV_ACCESS_REMOTE_WRITE,
	};
	errno = ibv_post_send(p.b, &wr, &bad);
	if (errno)
		die("bind");
	mw->rkey = wr.bind_mw.rkey;
	gets(&B, 7, IBV_WC_SUCCESS);
}

static void window_invalidate(struct ibv_mw *mw)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = 8, .opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = mw->rkey,
	};

	errno = ibv_post_send(p.b, &wr, &bad);
	if (errno)
		die("invalidate");
	gets(&B, 8, IBV_WC_SUCCESS);
}

static __u32 window_key;

static void *write_window(void *arg)
{
	struct ibv_sge sge = piece(&A, 0, PAGE);

	for (int k = 0; k < 32; k++)
		post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)B.mem,
		     window_key, 0);
	return arg;
}

/* Each way a write can end: done, refused, or behind one that was */
static unsigned int writes_ended(void)
{
	unsigned int refused = 0, got;
	struct ibv_wc wc;

	for (got = 0; got < 32; got++) {
		next(&A, &wc);
		if (wc.status == IBV_WC_SUCCESS ||
		    wc.status == IBV_WC_WR_FLUSH_ERR)
			continue;
		expect_status(&wc, IBV_WC_REM_ACCESS_ERR);
		refused++;
	}
	return refused;
}

static void mem_05(void)
{
	struct ibv_mr *mr = ibv_reg_mr(B.pd, B.mem, PAGE,
				       RIGHTS | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(B.pd, IBV_MW_TYPE_2);
	unsigned int refused = 0;
	__u8 after[PAGE];
	pthread_t thread;

	if (!mr || !mw)
		die("region and window");
	pair_open(&A, &B, &p, &conn);
	for (unsigned int i = 0; i < rounds; i++) {
		window_bind(mw, mr);
		window_key = mw->rkey;
		memset(A.mem, i, PAGE);
		if (pthread_create(&thread, NULL, write_window, NULL))
			die("pthread_create");
		usleep(below(300));
		window_invalidate(mw);
		memcpy(after, B.mem, PAGE);
		pthread_join(thread, NULL);
		refused += writes_ended();
		errno = 0;
		if (memcmp(after, B.mem, PAGE))
			die("round %u: written after the invalidation", i);
		reconnect();
	}
	if (!refused)
		die("nothing was under way when the window went");
	pair_close(&p);
	if (ibv_dealloc_mw(mw) || ibv_dereg_mr(mr))
		die("give back");
}

/* Was the region of @owner, of @len bytes, in use when it went? */
static bool goes_under_way(struct side *owner, enum ibv_wr_opcode op,
			   size_t len)
{
	struct ibv_mr *mr = ibv_reg_mr(owner->pd, owner->mem + len, len, RIGHTS);
	struct ibv_sge sge = piece(&A, 0, len);
	__u64 addr = (uintptr_t)B.mem;
	__u32 rkey = B.mr->rkey;
	struct ibv_wc wc;
	__u64 start;

	if (!mr)
		die("reg_mr");
	if (owner == &A) {
		sge.addr = (uintptr_t)mr->addr;
		sge.lkey = mr->lkey;
	} else {
		addr = (uintptr_t)mr->addr;
		rkey = mr->rkey;
	}
	post(p.a, op, &sge, 1, addr, rkey, 0);
	usleep(below(200000));
	start = now_ns();
	if (ibv_dereg_mr(mr))
		die("dereg_mr");
	not_stuck(start, "dereg_mr");
	next(&A, &wc);
	if (wc.status != IBV_WC_SUCCESS)
		expect_status(&wc, owner == &A ? IBV_WC_LOC_PROT_ERR :
						 IBV_WC_REM_ACCESS_ERR);
	reconnect();
	return wc.status != IBV_WC_SUCCESS;
}

/*
 * A region goes in the middle of a READ or a WRITE: at once, and the rest is
 * refused. The packets of a WRITE whose region has gone here cannot be built.
 */
static void mem_06(void)
{
	static const struct {
		const char *name;
		struct side *owner;
		enum ibv_wr_opcode op;
	} ways[] = {
		{ "read from", &B, IBV_WR_RDMA_READ },
		{ "read into", &A, IBV_WR_RDMA_READ },
		{ "written from", &A, IBV_WR_RDMA_WRITE },
		{ "written to", &B, IBV_WR_RDMA_WRITE },
	};
	unsigned int n[ARRAY_SIZE(ways)] = {};

	conn.timeout = 18;	/* 1 s: the link is slow */
	pair_open(&A, &B, &p, &conn);
	for (unsigned int i = 0; i < 6 * ARRAY_SIZE(ways); i++) {
		unsigned int way = i % ARRAY_SIZE(ways);

		n[way] += goes_under_way(ways[way].owner, ways[way].op, MEM / 2);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++)
		if (!n[i])
			die("no region went while it was %s", ways[i].name);
	works(&p);
	pair_close(&p);
}

static void mem_08_at(__u8 *mem, size_t off, size_t len)
{
	struct ibv_mr *mr = ibv_reg_mr(B.pd, mem + off, len, RIGHTS);
	struct ibv_sge sge = piece(&A, below(64), len);
	size_t i, from = off < 64 ? 0 : off - 64;

	if (!mr)
		die("offset %zu, %zu bytes", off, len);
	memset(mem + from, GUARD, off + len + 64 - from);
	post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)mem + off, mr->rkey, 0);
	gets(&A, 1, IBV_WC_SUCCESS);
	errno = 0;
	if (memcmp(mem + off, (void *)(uintptr_t)sge.addr, len))
		die("offset %zu, %zu bytes: wrong data", off, len);
	for (i = from; i < off + len + 64; i++)
		if ((i < off || i >= off + len) && mem[i] != GUARD)
			die("offset %zu, %zu bytes: byte %zu written", off, len,
			    i);
	if (ibv_dereg_mr(mr))
		die("dereg_mr");
}

/* Regions that start and end about page boundaries, small pages and huge ones */
static void mem_08(void)
{
	static const size_t offs[] = { 0, 1, 4095, 4096, 65535 };
	static const size_t ends[] = { 4096, 8192, 65536, 131072, 2 << 20 };
	size_t huge = 2 << 20;
	__u8 *map = mmap(NULL, 3 * huge, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *mem;

	if (map == MAP_FAILED)
		die("memory");
	mem = (__u8 *)(((uintptr_t)map + huge - 1) & ~(huge - 1));
	pair_open(&A, &B, &p, &conn);
	for (size_t i = 0; i < MEM; i += 4)
		*(__u32 *)(A.mem + i) = rnd();
	for (int advice = 0; advice < 2; advice++) {
		madvise(mem, huge, advice ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
		for (unsigned int o = 0; o < ARRAY_SIZE(offs); o++)
			for (unsigned int e = 0; e < ARRAY_SIZE(ends); e++)
				for (int d = -1; d <= 1; d++)
					if (ends[e] + d > offs[o])
						mem_08_at(mem, offs[o], ends[e]
							  + d - offs[o]);
	}
	pair_close(&p);
	munmap(map, 3 * huge);
}

/* Every length and offset, in pieces of odd lengths, some of none */
static void mem_11(void)
{
	static const size_t offs[] = { 0, 1, 7, 4095 };
	size_t step = rounds >= 1000 ? 9973 : 49999;
	struct ibv_sge sge[MAX_SGE];
	struct conn c = { .depth = 16 };
	size_t len, at;
	int n;

	for (at = 0; at < MEM; at += 4)
		*(__u32 *)(A.mem + at) = rnd();
	pair_open(&A, &B, &p, &c);
	for (len = 1; len <= 1 << 20; len += step) {
		for (unsigned int o = 0; o < ARRAY_SIZE(offs); o++) {
			at = offs[o];
			for (n = 0; n < (int)side_sge(&A) - 1; n++) {
				size_t left = offs[o] + len - at;

				sge[n] = piece(&A, at, n % 3 ? below(left / 2) :
								0);
				at += sge[n].length;
			}
			sge[n] = piece(&A, at, offs[o] + len - at);
			memset(B.mem, GUARD, len + 8);
			post(p.a, IBV_WR_RDMA_WRITE, sge, n + 1,
			     (uintptr_t)B.mem, B.mr->rkey, 0);
			gets(&A, 1, IBV_WC_SUCCESS);
			errno = 0;
			if (memcmp(B.mem, A.mem + offs[o], len) ||
			    B.mem[len] != GUARD)
				die("%zu bytes from %zu", len, offs[o]);
		}
	}
	pair_close(&p);
}

static void every_operation(const char *what, __u64 addr, __u32 rkey,
			    const __u64 *there)
{
	struct ibv_sge sge = piece(&A, 0, 8);
	__u64 *here = (__u64 *)A.mem;
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { .remote_addr = addr, .rkey = rkey,
			       .compare_add = 5 },
	};

	doing = what;
	*here = 1000;
	post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, addr, rkey, 0);
	gets(&A, 1, IBV_WC_SUCCESS);
	expect("written", __atomic_load_n(there, __ATOMIC_RELAXED), 1000);
	errno = ibv_post_send(p.a, &wr, &bad);
	if (errno)
		die("post_send");
	gets(&A, 1, IBV_WC_SUCCESS);
	expect("fetched", *here, 1000);
	expect("added", __atomic_load_n(there, __ATOMIC_RELAXED), 1005);
	post(p.a, IBV_WR_RDMA_READ, &sge, 1, addr, rkey, 0);
	gets(&A, 1, IBV_WC_SUCCESS);
	expect("read", *here, 1005);
}

/* Each kind of region a process can have, and each operation on it */
static void mem_13(void)
{
	const int all = RIGHTS | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
	struct conn c = { .access = all & ~IBV_ACCESS_MW_BIND };
	struct ibv_mw_bind bind = { .wr_id = 7,
				    .send_flags = IBV_SEND_SIGNALED };
	struct ibv_mw *mw = ibv_alloc_mw(B.pd, IBV_MW_TYPE_1);
	struct ibv_mr *mr = ibv_reg_mr(B.pd, B.mem, PAGE, all);
	struct udmabuf_create create = { .size = PAGE };
	int memfd = memfd_create("pages", MFD_ALLOW_SEALING), buf;
	int dev = open("/dev/udmabuf", O_RDWR);
	__u64 *view;

	if (!mr || !mw)
		die("region and window");
	pair_open(&A, &B, &p, &c);
	every_operation("memory", (uintptr_t)B.mem, mr->rkey, (__u64 *)B.mem);
	bind.bind_info = (struct ibv_mw_bind_info){
		mr, (uintptr_t)B.mem + 64, 64, all & ~IBV_ACCESS_MW_BIND &
		~IBV_ACCESS_LOCAL_WRITE,
	};
	errno = ibv_bind_mw(p.b, mw, &bind);
	if (errno)
		die("bind_mw");
	gets(&B, 7, IBV_WC_SUCCESS);
	every_operation("window", (uintptr_t)B.mem + 64, mw->rkey,
			(__u64 *)(B.mem + 64));
	if (ibv_dealloc_mw(mw) || ibv_dereg_mr(mr))
		die("give back");
	if (dev >= 0) {
		create.memfd = memfd;
		if (ftruncate(memfd, PAGE) ||
		    fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK))
			die("memfd");
		buf = ioctl(dev, UDMABUF_CREATE, &create);
		mr = ibv_reg_dmabuf_mr(B.pd, 0, PAGE, 0, buf, c.access);
		view = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, memfd, 0);
		if (buf < 0 || !mr || view == MAP_FAILED)
			die("dma-buf");
		every_operation("dma-buf", 16, mr->rkey, view + 2);
		if (ibv_dereg_mr(mr))
			die("dereg_mr");
		munmap(view, PAGE);
		close(buf);
		close(dev);
	}
	close(memfd);
	pair_close(&p);
}

/* Pages of a file that everybody shares: read by the peer, never written. */
static void mem_15(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	__u8 *shared = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	__u8 *own = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	__u8 *zero = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	__u8 *const mem[] = { shared, zero, own };
	struct ibv_sge sge = piece(&A, 0, PAGE);
	__u8 before[PAGE], now[PAGE];

	if (shared == MAP_FAILED || own == MAP_FAILED || zero == MAP_FAILED ||
	    pread(fd, before, PAGE, 0) != PAGE)
		die("mappings of the program");
	for (int i = 0; i < 3; i++) {
		bool may = mem[i] == own;
		struct ibv_mr *mr = ibv_reg_mr(B.pd, mem[i], PAGE, may ? RIGHTS :
					       IBV_ACCESS_REMOTE_READ);

		if (!mr)
			die("region %d", i);
		pair_open(&A, &B, &p, &conn);
		memset(A.mem, GUARD, PAGE);
		post(p.a, IBV_WR_RDMA_READ, &sge, 1, (uintptr_t)mem[i],
		     mr->rkey, 0);
		gets(&A, 1, IBV_WC_SUCCESS);
		errno = 0;
		if (memcmp(A.mem, mem[i], PAGE))
			die("region %d was not read", i);
		memset(A.mem, GUARD, PAGE);
		post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)mem[i],
		     mr->rkey, 0);
		gets(&A, 1, may ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR);
		drop_events(&B);
		pair_close(&p);
		if (ibv_dereg_mr(mr))
			die("dereg_mr");
	}
	errno = 0;
	if (pread(fd, now, PAGE, 0) != PAGE || memcmp(now, before, PAGE) ||
	    memcmp(shared, before, PAGE))
		die("the file was written");
	for (int i = 0; i < (int)PAGE; i++)
		if (zero[i] || own[i] != GUARD)
			die("byte %d", i);
	munmap(shared, PAGE);
	munmap(own, PAGE);
	munmap(zero, PAGE);
	close(fd);
}

/*
 * A SEND behind a WRITE whose region goes (on a link that loses packets): who gets
 * the SEND has all of the data.
 */
static void mem_06_send(void)
{
	const __u32 len = 256 * 1024;
	unsigned int got = 0, gone = 0;

	pair_open(&A, &B, &p, &conn);
	for (unsigned int i = 0; i < rounds; i++) {
		struct ibv_sge send = piece(&A, len, 64), data = piece(&A, 0, len);
		struct ibv_mr *mr = ibv_reg_mr(A.pd, A.mem, len, 0);
		struct ibv_wc wc;

		if (!mr)
			die("reg_mr");
		data.lkey = mr->lkey;
		memset(A.mem, i | 1, len);
		memset(B.mem, GUARD, len);
		post_recv(&B, p.b, 2, piece(&B, len, 64));
		post(p.a, IBV_WR_RDMA_WRITE, &data, 1, (uintptr_t)B.mem,
		     B.mr->rkey, 0);
		post(p.a, IBV_WR_SEND, &send, 1, 0, 0, 0);
		usleep(below(600 * wait_s));
		if (ibv_dereg_mr(mr))
			die("dereg_mr");
		next(&A, &wc);
		gone += wc.status == IBV_WC_LOC_PROT_ERR;
		next(&A, &wc);
		if (try_next(&B, &wc, 20) && wc.status == IBV_WC_SUCCESS) {
			got++;
			errno = 0;
			for (__u32 at = 0; at < len; at++)
				if (B.mem[at] != (__u8)(i | 1))
					die("round %u: byte %u is %u", i, at,
					    B.mem[at]);
		}
		reconnect();
	}
	printf("%u of %u arrived, %u regions went in time\n", got, rounds, gone);
	errno = 0;
	if (!got || !gone)
		die("nothing arrived, or no region went in time");
	pair_close(&p);
}

/*
 * What ends the access to memory that is read: not one byte more leaves then, though
 * the region lives, and the reader is told. Its host asks for all at once, and loses
 * a part of the answers (fieldbugs.sh).
 */
static void mem_06_qp(void)
{
	static const enum ibv_qp_state ends[] = {
		IBV_QPS_RESET, IBV_QPS_ERR, IBV_QPS_UNKNOWN,
	};
	const __u32 len = 40 * 1024;
	struct ibv_sge sge = piece(&A, 0, len);
	unsigned int late = 0;
	struct ibv_wc wc;

	memset(B.mem, 1, len);
	for (unsigned int i = 0; i < rounds; i++) {
		enum ibv_qp_state end = ends[i % ARRAY_SIZE(ends)];
		__u64 start = now_ns();

		pair_open(&A, &B, &p, &conn);
		memset(A.mem, 0, len);
		post(p.a, IBV_WR_RDMA_READ, &sge, 1, (uintptr_t)B.mem,
		     B.mr->rkey, 0);
		/* All has been sent once when the first of it is there. */
		while (!some_came(A.mem, len) && now_ns() - start < 100000000ull)
			usleep(100);
		if (end == IBV_QPS_UNKNOWN && ibv_destroy_qp(p.b))
			die("destroy_qp");
		if (end != IBV_QPS_UNKNOWN)
			to_state(p.b, end);
		next(&A, &wc);
		if (wc.status != IBV_WC_SUCCESS) {
			expect_status(&wc, IBV_WC_REM_OP_ERR);
			late++;
		}
		if (end == IBV_QPS_UNKNOWN)
			p.b = qp_create(&B, IBV_QPT_RC, &conn);
		drop_events(&A);
		drop_events(&B);
		pair_close(&p);
	}
	printf("%u of %u READs had lost packets\n", late, rounds);
	errno = 0;
	if (late < rounds / 2)
		die("READs went on after their QP");
}

static const struct entry entries[] = {
	{ "MEM-05", mem_05 },
	{ "MEM-06", mem_06 },
	{ "MEM-06-SEND", mem_06_send },
	{ "MEM-06-QP", mem_06_qp },
	{ "MEM-08", mem_08 },
	{ "MEM-11", mem_11 },
	{ "MEM-13", mem_13 },
	{ "MEM-15", mem_15 },
	{ }
};

int main(int argc, char **argv)
{
	return bugs_main(argc, argv, entries);
}
