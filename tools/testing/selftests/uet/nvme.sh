#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# NVMe over Fabrics, target and initiator on one host over its own address: connect,
# fio with verification, clean disconnect; with 1 % loss too.
#
# The kernel's NVMe drivers live in the first network namespace, so everything here
# does. Traffic to an own address passes lo, where the loss is.
#
# guests: uml
# guests-long: uml qemu qemu-debug
# single: uml
# timeout: 900

. "$(dirname "$(readlink -f "$0")")/lib.sh"

nqn=nqn.2026-01.uet:test
address=10.0.0.1
config=/sys/kernel/config/nvmet
seconds=20
[ -z "$long" ] || seconds=60

modprobe -q nvme-rdma || [ -d /sys/module/nvme_rdma ] || skip_all "no nvme-rdma in this kernel"
modprobe -q nvmet-rdma || [ -d /sys/module/nvmet_rdma ] || skip_all "no nvmet-rdma in this kernel"
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
command -v nvme fio >/dev/null || skip_all "no nvme or fio here"

device_up() {
	[ ! -e /sys/class/infiniband/n0 ] || return 0
	ip link add p0 mtu 9000 type veth peer name p1 mtu 9000
	bursts_of p0
	ip addr add $address/24 dev p0
	ip link set lo mtu 9000 up
	ip link set p0 up
	ip link set p1 up
	rdma link add n0 type "$type" netdev p0
	busywait 10 device_ready n0 $address
}

target_up() {
	local subsys=$config/subsystems/$nqn port=$config/ports/1
	[ ! -e "$subsys" ] || return 0
	mkdir -p "$tmp/disk"
	mount -t tmpfs -o size=80m none "$tmp/disk"
	truncate -s 64M "$tmp/disk/image"
	mkdir "$subsys" "$subsys/namespaces/1"
	echo 1 >"$subsys/attr_allow_any_host"
	echo 1 >"$subsys/namespaces/1/buffered_io"
	echo "$tmp/disk/image" >"$subsys/namespaces/1/device_path"
	echo 1 >"$subsys/namespaces/1/enable"
	mkdir "$port"
	echo rdma >"$port/addr_trtype"
	echo ipv4 >"$port/addr_adrfam"
	echo $address >"$port/addr_traddr"
	echo 4420 >"$port/addr_trsvcid"
	ln -s "$subsys" "$port/subsystems/$nqn"
	busywait 10 cm_listens n0 4420
}

target_down() {
	local subsys=$config/subsystems/$nqn port=$config/ports/1
	[ -e "$subsys" ] || return 0
	rm -f "$port/subsystems/$nqn"
	rmdir "$port"
	echo 0 >"$subsys/namespaces/1/enable"
	rmdir "$subsys/namespaces/1" "$subsys"
	umount "$tmp/disk"
}

# The disk that the connection made, once it is there.
disk() {
	local subsystem dir
	for subsystem in /sys/class/nvme-subsystem/*; do
		[ "$(cat "$subsystem/subsysnqn" 2>/dev/null)" = $nqn ] || continue
		for dir in "$subsystem"/nvme*n1; do
			[ -b "/dev/${dir##*/}" ] && echo "/dev/${dir##*/}" && return
		done
	done
	return 1
}

connect() { # OPTION...
	device_up
	target_up
	limit 30 nvme connect -t rdma -a $address -s 4420 -n $nqn -i 2 -Q 64 \
		--hostnqn=nqn.2026-01.uet:host --hostid=11111111-2222-3333-4444-555555555555 "$@"
	busywait $((10 * slow)) disk
}

# Nothing may be left of the queues of either side: only the CM's own QP 1 is.
disconnect() {
	limit 30 nvme disconnect -n $nqn
	busywait $((10 * slow)) no_qps
}

no_qps() {
	[ "$(rdma -j res show qp | jq '[.[] | select(.ifname == "n0" and .type == "RC")] | length')" = 0 ]
}

# Without serialize_overlap a block may be read while the next round writes it, which
# fio itself says can fail.
verified() { # SECONDS
	timeout -k 5 $(($1 + 60 * slow)) fio --name=verify "--filename=$(disk)" --direct=1 --ioengine=libaio \
		--rw=randrw --bs=16k --iodepth=16 --time_based "--runtime=$1" --verify=crc32c \
		--serialize_overlap=1 \
		--verify_backlog=64 --verify_fatal=1 --group_reporting --output="$tmp/fio" || :
	grep -E 'IOPS|err=' "$tmp/fio"
	grep -q 'err= 0' "$tmp/fio" || { cat "$tmp/fio"; dmesg | tail -n 20; return 1; }
}

# Large pieces besides, written and read back
large_pieces() {
	local sum
	head -c 8M /dev/urandom >"$tmp/disk/data"
	dd if="$tmp/disk/data" "of=$(disk)" bs=1M oflag=direct status=none
	sum=$(sha256sum <"$tmp/disk/data")
	dd "if=$(disk)" bs=1M count=8 iflag=direct status=none | sha256sum | grep -qF "$sum"
	rm "$tmp/disk/data"
}

smoke() {
	connect
	verified $seconds
	large_pieces
	disconnect
}

with_loss() {
	connect
	ip link set lo gso_max_segs 1
	tc qdisc add dev lo root netem limit 100000 loss 1%
	verified $seconds
	tc qdisc del dev lo root
	ip link set lo gso_max_segs 65535
	disconnect
}

# The same again, so that nothing of the first time is in the way
cycles() {
	local i
	for ((i = 0; i < ${long:+2}5; i++)); do
		connect
		dd "if=$(disk)" of=/dev/null bs=64k count=64 iflag=direct status=none
		disconnect
	done
}

# The target goes first: the initiator sees it and gives up when told to.
target_goes() {
	connect --ctrl-loss-tmo=5 --reconnect-delay=1 --keep-alive-tmo=5
	target_down
	busywait $((30 * slow)) no_disk
	busywait $((10 * slow)) no_qps
}

no_disk() {
	! disk >/dev/null
}

links_down() {
	target_down
	rdma link del n0
	ip link del p0
	no_qps
}

tidy() {
	tc qdisc del dev lo root 2>/dev/null
	nvme disconnect -n $nqn >/dev/null 2>&1
	target_down
	[ ! -e /sys/class/infiniband/n0 ] || rdma link del n0
	clean_up
}
trap tidy EXIT

check "fio verifies for $seconds s, clean disconnect" smoke
check "the same with 1 % loss" with_loss
check "connect and disconnect again and again" cycles
check "the target goes under the initiator" target_goes
check "everything can be taken down" links_down
run_checks
