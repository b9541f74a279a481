"""`vwlite dask train -i`: a model that was made without options is continued on many machines."""

import json
import os
import random
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed", reason="the front on Dask is an extra")

from drawn_tables import COUNT, HEADER, SAMPLE, digest, draw, loss, table

from vwlite.dask import default
from vwlite.dask.state import remove_state
from vwlite.model import read_model
from vwlite.model.kept_rows import found_for


@pytest.fixture
def shards(tmp_path, monkeypatch):
    """Four tables t0.csv, ...; x.csv has other rows, and before.csv those that a model has learned."""
    monkeypatch.chdir(tmp_path)
    for i in range(4):
        Path(f"t{i}.csv").write_text(HEADER + "".join(table(i)))
    Path("x.csv").write_text(HEADER + "".join(table(9, 2000)))
    Path("before.csv").write_text(HEADER + "".join(table(8, 1500)))
    return "t*.csv"


@pytest.fixture
def on(vwlite, cluster, shards):
    """Run `dask train` on the shards."""
    def run(*arguments, **more):
        return vwlite("dask", "train", shards, "--scheduler", cluster.scheduler_address, *arguments, **more)

    return run


def before(vwlite, *options, data="before.csv", model="m0"):
    vwlite("train", data, "--label", "y", "-m", model, "--quiet", *options)


def test_few_rows_give_the_bytes_of_one_machine(vwlite, on):
    before(vwlite, "--keep-rows", "64M")
    paths = sorted((f"t{i}.csv" for i in range(4)), key=lambda path: draw(path, label="y").digest)
    vwlite("train", *paths, "-i", "m0", "-m", "one", "--quiet")
    said = on("-i", "m0", "-m", "m").err
    assert digest("m") == digest("one") and "trained again from 1,500 kept rows, and 2,400 new rows" in said
    assert found_for("m", read_model("m").digest)[0].facts == found_for("one", read_model("one").digest)[0].facts


@pytest.mark.long
@pytest.mark.parametrize("kept", ["64M", "0", "12K"])
def test_it_is_as_good_as_one_machine_and_knows_what_was_before(vwlite, on, small_sample, kept):
    before(vwlite, "--keep-rows", kept)
    vwlite("train", *(f"t{i}.csv" for i in range(4)), "before.csv", "--label", "y", "-m", "one", "--quiet")
    said = on("-i", "m0", "-m", "m", "--report", "r").err
    assert "continuing m0 (1,500 examples) with its features\n" in said and "is removed" not in said
    of_sample = re.search(r"\nsample of 700 of 2,400 rows: log loss 0\.\d+ \(([^)]+)\), curves of 2 numbers", said)
    assert of_sample and of_sample[1] == "held out, before they are learned"
    assert ("m0.rows is not there: the past counts as a summary, 1,500 examples\n" in said) == (kept == "0")
    m, start = read_model("m"), read_model("m0")
    on("--label", "y", "-m", "new", "--quiet")
    assert np.log(loss(vwlite, "m") / loss(vwlite, "one")) < 0.03
    assert loss(vwlite, "m") < loss(vwlite, "m0") and loss(vwlite, "m") < loss(vwlite, "new")
    assert m.counters["examples"] == 1500 + 4 * COUNT and m.base == start.digest
    assert {*np.asarray(start.keys)} <= {*np.asarray(m.keys)} and m.settings.derived == start.settings.derived
    nights = m.continued["nights"]
    assert nights[-1]["rows"] == 4 * COUNT and nights[-1]["loss"] == pytest.approx(loss(vwlite, "m0"), rel=0.3)
    assert m.continued["features_from"] == 1500
    assert json.loads(Path("r").read_text())["options"]["initial"] == "m0"
    vwlite("train", "x.csv", "-i", "m", "-m", "next", "--quiet")  # a night on one machine
    assert read_model("next").counters["examples"] == m.counters["examples"] + 2000


@pytest.mark.long
def test_workers_make_no_difference_and_words_that_only_the_model_knows_stay(vwlite, on, shards, small_sample):
    Path("before.csv").write_text(HEADER + "".join(table(8, 1500)).replace(",q\n", ",only\n"))
    before(vwlite)
    on("-i", "m0", "-m", "m", "--quiet")
    vwlite("dask", "train", shards, "--scheduler", "local:1", "-i", "m0", "-m", "other", "--quiet")
    assert digest("m") == digest("other")
    names = [name for _, name in read_model("m").names]
    assert b"word^word=only" in names and b"word^word=q" in names
    old, new = (dict(zip(m.keys, m.weights, strict=True)) for m in map(read_model, ("m0", "m")))
    key = next(key for key, name in read_model("m0").names if name == b"word^word=only")
    assert new[key] == pytest.approx(old[key], rel=1e-6)


@pytest.mark.long
def test_a_model_of_few_rows_gets_new_features(vwlite, on, small_sample):
    Path("few.csv").write_text(HEADER + "".join(table(7, 150)))
    before(vwlite, "--keep-rows", "64M", data="few.csv")
    shutil.copy("m0", "bare")
    said = on("-i", "m0", "-m", "m").err
    assert "continuing m0 (150 examples) with new features\n" in said
    assert "are not kept beside it" not in said
    m = read_model("m")
    assert m.counters["examples"] == 150 + 4 * COUNT and m.continued["features_from"] == SAMPLE
    assert loss(vwlite, "m") < loss(vwlite, "m0")
    said = on("-i", "bare", "-m", "m").err
    assert "note: 150 of the rows that bare has learned are not kept beside it, so the new model does not know" in said
    assert read_model("m").counters["examples"] == 4 * COUNT


@pytest.mark.long
def test_it_continues_after_a_round_though_the_model_is_replaced(vwlite, on, small_sample, monkeypatch):
    before(vwlite, "--keep-rows", "64M")
    for suffix in ("", ".rows"):
        shutil.copy(f"m0{suffix}", f"m{suffix}")
    on("-i", "m0", "-m", "whole", "--quiet")
    kept = {}

    def keep(path):
        kept.update({name: Path(name).read_bytes() for name in ("m.rounds", "m.rows")})
        raise KeyboardInterrupt

    monkeypatch.setattr(default, "remove_state", keep)
    on("-i", "m", "-m", "m", "--quiet", code=130)
    assert kept["m.rows"] == Path("m0.rows").read_bytes()
    Path("m.rounds").write_bytes(kept["m.rounds"])
    monkeypatch.setattr(default, "remove_state", remove_state)
    said = on("-i", "m", "-m", "m", "--resume").err
    assert "continuing after round 2\n" in said and "round 3: " in said and "round 2: " not in said
    assert "note: m.rows is removed, as runs over shards keep no rows" in said and not os.path.exists("m.rows")
    m, whole = read_model("m"), read_model("whole")
    assert bytes(m.weights) == bytes(whole.weights) and m.base == "" and m.counters == whole.counters
    assert m.continued == whole.continued and m.continued["nights"][-1]["loss"] > 0.1


@pytest.mark.long
def test_a_run_that_was_interrupted_is_not_begun_again(vwlite, on, small_sample, monkeypatch):
    """With -i and -m the same, the new rows would count twice."""
    before(vwlite, "--keep-rows", "64M", model="m")
    kept = {}
    put = default.DefaultRounds.put

    def stop(run, model):
        put(run, model)
        kept.update({name: Path(name).read_bytes() for name in ("m", "m.rounds", "m.rows")})
        raise KeyboardInterrupt

    monkeypatch.setattr(default.DefaultRounds, "put", stop)
    on("-i", "m", "-m", "m", "--quiet", code=130)
    monkeypatch.setattr(default.DefaultRounds, "put", put)
    for name, content in kept.items():
        Path(name).write_bytes(content)
    said = on("-i", "m", "-m", "m", code=2).err
    assert "m.rounds is there, so m has learned a part of these data: add --resume, or remove it" in said
    Path("m.rows").unlink()
    assert "the rows that were kept for m are no longer beside it" in on("-i", "m", "-m", "m", "--resume", code=2).err


@pytest.mark.long
def test_numbers_and_groups(vwlite, on, small_sample):
    chance = random.Random(5)
    for path in (*Path().glob("t*.csv"), Path("before.csv"), Path("x.csv")):
        rows = path.read_text().splitlines()[1:]
        path.write_text(HEADER + "".join(
            f"{50 * float(a) ** 2 + 3 * chance.gauss(0, 1) + 5 * (w == 'p')},{a},{b},{w}\n"
            for a, b, w in (row.split(",")[1:] for row in rows)))
    before(vwlite, "--group", "word", "--keep-rows", "64M")
    assert "add --group word" in on("-i", "m0", "-m", "m", code=2).err
    on("-i", "m0", "-m", "m", "--group", "word", "--report", "r")
    results = json.loads(Path("r").read_text())["results"]
    assert results["holdout_loss"] < 0.7 * results["holdout_loss_of_the_baseline"]


@pytest.mark.long
@pytest.mark.parametrize("kept", ["64M", "0"])
def test_a_night_of_one_label_does_not_replace_what_is_known(vwlite, on, small_sample, kept):
    for i in range(4):
        Path(f"t{i}.csv").write_text(HEADER + "".join(f"1{line[1:]}" for line in table(i)))
    before(vwlite, "--keep-rows", kept)
    said = on("-i", "m0", "-m", "m").err
    vwlite("train", *(f"t{i}.csv" for i in range(4)), "-i", "m0", "-m", "one", "--quiet")
    assert "the intercept alone" not in said
    assert loss(vwlite, "m") < (loss(vwlite, "one") if kept == "0" else 4 * loss(vwlite, "m0"))


@pytest.mark.long
@pytest.mark.parametrize("scale", [1, 5000])
def test_a_night_of_few_rows_on_one_machine_changes_little(vwlite, on, small_sample, scale):
    """The model of shards has the state that steps go on with: their rates, and the largest value of each number."""
    def write(path, count, seed):
        chance = random.Random(seed)
        rows = [(chance.gauss(0, 1), chance.gauss(0, 3), chance.choice("pqrs")) for _ in range(count)]
        labels = [scale * (3 * a - b + 2 * (w == "p") + chance.gauss(0, 1)) for a, b, w in rows]
        Path(path).write_text(HEADER + "".join(
            f"{y:.3f},{a:.4f},{b:.4f},{w}\n" for y, (a, b, w) in zip(labels, rows, strict=True)))

    def error(model):
        return json.loads(vwlite("evaluate", "-m", model, "x.csv", "--json").out)["measures"]["mse"]["value"]

    for i in range(4):
        write(f"t{i}.csv", COUNT, i)
    write("x.csv", 2000, 9)
    write("few.csv", 30, 7)
    on("--label", "y", "-m", "m", "--quiet")
    vwlite("train", "few.csv", "-i", "m", "-m", "next", "--quiet")
    assert error("next") < 1.05 * error("m")
    before(vwlite, data="t0.csv")
    on("-i", "m0", "-m", "m", "--quiet")
    vwlite("train", "few.csv", "-i", "m", "-m", "next", "--quiet")
    assert error("next") < 1.05 * error("m")


@pytest.mark.long
@pytest.mark.parametrize("kept", ["64M", "0"])
def test_cells_that_are_missing_keep_what_was_learned(vwlite, on, small_sample, kept):
    """Of a number whose absence tells the label, if no new row lacks it."""
    chance = random.Random(4)
    def lacking(line):
        _, a, _, word = line.split(",")
        return f"1,{a},,{word}"

    lines = [line if chance.random() < 0.8 else lacking(line) for line in table(8, 1500)]
    Path("before.csv").write_text(HEADER + "".join(lines))
    Path("x.csv").write_text(HEADER + "".join(map(lacking, table(9, 200))))
    before(vwlite, "--keep-rows", kept)
    on("-i", "m0", "-m", "m", "--quiet")
    assert loss(vwlite, "m0") < 0.1 and loss(vwlite, "m") < 0.1


@pytest.mark.long
def test_classes_are_continued(vwlite, on, small_sample):
    for i in range(4):
        Path(f"t{i}.csv").write_text(HEADER + "".join(table(i, classes=True)))
    for name, n, seed in (("before", 1500, 8), ("x", 2000, 9)):
        Path(f"{name}.csv").write_text(HEADER + "".join(table(seed, n, classes=True)))
    before(vwlite, "--classes", "auto", "--keep-rows", "20K")
    on("-i", "m0", "-m", "m", "--quiet")
    on("--label", "y", "--classes", "auto", "-m", "new", "--quiet")
    assert loss(vwlite, "m") < min(loss(vwlite, "m0"), 1.01 * loss(vwlite, "new"))
    assert read_model("m").classes == read_model("m0").classes


@pytest.mark.long
def test_classes_that_the_model_does_not_know(vwlite, on, small_sample):
    for i in range(4):
        Path(f"t{i}.csv").write_text(HEADER + "".join(table(i, classes=True)))
    Path("before.csv").write_text(HEADER + "".join(
        line for line in table(8, 1500, classes=True) if not line.startswith("much")))
    before(vwlite, "--classes", "auto", "--oaa", "2")
    said = on("-i", "m0", "-m", "m", "--retries", "1", code=65).err
    assert "much" in said and not os.path.exists("m")


def test_models_that_are_continued_by_steps_are_refused(vwlite, on):
    before(vwlite, "--algorithm", "adagrad")
    said = on("-i", "m0", "-m", "m", code=2).err
    assert said.endswith("--initial m0: it is not a model of --algorithm auto with its state: vwlite train -i "
                         "continues it on one machine\n")
    before(vwlite, "--class-weight", "balanced")
    assert "--initial m0: it has --class-weight, which runs over" in on("-i", "m0", "-m", "m", code=2).err
    before(vwlite)
    assert "--loss squared" in on("-i", "m0", "-m", "m", "--loss", "squared", code=2).err
