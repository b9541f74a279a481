"""`--sparse` of files: learners of adagrad-rda for several sets of features, judged by rows that they have not learned.

The folds are those of `--algorithm auto`, so that gains are of the same rows. If the rows are many, the first folds
judge alone. Of each strength, the rate with the least loss after the first pass goes on.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from math import inf
from typing import NamedTuple

from vwlite.core.learn.learner import Learner, Reason
from vwlite.training.auto.data import DrawnExamples
from vwlite.training.auto.selection import FOLDS, Selection
from vwlite.training.auto.sparse import (
    NEVER,
    RATES,
    JudgedLearner,
    LearnerMaker,
    Parts,
    SparseGrid,
    SparsePoint,
    learn_all,
)

JUDGED = 5_000  # rows, which are enough to judge learners
PASSES = (1, 2, 4, 8)  # after which learners are judged
LEAST_GAIN = 1e-3  # relative, for which learning goes on


class FeatureSet(NamedTuple):
    """Features that sparse models learn. features: how many there are."""

    maker: LearnerMaker
    grid: SparseGrid
    features: int


class Fold(NamedTuple):
    """The rows that learners learn, and those by which they are judged."""

    learned: DrawnExamples
    judged: DrawnExamples


def judging_folds(selection: Selection) -> list[int]:
    """The folds that judge: the first ones with JUDGED rows together, or all; the rows held out, if there are such."""
    found: list[int] = []
    rows = 0
    for fold in range(1 if selection.holds_out else FOLDS):
        if rows < JUDGED and (count := selection.folds.count(fold)):
            found.append(fold)
            rows += count
    return found


class FoldSearch:
    """Learns the grids of sets of features."""

    def __init__(self, selection: Selection, pool: Executor, is_stopped: Callable[[], bool]) -> None:
        self.numbers, self._pool, self._is_stopped = judging_folds(selection), pool, is_stopped
        self.holds_out, self._examples = selection.holds_out, selection.examples
        self.folds: list[Fold] = []
        for number in self.numbers:
            inside = bytes(fold == number for fold in selection.folds)
            others = bytes(1 - x for x in inside)
            self.folds.append(Fold(selection.examples.chosen(others), selection.examples.chosen(inside)))

    def points(self, some: FeatureSet, which: int, at_once: int) -> Iterator[SparsePoint]:
        """The learners of a set, judged. at_once: how many fit into memory."""
        strengths = some.grid.strengths
        size = max(at_once // (len(RATES) * len(self.folds)), 1)
        for begin in range(0, len(strengths), size):
            yield from self._points_of(some, which, strengths[begin : begin + size])

    def _points_of(self, some: FeatureSet, which: int, strengths: Sequence[float]) -> Iterator[SparsePoint]:
        pairs = [(l1, rate) for l1 in strengths for rate in some.grid.rates]
        racing = {pair: [JudgedLearner(some.maker.learner(*pair), NEVER) for _ in self.folds] for pair in pairs}
        before: dict[float, float] = {}  # the least loss of each strength
        for number in range(1, PASSES[-1] + 1):
            for k, fold in enumerate(self.folds):
                self._pass([judged[k] for judged in racing.values()], fold.learned)
            if number not in PASSES:
                continue
            losses = dict(zip(racing, self._pool.map(lambda judged: self._loss(some.maker, judged), racing.values()),
                              strict=True))
            if self._is_stopped():
                return
            for pair, judged in racing.items():
                nonzeros = round(sum(one.learner.rule.count_nonzero() for one in judged) / len(judged))
                yield SparsePoint(nonzeros, losses[pair], *pair, number, which)
            best = {l1: min((loss, pair) for pair, loss in losses.items() if pair[0] == l1) for l1, _ in racing}
            going_on = [pair for l1, (loss, pair) in best.items()
                        if number == 1 or loss < before[l1] * (1 - LEAST_GAIN)]
            before = {l1: loss for l1, (loss, _) in best.items()}
            racing = {pair: racing[pair] for pair in going_on}

    def _pass(self, learners: Sequence[JudgedLearner], examples: DrawnExamples) -> None:
        for one in learners:
            one.learner.begin_pass()
        learn_all(learners, self._parts(examples), self._pool)

    def _parts(self, examples: DrawnExamples) -> Parts:
        for batch in examples.batches():
            if self._is_stopped():
                return
            yield batch, None

    def _loss(self, maker: LearnerMaker, judged: Sequence[JudgedLearner]) -> float:
        """The mean loss of the rows of all folds."""
        loss = weight = 0.0
        for one, fold in zip(judged, self.folds, strict=True):
            judge = maker.judge(one.learner)
            for batch in () if one.diverged else fold.judged.batches():
                judge.run(batch)
                if judge.reason == Reason.DIVERGED:
                    return inf
            if one.diverged:
                return inf
            loss, weight = loss + judge.progressive.loss, weight + judge.progressive.weight
        return loss / weight if weight else inf

    def learned(self, some: FeatureSet, p: SparsePoint) -> Learner:
        """The learner of a point after it has learned all rows."""
        return self._learned(some, p, self._examples)

    def of_folds(self, some: FeatureSet, p: SparsePoint) -> Iterator[tuple[Learner, DrawnExamples]]:
        """Of each fold, the learner that has not learned it, and its rows."""
        for fold in self.folds:
            yield self._learned(some, p, fold.learned), fold.judged

    def _learned(self, some: FeatureSet, p: SparsePoint, examples: DrawnExamples) -> Learner:
        one = JudgedLearner(some.maker.learner(p.l1, p.rate), NEVER)
        for _ in range(p.passes):
            self._pass([one], examples)
        return one.learner
