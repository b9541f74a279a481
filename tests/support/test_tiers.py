"""The tables of cases: nothing that pairs protect is left out, and they are small."""

import subprocess
import sys
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace

import pytest
from losses import LOSSES
from test_nonzeros import RULES
from tiers import mark_long, table, thirds


def pairs_of(rows):
    return {pair for row in rows for pair in combinations(sorted(row.items()), 2)}


def full(**columns):
    return [dict(zip(columns, values, strict=True)) for values in product(*columns.values())]


@pytest.mark.parametrize(
    ("sizes", "most"),
    [((7, 4, 3, 2, 4), 35), ((7, 4), 28), ((3, 3, 3, 3), 15), ((2,) * 10, 12), ((5, 1, 1), 5), ((4,), 4)],
)
def test_every_pair_of_a_product_is_in_a_table_much_smaller(sizes, most):
    rows = full(**{f"column {i}": range(n) for i, n in enumerate(sizes)})
    chosen = table(rows)
    found = [rows[i] for i in chosen]
    assert pairs_of(found) == pairs_of(rows)
    assert {item for row in found for item in row.items()} == {item for row in rows for item in row.items()}
    assert len(set(chosen)) == len(chosen) <= most
    assert table(rows) == chosen


def test_only_what_there_is_is_covered():
    """Columns of one row only, and pairs that no row has."""
    rows = [row for row in full(rule=range(6), loss=range(5)) if row["rule"] < 4 or row["loss"] == 0]
    rows = [row | {"test": test} for row in rows for test in range(8)] + [{"test": 8, "bits": 7}]
    found = [rows[i] for i in table(rows)]
    assert pairs_of(found) == pairs_of(rows)
    assert len(found) < len(rows) / 3
    assert table([]) == []


class Item:
    """As much of a case as is looked at."""

    def __init__(self, name, *marks, path=Path("test_a.py"), **params):
        self.nodeid, self.path, self.callspec = f"{path}::{name}[x]", path, SimpleNamespace(params=params)
        self.marks = {mark.name: mark for mark in marks}

    def get_closest_marker(self, name):
        return self.marks.get(name)

    def add_marker(self, name):
        assert name not in self.marks
        self.marks[name] = getattr(pytest.mark, name)


def test_cases_outside_of_their_table_are_long():
    alone, together = pytest.mark.pairwise.mark, pytest.mark.pairwise("battery").mark
    rows, few = full(a=range(3), b=[[], [1]], c=range(3)), full(a=range(3), b=range(3))
    items = {
        "unmarked": [Item("x", **row) for row in rows],
        "alone": [Item("x", alone, **row) for row in rows],
        "elsewhere": [Item("x", alone, path=Path("test_b.py"), **row) for row in rows],
        "together": [Item(name, together, **row) for name in "yz" for row in few],
        "long": [Item("x", alone, pytest.mark.long.mark, a=77)],
    }
    mark_long([item for group in items.values() for item in group])
    short = {name: [item for item in group if "long" not in item.marks] for name, group in items.items()}
    shared = [item.callspec.params | {"test": item.nodeid[-4]} for item in short.pop("together")]
    assert [len(short[name]) for name in ("unmarked", "alone", "elsewhere", "long")] == [18, 9, 9, 0]
    assert pairs_of(shared) == pairs_of([row | {"test": name} for name in "yz" for row in few])
    assert len(shared) < 18


@pytest.mark.parametrize("test", range(4))
@pytest.mark.parametrize("cases", [1, 2, 3, 4, 20, 40, 60])
def test_a_third_of_the_cases_is_short(cases, test):
    short = thirds(cases, test)
    assert short <= set(range(cases)) and cases // 3 <= len(short) <= max(1, -(-cases // 3))
    if cases >= 20:
        assert len({i % 21 for i in short}) == len(short)  # test_disasters.py takes its 21 jobs in turn
        assert {i % 3 for i in short} == {0, 1, 2}
    items = [Item(f"before {i}", pytest.mark.third.mark) for i in range(test)]
    items += [Item("x", pytest.mark.third.mark, number=i) for i in range(cases)]
    mark_long(items)
    assert {item.callspec.params["number"] for item in items[test:] if "long" not in item.marks} == short
    assert all("long" not in item.marks for item in items[:test])


def test_make_test_long_runs_what_make_test_leaves_out():
    """Of a test in this project, as pytest finds them."""
    file = Path(__file__).parent.parent / "rules" / "test_nonzeros.py"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-m", "long", "-k", "eager"]
    said = subprocess.run([*command, file], cwd=file.parent, capture_output=True, text=True, check=True).stdout
    cases = full(name=RULES, loss=LOSSES, n=(1, 10, 40))
    name = "test_against_the_eager_reference"
    long = [case for case in cases if f"{name}[{'-'.join(map(str, case.values()))}]\n" in said]
    short = [case for case in cases if case not in long]
    assert len(long) == said.count("::") > len(cases) / 2
    assert pairs_of(short) == pairs_of(cases)
