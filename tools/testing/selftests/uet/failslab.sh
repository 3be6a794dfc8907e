#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Every allocation of every verb that makes something fails once (failslab.c), and so
# does each of jobs, of netlink's requests, and of "rdma link add". The verb says so, works the next time, nothing is left
# over; vm/run looks for leaks after the test.
#
# guests: uml-kasan
# timeout: 900

. "$(dirname "$(readlink -f "$0")")/lib.sh"

failslab=$(program failslab) || exit 1
every=2 link_dense=20 link_every=997 bytes=400
[ -z "$long" ] || every=1 link_dense=300 link_every=25 bytes=32

verb() { # VERB...
	need_hosts 1500
	limit 60 "$failslab" -a u1 -A "$(address 1 4)" -b u2 -B "$(address 2 4)" -n $every -w 60 "$@"
}

# Netlink is asked where the device is.
job() { # VERB...
	need_hosts 1500
	limit 60 nsenter --net=/run/netns/h1 "$failslab" -a u1 -A "$(address 1 4)" -b u2 -B "$(address 2 4)" -n $every -w 60 "$@"
}

# All that is asked for from some point on fails.
shortage() { # VERB...
	need_hosts 1500
	limit 60 nsenter --net=/run/netns/h1 "$failslab" -a u1 -A "$(address 1 4)" -b u2 -B "$(address 2 4)" \
		-s $bytes -w 60 "$@"
}

# A device is registered in thousands of steps, nearly all of them the kernel's own.
link() {
	ip link add f1 type veth peer name f2
	ip link set f1 up
	limit 200 "$failslab" -l f1 -d $link_dense -n $link_every link
	ip link del f1
}

# What Linux 7.3 itself loses when it gets no memory: a radix tree of uverbs that could
# not grow keeps the nodes it had got (uapi_merge_def()); the task of a process whose
# context could not be made (UVERBS_METHOD_GET_CONTEXT frees the context without
# rdma_restrack_put()). With siw the same is lost.
kernels='uverbs_alloc_api|copy_process|do_execveat_common'

leaks() {
	local kmemleak=/sys/kernel/debug/kmemleak
	hosts_down
	rm -f "$tmp/mtu"
	[ -e $kmemleak ] || skip "no kmemleak in this kernel"
	echo scan >$kmemleak
	sleep 6		# nothing younger than 5 s is reported
	echo scan >$kmemleak
	awk -v kernels="\"swapper|$kernels" 'BEGIN { RS = "unreferenced object"; ORS = "" }
		NR > 1 && $0 !~ kernels' $kmemleak >"$tmp/leaks"
	cat "$tmp/leaks"
	[ ! -s "$tmp/leaks" ]
	# these were looked at; some are found later
	echo clear >$kmemleak
	echo "$kernels" >/run/kernel-leaks
}

[ -w /proc/self/fail-nth ] || skip_all "no fault injection in this kernel"

for name in open pd channel cq cq_ex cq_resize srq srq_resize rc uc ud ru rc_srq \
	to_init to_rtr to_rts ah mr mr_rereg mr_dmabuf mw1 mw2 mcast send; do
	check "$name" verb $name
done
check "security keys" job skey skey_open skey_rekey skey_export skey_import
check "jobs" job job job_open job_export job_import peers jkey
check "for jobs" job cq_uet ru_job mr_job mr_part
check "netlink" job nl_skey nl_rekey nl_job nl_peers
check "no memory from some point on: jobs" shortage skey job job_import peers jkey ru_job mr_job mr_part
check "no memory from some point on: netlink" shortage nl_skey nl_job nl_peers
check "no memory from some point on: verbs" shortage mr mw2 rc srq mcast
check "rdma link add (OBJ-04)" link
check "nothing leaked" leaks
run_checks
