#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""Run one test command, read its KTAP, print it as one subtest, count the results.

usage: ktap.py NUMBER NAME LOG TALLY CMD [ARG...]

The whole output goes to LOG; the line "passed failed skipped" is added to TALLY.
A skip without a reason, a plan that was not kept, an exit code that no result
explains, and a test that says nothing at all are failures.
"""

import os
import re
import selectors
import subprocess
import sys
import time

RESULT = re.compile(r"^(\s*)(not ok|ok)\b\s*(\d*)\s*-?\s*(.*?)\s*(?:#\s*(SKIP|TODO|XFAIL)\b\s*(.*))?$")
PLAN = re.compile(r"^1\.\.(\d+)\s*(?:#\s*SKIP\s*(.*))?$")
KSFT_SKIP = 4
TALK = 100      # lines before a result that are kept; vm/run says less of a kernel's complaint
EXIT_CODES = {
    124: "no answer within the time limit",
    125: "the kernel complained",
    126: "the guest ended without an exit code",
}


class Subtest:
    def __init__(self, name, log):
        self.name = name
        self.log = log
        self.passed = self.failed = self.skipped = 0
        self.plan = None
        self.talk = []

    def say(self, text):
        print("    " + text, flush=True)

    def result(self, good, text, skip=None, talk=30):
        if skip is not None and not skip:
            good, skip, text = False, None, text + " (skipped without a reason)"
        number = self.passed + self.failed + self.skipped + 1
        if skip:
            self.skipped += 1
            self.say(f"ok {number} - {text} # SKIP {skip}")
        elif good:
            self.passed += 1
            self.say(f"ok {number} - {text}")
        else:
            self.failed += 1
            for line in self.talk[-talk:]:
                self.say("# " + line)
            self.say(f"not ok {number} - {text}")
        self.talk = []

    def line(self, line):
        plan = PLAN.match(line)
        found = RESULT.match(line)
        if plan:
            self.plan = int(plan.group(1))
            if self.plan == 0:
                self.result(True, self.name, skip=plan.group(2) or "")
                self.plan = 1
        elif found and not found.group(1):
            skip = found.group(6) if found.group(5) == "SKIP" else None
            good = found.group(2) == "ok" or found.group(5) in ("TODO", "XFAIL")
            self.result(good, found.group(4), skip)
        else:
            self.talk.append(line)
            del self.talk[:-TALK]

    def end(self, code):
        count = self.passed + self.failed + self.skipped
        if code == KSFT_SKIP and count == 0:
            self.result(True, self.name, skip=self.talk[-1].lstrip("# ") if self.talk else "")
        elif code in EXIT_CODES:
            self.result(False, EXIT_CODES[code], talk=TALK)
        elif code not in (0, KSFT_SKIP) and not self.failed:
            self.result(False, f"exit code {code}")
        elif count == 0:
            self.result(False, "no result printed")
        elif self.plan is not None and self.plan != count:
            self.result(False, f"{self.plan} results planned, {count} given")


def main():
    number, name, log, tally = sys.argv[1:5]
    print(f"# Subtest: {name}", flush=True)
    start = quiet = time.monotonic()
    with open(log, "w", encoding="utf-8", errors="replace") as file:
        test = Subtest(name, file)
        with subprocess.Popen(sys.argv[5:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as process:
            # Raw reads: a buffered reader would hide from select what it has read ahead.
            wait = selectors.DefaultSelector()
            wait.register(process.stdout, selectors.EVENT_READ)
            rest = b""
            while True:
                if not wait.select(timeout=30):
                    now = time.monotonic()
                    if now - quiet >= 30:
                        quiet = now
                        print(f"    # {name} is running since {now - start:.0f} s", flush=True)
                    continue
                data = os.read(process.stdout.fileno(), 65536)
                quiet = time.monotonic()
                if not data:
                    break
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    line = line.decode("utf-8", "replace").rstrip("\r")
                    file.write(line + "\n")
                    file.flush()
                    test.line(line)
            if rest:
                line = rest.decode("utf-8", "replace")
                file.write(line + "\n")
                test.line(line)
        test.end(process.returncode)
    took = time.monotonic() - start
    print(f"    1..{test.passed + test.failed + test.skipped}")
    print(f"{'not ok' if test.failed else 'ok'} {number} - {name} # {took:.0f} s", flush=True)
    with open(tally, "a", encoding="utf-8") as file:
        file.write(f"{test.passed} {test.failed} {test.skipped}\n")
    return 1 if test.failed else 0


if __name__ == "__main__":
    sys.exit(main())
