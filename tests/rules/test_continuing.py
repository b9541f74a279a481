"""A model that is continued is as if it had never stopped, for every rule and loss."""

import os
import random
import shutil
from array import array
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from algorithm_options import MANY, NEEDED, OPTIONS, taken, usual_loss, words
from models import content, save
from running import GD

from vwlite.algorithms.table import ALGORITHMS
from vwlite.model import read_model

pytestmark = pytest.mark.pairwise("continuing")
# Other values than those of algorithm_options.py, and another schedule.
CHANGED = {
    "radius": 0.5, "threshold": 0.2, "period": 7, "features": 3000, "delta": 0.1, "pa_c": 0.3, "arow_r": 0.1,
    "ftrl_beta": 0.5, "power_t": 0.3, "initial_t": 2.0,
}


def variants(rule: str) -> list[list[str]]:
    """Its options as they may be typed: those that it needs, all of them, and with --l2 if that is another rule."""
    row = ALGORITHMS[rule]
    options = [NEEDED[rule], OPTIONS[rule] | taken(row, CHANGED)]
    if "l2" in row.forms:
        options.append(taken(row, {"l1": 0.01, "threshold": 0.2}) | {"l2": 0.1})
    if "box" in row.forms:
        options.append(OPTIONS[rule] | {"box": 0.05})
    if "gravity" in row.options:
        options.append(OPTIONS[rule] | {"gravity": "constant", "initial_t": 20.0})
    return [words(found) for found in options]


TYPED = {rule: variants(rule) for rule in MANY}


def lines_of(seed, count, negative=-1):
    """Lines with tags, importance, several namespaces, repeated features, blank lines."""
    chance = random.Random(seed)
    out = []
    for i in range(count):
        label = chance.choice([negative, 1])
        head = f"{label} {chance.choice([1, 0.5, 3])} 'tag{i}"
        a = " ".join(f"w{int(chance.paretovariate(0.5)) % 300}:{chance.gauss(0, 1):.3f}" for _ in range(6))
        b = " ".join(f"{chance.randrange(40)}" for _ in range(3))
        out.append(f"{head}|a {a} |b {b} |c:0.5 u{chance.randrange(9)}\n")
        if i % 17 == 5:
            out.append("\n")
        if i % 29 == 7:
            out.append("|a only features\n")
    return "".join(out)


def labels_for(loss):
    return {"poisson": 0, "tweedie": 0, "gamma": 2}.get(loss, -1)


@pytest.mark.parametrize(
    ("rule", "which", "loss"),
    [(rule, i, loss) for rule in MANY for i in range(len(TYPED[rule])) for loss in ALGORITHMS[rule].losses],
)
def test_continuing_is_as_if_it_had_never_stopped(vwlite, tmp_path, rule, which, loss):
    text = lines_of(which, 200, labels_for(loss)).splitlines(keepends=True)
    cuts = [0, 70, 71, len(text)]
    rate = ("-l", "0.02" if loss == "tweedie" else "0.1") if ALGORITHMS[rule].schedule else ()
    command = ["train", "--quiet", "--algorithm", rule, "--loss", loss, *rate, "-q", "ab", *TYPED[rule][which]]
    (tmp_path / "all").write_text("".join(text))
    vwlite(*command, tmp_path / "all", "-m", tmp_path / "whole")
    for i, (begin, end) in enumerate(pairwise(cuts)):
        (tmp_path / "part").write_text("".join(text[begin:end]))
        if i == 0:
            vwlite(*command, tmp_path / "part", "-m", tmp_path / "model")
        else:
            vwlite("train", "--quiet", tmp_path / "part", "-i", tmp_path / "model", "-m", tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("rule", MANY)
def test_a_model_beside_its_start_says_what_that_was(vwlite, tmp_path, rule):
    """And is the same otherwise; one that takes the place of its start does not know that there were two runs."""
    text = lines_of(1, 200).splitlines(keepends=True)
    for name, part in (("all", text), ("first", text[:77]), ("second", text[77:])):
        (tmp_path / name).write_text("".join(part))
    command = ["train", "--quiet", "--algorithm", rule, *TYPED[rule][0], "--loss", usual_loss(rule)]
    vwlite(*command, tmp_path / "all", "-m", tmp_path / "whole")
    vwlite(*command, tmp_path / "first", "-m", tmp_path / "start")
    vwlite("train", "--quiet", tmp_path / "second", "-i", tmp_path / "start", "-m", tmp_path / "beside")
    start, whole, beside = (read_model(str(tmp_path / name)) for name in ("start", "whole", "beside"))
    assert beside.base == start.digest
    assert (beside.resumed, whole.base) == ("", "")
    assert {**beside.header(), "base": ""} == {**whole.header(), "base": ""}
    assert {n: x.tobytes() for n, x in beside.arrays().items()} == {n: x.tobytes() for n, x in whole.arrays().items()}
    assert content(tmp_path / "beside") == (tmp_path / "whole").read_bytes()


def test_what_is_in_the_place_of_its_start(vwlite, tmp_path, monkeypatch):
    """However the two are named; not what goes through a pipe."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").write_text("1 | a\n-1 | b\n")
    vwlite("train", *GD, "--quiet", "data", "-m", "start")
    start = (tmp_path / "start").read_bytes()
    vwlite("train", "--quiet", "data", "-i", "start", "-m", "start")
    one_run = (tmp_path / "start").read_bytes()
    (tmp_path / "symbolic").symlink_to("start")
    for model in ("symbolic", "./start", tmp_path / "start"):
        (tmp_path / "start").write_bytes(start)
        vwlite("train", "--quiet", "data", "-i", "start", "-m", model)
        assert (tmp_path / "start").read_bytes() == one_run
    (tmp_path / "start").write_bytes(start)
    digest = read_model("start").digest
    (tmp_path / "hard").hardlink_to("start")  # that name gets a file of its own
    (tmp_path / "new").symlink_to("behind")
    for model in ("hard", "new"):
        vwlite("train", "--quiet", "data", "-i", "start", "-m", model)
        assert read_model(model).base == digest
        assert (tmp_path / "start").read_bytes() == start
    os.mkfifo("pipe")
    with ThreadPoolExecutor(1) as pool:
        piped = pool.submit((tmp_path / "pipe").read_bytes)
        vwlite("train", "--quiet", "data", "-i", "start", "-m", "pipe")
        (tmp_path / "piped").write_bytes(piped.result())
    assert read_model("piped").base == digest
    for _ in range(2):  # other weights continue at their own positions
        vwlite("train", "--quiet", "data", "-i", "hard", "-m", "hard")
    assert read_model("hard").base == digest


@pytest.mark.parametrize("rule", [rule for rule in MANY if ALGORITHMS[rule].schedule])
def test_continuing_after_one_pass_knows_no_decay(vwlite, tmp_path, rule):
    text = lines_of(1, 200).splitlines(keepends=True)
    options = ["-l", "0.1", "--decay-learning-rate", "0.9", *TYPED[rule][0], "--loss", usual_loss(rule)]
    command = ["train", "--quiet", "--algorithm", rule, *options]
    for name, part in (("all", text), ("first", text[:77]), ("second", text[77:])):
        (tmp_path / name).write_text("".join(part))
    vwlite(*command, tmp_path / "all", "-m", tmp_path / "whole")
    vwlite(*command, tmp_path / "first", "-m", tmp_path / "model")
    vwlite("train", "--quiet", tmp_path / "second", "-i", tmp_path / "model", "-m", tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize(("rule", "which"), [(rule, i) for rule in MANY for i in range(len(TYPED[rule]))])
def test_weights_only_predicts_the_same_and_cannot_be_continued(vwlite, tmp_path, rule, which):
    (tmp_path / "data").write_text(lines_of(1, 300))
    command = ["train", tmp_path / "data", "--algorithm", rule, "--loss", usual_loss(rule), *TYPED[rule][which]]
    command += ["-q", "ab"]
    vwlite(*command, "-m", tmp_path / "full")
    vwlite(*command, "-m", tmp_path / "light", "--save-weights-only")
    assert (tmp_path / "light").stat().st_size < (tmp_path / "full").stat().st_size
    (tmp_path / "test").write_text(lines_of(2, 100))
    full, light = (
        vwlite("predict", "-m", tmp_path / name, tmp_path / "test", "-r", tmp_path / "raw").out
        for name in ("full", "light")
    )
    assert [line.split()[1:] for line in full.splitlines()] == [line.split()[1:] for line in light.splitlines()]
    numbers = [[float(line.split()[0]) for line in text.splitlines() if line] for text in (full, light)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-9, abs=1e-9)
    assert len(set(numbers[0])) > 50
    err = vwlite("train", "-i", tmp_path / "light", tmp_path / "data", code=65).err
    assert err == f"{tmp_path}/light: saved with --save-weights-only: it predicts, but cannot be continued\n"


@pytest.mark.parametrize("radius", [300, 50, 49, 3, 0.01])
def test_continuing_in_a_ball_of_another_size(vwlite, tmp_path, radius):
    (tmp_path / "data").write_text(lines_of(1, 300))
    command = ["train", tmp_path / "data", "-m", tmp_path / "model", "-l", 20, "--no-constant"]
    vwlite(*command, "--algorithm", "l1-ball", "--radius", 50)
    (tmp_path / "more").write_text(lines_of(2, 100))
    more = ["train", "-i", tmp_path / "model", "--radius", radius, "-m", tmp_path / "more.model"]
    vwlite(*more, tmp_path / "more")
    assert np.abs(np.asarray(read_model(str(tmp_path / "more.model")).weights)).sum() == pytest.approx(radius, rel=1e-6)
    # If the radius is not smaller, only later updates change.
    (tmp_path / "empty").write_text("")
    vwlite(*more, tmp_path / "empty", "--allow-empty")
    before, after = (np.asarray(read_model(str(tmp_path / name)).weights) for name in ("model", "more.model"))
    assert np.abs(after).sum() <= radius * (1 + 1e-9)
    if radius >= 50:
        assert after == pytest.approx(before, rel=1e-9)


def test_what_was_missed_is_paid_at_the_strength_of_then(vwlite, tmp_path):
    """At a strength of 0 from then on, the weights of features that do not come again stay as they are."""
    (tmp_path / "data").write_text(lines_of(1, 300))
    (tmp_path / "other").write_text("1 |z z:1\n" * 50)
    for more in ([], ["--power-t", "0"]):
        command = ["train", tmp_path / "data", "-m", tmp_path / "model", "--loss", "logistic", *more]
        vwlite(*command, "--algorithm", "l1-subgradient", "--l1", 0.02)
        vwlite("train", tmp_path / "other", "-i", tmp_path / "model", "--l1", 0, "-m", tmp_path / "later")
        model, later = (read_model(str(tmp_path / name)) for name in ("model", "later"))
        before, after = (dict(zip(m.keys.tolist(), m.weights.tolist(), strict=True)) for m in (model, later))
        same = [after[key] == before[key] for key in before]
        assert len(same) > 200
        assert same.count(False) == 1  # the constant


def test_rounding_at_the_end_is_for_the_model_of_a_run_that_ended(vwlite, tmp_path):
    (tmp_path / "data").write_text(lines_of(1, 300))
    command = ["train", tmp_path / "data", "--algorithm", "l1-subgradient", "--l1", 0.01, "--loss", "logistic"]
    command += ["-l", 0.1]
    for passes in (1, 9):
        command += ["--passes", passes]
        vwlite(*command, "-m", tmp_path / "plain")
        err = vwlite(*command, "-m", tmp_path / "rounded", "--round-at-end", 0.05).err
        models = [read_model(str(tmp_path / name)) for name in ("plain", "rounded")]
        (keys, weights), (kept_keys, kept) = ((np.asarray(m.keys), np.asarray(m.weights)) for m in models)
        large = np.abs(weights) >= 0.05
        constant = keys == 11650396
        assert 10 < large.sum() < keys.size - 50
        np.testing.assert_array_equal(kept_keys, keys[large | constant])
        np.testing.assert_array_equal(kept, weights[large | constant])
        assert f"nonzero weights = {(large & ~constant).sum()}\n" in err
    assert "best pass, kept" in err
    # Rounding later is rounding at the end.
    (tmp_path / "empty").write_text("")
    rounding = ("--allow-empty", "--round-at-end", 0.05)
    vwlite("train", tmp_path / "empty", "-i", tmp_path / "plain", *rounding, "-m", tmp_path / "later")
    np.testing.assert_array_equal(np.asarray(read_model(str(tmp_path / "later")).weights), kept)


@pytest.mark.parametrize("rule", MANY)
def test_the_last_key_of_all_is_kept(vwlite, tmp_path, rule):
    """2^32 - 1, whose mark in the table is that of an empty slot."""
    data = tmp_path / "data"
    data.write_text("".join(f"{(-1) ** i} 1:1 7:{i % 5} 4294967294:2 4294967295:{1 + i % 3}\n" for i in range(30)))
    command = ["train", "--algorithm", rule, "--loss", usual_loss(rule), *TYPED[rule][0], data]
    vwlite(*command, "-m", tmp_path / "once")
    model = read_model(str(tmp_path / "once"))
    assert model.keys[-1] == 2**32 - 1
    assert model.weights[-1] != 0 or rule == "simplex"  # where it is 0, also by the reference; but it was touched
    data.write_text("".join(data.read_text() for _ in range(2)))
    vwlite(*command, "-m", tmp_path / "twice")
    data.write_text(data.read_text()[: len(data.read_text()) // 2])
    vwlite("train", "-i", tmp_path / "once", data, "-m", tmp_path / "continued")
    assert content(tmp_path / "continued") == content(tmp_path / "twice")


def test_a_model_without_features(vwlite, tmp_path):
    (tmp_path / "empty").write_text("")
    vwlite("train", *GD, tmp_path / "empty", "--allow-empty", "-m", tmp_path / "model")
    (tmp_path / "data").write_text(lines_of(1, 50))
    vwlite("train", tmp_path / "data", "-i", tmp_path / "model", "-m", tmp_path / "model")
    vwlite("train", *GD, tmp_path / "data", "-m", tmp_path / "direct")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "direct").read_bytes()


@pytest.mark.parametrize("rule", MANY)
def test_continuing_with_nothing_changes_nothing(vwlite, tmp_path, rule):
    (tmp_path / "empty").write_text("")
    (tmp_path / "data").write_text(lines_of(1, 50))
    model = tmp_path / "model"
    vwlite("train", tmp_path / "data", "-m", model, "--algorithm", rule, "--loss", usual_loss(rule), *TYPED[rule][-1])
    shutil.copy(model, tmp_path / "before")
    vwlite("train", tmp_path / "empty", "--allow-empty", "-i", model, "-m", model)
    assert model.read_bytes() == (tmp_path / "before").read_bytes()


@pytest.mark.parametrize("rule", ["simplex", "eg"])
def test_features_that_were_never_seen_have_their_weight_everywhere(vwlite, tmp_path, rule):
    """In predictions, those from weights alone too, in `vwlite weights`, and when the radius is another."""
    (tmp_path / "data").write_text("1 |a x y\n-1 |a x:0.5 z\n")
    (tmp_path / "test").write_text("|a new other\n|a x y z new\n|\n")
    command = ["train", tmp_path / "data", "--algorithm", rule, "--radius", 8, "--features", 10]
    vwlite(*command, "-m", tmp_path / "model")
    vwlite(*command, "-m", tmp_path / "light", "--save-weights-only")
    done = vwlite("weights", tmp_path / "model", "--feature", "a^new")
    assert "has no such feature: its weight is that of all unseen features" in done.err
    unseen = float(done.out.split()[1])
    rows = vwlite("weights", tmp_path / "model", "--feature=a^x", "--feature=a^y", "--feature=a^z").out.splitlines()
    seen = sum(float(row.split()[1]) for row in rows)
    assert seen + 7 * unseen == pytest.approx(8, rel=1e-12)
    full, light = (vwlite("predict", "-m", tmp_path / m, tmp_path / "test").out for m in ("model", "light"))
    assert full == light
    both, all_seen, constant = map(float, full.split())
    assert both - constant == pytest.approx(2 * unseen, abs=2e-6)
    assert all_seen - constant == pytest.approx(seen + unseen, abs=2e-6)
    assert both != constant != 0
    (tmp_path / "empty").write_text("")
    smaller = ("--allow-empty", "--radius", 2)
    vwlite("train", "-i", tmp_path / "model", tmp_path / "empty", *smaller, "-m", tmp_path / "model")
    model = read_model(str(tmp_path / "model"))
    of_features = sum(w for key, w in zip(model.keys, model.weights, strict=True) if key != 11650396)
    assert of_features + 7 * model.rule["unseen"] == pytest.approx(2, rel=1e-9)
    # Before anything is learned; the constant weighs nothing then.
    for name in ("model", "light"):
        light = ["--save-weights-only"] if name == "light" else []
        vwlite(*command[:1], tmp_path / "empty", "--allow-empty", *command[2:], "-m", tmp_path / name, *light)
        assert vwlite("predict", "-m", tmp_path / name, tmp_path / "test").out == "1.6\n3.2\n0\n"


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("rule", ["simplex", "eg", "eg-pm"])
def test_a_feature_with_the_key_of_the_constant_is_the_constant(vwlite, tmp_path, rule, classes):
    """At two bits that is the feature 0. Also where the constant weighs 0, in a model or before; and continued."""
    labels = ("1", "2") if classes else ("1", "-1")
    lines = [f"{labels[i % 2]} | {1 + i % 2}:0.5\n" for i in range(2)]  # the constant goes up and down again
    more = [f"{labels[i % 2]} | 0:{1 + i % 3} {1 + i % 2}:0.5\n" for i in range(8)]
    command = ["train", "--quiet", "--algorithm", rule, "--loss", "hinge", "--radius", 0.5, "--features", 3, "-b", 2]
    command += ["-l", "0.125", "--power-t", 0, *(["--oaa", 2] if classes else []), tmp_path / "data", "-m"]
    (tmp_path / "test").write_text("| 1\n| 0:5 1\n| 0:5 1 3\n| 1 3\n")
    (tmp_path / "data").write_text("".join(lines))
    vwlite(*command, tmp_path / "model")
    vwlite(*command, tmp_path / "light", "--save-weights-only")
    for model in ("model", "light"):
        files = [tmp_path / "test", "-r", tmp_path / "raw", "-p", "/dev/null"]
        vwlite("predict", "--quiet", "-m", tmp_path / model, *files)
        plain, with_constant, both, without = (tmp_path / "raw").read_text().splitlines()
        assert plain == with_constant
        assert both == without
        assert both != plain or rule == "eg-pm"  # where what was never seen weighs nothing
    (tmp_path / "data").write_text("".join(more))
    vwlite("train", "--quiet", "-i", tmp_path / "model", tmp_path / "data", "-m", tmp_path / "model")
    (tmp_path / "data").write_text("".join(lines + more))
    vwlite(*command, tmp_path / "whole")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("rule", ["simplex", "eg", "eg-pm"])
def test_more_features_than_the_option_says(vwlite, tmp_path, rule):
    (tmp_path / "data").write_text("1 |a x y\n-1 |a x:0.5 z\n")
    command = ["train", tmp_path / "data", "--algorithm", rule, "--radius", 8, "-m", tmp_path / "model", "--features"]
    vwlite(*command, 3)
    (tmp_path / "model").unlink()
    err = vwlite(*command, 2, code=65).err.splitlines()[-1]
    assert err == (
        f"{tmp_path}/data:2:1: the data have more features than --features: increase it, or leave it out"
    )
    assert not (tmp_path / "model").exists()


def test_feature_weights_are_kept_in_the_model(vwlite, tmp_path):
    """Also those of features that were not seen yet; with a box, continued at many places, with another radius."""
    text = lines_of(3, 400).splitlines(keepends=True)
    chance = random.Random(4)
    a = {i: chance.uniform(0.2, 5) * (i % 8 != 0) for i in range(0, 300, 2)}  # some are outside of the ball
    (tmp_path / "weights").write_text("".join(f"a^w{i} {a[i]:.3f}\n\n" for i in a))
    (tmp_path / "all").write_text("".join(text))
    options = ["--quiet", "--algorithm", "l1-ball", "--radius", 3, "--box", 0.1]
    options += ["--feature-weights", tmp_path / "weights"]
    vwlite("train", *options, tmp_path / "all", "-m", tmp_path / "whole")
    for i, (begin, end) in enumerate(pairwise([0, 3, 150, 151, 400, len(text)])):
        (tmp_path / "part").write_text("".join(text[begin:end]))
        start = options if i == 0 else ["--quiet", "-i", tmp_path / "model"]
        vwlite("train", *start, tmp_path / "part", "-m", tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()
    model = read_model(str(tmp_path / "whole"))
    w, a = np.asarray(model.weights), np.asarray(model.state["a"])
    penalized = np.asarray(model.keys) != 11650396
    assert (a * np.abs(w))[penalized].sum() == pytest.approx(3, rel=1e-9)
    assert np.abs(w[penalized]).max() <= 0.1
    assert (a != 1).sum() == 150
    (tmp_path / "empty").write_text("")
    for radius in (1, 30):
        command = ["train", "-i", tmp_path / "whole", tmp_path / "empty", "--allow-empty", "--radius", radius]
        command += ["-m", tmp_path / "other"]
        vwlite(*command)
        loaded = read_model(str(tmp_path / "other"))
        b, other = np.asarray(loaded.state["a"]), np.array(loaded.weights)
        other[np.asarray(loaded.keys) == 11650396] = 0
        assert (b * np.abs(other)).sum() == pytest.approx(min(3, radius), rel=1e-9)
    err = vwlite("train", "-i", tmp_path / "whole", "--feature-weights", tmp_path / "weights", code=2).err
    assert f"--feature-weights: the model {tmp_path}/whole keeps its own: leave the option out" in err


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a^x 1\na^y\n", "2: expected a feature and its weight, with a space between them"),
        ("a^x 1 2\n", "1: expected a feature and its weight, with a space between them"),
        ("\na^x -1\n", "2: the weight '-1' is not 0 or a number from 0.001 to 1000"),
        ("a^x 0.0009\n", "1: the weight '0.0009' is not 0 or a number from 0.001 to 1000"),
        ("a^x nan\n", "1: the weight 'nan' is not 0 or a number from 0.001 to 1000"),
        ("a^x 1_0\n", "1: the weight '1_0' is not 0 or a number from 0.001 to 1000"),
        ("a^x 2\nb^x 2\na^x 3\n", "3: the same feature, or one with the same index, has another weight in line 1"),
    ],
)
def test_bad_lines_of_feature_weights(vwlite, tmp_path, text, complaint):
    (tmp_path / "data").write_text("1 |a x\n")
    (tmp_path / "weights").write_text(text)
    command = ["train", tmp_path / "data", "--algorithm", "l1-ball", "--radius", 1, "--feature-weights"]
    assert vwlite(*command, tmp_path / "weights", code=65).err == f"{tmp_path}/weights:{complaint}\n"
    assert vwlite(*command, tmp_path / "none", code=66).err == f"{tmp_path}/none: No such file or directory\n"


@pytest.mark.parametrize("active", [0, 1, 1000, -1, 1 << 62, 2.5])
def test_forged_count_of_the_l1_ball_is_refused(vwlite, tmp_path, active):
    (tmp_path / "data").write_text(lines_of(1, 300))
    vwlite("train", tmp_path / "data", "-m", tmp_path / "model", "--algorithm", "l1-ball", "--radius", 50)
    model = read_model(str(tmp_path / "model"))
    assert model.rule["active"] > 2
    model.rule["active"] = active
    save(tmp_path / "model", model)
    vwlite("train", "-i", tmp_path / "model", tmp_path / "data", code=65)


@pytest.mark.parametrize("rule", ["sgd", "truncated-gradient", "adagrad", "adagrad-rda"])
def test_l2_continues_with_another_strength_but_does_not_begin_or_end(vwlite, tmp_path, rule):
    """Its state is another one: a sentence."""
    (tmp_path / "data").write_text(lines_of(1, 100))
    for strength, other in (("0.1", "0"), ("0", "0.1")):
        vwlite("train", "--quiet", tmp_path / "data", "--algorithm", rule, "--l2", strength, "-m", tmp_path / "m")
        done = vwlite("train", tmp_path / "data", "-i", tmp_path / "m", "--l2", other, code=2)
        assert done.err == (
            f"--l2 {other} contradicts the model {tmp_path / 'm'}, which was trained with {strength}: "
            "leave the option out, or train a new model\n"
        )
    vwlite("train", "--quiet", tmp_path / "data", "--algorithm", rule, "--l2", "0.1", "-m", tmp_path / "m")
    vwlite("train", "--quiet", tmp_path / "data", "-i", tmp_path / "m", "--l2", "10", "-m", tmp_path / "more")
    vwlite("train", "--quiet", tmp_path / "data", "-i", tmp_path / "m", "-m", tmp_path / "same")

    def size(name):
        rows = vwlite("weights", tmp_path / name, "--all").out.splitlines()
        return sum(abs(float(row.split()[1])) for row in rows if row.split()[0] != "11650396")

    assert size("more") < size("same") / 2


def test_a_model_of_another_time_is_refused(vwlite, tmp_path):
    """States of --l2 that no run leaves."""
    (tmp_path / "data").write_text(lines_of(1, 100))
    for rule, of_slots, change, why in (
        ("adagrad", True, {}, "in its state"),
        ("sgd", False, {"growth": 0.0}, "the growth is not a positive number"),
    ):
        vwlite("train", "--quiet", tmp_path / "data", "--algorithm", rule, "--l2", "0.1", "-m", tmp_path / "m")
        model = read_model(str(tmp_path / "m"))
        if of_slots:
            model.state["since"] = memoryview(array("d", [1e9] * len(model.keys)))
        else:
            model.rule.update(change)
        save(tmp_path / "bad", model)
        done = vwlite("predict", "-m", tmp_path / "bad", tmp_path / "data", code=65)
        assert why in done.err
