// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* uet skey: security keys. */
#define _GNU_SOURCE
#include <rdma/uet_netlink.h>
#include <stdio.h>
#include <string.h>

#include "uet.h"

/* The material is never shown, not even in an error message. */
static const struct nl_word words[UET_A_SKEY_MAX + 1] = {
	[UET_A_SKEY_DEV_NAME]	= { "dev",	NL_STRING },
	[UET_A_SKEY_ID]		= { "id",	NL_NUMBER },
	[UET_A_SKEY_ALGORITHM]	= { "algorithm", NL_HIDDEN },
	[UET_A_SKEY_MODE]	= { "mode",	NL_HIDDEN },
	[UET_A_SKEY_KEY]	= { "key-file",	NL_HIDDEN },
	[UET_A_SKEY_SDI]	= { "sdi",	NL_NUMBER },
	[UET_A_SKEY_SSI]	= { "ssi",	NL_NUMBER },
	[UET_A_SKEY_AN]		= { "an",	NL_NUMBER },
	[UET_A_SKEY_UID]	= { "uid",	NL_NUMBER },
	[UET_A_SKEY_GID]	= { "gid",	NL_NUMBER },
};

static const struct nl_words skey_words = { words, ARRAY_SIZE(words) };

static const char *const algorithm_words[] = { "aes-256-gcm" };
static const struct names algorithms = {
	UET_SKEY_ALGORITHM_AES_256_GCM, ARRAY_SIZE(algorithm_words), algorithm_words
};

static const char *const mode_words[] = { "direct", "cluster", "server", "client" };
static const struct names modes = {
	UET_SKEY_KEY_MODE_DIRECT, ARRAY_SIZE(mode_words), mode_words
};

static int print_help(struct args *a)
{
	(void)a;
	puts("Usage: uet skey [ show [ [ dev ] DEV [ id SKEYID ] ] ]\n"
	     "       uet skey add dev DEV [ id SKEYID ] key-file FILE\n"
	     "                    [ algorithm aes-256-gcm ] [ mode MODE ]\n"
	     "                    [ sdi 0..16777215 ] [ ssi NUMBER ] [ an { 0 | 1 } ]\n"
	     "                    [ uid USER ] [ gid GROUP ]\n"
	     "       uet skey rekey dev DEV id SKEYID { install key-file FILE |\n"
	     "                                          switch | retire }\n"
	     "       uet skey del dev DEV id SKEYID\n"
	     "       uet skey help\n"
	     "where  MODE := { direct | cluster | server | client }\n"
	     "       FILE := { name | - }, 64 hexadecimal digits or 32 bytes");
	return RET_OK;
}

/* ---- show ---- */

/* Which association numbers have a key: "0", "1", "0,1". */
static const char *numbers_text(uint64_t valid)
{
	static const char *const texts[] = { "none", "0", "1", "0,1" };

	return texts[valid & 3];
}

static void print_settings(const struct nlattr **tb)
{
	out_str("algorithm", "algorithm",
		name_of(&algorithms, nl_uint(tb[UET_A_SKEY_ALGORITHM])));
	out_str("mode", "mode", name_of(&modes, nl_uint(tb[UET_A_SKEY_MODE])));
	out_uint("sdi", "sdi", nl_uint(tb[UET_A_SKEY_SDI]));
	if (tb[UET_A_SKEY_SSI])
		out_uint("ssi", "ssi", nl_uint(tb[UET_A_SKEY_SSI]));
	out_uint("an", "an", nl_uint(tb[UET_A_SKEY_AN]));
	if (tb[UET_A_SKEY_UID])
		out_uint("uid", "uid", nl_uint(tb[UET_A_SKEY_UID]));
	if (tb[UET_A_SKEY_GID])
		out_uint("gid", "gid", nl_uint(tb[UET_A_SKEY_GID]));
}

void skey_print(const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[UET_A_SKEY_MAX + 1];

	nl_parse(nlh, tb, ARRAY_SIZE(tb));
	out_text("dev %s", nl_str(tb[UET_A_SKEY_DEV_NAME]));
	out_str("dev", NULL, nl_str(tb[UET_A_SKEY_DEV_NAME]));
	out_uint("id", "id", nl_uint(tb[UET_A_SKEY_ID]));
	print_settings(tb);
	out_flag("persistent", "persistent", tb[UET_A_SKEY_PERSISTENT]);
	if (opt.details)
		out_str("an_valid", "an-valid",
			numbers_text(nl_uint(tb[UET_A_SKEY_AN_VALID])));
	if (opt.stats) {
		out_more();
		out_uint("job_count", "jobs", nl_uint(tb[UET_A_SKEY_JOB_COUNT]));
	}
}

static void print_skey(const struct nlmsghdr *nlh)
{
	out_item();
	skey_print(nlh);
	out_item_end();
}

static int show(struct args *a)
{
	static const struct field fields[] = {
		{ .word = "dev", .kind = F_DEV, .attr = UET_A_SKEY_DEV_NAME,
		  .need = true },
		{ .word = "id", .kind = F_NUMBER, .attr = UET_A_SKEY_ID },
	};
	struct value v[ARRAY_SIZE(fields)] = { 0 };
	struct nlmsghdr *nlh;
	int ret;

	if (arg_is_help(a))
		return print_help(a);
	if (a->n && fields_read("skey ", a, fields, ARRAY_SIZE(fields), v))
		return RET_USAGE;
	ret = nl_begin(UET_CMD_SKEY_GET, v[1].given ? NLM_F_ACK : NLM_F_DUMP, &nlh);
	if (ret)
		return ret;
	fields_put(nlh, fields, ARRAY_SIZE(fields), v);
	out_begin();
	ret = nl_talk(nlh, &skey_words, print_skey);
	out_end(ret);
	return ret;
}

/* ---- add, rekey, del ---- */

/* A request that may have a key in it, and its answer. */
static int talk(uint8_t cmd, const struct field *fields, size_t count,
		struct value *v, nl_answer_fn answer)
{
	struct nlmsghdr *nlh;
	int ret = nl_begin(cmd, NLM_F_ACK, &nlh);

	if (!ret) {
		fields_put(nlh, fields, count, v);
		ret = nl_talk(nlh, &skey_words, answer);
		nl_wipe();
	}
	explicit_bzero(v, count * sizeof(*v));
	return ret;
}

static const struct field add_fields[] = {
	{ .word = "dev", .kind = F_DEV, .attr = UET_A_SKEY_DEV_NAME, .need = true },
	{ .word = "id", .kind = F_NUMBER, .attr = UET_A_SKEY_ID },
	{ .word = "key-file", .kind = F_KEY, .attr = UET_A_SKEY_KEY, .need = true },
	{ .word = "algorithm", .kind = F_NAME, .attr = UET_A_SKEY_ALGORITHM,
	  .names = &algorithms },
	{ .word = "mode", .kind = F_NAME, .attr = UET_A_SKEY_MODE, .names = &modes },
	{ .word = "sdi", .kind = F_NUMBER, .attr = UET_A_SKEY_SDI },
	{ .word = "ssi", .kind = F_NUMBER, .attr = UET_A_SKEY_SSI },
	{ .word = "an", .kind = F_SMALL, .attr = UET_A_SKEY_AN },
	{ .word = "uid", .kind = F_USER, .attr = UET_A_SKEY_UID },
	{ .word = "gid", .kind = F_GROUP, .attr = UET_A_SKEY_GID },
};

/* The id is printed if the kernel chose it. */
static int add(struct args *a)
{
	struct value v[ARRAY_SIZE(add_fields)];
	int ret;

	if (arg_is_help(a))
		return print_help(a);
	ret = fields_read("skey ", a, add_fields, ARRAY_SIZE(add_fields), v);
	if (ret) {
		explicit_bzero(v, sizeof(v));
		return ret;
	}
	if (v[1].given)
		return talk(UET_CMD_SKEY_NEW, add_fields, ARRAY_SIZE(add_fields), v, NULL);
	out_begin();
	ret = talk(UET_CMD_SKEY_NEW, add_fields, ARRAY_SIZE(add_fields), v, print_skey);
	out_end(ret);
	return ret;
}

/* The step, which is not a word with a value, is taken from among the words. */
static const struct field rekey_fields[] = {
	{ .word = "dev", .kind = F_DEV, .attr = UET_A_SKEY_DEV_NAME, .need = true },
	{ .word = "id", .kind = F_NUMBER, .attr = UET_A_SKEY_ID, .need = true },
	{ .word = "key-file", .kind = F_KEY, .attr = UET_A_SKEY_KEY },
	{ .word = "install", .kind = F_FLAG },
	{ .word = "switch", .kind = F_FLAG },
	{ .word = "retire", .kind = F_FLAG },
};

static const struct field rekey_request[] = {
	{ .kind = F_DEV, .attr = UET_A_SKEY_DEV_NAME },
	{ .kind = F_NUMBER, .attr = UET_A_SKEY_ID },
	{ .kind = F_KEY, .attr = UET_A_SKEY_KEY },
	{ .kind = F_NUMBER, .attr = UET_A_SKEY_STEP },
};

static int check_step(const struct value *v)
{
	if (v[3].given + v[4].given + v[5].given != 1) {
		error("one of \"install\", \"switch\" and \"retire\" must be given");
		return RET_USAGE;
	}
	if (v[2].given == v[3].given)
		return RET_OK;
	if (v[3].given)
		error("\"key-file\" is missing, try \"uet skey help\"");
	else
		error("\"key-file\" goes with \"install\" only");
	return RET_USAGE;
}

static int rekey(struct args *a)
{
	struct value v[ARRAY_SIZE(rekey_fields)];
	int ret;

	if (arg_is_help(a))
		return print_help(a);
	ret = fields_read("skey ", a, rekey_fields, ARRAY_SIZE(rekey_fields), v) ?:
	      check_step(v);
	if (ret) {
		explicit_bzero(v, sizeof(v));
		return ret;
	}
	v[3].number = v[3].given ? UET_SKEY_STEP_INSTALL :
		      v[4].given ? UET_SKEY_STEP_SWITCH : UET_SKEY_STEP_RETIRE;
	v[3].given = true;
	return talk(UET_CMD_SKEY_REKEY, rekey_request, ARRAY_SIZE(rekey_request), v,
		    NULL);
}

static int del(struct args *a)
{
	static const struct field fields[] = {
		{ .word = "dev", .kind = F_DEV, .attr = UET_A_SKEY_DEV_NAME,
		  .need = true },
		{ .word = "id", .kind = F_NUMBER, .attr = UET_A_SKEY_ID, .need = true },
	};
	struct value v[ARRAY_SIZE(fields)];

	if (arg_is_help(a))
		return print_help(a);
	return fields_read("skey ", a, fields, ARRAY_SIZE(fields), v) ?:
	       talk(UET_CMD_SKEY_DEL, fields, ARRAY_SIZE(fields), v, NULL);
}

int skey_cmd(struct args *a)
{
	static const struct cmd cmds[] = {
		{ "show",	show },
		{ "list",	show },
		{ "add",	add },
		{ "rekey",	rekey },
		{ "del",	del },
		{ "delete",	del },
		{ "help",	print_help },
	};

	return cmd_run("skey ", cmds, ARRAY_SIZE(cmds), a);
}
