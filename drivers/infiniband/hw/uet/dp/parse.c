// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * From the bytes that arrived to struct uet_pkt. Everything a peer says about
 * lengths is checked here, once, against what really came, so nothing behind
 * this file has to.
 */
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "layout.h"

static_assert(UET_CP_SYN == UET_REQ_SYN);

/* The part of the packet that can be read, and how far it has been. */
struct uet_reader {
	const u8 *data;
	unsigned int linear;
	unsigned int len;
	unsigned int pos;
};

/* The next @n bytes, or NULL if that many cannot be read. */
static const void *uet_take(struct uet_reader *rd, unsigned int n)
{
	const u8 *p = rd->data + rd->pos;

	if (n > rd->linear - rd->pos)
		return NULL;
	rd->pos += n;
	return p;
}

/* Bytes behind the headers read so far, readable or not. */
static unsigned int uet_behind(const struct uet_reader *rd)
{
	return rd->len - rd->pos;
}

/* A PSN that stands on the wire as signed distance from another one. */
static u32 uet_psn_from(u32 base, __be16 offset)
{
	return base + (s16)be16_to_cpu(offset);
}

/* 2.2: dpdcid, or what SYN makes of it; the bit is the same in CPs */
static void uet_parse_dpdcid(struct uet_pkt *pkt, __be16 field)
{
	u16 val = be16_to_cpu(field);

	if (!(pkt->flags & UET_REQ_SYN)) {
		pkt->dpdcid = val;
		return;
	}
	pkt->pdc_info = FIELD_GET(UET_SYN_PDC_INFO, val);
	pkt->psn_offset = FIELD_GET(UET_SYN_PSN_OFFSET, val);
}

/* 2.2 */
static int uet_parse_req_pds(struct uet_pkt *pkt, const void *data)
{
	const struct uet_pds_req_hdr *hdr = data;

	/* Nobody can consume a response before having asked for it, 2.10 */
	if ((s16)be16_to_cpu(hdr->clear_psn_offset) > 0)
		return -EBADMSG;
	pkt->psn = be32_to_cpu(hdr->psn);
	pkt->clear_psn = uet_psn_from(pkt->psn, hdr->clear_psn_offset);
	pkt->spdcid = be16_to_cpu(hdr->spdcid);
	uet_parse_dpdcid(pkt, hdr->dpdcid);
	return 0;
}

/* 2.3 */
static int uet_parse_req_cc_pds(struct uet_pkt *pkt, const void *data)
{
	const struct uet_pds_req_cc_hdr *hdr = data;
	u32 cc = be32_to_cpu(hdr->cc);

	pkt->ccc_id = FIELD_GET(UET_REQ_CC_CCC_ID, cc);
	pkt->credit_target = FIELD_GET(UET_REQ_CC_CREDIT, cc);
	return uet_parse_req_pds(pkt, &hdr->req);
}

/* 2.4 */
static void uet_parse_rudi_pds(struct uet_pkt *pkt, const void *data)
{
	const struct uet_pds_rudi_hdr *hdr = data;

	pkt->psn = be32_to_cpu(hdr->pkt_id);
}

/* 2.5 */
static void uet_parse_ack_pds(struct uet_pkt *pkt, const void *data)
{
	const struct uet_pds_ack_hdr *hdr = data;
	struct uet_ack_info *ack = &pkt->ack;

	ack->cack_psn = be32_to_cpu(hdr->cack_psn);
	if (pkt->flags & UET_ACK_P)
		ack->probe_opaque = be16_to_cpu(hdr->ack_psn_offset);
	else
		ack->ack_psn = uet_psn_from(ack->cack_psn,
					    hdr->ack_psn_offset);
	pkt->spdcid = be16_to_cpu(hdr->spdcid);
	pkt->dpdcid = be16_to_cpu(hdr->dpdcid);
}

/* 2.6, 2.7: the 24 bytes that ACK_CC and every form of ACK_CCX share */
static void uet_parse_ack_ccx_pds(struct uet_pkt *pkt, const void *data)
{
	const struct uet_pds_ack_cc_hdr *hdr = data;
	struct uet_ack_info *ack = &pkt->ack;

	uet_parse_ack_pds(pkt, data);
	ack->cc_type = FIELD_GET(UET_ACK_CC_TYPE, hdr->cc_type_flags);
	ack->cc_flags = FIELD_GET(UET_ACK_CC_FLAGS, hdr->cc_type_flags);
	ack->mpr = hdr->mpr;
	ack->sack_base = uet_psn_from(ack->cack_psn, hdr->sack_psn_offset);
	ack->sack_bitmap = be64_to_cpu(hdr->sack_bitmap);
}

/* 2.6 */
static void uet_parse_ack_cc_pds(struct uet_pkt *pkt, const void *data)
{
	const struct uet_pds_ack_cc_hdr *hdr = data;

	uet_parse_ack_ccx_pds(pkt, data);
	pkt->ack.cc_state = be64_to_cpu(hdr->cc_state);
}

/* 2.8 */
static void uet_parse_nack_pds(struct uet_pkt *pkt, const void *data)
{
	const struct uet_pds_nack_hdr *hdr = data;

	pkt->nack_code = hdr->nack_code;
	pkt->nack_vendor = hdr->vendor_code;
	pkt->psn = be32_to_cpu(hdr->psn);
	pkt->spdcid = be16_to_cpu(hdr->spdcid);
	pkt->dpdcid = be16_to_cpu(hdr->dpdcid);
	pkt->payload32 = be32_to_cpu(hdr->payload);
}

/* 2.12 */
static int uet_parse_cp_pds(struct uet_pkt *pkt, const void *data)
{
	const struct uet_pds_cp_hdr *hdr = data;

	/* The bits that were read as next_hdr */
	pkt->ctl = pkt->next;
	pkt->next = UET_NEXT_NONE;
	if (pkt->ctl > UET_CTL_NEGOTIATION)
		return -EPROTONOSUPPORT;
	pkt->probe_opaque = be16_to_cpu(hdr->probe_opaque);
	pkt->psn = be32_to_cpu(hdr->psn);
	pkt->spdcid = be16_to_cpu(hdr->spdcid);
	uet_parse_dpdcid(pkt, hdr->dpdcid);
	pkt->payload32 = be32_to_cpu(hdr->payload);
	return 0;
}

/* How much of a PDS header is looked at; less than all of it for two types. */
static unsigned int uet_pds_parse_len(u8 type)
{
	switch (type) {
	case UET_PDS_ACK_CCX:
		return offsetof(struct uet_pds_ack_ccx_hdr, cc_state);
	case UET_PDS_NACK_CCX:
		return offsetof(struct uet_pds_nack_ccx_hdr, cc_state);
	default:
		return uet_pds_layout(type)->len;
	}
}

static int uet_parse_pds_by_type(struct uet_pkt *pkt, const void *hdr)
{
	switch (pkt->type) {
	case UET_PDS_RUD:
	case UET_PDS_ROD:
		return uet_parse_req_pds(pkt, hdr);
	case UET_PDS_RUD_CC:
	case UET_PDS_ROD_CC:
		return uet_parse_req_cc_pds(pkt, hdr);
	case UET_PDS_CP:
		return uet_parse_cp_pds(pkt, hdr);
	case UET_PDS_RUDI_REQ:
	case UET_PDS_RUDI_RSP:
		uet_parse_rudi_pds(pkt, hdr);
		break;
	case UET_PDS_ACK:
		uet_parse_ack_pds(pkt, hdr);
		break;
	case UET_PDS_ACK_CC:
		uet_parse_ack_cc_pds(pkt, hdr);
		break;
	case UET_PDS_ACK_CCX:
		uet_parse_ack_ccx_pds(pkt, hdr);
		break;
	case UET_PDS_NACK:
	case UET_PDS_NACK_CCX:
		uet_parse_nack_pds(pkt, hdr);
		break;
	}
	return 0;
}

/* 2.1 and the rest of the PDS header; @raw_flags has the reserved ones too. */
static int uet_parse_pds(struct uet_reader *rd, struct uet_pkt *pkt,
			 u8 *raw_flags)
{
	const struct uet_pds_layout *layout;
	const __be16 *prologue;
	const void *hdr;
	u16 val;

	prologue = uet_take(rd, sizeof(*prologue));
	if (!prologue)
		return -EBADMSG;
	rd->pos = 0;
	val = get_unaligned_be16(prologue);
	pkt->type = FIELD_GET(UET_PROLOGUE_TYPE, val);
	layout = uet_pds_layout(pkt->type);
	if (!layout)
		return -EPROTONOSUPPORT;
	hdr = uet_take(rd, uet_pds_parse_len(pkt->type));
	if (!hdr)
		return -EBADMSG;
	pkt->next = FIELD_GET(UET_PROLOGUE_NEXT, val);
	*raw_flags = FIELD_GET(UET_PROLOGUE_FLAGS, val);
	pkt->flags = *raw_flags & layout->flags;
	pkt->hdr_len = rd->pos;
	return uet_parse_pds_by_type(pkt, hdr);
}

/*
 * Nothing may follow where no SES header was announced, except what others
 * are known to append.
 */
static int uet_check_bare(const struct uet_reader *rd,
			  const struct uet_pkt *pkt, u8 raw_flags)
{
	unsigned int behind = uet_behind(rd);

	switch (pkt->type) {
	case UET_PDS_ACK_CCX:		/* 10.1 item 5 */
		return rd->len < UET_ACK_CCX_LEN_MIN ? -EBADMSG : 0;
	case UET_PDS_NACK_CCX:		/* 10.1 item 6 */
		return rd->len < UET_NACK_CCX_LEN_MIN ? -EBADMSG : 0;
	case UET_PDS_ACK:		/* 10.1 item 4 */
		if (raw_flags & UET_ACK_EPSN && behind == UET_ACK_EPSN_LEN)
			return 0;
		break;
	case UET_PDS_CP:		/* 10.2 item 5: content unknown */
		if (pkt->ctl == UET_CTL_NEGOTIATION)
			return 0;
		break;
	}
	return behind ? -EBADMSG : 0;
}

/* 4.1 */
static void uet_parse_req_head(struct uet_ses_req *req,
			       const struct uet_ses_req_hdr *hdr)
{
	u32 gen_job = be32_to_cpu(hdr->gen_job);

	req->opcode = FIELD_GET(UET_SES_OPCODE, hdr->opcode);
	req->flags = FIELD_GET(UET_SES_FLAGS, hdr->ver_flags);
	req->ri_gen = FIELD_GET(UET_SES_RI_GEN, gen_job);
	req->job_id = FIELD_GET(UET_SES_JOB_ID, gen_job);
	req->pid_on_fep = FIELD_GET(UET_SES_PID, be16_to_cpu(hdr->pid_on_fep));
	req->ri = FIELD_GET(UET_SES_RI, be16_to_cpu(hdr->ri));
}

/* 4.3, 4.4: a message of one packet, its length in bytes 2-3 */
static int uet_parse_single(struct uet_ses_req *req,
			    const struct uet_ses_req_hdr *hdr)
{
	if (!uet_req_is_single(req))
		return -EBADMSG;
	req->request_length = FIELD_GET(UET_SES_LENGTH,
					be16_to_cpu(hdr->id_len));
	return 0;
}

/* 4.4 */
static int uet_parse_small(struct uet_ses_req *req, const void *data)
{
	const struct uet_ses_small_hdr *hdr = data;

	/* No place for header data */
	if (req->flags & UET_SES_HD)
		return -EBADMSG;
	req->buffer_offset = be64_to_cpu(hdr->buffer_offset);
	return uet_parse_single(req, &hdr->req);
}

/* 4.3 */
static int uet_parse_medium(struct uet_ses_req *req, const void *data)
{
	const struct uet_ses_medium_hdr *hdr = data;

	if (req->flags & UET_SES_HD)
		req->header_data = be64_to_cpu(hdr->offset_or_data);
	else
		req->buffer_offset = be64_to_cpu(hdr->offset_or_data);
	req->initiator = be32_to_cpu(hdr->initiator);
	req->match = be64_to_cpu(hdr->match);
	return uet_parse_single(req, &hdr->req);
}

/* 4.2; the two forms differ in bytes 32 to 39 only */
static void uet_parse_std(struct uet_ses_req *req, const void *data)
{
	const struct uet_ses_std_som_hdr *som = data;
	const struct uet_ses_std_hdr *hdr = data;

	req->message_id = be16_to_cpu(hdr->req.id_len);
	req->buffer_offset = be64_to_cpu(hdr->buffer_offset);
	req->initiator = be32_to_cpu(hdr->initiator);
	req->match = be64_to_cpu(hdr->match);
	req->request_length = be32_to_cpu(hdr->request_length);
	if (!(req->flags & UET_SES_SOM)) {
		req->payload_length =
			FIELD_GET(UET_SES_PAYLOAD_LEN,
				  be32_to_cpu(hdr->payload_length));
		req->message_offset = be32_to_cpu(hdr->message_offset);
	} else if (req->flags & UET_SES_HD) {
		req->header_data = be64_to_cpu(som->header_data);
	}
}

/* 4.5 */
static int uet_parse_amo_ext(struct uet_reader *rd, struct uet_ses_req *req)
{
	const struct uet_ses_amo_ext *amo = uet_take(rd, sizeof(*amo));
	const u8 *operands;

	if (!amo)
		return -EBADMSG;
	req->amo_op = amo->op;
	req->amo_type = amo->type;
	req->amo_ctl = amo->ctl;
	if (!uet_amo_is_cswap(amo->op))
		return 0;
	operands = uet_take(rd, sizeof(struct uet_ses_cswap_ext) -
				sizeof(*amo));
	if (!operands)
		return -EBADMSG;
	memcpy(req->amo_compare, operands, sizeof(req->amo_compare));
	memcpy(req->amo_swap, operands + sizeof(req->amo_compare),
	       sizeof(req->amo_swap));
	return 0;
}

/* 4.5 */
static int uet_parse_rdv_ext(struct uet_reader *rd, struct uet_pkt *pkt)
{
	const struct uet_ses_rdv_ext *ext;
	struct uet_ses_req *req = &pkt->req;
	u32 val;

	/* Only the standard header is known to be extended, 10.1 item 11 */
	if (pkt->next != UET_NEXT_REQ_STD)
		return -EBADMSG;
	ext = uet_take(rd, sizeof(*ext));
	if (!ext)
		return -EBADMSG;
	val = be32_to_cpu(ext->gen_pid_ri);
	req->rdv_eager = be32_to_cpu(ext->eager_length);
	req->rdv_gen = FIELD_GET(UET_RDV_GEN, val);
	req->rdv_pid = FIELD_GET(UET_RDV_PID, val);
	req->rdv_ri = FIELD_GET(UET_RDV_RI, val);
	req->rdv_offset = be64_to_cpu(ext->offset);
	req->rdv_key = be64_to_cpu(ext->key);
	return req->rdv_eager > req->request_length ? -EBADMSG : 0;
}

static int uet_parse_ext(struct uet_reader *rd, struct uet_pkt *pkt)
{
	switch (uet_op_kind(pkt->req.opcode)) {
	case UET_OP_KIND_AMO:
		return uet_parse_amo_ext(rd, &pkt->req);
	case UET_OP_KIND_RDV:
		return uet_parse_rdv_ext(rd, pkt);
	default:
		return 0;
	}
}

/* Bytes of a message that travel in requests: a rendezvous sends some only. */
static u32 uet_sent_length(const struct uet_ses_req *req)
{
	return uet_op_kind(req->opcode) == UET_OP_KIND_RDV ?
	       req->rdv_eager : req->request_length;
}

/*
 * 1.5: all packets but the last are full. What is not may have a trailer that
 * this side does not expect (1.7).
 */
static bool uet_is_payload_mtu(unsigned int len)
{
	return is_power_of_2(len) && len >= UET_PAYLOAD_MTU_MIN &&
	       len <= UET_PAYLOAD_MTU_MAX;
}

/* A packet whose payload is a piece of the message, or all of it. */
static int uet_check_data(const struct uet_ses_req *req, unsigned int behind)
{
	u32 total = uet_sent_length(req);

	if (!(req->flags & UET_SES_SOM))
		return req->payload_length == behind ? 0 : -EBADMSG;
	if (req->flags & UET_SES_EOM)
		return behind == total ? 0 : -EBADMSG;
	return behind <= total && uet_is_payload_mtu(behind) ? 0 : -EBADMSG;
}

/*
 * 4.5: a compare-and-swap has its operands in the extension, whatever
 * request_length says. READ and INVAL need no operand; no source says whether
 * one is sent nevertheless.
 */
static int uet_check_amo(const struct uet_ses_req *req, unsigned int behind)
{
	if (uet_amo_is_cswap(req->amo_op))
		return behind ? -EBADMSG : 0;
	if (!behind && (req->amo_op == UET_AMO_READ ||
			req->amo_op == UET_AMO_INVAL))
		return 0;
	return uet_check_data(req, behind);
}

/* 4.12 item 4: the packet that ends a deferred send early */
static bool uet_is_cancel(const struct uet_ses_req *req, unsigned int behind)
{
	return uet_op_kind(req->opcode) == UET_OP_KIND_DEFER && !behind &&
	       !(req->flags & UET_SES_SOM) && req->flags & UET_SES_EOM;
}

static int uet_check_payload(const struct uet_ses_req *req,
			     unsigned int behind)
{
	if (req->opcode == UET_OP_DATAGRAM_SEND && !uet_req_is_single(req))
		return -EBADMSG;
	/* 4.1: the header is fine, the payload is not what it should be */
	if (req->flags & UET_SES_IE)
		return 0;
	switch (uet_op_kind(req->opcode)) {
	case UET_OP_KIND_NONE:
	case UET_OP_KIND_READ:
		return behind ? -EBADMSG : 0;
	case UET_OP_KIND_AMO:
		return uet_check_amo(req, behind);
	case UET_OP_KIND_DATA:
	case UET_OP_KIND_DEFER:
	case UET_OP_KIND_RDV:
		return uet_check_data(req, behind);
	case UET_OP_KIND_ANY:
		break;
	}
	return 0;
}

/* payload_length, and every rule that ties lengths to each other. */
static int uet_parse_lengths(struct uet_ses_req *req, unsigned int behind)
{
	enum uet_op_kind kind = uet_op_kind(req->opcode);
	u32 total = uet_sent_length(req);

	if (kind == UET_OP_KIND_NONE || uet_is_cancel(req, behind))
		req->payload_length = 0;	/* 10.2 item 11 */
	else if (req->flags & UET_SES_SOM)
		req->payload_length = kind == UET_OP_KIND_READ ?
				      total : min(total, behind);
	if ((u64)req->message_offset + req->payload_length > total)
		return -EBADMSG;
	return uet_check_payload(req, behind);
}

static int uet_parse_req(struct uet_reader *rd, struct uet_pkt *pkt)
{
	const struct uet_ses_req_hdr *hdr = uet_take(rd, uet_ses_len(pkt->next));
	struct uet_ses_req *req = &pkt->req;
	int err = 0;

	if (!hdr)
		return -EBADMSG;
	uet_parse_req_head(req, hdr);
	if (FIELD_GET(UET_SES_VERSION, hdr->ver_flags))
		return -EPROTO;
	switch (pkt->next) {
	case UET_NEXT_REQ_SMALL:
		err = uet_parse_small(req, hdr);
		break;
	case UET_NEXT_REQ_MEDIUM:
		err = uet_parse_medium(req, hdr);
		break;
	case UET_NEXT_REQ_STD:
		uet_parse_std(req, hdr);
		break;
	}
	if (!err)
		err = uet_parse_ext(rd, pkt);
	if (!err)
		err = uet_parse_lengths(req, uet_behind(rd));
	return err;
}

/* 4.6 */
static void uet_parse_rsp_plain(struct uet_ses_rsp *rsp, const void *data)
{
	const struct uet_ses_rsp_hdr *hdr = data;
	u32 gen_job = be32_to_cpu(hdr->gen_job);

	rsp->message_id = be16_to_cpu(hdr->message_id);
	rsp->ri_gen = FIELD_GET(UET_SES_RI_GEN, gen_job);
	rsp->job_id = FIELD_GET(UET_SES_JOB_ID, gen_job);
	rsp->modified_length = be32_to_cpu(hdr->modified_length);
}

/* 4.6 */
static void uet_parse_rsp_data(struct uet_ses_rsp *rsp, const void *data)
{
	const struct uet_ses_rsp_data_hdr *hdr = data;

	rsp->message_id = be16_to_cpu(hdr->message_id);
	rsp->job_id = FIELD_GET(UET_SES_JOB_ID, be32_to_cpu(hdr->job));
	rsp->read_message_id = be16_to_cpu(hdr->read_message_id);
	rsp->payload_length = FIELD_GET(UET_SES_PAYLOAD_LEN,
					be16_to_cpu(hdr->payload_length));
	rsp->modified_length = be32_to_cpu(hdr->modified_length);
	rsp->message_offset = be32_to_cpu(hdr->message_offset);
}

/* 4.6 */
static void uet_parse_rsp_small(struct uet_ses_rsp *rsp, const void *data)
{
	const struct uet_ses_rsp_small_hdr *hdr = data;

	rsp->payload_length = FIELD_GET(UET_SES_PAYLOAD_LEN,
					be16_to_cpu(hdr->payload_length));
	rsp->job_id = FIELD_GET(UET_SES_JOB_ID, be32_to_cpu(hdr->job));
	rsp->request_psn = be32_to_cpu(hdr->request_psn);
}

static int uet_parse_rsp(struct uet_reader *rd, struct uet_pkt *pkt)
{
	const struct uet_ses_rsp_hdr *hdr = uet_take(rd, uet_ses_len(pkt->next));
	struct uet_ses_rsp *rsp = &pkt->rsp;

	if (!hdr)
		return -EBADMSG;
	if (FIELD_GET(UET_SES_VERSION, hdr->ver_rc))
		return -EPROTO;
	rsp->list = FIELD_GET(UET_SES_RSP_LIST, hdr->list_opcode);
	rsp->opcode = FIELD_GET(UET_SES_RSP_OPCODE, hdr->list_opcode);
	rsp->rc = FIELD_GET(UET_SES_RSP_RC, hdr->ver_rc);
	switch (pkt->next) {
	case UET_NEXT_RSP:
		uet_parse_rsp_plain(rsp, hdr);
		break;
	case UET_NEXT_RSP_DATA:
		uet_parse_rsp_data(rsp, hdr);
		break;
	case UET_NEXT_RSP_DATA_SMALL:
		uet_parse_rsp_small(rsp, hdr);
		break;
	}
	/* The plain response has no data, its payload_length is 0 */
	return rsp->payload_length == uet_behind(rd) ? 0 : -EBADMSG;
}

/**
 * uet_pkt_parse - take a packet apart
 * @data: PDS prologue, at any alignment
 * @linear: bytes that can be read at @data: all of the packet, or
 *	UET_PKT_HDR_MAX of it
 * @len: bytes of the packet from the prologue on, without CRC trailer
 * @pkt: set in full, fields the packet does not have are 0
 *
 * Reserved bits are dropped, so is a header data field whose flag is not set.
 * Packets of the types ACK_CCX and NACK_CCX come out with hdr_len 24 and 16:
 * that much of them is understood, and there is no payload.
 *
 * Not checked, because it takes state: that a packet which is not the last of
 * its message has a full payload, and that the message ends where EOM is.
 *
 * Context: any.
 * Return: 0; -EBADMSG if the packet contradicts itself or is cut short;
 * -EPROTONOSUPPORT for a type, next_hdr or ctl_type that is not known, TSS
 * included; -EPROTO for a SES version other than 0. With -EPROTO the PDS part
 * of @pkt is valid, and of a request the fields of uet-wire 4.1 but
 * message_id, so that it can be refused. With other errors @pkt is
 * not to be used.
 */
int uet_pkt_parse(const void *data, unsigned int linear, unsigned int len,
		  struct uet_pkt *pkt)
{
	struct uet_reader rd = {
		.data = data,
		.linear = min(linear, len),
		.len = len,
	};
	u8 raw_flags;
	int err;

	memset(pkt, 0, sizeof(*pkt));
	err = uet_parse_pds(&rd, pkt, &raw_flags);
	if (err)
		return err;
	if (pkt->next > UET_NEXT_RSP_DATA_SMALL ||
	    !(uet_pds_layout(pkt->type)->next & BIT(pkt->next)))
		return -EPROTONOSUPPORT;
	if (pkt->next == UET_NEXT_NONE)
		return uet_check_bare(&rd, pkt, raw_flags);
	if (uet_next_is_req(pkt->next))
		err = uet_parse_req(&rd, pkt);
	else
		err = uet_parse_rsp(&rd, pkt);
	pkt->hdr_len = rd.pos;
	pkt->payload_len = uet_behind(&rd);
	return err;
}
EXPORT_SYMBOL_GPL(uet_pkt_parse);

/**
 * uet_pkt_parse_pds - take only the PDS header of a packet apart
 * @data: PDS prologue, at any alignment
 * @linear: bytes that can be read at @data
 * @pkt: set in full; hdr_len is that of the PDS header, payload_len is 0, and
 *	@next is what the sender announced
 *
 * For trimmed packets, which are sure to have 16 bytes (uet-wire 1.6): enough
 * to answer a request with a NACK.
 *
 * Context: any.
 * Return: 0, or an error as from uet_pkt_parse().
 */
int uet_pkt_parse_pds(const void *data, unsigned int linear,
		      struct uet_pkt *pkt)
{
	struct uet_reader rd = {
		.data = data,
		.linear = linear,
		.len = linear,
	};
	u8 raw_flags;

	memset(pkt, 0, sizeof(*pkt));
	return uet_parse_pds(&rd, pkt, &raw_flags);
}
EXPORT_SYMBOL_GPL(uet_pkt_parse_pds);
