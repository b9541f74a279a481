"""`vwlite predict --append`: the input's rows as they are, with columns behind them that other formats have too."""

import csv
import gzip
import io
import json
import random
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from lines import write
from running import finish, start

pytestmark = pytest.mark.usefixtures("folder")

WORDS = ["x", "", "y, z", 'q"q', "two\nlines", "a;b", "é", "tab\there", " blank ", '"', "NA"]
COLUMNS = ["label", "number", "word", "note"]


def drawn(seed: int, count: int, labels: list[str]) -> list[list[str]]:
    draw = random.Random(seed)
    return [
        [draw.choice([*labels, ""]), draw.choice([f"{draw.random():.3f}", "", "-3"]), draw.choice(WORDS),
         draw.choice(WORDS) + str(i % 7)]
        for i in range(count)
    ]


def delimited(rows: list[list[str]], draw: random.Random) -> bytes:
    """Any of the ways to write a table, and whether its last line ends."""
    out = io.StringIO()
    quoting, end = draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), draw.choice(["\n", "\r\n"])
    written = csv.writer(out, delimiter=draw.choice(",;\t"), quoting=quoting, lineterminator=end)
    written.writerows([COLUMNS, *rows])
    text = out.getvalue().encode()
    return text if draw.random() < 0.5 else text.rstrip(b"\r\n")


def read(text: bytes) -> list[list[str]]:
    first = text.splitlines()[0].replace(b'"', b"")
    delimiter = next(c for c in ";\t," if c.encode() in first)
    return list(csv.reader(io.StringIO(text.decode(), newline=""), delimiter=delimiter))


@pytest.fixture(params=["two", "numbers", "classes", "squared", "quantiles"])
def model(request, vwlite):
    """A model; the labels of its tables, and the options for columns of rows of CSV that are those of --append."""
    labels = {"two": ["no", "yes"], "numbers": ["-1", "1"], "classes": ["r", "blue, green", 'n"x'],
              "squared": ["1.5", "2", "-7"], "quantiles": ["1.5", "2", "-7"]}[request.param]
    options = {"two": ["--labels", "no,yes", "--loss", "logistic"], "numbers": ["--loss", "logistic"],
               "classes": ["--classes", 'r,"blue, green","n""x"', "--loss", "logistic"], "squared": [],
               "quantiles": ["--loss", "quantile", "--quantile-tau", "0.1,0.9"]}[request.param]
    rows = [row for row in drawn(0, 300, labels) if row[0]]
    write("learned.csv", delimited(rows, random.Random(3)))
    roles = ("--label", "label", "--numeric", "number", "--drop", "note")
    vwlite("train", "learned.csv", *roles, "--algorithm", "adagrad", *options, "-m", "m", "--quiet")
    more = {"two": ["--threshold", "0.5"], "numbers": ["--threshold", "0.5"], "classes": ["--probabilities"]}
    return request.param, labels, more.get(request.param, [])


def names_of(kind: str) -> list[str]:
    """The columns that are appended, if none were typed."""
    return {"squared": ["prediction"], "quantiles": ["quantile_0.1", "quantile_0.9"]}.get(
        kind, ["prediction", "probability"])


def appended_of(kind: str, row: dict[str, Any]) -> list[str]:
    """What a row of CSV says of the prediction, and of its probability."""
    if kind == "quantiles":
        return [row[name] for name in names_of(kind)] if "quantiles" not in row else [*row["quantiles"].values()]
    prediction = row["class" if kind == "classes" else "score" if kind == "squared" else "prediction"]
    return [prediction, *([row["probability"]] if "probability" in row else [])]


def target(vwlite, kind: str, file: str, more: list[str]) -> list[list[str]]:
    rows = vwlite("predict", "-m", "m", file, "--output-format", "csv", *more, "--quiet").out
    return [appended_of(kind, row) for row in csv.DictReader(io.StringIO(rows, newline=""))]


@pytest.mark.parametrize("seed", range(4))
def test_delimited_rows_keep_their_bytes_and_have_the_columns_of_csv(vwlite, model, seed, blocks_of):
    kind, labels, more = model
    draw = random.Random(seed)
    text = delimited(drawn(seed, 200, labels), draw)
    file = write("data.csv", text)
    expected = [names_of(kind), *target(vwlite, kind, file, more)]
    whole = vwlite("predict", "-m", "m", file, "--append", "--quiet").out.encode()
    before, after = read(text), read(whole)
    assert [row[:4] for row in after] == before
    assert [row[4:] for row in after] == expected
    end = b"\r\n" if b"\r\n" in text else b"\n"
    position = 0
    for record in text.replace(b"\r\n", b"\n").split(b"\n"):  # each line, in order, up to a line end or the new cells
        position = whole.replace(b"\r\n", b"\n").index(record, position)
    assert whole.endswith(end)
    blocks_of(300)
    write("data.csv.gz", gzip.compress(text))
    for name, threads in (("data.csv", 1), ("data.csv", 3), ("data.csv.gz", 2)):
        assert vwlite("predict", "-m", "m", name, "--append", "--quiet", "--threads", threads).out.encode() == whole
    # Two files of the same columns are one table.
    vwlite("predict", "-m", "m", file, "data.csv.gz", "--append", "-p", "both.csv", "--quiet")
    assert read(Path("both.csv").read_bytes()) == [*after, *after[1:]]


@pytest.mark.parametrize("seed", range(2))
def test_lines_of_json_get_the_keys_at_the_end_of_their_objects(vwlite, model, seed):
    kind, labels, more = model
    draw = random.Random(seed)
    rows = [{k: v for k, v in zip(COLUMNS, row, strict=True) if v or k != "number"}
            for row in drawn(seed, 100, labels)]
    for row in rows:
        if row.get("number"):
            row["number"] = float(row["number"])
        row["inner"] = draw.choice([{}, {"a": 1}, None, "}"])
    ends = ["\n", " \n", "\r\n"]
    text = "".join(json.dumps(row, ensure_ascii=draw.random() < 0.5) + draw.choice(ends) for row in rows)
    file = write("data.jsonl", text.rstrip())
    out = vwlite("predict", "-m", "m", file, "--append", "--quiet").out
    found = [json.loads(line) for line in out.splitlines()]
    assert [{k: row[k] for k in row if k not in names_of(kind)} for row in found] == rows
    expected = vwlite("predict", "-m", "m", file, "--output-format", "json", *more, "--quiet").out.splitlines()
    for row, line in zip(found, expected, strict=True):
        assert [*row][-len(names_of(kind)) :] == names_of(kind)
        assert [row[name] for name in names_of(kind)] == appended_of(kind, json.loads(line))


def table_of(rows: list[list[str]], labels: list[str]) -> pa.Table:
    numbers = pa.array([float(row[1]) if row[1] else None for row in rows])
    words = pa.array([row[2] or None for row in rows]).dictionary_encode()
    label = [row[0] or None for row in rows]
    columns = {"label": label, "number": numbers, "word": words, "note": [[row[3]] for row in rows]}
    table = pa.table(columns)
    return table.replace_schema_metadata({"by": "a test"})


@pytest.mark.parametrize("format", ["parquet", "file", "stream"])
def test_columns_of_arrow_are_behind_the_others_which_are_unchanged(vwlite, model, format):
    kind, labels, more = model
    table = table_of(drawn(5, 2500, labels), labels)
    name = "data.parquet" if format == "parquet" else "data.arrow"
    if format == "parquet":
        pq.write_table(table, name, row_group_size=2000)
    else:
        with (ipc.new_file if format == "file" else ipc.new_stream)(name, table.schema) as out:
            out.write_table(table, max_chunksize=700)
    typed = ["--format", "arrow"] if format == "stream" else []
    vwlite("predict", "-m", "m", name, "--append", "-p", "out", *typed, "--quiet")
    reading = {"parquet": pq.read_table, "file": lambda f: ipc.open_file(f).read_all(),
               "stream": lambda f: ipc.open_stream(f).read_all()}[format]
    found = reading("out")
    assert found.select(COLUMNS).equals(reading(name)) and found.schema.metadata == reading(name).schema.metadata
    is_word = kind in ("two", "classes")
    names = names_of(kind)
    assert found.schema.names == [*COLUMNS, *names]
    types = [pa.string() if is_word else pa.float64(), pa.float64()]
    assert [found.schema.field(n).type for n in names] == types[: len(names)]
    rows = vwlite("predict", "-m", "m", name, *typed, "--output-format", "csv", *more, "--quiet").out
    expected = [appended_of(kind, row) for row in csv.DictReader(io.StringIO(rows, newline=""))]
    columns = [found[n].to_pylist() for n in names]
    assert [list(row) for row in zip(*columns, strict=True)] == \
        [[p if is_word and not i else float(p) for i, p in enumerate(row)] for row in expected]
    vwlite("predict", "-m", "m", name, name, "--append", "-p", "both", *typed, "--quiet")
    assert reading("both").equals(pa.concat_tables([found, found]).unify_dictionaries())
    empty = table.slice(0, 0)
    if format == "parquet":
        pq.write_table(empty, "empty.parquet")
        vwlite("predict", "-m", "m", "empty.parquet", "--append", "-p", "out", "--quiet")
        assert pq.read_table("out").schema.names == found.schema.names


@pytest.mark.parametrize("model", ["classes"], indirect=True)
def test_columns_are_those_that_are_named_under_the_names_that_are_given(vwlite, model):
    _, labels, _ = model
    file = write("data.csv", delimited(drawn(1, 50, labels), random.Random(1)))
    typed = ("--append-columns", 'score=risk,"probability_blue, green=p"', "--append-columns", "class")
    rows = read(vwlite("predict", "-m", "m", file, "--append", *typed, "--quiet").out.encode())
    text = vwlite("predict", "-m", "m", file, "--output-format", "csv", "--probabilities", "--quiet").out
    assert rows[0][4:] == ["risk", "p", "class"]
    assert [row[4:] for row in rows[1:]] == [
        [row["score"], row["probability_blue, green"], row["class"]]
        for row in csv.DictReader(io.StringIO(text, newline=""))
    ]


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_several_quantiles_are_columns(vwlite, format):
    rows = [{"y": i % 7, "x": i % 5} for i in range(100)]
    text = "\n".join(["y,x", *(f"{row['y']},{row['x']}" for row in rows)])
    file = write(f"data.{format}", text if format == "csv" else "\n".join(map(json.dumps, rows)))
    vwlite("train", file, "--label", "y", "--loss", "quantile", "--quantile-tau", "0.1,0.5,0.9", "-m", "m", "--quiet")
    names = ["quantile_0.1", "quantile_0.5", "quantile_0.9"]
    text = vwlite("predict", "-m", "m", file, "--output-format", "csv", "--quiet").out
    expected = [[float(row[name]) for name in names] for row in csv.DictReader(io.StringIO(text))]

    def found(*typed: str) -> list[list[str]]:
        out = vwlite("predict", "-m", "m", file, "--append", "--quiet", *typed).out
        if format == "csv":
            return [row[2:] for row in read(out.encode())]
        lines = [json.loads(line) for line in out.splitlines()]
        return [[*lines[0]][2:], *([*line.values()][2:] for line in lines)]

    whole, middle = found(), found("--append-columns", "prediction")
    assert whole[0] == names and [[*map(float, row)] for row in whole[1:]] == expected
    assert middle[0] == ["prediction"] and [float(x) for x, in middle[1:]] == [row[1] for row in expected]


@pytest.mark.parametrize("model", ["two"], indirect=True)
def test_bad_and_blank_rows_keep_their_place(vwlite, model):
    bad = 'label,number,word,note\r\n,1,a,b\r\n\r\nyes,many,a,b\r\n,2,a,b,c\r\n,3,"a\r\nb",c\r\n'
    file = write("bad.csv", bad)
    done = vwlite("predict", "-m", "m", file, "--append", "--on-error", "skip")
    assert "2 bad lines skipped" in done.err
    with_cells = done.out.replace("\r\n", "\n").splitlines()
    assert [line.partition(",yes,")[0].partition(",no,")[0].removesuffix(",,") for line in with_cells[1:]] == \
        bad.replace("\r\n", "\n").splitlines()[1:]
    assert [line.endswith(",,") for line in with_cells] == [False, False, False, True, True, False, False]
    vwlite("predict", "-m", "m", file, "--append", "-p", "out.csv", code=65)
    assert not Path("out.csv").exists()
    write("bad.jsonl", '{"number": 1, "word": "a"}\n\n{"number": "many", "word": "a"}\nno object\n{}\n')
    lines = vwlite("predict", "-m", "m", "bad.jsonl", "--append", "--on-error", "skip", "--quiet").out.splitlines()
    assert [line[-21:] == '"probability": null}' for line in lines][1::2] == [False, False]
    assert json.loads(lines[2])["prediction"] is None and lines[1] == "" and lines[3] == "no object"
    assert [*json.loads(lines[4])] == ["prediction", "probability"]


@pytest.mark.parametrize("model", ["two"], indirect=True)
def test_what_no_table_can_have_is_refused_with_a_way_out(vwlite, model):
    def refused(*typed: str, code: int = 65) -> str:
        return str(vwlite("predict", "-m", "m", *typed, "--append", "-p", "out", code=code).err)

    write("data.csv", "number,word,prediction\n1,a,b\n")
    assert "--append-columns prediction=prediction_new" in refused("data.csv")
    vwlite("predict", "-m", "m", "data.csv", "--append", "--append-columns", "prediction=prediction_new", "--quiet")
    lines = ['{"number": 1, "word": "a"}', '{"number": 1, "word": "prediction"}', '{"word": "a", "prediction": 1}']
    write("data.jsonl", "\n".join(lines))
    assert "data.jsonl:3:1: there is a column prediction already" in refused("data.jsonl")
    write("other.csv", "word,number\na,1\n")
    write("one.csv", "number,word\n1,a\n")
    assert "predict each by itself" in refused("one.csv", "other.csv")
    write("lines", "1 |number:2\n")
    assert "--append is for tables, and this is VW text" in refused("lines", code=2)
    assert "the columns score, probability, prediction" in refused("one.csv", "--append-columns", "clas", code=2)
    assert "two columns would be called p" in refused("one.csv", "--append-columns", "score=p,probability=p", code=2)
    for name, format in (("one.csv", "parquet"), ("one.csv", "tsv"), ("data.jsonl", "csv")):
        found = vwlite("predict", "-m", "m", name, "--append", "-p", f"out.{format}", code=2).err
        assert f"out.{format}: the rows stay in the format of DATA" in found and not Path(f"out.{format}").exists()
    assert "overwrite" in str(vwlite("predict", "-m", "m", "one.csv", "--append", "-p", "one.csv", code=2).err)
    assert "not compressed" in str(vwlite("predict", "-m", "m", "one.csv", "--append", "-p", "o.csv.gz", code=2).err)
    assert not Path("out").exists()


@pytest.mark.parametrize("model", ["two"], indirect=True)
@pytest.mark.parametrize("command", ["predict", "split"])
@pytest.mark.parametrize("delimiter", ["\t", ",", ";"])
def test_the_name_of_an_output_may_be_any_of_its_delimiter(vwlite, model, command, delimiter):
    """.tsv and .tab are those of tabs, whatever the name of DATA is; .csv, .txt and others are of any delimiter."""
    rows = [["number", "word"], *([f"{k}", f"w{k}"] for k in range(20))]
    text = "".join(delimiter.join(row) + "\n" for row in rows)
    for source in ("d.tsv", "d.tab", "d.csv", "d.txt", "d.tsv.gz"):
        if delimiter != "\t" and source.split(".")[1] in ("tsv", "tab"):
            continue
        write(source, gzip.compress(text.encode()) if source.endswith(".gz") else text)
        typed = ["--format", "csv"] if source == "d.txt" else []
        for name in ("out.tsv", "out.tab", "out.TSV", "out.csv", "out.txt", "out"):
            words = ["-m", "m", "--append", "-o", name] if command == "predict" else ["-o", name, "-o", "other"]
            allowed = delimiter == "\t" or name.lower().split(".")[-1] not in ("tsv", "tab")
            done = vwlite(command, source, *typed, *words, code=0 if allowed else 2)
            assert allowed or f"{name}: the rows stay in the format of DATA, which is csv" in done.err
            assert not allowed or Path(name).read_text().startswith(delimiter.join(rows[0]))


@pytest.mark.parametrize("model", ["two"], indirect=True)
@pytest.mark.parametrize("cut", [False, True])
def test_a_table_that_cannot_be_read_to_its_end_is_not_written(vwlite, model, cut):
    """Bad rows can be skipped, and stay; rows that nobody has seen cannot."""
    draw = random.Random(1)
    text = "number,word\n" + "".join(f"{draw.random()},w{draw.random()}\n" for _ in range(5000)) + "no number,a\n"
    packed = gzip.compress(text.encode())
    write("d.csv.gz", packed[: len(packed) // 2] if cut else packed)
    write("out.csv", "old\n")
    words = ["--append", "-o", "out.csv", "--on-error", "skip"]
    said = vwlite("predict", "-m", "m", "d.csv.gz", *words, code=65 if cut else 0).err
    assert ("rows would be missing in the table" in said) == cut
    assert Path("out.csv").read_text().count("\n") == (1 if cut else 5002)


@pytest.mark.parametrize("model", ["two"], indirect=True)
def test_tables_without_a_header_or_rows(vwlite, model):
    write("named", "1,a\n2,b")
    typed = ("--columns", "number,word", "--append-columns", "probability", "--append", "--quiet")
    rows = vwlite("predict", "-m", "m", "named", "--format", "csv", *typed).out.splitlines()
    assert [row.rpartition(",")[0] for row in rows] == ["1,a", "2,b"]
    write("head.csv", b"\xef\xbb\xbfnumber,word")
    assert vwlite("predict", "-m", "m", "head.csv", "--append", "--quiet").out.encode() == \
        b"\xef\xbb\xbfnumber,word,prediction,probability\n"
    assert vwlite("predict", "-m", "m", write("empty", ""), "--append", "--quiet").out == ""


@pytest.mark.parametrize("model", ["two"], indirect=True)
def test_a_row_of_a_pipe_is_answered_before_the_next_comes(model):
    process = start("predict", "-m", "m", "--append", "--quiet")
    try:
        process.stdin.write(b"number,word\n1,a\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"number,word,prediction,probability\n"
        assert process.stdout.readline().startswith(b"1,a,")
        assert finish(process).code == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("delimiter, decimal", [(";", ","), (",", ","), ("\t", ","), (";", ".")])
def test_numbers_have_the_point_of_the_table(vwlite, delimiter, decimal):
    """So that what wrote the table, and this program, reads them as numbers; without exponents, as those of tables."""
    draw = random.Random(1)
    out = io.StringIO()
    rows = [(i % 2, f"{draw.random() + i % 2:.3f}".replace(".", decimal)) for i in range(60)] + [(0, "0")]
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([["y", "x"], *rows])
    write("t.csv", out.getvalue())
    read_as, chosen = ("--decimal", decimal, "--delimiter", delimiter), ("--append-columns", "prediction,score=s")
    how = ("--algorithm", "gd", "--learning-rate", "1e-7", "--noconstant", "--loss", "squared")
    vwlite("train", "t.csv", "--label", "y", *read_as, *how, "-m", "m", "--quiet")
    vwlite("predict", "-m", "m", "t.csv", "--append", *chosen, "-o", "o.csv", "--quiet")
    expected = vwlite("predict", "-m", "m", "t.csv", "--quiet").out.split()
    assert any("e-" in number for number in expected)
    found = [*csv.reader(Path("o.csv").read_text().splitlines(), delimiter=delimiter)]
    assert [row[:2] for row in found] == [*csv.reader(out.getvalue().splitlines(), delimiter=delimiter)]
    for _, _, p, s in found[1:]:
        assert p == s and (decimal == "." or ("e" not in p and "." not in p))
    assert [float(row[2].replace(decimal, ".")) for row in found[1:]] == [*map(float, expected)]
    roles = vwlite("describe", "o.csv", "--label", "y", *read_as).out
    assert decimal == "." or re.search(r"^prediction +numeric", roles, re.M)


def test_lines_of_fasttext_and_of_text_get_predictions_behind_tabs(vwlite):
    """Those of rows of CSV; lines stay as they are, also blank ones, and those that are skipped."""
    lines = [f"__label__{'good' if i % 3 else 'bad'} {'fine' if i % 3 else 'poor'} w{i % 5}" for i in range(200)]
    write("learned", "\n".join(lines) + "\n")
    vwlite("train", "learned", "-m", "m", "--quiet")
    mixed = ["", '__label__good fine\ttoo "x', "", "__label__good __label__bad twice", "poor w1", "__label__bad last"]
    write("d", "\r\n".join(mixed))
    skip = ("--on-error", "skip", "--quiet")
    found = vwlite("predict", "-m", "m", "d", "--append", *skip).out.split("\n")
    rows = [*csv.DictReader(io.StringIO(vwlite("predict", "-m", "m", "d", "--output-format", "csv", *skip).out))]
    shown = [row["probability"] for row in rows if row["probability"]]
    cells = iter([f"\t{'good' if float(p) >= 0.5 else 'bad'}\t{p}" for p in shown])
    assert [line.rstrip("\r") for line in found[:-1]] == [
        "" if not line else f"{line}\t\t" if "twice" in line else line + next(cells) for line in mixed]
    write("bare", "fine day\npoor day\n")
    bare = vwlite("predict", "-m", "m", "bare", "--format", "text", "--append", "--append-columns", "prediction=p",
                  "--quiet").out
    assert bare == "fine day\tgood\npoor day\tbad\n"
    told = vwlite("predict", "-m", "m", "d", "--append", "-p", "o.csv", code=2).err
    assert "o.csv: the rows stay in the format of DATA, which is fasttext" in told
    write("t.csv", "text\nfine\n")
    write("lines", "__label__bad poor\n")
    told = vwlite("predict", "-m", "m", "lines", "t.csv", "--append", "-p", "o", code=65).err
    assert "predict each by itself" in told
