// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * KUnit suite uet_verbs: which QP numbers and keys are handed out, in which order,
 * and where the entries of a ring are.
 */
#include <kunit/test.h>

#include "job.h"

#define UET_TEST_QPS	64
#define UET_TEST_KEYS	64
#define UET_TEST_DEVS	16

struct uet_verbs_test {
	struct uet_dev dev;
	struct uet_qp qp[UET_TEST_QPS];
	struct uet_mkey mkey[UET_TEST_KEYS];
	u32 key[UET_TEST_KEYS];
};

static int uet_verbs_test_init(struct kunit *test)
{
	struct uet_verbs_test *t = kvzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	test->priv = t;
	uet_qpn_init(&t->dev);
	uet_mkey_dev_init(&t->dev);
	return 0;
}

static void uet_verbs_test_exit(struct kunit *test)
{
	struct uet_verbs_test *t = test->priv;

	if (!t)
		return;
	xa_destroy(&t->dev.qps);
	xa_destroy(&t->dev.mkeys);
	kvfree(t);
}

/* ------------------------------------------------------------------ */
/* QP numbers                                                          */

static u32 uet_qpn_after(u32 qpn)
{
	return qpn == UET_QPN_MAX ? UET_QPN_MIN : qpn + 1;
}

/* One that was given back is not the next one. */
static void uet_qpn_in_turn(struct kunit *test)
{
	struct uet_verbs_test *t = test->priv;
	u32 want = t->dev.qp_next;
	unsigned int i;

	for (i = 0; i < 4 * UET_TEST_QPS; i++) {
		struct uet_qp *qp = &t->qp[i % UET_TEST_QPS];

		if (i >= UET_TEST_QPS)
			xa_erase(&t->dev.qps, qp->ib.qp_num);
		KUNIT_ASSERT_EQ(test, uet_qpn_alloc(&t->dev, qp), 0);
		KUNIT_ASSERT_EQ(test, qp->ib.qp_num, want);
		KUNIT_ASSERT_PTR_EQ(test, xa_load(&t->dev.qps, want), qp);
		want = uet_qpn_after(want);
	}
}

/* Behind the last comes the first that nobody has. */
static void uet_qpn_wraps(struct kunit *test)
{
	static const u32 want[] = {
		UET_QPN_MAX - 1, UET_QPN_MAX, UET_QPN_MIN + 2, UET_QPN_MIN + 4,
	};
	struct uet_verbs_test *t = test->priv;
	struct xarray *qps = &t->dev.qps;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, xa_insert(qps, UET_GSI_QPN, &t->dev, GFP_KERNEL),
			0);
	for (i = 0; i < 4; i++)
		if (i != 2)
			KUNIT_ASSERT_EQ(test, xa_insert(qps, UET_QPN_MIN + i,
							&t->dev, GFP_KERNEL),
					0);
	t->dev.qp_next = UET_QPN_MAX - 1;
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		KUNIT_ASSERT_EQ(test, uet_qpn_alloc(&t->dev, &t->qp[i]), 0);
		KUNIT_EXPECT_EQ(test, t->qp[i].ib.qp_num, want[i]);
	}
}

/* ------------------------------------------------------------------ */
/* Keys                                                                */

static u32 uet_index_after(u32 index)
{
	return index == UET_KEY_INDEX_MAX ? 1 : index + 1;
}

static struct uet_mkey *uet_test_find(struct uet_verbs_test *t, u32 key)
{
	struct uet_mkey *mkey;

	rcu_read_lock();
	mkey = uet_mkey_find(&t->dev, key);
	rcu_read_unlock();
	return mkey;
}

static void uet_key_in_turn(struct kunit *test)
{
	struct uet_verbs_test *t = test->priv;
	u32 want = t->dev.mkey_next;
	unsigned int i;

	for (i = 0; i < 4 * UET_TEST_KEYS; i++) {
		struct uet_mkey *mkey = &t->mkey[i % UET_TEST_KEYS];
		u32 *key = &t->key[i % UET_TEST_KEYS];

		if (i >= UET_TEST_KEYS) {
			uet_mkey_retract(&t->dev, mkey, *key);
			KUNIT_ASSERT_NULL(test, uet_test_find(t, *key));
		}
		KUNIT_ASSERT_EQ(test, uet_mkey_publish(&t->dev, mkey, key), 0);
		KUNIT_ASSERT_EQ(test, *key >> 8, want);
		KUNIT_ASSERT_PTR_EQ(test, uet_test_find(t, *key), mkey);
		want = uet_index_after(want);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&t->dev.objs[UET_OBJ_MR]),
			UET_TEST_KEYS);
}

/* No key is 0, and none begins with the index 0. */
static void uet_key_wraps(struct kunit *test)
{
	static const u32 want[] = { UET_KEY_INDEX_MAX, 1, 3 };
	struct uet_verbs_test *t = test->priv;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, xa_insert(&t->dev.mkeys, 2, &t->mkey[3],
					GFP_KERNEL), 0);
	t->dev.mkey_next = UET_KEY_INDEX_MAX;
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		KUNIT_ASSERT_EQ(test, uet_mkey_publish(&t->dev, &t->mkey[i],
						       &t->key[i]), 0);
		KUNIT_EXPECT_EQ(test, t->key[i] >> 8, want[i]);
	}
}

/*
 * The last eight bits of keys, and where devices begin: with so many, all are the
 * same by chance once in 2^500 and 2^360 runs.
 */
static void uet_numbers_are_random(struct kunit *test)
{
	struct uet_verbs_test *t = test->priv;
	u32 low = 0, qpn = 0, index = 0, first_qpn, first_index;
	unsigned int i;

	for (i = 0; i < UET_TEST_KEYS; i++) {
		KUNIT_ASSERT_EQ(test, uet_mkey_publish(&t->dev, &t->mkey[i],
						       &t->key[i]), 0);
		low |= (t->key[i] ^ t->key[0]) & 0xff;
	}
	KUNIT_EXPECT_NE(test, low, 0);
	first_qpn = t->dev.qp_next;
	first_index = t->dev.mkey_next - UET_TEST_KEYS;
	for (i = 0; i < UET_TEST_DEVS; i++) {
		xa_destroy(&t->dev.qps);
		xa_destroy(&t->dev.mkeys);
		uet_qpn_init(&t->dev);
		uet_mkey_dev_init(&t->dev);
		KUNIT_EXPECT_GE(test, t->dev.qp_next, UET_QPN_MIN);
		KUNIT_EXPECT_LE(test, t->dev.qp_next, UET_QPN_MAX);
		KUNIT_EXPECT_GE(test, t->dev.mkey_next, 1);
		KUNIT_EXPECT_LE(test, t->dev.mkey_next, UET_KEY_INDEX_MAX);
		qpn |= t->dev.qp_next ^ first_qpn;
		index |= t->dev.mkey_next ^ first_index;
	}
	KUNIT_EXPECT_NE(test, qpn, 0);
	KUNIT_EXPECT_NE(test, index, 0);
}

/* Regions and windows are counted apart, though their keys are not. */
static void uet_key_limit(struct kunit *test)
{
	struct uet_verbs_test *t = test->priv;

	t->mkey[2].kind = UET_MKEY_MW2;
	atomic_set(&t->dev.objs[UET_OBJ_MR], UET_MAX_MR - 1);
	KUNIT_EXPECT_EQ(test, uet_mkey_publish(&t->dev, &t->mkey[0],
					       &t->key[0]), 0);
	KUNIT_EXPECT_EQ(test, uet_mkey_publish(&t->dev, &t->mkey[1],
					       &t->key[1]), -ENOMEM);
	KUNIT_EXPECT_EQ(test, uet_mkey_publish(&t->dev, &t->mkey[2],
					       &t->key[2]), 0);
	uet_mkey_retract(&t->dev, &t->mkey[0], t->key[0]);
	KUNIT_EXPECT_EQ(test, uet_mkey_publish(&t->dev, &t->mkey[1],
					       &t->key[1]), 0);
	uet_mkey_retract(&t->dev, &t->mkey[2], t->key[2]);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->dev.objs[UET_OBJ_MR]),
			UET_MAX_MR);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->dev.objs[UET_OBJ_MW]), 0);
}

/* Who had the key before cannot take it away any more. */
static void uet_key_taken_over(struct kunit *test)
{
	struct uet_verbs_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, uet_mkey_publish(&t->dev, &t->mkey[0],
					       &t->key[0]), 0);
	uet_mkey_replace(&t->dev, &t->mkey[1], t->key[0]);
	KUNIT_EXPECT_EQ(test, t->mkey[1].key, t->key[0]);
	KUNIT_EXPECT_PTR_EQ(test, uet_test_find(t, t->key[0]), &t->mkey[1]);
	uet_mkey_retract(&t->dev, &t->mkey[0], t->key[0]);
	KUNIT_EXPECT_PTR_EQ(test, uet_test_find(t, t->key[0]), &t->mkey[1]);
	uet_mkey_retract(&t->dev, &t->mkey[1], t->key[0]);
	KUNIT_EXPECT_NULL(test, uet_test_find(t, t->key[0]));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->dev.objs[UET_OBJ_MR]), 0);
}

/* ------------------------------------------------------------------ */
/* Rings                                                               */

/* Indices run freely, and begin anew behind 2^32 - 1. */
static void uet_ring_counts(struct kunit *test)
{
	static const u32 at[] = { 0, 1, 0x7fffffff, 0x80000000, 0xffffffff };
	unsigned int i;
	u32 n;

	for (i = 0; i < ARRAY_SIZE(at); i++)
		for (n = 0; n <= UET_MAX_WR; n++)
			KUNIT_ASSERT_EQ(test, uet_ring_used(at[i] + n, at[i]),
					n);
	/* An index that went backwards is more than any ring holds. */
	KUNIT_EXPECT_GT(test, uet_ring_used(4, 5), UET_MAX_WR);
}

static void uet_ring_entries(struct kunit *test)
{
	static const struct {
		u32 depth, stride;
	} shape[] = {
		{ 1, 64 }, { 2, 64 }, { 64, 48 }, { 4096, 96 }, { UET_MAX_WR, 1088 },
	};
	struct uet_ringbuf *rb;
	unsigned int i;
	u32 n, start;

	for (i = 0; i < ARRAY_SIZE(shape); i++) {
		rb = uet_ring_create(NULL, shape[i].depth, shape[i].stride);
		KUNIT_ASSERT_FALSE(test, IS_ERR(rb));
		/* Each has room of its own, and all is within the ring. */
		start = -(shape[i].depth / 2);
		for (n = start; n != start + shape[i].depth; n++) {
			u32 *entry = uet_ring_at(rb, n);

			if (*entry || (void *)entry < (void *)(rb->hdr + 1) ||
			    (void *)entry + shape[i].stride >
			    (void *)rb->hdr + rb->size)
				KUNIT_FAIL(test, "entry %u of %u is wrong", n,
					   shape[i].depth);
			*entry = n + 1;
			entry[shape[i].stride / 4 - 1] = n + 1;
		}
		/* The same place comes again with each turn. */
		for (n = start; n != start + shape[i].depth; n++) {
			u32 *entry = uet_ring_at(rb, n + shape[i].depth);

			if (entry[0] != n + 1 ||
			    entry[shape[i].stride / 4 - 1] != n + 1)
				KUNIT_FAIL(test, "entry %u of %u has gone", n,
					   shape[i].depth);
		}
		uet_ring_free(rb);
	}
}

static struct kunit_case uet_verbs_cases[] = {
	KUNIT_CASE(uet_qpn_in_turn),
	KUNIT_CASE(uet_qpn_wraps),
	KUNIT_CASE(uet_key_in_turn),
	KUNIT_CASE(uet_key_wraps),
	KUNIT_CASE(uet_numbers_are_random),
	KUNIT_CASE(uet_key_limit),
	KUNIT_CASE(uet_key_taken_over),
	KUNIT_CASE(uet_ring_counts),
	KUNIT_CASE(uet_ring_entries),
	{}
};

static struct kunit_suite uet_verbs_suite = {
	.name = "uet_verbs",
	.init = uet_verbs_test_init,
	.exit = uet_verbs_test_exit,
	.test_cases = uet_verbs_cases,
};

kunit_test_suite(uet_verbs_suite);

MODULE_DESCRIPTION("KUnit tests of UET numbers, keys and rings");
MODULE_LICENSE("Dual BSD/GPL");
