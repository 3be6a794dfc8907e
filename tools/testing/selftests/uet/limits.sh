#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Each maximum that a device names is reached, and one more is refused: sizes of queues
# and requests (limits.c), messages, regions and tables (limits_port.c), and numbers of
# objects (limits_count.c).
#
#	max_qp_wr max_sge max_sge_rd inline data	queues, lists
#	max_qp_rd_atom max_qp_init_rd_atom max_res_rd_atom	reads
#	max_cqe num_comp_vectors max_cq_count max_cq_period	completions, moderation
#	max_srq_wr max_srq_sge				srq
#	max_msg_sz					message		--long
#	max_mr_size					region		--long
#	max_pkeys phys_port_cnt gid_tbl_len		pkeys, gids
#	max_mcast_grp max_mcast_qp_attach max_total_mcast_qp_attach	groups, members
#	max_pd						pd
#	max_cq max_qp max_srq				cq, qp, srq
#	max_mr max_mw max_ah				mr, mw, ah	--long
#	max_job_ids max_skeys max_addr_entries		job, skey, ranks
#	max_job_keys					jkey		--long
#
# The kernel alone sees max_fast_reg_page_list_len.
#
# guests: uml
# guests-long: uml
# timeout: 900
# mem: 6G

. "$(dirname "$(readlink -f "$0")")/lib.sh"

[ "$type" = uet ] || skip_all "limits of uet"
queues=$(program limits) || exit 1
port=$(program limits_port) || exit 1
counts=$(program limits_count) || exit 1

run() { # PROGRAM TEST
	need_hosts 1500
	limit 200 "$1" -a u1 -A "$(address 1 4)" -b u2 -B "$(address 2 4)" -w $((60 * slow)) "$2"
}

# More addresses than there are places
gids() {
	local i code=0
	need_hosts 1500
	for ((i = 0; i < 300; i++)); do
		echo "addr add 10.65.$((i >> 8)).$((i & 255))/32 dev v1"
	done >"$tmp/addresses"
	ip -n h1 -batch "$tmp/addresses"
	ip -n h2 route add 10.65.0.0/16 via 10.0.0.1
	busywait 10 last_gid || code=1
	[ $code = 1 ] || run "$port" gids || code=$?
	sed -i 's/^addr add/addr del/' "$tmp/addresses"
	ip -n h1 -batch "$tmp/addresses"
	return $code
}

last_gid() {
	! grep -qx '[0:]*' /sys/class/infiniband/u1/ports/1/gids/255
}

count() { # KIND
	need_hosts 1500
	limit 400 ip netns exec h1 "$counts" -d u1 "$1"
}

for test in queues lists reads completions moderation srq; do
	check "$test" run "$queues" $test
done
for test in pkeys groups members; do
	check "$test" run "$port" $test
done
check "gids" gids
for kind in pd cq qp srq job skey ranks; do
	check "number: $kind" count $kind
done
if [ -n "$long" ]; then
	check "message" run "$port" message
	check "region" run "$port" region
	for kind in mr mw ah jkey; do
		check "number: $kind" count $kind
	done
fi
run_checks
