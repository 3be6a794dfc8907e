// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Files by which processes hand jobs and security keys to each other. A file
 * holds its object with certain rights and can do nothing else. It is no
 * uobject: that would belong to one process and end with it.
 *
 * A file may live longer than the device; it holds the module by its fops.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "job.h"

struct uet_shared_file {
	struct uet_shared *obj;
	u32 rights;
};

static int uet_shared_file_release(struct inode *inode, struct file *file)
{
	struct uet_shared_file *sf = file->private_data;

	uet_shared_release(sf->obj);
	kfree(sf);
	return 0;
}

#ifdef CONFIG_PROC_FS
static void uet_shared_file_show(struct seq_file *m, struct file *file)
{
	const struct uet_shared_file *sf = file->private_data;

	seq_printf(m, "uet-%s:\t%u\nrights:\t0x%x\n",
		   sf->obj->kind == UET_SHARED_JOB ? "job" : "skey",
		   sf->obj->id, sf->rights);
}
#endif

static const struct file_operations uet_shared_fops = {
	.owner = THIS_MODULE,
	.release = uet_shared_file_release,
#ifdef CONFIG_PROC_FS
	.show_fdinfo = uet_shared_file_show,
#endif
	.llseek = noop_llseek,
};

static struct file *uet_shared_file_create(struct uet_shared *obj, u32 rights)
{
	const char *name = obj->kind == UET_SHARED_JOB ? "[uet-job]" :
							 "[uet-skey]";
	struct uet_shared_file *sf;
	struct file *file;

	sf = kzalloc_obj(*sf, GFP_KERNEL_ACCOUNT);
	if (!sf)
		return ERR_PTR(-ENOMEM);
	sf->obj = obj;
	sf->rights = rights;
	file = anon_inode_getfile(name, &uet_shared_fops, sf, O_RDWR);
	if (IS_ERR(file))
		kfree(sf);
	return file;
}

/**
 * uet_shared_export - a file that holds what a handle holds
 * @hold: handle
 * @rights: rights that importers get
 * @file: set on success; to be installed, or dropped by fput()
 *
 * Context: process; the caller holds the device.
 * Return: 0, -EINVAL for an unknown right, -EPERM, -EIO if the object has
 * ended, -ENFILE, -ENOMEM.
 */
int uet_shared_export(const struct uet_hold *hold, u32 rights,
		      struct file **file)
{
	struct uet_shared *obj = hold->obj;
	int err;

	if (rights & ~(obj->kind == UET_SHARED_JOB ? UET_RIGHTS_JOB :
						     UET_RIGHTS_SKEY))
		return -EINVAL;
	if (!(hold->rights & UET_RIGHT_EXPORT) || rights & ~hold->rights)
		return -EPERM;
	err = uet_shared_hold(obj);
	if (err)
		return err;
	*file = uet_shared_file_create(obj, rights);
	if (IS_ERR(*file)) {
		uet_shared_release(obj);
		return PTR_ERR(*file);
	}
	return 0;
}

static int uet_shared_file_check(const struct uet_shared *obj,
				 const struct uet_dev *dev,
				 enum uet_shared_kind kind)
{
	if (obj->kind != kind)
		return -EINVAL;
	if (READ_ONCE(obj->dead))
		return -EIO;
	/* Compared only: a device that has gone is not the caller's. */
	if (READ_ONCE(obj->dev) != dev)
		return READ_ONCE(obj->dead) ? -EIO : -EXDEV;
	return uet_in_netns(dev) ? 0 : -EPERM;
}

/**
 * uet_shared_export_fd - the same as a method of the verbs ioctl
 * @hold: handle
 * @attrs: of the method
 * @in: attribute with the rights, u32
 * @out: attribute for the file descriptor, s32
 *
 * Context: process; the caller holds the device.
 * Return: 0, or as uet_shared_export(), -EMFILE, -EFAULT.
 */
int uet_shared_export_fd(const struct uet_hold *hold,
			 const struct uverbs_attr_bundle *attrs, u16 in,
			 u16 out)
{
	struct file *file;
	u32 rights;
	int err, fd;

	err = uverbs_copy_from(&rights, attrs, in);
	if (err)
		return err;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	err = uet_shared_export(hold, rights, &file);
	if (err)
		goto err_fd;
	err = uverbs_copy_to(attrs, out, &fd, sizeof(fd));
	if (err)
		goto err_file;
	/* From here on the process can use it; nothing fails any more. */
	fd_install(fd, file);
	return 0;

err_file:
	fput(file);
err_fd:
	put_unused_fd(fd);
	return err;
}

/**
 * uet_shared_import - what does a file hold?
 * @dev: device, held by the caller
 * @kind: what it must be
 * @fd: of the calling process
 * @rights: set on success
 *
 * Context: process.
 * Return: the object, held for the caller; ERR_PTR of -EBADF, -EINVAL (of
 * another kind), -EXDEV (of another device), -EPERM (the caller is not in the
 * network namespace of the device), -EIO (ended).
 */
struct uet_shared *uet_shared_import(struct uet_dev *dev,
				     enum uet_shared_kind kind, int fd,
				     u32 *rights)
{
	struct uet_shared *obj = ERR_PTR(-EINVAL);
	const struct uet_shared_file *sf;
	struct file *file;
	int err;

	file = fget(fd);
	if (!file)
		return ERR_PTR(-EBADF);
	if (file->f_op == &uet_shared_fops) {
		sf = file->private_data;
		err = uet_shared_file_check(sf->obj, dev, kind);
		if (!err)
			err = uet_shared_hold(sf->obj);
		obj = err ? ERR_PTR(err) : sf->obj;
		*rights = sf->rights;
	}
	/* The hold is the caller's own; the file may be closed any time. */
	fput(file);
	return obj;
}
