# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# Sourced by bench.sh: NVMe over Fabrics (R12), target and initiator on one host over
# its own address, since the kernel's NVMe drivers live in the first network namespace.
# The disk behind it is null_blk, which costs nothing; fio reads from it.

nvme_nqn=nqn.2026-01.uet:bench
nvme_address=10.0.9.1
nvme_config=/sys/kernel/config/nvmet
nvme_disk=/dev/nullb0
nvme_modules="nvme-rdma nvmet-rdma nvme-tcp nvmet-tcp"

nvme_cells() { # MTU
	local module
	for module in $nvme_modules; do
		modprobe -q "$module" || [ -d "/sys/module/${module/-/_}" ] || return 0
	done
	[ -b $nvme_disk ] && command -v nvme fio >/dev/null || return 0
	echo "R12 $1 randread 4096 1 32"
	echo "R12 $1 read 131072 1 8"
}

nvme_device_up() { # MTU DRIVER
	ip link add p0 mtu "$1" type veth peer name p1 mtu "$1" &&
		ip addr add $nvme_address/24 dev p0 &&
		ip link set lo mtu "$1" up && ip link set p0 up && ip link set p1 up || return
	[ "$2" != tcp ] || return 0
	rdma link add n0 type "$2" netdev p0 && busywait 10 active n0
}

nvme_target_up() { # TRANSPORT
	local subsys=$nvme_config/subsystems/$nvme_nqn port=$nvme_config/ports/1
	mkdir "$subsys" "$subsys/namespaces/1" "$port" &&
		echo 1 >"$subsys/attr_allow_any_host" &&
		echo $nvme_disk >"$subsys/namespaces/1/device_path" &&
		echo 1 >"$subsys/namespaces/1/enable" &&
		echo "$1" >"$port/addr_trtype" &&
		echo ipv4 >"$port/addr_adrfam" &&
		echo $nvme_address >"$port/addr_traddr" &&
		echo 4420 >"$port/addr_trsvcid" &&
		ln -s "$subsys" "$port/subsystems/$nvme_nqn"
}

# The disk that the connection made, once it is there.
nvme_found() {
	local subsystem dir
	for subsystem in /sys/class/nvme-subsystem/*; do
		[ "$(cat "$subsystem/subsysnqn" 2>/dev/null)" = $nvme_nqn ] || continue
		for dir in "$subsystem"/nvme*n1; do
			[ -b "/dev/${dir##*/}" ] && echo "/dev/${dir##*/}" && return
		done
	done
	return 1
}

nvme_up() { # MTU DRIVER
	local transport=rdma
	[ "$2" != tcp ] || transport=tcp
	nvme_device_up "$1" "$2" && nvme_target_up $transport &&
		timeout 30 nvme connect -t $transport -a $nvme_address -s 4420 -n $nvme_nqn -i 2 -Q 64 \
			--hostnqn=nqn.2026-01.uet:host --hostid=11111111-2222-3333-4444-555555555555 &&
		busywait 10 nvme_found
}

nvme_down() {
	local subsys=$nvme_config/subsystems/$nvme_nqn port=$nvme_config/ports/1
	if nvme_found >/dev/null; then
		timeout 30 nvme disconnect -n $nvme_nqn >/dev/null
	fi
	if [ -d "$port" ]; then
		rm -f "$port/subsystems/$nvme_nqn"
		rmdir "$port"
	fi
	if [ -d "$subsys" ]; then
		echo 0 >"$subsys/namespaces/1/enable"
		rmdir "$subsys/namespaces/1" "$subsys"
	fi
	[ ! -e /sys/class/infiniband/n0 ] || rdma link del n0
	ip link del p0 2>/dev/null
}

measure_R12() { # MTU OP BYTES QPS DEPTH DRIVER
	local iops
	if nvme_up "$1" "$6" >"$tmp/start" 2>&1 &&
		timeout 60 fio --name=bench "--filename=$(nvme_found)" --direct=1 --ioengine=libaio \
			"--rw=$2" "--bs=$3" "--iodepth=$5" --time_based "--runtime=$((seconds + 1))" \
			--output-format=json "--output=$tmp/fio" >"$tmp/start" 2>&1; then
		iops=$(jq -r '.jobs[0].read.iops' "$tmp/fio")
		if [ "$2" = randread ]; then
			record R12 "$@" IOPS "$iops"
		else
			record R12 "$@" MB/s "$(awk "BEGIN { printf \"%.2f\", $iops * $3 / 1e6 }")"
		fi
	else
		echo "# R12 $*: no result"
		sed 's/^/#   /' "$tmp/start"
	fi
	nvme_down
}
