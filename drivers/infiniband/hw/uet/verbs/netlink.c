// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The generic netlink family "uet": settings of devices, PDCs for people to
 * read. Documentation/netlink/specs/uet.yaml is the definition; policies and
 * the table of operations are generated from it.
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
#include "netlink_gen.h"
#include "uet.h"

/* From reading the settings of a device to writing them back changed. */
static DEFINE_MUTEX(uet_nl_set_lock);

/*
 * Steps when settings change. A dump of devices in which that happens shows
 * some before and some after, and is marked as interrupted. Never 0, which
 * netlink takes for "not in use".
 */
static atomic_t uet_nl_seq = ATOMIC_INIT(1);

/**
 * struct uet_nl_dump - what a dump remembers from one message to the next
 * @dev_pos: cursor of uet_dev_next()
 * @pdc_pos: cursor of uet_fep_pdc_next() in the device at @dev_pos
 * @pdc_dev: index of the device that @pdc_pos is for
 * @only: index of the one device asked for
 * @filter: @only is valid
 */
struct uet_nl_dump {
	u32 dev_pos;
	u32 pdc_pos;
	u32 pdc_dev;
	u32 only;
	bool filter;
};

static_assert(sizeof(struct uet_nl_dump) <=
	      sizeof_field(struct netlink_callback, ctx));

static struct uet_nl_dump *uet_nl_dump(struct netlink_callback *cb)
{
	return (struct uet_nl_dump *)cb->ctx;
}

static void uet_nl_changed(void)
{
	if (!atomic_inc_return(&uet_nl_seq))
		atomic_inc(&uet_nl_seq);
}

/*
 * RDMA devices are by default seen from every namespace. Settings and PDCs of
 * this family are the business of the one that the network interface is in.
 */
static bool uet_nl_is_in(const struct uet_dev *dev, const struct net *net)
{
	return net_eq(dev_net(uet_fep_netdev(dev->fep)), net);
}

/* The next device of a namespace, with a reference; @pos as uet_dev_next(). */
static struct uet_dev *uet_nl_dev_next(struct net *net, u32 *pos)
{
	struct uet_dev *dev;

	while ((dev = uet_dev_next(net, pos))) {
		if (uet_nl_is_in(dev, net))
			break;
		ib_device_put(&dev->ib);
	}
	return dev;
}

static struct uet_dev *uet_nl_dev_by_name(struct net *net, const char *name)
{
	struct uet_dev *dev = uet_dev_by_name(net, name);

	if (dev && !uet_nl_is_in(dev, net)) {
		ib_device_put(&dev->ib);
		dev = NULL;
	}
	return dev;
}

static struct uet_dev *uet_nl_dev_by_index(struct net *net, u32 index)
{
	struct uet_dev *dev;
	u32 pos = 0;

	while ((dev = uet_nl_dev_next(net, &pos))) {
		if (dev->ib.index == index)
			break;
		ib_device_put(&dev->ib);
	}
	return dev;
}

/*
 * The device that a request names, with a reference. @index_attr and
 * @name_attr are where the request's attribute set has index and name.
 */
static struct uet_dev *uet_nl_dev_find(const struct genl_info *info,
				       int index_attr, int name_attr)
{
	const struct nlattr *index = info->attrs[index_attr];
	const struct nlattr *name = info->attrs[name_attr];
	struct net *net = genl_info_net(info);
	struct uet_dev *dev;

	if (name)
		dev = uet_nl_dev_by_name(net, nla_data(name));
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

/* Hook before every request about one device: finds it. */
int uet_nl_dev_pre_doit(const struct genl_split_ops *ops, struct sk_buff *skb,
			struct genl_info *info)
{
	struct uet_dev *dev = uet_nl_dev_find(info, UET_A_DEV_INDEX,
					      UET_A_DEV_NAME);

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	info->user_ptr[0] = dev;
	return 0;
}

/* Hook after it. */
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

static int uet_nl_put_dev(struct sk_buff *skb, struct uet_dev *dev)
{
	struct uet_fep_params p;

	uet_fep_get_params(dev->fep, &p);
	if (nla_put_u32(skb, UET_A_DEV_INDEX, dev->ib.index) ||
	    nla_put_string(skb, UET_A_DEV_NAME, dev_name(&dev->ib.dev)) ||
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
	    nla_put_u8(skb, UET_A_DEV_CRC, p.crc))
		return -EMSGSIZE;
	return 0;
}

/* IPv4 addresses go out in their own form, not v4 mapped. */
static int uet_nl_put_addr(struct sk_buff *skb, int attr,
			   const struct in6_addr *a)
{
	if (ipv6_addr_v4mapped(a))
		return nla_put(skb, attr, sizeof(a->s6_addr32[3]),
			       &a->s6_addr32[3]);
	return nla_put(skb, attr, sizeof(*a), a);
}

static int uet_nl_put_pdc(struct sk_buff *skb, struct uet_dev *dev,
			  const struct uet_pdc_info *pdc)
{
	enum uet_pdc_role role = pdc->initiator ? UET_PDC_ROLE_INITIATOR :
						  UET_PDC_ROLE_TARGET;
	enum uet_pdc_mode mode = pdc->rod ? UET_PDC_MODE_ROD :
					    UET_PDC_MODE_RUD;

	if (nla_put_u32(skb, UET_A_PDC_DEV_INDEX, dev->ib.index) ||
	    nla_put_string(skb, UET_A_PDC_DEV_NAME, dev_name(&dev->ib.dev)) ||
	    nla_put_u32(skb, UET_A_PDC_ID, pdc->id) ||
	    nla_put_u32(skb, UET_A_PDC_PEER_ID, pdc->peer_id) ||
	    nla_put_u32(skb, UET_A_PDC_ROLE, role) ||
	    nla_put_u32(skb, UET_A_PDC_MODE, mode) ||
	    nla_put_string(skb, UET_A_PDC_STATE, pdc->state) ||
	    uet_nl_put_addr(skb, UET_A_PDC_SRC, &pdc->src) ||
	    uet_nl_put_addr(skb, UET_A_PDC_DST, &pdc->dst) ||
	    nla_put_u8(skb, UET_A_PDC_DSCP, pdc->dscp) ||
	    nla_put_u32(skb, UET_A_PDC_PAYLOAD_MTU, pdc->payload_mtu) ||
	    nla_put_u32(skb, UET_A_PDC_TX_PSN, pdc->tx_psn) ||
	    nla_put_u32(skb, UET_A_PDC_TX_UNA, pdc->tx_una) ||
	    nla_put_u32(skb, UET_A_PDC_RX_CACK, pdc->rx_cack) ||
	    nla_put_u32(skb, UET_A_PDC_SRTT_US, pdc->srtt_us) ||
	    nla_put_u32(skb, UET_A_PDC_WINDOW, pdc->window) ||
	    nla_put_uint(skb, UET_A_PDC_RETX, pdc->retx) ||
	    nla_put_uint(skb, UET_A_PDC_TX_BYTES, pdc->tx_bytes) ||
	    nla_put_uint(skb, UET_A_PDC_RX_BYTES, pdc->rx_bytes))
		return -EMSGSIZE;
	return 0;
}

static void *uet_nl_start_msg(struct sk_buff *skb,
			      const struct genl_info *info, int flags)
{
	return genlmsg_put(skb, info->snd_portid, info->snd_seq, info->family,
			   flags, info->genlhdr->cmd);
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
	if (uet_nl_put_dev(skb, dev)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genl_dump_check_consistent(cb, hdr);
	genlmsg_end(skb, hdr);
	return 0;
}

int uet_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct uet_nl_dump *d = uet_nl_dump(cb);
	struct net *net = genl_info_net(genl_info_dump(cb));
	u32 pos = d->dev_pos;
	struct uet_dev *dev;
	int err = 0;

	cb->seq = atomic_read(&uet_nl_seq);
	while (!err && (dev = uet_nl_dev_next(net, &pos))) {
		err = uet_nl_dump_dev(skb, cb, dev);
		ib_device_put(&dev->ib);
		if (!err)
			d->dev_pos = pos;
	}
	return err;
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

/*
 * The core has asked for CAP_NET_ADMIN over the socket's namespace. What
 * counts is the device's: the two are one as devices are found only in their
 * own namespace, but this check does not rest on that.
 */
static bool uet_nl_may_set(const struct sk_buff *skb, const struct uet_dev *dev)
{
	const struct net *net = dev_net(uet_fep_netdev(dev->fep));

	return netlink_ns_capable(skb, net->user_ns, CAP_NET_ADMIN);
}

int uet_nl_dev_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct uet_dev *dev = info->user_ptr[0];
	struct uet_fep_params p;
	const char *why = NULL;
	int err, n;

	if (!uet_nl_may_set(skb, dev)) {
		GENL_SET_ERR_MSG(info, "not an administrator of the device's network namespace");
		return -EPERM;
	}

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
	else
		uet_nl_changed();
unlock:
	mutex_unlock(&uet_nl_set_lock);
	return err;
}

/* Hook before the first message of a dump of PDCs: what shall be dumped? */
int uet_nl_pdc_get_start(struct netlink_callback *cb)
{
	const struct genl_info *info = genl_info_dump(cb);
	struct uet_nl_dump *d = uet_nl_dump(cb);
	struct uet_dev *dev;

	if (!info->attrs[UET_A_PDC_DEV_INDEX] &&
	    !info->attrs[UET_A_PDC_DEV_NAME])
		return 0;

	dev = uet_nl_dev_find(info, UET_A_PDC_DEV_INDEX, UET_A_PDC_DEV_NAME);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	d->only = dev->ib.index;
	d->filter = true;
	ib_device_put(&dev->ib);
	return 0;
}

static int uet_nl_dump_pdc(struct sk_buff *skb, struct netlink_callback *cb,
			   struct uet_dev *dev, const struct uet_pdc_info *pdc)
{
	void *hdr;

	hdr = uet_nl_start_msg(skb, genl_info_dump(cb), NLM_F_MULTI);
	if (!hdr)
		return -EMSGSIZE;
	if (uet_nl_put_pdc(skb, dev, pdc)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static int uet_nl_dump_dev_pdcs(struct sk_buff *skb,
				struct netlink_callback *cb,
				struct uet_dev *dev)
{
	struct uet_nl_dump *d = uet_nl_dump(cb);
	struct uet_pdc_info pdc;
	u32 pos;
	int err;

	/* the device this dump was in may have gone meanwhile */
	if (d->pdc_dev != dev->ib.index) {
		d->pdc_dev = dev->ib.index;
		d->pdc_pos = 0;
	}
	pos = d->pdc_pos;
	while (!uet_fep_pdc_next(dev->fep, &pos, &pdc)) {
		err = uet_nl_dump_pdc(skb, cb, dev, &pdc);
		if (err)
			return err;
		d->pdc_pos = pos;
	}
	return 0;
}

int uet_nl_pdc_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct uet_nl_dump *d = uet_nl_dump(cb);
	struct net *net = genl_info_net(genl_info_dump(cb));
	u32 pos = d->dev_pos;
	struct uet_dev *dev;
	int err = 0;

	while (!err && (dev = uet_nl_dev_next(net, &pos))) {
		if (!d->filter || d->only == dev->ib.index)
			err = uet_nl_dump_dev_pdcs(skb, cb, dev);
		ib_device_put(&dev->ib);
		if (!err)
			d->dev_pos = pos;
	}
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
