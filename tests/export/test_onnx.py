"""Models of tables in ONNX, run by onnxruntime: they predict what the model does."""

import csv
import json
import sqlite3
import sys
from pathlib import Path

import numpy as np
import pytest
from column_tables import MISSING, MODELS, as_csv, predictions, train
from nine_tables import NINE, table
from running import GD

from vwlite.model import read_model

NEAR = 1e-5


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def values_of(vwlite, rows, missing=MISSING):
    """What the exported model gives for rows, which are dicts of cells, by the names of its outputs."""
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    vwlite("export", "model", "--to", "onnx", "-o", "model.onnx")
    onnx.checker.check_model(onnx.load("model.onnx"), full_check=True)
    session = runtime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    taken = {}
    for given in session.get_inputs():
        assert given.shape[1:] == [1]
        cells = [row[given.name].strip(" \t\r\n").rstrip("\x01") for row in rows]
        if given.type == "tensor(string)":
            taken[given.name] = np.array(cells, object)[:, None]
        else:
            numbers = [float("nan") if cell in missing else float(cell) for cell in cells]
            taken[given.name] = np.array(numbers, np.float32)[:, None]
    found = dict(zip([out.name for out in session.get_outputs()], session.run(None, taken), strict=True))
    assert all(len(values) == len(rows) for values in found.values())
    return found


def with_parts(rows):
    """Rows with the parts of their times, as programs in Python have them."""
    text = {}
    exec(compile(Path("model.py").read_text(), "model.py", "exec"), text)
    for row in rows:
        for part, word in text["time_of"]("at", row["at"]).items():
            row[f"at.{part}"] = word or ""
    return rows


def rows_in(name):
    with open(name, encoding="utf-8", newline="") as file:
        return [{column.strip(): cell for column, cell in row.items()} for row in csv.DictReader(file)]


def assert_as_predicted(vwlite, found, data):
    settings, words = read_model("model").settings, predictions(vwlite, data)
    lines, taus = [line[0] for line in words], settings.outputs.taus
    if taus:
        expected = np.array([line[: len(taus)] for line in words], float)
        np.testing.assert_allclose(found["variable"], expected, atol=NEAR, rtol=NEAR)
        assert found["score"].shape == expected.shape
        return
    if settings.oaa:
        assert [str(label).replace(" ", "%20") for label in found["label"]] == lines
        assert ("probabilities" in found) == bool(settings.outputs.shares)
        if settings.outputs.shares:
            shares = [[float(word.rpartition(":")[2]) for word in line if ":" in word]
                      for line in predictions(vwlite, data, "--probabilities")]
            np.testing.assert_allclose(found["probabilities"], shares, atol=NEAR)
        assert found["score"].shape == (len(lines), len(found["score"][0]))
        return
    expected = np.array(lines, float)
    if settings.outputs.is_binary:
        labels = settings.labels or (-1, 1)
        assert [*found["label"]] == [labels[int(score >= 0)] for score in found["score"][:, 0]]
        if settings.loss == "logistic":
            np.testing.assert_allclose(found["probabilities"].sum(axis=1), 1, atol=1e-6)
        score = np.clip(found["score"][:, 0], *(read_model("model").range or (-50, 50)))
        shares = found.get("probabilities", np.zeros((len(lines), 2)))[:, 1]
        mine = {"identity": score, "logistic": shares, "glf1": 2 * shares - 1}[settings.link]
    else:
        mine = found["variable"][:, 0]
    np.testing.assert_allclose(mine, expected, atol=NEAR, rtol=NEAR)


@pytest.mark.parametrize("name", MODELS)
def test_onnx_predicts_what_the_model_does(vwlite, name):
    train(vwlite, name)
    vwlite("export", "model", "--to", "python", "-o", "model.py")
    assert_as_predicted(vwlite, values_of(vwlite, with_parts(rows_in("new.csv"))), "new.csv")


@pytest.mark.third
@pytest.mark.parametrize("name", NINE)
def test_onnx_of_the_nine_tables(vwlite, name):
    pytest.importorskip("onnxruntime")
    vwlite("train", "train.csv", *table(name), "--passes", "2", "-m", "model", "--quiet")
    assert_as_predicted(vwlite, values_of(vwlite, rows_in("test.csv")), "test.csv")


def test_onnx_takes_infinite_numbers_and_any_batch(vwlite):
    train(vwlite, "derived")
    vwlite("export", "model", "--to", "python", "-o", "model.py")
    rows = with_parts(rows_in("new.csv"))
    all_at_once = values_of(vwlite, rows)
    for n in (0, 1, 3):
        some = values_of(vwlite, rows[:n])
        assert all((all_at_once[name][:n] == values).all() for name, values in some.items())
    numbers = ("1e30", "-1e30"), ("inf", "-inf")
    large, infinite = ([{**rows[0], "age": age, "income:net": income}] for age, income in numbers)
    assert (values_of(vwlite, large)["score"] == values_of(vwlite, infinite)["score"]).all()


def test_onnx_has_missing_values_of_the_model_and_names_of_any_column(vwlite):
    cells = ["-999", "0", "", "1", "2.5", "-999.0"] * 9
    titles = ["label", "score", "/0", "variable", "y"]
    Path("t.csv").write_text(as_csv([[x, f"w {i % 4}", x, i % 3, i % 2] for i, x in enumerate(cells)], titles))
    vwlite("train", *GD, "t.csv", "--label", "y", "--labels", "0,1", "--numeric", "label", "--categorical", "/0",
           "--missing=-999", "--loss", "logistic", "--link", "logistic", "-m", "model", "--quiet", "--names")
    found = values_of(vwlite, rows_in("t.csv"), missing={""})
    assert list(found) == ["label_", "probabilities", "score_"]
    expected = [float(line[0]) for line in predictions(vwlite, "t.csv")]
    np.testing.assert_allclose(found["probabilities"][:, 1], expected, atol=NEAR)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_a_probability_of_one_half_is_the_label_that_predict_appends(vwlite, loss):
    """The positive one, in every export: also where a score below 0 has a probability of 0.5."""
    probable = loss == "logistic"
    scores = {"zero": 0.0, "below": -1e-17, "little": -1e-6, "above": 1e-17, "minus": -2.0, "plus": 2.0}
    Path("t.csv").write_text(as_csv([[word, "ok" if x < 0 else "fraud"] for word, x in scores.items()], ["w", "y"]))
    vwlite("train", *GD, "t.csv", "--label", "y", "--labels", "ok,fraud", "--loss", loss, "--no-constant", "--names",
           "--link", "logistic" if probable else "identity", "-m", "first", "--quiet")
    vwlite("export", "first", "--to", "json", "-o", "first.json")
    text = json.loads(Path("first.json").read_text())
    for feature in text["features"]:
        feature["weight"] = scores[feature["names"][0].partition("=")[2]]
    Path("model.json").write_text(json.dumps(text))
    vwlite("import", "model.json", "-m", "model")
    said = vwlite("predict", "-m", "model", "t.csv", "--append", "--quiet").out
    expected = [row["prediction"] for row in csv.DictReader(said.splitlines())]
    assert expected == ["fraud", "fraud" if probable else "ok", "ok", "fraud", "ok", "fraud"]
    least = 0.5 if probable else 0.0
    vwlite("export", "model", "--to", "python", "-o", "model.py")
    program = {"__name__": "model"}
    exec(compile(Path("model.py").read_text(), "model.py", "exec"), program)
    assert expected == [program["LABELS"][program["predict"]({"w": word}) >= least] for word in scores]
    vwlite("export", "model", "--to", "sql", "--table", "t", "--id", "w", "-o", "model.sql")
    base = sqlite3.connect(":memory:")
    base.executescript("CREATE TABLE t (w TEXT, y TEXT)")
    base.executemany("INSERT INTO t VALUES (?, '')", [(word,) for word in scores])
    found = {row[0]: row[3 if probable else 2] for row in base.execute(Path("model.sql").read_text())}
    assert expected == [("ok", "fraud")[found[word] >= least] for word in scores]
    assert expected == [*values_of(vwlite, rows_in("t.csv"))["label"]]


def test_labels_of_which_some_are_whole_numbers_are_words(vwlite):
    """Also those that look like what Python makes of no number, and numbers of more than 64 bits."""
    for names in (["None", "1"], ["1", str(1 << 63)], ["0", "-1"], ["07", "7"]):
        Path("t.csv").write_text(as_csv([["ab"[i % 2], names[i % 2]] for i in range(8)], ["w", "y"]))
        vwlite("train", *GD, "t.csv", "--label", "y", "--classes", ",".join(names), "--missing", "",
               "--names", "-m", "model", "--quiet")
        found = [*values_of(vwlite, rows_in("t.csv"))["label"]]
        assert found == ([0, -1] * 4 if names[0] == "0" else names * 4)


def test_the_same_model_is_the_same_file(vwlite):
    pytest.importorskip("onnx")
    train(vwlite, "derived")
    for name in ("a", "b"):
        vwlite("export", "model", "--to", "onnx", "-o", name)
    assert Path("a").read_bytes() == Path("b").read_bytes()


def test_the_file_needs_no_later_release_than_onnx_1_12(vwlite):
    onnx = pytest.importorskip("onnx")
    train(vwlite, "derived")
    vwlite("export", "model", "--to", "onnx", "-o", "model.onnx")
    model = onnx.load("model.onnx")
    ((_, ir, operators, of_trees, *_),) = [row for row in onnx.helper.VERSION_TABLE if row[0] == "1.12.0"]
    assert model.ir_version <= ir
    assert {x.domain: x.version for x in model.opset_import} == {"": operators, "ai.onnx.ml": of_trees}


@pytest.mark.parametrize(("data", "options", "why"), [
    ("1 |a b\n-1 |a c\n", "", "model: cannot be exported to onnx: it was not learned from a table\n"),
    ("y,a,b\n1,b,2\n-1,c,1\n", "--label y --text a --names", "column a is of text; --to python and --to c have "),
    ("y,a,b\n1,b,2\n-1,c,1\n", "--label y --names -q a,b", "it crosses columns"),
    ("y,a,b\n1,b,2\n-1,c,1\n", "--label y", "2 of its features have a weight but no name: train with --names"),
    ('{"y": 1, "a": "b"}\n{"y": -1, "a": "c"}\n', "--label y --names", "a model of JSON lines has no fixed columns"),
])
def test_what_onnx_cannot_do_is_refused(vwlite, data, options, why):
    pytest.importorskip("onnx")
    Path("d").write_text(data)
    form = ["--format", "csv"] if data[0] == "y" else []
    vwlite("train", *GD, "d", *options.split(), "-m", "model", "--quiet", *form)
    assert why in vwlite("export", "model", "--to", "onnx", "-o", "o", code=65).err
    assert not Path("o").exists()


def test_without_the_package_it_says_how_to_install_it(vwlite, monkeypatch):
    train(vwlite, "logistic")
    monkeypatch.setitem(sys.modules, "onnx", None)
    said = vwlite("export", "model", "--to", "onnx", "-o", "o", code=2).err
    assert "--to onnx needs a package that is not installed: pip install 'vwlite[onnx]'" in said
    assert not Path("o").exists()
