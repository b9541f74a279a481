"""The baseline of a run: what the best constant prediction has for the examples that were evaluated."""

import math
from typing import NamedTuple

from vwlite.algorithms.build import make_loss
from vwlite.core.learn.learner import Learner
from vwlite.core.learn.tally import Tally
from vwlite.options.settings import Settings

LARGEST_SCORE = 50.0  # beyond, no constant is better for labels of two values


class Baseline(NamedTuple):
    """loss: the least average loss of one prediction for all examples. at_zero: that of the prediction 0, where
    learning begins. accuracy: the share of the most frequent of two labels or classes; log_loss: of the shares of the
    classes; None where there is none."""

    loss: float
    at_zero: float
    accuracy: float | None = None
    log_loss: float | None = None


def baseline_of(settings: Settings, learner: Learner, tally: Tally) -> Baseline | None:
    """None if the sums of the tally do not tell it. They do for classes, for labels of two values, and for the squared
    loss."""
    if not tally.weight or not settings.loss:
        return None
    if learner.class_names is not None:
        rows = tally.matrix(learner.named)
        if not rows:
            return None
        shares = [sum(row) / tally.weight for row in rows]
        entropy = -math.fsum(share * math.log(share) for share in shares if share > 0)
        return Baseline(1 - max(shares), 0.0, max(shares), entropy if tally.probable else None)
    mean, a, b = tally.labels / tally.weight, tally.min_label, tally.max_label
    if settings.loss == "squared":
        square = tally.squares / tally.weight
        found = Baseline(max(square - mean * mean, 0.0), square)
    elif learner.distinct_labels > 2 or a == b:
        return None
    else:
        found = _of_two(settings, a, b, (mean - a) / (b - a))
    if tally.accuracy is not None:
        share = (1 + mean) / 2
        found = found._replace(accuracy=max(share, 1 - share))
    return found


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
