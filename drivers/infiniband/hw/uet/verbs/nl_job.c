// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The netlink family: jobs, and who holds them. Jobs made here are persistent:
 * they live until they are deleted here, or the device goes.
 */
#include <net/genetlink.h>

#include "nl.h"

/* Requests that are not about all jobs want an id. */
int uet_nl_job_pre_doit(const struct genl_split_ops *ops, struct sk_buff *skb,
			struct genl_info *info)
{
	int err = uet_nl_need(info, UET_A_JOB_ID, "job id is missing");

	return err ?: uet_nl_pre(ops, skb, info, UET_A_JOB_DEV_INDEX,
				 UET_A_JOB_DEV_NAME);
}

static int uet_nl_put_job_flags(struct sk_buff *skb,
				const struct uet_shared *obj)
{
	if (obj->persistent && nla_put_flag(skb, UET_A_JOB_PERSISTENT))
		return -EMSGSIZE;
	if (obj->dead && nla_put_flag(skb, UET_A_JOB_DEAD))
		return -EMSGSIZE;
	return 0;
}

/**
 * uet_nl_put_job - a job, into a message
 * @skb: message
 * @dev: its device, held by the caller
 * @job: job
 * @ns: user namespace of who will read it
 *
 * Context: process, under uet_dev.job_mutex.
 * Return: 0 or -EMSGSIZE.
 */
int uet_nl_put_job(struct sk_buff *skb, struct uet_dev *dev,
		   struct uet_job *job, struct user_namespace *ns)
{
	struct uet_shared *obj = &job->obj;

	if (nla_put_u32(skb, UET_A_JOB_DEV_INDEX, dev->ib.index) ||
	    nla_put_string(skb, UET_A_JOB_DEV_NAME, dev->ib.name) ||
	    nla_put_u32(skb, UET_A_JOB_ID, obj->id) ||
	    uet_nl_put_owner(skb, obj, ns, UET_A_JOB_UID, UET_A_JOB_GID) ||
	    nla_put_u32(skb, UET_A_JOB_SGID_INDEX, job->sgid_index) ||
	    (job->skey && nla_put_u32(skb, UET_A_JOB_SKEY_ID,
				      job->skey->obj.id)) ||
	    nla_put_u32(skb, UET_A_JOB_PEER_MAX, job->max_addr) ||
	    nla_put_u32(skb, UET_A_JOB_PEER_COUNT, READ_ONCE(job->num_addr)) ||
	    nla_put_u32(skb, UET_A_JOB_JKEY_MAX, job->max_jkey) ||
	    nla_put_u32(skb, UET_A_JOB_JKEY_COUNT, atomic_read(&job->jkeys)) ||
	    nla_put_u32(skb, UET_A_JOB_HOLDER_COUNT,
			list_count_nodes(&obj->holders)))
		return -EMSGSIZE;
	return uet_nl_put_job_flags(skb, obj);
}

int uet_nl_job_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return uet_nl_shared_get(info, UET_SHARED_JOB, UET_A_JOB_ID);
}

int uet_nl_job_get_start(struct netlink_callback *cb)
{
	return uet_nl_dump_start(cb, UET_A_JOB_DEV_INDEX, UET_A_JOB_DEV_NAME);
}

static int uet_nl_dump_dev_jobs(struct sk_buff *skb,
				struct netlink_callback *cb,
				struct uet_dev *dev)
{
	return uet_nl_shared_dump(skb, cb, dev, UET_SHARED_JOB);
}

int uet_nl_job_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return uet_nl_dump_devs(skb, cb, uet_nl_dump_dev_jobs);
}

static u32 uet_nl_u32(const struct genl_info *info, int attr)
{
	return info->attrs[attr] ? nla_get_u32(info->attrs[attr]) : 0;
}

static int uet_nl_job_attr(const struct genl_info *info,
			   struct uet_job_attr *attr)
{
	attr->id = uet_nl_u32(info, UET_A_JOB_ID);
	attr->port_num = UET_PORT;
	attr->transport = UET_JOB_TRANSPORT_UDP;
	attr->sgid_index = uet_nl_u32(info, UET_A_JOB_SGID_INDEX);
	attr->max_addr = uet_nl_u32(info, UET_A_JOB_PEER_MAX);
	attr->max_jkey = uet_nl_u32(info, UET_A_JOB_JKEY_MAX);
	return uet_nl_get_owner(info, UET_A_JOB_UID, &attr->uid) ?:
	       uet_nl_get_owner(info, UET_A_JOB_GID, &attr->gid);
}

static int uet_nl_job_create(struct genl_info *info, struct uet_dev *dev,
			     const struct uet_job_attr *attr,
			     struct uet_skey *skey)
{
	struct uet_job *job;
	int err;

	job = uet_job_create(dev, attr, skey, true, info->extack);
	if (!IS_ERR(job)) {
		uet_shared_put(&job->obj);
		return 0;
	}
	err = PTR_ERR(job);
	uet_nl_explain(info, err == -EEXIST ? info->attrs[UET_A_JOB_ID] : NULL,
		       err);
	return err;
}

int uet_nl_job_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct uet_dev *dev = info->user_ptr[0];
	struct uet_job_attr attr = {};
	struct uet_shared *skey;
	int err;

	err = uet_nl_job_attr(info, &attr);
	if (err)
		return err;
	if (!info->attrs[UET_A_JOB_SKEY_ID])
		return uet_nl_job_create(info, dev, &attr, NULL);

	skey = uet_nl_shared_find(info, dev, UET_SHARED_SKEY,
				  UET_A_JOB_SKEY_ID);
	if (IS_ERR(skey))
		return PTR_ERR(skey);
	err = uet_nl_job_create(info, dev, &attr, to_uskey(skey));
	uet_shared_put(skey);
	return err;
}

int uet_nl_job_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return uet_nl_shared_del(info, UET_SHARED_JOB, UET_A_JOB_ID,
				 nla_get_flag(info->attrs[UET_A_JOB_FORCE]));
}

/* ---- holders ---- */

/* Hook before the first message of a dump of holders: which job? */
int uet_nl_holder_get_start(struct netlink_callback *cb)
{
	const struct genl_info *info = genl_info_dump(cb);
	struct uet_nl_dump *d = uet_nl_dump(cb);

	d->one_job = uet_nl_u32(info, UET_A_HOLDER_JOB_ID);
	return uet_nl_dump_start(cb, UET_A_HOLDER_DEV_INDEX,
				 UET_A_HOLDER_DEV_NAME);
}

static int uet_nl_put_holder(struct sk_buff *skb, struct uet_dev *dev,
			     const struct uet_hold *hold)
{
	if (nla_put_u32(skb, UET_A_HOLDER_DEV_INDEX, dev->ib.index) ||
	    nla_put_string(skb, UET_A_HOLDER_DEV_NAME,
			   dev->ib.name) ||
	    nla_put_u32(skb, UET_A_HOLDER_JOB_ID, hold->obj->id) ||
	    nla_put_u32(skb, UET_A_HOLDER_PID, pid_vnr(hold->pid)) ||
	    nla_put_string(skb, UET_A_HOLDER_COMM, hold->comm) ||
	    nla_put_u32(skb, UET_A_HOLDER_RIGHTS, hold->rights) ||
	    nla_put_u32(skb, UET_A_HOLDER_JKEY_COUNT,
			atomic_read(&hold->users)))
		return -EMSGSIZE;
	return 0;
}

static int uet_nl_dump_holder(struct sk_buff *skb, struct netlink_callback *cb,
			      struct uet_dev *dev, const struct uet_hold *hold)
{
	void *hdr;

	hdr = uet_nl_start_msg(skb, genl_info_dump(cb), NLM_F_MULTI);
	if (!hdr)
		return -EMSGSIZE;
	cb->seq = uet_nl_seq(UET_NL_JOBS);
	if (uet_nl_put_holder(skb, dev, hold)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genl_dump_check_consistent(cb, hdr);
	genlmsg_end(skb, hdr);
	return 0;
}

static int uet_nl_dump_job_holders(struct sk_buff *skb,
				   struct netlink_callback *cb,
				   struct uet_dev *dev, struct uet_shared *job)
{
	struct uet_nl_dump *d = uet_nl_dump(cb);
	const struct uet_hold *hold;
	int err = 0;

	if (d->in_job != job->id) {
		d->in_job = job->id;
		d->serial = 0;
	}
	mutex_lock(&dev->job_mutex);
	list_for_each_entry(hold, &job->holders, node) {
		if (hold->serial <= d->serial)
			continue;
		err = uet_nl_dump_holder(skb, cb, dev, hold);
		if (err)
			break;
		d->serial = hold->serial;
	}
	mutex_unlock(&dev->job_mutex);
	return err;
}

static int uet_nl_dump_dev_holders(struct sk_buff *skb,
				   struct netlink_callback *cb,
				   struct uet_dev *dev)
{
	struct uet_nl_dump *d = uet_nl_dump(cb);
	struct uet_shared *job;
	u32 pos = d->pos;
	int err = 0;

	while ((job = uet_shared_next(dev, UET_SHARED_JOB, &pos))) {
		if (!d->one_job || d->one_job == job->id)
			err = uet_nl_dump_job_holders(skb, cb, dev, job);
		uet_shared_put(job);
		if (err)
			return err;
		d->pos = pos;
	}
	cb->seq = uet_nl_seq(UET_NL_JOBS);
	return 0;
}

int uet_nl_holder_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return uet_nl_dump_devs(skb, cb, uet_nl_dump_dev_holders);
}
