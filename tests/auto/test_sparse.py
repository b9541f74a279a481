"""`--sparse`: the choice from a front, and by what learners are judged."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from batches import Line, batch_of

from vwlite.algorithms.settings import Settings
from vwlite.model.learners import make_learner
from vwlite.training import front
from vwlite.training.auto.model import WeightScale
from vwlite.training.auto.sparse import (
    FACTOR,
    RATES,
    STRENGTHS,
    JudgedLearner,
    LearnerMaker,
    SparseGrid,
    SparsePoint,
    best_grid,
    grid_of,
    learn_all,
    smallest,
)

PLAIN = WeightScale()


def stream(n: int, seed: int = 0, *, scale: float = 1.0, loss: str = "logistic") -> list[Line]:
    rng = np.random.default_rng(seed)
    truth, found = rng.normal(0, 1, 30), []
    for _ in range(n):
        keys = np.flatnonzero(rng.random(30) < 0.3)
        x = rng.normal(0, 1, len(keys))
        score = float(truth[keys] @ x)
        y = {"logistic": 1.0 if rng.random() < 1 / (1 + math.exp(-score)) else -1.0, "squared": score + 3}[loss]
        features = [(int(k), float(np.float32(v * scale))) for k, v in zip(keys, x, strict=True)]
        found.append(Line(y, features, importance=float(rng.choice([0.5, 1, 2]))))
    return found


def maker(loss: str = "logistic", labels: WeightScale = PLAIN) -> LearnerMaker:
    return LearnerMaker(Settings(loss=loss), labels)


def losses_of(l1: float, rate: float, lines: list[Line], loss: str = "logistic") -> tuple[np.ndarray, np.ndarray]:
    """Of an ordinary learner: the loss of each example before it is learned, and its importance."""
    settings = Settings.of("adagrad-rda")
    learner = make_learner(Settings(**{**vars(settings), "loss": loss, "l1": l1, "learning_rate": rate}))
    sums = [0.0]
    for line in lines:
        learner.run(batch_of([line]))
        sums.append(learner.progressive.loss)
    return np.diff(sums), np.array([line.importance for line in lines])


# --- the choice ------------------------------------------------------------------------------


def front_of(some: list[SparsePoint]) -> list[SparsePoint]:
    return front.front_of(some, SparsePoint.by_size)


def points(*pairs: tuple[int, float]) -> list[SparsePoint]:
    return [SparsePoint(n, loss, 0.1 * i, 1.0) for i, (n, loss) in enumerate(pairs)]


def test_the_front_has_only_what_no_smaller_model_beats():
    a, b, c, d, e, _ = points((10, 0.3), (5, 0.5), (7, 0.6), (10, 0.4), (50, 0.2), (60, math.inf))
    assert front_of([a, b, c, d, e]) == [b, a, e]
    assert front_of([e, d, c, b, a]) == [b, a, e]
    assert front_of(points((3, math.inf))) == []


@pytest.mark.parametrize(("share", "nonzeros"), [(0.01, 1), (0.49, 5), (0.89, 10), (0.94, 20), (0.98, 40), (0.999, 80)])
def test_the_smallest_model_that_keeps_a_share_of_the_gain(share, nonzeros):
    found = front_of(points((1, 0.95), (5, 0.5), (10, 0.1), (20, 0.05), (40, 0.01), (80, 0.0)))
    assert smallest(found, 1.0, share).nonzeros == nonzeros


def test_a_gain_that_none_has_gives_the_best_one():
    found = front_of(points((1, 0.95), (5, 0.5)))
    assert smallest(found, 1.0, 0.6).nonzeros == 5


def test_without_a_gain_there_is_no_model():
    assert smallest(front_of(points((1, 0.9), (2, 0.8))), 0.8, 0.95) is None
    assert smallest([], 0.8, 0.95) is None


# --- by what learners are judged -------------------------------------------------------------


@pytest.mark.parametrize("cuts", [[], [13], [50, 51], [100]])
def test_the_second_half_is_that_of_an_ordinary_learner(cuts):
    lines = stream(101)
    loss, weight = losses_of(1e-3, 0.7, lines)
    judged = JudgedLearner(maker().learner(1e-3, 0.7), 50)
    for begin, end in zip([0, *cuts], [*cuts, 101], strict=True):
        judged.learn(batch_of(lines[begin:end]), None)
    assert judged.loss == pytest.approx(loss[50:].sum() / weight[50:].sum(), rel=1e-12)


@pytest.mark.parametrize(("n", "first"), [(1, 0), (2, 1), (3, 1), (4, 2), (7, 2), (64, 32), (127, 32), (128, 64)])
def test_the_last_half_of_a_stream_is_known_to_a_factor(n, first):
    lines = stream(n)
    loss, weight = losses_of(1e-3, 0.7, lines)
    judged = JudgedLearner(maker().learner(1e-3, 0.7))
    judged.learn(batch_of(lines), None)
    assert judged.loss == pytest.approx(loss[first:].sum() / weight[first:].sum(), rel=1e-12)
    assert n == 1 or n / 2 <= n - first <= 3 * n / 4 + 1


def test_a_learner_that_diverges_is_no_candidate():
    judged = JudgedLearner(LearnerMaker(Settings(loss="squared"), PLAIN).learner(0, 1e300), 1)
    judged.learn(batch_of([Line(1e200, [(1, 1e30)])] * 4), None)
    assert judged.loss == math.inf


# --- the grid --------------------------------------------------------------------------------


def grid(lines: list[Line], loss: str = "logistic", labels: WeightScale = PLAIN, constant: float = 0.0) -> SparseGrid:
    empty = JudgedLearner(maker(loss, labels).empty(constant))
    empty.learn(batch_of(lines), None)
    return grid_of("none", empty.learner, labels.scale)


def test_strengths_are_a_factor_of_two_apart_from_no_weight_to_nearly_all():
    lines = stream(400)
    found = grid(lines)
    assert len(found.pairs) == STRENGTHS * len(RATES)
    ratios = np.divide(found.strengths[:-1], found.strengths[1:])
    assert ratios == pytest.approx(np.full(STRENGTHS - 1, FACTOR), rel=0.01)
    judged = [JudgedLearner(maker().learner(l1, found.rates[1]), 200) for l1 in (found.largest, found.strengths[-1])]
    for one in judged:
        one.learn(batch_of(lines), None)
    none, nearly_all = (one.learner.rule.count_nonzero() for one in judged)
    assert none <= 3 and nearly_all >= 28


def test_the_scale_of_values_does_not_matter():
    """Strengths grow and rates fall with the values, so that scores are the same."""
    one, other = grid(stream(400)), grid(stream(400, scale=64))
    assert other.strengths == pytest.approx([64 * l1 for l1 in one.strengths], rel=0.01)
    assert other.rates == pytest.approx([rate / 64 for rate in one.rates], rel=0.01)


def test_the_scale_and_mean_of_labels_do_not_matter():
    lines = stream(400, loss="squared")
    y = np.array([line.label for line in lines])
    labels = WeightScale(float(y.std()), float(y.mean()))
    far = [line._replace(label=1000 * line.label + 1e6) for line in lines]
    moved = WeightScale(1000 * labels.scale, 1000 * labels.shift + 1e6)
    one, other = grid(lines, "squared", labels, labels.shift), grid(far, "squared", moved, moved.shift)
    assert other.rates == pytest.approx([1000 * rate for rate in one.rates], rel=0.01)
    losses = []
    for ls, scale, g in ((lines, labels, one), (far, moved, other)):
        judged = JudgedLearner(maker("squared", scale).learner(*g.pairs[-2]), 200)
        judged.learn(batch_of(ls), None)
        losses.append(judged.loss / scale.scale**2)
    assert losses[0] == pytest.approx(losses[1], rel=0.01) and losses[0] < 0.5


def test_values_of_wild_scale_are_normalized():
    rng = np.random.default_rng(1)
    lines = [line._replace(features=[*line.features, (40, float(rng.exponential(1e5)))]) for line in stream(600)]
    batch = batch_of(lines)
    with ThreadPoolExecutor(2) as pool:
        found = best_grid(maker(), ["none", "l2", "log"], 0.0, lambda: [(batch, None)], pool)
        assert found.normalize == "log"
        assert best_grid(maker(), ["l2"], 0.0, lambda: [(batch, None)], pool).normalize == "l2"


def test_learners_in_threads_are_learners_alone():
    lines, pairs = stream(300), [(1e-3, 0.5), (1e-2, 1.0), (1e-4, 2.0)]
    several = [JudgedLearner(maker().learner(*pair), 150) for pair in pairs]
    with ThreadPoolExecutor(3) as pool:
        learn_all(several, [(batch_of(lines[:100]), None), (batch_of(lines[100:]), 150)], pool)
    for pair, judged in zip(pairs, several, strict=True):
        alone = JudgedLearner(maker().learner(*pair), 150)
        alone.learn(batch_of(lines[:250]), None)
        assert judged.loss == alone.loss and judged.learner.rule.slots() == alone.learner.rule.slots()
