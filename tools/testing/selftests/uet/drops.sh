#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Every drop and every refusal, provoked once: the right counters move, by what they
# should, and no other does; the answer is the right one (drops.c). The peer is no
# driver, so that it can send what no driver sends.
#
# Elsewhere: drop_crc (crc), drop_tx (status), drop_tx_full (queues), drop_local
# (ru_jobs), cq_overflow (events), bad_doorbell (badinput), rnr_received (status),
# page_faults (odp). drop_no_memory needs a failure in the softirq that nothing else
# sees; no test has it.
#
# guests: uml
# guests-long: uml uml-kasan qemu-debug
# timeout: 300

. "$(dirname "$(readlink -f "$0")")/lib.sh"

[ "$type" = uet ] || skip_all "needs uet"
drops=$(program drops) || exit 1

# Host 1 has a device, host 2 a second address and none.
need_peer() {
	[ ! -e "$tmp/mtu" ] || [ ! -e /sys/class/infiniband/u1 ] || return 0
	forget_hosts
	netns_up 9000
	link_add 1
	link_ready 1
	ip -n h2 addr add 10.0.0.3/24 dev v2
	echo 9000 >"$tmp/mtu"
}

provoke() { # TEST
	need_peer
	neighbours_known
	limit 60 "$drops" -a u1 -A 10.0.0.1 -w $((10 * slow)) "$1"
}

check "packets that contradict themselves" provoke malformed
check "packets of kinds that are not there" provoke unsupported
check "datagrams" provoke datagram
check "PDCs that are not there" provoke pdc_unknown
check "packets that do not fit their PDC" provoke pdc_mismatch
check "PSNs out of order" provoke order
check "the end of a PDC before its data" provoke close
check "no room behind a gap" provoke reorder
check "requests refused by RU" provoke refused
check "requests refused by RC" provoke refused_rc
check "work requests that are wrong" provoke queues
run_checks
