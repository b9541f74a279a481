"""`vwlite train` of files that are too large for learning in passes: a sample, and sums over all rows."""

import gc
import json
import os
import random
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vwlite.dask import child, default, work
from vwlite.dask.cluster import Interrupted
from vwlite.dask.here import Here
from vwlite.dask.work import Failed
from vwlite.errors import VwliteError, WriteError
from vwlite.model import read_model
from vwlite.training.auto import reading
from vwlite.training.shards.rows import Projected

HEADER, SAMPLE = "y,a,b,word\n", 700


def table(seed, count):
    """A curve, a pair and levels."""
    chance, lines = random.Random(seed), []
    for _ in range(count):
        a, b, word = chance.random(), chance.random(), chance.choice("pqrs")
        score = 6 * (a - 0.5) ** 2 + 3 * (a - 0.5) * (b - 0.5) + (word == "p") - 0.8 + chance.gauss(0, 0.3)
        lines.append(f"{int(score > 0)},{a:.4f},{b:.4f},{word}\n")
    return lines


@pytest.fixture
def files(folder, monkeypatch):
    """Two tables that are large, and x.csv with other rows."""
    monkeypatch.setattr(reading, "LARGE", 10_000)
    monkeypatch.setattr(default, "MOST_ROWS", SAMPLE)
    for name, count in (("t0", 900), ("t1", 600), ("x", 400)):
        Path(f"{name}.csv").write_text(HEADER + "".join(table(name, count)))
    return "t0.csv", "t1.csv"


def loss(vwlite, model):
    return json.loads(vwlite("evaluate", "-m", model, "x.csv", "--json").out)["measures"]["log_loss"]["value"]


@pytest.fixture
def in_process(monkeypatch):
    """Tasks run in this process, which is faster."""
    def run(task, part, job, do, **options):
        before = os.getcwd()
        os.chdir(task.folder)
        try:
            o = replace(job.options, data=(part.url,), format=work.format_of(part, job), **options)
            return do(child.Task(do, o, part.name, 0))
        finally:
            os.chdir(before)

    monkeypatch.setattr(work._TaskFolder, "run", run)


SAID = "more than 4 GB of files: the default learns a sample of 40,000 rows, and the weights are fitted to all rows; " \
    "--passes 1 is a tenth of the work, and as good on most tables\n"


@pytest.mark.long
def test_the_bytes_are_those_of_dask_for_any_threads(vwlite, files):
    pytest.importorskip("distributed", reason="the front on Dask is an extra")
    for threads in ("1", "4"):
        vwlite("train", *files, "--label", "y", "-m", f"m{threads}", "--threads", threads, "--quiet")
    vwlite("dask", "train", *files, "--label", "y", "-m", "d", "--scheduler", "local:1", "--quiet")
    assert Path("m1").read_bytes() == Path("m4").read_bytes() == Path("d").read_bytes()


def test_the_model_is_fitted_to_all_rows(vwlite, files, in_process, monkeypatch):
    """It is about as good as that of all rows in memory, and better than that of the sample."""
    done = vwlite("train", *files, "--label", "y", "-m", "m", "--report", "r", "--threads", "1")
    assert done.err.startswith(SAID) and "round 3: " in done.err
    report = json.loads(Path("r").read_text())
    assert report["command"] == "train" and [row["round"] for row in report["rounds"]] == [1, 2, 3]
    assert report["results"]["number_of_examples"] == 1500 == read_model("m").counters["examples"]
    assert sorted(Path().glob("m*")) == [Path("m")]
    monkeypatch.setattr(reading, "LARGE", 1 << 32)
    vwlite("train", *files, "--label", "y", "-m", "one", "--quiet")
    assert loss(vwlite, "m") < 1.05 * loss(vwlite, "one")


@pytest.mark.parametrize("words", [("-p", "p"), ("--passes", "1"), ("--checkpoint-every", "100"), ()])
def test_other_options_learn_in_one_pass(vwlite, files, monkeypatch, words):
    """So do runs without a model. `--passes 1` asks for one."""
    monkeypatch.setattr(reading, "KEPT_EXAMPLES", 100)
    model = ("-m", "m") if words else ()
    said = vwlite("train", *files, "--label", "y", *model, *words).err
    assert SAID not in said and ("one pass, as the files have more than 4 GB" in said) == ("--passes" not in words)


def test_few_rows_of_large_files_are_learned_as_one_stream(vwlite, files, in_process, monkeypatch):
    monkeypatch.setattr(default, "MOST_ROWS", 2000)
    assert "round" not in vwlite("train", *files, "--label", "y", "-m", "m").err
    assert read_model("m").counters["examples"] == 1500


def test_a_bad_line_ends_the_run(vwlite, files):
    with open("t1.csv", "a") as file:
        file.write("1,2\n")
    Path("m").write_text("old")
    said = vwlite("train", *files, "--label", "y", "-m", "m", code=65).err
    assert f"{Path('t1.csv').resolve()}:602:" in said and Path("m").read_text() == "old"


# --- tasks --------------------------------------------------------------------------------------------


def projected(n):
    return Projected(None, np.arange(n), None, None, ())


def test_results_come_in_order_and_numbers_of_rows_are_in_files(tmp_path):
    here = Here(3, tmp_path)
    stored = [here.put(projected, n) for n in range(4)]
    found = here.each(4, lambda i, avoid: here.put(lambda x, k: (k, x.v.tolist()), stored[i], i), str)
    assert found == [(n, list(range(n))) for n in range(4)] and len([*tmp_path.iterdir()]) == 4
    stored.clear()
    gc.collect()
    assert not [*tmp_path.iterdir()]


def test_a_task_that_fails_ends_the_others(tmp_path):
    here = Here(1, tmp_path)
    with pytest.raises(VwliteError, match="t1: no") as e:
        here.each(2, lambda i, avoid: here.put(lambda: Failed(66, "no") if i else i), lambda i: f"t{i}")
    assert e.value.exit_code == 66


def test_a_disk_that_is_full(tmp_path):
    here = Here(1, tmp_path / "no folder")
    with pytest.raises(WriteError, match=r"no folder: cannot be written: .*: set TMPDIR to a folder with more space"):
        here.each(1, lambda i, avoid: here.put(projected, i), str)


def test_a_signal_ends_waiting(tmp_path):
    here, gate = Here(1, tmp_path), threading.Event()
    threading.Timer(0.1, here.stop).start()
    with pytest.raises(Interrupted):
        here.each(2, lambda i, avoid: here.put(gate.wait, 5), str)
    with pytest.raises(Interrupted):
        here.put(int)
    gate.set()
