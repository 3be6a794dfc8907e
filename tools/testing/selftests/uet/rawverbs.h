/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The verbs ioctl without any library: each attribute as the caller wants it,
 * also those that a library would never send. Calls return 0 or an errno.
 */
#ifndef UET_TEST_RAWVERBS_H
#define UET_TEST_RAWVERBS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/types.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/uet-abi.h>
#include <rdma/uet_user_ioctl_cmds.h>

#define CALL_ATTRS	12
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* One line, and the end of the process. */
#define die(...) do {							\
	fprintf(stderr, "FAIL: %s:%d: ", __FILE__, __LINE__);		\
	fprintf(stderr, __VA_ARGS__);					\
	fprintf(stderr, "\n");						\
	exit(1);							\
} while (0)

/* A call that gives an errno, and the one it must give. */
#define want(err, call) do {						\
	int have_ = (call), want_ = (err);				\
									\
	if (have_ != want_)						\
		die("%s: %d (%s), not %d (%s)", #call, have_,		\
		    strerror(have_), want_, strerror(want_));		\
} while (0)

#define expect(have, value) do {					\
	unsigned long long have_ = (have), value_ = (value);		\
									\
	if (have_ != value_)						\
		die("%s is %#llx, not %#llx", #have, have_, value_);	\
} while (0)

/* A method and its attributes, filled in one by one. */
struct call {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attr[CALL_ATTRS];
};

static inline void call_init(struct call *c, __u16 object, __u16 method)
{
	memset(c, 0, sizeof(*c));
	c->hdr.object_id = object;
	c->hdr.method_id = method;
	c->hdr.driver_id = UET_DRIVER_ID;
}

static inline struct ib_uverbs_attr *call_attr(struct call *c, __u16 id,
					       __u16 len)
{
	struct ib_uverbs_attr *a = &c->attr[c->hdr.num_attrs++];

	a->attr_id = id;
	a->len = len;
	a->flags = UVERBS_ATTR_F_MANDATORY;
	return a;
}

/* Up to 8 bytes stand in the attribute itself. */
static inline struct ib_uverbs_attr *call_in(struct call *c, __u16 id,
					     const void *data, __u16 len)
{
	struct ib_uverbs_attr *a = call_attr(c, id, len);

	if (len <= sizeof(a->data))
		memcpy(&a->data, data, len);
	else
		a->data = (uintptr_t)data;
	return a;
}

static inline struct ib_uverbs_attr *call_in32(struct call *c, __u16 id,
					       __u32 value)
{
	return call_in(c, id, &value, sizeof(value));
}

static inline struct ib_uverbs_attr *call_out(struct call *c, __u16 id,
					      void *data, __u16 len)
{
	struct ib_uverbs_attr *a = call_attr(c, id, len);

	a->data = (uintptr_t)data;
	return a;
}

/* A handle, or a raw file descriptor. */
static inline struct ib_uverbs_attr *call_obj(struct call *c, __u16 id,
					      __s64 handle)
{
	struct ib_uverbs_attr *a = call_attr(c, id, 0);

	a->data_s64 = handle;
	return a;
}

static inline int call_run(int fd, struct call *c)
{
	c->hdr.length = sizeof(c->hdr) + c->hdr.num_attrs * sizeof(c->attr[0]);
	return ioctl(fd, RDMA_VERBS_IOCTL, c) ? errno : 0;
}

static inline int raw_context(int fd)
{
	struct call c;
	__u32 vectors;

	call_init(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	call_out(&c, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors,
		 sizeof(vectors));
	return call_run(fd, &c);
}

/* Open the verbs device of RDMA device @name and make a context; -1 with errno. */
static inline int raw_open(const char *name)
{
	char path[600], text[64];
	struct dirent *e;
	int fd = -1, err = ENODEV;
	FILE *f;
	DIR *d;

	d = opendir("/sys/class/infiniband_verbs");
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path),
			 "/sys/class/infiniband_verbs/%s/ibdev", e->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fscanf(f, "%63s", text) == 1 && !strcmp(text, name)) {
			snprintf(path, sizeof(path), "/dev/infiniband/%s",
				 e->d_name);
			fd = open(path, O_RDWR | O_CLOEXEC);
			err = fd < 0 ? errno : raw_context(fd);
		}
		fclose(f);
	}
	if (d)
		closedir(d);
	if (err && fd >= 0)
		close(fd);
	errno = err;
	return err ? -1 : fd;
}

/* A command of the write interface, by ioctl. */
static inline int raw_write(int fd, __u64 command, const void *in, __u16 in_len,
			    void *out, __u16 out_len, const void *drv,
			    __u16 drv_len)
{
	struct call c;

	call_init(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	call_in(&c, UVERBS_ATTR_WRITE_CMD, &command, sizeof(command));
	call_in(&c, UVERBS_ATTR_CORE_IN, in, in_len);
	call_out(&c, UVERBS_ATTR_CORE_OUT, out, out_len);
	if (drv)
		call_in(&c, UVERBS_ATTR_UHW_IN, drv, drv_len);
	return call_run(fd, &c);
}

static inline int raw_pd(int fd, __u32 *pd)
{
	struct ib_uverbs_alloc_pd req = {};
	struct ib_uverbs_alloc_pd_resp resp = {};
	int err;

	err = raw_write(fd, IB_USER_VERBS_CMD_ALLOC_PD, &req, sizeof(req),
			&resp, sizeof(resp), NULL, 0);
	*pd = resp.pd_handle;
	return err;
}

/* A method whose one attribute is the handle. */
static inline int raw_destroy(int fd, __u16 object, __u16 method, __u16 attr,
			      __s64 handle)
{
	struct call c;

	call_init(&c, object, method);
	call_obj(&c, attr, handle);
	return call_run(fd, &c);
}

static inline int raw_pd_free(int fd, __u32 pd)
{
	return raw_destroy(fd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
			   UVERBS_ATTR_DESTROY_PD_HANDLE, pd);
}

/* A region for one job. */
static inline int raw_mr(int fd, __u32 pd, void *mem, size_t len, __u32 jkey,
			 __u32 *mr)
{
	struct uet_reg_mr_req ext = {
		.comp_mask = UET_REG_MR_JKEY,
		.jkey = jkey,
	};
	struct ib_uverbs_reg_mr req = {
		.start = (uintptr_t)mem,
		.length = len,
		.hca_va = (uintptr_t)mem,
		.pd_handle = pd,
		.access_flags = IB_UVERBS_ACCESS_LOCAL_WRITE,
	};
	struct ib_uverbs_reg_mr_resp resp = {};
	int err;

	err = raw_write(fd, IB_USER_VERBS_CMD_REG_MR, &req, sizeof(req), &resp,
			sizeof(resp), &ext, sizeof(ext));
	*mr = resp.mr_handle;
	return err;
}

static inline int raw_mr_free(int fd, __u32 mr)
{
	return raw_destroy(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY,
			   UVERBS_ATTR_DESTROY_MR_HANDLE, mr);
}

/* ------------------------------------------------------------------ */
/* Jobs                                                                */

static inline struct uet_job_attr job_attr(__u32 id)
{
	return (struct uet_job_attr){
		.id = id,
		.max_addr = 4096,
		.port_num = 1,
		.uid = UET_OWNER_NONE,
		.gid = UET_OWNER_NONE,
	};
}

static inline int job_alloc_with(int fd, const struct uet_job_attr *attr,
				 const __u32 *skey, __u32 *job)
{
	struct call c;
	int err;

	call_init(&c, UET_IB_OBJECT_JOB, UET_IB_METHOD_JOB_ALLOC);
	call_obj(&c, UET_IB_ATTR_JOB_ALLOC_HANDLE, 0);
	call_in(&c, UET_IB_ATTR_JOB_ALLOC_ATTR, attr, sizeof(*attr));
	if (skey)
		call_obj(&c, UET_IB_ATTR_JOB_ALLOC_SKEY, *skey);
	err = call_run(fd, &c);
	*job = c.attr[0].data;
	return err;
}

static inline int job_alloc(int fd, const struct uet_job_attr *attr, __u32 *job)
{
	return job_alloc_with(fd, attr, NULL, job);
}

static inline int job_open(int fd, __u32 id, __u32 *job)
{
	struct uet_job_attr attr = { .flags = UET_JOB_ALLOC_OPEN, .id = id };

	return job_alloc(fd, &attr, job);
}

static inline int job_dealloc(int fd, __u32 job)
{
	return raw_destroy(fd, UET_IB_OBJECT_JOB, UET_IB_METHOD_JOB_DEALLOC,
			   UET_IB_ATTR_JOB_DEALLOC_HANDLE, job);
}

static inline int job_query(int fd, __u32 job, struct uet_job_attr *attr)
{
	struct call c;

	call_init(&c, UET_IB_OBJECT_JOB, UET_IB_METHOD_JOB_QUERY);
	call_obj(&c, UET_IB_ATTR_JOB_QUERY_HANDLE, job);
	call_out(&c, UET_IB_ATTR_JOB_QUERY_RESP, attr, sizeof(*attr));
	return call_run(fd, &c);
}

static inline int job_export(int fd, __u32 job, __u32 rights, int *file)
{
	struct call c;

	call_init(&c, UET_IB_OBJECT_JOB, UET_IB_METHOD_JOB_EXPORT);
	call_obj(&c, UET_IB_ATTR_JOB_EXPORT_HANDLE, job);
	call_in32(&c, UET_IB_ATTR_JOB_EXPORT_RIGHTS, rights);
	call_out(&c, UET_IB_ATTR_JOB_EXPORT_FD, file, sizeof(*file));
	return call_run(fd, &c);
}

static inline int job_import(int fd, int file, __u32 *job,
			     struct uet_job_attr *attr)
{
	struct call c;
	int err;

	call_init(&c, UET_IB_OBJECT_JOB, UET_IB_METHOD_JOB_IMPORT);
	call_obj(&c, UET_IB_ATTR_JOB_IMPORT_HANDLE, 0);
	call_obj(&c, UET_IB_ATTR_JOB_IMPORT_FD, file);
	call_out(&c, UET_IB_ATTR_JOB_IMPORT_RESP, attr, sizeof(*attr));
	err = call_run(fd, &c);
	*job = c.attr[0].data;
	return err;
}

static inline int addr_insert(int fd, __u32 job, const void *addr, size_t len)
{
	struct call c;

	call_init(&c, UET_IB_OBJECT_JOB, UET_IB_METHOD_JOB_ADDR_INSERT);
	call_obj(&c, UET_IB_ATTR_JOB_ADDR_INSERT_HANDLE, job);
	call_in(&c, UET_IB_ATTR_JOB_ADDR_INSERT_ENTRIES, addr, len);
	return call_run(fd, &c);
}

static inline int addr_remove(int fd, __u32 job, __u32 first, __u32 count)
{
	struct call c;

	call_init(&c, UET_IB_OBJECT_JOB, UET_IB_METHOD_JOB_ADDR_REMOVE);
	call_obj(&c, UET_IB_ATTR_JOB_ADDR_REMOVE_HANDLE, job);
	call_in32(&c, UET_IB_ATTR_JOB_ADDR_REMOVE_FIRST, first);
	call_in32(&c, UET_IB_ATTR_JOB_ADDR_REMOVE_COUNT, count);
	return call_run(fd, &c);
}

static inline int addr_query(int fd, __u32 job, __u32 first, void *addr,
			     size_t len, __u32 *count)
{
	struct call c;

	call_init(&c, UET_IB_OBJECT_JOB, UET_IB_METHOD_JOB_ADDR_QUERY);
	call_obj(&c, UET_IB_ATTR_JOB_ADDR_QUERY_HANDLE, job);
	call_in32(&c, UET_IB_ATTR_JOB_ADDR_QUERY_FIRST, first);
	call_out(&c, UET_IB_ATTR_JOB_ADDR_QUERY_ENTRIES, addr, len);
	call_out(&c, UET_IB_ATTR_JOB_ADDR_QUERY_COUNT, count, sizeof(*count));
	return call_run(fd, &c);
}

/* ------------------------------------------------------------------ */
/* Keys                                                                */

static inline struct uet_skey_attr skey_attr(__u32 id)
{
	return (struct uet_skey_attr){
		.id = id,
		.alg = UET_SKEY_AES_256_GCM,
		.uid = UET_OWNER_NONE,
		.gid = UET_OWNER_NONE,
	};
}

static inline int skey_alloc(int fd, const struct uet_skey_attr *attr,
			     const void *key, size_t len, __u32 *skey,
			     struct uet_skey_attr *resp)
{
	struct call c;
	int err;

	call_init(&c, UET_IB_OBJECT_SKEY, UET_IB_METHOD_SKEY_ALLOC);
	call_obj(&c, UET_IB_ATTR_SKEY_ALLOC_HANDLE, 0);
	call_in(&c, UET_IB_ATTR_SKEY_ALLOC_ATTR, attr, sizeof(*attr));
	call_out(&c, UET_IB_ATTR_SKEY_ALLOC_RESP, resp, sizeof(*resp));
	if (key)
		call_in(&c, UET_IB_ATTR_SKEY_ALLOC_KEY, key, len);
	err = call_run(fd, &c);
	*skey = c.attr[0].data;
	return err;
}

static inline int skey_dealloc(int fd, __u32 skey)
{
	return raw_destroy(fd, UET_IB_OBJECT_SKEY, UET_IB_METHOD_SKEY_DEALLOC,
			   UET_IB_ATTR_SKEY_DEALLOC_HANDLE, skey);
}

static inline int skey_query(int fd, __u32 skey, struct uet_skey_attr *attr)
{
	struct call c;

	call_init(&c, UET_IB_OBJECT_SKEY, UET_IB_METHOD_SKEY_QUERY);
	call_obj(&c, UET_IB_ATTR_SKEY_QUERY_HANDLE, skey);
	call_out(&c, UET_IB_ATTR_SKEY_QUERY_RESP, attr, sizeof(*attr));
	return call_run(fd, &c);
}

static inline int skey_export(int fd, __u32 skey, __u32 rights, int *file)
{
	struct call c;

	call_init(&c, UET_IB_OBJECT_SKEY, UET_IB_METHOD_SKEY_EXPORT);
	call_obj(&c, UET_IB_ATTR_SKEY_EXPORT_HANDLE, skey);
	call_in32(&c, UET_IB_ATTR_SKEY_EXPORT_RIGHTS, rights);
	call_out(&c, UET_IB_ATTR_SKEY_EXPORT_FD, file, sizeof(*file));
	return call_run(fd, &c);
}

static inline int skey_import(int fd, int file, __u32 *skey,
			      struct uet_skey_attr *attr)
{
	struct call c;
	int err;

	call_init(&c, UET_IB_OBJECT_SKEY, UET_IB_METHOD_SKEY_IMPORT);
	call_obj(&c, UET_IB_ATTR_SKEY_IMPORT_HANDLE, 0);
	call_obj(&c, UET_IB_ATTR_SKEY_IMPORT_FD, file);
	call_out(&c, UET_IB_ATTR_SKEY_IMPORT_RESP, attr, sizeof(*attr));
	err = call_run(fd, &c);
	*skey = c.attr[0].data;
	return err;
}

static inline int skey_rekey(int fd, __u32 skey, __u32 op, const void *key,
			     size_t len)
{
	struct call c;

	call_init(&c, UET_IB_OBJECT_SKEY, UET_IB_METHOD_SKEY_REKEY);
	call_obj(&c, UET_IB_ATTR_SKEY_REKEY_HANDLE, skey);
	call_in32(&c, UET_IB_ATTR_SKEY_REKEY_OP, op);
	if (key)
		call_in(&c, UET_IB_ATTR_SKEY_REKEY_KEY, key, len);
	return call_run(fd, &c);
}

static inline int jkey_create(int fd, __u32 pd, __u32 job, __u32 *jkey,
			      __u32 *value)
{
	struct call c;
	int err;

	call_init(&c, UET_IB_OBJECT_JKEY, UET_IB_METHOD_JKEY_CREATE);
	call_obj(&c, UET_IB_ATTR_JKEY_CREATE_HANDLE, 0);
	call_obj(&c, UET_IB_ATTR_JKEY_CREATE_PD, pd);
	call_obj(&c, UET_IB_ATTR_JKEY_CREATE_JOB, job);
	call_out(&c, UET_IB_ATTR_JKEY_CREATE_RESP, value, sizeof(*value));
	err = call_run(fd, &c);
	*jkey = c.attr[0].data;
	return err;
}

static inline int jkey_destroy(int fd, __u32 jkey)
{
	return raw_destroy(fd, UET_IB_OBJECT_JKEY, UET_IB_METHOD_JKEY_DESTROY,
			   UET_IB_ATTR_JKEY_DESTROY_HANDLE, jkey);
}

#endif /* UET_TEST_RAWVERBS_H */
