"""Derived features of streams that are read once: found in the first rows, then learned in one pass over all."""

import csv
import json
import os
import random
import signal
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from running import standard_input
from tables import OF_TEXT, loss, written

from vwlite.model import read_model
from vwlite.training.auto import derive
from vwlite.training.auto.selection import Selection

HOW = ("--label", "y", "--derive", "auto")


@pytest.fixture
def first(monkeypatch):
    """So many rows are kept."""

    def change(rows):
        monkeypatch.setattr("vwlite.training.auto.reading.KEPT_EXAMPLES", rows)

    change(600)
    return change


@contextmanager
def piped(data):
    """Standard input is a pipe in which the data come in pieces of all sizes."""
    out, into = os.pipe()

    def send():
        rng, at = random.Random(1), 0
        with os.fdopen(into, "wb", buffering=0) as pipe:
            while at < len(data):
                at += pipe.write(data[at : at + rng.choice([1, 7, 300, 4000])])

    thread, kept = threading.Thread(target=send), os.dup(0)
    thread.start()
    os.dup2(out, 0)
    os.close(out)
    try:
        yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)
        thread.join()


def learned(path):
    """What a model has learned, but for the options of its run."""
    model = read_model(path)
    return model.keys.tolist(), model.weights.tolist(), model.counters, model.settings.derived, model.chosen


def test_a_stream_bends_too(vwlite, bent, first, tmp_path):
    """Close to several passes over the file; the kept rows are learned as well."""
    plain, derived, _ = (
        vwlite("train", bent, "--label", "y", *options, "-m", tmp_path / f"m{i}")
        for i, options in enumerate([("--passes", 1, "--derive", "none"), ("--passes", 1, "--derive", "auto"),
                                     ("--derive", "auto")])
    )
    assert loss(derived) < 0.8 * loss(plain)
    assert "features: curves of 2 numbers, " in derived.err and "loss on the first 600 rows 0." in derived.err
    assert "number of examples = 1500" in derived.err
    again = [json.loads(vwlite("evaluate", "-m", tmp_path / f"m{i}", bent, "--json").out) for i in (1, 2)]
    once, best = (found["measures"]["log_loss"]["value"] for found in again)
    assert once < best + 0.05


@pytest.mark.parametrize("rows", [200, 600, 1500, 12000])
def test_features_are_those_of_a_file_of_the_first_rows(vwlite, bent, first, tmp_path, monkeypatch, rows):
    """Of the stage that is chosen: the model of a file may be a mean of several, which a stream does not have."""
    monkeypatch.setattr(derive, "can_be_mean", lambda race: False)
    first(rows)
    lines = bent.read_text().splitlines(keepends=True)
    (tmp_path / "start.csv").write_text("".join(lines[: rows + 1]))
    vwlite("train", bent, *HOW, "--passes", "1", "-m", tmp_path / "stream")
    vwlite("train", tmp_path / "start.csv", *HOW, "-m", tmp_path / "file")
    derived = read_model(tmp_path / "stream").settings.derived
    assert derived is not None and derived == read_model(tmp_path / "file").settings.derived


def test_a_short_stream_is_learned_as_a_file(vwlite, bent, tmp_path):
    vwlite("train", bent, *HOW, "-m", tmp_path / "file")
    with standard_input(bent):
        vwlite("train", "-", *HOW, "-m", tmp_path / "stream")
    assert (tmp_path / "file").read_bytes() == (tmp_path / "stream").read_bytes()


def test_chunks_threads_and_formats_change_nothing(vwlite, bent, first, tmp_path, monkeypatch):
    with bent.open(newline="") as f:
        rows = [{k: float(v) if k in "xz" else v for k, v in row.items() if v} for row in csv.DictReader(f)]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    how = (*HOW, "--passes", "1", "--quiet")
    for name, size, options in (("a", None, ()), ("b", 900, ("--threads", 1)), ("c", 5000, ("--threads", 3))):
        if size is not None:
            monkeypatch.setattr("vwlite.input.reader.BLOCK_SIZE", size)
        vwlite("train", bent, *how, *options, "-m", tmp_path / name, "-p", tmp_path / f"{name}.p")
    vwlite("train", tmp_path / "d.jsonl", *how, "-m", tmp_path / "json", "-p", tmp_path / "json.p")
    with piped(bent.read_bytes()):
        vwlite("train", "-", *how, "-m", tmp_path / "pipe", "-p", tmp_path / "pipe.p")
    assert len({(tmp_path / name).read_bytes() for name in "abc"}) == 1
    assert len({(tmp_path / f"{name}.p").read_bytes() for name in ("a", "b", "c", "json", "pipe")}) == 1
    assert learned(tmp_path / "json") == learned(tmp_path / "a") == learned(tmp_path / "pipe")


def test_a_checkpoint_is_the_model_of_the_stream_so_far(vwlite, bent, first, tmp_path, committed):
    lines, how = bent.read_text().splitlines(keepends=True), (*HOW, "--passes", "1", "--quiet")
    vwlite("train", bent, *how, "-m", tmp_path / "m", "-p", tmp_path / "p", "--checkpoint-every", "500")
    checkpoints = [path for path in committed if path.read_bytes()[:2] == b"PK"][:-1]
    assert len(checkpoints) == 3
    for number, path in enumerate(checkpoints, 1):
        if 500 * number > 600:
            (tmp_path / "part.csv").write_text("".join(lines[: 500 * number + 1]))
            vwlite("train", tmp_path / "part.csv", *how, "-m", tmp_path / "n")
            assert learned(path) == learned(tmp_path / "n")
    vwlite("train", bent, *how, "-m", tmp_path / "n", "-p", tmp_path / "q")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
    assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()


@pytest.mark.parametrize("stage", [0, 1, 2])
def test_a_signal_while_features_are_found(vwlite, bent, first, tmp_path, monkeypatch, stage):
    """In any stage it ends soon, and leaves a model that predicts."""
    one_pass, stages = Selection._one_pass, []

    def interrupted(self, c, number):
        if self not in stages:
            stages.append(self)
            if len(stages) == stage + 1:
                os.kill(os.getpid(), signal.SIGINT)
                while not self.stopped:
                    time.sleep(0.01)
        one_pass(self, c, number)

    monkeypatch.setattr(Selection, "_one_pass", interrupted)
    with standard_input(bent):
        vwlite("train", "-", *HOW, "--threads", "1", "-m", tmp_path / "m", code=130)
    assert len(stages) == stage + 1
    assert read_model(tmp_path / "m").interrupted
    assert len(vwlite("predict", bent, "-m", tmp_path / "m").out.splitlines()) == 1500


def test_a_value_that_the_first_rows_have_not(vwlite, first, tmp_path):
    """A column with one value in the first rows says something later, as without derived features."""
    rng = np.random.default_rng(5)
    n = 3000
    x, late = rng.normal(size=n).round(2), np.where(np.arange(n) < 1000, 1, rng.integers(1, 3, n))
    y = np.where(rng.random(n) < 1 / (1 + np.exp(4 * np.cos(3 * x) + 4 * (late - 1))), "yes", "no")
    path = written(tmp_path / "late.csv", ["x", "late", "y"], zip(x, late, y, strict=True))
    found = vwlite("train", path, *HOW, "--passes", "1", "--names", "-m", tmp_path / "m")
    assert "features: curves of 1 number;" in found.err
    raw = [row.split("\t") for row in vwlite("weights", tmp_path / "m").out.splitlines() if row.endswith("late^late")]
    assert [float(weight) < -1 for _, weight, _ in raw] == [True]


def test_texts_of_a_stream_get_more_than_words(vwlite, reviews, first, tmp_path):
    first(600)
    how = (*OF_TEXT, "--passes", "1")
    words = vwlite("train", reviews, *how, "--derive", "none")
    found = vwlite("train", reviews, *how, "--derive", "auto", "-m", tmp_path / "m", "--names")
    assert "features: n-grams of 1 text; log loss on the first 600 rows" in found.err
    assert loss(found) < 0.95 * loss(words)
    assert "review^not_good\n" in vwlite("weights", tmp_path / "m").out


def test_a_sorted_stream_has_no_derived_features(vwlite, first, tmp_path):
    rows = [[i % 7, i % 3, "yes" if i < 800 else "no"] for i in range(1500)]
    path = written(tmp_path / "sorted.csv", ["x", "z", "y"], rows)
    assert "derived" not in vwlite("train", path, *HOW, "--passes", "1", code=None).err


def test_a_model_of_a_stream_goes_on_and_tells_what_it_does_not_know(vwlite, bent, first, tmp_path):
    vwlite("train", bent, *HOW, "--passes", "1", "-m", tmp_path / "m")
    rows = bent.read_text().replace("d^", "new").splitlines()
    (tmp_path / "new.csv").write_text("\n".join(rows[:300]) + "\n")
    found = vwlite("train", tmp_path / "new.csv", "-i", tmp_path / "m", "-m", tmp_path / "n", "--on-unknown", "note")
    assert "w" in found.err
    assert vwlite("info", tmp_path / "n").out.count("derived") == 1


def test_classes_from_standard_input_are_those_of_the_file(vwlite, first, tmp_path):
    """They are read once, too, but learned in passes."""
    rng = np.random.default_rng(6)
    n = 700
    x, w = rng.normal(size=n).round(2), rng.choice(["a", "b"], n)
    y = np.where(np.abs(x) > 1, 1, np.where((x > 0) ^ (w == "a"), 2, 3))
    path = written(tmp_path / "d.csv", ["x", "w", "y"], zip(x, w, y, strict=True))
    how = (*HOW, "--classes", "auto", "--oaa", "4")
    found = vwlite("train", path, *how, "-m", tmp_path / "file")
    with standard_input(path):
        vwlite("train", "-", *how, "-m", tmp_path / "stream")
    assert "features: curves of 1 number" in found.err
    assert (tmp_path / "file").read_bytes() == (tmp_path / "stream").read_bytes()
