/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A program of tests of jobs by the plain verbs ioctl:
 *
 *	PROGRAM -d DEVICE [-o OTHERDEVICE] [-N NETNS-OF-OTHER] [-4 GIDINDEX]
 *		[-6 GIDINDEX] [-n ROUNDS] TEST...
 */
#ifndef UET_TEST_JOBS_H
#define UET_TEST_JOBS_H

#include "rawverbs.h"

static const char *device = "u1", *other = "u2", *other_ns = "/run/netns/h2";
static unsigned int gid4 = 1, gid6 = 2, rounds = 300;
static int dev = -1;

static const __u8 key1[UET_SKEY_BYTES] = { 1, 2, 3, [31] = 0xa5 };

static inline struct uet_job_attr my_job(__u32 id)
{
	struct uet_job_attr attr = job_attr(id);

	attr.sgid_index = gid4;
	return attr;
}

static inline void my_open(void)
{
	dev = raw_open(device);
	if (dev < 0)
		die("open %s: %s", device, strerror(errno));
}

struct test {
	const char *name;
	void (*run)(void);
};

static inline void test_run(const struct test *tests, const char *name)
{
	for (; tests->name; tests++)
		if (!strcmp(tests->name, name)) {
			tests->run();
			printf("%s: good\n", name);
			return;
		}
	die("no test %s", name);
}

static inline int test_main(const struct test *tests, int argc, char **argv)
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
			gid6 = atoi(optarg);
			break;
		case 'n':
			rounds = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	my_open();
	for (; optind < argc; optind++)
		test_run(tests, argv[optind]);
	close(dev);
	return 0;
}

#endif /* UET_TEST_JOBS_H */
