#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# On-demand paging: memory that is touched for the first time by the device, taken away
# under traffic, read-only, or not there; the same with loss (odp.c).
#
# guests: uml
# guests-long: uml uml-kasan qemu
# single: uml
# timeout: 900

. "$(dirname "$(readlink -f "$0")")/lib.sh"

odp=$(program odp) || exit 1

paged() { # TEST [ROUNDS]
	need_hosts 1500
	limit 100 "$odp" -a u1 -A "$(address 1 4)" -b u2 -B "$(address 2 4)" \
		-w $((20 * slow)) -n "${2:-200}" "$1"
}

# Each transfer of memory that nobody has touched waits for it, and is counted.
counted() {
	local before
	need_hosts 1500
	before=$(both_counters page_faults)
	paged first_touch
	before=$(($(both_counters page_faults) - before))
	echo "page_faults rose by $before"
	[ "$before" -ge 50 ] || fail "page_faults rose by $before"
}

paged_with_loss() { # TEST ROUNDS
	need_hosts 1500
	gso_max_segs 1
	netem_on loss 1% reorder 2% delay 1ms duplicate 2%
	paged "$@"
	netem_off
	gso_max_segs 65535
}

check "paging: first_touch" counted
for test in unmapping forking holes back_again read_only prefetch refused killed; do
	check "paging: $test" paged $test
done
check "paging: first_touch, with loss, duplicates and reordering" paged_with_loss first_touch 20
check "paging: unmapping, with loss, duplicates and reordering" paged_with_loss unmapping 40
run_checks
