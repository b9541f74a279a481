"""`vwlite merge` as a command: what it takes, what it refuses, what it says."""

import json
import math
import os
import random
import struct
from array import array
from contextlib import suppress

import numpy as np
import pytest
from crafted_models import put_together, split_into_parts
from models import save
from running import start as start_program
from tables import bent_rows, written

from vwlite.merging.choice import MOST_LABELS
from vwlite.model import read_model

BASIC = ("--loss", "logistic", "--algorithm", "adagrad")


def text(seed, count=120, names=(-1, 1)):
    chance = random.Random(seed)
    out = []
    for _ in range(count):
        words = sorted({chance.choice("abcdefghijklmnop") for _ in range(5)})
        label = names[(sum(map(ord, words)) + (chance.random() < 0.1)) % len(names)]
        out.append(f"{label} | {' '.join(words)}\n")
    return "".join(out)


@pytest.fixture
def shards(vwlite, tmp_path, monkeypatch):
    """In a folder of their own: data a, b, c, held; models a.m, b.m, c.m."""
    monkeypatch.chdir(tmp_path)
    for i, name in enumerate("abc"):
        (tmp_path / name).write_text(text(i))
        vwlite("train", "--quiet", name, *BASIC, "-m", f"{name}.m")
    (tmp_path / "held").write_text(text(9, 200))
    return ["a.m", "b.m", "c.m"]


def changed(path, to, **attributes):
    """A model with another header, or other arrays."""
    model = read_model(path)
    for name, value in attributes.items():
        setattr(model, name, value)
    save(to, model)
    return to


def test_what_it_says(vwlite, shards):
    done = vwlite("merge", *shards, "-o", "m", "--holdout", "held", "--report", "r")
    report = json.loads(open("r").read())
    results = report["results"]
    lines = done.err.splitlines()
    best = min(s["holdout_loss"] for s in report["shards"])
    assert results["of_the_best_shard"] == best
    assert lines[0] == (
        f"merge of 3 shards: holdout loss {results['holdout_loss']:.4g} (+- {results['standard_error']:.1g}); "
        f"best shard {best:.4g}; mean {results['of_the_mean']:.4g}"
    )
    assert lines[1] == "rule = stack"
    assert "number of examples = 360" in lines
    assert lines[-1] == (
        "note: the holdout has 200 examples, so the choice is partly random: 2000 or more are better"
    )
    assert done.out == ""
    assert [s["file"] for s in report["shards"]] == sorted(shards, key=lambda s: read_model(s).digest)
    assert [s["examples"] for s in report["shards"]] == [120] * 3
    model = read_model("m")
    assert model.merged == {"shards": 3, "digest": model.merged["digest"], "rule": results["rule"],
                            "step": 1.0, "state": "sum"}
    assert model.base == ""
    assert "base" not in model.header()
    shown = vwlite("info", "m").out
    assert f"  {'rule':<24} {results['rule']}" in shown
    assert vwlite("merge", *shards, "-o", "m", "--quiet").err == ""
    said = vwlite("merge", *shards, "-o", "m").err
    assert "rule = information\n" in said
    assert said.endswith(
        "note: this merge has not been evaluated: --holdout FILE weights merges and shards by their loss\n"
    )


def test_the_order_makes_no_difference(vwlite, shards):
    found = set()
    for order in (shards, shards[::-1], [shards[1], shards[0], shards[2]]):
        vwlite("merge", *order, "-o", "m", "--quiet", "--holdout", "held")
        found.add(open("m", "rb").read())
    assert len(found) == 1


def test_a_rule_of_ones_own_is_evaluated_and_nothing_is_searched(vwlite, shards):
    vwlite("merge", *shards, "-o", "m", "--rule", "path", "--holdout", "held", "--report", "r", "--quiet")
    report = json.loads(open("r").read())
    assert report["results"]["rule"] == "path"
    assert [c["rule"] for c in report["candidates"]] == ["path", "start"]
    vwlite("predict", "-m", "m", "held", "-p", "p", "--report", "p.json", "--quiet")
    found = json.loads(open("p.json").read())["results"]["average_loss"]
    assert report["results"]["holdout_loss"] == pytest.approx(found, rel=1e-6)


def test_a_cache_is_a_holdout(vwlite, shards):
    vwlite("train", "--quiet", "held", *BASIC, "--cache-file", "held.cache")
    for name, files in {"text": ["held"], "cache": ["held.cache"]}.items():
        vwlite("merge", *shards, "-o", name, "--quiet", *(x for f in files for x in ("--holdout", f)))
    assert open("text", "rb").read() == open("cache", "rb").read()
    vwlite("train", "--quiet", "held", *BASIC, "--hash", "all", "--cache-file", "other.cache")
    said = vwlite("merge", *shards, "-o", "m", "--holdout", "other.cache", code=65).err
    why = "it was made with another hash all"
    assert said == f"other.cache: a cache that cannot be the holdout of these models: {why}\n"
    open("cut.cache", "wb").write(open("held.cache", "rb").read()[:-5])
    said = vwlite("merge", *shards, "-o", "m", "--holdout", "cut.cache", code=65).err
    assert said == "cut.cache: a cache that cannot be the holdout of these models: it is truncated or damaged\n"


def test_classes_that_were_found_in_another_order_are_merged_by_name(vwlite, tmp_path, monkeypatch):
    """As if every shard had been given the names."""
    monkeypatch.chdir(tmp_path)
    names = ["red", "green", "blue", "grey"]
    each = {"a": ["red", "green"], "b": ["green", "blue", "red"], "c": ["blue", "red"]}
    for i, (name, some) in enumerate(each.items()):
        (tmp_path / name).write_text(text(i, 150, some))
        vwlite("train", "--quiet", name, *BASIC, "--oaa", 5, "--classes", "auto", "-m", f"{name}.auto")
        vwlite("train", "--quiet", name, *BASIC, "--classes", ",".join([*sorted(names), "x"]), "-m", f"{name}.named")
    (tmp_path / "held").write_text(text(9, 200, names[:3]))
    for kind in ("auto", "named"):
        vwlite("merge", *(f"{name}.{kind}" for name in each), "-o", f"m.{kind}", "--quiet", "--rule", "information")
    auto, named = read_model("m.auto"), read_model("m.named")
    assert auto.classes == ["blue", "green", "red"]
    places = [named.class_names().index(name) for name in auto.classes]
    a, t = (np.array(m.weights).reshape(-1, 5) for m in (auto, named))
    np.testing.assert_allclose(a[:, :3], t[:, places], rtol=1e-12)
    vwlite("merge", *(f"{name}.auto" for name in each), "-o", "m", "--quiet", "--holdout", "held")
    assert vwlite("predict", "-m", "m", "held", "-p", "/dev/null").err.count("accuracy") == 1
    vwlite("train", "--quiet", "held", *BASIC, "--oaa", 5, "--classes", "auto", "--cache-file", "cache")
    said = vwlite("merge", "a.auto", "b.auto", "-o", "m", "--holdout", "cache", code=65).err
    assert "with --classes auto a cache has class numbers of its own: give the text" in said
    for i, name in enumerate("de"):
        (tmp_path / name).write_text(text(i, 50, [f"{name}{k}" for k in range(4)]))
        vwlite("train", "--quiet", name, *BASIC, "--oaa", 5, "--classes", "auto", "-m", f"{name}.auto")
    said = vwlite("merge", "d.auto", "e.auto", "-o", "m", code=65).err
    assert said == "together the shards have 8 classes, and --oaa allows 5: train them with a larger --oaa\n"


def test_the_base_is_that_of_the_run(vwlite, shards):
    """Of a run that was interrupted and continued, that of its beginning."""
    start = read_model("a.m")
    vwlite("train", "--quiet", "b", "-i", "a.m", "-m", "ab.m")
    assert read_model("ab.m").base == start.digest
    assert read_model("a.m").base == ""
    changed("ab.m", "half.m", interrupted=True)
    vwlite("train", "--quiet", "c", "-i", "half.m", "-m", "abc.m")
    assert read_model("abc.m").base == start.digest
    changed("a.m", "half.m", interrupted=True)
    vwlite("train", "--quiet", "c", "-i", "half.m", "-m", "ac.m")
    resumed = read_model("ac.m")
    assert (resumed.base, resumed.resumed) == ("", read_model("half.m").digest)
    vwlite("merge", "ac.m", "b.m", "-o", "m", "--quiet")
    changed("ac.m", "again.m", interrupted=True)
    vwlite("train", "--quiet", "b", "-i", "again.m", "-m", "acb.m")
    assert read_model("acb.m").resumed == read_model("half.m").digest  # the first of them
    assert "continue the same interrupted model, and its data would count twice" in refused(
        vwlite, "ac.m", "acb.m", output="m2"
    )
    vwlite("merge", "ac.m", "acb.m", "-o", "m", "--start", "half.m", "--quiet")
    vwlite("merge", "abc.m", "-o", "m", "--start", "a.m", "--quiet")
    assert read_model("m").base == start.digest
    vwlite("train", "--quiet", "b", "-i", "again.m", "-m", "again.m")  # in the place of what was interrupted
    assert open("again.m", "rb").read() == open("acb.m", "rb").read()
    vwlite("train", "--quiet", "b", "-i", "half.m", "-m", "half.m")
    vwlite("train", "--quiet", "b", "-i", "a.m", "-m", "a.m")
    assert open("half.m", "rb").read() == open("a.m", "rb").read()


def test_numbers_that_no_rule_reads_are_left_out(vwlite, shards):
    changed("a.m", "odd.m", rule={**read_model("a.m").rule, "odd": 1.0})
    vwlite("merge", "a.m", "b.m", "-o", "m", "--quiet")
    vwlite("merge", "odd.m", "b.m", "-o", "n", "--quiet")
    one, other = read_model("m"), read_model("n")
    assert {**one.rule} == {**other.rule}
    assert list(one.weights) == list(other.weights)


def test_shards_of_different_gravity(vwlite, shards):
    """A shard that began at another learning rate keeps the gravity of that."""
    steady = ["--algorithm", "truncated-gradient", "--gravity", "constant", "--l1", "0.01", "--quiet"]
    vwlite("train", "a", *steady, "-l", "0.5", "-m", "at.5")
    changed("at.5", "half.m", interrupted=True)
    vwlite("train", "b", "-i", "half.m", "-l", "0.1", "-m", "ab.m", "--quiet")
    vwlite("train", "c", *steady, "-l", "0.1", "-m", "c.m")
    said = refused(vwlite, "c.m", "ab.m")
    one, other = [("c.m", 0.1), ("ab.m", 0.5)] if said.startswith("c.m") else [("ab.m", 0.5), ("c.m", 0.1)]
    assert " ".join(said.split()) == (
        f"{one[0]}: its weights shrink by the learning rate {one[1]}, but those of {other[0]} by {other[1]}: train all "
        "shards from the same start"
    )
    vwlite("train", "b", *steady, "-l", "0.1", "-m", "b.m")
    vwlite("merge", "b.m", "c.m", "-o", "bc.m", "--quiet")
    assert read_model("bc.m").rule["gravity_rate"] == 0.1


def refused(vwlite, *arguments, code=65, output="m"):
    """What is said, by a run that leaves no file behind."""
    before = sorted(os.listdir())
    said = vwlite("merge", *arguments, "-o", output, code=code).err
    assert sorted(os.listdir()) == before
    assert said.count("\n") == 1
    return said[:-1]


def test_what_would_count_twice_is_refused(vwlite, shards):
    vwlite("train", "--quiet", "b", "-i", "a.m", "-m", "ab.m")
    vwlite("train", "--quiet", "c", "-i", "a.m", "-m", "ac.m")
    os.link("a.m", "link")
    open("copy", "wb").write(open("a.m", "rb").read())
    assert refused(vwlite, "a.m", "a.m", code=2).startswith("a.m and a.m are the same file: what it has learned would ")
    assert "are the same model: what it has learned would count twice; name it once" in refused(vwlite, "a.m", "copy")
    assert "are the same model" in refused(vwlite, "a.m", "b.m", "link")
    assert refused(vwlite, "a.m", "ab.m") == (
        "ab.m: continues a.m, and its data would count twice: name only one of them"
    )
    said = refused(vwlite, "ab.m", "ac.m")
    assert said.endswith("continues another model, which would count once for every shard: name that with --start")
    open("other", "w").write(text(3).replace("e", "E"))
    vwlite("train", "--quiet", "b", "other", *BASIC, "-m", "other.m")
    makes = "vwlite train -i a.m trains a shard from that start"
    assert refused(vwlite, "ab.m", "other.m", "--start", "a.m") == (
        f"other.m: did not start from a.m, as it has seen fewer examples of 1 of its 17 features: {makes}"
    )
    said = refused(vwlite, "ab.m", "ac.m", "--start", "b.m")
    assert said.endswith("trained from another model, not from b.m: vwlite train -i b.m trains a shard from that start")
    counters = {"examples": 100, "unlabelled": 0, "features": 10}
    changed("ab.m", "fewer.m", counters=counters, rule={"t": 100.0, "shift": 0.0})
    assert refused(vwlite, "fewer.m", "ac.m", "--start", "a.m") == (
        f"fewer.m: did not start from a.m, as it has seen fewer examples: {makes}"
    )


def test_shards_of_another_kind_are_refused(vwlite, shards):
    others = {
        "--algorithm": ("--loss", "logistic", "--algorithm", "ftrl"),
        "--bits": (*BASIC, "-b", 20),
        "--hash": (*BASIC, "--hash", "all"),
        "--loss": ("--loss", "hinge", "--algorithm", "adagrad"),
        "--oaa": (*BASIC, "--oaa", 3),
        "--learning-rate": (*BASIC, "-l", 0.25),
        "--l1": (*BASIC, "--l1", 0.125),
    }
    for option, options in others.items():
        data = "a"
        if option == "--oaa":
            data = "classes"
            open(data, "w").write(text(1, 50, (1, 2, 3)))
        vwlite("train", "--quiet", data, *options, "-m", "other.m")
        said = refused(vwlite, "b.m", "other.m")
        assert f": trained with {option} " in said
        assert "only models of the same options can be merged" in said
        if option in ("--learning-rate", "--l1"):  # what shards may change
            vwlite("train", "--quiet", "c", "-i", "other.m", *BASIC, *("-l", 0.5, "--l1", 0), "-m", "of.m")
            vwlite("merge", "of.m", "-o", "m", "--start", "other.m", "--quiet")
            os.remove("m")
    changed("b.m", "newer.m", program="vwlite 9.9.9")
    said = refused(vwlite, "a.m", "newer.m")
    assert "vwlite 9.9.9" in said
    assert said.endswith("train all shards with one version")
    changed("b.m", "half.m", interrupted=True)
    assert refused(vwlite, "a.m", "half.m") == (
        "half.m: its training was interrupted: `vwlite train -i half.m` continues with the rest of the data, or train "
        "it again"
    )
    vwlite("merge", "a.m", "b.m", "-o", "ab.m", "--quiet")
    assert refused(vwlite, "ab.m", "c.m") == (
        "ab.m: is already a merge of 2 shards, and merges cannot be merged again: name the shards, or give it as "
        "--start of the next round"
    )
    open("nothing", "w").write("")
    vwlite("train", "--quiet", "nothing", *BASIC, "--allow-empty", "-m", "empty.m")
    assert refused(vwlite, "a.m", "empty.m") == "empty.m: has learned nothing: leave it out"
    vwlite("train", "--quiet", "nothing", "-i", "a.m", "--allow-empty", "-m", "idle.m")
    assert refused(vwlite, "idle.m", "--start", "a.m") == "idle.m: has learned nothing since a.m: leave it out"
    vwlite("solve", "--quiet", "a", "--l1", 0.1, "-m", "solved.m")
    assert "models of solve cannot be merged: merged optima are not the optimum" in refused(vwlite, "solved.m")


def test_files_that_are_not_shards(vwlite, shards):
    assert refused(vwlite, code=2) == (
        "no shard is given: name the models to merge, as in vwlite merge a.model b.model"
    )
    assert refused(vwlite, "a.m", "gone.m", "b.m", code=66) == (
        "gone.m: No such file or directory; --allow-missing 1 continues without it"
    )
    said = refused(vwlite, "gone", "a.m", "lost", "--allow-missing", 1, code=66)
    assert said == "lost: No such file or directory; --allow-missing 2 continues without it"
    assert refused(vwlite, "gone", "--allow-missing", 3, code=66) == "no shard exists: nothing to merge"
    open("cut.m", "wb").write(open("b.m", "rb").read()[:-10])
    assert refused(vwlite, "a.m", "cut.m").startswith("cut.m: not a complete model: its end is missing or damaged")
    flipped = bytearray(open("b.m", "rb").read())
    flipped[len(flipped) // 2] ^= 1
    open("flipped.m", "wb").write(flipped)
    assert refused(vwlite, "a.m", "flipped.m").startswith("flipped.m: damaged: its content does not match its checksum")
    assert refused(vwlite, "a.m", "held").startswith("held: not a model of vwlite: it is text;")
    assert refused(vwlite, "a.m", ".", "--allow-missing", 1, code=66) == ".: Is a directory"
    assert refused(vwlite, "a.m", "-", code=2) == "-: a shard is a file, not standard input"
    assert refused(vwlite, "a.m", "b.m", "--start", "gone", code=66) == "gone: No such file or directory"
    assert refused(vwlite, "a.m", "b.m", "--start", "held").startswith("held: not a model of vwlite: it is text;")


def test_missing_shards_are_said(vwlite, shards):
    done = vwlite("merge", "a.m", "gone.m", "b.m", "-o", "m", "--allow-missing", 2, "--report", "r")
    assert "note: merged without gone.m, which does not exist\n" in done.err
    assert json.loads(open("r").read())["missing"] == ["gone.m"]
    assert read_model("m").merged["shards"] == 2


def test_options_that_mean_nothing(vwlite, shards):
    assert refused(vwlite, *shards, "--rule", "search", code=2) == (
        "--rule search needs examples to compare merges: add --holdout FILE"
    )
    assert refused(vwlite, *shards, "--rejects", "x", "--on-error", "skip", code=2) == (
        "--rejects needs --holdout: shards are models, not lines"
    )
    assert refused(vwlite, *shards, "--loss", "hinge", code=2).startswith("--loss hinge contradicts ")
    vwlite("train", "--quiet", "a", "--loss", "logistic", "--algorithm", "sgd", "-m", "sgd.m")
    assert refused(vwlite, "sgd.m", "--rule", "path", code=2) == (
        "--rule path cannot be used with --algorithm sgd: use mean, or search with a --holdout"
    )
    said = vwlite("merge", *shards, "-o", "a.m", code=2).err
    assert said == "--model a.m is one of the DATA files, which it would overwrite\n"
    said = vwlite("merge", *shards, "-o", "held", "--holdout", "held", code=2).err
    assert said == "--model held is a file of --holdout, which it would overwrite\n"
    vwlite("train", "--quiet", "b", "-i", "a.m", "-m", "ab.m")
    vwlite("merge", "ab.m", "-o", "a.m", "--start", "a.m", "--quiet")  # the next start in the place of the last one
    assert read_model("a.m").merged["shards"] == 1


def test_holdouts_that_are_invalid(vwlite, shards):
    open("unlabelled", "w").write("| a b\n| c\n")
    assert refused(vwlite, *shards, "--holdout", "unlabelled") == (
        "unlabelled: no example has a label: a holdout needs labels"
    )
    open("bad", "w").write("1 | a\nx | b\n")
    assert refused(vwlite, *shards, "--holdout", "bad").startswith("bad:2:1: ")
    assert refused(vwlite, *shards, "--holdout", "gone", code=66).startswith("gone: No such file or directory")
    one_class = "all examples are of one class: a holdout needs examples of all classes"
    open("one", "w").write("1 | a\n")
    assert refused(vwlite, *shards, "--holdout", "one") == "one: only one example has a label: a holdout needs many"
    open("two", "w").write("1 | b\n")
    assert refused(vwlite, *shards, "--holdout", "one", "--holdout", "two") == f"one, two: {one_class}"
    open("bad", "a").write("-1 | b\n")
    done = vwlite("merge", *shards, "-o", "m", "--holdout", "bad", "--on-error", "skip", "--rejects", "rejects")
    assert "holdout examples = 2\n" in done.err
    assert open("rejects").read() == "x | b\n"


def test_a_holdout_that_a_shard_has_learned(vwlite, shards):
    """It is far better on it than all others."""
    open("noise", "w").write("".join(f"{chance} | x{i}\n" for i, chance in enumerate([1, -1, -1, 1] * 30)))
    vwlite("train", "--quiet", "noise", *BASIC, "--passes", 20, "--cache", "-m", "a.m")
    said = vwlite("merge", *shards, "-o", "m", "--holdout", "noise").err
    note = "note: {} is far better on the holdout than all other shards: has it learned these lines?"
    assert note.format("a.m") in said
    said = vwlite("merge", *shards, "-o", "m", "--holdout", "held").err
    assert "far better" not in said
    # After one pass, over lines with a word that tells the label and rare ones.
    for seed, data in enumerate("abcn"):
        chance, lines = random.Random(seed), []
        for _ in range(300):
            label = chance.choice((-1, 1))
            word = "up" if label * (1 if chance.random() < 0.95 else -1) > 0 else "down"
            lines.append(f"{label} | {word} {' '.join(f'x{chance.randrange(10_000)}' for _ in range(5))}\n")
        open(data, "w").writelines(lines)
    for data, model in zip("abc", shards, strict=True):
        vwlite("train", "--quiet", data, *BASIC, "-m", model)
    assert note.format("b.m") in vwlite("merge", *shards, "-o", "m", "--holdout", "b").err
    assert "far better" not in vwlite("merge", *shards, "-o", "m", "--holdout", "n").err


def test_of_a_large_holdout_every_kth_line_is_fitted(vwlite, shards, monkeypatch):
    def coefficients(*holdout):
        done = vwlite("merge", *shards, "-o", "m", "--holdout", *holdout, "--report", "r")
        assert done.code == 0
        report = json.loads(open("r").read())
        return [c["coefficient"] for c in report["candidates"] + report["shards"]], report["results"]

    lines = open("held").readlines()
    open("third", "w").writelines(lines[::3])
    few, _ = coefficients("third")
    all_of_them, whole = coefficients("held")
    assert f"more than {MOST_LABELS:,} labels" in vwlite("help", "merge").out
    monkeypatch.setattr("vwlite.merging.choice.MOST_LABELS", 70)  # of 200
    found, results = coefficients("held")
    assert found == few != all_of_them
    losses = ("holdout_examples", "of_the_best_shard", "of_the_mean")
    assert [results[name] for name in losses] == [whole[name] for name in losses]


def test_a_holdout_on_which_all_is_infinite_takes_what_is_there(vwlite, shards):
    line = f"| {' '.join(f'{c}:3e38' for c in 'abcdefgh')}\n"
    open("wild", "w").write(f"1 {line}-1 {line}" * 3)
    model = read_model("a.m")
    large = {name: memoryview(array("d", [x * 1e300 for x in numbers])) for name, numbers in
             (("weights", model.weights), ("z", model.state["z"]))}
    changed("a.m", "a2.m", weights=large["weights"], state={"S": model.state["S"], "z": large["z"]})
    vwlite("merge", "a2.m", "-o", "m", "--holdout", "wild", "--report", "r", "--quiet")
    report = json.loads(open("r").read())
    assert report["results"]["holdout_loss"] is not None  # that of the start, which is zero
    assert report["results"]["rule"] == "the start as it is"


def test_models_whose_header_is_wrong_about_the_merge(vwlite, shards):
    vwlite("merge", "a.m", "b.m", "-o", "ab.m", "--quiet")
    merged = read_model("ab.m").merged
    for base in ("x", "a" * 63, "A" * 64):
        changed("a.m", "odd.m", base=base)
        assert "base, the model from which it started, is not a digest" in vwlite("info", "odd.m", code=65).err
    lies = {
        "shards of its merge is 0.5": merged | {"shards": 0.5},
        "the facts about its merge are impossible": merged | {"shards": 0},
        "digest of its merge is 5": merged | {"digest": 5},
        "step of its merge is None": {k: v for k, v in merged.items() if k != "step"},
        "unknown fact more about its merge": merged | {"more": 1},
        "the facts about its merge are missing": [1],
    }
    for said, lie in lies.items():
        changed("ab.m", "odd.m", merged=lie)
        assert said in vwlite("info", "odd.m", code=65).err


def test_states_that_are_not_those_of_the_algorithm(vwlite, shards):
    model = read_model("b.m")
    changed("b.m", "bare.m", state={"S": model.state["S"]})
    assert "the state is not that of" in refused(vwlite, "a.m", "bare.m")
    assert refused(vwlite, "bare.m") == "bare.m: not a valid model: the state is not that of adagrad"
    narrow = memoryview(array("f", model.state["S"]))
    changed("b.m", "narrow.m", state={"S": narrow, "z": narrow})
    assert refused(vwlite, "a.m", "narrow.m") == "narrow.m: not a valid model: the state is not that of adagrad"
    changed("b.m", "ruleless.m", rule={"t": 120.0})
    assert "ruleless.m: not a valid model: the rule's state is not that of" in refused(vwlite, "a.m", "ruleless.m")
    wild = array("d", [1e308] * len(model.weights))
    for name in ("x.m", "y.m"):
        wild[0] = 1e307 if name == "x.m" else 1e306
        state = {"S": memoryview(array("d", [1.0] * len(wild))), "z": memoryview(array("d", wild))}
        changed("b.m", name, weights=memoryview(array("d", wild)), state=state)
    assert "learning has diverged" in refused(vwlite, "x.m", "y.m", "--rule", "information")


def test_models_without_features(vwlite, shards):
    for n, name in enumerate(("x", "y"), 2):
        open(name, "w").write("1 |\n" * n)
        vwlite("train", "--quiet", name, *BASIC, "--no-constant", "-m", f"{name}.m")
    open("tested", "w").write("1 | a\n-1 | b\n")
    for more in ([], ["--holdout", "tested"]):
        vwlite("merge", "x.m", "y.m", "-o", "m", "--quiet", *more)
        model = read_model("m")
        assert (len(model.keys), model.counters["examples"]) == (0, 5)
    vwlite("train", "--quiet", "-i", "m", "a", "-m", "on")


def test_weights_of_features_must_be_the_same(vwlite, shards):
    for name, weight in {"light": 0.5, "heavy": 2}.items():
        open(name, "w").write(f"a {weight}\nb 0\nzebra 3\n")
    options = ("--loss", "logistic", "--algorithm", "l1-ball", "--radius", 3, "--feature-weights")
    for data, model, weights in (("a", "a.m", "light"), ("b", "b.m", "light"), ("c", "c.m", "heavy")):
        vwlite("train", "--quiet", data, *options, weights, "-m", model)
    said = refused(vwlite, "a.m", "b.m", "c.m")
    assert said.startswith("the shards were trained with different --feature-weights: ")
    vwlite("merge", "a.m", "b.m", "-o", "m", "--quiet", "--holdout", "held")
    model = read_model("m")
    a = model.state["a"]
    assert {0.0, 0.5, 3.0} < set(a)
    keys = list(model.keys)
    norm = sum(abs(w) * x for k, w, x in zip(keys, model.weights, a, strict=True) if k != 11650396)
    assert norm <= 3 * (1 + 1e-12)
    vwlite("train", "--quiet", "-i", "m", "a", "-m", "on")


def test_a_start_from_the_exact_solver(vwlite, shards):
    vwlite("solve", "--quiet", "held", "--l1-of-max", 0.3, "-m", "solved.m")
    for name in "ab":
        vwlite("train", "--quiet", name, "-i", "solved.m", "--algorithm", "truncated-gradient", "-m", f"{name}.t")
    vwlite("merge", "a.t", "b.t", "--start", "solved.m", "-o", "m", "--quiet", "--rule", "mean")
    start, *each = (dict(zip(m.keys, m.weights, strict=True)) for m in map(read_model, ("solved.m", "a.t", "b.t")))
    for key, w in zip(read_model("m").keys, read_model("m").weights, strict=True):
        before = start.get(key, 0.0)
        expected = before + sum(one.get(key, 0.0) - before for one in each) / 2
        assert w == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_models_of_vowpal_wabbit(vwlite, shards):
    for name in "abc":
        vwlite("vw", "-d", name, "-f", f"{name}.vw", "--quiet", "--loss_function", "logistic")
    said = refused(vwlite, "a.vw", "b.vw", code=2)
    assert "does not store the loss that it was trained with: give it, such as --loss logistic" in said
    vwlite("merge", "a.vw", "b.vw", "c.vw", "-o", "m", "--loss", "logistic", "--holdout", "held", "--quiet")
    model = read_model("m")
    assert (model.loss, model.algorithm, model.weights_only) == ("logistic", "gd", False)
    vwlite("train", "--quiet", "-i", "m", "held", "-m", "on")
    assert vwlite("check", "on").out.startswith("on: a model, whole: gd")
    for one, other in (("a.vw", "a.m"), ("a.m", "a.vw")):  # in the order of the command, whatever their bytes
        for loss in ([], ["--loss", "logistic"], ["--loss", "squared"]):
            said = refused(vwlite, one, other, *loss)
            assert said.startswith(f"{other}: trained by ") and f", but {one} by " in said
            assert "Vowpal Wabbit" in said and said.endswith(": train all shards with one version")


def test_rounds_of_models_of_vowpal_wabbit(vwlite, shards):
    """They do not say what they began from, but their state tells."""

    def learn(data, model, *more):
        vwlite("vw", "-d", data, "-f", model, "--quiet", "--loss_function", "logistic", *more)

    learn("a", "start")
    for name in "bc":
        learn(name, f"{name}.vw", "-i", "start")
    vwlite("merge", "b.vw", "c.vw", "--start", "start", "-o", "m", "--loss", "logistic", "--quiet", "--rule", "mean")
    start, *each = (dict(zip(m.keys, m.weights, strict=True)) for m in map(read_model, ("start", "b.vw", "c.vw")))
    merged = read_model("m")
    assert dict(zip(merged.keys, merged.weights, strict=True)) == pytest.approx(
        {k: start.get(k, 0) + sum(w.get(k, 0) - start.get(k, 0) for w in each) / 2 for k in merged.keys}, rel=1e-6
    )
    G = [dict(zip(m.keys, m.state["G"], strict=True)) for m in map(read_model, ("start", "b.vw", "c.vw"))]
    assert dict(zip(merged.keys, merged.state["G"], strict=True)) == pytest.approx(
        {k: G[1].get(k, 0) + G[2].get(k, 0) - G[0].get(k, 0) for k in merged.keys}, rel=1e-6
    )
    learn("b", "elsewhere")
    said = refused(vwlite, "c.vw", "elsewhere", "--start", "start", "--loss", "logistic")
    assert said.startswith("elsewhere: did not start from start, as it has seen fewer examples of ")
    assert said.endswith(" features: vwlite vw -i start trains a shard from that start")
    for name in "bc":
        learn(name, f"{name}.sgd", "--sgd")
    vwlite("merge", "b.sgd", "c.sgd", "-o", "m", "--loss", "logistic", "--rule", "mean", "--quiet")
    assert read_model("m").weights_only
    learn("b", "sparse", "--lrq", "ab2")
    assert "a model of Vowpal Wabbit with --lrq: use `vwlite vw -i`" in refused(vwlite, "sparse")


def test_numbers_that_are_invalid(vwlite, shards):
    """A shard is refused; if a candidate's loss on a holdout is infinite, the others are compared."""
    parts = split_into_parts(open("b.m", "rb").read())
    kind, shape, content = parts.arrays["weights"]
    parts.arrays["weights"] = kind, shape, struct.pack("<d", math.nan) + content[8:]
    open("nan.m", "wb").write(put_together(parts))
    assert refused(vwlite, "a.m", "nan.m") == "nan.m: not a valid model: a weight is not finite"
    open("far", "w").write("1 | a:1e38 b:1e38\n" * 3)
    vwlite("train", "--quiet", "a", "--algorithm", "adagrad", "-m", "a.m")
    vwlite("train", "--quiet", "b", "--algorithm", "adagrad", "-m", "b.m")
    vwlite("merge", "a.m", "b.m", "-o", "m", "--holdout", "far", "--report", "r")
    assert json.loads(open("r").read())["results"]["holdout_loss"] <= 1


def test_one_shard_and_one_holdout(vwlite, shards):
    assert "note: there is only one shard: nothing to merge\n" in vwlite("merge", "a.m", "-o", "m").err
    os.remove("m")
    os.symlink("held", "also")
    assert refused(vwlite, *shards, "--holdout", "held", "--holdout", "also", code=2) == (
        "held and also are the same file: its examples would count twice; name it once"
    )


def test_names_of_features_are_those_of_all_shards(vwlite, shards, monkeypatch):
    """Of the features with a weight; two names of one index are both kept."""
    for name, more in zip("abc", ("red", "green", "blue"), strict=True):
        open(name, "a").write(f"1 |n {more}\n-1 |n plain\n" * 3)
        vwlite("train", "--quiet", name, *BASIC, "-b", 4, "--names", "-m", f"{name}.m")
    each = [read_model(path) for path in shards]
    vwlite("merge", *shards, "-o", "m", "--quiet")
    model = read_model("m")
    assert set(model.names) == set().union(*(set(one.names) for one in each))
    assert len(model.names) > len(model.keys)  # 21 names and the constant on 16 places
    assert model.format == 2
    assert open("m", "rb").read() == (vwlite("merge", *shards[::-1], "-o", "m", "--quiet"), open("m", "rb").read())[1]
    vwlite("train", "--quiet", "a", *BASIC, "-b", 4, "-m", "a.m")  # the cache has no labels
    vwlite("merge", *shards, "-o", "m", "--quiet")
    assert set(read_model("m").names) == set().union(*(set(one.names) for one in each[1:]))
    assert "|" not in vwlite("weights", "m").err
    monkeypatch.setattr("vwlite.merging.shards.MOST_NAMES", 3)
    said = vwlite("merge", "b.m", "c.m", "-o", "m").err
    most = max(len(one.names) for one in each[1:])
    assert f"note: only {most} names of features are kept, those of the start and of the first shards" in said
    assert len(read_model("m").names) == most


def test_names_of_zero_weights_go(vwlite, shards):
    for name in "ab":
        vwlite("train", "--quiet", name, *BASIC, "--l1", 0.03, "--names", "-m", f"{name}.m")
    vwlite("merge", "a.m", "b.m", "-o", "m", "--quiet")
    model = read_model("m")
    active = {key for key, w in zip(model.keys, model.weights, strict=True) if w}
    assert 0 < len(active) < len(model.keys)
    assert set(model.names.keys) <= active
    assert len(model.names)


def table(name, lines, head="clicked,age,city"):
    open(name, "w").write("\n".join([head, *lines, ""]))
    return name


def test_shards_of_tables_have_the_same_columns(vwlite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chance = random.Random(1)

    def rows(count):
        cities = ("Rome", "Oslo", "Lima")
        ages = [chance.randrange(20, 60) for _ in range(count)]
        return [f"{1 if age + chance.randrange(20) > 50 else -1},{age},{chance.choice(cities)}" for age in ages]

    for name in ("a", "b", "held"):
        table(f"{name}.csv", rows(80))
    head, *turned = (",".join(line.strip().split(",")[::-1]) for line in open("b.csv"))
    table("turned.csv", turned, head)
    for name in ("a", "b", "turned"):
        vwlite("train", f"{name}.csv", "--label", "clicked", *BASIC, "-m", f"{name}.m", "--quiet")
    vwlite("merge", "a.m", "b.m", "-o", "m", "--holdout", "held.csv", "--report", "r", "--quiet")
    assert read_model("m").columns in (read_model("a.m").columns, read_model("b.m").columns)
    vwlite("predict", "-m", "m", "held.csv", "-p", "p", "--report", "p.json", "--quiet")
    found = json.loads(open("p.json").read())["results"]["average_loss"]
    assert json.loads(open("r").read())["results"]["holdout_loss"] == pytest.approx(found, rel=1e-6)
    vwlite("train", "--quiet", "held.csv", "--label", "clicked", *BASIC, "--cache-file", "held.cache")
    vwlite("merge", "a.m", "b.m", "-o", "of_cache", "--holdout", "held.cache", "--quiet")
    assert open("of_cache", "rb").read() == open("m", "rb").read()
    vwlite("merge", "a.m", "turned.m", "-o", "m2", "--quiet")  # the order of named columns makes no difference
    vwlite("train", "-i", "m", "a.csv", "-m", "on", "--quiet")
    vwlite("merge", "on", "-o", "m3", "--start", "m", "--quiet")
    assert read_model("m3").columns == read_model("m").columns

    def made(*options, data="b.csv"):
        vwlite("train", data, "--label", "clicked", *BASIC, *options, "-m", "other.m", "--quiet")
        return refused(vwlite, "a.m", "other.m")

    said = made("--categorical", "age")
    assert "its column 'age' is " in said
    assert "give all shards the same column roles" in said
    table("more.csv", [f"{line},1" for line in rows(80)], "clicked,age,city,new")
    assert "its column 'new' is " in made(data="more.csv")
    assert "is missing" in made(data="more.csv")
    assert "with another --ngram than" in made("--ngram", 2)
    open("text", "w").write(text(1))
    vwlite("train", "text", *BASIC, "-m", "text.m", "--quiet")
    assert "a.m: trained on a table, but text.m on text without columns" in refused(vwlite, "a.m", "text.m")
    table("unlabelled.csv", ["20,Rome"], "age,city")
    table("other.csv", ["1,20,Rome", "-1,30,Oslo"], "clicked,age,town")
    assert refused(vwlite, "a.m", "b.m", "--holdout", "other.csv") == (
        "other.csv:1:1: column city of the model is missing; the file has the new columns town"
    )
    assert refused(vwlite, "a.m", "b.m", "--holdout", "unlabelled.csv") == (
        "unlabelled.csv: no example has a label: a holdout needs labels"
    )


IN_PARTS = ("gd", "adagrad --l1 0.01", "adagrad-rda --l1 0.01", "ftrl --l1 0.1", "arow", "rounding --threshold 0.01",
            "truncated-gradient --l1 0.01 --average")


@pytest.mark.parametrize("options", IN_PARTS)
def test_the_state_is_made_of_some_rows_at_a_time(vwlite, shards, monkeypatch, options):
    for name in "ab":
        loss = "hinge" if options == "arow" else "logistic"
        vwlite("train", "--quiet", name, "--loss", loss, "--algorithm", *options.split(), "-m", f"{name}.m")
    vwlite("merge", "a.m", "b.m", "-o", "m", "--quiet")
    monkeypatch.setattr("vwlite.merging.states.ROWS", 3)
    vwlite("merge", "a.m", "b.m", "-o", "parts", "--quiet")
    assert open("parts", "rb").read() == open("m", "rb").read()


@pytest.fixture
def derived(vwlite, tmp_path, monkeypatch):
    """In a folder of their own: s.m with derived features, a.m and b.m that continue it, other.m and plain.m."""
    monkeypatch.chdir(tmp_path)
    rows = bent_rows(3000)
    for i, name in enumerate(("s", "a", "b", "held", "other")):
        written(tmp_path / f"{name}.csv", ["x", "z", "w", "y"], rows[600 * i : 600 * i + 600])
    for name in ("s", "other"):
        vwlite("train", f"{name}.csv", "--label", "y", "--derive", "auto", "-m", f"{name}.m")
    for name in "ab":
        vwlite("train", f"{name}.csv", "--label", "y", "-i", "s.m", "-m", f"{name}.m")
    vwlite("train", "a.csv", "--label", "y", "--derive", "none", "--normalize", "none", "-m", "plain.m")


def test_the_score_of_a_mean_is_the_mean_of_scores_with_derived_features_too(vwlite, derived):
    vwlite("merge", "a.m", "b.m", "--start", "s.m", "--rule", "mean", "-o", "mean.m")
    assert read_model("mean.m").settings.derived == read_model("s.m").settings.derived is not None
    found = {}
    for name in ("a", "b", "mean"):
        vwlite("predict", "held.csv", "-m", f"{name}.m", "-r", name)
        found[name] = np.loadtxt(name)
    full = np.array([row[0] != "" for row in bent_rows(3000)[1800:2400]])  # weights of absent cells are not means
    assert found["mean"][full] == pytest.approx(((found["a"] + found["b"]) / 2)[full], abs=1e-5)


def test_a_holdout_of_derived_features_may_be_a_table_or_a_cache(vwlite, derived, tmp_path):
    vwlite("merge", "a.m", "b.m", "--start", "s.m", "--holdout", "held.csv", "-o", "table.m", "--report", "r")
    vwlite("train", "held.csv", "-i", "s.m", "-m", "unused.m", "--cache-file", "held.cache")
    vwlite("merge", "a.m", "b.m", "--start", "s.m", "--holdout", "held.cache", "-o", "cache.m")
    assert open("table.m", "rb").read() == open("cache.m", "rb").read()
    # Rules are compared before the weights of absent cells follow from the chosen weights.
    written(tmp_path / "full.csv", ["x", "z", "w", "y"], [row for row in bent_rows(3000)[1800:2400] if row[0] != ""])
    vwlite("merge", "a.m", "b.m", "--start", "s.m", "--holdout", "full.csv", "-o", "full.m", "--report", "r")
    loss = json.loads(open("r").read())["results"]["holdout_loss"]
    evaluated = json.loads(vwlite("evaluate", "-m", "full.m", "full.csv", "--json").out)
    assert evaluated["measures"]["log_loss"]["value"] == pytest.approx(loss, abs=1e-6)


@pytest.mark.parametrize(
    ("shards", "what"),
    [
        (["a.m", "other.m"], "other.m: derives other features from its columns, unlike a.m"),
        (["a.m", "plain.m"], "plain.m: derives no features from its columns, unlike a.m"),
        (["plain.m", "a.m"], "a.m: derives features from its columns, unlike plain.m"),
        (["a.m", "b.m", "--start", "other.m"], "a.m: derives other features from its columns, unlike other.m"),
    ],
)
def test_shards_derive_the_same_features(vwlite, derived, shards, what):
    done = vwlite("merge", *shards, "-o", "x", code=65)
    assert what in done.err and "`vwlite train -i` trains all from one" in done.err


def test_a_signal_leaves_what_was_there(vwlite, shards):
    os.mkfifo("pipe")
    open("m", "w").write("old")
    process = start_program("merge", *shards, "-o", "m", "--holdout", "pipe")
    with suppress(BrokenPipeError), open("pipe", "wb") as pipe:  # it may have ended before it reads the rest
        pipe.write(b"1 | a\n")
        pipe.flush()
        process.terminate()
        pipe.write(b"-1 | b\n" * 100)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 143
    assert err.decode().splitlines()[-1] == "interrupted by signal 15; m is unchanged"
    assert open("m").read() == "old"
    assert not [name for name in os.listdir() if name.startswith(".m")]
