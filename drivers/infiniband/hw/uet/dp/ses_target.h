/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What the files of the target have in common; all of it runs in softirq. */
#ifndef UET_SES_TARGET_H
#define UET_SES_TARGET_H

#include "ses.h"

/* What is being answered, so that helpers need not take six arguments. */
struct uet_request {
	struct uet_pdc *pdc;
	struct uet_ep *ep;
	struct sk_buff *skb;
	const struct uet_pkt *pkt;
	const struct uet_ses_req *req;
	struct uet_verdict *v;
	struct uet_defer *d;
};

/* ses_target.c; these and all below: PDC and endpoint locked */
void uet_refuse(struct uet_request *r, u8 rc);
void uet_fault(struct uet_request *r, u8 rc);
u8 uet_rma(struct uet_request *r, u64 off, u32 len, u8 access,
	   struct uet_sge *sge);

/* ses_inbound.c */
void uet_recv_complete(struct uet_request *r, struct uet_recv *recv);
bool uet_park(struct uet_request *r, struct uet_recv *recv);
void uet_do_send(struct uet_request *r);
void uet_do_write(struct uet_request *r);
void uet_do_error(struct uet_request *r);

/* ses_read.c */
void uet_do_read(struct uet_request *r);

/* ses_amo.c */
void uet_do_atomic(struct uet_request *r);

#endif /* UET_SES_TARGET_H */
