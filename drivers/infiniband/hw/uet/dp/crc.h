/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The CRC trailer, uet-wire 1.7. */
#ifndef UET_CRC_H
#define UET_CRC_H

#include <linux/in6.h>
#include <linux/skbuff.h>

/* Bytes behind the payload; UDP and IP lengths include them. */
#define UET_CRC_LEN	4

u32 uet_crc_packet(struct sk_buff *skb, u32 off, u32 len,
		   const struct in6_addr *src, const struct in6_addr *dst);
void uet_crc_seal(struct sk_buff *skb, const struct in6_addr *src,
		  const struct in6_addr *dst);
bool uet_crc_intact(struct sk_buff *skb, u32 off, const struct in6_addr *src,
		    const struct in6_addr *dst);

#endif /* UET_CRC_H */
