"""What `--algorithm auto`, `--sparse` and `vwlite tune` learn from: the data, read once; their summary; the loss that
their labels choose; and how these are learned."""

import math
import os
from abc import abstractmethod
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from vwlite.algorithms.labels import MOST, WORDS, choose, maps_labels
from vwlite.core.auto.robust import ScaledHuber, least_slope
from vwlite.core.auto.screening import class_residuals, residuals, row_log_losses, row_losses
from vwlite.core.auto.softmax_stack import constant_loss, importance_of_classes
from vwlite.core.auto.summary import DataSummary
from vwlite.core.base.elementary import each
from vwlite.core.base.elementary import power as power_of
from vwlite.core.data.batch import Batch
from vwlite.core.data.class_names import ClassNames
from vwlite.core.data.normalize import Normalizer
from vwlite.core.learn.labels import best_constant
from vwlite.core.learn.losses import Loss, Quantile
from vwlite.errors import DataError, UsageError
from vwlite.input.diagnostics import BadLine
from vwlite.input.parsing import EXAMPLE, Parsed, SourceText
from vwlite.model.learners import make_expander, make_loss
from vwlite.output.text import label_text
from vwlite.runs.baseline import LARGEST_SCORE
from vwlite.runs.options import TrainOptions
from vwlite.training.auto.data import DrawnExamples
from vwlite.training.auto.model import WeightScale
from vwlite.training.auto.selection import RARER, Drawn, LabelScale
from vwlite.training.auto.stream import KEPT_BYTES, KEPT_EXAMPLES, Stream
from vwlite.training.trainer import Examples, Job, Listener

if TYPE_CHECKING:
    from vwlite.training.auto.readable import ColumnNames

FEWEST = 8  # examples of the rarer class that folds need
LARGE = 1 << 32  # bytes of files that are read only once
SMALL = 1 << 16  # bytes of files whose examples are kept in memory
PLACES = 5  # different labels whose first lines an error names
SCALED = ("squared", "quantile", "huber")  # losses whose labels are learned around 0, with a standard deviation of 1
ROBUST = ("quantile", "huber")  # those whose best constant is not a mean, and that outliers shall not decide
SPREAD = 3.0  # times the median distance from the best constant, in place of a larger standard deviation
LARGEST_LABEL = 1e38  # of these losses: weights are floats


def learnable(batch: Batch) -> Any:
    """Which lines of a batch can be learned: those that a summary counts."""
    import numpy as np

    return (np.asarray(batch.kind) == EXAMPLE) & ~np.isnan(batch.label) & (np.asarray(batch.importance) > 0)


def is_large(files: Sequence[str]) -> bool:
    """Whether the data are files of which a cache would be very large."""
    return sum(os.path.getsize(path) for path in files if os.path.isfile(path)) > LARGE


def is_small(files: Sequence[str]) -> bool:
    """Whether the data are files that are kept in memory: that is faster than a cache."""
    return bool(files) and all(map(os.path.isfile, files)) and sum(map(os.path.getsize, files)) <= SMALL


def with_label_words(job: Job, typed: Mapping[str, Any]) -> Job:
    """What training begins with, for data whose labels may be two words that nobody named. typed: settings."""
    if not maps_labels(job.resolved.settings, typed):
        return job
    return job._replace(known=replace(job.known, classes=ClassNames(WORDS, grows=True), or_numbers=True))


@contextmanager
def _overflow_as_error() -> Iterator[None]:
    """DataError for what the engine cannot count."""
    try:
        yield
    except OverflowError as e:
        raise DataError(str(e)) from None


class LearningInPasses(Protocol):
    """What learns data that can be read again."""

    stopped: bool

    @abstractmethod
    def learn_in_passes(self, counts: list[int], load_batch: Callable[[int], Batch]) -> None:
        """counts: examples that can be learned in each batch."""


class Learning(LearningInPasses, Protocol):
    """What learns a stream, too."""

    @property
    @abstractmethod
    def has_begun(self) -> bool:
        """Whether the stream is longer than what is kept, and learned as it comes."""

    @abstractmethod
    def begin(self, batches: Sequence[Batch]) -> None:
        """Learn the first examples."""

    @abstractmethod
    def learn(self, batch: Batch) -> None:
        """Learn more examples."""

    @abstractmethod
    def end(self) -> None:
        """There are no more."""


class AutoData:
    """The data. Files are read once, then learned in passes; of a reading that a signal ends, the first examples are
    learned like a stream. A stream is learned as it comes, after its first examples; one that has no more examples is
    learned like a file."""

    summary: DataSummary  # of the examples that can be learned; of a stream, of the first ones
    sample: DataSummary | None = None  # of a stream: of a sample of all its examples
    stream: Stream | None = None  # that has counted all examples, if they are learned as they come
    validation: Drawn | None = None  # the file of --validate
    validation_batches: Sequence[Batch] = ()
    baseline: float = 0.0  # the loss of the best constant prediction, for labels as they are learned
    labels_as = LabelScale()
    weights_as = WeightScale()
    width = 1  # scores of an example
    _rarer: tuple[DataSummary, int, int] | None = None  # of a summary with so many examples
    _constant: tuple[DataSummary, int, float] | None = None  # the same; it takes time
    in_passes = False  # standard input, too

    def __init__(self, o: TrainOptions, job: Job, source: Examples, listener: Listener) -> None:
        self.options, self.source, self.listener = o, source, listener
        self.once = self._reads_once(job.data.files) and not self.in_passes
        self.settings, self.names = job.resolved.settings, job.known.features
        self.label_words = job.known.classes  # if labels are mapped
        if o.group is not None and self.once:
            raise UsageError("--group needs folds, and so several passes: name files, and leave --passes 1 out")
        self.maps_labels = job.known.or_numbers
        self.chooses_loss = self.maps_labels and "loss" not in o.typed
        self._in_batches: tuple[float, float] | None = None  # labels of batches that become -1 and 1
        self._label_places: dict[float, str] = {}  # where the first different ones are, as ends of words
        self.summary = self.new_summary()
        self.first_batches: list[Batch] = []  # of a stream, before it is learned; of files, while they are read
        self.counts: list[int] = []  # examples that can be learned in each of them
        self.hints: list[str] = []  # notes
        self.column_names: ColumnNames | None = None  # of tables
        typed = "derive" in o.given and o.derive != "none"
        if typed and not source.may_be_table:
            raise UsageError("--derive is for columns of tables: name the one of the labels with --label")
        if source.may_be_table:
            from vwlite.training.auto import readable

            self.column_names = readable.ColumnNames()
            source.logs = True
        if self.derives:
            from vwlite.derived import Derived

            # None so far; batches have zeros, and n-grams of texts
            self.settings = replace(self.settings, derived=Derived())
            source.derives = True
            source.tries_ngrams = "ngram" not in o.given and not (self.settings.interactions or self.settings.crosses)
            self.summary = self.new_summary()

    def _reads_once(self, files: Sequence[str]) -> bool:
        """Whether the data are read once only."""
        o = self.options
        if "passes" in o.given or o.validate is not None:
            return "passes" in o.given and o.passes == 1
        return not self.source.can_be_read_again or is_large(files)

    @property
    def derives(self) -> bool:
        """Whether features are derived from the columns of tables."""
        o = self.options
        return o.derive != "none" and o.sparse is None and self.source.may_be_table

    def new_summary(self) -> DataSummary:
        return DataSummary(make_expander(self.settings, Normalizer()), grouped=self.options.group is not None)

    # --- reading -----------------------------------------------------------------------------

    def read(self, learning: Learning) -> None:
        """Read all, and have it learned. DataError."""
        if not self.once:
            self.read_files(learning)
            if self.first_batches and not self.in_passes:
                learning.begin(self._chosen_for(self.first_batches))
                learning.end()
            return
        self.source.keeps_batches = False
        self.source.keeps_text = self.maps_labels and self.options.rejects is not None
        self.source.open()
        with _overflow_as_error():
            self._read_stream(learning)

    def read_files(self, learning: LearningInPasses) -> None:
        """The same, of data that are read again, or kept."""
        source, o = self.source, self.options
        kept: list[Batch] | None = [] if o.cache_path is None and is_small(o.data) else None
        source.keeps_batches, source.keeps_text = kept is None, False
        source.reads_more = o.validate is not None
        source.open()
        with _overflow_as_error():
            self.first_batches = kept if kept is not None else []
            counts = self._read(learning, keeps_all=kept is not None)
            if not learning.stopped:
                self.first_batches = []
            self._choose_loss()
            if o.validate is not None and not learning.stopped:
                self._read_validation(learning, o.validate)
            if source.reads_more:
                source.end()
            if learning.stopped:
                return
            if kept is not None:
                learning.learn_in_passes(counts, self._chosen_for(kept).__getitem__)
            else:
                learning.learn_in_passes(counts, lambda number: self._mapped(source.batch(number)))

    def _read(self, learning: LearningInPasses, *, keeps_all: bool) -> list[int]:
        """Read the data once; the number of examples that can be learned in each batch. The first batches are kept, or
        all."""
        counts = []
        with self.source.batches(lambda: learning.stopped) as batches:
            for parsed in self._taken(batches, learning):
                is_first = self.summary.examples < KEPT_EXAMPLES and self.summary.bytes < KEPT_BYTES
                counts.append(self._counted(self.summary, parsed.batch))
                if keeps_all or is_first:
                    self.first_batches.append(parsed.batch.part(0, len(parsed.batch)))
        return counts

    def _counted(self, summary: DataSummary, batch: Batch) -> int:
        """Add a batch to a summary; the number of examples that can be learned."""
        before = summary.examples
        for line, kind in enumerate(batch.kind if self.options.group is not None else ()):
            if kind == EXAMPLE and not batch.tag(line):
                where = f"{batch.source}:{batch.line_number(line)}:1: column {self.options.group}"
                raise DataError(f"{where}: an empty cell, and each row needs a group")
        summary.take(batch)
        self._place_labels(batch)
        return int(summary.examples - before)

    def _read_validation(self, learning: LearningInPasses, path: str) -> None:
        """Read the examples that the model is chosen by."""
        batches, counts = [], []
        summary = self.new_summary()
        with self.source.batches_of((path,), lambda: learning.stopped) as found:
            for parsed in found:
                self.listener.on_bad(parsed.bad)
                counts.append(self._counted(summary, self._mapped(parsed.batch)))
                batches.append(parsed.batch.part(0, len(parsed.batch)))
        if not summary.examples and not learning.stopped:
            raise DataError(f"{path}: no example with a label, so that it validates nothing")
        self.validation = Drawn(summary, DrawnExamples.of(summary, counts, batches.__getitem__))
        self.validation_batches = batches

    def _taken(self, batches: Iterator[Parsed], learning: LearningInPasses) -> Iterator[Parsed]:
        """The batches of the first reading, until it is stopped."""
        examples = 0
        for parsed in batches:
            if self.names is not None:
                self.names.take(parsed.names)
            if self.column_names is not None:
                self.column_names.take(parsed.log, self.settings.hash == "all")
            examples += len(parsed.batch)
            yield parsed
            self.listener.on_read(parsed, examples)
            if learning.stopped:
                break
        self.listener.on_end_of_data()

    # --- a stream ----------------------------------------------------------------------------

    def _read_stream(self, learning: Learning) -> None:
        """Keep the first examples, then learn one by one; a stream that ends before is learned like a file."""
        with self.source.batches(lambda: learning.stopped) as batches:
            for parsed in self._taken(batches, learning):
                self.take(parsed.batch, learning, parsed.source)
        if not learning.has_begun and (learning.stopped or "passes" in self.options.given):
            learning.begin(self._chosen_for(self.first_batches))
        if not learning.has_begun:
            learning.learn_in_passes(self.counts, self._chosen_for(self.first_batches).__getitem__)
        elif self.summary.examples:
            learning.end()

    def take(self, batch: Batch, learning: Learning, text: SourceText | None = None) -> None:
        """Keep a batch of a stream, or have it learned. text: that it was parsed from, if it is known."""
        begin = 0
        if not learning.has_begun:
            before = self.summary.examples
            self._place_labels(batch)
            begin = self.summary.take(batch, 0, KEPT_EXAMPLES, KEPT_BYTES)
            self.first_batches.append(batch.part(0, begin))
            self.counts.append(self.summary.examples - before)
            if begin == len(batch):
                return
            learning.begin(self._chosen_for(self.first_batches))
            self.first_batches, self.counts = [], []
        batch = self._mapped(batch, text)
        learning.learn(batch.part(begin, len(batch)) if begin else batch)

    def begin_apart(self, learning: Learning) -> None:
        """Have the first examples learned by a copy, whose labels may be mapped while these are not."""
        found = self.first_batches
        if self.maps_labels:
            self.summary = self.new_summary()
            found = [batch.part(0, len(batch)) for batch in found]
            for batch in found:
                self.summary.take(batch)
        learning.begin(self._chosen_for(found))

    def _chosen_for(self, kept: list[Batch]) -> list[Batch]:
        """The first examples, after the loss is chosen by their labels."""
        self._choose_loss()
        return [self._mapped(batch) for batch in kept]

    # --- the loss ----------------------------------------------------------------------------

    def _place_labels(self, batch: Batch) -> None:
        """Remember where the first different labels are, for the error about those that a given loss cannot use."""
        places = self._label_places
        if not self.maps_labels or self.chooses_loss or len(places) >= PLACES:
            return
        for line, (kind, label) in enumerate(zip(batch.kind, batch.label, strict=True)):
            if kind == EXAMPLE and label == label and label not in places and len(places) < PLACES:
                places[label] = f" ({batch.source}:{batch.line_number(line)})"

    def _choose_loss(self) -> None:
        """Choose the loss by the labels so far, unless it is given, and say so; map labels for it."""
        if not self.maps_labels or not self.summary.examples:
            return
        assert self.label_words is not None
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
            settings = replace(settings, link=settings.outputs.usual_link)
        settings.outputs.check_link()
        self.settings = settings
        self._in_batches = choice.in_batches
        if self._in_batches is not None:
            self.summary.map_labels(self._in_batches[0])
        if choice.note:
            self.hints.append(choice.note)
        if self.chooses_loss or choice.labels is not None:
            self.listener.say(f"loss = {choice.loss}, {choice.why}")

    def _mapped(self, batch: Batch, text: SourceText | None = None) -> Batch:
        """A batch with labels as they are learned. Lines with others than those that the loss was chosen by are bad."""
        if self._in_batches is None:
            return batch
        values = array("d", batch.label)
        for line in batch.map_labels(*self._in_batches):
            expected = " or ".join(label_text(self.settings.outputs.label_of(y)) for y in (-1, 1))
            why = f"label {values[line]:g}: expected {expected}, as in the first examples; --loss and --labels set it"
            found = text.lines_of(batch, [line])[0] if text is not None else b""
            self.listener.on_bad([BadLine(batch.source, batch.line_number(line), 1, why, found)])
        return batch

    # --- how labels are learned --------------------------------------------------------------

    @property
    def examples(self) -> int:
        """Examples that are learned in a pass."""
        return int(self.summary.examples) if self.stream is None else self.stream.examples

    @property
    def judged(self) -> DataSummary:
        """Of the examples by which models are chosen."""
        return self.summary if self.validation is None else self.validation.summary

    @property
    def is_scarce(self) -> bool:
        """Whether folds would be of too few examples of a class."""
        n = int(self.summary.examples)
        if self.validation is not None:
            return False
        if self.settings.loss != "logistic":
            return 0 < n < FEWEST
        return 0 < int(self.summary.rarer()) < FEWEST

    @property
    def rarer(self) -> int:
        """How many examples have another label than the most frequent one; 0 if a class has too few."""
        if self._rarer is None or self._rarer[:2] != (self.summary, self.summary.examples):
            self._rarer = self.summary, int(self.summary.examples), self._count_labels()
        return self._rarer[2]

    def _count_labels(self) -> int:
        return int(self.summary.rarer())

    def scale_labels(self) -> None:
        """Set how labels are learned, and the loss of the best constant; how the weights become those of the labels."""
        settings, summary = self.settings, self.summary
        if settings.loss in SCALED:
            mean, deviation = summary.moments()
            shift = mean if settings.constant else 0.0
            scale = math.sqrt(deviation**2 + (mean - shift) ** 2) or 1.0
            if settings.loss in ROBUST:
                shift = self.constant()
                middle = best_constant(Quantile(0.5), summary.residuals(shift, absolute=True), summary.importances)
                scale = min(scale, SPREAD * middle) if middle else scale
            if not abs(shift) + scale <= LARGEST_LABEL:
                raise DataError(f"labels beyond {LARGEST_LABEL:g} cannot be learned: scale them")
            slopes = {"squared": scale, "quantile": 1.0, "huber": scale * least_slope(settings.huber_delta / scale)}
            self.labels_as = LabelScale(shift, scale, scale, scale * slopes[settings.loss])
            self.weights_as = WeightScale(scale, shift, slopes[settings.loss])
        elif power := make_loss(settings).power:
            rate = summary.rate(power) if settings.constant else 1.0
            if not rate <= math.exp(make_loss(settings).largest_p):
                raise DataError(f"a mean of the labels of {rate:g} cannot be predicted: scale the labels")
            scale = rate or 1.0
            slope = power_of(scale, 2 - power)
            self.labels_as = LabelScale(scale=scale, loss_scale=slope)
            self.weights_as = WeightScale(shift=log(scale), slope=slope)
        self.baseline = self.constant_loss()

    def learned_loss(self) -> Loss:
        """The loss of labels as they are learned."""
        if self.settings.loss == "huber":
            return ScaledHuber(self.settings.huber_delta / self.labels_as.scale)
        return make_loss(self.settings)

    def constant_loss(self) -> float:
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
            return self.constant_loss_of(summary)
        return stream.constant_loss(self.as_learned(self.constant()))

    def constant_loss_of(self, summary: DataSummary) -> float:
        loss, labels = self.learned_loss(), self.labels_as
        constant = self.as_learned(self.constant())
        return float(summary.constant_loss(loss, constant, labels.mean, labels.scale, labels.initial_scale)[0])

    def row_losses(self, scores: Any, labels: Any) -> Any:
        """Of each row, by its score and its label as they are learned."""
        return row_losses(self.learned_loss(), scores, labels)

    def derivatives(self, scores: Any, labels: Any, weights: Any, unit: float = 0.0) -> tuple[Any, Any, float]:
        """The residuals and the second derivatives at these scores, and the unit of residuals. unit: that of other
        ones."""
        first, second, unit = residuals(self.learned_loss(), self.settings.loss, scores, labels, weights, unit)
        return first, second, unit

    def as_learned(self, score: float) -> float:
        return (score - self.weights_as.shift) / self.weights_as.scale

    @property
    def best_constants(self) -> Sequence[float]:
        """The best constant score; of each quantile."""
        return [self.constant()]

    def constant(self) -> float:
        """The best constant score; that of the mean of several quantiles."""
        summary = self.sample or self.summary
        if not self.settings.constant or not summary.examples:
            return 0.0
        if self.stream is not None and not summary.has_initial:
            return self._constant_of(summary)
        if self._constant is None or self._constant[:2] != (summary, summary.examples):
            self._constant = summary, int(summary.examples), self._constant_of(summary)
        return self._constant[2]

    def _constant_of(self, summary: DataSummary) -> float:
        settings = self.settings
        if settings.loss in ROBUST:
            if self.stream is not None and not summary.has_initial:
                return self.stream.best_constant
            return float(best_constant(make_loss(settings), summary.residuals(), summary.importances))
        power = make_loss(settings).power
        if summary.has_initial or self.stream is None:
            mean = summary.rate(power) if power else summary.moments()[0]
        else:
            mean = self.stream.mean_label
        if settings.loss == "squared":
            return float(mean)
        if power:
            return log(mean) if mean > 0 else -LARGEST_SCORE
        if summary.has_initial:
            return self._constant_with_initial(summary)
        share = (1 + mean) / 2
        # Of one label alone, the other has the probability (0 + 1/2) / (n + 1) for n examples.
        return log(share / (1 - share)) if 0 < share < 1 else math.copysign(log(2 * self.examples + 1), mean)

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


class ClassData(AutoData):
    """Data with several classes. Standard input is cached, as everything is learned in passes."""

    constants: Any = ()  # the best constant scores of the classes with a name
    is_scarce = False  # folds are good for them, however few there are
    in_passes = True

    def __init__(self, o: TrainOptions, job: Job, source: Examples, listener: Listener) -> None:
        super().__init__(o, job, source, listener)
        self._class_names: ClassNames = job.learner.class_names

    def _count_labels(self) -> int:
        rarest = min(Counter(self.summary.labels).values(), default=0)
        return super()._count_labels() if rarest >= RARER else 0

    def scale_labels(self) -> None:
        """Find the classes and the best constant scores, and set the log loss of these."""
        self.width = len(self._class_names)
        self.constants = array("d", bytes(8 * self.width))
        if not self.width:
            return
        weights = self._weights_of(self.summary)
        total = sum(weights)
        if self.settings.constant and total:
            self.constants = array("d", (log(x / total) if x else -LARGEST_SCORE for x in weights))
        judged = weights if self.validation is None else self._weights_of(self.validation.summary)
        is_one = total in weights and self.settings.constant
        if is_one and total:  # the others have (0 + 1/2) / (n + k / 2) of n examples of k classes
            self.constants = array("d", (log(self.examples + 0.5 if x else 0.5) for x in weights))
        self.baseline = 0.0 if is_one else constant_loss(self.constants, judged)

    def row_losses(self, scores: Any, labels: Any) -> Any:
        return row_log_losses(scores, labels)

    def derivatives(self, scores: Any, labels: Any, weights: Any, unit: float = 0.0) -> tuple[Any, Any, float]:
        return *class_residuals(scores, labels, weights), 1.0

    def _weights_of(self, summary: DataSummary) -> Any:
        """The importance of each class."""
        return importance_of_classes(summary.labels, summary.importances, self.width)


def log(x: float) -> float:
    """The natural logarithm, with the same bits everywhere."""
    found = array("d", [x])
    each("log", found, found)
    return found[0]
