// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* uet job peers: where the peers of a job are, by rank. */
#include <linux/genetlink.h>
#include <rdma/uet_netlink.h>
#include <stdio.h>
#include <stdlib.h>

#include "uet.h"

static const struct nl_word words[UET_A_JOB_PEERS_MAX + 1] = {
	[UET_A_JOB_PEERS_DEV_NAME]	= { "dev",	NL_STRING },
	[UET_A_JOB_PEERS_JOB_ID]	= { "id",	NL_NUMBER },
	[UET_A_JOB_PEERS_PEER]		= { "index",	NL_NEST },
	[UET_A_JOB_PEERS_FIRST]		= { "index",	NL_NUMBER },
	[UET_A_JOB_PEERS_COUNT]		= { "count",	NL_NUMBER },
};

static const struct nl_words peers_words = { words, ARRAY_SIZE(words) };

/* The most that an entry takes in a request. */
#define PEER_ROOM	128

static int print_help(struct args *a)
{
	(void)a;
	puts("Usage: uet job peers show dev DEV id JOBID\n"
	     "       uet job peers set dev DEV id JOBID PEER\n"
	     "       uet job peers load dev DEV id JOBID file FILE\n"
	     "       uet job peers del dev DEV id JOBID index INDEX [ count NUMBER ]\n"
	     "       uet job peers help\n"
	     "where  PEER := index INDEX addr ADDRESS qpn QPN [ gid-index INDEX ]\n"
	     "               [ tclass NUMBER ] [ hop-limit NUMBER ]\n"
	     "       FILE := { name | - }, one PEER a line");
	return RET_OK;
}

/* ---- show ---- */

static void print_peer(const struct nlattr *nest, const struct nlattr **job)
{
	const struct nlattr *tb[UET_A_PEER_MAX + 1] = { NULL };
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest)
		if (mnl_attr_get_type(attr) < ARRAY_SIZE(tb))
			tb[mnl_attr_get_type(attr)] = attr;

	out_item();
	/* in text the very line that "load" takes */
	out_text("index %llu", (unsigned long long)nl_uint(tb[UET_A_PEER_INDEX]));
	out_str("dev", NULL, nl_str(job[UET_A_JOB_PEERS_DEV_NAME]));
	out_uint("id", NULL, nl_uint(job[UET_A_JOB_PEERS_JOB_ID]));
	out_uint("index", NULL, nl_uint(tb[UET_A_PEER_INDEX]));
	out_str("addr", "addr", nl_addr(tb[UET_A_PEER_ADDR]));
	out_uint("qpn", "qpn", nl_uint(tb[UET_A_PEER_QPN]));
	if (tb[UET_A_PEER_SGID_INDEX])
		out_uint("gid_index", "gid-index", nl_uint(tb[UET_A_PEER_SGID_INDEX]));
	if (tb[UET_A_PEER_TCLASS])
		out_uint("tclass", "tclass", nl_uint(tb[UET_A_PEER_TCLASS]));
	if (tb[UET_A_PEER_HOP_LIMIT])
		out_uint("hop_limit", "hop-limit", nl_uint(tb[UET_A_PEER_HOP_LIMIT]));
	out_item_end();
}

static void print_peers(const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[UET_A_JOB_PEERS_MAX + 1];
	const struct nlattr *attr;

	nl_parse(nlh, tb, ARRAY_SIZE(tb));
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == UET_A_JOB_PEERS_PEER)
			print_peer(attr, tb);
}

/* A job, and a peer of it. */
static const struct field set_fields[] = {
	{ .word = "dev", .kind = F_DEV, .attr = UET_A_JOB_PEERS_DEV_NAME, .need = true },
	{ .word = "id", .kind = F_NUMBER, .attr = UET_A_JOB_PEERS_JOB_ID, .need = true },
	{ .word = "index", .kind = F_NUMBER, .attr = UET_A_PEER_INDEX, .need = true },
	{ .word = "addr", .kind = F_ADDRESS, .attr = UET_A_PEER_ADDR, .need = true },
	{ .word = "qpn", .kind = F_NUMBER, .attr = UET_A_PEER_QPN, .need = true },
	{ .word = "gid-index", .kind = F_NUMBER, .attr = UET_A_PEER_SGID_INDEX },
	{ .word = "tclass", .kind = F_SMALL, .attr = UET_A_PEER_TCLASS },
	{ .word = "hop-limit", .kind = F_SMALL, .attr = UET_A_PEER_HOP_LIMIT },
};

#define JOB_FIELDS	2
#define PEER_FIELDS	(ARRAY_SIZE(set_fields) - JOB_FIELDS)

static const struct field *const job_fields = set_fields;
static const struct field *const peer_fields = set_fields + JOB_FIELDS;

static int show(struct args *a)
{
	struct value v[JOB_FIELDS];
	struct nlmsghdr *nlh;
	int ret;

	if (arg_is_help(a))
		return print_help(a);
	if (fields_read("job peers ", a, job_fields, JOB_FIELDS, v))
		return RET_USAGE;
	ret = nl_begin(UET_CMD_PEER_GET, NLM_F_DUMP, &nlh);
	if (ret)
		return ret;
	fields_put(nlh, job_fields, JOB_FIELDS, v);
	out_begin();
	ret = nl_talk(nlh, &peers_words, print_peers);
	out_end(ret);
	return ret;
}

/* ---- set, load ---- */

static void put_peer(struct nlmsghdr *nlh, const struct value *v)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, UET_A_JOB_PEERS_PEER);

	fields_put(nlh, peer_fields, PEER_FIELDS, v);
	mnl_attr_nest_end(nlh, nest);
}

static int set(struct args *a)
{
	struct value v[ARRAY_SIZE(set_fields)];
	struct nlmsghdr *nlh;
	int ret;

	if (arg_is_help(a))
		return print_help(a);
	if (fields_read("job peers ", a, set_fields, ARRAY_SIZE(set_fields), v))
		return RET_USAGE;
	ret = nl_begin(UET_CMD_PEER_SET, NLM_F_ACK, &nlh);
	if (ret)
		return ret;
	fields_put(nlh, job_fields, JOB_FIELDS, v);
	put_peer(nlh, v + JOB_FIELDS);
	return nl_talk(nlh, &peers_words, NULL);
}

struct peer {
	struct value v[PEER_FIELDS];
};

/**
 * struct table - a table that was read
 * @peers: its entries
 * @count: how many
 * @room: for how many there is memory
 */
struct table {
	struct peer *peers;
	size_t count;
	size_t room;
};

static struct peer *new_peer(struct table *t)
{
	if (t->count == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->peers = realloc(t->peers, t->room * sizeof(*t->peers));
		if (!t->peers)
			abort();
	}
	return &t->peers[t->count++];
}

static int read_table(const char *name, struct table *t)
{
	struct line line;
	int ret;

	if (opt.stdin_taken && name[0] == '-' && !name[1]) {
		error("file -: standard input is the batch");
		return RET_USAGE;
	}
	if (file_open(name, &line))
		return RET_USAGE;
	while (!(ret = file_line(&line))) {
		ret = fields_read("job peers ", &line.words, peer_fields,
				  PEER_FIELDS, new_peer(t)->v);
		if (ret)
			break;
	}
	if (ret > 0)
		fprintf(stderr, "No peer in %s:%u\n", name, line.number);
	file_close(&line);
	return ret > 0 ? ret : RET_OK;
}

/* As many entries as a request takes, from @first on; the next one. */
static size_t put_some(struct nlmsghdr *nlh, const struct table *t, size_t first)
{
	for (; first < t->count && nl_room(nlh) >= PEER_ROOM; first++)
		put_peer(nlh, t->peers[first].v);
	return first;
}

static int send_table(const struct value *job, const struct table *t)
{
	size_t next = 0;
	struct nlmsghdr *nlh;
	int ret = RET_OK;

	while (!ret && next < t->count) {
		ret = nl_begin(UET_CMD_PEER_SET, NLM_F_ACK, &nlh);
		if (ret)
			break;
		fields_put(nlh, job_fields, JOB_FIELDS, job);
		next = put_some(nlh, t, next);
		ret = nl_talk(nlh, &peers_words, NULL);
	}
	return ret;
}

static int load(struct args *a)
{
	static const struct field fields[] = {
		{ .word = "dev", .kind = F_DEV, .need = true },
		{ .word = "id", .kind = F_NUMBER, .need = true },
		{ .word = "file", .kind = F_TEXT, .need = true },
	};
	struct value v[ARRAY_SIZE(fields)];
	struct table table = { 0 };
	int ret;

	if (arg_is_help(a))
		return print_help(a);
	if (fields_read("job peers ", a, fields, ARRAY_SIZE(fields), v))
		return RET_USAGE;
	/* all of it is read before the first entry is set */
	ret = read_table(v[2].text, &table);
	if (!ret && !table.count) {
		error("there is no peer in \"%s\"", v[2].text);
		ret = RET_USAGE;
	}
	if (!ret)
		ret = send_table(v, &table);
	free(table.peers);
	return ret;
}

/* ---- del ---- */

static int del(struct args *a)
{
	static const struct field fields[] = {
		{ .word = "dev", .kind = F_DEV, .attr = UET_A_JOB_PEERS_DEV_NAME,
		  .need = true },
		{ .word = "id", .kind = F_NUMBER, .attr = UET_A_JOB_PEERS_JOB_ID,
		  .need = true },
		{ .word = "index", .kind = F_NUMBER, .attr = UET_A_JOB_PEERS_FIRST,
		  .need = true },
		{ .word = "count", .kind = F_NUMBER, .attr = UET_A_JOB_PEERS_COUNT },
	};
	struct value v[ARRAY_SIZE(fields)];
	struct nlmsghdr *nlh;
	int ret;

	if (arg_is_help(a))
		return print_help(a);
	if (fields_read("job peers ", a, fields, ARRAY_SIZE(fields), v))
		return RET_USAGE;
	if (!v[3].given) {
		v[3].given = true;
		v[3].number = 1;
	}
	ret = nl_begin(UET_CMD_PEER_DEL, NLM_F_ACK, &nlh);
	if (ret)
		return ret;
	fields_put(nlh, fields, ARRAY_SIZE(fields), v);
	return nl_talk(nlh, &peers_words, NULL);
}

int peers_cmd(struct args *a)
{
	static const struct cmd cmds[] = {
		{ "show",	show },
		{ "list",	show },
		{ "set",	set },
		{ "load",	load },
		{ "del",	del },
		{ "delete",	del },
		{ "help",	print_help },
	};

	return cmd_run("job peers ", cmds, ARRAY_SIZE(cmds), a);
}
