// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* uet job: jobs, and who holds them. */
#include <rdma/uet-abi.h>
#include <rdma/uet_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uet.h"

static const struct nl_word words[UET_A_JOB_MAX + 1] = {
	[UET_A_JOB_DEV_NAME]	= { "dev",		NL_STRING },
	[UET_A_JOB_ID]		= { "id",		NL_NUMBER },
	[UET_A_JOB_UID]		= { "uid",		NL_NUMBER },
	[UET_A_JOB_GID]		= { "gid",		NL_NUMBER },
	[UET_A_JOB_SGID_INDEX]	= { "gid-index",	NL_NUMBER },
	[UET_A_JOB_SKEY_ID]	= { "skey",		NL_NUMBER },
	[UET_A_JOB_PEER_MAX]	= { "peer-max",		NL_NUMBER },
	[UET_A_JOB_JKEY_MAX]	= { "jkey-max",		NL_NUMBER },
};

static const struct nl_words job_words = { words, ARRAY_SIZE(words) };

static const struct nl_word holder_word_list[UET_A_HOLDER_MAX + 1] = {
	[UET_A_HOLDER_DEV_NAME]	= { "dev",	NL_STRING },
	[UET_A_HOLDER_JOB_ID]	= { "id",	NL_NUMBER },
};

static const struct nl_words holder_words = {
	holder_word_list, ARRAY_SIZE(holder_word_list)
};

static int print_help(struct args *a)
{
	(void)a;
	puts("Usage: uet job [ show [ [ dev ] DEV [ id JOBID ] ] ]\n"
	     "       uet job add dev DEV id JOBID [ uid USER ] [ gid GROUP ]\n"
	     "                   [ gid-index INDEX ] [ skey SKEYID ]\n"
	     "                   [ peer-max NUMBER ] [ jkey-max NUMBER ]\n"
	     "       uet job del dev DEV id JOBID [ force ]\n"
	     "       uet job peers { COMMAND | help }\n"
	     "       uet job help\n"
	     "where  JOBID := 1..16777215\n"
	     "       USER := { name | number }\n"
	     "       GROUP := { name | number }");
	return RET_OK;
}

/* ---- holders ---- */

/**
 * struct holder - a handle of a process on a job
 * @dev: index of the device
 * @job: id of the job
 * @pid: process, 0 if it is in another pid namespace
 * @rights: enum uet_right
 * @jkeys: job keys made through it
 * @comm: name of the process
 */
struct holder {
	uint32_t dev;
	uint32_t job;
	uint32_t pid;
	uint32_t rights;
	uint32_t jkeys;
	char comm[32];
};

/* All there are, by rising device and job, and the next one to be printed. */
static struct holder *holders;
static size_t holder_count;
static size_t holder_next;

static void holder_answer(const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[UET_A_HOLDER_MAX + 1];
	struct holder *h;

	holders = realloc(holders, (holder_count + 1) * sizeof(*holders));
	if (!holders)
		abort();
	h = &holders[holder_count++];
	nl_parse(nlh, tb, ARRAY_SIZE(tb));
	h->dev = nl_uint(tb[UET_A_HOLDER_DEV_INDEX]);
	h->job = nl_uint(tb[UET_A_HOLDER_JOB_ID]);
	h->pid = nl_uint(tb[UET_A_HOLDER_PID]);
	h->rights = nl_uint(tb[UET_A_HOLDER_RIGHTS]);
	h->jkeys = nl_uint(tb[UET_A_HOLDER_JKEY_COUNT]);
	snprintf(h->comm, sizeof(h->comm), "%s", nl_str(tb[UET_A_HOLDER_COMM]));
}

static void forget_holders(void)
{
	free(holders);
	holders = NULL;
	holder_count = 0;
	holder_next = 0;
}

static const char *rights_text(uint32_t rights)
{
	static const char *const names[] = { "use", "addr", "export", "rekey" };
	static char text[32];
	size_t i;

	text[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!(rights & 1U << i))
			continue;
		if (text[0])
			strcat(text, ",");
		strcat(text, names[i]);
	}
	return text[0] ? text : "none";
}

static void print_holder(const struct holder *h)
{
	out_entry("holder");
	out_uint("pid", "pid", h->pid);
	out_str("comm", "comm", h->comm);
	if (opt.details) {
		out_str("rights", "rights", rights_text(h->rights));
		out_uint("jkeys", "jkeys", h->jkeys);
	}
	out_entry_end();
}

/* Jobs come in the order of the holders. */
static void print_holders(uint32_t dev, uint32_t job)
{
	const struct holder *h;

	out_list("holders");
	for (; holder_next < holder_count; holder_next++) {
		h = &holders[holder_next];
		if (h->dev > dev || (h->dev == dev && h->job > job))
			return;
		if (h->dev == dev && h->job == job)
			print_holder(h);
	}
}

/* ---- show ---- */

static void print_settings(const struct nlattr **tb)
{
	if (tb[UET_A_JOB_UID])
		out_uint("uid", "uid", nl_uint(tb[UET_A_JOB_UID]));
	if (tb[UET_A_JOB_GID])
		out_uint("gid", "gid", nl_uint(tb[UET_A_JOB_GID]));
	out_uint("gid_index", "gid-index", nl_uint(tb[UET_A_JOB_SGID_INDEX]));
	if (tb[UET_A_JOB_SKEY_ID])
		out_uint("skey", "skey", nl_uint(tb[UET_A_JOB_SKEY_ID]));
	out_uint("peer_max", "peer-max", nl_uint(tb[UET_A_JOB_PEER_MAX]));
	out_uint("jkey_max", "jkey-max", nl_uint(tb[UET_A_JOB_JKEY_MAX]));
}

static void print_job_body(const struct nlattr **tb)
{
	out_text("dev %s", nl_str(tb[UET_A_JOB_DEV_NAME]));
	out_str("dev", NULL, nl_str(tb[UET_A_JOB_DEV_NAME]));
	out_uint("id", "id", nl_uint(tb[UET_A_JOB_ID]));
	print_settings(tb);
	out_flag("persistent", "persistent", tb[UET_A_JOB_PERSISTENT]);
	out_flag("dead", "dead", tb[UET_A_JOB_DEAD]);
	if (opt.stats) {
		out_more();
		out_uint("peer_count", "peers", nl_uint(tb[UET_A_JOB_PEER_COUNT]));
		out_uint("jkey_count", "jkeys", nl_uint(tb[UET_A_JOB_JKEY_COUNT]));
		out_uint("holder_count", "holders",
			 nl_uint(tb[UET_A_JOB_HOLDER_COUNT]));
	}
}

void job_print(const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[UET_A_JOB_MAX + 1];

	nl_parse(nlh, tb, ARRAY_SIZE(tb));
	print_job_body(tb);
}

static void print_job(const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[UET_A_JOB_MAX + 1];

	nl_parse(nlh, tb, ARRAY_SIZE(tb));
	out_item();
	print_job_body(tb);
	print_holders(nl_uint(tb[UET_A_JOB_DEV_INDEX]), nl_uint(tb[UET_A_JOB_ID]));
	out_item_end();
}

static const struct field which[] = {
	{ .word = "dev", .kind = F_DEV, .attr = UET_A_JOB_DEV_NAME, .need = true },
	{ .word = "id", .kind = F_NUMBER, .attr = UET_A_JOB_ID },
};

static int get_holders(const struct value *v)
{
	struct nlmsghdr *nlh;
	int ret = nl_begin(UET_CMD_HOLDER_GET, NLM_F_DUMP, &nlh);

	if (ret)
		return ret;
	if (v[0].given)
		mnl_attr_put_strz(nlh, UET_A_HOLDER_DEV_NAME, v[0].text);
	if (v[1].given)
		mnl_attr_put_u32(nlh, UET_A_HOLDER_JOB_ID, v[1].number);
	return nl_talk(nlh, &holder_words, holder_answer);
}

static int get_jobs(const struct value *v)
{
	struct nlmsghdr *nlh;
	int ret = nl_begin(UET_CMD_JOB_GET, v[1].given ? NLM_F_ACK : NLM_F_DUMP, &nlh);

	if (ret)
		return ret;
	fields_put(nlh, which, ARRAY_SIZE(which), v);
	return nl_talk(nlh, &job_words, print_job);
}

static int show(struct args *a)
{
	struct value v[ARRAY_SIZE(which)] = { 0 };
	int ret;

	if (arg_is_help(a))
		return print_help(a);
	if (a->n && fields_read("job ", a, which, ARRAY_SIZE(which), v))
		return RET_USAGE;

	out_begin();
	ret = get_holders(v) ?: get_jobs(v);
	out_end(ret);
	forget_holders();
	return ret;
}

/* ---- add, del ---- */

static const struct field add_fields[] = {
	{ .word = "dev", .kind = F_DEV, .attr = UET_A_JOB_DEV_NAME, .need = true },
	{ .word = "id", .kind = F_NUMBER, .attr = UET_A_JOB_ID, .need = true },
	{ .word = "uid", .kind = F_USER, .attr = UET_A_JOB_UID },
	{ .word = "gid", .kind = F_GROUP, .attr = UET_A_JOB_GID },
	{ .word = "gid-index", .kind = F_NUMBER, .attr = UET_A_JOB_SGID_INDEX },
	{ .word = "skey", .kind = F_NUMBER, .attr = UET_A_JOB_SKEY_ID },
	{ .word = "peer-max", .kind = F_NUMBER, .attr = UET_A_JOB_PEER_MAX },
	{ .word = "jkey-max", .kind = F_NUMBER, .attr = UET_A_JOB_JKEY_MAX },
};

static const struct field del_fields[] = {
	{ .word = "dev", .kind = F_DEV, .attr = UET_A_JOB_DEV_NAME, .need = true },
	{ .word = "id", .kind = F_NUMBER, .attr = UET_A_JOB_ID, .need = true },
	{ .word = "force", .kind = F_FLAG, .attr = UET_A_JOB_FORCE },
};

/* A request that is made of words and answered by yes or no. */
static int change(struct args *a, uint8_t cmd, const struct field *fields,
		  size_t count)
{
	struct value v[ARRAY_SIZE(add_fields)];
	struct nlmsghdr *nlh;
	int ret;

	if (arg_is_help(a))
		return print_help(a);
	if (fields_read("job ", a, fields, count, v))
		return RET_USAGE;
	ret = nl_begin(cmd, NLM_F_ACK, &nlh);
	if (ret)
		return ret;
	fields_put(nlh, fields, count, v);
	return nl_talk(nlh, &job_words, NULL);
}

static int add(struct args *a)
{
	return change(a, UET_CMD_JOB_NEW, add_fields, ARRAY_SIZE(add_fields));
}

static int del(struct args *a)
{
	return change(a, UET_CMD_JOB_DEL, del_fields, ARRAY_SIZE(del_fields));
}

int job_cmd(struct args *a)
{
	static const struct cmd cmds[] = {
		{ "show",	show },
		{ "list",	show },
		{ "add",	add },
		{ "del",	del },
		{ "delete",	del },
		{ "peers",	peers_cmd },
		{ "help",	print_help },
	};

	return cmd_run("job ", cmds, ARRAY_SIZE(cmds), a);
}
