"""Models of tables that earlier programs wrote (make.py), through all commands: they predict as they did.

What is compared are numbers, to 1e-6: how they are written may change.
"""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running import Shell
from servers import Server
from test_columns import in_c

from vwlite import load_model

FOLDER = Path(__file__).parent
CASES: dict[str, dict[str, Any]] = {
    f"{path.parent.name}-{name}": {**case, "name": name, "model": path.parent / f"{name}.model"}
    for path in sorted(FOLDER.glob("*/cases.json"))
    for name, case in json.loads(path.read_text()).items()
}
NEAR = {"rel": 1e-6, "abs": 1.1e-6}  # six decimals were written


@pytest.fixture(params=CASES, autouse=True)
def case(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return CASES[request.param]


def data(case: dict[str, Any], part: str = "test") -> Path:
    return FOLDER / f"{case['data']}.{part}.csv"


def assert_near(found: Any, expected: list[list[str]]) -> None:
    """Rows of names, of NAME:NUMBER, or of numbers."""
    assert len(found) == len(expected) == 40
    for row, theirs in zip(found, expected, strict=True):
        for one, other in zip(row, theirs, strict=True):
            (name, _, number), (known, _, wanted) = str(one).rpartition(":"), other.rpartition(":")
            assert name == known
            assert number == wanted or float(number) == pytest.approx(float(wanted), **NEAR)


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def rows_of(case: dict[str, Any]) -> list[dict[str, str]]:
    head, *rows = (line.split(",") for line in data(case).read_text().splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_predict(vwlite: Shell, case):
    predictions = vwlite("predict", "-m", case["model"], data(case), "-r", "raw", "--report", "report").out
    assert_near(words(predictions), case["predictions"])
    assert_near(words(Path("raw").read_text()), case["raw"])
    assert json.loads(Path("report").read_text())["results"]["average_loss"] == pytest.approx(case["loss"], rel=1e-5)
    assert len({*map(tuple, case["predictions"])}) > 1


def test_evaluate_report_and_others(vwlite: Shell, case):
    model, test = case["model"], data(case)
    assert json.loads(vwlite("evaluate", "-m", model, test, "--json").out)["rows"] == 40
    vwlite("report", "-m", model, test, "-o", "page.html")
    assert "40" in Path("page.html").read_text()
    assert len(vwlite("worst", "-m", model, test, "--json").out.splitlines()) > 1
    assert "a model, whole" in vwlite("check", model).out
    assert json.loads(vwlite("info", model, "--json").out)["program"] == "vwlite 0.2.0"
    assert vwlite("weights", model).out.count("\n") > 5
    if case["name"] != "quantiles":  # it is for one prediction
        assert vwlite("diff", model, model, test).out
    vwlite("drift", "-m", model, test, data(case, "more"))


def test_training_goes_on(vwlite: Shell, case):
    """`gd` learns as it did, too."""
    vwlite("train", data(case, "more"), "-i", case["model"], "-m", "next", "--quiet")
    vwlite("predict", "-m", "next", data(case), "-r", "raw", "-p", "p", "--quiet")
    found = words(Path("raw").read_text())
    assert len(found) == 40 and found != case["raw"]
    if "continued" in case:
        assert_near(found, case["continued"])


def test_a_folder_of_cron_goes_on(vwlite: Shell, case):
    if case["name"] != "cron":
        pytest.skip("was not trained day by day")
    Path("m").write_bytes(case["model"].read_bytes())
    before = json.loads(vwlite("info", "m", "--json").out)["counters"]["examples"]
    vwlite("train", "--continue", "m", data(case, "more"), "--quiet")
    assert json.loads(vwlite("info", "m", "--json").out)["counters"]["examples"] == before + 60 == 510
    assert len(vwlite("predict", "-m", "m", data(case)).out.splitlines()) == 40


def test_explain(vwlite: Shell, case):
    """The parts of a score are its sum, which is the one that was predicted."""
    lines = vwlite("explain", "-m", case["model"], data(case), "--json", "--top", "1000").out.splitlines()
    for line, raw in zip(map(json.loads, lines), case["raw"], strict=True):
        parts = line.get("classes") or line.get("quantiles") or [line]
        for part, one in zip(parts, raw, strict=True):
            score = float(one.rpartition(":")[2])
            assert part["score"] == pytest.approx(score, **NEAR)
            total = sum(c["contribution"] for c in part["contributions"]) + part["intercept"] + part["base"]
            assert total == pytest.approx(score, rel=1e-4, abs=1e-4)


def copied(vwlite: Shell, case: dict[str, Any]) -> None:
    """A copy of the model with the names of its features, as exports by columns need them."""
    Path("model").write_bytes(case["model"].read_bytes())
    vwlite("names", "model", data(case), data(case, "more"), "--quiet")


def test_sql(vwlite: Shell, case):
    """Refused where the release read words in another way, and for texts."""
    copied(vwlite, case)
    select = ("export", "model", "--to", "sql", "--table", "t", "--id", "id", "-o", "m.sql")
    if "--drop" not in case["options"]:
        assert vwlite(*select, code=None).code in (2, 65)
        return
    vwlite(*select)
    base, rows = sqlite3.connect(":memory:"), rows_of(case)
    base.execute(f"CREATE TABLE t (id INTEGER, {', '.join(f'{column} TEXT' for column in rows[0])})")
    base.executemany(f"INSERT INTO t VALUES ({', '.join('?' * (len(rows[0]) + 1))})",
                     [[i, *row.values()] for i, row in enumerate(rows)])
    found = base.execute(Path("m.sql").read_text())
    names = [column[0] for column in found.description]
    by_name = [dict(zip(names, row, strict=True)) for row in sorted(found.fetchall())]
    if "prediction" in names:
        assert_near([[row["prediction"]] for row in by_name], case["predictions"])
    else:
        assert_near([[row[n] for n in names if n.startswith("prediction")] for row in by_name], case["predictions"])


@pytest.mark.parametrize("way", ["python", "c"])
def test_programs(vwlite: Shell, case, way):
    if case["name"] == "quantiles":
        pytest.skip("exports are of one prediction")
    copied(vwlite, case)
    said = vwlite("export", "model", "--to", way, "-o", "model.out").err
    by_columns = "reads what `vwlite convert" not in said
    assert by_columns == (case["model"].parent.name != "0.2.0" and "--drop" in case["options"])
    if way == "c" and by_columns:
        assert_near(in_c(vwlite, data(case)), case["predictions"])
    elif way == "python":
        text = data(case).read_bytes() if by_columns else vwlite("convert", "-m", "model", data(case)).out.encode()
        done = subprocess.run([sys.executable, "-I", "model.out"], input=text, capture_output=True, check=True)
        assert_near(words(done.stdout.decode()), case["predictions"])


def test_python(case):
    """Of a frame, with codes as the file has them."""
    model = load_model(case["model"])
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(data(case), dtype={"code": str})
    two = case["data"] in ("ja", "fraud")  # labels, of which the second is predicted
    rows = frame.drop(columns="y")
    found = model.predict_proba(rows)[:, 1] if two else model.predict(rows)
    assert_near(np.reshape(found, (len(rows), -1)).tolist(), case["predictions"])


def test_serve(case):
    server = Server("-m", case["model"])
    try:
        body = data(case).read_bytes()
        assert_near(words(server.post("/predict", body, kind="text/csv").decode()), case["predictions"])
    finally:
        server.stop()
