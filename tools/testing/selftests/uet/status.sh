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

# Both sides count each refusal for want of a buffer: the first one and two retries.
provoke_rnr() { # TEST
	local sent received
	need_hosts 1500
	sent=$(counter u2 rnr_sent)
	received=$(counter u1 rnr_received)
	provoke "$1"
	sent=$(($(counter u2 rnr_sent) - sent))
	received=$(($(counter u1 rnr_received) - received))
	[ $sent:$received = 3:3 ] || fail "rnr_sent rose by $sent, rnr_received by $received"
}

provoke_unheard() { # TEST
	need_hosts 1500
	netem_on loss 100%
	provoke "$1"
	netem_off
}

provoke_slow() { # TEST
	local code=0
	need_hosts 1500
	netem_on rate 10mbit
	provoke "$1" || code=$?
	netem_off
	return $code
}

# Nothing fits into a packet.
provoke_small() { # TEST
	local before
	need_hosts 1500
	before=$(counter u1 drop_tx)
	ip -n h1 link set v1 mtu 1100
	provoke "$1" || { forget_hosts; return 1; }
	before=$(($(counter u1 drop_tx) - before))
	# without its IPv6 addresses now
	forget_hosts
	[ $before = 1 ] || fail "drop_tx rose by $before"
}

# The PDC that host 1 opens, and the first packet of it
under_way() {
	uet -n h1 -j -d pdc | jq -er '.[] | select(.state == "syn") | "--dpdcid \(.id) --psn \(.tx_una)"' \
		>"$tmp/under_way"
}

# A NACK ends the PDC. The peer has not sent it.
provoke_nack() { # TEST
	local pid code=0 which
	need_hosts 1500
	neighbours_known
	tc -n h1 qdisc replace dev v1 root netem loss 100%
	uet -n h2 dev set u2 local-filter off
	provoke "$1" &
	pid=$!
	if busywait $((10 * slow)) under_way; then
		read -ra which <"$tmp/under_way"
		on_host 2 python3 "$here/ru_forge.py" -s 10.0.0.2 -d 10.0.0.1 --nack 0x0f "${which[@]}"
	fi
	wait $pid || code=$?
	uet -n h2 dev set u2 local-filter on
	tc -n h1 qdisc del dev v1 root
	return $code
}

for test in success loc_len_err loc_len_err_ud loc_qp_op_err loc_prot_err rem_op_err rem_op_err_gone wr_flush_err \
	mw_bind_err rem_access_err_write rem_access_err_bounds rem_access_err_read \
	rem_access_err_atomic loc_access_err rem_inv_req_err rem_inv_req_err_qp; do
	check "IBV_WC_${test^^}" provoke $test
done
check IBV_WC_RNR_RETRY_EXC_ERR provoke_rnr rnr_retry_exc_err
check IBV_WC_RETRY_EXC_ERR provoke_unheard retry_exc_err
check "IBV_WC_SUCCESS of a datagram that cannot leave" provoke_small success_ud_lost
check IBV_WC_REM_ABORT_ERR provoke_slow rem_abort_err
check IBV_WC_FATAL_ERR provoke_nack fatal_err
check IBV_WC_BAD_RESP_ERR skip "a wrong answer of the peer is dropped and counted, and the right one waited for"
check IBV_WC_RESP_TIMEOUT_ERR skip "of management classes in InfiniBand"
check IBV_WC_GENERAL_ERR skip "every error has a better name"
check "IBV_WC_LOC_EEC_OP_ERR, INV_EECN_ERR, INV_EEC_STATE_ERR, LOC_RDD_VIOL_ERR, REM_INV_RD_REQ_ERR" \
	skip "of reliable datagrams in InfiniBand, which verbs has no QP type for"
check "IBV_WC_TM_ERR, TM_RNDV_INCOMPLETE" skip "no tag matching in verbs' way"
run_checks
