/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Memory: regions, windows, and the keys that lead to them. See mkey.c.
 */
#ifndef UET_MR_H
#define UET_MR_H

#include <linux/iosys-map.h>
#include <linux/list.h>
#include <linux/rhashtable-types.h>
#include <linux/spinlock.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/uet-abi.h>

#include "../compat.h"
#include "../dp/uet_dp.h"

struct uet_dev;
struct uet_jkey;
struct uet_odp;
struct uet_qp;

/* Memory keys: a 24-bit index and 8 bits that change at each use of it. */
#define UET_KEY_INDEX_MAX	0xffffff
/* Index 0 is no region; this key of it means kernel addresses. */
#define UET_LOCAL_DMA_LKEY	0x000000ff

/**
 * struct uet_map - memory that a key may lead to
 * @mem: what the engine sees; its last reference frees this struct
 * @bvec: blocks of @mem; NULL for a window, which uses those of @parent
 * @room: entries of @bvec
 * @parent: windows: memory of the region, with a reference
 * @odp: of a region that is not pinned, valid while @mem can be entered; or NULL
 * @node: windows: entry of @parent->windows; whoever takes it out revokes the
 *	window
 * @windows: windows on this memory
 * @dying: no window may be bound any more
 * @rcu: for freeing
 *
 * @node, @windows and @dying are under uet_dev.mw_lock.
 */
struct uet_map {
	struct uet_mem mem;
	struct bio_vec *bvec;
	u32 room;
	struct uet_map *parent;
	struct uet_odp *odp;
	struct list_head node;
	struct list_head windows;
	bool dying;
	struct rcu_head rcu;
};

/* For whom a region is, beside its protection domain. */
enum uet_mkey_scope {
	UET_SCOPE_CHOSEN	= BIT(0),	/* @chosen is set, and in rkeys */
	UET_SCOPE_JOB		= BIT(1),	/* peers of @job_id only */
	UET_SCOPE_QP		= BIT(2),	/* through @qp only */
};

enum uet_mkey_kind {
	UET_MKEY_MR,		/* never changes once it is published */
	UET_MKEY_DMA,		/* the same: all kernel addresses */
	UET_MKEY_FRWR,
	UET_MKEY_MW1,
	UET_MKEY_MW2,
};

/**
 * struct uet_rkey - a remote key that an application chose
 * @key: as on the wire
 * @pd: protection domain: nobody lengthens the hash chains of others
 */
struct uet_rkey {
	u64 key;
	const struct ib_pd *pd;
};

/**
 * struct uet_mkey - what a key means
 * @lock: FRWR and windows: protects everything below but @rcu; leaf
 * @kind: enum uet_mkey_kind
 * @key: lkey or rkey; 0 while there is no valid one
 * @access: enum ib_access_flags
 * @qpn: windows of type 2: the one QP that may use it, else 0
 * @pd: protection domain; compared only
 * @map: memory; NULL for UET_MKEY_DMA and for FRWR and windows without a key
 * @iova: address of the first byte as users name it
 * @length: bytes
 * @off: where in @map the first byte is
 * @scope: enum uet_mkey_scope; never changes
 * @job_id: UET_SCOPE_JOB: the job, held by uet_mr.jkey; never changes
 * @qp: UET_SCOPE_QP: the QP that the region is attached to, or NULL; compared
 *	only. Written under uet_dev.rkey_mutex
 * @chosen: UET_SCOPE_CHOSEN: by what peers find it; never changes
 * @rkey_node: entry of uet_dev.rkeys, by @chosen
 * @rcu: for freeing
 */
struct uet_mkey {
	spinlock_t lock;	/* see above */
	u8 kind;
	u32 key;
	int access;
	u32 qpn;
	const struct ib_pd *pd;
	struct uet_map *map;
	u64 iova;
	u64 length;
	u64 off;
	u8 scope;
	u32 job_id;
	const struct uet_qp *qp;
	struct uet_rkey chosen;
	struct rhlist_head rkey_node;
	struct rcu_head rcu;
};

/**
 * struct uet_mr - memory region
 * @ib: what ib_core sees
 * @mkey: its key
 * @umem: pinned pages of a process, or NULL
 * @odp: pages of a process that are not pinned, or NULL
 * @dmabuf: imported buffer, or NULL
 * @vmap: kernel mapping of @dmabuf
 * @fr: FRWR: two maps, so that one can be filled while the other is in use
 * @fr_next: FRWR: the one that map_mr_sg() filled last
 * @fr_ready: FRWR: @fr_next waits for its REG_MR
 * @jkey: job key of a region for one job, with a use; else NULL
 * @parent: region that this one is a part of, counted in its @children
 * @children: regions derived from this one; INT_MIN once none may be
 * @qp_node: entry of uet_qp.mrs; under uet_dev.rkey_mutex
 */
struct uet_mr {
	struct ib_mr ib;
	struct uet_mkey mkey;
	struct ib_umem *umem;
	struct uet_odp *odp;
	struct dma_buf *dmabuf;
	struct iosys_map vmap;
	struct uet_map *fr[2];
	u8 fr_next;
	bool fr_ready;
	struct uet_jkey *jkey;
	struct uet_mr *parent;
	atomic_t children;
	struct list_head qp_node;
};

/**
 * struct uet_mw - memory window
 * @ib: what ib_core sees
 * @mkey: its key; freed on its own, since look-ups may outlive this struct
 */
struct uet_mw {
	struct ib_mw ib;
	struct uet_mkey *mkey;
};

static inline struct uet_mr *to_umr(struct ib_mr *ib)
{
	return container_of(ib, struct uet_mr, ib);
}

static inline struct uet_mw *to_umw(struct ib_mw *ib)
{
	return container_of(ib, struct uet_mw, ib);
}

/* mkey.c */
void uet_mkey_dev_init(struct uet_dev *dev);
int uet_mkey_publish(struct uet_dev *dev, struct uet_mkey *mkey, u32 *key);
void uet_mkey_replace(struct uet_dev *dev, struct uet_mkey *mkey, u32 key);
void uet_mkey_retract(struct uet_dev *dev, struct uet_mkey *mkey, u32 key);
struct uet_mkey *uet_mkey_find(struct uet_dev *dev, u32 key);
struct uet_map *uet_map_alloc(gfp_t gfp);
void uet_map_put(struct uet_map *map);
void uet_map_revoke(struct uet_map *map);
void uet_map_kill(struct uet_dev *dev, struct uet_map *map);
int uet_mkey_local(const struct ib_pd *pd, bool user, u32 lkey, u64 addr,
		   u32 len, bool write, struct uet_sge *sge);
enum uet_rc uet_mkey_remote(struct uet_ep *ep, u32 job_id, u64 key, u64 addr,
			    u32 len, u8 access, struct uet_sge *sge);
bool uet_mkey_may_invalidate(const struct uet_qp *qp, u32 key);
int uet_mkey_invalidate(const struct uet_qp *qp, u32 key);
bool uet_mkey_busy(struct uet_dev *dev, u32 key);
void uet_sges_put(struct uet_sge *sge, unsigned int nr);

/* mr.c */
struct uet_mr *uet_mr_alloc(struct ib_pd *pd, int access, u64 iova, u64 length);
int uet_mr_check(u64 length, u64 iova, int access);
int uet_mr_fill(struct uet_map *map, struct sg_table *sgt, u64 skip,
		u64 length);
int uet_mr_publish(struct uet_mr *mr, struct ib_pd *pd);
struct ib_mr *uet_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *uet_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			      u64 iova, int access,
			      UET_DMAH_PARAM struct ib_udata *udata);
struct ib_mr *uet_rereg_user_mr(struct ib_mr *ib, int flags, u64 start,
				u64 length, u64 iova, int access,
				struct ib_pd *pd, struct ib_udata *udata);
int uet_dereg_mr(struct ib_mr *ib, struct ib_udata *udata);
void uet_mr_end(struct uet_dev *dev, struct uet_mr *mr);

/* dmabuf.c */
#if IS_ENABLED(CONFIG_DMA_SHARED_BUFFER)
struct ib_mr *uet_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				     u64 iova, int fd, int access,
				     UET_DMAH_PARAM
				     struct uverbs_attr_bundle *attrs);
void uet_dmabuf_put(struct uet_mr *mr);
#else
static inline void uet_dmabuf_put(struct uet_mr *mr)
{
}
#endif

/* frwr.c */
struct ib_mr *uet_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max);
int uet_map_mr_sg(struct ib_mr *ib, struct scatterlist *sg, int nents,
		  unsigned int *offset);
void uet_frwr_free(struct uet_mr *mr);
int uet_frwr_register(const struct uet_qp *qp, struct uet_mr *mr, u32 key,
		      int access);

/* mw.c */
int uet_alloc_mw(struct ib_mw *ib, struct ib_udata *udata);
int uet_dealloc_mw(struct ib_mw *ib);
int uet_mw_bind(const struct uet_qp *qp, const struct uet_send_wqe *wqe);
void uet_window_end(struct uet_dev *dev, struct uet_map *map);
void uet_windows_end(struct uet_dev *dev, struct uet_map *map);

/* odp.c */
#if IS_ENABLED(CONFIG_INFINIBAND_ON_DEMAND_PAGING)
int uet_odp_create(struct uet_mr *mr, struct ib_device *ib, u64 start,
		   u64 length, int access);
void uet_odp_destroy(struct uet_mr *mr);
int uet_odp_ready(struct uet_qp *qp, const struct uet_sge *sge);
int uet_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		  u32 flags, struct ib_sge *sg_list, u32 num_sge,
		  struct uverbs_attr_bundle *attrs);
#else
static inline int uet_odp_create(struct uet_mr *mr, struct ib_device *ib,
				 u64 start, u64 length, int access)
{
	return -EOPNOTSUPP;
}

static inline void uet_odp_destroy(struct uet_mr *mr)
{
}

static inline int uet_odp_ready(struct uet_qp *qp, const struct uet_sge *sge)
{
	return 0;
}
#endif

#endif /* UET_MR_H */
