// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* uet: show and set what belongs to Ultra Ethernet Transport devices. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "uet.h"

#define NETNS_DIR	"/run/netns"

struct options opt;
static const char *batch_file;

static void usage(FILE *to)
{
	fputs("Usage: uet [ OPTIONS ] OBJECT { COMMAND | help }\n"
	      "       uet [ OPTIONS ] -b[atch] FILE\n"
	      "where  OBJECT := { dev | job | skey | pdc | stat | monitor }\n"
	      "       OPTIONS := { -V[ersion] | -j[son] | -p[retty] | -d[etails] |\n"
	      "                    -s[tatistics] | -n[etns] NETNS | -f[orce] }\n", to);
}

static int print_help(struct args *a)
{
	(void)a;
	usage(stdout);
	return RET_OK;
}

/* Everything after this happens in that namespace; "ip netns" made the name. */
static int enter_netns(const char *name)
{
	char path[sizeof(NETNS_DIR "/") + NAME_MAX];
	int fd, ret = -1;

	if (!*name || *name == '.' || strchr(name, '/') || strlen(name) > NAME_MAX) {
		error("invalid network namespace name \"%s\"", name);
		return RET_USAGE;
	}
	snprintf(path, sizeof(path), NETNS_DIR "/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		ret = setns(fd, CLONE_NEWNET);
		close(fd);
	}
	if (ret < 0) {
		error("cannot enter network namespace \"%s\": %s", name, strerror(errno));
		return RET_USAGE;
	}
	return RET_OK;
}

static const struct option long_options[] = {
	{ "Version",	no_argument,		NULL, 'V' },
	{ "json",	no_argument,		NULL, 'j' },
	{ "pretty",	no_argument,		NULL, 'p' },
	{ "details",	no_argument,		NULL, 'd' },
	{ "statistics",	no_argument,		NULL, 's' },
	{ "netns",	required_argument,	NULL, 'n' },
	{ "batch",	required_argument,	NULL, 'b' },
	{ "force",	no_argument,		NULL, 'f' },
	{ "help",	no_argument,		NULL, 'h' },
	{ NULL,		0,			NULL, 0 },
};

/* Options up to the object. Returns RET_*, or -1 to go on. */
static int read_options(int argc, char **argv)
{
	int c;

	while ((c = getopt_long_only(argc, argv, "+Vjpdsn:b:fh", long_options, NULL)) != -1) {
		switch (c) {
		case 'V':
			puts("uet utility, version " UET_TOOL_VERSION);
			return RET_OK;
		case 'j':
			opt.json = true;
			break;
		case 'p':
			opt.pretty = true;
			break;
		case 'd':
			opt.details = true;
			break;
		case 's':
			opt.stats = true;
			break;
		case 'n':
			if (enter_netns(optarg))
				return RET_USAGE;
			break;
		case 'b':
			batch_file = optarg;
			break;
		case 'f':
			opt.force = true;
			break;
		case 'h':
			return print_help(NULL);
		default:
			usage(stderr);
			return RET_USAGE;
		}
	}
	return -1;
}

static int run(struct args *a)
{
	static const struct cmd objects[] = {
		{ "dev",	dev_cmd },
		{ "pdc",	pdc_cmd },
		{ "job",	job_cmd },
		{ "skey",	skey_cmd },
		{ "stat",	stat_cmd },
		{ "monitor",	monitor_cmd },
		{ "help",	print_help },
	};

	if (!a->n) {
		usage(stderr);
		return RET_USAGE;
	}
	return cmd_run("", objects, ARRAY_SIZE(objects), a);
}

int main(int argc, char **argv)
{
	int ret = read_options(argc, argv);
	int written;

	if (ret < 0) {
		struct args a = { argc - optind, argv + optind };

		if (batch_file)
			ret = arg_end(&a) ?: batch(batch_file, run);
		else
			ret = run(&a);
		nl_end();
	}
	written = out_close();
	return ret ? ret : written;
}
