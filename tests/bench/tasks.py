"""The figures on README's first screen that are not losses: speed beside Vowpal Wabbit, a SELECT, the same bytes.

    make tasks SETS=FOLDER     writes tasks.json; then `make docs` puts the table into README

A default model of telco (FOLDER/tables) predicts 100,000 drawn rows, by DuckDB and by `vwlite predict`; clicks are
drawn by data/generate.py. Each round runs both sides; a time is the median of its rounds. Losses: `make auto`.
"""

import hashlib
import json
import tempfile
from pathlib import Path
from statistics import median

from harness import GD, HERE, SETS, VW, VWLITE, generate, installed, made, options_of, run, say
from sql import drawn, measure, read

FILE = HERE / "tasks.json"


def clicks(megabytes: float, rounds: int, folder: Path) -> dict[str, object]:
    """Seconds of one pass over text from a file to a model."""
    text = generate("clicks", folder / "clicks.vw", "--megabytes", megabytes)
    options = [text, "--loss_function", "logistic", "-q", "af", "--quiet"]
    sides = {"vwlite": [VWLITE, "train", *options, *GD, "-m", folder / "m"]}
    if installed("vowpalwabbit"):
        sides["VW"] = [*VW, "-d", *options, "-f", folder / "vw"]
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, command in sides.items():
            times[name].append(run(*command).seconds)
    lines = text.read_bytes().count(b"\n")
    say(f"clicks: {times}")
    return {"examples": lines, **{name: median(some) for name, some in times.items()}}


def digests(folder: Path, data: Path, label: str) -> dict[str, object]:
    """Of the model of one table, for numbers of threads."""
    found = []
    for threads in (1, 2, 4):
        run(VWLITE, "train", data, "--label", label, "--threads", threads, "-m", folder / "m", "--quiet")
        found.append(hashlib.sha256((folder / "m").read_bytes()).hexdigest())
    return {"threads": 4, "same": len(set(found)) == 1}


def main() -> None:
    parser = options_of(__doc__, quick="tiny data: does it work? Its numbers say nothing, and are printed only")
    parser.add_argument("--data", type=Path, default=SETS, help="where the folder `tables` is")
    o = parser.parse_args()
    rounds = 1 if o.quick else 5
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = drawn() if o.quick else tuple(read(o.data / f"tables/telco.{part}.csv.gz") for part in ("train", "test"))
        found = measure("telco", *rows, 1000 if o.quick else 100_000, rounds, folder)
        by_way = {way: (seconds, predict) for _, way, seconds, predict, _ in found}
        select, predict = (float(x.removesuffix(" s")) for x in by_way["DuckDB, duckdb"])
        facts = {
            "clicks": clicks(1 if o.quick else 250, rounds, folder),
            "select": {"rows": 1000 if o.quick else 100_000, "DuckDB": select, "vwlite predict": predict},
            "bytes": digests(folder, folder / "train.csv", "target"),
            "made": made("vwlite", "vowpalwabbit", "duckdb"),
        }
    text = json.dumps(facts, indent=1) + "\n"
    print(text, end="")
    if not o.quick:
        FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
