// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Work requests in rings that are scribbled on */
#include "fuzz.h"

#include <rdma/ib_user_verbs.h>

static void *entry(const struct ring *r, __u32 index)
{
	return (__u8 *)r->hdr + UET_RING_HDR +
	       (size_t)(index & (r->depth - 1)) * r->stride;
}

static void fill_sges(struct uet_wqe_sge *sge, unsigned int n)
{
	while (n--) {
		sge->addr = address();
		sge->length = below(3) ? below(3000) : below(MEM_SIZE / 4);
		sge->lkey = key();
		sge++;
	}
}

static void fill_send(const struct ring *r, struct uet_send_wqe *wqe)
{
	unsigned int most = (r->stride - sizeof(*wqe)) / 16;
	unsigned int n = below(most + 1);

	memset(wqe, 0, r->stride);
	wqe->opcode = below(12);
	wqe->flags = below(16);
	if (wqe->flags & UET_WQE_INLINE) {
		wqe->inline_len = below(16 * most + 1);
	} else {
		wqe->num_sge = n;
		fill_sges((void *)(wqe + 1), n);
	}
	wqe->ah = 1 + below(40);
	wqe->dest_qpn = lonely_qpn[2];
	wqe->qkey = QKEY;
	wqe->rkey = key();
	wqe->remote_addr = address();
	wqe->compare_add = below(5000);
	wqe->swap = below(16);
	if (wqe->opcode == UET_WQE_BIND_MW)
		wqe->mr_lkey = key();
	if (!below(3))
		spoil(wqe, 0, r->stride);
}

static void fill_recv(const struct ring *r, struct uet_recv_wqe *wqe)
{
	unsigned int n = below((r->stride - sizeof(*wqe)) / 16 + 1);

	memset(wqe, 0, r->stride);
	wqe->num_sge = n;
	fill_sges((void *)(wqe + 1), n);
	if (!below(6))
		spoil(wqe, 0, r->stride);
}

static void doorbell(const struct ring *r)
{
	struct cmd c = { .number = r->kind == SQ_RING ?
			 IB_USER_VERBS_CMD_POST_SEND :
			 IB_USER_VERBS_CMD_POST_RECV, .len = 8 };

	put64(&c, (uintptr_t)answer);
	put32(&c, r->object);
	put32(&c, 0);
	put32(&c, 0);
	put32(&c, r->kind == SQ_RING ? sizeof(struct ib_uverbs_send_wr) :
				       sizeof(struct ib_uverbs_recv_wr));
	tally->succeeded += !command(&c, false);
}

/* Some entries, mostly good ones, and the word that they are there */
void random_work(void)
{
	struct ring *r;
	unsigned int n = below(4);
	__u32 prod;

	if (!n_rings)
		return;
	r = &rings[below(n_rings < ARRAY_SIZE(rings) ? n_rings :
			 ARRAY_SIZE(rings))];
	if (r->kind == CQ_RING) {
		prod = __atomic_load_n(&r->hdr->prod, __ATOMIC_ACQUIRE);
		tally->completions += prod - r->hdr->cons < r->depth ?
				      prod - r->hdr->cons : 0;
		WRITE_ONCE(r->hdr->cons, below(40) ? prod : odd_value());
		if (!below(20))
			spoil(r->hdr, 0, r->size);
		return;
	}
	prod = r->hdr->prod;
	while (n--) {
		if (r->kind == SQ_RING)
			fill_send(r, entry(r, prod++));
		else
			fill_recv(r, entry(r, prod++));
	}
	if (!below(60))
		prod = odd_value();
	__atomic_store_n(&r->hdr->prod, prod, __ATOMIC_RELEASE);
	if (!below(60))
		spoil(r->hdr, 0, UET_RING_HDR);
	doorbell(r);
}

void random_mmap(void)
{
	__u64 offset = (__u64)below(64) << 12;
	size_t size = PAGE << below(4);
	void *at;

	if (!below(4))
		offset = ((__u64)rnd() << 32 | rnd()) & ~0xfffull;
	at = mmap(NULL, size, below(8), below(4) ? MAP_SHARED : MAP_PRIVATE,
		  ctx->cmd_fd, offset);
	tally->calls++;
	if (at == MAP_FAILED)
		return;
	tally->succeeded++;
	mprotect(at, PAGE, below(8));
	munmap(at, size);
}
