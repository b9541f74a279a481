"""What is counted over the examples: Vowpal Wabbit's `shared_data`."""

from dataclasses import dataclass
from math import exp, log

LARGEST = 3.4028234663852886e38  # as a 32-bit float
UNKNOWN = LARGEST * 0.5  # the loss of a pass that held nothing out: worse than any, better than none

COUNTS = (
    "t", "weighted_labeled_examples", "weighted_labels", "weighted_unlabeled_examples", "example_number",
    "total_features", "holdout_weight", "holdout_weight_since_dump", "holdout_weight_since_pass",
)  # fmt: skip


@dataclass
class Statistics:
    """Sums over examples; those that are held out apart. The field names are those of the readable model."""

    t: float = 0.0
    sum_loss: float = 0.0
    sum_loss_since_last_dump: float = 0.0
    dump_interval: float = 1.0
    weighted_labeled_examples: float = 0.0
    weighted_labels: float = 0.0
    weighted_unlabeled_examples: float = 0.0
    example_number: int = 0
    total_features: int = 0
    old_weighted_labeled_examples: float = 0.0
    current_pass: int = 0

    holdout_weight: float = 0.0
    holdout_loss: float = 0.0
    holdout_weight_since_dump: float = 0.0
    holdout_loss_since_dump: float = 0.0
    holdout_weight_since_pass: float = 0.0
    holdout_loss_since_pass: float = 0.0
    best_holdout: float = LARGEST
    without_gain: int = 0

    first_label: float | None = None
    second_label: float | None = None
    more_labels: bool = False

    @property
    def weight(self) -> float:
        return self.weighted_labeled_examples + self.weighted_unlabeled_examples

    def update(self, held: bool, labelled: bool, loss: float, weight: float, features: int) -> None:
        """Count one example. held: it was held out."""
        self.t += weight
        if held and labelled:
            self.holdout_weight += weight
            self.holdout_loss += loss
            self.holdout_weight_since_dump += weight
            self.holdout_loss_since_dump += loss
            self.holdout_weight_since_pass += weight
            self.holdout_loss_since_pass += loss
            return
        if labelled:
            self.weighted_labeled_examples += weight
        else:
            self.weighted_unlabeled_examples += weight
        self.sum_loss += loss
        self.sum_loss_since_last_dump += loss
        self.total_features += features
        self.example_number += 1

    def __sub__(self, other: "Statistics") -> dict[str, float]:
        """What was counted in between, losses apart."""
        return {name: getattr(self, name) - getattr(other, name) for name in COUNTS}

    def repeat(self, counts: dict[str, float], loss: float, holdout_loss: float) -> None:
        """Count the examples of an earlier pass again, with other losses."""
        for name, count in counts.items():
            setattr(self, name, getattr(self, name) + count)
        self.sum_loss += loss
        self.sum_loss_since_last_dump += loss
        self.holdout_loss += holdout_loss
        self.holdout_loss_since_dump += holdout_loss
        self.holdout_loss_since_pass += holdout_loss

    def see_label(self, label: float) -> None:
        """Remember which labels there are, for the best constant."""
        if self.more_labels or label == self.first_label or label == self.second_label:
            return
        if self.first_label is None:
            self.first_label = label
        elif self.second_label is None:
            self.second_label = label
        else:
            self.more_labels = True

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
    """What the best constant depends on."""

    name: str
    tau: float = 0.5
    logistic_min: float = -1.0
    logistic_max: float = 1.0

    def best(self, s: Statistics) -> tuple[float, float | None] | None:
        """The constant with the least loss, and its average loss if that is known."""
        if s.first_label is None or s.weighted_labeled_examples == 0:
            return None
        first, second = s.first_label, s.second_label
        if second is None:
            if first == 0:
                return None
            second = 0.0
        low, high = min(first, second), max(first, second)
        weight = s.weighted_labeled_examples
        if s.more_labels:
            if self.name not in ("squared", "classic"):
                return None
            return s.weighted_labels / weight, None
        n_low = (s.weighted_labels - high * weight) / (low - high)
        n_high = weight - n_low
        if n_low + n_high <= 0:
            return None
        if self.name in ("squared", "classic"):
            constant = s.weighted_labels / weight
            loss = self._mean((constant - low) ** 2, (constant - high) ** 2, n_low, n_high)
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

    def _quantile(self, e: float) -> float:
        return self.tau * e if e > 0 else -(1 - self.tau) * e


def _logistic(yp: float) -> float:
    return log(1 + exp(-yp)) if yp > -500 else -yp


