#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck disable=SC2317 # checks call these
#
# Two guests joined by a network card (vm/pair): packets come in by a real NAPI poll, and
# leave by a driver that has a queue. Guest b serves, guest a asks and says how it went.
#
# guests-long: pair
# timeout: 600

. "$(dirname "$(readlink -f "$0")")/lib.sh"

[ -n "${UET_ROLE-}" ] || skip_all "needs two guests (vm/pair)"
patience=120

# Each is run in both guests; a gives the address of b as well.
programs=(
	"ibv_rc_pingpong -n 200 -s 100000"
	"ibv_ud_pingpong -n 200"
	"ib_send_bw -n 500 -s 65536"
	"ib_write_bw -n 500 -s 65536"
	"ib_read_bw -n 500 -s 65536"
	"ib_send_lat -n 200 -s 64"
	"ib_write_bw -n 500 -s 65536 -q 4"
)

port_active() {
	rdma link show u0/1 2>/dev/null | grep -q "state ACTIVE"
}

# The option by which a program is told its GID
gid_option() { # COMMAND
	case $1 in
	ibv_*) echo -g ;;
	*) echo -x ;;
	esac
}

# FAMILY's addresses: mine, and the peer's
mine() { [ "$1" = 4 ] && echo "$UET_ADDR" || echo "$UET_ADDR6"; }
peers() { [ "$1" = 4 ] && echo "$UET_PEER" || echo "$UET_PEER6"; }

program_for() { # FAMILY COMMAND: with device and GID
	local option
	option=$(gid_option "$2")
	echo "$2 -d u0 $option $(gid_index u0 "$(mine "$1")")"
}

# The other guest starts its server in its own time.
ask() { # COMMAND...
	busywait "$patience" asked "$@" || { cat "$tmp/asked"; return 1; }
	tail -n 3 "$tmp/asked"
}

asked() {
	timeout -k 5 "$patience" "$@" >"$tmp/asked" 2>&1
}

ask_program() { # FAMILY COMMAND
	local command
	command=$(program_for "$1" "$2")
	# shellcheck disable=SC2086
	ask $command "$UET_PEER"
}

ask_rping() { # FAMILY
	ask rping -c -a "$(peers "$1")" -C 20 -S 4096
}

came_by_card() {
	local packets
	packets=$(cat /sys/class/net/eth0/statistics/rx_packets)
	echo "$packets packets came by the card; the device saw $(counter u0 rx_pkts)"
	[ "$packets" -gt 1000 ]
}

serve_all() {
	local family program command
	for family in 4 6; do
		for program in "${programs[@]}"; do
			command=$(program_for $family "$program")
			echo "$command"
			# shellcheck disable=SC2086
			timeout -k 5 "$patience" $command || return
		done
		echo "rping, IPv$family"
		timeout -k 5 "$patience" rping -s -a "$(mine $family)" -C 20 -S 4096 || return
	done
}

rdma link add u0 type uet netdev eth0 || exit 1
busywait 30 port_active || exit 1
busywait 30 gid_index u0 "$UET_ADDR6" >/dev/null || exit 1

code=0
if [ "$UET_ROLE" = b ]; then
	serve_all || code=$?
else
	for family in 4 6; do
		for program in "${programs[@]}"; do
			check "$program, IPv$family" ask_program $family "$program"
		done
		check "rping, IPv$family" ask_rping $family
	done
	check "packets came by the card" came_by_card
	run_checks || code=$?
fi
rdma link del u0
exit $code
