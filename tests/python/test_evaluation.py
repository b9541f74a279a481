"""`vwlite.evaluate` and `vwlite.report`, and scikit-learn's displays on the estimators."""

from operator import attrgetter

import numpy as np
import pytest

pytest.importorskip("sklearn")
pd = pytest.importorskip("pandas")

from sklearn.calibration import CalibrationDisplay  # noqa: E402
from sklearn.metrics import RocCurveDisplay, accuracy_score, log_loss, r2_score, roc_auc_score  # noqa: E402

import vwlite  # noqa: E402
from vwlite import SparseClassifier, SparseRegressor  # noqa: E402

chance = np.random.default_rng(5)
X = chance.normal(size=(300, 4)).astype(np.float32)
Y = (X[:, 0] + chance.normal(size=300) > 0).astype(int)
WORDS = np.where(Y, "spam", "ham")
FRAME = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, 'x,"y', "z"), "label": "new"})


def value(found, name):
    return found["measures"][name]["value"]


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
    model = SparseRegressor().fit(X, labels)
    assert value(vwlite.evaluate(model, X, labels), "r2") == pytest.approx(r2_score(labels, model.predict(X)), rel=1e-9)
    classes = np.where(X[:, 1] > 0, WORDS, "other")
    many = SparseClassifier().fit(X, classes)
    found = vwlite.evaluate(many, X, classes)
    assert value(found, "accuracy") == pytest.approx(accuracy_score(classes, many.predict(X)), rel=1e-9)
    assert set(found["classes"]) == set(classes)


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
    assert page.startswith("<!DOCTYPE html>") and "ROC" in page
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
        (X, Y[:5], {}, "different numbers of rows"),
        (X, Y, {"trheshold": 1}, "unexpected keyword argument 'trheshold'"),
        (X, Y, {"by": "b"}, "by: libsvm has neither"),
        (FRAME, Y, {}, "was not trained on a table"),
    ],
)
def test_bad_input(rows, labels, options, message):
    with pytest.raises(ValueError, match=message):
        vwlite.evaluate(SparseClassifier().fit(X, Y), rows, labels, **options)


def test_displays_of_sklearn_work():
    pytest.importorskip("matplotlib").use("Agg")
    model = SparseClassifier().fit(X, Y)
    shown = RocCurveDisplay.from_estimator(model, X, Y)
    assert shown.roc_auc == pytest.approx(value(vwlite.evaluate(model, X, Y), "auc"), rel=1e-9)
    calibration = CalibrationDisplay.from_estimator(model, X, Y, n_bins=5, strategy="quantile")
    assert len(calibration.prob_true) == len(calibration.prob_pred) == 5
