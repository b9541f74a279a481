"""`vwlite cv`: the measures of `vwlite evaluate` on each fold, by a model of the others."""

import gzip
import json
import math
import os
import random
import signal
import statistics
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import mmh3
import pytest
from running import start
from slow_auto import folds_by_kinds

from vwlite.input.reader import read_blocks
from vwlite.validation import cv as validation


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)


def drawn(n=300):
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


def folds_of(contents, labels, k, seed=0, features=2):
    """The folds of training, of contents without labels, in place of whose hashes are their numbers."""
    numbers = {content: number for number, content in enumerate(dict.fromkeys(contents), 1)}
    return folds_by_kinds([numbers[x] for x in contents], [features] * len(contents), labels, k, seed)


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
    label = ["y", "up", "kind"].index(words[words.index("--label") + 1]) if words[:1] == ["--label"] else 0
    folds = folds_of([row[3:] for row in ROWS], [row[label] for row in ROWS], 3)
    folds = [fold_of(row[3], 3) for row in ROWS] if groups else folds
    for k in range(3):
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
    said = vwlite("cv", "a.csv", "--label", "y", code=65).err
    assert said == "a.csv: 2 examples with a label, and each of 5 folds needs one: --folds K takes fewer\n"
    said = vwlite("cv", "a.csv", "--label", "y", "--group", "g", "--folds", "9", code=65).err
    assert said == "--group g: 2 groups, and each of 9 folds needs one: --folds 2 takes fewer\n"
    Path("one.csv").write_text("y,g\n1,a\n0,a\n")
    said = vwlite("cv", "one.csv", "--label", "y", "--group", "g", code=65).err
    assert said == "--group g: 1 group, and each of 5 folds needs one: leave --group out\n"
    Path("gap.csv").write_text("y,g\n1,a\n0,\n")
    said = vwlite("cv", "gap.csv", "--label", "y", "--group", "g", code=65).err
    assert "gap.csv:3:3: column g: an empty cell, and each row needs a group: write one there" in said
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


def test_places_are_those_of_the_line_itself(vwlite):
    """Records have line ends, files are compressed, and rows of Parquet have numbers."""
    rows = [f'"a\nb{k}",{k % 2},{k}\n\n' for k in range(40)]
    Path("a.csv").write_text("t,y,x\n" + "".join(rows))
    Path("b.csv.gz").write_bytes(gzip.compress(("t,y,x\n" + "".join(rows[:9]) + "c,1,z\n").encode()))
    run = ["cv", "a.csv", "b.csv.gz", "--label", "y", "--text", "t", "--numeric", "x", *GD, "--folds", "3"]
    assert vwlite(*run, code=65).err.startswith("b.csv.gz:29:5: column x: 'z' is not a number")
    Path("d.vw").write_text("".join(f"1 |f a{k}{f' x:{k}e36' * (k > 70)}\n" for k in range(1, 80)))
    where, _, said = vwlite("cv", "d.vw", *GD, "--folds", "2", code=65).err.partition(": ")
    assert where.split(":")[0] == "d.vw" and int(where.split(":")[1]) > 70 and "learning has diverged" in said
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"y": [k % 2 for k in range(50)], "x": [math.inf if k == 33 else k for k in range(50)]}
    pq.write_table(pa.table(columns), "e")
    run = ["cv", "e", "--label", "y", "--folds", "3", "--on-error", "skip"]
    assert {line.split(": ")[0] for line in vwlite(*run).err.splitlines() if "skipped)" in line} == {"e:34:2"}


def test_labels_of_one_fold_alone_are_not_evaluated_and_said(vwlite):
    Path("a.csv").write_text("y,x\n" + "".join(f"{'ab'[k % 2]},{k}\n" for k in range(100)) + "c,999\n")
    done = vwlite("cv", "a.csv", "--label", "y", "--oaa", "3", "--classes", "auto", *GD, "--loss", "logistic")
    (note,) = [line for line in done.err.splitlines() if "not evaluated" in line]
    fold = folds_of(range(101), [*([0, 1] * 50), 2], 5)[-1] + 1
    assert f"such as c (a.csv:102), are unknown to the model of fold {fold}: it expects a, b" in note


@pytest.fixture
def parts(vwlite, monkeypatch):
    """The lines of the training and the test part of each fold, without the header."""

    def find(*words):
        found = []

        def text(data, part):
            return b"".join(bytes(block.data) for block in part.blocks(read_blocks(data.files)))

        def evaluated(_, __, data, part, *___):
            found[-1].append(text(data, part))
            return []

        def trained(_, data, part, *__):
            found.append([text(data, part)])
            return "model"

        monkeypatch.setattr(validation, "_trained", trained)
        monkeypatch.setattr(validation, "_evaluated", evaluated)
        vwlite("cv", *words)
        return found

    return find


def few_rows(n=300):
    """Four plans, whose labels are drawn: eight different rows."""
    draw = random.Random(3)
    plans = [draw.randrange(4) for _ in range(n)]
    return [(f"p{x}", "ab"[x % 2], int(draw.random() < (0.1, 0.3, 0.6, 0.9)[x])) for x in plans]


FORMATS = {
    "csv": ("plan,z,y\n", lambda p, z, y: f"{p},{z},{y}\n"),
    "tsv": ("plan\tz\ty\n", lambda p, z, y: f"{p}\t{z}\t{y}\n"),
    "quoted.csv": ("plan,z,y\n", lambda p, z, y: f'"{p}\nof two",{z},{y}\n' + "\n" * (p == "p1")),
    "crlf.csv": ("plan,z,y\r\n", lambda p, z, y: f"{p},{z},{y}\r\n"),
    "jsonl": ("", lambda p, z, y: f'{{"y": {y}, "plan": "{p}", "z": "{z}"}}\n' + " \n" * (p == "p1")),
    "vw": ("", lambda p, z, y: f"{2 * y - 1} |f {p} {z}\n" + "\n" * (p == "p2")),
    "libsvm": ("", lambda p, z, y: f"{y} {int(p[1]) + 1}:1 {9 + (z == 'a')}:2\n"),
}


@pytest.mark.parametrize("seed", [0, pytest.param(8, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", FORMATS)
def test_rows_are_in_the_folds_of_training(kind, seed, parts):
    """Whatever the format, and in several files, of which one is compressed."""
    rows, (header, line) = few_rows(), FORMATS[kind]
    lines = [line(*row) for row in rows]
    Path(f"a.{kind}").write_text(header + "".join(lines[:170]))
    Path(f"b.{kind}.gz").write_bytes(gzip.compress((header + "".join(lines[170:])).encode()))
    words = [] if kind in ("vw", "libsvm") else ["--label", "y"]
    found = parts(f"a.{kind}", f"b.{kind}.gz", *words, "--folds", "6", "--seed", seed)
    folds = folds_of([row[:2] for row in rows], [row[2] for row in rows], 6, seed)
    assert len(found) == 6
    for k, (train, test) in enumerate(found):
        for part, is_test in ((train, False), (test, True)):
            some = [x if (fold == k) == is_test else "" for x, fold in zip(lines, folds, strict=True)]
            of_fold = header + "".join(some[:170]) + header + "".join(some[170:])
            assert part.replace(b" ", b"").split() == of_fold.replace(" ", "").encode().split()


def test_rows_of_parquet_are_in_the_folds_of_training(vwlite, monkeypatch):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = few_rows()
    columns = dict(zip(["plan", "z", "y"], zip(*rows, strict=True), strict=True))
    pq.write_table(pa.table(columns), "a.parquet")
    found, whole = [], pa.table(columns).to_batches()[0]
    take = lambda o, data, part, *_: found.append(part.rows("a.parquet", whole, 1).to_pylist()) or 1  # noqa: E731
    monkeypatch.setattr(validation, "_trained", take)
    monkeypatch.setattr(validation, "_evaluated", lambda *_: [])
    vwlite("cv", "a.parquet", "--label", "y", "--folds", "3")
    folds = folds_of([row[:2] for row in rows], [row[2] for row in rows], 3)
    for k, part in enumerate(found):
        assert [(*x.values(),) for x in part] == [row for row, fold in zip(rows, folds, strict=True) if fold != k]


@pytest.mark.parametrize("more", [[], ["--stratify"], ["--seed", "7"], ["--algorithm", "gd"]])
@pytest.mark.parametrize("n", [60, 300, pytest.param(2000, marks=pytest.mark.long)])
def test_few_different_rows_are_as_good_as_they_are(n, more, vwlite):
    """The folds that hold out a whole kind of row and label had a log loss above 4."""
    draw, shares = random.Random(n), (0.1, 0.3, 0.6, 0.9)
    plans = [draw.randrange(4) for _ in range(n)]
    Path("a.csv").write_text("y,plan\n" + "".join(f"{int(draw.random() < shares[x])},p{x}\n" for x in plans))
    words = ["--label", "y", "--labels", "0,1", "--loss", "logistic", *more]
    found = json.loads(vwlite("cv", "a.csv", *words, "--json").out)["measures"]
    best = statistics.fmean(-p * math.log(p) - (1 - p) * math.log(1 - p) for p in shares)
    assert found["log_loss"]["mean"] < best + 6 * 0.45 / math.sqrt(n)
    assert found["auc"]["mean"] > 0.75


def test_copies_share_a_fold_and_stratified_natural_rows_are_in_all(parts):
    rows = [f"{k % 2},{k},{k * k % 97 + 1}\n" for k in range(1, 150)] * 2  # zeros are no features
    Path("a.csv").write_text("y,a,b\n" + "".join(rows))
    for more in ([], ["--stratify"]):
        for train, test in parts("a.csv", "--label", "y", "--numeric", "a,b", *more):
            assert not {*train.split(b"\n")[1:-1]} & {*test.split(b"\n")[1:-1]}
    Path("b.csv").write_text("y,plan,z\n" + "".join(f"{y},{p},{z}\n" for p, z, y in few_rows()))
    for _, test in parts("b.csv", "--label", "y", "--stratify"):
        assert {row.split(b",")[1] for row in test.split(b"\n")[1:-1]} == {b"p0", b"p1", b"p2", b"p3"}


def test_rows_without_a_label_stay_where_the_hash_of_their_bytes_puts_them(parts):
    rows = [f"{k % 2 if k % 3 else ''},{k},{k * k % 97}\n" for k in range(300)]
    Path("a.csv").write_text("y,a,b\n" + "".join(rows))
    found = parts("a.csv", "--label", "y")
    for k, (_, test) in enumerate(found):
        kept = {row.decode() + "\n" for row in test.split(b"\n")[1:-1]}
        assert {row for row in rows if row[0] == "," and fold_of(row[:-1], 5) == k} == {x for x in kept if x[0] == ","}


@pytest.mark.parametrize("groups", [2, 3, 5, 8])
@pytest.mark.parametrize("folds", [2, 3, 5])
def test_no_fold_is_without_a_group(groups, folds, vwlite):
    """Groups stay where their hashes put them, unless that leaves a fold empty."""
    names = [f"site{k}" for k in range(groups)]
    rows = [f"{k % 2},{names[k % groups]},{k * k % 17}\n" for k in range(40 * groups)]
    Path("a.csv").write_text("y,site,x\n" + "".join(rows))
    run = ["cv", "a.csv", "--label", "y", "--group", "site", "--folds", str(folds), "--json", *GD]
    if groups < folds:
        assert f"{groups} groups, and each of {folds} folds needs one" in vwlite(*run, code=65).err
        return
    in_order = sorted(names, key=lambda name: mmh3.hash64(name.encode(), 0, signed=False)[0])
    by_hash = [fold_of(name, folds) for name in in_order]
    ends = [int(k * groups / folds + 0.5) for k in range(folds + 1)]
    even = [end - begin for begin, end in pairwise(ends)]
    counts = [by_hash.count(k) for k in range(folds)] if len({*by_hash}) == folds else even
    assert json.loads(vwlite(*run).out)["rows"] == [40 * count for count in counts]


def test_each_of_three_groups_is_predicted_by_the_others(vwlite):
    rows = [f"{int(k % 7 + k % 3 > 4)},site{k % 3},{k % 7}\n" for k in range(120)]
    Path("a.csv").write_text("y,site,x\n" + "".join(rows))
    for folds, sites in ((3, 3), (2, 2)):  # a training has two groups, and one
        Path("b.csv").write_text("y,site,x\n" + "".join(row for row in rows if int(row[6]) < sites))
        run = ["cv", "b.csv", "--label", "y", "--group", "site", "--folds", str(folds), "--json"]
        assert json.loads(vwlite(*run).out)["rows"] == [40] * folds


def test_folds_of_different_losses_are_not_one_table(vwlite):
    rows = [f"{k % 2},{k * k % 17},g{k % 10}\n" for k in range(200)] + [f"{k},3,gx\n" for k in range(3, 8)]
    Path("a.csv").write_text("y,x,g\n" + "".join(rows))
    run = ["cv", "a.csv", "--label", "y", "--group", "g", "--folds", "2"]
    assert "are not those of fold 1" in vwlite(*run, code=65).err
    assert vwlite(*run, "--loss", "squared").out.splitlines()[2].startswith("MSE")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_leaves_nothing(number):
    """It has no files but the cache of a training, which has no name."""
    Path("a.vw").write_text("".join(VW) * 100)
    process = start("cv", "a.vw", "--passes", "1000", *GD, "--holdout-off")
    for _ in range(500):
        with suppress(FileNotFoundError):  # a file was closed meanwhile
            opened = map(os.path.realpath, Path(f"/proc/{process.pid}/fd").iterdir())
            if any(name.startswith(os.path.realpath("tmp")) for name in opened):
                break
        time.sleep(0.02)
    else:
        raise AssertionError("no training has begun")
    process.send_signal(number)
    assert process.wait() == (128 + number if number == signal.SIGTERM else -number)
    assert process.stderr.read() == (b"interrupted by signal 15\n" if number == signal.SIGTERM else b"")
    assert os.listdir("tmp") == []
    assert sorted(os.listdir()) == ["a.vw", "tmp"]
