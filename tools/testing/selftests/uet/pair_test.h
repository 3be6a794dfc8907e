/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A program of tests between two devices:
 *
 *	PROGRAM -a DEV -A ADDR -b DEV -B ADDR [-w SECONDS] [-n ROUNDS] TEST...
 *
 * A list of tests ends with one that has no name.
 */
#ifndef UET_PAIR_TEST_H
#define UET_PAIR_TEST_H

#include "lib.h"

static const char *dev_a = "u1", *addr_a = "10.0.0.1";
static const char *dev_b = "u2", *addr_b = "10.0.0.2";
static unsigned int rounds = 200;

struct entry {
	const char *name;
	void (*fn)(void);
};

static inline void pair_usage(const char *program)
{
	fprintf(stderr, "usage: %s -a DEV -A ADDR -b DEV -B ADDR [-w SECONDS] [-n N] TEST...\n",
		program);
	exit(2);
}

static inline bool pair_option(int opt)
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
	default:
		return false;
	}
}

static inline const struct entry *pair_find(const struct entry *entries,
					    const char *name)
{
	while (entries->name && strcmp(entries->name, name))
		entries++;
	return entries->name ? entries : NULL;
}

/* Returns the index of the first test in @argv; all of them are in @entries. */
static inline int pair_options(int argc, char **argv,
			       const struct entry *entries)
{
	int opt, i;

	while ((opt = getopt(argc, argv, "a:A:b:B:w:n:")) != -1)
		if (!pair_option(opt))
			pair_usage(argv[0]);
	if (optind == argc)
		pair_usage(argv[0]);
	for (i = optind; i < argc; i++)
		if (!pair_find(entries, argv[i]))
			pair_usage(argv[0]);
	return optind;
}

static inline void pair_run(char **names, const struct entry *entries)
{
	for (; *names; names++) {
		doing = *names;
		errno = 0;
		pair_find(entries, *names)->fn();
	}
}

#endif /* UET_PAIR_TEST_H */
