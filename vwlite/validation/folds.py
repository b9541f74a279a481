"""The folds of rows for cross-validation: those that `--algorithm auto` deals examples into."""

from array import array
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import numpy as np

from vwlite.core.auto.folds import copies_of, folds_of
from vwlite.core.auto.summary import DataSummary
from vwlite.core.base.checksum import row_hashes
from vwlite.core.data.normalize import Normalizer
from vwlite.errors import DataError
from vwlite.inspection.rows import Rows
from vwlite.model.learners import make_expander
from vwlite.runs.counted import with_counted_classes
from vwlite.runs.options import SourceOptions, TrainOptions
from vwlite.runs.plan import DataPlan
from vwlite.runs.run import BadLines
from vwlite.runs.source import Source
from vwlite.training.auto.reading import learnable, with_label_words
from vwlite.training.trainer import Job, prepared

RANGE = 1 << 64  # of hashes


class FoldHashes:
    """In place of hashes of rows: numbers in the part of the range that is the row's fold. apart: for --stratify,
    hashes of contents, of each copy by itself where these are natural. Rows that are not learned keep the hash of their
    bytes.

    Reads the data. training: how they are learned. DataError.
    """

    def __init__(
        self, training: TrainOptions, data: DataPlan, folds: int, seed: int, stop: Callable[[], bool], *,
        apart: bool = False,
    ) -> None:
        self._seed = seed
        self._of_source: dict[str, tuple[array[int], array[int]]] = {}  # lines, ascending, and numbers of examples
        self._numbers = np.empty(0, np.uint64)  # of each example
        data = replace(data, skip=True)
        typed = with_counted_classes(training.typed, data, stop)
        job = prepared(replace(training, typed=typed), None, data, in_place=False)
        summary = self._read(with_label_words(job), stop)
        if stop() or not summary.examples:
            return  # training says what is wrong
        n = summary.examples
        if n < folds:
            raise DataError(f"{' '.join(training.data)}: {n} example{'s' * (n > 1)} with a label, and each of {folds} "
                            "folds needs one: --folds K takes fewer")
        dealt = bytearray(n)
        folds_of(summary.contents, summary.feature_counts, summary.labels, dealt, folds, seed)
        if apart:
            numbers = (self._hash(b"%d" % first) for first in copies_of(summary.contents, dealt))
        else:
            numbers = (RANGE * (2 * fold + 1) // (2 * folds) for fold in dealt)
        self._numbers = np.fromiter(numbers, np.uint64, n)

    def _read(self, job: Job, stop: Callable[[], bool]) -> DataSummary:
        settings = job.resolved.settings
        summary = DataSummary(make_expander(settings, Normalizer()))
        with ExitStack() as stack:
            source = Source(job.data, settings, job.known, BadLines(stack, skip=True), SourceOptions())
            for parsed in stack.enter_context(source.batches(stop)):
                if stop():
                    break
                batch, before = parsed.batch, summary.examples
                lines, numbers = self._of_source.setdefault(batch.source, (array("Q"), array("Q")))
                lines.extend(map(batch.line_number, np.flatnonzero(learnable(batch)).tolist()))
                try:
                    summary.take(batch)
                except OverflowError as e:
                    raise DataError(str(e)) from None
                numbers.extend(range(before, summary.examples))
        return summary

    def of(self, rows: Rows) -> Iterator[int]:
        """The numbers of rows."""
        lines, numbers = self._of_source.get(rows.source, (array("Q"), array("Q")))
        wanted, known = np.array(rows.lines, np.uint64), np.frombuffer(lines, np.uint64)
        places = np.searchsorted(known, wanted)
        for key, line, place in zip(rows.keys, wanted, places, strict=True):
            is_example = place < len(known) and known[place] == line
            yield int(self._numbers[numbers[place]]) if is_example else self._hash(key)

    def _hash(self, key: bytes) -> int:
        return int(row_hashes([key], self._seed)[0])
