/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Direct verbs of the uet provider: what Ultra Ethernet has and verbs do not
 * name. Link with -luet -libverbs.
 */
#ifndef UETDV_H
#define UETDV_H

#include <stdint.h>

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum uetdv_qp_driver_type - what an IBV_QPT_DRIVER QP is
 * @UETDV_QP_DRIVER_TYPE_RU: reliable unconnected: each work request names its
 *	peer, as with UD, and every operation of RC is there. Messages arrive
 *	in any order
 */
enum uetdv_qp_driver_type {
	UETDV_QP_DRIVER_TYPE_RU = 1,
};

/**
 * struct uetdv_qp_init_attr - what uetdv_create_qp() needs beside verbs' own
 * @comp_mask: 0
 * @driver_qp_type: enum uetdv_qp_driver_type
 * @reserved: 0
 */
struct uetdv_qp_init_attr {
	uint64_t comp_mask;
	uint32_t driver_qp_type;
	uint32_t reserved;
};

/**
 * uetdv_create_qp - create a QP of a type that only UET has
 * @context: a uet device
 * @attr_ex: as for ibv_create_qp_ex(); qp_type must be IBV_QPT_DRIVER. The
 *	capabilities granted come back in it
 * @uet_attr: the type
 * @inlen: sizeof(*uet_attr)
 *
 * The QP is ready to receive and to send when the call returns.
 *
 * Return: the QP, to be destroyed with ibv_destroy_qp(), or NULL with errno:
 * EOPNOTSUPP (no uet device, a type or operation it does not have), EINVAL,
 * ENOMEM, or what the kernel said.
 */
struct ibv_qp *uetdv_create_qp(struct ibv_context *context,
			       struct ibv_qp_init_attr_ex *attr_ex,
			       struct uetdv_qp_init_attr *uet_attr,
			       uint32_t inlen);

/**
 * uetdv_qp_wire_qpn - the number by which peers address a QP
 * @qp: any QP of a uet device
 * @wire_qpn: 24 bits: resource index in 23:12, PIDonFEP in 11:0
 *
 * Return: 0, or EOPNOTSUPP if @qp is of another provider.
 */
int uetdv_qp_wire_qpn(struct ibv_qp *qp, uint32_t *wire_qpn);

/**
 * enum uetdv_device_caps - capabilities of a uet device
 * @UETDV_DEVICE_CAP_RU: reliable-unconnected QPs can be created
 */
enum uetdv_device_caps {
	UETDV_DEVICE_CAP_RU = 1 << 0,
};

/**
 * struct uetdv_device_attr - answer of uetdv_query_device()
 * @comp_mask: which later fields are valid; 0
 * @device_caps: enum uetdv_device_caps
 * @max_inline: largest inline payload of a send, bytes
 * @max_sge: most scatter/gather entries of a work request
 * @reserved: 0
 */
struct uetdv_device_attr {
	uint64_t comp_mask;
	uint32_t device_caps;
	uint32_t max_inline;
	uint32_t max_sge;
	uint32_t reserved;
};

/**
 * uetdv_query_device - what a uet device can do
 * @context: the device
 * @attr: filled in
 * @inlen: sizeof(*attr)
 *
 * Return: 0, EOPNOTSUPP if it is no uet device, EINVAL.
 */
int uetdv_query_device(struct ibv_context *context,
		       struct uetdv_device_attr *attr, uint32_t inlen);

#ifdef __cplusplus
}
#endif

#endif /* UETDV_H */
