/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A process of a job that uet_job_launch started: it joins the job, has one
 * QP that reaches every rank, and waits for the others. Errors end the
 * program.
 */
#ifndef WORLD_H
#define WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/uetdv.h>
#include <infiniband/verbs.h>

/**
 * struct message - what a peer sent
 * @from: its rank
 * @value: what it said
 * @len: bytes of @data
 * @data: payload, until world_release()
 * @slot: receive buffer
 */
struct message {
	uint32_t from;
	uint32_t value;
	uint32_t len;
	const uint8_t *data;
	uint32_t slot;
};

/**
 * struct world - this process and its job
 * @rank: which process of the job this is
 * @size: processes of the job
 * @depth: most requests in flight
 * @ctx: device
 * @pd: protection domain, with a job key
 * @qpx: for ibv_wr_*()
 * @dvx: for uetdv_wr_*()
 * @in_flight: requests that have not completed
 *
 * The rest is private.
 */
struct world {
	uint32_t rank;
	uint32_t size;
	uint32_t depth;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_qp_ex *qpx;
	struct uetdv_qp_ex *dvx;
	uint32_t in_flight;

	struct uetdv_job *job;
	struct uetdv_jkey *jkey;
	struct ibv_comp_channel *channel;
	struct ibv_cq_ex *cq;
	struct ibv_qp *qp;
	struct ibv_mr *recv_mr;
	uint8_t *recv_buf;
	uint32_t slots;
	uint32_t slot_size;
	struct message *queue;
	uint32_t queue_head;
	uint32_t queue_tail;
	uint32_t epoch;
	uint32_t arrived;
	uint32_t go;
	bool refused;
};

/**
 * world_join - become a process of the job
 * @w: filled in
 * @addressing: UETDV_ADDR_*; absolute takes CAP_NET_RAW, and the device has the
 *	numbers of such a QP once, for all jobs
 * @depth: most requests in flight
 * @message_size: longest message, bytes
 * @verbs_ops: IBV_QP_EX_WITH_* that the program posts
 * @uet_ops: enum uetdv_send_ops, the same
 */
void world_join(struct world *w, uint32_t addressing, uint32_t depth,
		uint32_t message_size, uint64_t verbs_ops, uint32_t uet_ops);
void world_leave(struct world *w);

/* Until all have called it as often. */
void world_barrier(struct world *w);

/* A message of @len bytes, registered as @lkey; @value goes with it. */
void world_send(struct world *w, uint32_t to, uint32_t value, const void *data,
		uint32_t len, uint32_t lkey);
void world_receive(struct world *w, struct message *msg);
void world_release(struct world *w, const struct message *msg);

/* Until at most so many requests are in flight. */
void world_wait(struct world *w, uint32_t in_flight);

/* Ends the program, with errno's text if it is not 0. */
__attribute__((noreturn, format(printf, 1, 2)))
void die(const char *format, ...);

uint32_t number_of(const char *text, uint32_t least, uint32_t most);
double now(void);

#endif /* WORLD_H */
