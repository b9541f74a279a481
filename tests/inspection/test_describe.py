"""`vwlite describe`: its counts against those of pandas, its notes, the command that it ends with, its errors."""

import gzip
import io
import json
import math
import random
import re
import shlex
import struct
import subprocess
import time
from pathlib import Path

import mmh3
import numpy as np
import pytest
from running import shell, standard_input, start

from vwlite.input.schema import RoleOptions
from vwlite.input.tables import TableReader
from vwlite.input.values import Values
from vwlite.inspection.describe import Description

pandas = pytest.importorskip("pandas")

ROWS = 3000
NAMES = "id,day,age,size,city,flag,same,bought"


def write_table(missing: str = "unknown") -> "pandas.DataFrame":
    """t.csv, with ids, dates, words for missing numbers, a constant, empty cells, repeated rows, unbalanced labels."""
    chance = np.random.default_rng(4)
    lines = [NAMES]
    for i in range(ROWS):
        age = missing if i % 20 == 0 else chance.integers(18, 80)
        city = "" if i % 6 == 0 else chance.choice(["Rome", "Oslo", "Nice, France"])
        quoted = f'"{city}"' if "," in city else city
        lines.append(f"{7000 + i},2026-02-{i % 28 + 1:02},{age},{chance.lognormal(8):.2f},{quoted},{i % 2},x,"
                     f"{'yes' if chance.random() < 0.05 else 'no'}")
    lines += lines[1:31]
    Path("t.csv").write_text("\n".join(lines) + "\n")
    return pandas.read_csv(io.StringIO("\n".join(lines)))


def described(vwlite, *options: str) -> dict:
    return json.loads(vwlite("describe", "--json", *options).out)


def columns_of(facts: dict) -> dict[str, dict]:
    return {column["name"]: column for column in facts["columns"]}


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_columns_are_those_of_pandas(vwlite, form):
    frame = write_table()
    if form == "jsonl":
        frame.to_json("t.jsonl", orient="records", lines=True)
    elif form == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet("t.parquet")
    facts = described(vwlite, f"t.{form}", "--label", "bought")
    assert (facts["rows"], facts["repeated_rows"]) == (len(frame), 30)
    assert facts["label"]["classes"] == frame.bought.value_counts().to_dict()
    found = columns_of(facts)
    assert list(found) == NAMES.split(",") or form == "jsonl"
    for name, column in found.items():
        values = frame[name]
        assert column["distinct"] == values.nunique()
        assert column["missing"] == pytest.approx(values.isna().mean())
        if column["role"] == "numeric":
            expected = [values.min(), values.mean(), values.max()]
            assert [column["minimum"], column["mean"], column["maximum"]] == pytest.approx(expected, rel=1e-12)
        else:
            assert column["count"] == values.value_counts().max()


def test_notes_and_the_next_command(vwlite):
    write_table()
    out = vwlite("describe", "t.csv").out
    suggested = out.split("next:\n")[1].replace("\\\n", "").strip()
    assert suggested == "vwlite describe t.csv --label bought"
    out = vwlite(*shlex.split(suggested)[1:]).out
    assert max(map(len, out.splitlines())) <= 80
    roles = RoleOptions(label="bought")
    description = Description(roles, TableReader(roles))
    description.read(["t.csv"])
    notes = description.notes()
    starts = ("day: dates or times", "age: 2878 of 3030 cells are numbers, but not 'unknown'",
              "id: whole numbers that all differ", "the same value in every row, which tells nothing: same",
              "scales differ: flag goes to 1, size to ")
    assert len(notes) == len(starts)
    assert all(note.startswith(start) for note, start in zip(sorted(notes), sorted(starts), strict=True)), notes
    command = shlex.split(out.split("next:\n")[1].replace("\\\n", ""))
    assert {"--time", "--drop", "--missing"} < {*command}
    vwlite(*command[1:], "--quiet")
    at = command.index("--labels")
    assert command[at + 1] == "no,yes"
    del command[at : at + 2]
    roles = columns_of(described(vwlite, *command[2:-2]))
    assert [roles[name]["role"] for name in ("id", "day", "age")] == ["drop", "time", "numeric"]
    assert roles["age"]["missing"] == pytest.approx(152 / 3030)


def test_vw_text_and_libsvm(vwlite):
    weights = ["" if i % 5 else " 2" for i in range(100)]
    lines = [f"{1 if i % 4 else -1}{w} t{i}|user id{i} |ad a={i % 3} b:{i * 10}" for i, w in enumerate(weights)]
    Path("t.vw").write_text("\n".join([*lines, lines[0], "", "x |"]) + "\n")
    facts = described(vwlite, "t.vw")
    assert [facts[key] for key in ("rows", "blank_lines", "bad_lines", "repeated_rows")] == [101, 1, 1, 1]
    user, ad = facts["namespaces"]
    assert (user["name"], user["lines"], user["features"], user["distinct"]) == ("user", 101, 101, 100)
    assert (ad["name"], ad["lines"], ad["distinct"], ad["maximum"]) == ("ad", 101, 4, 990)
    assert facts["label"]["classes"] == {"1": 75, "-1": 26}
    assert facts["importance"]["mean"] == pytest.approx(122 / 101)
    assert any(note["column"] == "user" and "--ignore u" in note["note"] for note in facts["notes"])
    Path("words.vw").write_text("a |x y\nb |x y\na |x z\nc | q\n")
    facts = described(vwlite, "words.vw")
    assert facts["label"]["classes"] == {"a": 2, "b": 1, "c": 1}
    assert facts["next"].endswith("--oaa 3 --classes auto -m words.model")
    vwlite(*shlex.split(facts["next"])[1:], "--quiet")
    Path("t.svm").write_text("0 1:0.5 2:3\n1 1:2\n1 3:1\n")
    facts = described(vwlite, "t.svm")
    assert [(n["lines"], n["features"], n["distinct"]) for n in facts["namespaces"]] == [(3, 4, 3)]


def test_a_pipe_and_any_number_of_threads_are_the_same(vwlite):
    write_table()
    expected = described(vwlite, "t.csv", "--label", "bought") | {"files": ["<stdin>"], "next": ""}
    with standard_input(Path("t.csv")):
        found = described(vwlite, "--label", "bought", "--threads", "4")
    assert found | {"next": ""} == expected
    assert found["next"].startswith("vwlite train --label bought")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,y\n", (), "t.csv: no rows: there is nothing to describe"),
        ("", (), "t.csv: no rows: there is nothing to describe"),
        ("a,y\n1,2\n", ("--label", "z"), "t.csv:1:1: --label z: no such column"),
        ("a,a\n1,2\n", (), "two columns are called 'a'"),
        ("1 |a b\n", ("--label", "y", "--format", "vw"), "--label y is for tables"),
        ('{"a": 1}\n', ("--label", "y", "--format", "jsonl"), "no line has this key"),
    ],
)
def test_bad_input_is_a_sentence(vwlite, text, options, message):
    Path("t.csv").write_text(text)
    found = vwlite("describe", "t.csv", *options, code=None)
    assert found.code in (2, 65)
    assert message in found.err and "Traceback" not in found.err


def test_labels_that_cannot_be_learned(vwlite):
    Path("t.csv").write_text("a,y\n1,no\n2,\n3,no\n")
    facts = described(vwlite, "t.csv", "--label", "y")
    assert (facts["label"]["unlabelled"], facts["next"]) == (1, "")
    assert {"column": "", "note": "learning needs two different labels"} in facts["notes"]
    Path("t.csv").write_text("a,y\n1,\n2,\n")
    assert "label y: none; 2 rows without" in vwlite("describe", "t.csv", "--label", "y").out


def test_bad_lines_are_counted_and_the_first_is_shown(vwlite):
    Path("t.csv").write_text("a,y\n" + "1,0\n2,1\n" * 600 + "oops,1\n3\n")
    found = vwlite("describe", "t.csv", "--label", "y")
    assert found.out.startswith("1,200 rows in t.csv; 2 bad")
    assert "the first is t.csv:1202:1: column a: 'oops' is not a number" in found.out.replace("\n ", "")
    vwlite(*shlex.split(found.out.split("next:\n")[1])[1:], "--quiet")


def test_a_wide_table(vwlite):
    n = 10_000
    Path("t.csv").write_text(",".join(f"c{i}" for i in range(n)) + ",y\n" + ("1," * n + "0\n") * 2 + "2," * n + "1\n")
    out = vwlite("describe", "t.csv", "--label", "y").out
    assert f"... and {n + 1 - 20:,} more columns: --all" in out
    assert len(out.splitlines()) < 40


def test_many_values_are_estimated_in_bounded_memory():
    values, n, most = Values(1000), 60_000, 1000
    for begin in range(0, n, 5000):
        cells = [b"%d" % i for i in range(begin, begin + 5000)]
        values.add([*cells, *cells[:1000], *[b"often"] * 500], (), as_words=True)
        assert len(values.items()) <= most
    assert values.distinct == pytest.approx(n, rel=0.15)
    assert values.repeated == pytest.approx(12 * 1500, rel=0.3)
    assert values.items()[0] == (b"often", 12 * 500)


NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def counted_one_by_one(batches, missing, most):
    """What Values defines, of cells that are bytes: level, what is counted, padded, extremes and sum."""
    kept, level, top, padded, total, numbers, words = {}, 0, None, False, 0, [], 0

    def stays(value):
        data = value if isinstance(value, bytes) else struct.pack("d", value)
        return mmh3.hash(data, signed=False) % 2**level == 0 or value == top

    for cells in batches:
        for cell in cells:
            value = cell.strip(b" \t\r\n")
            if NUMBER.fullmatch(value):
                padded = padded or (value[:1] == b"0" and value[1:2].isdigit())
                value = float(value) if math.isfinite(float(value)) else value
            if value == b"" or value in missing:
                continue
            total, words = total + 1, words + isinstance(value, bytes)
            numbers += [] if isinstance(value, bytes) else [value]
            if stays(value):
                kept[value] = kept.get(value, 0) + 1
        while len(kept) > most:
            level, top = level + 1, max(kept, key=kept.get)
            kept = {value: n for value, n in kept.items() if stays(value)}
    return level, kept, padded, total, words, min(numbers, default=math.inf), max(numbers, default=-math.inf), numbers


@pytest.mark.parametrize("seed", range(30))
def test_cells_are_counted_as_one_by_one(seed):
    """Also where whole batches are numbers, or all but the missing ones."""
    chance = random.Random(seed)
    odd = [[], [b"007", b"1e3", b"+1", b"1.0", b"1", b"0.0", b"0"], [b"x", b" 5 ", b"1e999", b"nan", b"1_0"],
           [b"", b"NA", b"-999.0", b"-999"], [b"1.", b".5", b"-", b"."]]
    missing = chance.choice([(), {b"NA", b"-999", -999.0}])
    batches = [[b"%.3f" % chance.gauss(0, 100) if chance.random() < 0.7 else b"%d" % chance.randint(0, 40)
                for _ in range(200)] + chance.choice(odd) + chance.choice(odd) for _ in range(6)]
    words = [b"2026-01-%d" % chance.randint(1, 40) if chance.random() < 0.5 else b"w %d" % chance.randint(0, 99)
             for _ in range(200)]
    more = [], [b"", b"", b"NA"], [b"7"], [b"blank "], [b"a\n7"], [b"e", b"+", b"-e1"]
    batches += [words + some for some in more]
    found = Values(chance.choice([8, 50, 10000]))
    for batch in batches:
        found.add(batch, missing, as_words=False)
    level, kept, padded, total, words, low, high, numbers = counted_one_by_one(batches, missing, found._most)
    assert (found.level, dict(found.items()), found.padded) == (level, kept, padded)
    assert (found.total, found.words, found.low, found.high) == (total, words, low, high)
    assert found.sum == pytest.approx(math.fsum(numbers), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_there_are_not_more_different_values_than_values(seed):
    chance = np.random.default_rng(seed)
    values, n, same = Values(64), int(chance.integers(10, 3000)), int(chance.integers(0, 50))
    values.add([f"{seed}-{i}".encode() for i in range(n)] + [b"again"] * same, (), as_words=True)
    assert n * 0.3 < values.distinct <= n + (same > 0)


def test_the_next_command_has_numbers_that_were_typed(vwlite):
    Path("lines").write_text("__label__a b c\n__label__b c d\n" * 20)
    command = described(vwlite, "lines", "--format", "fasttext", "--ngram", "2")["next"]
    assert "--ngram 2" in command
    vwlite(*shlex.split(command)[1:], "--quiet")


@pytest.mark.parametrize("delimiter", ["\x01", "\x1f", ";"])
def test_the_next_command_can_be_pasted(vwlite, folder, delimiter):
    """Without characters that a terminal obeys, and as a shell reads it."""
    rows = (delimiter.join([str(i), f"{i % 3}", "x" if i % 5 else "?", f"{i % 2}"]) for i in range(60))
    Path("my\x1b[31m.csv").write_text("\n".join([delimiter.join(["a", "b\x07", "c", "y"]), *rows]) + "\n")
    options = ("--delimiter", delimiter, "--label", "y", "--categorical", "b\x07")
    command = described(vwlite, "my\x1b[31m.csv", *options)["next"]
    assert command.isprintable()
    shown = vwlite("describe", "my\x1b[31m.csv", *options).out
    shown = shown[shown.index("next:") + 5 :]
    for text in (command, shown):
        done = shell(text.strip() + " --quiet")
        assert done.code == 0, done.err


def test_a_line_that_is_too_long_is_a_sentence(vwlite):
    with gzip.open("l.vw.gz", "wb") as file:
        for piece in (b"1 |f", b" a:1" * (1 << 20), *[b" a:1" * (1 << 20)] * 16, b"\n"):
            file.write(piece)
    found = vwlite("describe", "l.vw.gz", code=65)
    assert "l.vw.gz:1:1: line is longer than 64 MiB" in found.err and "nothing to describe" in found.err
    with gzip.open("l.vw.gz", "ab") as file:
        file.write(b"1 |f a b\n-1 |f a\n")
    assert "2 rows in l.vw.gz; 1 bad" in vwlite("describe", "l.vw.gz", "--quiet").out


def test_columns_that_are_all_the_same_take_no_more_than_their_number(vwlite):
    """Each column was looked for in the list of those before it."""
    count = 15_000
    rows = [",".join(f"c{i}" for i in range(count)), *(",".join(str(i) for i in range(count)) for _ in range(2))]
    Path("w.csv").write_text("".join(f"y,{row}\n" if i == 0 else f"{i % 2},{row}\n" for i, row in enumerate(rows)))
    begin = time.process_time()
    found = vwlite("describe", "w.csv", "--label", "y").out
    assert "the same value in every row" in found
    assert time.process_time() - begin < 3  # of .8


def test_the_first_signal_ends_it_while_it_counts():
    count = 200_000
    row = ",".join(["7"] * count)
    Path("w.csv").write_text("y," + ",".join(f"c{i}" for i in range(count)) + f"\n1,{row}\n0,{row}\n")
    process = start("describe", "w.csv", "--label", "y")
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=3)
    process.terminate()
    process.communicate(timeout=10)
    assert process.returncode == 143


def test_numbers_that_look_like_codes_have_a_hint(vwlite, folder):
    """Stores from 1 to 54, codes far apart and with zeros before them; not counts, ages, years, hours, areas, prices in
    steps, measures or times of the day."""
    rng = np.random.default_rng(1)
    n = 3000
    columns = {
        "store": rng.integers(1, 55, n),
        "visitedShop": rng.integers(1, 55, n),
        "office": rng.choice([101, 317, 2044, 9005, 12013, 13999, 20001, 31337, 40002], n),
        "plant": np.array([f"{x:03d}" for x in rng.integers(1, 30, n)]),
        "years": rng.integers(0, 41, n),
        "hours": rng.integers(10, 61, n),
        "area": np.minimum(rng.lognormal(4, 0.7, n).round(), 433_014),
        "visits": rng.poisson(3, n),
        "age": rng.normal(40, 12, n).round().clip(18),
        "price": rng.choice([500, 1000, 2000, 9000, 20_000, 40_000, 50_000, 70_000, 90_000], n),
        "gain": np.where(rng.random(n) < 0.9, 0, rng.choice([2407, 3103, 7298, 15_024, 99_999, 5013, 4386, 8614], n)),
        "size": rng.normal(size=n).round(1),
        "flag": rng.integers(0, 2, n),
    }
    rows = zip(*columns.values(), rng.integers(0, 2, n), strict=True)
    lines = [",".join([*columns, "y"]), *(",".join(x if isinstance(x, str) else f"{x:g}" for x in row) for row in rows)]
    Path("d.csv").write_text("\n".join(lines) + "\n")
    notes = json.loads(vwlite("describe", "d.csv", "--label", "y", "--json").out)["notes"]
    found = {x["column"]: x["note"] for x in notes}
    hint = "whole numbers that look like codes: --categorical {0} makes them categories"
    for name, number in (("store", 54), ("visitedShop", 54), ("office", 9), ("plant", 29)):
        assert found.pop(name) == f"{number} {hint.format(name)}"
    assert not any("codes" in note for note in found.values())
    typed = vwlite("describe", "d.csv", "--label", "y", "--numeric", "store,visitedShop,office,plant").out
    assert "codes" not in typed and "--categorical" not in typed


@pytest.mark.parametrize("options, cell", [
    (("--decimal", ","), "{:d},0"), (("--thousands", ","), "{:,d}"), (("--missing", "?"), "{:d}"),
])
def test_numbers_that_look_like_codes_as_people_write_them(vwlite, tmp_path, options, cell):
    """These were cells that no number could be made of: an internal error."""
    cells = [cell.format(1001 + i % 9) for i in range(400)]
    cells[5] = "?" if "--missing" in options else ""
    path = tmp_path / "d.csv"
    path.write_text("code,y\n" + "".join(f'"{x}",{i % 2}\n' for i, x in enumerate(cells)))
    found = vwlite("describe", path, "--label", "y", *options).out
    assert "9 whole numbers that look like codes" in found
    vwlite("train", path, "--label", "y", *options, "-m", tmp_path / "m")
    assert "look like codes" in vwlite("report", "-m", tmp_path / "m", path).out


@pytest.mark.parametrize(
    ("labels", "options"),
    [(range(1, 6), "--oaa 5"), (range(3), "--oaa 3 --classes auto"), (range(3, 9), "--oaa 6 --classes auto"),
     ((-2, 5, 40), "--oaa 3 --classes auto"), (range(1, 30), "--oaa 29"), (range(5, 40), ""), ((0.5, 1, 2), "")],
)
def test_few_whole_numbers_may_be_classes(vwlite, tmp_path, labels, options):
    file = tmp_path / "t.csv"
    file.write_text("y,x\n" + "".join(f"{labels[i % len(labels)]},{i % 11}\n" for i in range(700)))
    said = vwlite("train", file, "--label", "y", "-m", tmp_path / "m").err
    facts = json.loads(vwlite("describe", file, "--label", "y", "--json").out)
    notes = [note["note"] for note in facts["notes"] if note["column"] == "y" or not note["column"]]
    for text in (said, " ".join(notes)):
        assert ("if they are classes, add " in text) == bool(options)
        assert options in text
