"""`vwlite train --group`: rows of a group share a fold, so that losses are those of new groups."""

import json
import math
import random
import re
from collections import Counter, defaultdict
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from running import finish, start
from tables import written

from vwlite.core.auto.folds import folds_of_groups
from vwlite.model import read_model

NAMES = ["y", "cust", "zip", "x"]


def drawn(n, first, customers, seed=0):
    """Rows of customers, each of whom has an effect of his own, which a column like his number tells."""
    draw = random.Random(seed)
    effects = [draw.gauss(0, 2) for _ in range(customers)]
    for _ in range(n):
        c, x = draw.randrange(customers), draw.gauss(0, 1)
        y = int(draw.random() < 1 / (1 + math.exp(-(effects[c] + x))))
        yield y, f"c{first + c}", f"z{first + c}", f"{x:.4f}"


def write(name, rows):
    rows = [tuple(map(str, row)) for row in rows]
    if name.endswith("jsonl"):
        types = (int, str, str, float)
        lines = (json.dumps({k: t(v) for k, t, v in zip(NAMES, types, row, strict=True)}) for row in rows)
        Path(name).write_text("".join(f"{line}\n" for line in lines))
        return
    Path(name).write_text("".join(",".join(row) + "\n" for row in [NAMES, *rows]))
    if name.endswith("parquet"):
        csv, parquet = pytest.importorskip("pyarrow.csv"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(csv.read_csv(name), name)


@pytest.fixture
def trained(vwlite, here):
    def train(name, *words):
        done = vwlite("train", name, "--label", "y", *words, "-m", "m", "--report", "r")
        found = json.loads(Path("r").read_text())["results"]
        return next(value for name, value in found.items() if name.endswith("average_loss")), done.err

    return train


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("folds", [0, 1, 2, 4])
def test_no_group_lies_in_two_folds(folds, seed):
    draw = np.random.default_rng(seed)
    groups = draw.zipf(1.5, draw.integers(10, 3000)).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    out = bytearray(len(groups))
    if len({*groups.tolist()}) < folds:
        with pytest.raises(OverflowError, match="groups"):
            folds_of_groups(groups, out, folds)
        return
    folds_of_groups(groups, out, folds)
    found = defaultdict(set)
    for group, fold in zip(groups.tolist(), out, strict=True):
        found[group].add(fold)
    assert all(len(some) == 1 for some in found.values())
    sizes, largest = Counter(out), max(Counter(groups.tolist()).values())
    if folds:
        assert {*sizes} == {*range(folds)}
        assert max(sizes.values()) - min(sizes.values()) <= largest
    else:
        assert sizes[0] <= len(out) / 10
        small = sorted(n for n in Counter(groups.tolist()).values())
        assert sizes[0] > 0 or small[0] > len(out) / 10


@pytest.mark.parametrize("rows", [2000, 6000])  # folds; from 5,000 on, here, a tenth is held out after a race
def test_out_of_fold_losses_are_those_of_new_groups(rows, vwlite, trained, monkeypatch):
    monkeypatch.setattr("vwlite.training.auto.selection.LARGE", 5000)
    write("old.csv", drawn(rows, 0, rows // 20))
    write("new.csv", drawn(rows, rows, rows // 20, seed=1))
    found = {}
    for words in ("--drop", "--group"):
        said, err = trained("old.csv", words, "cust")
        assert ("normalizations = " in err) == (rows > 5000)
        fresh = json.loads(vwlite("evaluate", "-m", "m", "new.csv", "--json", "--quiet").out)["measures"]["log_loss"]
        found[words] = said, fresh["value"]
    assert found["--drop"][0] < 0.8 * found["--drop"][1]
    assert found["--group"][0] == pytest.approx(found["--group"][1], rel=0.05)


def test_each_format_and_a_cache_give_the_same_folds(trained):
    rows = list(drawn(2000, 0, 100))
    losses = set()
    for name in ("a.csv", "a.jsonl", "a.parquet"):
        write(name, rows)
        losses.add(round(trained(name, "--group", "cust", "--derive", "none")[0], 9))
    assert len(losses) == 1
    without = trained("a.csv", "--drop", "cust", "--derive", "none", "-c")[0]
    assert without not in losses
    for _ in range(2):
        assert round(trained("a.csv", "--group", "cust", "--derive", "none", "-c")[0], 9) in losses


def test_the_model_does_not_have_the_column(vwlite, trained):
    write("a.csv", drawn(1000, 0, 50))
    trained("a.csv", "--group", "cust", "-p", "p")
    tags = [line.split()[1] for line in Path("p").read_text().splitlines()]
    assert [len(list(same)) for _, same in groupby(tags)] and tags[0].startswith("c")
    assert dict(read_model("m").columns["roles"])["cust"] == "drop"
    write("b.csv", drawn(500, 9000, 20))
    assert vwlite("predict", "-m", "m", "b.csv", "--quiet").out.count(" ") == 0
    vwlite("train", "-i", "m", "b.csv", "-m", "m2")
    assert dict(read_model("m2").columns["roles"])["cust"] == "drop"
    assert "cust" not in vwlite("weights", "m2", "b.csv").out


def test_what_has_no_folds_is_refused(vwlite, here):
    write("a.csv", [(i % 2, f"c{i % 3}", "z", i) for i in range(100)])
    run = ["train", "--label", "y", "--group", "cust"]
    Path("one.csv").write_text("y,cust,x\n" + "".join(f"{i % 2},c,{i}\n" for i in range(100)))
    assert "--group: all rows are of one group, and" in vwlite(*run, "one.csv", code=65).err
    assert "vwlite split --group makes a test set" in vwlite(*run, "a.csv", "--algorithm", "gd", code=2).err
    assert "vwlite split --group" in vwlite(*run, "a.csv", "--algorithm", "gd", "--passes", "3", code=2).err
    assert "--group and --tag cannot be used together" in vwlite(*run, "a.csv", "--tag", "zip", code=2).err
    assert "--group no: no such column" in vwlite("train", "--label", "y", "--group", "no", "a.csv", code=65).err
    vwlite("train", "--label", "y", "--drop", "cust", "a.csv", "-m", "m")
    assert "leave it out" in vwlite(*run[:1], "--group", "cust", "a.csv", "-i", "m", code=2).err
    done = finish(start(*run, "--format", "csv"), Path("a.csv").read_bytes())
    assert (done.code, "name files" in done.err) == (2, True)
    Path("b.csv").write_text("y,cust\n1,a\n0,\n")
    assert "b.csv:3:1: column cust: an empty cell" in vwlite(*run, "b.csv", code=65).err
    write("c.csv", [(i % 2, f"c{max(i - 70, 0)}", "z", i) for i in range(100)])
    assert "one group has 71 of 100 examples" in vwlite(*run, "c.csv").err


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("how", [[], ["--classes", "auto"], ["--loss", "quantile"]])
def test_few_groups_are_a_fold_each(how, count, vwlite, here):
    """A column that only says which group a row is of, whose effect no other group has, does not help."""
    draw = random.Random(1)
    rows = [(i % count if draw.random() < 0.6 else draw.randrange(count), f"c{i % count}", f"z{i % count}", i % 7)
            for i in range(200)]
    write("a.csv", rows)
    found = {}
    for option in ("--group", "--drop"):
        vwlite("train", "a.csv", "--label", "y", option, "cust", *how, "-m", "m", "--report", "r")
        results = json.loads(Path("r").read_text())["results"]
        found[option] = next(value for name, value in results.items() if name.endswith("average_loss"))
    assert found["--group"] > 1.05 * found["--drop"]
    said = vwlite("train", "a.csv", "--label", "y", "--group", "cust", *how, "-m", "m").err
    assert f"note: --group: there are only {count} groups, so that the loss may not be that of new groups" in said


# --- groups that columns show ---------------------------------------------------------------------------------------


def customers(form: str, n: int, seed: int = 1) -> tuple[list[str], list[list[str]], list[list[str]]]:
    """Rows of customers, 15 of each, who have attributes and an effect of their own; and rows of new ones."""
    rng = np.random.default_rng(seed)
    fresh, known = 6000, n // 15
    g = np.r_[rng.integers(0, known, n), known + np.arange(fresh) // 15]
    Z, effect = rng.normal(size=(g.max() + 1, 2)).round(7), 1.5 * rng.normal(size=g.max() + 1)
    x = rng.normal(size=n + fresh)
    score = 0.5 * Z[g, 0] + x + effect[g]
    if form == "regression":
        y = (score + rng.normal(size=n + fresh)).round(4)
    elif form == "classes":
        y = np.searchsorted([-1, 1], score + rng.logistic(size=n + fresh))
    else:
        y = (rng.random(n + fresh) < 1 / (1 + np.exp(-score))) * 1
    cell = (lambda z: f"w{z}") if form == "words" else str
    rows = [[str(y[i]), cell(Z[g[i], 0]), cell(Z[g[i], 1]), f"{x[i]:.4f}"] for i in range(n + fresh)]
    return ["y", "income", "a b", "x"], rows[:n], rows[n:]


@pytest.mark.parametrize(("form", "n"), [("numbers", 600), ("numbers", 3000), ("regression", 3000), ("classes", 2000)])
def test_a_note_says_what_groups_columns_show(vwlite, tmp_path, form, n):
    names, rows, fresh = customers(form, n)
    train, test = (written(tmp_path / name, names, some) for name, some in (("d.csv", rows), ("t.csv", fresh)))
    how = ["--classes", "auto"] * (form == "classes")
    said = vwlite("train", train, "--label", "y", *how, "-m", tmp_path / "m").err
    found = re.search(r"note: income, a b are equal in the same rows, which are ([\d,]+) groups: .*; of new groups "
                      r"the [a-z ]+ is about ([\d.]+): --group income learns for them", said)
    assert found is not None, said
    assert int(found[1].replace(",", "")) == len({row[1] for row in rows})
    measures = json.loads(vwlite("evaluate", test, "-m", tmp_path / "m", "--json").out)["measures"]
    of_new = measures["mse" if form == "regression" else "log_loss"]["value"]
    assert float(found[2]) == pytest.approx(of_new, rel=0.12)
    said = vwlite("train", train, "--label", "y", *how, "--group", "income", "-m", tmp_path / "g").err
    assert "are equal in the same rows" not in said
    measures = json.loads(vwlite("evaluate", test, "-m", tmp_path / "g", "--json").out)["measures"]
    assert measures["mse" if form == "regression" else "log_loss"]["value"] < of_new


@pytest.mark.parametrize("kind", ["unrelated", "copies", "one column", "a unit", "few", "other rows"])
def test_no_note_of_groups_without_them(vwlite, tmp_path, kind):
    """... or where new ones have no larger loss."""
    rng, (names, rows, _) = np.random.default_rng(2), customers("numbers", 3000)
    for i, row in enumerate(rows):
        if kind in ("unrelated", "copies"):
            row[1:3] = [f"{x:.4f}" for x in rng.normal(size=2)]
        elif kind == "one column":
            row[2] = f"{rng.normal():.4f}"
        elif kind == "few":
            k = int(100_000 * abs(float(row[1]))) % 15
            row[1:3] = [f"{k / 2}", f"{k * k}"]
        elif kind == "a unit":
            celsius = round(20 + 8 * rng.normal(), 1)
            label = int(rng.random() < 1 / (1 + np.exp(4 - celsius / 5)))
            row[:3] = [str(label), f"{celsius}", f"{1.8 * celsius + 32:.2f}"]
        elif kind == "other rows" and i % 20 == 0:
            row[2] = rows[i - 1][2]
    if kind == "copies":
        rows = [rows[i] for i in rng.integers(0, 1000, 3000)]
    data = written(tmp_path / "d.csv", names, rows)
    assert "are equal in the same rows" not in vwlite("train", data, "--label", "y", "-m", tmp_path / "m").err
