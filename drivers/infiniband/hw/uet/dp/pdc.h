/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Packet delivery contexts, uet-wire 2 and 3. A PDC carries requests both
 * ways: its initiator's (forward) and, for the data of reads, its target's
 * (return). Each side has a sender, struct uet_tx, and a receiver, struct
 * uet_rxside; the code is the same for both roles.
 */
#ifndef UET_PDC_H
#define UET_PDC_H

#include <linux/hrtimer.h>
#include <linux/rhashtable-types.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "cc.h"
#include "fep.h"
#include "net.h"
#include "path.h"
#include "pkt.h"
#include "psn.h"
#include "ses.h"
#include "window.h"

/* PSNs in flight per direction; what is advertised as mpr. */
#define UET_PDC_WINDOW		1024
/* Assumed of a peer until its first ACK_CC, uet-wire 10.1 #21. */
#define UET_PDC_WINDOW_UNKNOWN	128
/* RUD: a PDC with so much queued makes a message look for another one. */
#define UET_FLOW_BUSY		(64 << 10)
/* A PDC is closed before PSNs could be compared the wrong way round, 3.5. */
#define UET_PDC_PSN_RANGE	BIT(30)

#define UET_ACK_TRIGGER		16384	/* bytes, 3.5 */
#define UET_ACK_MIN_ADD		1024	/* bytes a small packet counts */

#define UET_ACK_DELAY_NS	(500 * NSEC_PER_USEC)
#define UET_RTO_INIT_NS		(10 * NSEC_PER_MSEC)
#define UET_RTO_MIN_NS		(5 * NSEC_PER_MSEC)
#define UET_RTO_MAX_NS		(1 * NSEC_PER_SEC)
#define UET_NACK_RETX_NS	(1 * NSEC_PER_MSEC)	/* 3.5 */
/* Pages are fetched meanwhile; much later they may be gone again. */
#define UET_PAGE_NS		(200 * NSEC_PER_USEC)
#define UET_LATE_MAX		8	/* doublings of UET_PAGE_NS */
#define UET_CLEAR_NS		(20 * NSEC_PER_MSEC)
#define UET_CLEAR_TRIES		5
#define UET_RNR_MIN_NS		(200 * NSEC_PER_USEC)
#define UET_RNR_MAX_NS		(50 * NSEC_PER_MSEC)
/* Budget of PDCs that no QP sets one for: RUD, and the return direction. */
#define UET_BUDGET_NS		(8 * NSEC_PER_SEC)

enum uet_pdc_state {
	UET_PDC_SYN,		/* initiator: target's PDCID not known yet */
	UET_PDC_ESTABLISHED,
	UET_PDC_CLOSE_WAIT,	/* initiator: Close Command sent */
	UET_PDC_DEAD,		/* out of all tables, about to be freed */
};

/* What a PSN was used for. */
enum uet_desc_kind {
	UET_DESC_REQ,		/* packet of a struct uet_msg */
	UET_DESC_RDRSP,		/* data of a read, struct uet_rdrsp */
	UET_DESC_CLOSE,		/* Close Command */
	UET_DESC_ORPHAN,	/* its message was given up: NO_OP */
	UET_DESC_CANCEL,	/* struct uet_cancel: MSG_ERROR */
};

#define UET_DESC_RECEIVED	BIT(0)	/* peer has the packet */
#define UET_DESC_ANSWERED	BIT(1)	/* SES response known */
#define UET_DESC_LOST		BIT(2)	/* to be sent again */
#define UET_DESC_WAIT_DATA	BIT(3)	/* READ whose data has not come */
#define UET_DESC_SYN		BIT(4)	/* first sent in SYN form */
#define UET_DESC_EOM		BIT(5)	/* last packet of its message */

/**
 * struct uet_desc - a packet that has a PSN; no skb is kept
 * @msg: UET_DESC_REQ
 * @rdrsp: UET_DESC_RDRSP
 * @cancel: UET_DESC_CANCEL
 * @offset: message offset
 * @len: bytes of payload, or asked for
 * @stamp: when it was last sent, in uet_stamp() units
 * @kind: enum uet_desc_kind
 * @flags: UET_DESC_*
 * @retx: times sent again, saturating
 * @got: bytes that have come of those asked for
 * @gen: generation it was first sent with. A resend carries the same one, or
 *	it could be let in ahead of refused messages
 */
struct uet_desc {
	union {
		struct uet_msg *msg;
		struct uet_rdrsp *rdrsp;
		struct uet_cancel *cancel;
	};
	u32 offset;
	u32 stamp;
	u16 len;
	u16 got;
	u8 kind;
	u8 flags;
	u8 retx;
	u8 gen;
};

/**
 * struct uet_tx - sender of one direction
 * @start: Start_PSN, or what uet_tx_move_start() made of it
 * @next: PSN of the next new packet
 * @una: oldest PSN that is not done with; CLEAR_PSN is @una - 1
 * @cack: newest CACK_PSN of the peer
 * @mpr: packets beyond @cack that the peer takes
 * @mask: entries of @ring minus one; grows with what is in flight
 * @ring: descriptors of una .. next - 1
 * @lost: descriptors with UET_DESC_LOST
 * @sack_high: highest PSN known to be received
 * @rack_stamp: newest send time of a packet known to be received
 * @rack_valid: @rack_stamp is set
 * @srtt_ns: smoothed round trip, 0 before the first sample
 * @rttvar_ns: its mean deviation
 * @backoff: RTO is shifted left by this
 * @progress: when @una last moved or the first packet of a flight was sent
 * @clear_owed: peer waits for a CLEAR_PSN that no request has carried yet
 * @cap: packets that may leave until the next pause since the queues of this
 *	host were full; 0: no limit
 * @used: how many of them have left
 * @refused: the queues were full again since the last pause
 * @burst: bytes of the last burst that was full, 0: none was yet
 * @retx: packets sent again
 * @bytes: payload sent
 */
struct uet_tx {
	u32 start;
	u32 next;
	u32 una;
	u32 cack;
	u32 mpr;
	u32 mask;
	struct uet_desc *ring;
	u32 lost;
	u32 sack_high;
	u32 rack_stamp;
	bool rack_valid;
	u32 srtt_ns;
	u32 rttvar_ns;
	u8 backoff;
	ktime_t progress;
	bool clear_owed;
	bool refused;
	u16 cap;
	u16 used;
	u32 burst;
	u64 retx;
	u64 bytes;
};

/**
 * uet_tx_move_start - keep a PDC that is never quiet from running out of PSNs
 * @tx: sender, long established
 *
 * ACKs are compared with Start_PSN, and message ids counted from there, which both
 * end 2^31 PSNs later. A quiet PDC is replaced long before, by another one.
 * All ids stay what they are: there are 65535 of them.
 */
static inline void uet_tx_move_start(struct uet_tx *tx)
{
	if (tx->una - tx->start > UET_PDC_PSN_RANGE + UET_PDC_PSN_RANGE / 2)
		tx->start += 8192 * U16_MAX;
}

/**
 * struct uet_resp - a response that must not get lost, 2.13
 * @node: entry of uet_rxside.resps, ordered by @psn
 * @psn: of the request
 * @sport: entropy to echo
 * @rsp: the response
 * @data: what goes with UET_RSP_DATA
 */
struct uet_resp {
	struct list_head node;
	u32 psn;
	__be16 sport;
	struct uet_ses_rsp rsp;
	u8 data[UET_ACK_DATA_MAX];
};

/**
 * struct uet_rxside - receiver of one direction
 * @win: which PSNs have come; win.base - 1 is CACK_PSN
 * @deliver: ROD: next PSN that SES gets
 * @ooo: ROD: packets behind a gap, ordered by PSN
 * @ooo_bytes: their truesize
 * @late: how often UET_EV_DELIVER came for the next of them, at most %UET_LATE_MAX
 * @resps: struct uet_resp not cleared yet
 * @spare: a struct uet_resp in reserve, so that whatever SES answers can be
 *	stored
 * @clear: highest CLEAR_PSN of the peer
 * @clear_tries: Clear Requests since the last response was stored or cleared
 * @ack_bytes: ack_gen_count, 3.4
 * @ack_psn: newest PSN that an ACK is owed for
 * @ack_owed: an ACK is due when the delay ends or enough has come
 * @ack_now: it is due as soon as all of a burst is seen
 * @ack_msg_id: message id of that packet
 * @ack_job_id: job of that packet
 * @ack_flags: UET_ACK_M, UET_ACK_RETX of that packet
 * @ack_rsp: what the ACK says of that packet: a SES response opcode, or -1
 *	for a control packet, which has none
 * @told: an ACK_CC was sent, so the peer knows our window
 * @sport: entropy to echo
 * @bytes: payload received
 * @rcvd: nominal bytes received, for the NSCC state in ACK_CC
 */
struct uet_rxside {
	struct uet_rxwin win;
	u32 deliver;
	struct sk_buff_head ooo;
	u32 ooo_bytes;
	u8 late;
	struct list_head resps;
	struct uet_resp *spare;
	u32 clear;
	u8 clear_tries;
	u32 ack_bytes;
	u32 ack_psn;
	bool ack_owed;
	bool ack_now;
	u16 ack_msg_id;
	u32 ack_job_id;
	u8 ack_flags;
	s8 ack_rsp;
	bool told;
	__be16 sport;
	u64 bytes;
	u64 rcvd;
};

/* Events of the PDC's timer; each has a function in pdc_timer.c. */
enum uet_pdc_event {
	UET_EV_ACK_NOT_SEEN,	/* retransmission timeout */
	UET_EV_ACK_OWED,	/* delayed ACK is due */
	UET_EV_RESUME,		/* RNR or NACK wait is over */
	UET_EV_NOT_CLEARED,	/* peer has not cleared a stored response */
	UET_EV_IDLE,		/* no traffic for long */
	UET_EV_DELIVER,		/* what could not be delivered may be now */
	UET_EV_NR
};

/**
 * struct uet_pdc_key - how a target finds a PDC that has no dpdcid yet
 * @src: peer
 * @dst: our address
 * @spdcid: peer's PDCID
 * @pad: 0
 */
struct uet_pdc_key {
	struct in6_addr src;
	struct in6_addr dst;
	u16 spdcid;
	u16 pad;
};

/**
 * struct uet_flow_key - which RUD PDCs of ours go to one peer
 * @src: our address
 * @dst: peer
 * @dscp: traffic class
 * @pad: 0
 */
struct uet_flow_key {
	struct in6_addr src;
	struct in6_addr dst;
	u8 dscp;
	u8 pad[3];
};

/**
 * struct uet_pdc - packet delivery context
 * @fep: where it lives
 * @ep: UET_EP_ROD initiator: the endpoint whose uet_ep.pdc points here, else
 *	NULL; changes under @lock
 * @path: held
 * @id: local PDCID
 * @peer_id: PDCID of the peer, 0 while not known
 * @initiator: we opened it
 * @rod: delivery mode
 * @brief: RUD initiator that messages of %UET_FLOW_BUSY and more stay away from
 * @flow: key in uet_fep.initiators, RUD initiators
 * @flow_node: entry there
 * @key: key in uet_fep.targets, targets
 * @key_node: entry there
 * @lock: protects everything below; taken before an endpoint's lock
 * @state: enum uet_pdc_state
 * @sport: entropy value of our packets
 * @mtu: payload of full packets
 * @budget_ns: give up after so long without progress; 0: never
 * @tx: what we send
 * @rx: what we receive
 * @cc: congestion state of @tx
 * @msgs: messages not finished, in order; those before @cur are sent
 * @cur: first message that is not completely sent, or NULL
 * @queued: bytes in messages and @rdrsps that have no PSN yet
 * @rdrsps: read data that has no PSN yet
 * @nr_rdrsps: how many
 * @cancels: struct uet_cancel that have no PSN yet
 * @inbound: struct uet_inbound in progress
 * @nr_inbound: how many
 * @waiting: RUD messages refused for want of a buffer, sent again at
 *	UET_EV_RESUME
 * @rewind: a message was refused for want of a buffer: when all that is in
 *	flight is answered, send again from the first unfinished message
 * @refused: the refusal said DISABLED_GEN, so wait before sending again
 * @probe: after a refusal one packet at a time, until one is let in
 * @paused: nothing new is sent until UET_EV_RESUME
 * @rnr_backoff: doubles the RNR wait
 * @life: ROD target: uet_ep.life of the first connection whose requests it
 *	carried, 0: none yet. What comes late belongs to no later connection,
 *	even if that is between the same QPs
 * @life_key: uet_ep.key of that connection. A peer may use one PDC for several
 * @now: the time, read once for the ACK, burst or late delivery under way
 * @last_rx: when the peer was last heard
 * @timer: fires at the earliest of @deadline
 * @timer_at: when the timer is set to fire, KTIME_MAX: not set
 * @deadline: per event, KTIME_MAX: not due
 * @free_work: stops the timer and frees
 * @rcu: for freeing
 */
struct uet_pdc {
	struct uet_fep *fep;
	struct uet_ep *ep;
	struct uet_path *path;
	u16 id;
	u16 peer_id;
	bool initiator;
	bool rod;
	bool brief;
	struct uet_flow_key flow;
	struct rhlist_head flow_node;
	struct uet_pdc_key key;
	struct rhash_head key_node;

	spinlock_t lock;	/* everything below */
	enum uet_pdc_state state;
	__be16 sport;
	u32 mtu;
	u64 budget_ns;

	struct uet_tx tx;
	struct uet_rxside rx;
	struct uet_cc cc;

	struct list_head msgs;
	struct uet_msg *cur;
	u64 queued;
	struct list_head rdrsps;
	u32 nr_rdrsps;
	struct list_head cancels;
	struct list_head inbound;
	u32 nr_inbound;
	struct list_head waiting;
	bool rewind;
	bool refused;
	bool probe;
	bool paused;
	u8 rnr_backoff;
	u64 life;
	u64 life_key;

	ktime_t now;
	ktime_t last_rx;
	struct hrtimer timer;
	ktime_t timer_at;
	ktime_t deadline[UET_EV_NR];

	struct work_struct free_work;
	struct rcu_head rcu;
};

/* Send times: 1.024 us, wraps after 73 minutes. */
static inline u32 uet_stamp(ktime_t now)
{
	return ktime_to_ns(now) >> 10;
}

static inline struct uet_desc *uet_tx_desc(struct uet_tx *tx, u32 psn)
{
	return &tx->ring[psn & tx->mask];
}

/* Is @psn sent and not done with? */
static inline bool uet_tx_holds(const struct uet_tx *tx, u32 psn)
{
	return !uet_psn_before(psn, tx->una) && uet_psn_before(psn, tx->next);
}

/* Nothing more of @msg is sent: the next one is due, if it was its turn. */
static inline void uet_pdc_pass(struct uet_pdc *pdc, struct uet_msg *msg)
{
	if (pdc->cur == msg)
		pdc->cur = list_is_last(&msg->node, &pdc->msgs) ? NULL :
			   list_next_entry(msg, node);
}

/* pdc.c */
struct uet_pdc *uet_pdc_open(struct uet_fep *fep, struct uet_path *path,
			     struct uet_ep *ep, int *err);
struct uet_pdc *uet_pdc_accept(struct uet_fep *fep, const struct uet_rx *rx,
			       const struct uet_pkt *pkt, u8 *nack);
struct uet_pdc *uet_pdc_find(struct uet_fep *fep, u16 id);
struct uet_pdc *uet_pdc_find_target(struct uet_fep *fep,
				    const struct uet_rx *rx, u16 spdcid);
struct uet_pdc *uet_pdc_pick(struct uet_fep *fep, struct uet_path *path,
			     u32 len, int *err);
void uet_pdc_fail_msgs(struct uet_pdc *pdc, int status, struct uet_defer *d);
void uet_pdc_kill(struct uet_pdc *pdc, int status, struct uet_defer *d);
void uet_pdc_leave_ep(struct uet_pdc *pdc);
bool uet_pdc_rename(struct uet_pdc *pdc);
void uet_pdc_kill_all(struct uet_fep *fep);
int uet_pdc_tables_init(struct uet_fep *fep);
void uet_pdc_tables_exit(struct uet_fep *fep);
int uet_pdc_cache_init(void);
void uet_pdc_cache_exit(void);

/* pdc_tx.c */
int uet_tx_init(struct uet_tx *tx, u32 start);
void uet_pdc_add_msg(struct uet_pdc *pdc, struct uet_msg *msg);
void uet_pdc_pump(struct uet_pdc *pdc, struct uet_defer *d);
void uet_pdc_close(struct uet_pdc *pdc, struct uet_defer *d);
void uet_desc_free(struct uet_desc *desc);
void uet_pdc_mark_lost(struct uet_pdc *pdc, u32 psn);
void uet_tx_raise_cap(struct uet_tx *tx);
u32 uet_desc_cost(const struct uet_desc *desc);
void uet_pdc_abort_ep(struct uet_pdc *pdc, struct uet_ep *ep,
		      struct uet_defer *d);
void uet_pdc_send_ctl(struct uet_pdc *pdc, u8 ctl, u32 psn, u32 payload,
		      struct uet_defer *d);
void uet_pdc_send(struct uet_pdc *pdc, const struct uet_pkt *pkt,
		  const void *data, unsigned int len, __be16 sport,
		  struct uet_defer *d);

/* pdc_rx.c */
void uet_pdc_rx_request(struct uet_fep *fep, struct uet_pdc **locked,
			struct sk_buff *skb, const struct uet_pkt *pkt,
			const struct uet_rx *rx, struct uet_defer *d);
void uet_pdc_rx_done(struct uet_pdc **locked, struct uet_defer *d);
void uet_pdc_rx_ctl(struct uet_fep *fep, const struct uet_pkt *pkt,
		    const struct uet_rx *rx, struct uet_defer *d);
void uet_pdc_send_ack(struct uet_pdc *pdc, struct uet_defer *d);
void uet_rxside_drop(struct uet_pdc *pdc, struct uet_defer *d);
void uet_nack(struct uet_fep *fep, struct uet_pdc *pdc,
	      const struct uet_pkt *pkt, const struct uet_rx *rx, u8 code,
	      struct uet_defer *d);
u8 uet_rx_read_data(struct uet_pdc *pdc, struct sk_buff *skb,
		    const struct uet_pkt *pkt, struct uet_defer *d);
void uet_pdc_deliver(struct uet_pdc *pdc, struct uet_defer *d);

/* pdc_ack.c */
void uet_pdc_rx_ack(struct uet_fep *fep, struct sk_buff *skb,
		    const struct uet_pkt *pkt, const struct uet_rx *rx,
		    struct uet_defer *d);
void uet_pdc_rx_nack(struct uet_fep *fep, const struct uet_pkt *pkt,
		     const struct uet_rx *rx, struct uet_defer *d);
void uet_desc_answered(struct uet_pdc *pdc, u32 psn,
		       const struct uet_ses_rsp *rsp, struct uet_defer *d);
bool uet_pdc_matches(struct uet_pdc *pdc, const struct uet_pkt *pkt,
		     const struct uet_rx *rx);
void uet_desc_received(struct uet_pdc *pdc, u32 psn);
void uet_tx_release(struct uet_pdc *pdc, struct uet_defer *d);

/* pdc_timer.c */
void uet_pdc_timer_init(struct uet_pdc *pdc);
void uet_pdc_timer_stop(struct uet_pdc *pdc);
void uet_pdc_expect(struct uet_pdc *pdc, enum uet_pdc_event ev, u64 ns);
void uet_pdc_expect_not(struct uet_pdc *pdc, enum uet_pdc_event ev);
void uet_pdc_arm_rto(struct uet_pdc *pdc, ktime_t now);
bool uet_pdc_quiet(const struct uet_pdc *pdc);
u64 uet_tx_rto_ns(const struct uet_tx *tx);

#endif /* UET_PDC_H */
