// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * uet stat: counters of devices. The family says which devices are ours, the
 * RDMA core has their counters.
 */
#include <rdma/rdma_netlink.h>
#include <rdma/uet_netlink.h>
#include <stdio.h>
#include <stdlib.h>

#include "uet.h"

#define PORT	1

static const struct nl_word words[UET_A_DEV_MAX + 1] = {
	[UET_A_DEV_NAME]	= { "dev",	NL_STRING },
};

static const struct nl_words dev_words = { words, ARRAY_SIZE(words) };

static int print_help(struct args *a)
{
	(void)a;
	puts("Usage: uet stat [ show [ [ dev ] DEV ] ]\n"
	     "       uet stat help\n"
	     "Counters that are 0 are left out unless -d is given.");
	return RET_OK;
}

struct device {
	uint32_t index;
	char name[64];
};

static struct device *devices;
static size_t device_count;

static void device_answer(const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[UET_A_DEV_MAX + 1];
	struct device *d;

	devices = realloc(devices, (device_count + 1) * sizeof(*devices));
	if (!devices)
		abort();
	d = &devices[device_count++];
	nl_parse(nlh, tb, ARRAY_SIZE(tb));
	d->index = nl_uint(tb[UET_A_DEV_INDEX]);
	snprintf(d->name, sizeof(d->name), "%s", nl_str(tb[UET_A_DEV_NAME]));
}

static int get_devices(const char *dev)
{
	struct nlmsghdr *nlh;
	int ret = nl_begin(UET_CMD_DEV_GET, dev ? NLM_F_ACK : NLM_F_DUMP, &nlh);

	if (ret)
		return ret;
	if (dev)
		mnl_attr_put_strz(nlh, UET_A_DEV_NAME, dev);
	return nl_talk(nlh, &dev_words, device_answer);
}

static void print_counter(const struct nlattr *entry)
{
	const struct nlattr *attr, *name = NULL, *value = NULL;

	mnl_attr_for_each_nested(attr, entry) {
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME)
			name = attr;
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE)
			value = attr;
	}
	if (!opt.details && !nl_uint(value))
		return;
	out_more();
	out_uint(nl_str(name), nl_str(name), nl_uint(value));
}

static void print_counters(const struct nlmsghdr *nlh)
{
	const struct nlattr *attr, *entry;

	mnl_attr_for_each(attr, nlh, 0) {
		if (mnl_attr_get_type(attr) != RDMA_NLDEV_ATTR_STAT_HWCOUNTERS)
			continue;
		mnl_attr_for_each_nested(entry, attr)
			print_counter(entry);
	}
}

static int print_device(const struct device *d)
{
	struct nlmsghdr *nlh;
	int ret = nl_begin_rdma(RDMA_NLDEV_CMD_STAT_GET, &nlh);

	if (ret)
		return ret;
	mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, d->index);
	mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_PORT_INDEX, PORT);
	out_item();
	out_text("dev %s", d->name);
	out_str("dev", NULL, d->name);
	ret = nl_talk(nlh, NULL, print_counters);
	out_item_end();
	return ret;
}

static int show(struct args *a)
{
	const char *dev = NULL;
	size_t i;
	int ret;

	if (arg_is_help(a))
		return print_help(a);
	if (a->n && (arg_device(a, &dev) || arg_end(a)))
		return RET_USAGE;

	out_begin();
	ret = get_devices(dev);
	for (i = 0; !ret && i < device_count; i++)
		ret = print_device(&devices[i]);
	out_end(ret);
	free(devices);
	devices = NULL;
	device_count = 0;
	return ret;
}

int stat_cmd(struct args *a)
{
	static const struct cmd cmds[] = {
		{ "show",	show },
		{ "list",	show },
		{ "help",	print_help },
	};

	return cmd_run("stat ", cmds, ARRAY_SIZE(cmds), a);
}
