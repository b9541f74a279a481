"""Numbers of two days of data, and whether they differ by more than a tenth and by more than chance."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from vwlite.runs.watched import BUCKETS, CHANCE, Number, Watched, differs, mean, share

MOST_NAMED = 5  # columns of a verdict
Pairs = Mapping[Watched, tuple[Number, Number]]


def verdict(numbers: Pairs, columns: Pairs) -> str:
    """What differs, in a sentence: columns, those with the largest difference in standard errors first, and numbers
    about all rows."""
    apart: dict[str, float] = {}
    for of, (a, b) in columns.items():
        size = _in_errors(a, b) if differs(a, b) else 0.0
        apart[of.column] = max(apart.get(of.column, 0.0), size)
    names = sorted((name for name, size in apart.items() if size), key=lambda name: -apart[name])
    rest, whole = len(names) - MOST_NAMED, [f"the {of.text}" for of, pair in numbers.items() if differs(*pair)]
    why = "by more than a tenth and by more than chance"
    listed = listing([*names[:MOST_NAMED], *([f"{rest:,} more columns"] if rest > 0 else [])])
    if not names:
        nothing = f"No column differs {why}"
        return f"{nothing}, but {listing(whole)} {verb(whole, 'does', 'do')}." if whole else f"{nothing}."
    also = f", and so {verb(whole, 'does', 'do')} {listing(whole)}" if whole else ""
    return f"{listed} {verb(names)} {why}{also}."


def _in_errors(a: Number, b: Number) -> float:
    """How many standard errors two numbers are apart."""
    error = math.hypot(a.error, b.error)
    return abs(b.value - a.value) / error if error else math.inf


def listing(names: Sequence[str]) -> str:
    """`a, b and c`"""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def verb(names: Sequence[str], one: str = "differs", more: str = "differ") -> str:
    return one if len(names) == 1 else more


class Columns:
    """The features of data by column or namespace. keys: those that are known, ascending; None: all that are met, as
    these are the data that others are compared with. absents: hashes of those of absent cells, which do not count."""

    def __init__(self, keys: npt.NDArray[Any] | None, bits: int, absents: Iterable[int] = ()) -> None:
        self._absents = np.array([*absents], np.uint32)
        self.keys = np.zeros(0, np.uint32) if keys is None else keys
        self._knows_all, self._mask = keys is None, np.uint32((1 << bits) - 1)
        self._sums: dict[int, Any] = {}  # lines, features, unknown features, sum and squares of values, buckets
        self._examples = 0

    def add(self, batch: Any, kept: npt.NDArray[np.bool_]) -> None:
        """Count a batch that has the hashes of namespaces. kept: its lines that are examples."""
        self._examples += int(np.count_nonzero(kept))
        sizes, spans = np.diff(np.asarray(batch.feature_begin)), np.diff(np.asarray(batch.span_begin))
        line = np.repeat(np.repeat(np.arange(len(batch)), spans), sizes)
        some = kept[line]
        if self._absents.size:
            some &= ~np.isin(np.asarray(batch.hash), self._absents)
        value, hash = np.asarray(batch.value)[some].astype(float), np.asarray(batch.hash)[some]
        if self._knows_all:
            self.keys = np.union1d(self.keys, hash & self._mask)
        unknown = ~np.isin(hash & self._mask, self.keys)
        found, at = np.unique(np.repeat(np.asarray(batch.space), sizes)[some], return_inverse=True)
        n = max(found.size, 1)
        counts = [np.bincount(np.unique(line[some] * n + at) % n, minlength=n)]
        counts += [np.bincount(at, x, n) for x in (None, unknown, value, value * value)]
        buckets = np.bincount(at * BUCKETS + hash % BUCKETS, minlength=n * BUCKETS).reshape(n, BUCKETS)
        for space, row in zip(found.tolist(), np.column_stack([*counts, buckets]), strict=False):
            self._sums[space] = self._sums.get(space, 0.0) + row

    def unknown(self) -> Number:
        """The share of features that are not known."""
        _, features, unknown = (sum(row[k] for row in self._sums.values()) for k in range(3))
        return share(unknown, features, self._examples)

    def beside(self, other: "Columns", names: Mapping[int, str]) -> dict[Watched, tuple[Number, Number]]:
        """The numbers of this and of the other data. names: of columns, by their hashes."""
        result: dict[Watched, tuple[Number, Number]] = {}
        for space in {**self._sums, **other._sums}:
            a, b = pair = [c._sums.get(space, np.zeros(5 + BUCKETS)) for c in (self, other)]
            found = {"in_lines": [share(c._sums[space][0] if space in c._sums else 0, c._examples, c._examples)
                                  for c in (self, other)]}
            if a[1] and b[1]:
                found["unknown"] = [share(x[2], x[1], x[0]) for x in pair]
                found["mean_value"] = [mean(x[3], x[4], x[1], x[1]) for x in pair]
                apart = float(np.abs(a[5:] / a[1] - b[5:] / b[1]).sum()) / 2
                found["alike"] = [Number(1.0, 0.0), Number(1 - apart, CHANCE * math.sqrt(1 / a[0] + 1 / b[0]))]
            name = names.get(space, f"#{space}")
            result |= {Watched(key, column=name): (x, y) for key, (x, y) in found.items()}
        return result
