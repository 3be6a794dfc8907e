// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Security keys: stored, shared, referred to by jobs, and changed without a
 * gap. Key material goes in and never comes out.
 */
#include <linux/cred.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/user_namespace.h>
#include <uapi/rdma/uet_netlink.h>

#include "job.h"

#define UET_SDI_MAX	0xffffff

static int uet_skey_check_reserved(const struct uet_skey_attr *attr)
{
	if (attr->comp_mask)
		return -EOPNOTSUPP;
	if (attr->flags & ~UET_SKEY_HAS_SSI || attr->an_valid ||
	    attr->rights || attr->num_job ||
	    (attr->ssi && !(attr->flags & UET_SKEY_HAS_SSI)) ||
	    memchr_inv(attr->reserved, 0, sizeof(attr->reserved)))
		return -EINVAL;
	return 0;
}

static int uet_skey_check(const struct uet_skey_attr *attr,
			  struct netlink_ext_ack *extack)
{
	int err;

	err = uet_skey_check_reserved(attr);
	if (err)
		return err;
	if (attr->alg != UET_SKEY_AES_256_GCM) {
		NL_SET_ERR_MSG(extack, "no such algorithm");
		return -EOPNOTSUPP;
	}
	if (attr->mode > UET_SKEY_CLIENT) {
		NL_SET_ERR_MSG(extack, "no such key mode");
		return -EOPNOTSUPP;
	}
	if (attr->id > INT_MAX) {
		NL_SET_ERR_MSG(extack, "id of the security key is too large");
		return -EINVAL;
	}
	if (attr->sdi > UET_SDI_MAX) {
		NL_SET_ERR_MSG(extack, "secure domain id has more than 24 bits");
		return -EINVAL;
	}
	if (attr->an > 1) {
		NL_SET_ERR_MSG(extack, "association number must be 0 or 1");
		return -EINVAL;
	}
	return 0;
}

/* A key of zeros is what a program sends that forgot to fill it in. */
static int uet_skey_check_key(const u8 *key, struct netlink_ext_ack *extack)
{
	u8 bits = 0;
	unsigned int i;

	for (i = 0; i < UET_SKEY_BYTES; i++)
		bits |= key[i];
	if (bits)
		return 0;
	NL_SET_ERR_MSG(extack, "key material is all zero");
	return -EKEYREJECTED;
}

static int uet_skey_set_owner(struct uet_skey *skey,
			      const struct uet_skey_attr *attr,
			      struct netlink_ext_ack *extack)
{
	struct user_namespace *ns = current_user_ns();

	skey->obj.uid = make_kuid(ns, attr->uid);
	skey->obj.gid = make_kgid(ns, attr->gid);
	if ((attr->uid != UET_OWNER_NONE && !uid_valid(skey->obj.uid)) ||
	    (attr->gid != UET_OWNER_NONE && !gid_valid(skey->obj.gid))) {
		NL_SET_ERR_MSG(extack, "owner does not exist in this user namespace");
		return -EINVAL;
	}
	return 0;
}

static void uet_skey_explain(int err, struct netlink_ext_ack *extack)
{
	switch (err) {
	case -EEXIST:
		NL_SET_ERR_MSG(extack, "the device has a security key with this id");
		break;
	case -ENOSPC:
		NL_SET_ERR_MSG(extack, "the device has as many security keys as it may have");
		break;
	}
}

static void uet_skey_put_key(struct uet_skey *skey, u8 an, const u8 *key)
{
	memcpy(skey->key[an], key, UET_SKEY_BYTES);
	skey->an_valid |= BIT(an);
}

/**
 * uet_skey_create - make a security key
 * @dev: device, held by the caller, who has looked for the right to do it
 * @attr: what kind
 * @key: material, UET_SKEY_BYTES; the caller wipes it
 * @persistent: lives until uet_shared_del()
 * @extack: told what is wrong, or NULL
 *
 * Context: process; owners are as the caller's user namespace has them.
 * Return: as uet_job_create(), or ERR_PTR of -EINVAL, -EOPNOTSUPP,
 * -EKEYREJECTED, -EEXIST, -ENOSPC, -ENOMEM.
 */
struct uet_skey *uet_skey_create(struct uet_dev *dev,
				 const struct uet_skey_attr *attr,
				 const u8 *key, bool persistent,
				 struct netlink_ext_ack *extack)
{
	struct uet_skey *skey;
	int err;

	err = uet_skey_check(attr, extack) ?: uet_skey_check_key(key, extack);
	if (err)
		return ERR_PTR(err);
	skey = kzalloc_obj(*skey, GFP_KERNEL_ACCOUNT);
	if (!skey)
		return ERR_PTR(-ENOMEM);

	uet_shared_init(&skey->obj, dev, UET_SHARED_SKEY);
	skey->obj.id = attr->id;
	skey->obj.persistent = persistent;
	spin_lock_init(&skey->lock);
	skey->sdi = attr->sdi;
	skey->ssi = attr->ssi;
	skey->has_ssi = attr->flags & UET_SKEY_HAS_SSI;
	skey->alg = attr->alg;
	skey->mode = attr->mode;
	skey->an = attr->an;
	uet_skey_put_key(skey, attr->an, key);

	err = uet_skey_set_owner(skey, attr, extack);
	if (!err) {
		err = uet_shared_add(&skey->obj);
		uet_skey_explain(err, extack);
	}
	if (err) {
		uet_shared_put(&skey->obj);
		return ERR_PTR(err);
	}
	return skey;
}

void uet_skey_free(struct uet_skey *skey)
{
	kfree_sensitive(skey);
}

/* It has ended: nothing needs the material any more. */
void uet_skey_wipe(struct uet_skey *skey)
{
	spin_lock_bh(&skey->lock);
	memzero_explicit(skey->key, sizeof(skey->key));
	skey->an_valid = 0;
	spin_unlock_bh(&skey->lock);
}

static u32 uet_skey_flags(const struct uet_skey *skey)
{
	return (skey->obj.persistent ? UET_SKEY_PERSISTENT : 0) |
	       (READ_ONCE(skey->obj.dead) ? UET_SKEY_DEAD : 0) |
	       (skey->has_ssi ? UET_SKEY_HAS_SSI : 0);
}

/**
 * uet_skey_fill - say what a security key is, without its material
 * @skey: security key
 * @hold: handle whose rights are told, or NULL
 * @attr: filled in
 *
 * Context: process; owners are as the caller's user namespace has them.
 */
void uet_skey_fill(struct uet_skey *skey, const struct uet_hold *hold,
		   struct uet_skey_attr *attr)
{
	const struct uet_shared *obj = &skey->obj;
	struct user_namespace *ns = current_user_ns();

	memset(attr, 0, sizeof(*attr));
	attr->flags = uet_skey_flags(skey);
	attr->id = obj->id;
	attr->sdi = skey->sdi;
	attr->ssi = skey->ssi;
	attr->alg = skey->alg;
	attr->mode = skey->mode;
	spin_lock_bh(&skey->lock);
	attr->an = skey->an;
	attr->an_valid = skey->an_valid;
	spin_unlock_bh(&skey->lock);
	attr->uid = uid_valid(obj->uid) ? from_kuid_munged(ns, obj->uid) :
					  UET_OWNER_NONE;
	attr->gid = gid_valid(obj->gid) ? from_kgid_munged(ns, obj->gid) :
					  UET_OWNER_NONE;
	attr->rights = hold ? hold->rights : 0;
	attr->num_job = READ_ONCE(skey->jobs);
}

static int uet_skey_step(struct uet_skey *skey, enum uet_skey_rekey_op op,
			 const u8 *key)
{
	u8 other = !skey->an;
	bool valid = skey->an_valid & BIT(other);

	lockdep_assert_held(&skey->lock);
	if (READ_ONCE(skey->obj.dead))
		return -EIO;
	if (op == UET_SKEY_REKEY_INSTALL) {
		if (valid)
			return -EBUSY;
		uet_skey_put_key(skey, other, key);
		return 0;
	}
	if (!valid)
		return -ENOKEY;
	if (op == UET_SKEY_REKEY_SWITCH) {
		skey->an = other;
	} else {
		memzero_explicit(skey->key[other], UET_SKEY_BYTES);
		skey->an_valid &= ~BIT(other);
	}
	return 0;
}

static void uet_skey_step_explain(int err, struct netlink_ext_ack *extack)
{
	switch (err) {
	case -EBUSY:
		NL_SET_ERR_MSG(extack, "the other association number has a key");
		break;
	case -ENOKEY:
		NL_SET_ERR_MSG(extack, "the other association number has no key");
		break;
	case -EIO:
		NL_SET_ERR_MSG(extack, "the security key has ended");
		break;
	}
}

/**
 * uet_skey_rekey - one step of changing the key
 * @skey: security key
 * @op: step
 * @key: UET_SKEY_REKEY_INSTALL: material, UET_SKEY_BYTES; else NULL. The caller
 *	wipes it
 * @extack: told what is wrong, or NULL
 *
 * Context: process.
 * Return: 0, -EINVAL, -EKEYREJECTED, -EBUSY, -ENOKEY, -EIO.
 */
int uet_skey_rekey(struct uet_skey *skey, enum uet_skey_rekey_op op,
		   const u8 *key, struct netlink_ext_ack *extack)
{
	bool install = op == UET_SKEY_REKEY_INSTALL;
	int err;

	if (op > UET_SKEY_REKEY_RETIRE) {
		NL_SET_ERR_MSG(extack, "no such step");
		return -EINVAL;
	}
	if (!!key != install) {
		NL_SET_ERR_MSG(extack, "key material goes with install, and with that only");
		return -EINVAL;
	}
	err = key ? uet_skey_check_key(key, extack) : 0;
	if (err)
		return err;

	spin_lock_bh(&skey->lock);
	err = uet_skey_step(skey, op, key);
	spin_unlock_bh(&skey->lock);
	uet_skey_step_explain(err, extack);
	if (!err)
		uet_nl_skey_notify(skey, UET_CMD_SKEY_CHANGE_NTF);
	return err;
}
