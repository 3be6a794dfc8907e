#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# A device moved between network namespaces where each namespace has devices of its own
# ("rdma system set netns exclusive"): where it is seen, what becomes of programs that
# have it open, and that it works where it is.
#
# guests: uml
# guests-long: uml uml-kasan qemu
# timeout: 300

. "$(dirname "$(readlink -f "$0")")/lib.sh"

hold=$(program hold) || exit 1
placing=$(program placing) || exit 1
ready=$tmp/ready

# The mode cannot change while there are other namespaces.
exclusive() {
	rdma system set netns exclusive
	ip link add p9 mtu 1500 type veth peer name q9 mtu 1500
	ip addr add 10.0.0.9/24 dev p9
	ip link set p9 up
	ip link set q9 up
	rdma link add u9 type uet netdev p9
	busywait 10 device_ready u9 10.0.0.9
	ip netns attach first $$
	ip netns add inner
	ip netns add other
}

# By programs in the namespace of the device: the device to itself.
works_in() { # [NAMESPACE]
	local in=()
	[ $# -eq 0 ] || in=(ip netns exec "$1")
	limit 60 "${in[@]}" "$placing" -a u9 -A 10.0.0.9 -b u9 -B 10.0.0.9 -n 50 \
		-w $((10 * slow)) atomic_values flush
}

seen_in() { # NAMESPACE
	ip netns exec "$1" rdma dev show u9 >/dev/null 2>&1
}

seen_here() {
	rdma dev show u9 >/dev/null 2>&1
}

set_up() {
	exclusive
	seen_here
	if seen_in inner; then
		fail "seen in another namespace"
	fi
	works_in
}

moved() {
	rdma dev set u9 netns inner
	if seen_here; then
		fail "still seen where it was"
	fi
	seen_in inner
	# Settings stay where the interface is.
	uet dev | grep -q u9 || fail "the uet command does not see it any more"
	if ip netns exec inner uet dev | grep -q u9; then
		fail "the uet command sees it in the other namespace"
	fi
	works_in inner
}

and_back() {
	ip netns exec inner rdma dev set u9 netns first
	seen_here
	if seen_in inner; then
		fail "still seen where it was"
	fi
	works_in
}

# As if the device had been taken away.
while_in_use() {
	local pid
	rm -f "$ready"
	timeout -k 5 $((60 * slow)) "$hold" -a u9 -A 10.0.0.9 -b u9 -B 10.0.0.9 -r "$ready" >"$tmp/hold" 2>&1 &
	pid=$!
	servers+=("$pid")
	busywait $((20 * slow)) test -e "$ready"
	rdma dev set u9 netns inner
	wait "$pid" || { cat "$tmp/hold"; return 1; }
	works_in inner
}

# Kernels of the 6 series have one list of names for all namespaces.
name_taken() {
	local major added='' error
	major=$(uname -r | cut -d. -f1)
	ip netns exec other ip link add p8 type veth peer name q8
	ip netns exec other ip link set p8 up
	! error=$(ip netns exec other rdma link add u9 type uet netdev p8 2>&1) || added=1
	[ -n "$added" ] || { [ "$major" -lt 7 ] && [[ $error = *"File exists"* ]]; } ||
		fail "no device u9 in another namespace: $error"
	if [ -n "$added" ] && ip netns exec inner rdma dev set u9 netns other 2>/dev/null; then
		fail "two devices of one name"
	fi
	seen_in inner
	works_in inner
	[ -z "$added" ] || ip netns exec other rdma link del u9
}

# A device whose namespace ends comes back to the first one.
namespace_deleted() {
	ip netns del inner
	busywait $((20 * slow)) seen_here
	works_in
}

shared() {
	rdma link del u9
	ip link del p9
	ip netns del other
	busywait $((20 * slow)) rdma system set netns shared
}

check "a device, seen in its namespace only" set_up
check "moved into another namespace" moved
check "moved back" and_back
check "moved while a program uses it" while_in_use
check "a name that is taken" name_taken
check "its namespace is deleted" namespace_deleted
check "end" shared
run_checks
