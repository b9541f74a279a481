"""The keys of `--report` and `--json`: version 2, in snake case but those that are names out of the data."""

import json
import re

import pytest

ROWS = [("Very Good", "a-b", 1.5), ("bad one", "c d", 2.5), ("Very Good", "a-b", 3.0), ("so so", "c d", 0.5)] * 20
KEY = re.compile(r"[a-z0-9_.]+")
# What names of the data may look like here: classes, a column and its words, files, and the lanes of the default.
NAMES = {"Very Good", "bad one", "so so", "My Column", "a-b", "c d", "size", "none", "(namespace none)"}


@pytest.fixture
def files(vwlite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = "grade,My Column,size\n" + "".join(f"{g},{c},{s + i / 100}\n" for i, (g, c, s) in enumerate(ROWS))
    (tmp_path / "t.csv").write_text(table)
    (tmp_path / "u.csv").write_text(table.replace("a-b", "new one"))
    vwlite("train", "t.csv", "--label", "grade", "--oaa", "3", "--classes", "auto", "-m", "c.model")
    vwlite("train", "t.csv", "--label", "size", "--algorithm", "gd", "-m", "r.model")
    vwlite("train", "t.csv", "--label", "size", "--algorithm", "gd", "--l1", ".001", "-m", "q.model")
    return tmp_path


COMMANDS = (
    "describe t.csv --label grade --json", "evaluate -m c.model t.csv --json --by",
    "drift -m r.model t.csv u.csv --json", "info c.model --json",
    "diff r.model q.model --json", "weights c.model t.csv --json", "report -m c.model t.csv --json",
    "tune t.csv --label size --try l1=0,1e-3 --try passes=1 --json",
)
REPORTS = (
    "train t.csv --label grade --oaa 3 --classes auto -m x.model", "evaluate -m c.model t.csv --by",
    "predict -m c.model t.csv",
    "report -m c.model t.csv -o page.html", "solve t.csv --label size --loss squared --l2 .1 -m s.model",
    "train t.csv --label size --loss squared --sparse -m x.model",
    "train t.csv --label size --algorithm gd --passes 3 -m x.model",
)


def keys(found):
    if isinstance(found, dict):
        return {*found}.union(*map(keys, found.values()))
    return set().union(*map(keys, found)) if isinstance(found, list) else set()


def words(line):
    return [*line.split(), *(["My Column"] if line.endswith("--by") else [])]


def check(content):
    found = json.loads(content)
    assert next(iter(found)) == "schema" and found["schema"] == 2
    odd = {key for key in keys(found) if not KEY.fullmatch(key)}
    assert all(key in NAMES or re.fullmatch(r"(mean of )?n?s?gd\(\d+\)", key) for key in odd), odd


@pytest.mark.parametrize("line", COMMANDS)
def test_keys_of_json(vwlite, files, line):
    check(vwlite(*words(line)).out)


@pytest.mark.parametrize("line", REPORTS)
def test_keys_of_reports(vwlite, files, line):
    vwlite(*words(line), "--report", "r.json")
    check((files / "r.json").read_text())


def test_names_out_of_the_data_stay_as_they_are(vwlite, files):
    found = json.loads(vwlite("evaluate", "-m", "c.model", "t.csv", "--by", "My Column", "--json").out)
    assert {*found["by"]} == {"a-b", "c d"}
    assert {*found["classes"]} == {"Very Good", "bad one", "so so"}
    drift = json.loads(vwlite("drift", "-m", "r.model", "t.csv", "u.csv", "--json").out)
    assert "My Column" in drift["columns"]
    one = drift["columns"]["My Column"]["unknown"]
    assert {*one} == {"yesterday", "yesterday_error", "today", "today_error", "differs"}
    drift = json.loads(vwlite("drift", "-m", "c.model", "t.csv", "u.csv", "--json").out)
    assert {"label_Very Good", "label_so so"} < {*drift["numbers"]}


def test_a_failed_run_has_the_version_too(vwlite, files):
    (files / "bad.csv").write_text("size\n1,2\n")
    vwlite("predict", "-m", "c.model", "bad.csv", "--report", "r.json", code=65)
    found = json.loads((files / "r.json").read_text())
    assert found["schema"] == 2 and found["exit_code"] == 65 and "bad.csv" in found["error"]


@pytest.mark.parametrize("line", ["info c.model --json", "evaluate -m c.model t.csv --json"])
def test_version_2_changes_nothing_and_version_1_is_refused(vwlite, files, line):
    assert vwlite(*words(line), "--report-version", "2").out == vwlite(*words(line)).out
    done = vwlite(*words(line), "--report-version", "1", code=2)
    assert "version 1 ended with vwlite 0.2: use 2" in done.err and not done.out
