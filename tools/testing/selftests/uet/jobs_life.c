// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Jobs and security keys between processes, by the plain verbs ioctl: who may do
 * what, handing on by file descriptors, and the end of any holder, of the job, of
 * the device. jobs_ioctl.c has the calls themselves.
 *
 * jobs_life -d DEVICE -o OTHERDEVICE -N NETNS-OF-OTHER [-4 GIDINDEX]
 *	[-n ROUNDS] TEST...
 *
 * Run as root in the network namespace of DEVICE.
 */
#include "rawverbs.h"

#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#define USER	1234	/* an ordinary user */
#define GROUP	1235
#define NOBODY	1300	/* another one */

static const char *device = "u1", *other = "u2", *other_ns = "/run/netns/h2";
static unsigned int gid4 = 1, rounds = 300;
static int dev = -1;

static const __u8 key1[UET_SKEY_BYTES] = { 1, 2, 3, [31] = 0xa5 };

static struct uet_job_attr my_job(__u32 id)
{
	struct uet_job_attr attr = job_attr(id);

	attr.sgid_index = gid4;
	return attr;
}

static void my_open(void)
{
	dev = raw_open(device);
	if (dev < 0)
		die("open %s: %s", device, strerror(errno));
}

/* ------------------------------------------------------------------ */
/* Processes                                                           */

static pid_t child_start(void (*fn)(void))
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (!pid) {
		fn();
		exit(0);
	}
	return pid;
}

static void child_end(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		die("a process ended with %#x", status);
}

/* A process with a context of its own. */
static void child(void (*fn)(void))
{
	child_end(child_start(fn));
}

static void become(uid_t uid, gid_t gid, int groups, const gid_t *group)
{
	if (setgroups(groups, group) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid))
		die("user %u: %s", uid, strerror(errno));
	close(dev);
	my_open();
}

static void enter(const char *netns)
{
	int fd = open(netns, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("%s: %s", netns, strerror(errno));
	close(fd);
}

static void fd_send(int sock, int fd)
{
	char buf[CMSG_SPACE(sizeof(fd))] = {}, byte = 'f';
	struct iovec iov = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = buf,
		.msg_controllen = sizeof(buf),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(sock, &m, 0) != 1)
		die("sendmsg: %s", strerror(errno));
}

static int fd_receive(int sock)
{
	char buf[CMSG_SPACE(sizeof(int))] = {}, byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = buf,
		.msg_controllen = sizeof(buf),
	};
	int fd;

	if (recvmsg(sock, &m, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&m))
		die("no file came: %s", strerror(errno));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

static int sock[2];

static void sock_open(void)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock))
		die("socketpair: %s", strerror(errno));
}

/* The id of a job is free: nobody holds it any more. */
static void id_free(__u32 id)
{
	struct uet_job_attr attr = my_job(id);
	__u32 job;

	want(0, job_alloc(dev, &attr, &job));
	want(0, job_dealloc(dev, job));
}

static void id_taken(__u32 id)
{
	struct uet_job_attr attr = my_job(id);
	__u32 job;

	want(EEXIST, job_alloc(dev, &attr, &job));
}

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

static int the_file;

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

static const struct uet_job_addr one = { .index = 5, .qpn = 0x1234,
	.dgid = { [10] = 0xff, 0xff, 10, 0, 0, 2 } };

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

/* What /proc says of a file. */
static void fdinfo_has(int file, const char *line)
{
	char path[64], text[1000] = {};
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", file);
	f = fopen(path, "r");
	if (!f || !fread(text, 1, sizeof(text) - 1, f))
		die("%s", path);
	fclose(f);
	if (!strstr(text, line))
		die("%s has no line \"%s\":\n%s", path, line, text);
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
/* Ends                                                                */

static void launcher(void)
{
	struct uet_job_attr attr = my_job(29);
	__u32 job;
	int file;

	my_open();
	want(0, job_alloc(dev, &attr, &job));
	want(0, job_export(dev, job, UET_RIGHT_USE | UET_RIGHT_ADDR, &file));
	fd_send(sock[1], file);
}

static void test_exit(void)
{
	struct uet_job_attr attr;
	__u32 job, copy, pd, jkey, value;
	int file;

	sock_open();
	child(launcher);			/* is gone, the file is on its way */
	id_taken(29);
	file = fd_receive(sock[0]);
	want(0, job_import(dev, file, &job, &attr));
	want(0, addr_insert(dev, job, &one, sizeof(one)));
	want(0, job_import(dev, file, &copy, &attr));
	expect(attr.num_addr, 1);
	close(file);
	want(0, job_dealloc(dev, job));		/* one handle is left */
	id_taken(29);
	want(0, raw_pd(dev, &pd));
	want(0, jkey_create(dev, pd, copy, &jkey, &value));
	want(EPERM, job_export(dev, copy, 0, &file));
	close(dev);				/* all of it at once */
	my_open();
	id_free(29);

	/* A file alone, and a file in a socket that is closed */
	child(launcher);
	file = fd_receive(sock[0]);
	want(0, job_import(dev, file, &job, &attr));
	want(0, job_dealloc(dev, job));
	id_taken(29);
	want(0, job_import(dev, file, &job, &attr));
	want(0, job_dealloc(dev, job));
	close(file);
	id_free(29);
	child(launcher);
	close(sock[0]);
	close(sock[1]);
	id_free(29);
}

/* What the workers of test_kill() have done, each its own. */
static volatile unsigned int *progress;
static unsigned int worker_nr;

static void busy_worker(void)
{
	struct uet_job_addr addr = one;
	struct uet_job_attr attr;
	__u32 job, pd, jkey, value, mr;
	static __u8 mem[8192];
	int file;

	my_open();
	addr.index = worker_nr;
	for (;;) {
		want(0, job_import(dev, the_file, &job, &attr));
		want(0, raw_pd(dev, &pd));
		want(0, jkey_create(dev, pd, job, &jkey, &value));
		want(0, raw_mr(dev, pd, mem, sizeof(mem), value, &mr));
		want(0, addr_insert(dev, job, &addr, sizeof(addr)));
		want(0, job_export(dev, job, UET_RIGHT_USE, &file));
		progress[worker_nr]++;
		want(0, raw_mr_free(dev, mr));
		want(0, jkey_destroy(dev, jkey));
		want(0, addr_remove(dev, job, worker_nr, 1));
		want(0, job_dealloc(dev, job));
		want(0, raw_pd_free(dev, pd));
		close(file);
	}
}

static void wait_progress(unsigned int nr, unsigned int steps)
{
	unsigned int from = progress[nr];
	struct timespec pause = { .tv_nsec = 20000 };
	unsigned int left = 1000000;

	while (progress[nr] - from < steps && left--)
		nanosleep(&pause, NULL);
	if (progress[nr] - from < steps)
		die("worker %u stands still", nr);
}

static void test_kill(void)
{
	struct uet_job_attr attr = my_job(30);
	pid_t pid[3] = {};
	unsigned int i, who;
	__u32 job;
	int status;

	progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	want(0, job_alloc(dev, &attr, &job));
	want(0, job_export(dev, job, UET_RIGHT_USE | UET_RIGHT_ADDR |
			   UET_RIGHT_EXPORT, &the_file));
	want(0, job_dealloc(dev, job));	/* the launcher lets go first */
	srandom(1);
	for (i = 0; i < rounds; i++) {
		for (who = 0; who < 3; who++)
			if (!pid[who]) {
				worker_nr = who;
				pid[who] = child_start(busy_worker);
			}
		who = random() % 3;
		wait_progress(who, 1 + random() % 3);
		kill(pid[who], SIGKILL);
		if (waitpid(pid[who], &status, 0) != pid[who] ||
		    !WIFSIGNALED(status))
			die("worker %u ended with %#x by itself", who, status);
		pid[who] = 0;
	}
	for (who = 0; who < 3; who++)
		if (pid[who]) {
			wait_progress(who, 2);	/* the others went on */
			kill(pid[who], SIGKILL);
			waitpid(pid[who], &status, 0);
		}
	id_taken(30);
	close(the_file);
	id_free(30);
}

/* ------------------------------------------------------------------ */

static void command(int code, const char *format, const char *arg)
{
	char line[200];
	int status;

	snprintf(line, sizeof(line), format, arg);
	status = system(line);
	if (!WIFEXITED(status) || !!WEXITSTATUS(status) != code)
		die("%s: ended with %#x", line, status);
}

/* The administrator ends a job under its holders. */
static void test_force(void)
{
	struct uet_job_attr attr = my_job(32), got;
	__u32 job, copy, pd, pd2, jkey, jkey2, value, value2, mr;
	static __u8 mem[8192];
	int file, file2;

	attr.uid = 0;
	want(0, job_alloc(dev, &attr, &job));
	want(0, job_export(dev, job, UET_RIGHT_USE, &file));
	want(0, raw_pd(dev, &pd));
	want(0, raw_pd(dev, &pd2));
	want(0, jkey_create(dev, pd, job, &jkey, &value));
	want(0, addr_insert(dev, job, &one, sizeof(one)));
	command(1, "uet job del dev %s id 32", device);	/* made by a process */
	command(0, "uet job del dev %s id 32 force", device);

	want(0, job_query(dev, job, &got));
	expect(got.flags, UET_JOB_DEAD);
	want(EIO, job_import(dev, file, &copy, &got));
	want(EIO, job_open(dev, 32, &copy));
	want(EIO, job_export(dev, job, UET_RIGHT_USE, &file2));
	want(EIO, jkey_create(dev, pd2, job, &jkey2, &value2));
	want(EIO, addr_insert(dev, job, &one, sizeof(one)));
	want(EINVAL, raw_mr(dev, pd, mem, sizeof(mem), value, &mr));
	id_taken(32);
	want(0, jkey_destroy(dev, jkey));
	want(0, job_dealloc(dev, job));
	id_taken(32);				/* by the file */
	close(file);
	id_free(32);

	/* One made by the administrator stays, and is his to end */
	command(0, "uet job add dev %s id 33 uid 0", device);
	want(0, job_open(dev, 33, &job));
	want(0, job_query(dev, job, &got));
	expect(got.flags, UET_JOB_PERSISTENT);
	command(1, "uet job del dev %s id 33", device);	/* held */
	want(0, job_dealloc(dev, job));
	id_taken(33);
	command(0, "uet job del dev %s id 33", device);
	id_free(33);
}

/* ------------------------------------------------------------------ */
/* The device goes                                                     */

/* Has everything, and sees it go. */
static void bereft(void)
{
	struct uet_job_attr attr;
	__u32 job, pd, jkey, value;
	char byte = 0;

	my_open();
	want(0, job_import(dev, the_file, &job, &attr));
	want(0, raw_pd(dev, &pd));
	want(0, jkey_create(dev, pd, job, &jkey, &value));
	if (write(sock[1], &byte, 1) != 1 || read(sock[1], &byte, 1) != 1)
		die("socket");
	want(EIO, job_query(dev, job, &attr));
	want(EIO, job_import(dev, the_file, &job, &attr));
}

static void ready_again(void)
{
	struct uet_job_attr attr = my_job(34);
	struct timespec pause = { .tv_nsec = 20000000 };
	unsigned int left = 1000;
	int err = EIO;
	__u32 job = 0;

	while (err && left--) {
		dev = raw_open(device);
		err = dev < 0 ? errno : job_alloc(dev, &attr, &job);
		if (dev >= 0 && err)
			close(dev);
		if (err)
			nanosleep(&pause, NULL);
	}
	want(0, err);
	want(0, job_dealloc(dev, job));
}

static void test_gone(void)
{
	struct uet_job_attr attr = my_job(34), got;
	struct uet_skey_attr sa = skey_attr(34), sgot;
	__u32 job, skey, pd, jkey, value, h;
	pid_t pid[2];
	int skey_file, i;
	char byte;

	want(0, skey_alloc(dev, &sa, key1, 32, &skey, &sgot));
	want(0, job_alloc_with(dev, &attr, &skey, &job));
	want(0, job_export(dev, job, UET_RIGHT_USE, &the_file));
	want(0, skey_export(dev, skey, UET_RIGHT_USE, &skey_file));
	want(0, addr_insert(dev, job, &one, sizeof(one)));
	want(0, raw_pd(dev, &pd));
	want(0, jkey_create(dev, pd, job, &jkey, &value));
	sock_open();
	for (i = 0; i < 2; i++) {
		pid[i] = child_start(bereft);
		if (read(sock[0], &byte, 1) != 1)
			die("socket");
	}
	command(0, "rdma link del %s", device);
	for (i = 0; i < 2; i++)
		if (write(sock[0], &byte, 1) != 1)
			die("socket");
	for (i = 0; i < 2; i++)
		child_end(pid[i]);
	want(EIO, job_query(dev, job, &got));
	want(EIO, jkey_destroy(dev, jkey));
	fdinfo_has(the_file, "uet-job:\t34\n");
	close(dev);

	/* Another device of the same name is another device */
	command(0, "rdma link add %s type uet netdev v1", device);
	ready_again();
	want(EIO, job_import(dev, the_file, &h, &got));
	want(EIO, skey_import(dev, skey_file, &h, &sgot));
	close(the_file);
	close(skey_file);
	id_free(34);
}

/* ------------------------------------------------------------------ */
/* Every allocation fails once                                         */

static void fail_nth(int fd, unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(fd, text, len, 0) != len)
		die("fail-nth: %s", strerror(errno));
}

/* Did allocation n come, and fail? */
static bool fail_done(int fd)
{
	char text[16] = {};

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
		die("fail-nth");
	fail_nth(fd, 0);
	return atoi(text) == 0;
}

static __u32 nm_job, nm_pd, nm_skey;

static int nm_new_job(void)
{
	struct uet_job_attr attr = my_job(36);
	__u32 job;
	int err = job_alloc_with(dev, &attr, &nm_skey, &job);

	return err ?: job_dealloc(dev, job);
}

static int nm_new_skey(void)
{
	struct uet_skey_attr attr = skey_attr(37), got;
	__u32 skey;
	int err = skey_alloc(dev, &attr, key1, 32, &skey, &got);

	return err ?: skey_dealloc(dev, skey);
}

static int nm_export(void)
{
	int file, err = job_export(dev, nm_job, UET_RIGHT_USE, &file);

	if (!err)
		close(file);
	return err;
}

static int nm_import(void)
{
	struct uet_job_attr attr;
	__u32 job;
	int err = job_import(dev, the_file, &job, &attr);

	return err ?: job_dealloc(dev, job);
}

static int nm_jkey(void)
{
	__u32 jkey, value;
	int err = jkey_create(dev, nm_pd, nm_job, &jkey, &value);

	return err ?: jkey_destroy(dev, jkey);
}

static int nm_addr(void)
{
	struct uet_job_addr a[3] = { one, one, one };
	int err;

	a[1].index = 1000;
	a[2].index = 4000;
	err = addr_insert(dev, nm_job, a, sizeof(a));
	return err ?: addr_remove(dev, nm_job, 5, 1) ?:
		      addr_remove(dev, nm_job, 1000, 1) ?:
		      addr_remove(dev, nm_job, 4000, 1);
}

static void no_memory_for(const char *what, int (*fn)(void), int nth)
{
	struct uet_job_attr attr;
	unsigned int n, failed = 0;
	int err;

	for (n = 1;; n++) {
		fail_nth(nth, n);
		err = fn();
		if (!fail_done(nth))
			break;
		if (err && err != ENOMEM && err != EFAULT && err != ENFILE)
			die("%s, allocation %u failed: %s", what, n,
			    strerror(err));
		failed += !!err;
		/* All is as before */
		want(0, job_query(dev, nm_job, &attr));
		expect(attr.num_addr, 0);
		want(0, fn());
	}
	want(0, err);
	if (!failed)
		die("%s never failed", what);
	printf("%s: %u of %u allocations made it fail\n", what, failed, n - 1);
}

static void test_nomem(void)
{
	struct uet_job_attr attr = my_job(35);
	struct uet_skey_attr sa = skey_attr(35), got;
	int nth = open("/proc/thread-self/fail-nth", O_RDWR);

	if (nth < 0) {
		printf("SKIP: no fault injection here\n");
		exit(4);
	}
	want(0, skey_alloc(dev, &sa, key1, 32, &nm_skey, &got));
	want(0, job_alloc(dev, &attr, &nm_job));
	want(0, job_export(dev, nm_job, UET_RIGHT_USE, &the_file));
	want(0, raw_pd(dev, &nm_pd));
	no_memory_for("new job", nm_new_job, nth);
	no_memory_for("new skey", nm_new_skey, nth);
	no_memory_for("export", nm_export, nth);
	no_memory_for("import", nm_import, nth);
	no_memory_for("job key", nm_jkey, nth);
	no_memory_for("peers", nm_addr, nth);
	close(nth);
	close(the_file);
	want(0, job_dealloc(dev, nm_job));
	want(0, skey_dealloc(dev, nm_skey));
}

/* ------------------------------------------------------------------ */

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "rights", test_rights },
	{ "namespace", test_namespace },
	{ "share", test_share },
	{ "foreign", test_foreign },
	{ "exit", test_exit },
	{ "kill", test_kill },
	{ "force", test_force },
	{ "gone", test_gone },
	{ "nomem", test_nomem },
};

static void run(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tests); i++)
		if (!strcmp(tests[i].name, name)) {
			tests[i].run();
			printf("%s: good\n", name);
			return;
		}
	die("no test %s", name);
}

int main(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "d:o:N:4:6:n:")) != -1) {
		switch (opt) {
		case 'd':
			device = optarg;
			break;
		case 'o':
			other = optarg;
			break;
		case 'N':
			other_ns = optarg;
			break;
		case '4':
			gid4 = atoi(optarg);
			break;
		case '6':
			break;	/* of jobs_ioctl */
		case 'n':
			rounds = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	my_open();
	for (; optind < argc; optind++)
		run(argv[optind]);
	close(dev);
	return 0;
}
