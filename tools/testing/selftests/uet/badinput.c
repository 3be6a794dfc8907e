// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Wrong input of every kind: each call must give a clear error, each work request
 * an error completion with the right status. All the while another process moves
 * data between the same devices, and must not notice.
 *
 * badinput [-a DEV -A ADDRESS -b DEV -B ADDRESS] [-n ROUNDS] TEST...
 */
#include "witness.h"

#include <limits.h>
#include <pthread.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/uet-abi.h>

/* enum ib_qp_type of the kernel, as the commands want it */
#define IB_QPT_RC_	2
#define IB_QPT_UD_	4
#define IB_QPT_DRIVER_	0xff

/* ------------------------------------------------------------------ */

/* @failed must be true, with an errno of the list (0 ends it). */
static void refused(const char *what, bool failed, const int *list)
{
	int err = errno, i;

	if (!failed) {
		errno = 0;
		die("%s was accepted", what);
	}
	for (i = 0; list[i]; i++)
		if (list[i] == err)
			return;
	die("%s: unclear error", what);
}

#define ERRORS(...)	((const int[]){ __VA_ARGS__, 0 })
#define INVALID		ERRORS(EINVAL, EOPNOTSUPP, ENOENT)
#define NO_PATH		ERRORS(EINVAL, EOPNOTSUPP, ENETUNREACH, EHOSTUNREACH, \
			       EADDRNOTAVAIL, ETIMEDOUT, ENODATA)
#define TOO_MUCH	ERRORS(EINVAL, ENOMEM, ENOSPC, EOPNOTSUPP)

/* For calls that return an errno value. */
static void refused_ret(const char *what, int ret, const int *list)
{
	errno = ret > 0 ? ret : -ret;
	refused(what, ret != 0, list);
}

/* Sizes and counts of CQs, QPs and memory regions */
static void t_sizes(void)
{
	static const int cqes[] = { 0, -1, INT_MIN, INT_MAX, INT_MAX - 1 };
	struct ibv_qp_init_attr ok = {
		.send_cq = A.cq, .recv_cq = A.cq, .qp_type = IBV_QPT_RC,
		.cap = { 4, 4, 1, 1, 0 },
	}, attr;
	static const struct {
		const char *what;
		size_t offset;
		int limit;	/* 1: max_qp_wr, 2: max_sge, 0: none known */
	} caps[] = {
		{ "max_send_wr", offsetof(struct ibv_qp_cap, max_send_wr), 1 },
		{ "max_recv_wr", offsetof(struct ibv_qp_cap, max_recv_wr), 1 },
		{ "max_send_sge", offsetof(struct ibv_qp_cap, max_send_sge), 2 },
		{ "max_recv_sge", offsetof(struct ibv_qp_cap, max_recv_sge), 2 },
		{ "max_inline_data",
		  offsetof(struct ibv_qp_cap, max_inline_data), 0 },
	};
	static const __u32 values[] = {
		UINT32_MAX, UINT32_MAX - 1, 1u << 31, (1u << 31) - 1,
		1u << 30, 1u << 28, 1u << 24, (1u << 28) + 1,
	};
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(cqes); i++) {
		errno = 0;
		refused("CQ of odd size",
			!ibv_create_cq(A.ctx, cqes[i], NULL, NULL, 0), TOO_MUCH);
	}
	errno = 0;
	refused("CQ above max_cqe",
		!ibv_create_cq(A.ctx, A.attr.max_cqe + 1, NULL, NULL, 0),
		TOO_MUCH);
	errno = 0;
	refused("CQ on a vector that is not there",
		!ibv_create_cq(A.ctx, 4, NULL, A.channel,
			       A.ctx->num_comp_vectors), INVALID);
	for (i = 0; i < ARRAY_SIZE(caps); i++) {
		__u32 limit = caps[i].limit == 1 ? A.attr.max_qp_wr :
			caps[i].limit == 2 ? A.attr.max_sge : 0;

		for (j = 0; j <= ARRAY_SIZE(values); j++) {
			__u32 value = j < ARRAY_SIZE(values) ? values[j] :
				limit + 1;

			if (!limit && j == ARRAY_SIZE(values))
				continue;
			attr = ok;
			memcpy((char *)&attr.cap + caps[i].offset, &value, 4);
			doing = caps[i].what;
			errno = 0;
			refused("QP of odd size", !ibv_create_qp(A.pd, &attr),
				TOO_MUCH);
		}
	}
	attr = ok;
	attr.qp_type = 77;
	errno = 0;
	refused("QP of no type", !ibv_create_qp(A.pd, &attr), INVALID);
}

static void t_memory(void)
{
	const int rw = PROT_READ | PROT_WRITE;
	void *page = mmap(NULL, PAGE, rw, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *hole = mmap(NULL, PAGE, rw, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *ro = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	const struct {
		const char *what;
		void *addr;
		size_t len;
		int access;
	} bad[] = {
		{ "end above the address space", page, SIZE_MAX, 0 },
		{ "address that wraps", (void *)-PAGE, 2 * PAGE, 0 },
		{ "huge length", page, 1ull << 60, 0 },
		{ "memory that is not there", hole, PAGE,
		  IBV_ACCESS_LOCAL_WRITE },
		{ "memory that ends early", page, 1ull << 36,
		  IBV_ACCESS_LOCAL_WRITE },
		{ "read-only memory", ro, PAGE, IBV_ACCESS_LOCAL_WRITE },
		{ "kernel memory", (void *)0xffff888000000000, PAGE, 0 },
		{ "remote write without local write", page, PAGE,
		  IBV_ACCESS_REMOTE_WRITE },
		{ "remote atomics without local write", page, PAGE,
		  IBV_ACCESS_REMOTE_ATOMIC },
		{ "an access flag that is not there", page, PAGE, 1 << 15 },
		{ "on-demand paging of huge pages", page, PAGE,
		  IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB },
	};
	unsigned int i;

	munmap(hole, PAGE);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		errno = 0;
		refused(bad[i].what,
			!ibv_reg_mr(A.pd, bad[i].addr, bad[i].len,
				    bad[i].access),
			ERRORS(EINVAL, EFAULT, ENOMEM, EOPNOTSUPP, EOVERFLOW));
	}
	munmap(page, PAGE);
	munmap(ro, PAGE);
}

/* Attributes of modify_qp */

#define RTR_MASK	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |	\
			 IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |		\
			 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_MASK	(IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | \
			 IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |		\
			 IBV_QP_MAX_QP_RD_ATOMIC)

static void rtr_defaults(struct ibv_qp_attr *attr, __u32 peer)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = IBV_QPS_RTR;
	attr->path_mtu = A.port.active_mtu;
	attr->dest_qp_num = peer;
	attr->max_dest_rd_atomic = 1;
	attr->min_rnr_timer = 1;
	ah_attr(&A, &B.gid, &attr->ah_attr);
}

static void rts_defaults(struct ibv_qp_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = IBV_QPS_RTS;
	attr->timeout = 10;
	attr->retry_cnt = 7;
	attr->rnr_retry = 7;
	attr->max_rd_atomic = 1;
}

static void init_to(struct ibv_qp *qp, const char *what, __u32 port,
		    __u32 pkey, __u32 access)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = port, .pkey_index = pkey,
		.qp_access_flags = access,
	};

	refused_ret(what, ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT |
					IBV_QP_PKEY_INDEX |
					IBV_QP_ACCESS_FLAGS), INVALID);
}

static void bad_rtr(struct ibv_qp *qp, __u32 peer)
{
	union ibv_gid nowhere = { .raw = { 0xff, 0x0e, 1, 2, 3, [15] = 1 } };
	union ibv_gid v6 = { .raw = { 0xfd, 0, [15] = 9 } };
	union ibv_gid none = { .raw = { 0 } };
	union ibv_gid v4 = { .raw = { [10] = 0xff, [11] = 0xff, 10, 0, 0, 9 } };
	struct ibv_qp_attr attr;
	int i;

	for (i = 0; i < 14; i++) {
		static const char * const what[] = {
			"path MTU 0", "path MTU 6", "path MTU 255",
			"QP number of 25 bits", "QP number 0xffffffff",
			"source GID index that is empty",
			"source GID index out of range", "no GRH",
			"multicast GID for a connection", "GID zero",
			"peer of the other address family",
			"max_dest_rd_atomic 255", "min_rnr_timer 32",
			"port 2 in the address",
		};

		rtr_defaults(&attr, peer);
		switch (i) {
		case 0:
			attr.path_mtu = 0;
			break;
		case 1:
			attr.path_mtu = 6;
			break;
		case 2:
			attr.path_mtu = 255;
			break;
		case 3:
			attr.dest_qp_num = 1 << 24 | peer;
			break;
		case 4:
			attr.dest_qp_num = UINT32_MAX;
			break;
		case 5:
			attr.ah_attr.grh.sgid_index = A.port.gid_tbl_len > 200 ?
				200 : A.port.gid_tbl_len - 1;
			break;
		case 6:
			attr.ah_attr.grh.sgid_index = 255;
			break;
		case 7:
			attr.ah_attr.is_global = 0;
			break;
		case 8:
			attr.ah_attr.grh.dgid = nowhere;
			break;
		case 9:
			attr.ah_attr.grh.dgid = none;
			break;
		case 10:
			attr.ah_attr.grh.dgid = A.gid.raw[10] == 0xff ? v6 : v4;
			break;
		case 11:
			attr.max_dest_rd_atomic = 255;
			break;
		case 12:
			attr.min_rnr_timer = 32;
			break;
		case 13:
			attr.ah_attr.port_num = 2;
			break;
		}
		refused_ret(what[i], ibv_modify_qp(qp, &attr, RTR_MASK),
			    NO_PATH);
		expect("state after a refused change", qp_state(qp),
		       IBV_QPS_INIT);
	}
	rtr_defaults(&attr, peer);
	refused_ret("RTR without an address",
		    ibv_modify_qp(qp, &attr, RTR_MASK & ~IBV_QP_AV), INVALID);
	refused_ret("RTR with an attribute of RTS",
		    ibv_modify_qp(qp, &attr, RTR_MASK | IBV_QP_TIMEOUT),
		    INVALID);
	refused_ret("an alternate path",
		    ibv_modify_qp(qp, &attr, RTR_MASK | IBV_QP_ALT_PATH),
		    INVALID);
	refused_ret("an attribute that is not there",
		    ibv_modify_qp(qp, &attr, RTR_MASK | 1 << 30), INVALID);
}

static void t_modify(void)
{
	static const struct {
		const char *what;
		size_t offset;
		__u8 value;
	} rts[] = {
		{ "timeout 32", offsetof(struct ibv_qp_attr, timeout), 32 },
		{ "timeout 255", offsetof(struct ibv_qp_attr, timeout), 255 },
		{ "retry_cnt 8", offsetof(struct ibv_qp_attr, retry_cnt), 8 },
		{ "rnr_retry 8", offsetof(struct ibv_qp_attr, rnr_retry), 8 },
		{ "max_rd_atomic 255",
		  offsetof(struct ibv_qp_attr, max_rd_atomic), 255 },
	};
	const struct conn c = { .depth = 4 };
	struct ibv_qp *qp = qp_create(&A, IBV_QPT_RC, &c);
	struct ibv_qp *peer = qp_create(&B, IBV_QPT_RC, &c);
	struct ibv_qp_attr attr;
	unsigned int i;

	rts_defaults(&attr);
	refused_ret("RESET to RTS", ibv_modify_qp(qp, &attr, RTS_MASK), INVALID);
	rtr_defaults(&attr, peer->qp_num);
	refused_ret("RESET to RTR", ibv_modify_qp(qp, &attr, RTR_MASK), INVALID);
	init_to(qp, "port 0", 0, 0, 0);
	init_to(qp, "port 2", 2, 0, 0);
	init_to(qp, "port 255", 255, 0, 0);
	init_to(qp, "P_Key index 1", 1, 1, 0);
	init_to(qp, "P_Key index 65535", 1, 65535, 0);
	expect("state", qp_state(qp), IBV_QPS_RESET);
	if (qp_init(qp, &c))
		die("INIT");
	bad_rtr(qp, peer->qp_num);
	rtr_defaults(&attr, peer->qp_num);
	if (ibv_modify_qp(qp, &attr, RTR_MASK))
		die("RTR");
	for (i = 0; i < ARRAY_SIZE(rts); i++) {
		rts_defaults(&attr);
		*((__u8 *)&attr + rts[i].offset) = rts[i].value;
		refused_ret(rts[i].what, ibv_modify_qp(qp, &attr, RTS_MASK),
			    INVALID);
		expect("state after a refused change", qp_state(qp),
		       IBV_QPS_RTR);
	}
	rts_defaults(&attr);
	if (ibv_modify_qp(qp, &attr, RTS_MASK))
		die("RTS");
	rtr_defaults(&attr, peer->qp_num);
	refused_ret("RTS to RTR", ibv_modify_qp(qp, &attr, RTR_MASK), INVALID);
	attr.qp_state = 99;
	refused_ret("state 99", ibv_modify_qp(qp, &attr, IBV_QP_STATE), INVALID);
	if (ibv_destroy_qp(qp) || ibv_destroy_qp(peer))
		die("destroy_qp");
}

static void t_address(void)
{
	union ibv_gid none = { .raw = { 0 } };
	struct ibv_ah_attr attr;
	int i;

	for (i = 0; i < 5; i++) {
		static const char * const what[] = {
			"source GID index that is empty",
			"source GID index out of range", "no GRH", "port 2",
			"GID zero",
		};

		ah_attr(&A, &B.gid, &attr);
		switch (i) {
		case 0:
			attr.grh.sgid_index = A.port.gid_tbl_len > 200 ?
				200 : A.port.gid_tbl_len - 1;
			break;
		case 1:
			attr.grh.sgid_index = 255;
			break;
		case 2:
			attr.is_global = 0;
			break;
		case 3:
			attr.port_num = 2;
			break;
		case 4:
			attr.grh.dgid = none;
			break;
		}
		errno = 0;
		refused(what[i], !ibv_create_ah(A.pd, &attr),
			NO_PATH);
	}
}

/* ------------------------------------------------------------------ */
/* Work requests that the library or the post refuses                   */

static void t_post(void)
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

#define REMOTE	(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

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

static void t_local(void)	{ t_broken(false); }
static void t_remote(void)	{ t_broken(true); }

/* A length above the greatest message, and lengths whose sum wraps */
static void t_length(void)
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
static void t_datagram(void)
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
static void t_peer(void)
{
	const struct conn c = { .depth = 4, .sge = 1, .timeout = 8, .retry = 1 };
	struct ibv_send_wr wr = {
		.wr_id = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_recv_wr rr = { .wr_id = 2 }, *bad_recv;
	struct ibv_qp *stranger;
	struct ibv_wc wc;
	struct pair p;
	int i;

	pair_open(&A, &B, &p, &c);
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

/* ------------------------------------------------------------------ */
/* Commands as a hostile program could give them, without the library   */

static int command(int fd, __u32 number, void *cmd, size_t len,
		   size_t resp_len)
{
	struct ib_uverbs_cmd_hdr *hdr = cmd;

	hdr->command = number;
	hdr->in_words = len / 4;
	hdr->out_words = resp_len / 4;
	return write(fd, cmd, len) == (ssize_t)len ? 0 : errno;
}

struct raw_qp {
	__u32 handle, qpn;
	struct uet_create_qp_resp uet;
};

struct raw_create_qp_resp {
	struct ib_uverbs_create_qp_resp core;
	struct uet_create_qp_resp uet;
};

static int raw_create_qp(struct side *s, int type, __u32 pd, __u32 cq,
			 const struct uet_create_qp_req *req, size_t req_len,
			 struct raw_qp *qp)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_qp core;
		__u8 uet[256];
	} cmd = {
		.core = {
			.pd_handle = pd, .send_cq_handle = cq,
			.recv_cq_handle = cq, .max_send_wr = 16,
			.max_recv_wr = 16, .max_send_sge = 2,
			.max_recv_sge = 2, .qp_type = type,
		},
	};
	struct raw_create_qp_resp resp = { 0 };
	int ret;

	cmd.core.response = (uintptr_t)&resp;
	memcpy(cmd.uet, req, req_len < sizeof(*req) ? req_len : sizeof(*req));
	if (req_len > sizeof(*req))
		memset(cmd.uet + sizeof(*req), 1, req_len - sizeof(*req));
	ret = command(s->ctx->cmd_fd, IB_USER_VERBS_CMD_CREATE_QP, &cmd,
		      sizeof(cmd.hdr) + sizeof(cmd.core) + req_len,
		      sizeof(resp));
	if (!ret && qp) {
		qp->handle = resp.core.qp_handle;
		qp->qpn = resp.core.qpn;
		qp->uet = resp.uet;
	}
	return ret;
}

static int raw_destroy(struct side *s, __u32 number, __u32 handle)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_destroy_qp core;
	} cmd = { .core.qp_handle = handle };
	struct ib_uverbs_destroy_cq_resp resp;	/* the longest of them */

	cmd.core.response = (uintptr_t)&resp;
	return command(s->ctx->cmd_fd, number, &cmd, sizeof(cmd), sizeof(resp));
}

static void t_udata(void)
{
	static const struct uet_create_qp_req ok;
	struct uet_create_qp_req req;
	struct raw_qp qp;
	__u32 *words = (__u32 *)&req;
	unsigned int i;

	doing = "create_qp by hand";
	if (raw_create_qp(&A, IB_QPT_RC_, A.pd->handle, A.cq->handle, &ok,
			  sizeof(ok), &qp))
		die("right input was refused");
	if (raw_destroy(&A, IB_USER_VERBS_CMD_DESTROY_QP, qp.handle))
		die("destroy");
	for (i = 0; i < sizeof(req) / 4; i++) {
		req = ok;
		words[i] = 1;
		refused_ret("RC with a word of the driver's input set",
			    raw_create_qp(&A, IB_QPT_RC_, A.pd->handle,
					  A.cq->handle, &req, sizeof(req),
					  &qp), INVALID);
	}
	for (i = 2; i; i += i == 2 ? UINT32_MAX - 2 : 1) {
		req = ok;
		req.driver_qp_type = i;
		refused_ret("driver type that is not there",
			    raw_create_qp(&A, IB_QPT_DRIVER_, A.pd->handle,
					  A.cq->handle, &req, sizeof(req),
					  &qp), INVALID);
	}
	refused_ret("driver QP without a driver type",
		    raw_create_qp(&A, IB_QPT_DRIVER_, A.pd->handle,
				  A.cq->handle, &ok, sizeof(ok), &qp), INVALID);
	refused_ret("driver's input that is too short",
		    raw_create_qp(&A, IB_QPT_RC_, A.pd->handle, A.cq->handle,
				  &ok, 4, &qp), INVALID);
	refused_ret("longer input with something in it",
		    raw_create_qp(&A, IB_QPT_RC_, A.pd->handle, A.cq->handle,
				  &ok, sizeof(ok) + 8, &qp), INVALID);
	refused_ret("special QP 0", raw_create_qp(&A, 0, A.pd->handle,
						  A.cq->handle, &ok,
						  sizeof(ok), &qp),
		    ERRORS(EINVAL, EOPNOTSUPP, EPERM));
	refused_ret("GSI QP of a user", raw_create_qp(&A, 1, A.pd->handle,
						      A.cq->handle, &ok,
						      sizeof(ok), &qp),
		    ERRORS(EINVAL, EOPNOTSUPP, EPERM));
}

/* Handles of nothing, of other kinds of objects, of another open file */
static void t_handles(void)
{
	static const __u32 handles[] = {
		0x7fffffff, UINT32_MAX, 100000, 1 << 20,
	};
	static const struct uet_create_qp_req ok;
	struct ibv_context *other = open_device(dev_a);
	struct ibv_pd *pd = ibv_alloc_pd(other);
	struct ibv_cq *cq = ibv_create_cq(other, 4, NULL, NULL, 0), *spare[8];
	struct raw_qp qp;
	unsigned int i, more = 0;

	if (!pd || !cq)
		die("second file");
	doing = "foreign handles";
	for (i = 0; i < ARRAY_SIZE(handles); i++) {
		refused_ret("PD", raw_create_qp(&A, IB_QPT_RC_, handles[i],
						A.cq->handle, &ok, sizeof(ok),
						&qp), INVALID);
		refused_ret("CQ", raw_create_qp(&A, IB_QPT_RC_, A.pd->handle,
						handles[i], &ok, sizeof(ok),
						&qp), INVALID);
		refused_ret("QP to destroy",
			    raw_destroy(&A, IB_USER_VERBS_CMD_DESTROY_QP,
					handles[i]), INVALID);
	}
	refused_ret("a CQ as PD",
		    raw_create_qp(&A, IB_QPT_RC_, A.cq->handle, A.cq->handle,
				  &ok, sizeof(ok), &qp), INVALID);
	refused_ret("a PD as CQ",
		    raw_create_qp(&A, IB_QPT_RC_, A.pd->handle, A.pd->handle,
				  &ok, sizeof(ok), &qp), INVALID);
	refused_ret("a CQ to destroy as QP",
		    raw_destroy(&A, IB_USER_VERBS_CMD_DESTROY_QP,
				A.cq->handle), INVALID);
	/* the kernel, not the library, must keep the files' objects apart */
	while (cq->handle == A.cq->handle && more < ARRAY_SIZE(spare)) {
		spare[more++] = cq;
		cq = ibv_create_cq(other, 4, NULL, NULL, 0);
		if (!cq)
			die("create_cq");
	}
	if (cq->handle != A.cq->handle && cq->handle != A.pd->handle)
		refused_ret("a CQ of another file",
			    raw_create_qp(&A, IB_QPT_RC_, A.pd->handle,
					  cq->handle, &ok, sizeof(ok), &qp),
			    INVALID);
	while (more--)
		if (ibv_destroy_cq(spare[more]))
			die("destroy_cq");
	if (ibv_destroy_cq(cq) || ibv_dealloc_pd(pd) || ibv_close_device(other))
		die("close");
}

/* POST_SEND with requests in it, which only the kernel's own QPs take */
static void t_doorbell(void)
{
	const struct conn c = { .depth = 4 };
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send core;
		__u8 wr[512];
	} cmd;
	struct ib_uverbs_post_send_resp resp;
	struct pair p;
	int i;

	pair_open(&A, &B, &p, &c);
	doing = "POST_SEND by hand";
	for (i = 0; i < 6; i++) {
		static const char * const what[] = {
			"one request", "very many requests", "no such QP",
			"short requests", "very many pieces", "long requests",
		};

		memset(&cmd, 0, sizeof(cmd));
		cmd.core.response = (uintptr_t)&resp;
		cmd.core.qp_handle = p.a->handle;
		cmd.core.wqe_size = sizeof(struct ib_uverbs_send_wr);
		switch (i) {
		case 0:
			cmd.core.wr_count = 1;
			break;
		case 1:
			cmd.core.wr_count = UINT32_MAX;
			break;
		case 2:
			cmd.core.qp_handle = 12345;
			break;
		case 3:
			cmd.core.wqe_size = 4;
			break;
		case 4:
			cmd.core.sge_count = 1 << 28;
			break;
		case 5:
			cmd.core.wr_count = 1;
			cmd.core.wqe_size = UINT32_MAX;
			break;
		}
		refused_ret(what[i],
			    command(A.ctx->cmd_fd, IB_USER_VERBS_CMD_POST_SEND,
				    &cmd, sizeof(cmd), sizeof(resp)),
			    ERRORS(EINVAL, EFAULT, ENOMEM, ENOENT, ENOSPC,
				   EOPNOTSUPP));
	}
	pair_close(&p);
}

/* Commands with random fields and random lengths */
static void t_commands(void)
{
	static const __u32 values[] = {
		0, 1, 2, 3, 4, 7, 8, 16, 255, 256, 4096, 65535, 65536,
		1 << 20, 1 << 24, 1 << 28, 1 << 30, INT_MAX, 1u << 31,
		UINT32_MAX - 1, UINT32_MAX,
	};
	static const struct uet_create_qp_req ok;
	__u32 *cmd, *answer;
	unsigned int i, j;
	struct raw_qp qp;
	pid_t pid;

	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid) {
		int status;

		if (waitpid(pid, &status, 0) != pid || status)
			die("the process giving commands ended with %#x", status);
		return;
	}
	/* a file of its own, closed with whatever was made */
	side_open(&A, dev_a, addr_a, 1 << 16, 64);
	cmd = calloc(1, 4096);
	answer = malloc(65536);
	for (i = 0; i < rounds * 40; i++) {
		static const __u8 numbers[] = {
			IB_USER_VERBS_CMD_CREATE_CQ, IB_USER_VERBS_CMD_CREATE_QP,
			IB_USER_VERBS_CMD_MODIFY_QP, IB_USER_VERBS_CMD_QUERY_QP,
			IB_USER_VERBS_CMD_REG_MR, IB_USER_VERBS_CMD_DEREG_MR,
			IB_USER_VERBS_CMD_CREATE_AH, IB_USER_VERBS_CMD_DESTROY_AH,
			IB_USER_VERBS_CMD_DESTROY_CQ, IB_USER_VERBS_CMD_DESTROY_QP,
			IB_USER_VERBS_CMD_POST_SEND, IB_USER_VERBS_CMD_POST_RECV,
			IB_USER_VERBS_CMD_POLL_CQ, IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
			IB_USER_VERBS_CMD_RESIZE_CQ, IB_USER_VERBS_CMD_CREATE_SRQ,
			IB_USER_VERBS_CMD_REREG_MR, IB_USER_VERBS_CMD_ALLOC_MW,
			IB_USER_VERBS_CMD_ATTACH_MCAST,
			IB_USER_VERBS_CMD_QUERY_PORT,
		};
		size_t len = 8 + 4 * below(60);

		if (i % 64 == 0)
			raw_create_qp(&A, i % 128 ? IB_QPT_RC_ : IB_QPT_UD_,
				      A.pd->handle, A.cq->handle, &ok,
				      sizeof(ok), &qp);
		for (j = 4; j < len / 4; j++)
			cmd[j] = below(3) ? values[below(ARRAY_SIZE(values))] :
				below(2) ? below(12) : rnd();
		cmd[2] = (uintptr_t)answer;
		cmd[3] = (uintptr_t)answer >> 32;
		if (below(2)) {	/* plausible handles further on */
			cmd[4 + below(6)] = A.pd->handle;
			cmd[4 + below(6)] = A.cq->handle;
			cmd[4 + below(6)] = qp.handle;
		}
		command(A.ctx->cmd_fd, numbers[below(ARRAY_SIZE(numbers))], cmd,
			len, 4 * below(64));
	}
	exit(0);
}

/* ------------------------------------------------------------------ */
/* Rings                                                               */

struct raw_ring {
	struct uet_ring *hdr;
	size_t size;
	__u32 depth, stride;
};

static void *map_offset(struct side *s, __u64 offset, size_t len, int prot,
			int flags)
{
	return mmap(NULL, len, prot, flags, s->ctx->cmd_fd, offset);
}

static void ring_map(struct side *s, struct raw_ring *r,
		     const struct uet_ring_info *info)
{
	r->size = info->mmap_size;
	r->depth = info->depth;
	r->stride = info->stride;
	r->hdr = map_offset(s, info->mmap_offset, r->size,
			    PROT_READ | PROT_WRITE, MAP_SHARED);
	if (r->hdr == MAP_FAILED)
		die("map a ring");
}

static __u8 *ring_entry(struct raw_ring *r, __u32 index)
{
	return (__u8 *)r->hdr + UET_RING_HDR +
		(size_t)(index & (r->depth - 1)) * r->stride;
}

static void t_mmap(void)
{
	static const struct uet_create_qp_req ok;
	const int rw = PROT_READ | PROT_WRITE;
	struct uet_ring_info *info;
	struct raw_qp qp;
	__u64 random;
	void *kept;
	int i;

	doing = "mmap";
	if (raw_create_qp(&A, IB_QPT_RC_, A.pd->handle, A.cq->handle, &ok,
			  sizeof(ok), &qp))
		die("create_qp");
	info = &qp.uet.sq;
	if (info->depth < 16 || info->depth & (info->depth - 1) ||
	    info->stride % 16 ||
	    info->mmap_size < UET_RING_HDR + (__u64)info->depth * info->stride)
		die("ring of %u entries of %u bytes in %llu", info->depth,
		    info->stride, (unsigned long long)info->mmap_size);
	kept = map_offset(&A, info->mmap_offset, info->mmap_size, rw, MAP_SHARED);
	if (kept == MAP_FAILED)
		die("the ring cannot be mapped");
#define NO_MAP(what, offset, len, prot, flags)				\
	refused(what, map_offset(&A, offset, len, prot, flags) == MAP_FAILED, \
		ERRORS(EINVAL, EPERM, EACCES, ENOMEM, ENXIO))
	NO_MAP("a ring one page too long", info->mmap_offset,
	       info->mmap_size + PAGE, rw, MAP_SHARED);
	NO_MAP("a private copy of a ring", info->mmap_offset, info->mmap_size,
	       rw, MAP_PRIVATE);
	NO_MAP("a ring to be executed", info->mmap_offset, info->mmap_size,
	       rw | PROT_EXEC, MAP_SHARED);
	if (info->mmap_size > PAGE)
		NO_MAP("the second page of a ring", info->mmap_offset + PAGE,
		       info->mmap_size - PAGE, rw, MAP_SHARED);
	for (i = 0; i < 200; i++) {
		random = (__u64)rnd() << 32 | rnd();
		NO_MAP("a random offset", (random >> 20 | 1ull << 43) & ~0xfffull,
		       PAGE, rw, MAP_SHARED);
	}
	if (raw_destroy(&A, IB_USER_VERBS_CMD_DESTROY_QP, qp.handle))
		die("destroy");
	NO_MAP("the ring of a QP that is gone", info->mmap_offset,
	       info->mmap_size, rw, MAP_SHARED);
	/* what was mapped stays memory, and nobody else's */
	memset(kept, 0xff, info->mmap_size);
	munmap(kept, info->mmap_size);
}

struct scribble {
	struct raw_ring ring[3];
	bool stop;
};

static void *scribbler(void *arg)
{
	struct scribble *s = arg;
	__u64 x = 88172645463325252ull;

	while (!READ_ONCE(s->stop)) {
		struct raw_ring *r;
		__u32 *word, burst;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		r = &s->ring[x % 3];
		if (x & 0x700) {	/* somewhere in an entry, or in the head */
			word = (__u32 *)r->hdr + (x >> 16) % (r->size / 4);
			WRITE_ONCE(*word, x & 0x800 ? x >> 32 : x >> 56);
		} else if (x & 0x1000) {
			WRITE_ONCE(r->hdr->prod, x >> 32);
		} else {
			WRITE_ONCE(r->hdr->cons, x >> 32);
		}
		/* the others are to have a CPU too */
		for (burst = 0; burst < (x >> 60); burst++)
			sched_yield();
	}
	return NULL;
}

struct raw_create_cq_resp {
	struct ib_uverbs_create_cq_resp core;
	struct uet_create_cq_resp uet;
};

static __u32 raw_create_cq(struct side *s, struct uet_create_cq_resp *uet)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_cq core;
	} cmd = { .core = { .cqe = 64, .comp_channel = -1 } };
	struct raw_create_cq_resp resp = { 0 };

	cmd.core.response = (uintptr_t)&resp;
	if (command(s->ctx->cmd_fd, IB_USER_VERBS_CMD_CREATE_CQ, &cmd,
		    sizeof(cmd), sizeof(resp)))
		die("create_cq by hand");
	*uet = resp.uet;
	return resp.core.cq_handle;
}

static int raw_modify(struct side *s, __u32 handle,
		      const struct ibv_qp_attr *attr, int mask)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_modify_qp core;
	} cmd = {
		.core = {
			.attr_mask = mask, .qp_handle = handle,
			.qp_state = attr->qp_state, .path_mtu = attr->path_mtu,
			.dest_qp_num = attr->dest_qp_num,
			.qp_access_flags = attr->qp_access_flags,
			.port_num = attr->port_num,
			.max_rd_atomic = attr->max_rd_atomic,
			.max_dest_rd_atomic = attr->max_dest_rd_atomic,
			.min_rnr_timer = attr->min_rnr_timer,
			.timeout = attr->timeout, .retry_cnt = attr->retry_cnt,
			.rnr_retry = attr->rnr_retry,
			.dest = {
				.sgid_index = attr->ah_attr.grh.sgid_index,
				.hop_limit = 64, .is_global = 1, .port_num = 1,
			},
		},
	};

	memcpy(cmd.core.dest.dgid, &attr->ah_attr.grh.dgid, 16);
	return command(s->ctx->cmd_fd, IB_USER_VERBS_CMD_MODIFY_QP, &cmd,
		       sizeof(cmd), 0);
}

static int raw_doorbell(struct side *s, __u32 handle)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send core;
	} cmd = {
		.core = { .qp_handle = handle,
			  .wqe_size = sizeof(struct ib_uverbs_send_wr) },
	};
	struct ib_uverbs_post_send_resp resp;

	cmd.core.response = (uintptr_t)&resp;
	return command(s->ctx->cmd_fd, IB_USER_VERBS_CMD_POST_SEND, &cmd,
		       sizeof(cmd), sizeof(resp));
}

/* A plausible request, of which one or more fields are not */
static void fill_wqe(struct uet_send_wqe *wqe, __u32 stride)
{
	struct uet_wqe_sge *sge = (struct uet_wqe_sge *)(wqe + 1);
	unsigned int spoil = 1 + below(3), i;

	memset(wqe, 0, stride);
	wqe->opcode = below(5);
	wqe->flags = UET_WQE_SIGNALED;
	wqe->num_sge = 1;
	wqe->remote_addr = (uintptr_t)B.mem;
	wqe->rkey = B.mr->rkey;
	sge->addr = (uintptr_t)A.mem;
	sge->length = below(5000);
	sge->lkey = A.mr->lkey;
	for (i = 0; i < spoil; i++) {
		__u8 *byte = (__u8 *)wqe + below(stride);

		*byte = below(2) ? 0xff : rnd();
	}
}

static void rts_raw(struct raw_qp *qp, __u32 peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = REMOTE | IBV_ACCESS_LOCAL_WRITE,
	};

	errno = raw_modify(&A, qp->handle, &attr, IBV_QP_STATE | IBV_QP_PORT |
			   IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS);
	if (errno)
		die("INIT by hand");
	rtr_defaults(&attr, peer);
	errno = raw_modify(&A, qp->handle, &attr, RTR_MASK);
	if (errno)
		die("RTR by hand");
	rts_defaults(&attr);
	errno = raw_modify(&A, qp->handle, &attr, RTS_MASK);
	if (errno)
		die("RTS by hand");
}

/*
 * One life of a QP whose rings are filled by a fool. With @scribble another
 * thread writes into all rings, heads and entries, while this one posts. What
 * arrives at B must lie in the one region it may write, [0, half) of B's memory.
 */
static void ring_round(bool scribble)
{
	static const struct uet_create_qp_req ok;
	const struct conn c = { .depth = 64, .sge = 1 };
	struct uet_create_cq_resp cq_info;
	struct scribble s = { 0 };
	struct ibv_recv_wr rr = { 0 }, *bad_recv;
	struct ibv_sge sge = { (uintptr_t)B.mem, 4096, B.mr->lkey };
	struct ibv_qp *peer = qp_create(&B, IBV_QPT_RC, &c);
	pthread_t thread;
	struct raw_qp qp;
	struct ibv_wc wc;
	__u32 cq, i, prod = 0;

	cq = raw_create_cq(&A, &cq_info);
	errno = raw_create_qp(&A, IB_QPT_RC_, A.pd->handle, cq, &ok, sizeof(ok),
			      &qp);
	if (errno)
		die("create_qp by hand");
	ring_map(&A, &s.ring[0], &qp.uet.sq);
	ring_map(&A, &s.ring[1], &qp.uet.rq);
	ring_map(&A, &s.ring[2], &cq_info.cq);
	qp_connect(&B, peer, &A, qp.qpn, &c);
	rts_raw(&qp, peer->qp_num);
	rr.sg_list = &sge;
	rr.num_sge = 1;
	for (i = 0; i < 16; i++)
		ibv_post_recv(peer, &rr, &bad_recv);
	if (scribble && pthread_create(&thread, NULL, scribbler, &s))
		die("thread");
	for (i = 0; i < 40; i++) {
		unsigned int n = below(4);

		while (n--)
			fill_wqe((void *)ring_entry(&s.ring[0], prod++),
				 s.ring[0].stride);
		if (!below(8))
			prod = rnd();
		__atomic_store_n(&s.ring[0].hdr->prod, prod, __ATOMIC_RELEASE);
		if (!below(4))
			__atomic_store_n(&s.ring[1].hdr->prod, rnd(),
					 __ATOMIC_RELEASE);
		if (!below(4))
			__atomic_store_n(&s.ring[2].hdr->cons, rnd(),
					 __ATOMIC_RELEASE);
		raw_doorbell(&A, qp.handle);
		/* B answers, so that A's receive ring is read too */
		if (!below(4)) {
			struct ibv_sge out = { (uintptr_t)B.mem, 100,
					       B.mr->lkey };
			struct ibv_send_wr wr = {
				.sg_list = &out, .num_sge = 1,
				.opcode = IBV_WR_SEND,
			}, *bad;

			ibv_post_send(peer, &wr, &bad);
		}
		while (ibv_poll_cq(B.cq, 1, &wc) > 0)
			;
	}
	WRITE_ONCE(s.stop, true);
	if (scribble)
		pthread_join(thread, NULL);
	for (i = 0; i < 3; i++)
		munmap(s.ring[i].hdr, s.ring[i].size);
	errno = raw_destroy(&A, IB_USER_VERBS_CMD_DESTROY_QP, qp.handle);
	if (errno)
		die("destroy_qp by hand");
	errno = raw_destroy(&A, IB_USER_VERBS_CMD_DESTROY_CQ, cq);
	if (errno)
		die("destroy_cq by hand");
	if (ibv_destroy_qp(peer))
		die("destroy_qp");
	while (ibv_poll_cq(B.cq, 1, &wc) > 0)
		;
}

static void t_rings(void)
{
	unsigned int i;

	doing = "rings with nonsense in them";
	for (i = 0; i < rounds; i++)
		ring_round(false);
}

static void t_scribble(void)
{
	unsigned int i;

	doing = "rings written by another thread while posting";
	for (i = 0; i < rounds; i++)
		ring_round(true);
}

/* ------------------------------------------------------------------ */

static const struct entry tests[] = {
	{ "sizes", t_sizes },
	{ "memory", t_memory },
	{ "modify", t_modify },
	{ "address", t_address },
	{ "post", t_post },
	{ "local", t_local },
	{ "remote", t_remote },
	{ "length", t_length },
	{ "datagram", t_datagram },
	{ "peer", t_peer },
	{ "udata", t_udata },
	{ "handles", t_handles },
	{ "doorbell", t_doorbell },
	{ "commands", t_commands },
	{ "mmap", t_mmap },
	{ "rings", t_rings },
	{ "scribble", t_scribble },
	{}
};

int main(int argc, char **argv)
{
	char **names;

	rounds = 300;
	names = pair_options(argc, argv, tests, NULL);
	pair_seed();
	noise_init(1 << 17);
	witness_start();
	side_open(&A, dev_a, addr_a, 1 << 17, 256);
	side_open(&B, dev_b, addr_b, 1 << 17, 256);
	for (; *names; names++) {
		pair_run(*names, tests);
		witness_lives();
		printf("%s: the other process is at message %u\n", *names,
		       witness->messages);
	}
	side_close(&A);
	side_close(&B);
	witness_end();
	return 0;
}
