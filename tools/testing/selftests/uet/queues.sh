#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Queues below that are short and slow: everything arrives, little memory waits in them,
# the counters tell, and what did not get in is sent again without waiting for ACKs.
#
# guests: uml
# guests-long: uml uml-kasan
# timeout: 900

. "$(dirname "$(readlink -f "$0")")/lib.sh"

[ "$type" = uet ] || skip_all "counters and sockets of uet"

data=$(program data) || exit 1

slow_queue() { # RATE BYTES [PACKETS]: both ways
	local host
	for host in 1 2; do
		tc -n h$host qdisc replace dev v$host root handle 1: tbf rate "$1" burst 20kb limit "$2"
		[ -z "${3-}" ] || tc -n h$host qdisc replace dev v$host parent 1:1 handle 10: pfifo limit "$3"
	done
}

fast_queue() {
	tc -n h1 qdisc del dev v1 root
	tc -n h2 qdisc del dev v2 root
}

# watch_queue PID: the most bytes that the driver's sockets of host 1 had in queues
# while PID ran, as ss tells
watch_queue() {
	# shellcheck disable=SC2016 # for the shell there
	on_host 1 bash -c '
		while kill -0 "$1" 2>/dev/null; do
			ss -Huanm "sport = 4793"
			echo
			read -rt 0.01 <> <(:)
		done' bash "$1" |
		awk -F '[(,]' '
			!NF { if (sum > most) most = sum; sum = 0 }
			{ for (i = 2; i <= NF; i++) if ($i ~ /^t[0-9]/) sum += substr($i, 2) }
			END { print most + 0 }'
}

# through RATE SEGS PACKETS BYTES-QUEUED-AT-MOST OPTION... TEST...
through() {
	local rate=$1 segs=$2 packets=$3 bound=$4 full paused runner most
	shift 4
	need_hosts 1500
	gso_max_segs "$segs"
	slow_queue "$rate" 1000000 "$packets"
	full=$(counter u1 drop_tx_full)
	paused=$(counter u1 tx_paused)
	limit 90 "$data" -m 1024 -w $((60 * slow)) "$@" >"$tmp/data" 2>&1 &
	runner=$!
	most=$(watch_queue $runner)
	fast_queue
	wait $runner || { cat "$tmp/data"; return 1; }
	full=$(($(counter u1 drop_tx_full) - full))
	paused=$(($(counter u1 tx_paused) - paused))
	echo "$most bytes queued at most, $full packets dropped here, $paused pauses"
	[ "$most" -gt 0 ] || fail "ss saw nothing in the queue"
	[ "$most" -le "$bound" ] || fail "more than $bound bytes were queued"
	# a burst that tbf cuts up is never refused as a whole
	[ "$segs" -eq 1 ] || return 0
	[ "$full" -gt 0 ] || fail "drop_tx_full did not move"
	# datagrams have no PDC that could wait
	[[ $* = *ud_* ]] || [ "$paused" -gt 0 ] || fail "tx_paused did not move"
}

# A long queue instead of a short one: the windows bound what is in it.
long_queue() {
	local runner most
	need_hosts 1500
	gso_max_segs 1
	slow_queue 10mbit 100000000
	limit 90 "$data" -m 1024 -M 100000 -n 10 -w $((60 * slow)) rc_64_qps >"$tmp/data" 2>&1 &
	runner=$!
	most=$(watch_queue $runner)
	fast_queue
	wait $runner || { cat "$tmp/data"; return 1; }
	echo "$most bytes queued at most"
	[ "$most" -gt 0 ] && [ "$most" -le 67108864 ]
}

# What is dropped in this host is resent by knowledge, not by suspicion.
few_timeouts() {
	local rto full
	need_hosts 1500
	gso_max_segs 1
	slow_queue 10mbit 1000000 10
	rto=$(counter u2 retx_rto)
	full=$(counter u2 drop_tx_full)
	pair tcp:18515 4 -g ibv_rc_pingpong -s 1000000 -n 3 -c
	fast_queue
	rto=$(($(counter u2 retx_rto) - rto))
	full=$(($(counter u2 drop_tx_full) - full))
	echo "$rto timeouts, $full packets dropped here"
	[ "$full" -gt 100 ] && [ "$rto" -le $((full / 20)) ]
}

check "RC, single packets" through 10mbit 1 10 200000 -n 4 rc_mix
check "RC, bursts" through 10mbit 65535 10 2000000 -n 4 rc_mix
check "RU, single packets" through 10mbit 1 10 200000 -n 12 ru_mix
check "64 RC QPs, single packets" through 10mbit 1 10 200000 -n 10 rc_64_qps
check "UD, single packets" through 1mbit 1 250 1000000 ud_lossy
check "64 RC QPs, a long queue" long_queue
check "few timeouts for what was dropped here" few_timeouts

run_checks
