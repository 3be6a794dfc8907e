// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The netlink family: security keys. Material goes in and never comes out; the
 * copy of it in the request is wiped before the request is freed, so that it is
 * not in the copy that an error message carries either.
 */
#include <net/genetlink.h>

#include "nl.h"

static_assert((int)UET_SKEY_ALGORITHM_AES_256_GCM == UET_SKEY_AES_256_GCM);
static_assert((int)UET_SKEY_KEY_MODE_DIRECT == UET_SKEY_DIRECT);
static_assert((int)UET_SKEY_KEY_MODE_CLUSTER == UET_SKEY_CLUSTER);
static_assert((int)UET_SKEY_KEY_MODE_SERVER == UET_SKEY_SERVER);
static_assert((int)UET_SKEY_KEY_MODE_CLIENT == UET_SKEY_CLIENT);
static_assert((int)UET_SKEY_STEP_INSTALL == UET_SKEY_REKEY_INSTALL);
static_assert((int)UET_SKEY_STEP_SWITCH == UET_SKEY_REKEY_SWITCH);
static_assert((int)UET_SKEY_STEP_RETIRE == UET_SKEY_REKEY_RETIRE);

/* Every attribute, not only the last one of its type that counts. */
static void uet_nl_skey_wipe(const struct genl_info *info)
{
	struct nlattr *attr;
	int rem;

	nla_for_each_attr_type(attr, UET_A_SKEY_KEY,
			       genlmsg_data(info->genlhdr),
			       genlmsg_len(info->genlhdr), rem)
		memzero_explicit(nla_data(attr), nla_len(attr));
}

int uet_nl_skey_pre_doit(const struct genl_split_ops *ops, struct sk_buff *skb,
			 struct genl_info *info)
{
	int err;

	err = uet_nl_pre(ops, skb, info, UET_A_SKEY_DEV_INDEX,
			 UET_A_SKEY_DEV_NAME);
	if (err)
		uet_nl_skey_wipe(info);
	return err;
}

/**
 * uet_nl_put_skey - a security key, without its material, into a message
 * @skb: message
 * @dev: its device, held by the caller
 * @skey: security key
 * @ns: user namespace of who will read it
 *
 * Context: process, under uet_dev.job_mutex.
 * Return: 0 or -EMSGSIZE.
 */
int uet_nl_put_skey(struct sk_buff *skb, struct uet_dev *dev,
		    struct uet_skey *skey, struct user_namespace *ns)
{
	struct uet_shared *obj = &skey->obj;
	u8 an, an_valid;

	spin_lock_bh(&skey->lock);
	an = skey->an;
	an_valid = skey->an_valid;
	spin_unlock_bh(&skey->lock);

	if (nla_put_u32(skb, UET_A_SKEY_DEV_INDEX, dev->ib.index) ||
	    nla_put_string(skb, UET_A_SKEY_DEV_NAME, dev->ib.name) ||
	    nla_put_u32(skb, UET_A_SKEY_ID, obj->id) ||
	    nla_put_u32(skb, UET_A_SKEY_ALGORITHM, skey->alg) ||
	    nla_put_u32(skb, UET_A_SKEY_MODE, skey->mode) ||
	    nla_put_u32(skb, UET_A_SKEY_SDI, skey->sdi) ||
	    (skey->has_ssi && nla_put_u32(skb, UET_A_SKEY_SSI, skey->ssi)) ||
	    nla_put_u8(skb, UET_A_SKEY_AN, an) ||
	    nla_put_u8(skb, UET_A_SKEY_AN_VALID, an_valid) ||
	    uet_nl_put_owner(skb, obj, ns, UET_A_SKEY_UID, UET_A_SKEY_GID) ||
	    nla_put_u32(skb, UET_A_SKEY_JOB_COUNT, skey->jobs) ||
	    (obj->persistent && nla_put_flag(skb, UET_A_SKEY_PERSISTENT)))
		return -EMSGSIZE;
	return 0;
}

static int uet_nl_need_id(const struct genl_info *info)
{
	return uet_nl_need(info, UET_A_SKEY_ID, "security key id is missing");
}

int uet_nl_skey_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return uet_nl_need_id(info) ?:
	       uet_nl_shared_get(info, UET_SHARED_SKEY, UET_A_SKEY_ID);
}

int uet_nl_skey_get_start(struct netlink_callback *cb)
{
	return uet_nl_dump_start(cb, UET_A_SKEY_DEV_INDEX,
				 UET_A_SKEY_DEV_NAME);
}

static int uet_nl_dump_dev_skeys(struct sk_buff *skb,
				 struct netlink_callback *cb,
				 struct uet_dev *dev)
{
	return uet_nl_shared_dump(skb, cb, dev, UET_SHARED_SKEY);
}

int uet_nl_skey_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return uet_nl_dump_devs(skb, cb, uet_nl_dump_dev_skeys);
}

int uet_nl_skey_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return uet_nl_need_id(info) ?:
	       uet_nl_shared_del(info, UET_SHARED_SKEY, UET_A_SKEY_ID, false);
}

static int uet_nl_skey_attr(const struct genl_info *info,
			    struct uet_skey_attr *attr)
{
	struct nlattr **a = info->attrs;

	attr->alg = a[UET_A_SKEY_ALGORITHM] ?
		    nla_get_u32(a[UET_A_SKEY_ALGORITHM]) : UET_SKEY_AES_256_GCM;
	if (a[UET_A_SKEY_ID])
		attr->id = nla_get_u32(a[UET_A_SKEY_ID]);
	if (a[UET_A_SKEY_MODE])
		attr->mode = nla_get_u32(a[UET_A_SKEY_MODE]);
	if (a[UET_A_SKEY_SDI])
		attr->sdi = nla_get_u32(a[UET_A_SKEY_SDI]);
	if (a[UET_A_SKEY_AN])
		attr->an = nla_get_u8(a[UET_A_SKEY_AN]);
	if (a[UET_A_SKEY_SSI]) {
		attr->ssi = nla_get_u32(a[UET_A_SKEY_SSI]);
		attr->flags |= UET_SKEY_HAS_SSI;
	}
	return uet_nl_get_owner(info, UET_A_SKEY_UID, &attr->uid) ?:
	       uet_nl_get_owner(info, UET_A_SKEY_GID, &attr->gid) ?:
	       uet_nl_need(info, UET_A_SKEY_KEY, "key material is missing");
}

/* All that can fail comes before the key is there. */
static int uet_nl_skey_new(struct genl_info *info, struct uet_dev *dev)
{
	struct nlattr **a = info->attrs;
	struct uet_skey_attr attr = {};
	struct uet_skey *skey;
	struct sk_buff *reply;
	int err;

	err = uet_nl_skey_attr(info, &attr);
	if (err)
		return err;
	reply = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	skey = reply ? uet_skey_create(dev, &attr, nla_data(a[UET_A_SKEY_KEY]),
				       true, info->extack) :
		       ERR_PTR(-ENOMEM);
	if (IS_ERR(skey)) {
		nlmsg_free(reply);
		err = PTR_ERR(skey);
		uet_nl_explain(info, err == -EEXIST ? a[UET_A_SKEY_ID] : NULL,
			       err);
		return err;
	}
	err = uet_nl_shared_reply(reply, info, dev, &skey->obj);
	uet_shared_put(&skey->obj);
	return err;
}

int uet_nl_skey_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err = uet_nl_skey_new(info, info->user_ptr[0]);

	uet_nl_skey_wipe(info);
	return err;
}

/* Which step, and does it come with material if and only if it needs some? */
static int uet_nl_skey_step(const struct genl_info *info,
			    enum uet_skey_rekey_op *op)
{
	const struct nlattr *key = info->attrs[UET_A_SKEY_KEY];
	int err;

	err = uet_nl_need_id(info) ?:
	      uet_nl_need(info, UET_A_SKEY_STEP, "step is missing");
	if (err)
		return err;
	*op = nla_get_u32(info->attrs[UET_A_SKEY_STEP]);
	if (*op == UET_SKEY_REKEY_INSTALL)
		return uet_nl_need(info, UET_A_SKEY_KEY,
				   "key material is missing");
	if (!key)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, key,
			    "only the step install takes key material");
	return -EINVAL;
}

static int uet_nl_skey_rekey(struct genl_info *info, struct uet_dev *dev)
{
	const struct nlattr *key = info->attrs[UET_A_SKEY_KEY];
	enum uet_skey_rekey_op op;
	struct uet_shared *skey;
	int err;

	err = uet_nl_skey_step(info, &op);
	if (err)
		return err;
	skey = uet_nl_shared_find(info, dev, UET_SHARED_SKEY, UET_A_SKEY_ID);
	if (IS_ERR(skey))
		return PTR_ERR(skey);
	err = uet_skey_rekey(to_uskey(skey), op, key ? nla_data(key) : NULL,
			     info->extack);
	uet_shared_put(skey);
	if (err)
		uet_nl_explain(info, info->attrs[UET_A_SKEY_STEP], err);
	return err;
}

int uet_nl_skey_rekey_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err = uet_nl_skey_rekey(info, info->user_ptr[0]);

	uet_nl_skey_wipe(info);
	return err;
}
