// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Wrong input: rings mapped in odd ways, and filled with nonsense */
#include "badinput.h"
#include "figures.h"

#include <pthread.h>

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

void t_mmap(void)
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

/*
 * An index beyond what the ring holds is counted once, in the send ring (0) when the
 * doorbell is rung, in the receive ring (1) when a message comes.
 */
static void counts_doorbell(int ring)
{
	static const struct uet_create_qp_req ok;
	const struct conn c = { .depth = 4, .sge = 1 };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_qp *peer = qp_create(&B, IBV_QPT_RC, &c);
	__u64 before = port_counter(dev_a, "bad_doorbell"), start;
	struct raw_ring r;
	struct raw_qp qp;
	struct ibv_wc wc;

	errno = raw_create_qp(&A, IB_QPT_RC_, A.pd->handle, A.cq->handle, &ok,
			      sizeof(ok), &qp);
	if (errno)
		die("create_qp by hand");
	ring_map(&A, &r, ring ? &qp.uet.rq : &qp.uet.sq);
	qp_connect(&B, peer, &A, qp.qpn, &c);
	rts_raw(&qp, peer->qp_num);
	__atomic_store_n(&r.hdr->prod, r.depth + 1, __ATOMIC_RELEASE);
	if (ring)
		errno = ibv_post_send(peer, &wr, &bad);
	else
		errno = raw_doorbell(&A, qp.handle);
	if (errno)
		die("doorbell");
	start = now_ns();
	while (port_counter(dev_a, "bad_doorbell") == before)
		if (now_ns() - start > wait_s * 1000000000ull)
			die("nothing was counted");
	/* Its sender is told that nobody is there any more. */
	if (ring) {
		next(&B, &wc);
		if (wc.status == IBV_WC_SUCCESS)
			die("the message was taken");
	}
	/* No other word of this ring is believed. */
	__atomic_store_n(&r.hdr->prod, r.depth + 2, __ATOMIC_RELEASE);
	raw_doorbell(&A, qp.handle);
	munmap(r.hdr, r.size);
	errno = raw_destroy(&A, IB_USER_VERBS_CMD_DESTROY_QP, qp.handle);
	if (errno)
		die("destroy_qp by hand");
	if (ibv_destroy_qp(peer))
		die("destroy_qp");
	expect("bad_doorbell", port_counter(dev_a, "bad_doorbell"), before + 1);
}

void t_rings(void)
{
	unsigned int i;

	doing = "an impossible index in a send ring";
	counts_doorbell(0);
	doing = "an impossible index in a receive ring";
	counts_doorbell(1);
	doing = "rings with nonsense in them";
	for (i = 0; i < rounds; i++)
		ring_round(false);
}

void t_scribble(void)
{
	unsigned int i;

	doing = "rings written by another thread while posting";
	for (i = 0; i < rounds; i++)
		ring_round(true);
}
