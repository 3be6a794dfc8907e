#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Atomics on one word, contended by two QPs and by eight processes: the exact sum, and
# each old value exactly once, with and without loss (atomics.c).
#
# guests: uml
# guests-long: uml uml-kasan qemu qemu-debug
# single: uml
# timeout: 900

. "$(dirname "$(readlink -f "$0")")/lib.sh"

atomics=$(program atomics) || exit 1
ops=1000
[ -z "$long" ] || ops=20000
[ $slow -le 6 ] || ops=1000

contend() { # WHAT OPS [FAMILY]
	need_hosts 1500
	limit 100 "$atomics" -a u1 -A "$(address 1 "${3:-4}")" -b u2 -B "$(address 2 "${3:-4}")" \
		-n "$2" -w $((30 * slow)) "$1"
}

# What is sent again is answered again and not executed again.
contend_with_loss() { # WHAT OPS
	need_hosts 1500
	gso_max_segs 1
	netem_on loss 3% reorder 2% delay 1ms duplicate 2%
	contend "$@"
	netem_off
	gso_max_segs 65535
}

check "two QPs" contend qps $ops
check "two QPs, IPv6" contend qps $ops 6
check "eight processes" contend procs $ops
check "eight processes, compare and swap" contend cas $((ops / 10))
check "two QPs, with loss, duplicates and reordering" contend_with_loss qps $ops
check "eight processes, with loss, duplicates and reordering" contend_with_loss procs $((ops / 4))
run_checks
