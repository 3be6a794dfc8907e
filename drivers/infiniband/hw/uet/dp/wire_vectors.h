/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Golden vectors V1 to V23 of uet-wire Appendix A, as bytes and as what they
 * mean. Only for wire_kunit.c.
 */
#ifndef UET_WIRE_VECTORS_H
#define UET_WIRE_VECTORS_H

#include "pkt.h"

#define UET_V_PIECES	7

/**
 * struct uet_vector - one golden vector
 * @name: its number in uet-wire
 * @hex: PDS prologue to end of payload, in pieces
 * @fill: payload bytes behind @hex that are not spelt out: 0, 1, 2, ...
 * @to_a: sent from B to A; else from A to B
 * @entropy: native IP form with this entropy; 0 is UDP, source port 0xbeef
 * @crc: CRC32C as the value of the little-endian trailer
 * @pkt: meaning
 */
struct uet_vector {
	const char *name;
	const char *hex[UET_V_PIECES];
	u16 fill;
	bool to_a;
	u16 entropy;
	u32 crc;
	struct uet_pkt pkt;
};

enum {
	V1, V2, V3, V4, V5, V6, V7, V8, V9, V10, V11, V12, V13, V14, V15, V16,
	V17, V18, V19, V20, V21, V22, V23,
};

#define UET_V_JOB	0x0a0b0c
#define UET_V_PID	0x012
#define UET_V_RI	0x003

static const struct uet_vector uet_vectors[] = {
	[V1] = {
		.name = "V1 SEND, SYN",
		.hex = {
			"118cffff0001200000210000",
			"050b0101000a0b0c00120003",
			"000000000000000000000005",
			"000000000000000000000000000000000000000455455421",
		},
		.crc = 0xf5d00bb7,
		.pkt = {
			.type = UET_PDS_RUD, .next = UET_NEXT_REQ_STD,
			.flags = UET_REQ_AR | UET_REQ_SYN,
			.psn = 0x12000, .clear_psn = 0x11fff, .spdcid = 0x21,
			.req = {
				.opcode = UET_OP_SEND,
				.flags = UET_SES_REL | UET_SES_EOM |
					 UET_SES_SOM,
				.message_id = 0x101, .job_id = UET_V_JOB,
				.pid_on_fep = UET_V_PID, .ri = UET_V_RI,
				.initiator = 5, .payload_length = 4,
				.request_length = 4,
			},
			.hdr_len = 56, .payload_len = 4,
		},
	},
	[V2] = {
		.name = "V2 SEND, SYN, first of two, header data",
		.hex = {
			"1184fffe0001200100210001",
			"050d0102000a0b0c00120003",
			"000000000000000000000005",
			"0000000000000000112233445566778800000410",
		},
		.fill = 1024,
		.crc = 0x330934f1,
		.pkt = {
			.type = UET_PDS_RUD, .next = UET_NEXT_REQ_STD,
			.flags = UET_REQ_SYN,
			.psn = 0x12001, .clear_psn = 0x11fff, .spdcid = 0x21,
			.psn_offset = 1,
			.req = {
				.opcode = UET_OP_SEND,
				.flags = UET_SES_REL | UET_SES_HD | UET_SES_SOM,
				.message_id = 0x102, .job_id = UET_V_JOB,
				.pid_on_fep = UET_V_PID, .ri = UET_V_RI,
				.initiator = 5,
				.header_data = 0x1122334455667788,
				.payload_length = 1024, .request_length = 1040,
			},
			.hdr_len = 56, .payload_len = 1024,
		},
	},
	[V3] = {
		.name = "V3 SEND, last of two",
		.hex = {
			"1188fffe0001200200210142",
			"050a0102000a0b0c00120003",
			"000000000000000000000005",
			"0000000000000000000000100000040000000410",
			"000102030405060708090a0b0c0d0e0f",
		},
		.crc = 0x66865021,
		.pkt = {
			.type = UET_PDS_RUD, .next = UET_NEXT_REQ_STD,
			.flags = UET_REQ_AR,
			.psn = 0x12002, .clear_psn = 0x12000, .spdcid = 0x21,
			.dpdcid = 0x142,
			.req = {
				.opcode = UET_OP_SEND,
				.flags = UET_SES_REL | UET_SES_EOM,
				.message_id = 0x102, .job_id = UET_V_JOB,
				.pid_on_fep = UET_V_PID, .ri = UET_V_RI,
				.initiator = 5,
				.payload_length = 16, .message_offset = 1024,
				.request_length = 1040,
			},
			.hdr_len = 56, .payload_len = 16,
		},
	},
	[V4] = {
		.name = "V4 ACK, default response",
		.hex = {
			"3a0000000001200001420021",
			"00010101000a0b0c00000004",
		},
		.to_a = true,
		.crc = 0xeda018bd,
		.pkt = {
			.type = UET_PDS_ACK, .next = UET_NEXT_RSP,
			.spdcid = 0x142, .dpdcid = 0x21,
			.ack = { .cack_psn = 0x12000, .ack_psn = 0x12000 },
			.rsp = {
				.opcode = UET_RSP_DEFAULT, .rc = UET_RC_OK,
				.message_id = 0x101, .job_id = UET_V_JOB,
				.modified_length = 4,
			},
			.hdr_len = 24,
		},
	},
	[V5] = {
		.name = "V5 ACK_CC with SACK, NSCC state",
		.hex = {
			"422000040001200101420021",
			"00080001000000000000000c000a000000120002",
			"00010105000a0b0c00000010",
		},
		.to_a = true,
		.crc = 0x0959170c,
		.pkt = {
			.type = UET_PDS_ACK_CC, .next = UET_NEXT_RSP,
			.flags = UET_ACK_M,
			.spdcid = 0x142, .dpdcid = 0x21,
			.ack = {
				.cack_psn = 0x12001, .ack_psn = 0x12005,
				.mpr = 8, .cc_type = UET_CC_NSCC,
				.sack_base = 0x12002, .sack_bitmap = 0xc,
				.cc_state = 0x000a000000120002,
			},
			.rsp = {
				.opcode = UET_RSP_DEFAULT, .rc = UET_RC_OK,
				.message_id = 0x105, .job_id = UET_V_JOB,
				.modified_length = 16,
			},
			.hdr_len = 44,
		},
	},
	[V6] = {
		.name = "V6 NACK, trimmed",
		.hex = {
			"50200100000120030142002100000000",
		},
		.to_a = true,
		.crc = 0xbf504c41,
		.pkt = {
			.type = UET_PDS_NACK, .flags = UET_NACK_M,
			.psn = 0x12003, .spdcid = 0x142, .dpdcid = 0x21,
			.nack_code = UET_NACK_TRIMMED,
			.hdr_len = 16,
		},
	},
	[V7] = {
		.name = "V7 Close Command",
		.hex = {
			"5a080000000120060021014200000000",
		},
		.crc = 0x000b0fb4,
		.pkt = {
			.type = UET_PDS_CP, .ctl = UET_CTL_CLOSE_COMMAND,
			.flags = UET_CP_AR,
			.psn = 0x12006, .spdcid = 0x21, .dpdcid = 0x142,
			.hdr_len = 16,
		},
	},
	[V8] = {
		.name = "V8 ACK of V7",
		.hex = {
			"380000000001200601420021",
		},
		.to_a = true,
		.crc = 0xdba6b7c3,
		.pkt = {
			.type = UET_PDS_ACK,
			.spdcid = 0x142, .dpdcid = 0x21,
			.ack = { .cack_psn = 0x12006, .ack_psn = 0x12006 },
			.hdr_len = 12,
		},
	},
	[V9] = {
		.name = "V9 Clear Command",
		.hex = {
			"59000000000000000021014200012005",
		},
		.crc = 0x74234c66,
		.pkt = {
			.type = UET_PDS_CP, .ctl = UET_CTL_CLEAR_COMMAND,
			.spdcid = 0x21, .dpdcid = 0x142, .payload32 = 0x12005,
			.hdr_len = 16,
		},
	},
	[V10] = {
		.name = "V10 WRITE with header data",
		.hex = {
			"1188fffd0001200400210142",
			"010f0103000a0b0c00120003",
			"000000000000200000000005",
			"0000000000c0ffee00000000deadbeef00000010",
			"000102030405060708090a0b0c0d0e0f",
		},
		.crc = 0x88e8ea7d,
		.pkt = {
			.type = UET_PDS_RUD, .next = UET_NEXT_REQ_STD,
			.flags = UET_REQ_AR,
			.psn = 0x12004, .clear_psn = 0x12001, .spdcid = 0x21,
			.dpdcid = 0x142,
			.req = {
				.opcode = UET_OP_WRITE,
				.flags = UET_SES_REL | UET_SES_HD |
					 UET_SES_EOM | UET_SES_SOM,
				.message_id = 0x103, .job_id = UET_V_JOB,
				.pid_on_fep = UET_V_PID, .ri = UET_V_RI,
				.buffer_offset = 0x2000, .initiator = 5,
				.match = 0xc0ffee, .header_data = 0xdeadbeef,
				.payload_length = 16, .request_length = 16,
			},
			.hdr_len = 56, .payload_len = 16,
		},
	},
	[V11] = {
		.name = "V11 fetching atomic add",
		.hex = {
			"1188ffff0001200500210142",
			"040b0104000a0b0c00120003",
			"000000000000004000000005",
			"0000000000c0ffee000000000000000000000008",
			"020700000000000000000001",
		},
		.crc = 0xe2bbb4d0,
		.pkt = {
			.type = UET_PDS_RUD, .next = UET_NEXT_REQ_STD,
			.flags = UET_REQ_AR,
			.psn = 0x12005, .clear_psn = 0x12004, .spdcid = 0x21,
			.dpdcid = 0x142,
			.req = {
				.opcode = UET_OP_FETCHING_ATOMIC,
				.flags = UET_SES_REL | UET_SES_EOM |
					 UET_SES_SOM,
				.message_id = 0x104, .job_id = UET_V_JOB,
				.pid_on_fep = UET_V_PID, .ri = UET_V_RI,
				.buffer_offset = 0x40, .initiator = 5,
				.match = 0xc0ffee,
				.payload_length = 8, .request_length = 8,
				.amo_op = UET_AMO_SUM,
				.amo_type = UET_AMO_UINT64,
			},
			.hdr_len = 60, .payload_len = 8,
		},
	},
	[V12] = {
		.name = "V12 ACK with data, guaranteed",
		.hex = {
			"3a8200010001200401420021",
			"02010000000a0b0c010400080000000800000000",
			"0000000000000029",
		},
		.to_a = true,
		.crc = 0x4c534e68,
		.pkt = {
			.type = UET_PDS_ACK, .next = UET_NEXT_RSP_DATA,
			.flags = UET_ACK_REQ_CLEAR,
			.spdcid = 0x142, .dpdcid = 0x21,
			.ack = { .cack_psn = 0x12004, .ack_psn = 0x12005 },
			.rsp = {
				.opcode = UET_RSP_DATA, .rc = UET_RC_OK,
				.job_id = UET_V_JOB, .modified_length = 8,
				.read_message_id = 0x104, .payload_length = 8,
			},
			.hdr_len = 32, .payload_len = 8,
		},
	},
	[V13] = {
		.name = "V13 ACK with error response",
		.hex = {
			"3a0200010001200301420021",
			"011d0103000a0b0c00000000",
		},
		.to_a = true,
		.crc = 0x57eb92cc,
		.pkt = {
			.type = UET_PDS_ACK, .next = UET_NEXT_RSP,
			.flags = UET_ACK_REQ_CLEAR,
			.spdcid = 0x142, .dpdcid = 0x21,
			.ack = { .cack_psn = 0x12003, .ack_psn = 0x12004 },
			.rsp = {
				.opcode = UET_RSP_RESPONSE,
				.rc = UET_RC_BAD_ADDR,
				.message_id = 0x103, .job_id = UET_V_JOB,
			},
			.hdr_len = 24,
		},
	},
	[V14] = {
		.name = "V14 RUD with CC state, small READ",
		.hex = {
			"6888ffff000200100022014307000010",
			"020b0020000a0b0c001200550000000000000800",
		},
		.crc = 0xc24450fd,
		.pkt = {
			.type = UET_PDS_RUD_CC, .next = UET_NEXT_REQ_SMALL,
			.flags = UET_REQ_AR,
			.psn = 0x20010, .clear_psn = 0x2000f, .spdcid = 0x22,
			.dpdcid = 0x143, .ccc_id = 7, .credit_target = 16,
			.req = {
				.opcode = UET_OP_READ,
				.flags = UET_SES_REL | UET_SES_EOM |
					 UET_SES_SOM,
				.job_id = UET_V_JOB, .pid_on_fep = UET_V_PID,
				.ri = 0x055, .buffer_offset = 0x800,
				.payload_length = 32, .request_length = 32,
			},
			.hdr_len = 36,
		},
	},
	[V15] = {
		.name = "V15 ROD, medium TAGGED_SEND",
		.hex = {
			"1908ffff0003010000230144",
			"090b0003000a0b0c00120003",
			"000000000000000000000005cafef00d00000001",
			"616263",
		},
		.entropy = 0x1234,
		.crc = 0x99add586,
		.pkt = {
			.type = UET_PDS_ROD, .next = UET_NEXT_REQ_MEDIUM,
			.flags = UET_REQ_AR,
			.psn = 0x30100, .clear_psn = 0x300ff, .spdcid = 0x23,
			.dpdcid = 0x144,
			.req = {
				.opcode = UET_OP_TAGGED_SEND,
				.flags = UET_SES_REL | UET_SES_EOM |
					 UET_SES_SOM,
				.job_id = UET_V_JOB, .pid_on_fep = UET_V_PID,
				.ri = UET_V_RI, .initiator = 5,
				.match = 0xcafef00d00000001,
				.payload_length = 3, .request_length = 3,
			},
			.hdr_len = 44, .payload_len = 3,
		},
	},
	[V16] = {
		.name = "V16 RUDI WRITE",
		.hex = {
			"2180000000c0de01",
			"010b0106000a0b0c00120003",
			"000000000000010000000005",
			"8000000000c0ffee000000000000000000000004",
			"01020304",
		},
		.crc = 0xe37ba39b,
		.pkt = {
			.type = UET_PDS_RUDI_REQ, .next = UET_NEXT_REQ_STD,
			.psn = 0xc0de01,
			.req = {
				.opcode = UET_OP_WRITE,
				.flags = UET_SES_REL | UET_SES_EOM |
					 UET_SES_SOM,
				.message_id = 0x106, .job_id = UET_V_JOB,
				.pid_on_fep = UET_V_PID, .ri = UET_V_RI,
				.buffer_offset = 0x100, .initiator = 5,
				.match = 0x8000000000c0ffee,
				.payload_length = 4, .request_length = 4,
			},
			.hdr_len = 52, .payload_len = 4,
		},
	},
	[V17] = {
		.name = "V17 UUD datagram",
		.hex = {
			"31800000",
			"070b0000000a0b0c00120003",
			"000000000000000000000005",
			"0000000000000000000000000000000000000002",
			"aa55",
		},
		.crc = 0x7a33b27b,
		.pkt = {
			.type = UET_PDS_UUD, .next = UET_NEXT_REQ_STD,
			.req = {
				.opcode = UET_OP_DATAGRAM_SEND,
				.flags = UET_SES_REL | UET_SES_EOM |
					 UET_SES_SOM,
				.job_id = UET_V_JOB, .pid_on_fep = UET_V_PID,
				.ri = UET_V_RI, .initiator = 5,
				.payload_length = 2, .request_length = 2,
			},
			.hdr_len = 48, .payload_len = 2,
		},
	},
	[V18] = {
		.name = "V18 Probe",
		.hex = {
			"5b005aa5000000000021014200012002",
		},
		.crc = 0xb09acb41,
		.pkt = {
			.type = UET_PDS_CP, .ctl = UET_CTL_PROBE,
			.spdcid = 0x21, .dpdcid = 0x142, .payload32 = 0x12002,
			.probe_opaque = 0x5aa5,
			.hdr_len = 16,
		},
	},
	[V19] = {
		.name = "V19 answer to V18",
		.hex = {
			"40085aa50001200101420021",
			"00080001000000000000000c000a000000120002",
		},
		.to_a = true,
		.crc = 0x6e3bd4af,
		.pkt = {
			.type = UET_PDS_ACK_CC, .flags = UET_ACK_P,
			.spdcid = 0x142, .dpdcid = 0x21,
			.ack = {
				.cack_psn = 0x12001, .probe_opaque = 0x5aa5,
				.mpr = 8, .cc_type = UET_CC_NSCC,
				.sack_base = 0x12002, .sack_bitmap = 0xc,
				.cc_state = 0x000a000000120002,
			},
			.hdr_len = 32,
		},
	},
	[V20] = {
		.name = "V20 rendezvous TSEND, ROD, SYN",
		.hex = {
			"198cffff0004000000240000",
			"0a0b0108000a0b0c00120003",
			"000000000000000000000005",
			"cafef00d00000002000000000000000000010000",
			"0000000400045006000000000000100000000000000a11ce",
			"00010203",
		},
		.crc = 0x6a6a4e1a,
		.pkt = {
			.type = UET_PDS_ROD, .next = UET_NEXT_REQ_STD,
			.flags = UET_REQ_AR | UET_REQ_SYN,
			.psn = 0x40000, .clear_psn = 0x3ffff, .spdcid = 0x24,
			.req = {
				.opcode = UET_OP_RENDEZVOUS_TSEND,
				.flags = UET_SES_REL | UET_SES_EOM |
					 UET_SES_SOM,
				.message_id = 0x108, .job_id = UET_V_JOB,
				.pid_on_fep = UET_V_PID, .ri = UET_V_RI,
				.initiator = 5, .match = 0xcafef00d00000002,
				.payload_length = 4, .request_length = 65536,
				.rdv_eager = 4, .rdv_pid = 0x045,
				.rdv_ri = 0x006, .rdv_offset = 0x1000,
				.rdv_key = 0xa11ce,
			},
			.hdr_len = 80, .payload_len = 4,
		},
	},
	[V21] = {
		.name = "V21 compare and swap",
		.hex = {
			"1188ffff0001200800210142",
			"040b0109000a0b0c00120003",
			"000000000000008000000005",
			"0000000000c0ffee000000000000000000000020",
			"0d070000",
			"00000000000000000000000000000005",
			"00000000000000000000000000000009",
		},
		.crc = 0x70a1c5cb,
		.pkt = {
			.type = UET_PDS_RUD, .next = UET_NEXT_REQ_STD,
			.flags = UET_REQ_AR,
			.psn = 0x12008, .clear_psn = 0x12007, .spdcid = 0x21,
			.dpdcid = 0x142,
			.req = {
				.opcode = UET_OP_FETCHING_ATOMIC,
				.flags = UET_SES_REL | UET_SES_EOM |
					 UET_SES_SOM,
				.message_id = 0x109, .job_id = UET_V_JOB,
				.pid_on_fep = UET_V_PID, .ri = UET_V_RI,
				.buffer_offset = 0x80, .initiator = 5,
				.match = 0xc0ffee, .request_length = 32,
				.amo_op = UET_AMO_CSWAP,
				.amo_type = UET_AMO_UINT64,
				.amo_compare = { [15] = 5 },
				.amo_swap = { [15] = 9 },
			},
			.hdr_len = 92,
		},
	},
	[V22] = {
		.name = "V22 ready to restart",
		.hex = {
			"118cffff0005000001510000",
			"0c0b0201000a0b0c00450006",
			"000000000000000000000009",
			"7700aa013300bb02000000000000000000010000",
		},
		.to_a = true,
		.crc = 0x63e7a878,
		.pkt = {
			.type = UET_PDS_RUD, .next = UET_NEXT_REQ_STD,
			.flags = UET_REQ_AR | UET_REQ_SYN,
			.psn = 0x50000, .clear_psn = 0x4ffff, .spdcid = 0x151,
			.req = {
				.opcode = UET_OP_DEFERRABLE_RTR,
				.flags = UET_SES_REL | UET_SES_EOM |
					 UET_SES_SOM,
				.message_id = 0x201, .job_id = UET_V_JOB,
				.pid_on_fep = 0x045, .ri = 0x006,
				.initiator = 9, .match = 0x7700aa013300bb02,
				.request_length = 65536,
			},
			.hdr_len = 56,
		},
	},
	[V23] = {
		.name = "V23 read response, return direction",
		.hex = {
			"1308ffff0002000001430022",
			"02010020000a0b0c00020010",
			"000102030405060708090a0b0c0d0e0f",
			"101112131415161718191a1b1c1d1e1f",
		},
		.to_a = true,
		.crc = 0xa5b92d27,
		.pkt = {
			.type = UET_PDS_RUD, .next = UET_NEXT_RSP_DATA_SMALL,
			.flags = UET_REQ_AR,
			.psn = 0x20000, .clear_psn = 0x1ffff, .spdcid = 0x143,
			.dpdcid = 0x22,
			.rsp = {
				.opcode = UET_RSP_DATA, .rc = UET_RC_OK,
				.job_id = UET_V_JOB, .payload_length = 32,
				.request_psn = 0x20010,
			},
			.hdr_len = 24, .payload_len = 32,
		},
	},
};

#endif /* UET_WIRE_VECTORS_H */
