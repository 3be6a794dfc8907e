/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/uet.yaml */
/* YNL-GEN uapi header */
/* To regenerate run: tools/net/ynl/ynl-regen.sh */

#ifndef _UAPI_LINUX_UET_H
#define _UAPI_LINUX_UET_H

#define UET_FAMILY_NAME		"uet"
#define UET_FAMILY_VERSION	1

/**
 * enum uet_pdc_role - Which side opened a PDC.
 * @UET_PDC_ROLE_INITIATOR: This side opened the PDC and sends requests on it.
 * @UET_PDC_ROLE_TARGET: The peer opened the PDC; this side answers.
 */
enum uet_pdc_role {
	UET_PDC_ROLE_INITIATOR,
	UET_PDC_ROLE_TARGET,
};

/**
 * enum uet_pdc_mode - How a PDC delivers packets.
 * @UET_PDC_MODE_RUD: Reliable, in any order (RUD).
 * @UET_PDC_MODE_ROD: Reliable, in the order sent (ROD).
 */
enum uet_pdc_mode {
	UET_PDC_MODE_RUD,
	UET_PDC_MODE_ROD,
};

enum {
	UET_A_DEV_INDEX = 1,
	UET_A_DEV_NAME,
	UET_A_DEV_NETDEV_IFINDEX,
	UET_A_DEV_PAYLOAD_MTU,
	UET_A_DEV_DSCP_DATA,
	UET_A_DEV_DSCP_CTRL,
	UET_A_DEV_PDC_MAX,
	UET_A_DEV_PDC_IDLE_MS,
	UET_A_DEV_PDC_COUNT,
	UET_A_DEV_PAYLOAD_MTU_ACTIVE,
	UET_A_DEV_CRC,

	__UET_A_DEV_MAX,
	UET_A_DEV_MAX = (__UET_A_DEV_MAX - 1)
};

enum {
	UET_A_PDC_DEV_INDEX = 1,
	UET_A_PDC_DEV_NAME,
	UET_A_PDC_ID,
	UET_A_PDC_PEER_ID,
	UET_A_PDC_ROLE,
	UET_A_PDC_MODE,
	UET_A_PDC_STATE,
	UET_A_PDC_SRC,
	UET_A_PDC_DST,
	UET_A_PDC_DSCP,
	UET_A_PDC_PAYLOAD_MTU,
	UET_A_PDC_TX_PSN,
	UET_A_PDC_TX_UNA,
	UET_A_PDC_RX_CACK,
	UET_A_PDC_SRTT_US,
	UET_A_PDC_WINDOW,
	UET_A_PDC_RETX,
	UET_A_PDC_TX_BYTES,
	UET_A_PDC_RX_BYTES,

	__UET_A_PDC_MAX,
	UET_A_PDC_MAX = (__UET_A_PDC_MAX - 1)
};

enum {
	UET_CMD_DEV_GET = 1,
	UET_CMD_DEV_SET,
	UET_CMD_PDC_GET,

	__UET_CMD_MAX,
	UET_CMD_MAX = (__UET_CMD_MAX - 1)
};

#endif /* _UAPI_LINUX_UET_H */
