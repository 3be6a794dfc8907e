#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# The library: its own tests, what is exported and described, and the programs that come
# with it: uet_job_launch, uet_pingpong and uet_rma, on one host and on two, as root and
# as the owner of a job.
#
# guests: uml
# guests-long: uml uml-kasan qemu
# timeout: 900

. "$(dirname "$(readlink -f "$0")")/lib.sh"

[ "$type" = uet ] || skip_all "needs uet"
command -v uet_job_launch >/dev/null || skip_all "the library's programs are not installed"

# Every function of the header is exported, or inline, and has a manual page; nothing
# else is exported.
described() {
	python3 - <<-'END'
		import ctypes, os, re, sys
		text = re.sub(r'/\*.*?\*/', '', open('/usr/include/infiniband/uetdv.h').read(), flags=re.S)
		calls = set(re.findall(r'\b(uetdv_\w+)\(', text))
		inline = set(re.findall(r'static inline \w+ (uetdv_\w+)\(', text))
		lib = ctypes.CDLL('libuet.so.1')
		bad = [f'{c}: not exported' for c in sorted(calls - inline) if not hasattr(lib, c)]
		bad += [f'{c}: no manual page' for c in sorted(calls)
		        if not os.path.exists(f'/usr/share/man/man3/{c}.3')]
		if len(calls) < 40:
		    bad.append(f'only {len(calls)} calls found')
		if hasattr(lib, 'uet_create_any_qp'):
		    bad.append('private functions are exported')
		print('\n'.join(bad))
		sys.exit(bool(bad))
	END
}

# launch HOST JOB PROCESSES ARG...: one host of a job
launch() {
	local host=$1 job=$2 processes=$3
	shift 3
	limit 100 ip netns exec "h$host" uet_job_launch -d "u$host" \
		-g "$(gid_index "u$host" "$(address "$host" 4)")" -j "$job" -n "$processes" "$@"
}

said() { # LINES REGEXP COMMAND...
	local lines=$1 regexp=$2 code=0
	shift 2
	"$@" >"$tmp/said" 2>&1 || code=$?
	cat "$tmp/said"
	[ "$(grep -cE "$regexp" "$tmp/said")" = "$lines" ] || fail "not $lines lines with $regexp"
	return $code
}

one_host() { # PROCESSES LINES REGEXP COMMAND...
	local processes=$1 lines=$2 regexp=$3
	need_hosts 1500
	shift 3
	said "$lines" "$regexp" launch 1 77 "$processes" "$@"
}

# Both launchers name both hosts; the one that is ready first waits for the other.
two_hosts() { # PROCESSES COMMAND...
	local processes=$1 all=(-a 10.0.0.1 -a 10.0.0.2) pid code=0
	need_hosts 1500
	shift
	launch 2 0x123456 "$processes" "${all[@]}" "$@" >"$tmp/other" 2>&1 &
	pid=$!
	launch 1 0x123456 "$processes" "${all[@]}" "$@" || code=$?
	wait $pid || code=$?
	cat "$tmp/other"
	return $code
}

owner() {
	local code=0
	need_hosts 1500
	uet -n h1 job add dev u1 id 78 uid 1000 peer-max 4
	as_user 1000 4 || code=$?
	uet -n h1 job del dev u1 id 78
	return $code
}

# Numbers of the device are not for who owns a job only.
owner_absolute() {
	local code=0
	need_hosts 1500
	uet -n h1 job add dev u1 id 78 uid 1000 peer-max 4
	said 1 'uet_rma: QP: Operation not permitted' as_user 1000 1 -A || code=$?
	uet -n h1 job del dev u1 id 78
	[ $code -eq 1 ]
}

stranger() {
	local code=0
	need_hosts 1500
	uet -n h1 job add dev u1 id 78 uid 1000 peer-max 4
	said 1 'opening job 78 on u1: Operation not permitted' as_user 1001 2 || code=$?
	uet -n h1 job del dev u1 id 78
	[ $code -eq 1 ]
}

as_user() { # UID PROCESSES [RMA-OPTION...]
	limit 100 ip netns exec h1 setpriv --reuid "$1" --regid "$1" --clear-groups \
		uet_job_launch -o -d u1 -g "$(gid_index u1 "$(address 1 4)")" -j 78 -n "$2" uet_rma -n 2 "${@:3}"
}

# One is killed; the others do not notice, and the launcher tells which it was.
killed() {
	need_hosts 1500
	# shellcheck disable=SC2016 # for the shell of each process
	said 1 'rank 2: signal 9' launch 1 77 4 \
		sh -c '[ $UET_RANK = 2 ] && kill -9 $$; echo "rank $UET_RANK of $UET_SIZE"' || :
	[ "$(grep -c 'of 4$' "$tmp/said")" = 3 ] || fail "not three others"
}

wrong_use() {
	need_hosts 1500
	said 1 'usage:' uet_job_launch -j 5 || [ $? -eq 2 ] || fail "exit code"
	said 1 'no uet device with jobs named nosuch' uet_job_launch -j 5 -d nosuch true || :
	said 1 'none of the addresses' launch 1 5 1 -a 10.9.9.9 true || :
	said 1 'UET_RANK is not set' uet_rma || :
}

for name in rings ops jobs ru; do
	check "the library's test of $name" "/usr/libexec/uet/uet_${name}_test"
done
check "each call is exported and described" described
check "uet_pingpong, 4 processes" one_host 4 2 'half round trip' uet_pingpong -n 100 -s 3000
check "uet_rma, 8 processes" one_host 8 4 '^(send|put|get|add): 8 ranks' uet_rma -n 2
check "uet_rma, blocks of 1 byte" one_host 3 1 '^put: 3 ranks' uet_rma -n 5 -s 1 -o put
check "two hosts: uet_pingpong" two_hosts 1 uet_pingpong -n 50 -s 100000
check "two hosts: uet_rma, 4 processes each" two_hosts 4 uet_rma -n 2 -s 20000
check "an ordinary user who owns the job" owner
check "the same, absolute addressing" owner_absolute
check "one who does not" stranger
check "a process is killed" killed
check "wrong use is said" wrong_use

run_checks
