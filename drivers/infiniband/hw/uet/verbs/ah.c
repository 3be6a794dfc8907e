// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Address handles. One is a path of the engine; those of user space have a
 * number too, by which send requests name them.
 */
#include <rdma/ib_cache.h>

#include "uet.h"

/* Link-local addresses need the interface that the source address is of. */
static u32 uet_gid_scope(const struct ib_gid_attr *sgid)
{
	struct net_device *ndev;
	u32 scope = 0;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid);
	if (!IS_ERR_OR_NULL(ndev))
		scope = ndev->ifindex;
	rcu_read_unlock();
	return scope;
}

/**
 * uet_path_from_attr - the path that address attributes describe
 * @dev: device
 * @attr: checked by ib_core; the source GID is in grh.sgid_attr
 * @payload_mtu: limit, or 0
 * @gfp: allocation flags
 *
 * Context: any.
 * Return: a path with a reference, or ERR_PTR.
 */
struct uet_path *uet_path_from_attr(struct uet_dev *dev,
				    const struct rdma_ah_attr *attr,
				    u32 payload_mtu, gfp_t gfp)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	struct uet_path_attr pa = {
		.tclass = grh->traffic_class,
		.hop_limit = grh->hop_limit,
		.payload_mtu = payload_mtu,
	};

	if (attr->type != RDMA_AH_ATTR_TYPE_ROCE || !grh->sgid_attr ||
	    !(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) ||
	    grh->sgid_attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return ERR_PTR(-EINVAL);

	memcpy(&pa.src, grh->sgid_attr->gid.raw, sizeof(pa.src));
	memcpy(&pa.dst, grh->dgid.raw, sizeof(pa.dst));
	if (ipv6_addr_any(&pa.dst))
		return ERR_PTR(-EINVAL);
	if (__ipv6_addr_needs_scope_id(ipv6_addr_type(&pa.dst)))
		pa.scope = uet_gid_scope(grh->sgid_attr);
	return uet_path_create(dev->fep, &pa, gfp);
}

static int uet_ah_publish(struct uet_dev *dev, struct uet_ah *ah,
			  struct ib_udata *udata)
{
	struct uet_create_ah_resp resp = {};
	int err;

	err = xa_alloc_cyclic_irq(&dev->ahs, &ah->num, ah, xa_limit_32b,
				  &dev->ah_next, GFP_KERNEL);
	if (err < 0)
		return err;
	resp.ah = ah->num;
	err = uet_udata_out(udata, &resp, sizeof(resp));
	if (err)
		xa_erase_irq(&dev->ahs, ah->num);
	return err;
}

/* Context: any for the kernel, process for user space. */
int uet_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init,
		  struct ib_udata *udata)
{
	gfp_t gfp = init->flags & RDMA_CREATE_AH_SLEEPABLE ? GFP_KERNEL :
							     GFP_ATOMIC;
	struct uet_dev *dev = to_udev(ib->device);
	struct uet_ah *ah = to_uah(ib);
	int err;

	err = uet_udata_in(udata, NULL, 0);
	if (err)
		return err;
	err = uet_obj_take(dev, UET_OBJ_AH);
	if (err)
		return err;
	ah->path = uet_path_from_attr(dev, init->ah_attr, 0, gfp);
	if (IS_ERR(ah->path)) {
		err = PTR_ERR(ah->path);
		goto err_obj;
	}
	ah->attr = *init->ah_attr;
	ah->attr.grh.sgid_attr = NULL;
	if (udata) {
		err = uet_ah_publish(dev, ah, udata);
		if (err)
			goto err_path;
	}
	return 0;

err_path:
	uet_path_put(ah->path);
err_obj:
	uet_obj_give(dev, UET_OBJ_AH);
	return err;
}

int uet_query_ah(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	*attr = to_uah(ib)->attr;
	return 0;
}

/* Context: any. */
int uet_destroy_ah(struct ib_ah *ib, u32 flags)
{
	struct uet_dev *dev = to_udev(ib->device);
	struct uet_ah *ah = to_uah(ib);
	unsigned long irq;

	if (ah->num) {
		xa_lock_irqsave(&dev->ahs, irq);
		__xa_erase(&dev->ahs, ah->num);
		xa_unlock_irqrestore(&dev->ahs, irq);
	}
	uet_path_put(ah->path);
	uet_obj_give(dev, UET_OBJ_AH);
	return 0;
}

/**
 * uet_ah_path - where does an AH number of user space lead?
 * @qp: whose send request names it; must be of the same protection domain
 * @num: number
 *
 * The AH may be destroyed any time, so look-up and reference are one step.
 *
 * Context: any.
 * Return: a path with a reference, or NULL.
 */
struct uet_path *uet_ah_path(struct uet_qp *qp, u32 num)
{
	struct xarray *ahs = &qp->dev->ahs;
	struct uet_path *path = NULL;
	unsigned long irq;
	struct uet_ah *ah;

	xa_lock_irqsave(ahs, irq);
	ah = xa_load(ahs, num);
	if (ah && ah->ib.pd == qp->ib.pd) {
		path = ah->path;
		uet_path_get(path);
	}
	xa_unlock_irqrestore(ahs, irq);
	return path;
}
