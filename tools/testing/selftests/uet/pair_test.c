// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Programs of tests between two devices, see pair_test.h */
#include "pair_test.h"

#include <getopt.h>

struct side A, B;
const char *dev_a = "u1", *addr_a = "10.0.0.1";
const char *dev_b = "u2", *addr_b = "10.0.0.2";
unsigned int rounds = 200;
static __u64 seed;

static void say_usage(const char *name, const struct entry *entries,
		      const struct pair_more *more)
{
	fprintf(stderr, "usage: %s [OPTION...]%s\n", name,
		entries ? " TEST..." : "");
	fprintf(stderr, "  -a DEV  -A ADDRESS   one side (u1, 10.0.0.1)\n"
		"  -b DEV  -B ADDRESS   the other (u2, 10.0.0.2)\n"
		"  -w SECONDS           longest wait for a completion (20)\n"
		"  -n N                 rounds\n"
		"  -S SEED\n%s", more ? more->usage : "");
	for (; entries && entries->name; entries++)
		fprintf(stderr, "%s\n", entries->name);
	exit(2);
}

static bool common_option(int opt)
{
	switch (opt) {
	case 'a':
		dev_a = optarg;
		return true;
	case 'A':
		addr_a = optarg;
		return true;
	case 'b':
		dev_b = optarg;
		return true;
	case 'B':
		addr_b = optarg;
		return true;
	case 'w':
		wait_s = strtoul(optarg, NULL, 0);
		return true;
	case 'n':
		rounds = strtoul(optarg, NULL, 0);
		return true;
	case 'S':
		seed = strtoull(optarg, NULL, 0);
		return true;
	default:
		return false;
	}
}

static const struct entry *find(const struct entry *entries, const char *name)
{
	while (entries->name && strcmp(entries->name, name))
		entries++;
	return entries->name ? entries : NULL;
}

char **pair_options(int argc, char **argv, const struct entry *entries,
		    const struct pair_more *more)
{
	char options[64];
	int opt, i;

	snprintf(options, sizeof(options), "a:A:b:B:w:n:S:%s",
		 more ? more->options : "");
	while ((opt = getopt(argc, argv, options)) != -1) {
		if (common_option(opt))
			continue;
		if (!more || opt == '?')
			say_usage(argv[0], entries, more);
		more->option(opt);
	}
	if (entries && optind == argc)
		say_usage(argv[0], entries, more);
	for (i = optind; entries && i < argc; i++)
		if (!find(entries, argv[i]))
			say_usage(argv[0], entries, more);
	return argv + optind;
}

__u64 pair_seed(void)
{
	if (!seed)
		seed = now_ns() ^ getpid();
	rnd_state = seed;
	printf("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	return seed;
}

void pair_run(const char *name, const struct entry *entries)
{
	doing = name;
	errno = 0;
	find(entries, name)->fn();
}

int pair_main_more(int argc, char **argv, const struct entry *entries,
		   size_t mem, const struct pair_more *more)
{
	char **names = pair_options(argc, argv, entries, more);

	side_open(&A, dev_a, addr_a, mem, 256);
	side_open(&B, dev_b, addr_b, mem, 256);
	for (; *names; names++)
		pair_run(*names, entries);
	side_close(&A);
	side_close(&B);
	return 0;
}

int pair_main(int argc, char **argv, const struct entry *entries, size_t mem)
{
	return pair_main_more(argc, argv, entries, mem, NULL);
}
