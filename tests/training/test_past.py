"""What a model knows, as one more shard of a fit that continues it: beside an eager twin, and its properties."""

import numpy as np
import pytest
from test_shard_fit import UNITS, Case, Together, keys_of, penalties_of, rows_of

from vwlite.training.shards.fit import ShardFit
from vwlite.training.shards.past import Summary
from vwlite.training.shards.rows import Point
from vwlite.training.shards.strengths import Strength


class WithSummary(Together):
    """Shards, and a summary behind them."""

    def __init__(self, shards, keys, summary):
        super().__init__(shards, keys)
        self._shards = [*shards, summary]


def summary_of(loss, d, seed=5):
    random, scores = np.random.default_rng(seed), UNITS[loss].scores
    return Summary(np.exp(random.normal(2, 2, size=(d + 1, scores))), random.normal(size=(d + 1, scores)))


def fit_around(loss, summary, share, *, rows=True):
    """The fit of drawn rows in two shards, or of none, from the weights of the model."""
    case = Case(loss)
    v, keys = np.where(case.held, 0, case.v), keys_of(case.x)
    each = np.split(np.arange(len(v)), [150]) if rows else []
    shards = [rows_of(loss, case.x[i], case.y[i], case.v[i], case.held[i]) for i in each]
    sample = rows_of(loss, *(a[case.of_sample] for a in (case.x, case.y, case.v)))
    sample.widen(keys)
    return case, v, ShardFit(WithSummary(shards, keys, summary), sample, penalties_of(case.x, case.v),
                             Strength(1.0, 4.0, 0.75), float(v.sum()), 0.0, summary.center, is_start=True,
                             center=share * summary.center)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("share", [1.0, 0.4])
def test_many_rounds_reach_the_optimum_of_the_twin(loss, share):
    """sum of v l + 1/2 sum of P (w - w')^2 + 1/2 sum of L (w - share w')^2, by dense Newton steps."""
    summary = summary_of(loss, 9)
    case, v, run = fit_around(loss, summary, share)
    for _ in range(25):
        run.round((1.0,))
    unit, x = UNITS[loss], np.hstack([case.x, np.ones((len(v), 1))])
    y = (case.y - unit.mean) / unit.deviation if loss == "squared" else case.y
    L = run._penalties.of(run.strength, run.w)[:, 0]
    P, center = summary.precision[:, 0], summary.center[:, 0]
    w = center.copy()
    for _ in range(60):
        p = x @ w
        q = 1 / (1 + np.exp(y * p))
        slope, curve = (-y * q, q * (1 - q)) if loss == "logistic" else (2 * (p - y), np.full_like(p, 2.0))
        g = x.T @ (v * slope) + P * (w - center) + L * (w - share * center)
        w = w - np.linalg.solve(x.T @ ((v * curve)[:, None] * x) + np.diag(P + L), g)
    np.testing.assert_allclose(run.w[:, 0], w, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "squared", "classes"])
def test_without_new_rows_a_model_that_knows_all_by_a_summary_stays(loss):
    summary = summary_of(loss, 9)
    _, _, run = fit_around(loss, summary, 1.0, rows=False)
    found = run.round()
    assert not found.fell and (run.w == summary.center).all()


@pytest.mark.parametrize("loss", ["logistic", "classes"])
def test_derivatives_of_a_summary_are_those_of_its_value(loss):
    summary, random, h = summary_of(loss, 9), np.random.default_rng(2), 1e-5
    w, *directions = random.normal(size=(3, 10, UNITS[loss].scores))
    found = summary.projected(w, directions)

    def at(a, b):
        return found.sums([Point((a, b), (0, 1))])[0]

    value, *rest = at(0.3, -0.2)
    there = w + 0.3 * directions[0] - 0.2 * directions[1]
    assert value == pytest.approx((summary.precision * (there - summary.center) ** 2).sum() / 2)
    ahead = [(at(0.3 + h, -0.2) - at(0.3 - h, -0.2)) / (2 * h), (at(0.3, -0.2 + h) - at(0.3, -0.2 - h)) / (2 * h)]
    assert rest[:2] == pytest.approx([one[0] for one in ahead], rel=1e-5)
    assert rest[2:] == pytest.approx(np.array([one[1:3] for one in ahead]).ravel().tolist(), rel=1e-5)
    g, curvature = summary.slopes(there)
    assert rest[:2] == pytest.approx([(g * s).sum() for s in directions])
    assert rest[2] == pytest.approx((curvature * directions[0] ** 2).sum())
    assert not found.losses_apart([Point((0.0, 0.0))] * 2).any() and not found.smearing(Point((0.0, 0.0)), 1.0).any()


def test_a_fit_of_a_half_and_its_summary_is_nearly_the_fit_of_all():
    """With orthogonal features the diagonal is the whole curvature: of squared losses the same weights."""
    random, d = np.random.default_rng(4), 8
    x = np.kron(np.ones((50, 1)), np.eye(d))
    y = x @ random.normal(size=d) + random.normal(size=len(x)) / 3
    loss, keys, unit = "squared", keys_of(x), UNITS["squared"]
    z, v = (y - unit.mean) / unit.deviation, np.ones(len(x))
    half = np.arange(len(x)) < 200
    G = 2 * (x[half] ** 2).sum(axis=0)
    center = np.array([z[half & (x[:, j] > 0)].mean() for j in range(d)])
    # the intercept has no curvature of its own here: it is held where it is
    summary = Summary(np.append(G, 1e12)[:, None], np.append(center, 0.0)[:, None])
    shards = [rows_of(loss, x[~half], y[~half], v[~half])]
    sample = rows_of(loss, x[~half], y[~half], v[~half])
    sample.widen(keys)
    run = ShardFit(WithSummary(shards, keys, summary), sample, penalties_of(x, v), Strength(1e-9, 1.0, 0.0), 200.0, 0.0,
                   summary.center, is_start=True, center=summary.center)
    for _ in range(3):
        run.round((1.0,))
    every = [z[x[:, j] > 0].mean() for j in range(d)]
    assert run.w[:-1, 0] == pytest.approx(every, rel=1e-6)
