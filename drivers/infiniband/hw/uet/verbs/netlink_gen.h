/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/uet.yaml */
/* YNL-GEN kernel header */
/* To regenerate run: tools/net/ynl/ynl-regen.sh */

#ifndef _LINUX_UET_GEN_H
#define _LINUX_UET_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/rdma/uet_netlink.h>

/* Common nested types */
extern const struct nla_policy uet_peer_nl_policy[UET_A_PEER_HOP_LIMIT + 1];

int uet_nl_dev_pre_doit(const struct genl_split_ops *ops, struct sk_buff *skb,
			struct genl_info *info);
int uet_nl_job_pre_doit(const struct genl_split_ops *ops, struct sk_buff *skb,
			struct genl_info *info);
int uet_nl_peer_pre_doit(const struct genl_split_ops *ops, struct sk_buff *skb,
			 struct genl_info *info);
int uet_nl_skey_pre_doit(const struct genl_split_ops *ops, struct sk_buff *skb,
			 struct genl_info *info);
void
uet_nl_dev_post_doit(const struct genl_split_ops *ops, struct sk_buff *skb,
		     struct genl_info *info);
int uet_nl_pdc_get_start(struct netlink_callback *cb);
int uet_nl_job_get_start(struct netlink_callback *cb);
int uet_nl_peer_get_start(struct netlink_callback *cb);
int uet_nl_holder_get_start(struct netlink_callback *cb);
int uet_nl_skey_get_start(struct netlink_callback *cb);
int uet_nl_peer_get_done(struct netlink_callback *cb);

int uet_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info);
int uet_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int uet_nl_dev_set_doit(struct sk_buff *skb, struct genl_info *info);
int uet_nl_pdc_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int uet_nl_job_new_doit(struct sk_buff *skb, struct genl_info *info);
int uet_nl_job_del_doit(struct sk_buff *skb, struct genl_info *info);
int uet_nl_job_get_doit(struct sk_buff *skb, struct genl_info *info);
int uet_nl_job_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int uet_nl_peer_set_doit(struct sk_buff *skb, struct genl_info *info);
int uet_nl_peer_del_doit(struct sk_buff *skb, struct genl_info *info);
int uet_nl_peer_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int uet_nl_holder_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int uet_nl_skey_new_doit(struct sk_buff *skb, struct genl_info *info);
int uet_nl_skey_del_doit(struct sk_buff *skb, struct genl_info *info);
int uet_nl_skey_rekey_doit(struct sk_buff *skb, struct genl_info *info);
int uet_nl_skey_get_doit(struct sk_buff *skb, struct genl_info *info);
int uet_nl_skey_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);

enum {
	UET_NLGRP_MONITOR,
};

extern struct genl_family uet_nl_family;

#endif /* _LINUX_UET_GEN_H */
