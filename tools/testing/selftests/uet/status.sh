#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Each completion status of verbs provoked once, with the right one on both sides and
# the states of both QPs (status.c). Those that cannot come say why.
#
# guests: uml
# guests-long: uml uml-kasan qemu-debug
# single: uml
# timeout: 900

. "$(dirname "$(readlink -f "$0")")/lib.sh"

status=$(program status) || exit 1

provoke() { # TEST
	need_hosts 1500
	limit 60 "$status" -a u1 -A "$(address 1 4)" -b u2 -B "$(address 2 4)" -w $((10 * slow)) "$1"
}

provoke_unheard() { # TEST
	need_hosts 1500
	netem_on loss 100%
	provoke "$1"
	netem_off
}

cannot_come() { # REASON...
	skip "$*"
}

for test in success loc_len_err loc_len_err_ud loc_qp_op_err loc_prot_err rem_op_err rem_op_err_gone wr_flush_err \
	mw_bind_err rem_access_err_write rem_access_err_bounds rem_access_err_read \
	rem_access_err_atomic loc_access_err rem_inv_req_err rem_inv_req_err_qp rnr_retry_exc_err; do
	check "IBV_WC_${test^^}" provoke $test
done
check IBV_WC_RETRY_EXC_ERR provoke_unheard retry_exc_err
check IBV_WC_BAD_RESP_ERR cannot_come "needs an answer that no UET peer gives; see the injector's tests"
check IBV_WC_REM_ABORT_ERR cannot_come "a reliable connection ends with a reason of its own; RU only"
check IBV_WC_FATAL_ERR cannot_come "for devices that fail; this one is software and is removed instead"
check IBV_WC_RESP_TIMEOUT_ERR cannot_come "of management classes in InfiniBand"
check IBV_WC_GENERAL_ERR cannot_come "every error has a better name"
check "IBV_WC_LOC_EEC_OP_ERR, INV_EECN_ERR, INV_EEC_STATE_ERR, LOC_RDD_VIOL_ERR, REM_INV_RD_REQ_ERR" \
	cannot_come "of reliable datagrams in InfiniBand, which verbs has no QP type for"
check "IBV_WC_TM_ERR, TM_RNDV_INCOMPLETE" cannot_come "no tag matching in verbs' way"
run_checks
