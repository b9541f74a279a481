"""`--label-transform log1p`: what is learned, and how predictions come back to the unit of the labels."""

import gzip
import json
import math
import re

import numpy as np
import pytest
from running import GD

from vwlite import SparseRegressor, evaluate, load_model
from vwlite.core.base.elementary import each
from vwlite.core.learn.tally import Tally
from vwlite.model import read_model
from vwlite.model.header import check_header

LOG1P = ("--label-transform", "log1p")
TAUS = ("--loss", "quantile", "--quantile-tau", "0.1,0.5,0.9")
WAYS = {"auto": ("--algorithm", "auto", "--derive", "none"), "gd": GD, "holdout": (*GD, "--passes", 4)}


def drawn(n, seed):
    """Columns, and labels exp(z) - 1, where z is a linear function of them with noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)).round(4)
    return x, np.maximum(np.expm1(2 + x @ [0.5, -0.3, 0.2] + 0.6 * rng.normal(size=n)), -0.99).round(6)


def logs(y):
    found = np.empty(len(y))
    each("log1p", np.ascontiguousarray(y, float), found)
    return found


def table(path, x, y):
    path.write_text("a,b,c,y\n" + "".join(f"{a!r},{b!r},{c!r},{v!r}\n" for (a, b, c), v in
                                           zip(x.tolist(), y.tolist(), strict=True)))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("log1p")
    for name, n, seed in (("train", 12000, 3), ("test", 12000, 4)):
        x, y = drawn(n, seed)
        table(found / f"{name}.csv", x, y)
        table(found / f"{name}.logs.csv", x, logs(y))
    return found


def numbers(path):
    return np.loadtxt(path, ndmin=2)


def test_the_correction_is_the_mean_of_exponentials_of_residuals():
    """By its definition: of all rows, or of those from the last power of two but one on."""
    rng = np.random.default_rng(3)
    for n in (1, 2, 3, 63, 64, 200):
        y, p, w = rng.normal(size=(2, n)), rng.normal(size=n), rng.choice([0.0, 0.5, 3], n)
        w[-1] = 1
        tally = Tally(of_log=True)
        for label, prediction, weight in zip(y[0], p, w, strict=True):
            tally.count(prediction, label, weight)
        ratio = np.exp(y[0] - p)
        for learning, first in ((False, 0), (True, 2 ** max(n.bit_length() - 2, 0) - 1)):
            offset, weight = tally.offset(learning)
            assert weight == pytest.approx(w[first:].sum())
            assert offset == pytest.approx(math.log((w * ratio)[first:].sum() / w[first:].sum()))
    assert Tally(of_log=True).offset(False) is None


@pytest.mark.parametrize("way", WAYS)
def test_predictions_are_means_and_weights_those_of_mapped_labels(vwlite, folder, tmp_path, way):
    model, raw, shown = (tmp_path / name for name in ("m", "raw", "shown"))
    told = vwlite("train", folder / "train.csv", "--label", "y", *LOG1P, *WAYS[way], "-m", model).err
    assert "squared loss of log(1 + label)" in told
    vwlite("predict", "-m", model, folder / "test.csv", "-p", shown, "-r", raw)
    found, y = read_model(str(model)), drawn(12000, 4)[1]
    offset, p, predicted = found.calibration["offset"], numbers(raw)[:, 0], numbers(shown)[:, 0]
    low, high = found.range
    np.testing.assert_allclose(predicted, np.exp(np.clip(p, low, high)) * math.exp(offset) - 1, rtol=1e-5, atol=2e-5)
    # Without the factor they are too small; with it, as large as labels, for which both samples are drawn.
    error = y.std() * math.sqrt(2 / len(y))
    assert abs(predicted.mean() - y.mean()) < 3 * error
    assert np.expm1(p).mean() < y.mean() - 10 * error
    assert offset == pytest.approx(0.6**2 / 2, abs=0.03)
    # The learner had logarithms, and nothing else is different.
    vwlite("train", folder / "train.logs.csv", "--label", "y", *WAYS[way], "--loss", "squared", "-m", tmp_path / "by")
    other = read_model(str(tmp_path / "by"))
    assert (found.keys, found.weights, found.state, found.range, found.counters, found.rule) == (
        other.keys, other.weights, other.state, other.range, other.counters, other.rule)
    vwlite("predict", "-m", tmp_path / "by", folder / "test.csv", "-r", tmp_path / "raw.by")
    assert raw.read_bytes() == (tmp_path / "raw.by").read_bytes()
    # Other ways in and out.
    lines = (folder / "test.csv").read_text().splitlines()
    x, _ = drawn(12000, 4)
    rows = [dict(zip("abc", row, strict=True)) for row in x[:50].tolist()]
    np.testing.assert_allclose(load_model(model).predict(rows), predicted[:50], rtol=1e-5, atol=1e-5)
    row = json.loads(vwlite("predict", "-m", model, folder / "test.csv", "--output-format", "json").out.split("\n")[0])
    assert row["label"] == pytest.approx(float(lines[1].split(",")[3]), abs=1e-6)
    assert row["prediction"] == pytest.approx(predicted[0], abs=1e-5)
    assert row["prediction"] == pytest.approx(math.expm1(row["score"]), abs=1e-4)
    with gzip.open(tmp_path / "train.csv.gz", "wt") as file:
        file.write((folder / "train.csv").read_text().replace("\n", "\r\n"))
    vwlite("train", tmp_path / "train.csv.gz", "--label", "y", *LOG1P, *WAYS[way], "-m", tmp_path / "gz", "--quiet")
    assert (tmp_path / "gz").read_bytes() == model.read_bytes()


def test_measures_are_in_both_units(vwlite, folder, tmp_path):
    y = drawn(12000, 4)[1]
    for name, options in {"squared": (), "huber": ("--loss", "huber"), "quantile": ("--loss", "quantile")}.items():
        model = tmp_path / name
        vwlite("train", folder / "train.csv", "--label", "y", *LOG1P, *WAYS["auto"], *options, "-m", model, "--quiet")
        vwlite("predict", "-m", model, folder / "test.csv", "-p", tmp_path / "p", "-r", tmp_path / "r")
        p, raw = numbers(tmp_path / "p")[:, 0], np.clip(numbers(tmp_path / "r")[:, 0], *read_model(str(model)).range)
        found = json.loads(vwlite("evaluate", "-m", model, folder / "test.csv", "--json").out)["measures"]
        expected = {
            "mse": ((y - p) ** 2, (y - y.mean()) ** 2), "mae": (abs(y - p), abs(y - y.mean())),
            "log1p_mse": ((logs(y) - raw) ** 2, (logs(y) - logs(y).mean()) ** 2),
        }
        if name == "quantile":
            half = np.median(y)
            expected |= {"quantile_loss": (abs(y - p) / 2, abs(y - half) / 2), "log1p_quantile_loss": (
                abs(logs(y) - raw) / 2, abs(logs(y) - math.log1p(half)) / 2)}
            assert found["share_below"]["value"] == pytest.approx((y <= p).mean(), abs=1e-3)
        for key, (losses, constant) in expected.items():
            assert found[key]["value"] == pytest.approx(losses.mean(), rel=1e-4), key
            assert found[key]["baseline"] == pytest.approx(constant.mean(), rel=1e-4), key
        assert ("huber_loss" in found, "log1p_huber_loss" in found) == (False, name == "huber")
        assert bool(read_model(str(model)).calibration) == (name == "squared")


@pytest.mark.parametrize("way", ["auto", "gd"])
def test_quantiles_are_mapped(vwlite, folder, tmp_path, way):
    model, y = tmp_path / "m", drawn(12000, 4)[1]
    vwlite("train", folder / "train.csv", "--label", "y", *LOG1P, *WAYS[way], *TAUS, "-m", model, "--quiet")
    vwlite("predict", "-m", model, folder / "test.csv", "-p", tmp_path / "p", "-r", tmp_path / "r")
    p, raw = numbers(tmp_path / "p"), np.clip(numbers(tmp_path / "r"), *read_model(str(model)).range)
    np.testing.assert_allclose(p, np.expm1(np.sort(raw)), rtol=1e-5, atol=2e-5)
    np.testing.assert_allclose((y[:, None] <= p).mean(axis=0), [0.1, 0.5, 0.9], atol=0.03)
    found = json.loads(vwlite("evaluate", "-m", model, folder / "test.csv", "--json").out)["measures"]
    each_loss = [np.maximum(tau * (y - q), (tau - 1) * (y - q)).mean()
                 for tau, q in zip((0.1, 0.5, 0.9), p.T, strict=True)]
    for name, loss in zip(("pinball_0.1", "pinball_0.5", "pinball_0.9"), each_loss, strict=True):
        assert found[name]["value"] == pytest.approx(loss, rel=1e-4)
    assert found["pinball"]["value"] == pytest.approx(np.mean(each_loss), rel=1e-4)
    assert found["log1p_pinball"]["value"] < found["log1p_pinball"]["baseline"] < 1
    assert found["width_0.1_0.9"]["value"] == pytest.approx((p[:, 2] - p[:, 0]).mean(), rel=1e-4)
    x, _ = drawn(12000, 4)
    rows = [dict(zip("abc", row, strict=True)) for row in x[:20].tolist()]
    np.testing.assert_allclose(load_model(model).predict(rows), p[:20], rtol=1e-5, atol=1e-5)


def test_estimators_are_as_the_command(folder, tmp_path):
    x, y = drawn(2000, 5)
    lines = "".join(f"{v!r} 0:{a!r} 1:{b!r} 2:{c!r}\n" for (a, b, c), v in zip(x.tolist(), y.tolist(), strict=True))
    (tmp_path / "d").write_text(lines)
    made = SparseRegressor(label_transform="log1p").fit(x, y)
    made.save(tmp_path / "m")
    np.testing.assert_allclose(load_model(tmp_path / "m").predict(x), made.predict(x))
    found = evaluate(made, x, y)["measures"]
    assert found["mse"]["value"] == pytest.approx(((made.predict(x) - y) ** 2).mean(), rel=1e-6)
    by_hand = SparseRegressor().fit(x, logs(y))
    assert made.coef_.tolist() == by_hand.coef_.tolist()
    before = dict(made._learned.model().calibration)
    more, z = drawn(500, 6)
    made.partial_fit(more, z)
    after = made._learned.model().calibration
    assert after["weight"] == before["weight"] + 500 and after["offset"] != before["offset"]
    with pytest.raises(ValueError, match="label -1 at row 1, but label_transform log1p needs labels above -1"):
        SparseRegressor(label_transform="log1p").fit([[1.0], [2.0]], [1, -1])
    with pytest.raises(ValueError, match="log1p"):
        SparseRegressor(label_transform="log1p", algorithm="auto").partial_fit(x, y)


def test_a_model_that_is_continued_keeps_it_and_adds_its_rows(vwlite, folder, tmp_path):
    """By the definition of weighted means."""
    part = tmp_path / "part.csv"
    part.write_text("".join((folder / "test.csv").read_text().splitlines(keepends=True)[:1001]))
    vwlite("train", folder / "train.csv", "--label", "y", *LOG1P, *GD, "-m", tmp_path / "a")
    vwlite("train", part, "-i", tmp_path / "a", "-m", tmp_path / "b", "-r", tmp_path / "r")
    a, b = (read_model(str(tmp_path / name)) for name in "ab")
    low, high = b.range
    residual = logs(drawn(12000, 4)[1][:1000]) - np.clip(numbers(tmp_path / "r")[:, 0], low, high)
    n, s = a.calibration["weight"], math.exp(a.calibration["offset"])
    expected = (n * s + np.exp(residual).sum()) / (n + 1000)
    assert b.settings.label_transform == "log1p" and b.calibration["weight"] == n + 1000
    assert math.exp(b.calibration["offset"]) == pytest.approx(expected, rel=1e-4)
    vwlite("train", part, "-i", tmp_path / "a", "-m", tmp_path / "c", "--label-transform", "none", code=2)


@pytest.mark.parametrize("rows", ["3\n", "3 | a\n0 | b\n", "-0.5 | a\n" * 5, "7 | a\n| b\n\n"])
@pytest.mark.parametrize("way", WAYS)
def test_few_rows_have_predictions_near_their_labels(vwlite, tmp_path, rows, way):
    (tmp_path / "d").write_text(rows.replace("3\n", "3 | a\n", 1) if rows == "3\n" else rows)
    how = [x for x in WAYS[way] if x not in ("--derive", "none")]
    if vwlite("train", tmp_path / "d", *LOG1P, *how, "-m", tmp_path / "m", "--quiet", code=None).code == 0:
        found = [float(x) for x in vwlite("predict", "-m", tmp_path / "m", tmp_path / "d").out.split()]
        assert all(-1 < x < 10 for x in found)


def test_labels_of_minus_one_or_less_are_bad(vwlite, tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n1,2\n2,-1\n")
    (tmp_path / "d.vw").write_text("1 | a\n-1.5 | b\n")
    command = ("train", *LOG1P, *GD, "-m", tmp_path / "m", "--quiet")
    assert re.search(r"d\.csv:3:3: .*label -1: --label-transform log1p needs a label above -1",
                     vwlite(*command, tmp_path / "d.csv", "--label", "y", code=65).err)
    assert "d.vw:2:1: label -1.5: --label-transform log1p needs a label above -1" in vwlite(
        *command, tmp_path / "d.vw", code=65).err
    vwlite(*command, tmp_path / "d.vw", "--on-error", "skip", "--cache-file", tmp_path / "c")
    first = (tmp_path / "m").read_bytes()
    vwlite(*command, tmp_path / "d.vw", "--on-error", "skip", "--cache-file", tmp_path / "c")
    assert first == (tmp_path / "m").read_bytes()
    (tmp_path / "e.vw").write_text("1 | a\n-1.5 | b\n4 | a\n")
    told = vwlite("evaluate", "-m", tmp_path / "m", tmp_path / "e.vw").err
    assert "it expects labels above -1" in told
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"x": [1.0, 2.0], "y": [2.0, -3.0]}), tmp_path / "d.parquet")
    assert "label -3: --label-transform log1p" in vwlite(*command, tmp_path / "d.parquet", "--label", "y", code=65).err


@pytest.mark.parametrize(("options", "said"), [
    (["--loss", "gamma"], "predicts the logarithm of the mean already: use --loss gamma alone"),
    (["--loss", "poisson"], "predicts the logarithm of the mean already: use --loss poisson alone"),
    (["--loss", "logistic"], "predicts one of two labels: use --loss squared"),
    (["--oaa", "3"], "--oaa says that they are classes"), (["--labels", "0,1"], "--labels says that they are classes"),
    (["--sparse"], "--sparse and --label-transform cannot be used together"),
])  # fmt: skip
def test_what_it_is_not_for(vwlite, folder, tmp_path, options, said):
    how = ("--label", "y", "-m", tmp_path / "m")
    assert said in vwlite("train", folder / "train.csv", *LOG1P, *options, *how, code=2).err


def test_commands_without_it_say_so(vwlite, folder, tmp_path):
    for name in "ab":
        vwlite("train", folder / "test.csv", "--label", "y", *LOG1P, *GD, "-m", tmp_path / name, "--quiet")
    a, data = tmp_path / "a", folder / "test.csv"
    for command in (("merge", a, tmp_path / "b", "-o", tmp_path / "o"), ("solve", data, "-i", a, "--l2", 1e-3),
                    ("certify", data, "-i", a, "--l1", 1e-3), ("export", a, "--to", "vw", "-o", tmp_path / "o")):
        told = vwlite(*command, code=None)
        assert told.code != 0 and "does not know --label-transform log1p" in told.err, told
    few, page = tmp_path / "few.csv", tmp_path / "page.html"
    few.write_text("".join(data.read_text().splitlines(keepends=True)[:300]))
    for command in (("explain", "-m", a, few), ("worst", "-m", a, few)):
        assert "of log(1 + label)" in vwlite(*command).err
    vwlite("report", "-m", a, few, "-o", page)
    assert "log of 1 + y" in page.read_text()
    header = read_model(str(a)).header()
    check_header(header)
    for wrong in ({"offset": 701.0}, {"weight": 0.0}, {"offset": None}, {"more": 1}):
        with pytest.raises(ValueError, match="means of its predictions"):
            check_header(header | {"calibration": header["calibration"] | wrong})
