"""The processor time of each case, of its child processes too: the slowest are printed, and one above MOST fails with
VWLITE_TEST_TIMES=1, as in `make test`.

It is the time of the case itself; fixtures, which several cases may share, are summed apart. Modules that a case is the
first to import are not counted, as the next run may have another order. Children count once they are waited for.

A second is what a machine needs for LOOPS of `loop`, measured in the same run, and after a slow case again. On a busy
machine other work still takes up to NOISE times as long, beside this loop: only what is above that fails.
`tests/slow_cases.txt` lists the cases that may take longer, as node ids, with or without parameters; those of `make
test-long` may, too.
"""

import gc
import importlib
import os
import resource
from collections.abc import Generator, Iterable
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from tiers import test_of

MOST, NOISE, LONG = 1.0, 4.0, 0.5
LOOPS = 70
SLOW_CASES = Path(__file__).parents[1] / "slow_cases.txt"
CASE, FIXTURES = "seconds of the case", "seconds of its fixtures"


def loop() -> float:
    """Mean processor time of a fixed piece of work."""
    values, before = np.arange(20_000.0), process_time()
    for _ in range(4):
        counts: dict[int, int] = {}
        for i in range(50_000):
            counts[i % 1000] = counts.get(i % 1000, 0) + i
        for _ in range(100):
            values = np.sqrt(values * values + 1)
    return (process_time() - before) / 4


class Imports:
    """Processor time of the modules that are imported in this process."""

    def __init__(self) -> None:
        self.time, self._depth = 0.0, 0
        # There is no public hook around an import. Only modules that are not loaded yet come here.
        self._load = importlib._bootstrap._find_and_load
        importlib._bootstrap._find_and_load = self._timed

    def remove(self) -> None:
        importlib._bootstrap._find_and_load = self._load

    def _timed(self, *arguments: object) -> object:
        before = process_time()
        self._depth += 1
        try:
            return self._load(*arguments)
        finally:
            self._depth -= 1
            if not self._depth:
                self.time += process_time() - before


class Times:
    """The plugin. With workers there is one in each, and one in the process that prints: it has times from reports."""

    def __init__(self, listed: Iterable[str], fails: bool) -> None:
        self.listed, self._fails = set(listed), fails
        self.slow: list[str] = []  # cases of this run that are on the list
        self.unknown: list[str] = []  # entries of the list that are no cases, though their file is here
        self._cases: dict[str, float] = {}
        self._fixtures = 0.0

    def pytest_sessionstart(self) -> None:
        self._loop, self._imports = loop(), Imports()

    def pytest_sessionfinish(self) -> None:
        self._imports.remove()

    @pytest.hookimpl(tryfirst=True)  # before any are left out
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        cases = [item.nodeid for item in items]
        if not any("::" in argument for argument in config.args):
            known = {*cases, *map(test_of, items)}
            files = {case.partition("::")[0] for case in cases}
            self.unknown = [entry for entry in self.listed - known if entry.partition("::")[0] in files]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """What was collected stays, so that no case has to look for garbage in it."""
        self.slow = [item.nodeid for item in session.items if self._is_listed(item.nodeid)]
        gc.collect()
        gc.freeze()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self._timed(item, FIXTURES))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self._timed(item, FIXTURES))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        result = yield from self._timed(item, CASE)
        time = item.user_properties[-1][1]
        may_be_slow = item.get_closest_marker("long") or self._is_listed(item.nodeid)
        if self._fails and time > NOISE * MOST and not may_be_slow:
            pytest.fail(f"{time:.2f} s of processor time, above {MOST} (tests/support/times.py)", pytrace=False)
        return result

    def _timed(self, item: pytest.Item, name: str) -> Generator[None, object, object]:
        before = self._spent()
        try:
            return (yield)
        finally:
            spent = (self._spent() - before) / LOOPS
            if spent > LONG * self._loop:
                self._loop = max(self._loop, loop())
            item.user_properties.append((name, spent / self._loop))

    def _spent(self) -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return process_time() + children.ru_utime + children.ru_stime - self._imports.time

    def _is_listed(self, case: str) -> bool:
        return case in self.listed or case.partition("[")[0] in self.listed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            for name, time in report.user_properties:
                if name == CASE:
                    self._cases[report.nodeid] = time
                elif name == FIXTURES:
                    self._fixtures += time

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._cases:
            return
        slowest = sorted(self._cases.items(), key=lambda case: -case[1])
        quick = [(case, time) for case, time in slowest if time <= LONG and self._is_listed(case)]
        count = sum(time > LONG for _, time in slowest)
        for title, cases in (
            (f"at most {LONG} s: to be taken off the list of slow cases", quick),
            ("slowest cases, in seconds of the processor", slowest[: max(count, 3)]),
        ):
            if cases:
                terminalreporter.section(title)
            for case, time in cases:
                terminalreporter.write_line(f"{time:6.2f} {case}{' (listed)' if self._is_listed(case) else ''}")
        total = f"{sum(self._cases.values()):.0f} s in cases and {self._fixtures:.0f} s in fixtures"
        terminalreporter.write_line(f"{total}; {count} cases above {LONG} s")


def of_this_run() -> Times:
    """With the list in `tests`. Without VWLITE_TEST_TIMES=1 no case fails, as one that is looked at alone need not."""
    return Times(SLOW_CASES.read_text().splitlines(), os.environ.get("VWLITE_TEST_TIMES") == "1")
