"""Parquet and Arrow files from the shell: the models of CSV, byte for byte, and what is refused."""

import csv
import gc
import gzip
import io
import json
import os
import random
import struct
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running import GD, finish, start

from vwlite.core.data.batch import Batch
from vwlite.core.tables.arrow import Frame
from vwlite.core.tables.cells import Cells
from vwlite.input.arrow import text_of
from vwlite.input.schema import Schema
from vwlite.model import read_model
from vwlite.model.absent import learned

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
from tiers import ALL, drawn

ROWS = 9001  # more than two batches, and more than a row group
LOGISTIC = ["--loss", "logistic", "--labels", "0,1"]
TYPED = ["--label", "y", "--text", "t", "--tag", "id", "--importance", "w", *LOGISTIC]
COLUMNS = {
    "y": (pa.int8(), lambda i: i * 7 % 3 % 2 if i % 50 else None),
    "n": (pa.float64(), lambda i: i / 7 if i % 11 else None),
    "f": (pa.float32(), lambda i: i % 13 / 8),
    "whole": (pa.int64(), lambda i: i % 100 - 50),
    "c": (pa.string(), lambda i: f"c {i % 17}" if i % 5 else ""),
    "d": (pa.dictionary(pa.int32(), pa.string()), lambda i: f"d{i % 3}"),
    "b": (pa.bool_(), lambda i: [True, False, None][i % 3]),
    "t": (pa.large_string(), lambda i: f"Words, {i % 23} of é" * (i % 4)),
    "w": (pa.float64(), lambda i: [None, 0.5, 2.0][i % 3]),
    "id": (pa.string(), lambda i: f"row {i}|"),
}


def made() -> pa.Table:
    return pa.table({name: pa.array([of(i) for i in range(ROWS)], kind) for name, (kind, of) in COLUMNS.items()})


def as_csv(table: pa.Table) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(table.column_names)
    for row in table.to_pylist():
        writer.writerow(["" if x is None else str(x).lower() if isinstance(x, bool) else x for x in row.values()])
    return out.getvalue()


@pytest.fixture
def files(at):
    table = made()
    Path("a.csv").write_text(as_csv(table))
    pq.write_table(table, "a.parquet", row_group_size=4000)
    with pa.ipc.new_file("a.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=3000)
    with pa.ipc.new_stream("a.stream", table.schema) as writer:
        writer.write_table(table)
    return at


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("extra", [[], ["-q", "c,t", "--ngram", "2"], ["--passes", "2"], ["--hash", "all"]])
def test_files_of_arrow_give_the_model_of_csv(vwlite, files, threads, extra):
    run = [*TYPED, *extra, "--threads", threads, "--quiet"]
    vwlite("train", *GD, "a.csv", *run, "-m", "csv.model", "-p", "csv.txt")
    for name in ("a.parquet", "a.arrow"):
        vwlite("train", *GD, name, *run, "-m", "m", "-p", "p")
        assert Path("p").read_text() == Path("csv.txt").read_text()
        assert Path("m").read_bytes() == Path("csv.model").read_bytes()
    out = vwlite("predict", "-m", "csv.model", "a.csv").out
    assert vwlite("predict", "-m", "csv.model", "a.parquet").out == out
    assert "\n" in out and " row%201%7C" in out


WORDS = st.lists(st.sampled_from(["a", " b ", "a", "c|d", "", "   ", "é" * 9, "a longer word", None]), min_size=1)
COLUMN = st.tuples(WORDS, st.lists(st.integers(0, 99), min_size=40, max_size=40))


def batch_of(table, offset=0):
    """The batch of a table that is sliced, and whether its features are numbered."""
    frame = Frame(table.slice(offset).__arrow_c_stream__())
    roles = ["numeric" if kind == pa.int64() else "categorical" for kind in table.schema.types]
    schema = Schema(dict(zip(table.column_names, roles, strict=True)))
    frame.prepare(Cells(schema.cells), range(len(roles)), spaces=True)
    batch = Batch()
    frame.fill(batch, 0, whole=True)
    arrays = (batch.hash, batch.value, batch.feature_begin, batch.span_begin, batch.letter, batch.space)
    return [list(array) for array in arrays], bool(len(batch.distinct)), batch


@settings(max_examples=drawn(200), deadline=None)
@given(COLUMN, COLUMN, st.booleans(), st.integers(0, 20), st.sampled_from([pa.int8(), pa.uint32(), pa.int64()]))
def test_a_dictionary_gives_the_features_of_its_words(first, second, with_plain, offset, index):
    plain, coded = {"n": pa.array(range(40))}, {"n": pa.array(range(40))}
    for name, (words, at) in {"x": first, "y": second}.items():
        values = pa.array([None if i == 7 else i % len(words) for i in at], index)
        found = pa.DictionaryArray.from_arrays(values, pa.array(words, pa.string()))
        plain[name], coded[name] = found.cast(pa.string()), found
    truth = [i % 3 == 1 if i % 4 else None for i in range(40)]
    plain["b"], coded["b"] = pa.array([None if x is None else str(x).lower() for x in truth]), pa.array(truth)
    if with_plain:
        plain["z"] = coded["z"] = plain["x"]
    expected, numbered, _ = batch_of(pa.table(plain), offset)
    assert not numbered
    found, numbered, batch = batch_of(pa.table(coded), offset)
    assert found == expected
    if not with_plain and len(first[0]) + len(second[0]) <= 20:
        assert numbered
    if numbered:  # they are the same when the batch is in a cache, which stores the numbers only
        data = b"".join(batch.dump())
        assert list(Batch.view(bytearray(data), 0, len(data)).hash) == expected[0]


@pytest.mark.parametrize("extra", [[], ["-q", "c,d"], ["--passes", "3"], ["--hash", "all"], ["--noconstant"]])
def test_numbered_features_give_the_model_of_csv(vwlite, at, extra):
    table = made().select(["y", "n", "whole", "c", "d", "b", "w"])
    Path("a.csv").write_text(as_csv(table))
    pq.write_table(table, "a.parquet", row_group_size=5000)
    run = ["--label", "y", "--importance", "w", "--quiet", *LOGISTIC, *extra]
    vwlite("train", *GD, "a.csv", *run, "-m", "csv.model", "-p", "csv.txt")
    vwlite("train", *GD, "a.parquet", *run, "-m", "m", "-p", "p")
    assert Path("m").read_bytes() == Path("csv.model").read_bytes()
    assert Path("p").read_bytes() == Path("csv.txt").read_bytes()


@settings(max_examples=drawn(300), deadline=None)
@given(st.one_of(st.floats(), st.integers(-(2**70), 2**70).map(float), st.floats(0, 1, width=32)))
def test_a_number_as_a_label_has_the_text_of_pyarrow(x):
    for kind in (pa.float64(), pa.float32()):
        value = pa.array([x]).cast(kind, safe=False)
        if value[0].as_py() != value[0].as_py():
            continue  # the sign of NaN
        assert text_of(value[0].as_py(), kind == pa.float32(), 10).decode() == value.cast(pa.string())[0].as_py()


def test_labels_and_importances_of_any_type(vwlite, at):
    """What each row's is, as in the CSV that has the same text."""
    words, n, classes = ["b", " a|", "'c", "é", "b"], 500, ["--oaa", "9", "--classes", "auto"]
    labels = {
        "bool": (pa.bool_(), [True, False, None], LOGISTIC), "uint64": (pa.uint64(), [2**63 + 1, 5], []),
        "float16": (pa.float16(), [0.5, 3.0, None, 1e-4], []), "float32": (pa.float32(), [0.1, 1.0, 1e10], []),
        "float64": (pa.float64(), [1 / 3, -0.0, 1e22], []), "decimal": (pa.decimal128(5, 2), [Decimal("1.25")], []),
        "string_view": (pa.string_view(), [*words, "long as a string that is no part of its view"], classes),
        "large_string": (pa.large_string(), words, classes),
        "dictionary": (pa.dictionary(pa.int8(), pa.string()), words, classes),
    }
    for name, (kind, values, options) in labels.items():
        given_labels = [values[i * i % 11 % len(values)] for i in range(n)]
        table = pa.table({
            "y": pa.array(given_labels, pa.string() if pa.types.is_dictionary(kind) else kind).cast(kind),
            "x": pa.array([i % 7 for i in range(n)]),
            "w": pa.array([[1, 3, None][i % 3] for i in range(n)], pa.int64()),
        })
        pq.write_table(table, "a.parquet")
        texts = [
            "" if x is None else int(x) if isinstance(x, bool) else
            pa.array([x]).cast(kind).cast(pa.string())[0].as_py() if pa.types.is_floating(kind) else x
            for x in given_labels
        ]
        plain = table.set_column(0, "y", pa.array(list(map(str, texts))))
        Path("a.csv").write_text(as_csv(plain))
        run = ["--label", "y", "--importance", "w", "--quiet", *options]
        vwlite("train", *GD, "a.csv", *run, "-m", "csv.model")
        vwlite("train", *GD, "a.parquet", *run, "-m", "m")
        assert Path("m").read_bytes() == Path("csv.model").read_bytes(), name


def test_what_is_not_needed_is_not_imported(files):
    """pandas costs more time than a small file, and pyarrow imports it where a column becomes an array of NumPy."""
    Path("pandas.py").write_text("raise SystemExit('pandas was imported')\n")
    code = "import sys, vwlite.cli as c; sys.path.insert(0, '.'); sys.exit(c.main(sys.argv[1:]))"
    for name in ("a.parquet", "a.arrow"):
        run = [sys.executable, "-P", "-c", code, "train", *GD, name, *TYPED, "--quiet"]
        done = subprocess.run(run, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_files_are_closed_after_they_were_read(vwlite, folder):
    """A server and a notebook read many. What is left open by an error in a callback of pyarrow was all of them."""
    pq.write_table(pa.table({"y": [1.0, 2.0] * 20, "x": [0.5, 1.0, 2.0, 3.0] * 10}), "t.parquet")

    def count():
        gc.collect()
        return len(os.listdir("/dev/fd"))

    vwlite("train", "t.parquet", "--label", "y", *GD, "-m", "m")
    before, rounds = count(), 5
    for _ in range(rounds):
        vwlite("predict", "-m", "m", "t.parquet")
    assert count() < before + rounds


def test_a_stream_of_arrow_comes_from_a_pipe(vwlite, files):
    vwlite("train", *GD, "a.csv", *TYPED, "-m", "csv.model", "--quiet")
    done = finish(start("train", *GD, "--format", "arrow", *TYPED, "-m", "m", "--quiet"), Path("a.stream").read_bytes())
    assert done.code == 0, done
    assert Path("m").read_bytes() == Path("csv.model").read_bytes()
    for form in ([], ["--format", "arrow"]):  # a file that has a stream
        vwlite("train", *GD, *form, "a.stream", *TYPED, "-m", "m", "--quiet")
        assert Path("m").read_bytes() == Path("csv.model").read_bytes()
    done = finish(start("train", *GD, *TYPED), Path("a.stream").read_bytes())
    assert "give the name of the file; --format arrow reads a stream" in done.err


def test_convert_check_and_caches_know_them(vwlite, files):
    run = [*TYPED[:-4], "--ngram", "2", "--drop", "c"]  # in whose words are blanks
    Path("a.vw").write_text(vwlite("convert", "a.parquet", *run).out)
    vwlite("train", *GD, "a.vw", *LOGISTIC, "-m", "vw.model", "--quiet")
    vwlite("train", *GD, "a.parquet", *run, *LOGISTIC, "-m", "m", "--quiet")
    one, other = ({k: list(v) for k, v in learned(read_model(name)).arrays().items()} for name in ("m", "vw.model"))
    assert one.pop("weights") == pytest.approx(other.pop("weights"), rel=1e-9)
    assert one == other
    assert "data, 9001 lines, every line valid" in vwlite("check", "a.parquet", *TYPED).out
    vwlite("train", *GD, "a.csv", *TYPED, "-m", "csv.model", "--quiet")
    for _ in range(2):
        vwlite("train", *GD, "a.parquet", *TYPED, "-m", "m", "--quiet", "--cache-file", "c")
        assert Path("m").read_bytes() == Path("csv.model").read_bytes()


def test_labels_can_be_classes(vwlite, at):
    labels = ["red", "dark blue", None, "green", "red"] * 9
    table = pa.table({"y": labels, "x": range(45)})
    pq.write_table(table, "a.parquet")
    Path("a.csv").write_text(as_csv(table))
    for name in ("parquet", "csv"):
        vwlite("train", *GD, f"a.{name}", "--label", "y", "--oaa", 3, "--classes", "auto", "-m", f"{name}.model")
    assert Path("parquet.model").read_bytes() == Path("csv.model").read_bytes()


def test_files_and_text_together(vwlite, files):
    vwlite("train", *GD, "a.csv", "a.csv", *TYPED, "-m", "csv.model", "--quiet")
    vwlite("train", *GD, "a.csv", "a.parquet", *TYPED, "-m", "m", "--quiet")
    assert Path("m").read_bytes() == Path("csv.model").read_bytes()


def last(vwlite, *arguments) -> str:
    return vwlite(*arguments, code=65).err.splitlines()[-1]


def test_what_is_refused(vwlite, files):
    data = Path("a.parquet").read_bytes()
    Path("cut.parquet").write_bytes(data[: len(data) // 2])
    whole = "1:1: not a complete file of"
    assert last(vwlite, "train", *GD, "cut.parquet", "--label", "y").startswith(f"cut.parquet:{whole} Parquet: ")
    Path("bad.parquet").write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    assert last(vwlite, "train", *GD, "bad.parquet", "--label", "y").startswith(f"bad.parquet:{whole} Parquet: ")
    data = Path("a.arrow").read_bytes()
    Path("cut.arrow").write_bytes(data[: len(data) // 2])
    assert last(vwlite, "train", *GD, "cut.arrow", "--label", "y").startswith(f"cut.arrow:{whole} Arrow: ")
    assert "cannot come from a pipe" in finish(start("train", *GD, "--format", "parquet", "--label", "y"), b"PAR1").err
    pq.write_table(pa.table({"y": [1], "l": [[{"a": 1}]]}), "l.parquet")
    assert last(vwlite, "train", *GD, "l.parquet", "--label", "y") == (
        "l.parquet:1:1: column 'l' is a list, of which no feature comes: make it a number or a word, or leave it out "
        "with --drop"
    )
    vwlite("train", *GD, "l.parquet", "--label", "y", "--drop", "l")
    assert "which column is the label? train with --label NAME: y, l" in last(vwlite, "train", *GD, "l.parquet")
    said = "l.parquet:1:1: --label z: no such column; the columns are y, l"
    assert last(vwlite, "train", *GD, "l.parquet", "--label", "z") == said


def test_bad_rows_say_their_row_and_column(vwlite, at):
    table = {"y": [1.0, -1, 7, 1, 1], "a": [1.0, float("inf"), 2, 1e99, 3], "w": [1.0, 1, 1, 1, -2]}
    pq.write_table(pa.table(table), "a.parquet")
    run = ["train", *GD, "a.parquet", "--label", "y", "--importance", "w", "--loss", "logistic"]
    first = "a.parquet:2:2: column a: 'inf' is not a number; use null for missing values"
    assert last(vwlite, *run) == first
    found = vwlite(*run, "--on-error", "skip", "-m", "m").err
    assert f"{first} (skipped)\n" in found
    assert "a.parquet:3:1: column y: label 7: logistic needs -1 or 1" in found
    assert "a.parquet:4:2: column a: '1e+99' is too large for a 32-bit float (skipped)\n" in found
    assert "a.parquet:5:3: column w: importance -2 is negative or not finite (skipped)\n" in found
    assert "number of examples = 1\n" in found
    assert "a.parquet:2:2" in vwlite("predict", "-m", "m", "a.parquet", code=65).err


def test_times_are_those_of_their_text(vwlite, at):
    """Timestamps of each unit, with a zone or without, dates, numbers, words, and those of a dictionary."""
    seconds = [1769864700, None, -1, 0, 951782399, -3000000000]
    stamps = pa.array(seconds, pa.timestamp("s"))
    kinds = {unit: stamps.cast(pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")}
    kinds |= {"zone": stamps.cast(pa.timestamp("us", "UTC")), "words": stamps.cast(pa.string())}
    kinds |= {"int64": pa.array(seconds), "double": pa.array(seconds, pa.float64())}
    kinds |= {"dictionary": kinds["words"].dictionary_encode(), "coded": stamps.dictionary_encode()}
    dates = pa.array([20484, None, -1, 0, 11015, 99], pa.int32()).cast(pa.date32())
    for name, column in [*kinds.items(), ("date32", dates), ("date64", dates.cast(pa.date64()))]:
        table = pa.table({"y": [1, -1] * 3, "at": column})
        pq.write_table(table, "a.parquet")
        with pa.ipc.new_file("a.arrow", table.schema) as writer:
            writer.write_table(table)
        text = [x and x.isoformat() for x in (dates if name.startswith("date") else stamps).to_pylist()]
        Path("a.csv").write_text(as_csv(pa.table({"y": [1, -1] * 3, "at": text})))
        run = ["--label", "y", "--time", "at"]
        vwlite("train", *GD, "a.csv", *run, "-m", "csv.model")
        expected = vwlite("convert", "a.csv", *run).out
        for file in ("a.parquet", "a.arrow"):
            vwlite("train", *GD, file, *run, "-m", "m")
            assert Path("m").read_bytes() == Path("csv.model").read_bytes(), name
            assert vwlite("convert", file, *run).out == expected, name
        assert vwlite("predict", "a.parquet", "-m", "m").out == vwlite("predict", "a.csv", "-m", "m").out


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata", "Pacific/Apia", "-03:30", "Europe/Dublin"])
def test_the_hour_of_a_time_with_a_zone_is_that_of_its_clocks(vwlite, at, zone):
    """As its text has it, on days of change, before 1970 and at the ends of years; in models of 0.2.0, UTC."""
    around = [1741503600, 1762063200, 1325239200, -86400 * 365 * 40, 1711846800, 4102444800]
    info = ZoneInfo(zone) if zone[0].isalpha() else timezone(-timedelta(hours=3, minutes=30))
    seconds = [x + step for x in around for step in (-7201, -1, 0, 1799, 3600, 43200)]
    for unit in ("s", "ms", "us"):
        stamps = pa.array(seconds, pa.timestamp("s")).cast(pa.timestamp(unit)).cast(pa.timestamp(unit, zone))
        y = [1, -1] * (len(seconds) // 2)
        pq.write_table(pa.table({"y": y, "at": stamps}), "a.parquet")
        moments = (datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=x) for x in seconds)
        text = [moment.astimezone(info).isoformat() for moment in moments]
        Path("a.csv").write_text(as_csv(pa.table({"y": y, "at": text})))
        run = ["--label", "y", "--time", "at"]
        for file in ("a.csv", "a.parquet"):
            vwlite("train", *GD, file, *run, "-m", f"{file}.model")
        assert Path("a.csv.model").read_bytes() == Path("a.parquet.model").read_bytes(), unit
        expected = vwlite("convert", "a.csv", *run).out
        assert vwlite("convert", "a.parquet", *run).out == expected, unit
        assert vwlite("predict", "a.parquet", "-m", "a.csv.model").out == vwlite(
            "predict", "a.csv", "-m", "a.csv.model").out
    found = []
    for absents in (False, True):
        frame, batch = Frame(pa.table({"at": stamps}).__arrow_c_stream__()), Batch()
        frame.prepare(Cells([("at", 3)], absents=absents), [0])
        frame.fill(batch, 0)
        found.append([*batch.hash])
    plain, batch = Frame(pa.table({"at": stamps.cast(pa.timestamp("us"))}).__arrow_c_stream__()), Batch()
    plain.prepare(Cells([("at", 3)]), [0])
    plain.fill(batch, 0)
    assert found[0] == [*batch.hash] != found[1]


def test_an_unknown_zone_is_an_error(vwlite, at):
    pq.write_table(pa.table({"y": [1], "at": pa.array([1], pa.timestamp("s", "Nowhere/Land"))}), "a.parquet")
    said = last(vwlite, "convert", "a.parquet", "--label", "y", "--time", "at")
    assert "column 'at': the time zone 'Nowhere/Land' is unknown on this computer: pip install tzdata" in said


def test_words_that_are_numbers_are_read_if_the_column_is_numeric(vwlite, at):
    """As those of CSV, by --numeric and by the model; else a note advises it."""
    y, words = [1, -1, 1, -1], ["1.5", " -2 ", "NA", "1e3"]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        table = pa.table({"y": y, "a": pa.array(words, kind)})
        with pa.ipc.new_file("a.arrow", table.schema) as writer:
            writer.write_table(table)
        Path("a.csv").write_text("y,a\n" + "".join(f"{i},{word}\n" for i, word in zip(y, words, strict=True)))
        for file in ("a.csv", "a.arrow"):
            vwlite("train", *GD, file, "--label", "y", "--numeric", "a", "-m", f"{file}.model")
        assert Path("a.csv.model").read_bytes() == Path("a.arrow.model").read_bytes()
        rows = {vwlite("predict", file, "-m", "a.csv.model").out for file in ("a.csv", "a.arrow")}
        assert len(rows) == 1
        expected = vwlite("convert", "a.csv", "--label", "y").out
        assert vwlite("convert", "a.arrow", "--label", "y", "--numeric", "a").out == expected
    table = pa.table({"y": y, "a": ["1", "2", "x", "9" * 50]})
    pq.write_table(table, "a.parquet")
    run = ["train", *GD, "a.parquet", "--label", "y", "--numeric", "a", "-m", "m"]
    assert "column a: 'x' is not a number of 32 bits" in last(vwlite, *run)
    assert vwlite(*run, "--on-error", "skip").err.count("(skipped)") == 2
    pq.write_table(pa.table({"y": y, "a": ["1", "2", "2", "5"], "b": ["1", "2", "x", "3"]}), "a.parquet")
    said = vwlite("train", *GD, "a.parquet", "--label", "y", "-m", "m").err
    assert "column a: its words are all numbers, and each is a category: --numeric a makes it numeric" in said
    assert "column b" not in said


def test_bad_times_say_their_row_and_column(vwlite, at):
    run = ["train", *GD, "a.parquet", "--label", "y", "--time", "at"]
    columns = {
        "'x'": pa.array(["2026-01-31", "x", ""]), "'2024.0'": pa.array([1e9, 2024.0, None]),
        "'253402300800000'": pa.array([0, 253402300800000, 1], pa.timestamp("ms")),
        "'9999999'": pa.array([0, 9999999, 1], pa.int32()).cast(pa.date32()),
    }
    for shown, column in columns.items():
        pq.write_table(pa.table({"y": [1, -1, 1], "at": column}), "a.parquet", store_schema=True)
        said = f"a.parquet:2:2: column at: {shown} is not a time: expected ISO 8601, such as 2026-01-31T13:05:00Z, or "
        assert last(vwlite, *run) == said + "seconds since 1970"
        found = vwlite(*run, "--on-error", "skip").err
        assert said in found and "number of examples = 2\n" in found
        assert len(vwlite("convert", "a.parquet", *run[4:], "--on-error", "skip").out.splitlines()) == 2
    pq.write_table(pa.table({"y": [1], "at": [True]}), "a.parquet")
    assert last(vwlite, *run) == "a.parquet:1:1: column 'at' is true or false, so it cannot be a time"
    pq.write_table(pa.table({"y": [1], "at": pa.array([1], pa.timestamp("s"))}), "a.parquet")
    said = "column 'at' is a timestamp: read it with --time, as hour, weekday and month, or leave it out with --drop"
    assert last(vwlite, *run[:-2], "--text", "at") == f"a.parquet:1:1: {said}"


def test_nan_is_missing_as_in_csv(vwlite, at):
    """In numeric columns, the label and the importance, of any width; and so are the words of --missing."""
    nan, table = float("nan"), {}
    table["y"] = pa.array([1.0, nan, -1, 1, None])
    table |= {f"n{k}": pa.array([1.0, nan, 2, -999, 4], pa.float64()).cast(k) for k in ("double", "float", "halffloat")}
    table |= {"w": pa.array([1.0, 1, nan, 2, 1]), "c": ["NaN", "NA", "a", "b", "c"], "i": [1, -999, 3, 4, 5]}
    pq.write_table(pa.table(table), "a.parquet")
    Path("a.csv").write_text(as_csv(pa.table(table)))
    run = ["--label", "y", "--importance", "w"]
    for missing in ([], ["--missing", "nan,-999,-999.0"]):
        for name in ("csv", "parquet"):
            vwlite("train", *GD, f"a.{name}", *run, *missing, "-m", f"{name}.model")
        assert Path("csv.model").read_bytes() == Path("parquet.model").read_bytes()
        text = vwlite("convert", "a.parquet", *run, *missing).out
        assert text.replace(".0", "") == vwlite("convert", "a.csv", *run, *missing).out.replace(".0", "")
        assert " |c c=NA" in text.splitlines()[1] and ("-999" in text) == (not missing)
    first = "a.parquet:2:1: column y: label 'nan' is not a finite number"
    assert last(vwlite, "train", *GD, "a.parquet", *run, "--missing", "") == first
    said = "a.parquet:2:1: column ndouble: 'nan' is not a number; use null for missing values"
    typed = ["--label", "i", "--drop", "y,w,nfloat,nhalffloat", "--missing", ""]
    assert last(vwlite, "train", *GD, "a.parquet", *typed) == said


@pytest.mark.parametrize("threads", [1, 3])
def test_bad_rows_have_their_place_as_those_of_csv(vwlite, at, threads):
    """In predictions, for the holdout, in what is counted, in names and in a cache."""
    rows = 9001
    table = pa.table({
        "y": [[1, -1, None, 7][i % 4 if i % 97 == 3 else i % 2] for i in range(rows)],
        "n": [float("inf") if i % 1000 == 5 else i % 7 / 4 for i in range(rows)],
        "c": [f"c{i % 13}" for i in range(rows)],
        "w": [-1.0 if i % 500 == 7 else 1.0 for i in range(rows)],
        "id": [f"t{i}" for i in range(rows)],
    })
    pq.write_table(table, "a.parquet", row_group_size=5000)
    Path("a.csv").write_text(as_csv(table))
    skip, found = ["--on-error", "skip", "--threads", threads], {}
    roles = ["--label", "y", "--numeric", "n", "--importance", "w", "--tag", "id"]
    for name in ("a.csv", "a.parquet"):
        train = ["train", *GD, name, *roles, "--loss", "logistic", "--passes", 2, *skip, "-m", "m", "--names"]
        said = vwlite(*train, "--cache-file", f"{name}.cache", "-p", "trained").err
        data = Path("m").read_bytes()
        again = vwlite(*(word for word in train if word != "--names"), "--cache-file", f"{name}.cache", "-p", "-").out
        assert again == Path("trained").read_text()
        found[name] = [
            data, again, said[said.index("finished run") : said.index("seconds")],
            vwlite("predict", "-m", "m", name, *skip).out,
            sorted(vwlite("convert", name, *roles, *skip).out.replace(":1.0 ", ":1 ").split()),
        ]
    assert found["a.csv"][:4] == found["a.parquet"][:4]
    assert len(found["a.csv"][4]) == len(found["a.parquet"][4])
    predicted = found["a.parquet"][3].split("\n")
    assert len(predicted) == rows + 1 and [i for i in range(rows) if not predicted[i]] == [
        i for i in range(rows) if i % 1000 == 5 or i % 500 == 7
    ]
    assert "data, 9001 lines" in vwlite("check", "a.parquet", *roles, code=1).out


def test_convert_says_bad_rows(vwlite, at):
    pq.write_table(pa.table({"y": [1, -1, 1], "n": [1.0, float("inf"), 3.0]}), "a.parquet")
    bad = vwlite("convert", "a.parquet", "--label", "y", code=65)
    assert bad.out == "1 |n n:1\n"
    assert "a.parquet:2:2: column n: 'inf' is not a number" in bad.err
    assert vwlite("convert", "a.parquet", "--label", "y", "--on-error", "skip").out == "1 |n n:1\n1 |n n:3\n"
    pq.write_table(pa.table({"y": [1], "d": pa.array([1], pa.timestamp("s"))}), "b.parquet")
    assert "column 'd' is a timestamp" in last(vwlite, "convert", "b.parquet", "--label", "y", "--text", "d")


@pytest.mark.parametrize("kind", ["list", "struct", "map", "timestamp", "binary"])
def test_labels_and_importances_are_numbers_or_words(vwlite, at, kind):
    column = {
        "list": pa.array([[1.0], [2.0]]), "struct": pa.array([{"a": 1}] * 2), "binary": pa.array([b"a", b"b"]),
        "timestamp": pa.array([1, 2], pa.timestamp("s")),
        "map": pa.array([[("a", 1)]] * 2, pa.map_(pa.string(), pa.int64())),
    }[kind]
    pq.write_table(pa.table({"y": column, "x": [1, 2]}), "y.parquet")
    if kind in ("list", "struct", "map"):
        said = last(vwlite, "train", *GD, "y.parquet", "--label", "y")
        assert said.startswith("y.parquet:1:1: column y: a label is a number or a word, not a value of the Arrow")
    pq.write_table(pa.table({"y": [1, 2], "w": column}), "w.parquet")
    for command in (("train", *GD), ("convert",)):
        said = last(vwlite, *command, "w.parquet", "--label", "y", "--importance", "w")
        assert said.startswith("w.parquet:1:2: column w: an importance is a number, not a value of the Arrow type ")
        assert said.endswith(": convert it, or leave --importance out")


def test_booleans_and_words_can_be_labels_and_importances(vwlite, at):
    """The same as numbers, and convert says the same of them."""
    weights = {"w": ["1", None, " 0.5 ", "x", "inf", "1_0", "-1"], "bool": [True, None, False, True, True, True, True]}
    pq.write_table(pa.table({"y": [True, False] * 3 + [None], "x": [1.5] * 7, **weights}), "a.parquet")
    bad = [f"a.parquet:{row}:3: column w: importance '{word}' is negative or not finite (skipped)"
           for row, word in ((4, "x"), (5, "inf"), (6, "1_0"), (7, "-1"))]
    for weight, wrong in (("w", bad), ("bool", [])):
        other = "bool" if weight == "w" else "w"
        run = ["a.parquet", "--label", "y", "--importance", weight, "--drop", other, "--on-error", "skip"]
        Path("a.vw").write_text((converted := vwlite("convert", *run)).out)
        trained = vwlite("train", *GD, *run, "-m", "a")
        for err in (converted.err, trained.err):
            assert [line for line in err.splitlines() if "(skipped)" in line] == wrong
        vwlite("train", *GD, "a.vw", "-m", "b")
        assert list(learned(read_model("a")).weights) == list(read_model("b").weights)
    assert Path("a.vw").read_text().startswith("1 1 |x x:1.5\n0 |x x:1.5\n1 0 |x x:1.5\n0 1 |")


def test_without_pyarrow_there_is_a_sentence(vwlite, files, monkeypatch):
    from vwlite.input import arrow

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(arrow, "import_module", missing)
    assert last(vwlite, "train", *GD, "a.parquet", "--label", "y") == (
        "a.parquet:1:1: a file of parquet: pip install 'vwlite[arrow]', or write it as CSV"
    )


# --- damaged files -------------------------------------------------------------------------------

# Runs commands in one process, and says which it begins: so a crash is seen, and which file it was.
COMMANDS = """
import json, os, resource, sys
from vwlite import cli
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
report = os.fdopen(os.dup(1), "w")

def peak():
    # Linux counts that of the parent before exec into ru_maxrss.
    try:
        lines = open("/proc/self/status").read().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) >> 10
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
for words in json.load(open("commands.json")):
    with open("said", "wb") as said:
        os.dup2(said.fileno(), 2)
    print("begin", *words[:2], file=report, flush=True)
    code = 0
    try:
        cli.main(words)
    except SystemExit as e:
        code = e.code
    except BaseException as e:
        code = repr(e)
    last = open("said", errors="replace").read().strip().split("\\n")[-1]
    print("end", code, peak(), last, file=report, flush=True)
"""
CHANGED = drawn(25)  # files of each kind


def kinds_of_files():
    """Small files with every type of column that is read, of every kind: (name, bytes)."""
    n = 260
    table = pa.table({
        "y": pa.array([i % 2 for i in range(n)], pa.int8()),
        "n": [i / 7 if i % 11 else None for i in range(n)],
        "c": [f"c {i % 17}" if i % 5 else None for i in range(n)],
        "d": pa.array([f"d{i % 3}" for i in range(n)]).dictionary_encode(),
        "b": [[True, False, None][i % 3] for i in range(n)],
        "t": pa.array([f"Words, {i % 23} of é" * (i % 4) for i in range(n)], pa.large_string()),
        "v": pa.array([f"longer than a view has room for {i % 5}" for i in range(n)], pa.string_view()),
        "w": [[None, 0.5, 2.0][i % 3] for i in range(n)],
        "id": [f"row {i}" for i in range(n)],
        "whole": pa.array([i % 9 for i in range(n)]).dictionary_encode(),
        "nothing": pa.nulls(n),
    })
    for codec in (None, "lz4", "zstd"):
        options = pa.ipc.IpcWriteOptions(compression=codec)
        for name, opened in (("file", pa.ipc.new_file), ("stream", pa.ipc.new_stream)):
            sink = pa.BufferOutputStream()
            with opened(sink, table.schema, options=options) as writer:
                writer.write_table(table, max_chunksize=100)
            yield f"{codec}.{name}", sink.getvalue().to_pybytes()
    table = table.set_column(6, "v", table["v"].cast(pa.string()))
    for codec, version in (("none", "1.0"), ("snappy", "2.0")):
        for checksums in (False, True):
            sink = pa.BufferOutputStream()
            pq.write_table(
                table, sink, compression=codec, row_group_size=130, data_page_version=version,
                write_page_checksum=checksums,
            )
            yield f"{codec}.{checksums}.parquet", sink.getvalue().to_pybytes()


@pytest.mark.drawn
def test_damaged_files_end_with_a_sentence(vwlite, at):
    """One to eight bits of each are flipped, half the time near the end, where the metadata is."""
    rng, commands = random.Random(25), []
    roles = ["--label", "y", "--text", "t", "--tag", "id", "--importance", "w"]
    for name, data in kinds_of_files():
        for i in range(CHANGED):
            changed = bytearray(data)
            begin = len(data) - 4000 if i % 2 and len(data) > 4000 else 0
            for _ in range(rng.choice([1, 2, 4, 8]) if i else 0):
                bit = rng.randrange(8 * begin, 8 * len(data))
                changed[bit >> 3] ^= 1 << (bit & 7)
            file = f"{i}.{name}"
            Path(file).write_bytes(changed)
            form = ["--format", "arrow"] if name.endswith("stream") else []
            commands.append(["train", file, *form, *roles, *GD, "--loss", "logistic", "--labels", "0,1", "-m", "m"])
            commands.append(["convert", file, *form, "--label", "y"])
    Path("commands.json").write_text(json.dumps(commands))
    done = subprocess.run([sys.executable, "-P", "-c", COMMANDS], capture_output=True, text=True)
    head, ended = (
        [line for line in done.stdout.splitlines() if line.startswith(word)] for word in ("begin", "end")
    )
    assert done.returncode == 0, (done.returncode, head[-1:])
    assert len(head) == len(ended) == len(commands)
    codes = set()
    for words, line in zip(commands, ended, strict=True):
        code, megabytes, said = line.split(" ", 3)[1:] if line.count(" ") > 2 else [*line.split()[1:], ""]
        codes.add(code)
        assert code in ("0", "65"), (words, line)
        assert code == "0" or said.startswith(words[1] + ":"), (words, line)
        assert int(megabytes) < 1000, (words, line)
        assert code == "0" or not words[1].startswith("0."), (words, line)
    assert codes == {"0", "65"}


CUT_SHORT = """
import os, sys
from vwlite.errors import DataError
from vwlite.input.arrow import rows_of
from vwlite.input.schema import RoleOptions
from vwlite.input.tables import TableReader
rows = rows_of(sys.argv[1], "arrow", 0, TableReader(RoleOptions(label="y")), lambda: False)
first = next(rows).context
os.truncate(sys.argv[1], os.path.getsize(sys.argv[1]) // 3)
print(first.batch.column(0).to_pylist()[:3])
try:
    print(sum(task.context.batch.num_rows for task in rows))
except DataError as e:
    print(e)
"""


def test_an_arrow_file_that_is_cut_off_while_it_is_read(at):
    """Memory that is mapped ends the process then, by SIGBUS."""
    table = pa.table({"y": [1.0, -1.0] * 50_000, "x": range(100_000)})
    for name, opened in (("file", pa.ipc.new_file), ("stream", pa.ipc.new_stream)):
        with opened(name, table.schema) as writer:
            writer.write_table(table, max_chunksize=10_000)
        done = subprocess.run([sys.executable, "-P", "-c", CUT_SHORT, name], capture_output=True, text=True)
        assert done.returncode == 0, done
        first, last = done.stdout.splitlines()
        assert first == "[1.0, -1.0, 1.0]"
        assert last.startswith(f"{name}:") and ":1: not a complete file of Arrow: " in last
        assert int(last.split(":")[1]) > 10_000  # the row from which on it cannot be read


def test_checksums_of_pages_are_looked_at(vwlite, at):
    table = pa.table({"y": [1.0, -1.0, 1.0], "x": [1.5, 12345.678, 1e6]})
    pq.write_table(table, "a.parquet", compression="none", write_page_checksum=True, use_dictionary=False)
    data = Path("a.parquet").read_bytes()
    place = data.index(struct.pack("<d", 12345.678))
    vwlite("train", *GD, "a.parquet", "--label", "y")
    Path("a.parquet").write_bytes(data[:place] + b"\x01" + data[place + 1 :])
    said = last(vwlite, "train", *GD, "a.parquet", "--label", "y")
    assert said.startswith("a.parquet:1:1: not a complete file of Parquet: ") and "CRC" in said


FOOTER = """
import pyarrow as pa, pyarrow.parquet as pq
from vwlite.errors import DataError
from vwlite.input.arrow import rows_of
from vwlite.input.schema import RoleOptions
from vwlite.input.tables import TableReader
pq.write_table(pa.table({"y": ["a", None, "b"]}), "a.parquet")
data = open("a.parquet", "rb").read()
begin, end, good = len(data) - 8 - int.from_bytes(data[-8:-4], "little"), len(data) - 8, 0
for bit in range(8 * begin, 8 * end, STEP):
    changed = bytearray(data)
    changed[bit >> 3] ^= 1 << (bit & 7)
    open("b.parquet", "wb").write(changed)
    try:
        good += len(list(rows_of("b.parquet", "parquet", 0, TableReader(RoleOptions()), lambda: False)))
    except DataError:
        pass
print(good)
"""


@pytest.mark.drawn
def test_a_damaged_footer_of_parquet(at):
    """pyarrow ends the process when Python looks at the metadata of a column that has statistics of another type."""
    script = FOOTER.replace("STEP", "3" if ALL else "7")
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True)
    assert done.returncode == 0 and int(done.stdout) > 0, done


@pytest.mark.parametrize(("name", "kind"), [("a.parquet", "Parquet"), ("a.arrow", "Arrow")])
def test_what_is_not_a_text_is_found_where_it_is_compressed(vwlite, files, name, kind):
    data = Path(name).read_bytes()
    Path("a.gz").write_bytes(gzip.compress(data))
    expected = f"1:1: {kind} in a compressed file or from standard input: decompress it, and give the name of the file"
    vwlite("train", *GD, "a.csv", *TYPED, "-m", "csv.model", "--quiet")
    assert last(vwlite, "train", *GD, "a.gz", *TYPED) == f"a.gz:{expected}"
    assert last(vwlite, "predict", "a.gz", "-m", "csv.model") == f"a.gz:{expected}"
    assert last(vwlite, "convert", "a.gz", *TYPED[:2]) == f"a.gz:{expected}"
    done = finish(start("train", *GD, "--label", "y"), data)
    assert (done.code, done.err.splitlines()[-1]) == (65, f"<stdin>:{expected}")


def test_views_can_be_converted_past_bad_rows(vwlite, at):
    words = pa.array(["one", None, "a word that is longer than a view", "three"], pa.string_view())
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), words)
    for name, column in (("views", words), ("dictionary", coded)):
        table = pa.table({"y": [1.0, -1.0, 1.0, 1.0], "x": [1.0, float("inf"), 2.0, 3.0], "w": column})
        with pa.ipc.new_file("a.arrow", table.schema) as writer:
            writer.write_table(table)
        out = vwlite("convert", "a.arrow", "--label", "y", "--on-error", "skip").out
        assert out.splitlines() == [
            "1 |x x:1 |w w=one", "1 |x x:2 |w w=a%20word%20that%20is%20longer%20than%20a%20view", "1 |x x:3 |w w=three"
        ], name
