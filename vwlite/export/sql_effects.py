"""A model of a table as one SELECT over that table in a database: it creates no objects.

The query has stages, each a part of its WITH clause:

    cells     the cells that the model reads, and their times: sql_cells.py has the stages before
    axes      where each row is on the axes of grids: the knot below a number plus how far the next one is behind it,
              from 0 to 1; the number of a level
    places    the two parts of each of these
    scores    the intercept plus all effects: CASE for levels, curves and small grids; other grids are tables, which are
              joined by places: for each cell the value at its first corner, and the differences to the others

sql_arrays.py writes arrays instead, for PostgreSQL.

Stages are MATERIALIZED, since SQLite and PostgreSQL otherwise put the text of each into the next, and evaluate it as
often as it is named there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log, prod, sqrt
from typing import Any

import numpy as np

from vwlite.export.columns import Columns, Grid, Slope
from vwlite.export.sql_cells import Dialect, Reading, modulo, month_of
from vwlite.export.sql_text import REFERENCE, clipped, identifier, is_utf8, linked, literal, part_of, rank, sigmoid
from vwlite.model.effects import BY_LENGTH, Axis, LevelAxis, NumberAxis
from vwlite.output.text import printable

LEVELS = 20  # that are written into the expression; more are a table
CELLS = 80  # likewise, of all classes; SQLite searches tables that have more by an index, and scans smaller ones
JOINS = 50  # of a SELECT; SQLite has 64 tables in one at most
TERMS = 100  # of a sum; SQLite limits how deep an expression is, which is how many terms a sum has
Values = np.ndarray[Any, Any]


def digits(x: float) -> str:
    """A value of an effect: a 32-bit float, or the sum of a few."""
    return f"{x:.9g}"


def _minus(x: str, number: float) -> str:
    return f"({x} - {number!r})" if number >= 0 else f"({x} + {-number!r})"


@dataclass
class _Table:
    """Cells of grids. steps: from a cell to its corners, the first of which is the cell itself; the first axis of
    numbers is bit 0 of what they are numbered by. values: of each grid, [cells, classes]."""

    name: str
    steps: list[int]
    values: list[Values]

    def add(self, values: Values) -> int:
        """The number of the first cell of the grid."""
        first = sum(map(len, self.values))
        self.values.append(values)
        return first

    def stages(self) -> Iterator[str]:
        """The cells; and for each of them its value, and differences to corners."""
        names = _names_of(self.values[0].shape[1])
        leads = ", ".join(
            f"{f'LEAD({v}, {step}, 0.0) OVER (ORDER BY n)' if step else v} AS {v}_{c}"
            for v in names for c, step in enumerate(self.steps))
        differences = ", ".join(
            f"CAST({' '.join(f'{sign} {v}_{d}' for d, sign in _signs(c))} AS DOUBLE PRECISION) AS {v}_{c}"
            for v in names for c in range(len(self.steps)))
        yield _rows(f"{self.name}_rows", "n", [*enumerate(np.concatenate(self.values))])
        yield (f"{self.name} AS MATERIALIZED (\nSELECT n, {differences}\n"
               f"FROM (SELECT n, {leads} FROM {self.name}_rows) AS corners)")


@dataclass
class Term:
    """What is added to the score of each class. table: what is joined, if it is not of _Table; join: how."""

    name: str
    expressions: list[str]
    table: str = ""
    join: str = ""


class Query:
    def __init__(self, columns: Columns, dialect: Dialect, table: str, id: str) -> None:
        self.columns, self.dialect, self.linear = columns, dialect, columns.linear
        self.table, self.id, self.id_name = table, identifier(id), id
        self.classes = len(columns.intercept)
        self.normalize = columns.linear.settings.normalize
        self.reading = Reading(columns, dialect)
        self.cells = self.reading.cells
        self.axes: dict[int, Axis] = {}  # of grids, by their numbers
        self.tables: dict[tuple[int, ...], _Table] = {}  # by their steps: databases plan few faster
        self.places: dict[tuple[Any, ...], str] = {}  # columns of sql_arrays.py, by cell and knots

    # --- stages --------------------------------------------------------------------------------------

    def lines(self) -> Iterator[str]:
        terms = [*map(self._slope, self.columns.slopes), *map(self._effect, self.columns.grids)]
        yield from self._comment()
        stages = [*self.reading.stages(self.table, self.id), *self._places(self.reading.last)]
        before, parts = "places", 0
        joined = [term for term in terms if term.join]
        stages += [stage for table in self.tables.values() for stage in table.stages()]
        stages += [term.table for term in joined if term.table]
        while len(joined) > JOINS:
            parts += 1
            some, joined = joined[:JOINS], joined[JOINS:]
            sums = (f",\n  {self._sum([], some, k)} AS part{parts}_{k + 1}" for k in range(self.classes))
            stages.append(f"part{parts} AS MATERIALIZED (\nSELECT p.*{''.join(sums)}\n"
                          f"FROM {before} p{''.join(term.join for term in some)})")
            before = f"part{parts}"
        rest = [term for term in terms if not term.join] + joined
        readable = " + p.readable" if self.reading.may_refuse else ""
        firsts = [f"CAST({float(x)!r} AS DOUBLE PRECISION){readable}" for x in self.columns.intercept]
        sums = (f",\n  {self._score(k, [f'p.part{i + 1}_{k + 1}' for i in range(parts)], firsts[k], rest)} AS s{k + 1}"
                for k in range(self.classes))
        stages.append(f"scores AS MATERIALIZED (\nSELECT p.id{''.join(sums)}\n"
                      f"FROM {before} p{''.join(term.join for term in joined)})")
        yield "WITH " + ",\n".join(stages)
        yield from self._last()

    def _comment(self) -> Iterator[str]:
        s, dialect = self.linear.settings, self.dialect.shown
        table = self.table if REFERENCE in self.table else printable(self.table)
        yield (f"-- A model of vwlite ({s.algorithm}, {s.loss or 'an unknown'} loss) as one SELECT over the table "
               f"{table}: it creates no objects.\n--\n")
        for name, text in self._results():
            yield f"--     {name:12} {text}\n"
        yield from self.reading.comment()
        yield f"--\n-- It runs on {dialect}.\n"
        if self.dialect.number == "" and not self.dialect.has_arrays:
            yield "-- PostgreSQL compiles this for many seconds: use --dialect postgres, or SET jit = off before it.\n"

    def _results(self) -> Iterator[tuple[str, str]]:
        yield printable(self.id_name), f"the column {printable(self.id)} of the table"
        if self.linear.quantiles:
            yield "quantile_*", "what `vwlite predict` prints"
            yield "score_*", "of each quantile, before clipping and link"
            return
        yield "prediction", "what `vwlite predict` prints"
        if self.linear.classes:
            yield "score_*", "of each class"
            if self.linear.probable:
                yield "probability_*", "of each class"
        else:
            yield "score", "before clipping and link"
            if self.linear.settings.loss == "logistic":
                label = (self.linear.settings.labels or (-1, 1))[1]
                yield "probability", f"of the label {printable(label) if isinstance(label, str) else f'{label:g}'}"

    def _places(self, before: str) -> list[str]:
        """Numbers as 32-bit floats, places on axes, and the length of a row."""
        found = []
        if self.columns.numbers:
            rounded = (f",\n  {self.dialect.rounded(cell)} AS {cell}_r"
                       for cell in (self.cells[name] for name in self.columns.numbers))
            found.append(self._numbers("".join(rounded), before))
            before = "numbers"
        columns, parts = "", ""
        for number, axis in self.axes.items():
            if isinstance(axis, NumberAxis):
                columns += f",\n  {self._place(axis)} AS a{number}"
                whole = f"FLOOR(a{number})"
                parts += f",\n  CAST({whole} AS INTEGER) AS i{number}, a{number} - {whole} AS u{number}"
            else:
                columns += f",\n  {self._level(axis, self.cells[axis.column])} AS i{number}"
        if self.normalize in BY_LENGTH:
            columns += f",\n  {self._length()} AS length"
        name = "axes" if parts else "places"
        found.append(f"{name} AS MATERIALIZED (\nSELECT *{columns}\nFROM {before})")
        return [*found, f"places AS MATERIALIZED (\nSELECT *{parts}\nFROM axes)"] if parts else found

    def _numbers(self, rounded: str, before: str) -> str:
        """The stage of numbers as 32-bit floats."""
        return f"numbers AS (\nSELECT *{rounded}\nFROM {before})"

    def _length(self) -> str:
        """The Euclidean length of a row's values."""
        one, absent = self._one() ** 2, {axis.column for axis in self.columns.axes if isinstance(axis, NumberAxis)}
        squares = []
        for name in self.columns.numbers:
            square = f"{self._value(name)} * {self._value(name)}"
            squares.append(f"COALESCE({square}, {one if name in absent else 0.0!r})")
        for axis in self.columns.axes:
            if isinstance(axis, LevelAxis):
                cell = self.cells[axis.column] + {"": "", "hour": "_hour", "weekday": "_week"}.get(axis.part, "_day")
                known, other, missing = (n * one for n in self.columns.units(axis))
                words = ", ".join(literal(level) for level in axis.levels if is_utf8(level))
                is_known = f" WHEN {cell} IN ({words}) THEN {known!r}" if words and known != other else ""
                squares.append(f"CASE WHEN {cell} IS NULL THEN {missing!r}{is_known} ELSE {other!r} END")
        return f"SQRT({' + '.join(squares)})"

    def _one(self) -> float:
        """The value of a word before it is divided by the length of a row."""
        return log(2) if self.normalize == "log" else 1.0

    def _value(self, name: str) -> str:
        """The value of a number, likewise."""
        x = f"{self.cells[name]}_r"
        return f"(CASE WHEN {x} < 0 THEN -LN(1.0 - {x}) ELSE LN(1.0 + {x}) END)" if self.normalize == "log" else x

    def _last(self) -> Iterator[str]:
        linear, out = self.linear, identifier(self.id_name)
        if linear.quantiles:
            yield from self._quantiles(out)
            return
        if not linear.classes:
            link, cut = linked(linear), clipped(linear.low, linear.high, "s1")
            more = f", {sigmoid('p')} AS probability" if linear.settings.loss == "logistic" else ""
            yield (f"\nSELECT id AS {out}, {link} AS prediction, score{more}\n"
                   f"FROM (SELECT id, s1 AS score, {cut} AS p FROM scores) AS clipped\n")
            return
        k, names = len(linear.classes), _names_in_columns(linear.classes)
        whens = "".join(
            "\n  WHEN " + " AND ".join(f"s{i} >= s{j}" for j in range(i + 1, k + 1)) + f" THEN {{{i}}}"
            for i in range(1, k))
        largest = f"CASE{whens.format('', *(f's{i}' for i in range(1, k)))}\n  ELSE s{k} END" if k > 1 else "s1"
        yield f",\nlargest AS MATERIALIZED (\nSELECT *, {largest} AS top\nFROM scores)"
        best = "".join(f" WHEN s{i + 1} THEN {literal(name)}" for i, name in enumerate(linear.classes))
        scores = "".join(f",\n  s{i + 1} AS {identifier('score_' + name)}" for i, name in enumerate(names))
        if not linear.probable:
            yield f"\nSELECT id AS {out}, CASE top{best} END AS prediction{scores}\nFROM largest\n"
            return
        parts = "".join(f",\n  {part_of(linear.probable, f's{i + 1}', 'top')} AS e{i + 1}" for i in range(k))
        yield f",\nparts AS MATERIALIZED (\nSELECT *{parts}\nFROM largest)"
        shares = "".join(f",\n  e{i + 1} / total AS {identifier('probability_' + n)}" for i, n in enumerate(names))
        total = " + ".join(f"e{i + 1}" for i in range(k))
        yield (f"\nSELECT id AS {out}, CASE top{best} END AS prediction{shares}{scores}\n"
               f"FROM (SELECT *, {total} AS total FROM parts) AS summed\n")

    def _quantiles(self, out: str) -> Iterator[str]:
        """All of them in ascending order, as scores may cross."""
        numbers, names = range(1, self.classes + 1), self.linear.quantiles
        cut = "".join(f",\n  {clipped(self.linear.low, self.linear.high, f's{k}')} AS c{k}" for k in numbers)
        ranks = "".join(f",\n  {rank(k, self.classes, 'c')} AS r{k}" for k in numbers)
        whens = "".join(f" WHEN r{k} THEN c{k}" for k in numbers)
        ordered = "".join(f",\n  CASE {k - 1}{whens} END AS p{k}" for k in numbers)
        yield f",\nclipped AS MATERIALIZED (\nSELECT *{cut}\nFROM scores)"
        yield f",\nranks AS MATERIALIZED (\nSELECT *{ranks}\nFROM clipped)"
        yield f",\nordered AS MATERIALIZED (\nSELECT *{ordered}\nFROM ranks)"
        shown = "".join(f",\n  {linked(self.linear, f'p{k}')} AS {identifier(name)}"
                        for k, name in zip(numbers, self.linear.settings.outputs.columns, strict=True))
        scores = "".join(f",\n  s{k} AS {identifier(f'score_{name}')}" for k, name in zip(numbers, names, strict=True))
        yield f"\nSELECT id AS {out}{shown}{scores}\nFROM ordered\n"

    # --- the score -----------------------------------------------------------------------------------

    def _score(self, k: int, parts: Sequence[str], first: str, terms: Sequence[Term]) -> str:
        if self.normalize in BY_LENGTH:
            return f"{first} + COALESCE(({self._sum(parts, terms, k)}) / NULLIF(p.length, 0), 0)"
        return self._sum([first, *parts], terms, k)

    def _sum(self, first: Sequence[str], terms: Sequence[Term], k: int) -> str:
        """Each term in a line of its own, with its name."""
        named = [(text, "") for text in first] + [
            (term.expressions[k], f"  -- {printable(term.name)}") for term in terms if term.expressions[k]]
        groups = [named[i : i + TERMS] for i in range(0, len(named), TERMS)] or [[("0.0", "")]]
        texts = []
        for group in groups:
            lines = [f"{'+ ' if i else ''}{text}{comment}" for i, (text, comment) in enumerate(group)]
            texts.append("\n    ".join(lines) + "\n  ")
        return texts[0] if len(texts) == 1 else " + ".join(f"({text})" for text in texts)

    def _slope(self, slope: Slope) -> Term:
        """A number without a curve."""
        x = self._value(self.columns.numbers[slope.number])
        return Term(slope.name, [f"COALESCE({digits(w)} * {x}, 0)" if w else "" for w in slope.weight])

    def _effect(self, grid: Grid) -> Term:
        axes = [self.columns.axes[i] for i in grid.axes]
        values = grid.values * self._one()
        if len(axes) == 1 and isinstance(axes[0], NumberAxis) and (self.classes == 1 or values.size <= CELLS):
            return Term(grid.name, [self._curve(axes[0], values[:, k]) for k in range(self.classes)])
        if len(axes) == 1 and isinstance(axes[0], LevelAxis) and not axes[0].part:
            return self._levels(grid, axes[0], values)
        return self._grid(grid, axes, values)

    def _levels(self, grid: Grid, axis: LevelAxis, values: Values) -> Term:
        cell, (*_, rest, missing) = self.cells[axis.column], values
        named = [(level, v) for level, v in zip(axis.levels, values, strict=False)
                 if (v != rest).any() and is_utf8(level)]
        ends = [digits(r) if r == m else f"CASE WHEN {cell} IS NULL THEN {digits(m)} ELSE {digits(r)} END"
                for r, m in zip(rest, missing, strict=True)]
        if len(named) <= LEVELS:
            whens = ["".join(f" WHEN {literal(level)} THEN {digits(v[k])}" for level, v in named)
                     for k in range(self.classes)]
            return Term(grid.name, [f"CASE {cell}{when} ELSE {end} END" if when else ("" if end == "0" else end)
                                for when, end in zip(whens, ends, strict=True)])
        table = f"w{cell[1:]}"
        return Term(
            grid.name, [f"COALESCE({table}.v{k + 1}, {end})" for k, end in enumerate(ends)],
            _rows(table, "word", [(literal(level), v) for level, v in named]),
            f"\nLEFT JOIN {table} ON {table}.word = p.{cell}")

    def _grid(self, grid: Grid, axes: Sequence[Axis], values: Values) -> Term:
        """By cells, which are linear in each number: the value at the knots below, plus differences."""
        strides = [prod(axis.size for axis in axes[i + 1 :]) for i in range(len(axes))]
        numbers = [i for i, axis in enumerate(axes) if isinstance(axis, NumberAxis)]
        steps = [sum(strides[i] for k, i in enumerate(numbers) if c >> k & 1) for c in range(1 << len(numbers))]
        weights = [f"p.u{grid.axes[i]}" for i in numbers]
        return self._cells(grid, self._cell(grid, axes), values.reshape(-1, self.classes), steps, weights)

    def _cells(self, grid: Grid, cell: str, values: Values, steps: list[int], weights: list[str]) -> Term:
        """values: [cells, classes]. steps: from a cell to its corners. weights: of the numbers."""
        if values.size <= CELLS:
            differences = differences_of(values, steps)
            return Term(grid.name, [
                f"CASE {cell}" + "".join(
                    f" WHEN {i} THEN {interpolated([digits(d[i, k]) for d in differences], weights)}"
                    for i in range(len(values)))
                + " ELSE 0.0 END" for k in range(self.classes)])
        table = self.tables.setdefault(tuple(steps), _Table(f"cells{len(self.tables) + 1}", steps, []))
        first, name = table.add(values), f"g{'_'.join(map(str, grid.axes))}"
        expressions = [interpolated([f"{name}.{v}_{c}" for c in range(len(steps))], weights)
                       for v in _names_of(self.classes)]
        return Term(grid.name, expressions,
                     join=f"\nLEFT JOIN {table.name} {name} ON {name}.n = {cell}" + (f" + {first}" if first else ""))

    def _cell(self, grid: Grid, axes: Sequence[Axis]) -> str:
        """The number of a cell: places on axes, the last one first."""
        found, stride = [], 1
        for number, axis in reversed([*zip(grid.axes, axes, strict=True)]):
            self.axes[number] = axis
            found.append(f"p.i{number}" + (f" * {stride}" if stride > 1 else ""))
            stride *= axis.size
        return " + ".join(reversed(found))

    # --- curves --------------------------------------------------------------------------------------

    def _curve(self, axis: NumberAxis, values: Values) -> str:
        x, knots = self.cells[axis.column], knots_of(axis)
        pieces = [(b, _line(f"p.{x}_r", a, va, (vb - va) / (b - a)))
                  for (a, b), (va, vb) in zip(pairwise(knots), pairwise(values), strict=False)]
        first = [(knots[0], digits(values[0]))] if pieces else []
        cases = _cases(f"p.{x}", [*first, *pieces], digits(values[len(knots) - 1]))
        return f"CASE WHEN p.{x} IS NULL THEN {digits(values[-1])} ELSE {cases} END"

    def _place(self, axis: NumberAxis) -> str:
        """The knot below plus how far the next one is behind it; if missing, how many knots there are."""
        x, knots = self.cells[axis.column], knots_of(axis)
        pieces = [(b, f"{i} + {_minus(f'{x}_r', a)} / {b - a!r}") for i, (a, b) in enumerate(pairwise(knots))]
        first = [(knots[0], "0")] if pieces else []
        return (f"CASE WHEN {x} IS NULL THEN {len(knots)} "
                f"ELSE {_cases(x, [*first, *pieces], str(len(knots) - 1))} END")

    # --- levels --------------------------------------------------------------------------------------

    def _level(self, axis: LevelAxis, cell: str) -> str:
        """The place of a level."""
        count = len(axis.levels)
        if axis.part:
            number, first = {
                "hour": (f"{cell}_hour", 0), "weekday": (modulo(f"({cell}_week + 719162)", 7), 1),
                "month": (month_of(f"{cell}_day"), 1),
            }[axis.part]
            whens = "".join(f" WHEN {int(level) - first} THEN {i}" for i, level in enumerate(axis.levels))
            return f"CASE CAST({number} AS INTEGER){whens} ELSE {count + 1} END"
        unknown = axis.place_of_unknown
        rest = f"CASE WHEN {cell} IS NULL THEN {count + 1} ELSE {unknown} END" if unknown <= count else str(unknown)
        return self._word(cell, {word: i for word, i in axis.places.items() if is_utf8(word)}, rest)

    def _word(self, cell: str, places: Mapping[str, int], rest: str) -> str:
        """The place of a word; rest: that of all others."""
        whens = "".join(f" WHEN {literal(word)} THEN {i}" for word, i in places.items())
        return f"CASE {cell}{whens} ELSE {rest} END" if whens else rest


def _names_in_columns(classes: Sequence[str]) -> list[str]:
    """Classes as parts of names of columns, of which databases know no two by their case."""
    found: list[str] = []
    for i, name in enumerate(classes):
        name = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("\0", "\ufffd")
        found.append(name if name.lower() not in map(str.lower, found) else f"{name}_{i + 1}")
    return found


def differences_of(values: Values, steps: Sequence[int]) -> list[Values]:
    """For each cell the value at its first corner, and the differences to the others, [cells, classes] each."""
    corners = [np.concatenate([values[step:], np.zeros_like(values[:step])]) for step in steps]
    return [np.sum([float(f"{sign}1") * corners[d] for d, sign in _signs(c)], axis=0) for c in range(len(steps))]


def knots_of(axis: NumberAxis) -> list[float]:
    """As 32-bit floats: so a number is on the same side of a knot before it is rounded to one and after."""
    return list(dict.fromkeys(np.float32(x).item() for x in axis.knots))


def _cases(x: str, pieces: Sequence[tuple[float, str]], last: str) -> str:
    """What a number below each limit has, in two steps if there are many."""
    if not pieces:
        return last
    if len(pieces) <= 8:
        return "CASE" + "".join(f" WHEN {x} < {limit!r} THEN {text}" for limit, text in pieces) + f" ELSE {last} END"
    size = ceil(sqrt(len(pieces)))
    blocks = [pieces[i : i + size] for i in range(0, len(pieces), size)]
    return "CASE" + "".join(
        f"\n    WHEN {x} < {block[-1][0]!r} THEN {_cases(x, block[:-1], block[-1][1])}" for block in blocks
    ) + f"\n    ELSE {last} END"


def _line(x: str, knot: float, value: float, slope: float) -> str:
    return f"{digits(value)} + {_minus(x, knot)} * {digits(slope)}" if slope else digits(value)


def interpolated(differences: Sequence[str], weights: Sequence[str]) -> str:
    """Multilinear interpolation. Differences are numbered by the axes that they have, the first axis as bit 0."""
    if not weights:
        return differences[0]
    half = len(differences) // 2
    low, high = (interpolated(some, weights[:-1]) for some in (differences[:half], differences[half:]))
    return low if high == "0" else f"({low} + {weights[-1]} * {high})"


def _signs(c: int) -> Iterator[tuple[int, str]]:
    """The difference of differences along some axes: its corners, each with a sign."""
    for d in range(c + 1):
        if d & c == d:
            yield d, "-" if bin(c ^ d).count("1") % 2 else "+"


def _names_of(classes: int) -> list[str]:
    """Columns of values."""
    return [f"v{k + 1}" for k in range(classes)]


def _rows(table: str, key: str, rows: Sequence[tuple[object, Values]]) -> str:
    """A table with a row for each key, which has a value for each class."""
    names = ", ".join([key, *_names_of(len(rows[0][1]))])
    lines = (f"({at}, {', '.join(map(digits, values))})" for at, values in rows)
    return f"{table}({names}) AS (VALUES\n" + ",\n".join(lines) + ")"
