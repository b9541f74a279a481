"""Models of tables that a release wrote, and what its program predicted: fixtures of test_commands.py.

    python tests/golden/commands/make.py PROGRAM tests/golden/commands/RELEASE

PROGRAM is `vwlite` of that release. 0.2.0 is that release; before-0.3.0 the last program that had the rules of reading
of 0.2.0, with what was new since: derived features, several quantiles, `train --continue`. These folders are not made
again, as the programs that read tables so are no more.
"""

import json
import random
import subprocess
import sys
from pathlib import Path

COLUMNS = ["y", "amount", "code", "town", "said", "seen"]
WORDS = ["good", "slow", "fast", "broken", "late", "friendly", "new", "cheap", "quiet", "bright"]
ROLES = ["--label", "y", "--categorical", "code", "--time", "seen"]
TEXT, NO_TEXT = ["--text", "said"], ["--drop", "said"]  # exports by columns are of models without texts
GD = ["--algorithm", "gd"]
LABELS = {
    "ja": lambda score: "Ja" if score > 0 else "Nein",
    "fraud": lambda score: "fraud" if score > 0.8 else "ok",
    "price": lambda score: f"{20 + 5 * score:.2f}",
    "classes": lambda score: "low" if score < -0.5 else "middle" if score < 0.7 else "high",
}
# Name: data, options of training.
CASES = {
    "default": ("ja", []),
    "fraud": ("fraud", []),
    "gd": ("ja", [*GD, "--loss", "logistic", "--labels", "Nein,Ja"]),
    "price": ("price", []),
    "quantile": ("price", [*GD, "--loss", "quantile", "--quantile-tau", "0.8"]),
    "classes": ("classes", ["--oaa", "3", "--classes", "low,middle,high"]),
    "cron": ("ja", ["--names"]),  # by three runs, one for each day
}
# Those of the later program: the defaults derive features there.
LATER = {
    **{name: (CASES[name][0], CASES[name][1] + NO_TEXT) for name in ("default", "price", "classes")},
    "cron": CASES["cron"],
    "quantiles": ("price", ["--loss", "quantile", "--quantile-tau", "0.1,0.9", "--derive", "none"]),
    "gamma": ("price", [*GD, "--loss", "gamma", *NO_TEXT]),
}


def table(label: str, count: int, seed: int) -> str:
    """Rows of COLUMNS. A tenth of the amounts and towns is missing; codes are whole numbers, some with `.0`."""
    chance, rows = random.Random(seed), [COLUMNS]
    for _ in range(count):
        amount, town = f"{chance.lognormvariate(2, 1):.2f}", chance.choice(["Rome", "Oslo", "Wien"])
        code, said = chance.choice(["1", "2.0", "2", "3", "7.0"]), " ".join(chance.sample(WORDS, 3))
        seen = f"2026-0{chance.randint(1, 9)}-{chance.randint(10, 28)}T{chance.randint(10, 23)}:30"
        score = 3 * (8 < float(amount) < 30) + (town == "Oslo") - 1.2 * ("broken" in said) + (code == "2.0") - 1.4
        score += (code == "1") * (town == "Rome") + chance.gauss(0, 0.5)
        amount, town = ("" if chance.random() < 0.1 else amount), ("" if chance.random() < 0.1 else town)
        rows.append([LABELS[label](score), amount, code, town, said, seen])
    return "".join(",".join(row) + "\n" for row in rows)


def with_new_cells(text: str) -> str:
    """The same with words and codes that training had not."""
    head, *rows = text.splitlines()
    changes = [("Oslo", "Bonn"), (",2.0,", ",7,"), (",1,", ",1.0,"), ("broken", "lost"), (",3,", ",,")]
    return "\n".join([head, *(row.replace(*changes[i % 8]) if i % 8 < 5 else row for i, row in enumerate(rows))]) + "\n"


def main() -> None:
    program, folder = Path(sys.argv[1]).absolute(), Path(sys.argv[2])
    folder.mkdir()

    def vwlite(*arguments: str) -> str:
        command = [str(program), *arguments, "--quiet"]
        return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout

    def numbers(name: str) -> list[list[str]]:
        return [line.split() for line in (folder / name).read_text().splitlines()]

    for name in LABELS:
        (folder.parent / f"{name}.test.csv").write_text(with_new_cells(table(name, 40, 2)))
        (folder.parent / f"{name}.more.csv").write_text(table(name, 60, 3))
    has_continue = "--continue" in subprocess.run([program, "train", "--help"], capture_output=True, text=True).stdout
    found = {}
    for name, (data, options) in (LATER if has_continue else CASES).items():
        model, test = f"{name}.model", f"../{data}.test.csv"
        days = [table(data, 150, seed) for seed in ((10, 11, 12) if name == "cron" else (1,))]
        for i, day in enumerate(days):
            (folder / "day.csv").write_text(day)
            continued = ["-i", model, "-m", model] if i else ["-m", model, *ROLES, *options]
            if name == "cron" and has_continue:
                continued = ["--continue", model, *ROLES, *options]
            vwlite("train", "day.csv", *continued, *([] if "--drop" in options or "-i" in continued else TEXT))
        vwlite("predict", test, "-m", model, "-p", "predictions", "-r", "raw", "--report", "report")
        found[name] = {"data": data, "options": options, "predictions": numbers("predictions"), "raw": numbers("raw")}
        found[name]["loss"] = json.loads((folder / "report").read_text())["results"]["average_loss"]
        if "--algorithm" in options:
            vwlite("train", f"../{data}.more.csv", "-i", model, "-m", "next")
            vwlite("predict", test, "-m", "next", "-r", "raw", "-p", "predictions")
            found[name]["continued"] = numbers("raw")
    for name in ("day.csv", "next", "predictions", "raw", "report"):
        (folder / name).unlink(missing_ok=True)
    rows = [f" {json.dumps(name)}: {json.dumps(case)}" for name, case in found.items()]
    (folder / "cases.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
