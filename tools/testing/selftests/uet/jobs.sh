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

resource() { # OBJECT FILTER: what "rdma resource" tells of what uet_rma has
	rdma -j -dd res show "$1" | jq -c "[.[] | select(.comm == \"uet_rma\" and .ifname == \"u1\") | $2]"
}

# The window of each process is for its job; receive buffers and local memory are not.
memory_is_there() {
	[ "$(resource mr '[.drv_job, .drv_chosen_key]' | jq -c sort)" = \
		"[[null,null],[null,null],[null,null],[null,null],[77,1],[77,1]]" ]
}

ended() { # PROGRAM
	! pgrep -x "$1" >/dev/null
}

# Two processes have a QP each, and a window for their job under a chosen key.
resources() { # ADDRESSING [RMA-OPTION]
	need_hosts 1500
	command -v uet_job_launch >/dev/null || skip "the library's programs are not installed"
	serve 1 "file:$tmp" uet_job_launch -d u1 -g "$(gid_index u1 "$(address 1 4)")" -j 77 -n 2 \
		uet_rma "${@:2}" -s 4096 -o put -n 1000000000
	busywait $((10 * slow)) memory_is_there || fail "$(resource mr .)"
	rdma -dd res show qp link u1
	[ "$(resource qp '[.type, .state, .drv_mode, .drv_addressing, .drv_job, .drv_wire_qpn, .drv_src_id]' |
		jq -c sort)" = "$(printf '[["DRIVER","RTS","rud","%s",77,4096,0],' "$1"
		)$(printf '["DRIVER","RTS","rud","%s",77,4097,1]]' "$1")" ] || fail "$(resource qp .)"
	resource qp . | jq -e 'all(.[]; .drv_sq_depth >= 64 and .drv_sq_active <= .drv_sq_started and
		.drv_sq_started <= .drv_sq_depth and .drv_rq_depth >= 66 and
		.drv_rq_posted <= .drv_rq_depth and .drv_rq_posted > 0)' >/dev/null || fail "$(resource qp .)"
	[ "$(resource mr 'select(.drv_job) |
		[.drv_kind, .drv_valid, .mrlen, .drv_blocks * .drv_block_size >= .mrlen]')" = \
		'[["user",1,8200,true],["user",1,8200,true]]' ] || fail "$(resource mr .)"
	stop_servers
	busywait $((10 * slow)) ended uet_rma
	[ "$(resource qp .)$(resource mr .)" = "[][]" ] || fail "$(resource qp .)$(resource mr .)"
	nothing_left
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
check "rdma resource: QPs and memory of a job" resources relative
check "the same, absolute addressing" resources absolute -A
check "no memory" no_memory

run_checks
