#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""Did a ratio fall against the committed table?

usage: compare.py BASELINE FOLDER [AGAIN]

FOLDER holds table.tsv and plan.tsv (what was to be measured). Without AGAIN the cells
of all ratios that fell go to FOLDER/fallen.tsv, so that they can be measured once more,
and the exit code is 3 if there are any. AGAIN is the folder of that second measurement:
what fell in both has fallen, and the exit code is 1.
"""

import collections
import os
import sys

import cells
import ratios

FALL = 0.15
# Too few events, or too few ticks, decide these: shown, not judged.
NOISY = ("us-p99", "ms/GiB-tx", "ms/GiB-rx")

Fall = collections.namedtuple("Fall", "old new")  # new None: there is no figure


def read_plan(path):
    """The set of cells, without unit, that were to be measured."""
    plan = set()
    with open(path, encoding="ascii") as file:
        for line in file:
            row, mtu, op, size, qps, depth, drivers = line.split()
            for driver in drivers.split(","):
                plan.add((row, int(mtu), op, int(size), int(qps), int(depth), driver))
    return plan


def place(cell):
    return (cell.row, cell.mtu, cell.op, cell.bytes, cell.qps, cell.depth)


def is_planned(ratio, plan):
    return all((*place(cell), cell.driver) in plan for cell in (ratio.cell, ratio.base))


def change(ratio, fall):
    """What is left of a ratio, as a share; where less is better, upside down."""
    if cells.lower_is_better(ratio.cell.unit):
        return fall.old / fall.new if fall.new else float("inf")
    return fall.new / fall.old


def fallen(baseline, now, plan):
    """{ratio: Fall} of what fell, or is gone although it was to be measured."""
    result = collections.OrderedDict()
    new = ratios.ratios(now)
    for ratio, old in ratios.ratios(baseline).items():
        if ratio.cell.unit in NOISY or old <= 0 or not is_planned(ratio, plan):
            continue
        fall = Fall(old, new.get(ratio))
        if fall.new is None or change(ratio, fall) < 1 - FALL:
            result[ratio] = fall
    return result


def describe(ratio, fall):
    if fall.new is None:
        return f"{ratios.name_of(ratio)} {fall.old:.2f} -> no figure"
    return (f"{ratios.name_of(ratio)} {fall.old:.2f} -> {fall.new:.2f} "
            f"({(change(ratio, fall) - 1) * 100:+.0f} %)")


def write_cells(found, path):
    """Both cells of each ratio, as bench.sh names them."""
    places = {place(cell) for ratio in found for cell in (ratio.cell, ratio.base)}
    with open(path, "w", encoding="ascii") as file:
        for line in sorted(places):
            file.write(" ".join(str(word) for word in line) + "\n")


def fallen_in(folder, baseline):
    table = os.path.join(folder, "table.tsv")
    # nothing measured at all: everything is gone
    now = cells.read_table(table) if os.path.exists(table) else {}
    return fallen(baseline, now, read_plan(os.path.join(folder, "plan.tsv")))


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    baseline = cells.read_table(sys.argv[1])
    first = fallen_in(sys.argv[2], baseline)
    if len(sys.argv) == 3:
        for ratio, fall in first.items():
            print(f"fell: {describe(ratio, fall)}")
        write_cells(first, os.path.join(sys.argv[2], "fallen.tsv"))
        sys.exit(3 if first else 0)
    again = fallen_in(sys.argv[3], baseline)
    both = [ratio for ratio in first if ratio in again]
    for ratio in both:
        print(f"FELL TWICE: {describe(ratio, again[ratio])}")
    sys.exit(1 if both else 0)


if __name__ == "__main__":
    main()
