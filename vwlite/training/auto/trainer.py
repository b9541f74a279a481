"""`--algorithm auto`: candidates with grids of learning rates, stacked, in passes or over a stream."""

import math
import time
from abc import abstractmethod
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import compress, cycle
from typing import TYPE_CHECKING, Any, TypeVar

from vwlite.algorithms.losses import called, loss_function
from vwlite.algorithms.memory import LOCATED, available_memory, lanes_need
from vwlite.algorithms.settings import Resolved, Settings
from vwlite.core.auto.given import GivenPredictions, by_line, scattered
from vwlite.core.auto.lanes import Lanes
from vwlite.core.auto.starts import Starts
from vwlite.core.auto.summary import DataSummary
from vwlite.core.data.batch import Batch
from vwlite.core.data.expand import Expander
from vwlite.core.data.namespaces import Namespaces
from vwlite.core.data.normalize import MOST_CENTERED, NORMALIZATIONS, Normalizer
from vwlite.core.learn.tally import Tally
from vwlite.derived import Derived
from vwlite.digest import blake2b
from vwlite.errors import DataError, UsageError
from vwlite.input.parsing import EXAMPLE
from vwlite.model.header import COUNTERS, in_json
from vwlite.model.learners import make_expander, make_loss, make_rule
from vwlite.names import namespace_of
from vwlite.options.spec import option_name
from vwlite.output.progress import pass_text
from vwlite.output.results import WHERE, Result
from vwlite.output.shell_words import quoted
from vwlite.output.text import shown
from vwlite.runs.means import NOT_DENSE
from vwlite.runs.notes import Notes, together
from vwlite.runs.options import PAIRS, TrainOptions
from vwlite.runs.resolve import NOT_AUTO
from vwlite.runs.run import feed
from vwlite.training.auto.data import DrawnExamples
from vwlite.training.auto.model import (
    INTERCEPT,
    WeightScale,
    best_kind,
    gd_settings,
    load,
    load_intercept,
    update_of,
)
from vwlite.training.auto.reading import ROBUST, AutoData, Learning, is_large
from vwlite.training.auto.selection import (
    COLUMNS,
    FOLDS,
    HELD_OUT_FOLDS,
    LARGE_RATES,
    RATES,
    SAMPLE_PASSES,
    Drawn,
    GridCandidate,
    Selection,
    are_many,
    best_of,
    by_column,
    close_ones,
    columns_of,
    has_sample,
    most_passes,
)
from vwlite.training.auto.stream import Stream
from vwlite.training.trainer import Job, Listener, PassRow, Trainer, finite
from vwlite.training.verdict import count_of_passes, normalization

if TYPE_CHECKING:
    from vwlite.model import Model
    from vwlite.training.auto.derive import ShownGroups

MOST_CHECKED = 100_000  # examples that a model has learned, by which it is checked
DERIVED_FROM = 40_000  # of many examples, by which features to derive are found
FEW_FOR_STAGES = 5_000  # examples, below which all is learned to the end before features are derived
FEW_PASSES_FROM = 12_000  # examples, as there are 8 passes at most
SAMPLED = 10_000  # examples by whose values the scales of rare features begin
OF_NEW_GROUPS = 1.01  # times the loss, from which that of new groups is another one
ERRORS_APART = 4  # standard errors by which the loss of the last tenth of the rows differs,
SPREADS_APART = 3  # ... and standard deviations of the tenths before
FEW = 300  # examples of which the loss is uncertain
ONE_PASS = "one pass, as the files have more than 4 GB: --passes 8 is for a better model"
ONE_PASS_OF_STREAM = "one pass, as standard input cannot be read again: name files for a better model"
ORDERED = "the data seem to be in order: name files, or shuffle"
DISAGREE = "the folds and the model disagree: the best constant is better on the examples that the model has learned"
MISLED = 0.01  # of the loss of the constant, by which a model must not be worse on what it has learned than out of fold
MISLEADING = "lines that stand together are alike, so losses out of fold are not those of new rows: shuffle the lines"

AnyTrainer = TypeVar("AnyTrainer", bound="DataTrainer")


def check_options(o: TrainOptions) -> None:
    """UsageError for options of a run that it has no use for."""
    for name, why in NOT_AUTO.items():
        if name in o.given:
            raise UsageError(f"{option_name(name)} has no effect with --algorithm auto: {why}")
    if o.derive in ("none", "curves") and o.pairs is not None:
        raise UsageError(f"--pairs needs --derive pairs or auto, and not {o.derive}: it derives no pairs")
    if o.validate is not None and "passes" in o.given and o.passes == 1:
        raise UsageError("--validate chooses among passes: leave --passes 1 out")


class DataTrainer(Trainer, Learning):
    """What trains on `AutoData`: several learners are tried, and a learner with the model has counted the examples."""

    shows_rows = False
    chooses_passes = True
    learner: GivenPredictions
    drawn: Callable[[], Iterable[Batch]] | None = None  # examples in drawn order

    def __init__(self, o: TrainOptions, job: Job, data: AutoData) -> None:
        super().__init__(o, job, data.source, data.listener)
        self.data, self.chooses_loss = data, data.chooses_loss
        self._writes = {"predictions": o.predictions is not None, "raw_predictions": o.raw_predictions is not None}

    @property
    def resolved(self) -> Resolved:
        return replace(self.job.resolved, settings=self.data.settings)

    def run(self) -> None:
        self.data.read(self)
        if self.learner is self.job.learner:  # nothing was learned
            self.settings = without_empty(self.data.settings)

    @abstractmethod
    def chosen(self) -> dict[str, Any]:
        """What the model is made of, for its header and the report."""

    def _snapshot(self, interrupted: bool) -> "Model":
        model = replace(super()._snapshot(interrupted), chosen=self.chosen())
        if not model.columns:
            return model
        from vwlite.input.schema import Schema  # not at the top: only tables need it
        from vwlite.training.auto.readable import with_levels

        derived = self.data.settings.derived
        if derived is not None and not derived.texts and self.source.tries_ngrams:
            model = replace(model, columns=Schema.restored(model.columns).without_ngrams().stored())
        if self.data.column_names is not None and self.names is None:
            model = with_levels(model, self.data.column_names)
        return model

    def _of_table(self, model: "Model", interrupted: bool) -> "Model":
        from vwlite.training.auto.readable import with_means

        model = super()._of_table(model, interrupted)
        return model if interrupted or self.drawn is None else with_means(model, self.drawn(), self._models_of_folds())

    def _models_of_folds(self) -> Any:
        """Keys, and the weights of each model that has not learned a fold; None if there are none."""
        return None

    def _apart(self: AnyTrainer) -> AnyTrainer:
        """A trainer with what is known now, which tells and predicts nothing, and does not change this one."""
        found = copy(self)
        found.data, found.listener = copy(self.data), Listener()
        found.data.hints, found.data.listener, found._writes = [], found.listener, {}
        return found

    def _given(self, settings: Settings, fold: WeightScale) -> GivenPredictions:
        """A learner whose predictions are given as scores, which `fold` makes those of the labels."""
        loss, expander = make_loss(settings), make_expander(settings)
        rule = make_rule(settings, loss, expander.constant_key)
        learner = GivenPredictions(
            rule, loss, expander, scale=fold.scale, shift=fold.shift, link=settings.link, **self._writes
        )
        low, high = loss_function(settings.loss).first_range
        labels = self.data.summary.labels
        learner.min_label = min(low, min(labels, default=low))
        learner.max_label = max(high, max(labels, default=high))
        learner.answers_blank_lines = True
        return learner

    def _give_nothing(self, learner: GivenPredictions, batch: Batch) -> None:
        """The rule predicts the batch."""
        unknown = array("d", bytes(8 * len(batch) * self.data.width))
        by_line(batch, array("d", []), 0, unknown, self.data.width)
        learner.give(batch, unknown)

    def _feed_given(self, learner: GivenPredictions, batches: Iterable[Batch], scores: Any) -> None:
        """Count batches whose examples have these predictions; without, the rule predicts."""
        self.learner, at = learner, 0
        for batch in batches:
            lines = array("d", bytes(8 * len(batch) * self.data.width))
            at = by_line(batch, scores, at, lines, self.data.width)
            learner.give(batch, lines)
            self.feed(batch)

    @property
    def is_progressive(self) -> bool:
        return self.has_begun

    def measures(self, tally: Tally) -> dict[str, Result]:
        """With the best constant of all labels of files, where the tally has a sample of them."""
        data = self.data
        found = super().measures(tally)
        own = found.get("average_loss")
        of_all = not (self.has_begun or self.held is not None or data.summary.has_initial)
        if own and own.baseline is not None and data.settings.loss in ROBUST and data.settings.constant and of_all:
            baseline = data.constant_loss_of(data.summary) * data.labels_as.loss_scale
            found["average_loss"] = own._replace(baseline=baseline)
        return found

    def notes(self, namespaces: Namespaces) -> Notes:
        return together(super().notes(namespaces), ({}, [*self.data.hints, *self._doubts()]))

    def _doubts(self) -> Iterator[str]:
        """Why the loss of the summary may not be that of other examples."""
        n = self.data.examples
        if 0 < n < FEW and self.data.validation is None:
            yield f"only {n} example{'s' * (n > 1)}: the loss on new data may be far from the one above"
        if self.options.group is not None and n:
            largest = max(Counter(self.data.summary.contents).values())
            if self.has_begun or 2 * largest > n:
                why = "too few examples for folds" if self.has_begun else f"one group has {largest:,} of {n:,} examples"
                yield f"--group: {why}, so that the loss may not be that of new groups"


class AutoTrainer(DataTrainer):
    """Files are learned in passes by all candidates; a stream as it comes."""

    best: GridCandidate | None = None  # None: the intercept alone is the model
    selection: Selection | None = None
    passes_used = 0
    is_fed_again = False  # the examples, after the model was chosen: the measures are its own
    intercepts: Sequence[float] = ()  # of the model, one for each class

    def __init__(self, o: TrainOptions, job: Job, data: AutoData) -> None:
        super().__init__(o, job, data)
        self.candidates: list[GridCandidate] = []  # of files
        self._since_checkpoint = 0  # examples of passes over files
        self._pass_begun = (0, 0.0)  # for the live line: a pass, and when it began
        self.dense: list[tuple[int, float, bool]] = []  # columns of `center`: key, mean, whether all values are equal
        self.stages: list[AutoTrainer] = []  # with derived features
        self.normalizations: Sequence[str] = NORMALIZATIONS
        self.without: float | None = None  # the loss without derived features, if there are some
        self.with_first: float | None = None  # the loss with them, of the first rows,
        self.derived_by = 0  # ... so many
        self.tried: list[str] = []  # kinds of derived features
        self.groups: Any = None  # of each example, that share folds; None: there are none, or those of the summary
        self.shown_groups = ""  # what is said of groups that columns show
        self.race_on_sample: dict[str, Any] = {}  # for the report
        self._sample: Callable[[], Iterable[Batch]] = tuple  # of the examples
        self._starts: dict[str, Starts | None] = {}  # of each normalization
        self._places: Any = None  # of the examples that the model is of, in the file; None: all are in its order

    def stop(self) -> None:
        super().stop()
        if self.selection is not None:
            self.selection.stopped = True
        for stage in self.stages:
            stage.stop()

    # --- files -------------------------------------------------------------------------------

    def learn_in_passes(self, counts: list[int], load_batch: Callable[[int], Batch]) -> None:
        data = self.data
        self._load_batch, self._batches = load_batch, len(counts)
        data.scale_labels()
        self._check_baseline()
        if data.is_scarce:
            self._learn_once(DrawnExamples.of(data.summary, counts, load_batch))
            return
        if data.summary.examples and data.baseline:
            examples, derives = DrawnExamples.of(data.summary, counts, load_batch), data.derives
            self.drawn = examples.batches
            if derives and self._is_large:
                self._learn_after_sample(examples, counts)
                derives = False
            elif not self.stopped:
                self.learn_drawn(examples, self._passes_before_stages if derives else None)
            if not self.passes_used:
                return  # a signal came within the first pass
            if derives and not self.stopped:
                self._derive(counts)
        learner = self._load_model()
        batches = map(load_batch, range(len(counts)))
        judge = self.selection.judge if self.best is not None and self.selection is not None else data.validation
        if self.best is not None and judge is not None and (self.holds_out or self._is_part_of_validation(judge)):
            of_labels = WeightScale(self.data.weights_as.scale, self.data.weights_as.shift)
            self._feed_judge(judge.examples.batches(), self.best.predictions, of_labels)
        elif data.validation is not None:
            self._feed_judge(data.validation_batches, self._file_order(data.validation.summary))
        else:
            self._feed_given(learner, batches, self._file_order(data.summary))
            return
        self._feed_given(learner, batches, array("d", []))  # counts them

    def _check_baseline(self) -> None:
        """DataError if no loss can be compared with that of the best constant."""
        if not math.isfinite(self.data.baseline):
            raise DataError("the loss of the best constant is not finite: importances of examples are too large")

    def _learn_once(self, examples: DrawnExamples) -> None:
        """Learn examples that are too few for folds in one pass, in drawn order, and predict each before it is
        learned; if the intercept is the model, its loss counts."""
        stream, at, n = self._begin(examples.first(SAMPLED).batches), 0, len(examples.order)
        self.listener.on_begin(self)
        predictions = array("d", [math.nan]) * n
        for batch in examples.batches():
            if self.stopped:
                break
            predictions[at : at + len(batch)] = stream.learn(batch)
            at += len(batch)
        self.end()
        if not stream.examples:
            return
        self.is_fed_again, scale = True, self.data.weights_as
        if self.best is None:
            scores = self._file_order(self.data.summary)
        else:
            scores = array("d", [math.nan]) * n
            scattered(array("d", (p * scale.scale + scale.shift for p in predictions)), examples.order, scores, 1)
        self._feed_given(self._load_model(), map(self._load_batch, range(self._batches)), scores)

    def _is_part_of_validation(self, judge: Drawn) -> bool:
        """Whether a signal came when the first rows of --validate had been scored."""
        validation = self.data.validation
        return validation is not None and len(judge.examples.order) < len(validation.examples.order)

    def _feed_judge(self, batches: Iterable[Batch], scores: Any, scale: WeightScale | None = None) -> None:
        """Measure the model by examples that it has not learned, with these scores."""
        judge = self._given(self.settings, scale or WeightScale())
        judge.answers_blank_lines = False
        self._feed_given(judge, batches, scores)
        self.held = judge.progressive

    def _learn_after_sample(self, examples: DrawnExamples, counts: list[int]) -> None:
        """Find features to derive by the first examples in drawn order, and learn all with them. If a signal comes
        before a pass over all, the model is that of the first ones."""
        data = self.data
        batches = [batch.part(0, len(batch)) for batch in examples.first(DERIVED_FROM).batches()]
        summary = data.new_summary()
        for batch in batches:
            summary.take(batch)
        finder = self._find_derived(batches, summary, [len(batch) for batch in batches], len(examples.order))
        finder.candidates, finder.best = [], finder.best and replace(finder.best, lanes=None)  # lanes are large
        if not self.stopped:
            if finder.without is not None:
                data.summary = data.new_summary()
                for number in range(len(counts)):
                    data.summary.take(self._load_batch(number))
            self.learn_drawn(examples)
        if not self.passes_used:
            self._take_over(finder)
            self._places = examples.order

    def _derive(self, counts: list[int], followed_by: float | None = None) -> None:
        """Learn with features that are derived from columns, and take over what is better. followed_by: the examples
        are the first ones, and so many times as many, in all, are learned then with the features that are found."""
        from vwlite.input.schema import OPTIONAL
        from vwlite.training.auto.derive import Stages

        data, o = self.data, self.options
        assert data.column_names is not None
        found = self.source.columns.get("roles", [])
        roles = {namespace_of(name): role for name, role in found if role not in OPTIONAL}
        times = [name for name, role in roles.items() if role == "time"]
        texts = [*roles.values()].count("text") if self.source.tries_ngrams else 0
        stages = Stages(
            self, data.column_names, [*roles], times, texts, counts, self._load_batch, followed_by=followed_by
        )
        best = stages.run(o.derive, PAIRS if o.pairs is None else o.pairs)
        self.tried = stages.tried
        if stages.groups is not None and not self.stopped:
            self.shown_groups = self._about_groups(best, stages.groups)
        if best is self:
            if followed_by is None and self._passes_before_stages:
                self.learn_more()
            return
        self.without = self._shown_loss()
        if followed_by is None:
            best.learn_more()
        self._take_over(best)
        if followed_by is not None:
            self.with_first = self._shown_loss()

    def _about_groups(self, best: Any, groups: "ShownGroups") -> str:
        """What is to be said of groups that columns show: if the loss of new ones is larger than that of new rows of
        these. It is that of the same features, passes and stack, with each group in one fold."""
        if best.best is None or self.options.group is not None or self.data.validation is not None:
            return ""
        other, result = best.with_derived(best.data.settings.derived), best.best.best
        other.data.summary, other.normalizations, other.groups = best.data.summary, [best.best.name], groups.of_rows
        self.stages.append(other)
        other.learn_drawn(best.selection.examples, result.number)
        if self.stopped or not other.candidates or other.candidates[0].lanes is None:
            return ""
        loss = other.selection.loss_with(other.candidates[0], result)
        if loss <= OF_NEW_GROUPS * result.loss:
            return ""
        by_space = {namespace_of(name): name for name, _ in self.source.columns.get("roles", [])}
        names = [by_space.get(name, name) for name in groups.names]
        return (
            f"{', '.join(names)} are equal in the same rows, which are {groups.count:,} groups: the loss above is that "
            f"of new rows of these; of new groups the {called(self.data.settings.loss)} is about "
            f"{loss * self.data.labels_as.loss_scale:.4g}: --group {quoted(names[0])} learns for them"
        )

    def _take_over(self, other: Any) -> None:
        """Have the model of another trainer."""
        self.best, self.selection, self.candidates = other.best, other.selection, other.candidates
        self.passes_used, self.dense, self.normalizations = other.passes_used, other.dense, other.normalizations
        self.data.settings, self.data.summary = other.data.settings, other.data.summary

    def with_derived(self, derived: Derived) -> "AutoTrainer":
        """A trainer of the same data with these features, which has learned nothing and counted no example."""
        found = copy(self)
        found.data = copy(self.data)
        found.data.hints = []
        found.data.settings = replace(self.data.settings, derived=derived)
        found.data.summary = found.data.new_summary()
        found.best = found.selection = None
        found.candidates, found.stages, found.passes_used = [], [], 0
        if derived.columns:
            found.normalizations = ("none",)  # then a score is a sum of curves and cells
        elif self._passes_before_stages:
            found.normalizations = close_ones(self.candidates)
        return found

    def _shown_loss(self) -> float:
        best = self.best.best if self.best is not None else None
        return (best.loss if best is not None else self.data.baseline) * self.data.labels_as.loss_scale

    @property
    def constants(self) -> Sequence[float]:
        """The best constant score, as labels are learned; with classes or quantiles, of each of them."""
        return tuple(map(self.data.as_learned, self.data.best_constants))

    def constant_scores(self) -> Any:
        """The scores of the best constants for each example, as labels are learned."""
        constants, scale = self.constants, self.data.labels_as.initial_scale
        return array("d", (c + initial / scale for initial in self.data.judged.initials for c in constants))

    def scores_learned(self, sampled: Any) -> Any:
        """The scores of the model for the examples of a sample that it has learned, as labels are learned."""
        from vwlite.core.auto.screening import rows_of_sample
        from vwlite.core.learn.scorer import Scorer

        assert self.selection is not None
        scorer, examples, at = Scorer(self._apart()._load_model()), self.selection.examples, 0
        width = scorer.width
        drawn = memoryview(array("d", bytes(8 * len(examples.order) * width)))
        for batch in examples.batches():
            end = at + len(batch) * width
            scorer.into(drawn[at:end].cast("B").cast("d", (len(batch), width)), array("d", bytes(8 * len(batch))))
            feed(scorer, batch, self.settings)
            at = end
        scattered(drawn, examples.order, found := array("d", bytes(8 * len(drawn))), width)
        of_sample = rows_of_sample(found, sampled, width)
        named = compress(of_sample, cycle(k < self.data.width for k in range(width)))
        return array("d", map(self.data.as_learned, named))

    def learn_drawn(self, examples: DrawnExamples, most: int | None = None) -> None:
        """Find the best candidate, in passes over the examples, at most `most`; without any if a signal comes within
        the first one."""
        self.selection = self._selection(Drawn(self.data.summary, examples, self.groups))
        self.selection.stopped = self.stopped
        self._sample, self._starts = examples.first(SAMPLED).batches, {}
        grid, most = self._grid(self.folds), min(self._most_passes(), most or self._most_passes())
        self.candidates = self._new_candidates(grid)
        if self.selection.is_large and len(grid) > 1 and has_sample(self.data.summary.examples, self.data.rarer):
            sample, best = self._race_on_sample(self.selection)
            if not self.stopped:
                going_on = close_ones(self.candidates)
                self.candidates = self._new_candidates([x for x in grid if x[0] in going_on])
                self.best = self._race(most)
            if self.best is None and best is not None:
                self.selection, self.best, self.candidates = sample, best, [best]
        else:
            self.best = self._race(most)
        if self.best is not None:
            self._settle()

    def _new_candidates(self, grid: Sequence[tuple[str, Callable[[], Lanes]]]) -> list[GridCandidate]:
        return [GridCandidate(name, new_lanes, rates=self.rates) for name, new_lanes in grid]

    def _race_on_sample(self, selection: Selection) -> tuple[Selection, GridCandidate | None]:
        """Have the candidates learn the first examples. Returns what the model is of if a signal comes before a pass
        over all of them: the selection, and its best candidate."""
        self.selection = sample = selection.of_sample()
        sample.stopped = self.stopped
        best = self._race(SAMPLE_PASSES, tells=False)
        best = best and replace(best, lanes=None)  # these are large
        self.selection = selection
        selection.stopped = self.stopped
        if self.stopped:
            return sample, best
        found = [(c.best.loss * self.data.labels_as.loss_scale, c.name) for c in self.candidates if c.best is not None]
        losses = ", ".join(f"{name} {shown(loss)}" for loss, name in sorted(found))
        scored, learned = (len(examples.order) for examples in (sample.judge.examples, sample.examples))
        candidates = [{"normalize": name, "loss": loss} for loss, name in found]
        self.race_on_sample = {"learned": learned, "scored": scored, "candidates": candidates}
        self.listener.say(
            f"normalizations = {losses}: losses on {scored:,} examples not learned, after the first {learned:,}"
        )
        return sample, best

    @property
    def _passes_before_stages(self) -> int | None:
        """Passes without derived features, which are to be compared and then left out mostly; None: all."""
        from vwlite.training.auto.derive import FEW_PASSES

        return FEW_PASSES if self.data.summary.examples >= FEW_FOR_STAGES else None

    def learn_more(self) -> None:
        """Go on with the passes that `learn_drawn` has left out."""
        if not self.stopped and (best := self._race(self._most_passes(), first=self.passes_used + 1)) is not None:
            self.best = best
            self._settle()

    def _selection(self, drawn: Drawn) -> Selection:
        data = self.data
        return Selection(
            data.learned_loss(), data.labels_as, drawn, data.validation, is_large=self._is_large,
            holds_out=self.holds_out, ends_early=self.ends_early,
        )

    def _settle(self) -> None:
        """Replace the best candidate by that with the loss to report; by the intercept if it is better out of fold;
        by the best column, or the intercept, if a constant is better on the examples that the model has learned, or the
        folds mislead: a stack may have learned how they differ, so that the model is worse on these examples."""
        self.passes_used = max(len(c.passes) for c in self.candidates)
        best, self.best = self.best, None
        if self.selection is None or best is None or best.best is None:
            return
        if self.selection.holds_out:
            # Not that of all examples: a few may decide it, which are held out or not.
            self.data.baseline = self.selection.constant_loss(self.constants)
        if best.best.loss >= self.data.baseline:
            return
        constant = self._loss_as_learned(None)
        reported = self.selection.reported(self.candidates, best)
        learned = self._loss_as_learned(reported)
        if learned < constant and not self._is_misled(reported, learned / constant):
            self.best = reported
            return
        column = self.best_column_of(best)
        if best.best.losses[best.best.best] < self.data.baseline:
            of_column = self._loss_as_learned(column)
            if of_column < constant:
                self.best = column
                if self._is_misled(column, of_column / constant):
                    self.data.hints.append(MISLEADING)
                return
        self.data.hints.append(DISAGREE if learned >= constant else MISLEADING)

    def _is_misled(self, c: GridCandidate, learned: float) -> bool:
        """Whether the out-of-fold loss of a model is less than its loss on the same examples, which it has learned:
        both relative to that of the constant."""
        assert self.selection is not None and c.best is not None
        by_others = self.data.validation is not None or self.selection.holds_out
        if by_others or len(self.selection.examples.order) > MOST_CHECKED:
            return False
        return learned > c.best.loss / self.data.baseline + MISLED

    @staticmethod
    def best_column_of(c: GridCandidate) -> GridCandidate:
        """A candidate without its stack."""
        assert c.best is not None
        result = c.best
        alone = [float(k == result.best) for k in range(COLUMNS)]
        result = replace(result, loss=result.losses[result.best], u=alone, halves=None, offsets=())
        of_pass = replace(c.kept, by_fold=None) if c.kept is not None else None
        return replace(c, best=result, predictions=c.of_best_column, kept=of_pass)

    def _loss_as_learned(self, c: GridCandidate | None) -> float:
        """The loss of a model on examples that it has learned. None: of the intercept alone."""
        assert self.selection is not None
        apart, left = self._apart(), MOST_CHECKED
        apart.best = c
        learner = apart._load_model()
        for batch in self.selection.examples.batches():
            part = batch if len(batch) <= left else batch.part(0, left)
            left -= len(part)
            apart._give_nothing(learner, part)
            apart.feed(part)
            if not left:
                break
        return loss_of(learner.progressive)

    @property
    def holds_out(self) -> bool:
        """Whether a tenth of the examples takes the place of folds: of many, unless each of them is to be predicted."""
        if self.selection is not None:
            return self.selection.holds_out
        data = self.data
        return data.validation is None and self._is_large and not any(self._writes.values())

    @property
    def ends_early(self) -> bool:
        """Whether a pass that gains little is the last one. Those of derived features cost much."""
        derived, n = self.data.settings.derived, self.data.summary.examples
        return n >= (FEW_FOR_STAGES if derived is not None and derived.columns else FEW_PASSES_FROM)

    @property
    def _is_large(self) -> bool:
        return self.data.stream is None and are_many(self.data.summary.examples, self.data.rarer)

    @property
    def rates(self) -> Sequence[float]:
        return LARGE_RATES if self._is_large else RATES

    @property
    def folds(self) -> int:
        """Of the lanes: in which examples are scored that their lanes do not learn."""
        return 1 if self.data.validation is not None else HELD_OUT_FOLDS if self.holds_out else FOLDS

    @property
    def _bytes_needed(self) -> int:
        """By the lanes of a candidate."""
        return lanes_need(self.data.summary.features, self.folds, self.data.width)

    def _race(self, passes: int, first: int = 1, *, tells: bool = True) -> GridCandidate | None:
        """The best candidate: of all side by side, or of one after the other where memory does not hold all of them.
        first: the pass to go on with, of candidates that have learned those before. tells: the listener of passes."""
        assert self.selection is not None
        one, room = self._bytes_needed, available_memory()
        if room is not None and one > room:
            raise MemoryError(
                f"the learning-rate grid of {self.data.summary.features:,} features needs {one >> 20:,} MB, and there "
                f"are {room >> 20:,}: use --algorithm gd, or fewer --bits"
            )
        self.selection.keeps = room is None or (one + LOCATED) * len(self.candidates) <= room
        after = self._after_pass if tells else lambda number, ran: None
        with self.listener.ticking(self._live_text):
            have_lanes = first == 1 or all(c.lanes is not None for c in self.candidates if not c.ended)
            if have_lanes and (room is None or one * len(self.candidates) <= room):
                return self.selection.run(self.candidates, passes, self.options.threads, after, first)
            return self.selection.run_in_turn(self.candidates, passes, after)

    def _live_text(self, seconds: float) -> str:
        found = self.selection
        assert found is not None
        if found.number != self._pass_begun[0]:
            self._pass_begun = (found.number, seconds)
        losses = [c.best.loss * self.data.labels_as.loss_scale for c in self.candidates if c.best is not None]
        in_turn = found.racing < sum(not c.ended for c in self.candidates)  # how many more there will be is not known
        most = None if in_turn else self._most_passes()
        return pass_text(found.number, most, found.share, seconds - self._pass_begun[1], min(losses, default=None))

    def _most_passes(self) -> int:
        n, typed = self.data.summary.examples, self.options.passes
        if typed > 1:
            return typed if self._is_large else min(most_passes(n), typed)
        return most_passes(n)

    def _file_order(self, summary: DataSummary) -> Any:
        """The predictions that the model was chosen by, in the order of the file, NaN of what it has not learned, which
        the rule predicts; those of the best constant if that is the model."""
        if self.best is None or self.selection is None:
            initials, constants = () if self._places is not None else summary.initials, self.data.best_constants
            return array("d", (c + initial for initial in initials for c in constants))
        weights_as = self.data.weights_as
        predictions = array("d", (p * weights_as.scale + weights_as.shift for p in self.best.predictions))
        return self._in_file(predictions, summary, self.selection)

    def _in_file(self, predictions: Any, summary: DataSummary, selection: Selection) -> Any:
        """Predictions in the order of the file, NaN where there is none."""
        order, n, width = selection.order, summary.examples, self.data.width
        if self._places is not None and self.data.validation is None:
            order, n = array("I", (self._places[k] for k in order)), len(self._places)
        found = array("d", [math.nan]) * (width * n)
        scattered(predictions, order, found, width)
        return found

    def _after_pass(self, number_of_pass: int, ran: list[GridCandidate]) -> None:
        self.pass_number = number_of_pass
        self.listener.on_pass(self._row(number_of_pass, ran))
        self._since_checkpoint += int(self.data.summary.examples)
        best = best_of(self.candidates)
        if best is not None and self.listener.is_checkpoint_due(self._since_checkpoint):
            self._since_checkpoint = 0
            apart = self._apart()
            apart.best = best
            apart._settle()
            apart._feed_given(apart._load_model(), map(self._load_batch, range(self._batches)), array("d", []))
            self.listener.on_checkpoint(apart)

    def _row(self, number_of_pass: int, ran: list[GridCandidate]) -> PassRow:
        c, scale = min(ran, key=lambda c: c.passes[-1].loss), self.data.labels_as.loss_scale
        last = c.passes[-1]
        loss, seconds = last.losses[last.best] * scale, time.monotonic() - self.started_at
        features = self.data.summary.features
        learner = columns_of(c.rates)[last.best]
        return PassRow(number_of_pass, c.name, learner, loss, last.stacked * scale, features, seconds)

    # --- a stream ----------------------------------------------------------------------------

    @property
    def has_begun(self) -> bool:
        return self.data.stream is not None

    @property
    def has_learned(self) -> bool:
        return super().has_learned or (self.data.stream is not None and self.data.stream.examples > 0)

    def so_far(self: "AnyAuto") -> "AnyAuto":
        """A trainer that has the model of the stream so far; this one goes on as if there were no such trainer."""
        apart, counted = self._apart(), self.learner
        if apart.data.stream is None:
            apart.data.begin_apart(apart)
        else:
            before = {name: self.job.before.get(name, 0) + getattr(counted, name) for name in COUNTERS}
            apart.job = self.job._replace(before=before)
            apart.learner = self._given(self.data.settings, self.data.weights_as)
            apart.learner.min_label, apart.learner.max_label = counted.min_label, counted.max_label
        apart.counted = counted.progressive
        apart.end()
        return apart

    def restore(
        self, dense: list[tuple[int, float, bool]], stream: dict[str, Any], counters: dict[str, int],
        range_of_labels: tuple[float, float],
    ) -> None:
        """Go on with a stream that another trainer has learned, whose labels the data have. dense: its columns of
        `center`. stream: the state of it. counters: of its learner, and those before it."""
        self.data.scale_labels()
        self.dense = dense
        self._begin(tuple, stream["candidates"]).load(stream)
        self.job = self.job._replace(before=counters)
        self.learner.min_label, self.learner.max_label = range_of_labels

    def _begin(self, sample: Callable[[], Iterable[Batch]], names: Iterable[str] = ()) -> Stream:
        """Begin a stream. sample: the first examples. names: of the candidates, if they are known."""
        data = self.data
        self._sample, self._starts = sample, {}
        grid = [(name, partial(self.lanes, name, 1)) for name in names] or self._grid(1)
        data.stream = Stream(data.learned_loss(), data.labels_as, [(name, new_lanes()) for name, new_lanes in grid])
        self._sample = tuple
        self.settings = data.settings
        self.learner = self._given(data.settings, data.weights_as)
        return data.stream

    def begin(self, batches: Sequence[Batch]) -> None:
        data = self.data
        data.scale_labels()
        if data.derives and self.source.columns and not data.is_scarce and data.baseline:
            finder = self._find_derived(batches, data.summary, data.counts, data.summary.examples)
            if finder.without is not None:
                data.summary = finder.data.summary
        self._begin(partial(iter, batches))
        if not (data.is_scarce or "passes" in self.options.given or self.source.keeps_batches):
            self.listener.say(ONE_PASS if is_large(self.options.data) else ONE_PASS_OF_STREAM)
        self.listener.on_begin(self)
        for batch in batches:
            self.learn(batch)

    def _find_derived(
        self: "AnyAuto", batches: Sequence[Batch], summary: DataSummary, counts: list[int], known: int
    ) -> "AnyAuto":
        """Find features to derive, in passes over the first examples. summary, counts: of them. known: how many
        examples there are, as far as it is known. Returns the trainer that has found them."""
        finder = self._apart()
        finder.stages, finder.data.summary = [], summary
        self.stages.append(finder)
        if not self.stopped:
            finder._load_batch, finder._batches = batches.__getitem__, len(batches)
            drawn = DrawnExamples.of(summary, counts, finder._load_batch)
            finder.learn_drawn(drawn, finder._passes_before_stages)
            if finder.passes_used and not finder.stopped:
                finder._derive(counts, known / summary.examples)
        self.stages.clear()
        self.tried, self.shown_groups = finder.tried, finder.shown_groups
        if finder.without is not None:
            self.data.settings, self.derived_by = finder.data.settings, int(summary.examples)
            self.without, self.with_first = finder.without, finder.with_first
            self.normalizations = finder.normalizations
        return finder

    def learn(self, batch: Batch) -> None:
        """Learn a batch, with the checkpoints in it."""
        while (most := self.listener.next_checkpoint(self.learner.examples)) is not None:
            end = line_after(batch, most)
            if end is None:
                break
            self._learn_part(batch.part(0, end))
            if self.stopped:
                return
            apart = self.so_far()
            apart.lines_learned = self.learner.lines
            self.listener.on_checkpoint(apart)
            batch = batch.part(end, len(batch))
        self._learn_part(batch)
        if self.listener.is_checkpoint_due(0):
            self.listener.on_checkpoint(self.so_far())

    def _learn_part(self, batch: Batch) -> None:
        assert self.data.stream is not None
        self.learner.give(batch, self.data.stream.learn(batch))
        self.feed(batch)

    def end(self) -> None:
        data, stream = self.data, self.data.stream
        assert stream is not None
        if not stream.examples:
            return  # a signal came before the first one
        found, batch = stream.result(), stream.sample()
        self.drawn = partial(iter, (batch,))
        data.sample = DataSummary(make_expander(data.settings, Normalizer()))
        data.sample.take(batch)
        data.baseline = data.constant_loss()
        self._check_baseline()
        threshold = max(data.baseline, data.constant_loss_of(data.sample))
        self.best = stream.checked(found, batch, threshold) if data.baseline else None
        assert found.best is not None
        if self.best is not found and found.best.loss < data.baseline:
            data.hints.append(ORDERED)
        if data.is_scarce and found.best.loss >= data.baseline:
            self.best = None
        self.passes_used = 1
        self._load_model(self.learner)

    def weights_now(self) -> tuple[int, bool]:
        stream = self.data.stream
        return len(stream.best.learner.lanes) if stream is not None else 0, False

    # --- candidates and the model ------------------------------------------------------------

    def _grid(self, folds: int) -> list[tuple[str, Callable[[], Lanes]]]:
        """The candidates: normalizations, and what makes the lanes of each."""
        settings, summary = self.data.settings, self.data.summary
        self.dense = summary.dense(make_expander(settings).constant_key)
        if len(self.dense) > MOST_CENTERED or not settings.constant:
            self.dense = []
        names = [settings.normalize] if "normalize" in self.options.typed else list(self.normalizations)
        if names == ["center"] and not self.dense:
            if summary.examples:
                raise DataError(NOT_DENSE)
            names = ["none"]  # there will be nothing to learn
        names = [name for name in names if name != "center" or self.dense]
        return [(name, partial(self.lanes, name, folds)) for name in names]

    def _expander(self, name: str) -> Expander:
        settings = self.data.settings
        crosses = settings.crosses or settings.interactions
        is_derived = settings.derived is not None and settings.derived.columns
        if name == "none" and is_derived and not crosses and not self.data.summary.needs_merging:
            return make_expander(settings)  # derived features are different ones, and none has the value 0
        return make_expander(settings, Normalizer(name, self.dense if name == "center" else ()))

    def lanes(self, name: str, folds: int) -> Lanes:
        """Those of a normalization."""
        expander = self._expander(name)
        return Lanes(self.data.learned_loss(), expander, self.rates, folds, starts=self.starts(name))

    def starts(self, name: str) -> Starts | None:
        """The scales with which rare features begin, by the values of a sample; of columns of a table, none."""
        if name not in self._starts and self.data.column_names is None:
            self._starts[name] = self.data.summary.starts(self._expander(name), self._sample())
        return self._starts.get(name)

    def _model_settings(self) -> Settings:
        """Those of the model: of `gd`."""
        best, settings = self.best, self.data.settings
        rate = RATES[best_kind(best.best)] if best is not None and best.best is not None else settings.learning_rate
        return gd_settings(settings, rate, best.name if best is not None else "none")

    def _load_model(self, learner: GivenPredictions | None = None) -> GivenPredictions:
        """Put the weights of the model into a learner, or into a new one; it becomes that of the run."""
        best, data, settings = self.best, self.data, self._model_settings()
        self.settings = without_empty(settings)
        learner = learner or self._given(settings, WeightScale())
        if best is None:
            intercept: float | None = load_intercept(learner, data.constant(), data.examples)
        else:
            dense = self.dense if best.name == "center" else ()
            intercept = load(learner, best, data.weights_as, dense, data.examples)
        self.intercepts = () if intercept is None else (intercept,)
        self.learner = learner
        return learner

    def _snapshot(self, interrupted: bool) -> "Model":
        model = super()._snapshot(interrupted)
        if self.intercepts and len(model.keys):
            at = model.records * bisect_left(model.keys, self.learner.expander.constant_key or 0)
            for k, intercept in enumerate(self.intercepts):
                model.weights[at + k] = intercept  # large if labels or values have an offset: all digits count
        return replace(model, passes=self._passes_of_best())

    def _models_of_folds(self) -> Any:
        if self.best is None or self.best.kept is None or self.best.kept.by_fold is None:
            return None
        kept = self.best.kept
        scale, n = self.data.weights_as.scale, len(kept.by_fold) // len(kept.keys)
        return kept.keys, [array("d", (w * scale for w in kept.by_fold[fold::n])) for fold in range(n)]

    def _passes_of_best(self) -> list[dict[str, float | None]]:
        """The losses of the passes of what was chosen, for the model."""
        if self.best is None or self.data.stream is not None or len(self.best.passes) < 2:
            return []
        kind = WHERE[self._where_judged]
        return [{"pass": x.number, kind: self._reported(min(x.stacked, min(x.losses)))} for x in self.best.passes]

    def chosen(self) -> dict[str, Any]:
        data, scale = self.data, self.data.labels_as.loss_scale
        found: dict[str, Any] = {"baseline": data.baseline * scale} | self._digest()
        if self.best is None or self.best.best is None:
            return found | {"model": "intercept"}
        result = self.best.best
        has_both = self.without is not None and self.with_first is None  # of the same examples
        return found | {
            "normalize": self.best.name, "pass": result.number, "passes": self.passes_used,
            "weights": by_column(self.best.rates, result.u), "loss": result.loss * scale,
            "loss is": f"{WHERE[self._where_judged]} {called(data.settings.loss)}",
        } | ({"loss without derived features": self.without} if has_both else {})

    @property
    def _where_judged(self) -> str:
        """Of which predictions the loss is by which models are chosen, as of `Result`."""
        if self.data.stream is not None:
            return "progressive"
        if self.data.validation is not None:
            return "validation"
        return "holdout" if self.holds_out else "out_of_fold"

    def _digest(self) -> dict[str, str]:
        """That of the examples, which does not depend on how they are split into files and written there. Without, if a
        stream was longer than what is kept of it."""
        if self.data.stream is not None:
            return {}
        s, found = self.data.summary, blake2b(digest_size=16)
        for part in (s.labels, s.importances, s.initials, s.contents):
            found.update(part)
        return {"data": found.hexdigest()}

    # --- what is said of it ------------------------------------------------------------------

    def more_for_report(self) -> dict[str, Any]:
        passes = []
        for c in self.candidates:
            for result in c.passes:
                losses = by_column(c.rates, [*map(self._reported, result.losses)])
                stack = {"stacked": self._reported(result.stacked), "weights": result.u}
                passes.append({"normalize": c.name, "pass": result.number, "losses": losses, **stack})
        sample = {"sample": self.race_on_sample} if self.race_on_sample else {}
        return {"chosen": in_json(self.chosen()), **sample, "candidates": passes}

    def _reported(self, loss: float) -> float | None:
        """A loss of labels as they are; None if it is not finite."""
        return finite(loss * self.data.labels_as.loss_scale)

    @property
    def where(self) -> str:
        if self.held is not None:
            return self._where_judged
        return super().where or ("out_of_fold" if self.data.stream is None else "")

    def results(self) -> list[Result]:
        examples, *others = super().results()
        found = [examples, Result("passes_used", self.passes_used)]
        if self.without is not None and self.data.settings.derived:
            found += [Result("derived", self.data.settings.derived.summary()),
                      Result("loss_without_derived_features", self.without)]
        if self.best is not None:
            c, how = self.chosen(), ", ".join(self.how())
            losses = f"{c['loss is']} {shown(c['loss'])}, baseline {shown(c['baseline'])}"
            found.append(Result("chosen", f"{how}; {losses}"))
        elif self.data.summary.examples:
            found.append(Result("chosen", INTERCEPT))
        return found + [r for r in others if r.key != "passes_used"]

    def about_model(self) -> Iterator[str]:
        """What the derived features are, or that none are of use; nothing, if none were tried. The rest is in
        `chosen`."""
        derived = self.data.settings.derived
        if self.without is not None and derived:
            loss = called(self.data.settings.loss)
            if self.with_first is not None:
                which = "the first" if self.data.stream is not None else "a sample of"
                loss += f" on {which} {self.derived_by:,} rows {shown(self.with_first)},"
            yield f"features: {derived.summary()}; {loss} without them {shown(self.without)}"
        elif self.tried and not self.stopped:
            yield f"features: as given; {' and '.join(self.tried)} do not help"

    def judged_on(self) -> str:
        if self.data.validation is not None:
            return "on rows of --validate"
        if self.best is not None and self.holds_out and self.selection is not None:
            return f"on {len(self.selection.judge.examples.order):,} rows held out"
        if self.data.stream is not None and (self.best is not None or not self.is_fed_again):
            return "on rows before they were learned"
        return "on rows not learned" if self.best is not None else "on rows learned"

    def how(self) -> list[str]:
        if self.best is None or self.best.best is None:
            return [INTERCEPT]
        passes, gain = count_of_passes(self.passes_used, self.best.best.number), self.best.passes[-1].gain
        if self._is_large and gain is not None:
            passes += f", of which the last gained {max(gain, 0):.1%}"
        return [normalization(self.best.name), passes, update_of(self.best)]

    def _doubts(self) -> Iterator[str]:
        best = self.best
        if best is not None and best.best is not None and best.best.loss >= self.data.baseline:
            yield "on examples that took no part in its choice, the model is no better than the best constant"
        if self.shown_groups:
            yield self.shown_groups
        yield from self._about_last_rows()
        yield from super()._doubts()

    def _about_last_rows(self) -> Iterator[str]:
        """Whether the last tenth of the rows is another world than the tenths before, which are much alike."""
        data, found = self.data, self.selection
        is_of_all = data.validation is None and data.stream is None and self._places is None
        if self.best is None or found is None or not is_of_all or data.summary.examples < FEW:
            return
        (*before, last), errors = zip(*found.losses_of_tenths(self.best.predictions), strict=True)
        others, error = sum(before) / 9, math.hypot(errors[-1], math.hypot(*errors[:-1]) / 9)
        spread = math.sqrt(sum((mean - others) ** 2 for mean in before) / 8)
        if abs(last - others) <= max(ERRORS_APART * error, SPREADS_APART * spread) or data.summary.is_sorted():
            return
        name, scale = called(data.settings.loss), data.labels_as.loss_scale
        yield (
            f"the last tenth of the rows has a {name} of {last * scale:.4g}, the rows before {others * scale:.4g}: if "
            "they are in the order of time, later rows may be like the last ones; --validate with these chooses the "
            "model by them"
        )


AnyAuto = TypeVar("AnyAuto", bound=AutoTrainer)


def without_empty(settings: Settings) -> Settings:
    """The settings of a model, of which nothing is derived if nothing was taken."""
    empty = settings.derived is not None and not settings.derived.columns
    return replace(settings, derived=None) if empty else settings


def loss_of(tally: Tally) -> float:
    """The loss by which models are compared."""
    return float(tally.log_loss if tally.probable else tally.average)


def line_after(batch: Batch, examples: int) -> int | None:
    """The line after so many examples of a batch; None if it has fewer."""
    if examples > len(batch):
        return None
    for line, kind in enumerate(batch.kind):
        examples -= kind == EXAMPLE
        if examples == 0:
            return line + 1
    return None
