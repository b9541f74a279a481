"""Folders of MLflow: they predict what `vwlite predict` does, and are there whole or not at all."""

import fcntl
import json
import os
import signal
import sys
from shutil import copy

import pytest
from nine_tables import NINE, table
from running import GD, finish, start
from servers import CLASSES, TABLE, TEXT
from sets import ROOT

from vwlite.output.folder import new_folder

pytest.importorskip("mlflow")
TIMES = "y,at,n,zip\n" + "".join(
    f"{i % 3},2024-0{i % 9 + 1}-11 0{i % 7}:00,{i % 4 or ''},0{i % 5}\n" for i in range(90)
)
SEVERAL = ("--loss", "quantile", "--quantile-tau", "0.1,0.5,0.9")
MODELS = {
    "table": (TABLE, ("--label", "click")), "named": (TABLE, ("--label", "click", "--text", "note", *GD, "--names")),
    "times": (TIMES, ("--label", "y", "--time", "at", "--categorical", "zip")),
    "words": (TABLE, ("--label", "city", "--drop", "click", "--oaa", "3", "--classes", "auto", *GD)),
    "text": (TEXT, ("--loss", "logistic", "--link", "logistic", *GD)),
    "quantiles": (TIMES, ("--label", "y", "--time", "at", "--categorical", "zip", *SEVERAL)),
    "quantiles of text": (TEXT, (*SEVERAL, *GD)),
    "classes": (CLASSES, ("--oaa", "3", "--classes", "auto", "--loss", "logistic", *GD)),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def exported(vwlite, name, data="data"):
    text, options = MODELS[name]
    with open(data, "w") as file:
        file.write(text)
    vwlite("train", data, *options, "-m", "model", "--quiet")
    vwlite("export", "model", "--to", "mlflow", "-o", "out")


@pytest.mark.parametrize("name", MODELS)
def test_the_folder_predicts_what_predict_does(vwlite, name):
    import mlflow.pyfunc
    import pandas as pd

    exported(vwlite, name, "data" if "|" in MODELS[name][0] else "data.csv")
    model = mlflow.pyfunc.load_model("out")
    if "|" in MODELS[name][0]:
        frame = pd.DataFrame({"lines": open("data").read().splitlines()})
    else:
        words = dict.fromkeys(("city", "note", "at", "zip"), str)
        frame = pd.read_csv("data.csv", dtype=words)[model.metadata.get_input_schema().input_names()]
    data = "data" if "lines" in frame else "data.csv"
    lines = vwlite("predict", "-m", "model", data, "--quiet").out.splitlines()
    expected = [line.split()[0] for line in lines]
    found = model.predict(frame)
    if "quantiles" in name:
        columns = model.metadata.get_output_schema().input_names()
        assert columns == [*found.columns] == ["quantile_0.1", "quantile_0.5", "quantile_0.9"]
        assert found.to_numpy().tolist() == [pytest.approx([*map(float, line.split()[:3])], abs=1e-6) for line in lines]
        assert len({*found[columns[1]]}) > 2
        return
    if not isinstance(found[0], str):
        expected = pytest.approx([float(x) for x in expected], abs=1e-6)
    assert [*found] == expected
    assert len({*found}) > 2
    example = model.predict(model.input_example)
    assert len(example) == 1
    kind = model.metadata.get_output_schema().input_types()[0].name
    assert (kind == "string") == isinstance(found[0], str)


def as_predicted(vwlite, frame, data):
    """The folder's predictions of a frame are those of `vwlite predict`."""
    import mlflow.pyfunc

    expected = vwlite("predict", "-m", "model", data, "--quiet").out.splitlines()
    found = [*mlflow.pyfunc.load_model("out").predict(frame)]
    assert len({*found}) > 1
    assert found == (expected if isinstance(found[0], str) else pytest.approx([float(x) for x in expected], abs=1e-6))


@pytest.mark.parametrize("name", ["code", *(pytest.param(name, marks=pytest.mark.long) for name in NINE)])
def test_the_folder_takes_what_pandas_reads_from_a_real_file(vwlite, name):
    import pandas as pd

    if name == "code":
        options = ["--label", "is_cython", "--drop", "id", "--text", "code"]
        for part in ("train", "test"):
            copy(ROOT / f"data/code.{part}.csv", f"{part}.csv")
    else:
        options = table(name)
    vwlite("train", "train.csv", *options, "-m", "model", "--quiet")
    vwlite("export", "model", "--to", "mlflow", "-o", "out")
    as_predicted(vwlite, pd.read_csv("test.csv"), "test.csv")


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("kind", ["int64", "int32", "uint8", "float64", "float32", "Int64", "Float64"])
def test_the_folder_takes_numbers_of_every_type(vwlite, kind, holes):
    """And words as category, string or object; true and false; also missing values of each."""
    import pandas as pd

    rows = [[i % 7, ["a", "b", "c"][i % 3], ["Yes", "No"][i % 5 > 1], i % 2 == 0, 7 * i % 11 > i % 7]
            for i in range(300)]
    for i, row in enumerate(rows if holes else ()):
        row[i % 4] = None
    if holes and kind in ("int64", "int32", "uint8"):
        pytest.skip("such a column has no missing values")
    columns = ["count", "word", "said", "flag", "y"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["count"] = frame["count"].astype(kind)
    frame["word"] = frame["word"].astype("category")
    frame["said"] = frame["said"].astype("string")
    frame["flag"] = frame["flag"].astype("boolean" if holes else "bool")
    frame.to_parquet("frame.parquet")
    vwlite("train", "frame.parquet", "--label", "y", "-m", "model", "--quiet")
    vwlite("export", "model", "--to", "mlflow", "-o", "out")
    as_predicted(vwlite, frame.drop(columns="y"), "frame.parquet")
    as_predicted(vwlite, frame.astype({"word": object, "said": object}), "frame.parquet")


def test_the_folder_takes_the_frame_of_an_estimator(vwlite):
    import mlflow.pyfunc
    import pandas as pd

    from vwlite import SparseClassifier

    x = pd.DataFrame({"age": range(200), "sex": [None if i % 9 == 0 else i % 2 for i in range(200)],
                      "city": pd.Categorical([3, 5, 7, 9] * 50)})
    y = [("no", "yes")[i > 99] for i in range(200)]
    fitted = SparseClassifier(algorithm="auto", categorical=["sex"]).fit(x, y)
    fitted.save("model")
    vwlite("export", "model", "--to", "mlflow", "-o", "out")
    found = mlflow.pyfunc.load_model("out").predict(x)
    assert found == pytest.approx(fitted.predict_proba(x)[:, 1], abs=1e-6) and len({*found}) > 100


def test_a_calibrated_model_keeps_its_map(vwlite):
    import mlflow.pyfunc
    import pandas as pd

    text, options = MODELS["text"]
    open("data", "w").write(text)
    vwlite("train", "data", *options, "-m", "raw", "--quiet")
    vwlite("calibrate", "-m", "raw", "data", "-o", "model", "--quiet")
    vwlite("export", "model", "--to", "mlflow", "-o", "out")
    found = mlflow.pyfunc.load_model("out").predict(pd.DataFrame({"lines": text.splitlines()}))
    lines = vwlite("predict", "-m", "model", "data", "--quiet").out.splitlines()
    assert [*found] == pytest.approx([float(line.split()[0]) for line in lines], abs=1e-6)


def test_no_network_and_no_guessing_is_needed(vwlite):
    exported(vwlite, "text")
    assert "vwlite[arrow]==" in open("out/requirements.txt").read()
    assert not {"scikit-learn", "mlflow\n"} & {*open("out/requirements.txt")}
    assert "loader_module: vwlite.estimators.pyfunc" in open("out/MLmodel").read()
    assert json.loads(open("out/input_example.json").read())["columns"] == ["lines"]


def test_the_folder_is_new_or_empty(vwlite, folder):
    exported(vwlite, "text")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for place in ("out", "model", "none/out"):
        done = vwlite("export", "model", "--to", "mlflow", "-o", place, code=None)
        assert done.code in (2, 73) and "Traceback" not in done.err
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    os.mkdir("empty")
    vwlite("export", "model", "--to", "mlflow", "-o", "empty/")
    assert (folder / "empty" / "MLmodel").exists() and sorted(os.listdir()) == ["data", "empty", "model", "out"]
    assert vwlite("export", "model", "--to", "mlflow", "-o", "-", code=None).code == 2


def test_a_signal_leaves_nothing(vwlite, folder):
    exported(vwlite, "text")
    process = start("export", "model", "--to", "mlflow", "-o", "second")
    while not any(name.endswith(".tmp") for name in os.listdir()) and process.poll() is None:
        pass
    process.send_signal(signal.SIGTERM)
    assert finish(process).code in (0, 143)
    assert {*os.listdir()} - {"second"} == {"data", "model", "out"}
    assert not os.path.exists("second") or os.path.exists("second/MLmodel")


def test_what_a_kill_left_goes_with_the_next_run(vwlite, folder):
    exported(vwlite, "text")
    os.makedirs(".second.abcd_e12.tmp/new/data")
    for other in (".second.abcd_e12.tmpx", ".third.abcd_e12.tmp", "second.abcd_e12.tmp"):
        os.makedirs(f"{other}/new")
    os.makedirs(".second.isalive0.tmp/new")
    alive = os.open(".second.isalive0.tmp", os.O_RDONLY)
    fcntl.flock(alive, fcntl.LOCK_EX)
    vwlite("export", "model", "--to", "mlflow", "-o", "second")
    left = {name for name in os.listdir() if "tmp" in name}
    assert left == {".second.abcd_e12.tmpx", ".third.abcd_e12.tmp", "second.abcd_e12.tmp", ".second.isalive0.tmp"}
    os.close(alive)
    with new_folder("third") as (third, _):
        assert os.listdir(os.path.dirname(third)) and not os.path.exists(".third.abcd_e12.tmp")
        with new_folder("third"):
            assert os.path.exists(os.path.dirname(third))
    assert not [name for name in os.listdir() if name.startswith(".third")]


def test_a_failure_leaves_nothing(vwlite, folder, monkeypatch):
    import mlflow.pyfunc

    def fails(path, **_):
        os.mkdir(path)
        raise OSError(28, "No space left on device")

    exported(vwlite, "text")
    before = {*os.listdir()}
    with monkeypatch.context() as patch:
        patch.setattr(mlflow.pyfunc, "save_model", fails)
        assert vwlite("export", "model", "--to", "mlflow", "-o", "second", code=None).code in (74, 75)
    monkeypatch.setitem(sys.modules, "mlflow", None)
    done = vwlite("export", "model", "--to", "mlflow", "-o", "second", code=2)
    assert "pip install 'vwlite[mlflow]'" in done.err and {*os.listdir()} == before
