#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""Tests of what the bench makes of its figures. KTAP; bench_selftest.sh runs this."""

import contextlib
import io
import os
import stat
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

# pylint: disable=wrong-import-position
import cells
import compare
import plot
import ratios
import readme

WRITE = cells.Cell("R1", 9000, "write", 65536, 1, "uet", "MB/s", 128)
TCP = cells.Cell("R1", 9000, "tcp", 65536, 1, "tcp", "MB/s", 1)
SIW = WRITE._replace(driver="siw")
RXE = WRITE._replace(driver="rxe")
COPY = cells.Cell("R4", 9000, "copy", 65536, 1, "memcpy", "MB/s", 1)
LATENCY = cells.Cell("R2", 9000, "send", 2, 1, "uet", "us", 1)
CPU = cells.Cell("R10", 9000, "send", 65536, 1, "uet", "ms/GiB", 128)

PLAN = """\
R1 9000 write 65536 1 128 uet,rxe,siw
R1 9000 tcp 65536 1 1 tcp
R2 9000 send 2 1 1 uet,siw
"""


def table(**changed):
    """A run: figures by name, with some of them changed; None: not measured."""
    figures = {"uet": 2000, "tcp": 2000, "siw": 500, "rxe": 100, "latency": 10,
               "latency_siw": 20}
    figures.update(changed)
    where = {"uet": WRITE, "tcp": TCP, "siw": SIW, "rxe": RXE, "latency": LATENCY,
             "latency_siw": LATENCY._replace(driver="siw")}
    return {where[name]: (value, value, value)
            for name, value in figures.items() if value is not None}


def plan_of(text):
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
        file.write(text.replace(" ", "\t"))
        file.flush()
        return compare.read_plan(file.name)


def names(found):
    return [(ratio.row, ratio.name) for ratio in found]


class Summary(unittest.TestCase):
    def test_medians_and_quartiles(self):
        summary = cells.summarize({WRITE: [5, 1, 2, 4, 3], TCP: [7]})
        self.assertEqual(summary, {WRITE: (3, 2, 4), TCP: (7, 7, 7)})

    def test_table_comes_back_as_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "table.tsv")
            cells.write_table(table(), path)
            self.assertEqual(cells.read_table(path), table())
            with open(path, encoding="ascii") as file:
                text = file.read()
            self.assertEqual(text.split("\n")[0].split("\t"), list(cells.COLUMNS))
            with open(path, "w", encoding="ascii") as file:
                file.write("# kernel 7\n" + text)
            self.assertEqual(cells.read_table(path), table())

    def test_other_columns_are_refused(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("row\tmtu\n")
            file.flush()
            self.assertRaises(ValueError, cells.read_table, file.name)

    def test_raw_lines(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("R1\t9000\twrite\t65536\t1\tuet\t10.5\tMB/s\t128\n"
                       "R1\t9000\twrite\t65536\t1\tuet\t11.5\tMB/s\t128\n")
            file.flush()
            self.assertEqual(cells.read_raw(file.name), {WRITE: [10.5, 11.5]})

    def test_rows_are_sorted_by_number(self):
        self.assertLess(cells.order(LATENCY), cells.order(CPU))

    def test_plot_is_drawn(self):
        summary = table()
        for cell in list(summary):
            summary[cell._replace(bytes=4096)] = (1, 1, 1)
        summary[COPY] = (9000, 9000, 9000)
        with tempfile.NamedTemporaryFile("r", suffix=".svg") as file:
            plot.write_plot(summary, file.name)
            text = file.read()
        self.assertEqual(text.count("R1 write, MTU 9000"), 1)
        self.assertEqual(text.count("<polyline"), 6)  # four drivers and two
        self.assertTrue(text.endswith("</svg>\n"))


class Ratios(unittest.TestCase):
    def values(self, summary):
        return {(ratio.row, ratio.cell.op, ratio.name): value
                for ratio, value in ratios.ratios(summary).items()}

    def test_against_everyone(self):
        values = self.values(table())
        self.assertEqual(values, {("R1", "write", "tcp"): 1, ("R1", "write", "siw"): 4,
                                  ("R1", "write", "rxe"): 20, ("R2", "send", "siw"): 0.5})

    def test_many_qps_against_one_stream(self):
        values = self.values({WRITE._replace(qps=8): (3000, 0, 0), TCP: (2000, 0, 0),
                              TCP._replace(qps=8): (9000, 0, 0)})
        self.assertEqual(values, {("R1", "write", "tcp"): 1.5})

    def test_ru_against_rc_of_the_others(self):
        values = self.values({WRITE._replace(op="ru-write"): (1000, 0, 0), SIW: (500, 0, 0)})
        self.assertEqual(values, {("R1", "ru-write", "siw"): 2})

    def test_copy_limit(self):
        values = self.values({WRITE: (2000, 0, 0), COPY: (10000, 0, 0)})
        self.assertEqual(values, {("R4", "write", "memcpy"): 0.2})

    def test_variants(self):
        values = self.values({
            WRITE: (2000, 0, 0),
            WRITE._replace(row="R11", op="write-nogso"): (1000, 0, 0),
            WRITE._replace(row="R11", op="write-crc"): (500, 0, 0),
            TCP._replace(row="R11", op="tcp-nogso"): (800, 0, 0)})
        self.assertEqual(values, {("R11", "write-nogso", "plain"): 0.5,
                                  ("R11", "write-nogso", "tcp"): 1.25,
                                  ("R11", "write-crc", "plain"): 0.25})

    def test_cpu_time_against_tcp(self):
        values = self.values({CPU: (600, 0, 0),
                              CPU._replace(driver="tcp", op="tcp", depth=1): (500, 0, 0)})
        self.assertEqual(values, {("R10", "send", "tcp"): 1.2})

    def test_nothing_is_divided_by_nothing(self):
        self.assertEqual(self.values({WRITE: (2000, 0, 0), TCP: (0, 0, 0)}), {})


class Goals(unittest.TestCase):
    def goal(self, cell, name):
        for ratio in ratios.bases(cell):
            if ratio.name == name:
                return ratios.goal(ratio)
        raise AssertionError(f"no ratio to {name}")

    def test_goals(self):
        for cell, name, wanted in (
                (WRITE, "tcp", (False, 1)), (WRITE, "siw", (False, 4)),
                (WRITE, "rxe", (False, 15)), (WRITE, "memcpy", None),
                (WRITE._replace(bytes=4096), "tcp", None),
                (WRITE._replace(mtu=1500), "tcp", None),
                (WRITE._replace(mtu=1500), "siw", (False, 2)),
                (LATENCY, "siw", (True, 0.8)), (LATENCY, "rxe", (True, 0.35)),
                (LATENCY._replace(unit="us-p99"), "siw", (True, 0.8)),
                (WRITE._replace(row="R3", bytes=8, unit="kmsg/s"), "siw", (False, 5)),
                (CPU, "tcp", (True, 1.2)), (CPU._replace(unit="MB/s"), "tcp", None),
                (CPU._replace(row="R12", unit="IOPS"), "tcp", (False, 1))):
            self.assertEqual(self.goal(cell, name), wanted, f"{cell} {name}")

    def test_missed_by(self):
        at_least, at_most = ratios.Goal(False, 4), ratios.Goal(True, 0.8)
        self.assertAlmostEqual(ratios.missed_by(3, at_least), 0.25)
        self.assertLessEqual(ratios.missed_by(4, at_least), 0)
        self.assertAlmostEqual(ratios.missed_by(1.2, at_most), 0.5)
        self.assertLessEqual(ratios.missed_by(0.8, at_most), 0)

    def test_printed(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            ratios.print_ratios(table(tcp=2500))
        self.assertIn("uet/tcp       0.80  (>= 1 missed by 20 %)", said.getvalue())
        self.assertIn("uet/siw       4.00  (>= 4 met)", said.getvalue())
        self.assertTrue(said.getvalue().endswith("3 of 4 goals met\n"))


class Fallen(unittest.TestCase):
    plan = plan_of(PLAN)

    def fallen(self, **changed):
        return compare.fallen(table(), table(**changed), self.plan)

    def test_the_same(self):
        self.assertEqual(self.fallen(), {})

    def test_fifteen_percent_is_the_limit(self):
        self.assertEqual(self.fallen(uet=1701), {})
        self.assertEqual(names(self.fallen(uet=1699)),
                         [("R1", "rxe"), ("R1", "siw"), ("R1", "tcp")])

    def test_all_slower_alike(self):
        self.assertEqual(self.fallen(uet=1000, tcp=1000, siw=250, rxe=50), {})

    def test_the_other_got_faster(self):
        self.assertEqual(names(self.fallen(siw=600)), [("R1", "siw")])

    def test_better_is_no_fall(self):
        self.assertEqual(self.fallen(uet=9000, latency=1), {})

    def test_latency_falls_by_growing(self):
        self.assertEqual(self.fallen(latency=11.7), {})
        self.assertEqual(names(self.fallen(latency=11.8)), [("R2", "siw")])

    def test_no_figure_is_a_fall(self):
        self.assertEqual(len(self.fallen(uet=None)), 3)
        found = self.fallen(tcp=None)
        self.assertEqual(names(found), [("R1", "tcp")])
        self.assertIn("no figure", compare.describe(*found.popitem()))

    def test_what_was_not_planned_does_not_count(self):
        short = plan_of("R2 9000 send 2 1 1 uet,siw\n")
        self.assertEqual(compare.fallen(table(), table(uet=None, tcp=None), short), {})
        without_rxe = plan_of(PLAN.replace("rxe,", ""))
        self.assertEqual(compare.fallen(table(), table(rxe=None), without_rxe), {})

    def test_noise_is_not_judged(self):
        worst = {LATENCY._replace(unit="us-p99"): (20, 0, 0),
                 LATENCY._replace(unit="us-p99", driver="siw"): (20, 0, 0)}
        now = {cell: (20 if cell.driver == "siw" else 90, 0, 0) for cell in worst}
        self.assertEqual(compare.fallen(worst, now, self.plan), {})

    def test_new_cells_are_no_matter(self):
        now = table()
        now[WRITE._replace(bytes=1 << 20)] = (1, 1, 1)
        self.assertEqual(compare.fallen(table(), now, self.plan), {})


class Run(unittest.TestCase):
    """bench/run with a script in the place of the guest: one raw.tsv after the other."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(self.folder.cleanup)
        self.measure = self.path("measure")
        with open(self.measure, "w", encoding="ascii") as file:
            file.write(f"""#!/bin/sh
n=$(($(cat {self.folder.name}/count 2>/dev/null || echo 0) + 1))
echo $n >{self.folder.name}/count
cp {self.folder.name}/table.$n "$1/table.tsv"
cp {self.folder.name}/plan "$1/plan.tsv"
echo "kernel 7" >"$1/about.txt"
""")
        os.chmod(self.measure, stat.S_IRWXU)
        with open(self.path("plan"), "w", encoding="ascii") as file:
            file.write(PLAN.replace(" ", "\t"))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def bench(self, *tables, words=()):
        """Exit code, what was said, how often was measured."""
        for number, summary in enumerate(tables, 1):
            cells.write_table(summary, self.path(f"table.{number}"))
        env = dict(os.environ, UET_BENCH_MEASURE=self.measure,
                   UET_BENCH_FOLDER=self.path("out"),
                   UET_BENCH_BASELINE=self.path("bench/BASELINE.tsv"))
        done = subprocess.run([os.path.join(HERE, "run"), *words], env=env, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        with open(self.path("count"), encoding="ascii") as file:
            count = int(file.read())
        os.remove(self.path("count"))
        return done.returncode, done.stdout, count

    def baseline(self):
        code, said, count = self.bench(table(), words=["--write"])
        self.assertEqual((code, count), (0, 1), said)
        self.assertEqual(cells.read_table(self.path("bench/BASELINE.tsv")), table())

    def test_without_a_table(self):
        code, said, count = self.bench(table())
        self.assertEqual((code, count), (0, 1), said)
        self.assertIn("make bench-baseline", said)

    def test_nothing_fell(self):
        self.baseline()
        code, said, count = self.bench(table(uet=1900))
        self.assertEqual((code, count), (0, 1), said)

    def test_fell_once(self):
        self.baseline()
        code, said, count = self.bench(table(uet=1000), table())
        self.assertEqual((code, count), (0, 2), said)

    def test_fell_twice(self):
        self.baseline()
        code, said, count = self.bench(table(siw=1000, latency=90), table(siw=900))
        self.assertEqual((code, count), (1, 2), said)
        self.assertIn("FELL TWICE: R1 MTU 9000 write 65536 B, MB/s: uet/siw 4.00 -> 2.22 (-44 %)",
                      said)
        self.assertNotIn("FELL TWICE: R2", said)
        with open(self.path("out/again/cells.tsv"), encoding="ascii") as file:
            self.assertEqual(file.read(), "R1 9000 write 65536 1 128\nR2 9000 send 2 1 1\n")

    def test_each_fell_once(self):
        self.baseline()
        code, said, count = self.bench(table(siw=1000), table(latency=90))
        self.assertEqual((code, count), (0, 2), said)

    def test_no_figures_twice(self):
        self.baseline()
        code, said, count = self.bench(table(uet=None), table(uet=None))
        self.assertEqual((code, count), (1, 2), said)

    def test_measuring_failed(self):
        with open(self.measure, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\necho 1 >{self.folder.name}/count\nexit 125\n")
        code, said, _ = self.bench(table())
        self.assertEqual(code, 125, said)


class Readme(unittest.TestCase):
    def test_only_between_the_marks(self):
        text = f"before\n{readme.BEGIN}\nold\n{readme.END}\nafter\n"
        new = readme.replaced(text, readme.block(table(), ["kernel 7"]))
        self.assertTrue(new.startswith(f"before\n{readme.BEGIN}\n"))
        self.assertTrue(new.endswith(f"\n{readme.END}\nafter\n"))
        self.assertNotIn("old", new)
        self.assertIn("kernel 7", new)
        self.assertIn("| write 64 KiB | 2000 | 100 | 500 | 2000 |", new)
        self.assertEqual(readme.replaced(new, readme.block(table(), ["kernel 7"])), new)

    def test_without_marks(self):
        self.assertRaises(ValueError, readme.replaced, "text", "block")


class Ktap(unittest.TestResult):
    count = 0

    def line(self, word, test, error=None):
        self.count += 1
        if error:
            for line in self._exc_info_to_string(error, test).rstrip().split("\n"):
                print("# " + line)
        print(f"{word} {self.count} - {test.id().split('.', 1)[1]}")

    def addSuccess(self, test):
        super().addSuccess(test)
        self.line("ok", test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line("not ok", test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self.line("not ok", test, err)


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    print("TAP version 13")
    print(f"1..{suite.countTestCases()}", flush=True)
    result = Ktap()
    suite.run(result)
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
