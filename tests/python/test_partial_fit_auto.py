"""`partial_fit` with algorithm="auto": its calls are one stream, as `train --algorithm auto --passes 1` reads it."""

import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from vwlite import SparseClassifier, SparseRegressor
from vwlite.training.trainer import Trainer

ROWS, COLUMNS = 900, 8
KEPT = [50, 400, 12000]  # examples: learning begins early, in the middle, not at all


def drawn(loss="logistic", rows=ROWS):
    rng = np.random.default_rng(4)
    x = rng.normal(2, 1, (rows, COLUMNS)) * (rng.random((rows, COLUMNS)) < np.linspace(1, 0.2, COLUMNS))
    score = x @ rng.normal(0, 1, COLUMNS) / 2 + rng.normal(0, 0.3, rows)
    score = (score - score.mean()).round(4)
    if loss == "logistic":
        return x, np.where(score > 0, 1.0, -1.0)
    if loss == "gamma":
        return x, (rng.gamma(2, np.exp(score / 2)) + 0.01).round(4)
    return x, rng.poisson(np.exp(score / 2)).astype(float) if loss in ("poisson", "tweedie") else score


def estimator(loss, **options):
    return (SparseClassifier if loss == "logistic" else SparseRegressor)(algorithm="auto", loss=loss, **options)


def learn(made, x, y, size, between=lambda made, call: made):
    """Learn in calls of so many rows. between: what the next call is to."""
    more = {"classes": [-1, 1]} if isinstance(made, SparseClassifier) else {}
    for call, i in enumerate(range(0, len(y), size)):
        made.partial_fit(x[i : i + size], y[i : i + size], **more)
        made = between(made, call)
    return made


def saved(made, path):
    made.save(path)
    return path.read_bytes()


@pytest.fixture
def shorter(monkeypatch):
    def change(kept):
        monkeypatch.setattr("vwlite.training.auto.reading.KEPT_EXAMPLES", kept)
        monkeypatch.setattr("vwlite.training.auto.stream.SIDE_BY_SIDE", 600)

    return change


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("loss", ["logistic", "squared", "poisson", "gamma", "tweedie", "quantile", "huber"])
def test_calls_are_one_stream(vwlite, tmp_path, shorter, kept, loss):
    shorter(kept)
    x, y = drawn(loss)
    dump_svmlight_file(x, y, str(tmp_path / "data"))
    link = ("--link", "poisson") if loss == "poisson" else ()
    how = ("--algorithm", "auto", "--loss", loss, *link, "--passes", "1")
    vwlite("train", tmp_path / "data", *how, "-m", tmp_path / "m")
    made = learn(estimator(loss), x, y, 130)
    assert saved(made, tmp_path / "n") == (tmp_path / "m").read_bytes()


@pytest.mark.third
@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("options", [{}, {"normalize": "center"}, {"quadratic": ["  "]}])
def test_what_looks_at_it_changes_nothing(tmp_path, shorter, monkeypatch, kept, options):
    """Predictions, files, copies and pickles in between: the calls that follow learn as without them."""
    shorter(kept)
    monkeypatch.setattr("vwlite.estimators.stream.MIN_JOURNAL", 200)
    x, y = drawn()
    plain = learn(estimator("logistic", **options), x, y, 70)

    def look(made, call):
        before = made.decision_function(x).tolist()
        assert made.decision_function(x).tolist() == before
        other = pickle.loads(pickle.dumps(made))
        assert saved(made, tmp_path / "a") == saved(other, tmp_path / "b")
        return (made, other, copy.deepcopy(made))[call % 3]

    made = learn(estimator("logistic", **options), x, y, 70, look)
    assert saved(made, tmp_path / "made") == saved(plain, tmp_path / "plain")
    assert made.score(x, y) > 0.85


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("loss", ["quantile", "huber"])
def test_a_pickle_has_the_labels_for_the_best_constant(tmp_path, shorter, monkeypatch, kept, loss):
    shorter(kept)
    monkeypatch.setattr("vwlite.estimators.stream.MIN_JOURNAL", 200)
    x, y = drawn(loss)
    plain = learn(estimator(loss), x, y, 70)
    made = learn(estimator(loss), x, y, 70, lambda made, call: pickle.loads(pickle.dumps(made)))
    assert saved(made, tmp_path / "made") == saved(plain, tmp_path / "plain")


@pytest.mark.parametrize("kept", [100, 12000])
def test_a_frame_with_names(vwlite, tmp_path, shorter, kept):
    """Also the means of columns, for absent cells, are those of all calls."""
    pd = pytest.importorskip("pandas")
    shorter(kept)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"word": rng.choice(["a", "b", "c", "d"], 400), "size": rng.normal(3, 1, 400).round(2)})
    y = np.where((frame["word"] == "a") ^ (frame["size"] > 4), 1, -1)
    frame.assign(y=y).to_csv(tmp_path / "data.csv", index=False)
    vwlite("train", tmp_path / "data.csv", "--label", "y", "--algorithm", "auto", "--loss", "logistic", "--passes", "1",
           "--derive", "none", "--names", "-m", tmp_path / "m")
    again = lambda made, call: pickle.loads(pickle.dumps(made)) if call == 2 else made  # noqa: E731
    made = learn(estimator("logistic", names=True), frame, y, 90, again)
    made.save(tmp_path / "n")
    one, other = (vwlite("weights", tmp_path / name).out for name in "mn")
    assert one == other and "word=a" in one


@pytest.mark.parametrize("kept", [50, 12000])
def test_an_interrupted_call_changes_nothing(tmp_path, shorter, monkeypatch, kept):
    shorter(kept)
    x, y = drawn()
    made, plain = estimator("logistic"), estimator("logistic")
    for one in (made, plain):
        learn(one, x[:300], y[:300], 100)
    feed, calls = Trainer.feed, []

    def interrupted(run, batch):
        feed(run, batch)
        calls.append(batch)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "feed", interrupted)
        if kept == 50:
            with pytest.raises(KeyboardInterrupt):
                made.partial_fit(x[300:], y[300:])
    assert len(calls) == (kept == 50)
    with pytest.raises(ValueError, match="row 1, column 0"):
        made.partial_fit(np.array([x[0], [np.inf] * COLUMNS]), [1, 1])
    assert saved(made, tmp_path / "a") == saved(plain, tmp_path / "b")
    assert saved(made.partial_fit(x, y), tmp_path / "a") == saved(plain.partial_fit(x, y), tmp_path / "b")


@pytest.mark.parametrize("normalize", [None, "l2", "center"])
def test_after_fit_it_continues_by_gd(vwlite, tmp_path, normalize):
    x, y = drawn()
    dump_svmlight_file(x[:600], y[:600], str(tmp_path / "a"))
    dump_svmlight_file(x[600:], y[600:], str(tmp_path / "b"))
    option = ("--normalize", normalize) if normalize else ()
    vwlite("train", tmp_path / "a", "--algorithm", "auto", "--loss", "logistic", *option, "-m", tmp_path / "m")
    vwlite("train", tmp_path / "b", "-i", tmp_path / "m", "-m", tmp_path / "m")
    made = estimator("logistic", normalize=normalize).fit(x[:600], y[:600]).partial_fit(x[600:], y[600:])
    assert saved(made, tmp_path / "n") == (tmp_path / "m").read_bytes()


def test_what_it_refuses():
    x, y = drawn(rows=90)
    with pytest.raises(ValueError, match="learns several classes from all rows at once"):
        estimator("logistic").partial_fit(x, np.arange(90) % 3, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="the weight of every row is 0"):
        estimator("logistic", class_weight={-1: 0, 1: 0}).partial_fit(x, y, classes=[-1, 1])
    made = estimator("logistic")
    made.partial_fit(x, y, classes=[-1, 1])
    with pytest.raises(ValueError, match="continues with the parameters of its first call"):
        made.set_params(bits=18).partial_fit(x, y)


def test_the_shapes_of_rows():
    x, y = drawn()
    one, other = estimator("logistic"), estimator("logistic")
    for made, rows in ((one, x), (other, sp.csr_matrix(x))):
        made.partial_fit(rows, y, classes=[-1, 1], sample_weight=np.linspace(0.5, 2, len(y)))
    assert one.weights_ == other.weights_ and one.normalize_ in ("none", "l2", "log")
    assert (one.predict(x) == np.where(one.decision_function(x) > 0, 1, -1)).all()
