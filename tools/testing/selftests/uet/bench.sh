#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# uet, rxe, siw and TCP side by side, measured in turns so that what disturbs one
# disturbs all; sender and receiver are pinned to a CPU each:
#
#	R1	bandwidth: RC with all, RU; TCP with one stream
#	R2	latency, half a round trip
#	R3	message rate
#	R4	the copy limit: one memcpy() of the payload
#	R10	CPU time per GiB
#	R11	variants: without bursts (uet and TCP), with the CRC trailer
#	R12	NVMe over Fabrics (only UET_BENCH_LONG)
#
# Writes raw.tsv (a line for each run), plan.tsv (what was to be measured), table.tsv and
# bench.svg (bench_table.py). bench/run on the host compares them with the committed table.
#
#	UET_BENCH_OUT		folder for the results (/out)
#	UET_BENCH_LONG		1: all sizes, five turns; UET_BENCH_TURNS: so many
#	UET_BENCH_ONLY		only cells "ROW MTU OP BYTES QPS DEPTH" that match this
#				regexp, as in "^(R1|R4) 9000 "
#	UET_BENCH_CELLS		a file with the cells to be measured
#	UET_BENCH_DRIVERS	instead of "uet rxe siw tcp"
#	UET_BENCH_MTUS		instead of "9000 1500"
#	UET_BENCH_SIZES		bytes of the bandwidth rows

UET_TYPE=${UET_TYPE:-uet}
. "$(dirname "$(readlink -f "$0")")/lib.sh"
. "$here/bench/hosts.sh"
. "$here/bench/cpu.sh"
. "$here/bench/measure.sh"
. "$here/bench/nvme.sh"

out=${UET_BENCH_OUT:-/out}
read -ra drivers <<<"${UET_BENCH_DRIVERS:-uet rxe siw tcp}"
only=${UET_BENCH_ONLY:-.}
raw=$out/raw.tsv
bench_long=${UET_BENCH_LONG-}

if [ -n "$bench_long" ]; then
	turns=${UET_BENCH_TURNS:-5}
	sizes=(64 512 4096 16384 65536 262144 1048576 8388608)
	seconds=2
else
	turns=${UET_BENCH_TURNS:-3}
	sizes=(4096 65536 1048576)
	seconds=1
fi
read -ra mtus <<<"${UET_BENCH_MTUS:-9000 1500}"
[ -z "${UET_BENCH_SIZES-}" ] || read -ra sizes <<<"$UET_BENCH_SIZES"

also_clean_up() {
	nvme_down
	networks_down
}

# Cells are lines "ROW MTU OP BYTES QPS DEPTH".
bandwidth_cells() { # MTU
	local op bytes
	for bytes in "${sizes[@]}"; do
		for op in send write read ru-send ru-write ru-read; do
			# the short form looks at each op at one size, and at one op at each
			[ -n "$bench_long" ] || [ "$op" = write ] || [ "$bytes" = 65536 ] || continue
			echo "R1 $1 $op $bytes 1 128"
			[ -n "$bench_long" ] || [ "$op $bytes $1" = "write 65536 9000" ] || continue
			echo "R1 $1 $op $bytes 8 128"
		done
		echo "R1 $1 tcp $bytes 1 1"
		echo "R4 $1 copy $bytes 1 1"
	done
}

small_cells() { # MTU
	local op bytes depth
	for bytes in 2 4096 ${bench_long:+64 512 1024}; do
		for op in send write ru-send ru-write; do
			echo "R2 $1 $op $bytes 1 1"
		done
	done
	for bytes in 8 64; do
		for depth in 1 64 ${bench_long:+16}; do
			echo "R3 $1 write $bytes 1 $depth"
		done
	done
}

other_cells() { # MTU
	local op bytes
	for bytes in 65536 ${bench_long:+1048576}; do
		for op in send ${bench_long:+write}; do
			echo "R10 $1 $op $bytes 1 128"
		done
		echo "R10 $1 tcp $bytes 1 1"
		echo "R11 $1 write-nogso $bytes 1 128"
		echo "R11 $1 tcp-nogso $bytes 1 1"
		echo "R11 $1 write-crc $bytes 1 128"
	done
}

all_cells() { # MTU
	if [ -z "$bench_long" ] && [ "$1" != "${mtus[0]}" ]; then
		# the short form has the other MTUs in outline only
		bandwidth_cells "$1" | grep -E ' (write|send|tcp|copy) 65536 '
		return
	fi
	bandwidth_cells "$1"
	small_cells "$1"
	other_cells "$1"
	[ -z "$bench_long" ] || [ "$1" != "${mtus[0]}" ] || nvme_cells "$1"
}

# Those wanted here
cells() { # MTU
	if [ -n "${UET_BENCH_CELLS-}" ]; then
		awk -v mtu="$1" '$2 == mtu' "$UET_BENCH_CELLS"
	else
		all_cells "$1"
	fi | while read -r cell; do
		if [[ $cell =~ $only ]] && [ -n "$(drivers_of "$cell")" ]; then
			echo "$cell"
		fi
	done
}

# Who can do that, of those that take part
drivers_of() { # CELL
	local row op driver could
	read -r row _ op _ <<<"$1"
	case "$row $op" in
	R4*) echo memcpy; return ;;
	R12*) could=" uet rxe siw tcp " ;;
	*" tcp"*) could=" tcp " ;;
	*" ru-"*|*"-nogso"|*"-crc") could=" uet " ;;
	*) could=" uet rxe siw " ;;
	esac
	[[ $op != *-* || $op = ru-* ]] || variant_known "${op#*-}" || return 0
	for driver in "${drivers[@]}"; do
		[[ $could != *" $driver "* ]] || echo "$driver"
	done
}

plan() {
	local cell list
	for mtu in "${mtus[@]}"; do
		while read -r cell; do
			mapfile -t list < <(drivers_of "$cell")
			printf '%s\t%s\n' "${cell// /$'\t'}" "$(IFS=,; echo "${list[*]}")"
		done < <(cells "$mtu")
	done
}

# The drivers take turns within a cell.
turn() { # MTU
	local row mtu op bytes qps depth list driver
	while IFS=$'\t' read -r row mtu op bytes qps depth list; do
		[ "$mtu" = "$1" ] || continue
		for driver in ${list//,/ }; do
			"measure_$row" "$mtu" "$op" "$bytes" "$qps" "$depth" "$driver" </dev/null
		done
	done <"$out/plan.tsv"
}

for driver in "${drivers[@]}"; do
	[ "$driver" = tcp ] || modprobe -q "$driver" || modprobe -q "rdma_$driver" ||
		[ -d "/sys/module/${driver/rxe/rdma_rxe}" ] || { echo "no driver $driver"; exit 1; }
done
: >"$raw"
plan >"$out/plan.tsv"
[ -s "$out/plan.tsv" ] || { echo "nothing to be measured"; exit 1; }
variant_known crc || echo "# no row R11 write-crc: the uet command here has no setting crc"
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
