#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# A random program of verbs commands and work requests (fuzz.c): the kernel does not
# complain, a process that uses the same devices does not notice, and what the program
# left behind is taken away. UET_SEED=N repeats a run, UET_CALLS=N is its length.
#
# guests: uml-kasan
# guests-long: uml-kasan qemu-debug
# timeout: 3000

. "$(dirname "$(readlink -f "$0")")/lib.sh"

fuzz=$(program fuzz) || exit 1
calls=20000
[ -z "$long" ] || calls=1000000
# one of these costs as much as ten elsewhere
[ $slow -le 5 ] || calls=$((calls / 50))
calls=${UET_CALLS:-$calls}

random_program() { # FAMILY CALLS
	need_hosts 1500
	timeout -k 5 $(($2 * slow / 500 + 120 * slow)) "$fuzz" -a u1 -A "$(address 1 "$1")" \
		-b u2 -B "$(address 2 "$1")" -w $((20 * slow)) -n "$2" ${UET_SEED:+-S "$UET_SEED"}
	busywait $((10 * slow)) objects_gone
	limit 60 "$(program data)" -m 1024 -M 100000 rc_send rc_write rc_read >/dev/null
}

# All that belonged to a process is gone.
objects_gone() {
	local kind
	for kind in ctx pd cq qp mr srq; do
		[ "$(rdma -j res show $kind | jq '[.[] | select(.pid)] | length')" = 0 ] || return 1
	done
}

check "$calls random calls" random_program 4 "$calls"
check "$((calls / 4)) random calls, IPv6" random_program 6 $((calls / 4))
run_checks
