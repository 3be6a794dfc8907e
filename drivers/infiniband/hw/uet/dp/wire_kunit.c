// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * KUnit suite uet_wire: parse.c and build.c against the golden vectors, cut
 * and damaged packets.
 *
 * Every packet that is parsed lies in a kmalloc() block of exactly its readable
 * size, so that KASAN sees one byte read too many.
 */
#include <kunit/test.h>
#include <linux/bitfield.h>
#include <linux/crc32c.h>
#include <linux/hex.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "wire_vectors.h"

#define UET_FUZZ_ROUNDS		200000
#define UET_FUZZ_GROW		64

/* ------------------------------------------------------------------ */
/* Vectors as bytes                                                    */

static unsigned int uet_vector_len(const struct uet_vector *v)
{
	unsigned int len = v->fill;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(v->hex) && v->hex[i]; i++)
		len += strlen(v->hex[i]) / 2;
	return len;
}

/* The bytes of a vector, with @room bytes of 0 behind; false if not hex. */
static bool uet_vector_write(const struct uet_vector *v, u8 *buf,
			     unsigned int room)
{
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(v->hex) && v->hex[i]; i++) {
		n = strlen(v->hex[i]) / 2;
		if (hex2bin(buf, v->hex[i], n))
			return false;
		buf += n;
	}
	for (i = 0; i < v->fill; i++)
		*buf++ = i;
	memset(buf, 0, room);
	return true;
}

static u8 *uet_vector_bytes(struct kunit *test, const struct uet_vector *v,
			    unsigned int room)
{
	u8 *buf = kunit_kmalloc(test, uet_vector_len(v) + room, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_ASSERT_TRUE(test, uet_vector_write(v, buf, room));
	return buf;
}

/* Parse a packet of which just @linear bytes exist in memory. */
static int uet_parse_exact(struct kunit *test, const u8 *data,
			   unsigned int linear, unsigned int len,
			   struct uet_pkt *pkt)
{
	u8 *copy = kmalloc(linear, GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, data, linear);
	ret = uet_pkt_parse(copy, linear, len, pkt);
	kfree(copy);
	return ret;
}

static void uet_vector_desc(const struct uet_vector *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(uet_vector, uet_vectors, uet_vector_desc);

/* ------------------------------------------------------------------ */
/* Tests of the vectors                                                */

static void uet_wire_parse(struct kunit *test)
{
	const struct uet_vector *v = test->param_value;
	unsigned int len = uet_vector_len(v);
	u8 *buf = uet_vector_bytes(test, v, 0);
	struct uet_pkt pkt;

	/* Every field; what lies between fields is 0 in both */
	KUNIT_ASSERT_EQ(test, uet_pkt_parse(buf, len, len, &pkt), 0);
	KUNIT_EXPECT_MEMEQ(test, &pkt, &v->pkt, sizeof(pkt));
}

static void uet_wire_build(struct kunit *test)
{
	const struct uet_vector *v = test->param_value;
	unsigned int hdr_len = uet_pkt_hdr_len(&v->pkt);
	u8 *want = uet_vector_bytes(test, v, 0);
	u8 *got;

	KUNIT_ASSERT_EQ(test, hdr_len, v->pkt.hdr_len);
	KUNIT_ASSERT_EQ(test, hdr_len + v->pkt.payload_len, uet_vector_len(v));
	got = kunit_kmalloc(test, hdr_len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, got);
	memset(got, 0xa5, hdr_len);
	KUNIT_EXPECT_EQ(test, uet_pkt_build(&v->pkt, got), hdr_len);
	KUNIT_EXPECT_MEMEQ(test, got, want, hdr_len);
}

/*
 * uet-wire 1.7: over both addresses, the UDP or entropy header, and all from
 * the prologue to the end of the payload.
 */
static void uet_wire_crc(struct kunit *test)
{
	const struct uet_vector *v = test->param_value;
	unsigned int len = uet_vector_len(v);
	u8 *buf = uet_vector_bytes(test, v, 0);
	const __be32 a = cpu_to_be32(0xc0000201), b = cpu_to_be32(0xc0000202);
	const struct uet_entropy_hdr entropy = {
		.entropy = cpu_to_be16(v->entropy),
	};
	const __be16 udp[4] = {
		cpu_to_be16(0xbeef), cpu_to_be16(UET_UDP_PORT),
		cpu_to_be16(8 + len + 4), 0,
	};
	u32 crc = ~0;

	crc = crc32c(crc, v->to_a ? &b : &a, sizeof(a));
	crc = crc32c(crc, v->to_a ? &a : &b, sizeof(b));
	if (v->entropy)
		crc = crc32c(crc, &entropy, sizeof(entropy));
	else
		crc = crc32c(crc, udp, sizeof(udp));
	KUNIT_EXPECT_EQ(test, ~crc32c(crc, buf, len), v->crc);
}

/*
 * The first packet of a longer message does not say how much payload it has:
 * cut in the payload it is just a shorter one.
 */
static bool uet_may_be_short(const struct uet_pkt *pkt)
{
	return uet_next_is_req(pkt->next) && pkt->req.flags & UET_SES_SOM &&
	       !(pkt->req.flags & UET_SES_EOM);
}

static void uet_wire_truncate(struct kunit *test)
{
	const struct uet_vector *v = test->param_value;
	unsigned int len = uet_vector_len(v);
	u8 *buf = uet_vector_bytes(test, v, 0);
	struct uet_pkt pkt;
	unsigned int n;
	int ret;

	for (n = 0; n < len; n++) {
		ret = uet_parse_exact(test, buf, n, n, &pkt);
		if (n >= v->pkt.hdr_len && uet_may_be_short(&v->pkt)) {
			KUNIT_EXPECT_EQ_MSG(test, ret, 0, "%u bytes", n);
			KUNIT_EXPECT_EQ(test, pkt.payload_len + pkt.hdr_len, n);
			KUNIT_EXPECT_EQ(test, pkt.req.payload_length,
					pkt.payload_len);
		} else {
			KUNIT_EXPECT_EQ_MSG(test, ret, -EBADMSG, "%u bytes", n);
		}
	}
}

/* The payload need not be readable, the headers must be. */
static void uet_wire_linear(struct kunit *test)
{
	const struct uet_vector *v = test->param_value;
	unsigned int len = uet_vector_len(v);
	u8 *buf = uet_vector_bytes(test, v, 0);
	struct uet_pkt pkt;
	unsigned int n;
	int ret;

	for (n = 0; n < v->pkt.hdr_len; n++) {
		ret = uet_parse_exact(test, buf, n, len, &pkt);
		KUNIT_EXPECT_EQ_MSG(test, ret, -EBADMSG, "%u bytes", n);
	}
	for (; n <= len; n++) {
		ret = uet_parse_exact(test, buf, n, len, &pkt);
		KUNIT_EXPECT_EQ_MSG(test, ret, 0, "%u bytes", n);
		KUNIT_EXPECT_MEMEQ(test, &pkt, &v->pkt, sizeof(pkt));
	}
}

/* What is left of a trimmed packet, uet-wire 1.6, is enough for a NACK. */
static void uet_wire_trimmed(struct kunit *test)
{
	const struct uet_vector *v = test->param_value;
	unsigned int n = min(uet_vector_len(v), 16U);
	u8 *copy = kunit_kmalloc(test, n, GFP_KERNEL);
	struct uet_pkt pkt;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, uet_vector_bytes(test, v, 0), n);
	ret = uet_pkt_parse_pds(copy, n, &pkt);
	if (v->pkt.type == UET_PDS_ACK_CC) {
		KUNIT_EXPECT_EQ(test, ret, -EBADMSG);
		return;
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, pkt.type, v->pkt.type);
	KUNIT_EXPECT_EQ(test, pkt.next, v->pkt.next);
	KUNIT_EXPECT_EQ(test, pkt.flags, v->pkt.flags);
	KUNIT_EXPECT_EQ(test, pkt.psn, v->pkt.psn);
	KUNIT_EXPECT_EQ(test, pkt.spdcid, v->pkt.spdcid);
	KUNIT_EXPECT_EQ(test, pkt.dpdcid, v->pkt.dpdcid);
	KUNIT_EXPECT_LE(test, pkt.hdr_len, n);
	KUNIT_EXPECT_EQ(test, pkt.payload_len, 0);
}

/* ------------------------------------------------------------------ */
/* Vectors with a few bytes changed                                    */

/**
 * struct uet_edit - a changed vector, and what parsing it must say
 * @name: what it is about
 * @vector: index in uet_vectors
 * @grow: bytes of 0 to append, or bytes to cut
 * @ret: what uet_pkt_parse() returns
 * @at: bytes to overwrite: offset from the prologue, new bytes
 */
struct uet_edit {
	const char *name;
	u8 vector;
	s8 grow;
	int ret;
	struct {
		u8 offset;
		const char *hex;
	} at[3];
};

static const struct uet_edit uet_edits[] = {
	/* Prologue. uet-wire 2.1 */
	{ "type 0", V1, 0, -EPROTONOSUPPORT, {{ 0, "018c" }} },
	{ "type TSS", V1, 0, -EPROTONOSUPPORT, {{ 0, "098c" }} },
	{ "type 15", V1, 0, -EPROTONOSUPPORT, {{ 0, "798c" }} },
	{ "type 31", V1, 0, -EPROTONOSUPPORT, {{ 0, "f98c" }} },
	{ "request, next_hdr 0", V1, 0, -EPROTONOSUPPORT, {{ 0, "100c" }} },
	{ "request, next_hdr 7", V1, 0, -EPROTONOSUPPORT, {{ 0, "138c" }} },
	{ "request, next_hdr 15", V1, 0, -EPROTONOSUPPORT, {{ 0, "178c" }} },
	{ "ACK with a request", V4, 0, -EPROTONOSUPPORT, {{ 0, "3980" }} },
	{ "UUD with a response", V17, 0, -EPROTONOSUPPORT, {{ 0, "3200" }} },
	{ "RUDI response, request", V16, 0, -EPROTONOSUPPORT, {{ 0, "2980" }} },
	{ "NACK, next_hdr 4", V6, 0, -EPROTONOSUPPORT, {{ 0, "5220" }} },
	{ "CLEAR_PSN = psn", V1, 0, 0, {{ 2, "0000" }} },
	{ "CLEAR_PSN > psn", V1, 0, -EBADMSG, {{ 2, "0001" }} },
	{ "CC state, CLEAR_PSN > psn", V14, 0, -EBADMSG, {{ 2, "7fff" }} },

	/* Packets without a SES header. 2.5 - 2.12, 10.1 items 4, 5, 6, 20 */
	{ "ACK, 0x40, 4 extra", V8, 4, 0, {{ 0, "3840" }} },
	{ "ACK, 0x40, none extra", V8, 0, 0, {{ 0, "3840" }} },
	{ "ACK, 0x40, 3 extra", V8, 3, -EBADMSG, {{ 0, "3840" }} },
	{ "ACK, 0x40, 5 extra", V8, 5, -EBADMSG, {{ 0, "3840" }} },
	{ "ACK, 4 extra", V8, 4, -EBADMSG },
	{ "ACK with response, 4 extra", V4, 4, -EBADMSG, {{ 0, "3a40" }} },
	{ "ACK_CC, 4 extra", V19, 4, -EBADMSG, {{ 0, "4048" }} },
	{ "ACK_CCX 31", V19, -1, -EBADMSG, {{ 0, "4808" }} },
	{ "ACK_CCX 32", V19, 0, 0, {{ 0, "4808" }} },
	{ "ACK_CCX 36", V19, 4, 0, {{ 0, "4808" }} },
	{ "ACK_CCX 40", V19, 8, 0, {{ 0, "4808" }} },
	{ "ACK_CCX 44", V19, 12, 0, {{ 0, "4808" }} },
	{ "ACK_CCX with response", V5, 8, -EPROTONOSUPPORT, {{ 0, "4a20" }} },
	{ "NACK 17", V6, 1, -EBADMSG },
	{ "NACK_CCX 23", V6, 7, -EBADMSG, {{ 0, "6020" }} },
	{ "NACK_CCX 24", V6, 8, 0, {{ 0, "6020" }} },
	{ "NACK_CCX 28", V6, 12, 0, {{ 0, "6020" }} },
	{ "NACK_CCX 32", V6, 16, 0, {{ 0, "6020" }} },
	{ "CP 17", V7, 1, -EBADMSG },
	{ "CP Negotiation", V7, 0, 0, {{ 0, "5c80" }} },
	{ "CP Negotiation, longer", V7, 5, 0, {{ 0, "5c80" }} },
	{ "CP ctl_type 10", V7, 0, -EPROTONOSUPPORT, {{ 0, "5d00" }} },
	{ "CP ctl_type 15", V7, 0, -EPROTONOSUPPORT, {{ 0, "5f80" }} },

	/* SES head. 4.1 - 4.4 */
	{ "request, version 1", V1, 0, -EPROTO, {{ 13, "4b" }} },
	{ "response, version 2", V4, 0, -EPROTO, {{ 13, "81" }} },
	{ "small without EOM", V14, 0, -EBADMSG, {{ 17, "09" }} },
	{ "small without SOM", V14, 0, -EBADMSG, {{ 17, "0a" }} },
	{ "small with HD", V14, 0, -EBADMSG, {{ 17, "0f" }} },
	{ "medium without EOM", V15, 0, -EBADMSG, {{ 13, "09" }} },
	{ "medium without SOM", V15, 0, -EBADMSG, {{ 13, "0a" }} },
	{ "medium with HD", V15, 0, 0, {{ 13, "0f" }} },
	{ "medium, length 4 of 3", V15, 0, -EBADMSG, {{ 14, "0004" }} },
	{ "medium, reserved length bits", V15, 0, 0, {{ 14, "c003" }} },

	/* Payload against request_length. 4.2 */
	{ "one packet, too short", V1, 0, -EBADMSG, {{ 52, "00000005" }} },
	{ "one packet, too long", V1, 0, -EBADMSG, {{ 52, "00000003" }} },
	{ "one packet, empty", V1, -4, 0, {{ 52, "00000000" }} },
	{ "WRITE, too short", V10, -1, -EBADMSG },
	{ "WRITE, too long", V10, 1, -EBADMSG },
	{ "first, all of it", V2, 0, 0, {{ 52, "00000400" }} },
	{ "first, more than all", V2, 0, -EBADMSG, {{ 52, "000003ff" }} },
	{ "last, payload_length 15", V3, 0, -EBADMSG, {{ 44, "0000000f" }} },
	{ "last, payload_length 17", V3, 0, -EBADMSG, {{ 44, "00000011" },
						       { 52, "00000420" }} },
	{ "last, beyond the end", V3, 0, -EBADMSG, {{ 52, "0000040f" }} },
	{ "last, offset wraps", V3, 0, -EBADMSG, {{ 48, "fffffff8" }} },
	{ "last, up to 4 GiB", V3, 0, 0, {{ 48, "ffffffef" },
					  { 52, "ffffffff" }} },
	{ "last, empty", V3, -16, 0, {{ 44, "00000000" }} },
	{ "last, empty, length 16", V3, -16, -EBADMSG },
	{ "datagram without EOM", V17, 0, -EBADMSG, {{ 5, "09" }} },
	{ "datagram without SOM", V17, 0, -EBADMSG, {{ 5, "0a" },
						     { 36, "00000002" }} },

	/* Requests of a special kind. 4.1, 4.8, 4.11 - 4.14 */
	{ "IE, too short", V1, 0, 0, {{ 13, "1b" }, { 52, "00000005" }} },
	{ "IE, too long", V1, 0, 0, {{ 13, "1b" }, { 52, "00000003" }} },
	{ "IE, last, cut off", V3, -16, 0, {{ 13, "1a" }} },
	{ "IE, last, beyond the end", V3, 0, -EBADMSG, {{ 13, "1a" },
							{ 52, "0000040f" }} },
	{ "READ with payload", V14, 1, -EBADMSG },
	{ "READ, first", V1, -4, 0, {{ 12, "02" }, { 13, "09" },
				     { 52, "00010000" }} },
	{ "READ, last", V3, -16, 0, {{ 12, "02" }} },
	{ "READ, last, with payload", V3, 0, -EBADMSG, {{ 12, "02" }} },
	{ "READ, beyond the end", V3, -16, -EBADMSG, {{ 12, "02" },
						      { 44, "00000011" }} },
	{ "NO_OP", V1, -4, 0, {{ 12, "00" }} },
	{ "NO_OP with payload", V1, 0, -EBADMSG, {{ 12, "00" }} },
	{ "RTR with payload", V22, 1, -EBADMSG },
	{ "MSG_ERROR", V3, -16, 0, {{ 12, "0f" }} },
	{ "MSG_ERROR with payload", V3, 0, -EBADMSG, {{ 12, "0f" }} },
	{ "deferred send ends", V3, -16, 0, {{ 12, "08" }} },
	{ "deferred tagged send ends", V3, -16, 0, {{ 12, "0b" }} },
	{ "deferred send, no EOM", V3, -16, -EBADMSG, {{ 12, "08" },
						       { 13, "08" }} },
	{ "deferred send, last", V3, 0, 0, {{ 12, "08" }} },
	{ "send with invalidate", V1, 0, 0, {{ 12, "30" }} },
	{ "send with invalidate, short", V1, -1, -EBADMSG, {{ 12, "30" }} },
	{ "opcode not known", V1, -2, 0, {{ 12, "32" }} },
	{ "opcode extended", V1, 1, 0, {{ 12, "3f" }} },
	{ "opcode reserved bits", V1, 0, 0, {{ 12, "c5" }} },

	/* Extensions. 4.5, 4.13 */
	{ "atomic without operand", V11, -8, -EBADMSG },
	{ "atomic, operand cut", V11, -1, -EBADMSG },
	{ "atomic READ, no operand", V11, -8, 0, {{ 56, "0b" }} },
	{ "atomic READ, operand", V11, 0, 0, {{ 56, "0b" }} },
	{ "CSWAP without extension", V11, 0, -EBADMSG, {{ 56, "0d" }} },
	{ "CSWAP with payload", V21, 8, -EBADMSG },
	{ "MSWAP", V21, 0, 0, {{ 56, "13" }} },
	{ "vendor atomic", V11, 0, 0, {{ 56, "e0" }} },
	{ "rendezvous, eager 5 of 4", V20, 0, -EBADMSG, {{ 56, "00000005" }} },
	{ "rendezvous, eager 3 of 4", V20, 0, -EBADMSG, {{ 56, "00000003" }} },
	{ "rendezvous, eager > length", V20, 0, -EBADMSG, {{ 52, "00000003" }} },
	{ "rendezvous, all eager", V20, 0, 0, {{ 52, "00000004" }} },
	{ "rendezvous, none eager", V20, -4, 0, {{ 56, "00000000" }} },
	{ "rendezvous, medium", V15, 24, -EBADMSG, {{ 12, "0a" }} },

	/* Responses. 4.6 */
	{ "response with payload", V4, 1, -EBADMSG },
	{ "response data, 7 of 8", V12, 0, -EBADMSG, {{ 22, "0007" }} },
	{ "response data, 9 of 8", V12, 0, -EBADMSG, {{ 22, "0009" }} },
	{ "response data, reserved bits", V12, 0, 0, {{ 22, "c008" }} },
	{ "small response, 31 of 32", V23, 0, -EBADMSG, {{ 14, "001f" }} },
	{ "small response, cut", V23, -1, -EBADMSG },
};

static void uet_edit_desc(const struct uet_edit *edit, char *desc)
{
	strscpy(desc, edit->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(uet_edit, uet_edits, uet_edit_desc);

static void uet_wire_edit(struct kunit *test)
{
	const struct uet_edit *edit = test->param_value;
	const struct uet_vector *v = &uet_vectors[edit->vector];
	unsigned int len = uet_vector_len(v) + edit->grow;
	u8 *buf = uet_vector_bytes(test, v, max_t(int, edit->grow, 0));
	struct uet_pkt pkt;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(edit->at) && edit->at[i].hex; i++) {
		const char *hex = edit->at[i].hex;

		KUNIT_ASSERT_EQ(test, hex2bin(buf + edit->at[i].offset, hex,
					      strlen(hex) / 2), 0);
	}
	KUNIT_EXPECT_EQ(test, uet_parse_exact(test, buf, len, len, &pkt),
			edit->ret);
	if (edit->ret != -EPROTO)
		return;
	/* Enough to answer it */
	KUNIT_EXPECT_EQ(test, pkt.psn, v->pkt.psn);
	KUNIT_EXPECT_EQ(test, pkt.spdcid, v->pkt.spdcid);
	KUNIT_EXPECT_EQ(test, pkt.ack.cack_psn, v->pkt.ack.cack_psn);
}

/* Bits that mean nothing are dropped, and never sent. */
static void uet_wire_reserved(struct kunit *test)
{
	const struct uet_vector *v = &uet_vectors[V1];
	unsigned int len = uet_vector_len(v);
	u8 *buf = uet_vector_bytes(test, v, 0);
	struct uet_pkt pkt;

	buf[1] |= 0x63;		/* prologue flags */
	buf[12] |= 0xc0;	/* before the opcode */
	buf[20] |= 0xf0;	/* before PIDonFEP */
	buf[22] |= 0xf0;	/* before RI */
	buf[44] |= 0xff;	/* header data, without HD */
	KUNIT_ASSERT_EQ(test, uet_pkt_parse(buf, len, len, &pkt), 0);
	KUNIT_EXPECT_MEMEQ(test, &pkt, &v->pkt, sizeof(pkt));

	pkt.flags |= 0x63;
	pkt.req.opcode |= 0xc0;
	pkt.req.flags |= 0xc0;
	pkt.req.pid_on_fep |= 0xf000;
	pkt.req.ri |= 0xf000;
	pkt.req.job_id |= 0xff000000;
	pkt.req.header_data = ~0ULL;
	uet_pkt_build(&pkt, buf);
	KUNIT_EXPECT_MEMEQ(test, buf, uet_vector_bytes(test, v, 0), len);
}

/* What the parser derives rather than reads. */
static void uet_wire_derived(struct kunit *test)
{
	struct uet_pkt pkt;
	u8 *buf = uet_vector_bytes(test, &uet_vectors[V3], 0);

	/* A deferred send that ends: payload_length as of no payload */
	buf[12] = UET_OP_DEFERRABLE_SEND;
	KUNIT_ASSERT_EQ(test, uet_pkt_parse(buf, 56, 56, &pkt), 0);
	KUNIT_EXPECT_EQ(test, pkt.req.payload_length, 0);
	KUNIT_EXPECT_EQ(test, pkt.req.message_offset, 1024);
	KUNIT_EXPECT_EQ(test, pkt.payload_len, 0);

	/* The same for the end of a message in error */
	buf[12] = UET_OP_MSG_ERROR;
	KUNIT_ASSERT_EQ(test, uet_pkt_parse(buf, 56, 56, &pkt), 0);
	KUNIT_EXPECT_EQ(test, pkt.req.payload_length, 0);
	KUNIT_EXPECT_EQ(test, pkt.req.message_offset, 1024);

	/* A continued READ: what it asks for */
	buf[12] = UET_OP_READ;
	KUNIT_ASSERT_EQ(test, uet_pkt_parse(buf, 56, 56, &pkt), 0);
	KUNIT_EXPECT_EQ(test, pkt.req.payload_length, 16);
	KUNIT_EXPECT_EQ(test, pkt.payload_len, 0);

	/* PSN distances across the wrap */
	buf = uet_vector_bytes(test, &uet_vectors[V5], 0);
	memset(buf + 4, 0xff, 4);
	KUNIT_ASSERT_EQ(test, uet_pkt_parse(buf, 44, 44, &pkt), 0);
	KUNIT_EXPECT_EQ(test, pkt.ack.cack_psn, U32_MAX);
	KUNIT_EXPECT_EQ(test, pkt.ack.ack_psn, 3);
	KUNIT_EXPECT_EQ(test, pkt.ack.sack_base, 0);

	/* No bytes of a longer header shine through in ACK_CCX */
	buf = uet_vector_bytes(test, &uet_vectors[V19], 8);
	buf[0] = UET_PDS_ACK_CCX << 3;
	KUNIT_ASSERT_EQ(test, uet_pkt_parse(buf, 40, 40, &pkt), 0);
	KUNIT_EXPECT_EQ(test, pkt.ack.sack_bitmap, 0xc);
	KUNIT_EXPECT_EQ(test, pkt.ack.cc_state, 0);
	KUNIT_EXPECT_EQ(test, pkt.hdr_len, 24);
	KUNIT_EXPECT_EQ(test, uet_pkt_hdr_len(&pkt), 40);
}

/* ------------------------------------------------------------------ */
/* Random damage                                                       */

struct uet_fuzz {
	struct rnd_state rnd;
	unsigned int accepted;
	u16 nexts[UET_PDS_TYPES];	/* seen: bit is next_hdr or ctl_type */
	struct uet_pkt pkt;
	struct uet_pkt again;
	u8 hdr[UET_PKT_HDR_MAX];
	u8 buf[2048];
};

static u32 uet_fuzz_below(struct uet_fuzz *fuzz, u32 ceiling)
{
	return prandom_u32_state(&fuzz->rnd) % ceiling;
}

/* Change a byte somewhere in what may be headers. */
static void uet_fuzz_byte(struct uet_fuzz *fuzz, unsigned int len)
{
	static const u8 edges[] = { 0, 1, 0x7f, 0x80, 0xff };
	u8 *p = &fuzz->buf[uet_fuzz_below(fuzz, min(len, UET_PKT_HDR_MAX))];

	switch (uet_fuzz_below(fuzz, 3)) {
	case 0:
		*p ^= 1 << uet_fuzz_below(fuzz, 8);
		break;
	case 1:
		*p = prandom_u32_state(&fuzz->rnd);
		break;
	case 2:
		*p = edges[uet_fuzz_below(fuzz, ARRAY_SIZE(edges))];
		break;
	}
}

/* Another type or next_hdr on the same bytes; small numbers mostly. */
static void uet_fuzz_prologue(struct uet_fuzz *fuzz)
{
	u16 val = FIELD_PREP(UET_PROLOGUE_TYPE, uet_fuzz_below(fuzz, 16)) |
		  FIELD_PREP(UET_PROLOGUE_NEXT, uet_fuzz_below(fuzz, 11)) |
		  FIELD_PREP(UET_PROLOGUE_FLAGS, uet_fuzz_below(fuzz, 128));

	fuzz->buf[0] = val >> 8;
	fuzz->buf[1] = val;
}

/* A damaged vector in buf; returns its length. */
static unsigned int uet_fuzz_make(struct uet_fuzz *fuzz)
{
	const struct uet_vector *v =
		&uet_vectors[uet_fuzz_below(fuzz, ARRAY_SIZE(uet_vectors))];
	unsigned int len = uet_vector_len(v);
	unsigned int n;

	uet_vector_write(v, fuzz->buf, UET_FUZZ_GROW);
	if (!uet_fuzz_below(fuzz, 3))
		uet_fuzz_prologue(fuzz);
	for (n = uet_fuzz_below(fuzz, 4); n; n--)
		uet_fuzz_byte(fuzz, len);
	if (!uet_fuzz_below(fuzz, 3))
		len = uet_fuzz_below(fuzz, len + UET_FUZZ_GROW);
	return len;
}

/* Build what was parsed, put the payload behind it, and parse that. */
static int uet_fuzz_rebuild(struct kunit *test, struct uet_fuzz *fuzz,
			    const u8 *payload)
{
	unsigned int hdr_len = uet_pkt_hdr_len(&fuzz->pkt);
	unsigned int len = hdr_len + fuzz->pkt.payload_len;
	u8 *copy = kmalloc(len, GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	/* Over two different grounds: no byte may show through */
	memset(copy, 0, hdr_len);
	uet_pkt_build(&fuzz->pkt, copy);
	memset(fuzz->hdr, 0xff, hdr_len);
	KUNIT_ASSERT_EQ(test, uet_pkt_build(&fuzz->pkt, fuzz->hdr), hdr_len);
	KUNIT_ASSERT_MEMEQ(test, copy, fuzz->hdr, hdr_len);
	memcpy(copy + hdr_len, payload, fuzz->pkt.payload_len);
	ret = uet_pkt_parse(copy, len, len, &fuzz->again);
	kfree(copy);
	return ret;
}

static void uet_fuzz_one(struct kunit *test, struct uet_fuzz *fuzz)
{
	unsigned int len = uet_fuzz_make(fuzz);
	const struct uet_pkt *pkt = &fuzz->pkt;

	if (uet_parse_exact(test, fuzz->buf, len, len, &fuzz->pkt))
		return;
	fuzz->accepted++;
	fuzz->nexts[pkt->type] |= BIT(pkt->next | pkt->ctl);
	KUNIT_ASSERT_LE(test, pkt->hdr_len + pkt->payload_len, len);
	/* The headers are all that was looked at */
	KUNIT_ASSERT_EQ(test, uet_parse_exact(test, fuzz->buf, pkt->hdr_len,
					      len, &fuzz->again), 0);
	KUNIT_ASSERT_MEMEQ(test, pkt, &fuzz->again, sizeof(*pkt));
	KUNIT_ASSERT_EQ(test, uet_fuzz_rebuild(test, fuzz,
					       fuzz->buf + pkt->hdr_len), 0);
	KUNIT_ASSERT_MEMEQ_MSG(test, pkt, &fuzz->again, sizeof(*pkt), "%*phN",
			       (int)min(len, 64U), fuzz->buf);
}

static void uet_wire_mutate(struct kunit *test)
{
	struct uet_fuzz *fuzz = kunit_kzalloc(test, sizeof(*fuzz), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, fuzz);
	prandom_seed_state(&fuzz->rnd, UET_UDP_PORT);
	for (i = 0; i < ARRAY_SIZE(uet_vectors); i++)
		KUNIT_ASSERT_LE(test, uet_vector_len(&uet_vectors[i]) +
				UET_FUZZ_GROW, sizeof(fuzz->buf));
	for (i = 0; i < UET_FUZZ_ROUNDS; i++)
		uet_fuzz_one(test, fuzz);
	kunit_info(test, "%u of %u accepted and rebuilt\n", fuzz->accepted,
		   UET_FUZZ_ROUNDS);

	/* The damage must not have been so bad that nothing was tested */
	KUNIT_EXPECT_GT(test, fuzz->accepted, UET_FUZZ_ROUNDS / 20);
	for (i = UET_PDS_RUD; i < UET_PDS_TYPES; i++)
		KUNIT_EXPECT_NE_MSG(test, fuzz->nexts[i], 0, "type %u", i);
}

static struct kunit_case uet_wire_cases[] = {
	KUNIT_CASE_PARAM(uet_wire_parse, uet_vector_gen_params),
	KUNIT_CASE_PARAM(uet_wire_build, uet_vector_gen_params),
	KUNIT_CASE_PARAM(uet_wire_crc, uet_vector_gen_params),
	KUNIT_CASE_PARAM(uet_wire_truncate, uet_vector_gen_params),
	KUNIT_CASE_PARAM(uet_wire_linear, uet_vector_gen_params),
	KUNIT_CASE_PARAM(uet_wire_trimmed, uet_vector_gen_params),
	KUNIT_CASE_PARAM(uet_wire_edit, uet_edit_gen_params),
	KUNIT_CASE(uet_wire_reserved),
	KUNIT_CASE(uet_wire_derived),
	KUNIT_CASE_SLOW(uet_wire_mutate),
	{}
};

static struct kunit_suite uet_wire_suite = {
	.name = "uet_wire",
	.test_cases = uet_wire_cases,
};

kunit_test_suite(uet_wire_suite);

MODULE_DESCRIPTION("KUnit tests of the UET packet parser and builder");
MODULE_LICENSE("Dual BSD/GPL");
