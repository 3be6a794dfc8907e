/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * UET wire format: numbers and header structs, nothing else. All multi-byte
 * fields are big-endian. Section numbers are those of
 * Documentation/infiniband/uet-wire.rst.
 */
#ifndef UET_WIRE_H
#define UET_WIRE_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/types.h>

#define UET_UDP_PORT		4793	/* 1.2 */

#define UET_PAYLOAD_MTU_MIN	1024	/* 1.5 */
#define UET_PAYLOAD_MTU_MAX	8192

/* 2.1: PDS prologue, u16: type[15:11] next_hdr/ctl_type[10:7] flags[6:0] */
#define UET_PROLOGUE_TYPE	GENMASK(15, 11)
#define UET_PROLOGUE_NEXT	GENMASK(10, 7)
#define UET_PROLOGUE_FLAGS	GENMASK(6, 0)

enum uet_pds_type {
	UET_PDS_TSS		= 1,
	UET_PDS_RUD		= 2,
	UET_PDS_ROD		= 3,
	UET_PDS_RUDI_REQ	= 4,
	UET_PDS_RUDI_RSP	= 5,
	UET_PDS_UUD		= 6,
	UET_PDS_ACK		= 7,
	UET_PDS_ACK_CC		= 8,
	UET_PDS_ACK_CCX		= 9,
	UET_PDS_NACK		= 10,
	UET_PDS_CP		= 11,
	UET_PDS_NACK_CCX	= 12,
	UET_PDS_RUD_CC		= 13,
	UET_PDS_ROD_CC		= 14,
};

#define UET_PDS_TYPES		15

enum uet_next_hdr {
	UET_NEXT_NONE		= 0,
	UET_NEXT_REQ_SMALL	= 1,
	UET_NEXT_REQ_MEDIUM	= 2,
	UET_NEXT_REQ_STD	= 3,
	UET_NEXT_RSP		= 4,
	UET_NEXT_RSP_DATA	= 5,
	UET_NEXT_RSP_DATA_SMALL	= 6,
};

/* 2.2: flags of RUD and ROD requests; RUDI uses RETX, and M in a response */
#define UET_REQ_RETX		0x10
#define UET_REQ_AR		0x08
#define UET_REQ_SYN		0x04
#define UET_RUDI_M		0x20
#define UET_RUDI_RETX		0x10

#define UET_PSN_OFFSET_MAX	0xfff	/* 12 bits */

/* 2.5: flags of ACKs */
#define UET_ACK_M		0x20
#define UET_ACK_RETX		0x10
#define UET_ACK_P		0x08
#define UET_ACK_REQ		0x06
#define UET_ACK_REQ_CLEAR	0x02
#define UET_ACK_REQ_CLOSE	0x04
#define UET_ACK_EPSN		0x40	/* 3.6 item 7: one source only, never sent */
#define UET_ACK_EPSN_LEN	4

/* 2.6 */
enum uet_cc_type {
	UET_CC_NSCC		= 0,
	UET_CC_CREDIT		= 1,
};

#define UET_CC_SERVICE_TIME	GENMASK_ULL(63, 48)
#define UET_CC_RESTORE_CWND	BIT_ULL(47)
#define UET_CC_CWND_PEND	GENMASK_ULL(46, 40)
#define UET_CC_RCVD_BYTES	GENMASK_ULL(39, 16)
#define UET_CC_OOO_COUNT	GENMASK_ULL(15, 0)
#define UET_CC_CREDIT_CREDIT	GENMASK_ULL(63, 40)

/* 2.8 */
#define UET_NACK_M		0x20
#define UET_NACK_RETX		0x10
#define UET_NACK_NT		0x08

enum uet_nack_code {
	UET_NACK_TRIMMED		= 0x01,
	UET_NACK_TRIMMED_LASTHOP	= 0x02,
	UET_NACK_TRIMMED_ACK		= 0x03,
	UET_NACK_NO_PDC_AVAIL		= 0x04,
	UET_NACK_NO_CCC_AVAIL		= 0x05,
	UET_NACK_NO_BITMAP		= 0x06,
	UET_NACK_NO_PKT_BUFFER		= 0x07,
	UET_NACK_NO_GTD_DEL_AVAIL	= 0x08,
	UET_NACK_NO_SES_MSG_AVAIL	= 0x09,
	UET_NACK_NO_RESOURCE		= 0x0a,
	UET_NACK_PSN_OOR_WINDOW		= 0x0b,
	UET_NACK_ROD_OOO		= 0x0d,
	UET_NACK_INV_DPDCID		= 0x0e,
	UET_NACK_PDC_HDR_MISMATCH	= 0x0f,
	UET_NACK_CLOSING		= 0x10,
	UET_NACK_CLOSING_IN_ERR		= 0x11,
	UET_NACK_PKT_NOT_RCVD		= 0x12,
	UET_NACK_GTD_RESP_UNAVAIL	= 0x13,
	UET_NACK_ACK_WITH_DATA		= 0x14,
	UET_NACK_INVALID_SYN		= 0x15,
	UET_NACK_PDC_MODE_MISMATCH	= 0x16,
	UET_NACK_NEW_START_PSN		= 0x17,
	UET_NACK_RCVD_SES_PROCG		= 0x18,
	UET_NACK_UNEXP_EVENT		= 0x19,
	UET_NACK_RCVR_INFER_LOSS	= 0x1a,
};

/* 2.9: units of the mpr field */
#define UET_MPR_UNIT		128

/* 2.12 */
#define UET_CP_ISROD		0x20
#define UET_CP_RETX		0x10
#define UET_CP_AR		0x08
#define UET_CP_SYN		0x04

enum uet_ctl_type {
	UET_CTL_NOOP		= 0,
	UET_CTL_ACK_REQUEST	= 1,
	UET_CTL_CLEAR_COMMAND	= 2,
	UET_CTL_CLEAR_REQUEST	= 3,
	UET_CTL_CLOSE_COMMAND	= 4,
	UET_CTL_CLOSE_REQUEST	= 5,
	UET_CTL_PROBE		= 6,
	UET_CTL_CREDIT		= 7,
	UET_CTL_CREDIT_REQUEST	= 8,
	UET_CTL_NEGOTIATION	= 9,
};

/* 4.1: SES request flags */
#define UET_SES_DC		0x20
#define UET_SES_IE		0x10
#define UET_SES_REL		0x08
#define UET_SES_HD		0x04
#define UET_SES_EOM		0x02
#define UET_SES_SOM		0x01

/* 4.8; 0x30-0x3e are vendor codes */
enum uet_ses_op {
	UET_OP_NO_OP		= 0x00,
	UET_OP_WRITE		= 0x01,
	UET_OP_READ		= 0x02,
	UET_OP_ATOMIC		= 0x03,
	UET_OP_FETCHING_ATOMIC	= 0x04,
	UET_OP_SEND		= 0x05,
	UET_OP_RENDEZVOUS_SEND	= 0x06,
	UET_OP_DATAGRAM_SEND	= 0x07,
	UET_OP_DEFERRABLE_SEND	= 0x08,
	UET_OP_TAGGED_SEND	= 0x09,
	UET_OP_RENDEZVOUS_TSEND	= 0x0a,
	UET_OP_DEFERRABLE_TSEND	= 0x0b,
	UET_OP_DEFERRABLE_RTR	= 0x0c,
	UET_OP_TSEND_ATOMIC	= 0x0d,
	UET_OP_TSEND_FETCH_ATOMIC = 0x0e,
	UET_OP_MSG_ERROR	= 0x0f,
	UET_OP_SEND_INVALIDATE	= 0x30,	/* ours: key in match bits 31:0 */
	UET_OP_FLUSH		= 0x31,	/* ours: what to flush in header data */
	UET_OP_EXTENDED		= 0x3f,
};

/* 4.15: header data of FLUSH */
#define UET_FLUSH_GLOBAL	BIT_ULL(0)
#define UET_FLUSH_PERSISTENT	BIT_ULL(1)
#define UET_FLUSH_TYPES		GENMASK_ULL(1, 0)
#define UET_FLUSH_MR		BIT_ULL(8)	/* all of the region */
#define UET_FLUSH_LENGTH	GENMASK_ULL(63, 32)

/* 4.6 */
enum uet_ses_rsp_op {
	UET_RSP_DEFAULT		= 0,
	UET_RSP_RESPONSE	= 1,
	UET_RSP_DATA		= 2,
	UET_RSP_NO_RESPONSE	= 3,
};

#define UET_LIST_EXPECTED	0
#define UET_LIST_OVERFLOW	1

/* 4.7 */
enum uet_rc {
	UET_RC_NULL			= 0x00,
	UET_RC_OK			= 0x01,
	UET_RC_BAD_GENERATION		= 0x02,
	UET_RC_DISABLED			= 0x03,
	UET_RC_DISABLED_GEN		= 0x04,
	UET_RC_NO_MATCH			= 0x05,
	UET_RC_UNSUPPORTED_OP		= 0x06,
	UET_RC_UNSUPPORTED_SIZE		= 0x07,
	UET_RC_AT_INVALID		= 0x08,
	UET_RC_AT_PERM			= 0x09,
	UET_RC_AT_ATS_ERROR		= 0x0a,
	UET_RC_AT_NO_TRANS		= 0x0b,
	UET_RC_AT_OUT_OF_RANGE		= 0x0c,
	UET_RC_HOST_POISONED		= 0x0d,
	UET_RC_HOST_UNSUCCESS_CMPL	= 0x0e,
	UET_RC_AMO_UNSUPPORTED_OP	= 0x0f,
	UET_RC_AMO_UNSUPPORTED_DT	= 0x10,
	UET_RC_AMO_UNSUPPORTED_SIZE	= 0x11,
	UET_RC_AMO_UNALIGNED		= 0x12,
	UET_RC_AMO_FP_NAN		= 0x13,
	UET_RC_AMO_FP_UNDERFLOW		= 0x14,
	UET_RC_AMO_FP_OVERFLOW		= 0x15,
	UET_RC_AMO_FP_INEXACT		= 0x16,
	UET_RC_PERM_VIOLATION		= 0x17,
	UET_RC_OP_VIOLATION		= 0x18,
	UET_RC_BAD_INDEX		= 0x19,
	UET_RC_BAD_PID			= 0x1a,
	UET_RC_BAD_JOB_ID		= 0x1b,
	UET_RC_BAD_MKEY			= 0x1c,
	UET_RC_BAD_ADDR			= 0x1d,
	UET_RC_CANCELLED		= 0x1e,
	UET_RC_UNDELIVERABLE		= 0x1f,
	UET_RC_UNCOR			= 0x20,
	UET_RC_UNCOR_TRNSNT		= 0x21,
	UET_RC_TOO_LONG			= 0x22,
	UET_RC_INITIATOR_ERROR		= 0x23,
	UET_RC_DROPPED			= 0x24,
};

/* 4.8, Table 3-21 */
enum uet_amo_op {
	UET_AMO_MIN, UET_AMO_MAX, UET_AMO_SUM, UET_AMO_DIFF, UET_AMO_PROD,
	UET_AMO_LOR, UET_AMO_LAND, UET_AMO_BOR, UET_AMO_BAND, UET_AMO_LXOR,
	UET_AMO_BXOR, UET_AMO_READ, UET_AMO_WRITE, UET_AMO_CSWAP,
	UET_AMO_CSWAP_NE, UET_AMO_CSWAP_LE, UET_AMO_CSWAP_LT,
	UET_AMO_CSWAP_GE, UET_AMO_CSWAP_GT, UET_AMO_MSWAP, UET_AMO_INVAL,
};

/* 4.8, Table 3-22 */
enum uet_amo_type {
	UET_AMO_INT8, UET_AMO_UINT8, UET_AMO_INT16, UET_AMO_UINT16,
	UET_AMO_INT32, UET_AMO_UINT32, UET_AMO_INT64, UET_AMO_UINT64,
	UET_AMO_INT128, UET_AMO_UINT128, UET_AMO_FLOAT, UET_AMO_DOUBLE,
	UET_AMO_FLOAT_COMPLEX, UET_AMO_DOUBLE_COMPLEX, UET_AMO_LONG_DOUBLE,
	UET_AMO_LONG_DOUBLE_COMPLEX, UET_AMO_BF16, UET_AMO_FP16,
};

/*
 * The headers as they stand on the wire. They start at any byte of a packet,
 * so all are packed; sub-byte fields are named by the masks above each struct
 * and read with FIELD_GET() from the host-order value.
 */

/* 1.3: stands where the UDP source port would be, native IP form only */
struct uet_entropy_hdr {
	__be16 entropy;
	__be16 rsvd;
} __packed;
static_assert(sizeof(struct uet_entropy_hdr) == 4);

/* 2.2: the two meanings of dpdcid when the SYN flag is set */
#define UET_SYN_PDC_INFO	GENMASK(15, 12)
#define UET_SYN_PSN_OFFSET	GENMASK(11, 0)

/* 2.2: RUD and ROD request */
struct uet_pds_req_hdr {
	__be16 prologue;
	__be16 clear_psn_offset;	/* s16, relative to psn */
	__be32 psn;
	__be16 spdcid;
	__be16 dpdcid;
} __packed;
static_assert(sizeof(struct uet_pds_req_hdr) == 12);

/* 2.3: RUD and ROD request with CC state */
#define UET_REQ_CC_CCC_ID	GENMASK(31, 24)
#define UET_REQ_CC_CREDIT	GENMASK(23, 0)

struct uet_pds_req_cc_hdr {
	struct uet_pds_req_hdr req;
	__be32 cc;
} __packed;
static_assert(sizeof(struct uet_pds_req_cc_hdr) == 16);

/* 2.4: RUDI request and response */
struct uet_pds_rudi_hdr {
	__be16 prologue;
	__be16 rsvd;
	__be32 pkt_id;
} __packed;
static_assert(sizeof(struct uet_pds_rudi_hdr) == 8);

/* 2.4: UUD request */
struct uet_pds_uud_hdr {
	__be16 prologue;
	__be16 rsvd;
} __packed;
static_assert(sizeof(struct uet_pds_uud_hdr) == 4);

/* 2.5: ACK */
struct uet_pds_ack_hdr {
	__be16 prologue;
	__be16 ack_psn_offset;		/* s16; probe_opaque when P is set */
	__be32 cack_psn;
	__be16 spdcid;
	__be16 dpdcid;
} __packed;
static_assert(sizeof(struct uet_pds_ack_hdr) == 12);

/* 2.6: ACK_CC */
#define UET_ACK_CC_TYPE		GENMASK(7, 4)
#define UET_ACK_CC_FLAGS	GENMASK(3, 0)

struct uet_pds_ack_cc_hdr {
	struct uet_pds_ack_hdr ack;
	u8 cc_type_flags;
	u8 mpr;
	__be16 sack_psn_offset;		/* s16, relative to cack_psn */
	__be64 sack_bitmap;
	__be64 cc_state;
} __packed;
static_assert(sizeof(struct uet_pds_ack_cc_hdr) == 32);

/* 2.7, 10.1 item 5: ACK_CCX. Its size is disputed from byte 24 on */
#define UET_ACK_CCX_LEN_MIN	32

struct uet_pds_ack_ccx_hdr {
	struct uet_pds_ack_hdr ack;
	u8 cc_type_flags;
	u8 mpr;
	__be16 sack_psn_offset;
	__be64 sack_bitmap;
	__be64 cc_state[2];
} __packed;
static_assert(sizeof(struct uet_pds_ack_ccx_hdr) == 40);

/* 2.8: NACK */
struct uet_pds_nack_hdr {
	__be16 prologue;
	u8 nack_code;
	u8 vendor_code;
	__be32 psn;			/* pkt_id when NT is set */
	__be16 spdcid;
	__be16 dpdcid;
	__be32 payload;
} __packed;
static_assert(sizeof(struct uet_pds_nack_hdr) == 16);

/* 2.8, 10.1 item 6: NACK_CCX. Its size is disputed from byte 16 on */
#define UET_NACK_CCX_LEN_MIN	24

struct uet_pds_nack_ccx_hdr {
	struct uet_pds_nack_hdr nack;
	__be64 cc_state[2];
} __packed;
static_assert(sizeof(struct uet_pds_nack_ccx_hdr) == 32);

/* 2.12: control packet */
struct uet_pds_cp_hdr {
	__be16 prologue;
	__be16 probe_opaque;
	__be32 psn;
	__be16 spdcid;
	__be16 dpdcid;
	__be32 payload;
} __packed;
static_assert(sizeof(struct uet_pds_cp_hdr) == 16);

/* 4.1: head of every SES request */
#define UET_SES_OPCODE		GENMASK(5, 0)	/* of opcode */
#define UET_SES_VERSION		GENMASK(7, 6)	/* of ver_flags */
#define UET_SES_FLAGS		GENMASK(5, 0)	/* of ver_flags */
#define UET_SES_LENGTH		GENMASK(13, 0)	/* of id_len: small, medium */
#define UET_SES_RI_GEN		GENMASK(31, 24)	/* of gen_job */
#define UET_SES_JOB_ID		GENMASK(23, 0)	/* of gen_job */
#define UET_SES_PID		GENMASK(11, 0)
#define UET_SES_RI		GENMASK(11, 0)

struct uet_ses_req_hdr {
	u8 opcode;
	u8 ver_flags;
	__be16 id_len;			/* message_id or request_length */
	__be32 gen_job;
	__be16 pid_on_fep;
	__be16 ri;
} __packed;
static_assert(sizeof(struct uet_ses_req_hdr) == 12);

/* 4.2: standard request, first packet of a message */
struct uet_ses_std_som_hdr {
	struct uet_ses_req_hdr req;
	__be64 buffer_offset;
	__be32 initiator;
	__be64 match;
	__be64 header_data;
	__be32 request_length;
} __packed;
static_assert(sizeof(struct uet_ses_std_som_hdr) == 44);

/* 4.2: standard request, every other packet of a message */
#define UET_SES_PAYLOAD_LEN	GENMASK(13, 0)	/* of payload_length */

struct uet_ses_std_hdr {
	struct uet_ses_req_hdr req;
	__be64 buffer_offset;
	__be32 initiator;
	__be64 match;
	__be32 payload_length;
	__be32 message_offset;
	__be32 request_length;
} __packed;
static_assert(sizeof(struct uet_ses_std_hdr) == 44);

/* 4.3: medium request */
struct uet_ses_medium_hdr {
	struct uet_ses_req_hdr req;
	__be64 offset_or_data;		/* header data when HD is set */
	__be32 initiator;
	__be64 match;
} __packed;
static_assert(sizeof(struct uet_ses_medium_hdr) == 32);

/* 4.4: small request */
struct uet_ses_small_hdr {
	struct uet_ses_req_hdr req;
	__be64 buffer_offset;
} __packed;
static_assert(sizeof(struct uet_ses_small_hdr) == 20);

/* 4.5: rendezvous extension */
#define UET_RDV_GEN		GENMASK(31, 24)
#define UET_RDV_PID		GENMASK(23, 12)
#define UET_RDV_RI		GENMASK(11, 0)

struct uet_ses_rdv_ext {
	__be32 eager_length;
	__be32 gen_pid_ri;
	__be64 offset;
	__be64 key;
} __packed;
static_assert(sizeof(struct uet_ses_rdv_ext) == 24);

/* 4.5: atomic extension */
#define UET_AMO_CTL_CACHEABLE	0x01
#define UET_AMO_CTL_COHERENT	0x02

struct uet_ses_amo_ext {
	u8 op;
	u8 type;
	u8 ctl;
	u8 rsvd;
} __packed;
static_assert(sizeof(struct uet_ses_amo_ext) == 4);

/* 4.5: compare-and-swap extension; short operands stand at the end */
struct uet_ses_cswap_ext {
	struct uet_ses_amo_ext amo;
	u8 compare[16];
	u8 swap[16];
} __packed;
static_assert(sizeof(struct uet_ses_cswap_ext) == 36);

/* 4.6: the first two bytes of every SES response */
#define UET_SES_RSP_LIST	GENMASK(7, 6)	/* of list_opcode */
#define UET_SES_RSP_OPCODE	GENMASK(5, 0)	/* of list_opcode */
#define UET_SES_RSP_RC		GENMASK(5, 0)	/* of ver_rc, UET_SES_VERSION above */

/* 4.6: response */
struct uet_ses_rsp_hdr {
	u8 list_opcode;
	u8 ver_rc;
	__be16 message_id;
	__be32 gen_job;
	__be32 modified_length;
} __packed;
static_assert(sizeof(struct uet_ses_rsp_hdr) == 12);

/* 4.6: response with data */
struct uet_ses_rsp_data_hdr {
	u8 list_opcode;
	u8 ver_rc;
	__be16 message_id;
	__be32 job;
	__be16 read_message_id;
	__be16 payload_length;
	__be32 modified_length;
	__be32 message_offset;
} __packed;
static_assert(sizeof(struct uet_ses_rsp_data_hdr) == 20);

/* 4.6: small response with data */
struct uet_ses_rsp_small_hdr {
	u8 list_opcode;
	u8 ver_rc;
	__be16 payload_length;
	__be32 job;
	__be32 request_psn;
} __packed;
static_assert(sizeof(struct uet_ses_rsp_small_hdr) == 12);

/* 6: TSS header, in the place of the prologue */
#define UET_TSS_TYPE		GENMASK(31, 27)	/* of type_sdi */
#define UET_TSS_SP		BIT(26)
#define UET_TSS_AN		BIT(24)
#define UET_TSS_SDI		GENMASK(23, 0)
#define UET_TSS_EPOCH		GENMASK_ULL(63, 48)	/* of counter */
#define UET_TSS_COUNTER		GENMASK_ULL(47, 0)
#define UET_TSS_ICV_LEN		16

struct uet_tss_hdr {
	__be32 type_sdi;
	__be64 counter;
} __packed;
static_assert(sizeof(struct uet_tss_hdr) == 12);

/* 6: TSS header with source id, when SP is set */
struct uet_tss_ssi_hdr {
	__be32 type_sdi;
	__be32 ssi;
	__be64 counter;
} __packed;
static_assert(sizeof(struct uet_tss_ssi_hdr) == 16);

#endif /* UET_WIRE_H */
