#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# The driver's KUnit modules (uet_*_kunit): each is loaded, which runs it, and each of
# its cases is a result here.
#
# guests: uml uml-kasan
# timeout: 300

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
must="uet_wire_kunit uet_window_kunit uet_burst_kunit uet_eptab_kunit uet_verbs_kunit"

# Results as "ok SUITE.CASE" or "not ok ...", and what a failed case said.
#	results SUITE-FILE
results() {
	awk '
	/^ *# Subtest:/ { suite = $NF }
	/^    (not )?ok [0-9]+/ {
		good = $1 == "ok"
		name = $0
		sub(/^ *(not )?ok [0-9]+ (- )?/, "", name)
		printf "%s%s.%s\n", good ? "ok " : "not ok ", suite, name
		next
	}
	/^ {8,}not ok / { print "# " $0 }	# one of the parameters of a case
	/^ +# / && !/Subtest:|module:|pass:[0-9]+ fail:/ { print }
	' "$1"
}

suites() {
	find /sys/kernel/debug/kunit -mindepth 1 -maxdepth 1 -printf '%f\n' | sort
}

run_module() { # NAME
	local suite
	suites >"$tmp/before"
	if ! modprobe "$1"; then
		echo "not ok $1 can be loaded"
		return
	fi
	for suite in $(suites | comm -13 "$tmp/before" -); do
		results "/sys/kernel/debug/kunit/$suite/results"
	done >"$tmp/module"
	if grep -qE '^(not )?ok' "$tmp/module"; then
		cat "$tmp/module"
	else
		echo "not ok $1 has results"
	fi
	modprobe -r "$1" || echo "not ok $1 can be unloaded"
}

echo "TAP version 13"
if [ "${UET_TYPE:-uet}" != uet ] || [ ! -d /sys/kernel/debug/kunit ]; then
	echo "1..0 # SKIP the kernel has no KUnit with debugfs"
	exit 4
fi
found=$(find "/lib/modules/$(uname -r)" -name 'uet_*_kunit.ko*' -printf '%f\n' | sed 's/\.ko.*//' | sort)
for module in $must; do
	grep -qx "$module" <<<"$found" || echo "not ok $module was built"
done >"$tmp/all"
for module in $found; do
	run_module "$module"
done >>"$tmp/all" 2>&1

# The plan comes first, so number them now.
echo "1..$(grep -cE '^(not )?ok ' "$tmp/all")"
awk '
/^ok / { sub(/^ok /, ""); printf "ok %d - %s\n", ++n, $0; next }
/^not ok / { sub(/^not ok /, ""); printf "not ok %d - %s\n", ++n, $0; bad = 1; next }
{ sub(/^ */, ""); sub(/^# /, ""); print "# " $0 }
END { exit bad || !n }' "$tmp/all"
