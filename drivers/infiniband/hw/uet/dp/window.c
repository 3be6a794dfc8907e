// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Receive window over PSNs on a ring of bits, see window.h.
 */
#include <linux/export.h>
#include <linux/math.h>
#include <linux/minmax.h>

#include "window.h"

#define UET_WIN_MASK		(UET_WIN_MAX - 1)

static_assert(!(UET_WIN_MAX & UET_WIN_MASK));
static_assert(UET_WIN_MAX % UET_MPR_UNIT == 0);

static unsigned int uet_rxwin_slot(u32 psn)
{
	return psn & UET_WIN_MASK;
}

/* Number of marked PSNs from base on without a hole. */
static unsigned int uet_rxwin_run(const struct uet_rxwin *win)
{
	unsigned int slot = uet_rxwin_slot(win->base);
	unsigned int end = find_next_zero_bit(win->map, UET_WIN_MAX, slot);

	if (end == UET_WIN_MAX)
		end += find_next_zero_bit(win->map, slot, 0);
	return end - slot;
}

/* 32 bits of the ring from @psn on, @psn in bit 0. */
static u32 uet_rxwin_read32(const struct uet_rxwin *win, u32 psn)
{
	unsigned int slot = uet_rxwin_slot(psn);
	unsigned int n = min_t(unsigned int, UET_WIN_MAX - slot, 32);
	u32 bits = bitmap_read(win->map, slot, n);

	if (n < 32)
		bits |= bitmap_read(win->map, uet_rxwin_slot(psn + n),
				    32 - n) << n;
	return bits;
}

/* Unmark @n PSNs from base on; they may wrap around the end of the ring. */
static void uet_rxwin_unmark(struct uet_rxwin *win, unsigned int n)
{
	unsigned int slot = uet_rxwin_slot(win->base);
	unsigned int head = min(n, UET_WIN_MAX - slot);

	bitmap_clear(win->map, slot, head);
	bitmap_clear(win->map, 0, n - head);
}

/**
 * uet_rxwin_init - empty window at the start of a PDC
 * @win: window
 * @start_psn: Start_PSN of this direction
 * @nbits: size in PSNs; brought down to a multiple of 128, and into 128 to
 *	UET_WIN_MAX
 *
 * The granularity is that of the mpr field (uet-wire 2.9), so that the window
 * held is the one advertised.
 *
 * Context: any; nobody else uses @win yet.
 */
void uet_rxwin_init(struct uet_rxwin *win, u32 start_psn, unsigned int nbits)
{
	nbits = clamp(nbits, UET_MPR_UNIT, UET_WIN_MAX);
	win->base = start_psn;
	win->max_seen = start_psn - 1;
	win->nbits = rounddown(nbits, UET_MPR_UNIT);
	win->marked = 0;
	bitmap_zero(win->map, UET_WIN_MAX);
}
EXPORT_SYMBOL_GPL(uet_rxwin_init);

/**
 * uet_rxwin_classify - what to do with a PSN that arrived
 * @win: window
 * @psn: PSN of the packet
 *
 * Context: caller holds the PDC lock. O(1).
 * Return: &enum uet_rxwin_class. uet-wire 3.4, rules 1-3
 */
enum uet_rxwin_class uet_rxwin_classify(const struct uet_rxwin *win, u32 psn)
{
	s32 ahead = uet_psn_diff(psn, win->base);

	if (ahead < 0)
		return UET_RXWIN_OLD;
	if (ahead >= win->nbits)
		return UET_RXWIN_OOR;
	if (test_bit(uet_rxwin_slot(psn), win->map))
		return UET_RXWIN_DUPLICATE;
	return UET_RXWIN_NEW;
}
EXPORT_SYMBOL_GPL(uet_rxwin_classify);

/**
 * uet_rxwin_mark - note that a PSN was received
 * @win: window
 * @psn: PSN of the packet
 *
 * Does not move the window; uet_rxwin_advance() does.
 *
 * Context: caller holds the PDC lock. O(1).
 * Return: true if @psn was UET_RXWIN_NEW and is marked now; false, with
 * nothing changed, if it is anything else.
 */
bool uet_rxwin_mark(struct uet_rxwin *win, u32 psn)
{
	if (uet_rxwin_classify(win, psn) != UET_RXWIN_NEW)
		return false;
	__set_bit(uet_rxwin_slot(psn), win->map);
	win->marked++;
	win->max_seen = uet_psn_max(win->max_seen, psn);
	return true;
}
EXPORT_SYMBOL_GPL(uet_rxwin_mark);

/**
 * uet_rxwin_next_missing - first hole
 * @win: window
 *
 * With a guaranteed response pending this is beyond CACK_PSN + 1: it says what
 * was received, not what was cleared. It is the PSN a ROD receiver waits for.
 *
 * Context: caller holds the PDC lock.
 * Return: lowest PSN >= base that was not received; uet_rxwin_end() if all
 * of the window was.
 */
u32 uet_rxwin_next_missing(const struct uet_rxwin *win)
{
	return win->base + uet_rxwin_run(win);
}
EXPORT_SYMBOL_GPL(uet_rxwin_next_missing);

/**
 * uet_rxwin_advance - move the window over what was received
 * @win: window
 * @stop_psn: lowest PSN whose guaranteed response is not cleared yet, or
 *	uet_rxwin_end() if there is none. A value before base means: not at all
 *
 * CACK_PSN must stay below an uncleared response even when its PSN and the
 * ones behind it were received, uet-wire 2.11 and 2.13.
 *
 * Context: caller holds the PDC lock.
 * Return: number of PSNs the window, and so CACK_PSN, moved by.
 */
unsigned int uet_rxwin_advance(struct uet_rxwin *win, u32 stop_psn)
{
	s32 limit = uet_psn_diff(stop_psn, win->base);
	unsigned int n;

	if (limit <= 0)
		return 0;
	n = min_t(unsigned int, uet_rxwin_run(win), limit);
	uet_rxwin_unmark(win, n);
	win->base += n;
	win->marked -= n;
	return n;
}
EXPORT_SYMBOL_GPL(uet_rxwin_advance);

/**
 * uet_rxwin_sack - SACK_Base and bitmap for an ACK
 * @win: window
 * @hint: PSN the bitmap should cover, usually the one that triggers the ACK.
 *	Outside the window it counts as base
 * @sack_base: PSN of bit 0
 *
 * The 64 PSNs are one of the blocks that start at base, base + 64, ...: a hint
 * near the low end shows the oldest holes too, and the ACKs of a burst repeat
 * the same block instead of overlapping by all but one PSN. uet-wire 2.11
 * leaves the choice to the sender.
 *
 * Context: caller holds the PDC lock.
 * Return: sack_bitmap, bit i set if *@sack_base + i was received. 0 says that
 * the block adds nothing to CACK_PSN.
 */
u64 uet_rxwin_sack(const struct uet_rxwin *win, u32 hint, u32 *sack_base)
{
	s32 ahead = uet_psn_diff(hint, win->base);
	u32 psn = win->base;

	if (ahead > 0 && ahead < win->nbits)
		psn += round_down(ahead, 64);
	*sack_base = psn;
	return (u64)uet_rxwin_read32(win, psn + 32) << 32 |
	       uet_rxwin_read32(win, psn);
}
EXPORT_SYMBOL_GPL(uet_rxwin_sack);

/**
 * uet_rxwin_ooo_count - packets held behind a hole
 * @win: window
 *
 * Context: caller holds the PDC lock.
 * Return: number of received PSNs above the first missing one, the ooo_count
 * of ack_cc_state, uet-wire 2.6.
 */
u16 uet_rxwin_ooo_count(const struct uet_rxwin *win)
{
	return win->marked - uet_rxwin_run(win);
}
EXPORT_SYMBOL_GPL(uet_rxwin_ooo_count);
