#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Jobs, security keys and job keys by the verbs ioctl: each call and each error
# (jobs_ioctl.c); who may do what, processes that share a job (jobs_share.c), and
# the end of each (jobs_life.c). Leaks are looked for after the test by vm/run.
#
# guests: uml uml-kasan
# guests-long: uml uml-kasan qemu qemu-debug
# timeout: 1200
# UET_ROUNDS: how many calls with anything in them, times 100, and kills

. "$(dirname "$(readlink -f "$0")")/lib.sh"

[ "$type" = uet ] || skip_all "needs uet"
calls=$(program jobs_ioctl) || exit 1
share=$(program jobs_share) || exit 1
life=$(program jobs_life) || exit 1
rounds=${UET_ROUNDS:-300}
[ -z "$long" ] || [ -n "${UET_ROUNDS-}" ] || rounds=1000
[ $slow -le 5 ] || rounds=30

run() { # PROGRAM TEST...
	local program=$1
	shift
	need_hosts 1500
	limit 100 ip netns exec h1 "$program" -d u1 -o u2 -N /run/netns/h2 -n "$rounds" \
		-4 "$(gid_index u1 "$(address 1 4)")" -6 "$(gid_index u1 "$(address 1 6)")" "$@"
	nothing_left
}

nothing_left() {
	local left
	left=$(ip netns exec h1 uet -j job show; ip netns exec h1 uet -j skey show)
	[ -z "${left//[][[:space:]]/}" ] || fail "left behind: $left"
}

no_memory() {
	local debug=/sys/kernel/debug code=0 kind
	mountpoint -q $debug || mount -t debugfs none $debug
	[ -d $debug/failslab ] || skip "no fault injection here"
	echo N >$debug/failslab/ignore-gfp-wait
	for kind in "$debug"/fail*; do
		[ ! -e "$kind/verbose" ] || echo 0 >"$kind/verbose"
	done
	run "$life" nomem || code=$?
	echo Y >$debug/failslab/ignore-gfp-wait
	return $code
}

for test in protocol job many addr skey jkey scribble; do
	check "$test" run "$calls" "$test"
done
for test in rights namespace share foreign; do
	check "$test" run "$share" "$test"
done
for test in exit kill force gone; do
	check "$test" run "$life" "$test"
done
check "no memory" no_memory

run_checks
