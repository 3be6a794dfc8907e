// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Memory regions, windows, keys: faults of the field, see bugs.h */
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "bugs.h"

/* Length 0: no memory is touched, so no key is looked at. */
static void mem_03(void)
{
	const __u32 keys[] = { B.mr->rkey, NO_KEY, 0, 0xffffffff };
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
	struct conn c = { .sge = A.attr.max_sge };
	struct ibv_sge *sge = calloc(c.sge, sizeof(*sge));
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1,
		.sg_list = sge,
		.num_sge = c.sge,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)B.mem, B.mr->rkey },
	};
	size_t part = A.port.max_msg_sz / c.sge + 1;
	void *big = mmap(NULL, part, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(A.pd, big, part, 0);	/* the zero page */

	if (!mr || !sge)
		die("%zu bytes", part);
	for (__u32 i = 0; i < c.sge; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)big, part, mr->lkey };
	memset(B.mem, GUARD, MEM);
	pair_open(&A, &B, &p, &c);
	errno = ibv_post_send(p.a, &wr, &bad);
	if (errno)
		die("post_send");
	gets(&A, 1, IBV_WC_LOC_LEN_ERR);
	expect("state", qp_state(p.b), IBV_QPS_RTS);
	pair_close(&p);
	for (size_t i = 0; i < MEM; i++)
		if (B.mem[i] != GUARD)
			die("byte %zu was written", i);
	if (ibv_dereg_mr(mr))
		die("dereg_mr");
	munmap(big, part);
	free(sge);
}

/* Fork with a region in part of a page: both keep the rest, traffic goes on. */
static void mem_18(void)
{
	__u8 *page = aligned_alloc(PAGE, PAGE);
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
	__u8 *view;

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

/* Where there is no on-demand paging, the device says so, and so does the verb. */
static void no_odp(void)
{
	errno = 0;
	if (ibv_reg_mr(A.pd, A.mem, PAGE, RIGHTS | IBV_ACCESS_ON_DEMAND))
		die("on-demand paging was accepted");
	if (errno != EOPNOTSUPP && errno != EINVAL)
		die("on-demand paging");
}

/* Pages that are taken away under an on-demand region end a write in an error. */
static void mem_14(void)
{
	struct ibv_sge sge = piece(&A, 0, 8);
	struct ibv_device_attr_ex attr;
	struct ibv_mr *mr;
	char *view;

	if (ibv_query_device_ex(A.ctx, NULL, &attr))
		die("query_device_ex");
	if (!(attr.odp_caps.general_caps & IBV_ODP_SUPPORT)) {
		no_odp();
		return;
	}
	view = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mr = ibv_reg_mr(B.pd, view, 2 * PAGE, RIGHTS | IBV_ACCESS_ON_DEMAND);
	if (!mr)
		die("reg_mr");
	memset(A.mem, 0x5a, 8);
	pair_open(&A, &B, &p, &conn);
	post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)view, mr->rkey, 0);
	gets(&A, 1, IBV_WC_SUCCESS);
	expect("first byte", view[0], 0x5a);
	/* discarded, they come back empty */
	madvise(view, PAGE, MADV_DONTNEED);
	post(p.a, IBV_WR_RDMA_WRITE, &sge, 1, (uintptr_t)view + 8, mr->rkey, 0);
	gets(&A, 1, IBV_WC_SUCCESS);
	expect("first byte of the new page", view[0], 0);
	expect("byte written to it", view[8], 0x5a);
	mprotect(view + PAGE, PAGE, PROT_READ);
	must_refuse((uintptr_t)view + PAGE, mr->rkey, "read-only memory was written");
	drop_events(&B);
	pair_close(&p);
	pair_open(&A, &B, &p, &conn);
	munmap(view, 2 * PAGE);
	must_refuse((uintptr_t)view, mr->rkey, "memory that is gone was written");
	drop_events(&B);
	pair_close(&p);
	if (ibv_dereg_mr(mr))
		die("dereg_mr");
}

static const struct entry entries[] = {
	{ "MEM-03", mem_03 },
	{ "MEM-04", mem_04 },
	{ "MEM-07", mem_07 },
	{ "MEM-09", mem_09 },
	{ "MEM-10", mem_10 },
	{ "MEM-14", mem_14 },
	{ "MEM-16", mem_16 },
	{ "MEM-17", mem_17 },
	{ "MEM-18", mem_18 },
	{ "MEM-19", mem_19 },
	{ "MEM-20", mem_20 },
	{ }
};

int main(int argc, char **argv)
{
	return bugs_main(argc, argv, entries);
}
