"""The examples of `--algorithm auto` in drawn order: that of `vwlite.core.auto.order`."""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, compress
from typing import TYPE_CHECKING, Any

from vwlite.core.auto.order import DrawnOrder
from vwlite.core.auto.summary import DataSummary
from vwlite.core.data.batch import Batch
from vwlite.records import record

if TYPE_CHECKING:
    from vwlite.input.cache import CacheReader, CacheWriter

CURSORS = 64
BATCH = 1 << 16  # features of a batch in drawn order
IN_MEMORY = 1 << 26  # bytes; more examples are written to a temporary file
PER_LINE, PER_FEATURE = 40, 8  # bytes in memory, about


@record(frozen=True)
class Batches:
    """The batches of the data; each use loads them again. counts: how many examples of each batch can be learned."""

    counts: Sequence[int]
    load: Callable[[int], Batch]

    def __iter__(self) -> Iterator[Batch]:
        return map(self.load, range(len(self.counts)))


class DrawnExamples:
    """The examples that can be learned, in drawn order, for any number of passes.

    order: the number of each example in the order of the data.
    """

    def __init__(self, n: int) -> None:
        self.order = array("I", bytes(4 * n))
        self._batches: list[Batch] = []
        self._bytes = 0
        self._writer: CacheWriter | None = None
        self._reader: CacheReader | None = None

    @staticmethod
    def of(summary: DataSummary, batches: Batches) -> "DrawnExamples":
        found, counts, load = DrawnExamples(summary.examples), batches.counts, batches.load
        ends = list(accumulate(counts))
        order = DrawnOrder(summary.examples)
        at: list[int] = []  # for each cursor, the number of its next batch
        for cursor in range(CURSORS):
            first = order.first(cursor)
            number = bisect_right(ends, first)
            if number < len(ends):
                order.give(cursor, load(number), first - (ends[number] - counts[number]))
            at.append(number + 1)
        done = 0
        while done < summary.examples:
            batch = Batch()
            while (cursor := order.fill(batch, found.order, done, BATCH)) >= 0:
                order.give(cursor, load(at[cursor]))
                at[cursor] += 1
            done += len(batch)
            found._add(batch)
        return found._finished()

    @staticmethod
    def in_order(batches: Sequence[Batch]) -> "DrawnExamples":
        """Examples that are drawn already."""
        found = DrawnExamples(0)
        for batch in batches:
            found._add(batch)
        found.order = array("I", range(sum(map(len, batches))))
        return found._finished()

    def _finished(self) -> "DrawnExamples":
        if self._writer is not None:
            self._reader = self._writer.finish()
        return self

    def _add(self, batch: Batch) -> None:
        self._bytes += PER_LINE * len(batch) + PER_FEATURE * len(batch.value)
        if self._writer is None and self._bytes <= IN_MEMORY:
            self._batches.append(batch)
            return
        if self._writer is None:
            from vwlite.input.cache import CacheWriter

            self._writer = CacheWriter(None, {})
            for earlier in self._batches:
                self._writer.add(earlier)
            self._batches.clear()
        self._writer.add(batch)

    @property
    def in_memory(self) -> bool:
        """Whether the examples are in memory: each pass yields the same batches."""
        return self._reader is None

    def batches(self) -> Iterator[Batch]:
        """One pass. A batch is valid until the next one, unless they are in memory."""
        if self._reader is None:
            yield from self._batches
        else:
            for batch, _ in self._reader.batches():
                yield batch

    def first(self, n: int) -> "DrawnExamples":
        """A view of the first n examples."""
        return FirstExamples(self, n) if n < len(self.order) else self

    def chosen(self, which: Any) -> "DrawnExamples":
        """A copy of the examples whose entry in `which` is not 0."""
        found, at = DrawnExamples(0), 0
        found.order = array("I", compress(self.order, which))
        for batch in self.batches():
            found._add(batch.chosen(memoryview(which)[at : at + len(batch)]))
            at += len(batch)
        return found._finished()


class FirstExamples(DrawnExamples):
    """A view of the first n of other drawn examples."""

    def __init__(self, examples: DrawnExamples, n: int) -> None:
        super().__init__(0)
        self._examples, self.order = examples, examples.order[:n]
        self._last: Batch | None = None

    @property
    def in_memory(self) -> bool:
        return self._examples.in_memory

    def batches(self) -> Iterator[Batch]:
        left = len(self.order)
        for batch in self._examples.batches():
            if len(batch) >= left:
                self._last = self._last or batch.part(0, left)
                yield self._last
                return
            yield batch
            left -= len(batch)
