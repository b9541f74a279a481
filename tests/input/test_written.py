"""Numbers as people write them: which texts are numbers, in every way in, and what is advised about columns of them."""

import csv
import json
import re
import shlex
from pathlib import Path
from random import Random

import pytest
from running import GD

from vwlite import load_model
from vwlite.core.tables.notation import Notation
from vwlite.input.schema import Schema
from vwlite.input.written import reading_of
from vwlite.model import read_model

BLANKS = " \u00a0\u2009\u202f"
MINUS = "\u2212"
MONEY = "[$%\u00a2-\u00a5\u20a0-\u20cf]"
UNITS = ["fl oz", "kg", "min", "m2", "°C", "Straße"]

pytestmark = pytest.mark.usefixtures("folder")


def definition(cell, decimal, thousands, units):
    """The number of a cell, of each form that one can have; None: it is none. A: what is beside the number N."""
    text = re.sub(f"[{BLANKS}]", " ", cell).replace(MINUS, "-").strip(" ")
    point, between = re.escape(decimal), re.escape(thousands)
    groups = rf"|\d{{1,3}}(?:{between}\d{{2,3}})*{between}\d{{3}}" if thousands else ""
    number = rf"(?P<N>(?:\d+{groups})(?:{point}\d*)?|{point}\d+)"
    beside = f"(?:{'|'.join([*map(re.escape, units), MONEY])})"
    for form in ("S?N( *A)?", "A *S?N", "SA *N", "NM( *A)?", "N *AM", "A *NM", "[(]N[)]( *A)?", "A *[(]N[)]",
                 "[(]A *N[)]", "[(]N *A[)]"):
        parts = {"S": "(?P<S>[+-])", "M": "(?P<S>-)", "N": number, "A": beside}
        found = re.fullmatch(re.sub("[SMNA]", lambda part, parts=parts: parts[part[0]], form), text, re.ASCII)
        if found and len(cell) <= 64:
            sign = -1 if "[(]" in form or found.groupdict().get("S") == "-" else 1
            return sign * float((found["N"].replace(thousands, "") if thousands else found["N"]).replace(decimal, "."))
    return None


def drawn(chance, decimal, thousands, count):
    """Cells that are numbers, or nearly."""
    for _ in range(count):
        signs = chance.choice([("", "")] * 3 + [("-", ""), ("+", ""), (MINUS, ""), ("", "-"), ("", MINUS), ("(", ")")])
        beside = chance.choice(["", "", *UNITS, "$", "€", "%", "kgs"])
        number = "".join(chance.choices("0123456789", k=chance.randint(0, 3)))
        for _ in range(chance.choice([0, 0, 1, 2])):
            mark = chance.choice([thousands, thousands, decimal]).replace(" ", chance.choice(BLANKS))
            number += mark + "".join(chance.choices("0123456789", k=chance.choice([3, 3, 2])))
        inner, outer = chance.choice([(signs, ("", "")), (("", ""), signs), (signs, signs)])
        text, blank = inner[0] + number + inner[1], chance.choice(["", *BLANKS])
        text = beside + blank + text if chance.random() < 0.5 else text + blank + beside
        text = [*(outer[0] + text + outer[1])]
        if chance.random() < 0.2:
            at = chance.randint(0, len(text))
            text[at : at + chance.randint(0, 1)] = chance.choice([*"0.,-+()$k", *BLANKS])
        yield "".join(text)


@pytest.mark.parametrize(("decimal", "thousands"), [(".", ","), (",", "."), (",", " "), (".", "'"), (".", "")])
@pytest.mark.parametrize("units", [[], UNITS])
def test_the_numbers_are_those_of_the_definition(decimal, thousands, units):
    notation, counts = Notation(decimal, thousands, units), [0, 0]
    for cell in drawn(Random(1), decimal, thousands, 4000):
        expected, found = definition(cell, decimal, thousands, units), notation.number_of(cell.encode())
        assert (None if found is None else float(found)) == expected, cell
        counts[expected is None] += 1
    assert min(counts) > 600


def test_the_longest_unit_is_left_out_whatever_the_order():
    for units in (["m", "m2"], ["m2", "m"]):
        notation = Notation("", "", units)
        found = [notation.number_of(cell) for cell in (b"5m2", b"5 m2", b"m25", b"m 25", b"m2")]
        assert found == [b"5", b"5", b"5", b"25", None]


def test_a_number_has_at_most_64_characters():
    notation = Notation()
    assert notation.number_of(("\u00a0" * 60 + "5 %").encode()) == b"5"
    assert notation.number_of(b"5" * 64) == b"5" * 64
    assert notation.number_of(b"5" * 65) is notation.number_of(b"\x80" * 300) is notation.number_of(b"") is None


# --- every way in ------------------------------------------------------------------------------------------------

ROWS = [(i % 2, (1 - i % 3) * (i + 1) / 4, 60 + i, 1 + i % 2) for i in range(60)]


def write(name, rows):
    with open(name, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("y", "mass", "time", "w"), *rows])


def test_units_are_left_out_of_numbers_in_every_way_in(vwlite):
    """The weights and predictions are those of plain numbers."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    people = [(f"{y} pt", f"{mass} kg".replace("-", MINUS), f"min{time}", f"{w}x") for y, mass, time, w in ROWS]
    write("plain.csv", ROWS)
    write("people.csv", people)
    roles, units = ["--label", "y", "--importance", "w", "--loss", "squared"], ["--units", "kg,min", "--units", "pt,x"]
    vwlite("train", "plain.csv", *roles, *GD, "-m", "plain")
    vwlite("train", "people.csv", *roles, *units, *GD, "-m", "people")
    one, other = read_model("plain"), read_model("people")
    assert bytes(one.weights) == bytes(other.weights) and bytes(one.keys) == bytes(other.keys)
    assert other.columns == one.columns | {"units": ["kg", "min", "pt", "x"]}
    expected = vwlite("predict", "-m", "plain", "plain.csv").out
    cells = [{"mass": mass, "time": time} for _, mass, time, _ in people]
    Path("people.jsonl").write_text("".join(json.dumps(row) + "\n" for row in cells))
    pq.write_table(pa.Table.from_pylist(cells), "people.parquet")
    for name in ("people.csv", "people.jsonl", "people.parquet"):
        assert vwlite("predict", "-m", "people", name).out == expected, name
    assert load_model("people").predict(cells).tolist() == pytest.approx([*map(float, expected.split())])
    assert vwlite("convert", "people.csv", *roles[:4], *units).out == vwlite("convert", "plain.csv", *roles[:4]).out
    vwlite("check", "people.csv", *roles, *units, "--numeric", "mass,time")
    assert "column time: 'min60' is not a number" in vwlite(
        "check", "people.csv", "--label", "y", "--drop", "w", "--units", "kg,pt", "--numeric", "mass,time", code=1).out
    vwlite("train", "-i", "people", "people.csv", "--units", "min,kg,x,pt", "-m", "more", "--quiet")
    said = vwlite("train", "-i", "people", "people.csv", "--units", "kg", "-m", "x", code=2).err
    assert "--units 'kg' contradicts the model, which has 'kg,min,pt,x': leave it out" in said


@pytest.mark.parametrize("word", ["2x", ".5", "-kg", "kg-", f"kg{MINUS}", "(kg", "kg)", ",-", "k" * 64])
def test_a_unit_that_could_be_a_part_of_a_number_is_refused(vwlite, word):
    write("plain.csv", ROWS)
    said = vwlite("train", "plain.csv", "--label", "y", f'--units="{word}"', "-m", "m", code=2).err
    assert f"--units {word}: a unit begins with no digit, point or comma, has no sign or bracket at an end, " in said


@pytest.mark.parametrize("units", [["2x"], [""], [5], "kg"])
def test_a_model_with_invalid_units_is_refused(units):
    stored = Schema({"x": "numeric"}).stored()
    assert "units" not in stored and Schema.restored(stored | {"units": ["kg"]}).units == ("kg",)
    with pytest.raises(ValueError, match=r"its (units|columns) are invalid"):
        Schema.restored(stored | {"units": units})


# --- advice ------------------------------------------------------------------------------------------------------

ADVISED = [
    ("{} kg", "--units kg"), ("{}min", "--units min"), ("EUR {}", "--units EUR"), ("Rs.{}", "--units Rs."),
    ("depth {}.5", "--units depth"), ("{} fl oz", "--units 'fl oz'"), ("{},5\u00a0°C", "--decimal , --units °C"),
    ("1 {},5 km", "--decimal , --thousands ' ' --units km"), ("({} m2)", "--units m2"), ("{}-", "--decimal ."),
    (MINUS + "{}", "--decimal ."), ("({},5)", "--decimal ,"), ("1\u202f{},5", "--decimal , --thousands ' '"),
    ("1,{} items", "--thousands , --units items"), ("1\u2019{}.5", "--thousands \"'\""), ("0,{}", "--decimal ,"),
]
COMMA = ", or --decimal , if the comma is their decimal point"  # where cells are read so, too


@pytest.mark.parametrize(("cell", "options"), ADVISED)
def test_the_options_that_read_numbers_are_advised_and_read_them(vwlite, cell, options):
    rows = "".join(f"{i % 2};{cell.format(i + 100)};{i % 7}\n" for i in range(200))
    Path("t.csv").write_text("y;x;z\n" + rows, encoding="utf-8")
    said = vwlite("train", "t.csv", "--label", "y", *GD, "-m", "m").err
    note = next(line for line in said.splitlines() if "column x:" in line)
    expected = f"{shlex.join(shlex.split(options))} reads them"
    assert note.partition("each is a category: ")[2].removesuffix(COMMA) == expected, note
    command = vwlite("describe", "t.csv", "--label", "y").out.partition("next:\n")[2].replace("\\\n", " ")
    assert "--drop" not in command
    assert shlex.join(shlex.split(options)) in shlex.join(shlex.split(command))
    vwlite(*shlex.split(command)[1:], *GD)
    assert ["x", "numeric"] in read_model("t.model").columns["roles"]


def reading(cells, **typed):
    schema = Schema({"x": "categorical"}, **typed)
    found = reading_of({cell.encode(): 1 for cell in cells}, schema, lambda cell: cell.isdigit(), 0.9 * len(cells))
    return found and (shlex.join(found.options), found.advice)


def test_several_units_are_listed_and_said_not_to_be_converted():
    found = reading([f"{i} {'lb' if i % 3 else 'kg'}" for i in range(60)])
    assert found == ("--units kg,lb", "--units kg,lb reads them, but converts none of these units into another")


def test_few_different_cells_with_several_units_are_categories():
    """As of house styles: 1.5Fin and 1.5Unf would be one number."""
    assert reading(["1Story", "2Story", "1.5Fin", "1.5Unf", "2.5Fin", "2.5Unf"]) is None
    assert reading(["1Story", "2Story", "3Story", "4Story", "5Story"])[0] == "--units Story"


def test_a_comma_before_three_digits_may_be_either():
    """But 0 is not the thousands of a number, and neither has a second comma."""
    assert reading([f"1,{i}" for i in range(100, 160)]) == ("--thousands ,", f"--thousands , reads them{COMMA}")
    assert reading([f"0,{i}" for i in range(100, 160)]) == ("--decimal ,", "--decimal , reads them")
    assert reading([f"1,{i},000" for i in range(100, 160)]) == ("--thousands ,", "--thousands , reads them")
    assert reading([f"1,{i}.5" for i in range(100, 160)]) == ("--thousands ,", "--thousands , reads them")


def test_labels_with_units_are_numbers_that_an_option_reads(vwlite):
    Path("t.csv").write_text("x,y\n" + "".join(f"0.{i},4.{i % 90 + 10} kg\n" for i in range(300)))
    said = vwlite("train", "t.csv", "--label", "y", *GD, "-m", "m", code=65).err
    assert "column y: 300 of 300 cells are numbers with units, such as '4.10 kg', and each is a word: --units" in said
    command = vwlite("describe", "t.csv", "--label", "y").out.partition("next:\n")[2].replace("\\\n", " ")
    assert "--units kg" in command and "--oaa" not in command
    vwlite(*shlex.split(command)[1:], *GD)
    stars = "x,y\n" + "".join(f"{i},{i % 5 + 1} stars\n" for i in range(100))
    Path("t.csv").write_text(stars)
    assert "--oaa 5 --classes auto" in vwlite("describe", "t.csv", "--label", "y").out


def test_what_was_typed_is_part_of_the_advice():
    assert reading([f"{i},5 kg" for i in range(60)], decimal=",", units=("min",))[0] == "--decimal , --units min,kg"
    assert reading([f"{i}.5 kg" for i in range(60)], decimal=",") is None


@pytest.mark.parametrize("cell", [
    "u{}", "user {}", "{}-EU", "v{}.1", "{0} to {1}", "{0}-{1} kg", "{} Main Street {}", "12:{} PM", "{}th of 9",
    "id {}x", "A{}B", "x",
])
def test_ids_codes_and_texts_are_not_numbers_with_units(cell):
    assert reading([cell.format(i, i + 1) for i in range(60)]) is None
    assert reading([f"{i} word{'abcdefghijkl'[i % 12]}" for i in range(60)]) is None
    assert reading([f"{i}{'AB'[i % 2]}" for i in range(60)]) is None


def test_train_sees_the_first_rows_and_describe_all(vwlite):
    """A category of which the first rows have each value once may repeat in others."""
    rows = [f"{i % 2},u{i % 1100}\n" for i in range(3000)]
    Path("t.csv").write_text("y,id\n" + "".join(rows))
    seen = "column id: 1000 of the first 1000 cells differ, and each is a category: --drop id leaves them out if they"
    assert f"note: {seen} are ids\n" in vwlite("train", "t.csv", "--label", "y", *GD, "-m", "m").err
    described = vwlite("describe", "t.csv", "--label", "y").out
    assert "cells differ" not in described and "--drop" not in described
    Path("t.csv").write_text("y,id\n" + "".join(f"{i % 2},u{i}\n" for i in range(3000)))
    described = " ".join(vwlite("describe", "t.csv", "--label", "y").out.split())
    assert "id: 3000 of 3000 cells differ, and each is a category: --drop id leaves them out next:" in described
    assert "--drop id" in described.partition("next:")[2]
