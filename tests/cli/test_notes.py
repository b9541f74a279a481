"""Notes at the end of a run, and the numbers for them in the report: it went well, but is it what was meant?"""

import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from batches import Line, batch_of
from models import save
from running import GD, with_gd

from vwlite.algorithms.losses import LOSSES
from vwlite.algorithms.settings import Settings
from vwlite.core.data.namespaces import Namespaces
from vwlite.model import read_model
from vwlite.model.learners import make_loss

pytestmark = pytest.mark.usefixtures("folder")


def notes_of(result):
    return [line.removeprefix("note: ") for line in result.err.splitlines() if line.startswith("note: ")]


def run_notes(vwlite, command, text, *options):
    """The notes of a run, and the results in its report, which has the same notes."""
    Path("data").write_text(text)
    notes = notes_of(vwlite(command, "data", "--report", "report", "-m", "m", *options))
    report = json.loads(Path("report").read_text())
    assert report["notes"] == notes
    return notes, report["results"]


def train(vwlite, text, *options):
    return run_notes(vwlite, "train", text, *with_gd(options))


def predict(vwlite, text, *options):
    return run_notes(vwlite, "predict", text, *options)


LINES = "1 |a x y |b z\n-1 |a y |c z\n2 |b u\n"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--keep ab", []),
        ("--keep azq", [f"--keep {c}: no namespace of the data begins with '{c}'" for c in "qz"]),
        ("--ignore bd", ["--ignore d: no namespace of the data begins with 'd'"]),
        ("--ignore-linear z", ["--ignore-linear z: no namespace of the data begins with 'z'"]),
        ("-q ab -q ::", []),
        ("-q xy", ["-q xy crosses namespaces that begin with x and y: no example has them all"]),
        ("-q bc", ["-q bc crosses namespaces that begin with b and c: no example has them all"]),
        ("-q a:", []),
        ("-q x:", ["-q x: crosses namespaces that begin with x and :: no example has them all"]),
        ("--cubic abc", ["--cubic abc crosses namespaces that begin with a, b and c: no example has them all"]),
        (
            "--interactions text",
            ["--interactions text crosses namespaces that begin with t, e, x and t: no example has them all"],
        ),
        ("-q ab --ignore b", ["-q ab crosses namespaces that begin with a and b, but b is left out by --ignore"]),
        ("-q ab --keep ac", ["-q ab crosses namespaces that begin with a and b, but b is left out by --keep"]),
    ],
)
@pytest.mark.parametrize("passes", [(), ("--passes", 2, "--holdout-off")], ids=["one", "two"])
def test_options_that_match_nothing_are_reported(vwlite, options, expected, passes):
    notes, results = train(vwlite, LINES, *options.split(), *passes)
    assert notes == expected
    assert results["options_that_match_nothing"] == len(expected)


def test_what_is_looked_for_is_found_as_by_a_search_line_by_line():
    chance = random.Random(1)
    for _ in range(300):
        # A namespace without a feature (the 0) does not occur.
        lines = [[(c, chance.randrange(3)) for c in chance.sample(b"abcd\xc3 ", 3)] for _ in range(chance.randrange(4))]
        groups = [bytes(chance.choices(b"abcd\xc3 ", k=chance.randrange(2, 4))) for _ in range(3)]
        namespaces = Namespaces(b"ab\xc3z", groups)
        for spans in lines:
            features = [(i, 1.0) for i in range(sum(n for _, n in spans))]
            namespaces.look(batch_of([Line(1, [], kind=1), Line(1, features, spans=spans)]))
        present = [{c for c, n in spans if n} for spans in lines]
        seen = set().union(*present)
        assert namespaces.unseen_letters() == bytes(c for c in b"abz\xc3" if c not in seen)
        assert namespaces.unmet_groups() == [g for g in groups if not any(set(g) <= line for line in present)]


ALIKE = "differ only by case or a comma: are they one?"
NUMBERS = "and --loss squared predicts such a number; for two classes use"


@pytest.mark.parametrize(
    ("labels", "options", "expected", "count"),
    [
        ("-1 1 1", "", f"every label is -1 or 1, {NUMBERS} --loss logistic", 2),
        ("1 0 1", "", f"every label is 0 or 1, {NUMBERS} --loss logistic --labels 0,1", 2),
        ("1 0 1", "--loss squared", None, 2),
        ("1 -1 1", "--loss logistic", None, 2),
        ("1 0 1", "--loss quantile", None, 2),
        ("1 2 3.5", "", None, 3),
        ("1 1 1", "", "every example has the label 1: learning needs two labels", 1),
        ("1 1 1", "--loss logistic", "every example has the label 1: learning needs two labels", 1),
        ("7.5 7.5", "", "every example has the label 7.500000: learning needs two labels", 1),
        ("0 0", "--loss hinge --labels 0,1", "every example has the label 0: learning needs two labels", 1),
        ("1", "", None, 1),
        ("2 2", "--oaa 3", "every example is of class 2: learning needs two labels", None),
        ("red red", "--oaa 3 --classes auto", "every example is of class red: learning needs two labels", None),
        ("2 1", "--oaa 3", None, None),
        ("Red red blue", "--oaa 3 --classes auto", f"the labels Red and red {ALIKE}", None),
        ("a, b a", "--oaa 3 --classes auto", f"the labels a, and a {ALIKE}", None),
        ("Yes yes", "--labels Yes,yes --loss logistic", f"the labels Yes and yes {ALIKE}", 2),
    ],
)
def test_labels_that_suggest_another_loss_or_none_are_reported(vwlite, labels, options, expected, count):
    notes, results = train(vwlite, "".join(f"{y} |a x{y}\n" for y in labels.split()), *options.split())
    assert notes == ([expected] if expected else [])
    assert results.get("distinct_labels") == count
    Path("more").write_text("|a x\n" + "".join(f"{labels.split()[0]} |a x\n" for _ in range(5)))
    assert notes_of(vwlite("train", "more", "-i", "m", "-m", "m")) == []  # which is only a part of the data


def many(namespace, words, count=300):
    chance = random.Random(2)
    lines = []
    for _ in range(count):
        found = chance.sample(range(words), 8)
        lines.append(f"{1 if min(found) < words // 16 else -1} |{namespace} {' '.join(f'w{i}' for i in found)}\n")
    return "".join(lines)


@pytest.mark.parametrize("form", ["vw", "libsvm"])
@pytest.mark.parametrize(
    "options",
    ["", "-q ::", "--algorithm ftrl --l1 3", "--algorithm truncated-gradient --l1 0.05", "--save-weights-only",
     "--algorithm adagrad --nonzeros 10", "--loss squared --average --algorithm sgd"],
)
def test_data_that_the_model_hardly_knows_is_reported(vwlite, options, form):
    def text(namespace, first):
        lines = many(namespace, 100)
        if form == "vw":
            return lines
        rows = [line.split(f" |{namespace} ") for line in lines.splitlines()]
        return "".join(
            f"{y} {' '.join(f'{first + i}:1' for i in sorted(int(w[1:]) for w in x.split()))}\n" for y, x in rows
        )

    train(vwlite, text("text", 1), "--loss", "logistic", *options.split())
    notes, results = predict(vwlite, text("text", 1))
    assert notes == []
    assert results["examples_of_unknown_features"] < 60
    notes, results = predict(vwlite, text("words", 1000))
    assert notes == [
        "100 % of the features of the data are unknown to m: are names and namespaces the same as in training?"
    ]
    assert (results["share_of_unknown_features"], results["examples_of_unknown_features"]) == (1, 300)
    assert notes_of(vwlite("predict", "-m", "m", "data", "--quiet")) == []


def test_the_share_of_unknown_features_is_exact(vwlite):
    train(vwlite, "1 |a x y |b z\n-1 |a y\n")
    data = "|a x y |b z\n|a x u |c z v\n|d x\n|a x:0\n\n|b\n|b z\n"
    notes, results = predict(vwlite, data)
    assert results["share_of_unknown_features"] == round(4 / 9, 6)
    assert results["examples_of_unknown_features"] == 1
    unseen = "namespace {}: none of its {} features was seen in training"
    assert notes == [unseen.format("c", 2), unseen.format("d", 1)]
    notes, results = predict(vwlite, data + "|d x y z\n")
    assert results["share_of_unknown_features"] == round(7 / 12, 6)
    assert notes == [
        "58 % of the features of the data are unknown to m: are names and namespaces the same as in training?",
        unseen.format("c", 2), unseen.format("d", 3),
    ]


def test_quiet_runs_have_no_notes_but_in_the_report(vwlite):
    Path("data").write_text(LINES)
    assert vwlite("train", *GD, "data", "--keep", "z", "--quiet", "--report", "report").err == ""
    assert len(json.loads(Path("report").read_text())["notes"]) == 1


@pytest.mark.parametrize("label", ["0", "2", "3"])
def test_advice_about_labels_does_not_contradict_what_was_seen(vwlite, label):
    Path("data").write_text(f"-1 |a x\n1 |a y\n{label} |a z\n")
    said = vwlite("train", *GD, "data", "--loss", "logistic", code=65).err
    assert f"data:3:1: label {label}: logistic needs -1 or 1; " in said
    assert "; for more classes --oaa K" in said
    assert "labels NEG" in said or "; if all are " in said


def coded(negative, positive, more=""):
    return "".join(f"{positive} |a x{i} y\n{negative} |a z{i} w\n" for i in range(4)) + more


@pytest.mark.parametrize(
    ("options", "own", "expects"),
    [
        ("--loss logistic", "-1 1", "-1 or 1"),
        ("--loss logistic --labels 0,1", "0 1", "0 or 1, as it was trained with --labels"),
        ("--labels 2,3", "2 3", "2 or 3, as it was trained with --labels"),
        ("--loss logistic --oaa 2", "1 2", "1, 2"),
        ("--oaa 3 --classes red,green,blue", "red green", "red, green, blue"),
    ],
)
@pytest.mark.parametrize("pair", ["-1 1", "0 1", "1 2", "2 3", "4 5"])
@pytest.mark.parametrize("form", ["vw", "libsvm", "csv"])
def test_labels_of_another_coding_are_an_error(vwlite, options, own, expects, pair, form):
    """No accuracy of those that fit by chance; with --on-error skip there are predictions, and a note."""

    def write(pair):
        text = coded(*pair.split())
        if form == "libsvm":
            text = re.sub(r" \|a (\w)(\d) \w", lambda m: f" {ord(m[1])}:1 20{m[2]}:1", text)
        if form == "csv":
            text = "label,a\n" + re.sub(r" \|a (\w)\d (\w)", r",\1", text)
        name = f"data.{form}"
        Path(name).write_text(text)
        return name

    table = ["--label", "label"] if form == "csv" else []
    vwlite("train", *GD, write(own), *options.split(), *table, "-m", "m")
    same = pair == own
    foreign = write(pair)
    Path("p").write_text("old")
    done = vwlite("predict", "-m", "m", foreign, "-p", "p", code=0 if same else 65)
    assert (Path("p").read_text() == "old") == (not same)
    skipped = vwlite("predict", "-m", "m", foreign, "-p", "p", "--on-error", "skip", "--report", "r")
    assert Path("p").read_text().count("\n") == 8
    results = json.loads(Path("r").read_text())["results"]
    assert ("accuracy" in results) == ("accuracy" in skipped.err) == same
    assert notes_of(skipped) == json.loads(Path("r").read_text())["notes"]
    if same:
        assert notes_of(skipped) == []
        return
    assert results["labels_that_the_model_does_not_have"] == 8 - 4 * len({*own.split()} & {*pair.split()})
    data, other = done.err.removeprefix("the labels of the data, ").split(", do not match m, which expects ")
    named = dict(re.fullmatch(r"(\S+)(?: \((.+)\))?", label).groups() for label in data.split(" and "))
    assert sorted(named) == sorted(pair.split())
    lines = Path(foreign).read_text().splitlines()
    for label, place in named.items():  # one that the model knows has none
        first = next(i for i, line in enumerate(lines, 1) if label in re.split("[ ,]", line)[:1])
        assert place in (f"{foreign}:{first}", None) and (place or label in own.split())
    assert other == f"{expects}: change the labels, or remove them; --on-error skip predicts without evaluating\n"
    assert notes_of(skipped) == [done.err.partition(": change")[0] + ": nothing is evaluated"]


@pytest.mark.parametrize("command", ["predict", "evaluate", "worst"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "arrow", "parquet"])
def test_labels_of_tables_that_do_not_match_have_places(vwlite, kind, command):
    """The lines, or rows, where each is first: 2,000 lines of a known label come before, and others after."""
    rows = [(0, 1.5)] * 2000 + [(5, 2), (0, 1), (7, 3), (5, 1), (7, 2)]
    Path("train.csv").write_text("y,a\n" + "1,1\n0,2\n" * 4)
    vwlite("train", *GD, "train.csv", "--label", "y", "--labels", "0,1", "--loss", "logistic", "-m", "m")
    if kind in ("arrow", "parquet"):
        pa = pytest.importorskip("pyarrow")
        table = pa.table({"y": [y for y, _ in rows], "a": [a for _, a in rows]})
        if kind == "parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, "d.parquet")
        else:
            with pa.OSFile("d.arrow", "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
    elif kind == "jsonl":
        Path("d.jsonl").write_text("".join(json.dumps({"y": y, "a": a}) + "\n" for y, a in rows))
    else:
        between = "," if kind == "csv" else "\t"
        Path(f"d.{kind}").write_text("".join(f"{y}{between}{a}\n" for y, a in [("y", "a"), *rows]))
    head = int(kind in ("csv", "tsv"))
    said = vwlite(command, "-m", "m", f"d.{kind}", code=None).err
    assert f"the labels of the data, 5 (d.{kind}:{2001 + head}) and 7 (d.{kind}:{2003 + head}), ..., do not" in said


@pytest.mark.parametrize("threads", [1, 2])
def test_a_few_labels_that_do_not_fit_are_counted(vwlite, threads):
    Path("data").write_text(coded(-1, 1, "7 |a x1\n|a x2\nx |a x1\n" * 2))
    vwlite("train", *GD, "data", "--loss", "logistic", "-m", "m", "--on-error", "skip")
    Path("data").write_text(coded(-1, 1, "7 |a x1\n|a x2\n" * 2))
    done = vwlite("predict", "-m", "m", "data", "-p", "p", "--threads", threads)
    assert notes_of(done) == [
        "2 of 10 labels, such as 7 (data:9), are unknown to m: it expects -1 or 1; they are not evaluated"
    ]
    assert "unlabelled examples = 4\n" in done.err
    assert "accuracy = 1 (" in done.err


def test_one_value_in_every_line_may_fill_the_place_of_the_label(vwlite):
    Path("data").write_text(coded(-1, 1))
    vwlite("train", *GD, "data", "--loss", "logistic", "-m", "m")
    Path("data").write_text(coded(0, 0))
    done = vwlite("predict", "-m", "m", "data", "-p", "p")
    said = "8 of 8 labels, such as 0 (data:1), are unknown to m: it expects -1 or 1; they are not evaluated"
    assert notes_of(done) == [said]
    assert "accuracy" not in done.err
    Path("data").write_text(coded(0, 0).replace("0 |", "|"))
    assert notes_of(vwlite("predict", "-m", "m", "data", "-p", "p")) == []


def test_the_table_shows_labels_as_they_are_in_the_data(vwlite):
    """And predictions as they are written: with --link logistic a label is not a probability."""
    Path("data").write_text(coded(0, 1))
    options = ("--loss", "logistic", "--labels", "0,1", "--link", "logistic")
    err = vwlite("train", *GD, "data", *options, "-p", "p", "-P", 1).err
    rows = [line.split() for line in err.splitlines() if re.match(r"\d\.\d{6} ", line)]
    assert [row[4] for row in rows] == ["1.0000", "0.0000"] * 4
    assert [row[5] for row in rows] == [f"{float(p):.4f}" for p in Path("p").read_text().split()]


@pytest.mark.parametrize("options", ["--l1-of-max 0.5", "--l1 0.02", "--radius 1", "--nonzeros 3"])
def test_a_model_that_dropped_features_is_not_blamed_for_it(vwlite, options):
    """The header says how many features the training had; so does a model continued from it."""
    Path("data").write_text(many("text", 100))
    vwlite("solve", "data", "--loss", "logistic", *options.split(), "-m", "m")
    model = read_model("m")
    features = {word for line in Path("data").read_text().splitlines() for word in line.split()[2:]}
    assert model.seen == len(features) > 3 * len(model.keys)
    notes, results = predict(vwlite, many("text", 100))
    assert results["share_of_unknown_features"] > 0.6
    assert notes == []
    vwlite("train", "data", "-i", "m", "-m", "m2", "--algorithm", "sgd")
    assert read_model("m2").seen == 0  # it knows them all now
    notes, results = predict(vwlite, many("words", 100))
    kept = sum(key != 11650396 for key in model.keys)
    assert results["share_of_unknown_features"] == 1
    assert notes == [
        f"no example has any of the {kept} features that m has, of {len(features)} seen in training: are names and "
        "namespaces the same as in training?"
    ]
    Path("few").write_text("1 |text w1\n")
    vwlite("train", "few", "-i", "m", "-m", "m3", "--algorithm", "sgd")
    assert read_model("m3").seen == len(features)


def test_a_model_of_an_older_program_says_only_what_is_known(vwlite):
    """That of `vwlite solve` 0.1.0 has no number of features seen."""
    Path("data").write_text(many("text", 100))
    vwlite("solve", "data", "--loss", "logistic", "--nonzeros", 3, "-m", "m")
    model = read_model("m")
    model.seen = 0
    save("m", model)
    assert notes_of(vwlite("predict", "-m", "m", "data")) == []
    notes, _ = predict(vwlite, many("words", 100))
    assert re.sub(r"\d", "N", *notes) == (
        "no example has any of the N features that m has: are names and namespaces the same as in training?"
    )


@pytest.mark.parametrize(
    ("labels", "options"),
    [
        ((-1, 1), "--loss logistic"), ((0, 1), "--loss logistic --labels 0,1"), ((-1, 1), "--loss hinge"),
        ((-1, 1), "--loss squared-hinge"), ((-1, 1), "--loss squared"), ((3, 7.5), "--loss squared"),
        ((3, 7.5), "--loss quantile --quantile-tau 0.3"), ((3, 9), "--loss huber --huber-delta 2"),
        ((1, 2, 5, 9.5), "--loss squared"), ((0, 2), "--loss poisson"), ((0, 1, 2), "--loss poisson"),
        ((1, 2, 5, 9.5), "--loss quantile --quantile-tau 0.8"), ((1, 2, 5, 9.5), "--loss huber --huber-delta 0.5"),
    ],
)
def test_a_loss_above_that_of_a_constant_is_reported(vwlite, labels, options):
    """The best constant is looked for on a grid; labels that come from nowhere, and steps that are too large."""
    chance = random.Random(3)
    ys = chance.choices(labels, weights=range(1, len(labels) + 1), k=200)

    def features():
        return " ".join(f"w{chance.randrange(9)}:{chance.gauss(0, 1)}" for _ in range(5))

    text = "".join(f"{y} {chance.choice([1, 2])} |a {features()}\n" for y in ys)
    importances = [int(line.split()[1]) for line in text.splitlines()]
    settings = Settings.of("sgd")
    typed = dict(zip(options.replace("--", "").split()[::2], options.split()[1::2], strict=True))
    tau, delta = float(typed.get("quantile-tau", 0.5)), float(typed.get("huber-delta", 1))
    loss = make_loss(replace(settings, loss=typed["loss"], quantile_tau=tau, huber_delta=delta))
    own = [(-1, 1)[labels.index(y)] if "labels" in typed else y for y in ys]
    best = min(
        sum(w * loss(p / 500, y) for w, y in zip(importances, own, strict=True)) / sum(importances)
        for p in range(-1500, 5001, 5)
    )
    zero = sum(w * loss(0, y) for w, y in zip(importances, own, strict=True)) / sum(importances)

    def run(rate, lines=400):
        Path("data").write_text("".join(f"{line}\n" for line in text.splitlines()[:lines]))
        command = ["--algorithm", "sgd", "-l", rate, "--power-t", 0, "--report", "report"]
        done = vwlite("train", "data", *options.split(), *command, code=None)
        if done.code:
            return [], {"average_loss": 0.0}
        results = json.loads(Path("report").read_text())["results"]
        return [note for note in notes_of(done) if "constant" in note], results

    for rate in (round(0.01 * 1.2**k, 3) for k in range(40)):  # the first that is too large, and does not diverge
        notes, results = run(rate)
        if results["average_loss"] > 1.2 * max(best, zero):
            break
    assert results["average_loss_of_the_baseline"] == pytest.approx(best, rel=1e-3)
    assert results["average_loss_of_the_baseline"] <= best * (1 + 1e-12)
    but = f", but that of the best constant prediction {results['average_loss_of_the_baseline']:.6g}: "
    said = f"the average loss is {results['average_loss']:.6g}{but}"
    assert notes == [f"{said}try a smaller --learning-rate (it is {rate:g}), or scale the features"]
    assert run(rate, 99)[0] == []
    notes, results = run(1e-9)
    said = f"the average loss is {results['average_loss']:.6g}{but}"
    assert results["average_loss"] == pytest.approx(zero, rel=1e-4)
    or_auto = "use --algorithm auto, which scales labels, or " if LOSSES[typed["loss"]].labels == "any" else ""
    larger = "a larger --learning-rate (it is 1e-09), more --passes, or less regularization"
    hardly = f"the model has hardly learned anything: {or_auto}try {larger}"
    assert notes == ([f"{said}{hardly}"] if zero > 1.0005 * best else [])


def test_classes_are_compared_with_the_most_frequent_one(vwlite):
    chance = random.Random(4)
    ys = chance.choices(["red", "green", "blue"], weights=[8, 1, 1], k=300)
    text = "".join(f"{y} |a w{chance.randrange(5)}:{chance.gauss(0, 30)}\n" for y in ys)
    options = ["--oaa", 3, "--classes", "auto", "--algorithm", "pa", "--loss", "hinge"]
    notes, results = train(vwlite, text, *options)
    assert results["average_loss_of_the_baseline"] == pytest.approx(1 - ys.count("red") / 300, abs=0.01)
    assert notes == [
        f"the average loss is {results['average_loss']:.6g}, but that of the best constant prediction "
        f"{results['average_loss_of_the_baseline']:.6g}: scale the features"
    ]


@pytest.mark.parametrize("options", [(), ("--algorithm", "gd", "--normalize", "center")], ids=["auto", "gd"])
@pytest.mark.parametrize("name", ["t.csv", "t.vw"])
def test_columns_of_one_value_were_seen_in_training(vwlite, name, options):
    """Centered, they are 0 in each row, and have no weight."""
    rows = [(7, 1, i, i > 49) for i in range(100)]
    table = "country,version,x,y\n" + "".join(f"{a},{b},{x},{y:d}\n" for a, b, x, y in rows)
    lines = "".join(f"{y:d} |a country:{a} |b version:{b} |c x:{x}\n" for a, b, x, y in rows)
    Path(name).write_text(table if name == "t.csv" else lines)
    vwlite("train", name, "-m", "m", *(["--label", "y"] if name == "t.csv" else []), *options)
    assert read_model("m").settings.normalize == "none"
    assert not notes_of(vwlite("evaluate", "-m", "m", name))
    shown = vwlite("weights", "m").out
    assert "country^country\t" not in shown and "version" not in shown.replace("version?", "")


@pytest.mark.parametrize(("labels", "meant"), [
    ((0, 1, 2, 5), "4 different labels, all whole numbers: if they are classes, add --oaa 4 --classes auto; if they "
                   "are counts, add --loss poisson"),
    (range(120), "at least 101 different labels, all whole numbers: if they are counts, add --loss poisson"),
    (range(500, 700), ""), ((0, 0.5, 1), ""), ((0, 1), ""),
])
def test_whole_numbers_may_be_counts(vwlite, labels, meant):
    Path("t.csv").write_text("y,x\n" + "".join(f"{labels[i % len(labels)]},{i % 11}\n" for i in range(400)))
    said = vwlite("train", "t.csv", "--label", "y", "-m", "m").err
    assert (f"note: there are {meant}\n" in said) if meant else ("whole numbers" not in said)
