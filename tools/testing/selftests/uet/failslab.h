/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What the parts of failslab share */
#ifndef UET_TEST_FAILSLAB_H
#define UET_TEST_FAILSLAB_H

#include <libmnl/libmnl.h>

#include <infiniband/uetdv.h>

#include "pair_test.h"

#define MEM	(1024u * 1024)

/*
 * A verb: returns true if it succeeded, else errno says why. @before makes what it
 * needs, each time, and @after gives that back. @undo gives back what the verb made.
 * @look comes right after the verb, with its outcome.
 */
struct verb {
	const char *name;
	bool (*call)(void);
	void (*undo)(void);
	void (*before)(void);
	void (*after)(void);
	void (*look)(bool ok);
	int err;		/* that it may give besides */
	bool slow;		/* not tried again after each fault */
};

extern void *pages;	/* MEM bytes that no side uses */

/* Jobs, security keys, and what is for jobs; the last one has no name */
extern const struct verb job_verbs[];

#endif /* UET_TEST_FAILSLAB_H */
