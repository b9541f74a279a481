"""A category that is a whole number is one word in every way in: 2, 2.0, "2", INT64, FP64."""

import json
import re
import sqlite3
import subprocess
import sys
from decimal import Context, Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models import save
from running import GD

from vwlite import load_model
from vwlite.core.data.batch import Batch
from vwlite.core.tables.cells import Cells
from vwlite.core.text.numbers import whole
from vwlite.input.schema import ROLES
from vwlite.model import read_model

SHOPS = [2, -3, 0, 10, 200, 12345678901, 9007199254740991, 1000000]
TYPED = ["--label", "y", "--categorical", "shop"]

pytestmark = pytest.mark.usefixtures("folder")


def train(vwlite, *options):
    Path("t.csv").write_text("shop,x,y\n" + "".join(f"{SHOPS[i % 8]},{i % 3},{i // 2 % 2}\n" for i in range(80)))
    vwlite("train", *GD, "t.csv", *TYPED, "--loss", "logistic", "--labels", "0,1", "--names", "-m", "m", *options)
    return [*map(float, vwlite("predict", "-m", "m", "t.csv", "--quiet").out.split()[:8])]


@given(st.text("-.0127e+ x", max_size=12))
def test_a_word_loses_the_point_of_a_whole_number(text):
    rule = re.fullmatch(r"(-?(0|[1-9][0-9]*))\.0+", text)
    assert whole(text.encode()).decode() == (rule[1] if rule else text)
    assert whole(whole(text.encode())) == whole(text.encode())


def tables():
    """The rows of eight shops as files: their names, and what writes them."""
    for zeros in (".0", ".000"):
        rows = [f"{shop}{zeros},{i % 3}\n" for i, shop in enumerate(SHOPS)]
        yield "f.csv", lambda rows=rows: Path("f.csv").write_text("shop,x\n" + "".join(rows))
    for shown in (str, '"{}"'.format, "{}.0".format, '"{}.0"'.format):
        lines = [f'{{"shop": {shown(shop)}, "x": {i % 3}}}\n' for i, shop in enumerate(SHOPS)]
        yield "f.jsonl", lambda lines=lines: Path("f.jsonl").write_text("".join(lines))

    def write(kind, coded):
        import pyarrow as pa

        column = pa.array([kind(shop) for shop in SHOPS])
        column = column.dictionary_encode() if coded and not isinstance(kind(1), Decimal) else column
        table = pa.table({"shop": column, "x": [i % 3 for i in range(8)]})
        __import__("pyarrow.parquet").parquet.write_table(table, "f.parquet")
        with pa.ipc.new_file("f.arrow", table.schema) as file:
            file.write_table(table)

    for kind in (int, float, str, "{}.0".format, lambda shop: Decimal(f"{shop}.00")):
        for coded in (False, True):
            for name in ("f.parquet", "f.arrow"):
                yield name, lambda kind=kind, coded=coded: write(kind, coded)


def test_files(vwlite):
    pytest.importorskip("pyarrow")
    expected = train(vwlite)
    for name, make in tables():
        make()
        out = vwlite("predict", "-m", "m", name, "--quiet")
        assert [*map(float, out.out.split())] == expected, name
        text = vwlite("convert", name, "--categorical", "shop", "--drop", "x").out
        assert text == "".join(f"|shop shop={shop}\n" for shop in SHOPS), name
        vwlite("names", "m", name, "-o", "n")
        assert list(read_model("n").names) == list(read_model("m").names)


@pytest.mark.parametrize("kind", [int, float, str, "{}.0".format, np.int64, np.float64, Decimal])
def test_dictionaries_and_frames(vwlite, kind):
    expected = train(vwlite)
    model = load_model("m", on_unknown="error")
    rows = [{"shop": kind(shop), "x": i % 3} for i, shop in enumerate(SHOPS)]
    assert model.predict(rows).tolist() == pytest.approx(expected, abs=1e-6)
    for library in ("pandas", "polars", "pyarrow"):
        module = pytest.importorskip(library)
        make = getattr(module, "DataFrame", None) or module.table
        frame = make({"shop": [row["shop"] for row in rows], "x": [row["x"] for row in rows]})
        assert model.predict(frame).tolist() == pytest.approx(expected, abs=1e-6), library


def test_a_missing_shop_makes_floats_of_the_others(vwlite):
    pd = pytest.importorskip("pandas")
    expected = train(vwlite)
    frame = pd.DataFrame({"shop": [*SHOPS, None], "x": [*(i % 3 for i in range(8)), 0]})
    assert frame.shop.dtype == float
    assert load_model("m").predict(frame).tolist()[:8] == pytest.approx(expected, abs=1e-6)
    frame.to_csv("f.csv", index=False)
    assert [*map(float, vwlite("predict", "-m", "m", "f.csv", "--quiet").out.split()[:8])] == expected
    frame.to_parquet("f.parquet")
    assert [*map(float, vwlite("predict", "-m", "m", "f.parquet", "--quiet").out.split()[:8])] == expected
    assert vwlite("convert", "f.parquet", "--categorical", "shop").out.splitlines()[-1] == "|shop shop? |x x:0"


def test_other_words_stay(vwlite):
    words = ["1.10", "007", "007.0", "1e5", "2.", ".0", "+2.0", "2.0.0"]
    Path("t.csv").write_text("shop,y\n" + "".join(f"{word},1\n" for word in words))
    assert vwlite("convert", "t.csv", *TYPED).out == "".join(f"1 |shop shop={word}\n" for word in words)


def test_models_of_other_kinds_of_names_read_cells_as_before(vwlite):
    """Kind 2: words as they are."""
    expected = train(vwlite)
    model = read_model("m")
    assert model.columns["names"] == 3 and model.format == 6
    model.columns["names"] = 2
    save("old", model)
    Path("f.csv").write_text("shop,x\n2,0\n2.0,0\nx,0\n")
    one, other, unknown = map(float, vwlite("predict", "-m", "old", "f.csv", "--quiet").out.split())
    assert one == expected[0] and other == unknown != one
    vwlite("train", "t.csv", "-i", "old", "-m", "old", "--quiet")
    assert read_model("old").columns["names"] == 2
    assert "another way of reading words" in vwlite("merge", "old", "m", "-o", "out", code=65).err


def test_programs_read_whole_numbers_as_the_model_does(vwlite):
    train(vwlite)
    Path("f.csv").write_text("shop,x\n" + "".join(f"{shop}.0,{i % 3}\n" for i, shop in enumerate(SHOPS)))
    expected = vwlite("predict", "-m", "m", "f.csv", "--quiet").out
    vwlite("export", "m", "--to", "python", "-o", "m.py")
    out = subprocess.run([sys.executable, "m.py"], input=Path("f.csv").read_bytes(), capture_output=True, check=True)
    assert [*map(float, out.stdout.split())] == pytest.approx([*map(float, expected.split())], abs=1e-6)


def test_a_query_reads_whole_numbers_as_the_model_does(vwlite):
    train(vwlite)
    vwlite("export", "m", "--to", "sql", "--table", "t", "--id", "id", "-o", "m.sql")
    base = sqlite3.connect(":memory:")
    for kind in ("REAL", "TEXT", "INTEGER", "BLOB"):
        base.executescript(f"DROP TABLE IF EXISTS t; CREATE TABLE t (id INTEGER, shop {kind}, x REAL)")
        cells = [*SHOPS[:5], "2.00", "10.0", "-3.000", "007.0", "2.0.0", "-.0", ".0", "0.", "02.0"]
        rows = cells if kind in ("TEXT", "BLOB") else SHOPS[:6]  # SQLite shows 15 digits
        base.executemany("INSERT INTO t VALUES (?, ?, 1)", enumerate(rows))
        Path("f.csv").write_text("shop,x\n" + "".join(f"{cell},1\n" for cell in rows))
        expected = [*map(float, vwlite("predict", "-m", "m", "f.csv", "--quiet").out.split())]
        found = dict(row[:2] for row in base.execute(Path("m.sql").read_text()))
        assert [found[i] for i in range(len(rows))] == pytest.approx(expected, abs=1e-6), kind


@pytest.mark.parametrize("scale", [0, 2, 38])
def test_decimals_are_the_numbers_that_they_are(scale):
    pa, frames = pytest.importorskip("pyarrow"), pytest.importorskip("vwlite.core.tables.arrow")
    numbers = [-5, 0, 17, 2**53, -(2**63), 2**64 - 1, 2**64, 10**36 + 1, None]
    numbers = [None if x is None else Decimal(x).scaleb(-scale, Context(prec=60)) for x in numbers]
    table = pa.table({"x": pa.array(numbers, pa.decimal128(38, scale))})
    batch, frame = Batch(), frames.Frame(table.__arrow_c_stream__())
    frame.prepare(Cells([("x", ROLES.index("numeric"))], zeros=True), [0])
    frame.fill(batch, 0, whole=True)
    assert frame.numeric == [True]
    assert [*batch.value] == [np.float32(float(x)).item() for x in numbers if x is not None]


def test_classes_are_one_with_and_without_a_point(vwlite):
    classes = ["--oaa", 3, "--classes", "auto"]
    Path("t.csv").write_text("c,y\n" + "a,1\nb,2.0\nc,3\na,1.0\nb,2\nc,3.00\n" * 9)
    vwlite("train", *GD, "t.csv", "--label", "y", *classes, "-m", "m")
    assert read_model("m").classes == ["1", "2", "3"]
    Path("t.vw").write_text("1 |x a\n2.0 |x b\n3 |x c\n1.0 |x a\n2 |x b\n3.00 |x c\n")
    vwlite("train", *GD, "t.vw", *classes, "-m", "n")
    assert read_model("n").classes == ["1", "2", "3"]
    found = json.loads(vwlite("evaluate", "-m", "m", "t.csv", "--json").out)
    assert sorted(found["classes"]) == ["1", "2", "3"]
    vwlite("train", *GD, "t.vw", "--classes", "1.0,2.0,3", "-m", "n", code=65)  # what is typed is as it is
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"c": ["a", "b", "c"] * 9, "y": [12345678901.0, 2.0, 3.0] * 9})
    __import__("pyarrow.parquet").parquet.write_table(table, "t.parquet")
    vwlite("train", *GD, "t.parquet", "--label", "y", *classes, "-m", "m")
    assert read_model("m").classes == ["12345678901", "2", "3"]


def test_groups_are_one_with_and_without_a_point(vwlite):
    rows = [f"{{}},{i % 7},{i % 11},{(i + i // 7) % 2}\n" for i in range(200)]
    Path("a.csv").write_text("g,a,b,y\n" + "".join(row.format(i // 5 % 20) for i, row in enumerate(rows)))
    mixed = [row.format(f"{i // 5 % 20}{'.0' * (i % 2)}") for i, row in enumerate(rows)]
    Path("b.csv").write_text("g,a,b,y\n" + "".join(mixed))
    for name in "ab":
        vwlite("train", f"{name}.csv", "--label", "y", "--group", "g", "-m", name, "--quiet")
        vwlite("split", f"{name}.csv", "--group", "g", "-o", f"{name}1.csv", "-o", f"{name}2.csv")
    assert Path("a").read_bytes() == Path("b").read_bytes()
    assert Path("a2.csv").read_text() == re.sub(r"(?m)^(\d+)\.0,", r"\1,", Path("b2.csv").read_text())
    cv = [vwlite("cv", *GD, f"{name}.csv", "--label", "y", "--group", "g", "--folds", 3).out for name in "ab"]
    assert cv[0] == cv[1]
    pa = pytest.importorskip("pyarrow")
    read = __import__("pyarrow.csv").csv.read_csv
    for kind in (pa.int64(), pa.float64()):
        table = read("a.csv").set_column(0, "g", read("a.csv")["g"].cast(kind))
        __import__("pyarrow.parquet").parquet.write_table(table, "g.parquet")
        vwlite("train", "g.parquet", "--label", "y", "--group", "g", "-m", "g", "--quiet")
        assert read_model("g").weights == read_model("a").weights
        vwlite("split", "g.parquet", "--group", "g", "-o", "g1.parquet", "-o", "g2.parquet")
        found = __import__("pyarrow.parquet").parquet.read_table("g2.parquet")
        assert found["a"].to_pylist() == read("a2.csv")["a"].to_pylist()


def test_slices_are_one_with_and_without_a_point(vwlite):
    train(vwlite)
    cells = [f"{i % 4}{('', '.0', '.00')[i % 3]}" for i in range(60)]
    Path("f.csv").write_text("shop,x,y\n" + "".join(f"{cell},{i % 3},{i % 2}\n" for i, cell in enumerate(cells)))
    found = json.loads(vwlite("evaluate", "-m", "m", "f.csv", "--by", "shop", "--json").out)
    assert {*found["by"]} == {*"0123"}


def test_labels_are_one_where_a_split_is_stratified(vwlite):
    rows = [f"{i},{i % 2}" for i in range(100)]
    Path("b.csv").write_text("x,y\n" + "".join(f"{row}{'.0' * (i % 3 == 0)}\n" for i, row in enumerate(rows)))
    vwlite("split", "b.csv", "--stratify", "--label", "y", "-o", "1.csv", "-o", "2.csv", "--test", 0.1)
    found = [line.split(",")[1][0] for line in Path("2.csv").read_text().splitlines()[1:]]
    assert sorted(found) == ["0"] * 5 + ["1"] * 5
