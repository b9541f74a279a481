"""What is asked of a shard, and what it answers: sums over its rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from vwlite.core.solve.products import Products
from vwlite.model import Model
from vwlite.records import record
from vwlite.training.shards.reading import ModelRows
from vwlite.training.shards.rows import ShardRows, Unit
from vwlite.training.shards.weights import counters_of

FACTS, SLOPES, PROJECTED = "facts", "slopes", "projected"


@record(frozen=True)
class Asked:
    """what: one of these. keys: of all features, of which w and the directions are."""

    what: str
    unit: Unit
    keys: Any = None
    w: Any = None
    directions: Sequence[Any] = ()

    @property
    def size(self) -> int:
        """Bytes of its arrays."""
        return sum(x.nbytes for x in (self.keys, self.w, *self.directions) if x is not None)

    def answer(self, found: ModelRows, model: Model, held: Any) -> Any:
        """held: the numbers of the lines that are held out."""
        rows = ShardRows(found.rows, model.settings, self.unit, np.isin(found.lines, held))
        if self.what == FACTS:
            return Facts.of(rows)
        own = np.append(np.searchsorted(self.keys, rows.keys), len(self.keys))
        if self.what == SLOPES:
            return rows.slopes(self.w[own])
        return rows.projected(self.w[own], [d[own] for d in self.directions])


@record(frozen=True)
class Facts:
    """Of a shard: the keys of its features; the sums of v x_j^2 and of x_j^2, how many rows have j, and the largest
    |x_j|; the sums of importances of rows that are learned and of those that are held out; the least and the greatest
    label."""

    keys: Any
    weighted: Any
    squares: Any
    entries: Any
    largest: Any
    weight: float
    held: float
    counters: dict[str, int]
    range: tuple[float, float]

    @staticmethod
    def of(rows: ShardRows) -> "Facts":
        found = rows.rows
        labels = np.array(found.labels)
        least, most, entries = np.zeros((3, len(rows.keys)))
        Products(found).extremes(least, most, entries)
        weighted, squares = (rows.squares(v[:, None])[:-1, 0] for v in (rows.v, np.ones(len(rows))))
        ends = (float(labels.min()), float(labels.max())) if len(labels) else (np.inf, -np.inf)
        largest = np.maximum(np.abs(least), np.abs(most))
        return Facts(rows.keys, weighted, squares, entries, largest, float(rows.v.sum()), float(rows.held.sum()),
                     counters_of(found), ends)
