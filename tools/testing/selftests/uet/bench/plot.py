# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""A plot of a table: small panels, one for each row, MTU and operation; sizes to the right."""

import collections
import math

from cells import order

DRIVERS = ("uet", "rxe", "siw", "tcp")
COLOURS = {"uet": "#c0392b", "rxe": "#2e86c1", "siw": "#239b56", "tcp": "#7d3c98"}
# rows that have sizes to draw, and their units
ROWS = {"R1": ("MB/s",), "R2": ("us",), "R3": ("kmsg/s",)}
WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 190, 52, 28, 24


def panels(summary):
    """{(row, mtu, op, unit, qps, depth): {driver: [(bytes, median, q1, q3)]}}"""
    result = collections.OrderedDict()
    for cell in sorted(summary, key=order):
        if cell.driver == "tcp" or cell.unit not in ROWS.get(cell.row, ()):
            continue
        key = (cell.row, cell.mtu, cell.op, cell.unit, cell.qps, cell.depth)
        result.setdefault(key, collections.OrderedDict()).setdefault(
            cell.driver, []).append((cell.bytes, *summary[cell]))
    for cell in sorted(summary, key=order):
        if cell.driver != "tcp" or cell.op != "tcp" or cell.qps > 1:
            continue
        for key, lines in result.items():
            if key[0] == cell.row and key[1] == cell.mtu:
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
