// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Jobs and security keys between processes, by the plain verbs ioctl: who may do
 * what, and handing on by file descriptors.
 *
 * jobs_share -d DEVICE -o OTHERDEVICE -N NETNS-OF-OTHER [-4 GIDINDEX]
 *	[-n ROUNDS] TEST...
 *
 * Run as root in the network namespace of DEVICE.
 */
#include "jobs_proc.h"

#define USER	1234	/* an ordinary user */
#define GROUP	1235
#define NOBODY	1300	/* another one */

/* ------------------------------------------------------------------ */
/* Who may do what                                                     */

static int skey_open(__u32 id, __u32 *skey)
{
	struct uet_skey_attr attr = { .flags = UET_SKEY_ALLOC_OPEN, .id = id };
	struct uet_skey_attr got;

	return skey_alloc(dev, &attr, NULL, 0, skey, &got);
}

static void may_not_create(void)
{
	struct uet_job_attr attr = my_job(25);
	struct uet_skey_attr sa = skey_attr(25), got;
	__u32 h;

	want(EPERM, job_alloc(dev, &attr, &h));
	want(EPERM, skey_alloc(dev, &sa, key1, 32, &h, &got));
}

static void owner(void)
{
	struct uet_job_addr addr = { .index = 1, .dgid = { [10] = 0xff, 0xff,
							   10, 0, 0, 2 } };
	struct uet_job_attr attr = my_job(25), got;
	struct uet_skey_attr sa;
	__u32 job, skey, h;
	gid_t group = GROUP;
	int file;

	become(USER, USER, 1, &group);
	may_not_create();
	want(0, job_open(dev, 22, &job));		/* by the group */
	want(0, job_dealloc(dev, job));
	want(EPERM, job_open(dev, 23, &job));
	want(ENOENT, job_open(dev, 24, &job));
	want(0, job_open(dev, 21, &job));		/* by the user */
	want(0, job_query(dev, job, &got));
	expect(got.rights, UET_RIGHT_USE | UET_RIGHT_ADDR | UET_RIGHT_EXPORT);
	expect(got.uid, USER);
	expect(got.gid, UET_OWNER_NONE);
	want(0, addr_insert(dev, job, &addr, sizeof(addr)));
	want(0, addr_remove(dev, job, 1, 1));
	want(0, job_export(dev, job, UET_RIGHT_USE, &file));
	close(file);

	want(EPERM, skey_open(32, &skey));
	want(ENOENT, skey_open(33, &skey));
	want(0, skey_open(31, &skey));
	want(0, skey_rekey(dev, skey, UET_SKEY_REKEY_INSTALL, key1, 32));
	want(0, skey_query(dev, skey, &sa));
	expect(sa.an_valid, 3);
	want(EPERM, job_alloc_with(dev, &attr, &skey, &h));
}

static void no_owner(void)
{
	__u32 job, skey;

	become(NOBODY, NOBODY, 0, NULL);
	may_not_create();
	want(EPERM, job_open(dev, 21, &job));
	want(EPERM, job_open(dev, 22, &job));
	want(EPERM, job_open(dev, 23, &job));
	want(EPERM, skey_open(31, &skey));
}

/* All rights, but in a user namespace of its own. */
static void admin_of_nothing(void)
{
	if (unshare(CLONE_NEWUSER))
		die("unshare: %s", strerror(errno));
	may_not_create();
}

static void test_rights(void)
{
	struct uet_job_attr attr[3] = { my_job(21), my_job(22), my_job(23) };
	struct uet_skey_attr sa[2] = { skey_attr(31), skey_attr(32) }, got;
	__u32 job[3], skey[2], h;
	int i;

	attr[0].uid = USER;
	attr[1].gid = GROUP;
	sa[0].uid = USER;
	for (i = 0; i < 3; i++)
		want(0, job_alloc(dev, &attr[i], &job[i]));
	for (i = 0; i < 2; i++)
		want(0, skey_alloc(dev, &sa[i], key1, 32, &skey[i], &got));
	child(owner);
	child(no_owner);
	child(admin_of_nothing);
	/* The administrator is not the owner */
	want(EPERM, job_open(dev, 23, &h));
	want(EPERM, skey_open(32, &h));
	for (i = 0; i < 3; i++)
		want(0, job_dealloc(dev, job[i]));
	for (i = 0; i < 2; i++)
		want(0, skey_dealloc(dev, skey[i]));
}

/* ------------------------------------------------------------------ */

static void elsewhere(void)
{
	struct uet_job_attr got;
	__u32 job;

	my_open();
	may_not_create();
	want(EPERM, job_open(dev, 26, &job));
	want(EPERM, job_import(dev, the_file, &job, &got));
}

static void elsewhere_named(void)
{
	enter(other_ns);
	elsewhere();
}

static void elsewhere_new(void)
{
	if (unshare(CLONE_NEWNET))
		die("unshare: %s", strerror(errno));
	elsewhere();
}

static void test_namespace(void)
{
	struct uet_job_attr attr = my_job(26);
	__u32 job;

	attr.uid = 0;
	want(0, job_alloc(dev, &attr, &job));
	want(0, job_export(dev, job, UET_RIGHT_USE, &the_file));
	child(elsewhere_named);
	child(elsewhere_new);
	close(the_file);
	want(0, job_dealloc(dev, job));
}

/* ------------------------------------------------------------------ */
/* Handing on                                                          */

/* A worker, with these rights and no more. */
static void worker(__u32 rights)
{
	bool use = rights & UET_RIGHT_USE, addr = rights & UET_RIGHT_ADDR;
	struct uet_job_attr attr;
	struct uet_job_addr a;
	__u32 job, pd, jkey, value, n;
	int file, again;

	become(USER, USER, 0, NULL);
	file = fd_receive(sock[1]);
	want(0, job_import(dev, file, &job, &attr));
	expect(attr.id, 27);
	expect(attr.rights, rights);
	want(addr ? 0 : EPERM, addr_insert(dev, job, &one, sizeof(one)));
	want(0, addr_query(dev, job, 5, &a, sizeof(a), &n));
	expect(n, 1);
	expect(a.qpn, 0x1234);
	if (!addr)
		want(EPERM, addr_remove(dev, job, 5, 1));
	want(0, raw_pd(dev, &pd));
	want(use ? 0 : EPERM, jkey_create(dev, pd, job, &jkey, &value));
	if (rights & UET_RIGHT_EXPORT) {
		want(0, job_export(dev, job, rights, &again));
		close(again);
		want(EPERM, job_export(dev, job, UET_RIGHT_USE | UET_RIGHT_ADDR |
				       UET_RIGHT_EXPORT, &again));
	} else {
		want(EPERM, job_export(dev, job, 0, &again));
	}
	want(EINVAL, job_export(dev, job, UET_RIGHT_REKEY, &again));
	/* The file is as good as before */
	want(0, job_import(dev, file, &job, &attr));
	close(file);
}

static void worker_addr(void) { worker(UET_RIGHT_USE | UET_RIGHT_ADDR); }
static void worker_use(void) { worker(UET_RIGHT_USE); }
static void worker_export(void) { worker(UET_RIGHT_USE | UET_RIGHT_EXPORT); }
static void worker_look(void) { worker(0); }

static void hand_to(__u32 job, __u32 rights, void (*fn)(void))
{
	pid_t pid;
	int file;

	sock_open();
	pid = child_start(fn);
	want(0, job_export(dev, job, rights, &file));
	expect(fcntl(file, F_GETFD), FD_CLOEXEC);
	fd_send(sock[0], file);
	close(file);
	child_end(pid);
	close(sock[0]);
	close(sock[1]);
}

static void share_skey(void)
{
	struct uet_skey_attr sa = skey_attr(41), got;
	struct uet_job_attr attr = my_job(41);
	__u32 skey, copy, job;
	int use, rekey;

	want(0, skey_alloc(dev, &sa, key1, 32, &skey, &got));
	want(0, skey_export(dev, skey, UET_RIGHT_USE, &use));
	want(0, skey_export(dev, skey, UET_RIGHT_REKEY, &rekey));
	want(EINVAL, skey_export(dev, skey, UET_RIGHT_ADDR, &use));
	fdinfo_has(use, "uet-skey:\t41\n");
	want(0, skey_dealloc(dev, skey));
	want(0, skey_import(dev, use, &copy, &got));
	expect(got.id, 41);
	expect(got.rights, UET_RIGHT_USE);
	want(EPERM, skey_rekey(dev, copy, UET_SKEY_REKEY_INSTALL, key1, 32));
	want(EPERM, skey_export(dev, copy, UET_RIGHT_USE, &use));
	want(0, job_alloc_with(dev, &attr, &copy, &job));
	want(0, job_dealloc(dev, job));
	want(0, skey_dealloc(dev, copy));
	want(0, skey_import(dev, rekey, &copy, &got));
	want(0, skey_rekey(dev, copy, UET_SKEY_REKEY_INSTALL, key1, 32));
	want(EPERM, job_alloc_with(dev, &attr, &copy, &job));
	want(0, skey_dealloc(dev, copy));
	close(use);
	close(rekey);
	/* It has gone with its last file */
	want(0, skey_alloc(dev, &sa, key1, 32, &skey, &got));
	want(0, skey_dealloc(dev, skey));
}

static void test_share(void)
{
	struct uet_job_attr attr = my_job(27);
	__u32 job;
	int file;

	want(0, job_alloc(dev, &attr, &job));
	hand_to(job, UET_RIGHT_USE | UET_RIGHT_ADDR, worker_addr);
	/* What one of them put in the table, all see */
	want(0, job_query(dev, job, &attr));
	expect(attr.num_addr, 1);
	hand_to(job, UET_RIGHT_USE, worker_use);
	hand_to(job, UET_RIGHT_USE | UET_RIGHT_EXPORT, worker_export);
	hand_to(job, 0, worker_look);
	want(0, job_export(dev, job, 3, &file));
	fdinfo_has(file, "uet-job:\t27\n");
	fdinfo_has(file, "rights:\t0x3\n");
	close(file);
	want(0, job_dealloc(dev, job));
	id_free(27);
	share_skey();
}

/* ------------------------------------------------------------------ */

static void import_fails(int err, int file)
{
	struct uet_job_attr attr;
	struct uet_skey_attr sa;
	__u32 h;

	want(err, job_import(dev, file, &h, &attr));
	want(err, skey_import(dev, file, &h, &sa));
}

static void import_fails_and_close(int err, int file)
{
	import_fails(err, file);
	close(file);
}

/* A job of the same id on the other device, exported to the parent. */
static void other_launcher(void)
{
	struct uet_job_attr attr = job_attr(28);
	__u32 job;
	int file;

	enter(other_ns);
	device = other;
	my_open();
	attr.sgid_index = gid4;
	want(0, job_alloc(dev, &attr, &job));
	want(0, job_export(dev, job, UET_RIGHT_USE, &file));
	fd_send(sock[1], file);
}

static void test_foreign(void)
{
	struct uet_job_attr attr = my_job(28);
	struct uet_skey_attr sa = skey_attr(28), got;
	__u32 job, skey, h;
	struct call c;
	int p[2], file;

	if (pipe(p))
		die("pipe");
	import_fails_and_close(EINVAL, p[0]);
	import_fails_and_close(EINVAL, p[1]);
	import_fails(EBADF, p[0]);
	import_fails(EBADF, -1);
	import_fails(EBADF, 1 << 20);
	import_fails(EINVAL, dev);
	import_fails_and_close(EINVAL, open("/dev/null", O_RDWR));
	import_fails_and_close(EINVAL, eventfd(0, 0));
	import_fails_and_close(EINVAL, open("/", O_RDONLY));
	import_fails_and_close(EBADF, open("/", O_PATH));

	/* One for the other */
	want(0, job_alloc(dev, &attr, &job));
	want(0, skey_alloc(dev, &sa, key1, 32, &skey, &got));
	want(0, job_export(dev, job, UET_RIGHT_USE, &file));
	want(EINVAL, skey_import(dev, file, &h, &got));
	call_init(&c, UET_IB_OBJECT_JOB, UET_IB_METHOD_JOB_IMPORT);
	call_obj(&c, UET_IB_ATTR_JOB_IMPORT_HANDLE, 0);
	call_obj(&c, UET_IB_ATTR_JOB_IMPORT_FD, file);
	call_out(&c, UET_IB_ATTR_JOB_IMPORT_RESP, NULL, sizeof(attr));
	want(EFAULT, call_run(dev, &c));
	c.attr[1].data_s64 = 1ll << 32 | file;
	want(EINVAL, call_run(dev, &c));
	close(file);
	want(0, skey_export(dev, skey, UET_RIGHT_USE, &file));
	want(EINVAL, job_import(dev, file, &h, &attr));
	close(file);
	want(0, skey_dealloc(dev, skey));

	sock_open();
	child(other_launcher);
	file = fd_receive(sock[0]);
	want(EXDEV, job_import(dev, file, &h, &attr));
	close(file);
	want(0, job_dealloc(dev, job));
}

/* ------------------------------------------------------------------ */

static const struct test tests[] = {
	{ "rights", test_rights },
	{ "namespace", test_namespace },
	{ "share", test_share },
	{ "foreign", test_foreign },
	{}
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
