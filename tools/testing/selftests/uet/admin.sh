#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# What the administrator's page (uet-admin.rst) tells to copy, taken from it and run: the
# unit that makes a link, prolog and epilog of Slurm, the steps for keys.
#
# guests: uml
# timeout: 300

. "$(dirname "$(readlink -f "$0")")/netlink_lib.sh"

page=$here/../../../../Documentation/infiniband/uet-admin.rst
[ -r "$page" ] || skip_all "no Documentation here"

# The literal block behind the paragraph that ends with "``NAME``::"
block() { # NAME
	awk -v end="\`\`$1\`\`::" '
		found && /^[^ ]/ { exit }
		found { sub(/^    /, ""); print }
		substr($0, length($0) - length(end) + 1) == end { found = 1 }' "$page" | sed '1{/^$/d}' >"$tmp/block"
	[ -s "$tmp/block" ] || fail "no block for $1"
	cat "$tmp/block"
}

unit_line() { # KEY INTERFACE
	block /etc/systemd/system/uet-link@.service | sed -n "s/%i/$2/g; s/^$1=//p"
}

unit() {
	local command
	need_hosts 1500
	ip -n h1 link add eth7 type veth peer name eth8
	ip -n h1 link set eth7 up
	for command in ExecStart ExecStop; do
		unit_line $command eth7 >"$tmp/command"
		grep -q rdma "$tmp/command"
		on_host 1 sh -e "$tmp/command"
		[ $command = ExecStop ] || rdma link show uet-eth7/1
	done
	[ ! -e /sys/class/infiniband/uet-eth7 ]
	ip -n h1 link del eth7
}

unit_is_right() {
	command -v systemd-analyze >/dev/null || skip "no systemd here"
	mkdir -p "$tmp/units"
	block /etc/systemd/system/uet-link@.service >"$tmp/units/uet-link@.service"
	systemd-analyze verify --man=no "$tmp/units/uet-link@.service" 2>&1 | tee "$tmp/out"
	[ ! -s "$tmp/out" ]
}

slurm() { # prolog|epilog
	block "/etc/slurm/$1.d/uet" >"$tmp/$1"
	SLURM_JOB_ID=16777300 SLURM_JOB_UID=1000 on_host 1 sh -e "$tmp/$1"
}

batch() {
	local id=$((16777300 % 16777215 + 1)) hold
	need_hosts 1500
	slurm prolog
	is "owner" "$(uet1 -j job show dev u1 id $id | jq '.[].uid')" 1000
	limit 60 ip netns exec h1 setpriv --reuid 1000 --regid 1000 --clear-groups \
		uet_job_launch -o -d u1 -g "$(gid_index u1 "$(address 1 4)")" -j $id -n 2 uet_rma -n 2
	# something that escaped the batch system still holds the job
	mkfifo "$tmp/go"
	ip netns exec h1 setpriv --reuid 1000 --regid 1000 --clear-groups uet_job_launch -o -d u1 \
		-g "$(gid_index u1 "$(address 1 4)")" -j $id -n 1 sh -c 'read -r x' <"$tmp/go" >"$tmp/escaped" 2>&1 &
	hold=$!
	exec 7>"$tmp/go"
	busywait $((10 * slow)) held $id
	slurm epilog
	is "jobs alive" "$(uet1 -j job show dev u1 | jq 'map(select(.dead | not)) | length')" 0
	exec 7>&-
	wait $hold || :
	is "jobs left" "$(uet1 -j job show dev u1 | jq length)" 0
}

held() { # ID
	[ "$(uet1 -j job show dev u1 id "$1" | jq '.[].holders | length')" -gt 0 ]
}

# The commands of the section, with files of this test and the device of this host
keys() {
	need_hosts 1500
	head -c 32 /dev/urandom >"$tmp/cluster.key"
	head -c 32 /dev/urandom >"$tmp/cluster.new"
	sed -n '/^Keys$/,$s/^    # //p' "$page" |
		sed "s@/etc/uet/@$tmp/@g; s/dev uet0/dev u1/; s/uid alice/uid 1000/" >"$tmp/keys"
	is "commands" "$(grep -c '^uet' "$tmp/keys")" 5
	on_host 1 sh -ex "$tmp/keys"
	uet1 job del dev u1 id 78
	uet1 skey del dev u1 id 5
}

check "the unit makes and ends a link" unit
check "systemd understands the unit" unit_is_right
check "prolog, job step and epilog of a batch system" batch
check "a key and its successor" keys
run_checks
