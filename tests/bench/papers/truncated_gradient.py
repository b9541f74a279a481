"""Langford, Li, Zhang. Sparse Online Learning via Truncated Gradient. 2009. Figures 1 and 2, and K and theta.

The paper learns squared loss, in several passes. Of its data sets only zoo and the private Big_Ads are not here; of ad
there are 998 of 3,279 examples, spam is spambase and wdbc the breast cancer data of this repository. Each but rcv1 is
taken as it is and with 1,000 rare random features. Where columns are numbers of different scales they are divided by
the root of their mean square; the targets of regression have mean 0 and variance 1.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from compare import ROOT, auc

from papers.data import SEED, Missing, Sparse, lines_of, load, parse_names, random_bits
from papers.figures import NOT_DONE, Figure, Finding, Panel, Series, finding, middle, short, spread
from papers.online import Bench
from vwlite.core.solve.coordinate import CoordinateDescent
from vwlite.core.solve.problem import Problem

FILES = {
    "ad": "ad_998.libsvm.gz",
    "crx": "crx.vw.gz",
    "krvskp": "krvskp.vw.gz",
    "housing": "housing.libsvm.gz",
    "magic04": "magic04.libsvm.gz",
    "mushroom": "mushroom.vw.gz",
    "spam": "spambase.libsvm.gz",
    "wbc": "wbc.libsvm.gz",
    "wdbc": "",
    "wpbc": "wpbc.libsvm.gz",
    "zoo": "zoo.libsvm.gz",
    "rcv1": "rcv1.train.libsvm.gz",
}
NUMBERS = ("ad", "crx", "housing", "magic04", "spam", "wbc", "wdbc", "wpbc")  # columns have scales of their own
PASSES = 5
LONG = 20  # passes of figure 1
DECAYS: tuple[list[object], ...] = (
    ["--power-t", "0.5"],
    ["--power-t", "0", "--decay-learning-rate", "0.8"],
)  # with every example, or from pass to pass
FOLDS = 3
RATES = (0.1, 0.3, 1, 3)  # times 1 / mean ||x||^2
RATES_OF_LONG = (0.03, 0.1, 0.3)
GRAVITIES = (0.0, 1e-4, 3e-4, 1e-3, 0.01, 0.03, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
ALLOWED = 0.01  # of accuracy, or of the squared loss relative to what it is
WHOLE = 200  # times the passes is a multiple of every K: shrinking comes last
ROUNDED_AT = tuple(np.geomspace(1e-5, 0.5, 25).tolist())  # sizes below which rounding drops a weight
LIMITS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass
class Task:
    """A data set, split and scaled."""

    name: str
    train: Sparse
    test: Sparse
    regression: bool

    @property
    def rate(self) -> float:
        """A learning rate that is about as large as the data bear."""
        return len(self.train) / float((self.train.values**2).sum() + len(self.train))

    @property
    def features(self) -> int:
        return len(np.unique(self.train.indices))


def task(folder: Path, name: str, extra: int, most: int | None = None) -> Task:
    """Raise Missing if the file does not exist."""
    if name == "wdbc":
        parts = [lines_of(ROOT / "data", f"breast_cancer.{part}.vw") for part in ("train", "test")]
        data = parse_names(parts[0] + parts[1]).shuffled()
    else:
        data = load(folder, FILES[name]).shuffled()
    if most:
        data = data.take(np.arange(min(most, len(data))))
    held = len(data) // 4
    if name in NUMBERS:
        data = data.scaled_to_unit_squares(data.take(np.arange(held, len(data))))
    if extra:
        data = data.beside(random_bits(len(data), extra, 0.05, np.random.default_rng(SEED)))
    regression = len(np.unique(data.labels)) > 2
    test, train = data.take(np.arange(held)), data.take(np.arange(held, len(data)))
    if regression:
        mean, size = train.labels.mean(), train.labels.std()
        test, train = test.with_labels((test.labels - mean) / size), train.with_labels((train.labels - mean) / size)
    return Task(name, train, test, regression)


def quality(scores: np.ndarray, labels: np.ndarray, regression: bool) -> float:
    """Larger is better: accuracy, or minus the mean squared error."""
    if regression:
        return -float(np.mean((scores - labels) ** 2))
    return float(np.mean((scores > 0) == (labels > 0)))


def good_enough(value: float, base: float, regression: bool) -> bool:
    return value >= base * (1 + ALLOWED) if regression else value >= base - ALLOWED


def fewest(tried: Iterable[tuple[Any, float, float]], regression: bool) -> tuple[Any, Any]:
    """Of (setting, quality, nonzeros): the best setting without shrinking (gravity 0, the setting's last part), and the
    one with the fewest weights that is as good up to what is allowed."""
    tried = list(tried)
    plain = max((t for t in tried if t[0][-1] == 0), key=lambda t: t[1])
    enough = [t for t in tried if good_enough(t[1], plain[1], regression)]
    return plain[0], min(enough, key=lambda t: (t[2], -t[1]))[0]


def options_of(rate: float, gravity: float, period: int = 1, threshold: float | None = None) -> list[object]:
    typed: list[object] = ["--algorithm", "truncated-gradient", "-l", f"{rate:.6g}", "--l1", f"{gravity:.6g}"]
    typed += ["--period", period]
    return typed if threshold is None else [*typed, "--threshold", f"{threshold:.6g}"]


def reduced(found: Task, folder: Path, settings: Iterable[tuple[float, list[object], float]]) -> tuple[float, float]:
    """The share of features that is left at 1 % loss, and the AUC over that without shrinking.

    settings: rate, its decay, and gravity.
    """
    bench = Bench(folder)
    fold = np.random.default_rng(SEED).permutation(len(found.train)) % FOLDS
    passes = 1 if found.name == "rcv1" else LONG
    parts = [found.train.take(np.flatnonzero(fold == k)) for k in range(FOLDS if passes > 1 else 1)]
    for k in range(len(parts)):
        bench.add(f"fit{k}", found.train.take(np.flatnonzero(fold != k)))
    tried = []
    for rate, decay, gravity in settings:
        runs = []
        for k in range(len(parts)):
            run = bench.run(f"fit{k}", parts[k], *options_of(rate * found.rate, gravity), *decay, passes=passes)
            if run is None:
                break
            runs.append((quality(run.scores, parts[k].labels, found.regression), run.nonzeros))
        else:
            means = np.mean(runs, axis=0)
            tried.append(((rate, decay, gravity), float(means[0]), float(means[1])))
    plain, sparse = fewest(tried, found.regression)
    bench.add("train", found.train)
    results = [
        bench.run("train", found.test, *options_of(rate * found.rate, gravity), *decay, passes=passes)
        for rate, decay, gravity in (plain, sparse)
    ]
    bench.close()
    assert results[0] and results[1]
    ratio = 1.0
    if not found.regression:
        ratio = auc(results[1].scores, found.test.labels) / auc(results[0].scores, found.test.labels)
    return results[1].nonzeros / found.features, ratio


def figure1(at: Any) -> Figure:
    left: dict[str, dict[str, float]] = {"base data": {}, "1000 extra": {}}
    ratios: dict[str, dict[str, float]] = {"base data": {}, "1000 extra": {}}
    missing = []
    settings = list(product(at.some(RATES_OF_LONG), DECAYS, at.some(GRAVITIES)))
    for name in FILES:
        for title, extra in (("base data", 0), ("1000 extra", 1000)):
            if name == "rcv1" and extra:
                continue
            try:
                found = task(at.data, name, extra, at.few or (6_000 if name in ("magic04", "rcv1") else None))
            except Missing:
                missing.append(name)
                break
            left[title][name], ratio = reduced(found, at.folder, settings)
            if not found.regression:
                ratios[title][name] = ratio
    small = left["1000 extra"]
    cut = [v <= 0.1 for name, v in small.items() if name != "ad"]
    base = left["base data"]
    fewer = sum(v < 1 for v in base.values())
    every = [*ratios["base data"].values(), *ratios["1000 extra"].values()]
    near = sum(r > 0.98 for r in every)
    each = ", ".join(f"{k} {100 * (1 - v):.0f} %" for k, v in small.items())
    findings = [
        finding(
            "with 1,000 random features, more than 90 % of the features go in every set but `ad` (71 %)",
            f"{sum(cut)} of {len(cut)} sets: {each}", *cut,
        ),
        finding(
            "without them, some of the less useful features go too, at the same performance",
            f"{fewer} of {len(base)} sets; left: " + ", ".join(f"{k} {v:.2f}" for k, v in base.items()),
            *(v < 1 for v in base.values()),
        ),
        finding(
            "ratios of AUC with and without are often above 98 %, sometimes above 1",
            f"{near} of {len(every)} above 0.98, {sum(r > 1 for r in every)} above 1, least {min(every):.3f}",
            near > len(every) / 2, any(r > 1 for r in every),
        ),
        Finding("Big_Ads: 3e9 features to 24e6 at 0.9 % more errors", "private data", NOT_DONE),
        *(Finding(f"`{name}`", "not among the data here", NOT_DONE) for name in missing),
    ]
    panels = [
        Panel("features left at 1 % loss", "data set", "share of the features",
              [Series(title, list(v), list(v.values())) for title, v in left.items()], "bars"),
        Panel("ratio of AUC with and without", "data set", "ratio",
              [Series(title, list(v), list(v.values())) for title, v in ratios.items()], "bars"),
    ]
    return Figure(
        "Truncated gradient, figure 1: features left",
        f"{LONG} passes (rcv1: 1), {FOLDS} folds instead of 10 to choose the rate, its decay (with the root of t, or "
        "by 0.8 after each pass) and gravity, a quarter held out as the test; K = 1, theta = inf. 998 of 3,279 "
        "examples of ad, 6,000 of magic04 and of rcv1.",
        findings, panels,
    )


# --- AUC over the number of features ----------------------------------------------------------------


@dataclass
class Point:
    """A model: its number of features, and its AUC on the validation and on the test part."""

    nonzeros: int
    valid: float
    test: float


def front(points: Iterable[Point], limits: Iterable[int] = LIMITS) -> tuple[list[int], list[float]]:
    """For each limit the test AUC of the best model on the validation part with at most N features."""
    points = list(points)
    xs, ys = [], []
    for limit in limits:
        allowed = [p for p in points if 0 < p.nonzeros <= limit]
        if allowed:
            best = max(allowed, key=lambda p: p.valid)
            xs.append(limit)
            ys.append(best.test)
    return xs, ys


def split(found: Task, bench: Bench) -> tuple[np.ndarray, Sparse, Sparse]:
    """Which of the rest are the validation part; what is fit, the text "fit"; the rest, validation and then test
    part."""
    order = np.random.default_rng(SEED).permutation(len(found.train))
    held = len(order) // 4
    count = len(order) - held
    fit = found.train.take(order[held:][: count // WHOLE * WHOLE or count])
    valid = found.train.take(order[:held])
    rest = Sparse(
        np.concatenate([valid.labels, found.test.labels]),
        np.concatenate([valid.begins, found.test.begins[1:] + valid.begins[-1]]),
        np.concatenate([valid.indices, found.test.indices]),
        np.concatenate([valid.values, found.test.values]),
    )
    bench.add("fit", fit)
    return np.arange(len(rest)) < held, fit, rest


def points_of(bench: Bench, rest: Sparse, valid: np.ndarray, many: Iterable[list[object]]) -> list[Point]:
    found = []
    for options in many:
        run = bench.run("fit", rest, *options, passes=PASSES)
        if run:
            aucs = [auc(run.scores[part], rest.labels[part]) for part in (valid, ~valid)]
            found.append(Point(run.nonzeros, *aucs))
    return found


def lasso(fit: Sparse, rest: Sparse, valid: np.ndarray, count: int) -> list[Point]:
    """Models along the path of the batch Lasso, exact up to a gap of 1e-4."""
    rows = fit.rows()
    keys = np.asarray(rows.keys)
    problem = Problem(rows, "squared", l1=0.0)
    largest = problem.l1_max()
    found = []
    for l1 in np.geomspace(0.95 * largest, 1e-4 * largest, count):
        problem.set_l1(l1)
        solver = CoordinateDescent(problem)
        for _ in range(500):
            solver.step()
            if solver.done or problem.gap <= 1e-4 * problem.objective:
                break
        w = np.zeros(keys[-1] + 1)
        w[keys] = problem.w
        scores = rest.scores(w, problem.b)
        aucs = [auc(scores[part], rest.labels[part]) for part in (valid, ~valid)]
        found.append(Point(problem.nonzeros, *aucs))
    return found


def strengths(count: int) -> list[float]:
    """From where few features go to where all do."""
    return np.geomspace(0.01, 3, count).tolist()


def kinds(rate: float, strength: float) -> dict[str, list[object]]:
    """The online algorithms of the figure at a strength."""
    learning = ["-l", f"{rate:.6g}"]
    return {
        "Trunc. Grad. (theta = inf)": options_of(rate, strength, 10),
        "Trunc. Grad. (theta = g)": options_of(rate, strength, 10, strength),
        "Rounding": ["--algorithm", "rounding", "--period", 10, "--threshold", f"{strength / 10:.6g}", *learning],
        "Sub-gradient": ["--algorithm", "l1-subgradient", "--l1", f"{strength / 10:.6g}", "--power-t", "0",
                         "--round-at-end", "0.01", "-l", f"{rate / 30:.6g}"],
    }


PAIR = ("spam", "ad")


def figure2(at: Any) -> Figure:
    panels, ahead, alike, robust, close = [], [], [], [], []
    for name in PAIR:
        found = task(at.data, name, 1000, at.few)
        bench = Bench(at.folder)
        valid, fit, rest = split(found, bench)
        points: dict[str, list[Point]] = {}
        for rate in at.some(RATES):
            for strength in at.some(strengths(16)):
                for kind, options in kinds(rate * found.rate, strength).items():
                    points.setdefault(kind, []).extend(points_of(bench, rest, valid, [options]))
        bench.close()
        points["Lasso"] = lasso(fit, rest, valid, 8 if at.quick else 30)
        curves = {kind: front(some) for kind, some in points.items()}
        panels.append(
            Panel(f"{name} with 1,000 random features", "number of features", "AUC",
                  [Series(kind, xs, ys, kind == "Lasso") for kind, (xs, ys) in curves.items()], log_x=True, low=0.3)
        )
        tables = {kind: dict(zip(*curve, strict=True)) for kind, curve in curves.items()}
        inf, g, rounding, _, batch = tables.values()
        for limit, value in inf.items():
            others = [t[limit] for t in list(tables.values())[1:-1] if limit in t]
            ahead += [value - max(others)] if others else []
            if limit in g and limit in rounding:
                alike.append(g[limit] - rounding[limit])
            if limit in batch:
                (close if limit <= 20 else robust).append(value - batch[limit])
    findings = [
        finding(
            "truncated gradient (theta = inf) is competitive with the other online algorithms on every set, and "
            "clearly ahead on some",
            f"AUC against the best other one at the same limit: {spread(ahead)}",
            middle(ahead) > -0.01, min(ahead, default=0) > -0.03,
        ),
        finding(
            "with theta = g it is like rounding, sometimes better",
            f"AUC against rounding: {spread(alike)}",
            abs(middle(alike)) <= 0.02, max(alike, default=0) > 0,
        ),
        finding(
            "truncated gradient is similar to the Lasso where very few features are allowed",
            f"at most 20 features: AUC against the Lasso {spread(close)}",
            abs(middle(close)) <= 0.02,
        ),
        finding(
            "where many are allowed, the Lasso overfits and is worse",
            f"above 20 features: AUC against the Lasso {spread(robust)}",
            middle(robust) > 0.002,
        ),
    ]
    return Figure(
        "Truncated gradient, figure 2: AUC over features",
        f"spambase, and 998 of the 3,279 examples of `ad`; {PASSES} passes, K = 10; of all rates "
        "and strengths with at most so many features the one with the best AUC on a validation part, drawn is the "
        "test AUC. The Lasso is `cd` to a gap of 1e-4. The subgradient method shrinks in every step, and rounds at "
        "the end.",
        findings, panels,
    )


def figure3(at: Any) -> Figure:
    """K and theta: the extended version of the paper has them."""
    periods = (1, 10, 100)
    found = task(at.data, "spam", 1000, at.few)
    bench = Bench(at.folder)
    valid, _, rest = split(found, bench)
    by_k: dict[str, list[Point]] = {}
    by_theta: dict[str, list[Point]] = {}
    for rate in at.some(RATES[1:3]):
        scaled = rate * found.rate
        for k, theta in product(periods, at.some(ROUNDED_AT)):
            rounding = ["--algorithm", "rounding", "--period", k, "--threshold", f"{theta:.6g}", "-l", f"{scaled:.6g}"]
            by_k.setdefault(f"rounding, K = {k}", []).extend(points_of(bench, rest, valid, [rounding]))
        for strength in at.some(strengths(11)):
            for k in periods:
                options = options_of(scaled, strength, k)
                by_k.setdefault(f"truncated gradient, K = {k}", []).extend(points_of(bench, rest, valid, [options]))
            for theta in ("g", 0.01, 0.1, 1.0, "inf"):
                limit = strength if theta == "g" else None if theta == "inf" else float(theta)
                options = options_of(scaled, strength, 10, limit)
                by_theta.setdefault(f"theta = {theta}", []).extend(points_of(bench, rest, valid, [options]))
    bench.close()
    ks = {kind: front(some) for kind, some in by_k.items()}
    thetas = {kind: front(some) for kind, some in by_theta.items()}

    def area(curve: tuple[list[int], list[float]]) -> float:
        """The mean AUC over the limits; without a model, that of chance."""
        return float(np.mean([dict(zip(*curve, strict=True)).get(limit, 0.5) for limit in LIMITS]))

    tg = {k: area(ks[f"truncated gradient, K = {k}"]) for k in periods}
    rounded = {k: area(ks[f"rounding, K = {k}"]) for k in periods}
    of_theta = {name: area(curve) for name, curve in thetas.items()}
    findings = [
        finding(
            "K = 10 works better than K = 1",
            "mean AUC over the limits, truncated gradient: " + ", ".join(f"K = {k} {v:.4f}" for k, v in tg.items()),
            tg[10] > tg[1],
        ),
        finding(
            "that is especially important for rounding",
            "rounding: " + ", ".join(f"K = {k} {v:.4f}" for k, v in rounded.items()),
            rounded[10] > rounded[1], rounded[10] - rounded[1] > tg[10] - tg[1],
        ),
        finding(
            "theta = inf is generally the better choice, theta = g is like rounding",
            ", ".join(f"{name} {v:.4f}" for name, v in of_theta.items())
            + f"; rounding with K = 10 {short(rounded[10])}",
            of_theta["theta = inf"] >= max(of_theta.values()) - 0.005,
            abs(of_theta["theta = g"] - rounded[10]) <= 0.02,
        ),
    ]
    common = {"x": "number of features", "y": "AUC", "log_x": True, "low": 0.3}
    of_kind = [
        Panel(f"{kind}: the period", series=[Series(f"K = {k}", *ks[f"{kind}, K = {k}"]) for k in periods], **common)
        for kind in ("truncated gradient", "rounding")
    ]
    panel = Panel("the threshold, K = 10", series=[Series(name, *curve) for name, curve in thetas.items()], **common)
    return Figure(
        "Truncated gradient, K and theta",
        f"spambase with 1,000 random features, {PASSES} passes, chosen as in figure 2; the threshold of rounding is "
        f"tuned for each K, from {ROUNDED_AT[0]:g} to {ROUNDED_AT[-1]:g}. The text at hand only says what K = 10 is "
        "for; the figures are in the paper's extended version.",
        findings, [*of_kind, panel], columns=3,
    )
