"""The losses of amounts, `gamma` and `tweedie`: their deviances, links, exposures and labels."""

import json

import numpy as np
import pytest
from sklearn.metrics import d2_tweedie_score, mean_tweedie_deviance

from vwlite import SparseRegressor, load_model
from vwlite.model import read_model

LOSSES = {"gamma": ((), 2.0), "tweedie": ((), 1.5), "tweedie 1.2": (("--tweedie-power", 1.2), 1.2)}


def amounts(power, n=3000, seed=1, *, exposure=None):
    """A table of columns x, z and a label whose variance grows with this power of the mean."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n)).round(3)
    mean = np.exp(1 + 0.8 * x - 0.5 * z) * (1 if exposure is None else exposure)
    if power == 2:
        return x, z, rng.gamma(2, mean / 2)
    a, number = (2 - power) / (power - 1), rng.poisson(mean ** (2 - power) / (2 - power))
    return x, z, rng.gamma(np.maximum(number * a, 1e-9), (power - 1) * mean ** (power - 1)) * (number > 0)


def table(path, columns, heads=None):
    rows = (",".join(f"{v:.6g}" for v in row) for row in zip(*columns, strict=True))
    path.write_text("\n".join(["x,z,y", *rows]) + "\n")
    return path


def drawn(path, power, seed=1):
    return table(path, amounts(power, seed=seed))


@pytest.mark.parametrize("algorithm", ["auto", "gd"])
@pytest.mark.parametrize("name", LOSSES)
def test_the_deviance_is_that_of_scikit_learn_and_near_the_true_one(vwlite, tmp_path, name, algorithm):
    options, power = LOSSES[name]
    train, test = drawn(tmp_path / "train.csv", power), drawn(tmp_path / "test.csv", power, 2)
    how = ("--label", "y", "--algorithm", algorithm, "--loss", name.split()[0], *options)
    vwlite("train", train, *how, "-m", tmp_path / "m", "--passes", 4)
    assert read_model(str(tmp_path / "m")).settings.link == "log"
    found = vwlite("predict", "-m", tmp_path / "m", test).out.split()
    predicted, y = np.array(found, float), np.loadtxt(test, delimiter=",", skiprows=1)[:, 2]
    measures = json.loads(vwlite("evaluate", "-m", tmp_path / "m", test, "--json").out)["measures"]
    one = measures["gamma_deviance" if power == 2 else "tweedie_deviance"]
    assert one["value"] == pytest.approx(mean_tweedie_deviance(y, predicted, power=power), rel=1e-4)
    assert 1 - one["value"] / one["baseline"] == pytest.approx(d2_tweedie_score(y, predicted, power=power), rel=1e-3)
    x, z, _ = amounts(power, seed=2)
    assert one["value"] < 1.03 * mean_tweedie_deviance(y, np.exp(1 + 0.8 * x - 0.5 * z), power=power)
    assert measures["mse"]["value"] == pytest.approx(((y - predicted) ** 2).mean(), rel=1e-4)


@pytest.mark.parametrize("name", LOSSES)
def test_initial_predictions_are_logarithms_of_exposures(vwlite, tmp_path, name):
    """`auto` begins from the constant with the least loss, by definition, and learns the rest as without exposures."""
    options, power = LOSSES[name]
    exposure = np.random.default_rng(5).choice([0.1, 1.0, 8.0], 3000)
    x, z, y = amounts(power, exposure=exposure)
    rows = zip(y, np.log(exposure), x, z, strict=True)
    (tmp_path / "d.vw").write_text("".join(f"{y:.17g} 1 {e:.17g} | x:{x} z:{z}\n" for y, e, x, z in rows))
    how = ("--algorithm", "auto", "--loss", name.split()[0], *options, "-m", tmp_path / "m", "--report", tmp_path / "r")
    vwlite("train", tmp_path / "d.vw", *how)
    best = (y * exposure ** (1 - power)).sum() / (exposure ** (2 - power)).sum()
    least = [mean_tweedie_deviance(y, best * factor * exposure, power=power) / 2 for factor in (0.98, 1, 1.02)]
    assert min(least) == least[1]
    chosen = json.loads((tmp_path / "r").read_text())["chosen"]
    assert chosen["baseline"] == pytest.approx(least[1], rel=1e-6)
    predicted = list(load_model(tmp_path / "m").predict_lines(["| x:0 z:0", "| x:1 z:0", "| x:0 z:1"]))
    np.testing.assert_allclose(np.log(predicted), [1, 1.8, 0.5], atol=0.15)


@pytest.mark.parametrize("loss", ["gamma", "tweedie"])
def test_amounts_in_another_unit_have_the_same_model(vwlite, tmp_path, loss):
    """A label times 1000: scores are larger by its logarithm."""
    x, z, y = amounts(2.0 if loss == "gamma" else 1.5)
    for name, unit in (("one", 1), ("thousand", 1000)):
        data = table(tmp_path / f"{name}.csv", (x, z, np.array([float(f"{v:.6g}") for v in y]) * unit))
        vwlite("train", data, "--label", "y", "--algorithm", "auto", "--loss", loss, "-m", tmp_path / name)
    one, thousand = (load_model(tmp_path / name) for name in ("one", "thousand"))
    lines = np.array([[0, 0], [1, 0], [0, 1], [-2, 3]])
    assert thousand.predict(lines) == pytest.approx(1000 * one.predict(lines), rel=1e-3)


def test_labels_that_amounts_cannot_be(vwlite, tmp_path):
    (tmp_path / "d").write_text("1 | a\n0 | b\n")
    (tmp_path / "e").write_text("1 | a\n-2 | b\n")
    command = ("train", "--algorithm", "gd", "-m", tmp_path / "m", "--quiet")
    assert ":2:1: label 0: gamma needs a label above 0; with labels of 0 use --loss tweedie" in vwlite(
        *command, tmp_path / "d", "--loss", "gamma", code=65).err
    vwlite(*command, tmp_path / "d", "--loss", "tweedie")
    assert ":2:1: label -2: tweedie needs a label of 0 or more" in vwlite(
        *command, tmp_path / "e", "--loss", "tweedie", code=65).err
    with pytest.raises(ValueError, match="label 0 at row 1, but loss gamma needs labels above 0"):
        SparseRegressor(loss="gamma").fit([[1.0], [2.0]], [1, 0])
    said = vwlite(*command, tmp_path / "d", "--loss", "gamma", "--tweedie-power", 1.2, code=2).err
    assert "--tweedie-power has no effect with --loss gamma" in said


def test_estimators_predict_means():
    x, z, y = amounts(1.5)
    made = SparseRegressor(loss="tweedie", tweedie_power=1.4).fit(np.column_stack([x, z]), y)
    assert made.predict([[0.0, 0.0]])[0] == pytest.approx(np.e, rel=0.2)
