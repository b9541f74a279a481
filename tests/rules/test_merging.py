"""Merges of every algorithm: the state of the result agrees with its weights, and learning continues from it."""

import json
import random
import shutil

import numpy as np
import pytest
from algorithm_options import IN_FLOATS, OPTIONS, usual_loss, words
from models import content

from vwlite.algorithms.table import ALGORITHMS
from vwlite.model import read_model
from vwlite.model.learners import restore
from vwlite.model.snapshot import snapshot

pytestmark = pytest.mark.pairwise("merging")
LOGISTIC = ("--loss", "logistic")
CLOSE = 1e-6, 1e-11  # weights of 32 bits, and doubles


def forms_of(row):
    """Options of an algorithm and its forms."""
    options = OPTIONS[row.name]
    yield row.name, options
    if "l2" in row.forms:
        yield f"{row.name} with l2", options | {"l2": 0.01}
    if "gravity" in row.options:
        yield f"{row.name} of constant gravity", options | {"gravity": "constant"}
    if "box" in row.options:
        yield f"{row.name} in a box", options | {"box": 0.5}
    if "average" in row.options:
        yield f"{row.name} averaged", options | {"average": True}
    if "nonzeros" in row.options:
        yield f"{row.name} limited", {"nonzeros": 15}


# Algorithms and forms, with the largest difference of weights that is left when a merge is continued.
FORMS = {
    form: ([row.name, "--loss", usual_loss(row.name), *words(options)], CLOSE[row.name not in IN_FLOATS])
    for row in ALGORITHMS.values()
    if not row.merging.refusal
    for form, options in forms_of(row)
} | {
    "gd": (["gd", *LOGISTIC], 1e-5),
    "gd squared": (["gd"], 1e-5),
    "gd with l1": (["gd", *LOGISTIC, "--l1", 1e-5], 2e-3),
    "truncated-gradient with threshold": (["truncated-gradient", *LOGISTIC, "--l1", 0.002, "--threshold", 0.3], 1e-6),
    "l1-subgradient rounded": (["l1-subgradient", *LOGISTIC, "--l1", 0.01, "--round-at-end", 0.05], 1e-12),
    "l1-ball nonnegative": (["l1-ball", *LOGISTIC, "--radius", 3, "--nonnegative"], 1e-12),
    "eg-pm": (["eg-pm", *LOGISTIC, "--radius", 10, "--features", 500], 1e-9),
    "adagrad without l1": (["adagrad", *LOGISTIC], 1e-11),
    "adagrad at a falling rate": (["adagrad", *LOGISTIC, "--power-t", 0.2], 1e-11),
    "adagrad-rda at a falling rate": (["adagrad-rda", *LOGISTIC, "--l1", 0.005, "--power-t", 0.2], 1e-11),
    "ftrl without l1": (["ftrl", *LOGISTIC], 1e-11),
}
REFUSED = tuple(a.name for a in ALGORITHMS.values() if a.merging.refusal)
CLASSES = ("--oaa", 4)
OF_CLASSES = [form for form in FORMS if "limited" not in form]
SOFTMAX = ("sgd", "adagrad", "l1-ball", "ftrl")


def write_lines(path, seed, count, classes=0):
    """Lines of a linear truth, with rare features and common ones."""
    chance = random.Random(seed)
    truth = random.Random(5)
    w = [truth.gauss(0, 1) for _ in range(120)]
    out = []
    for _ in range(count):
        found = {min(int(chance.paretovariate(0.5)), 100) + chance.randrange(20) for _ in range(7)}
        x = {i: chance.choice([1, 0.5, 2]) for i in sorted(found)}
        score = sum(w[i] * v for i, v in x.items()) + chance.gauss(0, 0.5)
        label = 1 + int(abs(score) * 2) % classes if classes else (1 if score > 0 else -1)
        out.append(f"{label} | {' '.join(f'{i}:{v}' for i, v in x.items())}\n")
    path.write_text("".join(out))
    return path


@pytest.fixture
def trained(vwlite, tmp_path):
    """Trains models: `trained(name, seed, *options)`, of their own lines."""

    def train(name, seed, *options, classes=0, count=150):
        data = write_lines(tmp_path / f"{name}.lines", seed, count, classes)
        vwlite("train", "--quiet", data, *options, "-m", tmp_path / name)
        return tmp_path / name

    return train


def options_of(form):
    options, close = FORMS[form]
    return ["--algorithm", *options], close


def weights_of(path):
    """By key: the weights of all classes."""
    model = read_model(str(path))
    return dict(zip(model.keys, np.array(model.weights).reshape(-1, model.records), strict=True))


def assert_close(one, other, close):
    a, b = weights_of(one), weights_of(other)
    for key in {*a, *b}:
        zeros = np.zeros_like(next(iter(a.values())))
        size = max(1.0, *np.abs(a.get(key, zeros)))
        assert a.get(key, zeros) == pytest.approx(b.get(key, zeros), abs=close * size), key


def assert_state_says_the_weights(path, close=1e-6):
    """A rule with this state has these weights."""
    model = read_model(str(path))
    settings = model.settings
    learner = restore(model, settings, str(path))
    learner.rule.final = True
    again = snapshot(learner, settings, dict.fromkeys(model.counters, 0))
    mine, its = ({k: w for k, w in weights_by_key(m).items() if np.any(w)} for m in (model, again))
    assert mine.keys() == its.keys()
    for key, w in mine.items():
        assert w == pytest.approx(its[key], rel=close, abs=close), key


def weights_by_key(model):
    return dict(zip(model.keys, np.array(model.weights).reshape(-1, model.records), strict=True))


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_one_shard_is_itself_and_continues_as_itself(vwlite, tmp_path, trained, form, started):
    options, close = options_of(form)
    if started:
        start = trained("start", 1, *options)
        shard, more = trained("shard", 2, "-i", start), ["--start", start]
    else:
        shard, more = trained("shard", 2, *options), []
    merged = tmp_path / "merged"
    vwlite("merge", shard, "-o", merged, *more, "--quiet")
    assert_close(merged, shard, close)
    if "limited" in form or "rounded" in form:  # learning continues from more than the weights
        return
    before, after = read_model(str(shard)), read_model(str(merged))
    assert (after.counters, after.options, after.range) == (before.counters, before.options, before.range)
    more_lines = write_lines(tmp_path / "more", 3, 150)
    for model in (shard, merged):
        vwlite("train", "--quiet", "-i", model, more_lines, "-m", f"{model}.on")
    assert_close(f"{merged}.on", f"{shard}.on", 30 * close)


@pytest.mark.third
@pytest.mark.parametrize("classes", [0, 4])
@pytest.mark.parametrize("form", FORMS)
def test_a_copy_of_the_start_that_continues_in_its_place_is_a_shard(vwlite, tmp_path, trained, form, classes):
    """The same merge as of models beside the start; what began elsewhere is refused, as far as evidence can tell."""
    options, _ = options_of(form)
    if classes:
        if form not in OF_CLASSES:
            return
        options = [*options, *CLASSES]
    start = trained("start", 1, *options, classes=classes)
    for k in range(2):
        trained(f"beside{k}", 2 + k, "-i", start, classes=classes)
        shutil.copy(start, tmp_path / f"copy{k}")
        trained(f"copy{k}", 2 + k, "-i", tmp_path / f"copy{k}", classes=classes)
        assert [read_model(str(tmp_path / f"{n}{k}")).base != "" for n in ("beside", "copy")] == [True, False]
    for shards, merged in ((("beside0", "beside1"), "m"), (("copy0", "copy1"), "m2"), (("copy0", "beside1"), "m3")):
        vwlite("merge", *(tmp_path / n for n in shards), "--start", start, "-o", tmp_path / merged, "--quiet")
    one, *others = (read_model(str(tmp_path / name)) for name in ("m", "m2", "m3"))
    for other in others:
        assert (other.rule, other.counters, other.base) == (one.rule, one.counters, one.base)
        for name, numbers in one.arrays().items():  # but for the order of the shards, which is that of their digests
            np.testing.assert_allclose(other.arrays()[name], numbers, rtol=1e-9, atol=1e-12)
    trained("elsewhere", 9, *options, classes=classes, count=400)
    if ALGORITHMS[options[1]].merging.evidence:
        said = vwlite("merge", tmp_path / "elsewhere", "--start", start, "-o", tmp_path / "no", code=65).err
        assert f"elsewhere: did not start from {start}, as it has seen fewer examples of " in said
        assert not (tmp_path / "no").exists()


@pytest.mark.third
@pytest.mark.parametrize("state", ["sum", "mean"])
@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_the_state_of_a_merge_says_its_weights(vwlite, tmp_path, trained, form, started, state):
    options, _ = options_of(form)
    more = []
    if started:
        options, more = ["-i", trained("start", 1, *options)], ["--start", tmp_path / "start"]
    shards = [trained(f"shard{k}", 10 + k, *options) for k in range(2)]
    ways = ALGORITHMS[FORMS[form][0][0]].merging.ways
    for rule in [None, *(way for way in ways if way in ("mean", "information", "path", "dual"))]:
        merged = tmp_path / f"merged {rule}"
        vwlite("merge", *shards, "-o", merged, *more, "--state", state, "--quiet", *(["--rule", rule] if rule else []))
        assert_state_says_the_weights(merged)
        assert any(np.any(w) for w in weights_of(merged).values())
    vwlite("train", "--quiet", "-i", merged, write_lines(tmp_path / "more", 3, 40), "-m", tmp_path / "on")
    examples = read_model(str(merged)).counters["examples"]
    assert examples == 150 * (2 + started)


@pytest.mark.third
@pytest.mark.parametrize("form", FORMS)
def test_a_stack_is_worse_than_no_shard_by_more_than_its_standard_error(vwlite, tmp_path, trained, form):
    options, _ = options_of(form)
    start = trained("start", 1, *options, count=50)
    shards = [trained(f"shard{k}", 10 + k, "-i", start) for k in range(3)]
    held = write_lines(tmp_path / "held", 99, 300)
    vwlite("merge", *shards, "-o", tmp_path / "one", "--start", start, "--holdout", held, "--report", tmp_path / "r",
           "--quiet")
    report = json.loads((tmp_path / "r").read_text())
    losses = {}
    for model in (tmp_path / "one", start, *shards):
        vwlite("predict", "-m", model, held, "-p", "/dev/null", "--report", tmp_path / "p", "--quiet")
        losses[model] = json.loads((tmp_path / "p").read_text())["results"]["average_loss"]
    found = report["results"]["holdout_loss"]
    assert found == pytest.approx(losses[tmp_path / "one"], rel=1e-5)
    assert found <= min(losses.values()) + report["results"]["standard_error"]
    assert {s["file"]: s["holdout_loss"] for s in report["shards"]} == pytest.approx(
        {str(shard): losses[shard] for shard in shards}, rel=1e-6
    )
    assert [c["loss"] for c in report["candidates"] if c["rule"] == "start"] == [pytest.approx(losses[start], rel=1e-6)]
    assert_state_says_the_weights(tmp_path / "one")
    vwlite("merge", *shards[::-1], "-o", tmp_path / "other", "--start", start, "--holdout", held, "--quiet")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


@pytest.mark.third
@pytest.mark.parametrize("form", OF_CLASSES)
def test_classes_are_merged_each_by_itself(vwlite, tmp_path, trained, form):
    options, close = options_of(form)
    options += CLASSES
    start = trained("start", 1, *options, classes=4, count=60)
    shards = [trained(f"shard{k}", 10 + k, "-i", start, classes=4) for k in range(3)]
    held = write_lines(tmp_path / "held", 99, 200, 4)
    for name, more in {"plain": [], "scored": ["--holdout", held]}.items():
        vwlite("merge", *shards, "-o", tmp_path / name, "--start", start, "--quiet", *more)
        assert_state_says_the_weights(tmp_path / name)
    vwlite("merge", shards[0], "-o", tmp_path / "alone", "--start", start, "--quiet")
    assert_close(tmp_path / "alone", shards[0], close)


@pytest.mark.parametrize("algorithm", SOFTMAX)
def test_softmax(vwlite, tmp_path, trained, algorithm):
    radius = ["--radius", 3] if algorithm == "l1-ball" else []
    options = ["--algorithm", algorithm, "--softmax", *CLASSES, *radius]
    shards = [trained(f"shard{k}", 10 + k, *options, classes=4) for k in range(3)]
    held = write_lines(tmp_path / "held", 99, 200, 4)
    vwlite("merge", *shards, "-o", tmp_path / "merged", "--holdout", held, "--report", tmp_path / "r", "--quiet")
    assert_state_says_the_weights(tmp_path / "merged")
    found = json.loads((tmp_path / "r").read_text())["results"]["holdout_loss"]
    vwlite("predict", "-m", tmp_path / "merged", held, "-p", "/dev/null", "--report", tmp_path / "p", "--quiet")
    assert found == pytest.approx(json.loads((tmp_path / "p").read_text())["results"]["log_loss"], rel=1e-6)


@pytest.mark.parametrize("algorithm", REFUSED)
def test_what_has_no_merge_is_refused_by_name(vwlite, trained, tmp_path, algorithm):
    loss = ("--loss", usual_loss(algorithm))
    shards = [trained(f"shard{k}", k, "--algorithm", algorithm, *loss, count=40) for k in range(2)]
    said = vwlite("merge", *shards, "-o", tmp_path / "merged", code=65).err
    assert f"models of {algorithm} cannot be merged: " in said
    assert f"use {'arow' if algorithm == 'arow-full' else 'adagrad-rda'}" in said


def test_the_largest_weights_are_kept(vwlite, tmp_path, trained):
    shards = [trained(f"shard{k}", k, "--algorithm", "ftrl", *LOGISTIC, "--nonzeros", 10) for k in range(4)]
    vwlite("merge", *shards, "-o", tmp_path / "merged", "--quiet")
    sizes = [sum(w[0] != 0 for key, w in weights_of(path).items()) for path in [*shards, tmp_path / "merged"]]
    assert max(sizes) <= 11  # with the constant
    assert len({key for s in shards for key, w in weights_of(s).items() if w[0]}) > 11


def test_sparse_models_stay_sparse(vwlite, tmp_path, trained):
    for name, options in {"rda": ["adagrad-rda", "--l1", 0.02], "adagrad": ["adagrad", "--l1", 0.05]}.items():
        options = ["--algorithm", *options, *LOGISTIC]
        shards = [trained(f"{name}{k}", k, *options) for k in range(6)]
        vwlite("merge", *shards, "-o", tmp_path / "merged", "--quiet")
        union = {key for s in shards for key, w in weights_of(s).items() if w[0]}
        assert sum(w[0] != 0 for w in weights_of(tmp_path / "merged").values()) < len(union)
    for algorithm in ("l1-ball", "adagrad-ball"):
        shards = [trained(f"{algorithm}{k}", k, "--algorithm", algorithm, *LOGISTIC, "--radius", 2) for k in range(4)]
        vwlite("merge", *shards, "-o", tmp_path / "merged", "--holdout", write_lines(tmp_path / "h", 9, 200), "--quiet")
        constant = read_model(str(tmp_path / "merged")).keys
        norm = sum(abs(w[0]) for key, w in weights_of(tmp_path / "merged").items() if key != 11650396)
        assert norm <= 2 * (1 + 1e-12)
        assert len(constant) > 20


def test_weights_without_their_state(vwlite, tmp_path, trained):
    options = ["--algorithm", "adagrad", *LOGISTIC, "--save-weights-only"]
    shards = [trained(f"shard{k}", k, *options) for k in range(3)]
    held = write_lines(tmp_path / "held", 9, 200)
    vwlite("merge", *shards, "-o", tmp_path / "merged", "--rule", "mean", "--quiet")
    each = [weights_of(shard) for shard in shards]
    for key, w in weights_of(tmp_path / "merged").items():
        assert w[0] == pytest.approx(sum(one.get(key, [0.0])[0] for one in each) / 3, rel=1e-12)
    model = read_model(str(tmp_path / "merged"))
    assert (model.weights_only, model.state, model.rule) == (True, {}, {})
    vwlite("merge", *shards, "-o", tmp_path / "scored", "--holdout", held, "--quiet")
    vwlite("predict", "-m", tmp_path / "scored", held, "-p", "/dev/null")
    said = vwlite("merge", *shards, "-o", tmp_path / "merged", "--rule", "path", code=2).err
    what = "--rule path cannot be used with weights without their state"
    assert said == f"{what}: use mean, or search with a --holdout\n"
    trained("whole", 7, *options[:-1])
    said = vwlite("merge", shards[0], tmp_path / "whole", "-o", tmp_path / "merged", code=65).err
    assert f"{tmp_path}/shard0: saved with --save-weights-only, but {tmp_path}/whole was not" in said


def test_merging_with_the_same_start_is_the_same_as_training_from_it_says(vwlite, tmp_path, trained):
    """A second round: its start is the merge of the first, and the third continues."""
    options = ["--algorithm", "adagrad", *LOGISTIC]
    held = write_lines(tmp_path / "held", 9, 400)
    shards = [trained(f"shard{k}", k, *options) for k in range(4)]
    losses = []
    start = []
    for number in range(3):
        merged = tmp_path / f"merged{number}"
        vwlite("merge", *shards, "-o", merged, *start, "--holdout", held, "--state", "mean", "--report", tmp_path / "r",
               "--quiet")
        losses.append(json.loads((tmp_path / "r").read_text())["results"]["holdout_loss"])
        start = ["--start", merged]
        shards = [trained(f"shard{k}", k, "-i", merged) for k in range(4)]
    assert losses == sorted(losses, reverse=True)
    assert content(merged) != content(shards[0])
