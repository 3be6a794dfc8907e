/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A program of tests between two devices:
 *
 *	PROGRAM -a DEV -A ADDR -b DEV -B ADDR [-w SECONDS] [-n N] [-S SEED] TEST...
 */
#ifndef UET_PAIR_TEST_H
#define UET_PAIR_TEST_H

#include "lib.h"

extern struct side A, B;
extern const char *dev_a, *addr_a, *dev_b, *addr_b;
extern unsigned int rounds;	/* -n; 200 */

struct entry {
	const char *name;
	void (*fn)(void);
};

/**
 * struct pair_more - options that only one program has
 * @options: as getopt() takes them
 * @option: is given each of them, with optarg
 * @usage: lines that say what they are
 */
struct pair_more {
	const char *options;
	void (*option)(int opt);
	const char *usage;
};

/*
 * Returns the names behind the options, of which NULL is the last. There is one
 * and all of them are in @entries, a list that ends with one that has no name;
 * without a list there may be any.
 */
char **pair_options(int argc, char **argv, const struct entry *entries,
		    const struct pair_more *more);

/* Seed the random numbers, by -S or the time, and say so. */
__u64 pair_seed(void);
void pair_run(const char *name, const struct entry *entries);

/* A whole program, whose sides have @mem bytes. */
int pair_main(int argc, char **argv, const struct entry *entries, size_t mem);
int pair_main_more(int argc, char **argv, const struct entry *entries,
		   size_t mem, const struct pair_more *more);

#endif /* UET_PAIR_TEST_H */
