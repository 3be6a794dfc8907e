/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What the parts of badinput share */
#ifndef UET_TEST_BADINPUT_H
#define UET_TEST_BADINPUT_H

#include <rdma/ib_user_verbs.h>
#include <rdma/uet-abi.h>

#include "pair_test.h"

/* enum ib_qp_type of the kernel, as the commands want it */
#define IB_QPT_RC_	2
#define IB_QPT_UD_	4
#define IB_QPT_DRIVER_	0xff

#define REMOTE	(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

/* Errors that a call may give */
#define ERRORS(...)	((const int[]){ __VA_ARGS__, 0 })
#define INVALID		ERRORS(EINVAL, EOPNOTSUPP, ENOENT)
#define NO_PATH		ERRORS(EINVAL, EOPNOTSUPP, ENETUNREACH, EHOSTUNREACH, \
			       EADDRNOTAVAIL, ETIMEDOUT, ENODATA)
#define TOO_MUCH	ERRORS(EINVAL, ENOMEM, ENOSPC, EOPNOTSUPP)

/* @failed must be true, with an errno of the list (0 ends it). */
void refused(const char *what, bool failed, const int *list);

/* For calls that return an errno value. */
void refused_ret(const char *what, int ret, const int *list);

/* Objects and their attributes */

#define RTR_MASK	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |	\
			 IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |		\
			 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_MASK	(IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | \
			 IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |		\
			 IBV_QP_MAX_QP_RD_ATOMIC)

void rtr_defaults(struct ibv_qp_attr *attr, __u32 peer);
void rts_defaults(struct ibv_qp_attr *attr);

void t_sizes(void);
void t_memory(void);
void t_modify(void);
void t_address(void);

/* Work requests */
void t_post(void);
void t_local(void);
void t_remote(void);
void t_length(void);
void t_datagram(void);
void t_peer(void);

/* Commands as a hostile program could give them, without the library */

struct raw_qp {
	__u32 handle, qpn;
	struct uet_create_qp_resp uet;
};

int command(int fd, __u32 number, void *cmd, size_t len, size_t resp_len);
int raw_create_qp(struct side *s, int type, __u32 pd, __u32 cq,
		  const struct uet_create_qp_req *req, size_t req_len,
		  struct raw_qp *qp);
int raw_destroy(struct side *s, __u32 number, __u32 handle);

void t_udata(void);
void t_handles(void);
void t_doorbell(void);
void t_commands(void);

/* Rings */
void t_mmap(void);
void t_rings(void);
void t_scribble(void);

#endif /* UET_TEST_BADINPUT_H */
