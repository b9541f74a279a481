"""A model of a table as one SELECT over that table predicts what `vwlite predict` does, in three databases."""

import csv
import gzip
import io
import random
import re
import shutil
import sqlite3
from pathlib import Path

import postgres
import pytest
from running import GD, run_here, with_gd
from sets import SETS

from vwlite.export import DIALECTS, sql_effects
from vwlite.hashing import feature_hash

NEAR = {"abs": 1e-6, "rel": 1e-6}
TITLES = ["row", "it's; \"so\" {0}", "select", "naïve|col", "price, net", "17", "y"]
WORDS = ["phone", "desk top", "a|b:c", "it's", "é\u2028x", "tab\there", "{x}", "a=b^c", "%_", "Phone", '"q"', "--",
         "1.0", "*/", "'; DROP TABLE t; --"]
TABLE = '"my ""clicks"""'
NAMES = ("--table", TABLE, "--id", "row")


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class InSqlite:
    """A table in a database; types: of its columns, TEXT where there is no other."""

    dialects = ("any", "sqlite")
    double = "REAL"

    def __init__(self, titles, rows, **types):
        self.base = self.connected()
        columns = ", ".join(f"{quoted(title)} {types.get(title, self.text)}" for title in titles)
        self.base.execute(f"CREATE TABLE {TABLE} ({columns})")
        self.base.executemany(f"INSERT INTO {TABLE} VALUES ({', '.join('?' * len(titles))})", rows)

    text = "TEXT"

    def connected(self):
        return sqlite3.connect(":memory:")

    def ask(self, query):
        """The rows of the result, by the values of its first column."""
        found = self.base.execute(query)
        names = [column[0] for column in found.description]
        rows = found.fetchall()
        assert len({row[0] for row in rows}) == len(rows)
        return {row[0]: dict(zip(names[1:], row[1:], strict=True)) for row in rows}


class InDuckdb(InSqlite):
    dialects = ("any", "duckdb")
    text = "VARCHAR"
    double = "DOUBLE"

    def connected(self):
        return pytest.importorskip("duckdb").connect()


class InPostgres(InSqlite):
    dialects = ("any", "postgres")
    text = "VARCHAR"
    double = "DOUBLE PRECISION"

    def connected(self):
        connection = postgres.Connection()
        connection.execute(f"DROP TABLE IF EXISTS {TABLE}")
        return connection


all_three = pytest.mark.parametrize("database", [InSqlite, InDuckdb, InPostgres])


def as_csv(titles, rows):
    text = io.StringIO(newline="")
    csv.writer(text).writerows([titles, *rows])
    return text.getvalue()


def write(name, titles, rows):
    Path(name).write_text(as_csv(titles, rows), newline="")


def exported(vwlite, *options):
    vwlite("export", "m", "--to", "sql", *(options or NAMES), "-o", "m.sql")
    return Path("m.sql").read_bytes().decode()


def numbers(lines):
    return [float(line.split()[0]) for line in lines]


def check(vwlite, found, ids, data="new.csv"):
    """A result against the predictions and scores of the rows of a file."""
    expected = vwlite("predict", "-m", "m", data, "--quiet", "--raw-predictions", "raw").out.splitlines()
    assert [found[i]["prediction"] for i in ids] == pytest.approx(numbers(expected), **NEAR)
    assert [found[i]["score"] for i in ids] == pytest.approx(numbers(Path("raw").read_text().splitlines()), **NEAR)
    assert len(found) == len(ids)
    return expected


# --- linear models, with words and titles that SQL must quote ---------------------------------------------------


def rows_of_table(count, seed=1):
    """Rows of the columns TITLES; None: there is nothing in the cell."""
    chance = random.Random(seed)
    for i in range(count):
        words = [chance.choice([*WORDS, None, " padded\t", "a\nb\r"]) for _ in range(3)]
        numbers = [chance.choice([None, 0, chance.gauss(0, 3)]), chance.choice([None, 1, -2.5])]
        yield [f"id {i}", *words, *numbers, (1 if words[0] in WORDS[:4] else -1) * (1 if words[1] != "phone" else -1)]


def linear_table(database, rows):
    return database(TITLES, rows, **{"price, net": database.double, "17": database.double})


@all_three
@pytest.mark.third
@pytest.mark.parametrize("options", [
    "--loss logistic --link logistic", "--loss squared -l 0.1 --no-constant", "-b 18 --hash all --loss logistic",
    "--algorithm ftrl --l1 0.05 --loss logistic", "--loss poisson --link poisson -l 0.01",
    "--normalize l2 --loss logistic", "--normalize log --loss hinge", "--algorithm eg --radius 3 --features 90",
])
def test_a_select_predicts_the_rows_of_a_table(vwlite, tmp_path, monkeypatch, database, options):
    monkeypatch.chdir(tmp_path)
    rows = list(rows_of_table(300))
    if "poisson" in options:
        rows = [[*row[:-1], 0 if row[-1] < 0 else 3] for row in rows]
    write("t.csv", TITLES, rows)
    vwlite("train", "t.csv", "--label", "y", "--drop", "row", "--names", *with_gd(options.split()), "-m", "m",
           "--quiet")
    rows += [["new 1", "unseen", None, "never", 2.5, None, None], ["new 2", *[None] * 6]]
    rows += [["new 3", "", " ", "\t", *[None] * 3]]
    write("new.csv", TITLES, rows)
    table = linear_table(database, rows)
    for dialect in database.dialects:
        found = table.ask(exported(vwlite, *NAMES, "--dialect", dialect))
        assert len(set(check(vwlite, found, [row[0] for row in rows]))) > 90
        if "logistic" in options:
            p = [row["probability"] for row in found.values()]
            assert all(0 < x < 1 for x in p) and len(set(p)) > 90


@all_three
@pytest.mark.parametrize("options", ["--loss logistic", "--softmax", "--loss hinge"])
def test_a_select_has_classes(vwlite, tmp_path, monkeypatch, database, options):
    monkeypatch.chdir(tmp_path)
    rows = [[*row[:-1], "aA'"[WORDS.index(row[1]) % 3 if row[1] in WORDS else 2]] for row in rows_of_table(200)]
    write("t.csv", TITLES, rows)
    vwlite("train", *with_gd(["t.csv", "--label", "y", "--drop", "row", "--oaa", "3", *options.split()]), "--classes",
           "auto", "--names", "-m", "m", "--quiet")
    found = linear_table(database, rows).ask(exported(vwlite))
    assert [found[row[0]]["prediction"] for row in rows] == vwlite(
        "predict", "-m", "m", "t.csv", "--quiet").out.splitlines()
    if options == "--loss hinge":
        assert not any(name.startswith("probability") for name in found["id 0"])
        return
    names = {name.partition(":")[0] for name in vwlite(
        "predict", "-m", "m", "t.csv", "--probabilities", "--quiet").out.splitlines()[0].split()}
    assert names == {"a", "A", "'"}
    columns = [name for name in found["id 0"] if name.startswith("probability_")]
    assert len({name.lower() for name in columns}) == 3  # databases know no names by their case
    lines = vwlite("predict", "-m", "m", "t.csv", "--probabilities", "--quiet").out.splitlines()
    for row, line in zip(rows, lines, strict=True):
        shares = [float(word.rpartition(":")[2]) for word in line.split()]
        assert [found[row[0]][name] for name in columns] == pytest.approx(shares, abs=1e-6)


@all_three
@pytest.mark.parametrize("options", ["-l 3", "-l 3 --normalize l2", "--label-transform log1p"])
def test_a_select_has_a_column_for_each_quantile(vwlite, tmp_path, monkeypatch, database, options):
    """In order, though the scores of some rows cross."""
    monkeypatch.chdir(tmp_path)
    rows = [[*row[:-1], 5 + 4 * row[-1] + i % 7] for i, row in enumerate(rows_of_table(150))]
    write("t.csv", TITLES, rows)
    taus = ("0.1", "0.25", "0.5", "0.9")
    vwlite("train", *with_gd(["t.csv", "--label", "y", "--drop", "row", "--loss", "quantile", "--quantile-tau",
           ",".join(taus), "--names", *options.split()]), "-m", "m", "--quiet")
    rows += [["new 1", "unseen", None, "never", 2.5, None, None], ["new 2", *[None] * 6]]
    write("t.csv", TITLES, rows)
    lines = vwlite("predict", "-m", "m", "t.csv", "--quiet").out.splitlines()
    expected = [[*map(float, line.split())] for line in lines]
    table, crossing = linear_table(database, rows), 0
    for dialect in database.dialects:
        found = table.ask(exported(vwlite, *NAMES, "--dialect", dialect))
        assert [*found["id 0"]] == [f"{what}_{tau}" for what in ("quantile", "score") for tau in taus]
        for row, numbers in zip(rows, expected, strict=True):
            assert [*found[row[0]].values()][:4] == pytest.approx(numbers, **NEAR)
            scores = [*found[row[0]].values()][4:]
            crossing += scores != sorted(scores)
    assert crossing > 0


# --- curves and products -----------------------------------------------------------------------------------------

COLUMNS = ["row", "age", "pay", "job", "town", "at", "member", "zip", "y"]
JOBS = ["clerk", "nurse", "it's"]


def made(count, kind, seed=1):
    """Rows of COLUMNS, whose labels need a curve, levels, and a product."""
    chance = random.Random(seed)
    for i in range(count):
        age, pay = chance.randint(18, 80), round(chance.lognormvariate(7, 1), 2)
        job, member = chance.choice(JOBS), chance.choice(["Yes", "No"])
        town, number = f"town {chance.randint(1, 30)}", str(chance.randint(1, 3))
        day = f"{chance.randint(1969, 2030)}-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d}"
        at = f"{day} {chance.randint(0, 23):02d}:{chance.randint(0, 59):02d}:07"
        score = abs(age - 45) / 8 - 2 + (2 if job == "nurse" else 0) * (1 if member == "Yes" else -1)
        score += (int(at[11:13]) > 12) + (number == "2") - (pay > 1500) * (age > 50) * 2 + int(town[5:]) / 30
        y = {"binary": int(chance.random() < 1 / (1 + 2.718**-score)), "number": round(score + 5, 3),
             "classes": "low" if score < -1 else "high" if score > 1 else "middle"}[kind]
        yield [i, age, pay, job, town, at, member, number, y]


def with_holes(rows, seed=2):
    """With missing cells, and words that no model has seen."""
    chance = random.Random(seed)
    for row in rows:
        for i, column in enumerate(COLUMNS[1:-1], 1):
            if chance.random() < 0.1:
                row[i] = "new" if column in ("job", "town") and chance.random() < 0.5 else None
        yield row


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with a model of each kind of label, learned from rows with holes, and `whole`, of rows without."""
    folder = tmp_path_factory.mktemp("models")
    for name in ("binary", "number", "classes", "whole"):
        rows = made(1500, "binary") if name == "whole" else with_holes(made(1500, name))
        write(folder / "t.csv", COLUMNS, rows)
        run_here("train", folder / "t.csv", "--label", "y", "--drop", "row", "--time", "at", "--categorical", "zip",
                 *(("--oaa", "3", "--classes", "auto") if name == "classes" else ()), "--names", "-m", folder / name,
                 "--quiet")
        run_here("names", folder / name, folder / "t.csv")
    return folder


@all_three
@pytest.mark.pairwise
@pytest.mark.parametrize("limits", [{}, {"CELLS": 4, "LEVELS": 2, "JOINS": 3, "TERMS": 3}])
@pytest.mark.parametrize("kind", ["binary", "number", "classes"])
def test_curves_and_products_are_in_a_select(vwlite, models, tmp_path, monkeypatch, database, limits, kind):
    """Also where all of them are tables, of which few are joined at once."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(models / kind, "m")
    rows = list(with_holes(made(300, kind, seed=5), seed=6))
    write("new.csv", COLUMNS, rows)
    for name, value in limits.items():
        monkeypatch.setattr(sql_effects, name, value)
    table = database(COLUMNS, rows, row="INTEGER", age="INTEGER", pay=database.double)
    for dialect in ("any", "postgres") if database is InPostgres else ("any",):
        query = exported(vwlite, *NAMES, "--dialect", dialect)
        assert (" OVER (" in query) >= bool(limits and dialect == "any")
        found = table.ask(query)
        if kind != "classes":
            check(vwlite, found, [row[0] for row in rows])
            continue
        lines = vwlite("predict", "-m", "m", "new.csv", "--quiet", "--raw-predictions", "raw").out.splitlines()
        assert [found[row[0]]["prediction"] for row in rows] == lines
        for row, line in zip(rows, Path("raw").read_text().splitlines(), strict=True):
            scores = {name: float(x) for name, _, x in (word.rpartition(":") for word in line.split())}
            assert {name: found[row[0]][f"score_{name}"] for name in scores} == pytest.approx(scores, **NEAR)


def test_postgresql_compiles_nothing_of_its_dialect(vwlite, models, tmp_path, monkeypatch):
    """With its JIT, which takes half a minute for the other form of a model of some 60 products. Nor does it join
    tables: a nested loop would read each whole table of cells for each row."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(models / "number", "m")
    table = InPostgres(COLUMNS, [], row="INTEGER", age="INTEGER", pay="DOUBLE PRECISION")
    ((has_jit,),) = table.base.execute("SELECT pg_jit_available()").fetchall()
    plans = {}
    for dialect in table.dialects:
        query = exported(vwlite, *NAMES, "--dialect", dialect)
        plans[dialect] = "\n".join(line for line, in table.base.execute(
            f"INSERT INTO {TABLE} (row) SELECT generate_series(1, 200000); ANALYZE {TABLE}; SET jit = on; "
            f"EXPLAIN {query}").fetchall())
    assert "Seq Scan" in plans["postgres"] and "JIT" not in plans["postgres"]
    assert "JIT" in plans["any"] or has_jit == "f"
    assert not re.search("Nested Loop|Join", plans["postgres"])


TYPES = {
    InSqlite: {"row": "INTEGER", "age": "INTEGER", "pay": "REAL", "zip": "REAL", "member": "BOOLEAN"},
    InDuckdb: {"row": "BIGINT", "age": "SMALLINT", "pay": "DECIMAL(12, 2)", "at": "TIMESTAMP", "zip": "DOUBLE",
               "member": "BOOLEAN"},
}
TYPES[InPostgres] = TYPES[InDuckdb] | {"zip": "DOUBLE PRECISION"}


@all_three
def test_columns_have_the_types_that_readers_choose(vwlite, models, tmp_path, monkeypatch, database):
    """Times, booleans where the data have Yes and No, codes as numbers, numbers as text: the same predictions."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(models / "binary", "m")
    rows = list(with_holes(made(300, "binary", seed=5), seed=6))
    write("new.csv", COLUMNS, rows)
    at = {name: i for i, name in enumerate(COLUMNS)}
    typed = [[*row] for row in rows]
    for row in typed:
        member, code = row[at["member"]], row[at["zip"]]
        row[at["member"]] = member and member == "Yes"
        row[at["zip"]] = code and float(code)
    ids = [row[0] for row in rows]
    check(vwlite, database(COLUMNS, typed, **TYPES[database]).ask(exported(vwlite)), ids)
    texts = [[row[0], *(f" {cell}\n" if cell is not None else "NA" if name in ("age", "pay", "at") else ""
                        for name, cell in zip(COLUMNS[1:], row[1:], strict=True))] for row in rows]
    for dialect in database.dialects:
        table = database(COLUMNS, texts, row=TYPES[database]["row"])
        check(vwlite, table.ask(exported(vwlite, *NAMES, "--dialect", dialect)), ids)


@all_three
def test_times_are_read_as_predict_reads_them(vwlite, models, tmp_path, monkeypatch, database):
    """Dates, offsets, the basic format, seconds since 1970."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(models / "whole", "m")
    times = ["2024-02-29", "2000-02-29T23", "1900-03-01T00:59:59.5+02:00", "0001-01-01", "9999-12-31 12:00Z",
             "20240229", "20231231T230000", "0", "-1", "86399.5", "-86400", "951782400", "4107542400", "1e9", None,
             "NA", *(f"{year}-{month:02d}-{day}" for year in (1999, 2000, 2023, 2024) for month in range(1, 13)
                     for day in ("01", "28"))]
    rows = [[i, 40, 1000.5, "clerk", "town 1", time, "Yes", "2", None] for i, time in enumerate(times)]
    write("new.csv", COLUMNS, rows)
    found = database(COLUMNS, rows, row="INTEGER", age="INTEGER").ask(exported(vwlite))
    assert len(set(check(vwlite, found, [row[0] for row in rows]))) > 20


@all_three
def test_numbers_are_rounded_as_those_of_predict(vwlite, tmp_path, monkeypatch, database):
    """To 32-bit floats: where a curve is steep, such a digit counts."""
    monkeypatch.chdir(tmp_path)
    chance = random.Random(3)
    data = [[i, round(1e6 + chance.random(), 3), 0] for i in range(1500)]
    for row in data:
        row[2] = int(chance.random() < (0.9 if int(row[1] * 8) % 2 else 0.1))
    write("t.csv", ["row", "x", "y"], data)
    vwlite("train", "t.csv", "--label", "y", "--drop", "row", "--names", "-m", "m", "--quiet")
    rows = [row for row in data[:200] if row[1] * 1e3 % 31.25]  # a number that is halfway is rounded either way
    write("new.csv", ["row", "x", "y"], rows)
    table = database(["row", "x", "y"], rows, row="INTEGER", x=database.double, y="INTEGER")
    for dialect in database.dialects:
        check(vwlite, table.ask(exported(vwlite, *NAMES, "--dialect", dialect)), [row[0] for row in rows])


@all_three
def test_a_level_whose_bytes_are_not_utf8_is_none_of_a_database(vwlite, tmp_path, monkeypatch, database):
    """A table of weights may have such a name. U+FFFD, which is shown in its place, is another word."""
    monkeypatch.chdir(tmp_path)
    small(vwlite)
    vwlite("export", "m", "--to", "tsv", "-o", "m.tsv")
    index = feature_hash(b"a=\xff", b"a")
    changed, n = re.subn(r"(?m)^\d+(\t.*\ta\^a=)b$", rf"{index}\1\\xff", Path("m.tsv").read_text())
    assert n == 1
    Path("m.tsv").write_text(changed)
    vwlite("import", "m.tsv", "-m", "m")
    rows = [["1", "\ufffd", 2], ["2", "unseen", 2], ["3", "c", 2]]
    write("new.csv", ["row", "a", "b"], rows)
    table = database(["row", "a", "b"], rows, b="INTEGER")
    for dialect in database.dialects:
        found = table.ask(exported(vwlite, *NAMES, "--dialect", dialect))
        found = {str(i): row for i, row in found.items()}  # psql has no types
        assert len(set(check(vwlite, found, [row[0] for row in rows]))) == 2


# --- the query itself ---------------------------------------------------------------------------------------------


def small(vwlite, options="--names"):
    Path("t.csv").write_text("y,a,b\n1,b,2\n-1,c,1\n")
    vwlite("train", "t.csv", "--label", "y", *with_gd(options.split()), "-m", "m", "--quiet")


def test_a_query_is_one_select_that_creates_nothing(vwlite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small(vwlite)
    query = exported(vwlite, "--table", "t", "--id", "i")
    base = sqlite3.connect(":memory:")
    base.executescript("CREATE TABLE t (i, a, b); INSERT INTO t VALUES (7, 'b', 2); PRAGMA query_only = 1;")
    lines = [line for line in query.splitlines() if not line.startswith("--")]
    assert lines[0].startswith("WITH ") and ";" not in "\n".join(lines)
    assert [row[0] for row in base.execute(query)] == [7]  # `execute` takes one statement
    # A view or a table of it has names for all columns.
    base.executescript(f"PRAGMA query_only = 0; CREATE VIEW v AS {query};")
    assert [column[1] for column in base.execute("PRAGMA table_info(v)")] == ["i", "prediction", "score"]


def rendered(template):
    """What dbt runs: references are names, and nothing else has a value."""
    from jinja2 import Environment, StrictUndefined

    made = Environment(undefined=StrictUndefined, keep_trailing_newline=True).from_string(template)
    return made.render(ref=lambda name: f'"{name}"')


@pytest.mark.parametrize(("table", "shown"), [
    ("main.clicks", '"main"."clicks"'), ("{{ ref('clicks') }}", "{{ ref('clicks') }}"), ('"a.b".c', '"a.b"."c"'),
])
def test_a_table_may_be_in_a_schema_or_a_reference_of_dbt(vwlite, tmp_path, monkeypatch, table, shown):
    monkeypatch.chdir(tmp_path)
    small(vwlite)
    query = exported(vwlite, "--table", table, "--id", "id")
    assert f"FROM {shown} t" in query
    base = sqlite3.connect(":memory:")
    base.executescript("CREATE TABLE clicks (id, a, b); INSERT INTO clicks VALUES (7, 'b', 2);")
    query = rendered(query) if "{" in table else query.replace(shown, "clicks")
    ((found, prediction, *_),) = base.execute(query).fetchall()
    assert found == 7 and prediction == pytest.approx(
        numbers(vwlite("predict", "-m", "m", "t.csv", "--quiet").out.splitlines())[0], **NEAR)


PIECES = ["{", "{{", "{%", "{#", "}}", "%}", "#}", "{%-", "-%}", "{{-", "raw", "endraw", "{% raw %}", "{{ 7*7 }}",
          '{{ env_var("AWS_SECRET") }}', "\r", "\r\n", "\n", "'", '"', "\\", " ", "x", "#", "##"]


@pytest.mark.parametrize("seed", range(8))
def test_levels_and_names_stay_text_in_a_template_of_dbt(vwlite, tmp_path, monkeypatch, seed):
    """Jinja renders it to the query over the table, whatever the data say, and calls nothing but `ref`."""
    monkeypatch.chdir(tmp_path)
    chance = random.Random(seed)
    names = {"".join(chance.choices(PIECES, k=chance.randint(1, 4))).strip() for _ in range(40)} - {""}
    words = sorted(names) + PIECES[:4] + ["{\r", "{ {"]
    kept = {re.sub(r"[\0- |:]", "_", name): name for name in sorted(names)}  # columns are namespaces
    titles = ["row", *[name for name in kept.values() if not {*name} & {*"\r\n"}][:3], "y"]
    rows = [[i, *(chance.choice(words) for _ in titles[1:-1]), chance.choice([-1, 1])] for i in range(400)]
    write("t.csv", titles, rows)
    vwlite("train", "t.csv", "--label", "y", "--drop", "row", "--names", *GD, "--loss", "logistic", "-m", "m",
           "--quiet")
    plain = exported(vwlite, "--table", "t", "--id", "row")
    template = exported(vwlite, "--table", "{{ ref('t') }}", "--id", "row")
    made = rendered(template)
    assert made == plain
    base = InSqlite(titles, [])
    base.base.execute(f"ALTER TABLE {TABLE} RENAME TO t")
    base.base.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(titles))})", rows)
    found = base.ask(made)
    check(vwlite, {int(i): row for i, row in found.items()}, range(400), "t.csv")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_query_says_where_it_runs(vwlite, tmp_path, monkeypatch, dialect):
    monkeypatch.chdir(tmp_path)
    small(vwlite)
    comment = exported(vwlite, "--table", "t", "--id", "i", "--dialect", dialect).partition("WITH")[0]
    runs = {name for name in ("sqlite", "duckdb", "postgres") if name in comment.lower()}
    assert runs == ({"sqlite", "duckdb", "postgres"} if dialect == "any" else {dialect})


def test_the_database_may_be_named_in_full(vwlite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small(vwlite)
    found = {exported(vwlite, *NAMES, "--dialect", name) for name in ("postgres", "postgresql")}
    assert len(found) == 1


@pytest.mark.parametrize(
    ("options", "typed", "code", "why"),
    [
        ("--names", "--to sql --table t", 2, "--table and --id go together"),
        ("--names", "--to sql --id i", 2, "--table and --id go together"),
        ("--names", "--to sql --dialect duckdb", 2, "--dialect is for --table"),
        ("--names", "--to c --table t --id i", 2, "--table is for --to sql: leave it out"),
        ("--names", "--to c --dialect any", 2, "--dialect is for --to sql: leave it out"),
        ("--names", "--to sql --table a..b --id i", 2, "'' cannot be the name of a table or a column"),
        ("--names", "--to sql --table t --id \udcff", 2, "cannot be the name of a table or a column in SQL"),
        ('--names', '--to sql --table "a"b --id i', 2, '--table "a"b: expected a name, or names with dots'),
        ("", "--to sql --table t --id i", 65, "2 of its features have a weight but no name: train with --names"),
        ("--names -q a,b", "--to sql --table t --id i", 65, "it crosses columns (--quadratic, --interactions)"),
        ("--names --ignore a", "--to sql --table t --id i", 65, "it leaves out columns by their first letters"),
        ("--names --text a", "--to sql --table t --id i", 65, "column a is of text"),
    ],
)
def test_what_a_select_cannot_do_is_refused(vwlite, tmp_path, monkeypatch, options, typed, code, why):
    monkeypatch.chdir(tmp_path)
    small(vwlite, options)
    assert why in vwlite("export", "m", *typed.split(), "-o", "m.sql", code=code).err
    assert not Path("m.sql").exists()


@pytest.mark.parametrize(("data", "options", "why"), [
    ("1 |a b\n", "", "m: cannot be a SELECT over a table, because it was not learned from a table; omit --table"),
    ('{"y": 1, "a": "b"}\n', "--label y", "because a model of JSON lines has no fixed columns; use --to c or --to "),
])
def test_a_select_needs_a_model_of_a_table(vwlite, tmp_path, monkeypatch, data, options, why):
    monkeypatch.chdir(tmp_path)
    Path("d").write_text(data)
    vwlite("train", *GD, "d", *options.split(), "--names", "-m", "m", "--quiet")
    assert why in vwlite("export", "m", "--to", "sql", "--table", "t", "--id", "i", "-o", "m.sql", code=65).err


# --- real tables -------------------------------------------------------------------------------------------------

REAL = {"bank": (), "german": (), "nursery": ("--oaa", 5, "--classes", "auto"), "telco": ()}


@pytest.mark.long
@all_three
@pytest.mark.third
@pytest.mark.parametrize("name", REAL)
def test_selects_over_real_tables(vwlite, tmp_path, monkeypatch, database, name):
    monkeypatch.chdir(tmp_path)
    for part in ("train", "test"):
        source = SETS / f"tables/{name}.{part}.csv.gz"
        if not source.exists():
            pytest.skip(f"there is no {source.name}")
        lines = gzip.open(source, "rt").read().splitlines(keepends=True)[: 4001 if part == "train" else 501]
        Path(f"{part}.csv").write_text("".join(lines))
    vwlite("train", "train.csv", "--label", "target", *REAL[name], "--names", "-m", "m", "--quiet")
    vwlite("names", "m", "train.csv")
    titles, *rows = csv.reader(Path("test.csv").read_text().splitlines())
    table = database(["row", *titles], [[i, *row] for i, row in enumerate(rows)], row="INTEGER")
    found = table.ask(exported(vwlite))
    if REAL[name]:
        lines = vwlite("predict", "-m", "m", "test.csv", "--quiet").out.splitlines()
        assert [found[i]["prediction"] for i in range(len(rows))] == lines
    else:
        check(vwlite, found, range(len(rows)), "test.csv")


def test_a_query_has_no_line_that_ends_in_blanks_or_names_no_column(vwlite, models, tmp_path, monkeypatch):
    """Each term stands in a line with the name of its column."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(models / "whole", "m")
    query = exported(vwlite)
    named = set(re.findall(r"  -- ([^\n*]+)\n", query))
    assert {"age", "pay", "job", "town", "at.hour", "at.weekday", "at.month", "member", "zip"} <= named
