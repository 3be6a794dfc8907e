#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""
Run rdma-core's own tests on one device, for pyverbs.sh.

	pyverbs_run.py TESTS OUTPUT SECONDS MODULE,... [--dev DEVICE] [--gid INDEX]

TESTS is rdma-core's folder "tests". Each module runs in a process of its own,
and after SECONDS without a result the test in progress counts as an error and
the module goes on behind it. OUTPUT gets a line for each test: module, test,
one of pass, skip, fail, error, and the reason.
"""
import faulthandler
import gc
import os
import select
import signal
import sys
import time
import traceback
import unittest


# What the tests give as reason for one of another kind
REASONS = {
    # they ask for a CQ that tells of tags
    ('test_tag_matching', 'Extended CQ is not supported'): 'Tag matching is not supported',
    # enum ibv_qp_type
    (None, 'Create QP type 8 is not supported'): 'Create Raw Packet QP is not supported',
}


def reason_of(test, text):
    text = one_line(text)
    module = test.id().split('.')[1]
    return REASONS.get((module, text)) or REASONS.get((None, text)) or text


def one_line(text):
    return ' '.join(str(text).split())[:300]


def last_line(err):
    return one_line(''.join(traceback.format_exception_only(err[0], err[1])))


class Result(unittest.TestResult):
    """Tells the parent what becomes of each test."""

    def __init__(self, pipe):
        super().__init__()
        self.pipe = pipe

    def tell(self, test, what, reason=''):
        line = f'{test.id()}\t{what}\t{reason}\n'
        os.write(self.pipe, line.encode())

    def startTest(self, test):
        super().startTest(test)
        self.told = False
        self.tell(test, 'start')

    def outcome(self, test, what, reason=''):
        if not self.told:
            self.tell(test, what, reason)
        self.told = True

    def addSuccess(self, test):
        self.outcome(test, 'pass')

    def addSkip(self, test, reason):
        self.outcome(test, 'skip', reason_of(test, reason))

    def addFailure(self, test, err):
        self.outcome(test, 'fail', last_line(err))
        traceback.print_exception(*err)

    def addError(self, test, err):
        self.outcome(test, 'error', last_line(err))
        traceback.print_exception(*err)

    # In rdma-core's tests: with the subtest's own name
    def addSubTest(self, test, subtest, err):
        if err is None:
            return
        failed = issubclass(err[0], test.failureException)
        self.outcome(test, 'fail' if failed else 'error',
                     f'{one_line(subtest)}: {last_line(err)}')

    def addExpectedFailure(self, test, err):
        self.outcome(test, 'pass')

    def addUnexpectedSuccess(self, test):
        self.outcome(test, 'fail', 'succeeded, which was not expected')


def flat(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flat(item)
        else:
            yield item


def child(tests, pipe):
    faulthandler.enable()
    # Garbage collection ends weak references first, by which pyverbs would have
    # closed what depends on an object: it then uses devices that are closed.
    gc.disable()
    os.setsid()
    result = Result(pipe)
    try:
        unittest.TestSuite(tests).run(result)
    finally:
        os._exit(0)


def lines_of(pipe, seconds):
    """Lines of the child; ends at its end, or after so long without one."""
    rest = b''
    while True:
        if not select.select([pipe], [], [], seconds)[0]:
            return
        data = os.read(pipe, 65536)
        if not data:
            return
        *lines, rest = (rest + data).split(b'\n')
        for line in lines:
            yield line.decode().split('\t')


def run_module(name, tests, seconds, out):
    """Start again behind a test that hangs or kills its process."""
    while tests:
        read, write = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(read)
            child(tests, write)
        os.close(write)
        done, current, start = set(), None, time.monotonic()
        for test, what, reason in lines_of(read, seconds):
            if what == 'start':
                current, start = test, time.monotonic()
                continue
            current = None
            if test.startswith(('setUpClass', 'setUpModule')):
                done = {t.id() for t in tests}
            done.add(test)
            took = int((time.monotonic() - start) * 1000)
            print(name, test.split('.', 2)[-1], what, reason, took, sep='\t', file=out, flush=True)
        hung = current and not os.waitpid(pid, os.WNOHANG)[0]
        try:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ChildProcessError, ProcessLookupError):
            pass
        os.close(read)
        if current:
            why = f'no end after {seconds} s' if hung else 'its process died'
            print(name, current.split('.', 2)[-1], 'error', why, 0, sep='\t', file=out, flush=True)
            done.add(current)
        elif len(done) < len(tests) and not done:
            print(name, '-', 'error', 'the module ended early', 0, sep='\t', file=out, flush=True)
            return
        tests = [t for t in tests if t.id() not in done]


def main():
    folder, output, seconds, wanted = sys.argv[1:5]
    del sys.argv[1:5]
    # Last, since rdma-core's folder has the sources of pyverbs too
    sys.path += [folder, os.path.dirname(folder)]
    from args_parser import parser
    parser.parse_args()
    import importlib
    names = sorted(f[:-3] for f in os.listdir(folder)
                   if f.startswith('test_') and f.endswith('.py'))
    if wanted != 'all':
        names = [n for n in names if n[5:] in wanted.split(',')]
    loader = unittest.TestLoader()
    with open(output, 'a', encoding='utf-8') as out:
        for name in names:
            try:
                module = importlib.import_module(f'tests.{name}')
            except Exception as ex:
                print(name[5:], '-', 'error', one_line(f'cannot be loaded: {ex}'), 0, sep='\t', file=out)
                continue
            run_module(name[5:], list(flat(loader.loadTestsFromModule(module))),
                       float(seconds), out)


main()
