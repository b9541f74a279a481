"""`vwlite dask train` without options beside `vwlite train` on one machine.

    make bench-shards SETS=FOLDER      writes the tables of MERGE.md

Tables and texts of FOLDER have at most 40,000 rows: the model has the bytes of one machine. The others are drawn:
documents, clicks (data/generate.py), and a table of curves, pairs and levels, whose rows are also sorted by label, and
dealt to shards of sizes 1, 2, 4, ... Losses are log losses of other rows; log is of the loss over that of one machine's
default on all rows. Bytes are those of arrays that shards send and get, for all shards. Two workers of this machine.
"""

import csv
import gzip
import io
import json
import time
from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise
from math import log
from pathlib import Path

import numpy as np
from auto_scale import head, loss_of, tail
from harness import VWLITE, generate, made, options_of, run, say, show, table, verdict, work_folder

GOAL = 0.010
SHARDS = (8, 64)
CLUSTER = ("--scheduler", "local:2", "--quiet")


def friedman(n: int, seed: int, path: Path) -> Path:
    """Friedman's function of five numbers, levels, pairs of levels, and a number whose effect depends on a level. The
    labels are drawn from a logistic model."""
    chance, fixed = np.random.default_rng(seed), np.random.default_rng(7)
    shops, cities, pairs = fixed.normal(size=300), fixed.normal(size=40), fixed.normal(size=(6, 4))
    x, shop = chance.random((n, 8)), (300 * chance.random(n) ** 2).astype(int)
    city, kind, level = (chance.integers(0, k, n) for k in (40, 6, 4))
    f = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    f = (f - 14.4) / 3.3 + 0.7 * shops[shop] + 0.5 * cities[city] + 0.8 * pairs[kind, level] - 0.8
    f += 1.2 * (x[:, 5] - 0.5) * np.sign(cities[city])
    y = chance.random(n) < 1 / (1 + np.exp(-f))
    with path.open("w") as out:
        out.write(f"y,{','.join(f'x{i}' for i in range(1, 9))},shop,city,kind,level\n")
        for i in range(n):
            numbers = ",".join(f"{value:.4f}" for value in x[i])
            out.write(f"{int(y[i])},{numbers},s{shop[i]},c{city[i]},k{kind[i]},l{level[i]}\n")
    return path


def dealt(path: Path, sizes: Sequence[float], folder: Path, *, by_label: bool = False) -> list[Path]:
    """The rows of a text in shards of these relative sizes, each with the header of a table."""
    lines = path.read_bytes().splitlines(keepends=True)
    first = [lines.pop(0)] if path.suffix == ".csv" else []
    if by_label:
        lines.sort(key=lambda line: line.split(b",")[0].split(b" ")[0])
    folder.mkdir()
    ends = np.round(np.cumsum([0, *sizes]) / sum(sizes) * len(lines)).astype(int).tolist()
    found = []
    for k, (begin, end) in enumerate(pairwise(ends)):
        found.append(folder / f"shard{k:02}{path.suffix}")
        found[-1].write_bytes(b"".join(first + lines[begin:end]))
    return found


def digest(path: Path) -> str:
    """Of the rows of a shard, by which shards are ordered."""
    lines = path.read_bytes().splitlines()[path.suffix == ".csv" :]
    return blake2b(b"".join(line + b"\n" for line in lines), digest_size=16).hexdigest()


def few(data: Path, folder: Path, names: Sequence[str]) -> list[list[str]]:
    """Whether models of shards have the bytes of one machine."""
    about, rows = json.loads((data / "tables/tables.json").read_text()), []
    for name in names:
        say(f"{name} ...")
        content = gzip.decompress((data / f"tables/{name}.train.csv.gz").read_bytes())
        whole = folder / f"{name}.csv"
        whole.write_bytes(content)
        options: list[str] = ["--label", "target"]
        for role, kind in (("categorical", "cat"), ("text", "text"), ("numeric", "num")):
            columns = [c for c, k in about[name]["kinds"].items() if k == kind]
            options += ["--" + role, ",".join(columns)] if columns else []
        options += ["--classes", "auto"] if about[name]["task"] == "mc" else []
        found = []
        for count in SHARDS:
            shards = dealt(whole, [1] * count, folder / f"{name}.{count}")
            run(VWLITE, "train", *sorted(shards, key=digest), *options, "-m", folder / "one", "--quiet")
            begin = time.monotonic()
            run(VWLITE, "dask", "train", *shards, *CLUSTER, *options, "-m", folder / "m")
            same = (folder / "m").read_bytes() == (folder / "one").read_bytes()
            found += [verdict(same), f"{time.monotonic() - begin:.0f}"]
        count = sum(1 for _ in csv.reader(io.StringIO(content.decode()))) - 1
        rows.append([name, f"{count:,}", *found])
    return rows


def many(folder: Path, *, quick: bool, only: str) -> list[list[str]]:
    """Losses over those of one machine."""
    size = {"documents, 90,000": 2000, "documents, 500,000": 3000, "clicks, 1,000,000": 3000, "table, 1,000,000": 3000}
    if not quick:
        size = {name: int(name.split(", ")[1].replace(",", "")) for name in size}
    rows = []
    for name, n in size.items():
        if only not in name:
            continue
        say(f"{name} ...")
        kind, more = name.split(",")[0], 1000 if quick else 30_000
        own = folder / name.replace(" ", "")
        own.mkdir()
        if kind == "table":
            train, test = friedman(n, 1, own / "train.csv"), friedman(more, 2, own / "test.csv")
        else:
            text = generate({"documents": "rcv1", "clicks": "clicks"}[kind], own / "all", "--examples", n + more)
            train, test = head(text, n, own / "train.vw"), tail(text, n, own / "test.vw")
        options = ["--label", "y"] if kind == "table" else []
        one = run(VWLITE, "train", train, *options, "-m", own / "one", "--quiet")
        loss = loss_of(own / "one", test)
        ways: list[tuple[str, Sequence[float], bool]] = [(f"{count} shards", [1] * count, False) for count in SHARDS]
        if kind == "table":
            ways.append(("8, sorted by label", [1] * 8, True))
            ways.append(("8, of sizes 1, 2, 4, ...", [2**k for k in range(8)], False))
        for way, sizes, by_label in ways:
            shards = dealt(train, sizes, own / way.replace(" ", ""), by_label=by_label)
            found = run(VWLITE, "dask", "train", *shards, *CLUSTER, *options, "-m", own / "m", "--report", own / "r")
            results, reached = json.loads((own / "r").read_text())["results"], loss_of(own / "m", test)
            ratio = log(reached / loss)
            traffic = [f"{results.get(key, 0) / 1e6:,.1f}" for key in ("bytes_up", "bytes_down")]
            rows.append([name, way, f"{loss:.4f}", f"{reached:.4f}", f"{ratio:+.3f}", verdict(ratio <= GOAL), *traffic,
                         f"{one.seconds:.0f}", f"{found.seconds:.0f}"])
    return rows


def main() -> None:
    parser = options_of(__doc__, quick="small data: does it work?", data=True, results="put the tables into this file")
    parser.add_argument("--only", default="", metavar="NAME", help="print the rows of drawn data whose name has this; "
                        "few: the other table")
    typed = parser.parse_args()
    names = ["german"] if typed.quick else ["adult", "bank", "california", "diamonds", "german", "magic", "nursery",
                                            "satimage", "telco", "agnews", "clickbait"]
    with work_folder() as place:
        large = many(Path(place), quick=typed.quick, only=typed.only)
        small = few(typed.data, Path(place), names) if typed.data and typed.only in ("", "few") else []
    titles = ["rows", "shards", "one machine", "shards'", "log", f"at most +{GOAL:.3f}", "MB up", "MB down",
              "s of one machine", "s"]
    about = made("vwlite", "dask", "distributed", "numpy")
    results = None if typed.only else typed.results
    show(f"{table(titles, large, 'llrrrlrrrr')}\n\n{about}", results, "shards")
    if small:
        of = ["set", "rows", *(title for count in SHARDS for title in (f"{count} shards: same bytes", "s"))]
        show(f"{table(of, small, 'lrlrlr')}\n\n{about}", results, "few rows in shards")


if __name__ == "__main__":
    main()
