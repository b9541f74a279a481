"""The fit over shards: its rounds beside an eager twin, and what must hold for any data."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from batches import Line, batch_of

from vwlite.algorithms.settings import Settings
from vwlite.core.solve.rows import Rows
from vwlite.model import read_model
from vwlite.model.learners import make_expander
from vwlite.solving.rounds.sums import sum_of_arrays
from vwlite.training.shards import fit, strengths
from vwlite.training.shards.fit import ShardFit, chosen
from vwlite.training.shards.rows import Point, ShardRows, Unit
from vwlite.training.shards.strengths import SPARSE, Penalties, Strength, StrengthSearch

K = 3  # classes
UNITS = {"logistic": Unit(), "squared": Unit(1.5, 2.0), "poisson": Unit(), "classes": Unit(scores=K),
         "quantile": Unit(1.5, 2.0), "quantiles": Unit(1.5, 2.0, 2), "huber": Unit(1.5, 2.0)}


def settings_of(loss):
    if loss == "classes":
        return Settings(loss="logistic", oaa=K, softmax_probabilities=True)
    if loss == "quantiles":
        return Settings(loss="quantile", quantile_tau=(0.3, 0.8))
    return Settings(loss=loss)


def drawn(loss, n=400, d=9, seed=1):
    """x (the last three features are rare), y, v."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, d)) * (random.random((n, d)) < np.append(np.full(d - 3, 0.7), np.full(3, 0.06)))
    score = x @ random.normal(size=(d, K)) / 2 + random.normal(size=(n, K)) / 2
    y = {
        "logistic": np.where(score[:, 0] > 0, 1.0, -1.0), "poisson": random.poisson(np.exp(score[:, 0] / 2)) * 1.0,
        "classes": score.argmax(axis=1) + 1.0,
    }.get(loss, 1.5 + 2 * score[:, 0])
    return x, y, random.integers(1, 4, n) / 2


def features_of(loss, x, y, v):
    """Feature j has key 7 j + 1; zeros are no features."""
    rows = Rows(make_expander(replace(settings_of(loss), constant=False)))
    rows.add(batch_of(Line(label, [(7 * j + 1, a) for j, a in enumerate(row) if a], importance)
                      for row, label, importance in zip(x.tolist(), y.tolist(), v.tolist(), strict=True)))
    rows.finish()
    return rows


def rows_of(loss, x, y, v, held=None):
    held = np.zeros(len(y), bool) if held is None else held
    return ShardRows(features_of(loss, x, y, v), settings_of(loss), UNITS[loss], held)


def keys_of(x):
    return (7 * np.arange(x.shape[1]) + 1).astype(np.uint32)


def penalties_of(x, v):
    d = x.shape[1]
    return Penalties(100 / v.sum() * (v[:, None] * x * x).sum(axis=0), np.ones(d), np.arange(d) >= d - 2)


class Together:
    """Shards that are in this process. keys: of all features."""

    def __init__(self, shards, keys):
        self._shards, self._projected = shards, []
        for shard in shards:
            shard.widen(keys)

    def slopes(self, w):
        g, curvature = zip(*(shard.slopes(w) for shard in self._shards), strict=True)
        return sum_of_arrays(g), sum_of_arrays(curvature)

    def project(self, w, directions):
        self._projected = [shard.projected(w, directions) for shard in self._shards]

    def sums(self, points):
        return [*map(sum_of_arrays, zip(*(one.sums(points) for one in self._projected), strict=True))]

    def losses_apart(self, points):
        return sum_of_arrays([one.losses_apart(points) for one in self._projected])

    def smearing(self, point, deviation):
        return sum_of_arrays([one.smearing(point, deviation) for one in self._projected])


class Case:
    """Rows in shards, of which every 20th is held out, and the first third of the others is the sample."""

    def __init__(self, loss, n=400, d=9, cuts=(0.5,), order=None, seed=1, rows=None):
        self.loss, (self.x, self.y, self.v) = loss, rows or drawn(loss, n, d, seed)
        n = len(self.y)
        self.held = np.arange(n) % 20 == 0
        self.of_sample = ~self.held & (np.arange(n) < n / 3)
        self.order = np.arange(n) if order is None else order(self.x, self.y)
        self.cuts = [0, *(int(c * n) for c in cuts), n]

    def fit(self, strength=None):
        keys, v = keys_of(self.x), np.where(self.held, 0, self.v)
        shards = []
        for a, b in zip(self.cuts, self.cuts[1:], strict=False):
            i = self.order[a:b]
            shards.append(rows_of(self.loss, self.x[i], self.y[i], self.v[i], self.held[i]))
        sample = rows_of(self.loss, *(a[self.of_sample] for a in (self.x, self.y, self.v)))
        sample.widen(keys)
        w = np.zeros((len(keys) + 1, UNITS[self.loss].scores))
        return ShardFit(Together(shards, keys), sample, penalties_of(self.x, v), strength or Strength(1.0, 4.0, 0.75),
                        float(v.sum()), float(self.v.sum() - v.sum()), w)


# --- the twin ---------------------------------------------------------------------------------------


class Twin:
    """The definition, with dense matrices: losses of one score."""

    def __init__(self, case, w, strength):
        z = np.hstack([case.x, np.ones((len(case.y), 1))])
        unit = UNITS[case.loss]
        self.y = (case.y - unit.mean) / unit.deviation if case.loss != "logistic" else case.y
        self.z, self.v, self.held = z, np.where(case.held, 0, case.v), np.where(case.held, case.v, 0)
        self.is_logistic = case.loss == "logistic"
        self.s, self.vs = z[case.of_sample], case.v[case.of_sample]
        p = penalties_of(case.x, self.v)
        self.L = strength.strength * p.squares**strength.power
        self.L[p.is_product] *= strength.ratio
        self.w, self.strength, self.last = w[:, 0].copy(), 1.0, None

    def at(self, p, y):
        if self.is_logistic:
            q = 1 / (1 + np.exp(y * p))
            return np.log1p(np.exp(-y * p)), -y * q, q * (1 - q)
        return (p - y) ** 2, 2 * (p - y), np.full_like(p, 2.0)

    def round(self):
        _, slope, curve = self.at(self.z @ self.w, self.y)
        g, c_all = self.z.T @ (self.v * slope), (self.z**2).T @ (self.v * curve)
        _, _, of_sample = self.at(self.s @ self.w, np.ones(len(self.s)))
        u = 0.9 * self.vs * of_sample * self.v.sum() / self.vs.sum()
        lacking = 2 * np.maximum(0, c_all - (self.s**2).T @ u)
        lanes = []
        for k in (1, 1 / 3, 3):
            L = np.append(self.L * k * self.strength, 1e-3)
            d = -np.linalg.solve(self.s.T @ (u[:, None] * self.s) + np.diag(lacking + L), g + L * self.w)
            plane = np.array([d] if self.last is None else [d, self.last])
            a = np.zeros(len(plane))
            for _ in range(100):
                _, slope, curve = self.at(self.z @ (self.w + a @ plane), self.y)
                whole = plane @ (self.z.T @ (self.v * slope) + L * (self.w + a @ plane))
                h = plane @ (self.z.T @ ((self.v * curve)[:, None] * self.z) + np.diag(L)) @ plane.T
                a = a - np.linalg.solve(h, whole)
            end = self.w + a @ plane
            lanes.append((k, end, self.held * self.at(self.z @ end, self.y)[0]))
        first = lanes[0][2]
        at = self.held > 0
        able = [lane for lane in lanes if lane[0] == 1 or
                -(lane[2] - first).sum() > np.sqrt(((lane[2] - first)[at] ** 2 / self.held[at]).sum())]
        k, end, losses = min(able, key=lambda lane: lane[2].sum())
        self.last, self.w, self.strength = end - self.w, end, self.strength * k
        return losses.sum() / self.held.sum()


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_rounds_are_those_of_the_twin(monkeypatch, loss):
    monkeypatch.setattr(fit, "CLOSE", 1e-18)
    monkeypatch.setattr(fit, "GAIN", 1e-15)
    case, strength = Case(loss, cuts=(0.2, 0.25, 0.9)), Strength(1.0, 4.0, 0.75)
    run = case.fit(strength)
    twin = Twin(case, run.w, strength)
    for _ in range(3):
        assert run.round().loss == pytest.approx(twin.round(), rel=1e-7)
        np.testing.assert_allclose(run.w[:, 0], twin.w, rtol=1e-5, atol=1e-7)


# --- properties -------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", UNITS)
def test_derivatives_of_a_search_are_those_of_its_loss(loss):
    x, y, v = drawn(loss)
    random = np.random.default_rng(3)
    rows = rows_of(loss, x, y, v)
    w, *directions = random.normal(size=(3, x.shape[1] + 1, UNITS[loss].scores)) / 5
    found, h = rows.projected(w, directions), 1e-5

    def at(a, b):
        return found.sums([Point((a, b), (0, 1))])[0]

    value, *rest = at(0.3, -0.2)
    ahead = [(at(0.3 + h, -0.2), at(0.3 - h, -0.2)), (at(0.3, -0.2 + h), at(0.3, -0.2 - h))]
    assert rest[:2] == pytest.approx([(a[0] - b[0]) / (2 * h) for a, b in ahead], rel=1e-4, abs=1e-4)
    assert value > 0
    if loss not in ("quantile", "quantiles", "huber"):  # which have kinks, or nearly
        second = np.array([(a[1:3] - b[1:3]) / (2 * h) for a, b in ahead]).ravel()
        assert rest[2:] == pytest.approx(second.tolist(), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("loss", UNITS)
def test_the_objective_falls_in_each_round(loss):
    run = Case(loss).fit()
    before = np.inf
    for _ in range(4):
        found = run.round((1.0,))
        assert found.fell and found.objective <= before
        before = found.objective


ORDERS = {"label": lambda x, y: np.argsort(y, kind="stable"), "column": lambda x, y: np.argsort(x[:, 0], kind="stable")}


@pytest.mark.parametrize("loss", ["logistic", "classes"])
@pytest.mark.parametrize("order", [None, *ORDERS])
@pytest.mark.parametrize("cuts", [(), tuple(i / 64 for i in range(1, 64)), tuple(2.0**-i for i in range(8, 0, -1))])
def test_shards_do_not_change_the_weights(loss, order, cuts):
    one, other = Case(loss).fit(), Case(loss, cuts=cuts, order=ORDERS.get(order)).fit()
    for _ in range(3):
        one.round()
        other.round()
    assert np.abs(one.w - other.w).max() <= 1e-9 * np.abs(one.w).max()


@pytest.mark.parametrize("loss", ["logistic", "squared", "poisson", "classes"])
def test_many_rounds_reach_the_optimum(loss):
    run = Case(loss).fit()
    sizes = []
    for _ in range(31):
        g, _ = run._shards.slopes(run.w)
        sizes.append(np.abs(g + run._penalties.of(run.strength, run.w) * run.w).max())
        run.round((1.0,))
    assert sizes[-1] < 1e-6 * sizes[0]


def test_many_rounds_are_the_optimum_that_solve_finds(vwlite, tmp_path):
    """Of the same penalties: those of a ridge, without an intercept."""
    x, y, v = drawn("logistic")
    n, keys, strength = len(y), keys_of(x), 3.0
    (tmp_path / "rows.svm").write_text("".join(
        f"{int(label)} {' '.join(f'{j + 1}:{a!r}' for j, a in enumerate(row) if a)}\n"
        for row, label in zip(x.tolist(), y.tolist(), strict=True)))
    vwlite("solve", tmp_path / "rows.svm", "--loss", "logistic", "--l2", strength / n, "--no-constant", "--tolerance",
           1e-12, "-m", tmp_path / "m", "--quiet")
    of_solve = np.array(read_model(str(tmp_path / "m")).weights)
    settings_of_rows = replace(settings_of("logistic"), constant=False)
    shards = [ShardRows(features_of("logistic", x[i], y[i], np.ones(len(i))), settings_of_rows, Unit(),
                        np.zeros(len(i), bool)) for i in np.split(np.arange(n), [120, 300])]
    of_sample = features_of("logistic", x[:130], y[:130], v[:130])
    sample = ShardRows(of_sample, settings_of_rows, Unit(), np.zeros(130, bool))
    sample.widen(keys)
    penalties = Penalties(np.ones(len(keys)), np.ones(len(keys)), np.zeros(len(keys), bool))
    run = ShardFit(Together(shards, keys), sample, penalties, Strength(strength, 1.0, 0.0), float(n), 0.0,
                   np.zeros((len(keys) + 1, 1)))
    for _ in range(30):
        run.round((1.0,))
    assert run.w[:-1, 0] == pytest.approx(of_solve, rel=1e-5, abs=1e-7) and run.w[-1, 0] == 0


def test_a_word_that_the_sample_lacks_is_learned():
    """It is in one shard only, and decides the label there."""
    x, y, v = drawn("logistic", 3000, 8)
    x = np.hstack([x, np.zeros((3000, 1))])
    word = np.arange(2950, 3000)
    x[word, -1], y[word] = 1, 1
    case = Case("logistic", cuts=(0.5, 0.9), rows=(x, y, v))
    case.of_sample[word] = False
    run = case.fit(Strength(1.0, 1.0, 0.0))
    weights = []
    for _ in range(12):
        run.round((1.0,))
        weights.append(run.w[-2, 0])
    assert weights[1] > weights[-1] / 2 > 0


def test_importance_2_is_the_row_twice():
    x, y, _ = drawn("logistic", 200)
    twice = np.arange(200) % 3 == 0
    once, both = rows_of("logistic", x, y, 1.0 + twice), np.repeat(np.arange(200), 1 + twice)
    w = np.random.default_rng(2).normal(size=(x.shape[1] + 1, 1))
    for a, b in zip(once.slopes(w), rows_of("logistic", x[both], y[both], np.ones(len(both))).slopes(w), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_labels_that_are_held_out_choose_lanes_and_nothing_else():
    one, other = Case("logistic"), Case("logistic")
    other.y = np.where(other.held, -other.y, other.y)
    runs = [one.fit(), other.fit()]
    losses = [[run.round((1.0,)).loss for _ in range(3)] for run in runs]
    assert (runs[0].w == runs[1].w).all() and losses[0] != losses[1]


def test_the_loss_that_is_reported_is_that_of_fresh_rows():
    """Over 20 draws of the rows the mean difference is 0, up to 3 standard errors: less than that of learned rows."""
    n, fresh, reported, learned = 400, 5000, [], []
    for seed in range(20):
        x, y, _ = drawn("logistic", n + fresh, 40, seed)
        case = Case("logistic", rows=(x[:n], y[:n], np.ones(n)))
        run = case.fit()
        for _ in range(3):
            found = run.round()
        losses = np.log1p(np.exp(-y * (x @ run.w[:-1, 0] + run.w[-1, 0])))
        reported.append(found.loss - losses[n:].mean())
        learned.append(losses[:n][~case.held].mean() - losses[n:].mean())
    error = np.std(reported, ddof=1) / np.sqrt(20)
    assert abs(np.mean(reported)) < 3 * error < -np.mean(learned)


def test_labels_in_another_unit_give_the_same_fit(monkeypatch):
    x, y, v = drawn("squared")
    runs = []
    for unit, scale in ((Unit(1.5, 2.0), 1.0), (Unit(1500.0, 2000.0), 1000.0)):
        monkeypatch.setitem(UNITS, "squared", unit)
        run = Case("squared", rows=(x, scale * y, v)).fit()
        run.round()
        runs.append((unit, run.w))
    np.testing.assert_allclose(runs[0][1], runs[1][1], rtol=1e-9, atol=1e-12)
    unit, w = runs[1]
    np.testing.assert_allclose(unit.unfold(unit.fold(w)), w, atol=1e-12)


def test_a_mixture_is_taken_only_if_it_is_better_by_two_standard_errors():
    run = Case("logistic").fit()
    first, bad = run.w, -run.w
    found = run.round(others=[bad])
    w = run.w.copy()
    assert run.mix(bad) == (1.0, pytest.approx(found.loss)) and (run.w == w).all() and found.others[0] > found.loss
    run = Case("logistic").fit()
    run.w = bad
    run.round(others=[np.zeros_like(bad), w])
    run.w, end = bad, run._end
    run._end = tuple(0.0 for _ in end)
    assert run.mix(w) == (0.0, pytest.approx(found.loss)) and np.abs(run.w - w).max() < 1e-12 and (first == -bad).all()


def test_what_a_search_needs_can_be_sent():
    x, y, v = drawn("quantiles")
    rows = rows_of("quantiles", x, y, v)
    found = rows.projected(np.ones((x.shape[1] + 1, 2)), [np.ones((x.shape[1] + 1, 2))])
    point = Point((0.5,), (0,))
    assert (pickle.loads(pickle.dumps(found)).sums([point])[0] == found.sums([point])[0]).all()


def test_a_lane_is_taken_if_it_is_better_by_an_error():
    assert chosen(np.array([[9.0, 0, 0], [8.0, -1.0, 4.0], [8.5, -0.5, 0.01]])) == 2


def test_strengths_are_those_of_the_grid_with_the_least_loss(monkeypatch):
    """Beside the losses of a slow search over all of the grid: none of the neighbours of what is found is better."""
    x, y, v = drawn("logistic", 300)
    rows, penalties = rows_of("logistic", x, y, v), penalties_of(x, v)
    rows.widen(keys_of(x))
    found = StrengthSearch(rows, np.arange(300) % 4, penalties, np.zeros((x.shape[1] + 1, 1)), has_unit=False)
    best = found.best()
    monkeypatch.setattr(strengths, "GAIN", 1e-9)
    exact = StrengthSearch(rows, np.arange(300) % 4, penalties, np.zeros((x.shape[1] + 1, 1)), has_unit=False)
    near = [(best.strength * f, best.ratio, best.power) for f in (1 / 3, 3)]
    own = exact._loss(best.strength, best.ratio, best.power)
    assert all(own <= exact._loss(*key) + 0.2 for key in near)


def test_a_few_weights_among_many_ask_for_a_sparse_penalty():
    random = np.random.default_rng(4)
    x = random.normal(size=(600, 300))
    y = np.where(x[:, 0] + x[:, 1] - x[:, 2] + random.normal(size=600) / 2 > 0, 1.0, -1.0)
    rows = rows_of("logistic", x, y, np.ones(600))
    penalties = Penalties(np.full(300, 100.0), np.ones(300), np.zeros(300, bool))
    found = StrengthSearch(rows, np.arange(600) % 4, penalties, np.zeros((301, 1)), has_unit=False).best()
    assert found.power == SPARSE
