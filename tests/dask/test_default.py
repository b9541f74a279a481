"""`vwlite dask train` without options: the default of one machine, or of a sample, fitted to all rows."""

import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed", reason="the front on Dask is an extra")

from drawn_tables import COUNT, HEADER, SAMPLE, digest, draw, loss, table

from vwlite.dask import default
from vwlite.dask.state import remove_state
from vwlite.model import read_model


@pytest.fixture
def shards(tmp_path, monkeypatch):
    """Four tables t0.csv, ..., one of them compressed, in a folder of their own; x.csv has other rows."""
    monkeypatch.chdir(tmp_path)
    for i in range(3):
        Path(f"t{i}.csv").write_text(HEADER + "".join(table(i)))
    Path("t3.csv.gz").write_bytes(gzip.compress((HEADER + "".join(table(3))).encode(), mtime=0))
    Path("x.csv").write_text(HEADER + "".join(table(9, 2000)))
    return "t*.csv*"


# --- drawing ----------------------------------------------------------------------------------------


def test_what_is_drawn_of_a_shard_does_not_depend_on_its_name_or_format(shards):
    Path("other.csv").write_bytes(Path("t0.csv").read_bytes())
    found, other = draw("t0.csv", label="y"), draw("other.csv", label="y")
    assert len(found) == COUNT and found.digest == other.digest and found.rows == other.rows
    assert found.header.decode() == HEADER and found.format == "csv"
    assert {row.text.decode() + "\n" for row in found.rows} == set(table(0))
    places = [row.place for row in found.rows]
    assert places == sorted(places) and sorted(places) == sorted(found.numbers[1].tolist())


def test_copies_are_held_out_together_and_drawn_like_others(tmp_path):
    lines = ["1 | a\n", "-1 | b\n"] * 500
    (tmp_path / "copies.vw").write_text("".join(lines))
    found = draw(tmp_path / "copies.vw")
    assert len({row.content for row in found.rows}) == 2 and len({row.place for row in found.rows}) == 1000
    first = [row.text for row in found.rows[:200]]
    assert 60 < first.count(b"1 | a") < 140


def test_rows_without_label_or_importance_are_not_drawn(tmp_path):
    (tmp_path / "x.vw").write_text("1 | a\n| b\n1 0 | c\n\n-1 2 | d\n")
    found = draw(tmp_path / "x.vw")
    assert sorted(row.text for row in found.rows) == [b"-1 2 | d", b"1 | a"]
    assert found.lines.tolist() == [1, 5]


def test_lines_are_those_of_the_file_where_cells_have_several(tmp_path):
    (tmp_path / "x.csv").write_text('y,a,t\n1,1,"two\nlines"\n,2,u\n0,3,"three\n\nlines"\n1,4,v\n')
    assert draw(tmp_path / "x.csv", label="y", text=(("t",),)).lines.tolist() == [2, 5, 8]


def test_rows_of_each_class_are_kept(tmp_path):
    (tmp_path / "x.vw").write_text("common | a\n" * 300 + "rare | b\n" * 9 + "once | c\n")
    found = draw(tmp_path / "x.vw", typed={"classes": "auto"})
    assert [row.name for row in found.of_classes] == ["common"] * 8 + ["once"] + ["rare"] * 8


# --- all rows fit into the sample -------------------------------------------------------------------


def test_few_rows_give_the_bytes_of_one_machine(vwlite, cluster, shards):
    at = ("--scheduler", cluster.scheduler_address, "--label", "y")
    done = vwlite("dask", "train", shards, *at, "-m", "m", "--report", "r")
    paths = sorted(map(str, Path(".").glob("t*.csv*")), key=lambda path: draw(path, label="y").digest)
    vwlite("train", *paths, "--label", "y", "-m", "one", "--quiet")
    assert digest("m") == digest("one") and not os.path.exists("m.rounds")
    report = json.loads(Path("r").read_text())
    assert report["command"] == "dask train" and report["results"]["number_of_examples"] == 4 * COUNT
    assert "log loss" in done.err


@pytest.mark.long
def test_few_rows_of_classes_and_of_a_url_give_the_bytes_of_one_machine(vwlite, cluster, shards):
    for i in range(2):
        Path(f"c{i}.csv").write_text(HEADER + "".join(table(i, classes=True)))
    options = ("--label", "y", "--classes", "auto", "--quiet", "-m")
    paths = sorted(("c0.csv", "c1.csv"), key=lambda path: draw(path, label="y", typed={"classes": "auto"}).digest)
    vwlite("train", *paths, *options, "one")
    vwlite("dask", "train", f"file://{Path.cwd()}/c*.csv", "--scheduler", cluster.scheduler_address, *options, "m")
    assert digest("m") == digest("one")


# --- more rows --------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_fit_to_all_rows_is_better_than_the_sample_and_as_good_as_one_machine(
    vwlite, cluster, shards, small_sample
):
    at = ("--scheduler", cluster.scheduler_address, "--label", "y", "-m")
    done = vwlite("dask", "train", shards, *at, "m", "--report", "r")
    said = [line for line in done.err.splitlines() if line.startswith(("sample of", "round "))]
    assert re.fullmatch(r"sample of 700 of 2,400 rows: log loss 0\.\d+ \(held out\), curves of 2 numbers.*", said[0])
    assert [re.sub(r"0\.\d+ \(strength [^)]*\)", "LOSS", line) for line in said[1:]] == [
        f"round {i}: LOSS" for i in (1, 2, 3)]
    report = json.loads(Path("r").read_text())
    results = report["results"]
    assert results["sample"] == SAMPLE and results["rounds"] == 3 and results["shards"] == 4
    assert results["number_of_examples"] == 4 * COUNT and 60 < results["holdout_examples"] < 180
    assert results["holdout_loss"] < results["holdout_loss_of_the_baseline"] and results["readings"] == 8
    assert results["bytes_up"] > 0 and results["bytes_down"] > 0
    assert [row["round"] for row in report["rounds"]] == [1, 2, 3]
    objectives = [row["objective"] for row in report["rounds"] if row["strength"] == report["rounds"][0]["strength"]]
    assert objectives == sorted(objectives, reverse=True)
    vwlite("train", "t0.csv", "t1.csv", "t2.csv", "t3.csv.gz", "--label", "y", "-m", "one", "--quiet")
    assert np.log(loss(vwlite, "m") / loss(vwlite, "one")) < 0.03
    model = read_model("m")
    assert model.merged["rule"] == "rounds" and model.merged["shards"] == 4 and not model.interrupted
    vwlite("train", "t0.csv", "-i", "m", "-m", "next", "--quiet")  # it can be continued


@pytest.mark.long
def test_workers_and_their_number_make_no_difference(vwlite, cluster, shards, small_sample):
    found = set()
    for where in (cluster.scheduler_address, "local:1", "local:3"):
        vwlite("dask", "train", shards, "--scheduler", where, "--label", "y", "-m", "m", "--quiet")
        found.add(digest("m"))
    assert len(found) == 1


# What `start` runs in a process of its own, with a small sample.
DRIVER = ("import sys; from vwlite.dask import default; default.MOST_ROWS = 700; from vwlite.cli import run; "
          "sys.exit(run(sys.argv[1:]))")


@pytest.mark.long
def test_a_worker_that_is_killed_makes_no_difference(vwlite, cluster, shards, small_sample):
    from test_dask import descendants, finished, wait_for

    vwlite("dask", "train", shards, "--scheduler", cluster.scheduler_address, "--label", "y", "-m", "here", "--quiet")
    arguments = ("dask", "train", shards, "--scheduler", "local:2", "--label", "y", "-m", "m")
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    run = subprocess.Popen([sys.executable, "-c", DRIVER, *arguments], **pipes)
    for _ in range(2):
        worker = wait_for(lambda: next((pid for pid, _, command in descendants(run.pid)
                                        if "spawn_main" in command), None), run)
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
        wait_for(lambda: os.path.exists("m.rounds"), run)
    finished(run)
    assert digest("m") == digest("here")


@pytest.mark.long
def test_a_real_scheduler_with_four_workers_of_which_two_are_killed_and_then_the_scheduler(vwlite, cluster, shards):
    """More rows than a sample has; each loss is between two rounds, and --resume ends the run on another cluster."""
    from running import start
    from test_dask import by_command, finished, rounds_done, scheduler_address, wait_for

    for i in range(4):
        Path(f"r{i}.csv").write_text(HEADER + "".join(table(20 + i, 11_000)))
    arguments = ("dask", "train", "r*.csv", "--label", "y", "-m")
    vwlite(*arguments, "undisturbed", "--scheduler", cluster.scheduler_address, "--quiet")
    with by_command("scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1") as scheduler, \
            ExitStack() as stack:
        address = wait_for(scheduler_address, scheduler)
        worker = ("worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny")
        workers = [stack.enter_context(by_command(*worker)) for _ in range(4)]
        wait_for(lambda: Path("said").read_text().count("Registered to") >= 4, scheduler)
        run = start(*arguments, "m", "--scheduler", address, "--quiet")
        for done, victims in ((1, workers[:2]), (2, [scheduler])):
            wait_for(lambda done=done: os.path.exists("m.rounds") and rounds_done("m") == done, run)
            for victim in victims:
                victim.kill()
        assert "the scheduler has gone" in finished(run, 69)
    said = vwlite(*arguments, "m", "--scheduler", cluster.scheduler_address, "--resume").err
    assert "continuing after round 2\n" in said and "round 3: " in said and "round 2: " not in said
    assert digest("m") == digest("undisturbed") and read_model("m").counters["examples"] == 44_000
    assert not os.path.exists("m.rounds")


@pytest.mark.long
def test_it_continues_after_a_round(vwlite, cluster, shards, small_sample, monkeypatch):
    arguments = ("dask", "train", shards, "--scheduler", cluster.scheduler_address, "--label", "y", "-m")
    vwlite(*arguments, "whole", "--quiet")
    kept = {}
    monkeypatch.setattr(default, "remove_state", lambda path: kept.update(state=Path(f"{path}.rounds").read_bytes()))
    vwlite(*arguments, "m", "--quiet")
    Path("m.rounds").write_bytes(kept["state"])
    monkeypatch.setattr(default, "remove_state", remove_state)
    said = vwlite(*arguments, "m", "--resume").err
    assert "continuing after round 2\n" in said and "round 3: " in said and "round 2: " not in said
    assert digest("m") == digest("whole")
    Path("m.rounds").write_bytes(kept["state"])
    assert "m.rounds is of a run with different options" in vwlite(
        *arguments, "m", "--resume", "--loss", "squared", code=2).err


@pytest.mark.long
def test_classes_of_which_the_sample_has_none(vwlite, cluster, shards, small_sample):
    for i in range(4):
        lines = table(i, classes=True)
        if i == 2:
            lines[:3] = [line.replace(line.split(",")[0], "rare", 1) for line in lines[:3]]
        Path(f"c{i}.csv").write_text(HEADER + "".join(lines))
    vwlite("dask", "train", "c*.csv", "--scheduler", cluster.scheduler_address, "--label", "y", "--classes", "auto",
           "-m", "m", "--quiet")
    assert sorted(read_model("m").classes) == ["much", "no", "rare", "some"]


@pytest.mark.long
@pytest.mark.parametrize("options", [("--loss", "squared"), ("--loss", "quantile", "--quantile-tau", "0.2,0.7"), (),
                                     ("--loss", "poisson"), ("--loss", "huber"), ("--group", "word")])
def test_losses_of_the_default(vwlite, cluster, shards, small_sample, options):
    chance = random.Random(5)
    for i in range(4):
        rows = [f"{int(50 * float(a) ** 2 + 20 * chance.random() + 5 * (w == 'p'))},{a},{b},{w}" for a, b, w in
                (line.strip().split(",")[1:] for line in table(i))]
        Path(f"n{i}.csv").write_text(HEADER + "\n".join(rows) + "\n")
    vwlite("dask", "train", "n*.csv", "--scheduler", cluster.scheduler_address, "--label", "y", *options, "-m", "m",
           "--report", "r", "--quiet")
    results = json.loads(Path("r").read_text())["results"]
    assert results["holdout_loss"] < 0.9 * results["holdout_loss_of_the_baseline"]


@pytest.mark.long
def test_rows_of_validate_are_those_that_judge(vwlite, cluster, shards, small_sample):
    arguments = ("dask", "train", shards, "--scheduler", cluster.scheduler_address, "--label", "y", "-m", "m")
    vwlite(*arguments, "--validate", "x.csv", "--report", "r", "--quiet")
    results = json.loads(Path("r").read_text())["results"]
    assert results["holdout_examples"] == 2000
    assert results["holdout_loss"] == pytest.approx(loss(vwlite, "m"), rel=1e-4)


@pytest.mark.long
@pytest.mark.parametrize("options", [
    ("--loss", "squared"), ("--loss", "huber"), ("--loss", "poisson"), ("--loss", "quantile"),
    ("--loss", "quantile", "--quantile-tau", "0.2,0.7"), ("--loss", "expectile", "--expectile-tau", "0.3"),
], ids=" ".join)
def test_the_loss_that_is_reported_is_that_of_the_model(vwlite, cluster, shards, small_sample, options):
    """In the unit of the labels, as `vwlite predict` has it, but for kinks that are smoothed."""
    chance = random.Random(5)
    for name, rows in [(f"n{i}.csv", table(i)) for i in range(2)] + [("v.csv", table(9, 300))]:
        each = [line.strip().split(",")[1:] for line in rows]
        Path(name).write_text(HEADER + "".join(
            f"{int(50 * float(a) ** 2 + 20 * chance.random() + 5 * (w == 'p'))},{a},{b},{w}\n" for a, b, w in each))
    vwlite("dask", "train", "n?.csv", "--scheduler", cluster.scheduler_address, "--label", "y", *options, "-m", "m",
           "--report", "r", "--quiet", "--validate", "v.csv")
    vwlite("predict", "-m", "m", "v.csv", "-o", "p", "--report", "of.json", "--quiet")
    reported, of = (json.loads(Path(path).read_text())["results"] for path in ("r", "of.json"))
    assert reported["holdout_loss"] == pytest.approx(of["average_loss"], rel=5e-3)


@pytest.mark.long
@pytest.mark.parametrize("period", [4, 10])
def test_one_row_in_a_period_is_held_out(vwlite, cluster, shards, small_sample, period):
    """Whatever importance it has. Folds of the sample do not depend on it."""
    for path in Path().glob("t*.csv*"):
        text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode().splitlines()
        Path(f"w{path.name[1]}.csv").write_text("".join(
            f"{line},{'weight' if not k else 1 + k % 7}\n" for k, line in enumerate(text)))
    vwlite("dask", "train", "w*.csv", "--scheduler", cluster.scheduler_address, "--label", "y", "-m", "m",
           "--importance", "weight", "--holdout-period", period, "--report", "r", "--quiet")
    results = json.loads(Path("r").read_text())["results"]
    share = results["holdout_examples"] * period / (4 * COUNT)
    assert 0.8 < share < 1.2 and results["holdout_loss"] < results["holdout_loss_of_the_baseline"]


def test_a_period_with_a_file_for_validation_is_refused(vwlite, cluster, shards):
    said = vwlite("dask", "train", shards, "--scheduler", cluster.scheduler_address, "--label", "y", "-m", "m",
                  "--validate", "x.csv", "--holdout-period", 5, code=2).err
    assert "--validate FILE and --holdout-period cannot be used together" in said


@pytest.mark.long
def test_labels_that_say_nothing_give_the_intercept(vwlite, cluster, shards, small_sample):
    chance = random.Random(3)
    for i in range(4):
        Path(f"z{i}.csv").write_text(HEADER + "".join(
            f"{int(chance.random() < 0.3)},{line.split(',', 1)[1]}" for line in table(i)))
    vwlite("dask", "train", "z*.csv", "--scheduler", cluster.scheduler_address, "--label", "y", "-m", "m", "--quiet",
           "--report", "r")
    results = json.loads(Path("r").read_text())["results"]
    assert results["holdout_loss"] <= results["holdout_loss_of_the_baseline"]


# --- what goes wrong --------------------------------------------------------------------------------


@pytest.mark.long
def test_a_bad_line_has_its_place(vwlite, cluster, shards, small_sample):
    with open("t1.csv", "a") as file:
        file.write("1,2,3,4,5,6\n")
    arguments = ("dask", "train", shards, "--scheduler", cluster.scheduler_address, "--label", "y", "-m", "m")
    said = vwlite(*arguments, "--retries", 1, code=65).err
    assert f"{Path.cwd()}/t1.csv:{COUNT + 2}:" in said and not os.path.exists("m")
    vwlite(*arguments, "--on-error", "skip", "--quiet")
    assert read_model("m").counters["examples"] == 4 * COUNT


def test_no_row_with_a_label(vwlite, cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.vw").write_text("| a\n| b\n")
    said = vwlite("dask", "train", "x.vw", "--scheduler", cluster.scheduler_address, "-m", "m", code=65).err
    assert "no shard has a row with a label: nothing to learn from" in said
