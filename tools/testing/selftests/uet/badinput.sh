#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Wrong input of every kind (badinput.c): a clear error each time, no complaint of the
# kernel, and a process that uses the same devices meanwhile does not notice.
# Netlink input is netlink.sh's.
#
# guests: uml uml-kasan
# guests-long: uml uml-kasan qemu-debug
# single: uml
# timeout: 1500

. "$(dirname "$(readlink -f "$0")")/lib.sh"

badinput=$(program badinput) || exit 1
rounds=100
[ -z "$long" ] || rounds=3000
[ $slow -eq 1 ] || [ -n "$long" ] || rounds=40
[ $slow -le 5 ] || rounds=20

try() { # FAMILY TEST...
	local family=$1
	shift
	need_hosts 1500
	limit 100 "$badinput" -a u1 -A "$(address 1 "$family")" -b u2 -B "$(address 2 "$family")" \
		-n $rounds -w $((20 * slow)) "$@"
}

# add WORD WHY ARGUMENT...: rdma link add is refused, and the kernel's log says why
refused_link() {
	local log=$1 command=$2 lines
	shift 2
	kmsg "refused link $*"
	if "$command" rdma link add "$@"; then
		rdma link del "$1" || :
		fail "rdma link add $* was accepted"
	fi
	lines=$(dmesg | sed "1,/uet-test: refused link $*/d")
	echo "$lines"
	[ -z "$log" ] || grep -qE "$log" <<<"$lines" ||
		fail "the log does not say why ($log)"
}

links() {
	local here=env host=h1_exec
	need_hosts 1500
	refused_link '' $here x1 type "$type" netdev nosuch
	refused_link 'Ethernet' $here x1 type "$type" netdev lo
	refused_link '' $host u1 type "$type" netdev v1
	refused_link '(already|in use|has a)' $host u9 type "$type" netdev v1
	small_mtu
	ip tuntap add dev tun9 mode tun
	refused_link 'Ethernet' $here x1 type "$type" netdev tun9
	ip link del tun9
	on_host 1 rdma link show u1/1 | grep -q ACTIVE
}

# No packet of UET fits: the link is refused, or is there with its port down.
small_mtu() {
	ip link add mini mtu 1000 type dummy
	ip link set mini up
	if rdma link add x1 type "$type" netdev mini; then
		rdma link show x1/1
		[[ $(rdma link show x1/1) != *ACTIVE* ]]
	fi
	ip link del mini
}

h1_exec() {
	ip netns exec h1 "$@"
}

generic=(sizes memory modify address post local remote length datagram peer commands)
special=()
[ "$type" != uet ] || special=(udata handles doorbell mmap rings scribble)

check "rdma link add of what cannot be" links
for test in "${generic[@]}" "${special[@]}"; do
	check "$test" try 4 "$test"
done
check "modify, address, remote, datagram and peer, IPv6" try 6 modify address remote datagram peer

run_checks
