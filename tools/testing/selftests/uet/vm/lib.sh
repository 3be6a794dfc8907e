# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash disable=SC2034
# Sourced by every script here: where things are, and how a cache entry is made.

set -euo pipefail

vm=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
top=$(readlink -f "$vm/../../../../..")
build=$top/build
cache=${UET_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/uet}
jobs=$(nproc)

say() { printf '# %s\n' "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Which kernel a guest runs is its name; the architecture follows.
guests="uml uml-kasan qemu qemu-debug"
guest_arch() {
	case $1 in
	uml|uml-kasan) echo um ;;
	qemu|qemu-debug) echo x86 ;;
	*) die "no guest named '$1' (there are: $guests)" ;;
	esac
}

# One process at a time makes a cache entry; the others wait and then find it there.
lock_cache() { # ENTRY
	mkdir -p "$cache/lock"
	exec 9>"$cache/lock/$1"
	flock 9
}

# Run a long command with its output in a log, shown only when it fails, and a
# line every half minute so that nobody takes a build for a hang.
logged() {
	local log=$1 start=$SECONDS last=$SECONDS pid
	shift
	mkdir -p "${log%/*}"
	"$@" >"$log" 2>&1 9>&- &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		# wait for the child or one second, whichever is first
		timeout 1 tail --pid="$pid" -f /dev/null || :
		if ((SECONDS - last >= 30)); then
			last=$SECONDS
			say "  still at it after $((SECONDS - start)) s ($(wc -l <"$log") lines in $log)"
		fi
	done
	wait "$pid" || { tail -n 40 "$log" >&2; die "failed: $1 ${2-} ..., log in $log"; }
}
