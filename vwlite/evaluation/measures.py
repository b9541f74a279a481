"""The measures of an evaluation, a row each: its name, value, interval and baseline, and how it is printed.

To add one, add its row to MEASURES: screen, page, JSON, --against, --by and --fail-if take it from there. k is what is
counted of a kind of task: `vwlite/evaluation/kinds.py`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from vwlite.algorithms.settings import Settings
from vwlite.core.auto.screening import row_losses
from vwlite.core.learn.labels import best_constant, constant_loss
from vwlite.core.learn.losses import Quantile
from vwlite.evaluation import ranking
from vwlite.evaluation.kinds import Binary, Classes, Kind, Quantiles, Regression, Rows, x_log_x
from vwlite.evaluation.sums import MOST_KEPT, Floats, Interval, Mean, around, cut
from vwlite.output.text import percent, shown
from vwlite.runs.baseline import half_deviance

AT_ONCE = 8192  # rows that are counted together


def no_gain(value: float, baseline: float) -> str:
    return ""


def smaller(value: float, baseline: float) -> str:
    """How much better a loss is."""
    if baseline <= 0:
        return ""
    gain = 1 - value / baseline
    return f"{percent(abs(gain))} {'better' if gain >= 0 else 'worse'}"


def fewer_errors(value: float, baseline: float) -> str:
    """How much better an accuracy is."""
    if baseline >= 1:
        return ""
    gain = 1 - (1 - value) / (1 - baseline)
    return f"{percent(gain)} fewer errors" if gain > 0.0005 else "no better than always one label"


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measure is the mean of `each` over the examples, or `value`. Functions of k are called if there is some weight.

    name: {loss} is that of the model, {top} of k. baseline: of the best constant prediction. paired: the difference of
    the values of two models and its standard error, by both scores and the importance, below zero for negative
    examples. why: it is not defined. about: it comes from bins. gain: how much better than the baseline it is, where a
    share says it.
    """

    name: str
    of: type[Kind]
    fits: Callable[[Any], bool] = lambda k: True  # whether k has it
    each: Callable[[Any, Rows], Floats] | None = None
    value: Callable[[Any], float | None] = lambda k: None
    interval: Callable[[Any], Interval | None] = lambda k: None
    baseline: Callable[[Any], float | None] = lambda k: None
    paired: Callable[[Floats, Floats, Floats], tuple[float, float] | None] | None = None
    why: Callable[[Any], str] = lambda k: ""
    about: Callable[[Any], bool] = lambda k: False
    gain: Callable[[float, float], str] = no_gain
    short: str = ""  # the name on a screen, if it is too long for its column
    larger: bool = False  # is better
    share: bool = False  # of examples: its interval is that of Wilson
    low: float = 0.0
    high: float = math.inf
    expected: float | None = None  # the nominal value of a share of examples
    neutral: bool = False  # neither more nor less is better
    listed: bool = True  # in tables and JSON; else only --fail-if knows it
    last: bool = False  # in tables, after those that are not


def _all_alike(k: Binary) -> str:
    return f"all labels are {'positive' if k.share else 'negative'}"


def _from_bins(k: Binary) -> bool:
    return k.scores.binned and k.ranked.of_both


def _entropy(k: Binary) -> float:
    return sum(-p * math.log(p) for p in (k.share, 1 - k.share) if p > 0)


def _average_precision(k: Binary) -> float | None:
    return ranking.average_precision(ranking.curve(k.ranked)) if k.ranked.of_both else None


def _deviance_of_mean(k: Regression) -> float:
    mean = k.moments.mean
    return 2 * half_deviance(k.power, mean, mean, k.entropy.value or 0.0) if mean > 0 else 0.0


def _robust_losses(k: Regression, rows: Rows) -> Floats:
    if k.offset is None or k.robust is None:
        return rows.loss
    return np.asarray(row_losses(k.robust, k.mean_of(rows), rows.label))


def _variance_of_log(k: Regression) -> float:
    label, share = k.distribution()
    label = np.log1p(label)
    return float(share @ (label - share @ label) ** 2)


def _best_robust(k: Regression, mapped: Callable[[Floats], Floats] = np.asarray) -> float:
    assert k.robust is not None
    label, share = k.distribution()
    label = mapped(label)
    return float(constant_loss(k.robust, best_constant(k.robust, label, share), label, share))


def _mean_distance(k: Regression) -> float:
    label, share = k.distribution()
    return float(share @ np.abs(label - k.moments.mean))


def _roots(interval: Interval | None) -> Interval | None:
    return interval and (math.sqrt(interval[0]), math.sqrt(interval[1]))


def _mean_relative_distance(k: Regression) -> float:
    label, share = k.distribution()
    label, share = label[label != 0], share[label != 0]
    return float(share @ np.abs(1 - k.moments.mean / label) / share.sum())


def _macro(k: Classes, column: int) -> float:
    """The mean over the classes that are a label or a prediction, of a column of `of_each`."""
    each = k.of_each()[column][(k.sums[0] + k.sums[1] > 0)[1:]]
    return float(each.sum() / each.size)


MEASURES = (
    Measure(  # of two labels
        name="log loss", of=Binary, fits=lambda k: k.probable, each=lambda k, rows: rows.loss, baseline=_entropy,
        gain=smaller,
    ),
    Measure(
        name="{loss} loss", of=Binary, fits=lambda k: not k.probable, each=lambda k, rows: rows.loss,
        baseline=lambda k: k.constant, gain=smaller,
    ),
    Measure(
        name="AUC", of=Binary, value=lambda k: ranking.auc(k.ranked)[0] if k.ranked.of_both else None,
        interval=lambda k: ranking.auc_interval(*ranking.auc(k.ranked)), baseline=lambda k: 0.5,
        paired=ranking.auc_difference, why=_all_alike, about=_from_bins, larger=True, high=1.0,
    ),
    Measure(
        name="average precision", short="average prec.", of=Binary, value=_average_precision,
        interval=lambda k: ranking.average_precision_interval(_average_precision(k) or 0.0, k.ranked),
        baseline=lambda k: k.share, why=_all_alike, about=_from_bins, larger=True, high=1.0,
    ),
    Measure(
        name="accuracy", of=Binary,
        each=lambda k, rows: (k.decided(rows.prediction) == (rows.label > 0)).astype(np.float64),
        baseline=lambda k: max(k.share, 1 - k.share), gain=fewer_errors, larger=True, share=True, high=1.0, last=True,
    ),
    Measure(  # the squared error of the probability: the loss is -log of that of the label
        name="Brier", of=Binary, fits=lambda k: k.probable, each=lambda k, rows: np.expm1(-rows.loss) ** 2,
        baseline=lambda k: k.share * (1 - k.share), gain=smaller, high=1.0,
    ),
    Measure(name="precision", of=Binary, value=lambda k: k.at_threshold().precision, larger=True, listed=False),
    Measure(name="recall", of=Binary, value=lambda k: k.at_threshold().recall, larger=True, listed=False),
    Measure(name="F1", of=Binary, value=lambda k: k.at_threshold().f1, larger=True, listed=False),
    Measure(  # of numbers
        name="MSE", of=Regression, each=lambda k, rows: (rows.label - k.mean_of(rows)) ** 2,
        baseline=lambda k: k.moments.variance, gain=smaller,
    ),
    Measure(
        name="RMSE", of=Regression, value=lambda k: math.sqrt(k.squared.value or 0.0),
        interval=lambda k: _roots(cut(k.squared.interval, 0.0, math.inf)),
        baseline=lambda k: math.sqrt(k.moments.variance), gain=smaller, last=True,
    ),
    Measure(
        name="MAE", of=Regression, each=lambda k, rows: np.abs(rows.label - k.mean_of(rows)),
        baseline=_mean_distance, about=lambda k: k.labels.binned, gain=smaller,
    ),
    Measure(  # without an interval: a label near 0 may decide it
        name="MAPE", of=Regression, value=lambda k: k.relative.value, baseline=_mean_relative_distance,
        why=lambda k: "all labels are 0", about=lambda k: k.labels.binned, gain=smaller, last=True,
    ),
    Measure(
        name="R^2", of=Regression, value=lambda k: (k.moments.r2() or (None,))[0],
        interval=lambda k: cut(around(*k.moments.r2()), -math.inf, 1.0), baseline=lambda k: 0.0,
        why=lambda k: "all labels are the same", larger=True, low=-math.inf, high=1.0,
    ),
    Measure(  # p, the predicted mean, is exp(prediction)
        name="Poisson deviance", of=Regression, fits=lambda k: k.loss == "poisson",
        each=lambda k, rows: 2 * (x_log_x(rows.label) - rows.label * rows.prediction - rows.label + k.mean_of(rows)),
        baseline=_deviance_of_mean, gain=smaller,
    ),
    Measure(
        name="Gamma deviance", of=Regression, fits=lambda k: k.loss == "gamma", each=lambda k, rows: 2 * rows.loss,
        baseline=_deviance_of_mean, gain=smaller,
    ),
    Measure(
        name="Tweedie deviance", of=Regression, fits=lambda k: k.loss == "tweedie", each=lambda k, rows: 2 * rows.loss,
        baseline=_deviance_of_mean, gain=smaller,
    ),
    Measure(  # huber: its delta is not in the unit of labels whose logarithms were learned
        name="{loss} loss", of=Regression,
        fits=lambda k: k.robust is not None and (k.offset is None or k.loss == "quantile"), each=_robust_losses,
        baseline=_best_robust, gain=smaller,
    ),
    Measure(
        name="log1p MSE", of=Regression, fits=lambda k: k.offset is not None,
        each=lambda k, rows: (np.log1p(rows.label) - rows.prediction) ** 2, baseline=_variance_of_log,
        about=lambda k: k.labels.binned, gain=smaller, last=True,
    ),
    Measure(
        name="log1p {loss} loss", of=Regression, fits=lambda k: k.offset is not None and k.robust is not None,
        each=lambda k, rows: rows.loss, baseline=partial(_best_robust, mapped=np.log1p),
        about=lambda k: k.labels.binned, gain=smaller, last=True,
    ),
    Measure(  # of classes
        name="log loss", of=Classes, fits=lambda k: k.probable, each=lambda k, rows: rows.log_loss,
        baseline=lambda k: -float(k.shares() @ np.log(k.shares())), gain=smaller,
    ),
    Measure(
        name="accuracy", of=Classes, each=lambda k, rows: (rows.label == rows.prediction).astype(np.float64),
        baseline=lambda k: k.most_of(1), gain=fewer_errors, larger=True, share=True, high=1.0, last=True,
    ),
    Measure(
        name="precision at {top}", of=Classes, fits=lambda k: k.top > 0,
        each=lambda k, rows: (rows.rank <= k.top) / k.top, baseline=lambda k: k.most_of(k.top) / k.top, larger=True,
        high=1.0, last=True,
    ),
    Measure(
        name="recall at {top}", of=Classes, fits=lambda k: k.top > 0,
        each=lambda k, rows: (rows.rank <= k.top).astype(np.float64), baseline=lambda k: k.most_of(k.top), larger=True,
        share=True, high=1.0, last=True,
    ),
    Measure(
        name="macro precision", short="macro prec.", of=Classes, value=lambda k: _macro(k, 1),
        baseline=lambda k: k.most_of(1) / k.shares().size, larger=True, high=1.0, last=True,
    ),
    Measure(
        name="macro recall", of=Classes, value=lambda k: _macro(k, 2), baseline=lambda k: 1 / k.shares().size,
        larger=True, high=1.0, last=True,
    ),
    Measure(
        name="macro F1", of=Classes, value=lambda k: _macro(k, 3),
        baseline=lambda k: 2 * k.most_of(1) / (1 + k.most_of(1)) / k.shares().size, larger=True, high=1.0, last=True,
    ),
)


def of_one_quantile(tau: float) -> Measure:
    def is_below(k: Regression, rows: Rows) -> Floats:
        return np.asarray(rows.label <= k.mean_of(rows), np.float64)

    return Measure(name="share below", of=Regression, each=is_below, share=True, high=1.0, expected=tau, neutral=True)


def of_quantiles(settings: Settings) -> list[Measure]:
    """The measures of several quantiles: their losses; which share of the labels lies between two; how far these are
    apart."""
    def constant(i: int, k: Quantiles) -> float:
        return k.constant_losses()[i]

    def fact(i: int, k: Quantiles, rows: Rows) -> Floats:
        return np.asarray(rows.facts[i])

    n, taus, is_log = settings.outputs.records, settings.outputs.taus, bool(settings.outputs.transform.name)
    found = [Measure(name="pinball", of=Quantiles, gain=smaller, baseline=lambda k: sum(k.constant_losses()) / n,
                     each=lambda k, rows: rows.facts[:n].mean(axis=0) if is_log else rows.loss)]
    if is_log:
        found.append(Measure(name="log1p pinball", of=Quantiles, each=lambda k, rows: rows.loss, gain=smaller,
                             baseline=lambda k: sum(k.losses_of(np.log1p)) / n, last=True))
    for i, name in enumerate(settings.outputs.facts):
        of = Measure(name=name.replace("_", " "), of=Quantiles, each=partial(fact, i), neutral=True, last=True)
        if i < n:
            of = replace(of, baseline=partial(constant, i), gain=smaller, neutral=False, last=False)
        elif (i - n) % 2 == 0:
            of = replace(of, share=True, high=1.0, expected=round(taus[-1 - (i - n) // 2] - taus[(i - n) // 2], 12))
        found.append(of)
    return found


class Value(NamedTuple):
    """What a measure is after all rows, or the difference of two."""

    measure: Measure
    name: str
    value: float | None  # None: it is not defined
    baseline: float | None = None
    interval: Interval | None = None  # of 95 %
    why: str = ""
    about: bool = False

    @property
    def key(self) -> str:
        """The key for programs."""
        return key_of(self.name)

    @property
    def gain(self) -> str:
        if self.measure.expected is not None:
            return f"expected {shown(self.measure.expected)}"
        return "" if self.value is None or self.baseline is None else self.measure.gain(self.value, self.baseline)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        low, high = self.interval or (None, None)
        found = {"value": self.value, "baseline": self.baseline, "low": low, "high": high}
        found |= {} if self.measure.expected is None else {"expected": self.measure.expected}
        return found | ({"approximate": True} if self.about else {}) | ({"undefined": self.why} if self.why else {})


def key_of(name: str) -> str:
    return name.lower().replace(" ", "_").replace("^", "").replace("-", "_")


class Taken:
    """A measure of one stream of examples, which `kind` has counted."""

    def __init__(self, measure: Measure, kind: Kind) -> None:
        self.measure, self._kind, self.mean = measure, kind, Mean()
        self.name = measure.name.format(loss=kind.loss, top=kind.top)
        self.key = key_of(self.name)

    def each(self, rows: Rows) -> Floats | None:
        """The numbers of which the measure is the mean, if it is a mean."""
        return self.measure.each(self._kind, rows) if self.measure.each is not None else None

    def count(self, rows: Rows) -> None:
        if (numbers := self.each(rows)) is not None:
            self.mean.add(numbers, rows.weight)

    def value(self) -> Value:
        m, k = self.measure, self._kind
        value, interval = self.mean.value, self.mean.of_share
        if m.each is None:
            value = m.value(k)
            interval = None if value is None else m.interval(k)
        elif not m.share:
            interval = cut(self.mean.interval, m.low, m.high)
        if value is None:
            return Value(m, self.name, None, why=m.why(k))
        return Value(m, self.name, value, m.baseline(k), interval, about=m.about(k))


class StreamMeasures:
    """The measures of a stream of examples."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        own = of_quantiles(kind.settings) if isinstance(kind, Quantiles) else []
        if isinstance(kind, Regression) and isinstance(kind.robust, Quantile):
            own = [of_one_quantile(kind.robust.tau)]
        self.measures = [Taken(m, kind) for m in (*MEASURES, *own) if isinstance(kind, m.of) and m.fits(kind)]
        self.rows = self._uncounted = 0
        self._waiting: list[Rows] = []

    def add(self, rows: Rows) -> None:
        """Take rows; they are counted in `finish` at the latest."""
        self._waiting.append(rows)
        self.rows += rows.label.size
        self._uncounted += rows.label.size
        if self._uncounted >= AT_ONCE:
            self.finish()

    def finish(self) -> None:
        """Count the rows that wait. Before it, measures are of fewer rows."""
        if self._waiting:
            rows = self._waiting[0].followed_by(self._waiting[1:])
            self.kind.count(rows)
            for taken in self.measures:
                taken.count(rows)
        self._waiting, self._uncounted = [], 0

    def values(self) -> list[Value]:
        """Of the listed measures, in the order of tables; call it if there is some weight."""
        listed = (taken for taken in self.measures if taken.measure.listed)
        return [taken.value() for taken in sorted(listed, key=lambda taken: taken.measure.last)]

    def keys(self) -> list[str]:
        """The keys of all measures, means first."""
        return [taken.key for taken in sorted(self.measures, key=lambda taken: taken.measure.each is None)]


class Difference:
    """A measure of one model minus that of another, by the same examples."""

    def __init__(self, first: Taken, second: Taken) -> None:
        self._first, self._second, self._mean = first, second, Mean()
        self._scores: list[tuple[Floats, Floats, Floats]] = []
        self._count = 0

    def add(self, first: Rows, second: Rows) -> None:
        """The same examples, as each model predicted them."""
        a, b = self._first.each(first), self._second.each(second)
        if a is not None and b is not None:
            self._mean.add(a - b, first.weight)
            return
        self._count += first.label.size
        signed = np.where(first.label > 0, first.weight, -first.weight)
        self._scores.append((first.prediction, second.prediction, signed))
        if self._count > MOST_KEPT:
            self._scores = []

    def value(self) -> Value:
        """`value` is the difference, `baseline` is None."""
        m, name = self._first.measure, self._first.name
        value, interval = self._mean.value, self._mean.interval
        if m.paired is not None:
            if self._count > MOST_KEPT:
                return Value(m, name, None, why=f"it needs the scores of at most {MOST_KEPT:,} rows")
            found = m.paired(*(np.concatenate(column) for column in zip(*self._scores, strict=True)))
            if found is None:
                return Value(m, name, None, why="all labels are the same")
            value, interval = found[0], around(*found)
        most = m.high - m.low
        return Value(m, name, value, interval=cut(interval, -most, most))


class Against:
    """Paired differences, the first model minus the second, with their intervals: a measure whose interval does not
    hold 0 differs. other: the measures of the second."""

    def __init__(self, first: StreamMeasures, second: StreamMeasures) -> None:
        self.other, others = second, {taken.name: taken for taken in second.measures}
        self._differences = [
            Difference(taken, others[taken.name]) for taken in first.measures
            if taken.name in others and (taken.measure.each or taken.measure.paired)
        ]

    def add(self, first: Rows, second: Rows) -> None:
        """The same examples, as each model predicted them."""
        self.other.add(second)
        for difference in self._differences:
            difference.add(first, second)

    def values(self) -> list[Value]:
        """The differences, in the order of MEASURES."""
        return [difference.value() for difference in self._differences]
