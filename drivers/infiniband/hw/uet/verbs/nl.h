/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What the parts of the netlink family share. netlink.c has the family and
 * devices, nl_pdc.c PDCs, nl_shared.c what jobs and security keys have in
 * common, nl_job.c jobs and their holders, nl_peer.c peer tables, nl_skey.c
 * security keys, nl_ntf.c notifications.
 */
#ifndef UET_VERBS_NL_H
#define UET_VERBS_NL_H

#include <net/genetlink.h>
#include <net/netlink.h>

#include "job.h"
#include "netlink_gen.h"
#include "uet.h"

/* What is counted for dumps: a change meanwhile marks them as interrupted. */
enum uet_nl_table {
	UET_NL_DEVS,
	UET_NL_JOBS,
	UET_NL_SKEYS,
	UET_NL_TABLES
};

/**
 * struct uet_nl_dump - what a dump remembers from one message to the next
 * @dev_pos: cursor of uet_dev_next()
 * @pos: cursor in the device at @dev_pos: PDC, job, security key or peer
 * @pos_dev: index of the device that @pos is for
 * @only: index of the one device asked for
 * @filter: @only is valid
 * @one_job: holders: the one job asked for, or 0
 * @in_job: holders: the job that @serial is for
 * @serial: holders: the last one shown
 * @job: peers: whose, with a reference
 */
struct uet_nl_dump {
	u32 dev_pos;
	u32 pos;
	u32 pos_dev;
	u32 only;
	bool filter;
	u32 one_job;
	u32 in_job;
	u64 serial;
	struct uet_job *job;
};

static_assert(sizeof(struct uet_nl_dump) <=
	      sizeof_field(struct netlink_callback, ctx));

static inline struct uet_nl_dump *uet_nl_dump(struct netlink_callback *cb)
{
	return (struct uet_nl_dump *)cb->ctx;
}

/* Fills in what a dump has of one device; 0, or -EMSGSIZE to go on later. */
typedef int (*uet_nl_dump_fn)(struct sk_buff *skb, struct netlink_callback *cb,
			      struct uet_dev *dev);

/* netlink.c */
void uet_nl_changed(enum uet_nl_table table);
u32 uet_nl_seq(enum uet_nl_table table);
struct uet_dev *uet_nl_dev_find(const struct genl_info *info, int index_attr,
				int name_attr);
int uet_nl_pre(const struct genl_split_ops *ops, const struct sk_buff *skb,
	       struct genl_info *info, int index_attr, int name_attr);
int uet_nl_dump_start(struct netlink_callback *cb, int index_attr,
		      int name_attr);
int uet_nl_dump_devs(struct sk_buff *skb, struct netlink_callback *cb,
		     uet_nl_dump_fn fn);
void *uet_nl_start_msg(struct sk_buff *skb, const struct genl_info *info,
		       int flags);
int uet_nl_need(const struct genl_info *info, int attr, const char *why);
bool uet_nl_may_set(const struct sk_buff *skb, const struct uet_dev *dev);
void uet_nl_explain(const struct genl_info *info, const struct nlattr *attr,
		    int err);
int uet_nl_put_addr(struct sk_buff *skb, int attr, const struct in6_addr *a);
int uet_nl_put_dev(struct sk_buff *skb, struct uet_dev *dev);

/* nl_shared.c */
struct uet_shared *uet_nl_shared_find(const struct genl_info *info,
				      struct uet_dev *dev,
				      enum uet_shared_kind kind, int id_attr);
int uet_nl_get_owner(const struct genl_info *info, int attr, u32 *id);
int uet_nl_put_owner(struct sk_buff *skb, const struct uet_shared *obj,
		     struct user_namespace *ns, int uid_attr, int gid_attr);
int uet_nl_put_shared(struct sk_buff *skb, struct uet_dev *dev,
		      struct uet_shared *obj, struct user_namespace *ns);
int uet_nl_shared_reply(struct sk_buff *reply, struct genl_info *info,
			struct uet_dev *dev, struct uet_shared *obj);
int uet_nl_shared_get(struct genl_info *info, enum uet_shared_kind kind,
		      int id_attr);
int uet_nl_shared_dump(struct sk_buff *skb, struct netlink_callback *cb,
		       struct uet_dev *dev, enum uet_shared_kind kind);
int uet_nl_shared_del(const struct genl_info *info, enum uet_shared_kind kind,
		      int id_attr, bool force);

/* nl_job.c, nl_skey.c; under uet_dev.job_mutex */
int uet_nl_put_job(struct sk_buff *skb, struct uet_dev *dev,
		   struct uet_job *job, struct user_namespace *ns);
int uet_nl_put_skey(struct sk_buff *skb, struct uet_dev *dev,
		    struct uet_skey *skey, struct user_namespace *ns);

#endif /* UET_VERBS_NL_H */
