// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Direct verbs: structs that grow, and what a device can do. */

#include <errno.h>
#include <string.h>

#include <rdma/uet-abi.h>

#include "dv.h"

static_assert((int)UETDV_DEVICE_CAP_RU == (int)UET_CAP_RU, "bit differs");
static_assert((int)UETDV_DEVICE_CAP_JOB == (int)UET_CAP_JOB, "bit differs");
static_assert((int)UETDV_DEVICE_CAP_USER_RKEY == (int)UET_CAP_USER_RKEY,
	      "bit differs");
static_assert((int)UETDV_DEVICE_CAP_RU_ATOMIC == (int)UET_CAP_RU_ATOMIC,
	      "bit differs");

#define CAPS_KNOWN	(UETDV_DEVICE_CAP_RU | UETDV_DEVICE_CAP_JOB |	\
			 UETDV_DEVICE_CAP_USER_RKEY |			\
			 UETDV_DEVICE_CAP_RU_ATOMIC)

/* Length of struct uetdv_device_attr in its first version. */
#define DEVICE_ATTR_LEAST	offsetof(struct uetdv_device_attr, max_job_ids)

/**
 * uet_copy_in - take a struct from a caller that has another version of it
 * @to: struct as it is known here; what the caller does not have is 0
 * @size: of @to
 * @least: length in the first version
 * @from: of the caller
 * @len: length that the caller says
 *
 * A later version may be longer, as long as it asks for nothing that is not
 * known here.
 *
 * Return: 0, EINVAL (shorter than @least), EOPNOTSUPP (asks for more)
 */
int uet_copy_in(void *to, size_t size, size_t least, const void *from,
		size_t len)
{
	const uint8_t *byte = from;
	size_t i;

	if (len < least)
		return EINVAL;
	for (i = size; i < len; i++)
		if (byte[i])
			return EOPNOTSUPP;
	memset(to, 0, size);
	memcpy(to, from, len < size ? len : size);
	return 0;
}

/* The reverse: as much as the caller has room for; what is not known is 0. */
void uet_copy_out(void *to, size_t len, const void *from, size_t size)
{
	memset(to, 0, len);
	memcpy(to, from, len < size ? len : size);
}

int uetdv_qp_wire_qpn(struct ibv_qp *qp, uint32_t *wire_qpn)
{
	if (!uet_is_uet(qp->context))
		return EOPNOTSUPP;
	*wire_qpn = to_uqp(qp)->wire_qpn;
	return 0;
}

int uetdv_query_device(struct ibv_context *context,
		       struct uetdv_device_attr *attr, uint32_t inlen)
{
	struct uetdv_device_attr answer = {};
	const struct uet_context *ctx;

	if (!uet_is_uet(context))
		return EOPNOTSUPP;
	if (inlen < DEVICE_ATTR_LEAST)
		return EINVAL;

	ctx = to_uctx(context);
	answer.device_caps = ctx->caps & CAPS_KNOWN;
	answer.max_inline = ctx->max_inline;
	answer.max_sge = ctx->max_sge;
	if (ctx->caps & UET_CAP_JOB && inlen >= sizeof(answer)) {
		answer.comp_mask |= UETDV_DEVICE_ATTR_JOB;
		answer.max_job_ids = ctx->max_job;
		answer.max_skeys = ctx->max_skey;
		answer.max_job_keys = ctx->max_jkey;
		answer.max_addr_entries = ctx->max_addr;
	}
	uet_copy_out(attr, inlen, &answer, sizeof(answer));
	return 0;
}
