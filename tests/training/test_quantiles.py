"""Several quantiles in one model: `--quantile-tau 0.1,0.5,0.9`."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from batches import Line, batch_of
from hypothesis import given, settings
from hypothesis import strategies as st
from running import GD, standard_input
from streams import random_stream

from vwlite import SparseRegressor, load_model
from vwlite.algorithms.settings import Settings
from vwlite.core.auto.lanes import Lanes
from vwlite.core.data.expand import Expander
from vwlite.core.data.normalize import Normalizer
from vwlite.core.learn.losses import Quantile
from vwlite.estimators.learned import from_bytes
from vwlite.model.file import to_bytes
from vwlite.model.header import check_header, check_settings
from vwlite.model.learners import make_learner
from vwlite.model.read import read_model
from vwlite.output.text import shown
from vwlite.training.auto.selection import COLUMNS, RATES

TAUS = (0.1, 0.5, 0.9)
NAMES = [f"{tau:g}" for tau in TAUS]
SEVERAL = ("--loss", "quantile", "--quantile-tau", ",".join(NAMES))


def table_of(n: int, seed: int = 0):
    """x, category and label of rows whose spread grows with x: the quantile tau is 10 + 3 x + z(tau) (0.2 + x)."""
    rng = np.random.default_rng(seed)
    x, word = np.round(rng.uniform(0, 2, n), 4), rng.choice([*"abc"], n)
    return x, word, np.round(10 + 3 * x + (0.2 + x) * rng.normal(0, 1, n), 4)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Files with the same rows: VW text with tags, importances and lines that are not learned; a table; later rows."""
    folder = tmp_path_factory.mktemp("quantiles")
    x, word, y = table_of(3000)
    weight = np.random.default_rng(1).choice([0.5, 1, 2], len(x))
    lines = [f"{c} {w} t{i}|n x:{a} {b}\n" for i, (a, b, c, w) in enumerate(zip(x, word, y, weight, strict=True))]
    lines[7:7] = ["|n x:1 a\n", "\n", "5 0 |n x:1\n"]
    (folder / "train.vw").write_text("".join(lines))
    for name, rows in (("train.csv", zip(x, word, y, strict=True)), ("test.csv", zip(*table_of(4000, 5), strict=True))):
        (folder / name).write_text("x,word,price\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    return folder


@pytest.mark.parametrize("value, sign", [(0, 1), (10.1, 1), (100, -1)])
def test_a_quantile_is_exactly_the_value_that_many_labels_have(vwlite, folder, value, sign):
    """So that an interval which ends at this value has it in it."""
    rng = np.random.default_rng(5)
    x, spread = rng.normal(size=600), np.exp(2 + rng.normal(size=600))
    y = np.round(np.where(rng.random(600) < 0.7, value, value + sign * spread * np.exp(0.5 * x)), 4)
    Path("t.csv").write_text("y,x\n" + "".join(f"{a:.9g},{b:.4f}\n" for a, b in zip(y, x, strict=True)))
    vwlite("train", "t.csv", "--label", "y", "--loss", "quantile", "--quantile-tau", "0.1,0.5,0.9", "-m", "m")
    found = json.loads(vwlite("evaluate", "-m", "m", "t.csv", "--json").out)
    assert found["measures"]["coverage_0.1_0.9"]["value"] > 0.85


def numbers_of(path) -> np.ndarray:
    """[lines, quantiles] of a file of predictions, without its blank lines."""
    rows = [[*map(float, line.split()[:3])] for line in path.read_text().splitlines() if line]
    return np.array(rows)


def pinball(y, p, tau):
    return np.maximum(tau * (y - p), (tau - 1) * (y - p))


# --- what is learned -------------------------------------------------------------------------


@pytest.mark.parametrize("options", [
    "--algorithm gd", "--algorithm gd --passes 3 --holdout-off -c", "--algorithm gd -q nn",
    "--algorithm gd --normalize l2 -b 4", "--algorithm gd --no-constant", "--algorithm adagrad --l1 1e-3",
    "--algorithm sgd", "--algorithm ftrl", "--algorithm truncated-gradient --l1 1e-4 --period 3",
])  # fmt: skip
def test_the_scores_are_those_of_a_model_for_each_quantile(vwlite, data, tmp_path, options):
    each = []
    for taus in (",".join(NAMES), *NAMES):
        where = ["-m", tmp_path / f"{taus}.model", "-r", tmp_path / f"{taus}.raw", "-p", tmp_path / f"{taus}.p"]
        cache = ["--cache-file", tmp_path / "cache"] if "-c" in options else []
        words = [word for word in options.split() if word != "-c"]
        vwlite("train", data / "train.vw", *words, *cache, "--loss", "quantile", "--quantile-tau", taus, *where)
        vwlite("predict", "-m", tmp_path / f"{taus}.model", data / "train.vw", "-r", tmp_path / f"{taus}.later", "-p",
               tmp_path / f"{taus}.shown")
        each.append([(tmp_path / f"{taus}.{kind}").read_text().splitlines() for kind in ("raw", "later", "p", "shown")])
    assert all(len(several) > 3000 for several in each[0])
    for kind in (0, 1):
        for line, *ones in zip(*(files[kind] for files in each), strict=True):
            tag = ones[0].split()[1:]
            assert line.split() == [one.split()[0] for one in ones if one] + tag
    for kind in (2, 3):  # clipped, and in ascending order
        for line, *ones in zip(*(files[kind] for files in each), strict=True):
            assert line.split()[:3] == sorted((one.split()[0] for one in ones if one), key=float)


def test_a_model_that_is_continued_is_that_of_all_data(vwlite, data, tmp_path):
    lines = (data / "train.vw").read_text().splitlines(keepends=True)
    (tmp_path / "a").write_text("".join(lines[:1000]))
    (tmp_path / "b").write_text("".join(lines[1000:]))
    vwlite("train", data / "train.vw", *GD, *SEVERAL, "-m", tmp_path / "whole")
    vwlite("train", tmp_path / "a", *GD, *SEVERAL, "-m", tmp_path / "first")
    vwlite("train", tmp_path / "b", "-i", tmp_path / "first", "-m", tmp_path / "both")
    for name in ("whole", "both"):
        vwlite("predict", "-m", tmp_path / name, data / "train.vw", "-p", tmp_path / f"{name}.p")
    assert (tmp_path / "whole.p").read_bytes() == (tmp_path / "both.p").read_bytes()
    told = vwlite("train", tmp_path / "b", "-i", tmp_path / "first", "--quantile-tau", "0.5", code=2).err
    assert "--quantile-tau 0.5 contradicts the model" in told and "0.1,0.5,0.9" in told


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.lists(st.sampled_from("abcd"), min_size=1)), min_size=1))
def test_predictions_do_not_cross_and_lose_no_more_than_scores(rows):
    """In all: the losses of sorted predictions are never larger than those of the same ones as they are."""
    s = Settings(loss="quantile", quantile_tau=TAUS)
    learner = make_learner(s, predictions=True, raw_predictions=True)
    learner.run(batch_of(Line(y, [(ord(word), 1.0) for word in words]) for y, words in rows))
    shown, raw = (np.array([line.split() for line in text.take().splitlines()], float)
                  for text in (learner.predictions, learner.raw_predictions))
    assert (np.diff(shown) >= 0).all()
    seen = np.array([0.0, *(y for y, _ in rows)])
    low, high = np.minimum.accumulate(seen)[1:], np.maximum.accumulate(seen)[1:]
    clipped = np.clip(raw, low[:, None], high[:, None])
    np.testing.assert_allclose(shown, np.sort(clipped), atol=2e-6)
    y, taus = seen[1:, None], np.array(TAUS)
    sums = [pinball(y, p, taus).sum(axis=1) for p in (np.sort(clipped), clipped)]
    assert (sums[0] <= sums[1] + 1e-6 * (1 + np.abs(sums[1]))).all()


# --- what is told of it ----------------------------------------------------------------------


def test_the_measures_of_training_are_those_of_its_predictions(vwlite, data, tmp_path):
    vwlite("train", data / "train.vw", *GD, *SEVERAL, "-p", tmp_path / "p", "--report", tmp_path / "r")
    results = json.loads((tmp_path / "r").read_text())["results"]
    _check_measures(results, data, tmp_path / "p", "average_loss")


def _check_measures(found, data, predictions, mean):
    """mean: the name of the mean of all losses."""
    lines = [line.split("|")[0].split() for line in (data / "train.vw").read_text().splitlines()]
    kept = [i for i, words in enumerate(lines) if words]
    rows = [line for i, line in enumerate(predictions.read_text().splitlines()) if i in {*kept}]
    learned = [(float(words[0]), float(words[1]), row) for i, row in zip(kept, rows, strict=True)
               if len(words := lines[i]) > 1]
    y, w = (np.array([one[k] for one in learned]) for k in (0, 1))
    p = np.array([one[2].split()[:3] for one in learned], float)
    for k, tau in enumerate(TAUS):
        assert found[f"pinball_{tau:g}"] == pytest.approx(np.average(pinball(y, p[:, k], tau), weights=w), rel=1e-5)
    inside = (p[:, 0] <= y) & (y <= p[:, 2])
    assert found["coverage_0.1_0.9"] == pytest.approx(np.average(inside, weights=w), abs=2e-3)
    assert found["width_0.1_0.9"] == pytest.approx(np.average(p[:, 2] - p[:, 0], weights=w), rel=1e-5)
    assert found[mean] == pytest.approx(np.mean([found[f"pinball_{name}"] for name in NAMES]))
    return y, w, p


def test_evaluate_has_the_losses_coverage_and_baselines(vwlite, data, tmp_path):
    vwlite("train", data / "train.vw", *GD, *SEVERAL, "-m", tmp_path / "m")
    vwlite("predict", "-m", tmp_path / "m", data / "train.vw", "-p", tmp_path / "p")
    measures = json.loads(vwlite("evaluate", "-m", tmp_path / "m", data / "train.vw", "--json").out)["measures"]
    values = {name: m["value"] for name, m in measures.items()}
    y, w, p = _check_measures(values, data, tmp_path / "p", "pinball")
    assert measures["coverage_0.1_0.9"]["expected"] == 0.8
    metrics = pytest.importorskip("sklearn.metrics")
    for k, tau in enumerate(TAUS):
        wanted = metrics.mean_pinball_loss(y, p[:, k], sample_weight=w, alpha=tau)
        assert measures[f"pinball_{tau:g}"]["value"] == pytest.approx(wanted, rel=1e-5)
        least = min(np.average(pinball(y, c, tau), weights=w) for c in y)  # some label is the best constant
        assert measures[f"pinball_{tau:g}"]["baseline"] == pytest.approx(least)
    of_m = ("evaluate", "-m", tmp_path / "m", data / "train.vw")
    covered = np.average((p[:, 0] <= y) & (y <= p[:, -1]), weights=w)
    wide = np.average(p[:, -1] - p[:, 0], weights=w)
    said = (f"{round(10 * covered, 1):g} of 10 labels lie in the range from the quantile 0.1 to 0.9 (expected: 8), "
            f"{shown(wide)} wide on average")
    assert said in vwlite(*of_m).out
    page = vwlite("report", "-m", tmp_path / "m", data / "train.vw").out
    assert f"rows: {said}.</p>" in page
    assert "coverage_0.1_0.9<0.9: it is" in vwlite(*of_m, "--fail-if", "coverage_0.1_0.9<0.9", code=1).err
    vwlite("train", data / "train.vw", *GD, *SEVERAL, "-m", tmp_path / "other", "-l", 0.05)
    vs = json.loads(vwlite(*of_m, "--against", tmp_path / "other", "--json").out)["difference"]
    other = json.loads(vwlite("evaluate", "-m", tmp_path / "other", data / "train.vw", "--json").out)["measures"]
    for name, of in vs.items():
        assert of["value"] == pytest.approx(measures[name]["value"] - other[name]["value"], abs=1e-12)


def test_one_quantile_has_the_share_of_labels_below(vwlite, data, tmp_path):
    one = ("--loss", "quantile", "--quantile-tau", 0.8)
    vwlite("train", data / "train.csv", "--label", "price", *one, "-m", tmp_path / "m")
    measures = json.loads(vwlite("evaluate", "-m", tmp_path / "m", data / "train.csv", "--json").out)["measures"]
    p = np.array([*map(float, vwlite("predict", "-m", tmp_path / "m", data / "train.csv").out.split())])
    y = table_of(3000)[2]
    assert measures["share_below"]["value"] == pytest.approx((y <= p).mean(), abs=2e-3)
    assert measures["quantile_loss"]["value"] == pytest.approx(pinball(y, p, 0.8).mean(), rel=1e-4)


def test_rows_of_predictions_name_the_quantiles(vwlite, data, tmp_path):
    vwlite("train", data / "train.vw", *GD, *SEVERAL, "-m", tmp_path / "m")
    text = vwlite("predict", "-m", tmp_path / "m", data / "train.vw").out.splitlines()
    rows = [*csv.DictReader(io.StringIO(vwlite("predict", "-m", tmp_path / "m", data / "train.vw", "--output-format",
                                               "csv").out))]
    objects = vwlite("predict", "-m", tmp_path / "m", data / "train.vw", "--output-format", "json").out.splitlines()
    assert [*rows[0]] == ["tag", "label", *(f"quantile_{name}" for name in NAMES)]
    for line, row, written in zip(text, rows, objects, strict=True):
        one, numbers = json.loads(written), line.split()[:3]
        assert [row[f"quantile_{name}"] for name in NAMES] == (numbers or ["", "", ""])
        assert one["quantiles"] == (dict(zip(NAMES, map(float, numbers), strict=True)) if numbers else None)
        assert (one["tag"] or "") == row["tag"] == (line.split()[3] if line.count(" ") == 3 else "")


def test_weights_and_explanations_are_those_of_each_quantile(vwlite, data, tmp_path):
    vwlite("train", data / "train.csv", "--label", "price", *SEVERAL, "-m", tmp_path / "m")
    few = tmp_path / "few.csv"
    few.write_text("".join((data / "train.csv").read_text().splitlines(keepends=True)[:101]))
    of_m = ("-m", tmp_path / "m", few)
    raw = vwlite("predict", *of_m, "-r", "-", "-p", "/dev/null").out.splitlines()
    for line, explained in zip(raw, vwlite("explain", *of_m, "--json").out.splitlines(), strict=True):
        found = json.loads(explained)["quantiles"]
        assert [one["quantile"] for one in found] == NAMES
        assert [one["score"] for one in found] == pytest.approx([*map(float, line.split())], abs=1e-5)
        for one in found:
            parts = [one["base"], one["intercept"], one["others"]["contribution"]]
            parts += [c["contribution"] for c in one["contributions"]]
            assert sum(parts) == pytest.approx(one["score"])
    assert "quantile 0.9, " in vwlite("explain", *of_m, "--class", 0.9).out
    info = json.loads(vwlite("info", tmp_path / "m", "--json").out)
    assert info["options"]["quantile_tau"] == [*TAUS]
    listed = {line.split("\t")[1] for line in vwlite("weights", tmp_path / "m").out.splitlines()}
    assert listed == {*NAMES}
    rows = [json.loads(line) for line in vwlite("worst", *of_m, "--json").out.splitlines()]
    p, y = np.array([line.split() for line in raw], float), table_of(3000)[2][:100, None]
    assert rows[0]["loss"] == pytest.approx(pinball(y, p, np.array(TAUS)).mean(axis=1).max(), rel=1e-3)
    page = vwlite("report", *of_m, "-o", "-").out
    assert "pinball 0.9" in page and "expected 0.8000" in page
    vwlite("drift", *of_m, data / "test.csv", "--page", tmp_path / "page.html")


# --- auto ------------------------------------------------------------------------------------


def test_auto_covers_labels_whose_spread_differs(vwlite, data, tmp_path):
    """Four of five labels are in the interval, where it is narrow and where it is wide."""
    vwlite("train", data / "train.csv", "--label", "price", *SEVERAL, "-m", tmp_path / "m", "-p", tmp_path / "p")
    found = numbers_of(tmp_path / "p")
    assert found.shape == (3000, 3) and (np.diff(found) >= 0).all()
    vwlite("predict", "-m", tmp_path / "m", data / "test.csv", "-p", tmp_path / "p")
    (x, _, y), p = table_of(4000, 5), numbers_of(tmp_path / "p")
    inside = (p[:, 0] <= y) & (y <= p[:, 2])
    for part in (x < 0.7, (x >= 0.7) & (x < 1.4), x >= 1.4):
        assert 0.74 < inside[part].mean() < 0.86
    z = 1.2815515655446004
    true = np.column_stack([10 + 3 * x + k * z * (0.2 + x) for k in (-1, 0, 1)])
    best = np.mean([pinball(y, true[:, k], tau) for k, tau in enumerate(TAUS)])
    assert np.mean([pinball(y, p[:, k], tau) for k, tau in enumerate(TAUS)]) < 1.02 * best


def test_auto_derives_features_that_help_all_quantiles_together(vwlite, tmp_path):
    """The middle does not depend on x, the spread does."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-3, 3, 4000)
    y = np.exp(np.sin(2 * x)) * rng.normal(0, 1, 4000)
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(f"{a:.4f},{b:.4f}\n" for a, b in zip(x, y, strict=True)))
    vwlite("train", tmp_path / "d.csv", "--label", "y", *SEVERAL, "-m", tmp_path / "m", "--report", tmp_path / "r")
    results = json.loads((tmp_path / "r").read_text())["results"]
    assert results["derived"] == "curves of 1 number"
    assert results["out_of_fold_average_loss"] < 0.95 * results["out_of_fold_average_loss_of_the_baseline"]
    assert abs(results["out_of_fold_coverage_0.1_0.9"] - 0.8) < 0.05
    text = vwlite("predict", "-m", tmp_path / "m", tmp_path / "d.csv").out
    vwlite("train", tmp_path / "d.csv", "-i", tmp_path / "m", "-m", tmp_path / "more")
    assert (np.diff(np.array([line.split() for line in text.splitlines()], float)) >= 0).all()


def test_auto_learns_from_standard_input_and_from_validation_as_from_files(vwlite, data, tmp_path):
    vwlite("train", data / "train.csv", "--label", "price", *SEVERAL, "-m", tmp_path / "a")
    with standard_input(data / "train.csv"):
        vwlite("train", "--format", "csv", "--label", "price", *SEVERAL, "-m", tmp_path / "b")
    outs = [vwlite("predict", "-m", tmp_path / name, data / "test.csv").out for name in "ab"]
    assert outs[0] == outs[1]
    vwlite("train", data / "train.csv", "--label", "price", *SEVERAL, "-m", tmp_path / "c", "--validate",
           data / "test.csv", "--report", tmp_path / "r")
    told = json.loads((tmp_path / "r").read_text())["results"]
    found = json.loads(vwlite("evaluate", "-m", tmp_path / "c", data / "test.csv", "--json").out)["measures"]
    assert told["validation_average_loss"] == pytest.approx(found["pinball"]["value"], rel=0.01)


@pytest.mark.parametrize("algorithm", ["gd", "auto"])
@pytest.mark.parametrize("lines", [
    ["3 |n a:1"], ["5 |n a", "5 |n b", "5 |n c a"], ["1 |n a", "2 |n b", "4 |n a b"],
    ["1 |n a", "|n b", "3 0 |n c", "2 |n a b", "7 2 |n b"], ["1e30 |n a", "-1e30 |n b", "3 |n c", "1e37 |n a b"],
    ["1 |"] * 9 + ["2 |"],
])  # fmt: skip
def test_few_and_odd_rows(vwlite, tmp_path, lines, algorithm):
    (tmp_path / "d").write_text("\n".join(lines))
    vwlite("train", tmp_path / "d", "--algorithm", algorithm, *SEVERAL, "-m", tmp_path / "m")
    vwlite("predict", "-m", tmp_path / "m", tmp_path / "d", "-p", tmp_path / "p")
    p = numbers_of(tmp_path / "p")
    labels = [0.0, *(float(line.split("|")[0].split()[0]) for line in lines if line[0] != "|")]
    assert np.isfinite(p).all() and (np.diff(p) >= 0).all()
    assert p.min() >= min(labels) * (1 + 1e-6) - 1e-6 and p.max() <= max(labels) * (1 + 1e-6)
    if algorithm == "auto" and len({*labels[1:]}) == 1:
        assert (p == labels[1]).all()


@pytest.mark.parametrize("folds", [1, 2, 4])
def test_lanes_of_several_quantiles_are_those_of_each(folds):
    """Those of one quantile learn labels less its constant."""
    stream = [x for x in random_stream(5, 300, loss="quantile", keys=60)
              if x.kind == 0 and x.label == x.label and x.importance > 0]
    fold, batch = np.random.default_rng(1).integers(0, folds, len(stream)).astype(np.uint8), batch_of(stream)
    quantiles = [(Quantile(tau), minus) for tau, minus in ((0.1, -1.5), (0.5, 0.0), (0.9, 2.0))]

    def scores(width, mean, **how):
        found, later = (np.zeros(width * COLUMNS * len(stream), np.float32) for _ in range(2))
        lanes = Lanes(quantiles[0][0], Expander(normalizer=Normalizer("none")), RATES, folds, **how)
        lanes.learn(batch, fold, mean=mean, scale=2.0, scores=found)
        lanes.score(batch, fold, later)
        return np.stack([found, later]).reshape(2, len(stream), width, COLUMNS)

    several = scores(3, 1.0, quantiles=quantiles)
    for k, (loss, minus) in enumerate(quantiles):
        alone = scores(1, 1.0 + 2.0 * minus, quantiles=[(loss, 0.0)])
        np.testing.assert_allclose(several[:, :, k], alone[:, :, 0], rtol=2e-4, atol=2e-4)


# --- options, files, Python ------------------------------------------------------------------


def test_a_header_with_other_quantiles_is_refused(vwlite, data, tmp_path):
    vwlite("train", data / "train.vw", *GD, *SEVERAL, "-m", tmp_path / "m")
    model = read_model(str(tmp_path / "m"))
    assert model.format == 5 and model.class_names() == NAMES
    for wrong in ([0.5], [0.9, 0.1, 0.5], [0.1, 0.5], [0.1, "0.5", 0.9], [0.1, 0.5, 1.0], [], None, "0.5"):
        header = model.header() | {"options": model.options | {"quantile_tau": wrong}}
        if wrong == [0.1, 0.5]:  # as many as the state has not
            with pytest.raises(ValueError, match="not a valid model"):
                from_bytes(to_bytes(replace(model, options=header["options"]), "m"))
            continue
        with pytest.raises((ValueError, TypeError)):
            check_header(header)
    older = model.header() | {"format": 4}
    with pytest.raises(ValueError, match="format"):
        check_header(older)


@pytest.mark.parametrize(("taus", "why"), [
    ("0.9,0.1", "ascending order"), ("0.5,0.5", "ascending order"), ("0.1,1", "out of range"), ("0.1,", "not a number"),
    ("nan,0.5", "out of range"), (",".join(str(k / 200) for k in range(1, 101)), "at most 99"),
])  # fmt: skip
def test_quantiles_that_are_none_are_refused(vwlite, data, taus, why):
    told = vwlite("train", data / "train.vw", "--loss", "quantile", "--quantile-tau", taus, code=2).err
    assert "--quantile-tau" in told and why in told
    tuple_ = [*map(float, taus.strip(",").split(","))]
    with pytest.raises(ValueError, match=r"quantile|number|range|must"):
        check_settings(Settings(loss="quantile", quantile_tau=tuple([*tuple_, 0.05] if taus == "0.1," else tuple_)))


def test_what_is_for_one_prediction_says_so(vwlite, data, tmp_path):
    m, x, d = tmp_path / "m", tmp_path / "x", data / "train.vw"
    vwlite("train", data / "train.vw", *GD, *SEVERAL, "-m", m)
    vwlite("train", data / "test.csv", "--label", "price", *GD, *SEVERAL, "-m", tmp_path / "n")
    for command in (
        ["export", m, "--to", "vw", "-o", x],
        ["merge", m, tmp_path / "n", "-m", x], ["diff", m, tmp_path / "n", d],
        ["certify", "-i", m, d, "--l1", 1], ["calibrate", "-m", m, d, "-o", x],
        ["tune", d, *SEVERAL], ["train", d, *SEVERAL, "--sparse"], ["train", d, *GD, *SEVERAL, "--oaa", 3],
        ["train", d, *SEVERAL, "--labels", "0,1"], ["train", d, *SEVERAL, "--nonzeros", 3],
        ["predict", "-m", m, d, "--threshold", 1], ["predict", "-m", m, d, "--probabilities"],
    ):  # fmt: skip
        told = vwlite(*command, code=2).err
        assert "quantile" in told or "not one" in told or "has none" in told, told
        assert not x.exists()


def test_the_estimator_and_load_model_predict_as_the_program(vwlite, data, tmp_path):
    pandas = pytest.importorskip("pandas")
    sklearn = pytest.importorskip("sklearn.base")
    frame = pandas.read_csv(data / "train.csv")
    X, y = frame[["x", "word"]], frame["price"]
    for algorithm in ("gd", "auto"):
        learn = ("--label", "price", "--algorithm", algorithm, *SEVERAL)
        vwlite("train", data / "train.csv", *learn, "-m", tmp_path / "m")
        vwlite("predict", "-m", tmp_path / "m", data / "train.csv", "-p", tmp_path / "p")
        wanted = numbers_of(tmp_path / "p")
        reg = SparseRegressor(loss="quantile", quantile_tau=TAUS, algorithm=algorithm).fit(X, y)
        np.testing.assert_allclose(reg.predict(X), wanted, atol=1e-6)
        loaded = load_model(tmp_path / "m")
        np.testing.assert_allclose(loaded.predict(X), wanted, atol=1e-6)
        line = json.dumps({"x": float(X["x"][0]), "word": X["word"][0]})
        (first,) = loaded.predict_lines([line])
        assert first == pytest.approx(dict(zip(NAMES, wanted[0], strict=True)), abs=1e-6)
        assert loaded.decision_function(X).shape == (3000, 3) and loaded.classes is None
        assert {*loaded.weights()[0][1]} <= {*NAMES}
        assert sklearn.clone(reg).quantile_tau == TAUS
    numbers = SparseRegressor(loss="quantile", quantile_tau=TAUS, algorithm="gd").fit(X[["x"]].to_numpy(), y)
    assert numbers.coef_.shape == (3, 1) and numbers.intercept_.shape == (3,)
    scores = X[["x"]].to_numpy() @ numbers.coef_.T + numbers.intercept_
    np.testing.assert_allclose(np.sort(scores), numbers.predict(X[["x"]].to_numpy()), rtol=1e-5)
    before = numbers.predict([[1.0]])
    assert (numbers.partial_fit([[1.0]] * 50, [100.0] * 50).predict([[1.0]]) > before).all()
    with pytest.raises(ValueError, match="partial_fit"):
        SparseRegressor(loss="quantile", quantile_tau=TAUS, algorithm="auto").partial_fit([[1.0]], [1.0])
    assert loaded.effects().classes == (*NAMES,)
    parts = reg.contributions(X)
    np.testing.assert_allclose(reg.base_value_ + parts.sum(axis=1), loaded.decision_function(X), rtol=1e-4, atol=1e-4)
