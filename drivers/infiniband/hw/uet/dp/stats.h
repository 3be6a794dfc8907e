/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Counters of a fabric endpoint, one line each: UET_STATS(X) expands
 * X(enum name, name shown to users). Documentation/infiniband/uet-counters.rst
 * says what each one means; every drop and every refusal has one.
 */
#ifndef UET_STATS_H
#define UET_STATS_H

#define UET_STATS(X)							\
	/* traffic */							\
	X(TX_PKTS, "tx_pkts")						\
	X(TX_BYTES, "tx_bytes")			/* payload */		\
	X(RX_PKTS, "rx_pkts")						\
	X(RX_BYTES, "rx_bytes")			/* payload */		\
	X(TX_MSGS, "tx_msgs")			/* completed */		\
	X(RX_MSGS, "rx_msgs")			/* delivered */		\
	X(TX_ACKS, "tx_acks")						\
	X(RX_ACKS, "rx_acks")						\
	X(TX_NACKS, "tx_nacks")						\
	X(RX_NACKS, "rx_nacks")						\
	X(TX_CPS, "tx_cps")						\
	X(RX_CPS, "rx_cps")						\
	/* PDCs */							\
	X(PDC_OPENED, "pdc_opened")		/* as initiator */	\
	X(PDC_ACCEPTED, "pdc_accepted")		/* as target */		\
	X(PDC_CLOSED, "pdc_closed")					\
	X(PDC_FAILED, "pdc_failed")					\
	/* loss and order */						\
	X(RETX_RTO, "retx_rto")						\
	X(RETX_SACK, "retx_sack")					\
	X(RETX_NACK, "retx_nack")					\
	X(RX_DUP, "rx_dup")						\
	X(RX_OOO, "rx_ooo")						\
	X(TX_PAUSED, "tx_paused")		/* queues below full */	\
	X(RX_ECN, "rx_ecn")						\
	X(RNR_SENT, "rnr_sent")						\
	X(RNR_RECEIVED, "rnr_received")					\
	/* packets that changed nothing */				\
	X(DROP_MALFORMED, "drop_malformed")				\
	X(DROP_UNSUPPORTED, "drop_unsupported")				\
	X(DROP_NO_EP, "drop_no_ep")					\
	X(DROP_NO_RECV, "drop_no_recv")		/* datagram */		\
	X(DROP_QKEY, "drop_qkey")					\
	X(DROP_TOO_LONG, "drop_too_long")	/* datagram */		\
	X(DROP_MEM, "drop_mem")			/* datagram */		\
	X(DROP_PDC_UNKNOWN, "drop_pdc_unknown")				\
	X(DROP_PDC_MISMATCH, "drop_pdc_mismatch")			\
	X(DROP_STALE_ACK, "drop_stale_ack")				\
	X(DROP_STALE_NACK, "drop_stale_nack")				\
	X(DROP_OUT_OF_WINDOW, "drop_out_of_window")			\
	X(DROP_EARLY_CLOSE, "drop_early_close")				\
	X(DROP_REORDER_FULL, "drop_reorder_full")			\
	X(DROP_NO_MEMORY, "drop_no_memory")				\
	X(DROP_CRC, "drop_crc")			/* wrong or missing */	\
	X(DROP_TX, "drop_tx")			/* no route, no skb */	\
	X(DROP_TX_FULL, "drop_tx_full")		/* queues below */	\
	X(DROP_LOCAL, "drop_local")		/* forged here */	\
	/* requests refused with a response */				\
	X(REFUSED_NO_EP, "refused_no_ep")				\
	X(REFUSED_PEER, "refused_peer")					\
	X(REFUSED_JOB, "refused_job")					\
	X(REFUSED_KEY, "refused_key")					\
	X(REFUSED_ADDR, "refused_addr")					\
	X(REFUSED_PERM, "refused_perm")					\
	X(REFUSED_TOO_LONG, "refused_too_long")				\
	X(REFUSED_OP, "refused_op")					\
	X(REFUSED_OTHER, "refused_other")				\
	/* verbs */							\
	X(PAGE_FAULTS, "page_faults")		/* on demand */		\
	X(CQ_OVERFLOW, "cq_overflow")					\
	X(BAD_WQE, "bad_wqe")						\
	X(BAD_DOORBELL, "bad_doorbell")

#define UET_STAT_ENUM(id, name)	UET_STAT_##id,

enum uet_stat {
	UET_STATS(UET_STAT_ENUM)
	UET_STAT_NR
};

#endif /* UET_STATS_H */
