#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# What "make run" shows: two hosts with a uet device each, and programs that know
# nothing of UET talking between them.

. "$(dirname "$(readlink -f "$0")")/lib.sh"

count=1000
bandwidth=(-D 2)
if [ $slow -ne 1 ]; then
	count=100
	bandwidth=(-n 50)
fi
shown=0 failed=()

# Colour only where someone looks at it.
bold='' plain=''
if [ -t 1 ]; then
	bold=$'\e[1m' plain=$'\e[0m'
fi

heading() {
	printf '\n%s%s%s\n' "$bold" "$*" "$plain"
}

# show WHAT FILTER COMMAND...: run it, show of its output what FILTER leaves; all if it fails
show() {
	local what=$1 filter=$2
	shift 2
	shown=$((shown + 1))
	if (trap stop_servers EXIT; set -e; "$@") >"$tmp/show" 2>&1; then
		printf '  %-46s %s\n' "$what" "$("$filter" <"$tmp/show")"
	else
		printf '  %-46s FAILED\n' "$what"
		tail -n 30 "$tmp/show" | sed 's/^/      /'
		failed+=("$what")
	fi
}

# An ibv_*_pingpong ends with two lines: bytes and rate, iterations and time each.
pingpong_line() {
	sed -nE 's/^([0-9]+ iters) in .* = ([0-9.]+ usec\/iter)$/\1, \2/p' | tail -n 1
}

rping_line() {
	echo "$count pings, each compared with what was sent"
}

bandwidth_line() {
	# 0: perftest could not find out how fast the clock of a busy CPU runs
	awk '/^ [0-9]+ +[0-9]+ / {
		rate = $4 > 0 ? sprintf("%.0f MB/s", $4 * 1.048576) : "(rate not known)"
		printf "%s with %d messages of %d KiB\n", rate, $2, $1 / 1024 }' | tail -n 1
}

rping_pair() { # FAMILY
	serve 1 cm:7174 rping -s -a "$(address 1 "$1")" -C $count -S 1000 -V
	limit 60 ip netns exec h2 rping -c -a "$(address 1 "$1")" -I "$(address 2 "$1")" -C $count -S 1000 -V
	served
}

heading "Two hosts: network namespaces h1 and h2, joined by a cable (veth, MTU 9000)"
cat <<END
  \$ ip netns exec h1 rdma link add u1 type $type netdev v1
  \$ ip netns exec h2 rdma link add u2 type $type netdev v2
END
hosts_up 9000 || { echo "the hosts could not be set up" >&2; exit 1; }
touch "$tmp/mtu"

heading "$ rdma link"
ip netns exec h1 rdma link show u1/1 | sed 's/^/  /'
ip netns exec h2 rdma link show u2/1 | sed 's/^/  /'

heading "$ ibv_devinfo -d u1"
ibv_devinfo -d u1 | sed 's/^/  /'
if command -v uet >/dev/null && [ "$type" = uet ]; then
	heading "$ uet dev show"
	ip netns exec h1 uet dev show | sed 's/^/  /'
fi

for family in 4 6; do
	heading "Between h2 ($(address 2 $family)) and h1 ($(address 1 $family)), IPv$family"
	show "ibv_rc_pingpong" pingpong_line pair tcp:18515 $family -g ibv_rc_pingpong -c -n $count
	show "ibv_ud_pingpong" pingpong_line pair tcp:18515 $family -g ibv_ud_pingpong -c -n $count
	show "rping (rdma_cm)" rping_line rping_pair $family
	for program in ib_send_bw ib_write_bw ib_read_bw; do
		show $program bandwidth_line pair tcp:18515 $family -x $program -F "${bandwidth[@]}"
	done
done

if [ "$type" = uet ]; then
	heading "$ rdma statistic show link u1/1"
	rdma statistic show link u1/1 | awk 'NR == 1 || $2 > 0' | sed 's/^/  /'
fi

echo
if [ ${#failed[@]} -gt 0 ]; then
	echo "FAILED: ${#failed[@]} of $shown programs: ${failed[*]}"
	exit 1
fi
echo "All $shown programs ran over $type, kernel $(uname -r)."
