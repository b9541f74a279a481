"""The effects of a model of a table as pictures: curves of numbers, bars of words, heat maps of products."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from vwlite.evaluation.influence import Influence
from vwlite.evaluation.page.charts import (
    Axis,
    Bar,
    Floats,
    Parts,
    Series,
    bars,
    compact,
    curve,
    heat,
    number,
    two_tones,
)
from vwlite.evaluation.page.markup import Markup, joined, many, name, paragraph, text
from vwlite.evaluation.page.units import Unit
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
FEW_ROWS = 0.05  # of an effect, on either side, that may be outside of the scale
MOST_COLUMNS = 30  # of the chart of importances
DARKEST = 3  # times the largest size of a product: what the darkest cells add
WEAK = 0.1  # of the largest: what is smaller is grey


def of_columns(seen: Influence, unit: Unit) -> Markup:
    """How much each column moves scores, as bars of two parts: alone, and in products."""
    found = [one for one in seen.importances.parts if one.whole > 0]
    whole, most = sum(one.whole for one in found) or 1.0, max((one.whole for one in found), default=0.0)

    def said(x: float) -> list[str]:
        return [f"{x:.3g}", *([unit.change(x)] if unit.head else []), percent(x / whole, 0)]

    rows = [Parts(one.column, (one.whole - one.shared, one.shared), said(one.whole), one.whole < WEAK * most)
            for one in found[:MOST_COLUMNS]]
    if rest := found[MOST_COLUMNS:]:
        rows.append(Parts(f"{len(rest):,} others together", (0.0, 0.0), said(sum(one.whole for one in rest)), True))
    where = "the rows of training" if seen.has_record else "these rows"
    title = f"How much each column moves {unit.name}: its mean contribution, up or down, over {where}"
    head = ["column", "", unit.name, *([unit.head] if unit.head else []), "share of all"]
    return two_tones(title, rows, head, ("alone", "in products with other columns"))


def of_effects(seen: Influence, unit: Unit, words: dict[str, list[Bar]], most: int = MOST_PICTURES) -> Markup:
    """The effects that move scores most as pictures, the others as a table: those of one column in the order of the
    columns, then products. unit: what effects add to. words: those of columns of text."""
    place = {column: k for k, column in enumerate(seen.importances)}
    ordered = seen.ordered()
    weak = WEAK * max((float(of.mean()) for _, of in ordered), default=0.0)
    drawn = [(effect, of) for effect, of in ordered if (
        len(effect.axes) == 1 or (len(effect.axes) == 2 and of.mean() >= weak) or words.get(effect.name))][:most]
    drawn.sort(key=lambda one: (len(one[0].axes) > 1, 0 if len(one[0].axes) > 1 else place[one[0].columns[0]]))
    scale = Scale.of(seen, drawn)
    pictures = [_Picture(seen, effect, of, unit, scale).draw(words.get(effect.name, [])) for effect, of in drawn]
    first = {effect.name for effect, _ in drawn}
    rest = [(effect, of) for effect, of in ordered if effect.name not in first]
    parts = [Markup(f'<div class="pictures">{joined(pictures)}</div>')]
    if rest:
        lines = [_sized(effect, of) for effect, of in rest[:MOST_OTHERS]]
        parts += [Markup("<h3>The other effects, by their mean contribution</h3>"), many(lines)]
        if len(rest) > MOST_OTHERS:
            parts.append(paragraph(f"{len(rest) - MOST_OTHERS:,} more are smaller: vwlite report --json has all."))
    return joined(parts)


class Scale(NamedTuple):
    """What all pictures have in common. low, high: the ends of what curves and levels add to all but few rows; cell: of
    the darkest cells of products; weak: what is smaller is small beside the largest."""

    low: float
    high: float
    cell: float
    weak: float

    @classmethod
    def of(cls, seen: Influence, drawn: Sequence[tuple[Effect, Floats]]) -> "Scale":
        """drawn: effects with their sizes."""
        ends = [0.0]
        for effect, _ in drawn:
            if len(effect.axes) == 1 and (rows := seen.where(effect.axes[0])).size:
                is_number = isinstance(effect.axes[0], NumberAxis)
                added = seen.at(effect, rows) if is_number else seen.values(effect)[rows.astype(int)]
                ends += np.quantile(added, [FEW_ROWS, 1 - FEW_ROWS], axis=0).ravel().tolist()
        edge = 0.05 * (max(ends) - min(ends)) or 1.0
        products = max((float(of.max()) for effect, of in drawn if len(effect.axes) > 1), default=0.0)
        largest = max((float(of.mean()) for _, of in drawn), default=0.0)
        return cls(min(ends) - edge, max(ends) + edge, DARKEST * products, WEAK * largest)

    @property
    def ends(self) -> tuple[float, float]:
        return self.low, self.high


class _Picture:
    def __init__(self, seen: Influence, effect: Effect, sizes: Floats, unit: Unit, scale: Scale) -> None:
        self._seen, self._effect, self._unit, self._scale = seen, effect, unit, scale
        self._classes = seen.effects.classes
        # Classes, the most moved first; quantiles in their order
        self._order = [*range(len(sizes))] if seen.of_quantiles else np.argsort(-sizes, kind="stable").tolist()
        self._main = self._order[len(sizes) // 2 if seen.of_quantiles else 0]  # of one picture
        self._title, self._kind = _sized(effect, sizes), "weak" if sizes.mean() < scale.weak else ""
        self._about = f"Effect of {effect.name}, {sizes.mean():.2g} on average"

    def draw(self, words: Sequence[Bar]) -> Markup:
        if not self._effect.axes:
            note = "~ marks letters within a word, < and > its begin and end"
            title = Markup(f'{self._title}<br><span class="soft">{text(note)}</span>')
            is_of_letters = any(bar.name.startswith("~") for bar in words)
            return bars(title if is_of_letters else self._title, words, ("word", f"adds to {self._unit.name}", "rows"),
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
            around = None if band is None else tuple(np.clip(edge[:, k], *self._scale.ends).tolist() for edge in band)
            of = self._classes[k] if self._classes else ""
            shown = np.clip(y[:, k], *self._scale.ends).tolist()
            lines.append(Series(of, x, shown, (), points, around if rank < MOST_LINES else None, rank >= MOST_LINES))
        return lines

    def _over(self, x: Axis, lines: Sequence[Series], counts: Floats, note: str = "") -> Markup:
        y = Axis(f"adds to {self._unit.name}", self._scale.ends, exact=True, about=6)
        if self._unit.beside is not None:
            y.label += f"; right: {self._unit.head}"
        title = Markup(f'{self._title}<br><span class="soft">{text(note, None)}</span>') if note else self._title
        return curve(title, self._about, lines, x, y, counts.tolist(), beside=self._unit.beside, kind=self._kind)

    def _curve(self, axis: NumberAxis) -> Markup:
        rows = self._seen.where(axis)
        there = rows[~np.isnan(rows)]
        note = ""
        if len(there) < len(rows) or not len(there):
            missing = self._seen.at(self._effect, np.array([np.nan]))[0]
            of = self._main
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
        first = self._main
        chosen.sort(key=lambda k: -values[k, first])
        names = level_names(axis)
        said = f"{others:,} other values are not shown" if others else ""
        title = Markup(f'{self._title}<br><span class="soft">{said}</span>') if said else self._title
        if len(self._classes) > 1:
            columns = self._order[:MOST_CLASSES]
            of_classes = [self._classes[k] for k in columns]
            of_each = "quantile" if self._seen.of_quantiles else "class"
            return heat(title, self._about, values[np.ix_(chosen, columns)], [names[k] for k in chosen], of_classes,
                        (f"{axis.full_name}: adds to {self._unit.name}", of_each), most=max(map(abs, self._scale.ends)),
                        kind=self._kind)
        added = [float(values[k, 0]) for k in chosen]
        rows = [Bar(names[k], x, compact(x), share(counts[k]), beside=self._unit.said(x))
                for k, x in zip(chosen, added, strict=True)]
        head = self._unit.name if self._unit.head else f"adds to {self._unit.name}"
        return bars(title, rows, (axis.full_name, head, "rows"), scale=self._scale.ends, beside=self._unit.head,
                    kind=f"small {self._kind}".strip())

    def _grid(self) -> Markup:
        """A product of two, for the class that it moves most; cells without rows stay empty."""
        values, of = self._seen.values(self._effect), self._main
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
        return heat(title, self._about, cells, shown, shown_too, (names[0], names[1]), most=self._scale.cell,
                    kind=self._kind)

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


def _sized(effect: Effect, sizes: Floats) -> Markup:
    """The name of an effect, and its mean contribution."""
    columns = [axis.full_name for axis in effect.axes] or [effect.name]
    found = f" {TIMES} ".join(name(column) for column in columns)
    return Markup(f'{found} <span class="soft">{sizes.mean():.2g}</span>')


def level_names(axis: LevelAxis) -> list[str]:
    """Those of all places of an axis."""
    return [*axis.levels, "any other value", "missing"]
