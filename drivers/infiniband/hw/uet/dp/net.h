/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The IP side: sockets that own the port, receive hooks, IP and UDP headers. */
#ifndef UET_NET_H
#define UET_NET_H

#include <linux/ipv6.h>
#include <linux/list.h>
#include <linux/skbuff.h>
#include <net/ip.h>

#include "uet_dp.h"

struct socket;
struct uet_path;

/**
 * struct uet_net - UET in one network namespace
 * @net: the namespace
 * @users: fabric endpoints in it; 0: no socket, no hook
 * @feps: struct uet_fep, RCU list
 * @sk4: owns UDP port 4793 for IPv4
 * @sk6: the same for IPv6; NULL where IPv6 is off
 */
struct uet_net {
	struct net *net;
	unsigned int users;
	struct list_head feps;
	struct socket *sk4;
	struct socket *sk6;
};

/**
 * struct uet_rx - a packet on its way in
 * @hdr: its addresses
 * @sport: UDP source port, the entropy value to echo; network order
 * @ce: marked congestion experienced
 */
struct uet_rx {
	struct uet_rx_hdr hdr;
	__be16 sport;
	bool ce;
};

/**
 * struct uet_tx_cb - whom to tell if a packet does not get into the queues
 *	below; in skb->cb from uet_net_xmit_prepare() to uet_net_xmit()
 * @ip4: IP's own
 * @ip6: the same
 * @fep: whose counters move
 * @psn: of the first packet in the skb
 * @pdcid: local PDCID; 0: no PDC wants to know
 * @ctrl: of the class of control packets
 */
struct uet_tx_cb {
	union {
		struct inet_skb_parm ip4;
		struct inet6_skb_parm ip6;
	};
	struct uet_fep *fep;
	u32 psn;
	u16 pdcid;
	bool ctrl;
};

static_assert(sizeof(struct uet_tx_cb) <= sizeof_field(struct sk_buff, cb));

static inline struct uet_tx_cb *uet_tx_cb(struct sk_buff *skb)
{
	return (struct uet_tx_cb *)skb->cb;
}

struct net;

/* The namespace's part; RCU read side for its endpoints. */
struct uet_net *uet_net_of(const struct net *net);
/* Which fabric endpoint has the addresses of @dev: its own, or that below? */
struct uet_fep *uet_net_owner(const struct uet_net *un,
			      const struct net_device *dev);

/* Headroom that every packet needs in front of the PDS prologue. */
unsigned int uet_net_headroom(const struct uet_fep *fep);

int uet_net_xmit_prepare(struct uet_path *path, struct sk_buff *skb,
			 __be16 sport, bool ctrl, u32 seg);
struct sk_buff *uet_skb_alloc(struct uet_fep *fep, unsigned int linear);
void uet_net_xmit(struct sk_buff *skb);
bool uet_net_is_full(const struct uet_path *path);

int uet_net_attach(struct uet_fep *fep);
void uet_net_detach(struct uet_fep *fep);
void uet_net_put(struct uet_fep *fep);
void uet_net_crc_changed(struct uet_fep *fep);

int uet_net_init(void);
void uet_net_exit(void);

struct uet_pkt;

/* In fep.c: one packet of @skb, which may be a burst. */
int uet_skb_parse(const struct sk_buff *skb, u32 off, u32 len,
		  struct uet_pkt *pkt);
/*
 * In pdc_tx.c: the queues below are full, and @lost packets from @psn on did
 * not get into them.
 */
void uet_pdc_backed_up(struct uet_fep *fep, u16 pdcid, u32 psn, u32 lost);
/* In fep.c: what arrived; data starts at the PDS prologue. Consumes skb. */
void uet_fep_rx(struct uet_fep *fep, struct sk_buff *skb,
		const struct uet_rx *rx);

#endif /* UET_NET_H */
