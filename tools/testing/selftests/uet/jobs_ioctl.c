// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Methods of jobs, security keys and job keys by the plain verbs ioctl: what each
 * does, and each error of rdma/uet_user_ioctl_cmds.h. jobs_share.c and
 * jobs_life.c have what takes several processes.
 *
 * jobs_ioctl [-d DEVICE] [-4 GIDINDEX] [-6 GIDINDEX] [-n ROUNDS] TEST...
 *
 * Run as root in the network namespace of the device; no other job or key may be
 * there.
 */
#include "jobs.h"

#include <arpa/inet.h>
#include <sys/mman.h>

static const __u8 key2[UET_SKEY_BYTES] = { 9, 8, 7, [31] = 0x5a };

/* ------------------------------------------------------------------ */

/* What the core does for each method, tried with one. */
static void test_protocol(void)
{
	struct uet_job_attr attr = my_job(7), got;
	struct {
		struct uet_job_attr attr;
		__u64 more;
	} longer = { .attr = attr };
	struct call c;
	__u32 job;

	/* Ids nobody knows */
	call_init(&c, UET_IB_OBJECT_JOB, UET_IB_METHOD_JOB_ADDR_QUERY + 1);
	want(EPROTONOSUPPORT, call_run(dev, &c));
	call_init(&c, UET_IB_OBJECT_JKEY + 1, UET_IB_METHOD_JKEY_CREATE);
	want(EPROTONOSUPPORT, call_run(dev, &c));
	call_init(&c, UET_IB_OBJECT_JOB, UET_IB_METHOD_JOB_ALLOC);
	c.hdr.driver_id = 1;
	want(EINVAL, call_run(dev, &c));

	/* Attributes missing, unknown, twice, too short, too long */
	call_init(&c, UET_IB_OBJECT_JOB, UET_IB_METHOD_JOB_ALLOC);
	call_obj(&c, UET_IB_ATTR_JOB_ALLOC_HANDLE, 0);
	want(EINVAL, call_run(dev, &c));
	call_in(&c, UET_IB_ATTR_JOB_ALLOC_ATTR, &attr, sizeof(attr) - 1);
	want(EINVAL, call_run(dev, &c));
	c.attr[1].len = sizeof(attr);
	call_in32(&c, UET_IB_ATTR_JOB_ALLOC_SKEY + 1, 0);
	want(EPROTONOSUPPORT, call_run(dev, &c));
	c.attr[2].attr_id = UET_IB_ATTR_JOB_ALLOC_HANDLE;
	want(EINVAL, call_run(dev, &c));
	c.attr[2].attr_id = UET_IB_ATTR_JOB_ALLOC_SKEY + 1;
	c.attr[2].flags = 0;
	want(0, call_run(dev, &c));
	want(0, job_dealloc(dev, c.attr[0].data));

	/* A longer struct of a newer library: zeros are fine */
	call_init(&c, UET_IB_OBJECT_JOB, UET_IB_METHOD_JOB_ALLOC);
	call_obj(&c, UET_IB_ATTR_JOB_ALLOC_HANDLE, 0);
	call_in(&c, UET_IB_ATTR_JOB_ALLOC_ATTR, &longer, sizeof(longer));
	longer.more = 1;
	want(EOPNOTSUPP, call_run(dev, &c));
	longer.more = 0;
	want(0, call_run(dev, &c));
	job = c.attr[0].data;

	/* and a longer answer ends with zeros */
	memset(&longer, 0xff, sizeof(longer));
	call_init(&c, UET_IB_OBJECT_JOB, UET_IB_METHOD_JOB_QUERY);
	call_obj(&c, UET_IB_ATTR_JOB_QUERY_HANDLE, job);
	call_out(&c, UET_IB_ATTR_JOB_QUERY_RESP, &longer, sizeof(longer));
	want(0, call_run(dev, &c));
	expect(longer.attr.id, 7);
	expect(longer.more, 0);

	/* Bad addresses of user space, both ways; nothing is left behind */
	call_init(&c, UET_IB_OBJECT_JOB, UET_IB_METHOD_JOB_QUERY);
	call_obj(&c, UET_IB_ATTR_JOB_QUERY_HANDLE, job);
	call_out(&c, UET_IB_ATTR_JOB_QUERY_RESP, NULL, sizeof(got));
	want(EFAULT, call_run(dev, &c));
	want(EFAULT, job_alloc(dev, NULL, &job));

	/* Handles that are not there, or of another kind */
	want(ENOENT, job_query(dev, 4711, &got));
	want(ENOENT, job_dealloc(dev, 4711));
	want(EINVAL, skey_dealloc(dev, c.attr[0].data));
	want(0, job_dealloc(dev, c.attr[0].data));
	want(ENOENT, job_dealloc(dev, c.attr[0].data));
}

static void job_wrong(int err, struct uet_job_attr attr)
{
	__u32 job;

	want(err, job_alloc(dev, &attr, &job));
}

#define JOB_WRONG(err, field, value) do {	\
	struct uet_job_attr a_ = my_job(5);	\
						\
	a_.field = value;			\
	job_wrong(err, a_);			\
} while (0)

static void test_job(void)
{
	struct uet_job_attr attr = my_job(UET_JOB_ID_MAX), got;
	__u32 job, other;

	attr.uid = 12;
	attr.gid = 34;
	attr.max_jkey = 56;
	want(0, job_alloc(dev, &attr, &job));
	want(0, job_query(dev, job, &got));
	attr.rights = UET_RIGHT_USE | UET_RIGHT_ADDR | UET_RIGHT_EXPORT;
	if (memcmp(&attr, &got, sizeof(got)))
		die("query gives something else than was made");
	attr = my_job(UET_JOB_ID_MAX);
	want(EEXIST, job_alloc(dev, &attr, &other));
	want(0, job_dealloc(dev, job));
	want(0, job_alloc(dev, &attr, &job));
	want(0, job_dealloc(dev, job));

	JOB_WRONG(EINVAL, id, 0);
	JOB_WRONG(EINVAL, id, UET_JOB_ID_MAX + 1);
	JOB_WRONG(EOPNOTSUPP, comp_mask, 1);
	JOB_WRONG(EINVAL, flags, UET_JOB_PERSISTENT);
	JOB_WRONG(EINVAL, flags, 1u << 31);
	JOB_WRONG(EINVAL, port_num, 0);
	JOB_WRONG(EINVAL, port_num, 2);
	JOB_WRONG(EOPNOTSUPP, transport, 1);
	JOB_WRONG(EINVAL, sgid_index, 200);
	JOB_WRONG(EINVAL, sgid_index, 0xffff);
	JOB_WRONG(EINVAL, max_addr, (1 << 20) + 1);
	JOB_WRONG(EINVAL, rights, 1);
	JOB_WRONG(EINVAL, num_addr, 1);
	JOB_WRONG(EINVAL, skey_id, 1);
	JOB_WRONG(EINVAL, reserved[2], 1);

	/* To open, nothing but flag and id */
	JOB_WRONG(EINVAL, flags, UET_JOB_ALLOC_OPEN);
	want(EINVAL, job_open(dev, 0, &job));
	want(EINVAL, job_open(dev, UET_JOB_ID_MAX + 1, &job));
	want(ENOENT, job_open(dev, 5, &job));
}

/* A thousand jobs at a time, and ids that come back. */
static void test_many(void)
{
	static __u32 job[1000];
	struct uet_job_attr attr;
	unsigned int i, turn;

	for (turn = 0; turn < 2; turn++) {
		for (i = 0; i < ARRAY_SIZE(job); i++) {
			attr = my_job(1 + i * 16000);
			want(0, job_alloc(dev, &attr, &job[i]));
		}
		for (i = 0; i < ARRAY_SIZE(job); i++) {
			want(0, job_query(dev, job[i], &attr));
			expect(attr.id, 1 + i * 16000);
			want(0, job_dealloc(dev, job[i]));
		}
	}
}

/* ------------------------------------------------------------------ */
/* Peer tables                                                         */

static struct uet_job_addr peer4(__u32 index)
{
	struct uet_job_addr a = { .index = index, .qpn = index & 0xffffff };

	a.dgid[10] = 0xff;
	a.dgid[11] = 0xff;
	a.dgid[12] = 10;
	a.dgid[14] = index >> 8;
	a.dgid[15] = index;
	return a;
}

static struct uet_job_addr peer6(__u32 index)
{
	struct uet_job_addr a = {
		.index = index,
		.qpn = 0xffffff,
		.sgid_index = gid6,
		.hop_limit = 7,
		.traffic_class = 0x20,
		.flags = UET_JOB_ADDR_SGID,
	};

	inet_pton(AF_INET6, "fd00::9", a.dgid);
	return a;
}

static void addr_is(__u32 job, struct uet_job_addr want_addr)
{
	struct uet_job_addr a;
	__u32 n;

	if (!(want_addr.flags & UET_JOB_ADDR_SGID))
		want_addr.sgid_index = gid4;
	want(0, addr_query(dev, job, want_addr.index, &a, sizeof(a), &n));
	expect(n, 1);
	if (memcmp(&a, &want_addr, sizeof(a)))
		die("entry %u is not what was put there", want_addr.index);
}

/* The second of two entries is wrong: neither is set. */
static void addr_wrong(__u32 job, int err, struct uet_job_addr bad)
{
	struct uet_job_addr a[2] = { peer4(100), bad };
	struct uet_job_attr attr;
	__u32 before;

	want(0, job_query(dev, job, &attr));
	before = attr.num_addr;
	want(err, addr_insert(dev, job, a, sizeof(a)));
	want(0, job_query(dev, job, &attr));
	expect(attr.num_addr, before);
}

#define ADDR_WRONG(field, value) do {		\
	struct uet_job_addr a_ = peer4(101);	\
						\
	a_.field = value;			\
	addr_wrong(job, EINVAL, a_);		\
} while (0)

static void addr_errors(__u32 job)
{
	struct uet_job_addr a = peer4(1), none[1];
	__u32 n;

	ADDR_WRONG(index, 4096);
	ADDR_WRONG(index, 0xffffffff);
	ADDR_WRONG(index, 100);		/* twice */
	ADDR_WRONG(qpn, 1 << 24);
	ADDR_WRONG(flags, 2);
	ADDR_WRONG(reserved, 1);
	ADDR_WRONG(dgid[10], 0);	/* IPv6 from an IPv4 address */
	a.flags = UET_JOB_ADDR_SGID;
	a.index = 101;
	a.sgid_index = 200;
	addr_wrong(job, EINVAL, a);
	a.sgid_index = gid6;		/* families */
	addr_wrong(job, EINVAL, a);

	want(EINVAL, addr_insert(dev, job, &a, 0));
	want(EINVAL, addr_insert(dev, job, &a, sizeof(a) - 1));
	want(EINVAL, addr_insert(dev, job, &a, sizeof(a) + 1));
	want(EFAULT, addr_insert(dev, job, NULL, sizeof(a)));
	want(EINVAL, addr_remove(dev, job, 0, 0));
	want(EINVAL, addr_remove(dev, job, 4095, 2));
	want(EINVAL, addr_remove(dev, job, 4096, 1));
	want(EINVAL, addr_remove(dev, job, 1, 0xffffffff));
	want(EINVAL, addr_query(dev, job, 4096, none, sizeof(none), &n));
	want(EINVAL, addr_query(dev, job, 0, none, sizeof(none) - 1, &n));

	a = peer4(1);
	want(0, addr_insert(dev, job, &a, sizeof(a)));
	want(EFAULT, addr_query(dev, job, 0, NULL, sizeof(none), &n));
	want(EFAULT, addr_query(dev, job, 0, none, sizeof(none), NULL));
	want(0, addr_remove(dev, job, 1, 1));
}

static void addr_big(__u32 job)
{
	static struct uet_job_addr in[UET_JOB_ADDR_MAX], out[UET_JOB_ADDR_MAX];
	struct uet_job_attr attr;
	__u32 i, n, got = 0;

	/* From the last to the first: order in the call does not matter */
	for (i = 0; i < UET_JOB_ADDR_MAX; i++)
		in[i] = peer4(2 * (UET_JOB_ADDR_MAX - 1 - i));
	want(0, addr_insert(dev, job, in, sizeof(in)));
	want(0, job_query(dev, job, &attr));
	expect(attr.num_addr, UET_JOB_ADDR_MAX);
	while (got < UET_JOB_ADDR_MAX) {
		want(0, addr_query(dev, job, got * 2, out, sizeof(out[0]) * 1000,
				   &n));
		expect(n, UET_JOB_ADDR_MAX - got < 1000 ?
		       UET_JOB_ADDR_MAX - got : 1000);
		for (i = 0; i < n; i++)
			expect(out[i].index, 2 * (got + i));
		got += n;
	}
	want(0, addr_query(dev, job, 2 * UET_JOB_ADDR_MAX - 1, out,
			   sizeof(out[0]), &n));
	expect(n, 0);
	want(ENOENT, addr_remove(dev, job, 0, 3));	/* 1 is empty */
	want(0, job_query(dev, job, &attr));
	expect(attr.num_addr, UET_JOB_ADDR_MAX);
}

static void test_addr(void)
{
	struct uet_job_attr attr = my_job(77);
	struct uet_job_addr a[2] = { peer4(3), peer6(4095) };
	__u32 job;

	want(0, job_alloc(dev, &attr, &job));
	want(0, addr_insert(dev, job, a, sizeof(a)));
	addr_is(job, a[0]);
	addr_is(job, a[1]);
	a[0].qpn = 0xabcdef;
	want(0, addr_insert(dev, job, &a[0], sizeof(a[0])));
	addr_is(job, a[0]);
	want(0, job_query(dev, job, &attr));
	expect(attr.num_addr, 2);
	want(0, addr_remove(dev, job, 3, 1));
	want(ENOENT, addr_remove(dev, job, 3, 1));
	want(0, addr_remove(dev, job, 4095, 1));
	want(0, job_query(dev, job, &attr));
	expect(attr.num_addr, 0);

	addr_errors(job);
	addr_big(job);
	want(0, job_dealloc(dev, job));	/* with a full table */

	attr = my_job(77);
	attr.max_addr = 0;
	want(0, job_alloc(dev, &attr, &job));
	want(EINVAL, addr_insert(dev, job, &a[0], sizeof(a[0])));
	want(0, job_dealloc(dev, job));
}

/* ------------------------------------------------------------------ */
/* Keys                                                                */

#define SKEY_WRONG(err, field, value) do {				\
	struct uet_skey_attr a_ = skey_attr(5);				\
									\
	a_.field = value;						\
	want(err, skey_alloc(dev, &a_, key1, sizeof(key1), &skey, &got)); \
} while (0)

static void skey_errors(void)
{
	struct uet_skey_attr attr = skey_attr(5), got;
	__u8 zero[UET_SKEY_BYTES] = {};
	__u32 skey;

	SKEY_WRONG(EOPNOTSUPP, comp_mask, 1);
	SKEY_WRONG(EINVAL, flags, UET_SKEY_DEAD);
	SKEY_WRONG(EINVAL, ssi, 1);		/* without its flag */
	SKEY_WRONG(EINVAL, sdi, 1 << 24);
	SKEY_WRONG(EINVAL, an, 2);
	SKEY_WRONG(EINVAL, an_valid, 1);
	SKEY_WRONG(EINVAL, rights, 1);
	SKEY_WRONG(EINVAL, num_job, 1);
	SKEY_WRONG(EINVAL, reserved[1], 1);
	SKEY_WRONG(EINVAL, id, 0x80000000);
	SKEY_WRONG(EOPNOTSUPP, alg, 0);
	SKEY_WRONG(EOPNOTSUPP, alg, 2);
	SKEY_WRONG(EOPNOTSUPP, mode, 4);
	want(EINVAL, skey_alloc(dev, &attr, NULL, 0, &skey, &got));
	want(EKEYREJECTED, skey_alloc(dev, &attr, key1, 0, &skey, &got));
	want(EKEYREJECTED, skey_alloc(dev, &attr, key1, 8, &skey, &got));
	want(EKEYREJECTED, skey_alloc(dev, &attr, key1, 31, &skey, &got));
	want(EKEYREJECTED, skey_alloc(dev, &attr, key1, 33, &skey, &got));
	want(EKEYREJECTED, skey_alloc(dev, &attr, zero, 32, &skey, &got));
	want(EFAULT, skey_alloc(dev, &attr, key1, 32, &skey, NULL));

	attr = (struct uet_skey_attr){ .flags = UET_SKEY_ALLOC_OPEN, .id = 5 };
	want(ENOENT, skey_alloc(dev, &attr, NULL, 0, &skey, &got));
	want(EINVAL, skey_alloc(dev, &attr, key1, 32, &skey, &got));
	attr.sdi = 1;
	want(EINVAL, skey_alloc(dev, &attr, NULL, 0, &skey, &got));
	attr.sdi = 0;
	attr.id = 0;
	want(EINVAL, skey_alloc(dev, &attr, NULL, 0, &skey, &got));
}

/* Install, switch, retire, and each step out of its turn. */
static void skey_steps(__u32 skey)
{
	__u8 zero[UET_SKEY_BYTES] = {};
	struct uet_skey_attr got;

	want(ENOKEY, skey_rekey(dev, skey, UET_SKEY_REKEY_SWITCH, NULL, 0));
	want(ENOKEY, skey_rekey(dev, skey, UET_SKEY_REKEY_RETIRE, NULL, 0));
	want(EINVAL, skey_rekey(dev, skey, UET_SKEY_REKEY_INSTALL, NULL, 0));
	want(EKEYREJECTED, skey_rekey(dev, skey, UET_SKEY_REKEY_INSTALL, key2,
				      16));
	want(EKEYREJECTED, skey_rekey(dev, skey, UET_SKEY_REKEY_INSTALL, zero,
				      32));
	want(EINVAL, skey_rekey(dev, skey, UET_SKEY_REKEY_SWITCH, key2, 32));
	want(EINVAL, skey_rekey(dev, skey, 3, NULL, 0));
	want(0, skey_rekey(dev, skey, UET_SKEY_REKEY_INSTALL, key2, 32));
	want(EBUSY, skey_rekey(dev, skey, UET_SKEY_REKEY_INSTALL, key2, 32));
	want(0, skey_query(dev, skey, &got));
	expect(got.an, 1);
	expect(got.an_valid, 3);
	want(0, skey_rekey(dev, skey, UET_SKEY_REKEY_SWITCH, NULL, 0));
	want(0, skey_query(dev, skey, &got));
	expect(got.an, 0);
	want(0, skey_rekey(dev, skey, UET_SKEY_REKEY_RETIRE, NULL, 0));
	want(0, skey_query(dev, skey, &got));
	expect(got.an_valid, 1);
}

static void test_skey(void)
{
	struct uet_skey_attr attr = skey_attr(0x7fffffff), got, got2;
	struct uet_job_attr ja = my_job(8);
	__u32 skey, skey2, job;

	attr.sdi = 0xffffff;
	attr.ssi = 0xdeadbeef;
	attr.mode = UET_SKEY_CLIENT;
	attr.an = 1;
	attr.flags = UET_SKEY_HAS_SSI;
	want(0, skey_alloc(dev, &attr, key1, 32, &skey, &got));
	attr.an_valid = 2;
	attr.rights = UET_RIGHT_USE | UET_RIGHT_EXPORT | UET_RIGHT_REKEY;
	if (memcmp(&attr, &got, sizeof(got)))
		die("the answer is something else than was made");
	want(0, skey_query(dev, skey, &got2));
	if (memcmp(&got, &got2, sizeof(got)))
		die("query gives something else");
	attr = skey_attr(0x7fffffff);
	want(EEXIST, skey_alloc(dev, &attr, key1, 32, &skey2, &got));
	skey_errors();
	skey_steps(skey);

	/* Ids the kernel gives */
	attr = skey_attr(0);
	want(0, skey_alloc(dev, &attr, key1, 32, &skey2, &got));
	if (!got.id || got.id == 0x7fffffff)
		die("id %u was given", got.id);
	want(0, skey_dealloc(dev, skey2));

	/* A job keeps it, and goes before it does */
	want(0, job_alloc_with(dev, &ja, &skey, &job));
	want(0, job_query(dev, job, &ja));
	expect(ja.skey_id, 0x7fffffff);
	want(0, skey_query(dev, skey, &got));
	expect(got.num_job, 1);
	want(0, skey_dealloc(dev, skey));
	attr = skey_attr(0x7fffffff);
	want(EEXIST, skey_alloc(dev, &attr, key1, 32, &skey2, &got));
	want(0, job_dealloc(dev, job));
	want(0, skey_alloc(dev, &attr, key1, 32, &skey2, &got));
	want(0, skey_dealloc(dev, skey2));
	ja = my_job(8);
	want(ENOENT, job_alloc_with(dev, &ja, &skey2, &job));
}

static void test_jkey(void)
{
	struct uet_job_attr attr = my_job(9);
	__u32 pd[2], job, job2, jkey[3], value[3], mr;
	void *mem;

	mem = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	attr.max_jkey = 2;
	want(0, raw_pd(dev, &pd[0]));
	want(0, raw_pd(dev, &pd[1]));
	want(0, job_alloc(dev, &attr, &job));
	want(0, jkey_create(dev, pd[0], job, &jkey[0], &value[0]));
	want(EEXIST, jkey_create(dev, pd[0], job, &jkey[2], &value[2]));
	want(0, jkey_create(dev, pd[1], job, &jkey[1], &value[1]));
	if (!value[0] || !value[1] || value[0] == value[1])
		die("values %#x and %#x", value[0], value[1]);
	want(ENOSPC, jkey_create(dev, pd[0], job, &jkey[2], &value[2]));

	/* Another job in the same domain */
	attr = my_job(10);
	want(0, job_alloc(dev, &attr, &job2));
	want(0, jkey_create(dev, pd[0], job2, &jkey[2], &value[2]));
	want(0, jkey_destroy(dev, jkey[2]));
	want(0, job_dealloc(dev, job2));

	/* Who holds whom */
	want(EBUSY, job_dealloc(dev, job));
	want(EBUSY, raw_pd_free(dev, pd[0]));
	want(EINVAL, raw_mr(dev, pd[0], mem, 4096, value[1], &mr));
	want(EINVAL, raw_mr(dev, pd[0], mem, 4096, value[0] ^ 1, &mr));
	want(0, raw_mr(dev, pd[0], mem, 4096, value[0], &mr));
	want(EBUSY, jkey_destroy(dev, jkey[0]));
	want(0, raw_mr_free(dev, mr));
	want(0, jkey_destroy(dev, jkey[0]));
	want(EINVAL, raw_mr(dev, pd[0], mem, 4096, value[0], &mr));
	want(0, jkey_destroy(dev, jkey[1]));

	/* Errors, and nothing left of them */
	want(ENOENT, jkey_create(dev, 4711, job, &jkey[0], &value[0]));
	want(ENOENT, jkey_create(dev, pd[0], 4711, &jkey[0], &value[0]));
	want(EINVAL, jkey_create(dev, job, job, &jkey[0], &value[0]));
	want(EINVAL, jkey_create(dev, pd[0], pd[0], &jkey[0], &value[0]));
	want(0, job_dealloc(dev, job));
	want(0, raw_pd_free(dev, pd[0]));
	want(0, raw_pd_free(dev, pd[1]));
	munmap(mem, 4096);
}

/* ------------------------------------------------------------------ */
/* Anything at all                                                     */

static __u64 rnd_state = 88172645463325252ull;

static __u64 rnd(void)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return rnd_state;
}

/* A value that gets somewhere: handles and lengths are mostly small. */
static __u64 some(void)
{
	switch (rnd() % 4) {
	case 0:
		return rnd();
	case 1:
		return rnd() % 64;
	default:
		return rnd() % 8;
	}
}

/* Memory that calls may read and write as they like. */
static __u8 *junk;

static void scribble(void)
{
	struct call c;
	unsigned int i;

	for (i = 0; i < 64; i++)
		junk[64 + rnd() % 65536] = some();
	call_init(&c, UET_IB_OBJECT_JOB + rnd() % 3,
		  UET_IB_METHOD_JOB_ALLOC + rnd() % 8);
	c.hdr.num_attrs = rnd() % 5;
	for (i = 0; i < c.hdr.num_attrs; i++) {
		c.attr[i].attr_id = (1 << UVERBS_ID_NS_SHIFT) + (rnd() % 8 ? i :
								  some());
		c.attr[i].len = rnd() % 2 ? 0 : some() * 16;
		c.attr[i].flags = rnd() % 16 ? 1 : rnd();
		c.attr[i].data = rnd() % 2 ? some() :
				 (uintptr_t)junk + (rnd() % 2 ? 0 : rnd() % 4096);
	}
	call_run(dev, &c);
}

static void test_scribble(void)
{
	struct uet_job_attr attr = my_job(11);
	unsigned int i;
	__u32 job, pd;

	junk = mmap(NULL, 3 * 65536, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	want(0, raw_pd(dev, &pd));
	want(0, job_alloc(dev, &attr, &job));
	for (i = 0; i < 100 * rounds; i++) {
		/* Something to start from, so that some calls succeed */
		attr.id = 11 + rnd() % 8;
		memcpy(junk, &attr, sizeof(attr));
		scribble();
	}
	/* Also the files that were made. All goes, the device is as before */
	close_range(3, ~0u, 0);
	my_open();
	for (attr.id = 11; attr.id < 19; attr.id++) {
		want(0, job_alloc(dev, &attr, &job));
		want(0, job_dealloc(dev, job));
	}
}

/* ------------------------------------------------------------------ */

static const struct test tests[] = {
	{ "protocol", test_protocol },
	{ "job", test_job },
	{ "many", test_many },
	{ "addr", test_addr },
	{ "skey", test_skey },
	{ "jkey", test_jkey },
	{ "scribble", test_scribble },
	{}
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
