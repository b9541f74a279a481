"""Measures of the order of scores: ROC, precision and recall, calibration."""

import math
from typing import NamedTuple

import numpy as np

from vwlite.evaluation.sums import Floats, Interval, Mean, Ranked, Unit, Z, effective, on_logits, sums_by, wilson


class Placed(NamedTuple):
    """For each score, which part of the other kind is below a positive (above a negative) example; ties are half."""

    of_positive: Floats
    of_negative: Floats


def placed(r: Ranked) -> Placed:
    below = np.cumsum(r.negative) - r.negative / 2
    above = r.positive.sum() - np.cumsum(r.positive) + r.positive / 2
    return Placed(below / r.negative.sum(), above / r.positive.sum())


def auc(r: Ranked) -> tuple[float, float | None]:
    """The area under the ROC curve and its standard error (DeLong, DeLong and Clarke-Pearson 1988), with weights."""
    places = placed(r)
    area = float(r.positive @ places.of_positive / r.positive.sum())
    variance = 0.0
    for weights, squares, of in (
        (r.positive, r.positive2, places.of_positive),
        (r.negative, r.negative2, places.of_negative),
    ):
        total = float(weights.sum())
        n = effective(total, float(squares.sum()))
        if n <= 1:
            return area, None
        variance += float(squares @ (of - area) ** 2) / total**2 * n / (n - 1)
    return area, math.sqrt(variance)


def auc_difference(a: Floats, b: Floats, signed: Floats) -> tuple[float, float] | None:
    """The difference of the areas of two scores of the same examples, and its standard error (the same paper); None
    without both kinds of labels. signed: importance, that of negative examples below zero."""
    areas, places, (signed, _) = [], [], Unit().take(signed)
    for score in (a, b):
        distinct, at = np.unique(score + 0.0, return_inverse=True)
        positive = sums_by(at, np.maximum(signed, 0), distinct.size)
        negative = sums_by(at, np.maximum(-signed, 0), distinct.size)
        if not (positive.any() and negative.any()):
            return None
        found = placed(Ranked(distinct, positive, negative, positive, negative))
        areas.append(float(positive @ found.of_positive / positive.sum()))
        places.append((found.of_positive[at], found.of_negative[at]))
    difference, variance = areas[0] - areas[1], 0.0
    for k, w in enumerate((np.maximum(signed, 0), np.maximum(-signed, 0))):
        total, squares = float(w.sum()), float(w @ w)
        n = effective(total, squares)
        if n <= 1:
            return None
        apart = places[0][k] - places[1][k] - difference
        variance += float((w * apart) @ (w * apart)) / total**2 * n / (n - 1)
    return difference, math.sqrt(variance)


class Curve(NamedTuple):
    """For each threshold, from the largest score: the importance of the positive and of the negative examples whose
    score is at least that."""

    score: Floats
    found: Floats
    false: Floats
    positive: float  # the importance of all positive examples
    negative: float

    @property
    def precision(self) -> Floats:
        return self.found / (self.found + self.false)

    @property
    def recall(self) -> Floats:
        return self.found / self.positive


def curve(r: Ranked) -> Curve:
    found, false = np.cumsum(r.positive[::-1]), np.cumsum(r.negative[::-1])
    return Curve(r.score[::-1], found, false, float(found[-1]), float(false[-1]))


def average_precision(c: Curve) -> float:
    """The sum over thresholds of precision times the increase of recall."""
    return float(np.diff(c.recall, prepend=0.0) @ c.precision)


def average_precision_interval(value: float, r: Ranked) -> Interval | None:
    """On the scale of logits, as Boyd, Eng and Page (2013) recommend."""
    n = effective(float(r.positive.sum()), float(r.positive2.sum()))
    if not 0 < value < 1 or n <= 1:
        return None
    return on_logits(value, Z / math.sqrt(n * value * (1 - value)))


def auc_interval(value: float, error: float | None) -> Interval | None:
    """On the scale of logits, where the error is error / (value (1 - value)); None of 0 and 1, which have no logit."""
    if error is None or not 0 < value < 1:
        return None
    return on_logits(value, Z * error / (value * (1 - value)))


def best_f1(c: Curve) -> tuple[float, int]:
    """The largest F1 of all thresholds, and the place of the threshold in the curve."""
    f1 = 2 * c.found / (c.found + c.false + c.positive)
    at = int(np.argmax(f1))
    return float(f1[at]), at


class Group(NamedTuple):
    """Examples of neighbouring predictions: their importance, the mean prediction and the mean label."""

    weight: float
    predicted: float
    observed: float
    interval: Interval  # of `observed`


def calibration(r: Ranked, predicted: Floats, groups: int) -> list[Group]:
    """Groups of about equal importance by ascending score. predicted: the probability that each score means."""
    weight, squares = r.positive + r.negative, r.positive2 + r.negative2
    middle = np.cumsum(weight) - weight / 2
    number = np.minimum((middle / weight.sum() * groups).astype(np.int64), groups - 1)
    sums = [sums_by(number, row, groups) for row in (weight, weight * predicted, r.positive, squares)]
    found = []
    for total, p, y, total2 in zip(*(row.tolist() for row in sums), strict=True):
        if total > 0:
            share, n = y / total, effective(total, total2)
            found.append(Group(total, p / total, share, wilson(share, n)))
    return found


def groups_of_means(predicted: Floats, label: Floats, weight: Floats, groups: int) -> list[Group]:
    """Groups of about equal size by ascending prediction."""
    order, found = np.argsort(predicted, kind="stable"), []
    for part in np.array_split(order[weight[order] > 0], groups):
        if part.size:
            mean = Mean()
            mean.add(label[part], weight[part])
            value, (w, _) = mean.value or 0.0, Unit().take(weight[part])
            predicted_mean = float(predicted[part] @ w) / float(w.sum())
            found.append(Group(mean.weight, predicted_mean, value, mean.interval or (value, value)))
    return found
