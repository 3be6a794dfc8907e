#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# The uet command and the generic netlink family behind it: devices, settings, PDCs,
# who may do what, and what happens to nonsense.
#
# guests: uml
# guests-long: uml uml-kasan qemu qemu-debug
# timeout: 1200

. "$(dirname "$(readlink -f "$0")")/netlink_lib.sh"

# One field of a device, by its JSON name.
field() { # HOST FIELD
	uet -n "h$1" -j dev show "u$1" | jq -r ".[0].$2"
}

settings() { # HOST
	uet -n "h$1" -j dev show "u$1" |
		jq -c '.[0] | [.payload_mtu, .dscp_data, .dscp_ctrl, .pdc_max, .pdc_idle_ms,
			.local_filter, .crc]'
}

# ---------------------------------------------------------------------------

shows() {
	local line
	need_hosts 1500
	uet1 -j dev show | jq -e 'length == 1 and .[0].dev == "u1" and .[0].netdev == "v1" and
		.[0].payload_mtu_active == 1024' >/dev/null || fail "JSON: $(uet1 -j dev show)"
	is index "$(field 1 index)" "$(rdma -j dev show u1 | jq '.[0].ifindex')"
	is ifindex "$(field 1 netdev_index)" "$(ip -n h1 -j link show v1 | jq '.[0].ifindex')"
	is "pretty JSON" "$(uet1 -jp dev show | jq -c .)" "$(uet1 -j dev show | jq -c .)"
	line=$(uet1 dev show)
	echo "$line"
	grep -qxE '[0-9]+: u1: netdev v1( [a-z-]+ [0-9]+)+ local-filter on crc off' <<<"$line"
	is "short form" "$(uet1 d sh u1)" "$line"
	is "without a command" "$(uet1 dev)" "$line"
	is "with dev" "$(uet1 dev show dev u1)" "$line"
}

helps() {
	local words
	for words in "" dev pdc; do
		# shellcheck disable=SC2086
		uet $words help | grep -q '^Usage: uet'
	done
	uet dev set help | grep -q payload-mtu
	uet -V | grep -qE '^uet utility, version [0-9]'
}

# SETTING JSON-NAME VALUE...
sets() {
	local word=$1 name=$2 value
	shift 2
	need_hosts 1500
	for value; do
		uet1 dev set u1 "$word" "$value"
		is "$word" "$(field 1 "$name")" "$value"
	done
}

# SETTING JSON-NAME VALUE...: the same for one that is on or off
switches() {
	local word=$1 name=$2 value
	shift 2
	need_hosts 1500
	for value; do
		uet1 dev set u1 "$word" "$value"
		uet1 dev show u1 | grep -qE " $word $value( |\$)"
		is "$word" "$(field 1 "$name")" "$([ "$value" = on ] && echo true || echo false)"
	done
}

sets_all() {
	local line
	need_hosts 1500
	uet1 dev set u1 payload-mtu 2048 dscp-data 10 dscp-ctrl 46 pdc-max 1000 pdc-idle 5000 crc on
	is settings "$(settings 1)" "[2048,10,46,1000,5000,true,true]"
	# what is shown is what can be set
	line=$(uet1 dev show u1)
	uet1 dev set u1 payload-mtu 1024 dscp-data 0 dscp-ctrl 0 pdc-max 1 pdc-idle 10 \
		local-filter off crc off
	is settings "$(settings 1)" "[1024,0,0,1,10,false,false]"
	# shellcheck disable=SC2086
	uet1 dev set u1 ${line#* pdcs * }
	line=$(settings 1)
	# the other host has none
	uet1 dev set u1 crc off
	is settings "$line" "[2048,10,46,1000,5000,true,true]"
}

# SETTING VALUE...: each refused by the kernel, with the reason, and no trace of it
out_of_range() {
	local word=$1 value before
	shift
	need_hosts 1500
	before=$(settings 1)
	for value; do
		refused 2 "$word $value: " uet1 dev set u1 "$word" "$value"
		is settings "$(settings 1)" "$before"
	done
}

all_or_none() {
	local before
	need_hosts 1500
	uet1 dev set u1 payload-mtu 1024 dscp-data 1 dscp-ctrl 2 pdc-max 300 pdc-idle 4000
	before=$(settings 1)
	refused 2 "payload-mtu 3000: " uet1 dev set u1 dscp-data 9 pdc-max 77 payload-mtu 3000
	refused 2 "pdc-idle 1: " uet1 dev set u1 payload-mtu 2048 dscp-ctrl 9 pdc-idle 1
	is settings "$(settings 1)" "$before"
}

bad_words() {
	need_hosts 1500
	refused 1 '"nonsense" is unknown' uet nonsense
	refused 1 '"nonsense" is unknown, try "uet dev help"' uet dev nonsense
	refused 1 'ambiguous: dscp-data, dscp-ctrl' uet1 dev set u1 dscp 3
	refused 1 'no setting' uet1 dev set u1
	refused 1 'value missing' uet1 dev set
	refused 1 'pdc-max: value missing' uet1 dev set u1 pdc-max
	refused 1 'takes a number' uet1 dev set u1 pdc-max many
	refused 1 'takes a number' uet1 dev set u1 dscp-data -1
	refused 1 'too large' uet1 dev set u1 dscp-data 256
	refused 1 'crc is "on" or "off"' uet1 dev set u1 crc 1
	refused 1 'crc: value missing' uet1 dev set u1 crc
	refused 1 'too large' uet1 dev set u1 pdc-max 4294967296
	refused 1 'too large' uet1 dev set u1 pdc-max 99999999999999999999
	refused 1 'local-filter is "on" or "off"' uet1 dev set u1 local-filter maybe
	refused 1 'duplicate "pdc-max"' uet1 dev set u1 pdc-max 3 pdc-max 4
	refused 1 garbage uet1 dev show u1 u1
	refused 1 'network namespace "nowhere"' uet -n nowhere dev show
	refused 1 'invalid network namespace' uet -n ../../proc/self/ns/net dev show
	refused 1 unrecognized uet -x dev show
}

unknown_device() {
	local text="no such uet device in this network namespace"
	need_hosts 1500
	refused 2 "dev nodev: $text" uet1 dev show nodev
	refused 2 "dev nodev: $text" uet1 -j dev show nodev
	refused 2 "dev nodev: $text" uet1 dev set nodev pdc-max 5
	refused 2 "dev nodev: $text" uet1 pdc show dev nodev
	refused 2 "dev " uet1 dev show "$(printf '%064d' 0)"
}

# A device is there only in the namespace of its interface.
isolated() {
	local before
	need_hosts 1500
	before=$(settings 2)
	refused 2 "dev u2: no such" uet1 dev show u2
	refused 2 "dev u2: no such" uet1 dev set u2 pdc-max 5
	refused 2 "dev u1: no such" uet2 pdc show dev u1
	is settings "$(settings 2)" "$before"
	is "list in h2" "$(uet2 -j dev show | jq -c 'map(.dev)')" '["u2"]'
	is "list here" "$(uet -j dev show | jq -c 'map(.dev)')" '[]'
}

unprivileged() {
	local before
	need_hosts 1500
	before=$(settings 1)
	refused 2 "Operation not permitted" on_host 1 "${as_nobody[@]}" uet dev set u1 pdc-max 5
	is settings "$(settings 1)" "$before"
	is "device as nobody sees it" "$(on_host 1 "${as_nobody[@]}" uet dev show u1)" "$(uet1 dev show u1)"
	on_host 1 "${as_nobody[@]}" uet pdc show >/dev/null
}

# Root of a user namespace is nobody outside it, and administrator of a network
# namespace of its own.
user_namespace() {
	local before pid
	need_hosts 1500
	unshare -U true 2>/dev/null || skip "this kernel has no user namespaces"
	before=$(settings 1)
	refused 2 "Operation not permitted" on_host 1 unshare -r uet dev set u1 pdc-max 5
	is settings "$(settings 1)" "$before"

	unshare -rn sleep 1000 &
	pid=$!
	# shellcheck disable=SC2064
	trap "rdma link del u3 2>/dev/null; kill $pid; stop_servers" EXIT
	busywait 5 other_netns $pid
	ip link add d3 type dummy
	ip link set d3 netns $pid
	nsenter -t $pid -n ip link set d3 up
	nsenter -t $pid -n rdma link add u3 type uet netdev d3
	nsenter -t $pid -U -n --preserve-credentials uet dev set u3 pdc-max 5
	is pdc_max "$(nsenter -t $pid -n uet -j dev show u3 | jq '.[0].pdc_max')" 5
	refused 2 "dev u1: no such" nsenter -t $pid -U -n --preserve-credentials uet dev set u1 pdc-max 5
}

# ---------------------------------------------------------------------------

pdc_there() { # HOST ROLE SOURCE DESTINATION
	local moved=tx_bytes
	[ "$2" = initiator ] || moved=rx_bytes
	uet -n "h$1" -d -s -j pdc show dev "u$1" >"$tmp/pdc" || return
	jq -e "any(.[]; .role == \"$2\" and .mode == \"rod\" and .state == \"established\" and
		.src == \"$3\" and .dst == \"$4\" and .payload_mtu == 1024 and .$moved > 0 and
		.id > 0 and .peer_id > 0 and .window > 0)" "$tmp/pdc" >/dev/null
}

no_initiators() { # HOST
	uet -n "h$1" -j pdc show | jq -e 'all(.[]; .role != "initiator")' >/dev/null
}

no_pdcs() { # HOST
	[ "$(uet -n "h$1" -j pdc show)" = "[]" ] && [ "$(field "$1" pdc_count)" = 0 ]
}

pdc_expect() { # HOST ROLE SOURCE DESTINATION
	busywait $((10 * slow)) pdc_there "$@" && return
	echo "u$1 has:"
	cat "$tmp/pdc"
	tail -n 5 "$tmp/client" "$tmp"/server.*
	return 1
}

# FAMILY: PDCs are there while a program sends, and go when they are idle.
pdcs() {
	local family=$1 a1 a2 host text
	a1=$(address 1 "$family") a2=$(address 2 "$family")
	need_hosts 1500
	for host in 1 2; do
		uet -n h$host dev set u$host payload-mtu 8192 dscp-data 10 pdc-max 65535 pdc-idle 1000
	done
	serve 1 tcp:18515 ibv_rc_pingpong -d u1 -g "$(gid_index u1 "$a1")" -n 100000000
	ip netns exec h2 timeout $((60 * slow)) ibv_rc_pingpong -d u2 -g "$(gid_index u2 "$a2")" \
		-n 100000000 "$(address 1 4)" >"$tmp/client" 2>&1 &
	servers+=($!)
	pdc_expect 2 initiator "$a2" "$a1"
	pdc_expect 2 target "$a2" "$a1"
	pdc_expect 1 initiator "$a1" "$a2"
	pdc_expect 1 target "$a1" "$a2"
	[ "$(field 1 pdc_count)" -ge 2 ] || fail "pdc_count is $(field 1 pdc_count)"
	is dscp "$(jq '.[0].dscp' "$tmp/pdc")" 10

	text=$(uet2 -d -s pdc show)
	echo "$text"
	grep -qE '^dev u2 id [0-9]+ peer-id [0-9]+ role initiator mode rod state established src ' <<<"$text"
	grep -qE '^    tx-psn [0-9]+ tx-una ' <<<"$text"
	grep -qE '^    tx-bytes [0-9]+ ' <<<"$text"
	text=$(uet2 pdc)
	grep -qE "^dev u2 id .* dst $a1 dscp 10 payload-mtu 1024\$" <<<"$text"
	! grep -qE 'tx-(psn|bytes)' <<<"$text" || fail "-d and -s were not given"

	stop_servers
	for host in 1 2; do
		busywait $((10 * slow)) no_initiators $host
		# a target whose initiator does not say good-bye takes its time
		[ -z "$long" ] || busywait $((30 * slow)) no_pdcs $host
	done
}

# ---------------------------------------------------------------------------

# Two who change different settings at the same time do not undo each other.
concurrent_sets() {
	local i
	need_hosts 1500
	for ((i = 1; i <= ${long:+1}10; i++)); do
		uet1 dev set u1 pdc-max $((1000 + i)) &
		uet1 dev set u1 dscp-data $((i % 64)) &
		uet1 dev set u1 pdc-idle $((2000 + i))
		wait
		is settings "$(settings 1 | jq -c '[.[1], .[3], .[4]]')" "[$((i % 64)),$((1000 + i)),$((2000 + i))]"
	done
}

# Devices come and go while others list: those that stay are there once each time.
dump_under_change() {
	local i end=$((SECONDS + ${long:+2}5 * (slow > 5 ? 5 : slow))) changes lists=0
	need_hosts 1500
	for i in 1 2 3 4 5 6; do
		ip -n h1 link add "d$i" type dummy
		ip -n h1 link set "d$i" up
	done
	trap 'for i in 1 2 3 4 5 6; do ip -n h1 link del d$i; done; wait' EXIT
	for i in 1 3 5; do
		link_add 1 "d$i" "stay$i"
	done
	while [ $SECONDS -lt $end ]; do
		for i in 2 4 6; do
			link_add 1 "d$i" "go$i" && rdma link del "go$i" && echo
		done
	done >"$tmp/changes" &
	changes=$!
	while [ $SECONDS -lt $end ]; do
		uet1 -j dev show >"$tmp/list" 2>/dev/null
		jq -e 'map(.dev) | map(select(startswith("go") | not)) | sort ==
			["stay1", "stay3", "stay5", "u1"]' "$tmp/list" >/dev/null || fail "$(cat "$tmp/list")"
		uet1 -j pdc show 2>/dev/null | jq -e . >/dev/null
		lists=$((lists + 1))
	done
	wait $changes
	echo "$lists lists, $(wc -l <"$tmp/changes") devices came and went"
	[ -s "$tmp/changes" ]
}

# Requests with random attributes, well formed or not, for each operation, by two
# processes at a time.
nonsense() {
	local count=${long:+10}2000 first
	[ $slow -le 5 ] || count=2000
	need_hosts 1500
	on_host 1 python3 "$here/netlink_fuzz.py" u1 1 "$count" &
	first=$!
	on_host 1 python3 "$here/netlink_fuzz.py" u1 2 "$count"
	wait $first
	uet1 -j job show u1 | jq -r '.[].id' | xargs -rI{} uet -n h1 job del u1 id {} force
	uet1 -j skey show u1 | jq -r '.[].id' | xargs -rI{} uet -n h1 skey del u1 id {}
	uet1 dev set u1 local-filter on crc off
	# whatever got through was in range
	uet1 -j dev show u1 | jq -e '.[0] | (.payload_mtu | IN(1024, 2048, 4096, 8192)) and
		.dscp_data <= 63 and .dscp_ctrl <= 63 and .pdc_max >= 1 and .pdc_max <= 65535 and
		.pdc_idle_ms >= 10 and .pdc_idle_ms <= 3600000' >/dev/null || fail "$(uet1 dev show u1)"
}

# ---------------------------------------------------------------------------
# What "rdma resource" tells about objects; those of jobs are in jobs.sh

held() { # [-i]
	rm -f "$tmp/ready"
	serve 1 "file:$tmp/ready" "$(program hold)" -r "$tmp/ready" "$@"
}

# objects OBJECT DEVICE FIELDS: of hold there, in order of their values
objects() {
	rdma -j -dd res show "$1" | jq -c "[.[] | select(.ifname == \"$2\" and .comm == \"hold\") |
		[$3]] | sort"
}

resources() {
	local object
	need_hosts 1500
	held -i
	is "QPs" "$(objects qp u1 '.type, .state, .drv_mode, .drv_rq_depth, .drv_rq_posted, .drv_sq_started')" \
		'[["DRIVER","RTS","rud",8,0,0],["RC","INIT","rod",16,4,0],["RC","RESET","rod",16,0,0],["RC","RTS","rod",16,0,0],["UD","RTS","uud",16,4,0]]'
	is "the peer's QP" "$(objects qp u2 '.drv_mode, .drv_sq_depth, .drv_rq_depth, .drv_rq_posted, .drv_rq_active')" \
		'[["rod",16,16,16,0]]'
	is "QPs without a job" "$(objects qp u1 '.type, .drv_addressing, .drv_wire_qpn == .drv_src_id, .drv_job')" \
		'[["DRIVER","absolute",true,null],["RC",null,false,null],["RC",null,false,null],["RC",null,false,null],["UD",null,false,null]]'
	is "CQ" "$(objects cq u1 '.users > 5, .drv_depth == .cqe, .drv_unpolled, .drv_overflowed')" '[[true,true,0,0]]'
	is "SRQ" "$(objects srq u1 '.drv_rq_depth, .drv_rq_posted, .drv_limit')" '[[16,3,2]]'
	is "memory region" "$(objects mr u1 '.drv_kind, .drv_valid, .drv_job, .drv_blocks * .drv_block_size >= .mrlen')" \
		'[["user",1,null,true]]'
	for object in qp cq srq mr; do
		is "$object without -dd" "$(rdma -j res show $object | jq 'map(keys[] | select(startswith("drv_"))) | length')" 0
		rdma -dd res show $object >"$tmp/list"
		grep -q drv_ "$tmp/list" || fail "rdma -dd res show $object: $(cat "$tmp/list")"
	done
}

queue_is_full() {
	rdma -j -dd res show qp link u1 | jq -e 'any(.[]; .type == "RC" and .drv_sq_started > 8 and
		.drv_sq_active > 0 and .drv_sq_active <= .drv_sq_started and .drv_sq_reads > 0)' >/dev/null
}

# Requests that have no answer yet are shown.
resources_busy() {
	local code=0
	need_hosts 1500
	held
	netem_on delay 300ms
	busywait $((10 * slow)) queue_is_full || code=$?
	rdma -dd res show qp link u1
	netem_off
	return $code
}

# ---------------------------------------------------------------------------
# The kernel's own client, which knows the family only from the spec

ynl_round_trip() {
	local cli
	cli=$(find_ynl) || skip "no ynl: set UET_YNL to tools/net/ynl/pyynl/cli.py of a kernel source"
	python3 -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"
	need_hosts 1500
	uet1 dev set u1 payload-mtu 1024 dscp-data 1 dscp-ctrl 2 pdc-max 300 pdc-idle 4000
	ynl --do dev-set --json '{"name": "u1", "payload-mtu": 4096, "dscp-data": 26, "dscp-ctrl": 48,
		"pdc-max": 99, "pdc-idle-ms": 12345, "local-filter": 1, "crc": 1}'
	is "settings by uet" "$(settings 1)" "[4096,26,48,99,12345,true,true]"
	is "settings by ynl" "$(ynl --do dev-get --json '{"name": "u1"}' |
		jq -c '[."payload-mtu", ."dscp-data", ."dscp-ctrl", ."pdc-max", ."pdc-idle-ms", .crc]')" \
		"[4096,26,48,99,12345,1]"
	is "dump by ynl" "$(ynl --dump dev-get | jq -c 'map(.name)')" '["u1"]'
	is "get by index" "$(ynl --do dev-get --json "{\"index\": $(field 1 index)}" | jq -r .name)" u1
	ynl --dump pdc-get --json '{"dev-name": "u1"}' | jq -e 'type == "array"' >/dev/null

	ynl --do dev-get --json '{}' >"$tmp/err" 2>&1 && fail "a request without a device was served"
	grep -q "index or name is missing" "$tmp/err"
	ynl --do dev-get --json '{"index": 4000000}' >"$tmp/err" 2>&1 && fail "a device that is not there"
	grep -q "'bad-attr': '.index'" "$tmp/err"
	ynl --do dev-get --json '{"name": "u1", "index": 4000000}' >"$tmp/err" 2>&1 && fail "both, not agreeing"
	grep -q "do not agree" "$tmp/err"
	ynl --do dev-set --json '{"name": "u1"}' >"$tmp/err" 2>&1 && fail "nothing to set"
	grep -q "no setting is given" "$tmp/err"
	ynl --do dev-set --json '{"name": "u1", "pdc-count": 3}' >"$tmp/err" 2>&1 && fail "pdc-count was set"
	grep -q "'bad-attr': '.pdc-count'" "$tmp/err"
	ynl --do dev-set --json '{"name": "u1", "crc": 2}' >"$tmp/err" 2>&1 && fail "crc was set to 2"
	grep -q "'bad-attr': '.crc'" "$tmp/err"
	is settings "$(settings 1)" "[4096,26,48,99,12345,true,true]"
	uet1 dev set u1 crc off
}

check "the device is shown, as text and as JSON" shows
check "help and version" helps
check "set payload-mtu" sets payload-mtu payload_mtu 1024 2048 8192 4096
check "set dscp-data" sets dscp-data dscp_data 0 63 26
check "set dscp-ctrl" sets dscp-ctrl dscp_ctrl 0 63 46
check "set pdc-max" sets pdc-max pdc_max 1 65535 4096
check "set pdc-idle" sets pdc-idle pdc_idle_ms 10 3600000 30000
check "set local-filter" switches local-filter local_filter off on
check "set crc" switches crc crc on off
check "set everything at once, and what was shown again" sets_all
check "payload-mtu out of range" out_of_range payload-mtu 0 1 1023 1025 1500 3072 8191 8193 16384 4294967295
check "dscp-data out of range" out_of_range dscp-data 64 255
check "dscp-ctrl out of range" out_of_range dscp-ctrl 64 255
check "pdc-max out of range" out_of_range pdc-max 0 65536 4294967295
check "pdc-idle out of range" out_of_range pdc-idle 0 9 3600001 4294967295
check "one bad setting: none is made" all_or_none
check "wrong words on the command line" bad_words
check "unknown device" unknown_device
check "devices of another namespace are not there" isolated
check "an ordinary user may look but not set" unprivileged
check "root of a user namespace sets its own devices only" user_namespace
check "PDCs of ibv_rc_pingpong over IPv4" pdcs 4
check "PDCs of ibv_rc_pingpong over IPv6" pdcs 6
check "concurrent changes of one device" concurrent_sets
check "lists while devices come and go" dump_under_change
check "random requests (ABI-13)" nonsense
check "rdma resource: what is there, and how full it is" resources
check "rdma resource: requests under way" resources_busy
check "the kernel's ynl client" ynl_round_trip
run_checks
