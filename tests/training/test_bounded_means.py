"""Means that `--algorithm auto` predicts by their logarithms are in the range of the labels, wherever a model is."""

import math

import numpy as np
import pytest

from vwlite import SparseRegressor, load_model
from vwlite.export.linear import linear
from vwlite.model import read_model

LOSSES = {
    "poisson": ("--loss", "poisson"), "gamma": ("--loss", "gamma"), "tweedie": ("--loss", "tweedie"),
    "log1p": ("--label-transform", "log1p"),
}


def drawn(n, seed):
    """Labels with a lognormal column of which a mean is no exponential."""
    rng = np.random.default_rng(seed)
    size, x = np.exp(1.5 * rng.normal(size=n)), rng.normal(size=n)
    return np.column_stack([size, x]).round(4), 1.0 + rng.poisson(size * np.exp(0.3 * x))


def table(path, X, y):
    path.write_text("size,x,y\n" + "".join(f"{a:.6g},{b:.6g},{c:.6g}\n" for (a, b), c in zip(X, y, strict=True)))
    return path


@pytest.mark.parametrize("name", LOSSES)
def test_no_row_has_a_mean_beyond_the_labels(vwlite, tmp_path, name):
    X, y = drawn(300, 1)
    train, model = table(tmp_path / "train.csv", X, y), tmp_path / "m"
    far = np.array([[1e4, 0.0], [1e6, 3.0], [0.0, -40.0], [3e4, -9.0]])
    new = table(tmp_path / "new.csv", far, np.ones(4))
    vwlite("train", train, "--label", "y", "--derive", "none", *LOSSES[name], "-m", model)
    found = read_model(str(model))
    smearing = math.exp(found.calibration.get("offset", 0.0))
    most = (1 + y.max()) * smearing - 1 if name == "log1p" else y.max()
    predicted = np.array(vwlite("predict", "-m", model, new).out.split(), float)
    assert predicted.max() == pytest.approx(most, rel=1e-5)  # one of them is at the bound
    if name == "gamma":
        assert predicted.min() >= y.min() * (1 - 1e-6)
    rows = [{"size": a, "x": b} for a, b in far.tolist()]
    np.testing.assert_allclose(load_model(model).predict(rows), predicted, rtol=1e-4)
    assert linear(str(model), found).high == found.range[1]
    vwlite("export", model, "--to", "python", "-o", tmp_path / "scoring.py")
    exec((tmp_path / "scoring.py").read_text(), space := {})
    exported = [space["predict"]({"size": str(a), "x": str(b)}) for a, b in far.tolist()]
    np.testing.assert_allclose(exported, predicted, rtol=1e-4)
    raw = vwlite("predict", "-m", model, new, "-r", "-", "-p", tmp_path / "p").out.split()
    assert max(map(float, raw)) > found.range[1]  # raw scores are as they are


@pytest.mark.parametrize("name", ["poisson", "gamma"])
def test_a_larger_label_that_is_learned_later_widens_the_range(vwlite, tmp_path, name):
    X, y = drawn(300, 1)
    train = table(tmp_path / "train.csv", X, y)
    how = ("--derive", "none", *LOSSES[name])
    vwlite("train", train, "--label", "y", *how, "-m", tmp_path / "m")
    more = table(tmp_path / "more.csv", X[:5], np.full(5, 1e5))
    vwlite("train", more, "-i", tmp_path / "m", "-m", tmp_path / "n")
    before, after = (read_model(str(tmp_path / name)).range for name in "mn")
    assert before[1] == pytest.approx(math.log(y.max())) and after == pytest.approx((before[0], math.log(1e5)))


def test_exposures_are_not_bounded(vwlite, tmp_path):
    """A later row may have a larger exposure than all labels."""
    rng = np.random.default_rng(2)
    exposure, x = rng.choice([0.5, 1, 2], 300), rng.normal(size=300).round(3)
    y = rng.poisson(exposure * np.exp(0.5 * x))
    rows = zip(y, np.log(exposure), x, strict=True)
    (tmp_path / "d.vw").write_text("".join(f"{a} 1 {b:.17g} | x:{c}\n" for a, b, c in rows))
    vwlite("train", tmp_path / "d.vw", "--loss", "poisson", "-m", tmp_path / "m")
    (tmp_path / "new.vw").write_text(f"0 1 {math.log(1000)} | x:0\n")
    assert float(vwlite("predict", "-m", tmp_path / "m", tmp_path / "new.vw").out) == pytest.approx(1000, rel=0.3)


def test_labels_that_are_all_0_are_no_bound(vwlite, tmp_path):
    (tmp_path / "d.vw").write_text("0 | a\n0 | b\n" * 10)
    vwlite("train", tmp_path / "d.vw", "--loss", "poisson", "-m", tmp_path / "m")
    assert float(vwlite("predict", "-m", tmp_path / "m", tmp_path / "d.vw").out.split()[0]) < 0.1


def test_the_estimator_has_the_same_bounds():
    X, y = drawn(300, 1)
    made = SparseRegressor(loss="poisson", algorithm="auto").fit(X, y)
    assert made.predict([[1e6, 3.0]])[0] == pytest.approx(y.max(), rel=1e-6)
