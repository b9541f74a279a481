"""Tables from the shell: the same model as VW text, columns that a model knows, and every bad input."""

import bz2
import csv
import gzip
import io
import json
import lzma
import shlex
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import numpy as np
import pytest
from running import GD, finish, start
from sets import SETS
from slow_tables import csv_as_vw, decided, json_as_vw

from vwlite.core.tables.notation import Notation
from vwlite.input import table_text
from vwlite.input.schema import MISSING
from vwlite.model import Model, read_model
from vwlite.model.absent import learned

CLICKS = (
    "clicked,age,country,device,ad text,id\n"
    '1,34,PT,mobile,"Great shoes, now ""50%"" off!",u1\n'
    "0,51,DE,desktop,Old boots,u 2\n"
    '1,28,PT,mobile,"New\n\nshoes",u3\n'
    "0,44,FR,,Old  hats,u4\n"
)
LOGISTIC = ["--loss", "logistic", "--labels", "0,1"]
TYPED = ["--label", "clicked", "--text", "ad text", "--tag", "id", *LOGISTIC]
CONVERT = "convert the file, as with iconv -f LATIN1 -t UTF-8 FILE > NEW"


def arrays(model: Model) -> dict[str, list[float]]:
    """As they were learned, without what a table's model has for absent cells."""
    return {name: list(numbers) for name, numbers in learned(model).arrays().items()}


def same_weights(one: str, other: str) -> None:
    """The models of two files are the same, but for what they know of columns."""
    a, b = read_model(one), read_model(other)
    ones, others = arrays(a), arrays(b)
    assert ones.pop("weights") == pytest.approx(others.pop("weights"), rel=1e-9)
    assert ones == others
    a.columns, b.columns, a.format, b.format, a.absent, b.absent = {}, {}, 1, 1, {}, {}
    assert a.header() == b.header()


@pytest.fixture
def clicks(at):
    Path("clicks.csv").write_text(CLICKS)
    return "clicks.csv"


# --- the same as VW text -----------------------------------------------------------------------------


def adult(name: str, rows: int) -> tuple[list[str], list[dict[str, str]]]:
    """The rows of adult as a table: its columns, and what each row has."""
    columns: dict[str, None] = {"income": None}
    found = []
    with gzip.open(SETS / name, "rt") as f:
        for line in f:
            label, *words = line.replace("|n", "").replace("|c", "").split()
            row = {"income": label}
            for word in words:
                column, value = word.split("=" if "=" in word else ":", 1)
                row[column] = value
            columns |= dict.fromkeys(row)
            found.append(row)
            if len(found) == rows:
                break
    return list(columns), found


@pytest.mark.skipif(not (SETS / "adult.train.vw.gz").exists(), reason="the data set is not here")
def test_adult_as_csv_and_json_lines_is_the_model_of_vw_text(vwlite, at):
    names, rows = adult("adult.train.vw.gz", 4000)
    with open("adult.csv", "w", newline="") as f:
        writer = csv.DictWriter(f, names, restval="")
        writer.writeheader()
        writer.writerows(rows)
    text = Path("adult.csv").read_text()
    roles = decided(text, {"income": "label"})
    assert [n for n, role in roles.items() if role == "numeric"] == [n for n in names if _is_numeric(rows, n)]
    Path("reference.vw").write_text(csv_as_vw(text, roles, absents=True))
    with open("adult.jsonl", "w") as f:
        for row in rows:
            f.write(json.dumps({k: float(v) if roles[k] == "numeric" else v for k, v in row.items()}) + "\n")
    typed = ["--loss", "logistic", "--algorithm", "ftrl", "--quiet"]
    err = vwlite("train", "adult.csv", "--label", "income", *typed, "-m", "csv.model").err
    assert err == ""
    vwlite("train", "reference.vw", *typed, "-m", "reference.model")
    same_weights("csv.model", "reference.model")
    Path("adult.vw").write_text(vwlite("convert", "adult.csv", "--label", "income").out)
    assert Path("adult.vw").read_text() == Path("reference.vw").read_text()
    # JSON lines have their keys in the order of each row, which leaves out what it does not have.
    vwlite("train", "adult.jsonl", "--label", "income", *typed, "-m", "json.model")
    json_vw = vwlite("convert", "adult.jsonl", "--label", "income").out
    assert json_vw == json_as_vw(Path("adult.jsonl").read_text(), {"income": "label"}, absents=True)
    Path("json.vw").write_text(json_vw)
    vwlite("train", "json.vw", *typed, "-m", "json-reference.model")
    same_weights("json.model", "json-reference.model")
    predicted = vwlite("predict", "-m", "csv.model", "adult.csv").out
    assert vwlite("predict", "-m", "csv.model", "adult.vw").out == predicted
    # A model of delimited text reads JSON lines too: the same but for the order of a sum.
    other = vwlite("predict", "-m", "csv.model", "adult.jsonl").out
    assert np.allclose(*(np.fromstring(x, sep="\n") for x in (predicted, other)), atol=1e-5)


def _is_numeric(rows: list[dict[str, str]], name: str) -> bool:
    return name != "income" and all(row[name].isdigit() for row in rows[:1000] if name in row)


@pytest.mark.parametrize("extra", [[], ["--classes", "1,0"], ["--passes", "3"], ["--hash", "all"], ["-q", "ca"]])
def test_training_on_the_text_that_convert_writes_is_the_same(vwlite, clicks, extra):
    typed = [*TYPED[:6], "--ngram", "2"]
    model = [*([] if "--classes" in extra else LOGISTIC), *extra]
    vwlite("train", *GD, clicks, *typed, *model, "-m", "a.model")
    Path("b.vw").write_text(vwlite("convert", clicks, *typed).out)
    vwlite("train", *GD, "b.vw", *model, "-m", "b.model")
    same_weights("a.model", "b.model")
    columns = read_model("a.model").columns
    assert columns["roles"] == [
        ["clicked", "label"], ["age", "numeric"], ["country", "categorical"], ["device", "categorical"],
        ["ad text", "text"], ["id", "tag"],
    ]
    assert (columns["ngram"], columns["open"], columns["header"]) == (2, False, True)
    Path("a.vw").write_text(vwlite("convert", clicks, "-m", "a.model").out)
    assert vwlite("predict", "-m", "a.model", clicks).out == vwlite("predict", "-m", "a.model", "a.vw").out


@pytest.mark.parametrize("size", [1, 2, 7, 30, 100])
@pytest.mark.parametrize("threads", [1, 3])
def test_any_blocks_and_threads_give_the_same(vwlite, clicks, blocks_of, size, threads):
    rows = Random(size)
    lines = [f"{rows.randrange(2)},{i},C{i % 7},d,\"t{i % 3}\n{'x' * (i % 5)}\",u{i}\n" for i in range(60)]
    Path(clicks).write_text(CLICKS + "".join(lines))
    vwlite("train", *GD, clicks, *TYPED, "-m", "whole.model", "--threads", 1, "-p", "whole.txt")
    blocks_of(size)
    vwlite("train", *GD, clicks, *TYPED, "-m", "cut.model", "--threads", threads, "-p", "cut.txt")
    assert Path("whole.model").read_bytes() == Path("cut.model").read_bytes()
    assert Path("whole.txt").read_text() == Path("cut.txt").read_text()


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, bytes])
def test_compressed_with_crlf_and_a_byte_order_mark_from_a_pipe(vwlite, clicks, compress):
    vwlite("train", *GD, clicks, *TYPED, "-m", "a.model")
    data = b"\xef\xbb\xbf" + CLICKS.replace("\n1", "\r\n1").replace("\n0", "\r\n0").encode()
    done = finish(start("train", *GD, *TYPED, "-m", "b.model"), compress(data))
    assert done.code == 0, done
    assert Path("a.model").read_bytes() == Path("b.model").read_bytes()


def test_several_files_have_headers_and_may_order_their_columns_as_they_like(vwlite, clicks):
    rows = list(csv.reader(io.StringIO(CLICKS)))
    with open("b.csv", "w", newline="") as f:
        csv.writer(f, delimiter=";").writerows([row[::-1] for row in rows])
    vwlite("train", *GD, clicks, clicks, *TYPED, "-m", "same.model", "-p", "same.txt")
    vwlite("train", *GD, clicks, "b.csv", *TYPED, "-m", "other.model", "-p", "other.txt")
    same_weights("same.model", "other.model")
    assert Path("same.txt").read_text() == Path("other.txt").read_text()


def test_a_cache_of_a_table_knows_its_columns(vwlite, clicks):
    vwlite("train", *GD, clicks, *TYPED, "-m", "a.model")
    for built in (True, False):
        err = vwlite("train", *GD, clicks, *TYPED, "-m", "b.model", "--cache-file", "c").err
        assert "columns: label clicked" in err and "not used" not in err
        assert Path("a.model").read_bytes() == Path("b.model").read_bytes(), built
    changed = [x if x != "--text" else "--drop" for x in TYPED]
    assert "another" in vwlite("train", *GD, clicks, *changed, "-m", "b.model", "--cache-file", "c").err


def test_a_file_without_a_header(vwlite, clicks):
    names, _, rest = CLICKS.partition("\n")
    Path("bare.csv").write_text(rest)
    vwlite("train", *GD, clicks, *TYPED, "-m", "a.model", "-p", "a.txt")
    vwlite("train", *GD, "bare.csv", "--columns", names, *TYPED, "-m", "b.model", "-p", "b.txt")
    same_weights("a.model", "b.model")
    assert vwlite("predict", "-m", "b.model", "bare.csv").out == vwlite("predict", "-m", "a.model", clicks).out
    assert (
        vwlite("predict", "-m", "a.model", "--columns", names, "bare.csv").out
        == vwlite("predict", "-m", "a.model", clicks).out
    )


def criteo(rows: int) -> str:
    """A file as Criteo has it: label, numbers and hashes between tabs, no header, and empty cells."""
    rng = Random(1)
    lines = []
    for i in range(rows):
        cells = [str(i % 2), *(rng.choice(["", "1", "0", "5", str(rng.randrange(2000))]) for _ in range(13))]
        lines.append("\t".join([*cells, *(rng.choice(["", f"{rng.randrange(40):08x}"]) for _ in range(26))]))
    return "\n".join(lines) + "\n"


def test_a_first_line_of_data_is_not_a_header(vwlite, at, blocks_of):
    text = criteo(60)
    Path("a.tsv").write_text(text)
    names = ", ".join(x or "''" for x in text.split("\t")[:6])
    said = f"a.tsv:1:1: the first line looks like data, not like the names of columns: {names} and 34 more; "
    ways = "--columns NAMES gives them names, --no-header calls them c1, c2, ...\n"
    for label in ("c1", "label"):
        assert vwlite("train", *GD, "a.tsv", "--label", label, *LOGISTIC, code=65).err.endswith(said + ways)
    assert vwlite("convert", "a.tsv", "--format", "tsv", code=65).err.endswith(said + ways)
    run = ["train", *GD, "a.tsv", "--no-header", "--label", "c1", *LOGISTIC]
    err = vwlite(*run, "-m", "m").err
    roles = decided("\t".join(f"c{i}" for i in range(1, 41)) + "\n" + text, {"c1": "label"}, delimiter="\t")
    assert read_model("m").columns["roles"] == [list(pair) for pair in roles.items()]
    assert "columns: label c1; numeric c2, c3, c4" in err and "number of examples = 60\n" in err
    vwlite("train", *GD, "a.tsv", "--columns", ",".join(roles), "--label", "c1", *LOGISTIC, "-m", "named.model")
    assert Path("m").read_bytes() == Path("named.model").read_bytes()
    blocks_of(50)
    vwlite(*run, "-m", "cut.model")
    assert Path("m").read_bytes() == Path("cut.model").read_bytes()
    # The model knows it: of the same kind of files, also when it is continued.
    assert read_model("m").columns["header"] is False
    assert len(vwlite("predict", "a.tsv", "-m", "m").out.split()) == 60
    vwlite("train", "a.tsv", "-i", "m", *LOGISTIC, "-m", "more")
    vwlite(*run, "-i", "m", "-m", "again")
    assert Path("more").read_bytes() == Path("again").read_bytes()
    vwlite("solve", "a.tsv", "--no-header", "--label", "c1", "--labels", "0,1", "--loss", "logistic", "--l1", "0.1")


def test_a_file_without_a_header_for_a_model_that_knows_one(vwlite, at):
    Path("a.csv").write_text("y,a,b\n1,2,3\n-1,3,3\n")
    Path("bare.csv").write_text("1,2,3.5\n-1,3,3\n")
    vwlite("train", *GD, "a.csv", "--label", "y", "-m", "m")
    said = "bare.csv:1:1: the first line looks like data, not like the names of columns: 1, 2, 3.5; --columns NAMES "
    assert vwlite("predict", "bare.csv", "-m", "m", code=65).err == said + "gives them names\n"
    assert len(vwlite("predict", "bare.csv", "-m", "m", "--columns", "y,a,b").out.split()) == 2
    err = vwlite("train", "bare.csv", "-i", "m", "--no-header", code=2).err
    assert err.startswith("--no-header contradicts the model, whose columns have names from a header: --columns NAMES")


# First lines, and whether they are names.
FIRST_LINES = [
    ("y,0,1,2,3", True), ("0,1,2,3,4", True), (",0,1,2", True), ("2019,2020,2021", True), ("y,a,1.5", True),
    ("x,y,1", True), ("x,1,y,7", True), ("y,a,1,1", False), ("1,2.5,x", False), ("1,5,,x,y,z", False),
    ("3,1,2", False), ("-1,0,1", False), ("1,PT,1,DE", False), ("1e3,5,a", False), ("1,2,4", False), (",x,z,1", True),
]


@pytest.mark.parametrize(("line", "names"), FIRST_LINES)
def test_what_is_a_header(vwlite, at, line, names):
    from vwlite.input.sample import is_data

    assert is_data(line.split(",")) is not names
    Path("a.csv").write_text(f"{line}\n" + ",".join("1" for _ in line.split(",")) + "\n")
    # An option that names one of them takes them for names.
    assert "looks like data" not in vwlite("train", *GD, "a.csv", "--label", line.split(",")[-1], code=None).err
    err = vwlite("train", *GD, "a.csv", "--label", "target", code=65).err
    assert ("looks like data" in err) is not names


@pytest.mark.parametrize("name", ["x.tsv", "x.TSV.gz", "x.txt"])
def test_tabs_between_cells(vwlite, clicks, name):
    rows = list(csv.reader(io.StringIO(CLICKS)))
    out = io.StringIO(newline="")
    csv.writer(out, delimiter="\t").writerows(rows)
    Path(name).write_bytes(gzip.compress(out.getvalue().encode()) if name.endswith("gz") else out.getvalue().encode())
    vwlite("train", *GD, clicks, *TYPED, "-m", "a.model")
    vwlite("train", *GD, name, *TYPED, "-m", "b.model")
    assert Path("a.model").read_bytes() == Path("b.model").read_bytes()


def test_solve_and_certify_read_tables(vwlite, clicks):
    problem = ["--loss", "logistic", "--l1", "0.01"]
    vwlite("solve", clicks, *TYPED[:6], "--labels", "0,1", *problem, "-m", "a.model")
    Path("b.vw").write_text(vwlite("convert", clicks, *TYPED[:6]).out)
    vwlite("solve", "b.vw", "--labels", "0,1", *problem, "-m", "b.model")
    assert arrays(read_model("a.model")) == arrays(read_model("b.model"))
    assert vwlite("certify", "-m", "a.model", clicks).out == vwlite("certify", "-m", "a.model", "b.vw").out
    assert vwlite("predict", "-m", "a.model", clicks).out == vwlite("predict", "-m", "b.model", "b.vw").out
    vwlite("check", clicks, *TYPED)


# --- crosses by name ---------------------------------------------------------------------------------


def spaced(names: dict[str, str]) -> str:
    """VW text with namespaces of these names."""
    rng = Random(5)
    rows = []
    for _ in range(300):
        words = {k: [f"{k}{rng.randrange(6)}" for _ in range(rng.randrange(3))] for k in "uavx"}
        spaces = [f"|{names[k]} " + " ".join(w) for k, w in words.items()] + [f"|{names['u']} again:{rng.random():.2f}"]
        rows.append(f"{rng.choice([-1, 1])} " + " ".join(rng.sample(spaces, len(spaces))))
    return "\n".join(rows) + "\n"


CROSSED = [
    (["-q", "user,ad"], ["-q", "ua"]),
    (["-q", "user,user"], ["-q", "uu"]),
    (["--cubic", "ad,user,vw"], ["--cubic", "auv"]),
]


@pytest.mark.parametrize(("by_name", "by_letter"), CROSSED)
@pytest.mark.parametrize("more", [[], ["--passes", "2", "--threads", "3"], ["--ignore-linear", "u"], ["--keep", "ua"]])
def test_crosses_by_name_are_those_by_letter_where_that_tells(vwlite, at, by_name, by_letter, more):
    names = {"u": "user", "a": "ad", "v": "vw", "x": "xyz"}
    Path("a.vw").write_text(spaced(names))
    vwlite("train", *GD, "a.vw", *by_letter, *more, "-m", "letter.model", "-p", "letter.txt")
    vwlite("train", *GD, "a.vw", *by_name, *more, "-m", "name.model", "-p", "name.txt")
    assert arrays(read_model("letter.model")) == arrays(read_model("name.model"))
    assert Path("letter.txt").read_text() == Path("name.txt").read_text()
    assert (
        vwlite("predict", "-m", "letter.model", "a.vw").out == vwlite("predict", "-m", "name.model", "a.vw").out
    )


def test_crosses_by_name_distinguish_namespaces_of_one_letter(vwlite, at):
    # Only the names of namespaces differ: their hashes differ, what is crossed must not.
    Path("a.vw").write_text("1 |user a b |us c |ad d e |ads f\n")
    vwlite("train", *GD, "a.vw", "-q", "user,ad", "--cache-file", "c", "-m", "m")
    vwlite("train", *GD, "a.vw", "-q", "user,ad", "--report", "r")
    assert json.loads(Path("r").read_text())["results"]["total_feature_number"] == 6 + 4 + 1
    vwlite("train", *GD, "a.vw", "-q", "ua", "--report", "r")
    assert json.loads(Path("r").read_text())["results"]["total_feature_number"] == 6 + 9 + 1
    before = Path("m").read_bytes()
    vwlite("train", *GD, "a.vw", "-q", "user,ad", "--cache-file", "c", "-m", "m")
    assert Path("m").read_bytes() == before
    assert "another" in vwlite("train", *GD, "a.vw", "--cache-file", "c").err
    assert "are not supported by Vowpal Wabbit" in vwlite("export", "m", "--to", "vw", "-o", "v", code=65).err
    assert vwlite("train", "a.vw", "-i", "m", "-q", "user,ads", code=2).err.startswith(
        "--quadratic user,ads contradicts the model m, which was trained with user,ad"
    )


def test_a_cross_of_a_namespace_that_is_not_there_is_noted(vwlite, at):
    Path("a.vw").write_text("1 |user a |ad b\n-1 |user c |ad d\n")
    said = "note: -q user,ads crosses namespaces by their names, and no example has one called ads\n"
    for command in (["train", *GD], ["solve", "--l1", "0.1"], ["solve", "--l1", "0.1", "--cache-file", "c"]):
        assert said in vwlite(*command, "a.vw", "-q", "user,ads", "-q", "user,ad").err
        assert "crosses" not in vwlite(*command, "a.vw", "-q", "user,ad").err
    vwlite("solve", "a.vw", "-q", "user,ads", "--l1", "0.1", "-m", "m", "--quiet")
    assert said in vwlite("certify", "-m", "m", "a.vw").err


def test_crosses_of_columns(vwlite, clicks):
    vwlite("train", *GD, clicks, *TYPED, "-q", "country,device", "-q", "ad text,age", "-m", "a.model")
    Path("b.vw").write_text(vwlite("convert", clicks, *TYPED[:6]).out)
    vwlite("train", *GD, "b.vw", *LOGISTIC, "-q", "country,device", "-q", "ad_text,age", "-m", "b.model")
    assert arrays(read_model("a.model")) == arrays(read_model("b.model"))
    Path("a.vw").write_text(vwlite("convert", clicks, "-m", "a.model").out)
    assert vwlite("predict", "-m", "a.model", clicks).out == vwlite("predict", "-m", "a.model", "a.vw").out
    err = vwlite("train", *GD, clicks, *TYPED, "-q", "country,Device", code=65).err
    said = "clicks.csv:1:1: country,Device cannot be crossed: there are no features of a column Device"
    assert err.splitlines()[-1] == said
    for bad in ("country,", "a,b,c", "abc"):
        assert "expected 2" in vwlite("train", *GD, clicks, "-q", bad, code=2).err


# --- what prediction knows ---------------------------------------------------------------------------


def test_prediction_needs_no_options_and_no_label(vwlite, clicks):
    vwlite("train", *GD, clicks, *TYPED, "-m", "m", "--quiet")
    found = vwlite("predict", "-m", "m", clicks)
    assert [line.partition(" ")[2] for line in found.out.splitlines()] == ["u1", "u%202", "u3", "u4"]
    rows = list(csv.reader(io.StringIO(CLICKS)))
    with open("new.csv", "w", newline="") as f:
        csv.writer(f).writerows([[*row[1:], "more"] for row in rows])
    new = vwlite("predict", "-m", "m", "new.csv")
    assert new.out == found.out
    assert "new.csv: columns that are not in the model are ignored: more\n" in new.err
    with open("new.jsonl", "w") as f:
        f.writelines(json.dumps(dict(zip([*rows[0], "more"], [*row, 1], strict=True))) + "\n" for row in rows[1:])
    new = vwlite("predict", "-m", "m", "new.jsonl")
    assert new.out == found.out
    assert new.err.count("new.jsonl: columns that are not in the model are ignored: more\n") == 1


def test_prediction_names_a_column_that_is_missing_or_renamed(vwlite, clicks):
    vwlite("train", *GD, clicks, *TYPED, "-m", "m", "--quiet")
    Path("new.csv").write_text(CLICKS.replace("age", "Age"))
    err = vwlite("predict", "-m", "m", "new.csv", code=65).err
    assert err == "new.csv:1:1: column age of the model is missing; the file has the new columns Age\n"
    Path("new.csv").write_text("clicked,id\n1,2\n")
    err = vwlite("predict", "-m", "m", "new.csv", code=65).err
    assert err == "new.csv:1:1: columns age, country, device, 'ad text' of the model are missing\n"


def test_another_column_can_be_the_tag_of_predictions(vwlite, clicks):
    columns = ("--label", "clicked", "--text", "ad text", "--drop", "id")
    vwlite("train", *GD, clicks, *columns, *LOGISTIC, "-m", "m", "--quiet")
    assert vwlite("predict", "-m", "m", clicks).out.split()[0].replace(".", "").replace("-", "").isdigit()
    out = vwlite("predict", "-m", "m", clicks, "--tag", "id").out
    assert [line.split()[1] for line in out.splitlines()] == ["u1", "u%202", "u3", "u4"]


def test_a_model_is_continued_with_its_columns(vwlite, clicks):
    vwlite("train", *GD, clicks, *TYPED, "-m", "m", "--quiet")
    vwlite("train", clicks, "-i", "m", "-m", "more", "--quiet")
    Path("b.vw").write_text(vwlite("convert", clicks, *TYPED[:6]).out)
    vwlite("train", *GD, "b.vw", "b.vw", *LOGISTIC, "-m", "twice", "--quiet")
    assert arrays(read_model("more")) == arrays(read_model("twice"))
    assert read_model("more").columns == read_model("m").columns
    err = vwlite("train", clicks, "-i", "m", "--categorical", "age", code=2).err
    assert err == "--categorical age contradicts the model: that column is numeric in the model; leave the option out\n"


def test_names_of_columns_are_said_as_they_are(vwlite, tmp_path):
    """But for what does not belong on a terminal; names with blanks in quotes."""
    path = tmp_path / "u.csv"
    path.write_text("Umsatz (€),größe,bad\x1bname,y\n" + "1,2,3,1\n2,3,1,0\n" * 20)
    err = vwlite("train", *GD, path, "--label", "y", "-m", tmp_path / "m").err
    assert "columns: label y; numeric 'Umsatz (€)', größe, 'bad\\x1bname'\n" in err


def test_what_was_decided_is_said_once(vwlite, clicks):
    err = vwlite("train", *GD, clicks, *TYPED, "--passes", "3", "-m", "m").err
    line = "columns: label clicked; tag id; numeric age; categorical country, device; text 'ad text'; missing: device 1"
    assert err.count(f"{line} of 4 rows\n") == 1 and err.count("columns") == 1
    assert vwlite("train", *GD, clicks, *TYPED, "-m", "m", "--quiet").err == ""


def test_roles_are_decided_from_the_first_thousand_rows(vwlite, at):
    Path("a.csv").write_text("y,n,e\n" + "1,5,\n" * 1000 + "1,x,w\n")
    err = vwlite("train", *GD, "a.csv", "--label", "y", "-m", "m", code=65).err
    said = "a.csv:1002:3: column n: 'x' is not a number; --categorical n takes words too"
    assert err.splitlines()[-1] == said + MISSING_TOO
    assert "columns: label y; numeric n; categorical e; missing: e 1000 of the first 1000 rows\n" in err
    Path("a.csv").write_text("y,n,e\n" + "1,5,\n" * 999 + "1,x,w\n")
    err = vwlite("train", *GD, "a.csv", "--label", "y", "-m", "m").err
    assert "columns: label y; categorical n, e; missing: e 999 of the first 1000 rows\n" in err
    vwlite("train", *GD, "a.csv", "--label", "y", "--drop", "n", "--numeric", "e", "--on-error", "skip", "-m", "m")


# --- missing values ----------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["", *MISSING])
@pytest.mark.parametrize("row", [3, 1500])
def test_words_for_missing_numbers_are_empty_cells(vwlite, at, word, row):
    """In numeric columns, the label and the importance; before the roles are decided and after."""
    rows = [f"{2 * (i % 2) - 1},{i % 7}.5,{'NA' if i % 3 else 'PT'},{i % 2 + 1},None {i % 5}" for i in range(1600)]
    header, typed = "y,n,c,w,t\n", ["--label", "y", "--importance", "w", "--text", "t"]
    for name, missing in (("a.csv", word), ("empty.csv", "")):
        rows[row], rows[row + 1] = f"{missing},{missing},PT,1,x", f"1, {missing} ,NA,{missing},-"
        Path(name).write_text(header + "\n".join(rows) + "\n")
    found = vwlite("train", *GD, "a.csv", *typed, "-m", "a").err
    assert "columns: label y; importance w; numeric n; categorical c; text t" in found
    said = "; missing: y 1, n 2, w 1 of the first 1000 rows\n"
    assert (said in found) == (row < 1000) and "note: column" not in found
    vwlite("train", *GD, "empty.csv", *typed, "-m", "empty")
    assert Path("a").read_bytes() == Path("empty").read_bytes()
    text = vwlite("convert", "a.csv", *typed).out
    assert text == vwlite("convert", "empty.csv", *typed).out == csv_as_vw(
        Path("a.csv").read_text(), {"y": "label", "n": "numeric", "c": "categorical", "w": "importance", "t": "text"},
        absents=True,
    )
    assert text.split("\n")[row : row + 2] == ["|n n? |c c=PT |t x", "1 |n n? |c c=NA |t t?"]
    out = vwlite("predict", "a.csv", "-m", "a").out
    assert out == vwlite("predict", "empty.csv", "-m", "a").out and len(out.split()) == 1600


def test_the_words_for_missing_values_can_be_others(vwlite, at):
    Path("a.csv").write_text("y,n,m\n1,?,1\n1,2,NA\n1,-999,3\n1,-999.0,4\n")
    convert = ["convert", "a.csv", "--label", "y"]
    found = vwlite(*convert, "--missing", "?,NA,-999").out
    assert found == "1 |n n? |m m:1\n1 |n n:2 |m m?\n1 |n n? |m m:3\n1 |n n? |m m:4\n"
    assert vwlite(*convert).out == "1 |n n=? |m m:1\n1 |n n=2 |m m?\n1 |n n=-999 |m m:3\n1 |n n=-999 |m m:4\n"
    assert vwlite(*convert, "--missing", "").out.splitlines()[1] == "1 |n n=2 |m m=NA"
    said = "a.csv:3:5: column m: 'NA' is not a number; --categorical m takes words too" + MISSING_TOO
    assert vwlite(*convert, "--missing", "", "--numeric", "m", code=65).err.splitlines()[-1] == said
    # A number among the words is a label as others are.
    found = vwlite(*convert, "--missing", "1,?,NA").out
    assert found == "1 |n n? |m m?\n1 |n n:2 |m m?\n1 |n n:-999 |m m:3\n1 |n n:-999.0 |m m:4\n"
    # They are in the model.
    vwlite("train", *GD, "a.csv", "--label", "y", "--missing", "?,NA", "-m", "m")
    assert read_model("m").columns["missing"] == ["?", "NA"]
    assert len(vwlite("predict", "a.csv", "-m", "m").out.split()) == 4
    vwlite("train", "a.csv", "-i", "m", "-m", "n")
    said = "--missing 'NA' contradicts the model, which has '?,NA': leave it out\n"
    assert vwlite("train", "a.csv", "-i", "m", "--missing", "NA", code=2).err == said


def test_a_model_that_has_no_words_for_missing_values_predicts_as_before(vwlite, at):
    """As earlier versions wrote it."""
    from vwlite.input.schema import Schema

    Path("a.csv").write_text("y,n\n1,1\n-1,2\n")
    vwlite("train", *GD, "a.csv", "--label", "y", "-m", "m")
    columns = dict(read_model("m").columns)
    del columns["missing"]
    assert Schema.restored(columns).missing == ()
    for words in ([""], [" "], [1], "NA"):
        with pytest.raises(ValueError, match="invalid"):
            Schema.restored(columns | {"missing": words})


def test_a_column_of_numbers_and_a_few_words_is_noted(vwlite, at):
    rows = [f"1,{'?' if i % 50 == 3 else 'unknown' if i % 50 == 7 else i},{i % 3 or 'x'}\n" for i in range(200)]
    Path("a.csv").write_text("y,the n,c\n" + "".join(rows))
    run = ["train", *GD, "a.csv", "--label", "y", "-m", "m"]
    words = "NA,N/A,NaN,nan,null,NULL,None,-,?,unknown"
    note = ("note: column the n: 192 of 200 cells are numbers, but not '?', 'unknown', so it is categorical: "
            f"--missing '{words}' makes it numeric, --categorical 'the n' confirms it\n")
    found = vwlite(*run).err
    assert note in found and found.count("note: column") == 1
    assert "note: column" not in vwlite(*run, "--categorical", "the n").err
    found = vwlite(*run, "--missing", words).err
    assert "numeric 'the n'; categorical c; missing: 'the n' 8 of 200 rows\n" in found and "note: column" not in found
    assert vwlite(*run, "--quiet").err == ""


def test_classes_that_are_words_for_missing_values(vwlite, at):
    Path("a.csv").write_text("y,n\nNone,1\nlow,2\nhigh,3\n")
    run = ["train", *GD, "a.csv", "--label", "y", "-m", "m"]
    note = "note: column y: 'None' means a missing label, not a class: --missing WORDS changes that\n"
    assert note in vwlite(*run, "--oaa", 3, "--classes", "auto").err
    said = "--classes names None, which means a missing label: give --missing other words, or ''\n"
    assert vwlite(*run, "--classes", "None,low,high", code=2).err == said
    vwlite(*run, "--classes", "None,low,high", "--missing", "")
    assert set(vwlite("predict", "a.csv", "-m", "m").out.split()) <= {"None", "low", "high"}


def test_missing_values_of_json_lines(vwlite, at):
    Path("a.jsonl").write_text('{"y": "NA", "n": "N/A", "c": "NA"}\n{"y": 1, "n": ["1", "-", 3], "w": "null"}\n')
    run = ["convert", "a.jsonl", "--label", "y", "--importance", "w", "--numeric", "n"]
    assert vwlite(*run).out == "|n n? |c c=NA\n1 |n 0:1 2:3\n"
    assert "column n: '\"N/A\"' is not a number" in vwlite(*run, "--missing", "", code=65).err


# --- times -------------------------------------------------------------------------------------------

TIMES = (
    "y,at,c\n1,2026-01-31T13:05:00Z,a\n-1,2026-02-01 23:00:00.5-08:00,b\n1,,a\n-1,NA,b\n1,2025-11-03,a\n"
    '-1,"1769864700",b\n1, 20260131T000000 ,a\n'
)


def test_times_become_hour_weekday_and_month(vwlite, at, blocks_of):
    Path("a.csv").write_text(TIMES)
    run = ["--label", "y", "--time", "at"]
    text = vwlite("convert", "a.csv", *run).out
    assert text == csv_as_vw(TIMES, {"y": "label", "at": "time", "c": "categorical"}, absents=True)
    assert text.splitlines()[:3] == [
        "1 |at hour=13 weekday=6 month=1 |c c=a", "-1 |at hour=23 weekday=7 month=2 |c c=b",
        "1 |at at? |c c=a",
    ]
    Path("b.vw").write_text(text)
    err = vwlite("train", *GD, "a.csv", *run, "-q", "at,c", "-m", "m").err
    assert "columns: label y; categorical c; time at; missing: at 2 of 7 rows\n" in err
    assert [line for line in err.splitlines() if "note: column" in line] == [
        "note: column at: dates of ISO 8601 in 4 of 5 cells, and numbers since 1970 in 1: both are read as times"]
    vwlite("train", *GD, "b.vw", "-q", "at,c", "-m", "vw.model")
    same_weights("m", "vw.model")
    assert ["at", "time"] in read_model("m").columns["roles"]
    found = vwlite("predict", "a.csv", "-m", "m").out
    assert found == vwlite("predict", "b.vw", "-m", "m").out
    rows = [dict(zip(("y", "at", "c"), row, strict=True)) for row in list(csv.reader(io.StringIO(TIMES)))[1:]]
    rows[5]["at"] = 1769864700
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert vwlite("convert", "a.jsonl", *run).out == text
    assert vwlite("predict", "a.jsonl", "-m", "m").out == found
    blocks_of(9)
    vwlite("train", *GD, "a.csv", *run, "-q", "at,c", "-m", "cut.model")
    assert Path("cut.model").read_bytes() == Path("m").read_bytes()
    for to in ("python", "c", "sql"):  # what they read is the VW text of `convert`, or its features
        vwlite("export", "m", "--to", to, "-o", f"m.{to}", code=65 if to == "sql" else 0)
    done = subprocess.run([sys.executable, "m.python"], input=text, text=True, capture_output=True, check=True)
    assert [float(x) for x in done.stdout.split()] == pytest.approx([float(x) for x in found.split()], abs=1e-6)


BAD_TIMES = [
    ("a.csv", "y,at\n1,0\n1,31.01.2026\n", "a.csv:3:3: column at: '31.01.2026'"),
    ("a.csv", 'y,at\n1,"x\n\n"\n', "a.csv:2:4: column at: 'x'"),
    ("a.csv", "y,at\n1,20260131130500\n", "a.csv:2:3: column at: '20260131130500'"),
    ("a.csv", "y,at\n1,2024\n", "a.csv:2:3: column at: '2024'"),
    ("a.jsonl", '{"y": 1, "at": true}\n', "a.jsonl:1:16: column at: 'true'"),
    ("a.jsonl", '{"y": 1, "at": "2026-02-30"}\n', "a.jsonl:1:16: column at: '\"2026-02-30\"'"),
]


@pytest.mark.parametrize(("name", "text", "said"), BAD_TIMES)
def test_bad_times_say_where_they_are(vwlite, at, name, text, said):
    Path(name).write_text(text)
    said += " is not a time: expected ISO 8601, such as 2026-01-31T13:05:00Z, or seconds since 1970"
    said += "; a model that is trained with --time-format '%d.%m.%Y' reads it" * ("31.01.2026" in text)
    assert vwlite("train", *GD, name, "--label", "y", "--time", "at", code=65).err.splitlines()[-1] == said
    skip = ["--on-error", "skip", "--allow-empty"]
    assert f"{said} (skipped)\n" in vwlite("train", *GD, name, "--label", "y", "--time", "at", *skip).err


def test_times_of_json_lines_are_values(vwlite, at):
    for value in ('["2026-01-31"]', '{"from": "2026-01-31"}'):
        Path("a.jsonl").write_text(f'{{"y": 1, "at": {value}}}\n')
        err = vwlite("train", *GD, "a.jsonl", "--label", "y", "--time", "at", code=65).err
        assert err.splitlines()[-1] == "a.jsonl:1:16: an array or object where one value is expected"


WRITTEN = [
    ("$1,026", 1026.0), ("-$1,026.50", -1026.5), ("$-5", -5.0), ("9.2%", 9.2), ("9.2 %", 9.2), ("112,000", 112000.0),
    ("1,00,000", 100000.0), ("\u20ac 1,234.5", 1234.5), ("1,234.5\u00a0\u20ac", 1234.5), ("7", 7.0), ("+.5", 0.5),
]


@pytest.mark.parametrize(("decimal", "thousands"), [(".", ","), (",", "."), (",", " "), (".", "'")])
def test_numbers_as_people_write_them(decimal, thousands):
    swap, notation = str.maketrans({".": decimal, ",": thousands}), Notation(decimal, thousands)
    for text, value in WRITTEN:
        found = notation.number_of(text.translate(swap).encode())
        assert found is not None and float(found) == value, text
    for text in ("1,02", "1,0260", "12345,678", "1,234,56", "+,5", "1.2.3", "1.5,000", "$", "%", "$5%", "a5", "5a",
                 "1 2", "- 5", "--5", ".", "9" * 80, "1,234,5", "5 $ x"):
        assert notation.number_of(text.translate(swap).encode()) is None, text
    assert Notation(decimal).number_of(b"1.234" if decimal == "," else b"1,234") is None


@pytest.mark.parametrize(("decimal", "thousands"), [(".", ","), (",", "."), (",", " ")])
def test_a_table_of_numbers_that_people_wrote_is_that_of_plain_numbers(vwlite, at, decimal, thousands):
    """Learned, predicted (also from JSON, where they are strings), converted; a model keeps the options."""
    swap, rng = str.maketrans({".": decimal, ",": thousands}), Random(7)
    rows = [(i % 2, rng.randrange(1, 9999) / 4 * (1 + i % 2), rng.randrange(1000) / 10) for i in range(80)]
    people = [(y, f"${price:,.2f}".translate(swap), f"{rate}%".translate(swap)) for y, price, rate in rows]
    for name, values in (("plain.csv", rows), ("written.csv", people)):
        with open(name, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("y", "price", "rate"), *values])
    how = ["--label", "y", "--algorithm", "gd", "--quiet"]
    typed = ["--thousands", thousands, *(["--decimal", decimal] if decimal == "," else [])]
    vwlite("train", "plain.csv", *how, "-m", "plain")
    vwlite("train", "written.csv", *how, *typed, "-m", "written")
    one, other = read_model("plain"), read_model("written")
    assert bytes(one.weights) == bytes(other.weights) and bytes(one.keys) == bytes(other.keys)
    assert (one.format, other.format) == (6, 6)
    assert other.columns == one.columns | dict(zip(["thousands", "decimal"], typed[1::2], strict=False))
    predictions = vwlite("predict", "-m", "plain", "plain.csv").out
    assert vwlite("predict", "-m", "written", "written.csv").out == predictions
    Path("w.jsonl").write_text("".join(json.dumps({"price": price, "rate": rate}) + "\n" for _, price, rate in people))
    assert vwlite("predict", "-m", "written", "w.jsonl").out == predictions
    vwlite("train", "-i", "written", "written.csv", "-m", "more", "--quiet")
    assert read_model("more").columns == other.columns
    said = vwlite("train", "-i", "plain", "written.csv", *typed, "-m", "x", code=2).err
    assert "contradicts the model, which has none: leave it out" in said
    text = vwlite("convert", "written.csv", *how[:2], *typed).out
    numbers = [float(word.split(":")[1]) for word in text.split() if ":" in word]
    assert numbers == [x for _, price, rate in rows for x in (price, rate)]


@pytest.mark.parametrize(
    ("cell", "option"),
    [
        ("$1,{}", "--thousands ,"), ("{}.2%", "--decimal ."), ("{},000", "--thousands ,"), ("0,{}5", "--decimal ,"),
        ("1.{},5", "--decimal , --thousands ."), ("1 {},5", "--decimal , --thousands ' '"),
    ],
)
def test_numbers_that_people_wrote_are_noted_with_the_option_that_reads_them(vwlite, at, cell, option):
    """They are never advised to be dropped, and the command that describe gives learns from them."""
    rows = [f"{i % 2};{cell.format(i + 100)};{i % 7}\n" for i in range(200)]
    Path("t.csv").write_text("y;x;z\n" + "".join(rows))
    said = vwlite("train", "t.csv", "--label", "y", "--algorithm", "gd", "-m", "m").err
    note = next(line for line in said.splitlines() if "column x:" in line)
    assert "are numbers with signs or separators" in note and f"each is a category: {option} reads them" in note
    command = vwlite("describe", "t.csv", "--label", "y").out.splitlines()[-1]
    assert "--drop" not in command
    vwlite(*shlex.split(command)[1:], "--algorithm", "gd", "--quiet")
    assert ["x", "numeric"] in read_model("t.model").columns["roles"]


def test_a_separator_that_is_the_decimal_point_is_refused(vwlite, at):
    (at / "t.csv").write_text("y,a\n1,2\n")
    said = vwlite("train", "t.csv", "--label", "y", "--thousands", ".", code=2).err
    assert "--thousands . is the decimal point too: add --decimal ," in said
    said = vwlite("train", "t.csv", "--label", "y", "--numeric", "a", "--decimal", ",", "-m", "m").err
    (at / "u.csv").write_text('y,a\n1,1.234\n')
    assert "u.csv:2:3: column a: '1.234' is not a number" in vwlite("predict", "-m", "m", "u.csv", code=65).err


def test_columns_of_ids_dates_and_texts_are_noted(vwlite, at):
    rows = []
    for i in range(100):
        d = i % 28 + 1
        rows.append(f"{i * i // 3 % 2},user {i},u{i},2026-01-{d:02d} 12:00:00,{d}.1.2026,202601{d:02d},c{i % 40},{i}")
    Path("a.csv").write_text("y,a text,id,at,day,whole,c,n\n" + "\n".join(rows) + "\n")
    run = ["train", *GD, "a.csv", "--label", "y", "--labels", "0,1", "--loss", "logistic"]
    one = "each of which is a category: --time"
    notes = [
        "column a text: 100 of 100 cells differ, and each is a category: --drop 'a text' leaves them out; --text "
        "'a text' makes a feature of each word",
        "column id: 100 of 100 cells differ, and each is a category: --drop id leaves them out",
        f"column at: dates or times, {one} at extracts hour, weekday and month; --drop at leaves them out",
        f"column day: dates or times, {one} day --time-format '%d.%m.%Y' extracts hour, weekday and month",
        "column whole: dates, read as large numbers: --time whole extracts weekday and month",
    ]
    found = [line for line in vwlite(*run).err.splitlines() if line.startswith("note: column")]
    assert found == [f"note: {note}" for note in notes]
    typed = ["--text", "a text", "--drop", "id", "--time", "at,whole", "--categorical", "day"]
    assert "note: column" not in vwlite(*run, *typed).err
    Path("few.csv").write_text("y,id\n" + "".join(f"{i % 2},u{i}\n" for i in range(20)))
    assert "note: column" not in vwlite("train", *GD, "few.csv", *run[4:]).err


# --- bad input ---------------------------------------------------------------------------------------

MISSING_TOO = ", --missing WORDS names those that mean a missing number"

# header and rows, line, column, what is said
TWO_WORDS = "; for two words add --labels NEG,POS, one of them "
BAD_ROWS = [
    ("y,a,b\n1,2,3\n1,2\n", 3, 1, "a row of 2 cells, but there are 3 columns"),
    ("y,a,b\n1,2,3\n1,2,3,4\n", 3, 1, "a row of 4 cells, but there are 3 columns"),
    ('y,a,b\n1,2,"x\ny"\n1,2,"x\nz\n', 4, 5, "a quote that is never closed"),
    ('y,a,b\n1,2,"x\ny"z\n', 3, 3, "text after the quote that closes a cell: a quote inside of a cell is doubled"),
    ('y,a,b\n1,2,x "y"\n', 2, 7,
     "a quote inside of a cell that does not begin with one: quote the whole cell, and double the quote"),
    ("y,a,b\n1,2,3\n1,\"1,234\",3\n", 3, 4, "column a: '1,234' is not a number; --categorical a takes words too"),
    ("y,a,b\n1,2,3\n1,-nan,3\n", 3, 3, "column a: '-nan' is not a number; leave the cells of missing numbers empty"),
    ("y,a,b\n1,2,3\n1,1e99,3\n", 3, 3, "column a: '1e99' is too large for a 32-bit float"),
    ("y,a,b\nspam,2,3\n", 2, 1, "column y: label 'spam' is not a number" + TWO_WORDS + "spam"),
    ('y,a,b\n1,2,"x\n\n"\n"\n7x",2,3\n', 6, 1, "column y: label '7x' has text after the number"),
    ('y,a,b\n"1",x\0y,3\n', 2, 5, "column a: 'x\\x00y' is not a number; --categorical a takes words too" + MISSING_TOO),
]


@pytest.mark.parametrize(("text", "line", "column", "words"), BAD_ROWS)
def test_bad_rows_say_where_they_are(vwlite, at, text, line, column, words, blocks_of):
    Path("a.csv").write_text(text)
    typed = ["--label", "y", "--categorical", "b", "--numeric", "a"]
    said = f"a.csv:{line}:{column}: {words}"
    assert vwlite("train", *GD, "a.csv", *typed, code=65).err.splitlines()[-1] == said
    skipping = ("--on-error", "skip", "--allow-empty", "--rejects", "bad")
    found = vwlite("train", *GD, "a.csv", *typed, *skipping, "-m", "m").err
    assert f"{said} (skipped)\n" in found and Path("bad").read_text()
    for size in (1, 5):
        blocks_of(size)
        assert vwlite("train", *GD, "a.csv", *typed, code=65).err.splitlines()[-1] == said


def test_learning_that_diverges_says_the_line_of_the_file(vwlite, at):
    Path("a.csv").write_text('y,a,t\n1,1,"x\n\ny"\n\n1,"x\n",z\n1,1,"\n"\n1,1,z\n' + "2,1e38,z\n" * 3)
    run = ["train", "a.csv", "--label", "y", "--numeric", "a", "--on-error", "skip", "--algorithm", "sgd", "-l", "1e30"]
    err = vwlite(*run, code=65).err.splitlines()
    assert err[-1].startswith("a.csv:10:1: the prediction is not finite"), err[-1]


def test_importances_that_are_invalid(vwlite, at):
    """Advice about VW text does not apply to a table."""
    for cell, said in (("x", "is not a number"), ("-1", "is negative"), ("inf", "is not a finite number")):
        Path("a.csv").write_text(f"y,a,w\n1,2,1\n1,2,{cell}\n")
        err = vwlite("train", *GD, "a.csv", "--label", "y", "--importance", "w", code=65).err.splitlines()
        assert err[-1] == f"a.csv:3:5: column w: importance '{cell}' {said}"


def test_bytes_that_are_not_utf8(vwlite, at):
    Path("a.csv").write_bytes(b"y,a\n1,caf\xe9\n")
    err = vwlite("train", *GD, "a.csv", "--label", "y", code=65).err
    assert err.splitlines()[-1] == f"a.csv:2:6: a byte that is not UTF-8: {CONVERT}"
    Path("a.csv").write_bytes(b"y,caf\xe9\n1,2\n")
    err = vwlite("train", *GD, "a.csv", "--label", "y", code=65).err
    assert err.splitlines()[-1] == f"a.csv:1:1: the header is not UTF-8: {CONVERT}"


def test_a_quote_that_is_open_for_too_long(vwlite, at, blocks_of, monkeypatch):
    monkeypatch.setattr(table_text, "MAX_LINE", 100)
    blocks_of(20)
    Path("a.csv").write_text('y,a\n1,x\n1,"x\n' + "1,y\n" * 60)
    err = vwlite("train", *GD, "a.csv", "--label", "y", code=65).err
    assert "a.csv:3:1: a record is longer than 0 MiB: a quote that opens on this line is not closed, perhaps\n" in err
    out = vwlite("convert", "a.csv", "--label", "y", "--on-error", "skip").out
    assert out == "1 |a a=x\n" + "1 |a a=y\n" * 60


BAD_HEADERS = [
    ("y,a\r1,2\r-1,3\r", [], "a.csv:1:1: a carriage return in the header: lines end with LF or CR LF"),
    ("y,a,a\n1,2,3\n", [], "a.csv:1:1: two columns are called 'a': rename one of them"),
    ("y,a b,a_b\n1,2,3\n", [], "a.csv:1:1: columns 'a b' and 'a_b' both are the namespace a_b: rename one"),
    (",y\n1,2\n", [], "a.csv:1:1: column 1 has no name, as the index that pandas writes: name it, or --drop ''"),
    ("x,a\n1,2\n", [], "a.csv:1:1: --label y: no such column; the columns are x, a"),
    ("y,a\n1,2\n", ["--text", "b"], "a.csv:1:1: --text b: no such column; the columns are y, a"),
    ('y,a"b\n1,2\n', [], "a.csv:1:1: the header is not a valid row: a quote inside of a cell that does not begin with "
     "one: quote the whole cell, and double the quote"),
]


@pytest.mark.parametrize(("text", "typed", "said"), BAD_HEADERS)
def test_bad_headers(vwlite, at, text, typed, said):
    Path("a.csv").write_text(text)
    assert vwlite("train", *GD, "a.csv", "--label", "y", *typed, code=65).err.splitlines()[-1] == said


def test_a_label_is_asked_for_if_it_is_missing(vwlite, at):
    Path("a.csv").write_text("y,a\n1,2\n")
    Path("a.jsonl").write_text('{"y": 1}\n')
    said = "a.csv:1:1: which column is the label? train with --label NAME: y, a\n"
    assert vwlite("train", *GD, "a.csv", code=65).err.endswith(said)
    said = "a.jsonl:1:1: which column is the label? train with --label NAME\n"
    assert vwlite("train", *GD, "a.jsonl", code=65).err.endswith(said)
    Path("data").write_text("y,a\n1,2\n")
    assert "or --label NAME for a table" in vwlite("train", *GD, "data", code=65).err
    assert vwlite("train", *GD, "data", "--label", "y", "-m", "m").code == 0
    assert vwlite("train", *GD, "a.csv", "--label", "y", "--drop", "y", code=2).err == (
        "column 'y' is both --label and --drop: it has one role\n"
    )
    assert "--format vw has no columns" in vwlite("train", *GD, "data", "--format", "vw", "--label", "y", code=2).err


def test_a_model_of_text_does_not_predict_tables(vwlite, at):
    """The advice is for prediction, which has no --label."""
    Path("t.vw").write_text("1 |a x\n-1 |a y\n")
    Path("a.csv").write_text("y,a\n1,2\n")
    Path("a.jsonl").write_text('{"y": 1}\n')
    Path("data").write_text("y,a\n1,2\n")
    vwlite("train", *GD, "t.vw", "-m", "m")
    why = (
        "this is a table, and the model m was trained on text without columns: train on a table with --label NAME, or "
        "convert this one to VW text with vwlite convert\n"
    )
    for name in ("a.csv", "a.jsonl"):
        assert vwlite("predict", "-m", "m", name, code=65).err == f"{name}:1:1: {why}"
        assert vwlite("predict", "-m", "m", name, "--columns", "a,b", code=65).err == f"{name}:1:1: {why}"
        assert vwlite("names", "m", name, "-o", "named", code=65).err == f"{name}:1:1: {why}"
    assert vwlite("predict", "-m", "m", "data", code=65).err == (
        "data:1:1: neither VW text (label |namespace feature ...) nor libsvm (label index:value ...); give "
        "--format (the model m is not for tables): 'y,a'\n"
    )
    out = vwlite("convert", "a.csv", "--label", "y").out
    Path("converted.vw").write_text(out)
    vwlite("predict", "-m", "m", "converted.vw")


@pytest.mark.parametrize(("name", "text", "form"), [("t.vw", "1 |a x y\n", "vw"), ("t", "1 3:4 5:6\n", "libsvm")])
def test_ngram_is_not_for_text_without_columns(vwlite, at, name, text, form):
    Path(name).write_text(text)
    said = f"{name}:1:1: --ngram is for --text columns of tables, and this is {form} text: leave the option out\n"
    assert vwlite("train", *GD, name, "--ngram", 2, code=65).err.endswith(said)
    for typed in (["--ngram", 2], ["--delimiter", ";"], ["--columns", "a,b"]):
        assert vwlite("train", *GD, name, *typed, "--format", form, code=2).err == (
            f"{typed[0]} is for tables, and --format {form} has no columns: leave one of them out\n"
        )


MANY = "9" * 5000  # digits: Python makes no int of them


@pytest.mark.parametrize("command", [["train", "--algorithm", "gd", "-m", "m"], ["describe"], ["check"]])
@pytest.mark.parametrize("text", [f"{MANY},b\n1,2\n", f"{MANY},{MANY}\n1,2\n", f"b,{MANY}\n1,2\n-1,3\n"])
def test_a_name_of_very_many_digits_is_a_name(vwlite, at, command, text):
    Path("a.csv").write_text(text)
    found = vwlite(*command, "a.csv", "--label", "b", code=None)
    assert found.code in (0, 1, 65) and "internal error" not in found.err


def test_numbers_of_very_many_digits_in_json_lines_are_read_or_refused(vwlite, at):
    for row in (f'{{"y": {MANY}}}', f'{{"y": 1, "a": {MANY}}}', f'{{"y": 1, "a": "x", "b": [{MANY}]}}'):
        Path("a.jsonl").write_text(row + '\n{"y": 0, "a": "z"}\n')
        assert "too large" in vwlite("train", "a.jsonl", "--label", "y", "-m", "m", "--algorithm", "gd", code=65).err
        assert vwlite("describe", "a.jsonl", "--label", "y", "--json").out
        dropped = ["--label", "y", "--drop", "a,b", "--categorical", "c"]
        assert vwlite("describe", "a.jsonl", *dropped, code=None).code in (0, 65)
    rows = f'{{"y": 1, "a": "x", "by": {MANY}}}\n{{"y": 0, "a": "z", "by": 1}}\n'
    Path("b.jsonl").write_text(rows)
    vwlite("train", "b.jsonl", "--label", "y", "--drop", "by", "-m", "m", "--algorithm", "gd", "--labels", "0,1")
    assert MANY[:9] in vwlite("evaluate", "-m", "m", "b.jsonl", "--by", "by").out


def test_options_of_very_many_digits_are_refused(vwlite, at):
    Path("a.vw").write_text("1 |a x\n")
    for option in ("--progress", "--checkpoint-every", "--holdout-period"):
        found = vwlite("train", "a.vw", "--algorithm", "gd", "-m", "m", option, MANY, code=2)
        assert "internal error" not in found.err and MANY[:9] in found.err


@pytest.mark.parametrize("blank", ["\n", "  \n", "\r\n", '"\n"\n'])
def test_what_is_before_the_header_takes_no_more_than_its_length(vwlite, at, blank):
    """It took four times as long for twice as many."""
    text = "y\ta\n1\t2\n-1\t3\n" if blank.isspace() else "y,a\n1,2\n-1,3\n"
    Path("a.csv").write_text(blank * 100_000 + text)
    begin = time.process_time()
    assert vwlite("convert", "a.csv", "--label", "y", "--quiet").out == "1 |a a:2\n-1 |a a:3\n"
    assert time.process_time() - begin < 10  # of 0.1


def test_errors_behind_blank_lines_name_their_line(vwlite, at):
    for blank in ("\n", "\n  \n\n", '"\n"\n\n'):
        line = 1 + blank.count("\n")
        for text, behind in (('y,"a"b\n1,2\n', 0), ("y,a\n1,2,3\n", 1), ("1,2,3\n", 0)):
            place = f"a.csv:{line + behind}:1:"
            Path("a.csv").write_text(blank + text)
            assert vwlite("convert", "a.csv", "--label", "y", code=65).err.split("\n")[-2].startswith(place)
    Path("b").write_text("\n" * 100_000 + '{"y": 1, "a": 2}\n')
    assert vwlite("convert", "b", "--label", "y", "--quiet").out.strip("\n") == "1 |a a:2"


ORDINARY_QUOTES = 'id\ttext\ty\n1\tfine film\t1\n2\t" some like\t0\n3\tdull\t0\n4\tgreat\t1\n5\tgood "\t1\n6\tbad\t0\n'
ESCAPED = 'id\ty\treview\n"1_8"\t1\t"He said \\"wow\\" and left"\n"2_3"\t0\t"Dull"\n'


@pytest.mark.parametrize("command", [["check"], ["convert"], ["train", "--algorithm", "gd", "-m", "m"]])
def test_a_cell_with_lines_that_look_like_rows_is_noted(vwlite, at, command):
    Path("a.tsv").write_text(ORDINARY_QUOTES)
    said = "note: a.tsv:3: a cell in quotes has 4 lines, and some look like rows"
    assert vwlite(*command, "a.tsv", "--label", "y", "--drop", "id").err.count(said) == 1
    assert said not in vwlite(*command, "a.tsv", "--label", "y", "--drop", "id", "--quote", "none").err
    Path("a.tsv").write_text('y\tt\n1\t"one\ntwo\nthree\nfour"\n0\tx\n')
    assert "look like rows" not in vwlite(*command, "a.tsv", "--label", "y").err


DIALECTS = [(ORDINARY_QUOTES, ["--quote", "none"], 6), (ESCAPED, ["--escape", "\\"], 2)]


@pytest.mark.parametrize(("text", "options", "rows"), DIALECTS)
def test_a_dialect_goes_with_the_model_through_all_commands(vwlite, at, text, options, rows):
    Path("a.tsv").write_text(text)
    words = ["--text", "review" if "review" in text else "text"]
    typed = ["--label", "y", "--drop", "id", "--labels", "0,1", *words]
    vwlite("train", "a.tsv", *typed, *options, "-m", "m", "--algorithm", "gd", "--loss", "logistic", "--quiet")
    predictions = vwlite("predict", "-m", "m", "a.tsv").out
    assert predictions.count("\n") == rows
    Path("a.vw").write_text(vwlite("convert", "a.tsv", *typed[:4], *words, *options, "--quiet").out)
    assert vwlite("predict", "-m", "m", "a.vw").out == predictions
    facts = json.loads(vwlite("describe", "a.tsv", *typed[:4], *options, "--json").out)
    assert facts["rows"] == rows and " ".join(options).replace("\\", "'\\'") in facts["next"]
    assert f"data, {rows} lines" in vwlite("check", "a.tsv", *typed, *options).out
    assert f"{rows} rows" in vwlite("evaluate", "-m", "m", "a.tsv").out
    assert "id" in vwlite("evaluate", "-m", "m", "a.tsv", "--by", "id").out
    assert vwlite("explain", "-m", "m", "a.tsv", "--json").out.count("\n") == rows
    vwlite("train", "a.tsv", "-i", "m", "-m", "n", "--quiet")
    assert read_model("n").columns == read_model("m").columns
    with_quotes = "y\tid\treview\ttext\n1\t1\t\"x y\"\t\"x y\"\n"
    Path("b.tsv").write_text(with_quotes)
    Path("c.tsv").write_text(with_quotes.replace('"', ""))
    here = ["--quote", '"', "--escape", "none"]
    assert vwlite("predict", "-m", "m", "b.tsv", *here).out == vwlite("predict", "-m", "m", "c.tsv").out


def test_a_model_of_usual_tables_does_not_mention_quotes(vwlite, at):
    """So it is, byte for byte, that of earlier versions."""
    Path("a.csv").write_text("y,a\n1,2\n-1,3\n")
    vwlite("train", "a.csv", "--label", "y", "-m", "m", "--algorithm", "gd", "--quiet")
    assert not {"quote", "escape"} & read_model("m").columns.keys()


def test_an_error_at_an_escaped_quote_names_the_option(vwlite, at):
    Path("a.tsv").write_text(ESCAPED)
    assert "--escape '\\' reads \\\" as a quote" in vwlite("convert", "a.tsv", "--label", "y", code=65).err
    Path("a.tsv").write_text('y\tt\n1\t"a"b\n')
    assert "--escape" not in vwlite("convert", "a.tsv", "--label", "y", code=65).err


@pytest.mark.parametrize(("typed", "words"), [
    (["--escape", ";", "--delimiter", ";"], "is not one character"), (["--escape", "ab"], "is not one character"),
    (["--escape", "!", "--delimiter", "!"], "--escape ! is the delimiter, too"), (["--quote", "x"], "--quote"),
    (["--quote", "none", "--format", "vw"], "--quote is for tables"),
])
def test_dialects_without_sense_are_refused(vwlite, at, typed, words):
    Path("a.csv").write_text("y,a\n1,2\n")
    assert words in vwlite("convert", "a.csv", "--label", "y", *typed, code=2).err or typed[-1] == "vw"


@pytest.mark.parametrize("text", ['[{"y":1,"a":30},{"y":0}]\n', '[\n  {\n    "y": 1\n  }\n]\n', " [ ]", "\ufeff[{}"])
@pytest.mark.parametrize("given", [[], ["--format", "jsonl"]])
def test_a_json_array_is_told_from_json_lines(vwlite, at, text, given):
    Path("a.json").write_text(text)
    for command in (["convert"], ["describe"], ["train", "-m", "m"]):
        said = vwlite(*command, "a.json", "--label", "y", *given, code=65).err
        assert "a.json:1:1: a JSON array, not JSON lines" in said and "jq -c '.[]' FILE" in said
    assert "a JSON array" in vwlite("check", "a.json", "--label", "y", *given, code=1).out


def test_nan_in_json_lines_is_absent(vwlite, at):
    """Python writes it for a missing number, as pandas does without to_json."""
    nan = float("nan")
    rows = [{"y": 1, "a": nan, "b": [1, nan, 2]}, {"y": nan, "a": 2.5, "c": {"k": nan}}]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("b.jsonl").write_text(Path("a.jsonl").read_text().replace("NaN", "null"))
    assert vwlite("convert", "a.jsonl", "--label", "y").out == vwlite("convert", "b.jsonl", "--label", "y").out


INFINITE = "a number that JSON does not allow: write null for a missing number, or a finite one"
BAD_JSON = [
    ("[1]", 1, "a line of JSON lines is an object: {\"key\": value, ...}"),
    ('{"y": 1, "a": {"b": {"c": 1}}}', 21,
     "a value nested too deep: objects hold words, numbers and arrays of words; arrays words or numbers"),
    ('{"y": 1, "a": [[1]]}', 16,
     "a value nested too deep: objects hold words, numbers and arrays of words; arrays words or numbers"),
    ('{"y": 1, "a": [1, "x"]}', 19, "an array of both numbers and words: make two of it"),
    ('{"y": [1]}', 7, "an array or object where one value is expected"),
    ('{"y": 1, "y": 2}', 13, "a duplicate key"),
    ('{"y": 1, "a": nothing}', 15, "a value is missing: a string, a number, true, false, null, an array or an object"),
    ('{"y": 1, "a": 01}', 15, "a number that JSON does not allow"),
    ('{"y": 1, "a": 1.}', 15, "a number that JSON does not allow"),
    ('{"y": 1, "a": Infinity}', 15, INFINITE), ('{"y": 1, "a": -Infinity}', 15, INFINITE),
    ('{"y": 1, "a": [1, Infinity]}', 19, INFINITE), ('{"y": Infinity}', 7, INFINITE),
    ('{"y": 1, "a": 1e99}', 15, "'1e99' is too large for a 32-bit float"),
    ('{"y": 1, "a": "x}', 15,
     "a string that does not end on its line; line ends and control characters in it are escaped"),
    ('{"y": 1, "a": "\\x"}', 16, "a string with an invalid escape"),
    ('{"y": 1, "a": "\\ud800"}', 16, "a string with an invalid escape"),
    ('{"y": 1, a: 2}', 10, "a key is missing: a string that is not empty, in quotes"),
    ('{"y": 1, "": 2}', 12, "a key is missing: a string that is not empty, in quotes"),
    ('{"y" 1}', 6, "no ':' after a key"),
    ('{"y": 1 "a": 2}', 9, "no ',' or closing bracket after a value"),
    ('{"y": 1', 8, "no ',' or closing bracket after a value"),
    ('{"y": 1} {"y": 2}', 10, "text after the object: one object is one line"),
    ('{"y": "spam"}', 7, "column y: label '\"spam\"' is not a number"),
    ('{"y": 1, "n": true}', 15, "column n: 'true' is not a number; --categorical n takes words too"),
    ('{"y": 1, "w": -1}', 15, "column w: importance '-1' is negative"),
    ('{"y": 1, "d": [1, {"a": ]}]}', 25,
     "a value is missing: a string, a number, true, false, null, an array or an object"),
]


@pytest.mark.parametrize(("text", "column", "words"), BAD_JSON)
def test_bad_json_lines_say_where_they_are(vwlite, at, text, column, words):
    Path("a.jsonl").write_text('{"y": 1, "n": 3, "w": 2, "d": 0}\n' + text + '\n{"y": -1}\n')
    typed = ["--label", "y", "--numeric", "n", "--importance", "w", "--drop", "d"]
    said = f"a.jsonl:2:{column}: {words}"
    assert vwlite("train", *GD, "a.jsonl", *typed, code=65).err.splitlines()[-1] == said
    if "spam" not in text:  # any word is a label to `convert`
        assert vwlite("convert", "a.jsonl", *typed, "--on-error", "skip").out == "1 2 |n n:3\n-1 |n n?\n"


@pytest.mark.parametrize("role", ["label", "importance", "tag", "numeric", "categorical", "text", "drop"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_key_that_no_json_line_has_is_an_error(vwlite, at, role, threads):
    """A typing error would leave the key that was meant among the features."""
    Path("a.jsonl").write_text('{"y": 1, "idx": 3, "zip": "a"}\n{"y": -1, "idx": 4, "a b": {"idd": 1}}\n')
    typed = [f"--{role}=idd", *(["--label", "y"] if role != "label" else []), "--threads", threads]
    for command, more in (("train", GD), ("solve", ("--l2", 1))):
        Path("m").write_text("old")
        err = vwlite(command, "a.jsonl", *typed, *more, "-m", "m", code=65).err
        assert err.splitlines()[-1] == f"--{role} idd: no line has this key; did you mean idx?"
        assert Path("m").read_text() == "old"
    vwlite("convert", "a.jsonl", *typed, code=65)
    assert vwlite("check", "a.jsonl", *typed[:-2], code=1).out.endswith("did you mean idx?\n")
    wrong = [t.replace("idd", "price") for t in map(str, typed)]
    there = "no line has this key; the other keys are 'a b', idx, " + ("y, zip" if role == "label" else "zip")
    assert vwlite("train", *GD, "a.jsonl", *wrong, code=65).err.endswith(f"--{role} price: {there}\n")
    err = vwlite("train", *GD, "a.jsonl", *typed, "-m", "m", "--allow-empty").err
    assert f"warning: --{role} idd: no line has this key; did you mean idx?\n" in err
    right = [t.replace("idd", "idx") for t in map(str, typed) if "zip" not in t]
    if role != "label":
        vwlite("train", *GD, "a.jsonl", *right, "-m", "m")


def test_a_key_may_come_late_in_the_last_file(vwlite, at):
    """Of JSON lines or of a table with a header; and no cache of an earlier run hides an error."""
    Path("a.jsonl").write_text('{"y": 1, "n": 3}\n' * 3)
    Path("b.jsonl").write_text('{"y": 1, "n": 3}\n{"y": -1, "id": 4}\n')
    Path("c.csv").write_text("y,id\n1,2\n")
    typed = ["--label", "y", "--drop", "id"]
    vwlite("train", *GD, "a.jsonl", "b.jsonl", *typed)
    vwlite("train", *GD, "a.jsonl", "c.csv", *typed)
    for _ in range(2):
        vwlite("train", *GD, "a.jsonl", *typed, "--cache-file", "cache", code=65)
    vwlite("train", *GD, "a.jsonl", "b.jsonl", *typed, "-m", "m")
    vwlite("train", "a.jsonl", "-i", "m", "-m", "m")  # the model's run has seen it


def test_another_tag_of_json_lines(vwlite, at):
    Path("a.jsonl").write_text('{"y": 1, "n": 3, "id": "u"}\n{"y": -1, "n": 1, "id": "v"}\n')
    vwlite("train", *GD, "a.jsonl", "--label", "y", "--drop", "id", "-m", "m")
    assert [line.split()[1] for line in vwlite("predict", "a.jsonl", "-m", "m", "--tag", "id").out.splitlines()] == [
        "u", "v"]
    err = vwlite("predict", "a.jsonl", "-m", "m", "--tag", "idd", code=65).err
    assert err == "--tag idd: no line has this key; did you mean id?\n"


def test_json_that_is_not_utf8(vwlite, at):
    Path("a.jsonl").write_bytes(b'{"y": 1, "a": "caf\xe9"}\n')
    err = vwlite("train", *GD, "a.jsonl", "--label", "y", code=65).err
    assert err.splitlines()[-1] == f"a.jsonl:1:19: a byte that is not UTF-8: {CONVERT}"


def test_a_model_with_columns_that_cannot_be(vwlite, clicks):
    from vwlite.model.header import check_header

    vwlite("train", *GD, clicks, *TYPED, "-m", "m", "--quiet")
    header = read_model("m").header()
    check_header(header)
    good = header["columns"]
    bad = [
        [], {"roles": []}, good | {"ngram": 0}, good | {"ngram": True}, good | {"delimiter": '"'},
        good | {"roles": [["a", "x"]]}, good | {"roles": [["a", "label"], ["b", "label"]]},
        good | {"roles": [["a", "numeric"], ["a", "numeric"]]}, good | {"roles": [["", "numeric"]]},
        good | {"roles": [["a b", "text"], ["a_b", "text"]]}, good | {"roles": [[1, "text"]]}, good | {"more": 1},
    ]
    for columns in bad:
        with pytest.raises(ValueError, match=r"column|namespace|role"):
            check_header(header | {"columns": columns})


@pytest.mark.parametrize("threads", [1, 3])
def test_a_line_behind_newlines_in_quotes_is_reported_correctly(vwlite, at, monkeypatch, threads):
    """Also of a batch from a cache, and of a later pass."""
    monkeypatch.setattr("vwlite.input.reader.BLOCK_SIZE", 256)
    rows = [f'{2 * (i % 2) - 1},"{"a" + chr(10) * (i % 3)}",{i % 5}\n' for i in range(60)]
    rows[20], rows[40], rows[41] = '1,"not\na row" or so,1\n', '1,"far\naway",1e38\n', "1,next,1\n"
    text = "y,c,n\n" + "".join(rows)
    Path("a.csv").write_text(text)
    bad, after = (1 + text[: text.index(word)].count("\n") for word in ('1,"not', "1,next"))
    run = ["train", "a.csv", "--label", "y", "--threads", threads, "--on-error", "skip", "--algorithm", "sgd"]
    made = vwlite(*run, "--loss", "huber", "--huber-delta", 1e-9, "-l", 1e-9, "--cache-file", "c", "-m", "m")
    assert f"a.csv:{bad + 1}:8: text after the quote" in made.err
    cached = ["--cache-file", "c"]
    for more in ([], cached):
        diverged = vwlite(*run, "--loss", "squared", "-l", 1e-3, *more, code=65).err.splitlines()[-1]
        assert diverged.startswith(f"a.csv:{after}:1: the prediction is not finite")
    assert "is not used" not in diverged


@pytest.mark.parametrize("mark", ["sep=;\n", "sep=;\r\n", '"sep=;"\n', "SEP=;\n", "\ufeffsep=;\n"])
def test_the_first_line_of_excel_tells_the_delimiter(vwlite, folder, mark):
    """Places count it; --append and a model that reads the file do as without it."""
    rows = "".join(f"{i % 2};{i % 7 + i % 2},5\n" for i in range(40))
    Path("d.csv").write_text(f"{mark}y;a,b\n{rows}", newline="")
    Path("plain.csv").write_text(f"y;a,b\n{rows}")
    learn = ("--label", "y", "--decimal", ",", "--algorithm", "gd", "--quiet")
    vwlite("train", "d.csv", *learn, "-m", "m")
    vwlite("train", "plain.csv", *learn, "--delimiter", ";", "-m", "n")
    assert Path("m").stat().st_size and vwlite("weights", "m").out == vwlite("weights", "n").out
    predicted = [vwlite("predict", "-m", *words, "--quiet").out for words in (("m", "d.csv"), ("n", "plain.csv"))]
    assert predicted[0] == predicted[1] != ""
    vwlite("predict", "-m", "m", "d.csv", "--append", "-o", "o.csv", "--quiet")
    assert Path("o.csv").read_bytes().startswith(f"{mark}y;a,b;".encode())
    Path("bad.csv").write_text(f"{mark}y;a,b\n1;2\n1;x\n", newline="")
    assert vwlite("predict", "-m", "m", "bad.csv", code=65).err.startswith("bad.csv:4:3: column a,b")
    assert "has the delimiter ';', and --delimiter is ','" in vwlite(
        "train", "d.csv", "--label", "y", "--delimiter", ",", "-m", "x", code=65).err


def test_a_delimiter_that_the_header_contradicts_is_named(vwlite, folder):
    Path("d.csv").write_text("y,x\n1,2\n0,1\n")
    said = "the header has no ';', but ',' between the names: leave --delimiter out, or use --delimiter ','\n"
    assert vwlite("train", "d.csv", "--label", "y", "--delimiter", ";", "-m", "m", code=65).err.endswith(said)
    Path("c.csv").write_text("y,x\n1\n0\n")
    assert "no such column" in vwlite("train", "c.csv", "--label", "z", "--delimiter", ";", "-m", "m", code=65).err


@pytest.mark.parametrize(("ends", "first"), [("\n", "\n"), ("\r\n", "\r\n"), ("\n", "\r\n")])
def test_a_header_between_rows_is_named(vwlite, folder, ends, first):
    """As in files that were joined. It decides no role; of one column it is a value, and a blank line is none."""
    rows = [f"{i},{i * i % 7 / 2},{i % 2}" for i in range(90)]
    text = f"id,amount,y{first}" + ends.join([*rows[:60], "", "id,amount,y", *rows[60:], ""])
    Path("a.csv").write_bytes(text.encode())
    Path("clean.csv").write_bytes(ends.join(["id,amount,y", *rows, ""]).encode())
    said = "a.csv:63:1: the header again, as where files were joined: leave it out, as --on-error skip does"
    run = ["train", *GD, "a.csv", "--label", "y", "-m", "m"]
    failed = vwlite(*run, code=65).err
    assert said in failed and "numeric id, amount" in failed and "--missing" not in failed
    assert "1 bad line skipped" in vwlite(*run, "--on-error", "skip").err
    vwlite("train", *GD, "clean.csv", "--label", "y", "-m", "clean")
    same_weights("m", "clean")
    assert said in "\n".join(vwlite("describe", "a.csv", "--label", "y", "--json").out.splitlines())
    for again in ('"id" , amount,y', "\ufeffid,amount,y"):  # as the cells are, not the bytes
        Path("a.csv").write_text("id,amount,y\n" + "\n".join([*rows, again, *rows]) + "\n")
        assert "a.csv:92:1: the header again" in vwlite("check", "a.csv", "--label", "y", code=1).out
    assert "a.csv:92:1: the header again" in vwlite("split", "a.csv", "-o", "b.csv", "-o", "c.csv", code=65).err
    Path("words.csv").write_text("word\nred\nword\nblue\n")
    Path("labels.csv").write_text("word,y\n" + "red,1\nblue,0\nword,1\n" * 5)
    vwlite("train", *GD, "labels.csv", "--label", "y", "-m", "w")
    assert vwlite("predict", "-m", "w", "words.csv").out.count("\n") == 3


def test_other_encodings_get_the_command_that_converts_them(vwlite, folder):
    Path("d.csv").write_bytes("y,x\n1,é\n".encode("latin-1"))
    Path("h.csv").write_bytes("y,é\n1,2\n".encode("latin-1"))
    for name, place in (("d.csv", "d.csv:2:3"), ("h.csv", "h.csv:1:1")):
        said = vwlite("train", name, "--label", "y", "-m", "m", code=65).err
        assert place in said and "iconv -f LATIN1 -t UTF-8" in said


def test_labels_and_importances_are_written_as_other_numbers(vwlite, folder):
    """With --decimal and --thousands; names of classes stay as they are."""
    rows = [(1000 + i * 1.25, i % 5 / 2, i % 3 + 0.5) for i in range(60)]
    Path("plain.csv").write_text("y,x,w\n" + "".join(f"{y},{x},{w}\n" for y, x, w in rows))
    people = [[f"{x:,}".translate(str.maketrans(",.", ".,")) for x in row] for row in rows]
    Path("people.csv").write_text("y;x;w\n" + "".join(f"{y} €;{x};{w}\n" for y, x, w in people))
    read_as = ("--decimal", ",", "--thousands", ".")
    for how in ((), ("--algorithm", "gd")):
        vwlite("train", "plain.csv", "--label", "y", "--importance", "w", *how, "-m", "m", "--quiet")
        vwlite("train", "people.csv", "--label", "y", "--importance", "w", *how, *read_as, "-m", "n", "--quiet")
        assert vwlite("evaluate", "-m", "m", "plain.csv").out == vwlite("evaluate", "-m", "n", "people.csv").out
    roles = ("--label", "y", "--importance", "w")
    assert vwlite("convert", "people.csv", *roles, *read_as).out == vwlite("convert", "plain.csv", *roles).out
    described = [vwlite("describe", name, "--label", "y", *how).out.splitlines() for name, how in
                 (("plain.csv", ()), ("people.csv", read_as))]
    assert [line for line in described[0] if line.startswith(("label", "y "))] == [
        line for line in described[1] if line.startswith(("label", "y "))]
    Path("classes.csv").write_text("y;x\n" + "".join(f"{i % 3},5;{i % 3}\n" for i in range(60)))
    vwlite("train", "classes.csv", "--label", "y", *read_as, "--oaa", 3, "--classes", "auto", "-m", "c", "--quiet")
    assert set(vwlite("predict", "-m", "c", "classes.csv", "--quiet").out.split()) <= {"0,5", "1,5", "2,5"}


@pytest.mark.parametrize("name", ["\x85x", "\u2009x", "x\u3000", "\x1fx\x1f"])
def test_a_blank_of_unicode_belongs_to_a_name(name, vwlite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(f"y, {name} ,z\n" + "".join(f"{k % 2},{k},{k}\n" for k in range(20)), encoding="utf-8")
    vwlite("train", "a.csv", "--label", "y", "--numeric", f" {name} , z", *GD, "-m", "m")
    assert dict(read_model("m").columns["roles"])[name] == "numeric"
