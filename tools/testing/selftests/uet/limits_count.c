// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * As many objects of a kind as a device says there can be, and not one more:
 *
 *	limits_count [-d DEVICE] KIND...
 *
 * Queues are mapped, and a process can map only so much, so several processes make
 * them. What is in use already (by the core's own QP 1, and by these processes) counts.
 */
#include "lib.h"

#include <net/if.h>
#include <sys/wait.h>

#include <infiniband/uetdv.h>

#define PROCESSES	16
#define JKEY_JOBS	1024

static const char *device = "u1";
static struct ibv_context *ctx;
static struct ibv_device_attr attr;
static struct uetdv_device_attr dv;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static __u8 *page;
static unsigned int first;	/* objects that others have made */

/* ------------------------------------------------------------------ */
/* One of each kind                                                    */

static void *make_pd(unsigned int i)
{
	return ibv_alloc_pd(ctx);
}

static int end_pd(void *obj)
{
	return ibv_dealloc_pd(obj);
}

static void *make_cq(unsigned int i)
{
	return ibv_create_cq(ctx, 1, NULL, NULL, 0);
}

static int end_cq(void *obj)
{
	return ibv_destroy_cq(obj);
}

static void *make_qp(unsigned int i)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { 1, 1, 1, 1, 0 },
	};

	return ibv_create_qp(pd, &init);
}

static int end_qp(void *obj)
{
	return ibv_destroy_qp(obj);
}

static void *make_srq(unsigned int i)
{
	struct ibv_srq_init_attr init = { .attr = { 1, 1, 0 } };

	return ibv_create_srq(pd, &init);
}

static int end_srq(void *obj)
{
	return ibv_destroy_srq(obj);
}

static void *make_mr(unsigned int i)
{
	return ibv_reg_mr(pd, page, PAGE, IBV_ACCESS_LOCAL_WRITE);
}

static int end_mr(void *obj)
{
	return ibv_dereg_mr(obj);
}

static void *make_mw(unsigned int i)
{
	return ibv_alloc_mw(pd, i & 1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
}

static int end_mw(void *obj)
{
	return ibv_dealloc_mw(obj);
}

static struct ibv_ah_attr to_peer(void)
{
	struct side s = {};
	struct ibv_ah_attr ah;

	parse_gid("10.0.0.1", &s.gid);
	s.gid_index = find_gid(ctx, &s.gid);
	parse_gid("10.0.0.2", &s.gid);
	ah_attr(&s, &s.gid, &ah);
	return ah;
}

static void *make_ah(unsigned int i)
{
	static struct ibv_ah_attr ah;

	if (!i)
		ah = to_peer();
	return ibv_create_ah(pd, &ah);
}

static int end_ah(void *obj)
{
	return ibv_destroy_ah(obj);
}

static struct uetdv_job *make_a_job(__u32 id, __u32 ranks)
{
	struct uetdv_job_attr job = {
		.comp_mask = UETDV_JOB_ATTR_ID | UETDV_JOB_ATTR_SGID_INDEX |
			     UETDV_JOB_ATTR_MAX_ADDR_ENTRIES,
		.id = id,
		.max_addr_entries = ranks,
		.sgid_index = to_peer().grh.sgid_index,
	};

	return uetdv_alloc_job(ctx, &job, NULL);
}

static void *make_job(unsigned int i)
{
	static int sgid_index = -1;
	struct uetdv_job_attr job = {
		.comp_mask = UETDV_JOB_ATTR_ID | UETDV_JOB_ATTR_SGID_INDEX,
		.id = first + i + 1,
	};

	if (sgid_index < 0)
		sgid_index = to_peer().grh.sgid_index;
	job.sgid_index = sgid_index;
	return uetdv_alloc_job(ctx, &job, NULL);
}

static int end_job(void *obj)
{
	return uetdv_dealloc_job(obj);
}

static void *make_skey(unsigned int i)
{
	static const __u8 key[UETDV_SKEY_BYTES] = { 1, 2, 3, [31] = 4 };
	struct uetdv_skey_attr skey = {
		.comp_mask = UETDV_SKEY_ATTR_ALG,
		.alg = UETDV_SKEY_AES_256_GCM,
		.sdi = 7,
	};

	return uetdv_alloc_skey(ctx, &skey, key, sizeof(key));
}

static int end_skey(void *obj)
{
	return uetdv_dealloc_skey(obj);
}

/* A protection domain has one key for a job, so it takes many of both. */
static void *make_jkey(unsigned int i)
{
	static struct uetdv_job *job[JKEY_JOBS];
	static struct ibv_pd *domain;
	unsigned int k = i % JKEY_JOBS;

	if (i < JKEY_JOBS && !job[i])
		job[i] = make_a_job(i + 1, 1);
	if (!k)
		domain = ibv_alloc_pd(ctx);
	if (!job[k] || !domain)
		die("job or domain for key %u", i);
	return uetdv_create_jkey(domain, job[k], 0);
}

static int end_jkey(void *obj)
{
	return uetdv_destroy_jkey(obj);
}

/* What the core itself keeps a count of */
static unsigned int in_use(const char *name)
{
	char command[128];
	unsigned int n;
	FILE *f;

	snprintf(command, sizeof(command),
		 "rdma -j resource show %s | jq '.[0].%s // 0'", device, name);
	f = popen(command, "r");
	if (!f || fscanf(f, "%u", &n) != 1 || pclose(f))
		die("%s", command);
	return n;
}

static const struct kind {
	const char *name;
	void *(*make)(unsigned int i);
	int (*end)(void *obj);
	int refusal;
	unsigned int at_a_time;	/* of one process, 0: all */
	const char *counted_as;	/* in rdma resource, or NULL */
	size_t most;		/* where that is said */
	bool from_uetdv;
} kinds[] = {
#define VERBS(name) offsetof(struct ibv_device_attr, name)
#define UETDV(name) offsetof(struct uetdv_device_attr, name)
	{ "pd", make_pd, end_pd, ENOMEM, 0, "pd", VERBS(max_pd) },
	{ "cq", make_cq, end_cq, ENOMEM, 20000, "cq", VERBS(max_cq) },
	{ "qp", make_qp, end_qp, ENOMEM, 10000, "qp", VERBS(max_qp) },
	{ "srq", make_srq, end_srq, ENOMEM, 20000, "srq", VERBS(max_srq) },
	{ "mr", make_mr, end_mr, ENOMEM, 0, "mr", VERBS(max_mr) },
	{ "mw", make_mw, end_mw, ENOMEM, 0, NULL, VERBS(max_mw) },
	{ "ah", make_ah, end_ah, ENOMEM, 0, NULL, VERBS(max_ah) },
	{ "job", make_job, end_job, ENOSPC, 0, NULL, UETDV(max_job_ids), true },
	{ "skey", make_skey, end_skey, ENOSPC, 0, NULL, UETDV(max_skeys), true },
	{ "jkey", make_jkey, end_jkey, ENOSPC, 0, NULL, UETDV(max_job_keys), true },
};

static unsigned int most_of(const struct kind *k)
{
	const void *said = k->from_uetdv ? (void *)&dv : (void *)&attr;

	return *(const __u32 *)(said + k->most);
}

/* ------------------------------------------------------------------ */

static void open_all(void)
{
	ctx = open_device(device);
	errno = 0;
	if (ibv_query_device(ctx, &attr) ||
	    uetdv_query_device(ctx, &dv, sizeof(dv)))
		die("query");
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 1, NULL, NULL, 0);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!pd || !cq || page == MAP_FAILED)
		die("PD, CQ or memory");
	*page = 1;
}

/* What a process tells: how many it made, and why not more (0: enough). */
struct made {
	unsigned int n;
	int err;
	int again;	/* why there was none instead of one that was given up */
};

static struct made make_many(const struct kind *k, unsigned int room)
{
	struct made made = {};
	void *obj, *last = NULL;

	for (; made.n < room; made.n++, last = obj) {
		errno = 0;
		obj = k->make(made.n);
		made.err = obj ? 0 : errno ?: EIO;
		if (!obj)
			break;
	}
	if (!last)
		return made;
	/* A place that is given up can be had again. */
	if (k->end(last))
		die("%s: end of number %u", k->name, made.n);
	errno = 0;
	made.again = k->make(made.n - 1) ? 0 : errno ?: EIO;
	return made;
}

/* Makes objects, and keeps them until @go is closed. */
static void maker(const struct kind *k, int tell, int go)
{
	struct made made;
	char c;

	open_all();
	made = make_many(k, k->at_a_time ?: UINT32_MAX);
	if (write(tell, &made, sizeof(made)) != sizeof(made))
		die("pipe");
	if (read(go, &c, 1))
		die("pipe");
	/* All of it goes with the process. */
	_exit(0);
}

static void spawn(const struct kind *k, int tell[2], int go[2])
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return;
	close(tell[0]);
	close(go[1]);
	maker(k, tell[1], go[0]);
}

static void count(const struct kind *k)
{
	unsigned int processes = 0, used, before = 0;
	int tell[2], go[2], status;
	struct made made;
	__u64 start = now_ns();
	double seconds;

	doing = k->name;
	first = 0;
	if (k->counted_as)
		before = in_use(k->counted_as);
	if (pipe(tell) || pipe(go))
		die("pipe");
	do {
		spawn(k, tell, go);
		processes++;
		if (read(tell[0], &made, sizeof(made)) != sizeof(made))
			die("a process ended");
		expect("another one instead", made.again, 0);
		first += made.n;
	} while (!made.err && processes < PROCESSES);
	seconds = (now_ns() - start) / 1e9;
	used = k->counted_as ? in_use(k->counted_as) : first;
	printf("# %s: %u made by %u processes in %.1f s, %u in use of %u; then errno %d\n",
	       k->name, first, processes, seconds, used, most_of(k), made.err);
	start = now_ns();
	close(go[0]);
	close(go[1]);
	while (processes--) {
		errno = 0;
		if (wait(&status) < 0 || status)
			die("a process ended with %#x", status);
	}
	printf("# and gone in %.1f s\n", (now_ns() - start) / 1e9);
	close(tell[0]);
	close(tell[1]);
	expect("errno", made.err, k->refusal);
	expect("in use", used, most_of(k));
	if (k->counted_as)
		expect("left", in_use(k->counted_as), before);
}

/* ------------------------------------------------------------------ */

/* All ranks that a job can have */
static void count_ranks(void)
{
	const unsigned int at_a_time = 16384;
	struct uetdv_ah_attr_ex *addr = calloc(at_a_time, sizeof(*addr)), one;
	unsigned int most = dv.max_addr_entries, i;
	struct uetdv_job *job;
	__u64 start = now_ns();

	doing = "ranks";
	errno = 0;
	if (make_a_job(1, most + 1))
		die("a table of %u", most + 1);
	expect("errno", errno, EINVAL);
	job = make_a_job(1, most);
	if (!job)
		die("a table of %u", most);
	for (i = 0; i < at_a_time; i++)
		addr[i].ah_attr = to_peer();
	for (i = 0; i < most; i += at_a_time) {
		addr[0].remote_qpn = i;
		errno = uetdv_insert_addrs(job, addr, i, at_a_time, 0);
		if (errno)
			die("ranks from %u on", i);
	}
	expect("a rank too many", uetdv_insert_addr(job, addr, most, 0), EINVAL);
	expect("query", uetdv_query_addr(job, most - at_a_time, &one, 0), 0);
	expect("pair", one.remote_qpn, most - at_a_time);
	expect("query", uetdv_query_addr(job, most - 1, &one, 0), 0);
	if (uetdv_dealloc_job(job))
		die("end of the job");
	printf("# %u ranks in %.1f s\n", most, (now_ns() - start) / 1e9);
	free(addr);
}

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc > 2 && !strcmp(argv[1], "-d")) {
		device = argv[2];
		argc -= 2;
		argv += 2;
	}
	for (argv++; *argv; argv++) {
		if (!ctx)
			open_all();
		if (!strcmp(*argv, "ranks")) {
			count_ranks();
			continue;
		}
		for (i = 0; i < ARRAY_SIZE(kinds); i++)
			if (!strcmp(kinds[i].name, *argv))
				break;
		if (i == ARRAY_SIZE(kinds))
			return 2;
		count(&kinds[i]);
	}
	return 0;
}
