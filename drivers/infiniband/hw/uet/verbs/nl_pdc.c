// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The netlink family: PDCs, for people to read. Every PDC is shown as it is at
 * one moment; those that open or close during a dump may or may not be in it.
 */
#include <net/genetlink.h>

#include "../dp/uet_dp.h"
#include "nl.h"

static int uet_nl_put_pdc(struct sk_buff *skb, struct uet_dev *dev,
			  const struct uet_pdc_info *pdc)
{
	enum uet_pdc_role role = pdc->initiator ? UET_PDC_ROLE_INITIATOR :
						  UET_PDC_ROLE_TARGET;
	enum uet_pdc_mode mode = pdc->rod ? UET_PDC_MODE_ROD :
					    UET_PDC_MODE_RUD;

	if (nla_put_u32(skb, UET_A_PDC_DEV_INDEX, dev->ib.index) ||
	    nla_put_string(skb, UET_A_PDC_DEV_NAME, dev->ib.name) ||
	    nla_put_u32(skb, UET_A_PDC_ID, pdc->id) ||
	    nla_put_u32(skb, UET_A_PDC_PEER_ID, pdc->peer_id) ||
	    nla_put_u32(skb, UET_A_PDC_ROLE, role) ||
	    nla_put_u32(skb, UET_A_PDC_MODE, mode) ||
	    nla_put_string(skb, UET_A_PDC_STATE, pdc->state) ||
	    uet_nl_put_addr(skb, UET_A_PDC_SRC, &pdc->src) ||
	    uet_nl_put_addr(skb, UET_A_PDC_DST, &pdc->dst) ||
	    nla_put_u8(skb, UET_A_PDC_DSCP, pdc->dscp) ||
	    nla_put_u32(skb, UET_A_PDC_PAYLOAD_MTU, pdc->payload_mtu) ||
	    nla_put_u32(skb, UET_A_PDC_TX_PSN, pdc->tx_psn) ||
	    nla_put_u32(skb, UET_A_PDC_TX_UNA, pdc->tx_una) ||
	    nla_put_u32(skb, UET_A_PDC_RX_CACK, pdc->rx_cack) ||
	    nla_put_u32(skb, UET_A_PDC_SRTT_US, pdc->srtt_us) ||
	    nla_put_u32(skb, UET_A_PDC_WINDOW, pdc->window) ||
	    nla_put_uint(skb, UET_A_PDC_RETX, pdc->retx) ||
	    nla_put_uint(skb, UET_A_PDC_TX_BYTES, pdc->tx_bytes) ||
	    nla_put_uint(skb, UET_A_PDC_RX_BYTES, pdc->rx_bytes))
		return -EMSGSIZE;
	return 0;
}

int uet_nl_pdc_get_start(struct netlink_callback *cb)
{
	return uet_nl_dump_start(cb, UET_A_PDC_DEV_INDEX, UET_A_PDC_DEV_NAME);
}

static int uet_nl_dump_pdc(struct sk_buff *skb, struct netlink_callback *cb,
			   struct uet_dev *dev, const struct uet_pdc_info *pdc)
{
	void *hdr;

	hdr = uet_nl_start_msg(skb, genl_info_dump(cb), NLM_F_MULTI);
	if (!hdr)
		return -EMSGSIZE;
	if (uet_nl_put_pdc(skb, dev, pdc)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static int uet_nl_dump_dev_pdcs(struct sk_buff *skb,
				struct netlink_callback *cb,
				struct uet_dev *dev)
{
	struct uet_nl_dump *d = uet_nl_dump(cb);
	struct uet_pdc_info pdc;
	u32 pos = d->pos;
	int err;

	while (!uet_fep_pdc_next(dev->fep, &pos, &pdc)) {
		err = uet_nl_dump_pdc(skb, cb, dev, &pdc);
		if (err)
			return err;
		d->pos = pos;
	}
	return 0;
}

int uet_nl_pdc_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return uet_nl_dump_devs(skb, cb, uet_nl_dump_dev_pdcs);
}
