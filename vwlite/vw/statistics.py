"""Counters over the examples (`shared_data` of Vowpal Wabbit), and the numbers derived from them."""

from dataclasses import dataclass
from math import exp, inf, log

from vwlite.core.vw.counts import Counts

LARGEST = 3.4028234663852886e38  # as a 32-bit float
UNKNOWN = LARGEST * 0.5  # the loss of a pass without a holdout: above any loss, below `LARGEST`

COUNTS = (
    "t", "weighted_labeled_examples", "weighted_labels", "weighted_unlabeled_examples", "example_number",
    "total_features", "holdout_weight", "holdout_weight_since_dump", "holdout_weight_since_pass",
)


class Statistics(Counts):
    """The counts of a run, from pass to pass."""

    def __init__(self) -> None:
        super().__init__()
        self.old_weighted_labeled_examples = 0.0
        self.current_pass = 0
        self.best_holdout = LARGEST
        self.without_gain = 0

    def counts(self) -> dict[str, float]:
        """The current counts, without losses."""
        return {name: getattr(self, name) for name in COUNTS}

    def counts_since(self, before: dict[str, float]) -> dict[str, float]:
        """The difference of the counts since then."""
        return {name: getattr(self, name) - count for name, count in before.items()}

    def repeat(self, counts: dict[str, float], loss: float, holdout_loss: float) -> None:
        """Count the examples of an earlier pass again, with other losses."""
        for name, count in counts.items():
            setattr(self, name, getattr(self, name) + count)
        self.sum_loss += loss
        self.sum_loss_since_last_dump += loss
        self.holdout_loss += holdout_loss
        self.holdout_loss_since_dump += holdout_loss
        self.holdout_loss_since_pass += holdout_loss

    # --- the end of a pass -----------------------------------------------------------------------

    def best_so_far(self) -> bool:
        """At the end of a pass: whether its holdout loss is the best one."""
        loss = UNKNOWN
        if self.holdout_weight_since_pass > 0:
            loss = self.holdout_loss_since_pass / self.holdout_weight_since_pass
        self.holdout_weight_since_pass = self.holdout_loss_since_pass = 0.0
        if loss < self.best_holdout:
            self.best_holdout, self.without_gain = loss, 0
            return True
        self.without_gain += 1
        return False

    @property
    def holdout_of_pass(self) -> float:
        """The average holdout loss of this pass; NaN if there is none."""
        weight = self.holdout_weight_since_pass
        return self.holdout_loss_since_pass / weight if weight > 0 else float("nan")


@dataclass(frozen=True)
class ConstantLoss:
    """The loss that decides the best constant. least, most: the final clipping of predictions."""

    name: str
    tau: float = 0.5
    logistic_min: float = -1.0
    logistic_max: float = 1.0
    least: float = -inf
    most: float = inf

    def best(self, s: Statistics) -> tuple[float, float | None] | None:
        """The constant with the least loss, and its average loss if that is known."""
        if s.distinct_labels == 0 or s.weighted_labeled_examples == 0:
            return None
        first, second = s.first_label, s.second_label
        if s.distinct_labels == 1:
            if first == 0:
                return None
            second = 0.0
        low, high = min(first, second), max(first, second)
        weight = s.weighted_labeled_examples
        if s.distinct_labels > 2:
            if self.name not in ("squared", "classic"):
                return None
            return s.weighted_labels / weight, None
        n_low = (s.weighted_labels - high * weight) / (low - high)
        n_high = weight - n_low
        if n_low + n_high <= 0:
            return None
        if self.name in ("squared", "classic"):
            constant = s.weighted_labels / weight
            loss = self._mean(self._squared(constant, low), self._squared(constant, high), n_low, n_high)
        elif self.name == "hinge":
            if (low, high) != (-1, 1) and (low, high) != (0, 1) and (low, high) != (-1, 0):
                return None
            constant = -1.0 if n_low > n_high else 1.0
            loss = self._mean(max(0.0, 1 - low * constant), max(0.0, 1 - high * constant), n_low, n_high)
        elif self.name == "logistic":
            low, high = -1.0, 1.0
            if n_low <= 0:
                constant = 1.0
            elif n_high <= 0:
                constant = -1.0
            else:
                constant = log(n_high / n_low)
            loss = self._mean(_logistic(-constant), _logistic(constant), n_low, n_high)
        elif self.name == "quantile":
            constant = high if self.tau * (n_low + n_high) < n_high else low
            loss = self._mean(self._quantile(low - constant), self._quantile(high - constant), n_low, n_high)
        else:
            return None
        return constant, loss

    @staticmethod
    def _mean(at_low: float, at_high: float, n_low: float, n_high: float) -> float | None:
        total = 0.0
        if n_low > 0:
            total += at_low * n_low
        if n_high > 0:
            total += at_high * n_high
        return total / (n_low + n_high)

    def _squared(self, p: float, y: float) -> float:
        """The squared loss grows linearly outside the range of labels seen, as `layers.base.evaluated_loss` has it."""
        edge = min(max(p, self.least), self.most) if self.name == "squared" else p
        return (y - edge) ** 2 + 2 * (y - edge) * (edge - p) if edge != p else (y - p) ** 2

    def _quantile(self, e: float) -> float:
        return self.tau * e if e > 0 else -(1 - self.tau) * e


def _logistic(yp: float) -> float:
    return log(1 + exp(-yp)) if yp > -500 else -yp
