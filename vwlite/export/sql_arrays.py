"""The SELECT of sql_effects.py with arrays, for PostgreSQL: curves, levels and grids are expressions of a few steps.

    numbers   also between which knots a number is, from 1: `width_bucket`, a binary search
    axes      the place of a word is that in an object of JSON, which PostgreSQL searches by halves
    scores    curves, levels and grids are subscripts of constant arrays

No table is joined: PostgreSQL plans the query in a fraction of a second, and expects no more rows than there are.
"""

import json
from collections.abc import Iterable, Mapping

import numpy as np

from vwlite.export.columns import Grid
from vwlite.export.sql_effects import Query, Term, Values, differences_of, digits, interpolated, knots_of
from vwlite.export.sql_text import literal
from vwlite.model.effects import LevelAxis, NumberAxis


class ArrayQuery(Query):
    def _between(self, axis: NumberAxis) -> str:
        """The name of the column that says between which knots a number is: 1 below the first one."""
        return self.places.setdefault((self.cells[axis.column], *knots_of(axis)), f"b{len(self.places) + 1}")

    def _numbers(self, rounded: str, before: str) -> str:
        for axis in self.axes.values():
            if isinstance(axis, NumberAxis):
                self._between(axis)
        found = "".join(f",\n  width_bucket({cell}, {_array(map(repr, knots))}) + 1 AS {name}"
                        for (cell, *knots), name in self.places.items() if knots)
        return f"numbers AS MATERIALIZED (\nSELECT *{rounded}{found}\nFROM {before})"

    def _curve(self, axis: NumberAxis, values: Values) -> str:
        x, knots, place = self.cells[axis.column], knots_of(axis), f"p.{self._between(axis)}"
        if not knots:
            return super()._curve(axis, values)
        known = [float(v) for v in values[: len(knots)]]
        slopes = [0.0, *(np.diff(known) / np.diff(knots)), 0.0]
        first, begin, slope = (f"({_array(some)})[{place}]" for some in (
            map(digits, [known[0], *known]), map(repr, [knots[0], *knots]), map(digits, slopes)))
        return f"CASE WHEN p.{x} IS NULL THEN {digits(values[-1])} ELSE {first} + (p.{x}_r - {begin}) * {slope} END"

    def _place(self, axis: NumberAxis) -> str:
        x, knots, place = self.cells[axis.column], knots_of(axis), self._between(axis)
        if not knots:
            return super()._place(axis)
        begin = _array(map(repr, [knots[0], *knots]))
        size = _array(["Infinity", *(repr(float(b)) for b in np.diff(knots)), "Infinity"])
        return (f"CASE WHEN {x} IS NULL THEN {len(knots)} ELSE GREATEST({place} - 2, 0) "
                f"+ ({x}_r - ({begin})[{place}]) / ({size})[{place}] END")

    def _word(self, cell: str, places: Mapping[str, int], rest: str) -> str:
        found = json.dumps({word: i for word, i in places.items() if "\0" not in word}, ensure_ascii=False)
        return f"COALESCE(CAST(CAST({literal(found)} AS JSONB) ->> {cell} AS INTEGER), {rest})"

    def _levels(self, grid: Grid, axis: LevelAxis, values: Values) -> Term:
        return self._grid(grid, [axis], values)

    def _cells(self, grid: Grid, cell: str, values: Values, steps: list[int], weights: list[str]) -> Term:
        differences = differences_of(values, steps)
        return Term(grid.name, [
            interpolated([f"({_array(map(digits, d[:, k]))})[{cell} + 1]" for d in differences], weights)
            for k in range(self.classes)])


def _array(numbers: Iterable[str]) -> str:
    return f"CAST('{{{','.join(numbers)}}}' AS DOUBLE PRECISION[])"
