#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Each asynchronous event of verbs provoked once, about the right object (events.c).
# That a device which is taken away says so (IBV_EVENT_DEVICE_FATAL) is in life.sh.
#
# guests: uml
# guests-long: uml uml-kasan qemu-debug
# timeout: 900

. "$(dirname "$(readlink -f "$0")")/lib.sh"

events=$(program events) || exit 1

provoke() { # [OPTION...] TEST
	need_hosts 1500
	limit 60 "$events" -a u1 -A "$(address 1 4)" -b u2 -B "$(address 2 4)" -w $((10 * slow)) "$@"
}

# The CQ that was full is counted, once.
full_cq() {
	local before
	need_hosts 1500
	before=$(counter u1 cq_overflow)
	provoke cq_err
	[ $(($(counter u1 cq_overflow) - before)) -eq 1 ] ||
		fail "cq_overflow rose from $before to $(counter u1 cq_overflow)"
}

# The IPv6 address goes with the link: make the hosts anew.
port_down_up() {
	provoke -x "ip -n h1 link set v1 down" -x "ip -n h1 link set v1 up" port_err_active
	forget_hosts
}

for test in comm_est qp_access_err qp_req_err sq_drained qp_last_wqe_reached srq_limit_reached; do
	check "IBV_EVENT_${test^^}" provoke $test
done
check "IBV_EVENT_SRQ_ERR, QP_FATAL of its QP" provoke srq_err
check "IBV_EVENT_CQ_ERR, QP_FATAL of its QPs" full_cq
check "IBV_EVENT_PORT_ERR, PORT_ACTIVE" port_down_up
check "IBV_EVENT_PORT_ACTIVE for another MTU" provoke -x "ip -n h1 link set v1 mtu 1400" \
	-x "ip -n h1 link set v1 mtu 1500" port_active_mtu
check "IBV_EVENT_GID_CHANGE" provoke -x "ip -n h1 addr add 10.0.0.77/24 dev v1" \
	-x "ip -n h1 addr del 10.0.0.77/24 dev v1" gid_change
check "IBV_EVENT_PATH_MIG, PATH_MIG_ERR" skip "a QP has one path and no alternate"
check "IBV_EVENT_LID_CHANGE, PKEY_CHANGE, SM_CHANGE, CLIENT_REREGISTER" \
	skip "of InfiniBand's subnet manager"
check "IBV_EVENT_WQ_FATAL" skip "no work queues without a QP"
run_checks
