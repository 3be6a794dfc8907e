#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""Make a table, a plot and a summary of what bench.sh measured.

usage: bench_table.py RAW.TSV FOLDER

Writes FOLDER/table.tsv (medians and quartiles) and FOLDER/bench.svg, and prints the
ratios of uet to the others with the goals.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench"))
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import cells
import plot
import ratios


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    summary = cells.summarize(cells.read_raw(sys.argv[1]))
    if not summary:
        sys.exit(f"{sys.argv[1]}: no results")
    cells.write_table(summary, os.path.join(sys.argv[2], "table.tsv"))
    plot.write_plot(summary, os.path.join(sys.argv[2], "bench.svg"))
    ratios.print_ratios(summary)


if __name__ == "__main__":
    main()
