#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""Put the figures of a table between the marks of the README.

usage: readme.py TABLE README

TABLE is bench/BASELINE.tsv, or a table.tsv with about.txt beside it.
"""

import os
import sys

import cells
import ratios
from plot import size_name

BEGIN = "<!-- bench:begin -->"
END = "<!-- bench:end -->"
OTHERS = ("rxe", "siw", "tcp")


def replaced(text, block):
    before, mark, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise ValueError(f"there are no lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{block}{END}{after}"


def bytes_name(size):
    name = size_name(size)
    return f"{name[:-1]} {name[-1]}iB" if name[-1] in "KM" else f"{name} B"


def what(cell):
    text = f"{cell.op} {bytes_name(cell.bytes)}"
    if cell.qps > 1:
        text += f", {cell.qps} QPs"
    if cell.row == "R3":
        text += f", {cell.depth} under way"
    if cell.unit == "us-p99":
        text += ", 99th percentile"
    return text


def figure(summary, cell):
    if cell not in summary:
        return ""
    median = summary[cell][0]
    return f"{median:.0f}" if median >= 100 else f"{median:.1f}"


HEADINGS = (
    ("R1", ("MB/s",), "Bandwidth, MB/s"),
    ("R2", ("us", "us-p99"), "Half a round trip, microseconds"),
    ("R3", ("kmsg/s",), "Messages, thousands/s"),
    ("R10", ("ms/GiB",), "CPU time of both sides, ms for each GiB"),
    ("R11", ("MB/s",), "Variants, MB/s (TCP with the same one)"),
    ("R12", ("IOPS", "MB/s"), "NVMe over Fabrics (IOPS; MB/s)"),
)


def of_driver(cell, driver):
    """The cell of another driver in the same line of the table."""
    for ratio in ratios.bases(cell):
        if ratio.name == driver and ratio.row == cell.row:
            return ratio.base
    return None


def section(summary, row, mtu, units, title):
    chosen = [cell for cell in sorted(summary, key=cells.order)
              if (cell.row, cell.driver, cell.mtu) == (row, "uet", mtu) and cell.unit in units]
    if not chosen:
        return
    yield f"| **{title}, MTU {mtu}** | uet | rxe | siw | TCP |"
    yield "|---|---|---|---|---|"
    for cell in chosen:
        figures = [figure(summary, cell)]
        figures += [figure(summary, of_driver(cell, driver)) for driver in OTHERS]
        yield f"| {what(cell)} | {' | '.join(figures)} |".replace("|  |", "| |")
    yield ""


def goals(summary):
    """How far each goal is met: the worst ratio of each row, MTU and peer."""
    worst = {}
    for ratio, value in ratios.ratios(summary).items():
        wanted = ratios.goal(ratio)
        if not wanted:
            continue
        key = (ratio.row, ratio.cell.mtu, ratio.cell.unit, ratio.name)
        entry = (ratios.missed_by(value, wanted), value, wanted, what(ratio.cell))
        met, count, old = worst.get(key, (0, 0, entry))
        worst[key] = (met + (entry[0] <= 0), count + 1, max(old, entry, key=lambda e: e[0]))
    yield "| goal | met | worst |"
    yield "|---|---|---|"
    for (row, mtu, unit, name), (met, count, (_, value, wanted, cell)) in sorted(
            worst.items(), key=lambda item: (int(item[0][0][1:]), -item[0][1], item[0])):
        sign = "<=" if wanted.most else ">="
        yield (f"| {row}, MTU {mtu}, {unit}: uet/{name} {sign} {wanted.value:g} | {met} of {count} | "
               f"{value:.2f} ({cell}) |")
    yield ""


def block(summary, about):
    lines = ["Medians, from `make bench`: " + "; ".join(about) + ".", ""]
    for mtu in sorted({cell.mtu for cell in summary}, reverse=True):
        for row, units, title in HEADINGS:
            lines.extend(section(summary, row, mtu, units, title))
    lines.extend(goals(summary))
    return "\n".join(lines) + "\n"


def read_about(path):
    beside = os.path.join(os.path.dirname(path), "about.txt")
    with open(path, encoding="ascii") as file:
        about = [line[1:].strip() for line in file if line.startswith("#")]
    if not about and os.path.exists(beside):
        with open(beside, encoding="ascii") as file:
            about = [line.strip() for line in file]
    return [line for line in about if line]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    new = block(cells.read_table(sys.argv[1]), read_about(sys.argv[1]))
    with open(sys.argv[2], encoding="utf-8") as file:
        text = replaced(file.read(), new)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
