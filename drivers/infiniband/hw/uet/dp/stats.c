// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Per-CPU counters of a fabric endpoint. */
#include <linux/export.h>
#include <linux/percpu.h>
#include <linux/string.h>

#include "fep.h"

#define UET_STAT_NAME(id, name)	\
	[UET_STAT_##id] = (name),

const char * const uet_stat_names[UET_STAT_NR] = {
	UET_STATS(UET_STAT_NAME)
};
EXPORT_SYMBOL_GPL(uet_stat_names);

/**
 * uet_stat_add - count
 * @fep: fabric endpoint
 * @stat: counter
 * @n: how many
 *
 * Context: any.
 */
void uet_stat_add(struct uet_fep *fep, enum uet_stat stat, u64 n)
{
	/* this_cpu_add() turns interrupts off where a CPU has no such thing. */
	local64_add(n, get_cpu_ptr(fep->stats) + stat);
	put_cpu_ptr(fep->stats);
}
EXPORT_SYMBOL_GPL(uet_stat_add);

/**
 * uet_stats_read - sum of all CPUs
 * @fep: fabric endpoint
 * @out: UET_STAT_NR values
 */
void uet_stats_read(const struct uet_fep *fep, u64 *out)
{
	const local64_t *cpu_stats;
	int cpu, i;

	memset(out, 0, UET_STAT_NR * sizeof(*out));
	for_each_possible_cpu(cpu) {
		cpu_stats = per_cpu_ptr(fep->stats, cpu);
		for (i = 0; i < UET_STAT_NR; i++)
			out[i] += local64_read(&cpu_stats[i]);
	}
}
EXPORT_SYMBOL_GPL(uet_stats_read);
