# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
# Sourced by the tests of the netlink family and the uet command.

. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

[ "$type" = uet ] || skip_all "this is about uet devices"
command -v uet >/dev/null || skip_all "the uet command is not installed (vm/build-user builds it)"

uet1() { uet -n h1 "$@"; }
uet2() { uet -n h2 "$@"; }

is() { # WHAT VALUE EXPECTED
	[ "$2" = "$3" ] || fail "$1 is $2, expected $3"
}

# refused CODE TEXT COMMAND...: ends with CODE, says TEXT on stderr, nothing on stdout
refused() {
	local want=$1 text=$2 code=0
	shift 2
	"$@" >"$tmp/stdout" 2>"$tmp/stderr" || code=$?
	echo "$* -> $code: $(cat "$tmp/stderr")"
	[ $code = "$want" ] || fail "exit code $code, expected $want"
	grep -qF -- "$text" "$tmp/stderr" || fail "the message should have: $text"
	[ ! -s "$tmp/stdout" ] || fail "something on stdout: $(cat "$tmp/stdout")"
}

# shellcheck disable=SC2034 # for the tests
as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# The same, and TEXT is all that is said.
says() { # CODE TEXT COMMAND...
	local code=$1 text=$2
	shift 2
	refused "$code" "$text" "$@"
	[ "$(cat "$tmp/stderr")" = "Error: $text" ] || fail "expected just: Error: $text"
}

other_netns() { # PID
	[ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

# The kernel's own client, which knows the family only from the spec.
find_ynl() {
	local path
	for path in "${UET_YNL-}" "${UET_KERNEL_SRC-}/tools/net/ynl/pyynl/cli.py" \
		    /usr/libexec/uet/pyynl/cli.py /out/pyynl/cli.py; do
		[ ! -f "$path" ] || { echo "$path"; return; }
	done
	command -v ynl
}

ynl() { # ARGUMENT...; the caller has the client in $cli
	# shellcheck disable=SC2154
	on_host 1 env PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 python3 "$cli" --no-schema --output-json \
		--spec "$here/../../../../Documentation/netlink/specs/uet.yaml" "$@"
}
