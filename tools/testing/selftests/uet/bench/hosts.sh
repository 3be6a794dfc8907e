# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# Sourced by bench.sh: two hosts with a veth pair for each driver, since rdma_cm finds
# a device by its address.

# Network n of each driver: 10.0.n.1 and 10.0.n.2 on DRIVER1 and DRIVER2
network_of() {
	case $1 in
	uet) echo 1 ;;
	rxe) echo 2 ;;
	siw) echo 3 ;;
	tcp) echo 4 ;;
	esac
}

bench_address() { # DRIVER HOST
	echo "10.0.$(network_of "$1").$2"
}

networks_up() { # MTU
	local driver host
	ip netns add h1
	ip netns add h2
	for driver in "${drivers[@]}"; do
		ip link add "${driver}1" mtu "$1" netns h1 type veth \
			peer name "${driver}2" mtu "$1" netns h2
		for host in 1 2; do
			ip -n h$host addr add "$(bench_address "$driver" $host)/24" dev "$driver$host"
			ip -n h$host link set "$driver$host" up
			ip -n h$host link set lo up
		done
	done
	for driver in "${drivers[@]}"; do
		[ "$driver" != tcp ] || continue
		for host in 1 2; do
			ip netns exec h$host rdma link add "$driver$host" type "$driver" netdev "$driver$host"
			busywait 10 active "$driver$host" || return
		done
	done
}

active() {
	rdma link show "$1/1" | grep -q 'state ACTIVE'
}

networks_down() {
	local driver host
	for driver in "${drivers[@]}"; do
		for host in 1 2; do
			[ ! -e "/sys/class/infiniband/$driver$host" ] || rdma link del "$driver$host"
		done
		ip -n h1 link del "${driver}1" 2>/dev/null
	done
	ip netns del h1 2>/dev/null
	ip netns del h2 2>/dev/null
}

# A variant of a driver is a setting of both hosts: its name, and what puts it back.
variant_on() { # DRIVER VARIANT
	local host
	for host in 1 2; do
		case $2 in
		nogso) ip -n h$host link set "$1$host" gso_max_segs 1 ;;
		crc) uet -n h$host dev set "$1$host" crc on ;;
		esac || return
	done
}

variant_off() { # DRIVER VARIANT
	local host
	for host in 1 2; do
		case $2 in
		nogso) ip -n h$host link set "$1$host" gso_max_segs 65535 ;;
		crc) uet -n h$host dev set "$1$host" crc off ;;
		esac || return
	done
}

# Does this driver, as it was built, have the variant?
variant_known() { # VARIANT
	[ "$1" != crc ] || uet dev set help 2>/dev/null | grep -qw crc
}
