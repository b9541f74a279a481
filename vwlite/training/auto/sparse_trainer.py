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
from vwlite.errors import UsageError
from vwlite.model.header import in_json
from vwlite.model.learners import field_of, slots_of
from vwlite.options.spec import option_name
from vwlite.output.results import Result
from vwlite.output.text import shown
from vwlite.runs.baseline import baseline_of, is_worse
from vwlite.runs.options import TrainOptions
from vwlite.runs.resolve import NOT_AUTO
from vwlite.training.auto.auto_data import ROBUST, AutoData
from vwlite.training.auto.data import Batches, DrawnExamples
from vwlite.training.auto.data_trainer import DataTrainer
from vwlite.training.auto.grid import Grid
from vwlite.training.auto.learning import ORDERED
from vwlite.training.auto.loader import ModelLoader, give_nothing
from vwlite.training.auto.model import INTERCEPT, constant_keys
from vwlite.training.auto.race import Race, Setup
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
from vwlite.training.front import front_of
from vwlite.training.trainer import Job
from vwlite.training.verdict import normalization

DECIDING = 5000  # the first examples, which choose the grid
FEATURE = 120  # bytes of a feature in the table of a learner, at most
AS_THEY_COME = "examples are learned as they come, and learners are compared by their last half or a bit more"
HEADER = "nonzero weights  loss      l1         learning rate"

_JUDGED = "it compares learners by the second half of the data"
_DRAWN = "its examples are learned in drawn order: use vwlite predict"
REFUSED = {
    **dict.fromkeys(NOT_AUTO, _JUDGED),
    "checkpoint_every": "its model is chosen at the end",
    **dict.fromkeys(("derive", "pairs"), "it learns the columns as they are"),
    "validate": _JUDGED,
    "predictions": _DRAWN,
    "raw_predictions": _DRAWN,
}


def check_options(o: TrainOptions) -> None:
    """UsageError for options that `--sparse` does not use."""
    for name, why in REFUSED.items():
        if name in o.given:
            raise UsageError(f"{option_name(name)} has no effect with --sparse: {why}")
    if "oaa" in o.typed or "classes" in o.typed:
        raise UsageError("--sparse and --oaa cannot be used together: it is for one score")
    if o.typed.get("label_transform", "none") != "none":
        raise UsageError("--sparse and --label-transform cannot be used together: leave --sparse out, or use "
                         "--algorithm adagrad-rda --l1 1e-5")
    if isinstance(o.typed.get("quantile_tau"), tuple):
        raise UsageError("--sparse is for one score, and --quantile-tau names several quantiles: train a model of one")
    if o.passes > 1:
        raise UsageError("--sparse learns in one pass: leave --passes out")
    if o.typed.get("normalize") == "center":
        raise UsageError("--sparse cannot center values: use --normalize none, l2 or log, or leave it out")


class SparseTrainer(DataTrainer):
    """Learns files in drawn order, first with `--algorithm auto`; learners are compared by the second half of the
    examples. A stream is learned in one pass, in its order."""

    judged: Sequence[JudgedLearner] | None = None  # the learners of a stream; the last one is the constant
    grid: SparseGrid | None = None
    front: Sequence[SparsePoint] = ()
    point: SparsePoint | None = None  # None: the intercept alone is the model
    gain: float | None = None  # of `--algorithm auto` over the best constant; None: it has not learned
    features = 0  # of the model, also those with a weight of 0

    def __init__(self, job: Job, data: AutoData, stack: ExitStack) -> None:
        resolved = replace(job.resolved, why="learners of adagrad-rda, as --sparse is given")
        super().__init__(job._replace(resolved=resolved), data)
        self._auto, self._loader = Race(Setup(self.listener, Grid, ModelLoader), data), ModelLoader(data)
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
            if not data.is_scarce:
                self.gain = self._gain_of_auto(examples)
            if (self.gain is None or self.gain > 0) and not self.stopped:
                best = self._best_of(examples)
            if self.stopped:
                return
        learner = self._loader.learner(self._model_settings())
        self._load(learner, best)
        self._feed_given(learner, batches, array("d", []))  # counts the examples

    def _gain_of_auto(self, examples: DrawnExamples) -> float:
        """The loss of the best constant minus the out-of-fold loss of `--algorithm auto`."""
        auto, data = self._auto, self.data
        auto.learn(examples)
        if auto.best is None or auto.best.best is None:
            return 0.0
        return (data.baseline - auto.best.best.loss) * data.labels_as.loss_scale

    def _best_of(self, examples: DrawnExamples) -> Learner | None:
        """The chosen learner, after it has learned the examples; None: the intercept alone."""
        n = self.data.summary.examples
        maker = self._choose_grid(lambda: first_lines(examples.batches(), DECIDING))
        assert self.grid is not None
        constant = JudgedLearner(maker.constant(self.data.constant()), n // 2)
        pairs, at_once = self.grid.pairs, self._fit()
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
        if self.point is None:
            return None
        at = points.index(self.point)
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
        """Choose the grid by the first examples. Returns the maker of its learners."""
        maker = LearnerMaker(self.data.settings, self.data.weights_as)
        names = [self.data.settings.normalize] if "normalize" in self.options.typed else NORMALIZATIONS
        self.grid = best_grid(maker, names, self.data.constant(), parts, self.pool)
        return maker.with_settings(normalize=self.grid.normalize)

    def _fit(self) -> int:
        """The number of learners that fit into memory."""
        assert self.grid is not None
        one, room = FEATURE * self.data.summary.features, available_memory()
        if room is None:
            return len(self.grid.pairs)
        if one > room:
            raise MemoryError(
                f"a learner of {self.data.summary.features:,} features needs {one >> 20:,} MB, and there are "
                f"{room >> 20:,}: use fewer --bits"
            )
        return min(room // one, len(self.grid.pairs))

    def _choose(self, points: Sequence[SparsePoint], constant: JudgedLearner) -> None:
        assert self.options.sparse is not None
        self.front, self.data.baseline = front_of(points, SparsePoint.by_size), constant.loss
        allowed, most = self.front, self.options.most_weights
        if most is not None:
            allowed = [p for p in self.front if p.nonzeros <= most]
        is_best = most is not None and "sparse" not in self.options.given  # take the best of the allowed ones
        wanted = math.inf if is_best else self.options.sparse * self._largest_gain
        self.point = smallest(allowed, self.data.baseline, wanted)
        self.listener.say(HEADER)
        for p in self.front:
            mark = "  chosen" if p == self.point else ""
            self.listener.say(f"{p.nonzeros:<15}  {p.loss:<8.6g}  {p.l1:<9.3g}  {p.rate:.3g}{mark}")

    @property
    def _largest_gain(self) -> float:
        """The gain of which a share is kept."""
        return self.gain if self.gain is not None else self.data.baseline - self.front[-1].loss if self.front else 0.0

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
        self._load(self.learner, None if self.point is None else judged[points.index(self.point)].learner)
        if self.point is not None and self._is_worse_than_constant():
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
        if self.point is None or self.grid is None:
            usual = Settings.of("adagrad-rda").learning_rate
            return LearnerMaker(self.data.settings, self.data.weights_as).settings_at(0.0, usual)
        maker = LearnerMaker(self.data.settings, self.data.weights_as).with_settings(normalize=self.grid.normalize)
        return maker.settings_at(self.point.l1, self.point.rate)

    def _load(self, learner: GivenPredictions, best: Learner | None) -> None:
        """Load the weights of the model into the learner of the run. best: None: the intercept alone."""
        self.learner, self.settings = learner, self._model_settings()
        if best is None:
            self._load_intercept(learner)
            return
        self.held = best.progressive
        slots, scalars = best.rule.slots(), best.rule.scalars()
        at = intercept_at(best, slots)
        self.features = len(best.rule) - (at is not None)
        if at is not None and self.data.weights_as.shift:
            z, squares = (field_of(best.rule, slots, name) for name in ("z", "S"))
            delta, rate = self.settings.delta, scalars["scale"]
            intercept = rate * z[at] / (delta + math.sqrt(squares[at])) + self.data.weights_as.shift
            squares[at] *= self._inertia
            z[at] = intercept * (delta + math.sqrt(squares[at])) / rate
        learner.rule.load(scalars, slots)

    @property
    def _inertia(self) -> float:
        """The factor of the squared gradients of the intercept when labels are scaled back. A weight of adagrad-rda
        falls as these sums grow; without the factor, a continued run could not correct that."""
        return max(1.0, abs(self.data.weights_as.shift) / self.data.weights_as.scale)

    def _load_intercept(self, learner: GivenPredictions) -> None:
        rate, keys = self.settings.learning_rate, constant_keys(learner)
        of_loss = self.data.weights_as.slope if self.settings.loss in ROBUST else self.data.weights_as.scale
        squares = max(self.data.summary.examples, 1) * of_loss**2 * self._inertia
        fields = {"z": self.data.constant() * (self.settings.delta + math.sqrt(squares)) / rate, "S": squares}
        of_keys = {name: memoryview(array("d", [x] * len(keys))) for name, x in fields.items()}
        learner.rule.load({"t": float(self.data.summary.examples), "shift": 0.0, "scale": rate},
                          slots_of(learner.rule, keys, of_keys))

    def chosen(self) -> dict[str, Any]:
        found: dict[str, Any] = {"baseline": self.data.baseline, "sparse": self.options.sparse}
        if self.point is None or self.grid is None:
            return found | {"model": "intercept"}
        return found | {
            "normalize": self.grid.normalize, **reported(self.point), "best loss": self.front[-1].loss,
            "largest gain": self._largest_gain, "kept": (self.data.baseline - self.point.loss) / self._largest_gain,
            "loss is": f"progressive {called(self.settings.loss)}",
        }

    def _doubts(self) -> Iterator[str]:
        yield from super()._doubts()
        measures = self.measures(self.held_tally or self.learner.progressive)
        own = measures["average_loss"]
        if self.point is not None and is_worse(own.value, own.baseline):
            yield ("the loss above, of all rows before they were learned, is worse than that of the best constant; on "
                   "the later rows, by which the model was chosen, it is better")

    def more_for_report(self) -> dict[str, Any]:
        front = [{**in_json(reported(p)), "chosen": p == self.point} for p in self.front]
        return {"chosen": in_json(self.chosen()), "front": front}

    def about_model(self) -> Iterator[str]:
        """Nothing: all is in `chosen`."""
        yield from ()

    def judged_on(self) -> str:
        return "on rows before they were learned"

    def how(self) -> list[str]:
        if self.point is None or self.grid is None:
            return [INTERCEPT]
        p = self.point
        kept = f"{p.nonzeros:,} of {self.features:,} weights"
        return [normalization(self.grid.normalize), kept, f"l1 {p.l1:g}", f"learning rate {p.rate:g}"]

    @property
    def where(self) -> str:
        return "progressive" if super().where else ""

    def results(self) -> list[Result]:
        examples, *others = super().results()
        found = [examples]
        if self.point is not None and self.grid is not None:
            p, kept = self.point, 100 * (self.data.baseline - self.point.loss) / self._largest_gain
            of = "the default" if self.gain is not None else "the best learner"
            found.append(Result("chosen", (
                f"{', '.join(self.how())}: keeps {kept:.0f} % of the gain of {of}; "
                f"{called(self.settings.loss)} {shown(p.loss)} (best {shown(self.front[-1].loss)}, baseline "
                f"{shown(self.data.baseline)})"
            )))
        elif self.data.summary.examples:
            found.append(Result("chosen", INTERCEPT))
        return found + others


def point_of(judged: JudgedLearner, pair: tuple[float, float]) -> SparsePoint:
    return SparsePoint(judged.learner.rule.count_nonzero(), judged.loss, *pair)


def reported(p: SparsePoint) -> dict[str, float]:
    return {"nonzero weights": p.nonzeros, "loss": p.loss, "l1": p.l1, "learning rate": p.rate}


def first_lines(batches: Iterable[Batch], most: int) -> Iterator[tuple[Batch, int]]:
    """The first lines of batches: each batch with the line before which to stop."""
    for batch in batches:
        yield batch, min(most, len(batch))
        most -= len(batch)
        if most <= 0:
            return
