"""What a figure is made of, how it is drawn, and the table of what came out."""

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from math import nan
from pathlib import Path
from statistics import median
from typing import Any

from harness import pyplot, table

AGREES, PARTLY, DIFFERS, NOT_DONE = "agrees", "in part", "**no**", "not done"
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", ".")


@dataclass
class Series:
    """A line of a panel, or the bars of one colour: y over x; the x of bars are names."""

    label: str
    x: list[Any]
    y: list[float]
    dashed: bool = False


@dataclass
class Panel:
    title: str
    x: str
    y: str
    series: list[Series] = field(default_factory=list)
    kind: str = "lines"  # or bars
    log_x: bool = False
    log_y: bool = False
    low: float | None = None  # the least y that is shown
    high: float | None = None


@dataclass
class Finding:
    """A claim of a paper, what came out here, and whether that agrees."""

    claim: str
    came: str
    verdict: str


@dataclass
class Figure:
    """What a function of a paper's file gives."""

    title: str  # paper, figure: what it shows
    data: str  # which, and what was cut
    findings: list[Finding]
    panels: list[Panel] = field(default_factory=list)
    columns: int = 2


def finding(claim: str, came: str, *facts: bool) -> Finding:
    """A finding of a claim that consists of these facts."""
    verdict = AGREES if all(facts) else DIFFERS if not any(facts) else PARTLY
    return Finding(claim, came, verdict)


# --- reading curves ---------------------------------------------------------------------------------


def reached(x: Iterable[float], y: Iterable[float], goal: float) -> float | None:
    """The first x at which y is at most the goal."""
    return next((at for at, value in zip(x, y, strict=True) if value <= goal), None)


def value_at(x: Iterable[float], y: Iterable[float], at: float) -> float:
    """The last y up to this x; else the first y."""
    found = None
    for place, value in zip(x, y, strict=True):
        if found is None or place <= at:
            found = value
    assert found is not None
    return found


def thinned(series: Series, points: int = 150) -> Series:
    """At most about N of its points, evenly by number, including the last."""
    n = len(series.x)
    keep = sorted({round(i * (n - 1) / (points - 1)) for i in range(points)}) if n > points else range(n)
    return Series(series.label, [series.x[i] for i in keep], [series.y[i] for i in keep], series.dashed)


def middle(numbers: Iterable[float]) -> float:
    """The median; no number if there are none."""
    found = list(numbers)
    return median(found) if found else nan


def spread(numbers: Iterable[float]) -> str:
    """From the least to the largest difference, and the median."""
    found = list(numbers)
    if not found:
        return "nothing to compare"
    return f"from {min(found):+.3f} to {max(found):+.3f}, median {median(found):+.4f}"


def short(number: float) -> str:
    """A number as a reader wants it."""
    if number != number:
        return "-"
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


# --- pictures ---------------------------------------------------------------------------------------


def draw(figure: Figure, path: Path) -> None:
    """The panels as an SVG file that is the same whenever the numbers are."""
    plt = pyplot()
    plt.rcParams["svg.hashsalt"] = "vwlite"
    plt.rcParams["svg.fonttype"] = "none"
    plt.rcParams["font.sans-serif"] = ["DejaVu Sans"]  # every text of the picture names all of them
    columns = min(figure.columns, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    size = (5.4 * columns, 4.0 * rows + 0.3)
    drawing, grid = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    for place in grid.flat[len(figure.panels) :]:
        place.remove()
    for place, panel in zip(grid.flat, figure.panels, strict=False):
        draw_panel(place, panel)
    drawing.suptitle(figure.title, fontsize=11)
    drawing.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(drawing)
    path.write_text(compact(path.read_text(encoding="utf-8")), encoding="utf-8")


def compact(svg: str) -> str:
    """The picture with coordinates to a hundredth of a point, and one line for each named group."""

    def short(value: re.Match[str]) -> str:
        return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", " ".join(value[0].split()))

    svg = re.sub(r'(?<==")[^"<>]*(?=")', short, svg)  # in attributes: texts stay as they are
    return re.sub(r">\s+<", "><", svg).replace("<g id=", "\n<g id=")


def draw_panel(place: Any, panel: Panel) -> None:
    if panel.kind == "bars":
        names = list(dict.fromkeys(name for series in panel.series for name in series.x))
        width = 0.8 / len(panel.series)
        for i, series in enumerate(panel.series):
            at = [names.index(name) + (i - (len(panel.series) - 1) / 2) * width for name in series.x]
            place.bar(at, series.y, width, label=series.label, color=COLOURS[i])
        place.set_ylim(0, 1.3 * max(max(series.y) for series in panel.series))  # space for the legend
        place.set_xticks(range(len(names)), names, rotation=35, ha="right")
    else:
        for i, series in enumerate(panel.series):
            some = thinned(series)
            marks = {"marker": MARKERS[i % len(MARKERS)], "markersize": 4} if len(some.x) <= 20 else {}
            line = "--" if series.dashed else "-"
            colour = COLOURS[i % len(COLOURS)]
            place.plot(some.x, some.y, line, color=colour, label=series.label, linewidth=1.4, **marks)
        place.set_xscale("log" if panel.log_x else "linear")
        place.set_yscale("log" if panel.log_y else "linear")
    if panel.low is not None:
        place.set_ylim(bottom=panel.low)
    if panel.high is not None:
        place.set_ylim(top=panel.high)
    place.set_title(panel.title, fontsize=10)
    place.set_xlabel(panel.x)
    place.set_ylabel(panel.y)
    place.grid(True, alpha=0.3, axis="y" if panel.kind == "bars" else "both")
    place.legend(frameon=True, framealpha=0.85, fontsize=8, ncols=3 if panel.kind == "bars" else 1)


# --- the table --------------------------------------------------------------------------------------


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def table_of(findings: Iterable[Finding], differences: dict[str, tuple[str, str]]) -> str:
    rows = ([cell(f.claim), cell(f.came), f.verdict, cell(difference(f, differences))] for f in findings)
    return table(["the paper says", "what came out", "agrees", "whose difference"], rows)


def difference(found: Finding, differences: dict[str, tuple[str, str]]) -> str:
    """Whose it is and why, of a claim that does not agree or not wholly."""
    if found.verdict not in (PARTLY, DIFFERS) or found.claim not in differences:
        return ""
    whose, reason = differences[found.claim]
    return f"{whose}: {reason}"


def summary(figures: dict[str, Figure]) -> str:
    """How many claims agree, figure by figure."""
    verdicts = (AGREES, PARTLY, DIFFERS, NOT_DONE)
    lines = []
    for name, figure in figures.items():
        counts = [sum(f.verdict == verdict for f in figure.findings) for verdict in verdicts]
        lines.append([f"[{figure.title}](#{name})", *(str(n) if n else "" for n in counts)])
    return table(["figure", *verdicts], lines, "lr")


def as_json(figure: Figure) -> dict[str, Any]:
    return asdict(figure)


def from_json(kept: dict[str, Any]) -> Figure:
    panels = [Panel(**{**p, "series": [Series(**s) for s in p["series"]]}) for p in kept["panels"]]
    findings = [Finding(**f) for f in kept["findings"]]
    return Figure(kept["title"], kept["data"], findings, panels, kept["columns"])
