"""Models that were loaded: what they predict, from which files, and what they need for it."""

import subprocess
import sys

import numpy as np
import pytest
from running import finish, start

from vwlite import LoadedModel, load_model

LINES = [b"1 |a x y:2 |b z", b"", b"-1 |a x:0.5 |c w", b"|a q"] * 3


@pytest.fixture
def model(vwlite, tmp_path):
    (tmp_path / "data.vw").write_bytes(b"\n".join(LINES))
    vwlite("train", tmp_path / "data.vw", "--loss", "logistic", "-m", tmp_path / "m", "--quiet")
    return tmp_path / "m"


def test_lines_are_predicted_as_the_command_predicts_them(vwlite, model, tmp_path):
    wanted = vwlite("predict", tmp_path / "data.vw", "-m", model, "--quiet").out.split("\n")
    for given in (LINES, [line.decode() for line in LINES], [line + b"\r\n" for line in LINES], b"\n".join(LINES)):
        for ahead in (1, 5, 1000):
            found = list(load_model(model).predict_lines(given, ahead=ahead))
            assert ["" if p is None else f"{p:.6f}" for p in found] == wanted[: len(LINES)]
    with open(tmp_path / "data.vw") as file:
        assert sum(p is not None for p in load_model(model).predict_lines(file)) == 9


def test_a_link_of_its_own(vwlite, model, tmp_path):
    wanted = vwlite("predict", tmp_path / "data.vw", "-m", model, "--link", "logistic", "--quiet").out.split()
    found = [p for p in load_model(model, link="logistic").predict_lines(LINES) if p is not None]
    assert [f"{p:.6f}" for p in found] == wanted
    with pytest.raises(ValueError, match="link poisson makes no sense of the scores of loss logistic"):
        load_model(model, link="poisson")
    with pytest.raises(ValueError, match="there is no link log: there are identity, logistic"):
        load_model(model, link="log")


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
        ([b"1 |a x\n2"], {}, r"^line 1: there is a newline inside"),
        (["nothing here"], {}, r"^line 1: neither VW text nor libsvm"),
        ([b"1 |a x"], {"format": "csv"}, r"format='csv' is none of auto, vw, libsvm"),
        ([b"1 1:2 1:3"], {}, r"^line 1, column 7: feature index 1 is repeated"),
        ([b"1 |a x"], {"probabilities": True}, r"the model has none"),
    ],
)
def test_a_bad_line_has_a_place(model, lines, options, message):
    with pytest.raises(ValueError, match=message):
        list(load_model(model).predict_lines(lines, **options))


def test_a_prediction_that_is_not_finite_has_a_place(vwlite, tmp_path):
    (tmp_path / "data.vw").write_text("1 | 0:1 1:1\n" * 50)
    vwlite("train", tmp_path / "data.vw", "-q", "  ", "-m", tmp_path / "m", "--quiet")
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


def test_files_that_are_no_models(tmp_path, model):
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
    vwlite("train", data, "--classes", "red,blue,green", "--loss", "logistic", "-m", tmp_path / "m", "--quiet")
    loaded = load_model(tmp_path / "m")
    assert loaded.classes == ["red", "blue", "green"]
    assert list(loaded.predict_lines(["| b", "| c", "| a"])) == ["blue", "green", "red"]
    wanted = vwlite("predict", data, "-m", tmp_path / "m", "--probabilities", "--quiet").out.splitlines()
    for line, found in zip(wanted, loaded.predict_lines(data.read_bytes(), probabilities=True), strict=True):
        assert line == " ".join(f"{name}:{p:.6f}" for name, p in found.items())
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
    wanted = vwlite("predict", data, "-m", tmp_path / "m", "--quiet").out.split()
    assert [f"{p:.6f}" for p in load_model(tmp_path / "m").predict_lines(data.read_bytes())] == wanted


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
print(*(f"{p:.6f}" for p in vwlite.load_model(sys.argv[1]).predict_lines(["1 |a x y:2 |b z"])))
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
