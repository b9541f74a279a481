"""What is counted of predictions: means with their errors, and scores in their order, in bounded memory."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

Z = 1.959963984540054  # of 95 % of a normal distribution
MOST_KEPT = 1_000_000  # scores that are kept as they are, 16 bytes each; more are counted in bins
PIECE = 1 << 17  # scores that are counted in bins together
DROPPED_BITS = 14  # of a score in single precision, so that those of a bin are within 0.2 %, as in tally.pyx
BINS = 1 << (32 - DROPPED_BITS)
MOST_EXPONENT = 700.0  # exp of more overflows
UNIT_STEP = 256  # bits; importances from 2^-128 to 2^127 are counted as they are

Interval = tuple[float, float]


def sums_by(number: npt.NDArray[Any], values: Floats, count: int) -> Floats:
    """The sums of the values that have each number."""
    return np.bincount(number, values, count).astype(np.float64, copy=False)


def with_weight(w: Floats, *columns: Floats) -> Sequence[Floats]:
    """The rows that have an importance: the others take no digits of sums."""
    return columns if w.all() else [column[w != 0] for column in columns]


class Unit:
    """The power of two 2^exponent in which importances are counted, so that neither their squares nor sums of these
    overflow or vanish. It changes no digit of a quotient of such sums, and is 1 unless importances are extreme."""

    def __init__(self) -> None:
        self.exponent: int | None = None  # no importance yet

    def take(self, w: Floats) -> tuple[Floats, float]:
        """Importances in the unit, which they may enlarge, and the factor for the sums of earlier ones."""
        top = float(np.abs(w).max(initial=0.0))
        shrunk = 1.0
        if top > 0:
            needed = UNIT_STEP * round(math.frexp(top)[1] / UNIT_STEP)
            if self.exponent is None:
                self.exponent = needed
            elif needed > self.exponent:
                shrunk, self.exponent = math.ldexp(1.0, self.exponent - needed), needed
        return (np.ldexp(w, -self.exponent) if self.exponent else w), shrunk

    def whole(self, x: float) -> float:
        """A sum of importances without the unit."""
        return float(np.ldexp(x, self.exponent or 0))


class Mean:
    """A running mean, weighted by importance, and its 95 % interval.

    The variance of the mean is sum w^2 (x - mean)^2 / (sum w)^2, times n / (n - 1) with n = (sum w)^2 / sum w^2: for
    weights of 1 the usual one. The sums are those of x - origin, so that little is lost.
    """

    def __init__(self) -> None:
        self._unit = Unit()
        self._sums: Floats = np.zeros(2)  # of w and w d, d = x - origin
        self._sums2: Floats = np.zeros(3)  # of w^2, w^2 d and w^2 d^2
        self._origin = math.nan

    def add(self, x: Floats, w: Floats) -> None:
        x, w = with_weight(w, x, w)
        if not x.size:
            return
        if math.isnan(self._origin):
            self._origin = float(x.mean())
        w, shrunk = self._unit.take(w)
        d, w2 = x - self._origin, w * w
        self._sums = shrunk * self._sums + [w.sum(), w @ d]
        self._sums2 = shrunk * shrunk * self._sums2 + [w2.sum(), w2 @ d, w2 @ (d * d)]

    @property
    def weight(self) -> float:
        """The sum of the importances."""
        return self._unit.whole(self._sums[0])

    @property
    def value(self) -> float | None:
        weight, of_d = map(float, self._sums)
        return self._origin + of_d / weight if weight else None

    @property
    def error(self) -> float | None:
        """The standard error; None of fewer than two examples."""
        weight, of_d = map(float, self._sums)
        weight2, of_d2, squares2 = map(float, self._sums2)
        n = effective(weight, weight2)
        if n <= 1:
            return None
        mean = of_d / weight
        around = squares2 - 2 * mean * of_d2 + mean * mean * weight2
        return math.sqrt(max(around, 0.0) * n / (n - 1)) / weight

    @property
    def interval(self) -> Interval | None:
        return around(self.value, self.error)

    @property
    def of_share(self) -> Interval | None:
        """The interval, where every value is 0 or 1 (Wilson 1927)."""
        n = effective(*map(float, (self._sums[0], self._sums2[0])))
        return None if self.value is None or n <= 1 else wilson(self.value, n)


def wilson(share: float, n: float) -> Interval:
    """The 95 % interval of a share of n examples."""
    middle, width = share + Z * Z / (2 * n), Z * math.sqrt(max(share * (1 - share), 0) / n + Z * Z / (4 * n * n))
    low, high = (middle - width) / (1 + Z * Z / n), (middle + width) / (1 + Z * Z / n)
    return max(low, 0.0), min(high, 1.0)


def on_logits(value: float, width: float) -> Interval:
    """The interval of this half width on the scale of logits, around a value between 0 and 1."""
    middle = math.log(value / (1 - value))
    return _logistic(middle - width), _logistic(middle + width)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(min(-x, MOST_EXPONENT)))


def cut(interval: Interval | None, low: float, high: float) -> Interval | None:
    """The part of an interval that is within the range of its measure."""
    return interval and (max(interval[0], low), min(interval[1], high))


def effective(weight: float, weight2: float) -> float:
    """How many examples of equal weight are as many as those with this sum of weights, and of their squares: at least
    1, also if the squares vanish beside those of far larger weights."""
    n = weight * weight / weight2 if weight2 else 0.0
    return n if n > 0.5 or not weight else 1.0


def around(value: float | None, error: float | None) -> Interval | None:
    """The 95 % interval of a value with this standard error."""
    return None if value is None or error is None else (value - Z * error, value + Z * error)


class Ranked(NamedTuple):
    """Scores in ascending order, and the importance of the positive and the negative examples that have each, in the
    unit of `Scores`; with the sums of its squares. In bins, a score is the mean of its bin."""

    score: Floats
    positive: Floats
    negative: Floats
    positive2: Floats
    negative2: Floats

    def weighty(self) -> "Ranked":
        """Without scores that have no importance, beside the largest one."""
        some = self.positive + self.negative > 0
        return self if some.all() else Ranked(*(row[some] for row in self))

    @property
    def of_both(self) -> bool:
        return bool(self.positive.any() and self.negative.any())


class Scores:
    """Scores with the importance of their examples, that of the negative ones below zero. Examples of importance 0 are
    left out: a threshold between two of them finds nothing, so that its precision is not defined."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most, self._count = most, 0
        self.unit = Unit()  # of the importances of ranked examples
        self._parts: list[tuple[Floats, Floats]] = []
        self._bins: tuple[npt.NDArray[Any], list[Floats]] | None = None  # their numbers, and sums of each

    @property
    def binned(self) -> bool:
        """Whether scores that are nearly the same are counted as one."""
        return self._bins is not None

    def add(self, score: Floats, signed: Floats) -> None:
        if not signed.all():
            score, signed = score[signed != 0], signed[signed != 0]
        self._parts.append((score, signed))
        self._count += score.size
        if self._count > self._most:
            self._to_bins()

    def _rows(self) -> tuple[Floats, Floats]:
        if not self._parts:
            return np.empty(0), np.empty(0)
        return np.concatenate([s for s, _ in self._parts]), np.concatenate([w for _, w in self._parts])

    def _to_bins(self) -> None:
        score, signed = self._rows()
        for at in range(0, score.size, PIECE):
            self._count_in_bins(score[at : at + PIECE], signed[at : at + PIECE])
        self._parts, self._count, self._most = [], 0, min(self._most, PIECE)

    def _count_in_bins(self, score: Floats, signed: Floats) -> None:
        signed, shrunk = self.unit.take(signed)
        bits = (score.astype(np.float32) + np.float32(0)).view(np.uint32)
        number = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31)) >> DROPPED_BITS
        before, sums = self._bins if self._bins is not None else (number[:0], [score[:0]] * 5)
        of_bins = partial(sums_by, number, count=BINS)
        dense = [*_sums(signed, of_bins), of_bins(np.abs(signed) * score)]
        there = np.flatnonzero(np.bincount(np.concatenate([before, number])))
        at, found = np.searchsorted(there, before), [total[there] for total in dense]
        for k, sum_before in enumerate(sums):
            found[k][at] += sum_before * (shrunk * shrunk if k in (2, 3) else shrunk)
        self._bins = there, found

    def ranked(self) -> Ranked:
        if self._bins is None:
            score, signed = self._rows()
            if not score.size:
                return Ranked(*[score] * 5)
            order = np.argsort(score)
            score, (signed, _) = score[order], self.unit.take(signed[order])
            first = np.flatnonzero(np.append(True, score[1:] != score[:-1]))
            found = Ranked(score[first], *_sums(signed, lambda weights: np.add.reduceat(weights, first)))
            return found.weighty()
        self._to_bins()
        *sums, moment = self._bins[1]
        with np.errstate(invalid="ignore"):
            return Ranked(moment / (sums[0] + sums[1]), *sums).weighty()


def _sums(signed: Floats, summed: Callable[[Floats], Floats]) -> list[Floats]:
    """The columns of Ranked but the first. summed: adds up the values of each score."""
    positive, negative = np.maximum(signed, 0.0), np.maximum(-signed, 0.0)
    found = [summed(positive), summed(negative)]
    if (np.abs(signed) == 1).all():
        return found * 2
    return [*found, summed(positive * positive), summed(negative * negative)]


class Sample:
    """Every k-th row, in their order; k doubles when there are more than `most`."""

    def __init__(self, most: int = 100_000) -> None:
        self._most, self._seen, self._step = most, 0, 1
        self._rows: Floats = np.empty((0, 0))

    def add(self, *columns: Floats) -> None:
        rows = np.column_stack(columns)
        found = rows[-self._seen % self._step :: self._step]
        self._seen += len(rows)
        self._rows = np.concatenate([self._rows, found]) if self._rows.size else found
        while len(self._rows) > self._most:
            self._rows, self._step = self._rows[::2].copy(), 2 * self._step

    def columns(self) -> list[Floats]:
        return list(self._rows.T)


class Moments:
    """Sums over examples for R^2 and its standard error: of squared errors, labels and their products."""

    def __init__(self) -> None:
        self._unit = Unit()
        self.weight = self.weight2 = 0.0  # in the unit
        self._origin = math.nan
        self._means = np.zeros(3)  # sums of w times error^2, y, y^2
        self._products = np.zeros((4, 4))  # of w^2 times the products of 1, y, y^2 and error^2

    def add(self, label: Floats, square: Floats, w: Floats) -> None:
        label, square, w = with_weight(w, label, square, w)
        if not label.size:
            return
        if math.isnan(self._origin):
            self._origin = float(label.mean())
        y = label - self._origin
        w, shrunk = self._unit.take(w)
        self.weight = shrunk * self.weight + float(w.sum())
        self.weight2 = shrunk * shrunk * self.weight2 + float(w @ w)
        self._means = shrunk * self._means + np.array([square, y, y * y]) @ w
        columns = np.array([np.ones_like(y), y, y * y, square]) * w
        self._products = shrunk * shrunk * self._products + columns @ columns.T

    @property
    def mean(self) -> float:
        """Of the labels."""
        return self._origin + float(self._means[1]) / self.weight

    @property
    def variance(self) -> float:
        """Of the labels."""
        _, y, yy = self._means / self.weight
        return max(float(yy - y * y), 0.0)

    def r2(self) -> tuple[float, float] | None:
        """R^2 and its standard error, by the delta method; None if all labels are the same."""
        variance, n = self.variance, effective(self.weight, self.weight2)
        _, mean, square = self._means / self.weight
        if n <= 1 or variance <= 1e-14 * abs(float(square)):
            return None
        ratio = float(self._means[0]) / self.weight / variance
        # The influence of an example is (error^2 - ratio (y - mean)^2) / variance.
        influence = np.array([-ratio * mean * mean, 2 * ratio * mean, -ratio, 1.0]) / variance
        spread = float(influence @ self._products @ influence)
        return 1 - ratio, math.sqrt(max(spread, 0.0) * n / (n - 1)) / self.weight
