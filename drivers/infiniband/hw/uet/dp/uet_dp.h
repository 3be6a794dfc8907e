/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The seam: all that the packet engine (uet_dp.ko) offers and asks of its
 * user, the verbs provider. No ib_* type passes here. Packets stay below,
 * work queues, keys and rights stay above.
 *
 * Contexts. Unless a function says otherwise it may be called from process
 * context or softirq with interrupts ENABLED, and takes BH locks of the
 * engine. No lock of the caller that is also taken in one of the callbacks
 * below may be held. Callbacks run in softirq or with BHs off, under a lock
 * of the engine; they must not sleep and must not call back into the engine
 * except where it is said. What a callback wants done outside the engine's
 * locks it hangs on the struct uet_defer it is given.
 */
#ifndef UET_DP_H
#define UET_DP_H

#include <linux/bvec.h>
#include <linux/completion.h>
#include <linux/in6.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/types.h>

#include "stats.h"
#include "wire.h"

struct uet_ep;
struct uet_fep;
struct uet_msg;
struct uet_path;
struct uet_pdc;

/* ------------------------------------------------------------------ */
/* Work put off until no lock is held                                  */

/**
 * struct uet_notify - something to run once no engine lock is held
 * @node: entry of uet_defer.notify
 * @busy: set while the entry is on a list
 * @fn: what to run; softirq or process context, no engine lock held. May post
 *	work. The owner keeps the memory alive from uet_defer_notify() until
 *	@fn returns (take a reference before, drop it in @fn)
 */
struct uet_notify {
	struct list_head node;
	unsigned long busy;
	void (*fn)(struct uet_notify *n);
};

/* Ordered paths that one collector keeps apart; more lose their order. */
#define UET_DEFER_PATHS		4

/**
 * struct uet_defer - packets to send and notifications to give, collected
 *	while locks are held
 * @xmit: packets, in order
 * @notify: struct uet_notify, in order
 * @paths: ordered paths with packets waiting; references are held
 * @nr_paths: entries of @paths
 */
struct uet_defer {
	struct sk_buff_head xmit;
	struct list_head notify;
	struct uet_path *paths[UET_DEFER_PATHS];
	u8 nr_paths;
};

void uet_notify_init(struct uet_notify *n, void (*fn)(struct uet_notify *n));
void uet_defer_init(struct uet_defer *d);
bool uet_defer_notify(struct uet_defer *d, struct uet_notify *n);
void uet_defer_run(struct uet_defer *d);

/* ------------------------------------------------------------------ */
/* Memory                                                              */

/**
 * struct uet_mem - registered memory as the engine sees it
 * @ref: keeps this struct; the last uet_mem_put() calls @release
 * @users: accesses under way plus one while the memory is alive
 * @dead: completed when the last access has ended after uet_mem_kill()
 * @release: frees the struct; softirq context, must not sleep
 * @page_in: memory that may not be there, or NULL: are these bytes? 0; -EAGAIN:
 *	they are being fetched; -EFAULT: they cannot be had. Bytes that are
 *	there stay until the caller is out of its RCU read side, which code
 *	with BHs off is. len > 0
 * @bvec: blocks of memory. All but the first and last have exactly
 *	1 << @shift bytes; block 0 may begin inside its block
 * @nr_bvec: entries of @bvec
 * @shift: log2 of the block size
 * @first_off: how many bytes of its block the first block lacks
 * @length: bytes in all
 * @copy: pages are not to be referenced by packets, only copied
 *
 * A message holds @ref for as long as it lives and takes @users only while
 * bytes are read or written, so that deregistration never waits for the
 * network: it marks the memory dead, waits for accesses under way, and the
 * rest of the message fails with a protection error.
 */
struct uet_mem {
	struct kref ref;
	refcount_t users;
	struct completion dead;
	void (*release)(struct uet_mem *mem);
	int (*page_in)(struct uet_mem *mem, u64 off, u32 len, bool write);
	const struct bio_vec *bvec;
	u32 nr_bvec;
	u8 shift;
	u32 first_off;
	u64 length;
	bool copy;
};

void uet_mem_init(struct uet_mem *mem, void (*release)(struct uet_mem *mem));
void uet_mem_get(struct uet_mem *mem);
void uet_mem_put(struct uet_mem *mem);
bool uet_mem_enter(struct uet_mem *mem);
int uet_mem_begin(struct uet_mem *mem, u64 off, u32 len, bool write);
void uet_mem_exit(struct uet_mem *mem);
void uet_mem_kill(struct uet_mem *mem);

/**
 * struct uet_sge - a piece of memory to send from or to receive into
 * @mem: registered memory, or NULL
 * @off: offset of the first byte in @mem, 0 .. mem->length; with @mem NULL a
 *	kernel address (DMA memory region, inline data)
 * @len: bytes; off + len <= mem->length is the provider's promise
 */
struct uet_sge {
	struct uet_mem *mem;
	u64 off;
	u32 len;
};

/* ------------------------------------------------------------------ */
/* Fabric endpoint                                                     */

/**
 * struct uet_fep_params - settings of a fabric endpoint
 * @payload_mtu: largest payload per packet: 1024, 2048, 4096 or 8192; paths
 *	with a smaller route MTU use less
 * @dscp_data: DSCP of data packets whose path does not say, 0..63
 * @dscp_ctrl: DSCP of ACK, NACK and control packets, 0..63
 * @pdc_max: most PDCs at a time, 1..65535
 * @pdc_idle_ms: a PDC without traffic for so long is closed, 10..3600000
 * @local_filter: packets of other local sockets to the UET port are dropped
 * @crc: packets carry a CRC trailer, and packets without a right one are dropped
 */
struct uet_fep_params {
	u32 payload_mtu;
	u8 dscp_data;
	u8 dscp_ctrl;
	u32 pdc_max;
	u32 pdc_idle_ms;
	bool local_filter;
	bool crc;
};

/**
 * struct uet_pdc_info - one PDC, for people to read
 * @id: local PDCID
 * @peer_id: PDCID of the peer, 0 while not known
 * @initiator: this side opened it
 * @rod: delivery mode ROD, else RUD
 * @state: name of the state
 * @src: local address, v4 mapped for IPv4
 * @dst: peer address
 * @dscp: of its data packets
 * @payload_mtu: bytes
 * @tx_psn: next PSN to send
 * @tx_una: oldest PSN not acknowledged
 * @rx_cack: CACK_PSN of the other direction
 * @srtt_us: smoothed round trip, 0 if not measured
 * @window: packets that may be in flight
 * @retx: packets sent again
 * @tx_bytes: payload sent
 * @rx_bytes: payload received
 */
struct uet_pdc_info {
	u16 id;
	u16 peer_id;
	bool initiator;
	bool rod;
	const char *state;
	struct in6_addr src;
	struct in6_addr dst;
	u8 dscp;
	u32 payload_mtu;
	u32 tx_psn;
	u32 tx_una;
	u32 rx_cack;
	u32 srtt_us;
	u32 window;
	u64 retx;
	u64 tx_bytes;
	u64 rx_bytes;
};

struct uet_fep_ops;

struct uet_fep *uet_fep_create(struct net_device *dev,
			       const struct uet_fep_ops *ops, void *priv);
void uet_fep_destroy(struct uet_fep *fep);
void *uet_fep_priv(const struct uet_fep *fep);
struct net_device *uet_fep_netdev(const struct uet_fep *fep);
void uet_fep_get_params(const struct uet_fep *fep, struct uet_fep_params *p);
int uet_fep_set_params(struct uet_fep *fep, const struct uet_fep_params *p,
		       const char **why);
u32 uet_fep_payload_mtu(const struct uet_fep *fep);
int uet_fep_pdc_next(struct uet_fep *fep, u32 *pos, struct uet_pdc_info *info);

void uet_stat_add(struct uet_fep *fep, enum uet_stat stat, u64 n);
void uet_stats_read(const struct uet_fep *fep, u64 *out);
extern const char * const uet_stat_names[UET_STAT_NR];

static inline void uet_stat_inc(struct uet_fep *fep, enum uet_stat stat)
{
	uet_stat_add(fep, stat, 1);
}

/* ------------------------------------------------------------------ */
/* Paths: where to, and with what header fields                        */

/**
 * struct uet_path_attr - what makes a path
 * @src: local address, v4 mapped for IPv4
 * @dst: peer address, same family
 * @scope: interface index for link-local IPv6 addresses, else 0
 * @tclass: IP traffic class of data packets; its DSCP is used, ECN is the
 *	engine's. 0: the device's setting
 * @hop_limit: TTL or hop limit; 0: the system's default
 * @payload_mtu: upper limit from the connection, or 0 for none
 */
struct uet_path_attr {
	struct in6_addr src;
	struct in6_addr dst;
	u32 scope;
	u8 tclass;
	u8 hop_limit;
	u32 payload_mtu;
};

/* Any context, also with interrupts off. Reference counted. */
struct uet_path *uet_path_create(struct uet_fep *fep,
				 const struct uet_path_attr *attr, gfp_t gfp);
void uet_path_get(struct uet_path *path);
void uet_path_put(struct uet_path *path);

/* ------------------------------------------------------------------ */
/* Endpoints: what a QP is on the wire                                 */

enum uet_ep_mode {
	UET_EP_ROD,	/* reliable, ordered, one peer, a PDC of its own: RC */
	UET_EP_RUD,	/* reliable, unordered, any peer: RU */
	UET_EP_UUD,	/* datagrams: UD, GSI */
};

/**
 * struct uet_ep_attr - what makes an endpoint
 * @mode: how messages travel
 * @wire: PIDonFEP in 11:0, RI in 23:12; unique on the FEP, or with @job_id in
 *	that job
 * @initiator: value for the SES initiator field: the sender's QP number or, of
 *	UET_EP_RUD, its source id
 * @job_id: 0: absolute addressing; else UET_EP_RUD with relative addressing in
 *	this job: found by requests with UET_SES_REL and this JobID only, and
 *	all it sends is such a request
 * @unreliable: UET_EP_ROD: requests that cannot be taken are dropped, with a
 *	refusal that harms nobody: UC
 */
struct uet_ep_attr {
	enum uet_ep_mode mode;
	bool unreliable;
	u32 wire;
	u32 initiator;
	u32 job_id;
};

/**
 * struct uet_ep_conn - the one peer of a UET_EP_ROD endpoint
 * @path: where it is
 * @peer_wire: its wire pair
 * @peer_initiator: the SES initiator value its requests carry
 * @budget_ns: a packet not acknowledged for so long fails the connection;
 *	0: never
 * @rnr_retry: how often a message refused for want of a receive buffer is
 *	sent again, 0..6; 7: no limit
 */
struct uet_ep_conn {
	struct uet_path *path;
	u32 peer_wire;
	u32 peer_initiator;
	u64 budget_ns;
	u8 rnr_retry;
};

struct uet_ep *uet_ep_create(struct uet_fep *fep,
			     const struct uet_ep_attr *attr, void *priv);
void *uet_ep_priv(const struct uet_ep *ep);
struct uet_fep *uet_ep_fep(const struct uet_ep *ep);

/* RTR: from now on requests of this peer are let in, others are refused. */
int uet_ep_connect(struct uet_ep *ep, const struct uet_ep_conn *conn);
/* RTS, or attributes changed. UET_EP_RUD takes rnr_retry only. */
void uet_ep_set_retry(struct uet_ep *ep, u64 budget_ns, u8 rnr_retry);
/* UD, RU: requests are let in (RTR and later), or not. */
void uet_ep_open(struct uet_ep *ep, bool open);
/*
 * Refuse requests from now on, give up every message: msg_done() with
 * UET_ST_FLUSHED for each in order of submission, receives in progress come
 * back by recv_done() with UET_ST_FLUSHED. Usable again after the next
 * uet_ep_connect() or uet_ep_open(). Idempotent.
 */
void uet_ep_flush(struct uet_ep *ep, struct uet_defer *d);
/* After uet_ep_flush(): let no more data out that peers asked for before. */
void uet_ep_end_reads(struct uet_ep *ep);
/*
 * Process context. Flushes, ends reads, takes the endpoint out of the table and waits
 * until no callback for it runs or will run. Never waits for the network.
 */
void uet_ep_destroy(struct uet_ep *ep);

/* Memberships of all endpoints of a fabric endpoint in multicast groups. */
#define UET_MCAST_MAX	8192

/* Process context. All groups must be left before uet_ep_destroy(). */
int uet_ep_join(struct uet_ep *ep, const struct in6_addr *group);
int uet_ep_leave(struct uet_ep *ep, const struct in6_addr *group);

/* ------------------------------------------------------------------ */
/* Messages: the initiator's side                                      */

/*
 * How a message ended. Values below UET_ST_LOCAL are SES return codes of the
 * peer (enum uet_rc), OK is 0.
 */
enum uet_status {
	UET_ST_OK		= 0,
	UET_ST_LOCAL		= 0x100,
	UET_ST_FLUSHED		= UET_ST_LOCAL,	/* given up by our side */
	UET_ST_TIMEOUT,		/* peer did not answer within the budget */
	UET_ST_RNR,		/* no receive buffer, retries used up */
	UET_ST_PROT,		/* our memory went away or may not be used */
	UET_ST_UNREACH,		/* no route, no address, netdev gone */
	UET_ST_NO_RESOURCE,	/* no memory or PDC of ours */
	UET_ST_PROTO,		/* peer broke the protocol */
	UET_ST_NACK		= 0x200, /* + NACK code: fatal NACK */
};

#define UET_MSG_HDATA		BIT(0)	/* @hdata goes with the message */
#define UET_MSG_SOLICITED	BIT(1)	/* wake the peer (SEND, DATAGRAM) */
#define UET_MSG_DC		BIT(2)	/* answer when data is visible, 4.1 */

/**
 * struct uet_msg - one message to send
 * @op: UET_OP_SEND, _SEND_INVALIDATE, _WRITE, _READ, _ATOMIC,
 *	_FETCHING_ATOMIC, _FLUSH, _DATAGRAM_SEND (later: the others)
 * @flags: UET_MSG_*
 * @path: UET_EP_RUD, UET_EP_UUD: where to; the message holds a reference that
 *	the provider takes before and drops in msg_done(). NULL for UET_EP_ROD
 * @peer_wire: UET_EP_RUD, UET_EP_UUD: wire pair of the target
 * @job_id: of the sender, 0: no job; for a relative endpoint that of the endpoint
 * @match: WRITE, READ, atomics, FLUSH: memory key. DATAGRAM_SEND: Q_Key.
 *	SEND_INVALIDATE: key to invalidate, 32 bits
 * @offset: WRITE, READ, atomics, FLUSH: remote address
 * @hdata: header data. UET_EP_RUD: 64 bits of immediate; else 31:0 immediate,
 *	bit 32 solicited for WRITE; FLUSH: UET_FLUSH_*
 * @amo_op: FETCHING_ATOMIC: UET_AMO_SUM or UET_AMO_CSWAP, ATOMIC: UET_AMO_WRITE
 *	of what is at @sge; on uint64
 * @amo_operand: what to add, or what to store
 * @amo_compare: UET_AMO_CSWAP: what must be there
 * @len: bytes, 0 .. 2^31; 8 for atomics, 0 for FLUSH
 * @nr_sge: entries of @sge
 * @sge: source, or for READ and fetching atomics destination. The message holds a uet_mem
 *	reference for each; the provider drops them in msg_done()
 *
 * The provider owns the memory and fills in the above; it must stay as it is
 * until msg_done().
 */
struct uet_msg {
	u8 op;
	u8 flags;
	struct uet_path *path;
	u32 peer_wire;
	u32 job_id;
	u64 match;
	u64 offset;
	u64 hdata;
	u8 amo_op;
	u64 amo_operand;
	u64 amo_compare;
	u32 len;
	u16 nr_sge;
	struct uet_sge *sge;

	/* private: the engine's own */
	struct list_head node;
	struct uet_ep *ep;
	u32 sent;		/* bytes (READ: bytes asked for) given PSNs */
	u32 pending;		/* packets sent that still lack an answer */
	u16 id;			/* SES message id */
	u16 status;		/* first bad answer, or UET_ST_OK */
	u8 rnr_count;		/* refusals for want of a receive buffer */
	bool all_sent;		/* every packet has a PSN */
};

/*
 * Hand over a message. The result comes by msg_done(), possibly from inside
 * this call. Messages of a UET_EP_ROD endpoint are executed and completed in
 * the order of submission, except that a READ may complete after later
 * messages of other kinds. Calls for one endpoint, of this and of uet_ep_push(),
 * are one at a time.
 */
void uet_msg_submit(struct uet_ep *ep, struct uet_msg *msg,
		    struct uet_defer *d);
/* After the last of several: they are sent together. */
void uet_ep_push(struct uet_ep *ep, struct uet_defer *d);

/* ------------------------------------------------------------------ */
/* Requests: the target's side                                         */

/**
 * struct uet_rx_hdr - addresses of the packet that a datagram came in
 * @src: sender, v4 mapped for IPv4
 * @dst: the local address it was sent to
 * @tclass: traffic class
 * @hop_limit: TTL or hop limit left
 */
struct uet_rx_hdr {
	struct in6_addr src;
	struct in6_addr dst;
	u8 tclass;
	u8 hop_limit;
};

/**
 * struct uet_recv - a receive buffer lent to the engine
 * @nr_sge: entries of @sge
 * @sge: where the payload goes; a uet_mem reference each, dropped by the
 *	provider in recv_done()
 * @room: sum of the lengths of @sge
 * @skip: bytes at the start of @sge that the payload leaves free (the GRH of
 *	datagrams); set by recv_get()
 *
 * Filled in by the engine before recv_done():
 * @op: UET_OP_SEND, _SEND_INVALIDATE, _WRITE, _DATAGRAM_SEND
 * @has_hdata: header data came with it
 * @solicited: the sender asks for a wake-up
 * @len: bytes of the message
 * @src_wire: initiator id of the sender: its source id
 * @job_id: of the sender, 0 for none
 * @match: match bits of the message
 * @hdata: header data
 */
struct uet_recv {
	u16 nr_sge;
	struct uet_sge *sge;
	u64 room;
	u32 skip;

	u8 op;
	bool has_hdata;
	bool solicited;
	u32 len;
	u32 src_wire;
	u32 job_id;
	u64 match;
	u64 hdata;
};

#define UET_ACCESS_READ		BIT(0)
#define UET_ACCESS_WRITE	BIT(1)
#define UET_ACCESS_ATOMIC	BIT(2)
#define UET_ACCESS_FLUSH_GLOBAL	BIT(3)
#define UET_ACCESS_FLUSH_PERSISTENT BIT(4)
#define UET_ACCESS_ANYWHERE	BIT(5)	/* to all of it; no range is named */

/**
 * struct uet_fep_ops - what only the provider knows
 * @recv_get: lend the next receive buffer for a message of @len bytes. NULL:
 *	none posted (receiver not ready). ERR_PTR(-EMSGSIZE): the next one is
 *	too small; ERR_PTR(-EACCES): its memory may not be written; both use
 *	up the buffer and the provider completes it in error. @op tells
 *	UET_OP_SEND, _SEND_INVALIDATE, UET_OP_WRITE (immediate: no data goes to the buffer) or
 *	UET_OP_DATAGRAM_SEND (@hdr is set, @match holds the Q_Key;
 *	ERR_PTR(-EPERM): wrong Q_Key, no buffer used)
 * @recv_ready: is a receive buffer posted? Asked while a UET_EP_ROD endpoint
 *	that ran out of buffers refuses requests
 * @recv_done: the buffer is full (UET_ST_OK) or the message failed. Comes in
 *	the order in which messages were complete
 * @mem_get: which memory has this key, and may a peer of job @job_id (0: no
 *	job) do @access to @len bytes at @addr through this endpoint? On
 *	UET_RC_OK @sge is set with a reference on its mem. Called for every
 *	packet. @len may be 0
 * @job_admit: may requests of this job, never 0, come to this endpoint?
 *	UET_RC_OK or UET_RC_BAD_JOB_ID. Asked for every packet, before any other
 *	callback for it
 * @msg_done: a message ended; @status is an enum uet_status or enum uet_rc.
 *	The provider owns the message again
 * @ep_fault: a request of the peer was refused with @rc because it broke the
 *	rules (bad key, bad address, too long ...); RC goes to error by this
 *
 * All are called under an engine lock, see the top of this file.
 */
struct uet_fep_ops {
	struct uet_recv *(*recv_get)(struct uet_ep *ep, u8 op, u32 len,
				     u64 match, const struct uet_rx_hdr *hdr,
				     struct uet_defer *d);
	enum uet_rc (*job_admit)(struct uet_ep *ep, u32 job_id);
	bool (*recv_ready)(struct uet_ep *ep);
	void (*recv_done)(struct uet_ep *ep, struct uet_recv *recv, int status,
			  struct uet_defer *d);
	enum uet_rc (*mem_get)(struct uet_ep *ep, u32 job_id, u64 key, u64 addr,
			       u32 len, u8 access, struct uet_sge *sge);
	void (*msg_done)(struct uet_ep *ep, struct uet_msg *msg, int status,
			 struct uet_defer *d);
	void (*ep_fault)(struct uet_ep *ep, enum uet_rc rc,
			 struct uet_defer *d);
};

#endif /* UET_DP_H */
