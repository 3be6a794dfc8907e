/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The receive window of one direction of a PDC: which PSNs have arrived, and
 * how far the cumulative acknowledgment may go. Pure bookkeeping: no locks,
 * no allocation, no time. uet-wire 2.9, 2.11, 3.4.
 */
#ifndef UET_WINDOW_H
#define UET_WINDOW_H

#include <linux/bitmap.h>
#include <linux/types.h>

#include "psn.h"
#include "wire.h"

/* Largest window in PSNs; a power of two, because PSNs index a ring of bits. */
#define UET_WIN_MAX		2048

/**
 * struct uet_rxwin - receive window
 * @base: CACK_PSN + 1, the first PSN that was not received or whose response
 *	is not cleared yet
 * @max_seen: highest PSN marked so far; start PSN - 1 before the first
 * @nbits: size in PSNs, a multiple of 128, at most UET_WIN_MAX. The window is
 *	[@base, @base + @nbits)
 * @marked: how many PSNs inside the window are marked
 * @map: bit (psn mod UET_WIN_MAX) is set if psn, inside the window, was
 *	received; every bit outside the window is 0
 *
 * All functions below work on this struct alone. Functions that take a const
 * pointer only need a stable view; the caller holds the PDC lock for both.
 */
struct uet_rxwin {
	u32 base;
	u32 max_seen;
	u16 nbits;
	u16 marked;
	DECLARE_BITMAP(map, UET_WIN_MAX);
};

/**
 * enum uet_rxwin_class - where a PSN stands to the window
 * @UET_RXWIN_NEW: inside, not received yet
 * @UET_RXWIN_DUPLICATE: inside, received before
 * @UET_RXWIN_OLD: before the window: received and cleared long ago, or before
 *	the start PSN
 * @UET_RXWIN_OOR: beyond the window, to be refused with PSN_OOR_WINDOW
 */
enum uet_rxwin_class {
	UET_RXWIN_NEW,
	UET_RXWIN_DUPLICATE,
	UET_RXWIN_OLD,
	UET_RXWIN_OOR,
};

/**
 * uet_rxwin_cack - the CACK_PSN to send
 * @win: window
 *
 * Context: caller holds the PDC lock.
 * Return: highest PSN such that all up to it are received and cleared;
 * start PSN - 1 at first.
 */
static inline u32 uet_rxwin_cack(const struct uet_rxwin *win)
{
	return win->base - 1;
}

/**
 * uet_rxwin_end - first PSN beyond the window
 * @win: window
 *
 * Also what to pass to uet_rxwin_advance() when no response is waiting to be
 * cleared.
 *
 * Context: caller holds the PDC lock.
 * Return: base + size.
 */
static inline u32 uet_rxwin_end(const struct uet_rxwin *win)
{
	return win->base + win->nbits;
}

/**
 * uet_rxwin_mpr - the mpr field to send
 * @win: window
 *
 * Context: caller holds the PDC lock.
 * Return: window size in units of 128 PSNs, 1 to 16. uet-wire 2.9
 */
static inline u8 uet_rxwin_mpr(const struct uet_rxwin *win)
{
	return win->nbits / UET_MPR_UNIT;
}

void uet_rxwin_init(struct uet_rxwin *win, u32 start_psn, unsigned int nbits);
enum uet_rxwin_class uet_rxwin_classify(const struct uet_rxwin *win, u32 psn);
bool uet_rxwin_mark(struct uet_rxwin *win, u32 psn);
u32 uet_rxwin_next_missing(const struct uet_rxwin *win);
unsigned int uet_rxwin_advance(struct uet_rxwin *win, u32 stop_psn);
u64 uet_rxwin_sack(const struct uet_rxwin *win, u32 hint, u32 *sack_base);
u16 uet_rxwin_ooo_count(const struct uet_rxwin *win);

#endif /* UET_WINDOW_H */
