"""The page of `vwlite drift`: which numbers of two days differ, and histograms of both days beside each other."""

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vwlite.evaluation.columns import Pairs, verdict
from vwlite.evaluation.influence import Influence
from vwlite.evaluation.kinds import Binary, Classes, Kind, Regression
from vwlite.evaluation.page.charts import Axis, Bar, Floats, bars, steps
from vwlite.evaluation.page.markup import Markup, columns, joined, name, page, paragraph, section, table, text, today
from vwlite.evaluation.page.nights import of_nights
from vwlite.evaluation.page.pictures import level_names, share
from vwlite.evaluation.page.sections import of_notes
from vwlite.model.effects import Axis as EffectAxis
from vwlite.model.effects import LevelAxis
from vwlite.model.nights import Night
from vwlite.output.text import percent, shown
from vwlite.runs.watched import differs

MOST_COLUMNS, MOST_NUMBERS, MOST_LEVELS = 12, 30, 7
DAYS = ("yesterday", "today")
BINS, OUTER = 24, 0.005


class Day(NamedTuple):
    """A file: its name, how many examples it has, its predictions, and the columns of a sample of its rows."""

    name: str
    rows: int
    predictions: Floats
    influence: Influence | None


class Histogram(NamedTuple):
    """The shares of both days' rows. names: of levels; none: edges of bins of a number. missing: shares without one."""

    column: str
    shares: tuple[Floats, Floats]
    edges: Floats
    names: Sequence[str] = ()
    missing: tuple[float, float] = (0.0, 0.0)

    @property
    def apart(self) -> float:
        """The share of rows that would have to move, for both days to be alike (total variation distance)."""
        a, b = self.shares
        return (float(np.abs(a - b).sum()) + abs(self.missing[0] - self.missing[1])) / 2


def of_days(model: str, days: tuple[Day, Day], kind: Kind, classes: Sequence[str], numbers: Pairs, of_columns: Pairs,
            notes: Sequence[str], nights: Sequence[Night]) -> str:
    """The page, as HTML. nights: of the model."""
    names = [os.path.basename(day.name) for day in days]
    if names[0] == names[1]:
        names = [day.name for day in days]
    found = {of: pair for of, pair in of_columns.items() if differs(*pair)}
    histograms = of_all(days)
    body = [
        section("What differs?", _answer(days, names, numbers, of_columns),
                _tiles(numbers)),
        section("Predictions", *_predictions(days, kind, classes)),
        section("Columns, those that differ most first",
                paragraph("The share beside a name: how many rows of today would have to change, to be distributed "
                          "as those of yesterday. Values beyond a picture count at its ends."),
                Markup(f'<div class="pictures">{joined(_picture(h) for h in histograms[:MOST_COLUMNS])}</div>'))
        if histograms else Markup(),
        section("Numbers of columns that differ", _numbers(found)) if found else Markup(),
        of_nights(nights),
        section("Notes on the data", of_notes(list(notes))),
        section("How it was made", paragraph(f"vwlite drift -m {model} {days[0].name} {days[1].name}; {today()}.")),
    ]
    return page(f"{names[0]} and {names[1]}, as {os.path.basename(model)} sees them", joined(body))


def _answer(days: Sequence[Day], names: Sequence[str], numbers: Pairs, of_columns: Pairs) -> Markup:
    counts = [sum(differs(*pair) for pair in pairs.values()) for pairs in (numbers, of_columns)]
    said = (f"{counts[0]} of {len(numbers)} numbers about all rows differ, and {counts[1]} of {len(of_columns)} about "
            "columns.")
    rows = "; ".join(f"{when}: {of}, {day.rows:,} rows" for when, day, of in zip(DAYS, days, names, strict=True))
    rows = rows[0].upper() + rows[1:]
    return Markup(f'<p class="verdict">{text(verdict(numbers, of_columns), None)}</p><p>{said} {text(rows, None)}.</p>')


def _tiles(numbers: Pairs) -> Markup:
    each = (
        f'<div class="tile{" other" if differs(a, b) else ""}"><p class="big">{shown(b.value)}</p>'
        f'<p>{text(of.text)}</p>'
        f'<p class="soft">yesterday {shown(a.value)}{": differs" if differs(a, b) else ""}</p></div>'
        for of, (a, b) in numbers.items()
    )
    return Markup(f'<div class="tiles">{"".join(each)}</div>')


def _numbers(found: Pairs) -> Markup:
    rows = [(of.text, shown(a.value), shown(b.value)) for of, (a, b) in list(found.items())[:MOST_NUMBERS]]
    more = len(found) - len(rows)
    return joined([table("Numbers of columns that differ", ("column: number", *DAYS), rows),
                   paragraph(f"{more:,} more: vwlite drift --json has all.") if more else Markup()])


def _predictions(days: Sequence[Day], kind: Kind, classes: Sequence[str]) -> list[Markup]:
    a, b = (day.predictions for day in days)
    if not (len(a) and len(b)):
        return []
    if isinstance(kind, Classes):
        n = len(classes) + 1
        shares = tuple(np.bincount(x.astype(int), minlength=n)[1:n] / len(x) for x in (a, b))
        return [columns([_levels("predicted class", shares[0], shares[1], classes, "")])]
    label = "prediction"
    low, high = np.quantile(np.concatenate([a, b]), [OUTER, 1 - OUTER]).tolist()
    if isinstance(kind, Binary) and kind.probable:
        label, low, high = "predicted probability", 0.0, 1.0
    edges = np.linspace(low, high if high > low else low + 1.0, BINS + 1)
    parts = [(of, _in_bins(x, edges)) for of, x in zip(DAYS, (a, b), strict=True)]
    return [columns([steps("Predictions of both days", "Histograms of the predictions of both days", parts,
                           Axis(label, [low, float(edges[-1])], exact=True, percent=low == 0 and high == 1), edges,
                           "share of the rows of each day")])]


def shown_as(kind: Kind, predictions: Floats) -> Floats:
    """Predictions as `vwlite predict` may write them: probabilities, means."""
    return kind.predicted(predictions) if isinstance(kind, Binary) else kind.shown(predictions) \
        if isinstance(kind, Regression) else predictions


def _in_bins(x: Floats, edges: Floats) -> Floats:
    counts, _ = np.histogram(np.clip(x, edges[0], edges[-1]), edges)
    return np.asarray(counts / max(len(x), 1))


def of_all(days: Sequence[Day]) -> list[Histogram]:
    """Of each column that the model has, the one that differs most first."""
    seen = [day.influence for day in days if day.influence is not None]
    if len(seen) < len(days):
        return []
    axes = [effect.axes[0] for effect in seen[0].effects if len(effect.axes) == 1]
    found = [h for axis in axes if (h := _of_axis(axis, seen)) is not None]
    return sorted(found, key=lambda h: -h.apart)


def _of_axis(axis: EffectAxis, seen: Sequence[Influence]) -> Histogram | None:
    a, b = (one.where(axis) for one in seen)
    if not (len(a) and len(b)):
        return None
    if isinstance(axis, LevelAxis):
        shares = (seen[0].counts(axis), seen[1].counts(axis))
        return Histogram(axis.full_name, shares, np.empty(0), level_names(axis))
    missing = (float(np.isnan(a).mean()), float(np.isnan(b).mean()))
    there = [x[~np.isnan(x)] for x in (a, b)]
    both = np.concatenate(there)
    if not both.size:
        return None
    low, high = np.quantile(both, [OUTER, 1 - OUTER]).tolist()
    edges = np.linspace(low, high, BINS + 1) if high > low else np.linspace(low - 0.5, low + 0.5, 2)
    parts = [_in_bins(x, edges) * (1 - m) for x, m in zip(there, missing, strict=True)]
    return Histogram(axis.full_name, (parts[0], parts[1]), edges, (), missing)


def _picture(h: Histogram) -> Markup:
    if h.names:
        return _levels(h.column, *h.shares, h.names, percent(h.apart, 0))
    title = Markup(f'{name(h.column)} <span class="soft">{percent(h.apart, 0)}</span>')
    if any(h.missing):
        said = f"missing: {percent(h.missing[0])} and {percent(h.missing[1])} of the rows"
        title = Markup(f'{title}<br><span class="soft">{said}</span>')
    parts = [*zip(DAYS, h.shares, strict=True)]
    return steps(title, f"{h.column}: {percent(h.apart)} of the rows differ", parts,
                 Axis(h.column, [float(h.edges[0]), float(h.edges[-1])], exact=True, about=4), h.edges,
                 "share of the rows of each day", small=True)


def _levels(column: str, a: Floats, b: Floats, levels: Sequence[str], apart: str) -> Markup:
    """Pairs of bars, of the levels that differ most, the most frequent one first."""
    order = [k for k in np.argsort(-np.abs(a - b), kind="stable").tolist() if a[k] or b[k]]
    chosen = sorted(order[:MOST_LEVELS], key=lambda k: -(a[k] + b[k]))
    rows = [Bar(levels[k], float(a[k]), share(a[k]), share(b[k]), float(b[k])) for k in chosen]
    others = len(order) - len(chosen)
    said = f'<br><span class="soft">{others:,} other values differ less</span>' if others else ""
    title = Markup(f'{name(column)} <span class="soft">{apart}</span>{said}')
    return bars(title, rows, (column, "rows: yesterday (above)", "today"))
