// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The CRC trailer: four bytes of CRC32C in little-endian order, over the IP
 * addresses, the UDP header and all that stands behind it (uet-wire 1.7). The
 * arithmetic is the kernel's own, which uses the processor's instructions.
 */
#include <linux/crc32c.h>
#include <linux/export.h>
#include <linux/udp.h>
#include <linux/unaligned.h>
#include <net/ipv6.h>

#include "crc.h"

/* Over @len bytes of a packet that need not be in one piece. */
static u32 uet_crc_skb(u32 crc, struct sk_buff *skb, u32 off, u32 len)
{
	struct skb_seq_state st;
	const u8 *data;
	u32 done = 0;

	skb_prepare_seq_read(skb, off, off + len, &st);
	while (done < len) {
		u32 n = skb_seq_read(done, &data, &st);

		if (!n)
			return crc;	/* it ended by itself */
		n = min(n, len - done);
		crc = crc32c(crc, data, n);
		done += n;
	}
	skb_abort_seq_read(&st);
	return crc;
}

static u32 uet_crc_addr(u32 crc, const struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(addr))
		return crc32c(crc, &addr->s6_addr32[3],
			      sizeof(addr->s6_addr32[3]));
	return crc32c(crc, addr, sizeof(*addr));
}

/**
 * uet_crc_packet - the CRC of one packet
 * @skb: holds the packet
 * @off: where its UDP header starts
 * @len: bytes from there to the end of the payload
 * @src: sender, v4 mapped for IPv4
 * @dst: receiver, v4 mapped for IPv4
 *
 * Context: any.
 * Return: the CRC as a number; the trailer has it in little-endian order.
 */
u32 uet_crc_packet(struct sk_buff *skb, u32 off, u32 len,
		   const struct in6_addr *src, const struct in6_addr *dst)
{
	u32 crc = uet_crc_addr(uet_crc_addr(~0, src), dst);

	return ~uet_crc_skb(crc, skb, off, len);
}
EXPORT_SYMBOL_GPL(uet_crc_packet);

/**
 * uet_crc_seal - fill in the trailer of a packet that is complete
 * @skb: linear, with its UDP header; the last UET_CRC_LEN bytes are the trailer
 * @src: sender
 * @dst: receiver
 */
void uet_crc_seal(struct sk_buff *skb, const struct in6_addr *src,
		  const struct in6_addr *dst)
{
	u32 off = skb_transport_offset(skb);
	u32 len = skb->len - off - UET_CRC_LEN;

	put_unaligned_le32(uet_crc_packet(skb, off, len, src, dst),
			   skb_tail_pointer(skb) - UET_CRC_LEN);
}
EXPORT_SYMBOL_GPL(uet_crc_seal);

/**
 * uet_crc_intact - does the trailer of a packet fit the rest of it?
 * @skb: one packet, cut to what the UDP header says
 * @off: where the UDP header starts
 * @src: sender
 * @dst: receiver
 *
 * Return: false if it does not, or there is no room for one.
 */
bool uet_crc_intact(struct sk_buff *skb, u32 off, const struct in6_addr *src,
		    const struct in6_addr *dst)
{
	__le32 trailer;
	u32 len;

	if (skb->len < off + sizeof(struct udphdr) + UET_CRC_LEN)
		return false;
	len = skb->len - off - UET_CRC_LEN;
	if (skb_copy_bits(skb, off + len, &trailer, sizeof(trailer)))
		return false;
	return uet_crc_packet(skb, off, len, src, dst) == le32_to_cpu(trailer);
}
EXPORT_SYMBOL_GPL(uet_crc_intact);
