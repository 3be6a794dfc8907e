/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * One UET packet as a plain host-order struct: what parse.c makes of the
 * bytes that arrived and what build.c makes the bytes to send from. Nothing
 * behind these two files looks at the wire.
 */
#ifndef UET_PKT_H
#define UET_PKT_H

#include <linux/types.h>

#include "wire.h"

/**
 * struct uet_ack_info - the fields of ACK, ACK_CC and ACK_CCX
 * @cack_psn: cumulative acknowledged PSN
 * @ack_psn: PSN that triggered the ACK; not valid when UET_ACK_P is set
 * @probe_opaque: copied from the Probe CP; valid when UET_ACK_P is set
 * @mpr: receive window in units of 128 PSNs; ACK_CC and ACK_CCX only
 * @cc_type: enum uet_cc_type; ACK_CC and ACK_CCX only
 * @cc_flags: 0 when sent, ignored when received
 * @sack_base: PSN of bit 0 of @sack_bitmap
 * @sack_bitmap: bit i is PSN @sack_base + i; 0 for a plain ACK
 * @cc_state: the 64 bits of ack_cc_state, laid out by @cc_type
 *
 * Source: uet-wire 2.5, 2.6, 2.7.
 */
struct uet_ack_info {
	u32 cack_psn;
	u32 ack_psn;
	u16 probe_opaque;
	u8 mpr;
	u8 cc_type;
	u8 cc_flags;
	u32 sack_base;
	u64 sack_bitmap;
	u64 cc_state;
};

/**
 * struct uet_ses_req - a SES request header: small, medium or standard
 * @opcode: enum uet_ses_op
 * @flags: UET_SES_DC, _IE, _REL, _HD, _EOM, _SOM
 * @message_id: standard header; 0 = no id. Reads as 0 for small and medium
 * @ri_gen: generation of the resource index, 0 if unused
 * @job_id: 24 bits
 * @pid_on_fep: 12 bits
 * @ri: 12 bits
 * @buffer_offset: offset in the target buffer, or virtual address; the
 *	restart token of deferrable sends
 * @initiator: initiator id; 0 for the small header, which has none
 * @match: memory key or match bits; 0 for the small header
 * @header_data: valid when UET_SES_HD and UET_SES_SOM are set
 * @payload_length: standard header with SOM=0 only: bytes of this packet (for
 *	READ: bytes asked for). build.c writes it, parse.c also fills it for
 *	SOM=1 with min(request_length, bytes behind the headers); for READ with
 *	SOM=1 it is request_length, of which one payload MTU is asked for
 * @message_offset: offset of this packet in the message; 0 when SOM=1
 * @request_length: length of the whole message
 * @amo_op: ATOMIC, FETCHING_ATOMIC, TSEND_*ATOMIC: enum uet_amo_op
 * @amo_type: enum uet_amo_type
 * @amo_ctl: semantic control
 * @amo_compare: compare operand of the compare-and-swap extension, 16 bytes
 *	as on the wire
 * @amo_swap: swap operand
 * @rdv_eager: RENDEZVOUS_*: bytes of eager payload
 * @rdv_gen: read generation
 * @rdv_pid: read PIDonFEP
 * @rdv_ri: read resource index
 * @rdv_offset: read offset
 * @rdv_key: read memory key
 *
 * Source: uet-wire 4.1 - 4.5.
 */
struct uet_ses_req {
	u8 opcode;
	u8 flags;
	u16 message_id;
	u8 ri_gen;
	u32 job_id;
	u16 pid_on_fep;
	u16 ri;
	u64 buffer_offset;
	u32 initiator;
	u64 match;
	u64 header_data;
	u32 payload_length;
	u32 message_offset;
	u32 request_length;

	u8 amo_op;
	u8 amo_type;
	u8 amo_ctl;
	u8 amo_compare[16];
	u8 amo_swap[16];

	u32 rdv_eager;
	u8 rdv_gen;
	u16 rdv_pid;
	u16 rdv_ri;
	u64 rdv_offset;
	u64 rdv_key;
};

/**
 * struct uet_ses_rsp - a SES response header
 * @list: UET_LIST_EXPECTED, UET_LIST_OVERFLOW, or vendor
 * @opcode: enum uet_ses_rsp_op
 * @rc: enum uet_rc
 * @message_id: of the request (UET_NEXT_RSP); the target's own id or 0
 *	(UET_NEXT_RSP_DATA)
 * @ri_gen: the current generation on a mismatch (UET_NEXT_RSP only)
 * @job_id: copied from the request
 * @modified_length: bytes of target buffer modified
 * @read_message_id: UET_NEXT_RSP_DATA: message id of the read request
 * @payload_length: UET_NEXT_RSP_DATA(_SMALL): bytes of data in this packet
 * @message_offset: UET_NEXT_RSP_DATA: where the data stands in the message
 * @request_psn: UET_NEXT_RSP_DATA_SMALL: PSN of the request
 *
 * Source: uet-wire 4.6.
 */
struct uet_ses_rsp {
	u8 list;
	u8 opcode;
	u8 rc;
	u16 message_id;
	u8 ri_gen;
	u32 job_id;
	u32 modified_length;
	u16 read_message_id;
	u16 payload_length;
	u32 message_offset;
	u32 request_psn;
};

/**
 * struct uet_pkt - one packet, from the PDS prologue to the end of the payload
 * @type: enum uet_pds_type
 * @next: enum uet_next_hdr; 0 for a control packet
 * @ctl: enum uet_ctl_type; control packets only
 * @flags: the 7 flag bits of the prologue, meaning by @type
 * @psn: RUD, ROD, CP: psn; NACK: nack_psn or nack_pkt_id; RUDI: pkt_id
 * @clear_psn: RUD, ROD requests: CLEAR_PSN, already made absolute
 * @spdcid: PDCID of the sender
 * @dpdcid: PDCID of the receiver; 0 when the SYN form is used
 * @pdc_info: 4 bits, SYN form only; 0 when sent, ignored when received
 * @psn_offset: psn - Start_PSN, 12 bits, SYN form only
 * @ccc_id: requests with CC state
 * @credit_target: requests with CC state, 24 bits, units of 256 bytes
 * @ack: ACK, ACK_CC, ACK_CCX
 * @nack_code: enum uet_nack_code
 * @nack_vendor: vendor code, 0 otherwise
 * @payload32: NACK and CP: the u32 at offset 12
 * @probe_opaque: CP: u16 at offset 2
 * @req: SES request, when @next is one of the request headers
 * @rsp: SES response, when @next is one of the response headers
 * @hdr_len: bytes of PDS + SES + extensions
 * @payload_len: bytes behind the headers that belong to the packet
 * @skb_off: where the payload starts in the skb it came in; set by the
 *	receiver, not by parse.c
 */
struct uet_pkt {
	u8 type;
	u8 next;
	u8 ctl;
	u8 flags;
	u32 psn;
	u32 clear_psn;
	u16 spdcid;
	u16 dpdcid;
	u8 pdc_info;
	u16 psn_offset;
	u8 ccc_id;
	u32 credit_target;
	struct uet_ack_info ack;
	u8 nack_code;
	u8 nack_vendor;
	u32 payload32;
	u16 probe_opaque;
	union {
		struct uet_ses_req req;
		struct uet_ses_rsp rsp;
	};
	u16 hdr_len;
	u32 payload_len;
	u32 skb_off;
};

/* Longest PDS + SES + extension this driver ever builds or parses. */
#define UET_PKT_HDR_MAX		128

static inline bool uet_next_is_req(u8 next)
{
	return next >= UET_NEXT_REQ_SMALL && next <= UET_NEXT_REQ_STD;
}

static inline bool uet_next_is_rsp(u8 next)
{
	return next >= UET_NEXT_RSP && next <= UET_NEXT_RSP_DATA_SMALL;
}

/* Is this all of its message? */
static inline bool uet_req_is_single(const struct uet_ses_req *req)
{
	return req->flags & UET_SES_SOM && req->flags & UET_SES_EOM;
}

int uet_pkt_parse(const void *data, unsigned int linear, unsigned int len,
		  struct uet_pkt *pkt);
int uet_pkt_parse_pds(const void *data, unsigned int linear,
		      struct uet_pkt *pkt);
unsigned int uet_pkt_hdr_len(const struct uet_pkt *pkt);
unsigned int uet_pkt_build(const struct uet_pkt *pkt, void *data);

#endif /* UET_PKT_H */
