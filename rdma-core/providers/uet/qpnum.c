// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Numbers of relative QPs. Applications see their wire pair as qp_num, which
 * is unique in a job only; commands and completions have the kernel's number.
 * A table of two levels leads from that to the wire pair. Pollers read it
 * without a lock, so no part of it is freed before the context.
 */

#include <errno.h>
#include <stdlib.h>

#include "uet.h"

#define LEAF_BITS	12
#define LEAF_SIZE	(1U << LEAF_BITS)

/**
 * struct uet_qpn_leaf - one part of the table
 * @wire: by the low bits of the kernel's number: wire pair, 0 for none
 */
struct uet_qpn_leaf {
	atomic_uint wire[LEAF_SIZE];
};

/**
 * struct uet_qpn_table - the table
 * @leaf: by the high bits of the kernel's number, which has 24
 */
struct uet_qpn_table {
	_Atomic(struct uet_qpn_leaf *) leaf[LEAF_SIZE];
};

static struct uet_qpn_leaf *find_leaf(struct uet_qpn_table *table,
				      uint32_t number)
{
	return atomic_load_explicit(&table->leaf[number >> LEAF_BITS &
						 (LEAF_SIZE - 1)],
				    memory_order_acquire);
}

/* Of two threads that make the same part, one wins and both go on with it. */
static struct uet_qpn_table *make_table(struct uet_context *ctx)
{
	struct uet_qpn_table *new, *old = atomic_load(&ctx->qpns);

	if (old)
		return old;
	new = calloc(1, sizeof(*new));
	if (!new || atomic_compare_exchange_strong(&ctx->qpns, &old, new))
		return new;
	free(new);
	return old;
}

static struct uet_qpn_leaf *make_leaf(struct uet_qpn_table *table,
				      uint32_t number)
{
	struct uet_qpn_leaf *new, *old = find_leaf(table, number);

	if (old)
		return old;
	new = calloc(1, sizeof(*new));
	if (!new ||
	    atomic_compare_exchange_strong(&table->leaf[number >> LEAF_BITS &
							(LEAF_SIZE - 1)],
					   &old, new))
		return new;
	free(new);
	return old;
}

/**
 * uet_qpn_add - show a QP by another number than the kernel's
 * @ctx: its context
 * @number: the kernel's number
 * @wire: number to show, not 0
 *
 * Return: 0 or ENOMEM
 */
int uet_qpn_add(struct uet_context *ctx, uint32_t number, uint32_t wire)
{
	struct uet_qpn_table *table = make_table(ctx);
	struct uet_qpn_leaf *leaf = table ? make_leaf(table, number) : NULL;

	if (!leaf)
		return ENOMEM;
	atomic_store(&leaf->wire[number & (LEAF_SIZE - 1)], wire);
	return 0;
}

/* The QP is gone, and so are its completions. */
void uet_qpn_del(struct uet_context *ctx, uint32_t number)
{
	struct uet_qpn_table *table = atomic_load(&ctx->qpns);
	struct uet_qpn_leaf *leaf = table ? find_leaf(table, number) : NULL;

	if (leaf)
		atomic_store(&leaf->wire[number & (LEAF_SIZE - 1)], 0);
}

/* Of a context that has a table: the number to show. */
uint32_t uet_qpn_find(struct uet_qpn_table *table, uint32_t number)
{
	struct uet_qpn_leaf *leaf = find_leaf(table, number);
	uint32_t wire = 0;

	if (leaf)
		wire = atomic_load_explicit(&leaf->wire[number &
							(LEAF_SIZE - 1)],
					    memory_order_relaxed);
	return wire ?: number;
}

void uet_qpn_free(struct uet_context *ctx)
{
	struct uet_qpn_table *table = atomic_load(&ctx->qpns);
	size_t i;

	if (!table)
		return;
	for (i = 0; i < LEAF_SIZE; i++)
		free(atomic_load(&table->leaf[i]));
	free(table);
}
