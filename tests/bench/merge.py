"""How good is a merge, and how long does it take?

    python tests/bench/merge.py --data ../shared/data [--rounds 5] [--sets rcv1 a9a] [--shards 4 16]

Quality: the lines of a set are shuffled; 2,000 of them, or a tenth where that is fewer, are the holdout, the rest is
dealt to the shards in turn. `one` is one machine that goes once through the lines of all shards,
with the rate that has the least progressive loss; the shards have that rate. All losses are those on the test part: of
the merge over that of one, and over that of the best shard, which is chosen on the test part. With more rounds, one is
the best of as many passes.

Time: models of a million features each, drawn from four million, of adagrad; with a holdout all ways and steps are
judged. Wall clock, the least of three.
"""

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from vwlite import __version__
from vwlite.model import Model, write_model
from vwlite.options.settings import Settings
from vwlite.output.atomic import AtomicFile

SETS = {
    "rcv1": ("rcv1.train.libsvm.gz", "rcv1.test.libsvm.gz"),
    "a9a": ("a9a.train.libsvm.gz", "a9a.test.libsvm.gz"),
    "sms_spam": ("sms_spam.vw.gz", None),  # a fifth of it is the test part
    "mnist": ("mnist.train.libsvm.gz", "mnist.test.libsvm.gz"),  # 8 against the rest
}
RATES = {
    "adagrad": [("-l", x) for x in ("0.1", "0.25", "0.5", "1")],
    "ftrl": [("--ftrl-alpha", x) for x in ("0.05", "0.1", "0.5", "1")],
    "gd": [("-l", x) for x in ("0.1", "0.25", "0.5", "1")],
}
MOST = 2000  # lines of a holdout


def vwlite(*arguments: object) -> None:
    subprocess.run([sys.executable, "-P", "-m", "vwlite", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def results(path: Path) -> Any:
    return json.loads(path.read_text())["results"]


def lines_of(path: Path, name: str) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8", errors="surrogateescape") as file:
        lines = file.readlines()
    if name == "mnist":
        lines = [("1" if line.split(" ", 1)[0] == "8" else "-1") + " " + line.split(" ", 1)[1] for line in lines]
    return lines


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
    return path


def parts(data: Path, name: str, seed: int, limit: int | None) -> tuple[list[str], list[str], list[str]]:
    """Lines to learn, held out, and to test on."""
    train, test = SETS[name]
    chance = random.Random(seed)
    lines = lines_of(data / train, name)
    chance.shuffle(lines)
    lines = lines[:limit]
    tested = lines_of(data / test, name)[:limit] if test else lines[: len(lines) // 5]
    lines = lines if test else lines[len(lines) // 5 :]
    held = max(min(len(lines) // 10, MOST), len(lines) // 50)
    return lines[held:], lines[:held], tested


def test_loss(folder: Path, model: Path) -> float:
    vwlite("predict", "-m", model, folder / "test", "-p", os.devnull, "--quiet", "--report", folder / "p.json")
    return float(results(folder / "p.json")["average loss"])


def best_rate(folder: Path, algorithm: str) -> tuple[str, str]:
    losses = {}
    for rate in RATES[algorithm]:
        vwlite("train", folder / "all", "--loss", "logistic", "--algorithm", algorithm, *rate, "--quiet", "--report",
               folder / "t.json")  # fmt: skip
        losses[rate] = results(folder / "t.json")["average loss"]
    return min(losses, key=losses.__getitem__)


def quality(folder: Path, algorithm: str, lines: list[str], shards: int, rounds: int, rate: tuple[str, str]) -> Any:
    """The test loss of the merge and of the best shard, by round; the rule and step of each."""
    options = ["--loss", "logistic", "--algorithm", algorithm, *rate, "--quiet"]
    data = [write(folder / f"part{k}", lines[k::shards]) for k in range(shards)]
    found, begin = [], list[Any]()
    for number in range(rounds):
        models = [folder / f"shard{k}" for k in range(shards)]
        for part, model in zip(data, models, strict=True):
            vwlite("train", part, *(["-i", begin[1], "--quiet"] if begin else options), "-m", model)
        merged, state = folder / f"merged{number}", "sum" if number == rounds - 1 else "mean"
        vwlite("merge", *models, *begin, "-o", merged, "--holdout", folder / "held", "--state", state, "--report",
               folder / "m.json", "--quiet")  # fmt: skip
        chosen = results(folder / "m.json")
        vwlite("merge", *models, *begin, "-o", folder / "x", "--holdout", folder / "test", "--rule", "mean", "--report",
               folder / "x.json", "--quiet")  # fmt: skip
        found.append((test_loss(folder, merged), results(folder / "x.json")["of the best shard"], chosen))
        begin = ["--start", merged]
    return found


def one_machine(folder: Path, algorithm: str, rounds: int, rate: tuple[str, str]) -> float:
    best, begin = float("inf"), ["--loss", "logistic", "--algorithm", algorithm, *rate]
    for _ in range(rounds):
        vwlite("train", folder / "all", *begin, "-m", folder / "one", "--quiet")
        best, begin = min(best, test_loss(folder, folder / "one")), ["-i", str(folder / "one")]
    return best


def qualities(data: Path, sets: list[str], counts: list[int], rounds: int, limit: int | None) -> None:
    print(f"| set | algorithm | shards | one | merge | over one | over the best shard | {'chosen in each round'} |")
    print("| --- " * 8 + "|")
    ratios: list[tuple[float, float]] = []
    for name in sets:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            lines, held, test = parts(data, name, 1, limit)
            for part, content in {"all": lines, "held": held, "test": test}.items():
                write(folder / part, content)
            for algorithm in RATES:
                rate = best_rate(folder, algorithm)
                one = one_machine(folder, algorithm, rounds, rate)
                for shards in counts:
                    found = quality(folder, algorithm, lines, shards, rounds, rate)
                    merged, best, _ = found[-1]
                    ratios.append((merged / one, merged / best))
                    how = ", ".join(f"{c['rule']} {c.get('step', '')}".strip() for _, _, c in found)
                    print(f"| {name} | {algorithm} {' '.join(rate)} | {shards} | {one:.4f} | {merged:.4f} | "
                          f"{merged / one:.3f} | {merged / best:.3f} | {how} |", flush=True)  # fmt: skip
    over_one, over_best = zip(*ratios, strict=True)
    print(f"\nover one: median {np.median(over_one):.3f}, largest {max(over_one):.3f}; "
          f"over the best shard: largest {max(over_best):.3f}; {rounds} round(s)")  # fmt: skip


def a_model(seed: int, features: int) -> Model:
    """Of adagrad, of features drawn from four times as many."""
    chance = np.random.default_rng(seed)
    keys = np.sort(chance.choice(4 * features, features, replace=False).astype(np.uint32)) * np.uint32(1000)
    w, S = chance.normal(size=features), chance.exponential(size=features)
    settings = Settings(algorithm="adagrad", loss="logistic", power_t=0.0)
    z = w * (settings.delta + np.sqrt(S))
    return Model(
        algorithm="adagrad", loss="logistic", options=settings.stored(), range=None,
        counters={"examples": 1000 + seed, "unlabelled": 0, "features": 10 * features},
        rule={"t": 1000.0 + seed, "shift": 0.0}, keys=memoryview(keys), weights=memoryview(w),
        state={"S": memoryview(S), "z": memoryview(z)}, program=f"vwlite {__version__}",
    )  # fmt: skip


def times(features: int, shards: int) -> None:
    print(f"\n| {shards} models of {features:,} features | seconds |\n| --- | --- |")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for k in range(shards):
            with AtomicFile(folder / f"s{k}") as file:
                write_model(file, a_model(k, features))
                file.commit()
        chance = random.Random(1)
        held = [
            f"{chance.choice([-1, 1])} | {' '.join(f'{chance.randrange(4 * features) * 1000}' for _ in range(50))}\n"
            for _ in range(MOST)
        ]
        write(folder / "held", held)
        for name, options in {"without a holdout": [], "with a holdout": ["--holdout", str(folder / "held")]}.items():
            found = []
            for _ in range(3):
                begin = time.perf_counter()
                vwlite("merge", *(folder / f"s{k}" for k in range(shards)), "-o", folder / "m", "--quiet", *options)
                found.append(time.perf_counter() - begin)
            print(f"| {name} | {min(found):.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", nargs="*", default=["rcv1", "sms_spam", "a9a"], choices=list(SETS))
    parser.add_argument("--shards", nargs="*", type=int, default=[4, 16])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--lines", type=int, default=None, help="of each set at most")
    parser.add_argument("--features", type=int, default=1_000_000, help="of each model whose merge is timed; 0: none")
    o = parser.parse_args()
    if o.sets:
        qualities(o.data, o.sets, o.shards, o.rounds, o.lines)
    if o.features:
        times(o.features, 16)


if __name__ == "__main__":
    main()
