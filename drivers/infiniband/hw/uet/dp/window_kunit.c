// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * KUnit suite uet_window: the receive window against a slow model, which has
 * one bool for every PSN there ever was and walks over them.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "pdc.h"
#include "ses.h"
#include "window.h"

/* Start PSNs that put 0, 2^31 and the end of the ring in the way. */
static const u32 uet_starts[] = {
	0, 1, 0x12000, 0x7ffffff0, 0x80000000, 0xfffff800, 0xffffff81,
	0xfffffffe, 0xffffffff, 2047, 2048, 0xdeadbeef,
};

static const u16 uet_sizes[] = { 128, 256, 1024, 1920, UET_WIN_MAX };

#define UET_MODEL_PSNS		32768
#define UET_RANDOM_STEPS	3000
#define UET_SUBSET_PSNS		11

/**
 * struct uet_model - a window the slow way
 * @start: PSN of index 0; everything else is an index from there
 * @base: first index not advanced over
 * @nbits: window size
 * @received: which indices were marked
 */
struct uet_model {
	u32 start;
	unsigned int base;
	unsigned int nbits;
	bool received[UET_MODEL_PSNS];
};

/**
 * struct uet_pair - window and model, driven together
 * @win: under test
 * @model: what it must be like
 * @rnd: random numbers
 */
struct uet_pair {
	struct uet_rxwin win;
	struct uet_model model;
	struct rnd_state rnd;
};

static struct uet_pair *uet_pair_new(struct kunit *test)
{
	struct uet_pair *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	prandom_seed_state(&p->rnd, 0x2025);
	return p;
}

static void uet_pair_reset(struct uet_pair *p, u32 start, unsigned int nbits)
{
	uet_rxwin_init(&p->win, start, nbits);
	memset(&p->model, 0, sizeof(p->model));
	p->model.start = start;
	p->model.nbits = nbits;
}

static u32 uet_pair_below(struct uet_pair *p, u32 ceiling)
{
	return prandom_u32_state(&p->rnd) % ceiling;
}

/* ------------------------------------------------------------------ */
/* The model                                                           */

static enum uet_rxwin_class uet_model_classify(const struct uet_model *m,
					       int index)
{
	if (index < (int)m->base)
		return UET_RXWIN_OLD;
	if (index >= (int)(m->base + m->nbits))
		return UET_RXWIN_OOR;
	return m->received[index] ? UET_RXWIN_DUPLICATE : UET_RXWIN_NEW;
}

static unsigned int uet_model_missing(const struct uet_model *m)
{
	unsigned int i = m->base;

	while (i < m->base + m->nbits && m->received[i])
		i++;
	return i;
}

static unsigned int uet_model_advance(struct uet_model *m, int stop)
{
	unsigned int n = 0;

	while ((int)m->base < stop && m->received[m->base]) {
		m->base++;
		n++;
	}
	return n;
}

static u16 uet_model_ooo(const struct uet_model *m)
{
	unsigned int i;
	u16 n = 0;

	for (i = uet_model_missing(m); i < m->base + m->nbits; i++)
		n += m->received[i];
	return n;
}

static u32 uet_model_max_seen(const struct uet_model *m)
{
	int i;

	for (i = m->base + m->nbits - 1; i >= 0 && !m->received[i]; i--)
		;
	return m->start + i;
}

/* ------------------------------------------------------------------ */
/* Both                                                                */

static void uet_pair_check_sack(struct kunit *test, struct uet_pair *p,
				int hint)
{
	const struct uet_model *m = &p->model;
	bool inside = hint >= (int)m->base && hint < (int)(m->base + m->nbits);
	u32 sack_base;
	u64 bitmap = uet_rxwin_sack(&p->win, m->start + hint, &sack_base);
	unsigned int first = sack_base - m->start;
	unsigned int i;

	KUNIT_ASSERT_GE(test, first, m->base);
	KUNIT_ASSERT_LE(test, first + 64, m->base + m->nbits);
	KUNIT_ASSERT_EQ(test, (first - m->base) % 64, 0);
	if (inside)
		KUNIT_ASSERT_LT(test, (unsigned int)hint - first, 64);
	else
		KUNIT_ASSERT_EQ(test, first, m->base);
	for (i = 0; i < 64; i++)
		KUNIT_ASSERT_EQ(test, bitmap >> i & 1, m->received[first + i]);
}

static void uet_pair_check(struct kunit *test, struct uet_pair *p)
{
	const struct uet_model *m = &p->model;

	KUNIT_ASSERT_EQ(test, p->win.base, m->start + m->base);
	KUNIT_ASSERT_EQ(test, uet_rxwin_cack(&p->win), m->start + m->base - 1);
	KUNIT_ASSERT_EQ(test, p->win.marked,
			bitmap_weight(p->win.map, UET_WIN_MAX));
	KUNIT_ASSERT_EQ(test, p->win.max_seen, uet_model_max_seen(m));
	KUNIT_ASSERT_EQ(test, uet_rxwin_ooo_count(&p->win), uet_model_ooo(m));
	KUNIT_ASSERT_EQ(test, uet_rxwin_next_missing(&p->win),
			m->start + uet_model_missing(m));
}

static void uet_pair_mark(struct kunit *test, struct uet_pair *p, int index)
{
	struct uet_model *m = &p->model;
	enum uet_rxwin_class want = uet_model_classify(m, index);
	u32 psn = m->start + index;

	KUNIT_ASSERT_EQ(test, uet_rxwin_classify(&p->win, psn), want);
	KUNIT_ASSERT_EQ(test, uet_rxwin_mark(&p->win, psn),
			want == UET_RXWIN_NEW);
	if (want == UET_RXWIN_NEW)
		m->received[index] = true;
}

static void uet_pair_advance(struct kunit *test, struct uet_pair *p, int stop)
{
	unsigned int want = uet_model_advance(&p->model, stop);

	KUNIT_ASSERT_EQ(test, uet_rxwin_advance(&p->win,
						p->model.start + stop), want);
}

/* ------------------------------------------------------------------ */
/* Tests                                                               */

static void uet_window_psn(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(uet_starts); i++) {
		u32 psn = uet_starts[i];

		KUNIT_EXPECT_EQ(test, uet_psn_diff(psn, psn), 0);
		KUNIT_EXPECT_EQ(test, uet_psn_diff(psn + 5, psn), 5);
		KUNIT_EXPECT_EQ(test, uet_psn_diff(psn, psn + 5), -5);
		KUNIT_EXPECT_EQ(test, uet_psn_diff(psn + S32_MAX, psn), S32_MAX);
		KUNIT_EXPECT_FALSE(test, uet_psn_before(psn, psn));
		KUNIT_EXPECT_FALSE(test, uet_psn_after(psn, psn));
		KUNIT_EXPECT_TRUE(test, uet_psn_before(psn - 1, psn));
		KUNIT_EXPECT_FALSE(test, uet_psn_after(psn - 1, psn));
		KUNIT_EXPECT_TRUE(test, uet_psn_after(psn + S32_MAX, psn));
		KUNIT_EXPECT_TRUE(test, uet_psn_before(psn, psn + S32_MAX));
		KUNIT_EXPECT_EQ(test, uet_psn_max(psn, psn + 1), psn + 1);
		KUNIT_EXPECT_EQ(test, uet_psn_max(psn, psn - 1), psn);
	}
}

static void uet_window_init(struct kunit *test)
{
	static const struct {
		unsigned int asked;
		u16 got;
	} sizes[] = {
		{ 0, 128 }, { 1, 128 }, { 127, 128 }, { 128, 128 },
		{ 255, 128 }, { 256, 256 }, { 1000, 896 }, { 2047, 1920 },
		{ 2048, 2048 }, { 2049, 2048 }, { 1U << 31, 2048 },
	};
	struct uet_rxwin win;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		memset(&win, 0xff, sizeof(win));
		uet_rxwin_init(&win, i, sizes[i].asked);
		KUNIT_EXPECT_EQ(test, win.nbits, sizes[i].got);
		KUNIT_EXPECT_EQ(test, uet_rxwin_mpr(&win) * UET_MPR_UNIT,
				sizes[i].got);
		KUNIT_EXPECT_EQ(test, uet_rxwin_cack(&win), i - 1);
		KUNIT_EXPECT_EQ(test, win.max_seen, i - 1);
		KUNIT_EXPECT_EQ(test, uet_rxwin_end(&win), i + sizes[i].got);
		KUNIT_EXPECT_TRUE(test, bitmap_empty(win.map, UET_WIN_MAX));
	}
}

/* Classes far off, where the model has no PSNs: half the circle each way. */
static void uet_window_far(struct kunit *test)
{
	struct uet_rxwin win;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(uet_starts); i++) {
		u32 base = uet_starts[i];

		uet_rxwin_init(&win, base, 256);
		KUNIT_EXPECT_EQ(test, uet_rxwin_classify(&win, base + 255),
				UET_RXWIN_NEW);
		KUNIT_EXPECT_EQ(test, uet_rxwin_classify(&win, base + 256),
				UET_RXWIN_OOR);
		KUNIT_EXPECT_EQ(test, uet_rxwin_classify(&win, base + S32_MAX),
				UET_RXWIN_OOR);
		KUNIT_EXPECT_EQ(test, uet_rxwin_classify(&win, base + 1 + S32_MAX),
				UET_RXWIN_OLD);
		KUNIT_EXPECT_EQ(test, uet_rxwin_classify(&win, base - 1),
				UET_RXWIN_OLD);
		KUNIT_EXPECT_EQ(test, uet_rxwin_advance(&win, base + 1 + S32_MAX),
				0);
	}
}

/* Every subset of the first PSNs, with every place to stop. */
static void uet_window_subsets(struct kunit *test)
{
	struct uet_rxwin win;
	unsigned int set, stop, want, i, s;

	for (s = 0; s < ARRAY_SIZE(uet_starts); s++)
		for (set = 0; set < 1U << UET_SUBSET_PSNS; set++)
			for (stop = 0; stop <= UET_SUBSET_PSNS; stop++) {
				u32 base = uet_starts[s], sack_base;

				uet_rxwin_init(&win, base, 128);
				for (i = 0; i < UET_SUBSET_PSNS; i++)
					if (set & BIT(i))
						uet_rxwin_mark(&win, base + i);
				want = min(ffz(set), stop);
				KUNIT_ASSERT_EQ(test, want,
						uet_rxwin_advance(&win,
								  base + stop));
				KUNIT_ASSERT_EQ(test, win.base, base + want);
				KUNIT_ASSERT_EQ(test, set >> want,
						uet_rxwin_sack(&win, base,
							       &sack_base));
				KUNIT_ASSERT_EQ(test, sack_base, base + want);
			}
}

/* From either end until it is full, then moved on at once, on each slot. */
static void uet_window_fill(struct kunit *test)
{
	struct uet_rxwin win;
	unsigned int i, s, z;
	u32 base = uet_starts[6];

	for (z = 0; z < ARRAY_SIZE(uet_sizes); z++)
		for (s = 0; s < UET_WIN_MAX; s += 61) {
			u16 n = uet_sizes[z];

			base += 61;
			uet_rxwin_init(&win, base, n);
			for (i = 0; i < n; i++) {
				u32 psn = s & 1 ? base + i : base + n - 1 - i;

				KUNIT_ASSERT_TRUE(test,
						  uet_rxwin_mark(&win, psn));
			}
			KUNIT_ASSERT_EQ(test, win.marked, n);
			KUNIT_ASSERT_EQ(test, uet_rxwin_next_missing(&win),
					uet_rxwin_end(&win));
			KUNIT_ASSERT_EQ(test, uet_rxwin_ooo_count(&win), 0);
			KUNIT_ASSERT_EQ(test, n,
					uet_rxwin_advance(&win,
							  uet_rxwin_end(&win)));
			KUNIT_ASSERT_EQ(test, win.base, base + n);
			KUNIT_ASSERT_EQ(test, win.marked, 0);
			KUNIT_ASSERT_TRUE(test, bitmap_empty(win.map,
							     UET_WIN_MAX));
		}
}

/*
 * One step of a receiver: a packet, mostly near the oldest hole; sometimes a
 * response that holds the window, or lets it go.
 */
static void uet_window_step(struct kunit *test, struct uet_pair *p, int *stop)
{
	struct uet_model *m = &p->model;
	unsigned int span = uet_pair_below(p, 4) ? 40 : m->nbits + 100;
	int index = (int)(m->base + uet_pair_below(p, span)) - 20;

	if (!uet_pair_below(p, 4))
		index = uet_model_missing(m);
	uet_pair_mark(test, p, index);
	if (!uet_pair_below(p, 8))
		*stop = m->base + (int)uet_pair_below(p, 60) - 2;
	if (!uet_pair_below(p, 6))
		*stop = m->base + m->nbits;
	if (uet_pair_below(p, 3))
		uet_pair_advance(test, p, *stop);
	uet_pair_check_sack(test, p, index);
	uet_pair_check(test, p);
}

static void uet_window_random(struct kunit *test)
{
	struct uet_pair *p = uet_pair_new(test);
	unsigned int i, s, z;
	int stop;

	for (z = 0; z < ARRAY_SIZE(uet_sizes); z++)
		for (s = 0; s < ARRAY_SIZE(uet_starts); s++) {
			uet_pair_reset(p, uet_starts[s], uet_sizes[z]);
			stop = p->model.nbits;
			for (i = 0; i < UET_RANDOM_STEPS; i++) {
				if (p->model.base + 2 * UET_WIN_MAX >
				    UET_MODEL_PSNS)
					break;
				uet_window_step(test, p, &stop);
			}
			KUNIT_EXPECT_GT(test, p->model.base, UET_WIN_MAX / 8);
		}
}

/* The start follows for ever, and neither it nor the ids jump. */
static void uet_window_start(struct kunit *test)
{
	struct uet_tx tx = { .start = 0xfffffff0, .una = 0xfffffff0 };
	u32 step = 1000003, moved = 0;
	u64 i;

	for (i = 0; i < (1ull << 35); i += step) {
		u32 start = tx.start;
		u16 id;

		tx.una += step;
		id = uet_ses_msg_id(tx.una - start);
		uet_tx_move_start(&tx);
		moved += tx.start != start;
		KUNIT_ASSERT_EQ(test, uet_ses_msg_id(tx.una - tx.start), id);
		KUNIT_ASSERT_LT(test, tx.una - tx.start,
				2 * UET_PDC_PSN_RANGE);
		KUNIT_ASSERT_FALSE(test, uet_psn_before(tx.una, tx.start));
	}
	KUNIT_EXPECT_GT(test, moved, 50);
}

static struct kunit_case uet_window_cases[] = {
	KUNIT_CASE(uet_window_psn),
	KUNIT_CASE(uet_window_init),
	KUNIT_CASE(uet_window_far),
	KUNIT_CASE(uet_window_subsets),
	KUNIT_CASE(uet_window_fill),
	KUNIT_CASE_SLOW(uet_window_random),
	KUNIT_CASE(uet_window_start),
	{}
};

static struct kunit_suite uet_window_suite = {
	.name = "uet_window",
	.test_cases = uet_window_cases,
};

kunit_test_suite(uet_window_suite);

MODULE_DESCRIPTION("KUnit tests of the UET receive window");
MODULE_LICENSE("Dual BSD/GPL");
