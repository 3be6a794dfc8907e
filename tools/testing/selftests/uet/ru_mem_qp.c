// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Queue pairs: operations, completions, numbers, semantics, ranks */
#include <sys/syscall.h>
#include <linux/capability.h>

#include "ru_mem.h"

/* Operations, completions                                             */

void t_atomics(void)
{
	struct ibv_mr *no = reg(1, .access = IBV_ACCESS_LOCAL_WRITE |
				   IBV_ACCESS_REMOTE_WRITE);
	__u64 *word = (__u64 *)b.mem, *old = (__u64 *)a.mem;
	struct req r = { .what = ADD, .rkey = key_of(b.mr),
			 .addr = (uintptr_t)b.mem };

	*word = 7;
	good(&r);
	must(*old == 7 && *word == 12, true);
	r.what = SWAP;
	good(&r);
	must(*old == 12 && *word == 99, true);
	good(&r);
	must(*old == 99 && *word == 99, true);
	r.rkey = key_of(no);
	r.addr = (uintptr_t)no->addr;
	refused(&r, RC_PERM);
	r.rkey = key_of(b.mr);
	r.addr = (uintptr_t)b.mem + 4;
	want(&r, IBV_WC_REM_INV_REQ_ERR, 0);
	must(*word == 99, true);
	dereg(no);
}

static void recv_post(struct ibv_qp *qp, __u64 id)
{
	struct ibv_sge sge = { .addr = (uintptr_t)b.mem, .length = PAGE,
			       .lkey = b.mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	if (ibv_post_recv(qp, &wr, &bad))
		die("post_recv");
}

void t_imm64(void)
{
	struct uetdv_qp_init_attr uet = {
		.comp_mask = UETDV_QP_INIT_ATTR_SRC_ID |
			     UETDV_QP_INIT_ATTR_ADDRESSING,
		.addressing = UETDV_ADDR_ABSOLUTE,
		.jkey = a.jkey[1],
		.src_id = 4711,
	};
	struct ibv_qp *named = ru_try(&a, &uet);
	struct req r = { .what = SEND, .imm = 0x8899aabbccddeeffull };
	struct seen s;
	int i;

	if (!named)
		die("QP with a source id");
	for (i = 0; i < 4; i++) {
		r.what = i & 1 ? WRITE_IMM : SEND;
		r.from = i & 2 ? named : NULL;
		r.rkey = key_of(b.mr);
		r.addr = (uintptr_t)b.mem;
		r.flags = UETDV_SEND_DELIVERY_COMPLETE;
		recv_post(b.qp, i);
		good(&r);
		next_of(&b, &s);
		must(s.status, IBV_WC_SUCCESS);
		must(s.id == (unsigned int)i && s.imm == r.imm, true);
		must(s.qp_num == b.qp->qp_num, true);
		must(s.src_id == (i & 2 ? 4711 : a.qp->qp_num), true);
		must(s.job_id, i & 2 ? JOB2 : 0);
	}
	must(uetdv_destroy_jkey(a.jkey[1]), EBUSY);
	must(ibv_destroy_qp(named), 0);
}

/* One that must wait for its peer holds up nobody, and no room in the ring. */
void t_order(void)
{
	struct ibv_qp *second = ru_open(&b);
	struct req slow = { .what = SEND, .id = 1, .to = second,
			    .inlined = true };
	struct req fast = { .rkey = key_of(b.mr), .id = 2,
			    .addr = (uintptr_t)b.mem + PAGE };
	struct seen s;
	int i;

	memset(a.mem, 0x11, PAGE);
	post_req(&slow);
	memset(a.mem, 0x22, PAGE);
	for (i = 0; i < 5 * DEPTH; i++) {
		fast.id = 2 + i;
		fast.inlined = i & 1;
		post_req(&fast);
		next_of(&a, &s);
		must(s.status, IBV_WC_SUCCESS);
		must(s.id == fast.id, true);
	}
	recv_post(second, 9);
	next_of(&a, &s);
	must(s.status, IBV_WC_SUCCESS);
	must(s.id == slow.id, true);
	next_of(&b, &s);
	must(s.id == 9, true);
	for (i = 0; i < 32; i++)
		must(b.mem[i], 0x11);
	must(ibv_destroy_qp(second), 0);
}

/* The ring is full when so many have not completed, whichever they are. */
void t_full(void)
{
	struct ibv_qp_ex *qx = ibv_qp_to_qp_ex(a.qp);
	struct uetdv_qp_ex *ux = uetdv_qp_ex_from_ibv_qp_ex(qx);
	struct ibv_qp *second = ru_open(&b);
	struct req r = { .what = SEND, .to = second };
	struct seen s;
	int i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < DEPTH; i++) {
			r.id = i;
			post_req(&r);
		}
		ibv_wr_start(qx);
		uetdv_wr_send_imm64(ux, 0);
		uetdv_wr_set_ru_addr(ux, ah, second->qp_num, 0);
		must(ibv_wr_complete(qx), ENOMEM);
		for (i = 0; i < DEPTH; i++) {
			recv_post(second, i);
			next_of(&a, &s);
			must(s.status, IBV_WC_SUCCESS);
			next_of(&b, &s);
		}
	}
	must(ibv_destroy_qp(second), 0);
}

/* ------------------------------------------------------------------ */
/* Numbers, semantics, ranks                                           */

/* No CAP_NET_RAW from here on. */
static void drop_net_raw(void)
{
	struct __user_cap_header_struct hdr = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &hdr, data))
		die("capget");
	data[0].effective &= ~(1u << CAP_NET_RAW);
	data[0].permitted &= ~(1u << CAP_NET_RAW);
	if (syscall(SYS_capset, &hdr, data))
		die("capset");
}

#define qp_refused(error, ...) qp_refused_at(__LINE__, error, \
	(struct uetdv_qp_init_attr){ __VA_ARGS__ })
static void qp_refused_at(int line, int error, struct uetdv_qp_init_attr uet)
{
	if (ru_try(&b, &uet))
		die("line %d: a QP that must not be", line);
	if (errno != error)
		die("line %d: not errno %d", line, error);
}

#define CHOICE	(UETDV_QP_INIT_ATTR_ADDRESSING | \
		 UETDV_QP_INIT_ATTR_PID_ON_FEP | UETDV_QP_INIT_ATTR_RI)

void t_numbers(void)
{
	struct uetdv_qp_init_attr uet = {
		.comp_mask = CHOICE,
		.addressing = UETDV_ADDR_ABSOLUTE,
		.pid_on_fep = 0x123,
		.ri = 0x456,
	};
	struct ibv_qp *both = ru_try(&b, &uet), *one;
	struct req r = { .rkey = key_of(b.mr), .addr = (uintptr_t)b.mem };

	if (!both || both->qp_num != 0x456123)
		die("chosen pair");
	r.to = both;
	good(&r);
	qp_refused_at(__LINE__, EBUSY, uet);
	uet.comp_mask &= ~UETDV_QP_INIT_ATTR_RI;
	uet.ri = 0;
	one = ru_try(&b, &uet);
	if (!one || (one->qp_num & 0xfff) != 0x123)
		die("chosen PIDonFEP");
	must(ibv_destroy_qp(one), 0);
	must(ibv_destroy_qp(both), 0);
	qp_refused(EINVAL, .comp_mask = CHOICE, .ri = 0, .pid_on_fep = 5,
		   .addressing = UETDV_ADDR_ABSOLUTE);
	qp_refused(EINVAL, .comp_mask = UETDV_QP_INIT_ATTR_ADDRESSING,
		   .addressing = UETDV_ADDR_RELATIVE);
	qp_refused(EINVAL, .comp_mask = UETDV_QP_INIT_ATTR_ADDRESSING,
		   .addressing = 3);
	qp_refused(EINVAL, .comp_mask = UETDV_QP_INIT_ATTR_ADDRESSING,
		   .addressing = UETDV_ADDR_RELATIVE, .jkey = a.jkey[0]);
	drop_net_raw();
	qp_refused(EPERM, .comp_mask = CHOICE, .ri = 6, .pid_on_fep = 5,
		   .addressing = UETDV_ADDR_ABSOLUTE);
	/* Of a job everybody in it may choose. */
	uet = (struct uetdv_qp_init_attr){
		.comp_mask = CHOICE,
		.addressing = UETDV_ADDR_RELATIVE,
		.jkey = b.jkey[0],
		.pid_on_fep = 5,
		.ri = 6,
	};
	one = ru_try(&b, &uet);
	if (!one || one->qp_num != 0x006005)
		die("chosen pair in a job");
	qp_refused_at(__LINE__, EBUSY, uet);
	must(ibv_destroy_qp(one), 0);
}

void t_semantics(void)
{
	struct uetdv_qp_semantics most;
	struct uetdv_qp_init_attr uet = {
		.comp_mask = UETDV_QP_INIT_ATTR_SEMANTICS,
	}, got;
	struct ibv_qp *qp;

	must(uetdv_query_qp_semantics(ctx, UETDV_QP_DRIVER_TYPE_RU, 1,
				      gid_index, &most, sizeof(most)), 0);
	must(most.imm_data_size, 64);
	must(most.msg_order, 0);
	must(uetdv_query_qp_semantics(ctx, 2, 1, gid_index, &most,
				      sizeof(most)), EOPNOTSUPP);
	must(uetdv_query_qp_semantics(ctx, UETDV_QP_DRIVER_TYPE_RU, 2,
				      gid_index, &most, sizeof(most)), EINVAL);
	must(uetdv_query_qp_semantics(ctx, UETDV_QP_DRIVER_TYPE_RU, 1, 200,
				      &most, sizeof(most)), EINVAL);
	uet.semantics.max_pdu = most.max_pdu;
	uet.semantics.imm_data_size = 32;
	qp = ru_try(&b, &uet);
	if (!qp)
		die("QP with semantics");
	must(uetdv_query_qp(qp, &got, sizeof(got)), 0);
	must(got.semantics.max_pdu, most.max_pdu);
	must(got.semantics.imm_data_size, 64);
	must(ibv_destroy_qp(qp), 0);
	uet.semantics.imm_data_size = 16;
	qp_refused_at(__LINE__, EOPNOTSUPP, uet);
	uet.semantics.imm_data_size = 64;
	uet.semantics.max_pdu = most.max_pdu + 1;
	qp_refused_at(__LINE__, EOPNOTSUPP, uet);
	uet.semantics.max_pdu = 0;
	uet.semantics.msg_order = UETDV_ORDER_WAW;
	qp_refused_at(__LINE__, EOPNOTSUPP, uet);
}

static void set_rank(unsigned int rank, struct ibv_qp *qp)
{
	struct uetdv_ah_attr_ex attr = {
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .dgid = gid, .sgid_index = gid_index,
				      .hop_limit = 64 } },
		.remote_qpn = qp->qp_num,
	};

	must(uetdv_insert_addr(job[0], &attr, rank, 0), 0);
}

/* To RTS again after a request that was wrong. */
static void again(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };

	must(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
}

void t_ranks(void)
{
	struct ibv_qp *second = ru_open(&b);
	struct req r = { .what = SEND, .jkey = a.jkey[0]->jkey };
	struct seen s;
	int i;

	set_rank(2, b.qp);
	set_rank(3, second);
	for (i = 2; i <= 3; i++) {
		r.rank = i;
		r.imm = i;
		recv_post(i == 2 ? b.qp : second, i);
		good(&r);
		next_of(&b, &s);
		must(s.id == (unsigned int)i && s.imm == r.imm, true);
		must(s.job_id, JOB1);
	}
	r.rank = 4;
	want(&r, IBV_WC_LOC_QP_OP_ERR, 0);
	again(a.qp);
	r.rank = 800;
	want(&r, IBV_WC_LOC_QP_OP_ERR, 0);
	again(a.qp);
	r.rank = 2;
	r.jkey = 0;
	want(&r, IBV_WC_LOC_QP_OP_ERR, 0);
	again(a.qp);
	r.jkey = b.jkey[0]->jkey;
	want(&r, IBV_WC_LOC_ACCESS_ERR, 0);
	again(a.qp);
	must(uetdv_remove_addr(job[0], 2, 0), 0);
	r.jkey = a.jkey[0]->jkey;
	want(&r, IBV_WC_LOC_QP_OP_ERR, 0);
	again(a.qp);
	r.rank = 3;
	recv_post(second, 3);
	good(&r);
	must(ibv_destroy_qp(second), 0);
}
