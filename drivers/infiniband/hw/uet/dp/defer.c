// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Work put off until no lock is held. While a PDC is locked, packets and
 * notifications only collect; they leave after unlock. So no lock is held
 * across transmit, and completion handlers may post again.
 */
#include <linux/export.h>

#include "net.h"
#include "path.h"

/**
 * uet_notify_init - prepare a notification
 * @n: embedded in an object of the provider
 * @fn: what to run
 */
void uet_notify_init(struct uet_notify *n, void (*fn)(struct uet_notify *n))
{
	INIT_LIST_HEAD(&n->node);
	n->busy = 0;
	n->fn = fn;
}
EXPORT_SYMBOL_GPL(uet_notify_init);

/**
 * uet_defer_init - start collecting
 * @d: usually on the stack
 */
void uet_defer_init(struct uet_defer *d)
{
	__skb_queue_head_init(&d->xmit);
	INIT_LIST_HEAD(&d->notify);
	d->nr_paths = 0;
}
EXPORT_SYMBOL_GPL(uet_defer_init);

/**
 * uet_defer_notify - run a notification once no lock is held
 * @d: collector
 * @n: notification
 *
 * Return: false if @n is on its way already, here or on another CPU. What the
 * caller published before is then seen by that run, so nothing is missed.
 */
bool uet_defer_notify(struct uet_defer *d, struct uet_notify *n)
{
	if (test_and_set_bit(0, &n->busy))
		return false;
	list_add_tail(&n->node, &d->notify);
	return true;
}
EXPORT_SYMBOL_GPL(uet_defer_notify);

/**
 * uet_defer_ordered - queue a packet that must not be overtaken
 * @d: collector
 * @path: where it goes
 * @skb: from uet_net_xmit_prepare()
 *
 * Packets of one PDC are built under its lock, but sent after unlock, perhaps
 * by two CPUs at a time. What goes through the queue of the path stays in
 * order.
 *
 * Context: BHs off, the lock of the PDC held.
 */
void uet_defer_ordered(struct uet_defer *d, struct uet_path *path,
		       struct sk_buff *skb)
{
	u8 i = 0;

	while (i < d->nr_paths && d->paths[i] != path)
		i++;
	if (i == UET_DEFER_PATHS) {
		__skb_queue_tail(&d->xmit, skb);
		return;
	}
	if (i == d->nr_paths) {
		uet_path_get(path);
		d->paths[d->nr_paths++] = path;
	}
	spin_lock(&path->outq.lock);
	__skb_queue_tail(&path->outq, skb);
	spin_unlock(&path->outq.lock);
}

/**
 * uet_defer_run - send and notify
 * @d: collector; empty and reusable afterwards
 *
 * Context: process or softirq, interrupts on, no engine lock held.
 */
void uet_defer_run(struct uet_defer *d)
{
	struct uet_notify *n;
	struct sk_buff *skb;

	while (d->nr_paths) {
		struct uet_path *path = d->paths[--d->nr_paths];

		uet_path_drain(path);
		uet_path_put(path);
	}
	while ((skb = __skb_dequeue(&d->xmit)))
		uet_net_xmit(skb);

	while ((n = list_first_entry_or_null(&d->notify, struct uet_notify,
					     node))) {
		list_del_init(&n->node);
		/*
		 * Clear first: what is published from here on asks for
		 * another run.
		 */
		clear_bit(0, &n->busy);
		/* Full barrier against the reads in fn(). */
		smp_mb__after_atomic();
		n->fn(n);
	}
}
EXPORT_SYMBOL_GPL(uet_defer_run);
