// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * KUnit suite uet_eptab: endpoints of many jobs under the same wire pairs are
 * found as what they are, and as nothing else.
 */
#include <kunit/test.h>
#include <linux/rcupdate.h>

#include "ep.h"
#include "eptab.h"

#define UET_TEST_JOBS	64
#define UET_TEST_PAIRS	64

struct uet_eptab_test {
	struct uet_eptab tab;
	struct uet_ep ep[UET_TEST_JOBS][UET_TEST_PAIRS];
	bool in[UET_TEST_JOBS][UET_TEST_PAIRS];
};

/* Job 0 is absolute addressing; the others begin and end at the limits. */
static u32 uet_test_job(unsigned int i)
{
	if (i < UET_TEST_JOBS / 2)
		return i;
	return 0xffffff - (UET_TEST_JOBS - 1 - i);
}

static u32 uet_test_pair(unsigned int i)
{
	if (i < UET_TEST_PAIRS / 2)
		return i;
	return 0xffffff - (UET_TEST_PAIRS - 1 - i);
}

static int uet_eptab_test_init(struct kunit *test)
{
	struct uet_eptab_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	unsigned int i, j;

	if (!t)
		return -ENOMEM;
	for (i = 0; i < UET_TEST_JOBS; i++)
		for (j = 0; j < UET_TEST_PAIRS; j++)
			t->ep[i][j].key = uet_ep_key(uet_test_job(i),
						     uet_test_pair(j));
	test->priv = t;
	return uet_eptab_init(&t->tab);
}

static void uet_eptab_test_exit(struct kunit *test)
{
	struct uet_eptab_test *t = test->priv;

	if (t)
		uet_eptab_exit(&t->tab);
}

/* Is what is found what was put in? */
static void uet_eptab_compare(struct kunit *test)
{
	struct uet_eptab_test *t = test->priv;
	unsigned int i, j, wrong = 0;
	struct uet_ep *ep;

	rcu_read_lock();
	for (i = 0; i < UET_TEST_JOBS; i++)
		for (j = 0; j < UET_TEST_PAIRS; j++) {
			ep = uet_eptab_find(&t->tab, uet_test_job(i),
					    uet_test_pair(j));
			wrong += ep != (t->in[i][j] ? &t->ep[i][j] : NULL);
		}
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static void uet_eptab_put(struct kunit *test, unsigned int i, unsigned int j)
{
	struct uet_eptab_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, uet_eptab_insert(&t->tab, &t->ep[i][j]), 0);
	t->in[i][j] = true;
}

static void uet_eptab_take(struct kunit *test, unsigned int i, unsigned int j)
{
	struct uet_eptab_test *t = test->priv;

	uet_eptab_remove(&t->tab, &t->ep[i][j]);
	t->in[i][j] = false;
}

static void uet_eptab_key(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, uet_ep_key(0, 0), 0ULL);
	KUNIT_EXPECT_EQ(test, uet_ep_key(0, 0xffffff), 0xffffffULL);
	KUNIT_EXPECT_EQ(test, uet_ep_key(1, 0), 0x1000000ULL);
	KUNIT_EXPECT_EQ(test, uet_ep_key(0xabcdef, 0x123456),
			0xabcdef123456ULL);
}

/* One wire pair in three worlds: each goes without the others. */
static void uet_eptab_apart(struct kunit *test)
{
	static const unsigned int jobs[] = { 0, 1, UET_TEST_JOBS - 1 };
	unsigned int i;

	uet_eptab_compare(test);
	for (i = 0; i < ARRAY_SIZE(jobs); i++) {
		uet_eptab_put(test, jobs[i], 7);
		uet_eptab_compare(test);
	}
	for (i = 0; i < ARRAY_SIZE(jobs); i++) {
		uet_eptab_take(test, jobs[i], 7);
		uet_eptab_compare(test);
	}
}

static void uet_eptab_busy(struct kunit *test)
{
	struct uet_ep *second = kunit_kzalloc(test, sizeof(*second),
					      GFP_KERNEL);
	struct uet_eptab_test *t = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, second);
	second->key = t->ep[3][9].key;
	uet_eptab_put(test, 3, 9);
	KUNIT_EXPECT_EQ(test, uet_eptab_insert(&t->tab, second), -EBUSY);
	uet_eptab_compare(test);
	uet_eptab_take(test, 3, 9);
	KUNIT_ASSERT_EQ(test, uet_eptab_insert(&t->tab, second), 0);
	rcu_read_lock();
	KUNIT_EXPECT_PTR_EQ(test, uet_eptab_find(&t->tab, uet_test_job(3),
						 uet_test_pair(9)), second);
	rcu_read_unlock();
	uet_eptab_remove(&t->tab, second);
	uet_eptab_compare(test);
}

/* The table grows and shrinks meanwhile. */
static void uet_eptab_many(struct kunit *test)
{
	unsigned int i, j;

	for (i = 0; i < UET_TEST_JOBS; i++)
		for (j = 0; j < UET_TEST_PAIRS; j++)
			uet_eptab_put(test, i, j);
	uet_eptab_compare(test);
	for (i = 0; i < UET_TEST_JOBS; i++)
		for (j = 0; j < UET_TEST_PAIRS; j++)
			if ((i * 31 + j) % 5)
				uet_eptab_take(test, i, j);
	uet_eptab_compare(test);
	for (i = 0; i < UET_TEST_JOBS; i++)
		for (j = 0; j < UET_TEST_PAIRS; j++)
			if (!((i * 31 + j) % 5))
				uet_eptab_take(test, i, j);
	uet_eptab_compare(test);
}

static struct kunit_case uet_eptab_cases[] = {
	KUNIT_CASE(uet_eptab_key),
	KUNIT_CASE(uet_eptab_apart),
	KUNIT_CASE(uet_eptab_busy),
	KUNIT_CASE(uet_eptab_many),
	{}
};

static struct kunit_suite uet_eptab_suite = {
	.name = "uet_eptab",
	.init = uet_eptab_test_init,
	.exit = uet_eptab_test_exit,
	.test_cases = uet_eptab_cases,
};

kunit_test_suite(uet_eptab_suite);

MODULE_DESCRIPTION("KUnit tests of the UET endpoint table");
MODULE_LICENSE("Dual BSD/GPL");
