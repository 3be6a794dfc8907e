// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* What the C tests share, see lib.h */
#include "lib.h"

unsigned int wait_s = 20;
bool busy_poll;
const char *doing = "start";
__u64 rnd_state = 1;
__u8 *noise;
size_t noise_len;

void say_failed(void)
{
	fflush(stdout);
	fprintf(stderr, "FAIL: %s: ", doing);
}

void say_errno(int err)
{
	if (err)
		fprintf(stderr, " (errno %d, %s)", err, strerror(err));
	fprintf(stderr, "\n");
}

__u32 rnd(void)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return rnd_state >> 16;
}

__u32 below(__u32 n)
{
	return n ? rnd() % n : 0;
}

__u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

void parse_gid(const char *text, union ibv_gid *gid)
{
	struct in_addr v4;

	memset(gid, 0, sizeof(*gid));
	if (inet_pton(AF_INET, text, &v4) == 1) {
		gid->raw[10] = 0xff;
		gid->raw[11] = 0xff;
		memcpy(gid->raw + 12, &v4, 4);
	} else if (inet_pton(AF_INET6, text, gid->raw) != 1) {
		die("bad address %s", text);
	}
}

int find_gid(struct ibv_context *ctx, const union ibv_gid *gid)
{
	struct ibv_gid_entry table[256];
	ssize_t n, i;

	n = ibv_query_gid_table(ctx, table, ARRAY_SIZE(table), 0);
	for (i = 0; i < n; i++)
		if (!memcmp(&table[i].gid, gid, sizeof(*gid)) &&
		    table[i].gid_type == IBV_GID_TYPE_ROCE_V2)
			return table[i].gid_index;
	return -1;
}

struct ibv_context *open_device(const char *name)
{
	struct ibv_context *ctx = NULL;
	struct ibv_device **list;
	int i, n;

	list = ibv_get_device_list(&n);
	for (i = 0; list && i < n; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	if (!ctx)
		die("cannot open device %s", name);
	return ctx;
}

void side_open(struct side *s, const char *name, const char *address,
	       size_t mem, int cqe)
{
	memset(s, 0, sizeof(*s));
	s->name = name;
	s->ctx = open_device(name);
	errno = 0;
	if (ibv_query_device(s->ctx, &s->attr) ||
	    ibv_query_port(s->ctx, 1, &s->port))
		die("query %s", name);
	parse_gid(address, &s->gid);
	s->gid_index = find_gid(s->ctx, &s->gid);
	if (s->gid_index < 0)
		die("no RoCE v2 GID %s on %s", address, name);
	s->pd = ibv_alloc_pd(s->ctx);
	s->channel = ibv_create_comp_channel(s->ctx);
	if (!s->pd || !s->channel)
		die("PD or channel of %s", name);
	if (cqe > s->attr.max_cqe)
		cqe = s->attr.max_cqe;
	s->cq = ibv_create_cq(s->ctx, cqe, NULL, s->channel, 0);
	if (!s->cq)
		die("CQ of %s", name);
	fcntl(s->channel->fd, F_SETFL, O_NONBLOCK);
	if (!mem)
		return;
	s->size = mem;
	s->mem = mmap(NULL, mem, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->mem == MAP_FAILED)
		die("%zu bytes", mem);
	s->mr = ibv_reg_mr(s->pd, s->mem, mem, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	if (!s->mr)
		die("MR of %s", name);
}

void side_close(struct side *s)
{
	if (s->mr && ibv_dereg_mr(s->mr))
		die("dereg_mr of %s", s->name);
	if (s->events)
		ibv_ack_cq_events(s->cq, s->events);
	if (ibv_destroy_cq(s->cq) || ibv_destroy_comp_channel(s->channel) ||
	    ibv_dealloc_pd(s->pd) || ibv_close_device(s->ctx))
		die("close %s", s->name);
	if (s->mem)
		munmap(s->mem, s->size);
}

bool arm(struct side *s, struct ibv_wc *wc)
{
	int ret = ibv_req_notify_cq(s->cq, 0);

	if (ret == EIO)		/* the device was taken away */
		return false;
	if (ret)
		die("req_notify_cq of %s: %d", s->name, ret);
	return ibv_poll_cq(s->cq, 1, wc) > 0;
}

bool event_came(struct side *s, unsigned int ms)
{
	struct pollfd p = { .fd = s->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&p, 1, ms) <= 0)
		return false;
	if (ibv_get_cq_event(s->channel, &cq, &context)) {
		if (errno == EIO)	/* the device was taken away */
			return false;
		die("get_cq_event of %s", s->name);
	}
	s->events++;
	if (cq != s->cq)
		die("event of %s names another CQ", s->name);
	return true;
}

struct side *take_any(struct side *x, struct side *y, struct ibv_wc *wc,
		      unsigned int ms)
{
	struct side *side[2] = { x, y };
	__u64 end = now_ns() + ms * 1000000ull;
	struct pollfd p[2];
	int i, n = y ? 2 : 1, found;

	for (;;) {
		for (i = 0; i < n; i++) {
			found = ibv_poll_cq(side[i]->cq, 1, wc);
			if (found < 0)
				die("poll_cq of %s", side[i]->name);
			if (found)
				return side[i];
		}
		if (now_ns() >= end)
			return NULL;
		if (busy_poll)
			continue;
		for (i = 0; i < n; i++) {
			if (arm(side[i], wc))
				return side[i];
			p[i].fd = side[i]->channel->fd;
			p[i].events = POLLIN;
		}
		if (poll(p, n, (end - now_ns()) / 1000000 + 1) <= 0)
			continue;
		for (i = 0; i < n; i++)
			if (p[i].revents)
				event_came(side[i], 0);
	}
}

bool try_next(struct side *s, struct ibv_wc *wc, unsigned int ms)
{
	return take_any(s, NULL, wc, ms);
}

void next(struct side *s, struct ibv_wc *wc)
{
	errno = 0;
	if (!try_next(s, wc, wait_s * 1000))
		die("no completion on %s in %u s", s->name, wait_s);
}

void none_left(struct side *s)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(s->cq, 1, &wc))
		die("one completion too many on %s: wr_id %llx status %s opcode %d",
		    s->name, (unsigned long long)wc.wr_id,
		    ibv_wc_status_str(wc.status), wc.opcode);
}

void expect_status(const struct ibv_wc *wc, enum ibv_wc_status want)
{
	errno = 0;
	if (wc->status != want)
		die("completion %llx: status %s (vendor %#x), not %s",
		    (unsigned long long)wc->wr_id,
		    ibv_wc_status_str(wc->status), wc->vendor_err,
		    ibv_wc_status_str(want));
}

__u32 side_sge(const struct side *s)
{
	return s->attr.max_sge < MAX_SGE ? s->attr.max_sge : MAX_SGE;
}

struct ibv_qp *qp_create(struct side *s, enum ibv_qp_type type,
			 const struct conn *c)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_context = s,
		.send_cq = c->cq ? c->cq : s->cq,
		.recv_cq = c->cq ? c->cq : s->cq,
		.srq = c->srq,
		.cap = {
			.max_send_wr = c->depth ? c->depth : 64,
			.max_recv_wr = c->depth ? c->depth : 64,
			.max_send_sge = c->sge ? c->sge : side_sge(s),
			.max_recv_sge = c->sge ? c->sge : side_sge(s),
			.max_inline_data = c->inline_data,
		},
		.qp_type = type,
		.sq_sig_all = c->sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = c->pd ? c->pd : s->pd,
	};
	struct ibv_qp *qp;

	if (c->wr_api) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.send_ops_flags = IBV_QP_EX_WITH_SEND |
			IBV_QP_EX_WITH_SEND_WITH_IMM;
		if (type != IBV_QPT_UD)
			attr.send_ops_flags |= IBV_QP_EX_WITH_RDMA_WRITE |
				IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
		if (type == IBV_QPT_RC)
			attr.send_ops_flags |= IBV_QP_EX_WITH_RDMA_READ;
		attr.send_ops_flags |= c->more_ops;
	}
	errno = 0;
	qp = ibv_create_qp_ex(s->ctx, &attr);
	if (!qp && c->wr_api && (errno == EOPNOTSUPP || errno == EINVAL))
		skip("no ibv_wr_*() here");
	if (!qp)
		die("create_qp on %s", s->name);
	return qp;
}

static int or_default(int value, int zero)
{
	return value < 0 ? 0 : value ? value : zero;
}

int qp_init(struct ibv_qp *qp, const struct conn *c)
{
	bool ud = qp->qp_type == IBV_QPT_UD;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = QKEY,
		.qp_access_flags = or_default(c->access,
					      IBV_ACCESS_LOCAL_WRITE |
					      IBV_ACCESS_REMOTE_WRITE |
					      IBV_ACCESS_REMOTE_READ),
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			     IBV_QP_PORT |
			     (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

void ah_attr(const struct side *s, const union ibv_gid *peer,
	     struct ibv_ah_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->is_global = 1;
	attr->grh.dgid = *peer;
	attr->grh.sgid_index = s->gid_index;
	attr->grh.hop_limit = 64;
	attr->port_num = 1;
}

struct ibv_ah *ah_to(struct side *s, const struct side *peer)
{
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;

	ah_attr(s, &peer->gid, &attr);
	ah = ibv_create_ah(s->pd, &attr);
	if (!ah)
		die("create_ah on %s", s->name);
	return ah;
}

static __u8 rd_atomic(const struct side *s)
{
	int n = s->attr.max_qp_rd_atom < s->attr.max_qp_init_rd_atom ?
		s->attr.max_qp_rd_atom : s->attr.max_qp_init_rd_atom;

	return n > 16 ? 16 : n;
}

int qp_rtr(struct side *s, struct ibv_qp *qp, const union ibv_gid *peer,
	   __u32 peer_qpn, const struct conn *c)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = c->path_mtu ? c->path_mtu : (int)s->port.active_mtu,
		.dest_qp_num = peer_qpn,
		.rq_psn = peer_qpn & 0xffff,
		.max_dest_rd_atomic = rd_atomic(s),
		.min_rnr_timer = or_default(c->min_rnr, 1),
	};

	if (qp->qp_type == IBV_QPT_UD)
		return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	ah_attr(s, peer, &attr.ah_attr);
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			     IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN |
			     (qp->qp_type == IBV_QPT_UC ? 0 :
			      IBV_QP_MAX_DEST_RD_ATOMIC |
			      IBV_QP_MIN_RNR_TIMER));
}

int qp_rts(struct side *s, struct ibv_qp *qp, const struct conn *c)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = or_default(c->timeout, 16),
		.retry_cnt = or_default(c->retry, 7),
		.rnr_retry = or_default(c->rnr_retry, 7),
		.sq_psn = qp->qp_num & 0xffff,
		.max_rd_atomic = rd_atomic(s),
	};

	if (qp->qp_type != IBV_QPT_RC)
		return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

void qp_connect(struct side *s, struct ibv_qp *qp, struct side *peer,
		__u32 peer_qpn, const struct conn *c)
{
	errno = 0;
	if (qp_init(qp, c))
		die("%s to INIT", s->name);
	if (qp_rtr(s, qp, &peer->gid, peer_qpn, c))
		die("%s to RTR", s->name);
	if (qp_rts(s, qp, c))
		die("%s to RTS", s->name);
}

void pair_open_as(struct side *a, const struct conn *ca, struct side *b,
		  const struct conn *cb, struct pair *p)
{
	p->a = qp_create(a, ca->type ? ca->type : IBV_QPT_RC, ca);
	p->b = qp_create(b, cb->type ? cb->type : IBV_QPT_RC, cb);
	qp_connect(a, p->a, b, p->b->qp_num, ca);
	qp_connect(b, p->b, a, p->a->qp_num, cb);
}

void pair_open(struct side *a, struct side *b, struct pair *p,
	       const struct conn *c)
{
	pair_open_as(a, c, b, c, p);
}

void pair_close(struct pair *p)
{
	errno = 0;
	if (ibv_destroy_qp(p->a) || ibv_destroy_qp(p->b))
		die("destroy_qp");
}

struct ibv_qp_attr qp_now(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(qp, &attr, IBV_QP_STATE, &init))
		die("query_qp");
	return attr;
}

enum ibv_qp_state qp_state(struct ibv_qp *qp)
{
	return qp_now(qp).qp_state;
}

void to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	if (errno)
		die("to state %d", state);
}

bool some_came(const __u8 *mem, size_t len)
{
	for (size_t at = 0; at < len; at += 256)
		if (READ_ONCE(mem[at]))
			return true;
	return false;
}

void sgl_cut(struct side *s, struct sgl *l, size_t from, size_t len, int n)
{
	size_t pos = from, left = len, part;
	__u32 back;
	int i;

	if (n > MAX_SGE)
		n = MAX_SGE;
	if (len && (size_t)n > len)
		n = len;
	l->n = n;
	l->len = len;
	l->from = from;
	for (i = 0; i < n; i++) {
		part = left / (n - i);
		if (i < n - 1 && part > 1)
			part = part / 2 + 1 + below(part / 2);
		if (i == n - 1)
			part = left;
		back = part > 1 ? part - 1 : PAGE - 1;
		back = 1 + below(back < PAGE - 1 ? back : PAGE - 1);
		pos = (pos + PAGE) / PAGE * PAGE + PAGE - back;
		l->sge[i].addr = (uintptr_t)s->mem + pos;
		l->sge[i].length = part;
		l->sge[i].lkey = s->mr->lkey;
		pos += part;
		left -= part;
	}
	pos = (pos + PAGE) / PAGE * PAGE;
	l->span = pos - from;
	if (pos > s->size)
		die("memory of %s is too small: %zu", s->name, pos);
}

void noise_init(size_t len)
{
	size_t i;

	noise_len = len + 65536;
	noise = malloc(noise_len + 8);
	if (!noise)
		die("noise");
	for (i = 0; i < noise_len; i += 4) {
		__u32 v = rnd();

		memcpy(noise + i, &v, 4);
	}
}

const __u8 *sgl_fill(struct side *s, struct sgl *l)
{
	const __u8 *data = noise + below(noise_len - l->len);
	size_t done = 0;
	int i;

	memset(s->mem + l->from, GUARD, l->span);
	for (i = 0; i < l->n; i++) {
		memcpy((void *)(uintptr_t)l->sge[i].addr, data + done,
		       l->sge[i].length);
		done += l->sge[i].length;
	}
	return data;
}

void sgl_check(struct side *s, const struct sgl *l, const __u8 *data,
	       size_t len)
{
	static __u8 *want;
	static size_t want_len;
	size_t done = 0, part, i;
	const __u8 *have = s->mem + l->from;
	int n;

	if (want_len < l->span) {
		free(want);
		want_len = l->span;
		want = malloc(want_len);
		if (!want)
			die("%zu bytes", want_len);
	}
	memset(want, GUARD, l->span);
	for (n = 0; n < l->n && done < len; n++) {
		part = l->sge[n].length;
		if (part > len - done)
			part = len - done;
		memcpy(want + (l->sge[n].addr - (uintptr_t)have), data + done,
		       part);
		done += part;
	}
	errno = 0;
	if (done != len)
		die("%zu bytes were to be checked, the list has %zu", len, done);
	if (!memcmp(want, have, l->span))
		return;
	for (i = 0; want[i] == have[i]; i++)
		;
	for (n = 0; n < l->n; n++)
		fprintf(stderr, "# piece %d: offset %#zx, %u bytes\n", n,
			(size_t)(l->sge[n].addr - (uintptr_t)have),
			l->sge[n].length);
	die("%s: byte at offset %#zx of the part is %02x, not %02x (%s)",
	    s->name, i, have[i], want[i],
	    want[i] == GUARD ? "guard byte or not yet written" : "data");
}
