"""How fast is the SELECT of `vwlite export --to sql --table` beside `vwlite predict`, on the same rows?

    make bench-sql SETS=FOLDER     writes the table in RESULTS.md

Default models of tables (FOLDER/tables), and 100,000 rows drawn from the test part: a CSV file for
`vwlite predict`, and a table in memory for SQLite and DuckDB, which are asked for all rows. Each round runs all; a time
is the median of its rounds, a ratio is of the times of a round. Planning counts; loading the table does not.
"""

import csv
import gzip
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from harness import made, options_of, say, show, table

VWLITE = Path(sys.executable).with_name("vwlite")
TABLES: dict[str, tuple[str, ...]] = {
    "telco": (), "adult": (), "bank": (), "california": (),
    "nursery": ("--oaa", "5", "--classes", "auto"),
}
Rows = list[list[str]]


def read(path: Path) -> Rows:
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.reader(file))


def drawn() -> tuple[Rows, Rows]:
    """A small table, to train with and to predict."""
    chance = random.Random(1)
    rows = [[str(chance.randint(0, 1)), str(chance.randint(18, 80)), chance.choice("abc")] for _ in range(600)]
    return [["target", "age", "job"], *rows], [["target", "age", "job"], *rows[:50]]


def vwlite(*options: object) -> None:
    subprocess.run([VWLITE, *map(str, options)], check=True, stdout=subprocess.DEVNULL)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def is_number(cells: Rows, i: int) -> bool:
    try:
        return bool([float(row[i]) for row in cells if row[i]])
    except ValueError:
        return False


def in_sqlite(titles: list[str], rows: Rows) -> sqlite3.Connection:
    base = sqlite3.connect(":memory:")
    kinds = ("REAL" if is_number(rows, i) else "TEXT" for i in range(len(titles)))
    names = ", ".join(f"{quoted(title)} {kind}" for title, kind in zip(titles, kinds, strict=True))
    base.execute(f"CREATE TABLE rows_of_it (row_id INTEGER, {names})")
    cells = ([i, *(cell or None for cell in row)] for i, row in enumerate(rows))
    base.executemany(f"INSERT INTO rows_of_it VALUES (?{', ?' * len(titles)})", cells)
    return base


def ask(base: Any, query: str) -> None:
    base.execute(query).fetchall()


def measure(name: str, train: Rows, test: Rows, count: int, rounds: int, folder: Path) -> list[list[str]]:
    """The rows of the result."""
    import duckdb

    chance = random.Random(2)
    titles, rows = test[0], [chance.choice(test[1:]) for _ in range(count)]
    for path, content in (("train.csv", train), ("rows.csv", [titles, *rows])):
        with (folder / path).open("w", newline="") as file:
            csv.writer(file).writerows(content)
    model = folder / "m"
    vwlite("train", folder / "train.csv", "--label", "target", *TABLES.get(name, ()), "-m", model, "--quiet")
    lite, duck = in_sqlite(titles, rows), duckdb.connect()
    duck.execute("CREATE TABLE rows_of_it AS SELECT row_number() OVER () AS row_id, * "
                 f"FROM read_csv('{folder / 'rows.csv'}', header = true)")
    ways: dict[str, Callable[[], object]] = {
        "predict": lambda: vwlite("predict", "-m", model, folder / "rows.csv", "--quiet", "-p", folder / "p")}
    for base, dialects in ((lite, ("any", "sqlite")), (duck, ("any", "duckdb"))):
        for dialect in dialects:
            query = folder / "q.sql"
            vwlite("export", model, "--to", "sql", "--table", "rows_of_it", "--id", "row_id", "--dialect", dialect,
                   "-o", query)
            shown = f"{'SQLite' if base is lite else 'DuckDB'}, {dialect}"
            ways[shown] = partial(ask, base, query.read_text())
    times: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, run in ways.items():
            begin = time.perf_counter()
            run()
            times[way].append(time.perf_counter() - begin)
    base_times = times.pop("predict")
    found = []
    for way, some in times.items():
        ratios = [a / b for a, b in zip(some, base_times, strict=True)]
        say(f"{name}, {way}: {median(some):.3g} s, {median(ratios):.2g} times predict")
        found.append([name, way, f"{median(some):.3g} s", f"{median(base_times):.3g} s",
                      f"{median(ratios):.2g} ({min(ratios):.2g}-{max(ratios):.2g})"])
    return found


def main() -> None:
    parser = options_of(__doc__, quick="a tiny table: does it work? Its numbers say nothing",
                        results="put the table into this file, between its markers")
    parser.add_argument("--data", type=Path, default=Path(".bench/sets"), help="where the folder `tables` is")
    parser.add_argument("--rounds", type=int, default=5, help="(default: 5)")
    typed = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        if typed.quick:
            found += measure("drawn", *drawn(), 100, 1, Path(folder))
        for name in () if typed.quick else TABLES:
            train, test = (read(typed.data / f"tables/{name}.{part}.csv.gz") for part in ("train", "test"))
            found += measure(name, train, test, 100_000, typed.rounds, Path(folder))
    titles = ["table", "database, dialect", "SELECT", "`vwlite predict`", "ratio (min-max)"]
    versions = made("vwlite", "duckdb", note=f"; SQLite {sqlite3.sqlite_version}. Medians of {typed.rounds} rounds.")
    show(f"{table(titles, found)}\n\n{versions}", typed.results, "sql")


if __name__ == "__main__":
    main()
