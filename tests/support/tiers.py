"""Which cases `make test` runs, and which it leaves to `make test-long`: those get the marker `long` here.

`pytest.mark.pairwise`, on a test or a module: in place of a full product a small table of cases in which every pair of
values occurs, so it finds each error that needs at most two of the values. Tests of a module whose marks have the same
argument, `pytest.mark.pairwise("name")`, share one table, in which the name of the test is a column: two values then
meet in one of these tests, not in each.

`pytest.mark.third`: of three cases in a row one, the first, second and third in turn; at least one of each test.

`drawn(count)`: of so many examples a third; all in `make test-long`, which repeats tests of hypothesis, whose examples
are others in each run, and those with the marker `drawn`.
"""

import os
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heapreplace
from itertools import combinations_with_replacement

import pytest

ALL = os.environ.get("VWLITE_TEST_ALL") == "1"


def drawn(count: int) -> int:
    return count if ALL else count // 3


def table(rows: Sequence[Mapping[str, Hashable]]) -> list[int]:
    """Numbers of rows that together have every pair of values that any row has: greedily, the row with most new pairs
    first, and of several the one that comes first."""
    pairs = [set(combinations_with_replacement(sorted(row.items()), 2)) for row in rows]
    missing = set().union(*pairs)
    most = [(-len(of_row), i) for i, of_row in enumerate(pairs)]  # new pairs may be fewer by now, never more
    heapify(most)
    chosen = []
    while missing:
        i = most[0][1]
        now = (-len(pairs[i] & missing), i)
        if now > most[0]:
            heapreplace(most, now)
        else:
            heappop(most)
            chosen.append(i)
            missing -= pairs[i]
    return chosen


def thirds(cases: int, test: int) -> set[int]:
    """Indices of the cases that `make test` runs, for the test with this index in its module."""
    return {3 * i + (test + i) % 3 for i in range(-(-cases // 3))} & set(range(cases)) or {0}


def mark_long(items: Iterable[pytest.Item]) -> None:
    """Mark what is in no table of its `pairwise` tests, and two thirds of `third` ones."""
    tables, modules = defaultdict(list), defaultdict(lambda: defaultdict(list))
    for item in items:
        if item.get_closest_marker("long"):
            continue
        if item.get_closest_marker("third"):
            modules[item.path][test_of(item)].append(item)
        elif mark := item.get_closest_marker("pairwise"):
            tables[item.path, mark.args or test_of(item)].append(item)
    for group in tables.values():
        leave(group, set(table([row_of(item) for item in group])))
    for tests in modules.values():
        for number, group in enumerate(tests.values()):
            leave(group, thirds(len(group), number))


def test_of(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def row_of(item: pytest.Item) -> dict[str, str]:
    """The test and its parameters: a value is its repr, as lists and dictionaries are values too."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return {"test": test_of(item)} | {name: repr(value) for name, value in params.items()}


def leave(group: Sequence[pytest.Item], short: set[int]) -> None:
    for i, item in enumerate(group):
        if i not in short:
            item.add_marker("long")
