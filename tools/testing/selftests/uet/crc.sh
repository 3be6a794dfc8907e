#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# The CRC trailer: data moves with it, whatever is lost or damaged on the way; hosts that
# do not agree on it do not talk, and nothing wrong is delivered.
#
# guests: uml
# guests-long: uml uml-kasan qemu
# timeout: 900

. "$(dirname "$(readlink -f "$0")")/lib.sh"

[ "$type" = uet ] || skip_all "$type has no setting for it"

data=$(program data) || exit 1

crc() { # HOST on|off
	uet -n "h$1" dev set "u$1" crc "$2"
}

both() { # on|off
	crc 1 "$1"
	crc 2 "$1"
}

moved() { # COUNTER BEFORE
	local now
	now=$(both_counters "$1")
	echo "$1 moved by $((now - $2))"
	[ "$now" -gt "$2" ]
}

# with MTU OPTION... TEST...
with() {
	local mtu=$1 drops
	shift
	need_hosts "$mtu"
	gso_max_segs 65535
	both on
	drops=$(both_counters drop_crc)
	limit 60 "$data" -w $((20 * slow)) "$@"
	! moved drop_crc "$drops"
}

lossy() { # TEST...
	need_hosts 1500
	both on
	netem_on loss 2%
	limit 60 "$data" -m 1024 -M 100000 -n 10 -w $((40 * slow)) "$@"
	netem_off
}

# Address resolution has no checksum; it must not be what is damaged.
neighbours() {
	local host family
	for host in 1 2; do
		for family in 4 6; do
			ip -n h$host neigh replace "$(address $((3 - host)) $family)" nud permanent dev v$host \
				lladdr "$(on_host $((3 - host)) cat /sys/class/net/v$((3 - host))/address)"
		done
	done
}

# netem changes a bit here and there. What the trailer does not cover is covered by the
# IP header's own checksum, or does not matter (TOS, for IPv6).
damaged() { # FAMILY TEST...
	local drops family=$1
	shift
	need_hosts 1500
	neighbours
	both on
	drops=$(both_counters drop_crc)
	netem_on corrupt 2%
	limit 80 "$data" -A "$(address 1 "$family")" -B "$(address 2 "$family")" -m 1024 -M 100000 -n 20 \
		-w $((60 * slow)) "$@"
	netem_off
	moved drop_crc "$drops"
}

# A program must not get through, and each side counts what it cannot take.
mixed() { # HOST: the one with trailers
	local drops malformed other=$((3 - $1))
	need_hosts 1500
	both off
	crc "$1" on
	drops=$(counter "u$1" drop_crc)
	malformed=$(counter "u$other" drop_malformed)
	! pair tcp:18515 4 -g ibv_rc_pingpong -s 100000 -n 10 || fail "they did talk"
	stop_servers
	# one of the two is the client and does the sending
	[ "$(counter "u$1" drop_crc)" -gt "$drops" ] ||
		[ "$(counter "u$other" drop_malformed)" -gt "$malformed" ]
	crc "$other" on
	pair tcp:18515 4 -g ibv_rc_pingpong -s 100000 -n 10 -c
}

# Data moves, or all of it has come.
going() { # RUNNER ACKS-BEFORE
	! kill -0 "$1" 2>/dev/null || [ "$(both_counters rx_acks)" -gt "$2" ]
}

# The setting may change at any time. What is under way then is lost and sent again;
# while the sides differ nothing gets through, so let something before the next change.
switched() {
	local state runner drops
	need_hosts 1500
	drops=$(both_counters drop_crc)
	both off
	limit 60 "$data" -m 1024 -M 100000 -n 1000 -w $((40 * slow)) rc_send rc_write rc_read ru_mix >"$tmp/data" 2>&1 &
	runner=$!
	while kill -0 $runner 2>/dev/null; do
		for state in on off; do
			crc 1 $state
			crc 2 $state
			busywait $((10 * slow)) going $runner "$(both_counters rx_acks)"
		done
	done
	both on
	wait $runner || { cat "$tmp/data"; return 1; }
	moved drop_crc "$drops"
}

statistics() {
	rdma -j statistic show link u1/1 | jq -Sc '.[0] | with_entries(select(.value | type == "number"))'
}

# A datagram without a right trailer moves one counter and nothing else.
one_counter() {
	local before bytes
	need_hosts 1500
	both on
	uet -n h2 dev set u2 local-filter off
	hosts_quiet
	for bytes in 0 3 4 5 60 1400; do
		before=$(statistics)
		on_host 2 python3 - "$bytes" <<-'END'
			import os, socket, sys
			s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
			s.sendto(os.urandom(int(sys.argv[1])), ("10.0.0.1", 4793))
		END
		busywait 5 changed "$before"
		jq -nc --argjson a "$before" --argjson b "$(statistics)" \
			'[$b | to_entries[] | select($a[.key] != .value) | {(.key): (.value - $a[.key])}]' >"$tmp/moved"
		[ "$(cat "$tmp/moved")" = '[{"drop_crc":1}]' ] || fail "$bytes bytes: $(cat "$tmp/moved")"
	done
}

changed() { # STATISTICS
	[ "$(statistics)" != "$1" ]
}

# No PDC is left that could send something by itself.
hosts_quiet() {
	uet -n h1 dev set u1 pdc-idle 10
	uet -n h2 dev set u2 pdc-idle 10
	busywait $((20 * slow)) no_pdcs
}

no_pdcs() {
	[ "$(uet -n h1 -j pdc show)$(uet -n h2 -j pdc show)" = "[][]" ]
}

active() {
	uet -n h1 -j dev show u1 | jq '.[0].payload_mtu_active'
}

# The trailer needs room: 4 bytes more of the interface's MTU.
room() {
	local mtu
	need_hosts 9000
	for mtu in 1200:1024 2224:2048 4272:4096 8368:8192; do
		hosts_mtu "${mtu%:*}"
		both off
		[ "$(active)" = "${mtu#*:}" ] || fail "off, MTU $mtu: $(active)"
		crc 1 on
		[ "$(active)" -lt "${mtu#*:}" ] || fail "on, MTU $mtu: $(active)"
		hosts_mtu $((${mtu%:*} + 4))
		[ "$(active)" = "${mtu#*:}" ] || fail "on, MTU $mtu and 4: $(active)"
		both on
		limit 30 "$data" -m 1024 -M 30000 -n 3 -w $((20 * slow)) rc_send rc_read
	done
	hosts_mtu 9000
}

rc=(rc_send rc_send_imm rc_write rc_write_imm rc_read rc_mix)
ru=(ru_send ru_send_imm ru_write ru_write_imm ru_read ru_mix)

check "RC, MTU 1500" with 1500 -m 1024 "${rc[@]}" rc_64_qps
check "RC, MTU 9000" with 9000 -m 4096 "${rc[@]}"
check "RU, MTU 9000" with 9000 -m 4096 "${ru[@]}"
check "UD" with 1500 -m 1024 ud_send ud_reply
check "IPv6" with 1500 -A fd00::1 -B fd00::2 -m 1024 rc_send rc_read ru_mix
check "RC, 2 % loss" lossy "${rc[@]}"
check "RU, 2 % loss" lossy "${ru[@]}"
check "RC, 2 % damaged, IPv4" damaged 4 "${rc[@]}"
check "RU, 2 % damaged, IPv4" damaged 4 "${ru[@]}"
check "RC, 2 % damaged, IPv6" damaged 6 "${rc[@]}"
check "UD, 2 % damaged" damaged 4 ud_lossy
check "server with, client without" mixed 1
check "client with, server without" mixed 2
check "switched on and off while data moves" switched
check "a packet without a right trailer moves one counter" one_counter
check "payload MTU leaves room" room

run_checks
