#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Faults that other RDMA drivers had in the field (groups CQE, MEM, ABI, OBJ), each
# tried on this one; a check is named after the entry (bugs_*.c). Some entries are
# elsewhere: CQE-11 in apps.sh, ABI-13 in netlink.sh, OBJ-04 in failslab.sh, OBJ-10 in
# life.sh, MEM-12 and OBJ-12 in kverbs.sh; the layouts of ABI-09 and ABI-15 are asserted
# when bugs_abi.c is built.
#
# guests: uml
# guests-long: uml uml-kasan qemu-debug
# single: uml
# timeout: 1500

. "$(dirname "$(readlink -f "$0")")/lib.sh"

rounds=100
[ -z "$long" ] || rounds=2000
[ $slow -le 5 ] || rounds=20

bugs() { # PROGRAM ENTRY
	local program
	program=$(program "$1")
	need_hosts 1500
	limit $((60 + rounds / 5)) "$program" -a u1 -A "$(address 1 4)" -b u2 -B "$(address 2 4)" \
		-w $((10 * slow)) -n "$rounds" "$2"
}

entry() { # ENTRY
	local group=${1%-*}
	bugs "bugs_${group,,}" "$1"
}

# The same while packets are lost, or late
entry_with() { # NETEM PROGRAM ENTRY
	local code=0
	need_hosts 1500
	# shellcheck disable=SC2086
	netem_on $1
	bugs "$2" "$3" || code=$?
	netem_off
	return $code
}

# What is asked for arrives; of what is answered a part gets lost.
reads_end() {
	local code=0 rounds=$((rounds / 3))
	need_hosts 1500
	neighbours_known
	tc -n h2 qdisc replace dev v2 root netem loss 30%
	bugs bugs_access MEM-06-QP || code=$?
	tc -n h2 qdisc del dev v2 root
	return $code
}

# Not ready, no answer, an abort of the peer and a flush are told apart.
statuses() {
	local status test
	status=$(program status)
	need_hosts 1500
	for test in rnr_retry_exc_err rem_op_err_gone wr_flush_err; do
		limit 60 "$status" -a u1 -A "$(address 1 4)" -b u2 -B "$(address 2 4)" -w $((10 * slow)) $test
	done
	netem_on loss 100%
	limit 60 "$status" -a u1 -A "$(address 1 4)" -b u2 -B "$(address 2 4)" -w $((10 * slow)) retry_exc_err
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
		for i in qp cq mr pd srq cm_id ctx; do
			rdma -j res show $i | jq . >/dev/null || fail "rdma res show $i is no JSON"
		done
	done
	wait $!
	[ "$(rdma res show | grep -E 'u[12]:')" = "$before" ]
}

# rping's server gives up when a call fails because its client is gone.
rping_serves() {
	[ ${#servers[@]} -eq 0 ] || kill -0 "${servers[-1]}" 2>/dev/null || servers=()
	[ ${#servers[@]} -gt 0 ] || serve 1 cm:7174 rping -s -P -a "$(address 1 4)" -p 7174
}

last_connection() {
	limit 5 ip netns exec h2 rping -c -a "$(address 1 4)" -p 7174 -C 3
}

server_gone() {
	! kill -0 "${servers[-1]}" 2>/dev/null
}

# Connections by rdma_cm, of which many end by a kill at any moment; then one that
# must be there within seconds.
connections() {
	local i
	need_hosts 1500
	for ((i = 0; i < rounds / 2; i++)); do
		rping_serves
		on_host 2 timeout -s KILL "0.$((RANDOM % 10))$((RANDOM % 10))" \
			rping -c -a "$(address 1 4)" -p 7174 -C 3 >/dev/null 2>&1 || :
	done
	rping_serves
	# the server may still be about to give up because of the last kill
	last_connection || { busywait 5 server_gone && rping_serves && last_connection; }
	stop_servers
	busywait $((10 * slow)) no_connections
}

no_connections() {
	[ "$(rdma -j res show qp | jq '[.[] | select(.type == "RC")] | length')" = 0 ]
}

late_answer() {
	local before
	need_hosts 1500
	before=$(counter u1 drop_pdc_unknown)
	entry_with "delay 100ms" bugs_obj OBJ-15
	[ "$(counter u1 drop_pdc_unknown)" -gt "$before" ] || fail "no late packet was counted"
}

check "CQE-01 completions go on after bad writes" entry CQE-01
check "CQE-03 SRQ sizes, and the old queue after a failure" entry CQE-03
check "CQE-04 byte count of a write with immediate data" entry CQE-04
check "CQE-05 one bad request in a chain" entry CQE-05
check "CQE-06 flushes on the right CQ" entry CQE-06
check "CQE-07 no completion is slept through" entry CQE-07
check "CQE-08 odd and zero depths" entry CQE-08
check "CQE-09 statuses that tell apart" statuses
check "CQE-10 CQ resize" entry CQE-10
check "MEM-03 length 0 needs no key" entry MEM-03
check "MEM-04 a region of length 0 allows nothing" entry MEM-04
check "MEM-05 window invalidated under writes" bugs bugs_access MEM-05
check "MEM-06 region goes while it is read or written" entry_with "delay 20ms rate 200mbit" bugs_access MEM-06
check "MEM-06 a SEND behind a WRITE whose region goes" entry_with "loss 3%" bugs_access MEM-06-SEND
check "MEM-06 a QP ends while its memory is read" reads_end
check "MEM-07 region of a bound window" entry MEM-07
check "MEM-08 regions about page boundaries" bugs bugs_access MEM-08
check "MEM-09 read-only memory" entry MEM-09
check "MEM-10 pinned pages are counted" entry MEM-10
check "MEM-11 pieces of every length and offset" bugs bugs_access MEM-11
check "MEM-13 every operation on every kind of region" bugs bugs_access MEM-13
check "MEM-14 pages taken away under on-demand regions" entry MEM-14
check "MEM-15 pages of files and the zero page" bugs bugs_access MEM-15
check "MEM-16 optional access flags" entry MEM-16
check "MEM-17 longest message" entry MEM-17
check "MEM-18 fork and part of a page" entry MEM-18
check "MEM-19 many small regions" entry MEM-19
check "MEM-20 dma-buf region, fd closed" entry MEM-20
check "ABI-02 entries are whole when they are seen" entry ABI-02
check "ABI-03 nonsense in mapped rings" entry ABI-03
check "ABI-04 sizes that overflow" entry ABI-04
check "ABI-05 lengths of the driver's part of commands" entry ABI-05
check "ABI-07 many mappings" entry ABI-07
check "ABI-08 doorbell" entry ABI-08
check "ABI-10, ABI-11 inline data of every length" entry ABI-10
check "ABI-12 both ways of posting are the same" entry ABI-12
check "ABI-14 resources are read while they come and go" restrack
check "OBJ-01 destroyed right after a send" entry OBJ-01
check "OBJ-02 destroyed when the timer runs out" entry_with "loss 100%" bugs_obj OBJ-02
check "OBJ-03 drained while another thread posts" entry OBJ-03
check "OBJ-06 queues of depth 0 and an error" entry OBJ-06
check "OBJ-08 destroyed during the first contact" entry_with "delay 5ms" bugs_obj OBJ-08
check "OBJ-09, OBJ-11 connections made and killed" connections
check "OBJ-13 mapping outlives its CQ" entry OBJ-13
check "OBJ-14 mmap of what is being destroyed" entry OBJ-14
check "OBJ-15 an answer that comes too late" late_answer
check "OBJ-16 access to a key that goes" entry OBJ-16
check "OBJ-17 multicast groups entered and left" entry OBJ-17
run_checks
