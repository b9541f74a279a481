"""The best constant prediction of losses for which that is no mean."""

from functools import partial
from math import inf

import numpy as np
import pytest
import slow_rules
from slow_auto import DELTA, TAU, ScaledHuber, best_constant

from vwlite.core.auto import robust
from vwlite.core.learn import labels, losses


def pinball(p, y, tau):
    return np.where(y > p, tau * (y - p), (1 - tau) * (p - y))


def huber(p, y, delta):
    return np.where(abs(p - y) <= delta, (p - y) ** 2, delta * (2 * abs(p - y) - delta))


LOSSES = {
    **{f"quantile {tau}": (losses.Quantile(tau), partial(pinball, tau=tau)) for tau in (0.1, 0.5, 0.9, 0.25)},
    **{f"huber {delta}": (losses.Huber(delta), partial(huber, delta=delta)) for delta in (1e-3, 1.0, 50.0)},
}


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
