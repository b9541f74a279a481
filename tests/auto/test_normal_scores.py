"""Normal scores of columns with heavy tails: by definition, in learning, and folded into the hats of a model."""

import json
import math
from array import array
from dataclasses import replace

import numpy as np
import pytest
from derived_features import has_heavy_tails as expected_tails
from derived_features import share_below
from hypothesis import given
from hypothesis import strategies as st
from tables import loss, table, written

from vwlite.algorithms.settings import Settings
from vwlite.derived import CURVE, Derived, NumberColumn
from vwlite.hashing import feature_hash
from vwlite.model import read_model
from vwlite.training.auto.normal_scores import (
    has_heavy_tails,
    key_of,
    scores_of_knots,
    with_normal_scores,
    with_scores_in_hats,
    without_normal_scores,
    without_shared_keys,
)
from vwlite.training.auto.selection import COLUMNS, STATE, GridCandidate, PassState

KNOTS = (-2.0, 0.0, 1.0, 100.0)
COLUMN = NumberColumn("x", 0.0, 1.0, True, {CURVE: KNOTS})
SCORES = {-2.0: -1.5, 0.0: -0.25, 1.0: 0.5, 100.0: 2.0}
SCORED = with_normal_scores(COLUMN, SCORES)
values = st.lists(st.one_of(st.sampled_from([0.0, 1.0, math.nan]), st.floats(-1e6, 1e6, width=32)), min_size=1)


@given(values.filter(lambda x: not all(map(math.isnan, x))))
def test_heavy_tails(x):
    assert has_heavy_tails(array("f", x)) == expected_tails(x)


def test_no_numbers_have_no_tails():
    assert not has_heavy_tails(array("f", [math.nan] * 3))


@given(values.filter(lambda x: not all(map(math.isnan, x))))
def test_the_score_of_a_knot_is_the_quantile_of_its_rank(x):
    at = {float(v) for v in x if not math.isnan(v)}
    for knot, score in scores_of_knots(array("f", x), at).items():
        assert (1 + math.erf(score / math.sqrt(2))) / 2 == pytest.approx(share_below(x, knot), abs=1e-6)


@pytest.mark.parametrize("hats", [True, False])
def test_the_score_of_a_number_is_linear_between_knots(hats):
    numbers = [-5.0, -2.0, -1.0, 0.25, 1.0, 30.0, 1e6]
    derived = Derived((replace(SCORED, hats=hats),))
    found = derived.derivation(False).derived(table(["x"], ["numeric"], [[f"{x:g}"] for x in numbers]))
    expected = np.interp(numbers, KNOTS, [*SCORES.values()])
    key = feature_hash(b"x~normal", b"x")
    of_hats = {feature_hash(name.encode(), b"x") for name in COLUMN.names(CURVE)}
    for (hashes, weights, _), score in zip(found, expected, strict=True):
        assert dict(zip(hashes, weights, strict=True))[key] == pytest.approx(score, rel=1e-6)
        assert bool(of_hats & {*hashes}) == hats


def test_as_many_scores_as_knots():
    with pytest.raises(ValueError, match="as many normal scores as knots"):
        Derived((replace(SCORED, normal_scores=(1.0,)),)).derivation(False)


@pytest.mark.parametrize("hats", [True, False])
@pytest.mark.parametrize("classes", [1, 3])
def test_scores_in_hats_predict_the_same(hats, classes):
    """The weight of a normal score times this score, in each column of each class, and of each fold."""
    rng = np.random.default_rng(0)
    settings = Settings(derived=Derived((replace(SCORED, hats=hats),)))
    mask = (1 << settings.bits) - 1
    own = [feature_hash(name.encode(), b"x") & mask for name in COLUMN.names(CURVE)[:-1]]
    keys = [key_of(SCORED, False) & mask, *(own if hats else []), 7]
    numbers = rng.normal(size=(classes, len(keys), STATE)).astype("f")
    folds = rng.normal(size=(len(keys), 4))
    before = PassState(array("I", keys), array("f", numbers.tobytes()), [], array("d", folds.tobytes()))
    after = with_scores_in_hats(GridCandidate("none", list, kept=before), settings).kept
    assert {*after.keys} == {*own, 7}
    place = {key: i for i, key in enumerate(after.keys)}
    found = np.array(after.columns).reshape(classes, -1, STATE)[:, :, :COLUMNS]
    of_folds = np.array(after.by_fold).reshape(-1, 4)
    for i, (key, score) in enumerate(zip(own, SCORED.normal_scores, strict=True), 1):
        learned = (numbers[:, i, :COLUMNS], folds[i]) if hats else (0, 0)
        assert found[:, place[key]] == pytest.approx(learned[0] + score * numbers[:, 0, :COLUMNS], rel=1e-5, abs=1e-6)
        assert of_folds[place[key]] == pytest.approx(learned[1] + score * folds[0])
    assert np.array_equal(found[:, place[7]], numbers[:, -1, :COLUMNS])
    assert without_normal_scores(settings).derived == Derived((COLUMN,))


@pytest.mark.parametrize("of", ["plain", "hat", "product"])
def test_a_key_that_another_feature_has_is_no_normal_score(of):
    settings = Settings(bits=8)
    other = NumberColumn("z", 0.0, 1.0, True, {CURVE: KNOTS, 4: KNOTS})
    derived = Derived((replace(SCORED, knots={CURVE: KNOTS, 4: KNOTS}), other))
    key = key_of(SCORED, False) & 255
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
    assert all(not c.normal_scores for c in found.columns)


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
    """The model has no feature of a normal score, and its loss of fresh rows is the reported one, but for chance."""
    names = ["a", "b", "c", "y"]
    learned, _ = rows(600, 1)
    fresh, bayes = rows(3000, 5)
    train, test = (written(tmp_path / name, names, x) for name, x in (("train.csv", learned), ("test.csv", fresh)))
    found = vwlite("train", train, "--label", "y", *options, "-m", tmp_path / "m")
    assert "curves of 3 numbers" in found.err
    stored = read_model(str(tmp_path / "m")).settings.derived.stored()
    assert all({*c} == {"name", "mean", "deviation", "missing", "knots"} for c in stored["columns"])
    assert "~normal" not in vwlite("weights", tmp_path / "m").out
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
    keys = {feature_hash(f"{name}~normal".encode(), name.encode()) for name in "abc"}
    assert not keys & {*read_model(str(tmp_path / "m")).keys}
