// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* A process of a job, see world.h. */
#define _GNU_SOURCE 1
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

/* Each process has its own PIDonFEP on its host, and the one resource index. */
#define RI		1
#define WAIT_MS		60000	/* nothing at all happens so long: give up */
#define RETRY_MS	10	/* a peer that has not joined yet */
#define SPINS		200	/* polls before sleeping */

/* Immediates: what kind of message it is, and a value of 32 bits. */
enum kind { KIND_ARRIVE = 1, KIND_GO, KIND_MESSAGE };

/* Every request but the sends of the first barrier has to succeed. */
enum wr { WR_PLAIN, WR_MAY_BE_REFUSED };

void die(const char *format, ...)
{
	int err = errno;
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, err ? ": %s\n" : "\n", strerror(err));
	exit(1);
}

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

uint32_t number_of(const char *text, uint32_t least, uint32_t most)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 0);
	if (errno || *end || end == text || *text == '-' || n < least ||
	    n > most) {
		errno = 0;
		die("'%s' is not a number from %u to %u", text, least, most);
	}
	return n;
}

static uint32_t env_number(const char *name, uint32_t most)
{
	const char *text = getenv(name);

	errno = 0;
	if (!text)
		die("%s is not set: to be started by uet_job_launch", name);
	return number_of(text, 0, most);
}

/* ------------------------------------------------------------------ */
/* Joining                                                             */

static void open_device(struct world *w)
{
	const char *name = getenv("UET_DEVICE");
	struct ibv_device **list;
	int i;

	list = ibv_get_device_list(NULL);
	if (!list)
		die("no list of devices");
	for (i = 0; list[i]; i++)
		if (name && !strcmp(ibv_get_device_name(list[i]), name))
			break;
	errno = 0;
	if (!list[i])
		die("UET_DEVICE: no device '%s'", name ? name : "");
	w->ctx = ibv_open_device(list[i]);
	if (!w->ctx)
		die("opening %s", name);
	ibv_free_device_list(list);
}

static void import_job(struct world *w)
{
	int fd = env_number("UET_JOB_FD", INT32_MAX);

	errno = uetdv_import_job(w->ctx, fd, &w->job);
	if (errno)
		die("importing the job");
	close(fd);
	w->pd = ibv_alloc_pd(w->ctx);
	if (!w->pd)
		die("PD");
	w->jkey = uetdv_create_jkey(w->pd, w->job, 0);
	if (!w->jkey)
		die("job key");
}

static void create_cq(struct world *w)
{
	struct uetdv_cq_init_attr uet_attr = {
		.wc_flags = UETDV_WC_EX_WITH_IMM64 | UETDV_WC_EX_WITH_SRC_ID |
			    UETDV_WC_EX_WITH_JOB_ID,
	};
	struct ibv_cq_init_attr_ex attr = {
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN,
	};

	w->channel = ibv_create_comp_channel(w->ctx);
	if (!w->channel)
		die("completion channel");
	attr.channel = w->channel;
	attr.cqe = w->depth + w->size + w->slots;
	w->cq = uetdv_create_cq(w->ctx, &attr, &uet_attr, sizeof(uet_attr));
	if (!w->cq)
		die("CQ");
}

static void create_qp(struct world *w, uint32_t addressing, uint64_t verbs_ops,
		      uint32_t uet_ops)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = ibv_cq_ex_to_cq(w->cq),
		.recv_cq = ibv_cq_ex_to_cq(w->cq),
		.cap = {
			/* room for a message to everybody */
			.max_send_wr = w->depth + w->size,
			.max_recv_wr = w->slots,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_DRIVER,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = w->pd,
		.send_ops_flags = verbs_ops,
	};
	struct uetdv_qp_init_attr uet_attr = {
		.comp_mask = UETDV_QP_INIT_ATTR_ADDRESSING |
			     UETDV_QP_INIT_ATTR_PID_ON_FEP |
			     UETDV_QP_INIT_ATTR_RI |
			     UETDV_QP_INIT_ATTR_SRC_ID |
			     UETDV_QP_INIT_ATTR_SEND_OPS,
		.driver_qp_type = UETDV_QP_DRIVER_TYPE_RU,
		.addressing = addressing,
		.pid_on_fep = env_number("UET_LOCAL_RANK", 4095),
		.ri = RI,
		.jkey = w->jkey,
		.src_id = w->rank,
		.send_ops = UETDV_QP_EX_WITH_RU | UETDV_QP_EX_WITH_SEND_IMM64 |
			    uet_ops,
	};

	w->qp = uetdv_create_qp(w->ctx, &attr, &uet_attr, sizeof(uet_attr));
	if (!w->qp)
		die("QP");
	w->qpx = ibv_qp_to_qp_ex(w->qp);
	w->dvx = uetdv_qp_ex_from_ibv_qp_ex(w->qpx);
}

static void post_receive(struct world *w, uint32_t slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)w->recv_buf + (size_t)slot * w->slot_size,
		.length = w->slot_size,
		.lkey = w->recv_mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = slot,
		.sg_list = &sge,
		.num_sge = 1,
	}, *bad;

	errno = ibv_post_recv(w->qp, &wr, &bad);
	if (errno)
		die("posting a receive");
}

static void make_slots(struct world *w)
{
	size_t bytes = (size_t)w->slots * w->slot_size;
	uint32_t i;

	w->recv_buf = calloc(1, bytes);
	w->queue = calloc(w->slots, sizeof(*w->queue));
	if (!w->recv_buf || !w->queue)
		die("receive buffers");
	w->recv_mr = ibv_reg_mr(w->pd, w->recv_buf, bytes,
				IBV_ACCESS_LOCAL_WRITE);
	if (!w->recv_mr)
		die("registering receive buffers");
	for (i = 0; i < w->slots; i++)
		post_receive(w, i);
}

void world_join(struct world *w, uint32_t addressing, uint32_t depth,
		uint32_t message_size, uint64_t verbs_ops, uint32_t uet_ops)
{
	*w = (struct world) {
		.rank = env_number("UET_RANK", UINT32_MAX - 1),
		.size = env_number("UET_SIZE", UINT32_MAX),
		.depth = depth,
		.slot_size = message_size ? message_size : 1,
	};
	errno = 0;
	if (w->rank >= w->size)
		die("UET_RANK is not below UET_SIZE");
	/* everybody may arrive at the next barrier while messages wait */
	w->slots = w->size + depth;

	open_device(w);
	import_job(w);
	create_cq(w);
	create_qp(w, addressing, verbs_ops, uet_ops);
	make_slots(w);
	world_barrier(w);
}

void world_leave(struct world *w)
{
	world_barrier(w);
	errno = ibv_destroy_qp(w->qp);
	if (errno)
		die("destroying the QP");
	if (ibv_destroy_cq(ibv_cq_ex_to_cq(w->cq)) ||
	    ibv_destroy_comp_channel(w->channel) || ibv_dereg_mr(w->recv_mr))
		die("tearing down");
	errno = uetdv_destroy_jkey(w->jkey);
	if (!errno)
		errno = uetdv_dealloc_job(w->job);
	if (errno)
		die("leaving the job");
	if (ibv_dealloc_pd(w->pd) || ibv_close_device(w->ctx))
		die("closing the device");
	free(w->recv_buf);
	free(w->queue);
}

/* ------------------------------------------------------------------ */
/* Completions                                                         */

static void take_request(struct world *w)
{
	w->in_flight--;
	if (w->cq->status == IBV_WC_SUCCESS)
		return;
	if (w->cq->wr_id == WR_MAY_BE_REFUSED &&
	    w->cq->status == IBV_WC_REM_INV_REQ_ERR) {
		w->refused = true;
		return;
	}
	errno = 0;
	die("rank %u: a request failed: %s (vendor error 0x%x)", w->rank,
	    ibv_wc_status_str(w->cq->status), ibv_wc_read_vendor_err(w->cq));
}

static void take_message(struct world *w)
{
	uint64_t imm = be64toh(uetdv_wc_read_imm64(w->cq));
	uint32_t slot = w->cq->wr_id;
	struct message *msg;

	errno = 0;
	if (uetdv_wc_read_job_id(w->cq) != w->job->id)
		die("a message of job %u", uetdv_wc_read_job_id(w->cq));
	switch (imm >> 32) {
	case KIND_ARRIVE:
		w->arrived++;
		post_receive(w, slot);
		break;
	case KIND_GO:
		w->go = imm;
		post_receive(w, slot);
		break;
	case KIND_MESSAGE:
		msg = &w->queue[w->queue_tail++ % w->slots];
		msg->from = uetdv_wc_read_src_id(w->cq);
		msg->value = imm;
		msg->len = ibv_wc_read_byte_len(w->cq);
		msg->data = w->recv_buf + (size_t)slot * w->slot_size;
		msg->slot = slot;
		break;
	default:
		die("a message of unknown kind from %u",
		    uetdv_wc_read_src_id(w->cq));
	}
}

static bool take_all(struct world *w)
{
	struct ibv_poll_cq_attr attr = {};
	int ret;

	ret = ibv_start_poll(w->cq, &attr);
	if (ret == ENOENT)
		return false;
	while (!ret) {
		if (w->cq->status != IBV_WC_SUCCESS ||
		    !(ibv_wc_read_opcode(w->cq) & IBV_WC_RECV))
			take_request(w);
		else
			take_message(w);
		ret = ibv_next_poll(w->cq);
	}
	ibv_end_poll(w->cq);
	return true;
}

/* Sleep until there are completions; they are looked for once more after arming. */
static void sleep_for_event(struct world *w)
{
	struct pollfd fd = { .fd = w->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&fd, 1, WAIT_MS) != 1) {
		errno = 0;
		die("rank %u: nothing happened in %u s", w->rank,
		    WAIT_MS / 1000);
	}
	if (ibv_get_cq_event(w->channel, &cq, &context))
		die("completion event");
	ibv_ack_cq_events(cq, 1);
}

/* At least one completion. */
static void progress(struct world *w)
{
	int i;

	for (i = 0; i < SPINS; i++)
		if (take_all(w))
			return;
	errno = ibv_req_notify_cq(ibv_cq_ex_to_cq(w->cq), 0);
	if (errno)
		die("arming the CQ");
	if (!take_all(w)) {
		sleep_for_event(w);
		take_all(w);
	}
}

void world_wait(struct world *w, uint32_t in_flight)
{
	while (w->in_flight > in_flight)
		progress(w);
}

/* ------------------------------------------------------------------ */
/* Messages                                                            */

static void post_message(struct world *w, uint32_t to, enum kind kind,
			 uint32_t value, const void *data, uint32_t len,
			 uint32_t lkey, enum wr wr_id)
{
	ibv_wr_start(w->qpx);
	w->qpx->wr_id = wr_id;
	w->qpx->wr_flags = 0;
	uetdv_wr_send_imm64(w->dvx, htobe64((uint64_t)kind << 32 | value));
	uetdv_wr_set_job_addr(w->dvx, to, 0);
	if (len)
		ibv_wr_set_sge(w->qpx, lkey, (uintptr_t)data, len);
	errno = ibv_wr_complete(w->qpx);
	if (errno)
		die("posting to rank %u", to);
	w->in_flight++;
}

void world_send(struct world *w, uint32_t to, uint32_t value, const void *data,
		uint32_t len, uint32_t lkey)
{
	world_wait(w, w->depth - 1);
	post_message(w, to, KIND_MESSAGE, value, data, len, lkey, WR_PLAIN);
}

void world_receive(struct world *w, struct message *msg)
{
	while (w->queue_head == w->queue_tail)
		progress(w);
	*msg = w->queue[w->queue_head++ % w->slots];
}

void world_release(struct world *w, const struct message *msg)
{
	post_receive(w, msg->slot);
}

/* Rank 0 may not have joined yet, which nobody tells: ask it again. */
static void arrive(struct world *w)
{
	double end = now() + WAIT_MS / 1000.0;

	do {
		if (w->refused)
			poll(NULL, 0, RETRY_MS);
		w->refused = false;
		post_message(w, 0, KIND_ARRIVE, w->epoch, NULL, 0, 0,
			     w->epoch == 1 ? WR_MAY_BE_REFUSED : WR_PLAIN);
		world_wait(w, 0);
	} while (w->refused && now() < end);
	errno = 0;
	if (w->refused)
		die("rank %u: rank 0 did not come in %u s", w->rank,
		    WAIT_MS / 1000);
}

/* Who arrives at a barrier has seen the end of the one before. */
void world_barrier(struct world *w)
{
	uint32_t i;

	world_wait(w, 0);
	w->epoch++;
	if (w->rank) {
		arrive(w);
		while (w->go != w->epoch)
			progress(w);
		return;
	}
	while (w->arrived < w->size - 1)
		progress(w);
	w->arrived -= w->size - 1;
	for (i = 1; i < w->size; i++)
		post_message(w, i, KIND_GO, w->epoch, NULL, 0, 0, WR_PLAIN);
	world_wait(w, 0);
}
