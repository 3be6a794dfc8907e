#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# A job of 64 processes in 8 namespaces: each sends to, writes to, reads from and adds
# to the memory of every other by rank (uet_rma), also with losses; two jobs with
# the same numbers at the same time; and one with absolute addressing.
#
# guests: uml
# guests-long: uml uml-kasan qemu
# timeout: 900

. "$(dirname "$(readlink -f "$0")")/lib.sh"

[ "$type" = uet ] || skip_all "needs uet"
command -v uet_job_launch >/dev/null || skip_all "the library's programs are not installed"

hosts=8 processes=8
[ $slow -eq 1 ] || { hosts=4 processes=4; }
all=$((hosts * processes))

also_clean_up() {
	local h
	for ((h = 1; h <= hosts; h++)); do
		[ ! -e "/sys/class/infiniband/a$h" ] || rdma link del "a$h"
		ip netns del "n$h" 2>/dev/null || :
	done
	ip link del a0 2>/dev/null || :
}

# One switch, and a host with a device at each of its ports
network_up() {
	local h
	[ ! -e /sys/class/net/a0 ] || return 0
	ip link add a0 type bridge
	ip link set a0 up
	for ((h = 1; h <= hosts; h++)); do
		ip netns add "n$h"
		ip link add "a$h" type veth peer name v netns "n$h"
		ip link set "a$h" master a0 up
		ip -n "n$h" link set lo up
		ip -n "n$h" addr add "10.7.0.$h/24" dev v
		ip -n "n$h" link set v up
		ip netns exec "n$h" rdma link add "a$h" type uet netdev v
	done
	for ((h = 1; h <= hosts; h++)); do
		busywait $((10 * slow)) device_ready "a$h" "10.7.0.$h"
	done
}

# One process per host starts the others, all of which have to end well.
started=()
start() { # JOB ARG...
	local h job=$1 addresses=()
	shift
	for ((h = 1; h <= hosts; h++)); do
		addresses+=(-a "10.7.0.$h")
	done
	for ((h = 1; h <= hosts; h++)); do
		limit 150 ip netns exec "n$h" uet_job_launch -d "a$h" -g "$(gid_index "a$h" "10.7.0.$h")" \
			-j "$job" -n $processes "${addresses[@]}" "$@" >"$tmp/$job.$h" 2>&1 &
		started+=($!)
	done
}

ended() {
	local pid code=0
	for pid in "${started[@]}"; do
		wait "$pid" || code=$?
	done
	started=()
	return $code
}

printed() { # JOB LINES
	cat "$tmp/$1".*
	[ "$(cat "$tmp/$1".* | grep -cE "^(send|put|get|add): $all ranks")" = "$2" ]
}

every_pair() { # ARG...
	local code=0
	network_up
	start 901 uet_rma "$@"
	ended || code=$?
	printed 901 4 && return $code
}

lossy() {
	local h code=0
	network_up
	for ((h = 1; h <= hosts; h++)); do
		tc -n "n$h" qdisc add dev v root netem limit 100000 loss 1%
	done
	every_pair -n 1 -s 3000 || code=$?
	for ((h = 1; h <= hosts; h++)); do
		tc -n "n$h" qdisc del dev v root
	done
	return $code
}

# Every wire pair is there twice on each device.
two_jobs() {
	local code=0
	network_up
	start 902 uet_rma -n 2 -s 500
	start 903 uet_rma -n 2 -s 500
	ended || code=$?
	printed 902 4 && printed 903 4 && return $code
}

# As many hosts, with two processes each unless the whole matrix is wanted
absolute() {
	[ -n "$long" ] || { processes=2 && all=$((hosts * processes)); }
	every_pair -A "$@"
}

check "$all processes, every pair, every operation" every_pair -n 1
check "the same, small messages" every_pair -n 3 -s 8
check "the same, 1 % of the packets lost" lossy
check "absolute addressing" absolute -n 2
check "two jobs with the same numbers" two_jobs

run_checks
