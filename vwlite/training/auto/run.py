"""A run of `vwlite train --algorithm auto`."""

import math
import os
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from vwlite.algorithms.checks import check_link, usual_link
from vwlite.algorithms.labels import MOST, WORDS, choose, maps_labels
from vwlite.algorithms.losses import called, loss_function
from vwlite.algorithms.memory import available_memory, lanes_need
from vwlite.algorithms.settings import Settings
from vwlite.core.auto.given import GivenPredictions, by_line
from vwlite.core.auto.lanes import Lanes
from vwlite.core.auto.robust import ScaledHuber, least_slope
from vwlite.core.auto.summary import DataSummary
from vwlite.core.base.elementary import each
from vwlite.core.data.batch import Batch
from vwlite.core.data.class_names import ClassNames
from vwlite.core.data.normalize import MOST_CENTERED, NORMALIZATIONS, Normalizer
from vwlite.core.learn.labels import best_constant
from vwlite.core.learn.losses import Loss, Quantile
from vwlite.core.learn.tally import Tally
from vwlite.digest import blake2b
from vwlite.errors import DataError, UsageError
from vwlite.input.diagnostics import BadLine
from vwlite.input.parsing import EXAMPLE, Parsed, SourceText
from vwlite.model.header import COUNTERS
from vwlite.model.learners import make_expander, make_loss, make_rule
from vwlite.options.spec import option_name
from vwlite.output.progress import format_number, pass_text
from vwlite.output.text import label_text
from vwlite.runs.baseline import LARGEST_SCORE
from vwlite.runs.means import NOT_DENSE
from vwlite.runs.notes import Notes, about_labels, about_names, about_options, together
from vwlite.runs.options import TrainOptions
from vwlite.runs.resolve import NOT_AUTO
from vwlite.runs.run import BASELINE, say
from vwlite.runs.source import Source
from vwlite.training.auto.data import DrawnExamples
from vwlite.training.auto.model import WeightScale, best_kind, described, gd_settings, load, load_intercept, update_of
from vwlite.training.auto.selection import (
    COLUMNS,
    FOLDS,
    MOST_SCORED,
    RATES,
    Drawn,
    GridCandidate,
    LabelScale,
    Selection,
    best_of,
    most_passes,
)
from vwlite.training.auto.stream import KEPT_BYTES, KEPT_EXAMPLES, Stream
from vwlite.training.passes import Job, Training
from vwlite.training.verdict import count_of_passes, normalization

if TYPE_CHECKING:
    from vwlite.model import Model

FEWEST = 8  # examples of the rarer class that folds need
FEW = 300  # examples of which the loss is uncertain
LARGE = 1 << 32  # bytes of files that are read only once
SMALL = 1 << 16  # bytes of files whose examples are kept in memory
PLACES = 5  # different labels whose first lines an error names
HEADER = "pass  values  best single learner     its loss  stacked   features  seconds"
SCALED = ("squared", "quantile", "huber")  # losses whose labels are learned around 0, with a standard deviation of 1
ROBUST = ("quantile", "huber")  # those whose best constant is not a mean, and that outliers shall not decide
SPREAD = 3.0  # times the median distance from the best constant, in place of a larger standard deviation
LARGEST_LABEL = 1e38  # of these losses: weights are floats
ONE_PASS = "one pass, as the files have more than 4 GB: --passes 8 is for a better model"
ONE_PASS_OF_STREAM = "one pass, as standard input cannot be read again: name files for a better model"
ORDERED = "the data seem to be in order: name files, or shuffle"
DISAGREE = "the folds and the model disagree: the best constant is better on the examples that the model has learned"

AnyRun = TypeVar("AnyRun", bound="AutoTraining")


class AutoTraining(Training):
    """The state of one run.

    Files are read once, then learned in passes by all candidates. A stream is learned as it comes, after its first
    examples; one that has no more examples is learned like a file.
    """

    summary: DataSummary  # of the examples that can be learned; of a stream, of the first ones
    sample: DataSummary | None = None  # of a stream: of a sample of all its examples
    best: GridCandidate | None = None  # None: the intercept alone is the model
    selection: Selection | None = None
    stream: Stream | None = None
    validation: Drawn | None = None  # the file of --validate
    validation_batches: Sequence[Batch] = ()
    passes_used = 0
    chooses_passes = True
    baseline: float = 0.0  # the loss of the best constant prediction, for labels as they are learned
    labels_as = LabelScale()
    weights_as = WeightScale()
    intercepts: Sequence[float] = ()  # of the model, one for each class
    _best_constant: tuple[DataSummary, float] | None = None  # of the labels of a summary, as it takes time to find
    width = 1  # scores of an example

    def __init__(self, o: TrainOptions, job: Job, stack: ExitStack, source: Source | None = None) -> None:
        self.maps_labels = source is None and maps_labels(job.resolved.settings, o.typed)
        self.chooses_loss = self.maps_labels and "loss" not in o.typed
        self.label_words = ClassNames(WORDS, grows=True)  # labels that are words
        self.in_batches: tuple[float, float] | None = None  # labels of batches that become -1 and 1
        if self.maps_labels:
            job = job._replace(known=replace(job.known, classes=self.label_words, or_numbers=True))
        super().__init__(o, job, stack, source)
        self._label_places: dict[float, str] = {}  # where the first different ones are, as ends of words
        self.hints: list[str] = []  # notes of its own
        self.candidates: list[GridCandidate] = []  # of files
        self.first_batches: list[Batch] = []  # of a stream, before it is learned
        self.counts: list[int] = []  # examples that can be learned in each of them
        self._since_checkpoint = 0  # examples of passes over files
        self._pass_begun = (0, 0.0)  # for the live line: a pass, and when it began
        self.dense: list[tuple[int, float, bool]] = []  # columns of `center`: key, mean, whether all values are equal

    def stop(self) -> None:
        super().stop()
        if self.selection is not None:
            self.selection.stopped = True

    @staticmethod
    def check(o: TrainOptions) -> None:
        """UsageError for options of a run that it has no use for."""
        for name, why in NOT_AUTO.items():
            if name in o.given:
                raise UsageError(f"{option_name(name)} has no effect with --algorithm auto: {why}")
        if o.validate is not None and "passes" in o.given and o.passes == 1:
            raise UsageError("--validate chooses among passes: leave --passes 1 out")

    def passes(self, stack: ExitStack) -> None:
        self.summary = DataSummary(make_expander(self.settings, Normalizer()))
        kept: list[Batch] | None = [] if self._is_small else None
        self.source.keeps_batches = not self._is_stream and kept is None
        self.source.keeps_text = self._is_stream and self.maps_labels and self.options.rejects is not None
        self.source.open()
        try:
            if self._is_stream:
                self._read_stream()
                return
            counts = self._read(kept)
            self._choose_loss()
            if self.options.validate is not None and not self.stopped:
                self._read_validation(self.options.validate)
            if not self.stopped:
                if kept is not None:
                    self._learn_in_passes(counts, self._chosen_for(kept).__getitem__)
                else:
                    self._learn_in_passes(counts, lambda number: self._mapped(self.source.batch(number)))
        except OverflowError as e:
            raise DataError(str(e)) from None

    @property
    def _is_stream(self) -> bool:
        """Whether the data are read once only."""
        o = self.options
        if "passes" in o.given or o.validate is not None:
            return "passes" in o.given and o.passes == 1
        return not o.data or not all(path != "-" and os.path.isfile(path) for path in o.data) or self._is_large

    @property
    def _is_small(self) -> bool:
        """Whether the data are files that are kept in memory: that is faster than a cache."""
        o = self.options
        if o.cache_path is not None or not o.data:
            return False
        return all(os.path.isfile(path) for path in o.data) and sum(map(os.path.getsize, o.data)) <= SMALL

    @property
    def _is_large(self) -> bool:
        """Whether the data are files of which a cache would be very large."""
        files = [path for path in self.options.data if os.path.isfile(path)]
        return sum(map(os.path.getsize, files)) > LARGE

    # --- files -------------------------------------------------------------------------------

    def _read(self, kept: list[Batch] | None) -> list[int]:
        """Read the data once; the number of examples that can be learned in each batch. kept: gets the batches."""
        counts = []
        with self.source.batches(lambda: self.stopped) as batches:
            for parsed in self._taken(batches):
                counts.append(self._counted(self.summary, parsed.batch))
                if kept is not None:
                    kept.append(parsed.batch.part(0, len(parsed.batch)))
        return counts

    def _counted(self, summary: DataSummary, batch: Batch) -> int:
        """Add a batch to a summary; the number of examples that can be learned."""
        before = summary.examples
        summary.take(batch)
        self._place_labels(batch)
        return int(summary.examples - before)

    def _place_labels(self, batch: Batch) -> None:
        """Remember where the first different labels are, for the error about those that a given loss cannot use."""
        places = self._label_places
        if not self.maps_labels or self.chooses_loss or len(places) >= PLACES:
            return
        for line, (kind, label) in enumerate(zip(batch.kind, batch.label, strict=True)):
            if kind == EXAMPLE and label == label and label not in places and len(places) < PLACES:
                places[label] = f" ({batch.source}:{batch.line_number(line)})"

    def _read_validation(self, path: str) -> None:
        """Read the examples that the model is chosen by."""
        batches, counts = [], []
        summary = DataSummary(make_expander(self.settings, Normalizer()))
        with self.source.batches_of((path,), lambda: self.stopped) as found:
            for parsed in found:
                self.bad.take(parsed.bad)
                counts.append(self._counted(summary, self._mapped(parsed.batch)))
                batches.append(parsed.batch.part(0, len(parsed.batch)))
        if not summary.examples and not self.stopped:
            raise DataError(f"{path}: no example with a label, so that it validates nothing")
        self.validation = Drawn(summary, DrawnExamples.of(summary, counts, batches.__getitem__))
        self.validation_batches = batches

    def _taken(self, batches: Iterator[Parsed]) -> Iterator[Parsed]:
        """The batches of the first reading, until the run is stopped."""
        examples = 0
        for parsed in batches:
            if self.feature_names is not None:
                self.feature_names.take(parsed.names)
            self.namespaces.look(parsed.batch)
            examples += len(parsed.batch)
            yield parsed
            if parsed.bad:
                self.live.clear()
            self.bad.take(parsed.bad)
            self.live.update(examples, parsed.done, parsed.total)
            if self.stopped:
                break
        self.live.clear()

    def _learn_in_passes(self, counts: list[int], load_batch: Any) -> None:
        summary, self._load_batch = self.summary, load_batch
        self._batches = len(counts)
        self._learn_labels_as()
        if self._is_scarce:
            self._begin_stream(load_batch(number_of_batch) for number_of_batch in range(len(counts)))
            self._end_stream()
            return
        if summary.examples and self.baseline:
            self._learn_drawn(DrawnExamples.of(summary, counts, load_batch))
            if not self.passes_used:
                return  # a signal came within the first pass
        learner = self._load_model()
        batches = map(load_batch, range(len(counts)))
        if self.validation is None:
            self._feed_given(learner, batches, self._file_order(summary))
            return
        judge = self._given(self.settings, WeightScale())
        judge.answers_blank_lines = False
        self._feed_given(judge, self.validation_batches, self._file_order(self.validation.summary))
        self.held = judge.progressive
        self._feed_given(learner, batches, array("d", []))  # counts them

    def _learn_drawn(self, examples: DrawnExamples) -> None:
        """Find the best candidate, in passes over the examples; without any if a signal comes within the first one."""
        self.selection = self._selection(Drawn(self.summary, examples))
        self.selection.stopped = self.stopped
        self.candidates = [GridCandidate(name, new_lanes) for name, new_lanes in self._grid(self._folds)]
        self.best = self._race(self._most_passes())
        if self.best is not None:
            self._settle()

    def _selection(self, data: Drawn) -> Selection:
        return Selection(self._learned_loss(), self.labels_as, data, self.validation)

    def _settle(self) -> None:
        """Replace the best candidate by that with the loss to report; by the intercept if it is better out of fold;
        by the best column, or the intercept, if a constant is better on the examples that the model has learned."""
        self.passes_used = max(len(c.passes) for c in self.candidates)
        best, self.best = self.best, None
        if self.selection is None or best is None or best.best is None or best.best.loss >= self.baseline:
            return
        constant = self._loss_as_learned(None)
        reported = self.selection.reported(self.candidates, best)
        for c in (reported, self.best_column_of(best)):
            if self._loss_as_learned(c) < constant:
                self.best = c
                return
        self.hints.append(DISAGREE)

    @staticmethod
    def best_column_of(c: GridCandidate) -> GridCandidate:
        """A candidate without its stack."""
        assert c.best is not None
        result = c.best
        alone = [float(k == result.best) for k in range(len(COLUMNS))]
        result = replace(result, loss=result.losses[result.best], u=alone, halves=None, offsets=())
        return replace(c, best=result, predictions=c.of_best_column)

    def _loss_as_learned(self, c: GridCandidate | None) -> float:
        """The loss of a model on examples that it has learned. None: of the intercept alone."""
        assert self.selection is not None
        run, left = self._apart(), MOST_SCORED
        run.best = c
        learner = run._load_model()
        for batch in self.selection.examples.batches():
            part = batch if len(batch) <= left else batch.part(0, left)
            left -= len(part)
            run._give_nothing(learner, part)
            run.feed(part)
            if not left:
                break
        return self._loss_of(learner.progressive)

    def _loss_of(self, tally: Tally) -> float:
        """The loss by which models are compared."""
        return float(tally.log_loss if tally.probable else tally.average)

    def _give_nothing(self, learner: GivenPredictions, batch: Batch) -> None:
        """The rule predicts the batch."""
        unknown = array("d", bytes(8 * len(batch) * self.width))
        by_line(batch, array("d", []), 0, unknown, self.width)
        learner.give(batch, unknown)

    @property
    def _folds(self) -> int:
        return FOLDS if self.validation is None else 1

    @property
    def _bytes_needed(self) -> int:
        """By the lanes of a candidate."""
        return lanes_need(self.summary.features, self._folds)

    def _race(self, passes: int) -> GridCandidate | None:
        """The best candidate: of all side by side, or of one after the other where memory does not hold all of them."""
        assert self.selection is not None
        one, room = self._bytes_needed, available_memory()
        if room is not None and one > room:
            raise MemoryError(
                f"the learning-rate grid of {self.summary.features:,} features needs {one >> 20:,} MB, and there are "
                f"{room >> 20:,}: use --algorithm gd, or fewer --bits"
            )
        with self.live.ticking(self._live_text):
            if room is None or one * len(self.candidates) <= room:
                return self.selection.run(self.candidates, passes, self.options.threads, self._after_pass)
            return self.selection.run_in_turn(self.candidates, passes, self._after_pass)

    def _live_text(self, seconds: float) -> str:
        found = self.selection
        assert found is not None
        if found.number != self._pass_begun[0]:
            self._pass_begun = (found.number, seconds)
        losses = [c.best.loss * self.labels_as.loss_scale for c in self.candidates if c.best is not None]
        in_turn = found.racing < sum(not c.ended for c in self.candidates)  # how many more there will be is not known
        most = None if in_turn else self._most_passes()
        return pass_text(found.number, most, found.share, seconds - self._pass_begun[1], min(losses, default=None))

    @property
    def _is_scarce(self) -> bool:
        """Whether folds would be of too few examples of a class."""
        n = int(self.summary.examples)
        if self.validation is not None:
            return False
        if self.settings.loss != "logistic":
            return 0 < n < FEWEST
        positive = sum(bool(label > 0) for label in self.summary.labels)
        return 0 < min(positive, n - positive) < FEWEST

    def _most_passes(self) -> int:
        most = most_passes(self.summary.examples)
        return min(most, self.options.passes) if self.options.passes > 1 else most

    def _file_order(self, summary: DataSummary) -> Any:
        """The predictions that the model was chosen by, in the order of the file; those of the best constant if that is
        the model."""
        if self.best is None or self.selection is None:
            constant = self._constant()
            return array("d", (constant + initial for initial in summary.initials))
        found = array("d", bytes(8 * summary.examples))
        for place, p in zip(self.selection.order, self.best.predictions, strict=True):
            found[place] = p * self.weights_as.scale + self.weights_as.shift
        return found

    def _feed_given(self, learner: GivenPredictions, batches: Iterable[Batch], scores: Any) -> None:
        """Count batches whose examples have these predictions; without, the rule predicts."""
        self.learner, at = learner, 0
        for batch in batches:
            lines = array("d", bytes(8 * len(batch) * self.width))
            at = by_line(batch, scores, at, lines, self.width)
            learner.give(batch, lines)
            self.feed(batch)

    def _after_pass(self, number_of_pass: int, ran: list[GridCandidate]) -> None:
        self.pass_number = number_of_pass
        with self.live.cleared():
            self._say_pass(number_of_pass, ran)
        self._since_checkpoint += int(self.summary.examples)
        best = best_of(self.candidates)
        if best is not None and self._is_checkpoint_due(self._since_checkpoint):
            self._since_checkpoint = 0
            run = self._apart()
            run.best = best
            run._settle()
            run._feed_given(run._load_model(), map(self._load_batch, range(self._batches)), array("d", []))
            self._commit_checkpoint(run)

    def _say_pass(self, number_of_pass: int, ran: list[GridCandidate]) -> None:
        if not self.options.quiet:
            if number_of_pass == 1:
                say(HEADER, "")
            c = min(ran, key=lambda c: c.passes[-1].loss)
            last, scale = c.passes[-1], self.labels_as.loss_scale
            losses = (f"{format_number(x * scale):<9}" for x in (last.losses[last.best], last.stacked))
            row = (f"{number_of_pass:<5}", f"{c.name:<7}", f"{COLUMNS[last.best]:<23}", *losses)
            text = f"{' '.join(row)} {self.summary.features:<9} {time.monotonic() - self.started_at:.1f}"
            say(text, "progress", normalize=c.name, loss=last.losses[last.best] * scale, passes=number_of_pass)

    # --- checkpoints -------------------------------------------------------------------------

    def _is_checkpoint_due(self, examples: int) -> bool:
        """Whether so many examples were learned, or so much time has passed, since the last checkpoint."""
        by_examples = self._every is not None and examples >= self._every
        return by_examples or (self._seconds is not None and time.monotonic() >= self._checkpoint_time)

    def _apart(self: AnyRun) -> AnyRun:
        """A run with what is known now, which prints and predicts nothing, and does not change this one."""
        run = copy(self)
        run.hints, run._sinks = [], []
        run.options = replace(self.options, quiet=True, predictions=None, raw_predictions=None)
        return run

    def _commit_checkpoint(self, run: "AutoTraining") -> None:
        """Write the model of a run that is apart."""
        if self.file is not None:
            run._write_model(interrupted=True)
            self.file.commit()
            self.file.new_version()
        if self._seconds:
            self._checkpoint_time = time.monotonic() + self._seconds

    def _checkpoint(self) -> None:
        if self._may_write():
            self._commit_checkpoint(self.so_far())

    # --- a stream ----------------------------------------------------------------------------

    def _read_stream(self) -> None:
        """Keep the first examples, then learn one by one; a stream that ends before is learned like a file."""
        with self.source.batches(lambda: self.stopped) as batches:
            for parsed in self._taken(batches):
                self.take_of_stream(parsed.batch, parsed.source)
        if not self._has_begun and (self.stopped or "passes" in self.options.given):
            self._begin_stream(self._chosen_for(self.first_batches))
        if not self._has_begun:
            self._learn_in_passes(self.counts, self._chosen_for(self.first_batches).__getitem__)
        elif self.summary.examples:
            self._end_stream()

    def take_of_stream(self, batch: Batch, text: SourceText | None = None) -> None:
        """Keep a batch of a stream, or learn it. text: that it was parsed from, if it is known."""
        begin = 0
        if not self._has_begun:
            before = self.summary.examples
            self._place_labels(batch)
            begin = self.summary.take(batch, 0, KEPT_EXAMPLES, KEPT_BYTES)
            self.first_batches.append(batch.part(0, begin))
            self.counts.append(self.summary.examples - before)
            if begin == len(batch):
                return
            self._begin_stream(self._chosen_for(self.first_batches))
            self.first_batches, self.counts = [], []
        batch = self._mapped(batch, text)
        self._learn_stream(batch.part(begin, len(batch)) if begin else batch)

    @property
    def _has_begun(self) -> bool:
        """Whether the stream is longer than what is kept, and learned."""
        return self.stream is not None

    def _own_batches(self) -> list[Batch]:
        """The first examples of a stream, as a run apart may map their labels."""
        if not self.maps_labels:
            return self.first_batches
        self.summary = DataSummary(make_expander(self.settings, Normalizer()))
        found = [batch.part(0, len(batch)) for batch in self.first_batches]
        for batch in found:
            self.summary.take(batch)
        return found

    def so_far(self: AnyRun) -> AnyRun:
        """A run that has the model of the stream so far; this one goes on as if there were no such run."""
        run, counted = self._apart(), self.learner
        if run.stream is None:
            run._begin_stream(run._chosen_for(run._own_batches()))
        else:
            before = {name: self.job.before.get(name, 0) + getattr(counted, name) for name in COUNTERS}
            run.job = self.job._replace(before=before)
            run.learner = self._given(self.settings, self.weights_as)
            run.learner.min_label, run.learner.max_label = counted.min_label, counted.max_label
        run._end_stream()
        return run

    def _chosen_for(self, kept: list[Batch]) -> list[Batch]:
        """The first examples, after the loss is chosen by their labels."""
        self._choose_loss()
        return [self._mapped(batch) for batch in kept]

    def _begin_stream(self, kept: Iterable[Batch]) -> None:
        """Learn the first examples."""
        self._learn_labels_as()
        lanes = [(name, new_lanes()) for name, new_lanes in self._grid(1)]
        self.stream = Stream(self._learned_loss(), self.labels_as, lanes)
        self.learner = self._given(self.settings, self.weights_as)
        if not self.options.quiet:
            self.learner.report_at = self.interval.at
            if not (self._is_scarce or "passes" in self.options.given or self.source.keeps_batches):
                say(ONE_PASS if self._is_large else ONE_PASS_OF_STREAM)
            super()._print_title()
        for batch in kept:
            self._learn_stream(batch)
            if self.stopped:
                break

    def _learn_stream(self, batch: Batch) -> None:
        """Learn a batch, with the checkpoints in it."""
        while self._every is not None:
            end = line_after(batch, self._every - self.learner.examples % self._every)
            if end is None:
                break
            self._learn_part(batch.part(0, end))
            if self.stopped:
                return
            self._checkpoint()
            batch = batch.part(end, len(batch))
        self._learn_part(batch)
        if self._seconds is not None and self._is_checkpoint_due(0):
            self._checkpoint()

    def _learn_part(self, batch: Batch) -> None:
        assert self.stream is not None
        assert isinstance(self.learner, GivenPredictions)
        self.learner.give(batch, self.stream.learn(batch))
        self.feed(batch)

    def _end_stream(self) -> None:
        """Put the model into the learner that has counted the stream."""
        assert self.stream is not None
        if not self.stream.examples:
            return  # a signal came before the first one
        found, batch = self.stream.result(), self.stream.sample()
        self.sample = DataSummary(make_expander(self.settings, Normalizer()))
        self.sample.take(batch)
        self.baseline = self._constant_loss()
        threshold = max(self.baseline, self._constant_loss_of(self.sample))
        self.best = self.stream.checked(found, batch, threshold) if self.baseline else None
        assert found.best is not None
        if self.best is not found and found.best.loss < self.baseline:
            self.hints.append(ORDERED)
        if self._is_scarce and found.best.loss >= self.baseline:
            self.best = None
        self.passes_used = 1
        assert isinstance(self.learner, GivenPredictions)
        self._load_model(self.learner)

    def _nonzeros_for_row(self) -> tuple[int, bool]:
        return len(self.stream.best.learner.lanes) if self.stream is not None else 0, False

    # --- labels ------------------------------------------------------------------------------

    def _choose_loss(self) -> None:
        """Choose the loss by the labels so far, unless it is given, and say so; map labels for it."""
        if not self.maps_labels or not self.summary.examples:
            return
        self.maps_labels = False
        choice = choose(self.summary.distinct_labels(MOST), self.label_words.first(len(self.label_words)))
        if not self.chooses_loss and choice.loss != "logistic":
            labels = self.summary.distinct_labels(MOST)
            said = ", ".join(label_text(label) + self._label_places.get(label, "") for label in labels)
            raise DataError(f"labels are {said}, but --loss logistic needs -1 and 1, or 0 and 1: add --labels NEG,POS")
        if self.options.class_weight is not None and choice.loss != "logistic":
            raise DataError(f"--class-weight needs labels that are classes: {choice.why}; name two with --labels, or "
                            "several with --oaa")
        settings = replace(self.settings, loss=choice.loss, labels=choice.labels)
        if "link" not in self.options.typed:
            settings = replace(settings, link=usual_link(settings))
        check_link(settings)
        self.settings = settings
        self.job = self.job._replace(resolved=replace(self.job.resolved, settings=settings))
        self.in_batches = choice.in_batches
        if self.in_batches is not None:
            self.summary.map_labels(self.in_batches[0])
        if choice.note:
            self.hints.append(choice.note)
        if not self.options.quiet and (self.chooses_loss or choice.labels is not None):
            say(f"loss = {choice.loss}, {choice.why}")

    def _mapped(self, batch: Batch, text: SourceText | None = None) -> Batch:
        """A batch with labels as they are learned. Lines with others than those that the loss was chosen by are bad."""
        if self.in_batches is None:
            return batch
        values = array("d", batch.label)
        for line in batch.map_labels(*self.in_batches):
            expected = " or ".join(label_text(self.settings.label_of(y)) for y in (-1, 1))
            why = f"label {values[line]:g}: expected {expected}, as in the first examples; --loss and --labels set it"
            found = text.lines_of(batch, [line])[0] if text is not None else b""
            self.bad.take([BadLine(batch.source, batch.line_number(line), 1, why, found)])
        return batch

    def _learn_labels_as(self) -> None:
        """Set how labels are learned, and the loss of the best constant; how the weights become those of the labels."""
        settings, summary = self.settings, self.summary
        if settings.loss in SCALED:
            mean, deviation = summary.moments()
            shift = mean if settings.constant else 0.0
            scale = math.sqrt(deviation**2 + (mean - shift) ** 2) or 1.0
            if settings.loss in ROBUST:
                shift = self._constant()
                middle = best_constant(Quantile(0.5), summary.residuals(shift, absolute=True), summary.importances)
                scale = min(scale, SPREAD * middle) if middle else scale
            if not abs(shift) + scale <= LARGEST_LABEL:
                raise DataError(f"labels beyond {LARGEST_LABEL:g} cannot be learned: scale them")
            slope = {"squared": scale, "quantile": 1.0, "huber": scale * least_slope(settings.huber_delta / scale)}
            self.labels_as = LabelScale(shift, scale, scale, scale * slope[settings.loss])
            self.weights_as = WeightScale(scale, shift, slope[settings.loss])
        elif settings.loss == "poisson":
            rate = summary.rate() if settings.constant else 1.0
            if not rate <= math.exp(make_loss(settings).largest_p):
                raise DataError(f"a mean of the labels of {rate:g} cannot be predicted: scale the labels")
            scale = rate or 1.0
            self.labels_as = LabelScale(scale=scale, loss_scale=scale)
            self.weights_as = WeightScale(shift=log(scale), slope=scale)
        self.baseline = self._constant_loss()

    def _learned_loss(self) -> Loss:
        """The loss of labels as they are learned."""
        if self.settings.loss == "huber":
            return ScaledHuber(self.settings.huber_delta / self.labels_as.scale)
        return make_loss(self.settings)

    def _constant_loss(self) -> float:
        """The loss of the best constant, with labels as they are learned."""
        summary, stream = self.sample or self.summary, self.stream
        if stream is None or summary.has_initial:
            has_one_label = summary.moments()[1] == 0
        else:
            has_one_label = stream.has_one_label
        if has_one_label and self.settings.constant and not summary.has_initial:
            return 0.0
        if self.validation is not None:
            summary = self.validation.summary
        if stream is None or summary.has_initial:
            return self._constant_loss_of(summary)
        return stream.constant_loss(self._as_learned(self._constant()))

    def _constant_loss_of(self, summary: DataSummary) -> float:
        loss, labels = self._learned_loss(), self.labels_as
        constant = self._as_learned(self._constant())
        return float(summary.constant_loss(loss, constant, labels.mean, labels.scale, labels.initial_scale)[0])

    def _as_learned(self, score: float) -> float:
        return (score - self.weights_as.shift) / self.weights_as.scale

    def _constant(self) -> float:
        """The best constant score."""
        summary, settings = self.sample or self.summary, self.settings
        if not settings.constant or not summary.examples:
            return 0.0
        if settings.loss in ROBUST:
            if self.stream is not None and not summary.has_initial:
                return self.stream.best_constant
            if self._best_constant is None or self._best_constant[0] is not summary:
                found = best_constant(make_loss(settings), summary.residuals(), summary.importances)
                self._best_constant = summary, float(found)
            return self._best_constant[1]
        if summary.has_initial or self.stream is None:
            mean = summary.rate() if settings.loss == "poisson" else summary.moments()[0]
        else:
            mean = self.stream.mean_label
        if settings.loss == "squared":
            return float(mean)
        if settings.loss == "poisson":
            return log(mean) if mean > 0 else -LARGEST_SCORE
        if summary.has_initial:
            return self._constant_with_initial(summary)
        share = (1 + mean) / 2
        # Of one label alone, the other has the probability (0 + 1/2) / (n + 1) for n examples.
        return log(share / (1 - share)) if 0 < share < 1 else math.copysign(log(2 * self._examples + 1), mean)

    def _constant_with_initial(self, summary: DataSummary) -> float:
        """The root of the derivative of the log loss, by bisection."""
        loss = make_loss(self.settings)
        low, high = -LARGEST_SCORE, LARGEST_SCORE
        for _ in range(60):
            middle = (low + high) / 2
            if summary.constant_loss(loss, middle, 0, 1)[1] > 0:
                high = middle
            else:
                low = middle
        return middle

    # --- candidates and the model ------------------------------------------------------------

    def _grid(self, folds: int) -> list[tuple[str, Callable[[], Lanes]]]:
        """The candidates: normalizations, and what makes the lanes of each."""
        settings = self.settings
        self.dense = self.summary.dense(make_expander(settings).constant_key)
        if len(self.dense) > MOST_CENTERED or not settings.constant:
            self.dense = []
        names = [settings.normalize] if "normalize" in self.options.typed else list(NORMALIZATIONS)
        if names == ["center"] and not self.dense:
            if self.summary.examples:
                raise DataError(NOT_DENSE)
            names = ["none"]  # there will be nothing to learn
        names = [name for name in names if name != "center" or self.dense]
        return [(name, partial(self._lanes, name, folds)) for name in names]

    def _lanes(self, name: str, folds: int) -> Lanes:
        normalizer = Normalizer(name, self.dense if name == "center" else ())
        return Lanes(self._learned_loss(), make_expander(self.settings, normalizer), RATES, folds)

    def _given(self, settings: Settings, fold: WeightScale) -> GivenPredictions:
        """A learner whose predictions are given as scores, which `fold` makes those of the labels."""
        loss, expander = make_loss(settings), make_expander(settings)
        rule = make_rule(settings, loss, expander.constant_key)
        learner = GivenPredictions(
            rule, loss, expander, scale=fold.scale, shift=fold.shift, link=settings.link,
            predictions=self.options.predictions is not None, raw_predictions=self.options.raw_predictions is not None,
        )
        low, high = loss_function(settings.loss).first_range
        labels = self.summary.labels
        learner.min_label = min(low, min(labels, default=low))
        learner.max_label = max(high, max(labels, default=high))
        learner.answers_blank_lines = True
        return learner

    @property
    def _examples(self) -> int:
        """Examples that were learned in a pass."""
        return int(self.summary.examples) if self.stream is None else self.stream.examples

    def _load_model(self, learner: GivenPredictions | None = None) -> GivenPredictions:
        """Put the weights of the model into a learner, or into a new one; it becomes that of the run."""
        best, settings = self.best, self.settings
        rate = RATES[best_kind(best.best)] if best is not None and best.best is not None else settings.learning_rate
        self.settings = gd_settings(settings, rate, best.name if best is not None else "none")
        learner = learner or self._given(self.settings, WeightScale())
        if best is None:
            intercept: float | None = load_intercept(learner, self._constant(), self._examples)
        else:
            dense = self.dense if best.name == "center" else ()
            intercept = load(learner, best, self.weights_as, dense, self._examples)
        self.intercepts = () if intercept is None else (intercept,)
        self.learner = learner
        return learner

    def _snapshot(self, interrupted: bool) -> "Model":
        model = super()._snapshot(interrupted)
        if self.intercepts and len(model.keys):
            at = model.records * bisect_left(model.keys, self.learner.expander.constant_key or 0)
            for k, intercept in enumerate(self.intercepts):
                model.weights[at + k] = intercept  # large if labels or values have an offset: all digits count
        return replace(model, chosen=self.chosen(), passes=self._passes_of_best())

    def _passes_of_best(self) -> list[dict[str, float | None]]:
        """The losses of the passes of what was chosen, for the model."""
        if self.best is None or self.stream is not None or len(self.best.passes) < 2:
            return []
        kind = "out-of-fold" if self.validation is None else "validation"
        return [{"pass": x.number, kind: self._reported(min(x.stacked, min(x.losses)))} for x in self.best.passes]

    def chosen(self) -> dict[str, Any]:
        """What the model is made of, for its header and the report."""
        scale = self.labels_as.loss_scale
        found: dict[str, Any] = {"baseline": self.baseline * scale} | self._data()
        if self.best is None or self.best.best is None:
            return found | {"model": "intercept"}
        result = self.best.best
        kind = "progressive" if self.stream is not None else "out-of-fold" if self.validation is None else "validation"
        return found | {
            "normalize": self.best.name, "pass": result.number, "passes": self.passes_used,
            "weights": dict(zip(COLUMNS, result.u, strict=True)), "loss": result.loss * scale,
            "loss is": f"{kind} {called(self.settings.loss)}",
        }

    def _data(self) -> dict[str, str]:
        """A digest of the examples, which does not depend on how they are split into files and written there. Without,
        if a stream was longer than what is kept of it."""
        if self.stream is not None:
            return {}
        s, found = self.summary, blake2b(digest_size=16)
        for part in (s.labels, s.importances, s.initials, s.contents):
            found.update(part)
        return {"data": found.hexdigest()}

    def more_for_report(self) -> dict[str, Any]:
        passes = []
        for c in self.candidates:
            for result in c.passes:
                losses = dict(zip(COLUMNS, map(self._reported, result.losses), strict=True))
                stack = {"stacked": self._reported(result.stacked), "weights": result.u}
                passes.append({"normalize": c.name, "pass": result.number, "losses": losses, **stack})
        return {"chosen": self.chosen(), "candidates": passes}

    def _reported(self, loss: float) -> float | None:
        """A loss of labels as they are; None if it is not finite, as JSON has no such number."""
        found = loss * self.labels_as.loss_scale
        return found if math.isfinite(found) else None

    # --- what is said ------------------------------------------------------------------------

    def measures(self, tally: Tally) -> dict[str, Any]:
        """With the best constant of all labels of files, where the tally has a sample of them."""
        found, name = super().measures(tally), "average loss" + BASELINE
        of_all = not (self._has_begun or self.validation is not None or self.summary.has_initial)
        if name in found and self.settings.loss in ROBUST and self.settings.constant and of_all:
            found[name] = self._constant_loss_of(self.summary) * self.labels_as.loss_scale
        return found

    def results(self) -> dict[str, Any]:
        found = super().results()
        lines: dict[str, Any] = {"number of examples": found.pop("number of examples")}
        lines["passes used"] = self.passes_used
        if self.best is not None:
            lines["chosen"] = described(self.best, self.chosen())
        elif self.summary.examples:
            lines["chosen"] = "the intercept alone: nothing predicts better than a constant"
        found.pop("passes used", None)
        if self.validation is not None:
            found = {name.replace("holdout ", "validation "): value for name, value in found.items()}
        elif self.stream is None:
            measures = ("average loss", "accuracy", "auc", "log loss", "confusion matrix")
            found = {f"out-of-fold {k}" if k.startswith(measures) else k: value for k, value in found.items()}
        return lines | found

    def _judged_on(self) -> str:
        if self.validation is not None:
            return "on rows of --validate"
        if self.stream is not None:
            return "on rows before they were learned"
        return "on rows not learned" if self.best is not None else "on rows learned"

    def _how(self) -> list[str]:
        if self.best is None or self.best.best is None:
            return ["the intercept alone: nothing predicts better than a constant"]
        passes = count_of_passes(self.passes_used, self.best.best.number)
        return [normalization(self.best.name), passes, update_of(self.best.best)]

    def notes(self) -> Notes:
        return together(
            about_options(self.settings, self.namespaces, self.learner.expander.unseen),
            about_labels(self.settings, self.learner, loss_typed="loss" in self.options.typed),
            about_names(self.feature_names) if self.feature_names is not None else ({}, []),
            ({}, [*self.hints, *self._doubts()]),
        )

    def _doubts(self) -> Iterator[str]:
        """Why the loss of the summary may not be that of other examples."""
        n, best = self._examples, self.best
        if best is not None and best.best is not None and best.best.loss >= self.baseline:
            yield "on examples that took no part in its choice, the model is no better than the best constant"
        if 0 < n < FEW and self.validation is None:
            yield f"only {n} example{'s' * (n > 1)}: the loss on new data may be far from the one above"

    def _print_title(self) -> None:
        """Nothing: the table has a row for each pass, and its title comes with the first one."""


def line_after(batch: Batch, examples: int) -> int | None:
    """The line after so many examples of a batch; None if it has fewer."""
    if examples > len(batch):
        return None
    for line, kind in enumerate(batch.kind):
        examples -= kind == EXAMPLE
        if examples == 0:
            return line + 1
    return None


def log(x: float) -> float:
    """The natural logarithm, with the same bits everywhere."""
    found = array("d", [x])
    each("log", found, found)
    return found[0]
