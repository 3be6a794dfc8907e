#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# uet, rxe, siw and TCP side by side: bandwidth (R1), latency (R2) and message rate
# (R3), measured in turns so that what disturbs one disturbs all. Each driver has a
# veth pair of its own between the two hosts, since rdma_cm finds a device by its
# address; sender and receiver are pinned to a CPU each.
#
# Writes raw.tsv (a line for each run), table.tsv and bench.svg (bench_table.py).
#
#	UET_BENCH_OUT		folder for the results (/out)
#	UET_BENCH_LONG		1: all sizes, five turns; UET_BENCH_TURNS: so many
#	UET_BENCH_ONLY		only rows (R1, R2, R3) that match this regexp
#	UET_BENCH_DRIVERS	instead of "uet rxe siw tcp"
#	UET_BENCH_MTUS		instead of "9000 1500"
#	UET_BENCH_SIZES		bytes of the bandwidth rows

UET_TYPE=${UET_TYPE:-uet}
. "$(dirname "$(readlink -f "$0")")/lib.sh"

out=${UET_BENCH_OUT:-/out}
read -ra drivers <<<"${UET_BENCH_DRIVERS:-uet rxe siw tcp}"
only=${UET_BENCH_ONLY:-.}
raw=$out/raw.tsv

if [ -n "${UET_BENCH_LONG-}" ]; then
	turns=${UET_BENCH_TURNS:-5}
	bandwidth_sizes=(64 512 4096 16384 65536 262144 1048576 8388608)
	latency_sizes=(2 64 512 1024 4096)
	qps=(1 8)
	depths=(1 16 64)
	seconds=2
else
	turns=${UET_BENCH_TURNS:-3}
	bandwidth_sizes=(4096 65536 1048576)
	latency_sizes=(2 4096)
	qps=(1 8)
	depths=(1 64)
	seconds=1
fi
read -ra mtus <<<"${UET_BENCH_MTUS:-9000 1500}"
[ -z "${UET_BENCH_SIZES-}" ] || read -ra bandwidth_sizes <<<"$UET_BENCH_SIZES"

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
			busywait 10 active "$driver$host"
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

also_clean_up() {
	networks_down
}

# Lines "#bytes #iterations ..." of a perftest table: COLUMN of the last one; nothing
# if perftest could not make sense of the CPU's clock (it prints 0 or inf then).
table_column() { # COLUMN
	awk -v c="$1" '/^ [0-9]+ +[0-9]+ / { value = $c } END { if (value + 0 > 0) print value }' "$tmp/client"
}

# One run of a perftest program; result in $tmp/client
perftest() { # DRIVER PROGRAM OPTION...
	local driver=$1 attempt
	shift
	for attempt in 1 2 3; do
		serve 1 "cm:18515" taskset -c 1 "$1" -R -F -d "${driver}1" \
			--bind_source_ip "$(bench_address "$driver" 1)" "${@:2}" >"$tmp/start" ||
			{ stop_servers; continue; }
		if timeout 60 ip netns exec h2 taskset -c 0 "$1" -R -F -d "${driver}2" \
			--bind_source_ip "$(bench_address "$driver" 2)" "${@:2}" "$(bench_address "$driver" 1)" >"$tmp/client" 2>&1 && served >"$tmp/start"; then
			[ -z "$(table_column 4)" ] || return 0
		fi
		stop_servers
	done
	echo "# $driver: $* gave no result after $attempt attempts"
	tail -qn 3 "$tmp/start" "$tmp/client" 2>/dev/null | sed "s/^/#   /"
	return 1
}

# The server's device is not named like in the tests.
cm_listens() {
	rdma -j res show cm_id 2>/dev/null |
		jq -e "any(.[]; .state == \"LISTEN\" and ((.\"src-addr\" // \"\") | endswith(\":$2\")))" >/dev/null
}

record() { # ROW MTU OP BYTES QPS DEPTH DRIVER UNIT VALUE
	[ -n "$9" ] || return 0
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5" "$7" "$9" "$8" "$6" >>"$raw"
}

mib_to_mb() {
	awk '{ printf "%.2f", $1 * 1.048576 }'
}

tcp_bandwidth() { # BYTES STREAMS -> MB/s
	timeout 30 ip netns exec h1 taskset -c 1 iperf3 -s -1 -B "$(bench_address tcp 1)" >"$tmp/iperf" 2>&1 &
	servers+=($!)
	busywait 5 tcp_listens 1 5201 || return
	timeout 30 ip netns exec h2 taskset -c 0 iperf3 -J -t "$seconds" -l "$1" -P "$2" \
		-c "$(bench_address tcp 1)" | jq -r '.end.sum_received.bits_per_second / 8e6 // empty'
	wait "${servers[@]}"
	servers=()
}

bandwidth() { # MTU DRIVER OP BYTES QPS
	local value=
	if [ "$2" = tcp ]; then
		[ "$3" = send ] || return 0
		value=$(tcp_bandwidth "$4" "$5")
		record R1 "$1" tcp "$4" "$5" 1 tcp MB/s "$value"
		return
	fi
	perftest "$2" "ib_$3_bw" -s "$4" -q "$5" -D "$seconds" || return 0
	value=$(table_column 4 | mib_to_mb)
	record R1 "$1" "$3" "$4" "$5" 128 "$2" MB/s "$value"
}

latency() { # MTU DRIVER OP BYTES
	[ "$2" != tcp ] || return 0
	perftest "$2" "ib_$3_lat" -s "$4" -n 2000 || return 0
	record R2 "$1" "$3" "$4" 1 1 "$2" us "$(table_column 5)"
	record R2 "$1" "$3" "$4" 1 1 "$2" us-p99 "$(table_column 8)"
}

rate() { # MTU DRIVER BYTES DEPTH
	local value
	[ "$2" != tcp ] || return 0
	perftest "$2" ib_write_bw -s "$3" -t "$4" -D "$seconds" || return 0
	value=$(table_column 5 | awk '{ printf "%.3f", $1 * 1000 }')
	record R3 "$1" write "$3" 1 "$4" "$2" kmsg/s "$value"
}

# All cells of a turn, one line each; the drivers take turns within a cell.
cells() { # MTU
	local op bytes n
	for bytes in "${bandwidth_sizes[@]}"; do
		for op in send write read; do
			for n in "${qps[@]}"; do
				[ "$n" = 1 ] || [ "$bytes" = 65536 ] || [ -n "${UET_BENCH_LONG-}" ] || continue
				echo "R1 bandwidth $1 DRIVER $op $bytes $n"
			done
		done
	done
	for bytes in "${latency_sizes[@]}"; do
		for op in send write; do
			echo "R2 latency $1 DRIVER $op $bytes"
		done
	done
	for bytes in 8 64; do
		for n in "${depths[@]}"; do
			echo "R3 rate $1 DRIVER $bytes $n"
		done
	done
}

turn() { # MTU
	local row cell driver
	while read -r row cell; do
		[[ $row =~ $only ]] || continue
		for driver in "${drivers[@]}"; do
			# shellcheck disable=SC2086 # a command with arguments
			${cell/DRIVER/$driver} </dev/null
		done
	done < <(cells "$1")
}

for driver in "${drivers[@]}"; do
	[ "$driver" = tcp ] || modprobe -q "$driver" || modprobe -q "rdma_$driver" ||
		[ -d "/sys/module/${driver/rxe/rdma_rxe}" ] || { echo "no driver $driver"; exit 1; }
done
: >"$raw"
{
	echo "kernel $(uname -r) on $(uname -m), $(nproc) CPUs"
	echo "turns $turns, $seconds s each"
	ib_send_bw --version 2>/dev/null | head -n 1
	iperf3 --version | head -n 1
} >"$out/about.txt"
for ((number = 1; number <= turns; number++)); do
	for mtu in "${mtus[@]}"; do
		echo "# turn $number of $turns, MTU $mtu, $SECONDS s"
		networks_up "$mtu" || exit 1
		turn "$mtu"
		networks_down
	done
done
echo "# done after $SECONDS s"
python3 "$here/bench_table.py" "$raw" "$out"
