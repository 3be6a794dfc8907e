#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# guests: host
#
# [--write]: is what the kernel's YNL generator makes of
# Documentation/netlink/specs/uet.yaml the same as what is in the tree?
# --write: make it the same.
#
# The generator comes with the kernel's source: $UET_KERNEL_SRC, or the newest
# one in the cache (vm/source linux-new puts it there).

set -u

top=$(readlink -f "$(dirname "$(readlink -f "$0")")/../../../..")
cache=${UET_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/uet}
spec=Documentation/netlink/specs/uet.yaml
verbs=drivers/infiniband/hw/uet/verbs

# what is generated: FILE GENERATOR-OPTIONS
files=(
	"include/uapi/rdma/uet_netlink.h --mode uapi --header"
	"$verbs/netlink_gen.h --mode kernel --header"
	"$verbs/netlink_gen.c --mode kernel --source"
)

write=
case ${1-} in
--write) write=1 ;;
"") ;;
*) echo "usage: ${0##*/} [--write]" >&2; exit 1 ;;
esac

skip() {
	echo "1..0 # SKIP $*"
	exit 4
}

kernel_src() {
	if [ -n "${UET_KERNEL_SRC-}" ]; then
		echo "$UET_KERNEL_SRC"
		return
	fi
	find "$cache/src" -mindepth 1 -maxdepth 1 -type d -name 'linux-[0-9]*' 2>/dev/null |
		sort -V | tail -n 1
}

# Stands in for python3-jsonschema where that is missing: it only checks the form
# of the spec, and the generator falls over a bad form as well.
no_schema() {
	mkdir -p "$work/python"
	echo 'def validate(*args): pass' >"$work/python/jsonschema.py"
	export PYTHONPATH=$work/python
	echo "# python3-jsonschema is not installed: the form of the spec is not checked"
}

# The generator looks for the schemas beside the spec, and for MAINTAINERS to tell
# where the tree begins.
make_tree() {
	mkdir -p "$work/Documentation/netlink/specs"
	touch "$work/MAINTAINERS"
	cp "$src"/Documentation/netlink/*.yaml "$work/Documentation/netlink/"
	cp "$top/$spec" "$work/$spec"
}

check() { # NUMBER FILE OPTION...
	local n=$1 file=$2 new=$work/$2
	shift 2
	mkdir -p "${new%/*}"
	if ! python3 "$generator" "$@" --spec "$work/$spec" -o "$new" >"$work/log" 2>&1; then
		sed 's/^/# /' "$work/log"
		echo "not ok $n $file: the generator failed"
		return 1
	fi
	if [ -n "$write" ]; then
		cmp -s "$new" "$top/$file" || cp "$new" "$top/$file"
	fi
	if ! diff -u --label "$file" --label generated "$top/$file" "$new" >"$work/log" 2>&1; then
		sed 's/^/# /' "$work/log"
		echo "# to make it the same: $0 --write"
		echo "not ok $n $file"
		return 1
	fi
	echo "ok $n $file"
}

echo "TAP version 13"
src=$(kernel_src)
[ -n "$src" ] || skip "no kernel source in $cache/src and UET_KERNEL_SRC is not set"
generator=$src/tools/net/ynl/pyynl/ynl_gen_c.py
[ -e "$generator" ] || skip "no tools/net/ynl/pyynl/ynl_gen_c.py in $src (it is there from 6.14 on)"
python3 -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1 # the source is not ours to write to
python3 -W ignore -c 'import jsonschema' 2>/dev/null || no_schema
make_tree

echo "# generator: $generator"
echo "1..${#files[@]}"
failed=0
n=0
for entry in "${files[@]}"; do
	n=$((n + 1))
	# shellcheck disable=SC2086
	check $n $entry || failed=1
done
exit $failed
