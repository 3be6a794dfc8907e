/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * RU QPs of jobs on two hosts, played by one program: members of a job, requests
 * of one to another, and what the devices counted.
 */
#ifndef UET_TEST_RU_JOBS_H
#define UET_TEST_RU_JOBS_H

#include "pair_test.h"

#include <sched.h>

#include <infiniband/uetdv.h>

#define MEM_SIZE	0x100000u
#define MEM_KEY		0x4a4f42	/* of every region, job-restricted or not */
#define DEPTH		64
/* SES return codes, enum uet_rc */
#define RC_BAD_JOB_ID	0x1b
#define RC_BAD_MKEY	0x1c
#define RC_UNDELIVERABLE 0x1f

static struct side host[2];

/* A completion, all of it. */
struct done {
	__u64 wr_id;
	enum ibv_wc_status status;
	enum ibv_wc_opcode opcode;
	__u32 vendor, len, src_id, job_id;
	__u64 imm;
};

/* An RU QP with memory: in a job, or with several, or with none. */
struct member {
	struct side *side;
	struct ibv_pd *pd;
	struct uetdv_jkey *jkey[2];
	struct ibv_comp_channel *channel;
	struct ibv_cq_ex *cq;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx;
	struct uetdv_qp_ex *dvx;
	struct ibv_ah *ah;	/* to the other host */
	struct ibv_mr *mr;	/* @mem for the peers, from offset 0 on */
	struct ibv_mr *own;	/* @mem for itself, by address */
	__u8 *mem;
	__u32 wire;
};

static inline void enter(int h)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/h%d", h + 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("%s", path);
	close(fd);
}

static inline struct uetdv_job *job_on(int h, __u32 id)
{
	struct uetdv_job_attr attr = {
		.comp_mask = UETDV_JOB_ATTR_ID | UETDV_JOB_ATTR_PORT_NUM |
			     UETDV_JOB_ATTR_SGID_INDEX,
		.id = id,
		.port_num = 1,
		.sgid_index = host[h].gid_index,
	};
	struct uetdv_job *job;

	enter(h);
	job = uetdv_alloc_job(host[h].ctx, &attr, NULL);
	if (!job)
		die("job %u on %s", id, host[h].name);
	return job;
}

static inline void job_end(struct uetdv_job *job)
{
	errno = uetdv_dealloc_job(job);
	if (errno)
		die("end of job %u", job->id);
}

static inline void member_cq(struct member *m)
{
	struct uetdv_cq_init_attr uet_attr = {
		.wc_flags = UETDV_WC_EX_WITH_IMM64 | UETDV_WC_EX_WITH_SRC_ID |
			    UETDV_WC_EX_WITH_JOB_ID,
	};
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4 * DEPTH,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN,
	};

	m->channel = ibv_create_comp_channel(m->side->ctx);
	if (!m->channel)
		die("channel");
	attr.channel = m->channel;
	m->cq = uetdv_create_cq(m->side->ctx, &attr, &uet_attr,
				sizeof(uet_attr));
	if (!m->cq)
		die("CQ");
}

/* @pair: PIDonFEP in 11:0, RI in 23:12, as qp_num has it */
static inline void member_qp(struct member *m, enum uetdv_addressing how,
			     __u32 pair, __u32 src_id)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = ibv_cq_ex_to_cq(m->cq),
		.recv_cq = ibv_cq_ex_to_cq(m->cq),
		.cap = { DEPTH, DEPTH, 1, 1, 0 },
		.qp_type = IBV_QPT_DRIVER,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = m->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};
	struct uetdv_qp_init_attr uet_attr = {
		.comp_mask = UETDV_QP_INIT_ATTR_ADDRESSING |
			     UETDV_QP_INIT_ATTR_PID_ON_FEP |
			     UETDV_QP_INIT_ATTR_RI |
			     UETDV_QP_INIT_ATTR_SRC_ID |
			     UETDV_QP_INIT_ATTR_SEND_OPS,
		.driver_qp_type = UETDV_QP_DRIVER_TYPE_RU,
		.addressing = how,
		.pid_on_fep = pair & 0xfff,
		.ri = pair >> 12,
		.jkey = how == UETDV_ADDR_RELATIVE ? m->jkey[0] : NULL,
		.src_id = src_id,
		.send_ops = UETDV_QP_EX_WITH_RU | UETDV_QP_EX_WITH_SEND_IMM64 |
			    UETDV_QP_EX_WITH_RDMA_READ64 |
			    UETDV_QP_EX_WITH_RDMA_WRITE64 |
			    UETDV_QP_EX_WITH_RDMA_WRITE64_IMM64 |
			    UETDV_QP_EX_WITH_ATOMIC64,
	};

	m->qp = uetdv_create_qp(m->side->ctx, &attr, &uet_attr,
				sizeof(uet_attr));
	if (!m->qp)
		die("QP %#x on %s", pair, m->side->name);
	m->qpx = ibv_qp_to_qp_ex(m->qp);
	m->dvx = uetdv_qp_ex_from_ibv_qp_ex(m->qpx);
	m->wire = pair;
	expect("wire pair", m->qp->qp_num, pair);
}

static inline void member_mr(struct member *m, enum uetdv_addressing how)
{
	struct uetdv_reg_mr_attr attr = {
		.comp_mask = UETDV_REG_MR_MASK_RKEY,
		.length = MEM_SIZE,
		.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
			  IBV_ACCESS_ZERO_BASED,
		.rkey = MEM_KEY,
	};

	m->mem = mmap(NULL, MEM_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m->mem == MAP_FAILED)
		die("memory");
	memset(m->mem, GUARD, MEM_SIZE);
	attr.addr = m->mem;
	if (how == UETDV_ADDR_RELATIVE) {
		attr.comp_mask |= UETDV_REG_MR_MASK_JKEY;
		attr.jkey = m->jkey[0];
	}
	m->mr = uetdv_reg_mr(m->pd, &attr, sizeof(attr));
	m->own = ibv_reg_mr(m->pd, m->mem, MEM_SIZE, IBV_ACCESS_LOCAL_WRITE);
	if (!m->mr || !m->own)
		die("region on %s", m->side->name);
}

/* On host @h, under @pair, with keys of up to two jobs. */
static inline void member_join(struct member *m, int h,
			       enum uetdv_addressing how, __u32 pair,
			       __u32 src_id, struct uetdv_job *job1,
			       struct uetdv_job *job2)
{
	struct uetdv_job *job[2] = { job1, job2 };
	struct ibv_ah_attr attr;
	int i;

	memset(m, 0, sizeof(*m));
	m->side = &host[h];
	m->pd = ibv_alloc_pd(m->side->ctx);
	if (!m->pd)
		die("PD");
	for (i = 0; i < 2; i++) {
		if (!job[i])
			continue;
		m->jkey[i] = uetdv_create_jkey(m->pd, job[i], 0);
		if (!m->jkey[i])
			die("job key for %u", job[i]->id);
	}
	member_cq(m);
	member_qp(m, how, pair, src_id);
	member_mr(m, how);
	ah_attr(m->side, &host[!h].gid, &attr);
	m->ah = ibv_create_ah(m->pd, &attr);
	if (!m->ah)
		die("AH on %s", m->side->name);
}

static inline void member_leave(struct member *m)
{
	int i;

	if (ibv_destroy_ah(m->ah) || ibv_destroy_qp(m->qp) ||
	    ibv_dereg_mr(m->mr) || ibv_dereg_mr(m->own) ||
	    ibv_destroy_cq(ibv_cq_ex_to_cq(m->cq)) ||
	    ibv_destroy_comp_channel(m->channel))
		die("leaving %s", m->side->name);
	for (i = 0; i < 2; i++) {
		errno = m->jkey[i] ? uetdv_destroy_jkey(m->jkey[i]) : 0;
		if (errno)
			die("job key");
	}
	if (ibv_dealloc_pd(m->pd))
		die("PD");
	munmap(m->mem, MEM_SIZE);
}

/* ------------------------------------------------------------------ */
/* Completions                                                         */

static inline bool poll_one(struct member *m, struct done *d)
{
	struct ibv_poll_cq_attr attr = {};
	int ret = ibv_start_poll(m->cq, &attr);

	if (ret == ENOENT)
		return false;
	errno = ret;
	if (ret)
		die("poll on %s", m->side->name);
	memset(d, 0, sizeof(*d));
	d->wr_id = m->cq->wr_id;
	d->status = m->cq->status;
	d->vendor = ibv_wc_read_vendor_err(m->cq);
	if (d->status == IBV_WC_SUCCESS) {
		d->opcode = ibv_wc_read_opcode(m->cq);
		d->len = ibv_wc_read_byte_len(m->cq);
		d->src_id = uetdv_wc_read_src_id(m->cq);
		d->job_id = uetdv_wc_read_job_id(m->cq);
		d->imm = be64toh(uetdv_wc_read_imm64(m->cq));
	}
	ibv_end_poll(m->cq);
	return true;
}

static inline void take(struct member *m, struct done *d)
{
	struct pollfd p = { .fd = m->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	while (!poll_one(m, d)) {
		if (ibv_req_notify_cq(ibv_cq_ex_to_cq(m->cq), 0))
			die("arming");
		if (poll_one(m, d))
			return;
		errno = 0;
		if (poll(&p, 1, wait_s * 1000) != 1)
			die("no completion on %s in %u s", m->side->name,
			    wait_s);
		if (ibv_get_cq_event(m->channel, &cq, &context))
			die("event");
		ibv_ack_cq_events(cq, 1);
	}
}

static inline void nothing(struct member *m)
{
	struct done d;

	errno = 0;
	if (poll_one(m, &d))
		die("a completion on %s, QP %#x: wr_id %llx, %s", m->side->name,
		    m->wire, (unsigned long long)d.wr_id,
		    ibv_wc_status_str(d.status));
}

static inline void expect_done(struct member *m, enum ibv_wc_status status,
			       __u32 vendor)
{
	struct done d;

	take(m, &d);
	errno = 0;
	if (d.status != status || d.vendor != vendor)
		die("%s with %#x, not %s with %#x",
		    ibv_wc_status_str(d.status), d.vendor,
		    ibv_wc_status_str(status), vendor);
}

/* ------------------------------------------------------------------ */
/* Requests                                                            */

static inline void post_recv(struct member *m, __u64 wr_id, __u32 at, __u32 len)
{
	struct ibv_sge sge = { (uintptr_t)m->mem + at, len, m->own->lkey };
	struct ibv_recv_wr wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
	}, *bad;

	errno = ibv_post_recv(m->qp, &wr, &bad);
	if (errno)
		die("posting a receive on %s", m->side->name);
}

static inline __u32 key_of(const struct member *m, int job)
{
	return job < 0 ? 0 : m->jkey[job]->jkey;
}

static inline void begin(struct member *m, __u64 wr_id, __u32 flags)
{
	ibv_wr_start(m->qpx);
	m->qpx->wr_id = wr_id;
	m->qpx->wr_flags = flags;
}

/* To @pair on the other host, in the job of @m's key @job, -1: of the QP. */
static inline void to_pair(struct member *m, __u32 pair, int job, __u32 at,
			   __u32 len)
{
	uetdv_wr_set_ru_addr(m->dvx, m->ah, pair, key_of(m, job));
	ibv_wr_set_sge(m->qpx, m->own->lkey, (uintptr_t)m->mem + at, len);
}

static inline void finish(struct member *m)
{
	errno = ibv_wr_complete(m->qpx);
	if (errno)
		die("posting on %s", m->side->name);
}

static inline void send64(struct member *m, __u32 pair, int job, __u64 imm,
			  __u32 len)
{
	begin(m, imm, 0);
	uetdv_wr_send_imm64(m->dvx, htobe64(imm));
	to_pair(m, pair, job, 0, len);
	finish(m);
}

/* ------------------------------------------------------------------ */
/* Counters                                                            */

static inline __u64 number_from(const char *command)
{
	unsigned long long n;
	FILE *f = popen(command, "r");

	errno = 0;
	if (!f || fscanf(f, "%llu", &n) != 1)
		die("no number from: %s", command);
	if (pclose(f))
		die("failed: %s", command);
	return n;
}

static inline __u64 counted(int h, const char *name)
{
	char command[160];

	snprintf(command, sizeof(command),
		 "rdma -j statistic show link %s/1 | jq '.[0].\"%s\"'",
		 host[h].name, name);
	return number_from(command);
}

#endif /* UET_TEST_RU_JOBS_H */
