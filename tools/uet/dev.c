// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* uet dev: devices and their settings. */
#include <net/if.h>
#include <rdma/uet_netlink.h>
#include <stdio.h>

#include "uet.h"

/**
 * struct setting - a number, or on or off, that can be set
 * @word: what it is called
 * @attr: where it travels
 * @max: largest value that fits in there; what makes sense, the kernel knows
 * @on_off: it is on or off, and travels as 1 or 0
 */
struct setting {
	const char *word;
	uint16_t attr;
	uint32_t max;
	bool on_off;
};

static const struct setting settings[] = {
	{ "payload-mtu",	UET_A_DEV_PAYLOAD_MTU,	UINT32_MAX,	false },
	{ "dscp-data",		UET_A_DEV_DSCP_DATA,	UINT8_MAX,	false },
	{ "dscp-ctrl",		UET_A_DEV_DSCP_CTRL,	UINT8_MAX,	false },
	{ "pdc-max",		UET_A_DEV_PDC_MAX,	UINT32_MAX,	false },
	{ "pdc-idle",		UET_A_DEV_PDC_IDLE_MS,	UINT32_MAX,	false },
	{ "local-filter",	UET_A_DEV_LOCAL_FILTER,	UINT8_MAX,	true },
	{ "crc",		UET_A_DEV_CRC,		UINT8_MAX,	true },
};

static const struct nl_word words[UET_A_DEV_MAX + 1] = {
	[UET_A_DEV_NAME]	= { "dev",		NL_STRING },
	[UET_A_DEV_PAYLOAD_MTU]	= { "payload-mtu",	NL_NUMBER },
	[UET_A_DEV_DSCP_DATA]	= { "dscp-data",	NL_NUMBER },
	[UET_A_DEV_DSCP_CTRL]	= { "dscp-ctrl",	NL_NUMBER },
	[UET_A_DEV_PDC_MAX]	= { "pdc-max",		NL_NUMBER },
	[UET_A_DEV_PDC_IDLE_MS]	= { "pdc-idle",		NL_NUMBER },
	[UET_A_DEV_LOCAL_FILTER] = { "local-filter",	NL_NUMBER },
	[UET_A_DEV_CRC]		= { "crc",		NL_NUMBER },
};

static const struct nl_words dev_words = { words, ARRAY_SIZE(words) };

static int print_help(struct args *a)
{
	(void)a;
	puts("Usage: uet dev [ show [ [ dev ] DEV ] ]\n"
	     "       uet dev set [ dev ] DEV SETTING...\n"
	     "       uet dev help\n"
	     "where  SETTING := { payload-mtu { 1024 | 2048 | 4096 | 8192 } |\n"
	     "                    dscp-data 0..63 | dscp-ctrl 0..63 |\n"
	     "                    pdc-max 1..65535 | pdc-idle MILLISECONDS |\n"
	     "                    local-filter { on | off } | crc { on | off } }");
	return RET_OK;
}

static void print_netdev(uint32_t ifindex)
{
	char name[IF_NAMESIZE];

	if (!if_indextoname(ifindex, name))
		snprintf(name, sizeof(name), "if%u", ifindex);
	out_str("netdev", "netdev", name);
	out_uint("netdev_index", NULL, ifindex);
}

static void print_settings(const struct nlattr **tb)
{
	out_uint("payload_mtu", "payload-mtu", nl_uint(tb[UET_A_DEV_PAYLOAD_MTU]));
	out_uint("dscp_data", "dscp-data", nl_uint(tb[UET_A_DEV_DSCP_DATA]));
	out_uint("dscp_ctrl", "dscp-ctrl", nl_uint(tb[UET_A_DEV_DSCP_CTRL]));
	out_uint("pdc_max", "pdc-max", nl_uint(tb[UET_A_DEV_PDC_MAX]));
	out_uint("pdc_idle_ms", "pdc-idle", nl_uint(tb[UET_A_DEV_PDC_IDLE_MS]));
	out_on_off("local_filter", "local-filter",
		   nl_uint(tb[UET_A_DEV_LOCAL_FILTER]));
	out_on_off("crc", "crc", nl_uint(tb[UET_A_DEV_CRC]));
}

/* State first, then the settings in the words that "set" takes. */
void dev_print(const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[UET_A_DEV_MAX + 1];
	uint32_t index;

	nl_parse(nlh, tb, ARRAY_SIZE(tb));
	index = nl_uint(tb[UET_A_DEV_INDEX]);

	out_text("%u: %s:", index, nl_str(tb[UET_A_DEV_NAME]));
	out_uint("index", NULL, index);
	out_str("dev", NULL, nl_str(tb[UET_A_DEV_NAME]));
	print_netdev(nl_uint(tb[UET_A_DEV_NETDEV_IFINDEX]));
	out_uint("payload_mtu_active", "payload-mtu-active",
		 nl_uint(tb[UET_A_DEV_PAYLOAD_MTU_ACTIVE]));
	out_uint("job_count", "jobs", nl_uint(tb[UET_A_DEV_JOB_COUNT]));
	out_uint("skey_count", "skeys", nl_uint(tb[UET_A_DEV_SKEY_COUNT]));
	out_uint("pdc_count", "pdcs", nl_uint(tb[UET_A_DEV_PDC_COUNT]));
	print_settings(tb);
}

static void print_dev(const struct nlmsghdr *nlh)
{
	out_item();
	dev_print(nlh);
	out_item_end();
}

static int show(struct args *a)
{
	const char *dev = NULL;
	struct nlmsghdr *nlh;
	int ret;

	if (arg_is_help(a))
		return print_help(a);
	if (a->n && (arg_device(a, &dev) || arg_end(a)))
		return RET_USAGE;

	ret = nl_begin(UET_CMD_DEV_GET, dev ? NLM_F_ACK : NLM_F_DUMP, &nlh);
	if (ret)
		return ret;
	if (dev)
		mnl_attr_put_strz(nlh, UET_A_DEV_NAME, dev);
	out_begin();
	ret = nl_talk(nlh, &dev_words, print_dev);
	out_end(ret);
	return ret;
}

/* One "WORD VALUE" of a set command into @value, by number of the setting. */
static int read_setting(struct args *a, uint32_t *value, bool *given)
{
	const char *text = arg_next(a), *word;
	int i;

	i = word_find("setting", "dev ", text, settings, sizeof(settings[0]),
		      ARRAY_SIZE(settings));
	if (i < 0)
		return RET_USAGE;
	word = settings[i].word;
	if (arg_value(a, word, &text))
		return RET_USAGE;
	if (given[i]) {
		error("duplicate \"%s\": \"%s\" is the second value", word, text);
		return RET_USAGE;
	}
	given[i] = true;
	if (settings[i].on_off)
		return arg_on_off(word, text, &value[i]);
	return arg_number(word, text, settings[i].max, &value[i]);
}

static int set(struct args *a)
{
	uint32_t value[ARRAY_SIZE(settings)];
	bool given[ARRAY_SIZE(settings)] = { false };
	struct nlmsghdr *nlh;
	const char *dev;
	size_t i;
	int ret;

	if (arg_is_help(a))
		return print_help(a);
	if (arg_device(a, &dev))
		return RET_USAGE;
	if (!a->n) {
		error("no setting is given");
		return RET_USAGE;
	}
	while (a->n)
		if (read_setting(a, value, given))
			return RET_USAGE;

	ret = nl_begin(UET_CMD_DEV_SET, NLM_F_ACK, &nlh);
	if (ret)
		return ret;
	mnl_attr_put_strz(nlh, UET_A_DEV_NAME, dev);
	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		if (!given[i])
			continue;
		if (settings[i].max <= UINT8_MAX)
			mnl_attr_put_u8(nlh, settings[i].attr, value[i]);
		else
			mnl_attr_put_u32(nlh, settings[i].attr, value[i]);
	}
	return nl_talk(nlh, &dev_words, NULL);
}

int dev_cmd(struct args *a)
{
	static const struct cmd cmds[] = {
		{ "show",	show },
		{ "list",	show },
		{ "set",	set },
		{ "help",	print_help },
	};

	return cmd_run("dev ", cmds, ARRAY_SIZE(cmds), a);
}
