"""Whether a model that is continued learns the new rows only, as it may know more than the rows that are kept, and how:
by steps of its own algorithm, `gd`; or as the mean of that and a fit to all of them around its weights (`summary.py`).

The new rows decide. Each of these learns the first half of them; another model is trained from the kept rows and this
half, if there are some. They predict the second half. Of the first two, the fit is taken if E < 0, E <- .8 E + the sum
of its losses less those by steps, as half a day may be few rows; and this model if the one trained again does not
predict better by 3 (1 - s) standard errors, s being the share of the rows that the model has learned which are kept:
what it knows of the others is lost then. If kept rows are to count less (`forgetting.py`), it need only not be better:
few rows beside many features look as if they were of another time. Where kept and new rows are half of all at least,
and 1.25 times those from which features were found, a model is trained again in any case, as it has better features.
"""

from collections.abc import Callable, Sequence
from math import isfinite, sqrt
from typing import Any

import numpy as np

from vwlite.conjugate_gradients import TINY
from vwlite.core.base.arrays import total
from vwlite.core.base.dense import dot
from vwlite.training.nights.new_rows import NewRows
from vwlite.training.nights.summary import SummaryTrainer, is_curved
from vwlite.training.trainer import Job, Listener, Trainer
from vwlite.training.trainers import trainer_of

FADING = 0.8


class Way:
    """A way to learn the new rows only. make_job: a job that continues the model. n: how many rows it has learned, as
    they count now, for a fit; None: by steps alone."""

    def __init__(self, rows: NewRows, make_job: Callable[[], Job], n: float | None = None) -> None:
        self._rows, self._make_job, self._n = rows, make_job, n

    def trainer(self, most: int | None = None) -> Trainer:
        """What learns the new rows, or the first of them."""
        job = self._make_job()
        steps = trainer_of(job, self._rows.source(job, most), Listener())
        if self._n is None:
            return steps
        job = self._make_job()
        return SummaryTrainer(job, self._rows.source(job, most), Listener(), self._n, steps)

    def __str__(self) -> str:
        """In the summary."""
        return "by steps" if self._n is None else "by steps and a fit"


def ways_of(rows: NewRows, make_job: Callable[[], Job], n: float) -> Sequence[Way]:
    """The ways for a model; arguments as of `Way`."""
    return [Way(rows, make_job), *([Way(rows, make_job, n)] if is_curved(make_job().resolved.settings) else [])]


def evidence(found: Sequence[tuple[Way, Any]], before: float) -> float:
    """E: by how much steps alone are better, if it is above 0. found: as of `best_way`. before: that of the last run.
    """
    if len(found) < 2:
        return before
    (_, steps), (_, fit) = found
    weight, losses = total(np.ascontiguousarray(steps[:, 0])), (mean_loss(steps), mean_loss(fit))
    if not all(map(isfinite, losses)):
        return float(FADING * before + weight * (isfinite(losses[0]) - isfinite(losses[1])))
    return float(FADING * before + weight * (losses[1] - losses[0]))


def best_way(found: Sequence[tuple[Way, Any]], again: Any, errors: float, fit_minus_steps: float) -> Way | None:
    """The better way. None: a model is trained again. found: of each way, the importances and losses of the rows of the
    second half. again: the same of a model that was trained again, if there is one. fit_minus_steps: `evidence`."""
    way, rows = found[-1 if fit_minus_steps < 0 else 0] if found else (None, None)
    return way if again is None or (way is not None and is_taken(rows, again, errors)) else None


def is_taken(continued: Any, again: Any, errors: float) -> bool:
    """Whether the model that is continued is taken. Both have importances and losses of the rows of the second half,
    by this model and by the one trained again."""
    if len(continued) != len(again):  # rows of a class that only one of them knows
        return mean_loss(continued) <= mean_loss(again)
    d = again[:, 0] * (continued[:, 1] - again[:, 1])
    return bool(total(d) <= errors * sqrt(dot(d, d)))


def loss_with_error(rows: Any) -> tuple[float, float]:
    """The mean of losses, and its standard error."""
    h, loss = np.ascontiguousarray(rows[:, 0]), mean_loss(rows)
    d = h * (rows[:, 1] - loss)
    return loss, sqrt(dot(d, d)) / max(total(h), TINY)


def mean_loss(rows: Any) -> float:
    """The mean of losses."""
    h, losses = (np.ascontiguousarray(rows[:, k]) for k in (0, 1))
    return float(dot(h, losses) / max(total(h), TINY))
