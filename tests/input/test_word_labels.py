"""Two words as labels: `--labels ham,spam` learns what -1 and 1 teach, and the words stay in the model."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from running import GD
from six_decimals import near

from vwlite import load_model
from vwlite.model import read_model

ROWS = [("spam", 1, 2.5), ("ham", 3, 4.0), ("spam", 1, 0.5), ("ham", 4, 1.0), ("ham", 3, 2.0), ("spam", 2, 1.5)] * 5


pytestmark = pytest.mark.usefixtures("folder")


def write(form, negative, positive):
    """The rows with these labels, in a file."""
    rows = [({"ham": negative, "spam": positive}[y], a, x) for y, a, x in ROWS]
    name = f"data.{form}"
    if form == "vw":
        text = "".join(f"{y} 2 't{a} |n a{a} x:{x}\n" for y, a, x in rows)
    elif form == "libsvm":
        text = "".join(f"{y} {a}:1 9:{x}\n" for y, a, x in rows)
    elif form in ("csv", "tsv"):
        between = {"csv": ",", "tsv": "\t"}[form]
        text = "".join(between.join(map(str, row)) + "\n" for row in [("y", "a", "x"), *rows])
    elif form == "jsonl":
        text = "".join(json.dumps({"y": y, "a": a, "x": x}) + "\n" for y, a, x in rows)
    else:
        pa = pytest.importorskip("pyarrow")
        table = pa.table({name: list(column) for name, column in zip("yax", zip(*rows, strict=True), strict=True)})
        __import__(f"pyarrow.{form if form == 'parquet' else 'feather'}")
        if form == "parquet":
            pa.parquet.write_table(table, name)
        else:
            pa.feather.write_feather(table, name)
        return name
    Path(name).write_text(text)
    return name


FORMS = ["vw", "libsvm", "csv", "tsv", "jsonl", "parquet", "arrow"]


def same_but_for_labels(one, other):
    one, other = read_model(one), read_model(other)
    assert one.weights.tolist() == other.weights.tolist() and one.keys.tolist() == other.keys.tolist()
    assert {**one.options, "labels": None} == {**other.options, "labels": None}
    assert one.counters == other.counters
    return one.settings.labels, other.settings.labels


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("command", ["train", "solve"])
def test_two_words_teach_what_minus_one_and_one_do(vwlite, form, command):
    table = ["--label", "y"] if form not in ("vw", "libsvm") else []
    more = ["--l2", "0.1"] if command == "solve" else [*GD, "--link", "logistic"]
    options = ["--loss", "logistic", *table, *more]
    vwlite(command, write(form, -1, 1), *options, "-m", "numbers")
    numbers = vwlite("predict", "-m", "numbers", f"data.{form}")
    vwlite(command, write(form, "ham", "spam"), *options, "--labels", "ham,spam", "-m", "words")
    assert same_but_for_labels("words", "numbers") == (("ham", "spam"), None)
    words = vwlite("predict", "-m", "words", f"data.{form}")
    assert words.out == numbers.out
    assert re.sub("seconds.*", "", words.err) == re.sub("seconds.*", "", numbers.err)
    assert "accuracy" in words.err
    if command == "train":
        vwlite("train", f"data.{form}", "-i", "words", "-m", "words")
        vwlite("train", f"data.{form}", "-i", "words", "-m", "words", "--labels", "ham,spam")
        err = vwlite("train", f"data.{form}", "-i", "words", "-m", "words", "--labels", "spam,ham", code=2).err
        assert "--labels spam,ham contradicts the model words, which was trained with ham,spam" in err


@pytest.mark.parametrize("form", FORMS)
def test_without_the_option_the_error_names_it_with_the_words(vwlite, form):
    table = ["--label", "y"] if form not in ("vw", "libsvm") else []
    err = vwlite("train", *GD, write(form, "ham", "spam"), *table, code=65).err.splitlines()[-1]
    assert err.endswith(" is not a number; add --labels ham,spam, the negative one first")
    err = vwlite("train", *GD, f"data.{form}", *table, "--on-error", "skip", "--allow-empty").err
    assert err.count("add --labels ham,spam, the negative one first (skipped)\n") == 5
    err = vwlite("train", *GD, write(form, "spam", "spam"), *table, code=65).err.splitlines()[-1]
    assert err.endswith(" is not a number; for two words add --labels NEG,POS, one of them spam")
    Path("data.vw").write_text("a |x\nc |x\nb |x\nd |x\n")
    err = vwlite("train", *GD, "data.vw", code=65).err.splitlines()[-1]
    assert err.endswith("; for more than two words, such as a, b, c, add --oaa K --classes auto")
    Path("data.vw").write_text("1 |x\nc |x\nb |x\n")
    assert vwlite("train", *GD, "data.vw", code=65).err.endswith("label 'c' is not a number\n")


def test_a_third_word_is_a_bad_line(vwlite):
    Path("data").write_text("spam |a x\nSpam |a x\nham |a y\n1 |a x\n")
    options = ["--labels", "ham,spam", "--loss", "logistic"]
    assert vwlite("train", *GD, "data", *options, code=65).err.splitlines()[-1] == (
        "data:2:1: label Spam: expected ham or spam, as in --labels"
    )
    vwlite("train", *GD, "data", *options, "--on-error", "skip", "-m", "m", "--cache-file", "c")
    assert read_model("m").counters["examples"] == 2
    err = vwlite("train", *GD, "data", *options, "--on-error", "skip", "-m", "m2", "--cache-file", "c").err
    assert "2 bad lines skipped when c was made" in err
    assert Path("m").read_bytes() == Path("m2").read_bytes()
    rows = [line.split()[4] for line in err.splitlines() if re.match(r"\d\.\d{6} ", line)]
    assert rows == ["spam", "ham"]
    Path("other").write_text("1 |a x\n-1 |a y\n")
    assert vwlite("predict", "-m", "m", "other", "-p", "p", code=65).err.startswith(
        "the labels of the data, 1 (other:1) and -1 (other:2), do not match m, which expects ham or spam, as it was "
    )
    Path("one").write_text("spam |a x\nspam |a x\n")
    assert "note: every example has the label spam: learning" in vwlite("train", *GD, "one", "--labels", "ham,spam").err
    assert "note: every label is ham or spam, and --loss squared" in vwlite(
        "train", *GD, "data", "--labels", "ham,spam", "--on-error", "skip").err


def test_booleans_are_words(vwlite):
    Path("a.jsonl").write_text('{"y": true, "x": 1}\n{"y": false, "x": 2}\n')
    vwlite("train", *GD, "a.jsonl", "--label", "y", "--labels", "false,true", "-m", "words")
    vwlite("train", *GD, "a.jsonl", "--label", "y", "--labels", "0,1", "-m", "numbers")
    same_but_for_labels("words", "numbers")


def test_the_order_of_words_is_that_of_their_meaning_and_the_model_keeps_it(vwlite):
    rows = [(i * 7 % 100 / 100, "Ja" if i * 7 % 100 > 80 - i % 9 else "Nein") for i in range(200)]
    Path("t.csv").write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in rows))
    said = vwlite("train", "t.csv", "--label", "y", "-m", "m").err
    assert "loss = logistic, predicts the probability of Ja; --labels Ja,Nein for the other\n" in said
    assert read_model("m").settings.labels == load_model("m").labels == ("Nein", "Ja")
    shares = [float(p) for p in vwlite("predict", "-m", "m", "t.csv", "--quiet").out.split()]
    assert sum(p for p, (x, _) in zip(shares, rows, strict=True) if x > 0.9) > 15 > 3 > sum(
        p for p, (x, _) in zip(shares, rows, strict=True) if x < 0.5)
    assert load_model("m").predict_proba([{"x": 0.99}])[0, 1] > 0.5
    vwlite("train", "t.csv", "--label", "y", "--labels", "Ja,Nein", "-m", "other", "--quiet")
    other = [float(p) for p in vwlite("predict", "-m", "other", "t.csv", "--quiet").out.split()]
    assert other == pytest.approx([1 - p for p in shares], abs=0.02)
    for name, order in (("m", ("Nein", "Ja")), ("other", ("Ja", "Nein"))):
        vwlite("train", "t.csv", "-i", name, "-m", "continued", "--quiet")
        assert read_model("continued").settings.labels == order
        vwlite("train", "t.csv", "--continue", name, "--quiet")
        assert read_model(name).settings.labels == order
    found = json.loads(vwlite("describe", "t.csv", "--label", "y", "--json").out)
    assert "--labels Nein,Ja" in found["next"]
    assert "add --labels Nein,Ja, the negative one first" in vwlite("train", *GD, "t.csv", "--label", "y", code=65).err


def test_describe_says_that_the_rarer_word_is_positive(vwlite):
    for often, rarely in (("B", "A"), ("A", "B")):
        Path("t.csv").write_text("x,y\n" + "".join(f"{i % 7},{rarely if i % 5 == 0 else often}\n" for i in range(60)))
        command = json.loads(vwlite("describe", "t.csv", "--label", "y", "--json").out)["next"]
        assert f"--labels {often},{rarely} " in command
        vwlite(*command.split()[1:], "--quiet")
        assert read_model("t.model").settings.labels == (often, rarely)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "vw"])
@pytest.mark.parametrize(("rarely", "often"), [(True, False), ("Nein", "Ja"), ("left", "here")])
def test_the_command_of_describe_learns(vwlite, form, rarely, often):
    rows = [{"x": i % 7, "y": rarely if i % 5 == 0 else often} for i in range(60)]
    if form == "parquet":
        pa = pytest.importorskip("pyarrow")
        __import__("pyarrow.parquet").parquet.write_table(pa.Table.from_pylist(rows), "t.parquet")
    elif form == "jsonl":
        Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        line = "{x},{y}\n" if form == "csv" else "{y} |x x:{x}\n"
        Path(f"t.{form}").write_text("x,y\n" * (form == "csv") + "".join(line.format(**row) for row in rows))
    options = ["--label", "y"] if form != "vw" else []
    command = json.loads(vwlite("describe", f"t.{form}", *options, "--json").out)["next"]
    vwlite(*command.split()[1:], "--quiet")
    positive = {True: 1.0 if form in ("jsonl", "parquet") else "True", "Nein": "Ja", "left": "left"}[rarely]
    assert read_model("t.model").settings.labels[1] == positive


@pytest.mark.parametrize("labels", ["ham", "a,b,c", "a,a", "a,", ",", "a\x01,b", '"a,b', "1,1", "nan,1"])
def test_labels_that_cannot_be(vwlite, labels):
    Path("data").write_text("1 |a x\n")
    assert "--labels" in vwlite("train", *GD, "data", "--labels", labels, code=2).err


def test_a_number_and_a_word_are_two_words(vwlite):
    Path("data").write_text("1 |a x\nx |a y\n")
    vwlite("train", *GD, "data", "--labels", "x,1", "-m", "m")
    assert read_model("m").settings.labels == ("x", "1")
    Path("data").write_text("1.0 |a x\n")  # which is the word 1
    vwlite("train", *GD, "data", "--labels", "x,1")
    Path("data").write_text("1.10 |a x\n")
    vwlite("train", *GD, "data", "--labels", "x,1", code=65)


def test_words_are_kept_by_exports_merges_and_python(vwlite):
    write("vw", "ham", "spam")
    options = ["--labels", "ham,spam", "--loss", "logistic"]
    vwlite("train", *GD, "data.vw", *options, "-m", "m")
    expected = vwlite("predict", "-m", "m", "data.vw").out
    for kind in ("tsv", "json"):
        vwlite("export", "m", "--to", kind, "-o", "table")
        vwlite("import", "table", "-o", "back")
        assert read_model("back").settings.labels == ("ham", "spam")
        assert vwlite("predict", "-m", "back", "data.vw").out == expected
    vwlite("export", "m", "--to", "python", "-o", "p.py")
    data = Path("data.vw").read_bytes()
    found = subprocess.run([sys.executable, "p.py"], input=data, capture_output=True, check=True)
    assert near(found.stdout.decode(), expected)
    assert "LABELS = ('ham', 'spam')" in Path("p.py").read_text()
    vwlite("export", "m", "--to", "c", "-o", "p.h")
    assert '#define VWLITE_NEGATIVE "ham"\n#define VWLITE_POSITIVE "spam"\n' in Path("p.h").read_text()
    vwlite("export", "m", "--to", "sql", "-o", "p.sql")
    assert "(1, 'spam', " in Path("p.sql").read_text()
    for i in (1, 2):
        vwlite("train", "data.vw", *options, "-m", f"m{i}", "--power-t", i / 4)
    vwlite("train", *GD, "data.vw", *options, "-m", "m1")
    Path("other.vw").write_text("spam |n a1\nham |n a7\n")
    vwlite("train", *GD, "other.vw", *options, "-m", "m2")
    vwlite("merge", "m1", "m2", "--holdout", "data.vw", "-o", "merged")
    assert read_model("merged").settings.labels == ("ham", "spam")
    model = load_model("m")
    assert model.labels == ("ham", "spam") and model.classes is None
    lines = [line.split()[0] for line in expected.splitlines()]
    assert [f"{x:.6g}" for x in model.predict_lines(Path("data.vw").read_text())] == [f"{float(x):.6g}" for x in lines]


def test_check_knows_them(vwlite):
    write("vw", "ham", "spam")
    assert "every line valid" in vwlite("check", "data.vw", "--labels", "ham,spam").out
    assert "add --labels ham,spam" in vwlite("check", "data.vw", "--loss", "squared", code=1).out
