"""Reading the data of `--algorithm auto`, `--sparse` and `vwlite tune`."""

import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

from vwlite.algorithms.labels import WORDS, maps_labels
from vwlite.core.auto.summary import DataSummary
from vwlite.core.data.batch import Batch
from vwlite.core.data.class_names import ClassNames
from vwlite.errors import DataError, UsageError
from vwlite.input.diagnostics import EMPTY
from vwlite.input.parsing import EXAMPLE, Parsed, SourceText
from vwlite.training.auto.auto_data import AutoData
from vwlite.training.auto.data import Batches, DrawnExamples
from vwlite.training.auto.selection import Drawn
from vwlite.training.auto.stream import KEPT_BYTES, KEPT_EXAMPLES
from vwlite.training.trainer import Job

LARGE = 1 << 32  # bytes; larger files are read only once
SMALL = 1 << 16  # bytes; examples of smaller files are kept in memory


def learnable(batch: Batch) -> Any:
    """A mask of the lines of a batch that can be learned: those that a summary counts."""
    import numpy as np

    return (np.asarray(batch.kind) == EXAMPLE) & ~np.isnan(batch.label) & (np.asarray(batch.importance) > 0)


def is_large(files: Sequence[str]) -> bool:
    """Whether the data are files whose cache would be very large."""
    return sum(os.path.getsize(path) for path in files if os.path.isfile(path)) > LARGE


def is_small(files: Sequence[str]) -> bool:
    """Whether the data are files that are kept in memory, which is faster than a cache."""
    return bool(files) and all(map(os.path.isfile, files)) and sum(map(os.path.getsize, files)) <= SMALL


def with_label_words(job: Job) -> Job:
    """The job, with classes for labels that are two words; unless options name the labels."""
    if not maps_labels(job.resolved.settings, job.options.typed):
        return job
    return job._replace(known=replace(job.known, classes=ClassNames(WORDS, grows=True), or_numbers=True))


@contextmanager
def _overflow_as_error() -> Iterator[None]:
    """DataError in place of the OverflowError of the engine."""
    try:
        yield
    except OverflowError as e:
        raise DataError(str(e)) from None


class LearningInPasses(Protocol):
    """A learner of data that can be read again."""

    stopped: bool

    @abstractmethod
    def learn_in_passes(self, batches: Batches) -> None:
        """Learn the data in any number of passes."""


class Learning(LearningInPasses, Protocol):
    """A learner of streams, too."""

    @property
    @abstractmethod
    def has_begun(self) -> bool:
        """Whether the first examples of a stream are learned; all later ones are learned when they are read."""

    @abstractmethod
    def begin(self, batches: Sequence[Batch]) -> None:
        """Learn the first examples."""

    @abstractmethod
    def learn(self, batch: Batch) -> None:
        """Learn more examples."""

    @abstractmethod
    def end(self) -> None:
        """End the stream."""


class DataReader:
    """Reads the data and calls the learner. Files are read once, then learned in passes; if a signal ends the reading,
    the first examples are learned like a stream. Of a stream the first examples are kept: if there are no others, they
    are learned like a file, else they and all others are learned in one pass."""

    def __init__(self, data: AutoData) -> None:
        self.data = data
        self.once = self._reads_once() and not data.in_passes
        if data.options.group is not None and self.once:
            how = "leave --passes 1 out" if "passes" in data.options.given else "name files"
            raise UsageError(f"--group needs folds, and so several passes: {how}")

    def _reads_once(self) -> bool:
        """Whether the data are read once only."""
        o = self.data.options
        if "passes" in o.given or o.validate is not None:
            return "passes" in o.given and o.passes == 1
        return not self.data.source.can_be_read_again or is_large(self.data.files)

    def read(self, learning: Learning) -> None:
        """Read all data; the learner learns them. DataError."""
        if not self.once:
            self.read_files(learning)
            if self.data.first_batches and not self.data.in_passes:
                learning.begin(self._chosen_for(self.data.first_batches))
                learning.end()
            return
        self.data.source.keeps_batches = False
        self.data.source.keeps_text = self.data.choice.is_open and self.data.options.rejects is not None
        self.data.source.open()
        with _overflow_as_error():
            self._read_stream(learning)

    def read_files(self, learning: LearningInPasses) -> None:
        """The same for data that can be read again, or are kept in memory."""
        source, o = self.data.source, self.data.options
        kept: list[Batch] | None = [] if o.cache_path is None and is_small(o.data) else None
        source.keeps_batches, source.keeps_text = kept is None, False
        source.reads_more = o.validate is not None
        source.open()
        with _overflow_as_error():
            self.data.first_batches = kept if kept is not None else []
            counts = self._read(learning, keeps_all=kept is not None)
            if not learning.stopped:
                self.data.first_batches = []
            self._choose_loss()
            if o.validate is not None and not learning.stopped:
                self._read_validation(learning, o.validate)
            if source.reads_more:
                source.end()
            if learning.stopped:
                return
            if kept is not None:
                learning.learn_in_passes(Batches(counts, self._chosen_for(kept).__getitem__))
            else:
                learning.learn_in_passes(Batches(counts, lambda number: self._mapped(source.batch(number))))

    def _read(self, learning: LearningInPasses, *, keeps_all: bool) -> list[int]:
        """Read the data once; keep the first batches, or all. Returns, by batch, how many examples can be learned."""
        counts = []
        with self.data.source.batches(lambda: learning.stopped) as batches:
            for parsed in self._taken(batches, learning):
                is_first = self.data.summary.examples < KEPT_EXAMPLES and self.data.summary.bytes < KEPT_BYTES
                counts.append(self._counted(self.data.summary, parsed.batch))
                if keeps_all or is_first:
                    self.data.first_batches.append(parsed.batch.part(0, len(parsed.batch)))
        return counts

    def _counted(self, summary: DataSummary, batch: Batch) -> int:
        """Add a batch to a summary. Returns how many of its examples can be learned."""
        before = summary.examples
        for line, kind in enumerate(batch.kind if self.data.options.group is not None else ()):
            if kind == EXAMPLE and not batch.tag(line):
                where = f"{batch.source}:{batch.line_number(line)}:1: column {self.data.options.group}"
                raise DataError(f"{where}: {EMPTY.format('group')}")
        summary.take(batch)
        self.data.choice.place_labels(batch)
        return int(summary.examples - before)

    def _read_validation(self, learning: LearningInPasses, path: str) -> None:
        """Read the file of `--validate`; its examples choose the model."""
        batches, counts = [], []
        summary = self.data.new_summary()
        with self.data.source.batches_of((path,), lambda: learning.stopped) as found:
            for parsed in found:
                self.data.listener.on_bad(parsed.bad)
                counts.append(self._counted(summary, self._mapped(parsed.batch)))
                batches.append(parsed.batch.part(0, len(parsed.batch)))
        if not summary.examples and not learning.stopped:
            raise DataError(f"{path}: no example with a label, so that it validates nothing")
        self.data.validation = Drawn(summary, DrawnExamples.of(summary, Batches(counts, batches.__getitem__)))
        self.data.validation_batches = batches

    def _taken(self, batches: Iterator[Parsed], learning: LearningInPasses) -> Iterator[Parsed]:
        """The batches of the first reading, until it is stopped."""
        examples = 0
        for parsed in batches:
            if self.data.names is not None and parsed.names is not None:
                self.data.names.take(parsed.names)
            if self.data.column_names is not None:
                self.data.column_names.take(parsed.log, self.data.settings.hash == "all")
            examples += len(parsed.batch)
            yield parsed
            self.data.listener.on_read(parsed, examples)
            if learning.stopped:
                break
        self.data.listener.on_end_of_data()

    # --- a stream ----------------------------------------------------------------------------

    def _read_stream(self, learning: Learning) -> None:
        """Keep the first batches, then learn batch by batch. A stream that ends before is learned like a file."""
        with self.data.source.batches(lambda: learning.stopped) as batches:
            for parsed in self._taken(batches, learning):
                self.take(parsed.batch, learning, parsed.source)
        if not learning.has_begun and (learning.stopped or "passes" in self.data.options.given):
            learning.begin(self._chosen_for(self.data.first_batches))
        if not learning.has_begun:
            first = self._chosen_for(self.data.first_batches)
            learning.learn_in_passes(Batches(self.data.counts, first.__getitem__))
        elif self.data.summary.examples:
            learning.end()

    def take(self, batch: Batch, learning: Learning, text: SourceText | None = None) -> None:
        """Keep a batch of a stream, or learn it. text: the text of the batch, if known."""
        begin = 0
        if not learning.has_begun:
            before = self.data.summary.examples
            self.data.choice.place_labels(batch)
            begin = self.data.summary.take(batch, 0, KEPT_EXAMPLES, KEPT_BYTES)
            self.data.first_batches.append(batch.part(0, begin))
            self.data.counts.append(self.data.summary.examples - before)
            if begin == len(batch):
                return
            learning.begin(self._chosen_for(self.data.first_batches))
            self.data.first_batches, self.data.counts = [], []
        batch = self._mapped(batch, text)
        learning.learn(batch.part(begin, len(batch)) if begin else batch)

    def begin_detached(self, learning: Learning) -> None:
        """Learn the first examples for a checkpoint, with the reader of a copy of the data. If labels will be mapped,
        batches are copied before, so that the labels of the kept ones stay."""
        found = self.data.first_batches
        if self.data.choice.is_open:
            found = [batch.part(0, len(batch)) for batch in found]
            self.data.summary = self.data.summary_of(found)
        learning.begin(self._chosen_for(found))

    def _chosen_for(self, kept: list[Batch]) -> list[Batch]:
        """Choose the loss by the labels of the first examples; returns these with mapped labels."""
        self._choose_loss()
        return [self._mapped(batch) for batch in kept]

    def _choose_loss(self) -> None:
        """Choose the loss by the labels so far, unless it is given, and tell the listener."""
        data = self.data
        if data.choice.is_open and data.summary.examples:
            data.settings, note = data.choice.chosen(data.settings, data.summary, data.listener.say)
            data.hints += [note] if note else []

    def _mapped(self, batch: Batch, text: SourceText | None = None) -> Batch:
        """A batch with mapped labels. Lines with other labels are reported to the listener as bad lines."""
        for bad in self.data.choice.mapped(batch, self.data.settings, text):
            self.data.listener.on_bad([bad])
        return batch
