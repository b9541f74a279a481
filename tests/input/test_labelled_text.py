"""Lines of fastText: the same as a table of a label and a text, in every command; bare lines for its models."""

import csv
import gzip
import io
import random
from pathlib import Path

import pytest
from lines import write
from running import finish, start

from vwlite.serve.served import Served

pytestmark = pytest.mark.usefixtures("folder")

LEARN = ("--algorithm", "adagrad", "--loss", "logistic", "--oaa", "5", "--classes", "auto", "--quiet")
WORDS = ["Card", "LOST", "where's", "é|b", 'say "hi"', "a,b", "x:1", "{", "__label", "don't|", "٣", "NA"]


def drawn(seed: int, count: int = 300, labels: int = 5) -> list[tuple[str, str]]:
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        k = draw.randrange(labels)
        text = " ".join(draw.choice(WORDS) if draw.random() < 0.5 else f"w{k}" for _ in range(draw.randrange(1, 8)))
        found.append((f"l{k},é", text))
    return found


def as_lines(rows: list[tuple[str, str]], end: str = "\n") -> bytes:
    return "".join(f"__label__{label} {text}{end}" for label, text in rows).encode()


def as_table(rows: list[tuple[str, str]]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([("label", "text"), *rows])
    return out.getvalue()


@pytest.fixture
def model(vwlite):
    """A model of lines, and one of the table that they mean, which predict files of both."""
    rows = drawn(1)
    vwlite("train", write("lines.txt", as_lines(rows)), *LEARN, "-m", "m")
    table = ("--label", "label", "--text", "text", "--missing", "")
    vwlite("train", write("table.csv", as_table(rows)), *table, *LEARN, "-m", "of_table")
    return "m"


def predicted(vwlite, model: str, *typed: object) -> str:
    return str(vwlite("predict", "-m", model, *typed, "--probabilities", "--output-format", "csv", "--quiet").out)


@pytest.mark.parametrize("end", ["\n", "\r\n", " \t\n"])
def test_lines_are_rows_of_a_table_of_a_label_and_a_text(vwlite, model, blocks_of, end):
    rows = drawn(2)
    write("new.csv", as_table(rows))
    write("new.txt", as_lines(rows, end).strip())
    write("new.txt.gz", gzip.compress(as_lines(rows, end)))
    expected = predicted(vwlite, "of_table", "new.csv")
    for name in ("m", "of_table"):
        for file in ("new.csv", "new.txt", "new.txt.gz"):
            assert predicted(vwlite, name, file) == expected
    blocks_of(100)
    assert predicted(vwlite, model, "new.txt", "--threads", 3) == expected
    assert vwlite("evaluate", "-m", "m", "new.txt", "--json").out == \
        vwlite("evaluate", "-m", "of_table", "new.csv", "--json").out
    roles = ("--label", "label", "--text", "text", "--missing", "")
    assert vwlite("convert", "new.txt").out == vwlite("convert", "new.csv", *roles).out


def test_lines_without_labels_are_predicted_alike(vwlite, model):
    rows = drawn(3)
    bare = write("bare", "".join(f"{text}\n" for _, text in rows))
    expected = vwlite("predict", "-m", "m", write("new.txt", as_lines(rows)), "--quiet").out
    assert vwlite("predict", "-m", "m", bare, "--quiet").out == expected
    assert vwlite("predict", "-m", "of_table", bare, "--format", "text", "--quiet").out == expected
    done = finish(start("predict", "-m", "m", "--quiet"), Path("bare").read_bytes())
    assert done.out == expected
    served = Served("m")
    assert served.text(Path("bare").read_bytes())[0].decode() == expected


def test_auto_learns_classes_or_two_labels(vwlite):
    rows = drawn(4, 200)
    vwlite("train", write("five", as_lines(rows)), "-m", "m", "--quiet")
    assert set(vwlite("predict", "-m", "m", "five", "--quiet").out.split()) <= {label for label, _ in rows}
    assert vwlite("check", "five").code == 0 and "label label: l" in vwlite("describe", "five").out
    for names in (("spam", "ham"), ("1", "2"), ("7", "-1.5")):
        two = [(names[label == "l0,é"], text) for label, text in drawn(5, 100, 2)]
        write("two", as_lines(two))
        vwlite("train", "two", "-m", "two.model", "--quiet")
        rows_of = csv.DictReader(io.StringIO(vwlite("predict", "-m", "two.model", "two", "--threshold", "0.5",
                                                    "--output-format", "csv", "--quiet").out))
        assert {row["prediction"] for row in rows_of} <= set(names)
        assert "AUC" in vwlite("evaluate", "-m", "two.model", "two").out


@pytest.mark.parametrize("line, column, message", [
    ("__label__l1 __label__l2 b", 13, "a second label"), ("__label__l1,__label__l2 b", 13, "a second label"),
    ("__label__l1__label__l2 b", 12, "a second label"), ("__label__l1 b __label__l2", 15, "a second label"),
    ("__label__l1 b __label__l2 c", 15, "a second label"), ("__label__l1 b,__label__l2", 15, "a second label"),
    ("b __label__l1", 3, "a label behind the text"), ("b__label__l1 c", 2, "a label behind the text"),
    ("é __label__", 4, "a label behind the text"),
])
@pytest.mark.parametrize("end", ["\n", ""])
def test_a_label_is_one_and_comes_first(vwlite, model, line, column, message, end):
    """Others are neither words nor classes; without the labels of the model they are words, as of any text."""
    write("late", f"__label__l0,é a\n{line}{end}")
    commands = ((65, "train", "late", "--format", "fasttext", *LEARN, "-m", "x"), (65, "predict", "-m", "m", "late"),
                (65, "evaluate", "-m", "m", "late"), (1, "check", "late"))
    for code, *command in commands:
        done = vwlite(*command, code=code)
        assert f"late:2:{column}: {message}" in done.err + done.out, command
    assert vwlite("predict", "-m", "m", "late", "--on-error", "skip", "--quiet").out.splitlines()[1] == ""
    write("text", f"{line}{end}")
    assert vwlite("predict", "-m", "of_table", "text", "--format", "text", "--quiet").out.count("\n") == 1


@pytest.mark.parametrize("text", ["__label_", "_label__ a", "a__labe", "__ __label _", "a __", "_" * 40])
def test_words_that_are_like_a_label_are_words(vwlite, model, text):
    """Not in the bytes behind the line, either."""
    write("words", f"__label__l0,é {text}\n__label__l0,é a\n")
    assert vwlite("predict", "-m", "m", "words", "--quiet").out.count("\n") == 2


def test_errors_have_a_place_and_a_way_out(vwlite, model):
    write("bad", "__label__l1 a\n\n__label__l1 __label__l2 b\nno label\n")
    assert vwlite("predict", "-m", "m", "bad", "--on-error", "skip", "--quiet").out.count("\n") == 4
    write("latin", b"__label__l1 caf\xe9\n")
    assert vwlite("predict", "-m", "m", "latin", code=65).err.startswith("latin:1:16: a byte that is not UTF-8")
    assert "--label y is for tables" in vwlite("train", "lines.txt", "--label", "y", "-m", "x", code=2).err
    said = vwlite("train", "lines.txt", "--format", "text", "-m", "x", code=65).err
    assert "\nlines.txt:1:1: lines of --format text have no labels" in said
    done = finish(start("train", "-m", "x"), as_lines(drawn(1)))
    assert done.code == 65 and "--format fasttext" in done.err
    write("two.csv", "label,text,n\n" + "l1,a b,1\nl2,c,2\n" * 9)
    vwlite("train", "two.csv", "--label", "label", "--text", "text", "--labels", "l1,l2", "-m", "wide", "--quiet")
    said = vwlite("predict", "-m", "wide", "bad", "--format", "text", code=65).err
    assert said.startswith("bad:1:1: these lines are one text each, ") and "the columns label, text, n" in said
    write("plain", "__label__a |f x\n__label__b |f y\n" * 9)  # VW text, as ever
    assert "columns:" not in vwlite("train", "plain", "-m", "vw").err
