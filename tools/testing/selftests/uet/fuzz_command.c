// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Commands with fields, handles and lengths of which some are nonsense */
#include "fuzz.h"

#include <sys/ioctl.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

struct pool pools[KINDS];
struct ring rings[24];
unsigned int n_rings;
__u32 lonely_qpn[3];
static __u32 lonely[3];		/* RC, UC, UD: a QP without a partner */
static __u32 keys[32], n_keys;

/* ------------------------------------------------------------------ */
/* Values                                                              */

__u32 odd_value(void)
{
	static const __u32 values[] = {
		0, 1, 2, 3, 4, 7, 8, 15, 16, 64, 255, 256, 4095, 4096, 65535,
		65536, 1 << 20, 1 << 24, 1 << 28, 1 << 30, INT32_MAX, 1u << 31,
		UINT32_MAX - 1, UINT32_MAX,
	};

	return below(3) ? values[below(ARRAY_SIZE(values))] : rnd();
}

__u32 handle(enum kind kind)
{
	struct pool *p = &pools[kind];

	if (!below(20))
		return odd_value();
	if (!below(20))
		p = &pools[below(KINDS)];
	return p->n ? p->handle[below(p->n)] : 0;
}

static void keep(enum kind kind, __u32 h)
{
	struct pool *p = &pools[kind];

	if (p->n < ARRAY_SIZE(p->handle))
		p->handle[p->n++] = h;
	else
		p->handle[below(p->n)] = h;
	tally->made[kind]++;
}

__u32 key(void)
{
	return n_keys && below(16) ? keys[below(n_keys)] : odd_value();
}

static void keep_key(__u32 value)
{
	if (n_keys < ARRAY_SIZE(keys))
		keys[n_keys++] = value;
	else
		keys[below(n_keys)] = value;
}

__u64 address(void)
{
	return (uintptr_t)mem + below(MEM_SIZE / 2);
}

/* Bytes of a command or of an entry are replaced by others. */
void spoil(void *data, size_t from, size_t to)
{
	unsigned int n = 1 + below(3);

	while (n-- && to >= from + 4) {
		__u8 *at = (__u8 *)data + from + below(to - from - 3);
		__u32 value = odd_value();

		if (below(2))
			memcpy(at, &value, 4);
		else
			*at = value;
	}
}

/* ------------------------------------------------------------------ */
/* Commands                                                            */

static void put(struct cmd *c, const void *data, size_t len)
{
	if (c->len + len > sizeof(c->data))
		return;
	memcpy(c->data + c->len, data, len);
	c->len += len;
}

void put32(struct cmd *c, __u32 value)
{
	put(c, &value, 4);
}

void put64(struct cmd *c, __u64 value)
{
	put(c, &value, 8);
}

static void put8(struct cmd *c, __u8 value)
{
	put(c, &value, 1);
}

static void put_group(struct cmd *c)
{
	union ibv_gid group = {
		.raw = { [10] = 0xff, [11] = 0xff, 239, 1, 1, below(8) },
	};

	put(c, &group, sizeof(group));
}

static void put_ah_attr(struct cmd *c)
{
	struct ib_uverbs_ah_attr attr = {
		.grh = { .sgid_index = gid_index[me], .hop_limit = 64 },
		.is_global = 1, .port_num = 1,
	};

	memcpy(attr.grh.dgid, &gid[below(2)], 16);
	put(c, &attr, sizeof(attr));
}

static __u8 qp_type(struct cmd *c)
{
	static const __u8 types[] = { 2, 2, 2, 3, 4, 4, 0xff, 9 };

	c->qp_type = below(30) ? types[below(ARRAY_SIZE(types))] : rnd();
	return c->qp_type;
}

/* One field of struct cmd_form.fields; they are described there. */
static void put_field(struct cmd *c, char field)
{
	switch (field) {
	case 'r':
		put64(c, below(40) ? (uintptr_t)answer : odd_value());
		break;
	case 'u':
		put64(c, (__u64)rnd() << 32 | rnd());
		break;
	case 'a':
		c->address = address();
		put64(c, c->address);
		break;
	case 'v':
		put64(c, c->address + (__u64)below(2) * PAGE);
		break;
	case 'l':
		put64(c, 1 + below(MEM_SIZE / 2));
		break;
	case 'P':
		put32(c, handle(PD));
		break;
	case 'C':
		put32(c, handle(CQ));
		break;
	case 'Q':
		put32(c, handle(QP));
		break;
	case 'S':
		put32(c, handle(SRQ));
		break;
	case 'M':
		put32(c, handle(MR));
		break;
	case 'W':
		put32(c, handle(MW));
		break;
	case 'A':
		put32(c, handle(AH));
		break;
	case 'c':
		put32(c, pools[CHANNEL].n && below(2) ? handle(CHANNEL) :
							UINT32_MAX);
		break;
	case 'f':
		put32(c, below(8) ? 0x1f : rnd());
		break;
	case 'd':
		put32(c, 1 + below(64));
		break;
	case 's':
		put32(c, 1 + below(4));
		break;
	case 'x':
		put32(c, below(16));
		break;
	case '.':
		put32(c, 0);
		break;
	case ',':
		put8(c, 0);
		break;
	case 'b':
		put8(c, below(3));
		break;
	case 'q':
		put8(c, qp_type(c));
		break;
	case 'z':
		put8(c, c->qp_type == 9 || !below(8));
		break;
	case 'D':
		put32(c, c->qp_type == 0xff);
		break;
	case 'g':
		put_group(c);
		break;
	case 'h':
		put_ah_attr(c);
		break;
	}
}

static const struct cmd_form forms[] = {
	{ IB_USER_VERBS_CMD_QUERY_DEVICE, "r", NOTHING },
	{ IB_USER_VERBS_CMD_QUERY_PORT, "rb,,,.", NOTHING },
	{ IB_USER_VERBS_CMD_ALLOC_PD, "r", PD },
	{ IB_USER_VERBS_CMD_DEALLOC_PD, "P", NOTHING, .kills = true },
	{ IB_USER_VERBS_CMD_REG_MR, "ralvPf", MR },
	{ IB_USER_VERBS_CMD_REG_MR, "ralvPf", MR },
	{ IB_USER_VERBS_CMD_REREG_MR, "rMxalvPf", NOTHING },
	{ IB_USER_VERBS_CMD_DEREG_MR, "M", NOTHING, .kills = true },
	{ IB_USER_VERBS_CMD_ALLOC_MW, "rPb,,,", MW },
	{ IB_USER_VERBS_CMD_DEALLOC_MW, "W", NOTHING, .kills = true },
	{ IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, "r", CHANNEL },
	{ IB_USER_VERBS_CMD_CREATE_CQ, "rud.c.", CQ },
	{ IB_USER_VERBS_CMD_RESIZE_CQ, "rCd", NOTHING },
	{ IB_USER_VERBS_CMD_POLL_CQ, "rCx", NOTHING },
	{ IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, "Cx", NOTHING },
	{ IB_USER_VERBS_CMD_DESTROY_CQ, "rC.", NOTHING, .kills = true },
	{ IB_USER_VERBS_CMD_CREATE_QP, "ruPCCSddssdbqz,.D..", QP },
	{ IB_USER_VERBS_CMD_CREATE_QP, "ruPCCSddssdbqz,.D..", QP },
	{ IB_USER_VERBS_CMD_CREATE_QP, "ruPCCSddssdbqz,.D..", QP },
	{ IB_USER_VERBS_CMD_QUERY_QP, "rQx", NOTHING },
	{ IB_USER_VERBS_CMD_DESTROY_QP, "rQ.", NOTHING, .kills = true },
	{ IB_USER_VERBS_CMD_POST_SEND, "rQ..d", NOTHING },
	{ IB_USER_VERBS_CMD_POST_RECV, "rQ..d", NOTHING },
	{ IB_USER_VERBS_CMD_POST_SRQ_RECV, "rS..d", NOTHING },
	{ IB_USER_VERBS_CMD_CREATE_AH, "ruP.h", AH },
	{ IB_USER_VERBS_CMD_DESTROY_AH, "A", NOTHING, .kills = true },
	{ IB_USER_VERBS_CMD_ATTACH_MCAST, "gQ.", NOTHING },
	{ IB_USER_VERBS_CMD_DETACH_MCAST, "gQ.", NOTHING },
	{ IB_USER_VERBS_CMD_CREATE_SRQ, "ruPds.", SRQ },
	{ IB_USER_VERBS_CMD_MODIFY_SRQ, "Sxdx..r", NOTHING },
	{ IB_USER_VERBS_CMD_QUERY_SRQ, "rS.", NOTHING },
	{ IB_USER_VERBS_CMD_DESTROY_SRQ, "rS.", NOTHING, .kills = true },
};

static int write_cmd(struct cmd *c)
{
	struct ib_uverbs_cmd_hdr *hdr = (void *)c->data;

	hdr->command = c->number;
	hdr->in_words = c->len / 4;
	hdr->out_words = below(30) ? 64 : below(70);
	return write(ctx->cmd_fd, c->data, c->len) == (ssize_t)c->len ? 0 : -1;
}

/* The same command as attributes of an ioctl */
static int ioctl_cmd(struct cmd *c)
{
	size_t len = c->len - sizeof(struct ib_uverbs_cmd_hdr);
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[3];
	} io = {
		.hdr = {
			.length = sizeof(io), .object_id = UVERBS_OBJECT_DEVICE,
			.method_id = UVERBS_METHOD_INVOKE_WRITE,
			.num_attrs = 3,
		},
		.attr = {
			{ .attr_id = UVERBS_ATTR_CORE_IN, .len = len,
			  .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = (uintptr_t)c->data + c->len - len },
			{ .attr_id = UVERBS_ATTR_CORE_OUT, .len = 256,
			  .data = (uintptr_t)answer },
			{ .attr_id = UVERBS_ATTR_WRITE_CMD, .len = 0,
			  .flags = UVERBS_ATTR_F_MANDATORY,
			  .attr_data.enum_data.elem_id = c->number },
		},
	};

	if (len <= sizeof(__u64))
		memcpy(&io.attr[0].data, c->data + c->len - len, len);
	if (!below(10))
		spoil(&io, 0, sizeof(io));
	return ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, &io);
}

static void map_ring(const struct uet_ring_info *info, enum ring_kind kind,
		     __u32 object)
{
	struct ring *r = &rings[n_rings % ARRAY_SIZE(rings)];

	if (!info->depth)
		return;
	if (n_rings >= ARRAY_SIZE(rings))
		munmap(r->hdr, r->size);
	r->hdr = mmap(NULL, info->mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      ctx->cmd_fd, info->mmap_offset);
	if (r->hdr == MAP_FAILED) {
		n_rings = n_rings < ARRAY_SIZE(rings) ? n_rings : 0;
		return;
	}
	r->size = info->mmap_size;
	r->depth = info->depth;
	r->stride = info->stride;
	r->kind = kind;
	r->object = object;
	n_rings++;
}

int command(struct cmd *c, bool by_ioctl)
{
	tally->calls++;
	return by_ioctl ? ioctl_cmd(c) : write_cmd(c);
}

static void connect_qp(__u32 object, __u32 type, __u32 peer);

/* What a command that makes something answered */
static void take_answer(const struct cmd *c, enum kind kind)
{
	struct {
		struct ib_uverbs_create_cq_resp core;
		struct uet_create_cq_resp uet;
	} *cq = (void *)answer;
	struct {
		struct ib_uverbs_create_qp_resp core;
		struct uet_create_qp_resp uet;
	} *qp = (void *)answer;
	struct {
		struct ib_uverbs_create_srq_resp core;
		struct uet_create_srq_resp uet;
	} *srq = (void *)answer;
	const __u32 *words = (void *)answer;
	__u32 made = words[0];

	keep(kind, made);
	switch (kind) {
	case CQ:
		map_ring(&cq->uet.cq, CQ_RING, made);
		break;
	case QP:
		map_ring(&qp->uet.sq, SQ_RING, made);
		map_ring(&qp->uet.rq, RQ_RING, made);
		connect_qp(made, c->qp_type, qp->core.qpn);
		break;
	case SRQ:
		map_ring(&srq->uet.rq, RQ_RING, made);
		break;
	case MR:
		keep_key(words[1]);
		keep_key(words[2]);
		break;
	case MW:
		keep_key(words[1]);
		break;
	default:
		break;
	}
}

static void give_command(const struct cmd_form *form, bool by_ioctl, bool right)
{
	struct cmd c = { .number = form->number, .len = 8 };
	const char *field;

	for (field = form->fields; *field; field++)
		put_field(&c, *field);
	if (!right && !below(4))
		spoil(c.data, 16, c.len);
	if (!right && !below(30))
		c.len = 8 + 4 * below(60);
	memset(answer, 0, 256);
	if (command(&c, by_ioctl))
		return;
	tally->succeeded++;
	if (form->makes != NOTHING)
		take_answer(&c, form->makes);
}

void random_command(bool by_ioctl)
{
	const struct cmd_form *form = &forms[below(ARRAY_SIZE(forms))];

	if (!form->kills || !below(4))
		give_command(form, by_ioctl, false);
}

/* Something to begin with: one of each, as long as the dice do not spoil it. */
void first_commands(void)
{
	static const enum kind order[] = { PD, CHANNEL, CQ, SRQ, MR, MW, AH, QP };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		for (j = 0; j < ARRAY_SIZE(forms); j++)
			if (forms[j].makes == order[i])
				give_command(&forms[j], false, true);
}

/* ------------------------------------------------------------------ */
/* States of QPs                                                       */

static const int masks[3][3] = {	/* INIT, RTR, RTS of RC, UC, UD */
	{ IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS,
	  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
	  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
	  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC },
	{ IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS,
	  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
	  IBV_QP_RQ_PSN,
	  IBV_QP_STATE | IBV_QP_SQ_PSN },
	{ IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY,
	  IBV_QP_STATE, IBV_QP_STATE | IBV_QP_SQ_PSN },
};

static void modify(__u32 object, __u8 state, int mask, __u32 peer, bool right)
{
	struct ib_uverbs_modify_qp m = {
		.dest = {
			.sgid_index = gid_index[me], .hop_limit = 64,
			.is_global = 1, .port_num = 1,
		},
		.qp_handle = object, .attr_mask = mask, .qkey = QKEY,
		.dest_qp_num = peer, .qp_access_flags = 0xf,
		.qp_state = state, .path_mtu = 3, .max_rd_atomic = 4,
		.max_dest_rd_atomic = 4, .min_rnr_timer = 1, .port_num = 1,
		.timeout = 10, .retry_cnt = 2, .rnr_retry = 2,
	};
	struct cmd c = { .number = IB_USER_VERBS_CMD_MODIFY_QP, .len = 8 };

	memcpy(m.dest.dgid, &gid[right ? me : below(2)], 16);
	put(&c, &m, sizeof(m));
	if (!right && below(2))
		spoil(c.data, 8, c.len);
	tally->succeeded += !command(&c, false);
}

static void to_rts(__u32 object, unsigned int type, __u32 peer)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		modify(object, IBV_QPS_INIT + i, masks[type][i], peer, true);
}

/* A new QP: connected to the last one of its type that is alone, on this device */
static void connect_qp(__u32 object, __u32 qp_type, __u32 qpn)
{
	unsigned int type = qp_type - 2;

	if (type > 2)
		return;
	if (type == 2) {
		to_rts(object, type, 0);
		lonely_qpn[2] = qpn;
	} else if (lonely[type]) {
		to_rts(object, type, lonely_qpn[type]);
		to_rts(lonely[type], type, qpn);
		lonely[type] = 0;
	} else {
		lonely[type] = object;
		lonely_qpn[type] = qpn;
	}
}

void random_modify(void)
{
	int type = below(3), step = below(3);

	modify(handle(QP), below(2) ? (__u32)IBV_QPS_INIT + step : below(8),
	       below(2) ? masks[type][step] : (int)odd_value(),
	       lonely_qpn[below(3)], false);
}

/* ------------------------------------------------------------------ */
/* Other ioctls                                                        */

void random_ioctl(void)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[10];
	} io = {
		.hdr = { .object_id = below(20), .method_id = below(9) },
	};
	unsigned int i, n = below(11);

	/* mostly the attributes of a method in their order */
	for (i = 0; i < n; i++) {
		struct ib_uverbs_attr *a = &io.attr[i];

		a->attr_id = below(8) ? i : 0x1000 + below(3);
		a->len = below(2) ? 4 : below(2) ? 8 : below(200);
		a->flags = below(20) ? 1 : rnd();
		a->attr_data.enum_data.elem_id = below(8);
		if (a->len > 8 || below(4) == 0)
			a->data = (uintptr_t)(below(2) ? answer : mem);
		else
			a->data = below(2) ? handle(below(KINDS)) : odd_value();
	}
	io.hdr.num_attrs = n;
	io.hdr.length = sizeof(io.hdr) + n * sizeof(io.attr[0]);
	if (!below(6))
		spoil(&io, 0, io.hdr.length);
	tally->calls++;
	tally->succeeded += !ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, &io);
}
