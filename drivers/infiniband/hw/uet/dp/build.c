// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * From struct uet_pkt to the bytes to send, and the tables of header layouts
 * that parse.c shares. Reserved bits and bytes are sent as 0.
 */
#include <linux/bitfield.h>
#include <linux/export.h>
#include <linux/string.h>

#include "layout.h"
#include "psn.h"

#define UET_REQ_FLAGS		(UET_REQ_RETX | UET_REQ_AR | UET_REQ_SYN)
#define UET_RUDI_FLAGS		(UET_RUDI_M | UET_RUDI_RETX)
#define UET_ACK_FLAGS		(UET_ACK_M | UET_ACK_RETX | UET_ACK_P | \
				 UET_ACK_REQ)
#define UET_NACK_FLAGS		(UET_NACK_M | UET_NACK_RETX | UET_NACK_NT)
#define UET_CP_FLAGS		(UET_CP_ISROD | UET_CP_RETX | UET_CP_AR | \
				 UET_CP_SYN)

#define UET_NEXTS_NONE		BIT(UET_NEXT_NONE)
#define UET_NEXTS_REQ		(BIT(UET_NEXT_REQ_SMALL) | \
				 BIT(UET_NEXT_REQ_MEDIUM) | \
				 BIT(UET_NEXT_REQ_STD))
#define UET_NEXTS_RSP		(BIT(UET_NEXT_RSP) | BIT(UET_NEXT_RSP_DATA) | \
				 BIT(UET_NEXT_RSP_DATA_SMALL))

/*
 * uet-wire 2.1 - 2.12. RUD and ROD requests carry responses as well: the data
 * of large reads on the return direction, 2.15.
 */
const struct uet_pds_layout uet_pds_layouts[UET_PDS_TYPES] = {
	[UET_PDS_RUD] = { sizeof(struct uet_pds_req_hdr),
		UET_REQ_FLAGS, UET_NEXTS_REQ | UET_NEXTS_RSP },
	[UET_PDS_ROD] = { sizeof(struct uet_pds_req_hdr),
		UET_REQ_FLAGS, UET_NEXTS_REQ | UET_NEXTS_RSP },
	[UET_PDS_RUDI_REQ] = { sizeof(struct uet_pds_rudi_hdr),
		UET_RUDI_FLAGS, UET_NEXTS_REQ },
	[UET_PDS_RUDI_RSP] = { sizeof(struct uet_pds_rudi_hdr),
		UET_RUDI_FLAGS, UET_NEXTS_RSP },
	[UET_PDS_UUD] = { sizeof(struct uet_pds_uud_hdr),
		0, UET_NEXTS_REQ },
	[UET_PDS_ACK] = { sizeof(struct uet_pds_ack_hdr),
		UET_ACK_FLAGS, UET_NEXTS_NONE | UET_NEXTS_RSP },
	[UET_PDS_ACK_CC] = { sizeof(struct uet_pds_ack_cc_hdr),
		UET_ACK_FLAGS, UET_NEXTS_NONE | UET_NEXTS_RSP },
	[UET_PDS_ACK_CCX] = { sizeof(struct uet_pds_ack_ccx_hdr),
		UET_ACK_FLAGS, UET_NEXTS_NONE },
	[UET_PDS_NACK] = { sizeof(struct uet_pds_nack_hdr),
		UET_NACK_FLAGS, UET_NEXTS_NONE },
	/* The next_hdr bits of a control packet are ctl_type */
	[UET_PDS_CP] = { sizeof(struct uet_pds_cp_hdr),
		UET_CP_FLAGS, UET_NEXTS_NONE },
	[UET_PDS_NACK_CCX] = { sizeof(struct uet_pds_nack_ccx_hdr),
		UET_NACK_FLAGS, UET_NEXTS_NONE },
	[UET_PDS_RUD_CC] = { sizeof(struct uet_pds_req_cc_hdr),
		UET_REQ_FLAGS, UET_NEXTS_REQ | UET_NEXTS_RSP },
	[UET_PDS_ROD_CC] = { sizeof(struct uet_pds_req_cc_hdr),
		UET_REQ_FLAGS, UET_NEXTS_REQ | UET_NEXTS_RSP },
};

/* uet-wire 4.8 */
const u8 uet_op_kinds[UET_SES_OPCODE + 1] = {
	[UET_OP_NO_OP]			= UET_OP_KIND_NONE,
	[UET_OP_WRITE]			= UET_OP_KIND_DATA,
	[UET_OP_READ]			= UET_OP_KIND_READ,
	[UET_OP_ATOMIC]			= UET_OP_KIND_AMO,
	[UET_OP_FETCHING_ATOMIC]	= UET_OP_KIND_AMO,
	[UET_OP_SEND]			= UET_OP_KIND_DATA,
	[UET_OP_RENDEZVOUS_SEND]	= UET_OP_KIND_RDV,
	[UET_OP_DATAGRAM_SEND]		= UET_OP_KIND_DATA,
	[UET_OP_DEFERRABLE_SEND]	= UET_OP_KIND_DEFER,
	[UET_OP_TAGGED_SEND]		= UET_OP_KIND_DATA,
	[UET_OP_RENDEZVOUS_TSEND]	= UET_OP_KIND_RDV,
	[UET_OP_DEFERRABLE_TSEND]	= UET_OP_KIND_DEFER,
	[UET_OP_DEFERRABLE_RTR]		= UET_OP_KIND_NONE,
	[UET_OP_TSEND_ATOMIC]		= UET_OP_KIND_AMO,
	[UET_OP_TSEND_FETCH_ATOMIC]	= UET_OP_KIND_AMO,
	[UET_OP_MSG_ERROR]		= UET_OP_KIND_NONE,
	[UET_OP_SEND_INVALIDATE]	= UET_OP_KIND_DATA,
	[UET_OP_FLUSH]			= UET_OP_KIND_NONE,
};

/* Longest of all: request with CC state, standard header, compare-and-swap */
static_assert(sizeof(struct uet_pds_req_cc_hdr) +
	      sizeof(struct uet_ses_std_hdr) +
	      sizeof(struct uet_ses_cswap_ext) <= UET_PKT_HDR_MAX);

static unsigned int uet_ext_len(const struct uet_ses_req *req)
{
	switch (uet_op_kind(req->opcode)) {
	case UET_OP_KIND_AMO:
		return uet_amo_is_cswap(req->amo_op) ?
		       sizeof(struct uet_ses_cswap_ext) :
		       sizeof(struct uet_ses_amo_ext);
	case UET_OP_KIND_RDV:
		return sizeof(struct uet_ses_rdv_ext);
	default:
		return 0;
	}
}

/**
 * uet_pkt_hdr_len - bytes that uet_pkt_build() will write
 * @pkt: packet; looks at type, next, and of a request at opcode and amo_op
 *
 * Context: any.
 * Return: bytes of PDS header, SES header and extension, at most
 * UET_PKT_HDR_MAX; 0 for an unknown type.
 */
unsigned int uet_pkt_hdr_len(const struct uet_pkt *pkt)
{
	const struct uet_pds_layout *layout = uet_pds_layout(pkt->type);
	unsigned int len;

	if (!layout)
		return 0;
	len = layout->len;
	if (pkt->type == UET_PDS_CP)
		return len;
	len += uet_ses_len(pkt->next);
	if (uet_next_is_req(pkt->next))
		len += uet_ext_len(&pkt->req);
	return len;
}
EXPORT_SYMBOL_GPL(uet_pkt_hdr_len);

/* 2.1 */
static __be16 uet_build_prologue(const struct uet_pkt *pkt)
{
	u8 next = pkt->type == UET_PDS_CP ? pkt->ctl : pkt->next;
	u8 flags = pkt->flags & uet_pds_layout(pkt->type)->flags;

	return cpu_to_be16(FIELD_PREP(UET_PROLOGUE_TYPE, pkt->type) |
			   FIELD_PREP(UET_PROLOGUE_NEXT, next) |
			   FIELD_PREP(UET_PROLOGUE_FLAGS, flags));
}

/* A PSN as the signed 16-bit distance from another one. */
static __be16 uet_build_offset(u32 psn, u32 from)
{
	return cpu_to_be16((u16)uet_psn_diff(psn, from));
}

/* 2.2: the last field of requests and control packets */
static __be16 uet_build_dpdcid(const struct uet_pkt *pkt)
{
	if (!(pkt->flags & UET_REQ_SYN))
		return cpu_to_be16(pkt->dpdcid);
	return cpu_to_be16(FIELD_PREP(UET_SYN_PDC_INFO, pkt->pdc_info) |
			   FIELD_PREP(UET_SYN_PSN_OFFSET, pkt->psn_offset));
}

/* 2.2 */
static void uet_build_req_pds(const struct uet_pkt *pkt, void *data)
{
	struct uet_pds_req_hdr *hdr = data;

	hdr->prologue = uet_build_prologue(pkt);
	hdr->clear_psn_offset = uet_build_offset(pkt->clear_psn, pkt->psn);
	hdr->psn = cpu_to_be32(pkt->psn);
	hdr->spdcid = cpu_to_be16(pkt->spdcid);
	hdr->dpdcid = uet_build_dpdcid(pkt);
}

/* 2.3 */
static void uet_build_req_cc_pds(const struct uet_pkt *pkt, void *data)
{
	struct uet_pds_req_cc_hdr *hdr = data;

	uet_build_req_pds(pkt, &hdr->req);
	hdr->cc = cpu_to_be32(FIELD_PREP(UET_REQ_CC_CCC_ID, pkt->ccc_id) |
			      FIELD_PREP(UET_REQ_CC_CREDIT,
					 pkt->credit_target));
}

/* 2.4 */
static void uet_build_rudi_pds(const struct uet_pkt *pkt, void *data)
{
	struct uet_pds_rudi_hdr *hdr = data;

	hdr->prologue = uet_build_prologue(pkt);
	hdr->rsvd = 0;
	hdr->pkt_id = cpu_to_be32(pkt->psn);
}

/* 2.4 */
static void uet_build_uud_pds(const struct uet_pkt *pkt, void *data)
{
	struct uet_pds_uud_hdr *hdr = data;

	hdr->prologue = uet_build_prologue(pkt);
	hdr->rsvd = 0;
}

/* 2.5 */
static void uet_build_ack_pds(const struct uet_pkt *pkt, void *data)
{
	const struct uet_ack_info *ack = &pkt->ack;
	struct uet_pds_ack_hdr *hdr = data;

	hdr->prologue = uet_build_prologue(pkt);
	if (pkt->flags & UET_ACK_P)
		hdr->ack_psn_offset = cpu_to_be16(ack->probe_opaque);
	else
		hdr->ack_psn_offset = uet_build_offset(ack->ack_psn,
						       ack->cack_psn);
	hdr->cack_psn = cpu_to_be32(ack->cack_psn);
	hdr->spdcid = cpu_to_be16(pkt->spdcid);
	hdr->dpdcid = cpu_to_be16(pkt->dpdcid);
}

/* 2.6 */
static void uet_build_ack_cc_pds(const struct uet_pkt *pkt, void *data)
{
	const struct uet_ack_info *ack = &pkt->ack;
	struct uet_pds_ack_cc_hdr *hdr = data;

	uet_build_ack_pds(pkt, &hdr->ack);
	hdr->cc_type_flags = FIELD_PREP(UET_ACK_CC_TYPE, ack->cc_type) |
			     FIELD_PREP(UET_ACK_CC_FLAGS, ack->cc_flags);
	hdr->mpr = ack->mpr;
	hdr->sack_psn_offset = uet_build_offset(ack->sack_base, ack->cack_psn);
	hdr->sack_bitmap = cpu_to_be64(ack->sack_bitmap);
	hdr->cc_state = cpu_to_be64(ack->cc_state);
}

/* 2.7: the same up to byte 24; the rest has no agreed meaning */
static void uet_build_ack_ccx_pds(const struct uet_pkt *pkt, void *data)
{
	struct uet_pds_ack_ccx_hdr *hdr = data;

	uet_build_ack_cc_pds(pkt, data);
	memset(hdr->cc_state, 0, sizeof(hdr->cc_state));
}

/* 2.8 */
static void uet_build_nack_pds(const struct uet_pkt *pkt, void *data)
{
	struct uet_pds_nack_hdr *hdr = data;

	hdr->prologue = uet_build_prologue(pkt);
	hdr->nack_code = pkt->nack_code;
	hdr->vendor_code = pkt->nack_vendor;
	hdr->psn = cpu_to_be32(pkt->psn);
	hdr->spdcid = cpu_to_be16(pkt->spdcid);
	hdr->dpdcid = cpu_to_be16(pkt->dpdcid);
	hdr->payload = cpu_to_be32(pkt->payload32);
}

/* 2.8 */
static void uet_build_nack_ccx_pds(const struct uet_pkt *pkt, void *data)
{
	struct uet_pds_nack_ccx_hdr *hdr = data;

	uet_build_nack_pds(pkt, &hdr->nack);
	memset(hdr->cc_state, 0, sizeof(hdr->cc_state));
}

/* 2.12 */
static void uet_build_cp_pds(const struct uet_pkt *pkt, void *data)
{
	struct uet_pds_cp_hdr *hdr = data;

	hdr->prologue = uet_build_prologue(pkt);
	hdr->probe_opaque = cpu_to_be16(pkt->probe_opaque);
	hdr->psn = cpu_to_be32(pkt->psn);
	hdr->spdcid = cpu_to_be16(pkt->spdcid);
	hdr->dpdcid = uet_build_dpdcid(pkt);
	hdr->payload = cpu_to_be32(pkt->payload32);
}

static void uet_build_pds(const struct uet_pkt *pkt, void *data)
{
	switch (pkt->type) {
	case UET_PDS_RUD:
	case UET_PDS_ROD:
		return uet_build_req_pds(pkt, data);
	case UET_PDS_RUD_CC:
	case UET_PDS_ROD_CC:
		return uet_build_req_cc_pds(pkt, data);
	case UET_PDS_RUDI_REQ:
	case UET_PDS_RUDI_RSP:
		return uet_build_rudi_pds(pkt, data);
	case UET_PDS_UUD:
		return uet_build_uud_pds(pkt, data);
	case UET_PDS_ACK:
		return uet_build_ack_pds(pkt, data);
	case UET_PDS_ACK_CC:
		return uet_build_ack_cc_pds(pkt, data);
	case UET_PDS_ACK_CCX:
		return uet_build_ack_ccx_pds(pkt, data);
	case UET_PDS_NACK:
		return uet_build_nack_pds(pkt, data);
	case UET_PDS_NACK_CCX:
		return uet_build_nack_ccx_pds(pkt, data);
	case UET_PDS_CP:
		return uet_build_cp_pds(pkt, data);
	}
}

/* 4.1 */
static void uet_build_req_head(const struct uet_ses_req *req, u16 id_len,
			       struct uet_ses_req_hdr *hdr)
{
	hdr->opcode = FIELD_PREP(UET_SES_OPCODE, req->opcode);
	hdr->ver_flags = FIELD_PREP(UET_SES_FLAGS, req->flags);
	hdr->id_len = cpu_to_be16(id_len);
	hdr->gen_job = cpu_to_be32(FIELD_PREP(UET_SES_RI_GEN, req->ri_gen) |
				   FIELD_PREP(UET_SES_JOB_ID, req->job_id));
	hdr->pid_on_fep =
		cpu_to_be16(FIELD_PREP(UET_SES_PID, req->pid_on_fep));
	hdr->ri = cpu_to_be16(FIELD_PREP(UET_SES_RI, req->ri));
}

/* 4.4 */
static void uet_build_small(const struct uet_ses_req *req, void *data)
{
	struct uet_ses_small_hdr *hdr = data;

	uet_build_req_head(req, FIELD_PREP(UET_SES_LENGTH,
					   req->request_length), &hdr->req);
	hdr->buffer_offset = cpu_to_be64(req->buffer_offset);
}

/* 4.3 */
static void uet_build_medium(const struct uet_ses_req *req, void *data)
{
	struct uet_ses_medium_hdr *hdr = data;

	uet_build_req_head(req, FIELD_PREP(UET_SES_LENGTH,
					   req->request_length), &hdr->req);
	hdr->offset_or_data = cpu_to_be64(req->flags & UET_SES_HD ?
					  req->header_data :
					  req->buffer_offset);
	hdr->initiator = cpu_to_be32(req->initiator);
	hdr->match = cpu_to_be64(req->match);
}

/* 4.2; the two forms differ in bytes 32 to 39 only */
static void uet_build_std(const struct uet_ses_req *req, void *data)
{
	struct uet_ses_std_som_hdr *som = data;
	struct uet_ses_std_hdr *hdr = data;

	uet_build_req_head(req, req->message_id, &hdr->req);
	hdr->buffer_offset = cpu_to_be64(req->buffer_offset);
	hdr->initiator = cpu_to_be32(req->initiator);
	hdr->match = cpu_to_be64(req->match);
	hdr->request_length = cpu_to_be32(req->request_length);
	if (req->flags & UET_SES_SOM) {
		som->header_data = req->flags & UET_SES_HD ?
				   cpu_to_be64(req->header_data) : 0;
		return;
	}
	hdr->payload_length = cpu_to_be32(FIELD_PREP(UET_SES_PAYLOAD_LEN,
						     req->payload_length));
	hdr->message_offset = cpu_to_be32(req->message_offset);
}

/* 4.5 */
static void uet_build_amo_ext(const struct uet_ses_req *req, void *data)
{
	struct uet_ses_cswap_ext *ext = data;

	ext->amo.op = req->amo_op;
	ext->amo.type = req->amo_type;
	ext->amo.ctl = req->amo_ctl;
	ext->amo.rsvd = 0;
	if (!uet_amo_is_cswap(req->amo_op))
		return;
	memcpy(ext->compare, req->amo_compare, sizeof(ext->compare));
	memcpy(ext->swap, req->amo_swap, sizeof(ext->swap));
}

/* 4.5 */
static void uet_build_rdv_ext(const struct uet_ses_req *req, void *data)
{
	struct uet_ses_rdv_ext *ext = data;

	ext->eager_length = cpu_to_be32(req->rdv_eager);
	ext->gen_pid_ri = cpu_to_be32(FIELD_PREP(UET_RDV_GEN, req->rdv_gen) |
				      FIELD_PREP(UET_RDV_PID, req->rdv_pid) |
				      FIELD_PREP(UET_RDV_RI, req->rdv_ri));
	ext->offset = cpu_to_be64(req->rdv_offset);
	ext->key = cpu_to_be64(req->rdv_key);
}

static void uet_build_ext(const struct uet_ses_req *req, void *data)
{
	switch (uet_op_kind(req->opcode)) {
	case UET_OP_KIND_AMO:
		return uet_build_amo_ext(req, data);
	case UET_OP_KIND_RDV:
		return uet_build_rdv_ext(req, data);
	default:
		return;
	}
}

static u8 uet_build_list_opcode(const struct uet_ses_rsp *rsp)
{
	return FIELD_PREP(UET_SES_RSP_LIST, rsp->list) |
	       FIELD_PREP(UET_SES_RSP_OPCODE, rsp->opcode);
}

/* 4.6 */
static void uet_build_rsp(const struct uet_ses_rsp *rsp, void *data)
{
	struct uet_ses_rsp_hdr *hdr = data;

	hdr->list_opcode = uet_build_list_opcode(rsp);
	hdr->ver_rc = FIELD_PREP(UET_SES_RSP_RC, rsp->rc);
	hdr->message_id = cpu_to_be16(rsp->message_id);
	hdr->gen_job = cpu_to_be32(FIELD_PREP(UET_SES_RI_GEN, rsp->ri_gen) |
				   FIELD_PREP(UET_SES_JOB_ID, rsp->job_id));
	hdr->modified_length = cpu_to_be32(rsp->modified_length);
}

/* 4.6 */
static void uet_build_rsp_data(const struct uet_ses_rsp *rsp, void *data)
{
	struct uet_ses_rsp_data_hdr *hdr = data;

	hdr->list_opcode = uet_build_list_opcode(rsp);
	hdr->ver_rc = FIELD_PREP(UET_SES_RSP_RC, rsp->rc);
	hdr->message_id = cpu_to_be16(rsp->message_id);
	hdr->job = cpu_to_be32(FIELD_PREP(UET_SES_JOB_ID, rsp->job_id));
	hdr->read_message_id = cpu_to_be16(rsp->read_message_id);
	hdr->payload_length = cpu_to_be16(FIELD_PREP(UET_SES_PAYLOAD_LEN,
						     rsp->payload_length));
	hdr->modified_length = cpu_to_be32(rsp->modified_length);
	hdr->message_offset = cpu_to_be32(rsp->message_offset);
}

/* 4.6 */
static void uet_build_rsp_small(const struct uet_ses_rsp *rsp, void *data)
{
	struct uet_ses_rsp_small_hdr *hdr = data;

	hdr->list_opcode = uet_build_list_opcode(rsp);
	hdr->ver_rc = FIELD_PREP(UET_SES_RSP_RC, rsp->rc);
	hdr->payload_length = cpu_to_be16(FIELD_PREP(UET_SES_PAYLOAD_LEN,
						     rsp->payload_length));
	hdr->job = cpu_to_be32(FIELD_PREP(UET_SES_JOB_ID, rsp->job_id));
	hdr->request_psn = cpu_to_be32(rsp->request_psn);
}

static void uet_build_ses(const struct uet_pkt *pkt, void *data)
{
	switch (pkt->next) {
	case UET_NEXT_REQ_SMALL:
		return uet_build_small(&pkt->req, data);
	case UET_NEXT_REQ_MEDIUM:
		return uet_build_medium(&pkt->req, data);
	case UET_NEXT_REQ_STD:
		return uet_build_std(&pkt->req, data);
	case UET_NEXT_RSP:
		return uet_build_rsp(&pkt->rsp, data);
	case UET_NEXT_RSP_DATA:
		return uet_build_rsp_data(&pkt->rsp, data);
	case UET_NEXT_RSP_DATA_SMALL:
		return uet_build_rsp_small(&pkt->rsp, data);
	}
}

/**
 * uet_pkt_build - write the headers of a packet
 * @pkt: packet; hdr_len and payload_len are not looked at
 * @data: room for uet_pkt_hdr_len() bytes, at any alignment; every byte of
 *	them is written
 *
 * Values wider than their field lose their upper bits, flags that the type
 * does not define are left out. PSN distances (clear_psn to psn, ack_psn and
 * sack_base to cack_psn) must fit 16 bits signed; the window sizes see to it.
 *
 * Context: any.
 * Return: bytes written, the same as uet_pkt_hdr_len(). The payload, which
 * the caller puts behind them, is not counted.
 */
unsigned int uet_pkt_build(const struct uet_pkt *pkt, void *data)
{
	const struct uet_pds_layout *layout = uet_pds_layout(pkt->type);
	u8 *ses = data;

	if (!layout)
		return 0;
	uet_build_pds(pkt, data);
	if (pkt->type == UET_PDS_CP)
		return layout->len;
	ses += layout->len;
	uet_build_ses(pkt, ses);
	if (uet_next_is_req(pkt->next))
		uet_build_ext(&pkt->req, ses + uet_ses_len(pkt->next));
	return uet_pkt_hdr_len(pkt);
}
EXPORT_SYMBOL_GPL(uet_pkt_build);
