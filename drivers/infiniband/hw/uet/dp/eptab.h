/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Which endpoint a request names, uet-wire 5.2. Relative addresses are those
 * of a job, absolute ones those of the fabric endpoint, here as if of job 0:
 * neither kind can be mistaken for the other.
 */
#ifndef UET_EPTAB_H
#define UET_EPTAB_H

#include <linux/rhashtable-types.h>

struct uet_ep;

/**
 * struct uet_eptab - endpoints of a fabric endpoint
 * @ht: struct uet_ep by its key; RCU readers
 */
struct uet_eptab {
	struct rhashtable ht;
};

/* The address of an endpoint in one number: JobID or 0, RI, PIDonFEP. */
static inline u64 uet_ep_key(u32 job_id, u32 wire)
{
	return (u64)job_id << 24 | wire;
}

int uet_eptab_init(struct uet_eptab *tab);
void uet_eptab_exit(struct uet_eptab *tab);
int uet_eptab_insert(struct uet_eptab *tab, struct uet_ep *ep);
void uet_eptab_remove(struct uet_eptab *tab, struct uet_ep *ep);
/* RCU read side. */
struct uet_ep *uet_eptab_find(struct uet_eptab *tab, u32 job_id, u32 wire);

#endif /* UET_EPTAB_H */
