# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""uet's figures divided by those of the others in the same run, and the goals."""

import collections

import cells

# What a ratio should be: at least or, where less is better, at most this.
Goal = collections.namedtuple("Goal", "most value")

# cell is uet's, base what it is divided by; both are cells without figures.
Ratio = collections.namedtuple("Ratio", "row cell name base")


def name_of(ratio):
    cell = ratio.cell
    text = f"{ratio.row} MTU {cell.mtu} {cell.op} {cell.bytes} B"
    if cell.qps > 1:
        text += f", {cell.qps} QPs"
    if cell.row == "R3":
        text += f", {cell.depth} under way"
    return f"{text}, {cell.unit}: uet/{ratio.name}"


def bases(cell):
    """All that a cell of uet is compared with; what of it was measured is another matter."""
    op = cell.op.removeprefix("ru-")  # the others have no RU
    plain = op.split("-")[0]
    if cell.row == "R11":
        yield Ratio("R11", cell, "plain", cell._replace(row="R1", op=plain))
        if op.endswith("-nogso"):
            yield Ratio("R11", cell, "tcp", cell._replace(driver="tcp", op="tcp-nogso", depth=1))
        return
    for driver in ("rxe", "siw"):
        yield Ratio(cell.row, cell, driver, cell._replace(driver=driver, op=op))
    if cell.row in ("R1", "R10"):
        # one stream, whatever the number of QPs
        yield Ratio(cell.row, cell, "tcp",
                    cell._replace(driver="tcp", op="tcp", qps=1, depth=1))
    if cell.row == "R12":
        yield Ratio("R12", cell, "tcp", cell._replace(driver="tcp"))
    if cell.row == "R1" and cell.qps == 1:
        yield Ratio("R4", cell, "memcpy",
                    cell._replace(row="R4", driver="memcpy", op="copy", depth=1))


def ratios(summary):
    """{ratio: value} of all that can be computed"""
    result = collections.OrderedDict()
    for cell in sorted(summary, key=cells.order):
        if cell.driver != "uet":
            continue
        for ratio in bases(cell):
            if ratio.base in summary and summary[ratio.base][0] > 0:
                result[ratio] = summary[cell][0] / summary[ratio.base][0]
    return result


def goal(ratio):
    """Shared anchors a.5; None: the ratio is only reported."""
    row, cell, name = ratio.row, ratio.cell, ratio.name
    if row == "R1" and cell.bytes >= 65536:
        # At MTU 1500 veth never segments TCP, while each packet of UET has its headers.
        goals = {"tcp": 1.0, "siw": 4.0, "rxe": 15.0} if cell.mtu >= 9000 else {"siw": 2.0}
    elif row == "R2":
        goals = {"siw": 0.8, "rxe": 0.35}
    elif row == "R3":
        goals = {"siw": 5.0}
    elif row == "R10" and cell.unit == "ms/GiB":
        goals = {"tcp": 1.2}
    elif row == "R12":
        goals = {"tcp": 1.0, "rxe": 3.0}
    else:
        goals = {}
    if name not in goals:
        return None
    return Goal(cells.lower_is_better(cell.unit), goals[name])


def missed_by(value, wanted):
    """The share of the goal that is missing, at most 0 if it is met."""
    return value / wanted.value - 1 if wanted.most else 1 - value / wanted.value


def verdict(value, wanted):
    sign = "<=" if wanted.most else ">="
    missed = missed_by(value, wanted)
    if missed <= 0:
        return f"({sign} {wanted.value:g} met)"
    return f"({sign} {wanted.value:g} missed by {missed * 100:.0f} %)"


def print_ratios(summary):
    """A line for each ratio, and at the end how many goals are met."""
    computed = ratios(summary)
    met = total = 0
    print(f"{'row':4}{'mtu':>5} {'op':12}{'bytes':>8}{'qps':>4}{'depth':>6}{'uet':>10} "
          f"{'unit':10}ratio")
    for ratio, value in sorted(computed.items(), key=lambda item: (
            int(item[0].row[1:]), cells.order(item[0].cell), item[0].name)):
        cell, wanted = ratio.cell, goal(ratio)
        line = (f"{ratio.row:4}{cell.mtu:5} {cell.op:12}{cell.bytes:8}{cell.qps:4}"
                f"{cell.depth:6}{summary[cell][0]:10.1f} {cell.unit:10}"
                f"uet/{ratio.name:7}{value:7.2f}")
        if wanted:
            total += 1
            met += missed_by(value, wanted) <= 0
            line += "  " + verdict(value, wanted)
        print(line)
    print(f"{met} of {total} goals met")
