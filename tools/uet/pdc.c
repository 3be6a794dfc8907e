// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* uet pdc: packet delivery contexts. */
#include <rdma/uet_netlink.h>
#include <stdio.h>

#include "uet.h"

static const struct nl_word words[UET_A_PDC_MAX + 1] = {
	[UET_A_PDC_DEV_NAME]	= { "dev",	NL_STRING },
};

static const struct nl_words pdc_words = { words, ARRAY_SIZE(words) };

static int print_help(struct args *a)
{
	(void)a;
	puts("Usage: uet pdc [ show [ [ dev ] DEV ] ]\n"
	     "       uet pdc help");
	return RET_OK;
}

static const char *role_name(uint64_t role)
{
	switch (role) {
	case UET_PDC_ROLE_INITIATOR:
		return "initiator";
	case UET_PDC_ROLE_TARGET:
		return "target";
	}
	return "?";
}

static const char *mode_name(uint64_t mode)
{
	switch (mode) {
	case UET_PDC_MODE_RUD:
		return "rud";
	case UET_PDC_MODE_ROD:
		return "rod";
	}
	return "?";
}

static void print_details(const struct nlattr **tb)
{
	out_more();
	out_uint("tx_psn", "tx-psn", nl_uint(tb[UET_A_PDC_TX_PSN]));
	out_uint("tx_una", "tx-una", nl_uint(tb[UET_A_PDC_TX_UNA]));
	out_uint("rx_cack", "rx-cack", nl_uint(tb[UET_A_PDC_RX_CACK]));
	out_uint("srtt_us", "srtt-us", nl_uint(tb[UET_A_PDC_SRTT_US]));
	out_uint("window", "window", nl_uint(tb[UET_A_PDC_WINDOW]));
}

static void print_stats(const struct nlattr **tb)
{
	out_more();
	out_uint("tx_bytes", "tx-bytes", nl_uint(tb[UET_A_PDC_TX_BYTES]));
	out_uint("rx_bytes", "rx-bytes", nl_uint(tb[UET_A_PDC_RX_BYTES]));
	out_uint("retx", "retx", nl_uint(tb[UET_A_PDC_RETX]));
}

static void print_pdc(const struct nlmsghdr *nlh)
{
	const struct nlattr *tb[UET_A_PDC_MAX + 1];

	nl_parse(nlh, tb, ARRAY_SIZE(tb));

	out_item();
	out_text("dev %s", nl_str(tb[UET_A_PDC_DEV_NAME]));
	out_str("dev", NULL, nl_str(tb[UET_A_PDC_DEV_NAME]));
	out_uint("id", "id", nl_uint(tb[UET_A_PDC_ID]));
	out_uint("peer_id", "peer-id", nl_uint(tb[UET_A_PDC_PEER_ID]));
	out_str("role", "role", role_name(nl_uint(tb[UET_A_PDC_ROLE])));
	out_str("mode", "mode", mode_name(nl_uint(tb[UET_A_PDC_MODE])));
	out_str("state", "state", nl_str(tb[UET_A_PDC_STATE]));
	out_str("src", "src", nl_addr(tb[UET_A_PDC_SRC]));
	out_str("dst", "dst", nl_addr(tb[UET_A_PDC_DST]));
	out_uint("dscp", "dscp", nl_uint(tb[UET_A_PDC_DSCP]));
	out_uint("payload_mtu", "payload-mtu", nl_uint(tb[UET_A_PDC_PAYLOAD_MTU]));
	if (opt.details)
		print_details(tb);
	if (opt.stats)
		print_stats(tb);
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

	ret = nl_begin(UET_CMD_PDC_GET, NLM_F_DUMP, &nlh);
	if (ret)
		return ret;
	if (dev)
		mnl_attr_put_strz(nlh, UET_A_PDC_DEV_NAME, dev);
	out_begin();
	ret = nl_talk(nlh, &pdc_words, print_pdc);
	out_end(ret);
	return ret;
}

int pdc_cmd(struct args *a)
{
	static const struct cmd cmds[] = {
		{ "show",	show },
		{ "list",	show },
		{ "help",	print_help },
	};

	return cmd_run("pdc ", cmds, ARRAY_SIZE(cmds), a);
}
