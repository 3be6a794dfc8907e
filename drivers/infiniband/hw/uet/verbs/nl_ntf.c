// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The netlink family: notifications, to the multicast group "monitor" of the
 * namespace of the device.
 *
 * Who changes something says so afterwards, with no lock held, so that the
 * order of notifications need not be that of the changes. Those of jobs and
 * security keys are put right here: they are sent under uet_dev.job_mutex, and
 * what they say is compared with the table first. The last one about an id is
 * always true: nothing is told of an object after it has gone, and an object
 * that took the id of one that has gone is told of after the end of that.
 */
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "../dp/uet_dp.h"
#include "nl.h"

/* Room for any of them; what is not used, netlink gives back. */
#define UET_NL_NTF_SIZE		512

/* One object, or with @obj NULL the device. */
static int uet_nl_ntf_fill(struct sk_buff *skb, struct uet_dev *dev,
			   struct uet_shared *obj, u8 cmd)
{
	struct user_namespace *ns = dev_net(uet_fep_netdev(dev->fep))->user_ns;
	void *hdr;
	int err;

	hdr = genlmsg_put(skb, 0, 0, &uet_nl_family, 0, cmd);
	if (!hdr)
		return -EMSGSIZE;
	err = obj ? uet_nl_put_shared(skb, dev, obj, ns) :
		    uet_nl_put_dev(skb, dev);
	if (err)
		return err;
	genlmsg_end(skb, hdr);
	return 0;
}

/* Listeners are told if they miss something. */
static void uet_nl_send(struct uet_dev *dev, struct uet_shared *obj, u8 cmd)
{
	struct net *net = dev_net(uet_fep_netdev(dev->fep));
	struct sk_buff *skb;

	if (!genl_has_listeners(&uet_nl_family, net, UET_NLGRP_MONITOR))
		return;
	skb = genlmsg_new(UET_NL_NTF_SIZE, GFP_KERNEL);
	if (!skb || uet_nl_ntf_fill(skb, dev, obj, cmd)) {
		nlmsg_free(skb);
		genl_set_err(&uet_nl_family, net, 0, UET_NLGRP_MONITOR,
			     -ENOBUFS);
		return;
	}
	genlmsg_multicast_netns(&uet_nl_family, net, skb, 0,
				UET_NLGRP_MONITOR, GFP_KERNEL);
}

/* What has the id of an object that has gone? Under job_mutex. */
static struct uet_shared *uet_nl_successor(struct uet_dev *dev,
					   const struct uet_shared *obj)
{
	return xa_load(obj->kind == UET_SHARED_JOB ? &dev->jobs : &dev->skeys,
		       obj->id);
}

static void uet_nl_shared_notify(struct uet_shared *obj, u8 cmd, u8 add_cmd,
				 u8 del_cmd)
{
	struct uet_dev *dev = obj->dev;
	bool gone = cmd == del_cmd;
	struct uet_shared *next;

	mutex_lock(&dev->job_mutex);
	if (obj->listed != gone)
		uet_nl_send(dev, obj, cmd);
	next = uet_nl_successor(dev, obj);
	if (gone && next && next != obj)
		uet_nl_send(dev, next, add_cmd);
	mutex_unlock(&dev->job_mutex);
}

/**
 * uet_nl_job_notify - tell that a job was made, was changed or has ended
 * @job: job; the caller holds its device and no lock
 * @cmd: UET_CMD_JOB_{ADD,DEL,CHANGE}_NTF
 *
 * Context: process.
 */
void uet_nl_job_notify(struct uet_job *job, u8 cmd)
{
	uet_nl_changed(UET_NL_JOBS);
	uet_nl_shared_notify(&job->obj, cmd, UET_CMD_JOB_ADD_NTF,
			     UET_CMD_JOB_DEL_NTF);
}

/**
 * uet_nl_skey_notify - tell that a security key was made, was changed or ended
 * @skey: security key; the caller holds its device and no lock
 * @cmd: UET_CMD_SKEY_{ADD,DEL,CHANGE}_NTF
 *
 * Context: process.
 */
void uet_nl_skey_notify(struct uet_skey *skey, u8 cmd)
{
	uet_nl_changed(UET_NL_SKEYS);
	uet_nl_shared_notify(&skey->obj, cmd, UET_CMD_SKEY_ADD_NTF,
			     UET_CMD_SKEY_DEL_NTF);
}

/**
 * uet_nl_dev_notify - tell that a device came, goes or was changed
 * @dev: device; it has its FEP, or nobody is told
 * @cmd: UET_CMD_DEV_{ADD,DEL,CHANGE}_NTF
 *
 * Context: process, no lock held.
 */
void uet_nl_dev_notify(struct uet_dev *dev, u8 cmd)
{
	uet_nl_changed(UET_NL_DEVS);
	if (dev->fep)
		uet_nl_send(dev, NULL, cmd);
}
