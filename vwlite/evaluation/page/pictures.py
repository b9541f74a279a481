"""The effects of a model of a table as pictures: curves of numbers, bars of words, heat maps of products."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from vwlite.evaluation.influence import Influence
from vwlite.evaluation.page.charts import Axis, Bar, Floats, Series, bars, compact, curve, heat, number
from vwlite.evaluation.page.markup import Markup, joined, many, name, paragraph, text
from vwlite.model.effects import Effect, LevelAxis, NumberAxis, between, place_on
from vwlite.output.text import percent

TIMES = "\N{MULTIPLICATION SIGN}"
MOST_PICTURES, MOST_OTHERS = 24, 40
MOST_LEVELS = 8  # of a picture
MOST_LINES = 3  # with names, of classes
MOST_CLASSES = 12  # as columns of a heat map
FEW_VALUES = 12  # of a number, which are marked
BINS, CELLS = 26, 10  # of the strip of rows; of each side of a heat map
OUTER = 0.01  # of rows on either side that a picture of a number leaves out


def of_effects(seen: Influence, unit: str, words: dict[str, list[Bar]], most: int = MOST_PICTURES) -> Markup:
    """The effects that move scores most as pictures, the others as a table. unit: what effects add to. words: those of
    columns of text."""
    ordered = seen.ordered()
    drawn = [(effect, of) for effect, of in ordered
             if (0 < len(effect.axes) <= 2 if effect.axes else words.get(effect.name))]
    pictures = [_Picture(seen, effect, of, unit).draw(words.get(effect.name, [])) for effect, of in drawn[:most]]
    first = {effect.name for effect, _ in drawn[:most]}
    rest = [(effect, of) for effect, of in ordered if effect.name not in first]
    parts = [Markup(f'<div class="pictures">{joined(pictures)}</div>')]
    if rest:
        lines = [_sized(effect, of) for effect, of in rest[:MOST_OTHERS]]
        parts += [Markup("<h3>The other effects, by their typical size</h3>"), many(lines)]
        if len(rest) > MOST_OTHERS:
            parts.append(paragraph(f"{len(rest) - MOST_OTHERS:,} more are smaller: vwlite report --json has all."))
    return joined(parts)


def _size(deviations: Floats) -> float:
    return float(np.sqrt((deviations**2).mean()))


class _Picture:
    def __init__(self, seen: Influence, effect: Effect, deviations: Floats, unit: str) -> None:
        self._seen, self._effect, self._unit = seen, effect, unit
        self._classes = seen.effects.classes
        self._order = np.argsort(-deviations, kind="stable").tolist()
        self._title = _sized(effect, deviations)
        self._about = f"Effect of {effect.name}, typically {_size(deviations):.2g}"

    def draw(self, words: Sequence[Bar]) -> Markup:
        if not self._effect.axes:
            note = "~ marks letters within a word, < and > its begin and end"
            title = Markup(f'{self._title}<br><span class="soft">{text(note)}</span>')
            is_of_letters = any(bar.name.startswith("~") for bar in words)
            return bars(title if is_of_letters else self._title, words, ("word", f"adds to {self._unit}", "rows"),
                        kind="small double")
        if len(self._effect.axes) == 2:
            return self._grid()
        (axis,) = self._effect.axes
        if isinstance(axis, NumberAxis):
            return self._curve(axis)
        return self._times(axis) if axis.part else self._levels(axis)

    def _lines(self, x: Sequence[float], y: Floats, points: bool, band: Any = None) -> list[Series]:
        """y: [len(x), classes]"""
        lines = []
        for rank, k in enumerate(self._order):
            around = None if band is None else (band[0][:, k].tolist(), band[1][:, k].tolist())
            of = self._classes[k] if self._classes else ""
            lines.append(Series(of, x, y[:, k].tolist(), (), points, around if rank < MOST_LINES else None,
                                rank >= MOST_LINES))
        return lines

    def _over(self, x: Axis, lines: Sequence[Series], counts: Floats, note: str = "") -> Markup:
        every = [v for s in lines for v in (*s.y, *(s.band[0] if s.band else ()), *(s.band[1] if s.band else ()))]
        y = Axis(f"adds to {self._unit}", [*every, 0.0], about=4)
        title = Markup(f'{self._title}<br><span class="soft">{text(note, None)}</span>') if note else self._title
        return curve(title, self._about, lines, x, y, counts.tolist())

    def _curve(self, axis: NumberAxis) -> Markup:
        rows = self._seen.where(axis)
        there = rows[~np.isnan(rows)]
        note = ""
        if len(there) < len(rows) or not len(there):
            missing = self._seen.at(self._effect, np.array([np.nan]))[0]
            of = self._order[0]
            note = f"missing in {percent(1 - len(there) / max(len(rows), 1))} of the rows: {missing[of]:+.2g}"
            note += f" for {self._classes[of]}" if self._classes else ""
        if not len(there):
            return bars(self._title, [Bar("missing", 0.0, "100 %")], (axis.full_name, "rows", ""))
        low, high = np.quantile(there, [OUTER, 1 - OUTER]).tolist()
        distinct = np.unique(there)
        few = len(distinct) <= FEW_VALUES
        if few or low == high:
            low, high = float(distinct[0]), float(distinct[-1])
        inside = axis.knots[(axis.knots > low) & (axis.knots < high)]
        if not len(axis.knots):  # a line, which --normalize log bends
            inside = np.linspace(low, high, BINS)
        at = distinct if few else np.unique([low, *inside.tolist(), high])
        band: Any = self._effect.band
        if band is not None and len(axis.knots):
            place = place_on(axis.knots, at)
            band = [between(np.asarray(side, float).reshape(axis.size, -1), place) for side in band]
        lines = self._lines(at.tolist(), self._seen.at(self._effect, at), few, band if len(axis.knots) else None)
        counts, _ = np.histogram(there, bins=BINS, range=(low, high) if high > low else (low - 0.5, high + 0.5))
        return self._over(Axis(axis.full_name, [low, high], exact=True, about=4), lines, counts, note)

    def _times(self, axis: LevelAxis) -> Markup:
        """Hours, days of the week, months: in their order."""
        n = len(axis.levels)
        at = [float(level) for level in axis.levels]
        lines = self._lines(at, self._seen.values(self._effect)[:n], True)
        return self._over(Axis(axis.full_name, at, exact=True), lines, self._seen.counts(axis)[:n])

    def _chosen(self, axis: LevelAxis, sizes: Floats, most: int = MOST_LEVELS) -> list[int]:
        """The places of levels that rows have and that move scores most."""
        counts = self._seen.counts(axis)
        if axis.part:
            return list(range(len(axis.levels)))
        order = np.argsort(-sizes * np.sqrt(counts), kind="stable")
        found = [k for k in order.tolist() if counts[k] > 0]
        return found[:most]

    def _levels(self, axis: LevelAxis) -> Markup:
        values, counts = self._seen.values(self._effect), self._seen.counts(axis)
        chosen = self._chosen(axis, np.sqrt((values**2).mean(axis=1)))
        others = int((counts > 0).sum()) - len(chosen)
        first = self._order[0]
        chosen.sort(key=lambda k: -values[k, first])
        names = level_names(axis)
        said = f"{others:,} other values are not shown" if others else ""
        title = Markup(f'{self._title}<br><span class="soft">{said}</span>') if said else self._title
        if len(self._classes) > 1:
            columns = self._order[:MOST_CLASSES]
            of_classes = [self._classes[k] for k in columns]
            return heat(title, self._about, values[np.ix_(chosen, columns)], [names[k] for k in chosen], of_classes,
                        (f"{axis.full_name}: adds to {self._unit}", "class"))
        rows = [Bar(names[k], float(values[k, 0]), compact(float(values[k, 0])), share(counts[k])) for k in chosen]
        return bars(title, rows, (axis.full_name, f"adds to {self._unit}", "rows"))

    def _grid(self) -> Markup:
        """A product of two, for the class that it moves most; cells without rows stay empty."""
        values, of = self._seen.values(self._effect), self._order[0]
        sides = [self._side(axis, k) for k, axis in enumerate(self._effect.axes)]
        for axis, (places, _, _) in enumerate(sides):
            values = np.moveaxis(between(np.moveaxis(values, axis, 0), places), 0, axis)
        (_, shown, row), (_, shown_too, column) = sides
        at, there = np.array([row, column]), (row >= 0) & (column >= 0)
        counts = np.zeros(values.shape[:2])
        np.add.at(counts, (at[0][there], at[1][there]), 1)
        cells = np.where(counts > 0, values[:, :, of], np.nan)
        both = zip(self._effect.axes, (shown, shown_too), strict=True)
        names = [_with_count(axis, written) for axis, written in both]
        if isinstance(shown, Axis) and not isinstance(shown_too, Axis):  # names are easier to read beside rows
            cells, shown, shown_too, names = cells.T, shown_too, shown, names[::-1]
        score = f"the score of {self._classes[of]}" if self._classes else "the score"
        title = Markup(f'{self._title}<br><span class="soft">blue raises {text(score)}, orange lowers it</span>')
        return heat(title, self._about, cells, shown, shown_too, (names[0], names[1]))

    def _side(self, axis: NumberAxis | LevelAxis, k: int) -> tuple[Any, Axis | list[str], Any]:
        """The places of cells on an axis, what is written there, and the cell of each row of the sample; -1: none."""
        rows = self._seen.where(axis)
        if isinstance(axis, LevelAxis):
            other = tuple(j for j in range(self._effect.values.ndim) if j != k)
            sizes = np.sqrt((self._seen.values(self._effect) ** 2).mean(axis=other))
            chosen = sorted(self._chosen(axis, sizes))
            cell = np.full(axis.size, -1)
            cell[chosen] = range(len(chosen))
            names = level_names(axis)
            return place_on(np.arange(axis.size, dtype=float), np.array(chosen, float)), [names[j] for j in chosen], \
                cell[rows.astype(int)]
        there = rows[~np.isnan(rows)]
        if not len(there):
            return place_on(axis.knots, np.full(1, np.nan)), ["missing"], np.zeros(len(rows), int)
        distinct = np.unique(there)
        if len(distinct) <= CELLS:
            cell = np.where(np.isnan(rows), -1, np.searchsorted(distinct, rows))
            return place_on(axis.knots, distinct), [number(x) for x in distinct.tolist()], cell
        low, high = np.quantile(there, [OUTER, 1 - OUTER]).tolist()
        if low == high:
            low, high = float(distinct[0]), float(distinct[-1])
        edges = np.linspace(low, high, CELLS + 1)
        cell = np.searchsorted(edges, rows, side="right") - 1
        cell = np.where(rows == high, CELLS - 1, np.where((rows >= low) & (rows < high), cell, -1))
        return place_on(axis.knots, (edges[:-1] + edges[1:]) / 2), Axis("", [low, high], exact=True, about=4), cell


def _with_count(axis: NumberAxis | LevelAxis, written: Axis | list[str]) -> str:
    """The name of an axis, and how many of its levels are shown."""
    if isinstance(axis, NumberAxis) or isinstance(written, Axis) or len(written) >= len(axis.levels):
        return axis.full_name
    return f"{axis.full_name} ({len(written)} of {len(axis.levels)} values)"


def share(x: float) -> str:
    """Of rows; of few ones that there are some."""
    return percent(x, 0) if x >= 0.005 or x == 0 else "<1 %"


def _sized(effect: Effect, deviations: Floats) -> Markup:
    """The name of an effect, and its typical size."""
    columns = [axis.full_name for axis in effect.axes] or [effect.name]
    found = f" {TIMES} ".join(name(column) for column in columns)
    return Markup(f'{found} <span class="soft">±{_size(deviations):.2g}</span>')


def level_names(axis: LevelAxis) -> list[str]:
    """Those of all places of an axis."""
    return [*axis.levels, "any other value", "missing"]
