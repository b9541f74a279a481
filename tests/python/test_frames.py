"""Frames of every library, by the Arrow C stream protocol: what a column becomes, and what is refused."""

import ctypes
import math
import pickle
import sys
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sklearn")
pa = pytest.importorskip("pyarrow")

import pandas as pd  # noqa: E402
from running import GD  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.metrics import roc_auc_score  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_predict, train_test_split  # noqa: E402
from slow_tables import kept  # noqa: E402
from tiers import ALL  # noqa: E402

from vwlite import SparseClassifier, SparseRegressor, load_model  # noqa: E402
from vwlite.algorithms.settings import Settings  # noqa: E402
from vwlite.core.data.batch import Batch  # noqa: E402
from vwlite.core.learn.output import number_text  # noqa: E402
from vwlite.core.tables.arrow import Frame  # noqa: E402
from vwlite.core.text.parser import Parser  # noqa: E402
from vwlite.estimators.frames import frame_of, prepared, schema_of  # noqa: E402
from vwlite.input.arrow import text_of  # noqa: E402
from vwlite.input.schema import RoleOptions  # noqa: E402
from vwlite.model import read_model  # noqa: E402
from vwlite.model.absent import learned  # noqa: E402
from vwlite.model.file import to_bytes  # noqa: E402

ROOT = Path(__file__).parents[2]
DATA = {
    "age": [39.0, 50.0, None, 28.5, 0.0],
    "country": ["PT", "DE", None, " US x ", "PT"],
    "ad text": ["Great shoes", "buy NOW", "", "Über cool", None],
    "member": [True, False, None, True, True],
    "visits": [1, 0, -3, 7, None],
}
TEXT = [
    "1 |age age:39 |country country=PT |ad_text great shoes |member member=true |visits visits:1",
    "-1 |age age:50 |country country=DE |ad_text buy now |member member=false",
    "1 |age age? |country country? |ad_text ad_text? |member member? |visits visits:-3",
    "-1 |age age:28.5 |country country=US%20x |ad_text über cool |member member=true |visits visits:7",
    "1 |country country=PT |ad_text ad_text? |member member=true |visits visits?",
]
Y = [1, 0, 1, 0, 1]


def arrow():
    return pa.table(DATA)


def chunked():
    whole = pa.concat_tables([arrow().slice(0, 1), arrow().slice(0, 0), arrow().slice(1, 4)])
    return pa.concat_tables([arrow().slice(4), whole, arrow()]).slice(1, 5)


def batches():
    """A stream that can be read once."""
    return arrow().to_reader(max_chunksize=2)


def polars():
    return pytest.importorskip("polars").DataFrame(DATA)


def categories():
    pl = pytest.importorskip("polars")
    return polars().with_columns(pl.col("country").cast(pl.Categorical))


def pandas():
    return pd.DataFrame(DATA)


def pandas_categories():
    return pandas().astype({"country": "category"})


def duckdb():
    module = pytest.importorskip("duckdb")
    return module.from_arrow(arrow())


def typed(**types):
    def make():
        table = arrow()
        for name, kind in types.items():
            i = table.column_names.index(name)
            table = table.set_column(i, name, table[name].cast(kind))
        return table

    return make


def dictionaries():
    table = arrow()
    i = table.column_names.index("country")
    return table.set_column(i, "country", table["country"].dictionary_encode())


FRAMES = {
    "pyarrow": arrow, "chunks": chunked, "a reader": batches, "polars": polars, "categories of polars": categories,
    "pandas": pandas, "categories of pandas": pandas_categories, "duckdb": duckdb, "dictionaries": dictionaries,
    "float32": typed(age=pa.float32()), "halves": typed(age=pa.float16()), "int8": typed(visits=pa.int8()),
    "large strings": typed(country=pa.large_string()), "views": typed(country=pa.string_view()),
    "int16": typed(visits=pa.int16()), "int32": typed(visits=pa.int32()),
}


@pytest.fixture
def command(vwlite, tmp_path):
    (tmp_path / "data.vw").write_text("\n".join(TEXT) + "\n", encoding="utf-8")
    vwlite("train", *GD, tmp_path / "data.vw", "--loss", "logistic", "-m", tmp_path / "command.model", "--quiet")
    return tmp_path / "command.model"


def is_of_text(made, frame, model, text=TEXT):
    """Whether an estimator has learned what a model of VW text has, and predicts a frame as that text. The weights of
    absent cells, which a table has besides, are in its predictions alone."""
    made.save(model.with_name("python.model"))
    a, b = learned(read_model(model.with_name("python.model"))), read_model(model)
    assert sorted(a.weights) == pytest.approx(sorted(b.weights), rel=1e-6)  # text of VW has other hashes of escapes
    loaded = load_model(model.with_name("python.model"), link="identity")
    expected = list(loaded.predict_lines(text, format="vw"))
    assert loaded.predict(frame).tolist() == expected
    return expected


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_frame_is_the_text_of_the_table(frame, command):
    made = SparseClassifier(algorithm="gd", text="ad text").fit(frame(), Y)
    expected = is_of_text(made, frame(), command)
    assert made.decision_function(frame()).tolist() == expected
    assert made.feature_names_in_.tolist() == list(DATA)
    assert made.n_features_in_ == len(DATA)
    assert made.partial_fit(frame(), Y).decision_function(frame()).tolist() != expected


def test_several_passes_read_a_stream_once(command, vwlite, tmp_path):
    options = ["--passes", "4", "--holdout-off"]
    vwlite("train", tmp_path / "data.vw", "--loss", "logistic", *options, "-m", tmp_path / "m", "--quiet")
    made = SparseClassifier(text="ad text", passes=4, holdout_off=True).fit(batches(), Y)
    assert made.decision_function(arrow()).tolist() == is_of_text(made, arrow(), tmp_path / "m")


def test_crosses_are_by_the_letters_of_columns(command, vwlite, tmp_path):
    vwlite("train", *GD, tmp_path / "data.vw", "--loss", "logistic", "-q", "cm", "-m", tmp_path / "m", "--quiet")
    made = SparseClassifier(algorithm="gd", text="ad text", quadratic=["cm"]).fit(arrow(), Y)
    assert made.decision_function(arrow()).tolist() == is_of_text(made, arrow(), tmp_path / "m")


def test_crosses_are_by_the_names_of_columns(command, vwlite, tmp_path):
    typed = ["-q", "country,member", "-m", tmp_path / "m", "--quiet"]
    vwlite("train", *GD, tmp_path / "data.vw", "--loss", "logistic", *typed)
    made = SparseClassifier(algorithm="gd", text="ad text", quadratic="country,member").fit(arrow(), Y)
    expected = is_of_text(made, arrow(), tmp_path / "m")
    assert made.decision_function(arrow()).tolist() == expected
    plain = SparseClassifier(algorithm="gd", text="ad text").fit(arrow(), Y)
    assert expected != plain.decision_function(arrow()).tolist()
    with pytest.raises(ValueError, match="country,town cannot be crossed: there are no features of a column 'town'"):
        SparseClassifier(algorithm="gd", quadratic="country,town").fit(arrow(), Y)


def names_of(model):
    """The names in a model, without the escapes of VW text."""
    return sorted(name.replace(b"US%20x", b"US x") for _, name in read_model(model).names)


@pytest.mark.parametrize("options", [{}, {"quadratic": ["ca", "country,member"]}, {"passes": 3, "holdout_off": True}])
def test_names_of_features_are_those_of_the_text(command, vwlite, tmp_path, options):
    crossing = [word for cross in options.get("quadratic", ()) for word in ("-q", cross)]
    passes = ["--passes", "3", "--holdout-off"] if "passes" in options else []
    typed = ["--loss", "logistic", "--names", *crossing, *passes, "--quiet", "-m", tmp_path / "m"]
    vwlite("train", *GD, tmp_path / "data.vw", *typed)
    expected = names_of(tmp_path / "m")
    made = SparseClassifier(algorithm="gd", text="ad text", names=True, **options)
    for frame in (arrow(), chunked(), batches()):
        made.fit(frame, Y).save(tmp_path / "python.model")
        assert names_of(tmp_path / "python.model") == expected != []
    vwlite("train", tmp_path / "data.vw", "-i", tmp_path / "m", "-m", tmp_path / "m", "--quiet")
    if not passes:
        twice = pickle.loads(pickle.dumps(made)).partial_fit(arrow(), Y)
        for again in (twice, SparseClassifier(initial=tmp_path / "python.model", text="ad text").fit(arrow(), Y)):
            again.save(tmp_path / "python.model")
            assert names_of(tmp_path / "python.model") == names_of(tmp_path / "m")
    SparseClassifier(algorithm="gd", text="ad text", **options).fit(arrow(), Y).save(tmp_path / "python.model")
    assert len(read_model(tmp_path / "python.model").names) == 0


def test_names_of_partial_fits_add_up(command, vwlite, tmp_path):
    vwlite("train", *GD, tmp_path / "data.vw", "--loss", "logistic", "--names", "--quiet", "-m", tmp_path / "m")
    made = SparseClassifier(algorithm="gd", text="ad text", names=True)
    for i in range(len(Y)):
        made.partial_fit(arrow().slice(i, 1), Y[i : i + 1], classes=[0, 1])
    made.save(tmp_path / "python.model")
    assert names_of(tmp_path / "python.model") == names_of(tmp_path / "m")
    SparseClassifier(algorithm="gd", text="ad text", names=2).fit(arrow(), Y).save(tmp_path / "m")
    names = {name for _, name in read_model(tmp_path / "m").names if not name.endswith(b"?")}  # and absent cells
    assert names == {b"age^age", b"country^country=PT"}
    with pytest.raises(ValueError, match="names= is for models of a matrix"):
        made.save(tmp_path / "m", names=list(DATA))
    for wrong in (0, -1, "x", 1.5):
        with pytest.raises(ValueError, match="names"):
            SparseClassifier(algorithm="gd", names=wrong).fit(arrow(), Y)


def test_a_table_in_a_file_is_the_same(vwlite, tmp_path):
    pl = pytest.importorskip("polars")
    frame = polars().with_columns(pl.Series("bought", [1, -1, 1, -1, 1]))
    frame.write_csv(tmp_path / "data.csv")
    text = ["--text", "ad text", "--loss", "logistic", "--quiet"]
    vwlite("train", *GD, tmp_path / "data.csv", "--label", "bought", *text, "-m", tmp_path / "command.model")
    made = SparseClassifier(algorithm="gd", text="ad text").fit(polars(), Y)
    made.save(tmp_path / "python.model")
    expected = made.decision_function(polars()).tolist()
    for model in ("command.model", "python.model"):
        assert load_model(tmp_path / model, link="identity").predict(polars()).tolist() == expected
        predict = ("predict", tmp_path / "data.csv", "-m", tmp_path / model, "--link", "identity")
        printed = vwlite(*predict, "--quiet").out.split()
        assert printed == [*map(number_text, expected)]


TASK = """
import polars as pl
from vwlite import SparseClassifier
def read(name):
    return pl.read_csv(name, separator="|", has_header=False, new_columns=["label", "code"], quote_char=None)
train, test = read("data/sources.train.vw"), read("data/sources.test.vw")
m = SparseClassifier(text="code", passes=5).fit(train[["code"]], train["label"])
print(m.score(test[["code"]], test["label"]), m.predict_proba(test[["code"]])[:2])
"""


def test_a_frame_becomes_probabilities_in_eight_lines(monkeypatch, capfd):
    pytest.importorskip("polars")
    monkeypatch.chdir(ROOT)
    assert len(TASK.strip().splitlines()) <= 8
    exec(TASK, {})
    assert float(capfd.readouterr().out.split()[0]) > 0.85


def test_roles_that_are_said(vwlite, tmp_path):
    zips, texts = [12045, 90210, -7], ["A a", "b a b", ""]
    frame = pa.table({"zip": zips, "on": [True, False, None], "gone": [1, 2, 3], "t": texts})
    text = ["1 |zip zip=12045 |on on:1 |t a a a_a", "-1 |zip zip=90210 |t b a b_a b a_b", "1 |zip zip=-7 |on on? |t t?"]
    made = SparseClassifier(algorithm="gd", categorical=["zip"], numeric=["on"], text=["t"], drop=["gone"], ngram=2)
    made.fit(frame, [1, -1, 1])
    (tmp_path / "data.vw").write_text("\n".join(text))
    vwlite("train", *GD, tmp_path / "data.vw", "--loss", "logistic", "-m", tmp_path / "command.model", "--quiet")
    assert made.decision_function(frame).tolist() == is_of_text(made, frame, tmp_path / "command.model", text)
    with pytest.raises(AttributeError, match="the frame has others than numeric columns"):
        _ = made.coef_


def test_numbers_have_weights():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 3))
    frame = pa.table({name: x[:, j] for j, name in enumerate("abc")})
    made = SparseRegressor(passes=9, holdout_off=True).fit(frame, x @ [1, 0, -2] + 3)
    assert made.coef_ == pytest.approx([1, 0, -2], abs=0.1)
    assert made.predict(frame) == pytest.approx(x @ made.coef_ + made.intercept_[0], abs=1e-5)
    assert made.get_feature_names_out().tolist() == ["a", "b", "c"]


def test_times_of_frames(vwlite, tmp_path):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    text = ["2026-01-31T13:05:00", None, "1969-12-31T23:59:59", "2024-02-29T00:00:00"]
    stamps = [None if x is None else datetime.fromisoformat(x) for x in text]
    vw = ["1 |at hour=13 weekday=6 month=1", "-1 |at at?", "1 |at hour=23 weekday=3 month=12"]
    vw.append("-1 |at hour=0 weekday=4 month=2")
    (tmp_path / "data.vw").write_text("\n".join(vw) + "\n")
    vwlite("train", *GD, tmp_path / "data.vw", "--loss", "logistic", "-m", tmp_path / "m", "--quiet")
    zoned = pd.DataFrame({"at": pd.to_datetime(pd.Series(stamps), utc=True).dt.tz_convert("Etc/UTC")})
    for frame in (pd.DataFrame({"at": stamps}), pl.DataFrame({"at": stamps}), pa.table({"at": text}), zoned):
        made = SparseClassifier(algorithm="gd", time="at").fit(frame, [1, -1, 1, -1])
        assert made.decision_function(frame).tolist() == is_of_text(made, frame, tmp_path / "m", vw)
    made = SparseClassifier(algorithm="gd", time=["at"], names=True).fit(pa.table({"at": text}), [1, -1, 1, -1])
    made.save(tmp_path / "m")
    assert {name for _, name in read_model(tmp_path / "m").names} >= {b"at^hour=13", b"at^weekday=6", b"at^month=1"}
    with pytest.raises(ValueError, match="X contains an invalid time, at row 1, column 'at': a time is ISO 8601, such"):
        made.predict(pa.table({"at": ["2026-01-31", "soon"]}))
    with pytest.raises(ValueError, match="column 'at' is true or false, so it cannot be a time"):
        made.predict(pa.table({"at": [True]}))


def test_times_of_a_frame_have_the_hour_of_their_zone(vwlite, tmp_path):
    """As the text that pandas and polars write of them, in the model of a file, too."""
    pl = pytest.importorskip("polars")
    at = pd.date_range("2025-03-08 21:00", periods=60, freq="h", tz="UTC").tz_convert("America/New_York")
    y = (at.hour < 12).astype(int)
    frame = pd.DataFrame({"at": at})
    frame.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    vwlite("train", tmp_path / "t.csv", *GD, "--label", "y", "--time", "at", "-m", tmp_path / "m", "--quiet")
    texts = pd.DataFrame({"at": at.astype(str)})
    made = load_model(tmp_path / "m")
    for rows in (frame, texts, pl.from_pandas(frame), texts.to_dict("records")):
        assert made.predict(rows).tolist() == made.predict(frame).tolist()
    assert len(set(made.predict(frame).tolist())) > 24


def test_numbers_that_a_frame_has_as_words_are_numbers(vwlite, tmp_path):
    """As CSV has them, for estimators and load_model; a category, and a column with another word, is words."""
    numbers = pd.DataFrame({"a": [1.5, -2, None, 1000] * 9, "b": [1, 2, 3, 4] * 9, "c": [*"wxyz"] * 9})
    y = [0, 1, 0, 1] * 9
    words = numbers.assign(a=[" 1.5", "-2", "NA", "1e3"] * 9, b=numbers.b.astype(str))
    made = SparseClassifier(algorithm="gd").fit(numbers, y)
    for frame in (words, pa.table(words), words.astype("string")):
        other = SparseClassifier(algorithm="gd").fit(frame, y)
        assert other.decision_function(frame).tolist() == made.decision_function(numbers).tolist()
        assert made.decision_function(frame).tolist() == made.decision_function(numbers).tolist()
    made.save(tmp_path / "m")
    assert load_model(tmp_path / "m").predict(words).tolist() == load_model(tmp_path / "m").predict(numbers).tolist()
    with pytest.raises(ValueError, match="X contains a word that is not a number, at row 1, in the numeric column 'a'"):
        made.predict(words.assign(a=["1", "x", "2", "3"] * 9))
    roles = [schema_of(frame_of(frame), RoleOptions()).roles for frame in (
        words.astype({"b": "category"}), words.assign(b=["1", "2", "3", "x"] * 9), words.assign(b=None))]
    assert [found["b"] for found in roles] == ["categorical", "categorical", "auto"]


@pytest.mark.parametrize("algorithm", ["gd", "auto"])
def test_partial_fit_takes_up_a_column_that_had_no_value(tmp_path, algorithm):
    rows = pd.DataFrame({"a": [1.5, -2.0, 0.5, 3.0] * 9, "b": [1, 2, 3, 4] * 9})
    y = [0, 1, 0, 1] * 9
    made = SparseClassifier(algorithm=algorithm).partial_fit(rows.assign(a=None), y, classes=[0, 1])
    made.predict(rows)
    made.partial_fit(rows, y).save(tmp_path / "m")
    assert dict(read_model(tmp_path / "m").columns["roles"]) == {"a": "numeric", "b": "numeric"}
    with pytest.raises(ValueError, match="a word that is not a number"):
        made.partial_fit(rows.assign(a="x"), y)


@pytest.mark.parametrize("kind", ["names", "words"])
def test_a_frame_has_the_names_and_words_of_the_initial_model(tmp_path, kind):
    """Of 0.2.0: then no feature is new."""
    words = ["a b", "a_b"] if kind == "names" else ["तमिल", "तम ल"]
    frame, y = pa.table({"x": words * 5}), [0, 1] * 5
    made = SparseClassifier(algorithm="gd", text="x" if kind == "words" else ())
    model = made.fit(pa.table({"x": ["a_b" if kind == "names" else "तम ल"] * 10}), y)._learned.model()
    model.columns = {name: x for name, x in model.columns.items() if name not in ("names", "words")}
    (tmp_path / "m").write_bytes(to_bytes(model, "m"))
    again = SparseClassifier(initial=tmp_path / "m", text=made.text).fit(frame, y)._learned.model()
    assert list(again.keys) == list(model.keys) and again.columns == model.columns


def test_nan_is_missing(tmp_path):
    """As pandas has it, whose frames come with null instead."""
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    data = {"x": [1.0, math.nan, 3.0, math.nan], "z": ["a", "b", "a", "c"]}
    expected = SparseClassifier(algorithm="gd").fit(pa.table(data | {"x": [1.0, None, 3.0, None]}), [1, 0, 1, 0])
    scores = expected.decision_function(pa.table(data | {"x": [1.0, None, 3.0, None]})).tolist()
    for frame in (pa.table(data), pl.DataFrame(data), pd.DataFrame(data)):
        made = SparseClassifier(algorithm="gd").fit(frame, [1, 0, 1, 0])
        assert made.decision_function(frame).tolist() == scores
        made.save(tmp_path / "m")
        assert load_model(tmp_path / "m", link="identity").predict(frame).tolist() == scores


CELLS = {
    pa.float64(): st.none() | st.floats(-1e30, 1e30),
    pa.int64(): st.none() | st.integers(-(10**18), 10**18),
    pa.string(): st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=20),
    pa.bool_(): st.none() | st.booleans(),
}


@settings(max_examples=150 if ALL else 12, deadline=None)
@given(st.data())
def test_any_frame_is_its_text(data):
    kinds = data.draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=4))
    rows = data.draw(st.integers(1, 6))
    columns = [data.draw(st.lists(CELLS[kind], min_size=rows, max_size=rows)) for kind in kinds]
    table = pa.table({f"c{j}": pa.array(c, k) for j, (c, k) in enumerate(zip(columns, kinds, strict=True))})
    cut = data.draw(st.integers(0, rows))
    table = pa.concat_tables([table.slice(0, cut), table.slice(cut)])
    text = []
    for row in zip(*columns, strict=True):
        words = [feature(f"c{j}", x) for j, x in enumerate(row)]
        text.append(b"| " + b" ".join(b"|c%d %s" % (j, w) for j, w in enumerate(words) if w))
    expected, batch = Batch(), Batch()
    parser = Parser(places=True)
    parser.unescapes = True
    assert parser.parse(b"\n".join(text), expected) == 0
    frame = frame_of(table)
    assert prepared(frame, schema_of(frame, RoleOptions()), Settings()).fill(batch, 0) == rows
    for name in ("hash", "value", "letter", "span_begin", "feature_begin", "kind", "importance"):
        assert getattr(batch, name).tolist() == getattr(expected, name).tolist(), name


def feature(name, x):
    """What a cell is in VW text, as `vwlite/input/schema.py` has it."""
    if x is None:
        return f"{name}?".encode()
    if isinstance(x, bool):
        return f"{name}={str(x).lower()}".encode()
    if isinstance(x, float | int):
        return f"{name}:{float(np.float32(x))!r}".encode()
    word = kept(x.strip(" \t").rstrip("".join(map(chr, range(33)))), ":|", 2)
    return f"{name}={word}".encode() if word else f"{name}?".encode()


REFUSED = {
    "a list": (lambda: pa.table({"x": [[1], [2]]}), "column 'x' is a list"),
    "structs": (lambda: pa.table({"x": [{"a": 1}, {"a": 2}]}), "column 'x' is a struct"),
    "lists of structs": (lambda: pa.table({"x": [[{"a": 1}], []]}), "column 'x' is a list"),
    "times of day": (lambda: pa.table({"x": pa.array([1, 2], pa.time32("s"))}), "column 'x' is a time, of which no"),
    "decimals": (lambda: pa.table({"x": pa.array([1, 2], pa.decimal256(50))}), "column 'x' is a decimal"),
    "bytes": (lambda: pa.table({"x": [b"a", b"b"]}), "column 'x' is bytes"),
    "maps": (lambda: pa.table({"x": pa.array([[], []], pa.map_(pa.string(), pa.int8()))}), "column 'x' is a map"),
    "infinity": (lambda: pa.table({"x": [1.0, -math.inf]}), "X contains infinity.* at row 1, column 'x'"),
    "too large": (lambda: pa.table({"x": [1.0, 1e39]}), "too large for a 32-bit float, at row 1, column 'x'"),
    "two of a name": (lambda: pa.Table.from_arrays([pa.array([1, 2])] * 2, ["x", "x"]), "two columns are called 'x'"),
    "two of a namespace": (lambda: pa.table({"x y": [1, 2], "x:y": [1, 2]}), "both are the namespace x_y"),
    "no name": (lambda: pa.table({"": [1, 2]}), "column 1 has no name"),
    "no column": (lambda: pa.table({}), "0 feature|0 sample"),
    "no rows": (lambda: pa.table({"x": pa.array([], pa.int8())}), r"0 sample\(s\)"),
    "a column": (lambda: pa.chunked_array([[1, 2]]), "X is not a frame: it has no columns"),
    "a Series": (lambda: pd.Series(["a", "b"]), "a Series becomes a frame with to_frame|a sequence of strings"),
    "a list of texts": (lambda: ["great shoes", "buy now"], "X is a sequence of strings: put them into a column of a"),
    "an array of texts": (lambda: np.array(["great shoes", "buy now"]), "X is a sequence of strings"),
    "another length": (lambda: pa.table({"x": [1, 2, 3]}), "X has 3 rows, but y has 2 labels"),
    "null rows": (lambda: pa.chunked_array([pa.array([{"x": 1}, None])]), "a row of the frame is null"),
    "null rows, sliced": (lambda: pa.chunked_array([pa.array([{"x": 1}] * 9 + [None, {"x": 1}])]).slice(9), "is null"),
}


@pytest.mark.parametrize(("frame", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(frame, message):
    with pytest.raises(ValueError, match=message):
        SparseClassifier(algorithm="gd").fit(frame(), [1, 2])


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"numeric": ["country"]}, "X contains a word that is not a number, at row 0, in the numeric column 'country'"),
        ({"text": ["age"]}, "column 'age' has no words, so it cannot be text"),
        ({"drop": ["town"]}, "drop town: no such column; the columns are age, country"),
        ({"drop": ["age"], "text": ["age"]}, "column 'age' is both text and drop"),
        ({"ngram": 0}, "ngram is 0, but must be an integer from 1 to 16"),
    ],
)
def test_roles_that_do_not_fit(roles, message):
    with pytest.raises(ValueError, match=message):
        SparseClassifier(algorithm="gd", **roles).fit(arrow(), Y)


def test_a_timestamp_is_a_time_alone():
    frame = arrow().append_column("when", pa.array([1, 2, 3, 4, 5], pa.timestamp("s")))
    with pytest.raises(ValueError, match="column 'when' is a timestamp: read it with time"):
        SparseClassifier(algorithm="gd", text=["when"]).fit(frame, Y)
    found, typed = (SparseClassifier(algorithm="gd", time=time).fit(frame, Y) for time in ((), ["when"]))
    assert found.weights() == typed.weights()


def test_a_type_without_a_feature_may_be_dropped():
    frame = arrow().append_column("when", pa.array([1, 2, 3, 4, 5], pa.timestamp("s")))
    made = SparseClassifier(algorithm="gd", drop="when").fit(frame, Y)
    expected = SparseClassifier(algorithm="gd").fit(arrow(), Y)
    assert made.decision_function(frame).tolist() == expected.decision_function(arrow()).tolist()


def test_what_prediction_refuses(tmp_path):
    made = SparseClassifier(algorithm="gd").fit(arrow(), Y)
    with pytest.raises(ValueError, match="seen at fit time, yet now missing:\n- age"):
        made.predict(arrow().drop_columns("age"))
    with pytest.raises(ValueError, match="was fitted with a frame"):
        made.predict(np.zeros((5, 5)))
    text = arrow().set_column(0, "age", pa.array(["39", None, "old", None, None]))
    with pytest.raises(ValueError, match="a word that is not a number, at row 2, in the numeric column 'age'"):
        made.predict(text)
    made.save(tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.predict(arrow().append_column("more", arrow()["age"])).tolist() == loaded.predict(arrow()).tolist()
    with pytest.raises(ValueError, match="column age of the model is missing"):
        loaded.predict(arrow().rename_columns(["years", *list(DATA)[1:]]))
    SparseClassifier(algorithm="gd").fit(np.eye(2), [1, 2]).save(tmp_path / "m")
    with pytest.raises(ValueError, match="the model was not trained on a table"):
        load_model(tmp_path / "m").predict(arrow())


def test_a_stream_that_fails():
    def broken():
        yield arrow().to_batches()[0]
        raise RuntimeError("the disk is gone")

    with pytest.raises(ValueError, match=r"the frame cannot be read: .*the disk is gone"):
        SparseClassifier(algorithm="gd").fit(pa.RecordBatchReader.from_batches(arrow().schema, broken()), Y)


def test_a_capsule_is_read_once():
    capsule = arrow().__arrow_c_stream__()
    assert Frame(capsule).rows == 5
    with pytest.raises(ValueError, match="read already"):
        Frame(capsule)
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    assert name(capsule) == b"arrow_array_stream"
    with pytest.raises(ValueError):
        Frame(arrow().schema.__arrow_c_schema__())


# --- the index of a frame of pandas --------------------------------------------------------------


def sorted_by_label(rows=400):
    """A frame of which the labels are 0 for the first half of the rows, and say little otherwise; and the labels."""
    rng = np.random.default_rng(25)
    y = np.repeat([0, 1], rows // 2)
    frame = pd.DataFrame({"x": rng.normal(size=rows) + 0.5 * y, "c": rng.choice(list("abc"), rows)})
    return frame, pd.Series(y)


INDEXES = {
    "numbers": lambda n: np.arange(n)[::-1] + 5,
    "words": lambda n: pd.Index([f"row {i}" for i in range(n)]),
    "named": lambda n: pd.Index(np.arange(n) * 3, name="user"),
    "named as a column": lambda n: pd.Index(np.arange(n) * 3, name="x"),
    "without a word in its name": lambda n: pd.Index(np.arange(n) * 3, name=""),
    "several": lambda n: pd.MultiIndex.from_arrays([np.arange(n) // 7, np.arange(n)], names=["user", None]),
    "times": lambda n: pd.date_range("2024-01-01", periods=n, freq="h", name="at"),
    "a range": lambda n: pd.RangeIndex(7, 7 + 2 * n, 2, name="step"),
}


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_an_index_of_pandas_is_not_a_feature(index, vwlite, tmp_path):
    frame, y = sorted_by_label()
    other = frame.set_axis(index(len(frame)))
    made, expected = SparseClassifier(algorithm="gd").fit(other, y), SparseClassifier(algorithm="gd").fit(frame, y)
    assert made.feature_names_in_.tolist() == ["x", "c"] and made.n_features_in_ == 2
    made.save(tmp_path / "a")
    expected.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    for rows in (frame, other, other[::-1][::-1], frame.sample(frac=1, random_state=1).sort_index()):
        for model in (made, load_model(tmp_path / "a")):
            assert model.decision_function(rows).tolist() == expected.decision_function(frame).tolist()
    labels = pd.Series(y.to_numpy(), index=other.index)
    weights = pd.Series(1.0, index=other.index)
    again = SparseClassifier(algorithm="gd").partial_fit(other, labels, classes=[0, 1], sample_weight=weights)
    again.partial_fit(frame, y)
    assert again.partial_fit(other, y).predict(other).tolist() == again.predict(frame).tolist()
    # The same in a file: what pandas writes, with and without the index.
    for name, rows in (("a", other), ("b", frame)):
        rows.assign(y=2 * y.to_numpy() - 1).to_parquet(tmp_path / f"{name}.parquet")
        run = [tmp_path / f"{name}.parquet", "--label", "y"]
        vwlite("train", *GD, *run, "--loss", "logistic", "-m", tmp_path / name)
        (tmp_path / f"{name}.vw").write_text(vwlite("convert", *run).out)
    assert (tmp_path / "a.vw").read_bytes() == (tmp_path / "b.vw").read_bytes()
    predicted = [
        vwlite("predict", "-m", tmp_path / m, tmp_path / f"{rows}.parquet") for m in "ab" for rows in "ab"
    ]
    assert len({done.out for done in predicted}) == 1
    assert not any("not in the model" in done.err for done in predicted)
    assert list(read_model(tmp_path / "a").weights) == list(read_model(tmp_path / "b").weights)


def test_an_index_is_not_a_feature_after_other_libraries(tmp_path):
    """polars keeps the column, and not the metadata that says what it is."""
    frame, y = sorted_by_label()
    frame.set_axis(INDEXES["numbers"](len(frame))).to_parquet(tmp_path / "a.parquet")
    read = pytest.importorskip("polars").read_parquet(tmp_path / "a.parquet")
    assert read.columns == ["x", "c", "__index_level_0__"]
    made = SparseClassifier(algorithm="gd").fit(read, y)
    expected = SparseClassifier(algorithm="gd").fit(frame, y)
    assert made.decision_function(read).tolist() == expected.decision_function(frame).tolist()


def test_an_option_makes_a_feature_of_an_index(vwlite, tmp_path):
    frame, y = sorted_by_label()
    named = frame.set_axis(pd.Index(np.arange(len(frame)) // 100, name="week"))
    made = SparseClassifier(algorithm="gd", categorical="week").fit(named, y)
    expected = SparseClassifier(algorithm="gd", categorical="week").fit(named.reset_index()[["x", "c", "week"]], y)
    assert made.feature_names_in_.tolist() == ["x", "c", "week"]
    assert made.decision_function(named).tolist() == expected.decision_function(named).tolist()
    with pytest.raises(ValueError, match="seen at fit time, yet now missing:\n- week"):
        made.predict(frame)
    named.assign(y=y.to_numpy()).to_parquet(tmp_path / "a.parquet")
    out = vwlite("convert", tmp_path / "a.parquet", "--label", "y", "--categorical", "week").out
    assert out.count("|week week=") == len(frame)
    said = vwlite("train", *GD, tmp_path / "a.parquet", "--label", "y", "-m", tmp_path / "m").err
    assert "columns: label y; numeric x; categorical c; drop week\n" in said
    assert SparseClassifier(algorithm="gd", drop=["week"]).fit(named, y).feature_names_in_.tolist() == ["x", "c"]


def test_a_model_that_has_learned_an_index_still_predicts(tmp_path):
    """As versions before this one made them."""
    frame, y = sorted_by_label()
    other = frame.set_axis(INDEXES["numbers"](len(frame)))
    SparseClassifier(algorithm="gd", numeric="__index_level_0__").fit(other, y).save(tmp_path / "m")
    assert len(load_model(tmp_path / "m").predict(other)) == len(frame)
    with pytest.raises(ValueError, match=r"it was the index of a pandas frame, .* train the model again"):
        load_model(tmp_path / "m").predict(frame)


def test_a_model_of_json_lines_does_not_take_an_index(vwlite, tmp_path):
    frame, y = sorted_by_label(20)
    rows = frame.assign(y=y)
    rows.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    vwlite("train", *GD, tmp_path / "a.jsonl", "--label", "y", "-m", tmp_path / "m")
    rows.to_parquet(tmp_path / "a.parquet")
    rows.set_axis(INDEXES["named"](20)).to_parquet(tmp_path / "b.parquet")
    assert vwlite("predict", "-m", tmp_path / "m", tmp_path / "a.parquet").out == vwlite(
        "predict", "-m", tmp_path / "m", tmp_path / "b.parquet"
    ).out
    loaded = load_model(tmp_path / "m")
    assert loaded.predict(rows.set_axis(INDEXES["named"](20))).tolist() == loaded.predict(rows).tolist()


@pytest.mark.parametrize("said", [b"{", b"[1]", b"null", b'{"index_columns": 3}', b'{"index_columns": [["x"], null]}'])
def test_metadata_that_says_no_index(said):
    frame = pa.table({"x": [1.0, 2.0]}).replace_schema_metadata({b"pandas": said, b"": b"", b"k" * 99: b"v" * 999})
    assert SparseClassifier(algorithm="gd").fit(frame, [0, 1]).feature_names_in_.tolist() == ["x"]
    assert frame_of(frame).metadata == frame.schema.metadata


def test_splits_of_a_frame_do_not_see_the_order_of_its_rows():
    """Rows sorted by label: the index tells the label, and whatever cuts a frame keeps the index."""
    frame, y = sorted_by_label()
    auc = []
    for x in (frame, frame.to_dict("list")):
        x = frame if x is frame else pa.table(x)
        at = train_test_split(np.arange(len(y)), random_state=0)
        train, test = (x.iloc[i] if x is frame else x.take(i) for i in at)
        made = SparseClassifier(passes=5, holdout_off=True).fit(train, y.iloc[at[0]])
        auc.append(roc_auc_score(y.iloc[at[1]], made.decision_function(test)))
    assert auc[0] == auc[1] < 0.9
    train, test, y_train, y_test = train_test_split(frame, y, random_state=0)
    assert roc_auc_score(y_test, SparseClassifier(algorithm="gd").fit(train, y_train).predict_proba(test)[:, 1]) < 0.9
    kept = frame[frame["x"] > 0]
    made = SparseClassifier(algorithm="gd").fit(kept, y[kept.index])
    assert made.predict(frame[frame["x"] <= 0]).tolist() == made.predict(frame)[frame["x"] <= 0].tolist()
    search = GridSearchCV(SparseClassifier(), {"learning_rate": [0.1, 0.5]}, scoring="roc_auc", error_score="raise")
    assert search.fit(frame, y).best_score_ < 0.9
    assert search.predict(test).tolist() == search.predict(test.reset_index(drop=True)).tolist()
    scores = cross_val_predict(SparseClassifier(algorithm="gd"), frame, y, method="decision_function")
    assert roc_auc_score(y, scores) < 0.9
    calibrated = CalibratedClassifierCV(SparseClassifier(loss="hinge"), cv=3).fit(frame, y)
    assert calibrated.predict_proba(test).shape == (len(test), 2)


@pytest.mark.parametrize("dtype", [None, object, "string", "category"])
def test_texts_in_a_series(dtype):
    """As the column of a frame, and as labels: a list of them and a Series are the same."""
    texts, words = ["Buy now", "dear friend", "buy cheap", "my dear"] * 5, ["spam", "ham"] * 10
    index = np.arange(20)[::-1] * 2
    series, labels = pd.Series(texts, index=index, dtype=dtype), pd.Series(words, index=index, dtype=dtype)
    expected = SparseClassifier(algorithm="gd", text="t").fit(pa.table({"t": texts}), words)
    for y in (words, labels, labels.to_numpy()):
        made = SparseClassifier(algorithm="gd", text="t").fit(series.to_frame("t"), y)
        assert made.classes_.tolist() == ["ham", "spam"]
        assert made.predict(series.to_frame("t")).tolist() == expected.predict(pa.table({"t": texts})).tolist() == words
        assert made.decision_function(series.to_frame("t")).tolist() == (
            expected.decision_function(pa.table({"t": texts})).tolist()
        )


# --- arrays that are damaged ---------------------------------------------------------------------


def words(kind, ends):
    """An array of two words, and what makes these numbers of where they end: pyarrow does not create such a frame."""
    found = np.zeros(3, np.int64 if kind == pa.large_string() else np.int32)
    array = pa.Array.from_buffers(kind, 2, [None, pa.py_buffer(found), pa.py_buffer(b"abcdefgh")])
    return array, lambda: found.__setitem__(slice(None), ends)


def views(size, buffer, offset):
    """An array of two views, and what makes this of the first."""
    found = np.array([20, 0, 0, 0] * 2, np.int32)
    array = pa.Array.from_buffers(pa.string_view(), 2, [None, pa.py_buffer(found), pa.py_buffer(b"x" * 64)])
    return array, lambda: found.__setitem__([0, 2, 3], [size, buffer, offset])


def coded(values):
    array, damage = values
    return pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), array), damage


BROKEN = {
    "falling": lambda: words(pa.string(), [0, 6, 3]), "negative": lambda: words(pa.string(), [-5, 0, 3]),
    "large, falling": lambda: words(pa.large_string(), [0, 1 << 40, 3]),
    "large, negative": lambda: words(pa.large_string(), [-(1 << 60), 0, 3]),
    "of a dictionary": lambda: coded(words(pa.string(), [0, 6, 3])),
    "a view of no buffer": lambda: views(20, 1, 0), "a view before its buffer": lambda: views(20, 0, -8),
    "a view behind its buffer": lambda: views(20, 0, 50), "a view of no size": lambda: views(-20, 0, 0),
    "a view of a buffer before all": lambda: views(20, -3, 0),
    "views of a dictionary": lambda: coded(views(20, 7, 0)),
}


@pytest.mark.parametrize("made", BROKEN.values(), ids=BROKEN)
def test_words_without_a_position_are_refused(made):
    """In a stream, of which only the offsets are known; as a label, too."""
    column, damage = made()
    table = pa.table({"w": column, "x": [1.0, 2.0]})
    damage()

    def stream():
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches())

    for roles in ({}, {"text": "w"}):
        with pytest.raises(ValueError, match="column 'w' is damaged"):
            SparseClassifier(algorithm="gd", **roles).fit(stream(), [0, 1])
    numbers = np.empty(2, dtype=np.int64)
    with pytest.raises(ValueError, match="column 'w' is damaged"):
        Frame(stream().__arrow_c_stream__()).distinct(0, numbers)
    assert SparseClassifier(algorithm="gd", drop="w").fit(stream(), [0, 1]).feature_names_in_.tolist() == ["w", "x"]


@pytest.mark.parametrize("ends", [[0, 3, 1 << 20], [1 << 20, 1 << 20, 1 << 21]])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
def test_words_behind_their_buffer_are_refused(kind, ends):
    """pyarrow knows how long it is."""
    column, damage = words(kind, ends)
    frames = pa.table({"w": column}), pa.record_batch({"w": column})
    damage()
    for frame in frames:
        with pytest.raises(ValueError, match=r"offset|larger than"):
            SparseClassifier(algorithm="gd").fit(frame, [0, 1])


def test_a_word_that_is_null_may_be_anywhere():
    column, damage = views(20, 9, -1)
    frame = pa.table({"w": pa.Array.from_buffers(pa.string_view(), 2, [pa.py_buffer(b"\x02"), *column.buffers()[1:]])})
    damage()
    made = SparseClassifier(algorithm="gd").fit(frame, [0, 1])
    expected = SparseClassifier(algorithm="gd").fit(pa.table({"w": [None, "x" * 20]}), [0, 1])
    assert made.predict_proba(frame).tolist() == expected.predict_proba(frame).tolist()


@pytest.mark.parametrize("has_label", [True, False], ids=["in the frame", "apart"])
def test_without_options_fit_of_a_frame_is_train_of_its_file(vwlite, tmp_path, has_label):
    """The column of y is no feature, and the model keeps its name."""
    chance = np.random.default_rng(2)
    frame = pd.DataFrame({"x": chance.normal(size=300).round(3), "word": chance.choice(list("abc"), 300)})
    frame["y"] = ((frame["x"] + (frame["word"] == "a") + chance.normal(size=300)) > 0.5).astype(int)
    frame.to_csv(tmp_path / "t.csv", index=False)
    vwlite("train", tmp_path / "t.csv", "--label", "y", "-m", tmp_path / "trained", "--quiet")
    fitted = SparseClassifier().fit(frame if has_label else frame[["x", "word"]], frame["y"])
    fitted.save(tmp_path / "fitted")
    assert (tmp_path / "fitted").read_bytes() == (tmp_path / "trained").read_bytes()
    assert fitted.feature_names_in_.tolist() == ["x", "word"]
    assert (fitted.predict(frame) == fitted.predict(frame[["x", "word"]])).all()


# --- columns of categories, and of several types ---------------------------------------------------------


def words_of(frame, **roles):
    """The words of column x that `fit` makes categories of, and the values of X at which it does so."""
    made = SparseClassifier(algorithm="gd", names=True, **roles).fit(frame, np.arange(len(frame)) % 2)
    return {name.removeprefix("x^x=") for name, _ in made.weights_ if name not in ("Constant", "x^x?")}


@pytest.mark.parametrize("values", [[3, 1, 2, 1] * 2, [0.5, 2.0, -1.5, 2.0] * 2, [True, False] * 4])
def test_a_dictionary_is_a_category_whatever_its_values_are(values):
    """The dtype category of pandas, a dictionary of Arrow: as the same words are."""
    words = [text_of(value, False, 16).decode() if type(value) is not bool else str(value).lower() for value in values]
    y = np.arange(len(values)) % 3
    plain = SparseClassifier(algorithm="gd", names=True, categorical="x").fit(pd.DataFrame({"x": words}), y).weights_
    coded = pa.table({"x": pa.array(values).dictionary_encode()})
    for frame in (pd.DataFrame({"x": pd.Categorical(values)}), coded):
        assert SparseClassifier(algorithm="gd", names=True).fit(frame, y).weights_ == plain


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_a_file_of_dictionaries_has_categories(tmp_path, vwlite, name):
    """Parquet has the dtype in the metadata of pandas alone."""
    frame = pd.DataFrame({"y": [i % 2 for i in range(40)], "shop": pd.Categorical([i % 4 for i in range(40)])})
    frame.to_parquet(tmp_path / name) if "parquet" in name else frame.to_feather(tmp_path / name)
    vwlite("train", tmp_path / name, "--label", "y", "--algorithm", "gd", "--quiet", "-m", tmp_path / "m")
    assert read_model(tmp_path / "m").columns["roles"] == [["y", "label"], ["shop", "categorical"]]
    text = vwlite("convert", tmp_path / name, "--label", "y").out
    assert text.splitlines()[:4] == [f"{i % 2} |shop shop={i % 4}" for i in range(4)]


@pytest.mark.parametrize("narrow", [False, True])
def test_numbers_are_categories_as_they_are_in_text(narrow):
    drawn = np.random.default_rng(1).normal(size=400) * 10.0 ** np.arange(-200, 200)
    values = [0.0, -0.0, 1.0, -3.0, 0.1, 1 / 3, 1e10, 123456789.0, 12345678.5, 1e22, 1e-6, 9.5e-7, 1e300, 5e-324,
              *drawn]
    values = np.array(values, dtype=np.float32 if narrow else np.float64)
    values = values[np.isfinite(values)]
    frame = pa.table({"x": pa.array(values)})
    assert words_of(frame, categorical=["x"]) == {text_of(float(value), narrow, 16).decode() for value in values}


def test_whole_numbers_with_a_missing_one_are_categories():
    """pandas makes them float64: 1.0 means 1, and NaN nothing."""
    assert words_of(pd.DataFrame({"x": [1, 2, None, 3]}), categorical=["x"]) == {"1", "2", "3"}
    assert words_of(pa.table({"x": pa.array([1, np.nan])}), categorical=["x"]) == {"1"}


def test_a_column_with_the_name_of_y_is_a_feature_unless_it_is_y():
    frame = pd.DataFrame({"age": ["young", "old", "older"] * 4, "x": range(12)})
    named, other = (frame.age == "old").rename("age"), (frame.age == "old").rename("is_old")
    made = [SparseClassifier(algorithm="gd").fit(frame, y) for y in (named, other, named.to_numpy())]
    assert [m.feature_names_in_.tolist() for m in made] == [["age", "x"]] * 3
    assert len({tuple(m.decision_function(frame)) for m in made}) == 1
    for y in (frame.age, frame.x, frame.x % 2 == 0):
        found = SparseClassifier(algorithm="gd").fit(frame, y).feature_names_in_.tolist()
        assert found == [name for name in frame if name != y.name or not (frame[name] == y).all()]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pd.cut(range(4), 2), "column 'x' has intervals, as pandas.cut makes them"),
        (pd.IntervalIndex.from_breaks(range(5)), "column 'x' has intervals"),
        ([1, "a", None, 2.5], "column 'x' has values of several types, float and int and str: make them all one"),
        (pd.Categorical([1, "a", 1, "a"]), "column 'x' has values of several types, int and str"),
        ([object()] * 4, "column 'x' has values of the type object, of which no feature comes"),
        ([1j] * 4, "column 'x' has values of the type complex, of which no feature comes"),
    ],
)
def test_columns_that_make_no_feature_are_refused_in_a_sentence(column, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        SparseClassifier(algorithm="gd").fit(pd.DataFrame({"x": column}), [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (pd.date_range("2026-01-01", periods=4), "y has dates, but a regression needs numbers"),
        (pd.Series(pd.date_range("2026-01-01", periods=4, tz="UTC")), "y has dates"),
        (np.array(["2026-01-01"] * 4, dtype="M8[D]"), "y has dates"), ([date(2026, 1, 1)] * 4, "y has dates"),
        (pd.Series(pd.to_timedelta(range(4), unit="D")), "y has durations, but a regression needs numbers"),
        (["low", "high"] * 2, "y has the word 'low', but a regression needs numbers: for classes, use"),
    ],
)
def test_a_regression_of_dates_and_words_is_refused_in_a_sentence(y, message):
    for X in (pd.DataFrame({"x": range(4)}), np.arange(4.0).reshape(-1, 1)):
        with pytest.raises(ValueError, match=f"^{message}"):
            SparseRegressor(algorithm="gd").fit(X, y)


def test_a_frame_of_pandas_without_pyarrow_says_what_to_install(monkeypatch):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "w": ["a", "b", "a"]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"X is a frame of pandas, which needs pyarrow: pip install 'vwlite.sklearn"):
        SparseRegressor().fit(frame, [1, 2, 3])
