#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Moderation of completion queues: an event after so many completions or so long after
# the first of them, and at once for an error (moderation.c).
#
# guests: uml
# guests-long: uml uml-kasan
# single: uml
# timeout: 300

. "$(dirname "$(readlink -f "$0")")/lib.sh"

moderation=$(program moderation) || exit 1

moderate() { # TEST
	need_hosts 1500
	limit 60 "$moderation" -a u1 -A "$(address 1 4)" -w $((10 * slow)) "$1"
}

for test in number time off change error destroy limits; do
	check "moderation: $test" moderate $test
done
run_checks
