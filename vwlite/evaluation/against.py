"""Two models on the same examples: the differences of their measures."""

import math

import numpy as np

from vwlite.evaluation.kinds import LARGEST, Binary, Evaluation, Measure, Rows
from vwlite.evaluation.ranking import auc_difference
from vwlite.evaluation.sums import MOST_KEPT, Floats, Interval, Mean, around, cut


class Against:
    """Paired differences, the first model minus the second, with their intervals: a measure whose interval does not
    hold 0 differs. other: the measures of the second."""

    def __init__(self, first: Evaluation, second: Evaluation) -> None:
        self._kinds, self.other = (first, second), second
        self._differences: dict[str, Mean] = {}
        self._scores: list[tuple[Floats, Floats, Floats]] | None = [] if isinstance(first, Binary) else None
        self._kept = 0

    def add(self, first: Rows, second: Rows) -> None:
        """The same examples, as each model predicted them."""
        self.other.add(second)
        ours, others = (kind.columns(rows) for kind, rows in zip(self._kinds, (first, second), strict=True))
        for name in ours:
            if name in others:
                self._differences.setdefault(name, Mean()).add(ours[name] - others[name], first.weight)
        self._kept += first.label.size
        if self._kept > MOST_KEPT:
            self._scores = None
        if self._scores is not None:
            signed = np.where(first.label > 0, first.weight, -first.weight)
            self._scores.append((first.prediction, second.prediction, signed))

    def measures(self) -> list[Measure]:
        """`value` is the difference, and `baseline` none."""
        larger = self._kinds[0].larger
        found = [
            Measure(name, mean.value, interval=_within(name, mean.interval), larger=name in larger)
            for name, mean in self._differences.items()
        ]
        if isinstance(self._kinds[0], Binary):
            found.insert(1, self._auc())
        return found

    def _auc(self) -> Measure:
        if self._scores is None:
            return Measure("AUC", None, larger=True, why=f"it needs the scores of at most {MOST_KEPT:,} rows")
        a, b, signed = (np.concatenate(column) for column in zip(*self._scores, strict=True))
        difference = auc_difference(a, b, signed)
        if difference is None:
            return Measure("AUC", None, larger=True, why="all labels are the same")
        return Measure("AUC", difference[0], interval=_within("AUC", around(*difference)), larger=True)


def _within(name: str, interval: Interval | None) -> Interval | None:
    """Of a difference of two values of a measure."""
    most = LARGEST.get(name, math.inf)
    return cut(interval, -most, most)
