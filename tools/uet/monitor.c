// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* uet monitor: what changes, as it changes. */
#include <linux/genetlink.h>
#include <rdma/uet_netlink.h>
#include <stdio.h>

#include "uet.h"

enum object { ALL, DEV, JOB, SKEY };

/**
 * struct event - a kind of notification
 * @cmd: its command
 * @object: what it is about
 * @text: what it is called in text
 * @name: and in JSON
 * @print: prints what it is about
 */
struct event {
	uint8_t cmd;
	enum object object;
	const char *text;
	const char *name;
	nl_answer_fn print;
};

static const struct event events[] = {
	{ UET_CMD_DEV_ADD_NTF,     DEV,  "DEV_ADD",     "dev-add",     dev_print },
	{ UET_CMD_DEV_DEL_NTF,     DEV,  "DEV_DEL",     "dev-del",     dev_print },
	{ UET_CMD_DEV_CHANGE_NTF,  DEV,  "DEV_CHANGE",  "dev-change",  dev_print },
	{ UET_CMD_JOB_ADD_NTF,     JOB,  "JOB_ADD",     "job-add",     job_print },
	{ UET_CMD_JOB_DEL_NTF,     JOB,  "JOB_DEL",     "job-del",     job_print },
	{ UET_CMD_JOB_CHANGE_NTF,  JOB,  "JOB_CHANGE",  "job-change",  job_print },
	{ UET_CMD_SKEY_ADD_NTF,    SKEY, "SKEY_ADD",    "skey-add",    skey_print },
	{ UET_CMD_SKEY_DEL_NTF,    SKEY, "SKEY_DEL",    "skey-del",    skey_print },
	{ UET_CMD_SKEY_CHANGE_NTF, SKEY, "SKEY_CHANGE", "skey-change", skey_print },
};

static enum object wanted;

static void print_event(const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	const struct event *e;

	for (e = events; e < events + ARRAY_SIZE(events); e++) {
		if (e->cmd != genl->cmd || (wanted != ALL && wanted != e->object))
			continue;
		out_item();
		out_text("[%s] ", e->text);
		out_str("event", NULL, e->name);
		e->print(nlh);
		out_item_end();
		out_flush();
	}
}

static int print_help(struct args *a)
{
	(void)a;
	puts("Usage: uet monitor [ all | dev | job | skey | help ]");
	return RET_OK;
}

static int listen_to(struct args *a, enum object object)
{
	int ret;

	if (arg_is_help(a))
		return print_help(a);
	if (arg_end(a))
		return RET_USAGE;
	wanted = object;
	out_begin();
	ret = nl_listen(print_event);
	out_end(ret);
	return ret;
}

static int all(struct args *a)
{
	return listen_to(a, ALL);
}

static int dev(struct args *a)
{
	return listen_to(a, DEV);
}

static int job(struct args *a)
{
	return listen_to(a, JOB);
}

static int skey(struct args *a)
{
	return listen_to(a, SKEY);
}

int monitor_cmd(struct args *a)
{
	static const struct cmd cmds[] = {
		{ "all",	all },
		{ "dev",	dev },
		{ "job",	job },
		{ "skey",	skey },
		{ "help",	print_help },
	};

	return cmd_run("monitor ", cmds, ARRAY_SIZE(cmds), a);
}
