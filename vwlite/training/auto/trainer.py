"""The trainer of `--algorithm auto`: candidates with a grid of learning rates each, and a stack of their scores."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakMethod

from vwlite.algorithms.losses import called
from vwlite.algorithms.settings import Settings
from vwlite.core.auto.given import GivenPredictions
from vwlite.core.data.batch import Batch
from vwlite.errors import UsageError
from vwlite.input.parsing import EXAMPLE
from vwlite.model.centered import with_constant_columns
from vwlite.model.header import COUNTERS
from vwlite.options.spec import option_name
from vwlite.output.results import Result
from vwlite.runs.resolve import NOT_AUTO
from vwlite.training.auto.auto_data import AutoData, detached
from vwlite.training.auto.data import Batches, DrawnExamples
from vwlite.training.auto.data_trainer import DataTrainer
from vwlite.training.auto.description import Description
from vwlite.training.auto.grid import Grid
from vwlite.training.auto.learning import FilePredictions, StreamLearning, learned_in_passes
from vwlite.training.auto.loader import ModelLoader, weights_of_model
from vwlite.training.auto.model import WeightScale
from vwlite.training.auto.race import SAMPLED, Outcome, Race, Setup
from vwlite.training.auto.reading import is_large
from vwlite.training.auto.stream import Stream
from vwlite.training.trainer import Job
from vwlite.training.verdict import judging, name_of

if TYPE_CHECKING:
    from vwlite.model import Model

ONE_PASS = "one pass, as the files have more than 4 GB: --passes 8 is for a better model"
ONE_PASS_OF_STREAM = "one pass, as standard input cannot be read again: name files for a better model"


def check_options(job: Job) -> None:
    """UsageError for options that `--algorithm auto` does not use."""
    o = job.options
    for name, why in NOT_AUTO.items():
        if name in o.given:
            raise UsageError(f"{option_name(name)} has no effect with --algorithm auto: {why}")
    check_pairs(o.derive, o.pairs)
    if o.validate is not None and "passes" in o.given and o.passes == 1:
        raise UsageError("--validate chooses among passes: leave --passes 1 out")


def check_pairs(derive: str, pairs: int | None) -> None:
    """UsageError for --pairs where none are derived."""
    if derive in ("none", "curves") and pairs is not None:
        raise UsageError(f"--pairs needs --derive pairs or auto, and not {derive}: it derives no pairs")


class AutoTrainer(DataTrainer):
    """Learns files in passes, and a stream in one pass."""

    grid: ClassVar[type[Grid]] = Grid
    loader: ClassVar[type[ModelLoader]] = ModelLoader
    intercepts: Sequence[float] = ()  # of the model: one for each class
    batches: Batches  # of files
    compares_losses = True  # for labels that are amounts, if the loss is not given

    def __init__(self, job: Job, data: AutoData) -> None:
        super().__init__(job, data)
        writes = {name: path is not None for name, path in job.options.of_predictions.items()}
        self._loader = self.loader(data, **writes)
        checkpoint = WeakMethod(self._checkpoint)
        setup = Setup(self.listener, self.grid, self.loader, any(writes.values()), checkpoint, self.started_at)
        self.race, self.outcome = Race(setup, data), Outcome()
        self.stream = StreamLearning(self.race)

    def stop(self) -> None:
        super().stop()
        self.race.stop()

    def _detached(self, data: AutoData, outcome: Outcome) -> "AutoTrainer":
        """A trainer with these data, for a checkpoint: it writes no predictions, and does not change this trainer."""
        found = type(self)(self.job, data)
        found._loader, found.outcome, found.drawn = self.loader(data), outcome, self.drawn
        found.stopped, found.started_at = self.stopped, self.started_at
        return found

    def _checkpoint(self, data: AutoData, outcome: Outcome, number_of_pass: int) -> None:
        """Give the listener a checkpoint between passes. outcome: of the race at this time."""
        found = self._detached(data, outcome)
        found.pass_number = number_of_pass
        found._feed_given(found._load_model(), self.batches, array("d", []))
        self.listener.on_checkpoint(found)

    # --- files -------------------------------------------------------------------------------

    def learn_in_passes(self, batches: Batches) -> None:
        data, self.batches = self.data, batches
        data.scale_labels()
        data.check_baseline()
        if data.is_scarce:
            self._learn_once(DrawnExamples.of(data.summary, batches))
            return
        if data.summary.examples and data.baseline:
            examples = self._learned(DrawnExamples.of(data.summary, batches))
            batches, self.drawn = self.batches, examples.batches
            assert self.outcome.settings is not None and self.outcome.summary is not None
            data.settings, data.summary = self.outcome.settings, self.outcome.summary
            self.pass_number = self.race.pass_number
            if not self.outcome.passes_used:
                return  # a signal came within the first pass
        learner, found, scores = self._load_model(), FilePredictions(self.outcome, data), array("d", [])
        if found.judge is not None:
            assert self.outcome.best is not None
            of_labels = WeightScale(data.weights_as.scale, data.weights_as.shift)
            self._feed_judge(found.judge.examples.batches(), self.outcome.best.predictions, of_labels)
        elif data.validation is not None:
            self._feed_judge(data.validation_batches, found.in_file(data.validation.summary))
        else:
            scores = found.in_file(data.summary)
        self._feed_given(learner, batches, scores)  # without scores, the examples are only counted

    def _learned(self, examples: DrawnExamples) -> DrawnExamples:
        """Learn the batches, whose examples these are. Returns the examples, with the labels that were learned."""
        self.outcome = learned_in_passes(self.race, examples, self.batches)
        return examples

    def _learn_once(self, examples: DrawnExamples) -> None:
        """Learn examples in one pass, in drawn order, if they are too few for folds. Each is predicted before it is
        learned. If the model is the intercept alone, the reported loss is that of the intercept."""
        self._begin(examples.first(SAMPLED).batches)
        self.listener.on_begin(self)
        scores = self.stream.predictions(examples)
        self.end()
        if not self.data.examples:
            return
        self.outcome = replace(self.outcome, is_fed_again=True)
        if self.outcome.best is None:
            scores = FilePredictions(self.outcome, self.data).in_file(self.data.summary)
        self._feed_given(self._load_model(), self.batches, scores)

    def _feed_judge(self, batches: Iterable[Batch], scores: Any, scale: WeightScale | None = None) -> None:
        """Measure the model on examples that it has not learned. scores: of these examples."""
        judge = self._loader.learner(self.settings, scale or WeightScale())
        judge.answers_blank_lines = False
        self._feed_given(judge, batches, scores)
        self.held = judge.progressive

    # --- a stream ----------------------------------------------------------------------------

    @property
    def has_begun(self) -> bool:
        return self.data.stream is not None

    @property
    def has_learned(self) -> bool:
        return super().has_learned or (self.data.stream is not None and self.data.stream.examples > 0)

    def so_far(self) -> "AutoTrainer":
        """A trainer with the model of the stream so far. It does not change this trainer."""
        found, counted = self._detached(detached(self.data), self.outcome), self.learner
        if found.data.stream is None:
            found.reader.begin_detached(found)
        else:
            before = {name: self.job.before.get(name, 0) + getattr(counted, name) for name in COUNTERS}
            found.job, found.race.grid.dense = self.job._replace(before=before), self.race.grid.dense
            found.learner = found._loader.learner(self.data.settings, self.data.weights_as)
            found.learner.min_label, found.learner.max_label = counted.min_label, counted.max_label
        found.counted = counted.progressive
        found.end()
        return found

    def restore(
        self, dense: list[tuple[int, float, bool]], stream: dict[str, Any], counters: dict[str, int],
        range_of_labels: tuple[float, float],
    ) -> None:
        """Continue a stream that another trainer began; the data know its labels. dense: its columns of `center`.
        stream: its state. counters: of its learner, with those of the runs before."""
        self.data.scale_labels()
        self.race.grid.dense = dense
        self._begin(tuple, stream["candidates"]).load(stream)
        self.job = self.job._replace(before=counters)
        self.learner.min_label, self.learner.max_label = range_of_labels

    def _begin(self, sample: Any, names: Iterable[str] = ()) -> Stream:
        """Create the stream and the learner of the run. Arguments as in `StreamLearning.begin`."""
        found = self.stream.begin(sample, names)
        self.settings = self.data.settings
        self.learner = self._loader.learner(self.settings, self.data.weights_as)
        return found

    def begin(self, batches: Sequence[Batch]) -> None:
        data = self.data
        data.scale_labels()
        self.outcome = replace(self.outcome, features=self.stream.derive(batches))
        self._begin(partial(iter, batches))
        if not (data.is_scarce or "passes" in self.options.given or self.source.keeps_batches):
            self.listener.say(ONE_PASS if is_large(self.options.data) else ONE_PASS_OF_STREAM)
        self.listener.on_begin(self)
        for batch in batches:
            self.learn(batch)

    def learn(self, batch: Batch) -> None:
        """Learn a batch, and give the listener the checkpoints that are due in it."""
        while (most := self.listener.next_checkpoint(self.learner.examples)) is not None:
            end = line_after(batch, most)
            if end is None:
                break
            self._learn_part(batch.part(0, end))
            if self.stopped:
                return
            found = self.so_far()
            found.lines_learned = self.learner.lines
            self.listener.on_checkpoint(found)
            batch = batch.part(end, len(batch))
        self._learn_part(batch)
        if self.listener.is_checkpoint_due(0):
            self.listener.on_checkpoint(self.so_far())

    def _learn_part(self, batch: Batch) -> None:
        assert self.data.stream is not None
        self.learner.give(batch, self.data.stream.learn(batch))
        self.feed(batch)

    def end(self) -> None:
        assert self.data.stream is not None
        if not self.data.stream.examples:
            return  # a signal came before the first one
        batch = self.stream.sample()
        self.drawn = partial(iter, (batch,))
        self.data.check_baseline()
        self.outcome = self.stream.outcome(batch, self.outcome)
        self._load_model(self.learner)

    def weights_now(self) -> tuple[int, bool]:
        stream = self.data.stream
        return len(stream.best.learner.lanes) if stream is not None else 0, False

    # --- the model ---------------------------------------------------------------------------

    def _load_model(self, learner: GivenPredictions | None = None) -> GivenPredictions:
        """Load the model into this learner, or into a new one, which becomes the learner of the run."""
        found = self._loader.loaded(self.outcome.best, self.outcome.dense, learner)
        self.learner, self.settings, self.intercepts = found
        return found.learner

    def _snapshot(self, interrupted: bool) -> "Model":
        dense = self.outcome.centered
        if not dense and self.data.column_names is not None:  # curves have no feature for a column of one value, either
            dense = self.race.grid.dense
        model = with_constant_columns(super()._snapshot(interrupted), dense)
        if self.intercepts and len(model.keys):
            at = model.records * bisect_left(model.keys, self.learner.expander.constant_key or 0)
            for k, intercept in enumerate(self.intercepts):
                model.weights[at + k] = intercept  # large if labels or values have an offset: all digits count
        return replace(model, passes=self.description.passes())

    def _models_of_folds(self) -> Any:
        best = self.outcome.best and weights_of_model(self.outcome.best, self.data.settings)
        if best is None or best.kept is None or best.kept.by_fold is None:
            return None
        scale, n = self.data.weights_as.scale, len(best.kept.by_fold) // len(best.kept.keys)
        return best.kept.keys, [array("d", (w * scale for w in best.kept.by_fold[fold::n])) for fold in range(n)]

    # --- what is said of it ------------------------------------------------------------------

    @property
    def description(self) -> Description:
        return Description(self.outcome, self.data)

    def chosen(self) -> dict[str, Any]:
        return self.description.chosen()

    def more_for_report(self) -> dict[str, Any]:
        return self.description.report()

    @property
    def where(self) -> str:
        if self.held is not None:
            return self.description.where
        return super().where or ("out_of_fold" if self.data.stream is None else "")

    def results(self) -> list[Result]:
        examples, *others = super().results()
        found, features = [examples, Result("passes_used", self.outcome.passes_used)], self.outcome.features
        if features.without is not None and self.data.settings.derived:
            found += [Result("derived", self.data.settings.derived.summary()),
                      Result("loss_without_derived_features", features.without)]
        if self.outcome.best is not None or self.data.summary.examples:
            measures = self.measures(self.held_tally or self.learner.progressive)
            found.append(Result("chosen", self.description.in_words(_of_the_race(measures, self.settings))))
        return found + [r for r in others if r.key != "passes_used"]

    def about_model(self) -> Iterator[str]:
        """The derived features; all else is in `chosen`."""
        yield from self.description.about_features(is_whole=not self.stopped)

    def judged_on(self) -> str:
        return self.description.judged_on()

    def how(self) -> list[str]:
        return self.description.how()

    def _doubts(self) -> Iterator[str]:
        yield from self.description.doubts()
        yield from super()._doubts()


def _of_the_race(measures: dict[str, Result], settings: Settings) -> Result | None:
    """The measure of the summary that has the loss of the race, of predictions clipped to the range of the labels; None
    if it has another loss, as that of classes whose loss is not logistic."""
    found = judging(measures)
    return found if found is not None and name_of(settings, found).startswith(called(settings.loss)) else None


def line_after(batch: Batch, examples: int) -> int | None:
    """The number of the line after so many examples of a batch; None if it has fewer."""
    if examples > len(batch):
        return None
    for line, kind in enumerate(batch.kind):
        examples -= kind == EXAMPLE
        if examples == 0:
            return line + 1
    return None
