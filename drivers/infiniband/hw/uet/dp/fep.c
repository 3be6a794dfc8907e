// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Fabric endpoints: life, settings, and where packets go first. */
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "ep.h"
#include "fep.h"
#include "mcast.h"
#include "net.h"
#include "pdc.h"

static const struct uet_fep_params uet_fep_defaults = {
	.payload_mtu	= UET_PAYLOAD_MTU_MAX,
	.dscp_data	= 0,		/* CS0, 1.4 */
	.dscp_ctrl	= 46,		/* EF, 1.4 */
	.pdc_max	= U16_MAX,
	.pdc_idle_ms	= 10000,
	.crc		= false,	/* 1.7: not negotiated */
	.local_filter	= true,
};

static struct uet_fep *uet_fep_alloc(struct net_device *dev)
{
	struct uet_fep *fep = kzalloc(sizeof(*fep), GFP_KERNEL);

	if (!fep)
		return NULL;
	fep->stats = __alloc_percpu(UET_STAT_NR * sizeof(local64_t),
				    sizeof(local64_t));
	if (!fep->stats)
		goto free_fep;
	if (uet_eptab_init(&fep->eps))
		goto free_stats;
	if (uet_pdc_tables_init(fep))
		goto free_eps;
	spin_lock_init(&fep->lock);
	fep->params = uet_fep_defaults;
	fep->dev = dev;
	netdev_hold(dev, &fep->tracker, GFP_KERNEL);
	return fep;

free_eps:
	uet_eptab_exit(&fep->eps);
free_stats:
	free_percpu(fep->stats);
free_fep:
	kfree(fep);
	return NULL;
}

static void uet_fep_free(struct uet_fep *fep)
{
	uet_pdc_tables_exit(fep);
	uet_eptab_exit(&fep->eps);
	free_percpu(fep->stats);
	netdev_put(fep->dev, &fep->tracker);
	kfree(fep);
}

/**
 * uet_fep_create - make a netdev speak UET
 * @dev: an Ethernet netdev; a reference is held until destroy
 * @ops: callbacks
 * @priv: for uet_fep_priv()
 *
 * Context: process.
 * Return: a fabric endpoint, or ERR_PTR: -EEXIST: @dev has one; -EADDRINUSE:
 * somebody else owns UDP port 4793 in the namespace; -ENOMEM.
 */
struct uet_fep *uet_fep_create(struct net_device *dev,
			       const struct uet_fep_ops *ops, void *priv)
{
	struct uet_fep *fep = uet_fep_alloc(dev);
	int err;

	if (!fep)
		return ERR_PTR(-ENOMEM);
	fep->ops = ops;
	fep->priv = priv;
	err = uet_net_attach(fep);
	if (err) {
		uet_fep_free(fep);
		return ERR_PTR(err);
	}
	return fep;
}
EXPORT_SYMBOL_GPL(uet_fep_create);

/**
 * uet_fep_destroy - end it
 * @fep: without endpoints and paths
 *
 * Context: process. Waits for packets being received, not for the network.
 */
void uet_fep_destroy(struct uet_fep *fep)
{
	WRITE_ONCE(fep->closing, true);
	uet_net_detach(fep);
	uet_pdc_kill_all(fep);
	uet_net_put(fep);
	uet_fep_free(fep);
}
EXPORT_SYMBOL_GPL(uet_fep_destroy);

/**
 * uet_fep_priv - what the provider gave to uet_fep_create()
 * @fep: fabric endpoint
 *
 * Return: @priv of uet_fep_create().
 */
void *uet_fep_priv(const struct uet_fep *fep)
{
	return fep->priv;
}
EXPORT_SYMBOL_GPL(uet_fep_priv);

/**
 * uet_fep_netdev - the netdev; valid as long as @fep
 * @fep: fabric endpoint
 *
 * Return: the netdev; no reference is taken.
 */
struct net_device *uet_fep_netdev(const struct uet_fep *fep)
{
	return fep->dev;
}
EXPORT_SYMBOL_GPL(uet_fep_netdev);

/**
 * uet_fep_get_params - read the settings
 * @fep: fabric endpoint
 * @p: filled in
 */
void uet_fep_get_params(const struct uet_fep *fep, struct uet_fep_params *p)
{
	struct uet_fep *rw = (struct uet_fep *)fep;

	spin_lock_bh(&rw->lock);
	*p = fep->params;
	spin_unlock_bh(&rw->lock);
}
EXPORT_SYMBOL_GPL(uet_fep_get_params);

static const char *uet_fep_params_wrong(const struct uet_fep_params *p)
{
	if (p->payload_mtu < UET_PAYLOAD_MTU_MIN ||
	    p->payload_mtu > UET_PAYLOAD_MTU_MAX ||
	    !is_power_of_2(p->payload_mtu))
		return "payload MTU must be 1024, 2048, 4096 or 8192";
	if (p->dscp_data > 63 || p->dscp_ctrl > 63)
		return "DSCP must be 0 to 63";
	if (!p->pdc_max || p->pdc_max > U16_MAX)
		return "PDC limit must be 1 to 65535";
	if (p->pdc_idle_ms < 10 || p->pdc_idle_ms > 3600000)
		return "PDC idle time must be 10 to 3600000 ms";
	return NULL;
}

/**
 * uet_fep_set_params - change the settings, all or none
 * @fep: fabric endpoint
 * @p: new settings; PDCs that are open keep their payload MTU and DSCP
 * @why: set to the reason when refused
 *
 * Context: process.
 * Return: 0, or -EINVAL.
 */
int uet_fep_set_params(struct uet_fep *fep, const struct uet_fep_params *p,
		       const char **why)
{
	*why = uet_fep_params_wrong(p);
	if (*why)
		return -EINVAL;
	spin_lock_bh(&fep->lock);
	WRITE_ONCE(fep->params.payload_mtu, p->payload_mtu);
	WRITE_ONCE(fep->params.dscp_data, p->dscp_data);
	WRITE_ONCE(fep->params.dscp_ctrl, p->dscp_ctrl);
	WRITE_ONCE(fep->params.pdc_max, p->pdc_max);
	WRITE_ONCE(fep->params.pdc_idle_ms, p->pdc_idle_ms);
	WRITE_ONCE(fep->params.crc, p->crc);
	WRITE_ONCE(fep->params.local_filter, p->local_filter);
	spin_unlock_bh(&fep->lock);
	uet_net_crc_changed(fep);
	return 0;
}
EXPORT_SYMBOL_GPL(uet_fep_set_params);

/**
 * uet_skb_parse - parse one packet of a received skb
 * @skb: one packet, or a burst
 * @off: where the packet starts
 * @len: its bytes
 * @pkt: filled in
 *
 * Return: 0 or the error of uet_pkt_parse().
 */
int uet_skb_parse(const struct sk_buff *skb, u32 off, u32 len,
		  struct uet_pkt *pkt)
{
	u32 linear = min_t(u32, len, UET_PKT_HDR_MAX);
	u8 buf[UET_PKT_HDR_MAX];
	const void *data;
	int err;

	data = skb_header_pointer(skb, off, linear, buf);
	if (!data)
		return -EBADMSG;
	err = uet_pkt_parse(data, linear, len, pkt);
	if (!err)
		pkt->skb_off = off + pkt->hdr_len;
	return err;
}

static bool uet_pds_is_request(u8 type)
{
	return type == UET_PDS_RUD || type == UET_PDS_ROD ||
	       type == UET_PDS_RUD_CC || type == UET_PDS_ROD_CC;
}

static void uet_fep_dispatch(struct uet_fep *fep, struct sk_buff *skb,
			     const struct uet_pkt *pkt, const struct uet_rx *rx,
			     struct uet_defer *d)
{
	switch (pkt->type) {
	case UET_PDS_ACK:
	case UET_PDS_ACK_CC:
	case UET_PDS_ACK_CCX:
		uet_pdc_rx_ack(fep, skb, pkt, rx, d);
		break;
	case UET_PDS_NACK:
	case UET_PDS_NACK_CCX:
		uet_pdc_rx_nack(fep, pkt, rx, d);
		break;
	case UET_PDS_CP:
		uet_pdc_rx_ctl(fep, pkt, rx, d);
		break;
	case UET_PDS_UUD:
		uet_ses_datagram(fep, skb, pkt, rx, d);
		break;
	default:
		/* RUDI: only for peers of the HPC profile, which we are not. */
		uet_stat_inc(fep, UET_STAT_DROP_UNSUPPORTED);
	}
}

static void uet_fep_rx_one(struct uet_fep *fep, struct uet_pdc **locked,
			   struct sk_buff *skb, u32 off, u32 len,
			   const struct uet_rx *rx, struct uet_defer *d)
{
	struct uet_pkt pkt;
	int err;

	uet_stat_inc(fep, UET_STAT_RX_PKTS);
	err = uet_skb_parse(skb, off, len, &pkt);
	if (err) {
		uet_stat_inc(fep, err == -EPROTONOSUPPORT ?
			     UET_STAT_DROP_UNSUPPORTED :
			     UET_STAT_DROP_MALFORMED);
	} else if (pkt.type != UET_PDS_UUD && uet_addr_is_mcast(&rx->hdr.dst)) {
		/* Only datagrams have several targets. */
		uet_stat_inc(fep, UET_STAT_DROP_UNSUPPORTED);
	} else if (uet_pds_is_request(pkt.type)) {
		uet_pdc_rx_request(fep, locked, skb, &pkt, rx, d);
	} else {
		uet_pdc_rx_done(locked, d);
		uet_fep_dispatch(fep, skb, &pkt, rx, d);
	}
}

/**
 * uet_fep_rx - a packet or a burst came
 * @fep: fabric endpoint
 * @skb: starts at the PDS prologue of the first packet; consumed
 * @rx: addresses
 *
 * Context: softirq, RCU read side.
 */
void uet_fep_rx(struct uet_fep *fep, struct sk_buff *skb,
		const struct uet_rx *rx)
{
	u32 seg = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size : 0;
	struct uet_pdc *locked = NULL;
	struct uet_defer d;
	u32 off = 0;

	uet_defer_init(&d);
	do {
		u32 len = skb->len - off;

		if (seg)
			len = min(len, seg);
		uet_fep_rx_one(fep, &locked, skb, off, len, rx, &d);
		off += len;
	} while (off < skb->len);
	uet_pdc_rx_done(&locked, &d);
	consume_skb(skb);
	uet_defer_run(&d);
}
