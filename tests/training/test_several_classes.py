"""Several classes on the command line: labels, outputs, models, caches, options that contradict each other."""

import json
import os
import random

import numpy as np
import pytest
from models import content
from running import GD, standard_input, with_gd
from slow_rules import softmax

from vwlite.model import read_model

TAKES = "--oaa 3 takes whole numbers from 1 to 3"
OTHERS = "for other numbers and for words add --classes auto"
BAD = [
    ("--oaa 3", "4 |f a", f"label '4': {TAKES}; with more classes give --oaa a larger number"),
    ("--oaa 3", "0 |f a", f"label '0': {TAKES}; {OTHERS}"),
    ("--oaa 3", "1.5 |f a", f"label '1.5': {TAKES}; {OTHERS}"),
    ("--oaa 3", "red |f a", f"label 'red': {TAKES}; {OTHERS}"),
    ("--oaa 3", "-1 |f a", f"label '-1': {TAKES}; {OTHERS}"),
    ("--oaa 3", "1x |f a", f"label '1x': {TAKES}; {OTHERS}"),
    ("--classes 1,2", "3 |f a", "label '3' is not one of the classes 1, 2; --classes must name all"),
    ("--classes 1,2,3,4,5,6,7,8,9", "x |f a",
     "label 'x' is not one of the classes 1, 2, 3, 4, 5, 6, 7, 8, ...; --classes must name all"),
    ("--oaa 2 --classes auto", "3 |f a", "label '3' is a new class, but --oaa 2 allows only 1, 2"),
]


@pytest.mark.parametrize(("options", "line", "message"), BAD)
def test_labels_that_are_not_classes(vwlite, tmp_path, options, line, message):
    file = tmp_path / "data.vw"
    file.write_text(f"1 |f a\n2 |f b\n \t{line}\n1 |f c\n")
    model = tmp_path / "model"
    done = vwlite("train", *GD, file, *options.split(), "-m", model, "--quiet", code=65)
    assert done.err == f"{file}:3:3: {message}\n"
    assert not model.exists()
    vwlite("train", *GD, file, *options.split(), "-m", model, "--quiet", "--on-error", "skip")
    done = vwlite("predict", "-m", model, file, "--report", tmp_path / "report")  # no fault there: as good as no label
    assert len(done.out.splitlines()) == 4
    assert json.loads((tmp_path / "report").read_text())["results"]["unlabelled_examples"] == 1
    done = vwlite("check", file, *options.split(), code=1)
    assert done.out == f"{file}:3:3: {message}\n{file}: data, 4 lines, 1 bad line\n"
    file.write_text("1 |f a\n2 |f b\n |f c\n")
    assert vwlite("check", file, *options.split()).out == f"{file}: data, 3 lines, every line valid\n"


def text_of(seed, lines, names=("red", "green", "blue")):
    """Each class has words of its own, and shares others."""
    chance = random.Random(seed)
    out = []
    for i in range(lines):
        name = chance.choice(names)
        words = " ".join(f"{name}{chance.randrange(30)}" for _ in range(2))
        words += " " + " ".join(f"w{chance.randrange(50)}:{chance.random():.2f}" for _ in range(5))
        out.append(f"{name} {chance.choice(['', '2', '0.5'])} 't{i}|f {words}\n")
    return "".join(out)


@pytest.fixture(name="data")
def data_of_words(tmp_path):
    file = tmp_path / "words.vw"
    file.write_text(text_of(1, 600))
    return file


METHODS = {
    "gd": [*GD, "--oaa", "4"],
    "logistic": [*GD, "--oaa", "4", "--loss", "logistic"],
    "l1-ball": ["--oaa", "4", "--algorithm", "l1-ball", "--radius", "3", "--loss", "logistic"],
    "softmax": ["--oaa", "4", "--softmax", "--radius", "3"],
    "simplex": ["--oaa", "4", "--algorithm", "simplex", "--radius", "20", "--features", "1000"],
}


@pytest.mark.parametrize("options", [[], ["--l1", "0.001"], ["-l", "0.1"], ["--radius", "3"]])
def test_softmax_needs_no_algorithm(vwlite, tmp_path, data, options):
    """It has one that takes what was typed: that of a ball if this has a radius, else adagrad."""
    name = "l1-ball" if "--radius" in options else "adagrad"
    given = "--radius" if "--radius" in options else "--softmax"
    words = ("train", data, "--oaa", "4", "--classes", "auto", "--softmax", *options)
    for model, more in (("a", []), ("b", ["--algorithm", name])):
        done = vwlite(*words, *more, "-m", tmp_path / model)
        assert done.err.startswith(f"algorithm = {name}{'' if more else f' (as {given} is given)'}, loss = softmax, ")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("method", METHODS)
def test_a_whole_run(vwlite, tmp_path, data, method):
    """Learn, predict, look; nothing depends on threads, caches, or on how the data is cut up."""
    options = [*METHODS[method], "--classes", "auto"]
    model = tmp_path / "model"
    report = tmp_path / "report"
    done = vwlite("train", data, *options, "-m", model, "-p", "-", "--report", report, "-P", "200")
    names = list(dict.fromkeys(line.split()[0] for line in data.read_text().splitlines()))
    labels = [line.split()[0] for line in data.read_text().splitlines()]
    said = [line.split() for line in done.out.splitlines()]
    assert [tag for _, tag in said] == [f"t{i}" for i in range(600)]
    results = json.loads(report.read_text())["results"]
    importance = [float(([*line.split("'")[0].split(), "1"])[1]) for line in data.read_text().splitlines()]
    expected = np.zeros((3, 3))
    for (name, _), label, h in zip(said, labels, importance, strict=True):
        expected[names.index(label), names.index(name)] += h
    assert results["confusion_matrix"] == {"classes": names, "rows": expected.tolist()}
    assert results["accuracy"] == pytest.approx(np.trace(expected) / expected.sum())
    assert results["average_loss"] == pytest.approx(1 - results["accuracy"])
    assert ("log_loss" in results) == ("logistic" in options or "--softmax" in options)
    assert results["accuracy"] > 0.5
    assert f"accuracy = {results['accuracy']:.6f}" in done.err
    assert "confusion matrix: a row for each label, a column for each prediction\n" in done.err
    rows = [line.split() for line in done.err.splitlines() if len(line.split()) == 8 and line[0] in "01"]
    assert len(rows) >= 2
    assert all(row[4] in names and row[5] in names for row in rows)
    # the model predicts what it says
    again = vwlite("predict", "-m", model, data, "--report", report)
    assert json.loads(report.read_text())["results"]["accuracy"] > results["accuracy"]
    assert {line.split()[0] for line in again.out.splitlines()} == set(names)
    # other ways to the same bytes
    halves = tmp_path / "halves"
    lines = data.read_text().splitlines(keepends=True)
    for name, part in (("first", lines[:250]), ("second", lines[250:])):
        (tmp_path / name).write_text("".join(part))
    for threads in (1, 2, 3):
        vwlite("train", data, *options, "-m", halves, "--threads", threads, "--quiet")
        assert halves.read_bytes() == model.read_bytes()
    vwlite("train", tmp_path / "first", *options, "-m", halves, "--quiet")
    vwlite("train", tmp_path / "second", "-i", halves, "-m", halves, "--quiet")
    assert halves.read_bytes() == model.read_bytes()
    for _ in range(2):  # a cache that is made, and one that is there
        vwlite("train", data, *options, "-m", halves, "-c", "--quiet")
        assert halves.read_bytes() == model.read_bytes()
    # weights without state predict the same
    vwlite("train", data, *options, "-m", halves, "--save-weights-only", "--quiet")
    assert vwlite("predict", "-m", halves, data).out == again.out
    # what is in it
    loaded = read_model(str(model))
    assert loaded.classes == names and loaded.records == 4
    arrays = np.load(model, allow_pickle=False)
    assert arrays["weights"].shape == (len(loaded.keys), 4)
    assert all(arrays[name].shape == (len(loaded.keys), 4) for name in arrays.files if name.startswith("state_"))
    info = json.loads(vwlite("info", "--json", model).out)
    assert info["classes"] == names and info["nonzero_weights"] == results["nonzero_weights"]
    constant = vwlite("weights", model, "--all").out.splitlines()
    assert len(constant) == 4 * len(loaded.keys)
    key, found = int(loaded.keys[3]), {}
    for line in constant:
        index, name, weight = line.split("\t")
        if int(index) == key:
            found[name] = float(weight)
    assert [found[name] for name in [*names, "?4"]] == arrays["weights"][3].tolist()


@pytest.mark.parametrize("average", [[], ["--average"]])
def test_a_class_alone_has_the_weights_of_its_own_run(vwlite, tmp_path, data, average):
    options = [*average, "--algorithm", "adagrad", "--loss", "logistic", "--l1", "0.001", "--passes", "3", "--quiet"]
    vwlite("train", data, "--classes", "red,green,blue", *options, "--holdout-off", "-m", tmp_path / "all")
    green = tmp_path / "green.vw"
    lines = (line.split(" ", 1) for line in data.read_text().splitlines())
    green.write_text("".join(f"{1 if name == 'green' else -1} {rest}\n" for name, rest in lines))
    vwlite("train", green, *options, "--holdout-off", "-m", tmp_path / "one")
    alone = vwlite("weights", tmp_path / "one", "--all").out.splitlines()
    together = vwlite("weights", tmp_path / "all", "--all").out.splitlines()
    assert sorted(alone) == sorted(line.replace("\tgreen\t", "\t") for line in together if "\tgreen\t" in line)
    feature = vwlite("weights", tmp_path / "all", "--feature", "f^green3").out.splitlines()
    assert [line.split("\t")[1] for line in feature] == ["red", "green", "blue"]
    assert all(line.endswith("\tf^green3") for line in feature)


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("method", ["logistic", "softmax"])
def test_log_loss(vwlite, tmp_path, data, method, passes):
    """From the scores of each example before it is learned, or that is only predicted."""
    model, raw, report = tmp_path / "model", tmp_path / "raw", tmp_path / "report"

    def expected(command, tell="log_loss", held=()):
        """Of the scores that the run has written, in the last pass; and of `held`, the lines that count."""
        scores = raw.read_text().splitlines()[-600:]
        labels = [line.split("'")[0].split() for line in data.read_text().splitlines()]
        total = weight = 0.0
        for i, (line, (name, *importance)) in enumerate(zip(scores, labels, strict=True)):
            if held and i not in held:
                continue
            said = dict(part.rsplit(":", 1) for part in line.split()[:-1])
            s = np.array([float(x) for x in said.values()])
            shares = softmax(s) if method == "softmax" else (1 / (1 + np.exp(-s))) / (1 / (1 + np.exp(-s))).sum()
            h = float(importance[0]) if importance else 1.0
            total -= h * np.log(shares[list(said).index(name)])
            weight += h
        found = json.loads(report.read_text())["results"][tell]
        assert found == pytest.approx(total / weight, abs=1e-5) and 0.1 < found < 1.5
        assert f"\n{tell.replace('_', ' ')} = {found:.6f} (baseline " in command.err

    options = [*METHODS[method], "--classes", "auto", "--passes", passes]
    done = vwlite("train", data, *options, "-m", model, "-r", raw, "--report", report)
    expected(done, *([] if passes == 1 else ["holdout_log_loss", range(9, 600, 10)]))
    expected(vwlite("predict", "-m", model, data, "-r", raw, "--report", report, "-p", tmp_path / "p"))


@pytest.mark.parametrize("method", ["logistic", "softmax"])
def test_probabilities(vwlite, tmp_path, data, method):
    model, raw = tmp_path / "model", tmp_path / "raw"
    vwlite("train", data, *METHODS[method], "--classes", "auto", "-m", model, "--quiet")
    done = vwlite("predict", "-m", model, data, "--probabilities", "-r", raw)
    names = read_model(str(model)).classes
    for line, scores in zip(done.out.splitlines(), raw.read_text().splitlines(), strict=True):
        *parts, tag = line.split()
        *said, other = scores.split()
        assert tag == other
        assert [p.split(":")[0] for p in parts] == [s.split(":")[0] for s in said] == names
        s = np.array([float(s.split(":")[1]) for s in said])
        expected = softmax(s) if method == "softmax" else (1 / (1 + np.exp(-s))) / (1 / (1 + np.exp(-s))).sum()
        np.testing.assert_allclose([float(p.split(":")[1]) for p in parts], expected, atol=3e-6)


def test_a_cache_keeps_the_names_and_is_not_for_another_order(vwlite, tmp_path, data):
    """The cache of a fresh run numbers classes from the data; a model that is continued has an order of its own."""
    other = tmp_path / "other.vw"
    other.write_text(text_of(3, 100, names=("blue", "red")))
    model, plain = tmp_path / "model", tmp_path / "plain"
    options = ["--oaa", "3", "--classes", "auto", "--quiet"]
    vwlite("train", *GD, data, *options, "-c", "-m", model)
    vwlite("train", *GD, other, *options, "-m", model)
    vwlite("train", data, "-i", model, "-m", plain, "--quiet")
    done = vwlite("train", data, "-i", model, "-c", "-m", model, "--quiet")
    assert "it was made with another order of classes; it is rebuilt" in done.err
    assert content(model) == content(plain)
    done = vwlite("train", *GD, data, "--oaa", "4", "--classes", "auto", "-c", "-m", model, "--quiet")
    assert "it was made with another number of classes" in done.err


def test_several_passes_hold_out_and_show_classes(vwlite, tmp_path, data):
    report = tmp_path / "report"
    done = vwlite("train", *GD, data, "--oaa", "3", "--classes", "auto", "--passes", "3", "--report", report)
    results = json.loads(report.read_text())["results"]
    assert results["holdout_accuracy"] > 0.8
    assert np.sum(results["holdout_confusion_matrix"]["rows"]) > 30
    assert "holdout confusion matrix: a row" in done.err


def test_names_that_the_model_knows_are_the_only_ones_to_predict(vwlite, tmp_path, data):
    model = tmp_path / "model"
    vwlite("train", *GD, data, "--oaa", "9", "--classes", "auto", "--loss", "logistic", "-m", model, "--quiet")
    file = tmp_path / "test.vw"
    file.write_text("violet |f red1 red2 red3\nred |f red1 red2\n")
    done = vwlite("predict", "-m", model, file)
    assert done.out == "red\nred\n"
    assert "unlabelled examples = 1\n" in done.err
    parts = vwlite("predict", "-m", model, file, "--probabilities").out.splitlines()[0].split()
    assert sorted(part.split(":")[0] for part in parts) == ["blue", "green", "red"]


def test_a_model_that_has_seen_no_class_predicts_none(vwlite, tmp_path):
    (tmp_path / "data.vw").write_text(" |f a\n")
    vwlite("train", *GD, tmp_path / "data.vw", "--oaa", "2", "--classes", "auto", "-m", tmp_path / "model", "--quiet",
           "--loss", "logistic", "--allow-empty")
    assert vwlite("predict", "-m", tmp_path / "model", tmp_path / "data.vw").out == "?\n"
    assert vwlite("predict", "-m", tmp_path / "model", tmp_path / "data.vw", "--probabilities").out == "\n"


def test_a_name_cannot_command_the_terminal(vwlite, tmp_path):
    file = tmp_path / "data.vw"
    file.write_bytes(b"\x1b[31m |f a\n\xff |f b\n\x1b[31m |f a\n")
    done = vwlite("train", *GD, file, "--oaa", "3", "--classes", "auto", "-m", tmp_path / "model")
    assert "\x1b" not in done.err and "\\x1b[31m" in done.err
    assert "\x1b" not in vwlite("weights", tmp_path / "model").out
    assert "\x1b" not in vwlite("info", tmp_path / "model").out
    vwlite("train", file, "-i", tmp_path / "model", "-m", tmp_path / "model", "--quiet")
    assert read_model(str(tmp_path / "model")).classes == ["\x1b[31m", "\udcff"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--oaa 0", "0 is out of range: it must be at least 2 and at most 65536"),
        ("--oaa 1", "1 is out of range: it must be at least 2 and at most 65536"),
        ("--oaa x", "'x' is not a whole number"),
        ("--classes red", "'red' is neither auto nor two or more names with commas between them"),
        ("--classes red,red", "'red,red': duplicate name"),
        ("--classes red,", "'red,': '' cannot be a label: it is empty"),
        ("--oaa 3 --classes a,b", "--oaa 3 contradicts --classes, which names 2: leave --oaa out"),
        ("--softmax --radius 1", "--softmax needs the classes: add --oaa K for labels from 1 to K, or --classes"),
        ("--softmax --oaa 3 --algorithm l1-ball", "--algorithm l1-ball needs --radius"),
        (
            "--oaa 3 --algorithm ftrl --nonzeros 9",
            "--nonzeros counts the weights of one score, but --oaa has one for each class: use --l1",
        ),
        ("--oaa 3 --labels 0,1", "--labels maps labels to -1 and 1, but with --oaa they are classes: use --classes"),
        ("--oaa 3 --loss poisson", "--oaa learns from labels of 1 and -1, which --loss poisson cannot use: "
         "use --loss logistic"),
        ("--oaa 3 --link logistic", "--link logistic is for one score, but --oaa has one for each class: leave it out; "
         "vwlite predict --probabilities prints probabilities"),
        ("--oaa 3 --softmax --radius 1 --loss squared", "--softmax has its own loss: leave --loss squared out"),
        ("--oaa 3 --softmax --algorithm gd", "--algorithm gd cannot learn from --softmax, as its steps need the loss "
         "of one score: use l1-ball, sgd, adagrad or ftrl"),
        ("--oaa 3 --softmax --algorithm pa --loss hinge", "--softmax has its own loss: leave --loss hinge out"),
        ("--oaa 3 --nonnegative", "--nonnegative has no effect with --algorithm gd: it is an option of l1-ball"),
    ],
)
def test_options_that_contradict_each_other(vwlite, tmp_path, options, said):
    """Before any data is read: the file is not there."""
    (tmp_path / "data").write_text("bad\n")
    done = vwlite("train", tmp_path / "data", *with_gd(options.split()), code=2)
    assert done.err.rstrip("\n").endswith(said)


ROWS = "red |f a b\ngreen |f a c\nred |f b\nbad |f x:y\nblue |f c\n |f a\ngreen |f c\n" * 10


@pytest.mark.parametrize("command", ["train", "train --algorithm gd --loss logistic", "solve --l2 0.1 --loss logistic"])
def test_the_number_of_classes_is_counted(vwlite, at, command):
    """As if it was typed: of the lines that are learned."""
    (at / "t.vw").write_text(ROWS)
    (at / "t.csv").write_text("y,f\n" + "red,a\n\"dark blue\",b\nred,c\n,a\n-,b\ndark_blue,a\n" * 9)
    run = [*command.split(), "--on-error", "skip", "--classes", "auto"]
    for data in (["t.vw"], ["t.csv", "--label", "y"]):
        said = vwlite(*run, *data, "-m", "counted").err
        assert said.startswith("classes = 3, as counted in the data\n")
        vwlite(*run, *data, "--oaa", "3", "-m", "typed", "--quiet")
        assert (at / "counted").read_bytes() == (at / "typed").read_bytes()
    assert "counted" not in vwlite(*run, *data, "-m", "counted", "--quiet").err


def test_no_more_classes_come_to_a_counted_model(vwlite, at):
    (at / "t.vw").write_text(ROWS)
    run = ["train", *GD, "--on-error", "skip", "--classes", "auto"]
    vwlite(*run, "--continue", "m", "t.vw")
    (at / "one.vw").write_text("pink |f a\n")
    said = vwlite("train", "one.vw", "-i", "m", "-m", "n", "--classes", "auto", code=65).err
    assert "counted" not in said
    assert said.endswith("label 'pink' is a new class, but --oaa 3 allows only red, green, blue\n")
    assert "classes = 1, as counted" in vwlite(*run, "one.vw", "-m", "one").err  # and there may be another one
    assert read_model("one").settings.oaa == 2
    assert "every line valid" in vwlite("check", "one.vw", "--classes", "auto").out


def test_classes_cannot_be_counted_in_what_is_read_once(vwlite, at):
    (at / "t.vw").write_text(ROWS)
    run = ["train", *GD, "--classes", "auto", "-m", "m"]
    said = "--classes auto counts the classes in a first reading, and <stdin> can be read only once: add --oaa K"
    with standard_input(at / "t.vw"):
        assert said in vwlite(*run, code=2).err
    os.mkfifo("pipe")
    assert "pipe can be read only once" in vwlite(*run, "pipe", code=2).err
    with standard_input(at / "t.vw"):
        vwlite(*run, "--oaa", 3, "--on-error", "skip")


def test_tune_counts_classes_once(vwlite, at):
    (at / "t.vw").write_text(ROWS.replace("bad |f x:y\n", ""))
    out = vwlite("tune", "t.vw", "--classes", "auto", "--seconds", "0.5", "-m", "m").out
    assert read_model("m").settings.oaa == 3
    assert "--classes auto --oaa 3" in out


def test_options_of_classes_belong_to_the_model(vwlite, tmp_path, data):
    model = tmp_path / "model"
    vwlite("train", *GD, data, "--oaa", "3", "--classes", "auto", "-m", model, "--quiet")
    done = vwlite("train", data, "-i", model, "--oaa", "4", code=2)
    assert "--oaa 4 contradicts the model" in done.err
    done = vwlite("predict", "-m", model, data, "--probabilities", code=2)
    assert done.err == (
        f"--probabilities needs a model of --loss logistic or --softmax: {model} was trained with --loss squared, "
        "whose scores are not probabilities\n"
    )
    assert "use --probabilities" in vwlite("predict", "-m", model, data, "--link", "logistic", code=2).err
    two = tmp_path / "two.vw"
    two.write_text("1 |f a\n-1 |f b\n")
    vwlite("train", *GD, two, "-m", model, "--quiet")
    assert "has none: use --link logistic" in vwlite("predict", "-m", model, two, "--probabilities", code=2).err
