#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# What tcpdump sees while data moves, checked packet by packet with a decoder
# written from the description of the wire format (wire_decode.py), which is itself
# tested first. Without bursts, so that each captured packet is one of the wire.
#
# guests: uml
# guests-long: uml uml-kasan
# timeout: 1500

. "$(dirname "$(readlink -f "$0")")/lib.sh"

[ "$type" = uet ] || skip_all "there are no UET packets on $type"

# Hosts joined by a bridge, so that loss happens behind both captures: each sees all
# that its host sent.
bridged_hosts() { # MTU
	local host
	netns_up "$1"
	ip netns add wire
	ip -n wire link add br0 mtu "$1" type bridge
	ip -n wire link set br0 up
	for host in 1 2; do
		ip -n h$host link del v$host 2>/dev/null || :
		ip link add v$host mtu "$1" netns h$host type veth peer name b$host mtu "$1" netns wire
		ip -n wire link set b$host master br0 up
		ip -n h$host addr add "10.0.0.$host/24" dev v$host
		ip -n h$host addr add "fd00::$host/64" dev v$host nodad
		ip -n h$host link set v$host up
	done
	busywait 10 link_is_up 1
	busywait 10 link_is_up 2
	link_add 1
	link_add 2
	link_ready 1
	link_ready 2
	uet -n h1 dev set u1 pdc-idle 500
	uet -n h2 dev set u2 pdc-idle 500
	gso_max_segs 1
}

bridged_down() {
	hosts_down
	ip netns del wire 2>/dev/null || :
}

also_clean_up() {
	bridged_down
}

need_bridged() { # MTU
	[ "$(cat "$tmp/wire" 2>/dev/null)" != "$1" ] || return 0
	bridged_down
	rm -f "$tmp/wire"
	bridged_hosts "$1"
	echo "$1" >"$tmp/wire"
}

sniffers=()
capturing() {
	grep -qs 'listening on' "$tmp/sniff1" && grep -qs 'listening on' "$tmp/sniff2"
}

capture_start() {
	local host
	for host in 1 2; do
		rm -f "$tmp/sniff$host"
		ip netns exec h$host tcpdump -i v$host -Q out -s 0 -B 65536 -U \
			--time-stamp-precision nano -w "$tmp/v$host.pcap" \
			'udp port 4793 or icmp or icmp6' 2>"$tmp/sniff$host" &
		sniffers+=($!)
	done
	busywait 10 capturing
}

# tcpdump stops without reading what is still in its buffer: a ping with a known pattern
# comes last. Packets that the kernel could not give to it would look like gaps.
capture_stop() {
	local code=0
	busywait $((10 * slow)) marked || code=1
	kill -INT "${sniffers[@]}"
	wait "${sniffers[@]}" || :
	sniffers=()
	[ $code = 0 ] && ! grep -E '^[1-9][0-9]* packets? dropped by kernel' "$tmp"/sniff[12]
}

# The ping may get lost itself.
marked() {
	on_host 1 ping -q -c 1 -W 1 -p feedface600dcafe 10.0.0.2 >/dev/null || :
	captured 1 && captured 2
}

captured() { # HOST
	LC_ALL=C grep -qaP '\xfe\xed\xfa\xce\x60\x0d\xca\xfe' "$tmp/v$1.pcap"
}

no_pdcs() {
	[ "$(uet -n h1 -j pdc show)$(uet -n h2 -j pdc show)" = "[][]" ]
}

# seen DECODER-OPTION... -- COMMAND...: capture while COMMAND runs, check all
seen() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	capture_start
	"$@" || { capture_stop; return 1; }
	# idle PDCs are closed: the capture has all of their life
	busywait $((20 * slow)) no_pdcs || { uet -n h1 pdc show; uet -n h2 pdc show; }
	capture_stop
	python3 "$here/wire_decode.py" "${options[@]}" "$tmp/v1.pcap" "$tmp/v2.pcap"
}

data=$(program data) || exit 1
jobs=$(program ru_jobs) || exit 1

# ops MTU FAMILY PAYLOAD-MTU TEST...: each operation, messages up to 100000 bytes
ops() {
	local mtu=$1 family=$2 payload=$3
	shift 3
	need_bridged "$mtu"
	seen --mtu "$payload" -- limit 60 "$data" -a u1 -A "$(address 1 "$family")" -b u2 \
		-B "$(address 2 "$family")" -m "$payload" -M 100000 -n 6 -w $((20 * slow)) "$@"
}

lossy() { # NETEM-ARGUMENTS TEST...
	local arguments dev failed
	read -ra arguments <<<"$1"
	shift
	need_bridged 1500
	for dev in b1 b2; do
		tc -n wire qdisc replace dev $dev root netem limit 100000 "${arguments[@]}"
	done
	failed=$(both_counters pdc_failed)
	# an answer may get lost until the budget of the connection is used up
	seen --mtu 1024 -- limit 120 "$data" -m 1024 -M 100000 -n 6 -w $((30 * slow)) "$@"
	for dev in b1 b2; do
		tc -n wire qdisc del dev $dev root
	done
	failed=$(($(both_counters pdc_failed) - failed))
	echo "# $failed PDCs failed"
	[ $failed = 0 ]
}

pingpong() { # PROGRAM FAMILY
	need_bridged 1500
	seen --mtu 1024 -- pair tcp:18515 "$2" -g "$1" -n 100 -s 1000 -c
}

# Some of the program's messages may be under way when it ends.
connected() { # FAMILY
	need_bridged 1500
	seen --mtu 1024 --partial -- rping_pair "$1"
}

rping_pair() {
	serve 1 cm:7174 rping -s -a "$(address 1 "$1")" -C 20 -S 5000 -V
	limit 60 ip netns exec h2 rping -c -a "$(address 1 "$1")" -I "$(address 2 "$1")" -C 20 -S 5000 -V
	served
}

# Messages of jobs: some relative, some not, some with the wish for delivery
in_jobs() { # TEST
	need_bridged 1500
	local code=0
	seen --mtu 1024 -- limit 60 "$jobs" -w $((20 * slow)) "$1" >"$tmp/jobs" || code=$?
	cat "$tmp/jobs"
	[ $code = 0 ] || return $code
	grep -qE 'relative [1-9][0-9]*, in a job [1-9]' "$tmp/jobs"
	[ "$1" != ops ] || grep -qE 'with DC [1-9]' "$tmp/jobs"
}

# Refused requests, and receivers that are not ready
refused() {
	need_bridged 1500
	seen --mtu 1024 --partial -- limit 60 "$(program badinput)" remote
}

# The same with the CRC trailer on every packet
trailers() { # MTU FAMILY PAYLOAD-MTU TEST...
	local mtu=$1 family=$2 payload=$3 code=0
	shift 3
	need_bridged "$mtu"
	uet -n h1 dev set u1 crc on
	uet -n h2 dev set u2 crc on
	seen --crc --mtu "$payload" -- limit 60 "$data" -a u1 -A "$(address 1 "$family")" -b u2 \
		-B "$(address 2 "$family")" -m "$payload" -M 30000 -n 4 -w $((20 * slow)) "$@" || code=$?
	uet -n h1 dev set u1 crc off
	uet -n h2 dev set u2 crc off
	return $code
}

rc=(rc_send rc_send_imm rc_write rc_write_imm rc_read)
ru=(ru_send ru_send_imm ru_write ru_write_imm ru_read)

check "the decoder accepts golden vectors and finds mutated ones" python3 "$here/wire_selftest.py"
for family in 4 6; do
	check "RC, MTU 1500, IPv$family" ops 1500 "$family" 1024 "${rc[@]}"
	check "RU, MTU 1500, IPv$family" ops 1500 "$family" 1024 "${ru[@]}"
	check "UD, MTU 1500, IPv$family" ops 1500 "$family" 1024 ud_send ud_reply
done
check "RC, MTU 9000" ops 9000 4 8192 "${rc[@]}"
check "RU, MTU 9000" ops 9000 6 8192 "${ru[@]}"
check "RC, MTU 5000" ops 5000 4 4096 "${rc[@]}"
check "RC, MTU 2500" ops 2500 6 2048 "${rc[@]}"
for family in 4 6; do
	check "CRC trailer, IPv$family" trailers 1500 $family 1024 rc_send rc_write rc_read ru_mix ud_send
done
check "CRC trailer, MTU 9000" trailers 9000 4 8192 rc_send rc_read
check "many RC messages under way" ops 1500 4 1024 rc_mix rc_unsignalled rc_order rc_64_qps
check "many RU messages under way" ops 1500 4 1024 ru_mix
check "receiver not ready" ops 1500 4 1024 rc_rnr ru_rnr
for program in ibv_rc_pingpong ibv_ud_pingpong; do
	check "$program" pingpong $program 4
done
check "rping, IPv4" connected 4
check "rping, IPv6" connected 6
check "refused requests" refused
for test in apart refused ops; do
	check "jobs: $test" in_jobs $test
done
check "RC, 2 % loss" lossy "loss 2%" "${rc[@]}" rc_mix
check "RU, 2 % loss" lossy "loss 2%" "${ru[@]}" ru_mix
check "RC, reordered" lossy "delay 1ms reorder 75% 50%" rc_send rc_read rc_mix
check "RU, reordered" lossy "delay 1ms reorder 75% 50%" ru_send ru_read ru_mix
check "RC, 5 % duplicated" lossy "duplicate 5%" rc_send rc_read rc_mix

run_checks
