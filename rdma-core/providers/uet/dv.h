/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Private to the files that implement uetdv.h. */
#ifndef UET_DV_H
#define UET_DV_H

#include "uet.h"

/**
 * struct uet_job - handle of a process on a job
 * @dv: what the application sees
 * @handle: for commands
 */
struct uet_job {
	struct uetdv_job dv;
	uint32_t handle;
};

/**
 * struct uet_skey - handle of a process on a security key
 * @dv: what the application sees
 * @handle: for commands
 */
struct uet_skey {
	struct uetdv_skey dv;
	uint32_t handle;
};

/**
 * struct uet_jkey - a job key
 * @dv: what the application sees
 * @handle: for commands
 * @domain: parent domain it is made in, or NULL
 */
struct uet_jkey {
	struct uetdv_jkey dv;
	uint32_t handle;
	struct uet_pd *domain;
};

static inline struct uet_job *to_ujob(struct uetdv_job *job)
{
	return container_of(job, struct uet_job, dv);
}

static inline struct uet_skey *to_uskey(struct uetdv_skey *skey)
{
	return container_of(skey, struct uet_skey, dv);
}

static inline struct uet_jkey *to_ujkey(struct uetdv_jkey *jkey)
{
	return container_of(jkey, struct uet_jkey, dv);
}

/* Direct verbs are called with any context, and with any kernel. */
static inline bool uet_has_cap(struct ibv_context *ibctx, uint32_t cap)
{
	return uet_is_uet(ibctx) && to_uctx(ibctx)->caps & cap;
}

/* handle.c */
int uet_handle_destroy(struct ibv_context *ibctx, uint16_t object,
		       uint16_t method, uint32_t handle);
int uet_handle_export(struct ibv_context *ibctx, uint16_t object,
		      uint16_t method, uint32_t handle, uint32_t rights,
		      int *fd);
int uet_handle_import(struct ibv_context *ibctx, uint16_t object,
		      uint16_t method, int fd, uint32_t *handle, void *resp,
		      size_t resp_len);

/* uetdv.c */
int uet_copy_in(void *to, size_t size, size_t least, const void *from,
		size_t len);
void uet_copy_out(void *to, size_t len, const void *from, size_t size);

#endif /* UET_DV_H */
