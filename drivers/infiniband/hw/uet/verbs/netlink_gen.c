// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/uet.yaml */
/* YNL-GEN kernel source */
/* To regenerate run: tools/net/ynl/ynl-regen.sh */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/rdma/uet_netlink.h>

/* Integer value ranges */
static const struct netlink_range_validation uet_a_dev_pdc_max_range = {
	.min	= 1ULL,
	.max	= 65535ULL,
};

static const struct netlink_range_validation uet_a_dev_pdc_idle_ms_range = {
	.min	= 10ULL,
	.max	= 3600000ULL,
};

/* UET_CMD_DEV_GET - do */
static const struct nla_policy uet_dev_get_nl_policy[UET_A_DEV_NAME + 1] = {
	[UET_A_DEV_INDEX] = { .type = NLA_U32, },
	[UET_A_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
};

/* UET_CMD_DEV_SET - do */
static const struct nla_policy uet_dev_set_nl_policy[UET_A_DEV_CRC + 1] = {
	[UET_A_DEV_INDEX] = { .type = NLA_U32, },
	[UET_A_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[UET_A_DEV_PAYLOAD_MTU] = NLA_POLICY_RANGE(NLA_U32, 1024, 8192),
	[UET_A_DEV_DSCP_DATA] = NLA_POLICY_MAX(NLA_U8, 63),
	[UET_A_DEV_DSCP_CTRL] = NLA_POLICY_MAX(NLA_U8, 63),
	[UET_A_DEV_PDC_MAX] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_dev_pdc_max_range),
	[UET_A_DEV_PDC_IDLE_MS] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_dev_pdc_idle_ms_range),
	[UET_A_DEV_CRC] = NLA_POLICY_MAX(NLA_U8, 1),
};

/* UET_CMD_PDC_GET - dump */
static const struct nla_policy uet_pdc_get_nl_policy[UET_A_PDC_DEV_NAME + 1] = {
	[UET_A_PDC_DEV_INDEX] = { .type = NLA_U32, },
	[UET_A_PDC_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
};

/* Ops table for uet */
static const struct genl_split_ops uet_nl_ops[] = {
	{
		.cmd		= UET_CMD_DEV_GET,
		.pre_doit	= uet_nl_dev_pre_doit,
		.doit		= uet_nl_dev_get_doit,
		.post_doit	= uet_nl_dev_post_doit,
		.policy		= uet_dev_get_nl_policy,
		.maxattr	= UET_A_DEV_NAME,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= UET_CMD_DEV_GET,
		.dumpit	= uet_nl_dev_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= UET_CMD_DEV_SET,
		.pre_doit	= uet_nl_dev_pre_doit,
		.doit		= uet_nl_dev_set_doit,
		.post_doit	= uet_nl_dev_post_doit,
		.policy		= uet_dev_set_nl_policy,
		.maxattr	= UET_A_DEV_CRC,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UET_CMD_PDC_GET,
		.start		= uet_nl_pdc_get_start,
		.dumpit		= uet_nl_pdc_get_dumpit,
		.policy		= uet_pdc_get_nl_policy,
		.maxattr	= UET_A_PDC_DEV_NAME,
		.flags		= GENL_CMD_CAP_DUMP,
	},
};

struct genl_family uet_nl_family __ro_after_init = {
	.name		= UET_FAMILY_NAME,
	.version	= UET_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= uet_nl_ops,
	.n_split_ops	= ARRAY_SIZE(uet_nl_ops),
};
