"""Rows in memory, of a matrix or a frame, as learners read them."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, Protocol

from vwlite.core.data.batch import Batch
from vwlite.core.learn.learner import Learner
from vwlite.core.tables.arrow import Frame
from vwlite.core.text.feature_names import NameFinder
from vwlite.estimators.errors import SOURCE
from vwlite.input.ahead import read_ahead
from vwlite.input.parsing import Parsed
from vwlite.input.schema import Schema
from vwlite.model.row_sample import RowSample

NAME = "the model"  # in messages: the model that is continued
BATCHES = 2  # prepared ahead of the learner


class BatchSource(Protocol):
    """A source of batches: a matrix or a frame."""

    @property
    def rows(self) -> int: ...

    def fill(self, batch: Batch, row: int) -> int: ...


class RowsAnew(Protocol):
    """Makes the rows of a call, as they are learned or predicted. derives, logs: see `prepared`. columns: of a frame,
    as a model stores them; None: those of the estimator."""

    def __call__(
        self, learns: bool, derives: bool = False, logs: bool = False, columns: dict[str, Any] | None = None
    ) -> BatchSource: ...


# Makes rows, of a frame with these columns, and whether features will be derived from them.
RowsOf = Callable[[dict[str, Any], bool, bool], BatchSource]


class RowSource:
    """The batches of a matrix, as `Source` has those of files."""

    can_be_read_again = True
    keeps_batches = keeps_text = derives = logs = tries_ngrams = reads_more = False  # they are where they are
    rows: BatchSource | None = None

    def __init__(
        self, columns: dict[str, Any], rows_of: RowsOf | None = None, finder: NameFinder | None = None,
        groups: Sequence[bytes] | None = None,
    ) -> None:
        """columns: of a frame, as a model stores them. rows_of: makes the rows; None: there is nothing to read. finder:
        finds names of features in the first pass. groups: the group of each row, which is its tag."""
        self.columns, self.may_be_table = columns, bool(columns)
        self.keys: list[str] = []
        self.sample = RowSample()
        self._rows_of, self._names_of, self._groups = rows_of, finder, groups
        self._ends = [0]  # the row after each batch of the last pass
        self._logs: dict[int, Any] = {}  # by that row, for batches that are prepared ahead

    def open(self) -> None:
        if self.tries_ngrams and self.columns:
            self.columns = Schema.restored(self.columns).with_ngrams().stored()
        if self._rows_of is not None:
            self.rows = self._rows_of(self.columns, self.derives, self.logs)

    def read_again(self) -> BatchSource:
        """The rows as they were learned."""
        assert self._rows_of is not None
        return self._rows_of(self.columns, self.derives, self.logs)

    def end(self) -> None:
        pass

    def batches_of(self, paths: Sequence[str], stop: Callable[[], bool]) -> Any:
        raise NotImplementedError  # --validate names a file

    @contextmanager
    def batches(self, stop: Callable[[], bool]) -> Iterator[Iterator[Parsed]]:
        rows = self.rows
        if rows is not None:
            finder, self._names_of = self._names_of, None
            self._samples = len(self._ends) == 1
            self._ends = [0]
            with closing(batches_of(rows, filled=self._take_log if self.logs else None)) as found:
                yield (self._parsed(rows, batch, row, finder) for batch, row in found)

    def _parsed(self, rows: BatchSource, batch: Batch, end: int, finder: NameFinder | None) -> Parsed:
        self._ends.append(end)
        if self._samples and self.columns:
            self.sample.take(batch)
        names, log = names_in(rows, batch, end, finder), self._logs.pop(end, ())
        self._set_groups(batch, end)
        return Parsed(batch, [], end, rows.rows, names=names, log=log)

    def _take_log(self, end: int) -> None:
        """Keep the names in the batch that ends there. Called by the thread that fills it."""
        assert isinstance(self.rows, Frame)
        self._logs[end] = self.rows.take_log()

    def batch(self, number: int) -> Batch:
        assert self.rows is not None
        batch = Batch()
        self._set_groups(batch, self.rows.fill(batch, self._ends[number]))
        return batch

    def _set_groups(self, batch: Batch, end: int) -> None:
        """The groups of its rows are the tags of the batch that ends there."""
        if self._groups is not None:
            batch.set_tags(self._groups[end - len(batch) : end])


def batches_of(
    rows: BatchSource, fresh: bool = False, filled: Callable[[int], None] | None = None
) -> Generator[tuple[Batch, int], None, None]:
    """The batches, each with the number of the row after it. A batch is valid until the next one, unless `fresh` (each
    is a new object). filled: is called with this number, by the thread that has filled a batch.

    Another thread prepares the batches of a frame ahead, because it hashes words. Preparing a batch of a matrix takes a
    quarter of the time to learn it, which is less than two threads would lose by waiting for each other.
    """
    row = 0

    def fill(batch: Batch) -> tuple[Batch, int] | None:
        nonlocal row
        if row == rows.rows:
            return None
        if fresh:
            batch = Batch()
        batch.source, batch.first_line = SOURCE, row
        row = rows.fill(batch, row)
        if filled is not None:
            filled(row)
        return batch, row

    first = fill(Batch())
    if first is None:
        return
    yield first
    if not isinstance(rows, Frame):
        while (more := fill(first[0])) is not None:
            yield more
    elif row < rows.rows:
        yield from read_ahead(fill, [Batch() for _ in range(BATCHES)], "rows")


def names_in(rows: BatchSource, batch: Batch, end: int, finder: NameFinder | None) -> Any:
    """The new names of features in a batch of a frame that ends before row `end`, for a store."""
    if finder is None or not isinstance(rows, Frame):
        return None

    def text() -> tuple[bytes, None]:
        return rows.text(end - len(batch), end, finder.new_lines(batch)), None

    return finder.find(b"", batch, convert=text)


def name_classes(learner: Learner, names: list[bytes]) -> None:
    """Give a learner the names of classes found in the data, if there are some."""
    if names:
        learner.class_names.extend(names)
