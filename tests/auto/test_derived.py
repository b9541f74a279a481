"""Derived features: the compiled code beside the reference implementation, and through the commands."""

import csv
import json
import math
import re
import subprocess
import sys
from array import array
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from derived_features import (
    KEPT_COLUMNS,
    RESOLUTIONS,
    WIDEST,
    Numbers,
    Screening,
    Words,
    code_of_number,
    copies,
    derivatives,
    derivatives_of_classes,
    fold_of,
    is_taken,
    knots,
    levels,
    mean_and_deviation,
    sample_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from running import run_here
from tables import OF_TEXT, bent_rows, loss, table, written

from vwlite import load_model
from vwlite.core.auto.folds import copies_of
from vwlite.core.auto.screening import (
    ColumnScan,
    Residuals,
    class_residuals,
    codes_of_numbers,
    difference_of,
    folds_of_rows,
    moments,
    residuals,
    row_log_losses,
    sampled_rows,
)
from vwlite.core.auto.screening import knots as compiled_knots
from vwlite.core.learn.losses import Logistic, Poisson, Squared
from vwlite.derived import CURVE, PARTS_OF_TIME, WordColumn
from vwlite.hashing import feature_hash, namespace_hash
from vwlite.model import read_model
from vwlite.model.feature_names import NONE
from vwlite.model.file import to_bytes
from vwlite.training.auto.derive import Stages

NAN = math.nan
FEW = st.sampled_from([0.0, 1.0, 2.0, -3.5, 7.25, NAN])
values = st.lists(st.one_of(FEW, st.floats(width=32, allow_infinity=False)), max_size=300)
BITS = (1 << 32) - 1


def alone(n: int) -> array:
    """Rows that have no copies."""
    return array("I", range(n))


def floats(x) -> array:
    return array("f", x)


@given(values, st.sampled_from([4, 5, 8, 9, 64]))
def test_knots(x, k):
    assert compiled_knots(floats(x), [k, 5]) == [knots(x, k), knots(x, 5)]


@given(values, st.sampled_from([4, 8, 32]))
def test_codes_of_numbers(x, k):
    at = knots(x, k)
    assert [*codes_of_numbers(floats(x), at)] == [code_of_number(y, at) if at else 1 for y in x]


@given(st.lists(st.one_of(FEW, st.floats(-1e6, 1e6, width=32))))
def test_moments(x):
    if all(map(math.isnan, x)):
        assert moments(floats(x)) == (0, 0, 0)
        return
    count = sum(not math.isnan(y) for y in x)
    assert moments(floats(x)) == pytest.approx((*mean_and_deviation(x), count), rel=1e-9, abs=1e-9)


@settings(deadline=None)
@given(st.integers(0, 300), st.integers(1, 100), st.integers(1, 200), st.randoms())
def test_sample_and_folds(n, most, kinds, random):
    """Copies are in the fold of the first one; if they are in different folds of the lanes, they are no copies."""
    found = sampled_rows(n, most)
    rows = [i for i in range(n) if found[i]]
    assert rows == sample_of(n, most)
    contents = [random.randrange(kinds) for _ in range(n)]
    folds = [c % 4 if c % 3 else random.randrange(4) for c in contents]
    same = copies_of(array("Q", contents), bytes(folds))
    assert [*same] == copies(contents, folds)
    assert [*folds_of_rows(found, same)] == [fold_of(same[i]) for i in rows]


def test_a_scan_finds_what_columns_have():
    rows = [("0", "a"), ("", "b"), ("2", "a"), ("2", ""), ("1", "c")] * 30
    batch = table(["x", "w", "y"], ["numeric", "categorical", "label"], [(*row, "1") for row in rows])
    spaces = [namespace_hash(b"x"), namespace_hash(b"w"), namespace_hash(b"none")]
    scan = ColumnScan([(s, feature_hash(n, n), feature_hash(n + b"?", n))
                       for s, n in zip(spaces, (b"x", b"w", b"none"), strict=True)], sampled_rows(len(rows), 50))
    scan.take(batch)
    kept = sample_of(len(rows), 50)
    assert [scan.facts(i) for i in range(3)] == [(120, 0, False, 0), (0, 120, False, 3), (0, 0, False, 0)]
    expected = [float(rows[i][0] or "nan") for i in kept]
    assert np.array_equal(scan.values(0), np.array(expected, "f"), equal_nan=True)
    counts = {feature_hash(b"w=" + w.encode(), b"w"): n for w, n in (("a", 60), ("b", 30), ("c", 30))}
    assert dict(scan.words(1, 10)) == counts and dict(scan.words(1, 31)) == {k: n for k, n in counts.items() if n > 30}
    order = levels([w for _, w in rows])
    codes = scan.codes(1, [feature_hash(b"w=" + w.encode(), b"w") for w in order[:2]])
    assert [*codes] == [{"a": 0, "b": 1, "c": 2, "": 3}[rows[i][1]] for i in kept]


def test_a_scan_finds_the_parts_of_times():
    rows = [("2026-01-31T13:05", "1"), ("2026-02-01", "1"), ("", "1"), ("2026-12-31T00:00:00Z", "1")] * 5
    parts = [WordColumn("at", levels, part) for part, levels in PARTS_OF_TIME.items()]
    hashes = [c.hashes(False) for c in parts]
    absent = feature_hash(b"at?", b"at")
    scan = ColumnScan([(namespace_hash(b"at"), h, absent) for h in hashes], sampled_rows(len(rows), len(rows)))
    scan.take(table(["at", "y"], ["time", "label"], rows))
    assert [scan.facts(i)[:3] for i in range(3)] == [(0, 10, False), (0, 15, False), (0, 15, False)]
    expected = [[13, 25, 25, 0], [5, 6, 8, 3], [0, 1, 13, 11]]  # behind the levels: any other word, none
    assert [[*scan.codes(i, hashes[i])][:4] for i in range(3)] == expected


# --- screening ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_gains(seed):
    """Of pairs and triples, beside the reference, with importances."""
    rng = np.random.default_rng(seed)
    n = 400
    columns = [Numbers(f"n{i}", rng.normal(size=n).round(2).tolist()) for i in range(3)]
    columns.append(Words("w", rng.choice(["a", "b", "c", ""], n).tolist()))
    rows = [[*(c.sample[i] for c in columns[:3]), columns[3].given[i]] for i in range(n)]
    y, p, h = rng.choice([-1.0, 1.0], n), rng.normal(size=n), rng.integers(0, 3, n).astype(float)
    R, H = derivatives("logistic", p, y, h)
    reference = Screening(columns, rows, R, H)
    first, second, _ = residuals(Logistic(), "logistic", p, y, h)
    assert np.allclose(first, R[:, 0]) and np.allclose(second, H[:, 0])
    found = Residuals(first, second, folds_of_rows(sampled_rows(n, n), alone(n)))
    for q in RESOLUTIONS:
        codes = [
            (codes_of_numbers(floats(c.sample), c.knots(q)), len(c.knots(q)) + 1) if isinstance(c, Numbers)
            else (bytes(c.code(word, q) for word in c.given), len(c.kept) + 2) for c in columns
        ]
        for places in [(0, 1), (1, 3), (0, 1, 2), (0, 2, 3)]:
            got = found.gain([codes[i] for i in places])
            assert got == pytest.approx(reference.gain(places, q), rel=1e-9)


def test_residuals_of_numbers_have_a_unit():
    """Their standard deviation, or that of other ones, with which they are added. The loss has the slope 2 (p - y)."""
    rng = np.random.default_rng(7)
    p, y, h = rng.normal(size=50), rng.normal(3, 2, 50), rng.integers(1, 3, 50).astype(float)
    first, second, unit = residuals(Squared(), "squared", p, y, h)
    assert unit == pytest.approx(2 * math.sqrt(np.cov(y - p, fweights=h.astype(int), ddof=0)))
    assert np.allclose(first, 2 * h * (y - p) / unit) and np.allclose(second, h)
    assert np.allclose(residuals(Squared(), "squared", p, y, h, 5.0)[0], 2 * h * (y - p) / 5)


def test_residuals_of_counts_have_a_unit():
    """Amounts in any unit have the same pairs; so have counts that vary more than those of Poisson."""
    rng = np.random.default_rng(8)
    p, h = rng.normal(size=50), rng.integers(1, 3, 50).astype(float)
    y = rng.poisson(np.exp(p)) * 3.0
    first, second, unit = residuals(Poisson(), "poisson", p, y, h)
    R, H = derivatives("poisson", p, y, h)
    assert np.allclose(first, R[:, 0]) and np.allclose(second, H[:, 0])
    pearson = (y - np.exp(p)) / np.exp(p / 2)
    assert unit == pytest.approx(math.sqrt(np.cov(pearson, fweights=h.astype(int), ddof=0)))


@pytest.mark.parametrize("classes", [1, 3])
def test_gains_by_rows_that_were_learned(classes):
    """d of these rows and of one half of the others, judged by the other half."""
    rng = np.random.default_rng(classes)
    rows, learned_rows = 300, 500
    codes, learned_codes = rng.integers(0, 4, (rows, 2)), rng.integers(0, 4, (learned_rows, 2))
    R, H, learned_R, learned_H = (
        x for n in (rows, learned_rows) for x in (rng.normal(size=(n, classes)), rng.random((n, classes)))
    )
    half, expected = np.array([fold_of(i) & 1 for i in range(rows)]), 0.0
    cell, learned_cell = (4 * x[:, 0] + x[:, 1] for x in (codes, learned_codes))
    for c in range(16):
        for f in (0, 1):
            judged, others, before = (cell == c) & (half == f), (cell == c) & (half != f), learned_cell == c
            d = (R[others].sum(0) + learned_R[before].sum(0)) / (H[others].sum(0) + learned_H[before].sum(0) + 4)
            expected += (d * R[judged].sum(0) - d * d * H[judged].sum(0) / 2).sum()
    found = Residuals(R.ravel(), H.ravel(), folds_of_rows(sampled_rows(rows, rows), alone(rows), 2), 3)
    learned = Residuals(learned_R.ravel(), learned_H.ravel(), bytes(learned_rows))
    as_codes = ([(bytes(column.tolist()), 4) for column in x.T] for x in (codes, learned_codes))
    own, theirs = as_codes
    assert found.gain(own, learned, theirs) == pytest.approx(3 * expected, rel=1e-9)
    with pytest.raises(ValueError, match="other cells"):
        found.gain(own, learned, theirs[:1])


def test_residuals_of_classes_and_their_losses():
    rng = np.random.default_rng(1)
    scores, y, h = rng.normal(size=(50, 3)), rng.integers(0, 3, 50), rng.integers(0, 3, 50).astype(float)
    R, H = derivatives_of_classes(scores, y, h)
    first, second = class_residuals(scores.ravel(), y + 1.0, h)
    assert np.allclose(first, R.ravel()) and np.allclose(second, H.ravel())
    log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    assert np.allclose(row_log_losses(scores.ravel(), y + 1.0), -log_p[np.arange(50), y])


@pytest.mark.parametrize("shift", [0.0, -0.01, -0.1])
def test_when_a_stage_is_taken(shift):
    rng = np.random.default_rng(2)
    losses, h = rng.random(100), rng.integers(1, 3, 100).astype(float)
    others = losses + rng.normal(0, 0.1, 100)
    for same in (alone(100), array("I", (i // 2 * 2 for i in range(100)))):
        before, mean, error = difference_of(losses + shift, others, h, same)
        assert before == pytest.approx(np.average(others, weights=h))
        assert (mean + before < 0.999 * before and mean < -2 * error) == is_taken(losses + shift, others, h, same)


def test_copies_of_all_rows_change_no_choice():
    rng = np.random.default_rng(5)
    losses, others = rng.random(100), rng.random(100)
    one = difference_of(losses, others, np.ones(100), alone(100))
    twice = difference_of(np.tile(losses, 2), np.tile(others, 2), np.ones(200), array("I", [*range(100)] * 2))
    assert twice == pytest.approx(one)


@pytest.mark.parametrize("count", [9, WIDEST, WIDEST + 1])
def test_of_many_columns_those_are_paired_that_gain_most_alone(monkeypatch, count):
    gain, tried = np.random.default_rng(3).random(count), []

    def gains(stages, race, columns, sets, resolutions):
        tried.append(sets)
        return sorted(((gain[which[0]], which, 4) for which in sets), reverse=True)

    monkeypatch.setattr(Stages, "_stopped", False)
    monkeypatch.setattr(Stages, "_gains", gains)
    assert Stages.__new__(Stages)._pairs(None, [None] * count, 40) is None  # no gain is significant
    paired = range(count) if count <= WIDEST else np.argsort(-gain)[:KEPT_COLUMNS].tolist()
    assert tried[-1] == [*combinations(sorted(paired), 2)]


# --- the commands -------------------------------------------------------------------------------

BENT = ["--label", "y", "--derive", "auto"]


@pytest.fixture(scope="module")
def of_bent(bent, tmp_path_factory) -> Path:
    """A model with curves and pairs, which no test changes."""
    model = tmp_path_factory.mktemp("bent") / "m"
    run_here("train", bent, *BENT, "-m", model)
    return model



def test_curves_and_pairs_are_found_where_they_are(vwlite, bent, tmp_path):
    plain, curves, pairs = (
        vwlite("train", bent, "--label", "y", "--derive", kind, "-m", tmp_path / kind)
        for kind in ("none", "curves", "auto")
    )
    assert loss(pairs) < 0.8 * loss(curves) < 0.8 * 0.95 * loss(plain)
    without = f"log loss without them {loss(plain):.4f}"
    assert f"\nfeatures: curves of 2 numbers; {without}\n" in curves.err
    assert "\nfeatures: curves of 2 numbers, " in pairs.err and without in pairs.err
    assert "features:" not in plain.err
    for kind, result in (("curves", curves), ("auto", pairs)):
        found = vwlite("evaluate", "-m", tmp_path / kind, bent, "--json")
        assert json.loads(found.out)["measures"]["log_loss"]["value"] < loss(result) + 0.05


@pytest.mark.parametrize(("shape", "rows", "most"), [("bowl", 400, 8), ("bowl", 2000, 8), ("step", 2000, 64)])
def test_curves_have_the_knots_that_predict_better(vwlite, tmp_path, shape, rows, most):
    """Few where the truth is smooth, and many where it has a corner: those of the definition, at most so many."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(rows, 3))
    bowl, step = 1 / (1 + np.exp(1.5 - 1.5 * x[:, 0] ** 2)), np.where(abs(x[:, 0] - 0.6) < 0.15, 0.95, 0.1)
    p = bowl if shape == "bowl" else step
    cells = [[f"{v:.4f}" for v in row] for row in x]
    lines = [",".join([*row, str(int(rng.random() < q))]) for row, q in zip(cells, p, strict=True)]
    data = tmp_path / "d.csv"
    data.write_text("a,b,c,y\n" + "\n".join(lines) + "\n")
    vwlite("train", data, "--label", "y", "--derive", "curves", "-m", tmp_path / "m")
    found = read_model(tmp_path / "m").settings.derived
    assert [c.name for c in found.columns] == ["a", "b", "c"]
    for column, values in zip(found.columns, zip(*cells, strict=True), strict=True):
        assert [*column.knots[CURVE]] == knots(map(float, values), most)


def of_shops(folder, effect) -> Path:
    """A table of 80 shops whose numbers have no order, and of numbers that have a smooth effect or none."""
    rng = np.random.default_rng(9)
    shop, visits, z = rng.integers(0, 80, 1500), rng.integers(0, 200, 1500), rng.normal(size=1500).round(3)
    names, score = rng.permutation(5000)[:80] + 1000, rng.normal(size=80)
    y = rng.random(1500) < 1 / (1 + np.exp(-(1.5 * score[shop] if effect == "by shop" else (visits - 100) / 40)))
    data = folder / "shops.csv"
    rows = zip(names[shop], visits, visits / 2, z, y.astype(int), strict=True)
    data.write_text("shop,visits,half,z,y\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return data


def test_whole_numbers_that_are_names_have_a_knot_each(vwlite, tmp_path):
    """If rows that were not learned say so; and exports read them."""
    data = of_shops(tmp_path, "by shop")
    said = vwlite("train", data, "--label", "y", "--drop", "half", "--derive", "curves", "-m", tmp_path / "m")
    note = re.search(r"each whole number of shop by itself predicts better \(out-of-fold log loss ([0-9.]+)\) than a "
                     r"curve of them \(([0-9.]+)\): .* --categorical shop learns them as words", said.err)
    assert float(note[1]) == pytest.approx(loss(said), abs=1e-4) and float(note[2]) > float(note[1])
    found = {c.name: c.knots[CURVE] for c in read_model(tmp_path / "m").settings.derived.columns}
    shops = sorted({float(line.split(",")[0]) for line in data.read_text().splitlines()[1:]})
    assert [*found["shop"]] == shops and len(found["z"]) <= 65
    vwlite("export", tmp_path / "m", "--to", "python", "-o", tmp_path / "shops.py")
    program = subprocess.run(
        [sys.executable, tmp_path / "shops.py"], input=data.read_text(), capture_output=True, text=True, check=True)
    expected = vwlite("predict", "-m", tmp_path / "m", data).out.split()
    assert [*map(float, program.stdout.split())] == pytest.approx([*map(float, expected)], abs=1e-6)


def test_numbers_with_a_smooth_effect_are_no_names(vwlite, tmp_path):
    data = of_shops(tmp_path, "by visits")
    said = vwlite("train", data, "--label", "y", "--drop", "shop", "--derive", "curves", "-m", tmp_path / "m")
    assert "by itself" not in said.err
    model = read_model(tmp_path / "m")
    assert model.settings.derived is None or model.chosen["mean of models with"]["no derived features"] > 0.5


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_every_format_gives_the_same_model_and_predictions(vwlite, bent, of_bent, tmp_path, kind):
    with bent.open(newline="") as f:
        rows = list(csv.DictReader(f))
    numbers = ("x", "z")
    other = tmp_path / f"data.{kind}"
    if kind == "jsonl":
        found = [{k: float(v) if k in numbers else v for k, v in row.items() if v} for row in rows]
        other.write_text("".join(json.dumps(row) + "\n" for row in found))
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        pa = pytest.importorskip("pyarrow")
        columns = {k: [r[k] or None for r in rows] for k in rows[0]}
        columns |= {k: [None if x is None else float(x) for x in columns[k]] for k in numbers}
        parquet.write_table(pa.table(columns), other)
    vwlite("train", other, *BENT, "-m", tmp_path / "other.m")
    exported = (vwlite("export", m, "--to", "tsv", "-o", "-").out for m in (of_bent, tmp_path / "other.m"))
    weights = [text.splitlines()[2:] for text in exported]
    assert weights[0] == weights[1] and len(weights[0]) > 100
    predicted = {vwlite("predict", "-m", of_bent, path).out for path in (bent, other)}
    assert len(predicted) == 1
    text = tmp_path / "text.vw"
    text.write_text(vwlite("convert", bent, "--label", "y").out)
    assert vwlite("predict", "-m", of_bent, text).out in predicted


def test_threads_and_caches_change_nothing(vwlite, bent, of_bent, tmp_path):
    cached = ["--cache-file", tmp_path / "cache"]
    for name, options in ("a", ["--threads", 1]), ("b", ["--threads", 3, *cached]), ("c", cached):
        assert "not used" not in vwlite("train", bent, *BENT, "-m", tmp_path / name, *options).err
        assert (tmp_path / name).read_bytes() == of_bent.read_bytes()
    others = vwlite("train", bent, "--label", "y", "--derive", "none", "-m", tmp_path / "e", *cached).err
    assert "is not used: " in others and "it is rebuilt" in others


def test_names_of_derived_features_are_shown_without_names(vwlite, bent, of_bent):
    rows = [line.split("\t") for line in vwlite("weights", of_bent).out.splitlines()]
    assert all(len(row) == 3 for row in rows if float(row[1]) and "w=" not in row[-1])
    assert any("^w=d%5E" in row[-1] for row in rows)
    explained = vwlite("explain", "-m", of_bent, bent, "--json").out
    assert "x^x~" in explained and "#" not in explained


def test_names_of_derived_features_are_found_and_counted(vwlite, bent, of_bent, tmp_path):
    """Before names of data are added, and after."""
    m = tmp_path / "m"  # as training left it before names of columns
    m.write_bytes(to_bytes(replace(read_model(str(of_bent)), names=NONE), "m"))
    derived = vwlite("weights", m, "--contains", "~")
    assert derived.out and "names of derived features only: vwlite names adds" in derived.err
    named = re.match(r"(\d+) of (\d+) features with a weight have a name, 100.0%", vwlite("names", m, bent).err)
    facts = json.loads(vwlite("info", m, "--json").out)
    assert named is not None and named[1] == named[2] == str(facts["named_features"])
    assert facts["named_share_of_l1_norm"] == 1
    found = vwlite("weights", m, "--contains", "~")
    assert found.out == derived.out and not found.err


def test_a_model_goes_on(vwlite, bent, of_bent, tmp_path):
    vwlite("train", bent, "--label", "y", "-i", of_bent, "-m", tmp_path / "more")
    assert vwlite("info", tmp_path / "more").out.count("derived") == 1


def of_products(path: Path, n: int, *, sharp: bool) -> Path:
    """Rows of three numbers, whose label depends on the product of the first two; sharp: on its sign."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(n, 3))
    product = x[:, 0] * x[:, 1]
    y = rng.random(n) < 1 / (1 + np.exp(-2 * (np.sign(product) if sharp else product)))
    rows = ([*(f"{v:.4f}" for v in row), int(label)] for row, label in zip(x, y, strict=True))
    return written(path, ["a", "b", "c", "y"], rows)


def resolutions_of_pairs(model: Path) -> list[int]:
    products = read_model(str(model)).settings.derived.products
    assert {tuple(c for c, _ in product) for product in products} == {(0, 1)}
    return sorted(k for product in products for k in {k for _, k in product})


@pytest.mark.parametrize("sharp", [True, False])
def test_pairs_with_sharp_corners_get_more_knots(vwlite, tmp_path, monkeypatch, sharp):
    """The first resolution is that with the largest gain; the next one is finer, where the residuals still need it."""
    train, test = of_products(tmp_path / "a.csv", 2000, sharp=sharp), of_products(tmp_path / "b.csv", 3000, sharp=sharp)
    losses = []
    for name in ("finer", "first"):
        vwlite("train", train, "--label", "y", "--derive", "pairs", "-m", tmp_path / name)
        found = json.loads(vwlite("evaluate", "-m", tmp_path / name, test, "--json").out)
        losses.append(found["measures"]["log_loss"]["value"])
        monkeypatch.setattr("vwlite.training.auto.derive.Stages._finer", lambda self, pairs: None)
    finer, first = (resolutions_of_pairs(tmp_path / name) for name in ("finer", "first"))
    if not sharp:
        assert finer == first and losses[0] == losses[1]
        return
    assert finer[:-1] == first and finer[-1] > max(first)
    assert losses[0] < losses[1] - 0.01


@pytest.mark.parametrize("columns", [15, 500])
def test_pairs_of_columns_that_are_left_out_count(monkeypatch, columns):
    """A gain is significant above the logarithm of the number of gains, those of pairs that were not screened included:
    of noise in many columns, the ones with the largest gains alone have pairs with a gain by chance."""
    gains = [(gain, (0, 1), 4) for gain in (14.0, 12.0, 9.0, 6.0)]
    monkeypatch.setattr(Stages, "_gains", lambda *_: gains)
    screened = [*combinations(range(min(columns, 100)), 2)]
    found = object.__new__(Stages)._screened(None, [None] * columns, screened, RESOLUTIONS)
    pairs = columns * (columns - 1) / 2
    assert [x[0] for x in found] == [x[0] for x in gains if x[0] >= max(5, math.log(pairs * len(RESOLUTIONS)))]
    assert len(found) == (3 if columns == 15 else 1)


@pytest.mark.parametrize("classes", [2, 3])
def test_new_products_of_a_model_that_goes_on_begin_with_the_scale_1(vwlite, tmp_path, classes):
    """Then the first example moves them all alike, however small their values are: by u M x / (|g x| N)."""
    rows = [[*row[:3], row[3] if classes == 2 or i % 3 else "perhaps"] for i, row in enumerate(bent_rows())]
    path = written(tmp_path / "d.csv", ["x", "z", "w", "y"], rows)
    typed = ["--label", "y", *(["--classes", "no,yes,perhaps"] if classes == 3 else [])]
    vwlite("train", path, *typed, "--derive", "auto", "-m", tmp_path / "m")
    one = written(tmp_path / "one.csv", ["x", "z", "w", "y"], [["0.1", "0.05", "new", "yes"]])
    vwlite("train", one, "-i", tmp_path / "m", "-m", tmp_path / "more")
    before, after = (read_model(str(tmp_path / name)) for name in ("m", "more"))
    names, new = after.derived_names, ~np.isin(after.keys, before.keys)
    new &= [names.get(key, (b"", ""))[0].endswith(b"^w=*") for key in after.keys]
    scales, weights = (np.array(x).reshape(len(new), -1)[new] for x in (after.state["N"], after.weights))
    # To a model that is applied, the word is absent; the values are the same.
    values = [float(v) for v in re.findall(r"\^w\?:(\S+)", vwlite("convert", one, "-m", tmp_path / "m").out)]
    assert len(weights) > 3 and max(values) > 5 * min(values)
    assert (scales == 1).all() and np.ptp(weights, axis=0) == pytest.approx(0, abs=1e-5 * abs(weights).max())


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--algorithm", "gd", "--derive", "auto"], "--derive needs --algorithm auto"),
        (["--derive", "none", "--pairs", "3"], "--pairs needs --derive pairs or auto, and not none"),
        (["--derive", "curves", "--pairs", "3"], "--pairs needs --derive pairs or auto, and not curves"),
    ],
)
def test_what_is_refused(vwlite, bent, options, why):
    found = vwlite("train", bent, "--label", "y", *options, code=2)
    assert why in found.err


def test_text_without_columns_is_refused(vwlite, tmp_path):
    (tmp_path / "d.vw").write_text("1 |a x\n")
    assert "for columns of tables" in vwlite("train", tmp_path / "d.vw", "--derive", "auto", code=2).err


@pytest.mark.parametrize("kind", ["sql", "vw"])
def test_exports_that_cannot_derive_refuse(vwlite, of_bent, kind):
    assert "derived from its columns" in vwlite("export", of_bent, "--to", kind, "-o", "-", code=65).err


def test_python_predicts_what_the_command_does(vwlite, bent, of_bent):
    """From frames and from lines of VW text and JSON."""
    pa_csv = pytest.importorskip("pyarrow.csv")
    expected = [float(x) for x in vwlite("predict", "-m", of_bent, bent).out.split()]
    model = load_model(of_bent)
    frame = pa_csv.read_csv(bent)
    assert model.predict_proba(frame)[:, 1] == pytest.approx(expected, abs=1e-6)
    text = vwlite("convert", bent, "--label", "y").out.splitlines()
    assert [*model.predict_lines(text)] == pytest.approx(expected, abs=1e-6)
    objects = [json.dumps({k: row[k] for k in "xzw"}) for row in frame.to_pylist()]
    assert [*model.predict_lines(objects)] == pytest.approx(expected, abs=1e-6)


@pytest.fixture(scope="module")
def visits(tmp_path_factory) -> Path:
    """A label that needs hours of working days, and months of one kind of visitors."""
    rng = np.random.default_rng(9)
    rows = []
    for i in range(2500):
        time = datetime(2025, 1, 1) + timedelta(minutes=int(rng.integers(0, 525_600)))
        who = "ab"[rng.integers(0, 2)]
        works = (8 <= time.hour < 18) != (time.isoweekday() > 5)
        score = 3 * works - 1.5 + (1.5 if (who == "a") == (time.month < 7) else -1.5)
        at = "" if i % 50 == 0 else time.isoformat()
        rows.append([at, who, "yes" if rng.random() < 1 / (1 + np.exp(-score)) else "no"])
    return written(tmp_path_factory.mktemp("visits") / "visits.csv", ["at", "who", "y"], rows)


OF_TIME = ["--label", "y", "--time", "at"]


@pytest.fixture(scope="module")
def of_visits(visits, tmp_path_factory):
    """A model, and what the program said."""
    model = tmp_path_factory.mktemp("model") / "m"
    return model, run_here("train", visits, *OF_TIME, "--derive", "auto", "-m", model)


def test_hours_weekdays_and_months_are_in_pairs(vwlite, visits, of_visits):
    plain = vwlite("train", visits, *OF_TIME, "--derive", "none")
    model, found = of_visits
    assert loss(found) < 0.8 * loss(plain) and "\nfeatures: 2 pairs" in found.err
    names = vwlite("weights", model).out
    assert "\tat^at.hour=13^at.weekday=6" in names and "^who=" in names


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "vw"])
def test_every_format_has_the_same_times(vwlite, visits, of_visits, tmp_path, kind):
    model, _ = of_visits
    with visits.open(newline="") as f:
        rows = list(csv.DictReader(f))
    other = tmp_path / f"data.{kind}"
    if kind == "jsonl":
        other.write_text("".join(json.dumps({k: v for k, v in row.items() if v}) + "\n" for row in rows))
    elif kind == "vw":
        other.write_text(vwlite("convert", visits, *OF_TIME).out)
    else:
        parquet, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
        columns = {k: [r[k] or None for r in rows] for k in rows[0]}
        columns["at"] = [datetime.fromisoformat(x) if x else None for x in columns["at"]]
        parquet.write_table(pa.table(columns), other)
    if kind != "vw":
        vwlite("train", other, *OF_TIME, "--derive", "auto", "-m", tmp_path / "other")
        models = [read_model(str(path)) for path in (model, tmp_path / "other")]
        assert [*models[0].weights] == [*models[1].weights]
    assert len({vwlite("predict", "-m", model, path).out for path in (visits, other)}) == 1


def test_triples_are_found_by_auto_alone(vwlite, tmp_path):
    """The label is the product of three signs, which no pair knows; a weaker pair leads to it."""
    rng = np.random.default_rng(4)
    a, b, c = (rng.integers(0, 2, 3000) for _ in range(3))
    y = np.where(rng.random(3000) < 0.9, (a ^ b) & c, rng.integers(0, 2, 3000))
    rows = [[f"a{i}", f"b{j}", f"c{k}", "yes" if label else "no"] for i, j, k, label in zip(a, b, c, y, strict=True)]
    path = written(tmp_path / "signs.csv", ["a", "b", "c", "y"], rows)
    pairs = vwlite("train", path, "--label", "y", "--derive", "pairs").err
    triples = vwlite("train", path, "--label", "y", "--derive", "auto").err
    assert "pair" in pairs and "triple" not in pairs and "1 triple" in triples
    none = vwlite("train", path, "--label", "y", "--derive", "auto", "--pairs", "0").err
    assert "features:" not in none  # nothing was tried


def test_texts_get_more_than_words(vwlite, reviews, tmp_path):
    words = vwlite("train", reviews, *OF_TEXT, "--derive", "none", "-m", tmp_path / "words")
    found = vwlite("train", reviews, *OF_TEXT, "--derive", "auto", "-m", tmp_path / "found", "--names")
    assert "\nfeatures: n-grams of 1 text; log loss without" in found.err and loss(found) < 0.9 * loss(words)
    assert "\n  derived" not in vwlite("info", tmp_path / "found").out
    names = vwlite("weights", tmp_path / "found").out
    assert "review^~ella\n" in names and "review^not_good\n" in names
    typed = vwlite("train", reviews, *OF_TEXT, "--derive", "auto", "--ngram", "2")
    assert "derived" not in typed.err


@pytest.mark.parametrize("words", [["day", "night"], [""]])
def test_texts_that_words_suffice_for_have_no_more(vwlite, tmp_path, words):
    """Not even other folds, by punctuation marks or by how many n-grams there are."""
    rng = np.random.default_rng(6)
    rows = [[f"{a} {b}{end}", "yes" if rng.random() < (0.9 if a == "good" else 0.1) else "no"]
            for a, b, end in zip(rng.choice(["good", "bad"], 800), rng.choice(words, 800),
                                 rng.choice(["", "!", "..."], 800), strict=True)]
    path = written(tmp_path / "texts.csv", ["review", "y"], rows)
    for kind in ("none", "auto"):
        vwlite("train", path, *OF_TEXT, "--derive", kind, "-m", tmp_path / kind)
    models = [read_model(str(tmp_path / kind)) for kind in ("none", "auto")]
    assert [*models[0].weights] == [*models[1].weights] and models[0].columns == models[1].columns
    assert models[0].chosen == models[1].chosen


def in_format(path: Path, folder: Path, kind: str) -> Path:
    with path.open(newline="") as f:
        rows = list(csv.DictReader(f))
    other = folder / f"data.{kind}"
    if kind == "jsonl":
        other.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        parquet, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
        parquet.write_table(pa.table({k: [r[k] for r in rows] for k in rows[0]}), other)
    return other


MANY = ["--oaa", "2", "--classes", "auto"]


@pytest.fixture(scope="module")
def of_reviews(reviews, tmp_path_factory):
    """Models of them, of two labels and of classes."""
    folder = tmp_path_factory.mktemp("reviews")
    for name, options in (("m", []), ("k", MANY)):
        run_here("train", reviews, *OF_TEXT, "--derive", "auto", "-m", folder / name, *options)
    return folder


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_every_format_has_the_same_texts(vwlite, reviews, of_reviews, tmp_path, kind):
    other = in_format(reviews, tmp_path, kind)
    vwlite("train", other, *OF_TEXT, "--derive", "auto", "-m", tmp_path / "m")
    models = [read_model(str(folder / "m")) for folder in (of_reviews, tmp_path)]
    assert [*models[0].weights] == [*models[1].weights] and len(models[0].weights) > 1000
    predicted = {vwlite("predict", "-m", of_reviews / "m", path).out for path in (reviews, other)}
    expected = [float(x) for x in predicted.pop().split()]
    assert not predicted
    pa_csv = pytest.importorskip("pyarrow.csv")
    found = load_model(of_reviews / "m").predict_proba(pa_csv.read_csv(reviews))[:, 1]
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_every_format_has_the_same_texts_of_classes(vwlite, reviews, of_reviews, tmp_path, kind):
    other = in_format(reviews, tmp_path, kind)
    assert "n-grams" in vwlite("train", other, *OF_TEXT, "--derive", "auto", "-m", tmp_path / "k", *MANY).err
    models = [read_model(str(folder / "k")) for folder in (of_reviews, tmp_path)]
    assert [*models[0].weights] == [*models[1].weights]
    assert len({vwlite("predict", "-m", of_reviews / "k", path).out for path in (reviews, other)}) == 1


# --- a file to validate with --------------------------------------------------------------------


def signs(path: Path, n: int, seed: int, turned: float, kept: float, classes: bool = False) -> Path:
    """Two pairs of columns whose product tells the label, each with this strength and direction."""
    rng = np.random.default_rng(seed)
    a, b, c, d = rng.choice([-1, 1], (4, n))
    score = turned * a * b + kept * c * d
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")
    if classes:
        y = np.where(rng.random(n) < 0.2, "never", y)
    columns = [[f"{name}{x}" for x in values] for name, values in zip("abcd", (a, b, c, d), strict=True)]
    return written(path, ["a", "b", "c", "d", "y"], zip(*columns, y, strict=True))


def pairs_of(path: Path) -> set[str]:
    derived = read_model(path).settings.derived
    if derived is None:
        return set()
    return {"".join(derived.columns[c].name for c, _ in product) for product in derived.products}


@pytest.mark.parametrize("classes", [False, True])
def test_a_pair_that_has_turned_round_is_not_taken(vwlite, tmp_path, classes):
    """It helps in folds of the rows that are learned, and does harm on later ones. The other pair helps on both."""
    train, later = (
        signs(tmp_path / f"{name}.csv", n, seed, turned, 1.0, classes)
        for name, n, seed, turned in (("train", 4000, 1, 1.0), ("later", 2000, 2, -0.8))
    )
    how = ("--label", "y", "--derive", "auto", *(("--classes", "auto") if classes else ()))
    vwlite("train", train, *how, "-m", tmp_path / "folds")
    found = vwlite("train", train, *how, "--validate", later, "-m", tmp_path / "later.m")
    assert pairs_of(tmp_path / "folds") >= {"ab", "cd"}
    assert "features: 1 pair; log loss without them " in found.err
    assert pairs_of(tmp_path / "later.m") == {"cd"}


def test_a_stage_that_does_harm_on_later_rows_is_not_taken(vwlite, tmp_path):
    """However many rows the file has: with more than those learned, each pattern of it is seen."""
    train = signs(tmp_path / "train.csv", 1000, 1, 1.0, 0.0)
    later = signs(tmp_path / "later.csv", 8000, 2, -1.0, 0.0)
    found = vwlite("train", train, "--label", "y", "--derive", "auto", "--validate", later, "-m", tmp_path / "m")
    assert "derived" not in found.err and pairs_of(tmp_path / "m") == set()


def test_curves_and_pairs_are_validated(vwlite, bent, tmp_path):
    """The same for any number of threads, and with validation rows that lack a column or have new words."""
    lines = bent.read_text().splitlines(keepends=True)
    (tmp_path / "train.csv").write_text("".join(lines[:1001]))
    (tmp_path / "later.csv").write_text("".join([lines[0], *lines[1001:]]).replace("b c", "new", 20))
    how = ("--label", "y", "--validate", tmp_path / "later.csv")
    plain, *derived = (
        vwlite("train", tmp_path / "train.csv", *how, *options, "-m", tmp_path / f"m{i}")
        for i, options in enumerate([("--derive", "none"), ("--derive", "auto", "--threads", 1),
                                     ("--derive", "auto", "--threads", 3)])
    )
    assert loss(derived[0]) < 0.8 * loss(plain)
    assert (tmp_path / "m1").read_bytes() == (tmp_path / "m2").read_bytes()
    again = json.loads(vwlite("evaluate", "-m", tmp_path / "m1", tmp_path / "later.csv", "--json").out)
    assert again["measures"]["log_loss"]["value"] < loss(derived[0]) + 0.03


def test_texts_are_validated(vwlite, reviews, tmp_path):
    lines = reviews.read_text().splitlines(keepends=True)
    (tmp_path / "train.csv").write_text("".join(lines[:701]))
    (tmp_path / "later.csv").write_text("".join([lines[0], *lines[701:]]))
    found = vwlite("train", tmp_path / "train.csv", *OF_TEXT, "--derive", "auto", "--validate", tmp_path / "later.csv")
    assert "features: n-grams of 1 text; log loss without them " in found.err


@pytest.mark.parametrize(("kind", "words"), [("curves", "curves"), ("auto", "curves and pairs")])
def test_the_summary_says_that_nothing_helps(vwlite, tmp_path, kind, words):
    rng = np.random.default_rng(8)
    rows = [[*(f"{x:.3f}" for x in rng.normal(size=3)), f"{rng.random() < 0.5:d}"] for _ in range(120)]
    path = written(tmp_path / "noise.csv", ["a", "b", "c", "y"], rows)
    assert f"\nfeatures: as given; {words} do not help\n" in vwlite("train", path, "--label", "y", "--derive", kind).err
