"""The running count: losses, accuracy, AUC against every pair."""

import numpy as np
import pytest

from vwlite.core.learn.tally import Tally


def exact_auc(scores, labels, weights):
    """The weighted share of pairs of a positive and a negative in the right order; ties count half."""
    positive, negative = labels > 0, labels < 0
    difference = scores[positive][:, None] - scores[negative][None, :]
    pairs = weights[positive][:, None] * weights[negative][None, :]
    return float((pairs * ((difference > 0) + 0.5 * (difference == 0))).sum() / pairs.sum())


def tally_of(scores, labels, weights=None):
    tally = Tally()
    weights = np.ones(len(scores)) if weights is None else weights
    for p, y, h in zip(scores, labels, weights, strict=True):
        tally.count(p, y, h, 0.5)
    return tally


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("spread", [1e-20, 0.01, 1.0, 50.0, 1e20])
def test_auc_of_random_scores(seed, spread):
    """Scores within 0.2 % of each other count as ties: that is the only error."""
    rng = np.random.default_rng(seed)
    labels = rng.choice([-1.0, 1.0], 1500, p=[0.7, 0.3])
    scores = (rng.normal(0, 1, 1500) + 0.5 * labels) * spread
    weights = rng.choice([0.0, 0.5, 1.0, 7.0], 1500)
    assert tally_of(scores, labels, weights).auc == pytest.approx(exact_auc(scores, labels, weights), abs=3e-4)
    assert tally_of(scores, labels).auc == pytest.approx(exact_auc(scores, labels, np.ones(1500)), abs=3e-4)


@pytest.mark.parametrize("seed", range(5))
def test_auc_is_exact_for_scores_that_are_well_separated(seed):
    rng = np.random.default_rng(seed)
    levels = np.concatenate([-(1.01 ** np.arange(40)), [0.0, -0.0], 1.01 ** np.arange(40), [1e30, -1e-30, 1e-30]])
    scores = rng.choice(levels, 800)
    labels = rng.choice([-1.0, 1.0], 800)
    weights = rng.uniform(0, 3, 800)
    assert tally_of(scores, labels, weights).auc == pytest.approx(exact_auc(scores, labels, weights), rel=1e-12)


def test_auc_at_the_ends():
    assert tally_of([1, 2, 3], [1, 1, 1]).auc is None
    assert tally_of([1, 2, 3], [-1, -1, -1]).auc is None
    assert Tally().auc is None
    assert tally_of([1, 2], [1, 2]).auc is None
    assert tally_of([-1, 1], [-1, 1]).auc == 1
    assert tally_of([1, -1], [-1, 1]).auc == 0
    assert tally_of([0.0, -0.0], [-1, 1]).auc == 0.5
    assert tally_of([1e300, -1e300, 5.0], [1, -1, -1]).auc == 1
    assert tally_of([1, 2, 3], [1, -1, 1], [1, 0, 1]).auc is None  # nothing but positives has weight


def test_accuracy():
    tally = tally_of([0.5, -0.5, 0.0, 2.0, -3.0], [1, 1, -1, -1, -1], [1, 2, 4, 8, 16])
    assert tally.accuracy == (1 + 4 + 16) / 31
    assert tally_of([0.5], [0.0]).accuracy is None
    assert tally_of([0.5, 0.5], [1.0, 2.0]).accuracy is None
    assert Tally().accuracy is None


def test_averages():
    tally = Tally()
    assert tally.average is None
    assert tally.take_recent() is None
    for p, y, h, loss in [(0, 1, 1, 4.0), (0, 3, 3, 1.0)]:
        tally.count(p, y, h, loss)
    assert (tally.average, tally.weight, tally.labels, tally.loss) == (7 / 4, 4, 10, 7)
    assert tally.take_recent() == 7 / 4
    assert tally.take_recent() is None
    tally.count(0, 1, 2, 5.0)
    assert tally.take_recent() == 5
    assert tally.average == 17 / 6


def test_range_of_labels():
    tally = tally_of([0, 0, 0], [3, -2, 1])
    assert (tally.min_label, tally.max_label) == (-2, 3)
    assert (tally_of([0], [7]).min_label, tally_of([0], [7]).max_label) == (7, 7)
    assert (tally_of([0, 0], [5, 7]).min_label, tally_of([0, 0], [-5, -7]).max_label) == (5, -5)
