"""`vwlite split`: rows by hash, by group, by label and by time, in every format."""

import csv
import gzip
import io
import json
import os
import random
import signal
import stat
from collections import Counter
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import mmh3
import pytest
from running import finish, start

from vwlite.core.base.checksum import row_hashes

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
OUT = ["-o", "train", "-o", "test"]
NAMES = ["y", "who", "at", "x", "note"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def drawn(n, seed=0):
    """Rows of a table: quotes, delimiters and line ends in cells, equal rows, rare labels, equal times."""
    draw = random.Random(seed)
    found = [
        (str(int(draw.random() < 0.1)), f"c{draw.randrange(40)}", f"2026-0{draw.randrange(1, 9)}-1{draw.randrange(9)}",
         str(draw.randrange(1000)), draw.choice(['say "hi", you', "two\nlines", "plain", "tab\tin it", ""]))
        for _ in range(n)
    ]
    return found + draw.sample(found, n // 5)


def record(row, delimiter, end):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerow(row)
    return out.getvalue().replace("\n", end).encode()


def text_of(rows, kind, end="\n"):
    """The text of each row, after that of the header."""
    if kind in ("csv", "tsv"):
        return [record(row, {"csv": ",", "tsv": "\t"}[kind], end) for row in [NAMES, *rows]]
    if kind == "jsonl":
        return [b"", *((json.dumps(dict(zip(NAMES, row, strict=True))) + end).encode() for row in rows)]
    if kind == "vw":
        return [b"", *(f"{2 * int(y) - 1} |f {who} x:{x}{end}".encode() for y, who, _, x, _ in rows)]
    if kind == "libsvm":
        return [b"", *(f"{y} {int(x) + 1}:0.5{end}".encode() for y, _, _, x, _ in rows)]
    return [b"", *(f"shared |u {who}{end}0:{y}:0.5 |a {x}{end}|a b{end}{end}".encode() for y, who, _, x, _ in rows)]


def hash_of(key, seed=0):
    return mmh3.hash64(key, seed, signed=False)[0] / 2**64


def key_of(text):
    return text.replace(b"\r\n", b"\n").removesuffix(b"\n")


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "vw", "libsvm", "examples"])
def test_a_row_is_in_the_test_if_its_hash_is_below_the_share(kind, vwlite, here):
    name = f"data.{'vw' if kind == 'examples' else kind}"
    header, *rows = text_of(drawn(400), kind)
    Path(name).write_bytes(b"".join([header, *rows]))
    vwlite("split", name, "--test", "0.3", *OUT)
    expected = [[row for row in rows if (hash_of(key_of(row)) < 0.3) == side] for side in (False, True)]
    assert [Path(part).read_bytes() for part in ("train", "test")] == [b"".join([header, *part]) for part in expected]
    is_in_test = {key_of(row) for row in expected[1]}
    # Tomorrow: more rows, in another order, with other line ends and without the last one, compressed, from a pipe.
    header, *more = text_of(drawn(400) + drawn(300, seed=1), kind, "\r\n")
    random.Random(2).shuffle(more)
    more[-1] = more[-1].rstrip(b"\r\n") + b"\n" * (1 + (kind == "examples"))
    Path(name + ".gz").write_bytes(gzip.compress(b"".join([header, *more])[:-1]))
    vwlite("split", name + ".gz", "--test", "0.3", "-o", "train.gz", "-o", "test")
    expected = [[row for row in more if (hash_of(key_of(row)) < 0.3) == side] for side in (False, True)]
    assert [gzip.decompress(Path("train.gz").read_bytes()), Path("test").read_bytes()] \
        == [b"".join([header, *part]) for part in expected]
    assert is_in_test <= {*map(key_of, expected[1])}
    assert not is_in_test & {*map(key_of, expected[0])}
    data = b"".join([header, *more])
    format = [] if kind == "examples" else ["--format", kind]
    done = finish(start("split", *format, "--test", "0.3", "-o", "piped", "-o", "-"), data)
    assert done.code == 0
    assert Path("piped").read_bytes().startswith(header)
    assert done.out.encode() == b"".join([header, *expected[1]])


def few_rows(n, seed=0):
    """Eight different rows."""
    draw = random.Random(seed)
    return [f"p{draw.randrange(4)},{draw.randrange(2)}\n" for _ in range(n)]


def numbered(rows, seed=0):
    """The hash of each row, of a copy with its number in a line behind it."""
    seen = Counter()
    for row in rows:
        seen[row] += 1
        key = row.rstrip("\n").encode()
        yield hash_of(key if seen[row] == 1 else key + b"\n%d" % seen[row], seed)


@pytest.mark.parametrize("seed", [0, 5])
def test_copies_that_are_apart_are_hashed_with_their_number(seed, vwlite, here):
    rows = few_rows(300)
    Path("a.csv").write_text("plan,y\n" + "".join(rows))
    run = ["split", "a.csv", "--test", "0.3", "--copies", "apart", "--seed", seed]
    said = vwlite(*run, *OUT).err
    assert "note" not in said
    expected = [row for row, hash in zip(rows, numbered(rows, seed), strict=True) if hash < 0.3]
    assert Path("test").read_text() == "plan,y\n" + "".join(expected)
    assert {*expected} == {*rows} and 60 < len(expected) < 120
    # Tomorrow: what was in the test stays there, in any order, and each label has its share.
    more = rows + few_rows(100, seed=1)
    random.Random(2).shuffle(more)
    Path("a.csv").write_text("plan,y\n" + "".join(more))
    vwlite(*run, *OUT)
    assert not Counter(expected) - Counter(Path("test").read_text().splitlines(keepends=True)[1:])
    vwlite(*run, "--stratify", "--label", "y", *OUT)
    found = Counter(line[-2] for line in Path("test").read_text().splitlines(keepends=True)[1:])
    for label, count in Counter(row[-2] for row in more).items():
        assert abs(found[label] - 0.3 * count) <= 0.5
    for other in (["--group", "plan"], ["--time", "y"]):
        assert "--copies" in vwlite(*run, *other, *OUT, code=2).err


def test_hashes_are_those_of_murmur_hash_3():
    chance = random.Random(1)
    texts = [bytes(chance.randrange(256) for _ in range(n % 70)) for n in range(500)]
    for seed in (0, 1, 77, 2**32 - 1):
        assert list(row_hashes(texts, seed)) == [mmh3.hash64(text, seed, signed=False)[0] for text in texts]
    assert list(row_hashes([], 0)) == []
    with pytest.raises(TypeError):
        row_hashes(["text"], 0)


def test_a_note_says_how_many_rows_are_different_and_the_share(vwlite, here):
    rows = few_rows(300)
    Path("a.csv").write_text("plan,y\n" + "".join(rows))
    said = vwlite("split", "a.csv", "--test", "0.3", *OUT).err
    share = (Path("test").read_text().count("\n") - 1) / 3
    assert f"note: 300 rows, of which 8 are different; TEST has {share:.1f} % of them, and --test is 30 %" in said
    assert "--copies apart" in said
    # No note where each row is another one, or where most are and the share is as wanted.
    for distinct in ([f"{k},{k % 2}\n" for k in range(300)], [f"{k % 280},1\n" for k in range(300)]):
        Path("a.csv").write_text("plan,y\n" + "".join(distinct))
        assert "note" not in vwlite("split", "a.csv", "--test", "0.3", *OUT).err
    Path("a.csv").write_text("plan,y\n" + "a,1\n" * 250 + "b,1\n" * 49 + "c,1\n")
    said = next(done for seed in range(99) for done in [
        vwlite("split", "a.csv", "--test", "0.3", "--group", "plan", "--seed", seed, *OUT, code=None)
    ] if done.code == 0)
    share = (Path("test").read_text().count("\n") - 1) / 3
    assert f"note: 300 rows of 3 groups; TEST has {share:.1f} % of them" in said.err


def test_lines_of_fasttext_have_labels_and_no_columns(vwlite, here):
    lines = [f"__label__{'a' if i % 3 else chr(39) + 'b'} word{i} and more\n" for i in range(300)]
    Path("data").write_text("".join(lines))
    vwlite("split", "data", "--stratify", "--test", "0.3", *OUT)
    parts = [Path(name).read_text().splitlines(keepends=True) for name in ("train", "test")]
    assert sorted(parts[0] + parts[1]) == sorted(lines)
    assert [sum(line.startswith("__label__a ") for line in part) for part in parts] == [140, 60]
    assert len(parts[1]) == 90
    done = finish(start("split", "--test", "0.3", "-o", "a", "-o", "-"), "".join(lines).encode())
    expected = [line for line in lines if hash_of(line.rstrip("\n").encode()) < 0.3]
    assert done.code == 0 and done.out == "".join(expected)
    for words in (["--group", "text"], ["--time", "text"], ["--stratify", "--label", "label"]):
        assert "fasttext text has no columns" in vwlite("split", "data", *words, *OUT, code=65).err
    found = vwlite("split", "data", "-o", "train.csv", "-o", "test", code=2).err
    assert "train.csv: the rows stay in the format of DATA, which is fasttext" in found


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_groups_labels_and_times(kind, vwlite, here):
    rows = drawn(600)
    name = f"data.{kind}"
    if kind in ("parquet", "arrow"):
        table = pa.table({name: list(column) for name, column in zip(NAMES, zip(*rows, strict=True), strict=True)})
        table = table.set_column(2, "at", table["at"].cast(pa.timestamp("s")))
        table = table.set_column(3, "x", table["x"].cast("int64"))
        if kind == "parquet":
            pq.write_table(table, name, row_group_size=100)
        else:
            with pa.ipc.new_file(name, table.schema) as file:
                file.write_table(table, max_chunksize=100)
        schema = pq.read_table(name).schema if kind == "parquet" else table.schema
    else:
        Path(name).write_bytes(b"".join(text_of(rows, kind)))

    def split(*words):
        vwlite("split", name, "--test", "0.25", *words, *(["-o", f"train.{kind}", "-o", f"test.{kind}"]))
        found = []
        for part in (f"train.{kind}", f"test.{kind}"):
            if kind in ("parquet", "arrow"):
                back = pq.read_table(part) if kind == "parquet" else pa.ipc.open_file(part).read_all()
                assert back.schema == schema
                back = back.set_column(2, "at", back["at"].cast(pa.date32()).cast("string"))
                back = back.set_column(3, "x", back["x"].cast("string"))
                found.append(list(zip(*(column.to_pylist() for column in back.columns), strict=True)))
            elif kind == "jsonl":
                found.append([tuple(json.loads(line).values()) for line in Path(part).read_text().splitlines()])
            else:
                with open(part, newline="") as file:
                    found.append([tuple(row) for row in csv.reader(file, delimiter="," if kind == "csv" else "\t")][1:])
        assert sorted(found[0] + found[1]) == sorted(rows)
        assert [*map(found[0].count, found[1])] == [0] * len(found[1]), "equal rows are together"
        return found

    assert split("--group", "who", "--seed", "3") == [
        [row for row in rows if (hash_of(row[1], 3) < 0.25) == side] for side in (False, True)]
    shares = [Counter(row[0] for row in part) for part in split("--stratify", "--label", "y")]
    for label, n in Counter(row[0] for row in rows).items():
        assert abs(shares[1][label] - 0.25 * n) <= 1 + max(Counter(rows).values()) / 2
    train, test = split("--time", "at")
    first = min(row[2] for row in test)
    assert max(row[2] for row in train) < first
    assert sum(row[2] > first for row in rows) < 0.25 * len(rows) <= len(test)


def test_within_a_label_the_test_has_the_smallest_hashes(vwlite, here):
    _, *rows = text_of(drawn(500), "vw")
    rows = list(dict.fromkeys(rows))
    Path("a.vw").write_bytes(b"".join(rows))
    vwlite("split", "a.vw", "--stratify", "--test", "0.2", *OUT)
    expected = set()
    for label in (b"1 ", b"-1 "):
        alike = sorted((row for row in rows if row.startswith(label)), key=lambda row: hash_of(key_of(row)))
        expected |= {*alike[: int(0.2 * len(alike) + 0.5)]}
    assert Path("test").read_bytes() == b"".join(row for row in rows if row in expected)


TIMES = ["2026-01-31T13:05:00Z", "2026-01-31T13:05:00.25+01:00", "20260131T130500", "2026-01-30 23:59", "2026-02-01",
         "2024-02-29T00:00:00-11:30", "1969-07-20", "20260201"]


def test_times_are_ordered_as_python_does(vwlite, here):
    def seconds(text):
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()

    for k in range(1, len(TIMES)):
        Path("a.csv").write_text("at\n" + "".join(f"{text}\n" for text in TIMES[:k + 1]))
        vwlite("split", "a.csv", "--time", "at", "--test", f"{0.5 / (k + 1)}", *OUT, code=None)
        newest = max(map(seconds, TIMES[:k + 1]))
        assert Path("test").read_text().split("\n")[1:-1] == [x for x in TIMES[:k + 1] if seconds(x) == newest]
    Path("a.csv").write_text("year\n2019\n2021\n2020\n-1e3\n")
    assert vwlite("split", "a.csv", "--time", "year", "--test", "0.3", *OUT).err == \
        "train: 2 rows\ntest: 2 rows, from 2020 on\n"


def test_a_share_of_months_weeks_and_years(vwlite, here):
    """A fifth of ten equal parts is two of them."""
    for form, since in (("2025-{:02}", "2025-09"), ("2025-W{:02}", "2025-W09"), ("20{:02}", "2009"),
                        ("2025-01-31 {:02}:00 UTC", "2025-01-31 09:00 UTC")):
        Path("a.csv").write_text("at\n" + "".join(f"{form.format(i % 10 + 1)}\n" for i in range(300)))
        said = vwlite("split", "a.csv", "--time", "at", *OUT).err
        assert said == f"train: 240 rows\ntest: 60 rows, from {since} on\n"
    Path("a.csv").write_text("at\n2025-W01\n2025-01-06\n2025-02\n2025-01-31T00:00:00+00:00\n")
    vwlite("split", "a.csv", "--time", "at", "--test", "0.75", *OUT)  # the first week begins in 2024
    assert Path("train").read_text() == "at\n2025-W01\n"


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_times_in_a_format_are_those_of_iso(vwlite, here, kind):
    rows = [datetime(2026, 1, 1) + 37 * i * timedelta(hours=1) for i in range(100)]

    def split(format, *words):
        found, name = [{"at": at.strftime(format), "n": i} for i, at in enumerate(rows)], f"a.{kind}"
        random.Random(1).shuffle(found)
        if kind == "parquet":
            pq.write_table(pa.Table.from_pylist(found), name)
        elif kind == "jsonl":
            Path(name).write_text("".join(json.dumps(row) + "\n" for row in found))
        else:
            Path(name).write_text("at,n\n" + "".join(f"{row['at']},{row['n']}\n" for row in found))
        said = vwlite("split", name, "--time", "at", *words, "-o", f"train.{kind}", "-o", f"test.{kind}").err
        if kind == "parquet":
            return said, sorted(pq.read_table("test.parquet")["n"].to_pylist())
        return said, sorted(int(line.strip("}").rpartition(" " if kind == "jsonl" else ",")[2])
                            for line in Path(f"test.{kind}").read_text().splitlines()[kind == "csv" :])

    assert split("%Y-%m-%d %H:%M")[1] == [*range(80, 100)]
    for format in ("%d.%m.%Y %H:%M", "%m/%d/%Y %H:%M:%S"):
        said, found = split(format)
        assert found == [*range(80, 100)] and said.endswith(f"\nnote: times are read as --time-format '{format}'\n")
    for format in ("%I:%M %p on %d %B %Y", "%d.%m.%Y %H:%M"):
        said, found = split(format, "--time-format", format)
        assert found == [*range(80, 100)] and "note" not in said


def test_a_format_is_not_for_what_has_a_type(vwlite, here):
    pq.write_table(pa.table({"at": pa.array([datetime(2026, 1, i + 1) for i in range(10)])}), "a.parquet")
    vwlite("split", "a.parquet", "--time", "at", "--time-format", "%d.%m.%Y", "-o", "train.parquet", "-o", "b.parquet")
    assert pq.read_table("b.parquet")["at"].to_pylist() == [datetime(2026, 1, 9), datetime(2026, 1, 10)]


@pytest.mark.parametrize(("rows", "words", "said"), [
    (["01/02/2026", "02/01/2026"], [], "--time at: add --time-format '%d/%m/%Y' or '%m/%d/%Y', as both read all rows"),
    (["13.02.2026", "2026-02-14"], [], "a.csv:3:1: column at: '2026-02-14' is not a time: expected --time-format "
                                       "'%d.%m.%Y'\n"),
    (["13.02.26"], [], "a.csv:2:1: column at: '13.02.26' is not a time: expected ISO 8601, such as "
                       "2026-01-31T13:05:00Z, or seconds since 1970; --time-format '%d.%m.%y' reads it\n"),
    (["13.02.26"], ["--time-format", "%d.%m.%Y"], "'13.02.26' is not a time: expected --time-format '%d.%m.%Y'\n"),
    (["20260131", "1769864700"], [], "may be seconds since 1970, and rows before have dates such as 20260131: "),
    (["1769864700", "1769864700000"], [], "may be milliseconds since 1970, and rows before have seconds since 1970"),
    (["13.02.2026", ""], ["--columns", "at,b"], "a row of 1 cells, but there are 2 columns"),
    (["2025-13"], [], "a.csv:2:1: column at: '2025-13' is not a time"),
    (["2025-W54"], [], "a.csv:2:1: column at: '2025-W54' is not a time"),
])
def test_times_that_do_not_fit(vwlite, here, rows, words, said):
    Path("a.csv").write_text("\n".join(["at", *rows, ""]))
    assert said in vwlite("split", "a.csv", "--time", "at", *words, *OUT, code=65).err


def test_a_format_needs_times(vwlite, here):
    Path("a.csv").write_text("at\n1\n2\n")
    assert "--time-format needs --time" in vwlite("split", "a.csv", "--time-format", "%Y-%m", *OUT, code=2).err


BAD = 'y,g,t\n1,a,"2026-01-01"\n\n0,"b\nb" ,2026-01-02\n0,{},{}\n'


@pytest.mark.parametrize(("text", "words", "said"), [
    (BAD.format("", "2026-01-03"), ["--group", "g"], "a.csv:6:3: column g: an empty cell, and each row needs a group: "
                                                     "write one there, or leave these rows out"),
    (BAD.format('"c,\nc"', ""), ["--time", "t"], "a.csv:7:4: column t: an empty cell"),
    (BAD.format("c", "soon"), ["--time", "t"], "a.csv:6:5: column t: 'soon' is not a time: expected a date"),
    (BAD.format("c", "2026-02-30"), ["--time", "t"], "a.csv:6:5: column t: '2026-02-30' is not a time"),
    (BAD.format("c", "17"), ["--time", "t"], "a.csv:6:5: column t: '17' is not a time: expected a date, as in the rows "
                                            "before: write all as one of them"),
    (BAD.format("c", "1,2"), ["--group", "g"], "a.csv:6:1: a row of 4 cells, but there are 3 columns"),
    (BAD.format("c", '"1'), ["--group", "g"], "a.csv:6:1: a quote that is never closed"),
    (BAD.format("c", "2026-01-03"), ["--group", "h"], "a.csv:1:1: --group h: no such column"),
    (BAD.format("c", "2026-01-03"), ["--stratify"], "--stratify needs --label NAME"),
    ("y,g\n1,a\n", [], "would be empty"),
    ("y,t\n1,5\n0,5\n", ["--time", "t"], "TRAIN would be empty: there are 2 rows of one time: leave --time out"),
    ("y,t\n1,5\n0,6\n", ["--time", "t", "--test", "0.9"], "TRAIN would be empty: there are 2 rows of 2 times: try"),
    ("y,g\n1,a\n0,a\n", ["--group", "g"], "TEST would be empty: there are 2 rows of one group: leave --group out"),
    ("y,g\n1,a\n0,b\n1,c\n", ["--group", "g"], "there are 3 rows of 3 groups: try another --seed or --test"),
    ("y,g\n", [], "a.csv: there are no rows"),
    ("", [], "a.csv: there are no rows"),
    ("y,g,g\n1,a,b\n0,c,d\n", ["--group", "g"], "a.csv:1:1: two columns are called 'g'"),
    ("__label__x a\n", ["--group", "g", "--format", "fasttext"], "--group g: lines of --format fasttext have no"),
    ("__label__x a\n", ["--label", "label", "--stratify", "--format", "fasttext"], "--label label: lines of"),
    ('{"g": "a"}\n\n {"t": 1, "g": ""}\n', ["--group", "g", "--format", "jsonl"], "a.csv:3:1: column g: an empty"),
    ('{"g": "a"}\n{"g": [1]}\n', ["--group", "g", "--format", "jsonl"], "a.csv:2:1: column g: an array or object"),
    ('{"g": "a"}\n{"g": \n', ["--group", "g", "--format", "jsonl"], "a.csv:2:1: a line of JSON lines is an object"),
    ("1 |f a\n", ["--group", "g", "--format", "vw"], "a.csv:1:1: --group g: vw text has no columns"),
])
def test_errors_say_where(text, words, said, vwlite, here):
    Path("a.csv").write_text(text)
    done = vwlite("split", "a.csv", "--test", "0.3", *words, *OUT, code=None)
    assert done.code in (2, 65)
    assert said in done.err
    assert sorted(os.listdir()) == ["a.csv"]


def test_what_cannot_be_is_a_sentence(vwlite, here):
    Path("a.csv").write_text("y\n1\n2\n")
    Path("b.csv").write_text("z\n1\n2\n")
    assert "/dev/full: cannot be written" in vwlite("split", "a.csv", "-o", "train", "-o", "/dev/full", code=74).err
    assert "its format or header is not that of a.csv" in vwlite("split", "a.csv", "b.csv", *OUT, code=65).err
    assert "-o names two files" in vwlite("split", "a.csv", "-o", "one", code=2).err
    for words in (["--time", "y"], ["--stratify", "--label", "y"]):
        assert "read only once: name files" in vwlite("split", "-", *words, *OUT, code=2).err
        assert "c.csv: No such file" in vwlite("split", "c.csv", *words, *OUT, code=66).err
    assert "train.zst: only .gz is compressed" in vwlite("split", "a.csv", "-o", "train.zst", *OUT[2:], code=2).err
    assert sorted(os.listdir()) == ["a.csv", "b.csv"]


def test_lines_of_fasttext_have_shares_of_each_label(vwlite, here):
    lines = [f"__label__{'ab'[k % 5 == 0]} {k}\n" for k in range(500)]
    Path("lines").write_text("".join(lines))
    vwlite("split", "lines", "--format", "fasttext", "--stratify", "--test", "0.2", *OUT)
    test = Path("test").read_text().splitlines(keepends=True)
    assert Counter(line[9] for line in test) == {"a": 80, "b": 20}
    assert sorted(test + Path("train").read_text().splitlines(keepends=True)) == sorted(lines)


class Killed(BaseException):
    """In place of a signal that no program can handle."""


@pytest.mark.parametrize("killed_at", range(4))
def test_killed_between_its_files_none_is_beside_an_old_one(vwlite, here, monkeypatch, killed_at):
    """The last calls remove the old TEST, and name TRAIN and TEST. Modes are those of the old files."""
    Path("d.csv").write_text("y,x\n" + "".join(f"{i % 2},{i}\n" for i in range(50)))
    for name in ("train", "test"):
        Path(name).write_text("old\n")
        Path(name).chmod(0o640)
    calls = []

    def counted(call, path, *more, **how):
        if Path(path).name in ("train", "test") or more:
            if len(calls) == killed_at:
                raise Killed
            calls.append(Path(more[0] if more else path).name)
        return call(path, *more, **how)

    with monkeypatch.context() as patch, suppress(Killed):
        for name in ("unlink", "rename"):
            patch.setattr(os, name, partial(counted, getattr(os, name)))
        vwlite("split", "d.csv", *OUT)
    assert calls == ["test", "train", "test"][:killed_at]
    states = [Path(name).read_text() == "old\n" if Path(name).exists() else None for name in ("train", "test")]
    assert states == [[True, True], [True, None], [False, None], [False, False]][killed_at]
    assert all(stat.S_IMODE(os.stat(name).st_mode) == 0o640 for name in ("train", "test") if Path(name).exists())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_both_files_or_none(number, here):
    process = start("split", "--format", "csv", *OUT)
    process.stdin.write(b"y,x\n" + b"".join(b"1,%d\n" % i for i in range(200_000)))
    process.stdin.flush()
    process.send_signal(number)
    process.stdin.close()
    assert process.wait() in (128 + number, -number)
    assert not {"train", "test"} & {*os.listdir()}
