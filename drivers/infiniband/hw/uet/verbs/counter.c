// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Counters of QPs: rdma statistic qp. A counter sums up what its QPs did since
 * they were bound to it. ib_core adds the counters of a port to what the
 * driver says of the port, so that leaves out what is counted here.
 */
#include <linux/slab.h>

#include "uet.h"

/**
 * struct uet_counter - the driver's part of a struct rdma_counter
 * @qps: QPs bound to it
 * @past: what QPs did that are no longer bound
 */
struct uet_counter {
	struct list_head qps;
	struct uet_qp_stats past;
};

static void uet_qp_stats_read(const struct uet_qp *qp, struct uet_qp_stats *to)
{
	to->tx_msgs = READ_ONCE(qp->stats.tx_msgs) - qp->stats_base.tx_msgs;
	to->tx_bytes = READ_ONCE(qp->stats.tx_bytes) - qp->stats_base.tx_bytes;
	to->rx_msgs = READ_ONCE(qp->stats.rx_msgs) - qp->stats_base.rx_msgs;
	to->rx_bytes = READ_ONCE(qp->stats.rx_bytes) - qp->stats_base.rx_bytes;
}

static void uet_qp_stats_add(struct uet_qp_stats *to,
			     const struct uet_qp_stats *from)
{
	to->tx_msgs += from->tx_msgs;
	to->tx_bytes += from->tx_bytes;
	to->rx_msgs += from->rx_msgs;
	to->rx_bytes += from->rx_bytes;
}

/* dev->counter_mutex held. */
static void uet_counter_sum(const struct uet_counter *c,
			    struct uet_qp_stats *sum)
{
	struct uet_qp_stats one;
	struct uet_qp *qp;

	*sum = c->past;
	list_for_each_entry(qp, &c->qps, counter_node) {
		uet_qp_stats_read(qp, &one);
		uet_qp_stats_add(sum, &one);
	}
}

static struct uet_counter *uet_counter_create(struct uet_dev *dev, u32 *id)
{
	struct uet_counter *c = kzalloc_obj(*c);

	if (!c)
		return NULL;
	INIT_LIST_HEAD(&c->qps);
	if (xa_alloc_cyclic(&dev->counters, id, c, xa_limit_31b,
			    &dev->counter_next, GFP_KERNEL) < 0) {
		kfree(c);
		return NULL;
	}
	return c;
}

/* Context: process, as all here. */
int uet_counter_bind_qp(struct rdma_counter *counter,
			struct ib_qp *ib UET_COUNTER_PORT)
{
	struct uet_dev *dev = to_udev(ib->device);
	struct uet_qp *qp = to_uqp(ib);
	struct uet_counter *c;
	u32 id = counter->id;

	mutex_lock(&dev->counter_mutex);
	c = id ? xa_load(&dev->counters, id) : uet_counter_create(dev, &id);
	if (c) {
		counter->id = id;
		qp->stats_base = qp->stats;
		list_add_tail(&qp->counter_node, &c->qps);
		ib->counter = counter;
	}
	mutex_unlock(&dev->counter_mutex);
	return c ? 0 : -ENOMEM;
}

int uet_counter_unbind_qp(struct ib_qp *ib UET_COUNTER_PORT)
{
	struct uet_dev *dev = to_udev(ib->device);
	struct uet_qp *qp = to_uqp(ib);
	struct uet_qp_stats did;
	struct uet_counter *c;

	mutex_lock(&dev->counter_mutex);
	c = ib->counter ? xa_load(&dev->counters, ib->counter->id) : NULL;
	if (c) {
		uet_qp_stats_read(qp, &did);
		uet_qp_stats_add(&c->past, &did);
		list_del_init(&qp->counter_node);
	}
	ib->counter = NULL;
	mutex_unlock(&dev->counter_mutex);
	return 0;
}

/* ib_core has added what it counted to the port. */
int uet_counter_dealloc(struct rdma_counter *counter)
{
	struct uet_dev *dev = to_udev(counter->device);
	struct uet_counter *c;

	mutex_lock(&dev->counter_mutex);
	c = xa_erase(&dev->counters, counter->id);
	if (c)
		uet_qp_stats_add(&dev->counted, &c->past);
	mutex_unlock(&dev->counter_mutex);
	kfree(c);
	return 0;
}

struct rdma_hw_stats *uet_counter_alloc_stats(struct rdma_counter *counter)
{
	return uet_alloc_hw_port_stats(counter->device, counter->port);
}

int uet_counter_update_stats(struct rdma_counter *counter)
{
	struct uet_dev *dev = to_udev(counter->device);
	u64 *value = counter->stats->value;
	struct uet_qp_stats sum = {};
	struct uet_counter *c;

	mutex_lock(&dev->counter_mutex);
	c = xa_load(&dev->counters, counter->id);
	if (c)
		uet_counter_sum(c, &sum);
	mutex_unlock(&dev->counter_mutex);
	value[UET_STAT_TX_MSGS] = sum.tx_msgs;
	value[UET_STAT_TX_BYTES] = sum.tx_bytes;
	value[UET_STAT_RX_MSGS] = sum.rx_msgs;
	value[UET_STAT_RX_BYTES] = sum.rx_bytes;
	return 0;
}

static void uet_counter_less(u64 *value, u64 n)
{
	*value -= min(*value, n);
}

/**
 * uet_counters_leave_out - take from the port what QP counters say
 * @dev: device
 * @value: of the port, by enum uet_stat
 */
void uet_counters_leave_out(struct uet_dev *dev, u64 *value)
{
	struct uet_qp_stats all, one;
	struct uet_counter *c;
	unsigned long id;

	mutex_lock(&dev->counter_mutex);
	all = dev->counted;
	xa_for_each(&dev->counters, id, c) {
		uet_counter_sum(c, &one);
		uet_qp_stats_add(&all, &one);
	}
	mutex_unlock(&dev->counter_mutex);
	uet_counter_less(&value[UET_STAT_TX_MSGS], all.tx_msgs);
	uet_counter_less(&value[UET_STAT_TX_BYTES], all.tx_bytes);
	uet_counter_less(&value[UET_STAT_RX_MSGS], all.rx_msgs);
	uet_counter_less(&value[UET_STAT_RX_BYTES], all.rx_bytes);
}

/* Newer kernels make the struct by size and let the driver set it up. */
void uet_counter_init(struct rdma_counter *counter)
{
}
