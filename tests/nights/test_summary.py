"""The fit of new rows around a model that knows more than these: beside an eager twin, and its properties."""

from dataclasses import replace

import numpy as np
import pytest
from night_twins import CLASSES, batch, derivatives, minimized, settings_of

from vwlite.core.solve.rows import Rows
from vwlite.model.learners import make_expander
from vwlite.training import newton
from vwlite.training.nights import new_rows_only, summary
from vwlite.training.nights.summary import Summary, is_curved


@pytest.fixture(autouse=True)
def to_the_end(monkeypatch):
    """Steps of Newton until none gains anything."""
    for name, value in (("GAIN", 1e-12), ("MORE", 0), ("PART", 1e-9), ("MOST_PRODUCTS", 400)):
        monkeypatch.setattr(newton, name, value)


def rows_of(settings, x, y, v):
    rows = Rows(make_expander(replace(settings, constant=False)))
    rows.add(batch(x, y, v))
    rows.finish()
    return rows


def model_of(settings, w, G, n):
    """A model of these weights; the last ones are of the intercept."""
    d = len(w) - 1
    keys = np.append(7 * np.arange(d) + 1, make_expander(settings).constant_key).astype(np.uint32)
    order = np.argsort(keys)
    return Summary(keys[order], w[order], G[order], np.ones_like(w), n), np.argsort(order)


def fitted(loss, w, G, n, x, y, v):
    """w and G after these rows, in the order of the columns of x, the intercept last."""
    settings = settings_of(loss)
    model, back = model_of(settings, np.array(w, float), np.array(G, float), n)
    found = model.fitted(settings, rows_of(settings, x, y, v), w.shape[1])
    assert found.keys.tolist() == model.keys.tolist() and found.n == n + len(y)
    return found.w[back], found.G[back]


def twin(loss, w, G, n, x, y, v):
    """The same, from the definition."""
    x1 = np.column_stack([x, np.ones(len(x))])
    scale, size, kappa = 1.0, 1.0, 1.0 if loss == "squared" else 2.0
    if loss == "squared":
        size = np.var(y)
        scale = 2 * v @ derivatives(loss, x1 @ w, y)[0] / v.sum()

    def curvature(w):
        h = derivatives(loss, x1 @ w, y)[2] / scale
        return np.maximum(np.einsum("ikk->ik", h), 1e-9)

    r = n * (v @ curvature(w) / len(y)) / G[-1]
    penalty = np.append(np.abs(x).max(axis=0) ** 2 / size, 1e-3)[:, None] + kappa * r * G
    w = minimized(loss, x1, y, v, penalty, w, scale)
    return w, G + (x1**2).T @ (v[:, None] * curvature(w)) / r


@pytest.mark.parametrize("loss", ["logistic", "squared", "poisson", "classes"])
@pytest.mark.parametrize("seed", range(3))
def test_the_fit_is_that_of_the_twin(loss, seed):
    rng, k = np.random.default_rng(seed), CLASSES if loss == "classes" else 1
    x = rng.normal(size=(80, 5)) * (rng.random((80, 5)) < 0.7)
    w, G = rng.normal(size=(6, k)) / 2, rng.random((6, k)) * 90 + 10
    p = x @ rng.normal(size=5)
    y = {"logistic": np.sign(p + rng.normal(size=80)), "squared": p + rng.normal(size=80) + 3,
         "poisson": rng.poisson(np.exp(p / 3)).astype(float), "classes": rng.integers(1, 4, 80).astype(float)}[loss]
    v = rng.choice([0.5, 1, 3], 80)
    for found, expected in zip(fitted(loss, w, G, 500, x, y, v), twin(loss, w, G, 500, x, y, v), strict=True):
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-7)


def test_a_model_without_an_intercept_gets_none():
    """Its weights are those of rows without one."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(60, 2)) + 1
    y = x @ [1.0, -0.5] + 3 + rng.normal(0, 0.1, 60)
    settings = replace(settings_of("squared"), constant=False)
    G = np.full((2, 1), 50.0)
    model = Summary(np.array([1, 8], np.uint32), np.zeros((2, 1)), G, np.ones((2, 1)), 100)
    found = model.fitted(settings, rows_of(settings, x, y, np.ones(60)), 1)
    scale = 2 * np.mean(y**2)
    penalty = np.abs(x).max(axis=0) ** 2 / np.var(y) + 50
    expected = np.linalg.solve(2 * x.T @ x / scale + np.diag(penalty), 2 * x.T @ y / scale)
    assert found.keys.tolist() == [1, 8] and found.w[:, 0] == pytest.approx(expected, rel=1e-6)


def test_days_are_one_fit_where_columns_are_orthogonal(monkeypatch):
    """Of the squared loss: then D is the whole matrix of second derivatives."""
    monkeypatch.setattr(summary, "STRENGTH", 1e-12)
    monkeypatch.setattr(summary, "OF_INTERCEPT", 1e-12)
    rng, signs = np.random.default_rng(1), np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    x = np.tile(signs, (100, 1))
    y = x @ [2.0, -1.0] + 5 + rng.normal(size=400)
    w, G, n = np.zeros((3, 1)), np.zeros((3, 1)), 0
    for day in range(10):
        part = slice(40 * day, 40 * day + 40)
        w, G = fitted("squared", w, G, n, x[part], y[part], np.ones(40))
        n += 40
    expected = np.linalg.lstsq(np.column_stack([x, np.ones(400)]), y, rcond=None)[0]
    assert w[:, 0] == pytest.approx(expected, abs=1e-6)


def test_features_and_classes_that_rows_do_not_have_stay():
    settings = settings_of("classes")
    keys = np.array([1, 8, make_expander(settings).constant_key], np.uint32)
    order = np.argsort(keys)
    w = np.arange(9.0).reshape(3, 3) / 9
    model = Summary(keys[order], w[order], np.full((3, 3), 5.0), np.full((3, 3), 2.0), 100)
    x, y = np.array([[1.0], [3.0], [1.0], [2.0]]), np.array([1.0, 2.0, 1.0, 2.0])
    found = model.fitted(settings, rows_of(settings, x, y, np.ones(4)), 3)
    place = {key: i for i, key in enumerate(found.keys.tolist())}
    assert found.w[place[8]].tolist() == w[1].tolist() and found.G[place[8]].tolist() == [5, 5, 5]
    assert found.N[place[1]].tolist() == [3, 3, 3] and found.N[place[8]].tolist() == [2, 2, 2]
    assert found.w[place[1], 2] < w[0, 2]  # no row is of the third class: its scores fall
    few = model.fitted(settings, rows_of(settings, x, y, np.ones(4)), 2)
    assert few.w[:, 2].tolist() == model.w[:, 2].tolist()


def test_a_new_feature_is_learned_and_the_past_resists():
    """A weight moves the less, the more rows have told of it."""
    rng = np.random.default_rng(0)
    x = np.column_stack([np.ones(200), np.arange(200) % 2])
    y = np.where(rng.random(200) < np.where(x[:, 1] > 0, 0.8, 0.3), 1.0, -1.0)
    moved = []
    for n in (0, 100, 10_000):
        G = np.array([[n / 4], [0.0], [n / 4 + 1e-9]])
        moved.append(fitted("logistic", np.zeros((3, 1)), G, n, x, y, np.ones(200))[0])
    assert moved[0][1] > 1 and moved[2][1] > 0.9  # log odds of .8 over those of .3: 2.2
    sizes = [abs(w[0, 0]) + abs(w[2, 0]) for w in moved]
    assert sizes[0] > sizes[1] > sizes[2]


@pytest.mark.parametrize(("loss", "curved"), [("logistic", True), ("squared", True), ("classes", True),
                                              ("poisson", True), ("quantile", False), ("hinge", False)])
def test_losses_without_curvature_are_not_fitted(loss, curved):
    assert is_curved(settings_of(loss)) == curved


def rows_with(losses):
    return np.column_stack([np.ones(len(losses)), losses])


def test_the_way_is_that_of_several_nights():
    """Not of one night, whose rows may be few."""
    steps, fit, night = rows_with([0.4] * 10), rows_with([0.3] * 10), 0.0
    for _ in range(3):
        night = new_rows_only.evidence([("steps", steps), ("fit", fit)], night)
    assert night == pytest.approx(-1 * (1 + 0.8 + 0.64))
    assert new_rows_only.best_way([("steps", steps), ("fit", fit)], None, 3.0, night) == "fit"
    night = new_rows_only.evidence([("steps", fit), ("fit", steps)], night)
    assert night < 0 and new_rows_only.best_way([("steps", fit), ("fit", steps)], None, 3.0, night) == "fit"
    infinite = rows_with([np.inf] * 10)
    assert new_rows_only.evidence([("steps", steps), ("fit", infinite)], 0.0) == 10
    assert new_rows_only.evidence([("steps", steps)], 1.5) == 1.5


@pytest.mark.parametrize(("better", "errors", "again"), [(0.1, 3.0, True), (0.1, 1e3, False), (-0.1, 0.0, False)])
def test_a_model_is_trained_again_if_that_is_better_by_far(better, errors, again):
    rng = np.random.default_rng(0)
    losses = rng.random(100)
    other = rows_with(losses - better + rng.normal(0, 0.1, 100))
    way = new_rows_only.best_way([("steps", rows_with(losses))], other, errors, 0.0)
    assert (way is None) == again
