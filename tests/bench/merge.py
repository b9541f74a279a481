"""How good is a merge, and how long does it take?

    python tests/bench/merge.py --data FOLDER [--results MERGE.md] [--sets rcv1 a9a] [--lines N] [--only holdouts time]

Quality: the lines of a set are shuffled; 2,000 of them, or a tenth where that is fewer, are the holdout, the rest is
dealt to the shards in turn; skewed: in the order of label + noise, each shard a piece of it. `one` is one machine that
goes through the shuffled lines of all shards, with the rate that has the least progressive loss; the shards have that
rate. All losses are those on the test part: of the merge over that of one, and over that of the best shard of its
round, which is chosen on the test part. With more rounds, one is the best of as many passes.

Holdouts: one round again, with the first 200, 500 and 2,000 lines of the holdout, or as many as there are, for several
draws of the shuffle, shuffled and skewed. The prior of the stack was tuned on some draws, and not on others. The test
part of sms_spam and mnist is drawn from the same lines. The file of mnist for tests is of other writers: no holdout can
tell how they write, so its rows have no goals.

Time: models of a million features each, drawn from four million, of adagrad; with a holdout all ways and
steps are scored. Wall clock and time of processors, the least of three.

Default: tables whose first half is learned by the default, which four shards continue, each on a part of the other half
(`--past 1`); all rows are kept beside the models, or a part of the first half, or none. log is of the loss over that
of the default on all rows; of the start, the best shard, the merge by the rule information, which uses no
rows, and the merge without options.

Many: shards of clicks (data/generate.py), each a model of adagrad; a few of them are merged, then all at once. What
a key costs in the small run says what the large one should cost, and what 1,000 shards of 1 GB would.
"""

import os
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from harness import (
    VWLITE,
    generate,
    made,
    options_of,
    read_lines,
    report_of,
    run,
    say,
    show,
    table,
    verdict,
)

from vwlite import __version__
from vwlite.algorithms.settings import Settings
from vwlite.cli import run as run_here
from vwlite.model import Model, read_model, write_model
from vwlite.output.atomic import AtomicFile

SETS = {
    "rcv1": ("rcv1.train.libsvm.gz", "rcv1.test.libsvm.gz"),
    "a9a": ("a9a.train.libsvm.gz", "a9a.test.libsvm.gz"),
    "sms_spam": ("sms_spam.vw.gz", None),  # a fifth of it is the test part
    "mnist": ("mnist.train.libsvm.gz", None),  # 8 against the rest
    "mnist 3 %": ("mnist.train.libsvm.gz", None),  # a sample in which 3 % are 8
    "mnist, other writers": ("mnist.train.libsvm.gz", "mnist.test.libsvm.gz"),
    "mnist 3 %, other writers": ("mnist.train.libsvm.gz", "mnist.test.libsvm.gz"),
}
WITH_GOALS = [name for name in SETS if not name.endswith("other writers")]
RATES = {
    "adagrad": [("-l", x) for x in ("0.1", "0.25", "0.5", "1")],
    "ftrl": [("--ftrl-alpha", x) for x in ("0.05", "0.1", "0.5", "1")],
    "gd": [("-l", x) for x in ("0.1", "0.25", "0.5", "1")],
}
MOST = 2000  # lines of a holdout
HOLDOUTS = (200, 500, MOST)
DRAWS = 5  # of the shuffle
TUNED, OTHER = 1, 14  # the first draw of each kind: the prior of the stack was tuned on draws 1 to 13
LARGEST_OVER_ONE, LARGEST_OVER_BEST, MEDIAN_OVER_ONE = 1.30, 1.03, 1.06
OTHERS = ["holdouts", "default", "time", "many"]


@dataclass(frozen=True)
class Work:
    """A row of the table of goals: what is done, and how far above one machine and the best shard it may be."""

    title: str
    shards: tuple[int, ...]
    rounds: int
    skewed: bool
    over_one: float  # the median at most
    over_best: float | None  # the largest at most


WORKS = {
    "round": Work("One round", (4, 16), 1, False, MEDIAN_OVER_ONE, LARGEST_OVER_BEST),
    "rounds": Work("Five rounds", (16,), 5, False, 1.05, None),
    "skewed": Work("Five rounds, skewed shards", (16,), 5, True, 1.08, None),
}


def vwlite(*arguments: object) -> None:
    """Run a command, in this process: there are thousands."""
    words = [str(a) for a in arguments]
    if run_here(words):
        sys.exit(f"merge.py: vwlite {' '.join(words)} failed")


def of_eights(line: str) -> str:
    """A line of mnist: 8 against the rest, and values from 0 to 1."""
    label, *pairs = line.split()
    found = (f"{index}:{float(value) / 255:.4g}" for index, _, value in (pair.partition(":") for pair in pairs))
    return f"{1 if float(label) == 8 else -1} {' '.join(found)}\n"


def of_few_positives(lines: list[str], chance: random.Random, share: float = 0.03) -> list[str]:
    """All negative lines, and so many of the positive ones, as they come."""
    positive = [i for i, line in enumerate(lines) if line.startswith("1 ")]
    wanted = round(share / (1 - share) * (len(lines) - len(positive)))
    dropped = set(positive) - set(chance.sample(positive, min(wanted, len(positive))))
    return [line for i, line in enumerate(lines) if i not in dropped]


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
    return path


def parts(data: Path, name: str, seed: int, limit: int | None) -> tuple[list[str], list[str], list[str]]:
    """Lines to learn, held out, and to test on."""
    train, test = SETS[name]
    chance = random.Random(seed)
    lines = read_lines(data / train)
    chance.shuffle(lines)
    lines = lines[:limit]
    tested = read_lines(data / test)[:limit] if test else lines[: len(lines) // 5]
    lines = lines if test else lines[len(lines) // 5 :]
    if name.startswith("mnist"):
        lines, tested = (list(map(of_eights, some)) for some in (lines, tested))
    if "3 %" in name:
        lines, tested = (of_few_positives(some, chance) for some in (lines, tested))
    held = max(min(len(lines) // 10, MOST), len(lines) // 50)
    return lines[held:], lines[:held], tested


def test_loss(folder: Path, model: Path) -> float:
    vwlite("predict", "-m", model, folder / "test", "-p", os.devnull, "--quiet", "--report", folder / "p.json")
    return float(report_of(folder / "p.json")["average_loss"])


def best_rate(folder: Path, algorithm: str) -> tuple[str, str]:
    losses = {}
    for rate in RATES[algorithm]:
        vwlite("train", folder / "all", "--loss", "logistic", "--algorithm", algorithm, *rate, "--quiet", "--report",
               folder / "t.json")
        losses[rate] = report_of(folder / "t.json")["average_loss"]
    return min(losses, key=losses.__getitem__)


def dealt(lines: list[str], shards: int, skewed: bool) -> list[list[str]]:
    """The lines of each shard."""
    if not skewed:
        return [lines[k::shards] for k in range(shards)]
    chance = random.Random(2)
    ordered = sorted(lines, key=lambda line: float(line.split()[0] in ("1", "+1")) + chance.gauss(0, 0.5))
    return [list(part) for part in np.array_split(np.array(ordered, dtype=object), shards)]


@dataclass(frozen=True)
class Round:
    """Losses on the test part, and what the holdout has chosen."""

    merged: float
    start: float | None
    best_shard: float
    chosen: str


def quality(folder: Path, algorithm: str, work: Work, shards: list[list[str]], rate: tuple[str, str]) -> list[Round]:
    """The rounds of a merge."""
    options: list[object] = ["--loss", "logistic", "--algorithm", algorithm, *rate]
    data = [write(folder / f"part{k}", lines) for k, lines in enumerate(shards)]
    found, begin, start = [], list[Any](), None
    for number in range(work.rounds):
        models = [folder / f"shard{k}" for k in range(len(data))]
        for part, model in zip(data, models, strict=True):
            vwlite("train", part, *(["-i", begin[1]] if begin else options), "-m", model, "--quiet")
        merged, state = folder / f"merged{number}", "sum" if number == work.rounds - 1 else "mean"
        command = ["merge", *models, *begin, "--quiet", "--report", folder / "m.json"]
        vwlite(*command, "-o", folder / "x", "--holdout", folder / "test", "--rule", "mean")
        best = report_of(folder / "m.json")["of_the_best_shard"]
        vwlite(*command, "-o", merged, "--holdout", folder / "held", "--state", state)
        chosen, loss = report_of(folder / "m.json"), test_loss(folder, merged)
        rule = "a shard" if chosen["rule"].startswith("that of") else chosen["rule"]
        found.append(Round(loss, start, best, rule))
        begin, start = ["--start", merged], loss
    return found


def one_machine(folder: Path, algorithm: str, rounds: int, rate: tuple[str, str]) -> float:
    """The smallest test loss of the passes."""
    best, begin = float("inf"), ["--loss", "logistic", "--algorithm", algorithm, *rate]
    for _ in range(rounds):
        vwlite("train", folder / "all", *begin, "-m", folder / "one", "--quiet")
        best, begin = min(best, test_loss(folder, folder / "one")), ["-i", str(folder / "one")]
    return best


Ratios = dict[tuple[str, int, bool, bool], list[tuple[float, float]]]  # by set, lines held out, skewed, other draw


def holdouts(data: Path, sets: list[str], limit: int | None, draws: int) -> str:
    """One round with holdouts of several sizes, as a table of ratios."""
    ratios: Ratios = {}
    seeds = [first + i for first in (TUNED, OTHER) for i in range(draws)]
    for name, seed in ((name, seed) for name in sets for seed in seeds):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            lines, held, test = parts(data, name, seed, limit)
            write(folder / "all", lines)
            write(folder / "test", test)
            for algorithm in RATES:
                rate = best_rate(folder, algorithm)
                one = one_machine(folder, algorithm, 1, rate)
                for count, skewed in ((4, False), (16, False), (16, True)):
                    found = sizes(folder, algorithm, dealt(lines, count, skewed), rate, held)
                    for size, (merged, best) in found.items():
                        key = name, size, skewed, seed >= OTHER
                        ratios.setdefault(key, []).append((merged / one, merged / best))
                    order = "skewed" if skewed else "shuffled"
                    shown = (f"{size}: {loss / one:.3f} {loss / best:.3f}" for size, (loss, best) in found.items())
                    say(f"holdouts: {name} {seed} {algorithm} {count} {order} {' '.join(shown)}")
    return table_of_holdouts(ratios)


def sizes(
    folder: Path, algorithm: str, shards: list[list[str]], rate: tuple[str, str], held: list[str]
) -> dict[int, tuple[float, float]]:
    """Test losses of the merge and of the best shard, by the lines of the holdout."""
    models = [folder / f"shard{k}" for k in range(len(shards))]
    for lines, model in zip(shards, models, strict=True):
        write(folder / "part", lines)
        vwlite("train", folder / "part", "--loss", "logistic", "--algorithm", algorithm, *rate, "-m", model, "--quiet")
    best = min(test_loss(folder, model) for model in models)
    found = {}
    for size in HOLDOUTS:
        part = write(folder / "held", held[:size])
        vwlite("merge", *models, "-o", folder / "merged", "--holdout", part, "--quiet")
        found[size] = (test_loss(folder, folder / "merged"), best)
    return found


def table_of_holdouts(ratios: Ratios) -> str:
    """The goals are those of shuffled shards, and of test parts that are drawn like the holdout."""

    names = [["over one, median"], ["over one, largest"], ["over the best shard, largest"]]
    limits = MEDIAN_OVER_ONE, LARGEST_OVER_ONE, LARGEST_OVER_BEST
    goals = [[*name, f"{limit:.2f}"] for name, limit in zip(names, limits, strict=True)]
    for kind in (False, True):
        aims = [pairs for (name, *key), pairs in ratios.items() if name in WITH_GOALS and key[1:] == [False, kind]]
        found = np.array([pair for pairs in aims for pair in pairs] or [(np.nan, np.nan)])
        above = f" ({(found[:, 1] > LARGEST_OVER_BEST).sum()} of {len(found)} above)"
        values = np.median(found[:, 0]), *found.max(axis=0)
        for row, value, limit, more in zip(goals, values, limits, ("", "", above), strict=True):
            row += [f"{value:.3f}", verdict(bool(value <= limit)) + more]
    heads = ["shuffled shards", "at most", "tuning draws", "reached", "other draws", "reached"]
    summary = table(heads, goals, "lrrlrl")
    titles = ["set", "holdout", "shards", "merges", "over one, median", "largest", "over the best shard, largest",
              "above 1.03"]
    rows = []
    for name, size, skewed in dict.fromkeys(key[:3] for key in ratios):
        pairs = [pair for other in (False, True) for pair in ratios[name, size, skewed, other]]
        one, best = (np.array(column) for column in zip(*pairs, strict=True))
        rows.append([name, f"{size:,}", "skewed" if skewed else "shuffled", str(len(pairs)), f"{np.median(one):.3f}",
                     f"{one.max():.3f}", f"{best.max():.3f}", str(int((best > LARGEST_OVER_BEST).sum()))])
    return f"{summary}\n\n{table(titles, rows, 'lrlrrrrr')}"


@dataclass
class Found:
    """A row of a table of losses."""

    work: str
    draw: int
    cells: list[str]
    over_one: float
    over_best: float  # of a shard or the start, in the worst round


def qualities(data: Path, sets: list[str], works: list[str], limit: int | None) -> list[Found]:
    """All merges of the sets."""
    out = []
    for name, seed in ((name, seed) for name in sets for seed in (TUNED, OTHER)):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            lines, held, test = parts(data, name, seed, limit)
            for part, content in {"all": lines, "held": held, "test": test}.items():
                write(folder / part, content)
            for algorithm in RATES:
                rate = best_rate(folder, algorithm)
                for what in works:
                    work = WORKS[what]
                    one = one_machine(folder, algorithm, work.rounds, rate)
                    for count in work.shards:
                        found = quality(folder, algorithm, work, dealt(lines, count, work.skewed), rate)
                        last = found[-1]
                        worst = max(r.merged / min(r.best_shard, r.start or r.best_shard) for r in found)
                        over, how = last.merged / one, ", ".join(r.chosen for r in found)
                        cells = [name, str(seed), f"{algorithm} {' '.join(rate)}", str(count), f"{one:.4f}",
                                 f"{last.merged:.4f}", f"{over:.3f}", f"{worst:.3f}", how]
                        out.append(Found(what, seed, cells, over, worst))
                        say(f"{what}: {' '.join(cells)}")
    return out


def tables_of(found: list[Found], works: list[str]) -> str:
    """The goals, and all merges."""
    head = ["set", "draw", "algorithm", "shards", "one", "merged", "over one", "over the best there was", "chosen"]
    titles = ["what", "draw", "merges", "over one, median", "at most", "largest", "over the best there was, largest",
              "at most", "reached"]
    goals = []
    for what, draw in ((what, draw) for what in works for draw in (TUNED, OTHER)):
        work, mine = WORKS[what], [f for f in found if (f.work, f.draw) == (what, draw)]
        median, worst = float(np.median([f.over_one for f in mine])), max(f.over_best for f in mine)
        reached = median <= work.over_one and (work.over_best is None or worst <= work.over_best)
        goals.append([work.title, str(draw), str(len(mine)), f"{median:.3f}", f"{work.over_one}",
                      f"{max(f.over_one for f in mine):.3f}", f"{worst:.3f}", f"{work.over_best or ''}",
                      verdict(reached)])
    tables = [table(titles, goals, "lrrrrrrrl")]
    for what in works:
        cells = [f.cells for f in found if f.work == what]
        tables.append(f"{WORKS[what].title}:\n\n{table(head, cells, 'lrlrrrrrl')}")
    return "\n\n".join(tables)


def of_default(data: Path, names: Sequence[str], parts: int = 4) -> str:
    """Merges of models that continue one default model, by what is kept of their rows."""
    rows = []
    for name, kept in ((name, kept) for name in names for kept in ("all", "a quarter", "an eighth", "none")):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            head, *lines = read_lines(data / f"tables/{name}.train.csv.gz")
            write(folder / "test.csv", read_lines(data / f"tables/{name}.test.csv.gz"))
            n, half = len(lines), len(lines) // 2
            bound = {"all": "64M", "a quarter": 150 * half // 4, "an eighth": 150 * half // 8, "none": 0}[kept]
            options = ["--label", "target", *(["--loss", "squared"] if name == "california" else [])]
            vwlite("train", write(folder / "all.csv", [head, *lines]), *options, "-m", folder / "one", "--quiet")
            vwlite("train", write(folder / "0.csv", [head, *lines[:half]]), *options, "-m", folder / "start", "--quiet",
                   "--keep-rows", bound)
            shards = [folder / f"{k}" for k in range(parts)]
            for k, shard in enumerate(shards):
                begin, end = (half + i * (n - half) // parts for i in (k, k + 1))
                vwlite("train", "-i", folder / "start", write(folder / "part.csv", [head, *lines[begin:end]]), "-m",
                       shard, "--quiet", *(["--past", "1"] if kept != "none" else []))
            one = table_loss(folder, folder / "one")
            logs = [np.log(table_loss(folder, model) / one) for model in (folder / "start", *shards)]
            ways = []
            for rule in (["--rule", "information"], []):
                words = ["merge", *shards, "--start", folder / "start", "-o", folder / "m", "--quiet", *rule]
                can = not run_here([str(word) for word in words])
                ways.append(f"{np.log(table_loss(folder, folder / 'm') / one):+.4f}" if can else "refused")
            rows.append([name, kept, f"{one:.4f}", f"{logs[0]:+.4f}", f"{min(logs[1:]):+.4f}", *ways])
            say(" ".join(rows[-1]))
    return table(["set", "rows kept", "one machine", "start", "best shard", "by states", "merged"], rows, "llrrrrr")


def table_loss(folder: Path, model: Path) -> float:
    """The log loss, or the root of the mean squared error."""
    vwlite("predict", "-m", model, folder / "test.csv", "-p", os.devnull, "--quiet", "--report", folder / "p.json")
    loss = float(report_of(folder / "p.json")["average_loss"])
    return loss if read_model(str(model)).loss == "logistic" else loss**0.5


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
    )


def command(*arguments: object) -> tuple[float, float]:
    """Run one in a process of its own; seconds of wall clock, and of processors."""
    done = run(VWLITE, *arguments, "--quiet")
    return done.seconds, done.processor


def times(features: int, shards: int) -> str:
    """Seconds of whole commands, each in a process of its own."""
    rows = []
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
            merge = ["merge", *(folder / f"s{k}" for k in range(shards)), "-o", folder / "m", *options]
            found, used = zip(*(command(*merge) for _ in range(3)), strict=True)
            rows.append([name, f"{min(found):.2f}", f"{min(used):.2f}"])
            say(" ".join(rows[-1]))
    return table([f"{shards} models of {features:,} features", "wall clock, s", "of processors, s"], rows, "lr")


@dataclass(frozen=True)
class Cost:
    """A step of a merge: keys that came in and went out, bytes of them, and seconds of a processor."""

    keys: int
    out: int
    bytes: int
    bytes_out: int
    seconds: float


def keys_of(path: Path) -> int:
    return len(read_model(str(path)).keys)


def merging(parts: list[Path], out: Path, *options: object) -> Cost:
    _, seconds = command("merge", *parts, "-o", out, *options)
    sizes = [part.stat().st_size for part in parts]
    return Cost(sum(map(keys_of, parts)), keys_of(out), sum(sizes), out.stat().st_size, seconds)


def many(shards: int, lines: int) -> str:
    """The table of many shards, and what it says of more."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        generate("clicks", folder / "text", "--examples", shards * lines)
        models, learning = [], 0.0
        with open(folder / "text", "rb") as text:
            for k in range(shards):
                (folder / "shard.vw").write_bytes(b"".join(islice(text, lines)))
                models.append(folder / f"{k}.model")
                train = ["train", folder / "shard.vw", "--loss", "logistic", "--algorithm", "adagrad", "--threads", 1]
                learning += command(*train, "-m", models[-1])[1]
        size = (folder / "text").stat().st_size / 1e6
        few = merging(models[: shards // 4], folder / "few", "--rule", "path")
        start = min(command("merge", *models[:2], "-o", folder / "two")[1] for _ in range(3))
        whole = merging(models, folder / "all", "--rule", "path")
    of_key = (few.seconds - start) / few.keys
    titles = ["step", "keys in", "keys out", "MB in", "MB out", "of processors, s", "of a key, ns", "expected, s"]
    rows = [
        [name, f"{cost.keys:,}", f"{cost.out:,}", f"{cost.bytes / 1e6:.1f}", f"{cost.bytes_out / 1e6:.1f}",
         f"{cost.seconds:.2f}", f"{1e9 * (cost.seconds - start) / cost.keys:.0f}", f"{start + of_key * cost.keys:.2f}"]
        for name, cost in ((f"{shards // 4} models", few), (f"{shards} models at once", whole))
    ]
    speed = f"Learning from {shards} shards, {size:.0f} MB of text: {learning:.1f} s of a processor."
    paper = on_paper(max(whole.seconds - start, 0.0) / whole.keys, whole)
    return f"{table(titles, rows, 'lr')}\n\n{speed}\n\n{paper}"


def on_paper(of_key: float, whole: Cost) -> str:
    """1,000 shards of 1 GB on 100 machines, 10 Gbit/s between them, at what was measured: seconds of a processor for a
    key of a model, and its bytes.

    A shard has 3 million features; the union of n shards n^0.5 times as many, as of the clicks: all have 100 million.
    """
    model, link, keys = whole.bytes / whole.keys, 1.25e9, 1000 * 3e6
    size = keys * model
    rows = [["all models to one machine", f"{size / 1e9:,.1f}", f"{size / link:,.1f}", f"{keys * of_key:,.1f}"]]
    return table(["design", "GB into the busiest machine", "s of its link", "s of its processor"], rows, "lr")


def main() -> None:
    parser = options_of(__doc__, data=True, results="put the tables into this file")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--only", nargs="*", default=[*WORKS, *OTHERS], choices=[*WORKS, *OTHERS])
    parser.add_argument("--lines", type=int, default=None, help="of each set at most")
    parser.add_argument("--draws", type=int, default=DRAWS, help="of each kind, for holdouts of several sizes")
    parser.add_argument("--shards", type=int, default=200, help="of the run of many, of which there are tens")
    parser.add_argument("--examples", type=int, default=20_000, help="of each of them")
    parser.add_argument("--features", type=int, default=1_000_000, help="of each model whose merge is timed")
    o = parser.parse_args()
    missing = [name for pair in map(SETS.get, o.sets) for name in pair or () if name and not (o.data / name).exists()]
    if missing and set(o.only) & {*WORKS, "holdouts"}:
        sys.exit(f"merge.py: {o.data} has no {', '.join(missing)}: SETS=FOLDER says where the data sets are")
    lines = f"at most {o.lines:,} lines of each set; " if o.lines else ""
    note = f"; {lines}load {os.getloadavg()[0]:.1f}."
    works = [name for name in o.only if name in WORKS]

    def keep(name: str, content: str) -> None:
        show(f"{content}\n\n{made('vwlite', note=note)}", o.results, name)

    if works:
        sets = [name for name in o.sets if name in WITH_GOALS]
        keep("merge", tables_of(qualities(o.data, sets, works, o.lines), works))
    if "holdouts" in o.only:
        keep("merge holdouts", holdouts(o.data, o.sets, o.lines, o.draws))
    if "default" in o.only:
        keep("merge default", of_default(o.data, ["bank", "california"]))
    if "time" in o.only:
        keep("merge time", times(o.features, 16))
    if "many" in o.only:
        keep("merge many", many(o.shards, o.examples))


if __name__ == "__main__":
    main()
