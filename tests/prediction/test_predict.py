"""`vwlite predict`: the same however the lines arrive, each answered at once, finite or not, in each format."""

import csv
import io
import json
import math
import os
import select
from pathlib import Path

import pytest
from lines import text, write
from running import GD, PATIENT, finish, shell, start, with_gd

from vwlite.cli import run as program

pytestmark = pytest.mark.usefixtures("folder")


# --- lines as they arrive --------------------------------------------------------------------


@pytest.fixture
def model(vwlite):
    """A model; beside it data, and more of it."""
    write("data", text(1, 100))
    write("much", text(2, 1000))
    vwlite("train", *GD, "data", "-m", "model", "--quiet")
    return "model"


@pytest.mark.third
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(
    ("line", "reply"), [(b"1 'a|a x\n", b" a\n"), (b"|a x y\n", b"\n"), (b"1 3:1 5:2\n", b"\n"), (b"3:1\n", b"\n")]
)
def test_a_line_is_answered_before_the_next_one_comes(model, threads, line, reply):
    process = start("predict", "-m", model, "--threads", threads)
    try:
        for _ in range(3):
            process.stdin.write(line)
            process.stdin.flush()
            assert select.select([process.stdout], [], [], PATIENT)[0], "no answer"
            answer = os.read(process.stdout.fileno(), 1000)
            assert answer.endswith(reply)
            float(answer.split()[0])
        assert finish(process).code == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("option", ["-p", "-r"])
@pytest.mark.parametrize("lines", [[b"\n"], [b"|a x\n", b" \t\r\n", b"|a x\n"], [b"2:1\n", b"\n", b"# a comment\n"]])
def test_a_blank_line_is_answered_with_an_empty_one(model, lines, option):
    process = start("predict", "-m", model, *((option, "-") if option == "-p" else ("-p", os.devnull, "-r", "-")))
    try:
        for line in lines:
            process.stdin.write(line)
            process.stdin.flush()
            assert select.select([process.stdout], [], [], PATIENT)[0], "no answer"
            answer = os.read(process.stdout.fileno(), 1000)
            assert answer == b"\n" if line.strip()[:1] in (b"", b"#") else float(answer)
        assert finish(process).code == 0
    finally:
        process.kill()
        process.wait()


# --- predictions that are not finite ---------------------------------------------------------

HOSTILE = "'h| a:1e38 b:1e38"  # the product of the two is too large for a 32-bit float
INFINITE = "the prediction is not finite: feature values are too large for the model; scale them as in training"


@pytest.fixture
def products(vwlite):
    """A model with a weight for a product."""
    write("learned", "1 | a:1 b:1\n-1 | a:1\n" * 20)
    vwlite("train", *GD, "learned", "-q", "  ", "-m", "m", "--quiet")


def test_a_line_without_a_finite_prediction_ends_the_run_with_its_place(vwlite, products):
    write("d", f"1 't| a\n| b\n{HOSTILE}\n| a\n")
    expected = vwlite("predict", "-m", "m", write("good", "1 't| a\n| b\n"), "--quiet").out
    done = vwlite("predict", "-m", "m", "d", "--quiet", code=65)
    assert (done.out, done.err) == (expected, f"d:3:1: {INFINITE}\n")


@pytest.mark.parametrize(("size", "threads"), [(1 << 20, 2), (30, 1), (30, 3)])
def test_a_line_without_a_finite_prediction_is_skipped_as_other_bad_lines(
    vwlite, products, blocks_of, size, threads
):
    lines = ["1 't1| a b:2", HOSTILE, "-1 't3| b:3", "", "bad", "| a", f"1 {HOSTILE}", "1 't7| b"]
    at = {1: 1, 4: 1, 6: 1}
    write("d", "\n".join(lines))
    good = "\n".join(line for i, line in enumerate(lines) if i not in at)
    expected = vwlite("predict", "-m", "m", write("good", good), "--report", "r1")
    blocks_of(size)
    typed = ("-m", "m", "d", "--threads", threads, "--on-error", "skip", "--rejects", "rejects", "--report", "r2")
    done = vwlite("predict", *typed, "-r", "raw")
    rest = iter(expected.out.splitlines())
    assert done.out.splitlines() == ["" if i in at else next(rest) for i in range(len(lines))]
    assert [i for i, line in enumerate(Path("raw").read_text().splitlines()) if not line] == [1, 3, 4, 6]
    said = done.err.splitlines()
    assert (said[0], said[2]) == (f"d:2:1: {INFINITE} (skipped)", f"d:7:1: {INFINITE} (skipped)")
    assert said[1].startswith("d:5:1: no '|'") and said[3] == "3 bad lines skipped"
    assert Path("rejects").read_text() == f"{HOSTILE}\nbad\n1 {HOSTILE}\n"
    found, target = (json.loads(Path(name).read_text())["results"] for name in ("r2", "r1"))
    assert {**found, "seconds": 0} == {**target, "seconds": 0}


def test_too_many_lines_without_a_finite_prediction_end_the_run(vwlite, products):
    write("d", f"{HOSTILE}\n| a\n" * 4)
    done = vwlite("predict", "-m", "m", "d", "--on-error", "skip", "--max-errors", 2, "--quiet", code=65)
    assert done.err.splitlines()[-1] == f"d:5:1: {INFINITE}; that is bad line 3, --max-errors allows 2"


@pytest.mark.parametrize("options", [(), ("--probabilities",)])
def test_classes_without_finite_scores_are_bad_lines(vwlite, options):
    write("learned", "1 | a:1 b:1\n2 | a:1\n3 | b\n" * 20)
    vwlite("train", *GD, "learned", "-q", "  ", "--oaa", 3, "--loss", "logistic", "-m", "m", "--quiet")
    write("d", f"| a\n{HOSTILE}\n| b\n")
    expected = vwlite("predict", "-m", "m", write("good", "| a\n| b\n"), *options, "--quiet").out.splitlines()
    done = vwlite("predict", "-m", "m", "d", *options, "-r", "raw", "--on-error", "skip", "--quiet")
    assert done.out.splitlines() == [expected[0], "", expected[1]]
    assert [bool(line) for line in Path("raw").read_text().splitlines()] == [True, False, True]
    assert done.err == f"d:2:1: {INFINITE} (skipped)\n1 bad line skipped\n"


def test_a_record_of_a_table_without_a_finite_prediction_is_a_bad_line(vwlite):
    write("learned.csv", "y,a,b,note\n" + "1,1,1,x\n-1,1,0,y\n" * 20)
    vwlite("train", *GD, "learned.csv", "--label", "y", "-q", "ab", "-m", "m", "--quiet")
    write("d.csv", 'a,b,note\n1,1,"two\nlines"\n1e38,1e38,"two\nlines"\n0,1,x\n')
    done = vwlite("predict", "-m", "m", "d.csv", "--on-error", "skip", "--rejects", "rejects", "--quiet")
    assert [bool(line) for line in done.out.splitlines()] == [True, False, True]
    assert done.err.splitlines()[0] == f"d.csv:4:1: {INFINITE} (skipped)"
    assert Path("rejects").read_text() == '1e38,1e38,"two\nlines"\n'
    arrow = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    arrow.write_table(pa.table({"a": [1.0, 1e38, 0.0], "b": [1.0, 1e38, 1.0], "note": ["x", "y", "z"]}), "d.parquet")
    done = vwlite("predict", "-m", "m", "d.parquet", "--on-error", "skip", "--rejects", "rejects", "--quiet")
    assert [bool(line) for line in done.out.splitlines()] == [True, False, True]
    assert INFINITE in done.err and Path("rejects").read_text() == ""


def test_a_loss_or_a_linked_prediction_that_is_not_finite_is_a_bad_line(vwlite):
    write("learned", "3 |a x\n5 |a x y\n0 |a y\n" * 9)
    for loss in ("squared", "poisson"):
        vwlite("train", "learned", "--loss", loss, "--algorithm", "ftrl", "-m", loss, "--quiet")
    write("d", "|a x\n1e200 |a x\n|a x:1e5\n")
    done = vwlite("predict", "-m", "squared", "d", "--on-error", "skip", "--quiet")
    assert [bool(line) for line in done.out.splitlines()] == [True, False, True]
    assert "d:2:1: the loss of the prediction is not finite: the label is too far from" in done.err
    done = vwlite("predict", "-m", "poisson", "d", "--link", "poisson", "--on-error", "skip", "--quiet")
    assert [bool(line) for line in done.out.splitlines()] == [True, True, False]
    assert done.err.startswith(f"d:3:1: {INFINITE}")
    assert "inf" not in vwlite("predict", "-m", "poisson", "d", "--link", "identity", "--quiet").out


def test_a_service_continues_after_a_hostile_line(vwlite, products):
    done = shell(f"printf '%s\\n' '| a' \"{HOSTILE}\" '| b' | vwlite predict -m m --on-error skip --quiet | wc -l")
    assert done.out.split() == ["3"]


# --- rows of columns -------------------------------------------------------------------------

TAGS = ["plain", "a,b", 'quo"te', "semi;colon", "tab\\t", "ünï", "\udcff\udc80x", "\x01\x7f", "{", "[1]", "null"]


def rows_of(out, format):
    """The rows that a reader of the format finds, as lists of texts with "" for what is not there."""
    if format == "csv":
        return list(csv.DictReader(io.StringIO(out, newline=""), strict=True))
    found = []
    for line in out.splitlines():
        row = json.loads(line, parse_float=str, parse_int=str)
        row |= {f"probability_{name}": p for name, p in (row.pop("probabilities", None) or {}).items()}
        found.append({name: "" if x is None else x for name, x in row.items()})
    return found


def predicted(*typed):
    """The output of `vwlite predict`, as bytes of any kind."""
    assert program(["predict", *map(str, typed), "--quiet", "-p", "out"]) == 0
    return Path("out").read_bytes().decode("utf-8", "surrogateescape")


@pytest.mark.parametrize("format", ["csv", "json"])
@pytest.mark.parametrize("labels", ["-1,1", "0,1", "2.5,7", "ham,s\"pam"])
def test_rows_have_tag_label_score_and_probability(vwlite, format, labels):
    negative, positive = labels.split(",")
    lines = [f"{positive if i % 2 else negative} '{tag}|a x:{i} y\n" for i, tag in enumerate(TAGS)]
    lines += ["|a x\n", "\n", f"{positive} |a y\n"]
    Path("d").write_bytes("".join(lines).encode("utf-8", "surrogateescape"))
    vwlite("train", *GD, "d", "--loss", "logistic", "--labels", labels, "--link", "logistic", "-m", "m", "--quiet")
    with open("d", "a") as f:
        f.write("bad\n")
    more = ("-m", "m", "d", "--on-error", "skip")
    scores, probabilities = (predicted(*more, "--link", link).splitlines() for link in ("identity", "logistic"))
    rows = rows_of(predicted(*more, "--output-format", format), format)
    for link in ("identity", "logistic"):
        assert rows_of(predicted(*more, "--link", link, "--output-format", format), format) == rows
    assert [row["tag"] for row in rows] == [*TAGS, "", "", "", ""]
    known = [positive if i % 2 else negative for i in range(len(TAGS))]
    assert [row["label"] for row in rows] == [*known, "", "", positive, ""]
    for name, target in (("score", scores), ("probability", probabilities)):
        assert [row[name] for row in rows] == [line.split(" ")[0] for line in target]
    assert all(list(row) == ["tag", "label", "score", "probability"] for row in rows)


@pytest.mark.parametrize("format", ["csv", "json"])
@pytest.mark.parametrize(("loss", "link", "more"), [
    ("squared", "identity", []), ("poisson", "identity", []), ("poisson", "poisson", ["prediction"]),
    ("logistic", "glf1", ["probability", "prediction"]), ("hinge", "identity", []),
])
def test_columns_depend_on_loss_and_link(vwlite, format, loss, link, more):
    write("d", "1 |a x\n1 't|a x:2\n" * 5)
    vwlite("train", *GD, "d", "--loss", loss, "-m", "m", "--quiet")
    row = rows_of(predicted("-m", "m", "d", "--link", link, "--output-format", format), format)[1]
    assert list(row) == ["tag", "label", "score", *more]
    if "prediction" in more:
        assert row["prediction"] == predicted("-m", "m", "d", "--link", link).split()[1]
        score = float(row["score"])
        value = math.exp(score) if link == "poisson" else 2 / (1 + math.exp(-score)) - 1
        assert float(row["prediction"]) == pytest.approx(value, abs=2e-6 * value)


@pytest.mark.parametrize("format", ["csv", "json"])
@pytest.mark.parametrize("options", [("--classes", 'r,blue,n"x'), ("--oaa", 3)])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_rows_of_classes(vwlite, format, options, loss):
    names = options[1].split(",") if "--classes" in options else ["1", "2", "3"]
    write("d", "".join(f"{names[i % 3]} 't{i}|a x{i % 3}:{i % 5 + 1} y\n" for i in range(30)) + "|a x1\n\n")
    vwlite("train", *GD, "d", *options, "--loss", loss, "-m", "m", "--quiet")
    raw = vwlite("predict", "-m", "m", "d", "-r", "-", "-p", "text", "--quiet").out.splitlines()
    text = Path("text").read_text().splitlines()
    rows = rows_of(predicted("-m", "m", "d", "--output-format", format), format)
    probable = ["probability"] if loss == "logistic" else []
    assert all(list(row) == ["tag", "label", "class", "score", *probable] for row in rows)
    assert [row["label"] for row in rows] == [names[i % 3] for i in range(30)] + ["", ""]
    assert [" ".join(filter(None, (row["class"], row["tag"]))) for row in rows] == text
    for row, line in zip(rows, raw, strict=True):
        scores = dict(word.rsplit(":", 1) for word in line.split() if ":" in word)
        assert row["score"] == scores.get(row["class"], "")
    if not probable:
        return
    full = rows_of(predicted("-m", "m", "d", "--probabilities", "--output-format", format), format)
    target = predicted("-m", "m", "d", "--probabilities").splitlines()
    for row, line in zip(full, target, strict=True):
        shares = dict(word.rsplit(":", 1) for word in line.split() if ":" in word)
        found = {name: row[f"probability_{name}"] for name in names if row.get(f"probability_{name}")}
        assert found == shares and row["probability"] == shares.get(row["class"], "")


def test_csv_has_a_header_even_without_rows_and_text_has_none(vwlite):
    write("d", "1 |a x\n")
    write("empty", "")
    vwlite("train", *GD, "d", "-m", "m", "--quiet")
    outs = [predicted("-m", "m", "empty", "--output-format", format) for format in ("text", "csv", "json")]
    assert outs == ["", "tag,label,score\n", ""]
    assert predicted("-m", "m", "d") == predicted("-m", "m", "d", "--output-format", "text")
    assert "text" in vwlite("predict", "-m", "m", "d", "--output-format", "tsv", code=2).err


def test_rows_are_the_same_however_the_data_arrives(vwlite, blocks_of):
    write("d", "".join(f"{i % 2 * 2 - 1} 'tag{i}|a x:{i % 7} y{i % 3}\n" for i in range(200)))
    vwlite("train", *GD, "d", "--loss", "logistic", "-m", "m", "--quiet")
    typed = ("predict", "-m", "m", "d", "--quiet", "--output-format", "csv")
    expected = vwlite(*typed).out
    blocks_of(64)
    for threads in (1, 3):
        assert vwlite(*typed, "--threads", threads).out == expected
    assert expected.count("\n") == 201


# --- the best classes ------------------------------------------------------------------------


@pytest.mark.parametrize("typed", [("--oaa", 6), ("--softmax", "--oaa", 6), ("--oaa", 6, "--classes", "auto")])
@pytest.mark.parametrize("k", [1, 3, 9])
def test_the_best_classes_are_the_first_of_all_by_their_probabilities(vwlite, typed, k):
    # All but three classes are alike where no feature is known, and stay in their order.
    lines = "".join(f"{i % 6 + 1} 't{i}|a x{min(i % 6, 3)}:{i % 5 + 1} y\n" for i in range(60)) + "\n|b z\n"
    write("d", lines)
    loss = () if "--softmax" in typed else ("--loss", "logistic")
    vwlite("train", *with_gd(typed), *loss, "d", "-m", "m", "--quiet")
    vwlite("predict", "-m", "m", "d", "-r", "raw", "-p", "all", "--probabilities", "--quiet")
    expected = []
    for line in Path("all").read_text().splitlines():
        shares = [tuple(word.rsplit(":", 1)) for word in line.split() if ":" in word]
        expected.append((sorted(shares, key=lambda pair: -float(pair[1]))[:k], " ".join(line.split()[len(shares) :])))
    raw_before = Path("raw").read_bytes()
    lines = predicted("-m", "m", "d", "--top", k, "-r", "raw").splitlines()
    assert Path("raw").read_bytes() == raw_before
    assert lines == [" ".join([f"{name}:{p}" for name, p in best] + [tag] * bool(tag)) for best, tag in expected]
    for row, (best, _) in zip(rows_of(predicted("-m", "m", "d", "--top", k, "--output-format", "csv"), "csv"), expected,
                              strict=True):
        found = [(row[f"class_{i + 1}"], row[f"probability_{i + 1}"]) for i in range(min(k, 6))]
        assert found == (best or [("", "")] * min(k, 6)) and f"class_{min(k, 6) + 1}" not in row
    for line, (best, _) in zip(predicted("-m", "m", "d", "--top", k, "--output-format", "json").splitlines(), expected,
                               strict=True):
        top = json.loads(line)["top"]
        assert [(str(x["class"]), x["probability"]) for x in top or ()] == [(name, float(p)) for name, p in best]
        assert top is None or top


def test_the_best_of_equal_classes_are_the_first(vwlite):
    write("d", "".join(f"{i % 4 + 1} |a x\n" for i in range(40)))
    vwlite("train", *GD, "--oaa", 4, "--loss", "logistic", "--no-constant", "d", "-m", "m", "--quiet")
    write("unknown", "|a unseen\n")
    assert predicted("-m", "m", "unknown", "--top", 2) == "1:0.25 2:0.25\n"
    vwlite("train", *GD, "d", "-m", "number", "--quiet")
    assert "--top is for models of classes" in vwlite("predict", "-m", "number", "d", "--top", 2, code=2).err


@pytest.mark.parametrize("labels", [("no", "yes"), ("0", "1"), ("-1", "1")])
def test_top_of_two_labels_is_that_of_two_classes(vwlite, labels):
    """A score has the probabilities of both; they and the order are those of --link logistic."""
    lines = [f"{labels[i % 3 > 0]} 't{i} |a x{i % 3} y{i % 4}\n" for i in range(40)]
    write("d", "".join(lines) + "|a x0\n|b new\n")
    named = () if labels == ("-1", "1") else ("--labels", ",".join(labels))
    vwlite("train", "d", "--loss", "logistic", "--noconstant", *named, "-m", "m", "--quiet")

    p = [float(line.split()[0]) for line in predicted("-m", "m", "d", "--link", "logistic").splitlines()]
    assert p[-1] == 0.5
    expected = [sorted([(-x, 0, labels[1]), (x - 1, 1, labels[0])]) for x in p]
    for k in (1, 2, 3):
        text = predicted("-m", "m", "d", "--top", k, "-r", "raw").splitlines()
        table = rows_of(predicted("-m", "m", "d", "--top", k, "--output-format", "csv"), "csv")
        objects = map(json.loads, predicted("-m", "m", "d", "--top", k, "--output-format", "json").splitlines())
        for line, row, found, best in zip(text, table, objects, expected, strict=True):
            pairs = [word.rsplit(":", 1) for word in line.split()[: min(k, 2)]]
            assert [name for name, _ in pairs] == [name for *_, name in best][:k]
            assert [float(x) for _, x in pairs] == pytest.approx([-x for x, *_ in best][:k], rel=1e-4, abs=1e-7)
            assert [(str(of["class"]), of["probability"]) for of in found["top"]] == [(c, float(x)) for c, x in pairs]
            assert [row[f"class_{i + 1}"] for i in range(len(pairs))] == [c for c, _ in pairs]
            assert str(found["class"]) == row["class"] == pairs[0][0]
        assert [row["label"] for row in table][:3] == [labels[i % 3 > 0] for i in range(3)]
    assert Path("raw").read_text() == predicted("-m", "m", "d", "--link", "identity")
    assert "use one of them" in vwlite("predict", "-m", "m", "d", "--top", 1, "--threshold", 0.5, code=2).err
    assert "precision at 1 is the accuracy" in vwlite("evaluate", "-m", "m", "d", "--top", 1, code=2).err
