"""Drawn tables of many kinds, each with a difficulty of its own, whose true means are known.

A kind is a function of a random generator, the number of rows to learn and the number of all rows: the first are
learned, the others are fresh. It gives columns, labels and, of one kind, importance weights. Columns are floats (an
empty cell is nan), whole numbers or words. auto_kinds.py measures the default on them.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma, expit, gammaln, softmax, xlogy

Random = np.random.Generator
SMALLEST = 1e-15  # probability, or mean


# --- labels and their losses ------------------------------------------------------------------------


def cross_entropy(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    p = np.clip(p, SMALLEST, 1 - SMALLEST)
    return -y * np.log(p) - (1 - y) * np.log1p(-p)


def cross_entropy_of_classes(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    """y: an indicator, or a probability, of each class [rows, classes]."""
    return -(y * np.log(np.clip(p, SMALLEST, 1))).sum(axis=1)


def squared(mean: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (mean - y) ** 2


def poisson(mean: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Half the deviance, as of `--loss poisson`; so are the next two."""
    mean = np.maximum(mean, SMALLEST)
    return mean - y * np.log(mean) - y + xlogy(y, y)


def gamma(mean: np.ndarray, y: np.ndarray) -> np.ndarray:
    ratio = y / np.maximum(mean, SMALLEST)
    return ratio - np.log(ratio) - 1


def tweedie(mean: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of power 1.5."""
    root = np.sqrt(np.maximum(mean, SMALLEST))
    return 2 * (root + y / root) - 4 * np.sqrt(y)


Loss = Callable[[np.ndarray, np.ndarray], np.ndarray]  # of each row, from predicted means and labels
LOSSES: dict[str, Loss] = {
    "binary": cross_entropy, "classes": cross_entropy_of_classes, "numbers": squared,
    "poisson": poisson, "gamma": gamma, "tweedie": tweedie,
}


@dataclass(frozen=True)
class Labels:
    """Labels and their distribution in each row.

    All losses are linear in y but for a term without the prediction, so the expected loss of a prediction p is
    loss(p, mean) + spread, and the Bayes loss is that of p = mean.
    """

    kind: str  # of LOSSES
    y: np.ndarray  # of classes their numbers
    mean: np.ndarray  # of classes their probabilities [rows, classes]
    spread: np.ndarray  # E loss(mean, y) - loss(mean, mean)

    def expected(self, predicted: np.ndarray) -> np.ndarray:
        """The expected loss of each row."""
        return LOSSES[self.kind](predicted, self.mean) + self.spread

    def losses(self, predicted: np.ndarray) -> np.ndarray:
        """The loss of each row for the label that was drawn."""
        return LOSSES[self.kind](predicted, self.indicators if self.kind == "classes" else self.y)

    @property
    def indicators(self) -> np.ndarray:
        """Of classes."""
        return np.eye(self.mean.shape[1])[self.y]


def binary(rng: Random, p: np.ndarray) -> Labels:
    return Labels("binary", (rng.random(len(p)) < p).astype(int), p, np.zeros(len(p)))


def classes(rng: Random, p: np.ndarray) -> Labels:
    y = (p.cumsum(axis=1) < rng.random((len(p), 1))).sum(axis=1)
    return Labels("classes", np.minimum(y, p.shape[1] - 1), p, np.zeros(len(p)))


def numbers(mean: np.ndarray, noise: np.ndarray, variance: np.ndarray | float) -> Labels:
    """noise: what was drawn, of this variance."""
    return Labels("numbers", mean + noise, mean, np.broadcast_to(variance, mean.shape))


def counts(rng: Random, mean: np.ndarray) -> Labels:
    """As y P(y) = mean P(y - 1), E y log y is mean E log(1 + y)."""
    most = mean.max() + 10 * np.sqrt(mean.max()) + 20
    k = np.arange(most)
    p = np.exp(k * np.log(mean)[:, None] - mean[:, None] - gammaln(k + 1))
    return Labels("poisson", rng.poisson(mean), mean, mean * (p @ np.log1p(k) - np.log(mean)))


# --- tables and the registry ------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    columns: dict[str, np.ndarray]
    labels: Labels
    weight: np.ndarray | None = None  # importance

    def take(self, rows: Any) -> "Table":
        """These rows: a slice or indices."""
        y, mean, spread = (of[rows] for of in (self.labels.y, self.labels.mean, self.labels.spread))
        labels = replace(self.labels, y=y, mean=mean, spread=spread)
        weight = None if self.weight is None else self.weight[rows]
        return Table({name: values[rows] for name, values in self.columns.items()}, labels, weight)


class Kind(NamedTuple):
    name: str
    group: str
    rows: tuple[int, ...]  # to learn, in each of its cells
    draw: Callable[[Random, int, int], Table]
    signal: bool  # whether labels depend on columns


KINDS: dict[str, Kind] = {}
FRESH = 8000  # rows


def kind(group: str, *rows: int, signal: bool = True) -> Callable[[Callable[[Random, int, int], Table]], Any]:
    """Register a function as the kind of its name."""

    def registered(draw: Callable[[Random, int, int], Table]) -> Callable[[Random, int, int], Table]:
        name = draw.__name__.replace("_", " ")
        KINDS[name] = Kind(name, group, rows, draw, signal)
        return draw

    return registered


def drawn(name: str, rows: int, seed: int) -> tuple[Table, Table]:
    """Rows to learn and fresh rows: always the same ones for a kind, a number of rows and a seed."""
    rng = np.random.default_rng([seed, rows, zlib.crc32(name.encode())])
    table = KINDS[name].draw(rng, rows, rows + FRESH)
    return table.take(slice(rows)), table.take(slice(rows, None))


# --- columns ----------------------------------------------------------------------------------------


def named(x: np.ndarray) -> dict[str, np.ndarray]:
    return {f"x{j}": x[:, j] for j in range(x.shape[1])}


def words(values: np.ndarray, prefix: str = "level") -> np.ndarray:
    return np.array([f"{prefix}{value}" for value in values], dtype=object)


def linear(x: np.ndarray, *weights: float) -> np.ndarray:
    """A score of the first columns."""
    return x[:, : len(weights)] @ np.array(weights)


def normal(rng: Random, rows: int, columns: int) -> np.ndarray:
    return rng.normal(size=(rows, columns))


def without(x: np.ndarray, absent: np.ndarray) -> np.ndarray:
    return np.where(absent, np.nan, x)


# --- missing cells ----------------------------------------------------------------------------------


@kind("missing", 100, 300, 1000)
def missing_at_random(rng: Random, train: int, rows: int) -> Table:
    """Three tenths of all cells are empty, and the mean of a column is 5: an empty cell is not a 0."""
    x = 5 + normal(rng, rows, 6)
    p = expit(linear(x - 5, 1, -1, 0.7, 0.5))
    return Table(named(without(x, rng.random(x.shape) < 0.3)), binary(rng, p))


@kind("missing", 100, 300, 1000)
def missing_if_large(rng: Random, train: int, rows: int) -> Table:
    """Mostly large values are missing, so that an empty cell has information that the mean has not."""
    x = normal(rng, rows, 5)
    p = expit(linear(x, 1.5, -1))
    absent = np.zeros(x.shape, bool)
    absent[:, 0] = (x[:, 0] > 0.3) & (rng.random(rows) < 0.8)
    return Table(named(without(x, absent)), binary(rng, p))


@kind("missing", 300, 1000)
def missing_later(rng: Random, train: int, rows: int) -> Table:
    """A twentieth of the cells is empty in the rows to learn, and four tenths of them in fresh rows."""
    x = 5 + normal(rng, rows, 5)
    p = expit(linear(x - 5, 1, -1, 0.7))
    share = np.where(np.arange(rows) < train, 0.05, 0.4)[:, None]
    return Table(named(without(x, rng.random(x.shape) < share)), binary(rng, p))


@kind("missing", 300, 5000)
def half_a_column(rng: Random, train: int, rows: int) -> Table:
    """The most important column is missing in the first half of the rows to learn, and complete afterwards."""
    x = normal(rng, rows, 4)
    p = expit(linear(x, 1, -1, 0.5))
    absent = np.zeros(x.shape, bool)
    absent[: train // 2, 0] = True
    return Table(named(without(x, absent)), binary(rng, p))


@kind("missing", 100, 300, 1000)
def sentinels(rng: Random, train: int, rows: int) -> Table:
    """A fifth of the cells is -999, which stands for a missing number and dominates mean and deviation."""
    x = 3 + normal(rng, rows, 4)
    absent = rng.random(x.shape) < 0.2
    p = expit(np.where(absent[:, 0], 0, linear(x, 1, -1, 0.5) - 1.5))
    return Table(named(np.where(absent, -999.0, x)), binary(rng, p))


# --- heavy tails ------------------------------------------------------------------------------------


@kind("heavy tails", 100, 300, 1000, 5000)
def cauchy(rng: Random, train: int, rows: int) -> Table:
    """Columns have no mean: divided by their standard deviation, nearly all values are the same number."""
    x = rng.standard_cauchy((rows, 5))
    return Table(named(x), binary(rng, expit(linear(np.arctan(x), 1.5, -1.5, 1))))


@kind("heavy tails", 100, 300, 1000, 5000)
def lognormal(rng: Random, train: int, rows: int) -> Table:
    """The label depends on logarithms whose standard deviation is 3."""
    x = normal(rng, rows, 5)
    return Table(named(np.exp(3 * x)), binary(rng, expit(linear(x, 1, -1, 0.5))))


@kind("heavy tails", 300, 1000)
def huge_range(rng: Random, train: int, rows: int) -> Table:
    """The label depends on logarithms of values from 1e-12 to 1e12."""
    powers = rng.uniform(-12, 12, (rows, 3))
    return Table(named(10.0**powers), binary(rng, expit(linear(powers, 0.3, -0.2))))


@kind("heavy tails", 300, 1000)
def exposures(rng: Random, train: int, rows: int) -> Table:
    """Counts in proportion to a lognormal column, which a logarithmic link needs as a logarithm."""
    exposure, x = np.exp(rng.normal(size=rows)), normal(rng, rows, 3)
    mean = exposure * np.exp(linear(x, 0.5, -0.4) - 0.5)
    return Table({"exposure": exposure, **named(x)}, counts(rng, mean))


@kind("heavy tails", 1000)
def mostly_zeros(rng: Random, train: int, rows: int) -> Table:
    """Seven tenths of the values are 0, which has an effect of its own; the others are lognormal."""
    x = np.where(rng.random((rows, 4)) < 0.7, 0, np.exp(normal(rng, rows, 4)))
    return Table(named(x), binary(rng, expit(np.where(x[:, 0] == 0, 1.2, -1) + 0.8 * np.log1p(x[:, 1]) - 0.4)))


# --- curves, few rows -------------------------------------------------------------------------------


@kind("curves", 300, 1000, 5000)
def u_shape(rng: Random, train: int, rows: int) -> Table:
    """Both ends of a column have the same labels, so no line fits."""
    x = normal(rng, rows, 4)
    return Table(named(x), binary(rng, expit(1.5 * x[:, 0] ** 2 - 1.5)))


@kind("curves", 300, 1000)
def circular(rng: Random, train: int, rows: int) -> Table:
    """Hours and directions, whose ends meet."""
    hour, degrees = rng.uniform(0, 24, rows), rng.uniform(0, 360, rows)
    mean = np.cos(np.pi * hour / 12) + 0.5 * np.sin(np.pi * degrees / 180)
    return Table({"hour": hour, "degrees": degrees}, numbers(mean, 0.5 * rng.normal(size=rows), 0.25))


@kind("curves", 300, 1000)
def additive(rng: Random, train: int, rows: int) -> Table:
    """A sum of three curves and a line, without pairs."""
    x = rng.random((rows, 6))
    mean = np.sin(6 * x[:, 0]) + 8 * (x[:, 1] - 0.5) ** 2 + np.exp(2 * x[:, 2]) / 4 + x[:, 3]
    return Table(named(x), numbers(mean, 0.5 * rng.normal(size=rows), 0.25))


@kind("curves", 300, 1000, 5000)
def friedman(rng: Random, train: int, rows: int) -> Table:
    """Friedman's first problem: a smooth pair, a curve, two lines and five columns of noise."""
    x = rng.random((rows, 10))
    mean = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + linear(x[:, 3:], 10, 5)
    return Table(named(x), numbers(mean, rng.normal(size=rows), 1))


@kind("curves", 300, 1000)
def step(rng: Random, train: int, rows: int) -> Table:
    """A threshold far from the middle, which few knots do not see."""
    x = rng.random((rows, 4))
    return Table(named(x), binary(rng, np.where(x[:, 0] > 0.83, 0.9, 0.15)))


@kind("curves", 300, 1000)
def band(rng: Random, train: int, rows: int) -> Table:
    """A narrow interval of a column has other labels than both of its sides."""
    x = normal(rng, rows, 4)
    return Table(named(x), binary(rng, np.where(abs(x[:, 0] - 0.7) < 0.3, 0.85, 0.15)))


# --- sharp pairs ------------------------------------------------------------------------------------


@kind("sharp pairs", 300, 1000, 5000)
def xor(rng: Random, train: int, rows: int) -> Table:
    """Whether the signs of two columns are equal; neither column alone has an effect."""
    x = normal(rng, rows, 3)
    return Table(named(x), binary(rng, np.where((x[:, 0] > 0) ^ (x[:, 1] > 0), 0.9, 0.1)))


@kind("sharp pairs", 1000, 5000)
def checkerboard(rng: Random, train: int, rows: int) -> Table:
    """Sixteen fields, with sharp edges, of two columns."""
    x = rng.random((rows, 2))
    return Table(named(x), binary(rng, np.where(np.floor(4 * x).sum(axis=1) % 2 > 0, 0.9, 0.1)))


@kind("sharp pairs", 300, 1000, 5000)
def classes_xor(rng: Random, train: int, rows: int) -> Table:
    """Four quadrants of two columns and three classes; two opposite quadrants share a class."""
    x = normal(rng, rows, 2)
    of_quadrant = 0.1 + 0.7 * np.eye(3)[[0, 1, 2, 0]]
    return Table(named(x), classes(rng, of_quadrant[(x[:, 0] > 0) * 2 + (x[:, 1] > 0)]))


@kind("sharp pairs", 1000, 5000)
def three_way(rng: Random, train: int, rows: int) -> Table:
    """The parity of three categories; no pair of them has an effect."""
    a, b, c = rng.integers(0, 2, (3, rows))
    columns = {"a": words(a), "b": words(b), "c": words(c), "z": rng.normal(size=rows)}
    return Table(columns, binary(rng, np.where(a ^ b ^ c, 0.85, 0.15)))


# --- codes and few different values -----------------------------------------------------------------


@kind("codes", 1000, 5000)
def postal_codes(rng: Random, train: int, rows: int) -> Table:
    """Whole numbers that are names of 300 places, in no useful order."""
    codes, effect, place = rng.choice(90_000, 300, False) + 10_000, rng.normal(size=300), rng.integers(0, 300, rows)
    return Table({"code": codes[place], "z": rng.normal(size=rows)}, binary(rng, expit(1.2 * effect[place])))


@kind("codes", 300, 1000, 5000)
def forty_codes(rng: Random, train: int, rows: int) -> Table:
    """The same of the numbers 1 to 40."""
    code, effect = rng.integers(1, 41, rows), rng.normal(size=41)
    return Table({"code": code, "z": rng.normal(size=rows)}, binary(rng, expit(1.2 * effect[code])))


@kind("codes", 300, 5000)
def price(rng: Random, train: int, rows: int) -> Table:
    """Products of the effect of a model, a power of the size, a quantity of 1 to 5, and noise."""
    model, size, quantity = rng.integers(0, 8, rows), np.exp(0.5 * rng.normal(size=rows)), rng.integers(1, 6, rows)
    of_model = np.exp(0.4 * np.array([-2, -1, -0.5, 0, 0.3, 0.6, 1, 2]))
    mean = 20 * of_model[model] * size**0.8 * quantity
    noise = mean * (np.exp(0.2 * rng.normal(size=rows) - 0.02) - 1)
    columns = {"model": words(model), "size": size, "quantity": quantity}
    return Table(columns, numbers(mean, noise, mean**2 * (np.exp(0.04) - 1)))


@kind("codes", 300, 1000)
def likert(rng: Random, train: int, rows: int) -> Table:
    """Eight ratings from 1 to 5 of one opinion: whole numbers that are not codes."""
    opinion = normal(rng, rows, 1)
    ratings = np.clip(np.round(3 + opinion + 0.8 * normal(rng, rows, 8)), 1, 5).astype(int)
    return Table(named(ratings), binary(rng, expit(1.5 * (ratings.mean(axis=1) - 3))))


@kind("codes", 300, 1000)
def dates_as_words(rng: Random, train: int, rows: int) -> Table:
    """Times that are words without `--time`, few of them equal; the label depends on hour and day of the week."""
    begin, seconds = datetime(2022, 1, 3), rng.integers(0, 364 * 86_400, rows)  # a Monday
    times = np.array([str(begin + timedelta(seconds=int(s))) for s in seconds], dtype=object)
    score = 1.5 * np.cos(2 * np.pi * (seconds // 3600 % 24) / 24) + 1.5 * (seconds // 86_400 % 7 >= 5) - 0.5
    return Table({"at": times, "z": rng.normal(size=rows)}, binary(rng, expit(score)))


@kind("codes", 300, 1000, 5000)
def days_of_a_year(rng: Random, train: int, rows: int) -> Table:
    """Dates without `--time`, a few rows of each; the label depends on month and day of the week."""
    begin, day = datetime(2022, 1, 3), rng.integers(0, 364, rows)  # a Monday
    days = np.array([str((begin + timedelta(days=int(d))).date()) for d in day], dtype=object)
    score = 1.2 * np.cos(2 * np.pi * day / 364) + 1.5 * (day % 7 >= 5) - 0.5
    return Table({"day": days, "z": rng.normal(size=rows)}, binary(rng, expit(score)))


@kind("codes", 300, 1000, 5000)
def dates_that_are_names(rng: Random, train: int, rows: int) -> Table:
    """Dates of 40 releases, each with an effect of its own, which neither month nor day of the week tell."""
    begin, effect, release = datetime(2022, 1, 3), rng.normal(size=40), rng.integers(0, 40, rows)
    days = np.array([str((begin + timedelta(days=9 * int(k))).date()) for k in release], dtype=object)
    return Table({"day": days, "z": rng.normal(size=rows)}, binary(rng, expit(1.2 * effect[release])))


# --- categories -------------------------------------------------------------------------------------


@kind("categories", 300, 1000)
def pairs_of_categories(rng: Random, train: int, rows: int) -> Table:
    """Each of 36 pairs of words has an effect of its own."""
    a, b = rng.integers(0, 6, (2, rows))
    effect = 1.5 * normal(rng, 6, 6)
    columns = {"a": words(a), "b": words(b), "z": rng.normal(size=rows)}
    return Table(columns, binary(rng, expit(effect[a, b])))


@kind("categories", 300, 1000)
def many_levels(rng: Random, train: int, rows: int) -> Table:
    """As many words as rows to learn, each with an effect of its own, beside two numbers."""
    level, x = rng.integers(0, train, rows), normal(rng, rows, 2)
    score = rng.normal(size=train)[level] + linear(x, 1, -0.5)
    return Table({"level": words(level), **named(x)}, binary(rng, expit(score)))


@kind("categories", 100, 300)
def few_kinds(rng: Random, train: int, rows: int) -> Table:
    """Only four different rows: a fold by contents would hold out all rows of a kind."""
    plan = rng.integers(0, 4, rows)
    return Table({"plan": words(plan)}, binary(rng, np.array([0.1, 0.3, 0.6, 0.9])[plan]))


@kind("categories", 300, 1000)
def category_and_number(rng: Random, train: int, rows: int) -> Table:
    """The slope of a number depends on a word: 2, -2, 0 or 1."""
    a, x = rng.integers(0, 4, rows), rng.normal(size=rows)
    mean = x * np.array([2, -2, 0, 1])[a]
    columns = {"a": words(a), "x": x, "z": rng.normal(size=rows)}
    return Table(columns, numbers(mean, 0.5 * rng.normal(size=rows), 0.25))


# --- rare events ------------------------------------------------------------------------------------


@kind("rare events", 1000, 5000)
def one_of_a_hundred(rng: Random, train: int, rows: int) -> Table:
    """Ten positive labels in 1,000 rows."""
    x = normal(rng, rows, 6)
    return Table(named(x), binary(rng, expit(linear(x, 1, 1, 0.7) - 5.5)))


@kind("rare events", 20_000, 60_000)
def one_of_a_thousand(rng: Random, train: int, rows: int) -> Table:
    """Some 20, or 60, positive labels."""
    x = normal(rng, rows, 6)
    return Table(named(x), binary(rng, expit(linear(x, 1, 1, 1) - 8)))


@kind("rare events", 5000)
def rare_with_categories(rng: Random, train: int, rows: int) -> Table:
    """The same of two columns of 30 words: most words have no positive label."""
    a, b = rng.integers(0, 30, (2, rows))
    effects = 1.2 * normal(rng, 2, 30)
    return Table({"a": words(a), "b": words(b)}, binary(rng, expit(effects[0, a] + effects[1, b] - 4.5)))


# --- amounts and counts -----------------------------------------------------------------------------


def zeros_and_amounts(rng: Random, rows: int) -> tuple[np.ndarray, ...]:
    """Columns, labels, their means and the second moments: with a probability a lognormal amount, else 0."""
    x = normal(rng, rows, 4)
    p, score = expit(x[:, 0]), 1 + 0.5 * x[:, 1]
    y = np.where(rng.random(rows) < p, np.exp(score + 0.5 * rng.normal(size=rows)), 0)
    return x, y, p * np.exp(score + 0.125), p * np.exp(2 * score + 0.5)


@kind("amounts and counts", 300, 1000)
def zero_inflated(rng: Random, train: int, rows: int) -> Table:
    """Half of the labels are 0, the others lognormal; each part depends on one column. Squared loss."""
    x, y, mean, second = zeros_and_amounts(rng, rows)
    return Table(named(x), numbers(mean, y - mean, second - mean**2))


@kind("amounts and counts", 1000)
def zero_inflated_with_tweedie(rng: Random, train: int, rows: int) -> Table:
    """The same with `--loss tweedie`."""
    x, y, mean, _ = zeros_and_amounts(rng, rows)
    root = expit(x[:, 0]) * np.exp((1 + 0.5 * x[:, 1]) / 2 + 0.03125)  # E sqrt(y)
    return Table(named(x), Labels("tweedie", y, mean, 4 * (np.sqrt(mean) - root)))


@kind("amounts and counts", 300, 1000)
def gamma_amounts(rng: Random, train: int, rows: int) -> Table:
    """Amounts whose deviation is in proportion to their mean."""
    x = normal(rng, rows, 4)
    mean, shape = np.exp(3 + linear(x, 0.5, -0.4, 0.2)), 2.0
    spread = np.full(rows, np.log(shape) - digamma(shape))
    return Table(named(x), Labels("gamma", mean * rng.gamma(shape, 1 / shape, rows), mean, spread))


@kind("amounts and counts", 100, 1000)
def poisson_counts(rng: Random, train: int, rows: int) -> Table:
    """Small counts, mostly 0 to 3."""
    x = normal(rng, rows, 5)
    return Table(named(x), counts(rng, np.exp(0.2 + linear(x, 0.5, -0.4, 0.2))))


# --- lines: scales, outliers, slopes ----------------------------------------------------------------


@kind("lines", 100, 1000, 20_000)
def plain_line(rng: Random, train: int, rows: int) -> Table:
    """An easy kind: what helps with others must not harm it."""
    x = normal(rng, rows, 5)
    return Table(named(x), binary(rng, expit(linear(x, 1, -1, 0.5))))


@kind("lines", 1000)
def scales(rng: Random, train: int, rows: int) -> Table:
    """Columns of deviations from 1e-12 to 1e12."""
    x = normal(rng, rows, 6)
    size = 10.0 ** np.array([-12, -6, 0, 3, 6, 12])
    return Table(named(x * size), binary(rng, expit(linear(x, 1, -1, 0.5, 0.5, -0.5, 1))))


@kind("lines", 300)
def offsets(rng: Random, train: int, rows: int) -> Table:
    """Columns of deviation 1 around a million, -10,000 and 100,000."""
    x = normal(rng, rows, 4)
    return Table(named(x + np.array([1e6, -1e4, 0, 1e5])), binary(rng, expit(linear(x, 1, -1, 0.5, 0.3))))


@kind("lines", 300, 1000)
def outliers(rng: Random, train: int, rows: int) -> Table:
    """A hundredth of the labels has an error of about 100."""
    x = normal(rng, rows, 4)
    noise = 0.5 * rng.normal(size=rows) + (rng.random(rows) < 0.01) * 100 * rng.normal(size=rows)
    return Table(named(x), numbers(linear(x, 1, -1, 0.5), noise, 100.25))


@kind("lines", 100, 1000)
def steep(rng: Random, train: int, rows: int) -> Table:
    """One column determines nearly all labels, so its best weight is large."""
    x = normal(rng, rows, 4)
    return Table(named(x), binary(rng, expit(15 * x[:, 0])))


@kind("lines", 100, 300)
def separable(rng: Random, train: int, rows: int) -> Table:
    """A plane separates the labels: the Bayes loss is 0, and the best weights are infinite."""
    x = normal(rng, rows, 4)
    return Table(named(x), binary(rng, (linear(x, 1, 1, -1, 0.5) > 0) * 1.0))


@kind("lines", 100, 300, 1000)
def collinear_difference(rng: Random, train: int, rows: int) -> Table:
    """The label is the small difference of two columns that are nearly the same."""
    x, difference = normal(rng, rows, 2), rng.normal(size=rows)
    columns = {"a": x[:, 0], "b": x[:, 0] + 0.03 * difference, "c": x[:, 1]}
    return Table(columns, numbers(difference + x[:, 1], 0.5 * rng.normal(size=rows), 0.25))


# --- classes ----------------------------------------------------------------------------------------


@kind("classes", 300, 1000)
def three_classes(rng: Random, train: int, rows: int) -> Table:
    """Linear scores of three classes."""
    x = normal(rng, rows, 4)
    return Table(named(x), classes(rng, softmax(np.column_stack([1.5 * x[:, :2], np.zeros(rows)]), axis=1)))


@kind("classes", 1000, 5000)
def ten_classes(rng: Random, train: int, rows: int) -> Table:
    """The same of ten."""
    x = normal(rng, rows, 8)
    return Table(named(x), classes(rng, softmax(x @ normal(rng, 8, 10), axis=1)))


# --- order, copies, weights -------------------------------------------------------------------------


@kind("rows", 300, 5000)
def sorted_by_label(rng: Random, train: int, rows: int) -> Table:
    """All rows of one label come before those of the other."""
    x = normal(rng, rows, 5)
    table = Table(named(x), binary(rng, expit(linear(x, 1, -1, 0.5))))
    return table.take(np.r_[np.argsort(table.labels.y[:train], kind="stable"), train:rows])


@kind("rows", 300, 1000)
def copies(rng: Random, train: int, rows: int) -> Table:
    """Rows to learn are drawn from a third as many: copies of a row that is held out are learned."""
    x = normal(rng, rows, 4)
    table = Table(named(x), binary(rng, expit(linear(x, 1, -1, 0.5))))
    return table.take(np.r_[rng.integers(0, train // 3, train), train:rows])


@kind("rows", 1000)
def weights(rng: Random, train: int, rows: int) -> Table:
    """Lognormal importance weights that do not depend on columns: a sixth of the rows has half of the weight."""
    x = normal(rng, rows, 4)
    return Table(named(x), binary(rng, expit(linear(x, 1, -1, 0.5))), np.exp(rng.normal(size=rows)))


# --- noise ------------------------------------------------------------------------------------------


@kind("noise", 100, 300, 1000, signal=False)
def noise_of_five_columns(rng: Random, train: int, rows: int) -> Table:
    """Labels do not depend on columns: the best model is the constant."""
    return Table(named(normal(rng, rows, 5)), binary(rng, np.full(rows, 0.3)))


@kind("noise", 300, 1000, signal=False)
def noise_of_fifty_columns(rng: Random, train: int, rows: int) -> Table:
    """The same in more columns, and 1,225 pairs of them."""
    return Table(named(normal(rng, rows, 50)), binary(rng, np.full(rows, 0.5)))


@kind("noise", 300, signal=False)
def noise_of_categories(rng: Random, train: int, rows: int) -> Table:
    """The same of eight columns of twelve words."""
    columns = {f"c{j}": words(rng.integers(0, 12, rows)) for j in range(8)}
    return Table(columns, binary(rng, np.full(rows, 0.4)))


@kind("noise", 300, signal=False)
def noise_of_a_number(rng: Random, train: int, rows: int) -> Table:
    """The same where the label is a number."""
    return Table(named(normal(rng, rows, 8)), numbers(np.zeros(rows), rng.normal(size=rows), 1))
