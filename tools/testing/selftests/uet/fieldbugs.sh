#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Faults that other RDMA drivers had in the field (groups CQE, MEM, ABI, OBJ), each
# tried on this one; a check is named after the entry (fieldbugs.c).
#
# guests: uml
# guests-long: uml uml-kasan
# timeout: 400

. "$(dirname "$(readlink -f "$0")")/lib.sh"

fieldbugs=$(program fieldbugs) || exit 1
rounds=100
[ -z "$long" ] || rounds=2000

entry() { # ENTRY
	need_hosts 1500
	limit $((60 + rounds / 5)) "$fieldbugs" -a u1 -A "$(address 1 4)" -b u2 -B "$(address 2 4)" \
		-w $((10 * slow)) -n $rounds "$1"
}

entry_unheard() { # ENTRY
	need_hosts 1500
	netem_on loss 100%
	entry "$1"
	netem_off
}

# Counts of "rdma resource" are read all the time while objects come and go; then
# they are what they were, with the owner's name on what is there.
restrack() {
	local before i
	need_hosts 1500
	before=$(rdma res show | grep -E 'u[12]:')
	entry OBJ-01 &
	while kill -0 $! 2>/dev/null; do
		for i in qp cq mr pd cm_id ctx; do
			rdma -j res show $i | jq . >/dev/null || fail "rdma res show $i is no JSON"
		done
	done
	wait $!
	[ "$(rdma res show | grep -E 'u[12]:')" = "$before" ]
}

check "CQE-01 completions go on after bad writes" entry CQE-01
check "CQE-03 SRQ sizes, and the old queue after a failure" entry CQE-03
check "CQE-04 byte count of a write with immediate data" entry CQE-04
check "CQE-05 one bad request in a chain" entry CQE-05
check "CQE-06 flushes on the right CQ" entry CQE-06
check "CQE-07 no completion is slept through" entry CQE-07
check "CQE-08 odd and zero depths" entry CQE-08
check "CQE-10 CQ resize" entry CQE-10
check "MEM-03 length 0 needs no key" entry MEM-03
check "MEM-04 a region of length 0 allows nothing" entry MEM-04
check "MEM-07 region of a bound window" entry MEM-07
check "MEM-09 read-only memory" entry MEM-09
check "MEM-10 pinned pages are counted" entry MEM-10
check "MEM-16 optional access flags" entry MEM-16
check "MEM-17 longest message" entry MEM-17
check "MEM-18 fork and part of a page" entry MEM-18
check "MEM-19 many small regions" entry MEM-19
check "MEM-20 dma-buf region, fd closed" entry MEM-20
check "ABI-03 nonsense in mapped rings" entry ABI-03
check "ABI-04 sizes that overflow" entry ABI-04
check "ABI-07 many mappings" entry ABI-07
check "ABI-08 doorbell" entry ABI-08
check "ABI-10, ABI-11 inline data of every length" entry ABI-10
check "ABI-14 resources are read while they come and go" restrack
check "OBJ-01 destroyed right after a send" entry OBJ-01
check "OBJ-02 destroyed when the timer runs out" entry_unheard OBJ-02
check "OBJ-06 queues of depth 0 and an error" entry OBJ-06
check "OBJ-13 mapping outlives its CQ" entry OBJ-13
check "OBJ-14 mmap of what is being destroyed" entry OBJ-14
check "OBJ-16 access to a key that goes" entry OBJ-16
check "OBJ-17 multicast groups entered and left" entry OBJ-17
run_checks
