// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Counters: rdma statistic show link NAME. The engine keeps them. */
#include "uet.h"

static struct rdma_stat_desc uet_stat_descs[UET_STAT_NR];

/* Module init: names come from the one list in dp/stats.h. */
void uet_stats_init(void)
{
	int i;

	for (i = 0; i < UET_STAT_NR; i++)
		uet_stat_descs[i].name = uet_stat_names[i];
}

struct rdma_hw_stats *uet_alloc_hw_port_stats(struct ib_device *ib, u32 port)
{
	return rdma_alloc_hw_stats_struct(uet_stat_descs, UET_STAT_NR,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/* Fills in all of them, whichever is asked for. Port 0 is the device. */
int uet_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats,
		     u32 port, int index)
{
	if (port != UET_PORT || !stats)
		return -EINVAL;
	uet_stats_read(to_udev(ib)->fep, stats->value);
	uet_counters_leave_out(to_udev(ib), stats->value);
	return UET_STAT_NR;
}
