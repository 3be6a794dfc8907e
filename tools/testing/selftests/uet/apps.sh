#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Programs that know nothing of UET, unmodified: the ping-pongs of libibverbs, those
# of librdmacm, and perftest, over IPv4 and IPv6.
#
# guests: uml qemu
# guests-long: uml uml-kasan qemu qemu-debug
# single: uml
# timeout: 900

. "$(dirname "$(readlink -f "$0")")/lib.sh"

# Polling programs starve each other on emulated CPUs: wait for events there.
if [ "$slow" -eq 1 ]; then
	count=200 events=()
else
	count=20 events=(-e)
fi

ibv_pingpong() { # PROGRAM FAMILY OPTION...
	local program=$1 family=$2
	shift 2
	need_hosts 1500
	pair tcp:18515 "$family" -g "$program" -n "$count" "${events[@]}" "$@" | tee "$tmp/out"
	grep -q 'bytes in .* seconds' "$tmp/out"
}

# Those of librdmacm find the device by address.
cm_pair() { # FAMILY PORT SERVER-COMMAND -- CLIENT-COMMAND
	local family=$1 port=$2 server=()
	shift 2
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	need_hosts 1500
	serve 1 "cm:$port" "${server[@]}"
	limit 60 ip netns exec h2 "$@"
	served
}

rping_() { # FAMILY SIZE
	cm_pair "$1" 7174 rping -s -a "$(address 1 "$1")" -C 20 -S "$2" -V -- \
		rping -c -a "$(address 1 "$1")" -I "$(address 2 "$1")" -C 20 -S "$2" -V
}

# rping -P -q: one server, several clients, QPs that the program itself modifies
rping_persistent() { # FAMILY
	local count
	need_hosts 1500
	serve 1 cm:7174 rping -s -P -a "$(address 1 "$1")"
	for count in 1 5 10; do
		limit 60 ip netns exec h2 rping -c -q -a "$(address 1 "$1")" -C $count -V
		kill -0 "${servers[0]}"
	done
	stop_servers
}

cm_program() { # PROGRAM FAMILY CONNECTIONS PORT
	local format=ip
	[ "$2" = 4 ] || format=ipv6
	cm_pair "$2" "$4" "$1" -b "$(address 1 "$2")" -f $format -c "$3" -C 10 -- \
		"$1" -s "$(address 1 "$2")" -b "$(address 2 "$2")" -f $format -c "$3" -C 10 |
		tee "$tmp/out"
	grep -q 'test complete' "$tmp/out"
	grep -q 'return status 0' "$tmp/out"
}

# perftest prints a table: one line for each size, with the iterations done. ("inf"
# stands there when it could not find out the speed of a busy CPU.)
perftest() { # PROGRAM FAMILY OPTION...
	local family=$2 options=(-F)
	local command=("$1")
	case $1 in
	ib_write_*) ;;	# perftest knows no events for WRITE
	*) options+=("${events[@]}") ;;
	esac
	shift 2
	need_hosts 1500
	case " $* " in
	*" -n "*) ;;
	*) options+=(-n "$count") ;;
	esac
	command+=("${options[@]}" "$@")
	case " $* " in
	*" -R "*)
		[ "$family" = 4 ] || command+=(--ipv6-addr)
		serve 1 cm:18515 "${command[@]}" -d u1
		limit 60 ip netns exec h2 "${command[@]}" -d u2 "$(address 1 "$family")"
		served ;;
	*)
		pair tcp:18515 "$family" -x "${command[@]}" ;;
	esac | tee "$tmp/out"
	grep -qE '^ [0-9]+ +[0-9]+ +([0-9]|inf)' "$tmp/out"
}

both=(4 6)
[ $slow -eq 1 ] || [ -n "$long" ] || both=(4)

for family in "${both[@]}"; do
	check "ibv_rc_pingpong, IPv$family" ibv_pingpong ibv_rc_pingpong "$family" -c
	check "ibv_rc_pingpong -N -s 100000, IPv$family" ibv_pingpong ibv_rc_pingpong "$family" -c -N -s 100000
	check "ibv_uc_pingpong, IPv$family" ibv_pingpong ibv_uc_pingpong "$family" -c
	check "ibv_uc_pingpong -s 100000, IPv$family" ibv_pingpong ibv_uc_pingpong "$family" -c -s 100000
	check "ibv_srq_pingpong, IPv$family" ibv_pingpong ibv_srq_pingpong "$family" -c
	check "ibv_ud_pingpong, IPv$family" ibv_pingpong ibv_ud_pingpong "$family" -c -s 1024
	check "rping, IPv$family" rping_ "$family" 100
	check "rping of 60000 bytes, IPv$family" rping_ "$family" 60000
	check "rping to a persistent server, IPv$family" rping_persistent "$family"
	check "ucmatose, IPv$family" cm_program ucmatose "$family" 1 7471
	check "ucmatose with 10 connections, IPv$family" cm_program ucmatose "$family" 10 7471
	check "udaddy, IPv$family" cm_program udaddy "$family" 1 7174
	for program in ib_send_bw ib_write_bw ib_read_bw ib_send_lat ib_write_lat ib_read_lat; do
		# ib_write_lat waits for data by looking at it, ib_read_lat polls in any case
		[ $slow -eq 1 ] || [ $program != ib_write_lat ] || continue
		check "$program, IPv$family" perftest $program "$family"
		check "$program -R, IPv$family" perftest $program "$family" -R
	done
done
check "ibv_rc_pingpong -e" ibv_pingpong ibv_rc_pingpong 4 -e -c
check "ibv_ud_pingpong -e" ibv_pingpong ibv_ud_pingpong 4 -e -c -s 512
check "ib_send_bw -c UD" perftest ib_send_bw 4 -c UD -s 1024
check "ib_send_lat -c UD" perftest ib_send_lat 4 -c UD
check "ib_send_bw -c UC" perftest ib_send_bw 4 -c UC
check "ib_send_lat -c UC" perftest ib_send_lat 4 -c UC
check "ib_write_bw -c UC" perftest ib_write_bw 4 -c UC
check "ib_write_bw -c UC with 4 QPs" perftest ib_write_bw 4 -c UC -q 4
for program in ib_atomic_bw ib_atomic_lat; do
	check "$program -A FETCH_AND_ADD" perftest $program 4 -A FETCH_AND_ADD
	check "$program -A CMP_AND_SWAP" perftest $program 4 -A CMP_AND_SWAP
done
check "ib_send_bw with 8 QPs" perftest ib_send_bw 4 -q 8
check "ib_write_bw -b with 4 QPs" perftest ib_write_bw 4 -b -q 4
check "ib_send_bw of 1 to 8388608 bytes (CQE-11)" perftest ib_send_bw 4 -a -n 5

run_checks
