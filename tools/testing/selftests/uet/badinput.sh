#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Wrong input of every kind (badinput.c): a clear error each time, no complaint of the
# kernel, and a process that uses the same devices meanwhile does not notice.
# Netlink input is netlink.sh's.
#
# guests: uml uml-kasan
# guests-long: uml uml-kasan qemu-debug
# single: uml
# timeout: 1500

. "$(dirname "$(readlink -f "$0")")/lib.sh"

badinput=$(program badinput) || exit 1
rounds=100
[ -z "$long" ] || rounds=3000
[ $slow -eq 1 ] || [ -n "$long" ] || rounds=40
[ $slow -le 5 ] || rounds=20

try() { # FAMILY TEST...
	local family=$1
	shift
	need_hosts 1500
	limit 100 "$badinput" -a u1 -A "$(address 1 "$family")" -b u2 -B "$(address 2 "$family")" \
		-n $rounds -w $((20 * slow)) "$@"
}

refusals=0

# refused_link MESSAGE LOG NAMESPACE NAME NETDEV [COMMAND...]: rdma link add is refused
# with that message, and one line in the kernel's log says why; none if LOG is ''.
refused_link() {
	local message=$1 log=$2 namespace=$3 name=$4 netdev=$5 mark said lines
	shift 5
	mark="refusal $((++refusals)): $name on $netdev"
	kmsg "$mark"
	if said=$(ip netns exec "$namespace" "$@" rdma link add "$name" type "$type" netdev "$netdev" 2>&1); then
		rdma link del "$name" || :
		fail "$mark: it was accepted"
	fi
	lines=$(dmesg | sed "1,/uet-test: $mark/d" | grep -E "\] ${type}(_dp)?: " || :)
	echo "$mark: $said; $lines"
	[ "$said" = "error: $message" ] || fail "expected $message"
	[ "$(grep -c . <<<"$lines")" = "${log:+1}" ] || [ -z "$lines$log" ] || fail "not one line in the log"
	grep -qE "$log" <<<"$lines" || fail "the log does not say: $log"
}

links() {
	need_hosts 1500
	refused_link 'No such device' '' h1 x1 nosuch
	refused_link 'Operation not supported' 'lo is a loopback device; use an Ethernet device' h1 x1 lo
	refused_link 'Operation already in progress' 'v1 has a uet link already' h1 u9 v1
	refused_link 'Operation already in progress' 'v1 has a uet link already' h1 u1 v1
	small_mtu
	on_host 1 rdma link show u1/1 | grep -q ACTIVE
}

# Kinds of interfaces, a name that is taken, and who may not; the dummy is none of it.
interfaces() {
	need_hosts 1500
	ip -n h1 link add d9 type dummy
	ip -n h1 link add link d9 name d9.5 type vlan id 5
	ip -n h1 link add bond9 type bond mode active-backup
	ip -n h1 link add p9 type dummy
	ip -n h1 link set p9 master bond9
	# its device node comes with the module
	modprobe -q tun || :
	ip -n h1 tuntap add dev tun9 mode tun
	refused_link 'Cannot assign requested address' 'd9\.5 is a VLAN; add the link to d9' h1 x1 d9.5
	refused_link 'Device or resource busy' 'p9 is a port of a bond or team' h1 x1 p9
	refused_link 'Wrong medium type' 'tun9 is not an Ethernet device' h1 x1 tun9
	refused_link 'File exists' 'an RDMA device u1 exists already' h1 u1 d9
	refused_link 'Operation not permitted' '' h1 x1 d9 \
		setpriv --reuid 65534 --regid 65534 --clear-groups
	link_add 1 d9 x1
	rdma link del x1
	ip -n h1 link del tun9
	ip -n h1 link del bond9
	ip -n h1 link del p9
	ip -n h1 link del d9
}

port_owner='
import signal, socket, sys
s = socket.socket(getattr(socket, sys.argv[1]), socket.SOCK_DGRAM)
if s.family == socket.AF_INET6:
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
s.bind(("", 4793))
open(sys.argv[2], "w")
signal.pause()
'

# Another socket has the port of UET, of IPv4 or of IPv6 only.
port_taken() {
	local family
	ip netns add h3
	ip -n h3 link add d3 type dummy
	for family in AF_INET AF_INET6; do
		rm -f "$tmp/bound"
		serve 3 "file:$tmp/bound" python3 -c "$port_owner" "$family" "$tmp/bound"
		refused_link 'Address already in use' 'd3: cannot speak UET: error -(98|EADDRINUSE)' h3 x1 d3
		stop_servers
	done
	ip netns exec h3 rdma link add x1 type "$type" netdev d3
	rdma link del x1
	ip netns del h3
}

# No packet of UET fits: the link is refused, or is there with its port down.
small_mtu() {
	ip link add mini mtu 1000 type dummy
	ip link set mini up
	if rdma link add x1 type "$type" netdev mini; then
		rdma link show x1/1
		[[ $(rdma link show x1/1) != *ACTIVE* ]]
		rdma link del x1
	fi
	ip link del mini
}

generic=(sizes memory modify address post local remote length datagram peer commands)
special=()
[ "$type" != uet ] || special=(udata handles doorbell mmap rings scribble)

if [ "$type" = uet ]; then
	check "rdma link add of what cannot be" links
	check "rdma link add for other interfaces" interfaces
	check "rdma link add while UDP port 4793 is taken" port_taken
fi
for test in "${generic[@]}" "${special[@]}"; do
	check "$test" try 4 "$test"
done
check "modify, address, remote, datagram and peer, IPv6" try 6 modify address remote datagram peer

run_checks
