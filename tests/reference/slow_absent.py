"""The weights of absent cells, slowly: the means of what columns add to the scores of rows, row by row.

A row is a dictionary from columns to cells: a number, a word, or None. A weight is a function of the namespace and the
name of a feature. The definition is in vwlite/model/absent.py.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import product

Row = dict[str, float | str | None]
Weight = Callable[[str, str], float]
ENOUGH = 10


def features_of(column: str, cell: float | str | None) -> list[tuple[str, float]]:
    """The features of a cell that is not absent, with their values."""
    return [(column, cell)] if isinstance(cell, float) else [(f"{column}={cell}", 1.0)] if cell is not None else []


def value_in(row: Row, value: float, kind: str) -> float:
    """A value as it is in a row that is normalized."""

    def moved(x: float) -> float:
        return math.copysign(math.log1p(abs(x)), x) if kind == "log" else x

    if kind == "none":
        return value
    values = [moved(x) for column, cell in row.items() for _, x in features_of(column, cell) or [("", 1.0)]]
    return moved(value) / (math.sqrt(sum(x * x for x in values)) or 1.0)


def weight_of(
    rows: Sequence[Row], importances: Sequence[float], column: str, weight: Weight, own: float, kind: str = "none"
) -> float:
    """That of `column?`, for a column of numbers without a curve, or of words. own: its learned weight."""
    some = [(row, h) for row, h in zip(rows, importances, strict=True) if row[column] is not None]
    effects = [h * sum(weight(column, name) * value_in(row, x, kind) for name, x in features_of(column, row[column]))
               for row, h in some]
    units = [h * value_in(row, 1.0, kind) for row, h in some]
    return shrunk(len(rows) - len(some), own, sum(effects) / sum(units))


def shrunk(n: float, own: float, mean: float) -> float:
    return (n * own + ENOUGH * mean) / (n + ENOUGH)


def hats(knots: Sequence[float], x: float) -> list[tuple[int, float]]:
    """The knots around a number, each with its share."""
    if x <= knots[0] or len(knots) == 1:
        return [(0, 1.0)]
    if x >= knots[-1]:
        return [(len(knots) - 1, 1.0)]
    low = max(i for i, knot in enumerate(knots) if knot <= x)
    w = (x - knots[low]) / (knots[low + 1] - knots[low])
    return [(low, 1 - w), (low + 1, w)] if w else [(low, 1.0)]


class Axis:
    """A column at one resolution. knots: of a number; else words with a code. Behind them: for words any other one;
    then what is absent."""

    def __init__(self, column: str, knots: Sequence[float] = (), words: Sequence[str] = ()) -> None:
        self.column, self.knots, self.words = column, knots, words
        self.is_number = bool(knots)
        self.size = len(knots) + 1 if self.is_number else len(words) + 2

    def places(self, row: Row) -> list[tuple[int, float]]:
        cell = row[self.column]
        if cell is None:
            return [(self.size - 1, 1.0)]
        if self.is_number:
            return hats(self.knots, cell)
        return [(self.words.index(cell) if cell in self.words else len(self.words), 1.0)]


def cells_of(
    rows: Sequence[Row], axes: Sequence[Axis], weights: dict[tuple[int, ...], float]
) -> dict[tuple[int, ...], tuple[float, float]]:
    """Of each cell of a product of which a column is absent: the mean where the others are as they are, or if no row
    is so of all rows; and the rows that are in it."""
    mass: dict[tuple[int, ...], float] = dict.fromkeys(product(*(range(axis.size) for axis in axes)), 0.0)
    for row in rows:
        for corner in product(*(axis.places(row) for axis in axes)):
            mass[tuple(at for at, _ in corner)] += math.prod(share for _, share in corner)
    absent = [axis.size - 1 for axis in axes]
    whole = [cell for cell in mass if all(at != end for at, end in zip(cell, absent, strict=True))]

    def mean(cells: Iterable[tuple[int, ...]]) -> float | None:
        cells = list(cells)
        total = sum(mass[cell] for cell in cells)
        return sum(mass[cell] * weights[cell] for cell in cells) / total if total else None

    found = {}
    for cell in mass:
        if cell in whole:
            continue
        others = [i for i, (at, end) in enumerate(zip(cell, absent, strict=True)) if at != end]
        some = mean(x for x in whole if all(x[i] == cell[i] for i in others))
        of_all = mean(whole) or 0.0
        found[cell] = (of_all if some is None else some), mass[cell]
    return found
