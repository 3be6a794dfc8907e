# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
# Sourced by every test here: two hosts (network namespaces h1 and h2, joined by
# a veth pair v1-v2) with an RDMA device each (u1, u2), and KTAP output.
#
# A test registers its checks and then runs them:
#
#	check "what is checked" COMMAND ARG...
#	run_checks
#
# COMMAND returns 0 (ok), 4 (skipped; it printed a line "SKIP: reason") or
# anything else (not ok; its output is then shown). It runs in a subshell with
# set -e. Environment:
#
#	UET_TYPE	device type: uet (default), rxe, siw
#	UET_ONLY	run only checks whose name matches this extended regexp
#	UET_LONG	1: full matrices and round counts
#	UET_VERBOSE	1: show the output of every check
#	UET_BIN		folder with the C programs (default: found by itself)
#	UET_BURSTS	off: each packet leaves by itself

set -u

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
type=${UET_TYPE:-uet}
# shellcheck disable=SC2034 # for the tests
long=${UET_LONG:-}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/uet.XXXXXX")
ksft_skip=4

# How much slower than native this guest is; deadlines grow by it.
case ${UET_GUEST:-${uet_guest:-}} in
uml-kasan) slow=5 ;;
qemu) slow=6 ;;
qemu-debug) slow=20 ;;
*) slow=1 ;;
esac

# ---------------------------------------------------------------------------
# KTAP

check_names=() check_commands=()

check() { # NAME COMMAND...
	if [[ -n ${UET_ONLY-} && ! $1 =~ $UET_ONLY ]]; then
		return 0
	fi
	check_names+=("$1")
	shift
	check_commands+=("$(printf '%q ' "$@")")
}

skip() { # REASON...
	echo "SKIP: $*"
	exit $ksft_skip
}

fail() { # REASON...
	echo "FAIL: $*"
	exit 1
}

kmsg() {
	[ ! -w /dev/kmsg ] || echo "uet-test: $*" >/dev/kmsg
}

complaints='WARNING|BUG:|KASAN|UBSAN|Oops|Call Trace|refcount_t|general protection'
complaints+='|list_(add|del) corruption|INFO: (task|rcu)|possible .* lock|usage count = '

# New complaints of the kernel since the mark of check $1.
kernel_complained() {
	dmesg 2>/dev/null | sed "1,/uet-test: begin $1 /d" | grep -aE "$complaints" | head -n 5
}

# Run check number $1; its output goes to $tmp/check.
run_check() {
	local number=$1 mark=$$.$1 found
	kmsg "begin $mark ${check_names[number - 1]}"
	(
		trap stop_servers EXIT
		set -e
		eval "${check_commands[number - 1]}"
	) >"$tmp/check" 2>&1
	local code=$?
	found=$(kernel_complained "$mark")
	if [ -n "$found" ]; then
		printf 'the kernel complained:\n%s\n' "$found" >>"$tmp/check"
		code=1
	fi
	case $code in
	0|"$ksft_skip") ;;
	# what it did to the hosts must not fail the next one, too
	*) forget_hosts >>"$tmp/check" 2>&1 ;;
	esac
	return $code
}

# Diagnostics: the program's own not-ok lines first of all, and the end.
diagnose() {
	local lines=${1:-60}
	tail -n "$lines" "$tmp/check" | cut -c 1-300 | sed 's/^/# /'
}

run_checks() {
	local total=${#check_names[@]} number code passed=0 failed=0 skipped=0 start slowest=
	echo "TAP version 13"
	echo "1..$total"
	[ "$total" -gt 0 ] || { echo "# no check matches"; return 1; }
	for ((number = 1; number <= total; number++)); do
		start=${EPOCHREALTIME/./}
		run_check $number
		code=$?
		start=$((${EPOCHREALTIME/./} - start))
		slowest+="$((start / 1000)) ${check_names[number - 1]}"$'\n'
		case $code in
		0)
			[ -z "${UET_VERBOSE-}" ] || diagnose 1000
			echo "ok $number - ${check_names[number - 1]}"
			passed=$((passed + 1)) ;;
		"$ksft_skip")
			echo "ok $number - ${check_names[number - 1]} # SKIP $(sed -n 's/^SKIP: //p' "$tmp/check" | tail -n 1)"
			skipped=$((skipped + 1)) ;;
		*)
			[ "$code" -ne 124 ] && [ "$code" -ne 137 ] || echo "# ran out of time"
			diagnose "${UET_DIAG:-60}"
			echo "not ok $number - ${check_names[number - 1]}"
			failed=$((failed + 1)) ;;
		esac
	done
	sort -rn <<<"$slowest" | sed -n '1,3s/^\([0-9]*\) /# \1 ms: /p'
	echo "# Totals: pass:$passed fail:$failed xfail:0 xpass:0 skip:$skipped error:0"
	[ $failed -eq 0 ] || return 1
	[ $passed -gt 0 ] || return $ksft_skip
}

# For a whole test that cannot run here.
skip_all() {
	echo "TAP version 13"
	echo "1..0 # SKIP $*"
	exit $ksft_skip
}

# ---------------------------------------------------------------------------
# Waiting

# busywait SECONDS COMMAND...: until COMMAND succeeds; for states nobody announces.
busywait() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -le $end ] || { echo "waited in vain for: $*"; return 1; }
		read -rt 0.05 <> <(:) || :
	done
}

# limit SECONDS COMMAND...: SECONDS as for a native guest
limit() {
	local seconds=$(($1 * slow))
	shift
	timeout -k 5 "$seconds" "$@"
}

# ---------------------------------------------------------------------------
# Two hosts

address() { # HOST(1, 2) FAMILY(4, 6)
	case $2 in
	4) echo "10.0.0.$1" ;;
	6) echo "fd00::$1" ;;
	esac
}

have_type() {
	modprobe -q "rdma_$type" 2>/dev/null || modprobe -q "$type" 2>/dev/null ||
		grep -qw "$type" /proc/modules || [ -d "/sys/module/${type/rxe/rdma_rxe}" ]
}

# What a GID looks like in sysfs: 0000:0000:0000:0000:0000:ffff:0a00:0001
gid_text() { # ADDRESS
	python3 - "$1" <<-'END'
		import ipaddress, sys
		a = ipaddress.ip_address(sys.argv[1])
		hex = (a.packed if a.version == 6 else b'\0' * 10 + b'\xff\xff' + a.packed).hex()
		print(':'.join(hex[i:i + 4] for i in range(0, 32, 4)))
	END
}

# Index of the RoCE v2 GID with this address.
gid_index() { # DEVICE ADDRESS
	local gid port=/sys/class/infiniband/$1/ports/1 path
	case $2 in
	10.0.0.*) printf -v gid '0000:0000:0000:0000:0000:ffff:0a00:%04x' "${2##*.}" ;;
	fd00::*) printf -v gid 'fd00:0000:0000:0000:0000:0000:0000:%04x' "0x${2##*:}" ;;
	*) gid=$(gid_text "$2") ;;
	esac
	while read -r path; do
		if grep -qs v2 "$port/gid_attrs/types/${path##*/}"; then
			echo "${path##*/}"
			return
		fi
	done < <(grep -lsx "$gid" "$port"/gids/*)
	return 1
}

device_ready() { # DEVICE ADDRESS...
	local device=$1 address
	shift
	grep -q ACTIVE "/sys/class/infiniband/$device/ports/1/state" 2>/dev/null || return 1
	[ "$type" != siw ] || return 0
	for address; do
		gid_index "$device" "$address" >/dev/null || return 1
	done
}

link_add() { # HOST(1, 2) [NETDEV [DEVICE]]
	ip netns exec "h$1" rdma link add "${3:-u$1}" type "$type" netdev "${2:-v$1}"
}

link_ready() { # HOST
	busywait $((10 * slow)) device_ready "u$1" "$(address "$1" 4)" "$(address "$1" 6)"
}

address_up() { # HOST
	ip -n "h$1" link set lo up
	ip -n "h$1" addr add "10.0.0.$1/24" dev "v$1"
	ip -n "h$1" addr add "fd00::$1/64" dev "v$1" nodad
	ip -n "h$1" link set "v$1" up
}

netns_up() { # [MTU]
	local mtu=${1:-1500} host
	ip netns add h1 && ip netns add h2 || return
	ip link add v1 mtu "$mtu" netns h1 type veth peer name v2 mtu "$mtu" netns h2 || return
	for host in 1 2; do
		address_up $host
	done
	bursts_of v1 h1 && bursts_of v2 h2 || return
	busywait 10 link_is_up 1 && busywait 10 link_is_up 2
}

# Does the device send bursts in this run?
bursts_of() { # NETDEV [NAMESPACE]
	[ "${UET_BURSTS:-on}" = on ] || ip ${2:+-n "$2"} link set "$1" gso_max_segs 1
}

link_is_up() {
	ip -n "h$1" -br link show "v$1" up | grep -q LOWER_UP
}

hosts_up() { # [MTU]
	netns_up "${1:-1500}" && link_add 1 && link_add 2 && link_ready 1 && link_ready 2
}

hosts_mtu() { # MTU: of both ends
	local host
	for host in 1 2; do
		ip -n h$host link set v$host mtu "$1" || return
	done
}

hosts_down() {
	local device
	for device in u1 u2; do
		[ ! -e /sys/class/infiniband/$device ] || rdma link del $device || :
	done
	ip -n h1 link del v1 2>/dev/null || :
	ip netns del h1 2>/dev/null || :
	ip netns del h2 2>/dev/null || :
}

forget_hosts() {
	[ -e "$tmp/mtu" ] || return 0
	hosts_down
	rm -f "$tmp/mtu"
}

# For every check of a test the same two hosts, made by the first that needs them,
# and made again after a check that failed.
need_hosts() { # MTU
	local now=
	[ ! -e "$tmp/mtu" ] || now=$(cat "$tmp/mtu")
	if [ "$now" = "$1" ] && [ -e /sys/class/infiniband/u1 ] && [ -e /sys/class/infiniband/u2 ]; then
		return 0
	fi
	forget_hosts
	hosts_up "$1" || return
	echo "$1" >"$tmp/mtu"
}

# Bursts leave as one skb unless this is 1; tcpdump and netem see them whole.
gso_max_segs() { # COUNT
	[ "${UET_BURSTS:-on}" = on ] || set -- 1
	ip -n h1 link set v1 gso_max_segs "$1" && ip -n h2 link set v2 gso_max_segs "$1"
}

# Each host knows the other's link address: verbs ask for it once, for a second.
neighbours_known() {
	local host other family
	for host in 1 2; do
		other=$((3 - host))
		for family in 4 6; do
			ip -n h$host neigh replace "$(address $other $family)" dev v$host nud permanent \
				lladdr "$(ip -n h$other -j link show v$other | jq -r '.[0].address')" || return
		done
	done
}

netem_on() { # NETEM-ARGUMENT...
	neighbours_known || return
	tc -n h1 qdisc replace dev v1 root netem limit 100000 "$@" &&
		tc -n h2 qdisc replace dev v2 root netem limit 100000 "$@"
}

netem_off() {
	tc -n h1 qdisc del dev v1 root
	tc -n h2 qdisc del dev v2 root
}

# ---------------------------------------------------------------------------
# Counters

counter() { # DEVICE NAME...: the sum
	local device=$1 name
	shift
	for name; do
		rdma -j statistic show link "$device/1" | jq -r ".[0].\"$name\" // 0"
	done | awk '{ sum += $1 } END { printf "%d\n", sum }'
}

both_counters() { # NAME...: the sum of both hosts
	echo $(($(counter u1 "$@") + $(counter u2 "$@")))
}

# ---------------------------------------------------------------------------
# Programs

# Where a C program of this folder is.
program() { # NAME
	local dir
	for dir in "${UET_BIN:-/nonexistent}" "$here" "$here/../../../../build/selftests"; do
		if [ -x "$dir/$1" ] && [ ! -d "$dir/$1" ]; then
			echo "$dir/$1"
			return
		fi
	done
	echo "program $1 was not built" >&2
	return 1
}

tcp_listens() { # HOST PORT
	[ -n "$(ip netns exec "h$1" ss -Hltn "sport = :$2")" ]
}

cm_listens() { # DEVICE PORT
	rdma -j res show cm_id 2>/dev/null |
		jq -e "any(.[]; .ifname == \"$1\" and .state == \"LISTEN\" and
			((.\"src-addr\" // \"\") | endswith(\":$2\")))" >/dev/null
}

# rdma_cm shows LISTEN before requests are taken; they are once the server sleeps.
cm_serves() { # DEVICE PORT PID-OF-TIMEOUT
	cm_listens "$1" "$2" && pgrep -r S -P "$3" >/dev/null
}

# serve HOST WAIT COMMAND...: start a server there and wait until it listens.
# WAIT is tcp:PORT, cm:PORT (rdma_cm) or file:PATH (it makes that file).
servers=()
serve() {
	local host=$1 wait=$2 log
	shift 2
	log=$tmp/server.${#servers[@]}
	timeout -k 5 $((120 * slow)) ip netns exec "h$host" "$@" >"$log" 2>&1 &
	servers+=($!)
	case $wait in
	tcp:*) set -- tcp_listens "$host" "${wait#*:}" ;;
	cm:*) set -- cm_serves "u$host" "${wait#*:}" "${servers[-1]}" ;;
	file:*) set -- test -e "${wait#*:}" ;;
	esac
	busywait $((10 * slow)) listening_or_gone "${servers[-1]}" "$@" &&
		kill -0 "${servers[-1]}" 2>/dev/null && return
	echo "server did not start:"
	cat "$log"
	return 1
}

listening_or_gone() { # PID TEST...
	kill -0 "$1" 2>/dev/null || return 0
	shift
	"$@"
}

# Wait for all servers; fails if one failed. Shows what they printed then.
served() {
	local i code worst=0
	for i in "${!servers[@]}"; do
		code=0
		wait "${servers[i]}" || code=$?
		if [ $code -ne 0 ]; then
			worst=$code
			echo "server ended with $code:"
			tail -n 30 "$tmp/server.$i"
		fi
	done
	servers=()
	return $worst
}

stop_servers() {
	local pid
	for pid in "${servers[@]}"; do
		kill "$pid" 2>/dev/null || :
	done
	[ ${#servers[@]} -eq 0 ] || wait "${servers[@]}" 2>/dev/null || :
	servers=()
	return 0
}

on_host() { # HOST COMMAND...
	local host=$1
	shift
	ip netns exec "h$host" "$@"
}

# A server and a client of the same command: each gets its own -d and GID option,
# and the client the server's IPv4 address as last argument. FAMILY is that of the
# GIDs; these programs meet on a TCP connection first.
#	pair WAIT FAMILY GIDOPTION COMMAND...
pair() {
	local wait=$1 family=$2 gid=$3 index1=() index2=() code
	shift 3
	if [ -n "$gid" ] && [ "$type" != siw ]; then
		index1=("$gid" "$(gid_index u1 "$(address 1 "$family")")")
		index2=("$gid" "$(gid_index u2 "$(address 2 "$family")")")
	fi
	serve 1 "$wait" "$@" -d u1 "${index1[@]}" || return
	limit 60 ip netns exec h2 "$@" -d u2 "${index2[@]}" "$(address 1 4)" || {
		code=$?
		echo "client ended with $code; the server printed:"
		tail -n 30 "$tmp/server.0"
		return $code
	}
	served
}

clean_up() {
	stop_servers
	! declare -F also_clean_up >/dev/null || also_clean_up
	[ ! -e "$tmp/mtu" ] || hosts_down
	rm -rf "$tmp"
}
trap clean_up EXIT

have_type || skip_all "no module for RDMA device type $type"
