# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Sourced by bench.sh: one run of each kind, its result as lines in $raw.
#
# measure_ROW MTU OP BYTES QPS DEPTH DRIVER. OP names what moves: send, write, read with
# RC QPs; ru-send, ru-write with RU QPs; tcp; and with a variant of the driver behind it,
# write-nogso, tcp-nogso, write-crc (hosts.sh).

record() { # ROW MTU OP BYTES QPS DEPTH DRIVER UNIT VALUE
	[ -n "$9" ] || return 0
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5" "$7" "$9" "$8" "$6" >>"$raw"
}

mib_to_mb() {
	awk '{ printf "%.2f", $1 * 1.048576 }'
}

# Lines "#bytes #iterations ..." of a perftest table: COLUMN of the last one; nothing
# if perftest could not make sense of the CPU's clock (it prints 0 or inf then).
table_column() { # COLUMN
	awk -v c="$1" '/^ [0-9]+ +[0-9]+ / { value = $c } END { if (value + 0 > 0) print value }' "$tmp/client"
}

# The server's device is not named like in the tests.
cm_listens() {
	rdma -j res show cm_id 2>/dev/null |
		jq -e "any(.[]; .state == \"LISTEN\" and ((.\"src-addr\" // \"\") | endswith(\":$2\")))" >/dev/null
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

# One run of iperf3; MB/s in $tmp/client
iperf() { # BYTES STREAMS SECONDS
	local code=0
	timeout 30 ip netns exec h1 taskset -c 1 iperf3 -s -1 -B "$(bench_address tcp 1)" >"$tmp/iperf" 2>&1 &
	servers+=($!)
	: >"$tmp/client"
	busywait 5 tcp_listens 1 5201 &&
		timeout 30 ip netns exec h2 taskset -c 0 iperf3 -J -t "$3" -l "$1" -P "$2" \
			-c "$(bench_address tcp 1)" >"$tmp/iperf.json" || code=1
	stop_servers
	[ $code -eq 0 ] || { echo "# iperf3 gave no result"; return 1; }
	jq -r '.end.sum_received.bits_per_second // empty | . / 8e4 | round / 100' "$tmp/iperf.json" >"$tmp/client"
}

# The same shape for RU, of our own; the result in $tmp/client
ru() { # OP BYTES OPTION...
	timeout -k 5 60 "$(program bench_ru)" -o "${1#ru-}" -s "$2" "${@:3}" uet2 "$(bench_address uet 2)" \
		uet1 "$(bench_address uet 1)" >"$tmp/client" 2>"$tmp/start" && return
	echo "# bench_ru $*:"
	sed 's/^/#   /' "$tmp/start"
	return 1
}

# MB/s of what OP moves, for SECONDS
throughput() { # OP BYTES QPS DEPTH DRIVER SECONDS
	case $1 in
	tcp) iperf "$2" "$3" "$6" && cat "$tmp/client" ;;
	ru-*) ru "$1" "$2" -q "$3" -t "$4" -D "$6" && cat "$tmp/client" ;;
	*) perftest "$5" "ib_$1_bw" -s "$2" -q "$3" -t "$4" -D "$6" && table_column 4 | mib_to_mb ;;
	esac
}

# What went wrong, said in between; the last line is the result otherwise.
recorded() { # ROW MTU OP BYTES QPS DEPTH DRIVER UNIT COMMAND...
	local value
	if value=$("${@:9}"); then
		record "${@:1:8}" "$value"
	else
		echo "$value"
	fi
}

measure_R1() { # MTU OP BYTES QPS DEPTH DRIVER
	recorded R1 "$@" MB/s throughput "${@:2}" "$seconds"
}

measure_R2() { # MTU OP BYTES QPS DEPTH DRIVER
	local median worst
	case $2 in
	ru-*)
		ru "$2" "$3" -t 4 -l 2000 || return 0
		read -r median worst <"$tmp/client" ;;
	*)
		perftest "$6" "ib_$2_lat" -s "$3" -n 2000 || return 0
		median=$(table_column 5)
		worst=$(table_column 8) ;;
	esac
	record R2 "$@" us "$median"
	record R2 "$@" us-p99 "$worst"
}

measure_R3() { # MTU OP BYTES QPS DEPTH DRIVER
	local value
	perftest "$6" "ib_$2_bw" -s "$3" -t "$5" -D "$seconds" || return 0
	value=$(table_column 5 | awk '{ printf "%.3f", $1 * 1000 }')
	record R3 "$@" kmsg/s "$value"
}

measure_R4() { # MTU OP BYTES QPS DEPTH DRIVER
	recorded R4 "$@" MB/s taskset -c 0 "$(program bench_copy)" "$3" 200
}

# How many messages take about SECONDS; perftest cannot sleep in a run of a given time.
messages_in() { # SECONDS OP BYTES QPS DEPTH DRIVER
	local known=$tmp/rate.$2.$3.$4.$5.$6
	if [ ! -s "$known" ]; then
		perftest "$6" "ib_$2_bw" -e -s "$3" -q "$4" -t "$5" -n 256 >"$tmp/pilot" || return
		table_column 4 >"$known"
	fi
	awk -v seconds="$1" -v bytes="$3" -v qps="$4" \
		'{ printf "%d", 256 + seconds * $1 * 1048576 / bytes / qps }' "$known"
}

# Both sides sleep until there is something to do (perftest -e), as iperf3 does;
# programs that poll would only show that there are two CPUs.
cpu_run() { # OP BYTES QPS DEPTH DRIVER
	local count
	if [ "$1" = tcp ]; then
		cpu_during tcp iperf "$2" "$3" $((seconds + 1))
		return
	fi
	count=$(messages_in 2.5 "$@") &&
		cpu_during "$5" perftest "$5" "ib_$1_bw" -e -s "$2" -q "$3" -t "$4" -n "$count"
}

measure_R10() { # MTU OP BYTES QPS DEPTH DRIVER
	local cpu_busy=() rate part
	if ! cpu_run "${@:2}" || [ ${#cpu_busy[@]} -ne 2 ]; then
		echo "# R10 $*: no result"
		return
	fi
	case $2 in
	tcp) rate=$(cat "$tmp/client") ;;
	*) rate=$(table_column 4 | mib_to_mb) ;;
	esac
	record R10 "$@" MB/s "$rate"
	for part in "ms/GiB $((cpu_busy[0] + cpu_busy[1]))" "ms/GiB-tx ${cpu_busy[0]}" "ms/GiB-rx ${cpu_busy[1]}"; do
		record R10 "$@" "${part% *}" "$(awk -v busy="${part#* }" -v rate="$rate" \
			'BEGIN { printf "%.2f", busy / 1000 / (rate / 1073.741824) }')"
	done
}

measure_R11() { # MTU OP BYTES QPS DEPTH DRIVER
	local variant=${2#*-}
	variant_on "$6" "$variant" || return 0
	recorded R11 "$@" MB/s throughput "${2%-*}" "${@:3}" "$seconds"
	variant_off "$6" "$variant"
}
