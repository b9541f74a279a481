"""`--algorithm auto` with many examples: a tenth is held out, and normalizations race on a sample. What is many is less
here."""

import json
import os
import re
import signal
import time

import numpy as np
import pytest
from slow_auto import SlowLarge
from slow_normalize import normalized
from tables import bent_rows, written
from tiers import drawn as draws

from vwlite.model.read import read_model
from vwlite.training.auto import race, trainer
from vwlite.training.auto.reading import DataReader
from vwlite.training.auto.selection import Selection

SELECTION = "vwlite.training.auto.selection"
MANY, SAMPLE, JUDGED, RARER = 500, 260, 40, 8


@pytest.fixture
def many(monkeypatch):
    for name, value in (("LARGE", MANY), ("SAMPLE", SAMPLE), ("JUDGED", JUDGED), ("RARER", RARER)):
        monkeypatch.setattr(f"{SELECTION}.{name}", value)
    monkeypatch.setattr("vwlite.training.auto.auto_data.RARER", RARER)
    monkeypatch.setattr("vwlite.training.auto.learning.DERIVED_FROM", 400)
    monkeypatch.setattr("vwlite.training.auto.rare.FEWEST_RARE", 20)


def drawn(n: int, seed: int = 0) -> tuple[list[dict[int, float]], list[float]]:
    """Examples of a planted model of sparse positive values."""
    rng = np.random.default_rng(seed)
    truth, examples, labels = rng.normal(0, 1.5, 40), [], []
    for _ in range(n):
        keys = np.unique(rng.geometric(0.08, 6) % 40)
        values = np.round(rng.lognormal(0, 1.5, len(keys)), 3)
        score = truth[keys] @ np.log1p(values) * 0.6
        examples.append(dict(zip(keys.tolist(), values.tolist(), strict=True)))
        labels.append(1.0 if rng.random() < 1 / (1 + np.exp(-score)) else -1.0)
    return examples, labels


def text_of(examples, labels) -> str:
    lines = (" ".join(f"f{k}:{x}" for k, x in features.items()) for features in examples)
    return "".join(f"{y:g} |a {line}\n" for y, line in zip(labels, lines, strict=True))


@pytest.fixture
def data(tmp_path):
    (tmp_path / "train.vw").write_text(text_of(*drawn(1200)))
    (tmp_path / "test.vw").write_text(text_of(*drawn(600, seed=9)))
    return tmp_path / "train.vw"


def chosen_of(path) -> dict:
    return read_model(path).chosen


@pytest.mark.third
@pytest.mark.parametrize("seed", [1, 2])
def test_the_race_is_that_of_its_definition(vwlite, many, tmp_path, seed):
    examples, labels = drawn(600, seed)
    (tmp_path / "d.vw").write_text(text_of(examples, labels))
    vwlite("train", tmp_path / "d.vw", "--names", "-m", tmp_path / "m", "--report", tmp_path / "r")
    values = {}
    for name in ("none", "l2", "log"):
        pairs = [normalized(list(x), [float(np.float32(v)) for v in x.values()], name) for x in examples]
        values[name] = [([*keys, 40], [*xs, 1.0]) for keys, xs in pairs]
    slow = SlowLarge(values, labels, 41, SAMPLE, JUDGED)
    report = json.loads((tmp_path / "r").read_text())
    sample = {x["normalize"]: x["loss"] for x in report["sample"]["candidates"]}
    assert sample == pytest.approx({name: min(found[0]) for name, found in slow.race.items()}, rel=1e-4)
    assert {x["normalize"] for x in report["candidates"]} == set(slow.going_on)
    chosen = chosen_of(tmp_path / "m")
    losses = [min(x["stacked"], *x["losses"].values()) for x in report["candidates"] if x["normalize"] == slow.best]
    assert losses == pytest.approx(slow.losses, rel=1e-3)
    assert chosen["normalize"] == slow.best and chosen["loss is"] == "holdout log loss"
    assert chosen["loss"] == pytest.approx(min(slow.losses), rel=1e-3)
    rows = (line.split("\t") for line in vwlite("weights", tmp_path / "m", "--top", "100").out.splitlines())
    weights = {name: float(weight) for _, weight, name in rows}
    assert weights == pytest.approx(
        {f"a^f{k}": slow.weights[k] for k in range(40)} | {"Constant": slow.weights[40]}, rel=0.02, abs=0.01
    )


def test_the_same_bytes_for_any_number_of_threads_from_a_cache_and_in_turn(vwlite, many, data, tmp_path, monkeypatch):
    vwlite("train", data, "-m", tmp_path / "m", "--threads", "1")
    for name, options in (("two", ["--threads", "2"]), ("cache", ["--cache"]), ("again", ["--cache"])):
        vwlite("train", data, "-m", tmp_path / name, *options)
    monkeypatch.setattr(race, "available_memory", lambda: 40_000)
    vwlite("train", data, "-m", tmp_path / "turn")
    for name in ("two", "cache", "again", "turn"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "m").read_bytes()


@pytest.mark.drawn
def test_the_loss_is_that_of_fresh_rows(vwlite, many, tmp_path):
    """The mean over seeds of the reported loss minus that on fresh rows is within three standard errors of 0, but for
    what a model gains by the tenth that only half of it has learned."""
    differences = []
    for seed in range(draws(24)):
        examples, labels = drawn(3000, seed)
        (tmp_path / "a.vw").write_text(text_of(examples[:1000], labels[:1000]))
        (tmp_path / "b.vw").write_text(text_of(examples[1000:], labels[1000:]))
        vwlite("train", tmp_path / "a.vw", "-m", tmp_path / "m", "--quiet")
        found = json.loads(vwlite("evaluate", tmp_path / "b.vw", "-m", tmp_path / "m", "--json").out)
        differences.append(chosen_of(tmp_path / "m")["loss"] - found["measures"]["log_loss"]["value"])
    mean, error = np.mean(differences), np.std(differences, ddof=1) / np.sqrt(len(differences))
    assert -3 * error < mean < 3 * error + 0.01


@pytest.mark.parametrize("positives", [16, 79, 100, 400])
def test_of_rare_labels_enough_are_in_what_judges(vwlite, many, tmp_path, positives):
    """A tenth is held out if it has about RARER of the rarer label; there is a sample if its judges have them."""
    examples, _ = drawn(1000)
    step = 1000 // positives
    labels = [1.0 if i % step == 0 and i // step < positives else -1.0 for i in range(1000)]
    for features, y in zip(examples, labels, strict=True):
        features[99] = 1.0 if y > 0 else 0.5
    (tmp_path / "d.vw").write_text(text_of(examples, labels))
    vwlite("train", tmp_path / "d.vw", "-m", tmp_path / "m", "--report", tmp_path / "r")
    is_held_out = chosen_of(tmp_path / "m")["loss is"] == "holdout log loss"
    assert is_held_out == (positives >= 10 * RARER)
    assert ("sample" in json.loads((tmp_path / "r").read_text())) == (positives * JUDGED >= RARER * 1000)


def test_the_best_constant_is_measured_by_the_same_rows(vwlite, many, tmp_path):
    """One label that decides the mean loss is held out or not: either way a model is better than a constant."""
    rng, found = np.random.default_rng(5), []
    x = rng.normal(size=1000).round(3)
    y = (5 * x + rng.normal(0, 0.3, 1000)).round(3)
    for outlier in range(0, 1000, 50):
        rows = (f"{1e5 if i == outlier else label:g} |a x:{a}\n" for i, (label, a) in enumerate(zip(y, x, strict=True)))
        (tmp_path / "d.vw").write_text("".join(rows))
        vwlite("train", tmp_path / "d.vw", "--loss", "quantile", "-m", tmp_path / "m", "--passes", "2")
        chosen = chosen_of(tmp_path / "m")
        assert chosen["loss"] < chosen["baseline"] - 1.0
        found.append(chosen["baseline"])
    assert min(found) < 10 < 100 < max(found)


@pytest.mark.drawn
@pytest.mark.parametrize("copies", [1, 12, 60])
def test_copies_and_sorted_labels_leave_a_fair_tenth_or_folds(vwlite, many, tmp_path, copies):
    """Copies are held out together, and neighbours are; no model is worse than the constant by the rows that judge."""
    for seed in range(draws(12)):
        examples, labels = drawn(1200 // copies, seed)
        rows = sorted(text_of(examples, labels).splitlines(True), key=lambda row: row.split()[0])
        (tmp_path / "d.vw").write_text("".join(rows) * copies)
        vwlite("train", tmp_path / "d.vw", "-m", tmp_path / "m")
        chosen = chosen_of(tmp_path / "m")
        assert chosen.get("model") == "intercept" or chosen["loss"] < chosen["baseline"]


def test_a_checkpoint_says_that_its_loss_is_out_of_fold(vwlite, many, data, tmp_path, monkeypatch):
    said, chosen = [], trainer.AutoTrainer.chosen
    monkeypatch.setattr(trainer.AutoTrainer, "chosen", lambda self: (said.append(chosen(self)), said[-1])[1])
    vwlite("train", data, "-p", tmp_path / "p", "-m", tmp_path / "m", "--checkpoint-every", "1")
    assert len(said) > 2 and {found["loss is"] for found in said} == {"out-of-fold log loss"}


def test_what_is_said(vwlite, many, data, tmp_path):
    found = vwlite("train", data, "-m", tmp_path / "m")
    assert "normalizations = " in found.err and " after the first 260" in found.err
    assert "rows held out; best constant" in found.err and ", of which the last gained " in found.err
    assert "holdout average loss = " in found.err


def test_each_line_is_predicted_out_of_fold(vwlite, many, data, tmp_path):
    """With -p all examples are in folds: each has a prediction by what has not learned it."""
    vwlite("train", data, "-m", tmp_path / "m", "-p", tmp_path / "p")
    assert chosen_of(tmp_path / "m")["loss is"] == "out-of-fold log loss"
    p = np.loadtxt(tmp_path / "p")
    y = np.array([float(line.split()[0]) for line in data.read_text().splitlines()])
    assert len(p) == 1200
    loss = -np.log(np.where(y > 0, p, 1 - p)).mean()
    assert loss == pytest.approx(chosen_of(tmp_path / "m")["loss"], abs=0.01)


def test_more_passes_can_be_asked_for(vwlite, many, data, tmp_path, monkeypatch):
    monkeypatch.setattr(f"{SELECTION}.LARGE_GAIN", -1.0)
    monkeypatch.setattr(f"{SELECTION}.is_better", lambda loss, least: True)
    for passes in (3, 11):
        vwlite("train", data, "-m", tmp_path / "m", "--passes", passes)
        assert chosen_of(tmp_path / "m")["passes"] == passes


@pytest.mark.parametrize("loss", ["squared", "poisson", "gamma", "tweedie", "quantile", "huber"])
def test_other_losses(vwlite, many, tmp_path, loss):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(800, 3)).round(3)
    score = x @ [1, -0.5, 0.25]
    y = rng.poisson(np.exp(score)) if loss in ("poisson", "tweedie") else rng.gamma(9, np.exp(score)) \
        if loss == "gamma" else 100 + 5 * (score + rng.normal(0, 0.2, 800))
    rows = (f"{label} |a x:{a} y:{b} z:{c}\n" for label, (a, b, c) in zip(y.tolist(), x.tolist(), strict=True))
    (tmp_path / "d.vw").write_text("".join(rows))
    vwlite("train", tmp_path / "d.vw", "--loss", loss, "-m", tmp_path / "m")
    chosen = chosen_of(tmp_path / "m")
    assert chosen["loss"] < 0.7 * chosen["baseline"] and chosen["loss is"].startswith("holdout")


def test_classes(vwlite, many, tmp_path):
    rng = np.random.default_rng(4)
    lines = []
    for _ in range(900):
        k = rng.integers(3)
        words = [f"w{rng.integers(30) if rng.random() < 0.5 else 10 * k + rng.integers(10)}" for _ in range(8)]
        lines.append(f"{k + 1} | {' '.join(words)}\n")
    (tmp_path / "d.vw").write_text("".join(lines))
    said = vwlite("train", tmp_path / "d.vw", "--oaa", "3", "-m", tmp_path / "m").err
    chosen = chosen_of(tmp_path / "m")
    assert chosen["loss"] < 0.6 * chosen["baseline"] and chosen["loss is"].startswith("holdout")
    assert "holdout" in said and "rows held out" in said


@pytest.fixture
def signal_at(monkeypatch):
    """Have a signal come at the beginning of a pass of a selection; both count from 1."""

    def set_up(selection: int, number_of_pass: int) -> None:
        one_pass, seen = Selection._one_pass, []

        def interrupted(self, c, number):
            if self not in seen:
                seen.append(self)
            if seen.index(self) + 1 == selection and number == number_of_pass and not self.stopped:
                os.kill(os.getpid(), signal.SIGINT)
                while not self.stopped:
                    time.sleep(0.01)
            one_pass(self, c, number)

        monkeypatch.setattr(Selection, "_one_pass", interrupted)

    return set_up


@pytest.mark.parametrize(("selection", "number"), [(1, 2), (2, 1), (2, 2)])
def test_a_signal_leaves_a_model(vwlite, many, data, tmp_path, signal_at, selection, number):
    """In the race on the sample, after its first pass, and in the first pass over all, it is that of the sample."""
    signal_at(selection, number)
    vwlite("train", data, "--threads", "1", "-m", tmp_path / "m", code=130)
    model = read_model(tmp_path / "m")
    assert model.interrupted and model.chosen["loss"] < model.chosen["baseline"]
    assert len(vwlite("predict", data, "-m", tmp_path / "m").out.splitlines()) == 1200


@pytest.mark.parametrize(("selection", "number"), [(1, 2), (2, 1), (2, 2)])
@pytest.mark.parametrize("kind", ["text", "validated", "classes", "table"])
def test_rows_of_an_interrupted_run_have_their_own_predictions(
    vwlite, many, data, tmp_path, signal_at, kind, selection, number
):
    """A model of a sample predicts the rows that it has not learned; it is judged by no others."""
    options, path, predicts = ["--threads", "1"], data, kind != "validated"
    if kind == "validated":
        options += ["--validate", str(tmp_path / "test.vw")]
    elif kind == "classes":
        path = tmp_path / "classes.vw"
        path.write_text("".join("12"[line[0] != "-"] + line[line.index(" ") :] for line in data.open()))
        options += ["--oaa", "2"]
    elif kind == "table":
        path = written(tmp_path / "t.csv", ["x", "z", "w", "y"], bent_rows())
        options += ["--label", "y"]
    signal_at(selection, number)
    if predicts:
        options += ["-p", "-"]
    done = vwlite("train", path, "-m", tmp_path / "m", *options, code=130)
    loss = float(re.search(r"(?m)^log loss ([\d.]+)", done.err)[1])
    if not predicts:
        found = json.loads(vwlite("evaluate", tmp_path / "test.vw", "-m", tmp_path / "m", "--json").out)
        assert loss == pytest.approx(found["measures"]["log_loss"]["value"], abs=0.2)  # of few rows
        return
    predicted = np.array([float(x.split()[0]) for x in done.out.splitlines()])
    by_model = np.array([float(x.split()[0]) for x in vwlite("predict", path, "-m", tmp_path / "m").out.splitlines()])
    assert len(predicted) == len(by_model) == len(path.read_text().splitlines()) - (kind == "table")
    if kind == "classes":
        assert (predicted == by_model).mean() > 0.8
    else:
        assert np.corrcoef(predicted, by_model)[0, 1] > 0.8


@pytest.mark.parametrize("stage", [0, 1, 2])
def test_features_are_derived_from_a_sample(vwlite, many, tmp_path, monkeypatch, stage):
    """... and a signal while they are found leaves a model of the sample."""
    table = written(tmp_path / "t.csv", ["x", "z", "w", "y"], bent_rows())
    if stage == 0:
        said = vwlite("train", table, "--label", "y", "-m", tmp_path / "m").err
        assert "features: curves of" in said and "on a sample of 400 rows" in said and "rows held out" in said
    else:
        one_pass, seen = Selection._one_pass, []

        def interrupted(self, c, number):
            if self not in seen:
                seen.append(self)
                if len(seen) == stage + 1:
                    os.kill(os.getpid(), signal.SIGINT)
                    while not self.stopped:
                        time.sleep(0.01)
            one_pass(self, c, number)

        monkeypatch.setattr(Selection, "_one_pass", interrupted)
        vwlite("train", table, "--label", "y", "--threads", "1", "-m", tmp_path / "m", code=130)
        assert read_model(tmp_path / "m").interrupted
    assert len(vwlite("predict", table, "-m", tmp_path / "m").out.splitlines()) == 1500


def test_a_file_to_validate_with(vwlite, many, data, tmp_path):
    said = vwlite("train", data, "--validate", tmp_path / "test.vw", "-m", tmp_path / "m").err
    assert "normalizations = " in said and "validation average loss" in said


@pytest.mark.parametrize("size", [1, 1 << 20])
@pytest.mark.parametrize("batch", [1, 2])
def test_a_signal_while_data_are_read_leaves_a_model(vwlite, tmp_path, monkeypatch, size, batch):
    """Of one pass over the first examples, whether they are kept in memory (size) or in a file."""
    (tmp_path / "d.vw").write_text(text_of(*drawn(600, 3)) * 100)
    monkeypatch.setattr("vwlite.training.auto.reading.SMALL", size << 10)
    counted, numbers = DataReader._counted, []

    def interrupted(self, summary, of):
        numbers.append(len(of))
        if len(numbers) == batch:
            os.kill(os.getpid(), signal.SIGINT)
            while not trainers[0].stopped:
                time.sleep(0.01)
        return counted(self, summary, of)

    trainers = []
    read = trainer.AutoTrainer.run
    monkeypatch.setattr(trainer.AutoTrainer, "run", lambda self: (trainers.append(self), read(self)))
    monkeypatch.setattr(DataReader, "_counted", interrupted)
    said = vwlite("train", tmp_path / "d.vw", "-m", tmp_path / "m", code=130).err
    model = read_model(tmp_path / "m")
    assert model.interrupted and model.counters["examples"] <= sum(numbers) < 60_000
    assert model.chosen["loss"] < model.chosen["baseline"] and "on rows before they were learned" in said
    (tmp_path / "d.vw").write_text(text_of(*drawn(600, 3)))
    vwlite("train", tmp_path / "d.vw", "-i", tmp_path / "m", "-m", tmp_path / "n")


@pytest.mark.parametrize(("rare", "kind"), [(RARER - 1, "out-of-fold"), (RARER, "holdout")])
def test_a_rare_class_is_in_folds(vwlite, many, tmp_path, rare, kind):
    """Of less than RARER examples of a class, maybe none would be held out."""
    rng, lines = np.random.default_rng(4), []
    for i in range(900):
        k = 2 if i * rare // 900 < (i + 1) * rare // 900 else rng.integers(2)
        words = [f"w{rng.integers(30) if rng.random() < 0.5 else 10 * k + rng.integers(10)}" for _ in range(8)]
        lines.append(f"{k + 1} | {' '.join(words)}\n")
    (tmp_path / "d.vw").write_text("".join(lines))
    vwlite("train", tmp_path / "d.vw", "--oaa", "3", "-m", tmp_path / "m", "--quiet")
    assert chosen_of(tmp_path / "m")["loss is"].startswith(kind)


@pytest.mark.parametrize("rooms", [(1 << 40, 0), (0, 1 << 40)])
def test_memory_may_change_before_the_other_passes(vwlite, tmp_path, monkeypatch, rooms):
    """Candidates that learned in turn, as memory held one of them, begin again when they go on, and all others stay."""
    monkeypatch.setattr(race, "FEW_FOR_STAGES", 500)
    rng = np.random.default_rng(2)
    values = rng.normal(size=(900, 2))
    rows = [(f"{x:.3f}", f"{z:.3f}", int(rng.random() < 1 / (1 + np.exp(-x - z)))) for x, z in values]
    table = written(tmp_path / "t.csv", ["x", "z", "y"], rows)
    vwlite("train", table, "--label", "y", "-m", tmp_path / "m")
    method, races = race.Race._race, []

    def raced(self, passes, first=1, **more):
        races.append(first)
        monkeypatch.setattr(race, "available_memory", lambda: rooms[first > 1] or self.bytes_needed)
        return method(self, passes, first, **more)

    monkeypatch.setattr(race.Race, "_race", raced)
    vwlite("train", table, "--label", "y", "-m", tmp_path / "n")
    assert max(races) > 1
    assert (tmp_path / "n").read_bytes() == (tmp_path / "m").read_bytes()
