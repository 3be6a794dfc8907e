/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/*
 * Ultra Ethernet Transport: what the uet provider and its user library share.
 *
 * Every struct is 8-byte aligned, has the same layout for 32-bit and 64-bit
 * user space, and carries a comp_mask or reserved fields that must be zero,
 * so that an old library works on a new kernel and the reverse.
 */
#ifndef UET_ABI_H
#define UET_ABI_H

#include <linux/types.h>

/*
 * The driver id the kernel reports to user space. Out of the range of enum
 * rdma_driver_id, which is closed to drivers outside the kernel tree. Kernel
 * and library take it from here.
 */
#define UET_DRIVER_ID			0x00554554	/* "UET" */

#define UET_ABI_VERSION			1

/* Key given to a send queue entry for memory that needs no key. */
#define UET_LKEY_INLINE			0

/**
 * struct uet_alloc_ucontext_resp - answer to alloc_ucontext
 * @comp_mask: bits of later fields that are valid; 0 for now
 * @caps: enum uet_cap
 * @max_inline: largest inline payload of a send, bytes
 * @max_sge: most scatter/gather entries of a work request
 */
struct uet_alloc_ucontext_resp {
	__u32 comp_mask;
	__u32 caps;
	__u32 max_inline;
	__u32 max_sge;
};

/* Capabilities of struct uet_alloc_ucontext_resp. */
enum uet_cap {
	UET_CAP_RU		= 1 << 0,	/* reliable-unconnected QPs */
};

/* Flags of struct uet_ring. */
enum uet_ring_flags {
	UET_RING_KICK		= 1 << 0,
	UET_RING_LOOKING	= 1 << 1,
};

/* Hints of struct uet_ring. */
enum uet_ring_hints {
	UET_RING_STREAM		= 1 << 0,
};

/**
 * struct uet_ring - head of a ring that kernel and user space share
 * @prod: next entry to be filled, free running, owned by the producer
 * @hints: enum uet_ring_hints, owned by the producer. UET_RING_STREAM in a send
 *	ring says that requests come faster than completions are asked for
 * @reserved0: 0
 * @cons: next entry to be taken, free running, owned by the consumer
 * @flags: enum uet_ring_flags, owned by the consumer. UET_RING_KICK in a
 *	receive ring asks user space to follow a change of @prod with the write
 *	command POST_RECV without work requests: entries must be flushed, or a
 *	peer waits for one. The kernel sets it and then reads @prod, user space
 *	writes @prod and then reads it, each with a full barrier between.
 *	UET_RING_LOOKING in a send ring promises that the kernel looks at @prod
 *	by itself within UET_RING_LOOK_US: new entries need no doorbell. Only
 *	producers that gave the hint UET_RING_STREAM see it. The kernel clears
 *	it and then reads @prod, with the same barriers
 * @reserved1: 0
 *
 * Entry i stands at UET_RING_HDR + (i & (depth - 1)) * stride from the start
 * of the mapping. The producer writes the entry, then @prod with release
 * semantics; the consumer reads @prod with acquire semantics. The kernel
 * never believes an index of user space without masking it and checking that
 * prod - cons <= depth.
 */
struct uet_ring {
	__u32 prod;
	__u32 hints;
	__u32 reserved0[14];
	__u32 cons;
	__u32 flags;
	__u32 reserved1[14];
};

#define UET_RING_HDR			128

/* Longest that a request waits with UET_RING_LOOKING, microseconds. */
#define UET_RING_LOOK_US		50

/**
 * struct uet_ring_info - where a ring can be mapped and how it is laid out
 * @mmap_offset: offset for mmap() on the verbs command fd
 * @mmap_size: bytes to map
 * @depth: entries, a power of two
 * @stride: bytes from one entry to the next, a multiple of 16
 */
struct uet_ring_info {
	__aligned_u64 mmap_offset;
	__aligned_u64 mmap_size;
	__u32 depth;
	__u32 stride;
};

/**
 * struct uet_wqe_sge - one piece of memory of a work request
 * @addr: address in the memory region
 * @length: bytes
 * @lkey: key of the memory region
 */
struct uet_wqe_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/* Opcodes of struct uet_send_wqe. */
enum uet_wqe_op {
	UET_WQE_SEND		= 0,
	UET_WQE_SEND_IMM	= 1,
	UET_WQE_WRITE		= 2,
	UET_WQE_WRITE_IMM	= 3,
	UET_WQE_READ		= 4,
	/* RC; UC has SEND_INV and the local ones */
	UET_WQE_CMP_SWAP	= 5,
	UET_WQE_FETCH_ADD	= 6,
	UET_WQE_SEND_INV	= 7,
	UET_WQE_LOCAL_INV	= 8,
	UET_WQE_REG_MR		= 9,	/* kernel only */
	UET_WQE_BIND_MW		= 10,
	/* RC */
	UET_WQE_ATOMIC_WRITE	= 11,
	UET_WQE_FLUSH		= 12,
};

/* Flags of struct uet_send_wqe. */
enum uet_wqe_flags {
	UET_WQE_SIGNALED	= 1 << 0,
	UET_WQE_SOLICITED	= 1 << 1,
	UET_WQE_FENCE		= 1 << 2,
	UET_WQE_INLINE		= 1 << 3,	/* data stands where the SGEs would */
};

/**
 * struct uet_send_wqe - a send queue entry; SGEs or inline data follow it
 * @wr_id: handed back in the completion
 * @opcode: enum uet_wqe_op
 * @flags: enum uet_wqe_flags
 * @num_sge: entries that follow; 0 with UET_WQE_INLINE
 * @inline_len: bytes that follow with UET_WQE_INLINE, else 0
 * @ah: UD and RU: handle number of the address handle (uet_create_ah_resp)
 * @dest_qpn: UD and RU: remote QP number; RC: 0
 * @qkey: UD: remote Q_Key
 * @rkey: remote key of WRITE, READ, atomics and FLUSH; key to invalidate of SEND_INV
 *	and LOCAL_INV; key that a memory window gets by BIND_MW. 64 bits wide
 *	for RU, 32 used otherwise
 * @remote_addr: remote address of WRITE, READ, atomics and FLUSH; first byte of the
 *	window of BIND_MW, as the memory region names it
 * @imm_data: immediate data in host order: 32 bits for RC and UD, up to 64
 *	for RU
 * @compare_add: FETCH_ADD: what to add; CMP_SWAP: what must be there; BIND_MW:
 *	bytes of the window, 0 to unbind one of type 1; ATOMIC_WRITE without
 *	SGE: what to store; FLUSH of a range: its bytes, 32 bits
 * @swap: CMP_SWAP: what to store; BIND_MW: rights, enum ib_access_flags
 *	(REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC, ZERO_BASED); FLUSH: enum
 *	ib_placement_type in 7:0, enum ib_selectivity_level in 15:8
 * @addr_idx: RU by rank, later; 0
 * @jkey: RU in a job, later; 0
 * @mr_lkey: BIND_MW: key of the memory region; else 0
 * @reserved: 0
 *
 * CMP_SWAP and FETCH_ADD have one SGE of 8 bytes, where the old value goes.
 * ATOMIC_WRITE has 8 bytes, of memory, inline, or in @compare_add as they shall
 * stand in memory. LOCAL_INV, BIND_MW and FLUSH have no SGE and no inline data.
 *
 * BIND_MW names the window by the index of @rkey (bits 31:8); bits 7:0 become
 * its new key. A window of type 1 may be bound again as it is; one of type 2
 * must be invalid first (LOCAL_INV, SEND_INV of the peer), else the request
 * fails with IB_WC_MW_BIND_ERR. All local operations are done in the order
 * they were posted, before later requests of the queue start.
 */
struct uet_send_wqe {
	__aligned_u64 wr_id;
	__u8 opcode;
	__u8 flags;
	__u16 num_sge;
	__u32 inline_len;
	__u32 ah;
	__u32 dest_qpn;
	__u32 qkey;
	__u32 addr_idx;
	__aligned_u64 rkey;
	__aligned_u64 remote_addr;
	__aligned_u64 imm_data;
	__aligned_u64 compare_add;
	__aligned_u64 swap;
	__u32 jkey;
	__u32 mr_lkey;
	__u32 reserved[4];
};

/**
 * struct uet_recv_wqe - a receive queue entry; SGEs follow it
 * @wr_id: handed back in the completion
 * @num_sge: entries that follow
 * @reserved: 0
 */
struct uet_recv_wqe {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 reserved;
};

/* Flags of struct uet_cqe; values are those of enum ibv_wc_flags. */
enum uet_cqe_flags {
	UET_CQE_GRH		= 1 << 0,
	UET_CQE_WITH_IMM	= 1 << 1,
	UET_CQE_WITH_INV	= 1 << 3,
	UET_CQE_SOLICITED	= 1 << 8,	/* not for the application */
	UET_CQE_VLAN		= 1 << 9,	/* @vlan_id is valid; kernel CQs only */
};

/**
 * struct uet_cqe - a completion queue entry
 * @wr_id: of the work request
 * @imm_data: immediate data in host order, or the invalidated key
 * @timestamp: CLOCK_MONOTONIC of the completion, nanoseconds
 * @byte_len: bytes received or read
 * @qp_num: local QP number
 * @src_qp: UD and RU: number of the sender
 * @job_id: RU: job of the sender, 24 bits; 0 for no job
 * @vendor_err: SES return code or PDS NACK code that explains a bad status
 * @status: values of enum ib_wc_status
 * @opcode: values of enum ib_wc_opcode of the kernel (IB_WC_RECV = 128)
 * @flags: enum uet_cqe_flags
 * @pkey_index: 0
 * @vlan_id: VLAN of the address that a management datagram came to
 * @reserved: 0
 * @reserved1: 0
 */
struct uet_cqe {
	__aligned_u64 wr_id;
	__aligned_u64 imm_data;
	__aligned_u64 timestamp;
	__u32 byte_len;
	__u32 qp_num;
	__u32 src_qp;
	__u32 job_id;
	__u32 vendor_err;
	__u8 status;
	__u8 opcode;
	__u16 flags;
	__u16 pkey_index;
	__u16 vlan_id;
	__u16 reserved[2];
	__aligned_u64 reserved1;
};

/**
 * struct uet_create_cq_resp - answer to create_cq
 * @comp_mask: 0 for now
 * @reserved: 0
 * @cq: ring of struct uet_cqe; the kernel produces
 */
struct uet_create_cq_resp {
	__u32 comp_mask;
	__u32 reserved;
	struct uet_ring_info cq;
};

/**
 * struct uet_resize_cq_resp - answer to resize_cq
 * @comp_mask: 0 for now
 * @reserved: 0
 * @cq: the new ring; completions not yet taken from the old one are in it, and
 *	nothing is added to the old one any more. Nobody may poll the CQ while
 *	the verb runs
 */
struct uet_resize_cq_resp {
	__u32 comp_mask;
	__u32 reserved;
	struct uet_ring_info cq;
};

/**
 * struct uet_create_srq_resp - answer to create_srq
 * @comp_mask: 0 for now
 * @srq_num: number of the SRQ
 * @rq: ring of struct uet_recv_wqe; user space produces. UET_RING_KICK is set
 *	in it only after the SRQ is gone
 */
struct uet_create_srq_resp {
	__u32 comp_mask;
	__u32 srq_num;
	struct uet_ring_info rq;
};

/**
 * struct uet_modify_srq_req - input of modify_srq
 * @comp_mask: 0, else refused
 * @reserved: 0, else refused
 * @resp_addr: user address of a struct uet_modify_srq_resp that the kernel
 *	fills in when it resizes (the verb has no answer of its own); must not
 *	be 0 with IB_SRQ_MAX_WR, and is not looked at without
 */
struct uet_modify_srq_req {
	__u32 comp_mask;
	__u32 reserved;
	__aligned_u64 resp_addr;
};

/**
 * struct uet_modify_srq_resp - answer to a resizing modify_srq
 * @comp_mask: 0 for now
 * @reserved: 0
 * @rq: the new ring; requests not yet used are in it in their order, and
 *	nothing is taken from the old one any more. Nobody may post to the SRQ
 *	while the verb runs
 */
struct uet_modify_srq_resp {
	__u32 comp_mask;
	__u32 reserved;
	struct uet_ring_info rq;
};

/**
 * enum uet_qp_type - sub type of an IB_QPT_DRIVER QP
 * @UET_QPT_NONE: a standard QP type
 * @UET_QPT_RU: reliable unconnected. Created in RESET; modify_qp takes what it
 *	takes for UD except the Q_Key, and by that the library brings it to RTS
 *	before the application sees it. Peers may do what the memory region
 *	lets them, unless access flags of the QP forbid it
 */
enum uet_qp_type {
	UET_QPT_NONE		= 0,
	UET_QPT_RU		= 1,
};

/**
 * struct uet_create_qp_req - input of create_qp
 * @comp_mask: 0, else refused
 * @driver_qp_type: enum uet_qp_type; must be UET_QPT_NONE unless the verbs QP
 *	type is IB_QPT_DRIVER
 * @reserved: 0, else refused
 */
struct uet_create_qp_req {
	__u32 comp_mask;
	__u32 driver_qp_type;
	__u32 reserved[2];
};

/**
 * struct uet_create_qp_resp - answer to create_qp
 * @comp_mask: 0 for now
 * @wire_qpn: the number peers use: RI in 23:12, PIDonFEP in 11:0. Equal to
 *	the QP number except for relative addressing
 * @sq: ring of struct uet_send_wqe; user space produces
 * @rq: ring of struct uet_recv_wqe; user space produces. depth 0 with an SRQ
 */
struct uet_create_qp_resp {
	__u32 comp_mask;
	__u32 wire_qpn;
	struct uet_ring_info sq;
	struct uet_ring_info rq;
};

/**
 * struct uet_create_ah_resp - answer to create_ah
 * @comp_mask: 0 for now
 * @ah: handle number for struct uet_send_wqe
 */
struct uet_create_ah_resp {
	__u32 comp_mask;
	__u32 ah;
};

#endif /* UET_ABI_H */
