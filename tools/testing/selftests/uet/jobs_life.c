// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The end of jobs and keys, by the plain verbs ioctl: of any holder at any time,
 * by force, of the device under all of them, and of memory.
 *
 * jobs_life -d DEVICE -o OTHERDEVICE -N NETNS-OF-OTHER [-4 GIDINDEX]
 *	[-n ROUNDS] TEST...
 *
 * Run as root in the network namespace of DEVICE.
 */
#include "jobs_proc.h"

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
static unsigned int *progress;
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
		__atomic_add_fetch(&progress[worker_nr], 1, __ATOMIC_RELAXED);
		want(0, raw_mr_free(dev, mr));
		want(0, jkey_destroy(dev, jkey));
		want(0, addr_remove(dev, job, worker_nr, 1));
		want(0, job_dealloc(dev, job));
		want(0, raw_pd_free(dev, pd));
		close(file);
	}
}

static unsigned int progress_of(unsigned int nr)
{
	return __atomic_load_n(&progress[nr], __ATOMIC_RELAXED);
}

static void wait_progress(unsigned int nr, unsigned int steps)
{
	struct timespec pause = { .tv_nsec = 20000 };
	unsigned int from = progress_of(nr), left = 1000000;

	while (progress_of(nr) - from < steps && left--)
		nanosleep(&pause, NULL);
	if (progress_of(nr) - from < steps)
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
	want(0, jkey_destroy(dev, jkey));	/* the core lets it go */
	want(0, job_dealloc(dev, job));
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

static int nth = -1;	/* which allocation of ours fails */
static bool nth_came;

static void fail_nth(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	/* The first one may be what fails */
	if (pwrite(nth, text, len, 0) != len &&
	    pwrite(nth, text, len, 0) != len)
		die("fail-nth: %s", strerror(errno));
}

/* The end of what may fail; did allocation n come? */
static int fail_end(int err)
{
	char text[16] = {};

	/* If it is this that fails, it was not the call */
	nth_came = pread(nth, text, sizeof(text) - 1, 0) > 0 && !atoi(text);
	fail_nth(0);
	return err;
}

static __u32 nm_job, nm_pd, nm_skey;

static int nm_new_job(void)
{
	struct uet_job_attr attr = my_job(36);
	__u32 job;
	int err = fail_end(job_alloc_with(dev, &attr, &nm_skey, &job));

	return err ?: job_dealloc(dev, job);
}

static int nm_new_skey(void)
{
	struct uet_skey_attr attr = skey_attr(37), got;
	__u32 skey;
	int err = fail_end(skey_alloc(dev, &attr, key1, 32, &skey, &got));

	return err ?: skey_dealloc(dev, skey);
}

static int nm_export(void)
{
	int file;
	int err = fail_end(job_export(dev, nm_job, UET_RIGHT_USE, &file));

	if (!err)
		close(file);
	return err;
}

static int nm_import(void)
{
	struct uet_job_attr attr;
	__u32 job;
	int err = fail_end(job_import(dev, the_file, &job, &attr));

	return err ?: job_dealloc(dev, job);
}

static int nm_jkey(void)
{
	__u32 jkey, value;
	int err = fail_end(jkey_create(dev, nm_pd, nm_job, &jkey, &value));

	return err ?: jkey_destroy(dev, jkey);
}

static int nm_addr(void)
{
	struct uet_job_addr a[3] = { one, one, one };
	int err;

	a[1].index = 1000;
	a[2].index = 4000;
	err = fail_end(addr_insert(dev, nm_job, a, sizeof(a)));
	return err ?: addr_remove(dev, nm_job, 5, 1) ?:
		      addr_remove(dev, nm_job, 1000, 1) ?:
		      addr_remove(dev, nm_job, 4000, 1);
}

static void no_memory_for(const char *what, int (*fn)(void))
{
	struct uet_job_attr attr;
	unsigned int n, failed = 0;
	int err;

	for (n = 1;; n++) {
		fail_nth(n);
		err = fn();
		if (!nth_came)
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

	nth = open("/proc/thread-self/fail-nth", O_RDWR);
	if (nth < 0) {
		printf("SKIP: no fault injection here\n");
		exit(4);
	}
	want(0, skey_alloc(dev, &sa, key1, 32, &nm_skey, &got));
	want(0, job_alloc(dev, &attr, &nm_job));
	want(0, job_export(dev, nm_job, UET_RIGHT_USE, &the_file));
	want(0, raw_pd(dev, &nm_pd));
	no_memory_for("new job", nm_new_job);
	no_memory_for("new skey", nm_new_skey);
	no_memory_for("export", nm_export);
	no_memory_for("import", nm_import);
	no_memory_for("job key", nm_jkey);
	no_memory_for("peers", nm_addr);
	close(nth);
	close(the_file);
	want(0, job_dealloc(dev, nm_job));
	want(0, skey_dealloc(dev, nm_skey));
}

/* ------------------------------------------------------------------ */

static const struct test tests[] = {
	{ "exit", test_exit },
	{ "kill", test_kill },
	{ "force", test_force },
	{ "gone", test_gone },
	{ "nomem", test_nomem },
	{}
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
