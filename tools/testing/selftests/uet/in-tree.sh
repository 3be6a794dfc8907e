#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck disable=SC2317 # report calls these
#
# Copied into a kernel tree and hooked up by in-tree.patch, the driver builds there as
# modules and built in, for x86-64, without a warning at W=1.
#
# guests-long: host
# timeout: 1500

. "$(dirname "$(readlink -f "$0")")/vm/lib.sh"

driver=drivers/infiniband/hw/uet
uapi=include/uapi/rdma
work=$build/in-tree tree=$build/in-tree/tree obj=$build/in-tree/obj
number=0 failed=0

# What the driver depends on, and nothing that it selects: that is tested as well.
options="64BIT SMP PRINTK MODULES MULTIUSER FUTEX UNWINDER_FRAME_POINTER PCI NET INET IPV6
	NETFILTER INFINIBAND INFINIBAND_USER_ACCESS INFINIBAND_USER_MAD INFINIBAND_ADDR_TRANS"

# A tree of links to the source, which is not to be written to, with real folders on
# the way to what is added and real files for what is changed.
plant() { # SOURCE
	local dir file
	rm -rf "$work"
	for dir in . drivers drivers/infiniband drivers/infiniband/hw include include/uapi $uapi; do
		rm -f "$tree/$dir"
		mkdir -p "$tree/$dir"
		ln -s "$1/$dir"/* "$tree/$dir/" || return
	done
	for file in Makefile drivers/infiniband/Kconfig drivers/infiniband/hw/Makefile; do
		cp --remove-destination "$1/$file" "$tree/$file" || return
	done
	rsync -a --include='*/' --include='*.[ch]' --include=Makefile --include=Kconfig --exclude='*' \
		"$top/$driver/" "$tree/$driver/" &&
		cp "$top/$uapi"/*.h "$tree/$uapi/" &&
		patch -s --fuzz=0 -d "$tree" -p1 <"$top/tools/testing/selftests/uet/in-tree.patch"
}

kmake() {
	nice make -s -C "$tree" O="$obj" ARCH=x86_64 -j"$jobs" "$@"
}

configure() { # m|y
	local name
	mkdir -p "$obj" || return
	{
		for name in $options; do echo "CONFIG_$name=y"; done
		echo "CONFIG_INFINIBAND_UET=$1"
	} >"$obj/fragment"
	kmake tinyconfig &&
		(cd "$obj" && "$tree/scripts/kconfig/merge_config.sh" -m -O "$obj" .config fragment) &&
		kmake olddefconfig && kmake prepare
}

configured() { # m|y
	configure "$1" >"$work/configure" 2>&1 || { tail -n 40 "$work/configure"; return 1; }
	chosen INFINIBAND_UET "$1" && chosen NET_UDP_TUNNEL "$1"
}

chosen() { # SYMBOL VALUE
	grep -qx "CONFIG_$1=$2" "$obj/.config" ||
		{ echo "CONFIG_$1=$2 is not in the configuration"; return 1; }
}

# From nothing, so that no old object hides a warning. Built in, the two modules must
# get along in one program: linking them shows names that both have.
built() { # m|y
	rm -rf "${obj:?}/$driver"
	kmake W=1 "$driver/" || return
	case $1 in
	m) ls "$obj/$driver/uet.o" "$obj/$driver/uet_dp.o" >/dev/null ;;
	y) (cd "$obj" && ld -r -o "$work/linked.o" --whole-archive "$driver/built-in.a") ;;
	esac
}

# report NAME COMMAND...: ok when the command succeeds and says nothing
report() {
	local name=$1 log=$build/in-tree.log
	shift
	number=$((number + 1))
	if "$@" >"$log" 2>&1 && [ ! -s "$log" ]; then
		echo "ok $number - $name"
	else
		head -n 60 "$log" | sed 's/^/# /'
		echo "not ok $number - $name"
		failed=1
	fi
}

mkdir -p "$build"
echo "TAP version 13"
echo "1..10"
for name in linux-6.12 linux-new; do
	source=$("$vm/source" $name)
	version=${source##*/linux-}
	version=${version%%-*}
	report "$version: in-tree.patch applies" plant "$source"
	for value in m y; do
		report "$version: CONFIG_INFINIBAND_UET=$value can be chosen" configured $value
		report "$version: CONFIG_INFINIBAND_UET=$value builds at W=1" built $value
	done
done
exit $failed
