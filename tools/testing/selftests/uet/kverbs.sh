#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# What the kernel itself does with the device: the module uet_test posts requests,
# registers memory and takes QPs down as NVMe over Fabrics and other users in the
# kernel do (module/*.c), between two devices, and to an own address. MEM-12 and
# OBJ-12 are entries of the list that fieldbugs.sh is about.
#
# guests: uml
# guests-long: uml uml-kasan qemu qemu-debug
# single: uml
# timeout: 600

. "$(dirname "$(readlink -f "$0")")/lib.sh"

control=/sys/kernel/debug/uet_test/run
modprobe -q uet_test || [ -e $control ] || skip_all "no module uet_test"
[ -e $control ] || skip_all "no debugfs"

# These guests are there for what their kernels see, not for how often, and so many
# pairs of QPs that never rest would not let the slow ones get to anything else.
share=4 pairs=4
[ -z "$long" ] || share=40
[ $slow -eq 1 ] || share=1 pairs=1

# Write what the module is to do, and show what it has to say.
ask() { # TEST DEVICE DEVICE ROUNDS
	if echo "$*" 2>"$tmp/refused" >$control; then
		cat $control
	else
		cat $control "$tmp/refused"
		return 1
	fi
}

# QPs of the module
kernel_qps() {
	rdma res show qp | grep -F '[uet_test]'
}

nothing_left() {
	! kernel_qps || fail "these QPs are left behind"
}

test_in_kernel() { # TEST DEVICE DEVICE ROUNDS
	need_hosts 1500
	ask "$@"
	nothing_left
}

# Between two hosts, and of one host to itself
both_ways() { # TEST [ROUNDS]
	test_in_kernel "$1" u1 u2 "${2:-1}"
	echo "u1 to itself:"
	test_in_kernel "$1" u1 u1 "${2:-1}"
}

sent() { # DEVICE MESSAGES
	[ "$(counter "$1" tx_msgs)" -ge "$2" ]
}

# Leaves QPs in the kernel that are never idle.
traffic() { # DEVICE DEVICE
	local before
	need_hosts 1500
	before=$(counter "$1" tx_msgs)
	ask traffic_start "$1" "$2" $pairs
	busywait $((10 * slow)) sent "$1" $((before + 100))
	ask traffic_runs - - 0
	kernel_qps >"$tmp/qps" || fail "no QPs of the module are seen"
}

traffic_ended() {
	ask traffic_ended - - 0
	nothing_left
}

# The device goes from under its users, either of the two, and of both at once.
link_goes() {
	local round device
	for ((round = 0; round < (share + 3) / 4; round++)); do
		for device in u1 u2; do
			traffic u1 u2
			limit 20 rdma link del $device
			traffic_ended
			forget_hosts
		done
		traffic u1 u1
		limit 20 rdma link del u1
		traffic_ended
		forget_hosts
	done
}

netdev_goes() {
	traffic u1 u2
	limit 20 ip -n h1 link del v1
	busywait $((20 * slow)) device_gone u1
	busywait $((20 * slow)) traffic_ended
	forget_hosts
}

device_gone() {
	[ ! -e "/sys/class/infiniband/$1" ]
}

driver_goes() {
	traffic u1 u2
	limit 20 rmmod uet
	traffic_ended
	modprobe uet
	forget_hosts
}

user_goes() {
	traffic u1 u2
	limit 20 rmmod uet_test
	nothing_left
	modprobe uet_test
	test_in_kernel contexts u1 u2 1
}

check "lists of mixed entries are byte-exact (MEM-12)" both_ways sges $((15 * share))
check "a bad entry at any position (MEM-12)" both_ways sges_bad
check "chains from threads, freed by their handlers (OBJ-12)" both_ways chains $((25 * share))
check "fast registration of as many pages as there may be" both_ways frwr_limit
check "keys of fast registration come and go" both_ways frwr_keys $((8 * share))
check "rights of fast registration" both_ways frwr_rights
check "memory mapped before the last is invalidated" both_ways frwr_next $((3 * share))
check "QPs drained with work under way" both_ways drain $((4 * share))
check "QPs of an SRQ drained with work under way" both_ways drain_srq $((4 * share))
check "posting from any context, completing in any" both_ways contexts $((5 * share))
check "the device goes under kernel users" link_goes
check "the netdev goes under kernel users" netdev_goes
check "the driver goes under kernel users" driver_goes
check "a kernel user goes" user_goes
run_checks
