"""The best constant prediction of losses for which that is no mean, and the labels that are kept for it."""

from functools import partial
from math import inf, log

import numpy as np
import pytest
import slow_rules
from losses import LOSSES as TRAINED
from slow_auto import DELTA, TAU, ScaledHuber, best_constant

from vwlite.algorithms.losses import LOSSES as TABLE
from vwlite.core.auto import robust
from vwlite.core.learn import labels, losses
from vwlite.core.learn.tally import Tally
from vwlite.evaluation.kinds import own_part
from vwlite.runs.baseline import half_deviance

MOST = 1 << 16  # labels that are kept


def pinball(p, y, tau):
    return np.where(y > p, tau * (y - p), (1 - tau) * (p - y))


def asymmetric(p, y, tau):
    return 2 * abs(tau - (y < p)) * (p - y) ** 2


def huber(p, y, delta):
    return np.where(abs(p - y) <= delta, (p - y) ** 2, delta * (2 * abs(p - y) - delta))


LOSSES = {
    **{f"quantile {tau}": (losses.Quantile(tau), partial(pinball, tau=tau)) for tau in (0.1, 0.5, 0.9, 0.25)},
    **{f"expectile {tau}": (losses.Expectile(tau), partial(asymmetric, tau=tau)) for tau in (0.1, 0.5, 0.9)},
    **{f"huber {delta}": (losses.Huber(delta), partial(huber, delta=delta)) for delta in (1e-3, 1.0, 50.0)},
}


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row.labels != "binary"])
def test_labels_are_kept_where_the_best_constant_is_not_their_mean(name):
    loss, y = TRAINED[name][0], [1e-3, 1e-3, 1.0, 10.0]
    mean = np.mean(y)
    slope = sum(loss.derivative(log(mean) if loss.power else mean, label) for label in y)
    assert loss.keeps_labels == (abs(slope) > 1e-9)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(6))
def test_no_constant_is_better(name, seed):
    loss, value = LOSSES[name]
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    y = rng.normal(1e3 * (seed % 2), 2, n) if seed < 3 else rng.integers(-3, 3, n) * 10.0 ** rng.integers(-3, 4, n)
    h = rng.choice([0.5, 1.0, 3.0], n)
    found = labels.best_constant(loss, y, h)
    least = labels.constant_loss(loss, found, y, h)
    assert least == pytest.approx(np.average(value(found, y), weights=h), rel=1e-12, abs=1e-15)
    tried = [*y, *np.linspace(y.min(), y.max(), 301), *(found + d for d in (-1e-3, 1e-3))]
    assert all(least <= np.average(value(p, y), weights=h) * (1 + 1e-12) + 1e-15 for p in tried)
    if "quantile" in name:
        assert found in y


@pytest.mark.parametrize("name", ["quantile", "huber"])
def test_the_best_constant_is_that_of_the_reference(name):
    rng = np.random.default_rng(3)
    y, h = rng.normal(5, 2, 41), rng.choice([1.0, 2.0], 41)
    fast = losses.Quantile(TAU) if name == "quantile" else robust.ScaledHuber(DELTA)
    slow = slow_rules.Quantile(TAU) if name == "quantile" else ScaledHuber(DELTA)
    assert labels.best_constant(fast, y, h) == pytest.approx(best_constant(slow, y, h), rel=1e-6)


def test_labels_that_are_far_apart_or_none():
    loss = losses.Quantile(0.5)
    y = np.array([-1e308, -1e-300, 0.0, 1e-310, 1e308])
    assert labels.best_constant(loss, y, np.ones(5)) == 0
    assert labels.best_constant(loss, y[:0], y[:0]) == 0 and labels.constant_loss(loss, 1.0, y[:0], y[:0]) == 0
    assert labels.best_constant(losses.Huber(1.0), np.full(3, 7.5), np.ones(3)) == 7.5
    assert labels.best_constant(losses.Huber(1.0), y, np.ones(5)) < inf


# --- the labels that are kept ------------------------------------------------------------------


def tally_of(y, h, **options) -> Tally:
    found = Tally(**options)
    for label, importance in zip(y.tolist(), h.tolist(), strict=True):
        found.count(0.0, label, importance)
    return found


def test_all_labels_with_an_importance_are_kept_up_to_a_limit():
    rng = np.random.default_rng(1)
    y, h = rng.normal(0, 1, 500), rng.choice([0.0, 1.0, 2.5], 500)
    sample = tally_of(y, h, keeps_labels=True).sample
    assert list(sample.labels) == y[h > 0].tolist() and list(sample.importances) == h[h > 0].tolist()
    assert tally_of(y, h).sample is None


def test_of_more_labels_a_sample_is_kept():
    n = 3 * MOST
    sample = tally_of(np.arange(n, dtype=float), np.ones(n), keeps_labels=True).sample
    kept = np.array(sample.labels)
    assert len(kept) == len(set(kept)) == MOST
    shares = np.histogram(kept, bins=8, range=(0, n))[0] / MOST
    assert shares == pytest.approx(np.full(8, 1 / 8), abs=0.008)  # four standard errors


@pytest.mark.parametrize("loss", [losses.Poisson(), losses.Gamma(), losses.Tweedie(1.5), losses.Tweedie(1.2)])
def test_the_loss_of_a_constant_mean_is_known_from_sums(loss):
    rng = np.random.default_rng(2)
    y, h = rng.poisson(2, 300).astype(float) + (loss.power == 2) * 0.25, rng.choice([1.0, 2.0], 300)
    own = tally_of(y, h, power=loss.power).entropy / h.sum()
    assert own == pytest.approx(np.average(own_part(y, loss.power), weights=h), rel=1e-12)
    mean = np.average(y, weights=h)
    for constant in (mean, 1.0, 7.5):
        found = np.average([loss(log(constant), label) for label in y], weights=h)
        assert half_deviance(loss.power, constant, mean, own) == pytest.approx(found, rel=1e-10)
    assert tally_of(y, h).entropy == 0
