// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Each allocation (and each copy from and to user space) that a verb makes fails
 * once, the first, the second and so on, until the verb gets through with none left
 * to fail. Each time the verb must say so or get by without; then the same verb must
 * work at once, and at the end there must be as many objects as at the start. What
 * was lost besides, kmemleak finds when the guest ends.
 *
 *	failslab [-a DEV -A ADDR -b DEV -B ADDR] [-n EVERY] [-w SECONDS] VERB...
 *	failslab [-n EVERY] -l NETDEV link	"rdma link add"
 *	-n EVERY	only each EVERYth allocation
 *	-d DENSE	but all of the first DENSE
 *	-s BYTES	instead: all that is asked for fails, all after so many bytes,
 *			after twice as many, and so on. What is tried twice fails, too,
 *			as nodes of xarrays are
 */
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <linux/udmabuf.h>
#include <rdma/rdma_netlink.h>

#include "failslab.h"

#define LINK	"failed0"

static const char *netdev;
static unsigned int dense;
static const struct conn conn = { .depth = 16, .sge = 2 };

/* What the verb under test made, and what it needed for that */
static struct ibv_device *device;
static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_cq_ex *cq_ex;
static struct ibv_srq *srq;
static struct ibv_qp *qp;
static struct ibv_ah *ah;
static struct ibv_mr *mr, *mapped;
static struct ibv_mw *mw;
static struct pair fresh;
static struct mnl_socket *nl;
static int dmabuf = -1;
void *pages;
static unsigned int lost;	/* verbs that failed later, by a completion */

/* ------------------------------------------------------------------ */
/* Faults                                                              */

static int fail_nth = -1;
static int make_it_fail = -1, space = -1, times = -1;
static unsigned int step;	/* bytes; 0: one fault at a time */

#define MANY	1000000000u
#define TIMES	"/sys/kernel/debug/failslab/times"

static void switch_on(const char *name, const char *value)
{
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s", name);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		skip("no fault injection in this kernel (%s)", name);
	if (write(fd, value, strlen(value)) < 0)
		die("%s", path);
	close(fd);
}

/* Those are to be had while nothing else is. */
static int control(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		skip("no fault injection in this kernel (%s)", path);
	return fd;
}

static void control_set(int fd, unsigned int value)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", value);

	if (write(fd, text, len) != len)
		die("a control of fault injection");
}

/* How many more would have failed; such a file can be read once only. */
static unsigned int times_left(void)
{
	FILE *f = fopen(TIMES, "re");
	unsigned int n;

	if (!f || fscanf(f, "%u", &n) != 1)
		die(TIMES);
	fclose(f);
	return n;
}

static void shortage_init(void)
{
	switch_on("failslab/task-filter", "Y");
	switch_on("failslab/probability", "100");
	switch_on("failslab/interval", "1");
	make_it_fail = control("/proc/thread-self/make-it-fail");
	space = control("/sys/kernel/debug/failslab/space");
	times = control(TIMES);
}

static void faults_init(void)
{
	switch_on("failslab/ignore-gfp-wait", "N");
	switch_on("failslab/verbose", "0");
	switch_on("fail_page_alloc/ignore-gfp-wait", "N");
	switch_on("fail_page_alloc/min-order", "0");
	switch_on("fail_page_alloc/verbose", "0");
	switch_on("fail_usercopy/verbose", "0");
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR);
	if (fail_nth < 0)
		skip("no fail-nth in this kernel");
	if (step)
		shortage_init();
}

/* The @n-th that this thread asks for from now on is not to be had. */
static void fault_arm(unsigned int n)
{
	if (!step) {
		control_set(fail_nth, n);
		return;
	}
	control_set(space, (n - 1) * step);
	control_set(times, MANY);
	control_set(make_it_fail, 1);
}

/* Did it come to that? Looking can itself be what fails, and so can ending. */
static bool fault_happened(void)
{
	char text[16] = "";
	bool left;

	if (step) {
		control_set(make_it_fail, 0);
		return times_left() < MANY;
	}
	left = pread(fail_nth, text, sizeof(text) - 1, 0) < 0 ||
	       strtoul(text, NULL, 0) > 0;
	while (pwrite(fail_nth, "0", 1, 0) != 1)
		;
	return !left;
}

/* ------------------------------------------------------------------ */
/* Verbs: each returns true if it succeeded                            */

static bool c_open(void)
{
	ctx = ibv_open_device(device);
	return ctx;
}

static void u_open(void)
{
	if (ibv_close_device(ctx))
		die("close_device");
}

static bool c_pd(void)
{
	pd = ibv_alloc_pd(A.ctx);
	return pd;
}

static void u_pd(void)
{
	if (ibv_dealloc_pd(pd))
		die("dealloc_pd");
}

static bool c_channel(void)
{
	channel = ibv_create_comp_channel(A.ctx);
	return channel;
}

static void u_channel(void)
{
	if (ibv_destroy_comp_channel(channel))
		die("destroy_comp_channel");
}

static bool c_cq(void)
{
	cq = ibv_create_cq(A.ctx, 100, NULL, A.channel, 0);
	return cq;
}

static void u_cq(void)
{
	if (ibv_destroy_cq(cq))
		die("destroy_cq");
}

static bool c_cq_ex(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 100, .wc_flags = IBV_WC_STANDARD_FLAGS,
	};

	cq_ex = ibv_create_cq_ex(A.ctx, &attr);
	return cq_ex;
}

static void u_cq_ex(void)
{
	if (ibv_destroy_cq(ibv_cq_ex_to_cq(cq_ex)))
		die("destroy_cq");
}

static void b_resize(void)
{
	if (!c_cq())
		die("create_cq");
}

static bool c_resize(void)
{
	errno = ibv_resize_cq(cq, 1000);
	return !errno;
}

static bool c_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { 16, 2, 0 } };

	srq = ibv_create_srq(A.pd, &attr);
	return srq;
}

static void u_srq(void)
{
	if (ibv_destroy_srq(srq))
		die("destroy_srq");
}

static void b_srq(void)
{
	if (!c_srq())
		die("create_srq");
}

static bool c_srq_resize(void)
{
	struct ibv_srq_attr attr = { .max_wr = 300 };

	errno = ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
	return !errno;
}

static bool make_qp(enum ibv_qp_type type, struct ibv_srq *with)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = A.cq, .recv_cq = A.cq, .srq = with,
		.cap = { 16, with ? 0 : 16, 2, with ? 0 : 2, 64 },
		.qp_type = type,
	};

	qp = ibv_create_qp(A.pd, &attr);
	return qp;
}

static bool c_rc(void)
{
	return make_qp(IBV_QPT_RC, NULL);
}

static bool c_uc(void)
{
	return make_qp(IBV_QPT_UC, NULL);
}

static bool c_ud(void)
{
	return make_qp(IBV_QPT_UD, NULL);
}

static bool c_rc_srq(void)
{
	return make_qp(IBV_QPT_RC, srq);
}

static bool c_ru(void)
{
	struct uetdv_qp_init_attr uet = {
		.driver_qp_type = UETDV_QP_DRIVER_TYPE_RU,
	};
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = A.cq, .recv_cq = A.cq,
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
	if (ibv_destroy_qp(qp))
		die("destroy_qp");
}

static void b_qp(void)
{
	if (!c_rc())
		die("create_qp");
}

static bool c_init(void)
{
	errno = qp_init(qp, &conn);
	return !errno;
}

static void b_rtr(void)
{
	b_qp();
	if (!c_init())
		die("INIT");
}

static bool c_rtr(void)
{
	errno = qp_rtr(&A, qp, &B.gid, 0x12345, &conn);
	return !errno;
}

static void b_rts(void)
{
	b_rtr();
	if (!c_rtr())
		die("RTR");
}

static bool c_rts(void)
{
	errno = qp_rts(&A, qp, &conn);
	return !errno;
}

static bool c_ah(void)
{
	struct ibv_ah_attr attr;

	ah_attr(&A, &B.gid, &attr);
	ah = ibv_create_ah(A.pd, &attr);
	return ah;
}

static void u_ah(void)
{
	if (ibv_destroy_ah(ah))
		die("destroy_ah");
}

static bool c_mr(void)
{
	mr = ibv_reg_mr(A.pd, pages, MEM, IBV_ACCESS_LOCAL_WRITE |
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND);
	return mr;
}

static void u_mr(void)
{
	if (ibv_dereg_mr(mr))
		die("dereg_mr");
}

static void b_mr(void)
{
	if (!c_mr())
		die("reg_mr");
}

static bool c_rereg(void)
{
	return !ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION |
			     IBV_REREG_MR_CHANGE_ACCESS, NULL, pages, MEM / 2,
			     IBV_ACCESS_LOCAL_WRITE);
}

/* A dma-buf of ordinary memory */
static void b_dmabuf(void)
{
	struct udmabuf_create create = { .size = MEM };
	int dev, memfd;

	if (dmabuf >= 0)
		return;
	dev = open("/dev/udmabuf", O_RDWR);
	if (dev < 0)
		skip("no udmabuf here");
	memfd = memfd_create("failslab", MFD_ALLOW_SEALING);
	if (memfd < 0 || ftruncate(memfd, MEM) ||
	    fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		die("memfd");
	create.memfd = memfd;
	dmabuf = ioctl(dev, UDMABUF_CREATE, &create);
	if (dmabuf < 0)
		die("UDMABUF_CREATE");
	close(memfd);
	close(dev);
	/*
	 * Mapped in the kernel by somebody for as long as this runs: a failure of
	 * the exporter to map it makes the kernel's dma_buf_vmap() warn.
	 */
	mapped = ibv_reg_dmabuf_mr(B.pd, 0, MEM, 0, dmabuf, 0);
	if (!mapped)
		die("reg_dmabuf_mr");
}

static bool c_dmabuf(void)
{
	mr = ibv_reg_dmabuf_mr(A.pd, 0, MEM, 0, dmabuf, IBV_ACCESS_LOCAL_WRITE |
			       IBV_ACCESS_REMOTE_WRITE);
	return mr;
}

static bool c_mw1(void)
{
	mw = ibv_alloc_mw(A.pd, IBV_MW_TYPE_1);
	return mw;
}

static bool c_mw2(void)
{
	mw = ibv_alloc_mw(A.pd, IBV_MW_TYPE_2);
	return mw;
}

static void u_mw(void)
{
	if (ibv_dealloc_mw(mw))
		die("dealloc_mw");
}

static const union ibv_gid group = {
	.raw = { [10] = 0xff, [11] = 0xff, [12] = 239, [15] = 77 }
};

static void b_mcast(void)
{
	if (!c_ud() || qp_init(qp, &conn))
		die("UD QP");
}

static bool c_mcast(void)
{
	errno = ibv_attach_mcast(qp, &group, 0);
	return !errno;
}

static void u_mcast(void)
{
	if (ibv_detach_mcast(qp, &group, 0))
		die("detach_mcast");
}

/* ------------------------------------------------------------------ */
/* The first message of a connection, which opens its PDC              */

static void b_send(void)
{
	pair_open(&A, &B, &fresh, &conn);
}

static void u_send(void)
{
	pair_close(&fresh);
}

static bool post_pair(const struct pair *p)
{
	struct ibv_sge from = { (uintptr_t)A.mem, 5000, A.mr->lkey };
	struct ibv_sge to = { (uintptr_t)B.mem, 5000, B.mr->lkey };
	struct ibv_recv_wr rr = { .wr_id = 2, .sg_list = &to, .num_sge = 1 };
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = &from, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_recv_wr *bad_recv;

	errno = ibv_post_recv(p->b, &rr, &bad_recv);
	if (errno)
		return false;
	errno = ibv_post_send(p->a, &wr, &bad);
	return !errno;
}

static bool c_send(void)
{
	return post_pair(&fresh);
}

static void delivered(void)
{
	struct ibv_wc wc;

	next(&B, &wc);
	expect_status(&wc, IBV_WC_SUCCESS);
	next(&A, &wc);
	expect_status(&wc, IBV_WC_SUCCESS);
}

/* A message that was taken arrives, or its sender learns that it did not. */
static void a_send(bool ok)
{
	struct ibv_wc wc;

	if (ok) {
		next(&A, &wc);
		if (wc.status == IBV_WC_SUCCESS) {
			next(&B, &wc);
			expect_status(&wc, IBV_WC_SUCCESS);
			return;
		}
		expect_status(&wc, IBV_WC_RETRY_EXC_ERR);
		lost++;
	}
	pair_close(&fresh);
	while (ibv_poll_cq(A.cq, 1, &wc) > 0 || ibv_poll_cq(B.cq, 1, &wc) > 0)
		;
	b_send();
}

/* ------------------------------------------------------------------ */
/* rdma link add                                                       */

static void b_link(void)
{
	if (nl)
		return;
	nl = mnl_socket_open(NETLINK_RDMA);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID))
		die("netlink");
}

static bool c_link(void)
{
	char buf[1024];
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	ssize_t len;

	msg->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
					   RDMA_NLDEV_CMD_NEWLINK);
	msg->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	mnl_attr_put_strz(msg, RDMA_NLDEV_ATTR_DEV_NAME, LINK);
	mnl_attr_put_strz(msg, RDMA_NLDEV_ATTR_LINK_TYPE, "uet");
	mnl_attr_put_strz(msg, RDMA_NLDEV_ATTR_NDEV_NAME, netdev);
	if (mnl_socket_sendto(nl, msg, msg->nlmsg_len) < 0)
		return false;
	len = mnl_socket_recvfrom(nl, buf, sizeof(buf));
	return len >= 0 && mnl_cb_run(buf, len, 0, 0, NULL, NULL) >= 0;
}

static bool link_exists(void)
{
	return !access("/sys/class/infiniband/" LINK, F_OK);
}

static void u_link(void)
{
	if (system("rdma link del " LINK) || link_exists())
		die("rdma link del");
}

/* The device may be there though the answer was not to be had. */
static void a_link(bool ok)
{
	mnl_socket_close(nl);
	nl = NULL;
	b_link();
	if (ok && !link_exists())
		die("no device");
	if (!ok && link_exists())
		u_link();
}

/* ------------------------------------------------------------------ */

static const struct verb verbs[] = {
	/* libibverbs looks for another way to the device then */
	{ "open", c_open, u_open, .err = ENOENT },
	{ "pd", c_pd, u_pd },
	{ "channel", c_channel, u_channel },
	{ "cq", c_cq, u_cq },
	{ "cq_ex", c_cq_ex, u_cq_ex },
	{ "cq_resize", c_resize, NULL, b_resize, u_cq },
	{ "srq", c_srq, u_srq },
	{ "srq_resize", c_srq_resize, NULL, b_srq, u_srq },
	{ "rc", c_rc, u_qp },
	{ "uc", c_uc, u_qp },
	{ "ud", c_ud, u_qp },
	{ "ru", c_ru, u_qp },
	{ "rc_srq", c_rc_srq, u_qp, b_srq, u_srq },
	{ "to_init", c_init, NULL, b_qp, u_qp },
	{ "to_rtr", c_rtr, NULL, b_rtr, u_qp },
	{ "to_rts", c_rts, NULL, b_rts, u_qp },
	{ "ah", c_ah, u_ah },
	{ "mr", c_mr, u_mr },
	{ "mr_rereg", c_rereg, NULL, b_mr, u_mr },
	{ "mr_dmabuf", c_dmabuf, u_mr, b_dmabuf },
	{ "mw1", c_mw1, u_mw },
	{ "mw2", c_mw2, u_mw },
	{ "mcast", c_mcast, u_mcast, b_mcast, u_qp },
	{ "send", c_send, NULL, b_send, u_send, a_send },
	{ "link", c_link, u_link, b_link, NULL, a_link, .slow = true,
	  .err = ENFILE },	/* says the kernel when it cannot have a socket */
};

/* Memory, buffers, or a copy that failed; nothing else may be the reason. */
static bool right_error(int err)
{
	return err == ENOMEM || err == ENOBUFS || err == EFAULT ||
	       err == EAGAIN;
}

static char *objects(void)
{
	static char text[2][4096];
	static int which;
	size_t len;
	FILE *rdma;

	rdma = popen("rdma resource show;"
		     "uet -j dev | jq -c '.[] | [.job_count, .skey_count]'", "r");
	if (!rdma)
		die("rdma resource show");
	which ^= 1;
	len = fread(text[which], 1, sizeof(text[0]) - 1, rdma);
	text[which][len] = 0;
	if (pclose(rdma))
		die("rdma resource show");
	return text[which];
}

static void once(const struct verb *v)
{
	errno = 0;
	if (!v->call())
		die("%s fails without a fault", v->name);
	if (v->look)
		v->look(true);
	if (v->undo)
		v->undo();
}

/* True if the verb asked for @n things, so that one was refused. */
static bool try_nth(const struct verb *v, unsigned int n, unsigned int *errors)
{
	bool happened, ok;
	int err;

	if (v->before)
		v->before();
	fault_arm(n);
	errno = 0;
	ok = v->call();
	err = errno;
	happened = fault_happened();
	errno = err;
	if (!ok && !happened)
		die("%s, allocation %u did not fail, but the verb did", v->name,
		    n);
	if (!ok && err != v->err && !right_error(err))
		die("%s, allocation %u failed: wrong error", v->name, n);
	*errors += !ok;
	if (v->look)
		v->look(ok);
	if (ok && v->undo)
		v->undo();
	if (!ok && !v->slow)
		once(v);
	if (v->after)
		v->after();
	return happened;
}

static void fail_each(const struct verb *v)
{
	unsigned int n = 1, faults = 0, errors = 0;
	char *before, *after;

	doing = v->name;
	if (v->before)
		v->before();
	once(v);
	if (v->after)
		v->after();
	before = objects();
	lost = 0;
	for (; try_nth(v, n, &errors); faults++)
		n += n < dense ? 1 : rounds;
	if (v->slow)
		once(v);
	after = objects();
	errno = 0;
	if (strcmp(before, after))
		die("%s: objects were\n%sand are\n%s", v->name, before, after);
	printf("%s: %u faults among some %u chances, %u errors\n", v->name,
	       faults, n, errors + lost);
	fflush(stdout);
	if (!errors && !lost)
		die("%s never failed", v->name);
}

static void find_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), dev_a))
			device = list[i];
	if (!device)
		die("no device %s", dev_a);
}

static const struct verb *verb_find(const char *name)
{
	const struct verb *v;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	for (v = job_verbs; v->name; v++)
		if (!strcmp(v->name, name))
			return v;
	die("no verb %s", name);
}

static void with_devices(char **names)
{
	struct pair p;

	find_device();
	side_open(&A, dev_a, addr_a, MEM, 256);
	side_open(&B, dev_b, addr_b, MEM, 256);
	pages = mmap(NULL, MEM, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		die("%u bytes", MEM);
	pair_open(&A, &B, &p, &conn);
	for (; *names; names++) {
		fail_each(verb_find(*names));
		if (!post_pair(&p))
			die("post");
		delivered();
	}
	pair_close(&p);
	if (mapped && ibv_dereg_mr(mapped))
		die("dereg_mr");
	side_close(&A);
	side_close(&B);
}

static void own_option(int opt)
{
	if (opt == 'd')
		dense = strtoul(optarg, NULL, 0);
	else if (opt == 's')
		step = strtoul(optarg, NULL, 0);
	else
		netdev = optarg;
}

static const struct pair_more more = {
	.options = "d:l:s:",
	.option = own_option,
	.usage = "  -d DENSE             all of the first DENSE allocations\n"
		 "  -l NETDEV            for \"link\"\n"
		 "  -s BYTES             all after none, after so many, and so on\n",
};

int main(int argc, char **argv)
{
	char **names;

	rounds = 1;
	names = pair_options(argc, argv, NULL, &more);
	faults_init();
	if (netdev)
		fail_each(&verbs[ARRAY_SIZE(verbs) - 1]);
	else
		with_devices(names);
	return 0;
}
