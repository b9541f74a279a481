"""Drawn data whose best possible loss is known: how far the default is from it, beside learners by cross validation.

    make auto ONLY=stress      writes the table of AUTO.md

A cell is a kind of data, a loss and a number of rows. Losses are expected ones: of predictions of fresh rows by the
means of their labels. The excess is the loss over the Bayes loss, in units of that of the best constant.
"""


import warnings
from collections.abc import Callable, Iterator
from functools import partial
from statistics import fmean
from typing import NamedTuple

import numpy as np
from harness import say, table, verdict
from sklearn.linear_model import LogisticRegressionCV, PoissonRegressor, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from vwlite import SparseClassifier, SparseRegressor

FRESH = 4000  # rows
FEWEST = 8  # of a class: with fewer the loss is progressive
NOISE = 0.5  # standard deviation of labels of the squared loss
LARGE = 5000  # rows from which one draw is enough
Mean = Callable[[np.ndarray], np.ndarray]  # of the labels, from scores

LOSSES: dict[str, Mean] = {"logistic": lambda s: 1 / (1 + np.exp(-s)), "squared": lambda s: s, "poisson": np.exp}


class Drawn(NamedTuple):
    """Rows, and the scores whose means the labels have."""

    x: np.ndarray
    score: np.ndarray


Kind = Callable[[np.random.Generator, int], Drawn]


def of_categories(rng: np.random.Generator, n: int, *, kinds: int, ordered: bool = False) -> Drawn:
    kind = rng.integers(0, kinds, n)
    if ordered:
        kind.sort()
    return Drawn(np.eye(kinds)[kind], 2 * np.sin(1 + 2.5 * np.arange(kinds))[kind])


def of_ratings(rng: np.random.Generator, n: int, *, bent: bool) -> Drawn:
    """From 1 to 5; bent: the worst and the best are alike, as no line says."""
    x = rng.integers(1, 6, n)
    return Drawn(x[:, None] * 1.0, np.abs(x - 3.0) - 1 if bent else 0.8 * (x - 3.0))


def of_numbers(rng: np.random.Generator, n: int) -> Drawn:
    x = rng.normal(size=(n, 8))
    return Drawn(x, x @ np.array([1, -0.7, 0.5, 0.2, 0, 0, 0, 0]))


def of_words(rng: np.random.Generator, n: int) -> Drawn:
    """Twelve words of 300, frequent and rare ones."""
    p = 1 / np.arange(1, 301)
    words = rng.choice(300, (n, 12), p=p / p.sum())
    x = np.zeros((n, 300))
    np.add.at(x, (np.arange(n)[:, None], words), 1.0)
    return Drawn(x, 0.6 * (x @ np.sin(2.5 * np.arange(300))))


def of_noise(rng: np.random.Generator, n: int) -> Drawn:
    return Drawn(rng.normal(size=(n, 8)), np.zeros(n))


KINDS: dict[str, Kind] = {
    **{f"{k} categories": partial(of_categories, kinds=k) for k in (2, 5, 20, 100)},
    **{f"{k} categories, sorted": partial(of_categories, kinds=k, ordered=True) for k in (2, 5, 20, 100)},
    "ratings": partial(of_ratings, bent=False),
    "ratings, bent": partial(of_ratings, bent=True),
    "numbers": of_numbers,
    "numbers, a bootstrap sample": of_numbers,
    "numbers, a class ten times": of_numbers,
    "words": of_words,
    "noise": of_noise,
}
WITHOUT = ("ratings, bent", "noise")  # no linear model is better than the constant
ROWS = (16, 60, 300, 2000, 20_000)


# --- losses ---------------------------------------------------------------------------------------


def expected_loss(loss: str, mean: np.ndarray, true: np.ndarray, weight: np.ndarray) -> float:
    """Of predicted means, where labels have the true ones; without the noise of the squared loss."""
    if loss == "squared":
        each = (mean - true) ** 2
    elif loss == "poisson":
        each = mean - true * np.log(mean)
    else:
        mean = np.clip(mean, 1e-12, 1 - 1e-12)
        each = -true * np.log(mean) - (1 - true) * np.log(1 - mean)
    return float(np.average(each, weights=weight))


def loss_of(loss: str, mean: np.ndarray, y: np.ndarray) -> float:
    return expected_loss(loss, mean, y, np.ones(len(y)))


# --- learners: from rows, labels and fresh rows, the means of both ----------------------------------


def ours(loss: str, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    model = SparseClassifier() if loss == "logistic" else SparseRegressor(loss=loss)
    model.fit(x, y)
    if loss == "logistic":
        return model.predict_proba(x)[:, 1], model.predict_proba(z)[:, 1]
    return model.predict(x), model.predict(z)


def peers(loss: str, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """LogisticRegressionCV, RidgeCV, or PoissonRegressor in a search by five folds; of standardized columns."""
    if loss == "squared":
        model = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 4, 15))).fit(x, y)
        return model.predict(x), model.predict(z)
    if loss == "poisson":
        search = GridSearchCV(PoissonRegressor(max_iter=1000), {"alpha": [1e-4, 1e-3, 1e-2, 0.1, 1, 10]}, cv=5)
        model = make_pipeline(StandardScaler(), search).fit(x, y)
        return np.maximum(model.predict(x), 1e-9), np.maximum(model.predict(z), 1e-9)
    found = LogisticRegressionCV(cv=5, max_iter=1000, scoring="neg_log_loss")
    model = make_pipeline(StandardScaler(), found).fit(x, y)
    return model.predict_proba(x)[:, 1], model.predict_proba(z)[:, 1]


LEARNERS = {"auto": ours, "LogisticRegressionCV, RidgeCV, PoissonRegressor": peers}


# --- cells ----------------------------------------------------------------------------------------


class Found(NamedTuple):
    """Of one model: its excess over the Bayes loss on fresh rows, that of the best constant, and that of the constant
    of its own rows; whether it is worse than that on its own rows."""

    excess: float
    of_constant: float
    of_own: float
    worse_on_own: bool


def cells(quick: bool) -> Iterator[tuple[str, str, int]]:
    for kind in KINDS:
        for n in (60, 300) if quick else ROWS:
            for loss in LOSSES:
                if (n > 16 or not kind.startswith("100")) and ("class" not in kind or loss == "logistic"):
                    yield kind, loss, n


def drawn(kind: str, loss: str, n: int, seed: int) -> tuple[np.ndarray, ...] | None:
    """Rows to learn, their labels; fresh rows, the means of their labels, their weights. None: too few of a class."""
    rng = np.random.default_rng([seed, n, list(KINDS).index(kind), list(LOSSES).index(loss)])
    x, score = KINDS[kind](rng, n)
    shift = -3.0 if "class" in kind else 0.0
    mean = LOSSES[loss](score + shift)
    if loss == "logistic":
        y = (rng.random(n) < mean) * 1.0
        if min(y.sum(), n - y.sum()) < FEWEST:
            return None
    else:
        y = rng.poisson(mean) * 1.0 if loss == "poisson" else mean + NOISE * rng.normal(size=n)
    fresh = KINDS[kind](rng, FRESH)
    true = LOSSES[loss](fresh.score + shift)
    weight = np.ones(FRESH)
    if "bootstrap" in kind:
        rows = rng.integers(0, n, n)
        x, y = x[rows], y[rows]
    elif "class" in kind:
        rows = rng.permutation(np.r_[np.arange(n), np.repeat(np.flatnonzero(y == 1), 9)])
        x, y = x[rows], y[rows]
        weight = 1 + 9 * true  # so often is a row there
        true = 10 * true / weight
    return (x, y, fresh.x, true, weight) if np.ptp(y) else None


def judged(kind: str, loss: str, n: int, seed: int) -> dict[str, Found] | None:
    data = drawn(kind, loss, n, seed)
    if data is None:
        return None
    x, y, z, true, weight = data
    bayes = expected_loss(loss, true, true, weight)
    constant = np.full(len(z), y.mean())
    best = np.full(len(z), np.average(true, weights=weight))
    of_best, of_own = (expected_loss(loss, p, true, weight) for p in (best, constant))
    own = loss_of(loss, np.full(len(y), y.mean()), y)
    found = {}
    for name, learn in LEARNERS.items():
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            here, there = learn(loss, x, y, z)
        test = expected_loss(loss, there, true, weight)
        found[name] = Found(
            test - bayes, of_best - bayes, of_own - bayes,
            loss_of(loss, here, y) > own + 1e-6 * abs(own),
        )
    return found


def stress(quick: bool) -> str:
    found: dict[tuple[str, str, int], list[dict[str, Found]]] = {}
    for cell in cells(quick):
        seeds = 1 if quick or cell[2] >= LARGE else 4
        models = [one for seed in range(seeds) if (one := judged(*cell, seed)) is not None]
        if models:
            found[cell] = models
        say(f"{cell}: {[{name: round(f.excess, 4) for name, f in one.items()} for one in models]}")
    rows, auto = [], next(iter(LEARNERS))
    for title, wanted in {
        **{loss: (lambda cell, loss=loss: cell[1] == loss) for loss in LOSSES},
        **{f"{n:,} rows": (lambda cell, n=n: cell[2] == n) for n in ROWS},
        "few kinds, sorted": lambda cell: "sorted" in cell[0],
        "copies": lambda cell: "bootstrap" in cell[0] or "class" in cell[0],
        "all": lambda cell: True,
    }.items():
        some = {cell: models for cell, models in found.items() if wanted(cell)}
        signal = {cell: models for cell, models in some.items() if cell[0] not in WITHOUT}
        if signal:
            rows.append([title, str(len(signal)), *(f"{share_of(signal, name):.3f}" for name in LEARNERS),
                         *(percent(worse(signal, name)) for name in LEARNERS),
                         *(percent([f.worse_on_own for f in of(some, name)]) for name in LEARNERS)])
    signal = {cell: models for cell, models in found.items() if cell[0] not in WITHOUT}
    shares = [share_of(signal, name) for name in LEARNERS]
    own = sum(f.worse_on_own for f in of(found, auto))
    noise = worse({cell: models for cell, models in found.items() if cell not in signal}, auto)
    titles = ["", "cells", "excess", "peers", "cells worse than the constant", "peers", "models on own rows", "peers"]
    notes = [
        f"Mean excess of auto below that of peers: {verdict(shares[0] < shares[1])}.",
        f"At most 1 % of cells with signal worse than the constant: {verdict(fmean(worse(signal, auto)) <= 0.01)}.",
        f"None worse on its own rows: {verdict(own == 0)}.",
        f"Of noise and bent ratings, {percent(noise)} of cells are.",
    ]
    return f"{table(titles, rows, 'lr')}\n\n{' '.join(notes)}"


def worse(some: dict[tuple[str, str, int], list[dict[str, Found]]], name: str) -> list[bool]:
    """For each cell, whether its models are worse than the constants of their rows on fresh rows, on average."""
    sums = ([one[name] for one in models] for models in some.values())
    return [sum(f.excess for f in models) > sum(f.of_own for f in models) + 1e-4 * len(models) for models in sums]


def of(some: dict[tuple[str, str, int], list[dict[str, Found]]], name: str) -> list[Found]:
    return [one[name] for models in some.values() for one in models]


def share_of(some: dict[tuple[str, str, int], list[dict[str, Found]]], name: str) -> float:
    """The mean over cells of the excess over that of the constant."""
    return fmean(
        fmean(one[name].excess for one in models) / fmean(one[name].of_constant for one in models)
        for models in some.values()
    )


def percent(values: list[bool]) -> str:
    return f"{100 * fmean(values):.1f} %" if values else "-"


