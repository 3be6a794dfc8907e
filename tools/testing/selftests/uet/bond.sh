#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# A device above a bond (active-backup) of two ports, and a peer behind the same
# switch: data flows, and goes on when the active port goes down.
#
# guests: uml
# guests-long: uml qemu
# timeout: 300

. "$(dirname "$(readlink -f "$0")")/lib.sh"

data=$(program data) || exit 1
hold=$(program hold) || exit 1

also_clean_up() {
	[ -e /sys/class/net/sw ] || return 0
	hosts_down
	ip link del sw
}

# A bond of two ports in h1, and a switch that joins them and v2 of h2
network_up() {
	local port
	ip netns add h1 && ip netns add h2
	ip link add sw type bridge
	ip link set sw up
	ip -n h1 link add v1 type bond mode active-backup miimon 10
	for port in p1 p2; do
		ip link add "sw-$port" type veth peer name "$port" netns h1
		ip -n h1 link set "$port" master v1
	done
	ip link add sw-v2 type veth peer name v2 netns h2
	for port in sw-p1 sw-p2 sw-v2; do
		ip link set "$port" master sw up
	done
}

bond_up() {
	local host
	[ ! -e /sys/class/infiniband/u1 ] || return 0
	network_up
	for host in 1 2; do
		address_up $host
	done
	busywait $((10 * slow)) link_is_up 1
	busywait $((10 * slow)) link_is_up 2
	busywait $((10 * slow)) switch_forwards
	link_add 1
	link_add 2
	link_ready 1
	link_ready 2
}

# All of its ports do, and the bond has both of its own.
switch_forwards() {
	[ "$(bridge -j link show | jq '[.[] | select(.state == "forwarding")] | length')" = 3 ] &&
		[ "$(ip -n h1 -br link show master v1 up | grep -c LOWER_UP)" = 2 ]
}

between() { # COMMAND ARG...
	limit 60 "$1" -a u1 -A 10.0.0.1 -b u2 -B 10.0.0.2 -w $((20 * slow)) "${@:2}"
}

carries_data() {
	bond_up
	between "$data" -m 1024 -M 100000 -n 20 rc_send rc_write rc_read ud_send
}

active_port() {
	ip -n h1 -d -j link show v1 | jq -r '.[0].linkinfo.info_data.active_slave'
}

active_is() {
	[ "$(active_port)" = "$1" ]
}

# The other end of the active port goes down, as with a cable pulled.
fail_over() {
	local port other
	port=$(active_port)
	other=p$((3 - ${port#p}))
	ip link set "sw-$port" down
	busywait $((5 * slow)) active_is "$other"
	echo "$port was active, $other is"
}

sent_more_than() {
	[ "$(counter u1 tx_msgs)" -gt "$1" ]
}

# Requests of all kinds are under way all the time, and every one ends well: what was on
# its way is sent again when the retransmission timer runs out.
goes_on() {
	local ready=$tmp/ready pid round before start
	bond_up
	between "$hold" -r "$ready" >"$tmp/hold" 2>&1 &
	pid=$!
	servers+=("$pid")
	busywait $((20 * slow)) test -e "$ready"
	for round in 1 2 3; do
		start=${EPOCHREALTIME/./}
		fail_over
		before=$(counter u1 tx_msgs)
		busywait $((2 * slow)) sent_more_than $((before + 100))
		echo "round $round: $(((${EPOCHREALTIME/./} - start) / 1000)) ms"
		ip link set sw-p1 up
		ip link set sw-p2 up
		busywait $((5 * slow)) switch_forwards
	done
	[ "$(both_counters pdc_failed)" = 0 ] || fail "a PDC was given up"
	rdma link del u1
	wait "$pid" || fail "$(cat "$tmp/hold")"
	servers=()
	link_add 1
	link_ready 1
}

port_refused() {
	local out
	bond_up
	if out=$(ip netns exec h1 rdma link add u5 type uet netdev p1 2>&1); then
		fail "a link on a port of a bond"
	fi
	grep -q 'Device or resource busy' <<<"$out" || fail "$out"
	dmesg | grep -q 'p1 is a port of a bond or team; add the link to that'
}

check "data over a bond" carries_data
check "the active port goes down under traffic" goes_on
check "data after that" carries_data
check "a link on a port of the bond" port_refused
run_checks
