// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What UET adds to completions. Every completion has every field, so a CQ of
 * uetdv_create_cq() is like any other; the flags are there for devices that
 * have to know before.
 */

#include <endian.h>
#include <errno.h>

#include "dv.h"

#define FLAGS_KNOWN	(UETDV_WC_EX_WITH_IMM64 | UETDV_WC_EX_WITH_SRC_ID | \
			 UETDV_WC_EX_WITH_JOB_ID)

struct ibv_cq_ex *uetdv_create_cq(struct ibv_context *context,
				  struct ibv_cq_init_attr_ex *attr_ex,
				  struct uetdv_cq_init_attr *uet_attr,
				  uint32_t inlen)
{
	struct uetdv_cq_init_attr attr;
	int ret = EOPNOTSUPP;

	if (uet_is_uet(context))
		ret = uet_copy_in(&attr, sizeof(attr), sizeof(attr), uet_attr,
				  inlen);
	if (!ret && (attr.comp_mask ||
		     !check_comp_mask(attr.wc_flags, FLAGS_KNOWN)))
		ret = EOPNOTSUPP;
	if (!ret)
		return uet_create_cq_ex(context, attr_ex);
	errno = ret;
	return NULL;
}

__be64 uetdv_wc_read_imm64(struct ibv_cq_ex *cq)
{
	return htobe64(to_ucq_ex(cq)->cqe->imm_data);
}

uint32_t uetdv_wc_read_src_id(struct ibv_cq_ex *cq)
{
	return to_ucq_ex(cq)->cqe->src_qp;
}

uint32_t uetdv_wc_read_job_id(struct ibv_cq_ex *cq)
{
	return to_ucq_ex(cq)->cqe->job_id;
}
