"""The table of speed and memory in RESULTS.md, as Markdown on standard output too.

    make bench              1000 MB of text each time, generated once into .bench/; rows of rcv1 are left out unless
                            SETS=FOLDER has it
    make bench-quick        0.2 MB: does the benchmark work? Its numbers say nothing about speed.

Rivals run in turn, A B C A B C ..., after one turn that does not count: it brings the files into memory, makes
the caches, and compares the losses. A time is the median over the rounds of the whole process's wall time; a
ratio is the median of the rounds' ratios. The time of a pass over a cache is a difference: (a run of 1 + n
passes - a run of 1 pass) / n, both with the cache there. What is not installed is left out.

This process stays small, without NumPy: the peak memory of a child begins with that of its parent.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median

from harness import GD, HERE, ROOT, VW, VWLITE, generate, installed, made, options_of, report_of, run, say, show, table
from harness import verdict as yes_or_no

PYTHON = sys.executable
HAS_VW = installed("vowpalwabbit")
HAS_SKLEARN = installed("sklearn")
FEATURES = 47_236  # of the documents
PASSES = 4
SHORT_PASSES = 8  # over a fifth of the documents
MANY_PASSES = 100  # over the real set
# Of plain steps (1, 3, 10, 30, 100, 300, 1000) and balls (1,000, 3,000, 10,000, 30,000), these have the least
# progressive loss on the first 100 MB of documents: sgd 0.535 with 100, l1-ball 0.520 with 100 and 10,000. Without a
# ball the sum of |weights| is 21,500 then. The tight ball has the loss of sgd with 56 % of its weights.
RATE = "100"
RADIUS, TIGHT_RADIUS = "10000", "3000"
# The other algorithms: options, and how many times as long as sgd one may take. Of a small grid of rates and strengths,
# those with the least progressive loss on the first 60 MB of documents; of those within 1 % of it, the fewest weights.
DOCUMENT_WORDS = ["--features", str(FEATURES + 1)]
ALGORITHMS: dict[str, tuple[str, list[str], float]] = {
    "truncated-gradient": ("logistic", ["-l", "100", "--l1", "3e-5"], 2),
    "rounding": ("logistic", ["-l", "30", "--threshold", "0.1", "--period", "1000"], 2),
    "adagrad": ("logistic", ["-l", "3", "--l1", "3e-5"], 2),
    "adagrad-rda": ("logistic", ["-l", "3", "--l1", "1e-5"], 2),
    "ftrl": ("logistic", ["--ftrl-alpha", "3", "--l1", "0.3"], 2),
    "pa": ("hinge", [], 2),
    "pa-i": ("hinge", ["--pa-c", "1"], 2),
    "pa-ii": ("hinge", ["--pa-c", "1"], 2),
    "arow": ("hinge", ["--arow-r", "0.1"], 2),
    "eg": ("logistic", ["-l", "0.1", "--radius", "100", *DOCUMENT_WORDS], 3),
    "eg-pm": ("logistic", ["-l", "10", "--radius", "30000", *DOCUMENT_WORDS], 3),
    "l1-ball": ("logistic", ["-l", "100", "--radius", "5000"], 6),
    "simplex": ("logistic", ["-l", "30", "--radius", "1000", *DOCUMENT_WORDS], 6),
    "adagrad-ball": ("logistic", ["-l", "3", "--radius", "20000"], 6),
    "smidas": ("logistic", ["-l", "10", "--l1", "1e-5", *DOCUMENT_WORDS], 6),
}
SCORES = ["--link", "identity"]  # what Vowpal Wabbit predicts
OURS, VW_NAME, VW_24 = "vwlite", "VW", "VW -b 24"
OUR_VW, TRAIN, PREDICT = "vwlite vw", "`vwlite train`", "`vwlite predict`"
PORTABLE = "the portable build"
WITHOUT = "without"
READ, PARSE = "reading the file", "reading and parsing"

Command = Sequence[str]
Seconds = dict[str, list[float]]  # of each rival, round by round
Row = tuple[str, ...]
TITLES = ("work", "vwlite", "against", "", "ratio (min-max)", "at most", "reached")


@dataclass
class Goal:
    """The time of one rival over that of another: at most `limit`."""

    rival: str
    limit: float | None = None


@dataclass
class Work:
    """A row or more of the table: `ours` against rivals. A rival is a command, or a pair to subtract."""

    name: str
    rivals: dict[str, Command | tuple[Command, Command]]
    goals: list[Goal] = field(default_factory=list)
    ours: str = OURS
    passes: int = PASSES  # between the two of a pair


def race(work: Work, rounds: int) -> Seconds:
    """All rivals in turn, `rounds` times."""
    seconds: Seconds = {name: [] for name in work.rivals}
    for turn in range(rounds + 1):
        words = []
        for name, rival in work.rivals.items():
            if isinstance(rival, tuple):
                short, long = (run(*command) for command in rival)
                elapsed = (long.seconds - short.seconds) / work.passes
                computed = (long.processor - short.processor) / work.passes
            else:
                one = run(*rival)
                elapsed, computed = one.seconds, one.processor
            if turn:
                seconds[name].append(elapsed)
            words.append(f"{name} {span(elapsed)} ({span(computed)} computing)")
        say(f"{work.name}, {f'round {turn} of {rounds}' if turn else 'warm'}: {', '.join(words)}")
    return seconds


def rows(work: Work, seconds: Seconds) -> Iterator[Row]:
    """The rows of the table, one for each rival."""
    ours = seconds[work.ours]
    goals = {goal.rival: goal.limit for goal in work.goals}
    first = True
    for name, theirs in seconds.items():
        if name == work.ours:
            continue
        if min(ours + theirs) > 0:
            ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
            spread = f"{median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
            reached = verdict(median(ratios), goals.get(name))
        else:  # differences of two times that are too short to distinguish
            spread = reached = "n.a."
        yield (
            work.name if first else "", span(median(ours)) if first else "", name, span(median(theirs)), spread,
            goal_text(goals.get(name)), reached,
        )
        first = False
    if first:
        yield work.name, span(median(ours)), "", "", "", "", ""


def span(seconds: float) -> str:
    return f"{seconds:.3f} s" if abs(seconds) < 1 else f"{seconds:.2f} s"


def goal_text(limit: float | None) -> str:
    return "" if limit is None else f"{limit:.2f}"


def verdict(value: float, limit: float | None) -> str:
    return "" if limit is None else yes_or_no(value <= limit)


def works(news: str, clicks: str, libsvm: str) -> list[Work]:
    """Everything that is raced. Caches and models are files in the current folder."""

    def ours(*arguments: str) -> list[str]:
        return [VWLITE, *arguments, "--quiet"]

    def vw(*arguments: str) -> list[str]:
        return [*VW, *arguments, "--quiet"]

    def cached(command: Callable[..., list[str]], cache: str, off: str, *arguments: str) -> tuple[Command, Command]:
        fixed = [*arguments, "--cache_file", cache, off]
        return command(*fixed, "--passes", "1"), command(*fixed, "--passes", str(1 + PASSES))

    logistic = ["--loss_function", "logistic"]
    train = ["train", news, *logistic]
    vw_pass = cached(vw, "news.vw.cache", "--holdout_off", "-d", news, *logistic)
    sgd = ["--algorithm", "sgd", "-l", RATE]
    ball = ["--algorithm", "l1-ball", "-l", RATE, "--radius", RADIUS]
    tight = ["--algorithm", "l1-ball", "-l", RATE, "--radius", TIGHT_RADIUS]

    def our_pass(*algorithm: str) -> tuple[Command, Command]:
        return cached(ours, "news.cache", "--holdout-off", *train, *algorithm)

    for cache in ("news.cache", "news.vw.cache"):  # VW takes any that is there
        Path(cache).unlink(missing_ok=True)
    crossed = [clicks, *logistic, "-q", "af"]
    return [
        Work(
            "train `gd` logistic from text, documents",
            {
                OURS: ours(*train, *GD, "-m", "news.model"),
                VW_NAME: vw("-d", news, *logistic, "-f", "news.vw.model"),
                PARSE: floor("parse", news),
                READ: floor("read", news),
            },
            [Goal(VW_NAME, 1 / 4), Goal(PARSE, 2)],
        ),
        Work(
            "train `gd` logistic from text, clicks, one `-q`",
            {
                OURS: ours("train", *crossed, *GD, "-m", "clicks.model"),
                VW_NAME: vw("-d", *crossed, "-f", "clicks.vw.model"),
                VW_24: vw("-d", *crossed, "-b", "24", "-f", "clicks24.vw.model"),
                PARSE: floor("parse", clicks),
            },
            [Goal(VW_NAME, 1 / 3)],
        ),
        Work(
            "train with `--names`, documents",
            {
                OURS: ours(*train, *GD, "--names", "-m", "named.model"),
                WITHOUT: ours(*train, *GD, "-m", "news.model"),
            },
            [Goal(WITHOUT, 1.25)],
        ),
        Work(
            "train with `--names`, clicks, one `-q`",
            {
                OURS: ours("train", *crossed, *GD, "--names", "-m", "named.model"),
                WITHOUT: ours("train", *crossed, *GD),
            },
            [Goal(WITHOUT, 1.25)],
        ),
        Work(
            "predict from text, documents",
            {
                OURS: ours("predict", news, "-m", "news.model", *SCORES, "-p", "/dev/null"),
                VW_NAME: vw("-t", "-d", news, "-i", "news.vw.model", "-p", "/dev/null"),
                PARSE: floor("parse", news),
            },
            [Goal(VW_NAME, 1 / 4)],
        ),
        Work(
            "evaluate from text, documents",
            {
                OURS: ours("evaluate", news, "-m", "news.model"),
                PREDICT: ours("predict", news, "-m", "news.model", "-p", "/dev/null"),
            },
            [Goal(PREDICT, 1.2)],
        ),
        Work(
            "train `l1-ball` logistic from text, documents",
            {
                OURS: ours(*train, *ball),
                VW_NAME: vw("-d", news, *logistic),
            },
            [Goal(VW_NAME, 1 / 2)],
        ),
        Work(
            "train `sgd` logistic from libsvm text, documents",
            {
                OURS: ours("train", libsvm, *logistic, *sgd),
                "scikit-learn `partial_fit`": [PYTHON, str(HERE / "sklearn_sgd.py"), libsvm, str(FEATURES)],
                PARSE: floor("parse", libsvm),
            },
        ),
        Work(
            "a pass over the cache, `gd` logistic, documents",
            {OURS: our_pass(*GD), VW_NAME: vw_pass},
            [Goal(VW_NAME, 1 / 3)],
        ),
        Work(
            "a pass over the cache, `sgd` logistic, documents",
            {OURS: our_pass(*sgd), VW_NAME: vw_pass},
            [Goal(VW_NAME, 1 / 3)],
        ),
        Work(
            "a pass over the cache, `l1-ball` logistic, documents",
            {OURS: our_pass(*ball), "vwlite `sgd`": our_pass(*sgd)},
            [Goal("vwlite `sgd`", 5)],
        ),
        Work(
            f"the same, `--radius {TIGHT_RADIUS}`",
            {OURS: our_pass(*tight), "vwlite `sgd`": our_pass(*sgd)},
        ),
        *works_of_both(clicks),
    ]


def tune_work(news: str) -> Work:
    """Settings of four algorithms beside auto, which is one of its candidates, against auto alone."""
    auto = [VWLITE, "train", news, "--loss", "logistic", "--quiet"]
    tune = [VWLITE, "tune", news, "--loss", "logistic", "--quiet"]
    return Work("tune, a fiftieth of the documents", {OURS: tune, "`train --algorithm auto`": auto})


def without_what_is_missing(work: Work) -> Work:
    """A work without the rivals that are not installed."""
    for name in list(work.rivals):
        if (name.startswith(VW_NAME) and not HAS_VW) or (name.startswith("scikit") and not HAS_SKLEARN):
            del work.rivals[name]
    return work


def works_of_fw_synthetic(text: str) -> Iterator[Work]:
    """The benchmark of Fwumious Wabbit. With both built on one machine, it took 0.16, 0.16 and 0.22 of Vowpal Wabbit's
    time for these rows: train with predictions and a model, the same from the cache, predict."""
    fwumious = {"train": 0.16, "cached": 0.16, "predict": 0.22}
    options = ["--loss_function", "logistic", "-b", "25", "-q", "AB"]

    def ours(*arguments: str) -> list[str]:
        files = [*SCORES, "-p", "fw.predictions", "-m", "fw.model"]
        return [VWLITE, "train", text, *GD, *options, *files, "--quiet", *arguments]

    def vw(*arguments: str) -> list[str]:
        files = ["-p", "fw.vw.predictions", "-f", "fw.vw.model"]
        return [*VW, "-d", text, *options, *files, "--quiet", *arguments]

    for cache in ("fw.cache", "fw.vw.cache"):  # VW takes any that is there
        Path(cache).unlink(missing_ok=True)
    yield Work(
        "train `gd` logistic from text, fw-synthetic, `-q AB`, predictions and model",
        {OURS: ours(), VW_NAME: vw(), "one thread": ours("--threads", "1")},
        [Goal(VW_NAME, 0.5 * fwumious["train"])],
    )
    yield Work(
        "the same from the cache",
        {OURS: ours("--cache-file", "fw.cache"), VW_NAME: vw("--cache_file", "fw.vw.cache")},
        [Goal(VW_NAME, 0.5 * fwumious["cached"])],
    )
    yield Work(
        "predict from text, fw-synthetic",
        {
            OURS: [VWLITE, "predict", text, "-m", "fw.model", *SCORES, "-p", "fw.predictions", "--quiet"],
            VW_NAME: [*VW, "-t", "-d", text, "-i", "fw.vw.model", "-p", "fw.vw.predictions", "--quiet"],
        },
        [Goal(VW_NAME, 0.65 * fwumious["predict"])],
    )


def works_of_the_portable_build(program: Path, news: str) -> Iterator[Work]:
    """The cost of a build without functions for particular processors: the same work by a portable build."""
    if not program.exists():
        return

    def both(*arguments: str) -> dict[str, Command]:
        shared = ["train", news, *GD, "--loss", "logistic", *arguments, "--quiet"]
        return {PORTABLE: [str(program), *shared], OURS: [VWLITE, *shared]}

    def work(name: str, rivals: dict[str, Command | tuple[Command, Command]]) -> Work:
        return Work(f"{PORTABLE}, {name}, documents", rivals, [Goal(OURS, 1.6)], ours=PORTABLE)

    yield work("train `gd` logistic from text", dict(both("-m", "portable.model")))
    Path("portable.cache").unlink(missing_ok=True)
    cached = ["--cache-file", "portable.cache", "--holdout-off", "--passes"]
    short, long = both(*cached, "1"), both(*cached, str(1 + PASSES))
    yield work("a pass over the cache, `gd` logistic", {name: (short[name], long[name]) for name in short})


def cache_rows(clicks: str) -> Iterator[Row]:
    """How large a cache is beside its text."""
    command = [VWLITE, "train", clicks, *GD, "--loss", "logistic", "--quiet"]
    run(*command, "--cache-file", "clicks.cache", "--kill-cache")
    ratio = Path("clicks.cache").stat().st_size / Path(clicks).stat().st_size
    size = f"{Path('clicks.cache').stat().st_size / 1e6:.0f} MB"
    yield "cache of clicks over their text", size, "", "", f"{ratio:.2f}", "0.80", verdict(ratio, 0.8)


def one_thread_rows(news: str, rounds: int) -> Iterator[Row]:
    """Text a second that one thread learns from."""
    command = [VWLITE, "train", news, *GD, "--loss", "logistic", "--threads", "1", "--quiet"]
    one = Work("one thread, documents", {OURS: command})
    seconds = median(race(one, rounds)[OURS])
    speed = Path(news).stat().st_size / seconds / 1e9
    yield one.name, span(seconds), "", "", f"{speed:.2f} GB/s", "0.65 GB/s", verdict(-speed, -0.65)


def works_of_both(clicks: str) -> list[Work]:
    """The same work by `vwlite vw` and by the other commands: one engine, so one time."""

    def work(name: str, vw: list[str], other: str, ours: list[str], text: str = clicks) -> Work:
        commands: dict[str, Command] = {
            OUR_VW: [VWLITE, "vw", "-d", text, *vw, "--quiet"],
            other: [VWLITE, other.strip("`").split()[1], text, *ours, "--quiet"],
        }
        return Work(f"`vwlite vw`, {name}, clicks", dict(commands), [Goal(other, 1.05)], ours=OUR_VW)

    train = ["--loss_function", "logistic", "-b", "24"]
    passes = ["--passes", "3", "-k", "--cache_file"]
    return [
        work("train from text", [*train, "-f", "both.vw.model"], TRAIN, [*train, *GD, "-m", "both.model"]),
        work(
            "predict from text", ["-t", "-i", "both.vw.model", "-p", "/dev/null"],
            PREDICT, ["-m", "both.model", *SCORES, "-p", "/dev/null"],
        ),
        work(
            "train `--ftrl` from text", [*train, "--ftrl", "-f", "ftrl.vw.model"],
            TRAIN, [*train, "--algorithm", "ftrl", "-m", "ftrl.model"],
        ),
        work(
            "3 passes with a cache and holdout", [*train, *passes, "both.vw.cache", "-f", "both.vw.model"],
            TRAIN, [*train, *GD, *passes, "both.cache", "-m", "both.model"],
        ),
        work(
            "train `--oaa 10` from a fifth of the text", [*train, "--oaa", "10", "-f", "oaa.vw.model"],
            TRAIN, [*train, *GD, "--oaa", "10", "-m", "oaa.model"], with_classes(clicks),
        ),
    ]


def with_classes(clicks: str) -> str:
    """A fifth of the clicks, each with the last digit of its advertiser as the class: 1 to 10."""
    path = Path(clicks.replace("clicks", "classes"))
    if not path.exists():
        size = Path(clicks).stat().st_size // 5
        with open(clicks, "rb") as source, open(path, "wb") as target:
            while target.tell() < size:
                line = source.readline()
                _, advertiser, rest = line.split(b" ", 2)
                digit = rest.split(b" ", 1)[0][-1:]
                target.write(b"%d %s %s" % (int(digit) + 1, advertiser, rest))
    return str(path)


def works_in_memory(libsvm: str, data: str, times: int) -> Iterator[Work]:
    """`fit` of a matrix, so many times, beside passes of the command over the cache of the same features, and
    scikit-learn. data: what it is, in the table."""

    def fits(who: str) -> tuple[Command, Command]:
        command = [PYTHON, str(HERE / "in_memory.py"), who, libsvm]
        return [*command, "1"], [*command, str(1 + times)]

    def passes(algorithm: str) -> tuple[Command, Command]:
        command = [VWLITE, "train", libsvm, "--loss", "logistic", "--cache-file", "matrix.cache", "--holdout-off"]
        command += ["--algorithm", algorithm, "--quiet", "--passes"]
        return [*command, "1"], [*command, str(1 + times)]

    Path("matrix.cache").unlink(missing_ok=True)
    for algorithm, limit in (("gd", None), ("sgd", 1 / 2)):
        yield Work(
            f"`fit` in memory, `{algorithm}` logistic, {data}",
            {OURS: fits(algorithm), "a pass over the cache": passes(algorithm), "scikit-learn `fit`": fits("sklearn")},
            [Goal("a pass over the cache", 1.3), Goal("scikit-learn `fit`", limit)],
            passes=times,
        )


def algorithm_rows(news: str, rounds: int) -> Iterator[Row]:
    """A pass over the cache for each of the other algorithms, against one of `sgd` with the same loss."""

    def one_pass(loss: str, algorithm: str, *options: str) -> tuple[Command, Command]:
        command = [VWLITE, "train", news, "--loss", loss, "--cache-file", "shorter.cache", "--holdout-off", "--quiet"]
        command += ["--algorithm", algorithm, *options]
        return [*command, "--passes", "1"], [*command, "--passes", str(1 + SHORT_PASSES)]

    Path("shorter.cache").unlink(missing_ok=True)
    rivals = {f"sgd {loss}": one_pass(loss, "sgd", "-l", rate) for loss, rate in (("logistic", RATE), ("hinge", "30"))}
    rivals |= {name: one_pass(loss, name, *options) for name, (loss, options, _) in ALGORITHMS.items()}
    seconds = race(Work("a pass over the cache, every algorithm", dict(rivals), passes=SHORT_PASSES), rounds)
    for name, (loss, _, limit) in ALGORITHMS.items():
        rival = f"vwlite `sgd` {loss}"
        work = Work(f"a pass over the cache, `{name}`, a fifth of the documents", {}, [Goal(rival, limit)], ours=name)
        yield from rows(work, {name: seconds[name], rival: seconds[f"sgd {loss}"]})


def floor(what: str, path: str) -> list[str]:
    return [PYTHON, str(HERE / "floor.py"), what, path]


def start_rows(rounds: int) -> Iterator[Row]:
    """How long the shortest commands take."""
    Path("one.vw").write_text("1 | a b:2\n")
    version_only = {OURS: [VWLITE, "--version"]}
    one_line = {OURS: [VWLITE, "train", "one.vw", *GD, "--quiet"]}
    if HAS_VW:
        version_only[VW_NAME] = [*VW, "--version"]
        one_line[VW_NAME] = [*VW, "-d", "one.vw", "--quiet"]
    for name, limit, rivals in (("`vwlite --version`", 0.15, version_only), ("a one-line train", 0.3, one_line)):
        seconds = race(Work(name, dict(rivals)), rounds)
        ours = median(seconds[OURS])
        theirs = span(median(seconds[VW_NAME])) if HAS_VW else ""
        spread = f"{min(seconds[OURS]):.3f}-{max(seconds[OURS]):.3f} s"
        yield name, span(ours), VW_NAME if HAS_VW else "", theirs, spread, span(limit), verdict(ours, limit)


def table_rows(count: int, rounds: int) -> Iterator[Row]:
    """The same impressions as CSV, JSON lines and VW text: training on each, by rows."""
    stem = f"table-{count}"
    if not Path(f"{stem}.csv").exists():
        say(f"making {stem}.csv")
        write_table(stem, count)
    learn = [*GD, "--loss", "logistic", "--labels", "0,1", "-b", "20", "--quiet"]
    with open(f"{stem}.vw", "wb") as text:
        subprocess.run([VWLITE, "convert", f"{stem}.csv", "--label", "clicked", "--quiet"], stdout=text, check=True)
    rivals: dict[str, Command | tuple[Command, Command]] = {
        "VW text of it": [VWLITE, "train", f"{stem}.vw", *learn],
        "CSV": [VWLITE, "train", f"{stem}.csv", "--label", "clicked", *learn],
        "JSON lines": [VWLITE, "train", f"{stem}.jsonl", "--label", "clicked", *learn],
    }
    if installed("pyarrow"):
        make = "import sys, pyarrow.csv as c, pyarrow.parquet as p; p.write_table(c.read_csv(sys.argv[1]), sys.argv[2])"
        run(PYTHON, "-c", make, f"{stem}.csv", f"{stem}.parquet")
        rivals["Parquet"] = [VWLITE, "train", f"{stem}.parquet", "--label", "clicked", *learn]
    if installed("sklearn", "pandas"):
        rivals["pandas, one-hot and SGDClassifier"] = [PYTHON, str(HERE / "sklearn_table.py"), f"{stem}.csv"]
    if installed("river"):
        rivals["river"] = [PYTHON, str(HERE / "river_table.py"), f"{stem}.csv"]
    seconds = race(Work(f"a table of {count:,} rows", dict(rivals)), rounds)
    base = median(seconds["VW text of it"])
    # Of the rows per second of VW text: at least 0.6 and 0.4; of those of CSV: as many.
    limits = {"CSV": 1 / 0.6, "JSON lines": 1 / 0.4, "Parquet": median(seconds["CSV"]) / base}
    for name in seconds:
        ours, limit = median(seconds[name]), limits.get(name)
        ratio = "" if name == "VW text of it" else f"{ours / base:.2f}"
        yield (
            f"train, table of {count:,} rows, 12 columns, {name}", span(ours), "", f"{count / ours:,.0f} rows/s", ratio,
            goal_text(limit), verdict(ours / base, limit),
        )


def split_rows(stem: str, rounds: int) -> Iterator[Row]:
    """A table in two files: by the hashes of rows, and of groups."""
    split = [VWLITE, "split", f"{stem}.csv", "--test", "0.2", "--quiet", "-o", "train.csv", "-o", "test.csv"]
    rivals: dict[str, Command] = {OURS: split, "`--group`": [*split, "--group", "site"],
                                  "`cat`": ["sh", "-c", f"cat {stem}.csv > train.csv"]}
    if installed("sklearn", "pandas"):
        split_by_pandas = (
            "import sys, pandas, sklearn.model_selection as m; a, b = m.train_test_split(pandas.read_csv(sys.argv[1]), "
            "test_size=0.2); a.to_csv('train.csv', index=False); b.to_csv('test.csv', index=False)"
        )
        rivals["pandas, train_test_split, to_csv"] = [PYTHON, "-c", split_by_pandas, f"{stem}.csv"]
    work = Work(f"`vwlite split`, {stem}.csv", dict(rivals), [Goal("pandas, train_test_split, to_csv", 1)])
    yield from rows(work, race(work, rounds))


def append_works(count: int) -> Iterator[Work]:
    """A table with columns of predictions behind its own, beside predictions alone, and a program in pandas."""
    stem = f"table-{count}"
    if not Path(f"{stem}.csv").exists():
        write_table(stem, count)
    learn = ["--label", "clicked", *GD, "--loss", "logistic", "--labels", "0,1", "--quiet"]
    run(VWLITE, "train", f"{stem}.csv", "-m", f"{stem}.model", *learn)
    suffixes = ["csv", "jsonl"]
    if installed("pyarrow"):
        make = "import sys, pyarrow.csv as c, pyarrow.parquet as p; p.write_table(c.read_csv(sys.argv[1]), sys.argv[2])"
        run(PYTHON, "-c", make, f"{stem}.csv", f"{stem}.parquet")
        suffixes.append("parquet")
    for suffix in suffixes:
        predict = [VWLITE, "predict", "-m", f"{stem}.model", f"{stem}.{suffix}", "--quiet", "-p"]
        rivals: dict[str, Command | tuple[Command, Command]] = {
            OURS: [*predict, f"appended.{suffix}", "--append"], PREDICT: [*predict, "predictions"],
        }
        if suffix == "csv" and installed("pandas"):
            files = [f"{stem}.model", f"{stem}.csv", "by_pandas.csv"]
            rivals["pandas and `load_model`"] = [PYTHON, "-c", BY_PANDAS, *files]
        yield Work(f"predict --append, {suffix} of {count:,} rows", rivals)


BY_PANDAS = """import sys, pandas, vwlite
model, frame = vwlite.load_model(sys.argv[1]), pandas.read_csv(sys.argv[2])
rows = frame.drop(columns="clicked")
frame["prediction"], frame["probability"] = model.predict(rows), model.predict_proba(rows)[:, 1]
frame.to_csv(sys.argv[3], index=False)"""


def write_table(stem: str, count: int) -> None:
    """Impressions with 5 numbers and 6 words each, as CSV and JSON lines."""
    rng = Random(1)
    words = {"country": 60, "device": 4, "browser": 12, "campaign": 5000, "ad": 20000, "site": 3000}
    names = ["clicked", "age", "hour", "price", "score", "visits", *words]
    with open(f"{stem}.csv", "w") as table, open(f"{stem}.jsonl", "w") as lines:
        table.write(",".join(names) + "\n")
        for _ in range(count):
            numbers = [rng.randrange(2), rng.randrange(18, 80), rng.randrange(24), round(rng.random() * 100, 2),
                       round(rng.random(), 4), int(rng.expovariate(0.1))]
            cells = [*numbers, *(f"{word[:4]}{rng.randrange(most)}" for word, most in words.items())]
            table.write(",".join(map(str, cells)) + "\n")
            lines.write(json.dumps(dict(zip(names, cells, strict=True))) + "\n")


def memory_rows(clicks: str) -> Iterator[Row]:
    """The peak while the table grows, with an interaction that brings a new feature with every other line."""
    for cross in ("af", "ck"):
        command = [VWLITE, "train", clicks, *GD, "--loss", "logistic", "-q", cross, "--quiet"]
        peak = run(*command, "--report", "report.json").peak
        features = report_of(Path("report.json"))["features_in_the_table"]
        limit = 64e6 + 100 * features
        yield (
            f"peak memory, clicks, `-q {cross}`, {features:,} features", f"{peak / 1e6:.0f} MB", "", "",
            f"64 MB and {max(0, peak - 64e6) / features:.0f} bytes per feature", f"{limit / 1e6:.0f} MB",
            verdict(peak, limit),
        )
        say(f"peak memory, -q {cross}: {peak / 1e6:.0f} MB")


def losses(news: str, clicks: str) -> Iterator[str]:
    """The progressive losses of both programs: they should have done the same work."""
    tasks = [("documents", [news], []), ("clicks, `-q af`", [clicks], ["-q", "af"])]
    for name, data, arguments in tasks:
        common = [*arguments, "--loss_function", "logistic"]
        run(VWLITE, "train", *data, *GD, *common, "--quiet", "--report", "report.json")
        ours = report_of(Path("report.json"))["average_loss"]
        text = f"{name}: vwlite {ours:.5f}"
        for bits in (["18", "24"] if HAS_VW else []):
            done = subprocess.run([*VW, "-d", *data, *common, "-b", bits], capture_output=True, text=True, check=True)
            theirs = float(re.search(r"average loss = (\S+)", done.stderr)[1])  # type: ignore[index]
            text += f", VW `-b {bits}` {theirs:.5f}"
            if abs(ours / theirs - 1) > 0.05:
                say(f"bench.py: the losses differ by more than 5 %: {text}")
        yield text


def text_of(stream: str, form: str, megabytes: float) -> str:
    """The name of a generated file in the current folder."""
    path = Path(f"{stream}-{megabytes:g}MB.{form}")
    return str(generate(stream, path, "--format", form, "--megabytes", megabytes))


def raced(some: Iterable[Work], only: str, rounds: int) -> Iterator[Row]:
    """The rows of those works whose name contains `only`."""
    for work in some:
        if only in work.name:
            yield from rows(work, race(without_what_is_missing(work), rounds))


def all_rows(typed: argparse.Namespace, news: str, clicks: str) -> Iterator[Row]:
    """The rows of the table, or those that --only names."""
    libsvm = text_of("rcv1", "libsvm", typed.megabytes)
    yield from raced(works(news, clicks, libsvm), typed.only, typed.rounds)
    if HAS_SKLEARN and typed.only in "in memory":
        fifth = text_of("rcv1", "libsvm", typed.megabytes / 5)
        yield from raced(works_in_memory(fifth, "a fifth of the documents", SHORT_PASSES), "", typed.rounds)
        if typed.data.exists():
            yield from raced(works_in_memory(str(typed.data), "rcv1", MANY_PASSES), "", typed.rounds)
    text = text_of("fw-synthetic", "vw", typed.megabytes / 5)
    yield from raced(works_of_fw_synthetic(text), typed.only, typed.rounds)
    yield from raced(works_of_the_portable_build(typed.portable, news), typed.only, typed.rounds)
    yield from raced([tune_work(text_of("rcv1", "vw", max(typed.megabytes / 50, 0.1)))], typed.only, typed.rounds)
    if typed.only in "one thread":
        yield from one_thread_rows(news, typed.rounds)
    if typed.only in "cache of clicks":
        yield from cache_rows(clicks)
    if typed.only in "every algorithm":
        yield from algorithm_rows(text_of("rcv1", "vw", typed.megabytes / 5), typed.rounds)
    if typed.only in "table":
        count = min(1_000_000, int(typed.megabytes * 10_000))
        yield from table_rows(count, typed.rounds)
        yield from split_rows(f"table-{count}", typed.rounds)
    if typed.only in "predict --append":
        yield from raced(append_works(min(1_000_000, int(typed.megabytes * 10_000))), "", typed.rounds)
    if typed.only in "peak memory":
        yield from memory_rows(clicks)
    if typed.only in "start":
        yield from start_rows(max(typed.rounds, 1))


def main() -> None:
    parser = options_of(__doc__, quick="tiny data, one round", data=True, results="put the table into this file")
    parser.add_argument("--megabytes", type=float, default=1000, help="of text, in each stream (default: 1000)")
    parser.add_argument("--rounds", type=int, default=5, help="(default: 5)")
    parser.add_argument("--only", default="", metavar="WORDS", help="only rows whose name contains this: another table")
    parser.add_argument("--folder", type=Path, default=ROOT / ".bench", help="where files go (default: .bench)")
    built = ROOT / ".venv-portable/bin/vwlite"
    parser.add_argument("--portable", type=Path, default=built, help="`vwlite` as `make portable` builds it")
    typed = parser.parse_args()
    typed.portable, typed.data = typed.portable.absolute(), typed.data.absolute() / "rcv1.train.libsvm.gz"
    results = typed.results and typed.results.absolute()
    if typed.quick:
        typed.megabytes, typed.rounds = 0.2, 1
    typed.folder.mkdir(parents=True, exist_ok=True)
    os.chdir(typed.folder)
    if not HAS_VW:
        say("bench.py: vowpalwabbit is not installed (pip install '.[bench]'), so there is nothing to compare with")

    news, clicks = text_of("rcv1", "vw", typed.megabytes), text_of("clicks", "vw", typed.megabytes)
    found = table(TITLES, all_rows(typed, news, clicks))
    note = f".\n{typed.megabytes:g} MB of text in each stream; medians of {typed.rounds} rounds."
    if typed.quick:
        note += "\nQuick: these numbers say nothing about speed."
    parts = [made("vwlite", "vowpalwabbit", "scikit-learn", "numpy", note=note), found]
    if not typed.only:
        parts.append("Progressive logistic loss: " + "; ".join(losses(news, clicks)) + ".")
    show("\n\n".join(parts), results, "some" if typed.only else "bench")


if __name__ == "__main__":
    main()
