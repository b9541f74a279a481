"""The data of `--algorithm auto`, `--sparse` and `vwlite tune`: their summary, and the scale of their labels."""

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vwlite.algorithms.labels import MOST, choose
from vwlite.algorithms.losses import loss_function
from vwlite.algorithms.settings import Settings
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
from vwlite.input.parsing import EXAMPLE, SourceText
from vwlite.model.learners import make_expander, make_loss
from vwlite.output.text import label_text
from vwlite.runs.baseline import LARGEST_SCORE
from vwlite.runs.source import DataNames
from vwlite.training.auto.model import WeightScale
from vwlite.training.auto.selection import RARER, Drawn, LabelScale, are_many
from vwlite.training.auto.stream import Stream
from vwlite.training.trainer import Examples, Job, Listener

if TYPE_CHECKING:
    from vwlite.derived import Derived
    from vwlite.training.auto.readable import ColumnNames

PLACES = 5  # an error names the first lines of so many different labels
FEWEST = 8  # examples of the rarer class; with fewer there are no folds
# Losses whose labels are scaled to mean 0 and standard deviation 1
SCALED = ("squared", "quantile", "huber", "expectile")
ROBUST = ("quantile", "huber")  # whose scale must not depend on outliers
SPREAD = 3.0  # their scale is at most this times the median distance from the best constant
LARGEST_LABEL = 1e38  # of scaled labels: weights are 32-bit floats


class LossChoice:
    """Chooses the loss if none is given, and which two labels become -1 and 1. typed: the options of the command line.
    weighs_classes: labels must be classes."""

    def __init__(self, known: DataNames, typed: Mapping[str, Any], *, weighs_classes: bool) -> None:
        self._words, self._typed, self._weighs_classes = known.classes, typed, weighs_classes
        self.is_open = known.or_numbers  # labels will be mapped; how, is not known yet
        self.chooses_loss = self.is_open and "loss" not in typed
        self.notes = ("", "")  # on the labels; and if they are learned as counts
        self.in_batches: tuple[float, float] | None = None  # the labels in batches that become -1 and 1
        self._places: dict[float, str] = {}  # by label: " (file:line)" of its first example

    def place_labels(self, batch: Batch) -> None:
        """Note the lines of the first different labels, for the error about labels that a given loss cannot use."""
        places = self._places
        if not self.is_open or self.chooses_loss or len(places) >= PLACES:
            return
        for line, (kind, label) in enumerate(zip(batch.kind, batch.label, strict=True)):
            if kind == EXAMPLE and label == label and label not in places and len(places) < PLACES:
                places[label] = f" ({batch.source}:{batch.line_number(line)})"

    def chosen(self, settings: Settings, summary: DataSummary, say: Callable[[str], None]) -> tuple[Settings, str]:
        """Choose the loss by the labels so far, and map them. Returns the settings with the loss, and a note."""
        assert self._words is not None
        self.is_open = False
        choice = choose(summary.distinct_labels(MOST), self._words.first(len(self._words)))
        if not self.chooses_loss and choice.loss != "logistic":
            labels = summary.distinct_labels(MOST)
            said = ", ".join(label_text(label) + self._places.get(label, "") for label in labels)
            raise DataError(f"labels are {said}, but --loss logistic needs -1 and 1, or 0 and 1: add --labels NEG,POS")
        if self._weighs_classes and choice.loss != "logistic":
            raise DataError(f"--class-weight needs labels that are classes: {choice.why}; name two with --labels, or "
                            "several with --oaa")
        settings = replace(settings, loss=choice.loss, labels=choice.labels)
        if "link" not in self._typed:
            settings = replace(settings, link=settings.outputs.usual_link)
        settings.outputs.check_link()
        self.in_batches = choice.in_batches
        if self.in_batches is not None:
            summary.map_labels(self.in_batches[0])
        if self.chooses_loss or choice.labels is not None:
            say(f"loss = {choice.loss}, {choice.why}")
        self.notes = choice.note, choice.note_on_counts
        return settings, choice.note

    def mapped(self, batch: Batch, settings: Settings, text: SourceText | None = None) -> Iterator[BadLine]:
        """Map the labels of a batch in place. Lines with other labels than the two are bad lines. text: the text of the
        batch, if known."""
        if self.in_batches is None:
            return
        values = array("d", batch.label)
        for line in batch.map_labels(*self.in_batches):
            expected = " or ".join(label_text(settings.outputs.label_of(y)) for y in (-1, 1))
            why = f"label {values[line]:g}: expected {expected}, as in the first examples; --loss and --labels set it"
            found = text.lines_of(batch, [line])[0] if text is not None else b""
            yield BadLine(batch.source, batch.line_number(line), 1, why, found)


class AutoData:
    """The examples as far as they are known, and how their labels are scaled for learning."""

    summary: DataSummary  # of all examples that can be learned; for a stream, of the first ones
    given: DataSummary | None = None  # if features are derived: the summary without them
    sample: DataSummary | None = None  # for a stream: of a sample of all its examples
    stream: Stream | None = None  # counts all examples of a stream
    validation: Drawn | None = None  # the file of --validate
    validation_batches: Sequence[Batch] = ()
    baseline: float = 0.0  # the loss of the best constant prediction, for scaled labels
    labels_as = LabelScale()
    weights_as = WeightScale()
    width = 1  # scores of an example
    # The last result of `rarer` and of `constant`, which take time, with its summary and the number of examples there
    _rarer: tuple[DataSummary, int, int] | None = None
    _constant: tuple[DataSummary, int, float] | None = None
    in_passes = False  # whether standard input is learned in passes, too

    def __init__(self, job: Job, source: Examples, listener: Listener) -> None:
        self.options = o = job.options
        self.files, self.source, self.listener = job.data.files, source, listener
        self.settings, self.names = job.resolved.settings, job.known.features
        self.choice = LossChoice(job.known, o.typed, weighs_classes=o.class_weight is not None)
        self.summary = self.new_summary()
        self.first_batches: list[Batch] = []  # of a stream before it is learned, or of files while they are read
        self.counts: list[int] = []  # by first batch: how many examples can be learned
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

            # No column so far: batches keep zeros, and have n-grams of texts
            self.settings = replace(self.settings, derived=Derived())
            source.derives = True
            source.tries_ngrams = "ngram" not in o.given and not (self.settings.interactions or self.settings.crosses)
            self.summary = self.new_summary()

    @property
    def derives(self) -> bool:
        """Whether features are derived from the columns of tables."""
        o = self.options
        return o.derive != "none" and self.source.may_be_table

    def new_summary(self) -> DataSummary:
        return DataSummary(make_expander(self.settings, Normalizer()), grouped=self.options.group is not None)

    def summary_of(self, batches: Iterable[Batch]) -> DataSummary:
        """A new summary of these batches."""
        found = self.new_summary()
        for batch in batches:
            found.take(batch)
        return found

    @property
    def examples(self) -> int:
        """The number of examples of a pass."""
        return int(self.summary.examples) if self.stream is None else self.stream.examples

    @property
    def judged(self) -> DataSummary:
        """The summary of the examples whose losses choose the model."""
        return self.summary if self.validation is None else self.validation.summary

    @property
    def has_two_labels(self) -> bool:
        """Whether the loss is the log loss of two labels."""
        return self.settings.loss == "logistic" and self.width == 1

    @property
    def is_large(self) -> bool:
        """Whether a tenth of the examples is enough to compare models."""
        return self.stream is None and are_many(self.summary.examples, self.rarer)

    @property
    def is_scarce(self) -> bool:
        """Whether folds would have too few examples of a class."""
        n = int(self.summary.examples)
        if self.validation is not None:
            return False
        if self.settings.loss != "logistic":
            return 0 < n < FEWEST
        return 0 < int(self.summary.rarer()) < FEWEST

    @property
    def rarer(self) -> int:
        """The number of examples without the most frequent label; 0 if a class has too few."""
        if self._rarer is None or self._rarer[:2] != (self.summary, self.summary.examples):
            self._rarer = self.summary, int(self.summary.examples), self._count_labels()
        return self._rarer[2]

    def _count_labels(self) -> int:
        return int(self.summary.rarer())

    def scale_labels(self) -> None:
        """Set the scale of labels, how weights are scaled back, and the loss of the best constant."""
        settings, summary = self.settings, self.summary
        if settings.loss in SCALED:
            mean, deviation = summary.moments()
            shift = mean if settings.constant else 0.0
            scale = math.sqrt(deviation**2 + (mean - shift) ** 2) or 1.0
            shift = self.constant() if make_loss(settings).keeps_labels else shift
            if settings.loss in ROBUST:
                middle = best_constant(Quantile(0.5), summary.residuals(shift, absolute=True), summary.importances)
                scale = min(scale, SPREAD * middle) if middle else scale
            if not abs(shift) + scale <= LARGEST_LABEL:
                raise DataError(f"labels beyond {LARGEST_LABEL:g} cannot be learned: scale them")
            slopes = {"quantile": 1.0, "huber": scale * least_slope(settings.huber_delta / scale)}
            slope = slopes.get(settings.loss, scale)
            self.labels_as = LabelScale(shift, scale, scale, scale * slope)
            self.weights_as = WeightScale(scale, shift, slope)
        elif power := make_loss(settings).power:
            rate = summary.rate(power) if settings.constant else 1.0
            if not rate <= math.exp(make_loss(settings).largest_p):
                raise DataError(f"a mean of the labels of {rate:g} cannot be predicted: scale the labels")
            scale = rate or 1.0
            slope = power_of(scale, 2 - power)
            self.labels_as = LabelScale(scale=scale, loss_scale=slope)
            self.weights_as = WeightScale(shift=log(scale), slope=slope)
        self.baseline = self.constant_loss()

    def range_of_scores(self) -> tuple[float, float]:
        """The range to which predictions are clipped: that of the labels, or of their logarithms if a score is the
        logarithm of a mean; where labels may be 0, a mean has no least one. Initial predictions are then exposures, and
        those of later rows may be larger: with these labels are no bounds."""
        low, high = loss_function(self.settings.loss).first_range
        labels = self.summary.labels
        if not make_loss(self.settings).power:
            return min(low, min(labels, default=low)), max(high, max(labels, default=high))
        largest = max(labels, default=0.0)
        if self.summary.has_initial or largest <= 0:
            return low, high
        is_positive = loss_function(self.settings.loss).labels == "positive"
        return log(min(labels)) if is_positive else low, log(largest)

    def check_baseline(self) -> None:
        """DataError if the loss of the best constant is not finite: no loss can be compared with it."""
        if not math.isfinite(self.baseline):
            raise DataError("the loss of the best constant is not finite: importances of examples are too large")

    def forget_labels(self) -> None:
        """Forget what is known of the labels, which are others now, or have another loss."""
        self._rarer = self._constant = None

    def learned_loss(self) -> Loss:
        """The loss function for scaled labels."""
        if self.settings.loss == "huber":
            return ScaledHuber(self.settings.huber_delta / self.labels_as.scale)
        return make_loss(self.settings)

    def constant_loss(self) -> float:
        """The loss of the best constant, for scaled labels."""
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
        """The loss of each row, by its score and its scaled label."""
        return row_losses(self.learned_loss(), scores, labels)

    def derivatives(self, scores: Any, labels: Any, weights: Any, unit: float = 0.0) -> tuple[Any, Any, float]:
        """The residuals and the second derivatives at these scores, and the unit of residuals. unit: to use the unit of
        other residuals."""
        first, second, unit = residuals(self.learned_loss(), self.settings.loss, scores, labels, weights, unit)
        return first, second, unit

    def as_learned(self, score: float) -> float:
        return (score - self.weights_as.shift) / self.weights_as.scale

    def of_labels(self, scores: Any) -> Any:
        """Scores in the unit of the labels, from scores for scaled labels."""
        return array("d", (p * self.weights_as.scale + self.weights_as.shift for p in scores))

    @property
    def best_constants(self) -> Sequence[float]:
        """The best constant score, in the unit of the labels: one for each class or quantile."""
        return [self.constant()]

    @property
    def constants(self) -> Sequence[float]:
        """The same for scaled labels."""
        return tuple(map(self.as_learned, self.best_constants))

    def constant_scores(self, initials: Sequence[float], *, learned: bool = False) -> Any:
        """The scores of examples with these initial predictions if the model is a constant. learned: for scaled labels.
        """
        scale, constants = (self.labels_as.initial_scale, self.constants) if learned else (1.0, self.best_constants)
        return array("d", (c + initial / scale for initial in initials for c in constants))

    def constant(self) -> float:
        """The best constant score, in the unit of the labels."""
        summary = self.sample or self.summary
        if not self.settings.constant or not summary.examples:
            return 0.0
        if self.stream is not None and not summary.has_initial:
            return self._constant_of(summary)
        if self._constant is None or self._constant[:2] != (summary, summary.examples):
            self._constant = summary, int(summary.examples), self._constant_of(summary)
        return self._constant[2]

    def _constant_of(self, summary: DataSummary) -> float:
        settings, loss = self.settings, make_loss(self.settings)
        if loss.keeps_labels:
            if self.stream is not None and not summary.has_initial:
                return self.stream.best_constant
            return float(best_constant(loss, summary.residuals(), summary.importances))
        power = loss.power
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
        # If there is one label alone, the other has the probability (0 + 1/2) / (n + 1), for n examples.
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
    """Data with several classes. They are always learned in passes, so standard input is cached."""

    best_constants: Any = ()  # one for each class with a name
    is_scarce = False  # folds are good however few examples there are
    in_passes = True

    def __init__(self, job: Job, source: Examples, listener: Listener) -> None:
        super().__init__(job, source, listener)
        self.class_names: ClassNames = job.learner.class_names
        self._records = int(job.learner.rule.records)

    @property
    def lane_classes(self) -> int:
        """The number of classes that lanes learn: those with a name, and one for all without."""
        return min(self.width + 1, self._records)

    def constant_scores(self, initials: Sequence[float], *, learned: bool = False) -> Any:
        return self.best_constants * len(initials)

    def of_labels(self, scores: Any) -> Any:
        return scores

    def _count_labels(self) -> int:
        rarest = min(Counter(self.summary.labels).values(), default=0)
        return super()._count_labels() if rarest >= RARER else 0

    def scale_labels(self) -> None:
        """Find the classes and the best constant scores, and set the log loss of these as the baseline."""
        self.width = len(self.class_names)
        self.best_constants = array("d", bytes(8 * self.width))
        if not self.width:
            return
        weights = self._weights_of(self.summary)
        total = sum(weights)
        if self.settings.constant and total:
            self.best_constants = array("d", (log(x / total) if x else -LARGEST_SCORE for x in weights))
        judged = weights if self.validation is None else self._weights_of(self.validation.summary)
        is_one = total in weights and self.settings.constant
        if is_one and total:  # each other class has (0 + 1/2) / (n + k / 2), for n examples and k classes
            self.best_constants = array("d", (log(self.examples + 0.5 if x else 0.5) for x in weights))
        self.baseline = 0.0 if is_one else constant_loss(self.best_constants, judged)

    def row_losses(self, scores: Any, labels: Any) -> Any:
        return row_log_losses(scores, labels)

    def derivatives(self, scores: Any, labels: Any, weights: Any, unit: float = 0.0) -> tuple[Any, Any, float]:
        return *class_residuals(scores, labels, weights), 1.0

    def _weights_of(self, summary: DataSummary) -> Any:
        """The sum of the importances of each class."""
        return importance_of_classes(summary.labels, summary.importances, self.width)


def log(x: float) -> float:
    """The natural logarithm, with the same bits everywhere."""
    found = array("d", [x])
    each("log", found, found)
    return found[0]


def detached(data: AutoData) -> AutoData:
    """A copy of the data at this time, without notes and with a silent listener."""
    found = copy(data)
    found.choice, found.hints, found.listener = copy(data.choice), [], Listener()
    return found


def with_derived(data: AutoData, derived: "Derived") -> AutoData:
    """The same data with these features, without notes and with an empty summary."""
    found = copy(data)
    found.hints, found.settings = [], replace(data.settings, derived=derived)
    found.given, found.summary = data.given or data.summary, found.new_summary()
    return found
