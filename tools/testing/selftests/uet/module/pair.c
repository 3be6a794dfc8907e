// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Two RC QPs connected to each other by hand, and requests that are waited for.
 */
#include <linux/delay.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "uet_test.h"

static void kv_op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kv_op *op = container_of(wc->wr_cqe, struct kv_op, cqe);

	op->wc = *wc;
	complete(&op->done);
}

void kv_op_init(struct kv_op *op)
{
	op->cqe.done = kv_op_done;
	init_completion(&op->done);
}

/* The first address of IPv4; to be given back. */
static const struct ib_gid_attr *kv_gid(struct ib_device *dev)
{
	const struct ib_gid_attr *attr;
	int i;

	for (i = 0; i < dev->port_data[KV_PORT].immutable.gid_tbl_len; i++) {
		attr = rdma_get_gid_attr(dev, KV_PORT, i);
		if (IS_ERR(attr))
			continue;
		if (attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
		    ipv6_addr_v4mapped((struct in6_addr *)attr->gid.raw))
			return attr;
		rdma_put_gid_attr(attr);
	}
	kv_say("%s has no address\n", dev_name(&dev->dev));
	return ERR_PTR(-ENODEV);
}

static int kv_ah_attr(struct kv_side *s, struct rdma_ah_attr *ah)
{
	const struct ib_gid_attr *own, *other;
	int err;

	own = kv_gid(s->dev);
	if (IS_ERR(own))
		return PTR_ERR(own);
	other = kv_gid(s->peer->dev);
	if (IS_ERR(other)) {
		rdma_put_gid_attr(own);
		return PTR_ERR(other);
	}
	ah->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(ah, KV_PORT);
	rdma_ah_set_grh(ah, (union ib_gid *)&other->gid, 0, own->index, 64, 0);
	err = rdma_read_gid_l2_fields(other, NULL, ah->roce.dmac);
	rdma_put_gid_attr(own);
	rdma_put_gid_attr(other);
	return err;
}

static int kv_to_init(struct kv_side *s)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = KV_PORT,
		.qp_access_flags = IB_ACCESS_REMOTE_READ |
				   IB_ACCESS_REMOTE_WRITE |
				   IB_ACCESS_REMOTE_ATOMIC,
	};

	return ib_modify_qp(s->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			    IB_QP_PORT | IB_QP_ACCESS_FLAGS);
}

static int kv_to_rtr(struct kv_side *s)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = s->peer->qp->qp_num,
		.max_dest_rd_atomic = 16,
		.min_rnr_timer = 1,
	};
	int err = kv_ah_attr(s, &attr.ah_attr);

	return err ?: ib_modify_qp(s->qp, &attr, IB_QP_STATE | IB_QP_AV |
				   IB_QP_PATH_MTU | IB_QP_DEST_QPN |
				   IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
				   IB_QP_MIN_RNR_TIMER);
}

static int kv_to_rts(struct kv_side *s)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 16,
	};

	return ib_modify_qp(s->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN |
			    IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			    IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC);
}

static int kv_pair_connect(struct kv_pair *p)
{
	static int (*const step[])(struct kv_side *s) = {
		kv_to_init, kv_to_rtr, kv_to_rts,
	};
	int i, err;

	for (i = 0; i < ARRAY_SIZE(step); i++) {
		err = step[i](&p->side[0]) ?: step[i](&p->side[1]);
		if (err) {
			kv_say("connecting, step %d: %d\n", i, err);
			return err;
		}
	}
	return 0;
}

/* As new; nothing that was posted may be waited for any more. */
int kv_pair_reconnect(struct kv_pair *p)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };
	int err;

	err = ib_modify_qp(p->side[0].qp, &attr, IB_QP_STATE) ?:
	      ib_modify_qp(p->side[1].qp, &attr, IB_QP_STATE);
	return err ?: kv_pair_connect(p);
}

/* As a user does that has no help of ib_core. Context: that of the device. */
static void kv_cq_handler(struct ib_cq *cq, void *context)
{
	struct ib_wc wc;

	do {
		while (ib_poll_cq(cq, 1, &wc) > 0)
			wc.wr_cqe->done(cq, &wc);
	} while (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP |
				  IB_CQ_REPORT_MISSED_EVENTS) > 0);
}

static struct ib_cq *kv_cq_create(struct kv_side *s, int cqe)
{
	struct ib_cq_init_attr attr = { .cqe = cqe };
	struct ib_cq *cq = ib_create_cq(s->dev, kv_cq_handler, NULL, s, &attr);

	if (!IS_ERR(cq))
		ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	return cq;
}

static int kv_srq_up(struct kv_side *s, const struct kv_conf *conf)
{
	struct ib_srq_init_attr init = {
		.srq_type = IB_SRQT_BASIC,
		.attr = { .max_wr = conf->wrs, .max_sge = conf->sges },
	};

	s->srq = ib_create_srq(s->pd, &init);
	if (IS_ERR(s->srq)) {
		int err = PTR_ERR(s->srq);

		s->srq = NULL;
		return err;
	}
	return 0;
}

static int kv_qp_up(struct kv_side *s, const struct kv_conf *conf)
{
	/* One more on each queue for ib_drain_qp(). */
	struct ib_qp_init_attr init = {
		.send_cq = s->cq,
		.recv_cq = s->cq,
		.srq = s->srq,
		.cap = {
			.max_send_wr = conf->wrs + 1,
			.max_recv_wr = conf->wrs + 1,
			.max_send_sge = conf->sges,
			.max_recv_sge = conf->sges,
			.max_inline_data = conf->inline_data,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};

	s->qp = ib_create_qp(s->pd, &init);
	if (IS_ERR(s->qp)) {
		int err = PTR_ERR(s->qp);

		s->qp = NULL;
		return err;
	}
	return 0;
}

static int kv_side_up(struct kv_side *s, const struct kv_conf *conf)
{
	int err;

	s->pd = ib_alloc_pd(s->dev, 0);
	if (IS_ERR(s->pd)) {
		err = PTR_ERR(s->pd);
		s->pd = NULL;
		return err;
	}
	s->own_handler = conf->own_handler;
	if (s->own_handler)
		s->cq = kv_cq_create(s, 2 * conf->wrs + 2);
	else
		s->cq = ib_alloc_cq(s->dev, s, 2 * conf->wrs + 2, 0,
				    conf->poll);
	if (IS_ERR(s->cq)) {
		err = PTR_ERR(s->cq);
		s->cq = NULL;
		return err;
	}
	err = conf->srq ? kv_srq_up(s, conf) : 0;
	return err ?: kv_qp_up(s, conf);
}

/* Whose memory it is, too: nothing completes any more afterwards. */
static void kv_side_stop(struct kv_side *s)
{
	if (s->qp)
		ib_destroy_qp(s->qp);
	if (s->cq && s->own_handler)
		ib_destroy_cq(s->cq);
	else if (s->cq)
		ib_free_cq(s->cq);
	s->qp = NULL;
	s->cq = NULL;
}

void kv_pair_down(struct kv_pair *p)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(p->side); i++)
		kv_side_stop(&p->side[i]);
	for (i = 0; i < ARRAY_SIZE(p->side); i++) {
		struct kv_side *s = &p->side[i];

		if (s->srq)
			ib_destroy_srq(s->srq);
		if (s->pd)
			ib_dealloc_pd(s->pd);
		s->srq = NULL;
		s->pd = NULL;
	}
}

/* To be taken down by kv_pair_down() also if it fails. */
int kv_pair_up(struct kv_pair *p, const struct kv_args *args,
	       const struct kv_conf *conf)
{
	int i, err;

	memset(p, 0, sizeof(*p));
	for (i = 0; i < ARRAY_SIZE(p->side); i++) {
		struct kv_side *s = &p->side[i];

		if (!args->dev[i]) {
			kv_say("there is no such device\n");
			return -ENODEV;
		}
		s->dev = args->dev[i];
		s->peer = &p->side[!i];
		kv_op_init(&s->send);
		kv_op_init(&s->recv);
	}
	for (i = 0; i < ARRAY_SIZE(p->side); i++) {
		err = kv_side_up(&p->side[i], conf);
		if (err) {
			kv_say("making a QP: %d\n", err);
			return err;
		}
	}
	return kv_pair_connect(p);
}

/*
 * Post requests, of which the last is waited for by kv_sent() or kv_do(); one
 * that fails before counts for it.
 */
int kv_post(struct kv_side *s, struct ib_send_wr *wr)
{
	struct ib_send_wr *each;

	if (!s->qp)
		return -ENODEV;
	reinit_completion(&s->send.done);
	for (each = wr; each; each = each->next) {
		each->wr_cqe = &s->send.cqe;
		if (!each->next)
			each->send_flags |= IB_SEND_SIGNALED;
	}
	return ib_post_send(s->qp, wr, NULL);
}

static bool kv_op_wait(struct kv_side *s, struct kv_op *op)
{
	unsigned long end = jiffies + KV_PATIENCE;

	if (s->cq->poll_ctx != IB_POLL_DIRECT)
		return wait_for_completion_timeout(&op->done, KV_PATIENCE);
	while (time_before(jiffies, end)) {
		ib_process_cq_direct(s->cq, -1);
		if (try_wait_for_completion(&op->done))
			return true;
		usleep_range(20, 50);
	}
	return false;
}

/* A pair on which something does not end is of no use any more. */
static int kv_op_end(struct kv_side *s, struct kv_op *op, const char *what,
		     enum ib_wc_status want)
{
	if (!s->qp)
		return -ENODEV;
	if (!kv_op_wait(s, op)) {
		kv_say("%s: does not complete\n", what);
		kv_side_stop(s);
		return -ETIMEDOUT;
	}
	if (op->wc.status == want)
		return 0;
	kv_say("%s: %s instead of %s\n", what, ib_wc_status_msg(op->wc.status),
	       ib_wc_status_msg(want));
	return -EIO;
}

int kv_sent(struct kv_side *s, const char *what, enum ib_wc_status want)
{
	return kv_op_end(s, &s->send, what, want);
}

int kv_do(struct kv_side *s, struct ib_send_wr *wr, const char *what,
	  enum ib_wc_status want)
{
	int err = kv_post(s, wr);

	if (err) {
		kv_say("%s: posting: %d\n", what, err);
		return err;
	}
	return kv_sent(s, what, want);
}

int kv_post_recv(struct kv_side *s, struct ib_sge *sge, int nr)
{
	struct ib_recv_wr wr = {
		.wr_cqe = &s->recv.cqe,
		.sg_list = sge,
		.num_sge = nr,
	};

	if (!s->qp)
		return -ENODEV;
	reinit_completion(&s->recv.done);
	return s->srq ? ib_post_srq_recv(s->srq, &wr, NULL) :
			ib_post_recv(s->qp, &wr, NULL);
}

int kv_received(struct kv_side *s, const char *what, enum ib_wc_status want)
{
	return kv_op_end(s, &s->recv, what, want);
}

int kv_qp_to_error(struct kv_side *s)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	return s->qp ? ib_modify_qp(s->qp, &attr, IB_QP_STATE) : -ENODEV;
}
