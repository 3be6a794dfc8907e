#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Addresses of VLAN interfaces: they belong to the device of the interface below, and
# their packets carry the tag.
#
# guests: uml
# guests-long: uml qemu
# timeout: 300

. "$(dirname "$(readlink -f "$0")")/lib.sh"

data=$(program data) || exit 1

vlans() {
	local host
	need_hosts 1500
	for host in 1 2; do
		[ ! -e "/sys/class/net/v$host.5" ] || continue
		ip -n h$host link add link v$host name v$host.5 type vlan id 5 || return 1
		ip -n h$host addr add 10.5.0.$host/24 dev v$host.5
		ip -n h$host addr add fd05::$host/64 dev v$host.5 nodad
		ip -n h$host link set v$host.5 up
	done
	busywait $((10 * slow)) gids_are_there 1
	busywait $((10 * slow)) gids_are_there 2
}

gids_are_there() { # HOST
	local gids=/sys/class/infiniband/u$1/ports/1/gids
	# Entries that are free cannot be read: grep's exit code says nothing.
	[ "$(grep -hsxE "(0000:){5}ffff:0a05:000$1|fd05:(0000:){6}000$1" "$gids"/* | sort -u | wc -l)" -eq 2 ]
}

sent() { # HOST INTERFACE: packets
	ip -n "h$1" -j -s link show "$2" | jq '.[0].stats64.tx.packets'
}

# All that is sent is sent by the VLAN.
tagged() { # PREFIX
	local before after
	before=$(sent 1 v1.5)
	limit 60 "$data" -a u1 -A "$1"1 -b u2 -B "$1"2 -m 1024 -M 100000 -n 20 -w $((20 * slow)) \
		rc_send rc_write rc_read ud_send ru_send || return 1
	after=$(sent 1 v1.5)
	[ $((after - before)) -gt 100 ] || fail "$((after - before)) packets with a tag"
}

over_cm() {
	serve 2 cm:7174 rping -s -a 10.5.0.2 -C 10 -p 7174
	on_host 1 timeout $((30 * slow)) rping -c -a 10.5.0.2 -C 10 -p 7174
	served
}

# Those of the interface below still go without.
untagged() {
	local before after
	before=$(sent 1 v1.5)
	limit 60 "$data" -a u1 -A 10.0.0.1 -b u2 -B 10.0.0.2 -m 1024 -M 100000 -n 20 \
		-w $((20 * slow)) rc_send rc_read || return 1
	after=$(sent 1 v1.5)
	[ $((after - before)) -lt 20 ] || fail "$((after - before)) packets with a tag"
}

refused() {
	local out
	if out=$(ip netns exec h1 rdma link add u5 type uet netdev v1.5 2>&1); then
		fail "a link on a VLAN interface"
	fi
	echo "$out"
	dmesg | grep -q 'v1.5 is a VLAN; add the link to v1'
}

check "VLANs" vlans
check "IPv4" tagged 10.5.0.
check "IPv6" tagged fd05::
check "rdma_cm" over_cm
check "without a tag" untagged
check "a link on a VLAN interface" refused
run_checks
