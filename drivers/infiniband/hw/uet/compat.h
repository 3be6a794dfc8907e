/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The one place for differences between kernel versions. The code is written
 * for the newest kernel; what 6.12 lacks is made up for here.
 */
#ifndef UET_COMPAT_H
#define UET_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void uet_hrtimer_setup(struct hrtimer *timer,
				     enum hrtimer_restart (*fn)(struct hrtimer *),
				     clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = fn;
}

#define hrtimer_setup uet_hrtimer_setup
#endif

/* Allocation by what is pointed to; GFP_KERNEL unless told otherwise. */
#define uet_second(a, b, ...)	b
#define uet_alloc_obj(alloc, obj, ...)	\
	((typeof(obj) *)alloc(sizeof(obj), uet_second(, ##__VA_ARGS__, GFP_KERNEL)))

#ifndef kmalloc_obj
#define kmalloc_obj(obj, ...)	uet_alloc_obj(kmalloc, obj, ##__VA_ARGS__)
#endif
#ifndef kzalloc_obj
#define kzalloc_obj(obj, ...)	uet_alloc_obj(kzalloc, obj, ##__VA_ARGS__)
#endif

/* Result of a comparison, for sort(). */
#ifndef cmp_int
static inline int uet_cmp_int(u64 l, u64 r)
{
	return (l > r) - (l < r);
}

#define cmp_int uet_cmp_int
#endif

/* ib_umem_get() got a name of its own for plain addresses. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
#define ib_umem_get_va ib_umem_get
#endif

/*
 * reg_user_mr() got a handle for DMA hints. Nobody can make one for a device
 * that offers none, so it is NULL.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define UET_DMAH_PARAM
#else
#define UET_DMAH_PARAM	struct ib_dmah *dmah,
#endif

/* A device in the namespace of its netdev, where ib_core has that. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define uet_alloc_ib_device(net)	ib_alloc_device(uet_dev, ib)
#else
#define uet_alloc_ib_device(net)	ib_alloc_device_with_net(uet_dev, ib, net)
#endif

/*
 * ib_core tells users of a port when its netdev goes up or down; the driver
 * does it only for bonds, which ib_core leaves out.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define UET_CORE_REPORTS_PORT(ndev)	false
#else
#define UET_CORE_REPORTS_PORT(ndev)	(!netif_is_lag_master(ndev))
#endif

/* A promise to check every udata, made to user space where it can be. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
#define UET_OPS_ROBUST_UDATA
#else
#define UET_OPS_ROBUST_UDATA		.uverbs_robust_udata = 1,
#endif

/* Only CQs of user space are resized since nobody else asked for it. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
#define UET_RESIZE_CQ		resize_cq
#define UET_RESIZE_CQE		int
#else
#define UET_RESIZE_CQ		resize_user_cq
#define UET_RESIZE_CQE		unsigned int
#endif

/*
 * Counters of QPs: the port is passed, and the driver sets the struct up, which
 * may be part of a larger one. Ours needs neither.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define UET_COUNTER_PORT
#define UET_OPS_COUNTER_INIT
#define UET_OPS_COUNTER_SIZE
#else
#define UET_COUNTER_PORT	\
	, u32 port
#define UET_OPS_COUNTER_INIT	.counter_init = uet_counter_init,
#define UET_OPS_COUNTER_SIZE	\
	INIT_RDMA_OBJ_SIZE(rdma_counter, uet_rdma_counter, ib),
#endif

/* Pages on demand: rights stand among the flags of page frame numbers. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define UET_ODP_ACCESS(write)	\
	(ODP_READ_ALLOWED_BIT | ((write) ? ODP_WRITE_ALLOWED_BIT : 0))
#define UET_ODP_PFNS(umem)	((umem)->pfn_list)
#else
#define UET_ODP_ACCESS(write)	((write) ? HMM_PFN_WRITE : 0)
#define UET_ODP_PFNS(umem)	((umem)->map.pfn_list)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define system_dfl_wq system_unbound_wq
/* There was no name for them yet. */
#define UET_ODP_MORE		0
#else
#define UET_ODP_MORE		(IB_ODP_SUPPORT_FLUSH | IB_ODP_SUPPORT_ATOMIC_WRITE)
#endif

/* Names of symbol namespaces became strings. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define UET_IMPORT_DMA_BUF	MODULE_IMPORT_NS(DMA_BUF)
#else
#define UET_IMPORT_DMA_BUF	MODULE_IMPORT_NS("DMA_BUF")
#endif

#endif /* UET_COMPAT_H */
