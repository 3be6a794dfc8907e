// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Wrong input: objects and their attributes */
#include "badinput.h"

#include <limits.h>

/* Sizes and counts of CQs, QPs and memory regions */
void t_sizes(void)
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

void t_memory(void)
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

void rtr_defaults(struct ibv_qp_attr *attr, __u32 peer)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = IBV_QPS_RTR;
	attr->path_mtu = A.port.active_mtu;
	attr->dest_qp_num = peer;
	attr->max_dest_rd_atomic = 1;
	attr->min_rnr_timer = 1;
	ah_attr(&A, &B.gid, &attr->ah_attr);
}

void rts_defaults(struct ibv_qp_attr *attr)
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

void t_modify(void)
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

void t_address(void)
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
