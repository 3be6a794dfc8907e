// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* uet_dp.ko: the packet engine of Ultra Ethernet Transport. */
#include <linux/module.h>

#include "fep.h"
#include "net.h"
#include "pdc.h"

struct workqueue_struct *uet_wq;

static int __init uet_dp_init(void)
{
	int err = -ENOMEM;

	uet_wq = alloc_workqueue("uet", WQ_UNBOUND, 0);
	if (!uet_wq)
		return err;
	err = uet_pdc_cache_init();
	if (err)
		goto free_wq;
	err = uet_net_init();
	if (err)
		goto free_cache;
	return 0;

free_cache:
	uet_pdc_cache_exit();
free_wq:
	destroy_workqueue(uet_wq);
	return err;
}

static void __exit uet_dp_exit(void)
{
	uet_net_exit();
	destroy_workqueue(uet_wq);
	uet_pdc_cache_exit();
}

module_init(uet_dp_init);
module_exit(uet_dp_exit);

MODULE_DESCRIPTION("Ultra Ethernet Transport packet engine");
MODULE_LICENSE("Dual BSD/GPL");
