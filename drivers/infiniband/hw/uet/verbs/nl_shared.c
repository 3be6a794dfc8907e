// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The netlink family: what requests about jobs and about security keys have in
 * common.
 *
 * Objects are read under uet_dev.job_mutex, one at a time, so each is shown as
 * it is at one moment. A dump during which objects come, go or change is marked
 * as interrupted; what was there all the time is in it once.
 */
#include <net/genetlink.h>

#include "nl.h"

static enum uet_nl_table uet_nl_table(enum uet_shared_kind kind)
{
	return kind == UET_SHARED_JOB ? UET_NL_JOBS : UET_NL_SKEYS;
}

/**
 * uet_nl_shared_find - the object that a request names
 * @info: request, with an id
 * @dev: device, held by the caller
 * @kind: what it names
 * @id_attr: where the request has the id
 *
 * Context: process.
 * Return: a reference, to be dropped by uet_shared_put(), or ERR_PTR(-ENOENT)
 * with the reason in the extack.
 */
struct uet_shared *uet_nl_shared_find(const struct genl_info *info,
				      struct uet_dev *dev,
				      enum uet_shared_kind kind, int id_attr)
{
	const struct nlattr *id = info->attrs[id_attr];
	struct uet_shared *obj;

	obj = uet_shared_find(dev, kind, nla_get_u32(id));
	if (obj)
		return obj;
	NL_SET_BAD_ATTR(info->extack, id);
	if (kind == UET_SHARED_JOB)
		GENL_SET_ERR_MSG(info, "no such job on this device");
	else
		GENL_SET_ERR_MSG(info, "no such security key on this device");
	return ERR_PTR(-ENOENT);
}

/**
 * uet_nl_get_owner - a user or group that a request names
 * @info: request
 * @attr: where it has the id
 * @id: set to it, or to UET_OWNER_NONE if it is not there
 *
 * Return: 0 or -EINVAL.
 */
int uet_nl_get_owner(const struct genl_info *info, int attr, u32 *id)
{
	const struct nlattr *owner = info->attrs[attr];

	*id = UET_OWNER_NONE;
	if (!owner)
		return 0;
	*id = nla_get_u32(owner);
	if (*id != UET_OWNER_NONE)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, owner, "leave it out for no owner");
	return -EINVAL;
}

/**
 * uet_nl_put_owner - owner of an object, into a message
 * @skb: message
 * @obj: job or security key
 * @ns: user namespace of who will read it
 * @uid_attr: where the user goes
 * @gid_attr: where the group goes
 *
 * Return: 0 or -EMSGSIZE.
 */
int uet_nl_put_owner(struct sk_buff *skb, const struct uet_shared *obj,
		     struct user_namespace *ns, int uid_attr, int gid_attr)
{
	if (uid_valid(obj->uid) &&
	    nla_put_u32(skb, uid_attr, from_kuid_munged(ns, obj->uid)))
		return -EMSGSIZE;
	if (gid_valid(obj->gid) &&
	    nla_put_u32(skb, gid_attr, from_kgid_munged(ns, obj->gid)))
		return -EMSGSIZE;
	return 0;
}

/**
 * uet_nl_put_shared - an object, into a message
 * @skb: message
 * @dev: its device, held by the caller
 * @obj: job or security key
 * @ns: user namespace of who will read it
 *
 * Context: process, under uet_dev.job_mutex.
 * Return: 0 or -EMSGSIZE.
 */
int uet_nl_put_shared(struct sk_buff *skb, struct uet_dev *dev,
		      struct uet_shared *obj, struct user_namespace *ns)
{
	lockdep_assert_held(&dev->job_mutex);
	return obj->kind == UET_SHARED_JOB ?
	       uet_nl_put_job(skb, dev, to_ujob(obj), ns) :
	       uet_nl_put_skey(skb, dev, to_uskey(obj), ns);
}

/* For one who reads it now. */
static int uet_nl_put_now(struct sk_buff *skb, struct uet_dev *dev,
			  struct uet_shared *obj)
{
	int err;

	mutex_lock(&dev->job_mutex);
	err = uet_nl_put_shared(skb, dev, obj, current_user_ns());
	mutex_unlock(&dev->job_mutex);
	return err;
}

/**
 * uet_nl_shared_reply - answer with an object
 * @reply: empty message of the default size; it is used up
 * @info: request
 * @dev: device, held by the caller
 * @obj: job or security key
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int uet_nl_shared_reply(struct sk_buff *reply, struct genl_info *info,
			struct uet_dev *dev, struct uet_shared *obj)
{
	int err = -EMSGSIZE;
	void *hdr;

	hdr = uet_nl_start_msg(reply, info, 0);
	if (hdr)
		err = uet_nl_put_now(reply, dev, obj);
	if (err) {
		nlmsg_free(reply);
		return err;
	}
	genlmsg_end(reply, hdr);
	return genlmsg_reply(reply, info);
}

/**
 * uet_nl_shared_get - serve a request to read one object
 * @info: request; uet_nl_pre() found its device
 * @kind: kind of object
 * @id_attr: where the request has the id
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int uet_nl_shared_get(struct genl_info *info, enum uet_shared_kind kind,
		      int id_attr)
{
	struct uet_dev *dev = info->user_ptr[0];
	struct uet_shared *obj;
	struct sk_buff *reply;
	int err = -ENOMEM;

	obj = uet_nl_shared_find(info, dev, kind, id_attr);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	reply = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (reply)
		err = uet_nl_shared_reply(reply, info, dev, obj);
	uet_shared_put(obj);
	if (err)
		uet_nl_explain(info, NULL, err);
	return err;
}

static int uet_nl_dump_shared(struct sk_buff *skb, struct netlink_callback *cb,
			      struct uet_dev *dev, struct uet_shared *obj)
{
	void *hdr;

	hdr = uet_nl_start_msg(skb, genl_info_dump(cb), NLM_F_MULTI);
	if (!hdr)
		return -EMSGSIZE;
	cb->seq = uet_nl_seq(uet_nl_table(obj->kind));
	if (uet_nl_put_now(skb, dev, obj)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genl_dump_check_consistent(cb, hdr);
	genlmsg_end(skb, hdr);
	return 0;
}

/**
 * uet_nl_shared_dump - what a dump has of one device
 * @skb: message
 * @cb: dump
 * @dev: device, held by the caller
 * @kind: kind of object
 *
 * Context: process.
 * Return: 0 at the end, -EMSGSIZE if there is more.
 */
int uet_nl_shared_dump(struct sk_buff *skb, struct netlink_callback *cb,
		       struct uet_dev *dev, enum uet_shared_kind kind)
{
	struct uet_nl_dump *d = uet_nl_dump(cb);
	struct uet_shared *obj;
	u32 pos = d->pos;
	int err;

	while ((obj = uet_shared_next(dev, kind, &pos))) {
		err = uet_nl_dump_shared(skb, cb, dev, obj);
		uet_shared_put(obj);
		if (err)
			return err;
		d->pos = pos;
	}
	/* for the end of the dump, which is checked as well */
	cb->seq = uet_nl_seq(uet_nl_table(kind));
	return 0;
}

/**
 * uet_nl_shared_del - serve a request to end one object
 * @info: request; uet_nl_pre() found its device
 * @kind: kind of object
 * @id_attr: where the request has the id
 * @force: also if somebody holds it
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int uet_nl_shared_del(const struct genl_info *info, enum uet_shared_kind kind,
		      int id_attr, bool force)
{
	const struct nlattr *id = info->attrs[id_attr];
	struct uet_dev *dev = info->user_ptr[0];
	struct uet_shared *obj;
	int err;

	/* For the name that fits; somebody else may still be faster */
	obj = uet_nl_shared_find(info, dev, kind, id_attr);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	uet_shared_put(obj);
	err = uet_shared_del(dev, kind, nla_get_u32(id), force, info->extack);
	if (err)
		uet_nl_explain(info, id, err);
	return err;
}
