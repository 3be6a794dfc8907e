// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Multicast groups of UD QPs. ib_core knows that QP and group are of a kind. */
#include "uet.h"

/* Context: process. @lid means nothing on Ethernet. */
int uet_attach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct in6_addr group;

	memcpy(&group, gid->raw, sizeof(group));
	return uet_ep_join(to_uqp(ib)->ep, &group);
}

int uet_detach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct in6_addr group;

	memcpy(&group, gid->raw, sizeof(group));
	return uet_ep_leave(to_uqp(ib)->ep, &group);
}
