"""How far an online model of rcv1 is from the optimum, by `vwlite solve` and `vwlite certify`: the table in the README.

    make bench-solve SETS=FOLDER     this too; FOLDER holds the public data sets
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from report import put_into

README = Path(__file__).resolve().parents[2] / "README.md"
FRACTION = 0.01
PASSES = (1, 5, 20)
ALGORITHM = "adagrad-rda"
VWLITE = str(Path(sys.executable).with_name("vwlite"))


def results(folder: Path, *command: object) -> dict[str, Any]:
    """The results in the report of a command of vwlite."""
    report = folder / "report"
    words = [VWLITE, *map(str, command), "--report", str(report), "--quiet"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    found: dict[str, Any] = json.loads(report.read_text())["results"]
    return found


def measure(data: Path) -> list[dict[str, Any]]:
    """A row for each model: command, objective, lower bound, nonzero weights."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        exact, online = folder / "exact.model", folder / "online.model"
        solved = results(folder, "solve", data, "--l1-of-max", FRACTION, "-m", exact)
        l1 = f"{solved['l1']:.4g}"
        rows = [row_of(f"solve --l1-of-max {FRACTION}", solved)]
        for passes in PASSES:
            options = ["--algorithm", ALGORITHM, "--l1", l1, "--passes", passes]
            results(folder, "train", data, "--loss", "logistic", "--holdout-off", *options, "-m", online)
            found = results(folder, "certify", "-m", online, data, "--against", exact)
            rows.append(row_of(" ".join(map(str, ["train", *options])), found))
    return rows


def row_of(command: str, found: dict[str, Any]) -> dict[str, Any]:
    kept = ("objective", "lower bound", "nonzero weights")
    return {"command": command, **{name: found[name] for name in kept}}


def document(rows: list[dict[str, Any]]) -> str:
    """The table."""
    lines = ["| `vwlite` | objective | gap | nonzero weights |", "| --- | ---: | ---: | ---: |"]
    for r in rows:
        gap = 100 * (1 - r["lower bound"] / r["objective"])
        lines.append(f"| `{r['command']}` | {r['objective']:.6f} | {gap:.2g} % | {r['nonzero weights']:,} |")
    return "\n".join(lines)


def main() -> int:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of the data sets")
    rows = measure(parser.parse_args().data / "rcv1.train.libsvm.gz")
    put_into(README, "rcv1", document(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
