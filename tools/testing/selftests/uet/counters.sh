#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Counters of QPs ("rdma statistic qp"): bound by type and by hand they count what was
# sent and received, and the totals of the port go on as if there were none.
#
# guests: uml
# guests-long: uml uml-kasan qemu
# timeout: 600

. "$(dirname "$(readlink -f "$0")")/lib.sh"

[ "$type" = uet ] || skip_all "needs uet"
hold=$(program hold) || exit 1

numbers='[.tx_msgs, .tx_bytes, .rx_msgs, .rx_bytes]'

# [tx_msgs, tx_bytes, rx_msgs, rx_bytes] of the port
totals() { # [DEVICE]
	rdma -j statistic show link "${1:-u1}/1" | jq -c ".[0] | $numbers"
}

# The same of all counters of QPs that a filter of jq wants
counted() { # FILTER [DEVICE]
	rdma -j statistic qp show link "${2:-u1}/1" | jq -c "[.[] | select($1) | $numbers] | transpose | map(add)"
}

counters() {
	rdma -j statistic qp show link u1/1 | jq length
}

since() { # TOTALS [DEVICE]: what the port counted since
	jq -nc "[$(totals "${2:-u1}"), $1] | transpose | map(.[0] - .[1])"
}

gives() { # VALUE COMMAND...
	[ "$("${@:2}")" = "$1" ]
}

is() { # VALUE COMMAND...
	gives "$@" || fail "${*:2}: $("${@:2}"), expected $1"
}

# What was sent is counted when it is acknowledged, a little after it arrived.
expect() { # VALUE COMMAND...
	busywait $((5 * slow)) gives "$@" || is "$@"
}

# A server that waits for more than its client sends, and keeps its QP so
pingpong_server() { # KIND PORT
	serve 1 "tcp:$2" "ibv_$1_pingpong" -d u1 -g "$(gid_index u1 10.0.0.1)" -p "$2" -s 1000 -n 100000
}

pingpong_client() { # KIND PORT COUNT
	limit 30 ip netns exec h2 "ibv_$1_pingpong" -d u2 -g "$(gid_index u2 10.0.0.2)" -p "$2" \
		-s 1000 -n "$3" 10.0.0.1
}

# Number of the QP of the newest server
last_qp() {
	local pid
	pid=$(pgrep -P "${servers[-1]}")
	rdma -j res show qp link u1 | jq "[.[] | select(.pid == $pid)] | .[0].lqpn"
}

automatic() { # WHAT(type on, off) [DEVICE]
	# shellcheck disable=SC2086
	rdma statistic qp set link "${2:-u1}/1" auto $1
}

by_type() {
	local before
	need_hosts 1500
	before=$(totals)
	automatic "type on"
	pingpong_server rc 18515
	pingpong_server rc 18516
	pingpong_server ud 18517
	is 2 counters
	pingpong_client rc 18515 100
	pingpong_client rc 18516 50
	pingpong_client ud 18517 30
	expect "[150,150000,150,150000]" counted '."qp-type" == "RC"'
	expect "[30,30000,30,30000]" counted '."qp-type" == "UD"'
	is "[180,180000,180,180000]" since "$before"
	automatic off
	stop_servers
	expect 0 counters
	is "[180,180000,180,180000]" since "$before"
}

# Without a counter only the port counts.
nothing_bound() {
	local before
	need_hosts 1500
	before=$(totals)
	pingpong_server rc 18515
	pingpong_client rc 18515 40
	is 0 counters
	expect "[40,40000,40,40000]" since "$before"
}

new_counter() { # QP: its number
	rdma statistic qp bind link u1/1 lqpn "$1"
	rdma -j statistic qp show link u1/1 | jq '.[-1].cntn'
}

by_hand() {
	local before qp1 qp2 counter
	need_hosts 1500
	before=$(totals)
	pingpong_server rc 18515
	qp1=$(last_qp)
	pingpong_server rc 18516
	qp2=$(last_qp)
	counter=$(new_counter "$qp1")
	pingpong_client rc 18515 100
	pingpong_client rc 18516 50
	expect "[100,100000,100,100000]" counted ".cntn == $counter"
	expect "[150,150000,150,150000]" since "$before"

	# one that joins brings nothing from before
	rdma statistic qp bind link u1/1 lqpn "$qp2" cntn "$counter"
	is "[100,100000,100,100000]" counted ".cntn == $counter"
	# one that leaves leaves behind what it did
	rdma statistic qp unbind link u1/1 cntn "$counter" lqpn "$qp1"
	is "[100,100000,100,100000]" counted ".cntn == $counter"
	is "[150,150000,150,150000]" since "$before"
	rdma statistic qp unbind link u1/1 cntn "$counter" lqpn "$qp2"
	is 0 counters
	is "[150,150000,150,150000]" since "$before"
}

refused() { # ARG...
	! rdma statistic qp "$@" || fail "rdma statistic qp $* was accepted"
}

wrong_binding() {
	local qp ud counter
	need_hosts 1500
	pingpong_server ud 18517
	ud=$(last_qp)
	pingpong_server rc 18515
	qp=$(last_qp)
	refused bind link u1/1 lqpn 16777215
	refused bind link u1/1 lqpn "$qp" cntn 77777
	is 0 counters
	counter=$(new_counter "$qp")
	refused bind link u1/1 lqpn "$qp" cntn $((counter + 1))
	refused unbind link u1/1 cntn "$counter" lqpn "$ud"
	refused set link u1/1 auto type on
	is 1 counters
	rdma statistic qp unbind link u1/1 cntn "$counter" lqpn "$qp"
	is 0 counters
}

held() {
	rm -f "$tmp/ready"
	serve 1 "file:$tmp/ready" "$hold" -r "$tmp/ready"
}

sends_more() { # FILTER
	[ "$(counted "$1" | jq '.[0]')" -gt 20 ]
}

# Bound and unbound while it sends: the totals never go back.
under_traffic() {
	local round qp counter now last=0
	need_hosts 1500
	held
	qp=$(rdma -j res show qp link u1 | jq '[.[] | select(.type == "RC" and .state == "RTS")] | .[0].lqpn')
	for ((round = 0; round < ${long:+4}10; round++)); do
		counter=$(new_counter "$qp")
		now=$(counter u1 tx_msgs)
		[ "$now" -ge "$last" ] || fail "round $round, bound: $last, then $now"
		last=$now
		busywait $((5 * slow)) sends_more ".cntn == $counter"
		now=$(counter u1 tx_msgs)
		[ "$now" -ge $((last + 20)) ] || fail "round $round: $last, then $now"
		last=$now
		rdma statistic qp unbind link u1/1 cntn "$counter" lqpn "$qp"
		now=$(counter u1 tx_msgs)
		[ "$now" -ge "$last" ] || fail "round $round, unbound: $last, then $now"
		last=$now
	done
}

device_goes() {
	need_hosts 1500
	automatic "type on"
	held
	is 3 counters
	rdma link del u1
	served
	link_add 1
	link_ready 1
	is 0 counters
	is "[0,0,0,0]" totals
}

stopped() { # PID
	grep -q '^State:.*T' "/proc/$1/status"
}

# hold has sent a WRITE, a READ, a SEND and so on, of 64 KiB each, of which u1 counts
# those that ended, without the data of READs, and u2 the receives.
right() { # TOTALS OF U1 BEFORE, OF U2 BEFORE
	jq -ne --argjson sent "$(counted true u1)" --argjson received "$(counted true u2)" \
		--argjson port1 "$(since "$1" u1)" --argjson port2 "$(since "$2" u2)" '
		$sent[0] as $n | (($n / 3 | floor) - $received[2]) as $early |
		$sent == [$n, 65536 * ($n - (($n + 1) / 3 | floor)), 0, 0] and
		$received == [0, 0, $received[2], 65536 * $received[2]] and
		$early <= 0 and $early >= -16 and
		$port1[0] == $n and $port1[3] > 0 and $port2[1] > 0 and $port2[2] > $received[2]' >/dev/null
}

every_operation() {
	local pid before1 before2
	need_hosts 1500
	automatic "type on" u1
	automatic "type on" u2
	before1=$(totals u1) before2=$(totals u2)
	held
	busywait $((10 * slow)) sends_more true
	pid=$(pgrep -P "${servers[-1]}")
	kill -STOP "$pid"
	busywait 5 stopped "$pid"
	# what is under way goes on without the process
	busywait $((10 * slow)) right "$before1" "$before2" ||
		fail "QPs $(counted true u1), $(counted true u2), ports $(since "$before1"), $(since "$before2" u2)"
	stop_servers
	automatic off u1
	automatic off u2
}

check "bound by type" by_type
check "nothing is bound" nothing_bound
check "bound by hand" by_hand
check "wrong bindings" wrong_binding
check "SENDs, WRITEs and READs" every_operation
check "bound and unbound under traffic" under_traffic
check "a device with bound QPs goes" device_goes
run_checks
