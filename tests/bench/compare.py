"""Every algorithm on real data: a table and a picture for each data set, in RESULTS.md.

    make compare            needs the folder of data sets; writes compare.json and compare-NAME.png beside this file
    make compare-quick      on small data of this repository: does it work? Its numbers say nothing

Each data set is split with a seed: a training and a test part, where it has none of its own, and of the training part
80 % to fit and 20 % to validate. Of every algorithm a small grid is tried: learning rates (ftrl: alpha and beta), and
strengths (what makes the model small: --l1, --radius, ...); all rates with the weakest and the middle strength, and the
rates that were best there with all others. They learn the fitting part, and the log loss is taken on the part to
validate.

In the table is the setting with the fewest nonzero weights of those within 1 % of the algorithm's least log loss. It
learns all of the training part again and predicts the test part, once. In the picture are all strengths, each with the
learning rate that was best for it on the validation part, and they too learn and predict again.

Scores of the hinge loss are not log-odds: for the log loss they are mapped by a x + b, the a and b that are best
on the validation part. A multi-class task is evaluated by its errors.
"""

import argparse
import math
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from harness import (
    HERE,
    ROOT,
    generate,
    in_order,
    options_of,
    pyplot,
    read_lines,
    read_results,
    report_of,
    save_picture,
    say,
    table,
    work_folder,
    write_records,
)
from harness import made as made_by

import vwlite.prediction.predict
import vwlite.training.trainer  # here, so that the processes that are forked need not
from vwlite.algorithms.table import ALGORITHMS, Algorithm
from vwlite.cli import run
from vwlite.options.spec import option_name

SEED = 1
CLOSE = 1.01  # settings whose validation loss is within this factor of the least are as good
WHERE = (
    "rcv1 is RCV1-v2 as in the package mldr.datasets (GitHub: fcharte/mldr.datasets), a9a is on the LIBSVM data page, "
    "spambase and sms_spam are in the UCI Machine Learning Repository, mnist is that of LeCun, Cortes and Burges; as "
    "libsvm text (sms_spam: VW text), .gz"
)


@dataclass(frozen=True)
class Grid:
    """What is tried of an algorithm: learning rates times strengths."""

    rate: str = ""  # the option; "" for none
    rates: tuple[float, ...] = ()
    strength: str = ""
    strengths: tuple[float, ...] = ()  # the weakest first
    fixed: tuple[str, ...] = ()
    relative: bool = False  # the rates are times that of the data set, as they depend on the size of examples; and
    # falling rates are tried as well as constant ones, which are a hundredth of them (--power-t 0)
    falls: bool = True
    beside: tuple[tuple[str, ...], ...] = ((),)  # options that are tried with every rate
    needs_count: bool = False  # --features
    most: float = math.inf  # features that it can take


L1 = (0, 1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1)
THRESHOLDS = (1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1)
RADII = (10000, 3000, 1000, 300, 100, 30, 10, 3, 1)
FALLING = (0.3, 1, 3, 10)
ADAPTIVE = (0.03, 0.1, 0.3, 1, 3)
BETAS = tuple(("--ftrl-beta", beta) for beta in ("0.01", "0.1", "1"))

# What is tried of an algorithm where it is not the usual grid.
OWN: dict[str, dict[str, Any]] = {
    "gd": {"rates": (0.3, 1, 3, 10, 30), "strengths": (0, 1e-8, 1e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4),
           "relative": False},
    "rounding": {"fixed": ("--period", "1000")},
    # At a falling rate a step can cost as much as there were examples since the weight was touched last.
    "l1-subgradient": {"strengths": L1[1:], "fixed": ("--round-at-end", "0.01"), "falls": False},
    "eg": {"strengths": (30000, *RADII)},
    "eg-pm": {"strengths": (30000, *RADII)},
    "adagrad": {"rates": ADAPTIVE, "relative": False},
    "adagrad-rda": {"rates": ADAPTIVE, "relative": False},
    "adagrad-ball": {"rates": ADAPTIVE, "relative": False},
    "adagrad-full": {"rates": (0.03, 0.1, 0.3), "strength": "", "strengths": (), "relative": False,
                     "fixed": ("--delta", "0.1", "--root-every", "1000"), "most": 100},
    "pa-i": {"rates": (1e-4, 1e-3, 0.01, 0.1, 1)},
    "pa-ii": {"rates": (1e-4, 1e-3, 0.01, 0.1, 1)},
    "arow": {"rate": "--arow-r", "rates": (0.1, 1, 10, 100, 1000)},
    "arow-full": {"rate": "--arow-r", "rates": (0.1, 1, 10, 100, 1000), "most": 100},
    "ftrl": {"rates": (0.1, 0.3, 1, 3, 10), "beside": BETAS,
             "strengths": (0, 0.1, 0.3, 1, 3, 10, 30, 100, 300)},
    "smidas": {"rates": (1, 3, 10, 30)},
}


def usual(a: Algorithm) -> Grid:
    """The grid that follows from the options of an algorithm."""
    strength, strengths = "", ()
    if a.strength in a.options:
        strength, strengths = f"--{a.strength}", RADII if a.strength == "radius" else L1
    elif "threshold" in a.required:
        strength, strengths = "--threshold", THRESHOLDS
    falling = bool(a.schedule)
    rate = "-l" if falling else a.rate and option_name(a.rate)
    return Grid(
        rate, FALLING if falling else (), strength, strengths, relative=falling, needs_count="features" in a.options
    )


GRIDS = {name: replace(usual(a), **OWN.get(name, {})) for name, a in ALGORITHMS.items()}


# A multi-class task is learned one class against all; these learn all classes together as well.
SOFTMAX = {f"{name} --softmax": GRIDS[name] for name in ("l1-ball", "eg-pm", "adagrad", "truncated-gradient")}


@dataclass(frozen=True)
class Data:
    """A data set: where its text is, and how it is learned."""

    name: str
    title: str
    train: str
    test: str = ""  # "": a quarter of train
    rate: float = 1  # about the best one of sgd
    passes: int = 1
    scaled: float = 0  # what a value is divided by; -1: by the root mean square of its feature
    noise: int = 0  # features that are added, -1 or 1 by chance, in every example
    classes: int = 0  # more than two
    only: tuple[str, ...] = ()  # algorithms; (): all
    sample: float = 0.8  # how much of the training part is to fit when settings are chosen


SETS = (
    Data("rcv1", "rcv1: news, is it about companies?", "rcv1.train.libsvm.gz", "rcv1.test.libsvm.gz", rate=100),
    Data("a9a", "a9a: people, do they earn much?", "a9a.train.libsvm.gz", "a9a.test.libsvm.gz", rate=3, passes=5),
    Data("spambase", "spambase: e-mail, is it spam?", "spambase.libsvm.gz", rate=0.3, passes=5, scaled=-1),
    Data("sms_spam", "sms_spam: text messages, is it spam?", "sms_spam.vw.gz", passes=5),
    Data(
        "mnist", "mnist: which digit is it?", "mnist.train.libsvm.gz", "mnist.test.libsvm.gz", scaled=255, classes=10,
        sample=0.2,
    ),
    Data(  # the dense data of Shalev-Shwartz, Tewari 2009, section 4
        "magic04d", "magic04d: gamma ray or not, with 1,000 random features", "magic04.libsvm.gz", rate=0.1,
        scaled=-1, noise=1000,
        only=("gd", "sgd", "truncated-gradient", "l1-ball", "eg-pm", "adagrad", "adagrad-rda", "ftrl", "smidas"),
    ),
)
QUICK_SETS = (
    Data("documents", "documents that are made up", "rcv1.vw"),
    Data("tumours", "breast cancer", "breast_cancer.train.vw", "breast_cancer.test.vw", passes=2, scaled=-1, noise=3),
    Data("digits", "digits", "digits.train.libsvm", "digits.test.libsvm", scaled=16, classes=10),
)


class Refused(Exception):
    """The run ended with an error that belongs to the setting: it diverged, or it is not for several classes."""


@dataclass
class Setting:
    """The options of one learner, and its loss on the validation part."""

    rate: float | None
    strength: float | None
    options: list[str]
    loss: float = math.inf
    nonzeros: int = 0
    line: tuple[float, float] = (1.0, 0.0)  # a, b of a x + b for scores x
    schedule: tuple[str, ...] = ()  # those of the options that say how fast it learns


@dataclass
class Parts:
    """The texts of a data set, and their labels."""

    data: Data
    files: dict[str, Path]
    labels: dict[str, np.ndarray] = field(default_factory=dict)
    features: int = 0


# --- the data -------------------------------------------------------------------------------------


def read(path: Path) -> list[str]:
    try:
        return [line.rstrip("\r\n") for line in read_lines(path)]
    except FileNotFoundError:
        say(f"compare.py: no {path.name} in {path.parent}: --data names the folder of the data sets.\n{WHERE}.")
        sys.exit(66)


def values_of(line: str) -> Iterator[tuple[str, str, str, float]]:
    """The words of a line: the word, its namespace, the feature, its value."""
    space = ""
    for word in line.split()[1:]:
        if word.startswith("|"):
            space = word
            yield word, space, "", 0.0
        else:
            name, _, value = word.partition(":")
            yield word, space, name, float(value or 1)


def scales(lines: list[str]) -> dict[tuple[str, str], float]:
    """The root mean square of each feature over the lines, a missing one being zero."""
    sums: dict[tuple[str, str], float] = {}
    for line in lines:
        for _, space, name, value in values_of(line):
            if name:
                sums[space, name] = sums.get((space, name), 0.0) + value * value
    return {key: math.sqrt(total / len(lines)) for key, total in sums.items()}


def scaled(line: str, by: Callable[[str, str], float]) -> str:
    words = [line.split(None, 1)[0]]
    for word, space, name, value in values_of(line):
        words.append(f"{name}:{value / by(space, name):.6g}" if name else word)
    return " ".join(words)


def noisy(line: str, rng: np.random.Generator, features: int) -> str:
    """The line with random features, -1 or 1, after its own; their indices are above those of any other."""
    signs = np.where(rng.random(features) < 0.5, -1, 1).tolist()
    return line + "".join(f" {1_000_000 + i}:{sign}" for i, sign in enumerate(signs))


def prepare(data: Data, source: Path, folder: Path) -> Parts:
    """Split, shuffle and scale, always in the same way; the texts go into the folder."""
    rng = np.random.default_rng(SEED)

    def shuffled(lines: list[str]) -> list[str]:
        return [lines[i] for i in rng.permutation(len(lines))]

    train = shuffled(read(source / data.train))
    if data.test:
        test = read(source / data.test)
    else:
        test, train = train[: len(train) // 4], train[len(train) // 4 :]
    if data.scaled:
        means = scales(train) if data.scaled < 0 else {}

        def by(space: str, name: str) -> float:
            return means.get((space, name), 1.0) if data.scaled < 0 else data.scaled

        train, test = ([scaled(line, by) for line in lines] for lines in (train, test))
    if data.noise:
        train, test = ([noisy(line, rng, data.noise) for line in lines] for lines in (train, test))
    held = len(train) // 5
    fit = train[held:][: round(data.sample * len(train))]
    form = "vw" if ".vw" in data.train else "libsvm"
    parts = Parts(data, {})
    for name, lines in {"train": train, "test": test, "fit": fit, "valid": train[:held]}.items():
        path = folder / f"{data.name}.{name}.{form}"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        parts.files[name] = path
        parts.labels[name] = np.array([float(line.split(None, 1)[0]) for line in lines])
    counted = vwlite(folder, "train", parts.files["train"], "--algorithm", "sgd", "--no-constant", "-l", "1e-9")
    parts.features = counted["features_in_the_table"]
    return parts


# --- running the program --------------------------------------------------------------------------


def vwlite(folder: Path, *arguments: object) -> dict[str, Any]:
    """Run `vwlite ARGUMENTS` in a process of its own. Refused if that is not possible or diverges.

    The results in its report; "seconds" are those that it computed, all threads together.
    """
    report, words = folder / "report.json", folder / "words.txt"
    typed = [str(a) for a in arguments] + ["--quiet", "--report", str(report)]
    child = os.fork()  # of a program that is loaded already, which saves most of the time of a short run
    if child == 0:
        code = 70
        try:
            for stream in (1, 2):
                os.dup2(os.open(words, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
            code = run(typed)
        finally:
            os._exit(code)
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code in (2, 65):
        raise Refused(words.read_text())
    if code:
        sys.exit(f"compare.py: exit {code} of vwlite {' '.join(typed)}\n{words.read_text()}")
    return {**report_of(report), "seconds": usage.ru_utime + usage.ru_stime}


def loss_of(algorithm: str) -> str:
    return "logistic" if "logistic" in ALGORITHMS[algorithm.split()[0]].losses else "hinge"


def learned(
    parts: Parts, algorithm: str, setting: Setting, on: str, to: str, folder: Path, cached: bool = True
) -> tuple[dict[str, Any], np.ndarray]:
    """Learn one part, predict another: the results of learning, and the scores (or classes)."""
    typed = [parts.files[on], "--algorithm", *algorithm.split(), *setting.options, "--passes", parts.data.passes]
    if "--softmax" not in typed:
        typed += ["--loss", loss_of(algorithm)]
    if parts.data.passes > 1:
        typed.append("--holdout-off")
    if parts.data.classes:
        typed += ["--oaa", parts.data.classes]
    if cached:
        typed += ["--cache-file", folder / f"{parts.data.name}.{on}.cache"]
    model, raw = folder / "model", folder / "predictions.txt"
    results = vwlite(folder, "train", *typed, "-m", model, "--save-weights-only")
    vwlite(folder, "predict", parts.files[to], "-m", model, "--link", "identity", "-p", raw)
    return results, np.fromfile(raw, sep=" ")


# --- measures -------------------------------------------------------------------------------------


def log_loss(scores: np.ndarray, labels: np.ndarray) -> float:
    """The mean of log(1 + exp(-y x)), labels -1 and 1."""
    return float(np.logaddexp(0, -labels * scores).mean())


def auc(scores: np.ndarray, labels: np.ndarray) -> float:
    """The probability that a positive scores above a negative, ties counting half."""
    _, at, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[at]
    positives = int((labels > 0).sum())
    below = ranks[labels > 0].sum() - positives * (positives + 1) / 2
    return float(below / (positives * (len(labels) - positives)))


def error(predictions: np.ndarray, labels: np.ndarray, classes: int = 0) -> float:
    """The share that is wrong; a score of 0 is negative."""
    wrong = predictions != labels if classes else (predictions > 0) != (labels > 0)
    return float(wrong.mean())


def straight_line(scores: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """The a and b for which the log loss of a x + b is least, by Newton's method with halved steps."""
    X = np.column_stack([scores, np.ones_like(scores)])
    w = np.array([1 / (scores.std() + 1e-12), 0.0])

    def value(w: np.ndarray) -> float:
        return log_loss(X @ w, labels) + 1e-9 * float(w @ w)

    for _ in range(100):
        p = 1 / (1 + np.exp(np.clip(labels * (X @ w), -500, 500)))
        slope = -X.T @ (labels * p) / len(labels) + 2e-9 * w
        curve = (X.T * (p * (1 - p))) @ X / len(labels) + 2e-9 * np.eye(2)
        step = np.linalg.solve(curve, slope)
        while value(w - step) > value(w) and np.abs(step).max() > 1e-12:
            step /= 2
        w = w - step
        if np.abs(step).max() <= 1e-9 * (1 + np.abs(w).max()):
            break
    return float(w[0]), float(w[1])


# --- choosing -------------------------------------------------------------------------------------


Schedule = tuple[float | None, tuple[str, ...]]


def schedules(grid: Grid, data: Data) -> list[Schedule]:
    """The learning rates, each with what else it takes."""
    if not grid.rates:
        return [(None, ())]
    if not grid.relative:
        return [(rate, (grid.rate, f"{rate:g}", *beside)) for beside in grid.beside for rate in grid.rates]
    falling = [rate * data.rate for rate in grid.rates]
    found: list[Schedule] = [(rate, (grid.rate, f"{rate:g}")) for rate in falling if grid.falls]
    return found + [(rate / 100, (grid.rate, f"{rate / 100:g}", "--power-t", "0")) for rate in falling]


def search(parts: Parts, algorithm: str, grid: Grid, folder: Path) -> list[Setting]:
    """All learning rates with the weakest and the middle strength; with the others, those that were best there."""
    strengths = list(grid.strengths) or [None]
    anchors = [strengths[0], strengths[len(strengths) // 2]]
    fixed = [*grid.fixed, *(["--features", str(parts.features)] if grid.needs_count else [])]

    def tried(strength: float | None, rates: Iterable[Schedule]) -> list[Setting]:
        typed = [] if strength is None else [grid.strength, f"{strength:g}"]
        settings = [Setting(rate, strength, [*words, *typed, *fixed], schedule=words) for rate, words in rates]
        return evaluate(parts, algorithm, settings, folder)

    every = schedules(grid, parts.data)
    done = {strength: tried(strength, every) for strength in dict.fromkeys(anchors)}
    good = [min(evaluated, key=lambda s: s.loss).schedule for evaluated in done.values() if evaluated]
    kept = [(rate, words) for rate, words in every if words in good]
    for strength in strengths:
        if strength not in done:
            done[strength] = tried(strength, kept)
    return [setting for evaluated in done.values() for setting in evaluated]


def evaluate(parts: Parts, algorithm: str, tried: Iterable[Setting], folder: Path) -> list[Setting]:
    """Learn the part that is to fit with each setting, and see what it is worth on the validation part."""
    labels = parts.labels["valid"]
    done = []
    for setting in tried:
        try:
            results, scores = learned(parts, algorithm, setting, "fit", "valid", folder)
        except Refused:
            continue
        if parts.data.classes:
            setting.loss = error(scores, labels, parts.data.classes)
        else:
            if loss_of(algorithm) == "hinge":
                setting.line = straight_line(scores, labels)
            setting.loss = log_loss(setting.line[0] * scores + setting.line[1], labels)
        setting.nonzeros = results["nonzero_weights"]
        done.append(setting)
    return done


def chosen(evaluated: list[Setting]) -> Setting:
    """The one with the fewest nonzero weights of those that are as good as the best."""
    least = min(s.loss for s in evaluated)
    return min((s for s in evaluated if s.loss <= CLOSE * least), key=lambda s: (s.nonzeros, s.loss))


def class_log_loss(parts: Parts, folder: Path) -> float:
    """The mean of -log(the probability of the right class), of the model that was made last."""
    shares = folder / "predictions.txt"
    vwlite(folder, "predict", parts.files["test"], "-m", folder / "model", "--probabilities", "-p", shares)
    pairs = np.array(re.split(r"[: \n]", shares.read_text().strip()), dtype=float).reshape(-1, parts.data.classes, 2)
    right = pairs[:, :, 0] == parts.labels["test"][:, None]
    return float(-np.log(np.maximum(pairs[:, :, 1][right], 5e-7)).mean())


def measured(parts: Parts, algorithm: str, setting: Setting, folder: Path, cached: bool) -> dict[str, Any]:
    """Learn the whole training part, predict the test part: what the tables and pictures are made of."""
    data, labels = parts.data, parts.labels["test"]
    results, scores = learned(parts, algorithm, setting, "train", "test", folder, cached)
    found: dict[str, Any] = {
        "strength": setting.strength,
        "options": " ".join(setting.options),
        "error": error(scores, labels, data.classes),
        "nonzeros": results["nonzero_weights"],
        "seconds": round(results["seconds"], 3),
    }
    if data.classes:
        if loss_of(algorithm) == "logistic":
            found["log loss"] = class_log_loss(parts, folder)
    else:
        found["log loss"] = log_loss(setting.line[0] * scores + setting.line[1], labels)
        found["auc"] = auc(scores, labels)
    return found


def compare(data: Data, source: Path, folder: Path, grids: dict[str, Grid]) -> dict[str, Any]:
    """One data set: of each algorithm the chosen setting, and the curve over its strengths."""
    parts = prepare(data, source, folder)
    rows: dict[str, Any] = {}
    for algorithm, grid in grids.items():
        if parts.features > grid.most or (algorithm in SOFTMAX and not data.classes):
            continue
        if data.only and algorithm not in data.only:
            continue
        evaluated = search(parts, algorithm, grid, folder)
        if not evaluated:
            say(f"{data.name}: {algorithm}: no setting can be learned: {(folder / 'words.txt').read_text()}")
            continue
        best = chosen(evaluated)
        rates = [s.rate for s in evaluated if s.rate is not None]
        edge = " (its rate is at the end of the grid)" if rates and best.rate in (min(rates), max(rates)) else ""
        curve = []
        for strength in grid.strengths:
            same = [s for s in evaluated if s.strength == strength]
            if same:
                with_rate = min(same, key=lambda s: s.loss)
                curve.append(measured(parts, algorithm, with_rate, folder, cached=True))
        rows[algorithm] = {**measured(parts, algorithm, best, folder, cached=False), "curve": curve}
        say(f"{data.name}: {algorithm}{edge}: {rows[algorithm] | {'curve': len(curve)}}")
    counts = np.unique(parts.labels["test"], return_counts=True)[1]
    constant = 1 - float(counts.max() / counts.sum())  # the error of the commonest label
    for path in folder.glob(f"{data.name}.*"):
        path.unlink()
    return {
        "title": data.title,
        "passes": data.passes,
        "classes": data.classes or 2,
        "train": len(parts.labels["train"]),
        "test": len(parts.labels["test"]),
        "features": parts.features,
        "constant": constant,
        "algorithms": rows,
    }


# --- what comes out -------------------------------------------------------------------------------


def table_of(found: dict[str, Any]) -> str:
    """The rows of one data set, the fewest errors first."""
    several = found["classes"] > 2
    titles = ["`--algorithm`", "test error", "log loss", *([] if several else ["AUC"]), "nonzeros", "seconds", "chosen"]
    rows = []
    ranked = sorted(found["algorithms"].items(), key=lambda item: (item[1]["error"], item[1]["nonzeros"]))
    for name, row in ranked:
        star = "\\*" if loss_of(name) == "hinge" else ""
        loss = f"{row['log loss']:.4f}{star}" if "log loss" in row else ""
        cells = [f"`{name}`", f"{100 * row['error']:.2f} %", loss]
        cells += [] if several else [f"{row['auc']:.4f}"]
        cells += [f"{row['nonzeros']:,}", f"{row['seconds']:.2f}", f"`{row['options']}`" if row["options"] else ""]
        rows.append(cells)
    return table(titles, rows, "l" + "r" * (len(titles) - 2) + "l")


def smallest(results: dict[str, Any]) -> str:
    """The fewest nonzero weights of each algorithm with at most one point more errors than the best of all has."""
    sets = results["sets"]
    cells: dict[str, dict[str, int]] = {}
    for name, found in sets.items():
        tried = {a: [row, *row["curve"]] for a, row in found["algorithms"].items()}
        allowed = min(run["error"] for runs in tried.values() for run in runs) + 0.01
        for algorithm, runs in tried.items():
            good = [run["nonzeros"] for run in runs if run["error"] <= allowed]
            cells.setdefault(algorithm, {}).update({name: min(good)} if good else {})
    least = {name: min(row[name] for row in cells.values() if name in row) for name in sets}
    lines = []
    for algorithm, row in cells.items():
        shown = {name: f"{row[name]:,}" if name in row else "-" for name in sets}
        bold = [f"**{text}**" if row.get(name) == least[name] else text for name, text in shown.items()]
        lines.append([f"`{algorithm}`", *bold])
    return table(["`--algorithm`", *sets], lines, "lr")


def document(results: dict[str, Any]) -> str:
    """The tables and pictures for RESULTS.md, from what compare.json holds."""
    parts = ["The fewest nonzero weights with at most one point more test error than the best of all:"]
    parts.append(smallest(results))
    for name, found in results["sets"].items():
        passes = f"{found['passes']} passes" if found["passes"] > 1 else "1 pass"
        facts = f"{found['train']:,} examples to train, {found['test']:,} to test, {found['features']:,} features"
        parts += [f"**{found['title']}** {facts}, {passes}.", table_of(found)]
        parts.append(f"![{name}: test error over nonzero weights](compare-{name}.png)")
    parts += [f"{name} is left out: {why}." for name, why in results["left out"].items()]
    parts.append(results["made"])
    return "\n\n".join(parts)


FAMILIES = {
    "gradient descent": ("gd", "sgd", "truncated-gradient", "rounding", "l1-subgradient"),
    "projected": ("l1-ball", "adagrad-ball", "simplex"),
    "multiplicative, and between": ("eg", "eg-pm", "smidas"),
    "a rate for each feature": ("adagrad", "adagrad-rda", "adagrad-full", "ftrl"),
    "margin": ("pa", "pa-i", "pa-ii", "arow", "arow-full"),
}
STYLES = (("#1f77b4", "o"), ("#d62728", "s"), ("#2ca02c", "^"), ("#9467bd", "D"), ("#ff7f0e", "v"))


def points(row: dict[str, Any]) -> tuple[list[float], list[float]]:
    """Nonzero weights and errors along the strengths; those of models with nothing but the constant are left out."""
    curve = [p for p in row["curve"] or [row] if p["nonzeros"]]
    return [p["nonzeros"] for p in curve], [100 * p["error"] for p in curve]


def draw(plt: Any, found: dict[str, Any], path: Path) -> None:
    """Test error over nonzero weights: a panel for each family, all others in grey behind it."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    rows = found["algorithms"]
    curves = {algorithm: points(row) for algorithm, row in rows.items()}
    best = min(min(errors) for _, errors in curves.values() if errors)
    top = min(3 * best, 102 * found["constant"])
    families = {**FAMILIES, **({"all classes together": tuple(SOFTMAX)} if found["classes"] > 2 else {})}
    columns = len(families) // 2 + 1
    size = (4 * columns, 7.2)
    figure, panels = plt.subplots(2, columns, figsize=size, sharex=True, sharey=True, layout="constrained")
    for panel in panels.flat[len(families) + 1 :]:
        panel.remove()
    for panel, (family, members) in zip(panels.flat, families.items(), strict=False):
        for algorithm, (counts, errors) in curves.items():
            if algorithm not in members:
                panel.plot(counts, errors, color="0.85", linewidth=1, marker=".", markersize=3, zorder=1)
        for algorithm, (colour, marker) in zip(members, STYLES, strict=False):
            if algorithm in curves:
                panel.plot(*curves[algorithm], color=colour, marker=marker, markersize=5, label=algorithm, zorder=2)
        panel.set_title(family, fontsize=11)
    last = panels.flat[len(families)]
    # What no other point beats in both: fewer errors, fewer weights.
    everything = sorted((n, e, a) for a, curve in curves.items() for n, e in zip(*curve, strict=True))
    leftmost = min(n for n, e, _ in everything if e <= top)
    front: list[tuple[float, float, str]] = []
    for n, e, algorithm in everything:
        if not front or e < front[-1][1]:
            front.append((n, e, algorithm))
    for counts, errors in curves.values():
        last.plot(counts, errors, color="0.85", linewidth=0, marker=".", markersize=4, zorder=1)
    last.step([n for n, _, _ in front], [e for _, e, _ in front], where="post", color="0.3", linewidth=1, zorder=2)
    colours = plt.get_cmap("tab10")
    for i, algorithm in enumerate(dict.fromkeys(a for _, e, a in front if e <= top)):
        its = [(n, e) for n, e, a in front if a == algorithm]
        last.plot(*zip(*its, strict=True), "o", color=colours(i), label=algorithm, zorder=3)
    last.set_title("the best of all", fontsize=11)
    for panel in figure.axes:
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if found["features"] < 1000 else (1,), numticks=12))
        panel.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,g}"))
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.set_ylim(0.9 * best, top)
        panel.yaxis.set_major_locator(MaxNLocator(7))
        panel.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g} %"))
        panel.grid(True, alpha=0.3)
        panel.set_xlim(0.7 * leftmost, 1.4 * max(n for n, _, _ in everything))
        if panel.get_legend_handles_labels()[0]:
            panel.legend(frameon=True, framealpha=0.9, fontsize=9, loc="best")
    figure.suptitle(found["title"])
    figure.supxlabel("nonzero weights")
    figure.supylabel("test error")
    save_picture(figure, path, 100)


def draw_all(results: dict[str, Any], folder: Path) -> None:
    if plt := pyplot():
        for name, found in results["sets"].items():
            draw(plt, found, folder / f"compare-{name}.png")


def made() -> str:
    return made_by("vwlite", "numpy", note=f"; seed {SEED}.")


def options_with_sets(doc: str | None, kept: str) -> argparse.ArgumentParser:
    """Those of this program and of claims.py. kept: the file of the results."""
    parser = options_of(doc, quick="small data and grids: does it work?", data=True)
    parser.add_argument("--only", metavar="NAME", help=f"this data set; the others stay in {kept} as they are")
    parser.add_argument("--out", type=Path, default=HERE, help=f"where {kept} and pictures go")
    return parser


def main() -> None:
    parser = options_with_sets(__doc__, "compare.json")
    parser.add_argument("--draw", action="store_true", help="only draw the pictures anew, from compare.json")
    typed = parser.parse_args()
    kept = typed.out / "compare.json"
    results = read_results(kept, {"sets": {}, "left out": {}}, typed.draw or typed.only)
    if not typed.draw:
        grids = GRIDS | SOFTMAX
        if typed.quick:
            grids = {algorithm: small(grid) for algorithm, grid in grids.items()}
        with work_folder() as name:
            folder = Path(name)
            source = quick_data(folder) if typed.quick else typed.data
            all_sets = QUICK_SETS if typed.quick else SETS
            for data in all_sets:
                if typed.only in (None, data.name):
                    results["sets"].pop(data.name, None)
                    results["left out"].pop(data.name, None)
                    results["sets"][data.name] = compare(data, source, folder, grids)
                    results["sets"] = in_order(results["sets"], [d.name for d in all_sets])
                    results["made"] = made()
                    write_records(kept, results, depth=3)  # an algorithm with its curve
        print(document(results))
    draw_all(results, typed.out)


def small(grid: Grid) -> Grid:
    """The rate in the middle, and two strengths."""
    middle = len(grid.rates) // 2
    return replace(grid, rates=grid.rates[middle : middle + 1], strengths=grid.strengths[:2])


def quick_data(folder: Path) -> Path:
    """A folder with the small data sets of this repository, and made-up documents."""
    source = folder / "quick"
    shutil.copytree(ROOT / "data", source)
    generate("rcv1", source / "rcv1.vw", "--examples", 300)
    return source


if __name__ == "__main__":
    main()
