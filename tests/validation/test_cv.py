"""`vwlite cv`: the measures of `vwlite evaluate` on each fold, by a model of the others."""

import json
import os
import random
import signal
import statistics
import time
from pathlib import Path

import mmh3
import pytest
from running import start


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)


def drawn(n=600):
    draw = random.Random(0)
    for _ in range(n):
        x, c = draw.gauss(0, 1), draw.randrange(30)
        y = x + draw.gauss(0, 1) + c / 30
        yield f"{y:.3f}", str(int(y > 0)), "abc"[(y > 0) + (y > 1)], f"c{c}", f"{x:.3f}"


ROWS = list(drawn())
TABLE = [",".join(row) + "\n" for row in [("y", "up", "kind", "who", "x"), *ROWS]]
VW = [f"{row[0]} |f {row[3]} x:{row[4]}\n" for row in ROWS]
GD = ["--algorithm", "gd"]


def fold_of(key, k):
    return mmh3.hash64(key.encode(), 0, signed=False)[0] * k >> 64


@pytest.mark.parametrize(("name", "words", "groups", "trains"), [
    ("a.csv", ["--label", "up", "--drop", "y,kind"], False, []),
    ("a.csv", ["--label", "up", "--drop", "y,kind"], True, ["--group", "who"]),
    ("a.csv", ["--label", "y", "--drop", "up,kind", *GD], True, ["--drop", "who"]),
    ("a.csv", ["--label", "kind", "--drop", "y,up", "--oaa", "3", "--classes", "a,b,c", *GD], False, []),
    ("a.vw", [], False, []),
    ("a.vw", [*GD, "--passes", "3"], False, []),
])
def test_measures_are_those_by_hand(name, words, groups, trains, vwlite):
    header, lines = ("", VW) if name == "a.vw" else (TABLE[0], TABLE[1:])
    Path(name).write_text(header + "".join(lines))
    run = ["cv", name, *words, *["--group", "who"] * groups, "--folds", "3"]
    found = json.loads(vwlite(*run, "--json").out)
    expected, rows = {}, []
    for k in range(3):
        folds = [fold_of(row[3] if groups else line[:-1], 3) for row, line in zip(ROWS, lines, strict=True)]
        for part in ("train", "test"):
            some = [line for line, fold in zip(lines, folds, strict=True) if (fold == k) == (part == "test")]
            Path(part + name[1:]).write_text(header + "".join(some))
        rows.append(folds.count(k))
        vwlite("train", "train" + name[1:], *words, *trains, "-m", "m", "--quiet")
        by_hand = json.loads(vwlite("evaluate", "-m", "m", "test" + name[1:], "--json", "--quiet").out)["measures"]
        for key, value in by_hand.items():
            expected.setdefault(key, []).append(value["value"])
    assert found["rows"] == rows
    assert {key: value["values"] for key, value in found["measures"].items()} == expected
    for value in found["measures"].values():
        assert value["mean"] == pytest.approx(statistics.fmean(value["values"]))
        assert value["deviation"] == pytest.approx(statistics.stdev(value["values"]))
    text = vwlite(*run).out.splitlines()
    assert text[0].split()[:2] == ["mean", "deviation"]
    assert [line.split()[-1] for line in text[1:]] == [str(rows[-1]), *(f"{x[-1]:.4f}" for x in expected.values())]
    assert os.listdir("tmp") == []


def test_stratified_folds_have_equal_shares_and_hold_each_row_once(vwlite):
    Path("a.csv").write_text("".join(TABLE))
    run = ["cv", "a.csv", "--label", "up", "--drop", "y,kind", *GD, "--loss", "logistic", "--labels", "0,1", "--json"]
    found = json.loads(vwlite(*run, "--stratify", "--folds", "7").out)
    assert sum(found["rows"]) == len(ROWS)
    assert max(found["rows"]) - min(found["rows"]) <= 2
    assert sum(json.loads(vwlite(*run).out)["rows"]) == len(ROWS)


def test_what_cannot_be_is_a_sentence(vwlite):
    Path("a.csv").write_text("y,g\n1,a\n0,b\n")
    assert "name files" in vwlite("cv", "-", code=2).err
    assert vwlite("cv", "no.csv", code=66).err == "no.csv: No such file or directory\n"
    assert "few groups" in vwlite("cv", "a.csv", "--label", "y", "--group", "g", "--folds", "9", code=65).err
    assert "--group no: no such column" in vwlite("cv", "a.csv", "--label", "y", "--group", "no", code=65).err
    assert "both --label and --drop" in vwlite("cv", "a.csv", "--label", "y", "--drop", "y", code=2).err
    Path("lines").write_text("".join(f"__label__a b{k}\n" for k in range(50)))
    for option in ("--label", "--drop", "--text"):
        said = vwlite("cv", "lines", "--format", "fasttext", option, "label", code=2).err
        assert f"{option} label is for tables, and --format fasttext has no columns" in said
    assert os.listdir("tmp") == []


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_messages_have_the_places_of_data(end, vwlite):
    lines = ["y,x", *(f"{k % 2},{k}" for k in range(80)), "1,2,3", "1,9,9,9"]
    Path("a.csv").write_bytes((end.join(lines)).encode())
    run = ["cv", "a.csv", "--label", "y", *GD, "--folds", "2"]
    bad = vwlite(*run, code=65).err
    assert bad in ("a.csv:82:1: a row of 3 cells, but there are 2 columns\n",
                   "a.csv:83:1: a row of 4 cells, but there are 2 columns\n")
    skipped = [line for line in vwlite(*run, "--on-error", "skip").err.splitlines() if "(skipped)" in line]
    assert {line.split(":")[1] for line in skipped} == {"82", "83"} and all(x.startswith("a.csv:") for x in skipped)
    wrong = vwlite("cv", "a.csv", "--label", "no", code=65).err
    assert wrong == "a.csv:1:1: --label no: no such column; the columns are y, x\n"


def test_labels_of_one_fold_alone_are_not_evaluated_and_said(vwlite):
    Path("a.csv").write_text("y,x\n" + "".join(f"{'ab'[k % 2]},{k}\n" for k in range(100)) + "c,999\n")
    done = vwlite("cv", "a.csv", "--label", "y", "--oaa", "3", "--classes", "auto", *GD, "--loss", "logistic")
    (note,) = [line for line in done.err.splitlines() if "not evaluated" in line]
    fold = fold_of("c,999", 5) + 1
    assert f"such as c (a.csv:102), are unknown to the model of fold {fold}: it expects a, b" in note


def test_folds_of_different_losses_are_not_one_table(vwlite):
    rows = [f"{k % 2},{k * k % 17},g{k % 10}\n" for k in range(200)] + [f"{k},3,gx\n" for k in range(3, 8)]
    Path("a.csv").write_text("y,x,g\n" + "".join(rows))
    run = ["cv", "a.csv", "--label", "y", "--group", "g", "--folds", "2"]
    assert "are not those of fold 1" in vwlite(*run, code=65).err
    assert vwlite(*run, "--loss", "squared").out.splitlines()[2].startswith("MSE")


def test_a_signal_leaves_nothing():
    Path("a.vw").write_text("".join(VW) * 100)
    process = start("cv", "a.vw", "--passes", "1000", *GD, "--holdout-off")
    for _ in range(500):
        if os.listdir("tmp"):
            break
        time.sleep(0.02)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 128 + signal.SIGTERM
    assert b"vwlite-" not in process.stderr.read()
    assert os.listdir("tmp") == []
