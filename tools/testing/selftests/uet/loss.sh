#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Loss and reordering in both directions, for each operation: the data is right, and
# there in a bounded time; the counters say that packets were sent again.
#
# guests: uml
# guests-long: uml uml-kasan
# timeout: 900

. "$(dirname "$(readlink -f "$0")")/lib.sh"

data=$(program data) || exit 1
retransmits=(retx_rto retx_sack retx_nack)
[ "$type" != rxe ] || retransmits=(completer_retry_err rcvd_seq_err)

# Without bursts: netem would drop them whole.
need_single() { # MTU
	need_hosts "$1"
	gso_max_segs 1
}

# through NETEM-ARGUMENTS MTU SECONDS OPTION... TEST...
through() {
	local arguments mtu=$2 seconds=$3 before after code=0
	read -ra arguments <<<"$1"
	shift 3
	need_single "$mtu"
	before=$(both_counters "${retransmits[@]}")
	netem_on "${arguments[@]}"
	limit "$seconds" "$data" -m 1024 -w $((seconds * slow)) "$@" || code=$?
	netem_off
	after=$(both_counters "${retransmits[@]}")
	echo "$((after - before)) packets were sent again"
	[ $code -eq 0 ] || return $code
	case ${arguments[*]} in
	*loss*) [ "$after" -gt "$before" ] || fail "no counter of ${retransmits[*]} moved" ;;
	esac
}

# Datagrams may get lost; what arrives is right and what does not is no error.
datagrams() { # NETEM-ARGUMENTS
	local arguments
	read -ra arguments <<<"$1"
	need_single 1500
	netem_on "${arguments[@]}"
	limit 60 "$data" -m 1024 ud_lossy
	netem_off
}

server_gone() {
	! kill -0 "${servers[-1]}" 2>/dev/null
}

# A program with connection management, which has retries of its own. Only the end
# has none: rping's client destroys its id right behind the request to disconnect, so
# that nobody repeats it. If that gets lost, the server, which has answered all, stays.
connect() { # FAMILY
	need_single 1500
	netem_on loss 1%
	serve 1 cm:7174 rping -s -a "$(address 1 "$1")" -C 50 -S 3000 -V
	limit 60 ip netns exec h2 rping -c -a "$(address 1 "$1")" -C 50 -S 3000 -V
	if busywait $((10 * slow)) server_gone; then
		served
	else
		rdma res show cm_id | grep -F "link u1/1" | grep -F "state CONNECT" ||
			fail "the server does not end"
		echo "the request to disconnect got lost"
		stop_servers
	fi
	netem_off
}

big=$((4 * 1024 * 1024 + 3))
rounds=50
[ -z "$long" ] || big=$((16 * 1024 * 1024 + 3)) rounds=500
[ $slow -eq 1 ] || big=2000000 rounds=10

rc=(rc_send rc_send_imm rc_write rc_write_imm rc_read rc_mix rc_64_qps rc_fence)
ru=()
[ "$type" != uet ] || ru=(ru_send ru_send_imm ru_write ru_write_imm ru_read ru_mix)
for test in "${rc[@]}" "${ru[@]}"; do
	check "$test, 1 % loss" through "loss 1%" 1500 40 -M $big -n $rounds "$test"
done
for test in "${rc[@]}" "${ru[@]}"; do
	check "$test, 5 % reordered" through "delay 500us reorder 95% 25%" 1500 40 -M $big -n $rounds "$test"
done
check "RC, MTU 9000, 1 % loss" through "loss 1%" 9000 60 -M $big -n $rounds rc_send rc_write rc_read rc_mix
check "RC, 10 % loss" through "loss 10%" 1500 60 -M 100000 -n 10 rc_send rc_write rc_read rc_mix
check "RC, 1 % loss, reordered and duplicated" through \
	"delay 200us 100us loss 1% duplicate 1%" 1500 60 -M $big -n $rounds rc_send rc_read rc_mix
check "receiver not ready, 5 % loss" through "loss 5%" 1500 60 rc_rnr
if [ "$type" = uet ]; then
	check "RU, 10 % loss" through "loss 10%" 1500 60 -M 100000 -n 10 ru_send ru_write ru_read ru_mix
	check "UC, 10 % loss" through "loss 10%" 1500 60 -M 100000 uc_send uc_send_imm uc_write uc_write_imm
	check "UC, 10 % loss, refused messages" through "loss 10%" 1500 60 uc_bad_key uc_bad_key_imm uc_no_right \
		uc_no_buffer uc_too_long uc_mix
	check "RU, MTU 9000, 1 % loss" through "loss 1%" 9000 60 -M $big -n $rounds ru_send ru_write ru_read ru_mix
fi
check "UD, 10 % loss" datagrams "loss 10%"
check "UD, reordered" datagrams "delay 500us reorder 75% 25%"
check "rping, 1 % loss, IPv4" connect 4
check "rping, 1 % loss, IPv6" connect 6

run_checks
