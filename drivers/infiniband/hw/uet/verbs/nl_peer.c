// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The netlink family: peer tables of jobs, set in bulk. A message is done as a
 * whole or not at all; larger tables take several messages.
 */
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/ipv6.h>

#include "nl.h"

/* Entries that a dump takes out of a table at a time, on the stack. */
#define UET_NL_PEER_BATCH	8

int uet_nl_peer_pre_doit(const struct genl_split_ops *ops, struct sk_buff *skb,
			 struct genl_info *info)
{
	int err = uet_nl_need(info, UET_A_JOB_PEERS_JOB_ID,
			      "job id is missing");

	return err ?: uet_nl_pre(ops, skb, info, UET_A_JOB_PEERS_DEV_INDEX,
				 UET_A_JOB_PEERS_DEV_NAME);
}

static struct uet_job *uet_nl_peer_job(const struct genl_info *info,
				       struct uet_dev *dev)
{
	struct uet_shared *obj;

	obj = uet_nl_shared_find(info, dev, UET_SHARED_JOB,
				 UET_A_JOB_PEERS_JOB_ID);
	return IS_ERR(obj) ? ERR_CAST(obj) : to_ujob(obj);
}

/* ---- to set ---- */

static int uet_nl_get_addr(const struct genl_info *info,
			   const struct nlattr *attr, u8 *dgid)
{
	struct in6_addr a;

	if (nla_len(attr) == sizeof(a)) {
		memcpy(dgid, nla_data(attr), sizeof(a));
		return 0;
	}
	if (nla_len(attr) != sizeof(__be32)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "address must have 4 or 16 bytes");
		return -EINVAL;
	}
	ipv6_addr_set_v4mapped(nla_get_be32(attr), &a);
	memcpy(dgid, &a, sizeof(a));
	return 0;
}

static int uet_nl_get_peer(const struct genl_info *info,
			   const struct nlattr *nest, struct uet_job_addr *addr)
{
	struct nlattr *a[UET_A_PEER_MAX + 1];
	int err;

	err = nla_parse_nested(a, UET_A_PEER_MAX, nest, uet_peer_nl_policy,
			       info->extack);
	if (err)
		return err;
	if (!a[UET_A_PEER_INDEX] || !a[UET_A_PEER_ADDR] ||
	    !a[UET_A_PEER_QPN]) {
		NL_SET_ERR_MSG_ATTR(info->extack, nest,
				    "a peer needs index, address and QP number");
		return -EINVAL;
	}
	memset(addr, 0, sizeof(*addr));
	addr->index = nla_get_u32(a[UET_A_PEER_INDEX]);
	addr->qpn = nla_get_u32(a[UET_A_PEER_QPN]);
	if (a[UET_A_PEER_TCLASS])
		addr->traffic_class = nla_get_u8(a[UET_A_PEER_TCLASS]);
	if (a[UET_A_PEER_HOP_LIMIT])
		addr->hop_limit = nla_get_u8(a[UET_A_PEER_HOP_LIMIT]);
	if (a[UET_A_PEER_SGID_INDEX]) {
		addr->sgid_index = nla_get_u32(a[UET_A_PEER_SGID_INDEX]);
		addr->flags |= UET_JOB_ADDR_SGID;
	}
	return uet_nl_get_addr(info, a[UET_A_PEER_ADDR], addr->dgid);
}

static u32 uet_nl_count_peers(const struct genl_info *info)
{
	const struct nlattr *attr;
	u32 nr = 0;
	int rem;

	nla_for_each_attr_type(attr, UET_A_JOB_PEERS_PEER,
			       genlmsg_data(info->genlhdr),
			       genlmsg_len(info->genlhdr), rem)
		nr++;
	return nr;
}

/* Said here, where it is known which one is meant. */
static int uet_nl_check_peer(const struct genl_info *info,
			     const struct nlattr *nest,
			     const struct uet_job_addr *addr,
			     const struct uet_job *job)
{
	if (addr->index < job->max_addr)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, nest,
			    "index is outside the peer table");
	return -EINVAL;
}

static int uet_nl_get_peers(const struct genl_info *info,
			    const struct uet_job *job,
			    struct uet_job_addr *addr)
{
	const struct nlattr *attr;
	int rem, err;

	nla_for_each_attr_type(attr, UET_A_JOB_PEERS_PEER,
			       genlmsg_data(info->genlhdr),
			       genlmsg_len(info->genlhdr), rem) {
		err = uet_nl_get_peer(info, attr, addr) ?:
		      uet_nl_check_peer(info, attr, addr, job);
		if (err)
			return err;
		addr++;
	}
	return 0;
}

static int uet_nl_set_peers(const struct genl_info *info, struct uet_job *job)
{
	u32 nr = uet_nl_count_peers(info);
	struct uet_job_addr *addr;
	int err;

	addr = kvmalloc_array(nr, sizeof(*addr), GFP_KERNEL);
	if (!addr)
		return -ENOMEM;
	err = uet_nl_get_peers(info, job, addr) ?:
	      uet_job_addr_insert(job, addr, nr, info->extack);
	kvfree(addr);
	return err;
}

int uet_nl_peer_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct uet_job *job;
	int err;

	err = uet_nl_need(info, UET_A_JOB_PEERS_PEER, "no peer is given");
	if (err)
		return err;
	job = uet_nl_peer_job(info, info->user_ptr[0]);
	if (IS_ERR(job))
		return PTR_ERR(job);
	err = uet_nl_set_peers(info, job);
	uet_shared_put(&job->obj);
	if (err)
		uet_nl_explain(info, NULL, err);
	return err;
}

/* ---- to clear ---- */

int uet_nl_peer_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **a = info->attrs;
	struct uet_job *job;
	int err;

	err = uet_nl_need(info, UET_A_JOB_PEERS_FIRST,
			  "first index is missing") ?:
	      uet_nl_need(info, UET_A_JOB_PEERS_COUNT, "count is missing");
	if (err)
		return err;
	job = uet_nl_peer_job(info, info->user_ptr[0]);
	if (IS_ERR(job))
		return PTR_ERR(job);
	err = uet_job_addr_remove(job, nla_get_u32(a[UET_A_JOB_PEERS_FIRST]),
				  nla_get_u32(a[UET_A_JOB_PEERS_COUNT]), true);
	uet_shared_put(&job->obj);
	if (err == -EINVAL)
		NL_SET_ERR_MSG_ATTR(info->extack, a[UET_A_JOB_PEERS_FIRST],
				    "range is not inside the peer table");
	else if (err)
		uet_nl_explain(info, NULL, err);
	return err;
}

/* ---- to read ---- */

/* Hook before the first message of a dump of peers: finds and keeps the job. */
int uet_nl_peer_get_start(struct netlink_callback *cb)
{
	const struct genl_info *info = genl_info_dump(cb);
	struct uet_nl_dump *d = uet_nl_dump(cb);
	struct uet_dev *dev;
	struct uet_job *job;
	int err;

	err = uet_nl_need(info, UET_A_JOB_PEERS_JOB_ID, "job id is missing");
	if (err)
		return err;
	dev = uet_nl_dev_find(info, UET_A_JOB_PEERS_DEV_INDEX,
			      UET_A_JOB_PEERS_DEV_NAME);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	d->only = dev->ib.index;
	d->filter = true;
	job = uet_nl_may_set(cb->skb, dev) ? uet_nl_peer_job(info, dev) :
					     ERR_PTR(-EPERM);
	ib_device_put(&dev->ib);
	if (IS_ERR(job))
		return PTR_ERR(job);
	d->job = job;
	return 0;
}

int uet_nl_peer_get_done(struct netlink_callback *cb)
{
	uet_shared_put(&uet_nl_dump(cb)->job->obj);
	return 0;
}

/* What was left to a default is left out. */
static int uet_nl_put_peer(struct sk_buff *skb, const struct uet_job_addr *addr)
{
	struct in6_addr dgid;
	struct nlattr *nest;

	nest = nla_nest_start(skb, UET_A_JOB_PEERS_PEER);
	if (!nest)
		return -EMSGSIZE;
	memcpy(&dgid, addr->dgid, sizeof(dgid));
	if (nla_put_u32(skb, UET_A_PEER_INDEX, addr->index) ||
	    uet_nl_put_addr(skb, UET_A_PEER_ADDR, &dgid) ||
	    nla_put_u32(skb, UET_A_PEER_QPN, addr->qpn) ||
	    ((addr->flags & UET_JOB_ADDR_SGID) &&
	     nla_put_u32(skb, UET_A_PEER_SGID_INDEX, addr->sgid_index)) ||
	    (addr->traffic_class &&
	     nla_put_u8(skb, UET_A_PEER_TCLASS, addr->traffic_class)) ||
	    (addr->hop_limit &&
	     nla_put_u8(skb, UET_A_PEER_HOP_LIMIT, addr->hop_limit))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* As many peers as fit; 0 at the end of the table, else -EMSGSIZE. */
static int uet_nl_put_peers(struct sk_buff *skb, struct uet_nl_dump *d)
{
	struct uet_job_addr addr[UET_NL_PEER_BATCH];
	u32 pos = d->pos, nr, i;

	while ((nr = uet_job_addr_next(d->job, &pos, addr, ARRAY_SIZE(addr)))) {
		for (i = 0; i < nr; i++) {
			if (uet_nl_put_peer(skb, &addr[i]))
				return -EMSGSIZE;
			d->pos = addr[i].index + 1;
		}
	}
	return 0;
}

static int uet_nl_dump_job_peers(struct sk_buff *skb,
				 struct netlink_callback *cb,
				 struct uet_dev *dev)
{
	struct uet_nl_dump *d = uet_nl_dump(cb);
	u32 first = d->pos;
	int err = -EMSGSIZE;
	void *hdr;

	hdr = uet_nl_start_msg(skb, genl_info_dump(cb), NLM_F_MULTI);
	if (!hdr)
		return -EMSGSIZE;
	if (!nla_put_u32(skb, UET_A_JOB_PEERS_DEV_INDEX, dev->ib.index) &&
	    !nla_put_string(skb, UET_A_JOB_PEERS_DEV_NAME,
			    dev->ib.name) &&
	    !nla_put_u32(skb, UET_A_JOB_PEERS_JOB_ID, d->job->obj.id))
		err = uet_nl_put_peers(skb, d);
	if (d->pos == first) {
		genlmsg_cancel(skb, hdr);
		return err;
	}
	genl_dump_check_consistent(cb, hdr);
	genlmsg_end(skb, hdr);
	return err;
}

int uet_nl_peer_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct uet_job *job = uet_nl_dump(cb)->job;

	/* never 0, which netlink takes for "not in use" */
	cb->seq = READ_ONCE(job->addr_seq) + 1 ?: 1;
	return uet_nl_dump_devs(skb, cb, uet_nl_dump_job_peers);
}
