// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What the device is and can do. All limits stand in uet_caps: what is said
 * there can be had, given memory.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <uapi/rdma/uet_netlink.h>

#include "job.h"

#if IS_ENABLED(CONFIG_INFINIBAND_ON_DEMAND_PAGING)
#define UET_ODP_CAP	IBK_ON_DEMAND_PAGING
/* A datagram that is received is not sent again, so there is no time to page */
#define UET_ODP_CAPS	\
	.odp_caps = { \
		.general_caps = IB_ODP_SUPPORT, \
		.per_transport_caps = { \
			.rc_odp_caps = IB_ODP_SUPPORT_SEND | \
				       IB_ODP_SUPPORT_RECV | \
				       IB_ODP_SUPPORT_WRITE | \
				       IB_ODP_SUPPORT_READ | \
				       IB_ODP_SUPPORT_ATOMIC | \
				       IB_ODP_SUPPORT_SRQ_RECV | \
				       UET_ODP_MORE, \
			.ud_odp_caps = IB_ODP_SUPPORT_SEND, \
		}, \
	},
#define UET_OPS_ODP	.advise_mr = uet_advise_mr,
#else
#define UET_ODP_CAP	0
#define UET_ODP_CAPS
#define UET_OPS_ODP
#endif

static const struct ib_device_attr uet_caps = {
	.fw_ver			= 1ULL << 32,	/* UET 1.0 */
	.vendor_id		= 0xffffff,	/* software, no vendor */
	.max_mr_size		= UET_MAX_MR_SIZE,
	.page_size_cap		= GENMASK_ULL(30, 12),
	.max_qp			= UET_MAX_QP,
	.max_qp_wr		= UET_MAX_WR,
	.device_cap_flags	= IB_DEVICE_CURR_QP_STATE_MOD |
				  IB_DEVICE_RC_RNR_NAK_GEN |
				  IB_DEVICE_PORT_ACTIVE_EVENT |
				  IB_DEVICE_SYS_IMAGE_GUID |
				  IB_DEVICE_SRQ_RESIZE |
				  IB_DEVICE_MEM_WINDOW |
				  IB_DEVICE_MEM_WINDOW_TYPE_2B |
				  IB_DEVICE_MEM_MGT_EXTENSIONS |
				  IB_DEVICE_FLUSH_GLOBAL |
				  IB_DEVICE_ATOMIC_WRITE,
	.kernel_cap_flags	= IBK_LOCAL_DMA_LKEY | IBK_ALLOW_USER_UNREG |
				  UET_ODP_CAP,
	.max_send_sge		= UET_MAX_SGE,
	.max_recv_sge		= UET_MAX_SGE,
	.max_sge_rd		= UET_MAX_SGE,
	UET_ODP_CAPS
	.max_cq			= UET_MAX_CQ,
	.max_cqe		= UET_MAX_CQE,
	.max_mr			= UET_MAX_MR,
	.max_mw			= UET_MAX_MW,
	.max_fast_reg_page_list_len = UET_MAX_FR_PAGES,
	.max_pd			= UET_MAX_PD,
	.max_qp_rd_atom		= UET_MAX_RD_ATOMIC,
	.max_res_rd_atom	= UET_MAX_RD_ATOMIC * UET_MAX_QP,
	.max_qp_init_rd_atom	= UET_MAX_RD_ATOMIC,
	.atomic_cap		= IB_ATOMIC_GLOB,
	.max_ah			= UET_MAX_AH,
	.max_srq		= UET_MAX_SRQ,
	.max_srq_wr		= UET_MAX_WR,
	.max_srq_sge		= UET_MAX_SGE,
	.max_mcast_grp		= UET_MCAST_MAX,
	.max_mcast_qp_attach	= UET_MCAST_MAX,
	.max_total_mcast_qp_attach = UET_MCAST_MAX,
	.max_pkeys		= 1,
	.cq_caps		= {
		.max_cq_moderation_count = U16_MAX,
		.max_cq_moderation_period = U16_MAX,
	},
	.local_ca_ack_delay	= 15,
	.timestamp_mask		= U64_MAX,	/* CLOCK_MONOTONIC, ns */
	.hca_core_clock		= 1000000,	/* kHz */
};

static const u32 uet_obj_max[UET_OBJ_NR] = {
	[UET_OBJ_QP] = UET_MAX_QP,
	[UET_OBJ_CQ] = UET_MAX_CQ,
	[UET_OBJ_PD] = UET_MAX_PD,
	[UET_OBJ_MR] = UET_MAX_MR,
	[UET_OBJ_MW] = UET_MAX_MW,
	[UET_OBJ_AH] = UET_MAX_AH,
	[UET_OBJ_JOB] = UET_MAX_JOB,
	[UET_OBJ_SKEY] = UET_MAX_SKEY,
	[UET_OBJ_JKEY] = UET_MAX_JKEY,
};

/**
 * uet_obj_take - may there be one more?
 * @dev: device
 * @obj: kind of object
 *
 * Context: any.
 * Return: 0, to be given back by uet_obj_give(); -ENOMEM at the limit.
 */
int uet_obj_take(struct uet_dev *dev, enum uet_obj obj)
{
	return atomic_add_unless(&dev->objs[obj], 1, uet_obj_max[obj]) ?
	       0 : -ENOMEM;
}

void uet_obj_give(struct uet_dev *dev, enum uet_obj obj)
{
	atomic_dec(&dev->objs[obj]);
}

/**
 * uet_udata_in - read what user space sent with a verb
 * @udata: of the verb; NULL for the kernel
 * @req: filled in, or NULL if the verb takes nothing
 * @size: bytes of @req; 0 with @req NULL
 *
 * A longer request of a newer library is fine if all that we do not know is
 * zero.
 *
 * Return: 0, -EINVAL if it is too short, -EOPNOTSUPP if it asks for what we do
 * not know, -EFAULT.
 */
int uet_udata_in(struct ib_udata *udata, void *req, size_t size)
{
	if (!udata || (!size && !udata->inlen))
		return 0;
	if (!size)
		return ib_is_udata_cleared(udata, 0, udata->inlen) ?
		       0 : -EOPNOTSUPP;
	return uet_udata_in_min(udata, req, size, size);
}

/**
 * uet_udata_in_min - the same for a request that has grown
 * @udata: of the verb; NULL for the kernel
 * @req: filled in, with zeros where an older library says nothing
 * @size: bytes of @req
 * @min: bytes that its first version had
 *
 * Return: as uet_udata_in().
 */
int uet_udata_in_min(struct ib_udata *udata, void *req, size_t size, size_t min)
{
	int err;

	if (!udata)
		return 0;
	if (udata->inlen < min)
		return -EINVAL;
	err = copy_struct_from_user(req, size, udata->inbuf, udata->inlen);
	return err == -E2BIG ? -EOPNOTSUPP : err;
}

/**
 * uet_udata_out - answer user space
 * @udata: of the verb; NULL for the kernel
 * @resp: answer
 * @size: its bytes
 *
 * An older library gets the part it knows, a newer one zeros behind it.
 *
 * Return: 0 or -EFAULT.
 */
int uet_udata_out(struct ib_udata *udata, const void *resp, size_t size)
{
	size_t n;

	if (!udata)
		return 0;
	n = min(size, udata->outlen);
	if (n && copy_to_user(udata->outbuf, resp, n))
		return -EFAULT;
	if (udata->outlen > n &&
	    clear_user((u8 __user *)udata->outbuf + n, udata->outlen - n))
		return -EFAULT;
	return 0;
}

/* For verbs that take and give nothing of ours. */
int uet_udata_none(struct ib_udata *udata)
{
	return uet_udata_in(udata, NULL, 0) ?: uet_udata_out(udata, NULL, 0);
}

static int uet_query_device(struct ib_device *ib, struct ib_device_attr *attr,
			    struct ib_udata *udata)
{
	*attr = uet_caps;
	attr->sys_image_guid = ib->node_guid;
	return uet_udata_none(udata);
}

static void uet_get_dev_fw_str(struct ib_device *ib, char *str)
{
	/* No firmware: the specification that is spoken. */
	strscpy(str, "UET 1.0", IB_FW_VERSION_NAME_MAX);
}

/**
 * uet_active_mtu - port MTU as verbs has it
 * @dev: device
 *
 * Verbs knows no more than 4096, whatever a packet may carry.
 *
 * Return: the largest MTU of verbs that a payload fits.
 */
enum ib_mtu uet_active_mtu(const struct uet_dev *dev)
{
	return ib_mtu_int_to_enum(uet_fep_payload_mtu(dev->fep));
}

/* A netdev whose MTU has no room for the smallest payload is no use either. */
static int uet_port_state(const struct uet_dev *dev,
			  const struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev) &&
	       uet_fep_payload_mtu(dev->fep) ? IB_PORT_ACTIVE : IB_PORT_DOWN;
}

static u8 uet_phys_state(const struct net_device *ndev)
{
	if (!netif_running(ndev))
		return IB_PORT_PHYS_STATE_DISABLED;
	return netif_carrier_ok(ndev) ? IB_PORT_PHYS_STATE_LINK_UP :
					IB_PORT_PHYS_STATE_POLLING;
}

/**
 * uet_port_changed - the netdev went up or down or has other attributes
 * @dev: device
 * @ndev: its netdev
 * @attrs: attributes other than the state changed
 *
 * Context: netdev notifier, or registration. Only queues.
 */
void uet_port_changed(struct uet_dev *dev, struct net_device *ndev, bool attrs)
{
	int state = uet_port_state(dev, ndev);
	int old = xchg(&dev->port_state, state);
	struct ib_event ev = {
		.device = &dev->ib,
		.event = state == IB_PORT_ACTIVE ? IB_EVENT_PORT_ACTIVE :
						   IB_EVENT_PORT_ERR,
		.element.port_num = UET_PORT,
	};

	if ((state != old && !UET_CORE_REPORTS_PORT(ndev)) ||
	    (attrs && state == IB_PORT_ACTIVE))
		ib_dispatch_event(&ev);
}

/* State and speed; a port whose netdev is going is down, not an error. */
static int uet_query_link(struct ib_device *ib, struct ib_port_attr *attr)
{
	struct net_device *ndev = ib_device_get_netdev(ib, UET_PORT);

	attr->state = IB_PORT_DOWN;
	attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	attr->active_speed = IB_SPEED_SDR;
	attr->active_width = IB_WIDTH_1X;
	if (!ndev)
		return 0;
	attr->state = uet_port_state(to_udev(ib), ndev);
	attr->phys_state = uet_phys_state(ndev);
	dev_put(ndev);
	return ib_get_eth_speed(ib, UET_PORT, &attr->active_speed,
				&attr->active_width);
}

static int uet_query_port(struct ib_device *ib, u32 port,
			  struct ib_port_attr *attr)
{
	int err;

	if (port != UET_PORT)
		return -EINVAL;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = uet_active_mtu(to_udev(ib));
	attr->gid_tbl_len = 256;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = UET_MAX_MSG;
	attr->pkey_tbl_len = 1;
	attr->max_vl_num = 1;
	err = uet_query_link(ib, attr);
	/* The netdev went between two looks at it. */
	return err == -ENODEV ? 0 : err;
}

static int uet_get_port_immutable(struct ib_device *ib, u32 port,
				  struct ib_port_immutable *imm)
{
	struct ib_port_attr attr;
	int err;

	err = ib_query_port(ib, port, &attr);
	if (err)
		return err;
	imm->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	imm->pkey_tbl_len = attr.pkey_tbl_len;
	imm->gid_tbl_len = attr.gid_tbl_len;
	imm->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer uet_get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int uet_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

static int uet_alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata)
{
	struct uet_alloc_ucontext_resp resp = {
		.comp_mask = UET_UCONTEXT_JOBS,
		.caps = UET_CAP_RU | UET_CAP_JOB | UET_CAP_USER_RKEY |
			UET_CAP_RU_ATOMIC,
		.max_inline = UET_MAX_INLINE,
		.max_sge = UET_MAX_SGE,
		.max_job = UET_MAX_JOB,
		.max_skey = UET_MAX_SKEY,
		.max_jkey = UET_MAX_JKEY,
		.max_addr = UET_MAX_JOB_ADDR,
	};
	int err;

	err = uet_udata_in(udata, NULL, 0);
	return err ?: uet_udata_out(udata, &resp, sizeof(resp));
}

static void uet_dealloc_ucontext(struct ib_ucontext *uctx)
{
}

/*
 * The device goes while a process has it open. ib_core has destroyed all
 * objects of the process before it calls this, and refuses its calls from now
 * on. The rings still mapped are plain pages that nothing of ours looks at
 * any more, see uet_ring_free(), so there is no mapping to revoke.
 */
static void uet_disassociate_ucontext(struct ib_ucontext *uctx)
{
}

static int uet_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	int err;

	err = uet_udata_none(udata) ?:
	      uet_obj_take(to_udev(pd->device), UET_OBJ_PD);
	if (!err)
		xa_init_flags(&to_upd(pd)->jobs, XA_FLAGS_ACCOUNT);
	return err;
}

static int uet_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	xa_destroy(&to_upd(pd)->jobs);
	uet_obj_give(to_udev(pd->device), UET_OBJ_PD);
	return 0;
}

/* Called between registration and the first client. */
static int uet_enable_driver(struct ib_device *ib)
{
	return uet_dev_publish(ib);
}

/* The one end of every device, however it came about. Context: process. */
static void uet_dealloc_driver(struct ib_device *ib)
{
	struct uet_dev *dev = to_udev(ib);

	uet_dev_unpublish(dev);
	if (dev->announced)
		uet_nl_dev_notify(dev, UET_CMD_DEV_DEL_NTF);
	uet_shared_dev_exit(dev);
	if (dev->fep)
		uet_fep_destroy(dev->fep);
	uet_rkey_dev_exit(dev);
	xa_destroy(&dev->qps);
	xa_destroy(&dev->mkeys);
	xa_destroy(&dev->srqs);
	xa_destroy(&dev->counters);
	xa_destroy(&dev->ahs);
}

#if IS_ENABLED(CONFIG_DMA_SHARED_BUFFER)
#define UET_OPS_DMABUF	.reg_user_mr_dmabuf = uet_reg_user_mr_dmabuf,
#else
#define UET_OPS_DMABUF
#endif

const struct ib_device_ops uet_dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = UET_DRIVER_ID,
	.uverbs_abi_ver = UET_ABI_VERSION,
	UET_OPS_ROBUST_UDATA

	UET_OPS_ODP
	.alloc_hw_port_stats = uet_alloc_hw_port_stats,
	.alloc_mr = uet_alloc_mr,
	.alloc_mw = uet_alloc_mw,
	.alloc_pd = uet_alloc_pd,
	.alloc_ucontext = uet_alloc_ucontext,
	.attach_mcast = uet_attach_mcast,
	.counter_alloc_stats = uet_counter_alloc_stats,
	.counter_bind_qp = uet_counter_bind_qp,
	.counter_dealloc = uet_counter_dealloc,
	UET_OPS_COUNTER_INIT
	.counter_unbind_qp = uet_counter_unbind_qp,
	.counter_update_stats = uet_counter_update_stats,
	.create_ah = uet_create_ah,
	.create_cq = uet_create_cq,
	.create_qp = uet_create_qp,
	.create_srq = uet_create_srq,
	.create_user_ah = uet_create_ah,
	.dealloc_driver = uet_dealloc_driver,
	.dealloc_mw = uet_dealloc_mw,
	.dealloc_pd = uet_dealloc_pd,
	.dealloc_ucontext = uet_dealloc_ucontext,
	.dereg_mr = uet_dereg_mr,
	.destroy_ah = uet_destroy_ah,
	.destroy_cq = uet_destroy_cq,
	.destroy_qp = uet_destroy_qp,
	.destroy_srq = uet_destroy_srq,
	.detach_mcast = uet_detach_mcast,
	.disassociate_ucontext = uet_disassociate_ucontext,
	.enable_driver = uet_enable_driver,
	.fill_res_cq_entry = uet_fill_res_cq_entry,
	.fill_res_mr_entry = uet_fill_res_mr_entry,
	.fill_res_qp_entry = uet_fill_res_qp_entry,
	.fill_res_srq_entry = uet_fill_res_srq_entry,
	.get_dev_fw_str = uet_get_dev_fw_str,
	.get_dma_mr = uet_get_dma_mr,
	.get_hw_stats = uet_get_hw_stats,
	.get_link_layer = uet_get_link_layer,
	.get_port_immutable = uet_get_port_immutable,
	.map_mr_sg = uet_map_mr_sg,
	.mmap = uet_mmap,
	.mmap_free = uet_mmap_free,
	.modify_cq = uet_modify_cq,
	.modify_qp = uet_modify_qp,
	.modify_srq = uet_modify_srq,
	.poll_cq = uet_poll_cq,
	.post_recv = uet_post_recv,
	.post_send = uet_post_send,
	.post_srq_recv = uet_post_srq_recv,
	.query_ah = uet_query_ah,
	.query_device = uet_query_device,
	.query_pkey = uet_query_pkey,
	.query_port = uet_query_port,
	.query_qp = uet_query_qp,
	.query_srq = uet_query_srq,
	.reg_user_mr = uet_reg_user_mr,
	UET_OPS_DMABUF
	.req_notify_cq = uet_req_notify_cq,
	.rereg_user_mr = uet_rereg_user_mr,
	.UET_RESIZE_CQ = uet_resize_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, uet_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, uet_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_mw, uet_mw, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, uet_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, uet_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, uet_srq, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, uet_ucontext, ib),
	UET_OPS_COUNTER_SIZE
};
