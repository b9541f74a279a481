"""`vwlite train --sparse`: the trainer of learners of adagrad-rda; the smallest good one is the model."""

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from vwlite.algorithms.losses import called
from vwlite.algorithms.memory import available_memory
from vwlite.algorithms.settings import Settings
from vwlite.core.auto.given import GivenPredictions
from vwlite.core.auto.stream import Reservoir
from vwlite.core.data.batch import Batch
from vwlite.core.learn.learner import Learner
from vwlite.core.learn.tally import Tally
from vwlite.derived import Derived
from vwlite.errors import UsageError
from vwlite.model.header import in_json
from vwlite.model.learners import field_of, slots_of
from vwlite.options.spec import option_name
from vwlite.output.results import WHERE, Result
from vwlite.output.text import shown
from vwlite.runs.baseline import baseline_of, is_worse
from vwlite.runs.options import TrainOptions
from vwlite.runs.resolve import NOT_AUTO
from vwlite.runs.run import feed
from vwlite.training.auto.auto_data import ROBUST, AutoData
from vwlite.training.auto.data import Batches, DrawnExamples
from vwlite.training.auto.data_trainer import DataTrainer
from vwlite.training.auto.grid import Grid
from vwlite.training.auto.learning import ORDERED, learned_in_passes
from vwlite.training.auto.loader import ModelLoader, give_nothing, settings_of_model, without_empty
from vwlite.training.auto.model import INTERCEPT, WeightScale, constant_keys
from vwlite.training.auto.race import Outcome, Race, Setup
from vwlite.training.auto.selection import FOLDS
from vwlite.training.auto.sparse import (
    NORMALIZATIONS,
    JudgedLearner,
    LearnerMaker,
    Parts,
    SparseGrid,
    SparsePoint,
    best_grid,
    intercept_at,
    learn_all,
    smallest,
)
from vwlite.training.auto.sparse_folds import FeatureSet, FoldSearch
from vwlite.training.auto.trainer import check_pairs
from vwlite.training.front import front_of
from vwlite.training.trainer import Job, Listener
from vwlite.training.verdict import normalization

DECIDING = 5000  # the first examples, which choose the grid
FEATURE = 120  # bytes of a feature in the table of a learner, at most
AS_THEY_COME = "examples are learned as they come, and learners are compared by their last half or a bit more"
HEADER = "nonzero weights  loss      l1         learning rate  passes"

_JUDGED = "it compares models on rows that they have not learned, with folds of its own"
_DRAWN = "its examples are learned in drawn order: use vwlite predict"
REFUSED = {
    **dict.fromkeys(NOT_AUTO, _JUDGED),
    "checkpoint_every": "its model is chosen at the end",
    "validate": _JUDGED,
    "predictions": _DRAWN,
    "raw_predictions": _DRAWN,
}


def check_options(o: TrainOptions) -> None:
    """UsageError for options that `--sparse` does not use."""
    for name, why in REFUSED.items():
        if name in o.given:
            raise UsageError(f"{option_name(name)} has no effect with --sparse: {why}")
    check_pairs(o.derive, o.pairs)
    if "oaa" in o.typed or "classes" in o.typed:
        raise UsageError("--sparse and --oaa cannot be used together: it is for one score")
    if o.typed.get("label_transform", "none") != "none":
        raise UsageError("--sparse and --label-transform cannot be used together: leave --sparse out, or use "
                         "--algorithm adagrad-rda --l1 1e-5")
    if isinstance(o.typed.get("quantile_tau"), tuple):
        raise UsageError("--sparse is for one score, and --quantile-tau names several quantiles: train a model of one")
    if o.passes > 1:
        raise UsageError("--sparse chooses the number of passes, up to 8: leave --passes out")
    if o.typed.get("normalize") == "center":
        raise UsageError("--sparse cannot center values: use --normalize none, l2 or log, or leave it out")


class SparseChoice:
    """The choice among sparse models."""

    front: Sequence[SparsePoint] = ()
    point: SparsePoint | None = None  # None: the intercept alone is the model
    gain: float | None = None  # of `--algorithm auto` over the best constant; None: it has not learned
    baseline = 0.0  # the loss of the best constant

    def __init__(self, share: float | None, most: int | None, *, takes_best: bool) -> None:
        """share: of the gain, that the model keeps. most: weights, at most. takes_best: ignore the share."""
        self.share, self._most, self.takes_best = share, most, takes_best
        self.sets: list[FeatureSet] = []  # the features that models learn

    def find(self, points: Sequence[SparsePoint], baseline: float) -> None:
        """Find the front of these points, and the one that is the model."""
        assert self.share is not None
        self.front, self.baseline = front_of(points, SparsePoint.by_size), baseline
        allowed = [p for p in self.front if self._most is None or p.nonzeros <= self._most]
        wanted = math.inf if self.takes_best else self.share * self.largest_gain
        self.point = smallest(allowed, baseline, wanted)

    def say(self, listener: Listener) -> None:
        """Print the front."""
        listener.say(HEADER)
        for p in self.front:
            mark = "  chosen" if p == self.point else ""
            listener.say(f"{p.nonzeros:<15}  {p.loss:<8.6g}  {p.l1:<9.3g}  {p.rate:<13.3g}  {p.passes}{mark}")

    @property
    def chosen_set(self) -> FeatureSet:
        assert self.point is not None
        return self.sets[self.point.which]

    @property
    def largest_gain(self) -> float:
        """The gain of which a share is kept."""
        return self.gain if self.gain is not None else self.baseline - self.front[-1].loss if self.front else 0.0

    @property
    def gain_of(self) -> str:
        """Whose gain that is."""
        return "the default" if self.gain is not None else "the best learner"

    def doubts(self) -> Iterator[str]:
        """A note if no model keeps the share."""
        if self.point is None or self.share is None or self.takes_best or self.kept >= self.share:
            return
        yield (f"no sparse model that was tried keeps {share(self.share)} of the gain of {self.gain_of}; the model is "
               f"the one that keeps most, {share(self.kept)}: leave --sparse out, or name a smaller share")

    @property
    def kept(self) -> float:
        """The share of the gain that the model keeps."""
        assert self.point is not None
        return (self.baseline - self.point.loss) / self.largest_gain


class SparseTrainer(DataTrainer):
    """Files: the learners are judged on rows that they have not learned, with the folds of `--algorithm auto`, which
    learns first. Few examples of a class, or a stream: one pass, judged by the later examples."""

    judged: Sequence[JudgedLearner] | None = None  # the learners of a stream; the last one is the constant
    grid: SparseGrid | None = None  # of a stream, or of files with few examples of a class
    features = 0  # of the model, also those with a weight of 0
    _search: FoldSearch | None = None  # of files

    def __init__(self, job: Job, data: AutoData, stack: ExitStack) -> None:
        resolved = replace(job.resolved, why="learners of adagrad-rda, as --sparse is given")
        super().__init__(job._replace(resolved=resolved), data)
        self._auto, self._loader = Race(Setup(self.listener, Grid, ModelLoader), data), ModelLoader(data)
        o = job.options
        is_best = o.most_weights is not None and "sparse" not in o.given  # --max-size is given alone
        self.choice = SparseChoice(o.sparse, o.most_weights, takes_best=is_best)
        self.pool = stack.enter_context(ThreadPoolExecutor(job.options.threads))
        self._checked = 0  # bytes of the learners of a stream at the last check of memory

    def stop(self) -> None:
        super().stop()
        self._auto.stop()

    # --- files -------------------------------------------------------------------------------

    def learn_in_passes(self, batches: Batches) -> None:
        data, best = self.data, None
        data.scale_labels()
        if data.summary.examples and data.baseline:
            examples = DrawnExamples.of(data.summary, batches)
            self.drawn = examples.batches
            if data.is_scarce:
                best = self._best_of(examples)
            else:
                outcome = learned_in_passes(self._auto, examples, batches)
                if outcome.best is not None and not self.stopped:
                    best = self._best_of_outcome(outcome, examples)
            if self.stopped:
                return
        learner = self._loader.learner(self._model_settings())
        self._load(learner, best)
        self._feed_given(learner, batches, array("d", []))  # counts the examples

    def _best_of_outcome(self, outcome: Outcome, examples: DrawnExamples) -> Learner | None:
        """The chosen learner of the features of `--algorithm auto`, whose outcome this is, or of the columns as they
        are; None: the intercept alone. `gain` is that of auto on the rows that judge."""
        data, selection = self.data, outcome.selection
        assert selection is not None and outcome.best is not None and outcome.best.best is not None
        self._search = search = FoldSearch(selection, self.pool, lambda: self.stopped)
        loss, baseline, scale = outcome.best.best.loss, data.baseline, data.labels_as.loss_scale
        if not selection.holds_out and len(search.numbers) < FOLDS:
            loss = selection.loss_in(search.numbers, outcome.best.predictions)
            baseline = selection.loss_in(search.numbers, constants=data.constants)
        self.choice.gain, data.baseline = (baseline - loss) * scale, baseline * scale
        if self.choice.gain <= 0:
            return None
        points: list[SparsePoint] = []
        for which, (maker, features) in enumerate(features_of(outcome, data)):
            grid = self._grid_of(maker, lambda: first_lines(examples.batches(), DECIDING))
            self.choice.sets.append(FeatureSet(maker.with_settings(normalize=grid.normalize), grid, features))
            points += search.points(self.choice.sets[which], which, self._fit(features, len(grid.pairs)))
        learned: dict[SparsePoint, Learner] = {}
        self.choice.find(points, self.data.baseline)
        while self.choice.point is not None and self.choice.point not in learned and not self.stopped:
            # Folds have counted the weights of models of fewer rows.
            learner = search.learned(self.choice.chosen_set, self.choice.point)
            counted = replace(self.choice.point, nonzeros=learner.rule.count_nonzero())
            points[points.index(self.choice.point)] = counted
            learned[counted] = learner
            self.choice.find(points, self.data.baseline)
        if self.stopped or self.choice.point is None:
            self.choice.point = None
            return None
        data.settings = self.choice.chosen_set.maker.settings
        self.choice.say(self.listener)
        return learned[self.choice.point]

    def _best_of(self, examples: DrawnExamples) -> Learner | None:
        """The chosen learner, after it has learned the examples; None: the intercept alone."""
        n = self.data.summary.examples
        maker = self._choose_grid(lambda: first_lines(examples.batches(), DECIDING))
        assert self.grid is not None
        constant = JudgedLearner(maker.constant(self.data.constant()), n // 2)
        pairs, at_once = self.grid.pairs, self._fit(self.data.summary.features, len(self.grid.pairs))
        judged: list[JudgedLearner] = []
        points: list[SparsePoint] = []
        for begin in range(0, len(pairs), at_once):
            some = pairs[begin : begin + at_once]
            judged = [JudgedLearner(maker.learner(*pair), n // 2) for pair in some]
            learn_all([*judged, constant] if begin == 0 else judged, self._until_stopped(examples), self.pool)
            points += map(point_of, judged, some)
        if self.stopped:
            return None
        self._choose(points, constant)
        if self.choice.point is None:
            return None
        at = points.index(self.choice.point)
        if len(judged) < len(points):  # not all fit into memory at once
            judged = [JudgedLearner(maker.learner(*pairs[at]))]
            learn_all(judged, self._until_stopped(examples), self.pool)
            return judged[0].learner
        return judged[at].learner

    def _until_stopped(self, examples: DrawnExamples) -> Parts:
        for batch in examples.batches():
            if self.stopped:
                return
            yield batch, None

    def _choose_grid(self, parts: Callable[[], Parts]) -> LearnerMaker:
        """Choose the grid of a stream by the first examples. Returns the maker of its learners."""
        maker = LearnerMaker(self.data.settings, self.data.weights_as)
        self.grid = self._grid_of(maker, parts)
        maker = maker.with_settings(normalize=self.grid.normalize)
        self.choice.sets = [FeatureSet(maker, self.grid, self.data.summary.features)]
        return maker

    def _grid_of(self, maker: LearnerMaker, parts: Callable[[], Parts]) -> SparseGrid:
        """The grid of learners, by the first examples. Hats and products are learned as they are."""
        names: Sequence[str] = NORMALIZATIONS
        derived = maker.settings.derived
        if "normalize" in self.options.typed or (derived is not None and derived.columns):
            names = [maker.settings.normalize]
        return best_grid(maker, names, self.data.constant(), parts, self.pool)

    def _fit(self, features: int, most: int) -> int:
        """The number of learners that fit into memory, at most as many as are wanted."""
        one, room = FEATURE * features, available_memory()
        if room is None:
            return most * FOLDS
        if one > room:
            raise MemoryError(
                f"a learner of {features:,} features needs {one >> 20:,} MB, and there are {room >> 20:,}: use fewer "
                "--bits"
            )
        return min(room // max(one, 1), most * FOLDS)

    def _choose(self, points: Sequence[SparsePoint], constant: JudgedLearner) -> None:
        """Choose by the losses of the later examples."""
        self.data.baseline = constant.loss
        self.choice.find(points, self.data.baseline)
        self.choice.say(self.listener)

    # --- a stream ----------------------------------------------------------------------------

    @property
    def has_begun(self) -> bool:
        return self.judged is not None

    def begin(self, batches: Sequence[Batch]) -> None:
        data = self.data
        data.scale_labels()
        self.listener.say(AS_THEY_COME)
        self.judged = []
        if data.summary.examples:
            maker = self._choose_grid(lambda: first_lines(batches, DECIDING))
            assert self.grid is not None
            self.judged = [JudgedLearner(maker.learner(*pair)) for pair in self.grid.pairs]
            self.judged.append(JudgedLearner(maker.constant(self.data.constant())))
        self._reservoir = Reservoir(data.learned_loss(), data.labels_as.mean, data.labels_as.scale)
        self.learner = self._loader.learner(self._model_settings())
        for batch in batches:
            self.learn(batch)
            if self.stopped:
                break

    def learn(self, batch: Batch) -> None:
        assert self.judged is not None
        self._check_memory()
        self._reservoir.take(batch)
        learn_all(self.judged, [(batch, None)], self.pool)
        give_nothing(self.learner, batch, 1)
        self.feed(batch)

    def _check_memory(self) -> None:
        """MemoryError before the tables need more memory than there is."""
        assert self.judged is not None
        taken = sum(j.learner.rule.table_bytes for j in self.judged)
        room = available_memory() if taken > self._checked else None
        self._checked = taken
        if room is not None and 2 * taken > room:
            raise MemoryError(
                f"{len(self.judged)} learners have {taken >> 20:,} MB, and there are {room >> 20:,} for more: name "
                "files, or use --algorithm adagrad-rda --nonzeros N"
            )

    def end(self) -> None:
        assert self.judged is not None
        assert self.grid is not None
        *judged, constant = self.judged
        tally = self.learner.progressive
        data, one_label = self.data, tally.min_label == tally.max_label
        has_one_label = one_label and data.settings.constant and not data.summary.has_initial
        points = [] if has_one_label else list(map(point_of, judged, self.grid.pairs))
        self._choose(points, constant)
        point = self.choice.point
        self._load(self.learner, None if point is None else judged[points.index(point)].learner)
        if point is not None and self._is_worse_than_constant():
            self.data.hints.append(ORDERED)

    def _is_worse_than_constant(self) -> bool:
        """Whether the model is worse on a sample of the stream, though its progressive predictions were better."""
        judge, sample = self._loader.learner(self.settings), self._reservoir.batch()
        judge.rule.load(self.learner.rule.scalars(), self.learner.rule.slots())
        give_nothing(judge, sample, 1)
        judge.run(sample)
        baseline = baseline_of(self.settings, judge, judge.progressive)
        return baseline is not None and judge.progressive.average > baseline.loss

    # --- the model ---------------------------------------------------------------------------

    def _model_settings(self) -> Settings:
        """The settings of the chosen model, or of the intercept alone before the choice."""
        if self.choice.point is None:
            usual = Settings.of("adagrad-rda").learning_rate
            return without_empty(LearnerMaker(self.data.settings, self.data.weights_as).settings_at(0.0, usual))
        return without_empty(self.choice.chosen_set.maker.settings_at(self.choice.point.l1, self.choice.point.rate))

    def _load(self, learner: GivenPredictions, best: Learner | None) -> None:
        """Load the weights of the model into the learner of the run. best: None: the intercept alone."""
        self.learner, self.settings = learner, self._model_settings()
        if best is None:
            self._load_intercept(learner)
            return
        at = intercept_at(best, best.rule.slots())
        self.features = len(best.rule) - (at is not None)
        self._load_weights(learner, best)
        self.held = best.progressive if self._search is None else self._judged_out_of_fold()

    def _load_weights(self, learner: GivenPredictions, best: Learner) -> None:
        """Load the state of a learner of scaled labels. A model counts each row once."""
        slots, scalars = best.rule.slots(), best.rule.scalars()
        if self.choice.point is not None:
            scalars["t"] /= self.choice.point.passes
        at = intercept_at(best, slots)
        if at is not None and self.data.weights_as.shift:
            z, squares = (field_of(best.rule, slots, name) for name in ("z", "S"))
            delta, rate = self.settings.delta, scalars["scale"]
            intercept = rate * z[at] / (delta + math.sqrt(squares[at])) + self.data.weights_as.shift
            squares[at] *= inertia_of(self.data.weights_as)
            z[at] = intercept * (delta + math.sqrt(squares[at])) / rate
        learner.rule.load(scalars, slots)

    def _judged_out_of_fold(self) -> Tally:
        """The tally of the rows that judge, each predicted by a learner that has not learned it."""
        assert self._search is not None and self.choice.point is not None
        judge = self._loader.learner(self.settings)
        for learner, examples in self._search.of_folds(self.choice.chosen_set, self.choice.point):
            self._load_weights(judge, learner)
            for batch in examples.batches():
                give_nothing(judge, batch, 1)
                feed(judge, batch, self.settings)
        return judge.progressive

    def _load_intercept(self, learner: GivenPredictions) -> None:
        rate, keys = self.settings.learning_rate, constant_keys(learner)
        of_loss = self.data.weights_as.slope if self.settings.loss in ROBUST else self.data.weights_as.scale
        squares = max(self.data.summary.examples, 1) * of_loss**2 * inertia_of(self.data.weights_as)
        fields = {"z": self.data.constant() * (self.settings.delta + math.sqrt(squares)) / rate, "S": squares}
        of_keys = {name: memoryview(array("d", [x] * len(keys))) for name, x in fields.items()}
        learner.rule.load({"t": float(self.data.summary.examples), "shift": 0.0, "scale": rate},
                          slots_of(learner.rule, keys, of_keys))

    def chosen(self) -> dict[str, Any]:
        found: dict[str, Any] = {"baseline": self.data.baseline, "sparse": self.options.sparse}
        if self.choice.point is None:
            return found | {"model": "intercept"}
        return found | {
            "normalize": self.choice.chosen_set.grid.normalize, **reported(self.choice.point),
            "best loss": self.choice.front[-1].loss,
            "largest gain": self.choice.largest_gain, "kept": self.choice.kept,
            "loss is": f"{WHERE[self._judged_by]} {called(self.settings.loss)}",
        }

    @property
    def _judged_by(self) -> str:
        """The predictions by whose losses models are compared: a key of `WHERE`."""
        if self._search is None:
            return "progressive"
        return "holdout" if self._search.holds_out else "out_of_fold"

    def _doubts(self) -> Iterator[str]:
        yield from super()._doubts()
        measures = self.measures(self.held_tally or self.learner.progressive)
        own = measures["average_loss"]
        if self._search is None and self.choice.point is not None and is_worse(own.value, own.baseline):
            yield ("the loss above, of all rows before they were learned, is worse than that of the best constant; on "
                   "the later rows, by which the model was chosen, it is better")

        yield from self.choice.doubts()

    def more_for_report(self) -> dict[str, Any]:
        front = [{**in_json(reported(p)), "chosen": p == self.choice.point} for p in self.choice.front]
        return {"chosen": in_json(self.chosen()), "front": front}

    def about_model(self) -> Iterator[str]:
        """The derived features; all else is in `chosen`."""
        derived = self.data.settings.derived
        if self.choice.point is not None and derived is not None and derived != Derived():
            yield f"features: {derived.summary()}, as the default has them"

    def judged_on(self) -> str:
        return "on rows before they were learned" if self._search is None else "on rows not learned"

    def how(self) -> list[str]:
        if self.choice.point is None:
            return [INTERCEPT]
        p, passes = self.choice.point, []
        kept = f"{p.nonzeros:,} of {self.features:,} weights"
        if self._search is not None:
            passes = [f"{p.passes} pass{'es' * (p.passes > 1)}"]
        values = normalization(self.choice.chosen_set.grid.normalize)
        return [values, kept, f"l1 {p.l1:g}", f"learning rate {p.rate:g}", *passes]

    @property
    def where(self) -> str:
        return self._judged_by if super().where else ""

    def results(self) -> list[Result]:
        examples, *others = super().results()
        found = [examples]
        if self.choice.point is not None:
            p = self.choice.point
            found.append(Result("chosen", (
                f"{', '.join(self.how())}: keeps {share(self.choice.kept)} of the gain of {self.choice.gain_of}; "
                f"{called(self.settings.loss)} {shown(p.loss)} (best {shown(self.choice.front[-1].loss)}, baseline "
                f"{shown(self.data.baseline)})"
            )))
        elif self.data.summary.examples:
            found.append(Result("chosen", INTERCEPT))
        return found + others


def inertia_of(labels: WeightScale) -> float:
    """The factor of the squared gradients of the intercept when labels are scaled back. A weight of adagrad-rda falls
    as these sums grow; without the factor, a continued run could not correct that."""
    return max(1.0, abs(labels.shift) / labels.scale)


def features_of(outcome: Outcome, data: AutoData) -> Iterator[tuple[LearnerMaker, int]]:
    """What sparse models learn: the columns as they are, then the features that auto has derived, if any; and how many
    features there are."""
    yield LearnerMaker(data.settings, data.weights_as), data.summary.features
    if outcome.features.without is not None:
        assert outcome.settings is not None and outcome.summary is not None
        yield LearnerMaker(settings_of_model(outcome.settings), data.weights_as), outcome.summary.features


def point_of(judged: JudgedLearner, pair: tuple[float, float]) -> SparsePoint:
    return SparsePoint(judged.learner.rule.count_nonzero(), judged.loss, *pair)


def reported(p: SparsePoint) -> dict[str, float]:
    return {"nonzero weights": p.nonzeros, "loss": p.loss, "l1": p.l1, "learning rate": p.rate, "passes": p.passes}


def share(x: float) -> str:
    """A share in percent: rounded down, so that one that is not reached is not shown as reached."""
    return f"{math.floor(1000 * x + 1e-9) / 10:g} %"


def first_lines(batches: Iterable[Batch], most: int) -> Iterator[tuple[Batch, int]]:
    """The first lines of batches: each batch with the line before which to stop."""
    for batch in batches:
        yield batch, min(most, len(batch))
        most -= len(batch)
        if most <= 0:
            return
