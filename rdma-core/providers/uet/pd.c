// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Protection domains, parent domains and thread domains. */

#include <errno.h>
#include <stdlib.h>

#include <util/util.h>

#include "uet.h"

struct ibv_pd *uet_alloc_pd(struct ibv_context *ibctx)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct ibv_alloc_pd cmd;
	struct uet_pd *pd;
	int ret;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;

	ret = ibv_cmd_alloc_pd(ibctx, &pd->pd, &cmd, sizeof(cmd), &resp,
			       sizeof(resp));
	if (ret) {
		free(pd);
		errno = ret;
		return NULL;
	}
	return &pd->pd;
}

/*
 * The handle is that of the PD behind it, so that every command takes a parent
 * domain where it takes a PD. Allocators of the application are fine and find
 * nothing to do: queues are memory of the kernel.
 */
struct ibv_pd *
uet_alloc_parent_domain(struct ibv_context *ibctx,
			struct ibv_parent_domain_init_attr *attr)
{
	struct uet_pd *pd;

	if (!attr->pd) {
		errno = EINVAL;
		return NULL;
	}
	if (!check_comp_mask(attr->comp_mask,
			     IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;

	pd->pd.context = ibctx;
	pd->pd.handle = attr->pd->handle;
	/* A parent domain of a parent domain stands beside it. */
	pd->parent = to_upd(attr->pd)->parent ?: to_upd(attr->pd);
	atomic_fetch_add(&pd->parent->users, 1);
	if (attr->td) {
		pd->td = to_utd(attr->td);
		atomic_fetch_add(&pd->td->users, 1);
	}
	return &pd->pd;
}

int uet_dealloc_pd(struct ibv_pd *ibpd)
{
	struct uet_pd *pd = to_upd(ibpd);
	int ret;

	if (atomic_load(&pd->users))
		return EBUSY;
	if (pd->parent) {
		atomic_fetch_sub(&pd->parent->users, 1);
		if (pd->td)
			atomic_fetch_sub(&pd->td->users, 1);
	} else {
		ret = ibv_cmd_dealloc_pd(ibpd);
		if (ret)
			return ret;
	}
	free(pd);
	return 0;
}

struct ibv_td *uet_alloc_td(struct ibv_context *ibctx,
			    struct ibv_td_init_attr *attr)
{
	struct uet_td *td;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->td.context = ibctx;
	return &td->td;
}

int uet_dealloc_td(struct ibv_td *ibtd)
{
	struct uet_td *td = to_utd(ibtd);

	if (atomic_load(&td->users))
		return EBUSY;
	free(td);
	return 0;
}

/* Is one thread promised for what is made in this domain? */
bool uet_is_single_threaded(struct ibv_context *ibctx, const struct ibv_pd *ibpd)
{
	return to_uctx(ibctx)->single_threaded ||
	       (ibpd && container_of(ibpd, const struct uet_pd, pd)->td);
}

/**
 * uet_domain_get - count an object in its parent domain
 * @ibpd: what it is made in: a parent domain, a PD, or NULL
 *
 * A parent domain cannot be deallocated before its objects; those of a PD are
 * counted by the kernel.
 *
 * Return: for uet_domain_put(); NULL if it is no parent domain
 */
struct uet_pd *uet_domain_get(struct ibv_pd *ibpd)
{
	struct uet_pd *pd = ibpd ? to_upd(ibpd) : NULL;

	if (!pd || !pd->parent)
		return NULL;
	atomic_fetch_add(&pd->users, 1);
	return pd;
}

void uet_domain_put(struct uet_pd *pd)
{
	if (pd)
		atomic_fetch_sub(&pd->users, 1);
}
