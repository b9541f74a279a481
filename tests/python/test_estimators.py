"""The estimators as scikit-learn's tools, users and Ctrl-C meet them."""

import ast
import inspect
import itertools
import os
import pickle
import re
import signal
import threading
import time
import tracemalloc
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse as sp
from matrices import drawn
from running import GD
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from test_groups import NAMES
from test_groups import drawn as of_customers
from tiers import ALL

from vwlite import SparseClassifier, SparseRegressor, load_model
from vwlite.algorithms.settings import SPECS
from vwlite.estimators.options import OF_CLASSIFIER
from vwlite.model import read_model
from vwlite.training.trainer import Trainer


def same(one, other, x):
    return (one.decision_function(x) == other.decision_function(x)).all()


def test_every_option_of_a_model_is_a_parameter():
    of_files = {"labels"}
    parameters = set(inspect.signature(SparseClassifier).parameters)
    assert set(SPECS) - of_files <= parameters
    assert {"passes", "holdout_off", "holdout_period", "early_terminate", "class_weight", "verbose"} <= parameters
    numbers = set(inspect.signature(SparseRegressor).parameters)
    assert parameters - numbers == {"class_weight", "oaa", "classes", "softmax"}
    for name in parameters - {"self"}:
        assert f"\n{name} : " in SparseClassifier.__doc__
        assert name in SparseClassifier().get_params()
    with pytest.raises(TypeError, match="has no parameter l3"):
        SparseClassifier(l3=1)


def test_a_typed_parameter_is_a_typed_option():
    spec = OF_CLASSIFIER["ftrl_alpha"]
    with pytest.raises(ValueError, match="ftrl_alpha has no effect with algorithm gd"):
        SparseClassifier(algorithm="gd", ftrl_alpha=spec.default).fit(*drawn())
    assert SparseClassifier(ftrl_alpha=0.1, algorithm="ftrl").fit(*drawn())


def test_what_is_made_of_it():
    x, y = drawn()
    made = SparseClassifier(algorithm="ftrl", l1=0.1, passes=2, class_weight={-1: 2.0, 1: 1.0}).fit(x, y)
    again = clone(made)
    assert again.get_params() == made.get_params()
    assert not hasattr(again, "classes_")
    assert same(again.fit(x, y), made, x)
    other = pickle.loads(pickle.dumps(made))
    assert same(other, made, x)
    assert same(other.partial_fit(x, y), made.partial_fit(x, y), x)


def test_class_weight_is_a_weight_of_rows():
    x, y = drawn()
    counts = {c: (y == c).sum() for c in (-1, 1)}
    balanced = np.array([len(y) / (2 * counts[c]) for c in y])
    weight = np.linspace(0.5, 2, len(y))
    of_class = SparseClassifier(algorithm="gd", class_weight="balanced").fit(x, y, sample_weight=weight)
    assert same(of_class, SparseClassifier(algorithm="gd").fit(x, y, sample_weight=weight * balanced), x)
    by_dict = SparseClassifier(algorithm="gd", class_weight={1: 3.0}).fit(x, y)
    assert same(by_dict, SparseClassifier(algorithm="gd").fit(x, y, sample_weight=np.where(y == 1, 3.0, 1.0)), x)


def test_grid_search_and_calibration():
    x, y = drawn(rows=300)
    search = GridSearchCV(SparseClassifier(algorithm="ftrl"), {"l1": [0.0, 0.5, 1e6]}, cv=3).fit(x, y)
    assert search.best_params_["l1"] < 1e6
    assert search.best_score_ > 0.8
    calibrated = CalibratedClassifierCV(SparseClassifier(loss="hinge"), cv=3).fit(x, y)
    assert calibrated.predict_proba(x).shape == (300, 2)
    assert calibrated.score(x, y) > 0.85


def test_the_seed_is_accepted_and_changes_nothing():
    x, y = drawn(rows=100)
    made = [SparseClassifier(random_state=seed).fit(x, y) for seed in (None, 3, np.random.RandomState(1))]
    assert same(made[0], made[1], x) and same(made[0], made[2], x)
    assert clone(made[1]).get_params()["random_state"] == 3


def test_weights_have_the_name_of_a_loaded_model(tmp_path):
    made = SparseRegressor(algorithm="gd").fit(*drawn())
    made.save(tmp_path / "m")
    assert made.weights() == made.weights_ == load_model(tmp_path / "m").weights()


@pytest.mark.parametrize("rows", [200, 1100])  # from 1,000 on, here, a tenth is held out after a race
def test_rows_of_a_group_are_in_one_fold(vwlite, tmp_path, monkeypatch, rows):
    """As by `--group`: the same file."""
    pd = pytest.importorskip("pandas")
    monkeypatch.setattr("vwlite.training.auto.selection.LARGE", 1000)
    monkeypatch.setattr("vwlite.training.auto.learning.DERIVED_FROM", 300)
    monkeypatch.setattr("vwlite.training.auto.rare.FEWEST_RARE", 15)
    frame = pd.DataFrame(of_customers(rows, 0, rows // 20), columns=NAMES)
    frame = frame.astype({"x": float})[["cust", "zip", "x", "y"]]
    frame.to_csv(tmp_path / "d.csv", index=False)
    vwlite("train", tmp_path / "d.csv", "--label", "y", "--group", "cust", "-m", tmp_path / "m", "--quiet")
    made = SparseClassifier(drop=["cust"])
    made.fit(frame.drop(columns="y"), frame["y"], groups=frame["cust"]).save(tmp_path / "made")
    assert (tmp_path / "made").read_bytes() == (tmp_path / "m").read_bytes()
    without = SparseClassifier(drop=["cust"]).fit(frame.drop(columns="y"), frame["y"])
    assert without.chosen_["loss"] < made.chosen_["loss"]


def test_groups_of_a_matrix_are_words_or_numbers():
    rows = [*of_customers(120, 0, 6)]
    x, y = sp.csr_array([[int(z[1:]), float(x)] for _, _, z, x in rows]), [y for y, *_ in rows]
    words = [cust[1:] for _, cust, *_ in rows]
    of_words, of_numbers, of_rows = (
        SparseClassifier().fit(x, y, groups=groups).chosen_
        for groups in (words, np.array(words, dtype=float), range(len(rows))))
    assert of_words == of_numbers != of_rows


def test_groups_that_cannot_be():
    x, y = drawn(rows=100)
    groups = np.arange(100) % 9
    for given, options, said in (
        (groups[1:], {}, "X has 100 rows, but groups has 99 values"),
        ([None, *groups[1:]], {}, "groups has no value at row 0, and each row needs a group"),
        (groups % 1, {}, "groups: all rows are of one group"),
        (groups, {"algorithm": "gd"}, "groups is for folds of algorithm='auto', and not gd: leave it out"),
        (groups, {"passes": 1}, "groups needs folds, and so several passes: leave passes 1 out"),
    ):
        with pytest.raises(ValueError, match=said):
            SparseClassifier(**options).fit(x, y, groups=given)
    assert SparseRegressor().fit(x, y, groups=groups).report_


def test_tags_say_what_frames_may_have():
    tags = SparseClassifier().__sklearn_tags__().input_tags
    assert tags.sparse and tags.string and tags.categorical and tags.allow_nan


def test_behind_vectorizers():
    texts = ["win a free prize", "see you at home", "free cash now", "are you at work"] * 10
    y = ["spam", "ham"] * 20
    pipeline = make_pipeline(HashingVectorizer(), SparseClassifier(passes=3, holdout_off=True)).fit(texts, y)
    assert pipeline.predict(["a free prize now", "you at home"]).tolist() == ["spam", "ham"]
    rows = [{"word=" + word: 1.0 for word in text.split()} for text in texts]
    vectorizer = DictVectorizer()
    made = SparseClassifier(algorithm="gd").fit(vectorizer.fit_transform(rows), y)
    names = vectorizer.get_feature_names_out()
    assert made.coef_.shape == (1, len(names))
    assert made.get_feature_names_out(names).tolist() == names.tolist()
    assert made.coef_[0, names.tolist().index("word=free")] > 0


def test_columns_of_a_matrix_have_names_in_the_file(vwlite, tmp_path):
    rows = [{"word=" + word: 1.0 for word in text.split()} for text in ("a b c", "b d", "a é", "d c")]
    pipeline = make_pipeline(DictVectorizer(), SparseClassifier(algorithm="ftrl")).fit(rows, [0, 1, 0, 1])
    names = pipeline[:-1].get_feature_names_out().tolist()
    made, file = pipeline[-1], tmp_path / "m"
    made.save(file, names=names)
    shown = [line.split("\t") for line in vwlite("weights", file).out.splitlines()]
    coef = {name: w for name, w in zip(names, made.coef_[0].tolist(), strict=True) if w}
    assert {name: float(weight) for _, weight, name in shown if name != "Constant"} == coef
    x = pipeline[:-1].transform(rows)
    assert load_model(file, link="identity").predict(x).tolist() == made.decision_function(x).tolist()
    with pytest.raises(ValueError, match=r"names has 4 names, but X had 5 columns"):
        made.save(file, names=names[1:])
    made.save(file)
    assert len(read_model(file).names) == 0
    dump_svmlight_file(*drawn(rows=50), str(tmp_path / "data"))
    vwlite("train", *GD, tmp_path / "data", "--loss", "logistic", "--names", "-m", tmp_path / "command", "--quiet")
    x, y = load_svmlight_file(str(tmp_path / "data"), zero_based=True)
    SparseClassifier(algorithm="gd", names=True).fit(x, y).save(file)
    assert list(read_model(file).names) == list(read_model(tmp_path / "command").names) != []


def test_it_learns_as_well_as_the_usual_one():
    x, y = drawn(rows=2000)
    ours = SparseClassifier(algorithm="gd", passes=5).fit(x[:1500], y[:1500])
    theirs = LogisticRegression().fit(x[:1500], y[:1500])
    assert ours.score(x[1500:], y[1500:]) > theirs.score(x[1500:], y[1500:]) - 0.01


def test_scores_are_those_of_the_weights():
    for classes in (2, 3):
        x, y = drawn(classes=classes)
        for options in (
            {"algorithm": "gd"},
            {"softmax": True, "algorithm": "sgd"},
            {"algorithm": "adagrad", "loss": "hinge"},
        ):
            made = SparseClassifier(**options).fit(x, y)
            shown = made.decision_function(x)
            assert (x @ made.coef_.T + made.intercept_).ravel() == pytest.approx(shown.ravel(), rel=1e-5, abs=1e-6)
            ranked = (shown > 0).astype(int) if classes == 2 else shown.argmax(1)
            assert (made.classes_[ranked] == made.predict(x)).all()
            if made.get_params()["loss"] != "hinge":
                assert made.predict_proba(x).sum(1) == pytest.approx(1)
                assert (made.classes_[made.predict_proba(x).argmax(1)] == made.predict(x)).all()


def test_sparsify():
    x, y = drawn()
    made = SparseClassifier(algorithm="ftrl", l1=2.0).fit(x, y)
    dense = made.coef_
    assert 0 < np.count_nonzero(dense) < dense.size
    assert sp.issparse(made.sparsify().coef_)
    assert (made.coef_.toarray() == dense).all()
    assert (made.densify().coef_ == dense).all()
    assert not sp.issparse(made.sparsify().fit(x, y).coef_)


def test_whether_there_are_probabilities_is_known_before():
    assert hasattr(SparseClassifier(l1=-1), "predict_proba")
    assert hasattr(SparseClassifier(softmax=True), "predict_proba")
    assert hasattr(SparseClassifier(algorithm="none"), "predict_proba")
    assert not hasattr(SparseClassifier(algorithm="arow"), "predict_proba")


@pytest.mark.parametrize("loss", ["hinge", "squared", "squared-hinge"])
def test_other_losses_have_no_probabilities(loss):
    x, y = drawn()
    made = SparseClassifier(algorithm="gd", loss=loss)
    assert not hasattr(made, "predict_proba")
    assert not hasattr(made.fit(x, y), "predict_proba")
    with pytest.raises(AttributeError):
        made.predict_proba(x)


def test_counts_are_predicted_as_means():
    x, y = drawn("poisson", rows=3000)
    made = SparseRegressor(algorithm="gd", loss="poisson", passes=4).fit(x, y)
    assert made.predict(x).min() > 0
    assert made.predict(x).mean() == pytest.approx(y.mean(), rel=0.2)
    logs = SparseRegressor(algorithm="gd", loss="poisson", passes=4, link="identity").fit(x, y)
    assert np.exp(logs.predict(x)) == pytest.approx(made.predict(x))


def test_nothing_is_printed_unless_it_is_asked_for(capfd):
    x, y = drawn()
    SparseClassifier(algorithm="gd", passes=3).fit(x, y).partial_fit(x, y).predict(x)
    assert capfd.readouterr() == ("", "")
    made = SparseClassifier(algorithm="gd", verbose=True).fit(x, y)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("algorithm = gd, loss = logistic")
    assert made.report_["average loss"] < 1
    assert made.report_["number of examples"] == len(y)


def test_csr_is_not_copied():
    x = sp.random(5000, 500, density=0.2, random_state=0, format="csr")
    y = np.arange(5000) % 2
    SparseClassifier(algorithm="gd").fit(x[:100], y[:100])
    tracemalloc.start()
    SparseClassifier(algorithm="gd").fit(x, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < x.data.nbytes / 4


# --- what ends it early --------------------------------------------------------------------------


def interrupted_after(seconds, step):
    """Do a step, which a signal must end: as Ctrl-C does, from the main thread."""

    def ring(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    begin = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            step()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return time.monotonic() - begin


def long_work():
    x = sp.random(20000, 300, density=0.2, random_state=0, format="csr")
    return x, np.arange(20000) % 2


def test_an_interrupted_fit_changes_nothing():
    (x, y), work = drawn(), long_work()
    made = SparseClassifier(algorithm="gd", passes=100000, holdout_off=True, early_terminate=None)
    assert interrupted_after(0.1, lambda: made.fit(*work)) < 20
    with pytest.raises(NotFittedError):
        made.predict(x)
    made.set_params(passes=1, holdout_off=False).fit(x, y)
    scores = made.decision_function(x)
    made.set_params(passes=100000, holdout_off=True)
    interrupted_after(0.1, lambda: made.fit(*work))
    assert (made.decision_function(x) == scores).all()
    assert made.n_features_in_ == x.shape[1]


def test_an_interrupted_partial_fit_changes_nothing():
    x, y = drawn()
    made = SparseClassifier(algorithm="gd", quadratic=["  "]).partial_fit(x, y, classes=[-1, 1])
    made.partial_fit(x[:9], y[:9])
    kept = pickle.loads(pickle.dumps(made))
    wide = sp.csr_matrix(np.ones((3000, x.shape[1])))
    longer = sp.vstack([wide] * 200).tocsr()
    interrupted_after(0.05, lambda: made.partial_fit(longer, np.ones(longer.shape[0])))
    assert same(made, kept, x)
    assert same(made.partial_fit(x, y), kept.partial_fit(x, y), x)


def test_no_thread_stays_behind(monkeypatch):
    batches = []

    def feed(run, batch):
        batches.append(batch)
        if len(batches) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "feed", feed)
    with pytest.raises(KeyboardInterrupt) as error:
        SparseClassifier(algorithm="gd").fit(*long_work())
    assert error.traceback is not None  # which keeps all frames, as an interactive session does
    assert "rows" not in {thread.name for thread in threading.enumerate()}


def test_a_refused_partial_fit_changes_nothing():
    x, y = drawn()
    made = SparseClassifier(algorithm="gd").partial_fit(x, y, classes=[-1, 1]).partial_fit(x[:9], y[:9])
    kept = made.decision_function(x)
    huge = x.copy()
    huge.data[-1] = np.nan
    for rows, labels in ((huge, y), (x[:, :5], y), (x, np.zeros(len(y))), (x, y[:3])):
        with pytest.raises(ValueError):
            made.partial_fit(rows, labels)
        assert (made.decision_function(x) == kept).all()


def test_threads_share_a_model():
    x, y = drawn(rows=5000, classes=3)
    made = SparseClassifier(softmax=True, algorithm="sgd").fit(x, y)
    expected, found = made.predict_proba(x), []
    threads = [threading.Thread(target=lambda: found.append(made.predict_proba(x))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all((p == expected).all() for p in found)


def test_others_continue_while_it_learns():
    x = sp.csr_matrix(np.ones((600, 300)))
    y = np.arange(600) % 2
    gaps, done = [], threading.Event()

    def tick():
        last = time.monotonic()
        while not done.is_set():
            time.sleep(0.001)
            now = time.monotonic()
            gaps.append(now - last)
            last = now

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    SparseClassifier(algorithm="gd", quadratic=["  "]).fit(x, y)  # one batch
    took = time.monotonic() - begin
    done.set()
    thread.join()
    assert took > 0.1
    assert max(gaps) < took / 2


# --- what is refused -----------------------------------------------------------------------------


def bad_value(value):
    x, y = drawn()
    x = x.astype(np.float64).toarray()
    x[17, 3] = value
    return x, y


def with_labels(labels):
    return drawn()[0][: len(labels)], labels


REFUSED = {
    "NaN": (lambda: bad_value(np.nan), {}, r"X contains NaN, at row 17, column 3"),
    "infinity": (lambda: bad_value(np.inf), {}, r"X contains infinity.* at row 17, column 3"),
    "too large": (lambda: bad_value(1e39), {}, r"too large for a 32-bit float, at row 17, column 3"),
    "one class": (lambda: with_labels([1, 1, 1]), {}, r"y has one class, '1'"),
    "mixed labels": (lambda: with_labels([1, "a", 2]), {}, r"y has labels of mixed types, int and str"),
    "mixed objects": (lambda: with_labels(np.array([1, "a"], dtype=object)), {}, r"of mixed types, int and str"),
    "too few labels": (lambda: (drawn()[0], [1, 2]), {}, r"inconsistent numbers of samples: \[120, 2\]"),
    "no labels": (lambda: (drawn()[0], None), {}, r"requires y"),
    "a text": (lambda: (np.array([["a"], ["b"]]), [1, 2]), {}, r"(?i)numeric|string"),
    "one dimension": (lambda: (np.ones(3), [1, 2, 1]), {}, r"Expected 2D array"),
    "complex": (lambda: (np.ones((2, 2)) * 1j, [1, 2]), {}, r"Complex data"),
    "no such algorithm": (drawn, {"algorithm": "sdg"}, r"^algorithm: 'sdg' is not one of"),
    "no such loss": (drawn, {"loss": "log"}, r"^loss: 'log' is not one of"),
    "a needed option": (drawn, {"algorithm": "l1-ball"}, r"^algorithm l1-ball needs radius$"),
    "a loss that does not fit": (drawn, {"algorithm": "pa", "loss": "logistic"}, r"cannot learn from loss logistic"),
    "a loss of counts": (drawn, {"loss": "poisson"}, r"loss poisson is for counts: use SparseRegressor"),
    "a negative strength": (drawn, {"l1": -1}, r"^l1: -1 is out of range: it must be at least 0"),
    "an invalid strength": (drawn, {"l1": "much"}, r"^l1: 'much' is not a number"),
    "an invalid flag": (drawn, {"average": "yes"}, r"^average: 'yes' is neither True nor False"),
    "a boolean for a number": (drawn, {"l1": True}, r"^l1: True is not a valid value"),
    "no passes": (drawn, {"passes": 0}, r"^passes: 0 is out of range"),
    "a holdout of one pass": (drawn, {"holdout_period": 5}, r"^holdout_period needs passes above 1"),
    "an unknown class": (drawn, {"classes": ["a", "b"]}, r"y has the class '-1', which is not in classes"),
    "classes without a number": (drawn, {"classes": "auto"}, r"classes='auto' needs oaa=K"),
    "numbers of classes": (drawn, {"oaa": 3}, r"oaa=3 needs integer labels from 1 to 3"),
    "too many classes": (lambda: drawn(classes=4), {"oaa": 3, "classes": "auto"}, r"exceeds oaa=3 classes"),
    "letters": (drawn, {"quadratic": ["abc"]}, r"^quadratic: 'abc': expected 2 letters"),
    "diverging": (drawn, {"algorithm": "sgd", "loss": "squared", "learning_rate": 1e30}, r"learning has diverged"),
    "a class of no weight": (drawn, {"class_weight": {-1: -1.0}}, r"class_weight: invalid weight -1.0 of class '-1'"),
    "a file that is not there": (drawn, {"algorithm": "l1-ball", "radius": 1, "feature_weights": "/none"}, r"/none"),
}


@pytest.mark.parametrize(("data", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(data, options, message, capfd):
    x, y = data()
    made = SparseClassifier(**{"algorithm": "gd"} | options)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        made.fit(x, y)
    assert capfd.readouterr() == ("", "")
    with pytest.raises(NotFittedError):
        made.predict(drawn()[0])


def test_what_a_regression_refuses():
    x, y = drawn("squared")
    needs = {"logistic": "labels of -1 and 1: use SparseClassifier", "poisson": "labels of at least 0"}
    for loss, message in needs.items():
        with pytest.raises(ValueError, match=f"at row \\d+, but loss {loss} needs {message}"):
            SparseRegressor(algorithm="gd", loss=loss).fit(x, y)
    with pytest.raises(ValueError, match=r"sample_weight: the weight -1 of row 5 is negative"):
        SparseRegressor(algorithm="gd").fit(x, y, sample_weight=np.where(np.arange(len(y)) == 5, -1, 1))
    with pytest.raises(ValueError, match="non-zero"):
        SparseRegressor(algorithm="gd").fit(x, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="y has no label at row 1: remove the row"):
        SparseRegressor(algorithm="gd").fit(np.ones((3, 1)), [1, None, 2])
    made = SparseRegressor(algorithm="gd").fit(x, y).set_params(algorithm="ftrl")
    with pytest.raises(ValueError, match=r"^algorithm ftrl contradicts the model, which was trained with gd"):
        made.partial_fit(x, y)
    with pytest.raises(ValueError, match="algorithm pa cannot learn from loss squared: use loss hinge"):
        SparseRegressor(algorithm="pa").fit(x, y)


def test_columns_outside_of_the_matrix_are_refused():
    x, y = drawn()
    x.indices[5] = x.shape[1]
    with pytest.raises(ValueError, match=r"row \d+ has a value in column 14: no such column"):
        SparseClassifier(algorithm="gd").fit(x, y)


def test_what_partial_fit_refuses():
    x, y = drawn()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        SparseClassifier(algorithm="gd").partial_fit(x, y)
    with pytest.raises(ValueError, match="'balanced' needs all of y"):
        SparseClassifier(algorithm="gd", class_weight="balanced").partial_fit(x, y, classes=[-1, 1])
    made = SparseClassifier(algorithm="gd").partial_fit(x, y, classes=[-1, 1])
    with pytest.raises(ValueError, match="y has the label '2' at row 1, which is not in the classes -1, 1"):
        made.partial_fit(x[:2], [1, 2])
    with pytest.raises(ValueError, match="classes differ from those of the first call: -1, 1"):
        made.partial_fit(x[:2], [1, 1], classes=[0, 1])
    with pytest.raises(ValueError, match="bits 5 contradicts the model, which"):
        made.set_params(bits=5).partial_fit(x, y)


def test_a_file_that_cannot_be_written(tmp_path):
    made = SparseClassifier(algorithm="gd").fit(*drawn())
    with pytest.raises(OSError, match="there is no folder"):
        made.save(tmp_path / "none" / "m")


@pytest.mark.parametrize("algorithm", ["gd", "eg"])
def test_weights_alone_are_saved_as_the_command_does(vwlite, tmp_path, algorithm):
    x, y = drawn()
    dump_svmlight_file(x, y, str(tmp_path / "data.libsvm"))
    typed = ["--algorithm", algorithm, *(["--radius", 2] if algorithm == "eg" else [])]
    typed += ["--loss", "logistic", "--save-weights-only", "-m", tmp_path / "command.model", "--quiet"]
    vwlite("train", tmp_path / "data.libsvm", *typed)
    made = SparseClassifier(algorithm=algorithm, radius=2.0 if algorithm == "eg" else None).fit(x, y)
    made.save(tmp_path / "m", weights_only=True)
    assert (tmp_path / "m").read_bytes() == (tmp_path / "command.model").read_bytes()
    assert load_model(tmp_path / "m").decision_function(x) == pytest.approx(made.decision_function(x), rel=1e-5)


# --- forks while another thread is at work -------------------------------------------------------

FORKS = 12 if ALL else 6


def problem(rows):
    x = np.random.default_rng(25).normal(size=(rows, 20))
    return x, (x[:, 0] + x[:, 1] > 0.3).astype(int)


def in_children(work, meanwhile):
    """The exit codes of children that do `work`, forked while a thread does `meanwhile` again and again."""
    stop, failed = threading.Event(), []

    def run():
        try:
            while not stop.is_set():
                meanwhile()
        except BaseException as e:
            failed.append(e)

    thread = threading.Thread(target=run)
    thread.start()
    codes = []
    try:
        for i in range(FORKS):
            time.sleep(0.003 * i)
            pid = os.fork()
            if pid == 0:
                signal.alarm(20)  # ends a child that hangs
                code = 1
                try:
                    code = 0 if work() else 2
                finally:
                    os._exit(code)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    finally:
        stop.set()
        thread.join()
    assert not failed
    return codes


@pytest.mark.drawn
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_while_a_thread_predicts(tmp_path):
    x, y = problem(4000)
    made = SparseClassifier(algorithm="gd").fit(x, y)
    made.save(tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    for model in (made, loaded):
        expected = model.decision_function(x).tolist()
        assert in_children(
            lambda model=model, expected=expected: model.decision_function(x).tolist() == expected,
            lambda model=model: model.predict(x),
        ) == [0] * FORKS


@pytest.mark.drawn
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("algorithm", ["gd", "auto"])
def test_a_fork_while_a_thread_learns(algorithm, monkeypatch):
    """The child has the model of some number of whole steps, and continues from there as the parent would."""
    monkeypatch.setattr("vwlite.training.auto.reading.KEPT_EXAMPLES", 100)
    x, y = problem(4000 if algorithm == "gd" else 200)
    made, states = SparseClassifier(algorithm=algorithm).partial_fit(x, y, classes=[0, 1]), []
    one = pickle.loads(pickle.dumps(made))
    for _ in range(30):
        states.append(one.decision_function(x[:50]).tolist())
        one.partial_fit(x, y)
    left = iter(range(25))

    def child():
        at = states.index(made.decision_function(x[:50]).tolist())
        return made.partial_fit(x, y).decision_function(x[:50]).tolist() == states[at + 1]

    def step():
        if next(left, None) is not None:
            made.partial_fit(x, y)

    assert in_children(child, step) == [0] * FORKS


@pytest.mark.drawn
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_while_a_thread_fits_again():
    """With other columns and classes: the child has all of one fit, or all of the other."""
    first, second = problem(4000), (problem(3000)[0][:, :7], np.arange(3000) % 3)
    made = SparseClassifier(algorithm="gd").fit(*first)
    turns = itertools.cycle([second, first])

    def child():
        x = first[0] if made.n_features_in_ == first[0].shape[1] else second[0]
        return set(made.predict(x)) <= set(made.classes_) and len(made.coef_.T) == x.shape[1]

    assert in_children(child, lambda: made.fit(*next(turns))) == [0] * FORKS


# --- sparse matrices that are damaged ------------------------------------------------------------


@pytest.mark.parametrize(
    ("begins", "message"),
    [
        ([1, 2, 3, 4], "indptr is from 1 to 4, and must start at 0"),
        ([0, 2, 3], r"indptr has the shape \(3,\), expected \(4,\) for 3 rows"),
        ([0, 2, 3, 4, 4], r"indptr has the shape \(5,\)"),
        ([0, 3, 1, 4], "row 1 ends before it begins"),
        ([0, -2, 3, 4], "row 0 ends before it begins"),
        ([0, 1, 9, 4], "row 1 ends before it begins, or after the last value"),
        ([0, 1, 2, 5], "indptr ends with 5, but it has 4 values"),
        ([0, 1, 2, -1], "indptr is from 0 to -1"),
    ],
)
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_a_damaged_sparse_matrix_is_refused(tmp_path, begins, message, kind):
    def broken():
        x = sp.csr_matrix((np.ones(4), np.array([0, 1, 0, 1], kind), np.array([0, 2, 3, 4], kind)), shape=(3, 2))
        x.indptr = np.array(begins, kind)
        return x

    made = SparseClassifier(algorithm="gd").fit(np.eye(2), [0, 1])
    made.save(tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    with pytest.raises(ValueError, match="X is not a valid sparse matrix: .*" + message):
        loaded.predict(broken())
    for use in (made.predict, lambda x: made.partial_fit(x, [0, 1, 1]), lambda x: made.fit(x, [0, 1, 1])):
        with pytest.raises(ValueError):
            use(broken())


@pytest.mark.parametrize("solver", [{}, {"passes": 3}])
@pytest.mark.parametrize(
    ("pair", "labels"),
    [
        (("ham", "spam"), ("ham", "spam")), (("no", "yes"), ("no", "yes")), ((0, 1), (0.0, 1.0)), ((-1, 1), None),
        (("0", "1"), (0.0, 1.0)), (("not spam", "spam"), ("not spam", "spam")), (("a,b", "c"), ("a,b", "c")),
        ((False, True), (0.0, 1.0)),
    ],
)
def test_two_words_are_kept_in_the_file(tmp_path, vwlite, solver, pair, labels):
    """As `--labels` has them: so `vwlite predict` reads data with such labels."""
    chance = np.random.default_rng(5)
    X = chance.normal(size=(60, 3))
    y = np.array(pair)[(X[:, 0] > 0).astype(int)]
    fitted = SparseClassifier(algorithm="gd", **solver).fit(X, y)
    assert fitted.classes_.tolist() == sorted(pair) and set(fitted.predict(X)) == set(pair)
    numbers = SparseClassifier(algorithm="gd", **solver).fit(X, np.where(X[:, 0] > 0, 1, -1))
    assert (fitted.coef_ == numbers.coef_).all()
    path = str(tmp_path / "m")
    fitted.save(path)
    assert load_model(path).labels == labels
    if labels is not None and "not spam" not in pair:
        names = [str(int(x)) if not isinstance(x, str) else x for x in pair]
        rows = "".join(f"{names[int(x[0] > 0)]} |  " + " ".join(f"{j}:{v}" for j, v in enumerate(x)) + "\n" for x in X)
        (tmp_path / "data").write_text(rows)
        done = vwlite("predict", "-m", path, tmp_path / "data", "-p", tmp_path / "p")
        accuracy = next(line for line in done.err.splitlines() if line.startswith("accuracy = "))
        assert float(accuracy.split()[2]) == pytest.approx(fitted.score(X, y), abs=1e-6)
    again = SparseClassifier(initial=path, **solver).fit(X, y)
    assert again.classes_.tolist() == sorted(pair)


def test_words_continue_from_a_model_that_has_none(tmp_path):
    """As an older program saved them."""
    X, y = np.eye(4), np.array(["a", "b", "a", "b"])
    path = str(tmp_path / "m")
    SparseClassifier(algorithm="gd").fit(X, np.where(y == "b", 1, -1)).save(path)
    assert SparseClassifier(initial=path).fit(X, y).classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize("names", [["not\tgood", "fine", "bad"], ["a\nb", "c"], [" a", "a", "d"]])
def test_class_names_that_a_file_cannot_keep_are_warned_of(tmp_path, names):
    """The warning says which number is which class, as the model of the file predicts them."""
    X, y = np.eye(len(names))[np.arange(60) % len(names)], np.array(names)[np.arange(60) % len(names)]
    made = SparseClassifier(algorithm="gd", passes=5).fit(X, y)
    with pytest.warns(UserWarning, match="the model file has numbers for the classes") as said:
        made.save(tmp_path / "m")
    known = {ast.literal_eval(f"'{name}'"): number
             for number, name in re.findall(r"(-?\d+) for '(.*?)'", str(said[0].message))}
    found = load_model(tmp_path / "m").predict(X)
    numbers = np.where(np.asarray(found, dtype=float) > 0.5, 1, -1) if len(names) == 2 else found  # probabilities
    assert [float(known[name]) for name in made.predict(X)] == [float(number) for number in numbers]


@pytest.mark.parametrize("names", [
    ["good", "bad"], ["good", "fine", "bad"], [1, 2, 3], [True, False], ["not good", "fine", "bad"],
    ["a,b", 'c "d"'], ["a|b", "'c", "d:1"],
])
def test_class_names_that_a_file_keeps_are_not_warned_of(tmp_path, names):
    X, y = np.eye(len(names))[np.arange(60) % len(names)], np.array(names)[np.arange(60) % len(names)]
    made = SparseClassifier(algorithm="gd").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.save(tmp_path / "m")
    found = load_model(tmp_path / "m")
    if len(names) > 2:
        assert found.predict(X).tolist() == [str(name) for name in made.predict(X)]
    elif isinstance(names[0], str):
        assert found.labels == tuple(made.classes_)
