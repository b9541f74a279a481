"""`vwlite merge` of default models beside which rows are kept."""

import json
import os
import random
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from night_twins import derivatives, minimized
from nights import KINDS

from vwlite.core.solve.rows import Rows
from vwlite.merging.rows import PIECE
from vwlite.model import read_model
from vwlite.model.kept_rows import found_for
from vwlite.model.learners import make_expander
from vwlite.training.auto.trainer import AutoTrainer


def shards_of(vwlite, write, kind, *more, keep="64M"):
    """Models of two days that continue that of a day before them, in the order of their digests."""
    options = (*KINDS[kind][2], "--quiet")
    vwlite("train", write(kind, "day0", [0]), *options, "-m", "start", "--keep-rows", keep)
    group = ("--group", "customer") if kind == "groups" else ()
    for day in (1, 2):
        part = write(kind, f"day{day}", [day])
        vwlite("train", "-i", "start", part, "-m", f"s{day}", "--past", "1", "--quiet", *group, *more)
    return sorted(("s1", "s2"), key=lambda name: read_model(name).digest)


def rows_of(model):
    return found_for(model, read_model(model).digest)[0]


def labels_of(model):
    return [y for batch in rows_of(model).batches() for y in batch.label]


@pytest.mark.third
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("quantiles", "classes")])  # which take long
def test_the_merge_of_all_rows_is_the_default_of_one_machine(vwlite, write, kind):
    """The same features, weights and predictions, for the rows of the start once, then those of each shard."""
    shards = shards_of(vwlite, write, kind)
    vwlite("merge", *shards, "--start", "start", "-o", "m", "--quiet")
    days = [0, *(int(name[1]) for name in shards)]
    options = (*KINDS[kind][2], "--quiet")
    vwlite("train", write(kind, "all", days), *options, "-m", "one", "--keep-rows", "64M", "--fail-if",
           "average_loss<0")
    m, one, new = read_model("m"), read_model("one"), write(kind, "new", [9])
    assert {**m.arrays()}.keys() == {**one.arrays()}.keys()
    assert (m.options, m.chosen, m.range) == (one.options, one.chosen, one.range)
    assert m.counters["examples"] == one.counters["examples"]
    assert all(bytes(a) == bytes(b) for a, b in zip(m.arrays().values(), one.arrays().values(), strict=True))
    assert labels_of("m") == labels_of("one")
    assert vwlite("predict", "-m", "m", new).out == vwlite("predict", "-m", "one", new).out
    assert m.merged["rule"] == "rows" and m.base == read_model("start").digest


def test_the_merge_does_not_depend_on_the_order_and_continues(vwlite, write):
    shards = shards_of(vwlite, write, "two words")
    for name, order in (("m", shards), ("n", shards[::-1])):
        said = vwlite("merge", *order, "--start", "start", "-o", name).err
    assert "rule = rows\n" in said
    assert said.endswith("note: all 450 rows that are kept beside the shards were learned, as by vwlite train\n")
    assert Path("m").read_bytes() == Path("n").read_bytes()
    assert Path("m.rows").read_bytes() == Path("n.rows").read_bytes()
    assert "already a merge" in vwlite("merge", "m", "s1", "--start", "start", "-o", "n", code=65).err


def test_the_merge_continues(vwlite, write):
    """With its rows; and shards begin from it."""
    vwlite("merge", *shards_of(vwlite, write, "VW text"), "--start", "start", "-o", "m", "--quiet")
    for day in (4, 5):
        said = vwlite("train", "-i", "m", write("VW text", "day", [day]), "-m", f"s{day}", "--past", "1").err
        assert "trained again from 450 kept rows, and 150 new rows" in said
    vwlite("merge", "s4", "s5", "--start", "m", "-o", "last", "--quiet")
    assert rows_of("last").facts.lines == 750 == read_model("last").counters["examples"]


def test_shards_that_began_from_nothing(vwlite, write):
    for day in (0, 1):
        vwlite("train", "--continue", f"s{day}", write("texts", "day", [day]), *KINDS["texts"][2], "--quiet")
    vwlite("merge", "s0", "s1", "-o", "m", "--quiet")
    days = sorted((0, 1), key=lambda day: read_model(f"s{day}").digest)
    vwlite("train", write("texts", "all", days), *KINDS["texts"][2], "-m", "one", "--quiet")
    assert bytes(read_model("m").weights) == bytes(read_model("one").weights)


def test_classes_have_the_numbers_of_their_names(vwlite, folder):
    """Shards have found them in another order, and one of them only in one shard."""
    options = ("--label", "y", "--oaa", "4", "--classes", "auto", "--derive", "none", "--quiet")
    for shard, names in ((1, "bac"), (2, "cab"), (3, "abd")):
        rows = "".join(f"{name},{2 * ord(name) + i % 2}\n" for i in range(15) for name in names)
        Path(f"{shard}.csv").write_text(f"y,x\n{rows}")
        vwlite("train", "--continue", f"s{shard}", f"{shard}.csv", *options)
    vwlite("merge", "s1", "s2", "s3", "-o", "m", "--quiet")
    assert read_model("m").classes == rows_of("m").classes == ["a", "b", "c", "d"]
    assert sorted(labels_of("m")) == [1.0] * 45 + [2.0] * 45 + [3.0] * 30 + [4.0] * 15
    Path("new.csv").write_text("x\n" + "".join(f"{2 * ord(name)}\n" for name in "abcd"))
    assert vwlite("predict", "-m", "m", "new.csv", "--quiet").out.split()[0] == "a"


def test_a_holdout_measures_the_merge(vwlite, write):
    shards = shards_of(vwlite, write, "two words")
    held = write("two words", "held", [7])
    vwlite("merge", *shards, "--start", "start", "-o", "m", "--holdout", held, "--report", "r")
    results = json.loads(Path("r").read_text())["results"]
    loss = json.loads(vwlite("evaluate", "-m", "m", held, "--json").out)["measures"]["log_loss"]["value"]
    assert results["holdout_loss"] == pytest.approx(loss, rel=1e-6) and results["holdout_examples"] == 150
    assert 0 < results["standard_error"] < results["holdout_loss"]


def test_what_fits_is_an_equal_share_of_the_newest_rows_of_each(vwlite, folder):
    def text(label, n):
        return "".join(f"{label if i % 2 else -1} | a:{i} b\n" for i in range(n))

    Path("0.vw").write_text(text(1, 40))
    vwlite("train", "0.vw", "-m", "start", "--loss", "squared", "--keep-rows", "400K", "--quiet")
    for label, n in ((2, 5 * PIECE), (3, 3 * PIECE)):  # a row takes 58 bytes: all of a shard fit
        Path("day.vw").write_text(text(label, n))
        vwlite("train", "-i", "start", "day.vw", "-m", f"s{label}", "--quiet", "--past", "1")
    said = vwlite("merge", "s2", "s3", "--start", "start", "-o", "m").err
    most = 400 * 1024 // 58
    assert f"all {8 * PIECE + 40:,} rows that are kept" in said
    values = [(y, x) for batch in rows_of("m").batches() for y, x in zip(batch.label, batch.value[::2], strict=True)]
    assert len(values) == most
    oldest = {label: min(x for y, x in values if y == label) for label in (2, 3)}
    assert oldest[3] == 1 and 5 * PIECE - 3 * PIECE > oldest[2] > 1  # the shorter one is there in full
    facts = rows_of("m").facts
    assert (facts.dropped, facts.beyond) == (8 * PIECE + 40 - most, 8 * PIECE + 40 - most)


def many(folder, vwlite, loss):
    """A start of which few rows are kept, and shards that continue it, with labels of a linear model."""
    rng, words = np.random.default_rng(5), np.random.default_rng(1).normal(size=12)
    names = []
    for name, n in (("0", 1500), ("1", 300), ("2", 300)):
        x = (rng.random((n, 12)) < 0.3).astype(float)
        p = x @ words + rng.normal(0, 0.5, n)
        y = np.where(p > 0, 1, -1) if loss == "logistic" else p.round(3)
        Path(f"{name}.vw").write_text("".join(
            f"{label} | {' '.join(f'w{j}' for j in np.flatnonzero(row))}\n" for label, row in zip(y, x, strict=True)))
        start = ("-i", "start", "--past", "1") if name != "0" else ("--keep-rows", "20K", "--loss", loss)
        vwlite("train", f"{name}.vw", *start, "-m", "start" if name == "0" else f"s{name}", "--quiet")
        names += [f"s{name}"] if name != "0" else []
    return names


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_the_fit_around_the_states_is_that_of_the_twin(vwlite, folder, monkeypatch, loss):
    """Of rows that are not kept, the merged state says how certain a weight is."""
    from vwlite.training import newton

    for name, value in (("GAIN", 1e-12), ("MORE", 0), ("PART", 1e-9), ("MOST_PRODUCTS", 400)):
        monkeypatch.setattr(newton, name, value)
    shards = many(folder, vwlite, loss)
    said = vwlite("merge", *shards, "--start", "start", "-o", "m").err
    vwlite("merge", *shards, "--start", "start", "-o", "states", "--rule", "information", "--quiet")
    m, states, kept = read_model("m"), read_model("states"), [rows_of(shard) for shard in shards]
    lines = sum(rows.facts.lines for rows in kept)
    others = 2100 - lines
    assert f"note: of 2,100 rows, {lines} are kept beside the shards" in said and others > 1000
    rows = Rows(make_expander(replace(states.settings, constant=False)))
    for batch in (batch for rows_of_shard in kept for batch in rows_of_shard.batches()):
        rows.add(batch)
    rows.finish()
    keys, place = np.asarray(states.keys), {key: i for i, key in enumerate(rows.keys)}
    begin, index, value = (np.asarray(x) for x in rows.entries)
    begin = begin.view(np.uint64).astype(int)
    x = np.ones((len(rows), len(keys)))
    dense = np.zeros((len(rows), len(place)))
    for i in range(len(rows)):
        dense[i, index[begin[i] : begin[i + 1]]] = value[begin[i] : begin[i + 1]]
    constant = make_expander(states.settings).constant_key
    for j, key in enumerate(keys.tolist()):
        if key != constant:
            x[:, j] = dense[:, place[key]] if key in place else 0.0
    y, w = np.array(rows.labels), np.array(states.weights)[:, None]
    G = np.array(states.state["G"], float)[:, None] * others / 2100
    scale, kappa = 1.0, 2.0 if loss == "logistic" else 1.0
    if loss == "squared":
        scale = 2 * derivatives(loss, x @ w, y)[0].mean()
    h = derivatives(loss, x @ w, y)[2].mean() / scale
    penalty = np.where(keys == constant, 1e-3, np.abs(x).max(axis=0) ** 2 / (np.var(y) if loss == "squared" else 1))
    penalty = penalty[:, None] + kappa * others * h / G[keys == constant] * G
    found = minimized(loss, x, y, np.ones(len(y)), penalty, w, scale)
    assert np.array(m.weights) == pytest.approx(((found + w) / 2)[:, 0], rel=1e-4, abs=1e-6)


def test_texts_whose_n_grams_are_left_out(vwlite, folder):
    """The rows that are kept have them: the merged model has the features of the shards."""
    chance = random.Random(3)
    words = [f"w{i}" for i in range(60)]
    effects = {word: chance.gauss(0, 1.5) for word in words}
    for name in ("a", "b", "new"):
        texts = [chance.sample(words, 6) for _ in range(800)]
        scores = [sum(effects[word] for word in text) + chance.gauss(0, 1.5) for text in texts]
        Path(f"{name}.csv").write_text("y,text\n" + "".join(
            f"{int(score > 0)},{' '.join(text)}\n" for score, text in zip(scores, texts, strict=True)))
    for name in ("a", "b"):
        vwlite("train", f"{name}.csv", "--label", "y", "--text", "text", "--normalize", "l2", "-m", name, "--keep-rows",
               "40K", "--quiet")
    a = read_model("a")
    assert a.settings.derived is None and rows_of("a").shape["derives"]
    said = vwlite("merge", "a", "b", "-o", "m").err
    assert "note: of 1,600 rows, " in said and " are kept beside the shards" in said
    assert {*read_model("m").keys} == {*a.keys} | {*read_model("b").keys}
    losses = [json.loads(vwlite("evaluate", "-m", m, "new.csv", "--json").out)["measures"]["log_loss"]["value"]
              for m in ("a", "b", "m")]
    assert losses[2] < min(losses[:2])


def test_rows_beside_some_shards_only(vwlite, write):
    """Then the states are merged, and features must be the same."""
    shards = shards_of(vwlite, write, "VW text", "--keep-rows", "0")
    assert "rule = information" in vwlite("merge", *shards, "--start", "start", "-o", "m").err
    assert not Path("m.rows").exists()
    vwlite("train", "-i", "start", "day1.vw", "-m", "s1", "--past", "1", "--quiet")
    vwlite("merge", *shards, "--start", "start", "-o", "m", "--rule", "information", "--quiet")
    said = vwlite("merge", *shards, "--start", "start", "-o", "m").err
    assert "note: no rows are kept beside s2, so those of other shards are not used\n" in said


def test_rows_of_another_start(vwlite, write):
    """A copy of the start, which was replaced by the next model, does not say where it began."""
    shards_of(vwlite, write, "two words")
    vwlite("train", write("two words", "day", [6]), "--label", "two", "-m", "other", "--keep-rows", "64M", "--quiet")
    shutil.copy("other", "s3")
    shutil.copy("other.rows", "s3.rows")
    vwlite("train", "-i", "s3", "day1.csv", "-m", "s3", "--past", "1", "--quiet")
    said = vwlite("merge", "s2", "s3", "--start", "start", "-o", "m", code=65).err
    assert said.endswith("begin with different kept rows: train all shards from the same start\n")


def test_damaged_rows_and_a_rule_that_needs_none(vwlite, write):
    shards = shards_of(vwlite, write, "VW text", "--keep-rows", "0")
    Path(f"{shards[0]}.rows").write_bytes(Path("start.rows").read_bytes()[:500])
    said = vwlite("merge", *shards, "--start", "start", "-o", "m", code=65).err
    assert "cannot be read: " in said and said.endswith("remove it, or name a --rule\n")
    assert "rule = information" in vwlite("merge", *shards, "--start", "start", "-o", "m", "--rule", "information").err


def test_a_signal_leaves_the_merge_and_its_rows(vwlite, write, monkeypatch):
    shards = shards_of(vwlite, write, "VW text")
    vwlite("merge", *shards, "--start", "start", "-o", "m", "--quiet")
    before = Path("m").read_bytes(), Path("m.rows").read_bytes()
    Path("day1.vw").write_text(Path("day1.vw").read_text() * 2)
    vwlite("train", "-i", "start", "day1.vw", "-m", "s1", "--past", "1", "--quiet")
    run = AutoTrainer.run

    def stopped(trainer):
        os.kill(os.getpid(), signal.SIGTERM)
        while not trainer.stopped:
            time.sleep(0.01)
        run(trainer)

    monkeypatch.setattr(AutoTrainer, "run", stopped)
    said = vwlite("merge", "s1", "s2", "--start", "start", "-o", "m", code=143).err
    assert "m is unchanged" in said
    assert (Path("m").read_bytes(), Path("m.rows").read_bytes()) == before and not list(Path().glob("m.rows.*"))


def test_rows_with_other_groups(vwlite, write):
    for day, column, other in ((1, "customer", "shop"), (2, "shop", "customer")):
        vwlite("train", write("groups", f"day{day}", [day]), "--label", "two", "--group", column, "--drop", other, "-m",
               f"s{day}", "--keep-rows", "64M", "--quiet")
    said = vwlite("merge", "s1", "s2", "-o", "m", code=65).err
    assert "its kept rows have other labels or groups than those of s" in said or "its column" in said
