"""`vwlite.evaluate` and `vwlite.report`, and scikit-learn's displays on the estimators."""

import json
import os
import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from tiers import drawn

pytest.importorskip("sklearn")
pd = pytest.importorskip("pandas")

from sklearn.calibration import CalibrationDisplay  # noqa: E402
from sklearn.metrics import RocCurveDisplay, accuracy_score, log_loss, r2_score, roc_auc_score  # noqa: E402

import vwlite  # noqa: E402
from vwlite import SparseClassifier, SparseRegressor, evaluate, report  # noqa: E402

chance = np.random.default_rng(5)
X = chance.normal(size=(300, 4)).astype(np.float32)
Y = (X[:, 0] + chance.normal(size=300) > 0).astype(int)
WORDS = np.where(Y, "spam", "ham")
FRAME = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, 'x,"y', "z"), "label": "new"})


def value(found, name):
    return found["measures"][name]["value"]


@pytest.mark.parametrize("loss", [None, "hinge"])
def test_a_probability_of_one_half_is_one_label_everywhere(vwlite, tmp_path, loss):
    """Of noise the intercept alone is learned, which is 0: the positive label, by all ways to a label."""
    rows = pd.DataFrame({"x": [i % 2 for i in range(160)], "k": ["ab"[i // 2 % 2] for i in range(160)]})
    labels = np.array(["yes" if i % 8 in (1, 2, 4, 7) else "no" for i in range(160)])
    options = {} if loss is None else {"loss": loss, "algorithm": "gd", "learning_rate": 1e-300}
    model = SparseClassifier(**options).fit(rows, labels)
    few, y = rows[:4], np.array(["yes", "yes", "yes", "no"])
    assert (model.decision_function(few) == 0).all()
    assert model.predict(few).tolist() == ["yes"] * 4
    assert value(evaluate(model, few, y), "accuracy") == model.score(few, y) == 0.75
    rows.assign(y=labels).to_csv(tmp_path / "train.csv", index=False)
    few.assign(y=y).to_csv(tmp_path / "few.csv", index=False)
    typed = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    typed += ["--label=y", "--labels=no,yes", "--quiet"]
    vwlite("train", tmp_path / "train.csv", *typed, "-m", tmp_path / "m")
    appended = vwlite("predict", "-m", tmp_path / "m", tmp_path / "few.csv", "--append", "--quiet").out.splitlines()
    assert [line.split(",")[3] for line in appended] == ["prediction"] + ["yes"] * 4
    found = json.loads(vwlite("evaluate", "-m", tmp_path / "m", tmp_path / "few.csv", "--json").out)
    assert value(found, "accuracy") == 0.75
    # A pickle of 0.2.0 decides as it did.
    path = Path(__file__).parents[1] / "golden/0.2.0/pickles/classifier.pickle"
    assert "_half_is_positive" not in vars(pickle.loads(path.read_bytes()))
    del model._half_is_positive
    assert model.predict(few).tolist() == ["no"] * 4


@pytest.mark.parametrize("rows, labels", [(X, Y), (X, WORDS), (FRAME, WORDS), (FRAME, Y)])
def test_two_labels(rows, labels, tmp_path):
    model = SparseClassifier().fit(rows, labels)
    p = model.predict_proba(rows)
    found = vwlite.evaluate(model, rows, labels)
    assert value(found, "log_loss") == pytest.approx(log_loss(labels, p), rel=1e-9)
    assert value(found, "auc") == pytest.approx(roc_auc_score(labels, p[:, 1]), rel=1e-9)
    model.save(tmp_path / "m")
    for other in (tmp_path / "m", vwlite.load_model(tmp_path / "m")):
        assert vwlite.evaluate(other, rows, labels) == found


def test_frames_of_other_libraries():
    model = SparseClassifier().fit(FRAME, WORDS)
    found = vwlite.evaluate(model, FRAME, WORDS)
    for module, convert in (("polars", "from_pandas"), ("pyarrow", "Table.from_pandas")):
        convert = attrgetter(convert)(pytest.importorskip(module))
        assert vwlite.evaluate(model, convert(FRAME), WORDS) == found


def test_numbers_and_classes():
    labels = X[:, 0] * 2 + chance.normal(size=300)
    model = SparseRegressor(algorithm="gd").fit(X, labels)
    assert value(vwlite.evaluate(model, X, labels), "r2") == pytest.approx(r2_score(labels, model.predict(X)), rel=1e-9)
    classes = np.where(X[:, 1] > 0, WORDS, "other")
    many = SparseClassifier(algorithm="gd").fit(X, classes)
    found = vwlite.evaluate(many, X, classes)
    assert value(found, "accuracy") == pytest.approx(accuracy_score(classes, many.predict(X)), rel=1e-9)
    assert set(found["classes"]) == set(classes)


def test_a_notebook_shows_an_evaluation_as_a_table():
    found = vwlite.evaluate(SparseClassifier().fit(FRAME, WORDS), FRAME, WORDS)
    shown = found._repr_html_()
    rows = re.findall('<tr><th scope="row">(.*?)</th><td>(.*?)</td>', shown)
    assert [name.replace(" ", "_") for name, _ in rows] == [*found["measures"]] and "300 rows" in shown
    assert all(abs(float(x) - value(found, name.replace(" ", "_"))) < 1e-3 for name, x in rows)
    assert json.loads(json.dumps(found)) == found  # it is still a dictionary


def test_options_are_those_of_the_command(tmp_path):
    model = SparseClassifier().fit(FRAME, WORDS)
    other = SparseClassifier(normalize="none").fit(FRAME, WORDS)
    found = vwlite.evaluate(model, FRAME, WORDS, threshold=0.3, by="b", against=other)
    assert found["threshold"]["threshold"] == 0.3
    assert set(found["by"]) == {'x,"y', "z"}
    assert set(found["difference"]) >= {"log_loss", "auc"}


def test_files(tmp_path):
    data = tmp_path / "t.libsvm"
    rows = [" ".join(f"{j}:{float(v)!r}" for j, v in enumerate(x)) for x in X]
    data.write_text("".join(f"{y} {row}\n" for y, row in zip(Y, rows, strict=True)))
    model = SparseClassifier().fit(X, Y)
    assert vwlite.evaluate(model, data) == vwlite.evaluate(model, [str(data)]) == vwlite.evaluate(model, X, Y)


def test_a_report_is_the_page_of_the_command(tmp_path):
    page = vwlite.report(SparseClassifier().fit(X, Y), X, Y, output=tmp_path / "page.html")
    assert page.startswith("<!DOCTYPE html>") and "What the rows with the highest scores hold" in page
    assert (tmp_path / "page.html").read_text() == page


@pytest.mark.parametrize("all_rows", [X * (X[:, :1] > -1), FRAME])  # of X, some rows are zero
def test_contributions_add_up_to_the_scores(all_rows):
    model, rows = SparseClassifier().fit(all_rows, WORDS), all_rows[:40]
    found = model.explain(rows, top=2)
    for row, score in zip(found, model.decision_function(rows), strict=True):
        terms = [row["base"], row["intercept"], row["others"]["contribution"]]
        terms += [c["contribution"] for c in row["contributions"]]
        assert len(row["contributions"]) <= 2
        assert score == pytest.approx(sum(terms), abs=1e-12 * (1 + sum(map(abs, terms))))
    assert len(model.weights_) == sum(1 for _, weight in model.weights_ if weight)
    assert max(abs(weight) for _, weight in model.weights_) == abs(model.weights_[0][1])


@pytest.mark.parametrize(
    "rows, labels, options, message",
    [
        (X, None, {}, "y is missing"),
        ([], None, {}, "y is missing"),  # not standard input
        (X, Y[:5], {}, "different numbers of rows"),
        (X, Y, {"trheshold": 1}, "unexpected keyword argument 'trheshold'"),
        (X, Y, {"by": "b"}, "by b: a matrix has no columns with names"),
        (X, WORDS, {}, "row 0: column y: label '(ham|spam)' is not a number"),
        (X, Y + 5, {}, r"labels of the data, [56] \(row 0\) and [56] \(row \d+\), do not match the model, .* 0 or 1"),
        (FRAME, Y, {}, "was not trained on a table"),
    ],
)
def test_bad_input(rows, labels, options, message):
    with pytest.raises(ValueError, match=message):
        vwlite.evaluate(SparseClassifier().fit(X, Y), rows, labels, **options)


def test_all_is_in_memory(monkeypatch):
    """No file, no command, nothing printed; so what is evaluated is what is predicted, also of booleans."""
    rows = FRAME.assign(c=X[:, 2] > 0)
    model = SparseClassifier(algorithm="gd").fit(rows, WORDS)

    def refuse(*arguments, **options):
        raise AssertionError(arguments)

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    monkeypatch.setattr("tempfile.mkstemp", refuse)
    monkeypatch.setattr("sys.stdout", None)
    found = vwlite.evaluate(model, rows, WORDS, by="c")
    assert value(found, "log_loss") == pytest.approx(log_loss(WORDS, model.predict_proba(rows)), rel=1e-9)
    assert {name: part["rows"] for name, part in found["by"].items()} == {
        "true": rows["c"].sum(), "false": (~rows["c"]).sum()}
    assert "vwlite-" not in vwlite.report(model, rows, WORDS)
    names = {c["name"] for row in model.explain(rows, top=9) for c in row["contributions"]}
    assert names == {"a^a", 'b^b=x,"y', "b^b=z", "label^label=new", "c^c=true", "c^c=false"}
    assert model._learned.model().names.keys.tolist() == []  # those of the page are not the model's


def test_labels_that_are_missing_or_unknown_are_left_out():
    labels = WORDS.astype(object)
    labels[::3], labels[1::30] = None, "eggs"
    model, some = SparseClassifier().fit(X, WORDS), ~np.isin(labels, [None, "eggs"])
    assert vwlite.evaluate(model, X, labels) == vwlite.evaluate(model, X[some], WORDS[some])


@pytest.mark.third
@pytest.mark.parametrize("options", [{}, {"hash": "all"}, {"quadratic": ["  "], "names": 99}, {"normalize": "l2"},
                                     {"loss": "hinge"}, {"algorithm": "auto"}])
@pytest.mark.parametrize("kind", ["two", "classes", "frame"])
def test_results_are_those_of_the_command(vwlite, tmp_path, kind, options):
    x, y = np.where(np.abs(X) < 0.2, 0, X), np.where(X[:, 1] > 0, WORDS, "other") if kind == "classes" else Y
    rows = FRAME[["a", "b"]] if kind == "frame" else x
    model = SparseClassifier(**{"algorithm": "gd"} | options).fit(rows, y)
    data = tmp_path / ("data.csv" if kind == "frame" else "data.libsvm")
    if kind == "frame":
        model = SparseClassifier(**{"algorithm": "gd"} | options).fit(rows.assign(y=y), pd.Series(y, name="y"))
        rows.assign(y=y).to_csv(data, index=False)
    else:
        lines = (" ".join([f"{label}", *(f"{j}:{float(v)!r}" for j, v in enumerate(row) if v)])
                 for label, row in zip(y, x, strict=True))
        data.write_text("".join(f"{line}\n" for line in lines))
    model.save(tmp_path / "m")
    found = json.loads(vwlite("evaluate", "-m", tmp_path / "m", data, "--json").out)
    assert {"schema": 2, **evaluate(model, rows, y)} == {"schema": 2, **evaluate(model, data)} == found
    lines = [json.loads(line) for line in vwlite("explain", "-m", tmp_path / "m", data, "--json").out.splitlines()]
    assert model.explain(rows) == [{k: line[k] for k in line if k not in ("file", "line", "tag", "label")}
                                   for line in lines]
    pages = [report(model, rows, y), vwlite("report", "-m", tmp_path / "m", data).out]
    pages = [page.replace("<wbr>", "") for page in pages]
    tables = [re.findall("<table.*?</table>", page, re.S)[:-1] for page in pages]  # but for that of files
    assert [re.sub(r"data\.\w+:\d+|X:\d+", "", table) for table in tables[0]] == [
        re.sub(r"data\.\w+:\d+|X:\d+", "", table) for table in tables[1]]


NAMES = """
import numpy as np
from vwlite import SparseClassifier
x = np.random.default_rng(1).normal(size=(60, 40))
model = SparseClassifier(algorithm="gd").fit(x, (x[:, 0] > 0).astype(int))
found = {c["name"] for e in model.explain(x, top=40) for c in e["contributions"]}
assert found == {str(k) for k in range(40)}, found
"""


def test_names_of_columns_do_not_depend_on_memory():
    """A dense matrix comes with numbers of columns: their hashes are made before names are looked for. MALLOC_PERTURB_
    fills new memory."""
    subprocess.run([sys.executable, "-c", NAMES], check=True, env=os.environ | {"MALLOC_PERTURB_": "85"})


def made(seed):
    """A model, and what is asked about it: of a matrix, a frame or a file, in turn."""
    chance = np.random.default_rng(seed)
    x = chance.normal(size=(400, 3))
    y = (x[:, 0] + chance.normal(size=400) > 0).astype(int)
    rows = pd.DataFrame(x, columns=["a", "b", "c"]).assign(word=chance.choice(["u", "v"], 400)) if seed % 2 else x
    model = SparseClassifier(algorithm="gd").fit(rows, y)
    other = SparseClassifier(algorithm="gd", normalize="none").fit(rows, y)
    return [
        lambda: vwlite.evaluate(model, rows, y, **({"by": "word"} if seed % 2 else {})),
        lambda: vwlite.evaluate(model, rows, y, against=other),
        lambda: vwlite.report(model, rows, y, against=other),
        lambda: model.explain(rows[:50], top=2),
    ]


@pytest.mark.drawn
def test_threads_get_what_each_gets_alone():
    jobs = [job for seed in range(2) for job in made(seed)]
    alone = [job() for job in jobs]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(drawn(9)):
            assert [*pool.map(lambda job: job(), jobs)] == alone


def test_displays_of_sklearn_work():
    pytest.importorskip("matplotlib").use("Agg")
    model = SparseClassifier().fit(X, Y)
    shown = RocCurveDisplay.from_estimator(model, X, Y)
    assert shown.roc_auc == pytest.approx(value(vwlite.evaluate(model, X, Y), "auc"), rel=1e-9)
    calibration = CalibrationDisplay.from_estimator(model, X, Y, n_bins=5, strategy="quantile")
    assert len(calibration.prob_true) == len(calibration.prob_pred) == 5
