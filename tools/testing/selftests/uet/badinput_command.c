// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Wrong input: commands as a hostile program could give them, without the library */
#include "badinput.h"

#include <limits.h>
#include <sys/wait.h>

int command(int fd, __u32 number, void *cmd, size_t len, size_t resp_len)
{
	struct ib_uverbs_cmd_hdr *hdr = cmd;

	hdr->command = number;
	hdr->in_words = len / 4;
	hdr->out_words = resp_len / 4;
	return write(fd, cmd, len) == (ssize_t)len ? 0 : errno;
}

struct raw_create_qp_resp {
	struct ib_uverbs_create_qp_resp core;
	struct uet_create_qp_resp uet;
};

int raw_create_qp(struct side *s, int type, __u32 pd, __u32 cq,
		  const struct uet_create_qp_req *req, size_t req_len,
		  struct raw_qp *qp)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_qp core;
		__u8 uet[256];
	} cmd = {
		.core = {
			.pd_handle = pd, .send_cq_handle = cq,
			.recv_cq_handle = cq, .max_send_wr = 16,
			.max_recv_wr = 16, .max_send_sge = 2,
			.max_recv_sge = 2, .qp_type = type,
		},
	};
	struct raw_create_qp_resp resp = { 0 };
	int ret;

	cmd.core.response = (uintptr_t)&resp;
	memcpy(cmd.uet, req, req_len < sizeof(*req) ? req_len : sizeof(*req));
	if (req_len > sizeof(*req))
		memset(cmd.uet + sizeof(*req), 1, req_len - sizeof(*req));
	ret = command(s->ctx->cmd_fd, IB_USER_VERBS_CMD_CREATE_QP, &cmd,
		      sizeof(cmd.hdr) + sizeof(cmd.core) + req_len,
		      sizeof(resp));
	if (!ret && qp) {
		qp->handle = resp.core.qp_handle;
		qp->qpn = resp.core.qpn;
		qp->uet = resp.uet;
	}
	return ret;
}

int raw_destroy(struct side *s, __u32 number, __u32 handle)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_destroy_qp core;
	} cmd = { .core.qp_handle = handle };
	struct ib_uverbs_destroy_cq_resp resp;	/* the longest of them */

	cmd.core.response = (uintptr_t)&resp;
	return command(s->ctx->cmd_fd, number, &cmd, sizeof(cmd), sizeof(resp));
}

void t_udata(void)
{
	static const struct uet_create_qp_req ok;
	struct uet_create_qp_req req;
	struct raw_qp qp;
	__u32 *words = (__u32 *)&req;
	unsigned int i;

	doing = "create_qp by hand";
	if (raw_create_qp(&A, IB_QPT_RC_, A.pd->handle, A.cq->handle, &ok,
			  sizeof(ok), &qp))
		die("right input was refused");
	if (raw_destroy(&A, IB_USER_VERBS_CMD_DESTROY_QP, qp.handle))
		die("destroy");
	for (i = 0; i < sizeof(req) / 4; i++) {
		req = ok;
		words[i] = 1;
		refused_ret("RC with a word of the driver's input set",
			    raw_create_qp(&A, IB_QPT_RC_, A.pd->handle,
					  A.cq->handle, &req, sizeof(req),
					  &qp), INVALID);
	}
	for (i = 2; i; i += i == 2 ? UINT32_MAX - 2 : 1) {
		req = ok;
		req.driver_qp_type = i;
		refused_ret("driver type that is not there",
			    raw_create_qp(&A, IB_QPT_DRIVER_, A.pd->handle,
					  A.cq->handle, &req, sizeof(req),
					  &qp), INVALID);
	}
	refused_ret("driver QP without a driver type",
		    raw_create_qp(&A, IB_QPT_DRIVER_, A.pd->handle,
				  A.cq->handle, &ok, sizeof(ok), &qp), INVALID);
	refused_ret("driver's input that is too short",
		    raw_create_qp(&A, IB_QPT_RC_, A.pd->handle, A.cq->handle,
				  &ok, 4, &qp), INVALID);
	refused_ret("longer input with something in it",
		    raw_create_qp(&A, IB_QPT_RC_, A.pd->handle, A.cq->handle,
				  &ok, sizeof(ok) + 8, &qp), INVALID);
	refused_ret("special QP 0", raw_create_qp(&A, 0, A.pd->handle,
						  A.cq->handle, &ok,
						  sizeof(ok), &qp),
		    ERRORS(EINVAL, EOPNOTSUPP, EPERM));
	refused_ret("GSI QP of a user", raw_create_qp(&A, 1, A.pd->handle,
						      A.cq->handle, &ok,
						      sizeof(ok), &qp),
		    ERRORS(EINVAL, EOPNOTSUPP, EPERM));
}

/* Handles of nothing, of other kinds of objects, of another open file */
void t_handles(void)
{
	static const __u32 handles[] = {
		0x7fffffff, UINT32_MAX, 100000, 1 << 20,
	};
	static const struct uet_create_qp_req ok;
	struct ibv_context *other = open_device(dev_a);
	struct ibv_pd *pd = ibv_alloc_pd(other);
	struct ibv_cq *cq = ibv_create_cq(other, 4, NULL, NULL, 0), *spare[8];
	struct raw_qp qp;
	unsigned int i, more = 0;

	if (!pd || !cq)
		die("second file");
	doing = "foreign handles";
	for (i = 0; i < ARRAY_SIZE(handles); i++) {
		refused_ret("PD", raw_create_qp(&A, IB_QPT_RC_, handles[i],
						A.cq->handle, &ok, sizeof(ok),
						&qp), INVALID);
		refused_ret("CQ", raw_create_qp(&A, IB_QPT_RC_, A.pd->handle,
						handles[i], &ok, sizeof(ok),
						&qp), INVALID);
		refused_ret("QP to destroy",
			    raw_destroy(&A, IB_USER_VERBS_CMD_DESTROY_QP,
					handles[i]), INVALID);
	}
	refused_ret("a CQ as PD",
		    raw_create_qp(&A, IB_QPT_RC_, A.cq->handle, A.cq->handle,
				  &ok, sizeof(ok), &qp), INVALID);
	refused_ret("a PD as CQ",
		    raw_create_qp(&A, IB_QPT_RC_, A.pd->handle, A.pd->handle,
				  &ok, sizeof(ok), &qp), INVALID);
	refused_ret("a CQ to destroy as QP",
		    raw_destroy(&A, IB_USER_VERBS_CMD_DESTROY_QP,
				A.cq->handle), INVALID);
	/* the kernel, not the library, must keep the files' objects apart */
	while (cq->handle == A.cq->handle && more < ARRAY_SIZE(spare)) {
		spare[more++] = cq;
		cq = ibv_create_cq(other, 4, NULL, NULL, 0);
		if (!cq)
			die("create_cq");
	}
	if (cq->handle != A.cq->handle && cq->handle != A.pd->handle)
		refused_ret("a CQ of another file",
			    raw_create_qp(&A, IB_QPT_RC_, A.pd->handle,
					  cq->handle, &ok, sizeof(ok), &qp),
			    INVALID);
	while (more--)
		if (ibv_destroy_cq(spare[more]))
			die("destroy_cq");
	if (ibv_destroy_cq(cq) || ibv_dealloc_pd(pd) || ibv_close_device(other))
		die("close");
}

/* POST_SEND with requests in it, which only the kernel's own QPs take */
void t_doorbell(void)
{
	const struct conn c = { .depth = 4 };
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send core;
		__u8 wr[512];
	} cmd;
	struct ib_uverbs_post_send_resp resp;
	struct pair p;
	int i;

	pair_open(&A, &B, &p, &c);
	doing = "POST_SEND by hand";
	for (i = 0; i < 6; i++) {
		static const char * const what[] = {
			"one request", "very many requests", "no such QP",
			"short requests", "very many pieces", "long requests",
		};

		memset(&cmd, 0, sizeof(cmd));
		cmd.core.response = (uintptr_t)&resp;
		cmd.core.qp_handle = p.a->handle;
		cmd.core.wqe_size = sizeof(struct ib_uverbs_send_wr);
		switch (i) {
		case 0:
			cmd.core.wr_count = 1;
			break;
		case 1:
			cmd.core.wr_count = UINT32_MAX;
			break;
		case 2:
			cmd.core.qp_handle = 12345;
			break;
		case 3:
			cmd.core.wqe_size = 4;
			break;
		case 4:
			cmd.core.sge_count = 1 << 28;
			break;
		case 5:
			cmd.core.wr_count = 1;
			cmd.core.wqe_size = UINT32_MAX;
			break;
		}
		refused_ret(what[i],
			    command(A.ctx->cmd_fd, IB_USER_VERBS_CMD_POST_SEND,
				    &cmd, sizeof(cmd), sizeof(resp)),
			    ERRORS(EINVAL, EFAULT, ENOMEM, ENOENT, ENOSPC,
				   EOPNOTSUPP));
	}
	pair_close(&p);
}

/* Commands with random fields and random lengths */
void t_commands(void)
{
	static const __u32 values[] = {
		0, 1, 2, 3, 4, 7, 8, 16, 255, 256, 4096, 65535, 65536,
		1 << 20, 1 << 24, 1 << 28, 1 << 30, INT_MAX, 1u << 31,
		UINT32_MAX - 1, UINT32_MAX,
	};
	static const struct uet_create_qp_req ok;
	__u32 *cmd, *answer;
	unsigned int i, j;
	struct raw_qp qp;
	pid_t pid;

	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid) {
		int status;

		if (waitpid(pid, &status, 0) != pid || status)
			die("the process giving commands ended with %#x", status);
		return;
	}
	/* a file of its own, closed with whatever was made */
	side_open(&A, dev_a, addr_a, 1 << 16, 64);
	cmd = calloc(1, 4096);
	answer = malloc(65536);
	for (i = 0; i < rounds * 40; i++) {
		static const __u8 numbers[] = {
			IB_USER_VERBS_CMD_CREATE_CQ, IB_USER_VERBS_CMD_CREATE_QP,
			IB_USER_VERBS_CMD_MODIFY_QP, IB_USER_VERBS_CMD_QUERY_QP,
			IB_USER_VERBS_CMD_REG_MR, IB_USER_VERBS_CMD_DEREG_MR,
			IB_USER_VERBS_CMD_CREATE_AH, IB_USER_VERBS_CMD_DESTROY_AH,
			IB_USER_VERBS_CMD_DESTROY_CQ, IB_USER_VERBS_CMD_DESTROY_QP,
			IB_USER_VERBS_CMD_POST_SEND, IB_USER_VERBS_CMD_POST_RECV,
			IB_USER_VERBS_CMD_POLL_CQ, IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
			IB_USER_VERBS_CMD_RESIZE_CQ, IB_USER_VERBS_CMD_CREATE_SRQ,
			IB_USER_VERBS_CMD_REREG_MR, IB_USER_VERBS_CMD_ALLOC_MW,
			IB_USER_VERBS_CMD_ATTACH_MCAST,
			IB_USER_VERBS_CMD_QUERY_PORT,
		};
		size_t len = 8 + 4 * below(60);

		if (i % 64 == 0)
			raw_create_qp(&A, i % 128 ? IB_QPT_RC_ : IB_QPT_UD_,
				      A.pd->handle, A.cq->handle, &ok,
				      sizeof(ok), &qp);
		for (j = 4; j < len / 4; j++)
			cmd[j] = below(3) ? values[below(ARRAY_SIZE(values))] :
				below(2) ? below(12) : rnd();
		cmd[2] = (uintptr_t)answer;
		cmd[3] = (uintptr_t)answer >> 32;
		if (below(2)) {	/* plausible handles further on */
			cmd[4 + below(6)] = A.pd->handle;
			cmd[4 + below(6)] = A.cq->handle;
			cmd[4 + below(6)] = qp.handle;
		}
		command(A.ctx->cmd_fd, numbers[below(ARRAY_SIZE(numbers))], cmd,
			len, 4 * below(64));
	}
	exit(0);
}
