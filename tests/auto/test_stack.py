"""Stacking beside its references."""

import numpy as np
import pytest
from slow_auto import SlowOnlineStack, stacked
from test_lanes import loss_of

from vwlite.core.auto.stack import OnlineStack, Scored, combined_weights

LOSSES = ["logistic", "squared", "poisson"]


def drawn(loss: str, n: int = 300, seed: int = 0):
    """Scores of eight learners that err around one truth, labels, importances."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, n)
    scores = (truth[:, None] * rng.uniform(0.3, 2, 8) + rng.normal(0, 0.5, (n, 8))).astype(np.float32)
    y = {
        "logistic": np.where(rng.random(n) < 1 / (1 + np.exp(-2 * truth)), 1.0, -1.0),
        "squared": truth + rng.normal(0, 0.3, n),
        "poisson": rng.poisson(np.exp(0.5 * truth)).astype(float),
    }[loss]
    return scores, y, rng.choice([0.5, 1.0, 3.0], n)


def scored(loss: str, scores, y, h) -> Scored:
    return Scored(loss_of(loss), scores.ravel(), y, h, np.zeros(len(y)))


@pytest.mark.parametrize("loss", LOSSES)
def test_newton_finds_the_stack_of_the_reference(loss):
    scores, y, h = drawn(loss)
    start = np.eye(8)[3]
    found = scored(loss, scores, y, h).fit(start.tolist(), 5.0)
    assert found == pytest.approx(stacked(scores.astype(float), y, h, start, loss), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_some_examples_only(loss):
    scores, y, h = drawn(loss)
    which = (np.arange(len(y)) % 3 == 0).astype(np.uint8)
    all_of_them = scored(loss, scores, y, h)
    some = which == 1
    alone = scored(loss, scores[some].copy(), y[some], h[some])
    start = [1.0, *[0.0] * 7]
    assert all_of_them.fit(start, 5.0, which) == alone.fit(start, 5.0)
    assert all_of_them.loss_of(start, which) == alone.loss_of(start)
    assert alone.losses()[0] == pytest.approx(alone.loss_of(start) / h[some].sum(), rel=1e-12)


def test_hopeless_scores_are_not_a_problem():
    scores, y, h = drawn("logistic")
    for wild in (np.zeros_like(scores), np.full_like(scores, 3e38), scores * np.float32(1e30)):
        u = scored("logistic", wild, y, h).fit([1.0, *[0.0] * 7], 5.0)
        assert np.isfinite(u).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_the_online_stack_is_that_of_the_reference(loss):
    scores, y, h = drawn(loss, 2000, 1)
    fast, slow = OnlineStack(loss_of(loss)), SlowOnlineStack(loss)
    for o, label, weight in zip(scores, y, h, strict=True):
        expected = slow.learn(o.astype(float), label, weight, 0.25)
        assert fast.learn(o, label, weight, 0.25) == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert fast.weights == pytest.approx(slow.u, rel=1e-6, abs=1e-8)


def test_weights_are_combined():
    columns = np.arange(22, dtype=np.float32)
    out = np.zeros(2)
    combined_weights(columns, [1, 0, 0, 0, 0, 0, 0, 0.5], out)
    assert out.tolist() == [3.5, 11 + 9.0]
