// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The peer table of a job: rank -> path and wire pair. All holders of the job
 * see one table. The data path reads it under RCU; a path is put only after a
 * grace period, so a reader can always take a reference.
 */
#include <linux/slab.h>
#include <linux/sort.h>
#include <rdma/ib_cache.h>
#include <uapi/rdma/uet_netlink.h>

#include "job.h"

#define UET_QPN_MAX_WIRE	0xffffff

static void uet_job_peer_free(struct uet_job_peer *peer)
{
	uet_path_put(peer->path);
	kfree(peer);
}

static void uet_job_peer_free_rcu(struct rcu_head *rcu)
{
	uet_job_peer_free(container_of(rcu, struct uet_job_peer, rcu));
}

static int uet_job_addr_check(const struct uet_job *job,
			      const struct uet_job_addr *addr,
			      struct netlink_ext_ack *extack)
{
	if (addr->flags & ~UET_JOB_ADDR_SGID || addr->reserved)
		return -EINVAL;
	if (addr->index >= job->max_addr) {
		NL_SET_ERR_MSG(extack, "index is outside the peer table");
		return -EINVAL;
	}
	if (addr->qpn > UET_QPN_MAX_WIRE) {
		NL_SET_ERR_MSG(extack, "QP number has more than 24 bits");
		return -EINVAL;
	}
	return 0;
}

static struct uet_path *uet_job_addr_resolve(struct uet_job *job,
					     const struct uet_job_addr *addr)
{
	struct uet_dev *dev = job->obj.dev;
	struct rdma_ah_attr ah = { .type = RDMA_AH_ATTR_TYPE_ROCE };
	const struct ib_gid_attr *gid;
	struct uet_path *path;
	union ib_gid dgid;

	gid = rdma_get_gid_attr(&dev->ib, UET_PORT,
				addr->flags & UET_JOB_ADDR_SGID ?
				addr->sgid_index : job->sgid_index);
	if (IS_ERR(gid))
		return ERR_PTR(-EINVAL);
	memcpy(dgid.raw, addr->dgid, sizeof(dgid.raw));
	rdma_ah_set_grh(&ah, &dgid, 0, addr->sgid_index, addr->hop_limit,
			addr->traffic_class);
	ah.grh.sgid_attr = gid;
	path = uet_path_from_attr(dev, &ah, 0, GFP_KERNEL_ACCOUNT);
	rdma_put_gid_attr(gid);
	return path;
}

static struct uet_job_peer *uet_job_peer_create(struct uet_job *job,
						const struct uet_job_addr *addr,
						struct netlink_ext_ack *extack)
{
	struct uet_job_peer *peer;
	int err;

	err = uet_job_addr_check(job, addr, extack);
	if (err)
		return ERR_PTR(err);
	peer = kmalloc_obj(*peer, GFP_KERNEL_ACCOUNT);
	if (!peer)
		return ERR_PTR(-ENOMEM);
	peer->addr = *addr;
	if (!(addr->flags & UET_JOB_ADDR_SGID))
		peer->addr.sgid_index = job->sgid_index;
	peer->path = uet_job_addr_resolve(job, addr);
	if (IS_ERR(peer->path)) {
		err = PTR_ERR(peer->path);
		kfree(peer);
		if (err == -EINVAL)
			NL_SET_ERR_MSG(extack, "no GID at this index, or of another family");
		return ERR_PTR(err);
	}
	return peer;
}

static void uet_job_peers_free(struct uet_job_peer **peers, u32 nr)
{
	while (nr--)
		uet_job_peer_free(peers[nr]);
	kvfree(peers);
}

static int uet_job_peer_cmp(const void *a, const void *b)
{
	const struct uet_job_peer *const *x = a, *const *y = b;

	return cmp_int((*x)->addr.index, (*y)->addr.index);
}

static bool uet_job_peers_twice(struct uet_job_peer **peers, u32 nr)
{
	u32 i;

	sort(peers, nr, sizeof(*peers), uet_job_peer_cmp, NULL);
	for (i = 1; i < nr; i++)
		if (peers[i]->addr.index == peers[i - 1]->addr.index)
			return true;
	return false;
}

/* All that can fail before the first entry is replaced. */
static struct uet_job_peer **uet_job_peers_create(struct uet_job *job,
						  const struct uet_job_addr *addr,
						  u32 nr,
						  struct netlink_ext_ack *extack)
{
	struct uet_job_peer **peers;
	int err;
	u32 i;

	peers = kvmalloc_array(nr, sizeof(*peers), GFP_KERNEL_ACCOUNT);
	if (!peers)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < nr; i++) {
		peers[i] = uet_job_peer_create(job, &addr[i], extack);
		if (IS_ERR(peers[i])) {
			err = PTR_ERR(peers[i]);
			goto err;
		}
	}
	if (uet_job_peers_twice(peers, nr)) {
		NL_SET_ERR_MSG(extack, "an index comes twice");
		err = -EINVAL;
		goto err;
	}
	return peers;

err:
	uet_job_peers_free(peers, i);
	return ERR_PTR(err);
}

static int uet_job_addr_reserve(struct uet_job *job,
				struct uet_job_peer **peers, u32 nr)
{
	int err;
	u32 i;

	for (i = 0; i < nr; i++) {
		err = xa_reserve(&job->addrs, peers[i]->addr.index,
				 GFP_KERNEL_ACCOUNT);
		if (err)
			goto err;
	}
	return 0;

err:
	/* Only what was reserved goes by this, no entry in use. */
	while (i--)
		xa_release(&job->addrs, peers[i]->addr.index);
	return err;
}

/* The index is reserved, so nothing is allocated here. */
static void uet_job_addr_set(struct uet_job *job, struct uet_job_peer *peer)
{
	struct uet_job_peer *old;

	old = xa_store(&job->addrs, peer->addr.index, peer, GFP_KERNEL);
	if (old)
		call_rcu(&old->rcu, uet_job_peer_free_rcu);
	else
		WRITE_ONCE(job->num_addr, job->num_addr + 1);
}

static int uet_job_addr_publish(struct uet_job *job,
				struct uet_job_peer **peers, u32 nr)
{
	int err;
	u32 i;

	lockdep_assert_held(&job->addr_lock);
	if (READ_ONCE(job->obj.dead))
		return -EIO;
	err = uet_job_addr_reserve(job, peers, nr);
	if (err)
		return err;
	for (i = 0; i < nr; i++)
		uet_job_addr_set(job, peers[i]);
	job->addr_seq++;
	return 0;
}

/**
 * uet_job_addr_insert - set entries of the peer table, all or none
 * @job: job; the caller holds its device
 * @addr: entries
 * @nr: how many, at least 1
 * @extack: told what is wrong, or NULL
 *
 * Context: process.
 * Return: 0, -EINVAL, -EAFNOSUPPORT (no IPv6), -EIO if the job has ended,
 * -ENOMEM.
 */
int uet_job_addr_insert(struct uet_job *job, const struct uet_job_addr *addr,
			u32 nr, struct netlink_ext_ack *extack)
{
	struct uet_job_peer **peers;
	int err;

	peers = uet_job_peers_create(job, addr, nr, extack);
	if (IS_ERR(peers))
		return PTR_ERR(peers);

	mutex_lock(&job->addr_lock);
	err = uet_job_addr_publish(job, peers, nr);
	mutex_unlock(&job->addr_lock);

	if (err == -EIO)
		NL_SET_ERR_MSG(extack, "the job was ended");
	uet_job_peers_free(peers, err ? nr : 0);
	if (!err)
		uet_nl_job_notify(job, UET_CMD_JOB_CHANGE_NTF);
	return err;
}

static u32 uet_job_addr_count(struct uet_job *job, u32 first, u32 last)
{
	struct uet_job_peer *peer;
	unsigned long index;
	u32 n = 0;

	xa_for_each_range(&job->addrs, index, peer, first, last)
		n++;
	return n;
}

static void uet_job_addr_erase(struct uet_job *job, u32 first, u32 last)
{
	struct uet_job_peer *peer;
	unsigned long index;

	xa_for_each_range(&job->addrs, index, peer, first, last) {
		xa_erase(&job->addrs, index);
		WRITE_ONCE(job->num_addr, job->num_addr - 1);
		call_rcu(&peer->rcu, uet_job_peer_free_rcu);
	}
	job->addr_seq++;
}

/**
 * uet_job_addr_remove - clear entries of the peer table, all or none
 * @job: job; the caller holds its device
 * @first: first index
 * @nr: indices
 * @gaps: empty entries are no error
 *
 * Context: process.
 * Return: 0, -EINVAL if the range is outside the table, -ENOENT for an empty
 * entry.
 */
int uet_job_addr_remove(struct uet_job *job, u32 first, u32 nr, bool gaps)
{
	u32 last = first + nr - 1, found;
	int err = 0;

	if (!nr || last < first || last >= job->max_addr)
		return -EINVAL;
	mutex_lock(&job->addr_lock);
	found = uet_job_addr_count(job, first, last);
	if (found < nr && !gaps)
		err = -ENOENT;
	else if (found)
		uet_job_addr_erase(job, first, last);
	mutex_unlock(&job->addr_lock);
	if (!err && found)
		uet_nl_job_notify(job, UET_CMD_JOB_CHANGE_NTF);
	return err;
}

/**
 * uet_job_addr_next - read the peer table
 * @job: job
 * @pos: cursor: index to begin with; set to the one to go on with
 * @addr: filled in with entries in use, by rising index
 * @room: for how many there is room
 *
 * Context: process.
 * Return: how many there are; fewer than @room: the table ends.
 */
u32 uet_job_addr_next(struct uet_job *job, u32 *pos, struct uet_job_addr *addr,
		      u32 room)
{
	struct uet_job_peer *peer;
	unsigned long index;
	u32 n = 0;

	mutex_lock(&job->addr_lock);
	xa_for_each_start(&job->addrs, index, peer, *pos) {
		if (n == room)
			break;
		addr[n++] = peer->addr;
		*pos = index + 1;
	}
	mutex_unlock(&job->addr_lock);
	return n;
}

/**
 * uet_job_addr_path - where is a rank?
 * @job: job, held or under RCU
 * @index: rank
 * @qpn: set to the wire pair there
 *
 * Context: any.
 * Return: a path with a reference, or NULL if the entry is empty or outside the
 * table.
 */
struct uet_path *uet_job_addr_path(const struct uet_job *job, u32 index,
				   u32 *qpn)
{
	const struct uet_job_peer *peer;
	struct uet_path *path = NULL;

	rcu_read_lock();
	/* xa_load() changes nothing, but does not say so. */
	peer = xa_load((struct xarray *)&job->addrs, index);
	if (peer) {
		*qpn = peer->addr.qpn;
		path = peer->path;
		uet_path_get(path);
	}
	rcu_read_unlock();
	return path;
}

/**
 * uet_job_addr_clear - empty the table of a job that has ended
 * @job: job, dead, so that nothing comes any more
 *
 * Context: process.
 */
void uet_job_addr_clear(struct uet_job *job)
{
	mutex_lock(&job->addr_lock);
	uet_job_addr_erase(job, 0, U32_MAX);
	mutex_unlock(&job->addr_lock);
}
