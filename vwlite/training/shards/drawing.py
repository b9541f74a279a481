"""The first reading of a shard: how many rows it has, and which of them may be in the sample, or held out.

Each row has two numbers: that of its content (without its label; of its group, if there are groups), and that of its
content and its place. Rows are held out by the first, so that copies are on one side, and the sample has those of the
least second ones, so that copies are drawn like others. Neither depends on the names of the files.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from vwlite.algorithms.labels import WORDS, maps_labels
from vwlite.algorithms.settings import MOST_CLASSES, Settings
from vwlite.core.auto.summary import DataSummary
from vwlite.core.data.class_names import ClassNames
from vwlite.core.data.normalize import Normalizer
from vwlite.digest import blake2b
from vwlite.input.arrow_lines import lines_of
from vwlite.input.parsing import Parsed
from vwlite.input.part import numbers_of_lines
from vwlite.model import Model
from vwlite.model.learners import make_expander
from vwlite.records import record
from vwlite.runs.options import SourceOptions
from vwlite.runs.plan import DataPlan
from vwlite.runs.resolve import learning_settings, resolve
from vwlite.runs.run import BadLines
from vwlite.runs.source import DataNames, Source
from vwlite.training.auto.reading import learnable

MOST_ROWS, MOST_BYTES = 40_000, 64 << 20  # of the sample
SPARE = 1.1  # so many more rows than that are kept, as some are held out
OF_CLASS = 8  # rows of each class that are kept
PLACE = np.uint64(0x9E3779B97F4A7C15)


class Row(NamedTuple):
    """A row that may be in the sample. text: without a line end. content, place: its numbers."""

    place: int
    content: int
    text: bytes
    name: str = ""  # of its class


@record(frozen=True)
class Draw:
    """What was read of a shard. digest: of the text of its rows. numbers: those of content and of place of all rows, in
    order. lines: the numbers of their lines."""

    digest: str
    format: str
    header: bytes
    size: int  # bytes of the text of the rows
    rows: tuple[Row, ...]  # those of the least numbers, ascending
    of_classes: tuple[Row, ...]  # those of each class
    numbers: Any  # [2, rows]
    lines: Any

    def __len__(self) -> int:
        return len(self.lines)


def mixed(numbers: Any) -> Any:
    """Numbers of 64 bits that are as if drawn. (Steele, Lea, Flood. Fast Splittable Generators. OOPSLA 2014.)"""
    x = np.asarray(numbers, np.uint64) + PLACE
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def is_held(numbers: Any, period: int, by: int) -> Any:
    """Which rows are held out. numbers: as of a `Draw`. by: 0: content, 1: place."""
    return mixed(numbers[by]) % np.uint64(period) == 0


class Drawing:
    """data: the shard. typed, given: the options of training. grouped: rows are in groups. start: the model that is
    continued."""

    def __init__(
        self, data: DataPlan, typed: dict[str, Any], given: Collection[str], bad: BadLines, *, grouped: bool = False,
        start: Model | None = None,
    ) -> None:
        if start is None and typed.get("classes") == "auto" and "oaa" not in typed:
            typed = typed | {"oaa": MOST_CLASSES}
        settings = settings_of(typed, given, start)
        known = DataNames.of(start, settings)
        if start is None and maps_labels(settings, typed):
            known = DataNames(ClassNames(WORDS, grows=True), or_numbers=True)
        self._names = known.classes if settings.outputs.task == "classes" else None
        self._bad = bad
        self._source = Source(data, settings, known, self._bad, SourceOptions())
        self._source.keeps_text = True
        expander = make_expander(replace(settings, constant=False), Normalizer())
        self._summary = DataSummary(expander, grouped=grouped)
        self._rows, self._size, self._kept_size = list[Row](), 0, 0
        self._of_classes, self._lines = dict[str, list[Row]](), [np.zeros(0, np.uint32)]
        self._format, self._header, self._largest = "", b"", 2**64 - 1
        self._digest = blake2b(digest_size=16)

    def read(self, stop: Callable[[], bool]) -> Draw:
        self._source.open()
        with self._source.batches(stop) as batches:
            for parsed in batches:
                self._bad.take(parsed.bad)
                self._take(parsed)
        s = self._summary
        self._trim()
        contents = np.array(s.contents)
        return Draw(
            self._digest.hexdigest(), self._format, self._header, self._size,
            tuple(self._rows), tuple(row for _, rows in sorted(self._of_classes.items()) for row in rows),
            np.array([contents, places_of(contents, 0)]), np.concatenate(self._lines),
        )

    def _take(self, parsed: Parsed) -> None:
        batch, before = parsed.batch, self._summary.examples
        self._summary.take(batch)
        chosen = np.flatnonzero(learnable(batch)).tolist()
        if not chosen:
            return
        if parsed.source is None:
            self._format = "arrow"
            self._header, texts = lines_of(parsed.rows.take(chosen))
        else:
            self._format, self._header = parsed.source.format, self._header or parsed.source.header
            texts = parsed.source.lines_of(batch, chosen)
        self._lines.append(numbers_of_lines(batch)[chosen].astype(np.uint32))
        contents = np.array(self._summary.contents[before:])
        self._size += sum(map(len, texts)) + len(texts)
        self._digest.update(b"\n".join([*texts, b""]))
        places = places_of(contents, before)
        is_small = places < np.uint64(self._largest)
        names = [""] * len(chosen)
        if self._names is not None:
            names = [self._names[int(label) - 1] for label in np.array(batch.label)[chosen].tolist()]
        for i in (np.flatnonzero(is_small) if self._names is None else np.arange(len(chosen))).tolist():
            row = Row(int(places[i]), int(contents[i]), texts[i], names[i])
            if self._names is not None:
                self._keep_class(row)
            if is_small[i]:
                self._rows.append(row)
                self._kept_size += len(row.text) + 1
        if len(self._rows) > 2 * SPARE * MOST_ROWS or self._kept_size > 3 * MOST_BYTES:
            self._trim()

    def _keep_class(self, row: Row) -> None:
        found = self._of_classes.setdefault(row.name, [])
        if len(found) < OF_CLASS or row.place < found[-1].place:
            found.append(row)
            found.sort(key=lambda x: x.place)
            del found[OF_CLASS:]

    def _trim(self) -> None:
        """Keep the rows of the least numbers."""
        self._rows.sort(key=lambda row: (row.place, row.text))
        kept = within(self._rows, int(SPARE * MOST_ROWS), int(SPARE * MOST_BYTES))
        if kept < len(self._rows):
            self._largest = self._rows[kept].place
            del self._rows[kept:]
        self._kept_size = sum(len(row.text) + 1 for row in self._rows)


def settings_of(typed: dict[str, Any], given: Collection[str], start: Model | None) -> Settings:
    """Those with which rows are read: of options, and of the model that is continued."""
    return resolve(typed, learning_settings(start.settings) if start is not None else None, given=given).settings


def places_of(contents: Any, first: int) -> Any:
    """The numbers of rows by content and place, of which the first is the place of the first of them."""
    return mixed(contents ^ mixed(np.arange(first, first + len(contents), dtype=np.uint64)))


def within(rows: "list[Row]", most: int, most_bytes: int) -> int:
    """How many of the first rows are at most so many, and so many bytes."""
    sizes = np.cumsum([len(row.text) + 1 for row in rows[:most]])
    return int(np.searchsorted(sizes, most_bytes, side="right"))
