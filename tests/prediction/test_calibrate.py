"""`vwlite calibrate`, what uses its models, and the labels of `predict --threshold`."""

import json
import math
import random

import numpy as np
import pytest
from running import shell

from vwlite import SparseClassifier, load_model
from vwlite.model.read import read_model
from vwlite.prediction import calibrate as calibration

METHODS = ("platt", "isotonic")
GD = ("--algorithm", "gd", "--loss", "logistic", "--quiet")


def lines(seed, n, labels=("-1", "1"), step=0.01):
    """Examples of two labels, the scores of which have ties; every fifth has no label."""
    draw = random.Random(seed)
    for i in range(n):
        x = [round(draw.gauss(0, 1) / step) * step for _ in range(2)]
        label = labels[draw.random() < 1 / (1 + math.exp(1.5 - 2 * x[0] + x[1]))]
        start = f"{label} {draw.choice([0.5, 1, 3])}" if i % 5 else ""
        yield f"{start} t{i}|f a:{x[0]:.3f} b:{x[1]:.3f}\n"


@pytest.fixture
def data(folder, vwlite):
    (folder / "train.vw").write_text("".join(lines(1, 2000)))
    (folder / "data.vw").write_text("".join(lines(2, 3000)))
    vwlite("train", "train.vw", *GD, "--class-weight=-1:1,1:8", "-m", "plain.model")
    return folder


def rows(vwlite, model, data="data.vw", *options):
    """Scores or probabilities, labels, importances, of the examples with a label."""
    out = vwlite("predict", "-m", model, data, "--quiet", "--output-format", "json", *options).out
    found = [json.loads(line) for line in out.splitlines()]
    weights = [line.split() for line in open(data)]
    kept = [(row, float(w[1])) for row, w in zip(found, weights, strict=True) if row["label"] is not None]
    return *(np.array([row[name] for row, _ in kept]) for name in ("score", "probability", "label")), np.array(
        [w for _, w in kept]
    )


def clipped_scores(model, data="data.vw"):
    """The scores before a map, with all digits."""
    return np.array(list(load_model(model, link="identity").predict_lines(open(data))))


def measures(p, y, w):
    """Log loss and Brier score."""
    t = (y > 0).astype(float)
    return np.average(-np.log(np.where(t > 0, p, 1 - p)), weights=w), np.average((p - t) ** 2, weights=w)


@pytest.mark.parametrize("method", METHODS)
def test_the_map_is_that_of_scikit_learn(vwlite, data, method):
    from sklearn.calibration import _SigmoidCalibration
    from sklearn.isotonic import IsotonicRegression

    out = vwlite("calibrate", "-m", "plain.model", "data.vw", "--method", method, "-o", "new.model", "--json").out
    result = json.loads(out)
    *_, y, w = rows(vwlite, "plain.model")
    _, after, _, _ = rows(vwlite, "new.model")
    labelled = np.array([not line.startswith(" ") for line in open("data.vw")])
    scores = clipped_scores("plain.model")[labelled]
    mapped = 1 / (1 + np.exp(-clipped_scores("new.model")[labelled]))
    if method == "platt":
        expected = _SigmoidCalibration().fit(scores, y, w).predict(scores)
        tolerance = 1e-4  # scikit-learn stops early
    else:
        expected = IsotonicRegression().fit(scores, y > 0, w).predict(scores)
        expected = np.clip(expected, 1 / (len(y) + 2), 1 - 1 / (len(y) + 2))
        tolerance = 1e-9
    assert np.abs(mapped - expected).max() < tolerance
    assert np.abs(mapped - after).max() < 1e-6
    assert result["rows"] == len(y)
    assert result["positive"] == (y > 0).sum()
    for name, p in (("before", 1 / (1 + np.exp(-scores))), ("after", mapped)):
        assert [result[name]["log_loss"], result[name]["brier"]] == pytest.approx(measures(p, y, w), rel=1e-9)
    assert result["after"]["log_loss"] < result["before"]["log_loss"] - 0.1
    # Each bin has a seventh of the importance
    order = np.argsort(scores, kind="stable")
    bins = np.array_split(order, 7)
    assert result["after"]["observed"] == pytest.approx([np.average(y[b] > 0, weights=w[b]) for b in bins], abs=0.05)
    assert result["after"]["predicted"] == pytest.approx(result["after"]["observed"], abs=0.1)


def test_platt_is_a_minimum(vwlite, data):
    """Where scikit-learn stops early, the derivative says what is right."""
    vwlite("calibrate", "-m", "plain.model", "data.vw", "-o", "new.model")
    *_, y, w = rows(vwlite, "plain.model")
    labelled = np.array([not line.startswith(" ") for line in open("data.vw")])
    s = clipped_scores("plain.model")[labelled]
    p = 1 / (1 + np.exp(-clipped_scores("new.model")[labelled]))
    positive, negative = w[y > 0].sum(), w[y < 0].sum()
    goal = np.where(y > 0, (positive + 1) / (positive + 2), 1 / (negative + 2))
    assert abs((w * (p - goal)).sum()) < 1e-6
    assert abs((w * (p - goal) * s).sum()) < 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_every_reader_uses_the_map(vwlite, data, method):
    shown = vwlite("calibrate", "-m", "plain.model", "data.vw", "--method", method, "-o", "new.model").out
    assert [len(line) <= 80 for line in shown.splitlines()] == [True] * 7
    assert read_model("new.model").format == 4
    text = vwlite("predict", "-m", "new.model", "data.vw", "--link", "logistic", "-r", "raw").out
    raw = open("raw").read()
    vwlite("predict", "-m", "plain.model", "data.vw", "-r", "raw", "-o", "before")
    assert raw == open("raw").read()
    assert text != open("before").read()
    loaded = list(load_model("new.model", link="logistic").predict_lines(open("data.vw")))
    assert loaded == pytest.approx([float(line.split()[0]) for line in text.splitlines()], abs=1e-6)
    y, w = rows(vwlite, "new.model")[2:]
    p = 1 / (1 + np.exp(-clipped_scores("new.model")))[[not line.startswith(" ") for line in open("data.vw")]]
    evaluated = json.loads(vwlite("evaluate", "-m", "new.model", "data.vw", "--json").out)["measures"]
    assert [evaluated[name]["value"] for name in ("log_loss", "brier")] == pytest.approx(measures(p, y, w), rel=1e-9)
    assert "points" in vwlite("info", "new.model", "--json").out
    assert "before their map" in vwlite("weights", "new.model").err
    assert "a model, whole" in vwlite("check", "new.model").out
    for kind in ("tsv", "json"):
        vwlite("export", "new.model", "--to", kind, "-o", "table")
        vwlite("import", "table", "-m", "again.model")
        assert vwlite("predict", "-m", "again.model", "data.vw", "--link", "logistic").out == text
    vwlite("names", "new.model", "data.vw", "-o", "named.model")
    assert vwlite("predict", "-m", "named.model", "data.vw", "--link", "logistic").out == text
    # A second time, it is the map of the scores that had none.
    vwlite("calibrate", "-m", "new.model", "data.vw", "--method", method, "-o", "twice.model", "--threads", "1")
    assert open("twice.model", "rb").read() == open("new.model", "rb").read()


@pytest.mark.parametrize(
    "command",
    [
        ("train", "data.vw", "-i", "new.model", "-m", "x"),
        ("solve", "data.vw", "-i", "new.model", "-m", "x"),
        ("solve", "data.vw", "-i", "new.model", "-m", "x", "--shards", "2"),
        ("certify", "-m", "new.model", "data.vw", "--l1", "0.1"),
        ("merge", "plain.model", "new.model", "-o", "x"),
        ("merge", "plain.model", "--start", "new.model", "-o", "x"),
        *(("export", "new.model", "--to", kind, "-o", "x") for kind in ("vw", "sql", "c", "python")),
    ],
    ids=" ".join,
)
def test_what_cannot_use_the_map_says_so(vwlite, data, command):
    vwlite("calibrate", "-m", "plain.model", "data.vw", "-o", "new.model")
    found = vwlite(*command, code=65)
    assert "new.model: was made by vwlite calibrate" in found.err
    assert not (data / "x").exists()


def test_an_estimator_does_not_begin_with_a_calibrated_model(vwlite, data):
    vwlite("calibrate", "-m", "plain.model", "data.vw", "-o", "new.model")
    with pytest.raises(ValueError, match=r"new\.model: was made by vwlite calibrate"):
        SparseClassifier(initial="new.model").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("train", "text", "code", "said"),
    [
        (("--algorithm", "gd", "--oaa", "3"), "1 |f a\n2 |f b\n", 2, "is a model of --loss squared"),
        (("--algorithm", "gd", "--loss", "squared"), "1 |f a\n2 |f b\n", 2, "is a model of --loss squared"),
        (("--algorithm", "gd", "--loss", "hinge"), "1 |f a\n-1 |f b\n", 2, "is a model of --loss hinge"),
        (GD, "", 65, "no example has a label for m: nothing"),
        (GD, "|f a\n", 65, "no example has a label for m: nothing"),
        (GD, "3 |f a\n", 65, "it does not know 3"),
        (GD, "1 0 |f a\n", 65, "no example has a label"),
        (GD, "1 |f a\n1 |f b\n", 65, "every label is 1: calibration needs examples of both labels"),
        ((*GD, "--labels", "ham,spam"), "ham |f a\nham |f b\n", 65, "every label is ham: "),
        (GD, "1 |f a\n-1 |f a\n", 65, "the same score"),
        (GD, "1 1e308 |f a\n-1 1e308 |f b\n1 1e308 |f c\n", 65, "too large"),
        (GD, "1 |f a\nx |f b\n", 65, "data.vw:2:1: "),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_bad_input(vwlite, folder, train, text, code, said, method):
    one, other = ("ham", "spam") if "--labels" in train else ("1", "2") if "--oaa" in train else ("-1", "1")
    (folder / "train.vw").write_text(f"{one} |f a\n{other} |f b\n{other} |f a b\n")
    vwlite("train", "train.vw", *train, "-m", "m")
    (folder / "data.vw").write_text(text)
    found = vwlite("calibrate", "-m", "m", "data.vw", "-o", "new", "--method", method, code=code)
    assert said in found.err
    assert "Traceback" not in found.err
    assert not (folder / "new").exists()


def test_bins_of_many_rows_are_near(vwlite, data, monkeypatch):
    out = {}
    for most in (10**6, 300):
        monkeypatch.setattr(calibration, "MOST_ROWS", most)
        for threads in (1, 3):
            found = vwlite("calibrate", "-m", "plain.model", "data.vw", "-o", "new", "--json", "--threads", threads)
            out[most, threads] = json.loads(found.out), open("new", "rb").read()
            assert ("rounded" in found.err) == (most == 300)
        assert out[most, 1] == out[most, 3]
    exact, near = out[10**6, 1][0], out[300, 1][0]
    assert near["rows"] == exact["rows"]
    assert near["after"]["brier"] == pytest.approx(exact["after"]["brier"], rel=1e-3)


def test_more_pools_than_a_model_keeps_are_joined(vwlite, data, monkeypatch):
    monkeypatch.setattr(calibration, "MOST_POINTS", 20)
    command = ("calibrate", "-m", "plain.model", "data.vw", "-o", "new", "--method", "isotonic", "--json")
    found = json.loads(vwlite(*command).out)
    kept = read_model("new").calibration
    assert 10 <= len(kept["scores"]) <= 20
    assert kept["values"] == sorted(kept["values"])
    assert found["after"]["log_loss"] < found["before"]["log_loss"] - 0.1


@pytest.mark.parametrize("labels", [None, ("0", "1"), ("ham", 'sp"am')])
def test_labels_by_a_threshold(vwlite, folder, labels):
    words = labels or ("-1", "1")
    (folder / "data.vw").write_text("".join(lines(3, 500, words)) + "\n")
    vwlite("train", "data.vw", *GD, *(["--labels", ",".join(labels)] if labels else []), "-m", "m")
    p = list(load_model("m", link="logistic").predict_lines(open("data.vw")))[:-1]
    expected = [words[x >= 0.3] for x in p]
    found = vwlite("predict", "-m", "m", "data.vw", "--threshold", "0.3")
    assert found.out.splitlines() == [*(f"{label} t{i}" for i, label in enumerate(expected)), ""]
    assert "accuracy" not in found.err
    out = vwlite("predict", "-m", "m", "data.vw", "--threshold", "0.3", "--output-format", "json").out
    typed = [json.loads(line)["prediction"] for line in out.splitlines()]
    assert typed == [*(label if labels and labels[0] == "ham" else float(label) for label in expected), None]


def test_a_model_without_probabilities_has_a_threshold_of_scores(vwlite, folder):
    (folder / "data.vw").write_text("".join(lines(3, 500)))
    vwlite("train", "data.vw", "--algorithm", "gd", "--loss", "hinge", "-m", "m")
    scores = vwlite("predict", "-m", "m", "data.vw").out.splitlines()
    found = vwlite("predict", "-m", "m", "data.vw", "--threshold", "-0.2").out.splitlines()
    assert [line.split()[0] for line in found] == ["1" if float(x.split()[0]) >= -0.2 else "-1" for x in scores]


@pytest.mark.parametrize(
    ("train", "threshold", "said"),
    [
        (("--loss", "squared"), "0.3", "--threshold is for models of two labels, and m is not one"),
        (("--oaa", "2"), "0.3", "--threshold is for models of two labels, and m is not one"),
        (("--loss", "logistic"), "1.5", "--threshold 1.5 is no probability"),
        (("--loss", "logistic"), "nan", "--threshold"),
    ],
)
def test_a_threshold_that_makes_no_sense(vwlite, folder, train, threshold, said):
    (folder / "data.vw").write_text("1 |f a\n1 |f b\n")
    vwlite("train", "data.vw", "--algorithm", "gd", *train, "-m", "m")
    assert said in vwlite("predict", "-m", "m", "data.vw", f"--threshold={threshold}", code=2).err


@pytest.mark.parametrize("options", [(), ("--algorithm", "ftrl", "--loss", "logistic", "--normalize", "center")])
def test_tables_and_scaled_models(vwlite, folder, options):
    """Models of auto, and centered ones, whose weights are for other values; from a pipe too."""
    pandas = pytest.importorskip("pandas")
    draw = random.Random(5)
    text = ["clicked,device,price\n"]
    for _ in range(1500):
        price = draw.gauss(100, 20)
        clicked = draw.random() < 1 / (1 + math.exp((100 - price) / 10))
        text.append(f"{('no', 'yes')[clicked]},{draw.choice('ab')},{price:.2f}\n")
    (folder / "data.csv").write_text("".join(text))
    weights = ("--class-weight", "yes:5", "--labels", "no,yes", "--quiet")
    vwlite("train", "data.csv", "--label", "clicked", *options, *weights, "-m", "m")
    found = json.loads(vwlite("calibrate", "-m", "m", "data.csv", "-o", "new", "--json").out)
    assert found["after"]["brier"] < found["before"]["brier"] - 0.01
    (folder / "new").unlink()
    piped = shell("set -e; cat data.csv | vwlite calibrate -m m -o new --json").out
    assert json.loads(piped) == found
    frame = pandas.read_csv("data.csv")
    p = load_model("new").predict_proba(frame)[:, 1]
    shown = vwlite("predict", "-m", "new", "data.csv", "--link", "logistic", "--quiet").out.split()
    assert p == pytest.approx([float(x) for x in shown], abs=1e-6)
    # Programs have the line of platt in their weights; isotonic is none.
    vwlite("names", "new", "data.csv", "-o", "named")
    vwlite("export", "named", "--to", "python", "-o", "program.py")
    printed = shell("python3 program.py < data.csv").out.split()
    assert [float(x) for x in printed] == pytest.approx([float(x) for x in shown], abs=1e-6)
    vwlite("calibrate", "-m", "m", "data.csv", "--method", "isotonic", "-o", "other")
    assert "all but vw have --method platt" in vwlite("export", "other", "--to", "python", "-o", "x", code=65).err


@pytest.mark.parametrize("method", METHODS)
def test_a_good_map_has_no_notes(vwlite, data, method):
    assert "note" not in vwlite("calibrate", "-m", "plain.model", "data.vw", "--method", method, "-o", "new").err


@pytest.mark.parametrize(("method", "words"), [("platt", "the map falls"), ("isotonic", "the same probability")])
def test_labels_the_other_way_round_are_said(vwlite, data, method, words):
    turned = {"-1": "1", "1": "-1"}
    parts = [line.partition(" ") for line in lines(2, 500)]
    (data / "turned.vw").write_text("".join(f"{turned.get(y, y)}{gap}{rest}" for y, gap, rest in parts))
    for name, is_said in (("data.vw", False), ("turned.vw", True)):
        done = vwlite("calibrate", "-m", "plain.model", name, "-o", "new", "--method", method)
        assert (words in done.err) == is_said
