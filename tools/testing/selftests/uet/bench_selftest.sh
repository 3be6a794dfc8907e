#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# Tests of the bench's arithmetic: ratios, goals, and the comparison with the committed
# table, which fails when a ratio fell in two runs.
#
# guests: host
# timeout: 60

exec python3 "$(dirname "$(readlink -f "$0")")/bench/selftest.py"
