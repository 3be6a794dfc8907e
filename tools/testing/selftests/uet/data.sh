#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Every operation in every size with an edge, over IPv4 and IPv6, MTU 1500 and 9000,
# to the other host and to the own address, compared byte for byte (data.c).
#
# guests: uml
# guests-long: uml uml-kasan qemu qemu-debug
# single: uml
# timeout: 1500

. "$(dirname "$(readlink -f "$0")")/lib.sh"

data=$(program data) || exit 1
largest=$((16 * 1024 * 1024 + 3))
[ $slow -eq 1 ] || [ -n "$long" ] || largest=$((1024 * 1024))

# move MTU FAMILY PEER OPTION... TEST...; PEER 1 is the own address
move() {
	local mtu=$1 family=$2 peer=$3 edges=1024
	shift 3
	need_hosts "$mtu"
	[ "$mtu" -lt 9000 ] || edges=4096,8192
	limit 120 "$data" -a u1 -A "$(address 1 "$family")" -b "u$peer" \
		-B "$(address "$peer" "$family")" -m $edges -M $largest -w $((20 * slow)) "$@"
}

# The same with bursts off, as a capture or netem wants it
move_singly() {
	need_hosts "$1"
	gso_max_segs 1
	move "$@"
	gso_max_segs 65535
}

# PDCs that close as soon as they are idle, and are opened again by the next message
closing() { # MILLISECONDS
	local host code=0
	need_hosts 1500
	for host in 1 2; do
		uet -n h$host dev set u$host pdc-idle "$1"
	done
	move 1500 4 2 -M 100000 -n 20 rc_64_qps rc_mix rc_64_qps ru_mix rc_order rc_64_qps || code=$?
	for host in 1 2; do
		uet -n h$host dev set u$host pdc-idle 10000
	done
	return $code
}

# The wire is cut for a while, under an unreliable connection.
unheard() {
	local code=0
	need_hosts 1500
	netem_on loss 0%
	move 1500 4 2 -x "tc -n h1 qdisc change dev v1 root netem loss 100%" \
		-y "tc -n h1 qdisc change dev v1 root netem loss 0%" uc_silent || code=$?
	netem_off
	return $code
}

# What rdma_cm asks for goes by the MTU of the netdev, not by what the device uses.
cm_mtu() {
	local host code=0
	need_hosts 9000
	for host in 1 2; do
		uet -n h$host dev set u$host payload-mtu 1024
	done
	serve 2 cm:7174 rping -s -a "$(address 2 4)" -p 7174 -C 3 &&
		limit 20 ip netns exec h1 rping -c -a "$(address 2 4)" -p 7174 -C 3 &&
		served || code=$?
	for host in 1 2; do
		uet -n h$host dev set u$host payload-mtu 8192
	done
	return $code
}

# Hosts whose packets differ in size; who reads from whom
mixed_mtu() { # HOST-OF-SMALL-PACKETS
	local code=0
	need_hosts 9000
	uet -n "h$1" dev set "u$1" payload-mtu 1024
	move 9000 4 2 "${options[@]}" rc_read rc_mix ru_read ru_mix || code=$?
	uet -n "h$1" dev set "u$1" payload-mtu 8192
	return $code
}

ops=(rc_send rc_send_imm rc_write rc_write_imm rc_read ud_send)
[ "$type" != uet ] || ops+=(uc_send uc_send_imm uc_write uc_write_imm ru_send ru_send_imm ru_write ru_write_imm ru_read)
extra=(rc_post_in_poll rc_inline rc_builder rc_unsignalled rc_queue_full rc_solicited rc_rnr rc_late_peer rc_fence
	rc_order rc_mix rc_64_qps ud_builder ud_reply ud_dropped)
[ "$type" != uet ] || extra+=(ru_mix ru_rnr ru_too_long rc_sqd_rights uc_builder uc_bad_key uc_bad_key_imm uc_no_right
	uc_no_buffer uc_too_long uc_mix uc_no_reads uc_own_fault uc_peer_gone)

if [ $slow -eq 1 ] || { [ -n "$long" ] && [ $slow -le 6 ]; }; then
	matrix=("1500 4" "1500 6" "9000 4" "9000 6")
else
	matrix=("1500 4" "9000 6")
fi
options=()
[ -z "$long" ] || options=(-s -n 1000)
[ $slow -le 5 ] || options=(-n 10)

for where in "${matrix[@]}"; do
	read -r mtu family <<<"$where"
	for op in "${ops[@]}"; do
		check "$op, MTU $mtu, IPv$family" move "$mtu" "$family" 2 "${options[@]}" "$op"
	done
	[ "$where" != "${matrix[0]}" ] ||
		for test in "${extra[@]}"; do
			check "$test" move "$mtu" "$family" 2 "${options[@]}" "$test"
		done
done
for op in "${ops[@]}" rc_mix; do
	check "$op, to the own address" move 9000 4 1 "${options[@]}" "$op"
done
check "RC and UD, to the own address, IPv6" move 9000 6 1 "${options[@]}" rc_write rc_read ud_send
check "rc_mix and rc_64_qps, MTU 9000" move 9000 4 2 "${options[@]}" rc_mix rc_64_qps
check "each operation without bursts" move_singly 9000 4 2 "${options[@]}" "${ops[@]}"
if [ "$type" = uet ]; then
	check "the other host's packets are smaller" mixed_mtu 2
	check "this host's packets are smaller" mixed_mtu 1
	check "uc_silent" unheard
	check "rdma_cm with packets smaller than the MTU allows" cm_mtu
	check "PDCs closed after 10 ms" closing 10
	check "PDCs closed after 100 ms" closing 100
fi
[ $slow -ne 1 ] ||
	check "each operation, polling" move 9000 4 2 -p "${options[@]}" "${ops[@]}" rc_mix

run_checks
