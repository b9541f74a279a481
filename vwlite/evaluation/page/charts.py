"""Charts as SVG: lines, points with intervals, on two axes. Colors and fonts are those of the page."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from vwlite.evaluation.page.markup import Markup, joined, text

WIDTH, HEIGHT = 360, 250
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 8, 38
LETTER = 6.2  # pixels of a digit at most, in the font of 11 pixels
OF_LABEL = 20  # pixels of the label of the vertical axis
MOST_POINTS = 150  # of a line


class Series(NamedTuple):
    """A line, or points with intervals if there are any."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    intervals: Sequence[tuple[float, float]] = ()
    points: bool = False


class Axis:
    """From a value to a place on the page. log: a logarithmic scale, of positive values."""

    def __init__(self, label: str, values: Sequence[float], *, log: bool = False) -> None:
        self.label, self._log = label, log
        low, high = min(values), max(values)
        if log:
            self.ticks = [10.0**k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
        else:
            self.ticks = ticks(low, high)
        self._low, self._high = self._scaled(self.ticks[0]), self._scaled(self.ticks[-1])

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self._log else value

    def place(self, value: float, begin: float, end: float) -> float:
        """Where a value is if the axis goes from `begin` to `end`."""
        share = (self._scaled(value) - self._low) / (self._high - self._low or 1.0)
        return begin + share * (end - begin)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers around an interval."""
    width = high - low or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(width / about))
    step = next(power * k for k in (1, 2, 5, 10) if width / (power * k) <= about)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [k * step for k in range(first, max(last, first + 1) + 1)]


def thinned(x: Sequence[float], y: Sequence[float]) -> tuple[list[float], list[float]]:
    """A line of at most MOST_POINTS points at about equal distances, with both of its ends."""
    if len(x) <= MOST_POINTS:
        return list(x), list(y)
    wide, high = (max(v) - min(v) or 1.0 for v in (x, y))
    kept, last, step = [0], (x[0], y[0]), 2.0 / (MOST_POINTS - 2)
    for i in range(1, len(x) - 1):
        if abs(x[i] - last[0]) / wide + abs(y[i] - last[1]) / high >= step:
            kept.append(i)
            last = x[i], y[i]
    kept = [*kept[: 4 * MOST_POINTS], len(x) - 1]
    return [x[i] for i in kept], [y[i] for i in kept]


def number(value: float) -> str:
    """A number of an axis."""
    whole = 1000 <= abs(value) < 1e9 and float(value).is_integer()
    return f"{value:,.0f}" if whole else f"{value:.4g}"


def _margin(y: Axis) -> int:
    """What is left of a chart: the numbers of the vertical axis, and its label."""
    return max(LEFT, math.ceil(OF_LABEL + 5 + LETTER * max(len(number(value)) for value in y.ticks)))


def chart(title: str, about: str, series: Sequence[Series], x: Axis, y: Axis, *, diagonal: bool = False) -> Markup:
    """A figure. about: what it shows, for those who do not see it. diagonal: draw where x is y."""
    left, right, bottom = _margin(y), WIDTH - RIGHT, HEIGHT - BOTTOM

    def at(a: float, b: float) -> str:
        return f"{x.place(a, left, right):.1f},{y.place(b, bottom, TOP):.1f}"

    parts = []
    beside = -math.inf  # where the number before ends
    for value in x.ticks:
        exact, half = x.place(value, left, right), LETTER * len(number(value)) / 2
        parts.append(f'<path class="grid" d="M{exact:.1f},{TOP}V{bottom}"/>')
        at_x = min(exact, WIDTH - half)
        if at_x - half > beside:
            parts.append(f'<text x="{at_x:.1f}" y="{bottom + 14}" text-anchor="middle">{number(value)}</text>')
            beside = at_x + half
    for value in y.ticks:
        place = f"{y.place(value, bottom, TOP):.1f}"
        parts.append(f'<path class="grid" d="M{left},{place}H{right}"/>')
        parts.append(f'<text x="{left - 5}" y="{place}" dy="4" text-anchor="end">{number(value)}</text>')
    middle = (TOP + bottom) / 2
    parts.append(f'<text x="{(left + right) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{text(x.label)}</text>')
    parts.append(f'<text transform="translate(11,{middle})rotate(-90)" text-anchor="middle">{text(y.label)}</text>')
    if diagonal:
        low, high = max(x.ticks[0], y.ticks[0]), min(x.ticks[-1], y.ticks[-1])
        parts.append(f'<path class="diagonal" d="M{at(low, low)}L{at(high, high)}"/>')
    for k, s in enumerate(series):
        xs, ys = (list(s.x), list(s.y)) if s.points else thinned(s.x, s.y)
        places = [at(a, b) for a, b in zip(xs, ys, strict=True)]
        parts.append(f'<path class="line s{k}" d="M{"L".join(places)}"/>')
        for a, (low, high) in zip(xs, s.intervals, strict=False):
            parts.append(f'<path class="line thin s{k}" d="M{at(a, low)}L{at(a, high)}"/>')
        if s.points:
            each = (place.split(",") for place in places)
            parts += [f'<circle class="s{k}" cx="{a}" cy="{b}" r="3"/>' for a, b in each]
    legend = joined(Markup(f'<span class="key s{k}"></span>{text(s.name)} ') for k, s in enumerate(series) if s.name)
    return Markup(
        f"<figure><figcaption>{text(title)}</figcaption>"
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{text(about)}">{"".join(parts)}</svg>'
        f'{f"<p class=legend>{legend}</p>" if legend else ""}</figure>'
    )
