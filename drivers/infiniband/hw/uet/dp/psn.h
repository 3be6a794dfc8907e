/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Arithmetic on packet sequence numbers. PSNs are 32 bits and wrap, so two of
 * them are only ever compared by their signed difference, uet-wire 0.3. The
 * answer is right as long as they are less than 2^31 apart, which the limit
 * on the PSN range of a PDC (uet-wire 3.5, Limit_PSN_Range) guarantees.
 */
#ifndef UET_PSN_H
#define UET_PSN_H

#include <linux/types.h>

/**
 * uet_psn_diff - how far one PSN is ahead of another
 * @a: PSN
 * @b: PSN
 *
 * Context: any.
 * Return: number of PSNs from @b to @a; negative when @a is before @b.
 */
static inline s32 uet_psn_diff(u32 a, u32 b)
{
	return (s32)(a - b);
}

/**
 * uet_psn_before - is one PSN older than another
 * @a: PSN
 * @b: PSN
 *
 * Context: any.
 * Return: true if @a < @b on the circle.
 */
static inline bool uet_psn_before(u32 a, u32 b)
{
	return uet_psn_diff(a, b) < 0;
}

/**
 * uet_psn_after - is one PSN newer than another
 * @a: PSN
 * @b: PSN
 *
 * Context: any.
 * Return: true if @a > @b on the circle.
 */
static inline bool uet_psn_after(u32 a, u32 b)
{
	return uet_psn_diff(a, b) > 0;
}

/**
 * uet_psn_max - the newer of two PSNs
 * @a: PSN
 * @b: PSN
 *
 * Context: any.
 * Return: @a or @b.
 */
static inline u32 uet_psn_max(u32 a, u32 b)
{
	return uet_psn_after(a, b) ? a : b;
}

#endif /* UET_PSN_H */
