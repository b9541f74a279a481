"""`--sparse`: learners of adagrad-rda, one for each strength of l1 and learning rate, and the choice of a small model.

Learners of files are compared out of fold, as `--algorithm auto` judges its own, after 1, 2, 4 and 8 passes; those of a
stream by the progressive loss of the later examples. The front (Pareto front) has, for each number of weights, the
learner with the least loss. The model is the smallest one that keeps a given share of the gain over the best constant:
of the gain of `--algorithm auto`, or, for a stream, of that of the best learner.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from vwlite.algorithms.memory import TOO_LONG, table_needs
from vwlite.algorithms.settings import Settings
from vwlite.core.auto.offset import OffsetLearner
from vwlite.core.data.batch import Batch
from vwlite.core.learn.learner import Learner, Reason
from vwlite.core.rules.frozen import Frozen
from vwlite.model.learners import field_of, make_expander, make_loss, make_rule
from vwlite.training.auto.model import WeightScale

RATES = (0.6, 1.8, 5.4)  # for labels with standard deviation 1 and examples of length 1
STRENGTHS, FACTOR = 15, 2.0
NORMALIZATIONS = ("none", "l2", "log")
NO_WEIGHT = 1e100  # a strength that leaves no weight
NEVER = (1 << 64) - 1

Parts = Iterable[tuple[Batch, int | None]]  # batches, each with the line before which to stop


# --- the choice ------------------------------------------------------------------------------


@dataclass(frozen=True)
class SparsePoint:
    """A learner after its passes. loss: out of fold, or the progressive loss of the later examples. which: the number
    of the features that it learns, among several sets of features."""

    nonzeros: int
    loss: float
    l1: float
    rate: float
    passes: int = 1
    which: int = 0

    def by_size(self) -> tuple[float, ...]:
        return self.nonzeros, self.loss, -self.l1, self.rate


def smallest(front: Sequence[SparsePoint], baseline: float, wanted: float) -> SparsePoint | None:
    """The smallest model with this gain over the baseline, or the best model if none has it; None without any gain."""
    if not front or not front[-1].loss < baseline:
        return None
    return next((p for p in front if baseline - p.loss >= wanted), front[-1])


# --- the learners ----------------------------------------------------------------------------


class JudgedLearner:
    """A learner with its average loss since a mark: an example after which its loss so far was noted.

    mark: the number of that example. 0: every power of two is a mark, and the loss counts from the last mark but one:
    over the last half to three quarters of the examples.
    """

    def __init__(self, learner: Learner, mark: int = 0) -> None:
        self.learner = learner
        self._doubles = mark == 0
        self._marks = [(0.0, 0.0)] * (1 + self._doubles)
        self.diverged = False
        learner.checkpoint_at = mark or 1

    def learn(self, batch: Batch, end: int | None) -> None:
        """Learn a batch up to a line. MemoryError; OverflowError for a line that is too long."""
        line, learner = 0, self.learner
        while not self.diverged:
            line = learner.run(batch, line, end)
            if learner.reason == Reason.CHECKPOINT:
                tally = learner.progressive
                self._marks = [*self._marks[1:], (tally.loss, tally.weight)]
                learner.checkpoint_at = 2 * learner.checkpoint_at if self._doubles else NEVER
            elif learner.reason == Reason.DIVERGED:
                self.diverged = True
            elif learner.reason == Reason.NO_MEMORY:
                raise MemoryError(table_needs())
            elif learner.reason == Reason.TOO_LONG:
                raise OverflowError(f"{batch.source}:{batch.line_number(line)}:1: {TOO_LONG}")
            else:
                return

    @property
    def loss(self) -> float:
        """The average loss since the mark, or of all examples if there was no mark; infinity if learning diverged."""
        tally = self.learner.progressive
        loss, weight = self._marks[0]
        if tally.weight == weight:
            loss = weight = 0.0
        if self.diverged or not tally.weight:
            return math.inf
        return float((tally.loss - loss) / (tally.weight - weight))


def learn_all(judged: Sequence[JudgedLearner], parts: Parts, pool: Executor) -> None:
    for batch, end in parts:
        for done in [pool.submit(one.learn, batch, end) for one in judged]:
            done.result()


@dataclass(frozen=True)
class LearnerMaker:
    """Makes learners. labels: how weights for scaled labels become weights for the labels."""

    settings: Settings
    labels: WeightScale

    def settings_at(self, l1: float, rate: float) -> Settings:
        """The settings of a model."""
        dropped = ("algorithm", "learning_rate", "power_t", "l1")
        kept = {name: x for name, x in vars(self.settings).items() if name not in dropped}
        return replace(Settings.of("adagrad-rda"), **kept, l1=l1, learning_rate=rate)

    def learner(self, l1: float, rate: float, offset: float | None = None) -> Learner:
        """A learner whose score has this offset; None: that of the labels."""
        settings = self.settings_at(l1, rate)
        loss, expander = make_loss(settings), make_expander(settings)
        rule = make_rule(settings, loss, expander.constant_key)
        return OffsetLearner(rule, loss, expander, offset=self.labels.shift if offset is None else offset)

    def empty(self, score: float) -> Learner:
        """A learner whose first score is a constant; it has an intercept and no other weight."""
        return self.with_settings(constant=True).learner(NO_WEIGHT, RATES[0] * self.labels.scale, score)

    def constant(self, score: float) -> Learner:
        """A learner that predicts a constant and learns nothing."""
        loss, expander = make_loss(self.settings), make_expander(self.settings)
        rule = Frozen(loss, constant_key=expander.constant_key)
        return OffsetLearner(rule, loss, expander, offset=score, learn=False)

    def judge(self, learner: Learner) -> Learner:
        """A learner that predicts by the weights of another one, with the same offset, and learns nothing."""
        found = OffsetLearner(
            learner.rule, make_loss(self.settings), make_expander(self.settings), offset=self.labels.shift, learn=False
        )
        found.min_label, found.max_label = learner.min_label, learner.max_label
        return found

    def with_settings(self, **changed: object) -> "LearnerMaker":
        return replace(self, settings=replace(self.settings, **changed))  # type: ignore[arg-type]


def intercept_at(learner: Learner, slots: bytearray) -> int | None:
    """The number of the slot of the intercept; None if there is none."""
    key = learner.expander.constant_key
    if key is None:
        return None
    marks, mark = field_of(learner.rule, slots, "mark").tolist(), (key + 1) & 0xFFFFFFFF
    return int(marks.index(mark)) if mark in marks else None


# --- the grid --------------------------------------------------------------------------------


@dataclass(frozen=True)
class SparseGrid:
    """Strengths and rates. largest: a strength that leaves no weight. step: the factor of RATES for these data."""

    normalize: str
    largest: float
    step: float

    @property
    def strengths(self) -> list[float]:
        return [rounded(self.largest / FACTOR**k) for k in range(1, STRENGTHS + 1)]

    @property
    def rates(self) -> list[float]:
        return [rounded(rate * self.step) for rate in RATES]

    @property
    def pairs(self) -> list[tuple[float, float]]:
        return [(l1, rate) for l1 in self.strengths for rate in self.rates]


def rounded(x: float) -> float:
    """x with three digits, as a user would type it."""
    return float(f"{x:.3g}")


def grid_of(normalize: str, learner: Learner, deviation: float) -> SparseGrid:
    """The grid, from the sums of a learner without weights. deviation: the standard deviation of the labels.

    The largest strength is the largest |mean gradient| of a feature. Rates are divided by the length of examples: the
    root of the mean of x'x, weighted by the squares of the derivatives of the loss.
    """
    rule = learner.rule
    slots = rule.slots()
    z, squares = (field_of(rule, slots, name).tolist() for name in ("z", "S"))
    at = intercept_at(learner, slots)
    if at is None:  # all predictions were right, and all gradients 0
        return SparseGrid(normalize, 0.0, deviation)
    del z[at]
    of_intercept = squares.pop(at)
    length = math.sqrt(math.fsum(squares) / of_intercept) or 1.0
    return SparseGrid(normalize, max(map(abs, z), default=0.0) / rule.t, deviation / length)


def best_grid(
    maker: LearnerMaker, names: Sequence[str], constant: float, parts: Callable[[], Parts], pool: Executor
) -> SparseGrid:
    """The grid of the best normalization: that with the least loss at the smallest strength and its best rate.
    constant: the best constant score. parts: the examples that decide."""
    empty = [JudgedLearner(maker.with_settings(normalize=name).empty(constant)) for name in names]
    learn_all(empty, parts(), pool)
    grids = [grid_of(name, j.learner, maker.labels.scale) for name, j in zip(names, empty, strict=True)]
    if len(grids) == 1:
        return grids[0]
    racing, half = [], empty[0].learner.examples // 2
    for grid in grids:
        normalized = maker.with_settings(normalize=grid.normalize)
        racing += [JudgedLearner(normalized.learner(grid.strengths[-1], rate), half) for rate in grid.rates]
    learn_all(racing, parts(), pool)
    losses = [j.loss for j in racing]
    return grids[losses.index(min(losses)) // len(RATES)]
