"""How many rounds over shards does the optimum take, and how many bytes?

    make bench-rounds        writes the tables of ROUNDS.md

The lines of a set are dealt to eight shards. A round is one gradient of each shard, those of refused steps too; counted
are those until the objective is within a part of the optimum, which `vwlite solve` finds to a gap of 1e-8. Bytes are
those of the sums that shards send: 8 for each feature of a shard, 16 with a constant, and 4 more in the first round.
With --l2 alone, the first round has the sample too: 28 for each row, 8 for each entry, 8 for each feature of a shard.
A merge is that of models that adagrad-rda learned of each shard with the same l1.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from harness import VWLITE, made, options_of, read_lines, run, say, show, table

from vwlite.solving.rounds.sample import MOST_ENTRIES, MOST_ROWS

SHARDS = 8
TARGETS = (1e-2, 1e-3, 1e-4, 1e-6)
RUNS = (  # set, strength, other options, whether it begins from a merge
    ("rcv1", ("--l1", "1e-4"), ("--no-constant",), False),
    ("rcv1", ("--l1", "1e-4"), (), False),
    ("rcv1", ("--l1", "1e-4"), (), True),
    ("rcv1", ("--l1", "1e-5"), (), False),
    ("rcv1", ("--l1", "1e-5"), (), True),
    ("rcv1", ("--l2", "1e-3"), (), False),
    ("rcv1", ("--l2", "1e-5"), (), False),
    ("rcv1", ("--radius", "1000"), ("--no-constant",), False),
    ("rcv1", ("--radius", "1000"), (), False),
    ("a9a", ("--l1", "1e-4"), (), False),
    ("a9a", ("--l2", "1e-3"), (), False),
    ("a9a", ("--l2", "1e-5"), (), False),
)
TITLES = ["set", "problem", "begins from", *(f"rounds to {x:g}" for x in TARGETS), "refused", "nonzeros", "MB to 1e-3"]


def solved(folder: Path, *arguments: object) -> Any:
    run(VWLITE, "solve", *arguments, "--loss", "logistic", "--quiet", "--report", folder / "report")
    return json.loads((folder / "report").read_text())


def shards_of(path: Path, folder: Path) -> list[Path]:
    lines = read_lines(path)
    shards = [folder / f"shard{i}" for i in range(SHARDS)]
    for i, shard in enumerate(shards):
        shard.write_text("".join(lines[i::SHARDS]), encoding="utf-8", errors="surrogateescape")
    return shards


def merged(shards: list[Path], folder: Path, l1: str, more: tuple[str, ...]) -> Path:
    """A model to begin from."""
    models = [folder / f"{shard.name}.model" for shard in shards]
    for shard, model in zip(shards, models, strict=True):
        options = ["--algorithm", "adagrad-rda", "--loss", "logistic", "--l1", l1, *more]
        run(VWLITE, "train", shard, *options, "-m", model, "--quiet")
    run(VWLITE, "merge", *models, "--rule", "path", "-o", folder / "merged", "--quiet")
    return folder / "merged"


def features_of(shards: list[Path]) -> int:
    """How many features each shard has, added up: the text is libsvm."""
    return sum(
        len({pair.split(b":")[0] for line in shard.read_bytes().splitlines() for pair in line.split()[1:]})
        for shard in shards
    )


def bytes_of_sample(shards: list[Path], features: int) -> float:
    """About: shares of a shard that it sends are those of all."""
    lines = [line.split() for shard in shards for line in shard.read_bytes().splitlines()]
    rows, entries = len(lines), sum(len(line) - 1 for line in lines)
    return min(1, MOST_ROWS / rows, MOST_ENTRIES / entries) * (28 * rows + 8 * entries) + 8 * features


def cells_of(report: Any, optimum: float) -> tuple[list[str], int | None]:
    """How many rounds each target took, how many were refused, how many weights there are; and the rounds to 1e-3."""
    found = []
    for target in TARGETS:
        rounds = (r["round"] for r in report["rounds"] if r["objective"] <= optimum * (1 + target))
        found.append(next(rounds, None))
    refused = sum(not r["taken"] for r in report["rounds"])
    nonzeros = report["results"]["nonzero_weights"]
    return [*(str(x or "-") for x in found), str(refused), f"{nonzeros:,}"], found[1]


def main() -> None:
    parser = options_of(__doc__, data=True, results="the file whose tables are written")
    parser.add_argument("--sets", nargs="*", default=["rcv1", "a9a"])
    parser.add_argument("--strengths", nargs="*", default=sorted({strength for _, (_, strength), _, _ in RUNS}))
    parser.add_argument("--rounds", type=int, default=150, help="the most that are tried")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for of_set in options.sets:
            shards = shards_of(options.data / f"{of_set}.train.libsvm.gz", folder)
            features = features_of(shards)
            chosen = (case for case in RUNS if case[0] == of_set and case[1][1] in options.strengths)
            for _, strength, more, warm in chosen:
                say(f"{of_set} {' '.join((*strength, *more))}{' from a merge' * warm}")
                results = solved(folder, *shards, *strength, *more, "--tolerance", 1e-8, "--max-seconds", 60)["results"]
                begin = ("-i", merged(shards, folder, strength[1], more)) if warm else ()
                report = solved(
                    folder, *shards, "--shards", 2, *strength, *more, *begin, "--tolerance", 0, "--max-passes",
                    options.rounds,
                )
                cells, rounds = cells_of(report, results["objective"])
                each = 8 if "--no-constant" in more else 16
                first = 4 * features + (bytes_of_sample(shards, features) if strength[0] == "--l2" else 0)
                sent = f"{(first + rounds * each * features) / 1e6:.1f}" if rounds else "-"
                problem = f"`{' '.join((*strength, *more))}`"
                rows.append([of_set, problem, "a merge" if warm else "zero", *cells, sent])
    note = made("vwlite", note=f"; {SHARDS} shards, logistic loss.")
    show(f"{note}\n\n{table(TITLES, rows, 'lllr')}", options.results, "rounds")


if __name__ == "__main__":
    main()
