"""The measures of each kind of task: two labels, numbers, classes."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vwlite.algorithms.losses import usual_threshold
from vwlite.core.learn.labels import best_constant, constant_loss
from vwlite.core.learn.losses import Huber, Quantile
from vwlite.evaluation import ranking
from vwlite.evaluation.sums import MOST_KEPT, Floats, Interval, Mean, Moments, Ranked, Sample, Scores, around, cut

GROUPS = 10  # of calibration
LARGEST = {"accuracy": 1.0, "Brier": 1.0, "AUC": 1.0}  # values of measures that have one
AT_ONCE = 8192  # rows that are counted together


class Measure(NamedTuple):
    """One number, beside that of the best constant prediction."""

    name: str
    value: float | None  # None: it is not defined
    baseline: float | None = None
    interval: Interval | None = None
    larger: bool = False  # is better
    why: str = ""  # it is not defined
    about: bool = False  # it comes from bins

    @property
    def key(self) -> str:
        """The name as programs have it."""
        return _key(self.name)

    def as_dict(self) -> dict[str, Any]:
        low, high = self.interval or (None, None)
        found = {"value": self.value, "baseline": self.baseline, "low": low, "high": high}
        return found | ({"approximate": True} if self.about else {}) | ({"undefined": self.why} if self.why else {})


def _key(name: str) -> str:
    return name.lower().replace(" ", "_").replace("^", "").replace("-", "_")


class Rows(NamedTuple):
    """Labelled examples: label, importance, prediction as the loss takes it (or number of a class), loss, and -log of
    the probability of the label's class."""

    label: Floats
    weight: Floats
    prediction: Floats
    loss: Floats
    log_loss: Floats

    def where(self, chosen: Any) -> "Rows":
        return Rows(*(column[chosen] for column in self))

    def followed_by(self, others: list["Rows"]) -> "Rows":
        return Rows(*(np.concatenate(column) for column in zip(self, *others, strict=True))) if others else self


class Evaluation:
    """The measures of a stream of examples. columns: whose means are measures, for each example."""

    larger: tuple[str, ...] = ("accuracy",)  # measures of which more is better
    others: tuple[str, ...] = ()  # keys of measures that are not means

    def __init__(self) -> None:
        self.rows = 0
        self.weighted = False  # an importance is not 1, so that their sums are not numbers of rows
        self.means: dict[str, Mean] = {}
        self._waiting: list[Rows] = []
        self._uncounted = 0

    def columns(self, rows: Rows) -> dict[str, Floats]:
        raise NotImplementedError

    def add(self, rows: Rows) -> None:
        """Count these rows, at the latest in `finish`."""
        self._waiting.append(rows)
        self.rows += rows.label.size
        self._uncounted += rows.label.size
        if self._uncounted >= AT_ONCE:
            self.finish()

    def finish(self) -> None:
        """Count the rows that wait. Before it, measures are of fewer rows."""
        if self._waiting:
            self.count(self._waiting[0].followed_by(self._waiting[1:]))
        self._waiting, self._uncounted = [], 0

    def count(self, rows: Rows) -> None:
        self.weighted = self.weighted or bool((rows.weight != 1).any())
        for name, column in self.columns(rows).items():
            self.means.setdefault(name, Mean()).add(column, rows.weight)

    @property
    def weight(self) -> float:
        return next(iter(self.means.values())).weight if self.means else 0.0

    def measures(self) -> list[Measure]:
        """Those that there are; call it if there is some weight."""
        raise NotImplementedError

    def names(self) -> list[str]:
        """The keys of the measures."""
        one = Rows(*(np.ones(1) for _ in Rows._fields))
        return [*map(_key, self.columns(one)), *self.others]

    def _of_means(self, baselines: dict[str, float | None]) -> list[Measure]:
        """Losses are at least 0. Shares have the interval of Wilson."""
        return [
            Measure(name, mean.value, baselines.get(name),
                    mean.of_share if name == "accuracy" else cut(mean.interval, 0.0, LARGEST.get(name, math.inf)),
                    name in self.larger)
            for name, mean in self.means.items()
        ]

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
    found: float  # importance of the positive examples that are predicted as such
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


class Binary(Evaluation):
    """Two labels. probable: scores are those of the logistic loss, so that they mean probabilities. loss: the name of
    the loss. constant: its value for the best constant, where that is another loss. threshold: of probabilities, else
    of scores; None: 0.5 or 0, which accuracy has too."""

    others = ("auc", "average_precision")

    def __init__(self, *, probable: bool, loss: str, threshold: float | None = None, most: int = MOST_KEPT) -> None:
        super().__init__()
        self.probable, self._loss, self._threshold = probable, "log loss" if probable else f"{loss} loss", threshold
        self.scores, self._share = Scores(most), Mean()
        self._ranked: Ranked | None = None
        self.positives = 0  # examples
        self.constant: float | None = None

    def columns(self, rows: Rows) -> dict[str, Floats]:
        positive = rows.label > 0
        found = {self._loss: rows.loss, "accuracy": (self.decided(rows.prediction) == positive).astype(np.float64)}
        if self.probable:
            found["Brier"] = np.expm1(-rows.loss) ** 2  # the loss is -log of the label's probability
        return found

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

    def measures(self) -> list[Measure]:
        p, r, about = self.share, self.ranked, self.scores.binned
        entropy = sum(-x * math.log(x) for x in (p, 1 - p) if x > 0)
        constant = entropy if self.probable else self.constant
        baselines = {self._loss: constant, "accuracy": max(p, 1 - p), "Brier": p * (1 - p)}
        first, accuracy, *brier = self._of_means(baselines)
        if r.of_both:
            area, error = ranking.auc(r)
            precision = ranking.average_precision(ranking.curve(r))
            interval = ranking.average_precision_interval(precision, r)
            ordered = [
                Measure("AUC", area, 0.5, ranking.auc_interval(area, error), True, about=about),
                Measure("average precision", precision, p, interval, True, about=about),
            ]
        else:
            why = f"all labels are {'positive' if p else 'negative'}"
            ordered = [Measure(name, None, why=why, larger=True) for name in ("AUC", "average precision")]
        return [first, *ordered, *brier, accuracy]

    def decided(self, score: Floats, threshold: float | None = None) -> npt.NDArray[np.bool_]:
        """Which scores are those of the positive label: from the threshold on."""
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
        """Of probabilities; empty if scores are none."""
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


class Regression(Evaluation):
    """Numbers. loss: the name of the loss that the model minimizes. tau: of the quantile loss; delta: of Huber's. The
    baseline is the mean of the labels, and for these two losses their own best constant."""

    others = ("r2",)

    def __init__(self, *, loss: str, tau: float = 0.5, delta: float = 1.0, most: int = MOST_KEPT) -> None:
        super().__init__()
        self.loss = loss
        self._robust = {"quantile": Quantile(tau), "huber": Huber(delta)}.get(loss)
        self._moments, self._labels = Moments(), Scores(most)
        self._entropy = Mean()  # of y log y
        self._sample = Sample()

    def mean_of(self, rows: Rows) -> Floats:
        """The predictions as numbers like the labels."""
        return np.exp(rows.prediction) if self.loss == "poisson" else rows.prediction

    def columns(self, rows: Rows) -> dict[str, Floats]:
        y, p = rows.label, self.mean_of(rows)
        found = {"MSE": (y - p) ** 2, "MAE": np.abs(y - p)}
        if self.loss == "poisson":
            found["Poisson deviance"] = 2 * (_x_log_x(y) - y * rows.prediction - y + p)
        elif self._robust is not None:
            found[f"{self.loss} loss"] = rows.loss
        return found

    def count(self, rows: Rows) -> None:
        super().count(rows)
        self._moments.add(rows.label, (rows.label - self.mean_of(rows)) ** 2, rows.weight)
        self._labels.add(rows.label, rows.weight)
        self._sample.add(self.mean_of(rows), rows.label, rows.weight)
        if self.loss == "poisson":
            self._entropy.add(_x_log_x(rows.label), rows.weight)

    def measures(self) -> list[Measure]:
        moments, labels = self._moments, self._labels.ranked()
        mean, of = moments.mean, labels.positive / labels.positive.sum()
        distance = labels.score - mean
        baselines: dict[str, float | None] = {"MSE": moments.variance, "MAE": float(of @ np.abs(distance))}
        if self._robust is not None:
            best = best_constant(self._robust, labels.score, of)
            baselines[f"{self.loss} loss"] = float(constant_loss(self._robust, best, labels.score, of))
        elif self.loss == "poisson":
            entropy = self._entropy.value or 0.0
            baselines["Poisson deviance"] = 2 * (entropy - mean * math.log(mean)) if mean > 0 else 0.0
        mse, mae, *own = self._of_means(baselines)
        found = moments.r2()
        if found is None:
            r2 = Measure("R^2", None, why="all labels are the same", larger=True)
        else:
            r2 = Measure("R^2", found[0], 0.0, cut(around(*found), -math.inf, 1.0), larger=True)
        about = self._labels.binned
        return [m._replace(about=about and m.name not in ("MSE", "Poisson deviance")) for m in (mse, mae)] + [r2, *own]

    def groups(self) -> list[ranking.Group]:
        """Mean labels of groups by ascending prediction, of a sample."""
        predicted, label, weight = self._sample.columns()
        return ranking.groups_of_means(predicted, label, weight, GROUPS)

    def details(self) -> dict[str, Any]:
        return {"mean_label": self._moments.mean}


def _x_log_x(x: Floats) -> Floats:
    return np.where(x > 0, x * np.log(np.where(x > 0, x, 1.0)), 0.0)


class Classes(Evaluation):
    """Several classes, at most `limit`. probable: they have probabilities. most: cells of a confusion matrix that is
    kept."""

    others = ("macro_precision", "macro_recall", "macro_f1")

    def __init__(self, *, limit: int, probable: bool, most: int = MOST_KEPT) -> None:
        super().__init__()
        self._probable = probable
        self.sums = np.zeros((3, limit + 1))  # importance of labels, of predictions, and of those that are right
        self.confusion = np.zeros((limit + 1, limit + 1)) if (limit + 1) ** 2 <= most else None

    def columns(self, rows: Rows) -> dict[str, Floats]:
        found = {"accuracy": (rows.label == rows.prediction).astype(np.float64)}
        return {"log loss": rows.log_loss, **found} if self._probable else found

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

    def measures(self) -> list[Measure]:
        label, precision, recall, f1 = self.of_each()
        shares = label[label > 0] / label.sum()
        most = float(shares.max())
        baselines: dict[str, float | None] = {"accuracy": most, "log loss": -float(shares @ np.log(shares))}
        there = (self.sums[0] + self.sums[1] > 0)[1:]
        n, k = int(there.sum()), int((label > 0).sum())
        of_constant = {"precision": most / k, "recall": 1 / k, "F1": 2 * most / (1 + most) / k}
        macro = [
            Measure(f"macro {name}", float(column[there].sum()) / n, of_constant[name], larger=True)
            for name, column in (("precision", precision), ("recall", recall), ("F1", f1))
        ]
        return [*self._of_means(baselines), *macro]
