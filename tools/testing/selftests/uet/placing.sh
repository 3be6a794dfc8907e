#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# ATOMIC WRITE and FLUSH: what is in memory when they complete, each refusal with its
# status, and the same with loss (placing.c).
#
# guests: uml
# guests-long: uml uml-kasan
# single: uml
# timeout: 900

. "$(dirname "$(readlink -f "$0")")/lib.sh"

placing=$(program placing) || exit 1

place() { # TEST [ROUNDS]
	need_hosts 1500
	limit 100 "$placing" -a u1 -A "$(address 1 4)" -b u2 -B "$(address 2 4)" \
		-w $((20 * slow)) -n "${2:-1000}" "$1"
}

place_with_loss() { # TEST ROUNDS
	need_hosts 1500
	gso_max_segs 1
	netem_on loss 2% reorder 2% delay 1ms duplicate 2%
	place "$@"
	netem_off
	gso_max_segs 65535
}

check "atomic write: values" place atomic_values
check "atomic write: by ibv_post_send()" place atomic_posted
check "atomic write: refusals" place atomic_errors
check "flush: memory is written when it completes" place flush
check "flush: refusals" place flush_errors
check "atomic write, with loss, duplicates and reordering" place_with_loss atomic_values 200
check "flush, with loss, duplicates and reordering" place_with_loss flush 20
run_checks
