"""The examples of a run that keeps rows: those that were kept before, then those of DATA."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, repeat
from typing import Any

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.input.cache import CacheReader, CacheWriter, NameOfLog
from vwlite.input.parsing import Parsed
from vwlite.model.kept_rows import LEAST, KeptRows, Part
from vwlite.runs.source import Source
from vwlite.training.auto.reading import learnable

Take = Callable[[Parsed], None]


class RowSource(Source):
    """The rows that were kept, if there are some, then those of DATA, which are copied for the next run.

    examples: how many rows of DATA can be learned. new: the copy, once all were read.
    """

    copies = True
    kept: KeptRows | None = None
    new: CacheReader | None = None
    examples = 0
    _was_read = False  # DATA, before learning: they come from the copy
    _counts: Any = None  # how much each kept line counts; None: each counts 1

    def begin_with(self, kept: KeptRows, parts: Sequence[Part]) -> None:
        """Begin with these rows. parts: how much they count, by which importances are multiplied."""
        self.kept, self._counts = kept, None
        if any(part.counts != 1 for part in parts):
            counts = np.array([part.counts if part.counts >= LEAST else 0.0 for part in parts])
            self._counts = np.repeat(counts, [part.lines for part in parts])

    def without_data(self) -> "RowSource":
        """Let there be no rows of DATA."""
        self.new, self._was_read = CacheWriter(None, {}).finish(), True
        return self

    def read(self, take: Take, stop: Callable[[], bool]) -> None:
        """Read DATA before they are learned. take: gets what is parsed."""
        self.open()
        with super()._unweighted(stop) as batches:
            for parsed in self._copied(batches):
                take(parsed)
        self._was_read = self.new is not None

    @property
    def can_be_read_again(self) -> bool:
        """Always, as what was read is kept."""
        return True

    @property
    def keys(self) -> list[str]:
        return sorted({*super().keys, *(self.kept.keys if self.kept is not None else ())})

    @property
    def log(self) -> Sequence[NameOfLog]:
        """The names of columns and words, of all rows."""
        return [*(self.kept.log if self.kept is not None else ()), *(self.new.log if self.new is not None else ())]

    def new_words(self) -> int:
        """How many words the rows of DATA have that no row before had."""
        known = {name[:2] for name in self.kept.log} if self.kept is not None else set()
        return sum(name[:2] not in known and name[2] < len(name[3]) for name in (self.new.log if self.new else ()))

    # --- the batches -------------------------------------------------------------------------

    def kept_batches(self) -> Iterator[Batch]:
        """Those of the rows that were kept, with the importances that they have now."""
        for number, batch in enumerate(self.kept.batches() if self.kept is not None else ()):
            yield self._counted(number, batch)

    def new_batches(self) -> Iterator[Batch]:
        """Those of DATA, once they were read."""
        assert self.new is not None
        for batch, _ in self.new.batches():
            yield batch

    def _counted(self, number: int, batch: Batch) -> Batch:
        if self._counts is not None:
            assert self.kept is not None
            begin = self.kept.begins[number]
            batch.set_importance(np.asarray(batch.importance) * self._counts[begin : begin + len(batch)])
        return batch

    def _earlier(self) -> Iterator[Parsed]:
        logs = self.kept.log if self.kept is not None else ()
        return self._with_log(self.kept_batches(), logs)

    def _with_log(self, batches: Iterator[Batch], log: Sequence[NameOfLog]) -> Iterator[Parsed]:
        """Names come with the first batch."""
        logs = chain([log if self.logs else ()], repeat(()))
        return (Parsed(batch, log=found) for batch, found in zip(batches, logs, strict=False))

    @contextmanager
    def _unweighted(self, stop: Callable[[], bool]) -> Iterator[Iterator[Parsed]]:
        if self._was_read:
            assert self.new is not None
            yield self._with_log(self.new_batches(), self.new.log)
            return
        with super()._unweighted(stop) as batches:
            yield batches if self.new is not None else self._copied(batches)

    def _copied(self, batches: Iterator[Parsed]) -> Iterator[Parsed]:
        writer = CacheWriter(None, {})
        try:
            for parsed in batches:
                writer.add(parsed.batch)
                writer.take(parsed.log)
                self.examples += int(np.count_nonzero(learnable(parsed.batch)))
                yield parsed
            self.new = writer.finish()
        finally:
            writer.close()

    def batch(self, number: int) -> Batch:
        own = number - (len(self.kept) if self.kept is not None else 0)
        if own >= 0 and not self._was_read:
            return super().batch(own)
        if own >= 0:
            assert self.new is not None
            batch = self.new.batch(own)
        else:
            assert self.kept is not None
            batch = self._counted(number, self.kept.batch(number))
        return batch if self.weights is None else self.weights.apply(batch)
