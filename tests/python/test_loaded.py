"""Models that were loaded: what they predict, from which files, and what they need for it."""

import subprocess
import sys

import numpy as np
import pytest
from running import GD, finish, start

from vwlite import LoadedModel, load_model
from vwlite.core.learn.output import number_text

LINES = [b"1 |a x y:2 |b z", b"", b"-1 |a x:0.5 |c w", b"|a q"] * 3


@pytest.fixture
def model(vwlite, tmp_path):
    (tmp_path / "data.vw").write_bytes(b"\n".join(LINES))
    vwlite("train", *GD, tmp_path / "data.vw", "--loss", "logistic", "-m", tmp_path / "m", "--quiet")
    return tmp_path / "m"


def test_lines_are_predicted_as_the_command_predicts_them(vwlite, model, tmp_path):
    expected = vwlite("predict", tmp_path / "data.vw", "-m", model, "--quiet").out.split("\n")
    for given in (LINES, [line.decode() for line in LINES], [line + b"\r\n" for line in LINES], b"\n".join(LINES)):
        for ahead in (1, 5, 1000):
            found = list(load_model(model).predict_lines(given, ahead=ahead))
            assert ["" if p is None else number_text(p) for p in found] == expected[: len(LINES)]
    with open(tmp_path / "data.vw") as file:
        assert sum(p is not None for p in load_model(model).predict_lines(file)) == 9


def test_a_link_of_its_own(vwlite, model, tmp_path):
    expected = vwlite("predict", tmp_path / "data.vw", "-m", model, "--link", "logistic", "--quiet").out.split()
    found = [p for p in load_model(model, link="logistic").predict_lines(LINES) if p is not None]
    assert [*map(number_text, found)] == expected
    with pytest.raises(ValueError, match="link poisson cannot be applied to the scores of loss logistic"):
        load_model(model, link="poisson")
    with pytest.raises(ValueError, match="unknown link log10: choose from identity, logistic"):
        load_model(model, link="log10")


def test_each_line_is_answered_at_once_if_that_is_asked_for(model):
    asked = []

    def lines():
        for line in LINES:
            asked.append(line)
            yield line

    answers = load_model(model).predict_lines(lines(), ahead=1)
    assert asked == []
    for i in range(3):
        next(answers)
        assert len(asked) == i + 1


def test_blank_lines_tell_no_format(model):
    lines = [b"", b"1 1:0.5"]
    for ahead in (1, 2):
        assert [p is None for p in load_model(model).predict_lines(lines, ahead=ahead)] == [True, False]


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        ([b"1 |a x", b"1 |a y:z"], {}, r"^line 2, column 8: feature value 'z' is not a number"),
        ([b"1 |a x"] * 7 + [b"1 |a y:z"], {"ahead": 3}, r"^line 8, column 8: "),
        ([b"1 |a x\n2"], {}, r"^line 1: contains a newline"),
        (["nothing here"], {}, r"^line 1: neither VW text nor libsvm"),
        ([b"1 |a x"], {"format": "csv"}, r"unknown format='csv': choose from auto, vw, libsvm"),
        ([b"1 1:2 1:3"], {}, r"^line 1, column 7: feature index 1 is repeated"),
        ([b"1 |a x"], {"probabilities": True}, r"needs classes"),
    ],
)
def test_a_bad_line_has_a_place(model, lines, options, message):
    with pytest.raises(ValueError, match=message):
        list(load_model(model).predict_lines(lines, **options))


def test_a_prediction_that_is_not_finite_has_a_place(vwlite, tmp_path):
    (tmp_path / "data.vw").write_text("1 | 0:1 1:1\n" * 50)
    vwlite("train", *GD, tmp_path / "data.vw", "-q", "  ", "-m", tmp_path / "m", "--quiet")
    loaded = load_model(tmp_path / "m")
    with pytest.raises(ValueError, match=r"^row 2: the prediction is not finite"):  # as the product is not
        loaded.predict(np.array([[0, 0], [0, 1], [3e38, 3e38]]))
    with pytest.raises(ValueError, match=r"^line 3: the prediction is not finite"):
        list(loaded.predict_lines(["| ", "", "| 0:3e38 1:3e38"]))


def test_what_was_predicted_is_let_go(model):
    import gc
    import weakref

    found = load_model(model)
    scores = found.decision_function(np.ones((5, 2)))
    base = weakref.ref(scores.base if scores.base is not None else scores)
    del scores
    gc.collect()
    assert base() is None


def test_files_that_are_not_models(tmp_path, model):
    with pytest.raises(FileNotFoundError, match="none: No such file"):
        load_model(tmp_path / "none")
    (tmp_path / "text").write_text("1 | a\n")
    with pytest.raises(ValueError, match="not a model of vwlite: it is text"):
        load_model(tmp_path / "text")
    data = bytearray(model.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "damaged").write_bytes(data)
    with pytest.raises(ValueError, match="damaged"):
        load_model(tmp_path / "damaged")


def test_a_model_of_classes(vwlite, tmp_path):
    data = tmp_path / "data.vw"
    data.write_bytes(b"red | a\nblue | b\ngreen | c\n" * 9)
    vwlite("train", *GD, data, "--classes", "red,blue,green", "--loss", "logistic", "-m", tmp_path / "m", "--quiet")
    loaded = load_model(tmp_path / "m")
    assert loaded.classes == ["red", "blue", "green"]
    assert list(loaded.predict_lines(["| b", "| c", "| a"])) == ["blue", "green", "red"]
    expected = vwlite("predict", data, "-m", tmp_path / "m", "--probabilities", "--quiet").out.splitlines()
    for line, found in zip(expected, loaded.predict_lines(data.read_bytes(), probabilities=True), strict=True):
        assert line == " ".join(f"{name}:{number_text(p)}" for name, p in found.items())
    with pytest.raises(ValueError, match="is for one score"):
        load_model(tmp_path / "m", link="logistic")


@pytest.mark.parametrize("command", ["solve", "vw"])
def test_models_of_other_commands(vwlite, tmp_path, command):
    data = tmp_path / "data.vw"
    data.write_bytes(b"\n".join(line for line in LINES if line[:1] in (b"1", b"-")) + b"\n")
    typed = ["-m", tmp_path / "m", "--l1", "0.01", "--loss", "logistic"]
    if command == "vw":
        typed = ["-d", data, "-f", tmp_path / "m", "--loss_function", "logistic"]
    vwlite(command, *([data] if command == "solve" else []), *typed, "--quiet")
    expected = vwlite("predict", data, "-m", tmp_path / "m", "--quiet").out.split()
    assert [*map(number_text, load_model(tmp_path / "m").predict_lines(data.read_bytes()))] == expected


def test_matrices(model):
    x = np.array([[0.0, 2.0], [1.0, 0.0]])
    loaded = load_model(model)
    assert isinstance(loaded, LoadedModel)
    assert loaded.options["loss"] == "logistic"
    rows = [b"| 1:2", b"| 0:1"]
    assert loaded.predict(x).tolist() == list(loaded.predict_lines(rows))
    assert loaded.predict_proba(x)[:, 1].tolist() == list(load_model(model, link="logistic").predict_lines(rows))
    with pytest.raises(ValueError, match="row 1, column 0"):
        loaded.predict(np.array([[0.0], [np.nan]]))


ALONE = """
import sys
for name in ("sklearn", "scipy", "pandas", "pyarrow", "polars"):
    sys.modules[name] = None
import vwlite
assert not any(name.startswith("vwlite.") for name in sys.modules), "import vwlite imports more"
assert "numpy" not in sys.modules
assert set(vwlite.__all__) <= set(dir(vwlite)), "a name that is imported later is not listed"
from vwlite.core.learn.output import number_text
print(*map(number_text, vwlite.load_model(sys.argv[1]).predict_lines(["1 |a x y:2 |b z"])))
try:
    vwlite.SparseClassifier
except ImportError as e:
    print(e)
"""


def test_numpy_is_enough(model, vwlite, tmp_path):
    done = subprocess.run([sys.executable, "-c", ALONE, str(model)], capture_output=True, text=True, check=False)
    first = vwlite("predict", tmp_path / "data.vw", "-m", model, "--quiet").out.split("\n")[0]
    assert done.stdout == f"{first}\nSparseClassifier needs scikit-learn: pip install 'vwlite[sklearn]'\n", done.stderr


def test_the_command_starts_without_the_estimators(tmp_path):
    script = "import sys, vwlite.cli; print([m for m in sys.modules if 'estimators' in m or m in ('numpy', 'sklearn')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert finish(start("--version")).code == 0


# --- rows of tables, weights -----------------------------------------------------------------

ROWS = [
    {"clicked": 1, "device": "phone", "price": 3.5, "ad": "Great SHOES, great", "seen": True},
    {"clicked": 0, "device": "desk top", "price": -2.25, "ad": "", "seen": False},
    {"clicked": 1, "device": 'a"b\\|:,\u00fc\u2028', "price": 0, "ad": None},
    {"clicked": 0, "price": 1e-7, "ad": "no shoes", "other": "ignored", "seen": None},
    {"device": "phone", "price": 12345678.9, "ad": "great"},
    {},
]


@pytest.fixture(params=["csv", "jsonl"])
def clicks(request, vwlite, tmp_path):
    """A model of a table, and the rows as JSON lines."""
    import csv
    import json

    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    data = tmp_path / f"data.{request.param}"
    with open(data, "w", newline="") as f:
        columns = ["clicked", "device", "price", "ad", "seen"]
        if request.param == "csv":
            csv.DictWriter(f, columns, extrasaction="ignore").writeheader()
            csv.DictWriter(f, columns, extrasaction="ignore").writerows(ROWS[:4])
        else:
            f.write("".join(json.dumps(row) + "\n" for row in ROWS[:4]))
    typed = ("--label", "clicked", "--text", "ad", "--labels", "0,1", "--loss", "logistic", "--link", "logistic")
    vwlite("train", data, *typed, "--ngram", 2, "-q", "device,ad", "--passes", 3, "--holdout-off",
           "-m", tmp_path / "clicks", "--quiet")
    return tmp_path / "clicks"


@pytest.mark.filterwarnings("ignore:row 5")
def test_dictionaries_and_json_lines_are_predicted_as_the_command_predicts_json_lines(vwlite, clicks, tmp_path):
    expected = vwlite("predict", tmp_path / "rows.jsonl", "-m", clicks, "--quiet").out.split()
    loaded = load_model(clicks, on_unknown="note")
    assert len(set(expected)) > 3
    assert [*map(number_text, loaded.predict(ROWS))] == expected
    lines = (tmp_path / "rows.jsonl").read_text().splitlines()
    for ahead in (1, 1000):
        assert list(loaded.predict_lines(lines, ahead=ahead)) == loaded.predict(ROWS).tolist()
    assert list(loaded.predict_lines(lines, format="jsonl")) == loaded.predict(tuple(ROWS)).tolist()
    assert list(loaded.predict_lines(["", lines[0], ""]))[::2] == [None, None]
    assert loaded.predict_proba(ROWS)[:, 1].tolist() == loaded.predict(ROWS).tolist()
    scores = loaded.decision_function(ROWS)
    unlinked = load_model(clicks, link="identity", on_unknown="note")
    assert unlinked.predict(ROWS).tolist() == np.clip(scores, -50, 50).tolist()
    assert loaded.predict([]).tolist() == []
    many, once = [ROWS[i % 6] for i in range(2500)], loaded.predict(ROWS).tolist()
    assert loaded.predict(many).tolist() == [once[i % 6] for i in range(2500)]


def test_numbers_of_numpy_in_dictionaries(clicks):
    loaded = load_model(clicks)
    plain = {"device": "phone", "price": 3.5, "seen": True}
    rare = {"device": np.str_("phone"), "price": np.float32(3.5), "seen": np.bool_(True)}
    assert loaded.predict([rare]).tolist() == loaded.predict([plain]).tolist()
    assert loaded.predict([{"price": np.int64(3)}]).tolist() == loaded.predict([{"price": 3}]).tolist()


@pytest.mark.parametrize(
    ("rows", "kind", "message"),
    [
        ([{"price": 1}, {"price": float("nan")}], ValueError, r"^row 1: a number is not finite: if it is missing"),
        ([{"price": 1}, {"price": np.float32("inf")}], ValueError, r"^row 1: a number is not finite"),
        ([{"ad": ""}] * 2000 + [{"price": "three"}], ValueError, r"^row 2000: column price: '.three.' is not a num"),
        ([{"price": 1}, 3], TypeError, r"^row 1: expected a dictionary, not int$"),
        ([{1: 2}], TypeError, r"^row 0: the key 1 is not a string$"),
        ([{"price": {1, 2}}], TypeError, r"^row 0: a value of type set is not"),
        ([{"ad": {"a": {"b": 1}}}], ValueError, r"^row 0: "),
        ([{"price": 1e39}], ValueError, r"^row 0: .*'1e\+39' is too large"),
        ({"price": 1}, TypeError, r"^X is one row: pass a list of rows$"),
    ],
)
def test_a_bad_dictionary_has_a_row(clicks, rows, kind, message):
    loaded = load_model(clicks)
    if "three" in message and loaded._learned.model().columns["open"]:
        assert np.isfinite(loaded.predict(rows)).all()  # a key without a role is what its value is
        return
    with pytest.raises(kind, match=message):
        loaded.predict(rows)


def test_json_lines_need_a_model_of_a_table(model, clicks):
    for call in (
        lambda m: m.predict([{"a": 1}]),
        lambda m: list(m.predict_lines(['{"a": 1}'])),
        lambda m: list(m.predict_lines(["x"], format="jsonl")),
    ):
        with pytest.raises(ValueError, match="the model was not trained on a table: it has no column names"):
            call(load_model(model))
    with pytest.raises(ValueError, match=r"^line 2, column 1\d: .*a value is missing"):
        list(load_model(clicks).predict_lines(['{"price": 1}', '{"price": , 2}']))


def test_dictionaries_with_classes(vwlite, tmp_path):
    (tmp_path / "d.csv").write_text("kind,x,y\n" + "red,1,0\nblue,0,1\ngreen,1,1\n" * 9)
    vwlite("train", *GD, tmp_path / "d.csv", "--label", "kind", "--classes", "red,blue,green", "--loss", "logistic",
           "-m", tmp_path / "m", "--quiet")
    loaded = load_model(tmp_path / "m")
    rows = [{"x": 1, "y": 0}, {"x": 0, "y": 1.0}, {"x": 1, "y": 1, "kind": "red"}]
    assert loaded.predict(rows).tolist() == ["red", "blue", "green"]
    assert loaded.predict_proba(rows).sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("names", [True, False])
def test_weights_are_those_that_the_command_shows(vwlite, tmp_path, names):
    (tmp_path / "d").write_bytes(b"\n".join(LINES))
    vwlite("train", *GD, tmp_path / "d", "-q", "ab", "-m", tmp_path / "m", *(["--names"] if names else []), "--quiet")
    found = load_model(tmp_path / "m").weights()
    expected = [line.split("\t") for line in vwlite("weights", tmp_path / "m", "--all").out.splitlines()]
    expected = [row for row in expected if float(row[1])]
    if names:
        assert {name for name, _ in found} >= {"a^x", "a^y", "b^z", "a^x*b^z", "Constant"}
        assert [name for name, _ in found] == [row[2] for row in expected]
    else:
        assert [name for name, _ in found if name != "Constant"] == [
            int(row[0]) for row, (name, _) in zip(expected, found, strict=True) if name != "Constant"
        ]
    assert [f"{weight:g}" for _, weight in found] == [f"{float(row[1]):g}" for row in expected]
    assert [abs(weight) for _, weight in found] == sorted((abs(weight) for _, weight in found), reverse=True)
    assert sum(name == "Constant" for name, _ in found) == 1


def test_weights_of_classes_are_by_class(vwlite, tmp_path):
    (tmp_path / "d").write_bytes(b"red | a\nblue | b\ngreen | c\n" * 9)
    typed = ("--classes", "red,blue,green", "--loss", "logistic", "--names", "--no-constant", "--quiet")
    vwlite("train", *GD, tmp_path / "d", *typed, "-m", tmp_path / "m")
    found = dict(load_model(tmp_path / "m").weights())
    assert sorted(found) == ["a", "b", "c"]
    assert all(list(weights) == ["red", "blue", "green"] for weights in found.values())
    assert found["a"]["red"] > 0 > found["a"]["blue"]


@pytest.mark.parametrize("line", [1, None, ["1 |a b"], 1.5, {}])
def test_a_line_that_is_not_a_text_is_refused(vwlite, tmp_path, line):
    (tmp_path / "d").write_text("1 |a b\n-1 |a c\n")
    vwlite("train", *GD, tmp_path / "d", "-m", tmp_path / "m", "--quiet")
    loaded = load_model(tmp_path / "m")
    with pytest.raises(TypeError, match=f"line 1 is of type {type(line).__name__}: a line is a str or bytes"):
        list(loaded.predict_lines([line]))
    with pytest.raises(TypeError, match=f"line 4 is of type {type(line).__name__}: a line is a str or bytes"):
        list(loaded.predict_lines(["|a b", b"|a c", "", line], ahead=1))


def test_a_dictionary_without_a_column_of_the_model(vwlite, tmp_path):
    (tmp_path / "d.csv").write_text("y,age,city\n" + "1,3,Rome\n0,4,Oslo\n" * 20)
    vwlite("train", tmp_path / "d.csv", "--label", "y", *GD, "-m", tmp_path / "m", "--quiet")
    loaded = load_model(tmp_path / "m")
    known = [{"age": 3}, {"age": None}, {"age": 0}, {"city": "Lima", "x": 1}] * 400
    assert len(loaded.predict(known)) == len(known)
    for row in ({}, {"agee": 3}, {"y": 1}):
        with pytest.raises(ValueError, match=r"^row 1600: .*column.*on_unknown='note'"):
            loaded.predict([*known, row])
    with pytest.raises(ValueError, match=r"agee \(did you mean age\?\)"):
        loaded.decision_function([{"agee": 3}])
    noted = load_model(tmp_path / "m", on_unknown="note")
    with pytest.warns(UserWarning, match="row 1: ") as said:
        found = noted.predict([{"age": 3}, {}, {"agee": 3}])
    assert sum(str(x.message).startswith("row ") for x in said) == 1 and found[1] == found[2] != found[0]
    with pytest.raises(ValueError, match="on_unknown='x': choose from error, note"):
        load_model(tmp_path / "m", on_unknown="x")


def test_commands_in_messages_can_be_typed(tmp_path):
    (tmp_path / "bad").write_text("junk\n")
    with pytest.raises(ValueError, match="it is text; `vwlite train -m FILE` writes one"):
        load_model(tmp_path / "bad")
