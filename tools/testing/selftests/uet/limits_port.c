// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What a device says it can at most is reached: messages, regions, tables of the port,
 * multicast groups. One more is refused, with a clear errno.
 */
#include "limits.h"

/* ------------------------------------------------------------------ */
/* Messages and regions                                                */

/* One file, over and over: a region as large as a message without its memory. */
static void *folded(size_t part, unsigned int n)
{
	int fd = memfd_create("folded", MFD_CLOEXEC);
	__u8 *at = mmap(NULL, part * n, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned int i;

	if (fd < 0 || ftruncate(fd, part) || at == MAP_FAILED)
		die("memory");
	for (i = 0; i < n; i++)
		if (mmap(at + i * part, part, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			die("part %u", i);
	close(fd);
	return at;
}

static void post_one(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	errno = ibv_post_send(qp, wr, &bad);
	if (errno)
		die("post");
}

/* The message ends well, and the same bytes are at both places. */
static void moves(struct ibv_qp *qp, struct ibv_send_wr *wr, const void *src,
		  const void *dst, size_t len)
{
	post_one(qp, wr);
	complete(&A, 1);
	errno = 0;
	if (memcmp(src, dst, len))
		die("bytes differ");
}

static void test_message(void)
{
	const unsigned int n = A.attr.max_sge;
	const size_t most = A.port.max_msg_sz, part = most / n;
	struct ibv_mr *from, *to, *more;
	struct ibv_sge sge[n];
	struct ibv_send_wr wr = {
		.sg_list = sge, .num_sge = n, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	};
	const struct conn conn = { .sge = n };
	__u8 *src, *dst;
	struct ibv_wc wc;
	struct pair p;
	size_t i;

	src = folded(part, 1);
	dst = folded(part, n);
	for (i = 0; i < part; i += 8)
		*(__u64 *)(src + i) = i * 0x9e3779b97f4a7c15;
	from = ibv_reg_mr(A.pd, src, part, IBV_ACCESS_LOCAL_WRITE);
	to = ibv_reg_mr(B.pd, dst, most, IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	more = ibv_reg_mr(A.pd, dst, part + 1, 0);
	if (!from || !to || !more)
		die("regions of %zu and %zu bytes", part, most);
	for (i = 0; i < n; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)src, part, from->lkey };
	wr.wr.rdma.remote_addr = (uintptr_t)dst;
	wr.wr.rdma.rkey = to->rkey;
	pair_open(&A, &B, &p, &conn);

	doing = "WRITE";
	moves(p.a, &wr, src, dst, part);
	doing = "READ";
	memset(src, 0, part);
	wr.opcode = IBV_WR_RDMA_READ;
	moves(p.a, &wr, src, dst, part);
	doing = "SEND";
	memset(dst, 0, part);
	sge[0] = (struct ibv_sge){ (uintptr_t)dst, most, to->lkey };
	if (recv_n(p.b, sge, 1))
		die("receive");
	sge[0] = (struct ibv_sge){ (uintptr_t)src, part, from->lkey };
	wr.opcode = IBV_WR_SEND;
	moves(p.a, &wr, src, dst, part);
	next(&B, &wc);
	expect_status(&wc, IBV_WC_SUCCESS);
	expect("bytes", wc.byte_len, most);

	doing = "a byte too many";
	sge[0] = (struct ibv_sge){ (uintptr_t)dst, part + 1, more->lkey };
	post_one(p.a, &wr);
	next(&A, &wc);
	expect_status(&wc, IBV_WC_LOC_LEN_ERR);
	pair_close(&p);
	if (ibv_dereg_mr(from) || ibv_dereg_mr(to) || ibv_dereg_mr(more))
		die("dereg_mr");
	munmap(src, part);
	munmap(dst, most);
}

/* Pages that are there when they are wanted; first and last are written. */
static void test_region(void)
{
	const size_t most = B.attr.max_mr_size;
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_ON_DEMAND;
	const struct conn conn = {};
	struct ibv_sge sge = piece(&A, 0, 64);
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_device_attr_ex ex;
	size_t at[] = { 0, most / 2 - 32, most - 64 };
	struct ibv_mr *mr;
	struct pair p;
	unsigned int i;
	__u8 *big;

	if (ibv_query_device_ex(B.ctx, NULL, &ex))
		die("query");
	if (!(ex.odp_caps.general_caps & IBV_ODP_SUPPORT))
		skip("no paging on demand, and so much memory there is not");
	big = mmap(NULL, most + PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (big == MAP_FAILED)
		skip("no %zu bytes of addresses", most);
	errno = 0;
	refused("max_mr_size", !ibv_reg_mr(B.pd, big, most + 1, access),
		EINVAL);
	mr = ibv_reg_mr(B.pd, big, most, access);
	if (!mr)
		die("region of %zu bytes", most);
	pair_open(&A, &B, &p, &conn);
	memset(A.mem, 0x5a, 64);
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		wr.wr.rdma.remote_addr = (uintptr_t)big + at[i];
		wr.wr.rdma.rkey = mr->rkey;
		errno = ibv_post_send(p.a, &wr, &bad);
		if (errno)
			die("post");
		complete(&A, 1);
		errno = 0;
		if (memcmp(big + at[i], A.mem, 64))
			die("bytes at %#zx", at[i]);
	}
	pair_close(&p);
	if (ibv_dereg_mr(mr))
		die("dereg_mr");
	munmap(big, most + PAGE);
}

/* ------------------------------------------------------------------ */
/* Tables of the port                                                  */

static void test_pkeys(void)
{
	__be16 key;

	expect("max_pkeys", A.attr.max_pkeys, 1);
	expect("table", A.port.pkey_tbl_len, 1);
	if (ibv_query_pkey(A.ctx, 1, 0, &key) || key != 0xffff)
		die("P_Key");
	errno = 0;
	refused("a P_Key too many", ibv_query_pkey(A.ctx, 1, 1, &key), ENOENT);
	expect("ports", A.attr.phys_port_cnt, 1);
	errno = ibv_query_port(A.ctx, 2, &A.port);
	refused("port 2", errno, EINVAL);
}

/* The script has given the netdev more addresses than the table holds. */
static void test_gids(void)
{
	const int most = A.port.gid_tbl_len;
	struct ibv_sge from = piece(&A, 0, MESSAGE), to = piece(&B, 0, MESSAGE);
	const struct conn conn = {};
	union ibv_gid gid, none = {};
	struct pair p;
	int i;

	for (i = 0; i < most; i++) {
		if (ibv_query_gid(A.ctx, 1, i, &gid))
			die("GID %d", i);
		errno = 0;
		if (!memcmp(&gid, &none, sizeof(gid)))
			die("GID %d of %d is empty", i, most);
	}
	errno = 0;
	if (!ibv_query_gid(A.ctx, 1, most, &none))
		die("GID %d", most);
	/* The last one is as good as any. */
	A.gid = gid;
	A.gid_index = most - 1;
	pair_open(&A, &B, &p, &conn);
	if (recv_n(p.b, &to, 1) || send_n(p.a, &from, 1, 0))
		die("post");
	complete(&A, 1);
	complete(&B, 1);
	pair_close(&p);
}

/* ------------------------------------------------------------------ */
/* Multicast                                                           */

static union ibv_gid group_gid(unsigned int i)
{
	union ibv_gid gid = {};

	gid.raw[10] = 0xff;
	gid.raw[11] = 0xff;
	gid.raw[12] = 239;
	gid.raw[13] = 1;
	gid.raw[14] = i >> 8;
	gid.raw[15] = i;
	return gid;
}

static struct ibv_qp *ud_qp(void)
{
	const struct conn conn = { .depth = 1, .sge = 1 };
	struct ibv_qp *qp = qp_create(&A, IBV_QPT_UD, &conn);

	if (qp_init(qp, &conn))
		die("INIT");
	return qp;
}

static void test_groups(void)
{
	const unsigned int most = A.attr.max_mcast_grp;
	struct ibv_qp *qp = ud_qp();
	union ibv_gid gid;
	unsigned int i;

	for (i = 0; i < most; i++) {
		gid = group_gid(i);
		errno = ibv_attach_mcast(qp, &gid, 0);
		if (errno)
			die("group %u of %u", i, most);
	}
	gid = group_gid(most);
	errno = ibv_attach_mcast(qp, &gid, 0);
	refused("max_mcast_grp", errno, ENOSPC);
	gid = group_gid(most / 2);
	errno = ibv_detach_mcast(qp, &gid, 0);
	if (!errno)
		errno = ibv_attach_mcast(qp, &gid, 0);
	if (errno)
		die("another one instead");
	for (i = 0; i < most; i++) {
		gid = group_gid(i);
		errno = ibv_detach_mcast(qp, &gid, 0);
		if (errno)
			die("leaving group %u", i);
	}
	if (ibv_destroy_qp(qp))
		die("destroy_qp");
}

static void test_members(void)
{
	const unsigned int most = A.attr.max_mcast_qp_attach;
	struct ibv_qp **qp = calloc(most + 1, sizeof(*qp));
	union ibv_gid gid = group_gid(1);
	unsigned int i;

	expect("max_total_mcast_qp_attach", A.attr.max_total_mcast_qp_attach,
	       most);
	for (i = 0; i <= most; i++) {
		qp[i] = ud_qp();
		errno = ibv_attach_mcast(qp[i], &gid, 0);
		if (i < most && errno)
			die("member %u of %u", i, most);
	}
	refused("max_mcast_qp_attach", errno, ENOSPC);
	for (i = 0; i <= most; i++) {
		if (i < most && ibv_detach_mcast(qp[i], &gid, 0))
			die("member %u", i);
		if (ibv_destroy_qp(qp[i]))
			die("destroy_qp");
	}
	free(qp);
}

/* ------------------------------------------------------------------ */

static const struct entry entries[] = {
	{ "message", test_message },
	{ "region", test_region },
	{ "pkeys", test_pkeys },
	{ "gids", test_gids },
	{ "groups", test_groups },
	{ "members", test_members },
	{}
};

int main(int argc, char **argv)
{
	return limits_main(argc, argv, entries);
}
