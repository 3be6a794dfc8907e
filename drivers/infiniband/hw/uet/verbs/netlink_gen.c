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

static const struct netlink_range_validation uet_a_job_id_range = {
	.min	= 1ULL,
	.max	= 16777215ULL,
};

static const struct netlink_range_validation uet_a_job_sgid_index_range = {
	.max	= 65535ULL,
};

static const struct netlink_range_validation uet_a_job_skey_id_range = {
	.min	= 1ULL,
	.max	= 2147483647ULL,
};

static const struct netlink_range_validation uet_a_job_peer_max_range = {
	.max	= 1048576ULL,
};

static const struct netlink_range_validation uet_a_peer_index_range = {
	.max	= 1048575ULL,
};

static const struct netlink_range_validation uet_a_peer_qpn_range = {
	.max	= 16777215ULL,
};

static const struct netlink_range_validation uet_a_peer_sgid_index_range = {
	.max	= 65535ULL,
};

static const struct netlink_range_validation uet_a_job_peers_job_id_range = {
	.min	= 1ULL,
	.max	= 16777215ULL,
};

static const struct netlink_range_validation uet_a_job_peers_first_range = {
	.max	= 1048575ULL,
};

static const struct netlink_range_validation uet_a_job_peers_count_range = {
	.min	= 1ULL,
	.max	= 1048576ULL,
};

static const struct netlink_range_validation uet_a_holder_job_id_range = {
	.min	= 1ULL,
	.max	= 16777215ULL,
};

static const struct netlink_range_validation uet_a_skey_id_range = {
	.min	= 1ULL,
	.max	= 2147483647ULL,
};

static const struct netlink_range_validation uet_a_skey_sdi_range = {
	.max	= 16777215ULL,
};

/* Common nested types */
const struct nla_policy uet_peer_nl_policy[UET_A_PEER_HOP_LIMIT + 1] = {
	[UET_A_PEER_INDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_peer_index_range),
	[UET_A_PEER_ADDR] = NLA_POLICY_MIN_LEN(4),
	[UET_A_PEER_QPN] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_peer_qpn_range),
	[UET_A_PEER_SGID_INDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_peer_sgid_index_range),
	[UET_A_PEER_TCLASS] = { .type = NLA_U8, },
	[UET_A_PEER_HOP_LIMIT] = { .type = NLA_U8, },
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
	[UET_A_DEV_LOCAL_FILTER] = NLA_POLICY_MAX(NLA_U8, 1),
	[UET_A_DEV_CRC] = NLA_POLICY_MAX(NLA_U8, 1),
};

/* UET_CMD_PDC_GET - dump */
static const struct nla_policy uet_pdc_get_nl_policy[UET_A_PDC_DEV_NAME + 1] = {
	[UET_A_PDC_DEV_INDEX] = { .type = NLA_U32, },
	[UET_A_PDC_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
};

/* UET_CMD_JOB_NEW - do */
static const struct nla_policy uet_job_new_nl_policy[UET_A_JOB_JKEY_MAX + 1] = {
	[UET_A_JOB_DEV_INDEX] = { .type = NLA_U32, },
	[UET_A_JOB_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[UET_A_JOB_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_job_id_range),
	[UET_A_JOB_UID] = { .type = NLA_U32, },
	[UET_A_JOB_GID] = { .type = NLA_U32, },
	[UET_A_JOB_SGID_INDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_job_sgid_index_range),
	[UET_A_JOB_SKEY_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_job_skey_id_range),
	[UET_A_JOB_PEER_MAX] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_job_peer_max_range),
	[UET_A_JOB_JKEY_MAX] = { .type = NLA_U32, },
};

/* UET_CMD_JOB_DEL - do */
static const struct nla_policy uet_job_del_nl_policy[UET_A_JOB_FORCE + 1] = {
	[UET_A_JOB_DEV_INDEX] = { .type = NLA_U32, },
	[UET_A_JOB_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[UET_A_JOB_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_job_id_range),
	[UET_A_JOB_FORCE] = { .type = NLA_FLAG, },
};

/* UET_CMD_JOB_GET - do */
static const struct nla_policy uet_job_get_do_nl_policy[UET_A_JOB_ID + 1] = {
	[UET_A_JOB_DEV_INDEX] = { .type = NLA_U32, },
	[UET_A_JOB_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[UET_A_JOB_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_job_id_range),
};

/* UET_CMD_JOB_GET - dump */
static const struct nla_policy uet_job_get_dump_nl_policy[UET_A_JOB_DEV_NAME + 1] = {
	[UET_A_JOB_DEV_INDEX] = { .type = NLA_U32, },
	[UET_A_JOB_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
};

/* UET_CMD_PEER_SET - do */
static const struct nla_policy uet_peer_set_nl_policy[UET_A_JOB_PEERS_PEER + 1] = {
	[UET_A_JOB_PEERS_DEV_INDEX] = { .type = NLA_U32, },
	[UET_A_JOB_PEERS_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[UET_A_JOB_PEERS_JOB_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_job_peers_job_id_range),
	[UET_A_JOB_PEERS_PEER] = NLA_POLICY_NESTED(uet_peer_nl_policy),
};

/* UET_CMD_PEER_DEL - do */
static const struct nla_policy uet_peer_del_nl_policy[UET_A_JOB_PEERS_COUNT + 1] = {
	[UET_A_JOB_PEERS_DEV_INDEX] = { .type = NLA_U32, },
	[UET_A_JOB_PEERS_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[UET_A_JOB_PEERS_JOB_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_job_peers_job_id_range),
	[UET_A_JOB_PEERS_FIRST] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_job_peers_first_range),
	[UET_A_JOB_PEERS_COUNT] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_job_peers_count_range),
};

/* UET_CMD_PEER_GET - dump */
static const struct nla_policy uet_peer_get_nl_policy[UET_A_JOB_PEERS_JOB_ID + 1] = {
	[UET_A_JOB_PEERS_DEV_INDEX] = { .type = NLA_U32, },
	[UET_A_JOB_PEERS_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[UET_A_JOB_PEERS_JOB_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_job_peers_job_id_range),
};

/* UET_CMD_HOLDER_GET - dump */
static const struct nla_policy uet_holder_get_nl_policy[UET_A_HOLDER_JOB_ID + 1] = {
	[UET_A_HOLDER_DEV_INDEX] = { .type = NLA_U32, },
	[UET_A_HOLDER_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[UET_A_HOLDER_JOB_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_holder_job_id_range),
};

/* UET_CMD_SKEY_NEW - do */
static const struct nla_policy uet_skey_new_nl_policy[UET_A_SKEY_GID + 1] = {
	[UET_A_SKEY_DEV_INDEX] = { .type = NLA_U32, },
	[UET_A_SKEY_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[UET_A_SKEY_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_skey_id_range),
	[UET_A_SKEY_ALGORITHM] = NLA_POLICY_RANGE(NLA_U32, 1, 1),
	[UET_A_SKEY_MODE] = NLA_POLICY_MAX(NLA_U32, 3),
	[UET_A_SKEY_KEY] = NLA_POLICY_EXACT_LEN(32),
	[UET_A_SKEY_SDI] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_skey_sdi_range),
	[UET_A_SKEY_SSI] = { .type = NLA_U32, },
	[UET_A_SKEY_AN] = NLA_POLICY_MAX(NLA_U8, 1),
	[UET_A_SKEY_UID] = { .type = NLA_U32, },
	[UET_A_SKEY_GID] = { .type = NLA_U32, },
};

/* UET_CMD_SKEY_DEL - do */
static const struct nla_policy uet_skey_del_nl_policy[UET_A_SKEY_ID + 1] = {
	[UET_A_SKEY_DEV_INDEX] = { .type = NLA_U32, },
	[UET_A_SKEY_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[UET_A_SKEY_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_skey_id_range),
};

/* UET_CMD_SKEY_REKEY - do */
static const struct nla_policy uet_skey_rekey_nl_policy[UET_A_SKEY_STEP + 1] = {
	[UET_A_SKEY_DEV_INDEX] = { .type = NLA_U32, },
	[UET_A_SKEY_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[UET_A_SKEY_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_skey_id_range),
	[UET_A_SKEY_STEP] = NLA_POLICY_MAX(NLA_U32, 2),
	[UET_A_SKEY_KEY] = NLA_POLICY_EXACT_LEN(32),
};

/* UET_CMD_SKEY_GET - do */
static const struct nla_policy uet_skey_get_do_nl_policy[UET_A_SKEY_ID + 1] = {
	[UET_A_SKEY_DEV_INDEX] = { .type = NLA_U32, },
	[UET_A_SKEY_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
	[UET_A_SKEY_ID] = NLA_POLICY_FULL_RANGE(NLA_U32, &uet_a_skey_id_range),
};

/* UET_CMD_SKEY_GET - dump */
static const struct nla_policy uet_skey_get_dump_nl_policy[UET_A_SKEY_DEV_NAME + 1] = {
	[UET_A_SKEY_DEV_INDEX] = { .type = NLA_U32, },
	[UET_A_SKEY_DEV_NAME] = { .type = NLA_NUL_STRING, .len = 63, },
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
	{
		.cmd		= UET_CMD_JOB_NEW,
		.pre_doit	= uet_nl_job_pre_doit,
		.doit		= uet_nl_job_new_doit,
		.post_doit	= uet_nl_dev_post_doit,
		.policy		= uet_job_new_nl_policy,
		.maxattr	= UET_A_JOB_JKEY_MAX,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UET_CMD_JOB_DEL,
		.pre_doit	= uet_nl_job_pre_doit,
		.doit		= uet_nl_job_del_doit,
		.post_doit	= uet_nl_dev_post_doit,
		.policy		= uet_job_del_nl_policy,
		.maxattr	= UET_A_JOB_FORCE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UET_CMD_JOB_GET,
		.pre_doit	= uet_nl_job_pre_doit,
		.doit		= uet_nl_job_get_doit,
		.post_doit	= uet_nl_dev_post_doit,
		.policy		= uet_job_get_do_nl_policy,
		.maxattr	= UET_A_JOB_ID,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UET_CMD_JOB_GET,
		.start		= uet_nl_job_get_start,
		.dumpit		= uet_nl_job_get_dumpit,
		.policy		= uet_job_get_dump_nl_policy,
		.maxattr	= UET_A_JOB_DEV_NAME,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= UET_CMD_PEER_SET,
		.pre_doit	= uet_nl_peer_pre_doit,
		.doit		= uet_nl_peer_set_doit,
		.post_doit	= uet_nl_dev_post_doit,
		.policy		= uet_peer_set_nl_policy,
		.maxattr	= UET_A_JOB_PEERS_PEER,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UET_CMD_PEER_DEL,
		.pre_doit	= uet_nl_peer_pre_doit,
		.doit		= uet_nl_peer_del_doit,
		.post_doit	= uet_nl_dev_post_doit,
		.policy		= uet_peer_del_nl_policy,
		.maxattr	= UET_A_JOB_PEERS_COUNT,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UET_CMD_PEER_GET,
		.start		= uet_nl_peer_get_start,
		.dumpit		= uet_nl_peer_get_dumpit,
		.done		= uet_nl_peer_get_done,
		.policy		= uet_peer_get_nl_policy,
		.maxattr	= UET_A_JOB_PEERS_JOB_ID,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= UET_CMD_HOLDER_GET,
		.start		= uet_nl_holder_get_start,
		.dumpit		= uet_nl_holder_get_dumpit,
		.policy		= uet_holder_get_nl_policy,
		.maxattr	= UET_A_HOLDER_JOB_ID,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= UET_CMD_SKEY_NEW,
		.pre_doit	= uet_nl_skey_pre_doit,
		.doit		= uet_nl_skey_new_doit,
		.post_doit	= uet_nl_dev_post_doit,
		.policy		= uet_skey_new_nl_policy,
		.maxattr	= UET_A_SKEY_GID,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UET_CMD_SKEY_DEL,
		.pre_doit	= uet_nl_skey_pre_doit,
		.doit		= uet_nl_skey_del_doit,
		.post_doit	= uet_nl_dev_post_doit,
		.policy		= uet_skey_del_nl_policy,
		.maxattr	= UET_A_SKEY_ID,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UET_CMD_SKEY_REKEY,
		.pre_doit	= uet_nl_skey_pre_doit,
		.doit		= uet_nl_skey_rekey_doit,
		.post_doit	= uet_nl_dev_post_doit,
		.policy		= uet_skey_rekey_nl_policy,
		.maxattr	= UET_A_SKEY_STEP,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UET_CMD_SKEY_GET,
		.pre_doit	= uet_nl_skey_pre_doit,
		.doit		= uet_nl_skey_get_doit,
		.post_doit	= uet_nl_dev_post_doit,
		.policy		= uet_skey_get_do_nl_policy,
		.maxattr	= UET_A_SKEY_ID,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= UET_CMD_SKEY_GET,
		.start		= uet_nl_skey_get_start,
		.dumpit		= uet_nl_skey_get_dumpit,
		.policy		= uet_skey_get_dump_nl_policy,
		.maxattr	= UET_A_SKEY_DEV_NAME,
		.flags		= GENL_CMD_CAP_DUMP,
	},
};

static const struct genl_multicast_group uet_nl_mcgrps[] = {
	[UET_NLGRP_MONITOR] = { "monitor", },
};

struct genl_family uet_nl_family __ro_after_init = {
	.name		= UET_FAMILY_NAME,
	.version	= UET_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= uet_nl_ops,
	.n_split_ops	= ARRAY_SIZE(uet_nl_ops),
	.mcgrps		= uet_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(uet_nl_mcgrps),
};
