"""The digests of one list of models, merges, solutions, fits and predictions: two builds or machines must agree on all.

    python tests/digests.py [WORD ...]      prints DIGEST NAME, of those whose names contain a WORD
    python tests/digests.py --few           without those that take longest
    python tests/digests.py --all           also of what other commands print, of exports, and of `auto` of all kinds

It needs nothing but vwlite (without scikit-learn it has no fits), so that it runs wherever the package does.
`make portable` compares the portable build with the usual one, and tests/cli/test_digests.py the installed program with
itself on other processors, as far as one can pretend to have them.
"""

import hashlib
import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "support"))
from algorithm_options import NEEDED, usual_loss, words

from vwlite.algorithms.table import ALGORITHMS

BALL = "--radius 40 --features 1000"
LEARNED = {
    "auto": ["--loss logistic", "--loss squared", "--loss poisson", "--loss logistic --normalize l2",
             "--loss quantile --quantile-tau 0.8", "--loss huber --huber-delta 0.3"],
    "gd": ["--loss logistic", "--loss logistic --normalize log",
           "--loss squared --l1 1e-4 --l2 1e-3", "--loss logistic --power-t 0.3",
           "--loss hinge --power-t 0.8", "--loss poisson", "--loss quantile"],
    "sgd": ["--loss logistic", "--loss squared --power-t 0.4 -l 0.05", "--loss huber -l 0.05",
            "--loss logistic --average"],
    "truncated-gradient": ["--loss logistic --l1 0.01", "--loss logistic --nonzeros 9",
                           "--loss logistic --l1 0.001 --l2 0.01", "--loss logistic --l1 0.01 --gravity constant"],
    "rounding": ["--loss logistic --threshold 0.05 --period 5"],
    "l1-subgradient": ["--loss logistic --l1 0.01", "--loss logistic --l1 0.01 --gravity constant"],
    "l1-ball": ["--loss logistic --radius 3", "--loss logistic --nonzeros 9", "--loss logistic --radius 3 --box 0.3",
                "--loss logistic --radius 3 --feature-weights weights"],
    "simplex": [f"--loss logistic {BALL}"],
    "eg": [f"--loss logistic {BALL}"],
    "eg-pm": [f"--loss logistic {BALL}", f"--loss squared {BALL} -l 0.02"],
    "adagrad": ["--loss logistic --l1 0.001", "--loss logistic --l1 0.001 --l2 0.01", "--loss poisson -l 0.05",
                "--loss logistic --l1 0.001 --box 0.2"],
    "adagrad-rda": ["--loss logistic --l1 0.001", "--loss logistic --l2 0.01 --power-t 0.3",
                    "--loss logistic --l1 0.001 --box 0.2"],
    "adagrad-ball": ["--loss logistic --radius 3"],
    "adagrad-full": ["--loss logistic", "--loss logistic --l1 0.001 --delta 0.1",
                     "--loss squared -l 0.1 --update rda --root-every 7 --delta 1",
                     "--loss logistic --radius 0.3 --delta 0.1", "--loss logistic --l1 0.01 --radius 0.3 --delta 0.1",
                     "--loss logistic --update rda --radius 0.3 --delta 0.1"],
    "pa": ["--loss hinge"], "pa-i": ["--loss hinge"], "pa-ii": ["--loss hinge"],
    "arow": ["--loss hinge"],
    "ftrl": ["--loss logistic --l1 0.2 --l2 0.1", "--loss squared"],
    "smidas": ["--loss logistic --l1 0.01", "--loss squared --l1 0.01 -l 0.01",
               "--loss logistic --l1 0.01 --smidas-p 4", "--loss logistic --l1 0.01 --average"],
    "rda": ["--loss logistic", "--loss logistic --l1 0.001", "--loss logistic --nonzeros 9"],
}
LINES = 1500  # the last bit of an exponential differs once in a thousand times
CLASSES = ["gd --loss logistic", "l1-ball --softmax --radius 30", "adagrad --softmax", "sgd --loss logistic"]
MERGED = ["gd --loss logistic", "sgd --loss logistic", "l1-ball --loss logistic --radius 3",
          "eg --loss logistic " + BALL, "eg-pm --loss logistic " + BALL, "simplex --loss logistic " + BALL,
          "adagrad --loss logistic --l1 0.001", "adagrad-rda --loss logistic --l1 0.001",
          "adagrad-ball --loss logistic --radius 3", "arow --loss hinge", "ftrl --loss logistic --l1 0.2",
          "truncated-gradient --loss logistic --l1 0.01", "rda --loss logistic --l1 0.001",
          "truncated-gradient --loss logistic --l1 0.01 --gravity constant", "adagrad --loss logistic --box 0.2",
          "l1-ball --loss logistic --radius 3 --feature-weights weights"]
SOLVED = ["--loss logistic --l1 0.02", "--loss logistic --radius 5", "--loss squared --l2 0.1 --l1 0.01",
          "--loss squared-hinge --l2 0.1", "--loss hinge --l2 0.1", "--loss logistic --l1 0.02 --solver cd",
          "--loss logistic --radius 5 --solver accelerated", "--loss hinge --l2 0.1 --solver sdca",
          "--loss logistic --radius 5 --solver eg-pm", "--loss logistic --l1 0.02 --solver scd",
          "--loss poisson --l2 0.1", "--loss logistic --l1 0.02 --box 0.3",
          "--loss logistic --radius 5 --solver frank-wolfe",
          *(f"--loss logistic --l1 0.02 --box 0.3 --solver {solver}" for solver in ("cd", "scd", "detcd"))]


def text(kind: str, seed: int, lines: int) -> str:
    """Lines of words and of numbers of many sizes. kind: binary, counts or classes."""
    chance = random.Random(seed)
    truth = random.Random(9)
    weights = [4 * truth.random() - 2 for _ in range(40)]
    out = []
    for _ in range(lines):
        words = [min(39, int(40 * chance.random() ** 2)) for _ in range(6)]
        numbers = [round(10 ** (2 * chance.random() - 1), 3) for _ in range(3)]
        score = sum(weights[w] for w in words) / 2 + chance.random() - 0.5
        label = {"binary": "1" if score > 0 else "-1", "counts": str(int(max(0.0, score))),
                 "classes": str(1 + (score > -0.7) + (score > 0.7))}[kind]
        features = " ".join(f"w{w}" for w in words)
        out.append(f"{label} |a {features} |n " + " ".join(f"x{i}:{x}" for i, x in enumerate(numbers)) + "\n")
    return "".join(out)


def cases() -> Iterator[tuple[str, list[str]]]:
    """Names, and commands that make the files that begin with "out"."""
    others = {a: [" ".join(["--loss", usual_loss(a), *words(NEEDED[a])])] for a in ALGORITHMS if a not in LEARNED}
    for algorithm, each in (LEARNED | others).items():
        for options in each:
            data, link = ("counts", "poisson") if "poisson" in options else ("binary", "logistic")
            shown = f" --link {link}" if link in options else ""
            yield (
                f"train {algorithm} {options}",
                [
                    f"train {data} --algorithm {algorithm} {options} -m out.m -p out.p --passes 2 --cache-file cache",
                    f"predict -m out.m {data}.test -p out.t -r out.r{shown}",
                ],
            )
    yield "train auto, in one pass", [
        "train binary --algorithm auto --loss logistic -m out.m -p out.p --passes 1",
        "predict -m out.m binary.test -p out.t",
    ]
    for options in CLASSES:
        yield (
            f"train --oaa 3 {options}",
            [
                f"train classes --oaa 3 --algorithm {options} -m out.m -p out.p",
                "predict -m out.m classes.test -p out.t --probabilities",
            ],
        )
    for options in MERGED:
        shards = [f"train binary.{i} --algorithm {options} -m m{i}" for i in "123"]
        yield f"merge {options}", [*shards, "merge m1 m2 m3 -o out.m", "merge m1 m2 m3 --holdout binary.test -o out.h",
                                   "train binary.test -i out.h -m out.on"]
    for options in SOLVED:
        data = "counts" if "poisson" in options else "binary"
        yield f"solve {options}", [f"solve {data} {options} -m out.m", f"predict -m out.m {data}.test -p out.t"]
    yield "solve --l1-path", ["solve binary --loss logistic --l1-path 5 -m out.%d"]
    yield "solve --softmax", ["solve classes --oaa 3 --softmax --radius 5 -m out.m",
                              "predict -m out.m classes.test -p out.t --probabilities"]


def printed() -> Iterator[tuple[str, list[str]]]:
    """The same, of what commands print; and of `auto` and tables in all their kinds."""
    table = "--label y --categorical k"
    kinds = {
        "table": f"t.csv {table}", "json lines": "t.jsonl --label y", "text": "t.csv --label y --text w -q kw",
        "squared": "binary --loss squared", "sparse": "binary --sparse", "validate": "binary --validate binary.test",
        "classes": "classes --oaa 3", "named classes": "t.csv --label k --oaa 3 --classes auto",
        "class weights": "binary --class-weight balanced", "names": f"t.csv {table} --names",
        "center": "binary --algorithm gd --loss logistic --normalize center",
    }
    for name, options in kinds.items():
        data = options.split()[0]
        learn = f"train {options} -m out.m" + (" -p out.p" if name not in ("sparse", "validate") else "")
        shown = [f"{command} -m out.m {data} --json" for command in ("evaluate", "worst", "explain")]
        shown += [f"drift -m out.m {data} {data} --json", "info out.m --json", "weights out.m --json"]
        shown += [f"predict -m out.m {data} -p out.t", f"report -m out.m {data} -o out.html"]
        yield f"auto {name}", [learn, *shown]
    for target in ("tsv", "json", "sql", "c", "python", "vw"):
        yield f"export {target}", ["train binary --algorithm gd --loss logistic -m m",
                                   f"export m --to {target} -o out.{target}"]
    yield "import", ["train binary --algorithm gd --loss logistic -m m", "export m --to tsv -o out.tsv",
                     "import out.tsv --loss logistic -m out.m", "predict -m out.m binary -p out.p"]
    yield "tune", ["tune binary --json --try l1=1e-6..1e-2:log --jobs 1 -m out.m"]
    yield "describe", ["describe t.csv --label y --json", "describe binary --json", "convert t.csv --label y"]
    yield "calibrate", ["train binary --algorithm gd --loss logistic -m m", "calibrate -m m binary.test -o out.m",
                        "calibrate -m m binary.test -o out.i --method isotonic"]
    yield "certify", ["solve binary --loss logistic --l1 0.02 -m m", "certify -m m binary"]
    yield "diff", ["train binary.1 --algorithm gd -m m1", "train binary.2 --algorithm gd -m m2",
                   "diff m1 m2 binary --json"]
    yield "continue", ["train binary.1 --algorithm gd --loss logistic --continue out.m",
                       "train binary.2 --continue out.m"]
    yield "vw", ["vw -d binary --loss_function logistic -f out.m -p out.p --readable_model out.r",
                 "vw -d binary.test -t -i out.m -p out.t"]


def table() -> list[dict[str, object]]:
    """Rows of a table: y depends on the others."""
    chance, rows = random.Random(4), []
    for _ in range(400):
        k, w, x = chance.choice(["red", "blue", "green"]), chance.choice(["up", "down"]), round(chance.random(), 3)
        y = int(x + (k == "red") + (w == "up") + chance.random() > 1.5)
        rows.append({"y": y, "k": k, "x": x, "w": f"{w} and {k}"})
    return rows


def fits(folder: Path) -> Iterator[tuple[str, bytes]]:
    """What estimators learn and predict, of rows that need no files."""
    try:
        import numpy as np

        from vwlite import SparseClassifier, SparseRegressor
    except ImportError:
        return
    chance = random.Random(5)
    X = np.array([[chance.random() * (chance.random() < 0.4) for _ in range(20)] for _ in range(200)])
    y = (X[:, 0] + X[:, 3] > X[:, 1] + X[:, 2]).astype(int)
    for algorithm in ("auto", "gd", "adagrad", "sgd", "smidas"):
        model = SparseClassifier(algorithm=algorithm, passes=2).fit(X, y)
        weights = dict(model.weights_)
        coef = np.array([[weights.get(j, 0.0) for j in range(X.shape[1])]])
        for what in (model.predict_proba(X), model.predict_log_proba(X), coef):
            yield f"fit {algorithm}", np.ascontiguousarray(what).tobytes()
    numbers = SparseRegressor(algorithm="gd", loss="squared").fit(X, X[:, 0] * 3)
    yield "fit regressor", np.ascontiguousarray(numbers.coef_).tobytes()


@contextmanager
def silent(output: str = os.devnull) -> Iterator[None]:
    """Without what the program prints. output: where results go."""
    sys.stdout.flush()
    kept = [(fd, os.dup(fd)) for fd in (1, 2)]
    with open(os.devnull, "w") as nothing, open(output, "a") as results:
        os.dup2(results.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for fd, copy in kept:
            os.dup2(copy, fd)
            os.close(copy)


def is_slow(case: str) -> bool:
    """Of those with a full matrix some others are quick."""
    return "--solver eg-pm" in case or "adagrad-full --loss logistic" in case or ("-full" in case and "radius" in case)


def main(words: list[str]) -> None:
    from vwlite.cli import run

    everything = words == ["--all"]
    few = words == ["--few"]
    words = [] if everything or few else words
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # the day of pages
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        for kind in ("binary", "counts", "classes"):
            Path(kind).write_text(text(kind, 1, LINES))
            Path(f"{kind}.test").write_text(text(kind, 2, 60))
        for i in (1, 2, 3):
            Path(f"binary.{i}").write_text(text("binary", 10 + i, 80))
        Path("weights").write_text("a^w0 0\na^w1 0.5\nn^x0 3\n")
        rows = table()
        Path("t.csv").write_text("y,k,x,w\n" + "".join(",".join(map(str, row.values())) + "\n" for row in rows))
        Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        for case, commands in chain(cases(), printed() if everything else ()):
            if not all(word in case for word in words) or (few and is_slow(case)):
                continue
            for command in commands:
                with silent("out.printed" if everything else os.devnull):
                    code = run(command.split())
                if code != 0:
                    print(f"exit code {code}: {command}", file=sys.stderr)
            digest = hashlib.sha256()
            for path in sorted(folder.glob("out.*")):
                digest.update(path.read_bytes())
                path.unlink()
            Path("cache").unlink(missing_ok=True)
            print(digest.hexdigest()[:16], case, flush=True)
        if not words or "fit" in words:
            for case, content in fits(folder):
                print(hashlib.sha256(content).hexdigest()[:16], case, flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main(sys.argv[1:])
