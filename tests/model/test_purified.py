"""Purified effects: what products add by fewer columns is in the effects of these, and scores do not change."""

import json
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from effects import corners, frame_of
from slow_purified import marginal, purified
from slow_purified import slices as sums_of_slices

from vwlite import SparseClassifier, SparseRegressor, load_model
from vwlite.model.effects import Effect, Effects, LevelAxis, NumberAxis, effects_of
from vwlite.model.purified import Plan, slices


def drawn(rng, *sizes: int, holes: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """A grid of values, and weights, some of which are 0."""
    weights = rng.integers(1, 50, sizes) * (rng.random(sizes) > holes)
    weights[tuple(slice(0, 1) if k else slice(None) for k in range(len(sizes)))] += 1  # connected, no slice is empty
    weights[0] += 1
    return rng.normal(size=(*sizes, 1)), weights.astype(float)


@pytest.mark.parametrize("sizes", [(2, 2), (5, 9), (12, 3), (3, 4, 5), (6, 2, 3)])
def test_slices_are_those_that_the_paper_moves(sizes):
    """The rest is unique where rows are, and so are the parts of two axes, whose rows are connected here."""
    rng, all_axes = np.random.default_rng(sum(sizes)), tuple(range(len(sizes)))
    for _ in range(5):
        values, weights = drawn(rng, *sizes)
        kept = [*combinations(all_axes, len(sizes) - 1)]
        tables = slices(values, weights, kept)
        mean = (weights * values[..., 0]).sum() / weights.sum()
        others = [tuple(k for k in all_axes if k not in of) for of in kept]
        rest = values - mean - sum(np.expand_dims(t, other) for t, other in zip(tables, others, strict=True))
        assert np.allclose(sums_of_slices(rest[..., 0], weights), 0, atol=1e-9 * weights.sum())
        expected = purified(values[..., 0], weights)
        there = weights > 0
        assert rest[there, 0] == pytest.approx(expected[all_axes][there], abs=1e-9)
        for of, table in zip(kept, tables, strict=True):
            assert (marginal(weights, of) * table[..., 0]).sum() == pytest.approx(0, abs=1e-8)
            if len(of) == 1:
                assert table[:, 0] == pytest.approx(expected[of], abs=1e-9)


def test_slices_do_not_depend_on_the_order_of_axes_where_rows_do_not_decide():
    """Rows in blocks, which no row connects, and slices without rows: many parts have the same sum."""
    rng = np.random.default_rng(3)
    values, weights = rng.normal(size=(6, 7, 2)), np.zeros((6, 7))
    weights[:3, :3], weights[3:5, 3:6] = rng.integers(1, 9, (3, 3)), rng.integers(1, 9, (2, 3))
    one, other = slices(values, weights, [(0,), (1,)])
    swapped = slices(np.swapaxes(values, 0, 1), weights.T, [(0,), (1,)])
    assert one == pytest.approx(swapped[1], abs=1e-12) and other == pytest.approx(swapped[0], abs=1e-12)
    mean = (weights[..., None] * values).sum(axis=(0, 1)) / weights.sum()
    rest = values - mean - one[:, None] - other[None]
    for k in range(2):  # of each class
        assert np.allclose(sums_of_slices(rest[..., k], weights), 0, atol=1e-10)
    # a slice without rows has the weights of all rows
    assert (rest[5] * weights.sum(axis=0)[:, None]).sum(axis=0) == pytest.approx([0, 0], abs=1e-10)
    assert (rest[:, 6] * weights.sum(axis=1)[:, None]).sum(axis=0) == pytest.approx([0, 0], abs=1e-10)


A, B = NumberAxis("a", np.array([0.0, 1.0, 3.0]), 0.0, 3.0), NumberAxis("b", np.array([-1.0, 2.0]), -1.0, 2.0)
FINE = replace(A, knots=np.array([0.5, 1.0, 2.5]))
W = LevelAxis("w", ("p", "q"))
OF_W = LevelAxis("w", ("q",), others=("p",))  # as products have it


def by_hand(rng, order: int = 1) -> Effects:
    """Effects of three columns, of which the products have other knots than the curves, and levels. Without the pair of
    b and w, which the product of three needs."""
    def effect(name, *axes):
        return Effect(name, axes, rng.normal(size=(*(axis.size for axis in axes), 1)), np.zeros(1))

    alone = [effect("a", A), effect("b", B), effect("w", W)]
    products = [effect("a*b", FINE, B), effect("w*a", OF_W, A), effect("a*b*w", A, B, OF_W)]
    return Effects(np.zeros(1), (*alone, *products[::order]))


def value(effects: Effects, row: dict[str, object]) -> float:
    """The sum of all effects, read place by place."""
    total = 0.0
    for effect in effects:
        for corner in product(*(corners(axis, row[axis.column]) for axis in effect.axes)):
            total += effect.values[tuple(at for at, _ in corner)][0] * np.prod([share for _, share in corner])
    return total


def rows_of(rng, n: int) -> list[dict[str, object]]:
    words = rng.choice(["p", "q", None], n).tolist()
    return [{"a": float(a), "b": float(b), "w": w}
            for a, b, w in zip(rng.uniform(-1, 4, n), rng.uniform(-2, 3, n), words, strict=True)]


def counted(axes, rows) -> np.ndarray:
    """How many rows are at each cell, row by row."""
    found = np.zeros([axis.size for axis in axes])
    for row in rows:
        for corner in product(*(corners(axis, row[axis.column]) for axis in axes)):
            found[tuple(at for at, _ in corner)] += np.prod([share for _, share in corner])
    return found


def test_sums_stay_and_slices_have_the_mean_0_in_any_order_of_products():
    found = []
    for order in (1, -1):
        rng = np.random.default_rng(8)
        before = by_hand(rng)
        before = replace(before, effects=(*before.effects[:3], *before.effects[3:][::order]))
        rows, plan = rows_of(np.random.default_rng(9), 200), Plan(before)
        counts = {name: counted(plan.axes[name], rows) for name in plan.names}
        after, moved = plan.purified(before, counts)
        assert {effect.name for effect in after} == {"a", "b", "w", "a*b", "w*a", "a*b*w", "b*w"}
        for row in rows_of(np.random.default_rng(10), 50):  # a missing word, and numbers outside of all knots, too
            assert value(after, row) == pytest.approx(value(before, row), abs=1e-9)
        for effect in after:
            if len(effect.axes) > 1:
                w = counts[effect.name]
                mean = (w * effect.values[..., 0]).sum() / w.sum()
                slack = 1e-5 * (w * np.abs(effect.values[..., 0])).sum()  # what is moved has six digits
                assert np.allclose(sums_of_slices(effect.values[..., 0] - mean, w), 0, atol=slack)
        assert plan.moved(before, plan.restored(stored(moved), 1)).effects[0].values == pytest.approx(
            after["a"].values, abs=1e-12)
        found.append({effect.name: effect.values for effect in after})
    for name, values in found[0].items():
        assert values == pytest.approx(found[1][name], abs=1e-9)


def stored(moved):
    """As a model keeps it."""
    return {name: [table.ravel().tolist() for table in tables] for name, tables in moved.items()}


def test_what_is_moved_and_does_not_fit_is_left_out():
    before = by_hand(np.random.default_rng(1))
    plan = Plan(before)
    assert plan.restored({"a*b": [[1.0], [2.0, 3.0]], "a": [[1.0]], "nothing": [[1.0]]}, 1) == {}


def test_curves_are_the_true_ones_where_pairs_have_taken_from_them():
    """Sums of curves, some of which are in products of columns that depend on each other."""
    rng = np.random.default_rng(4)
    a = rng.normal(size=400)
    rows = [{"a": x, "b": 0.8 * x + 0.6 * e} for x, e in zip(a.tolist(), rng.normal(size=400).tolist(), strict=True)]
    knots = np.linspace(-2, 2, 9)
    axes = {name: NumberAxis(name, knots, -2.0, 2.0) for name in "ab"}
    true = {"a": np.append(np.sin(2 * knots), 0.3), "b": np.append(np.abs(knots), -0.2)}
    weights = {name: counted((axis,), rows) for name, axis in axes.items()}
    taken = {name: rng.normal(size=10) for name in "ab"}
    alone = [Effect(n, (axes[n],), (true[n] - taken[n])[:, None], np.zeros(1)) for n in "ab"]
    pair = Effect("a*b", (axes["a"], axes["b"]), (taken["a"][:, None] + taken["b"])[..., None], np.zeros(1))
    effects = Effects(np.zeros(1), (*alone, pair))
    plan = Plan(effects)
    after, _ = plan.purified(effects, {"a*b": counted(pair.axes, rows)})
    some = weights["a"] > 0
    for name in "ab":
        apart = after[name].values[some, 0] - true[name][some]  # but for a constant, which is in the mean of the pair
        assert np.ptp(apart) < 1e-4
    rest = after["a*b"].values[some][:, some, 0]
    assert np.ptp(rest) < 1e-4


def test_curves_of_a_model_of_additive_data_are_the_true_ones():
    """Pairs of columns that depend on each other, which training found in noise, or for what curves miss."""
    rng = np.random.default_rng(6)
    a, w = rng.uniform(-2, 2, 4000), rng.choice(["p", "q", "r"], 4000)
    b = np.clip(0.6 * a + rng.normal(size=4000), -2, 2)
    y = np.where(a > 0, 2 * a, 0) + np.cos(2 * b) + np.select([w == "p", w == "q"], [0.5, -0.5])
    frame = pd.DataFrame({"a": a, "b": b, "w": w})
    m = SparseRegressor().fit(frame, y + rng.normal(size=4000) * 0.1)
    x = np.linspace(-1.8, 1.8, 37)
    for name, true in (("a", np.where(x > 0, 2 * x, 0)), ("b", np.cos(2 * x))):
        apart = m.effects_[name].number(x)[:, 0] - true
        assert np.std(apart) < 0.1 * np.std(true)
    assert [*m.effects_.importances][:2] == ["a", "b"]


@pytest.fixture(scope="module")
def fitted():
    frame = frame_of()
    return SparseClassifier(time=["at"]).fit(frame.drop(columns="y"), frame["y"]), frame


def test_slices_of_a_model_have_the_mean_0_over_the_rows_of_its_training(fitted):
    m, frame = fitted
    rows, products = frame.to_dict("records"), [effect for effect in m.effects_ if len(effect.axes) > 1]
    assert products
    for effect in products:
        counts = counted(effect.axes, rows)
        values = effect.values[..., 0] - effect.mean[0]
        slack = 1e-5 * (counts * np.abs(effect.values[..., 0])).sum() + 1e-9
        assert np.allclose(sums_of_slices(values, counts), 0, atol=slack)


def test_the_sum_of_purified_effects_is_that_of_those_that_were_learned(fitted):
    """Read place by place: also for rows that training did not have."""
    m, frame = fitted
    rows = frame.drop(columns="y").sample(40, random_state=2).reset_index(drop=True)
    rows.loc[0, "x"], rows.loc[1, "x"], rows.loc[2, "w"], rows.loc[3, "w"] = np.nan, 1e6, None, "new"
    learned = effects_of(m._learned.model())
    for row in rows.to_dict("records"):
        assert value(m.effects_, row) == pytest.approx(value(learned, row), abs=1e-6)


def test_effects_and_importances_have_the_order_of_their_sizes(fitted):
    """By the definition, from the contributions to the rows of training."""
    m, frame = fitted
    found = m.contributions(frame.drop(columns="y"))
    sizes = np.abs(found).mean(axis=0)
    assert [effect.size[0] for effect in m.effects_] == pytest.approx(sizes, rel=1e-4, abs=1e-7)
    assert (np.diff([effect.size[0] for effect in m.effects_]) <= 0).all()
    importances = m.effects_.importances
    assert {*importances} == {*frame.drop(columns="y")}
    assert (np.diff([*importances.values()]) <= 0).all()
    for one in importances.parts:
        shares = np.array([effect.columns.count(one.column) / len(effect.columns) for effect in m.effects_])
        is_product = np.array([len(effect.axes) > 1 for effect in m.effects_])
        parts = [np.abs(found @ (shares * which)).mean() for which in (~is_product, is_product)]
        whole = np.abs(found @ shares).mean()
        assert one.whole == pytest.approx(whole, rel=1e-4, abs=1e-7)
        assert one.shared == pytest.approx(whole * parts[1] / (sum(parts) or 1), rel=1e-4, abs=1e-7)


def test_all_that_shows_importances_has_the_same_ones(fitted, vwlite, tmp_path):
    """The estimator, a model that is read, its frames, and `weights` beside data."""
    m, frame = fitted
    m.save(tmp_path / "m")
    found = m.importances_
    assert dict(found) == dict(load_model(tmp_path / "m").importances())
    table = found.to_frame()
    assert [*table["column"]] == [*found] and [*table["importance"]] == [*found.values()]
    assert [*table["alone"] + table["in_products"]] == pytest.approx([*found.values()])
    assert [line.split()[0] for line in repr(found).splitlines()[1:]] == [*found]
    frame.to_csv(tmp_path / "d.csv", index=False)
    said = vwlite("weights", tmp_path / "m", tmp_path / "d.csv").out
    rows = [line.split() for line in said[said.index("in products"):].splitlines()[1:]]
    assert [row[-1] for row in rows] == [*found]
    assert [float(row[0]) for row in rows] == pytest.approx([*found.values()], rel=1e-5)
    columns = json.loads(vwlite("weights", tmp_path / "m", tmp_path / "d.csv", "--json").out)["columns"]
    assert [(c["name"], c["importance"]) for c in columns] == [*found.items()]
    sizes = m.effects_.to_frame().drop_duplicates("effect")
    assert [*sizes["effect"]] == [effect.name for effect in m.effects_]
    assert [*sizes["size"]] == [effect.size[0] for effect in m.effects_]


def test_a_model_without_a_record_says_that_it_has_no_importances(vwlite, tmp_path):
    frame = frame_of(200).drop(columns="at")
    m = SparseClassifier(algorithm="gd").fit(frame.drop(columns="y"), frame["y"])
    with pytest.raises(ValueError, match="no record of how much its columns add"):
        m.importances_  # noqa: B018
    m.save(tmp_path / "m")
    frame.to_csv(tmp_path / "d.csv", index=False)
    assert "sum of |weight x spread|" in vwlite("weights", tmp_path / "m", tmp_path / "d.csv").out
