/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A user of RDMA devices in the kernel, as NVMe over Fabrics and others are
 * ones. Each test makes connected QPs of its own on two devices, or on one
 * that it is given twice.
 */
#ifndef UET_TEST_H
#define UET_TEST_H

#include <linux/completion.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

#include "compat.h"

#define KV_PORT		1
/* What memory holds that nothing was written to. */
#define KV_FILL		0xa5
#define KV_PATIENCE	(60 * HZ)

/* One request at a time that somebody waits for. */
struct kv_op {
	struct ib_cqe cqe;
	struct completion done;
	struct ib_wc wc;
};

/* How QPs and CQs are made. */
struct kv_conf {
	enum ib_poll_context poll;
	u32 wrs;
	u32 sges;
	u32 inline_data;
	bool srq;
	bool own_handler;	/* a CQ without ib_alloc_cq() */
};

/**
 * struct kv_side - one end of a connection
 * @dev: device
 * @peer: the other end
 * @pd: protection domain
 * @cq: of both queues
 * @own_handler: the CQ is one of ib_create_cq()
 * @srq: shared receive queue, or NULL
 * @qp: RC QP
 * @send: send request of kv_post()
 * @recv: receive request of kv_post_recv()
 */
struct kv_side {
	struct ib_device *dev;
	struct kv_side *peer;
	struct ib_pd *pd;
	struct ib_cq *cq;
	bool own_handler;
	struct ib_srq *srq;
	struct ib_qp *qp;
	struct kv_op send;
	struct kv_op recv;
};

struct kv_pair {
	struct kv_side side[2];
};

/**
 * struct kv_region - pages, in no order, and a region for fast registration
 * @side: whose it is
 * @nr: pages
 * @page: these
 * @sgt: an entry for each
 * @mapped: entries that ib_dma_map_sg() made
 * @mr: region
 */
struct kv_region {
	struct kv_side *side;
	u32 nr;
	struct page **page;
	struct sg_table sgt;
	int mapped;
	struct ib_mr *mr;
};

/* Which devices, and how much of it. */
struct kv_args {
	struct ib_device *dev[2];
	u32 rounds;
};

/* main.c */
__printf(1, 2) void kv_say(const char *fmt, ...);
int kv_want(const char *what, s64 got, s64 want);

/* pair.c */
void kv_op_init(struct kv_op *op);
int kv_pair_up(struct kv_pair *p, const struct kv_args *args,
	       const struct kv_conf *conf);
int kv_pair_reconnect(struct kv_pair *p);
void kv_pair_down(struct kv_pair *p);
int kv_post(struct kv_side *s, struct ib_send_wr *wr);
int kv_sent(struct kv_side *s, const char *what, enum ib_wc_status want);
int kv_do(struct kv_side *s, struct ib_send_wr *wr, const char *what,
	  enum ib_wc_status want);
int kv_post_recv(struct kv_side *s, struct ib_sge *sge, int nr);
int kv_received(struct kv_side *s, const char *what, enum ib_wc_status want);
int kv_qp_to_error(struct kv_side *s);

/* region.c */
int kv_region_up(struct kv_region *r, struct kv_side *s, u32 nr);
void kv_region_down(struct kv_region *r);
int kv_region_map(struct kv_region *r);
struct ib_reg_wr kv_region_wr(struct kv_region *r, int access);
int kv_region_register(struct kv_region *r, int access);
int kv_region_invalidate(struct kv_region *r);
void kv_region_write(struct kv_region *r, u32 off, const void *from, u32 len);
void kv_region_read(struct kv_region *r, u32 off, void *to, u32 len);
void kv_region_fill(struct kv_region *r, u32 off, u32 len);
bool kv_region_is_filled(struct kv_region *r);

/* The tests */
int kv_sges(const struct kv_args *args);
int kv_sges_bad(const struct kv_args *args);
int kv_chains(const struct kv_args *args);
int kv_frwr_limit(const struct kv_args *args);
int kv_frwr_keys(const struct kv_args *args);
int kv_frwr_rights(const struct kv_args *args);
int kv_frwr_next(const struct kv_args *args);
int kv_drain(const struct kv_args *args);
int kv_drain_srq(const struct kv_args *args);
int kv_contexts(const struct kv_args *args);
int kv_traffic_start(const struct kv_args *args);
int kv_traffic_runs(const struct kv_args *args);
int kv_traffic_ended(const struct kv_args *args);
void kv_traffic_stop(const struct ib_device *dev);

#endif /* UET_TEST_H */
