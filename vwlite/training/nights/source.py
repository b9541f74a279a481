"""The examples of a run that keeps rows: those that were kept before, then those of DATA."""

from collections.abc import Callable, Iterable, Iterator, Sequence
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


class RowSource(Source):
    """The rows that were kept, if there are some, then those of DATA, which are kept in a cache for the next run.

    examples: how many rows of DATA can be learned, once they were read.
    """

    kept: KeptRows | None = None
    is_read_again = True
    examples = 0
    _is_counted = False
    _counts: Any = None  # how much each kept line counts; None: each counts 1

    @property
    def keeps_batches(self) -> bool:
        """Also where it is set otherwise, if they are read again."""
        return self.is_read_again

    @keeps_batches.setter
    def keeps_batches(self, value: bool) -> None:
        pass

    @property
    def can_be_read_again(self) -> bool:
        """Always, as batches are kept."""
        return True

    def begin_with(self, kept: KeptRows, parts: Sequence[Part]) -> None:
        """Begin with these rows. parts: how much they count, by which importances are multiplied."""
        self.kept, self._counts = kept, None
        if any(part.counts != 1 for part in parts):
            counts = np.array([part.counts if part.counts >= LEAST else 0.0 for part in parts])
            self._counts = np.repeat(counts, [part.lines for part in parts])

    def with_data(self, batches: Iterable[Batch], log: Sequence[NameOfLog]) -> "RowSource":
        """Let the rows of DATA be these. log: names of their columns and words."""
        writer = CacheWriter(None, {})
        self.examples = 0
        for batch in batches:
            self.examples += int(np.count_nonzero(learnable(batch)))
            writer.add(batch)
        writer.take(log)
        self._cache, self._is_counted = writer.finish(), True
        return self

    def open(self) -> None:
        """Once: what was read stays."""
        if self._cache is None:
            super().open()

    def read(self, take: Callable[[Parsed], None], stop: Callable[[], bool]) -> None:
        """Read DATA before they are learned. take: gets what is parsed."""
        self.open()
        with self._unweighted(stop) as batches:
            for parsed in batches:
                take(parsed)

    @property
    def new(self) -> CacheReader:
        """The rows of DATA, once they were read."""
        assert self._cache is not None
        return self._cache

    @property
    def keys(self) -> list[str]:
        return sorted({*super().keys, *(self.kept.keys if self.kept is not None else ())})

    @property
    def log(self) -> Sequence[NameOfLog]:
        """The names of columns and words, of all rows."""
        return [*(self.kept.log if self.kept is not None else ()), *self.new.log]

    def new_words(self) -> int:
        """How many words the rows of DATA have that no row before had."""
        if self.kept is None:
            return 0  # nobody knows
        known = {name[:2] for name in self.kept.log}
        return sum(name[:2] not in known and name[2] < len(name[3]) for name in self.new.log)

    # --- the batches -------------------------------------------------------------------------

    def kept_batches(self) -> Iterator[Batch]:
        """Those of the rows that were kept, with the importances that they have now."""
        for number, batch in enumerate(self.kept.batches() if self.kept is not None else ()):
            yield self._counted(number, batch)

    def new_batches(self) -> Iterator[Batch]:
        """Those of DATA, once they were read."""
        for batch, _ in self.new.batches():
            yield batch

    def _counted(self, number: int, batch: Batch) -> Batch:
        if self._counts is not None:
            assert self.kept is not None
            begin = self.kept.begins[number]
            batch.set_importance(np.asarray(batch.importance) * self._counts[begin : begin + len(batch)])
        return batch

    def _earlier(self) -> Iterator[Parsed]:
        logs = chain([self.kept.log if self.kept is not None and self.logs else ()], repeat(()))
        return (Parsed(batch, log=log) for batch, log in zip(self.kept_batches(), logs, strict=False))

    @contextmanager
    def _unweighted(self, stop: Callable[[], bool]) -> Iterator[Iterator[Parsed]]:
        with super()._unweighted(stop) as batches:
            yield batches if self._is_counted else self._counting(batches)

    def _counting(self, batches: Iterator[Parsed]) -> Iterator[Parsed]:
        for parsed in batches:
            self.examples += int(np.count_nonzero(learnable(parsed.batch)))
            yield parsed
        self._is_counted = True

    def batch(self, number: int) -> Batch:
        before = len(self.kept) if self.kept is not None else 0
        if number >= before:
            return super().batch(number - before)
        assert self.kept is not None
        batch = self._counted(number, self.kept.batch(number))
        return batch if self.weights is None else self.weights.apply(batch)
