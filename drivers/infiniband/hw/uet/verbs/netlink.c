// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The generic netlink family "uet": devices and their settings, and what the
 * other nl_*.c need. Documentation/netlink/specs/uet.yaml is the definition;
 * policies and the table of operations are generated from it.
 *
 * All of this runs in process context. A device is held by a reference while
 * one message is handled or filled in, never between two messages of a dump:
 * user space sets the pace of a dump and must not keep a device from going.
 * Dumps go on from a cursor instead, so what exists from the first message to
 * the last is shown exactly once, whatever comes and goes meanwhile.
 */
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <net/genetlink.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "../dp/uet_dp.h"
#include "nl.h"

/* From reading the settings of a device to writing them back changed. */
static DEFINE_MUTEX(uet_nl_set_lock);

/*
 * Step when what is dumped changes. A dump in which that happens shows some
 * before and some after, and is marked as interrupted. Never 0, which netlink
 * takes for "not in use".
 */
static atomic_t uet_nl_seqs[UET_NL_TABLES] = {
	[UET_NL_DEVS] = ATOMIC_INIT(1),
	[UET_NL_JOBS] = ATOMIC_INIT(1),
	[UET_NL_SKEYS] = ATOMIC_INIT(1),
};

/**
 * uet_nl_changed - dumps under way are not consistent any more
 * @table: what has changed
 *
 * Context: any.
 */
void uet_nl_changed(enum uet_nl_table table)
{
	atomic_inc(&uet_nl_seqs[table]);
}

/* For netlink_callback.seq. */
u32 uet_nl_seq(enum uet_nl_table table)
{
	return atomic_read(&uet_nl_seqs[table]) ?: 1;
}

/*
 * RDMA devices are by default seen from every namespace. Settings and PDCs of
 * this family are the business of the one that the network interface is in:
 * uet_dev_next() and uet_dev_by_name() find no others.
 */
static struct uet_dev *uet_nl_dev_by_index(struct net *net, u32 index)
{
	struct uet_dev *dev;
	u32 pos = 0;

	while ((dev = uet_dev_next(net, &pos))) {
		if (dev->ib.index == index)
			break;
		ib_device_put(&dev->ib);
	}
	return dev;
}

/**
 * uet_nl_dev_find - the device that a request names
 * @info: request
 * @index_attr: where the request's attribute set has the index
 * @name_attr: where it has the name
 *
 * Context: process.
 * Return: a device with a reference, or ERR_PTR with the reason in the extack.
 */
struct uet_dev *uet_nl_dev_find(const struct genl_info *info, int index_attr,
				int name_attr)
{
	const struct nlattr *index = info->attrs[index_attr];
	const struct nlattr *name = info->attrs[name_attr];
	struct net *net = genl_info_net(info);
	struct uet_dev *dev;

	if (name)
		dev = uet_dev_by_name(net, nla_data(name));
	else if (index)
		dev = uet_nl_dev_by_index(net, nla_get_u32(index));
	else
		goto missing;

	if (!dev) {
		NL_SET_ERR_MSG_ATTR(info->extack, name ?: index,
				    "no such uet device in this network namespace");
		return ERR_PTR(-ENODEV);
	}
	if (name && index && dev->ib.index != nla_get_u32(index)) {
		ib_device_put(&dev->ib);
		NL_SET_ERR_MSG_ATTR(info->extack, index,
				    "device index and name do not agree");
		return ERR_PTR(-EINVAL);
	}
	return dev;

missing:
	NL_SET_ERR_ATTR_MISS(info->extack, NULL, name_attr);
	GENL_SET_ERR_MSG(info, "device index or name is missing");
	return ERR_PTR(-EINVAL);
}

/**
 * uet_nl_may_set - is the sender an administrator of the device?
 * @skb: request
 * @dev: device
 *
 * The core has asked for CAP_NET_ADMIN over the socket's namespace. What
 * counts is the device's: the two are one as devices are found only in their
 * own namespace, but this check does not rest on that.
 *
 * Return: true if it is.
 */
bool uet_nl_may_set(const struct sk_buff *skb, const struct uet_dev *dev)
{
	const struct net *net = dev_net(uet_fep_netdev(dev->fep));

	return netlink_ns_capable(skb, net->user_ns, CAP_NET_ADMIN);
}

/**
 * uet_nl_pre - before every request about one device: find it, check rights
 * @ops: operation
 * @skb: request
 * @info: its parts; the device goes to user_ptr[0], for uet_nl_dev_post_doit()
 * @index_attr: as for uet_nl_dev_find()
 * @name_attr: the same
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int uet_nl_pre(const struct genl_split_ops *ops, const struct sk_buff *skb,
	       struct genl_info *info, int index_attr, int name_attr)
{
	struct uet_dev *dev = uet_nl_dev_find(info, index_attr, name_attr);

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	if ((ops->flags & GENL_UNS_ADMIN_PERM) && !uet_nl_may_set(skb, dev)) {
		ib_device_put(&dev->ib);
		GENL_SET_ERR_MSG(info, "not an administrator of the device's network namespace");
		return -EPERM;
	}
	info->user_ptr[0] = dev;
	return 0;
}

int uet_nl_dev_pre_doit(const struct genl_split_ops *ops, struct sk_buff *skb,
			struct genl_info *info)
{
	return uet_nl_pre(ops, skb, info, UET_A_DEV_INDEX, UET_A_DEV_NAME);
}

/* Hook after every such request. */
void uet_nl_dev_post_doit(const struct genl_split_ops *ops,
			  struct sk_buff *skb, struct genl_info *info)
{
	struct uet_dev *dev = info->user_ptr[0];

	ib_device_put(&dev->ib);
}

static u32 uet_nl_pdc_count(struct uet_dev *dev)
{
	struct uet_pdc_info pdc;
	u32 pos = 0;
	u32 n = 0;

	while (!uet_fep_pdc_next(dev->fep, &pos, &pdc))
		n++;
	return n;
}

/* A device and its settings, into a message. */
int uet_nl_put_dev(struct sk_buff *skb, struct uet_dev *dev)
{
	struct uet_fep_params p;

	uet_fep_get_params(dev->fep, &p);
	if (nla_put_u32(skb, UET_A_DEV_INDEX, dev->ib.index) ||
	    nla_put_string(skb, UET_A_DEV_NAME, dev->ib.name) ||
	    nla_put_u32(skb, UET_A_DEV_NETDEV_IFINDEX,
			uet_fep_netdev(dev->fep)->ifindex) ||
	    nla_put_u32(skb, UET_A_DEV_PAYLOAD_MTU, p.payload_mtu) ||
	    nla_put_u8(skb, UET_A_DEV_DSCP_DATA, p.dscp_data) ||
	    nla_put_u8(skb, UET_A_DEV_DSCP_CTRL, p.dscp_ctrl) ||
	    nla_put_u32(skb, UET_A_DEV_PDC_MAX, p.pdc_max) ||
	    nla_put_u32(skb, UET_A_DEV_PDC_IDLE_MS, p.pdc_idle_ms) ||
	    nla_put_u32(skb, UET_A_DEV_PDC_COUNT, uet_nl_pdc_count(dev)) ||
	    nla_put_u32(skb, UET_A_DEV_PAYLOAD_MTU_ACTIVE,
			uet_fep_payload_mtu(dev->fep)) ||
	    nla_put_u8(skb, UET_A_DEV_LOCAL_FILTER, p.local_filter) ||
	    nla_put_u32(skb, UET_A_DEV_JOB_COUNT,
			atomic_read(&dev->objs[UET_OBJ_JOB])) ||
	    nla_put_u32(skb, UET_A_DEV_SKEY_COUNT,
			atomic_read(&dev->objs[UET_OBJ_SKEY])) ||
	    nla_put_u8(skb, UET_A_DEV_CRC, p.crc))
		return -EMSGSIZE;
	return 0;
}

/* IPv4 addresses go out in their own form, not v4 mapped. */
int uet_nl_put_addr(struct sk_buff *skb, int attr, const struct in6_addr *a)
{
	if (ipv6_addr_v4mapped(a))
		return nla_put(skb, attr, sizeof(a->s6_addr32[3]),
			       &a->s6_addr32[3]);
	return nla_put(skb, attr, sizeof(*a), a);
}

/* Begin an answer to a request. */
void *uet_nl_start_msg(struct sk_buff *skb, const struct genl_info *info,
		       int flags)
{
	return genlmsg_put(skb, info->snd_portid, info->snd_seq, info->family,
			   flags, info->genlhdr->cmd);
}

/**
 * uet_nl_need - an attribute that a request cannot do without
 * @info: request
 * @attr: type
 * @why: what to say if it is not there
 *
 * Return: 0 or -EINVAL.
 */
int uet_nl_need(const struct genl_info *info, int attr, const char *why)
{
	if (info->attrs[attr])
		return 0;
	NL_SET_ERR_ATTR_MISS(info->extack, NULL, attr);
	GENL_SET_ERR_MSG_FMT(info, "%s", why);
	return -EINVAL;
}

static const char *uet_nl_reason(int err)
{
	switch (err) {
	case -ENOMEM:
		return "out of memory";
	case -ENOSPC:
		return "limit reached";
	case -EPERM:
		return "not permitted";
	case -EIO:
		return "the object was ended";
	default:
		return "refused";
	}
}

/**
 * uet_nl_explain - complete the extack of a request that failed
 * @info: request
 * @attr: on account of what, or NULL
 * @err: -errno
 *
 * Who refused may have said why; where there is no text, one is chosen by the
 * error.
 */
void uet_nl_explain(const struct genl_info *info, const struct nlattr *attr,
		    int err)
{
	struct netlink_ext_ack *extack = info->extack;

	if (!extack)
		return;
	if (attr && !extack->bad_attr)
		NL_SET_BAD_ATTR(extack, attr);
	if (!extack->_msg)
		GENL_SET_ERR_MSG_FMT(info, "%s", uet_nl_reason(err));
}

int uet_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct uet_dev *dev = info->user_ptr[0];
	struct sk_buff *reply;
	int err = -EMSGSIZE;
	void *hdr;

	reply = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply) {
		GENL_SET_ERR_MSG(info, "out of memory");
		return -ENOMEM;
	}
	hdr = uet_nl_start_msg(reply, info, 0);
	if (hdr)
		err = uet_nl_put_dev(reply, dev);
	if (err) {
		nlmsg_free(reply);
		return err;
	}
	genlmsg_end(reply, hdr);
	return genlmsg_reply(reply, info);
}

static int uet_nl_dump_dev(struct sk_buff *skb, struct netlink_callback *cb,
			   struct uet_dev *dev)
{
	void *hdr;

	hdr = uet_nl_start_msg(skb, genl_info_dump(cb), NLM_F_MULTI);
	if (!hdr)
		return -EMSGSIZE;
	cb->seq = uet_nl_seq(UET_NL_DEVS);
	if (uet_nl_put_dev(skb, dev)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genl_dump_check_consistent(cb, hdr);
	genlmsg_end(skb, hdr);
	return 0;
}

/**
 * uet_nl_dump_start - before the first message of a dump: what is asked for?
 * @cb: dump
 * @index_attr: as for uet_nl_dev_find()
 * @name_attr: the same; with neither in the request, it is all devices
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int uet_nl_dump_start(struct netlink_callback *cb, int index_attr,
		      int name_attr)
{
	const struct genl_info *info = genl_info_dump(cb);
	struct uet_nl_dump *d = uet_nl_dump(cb);
	struct uet_dev *dev;

	if (!info->attrs[index_attr] && !info->attrs[name_attr])
		return 0;

	dev = uet_nl_dev_find(info, index_attr, name_attr);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	d->only = dev->ib.index;
	d->filter = true;
	ib_device_put(&dev->ib);
	return 0;
}

/**
 * uet_nl_dump_devs - fill a message of a dump, device by device
 * @skb: message
 * @cb: dump
 * @fn: fills in what there is of one; goes on from uet_nl_dump.pos
 *
 * Context: process.
 * Return: as dumpit(): 0 at the end, -EMSGSIZE if there is more.
 */
int uet_nl_dump_devs(struct sk_buff *skb, struct netlink_callback *cb,
		     uet_nl_dump_fn fn)
{
	struct uet_nl_dump *d = uet_nl_dump(cb);
	struct net *net = genl_info_net(genl_info_dump(cb));
	u32 pos = d->dev_pos;
	struct uet_dev *dev;
	int err = 0;

	while (!err && (dev = uet_dev_next(net, &pos))) {
		/* the device this dump was in may have gone meanwhile */
		if (d->pos_dev != dev->ib.index) {
			d->pos_dev = dev->ib.index;
			d->pos = 0;
			d->serial = 0;
		}
		if (!d->filter || d->only == dev->ib.index)
			err = fn(skb, cb, dev);
		ib_device_put(&dev->ib);
		if (!err)
			d->dev_pos = pos;
	}
	return err;
}

int uet_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return uet_nl_dump_devs(skb, cb, uet_nl_dump_dev);
}

/* Puts the settings that a request has into @p; the number of them, or -errno. */
static int uet_nl_get_settings(const struct genl_info *info,
			       struct uet_fep_params *p)
{
	struct nlattr **a = info->attrs;
	int n = 0;

	if (a[UET_A_DEV_PAYLOAD_MTU]) {
		p->payload_mtu = nla_get_u32(a[UET_A_DEV_PAYLOAD_MTU]);
		/* the policy has checked the two ends */
		if (!is_power_of_2(p->payload_mtu)) {
			NL_SET_ERR_MSG_ATTR(info->extack,
					    a[UET_A_DEV_PAYLOAD_MTU],
					    "payload MTU must be 1024, 2048, 4096 or 8192");
			return -EINVAL;
		}
		n++;
	}
	if (a[UET_A_DEV_DSCP_DATA]) {
		p->dscp_data = nla_get_u8(a[UET_A_DEV_DSCP_DATA]);
		n++;
	}
	if (a[UET_A_DEV_DSCP_CTRL]) {
		p->dscp_ctrl = nla_get_u8(a[UET_A_DEV_DSCP_CTRL]);
		n++;
	}
	if (a[UET_A_DEV_PDC_MAX]) {
		p->pdc_max = nla_get_u32(a[UET_A_DEV_PDC_MAX]);
		n++;
	}
	if (a[UET_A_DEV_PDC_IDLE_MS]) {
		p->pdc_idle_ms = nla_get_u32(a[UET_A_DEV_PDC_IDLE_MS]);
		n++;
	}
	if (a[UET_A_DEV_LOCAL_FILTER]) {
		p->local_filter = nla_get_u8(a[UET_A_DEV_LOCAL_FILTER]);
		n++;
	}
	if (a[UET_A_DEV_CRC]) {
		p->crc = nla_get_u8(a[UET_A_DEV_CRC]);
		n++;
	}
	if (!n)
		GENL_SET_ERR_MSG(info, "no setting is given");
	return n ?: -EINVAL;
}

/* Why the engine refused, and on account of what if only one thing was asked. */
static void uet_nl_refused(const struct genl_info *info, int n,
			   const char *why)
{
	int i;

	GENL_SET_ERR_MSG_FMT(info, "%s", why ?: "device refused the settings");
	for (i = UET_A_DEV_PAYLOAD_MTU; n == 1 && i <= UET_A_DEV_CRC; i++)
		if (info->attrs[i])
			NL_SET_BAD_ATTR(info->extack, info->attrs[i]);
}

int uet_nl_dev_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct uet_dev *dev = info->user_ptr[0];
	struct uet_fep_params p;
	const char *why = NULL;
	int err, n;

	mutex_lock(&uet_nl_set_lock);
	uet_fep_get_params(dev->fep, &p);
	n = uet_nl_get_settings(info, &p);
	if (n < 0) {
		err = n;
		goto unlock;
	}
	err = uet_fep_set_params(dev->fep, &p, &why);
	if (err)
		uet_nl_refused(info, n, why);
unlock:
	mutex_unlock(&uet_nl_set_lock);
	if (!err)
		uet_nl_dev_notify(dev, UET_CMD_DEV_CHANGE_NTF);
	return err;
}

/**
 * uet_nl_init - begin to serve the family
 *
 * Context: module load, process context.
 * Return: 0 or -errno.
 */
int __init uet_nl_init(void)
{
	return genl_register_family(&uet_nl_family);
}

/**
 * uet_nl_exit - stop to serve the family; no handler runs after this
 *
 * Context: process context.
 */
void uet_nl_exit(void)
{
	genl_unregister_family(&uet_nl_family);
}

MODULE_ALIAS_GENL_FAMILY(UET_FAMILY_NAME);
