#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# rdma-core's own tests (pyverbs), all modules, on uet, rxe and siw in one guest. No
# test fails on uet, and none is skipped that rxe passes. /out/build/pyverbs/ gets
# table.tsv and, with each test and the reason of each skip, tests.tsv; vm/run
# carries them to build/pyverbs.
#
#	UET_PYVERBS	only these modules: mr,qp,...
#	UET_DRIVERS	only these drivers (uet rxe siw)
#
# guests: uml
# single: uml
# timeout: 900

. "$(dirname "$(readlink -f "$0")")/lib.sh"

set -- "$here"/../../../../build/rdma-core-*/tests
tests=$(readlink -f "$1")
[ -e "$tests/run_tests.py" ] || skip_all "no rdma-core source in build (vm/build-lib)"
python3 -c 'import pyverbs.device' 2>/dev/null || skip_all "no pyverbs here"
out=/out/build/pyverbs
[ -w /out ] || out=$tmp/pyverbs
mkdir -p "$out"
drivers=${UET_DRIVERS:-uet rxe siw}
modules=${UET_PYVERBS:-all}

# A veth pair for each driver, all in this namespace: the tests talk to themselves.
device_up() { # DRIVER ADDRESS [gid]
	ip link add "p$1" mtu 4500 type veth peer name "q$1" mtu 4500
	bursts_of "p$1"
	ip addr add "$2/30" dev "p$1"
	ip addr add "fd00:${2##*.}::1/64" dev "p$1" nodad
	ip link set "p$1" up
	ip link set "q$1" up
	modprobe -q "rdma_$1" || modprobe -q "$1" || :
	rdma link add "$1" type "$1" netdev "p$1"
	busywait 10 device_ready "$1" ${3:+"$2"}
}

run_driver() { # DRIVER NUMBER
	local driver=$1 gid=() address=10.0.0.$((4 * $2 + 1))
	case $driver in
	siw) type=siw device_up "$driver" "$address" ;;
	*)
		device_up "$driver" "$address" gid
		gid=(--gid "$(gid_index "$driver" "$address")") ;;
	esac
	rm -f "$out/$driver.tsv"
	PYTHONDONTWRITEBYTECODE=1 python3 "$here/pyverbs_run.py" "$tests" "$out/$driver.tsv" \
		$((15 * slow)) "$modules" --dev "$driver" --port 1 "${gid[@]}" \
		>"$out/$driver.log" 2>&1 || {
		tail -n 20 "$out/$driver.log"
		return 1
	}
	rdma link del "$driver"
	ip link del "p$driver"
	awk -F '\t' '{ n[$3]++ } END { for (i in n) printf "%s %d  ", i, n[i]; print "" }' "$out/$driver.tsv"
}

# module driver pass skip fail error reasons
tables() {
	local driver
	for driver in $drivers; do
		sed "s/^/$driver\t/" "$out/$driver.tsv"
	done >"$out/tests.tsv"
	{
		printf 'module\tdriver\tpass\tskip\tfail\terror\treasons of skips on uet\n'
		awk -F '\t' -v OFS='\t' '
			{ k = $2 OFS $1; n[k, $4]++; seen[k] }
			$1 == "uet" && $4 == "skip" && !((k, $5) in had) {
				had[k, $5]
				why[k] = why[k] (why[k] ? "; " : "") $5
			}
			END {
				for (k in seen)
					print k, n[k, "pass"] + 0, n[k, "skip"] + 0,
						n[k, "fail"] + 0, n[k, "error"] + 0, why[k]
			}' "$out/tests.tsv" | sort -t "$(printf '\t')" -k 1,1 -k 2,2
	} >"$out/table.tsv"
	[ "$(wc -l <"$out/table.tsv")" -gt 1 ]
}

every_reason() {
	local bad
	bad=$(awk -F '\t' '$3 == "skip" && $4 !~ /[a-z]/ { print $1 ": " $2 }' "$out"/*.tsv)
	[ -z "$bad" ] || { echo "no reason:"; echo "$bad"; return 1; }
	# that it has no such CQs says a driver that has
	bad=$(awk -F '\t' '$1 == "tag_matching" && $3 == "skip" && /Extended CQ/ { print $2 ": " $4 }' "$out/uet.tsv")
	[ -z "$bad" ] || { echo "$bad"; return 1; }
}

none_fails() {
	local bad
	bad=$(awk -F '\t' '$3 == "fail" || $3 == "error" { print $1 ": " $2 ": " $4 }' "$out/uet.tsv")
	[ -z "$bad" ] || { echo "$bad"; return 1; }
	grep -q "	pass	" "$out/uet.tsv"
}

none_skipped() {
	local bad
	bad=$(awk -F '\t' '
		NR == FNR { if ($3 == "pass") passed[$1, $2]; next }
		$3 != "pass" && ($1, $2) in passed { print $1 ": " $2 ": " $3 ": " $4 }' \
		"$out/rxe.tsv" "$out/uet.tsv")
	[ -z "$bad" ] || { echo "$bad"; return 1; }
}

number=0
for driver in $drivers; do
	number=$((number + 1))
	check "the tests run on $driver" run_driver "$driver" $number
done
check "build/pyverbs/table.tsv" tables
check "each skip has its reason" every_reason
check "no test fails on uet" none_fails
[[ $drivers != *uet*rxe* ]] || check "none that rxe passes is skipped on uet" none_skipped
run_checks
