"""What is counted for measures of each kind of task: two labels, numbers, classes."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vwlite.algorithms.losses import usual_threshold
from vwlite.algorithms.settings import Settings
from vwlite.core.learn.labels import best_constant, constant_loss
from vwlite.core.learn.learner import Learner
from vwlite.core.learn.losses import Loss
from vwlite.evaluation import ranking
from vwlite.evaluation.sums import MOST_KEPT, Floats, Mean, Moments, Ranked, Sample, Scores, Unit
from vwlite.model.learners import make_loss, make_losses

GROUPS = 10  # of calibration


class Rows(NamedTuple):
    """Labelled examples: label, importance, prediction as the loss takes it (or number of a class), loss, -log of
    the probability of the label's class, and the rank of this class; the facts of several quantiles, [facts,
    examples]."""

    label: Floats
    weight: Floats
    prediction: Floats
    loss: Floats
    log_loss: Floats
    rank: Floats
    facts: Floats

    @staticmethod
    def of(table: Floats) -> "Rows":
        """table: a row for each column, and for each fact."""
        label, weight, prediction, loss, log_loss, rank = table[:6]
        return Rows(label, weight, prediction, loss, log_loss, rank, table[6:])

    def where(self, chosen: Any) -> "Rows":
        return Rows(*(column[..., chosen] for column in self))

    def followed_by(self, others: list["Rows"]) -> "Rows":
        return Rows(*(np.concatenate(column, -1) for column in zip(self, *others, strict=True))) if others else self


class Kind:
    """What is counted of the examples of a kind of task. loss: the name of the model's."""

    top = 0  # classes that an example is given

    def __init__(self, loss: str = "") -> None:
        self.loss = loss
        self.weighted = False  # an importance is not 1, so that their sums are not numbers of rows
        self._unit, self._weight = Unit(), 0.0

    def count(self, rows: Rows) -> None:
        self.weighted = self.weighted or bool((rows.weight != 1).any())
        w, shrunk = self._unit.take(rows.weight)
        self._weight = shrunk * self._weight + float(w.sum())

    @property
    def weight(self) -> float:
        """The sum of the importances."""
        return self._unit.whole(self._weight)

    def details(self) -> dict[str, Any]:
        """What else there is to say, for JSON."""
        return {}


def probability_of(score: Floats) -> Floats:
    """The logistic function, without overflow."""
    e = np.exp(-np.abs(score))
    return np.where(score >= 0, 1.0, e) / (1.0 + e)


class Found(NamedTuple):
    """What a threshold finds."""

    threshold: float
    found: float  # importance of the positive examples with a positive prediction
    false: float  # ... and of the negative ones
    positive: float  # importance of all positive examples

    @property
    def recall(self) -> float:
        return self.found / self.positive if self.positive else 0.0

    @property
    def precision(self) -> float | None:
        return self.found / (self.found + self.false) if self.found + self.false else None

    @property
    def f1(self) -> float:
        return 2 * self.found / (self.found + self.false + self.positive) if self.positive else 0.0

    def as_dict(self) -> dict[str, Any]:
        return {**self._asdict(), "recall": self.recall, "precision": self.precision, "f1": self.f1}


class Binary(Kind):
    """Two labels. probable: scores are those of the logistic loss, so that they mean probabilities. loss: the name of
    the loss. constant: its value for the best constant, where that is another loss. threshold: of probabilities, else
    of scores; None: 0.5 or 0, which accuracy has too."""

    @classmethod
    def of(cls, settings: Settings, learner: Learner, *, most: int, threshold: float | None, top: int) -> "Binary":
        return cls(probable=settings.loss == "logistic", loss=settings.loss, threshold=threshold, most=most)

    def __init__(self, *, probable: bool, loss: str, threshold: float | None = None, most: int = MOST_KEPT) -> None:
        super().__init__(loss)
        self.probable, self._threshold = probable, threshold
        self.scores, self._share = Scores(most), Mean()
        self._ranked: Ranked | None = None
        self.positives = 0  # examples
        self.constant: float | None = None

    def count(self, rows: Rows) -> None:
        super().count(rows)
        positive = rows.label > 0
        self._ranked = None
        self.positives += int(positive.sum())
        self._share.add(positive.astype(np.float64), rows.weight)
        self.scores.add(rows.prediction, np.where(positive, rows.weight, -rows.weight))

    @property
    def share(self) -> float:
        """The importance of the positive examples, as a share."""
        return min(max(self._share.value or 0.0, 0.0), 1.0)

    @property
    def ranked(self) -> Ranked:
        if self._ranked is None:
            self._ranked = self.scores.ranked()
        return self._ranked

    def predicted(self, score: Floats) -> Floats:
        """What a score is shown as: a probability, if it means one."""
        return probability_of(score) if self.probable else score

    def decided(self, score: Floats, threshold: float | None = None) -> npt.NDArray[np.bool_]:
        """Which scores are decided as the positive label: those of at least the threshold."""
        least = usual_threshold(probable=self.probable) if threshold is None else threshold
        return self.predicted(score) >= least

    def at_threshold(self) -> Found:
        """At the threshold that was asked for, or that of `accuracy`."""
        r = self.ranked
        shown = usual_threshold(probable=self.probable) if self._threshold is None else self._threshold
        chosen = self.decided(r.score, shown)
        return self._found(shown, r.positive[chosen].sum(), r.negative[chosen].sum(), r.positive.sum())

    def _found(self, threshold: float, *sums: float) -> Found:
        """sums: in the unit of the scores."""
        return Found(threshold, *map(self.scores.unit.whole, sums))

    def best(self) -> Found | None:
        """At the threshold of the largest F1; None without positive examples."""
        if not self.ranked.positive.any():
            return None
        c = ranking.curve(self.ranked)
        _, at = ranking.best_f1(c)
        threshold = float(self.predicted(c.score[at : at + 1])[0])
        return self._found(threshold, c.found[at], c.false[at], c.positive)

    def calibration(self) -> list[ranking.Group]:
        """The calibration table of probabilities; empty if scores are not probabilities."""
        if not self.probable:
            return []
        groups = ranking.calibration(self.ranked, probability_of(self.ranked.score), GROUPS)
        return [group._replace(weight=self.scores.unit.whole(group.weight)) for group in groups]

    def details(self) -> dict[str, Any]:
        best = self.best()
        return {
            "positive": self.positives,
            "share_positive": self.share,
            "threshold": self.at_threshold().as_dict(),
            "best_f1": best and best.as_dict(),
            "calibration": [
                {**group._asdict(), "interval": list(group.interval)} for group in self.calibration()
            ],
        }


class Regression(Kind):
    """Numbers. loss: the name of the loss that the model minimizes. robust: that loss, if its best constant is not the
    mean of the labels. The baseline is that mean, and for such a loss its own best constant. power: that of the loss
    (`Loss.power`); if it is not 0, predictions are logarithms of means. offset: predictions are of log(1 + label),
    and means are exp(prediction + offset) - 1; None: they are not."""

    @classmethod
    def of(cls, settings: Settings, learner: Learner, *, most: int, threshold: float | None, top: int) -> "Regression":
        loss, offset = make_loss(settings), settings.outputs.transform.offset(learner.offset)
        robust = loss if loss.keeps_labels else None
        return cls(loss=settings.loss, robust=robust, power=loss.power, offset=offset, most=most)

    def __init__(
        self, *, loss: str, robust: Loss | None = None, power: float = 0.0, offset: float | None = None,
        most: int = MOST_KEPT,
    ) -> None:
        super().__init__(loss)
        self.robust, self.power, self.offset = robust, power, offset
        self.moments, self.labels = Moments(), Scores(most)
        self.squared = Mean()  # errors
        self.relative, self.zeros = Mean(), 0  # |error / label| of labels that are not 0; the number of the others
        self.entropy = Mean()  # of what the loss has of the label alone
        self._sample = Sample()

    def mean_of(self, rows: Rows) -> Floats:
        """The predictions as numbers like the labels."""
        return self.shown(rows.prediction)

    def shown(self, prediction: Floats) -> Floats:
        """A prediction as a number like the labels."""
        if self.offset is not None:
            return np.expm1(prediction + self.offset)
        return np.exp(prediction) if self.power else prediction

    def count(self, rows: Rows) -> None:
        super().count(rows)
        self.moments.add(rows.label, (rows.label - self.mean_of(rows)) ** 2, rows.weight)
        self.labels.add(rows.label, rows.weight)
        some, error = rows.label != 0, np.abs(rows.label - self.mean_of(rows))
        self.squared.add(error**2, rows.weight)
        self.relative.add(error[some] / np.abs(rows.label[some]), rows.weight[some])
        self.zeros += rows.label.size - int(some.sum())
        self._sample.add(self.mean_of(rows), rows.label, rows.weight)
        if self.power:
            self.entropy.add(own_part(rows.label, self.power), rows.weight)

    def distribution(self) -> tuple[Floats, Floats]:
        """The different labels, and the share of each."""
        labels = self.labels.ranked()
        return labels.score, labels.positive / labels.positive.sum()

    def sample(self) -> list[Floats]:
        """Predictions, labels and importances of some rows."""
        return self._sample.columns()

    def groups(self) -> list[ranking.Group]:
        """Mean labels of groups by ascending prediction, of a sample."""
        predicted, label, weight = self.sample()
        return ranking.groups_of_means(predicted, label, weight, GROUPS)

    def details(self) -> dict[str, Any]:
        return {"mean_label": self.moments.mean, "labels_of_zero": self.zeros}


class Quantiles(Kind):
    """Several quantiles of a number, of settings. The baseline is made of the quantiles of the labels."""

    @classmethod
    def of(cls, settings: Settings, learner: Learner, *, most: int, threshold: float | None, top: int) -> "Quantiles":
        return cls(settings, most)

    def __init__(self, settings: Settings, most: int = MOST_KEPT) -> None:
        super().__init__("quantile")
        self.settings, self.labels = settings, Scores(most)
        self._constant: list[float] = []

    def count(self, rows: Rows) -> None:
        super().count(rows)
        self.labels.add(rows.label, rows.weight)
        self._constant = []

    def constant_losses(self) -> list[float]:
        """That of the best constant prediction of each."""
        self._constant = self._constant or self.losses_of(lambda y: y)
        return self._constant

    def losses_of(self, mapped: Callable[[Floats], Floats]) -> list[float]:
        """The same of mapped labels."""
        labels = self.labels.ranked()
        y, share = mapped(labels.score), labels.positive / labels.positive.sum()
        return [float(constant_loss(x, best_constant(x, y, share), y, share)) for x in make_losses(self.settings)]


def own_part(y: Floats, power: float) -> Floats:
    """What depends only on the label in the loss of this power, but for factors and multiples of the label."""
    return x_log_x(y) if power == 1 else np.log(y) if power == 2 else y ** (2 - power)


def x_log_x(x: Floats) -> Floats:
    return np.where(x > 0, x * np.log(np.where(x > 0, x, 1.0)), 0.0)


class Classes(Kind):
    """Several classes, at most `limit`. probable: they have probabilities. most: cells of a confusion matrix that is
    kept."""

    @classmethod
    def of(cls, settings: Settings, learner: Learner, *, most: int, threshold: float | None, top: int) -> "Classes":
        return cls(limit=learner.class_names.limit, probable=learner.classifier.probable, most=most, top=top)

    def __init__(self, *, limit: int, probable: bool, most: int = MOST_KEPT, top: int = 0) -> None:
        super().__init__()
        self.probable, self.top = probable, top
        self.sums = np.zeros((3, limit + 1))  # importance of labels, of predictions, and of those that are right
        self.confusion = np.zeros((limit + 1, limit + 1)) if (limit + 1) ** 2 <= most else None

    def count(self, rows: Rows) -> None:
        super().count(rows)
        label, prediction, n = rows.label.astype(np.int64), rows.prediction.astype(np.int64), self.sums.shape[1]
        self.sums[0] += np.bincount(label, rows.weight, n)
        self.sums[1] += np.bincount(prediction, rows.weight, n)
        self.sums[2] += np.bincount(label, rows.weight * (label == prediction), n)
        if self.confusion is not None:
            np.add.at(self.confusion, (label, prediction), rows.weight)

    def of_each(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Importance, precision, recall and F1 of each class, counted from 0; 0 where it is not defined."""
        label, predicted, right = self.sums[:, 1:]
        with np.errstate(invalid="ignore", divide="ignore"):
            found = [right / predicted, right / label, 2 * right / (label + predicted)]
        precision, recall, f1 = (np.nan_to_num(x, nan=0.0) for x in found)
        return label, precision, recall, f1

    def shares(self) -> Floats:
        """Of the classes that are a label."""
        label = self.sums[0, 1:]
        return np.asarray(label[label > 0] / label.sum())

    def most_of(self, n: int) -> float:
        """The share of the n most frequent classes."""
        return float(np.sort(self.shares())[-n:].sum())


KINDS: dict[str, Any] = {"number": Regression, "two labels": Binary, "quantiles": Quantiles, "classes": Classes}
