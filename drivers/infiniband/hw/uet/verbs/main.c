// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The module: devices come by "rdma link add", and go by "rdma link delete",
 * with their netdev or namespace, or with the module. ib_core makes one end of
 * all four: it unregisters the device once and calls ops.dealloc_driver.
 */
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <net/net_namespace.h>
#include <rdma/rdma_netlink.h>
#include <uapi/rdma/uet_netlink.h>

#include "job.h"

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

/* Work of QPs and CQs that needs process context; some is on a swap path. */
struct workqueue_struct *uet_verbs_wq;

/* Registered devices by ib_device.index. */
static DEFINE_XARRAY(uet_devs);

/* One link at a time, so that two for one netdev cannot both find none. */
static DEFINE_MUTEX(uet_link_mutex);

/* Make a device findable; ib_core calls it through ops.enable_driver. */
int uet_dev_publish(struct ib_device *ib)
{
	/* Comes again, with the same index, after a move between namespaces */
	return xa_err(xa_store(&uet_devs, ib->index, to_udev(ib), GFP_KERNEL));
}

void uet_dev_unpublish(struct uet_dev *dev)
{
	xa_cmpxchg(&uet_devs, dev->ib.index, dev, NULL, GFP_KERNEL);
}

/**
 * uet_dev_next - go through the devices whose interfaces are in a namespace
 * @net: namespace; that of the RDMA device may be another, since it can be moved
 * @pos: cursor: 0 at first, then left alone. Devices come by rising index
 *
 * Context: process.
 * Return: a device with an ib_device reference, to be dropped with
 * ib_device_put(&dev->ib); NULL at the end.
 */
struct uet_dev *uet_dev_next(struct net *net, u32 *pos)
{
	struct uet_dev *dev, *found = NULL;
	unsigned long index;

	xa_lock(&uet_devs);
	xa_for_each_start(&uet_devs, index, dev, *pos) {
		*pos = index + 1;
		if (net_eq(dev_net(uet_fep_netdev(dev->fep)), net) &&
		    ib_device_try_get(&dev->ib)) {
			found = dev;
			break;
		}
	}
	xa_unlock(&uet_devs);
	return found;
}

/**
 * uet_dev_by_name - find a device
 * @net: namespace of its interface
 * @name: of the RDMA device
 *
 * Context: process.
 * Return: as uet_dev_next().
 */
struct uet_dev *uet_dev_by_name(struct net *net, const char *name)
{
	struct uet_dev *dev;
	u32 pos = 0;

	while ((dev = uet_dev_next(net, &pos))) {
		if (!strcmp(dev->ib.name, name))
			return dev;
		ib_device_put(&dev->ib);
	}
	return NULL;
}

static bool uet_link_exists(struct net_device *ndev)
{
	struct ib_device *ib = ib_device_get_by_netdev(ndev, UET_DRIVER_ID);

	if (ib)
		ib_device_put(ib);
	return ib;
}

/* Each refusal has an errno of its own; ib_core passes no extack. */
static int uet_link_check(struct net_device *ndev)
{
	if (ndev->flags & IFF_LOOPBACK) {
		pr_err("%s is a loopback device; use an Ethernet device, this host reaches itself over it\n",
		       ndev->name);
		return -EOPNOTSUPP;
	}
	if (ndev->type != ARPHRD_ETHER) {
		pr_err("%s is not an Ethernet device\n", ndev->name);
		return -EMEDIUMTYPE;
	}
	if (is_vlan_dev(ndev)) {
		pr_err("%s is a VLAN; add the link to %s, which has its addresses, too\n",
		       ndev->name, vlan_dev_real_dev(ndev)->name);
		return -EADDRNOTAVAIL;
	}
	if (netif_is_lag_port(ndev)) {
		pr_err("%s is a port of a bond or team; add the link to that\n",
		       ndev->name);
		return -EBUSY;
	}
	if (uet_link_exists(ndev)) {
		pr_err("%s has a uet link already\n", ndev->name);
		return -EALREADY;
	}
	return 0;
}

static struct lock_class_key uet_ahs_class;

#if IS_ENABLED(CONFIG_INFINIBAND_USER_ACCESS)
static const struct uapi_definition uet_uapi_defs[] = {
	UAPI_DEF_CHAIN(uet_job_uapi_defs),
	UAPI_DEF_CHAIN(uet_key_uapi_defs),
	UAPI_DEF_CHAIN(uet_ru_uapi_defs),
	{},
};

#define UET_UAPI_DEFS	uet_uapi_defs
#else
#define UET_UAPI_DEFS	NULL
#endif

static void uet_dev_init(struct uet_dev *dev, struct net_device *ndev)
{
	struct ib_device *ib = &dev->ib;

	uet_qpn_init(dev);
	uet_mkey_dev_init(dev);
	spin_lock_init(&dev->mw_lock);
	xa_init_flags(&dev->ahs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	/* All arrays set up in one file have one class, and only this one irqs. */
	lockdep_set_class(&dev->ahs.xa_lock, &uet_ahs_class);
	xa_init_flags(&dev->srqs, XA_FLAGS_ALLOC1);
	xa_init_flags(&dev->counters, XA_FLAGS_ALLOC1);
	mutex_init(&dev->counter_mutex);
	dev->port_state = IB_PORT_NOP;
	uet_shared_dev_init(dev);

	ib->node_type = RDMA_NODE_IB_CA;
	ib->phys_port_cnt = 1;
	ib->num_comp_vectors = num_possible_cpus();
	ib->local_dma_lkey = UET_LOCAL_DMA_LKEY;
	addrconf_addr_eui48((u8 *)&ib->node_guid, ndev->dev_addr);
	strscpy(ib->node_desc, "uet", sizeof(ib->node_desc));
	/* Doorbells: these commands without work requests, see uet-abi.h. */
	ib->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
			       BIT_ULL(IB_USER_VERBS_CMD_POST_RECV) |
			       BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	ib->driver_def = UET_UAPI_DEFS;
	ib_set_device_ops(ib, &uet_dev_ops);
	ib_mark_name_assigned_by_user(ib);
}

static const struct uet_fep_ops uet_fep_callbacks = {
	.recv_get = uet_recv_get,
	.recv_ready = uet_recv_ready,
	.recv_done = uet_recv_done,
	.job_admit = uet_job_admit,
	.mem_get = uet_mkey_remote,
	.msg_done = uet_msg_done,
	.ep_fault = uet_qp_fault,
};

static struct uet_dev *uet_dev_create(struct net_device *ndev)
{
	struct uet_dev *dev = uet_alloc_ib_device(dev_net(ndev));
	int err;

	if (!dev)
		return ERR_PTR(-ENOMEM);
	uet_dev_init(dev, ndev);
	err = uet_rkey_dev_init(dev);
	if (err)
		goto err;
	dev->fep = uet_fep_create(ndev, &uet_fep_callbacks, dev);
	if (IS_ERR(dev->fep)) {
		err = PTR_ERR(dev->fep);
		dev->fep = NULL;
		pr_err("%s: cannot speak UET: error %pe\n", ndev->name,
		       ERR_PTR(err));
		goto err;
	}
	err = ib_device_set_netdev(&dev->ib, ndev, UET_PORT);
	if (err)
		goto err;
	return dev;

err:
	ib_dealloc_device(&dev->ib);
	return ERR_PTR(err);
}

/*
 * The netdev may have gone while the device was being registered, when the
 * notifier did not find it yet.
 */
static void uet_link_recheck(struct uet_dev *dev, struct net_device *ndev)
{
	if (!ib_device_try_get(&dev->ib))
		return;
	if (READ_ONCE(ndev->reg_state) != NETREG_REGISTERED)
		ib_unregister_device_queued(&dev->ib);
	else
		uet_port_changed(dev, ndev, false);
	dev->announced = true;
	uet_nl_dev_notify(dev, UET_CMD_DEV_ADD_NTF);
	ib_device_put(&dev->ib);
}

static int uet_link_register(struct uet_dev *dev, const char *name,
			     struct net_device *ndev)
{
	int err;

	/* From its registration on somebody else may end the device. */
	get_device(&dev->ib.dev);
	err = ib_register_device(&dev->ib, name, NULL);
	if (!err) {
		uet_link_recheck(dev, ndev);
		put_device(&dev->ib.dev);
		return 0;
	}
	if (err == -ENFILE) {
		pr_err("an RDMA device %s exists already\n", name);
		err = -EEXIST;
	} else {
		pr_err("%s: cannot register: error %pe\n", name, ERR_PTR(err));
	}
	put_device(&dev->ib.dev);
	ib_dealloc_device(&dev->ib);
	return err;
}

/* rdma link add NAME type uet netdev DEV. Context: process. */
static int uet_link_new(const char *name, struct net_device *ndev)
{
	struct uet_dev *dev;
	int err;

	mutex_lock(&uet_link_mutex);
	err = uet_link_check(ndev);
	if (!err) {
		dev = uet_dev_create(ndev);
		err = IS_ERR(dev) ? PTR_ERR(dev) :
				    uet_link_register(dev, name, ndev);
	}
	mutex_unlock(&uet_link_mutex);
	return err;
}

static struct rdma_link_ops uet_link_ops = {
	.type = "uet",
	.newlink = uet_link_new,
};

/* Under rtnl: only queues. */
static int uet_netdev_event(struct notifier_block *nb, unsigned long event,
			    void *arg)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(arg);
	struct ib_device *ib = ib_device_get_by_netdev(ndev, UET_DRIVER_ID);

	if (!ib)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_UNREGISTER:
		ib_unregister_device_queued(ib);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		uet_port_changed(to_udev(ib), ndev, false);
		break;
	case NETDEV_CHANGEMTU:
		uet_port_changed(to_udev(ib), ndev, true);
		break;
	}
	ib_device_put(ib);
	return NOTIFY_DONE;
}

static struct notifier_block uet_netdev_nb = {
	.notifier_call = uet_netdev_event,
};

static int __init uet_init(void)
{
	int err;

	uet_stats_init();
	uet_verbs_wq = alloc_workqueue("uet_verbs", WQ_UNBOUND | WQ_MEM_RECLAIM,
				       0);
	if (!uet_verbs_wq)
		return -ENOMEM;
	err = uet_nl_init();
	if (err)
		goto err_wq;
	err = register_netdevice_notifier(&uet_netdev_nb);
	if (err)
		goto err_nl;
	rdma_link_register(&uet_link_ops);
	return 0;

err_nl:
	uet_nl_exit();
err_wq:
	destroy_workqueue(uet_verbs_wq);
	return err;
}

static void __exit uet_exit(void)
{
	rdma_link_unregister(&uet_link_ops);
	unregister_netdevice_notifier(&uet_netdev_nb);
	/* The end of a device is told by netlink, too. */
	ib_unregister_driver(UET_DRIVER_ID);
	uet_nl_exit();
	destroy_workqueue(uet_verbs_wq);
}

module_init(uet_init);
module_exit(uet_exit);

MODULE_DESCRIPTION("Software Ultra Ethernet Transport RDMA provider");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_RDMA_LINK("uet");
UET_IMPORT_DMA_BUF;
