"""Features that estimators derive from the columns of frames: as `vwlite train --derive` does."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")
pa = pytest.importorskip("pyarrow")

import pandas as pd  # noqa: E402
from running import run_here  # noqa: E402
from scipy.sparse import csr_array  # noqa: E402
from sklearn.base import clone  # noqa: E402
from tables import bent_rows, review_rows, written  # noqa: E402

from vwlite import SparseClassifier, SparseRegressor, load_model  # noqa: E402
from vwlite.core.learn.output import number_text  # noqa: E402
from vwlite.model import read_model  # noqa: E402

NAMES = ["x", "z", "w", "y"]


@pytest.fixture(scope="module")
def rows():
    return bent_rows(900)


@pytest.fixture(scope="module")
def frame(rows):
    return pd.DataFrame(rows, columns=NAMES).assign(
        x=lambda d: pd.to_numeric(d["x"]), z=lambda d: pd.to_numeric(d["z"])
    )


@pytest.fixture(scope="module")
def fitted(frame):
    return SparseClassifier(derive="auto").fit(frame, frame["y"])


@pytest.fixture(scope="module", params=["curves", "auto"])
def learned(request, tmp_path_factory, rows):
    """--derive, a file, its model and what that predicts."""
    at = tmp_path_factory.mktemp("learned")
    path = written(at / "d.csv", NAMES, rows)
    run_here("train", path, "--label", "y", "--derive", request.param, "-m", at / "m")
    return request.param, at / "m", run_here("predict", "-m", at / "m", path, "--link", "logistic").out.split()


def polars(frame):
    return pytest.importorskip("polars").from_pandas(frame)


def chunks(frame):
    whole = pa.Table.from_pandas(frame, preserve_index=False)
    return pa.concat_tables([whole.slice(0, 401), whole.slice(401)])


def categories(frame):
    """One of which no row has."""
    return frame.astype({"w": pd.CategoricalDtype(["none", "d^", "b c", "a"])})


@pytest.mark.parametrize("made", [pd.DataFrame, polars, chunks, categories])
def test_a_frame_gives_the_model_of_its_file(tmp_path, learned, frame, made):
    kind, model, printed = learned
    fitted = SparseClassifier(derive=kind).fit(made(frame), frame["y"])
    fitted.save(tmp_path / "python.model")
    assert (tmp_path / "python.model").read_bytes() == model.read_bytes()
    loaded = load_model(model, link="identity")
    assert fitted.decision_function(made(frame)).tolist() == loaded.predict(frame).tolist()
    assert [*map(number_text, fitted.predict_proba(made(frame))[:, 1])] == printed


def test_one_pass_derives_from_the_first_rows(vwlite, tmp_path, monkeypatch):
    monkeypatch.setattr("vwlite.training.auto.reading.KEPT_EXAMPLES", 600)
    rows = bent_rows()  # more than are kept
    path = written(tmp_path / "d.csv", NAMES, rows)
    vwlite("train", path, "--label", "y", "--derive", "auto", "--passes", 1, "-m", tmp_path / "command.model")
    frame = pd.DataFrame(rows, columns=NAMES)
    frame["x"], frame["z"] = pd.to_numeric(frame["x"]), pd.to_numeric(frame["z"])
    SparseClassifier(derive="auto", passes=1).fit(frame, frame["y"]).save(tmp_path / "python.model")
    assert (tmp_path / "python.model").read_bytes() == (tmp_path / "command.model").read_bytes()
    assert read_model(tmp_path / "python.model").settings.derived is not None


@pytest.mark.parametrize("target", ["w", "z"])
def test_so_do_classes_and_numbers(vwlite, tmp_path, rows, frame, target):
    """w has three classes."""
    rows = [[x, z, w.replace(" ", "_"), y] for x, z, w, y in rows]
    frame = frame.assign(w=frame["w"].str.replace(" ", "_"))
    path = written(tmp_path / "d.csv", NAMES, rows)
    options = ["--classes", "a,b_c,d^"] if target == "w" else ["--loss", "squared"]
    options += ["--derive", "auto", "--pairs", 2]
    vwlite("train", path, "--label", target, *options, "-m", tmp_path / "command.model")
    kind = SparseClassifier if target == "w" else SparseRegressor
    kind(derive="auto", pairs=2).fit(frame, frame[target]).save(tmp_path / "python.model")
    assert (tmp_path / "python.model").read_bytes() == (tmp_path / "command.model").read_bytes()


TRIED = [{"derive": "auto"}, {"derive": "auto", "names": True}]  # with which the texts below have n-grams


@pytest.mark.parametrize("options", [*TRIED, {"derive": "none"}, {"derive": "auto", "ngram": 2}])
def test_texts_have_n_grams_where_those_of_the_file_have(vwlite, tmp_path, options):
    rows = review_rows(600)
    frame = pd.DataFrame(rows, columns=["review", "y"])
    words = [f"--{name}" if value is True else f"--{name}={value}" for name, value in options.items()]
    path = written(tmp_path / "d.csv", ["review", "y"], rows)
    vwlite("train", path, "--label", "y", "--text", "review", *words, "-m", tmp_path / "command.model")
    fitted = SparseClassifier(text="review", **options).fit(frame, frame["y"])
    fitted.save(tmp_path / "python.model")
    assert (tmp_path / "python.model").read_bytes() == (tmp_path / "command.model").read_bytes()
    printed = vwlite("predict", "-m", tmp_path / "command.model", path, "--link", "logistic").out.split()
    assert [*map(number_text, fitted.predict_proba(frame)[:, 1])] == printed
    assert ("characters" in read_model(tmp_path / "python.model").columns) == (options in TRIED)
    fitted.partial_fit(frame, frame["y"]).save(tmp_path / "python.model")
    vwlite("train", path, "-i", tmp_path / "command.model", "-m", tmp_path / "command.model")
    models = [read_model(tmp_path / f"{name}.model") for name in ("python", "command")]
    assert [*models[0].weights] == [*models[1].weights] and models[0].columns == models[1].columns


def test_without_the_option_it_is_what_the_command_does(vwlite, tmp_path, rows, frame):
    path = written(tmp_path / "d.csv", NAMES, rows)
    vwlite("train", path, "--label", "y", "-m", tmp_path / "command.model")
    SparseClassifier().fit(frame, frame["y"]).save(tmp_path / "python.model")
    assert (tmp_path / "python.model").read_bytes() == (tmp_path / "command.model").read_bytes()


@pytest.mark.parametrize("as_matrix", [np.asarray, csr_array])
def test_from_a_matrix_nothing_is_derived(frame, as_matrix):
    x = as_matrix(frame[["z"]].to_numpy())
    found = SparseClassifier().fit(x, frame["y"])
    assert found.get_feature_names_out().tolist() == ["x0"] and "derived" not in found.report_
    assert SparseClassifier(derive="none").fit(x, frame["y"]).weights_ == found.weights_
    with pytest.raises(ValueError, match="derive is for columns of frames, and X is a matrix: pass a frame"):
        SparseClassifier(derive="auto").fit(x, frame["y"])


def test_derived_features_have_names_and_no_coefficients(fitted):
    names = fitted.get_feature_names_out().tolist()
    assert names[:2] == ["x", "x~64@-10"] and "w" in names and "w=a" not in names
    curve_of_z = [name for name in names if name.startswith("z~64@")]
    at = names.index("z")
    end = at + len(curve_of_z) + 1
    assert names[names.index("x?") + 1 : end + 1] == ["z", *curve_of_z, "z?"]
    assert names[end + 1] == "w" and all("^" in name for name in names[end + 2 :])
    assert any(name.endswith("^w=d%5E") for name in names) and len(set(names)) == len(names)
    shown = {name.partition("^")[2] for name, _ in fitted.weights_ if isinstance(name, str)}
    levels = {"w=a", "w=b c", "w=d^", "w?"}  # which have a name, but are features of one column
    assert len(shown) > 100 and shown - {""} - levels <= set(names)
    assert not hasattr(fitted, "coef_") and len(fitted.intercept_) == 1
    with pytest.raises(AttributeError, match="features are derived from the columns, which derive='none' does not"):
        fitted.coef_  # noqa: B018
    assert fitted.report_["derived"].startswith("curves of 2 numbers")


def test_it_is_copied_and_continued(fitted, frame, tmp_path, vwlite):
    assert clone(fitted).get_params() == fitted.get_params() and fitted.get_params()["derive"] == "auto"
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict_proba(frame) == fitted.predict_proba(frame)).all()
    fitted.save(tmp_path / "m")
    again.partial_fit(frame, frame["y"]).save(tmp_path / "python.model")
    written(tmp_path / "d.csv", NAMES, bent_rows(900))
    vwlite("train", tmp_path / "d.csv", "-i", tmp_path / "m", "-m", tmp_path / "m")
    found, expected = read_model(tmp_path / "python.model"), read_model(tmp_path / "m")
    assert found.settings.derived == expected.settings.derived is not None
    assert [*found.weights] == [*expected.weights]
    initial = SparseClassifier(initial=tmp_path / "python.model").fit(frame, frame["y"])
    assert initial._learned.settings.derived == expected.settings.derived


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "gd", "derive": "auto"}, "derive needs algorithm auto, the default, and not gd"),
        ({"derive": "none", "pairs": 3}, "pairs needs derive pairs or auto, and not none"),
        ({"derive": "curves", "pairs": 3}, "pairs needs derive pairs or auto, and not curves"),
        ({"derive": "all"}, "derive: 'all' is not one of"),
    ],
)
def test_what_is_refused(frame, options, message):
    with pytest.raises(ValueError, match=message):
        SparseClassifier(**options).fit(frame, frame["y"])


def test_partial_fit_learns_columns_as_they_are(frame):
    for options in ({"algorithm": "auto"}, {}):
        first = SparseClassifier(**options).partial_fit(frame, frame["y"], classes=["no", "yes"])
        assert first._learned.settings.derived is None
    with pytest.raises(ValueError, match="learns columns as they are: use fit with derive"):
        SparseClassifier(algorithm="auto", derive="auto").partial_fit(frame, frame["y"], classes=["no", "yes"])
