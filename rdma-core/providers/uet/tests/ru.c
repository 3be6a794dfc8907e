// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Reliable-unconnected QPs: requests of callers old and new, addresses and keys
 * of work requests, numbers of relative QPs; memory regions.
 */
#include "fake.h"
#include "fake_ioctl.h"

#define WIRE		0x00100c	/* RI 1, PIDonFEP 12 */

static struct uet_reg_mr_req mr_req;
static bool had_req;
static uint64_t mr_iova, mr_rkey;
static int semantics_error;
static uint16_t attached;

/* ------------------------------------------------------------------ */
/* The kernel's part                                                   */

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int ret = uet_modify_qp(qp, attr, mask);

	if (!ret && mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return ret;
}

int ibv_cmd_reg_mr(struct ibv_pd *ibpd, void *addr, size_t length,
		   uint64_t hca_va, int access, struct verbs_mr *vmr,
		   struct ibv_reg_mr *cmd, size_t cmd_size,
		   struct ib_uverbs_reg_mr_resp *resp, size_t resp_size)
{
	had_req = cmd_size == sizeof(struct uetcmd_reg_mr);
	if (had_req)
		mr_req = ((struct uetcmd_reg_mr *)cmd)->drv_payload;
	if (resp_size == sizeof(struct uetcmd_reg_mr_answer))
		((struct uetcmd_reg_mr_answer *)resp)->drv_payload.rkey = mr_rkey;
	mr_iova = hca_va;
	vmr->ibv_mr.context = ibpd->context;
	vmr->ibv_mr.handle = 0x31;
	vmr->ibv_mr.lkey = 0x41;
	vmr->ibv_mr.rkey = 0x41;
	return 0;
}

int ibv_cmd_reg_dmabuf_mr(struct ibv_pd *ibpd, uint64_t offset, size_t length,
			  uint64_t iova, int fd, int access,
			  struct verbs_mr *vmr,
			  struct ibv_command_buffer *driver)
{
	had_req = driver;
	if (driver) {
		mr_req = *(struct uet_reg_mr_req *)
			 ptr_of(driver, UET_IB_ATTR_REG_DMABUF_MR_REQ,
				sizeof(mr_req));
		((struct uet_reg_mr_resp *)
		 ptr_of(driver, UET_IB_ATTR_REG_DMABUF_MR_RESP,
			sizeof(struct uet_reg_mr_resp)))->rkey = mr_rkey;
	}
	mr_iova = iova;
	vmr->ibv_mr.context = ibpd->context;
	vmr->ibv_mr.rkey = 0x42;
	return 0;
}

int ibv_cmd_dereg_mr(struct verbs_mr *vmr)
{
	return 0;
}

static int method(struct ibv_command_buffer *cmd)
{
	struct uet_semantics *resp;

	attached = cmd->hdr.method_id;
	if (cmd->hdr.object_id == UVERBS_OBJECT_QP)
		return attr_of(cmd, UET_IB_ATTR_QP_ATTACH_MR_MR)->data == 0x31 ?
		       0 : ENOENT;
	CHECK(cmd->hdr.object_id == UVERBS_OBJECT_DEVICE);
	CHECK(u32_of(cmd, UET_IB_ATTR_QUERY_SEMANTICS_SGID_INDEX) == 5);
	resp = ptr_of(cmd, UET_IB_ATTR_QUERY_SEMANTICS_RESP, sizeof(*resp));
	resp->max_pdu = 4096;
	resp->imm_data_size = 64;
	return semantics_error;
}

/* ------------------------------------------------------------------ */

static struct ibv_qp *create(struct ibv_cq *cq, void *attr, uint32_t len)
{
	struct ibv_qp_init_attr_ex attr_ex = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = &pd.pd,
	};

	return uetdv_create_qp(&ctx.vctx.context, &attr_ex, attr, len);
}

/* Callers that were built before jobs: 16 and 24 bytes; and after. */
static void test_versions(struct ibv_cq *cq)
{
	struct {
		uint64_t comp_mask;
		uint32_t driver_qp_type;
		uint32_t reserved;
	} old = { .driver_qp_type = UETDV_QP_DRIVER_TYPE_RU };
	struct {
		struct uetdv_qp_init_attr known;
		uint64_t unknown;
	} new = { .known.driver_qp_type = UETDV_QP_DRIVER_TYPE_RU };
	uint8_t room[sizeof(struct uetdv_device_attr) + 8];
	struct uetdv_device_attr *dev = (void *)room;
	struct uetdv_qp_init_attr attr;
	struct ibv_qp *qp;

	CHECK(sizeof(old) == 16);
	qp = create(cq, &old, sizeof(old));
	CHECK(qp && qp->state == IBV_QPS_RTS && asked_size == 16);
	CHECK(!asked.comp_mask && qp->qp_num == to_uqp(qp)->number);
	CHECK(!uetdv_query_qp(qp, &attr, sizeof(attr)));
	CHECK(attr.addressing == UETDV_ADDR_ABSOLUTE && !attr.jkey);
	CHECK((uint32_t)attr.ri << 12 == (qp->qp_num & 0xfff000));
	CHECK(uetdv_query_qp(qp, &attr, 16) == EINVAL);
	uet_destroy_qp(qp);
	CHECK(!create(cq, &old, 15) && errno == EINVAL);
	old.comp_mask = UETDV_QP_INIT_ATTR_RI;	/* a field it does not have */
	CHECK(!create(cq, &old, sizeof(old)) && errno == EINVAL);

	qp = create(cq, &new, sizeof(new));
	CHECK(qp);
	uet_destroy_qp(qp);
	new.unknown = 1;
	CHECK(!create(cq, &new, sizeof(new)) && errno == EOPNOTSUPP);

	memset(room, 0xff, sizeof(room));
	CHECK(!uetdv_query_device(&ctx.vctx.context, dev, 24));
	CHECK(!dev->comp_mask && dev->max_sge == 4 && room[24] == 0xff);
	CHECK(!uetdv_query_device(&ctx.vctx.context, dev, sizeof(room)));
	CHECK(dev->comp_mask == UETDV_DEVICE_ATTR_JOB && !room[sizeof(*dev)]);
	CHECK(dev->max_job_ids == 11 && dev->max_addr_entries == 14);
	CHECK(dev->device_caps & UETDV_DEVICE_CAP_USER_RKEY);
	CHECK(uetdv_query_device(&ctx.vctx.context, dev, 23) == EINVAL);
	ctx.caps = UET_CAP_RU;
	CHECK(!uetdv_query_device(&ctx.vctx.context, dev, sizeof(*dev)));
	CHECK(!dev->comp_mask && !dev->max_job_ids);
	new.unknown = 0;
	new.known.comp_mask = UETDV_QP_INIT_ATTR_SRC_ID;
	CHECK(!create(cq, &new, sizeof(new)) && errno == EOPNOTSUPP);
	ctx.caps = -1;
}

static void test_request(struct ibv_cq *cq)
{
	struct uetdv_jkey jkey = { .pd = &pd.pd, .jkey = 0x5a };
	struct uetdv_qp_init_attr attr = {
		.comp_mask = UETDV_QP_INIT_ATTR_SRC_ID |
			     UETDV_QP_INIT_ATTR_SEMANTICS,
		.driver_qp_type = UETDV_QP_DRIVER_TYPE_RU,
		.addressing = 9,		/* not in comp_mask */
		.src_id = 17,
		.semantics.imm_data_size = 64,
	};
	struct ibv_qp *qp = create(cq, &attr, sizeof(attr));

	CHECK(asked.comp_mask == (UET_CREATE_QP_RU | UET_CREATE_QP_SRC_ID |
				  UET_CREATE_QP_SEMANTICS));
	CHECK(asked.addressing == UET_ADDR_ABSOLUTE && !asked.jkey);
	CHECK(asked.src_id == 17 && asked.want.imm_data_size == 64);
	CHECK(!uetdv_query_qp(qp, &attr, sizeof(attr)) && attr.src_id == 17);
	CHECK(attr.semantics.imm_data_size == 64);
	uet_destroy_qp(qp);

	attr.comp_mask = UETDV_QP_INIT_ATTR_ADDRESSING;
	attr.addressing = UETDV_ADDR_RELATIVE;
	CHECK(!create(cq, &attr, sizeof(attr)) && errno == EINVAL);
	attr.addressing = 3;
	attr.jkey = &jkey;
	CHECK(!create(cq, &attr, sizeof(attr)) && errno == EINVAL);
	attr.addressing = UETDV_ADDR_ABSOLUTE;
	qp = create(cq, &attr, sizeof(attr));
	CHECK(asked.jkey == 0x5a && asked.comp_mask == UET_CREATE_QP_RU);
	uet_destroy_qp(qp);

	attr.comp_mask |= UETDV_QP_INIT_ATTR_PID_ON_FEP;
	attr.pid_on_fep = 4096;
	CHECK(!create(cq, &attr, sizeof(attr)) && errno == EINVAL);
	attr.pid_on_fep = 12;
	attr.comp_mask |= UETDV_QP_INIT_ATTR_RI;
	attr.ri = 0;
	CHECK(!create(cq, &attr, sizeof(attr)) && errno == EINVAL);
	attr.ri = 1;
	qp = create(cq, &attr, sizeof(attr));
	CHECK(asked.wire_qpn == WIRE);
	uet_destroy_qp(qp);

	attr.comp_mask = UETDV_QP_INIT_ATTR_SEMANTICS;
	attr.semantics.comp_mask = 1;
	CHECK(!create(cq, &attr, sizeof(attr)) && errno == EOPNOTSUPP);
	attr.comp_mask = UETDV_QP_INIT_ATTR_SEND_OPS;
	attr.send_ops = 1U << 30;
	CHECK(!create(cq, &attr, sizeof(attr)) && errno == EOPNOTSUPP);
}

static struct ibv_qp *make_relative(struct ibv_cq *cq)
{
	static struct uetdv_jkey jkey = { .pd = &pd.pd, .jkey = 0x5a };
	struct uetdv_qp_init_attr attr = {
		.comp_mask = UETDV_QP_INIT_ATTR_ADDRESSING |
			     UETDV_QP_INIT_ATTR_PID_ON_FEP |
			     UETDV_QP_INIT_ATTR_RI |
			     UETDV_QP_INIT_ATTR_SEND_OPS,
		.driver_qp_type = UETDV_QP_DRIVER_TYPE_RU,
		.addressing = UETDV_ADDR_RELATIVE,
		.pid_on_fep = 12,
		.ri = 1,
		.jkey = &jkey,
		.send_ops = UETDV_QP_EX_WITH_RU | UETDV_QP_EX_WITH_SEND_IMM64 |
			    UETDV_QP_EX_WITH_RDMA_WRITE64_IMM |
			    UETDV_QP_EX_WITH_ATOMIC64,
	};

	return create(cq, &attr, sizeof(attr));
}

/* Two QPs of two jobs with one wire pair, which applications see. */
static void test_numbers(struct ibv_cq *cq)
{
	struct ibv_qp *a = make_relative(cq), *b = make_relative(cq);
	struct ibv_cq_init_attr_ex init = {
		.cqe = DEPTH,
		.wc_flags = IBV_WC_EX_WITH_QP_NUM,
	};
	struct uetdv_cq_init_attr dv_init = {
		.wc_flags = UETDV_WC_EX_WITH_JOB_ID | UETDV_WC_EX_WITH_IMM64,
	};
	struct ibv_poll_cq_attr poll = {};
	uint32_t qpn, number = to_uqp(a)->number;
	struct ibv_cq_ex *cqx;
	struct ibv_wc wc[4];

	CHECK(a->qp_num == WIRE && b->qp_num == WIRE);
	CHECK(number != to_uqp(b)->number);
	CHECK(!uetdv_qp_wire_qpn(a, &qpn) && qpn == WIRE);
	complete(cq, number, 1);
	complete(cq, to_uqp(b)->number, 2);
	complete(cq, 0x777, 3);
	CHECK(uet_poll_cq(cq, 4, wc) == 3);
	CHECK(wc[0].qp_num == WIRE && wc[1].qp_num == WIRE);
	CHECK(wc[2].qp_num == 0x777);

	/* a QP takes its own completions with it and no others */
	complete(cq, number, 1);
	complete(cq, to_uqp(b)->number, 2);
	uet_destroy_qp(a);
	complete(cq, number, 3);
	CHECK(uet_poll_cq(cq, 4, wc) == 2);
	CHECK(wc[0].wr_id == 2 && wc[0].qp_num == WIRE);
	CHECK(wc[1].qp_num == number);

	cqx = uetdv_create_cq(&ctx.vctx.context, &init, &dv_init,
			      sizeof(dv_init));
	complete(ibv_cq_ex_to_cq(cqx), to_uqp(b)->number, 4);
	CHECK(!ibv_start_poll(cqx, &poll));
	CHECK(ibv_wc_read_qp_num(cqx) == WIRE);
	CHECK(uetdv_wc_read_imm64(cqx) == htobe64(0x01020304));
	CHECK(uetdv_wc_read_src_id(cqx) == 77 && !uetdv_wc_read_job_id(cqx));
	ibv_end_poll(cqx);
	uet_destroy_cq(ibv_cq_ex_to_cq(cqx));
	dv_init.wc_flags = 1 << 20;
	CHECK(!uetdv_create_cq(&ctx.vctx.context, &init, &dv_init,
			       sizeof(dv_init)) && errno == EOPNOTSUPP);
	uet_destroy_qp(b);
}

static void test_wr(struct ibv_cq *cq)
{
	struct ibv_qp *qp = make_relative(cq);
	struct ibv_qp *plain = make_qp(IBV_QPT_RC, UET_QPT_NONE, cq,
				       IBV_QP_EX_WITH_SEND);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct uetdv_qp_ex *dvx = uetdv_qp_ex_from_ibv_qp_ex(qpx);
	struct uet_ah ah = { .number = 9 };
	const struct uet_send_wqe *wqe = sent(qp, 0);

	CHECK(dvx && !dvx->wr_rdma_read64 && !qpx->wr_send);
	CHECK(!uetdv_qp_ex_from_ibv_qp_ex(ibv_qp_to_qp_ex(plain)));

	qpx->wr_id = 5;
	qpx->wr_flags = IBV_SEND_SIGNALED | UETDV_SEND_DELIVERY_COMPLETE;
	ibv_wr_start(qpx);
	uetdv_wr_send_imm64(dvx, htobe64(0x1122334455667788));
	uetdv_wr_set_job_addr(dvx, 1234, 0x5a);
	qpx->wr_flags = 0;
	uetdv_wr_rdma_write64_imm(dvx, 0x8000123456789abc, 0x2000, htobe32(6));
	uetdv_wr_set_job_addr(dvx, 7, 0);
	uetdv_wr_set_ru_addr(dvx, &ah.ah, 0x3004, 0x5b);
	uetdv_wr_set_jkey(dvx, 0x5c);
	ibv_wr_set_sge(qpx, 1, 0x1000, 8);
	CHECK(!ibv_wr_complete(qpx));
	CHECK(wqe->opcode == UET_WQE_SEND_IMM && wqe->wr_id == 5);
	CHECK(wqe->flags == (UET_WQE_SIGNALED | UET_WQE_DELIVERY |
			     UET_WQE_ADDR_IDX));
	CHECK(wqe->imm_data == 0x1122334455667788 && wqe->addr_idx == 1234);
	CHECK(wqe->jkey == 0x5a && !wqe->ah && !wqe->dest_qpn);
	wqe = sent(qp, 1);
	CHECK(wqe->opcode == UET_WQE_WRITE_IMM && !wqe->flags);
	CHECK(wqe->rkey == 0x8000123456789abc && wqe->remote_addr == 0x2000);
	CHECK(wqe->ah == 9 && wqe->dest_qpn == 0x3004 && wqe->jkey == 0x5c);
	CHECK(!wqe->addr_idx && wqe->imm_data == 6 && wqe->num_sge == 1);

	ibv_wr_start(qpx);
	uetdv_wr_atomic_cmp_swp64(dvx, 1ULL << 40, 0x10, 3, 4);
	uetdv_wr_set_job_addr(dvx, 0, 0);
	ibv_wr_set_sge(qpx, 1, 0x1000, 8);
	uetdv_wr_atomic_fetch_add64(dvx, 1ULL << 41, 0x18, 5);
	uetdv_wr_set_job_addr(dvx, 0, 0);
	ibv_wr_set_sge(qpx, 1, 0x1000, 8);
	CHECK(!ibv_wr_complete(qpx));
	wqe = sent(qp, 2);
	CHECK(wqe->opcode == UET_WQE_CMP_SWAP && wqe->rkey == 1ULL << 40);
	CHECK(wqe->compare_add == 3 && wqe->swap == 4);
	CHECK(wqe->flags == UET_WQE_ADDR_IDX);
	wqe = sent(qp, 3);
	CHECK(wqe->opcode == UET_WQE_FETCH_ADD && wqe->rkey == 1ULL << 41);
	CHECK(wqe->compare_add == 5 && wqe->remote_addr == 0x18);

	/* setters after an error do nothing */
	ibv_wr_start(qpx);
	uetdv_wr_atomic_fetch_add64(dvx, 1, 2, 3);
	ibv_wr_set_inline_data(qpx, &ah, 1);
	uetdv_wr_set_job_addr(dvx, 0, 0);
	uetdv_wr_set_ru_addr(dvx, &ah.ah, 0, 0);
	uetdv_wr_set_jkey(dvx, 1);
	CHECK(ibv_wr_complete(qpx) == EINVAL);
	uet_destroy_qp(qp);

	/* the flag is RU's own */
	qpx = ibv_qp_to_qp_ex(plain);
	qpx->wr_flags = UETDV_SEND_DELIVERY_COMPLETE;
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	CHECK(!ibv_wr_complete(qpx) && !sent(plain, 0)->flags);
	uet_destroy_qp(plain);
}

static void test_semantics(void)
{
	struct uetdv_qp_semantics s = {};

	CHECK(!uetdv_query_qp_semantics(&ctx.vctx.context,
					UETDV_QP_DRIVER_TYPE_RU, 1, 5, &s,
					sizeof(s)));
	CHECK(s.max_pdu == 4096 && s.imm_data_size == 64);
	semantics_error = EINVAL;
	CHECK(uetdv_query_qp_semantics(&ctx.vctx.context,
				       UETDV_QP_DRIVER_TYPE_RU, 1, 5, &s,
				       sizeof(s)) == EINVAL);
}

static void test_mr(struct ibv_cq *cq)
{
	struct uetdv_jkey jkey = { .pd = &pd.pd, .jkey = 0x5a };
	struct uetdv_reg_mr_attr attr = {
		.addr = &jkey,
		.length = 16,
		.rkey = 0x123456789abc,
		.flags = UETDV_REG_MR_IDEMPOTENT_SAFE,
	};
	struct ibv_qp *qp = make_relative(cq);
	struct ibv_mr *mr, *part;
	uint64_t rkey;

	/* nothing that plain verbs do not have */
	mr = uetdv_reg_mr(&pd.pd, &attr, sizeof(attr));
	CHECK(mr && !had_req && mr_iova == (uintptr_t)&jkey);
	CHECK(mr->addr == &jkey && mr->length == 16 && mr->pd == &pd.pd);
	CHECK(!uetdv_mr_rkey64(mr, &rkey) && rkey == (1ULL << 48 | 0x41));
	ctx.caps = UET_CAP_RU;
	CHECK(!uetdv_mr_rkey64(mr, &rkey) && rkey == 0x41);
	attr.comp_mask = UETDV_REG_MR_MASK_RKEY;
	CHECK(!uetdv_reg_mr(&pd.pd, &attr, sizeof(attr)));
	CHECK(errno == EOPNOTSUPP);
	ctx.caps = -1;

	attr.comp_mask |= UETDV_REG_MR_MASK_FLAGS | UETDV_REG_MR_MASK_JKEY |
			  UETDV_REG_MR_MASK_CUR_MR | UETDV_REG_MR_MASK_IOVA;
	attr.jkey = &jkey;
	attr.cur_mr = mr;
	attr.iova = 0x7000;
	mr_rkey = 1ULL << 63 | attr.rkey;
	part = uetdv_reg_mr(&pd.pd, &attr, sizeof(attr));
	CHECK(part && had_req && mr_iova == 0x7000);
	CHECK(mr_req.comp_mask == (UET_REG_MR_JKEY | UET_REG_MR_RKEY |
				   UET_REG_MR_PARENT));
	CHECK(mr_req.flags == UET_MR_IDEMPOTENT && mr_req.jkey == 0x5a);
	CHECK(mr_req.parent_lkey == 0x41 && mr_req.rkey == attr.rkey);
	CHECK(!uetdv_mr_rkey64(part, &rkey) && rkey == mr_rkey);
	CHECK(!uetdv_attach_mr(qp, part));
	CHECK(attached == UET_IB_METHOD_QP_ATTACH_MR);
	CHECK(!uetdv_detach_mr(qp, part));
	CHECK(attached == UET_IB_METHOD_QP_DETACH_MR);
	CHECK(!uet_dereg_mr(verbs_get_mr(part)));

	attr.comp_mask |= UETDV_REG_MR_MASK_FD;
	CHECK(!uetdv_reg_mr(&pd.pd, &attr, sizeof(attr)) && errno == EINVAL);
	attr.comp_mask = UETDV_REG_MR_MASK_FD | UETDV_REG_MR_MASK_RKEY;
	attr.fd_offset = 0x3000;
	part = uetdv_reg_mr(&pd.pd, &attr, sizeof(attr));
	CHECK(part && had_req && mr_iova == 0x3000);
	CHECK(mr_req.comp_mask == UET_REG_MR_RKEY);
	CHECK(!uetdv_mr_rkey64(part, &rkey) && rkey == mr_rkey);
	CHECK(!uet_dereg_mr(verbs_get_mr(part)));

	attr.comp_mask = 1U << 20;
	CHECK(!uetdv_reg_mr(&pd.pd, &attr, sizeof(attr)));
	CHECK(errno == EOPNOTSUPP);
	attr.comp_mask = UETDV_REG_MR_MASK_FLAGS;
	attr.flags = 1U << 20;
	CHECK(!uetdv_reg_mr(&pd.pd, &attr, sizeof(attr)));
	CHECK(errno == EOPNOTSUPP);
	attr.comp_mask = UETDV_REG_MR_MASK_JKEY;
	attr.jkey = NULL;
	CHECK(!uetdv_reg_mr(&pd.pd, &attr, sizeof(attr)) && errno == EINVAL);
	CHECK(!uetdv_reg_mr(&pd.pd, &attr, sizeof(attr) - 1));
	CHECK(errno == EINVAL);
	CHECK(!uet_dereg_mr(verbs_get_mr(mr)));
	uet_destroy_qp(qp);
}

int main(void)
{
	struct ibv_cq *cq;

	memfd = memfd_create("rings", 0);
	if (memfd < 0)
		return 1;
	kernel = method;
	ctx.vctx.context.cmd_fd = memfd;
	ctx.caps = -1;
	ctx.max_sge = 4;
	ctx.max_job = 11;
	ctx.max_addr = 14;
	cq = uet_create_cq(&ctx.vctx.context, DEPTH, NULL, 0);

	test_versions(cq);
	test_request(cq);
	test_numbers(cq);
	test_wr(cq);
	test_semantics();
	test_mr(cq);

	uet_destroy_cq(cq);
	uet_qpn_free(&ctx);
	return line_of_failure ? 1 : 0;
}
