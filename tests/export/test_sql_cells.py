"""A SELECT reads cells as `vwlite predict` does: what that refuses has no prediction, in three databases."""

import random
import string
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from running import with_gd
from test_sql import NAMES, NEAR, InDuckdb, InPostgres, InSqlite, exported, write

from vwlite.core.tables.cells import time_of

DATABASES = (InSqlite, InDuckdb, InPostgres)
BLANKS = ["", " ", "\t", "  ", "\r\n", " \n"]
NUMBERS = [
    "0", "-0", "5", "+5", "-5", "5.", ".5", "-.5", "+.5e1", "5e0", "5E-1", "1.e2", "12.75e-3", "1e-50", "1e-300",
    "1e-400", "0e999", "0.0e+0012", "7e0001", "3.4e38", "1e39", "1e400", "-1e400", "007", "0.00000001234", "16777217",
    "123456.789", "", "NA", "NaN", "nan", "null", "N/A", "-", "?", "-999", "-999.0", "8,5", "1.234,5", "abc", "5-",
    "5-3", "--5", "+-5", "- 5", ".", "-.", "e5", "5e", "5e+", "1e+-5", "1e-+5", "1ee5", "1e5.0", "1.2.3", "5 5",
    "5 %", "5%", "$5", "0x1F", "1_000", "inf", "-inf", "Infinity", "infinity", "1e5e5", "5\u00a0", "\u00a05",
    "\u0665", "5d", "5f", "1,000", "1'000", "\\N", "12:30", "2024-01-31", "True", "yes", "on", "t",
]
AMOUNTS = [
    "$5", "-$5", "$-5", "$ -5", "-$ 5", "- $5", "$ - 5", "+\u20ac5", "5\u20ac", "5 \u20ac", "-5 %", "5%", "%5", "% 5",
    "5\u00a0%", "5% ", "5%\u00a0", "$5%", "$$5", "5$$", "$", "%", "-%", "\u00a5\u00a01", "\u20ac\u00a0-1", "\u20d05",
    "\u00a15", "5-", "-5-", "(5)", "5 -", "1e5", "1E5", "\u22125", "$\u22125", "5\u2212", "--5", "+-5", "-\u22125",
    "(-5)", "(5-)", "-(5)", "((5))", "()", "( 5)", "(5 )", "(5", "5)", ")5(", "$(5)", "($5)", "(5) %", "(5%)", "(5 %)",
    "$5-", "5-%", "5- %", "5%-", "5 %-", "-5%-", "(5)-", "\u202f5\u2009", "5\u2009%", "\u20ac\u202f5", "\u30005",
    "9" * 64, "9" * 65, "\u2212" + "9" * 63, "\u2212" + "9" * 64, "5" + "\u00a0" * 62 + "%", "5" + "\u00a0" * 63 + "%",
    "5 kg", "5kg", "kg 5", "kg5", "-kg 5", "kg -5", "5 kg-", "5- kg", "(5 kg)", "(5) kg", "5 k", "5 g", "5 kgkg",
    "kg 5 kg", "$5 kg", "5 m2", "5m2", "m2 5", "m25", "m 25", "5m", "kg", "m2", "5 fl oz", "5\u00a0fl\u202foz", "5 KG",
    "5 Stra\u00dfe", "-5\u202fm2", "5 a-b", "5 a\u2212b", "$kg5",
]
UNITS = "m,m2,kg,fl oz,Stra\u00dfe,a-b\u202fc,a-b,%/y"


SPACES = " \u00a0\u2009\u202f"


def drawn(chance, shapes, alphabet, count):
    """Cells that are like these, with changes of some characters."""
    for _ in range(count):
        cell = list(chance.choice(shapes))
        for _ in range(chance.choice([0, 0, 1, 1, 2])):
            at = chance.randint(0, len(cell))
            cell[at : at + chance.randint(0, 1)] = chance.choice([*alphabet, ""])
        yield chance.choice(BLANKS) + "".join(cell) + chance.choice(BLANKS)


def amounts(chance, decimal, thousands, count):
    """Numbers as people write them, and what is nearly one."""
    def digits(least, most):
        return "".join(chance.choices(string.digits, k=chance.randint(least, most)))

    for _ in range(count):
        whole = digits(0, 3) + "".join(
            chance.choice([thousands, thousands, decimal]).replace(" ", chance.choice(SPACES))
            + digits(*chance.choice([(3, 3), (3, 3), (2, 2), (1, 4)]))
            for _ in range(chance.choice([0, 0, 1, 2, 3])))
        part = chance.choice(["", decimal, decimal + digits(1, 4)])
        before = chance.choice(["", "", "-", "+", "$", "-\u20ac", "\u00a3 ", "\u00a5\u00a0-", "\u2212", "kg", "m2 "])
        behind = chance.choice(["", "", "%", " %", "-", "\u2212", " kg", "m", "\u2009fl oz"])
        if chance.random() < 0.1:
            before, behind = chance.choice([("(", ")"), ("$ (", ")"), ("(", " kg)"), ("(", ")\u202f%")])
        yield chance.choice(BLANKS) + before + whole + part + behind + chance.choice(BLANKS)


def compared(vwlite, database, cells, kind=None):
    """The scores of rows of a column of cells are those of `vwlite predict`, NULL where it refuses the row; how many
    of both there are."""
    rows = [[i, cell, "a"] for i, cell in enumerate(cells)]
    write("new.csv", ["row", "x", "w"], rows)
    vwlite("predict", "-m", "m", "new.csv", "--quiet", "--raw-predictions", "raw", "--on-error", "skip", "-p", "p")
    expected = [float(line) if line else None for line in Path("raw").read_text().split("\n")[:-1]]
    assert len(expected) == len(rows)
    table = database(["row", "x", "w"], rows, row="INTEGER", **({"x": kind} if kind else {}))
    for dialect in database.dialects:
        found = table.ask(exported(vwlite, *NAMES, "--dialect", dialect))
        for i, cell in enumerate(cells):
            x = found[i]["score"]
            assert (x is None) == (expected[i] is None), (dialect, cell, x, expected[i])
            assert x is None or x == pytest.approx(expected[i], **NEAR), (dialect, cell)
            assert (found[i]["prediction"] is None) == (x is None)
    return sum(x is not None for x in expected), sum(x is None for x in expected)


def learn(vwlite, options):
    """A slope of the column x, and a word."""
    rows = [[i, x, "ab"[i % 2], x + i % 2] for i, x in enumerate(range(-20, 20))]
    write("t.csv", ["row", "x", "w", "y"], rows)
    vwlite("train", "t.csv", "--label", "y", "--drop", "row", "--numeric", "x", "--names", "-m", "m", "--quiet",
           *with_gd(options))


@pytest.mark.third
@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("options", [[], ["--missing=-999,?"], ["--normalize", "log"]], ids=["", "missing", "log"])
def test_numbers_are_those_of_predict(vwlite, tmp_path, monkeypatch, database, options):
    monkeypatch.chdir(tmp_path)
    learn(vwlite, options)
    cells = NUMBERS + list(drawn(random.Random(1), NUMBERS, "0123456789.+-eE ,_$", 1500))
    good, bad = compared(vwlite, database, cells)
    assert good > 300 and bad > 300


@pytest.mark.third
@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize(("decimal", "thousands", "units"), [
    (",", ".", ""), (",", " ", UNITS), (",", "", ""), (".", ",", UNITS), ("", ",", ""), ("", "'", ""), ("", "_", "kg"),
    (".", "", ""), (",", "'", ""), ("", "", UNITS), (".", " ", ""),
], ids=lambda value: "units" if value == UNITS else None)
def test_amounts_are_those_of_predict(vwlite, tmp_path, monkeypatch, database, decimal, thousands, units):
    monkeypatch.chdir(tmp_path)
    typed = {"--decimal": decimal, "--thousands": thousands, "--units": units}
    learn(vwlite, [word for option, value in typed.items() if value for word in (option, value)])
    chance, point = random.Random(2), decimal or "."
    cells = [*NUMBERS, *AMOUNTS, *amounts(chance, point, thousands, 700),
             *drawn(chance, [*NUMBERS, *AMOUNTS, f"1{thousands}234{point}5"],
                    f"0123456789{point}{thousands}+-$%()kgm\u2212{SPACES}\u20ac", 700)]
    good, bad = compared(vwlite, database, cells)
    assert good > 300 and bad > 300


TYPES = ["INTEGER", "BIGINT", "DECIMAL(12, 3)", "REAL", "double", "BOOLEAN"]


@pytest.mark.third
@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("options", [[], ["--decimal", ","], ["--decimal", ",", "--thousands", "."]])
def test_columns_of_numbers_have_their_own_point(vwlite, tmp_path, monkeypatch, database, options):
    """1.234 in a column of numbers is no 1234, whatever texts mean. In SQLite each cell has a type."""
    monkeypatch.chdir(tmp_path)
    learn(vwlite, options)
    for kind in TYPES:
        values = {"INTEGER": [0, 5, -7, 123456, None], "BIGINT": [1234, -1234567, None],
                  "BOOLEAN": [True, False, None]}.get(kind, [0.5, -0.25, 1.234, -12.125, 1234.5, 1e5, None])
        texts = ["" if x is None else str(int(x) if kind == "BOOLEAN" else x) for x in values]
        if options:
            texts = [text.replace(".", ",") for text in texts]
        write("new.csv", ["row", "x", "w"], [[i, x, "a"] for i, x in enumerate(texts)])
        expected = vwlite("predict", "-m", "m", "new.csv", "--quiet", "--raw-predictions", "-", "-p", "p").out.split()
        rows = [[i, x, "a"] for i, x in enumerate(values)]
        table = database(["row", "x", "w"], rows, row="INTEGER", x=database.double if kind == "double" else kind)
        for dialect in database.dialects:
            if kind == "BOOLEAN" and database is InDuckdb and options and dialect == "any":
                with pytest.raises(Exception, match="BOOL"):  # no literal is both a BOOLEAN and a number
                    table.ask(exported(vwlite, *NAMES))
                continue
            found = table.ask(exported(vwlite, *NAMES, "--dialect", dialect))
            assert [found[i]["score"] for i in range(len(rows))] == pytest.approx([*map(float, expected)], **NEAR)


def test_sqlite_reads_each_cell_by_its_type(vwlite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    learn(vwlite, ["--decimal", ",", "--thousands", "."])
    pairs = [(1.234, "1,234"), ("1.234", "1234"), ("  1.234", "1234"), ("\t-1.234", "-1234"), (" 0", "0"), (5, "5"),
             ("+5", "5"), ("$1.234", "1234"), (-1e-7, "-0,0000001"), (None, ""), ("", ""), (" ", "")]
    write("new.csv", ["row", "x", "w"], [[i, x, "a"] for i, (_, x) in enumerate(pairs)])
    expected = vwlite("predict", "-m", "m", "new.csv", "--quiet", "--raw-predictions", "-", "-p", "p").out.split()
    for kind in ("", "TEXT", "NUMERIC"):
        # TEXT makes texts of all numbers, and NUMERIC makes numbers of the texts that are some for SQLite.
        wrong = {"": (), "TEXT": (int, float), "NUMERIC": str}[kind]
        values = [x for x, _ in pairs if not isinstance(x, wrong)]
        wanted = [e for (x, _), e in zip(pairs, expected, strict=True) if not isinstance(x, wrong)]
        table = InSqlite(["row", "x", "w"], [[i, x, "a"] for i, x in enumerate(values)], row="INTEGER", x=kind)
        for dialect in InSqlite.dialects:
            found = table.ask(exported(vwlite, *NAMES, "--dialect", dialect))
            assert [found[i]["score"] for i in range(len(values))] == pytest.approx([*map(float, wanted)], **NEAR)


# --- times -------------------------------------------------------------------------------------------------------

TIMES = [
    "2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29T23", "2024-01-31T13:05", "2024-01-31 13:05:59",
    "2024-01-31t24:00", "2024-01-31 13:05:60", "2024-01-31 13:05:61", "2024-01-31 13:60", "2024-01-31 13:05:59.25",
    "2024-01-31 13:05:59,5Z", "2024-01-31 13:05:59.", "2024-01-31 13:05.5", "2024-01-31 13+01:00",
    "2024-01-31 13:05-0530", "2024-01-31T13:05:59+05", "2024-01-31T13:05:59+24:00", "2024-01-31T13:05:59+05:60",
    "2024-01-31T13+1930", "2024-01-31T13Z", "2024-01-31TZ", "2024-01-31T", "2024-1-31", "2024-13-01", "2024-00-10",
    "2024-01-00", "2024-04-31", "0000-01-01", "0001-01-01", "9999-12-31", "10000-01-01", "20240229", "20230229",
    "20240131T1305", "20240131T130559", "20240131T130559.5Z", "20240131 1305+0100", "20240131T13:05",
    "2024-01-31T1305", "2024-0131", "202401-31", "2024", "202401", "1234567", "123456789", "12345678.5", "0", "-1",
    "86399.5", "-86400", "951782400", "4107542400", "1e9", "20240131.0", "2.0240131e7", "99999999", "2024.0", "-2024",
    "1e12", "-1e12", "-62135596800", "-62135596801", "253402300799", "253402300800", "1e5000", "", "NA", "nan", "0.0",
    "tomorrow", "31.01.2024", "01/31/2024", "2024-01-31 1pm", "2024-01-31 13:05 BC", "2024-W05-3",
    "2024-01-31T13:05:59 Z", "24-01-31", "\u0662024-01-31", "1,5", "5-",
    "2024-01", "2024-13", "2024-00", "0000-01", "2024-1", "2024-01 UTC", "2024-01-31 13:05 UTC", "2024-01-31T13 GMT",
    "20240131T1305 UTC", "2024-01-31 13:05  UTC", "2024-01-31 13:05Z UTC", "2024-01-31 UTC", "2024-01-31 13:05 utc",
    "99999999999", "100000000000", "-100000000000.5", "1700000000000", "1.7e12", "1717113599999", "1717113600000",
    "99999999999999", "100000000000000", "1717113599999999", "1717113600000000", "-1717113600000000", "1e17",
    "1717113599999999744", "1717113600000000000", "-1717113600000000000", "9.19e18", "9.2e18", "20240131130500",
    "18999999999999", "21000000000000", "20240131130500.5",
]
FORMATS = {
    "%d.%m.%Y": ["31.01.2024", "1.2.2024", "29.2.2023", "00.01.2024", "31.1.24", "31.01.2024 "],
    "%m/%d/%y %I:%M %p": ["01/31/24 01:05 PM", "1/31/69 12:5 am", "1/31/68 0:05 AM", "1/31/24 13:05 PM",
                          "1/31/24 1:60 PM", "1/31/24  1:05 pM", "1/31/24\t1:05 pm", "1/31/24 1:05 XM", "1/31/24 1:05"],
    "%Y%m%dT%H%M%S.%fZ": ["20240131T130559.25Z", "20240131t130559.123456789z", "2024131T130559.25Z",
                          "20240131T13055.25Z", "20240131T240559.25Z", "20240131T130560.25Z", "20240131T130559.Z"],
    "%d %b %Y %H:%M:%S %z": ["31 Jan 2024 13:05:59 +0100", "1 fEB 2024 3:5:9 -05:30", "1 Mai 2024 03:05:09 Z",
                             "31 Dec 2024 13:05:59 +24:00", "31 Dec 2024 13:05:59 +01", "31 Dec 2024 13:05:59 +01:6",
                             "31 Dec 2024 13:05:59 z", "31 December 2024 13:05:59 Z"],
    "%B %d, %Y": ["January 31, 2024", "may 1, 2024", "SEPTEMBER 30, 2024", "September 31, 2024", "Sept 3, 2024"],
    "%m 'to' %Y%%": ["1 'to' 2024%", "12 'TO' 2024%", "13 'to' 2024%", "1 'to' 2024"],
}


@pytest.mark.third
@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("missing", [None, "0,NA"])
def test_times_are_those_of_predict(vwlite, tmp_path, monkeypatch, database, missing):
    monkeypatch.chdir(tmp_path)
    chance = random.Random(3)
    rows = []
    for i in range(600):
        at = f"2024-{i % 12 + 1:02}-{i % 28 + 1:02} {chance.randint(0, 23):02}:00"
        hour, weekday, month = time_of(at.encode())
        rows.append([i, at, "ab"[i % 2], hour + 31 * weekday + 7 * month])
    write("t.csv", ["row", "x", "w", "y"], rows)
    vwlite("train", "t.csv", "--label", "y", "--drop", "row", "--time", "x", "--names", "-m", "m", "--quiet",
           *([f"--missing={missing}"] if missing else []), *with_gd([]))
    cells = TIMES + list(drawn(chance, TIMES, "0123456789-:.,TZ+ ", 1500))
    good, bad = compared(vwlite, database, cells)
    assert good > 300 and bad > 300


@pytest.mark.third
@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("format", FORMATS)
def test_times_in_a_format_are_those_of_predict(vwlite, tmp_path, monkeypatch, database, format):
    monkeypatch.chdir(tmp_path)
    chance, begin = random.Random(3), datetime(2024, 1, 1, tzinfo=timezone.utc)
    rows = [[i, (begin + timedelta(hours=31 * i)).strftime(format), "ab"[i % 2], i % 12 + i % 7] for i in range(280)]
    write("t.csv", ["row", "x", "w", "y"], rows)
    vwlite("train", "t.csv", "--label", "y", "--drop", "row", "--time", "x", "--time-format", format, "--names", "-m",
           "m", "--quiet", *with_gd([]))
    times = [*FORMATS[format], *(row[1] for row in rows[:20])]
    cells = ["", "NA", "2024-01-31", "1700000000", *times, *drawn(chance, times, "0123456789 /.:,APMapm", 300)]
    good, bad = compared(vwlite, database, cells)
    assert good > 30 and bad > 30


@pytest.mark.parametrize("database", [InDuckdb, InPostgres])
@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "BIGINT", "TIMESTAMPTZ"])
def test_columns_of_times_have_the_types_of_the_database(vwlite, tmp_path, monkeypatch, database, kind):
    monkeypatch.chdir(tmp_path)
    rows = [[i, f"2024-{i % 12 + 1:02}-{i % 28 + 1:02} {i % 24:02}:00", "a", i % 24 + i % 12] for i in range(300)]
    write("t.csv", ["row", "x", "w", "y"], rows)
    vwlite("train", "t.csv", "--label", "y", "--drop", "row", "--time", "x", "--names", "-m", "m", "--quiet",
           *with_gd([]))
    cells = {"DATE": ["2024-02-29", "0001-01-01", None], "BIGINT": [0, -1, 951782400, 20240229, None]}.get(
        kind, ["2024-02-29 23:59:59.25", "1999-12-31 00:00:00", None])
    assert compared(vwlite, database, cells, kind) == (len(cells), 0)


# --- words -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("database", DATABASES)
def test_words_that_are_whole_numbers_may_have_a_point_and_zeros(vwlite, tmp_path, monkeypatch, database):
    monkeypatch.chdir(tmp_path)
    words = ["0", "2", "-3", "10", "007", "1.10"]
    write("t.csv", ["row", "x", "y"], [[i, words[i % 6], i % 6 - 2.5] for i in range(60)])
    vwlite("train", "t.csv", "--label", "y", "--drop", "row", "--categorical", "x", "--names", "-m", "m", "--quiet",
           *with_gd([]))
    same = {"2.0": "2", "2.000": "2", "-3.0": "-3", "0.0": "0", " 10.00 ": "10", "007": "007", "1.10": "1.10"}
    new = ["02.0", "2.", ".0", "2.01", "v2.0", "--3.0", "+2.0", "2.0.0", "00.0", "-.0", "007.0"]
    cells = ["unknown", *words, *same, *new]
    table = database(["row", "x"], [[i, cell] for i, cell in enumerate(cells)], row="INTEGER")
    for dialect in database.dialects:
        found = table.ask(exported(vwlite, *NAMES, "--dialect", dialect))
        score = {cell: found[i]["score"] for i, cell in enumerate(cells)}
        assert len({score[cell] for cell in ("unknown", *words)}) == 7
        assert [score[cell] for cell in same] == [score[word] for word in same.values()]
        assert {score[cell] for cell in new} == {score["unknown"]}


# --- the query itself --------------------------------------------------------------------------------------------

def test_a_query_says_what_it_does_with_cells_that_are_not_numbers(vwlite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    learn(vwlite, ["--decimal", ",", "--thousands", "."])
    head = exported(vwlite, "--table", "t", "--id", "row").partition("WITH")[0]
    assert "-- Where another cell is not a number or time, `vwlite predict` refuses the row: its results " in head
    assert "Missing are NULL, an empty text, and in columns of numbers and times NA, " in head
    assert "-- Texts have numbers such as 1.234,50; columns of numbers have their own point.\n" in head
    learn(vwlite, ["--units", "kg"])
    assert "-- Texts have numbers such as 1234.50 kg; " in exported(vwlite, "--table", "t", "--id", "row")
    learn(vwlite, [])
    head = exported(vwlite, "--table", "t", "--id", "row").partition("WITH")[0]
    assert "such as" not in head


def test_classes_have_no_result_where_a_cell_is_refused(vwlite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("t.csv", ["row", "x", "y"], [[i, i % 9, "abc"[i % 3]] for i in range(300)])
    vwlite("train", "t.csv", "--label", "y", "--drop", "row", "--classes", "auto", "--oaa", "3", "--names", "-m", "m",
           "--quiet")
    table = InSqlite(["row", "x"], [[0, "8,5"], [1, "8"], [2, None]], row="INTEGER")
    found = table.ask(exported(vwlite))
    assert {*found[0].values()} == {None} and None not in {*found[1].values(), *found[2].values()}
