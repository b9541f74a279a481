"""Numbers about data, with their errors, that are compared from day to day."""

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from vwlite.core.learn.learner import Learner


FEW = 30  # examples
BUCKETS = 64  # of the hashes of a column's features
CHANCE = 1.6  # of d = sum |p - q| / 2 over 64 buckets: E d + 3 sd <= 3 * 1.6 sqrt(1 / n + 1 / m), for n and m lines


class Watched(NamedTuple):
    """What a number is of: the data, a class, or a column."""

    key: str
    of_class: str = ""
    column: str = ""

    @property
    def name(self) -> str:
        """The key in JSON, where numbers of a column are one object."""
        return f"{self.key}_{self.of_class}" if self.of_class else self.key

    @property
    def text(self) -> str:
        """For people, and in models."""
        text = self.key.replace("_", " ")
        return f"{self.column}: {text}" if self.column else f"{text} {self.of_class}" if self.of_class else text

    @staticmethod
    def restored(text: str) -> "Watched":
        """That of a model."""
        kind, _, name = text.partition(" ")
        return Watched("label", name) if kind == "label" else Watched(text.replace(" ", "_"))


class Number(NamedTuple):
    """A mean or a share, and its standard error, infinite if it is not known."""

    value: float
    error: float


def mean(total: float, squares: float, weight: float, weight2: float) -> Number:
    """The mean of x, from the sums of w x, w x^2, w and w^2. The error of few examples is infinite: they may be equal
    by chance."""
    value, n = total / weight, effective(weight, weight2)
    return Number(value, math.sqrt(max(squares / weight - value * value, 0.0) / n) if n >= FEW else math.inf)


def effective(weight: float, weight2: float) -> float:
    """The effective number of examples; 0 if it is unknown, as the squares of the weights overflow or underflow."""
    return weight * weight / weight2 if 0 < weight2 < math.inf and weight * weight < math.inf else 0.0


def share(part: float, whole: float, examples: float) -> Number:
    """A share of features or examples. The error is sqrt(s (1 - s) / examples), with s the share after one more example
    that has it and one that does not. For features this is an upper bound, reached if those of an example are alike."""
    value, n = part / whole if whole else 0.0, max(examples, 1)
    s = (value * n + 1) / (n + 2)
    return Number(value, math.sqrt(max(s * (1 - s), 0.0) / n))


def differs(before: Number, after: Number) -> bool:
    """|b - a| > |a| / 10 and |b - a| > 3 sqrt(e_a^2 + e_b^2), for values a before and b after and their errors."""
    change = 0.0 if after.value == before.value else abs(after.value - before.value)  # infinite ones, too
    return bool(change > abs(before.value) / 10 and change > 3 * math.hypot(before.error, after.error))


def mean_of(learner: "Learner", what: str) -> Watched:
    """The mean label or prediction."""
    return Watched(f"mean_log1p_{what}" if learner.writer.of_log else f"mean_{what}")


def watched(learner: "Learner") -> dict[Watched, Number]:
    """What a learner has counted of labelled examples; and of features, if it does not learn. Predictions are
    probabilities if `logistic` of its tally was set."""
    tally, names, found = learner.progressive, learner.class_names, dict[Watched, Number]()
    if learner.looked_up:
        found[Watched("unknown_features")] = share(learner.unknown, learner.looked_up, learner.examples)
    if not tally.weight:
        return found
    examples = effective(tally.weight, tally.weight2)
    if names is not None:
        sums = map(sum, tally.matrix(learner.named) or [])
        found |= {Watched("label", name): share(x, tally.weight, examples)
                  for name, x in zip(names.first(learner.named), sums, strict=False)}
    else:
        found[mean_of(learner, "label")] = (
            share((tally.weight + tally.labels) / 2, tally.weight, examples) if tally.signs else
            mean(tally.labels, tally.squares, tally.weight, tally.weight2))
        found[mean_of(learner, "prediction")] = mean(
            tally.predictions, tally.prediction_squares, tally.weight, tally.weight2)
    return found | {Watched("loss"): mean(tally.loss, tally.loss_squares, tally.weight, tally.weight2)}
