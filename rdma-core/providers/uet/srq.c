// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Shared receive queues. Posted to in post.c. */

#include <errno.h>
#include <stdlib.h>

#include <ccan/minmax.h>

#include "uet.h"
#include "uet_cmd.h"

/* Take over a ring of the kernel's; the old one, if any, is done with. */
static int take_ring(struct uet_srq *srq, int fd,
		     const struct uet_ring_info *info)
{
	struct uet_map ring;
	int ret;

	ret = uet_map_ring(&ring, fd, info, sizeof(struct uet_recv_wqe));
	if (ret)
		return ret;

	uet_unmap_ring(&srq->rq.ring);
	srq->rq.ring = ring;
	srq->rq.cons = uet_load_cons(&ring);
	srq->rq.prod = uet_load_prod(&ring);
	return 0;
}

static int create_and_map(struct ibv_pd *pd, struct uet_srq *srq,
			  struct ibv_srq_init_attr *attr)
{
	struct uetcmd_create_srq_resp resp = {};
	struct ibv_create_srq cmd = {};
	uint32_t room;
	int ret;

	ret = ibv_cmd_create_srq(pd, &srq->vsrq.srq, attr, &cmd, sizeof(cmd),
				 &resp.ibv_resp, sizeof(resp));
	if (ret)
		return ret;

	ret = take_ring(srq, pd->context->cmd_fd, &resp.rq);
	if (ret) {
		ibv_cmd_destroy_srq(&srq->vsrq.srq);
		return ret;
	}

	srq->vsrq.srq_num = resp.srq_num;
	room = srq->rq.ring.stride - sizeof(struct uet_recv_wqe);
	srq->rq.max_sge = min_t(uint32_t, attr->attr.max_sge,
				room / sizeof(struct uet_wqe_sge));
	return 0;
}

struct ibv_srq *uet_create_srq(struct ibv_pd *pd,
			       struct ibv_srq_init_attr *attr)
{
	struct uet_srq *srq;
	int ret;

	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;

	srq->vsrq.srq_type = IBV_SRQT_BASIC;
	ret = create_and_map(pd, srq, attr);
	if (ret) {
		free(srq);
		errno = ret;
		return NULL;
	}
	srq->domain = uet_domain_get(pd);
	uet_lock_init(&srq->rq.lock, uet_is_single_threaded(pd->context, pd));
	return &srq->vsrq.srq;
}

/*
 * The kernel moves what is posted to a new ring and tells where that is. If it
 * cannot be mapped the SRQ is of no more use, so that every post fails.
 */
int uet_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	struct uet_modify_srq_resp resp = {};
	struct uet_srq *srq = to_usrq(ibsrq);
	struct uetcmd_modify_srq cmd = {};
	int ret;

	if (!(mask & IBV_SRQ_MAX_WR))
		return ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd.ibv_cmd,
					  sizeof(cmd));

	cmd.resp_addr = (uintptr_t)&resp;
	uet_lock(&srq->rq.lock);
	ret = ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd.ibv_cmd, sizeof(cmd));
	if (!ret) {
		ret = take_ring(srq, ibsrq->context->cmd_fd, &resp.rq);
		if (ret)
			uet_unmap_ring(&srq->rq.ring);
	}
	uet_unlock(&srq->rq.lock);
	return ret;
}

int uet_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd;

	return ibv_cmd_query_srq(ibsrq, attr, &cmd, sizeof(cmd));
}

int uet_get_srq_num(struct ibv_srq *ibsrq, uint32_t *srq_num)
{
	*srq_num = to_usrq(ibsrq)->vsrq.srq_num;
	return 0;
}

int uet_destroy_srq(struct ibv_srq *ibsrq)
{
	struct uet_srq *srq = to_usrq(ibsrq);
	int ret;

	ret = ibv_cmd_destroy_srq(ibsrq);
	if (ret)
		return ret;

	uet_unmap_ring(&srq->rq.ring);
	uet_lock_destroy(&srq->rq.lock);
	uet_domain_put(srq->domain);
	free(srq);
	return 0;
}
