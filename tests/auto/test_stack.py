"""Stacking beside its references."""

import numpy as np
import pytest
from slow_auto import SlowOnlineStack, stacked, turns_round
from test_lanes import loss_of

from vwlite.core.auto.stack import OnlineStack, Scored, combined_weights
from vwlite.training.auto.selection import fitted

LOSSES = ["logistic", "squared", "poisson", "gamma", "tweedie", "quantile", "huber", "expectile"]


def drawn(loss: str, n: int = 300, seed: int = 0):
    """Scores of eight learners that err around one truth, labels, importances."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, n)
    scores = (truth[:, None] * rng.uniform(0.3, 2, 8) + rng.normal(0, 0.5, (n, 8))).astype(np.float32)
    y = {
        "logistic": np.where(rng.random(n) < 1 / (1 + np.exp(-2 * truth)), 1.0, -1.0),
        "squared": truth + rng.normal(0, 0.3, n),
        "quantile": 1.5 * truth + rng.normal(0, 1, n),
        "huber": 1.5 * truth + rng.standard_t(2, n),
        "expectile": 1.5 * truth + rng.normal(0, 1, n),
        "poisson": rng.poisson(np.exp(0.5 * truth)).astype(float),
        "gamma": rng.gamma(2, np.exp(0.5 * truth)),
        "tweedie": rng.poisson(np.exp(0.5 * truth)) * rng.gamma(2, 1, n),
    }[loss]
    return scores, y, rng.choice([0.5, 1.0, 3.0], n)


def scored(loss: str, scores, y, h) -> Scored:
    return Scored(loss_of(loss), scores.ravel(), y, h, np.zeros(len(y)))


@pytest.mark.parametrize("loss", LOSSES)
def test_newton_finds_the_stack_of_the_reference(loss):
    scores, y, h = drawn(loss, 150)
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
    scores, y, h = drawn(loss, 300, 1)
    fast, slow = OnlineStack(loss_of(loss)), SlowOnlineStack(loss)
    for o, label, weight in zip(scores, y, h, strict=True):
        expected = slow.learn(o.astype(float), label, weight, 0.25)
        assert fast.learn(o, label, weight, 0.25) == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert fast.weights == pytest.approx(slow.u, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_matrix_of_the_online_stack_stays_symmetric(loss):
    """What differed by rounding grew with each step that forgets: after 320,000 examples the stack was useless."""
    scores, y, h = drawn(loss, 300, 1)
    stack = OnlineStack(loss_of(loss))
    for o, label, weight in zip(scores, y, h, strict=True):
        stack.learn(o, label, weight)
    B = np.reshape(stack.state()["B"], (8, 8))
    assert (B == B.T).all()


def test_weights_are_combined():
    columns = np.arange(22, dtype=np.float32)
    out = np.zeros(2)
    combined_weights(columns, [1, 0, 0, 0, 0, 0, 0, 0.5], out)
    assert out.tolist() == [3.5, 11 + 9.0]


def test_a_stack_that_turns_the_best_column_round_is_found():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(200, 1))
    scores = (truth + 0.1 * rng.normal(size=(200, 8))).astype(np.float32)
    opposite = np.where(rng.random(200) < 1 / (1 + np.exp(3 * truth[:, 0])), 1.0, -1.0)
    h, alone = rng.choice([0.5, 1.0, 3.0], 200), np.eye(8)[0].tolist()
    for y, expected in ((opposite, alone), (-opposite, None)):
        one = Scored(loss_of("logistic"), scores.ravel(), y, h, np.zeros(200))
        u = one.fit(alone, 5.0)
        assert one.turns_round(u, alone) == turns_round(scores, h, np.array(u), np.eye(8)[0]) == (expected is not None)
        assert fitted(one, alone) == (expected or u)


@pytest.mark.parametrize("seed", range(20))
def test_turning_round_is_by_the_covariance_with_the_best_column(seed):
    """Whatever the signs of the weights are, over all rows or some."""
    scores, y, h = drawn("logistic", seed=seed)
    rng = np.random.default_rng(seed)
    u, alone, rows = rng.normal(size=8), np.eye(8)[seed % 8], (rng.random(len(y)) < 0.5).astype(np.uint8)
    one = Scored(loss_of("logistic"), scores.ravel(), y, h, np.zeros(len(y)))
    assert one.turns_round(u.tolist(), alone.tolist()) == turns_round(scores, h, u, alone)
    some = rows.astype(bool)
    assert one.turns_round(u.tolist(), alone.tolist(), rows) == turns_round(scores[some], h[some], u, alone)


def test_a_stack_with_a_negative_weight_and_a_positive_covariance_stays():
    """Two columns with a common error, which the second one has more of."""
    rng = np.random.default_rng(1)
    truth, error = rng.normal(size=300), 2 * rng.normal(size=300)
    scores = np.zeros((300, 8), np.float32)
    scores[:, 0], scores[:, 1] = truth + error, error
    y = np.where(rng.random(300) < 1 / (1 + np.exp(-3 * truth)), 1.0, -1.0)
    one = Scored(loss_of("logistic"), scores.ravel(), y, np.ones(300), np.zeros(300))
    alone = np.eye(8)[0].tolist()
    u = fitted(one, alone)
    assert u is not alone and u[1] < 0 < u[0]


def test_losses_of_some_rows():
    scores, y, h = drawn("squared")
    some = np.arange(len(y)) % 3 == 0
    one = Scored(loss_of("squared"), scores.ravel(), y, h, np.zeros(len(y)))
    part = Scored(loss_of("squared"), scores[some].ravel(), y[some], h[some], np.zeros(some.sum()))
    assert one.losses(some.astype(np.uint8)) == part.losses()
