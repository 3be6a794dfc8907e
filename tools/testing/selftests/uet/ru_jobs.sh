#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Jobs on the wire (ru_jobs.c): relative and absolute addressing, what outsiders are
# told, what travels with a request, PDCs to one peer; and the local filter, which keeps
# everybody but the driver from the UET port.
#
# guests: uml uml-kasan
# guests-long: uml uml-kasan qemu qemu-debug
# single: uml
# timeout: 1200

. "$(dirname "$(readlink -f "$0")")/lib.sh"

[ "$type" = uet ] || skip_all "needs uet"
jobs=$(program ru_jobs) || exit 1

run() { # MTU FAMILY TEST
	need_hosts "$1"
	limit 100 "$jobs" -A "$(address 1 "$2")" -B "$(address 2 "$2")" -w $((20 * slow)) \
		-f "$here/ru_forge.py" "$3"
}

lossy() { # TEST
	local code=0
	need_hosts 1500
	netem_on loss 1% delay 1ms
	run 1500 4 "$1" || code=$?
	netem_off
	return $code
}

# forge HOST EXIT-CODE ARG...: 3 is "not let out"
forge() {
	local host=$1 want=$2 code=0
	shift 2
	on_host "$host" python3 "$here/ru_forge.py" "$@" || code=$?
	[ $code = "$want" ] || fail "ended with $code, not $want: $*"
}

# counts DEVICE BY COMMAND...
counts() {
	local device=$1 by=$2 before
	shift 2
	before=$(counter "$device" drop_local)
	"$@"
	before=$(($(counter "$device" drop_local) - before))
	[ $before = "$by" ] || fail "drop_local of $device rose by $before, not $by"
}

from_h1=(-s 10.0.0.1 -d 10.0.0.2)
from_h1_6=(-s fd00::1 -d fd00::2)

# every kind of socket, to the other host and to itself
filtered() {
	local how
	need_hosts 1500
	for how in udp raw fragments; do
		counts u1 1 forge 1 3 "${from_h1[@]}" --how $how
		counts u1 1 forge 1 3 -s 10.0.0.1 -d 10.0.0.1 --how $how
	done
	counts u1 1 forge 1 3 -s 127.0.0.1 -d 10.0.0.1
	for how in udp extension; do
		counts u1 1 forge 1 3 "${from_h1_6[@]}" --how $how
		counts u1 1 forge 1 3 -s fd00::1 -d fd00::1 --how $how
	done
}

as_user() {
	need_hosts 1500
	counts u1 1 user_forges
}

user_forges() {
	local code=0
	on_host 1 setpriv --reuid 1000 --regid 1000 --clear-groups \
		python3 "$here/ru_forge.py" "${from_h1[@]}" || code=$?
	[ $code = 3 ] || fail "ended with $code"
}

# For a wire pair that nobody has
arrived() {
	counter u2 refused_no_ep
}

# The same packets get out and arrive while it is off.
switched_off() {
	local how before code=0
	need_hosts 1500
	uet -n h1 dev set u1 local-filter off
	before=$(arrived)
	for how in udp raw fragments; do
		counts u1 0 forge 1 0 "${from_h1[@]}" --how $how || code=1
	done
	counts u1 0 forge 1 0 "${from_h1_6[@]}" || code=1
	uet -n h1 dev set u1 local-filter on
	[ $code = 0 ] && busywait $((5 * slow)) rose "$before" 4 && counts u1 1 forge 1 3 "${from_h1[@]}"
}

rose() { # FROM BY
	[ "$(arrived)" -ge $(($1 + $2)) ]
}

# Other ports are nobody's business, nor is a namespace without devices.
others_pass() {
	need_hosts 1500
	counts u1 0 on_host 1 python3 -c '
import socket
for family, peer in ((socket.AF_INET, "10.0.0.2"), (socket.AF_INET6, "fd00::2")):
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        for port in 4792, 4794, 4791:
            sock.sendto(b"x" * 64, (peer, port))
            sock.sendto(b"x" * 3000, (peer, port))'
	ip netns add h3
	ip -n h3 link set lo up
	forge 3 0 -s 127.0.0.1 -d 127.0.0.1 || { ip netns del h3; return 1; }
	ip netns del h3
}

# Through a device that does not speak UET: no, unless all filters are off.
around() {
	local code=0
	need_hosts 1500
	ip link add w1 netns h1 type veth peer name w2 netns h2
	ip -n h1 addr add 10.1.0.1/24 dev w1
	ip -n h2 addr add 10.1.0.2/24 dev w2
	ip -n h1 link set w1 up
	ip -n h2 link set w2 up
	counts u1 0 forge 1 3 -s 10.1.0.1 -d 10.1.0.2 || code=1
	uet -n h1 dev set u1 local-filter off
	forge 1 0 -s 10.1.0.1 -d 10.1.0.2 || code=1
	uet -n h1 dev set u1 local-filter on
	ip -n h1 link del w1
	return $code
}

for family in 4 6; do
	for test in apart refused ops; do
		check "$test, IPv$family" run 1500 $family $test
	done
done
check "ops, MTU 9000" run 9000 4 ops
check "ops, 1 % loss" lossy ops
check "apart, 1 % loss" lossy apart
check "short messages pass long ones" run 1500 4 passes
[ "${UET_BURSTS:-on}" = off ] || check "messages leave together" run 1500 4 together
check "an outsider guesses" run 1500 4 forged
check "a reader takes nothing" run 1500 4 greedy
check "a packet of the connection before" run 1500 4 late
check "local filter: every socket" filtered
check "local filter: an ordinary user" as_user
check "local filter: off and on" switched_off
check "local filter: others pass" others_pass
check "local filter: around the device" around

run_checks
