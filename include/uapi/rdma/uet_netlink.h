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

/**
 * enum uet_skey_algorithm - How packets are encrypted with a security key.
 * @UET_SKEY_ALGORITHM_AES_256_GCM: AES-GCM with a key of 32 bytes.
 */
enum uet_skey_algorithm {
	UET_SKEY_ALGORITHM_AES_256_GCM = 1,
};

/**
 * enum uet_skey_key_mode - How the keys of packets are derived from the key
 *   material.
 * @UET_SKEY_KEY_MODE_DIRECT: The material is the key.
 * @UET_SKEY_KEY_MODE_CLUSTER: Each source derives a key of its own.
 * @UET_SKEY_KEY_MODE_SERVER: The material is what clients' keys are derived
 *   from.
 * @UET_SKEY_KEY_MODE_CLIENT: The material was derived by the server.
 */
enum uet_skey_key_mode {
	UET_SKEY_KEY_MODE_DIRECT,
	UET_SKEY_KEY_MODE_CLUSTER,
	UET_SKEY_KEY_MODE_SERVER,
	UET_SKEY_KEY_MODE_CLIENT,
};

/**
 * enum uet_skey_step - A step of changing a security key without a gap.
 * @UET_SKEY_STEP_INSTALL: Give key material to the association number that is
 *   not sent with; packets with it are accepted from then on.
 * @UET_SKEY_STEP_SWITCH: Send with the other association number.
 * @UET_SKEY_STEP_RETIRE: Wipe the material of the association number not sent
 *   with.
 */
enum uet_skey_step {
	UET_SKEY_STEP_INSTALL,
	UET_SKEY_STEP_SWITCH,
	UET_SKEY_STEP_RETIRE,
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
	UET_A_DEV_LOCAL_FILTER,
	UET_A_DEV_JOB_COUNT,
	UET_A_DEV_SKEY_COUNT,
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
	UET_A_JOB_DEV_INDEX = 1,
	UET_A_JOB_DEV_NAME,
	UET_A_JOB_ID,
	UET_A_JOB_UID,
	UET_A_JOB_GID,
	UET_A_JOB_SGID_INDEX,
	UET_A_JOB_SKEY_ID,
	UET_A_JOB_PEER_MAX,
	UET_A_JOB_PEER_COUNT,
	UET_A_JOB_JKEY_MAX,
	UET_A_JOB_JKEY_COUNT,
	UET_A_JOB_HOLDER_COUNT,
	UET_A_JOB_PERSISTENT,
	UET_A_JOB_DEAD,
	UET_A_JOB_FORCE,

	__UET_A_JOB_MAX,
	UET_A_JOB_MAX = (__UET_A_JOB_MAX - 1)
};

enum {
	UET_A_PEER_INDEX = 1,
	UET_A_PEER_ADDR,
	UET_A_PEER_QPN,
	UET_A_PEER_SGID_INDEX,
	UET_A_PEER_TCLASS,
	UET_A_PEER_HOP_LIMIT,

	__UET_A_PEER_MAX,
	UET_A_PEER_MAX = (__UET_A_PEER_MAX - 1)
};

enum {
	UET_A_JOB_PEERS_DEV_INDEX = 1,
	UET_A_JOB_PEERS_DEV_NAME,
	UET_A_JOB_PEERS_JOB_ID,
	UET_A_JOB_PEERS_PEER,
	UET_A_JOB_PEERS_FIRST,
	UET_A_JOB_PEERS_COUNT,

	__UET_A_JOB_PEERS_MAX,
	UET_A_JOB_PEERS_MAX = (__UET_A_JOB_PEERS_MAX - 1)
};

enum {
	UET_A_HOLDER_DEV_INDEX = 1,
	UET_A_HOLDER_DEV_NAME,
	UET_A_HOLDER_JOB_ID,
	UET_A_HOLDER_PID,
	UET_A_HOLDER_COMM,
	UET_A_HOLDER_RIGHTS,
	UET_A_HOLDER_JKEY_COUNT,

	__UET_A_HOLDER_MAX,
	UET_A_HOLDER_MAX = (__UET_A_HOLDER_MAX - 1)
};

enum {
	UET_A_SKEY_DEV_INDEX = 1,
	UET_A_SKEY_DEV_NAME,
	UET_A_SKEY_ID,
	UET_A_SKEY_ALGORITHM,
	UET_A_SKEY_MODE,
	UET_A_SKEY_KEY,
	UET_A_SKEY_SDI,
	UET_A_SKEY_SSI,
	UET_A_SKEY_AN,
	UET_A_SKEY_AN_VALID,
	UET_A_SKEY_UID,
	UET_A_SKEY_GID,
	UET_A_SKEY_JOB_COUNT,
	UET_A_SKEY_PERSISTENT,
	UET_A_SKEY_STEP,

	__UET_A_SKEY_MAX,
	UET_A_SKEY_MAX = (__UET_A_SKEY_MAX - 1)
};

enum {
	UET_CMD_DEV_GET = 1,
	UET_CMD_DEV_SET,
	UET_CMD_PDC_GET,
	UET_CMD_DEV_ADD_NTF,
	UET_CMD_DEV_DEL_NTF,
	UET_CMD_DEV_CHANGE_NTF,
	UET_CMD_JOB_NEW,
	UET_CMD_JOB_DEL,
	UET_CMD_JOB_GET,
	UET_CMD_JOB_ADD_NTF,
	UET_CMD_JOB_DEL_NTF,
	UET_CMD_JOB_CHANGE_NTF,
	UET_CMD_PEER_SET,
	UET_CMD_PEER_DEL,
	UET_CMD_PEER_GET,
	UET_CMD_HOLDER_GET,
	UET_CMD_SKEY_NEW,
	UET_CMD_SKEY_DEL,
	UET_CMD_SKEY_REKEY,
	UET_CMD_SKEY_GET,
	UET_CMD_SKEY_ADD_NTF,
	UET_CMD_SKEY_DEL_NTF,
	UET_CMD_SKEY_CHANGE_NTF,

	__UET_CMD_MAX,
	UET_CMD_MAX = (__UET_CMD_MAX - 1)
};

#define UET_MCGRP_MONITOR	"monitor"

#endif /* _UAPI_LINUX_UET_H */
