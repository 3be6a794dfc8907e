#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Jobs, peer tables and security keys by the uet command and the netlink family:
# each request, each error with its text, who may do what, notifications, lists
# and batches while things change.
#
# guests: uml uml-kasan
# guests-long: uml uml-kasan qemu qemu-debug
# timeout: 2400

. "$(dirname "$(readlink -f "$0")")/netlink_lib.sh"

key=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
key2=f0f1f2f3f4f5f6f7f8f9fafbfcfdfefff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff

left() {
	local host
	for host in 1 2; do
		uet -n h$host -j job show | jq -r '.[] | "job del dev \(.dev) id \(.id) force"'
		uet -n h$host -j skey show | jq -r '.[] | "skey del dev \(.dev) id \(.id)"'
	done
}

# A check begins with nothing there and leaves nothing.
tidy() { # COMMAND...
	need_hosts 1500
	left | grep u1 | uet1 -f -b - || :
	left | grep u2 | uet2 -f -b - || :
	"$@"
	is "what is left" "$(left)" ""
}

some() {
	echo $key >"$tmp/key"
	echo $key2 >"$tmp/key2"
	gid4=$(gid_index u1 "$(address 1 4)")
	gid6=$(gid_index u1 "$(address 1 6)")
}

ids() { # OBJECT [DEV]
	uet1 -j "$@" | jq -c 'map(.id)'
}

job() { # ID FILTER
	uet1 -j -d -s job show u1 id "$1" | jq -c ".[0] | $2"
}

skey() { # ID FILTER
	uet1 -j -d -s skey show u1 id "$1" | jq -c ".[0] | $2"
}

# ---------------------------------------------------------------------------

job_add_show_del() {
	local line
	some
	uet1 job add dev u1 id 77 uid 1000 gid 100 gid-index "$gid4" peer-max 64 jkey-max 5
	line=$(uet1 job show)
	is "the line" "$line" \
		"dev u1 id 77 uid 1000 gid 100 gid-index $gid4 peer-max 64 jkey-max 5 persistent"
	is "with a name" "$(uet1 job show u1)" "$line"
	is "with dev and id" "$(uet1 job show dev u1 id 77)" "$line"
	is "without show" "$(uet1 job)" "$line"
	is "short" "$(uet1 j s u1 i 77)" "$line"
	is "with -s" "$(uet1 -s job show | tail -n 1)" "    peers 0 jkeys 0 holders 0"
	is JSON "$(uet1 -j job show)" '[{"dev":"u1","id":77,"uid":1000,"gid":100,"gid_index":'"$gid4"',"peer_max":64,"jkey_max":5,"persistent":true,"holders":[]}]'
	is "pretty JSON" "$(uet1 -jp job show | jq -c .)" "$(uet1 -j job show | jq -c .)"
	is "with -s" "$(job 77 '[.peer_count, .jkey_count, .holder_count]')" "[0,0,0]"
	is "jobs of the device" "$(uet1 -j dev show u1 | jq '.[0].job_count')" 1

	# what is shown can be added again
	uet1 job del u1 id 77
	is list "$(ids job show)" "[]"
	# shellcheck disable=SC2086
	uet1 job add ${line% persistent}
	is "the line" "$(uet1 job show)" "$line"
	# defaults, and a name instead of a number
	uet1 job add u1 id 16777215 uid root
	is defaults "$(job 16777215 '[.uid, .gid, .gid_index, .skey, .peer_max, .jkey_max]')" \
		"[0,null,0,null,0,0]"
	is list "$(ids job show u1)" "[77,16777215]"
	uet1 job del u1 id 77
	uet1 job del dev u1 id 16777215 force
}

# One id is one job on a device, and another one on another.
job_ids() {
	some
	uet1 job add u1 id 5
	uet2 job add u2 id 5
	says 2 "id 5: the device has a job with this id." uet1 job add u1 id 5
	is "jobs in h1" "$(ids job show)" "[5]"
	uet1 job del u1 id 5
	is "jobs in h2" "$(uet2 -j job show | jq -c 'map([.dev, .id])')" '[["u2",5]]'
	uet2 job del u2 id 5
}

job_errors() {
	some
	says 2 "id 0: integer out of range (1 to 16777215)." uet1 job add u1 id 0
	says 2 "id 16777216: integer out of range (1 to 16777215)." uet1 job add u1 id 16777216
	says 2 "gid-index 65536: integer out of range (0 to 65535)." uet1 job add u1 id 1 gid-index 65536
	says 2 "no GID at this index." uet1 job add u1 id 1 gid-index 200
	says 2 "peer-max 1048577: integer out of range (0 to 1048576)." uet1 job add u1 id 1 peer-max 1048577
	says 2 "uid 4294967295: leave it out for no owner." uet1 job add u1 id 1 uid 4294967295
	says 2 "gid 4294967295: leave it out for no owner." uet1 job add u1 id 1 gid 4294967295
	says 2 "skey 9: no such security key on this device." uet1 job add u1 id 1 skey 9
	says 2 "skey 0: integer out of range (1 to 2147483647)." uet1 job add u1 id 1 skey 0
	says 2 "dev nodev: no such uet device in this network namespace." uet1 job add nodev id 1
	says 2 "dev nodev: no such uet device in this network namespace." uet1 job show nodev
	says 2 "dev u2: no such uet device in this network namespace." uet1 job add u2 id 1
	says 2 "id 1: no such job on this device." uet1 job show u1 id 1
	says 2 "id 1: no such job on this device." uet1 job del u1 id 1
	says 2 "id 1: no such job on this device." uet1 job del u1 id 1 force
	is jobs "$(ids job show)" "[]"

	says 1 '"id" is missing, try "uet job help"' uet1 job add u1
	says 1 '"dev" is missing, try "uet job help"' uet1 job add id 3
	says 1 'argument "nonsense" is unknown, try "uet job help"' uet1 job add u1 id 3 nonsense
	says 1 'argument "g" is ambiguous: gid, gid-index' uet1 job add u1 id 3 g 4
	says 1 'duplicate "id"' uet1 job add u1 id 3 id 4
	says 1 'id: value missing' uet1 job add u1 id
	says 1 'argument "x" is wrong: id takes a number' uet1 job add u1 id x
	says 1 'argument "4294967296" is wrong: id: number too large' uet1 job add u1 id 4294967296
	says 1 'argument "no-such-user" is wrong: uid takes a user' uet1 job add u1 id 3 uid no-such-user
	says 1 'argument "no-such-group" is wrong: gid takes a group' uet1 job add u1 id 3 gid no-such-group
	says 1 'command "nonsense" is unknown, try "uet job help"' uet1 job nonsense
	says 1 'command "nonsense" is unknown, try "uet job peers help"' uet1 job peers nonsense
}

# ---------------------------------------------------------------------------

# A table that was shown is the same when it is loaded.
peers() {
	some
	uet1 job add u1 id 7 gid-index "$gid4" peer-max 1000
	uet1 job peers set u1 id 7 index 3 addr 10.0.0.2 qpn 0x123abc
	uet1 job peers set dev u1 id 7 index 1 addr fd00::2 qpn 4096 gid-index "$gid6" \
		tclass 32 hop-limit 9
	cat >"$tmp/expected" <<-END
		index 1 addr fd00::2 qpn 4096 gid-index $gid6 tclass 32 hop-limit 9
		index 3 addr 10.0.0.2 qpn 1194684
	END
	uet1 job peers show u1 id 7 >"$tmp/table"
	diff "$tmp/expected" "$tmp/table"
	is JSON "$(uet1 -j job peers show u1 id 7 | jq -c '.[1]')" \
		'{"dev":"u1","id":7,"index":3,"addr":"10.0.0.2","qpn":1194684}'
	is "peer count" "$(job 7 .peer_count)" 2
	# to be replaced
	uet1 job peers set u1 id 7 index 3 addr 10.0.0.9 qpn 4097
	is "peer count" "$(job 7 .peer_count)" 2

	uet1 job peers del u1 id 7 index 0 count 3
	is "what is left" "$(uet1 job peers show u1 id 7)" "index 3 addr 10.0.0.9 qpn 4097"
	{ echo "# ranks and addresses"; cat "$tmp/table"; echo; } >"$tmp/commented"
	uet1 job peers load u1 id 7 file "$tmp/commented"
	diff "$tmp/table" <(uet1 job peers show u1 id 7)
	uet1 job peers del u1 id 7 index 1
	uet1 job peers load u1 id 7 file - <"$tmp/table"
	diff "$tmp/table" <(uet1 job peers show u1 id 7)
	uet1 job del u1 id 7
}

peer_table_large() {
	local count=${long:+10}5000
	some
	uet1 job add u1 id 7 gid-index "$gid4" peer-max $((count + 10))
	seq 0 $((count - 1)) |
		awk '{ printf "index %d addr 10.%d.%d.%d qpn %d\n", $1, $1 / 62500,
			$1 / 250 % 250, $1 % 250 + 1, 4096 + $1 }' \
		>"$tmp/table"
	uet1 job peers load u1 id 7 file "$tmp/table"
	is "peer count" "$(job 7 .peer_count)" "$count"
	diff "$tmp/table" <(uet1 job peers show u1 id 7)
	uet1 job peers del u1 id 7 index 0 count $((count + 10))
	is "table" "$(uet1 job peers show u1 id 7)" ""
	uet1 job del u1 id 7
}

peer_errors() {
	local set=(uet1 job peers set u1 id 7)
	some
	says 2 "id 7: no such job on this device." "${set[@]}" index 1 addr 10.0.0.2 qpn 4096
	says 2 "id 7: no such job on this device." uet1 job peers show u1 id 7
	says 2 "id 7: no such job on this device." uet1 job peers del u1 id 7 index 1
	uet1 job add u1 id 7 gid-index "$gid4" peer-max 8
	"${set[@]}" index 5 addr 10.0.0.5 qpn 4096
	says 2 "index 8: index is outside the peer table." "${set[@]}" index 8 addr 10.0.0.2 qpn 4096
	says 2 "index 1048576: integer out of range (0 to 1048575)." \
		"${set[@]}" index 1048576 addr 10.0.0.2 qpn 4096
	says 2 "index 1: integer out of range (0 to 16777215)." "${set[@]}" index 1 addr 10.0.0.2 qpn 0x1000000
	says 2 "no GID at this index, or of another family." \
		"${set[@]}" index 1 addr fd00::2 qpn 4096
	says 2 "no GID at this index, or of another family." \
		"${set[@]}" index 1 addr 10.0.0.2 qpn 4096 gid-index 200
	says 2 "index 8: range is not inside the peer table." uet1 job peers del u1 id 7 index 8
	says 2 "index 5: range is not inside the peer table." uet1 job peers del u1 id 7 index 5 count 4
	says 2 "count 0: integer out of range (1 to 1048576)." uet1 job peers del u1 id 7 index 5 count 0

	says 1 'argument "10.0.0" is wrong: addr takes an IPv4 or IPv6 address' \
		"${set[@]}" index 1 addr 10.0.0 qpn 4096
	says 1 '"qpn" is missing, try "uet job peers help"' "${set[@]}" index 1 addr 10.0.0.2
	says 1 'argument "256" is wrong: tclass: number too large' \
		"${set[@]}" index 1 addr 10.0.0.2 qpn 1 tclass 256
	printf 'index 1 addr 10.0.0.1 qpn 4096\n\nindex 2 addr 10.0.0.2\n' >"$tmp/table"
	refused 1 "No peer in $tmp/table:3" uet1 job peers load u1 id 7 file "$tmp/table"
	: >"$tmp/table"
	says 1 "there is no peer in \"$tmp/table\"" uet1 job peers load u1 id 7 file "$tmp/table"
	refused 1 "cannot open" uet1 job peers load u1 id 7 file "$tmp/nowhere"

	# one entry that is wrong, and none of the message is set
	printf 'index %d addr 10.0.0.2 qpn 4096\n' 1 2 3 9 >"$tmp/table"
	says 2 "index 9: index is outside the peer table." uet1 job peers load u1 id 7 file "$tmp/table"
	printf 'index %d addr 10.0.0.2 qpn 4096\n' 1 2 1 >"$tmp/table"
	says 2 "an index comes twice." uet1 job peers load u1 id 7 file "$tmp/table"
	is "the table" "$(uet1 job peers show u1 id 7)" "index 5 addr 10.0.0.5 qpn 4096"
	uet1 job del u1 id 7
}

# ---------------------------------------------------------------------------

skey_add_show_del() {
	local id
	some
	uet1 skey add dev u1 id 5 key-file "$tmp/key" mode server sdi 0xabcdef ssi 17 an 1 uid 1000 gid 100
	is line "$(uet1 skey show u1 id 5)" \
		"dev u1 id 5 algorithm aes-256-gcm mode server sdi 11259375 ssi 17 an 1 uid 1000 gid 100 persistent"
	is details "$(uet1 -d skey show u1)" "$(uet1 skey show u1) an-valid 1"
	is statistics "$(uet1 -s skey show u1 | tail -n 1)" "    jobs 0"
	is "pretty JSON" "$(uet1 -jp skey show | jq -c .)" "$(uet1 -j skey show | jq -c .)"
	# the kernel chooses the id, and says so
	id=$(uet1 -j skey add u1 key-file - <"$tmp/key2" | jq '.[0].id')
	is defaults "$(skey "$id" '[.algorithm, .mode, .sdi, .ssi, .an, .an_valid, .uid]')" \
		'["aes-256-gcm","direct",0,null,0,"0",null]'
	is "keys of the device" "$(uet1 -j dev show u1 | jq '.[0].skey_count')" 2
	uet1 skey del u1 id "$id"
	uet1 skey del u1 id 5

	# bytes as they are, and digits of any case
	head -c 32 /dev/urandom | uet1 skey add u1 id 6 key-file -
	printf %s "${key^^}" | uet1 skey add u1 id 7 key-file -
	is keys "$(ids skey show)" "[6,7]"
	uet1 skey del u1 id 6
	uet1 skey del u1 id 7
}

skey_rekey() {
	local rekey=(uet1 skey rekey u1 id 5)
	some
	uet1 skey add u1 id 5 key-file "$tmp/key"
	says 2 "the other association number has no key." "${rekey[@]}" switch
	says 2 "the other association number has no key." "${rekey[@]}" retire
	"${rekey[@]}" install key-file "$tmp/key2"
	is "two keys" "$(skey 5 '[.an, .an_valid]')" '[0,"0,1"]'
	says 2 "the other association number has a key." "${rekey[@]}" install key-file "$tmp/key"
	"${rekey[@]}" switch
	is "switched" "$(skey 5 '[.an, .an_valid]')" '[1,"0,1"]'
	"${rekey[@]}" retire
	is "retired" "$(skey 5 '[.an, .an_valid]')" '[1,"1"]'
	"${rekey[@]}" install key-file - <"$tmp/key"
	is "two keys" "$(skey 5 '[.an, .an_valid]')" '[1,"0,1"]'

	says 1 'one of "install", "switch" and "retire" must be given' "${rekey[@]}"
	says 1 'one of "install", "switch" and "retire" must be given' "${rekey[@]}" switch retire
	says 1 '"key-file" is missing, try "uet skey help"' "${rekey[@]}" install
	says 1 '"key-file" goes with "install" only' "${rekey[@]}" switch key-file "$tmp/key"
	says 2 "id 6: no such security key on this device." uet1 skey rekey u1 id 6 switch
	uet1 skey del u1 id 5
}

skey_errors() {
	local add=(uet1 skey add u1 id 5)
	some
	says 1 '"key-file" is missing, try "uet skey help"' "${add[@]}"
	says 1 'key-file takes a file or "-", never the key itself' "${add[@]}" key-file $key
	! grep -q $key "$tmp/stderr" || fail "the key was repeated"
	refused 1 "cannot open" "${add[@]}" key-file "$tmp/nowhere"
	refused 1 "is no key: it takes 64 hexadecimal digits, or 32 bytes" "${add[@]}" key-file - <<<"${key}0"
	refused 1 "is no key" "${add[@]}" key-file - <<<"${key%?}"
	refused 1 "is no key" "${add[@]}" key-file - <<<"${key%?}g"
	refused 1 "is no key" "${add[@]}" key-file /dev/zero
	refused 1 "is no key" "${add[@]}" key-file /dev/null
	head -c 32 /dev/zero >"$tmp/zeros"
	says 2 "key material is all zero." "${add[@]}" key-file "$tmp/zeros"
	says 2 "sdi 16777216: integer out of range (0 to 16777215)." "${add[@]}" key-file "$tmp/key" sdi 16777216
	says 2 "an 2: integer out of range (0 to 1)." "${add[@]}" key-file "$tmp/key" an 2
	says 2 "id 0: integer out of range (1 to 2147483647)." uet1 skey add u1 id 0 key-file "$tmp/key"
	says 2 "uid 4294967295: leave it out for no owner." "${add[@]}" key-file "$tmp/key" uid 4294967295
	says 1 'mode "fast" is unknown, try "uet help"' "${add[@]}" key-file "$tmp/key" mode fast
	says 2 "id 5: no such security key on this device." uet1 skey show u1 id 5
	says 2 "id 5: no such security key on this device." uet1 skey del u1 id 5
	is keys "$(ids skey show)" "[]"
	"${add[@]}" key-file "$tmp/key"
	says 2 "id 5: the device has a security key with this id." "${add[@]}" key-file "$tmp/key2"
	uet1 skey del u1 id 5
}

# Jobs keep the key they refer to.
skey_of_jobs() {
	some
	uet1 skey add u1 id 5 key-file "$tmp/key"
	uet1 job add u1 id 1 skey 5
	uet1 job add u1 id 2 skey 5
	is "key of the job" "$(job 1 .skey)" 5
	is "jobs of the key" "$(skey 5 .job_count)" 2
	says 2 "id 5: a job refers to it." uet1 skey del u1 id 5
	uet1 job del u1 id 1
	says 2 "id 5: a job refers to it." uet1 skey del u1 id 5
	uet1 job del u1 id 2
	uet1 skey del u1 id 5
}

# Key material is in nothing that comes out: no answer, list, notification, error
# or log.
skey_secret() {
	some
	uet -n h1 -j monitor >"$tmp/events" &
	servers+=($!)
	monitor_ready "$tmp/events"
	uet1 skey add u1 id 5 key-file "$tmp/key"
	uet1 skey rekey u1 id 5 install key-file "$tmp/key2"
	on_host 1 python3 - <<-'END'
		import socket, struct, sys
		keys = [bytes(range(32)), (bytes(range(0xf0, 0x100)) * 2)]
		sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
		def attr(kind, data):
		    return struct.pack('HH', len(data) + 4, kind) + data + b'\0' * (-len(data) % 4)
		def talk(family, flags, cmd, attrs):
		    sock.send(struct.pack('IHHIIBBH', 20 + len(attrs), family, 1 | flags, 1, 0, cmd, 1, 0) + attrs)
		    return sock.recv(1 << 16)
		family = struct.unpack_from('H', talk(16, 0, 3, attr(2, b'uet\0')), 20 + 8 + 4)[0]
		dev, two = attr(2, b'u1\0'), attr(6, keys[0]) + attr(6, keys[1])
		seen = [talk(family, 0, 20, dev + attr(3, struct.pack('I', 5))),
		        talk(family, 0x300, 20, dev)]
		# errors repeat the request, here without the keys in it, whichever step refuses it
		seen.append(talk(family, 4, 17, dev + attr(3, struct.pack('I', 5)) + two))
		seen.append(talk(family, 4, 17, attr(2, b'nodev\0') + two))
		seen.append(talk(family, 4, 19, dev + attr(3, struct.pack('I', 5)) + two))
		for answer in seen[2:]:
		    assert struct.unpack_from('i', answer, 16)[0] < 0, answer
		sys.exit('a key came out' if any(k in s for k in keys for s in seen) else 0)
	END
	uet1 skey del u1 id 5
	busywait 5 grep -q skey-del "$tmp/events"
	stop_servers
	! grep "$key\|$key2\|key_file" "$tmp/events" || fail "a key in a notification"
	! dmesg | grep "$key\|$key2\|00 01 02 03 04 05 06 07 08 09 0a" || fail "a key in the log"
}

# ---------------------------------------------------------------------------

# A monitor hears when it hears a change that does nothing.
monitor_hears() { # FILE
	uet1 dev set u1 dscp-data 0
	grep -q 'dev-change\|DEV_CHANGE' "$1"
}

monitor_ready() { # FILE
	busywait 10 monitor_hears "$1"
}

# The same of jobs
job_monitor_hears() { # FILE
	uet1 job add u1 id 8
	uet1 job del u1 id 8
	grep -q 'JOB_DEL.* id 8' "$1"
}

monitor_events() {
	local texts
	some
	uet -n h1 monitor job >"$tmp/jobs" &
	servers+=($!)
	busywait 10 job_monitor_hears "$tmp/jobs"
	uet -n h1 -j monitor >"$tmp/events" &
	servers+=($!)
	uet -n h1 monitor >"$tmp/texts" &
	servers+=($!)
	uet -n h2 monitor >"$tmp/elsewhere" &
	servers+=($!)
	monitor_ready "$tmp/events"
	monitor_ready "$tmp/texts"

	uet1 skey add u1 id 5 key-file "$tmp/key" sdi 3
	uet1 skey rekey u1 id 5 install key-file "$tmp/key2"
	uet1 job add u1 id 9 skey 5 gid-index "$gid4" peer-max 4
	uet1 job peers set u1 id 9 index 1 addr 10.0.0.2 qpn 4096
	uet1 job peers del u1 id 9 index 1
	uet1 job del u1 id 9
	uet1 skey del u1 id 5
	# what is refused or changes nothing is not told
	uet1 job del u1 id 9 2>/dev/null || :
	ip -n h1 link add d1 type dummy
	ip -n h1 link set d1 up
	link_add 1 d1 u3
	uet1 job add u3 id 4
	rdma link del u3
	ip -n h1 link del d1
	busywait 10 grep -q DEV_DEL "$tmp/texts"
	busywait 10 grep -q dev-del "$tmp/events"
	busywait 10 grep -q 'JOB_DEL.* id 9' "$tmp/jobs"
	stop_servers

	is events "$(jq -c 'map(select(.event != "dev-change")) | map([.event, .dev, .id])' "$tmp/events")" \
		'[["skey-add","u1",5],["skey-change","u1",5],["job-add","u1",9],["job-change","u1",9],["job-change","u1",9],["job-del","u1",9],["skey-del","u1",5],["dev-add","u3",null],["job-add","u3",4],["dev-del","u3",null]]'
	texts=$(grep -v DEV_ "$tmp/texts")
	echo "$texts"
	is "third line" "$(sed -n 3p <<<"$texts")" \
		"[JOB_ADD] dev u1 id 9 gid-index $gid4 skey 5 peer-max 4 jkey-max 0 persistent"
	grep -qE '^\[DEV_ADD\] [0-9]+: u3: netdev d1 ' "$tmp/texts"
	[ "$(grep ' id 9' "$tmp/jobs" | cut -d ' ' -f 1 | sort -u | tr '\n' ' ')" = "[JOB_ADD] [JOB_CHANGE] [JOB_DEL] " ]
	[ ! -s "$tmp/elsewhere" ] || fail "another namespace heard: $(cat "$tmp/elsewhere")"
}

monitor_words() {
	some
	says 1 'command "nonsense" is unknown, try "uet monitor help"' uet monitor nonsense
	says 1 'either "now" is duplicate, or "now" is a garbage' uet monitor job now
	# ended before anything happened
	uet -n h1 -j monitor >"$tmp/events" &
	servers+=($!)
	busywait 5 grep -q . "/proc/$!/cmdline"
	stop_servers
}

# ---------------------------------------------------------------------------

unprivileged() {
	local nobody=(on_host 1 "${as_nobody[@]}" uet)
	some
	uet1 job add u1 id 7 uid 65534 gid-index "$gid4" peer-max 4
	uet1 job peers set u1 id 7 index 1 addr 10.0.0.2 qpn 4096
	uet1 skey add u1 id 5 key-file "$tmp/key" uid 65534
	chmod 644 "$tmp/key" && chmod 755 "$tmp"
	is "jobs as nobody sees them" "$("${nobody[@]}" -d job show)" "$(uet1 -d job show)"
	is "keys as nobody sees them" "$("${nobody[@]}" -d skey show)" "$(uet1 -d skey show)"
	"${nobody[@]}" stat show >/dev/null
	refused 2 "Operation not permitted" "${nobody[@]}" job add u1 id 8
	refused 2 "Operation not permitted" "${nobody[@]}" job del u1 id 7
	refused 2 "Operation not permitted" "${nobody[@]}" job del u1 id 7 force
	refused 2 "Operation not permitted" "${nobody[@]}" job peers show u1 id 7
	refused 2 "Operation not permitted" "${nobody[@]}" job peers set u1 id 7 index 2 addr 10.0.0.2 qpn 4096
	refused 2 "Operation not permitted" "${nobody[@]}" job peers del u1 id 7 index 1
	refused 2 "Operation not permitted" "${nobody[@]}" skey add u1 id 6 key-file "$tmp/key"
	refused 2 "Operation not permitted" "${nobody[@]}" skey rekey u1 id 5 switch
	refused 2 "Operation not permitted" "${nobody[@]}" skey del u1 id 5
	is jobs "$(ids job show)" "[7]"
	is keys "$(ids skey show)" "[5]"
	is "peer count" "$(job 7 .peer_count)" 1
	uet1 job del u1 id 7
	uet1 skey del u1 id 5
}

# Root of a user namespace is nobody outside; in a network namespace of its own it
# is administrator, and ids are as it knows them.
user_namespace() {
	local pid inside
	some
	unshare -U true 2>/dev/null || skip "this kernel has no user namespaces"
	refused 2 "Operation not permitted" on_host 1 unshare -r uet job add u1 id 8
	refused 2 "Operation not permitted" on_host 1 unshare -r uet skey add u1 id 8 key-file "$tmp/key"

	unshare -rn sleep 1000 &
	pid=$!
	# shellcheck disable=SC2064
	trap "rdma link del u3 2>/dev/null; kill $pid; stop_servers" EXIT
	busywait 5 other_netns $pid
	inside=(nsenter -t "$pid" -U -n --preserve-credentials)
	ip link add d3 type dummy
	ip link set d3 netns $pid
	nsenter -t $pid -n ip link set d3 up
	nsenter -t $pid -n rdma link add u3 type uet netdev d3
	busywait 5 "${inside[@]}" uet job add u3 id 3 uid 0
	is "as inside" "$("${inside[@]}" uet -j job show | jq -c '.[0] | [.dev, .id, .uid]')" '["u3",3,0]'
	refused 2 "owner does not exist in this user namespace" "${inside[@]}" uet job add u3 id 4 uid 1000
	refused 2 "dev u1: no such" "${inside[@]}" uet job add u1 id 4
	is "jobs elsewhere" "$(ids job show)" "[]"
	"${inside[@]}" uet job del u3 id 3
}

isolated() {
	some
	uet1 job add u1 id 3 peer-max 4
	uet1 skey add u1 id 3 key-file "$tmp/key"
	is "jobs in h2" "$(uet2 -j job show)" "[]"
	is "keys in h2" "$(uet2 -j skey show)" "[]"
	says 2 "dev u1: no such uet device in this network namespace." uet2 job del u1 id 3 force
	says 2 "dev u1: no such uet device in this network namespace." uet2 job peers show u1 id 3
	says 2 "dev u1: no such uet device in this network namespace." uet2 skey del u1 id 3
	says 2 "dev u1: no such uet device in this network namespace." uet2 stat show u1
	uet1 job del u1 id 3
	uet1 skey del u1 id 3
}

# ---------------------------------------------------------------------------

holders() {
	local launch pid
	launch=$(command -v uet_job_launch) || skip "uet_job_launch was not built"
	some
	# its processes end with this shell, which has the other end
	mkfifo "$tmp/end"
	exec 7<>"$tmp/end"
	ip netns exec h1 "$launch" -d u1 -j 42 -n 2 -- cat "$tmp/end" >"$tmp/launch" 2>&1 7>&- &
	launch=$!
	busywait 10 job_has_holder 42
	pid=$(job 42 '.holders[0].pid')
	uet1 -d job show u1 id 42
	is comm "$(job 42 '.holders[0].comm' | tr -d '"')" "$(cat "/proc/$pid/comm")"
	is rights "$(job 42 '.holders[0].rights')" '"use,addr,export"'
	uet1 job show u1 id 42 | grep -qxE "    holder pid $pid comm [^ ]+"
	is "count" "$(job 42 .holder_count)" "$(job 42 '.holders | length')"
	says 2 "id 42: made by a process or ended already; ends with its holders." uet1 job del u1 id 42
	uet1 job del u1 id 42 force
	is dead "$(job 42 .dead)" true
	says 2 "id 42: the device has a job with this id." uet1 job add u1 id 42
	exec 7>&-
	busywait 10 no_jobs
	wait $launch || :
}

job_has_holder() { # ID
	job "$1" '.holders | length' 2>/dev/null | grep -qx '[1-9].*'
}

no_jobs() {
	[ "$(ids job show)" = "[]" ]
}

# ---------------------------------------------------------------------------

# Jobs come and go while two list them and one listens: those that stay are there
# once each time, and what was heard is what happened.
under_change() {
	local rounds=${long:+1}1000 i changes lists
	[ $slow -le 5 ] || rounds=1000
	some
	for i in 1 500000 16777215; do
		uet1 job add u1 id $i gid-index "$gid4" peer-max 4
	done
	uet -n h1 -j monitor job >"$tmp/events" &
	servers+=($!)
	uet -n h1 -j monitor dev >"$tmp/ready" &
	servers+=($!)
	monitor_ready "$tmp/ready"
	busywait 10 jobs_heard

	seq 1000 $((1000 + rounds - 1)) | sed 's/.*/job add u1 id &/' >"$tmp/add"
	sed 's/add/del/' "$tmp/add" >"$tmp/del"
	(uet1 -b "$tmp/add" && uet1 -b "$tmp/del" && touch "$tmp/done") &
	changes=$!
	dump_while $changes >"$tmp/dumper" &
	dump_while $changes
	wait $!
	wait $changes
	[ -e "$tmp/done" ] || fail "not all changes were made"
	is "jobs left" "$(ids job show)" "[1,500000,16777215]"
	lists=$(cat "$tmp/dumper")
	echo "the other dumper: $lists"

	for i in 1 500000 16777215; do
		uet1 job del u1 id $i
	done
	busywait 10 grep -q '"job-del".*"id":16777215' "$tmp/events"
	stop_servers
	jq -e "map(select(.id >= 1000 and .id < 1000 + $rounds)) |
		length == 2 * $rounds and (group_by(.id) | all(map(.event) == [\"job-add\", \"job-del\"]))" \
		"$tmp/events" >/dev/null || fail "heard: $(jq length "$tmp/events") events"
}

jobs_heard() {
	uet1 job peers set u1 id 1 index 0 addr 10.0.0.2 qpn 4096
	grep -q job-change "$tmp/events"
}

dump_while() { # PID
	local lists=0 most=0 now list=$tmp/list.$BASHPID
	while kill -0 "$1" 2>/dev/null; do
		uet1 -j job show >"$list" 2>/dev/null
		now=$(jq -e 'if (map(.id) | (unique | length) == length and contains([1, 500000, 16777215]))
			then length else error("bad list") end' "$list") || return
		most=$((now > most ? now : most))
		lists=$((lists + 1))
	done
	echo "$lists lists, up to $most jobs"
	[ $lists -gt 0 ]
}

# A list that is read in parts, with changes between the parts: what was there all
# the time is in it once, and it says that it was interrupted. Without changes it
# does not.
lists_interrupted() {
	local count=2000
	some
	uet1 job add u1 id 7 gid-index "$gid4" peer-max $count
	seq 0 $((count - 1)) | sed "s/.*/index & addr 10.0.0.2 qpn 4096/" >"$tmp/table"
	uet1 job peers load u1 id 7 file "$tmp/table"
	seq 1000 1999 | sed "s/.*/job add u1 id &/" | uet1 -b -
	on_host 1 python3 - <<-'END'
		import socket, struct, subprocess
		sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
		def attr(kind, data):
		    return struct.pack('HH', len(data) + 4, kind) + data + b'\0' * (-len(data) % 4)
		def attrs(data):
		    while len(data) >= 4:
		        size, kind = struct.unpack_from('HH', data)
		        yield kind & 0x3fff, data[4:size]
		        data = data[(size + 3) & ~3:]
		def send(family, flags, cmd, data):
		    sock.send(struct.pack('IHHIIBBH', 20 + len(data), family, 1 | flags, 1, 0, cmd, 1, 0) + data)
		def messages():
		    data = sock.recv(8192)
		    while data:
		        size, kind, flags = struct.unpack_from('IHH', data)
		        yield kind, flags & 0x10, data[20:size]
		        data = data[(size + 3) & ~3:]
		send(16, 0, 3, attr(2, b'uet\0'))
		family = struct.unpack_from('H', sock.recv(8192), 20 + 8 + 4)[0]
		number = lambda data: struct.unpack('I', data)[0]

		def dump(cmd, data, entries, change=None):
		    seen, interrupted, done, first = [], False, False, True
		    send(family, 0x300, cmd, data)
		    while not done:
		        for kind, intr, body in messages():
		            interrupted |= bool(intr)
		            done |= kind == 3
		            if kind == family:
		                seen += entries(body)
		        if first and change:
		            subprocess.run(['uet'] + change.split(), check=True)
		        first = False
		    assert len(seen) == len(set(seen)), 'something came twice'
		    return seen, interrupted

		peers = lambda body: [number(dict(attrs(d))[1]) for k, d in attrs(body) if k == 4]
		jobs = lambda body: [number(d) for k, d in attrs(body) if k == 3]
		one = attr(2, b'u1\0') + attr(3, struct.pack('I', 7))

		assert dump(15, one, peers) == (list(range(2000)), False)
		seen, intr = dump(15, one, peers, 'job peers set u1 id 7 index 5 addr 10.0.0.3 qpn 4096')
		assert intr and seen == list(range(2000)), (intr, len(seen))
		seen, intr = dump(15, one, peers, 'job peers del u1 id 7 index 1900 count 100')
		assert intr and seen == list(range(1900)), (intr, len(seen))
		seen, intr = dump(15, one, peers, 'job del u1 id 7')
		assert intr and len(seen) < 1900, (intr, len(seen))

		everyone = list(range(1000, 2000))
		assert dump(9, b'', jobs) == (everyone, False)
		seen, intr = dump(9, b'', jobs, 'job add u1 id 5')
		assert intr and seen == everyone, (intr, len(seen))
		seen, intr = dump(9, b'', jobs, 'job del u1 id 1999')
		assert intr and seen == [5] + everyone[:-1], (intr, len(seen))
	END
	seq 1000 1998 | sed "s/.*/job del u1 id &/" | uet1 -b -
	uet1 job del u1 id 5
}

# The device goes while jobs of it are listed and heard of.
device_goes() {
	local i
	some
	ip -n h1 link add d1 type dummy
	ip -n h1 link set d1 up
	trap 'ip -n h1 link del d1; stop_servers' EXIT
	for ((i = 0; i < 10; i++)); do
		link_add 1 d1 u3
		seq 1 300 | sed 's/.*/job add u3 id & peer-max 1/' >"$tmp/batch"
		uet1 -b "$tmp/batch" 2>/dev/null &
		servers+=($!)
		uet1 -j job show >"$tmp/list" 2>/dev/null
		rdma link del u3
		wait "${servers[-1]}" || :
		servers=()
		jq -e 'type == "array"' "$tmp/list" >/dev/null
		is "jobs left" "$(ids job show)" "[]"
	done
}

# ---------------------------------------------------------------------------

batches() {
	local count=5000
	some
	{
		echo "# $count jobs made and ended"
		seq 1 $count | sed 's/.*/job add "u1" id & \\\n  uid 1000  # comment/'
		seq 1 $count | sed "s/.*/job del dev 'u1' id &/"
	} >"$tmp/batch"
	is "commands" "$(grep -c '^job' "$tmp/batch")" 10000
	uet1 -b "$tmp/batch"
	uet1 -batch - <"$tmp/batch"
	is jobs "$(ids job show)" "[]"

	# up to the first error, or to the end
	printf 'job add u1 id %s\n' 1 2 0 3 x 4 >"$tmp/batch"
	refused 2 "Command failed $tmp/batch:3" uet1 -b "$tmp/batch"
	is jobs "$(ids job show)" "[1,2]"
	refused 2 "Command failed $tmp/batch:5" uet1 -f -b "$tmp/batch"
	is lines "$(sed -n 's/^Command failed .*://p' "$tmp/stderr" | tr '\n' ' ')" "1 2 3 5 "
	is jobs "$(ids job show)" "[1,2,3,4]"
	printf 'job del u1 id %s\n' 1 2 3 4 | uet1 -b -

	refused 1 "unterminated quoted string" uet1 -b - <<<"job show 'u1"
	refused 1 "standard input is the batch" uet1 -b - <<<"skey add u1 id 1 key-file -"
	refused 1 "cannot open" uet1 -b "$tmp/nowhere"
	refused 1 garbage uet1 -b "$tmp/batch" dev show
	# JSON of several commands
	is answers "$(uet1 -j -b - <<<$'dev show\njob show\nskey show' | jq -c 'map(.dev)' | tr '\n' ' ')" \
		'["u1"] [] [] '
}

# ---------------------------------------------------------------------------

stats() {
	local line
	need_hosts 1500
	is devices "$(uet1 -j stat show | jq -c 'map(.dev)')" '["u1"]'
	uet1 -j -d stat show u1 | jq -S '.[0] | del(.dev) | keys' >"$tmp/counters"
	rdma -j statistic show link u1/1 | jq -S '.[0] | del(.ifname, .port) | keys' | diff "$tmp/counters" -
	line=$(uet1 -d stat show dev u1)
	grep -qx "dev u1" <<<"$line"
	grep -qxE "    [a-z0-9_]+ [0-9]+" <<<"$line"
	! uet1 stat | grep -E ' 0$' || fail "counters that are 0, without -d"
	is "pretty JSON" "$(uet1 -jp -d stat | jq -c 'map(keys)')" "$(uet1 -j -d stat | jq -c 'map(keys)')"
	says 2 "dev nodev: no such uet device in this network namespace." uet1 stat show nodev
	says 1 'either "u1" is duplicate, or "u1" is a garbage' uet1 stat show u1 u1
}

helps() {
	local words
	for words in "" dev job "job peers" skey pdc stat monitor "job add" "job del" "job show" \
		     "job peers set" "job peers load" "job peers del" "job peers show" "skey add" \
		     "skey rekey" "skey del" "skey show" "stat show" "monitor job"; do
		# shellcheck disable=SC2086
		uet $words help | grep -q '^Usage: uet' || fail "uet $words help"
		# shellcheck disable=SC2086
		[ -z "$words" ] || uet $words --help | grep -q '^Usage: uet' || fail "uet $words --help"
	done
	for words in dev job skey pdc stat monitor -b -f -n; do
		grep -q -- "[ {]$words" <<<"$(uet help)" || fail "$words is not in the usage"
	done
}

# What completion offers for a line; the word being typed is the last argument.
offers() { # WORD...
	COMP_WORDS=(uet -n h1 "$@")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMPREPLY=()
	_uet
	printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' '
}

completion() {
	local file
	for file in "$here/../../../uet/bash-completion" /usr/share/bash-completion/completions/uet; do
		[ ! -f "$file" ] || break
	done
	# shellcheck disable=SC1090
	. "$file" || skip "the completion is not installed"
	some
	uet1 job add u1 id 77
	uet1 job add u1 id 78
	uet1 skey add u1 id 5 key-file "$tmp/key"
	is objects "$(offers '')" "dev help job monitor pdc skey stat "
	is "objects with s" "$(offers s)" "skey stat "
	is "of job" "$(offers job '')" "add del help peers show "
	is "of job peers" "$(offers job peers '')" "del help load set show "
	is "of skey" "$(offers skey '')" "add del help rekey show "
	is "of monitor" "$(offers monitor '')" "all dev help job skey "
	is "devices" "$(offers job add '')" "dev u1 "
	is "devices" "$(offers job add dev '')" "u1 "
	is "of job add" "$(offers job add dev u1 '')" "gid gid-index id jkey-max peer-max skey uid "
	is "the rest" "$(offers job add dev u1 id 4 uid 0 '')" "gid gid-index jkey-max peer-max skey "
	is "keys" "$(offers job add u1 skey '')" "5 "
	is "jobs" "$(offers job del u1 id '')" "77 78 "
	is "of job del" "$(offers job del u1 id 77 '')" "force "
	is "of peers set" "$(offers job peers set u1 id 77 index 1 '')" "addr gid-index hop-limit qpn tclass "
	is "modes" "$(offers skey add u1 mode '')" "client cluster direct server "
	is "steps" "$(offers skey rekey u1 id 5 '')" "install key-file retire switch "
	is "files" "$(offers skey add u1 key-file "$tmp/ke")" "$tmp/key $tmp/key2 "
	uet1 job del u1 id 77
	uet1 job del u1 id 78
	uet1 skey del u1 id 5
}

# ---------------------------------------------------------------------------

ynl_refuses() { # TEXT ARGUMENT...
	local text=$1
	shift
	! ynl "$@" >"$tmp/err" 2>&1 || fail "served: $*"
	grep -q -- "$text" "$tmp/err" || fail "$* -> $(cat "$tmp/err")"
}

ynl_round_trip() {
	local cli
	cli=$(find_ynl) || skip "no ynl: set UET_YNL to tools/net/ynl/pyynl/cli.py of a kernel source"
	python3 -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"
	some
	is "skey-new" "$(ynl --do skey-new --json '{"dev-name": "u1", "id": 1, "key": "'$key'", "mode": "cluster",
		"sdi": 7}' | jq -c '[.mode, .sdi, ."an-valid", .persistent, has("key")]')" \
		'["cluster",7,1,true,false]'
	is "skey-get" "$(ynl --do skey-get --json '{"dev-name": "u1", "id": 1}' | jq -c .algorithm)" '"aes-256-gcm"'
	ynl --do job-new --json '{"dev-name": "u1", "id": 3, "uid": 1000, "skey-id": 1,
		"sgid-index": '"$gid4"', "peer-max": 5}'
	is "job by uet" "$(job 3 '[.uid, .skey, .gid_index, .peer_max, .persistent]')" "[1000,1,$gid4,5,true]"
	is "job-get" "$(ynl --do job-get --json '{"dev-name": "u1", "id": 3}' |
		jq -c '[."dev-name", .uid, ."skey-id", ."peer-max", ."holder-count"]')" '["u1",1000,1,5,0]'
	is "job-get, dump" "$(ynl --dump job-get --json '{"dev-name": "u1"}' | jq -c 'map(.id)')" "[3]"
	ynl --do peer-set --json '{"dev-name": "u1", "job-id": 3, "peer": [
		{"index": 0, "addr": "10.0.0.2", "qpn": 4096}, {"index": 4, "addr": "10.0.0.3", "qpn": 4097}]}'
	is "peer-get" "$(ynl --dump peer-get --json '{"dev-name": "u1", "job-id": 3}' |
		jq -c 'map(.peer) | flatten | map([.index, .addr, .qpn])')" \
		'[[0,"10.0.0.2",4096],[4,"10.0.0.3",4097]]'
	ynl --do peer-del --json '{"dev-name": "u1", "job-id": 3, "first": 0, "count": 2}'
	is "peers by uet" "$(uet1 job peers show u1 id 3)" "index 4 addr 10.0.0.3 qpn 4097"
	is "holder-get" "$(ynl --dump holder-get --json '{"dev-name": "u1"}')" "[]"
	ynl --do skey-rekey --json '{"dev-name": "u1", "id": 1, "step": "install", "key": "'$key2'"}'
	is "an-valid" "$(skey 1 .an_valid)" '"0,1"'

	ynl_refuses "job id is missing" --do job-new --json '{"dev-name": "u1"}'
	ynl_refuses "device index or name is missing" --do job-get --json '{"id": 3}'
	ynl_refuses "no peer is given" --do peer-set --json '{"dev-name": "u1", "job-id": 3}'
	ynl_refuses "a peer needs index, address and QP number" --do peer-set \
		--json '{"dev-name": "u1", "job-id": 3, "peer": [{"index": 0}]}'
	ynl_refuses "first index is missing" --do peer-del --json '{"dev-name": "u1", "job-id": 3, "count": 1}'
	ynl_refuses "count is missing" --do peer-del --json '{"dev-name": "u1", "job-id": 3, "first": 1}'
	ynl_refuses "key material is missing" --do skey-new --json '{"dev-name": "u1"}'
	ynl_refuses "'bad-attr': '.key'" --do skey-new --json '{"dev-name": "u1", "key": "0102"}'
	ynl_refuses "step is missing" --do skey-rekey --json '{"dev-name": "u1", "id": 1}'
	ynl_refuses "only the step install takes key material" --do skey-rekey \
		--json '{"dev-name": "u1", "id": 1, "step": "switch", "key": "'$key'"}'
	ynl_refuses "security key id is missing" --do skey-get --json '{"dev-name": "u1"}'
	ynl_refuses "'bad-attr': '.id'" --do job-get --json '{"dev-name": "u1", "id": 4}'
	ynl_refuses "'bad-attr': '.peer-count'" --do job-new --json '{"dev-name": "u1", "id": 4, "peer-count": 1}'
	ynl_refuses "'bad-attr': '.skey-id'" --do job-new --json '{"dev-name": "u1", "id": 4, "skey-id": 9}'
	ynl --do job-del --json '{"dev-name": "u1", "id": 3, "force": true}'
	ynl --do skey-del --json '{"dev-name": "u1", "id": 1}'
	is "jobs left" "$(ids job show)$(ids skey show)" "[][]"
}

ynl_monitor() {
	local cli
	cli=$(find_ynl) || skip "no ynl: set UET_YNL to tools/net/ynl/pyynl/cli.py of a kernel source"
	python3 -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"
	some
	ynl --subscribe monitor --duration $((10 * slow)) >"$tmp/events" 2>&1 &
	busywait $((10 * slow)) ynl_heard
	wait
}

ynl_heard() {
	uet1 job add u1 id 3
	uet1 job del u1 id 3
	grep -q '"name": "job-add-ntf"' "$tmp/events" && grep -q '"name": "job-del-ntf"' "$tmp/events"
}

check "jobs are added, shown and deleted" tidy job_add_show_del
check "an id is one job on each device" tidy job_ids
check "what is wrong with jobs is said" tidy job_errors
check "peers are set, shown, loaded and deleted" tidy peers
check "a large peer table" tidy peer_table_large
check "what is wrong with peers is said, and nothing is half done" tidy peer_errors
check "security keys are added, shown and deleted" tidy skey_add_show_del
check "a security key is changed in steps" tidy skey_rekey
check "what is wrong with security keys is said" tidy skey_errors
check "security keys of jobs" tidy skey_of_jobs
check "key material never comes out" tidy skey_secret
check "the monitor tells every change" tidy monitor_events
check "the monitor's words" tidy monitor_words
check "an ordinary user may look but not change" tidy unprivileged
check "root of a user namespace makes jobs on its own devices only" tidy user_namespace
check "jobs of another namespace are not there" tidy isolated
check "holders are shown" tidy holders
check "jobs come and go under two lists and a monitor" tidy under_change
check "lists that are interrupted say so" tidy lists_interrupted
check "the device goes under jobs" tidy device_goes
check "batches of 10,000 lines" tidy batches
check "counters of devices" stats
check "help on every level" helps
check "bash completion" tidy completion
check "the kernel's ynl client" tidy ynl_round_trip
check "the kernel's ynl client as monitor" tidy ynl_monitor
run_checks
