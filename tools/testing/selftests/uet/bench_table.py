#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""Make a table, a plot and a summary of what bench.sh measured.

usage: bench_table.py RAW.TSV FOLDER

Writes FOLDER/table.tsv (medians and quartiles) and FOLDER/bench.svg, and prints the
ratios of uet to the others.
"""

import collections
import math
import statistics
import sys

COLUMNS = ("row", "mtu", "op", "bytes", "qps", "driver", "median", "q1", "q3", "unit", "depth")
DRIVERS = ("uet", "rxe", "siw", "tcp")
COLOURS = {"uet": "#c0392b", "rxe": "#2e86c1", "siw": "#239b56", "tcp": "#7d3c98"}

Cell = collections.namedtuple("Cell", "row mtu op bytes qps driver unit depth")


def read_raw(path):
    """{cell: [values]}, in the order of the file."""
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


def order(cell):
    return (cell.row, -cell.mtu, cell.op, cell.unit, cell.qps, cell.depth, cell.bytes,
            DRIVERS.index(cell.driver))


def write_table(summary, path):
    with open(path, "w", encoding="ascii") as file:
        file.write("\t".join(COLUMNS) + "\n")
        for cell in sorted(summary, key=order):
            median, q1, q3 = summary[cell]
            file.write("\t".join(str(x) for x in (
                cell.row, cell.mtu, cell.op, cell.bytes, cell.qps, cell.driver,
                f"{median:.3f}", f"{q1:.3f}", f"{q3:.3f}", cell.unit, cell.depth)) + "\n")


def other(summary, cell, driver):
    """The median of another driver in the same place."""
    if driver == "tcp":
        cell = cell._replace(op="tcp", depth=1)
    found = summary.get(cell._replace(driver=driver))
    return found[0] if found else None


def print_ratios(summary):
    print(f"{'row':4}{'mtu':>5} {'op':6}{'bytes':>8}{'qps':>4}{'depth':>6}{'uet':>10} "
          f"{'unit':8}" + "".join(f"{'uet/' + d:>9}" for d in DRIVERS[1:]))
    for cell in sorted(summary, key=order):
        if cell.driver != "uet":
            continue
        median = summary[cell][0]
        ratios = ""
        for driver in DRIVERS[1:]:
            base = other(summary, cell, driver)
            ratios += f"{median / base:9.2f}" if base else f"{'-':>9}"
        print(f"{cell.row:4}{cell.mtu:5} {cell.op:6}{cell.bytes:8}{cell.qps:4}{cell.depth:6}"
              f"{median:10.1f} {cell.unit:8}{ratios}")


# --------------------------------------------------------------------------
# Plot: small panels, one for each row, MTU and operation; sizes to the right

WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 190, 52, 28, 24


def panels(summary):
    """{(row, mtu, op, unit, qps, depth): {driver: [(bytes, median, q1, q3)]}}"""
    result = collections.OrderedDict()
    for cell in sorted(summary, key=order):
        if cell.driver == "tcp" or cell.unit == "us-p99":
            continue
        key = (cell.row, cell.mtu, cell.op, cell.unit, cell.qps, cell.depth)
        result.setdefault(key, collections.OrderedDict()).setdefault(
            cell.driver, []).append((cell.bytes, *summary[cell]))
    for cell in sorted(summary, key=order):
        if cell.driver != "tcp":
            continue
        for key, lines in result.items():
            if key[0] == cell.row and key[1] == cell.mtu and key[4] == cell.qps:
                lines.setdefault("tcp", []).append((cell.bytes, *summary[cell]))
    return {key: lines for key, lines in result.items()
            if len({point[0] for line in lines.values() for point in line}) > 1}


def ticks(low, high):
    return [10 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            if low / 1.01 <= 10 ** e <= high * 1.01]


def size_name(size):
    for unit, name in ((1 << 20, "M"), (1 << 10, "K")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{name}"
    return str(size)


def panel_svg(key, lines, x0, y0):
    row, mtu, op, unit, qps, depth = key
    points = [point for line in lines.values() for point in line]
    sizes = sorted({point[0] for point in points})
    low = min(point[2] for point in points) / 1.3
    high = max(point[3] for point in points) * 1.3
    wide, tall = WIDTH - LEFT - 10, HEIGHT - TOP - 26

    def at_x(size):
        return x0 + LEFT + wide * (math.log(size / sizes[0]) / math.log(sizes[-1] / sizes[0]))

    def at_y(value):
        return y0 + TOP + tall * (1 - math.log(value / low) / math.log(high / low))

    detail = f"{qps} QP{'s' if qps > 1 else ''}" if row == "R1" else f"{depth} under way"
    yield (f'<text x="{x0 + LEFT}" y="{y0 + 16}" font-weight="bold">{row} {op}, MTU {mtu}, '
           f'{detail} ({unit})</text>')
    yield (f'<rect x="{x0 + LEFT}" y="{y0 + TOP}" width="{wide}" height="{tall}" fill="none" '
           f'stroke="#999"/>')
    for value in ticks(low, high):
        yield (f'<line x1="{x0 + LEFT}" x2="{x0 + LEFT + wide}" y1="{at_y(value):.1f}" '
               f'y2="{at_y(value):.1f}" stroke="#ddd"/>')
        yield (f'<text x="{x0 + LEFT - 4}" y="{at_y(value) + 3:.1f}" text-anchor="end">'
               f'{value:g}</text>')
    for size in sizes:
        yield (f'<text x="{at_x(size):.1f}" y="{y0 + TOP + tall + 14}" text-anchor="middle">'
               f'{size_name(size)}</text>')
    for driver, line in lines.items():
        colour = COLOURS[driver]
        path = " ".join(f"{at_x(size):.1f},{at_y(median):.1f}" for size, median, _, _ in line)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        for size, median, q1, q3 in line:
            yield (f'<line x1="{at_x(size):.1f}" x2="{at_x(size):.1f}" y1="{at_y(q1):.1f}" '
                   f'y2="{at_y(q3):.1f}" stroke="{colour}"/>')
            yield f'<circle cx="{at_x(size):.1f}" cy="{at_y(median):.1f}" r="2.5" fill="{colour}"/>'


def write_plot(summary, path):
    all_panels = panels(summary)
    across = 3
    down = (len(all_panels) + across - 1) // across
    width, height = across * (WIDTH + GAP), 30 + down * (HEIGHT + GAP)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="10">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for number, driver in enumerate(DRIVERS):
        x = LEFT + number * 70
        lines.append(f'<rect x="{x}" y="8" width="12" height="12" fill="{COLOURS[driver]}"/>')
        lines.append(f'<text x="{x + 17}" y="18" font-size="12">{driver}</text>')
    for number, (key, drawn) in enumerate(all_panels.items()):
        lines.extend(panel_svg(key, drawn, number % across * (WIDTH + GAP),
                               30 + number // across * (HEIGHT + GAP)))
    lines.append("</svg>")
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    summary = summarize(read_raw(sys.argv[1]))
    if not summary:
        sys.exit(f"{sys.argv[1]}: no results")
    write_table(summary, sys.argv[2] + "/table.tsv")
    write_plot(summary, sys.argv[2] + "/bench.svg")
    print_ratios(summary)


if __name__ == "__main__":
    main()
