"""The baseline of a run: what the best constant prediction has for the examples that were evaluated."""

import math
from dataclasses import replace
from typing import NamedTuple

from vwlite.algorithms.settings import Settings
from vwlite.core.learn.labels import LabelSample, best_constant, constant_loss
from vwlite.core.learn.learner import Learner
from vwlite.core.learn.tally import Tally
from vwlite.model.learners import make_loss

LARGEST_SCORE = 50.0  # beyond, no constant is better for labels of two values
WORSE = 1.0005  # times the loss of the best constant: what shows in the digits that are printed


class Baseline(NamedTuple):
    """loss: the least average loss of one prediction for all examples. at_zero: that of the prediction 0, where
    learning begins. accuracy: the share of the most frequent of two labels or classes; log_loss: of the shares of the
    classes; None where there is none."""

    loss: float
    at_zero: float
    accuracy: float | None = None
    log_loss: float | None = None


def is_worse(loss: float | None, baseline: float | None) -> bool:
    """Whether a loss is above that of the best constant."""
    return loss is not None and baseline is not None and 0 < WORSE * baseline <= loss


def baseline_of(settings: Settings, learner: Learner, tally: Tally) -> Baseline | None:
    """None if the tally does not tell it. It does for classes, for labels of two values, and for losses of numbers or
    counts."""
    if not tally.weight or not settings.loss:
        return None
    find = _OF_TASK.get(settings.outputs.task, _of_number)
    return find(settings, learner, tally)


def _of_classes(settings: Settings, learner: Learner, tally: Tally) -> Baseline | None:
    rows = tally.matrix(learner.named)
    if not rows:
        return None
    shares = [sum(row) / tally.weight for row in rows]
    entropy = math.fsum(-share * math.log(share) for share in shares if 0 < share < 1)
    return Baseline(1 - max(shares), 0.0, max(shares), entropy if tally.probable else None)


def _of_quantiles(settings: Settings, learner: Learner, tally: Tally) -> Baseline | None:
    taus = settings.outputs.taus
    each = [_of_number(replace(settings, quantile_tau=tau), learner, tally) for tau in taus]
    found = [(one.loss, one.at_zero) for one in each if one is not None]
    return Baseline(*(math.fsum(x) / len(found) for x in zip(*found, strict=True))) if found else None


_OF_TASK = {"classes": _of_classes, "quantiles": _of_quantiles}


def _of_number(settings: Settings, learner: Learner, tally: Tally) -> Baseline | None:
    mean, a, b = tally.labels / tally.weight, tally.min_label, tally.max_label
    if settings.loss == "squared":
        square = tally.squares / tally.weight
        found = Baseline(max(square - mean * mean, 0.0), square)
    elif a == b:
        return None
    elif learner.distinct_labels <= 2:
        found = _of_two(settings, a, b, (mean - a) / (b - a))
    elif tally.sample is not None:
        found = _of_sample(settings, tally.sample)
    elif power := make_loss(settings).power:
        own = tally.entropy / tally.weight
        found = Baseline(half_deviance(power, mean, mean, own), half_deviance(power, 1.0, mean, own))
    else:
        return None
    if tally.accuracy is not None:
        share = (1 + mean) / 2
        found = found._replace(accuracy=max(share, 1 - share))
    return found


def half_deviance(power: float, constant: float, mean: float, own: float) -> float:
    """The mean loss, of this power, of a constant prediction of the mean. mean: of the labels; own: of `own_part`."""
    if power == 1:
        found = constant - mean - mean * math.log(constant) + own
    elif power == 2:
        found = mean / constant - 1 + math.log(constant) - own
    else:
        a, b = power - 1, 2 - power
        found = constant**b / b + mean * constant**-a / a - own / (a * b)
    return max(found, 0.0)


def _of_sample(settings: Settings, sample: LabelSample) -> Baseline:
    """Of the labels, or a part of them if they are many."""
    loss, labels, importances = make_loss(settings), sample.labels, sample.importances
    best = best_constant(loss, labels, importances)
    return Baseline(*(float(constant_loss(loss, p, labels, importances)) for p in (best, 0.0)))


def _of_two(settings: Settings, a: float, b: float, share: float) -> Baseline:
    """Of labels a and b. share: of b."""
    loss = make_loss(settings)

    def at(p: float) -> float:
        return float(share * loss(p, b) + (1 - share) * loss(p, a))

    low, high = min(a, -LARGEST_SCORE), max(b, LARGEST_SCORE)
    for _ in range(200):  # it is convex: ternary search drops a third of the interval each time
        third = (high - low) / 3
        low, high = (low, high - third) if at(low + third) <= at(high - third) else (low + third, high)
    return Baseline(at((low + high) / 2), at(0))
