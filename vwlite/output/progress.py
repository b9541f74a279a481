"""Output during learning: the progress table, the live line, the summary.

The table is Vowpal Wabbit's, with one additional column. All of it goes to standard error.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from vwlite.output.stdio import has_colors, is_terminal
from vwlite.output.text import printable, shown
from vwlite.records import record

HEADER = """\
average  since         example        example        current        current  current   nonzero
loss     last          counter         weight          label        predict features   weights
"""


@record(frozen=True)
class ProgressRow:
    """One row of the table. A loss of None is unknown; a label of None is missing."""

    average: float | None
    recent: float | None
    examples: int
    weight: float
    label: float | str | None
    prediction: float | str
    features: int
    nonzeros: int
    nonzeros_of_earlier: bool = False  # they were counted for an earlier row
    holdout: bool = False


def format_row(row: ProgressRow) -> str:
    """The row as text, without a newline."""
    unknown = "unknown" if row.holdout else "n.a."
    average, recent = (unknown if x is None else _loss(x) for x in (row.average, row.recent))
    label = "unknown" if row.label is None else _cell(row.label)
    return (
        f"{average:<8} {recent:<8} {row.examples:>12} {row.weight:>14.1f} {label:>14} "
        f"{_cell(row.prediction):>14} {row.features:>8} {'~' * row.nonzeros_of_earlier + str(row.nonzeros):>9}"
        + (" h" if row.holdout else "")
    )


def _loss(x: float) -> str:
    """At least four digits, in eight characters for most losses, as Vowpal Wabbit has them."""
    return f"{x:.6f}"[:8] if 1e-3 <= x < 1e7 or x == 0 else f"{x:.4g}".replace("e-0", "e-").replace("e+0", "e+")


def _cell(x: float | str) -> str:
    return fit(x if isinstance(x, str) else f"{x:.4f}" if 0.1 <= abs(x) < 1e9 or x == 0 else f"{x:.4g}")


def fit(text: str) -> str:
    """A number or the name of a class, cut where it does not fit into a column."""
    text = printable(text)
    return text if len(text) <= 14 else text[:11] + "..."


class Interval:
    """When the next row is due: after twice (or `factor` times, or `step` more than) the weight of now."""

    def __init__(self, factor: float = 2.0, step: float | None = None) -> None:
        self.factor, self.step = factor, step
        self.at = 1.0 if step is None else step

    def advance(self, weight: float) -> float:
        """The weight at which the row after this one is due."""
        self.at = weight * self.factor if self.step is None else weight + self.step
        return self.at


class LiveLine:
    """A line that is written over again and again, on a terminal only: how fast, how far.

    NO_COLOR (https://no-color.org) turns its dim colour off; a dumb terminal gets no line at all.
    """

    INTERVAL = 0.25  # seconds between two updates

    def __init__(
        self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic, *, quiet: bool = False
    ) -> None:
        self.stream = stream or sys.stderr
        self.active = is_terminal(self.stream) and not quiet
        self.colour = has_colors(self.stream)
        self.clock = clock
        self.started_at = self.last = clock()
        self.shown = False
        self._lock = threading.RLock()  # held by a thread that writes

    def update(self, examples: int, done: int, total: int | None, number: int = 1, passes: int = 1) -> None:
        """Show the state, if the last time is long enough ago. done, total: bytes of input, of this pass."""
        self.show(lambda seconds: live_text(examples, done, total, seconds, number, passes))

    def show(self, text_at: Callable[[float], str]) -> None:
        """Show a text, if the last time is long enough ago. text_at: makes it, of the seconds since the beginning."""
        if not self.active:
            return
        with self._lock:
            now = self.clock()
            if now - self.last < self.INTERVAL:
                return
            self.last, text = now, text_at(now - self.started_at)
            self.stream.write(f"\r\x1b[2m{text}\x1b[0m\x1b[K" if self.colour else f"\r{text}\x1b[K")
            self.stream.flush()
            self.shown = True

    @contextmanager
    def ticking(self, text_at: Callable[[float], str]) -> Iterator[None]:
        """Show a text again and again while the block works; it prints within `cleared`."""
        if not self.active:
            yield
            return
        self.show(text_at)
        ended = threading.Event()

        def tick() -> None:
            while not ended.wait(self.INTERVAL):
                self.show(text_at)

        thread = threading.Thread(target=tick, name="live line", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    @contextmanager
    def cleared(self) -> Iterator[None]:
        """Take the line away while something else is printed, by a thread beside `ticking`."""
        with self._lock:
            self.clear()
            yield

    def clear(self) -> None:
        """Take the line away, so that something else can be printed."""
        with self._lock:
            if self.shown:
                self.stream.write("\r\x1b[K")
                self.stream.flush()
                self.shown = False


def live_text(examples: int, done: int, total: int | None, seconds: float, number: int = 1, passes: int = 1) -> str:
    """The content of the live line: `1,234 examples, 56,789/s, 12.3 MB/s, 45 %, 0:12 left`. Of several passes: `pass 2
    of at most 20, 1,234 examples, 56,789/s, 45 % of it, at most 0:12 left`."""
    seconds = max(seconds, 1e-9)
    text = f"{examples:,} examples, {examples / seconds:,.0f}/s"
    if passes == 1:
        text += f", {done / 1e6 / seconds:.1f} MB/s"
    else:
        text = f"pass {number} of at most {passes}, {text}"
    if total and 0 < done <= total:
        share = (number - 1 + done / total) / passes
        left = time_text(seconds * (1 - share) / share)
        text += f", {100 * done // total} %, {left} left" if passes == 1 else \
            f", {100 * done // total} % of it, at most {left} left"
    return text


def pass_text(number: int, most: int | None, share: float, seconds: float, best: float | None) -> str:
    """The live line of --algorithm auto: `pass 3 of at most 20, 45 % of it, 0:12 left in it, at most 4:10 in all, best
    so far 0.4614`. most: passes, if that is known. share, seconds: of this pass."""
    text = f"pass {number}{f' of at most {most}' if most else ''}, {100 * share:.0f} % of it"
    if share > 0:
        left, later = seconds * (1 - share) / share, ((most or number) - number) * seconds / share
        text += f", {time_text(left)} left in it"
        text += f", at most {time_text(left + later)} in all" if later else ""
    return text + (f", best so far {shown(best)}" if best is not None else "")


def time_text(seconds: float) -> str:
    return f"{round(seconds) // 60}:{round(seconds) % 60:02d}"


def format_number(x: float | None, missing: str = "n.a.") -> str:
    """A number of the summary: six decimals, but at least four digits; integers without."""
    if x is None:
        return missing
    if float(x).is_integer() and abs(x) < 1e15:
        return str(int(x))
    return f"{x:.6f}" if abs(x) >= 1e-3 else f"{x:.4g}"
