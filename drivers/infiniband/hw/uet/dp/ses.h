/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Semantics: what a request means and what is answered, uet-wire 4. */
#ifndef UET_SES_H
#define UET_SES_H

#include "ep.h"
#include "net.h"
#include "pkt.h"

/* Bit 63 of the match bits of SEND and DATAGRAM_SEND: wake the receiver. */
#define UET_MATCH_SOLICITED	BIT_ULL(63)
/* Bit 32 of the header data of WRITE with immediate: the same. */
#define UET_HDATA_SOLICITED	BIT_ULL(32)

/* A read of at most so many bytes is answered inside the ACK, 3.5. */
#define UET_ACK_DATA_MAX	16

/**
 * struct uet_verdict - what SES makes of one request packet
 * @nack: refuse the packet with this NACK code, it was not executed; 0: no
 * @gtd: the response must not get lost: store it until the peer clears it
 * @rsp: the response
 * @data: UET_RSP_DATA: what was read
 */
struct uet_verdict {
	u8 nack;
	bool gtd;
	struct uet_ses_rsp rsp;
	u8 data[UET_ACK_DATA_MAX];
};

/**
 * struct uet_inbound - a message of several packets that is coming in
 * @pdc_node: entry of uet_pdc.inbound, under the PDC lock
 * @ep_node: entry of uet_ep.inbound, under the endpoint's lock; empty once
 *	the endpoint let go of the message
 * @ep: the endpoint; NULL once it let go
 * @id: message id
 * @psn: newest packet; ids come back, so that one far ahead is of another message
 * @rc: UET_RC_OK, or why all further packets of the message are refused
 * @recv: buffer lent by the provider; NULL for a WRITE without immediate
 * @len: bytes of the message
 * @got: bytes seen
 */
struct uet_inbound {
	struct list_head pdc_node;
	struct list_head ep_node;
	struct uet_ep *ep;
	u32 psn;
	u16 id;
	u8 rc;
	struct uet_recv *recv;
	u32 len;
	u32 got;
};

/**
 * struct uet_rdrsp - data of a READ that goes back on the return direction
 * @node: entry of uet_pdc.rdrsps until it has a PSN
 * @ep: whom the peer asked; NULL: that has ended, and there is no data any more.
 *	Changes under its lock
 * @ep_node: entry of @ep->reads
 * @sge: where the data is; holds a uet_mem reference
 * @job_id: copied from the request
 * @id: message id of the request, 0: small or medium header
 * @psn: PSN of the request
 * @offset: message offset of the data
 * @rc: UET_RC_OK, or why there is no data
 */
struct uet_rdrsp {
	struct list_head node;
	struct uet_ep *ep;
	struct list_head ep_node;
	struct uet_sge sge;
	u32 job_id;
	u16 id;
	u32 psn;
	u32 offset;
	u8 rc;
};

/**
 * struct uet_cancel - tells the target that the rest of a message never comes
 * @node: entry of uet_pdc.cancels until it has a PSN
 * @wire: wire pair of the target
 * @job_id: of the message
 * @rel: @wire is an address of that job
 * @initiator: of the message
 * @id: message id
 * @len: bytes of the message
 * @sent: bytes that were sent
 */
struct uet_cancel {
	struct list_head node;
	u32 wire;
	u32 job_id;
	bool rel;
	u32 initiator;
	u16 id;
	u32 len;
	u32 sent;
};

/* ses_target.c, ses_inbound.c, ses_read.c; caller holds the PDC lock, BHs off */
void uet_ses_request(struct uet_pdc *pdc, struct sk_buff *skb,
		     const struct uet_pkt *pkt, const struct uet_rx *rx,
		     struct uet_verdict *v, struct uet_defer *d);
void uet_inbound_drop(struct uet_pdc *pdc, struct uet_inbound *in,
		      struct uet_defer *d);
void uet_rdrsp_free(struct uet_rdrsp *rd);
void uet_ses_fill_rdrsp(const struct uet_rdrsp *rd, struct uet_pkt *pkt);

/* ses_datagram.c; BHs off */
void uet_ses_datagram(struct uet_fep *fep, struct sk_buff *skb,
		      const struct uet_pkt *pkt, const struct uet_rx *rx,
		      struct uet_defer *d);
void uet_datagram_place(struct uet_ep *ep, struct sk_buff *skb,
			const struct uet_pkt *pkt, const struct uet_rx *rx,
			struct uet_defer *d);

/* Does the operand of an atomic travel where the payload would? */
static inline bool uet_msg_is_amo(const struct uet_msg *msg)
{
	return msg->op == UET_OP_ATOMIC || msg->op == UET_OP_FETCHING_ATOMIC;
}

/* ses_init.c; caller holds the PDC lock, BHs off */
void uet_ses_fill(const struct uet_msg *msg, struct uet_pkt *pkt, u32 offset,
		  u32 len, u8 gen, u16 read_id);
void uet_ses_fill_orphan(struct uet_pkt *pkt);
struct uet_cancel *uet_ses_give_up(const struct uet_msg *msg);
void uet_ses_cancel(struct uet_pdc *pdc, const struct uet_msg *msg);
void uet_ses_fill_cancel(const struct uet_cancel *c, struct uet_pkt *pkt);
void uet_ses_answer(struct uet_pdc *pdc, struct uet_msg *msg, u8 rc, u8 gen);
void uet_ses_settle(struct uet_pdc *pdc, struct uet_msg *msg,
		    struct uet_defer *d);
void uet_msg_finish(struct uet_pdc *pdc, struct uet_msg *msg, int status,
		    struct uet_defer *d);

/* mem.c */
int uet_sge_copy(const struct uet_sge *sge, unsigned int nr, u64 off, void *to,
		 u32 len);
int uet_sge_ref(struct sk_buff *skb, const struct uet_sge *sge, unsigned int nr,
		u64 off, u32 len);
int uet_skb_to_sge(const struct sk_buff *skb, int skb_off,
		   const struct uet_sge *sge, unsigned int nr, u64 off,
		   u32 len);
int uet_sge_read(const struct uet_sge *sge, u32 off, void *buf, u32 len);
int uet_sge_atomic(const struct uet_sge *sge, u8 amo, u64 operand, u64 compare,
		   u64 *old);
int uet_buf_to_sge(const void *buf, const struct uet_sge *sge, unsigned int nr,
		   u32 len);

/**
 * uet_ses_msg_id - message id
 * @rel: PSN of the first packet of the message, counted from Start_PSN
 *
 * A READ travels as messages of one packet each, so that each says how many
 * bytes it wants: the first packet of a longer one has no field for that. The
 * id, made from the PSN, brings the data back to its descriptor.
 *
 * Return: 1 .. 65535; different for all PSNs of a window.
 */
static inline u16 uet_ses_msg_id(u32 rel)
{
	return rel % U16_MAX + 1;
}

#endif /* UET_SES_H */
