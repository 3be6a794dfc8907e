// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The table of endpoints by {job, wire pair}. */
#include <linux/export.h>
#include <linux/rhashtable.h>

#include "ep.h"
#include "eptab.h"

static const struct rhashtable_params uet_eptab_params = {
	.key_len	= sizeof(u64),
	.key_offset	= offsetof(struct uet_ep, key),
	.head_offset	= offsetof(struct uet_ep, node),
	.automatic_shrinking = true,
};

/**
 * uet_eptab_init - an empty table
 * @tab: table
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int uet_eptab_init(struct uet_eptab *tab)
{
	return rhashtable_init(&tab->ht, &uet_eptab_params);
}
EXPORT_SYMBOL_GPL(uet_eptab_init);

/**
 * uet_eptab_exit - the end of a table
 * @tab: without endpoints and readers
 *
 * Context: process.
 */
void uet_eptab_exit(struct uet_eptab *tab)
{
	WARN_ON(atomic_read(&tab->ht.nelems));
	rhashtable_destroy(&tab->ht);
}
EXPORT_SYMBOL_GPL(uet_eptab_exit);

/**
 * uet_eptab_insert - from now on an endpoint is found
 * @tab: table
 * @ep: endpoint with its key
 *
 * Context: process.
 * Return: 0; -EBUSY: another one has the key; -ENOMEM.
 */
int uet_eptab_insert(struct uet_eptab *tab, struct uet_ep *ep)
{
	int err = rhashtable_lookup_insert_fast(&tab->ht, &ep->node,
						uet_eptab_params);

	if (err == -EEXIST)
		return -EBUSY;
	/* A table that is being rehashed, or full, is for want of memory. */
	return err ? -ENOMEM : 0;
}
EXPORT_SYMBOL_GPL(uet_eptab_insert);

/**
 * uet_eptab_remove - from now on an endpoint is not found
 * @tab: table
 * @ep: in it; readers may hold it until a grace period has passed
 *
 * Context: process.
 */
void uet_eptab_remove(struct uet_eptab *tab, struct uet_ep *ep)
{
	rhashtable_remove_fast(&tab->ht, &ep->node, uet_eptab_params);
}
EXPORT_SYMBOL_GPL(uet_eptab_remove);

/**
 * uet_eptab_find - whom a request is for
 * @tab: table
 * @job_id: of a request with relative addresses; else 0
 * @wire: PIDonFEP and RI
 *
 * Context: RCU read side.
 * Return: the endpoint, or NULL.
 */
struct uet_ep *uet_eptab_find(struct uet_eptab *tab, u32 job_id, u32 wire)
{
	u64 key = uet_ep_key(job_id, wire);

	return rhashtable_lookup(&tab->ht, &key, uet_eptab_params);
}
EXPORT_SYMBOL_GPL(uet_eptab_find);
