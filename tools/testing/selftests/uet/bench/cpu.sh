# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# Sourced by bench.sh: CPU time while data moves, everything counted: programs, system
# calls, softirq, kernel threads. A CPU that is not idle works for the run, as nothing
# else goes on in the guest. The idle time of /proc/stat is exact (it is not sampled)
# in a kernel with NO_HZ.
#
# On veth a softirq runs on the CPU that transmits, so part of the receiver's work is
# done on the sender's CPU, with all drivers alike: the sum is what compares.

# Hundredths of a second that CPUs 0 and 1 were idle, and microseconds now
cpu_mark() { # VARIABLE
	local name user nice system idle iowait rest
	local -n mark=$1
	mark=(0 0 0)
	while read -r name user nice system idle iowait rest; do
		case $name in
		cpu0) mark[0]=$((idle + iowait)) ;;
		cpu1) mark[1]=$((idle + iowait)) ;;
		esac
	done </proc/stat
	mark[2]=${EPOCHREALTIME/./}
}

bytes_moved() { # DRIVER
	local bytes
	read -r bytes < <(ip netns exec h1 cat "/sys/class/net/${1}1/statistics/rx_bytes")
	echo "${bytes:-0}"
}

moving() { # DRIVER BYTES
	[ "$(bytes_moved "$1")" -gt "$2" ]
}

# Busy CPU seconds per second, of CPU 0 and of CPU 1, in the middle of a run of COMMAND,
# which lasts more than a second longer than its start.
#	cpu_during DRIVER COMMAND...: result in cpu_busy
cpu_during() {
	local driver=$1 before after wall pid started code=0
	shift
	started=$(bytes_moved "$driver")
	"$@" &
	pid=$!
	cpu_busy=()
	if busywait 10 moving "$driver" $((started + 4000000)); then
		cpu_mark before
		# the measurement itself, not a wait for something
		read -rt 1 <> <(:) || :
		cpu_mark after
		kill -0 $pid 2>/dev/null || code=1
		wall=$((after[2] - before[2]))
		cpu_busy=($((1000000 - (after[0] - before[0]) * 10000 * 1000 / (wall / 1000)))
			$((1000000 - (after[1] - before[1]) * 10000 * 1000 / (wall / 1000))))
	fi
	wait $pid && return $code
}
