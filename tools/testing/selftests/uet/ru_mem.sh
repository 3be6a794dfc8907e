#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# RU QPs and the memory that they reach: access classes, chosen keys, regions that are a
# part of another, numbers, semantics, ranks, completions out of order (ru_mem.c).
#
# guests: uml
# guests-long: uml uml-kasan qemu
# single: uml
# timeout: 900

. "$(dirname "$(readlink -f "$0")")/lib.sh"

ru_mem=$(program ru_mem) || exit 1

one() { # CHECK FAMILY
	need_hosts 1500
	limit 60 ip netns exec h1 "$ru_mem" -a u1 -A "$(address 1 "$2")" "$1"
}

for name in $("$ru_mem"); do
	check "$name" one "$name" 4
done
check "both, IPv6" one both 6
check "ranks, IPv6" one ranks 6
run_checks
