/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What tests of jobs between processes share: users, namespaces, and files sent
 * from one to the other.
 */
#ifndef UET_TEST_JOBS_PROC_H
#define UET_TEST_JOBS_PROC_H

#include "jobs.h"

#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

static int the_file;	/* the one that children import */

static const struct uet_job_addr one = { .index = 5, .qpn = 0x1234,
	.dgid = { [10] = 0xff, 0xff, 10, 0, 0, 2 } };

/* ------------------------------------------------------------------ */
/* Processes                                                           */

static inline pid_t child_start(void (*fn)(void))
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

static inline void child_end(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		die("a process ended with %#x", status);
}

/* A process with a context of its own. */
static inline void child(void (*fn)(void))
{
	child_end(child_start(fn));
}

static inline void become(uid_t uid, gid_t gid, int groups, const gid_t *group)
{
	if (setgroups(groups, group) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid))
		die("user %u: %s", uid, strerror(errno));
	close(dev);
	my_open();
}

static inline void enter(const char *netns)
{
	int fd = open(netns, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("%s: %s", netns, strerror(errno));
	close(fd);
}

static inline void fd_send(int sock, int fd)
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

static inline int fd_receive(int sock)
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

static inline void sock_open(void)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock))
		die("socketpair: %s", strerror(errno));
}

/* The id of a job is free: nobody holds it any more. */
static inline void id_free(__u32 id)
{
	struct uet_job_attr attr = my_job(id);
	__u32 job;

	want(0, job_alloc(dev, &attr, &job));
	want(0, job_dealloc(dev, job));
}

static inline void id_taken(__u32 id)
{
	struct uet_job_attr attr = my_job(id);
	__u32 job;

	want(EEXIST, job_alloc(dev, &attr, &job));
}

/* What /proc says of a file. */
static inline void fdinfo_has(int file, const char *line)
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

#endif /* UET_TEST_JOBS_PROC_H */
