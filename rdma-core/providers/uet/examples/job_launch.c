// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * uet_job_launch: start the processes of a job on this host and hand them the
 * job and their ranks. The peer table is filled before they start: rank r is
 * process r % PROCESSES of host r / PROCESSES, and its wire pair follows from
 * that, so nothing has to be exchanged between hosts.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/uetdv.h>
#include <infiniband/verbs.h>

#define RI		1
#define RI_SHIFT	12
#define MAX_PROCESSES	4096	/* PIDonFEP has 12 bits */
#define MAX_HOSTS	4096

static const char *device;
static int gid_index = -1;
static uint32_t job_id, processes = 1, hosts, me;
static bool open_only, keep_table, have_me;
static union ibv_gid *host_gid;

static struct ibv_context *ctx;
static struct uetdv_job *job;
static pid_t *pids;

__attribute__((noreturn, format(printf, 1, 2)))
static void die(const char *format, ...)
{
	int err = errno;
	va_list args;

	fputs("uet_job_launch: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, err ? ": %s\n" : "\n", strerror(err));
	exit(1);
}

/* ------------------------------------------------------------------ */
/* Device and addresses                                                */

static bool try_device(struct ibv_device *dev)
{
	struct uetdv_device_attr attr;

	if (device && strcmp(ibv_get_device_name(dev), device))
		return false;
	ctx = ibv_open_device(dev);
	if (!ctx)
		die("opening %s", ibv_get_device_name(dev));
	errno = uetdv_query_device(ctx, &attr, sizeof(attr));
	if (!errno && attr.device_caps & UETDV_DEVICE_CAP_JOB)
		return true;
	ibv_close_device(ctx);
	ctx = NULL;
	return false;
}

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	if (!list)
		die("no list of devices");
	for (i = 0; list[i] && !ctx; i++)
		try_device(list[i]);
	errno = 0;
	if (!ctx)
		die("no uet device with jobs%s%s", device ? " named " : "",
		    device ? device : "");
	device = strdup(ibv_get_device_name(ctx->device));
	ibv_free_device_list(list);
}

/* The first IPv4 address, or the first that is not of the link only. */
static int pick_gid(void)
{
	struct ibv_gid_entry entry;
	const struct in6_addr *addr = (struct in6_addr *)entry.gid.raw;
	int i, other = -1;

	for (i = 0; i < 256; i++) {
		if (ibv_query_gid_ex(ctx, 1, i, &entry, 0))
			continue;
		if (IN6_IS_ADDR_V4MAPPED(addr))
			return i;
		if (!IN6_IS_ADDR_LINKLOCAL(addr) && other < 0)
			other = i;
	}
	errno = 0;
	if (other < 0)
		die("%s has no address", device);
	return other;
}

static void parse_address(const char *text, union ibv_gid *gid)
{
	struct in_addr v4;

	memset(gid, 0, sizeof(*gid));
	if (inet_pton(AF_INET6, text, gid->raw) == 1)
		return;
	errno = 0;
	if (inet_pton(AF_INET, text, &v4) != 1)
		die("'%s' is no IP address", text);
	gid->raw[10] = 0xff;
	gid->raw[11] = 0xff;
	memcpy(&gid->raw[12], &v4, sizeof(v4));
}

/* Which of the hosts this one is, by its address unless -i said so. */
static void find_myself(void)
{
	union ibv_gid own;

	if (gid_index < 0)
		gid_index = pick_gid();
	if (ibv_query_gid(ctx, 1, gid_index, &own))
		die("GID %d", gid_index);
	if (!hosts)
		host_gid[hosts++] = own;
	for (; !have_me && me < hosts; me++)
		if (!memcmp(&host_gid[me], &own, sizeof(own)))
			break;
	errno = 0;
	if (me >= hosts)
		die("none of the addresses is that of this host (-i says which)");
}

/* ------------------------------------------------------------------ */
/* The job                                                             */

static void get_job(void)
{
	struct uetdv_job_attr attr = {
		.comp_mask = UETDV_JOB_ATTR_ID | UETDV_JOB_ATTR_PORT_NUM |
			     UETDV_JOB_ATTR_MAX_ADDR_ENTRIES |
			     UETDV_JOB_ATTR_SGID_INDEX,
		.id = job_id,
		.port_num = 1,
		.max_addr_entries = hosts * processes,
		.sgid_index = gid_index,
	};

	job = open_only ? uetdv_open_job(ctx, job_id, NULL) :
			  uetdv_alloc_job(ctx, &attr, NULL);
	if (!job)
		die("%s job %u on %s", open_only ? "opening" : "creating",
		    job_id, device);
}

/* A job that somebody else made has the room it was given. */
static void check_room(uint32_t ranks)
{
	struct uetdv_job_attr attr;

	errno = uetdv_query_job(job, &attr);
	if (errno)
		die("asking about job %u", job_id);
	if (attr.max_addr_entries < ranks) {
		errno = EINVAL;
		die("job %u has room for %u peers, these are %u", job_id,
		    attr.max_addr_entries, ranks);
	}
}

static void fill_table(void)
{
	uint32_t rank, ranks = hosts * processes;
	struct uetdv_ah_attr_ex *attr;

	check_room(ranks);
	attr = calloc(ranks, sizeof(*attr));
	if (!attr)
		die("memory");
	for (rank = 0; rank < ranks; rank++) {
		attr[rank].ah_attr.is_global = 1;
		attr[rank].ah_attr.port_num = 1;
		attr[rank].ah_attr.grh.sgid_index = gid_index;
		attr[rank].ah_attr.grh.dgid = host_gid[rank / processes];
		attr[rank].remote_qpn = RI << RI_SHIFT | rank % processes;
	}
	errno = uetdv_insert_addrs(job, attr, 0, ranks, 0);
	if (errno)
		die("filling the peer table");
	free(attr);
}

/* Workers may use the job and nothing more. */
static int export_job(void)
{
	int fd;

	errno = uetdv_export_job(job, UETDV_RIGHT_USE, &fd);
	if (errno)
		die("exporting the job");
	if (fcntl(fd, F_SETFD, 0))
		die("exporting the job");
	return fd;
}

/* ------------------------------------------------------------------ */
/* Processes                                                           */

static void set_number(const char *name, uint32_t value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	if (setenv(name, text, 1))
		die("environment");
}

static void start_all(char **argv, int fd)
{
	uint32_t i;

	set_number("UET_JOB_FD", fd);
	set_number("UET_SIZE", hosts * processes);
	set_number("UET_GID_INDEX", gid_index);
	if (setenv("UET_DEVICE", device, 1))
		die("environment");
	for (i = 0; i < processes; i++) {
		set_number("UET_RANK", me * processes + i);
		set_number("UET_LOCAL_RANK", i);
		pids[i] = fork();
		if (pids[i] < 0)
			die("fork");
		if (!pids[i]) {
			execvp(argv[0], argv);
			die("%s", argv[0]);
		}
	}
}

static uint32_t rank_of(pid_t pid)
{
	uint32_t i;

	for (i = 0; i < processes; i++)
		if (pids[i] == pid)
			return me * processes + i;
	return UINT32_MAX;
}

/* What becomes of each; one that fails does not stop the others. */
static int wait_for_all(void)
{
	uint32_t left = processes;
	int status, failed = 0;
	pid_t pid;

	while (left) {
		pid = wait(&status);
		if (pid < 0)
			die("wait");
		left--;
		if (WIFEXITED(status) && !WEXITSTATUS(status))
			continue;
		failed = 1;
		if (WIFSIGNALED(status))
			fprintf(stderr, "uet_job_launch: rank %u: signal %d\n",
				rank_of(pid), WTERMSIG(status));
		else
			fprintf(stderr, "uet_job_launch: rank %u: exit code %d\n",
				rank_of(pid), WEXITSTATUS(status));
	}
	return failed;
}

/* ------------------------------------------------------------------ */

static void usage(FILE *to)
{
	fprintf(to, "usage: uet_job_launch -j ID [OPTION...] COMMAND [ARGUMENT...]\n"
		"  -j ID      JobID, the same on all hosts\n"
		"  -n NUMBER  processes on each host (1)\n"
		"  -a ADDR    address of a host; once for each, in the same order everywhere\n"
		"  -i INDEX   which of them this host is, from 0 (by its address)\n"
		"  -d DEV     RDMA device (the first uet device)\n"
		"  -g INDEX   GID index (the first with an IPv4 address)\n"
		"  -o         the job is there already; open it as its owner\n"
		"  -t         its peer table is there already\n");
	exit(to == stdout ? 0 : 2);
}

static uint32_t number(const char *text, uint32_t most)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 0);
	if (errno || *end || end == text || *text == '-' || n > most)
		usage(stderr);
	return n;
}

static void set_option(int c)
{
	switch (c) {
	case 'j':
		job_id = number(optarg, 0xffffff);
		break;
	case 'n':
		processes = number(optarg, MAX_PROCESSES);
		break;
	case 'a':
		if (hosts == MAX_HOSTS)
			usage(stderr);
		parse_address(optarg, &host_gid[hosts++]);
		break;
	case 'i':
		me = number(optarg, MAX_HOSTS - 1);
		have_me = true;
		break;
	case 'd':
		device = optarg;
		break;
	case 'g':
		gid_index = number(optarg, 255);
		break;
	case 'o':
		open_only = true;
		break;
	case 't':
		keep_table = true;
		break;
	default:
		usage(c == 'h' ? stdout : stderr);
	}
}

int main(int argc, char **argv)
{
	int c, fd, failed;

	host_gid = calloc(MAX_HOSTS, sizeof(*host_gid));
	if (!host_gid)
		die("memory");
	/* options of the command are its own */
	while ((c = getopt(argc, argv, "+j:n:a:i:d:g:oth")) != -1)
		set_option(c);
	if (!job_id || !processes || optind == argc)
		usage(stderr);
	pids = calloc(processes, sizeof(*pids));
	if (!pids)
		die("memory");

	open_device();
	find_myself();
	get_job();
	if (!keep_table)
		fill_table();
	fd = export_job();
	start_all(&argv[optind], fd);
	close(fd);

	failed = wait_for_all();
	errno = uetdv_dealloc_job(job);
	if (errno)
		die("letting go of the job");
	ibv_close_device(ctx);
	return failed;
}
