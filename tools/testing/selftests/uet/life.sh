#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# A device, its netdev, its network namespace and the modules are taken away while a
# process holds everything (hold.c), and processes are killed at any moment. Leaks
# are looked for after the test by vm/run.
#
# guests: uml uml-kasan
# guests-long: uml uml-kasan qemu qemu-debug
# timeout: 1500
# UET_ROUNDS: rounds of each of the last checks

. "$(dirname "$(readlink -f "$0")")/lib.sh"

hold=$(program hold) || exit 1
# killed, killed at its start, link added, raced, mixed
rounds=(10 10 10 10 10)
# a thousand in all; the last two take some 5 s each in uml-kasan
[ -z "$long" ] || rounds=(250 300 300 50 100)
[ $slow -le 5 ] || rounds=(3 3 3 3 3)
[ -z "${UET_ROUNDS-}" ] || rounds=("$UET_ROUNDS" "$UET_ROUNDS" "$UET_ROUNDS" "$UET_ROUNDS" "$UET_ROUNDS")

held=
ready=$tmp/ready

hold_device() { # [HOLD-OPTION...]
	rm -f "$ready"
	timeout -k 5 $((100 * slow)) "$hold" -r "$ready" "$@" >"$tmp/hold" 2>&1 &
	held=$!
	servers+=("$held")
	busywait $((20 * slow)) ready_or_gone
	[ -e "$ready" ] || { cat "$tmp/hold"; return 1; }
}

ready_or_gone() {
	[ -e "$ready" ] || ! kill -0 "$held" 2>/dev/null
}

# The process saw its device go and gave everything back.
released() {
	local code=0
	wait "$held" || code=$?
	servers=()
	cat "$tmp/hold"
	[ $code -eq 0 ] || { echo "hold ended with $code"; return 1; }
}

device_gone() {
	[ ! -e "/sys/class/infiniband/$1" ]
}

works() {
	limit 60 ip netns exec h1 "$(program data)" -m 1024 -M 100000 rc_send rc_write rc_read >/dev/null
}

again() {
	hosts_down
	hosts_up 1500
	echo 1500 >"$tmp/mtu"
	works
}

# Taking away must not wait for the process: it has a time limit.
link_deleted() { # [-i]
	need_hosts 1500
	hold_device ${1:+"$1"}
	limit 20 rdma link del u1
	device_gone u1
	released
	link_add 1
	link_ready 1
	works
}

peer_link_deleted() {
	need_hosts 1500
	hold_device
	limit 20 rdma link del u2
	released
	link_add 2
	link_ready 2
	works
}

listener_deleted() {
	need_hosts 1500
	rm -f "$ready"
	ip netns exec h1 timeout -k 5 $((100 * slow)) "$hold" -l -r "$ready" >"$tmp/hold" 2>&1 &
	held=$!
	servers+=("$held")
	busywait $((20 * slow)) ready_or_gone
	limit 20 rdma link del u1
	released
	link_add 1
	link_ready 1
	works
}

netdev_deleted() { # [-i]
	need_hosts 1500
	hold_device ${1:+"$1"}
	limit 20 ip -n h1 link del v1
	busywait $((20 * slow)) device_gone u1
	busywait $((20 * slow)) device_gone u2
	released
	again
}

netns_deleted() { # [-i]
	need_hosts 1500
	hold_device ${1:+"$1"}
	ip netns del h1
	busywait $((30 * slow)) device_gone u1
	released
	again
}

netdev_moved() {
	need_hosts 1500
	hold_device
	# a device belongs to the namespace its netdev was in
	limit 20 ip -n h1 link set v1 netns h2
	busywait $((20 * slow)) device_gone u1
	released
	again
}

netdev_down() {
	need_hosts 1500
	ip -n h1 link set v1 down
	busywait 10 port_is u1 DOWN
	ip -n h1 link set v1 up
	# IPv6 addresses go with the link
	ip -n h1 addr replace "fd00::1/64" dev v1 nodad
	busywait 10 port_is u1 ACTIVE
	link_ready 1
	works
}

port_is() {
	rdma link show "$1/1" | grep -q "state $2"
}

loaded() {
	grep -q "^$1 " /proc/modules
}

module_name() {
	case $type in
	rxe) echo rdma_rxe ;;
	*) echo "$type" ;;
	esac
}

unload() {
	limit 30 rmmod "$(module_name)"
	! loaded "$(module_name)" || fail "still loaded"
	! loaded uet_dp || limit 30 rmmod uet_dp
}

module_unloaded() { # [-i]
	need_hosts 1500
	loaded "$(module_name)" || skip "$type is built in"
	hold_device ${1:+"$1"}
	unload
	device_gone u1
	device_gone u2
	released
	modprobe "$(module_name)"
	link_add 1
	link_add 2
	link_ready 1
	link_ready 2
	works
}

# "rdma link add" alone, with neither module there
autoloaded() {
	need_hosts 1500
	loaded "$(module_name)" || skip "$type is built in"
	unload
	! loaded uet_dp || fail "uet_dp is still loaded"
	link_add 1
	loaded "$(module_name)" || fail "not loaded"
	link_add 2
	link_ready 1
	link_ready 2
	works
}

# Objects of processes that are gone: none. The kernel's own (QP 1) stay.
objects_left() {
	rdma -j res show qp | jq '[.[] | select(.pid)] | length'
}

no_objects_left() {
	[ "$(objects_left)" = 0 ]
}

killed() { # ROUNDS
	local round
	need_hosts 1500
	for ((round = 0; round < $1; round++)); do
		hold_device
		# anywhere in its traffic
		read -rt "0.0$((RANDOM % 10))" <> <(:) || :
		pkill -9 -P "$held"
		wait "$held" || :
		servers=()
		busywait $((10 * slow)) no_objects_left
	done
	works
}

# Before it is ready, too
killed_early() { # ROUNDS
	local round pid
	need_hosts 1500
	for ((round = 0; round < $1; round++)); do
		"$hold" >/dev/null 2>&1 &
		pid=$!
		read -rt "0.0$((RANDOM % 10))$((RANDOM % 10))" <> <(:) || :
		kill -9 $pid
		wait $pid || :
		busywait $((10 * slow)) no_objects_left
	done
	works
}

add_delete() { # ROUNDS
	local round
	need_hosts 1500
	for ((round = 0; round < $1; round++)); do
		rdma link del u1
		link_add 1
	done
	link_ready 1
	works
}

# Two at once who take the same thing away
raced() { # ROUNDS
	local round pid
	need_hosts 1500
	for ((round = 0; round < $1; round++)); do
		hold_device
		rdma link del u1 &
		pid=$!
		ip -n h1 link del v1
		wait $pid || :
		busywait $((20 * slow)) device_gone u1
		released
		hosts_down
		hosts_up 1500
	done
	works
}

# Traffic, and any of the above in any order
mixed() { # ROUNDS
	local round
	need_hosts 1500
	for ((round = 0; round < $1; round++)); do
		echo "round $round"
		case $((RANDOM % 5)) in
		0) killed 1 ;;
		1) link_deleted "" ;;
		2) netdev_deleted "" ;;
		3) peer_link_deleted ;;
		4) ! loaded "$(module_name)" || module_unloaded "" ;;
		esac >"$tmp/mixed" 2>&1 || { cat "$tmp/mixed"; return 1; }
	done
}

check "link deleted under traffic" link_deleted
check "link deleted while idle" link_deleted -i
check "link of the peer deleted under traffic" peer_link_deleted
check "link deleted with an rdma_cm listener" listener_deleted
check "netdev deleted under traffic" netdev_deleted
check "netdev deleted while idle" netdev_deleted -i
check "namespace deleted under traffic" netns_deleted
check "namespace deleted while idle" netns_deleted -i
check "netdev moved to another namespace" netdev_moved
check "netdev down and up" netdev_down
check "modules unloaded under traffic (OBJ-10)" module_unloaded
check "modules unloaded while idle" module_unloaded -i
check "modules loaded by adding a link" autoloaded
check "process killed under traffic, ${rounds[0]} rounds" killed "${rounds[0]}"
check "process killed at its start, ${rounds[1]} rounds" killed_early "${rounds[1]}"
check "link added and deleted, ${rounds[2]} rounds" add_delete "${rounds[2]}"
check "link and netdev deleted at once, ${rounds[3]} rounds" raced "${rounds[3]}"
check "traffic, kill, delete, unload in any order, ${rounds[4]} rounds" mixed "${rounds[4]}"

run_checks
