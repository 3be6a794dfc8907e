// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Allocations that fail: jobs, security keys, regions for them, and netlink's way to them */
#include "failslab.h"

#include <linux/genetlink.h>
#include <rdma/uet_netlink.h>

#define JOB	77
#define SKEY	88
#define PEERS	40		/* more than one node of an xarray */
#define RKEY	0x123456u

static struct uetdv_skey *skey, *more_skey;
static struct uetdv_job *job, *more_job;
static struct uetdv_jkey *jkey;
static struct ibv_cq_ex *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr, *parent;
static int file = -1;

static const __u8 material[UETDV_SKEY_BYTES] = { 1, 2, 3 };

/* What the library's calls return */
static bool good(int err)
{
	errno = err;
	return !err;
}

static void must(bool ok, const char *what)
{
	if (!ok)
		die("%s", what);
}

/* ------------------------------------------------------------------ */
/* Security keys and jobs of a process                                 */

static bool c_skey(void)
{
	const struct uetdv_skey_attr attr = {
		.comp_mask = UETDV_SKEY_ATTR_ALG | UETDV_SKEY_ATTR_ID |
			     UETDV_SKEY_ATTR_OWNER,
		.id = SKEY,
		.alg = UETDV_SKEY_AES_256_GCM,
		.uid = getuid(),
		.gid = UETDV_OWNER_NONE,
	};

	skey = uetdv_alloc_skey(A.ctx, &attr, material, sizeof(material));
	return skey;
}

static void u_skey(void)
{
	must(good(uetdv_dealloc_skey(skey)), "dealloc_skey");
}

static void b_skey(void)
{
	must(c_skey(), "alloc_skey");
}

static bool c_skey_open(void)
{
	more_skey = uetdv_open_skey(A.ctx, SKEY);
	return more_skey;
}

static void u_more_skey(void)
{
	must(good(uetdv_dealloc_skey(more_skey)), "dealloc_skey");
}

static bool c_rekey(void)
{
	return good(uetdv_rekey_skey(skey, UETDV_REKEY_INSTALL, material,
				     sizeof(material)));
}

static void u_rekey(void)
{
	must(good(uetdv_rekey_skey(skey, UETDV_REKEY_RETIRE, NULL, 0)),
	     "retire a key");
}

static bool c_skey_export(void)
{
	return good(uetdv_export_skey(skey, UETDV_RIGHT_USE, &file));
}

static void u_file(void)
{
	close(file);
}

static void b_skey_file(void)
{
	b_skey();
	must(c_skey_export(), "export_skey");
}

static void a_skey_file(void)
{
	u_file();
	u_skey();
}

static bool c_skey_import(void)
{
	return good(uetdv_import_skey(A.ctx, file, &more_skey));
}

static bool c_job(void)
{
	struct uetdv_job_attr attr = {
		.comp_mask = UETDV_JOB_ATTR_ID | UETDV_JOB_ATTR_PORT_NUM |
			     UETDV_JOB_ATTR_SGID_INDEX | UETDV_JOB_ATTR_SKEY |
			     UETDV_JOB_ATTR_MAX_ADDR_ENTRIES |
			     UETDV_JOB_ATTR_OWNER,
		.id = JOB,
		.uid = getuid(),
		.gid = UETDV_OWNER_NONE,
		.max_addr_entries = PEERS,
		.port_num = 1,
		.sgid_index = A.gid_index,
		.skey = skey,
	};

	job = uetdv_alloc_job(A.ctx, &attr, NULL);
	return job;
}

static void u_job(void)
{
	must(good(uetdv_dealloc_job(job)), "dealloc_job");
}

static void b_job(void)
{
	b_skey();
	must(c_job(), "alloc_job");
}

static void a_job(void)
{
	u_job();
	u_skey();
}

static bool c_job_open(void)
{
	more_job = uetdv_open_job(A.ctx, JOB, NULL);
	return more_job;
}

static void u_more_job(void)
{
	must(good(uetdv_dealloc_job(more_job)), "dealloc_job");
}

static bool c_job_export(void)
{
	return good(uetdv_export_job(job, UETDV_RIGHT_USE, &file));
}

static void b_job_file(void)
{
	b_job();
	must(c_job_export(), "export_job");
}

static void a_job_file(void)
{
	u_file();
	a_job();
}

static bool c_job_import(void)
{
	return good(uetdv_import_job(A.ctx, file, &more_job));
}

/* ------------------------------------------------------------------ */
/* Peer tables                                                         */

static bool c_peers(void)
{
	struct uetdv_ah_attr_ex peer[PEERS] = { 0 };
	int i;

	for (i = 0; i < PEERS; i++) {
		ah_attr(&A, &B.gid, &peer[i].ah_attr);
		peer[i].remote_qpn = i;
	}
	return good(uetdv_insert_addrs(job, peer, 0, PEERS, 0));
}

static void u_peers(void)
{
	must(good(uetdv_remove_addrs(job, 0, PEERS, 0)), "remove_addrs");
}

/* All of the table is set, or nothing */
static void a_peers(bool ok)
{
	struct uetdv_job_attr attr;

	must(good(uetdv_query_job(job, &attr)), "query_job");
	expect("entries", attr.num_addr_entries, ok ? PEERS : 0);
}

/* ------------------------------------------------------------------ */
/* Job keys, and what needs them                                       */

static bool c_jkey(void)
{
	jkey = uetdv_create_jkey(A.pd, job, 0);
	return jkey;
}

static void u_jkey(void)
{
	must(good(uetdv_destroy_jkey(jkey)), "destroy_jkey");
}

static void b_jkey(void)
{
	b_job();
	must(c_jkey(), "create_jkey");
}

static void a_jkey(void)
{
	u_jkey();
	a_job();
}

static bool c_cq(void)
{
	struct uetdv_cq_init_attr uet = {
		.wc_flags = UETDV_WC_EX_WITH_IMM64 | UETDV_WC_EX_WITH_JOB_ID,
	};
	struct ibv_cq_init_attr_ex attr = { .cqe = 100 };

	cq = uetdv_create_cq(A.ctx, &attr, &uet, sizeof(uet));
	return cq;
}

static void u_cq(void)
{
	must(good(ibv_destroy_cq(ibv_cq_ex_to_cq(cq))), "destroy_cq");
}

static bool c_qp(void)
{
	struct uetdv_qp_init_attr uet = {
		.comp_mask = UETDV_QP_INIT_ATTR_ADDRESSING |
			     UETDV_QP_INIT_ATTR_PID_ON_FEP |
			     UETDV_QP_INIT_ATTR_RI,
		.driver_qp_type = UETDV_QP_DRIVER_TYPE_RU,
		.addressing = UETDV_ADDR_RELATIVE,
		.pid_on_fep = 5,
		.ri = 3,
		.jkey = jkey,
	};
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = A.cq,
		.recv_cq = A.cq,
		.cap = { 16, 16, 2, 2, 64 },
		.qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = A.pd,
	};

	qp = uetdv_create_qp(A.ctx, &attr, &uet, sizeof(uet));
	return qp;
}

static void u_qp(void)
{
	must(good(ibv_destroy_qp(qp)), "destroy_qp");
}

static bool reg(struct uetdv_reg_mr_attr *attr)
{
	attr->addr = pages;
	attr->length = MEM / 2;
	attr->access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	attr->jkey = jkey;
	attr->rkey = RKEY;
	mr = uetdv_reg_mr(A.pd, attr, sizeof(*attr));
	return mr;
}

static void u_mr(void)
{
	must(good(ibv_dereg_mr(mr)), "dereg_mr");
}

/* For one job, by one QP, with a chosen key: all that can be said of a region */
static bool c_mr(void)
{
	struct uetdv_reg_mr_attr attr = {
		.comp_mask = UETDV_REG_MR_MASK_JKEY | UETDV_REG_MR_MASK_RKEY |
			     UETDV_REG_MR_MASK_FLAGS,
		.flags = UETDV_REG_MR_QP_RESTRICTED |
			 UETDV_REG_MR_IDEMPOTENT_SAFE,
	};

	return reg(&attr);
}

static void b_parent(void)
{
	b_jkey();
	parent = ibv_reg_mr(A.pd, pages, MEM, IBV_ACCESS_LOCAL_WRITE);
	must(parent, "reg_mr");
}

/* No region is derived any more, so that this works. */
static void a_parent(void)
{
	must(good(ibv_dereg_mr(parent)), "dereg_mr");
	a_jkey();
}

static bool c_mr_part(void)
{
	struct uetdv_reg_mr_attr attr = {
		.comp_mask = UETDV_REG_MR_MASK_JKEY | UETDV_REG_MR_MASK_RKEY |
			     UETDV_REG_MR_MASK_CUR_MR,
		.cur_mr = parent,
	};

	return reg(&attr);
}

/* ------------------------------------------------------------------ */
/* Netlink                                                             */

static struct mnl_socket *nl;
static __u16 family;
static char buf[4096];

static void nl_open(void)
{
	nl = mnl_socket_open(NETLINK_GENERIC);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID))
		die("netlink");
}

static struct nlmsghdr *nl_begin(__u16 type, __u8 cmd, const char *dev_name)
{
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	msg->nlmsg_type = type;
	msg->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = 1;
	if (dev_name)
		mnl_attr_put_strz(msg, UET_A_JOB_DEV_NAME, dev_name);
	return msg;
}

static int family_attr(const struct nlattr *attr, void *unused)
{
	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
		family = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static int family_msg(const struct nlmsghdr *msg, void *unused)
{
	return mnl_attr_parse(msg, sizeof(struct genlmsghdr), family_attr, NULL);
}

/* Ask, and hear all of the answer */
static bool nl_ask(const struct nlmsghdr *msg, mnl_cb_t cb)
{
	char answer[4096];
	ssize_t len;
	int more;

	if (mnl_socket_sendto(nl, msg, msg->nlmsg_len) < 0)
		return false;
	do {
		len = mnl_socket_recvfrom(nl, answer, sizeof(answer));
		more = len < 0 ? -1 : mnl_cb_run(answer, len, 0, 0, cb, NULL);
	} while (more > 0);
	return !more;
}

static void b_nl(void)
{
	struct nlmsghdr *msg;

	if (nl)
		return;
	nl_open();
	msg = nl_begin(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NULL);
	mnl_attr_put_strz(msg, CTRL_ATTR_FAMILY_NAME, UET_FAMILY_NAME);
	must(nl_ask(msg, family_msg) && family, "the netlink family");
}

/* What is left of an answer is of no interest. */
static void nl_again(void)
{
	mnl_socket_close(nl);
	nl_open();
}

static bool nl_del(__u8 cmd, __u32 id)
{
	struct nlmsghdr *msg = nl_begin(family, cmd, dev_a);

	mnl_attr_put_u32(msg, cmd == UET_CMD_JOB_DEL ? UET_A_JOB_ID :
						       UET_A_SKEY_ID, id);
	return nl_ask(msg, NULL);
}

/* It may be there though the answer was not to be had. */
static void nl_look(bool ok, __u8 cmd, __u32 id)
{
	nl_again();
	if (!ok && !nl_del(cmd, id) && errno != ENOENT)
		die("delete %u", id);
}

static bool c_nl_skey(void)
{
	struct nlmsghdr *msg = nl_begin(family, UET_CMD_SKEY_NEW, dev_a);

	mnl_attr_put_u32(msg, UET_A_SKEY_ID, SKEY);
	mnl_attr_put(msg, UET_A_SKEY_KEY, sizeof(material), material);
	return nl_ask(msg, NULL);
}

static void u_nl_skey(void)
{
	must(nl_del(UET_CMD_SKEY_DEL, SKEY), "skey-del");
}

static void a_nl_skey(bool ok)
{
	nl_look(ok, UET_CMD_SKEY_DEL, SKEY);
}

static void b_nl_skey(void)
{
	b_nl();
	must(c_nl_skey(), "skey-new");
}

static bool nl_rekey(enum uet_skey_step step)
{
	struct nlmsghdr *msg = nl_begin(family, UET_CMD_SKEY_REKEY, dev_a);

	mnl_attr_put_u32(msg, UET_A_SKEY_ID, SKEY);
	mnl_attr_put_u32(msg, UET_A_SKEY_STEP, step);
	if (step == UET_SKEY_STEP_INSTALL)
		mnl_attr_put(msg, UET_A_SKEY_KEY, sizeof(material), material);
	return nl_ask(msg, NULL);
}

static bool c_nl_rekey(void)
{
	return nl_rekey(UET_SKEY_STEP_INSTALL);
}

static void u_nl_rekey(void)
{
	must(nl_rekey(UET_SKEY_STEP_RETIRE), "retire a key");
}

static void a_nl_rekey(bool ok)
{
	nl_again();
	if (!ok && !nl_rekey(UET_SKEY_STEP_RETIRE) && errno != ENOKEY)
		die("retire a key");
}

static bool c_nl_job(void)
{
	struct nlmsghdr *msg = nl_begin(family, UET_CMD_JOB_NEW, dev_a);

	mnl_attr_put_u32(msg, UET_A_JOB_ID, JOB);
	mnl_attr_put_u32(msg, UET_A_JOB_SGID_INDEX, A.gid_index);
	mnl_attr_put_u32(msg, UET_A_JOB_PEER_MAX, PEERS);
	return nl_ask(msg, NULL);
}

static void u_nl_job(void)
{
	must(nl_del(UET_CMD_JOB_DEL, JOB), "job-del");
}

static void a_nl_job(bool ok)
{
	nl_look(ok, UET_CMD_JOB_DEL, JOB);
}

static void b_nl_job(void)
{
	b_nl();
	must(c_nl_job(), "job-new");
}

static bool c_nl_peers(void)
{
	struct nlmsghdr *msg = nl_begin(family, UET_CMD_PEER_SET, dev_a);
	struct nlattr *nest;
	int i;

	mnl_attr_put_u32(msg, UET_A_JOB_PEERS_JOB_ID, JOB);
	for (i = 0; i < PEERS; i++) {
		nest = mnl_attr_nest_start(msg, UET_A_JOB_PEERS_PEER);
		mnl_attr_put_u32(msg, UET_A_PEER_INDEX, i);
		mnl_attr_put(msg, UET_A_PEER_ADDR, sizeof(B.gid), &B.gid);
		mnl_attr_put_u32(msg, UET_A_PEER_QPN, i);
		mnl_attr_nest_end(msg, nest);
	}
	return nl_ask(msg, NULL);
}

static void u_nl_peers(void)
{
	struct nlmsghdr *msg = nl_begin(family, UET_CMD_PEER_DEL, dev_a);

	mnl_attr_put_u32(msg, UET_A_JOB_PEERS_JOB_ID, JOB);
	mnl_attr_put_u32(msg, UET_A_JOB_PEERS_FIRST, 0);
	mnl_attr_put_u32(msg, UET_A_JOB_PEERS_COUNT, PEERS);
	must(nl_ask(msg, NULL), "peer-del");
}

static int peers_attr(const struct nlattr *attr, void *count)
{
	if (mnl_attr_get_type(attr) == UET_A_JOB_PEER_COUNT)
		*(__u32 *)count = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static __u32 peers;

static int peers_msg(const struct nlmsghdr *msg, void *unused)
{
	return mnl_attr_parse(msg, sizeof(struct genlmsghdr), peers_attr, &peers);
}

/* All or none, also if the answer was not to be had */
static void a_nl_peers(bool ok)
{
	struct nlmsghdr *msg;

	nl_again();
	msg = nl_begin(family, UET_CMD_JOB_GET, dev_a);
	mnl_attr_put_u32(msg, UET_A_JOB_ID, JOB);
	must(nl_ask(msg, peers_msg), "job-get");
	if (ok || peers)
		expect("entries", peers, PEERS);
}

const struct verb job_verbs[] = {
	{ "skey", c_skey, u_skey },
	{ "skey_open", c_skey_open, u_more_skey, b_skey, u_skey },
	{ "skey_rekey", c_rekey, u_rekey, b_skey, u_skey },
	{ "skey_export", c_skey_export, u_file, b_skey, u_skey },
	{ "skey_import", c_skey_import, u_more_skey, b_skey_file, a_skey_file },
	{ "job", c_job, u_job, b_skey, u_skey },
	{ "job_open", c_job_open, u_more_job, b_job, a_job },
	{ "job_export", c_job_export, u_file, b_job, a_job },
	{ "job_import", c_job_import, u_more_job, b_job_file, a_job_file },
	{ "peers", c_peers, u_peers, b_job, a_job, a_peers },
	{ "jkey", c_jkey, u_jkey, b_job, a_job },
	{ "cq_uet", c_cq, u_cq },
	{ "ru_job", c_qp, u_qp, b_jkey, a_jkey },
	{ "mr_job", c_mr, u_mr, b_jkey, a_jkey },
	{ "mr_part", c_mr_part, u_mr, b_parent, a_parent },
	{ "nl_skey", c_nl_skey, u_nl_skey, b_nl, NULL, a_nl_skey },
	{ "nl_rekey", c_nl_rekey, u_nl_rekey, b_nl_skey, u_nl_skey, a_nl_rekey },
	{ "nl_job", c_nl_job, u_nl_job, b_nl, NULL, a_nl_job },
	{ "nl_peers", c_nl_peers, u_nl_peers, b_nl_job, u_nl_job, a_nl_peers },
	{}
};
