/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What parse.c and build.c must agree on: sizes, defined flags and the kind of
 * every SES opcode. Private to the two.
 */
#ifndef UET_LAYOUT_H
#define UET_LAYOUT_H

#include "pkt.h"

/**
 * struct uet_pds_layout - one PDS header type
 * @len: bytes of the header; 0 for a type this driver does not know
 * @flags: defined bits among the 7 flags of the prologue
 * @next: bit n is set if next_hdr n may follow
 */
struct uet_pds_layout {
	u8 len;
	u8 flags;
	u8 next;
};

/**
 * enum uet_op_kind - what follows the header of a SES request
 * @UET_OP_KIND_DATA: payload, the bytes of the message
 * @UET_OP_KIND_NONE: nothing
 * @UET_OP_KIND_READ: nothing, although request_length is not 0
 * @UET_OP_KIND_DEFER: payload, or nothing in the EOM packet of a send that was
 *	deferred
 * @UET_OP_KIND_AMO: atomic or compare-and-swap extension, then operands
 * @UET_OP_KIND_RDV: rendezvous extension, then eager payload
 * @UET_OP_KIND_ANY: not known: reserved, vendor or extended opcode
 *
 * Source: uet-wire 4.5, 4.8, 4.12 - 4.14.
 */
enum uet_op_kind {
	UET_OP_KIND_ANY,
	UET_OP_KIND_DATA,
	UET_OP_KIND_NONE,
	UET_OP_KIND_READ,
	UET_OP_KIND_DEFER,
	UET_OP_KIND_AMO,
	UET_OP_KIND_RDV,
};

/* Size of the SES header that a next_hdr value announces, 0 if none. */
static inline unsigned int uet_ses_len(u8 next)
{
	switch (next) {
	case UET_NEXT_REQ_SMALL:
		return sizeof(struct uet_ses_small_hdr);
	case UET_NEXT_REQ_MEDIUM:
		return sizeof(struct uet_ses_medium_hdr);
	case UET_NEXT_REQ_STD:
		return sizeof(struct uet_ses_std_hdr);
	case UET_NEXT_RSP:
		return sizeof(struct uet_ses_rsp_hdr);
	case UET_NEXT_RSP_DATA:
		return sizeof(struct uet_ses_rsp_data_hdr);
	case UET_NEXT_RSP_DATA_SMALL:
		return sizeof(struct uet_ses_rsp_small_hdr);
	default:
		return 0;
	}
}

/*
 * Do both operands travel in the extension? MSWAP (masked swap) has a mask and
 * a value, so it is counted in; no source says so.
 */
static inline bool uet_amo_is_cswap(u8 amo_op)
{
	return amo_op >= UET_AMO_CSWAP && amo_op <= UET_AMO_MSWAP;
}

extern const struct uet_pds_layout uet_pds_layouts[UET_PDS_TYPES];
extern const u8 uet_op_kinds[UET_SES_OPCODE + 1];

/* NULL for a type this driver does not know. */
static inline const struct uet_pds_layout *uet_pds_layout(u8 type)
{
	if (type >= UET_PDS_TYPES || !uet_pds_layouts[type].len)
		return NULL;
	return &uet_pds_layouts[type];
}

static inline enum uet_op_kind uet_op_kind(u8 opcode)
{
	return uet_op_kinds[opcode & UET_SES_OPCODE];
}

#endif /* UET_LAYOUT_H */
