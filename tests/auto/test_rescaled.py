"""Columns that are learned in another scale, too: by definition, in learning, and in the hats of a model."""

import json
import math
from array import array
from collections import Counter
from dataclasses import replace
from statistics import fmean, pstdev

import numpy as np
import pytest
from derived_features import has_heavy_tails, sentinel_of, share_below
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import loss, table, written
from tiers import drawn

from vwlite.algorithms.settings import Settings
from vwlite.derived import CURVE, Derived, NumberColumn
from vwlite.hashing import feature_hash
from vwlite.model import read_model
from vwlite.training.auto.rescaled import (
    Scale,
    key_of,
    with_rescaled,
    with_rescaled_in_hats,
    without_rescaled,
    without_shared_keys,
)
from vwlite.training.auto.selection import COLUMNS, STATE, GridCandidate, PassState

KNOTS = (-2.0, 0.0, 1.0, 100.0)
COLUMN = NumberColumn("x", 0.0, 1.0, True, {CURVE: KNOTS})
RESCALED = {-2.0: -1.5, 0.0: -0.25, 1.0: 0.5, 100.0: 2.0}
SCALED = with_rescaled(COLUMN, RESCALED)
number = st.floats(-100, 100, width=32)
values = st.tuples(
    st.lists(number, min_size=15, max_size=40, unique=True),
    st.lists(st.sampled_from([1e6, -1e4, 0.0, 300.0, math.nan]), max_size=20),
).map(lambda parts: [*parts[0], *parts[1]])


@settings(deadline=None, max_examples=drawn(120))
@given(values)
def test_rescaled_knots(x):
    """Normal scores of heavy tails; without a sentinel, which is 0, z of the others; columns of few numbers stay."""
    numbers = [v for v in x if not math.isnan(v)]
    found, knots = Scale(array("f", x)), {*numbers}
    rescaled = found.of_knots(knots)
    if len(knots) <= 20:
        assert found.sentinel is None and rescaled == {}
        return
    assert found.sentinel == sentinel_of(numbers)
    others = [v for v in numbers if v != found.sentinel]
    if found.sentinel is not None:
        assert rescaled[found.sentinel] == 0
        assert found.share == Counter(numbers)[found.sentinel] / len(numbers)
    elif not has_heavy_tails(others):
        assert rescaled == {}
        return
    for knot in {*others}:
        if has_heavy_tails(others):
            share = (1 + math.erf(rescaled[knot] / math.sqrt(2))) / 2
            assert share == pytest.approx(share_below(others, knot), abs=1e-6)
        else:
            z = (knot - fmean(others)) / pstdev(others)
            assert rescaled[knot] == pytest.approx(min(max(z, -4), 4), abs=1e-5)


def test_no_numbers_stay_as_they_are():
    assert Scale(array("f", [math.nan] * 3)).of_knots([]) == {}


@pytest.mark.parametrize("hats", [True, False])
def test_a_rescaled_value_is_linear_between_knots(hats):
    numbers = [-5.0, -2.0, -1.0, 0.25, 1.0, 30.0, 1e6]
    derived = Derived((replace(SCALED, hats=hats),))
    found = derived.derivation(False).derived(table(["x"], ["numeric"], [[f"{x:g}"] for x in numbers]))
    expected = np.interp(numbers, KNOTS, [*RESCALED.values()])
    key = feature_hash(b"x~rescaled", b"x")
    of_hats = {feature_hash(name.encode(), b"x") for name in COLUMN.names(CURVE)}
    for (hashes, weights, _), score in zip(found, expected, strict=True):
        assert dict(zip(hashes, weights, strict=True))[key] == pytest.approx(score, rel=1e-6)
        assert bool(of_hats & {*hashes}) == hats


def test_each_knot_has_a_rescaled_value():
    with pytest.raises(ValueError, match="a rescaled value for each knot"):
        Derived((replace(SCALED, rescaled=(1.0,)),)).derivation(False)


@pytest.mark.parametrize("hats", [True, False])
@pytest.mark.parametrize("classes", [1, 3])
def test_rescaled_values_in_hats_predict_the_same(hats, classes):
    """The weight of a rescaled value times that of the knot, in each column of each class, and of each fold."""
    rng = np.random.default_rng(0)
    settings = Settings(derived=Derived((replace(SCALED, hats=hats),)))
    mask = (1 << settings.bits) - 1
    own = [feature_hash(name.encode(), b"x") & mask for name in COLUMN.names(CURVE)[:-1]]
    keys = [key_of(SCALED, False) & mask, *(own if hats else []), 7]
    numbers = rng.normal(size=(classes, len(keys), STATE)).astype("f")
    folds = rng.normal(size=(len(keys), 4))
    before = PassState(array("I", keys), array("f", numbers.tobytes()), [], array("d", folds.tobytes()))
    after = with_rescaled_in_hats(GridCandidate("none", list, kept=before), settings).kept
    assert {*after.keys} == {*own, 7}
    place = {key: i for i, key in enumerate(after.keys)}
    found = np.array(after.columns).reshape(classes, -1, STATE)[:, :, :COLUMNS]
    of_folds = np.array(after.by_fold).reshape(-1, 4)
    for i, (key, score) in enumerate(zip(own, SCALED.rescaled, strict=True), 1):
        learned = (numbers[:, i, :COLUMNS], folds[i]) if hats else (0, 0)
        assert found[:, place[key]] == pytest.approx(learned[0] + score * numbers[:, 0, :COLUMNS], rel=1e-5, abs=1e-6)
        assert of_folds[place[key]] == pytest.approx(learned[1] + score * folds[0])
    assert np.array_equal(found[:, place[7]], numbers[:, -1, :COLUMNS])
    assert without_rescaled(settings).derived == Derived((COLUMN,))


@pytest.mark.parametrize("of", ["plain", "hat", "product"])
def test_a_key_that_another_feature_has_is_no_rescaled_value(of):
    settings = Settings(bits=8)
    other = NumberColumn("z", 0.0, 1.0, True, {CURVE: KNOTS, 4: KNOTS})
    derived = Derived((replace(SCALED, knots={CURVE: KNOTS, 4: KNOTS}), other))
    key = key_of(SCALED, False) & 255
    assert without_shared_keys(derived, settings, [key + 1]) == derived
    if of == "plain":
        found = without_shared_keys(derived, settings, [key])
    elif of == "hat":
        names = (f"a{i}" for i in range(10_000))
        columns = (NumberColumn(name, 0.0, 1.0, True, {CURVE: KNOTS}) for name in names)
        hit = next(c for c in columns if feature_hash(c.names(CURVE)[0].encode(), c.name.encode()) & 255 == key)
        found = without_shared_keys(Derived((derived.columns[0], hit)), settings, [])
    else:
        two = replace(settings, bits=2)  # each of the four keys is that of a cell of the product
        found = without_shared_keys(replace(derived, products=(((0, 4), (1, 4)),)), two, [])
    assert all(not c.rescaled for c in found.columns)


def rows(n, seed):
    """A label that depends on logarithms whose standard deviation is 3; and the mean loss of the true probabilities."""
    x = np.random.default_rng(seed).normal(size=(n, 3))
    p = 1 / (1 + np.exp(-2 * x[:, 0] + x[:, 1]))
    y = np.random.default_rng(seed + 1).random(n) < p
    cells = [[*(f"{v:.6g}" for v in row), int(label)] for row, label in zip(np.exp(3 * x), y, strict=True)]
    return cells, -float(np.mean(p * np.log(p) + (1 - p) * np.log(1 - p)))


QUANTILES = ("--loss", "quantile", "--quantile-tau", "0.2,0.8")


@pytest.mark.parametrize("options", [(), ("--hash", "all"), ("-b", "10"), QUANTILES])
def test_logarithms_are_learned_without_an_option(vwlite, tmp_path, options):
    """The model has no feature of a rescaled value, and its loss of fresh rows is the reported one, but for chance."""
    names = ["a", "b", "c", "y"]
    learned, _ = rows(600, 1)
    fresh, bayes = rows(3000, 5)
    train, test = (written(tmp_path / name, names, x) for name, x in (("train.csv", learned), ("test.csv", fresh)))
    found = vwlite("train", train, "--label", "y", *options, "-m", tmp_path / "m")
    assert "curves of 3 numbers" in found.err
    stored = read_model(str(tmp_path / "m")).settings.derived.stored()
    assert all({*c} == {"name", "mean", "deviation", "missing", "knots"} for c in stored["columns"])
    assert "~rescaled" not in vwlite("weights", tmp_path / "m").out
    if options != QUANTILES:
        own = loss_on(vwlite, tmp_path / "m", test)
        assert (own - bayes) / (math.log(2) - bayes) < 0.12
        assert own == pytest.approx(loss(found), abs=0.05)


def loss_on(vwlite, model, test):
    return json.loads(vwlite("evaluate", "-m", model, test, "--json").out)["measures"]["log_loss"]["value"]


def test_a_stream_is_learned_without_them(vwlite, tmp_path, monkeypatch):
    """Its checkpoints have the features of models only, so that it can go on with them."""
    monkeypatch.setattr("vwlite.training.auto.reading.KEPT_EXAMPLES", 600)
    learned, _ = rows(900, 1)
    train = written(tmp_path / "train.csv", ["a", "b", "c", "y"], learned)
    found = vwlite("train", train, "--passes", 1, "--label", "y", "-m", tmp_path / "m")
    assert "curves of 3 numbers" in found.err
    keys = {feature_hash(f"{name}~rescaled".encode(), name.encode()) for name in "abc"}
    assert not keys & {*read_model(str(tmp_path / "m")).keys}


def missing_rows(n, seed, cell):
    """Five numbers around 5 of which a fifth is missing, a cell, and a label that depends on three of them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5)) + 5
    y = rng.random(n) < 1 / (1 + np.exp(-2 * (x[:, 0] - x[:, 1] + x[:, 2] - 5)))
    lost = rng.random(x.shape) < 0.2
    return [[*(cell if gone else f"{v:.4f}" for v, gone in zip(row, of_row, strict=True)), int(label)]
            for row, of_row, label in zip(x, lost, y, strict=True)]


@pytest.mark.parametrize("seed", range(2))
def test_a_sentinel_is_learned_like_a_missing_number(vwlite, tmp_path, seed):
    """And noted. Either is not much worse than the linear model of means and indicators."""
    losses = []
    for name, cell in ("missing", ""), ("sentinel", "-999"):
        train, test = (written(tmp_path / f"{name}.{part}.csv", [*"abcde", "y"], missing_rows(n, 10 * seed + n, cell))
                       for part, n in (("train", 200), ("test", 3000)))
        found = vwlite("train", train, "--label", "y", "-m", tmp_path / name)
        assert ("% of the numbers of a, b, c, d, e, far from all others: if it stands for a missing number, --missing "
                "NA,-999 reads it so" in found.err) == (name == "sentinel")
        losses.append(loss_on(vwlite, tmp_path / name, test))
    assert losses[1] == pytest.approx(losses[0], abs=0.02)
    assert losses[0] < with_means_and_indicators(200, 10 * seed) + 0.04


def with_means_and_indicators(n, seed):
    """The loss of logistic regression with a small ridge, in Newton steps."""
    def columns(rows):
        x = np.array([[float(v or "nan") for v in row[:-1]] for row in rows])
        return np.nan_to_num(x - 5), np.isnan(x), np.array([row[-1] for row in rows])

    (x, lost, y), (fresh, fresh_lost, labels) = (columns(missing_rows(k, seed + k, "")) for k in (n, 3000))
    design, weights = np.column_stack([np.ones(n), x, lost]), np.zeros(11)
    for _ in range(20):
        p = 1 / (1 + np.exp(-design @ weights))
        hessian = (design.T * (p * (1 - p))) @ design + np.eye(11)
        weights += np.linalg.solve(hessian, design.T @ (y - p) - weights)
    margin = np.column_stack([np.ones(3000), fresh, fresh_lost]) @ weights * (2 * labels - 1)
    return float(np.mean(np.log1p(np.exp(-margin))))


def test_the_ends_may_be_the_largest_floats():
    x = [*np.linspace(-3e38, 3e38, 30), *np.linspace(-1e37, 1e37, 40)]
    x = [float(np.float32(v)) for v in x]
    assert len(Scale(array("f", x)).of_knots(x)) == len({*x})
