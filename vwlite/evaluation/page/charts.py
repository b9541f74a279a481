"""Charts as SVG, without a script. Colors and fonts are those of the page; lines and axes are labelled in the chart."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from vwlite.evaluation.page.markup import Markup, joined, name, text

WIDTH, HEIGHT = 360, 250
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 24, 38
LETTER = 6.6  # pixels of a letter, about, in the font of 11 pixels
LINE = 13  # pixels of a line of text
MOST_POINTS = 150  # of a line
STRIP = 18  # pixels of the strip that shows where rows are
SHADES = 5  # of a heat map, on each side of 0
MOST_CELLS_WITH_NUMBERS = 40  # of a heat map

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


class Series(NamedTuple):
    """A line with its name, points with intervals if there are any, or a band between two lines."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    intervals: Sequence[tuple[float, float]] = ()
    points: bool = False
    band: tuple[Sequence[float], Sequence[float]] | None = None
    faint: bool = False  # one of many others, without a name


class Axis:
    """From a value to a place on the page. exact: from the least value to the largest, not between round numbers."""

    def __init__(
        self, label: str, values: Sequence[float], *, log: bool = False, exact: bool = False, about: int = 5,
        percent: bool = False,
    ) -> None:
        self.label, self._log, self._percent = label, log, percent
        low, high = min(values), max(values)
        if log:
            self.ticks = [10.0**k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
        else:
            self.ticks = ticks(low, high, about)
        self._low, self._high = self._scaled(self.ticks[0]), self._scaled(self.ticks[-1])
        if exact and high > low:
            self._low, self._high = low, high
            self.ticks = [t for t in self.ticks if low <= t <= high]

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self._log else value

    def place(self, value: float, begin: float, end: float) -> float:
        """Where a value is if the axis goes from `begin` to `end`."""
        share = (self._scaled(value) - self._low) / (self._high - self._low or 1.0)
        return begin + share * (end - begin)

    def number(self, value: float) -> str:
        return f"{number(100 * value)} %" if self._percent else number(value)


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
    return f"{value:,.0f}" if whole else f"{value + 0.0:.4g}"


def words(x: float, y: float, label: str, anchor: str = "middle", kind: str = "") -> Markup:
    of = f' class="{kind}"' if kind else ""
    return Markup(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{of}>{text(label)}</text>')


def label_lines(label: str, pixels: float, most: int = 2) -> list[str]:
    """A label in lines that fit, broken at word ends."""
    fits, lines = max(int(pixels / LETTER), 8), [""]
    for word in re.findall(r"[^\s_./-]*[\s_./-]*", label):
        if lines[-1] and len((lines[-1] + word).rstrip()) > fits:
            lines.append("")
        lines[-1] += word
    lines = [short(line.rstrip(), fits) for line in lines]
    return lines if len(lines) <= most else [*lines[: most - 1], short(lines[most - 1] + "…", fits)]


class Plot:
    """The area of a chart, between its axes. strip: of the strip below it; beside: what is written at the right of the
    ticks of y; label: the lines of the x axis's."""

    def __init__(
        self, x: Axis, y: Axis, width: int, height: int, strip: int = 0, beside: Sequence[str] = (),
    ) -> None:
        self.x, self.y, self.width, self._strip = x, y, width, strip
        longest = max((len(y.number(v)) for v in y.ticks), default=0)
        self.left = max(36 if strip else 30, math.ceil(8 + LETTER * longest))
        self.right = width - max(RIGHT, math.ceil(7 + LETTER * max(map(len, beside), default=0)) if beside else 0)
        self.top, self._beside = TOP, beside
        self._label = label_lines(x.label, self.right - self.left)
        self.height = height + strip + LINE * (len(self._label) - 1)
        self.bottom = height - BOTTOM
        self.parts: list[Markup] = [self._grid()]

    def at(self, a: float, b: float) -> str:
        return f"{self.x.place(a, self.left, self.right):.1f},{self.y.place(b, self.bottom, self.top):.1f}"

    def _grid(self) -> Markup:
        parts, beside, x, y, below = [], -math.inf, self.x, self.y, self.bottom + self._strip
        for value in x.ticks:
            exact, half = x.place(value, self.left, self.right), LETTER * len(x.number(value)) / 2
            parts.append(Markup(f'<path class="grid" d="M{exact:.1f},{self.top}V{below}"/>'))
            at_x = min(max(exact, half), self.width - half)
            if at_x - half > beside:
                parts.append(words(at_x, below + 14, x.number(value)))
                beside = at_x + half + LETTER
        for value in y.ticks:
            place = y.place(value, self.bottom, self.top)
            kind = "grid zero" if value == 0 else "grid"
            parts.append(Markup(f'<path class="{kind}" d="M{self.left},{place:.1f}H{self.right}"/>'))
            parts.append(words(self.left - 5, place + 4, y.number(value), "end"))
            if self._beside:
                parts.append(words(self.right + 5, place + 4, self._beside[y.ticks.index(value)], "start"))
        parts.append(words(0, LINE - 2, label_lines(y.label, self.width, 1)[0], "start", "axis"))
        parts += [words((self.left + self.right) / 2, below + 14 + LINE * (k + 1), line, kind="axis")
                  for k, line in enumerate(self._label)]
        return joined(parts)

    def line(self, s: Series, color: int) -> None:
        xs, ys = (list(s.x), list(s.y)) if s.points else thinned(s.x, s.y)
        places = [self.at(a, b) for a, b in zip(xs, ys, strict=True)]
        if s.band is not None:
            low, high = s.band
            around = [*zip(s.x, low, strict=True), *reversed([*zip(s.x, high, strict=True)])]
            edge = "L".join(self.at(a, b) for a, b in around)
            self.parts.append(Markup(f'<path class="band s{color}" d="M{edge}z"/>'))
        kind = "faint" if s.faint else f"s{color}"
        self.parts.append(Markup(f'<path class="line {kind}" d="M{"L".join(places)}"/>'))
        for a, (low_, high_) in zip(xs, s.intervals, strict=False):
            self.parts.append(Markup(f'<path class="line thin s{color}" d="M{self.at(a, low_)}L{self.at(a, high_)}"/>'))
        if s.points:
            dots = "".join(f"M{place}h0" for place in places)
            self.parts.append(Markup(f'<path class="dots s{color}" d="{dots}"/>'))

    def ends(self, series: Sequence[tuple[Series, int]]) -> None:
        """The names of lines, above where they end, and not above each other."""
        places = sorted((self.y.place(s.y[-1], self.bottom, self.top) - 4, s.name, c) for s, c in series)
        low = self.top + 10.0
        for k, (y, of, color) in enumerate(places):
            low = max(low, min(y, self.bottom - 4 - LINE * (len(places) - 1 - k)))
            self.parts.append(words(self.right, low, of, "end", f"name s{color}"))
            low += LINE

    def rows(self, counts: Sequence[float]) -> None:
        """The strip: how many rows are where, in bins of equal width."""
        top, wide = max(counts) or 1.0, (self.right - self.left) / len(counts)
        below, bars = self.bottom + self._strip, []
        for k, n in enumerate(counts):
            if n:
                high = max((self._strip - 3) * n / top, 0.7)
                bars.append(f"M{self.left + k * wide:.1f},{below}v{-high:.1f}h{wide * 0.9:.1f}V{below}z")
        self.parts.append(Markup(f'<path class="rows" d="{"".join(bars)}"/>'))
        self.parts.append(words(self.left - 5, below - 3, "rows", "end"))

    def svg(self, about: str) -> Markup:
        return svg(self.width, self.height, about, joined(self.parts))


def svg(width: int, height: int, about: str, inside: str) -> Markup:
    return Markup(f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{text(about, None)}">{inside}</svg>')


def figure(title: object, *parts: Markup, kind: str = "") -> Markup:
    of = f' class="{kind}"' if kind else ""
    return Markup(f"<figure{of}><figcaption>{text(title)}</figcaption>{joined(parts)}</figure>")


def chart(
    title: str, about: str, series: Sequence[Series], x: Axis, y: Axis, *, diagonal: str | None = None,
    marks: Sequence[tuple[float, float, str]] = (),
) -> Markup:
    """A figure. about: what it shows, for those who do not see it. diagonal: what the line where both axes are equally
    far is called. marks: points with a text."""
    plot = Plot(x, y, WIDTH, HEIGHT)
    if diagonal is not None:
        low, high = max(x.ticks[0], y.ticks[0]), min(x.ticks[-1], y.ticks[-1])
        plot.parts.append(Markup(f'<path class="diagonal" d="M{plot.at(low, low)}L{plot.at(high, high)}"/>'))
        plot.parts.append(words(plot.right - 2, plot.bottom - 4, f"dotted: {diagonal}", "end"))  # far from the line
    for k, s in enumerate(series):
        plot.line(s, k)
    for a, b, label in marks:
        at_x, at_y = plot.at(a, b).split(",")
        plot.parts.append(Markup(f'<path class="dots big s0" d="M{at_x},{at_y}h0"/>'))
        plot.parts.append(words(float(at_x) + 8, float(at_y) + 4, label, "start", "name s0"))
    beside = len(series) > 1
    legend = joined(Markup(f'<span class="key s{k}"></span>{name(s.name)} ') for k, s in enumerate(series) if beside)
    return figure(title, plot.svg(about), Markup(f'<p class="legend">{legend}</p>') if legend else Markup())


def cloud(title: str, about: str, points: Iterable[tuple[float, float]], x: Axis, y: Axis) -> Markup:
    """A figure of many points."""
    plot = Plot(x, y, WIDTH, HEIGHT)
    dots = "".join(f"M{plot.at(a, b)}h0" for a, b in points)
    plot.parts.append(Markup(f'<path class="dots many s0" d="{dots}"/>'))
    return figure(title, plot.svg(about))


def steps(title: object, about: str, parts: Sequence[tuple[str, Floats]], x: Axis, edges: Floats, y: str, *,
          small: bool = False) -> Markup:
    """Histograms over each other: the share of each part's rows in bins between edges."""
    top = max(float(shares.max()) for _, shares in parts) or 1.0
    plot = Plot(x, Axis(y, [0.0, top], about=3, percent=True), 260 if small else WIDTH, 170 if small else HEIGHT)
    tops = []
    for k, (of, shares) in enumerate(parts):
        path = [f"M{plot.at(edges[0], 0)}"]
        for low, high, share in zip(edges[:-1].tolist(), edges[1:].tolist(), shares.tolist(), strict=True):
            path += [f"L{plot.at(low, share)}", f"L{plot.at(high, share)}"]
        plot.parts.append(Markup(f'<path class="steps s{k}" d="{"".join(path)}L{plot.at(edges[-1], 0)}"/>'))
        best = int(np.argmax(shares))
        at = plot.at(float(edges[best] + edges[best + 1]) / 2, float(shares[best])).split(",")
        tops.append((float(at[0]), float(at[1]) - 4, of, k))
    taken: list[tuple[float, float, float]] = []
    for a, b, of, k in sorted(tops, key=lambda one: one[1]):
        half = LETTER * len(of) / 2
        a = min(max(a, plot.left + half), plot.right - half)
        while any(abs(b - d) < LINE and a - half < f and a + half > e for d, e, f in taken):
            b += LINE
        taken.append((b, a - half, a + half))
        plot.parts.append(words(a, max(b, plot.top + 8), of, kind=f"name s{k}"))
    return figure(title, plot.svg(about), kind="small" if small else "")


def curve(
    title: object, about: str, series: Sequence[Series], x: Axis, y: Axis, counts: Sequence[float], *,
    beside: Callable[[float], str] | None = None, kind: str = "",
) -> Markup:
    """A small figure of lines over a strip of rows. beside: what is written at the right of a value of y."""
    plot = Plot(x, y, 260, 170, STRIP, [beside(v) for v in y.ticks] if beside is not None else ())
    named = [(s, k) for k, s in enumerate(s for s in series if not s.faint)]
    for s in series:
        if s.faint:
            plot.line(s, 0)
    for s, k in named:
        plot.line(s, k)
    if len(named) > 1:
        plot.ends(named)
    plot.rows(counts)
    return figure(title, plot.svg(about), kind=f"small {kind}".strip())


def shade(value: float, top: float) -> str:
    """The class of a cell of a heat map."""
    k = round(SHADES * min(abs(value) / top, 1.0)) if top else 0
    return f"{'p' if value > 0 else 'n'}{k}" if k else "z"


def heat(title: object, about: str, values: Floats, rows: Axis | Sequence[str], columns: Axis | Sequence[str],
         labels: tuple[str, str], *, most: float | None = None, kind: str = "") -> Markup:
    """A small figure of cells, NaN of which stay empty. rows, columns: names, or the axis of a number, whose cells have
    equal widths, the least value below or left. labels: of both axes. most: the value of the darkest cells; None: the
    largest one."""
    n, m = values.shape
    longest = max(len(number(v)) for v in rows.ticks) if isinstance(rows, Axis) else max(map(len, rows))
    left = math.ceil(min(longest, 16) * (LETTER + 0.6)) + 9
    width, top = 260, LINE + 11
    wide = (width - left - 8) / m
    high = 110 / n if isinstance(rows, Axis) else max(min(110 / n, 22), 15)
    tall = isinstance(columns, Axis) or all(len(c) * LETTER < wide for c in columns)
    under = 0.0 if isinstance(columns, Axis) or tall else min(max(map(len, columns)), 12) * LETTER * 0.85 + 6
    bottom = top + high * n
    cells: dict[str, list[str]] = {}
    most = float(np.nanmax(np.abs(values), initial=0.0)) if most is None else most
    parts = [words(0, LINE - 2, label_lines(labels[0], width, 1)[0], "start", "axis")]
    written: list[Markup] = []
    every = [compact(value) for value in values[~np.isnan(values)].tolist()]
    fits = n * m <= MOST_CELLS_WITH_NUMBERS and wide > LETTER * max(map(len, every), default=0)
    for i in range(n):
        row = n - 1 - i if isinstance(rows, Axis) else i
        for k in range(m):
            value = float(values[i, k])
            if math.isnan(value):
                continue
            x, y = left + k * wide, top + row * high
            cells.setdefault(shade(value, most), []).append(f"M{x:.1f},{y:.1f}h{wide:.1f}v{high:.1f}h{-wide:.1f}z")
            if fits:
                kind = "strong" if shade(value, most)[1:] in ("4", "5") else "cell"
                written.append(words(x + wide / 2, y + high / 2 + 4, compact(value), kind=kind))
    parts += [Markup(f'<path class="{of}" d="{"".join(path)}"/>') for of, path in sorted(cells.items())]
    parts += written
    if isinstance(rows, Axis):
        parts += [words(left - 5, rows.place(v, bottom, top) + 4, number(v), "end") for v in rows.ticks]
    else:
        parts += [words(left - 5, top + high * (i + 0.5) + 4, short(of, 16), "end") for i, of in enumerate(rows)]
    if isinstance(columns, Axis):
        beside = -math.inf
        for v in columns.ticks:
            half = LETTER * len(number(v)) / 2
            x = min(columns.place(v, left, width - 8), width - half)
            if x - half > beside:
                parts.append(words(x, bottom + 14, number(v)))
                beside = x + half + LETTER
    else:
        for k, of in enumerate(columns):
            x = left + (k + 0.5) * wide
            if tall:
                parts.append(words(x, bottom + 14, of))
            else:
                parts.append(Markup(f'<text transform="translate({x + 3:.1f},{bottom + 9:.1f})rotate(-55)" '
                                    f'text-anchor="end">{text(short(of, 12))}</text>'))
    lines = label_lines(labels[1], width - left)
    below = bottom + 14 + under
    parts += [words((left + width) / 2, below + LINE * (k + 1), line, kind="axis") for k, line in enumerate(lines)]
    drawn = svg(width, math.ceil(below + LINE * len(lines) + 5), about, joined(parts))
    return figure(title, drawn, kind=f"small {kind}".strip())


def compact(value: float) -> str:
    """An effect in at most five characters, or so."""
    return f"{value:+.2f}" if abs(value) < 10 else f"{value:+,.0f}"


def short(label: str, most: int) -> str:
    return label if len(label) <= most else label[: most - 1].rstrip() + "…"


class Bar(NamedTuple):
    """A bar with its name, and what is written behind it. below: the value of another bar, below it; beside: the same
    value in another unit."""

    name: str
    value: float
    said: str
    more: str = ""
    below: float | None = None
    beside: str = ""


def bars(title: object, rows: Sequence[Bar], head: tuple[str, str, str], *, kind: str = "small",
         scale: tuple[float, float] | None = None, beside: str = "") -> Markup:
    """A figure of bars from zero to either side, as a table. head: of the names, the values, and what is more, if there
    is more; beside: of the values in another unit, if they have one. scale: the ends of the longest bars; None: those
    of these values."""
    every = [0.0, *(bar.value for bar in rows), *(bar.below for bar in rows if bar.below is not None)]
    low, high = scale or (min(every), max(every))
    wide = high - low or 1.0

    def one(value: float, kind: str) -> str:
        value = min(max(value, low), high)
        begin, size = (min(value, 0.0) - low) / wide, abs(value) / wide
        style = f"margin-left:{100 * begin:.1f}%;width:{max(100 * size, 0.5):.1f}%"
        return f'<span class="{kind}" style="{style}"></span>'

    body = []
    for bar in rows:
        drawn = one(bar.value, "n" if bar.value < 0 else "p")
        if bar.below is not None:
            drawn += one(bar.below, "n")
        cells = [f"<td>{text(bar.said)}</td>", *([f"<td>{text(bar.beside)}</td>"] if beside else []),
                 *([f'<td class="soft">{text(bar.more)}</td>'] if head[2] else [])]
        body.append(Markup(
            f'<tr><th scope="row">{name(bar.name)}</th><td class="bar">{drawn}</td>{"".join(cells)}</tr>'
        ))
    a, b, *more = (text(cell) for cell in (head[0], head[1], beside, head[2]) if cell)
    last = "".join(f'<th scope="col">{cell}</th>' for cell in more)
    top = Markup(f'<thead><tr><th scope="col">{a}</th><th scope="col" colspan="2">{b}</th>{last}</tr></thead>')
    return figure(title, Markup(f'<table class="bars">{top}<tbody>{joined(body)}</tbody></table>'), kind=kind)


class Parts(NamedTuple):
    """A bar of two tones with its name, and what is written behind it. weak: it is small beside the largest."""

    name: str
    values: tuple[float, float]
    said: Sequence[str]
    weak: bool = False


def two_tones(title: object, rows: Sequence[Parts], head: Sequence[str], tones: tuple[str, str]) -> Markup:
    """A figure of bars of two parts, as a table. head: of the names, the bars, and what is behind them. tones: the
    names of the parts; without the second one, if no row has it."""
    most = max((sum(row.values) for row in rows), default=0.0) or 1.0
    has_both = any(second > 0 for _, (_, second), *_ in rows)
    body = []
    for row in rows:
        drawn = "".join(f'<span class="{of}" style="width:{100 * x / most:.1f}%"></span>'
                        for of, x in zip(("p", "q"), row.values, strict=True) if x > 0)
        cells = "".join(f"<td>{text(said)}</td>" for said in row.said)
        begin = Markup('<tr class="weak">' if row.weak else "<tr>")
        body.append(Markup(f'{begin}<th scope="row">{name(row.name)}</th><td class="bar two">{drawn}</td>{cells}</tr>'))
    keys = "".join(f'<span class="box {of}"></span>{text(tone)} '
                   for of, tone in zip(("p", "q"), tones, strict=True) if has_both)
    legend = Markup(f'<p class="legend">{keys}</p>') if keys else Markup()
    first, second, *more = (text(cell) for cell in head)
    last = "".join(f'<th scope="col">{cell}</th>' for cell in more)
    of_bars = f'<th scope="col">{second}</th>' if second else "<td></td>"  # no heading may be empty
    top = f'<thead><tr><th scope="col">{first}</th>{of_bars}{last}</tr></thead>'
    table = Markup(f'<table class="bars">{top}<tbody>{joined(body)}</tbody></table>')
    return figure(title, legend, table, kind="chart")
