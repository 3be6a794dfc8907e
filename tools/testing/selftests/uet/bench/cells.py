# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""What was measured: cells, their samples, medians and quartiles, and their files."""

import collections
import statistics

COLUMNS = ("row", "mtu", "op", "bytes", "qps", "driver", "median", "q1", "q3", "unit", "depth")
DRIVERS = ("uet", "rxe", "siw", "tcp", "memcpy")
# more of these is worse
LOWER_IS_BETTER = ("us", "us-p99", "ms/GiB", "ms/GiB-tx", "ms/GiB-rx")

Cell = collections.namedtuple("Cell", "row mtu op bytes qps driver unit depth")


def lower_is_better(unit):
    return unit in LOWER_IS_BETTER


def order(cell):
    return (int(cell.row[1:]), -cell.mtu, cell.op, cell.unit, cell.qps, cell.depth, cell.bytes,
            DRIVERS.index(cell.driver))


def read_raw(path):
    """{cell: [values]}, in the order of the file; a line is a run."""
    cells = collections.OrderedDict()
    with open(path, encoding="ascii") as file:
        for line in file:
            row, mtu, op, size, qps, driver, value, unit, depth = line.rstrip("\n").split("\t")
            cell = Cell(row, int(mtu), op, int(size), int(qps), driver, unit, int(depth))
            cells.setdefault(cell, []).append(float(value))
    return cells


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0]
    quarters = statistics.quantiles(values, n=4, method="inclusive")
    return quarters[0], quarters[2]


def summarize(cells):
    """{cell: (median, q1, q3)}"""
    return {cell: (statistics.median(values), *quartiles(values))
            for cell, values in cells.items()}


def write_table(summary, path):
    with open(path, "w", encoding="ascii") as file:
        file.write("\t".join(COLUMNS) + "\n")
        for cell in sorted(summary, key=order):
            median, q1, q3 = summary[cell]
            file.write("\t".join(str(x) for x in (
                cell.row, cell.mtu, cell.op, cell.bytes, cell.qps, cell.driver,
                f"{median:.3f}", f"{q1:.3f}", f"{q3:.3f}", cell.unit, cell.depth)) + "\n")


def read_table(path):
    """What write_table() wrote; lines that begin with # are comments."""
    summary = {}
    with open(path, encoding="ascii") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    if not lines or tuple(lines[0]) != COLUMNS:
        raise ValueError(f"{path}: the columns are not those of a table")
    for row, mtu, op, size, qps, driver, median, q1, q3, unit, depth in lines[1:]:
        cell = Cell(row, int(mtu), op, int(size), int(qps), driver, unit, int(depth))
        summary[cell] = (float(median), float(q1), float(q3))
    return summary
