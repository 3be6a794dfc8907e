// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The module: what is written to debugfs uet_test/run, "TEST DEVICE DEVICE
 * ROUNDS", is done, and the write fails if the test does; reading gives what
 * the last test had to say.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "uet_test.h"

static const struct {
	const char *name;
	int (*run)(const struct kv_args *args);
} kv_tests[] = {
	{ "sges", kv_sges },
	{ "sges_bad", kv_sges_bad },
	{ "chains", kv_chains },
	{ "frwr_limit", kv_frwr_limit },
	{ "frwr_keys", kv_frwr_keys },
	{ "frwr_rights", kv_frwr_rights },
	{ "frwr_next", kv_frwr_next },
	{ "drain", kv_drain },
	{ "drain_srq", kv_drain_srq },
	{ "contexts", kv_contexts },
	{ "traffic_start", kv_traffic_start },
	{ "traffic_runs", kv_traffic_runs },
	{ "traffic_ended", kv_traffic_ended },
};

/* A device that is there; it stays while kv_mutex is held. */
struct kv_dev {
	struct list_head node;
	struct ib_device *ib;
};

static LIST_HEAD(kv_devs);
/* One test at a time, and no device comes or goes meanwhile. */
static DEFINE_MUTEX(kv_mutex);

static struct dentry *kv_dir;
static DEFINE_SPINLOCK(kv_text_lock);
static char kv_text[4000];
static size_t kv_text_len;

/* A line of the report. Context: any. */
void kv_say(const char *fmt, ...)
{
	unsigned long irq;
	va_list args;

	va_start(args, fmt);
	spin_lock_irqsave(&kv_text_lock, irq);
	kv_text_len += vscnprintf(kv_text + kv_text_len,
				  sizeof(kv_text) - kv_text_len, fmt, args);
	spin_unlock_irqrestore(&kv_text_lock, irq);
	va_end(args);
}

/* Return: 0, or -EIO if it is something else. */
int kv_want(const char *what, s64 got, s64 want)
{
	if (got == want)
		return 0;
	kv_say("%s: %lld instead of %lld\n", what, got, want);
	return -EIO;
}

/* kv_mutex held. */
static struct ib_device *kv_device(const char *name)
{
	struct kv_dev *dev;

	list_for_each_entry(dev, &kv_devs, node)
		if (!strcmp(dev_name(&dev->ib->dev), name))
			return dev->ib;
	return NULL;
}

static int kv_run(const char *line)
{
	char test[32], name[2][IB_DEVICE_NAME_MAX];
	struct kv_args args = {};
	int i;

	if (sscanf(line, "%31s %63s %63s %u", test, name[0], name[1],
		   &args.rounds) != 4)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(args.dev); i++)
		args.dev[i] = kv_device(name[i]);
	for (i = 0; i < ARRAY_SIZE(kv_tests); i++)
		if (!strcmp(kv_tests[i].name, test))
			return kv_tests[i].run(&args);
	return -ENOENT;
}

static ssize_t kv_write(struct file *file, const char __user *from,
			size_t count, loff_t *pos)
{
	char *line = memdup_user_nul(from, min_t(size_t, count, 255));
	int err;

	if (IS_ERR(line))
		return PTR_ERR(line);
	mutex_lock(&kv_mutex);
	kv_text_len = 0;
	err = kv_run(line);
	mutex_unlock(&kv_mutex);
	kfree(line);
	return err ?: count;
}

static ssize_t kv_read(struct file *file, char __user *to, size_t count,
		       loff_t *pos)
{
	ssize_t n;

	mutex_lock(&kv_mutex);
	n = simple_read_from_buffer(to, count, pos, kv_text, kv_text_len);
	mutex_unlock(&kv_mutex);
	return n;
}

static const struct file_operations kv_fops = {
	.owner = THIS_MODULE,
	.read = kv_read,
	.write = kv_write,
	.llseek = noop_llseek,
};

static int kv_add(struct ib_device *ib)
{
	struct kv_dev *dev = kzalloc_obj(*dev);

	if (!dev)
		return -ENOMEM;
	dev->ib = ib;
	mutex_lock(&kv_mutex);
	list_add_tail(&dev->node, &kv_devs);
	mutex_unlock(&kv_mutex);
	return 0;
}

static void kv_remove(struct ib_device *ib, void *data)
{
	struct kv_dev *dev, *next;

	mutex_lock(&kv_mutex);
	kv_traffic_stop(ib);
	list_for_each_entry_safe(dev, next, &kv_devs, node) {
		if (dev->ib != ib)
			continue;
		list_del(&dev->node);
		kfree(dev);
	}
	mutex_unlock(&kv_mutex);
}

static struct ib_client kv_client = {
	.name = "uet_test",
	.add = kv_add,
	.remove = kv_remove,
};

static int __init kv_init(void)
{
	int err = ib_register_client(&kv_client);

	if (err)
		return err;
	kv_dir = debugfs_create_dir("uet_test", NULL);
	debugfs_create_file("run", 0600, kv_dir, NULL, &kv_fops);
	return 0;
}

static void __exit kv_exit(void)
{
	debugfs_remove_recursive(kv_dir);
	ib_unregister_client(&kv_client);
}

module_init(kv_init);
module_exit(kv_exit);

MODULE_DESCRIPTION("Tests of RDMA devices as the kernel uses them");
MODULE_LICENSE("Dual BSD/GPL");
