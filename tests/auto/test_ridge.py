"""Ridge regression beside lanes: the conditions of its minimum, and where the default takes it."""

import json
from array import array

import numpy as np
import pytest
from batches import batch_of
from streams import random_stream
from tables import written
from test_lanes import COLUMNS, CONSTANT, STATE, loss_of, merged, usable

from vwlite.core.data.expand import Expander
from vwlite.core.data.normalize import Normalizer
from vwlite.training.auto.ridge import Ridge
from vwlite.training.auto.selection import STRENGTHS as OF_LOSSES

STRENGTHS = OF_LOSSES["squared"]


def learned(loss, folds, lines, keys, is_shared):
    """A random stream, the fold of each line, the matrix of its features, and what was learned. is_shared: a feature
    has the key of the intercept."""
    stream = usable(random_stream(5, lines, loss=loss, keys=keys))
    fold = np.random.default_rng(1).integers(0, folds, len(stream)).astype(np.uint8)
    constant = stream[0].features[0][0] if is_shared else CONSTANT
    expander = Expander(normalizer=Normalizer("none"), constant=False)
    ridge = Ridge(loss_of(loss), expander, constant, STRENGTHS, folds)
    batch = batch_of(stream)
    ridge.learn(batch, fold)
    scores = np.zeros(COLUMNS * len(stream), np.float32)
    ridge.score(batch, fold, scores)
    found, columns = np.zeros(len(ridge), np.uint32), np.zeros(STATE * len(ridge), np.float32)
    ridge.weights(found, columns)
    place = {key: i for i, key in enumerate(found.tolist())}
    x = np.zeros((len(stream), len(ridge)))
    for row, line in enumerate(stream):
        for key, value in merged(line).items():
            x[row, place[constant if key == CONSTANT else key]] += value
    weights = np.zeros((COLUMNS, folds, len(ridge)))
    for c in range(COLUMNS):
        of_folds = array("d", bytes(8 * len(ridge) * folds))
        ridge.fold_weights([float(k == c) for k in range(COLUMNS)], of_folds)
        weights[c] = np.array(of_folds).reshape(-1, folds).T
    return stream, fold, x, weights, scores.reshape(-1, COLUMNS), columns.reshape(-1, STATE), place[constant]


@pytest.mark.parametrize(("lines", "keys", "is_shared"), [(150, 30, False), (60, 300, False), (60, 300, True)])
@pytest.mark.parametrize("folds", [1, 4])
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_weights_minimize_the_penalized_loss(loss, folds, lines, keys, is_shared):
    """Its gradient is 0, but for rounding: that of the losses, over the lines of other folds, and of the penalty."""
    stream, fold, x, weights, scores, columns, intercept = learned(loss, folds, lines, keys, is_shared)
    y, h, initial = (np.array([getattr(line, name) for line in stream])
                     for name in ("label", "importance", "initial"))
    often = 2 * np.count_nonzero(x, axis=0) >= len(x)
    unit = np.where(often, np.sqrt(np.mean(x**2, axis=0)), np.abs(x).max(axis=0))
    penalized = np.arange(x.shape[1]) != intercept
    derivative = loss_of(loss).derivative
    for c, strength in enumerate(STRENGTHS):
        for f in range(folds):
            mine = fold != f if folds > 1 else np.ones(len(x), bool)
            w = weights[c, f]
            slopes = h * [derivative(p, label) for p, label in zip(x @ w + initial, y, strict=True)]
            of_loss = (slopes[mine] @ x[mine]) / unit
            of_penalty = strength * penalized.sum() * unit * w * penalized
            size = np.abs(slopes[mine]) @ np.abs(x[mine]) / unit
            assert np.abs(of_loss + of_penalty).max() < 2e-4 * size.max()
            assert scores[fold == f, c] == pytest.approx((x @ w)[fold == f], rel=1e-4, abs=1e-4)
    assert columns[:, :COLUMNS] == pytest.approx(weights.mean(axis=1).T, rel=1e-5, abs=1e-7)
    assert columns[:, COLUMNS] == pytest.approx(np.abs(x).max(axis=0))


def test_what_is_refused():
    with pytest.raises(ValueError, match="8 strengths"):
        Ridge(loss_of("squared"), Expander(constant=False), None, STRENGTHS[:3], 4)


def differences(path, n, noise, seed):
    """A label that depends on the difference of two columns that are nearly equal."""
    rng = np.random.default_rng(seed)
    a, d = rng.normal(size=(2, n))
    b, y = a + 0.03 * d, 5 + d + noise * rng.normal(size=n)
    cells = ([f"{v:.6f}" for v in row] for row in zip(a, b, y, strict=True))
    return written(path, ["a", "b", "y"], cells)


@pytest.mark.parametrize("options", [(), ("--hash", "all")])
def test_the_difference_of_two_columns_is_learned(vwlite, tmp_path, options):
    """Ridge regression is taken, and the model predicts, and is continued, like another one."""
    data, later = differences(tmp_path / "a.csv", 200, 0.3, 1), differences(tmp_path / "b.csv", 500, 0.3, 2)
    found = vwlite("train", data, "--label", "y", *options, "-m", tmp_path / "m")
    error = np.array([float(p) for p in vwlite("predict", "-m", tmp_path / "m", later).out.split()])
    error -= [float(line.split(",")[2]) for line in later.read_text().splitlines()[1:]]
    assert "ridge regression, 1 of 3 passes" in found.err
    assert np.mean(error**2) < 0.12  # .09 is that of the noise
    vwlite("train", later, "-i", tmp_path / "m", "-m", tmp_path / "more")
    measures = json.loads(vwlite("evaluate", "-m", tmp_path / "more", later, "--json").out)["measures"]
    assert measures["mse"]["value"] < 0.2
    assert "ridge" not in vwlite("train", data, "--label", "y", "--normalize", "none").err


@pytest.mark.parametrize("size", [1e-42, 1e-25, 1e15])
def test_columns_of_tiny_and_huge_numbers(vwlite, tmp_path, size):
    """Beside two columns that are nearly equal: the model is valid, and can be read and continued."""
    lines = differences(tmp_path / "a.csv", 200, 0.3, 1).read_text().splitlines()
    sizes = np.random.default_rng(4).uniform(-1, 1, 200) * size
    rows = [[f"{x:g}", *line.split(",")] for x, line in zip(sizes, lines[1:], strict=True)]
    data = written(tmp_path / "b.csv", ["size", "a", "b", "y"], rows)
    assert "ridge regression" in vwlite("train", data, "--label", "y", "-m", tmp_path / "m").err
    assert "nan" not in vwlite("predict", "-m", tmp_path / "m", data).out
    vwlite("train", data, "-i", tmp_path / "m", "-m", tmp_path / "more")


def test_columns_without_difficulty_are_learned_by_steps(vwlite, tmp_path):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 3))
    y = rng.random(300) < 1 / (1 + np.exp(-x[:, 0] + x[:, 1]))
    rows = ([*(f"{v:.4f}" for v in row), int(label)] for row, label in zip(x, y, strict=True))
    data = written(tmp_path / "a.csv", ["a", "b", "c", "y"], rows)
    found = vwlite("train", data, "--label", "y", "-m", tmp_path / "m", "--report", tmp_path / "report.json")
    assert "ridge regression" not in found.err
    assert '"ridge(0.1)"' in (tmp_path / "report.json").read_text()
