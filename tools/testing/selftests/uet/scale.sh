#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Many of everything: peers of one RU QP (scale.c), ranks of a job, jobs of a device,
# regions of a protection domain (scale_many.c); and what rxe and siw pay for a peer
# (scale_cm.c). Rows R6 (memory) and R7 (time) of the bench's table are printed and
# written to build/scale/table.tsv.
#
# guests: uml
# guests-long: uml uml-kasan
# timeout: 900
# mem: 3G
# UET_PEERS: how many peers

. "$(dirname "$(readlink -f "$0")")/lib.sh"

[ "$type" = uet ] || skip_all "compares others with uet itself"
scale=$(program scale) || exit 1
many=$(program scale_many) || exit 1
cm=$(program scale_cm) || exit 1

peers=${UET_PEERS:-500}
connections=200
[ -z "$long" ] || [ -n "${UET_PEERS-}" ] || peers=10000
[ -z "$long" ] || connections=1000
# With debug information slabs are larger by more than what is measured.
exact=-e
if [ $slow -gt 1 ]; then
	peers=$((peers / 5)) connections=$((connections / 5)) exact=
fi

out=/out/build/scale
[ -w /out ] || out=$tmp/scale
mkdir -p "$out"
raw=$tmp/figures
: >"$raw"

# All of a prefix is local on host 2: by its device, or for the host as a whole.
prefix_up() { # DEVICE
	ip -n h2 route replace local 10.64.0.0/16 dev "$1"
	ip -n h2 -6 route replace local fd64::/64 dev "$1"
	ip -n h1 route replace 10.64.0.0/16 via 10.0.0.2
	ip -n h1 -6 route replace fd64::/64 via fd00::2
}

# Contexts of all peers are open at a time, so they must not be idle sooner.
ready() { # DEVICE PEERS
	need_hosts 1500
	prefix_up "$1"
	uet -n h1 dev set u1 pdc-idle $(($2 > 1000 ? 10000 : 3000))
}

run() { # DEVICE FAMILY PEERS TEST...
	local device=$1 family=$2 n=$3 file=()
	shift 3
	# one figure of a kind; the others are just printed
	[ "$device$family" != v24 ] || file=(-o "$raw")
	ready "$device" "$n"
	limit 90 "$scale" -A "$(address 1 "$family")" -B "$(address 2 "$family")" -w $((20 * slow)) \
		-n "$n" "${file[@]}" $exact "$@"
}

# Slabs have pages: the memory that less than a hundred peers take is not to be seen.
growing() {
	local n
	for ((n = 10; n < peers; n *= 10)); do
		run v2 4 $n peers
	done
}

# Its last act is to delete a device.
sender() {
	run v2 4 "$peers" sender
	rm "$tmp/mtu"
	hosts_down
}

connect_all() { # DRIVER
	serve 2 cm:7471 "$cm" -s -A "$(address 2 4)" -n $connections -w $((20 * slow)) || return
	limit 90 ip netns exec h1 "$cm" -A "$(address 2 4)" -n $connections -d "$1" -o "$raw" \
		-w $((20 * slow)) $exact || { tail -n 30 "$tmp/server.0"; return 1; }
	served
}

# rdma_cm with DRIVER instead of uet
connects() { # DRIVER
	local was=$type code=0
	[ ! -e "$tmp/mtu" ] || hosts_down
	rm -f "$tmp/mtu"
	type=$1
	have_type || skip "no module for $1"
	hosts_up 1500 && connect_all "$1" || code=$?
	type=$was
	hosts_down
	return $code
}

# quartile ROW OP DRIVER PEERS: the first quartile of the first of the figures
quartile() {
	awk -v row="$1" -v op="$2" -v driver="$3" -v n="$4" \
		'$1 == row && $3 == op && $6 == driver && $5 == n { print $8; found = 1; exit }
		END { exit !found }' "$raw"
}

# R7: the goal is a twentieth of what a connection takes. Work beside this on the host
# disturbs one more than the other, and the quartile less than the median.
against() { # DRIVER
	local first connect n=$((peers < 1000 ? peers : 1000))
	first=$(quartile R7 first uet $n) || skip "not measured"
	connect=$(quartile R7 rdma_cm "$1" $connections) || skip "not measured"
	awk -v a="$first" -v b="$connect" -v d="$1" -v exact="$exact" 'BEGIN {
		printf "first message to a peer %.1f us, rdma_cm on %s %.1f us: %.1f times\n", a, d, b, b / a
		exit exact != "" && b < 5 * a }'
}

table() {
	{
		printf 'row\tmtu\top\tbytes\tqps\tdriver\tmedian\tq1\tq3\tunit\tdepth\n'
		cat "$raw"
	} >"$out/table.tsv"
	[ "$(wc -l <"$out/table.tsv")" -gt 1 ] || skip "nothing was measured"
	cat "$out/table.tsv"
}

many() { # TEST
	need_hosts 1500
	limit 90 "$many" -a u1 -A "$(address 1 4)" -b u2 -B "$(address 2 4)" -w $((20 * slow)) \
		-n $((100000 / (slow > 1 ? 10 : 1))) "$1"
}

check "peers of one QP" growing
check "peers of one QP, all" run v2 4 "$peers" peers
check "peers of one QP, IPv6" run v2 6 "$peers" peers
check "peers at addresses of lo" run lo 4 100 peers
check "peers at addresses of lo, IPv6" run lo 6 100 peers
check "ranks of a job" run v2 4 "$peers" ranks
check "peers of one QP: the sender's share" sender
for test in jobs regions; do
	check "many $test" many $test
done
for driver in uet rxe siw; do
	check "connections by rdma_cm, $driver" connects $driver
done
for driver in rxe siw; do
	check "first messages against connections, $driver" against $driver
done
check "build/scale/table.tsv" table
run_checks
