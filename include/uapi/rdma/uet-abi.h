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

#include <linux/const.h>
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
 * @comp_mask: enum uet_ucontext_comp: which of the later fields are valid
 * @caps: enum uet_cap
 * @max_inline: largest inline payload of a send, bytes
 * @max_sge: most scatter/gather entries of a work request
 * @max_job: UET_UCONTEXT_JOBS: most jobs of the device
 * @max_skey: most security keys of the device
 * @max_jkey: most job keys of the device
 * @max_addr: most entries of a job's peer table
 */
struct uet_alloc_ucontext_resp {
	__u32 comp_mask;
	__u32 caps;
	__u32 max_inline;
	__u32 max_sge;
	__u32 max_job;
	__u32 max_skey;
	__u32 max_jkey;
	__u32 max_addr;
};

enum uet_ucontext_comp {
	UET_UCONTEXT_JOBS	= 1 << 0,
};

/* Capabilities of struct uet_alloc_ucontext_resp. */
enum uet_cap {
	UET_CAP_RU		= 1 << 0,	/* reliable-unconnected QPs */
	UET_CAP_JOB		= 1 << 1,	/* jobs, their keys, relative addressing */
	UET_CAP_USER_RKEY	= 1 << 2,	/* struct uet_reg_mr_req */
	UET_CAP_RU_ATOMIC	= 1 << 3,	/* CMP_SWAP and FETCH_ADD on RU */
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
 *	command POST_RECV without work requests: entries must be flushed, or the
 *	queue is gone. The kernel sets it and then reads @prod, user space
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
	/* RC, and RU with UET_CAP_RU_ATOMIC */
	UET_WQE_CMP_SWAP	= 5,
	UET_WQE_FETCH_ADD	= 6,
	/* RC and UC */
	UET_WQE_SEND_INV	= 7,
	UET_WQE_LOCAL_INV	= 8,
	UET_WQE_REG_MR		= 9,	/* kernel only */
	UET_WQE_BIND_MW		= 10,
	/* RC */
	UET_WQE_ATOMIC_WRITE	= 11,
	UET_WQE_FLUSH		= 12,
	/*
	 * Kept free for RU: 16 tagged, 17 deferrable and 18 rendezvous send and
	 * their tagged forms up to 23; 24 to 31 the rest of the AMO table
	 */
};

/* Flags of struct uet_send_wqe. */
enum uet_wqe_flags {
	UET_WQE_SIGNALED	= 1 << 0,
	UET_WQE_SOLICITED	= 1 << 1,
	UET_WQE_FENCE		= 1 << 2,
	UET_WQE_INLINE		= 1 << 3,	/* data stands where the SGEs would */
	UET_WQE_DELIVERY	= 1 << 4,	/* RU: done when the target's memory has it */
	UET_WQE_ADDR_IDX	= 1 << 5,	/* RU: @addr_idx says where to */
};

/**
 * struct uet_send_wqe - a send queue entry; SGEs or inline data follow it
 * @wr_id: handed back in the completion
 * @opcode: enum uet_wqe_op
 * @flags: enum uet_wqe_flags
 * @num_sge: entries that follow; 0 with UET_WQE_INLINE
 * @inline_len: bytes that follow with UET_WQE_INLINE, else 0
 * @ah: UD and RU: handle number of the address handle (uet_create_ah_resp)
 * @dest_qpn: UD and RU: remote QP number (of RU: wire pair); RC: 0
 * @qkey: UD: remote Q_Key
 * @rkey: remote key of WRITE, READ, atomics and FLUSH; key to invalidate of SEND_INV
 *	and LOCAL_INV; key that a memory window gets by BIND_MW. 64 bits wide
 *	for RU (see UET_RKEY_*), 32 used otherwise
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
 * @addr_idx: with UET_WQE_ADDR_IDX: entry of the peer table of the job; else 0
 * @jkey: RU: job key of the QP's protection domain: the job to send in; 0: the
 *	QP's own job, or no job if it has none. A QP with relative addressing
 *	sends in its own job only. Other QPs: 0
 * @mr_lkey: BIND_MW: key of the memory region; else 0
 * @reserved: 0; place of the tag and the match mask of tagged sends (8 bytes
 *	each)
 *
 * With UET_WQE_ADDR_IDX @ah and @dest_qpn are 0. A job key that is not good
 * here completes the request with IB_WC_LOC_ACCESS_ERR, an entry that is empty
 * or outside the table with IB_WC_LOC_QP_OP_ERR. The entry is read when the
 * request is started: an entry replaced before that counts, one replaced later
 * does not.
 *
 * A WRITE_IMM of RU always wakes a peer that waits for solicited completions:
 * its header data is all immediate.
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
 * @src_qp: UD and RU: number of the sender; of RU this is its source id
 * @job_id: RU: job of the sender, 24 bits; 0 for no job
 * @vendor_err: what explains a bad status: SES return code; 0x100 to 0x1ff: a reason
 *	of this side; 0x200 + PDS NACK code
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
 * enum uet_addressing - what the wire pair of an RU QP is relative to
 * @UET_ADDR_NONE: not said
 * @UET_ADDR_RELATIVE: the pair is one of the QP's job and means nothing
 *	outside of it; the QP talks to its own job only (uet-wire 5.2)
 * @UET_ADDR_ABSOLUTE: the pair is one of the device; the QP talks to every job
 *	that its protection domain has a job key for, and to senders without a
 *	job
 */
enum uet_addressing {
	UET_ADDR_NONE		= 0,
	UET_ADDR_RELATIVE	= 1,
	UET_ADDR_ABSOLUTE	= 2,
};

/* Bits of uet_semantics.usage_flags; values as of the UEC's verbs. */
enum uet_usage_flags {
	UET_USAGE_IMM_DATA_RQ	= 1 << 0,	/* WRITE_IMM uses a receive buffer */
	UET_USAGE_ATTACH_MR	= 1 << 1,	/* regions can be attached to QPs */
};

/**
 * struct uet_semantics - what a QP guarantees, or is asked to
 * @comp_mask: 0
 * @msg_order: 17 bits as of the UEC's verbs (uet-jobs.rst): pairs of
 *	operations whose order is kept
 * @max_rdma_raw_size: bytes up to which a READ sees an earlier WRITE; 0: never
 * @max_rdma_war_size: bytes up to which a WRITE comes after an earlier READ
 * @max_rdma_waw_size: bytes up to which WRITEs come in order
 * @max_pdu: payload of a full packet, bytes: 1024, 2048, 4096 or 8192
 * @imm_data_size: bits of immediate data: 32 or 64
 * @usage_flags: enum uet_usage_flags
 * @reserved: 0
 *
 * As a request 0 means "no matter". More may be given than was asked for;
 * what is asked for and cannot be given is refused with EOPNOTSUPP. Messages
 * of a QP are not ordered: @msg_order and the three sizes are 0.
 */
struct uet_semantics {
	__u32 comp_mask;
	__u32 msg_order;
	__u32 max_rdma_raw_size;
	__u32 max_rdma_war_size;
	__u32 max_rdma_waw_size;
	__u32 max_pdu;
	__u32 imm_data_size;
	__u32 usage_flags;
	__u32 reserved[2];
};

/**
 * enum uet_create_qp_comp - bits of uet_create_qp_req.comp_mask
 * @UET_CREATE_QP_RU: @addressing and @jkey are valid
 * @UET_CREATE_QP_PID: PIDonFEP is chosen by the caller, in @wire_qpn 11:0
 * @UET_CREATE_QP_RI: resource index is chosen, in @wire_qpn 23:12; not 0
 * @UET_CREATE_QP_SRC_ID: @src_id is valid
 * @UET_CREATE_QP_SEMANTICS: @want is valid
 *
 * All but the first want the first.
 */
enum uet_create_qp_comp {
	UET_CREATE_QP_RU	= 1 << 0,
	UET_CREATE_QP_PID	= 1 << 1,
	UET_CREATE_QP_RI	= 1 << 2,
	UET_CREATE_QP_SRC_ID	= 1 << 3,
	UET_CREATE_QP_SEMANTICS	= 1 << 4,
};

/**
 * struct uet_create_qp_req - input of create_qp
 * @comp_mask: enum uet_create_qp_comp, only with UET_QPT_RU; other bits are
 *	refused with EOPNOTSUPP
 * @driver_qp_type: enum uet_qp_type; must be UET_QPT_NONE unless the verbs QP
 *	type is IB_QPT_DRIVER
 * @reserved: 0, else refused
 * @addressing: enum uet_addressing, never UET_ADDR_NONE
 * @jkey: job of the QP: a job key of its protection domain; must not be 0 with
 *	UET_ADDR_RELATIVE
 * @wire_qpn: what of it is valid is chosen, the rest is 0 and assigned
 * @src_id: what receivers see as source id (SES initiator, a rank for
 *	example); else the QP number under UET_ADDR_ABSOLUTE, the wire pair
 *	under UET_ADDR_RELATIVE
 * @want: semantics asked for
 *
 * A caller that ends with @reserved gets an RU QP with absolute addressing, no
 * job and assigned numbers. Shorter than that is refused.
 *
 * Errors beside those of the verb: EINVAL (addressing, job key missing or not
 * of this domain, RI 0), EBUSY (wire pair in use: in the job under relative,
 * on the device under absolute addressing; no pair left that fits), EPERM
 * (absolute pair chosen without CAP_NET_RAW over the device's network
 * namespace), EOPNOTSUPP (semantics).
 */
struct uet_create_qp_req {
	__u32 comp_mask;
	__u32 driver_qp_type;
	__u32 reserved[2];
	__u32 addressing;
	__u32 jkey;
	__u32 wire_qpn;
	__u32 src_id;
	struct uet_semantics want;
};

/* Bits of uet_create_qp_resp.comp_mask. */
enum uet_create_qp_resp_comp {
	UET_CREATE_QP_RESP_RU	= 1 << 0,	/* fields from @addressing on */
};

/**
 * struct uet_create_qp_resp - answer to create_qp
 * @comp_mask: enum uet_create_qp_resp_comp
 * @wire_qpn: the number peers use: RI in 23:12, PIDonFEP in 11:0. Equal to
 *	the QP number except for relative addressing
 * @sq: ring of struct uet_send_wqe; user space produces. Requests of RU
 *	complete in any order; there cons counts those that have: entries are
 *	copied when they are started, so with each the oldest entry is free
 * @rq: ring of struct uet_recv_wqe; user space produces. depth 0 with an SRQ
 * @addressing: enum uet_addressing
 * @src_id: source id of what the QP sends
 * @job_id: job of the QP, 0 for none
 * @reserved: 0
 * @granted: semantics of the QP
 */
struct uet_create_qp_resp {
	__u32 comp_mask;
	__u32 wire_qpn;
	struct uet_ring_info sq;
	struct uet_ring_info rq;
	__u32 addressing;
	__u32 src_id;
	__u32 job_id;
	__u32 reserved;
	struct uet_semantics granted;
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

/*
 * Memory keys of RU, as they are on the wire (uet-wire 5.4). A key that the
 * application chooses has bits 47:0 to choose; UET_RKEY_IDEMPOTENT is set by
 * the kernel. Bits 62:56 and, in chosen keys, 55:48 are 0. A key that the
 * kernel assigns is UET_RKEY_ASSIGNED and the 32-bit key of verbs.
 */
#define UET_RKEY_IDEMPOTENT		_BITULL(63)
/* kept free: keys of 12 bits, for small headers */
#define UET_RKEY_OPTIMISED		_BITULL(62)
#define UET_RKEY_ASSIGNED		_BITULL(48)
#define UET_RKEY_CHOICE			(_BITULL(48) - 1)

/**
 * enum uet_reg_mr_comp - bits of uet_reg_mr_req.comp_mask
 * @UET_REG_MR_JKEY: the region is for one job: @jkey
 * @UET_REG_MR_RKEY: the application chooses the remote key: @rkey
 * @UET_REG_MR_PARENT: a part of another region: @parent_lkey
 */
enum uet_reg_mr_comp {
	UET_REG_MR_JKEY		= 1 << 0,
	UET_REG_MR_RKEY		= 1 << 1,
	UET_REG_MR_PARENT	= 1 << 2,
};

/**
 * enum uet_reg_mr_flags - bits of uet_reg_mr_req.flags
 * @UET_MR_QP_RESTRICTED: peers reach the region only by the QP it is attached
 *	to; by none until then
 * @UET_MR_IDEMPOTENT: peers may do the same twice (RUDI); wants
 *	UET_REG_MR_RKEY
 *
 * With UET_REG_MR_JKEY they make the four access classes: protection domain
 * only; and QP; and job; and both.
 */
enum uet_reg_mr_flags {
	UET_MR_QP_RESTRICTED	= 1 << 0,
	UET_MR_IDEMPOTENT	= 1 << 1,
};

/**
 * struct uet_reg_mr_req - input of reg_mr and of UVERBS_METHOD_REG_DMABUF_MR
 * @comp_mask: enum uet_reg_mr_comp; other bits are refused with EOPNOTSUPP
 * @flags: enum uet_reg_mr_flags; the same
 * @jkey: a job key of the same protection domain
 * @parent_lkey: local key of the region to derive from, of the same domain.
 *	Start of the verb is then an address as that region names it, and the
 *	range must be inside; no memory is pinned. Rights, job key and remote
 *	key are the new region's own; local write and remote rights not wider
 *	than what the memory was pinned for. Not with a dma-buf, but a region of
 *	a dma-buf can be the parent
 * @rkey: chosen remote key, within UET_RKEY_CHOICE
 * @reserved: 0
 *
 * A region with a chosen key is found by RU QPs only. A key may be used again
 * for regions that no request could mean both of: of another protection
 * domain, of another job (both job-restricted), attached to another QP (both
 * QP-restricted).
 *
 * A region that is not for all of its domain takes no memory windows and is
 * not changed by rereg_mr (EOPNOTSUPP).
 *
 * Errors beside those of the verb: EINVAL (job key not of this domain, key out
 * of range, UET_MR_IDEMPOTENT without a chosen key, parent unknown or of
 * another domain, range outside the parent), EOPNOTSUPP (a part of a region on
 * demand, IB_ACCESS_MW_BIND of a region that is not for all), EACCES (more
 * rights than the parent's memory has), EEXIST (the key is in use in this
 * scope), ENOSPC (4096 regions of the domain have it). A parent is not
 * deregistered (EBUSY) while regions derived from it exist.
 */
struct uet_reg_mr_req {
	__u32 comp_mask;
	__u32 flags;
	__u32 jkey;
	__u32 parent_lkey;
	__aligned_u64 rkey;
	__aligned_u64 reserved[2];
};

/**
 * struct uet_reg_mr_resp - its answer
 * @comp_mask: 0 for now
 * @job_id: job of the region, 0 for none
 * @rkey: remote key for RU, 64 bits, to be used by peers as it is
 * @reserved: 0
 */
struct uet_reg_mr_resp {
	__u32 comp_mask;
	__u32 job_id;
	__aligned_u64 rkey;
	__aligned_u64 reserved;
};

#define UET_JOB_ID_MAX			0xffffff	/* 24 bits; 0 is no job */

/**
 * enum uet_right - what a handle or file descriptor lets its holder do
 * @UET_RIGHT_USE: make job keys; refer to a security key from a job
 * @UET_RIGHT_ADDR: change the peer table of a job
 * @UET_RIGHT_EXPORT: export, with these rights or fewer
 * @UET_RIGHT_REKEY: change a security key
 *
 * Who creates gets all of them, who opens as owner as well.
 */
enum uet_right {
	UET_RIGHT_USE		= 1 << 0,
	UET_RIGHT_ADDR		= 1 << 1,
	UET_RIGHT_EXPORT	= 1 << 2,
	UET_RIGHT_REKEY		= 1 << 3,
};

#define UET_OWNER_NONE			0xffffffff

/* Bits of uet_job_attr.flags. */
enum uet_job_flags {
	UET_JOB_ALLOC_OPEN	= 1 << 0,	/* in: open, do not create */
	UET_JOB_PERSISTENT	= 1 << 1,	/* out: netlink made it and ends it */
	UET_JOB_DEAD		= 1 << 2,	/* out: ended by the administrator */
};

enum uet_job_transport {
	UET_JOB_TRANSPORT_UDP	= 0,	/* UET over UDP */
	/* kept free: 1, UET over IP */
};

/**
 * struct uet_job_attr - a job
 * @comp_mask: 0, else refused
 * @flags: enum uet_job_flags
 * @id: JobID, 1 .. UET_JOB_ID_MAX
 * @max_addr: entries of the peer table, index 0 to max_addr - 1; 0: no table
 * @port_num: 1
 * @transport: enum uet_job_transport, else EOPNOTSUPP
 * @sgid_index: GID that is the job's address, the default of peer entries
 * @uid: owner, as the caller's user namespace has it; UET_OWNER_NONE for none
 * @gid: owning group; UET_OWNER_NONE for none
 * @rights: out: enum uet_right of the handle
 * @num_addr: out: entries in use
 * @skey_id: out: id of the security key, 0 for none
 * @max_jkey: most job keys of it; 0: no limit but the device's. At the limit
 *	ENOSPC
 * @reserved: 0
 *
 * To open, all but @flags and @id must be 0. Out-only fields must be 0 in.
 */
struct uet_job_attr {
	__u32 comp_mask;
	__u32 flags;
	__u32 id;
	__u32 max_addr;
	__u8 port_num;
	__u8 transport;
	__u16 sgid_index;
	__u32 uid;
	__u32 gid;
	__u32 rights;
	__u32 num_addr;
	__u32 skey_id;
	__u32 max_jkey;
	__u32 reserved[3];
};

/* Bits of uet_job_addr.flags. */
enum uet_job_addr_flags {
	UET_JOB_ADDR_SGID	= 1 << 0,	/* @sgid_index is valid, else the job's */
};

/**
 * struct uet_job_addr - an entry of a job's peer table
 * @index: which entry; the rank of the peer
 * @qpn: wire pair of the peer: RI in 23:12, PIDonFEP in 11:0
 * @dgid: address of the peer, as a RoCE v2 GID
 * @sgid_index: local address
 * @hop_limit: TTL or hop limit; 0: the system's default
 * @traffic_class: IP traffic class; 0: the device's setting
 * @flags: enum uet_job_addr_flags
 * @reserved: 0
 */
struct uet_job_addr {
	__u32 index;
	__u32 qpn;
	__u8 dgid[16];
	__u16 sgid_index;
	__u8 hop_limit;
	__u8 traffic_class;
	__u16 flags;
	__u16 reserved;
};

/* An attribute of the verbs ioctl has no more than 65,535 bytes. */
#define UET_JOB_ADDR_MAX		2047

#define UET_SKEY_BYTES			32	/* AES-256 */

enum uet_skey_alg {
	UET_SKEY_AES_256_GCM	= 1,
};

/* How packet keys come from the material (uet-wire 6). */
enum uet_skey_mode {
	UET_SKEY_DIRECT		= 0,
	UET_SKEY_CLUSTER	= 1,
	UET_SKEY_SERVER		= 2,	/* material is what clients' keys are derived from */
	UET_SKEY_CLIENT		= 3,	/* material was derived by the server */
};

/* Bits of uet_skey_attr.flags. */
enum uet_skey_flags {
	UET_SKEY_ALLOC_OPEN	= 1 << 0,	/* in: open, do not create */
	UET_SKEY_PERSISTENT	= 1 << 1,	/* out: netlink made it and ends it */
	UET_SKEY_DEAD		= 1 << 2,	/* out: its device has gone */
	UET_SKEY_HAS_SSI	= 1 << 3,	/* in, out: @ssi is valid */
};

/**
 * struct uet_skey_attr - a security key, without its material
 * @comp_mask: 0, else refused
 * @flags: enum uet_skey_flags
 * @id: name on the device; 0: assigned
 * @sdi: secure domain id, 24 bits
 * @ssi: source id
 * @alg: enum uet_skey_alg
 * @mode: enum uet_skey_mode
 * @an: association number in use for sending, 0 or 1
 * @an_valid: out: bit 0 and 1: that association number has a key
 * @uid: owner, as in struct uet_job_attr
 * @gid: owning group
 * @rights: out: enum uet_right of the handle
 * @num_job: out: jobs that refer to it
 * @reserved: 0
 */
struct uet_skey_attr {
	__u32 comp_mask;
	__u32 flags;
	__u32 id;
	__u32 sdi;
	__u32 ssi;
	__u8 alg;
	__u8 mode;
	__u8 an;
	__u8 an_valid;
	__u32 uid;
	__u32 gid;
	__u32 rights;
	__u32 num_job;
	__u32 reserved[2];
};

/**
 * enum uet_skey_rekey_op - the steps of changing a key without a gap
 * @UET_SKEY_REKEY_INSTALL: give material to the other association number; it
 *	is good for receiving from now on
 * @UET_SKEY_REKEY_SWITCH: send with the other association number
 * @UET_SKEY_REKEY_RETIRE: wipe the material of the association number that is
 *	not sent with
 */
enum uet_skey_rekey_op {
	UET_SKEY_REKEY_INSTALL	= 0,
	UET_SKEY_REKEY_SWITCH	= 1,
	UET_SKEY_REKEY_RETIRE	= 2,
};

#endif /* UET_ABI_H */
