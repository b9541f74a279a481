"""Whether a model that is continued learns the new rows only, as it may know more than the rows that are kept.

The new rows decide. The model that is continued learns the first half of them by its own algorithm, `gd`; another one
is trained from the kept rows and this half. Both predict the second half. The model that is continued is taken if the
other one does not predict better by a standard error: what it knows of older rows is worth more with each run.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from math import sqrt
from typing import Any

import numpy as np

from vwlite.core.base.arrays import total
from vwlite.core.base.dense import dot
from vwlite.core.data.batch import Batch
from vwlite.core.learn.evaluator import Evaluator
from vwlite.runs.run import BadLines, feed
from vwlite.training.auto.reading import learnable
from vwlite.training.trainer import Job
from vwlite.training.trainers import source_of

IMPORTANCE, LOSS, LOG_LOSS = 2, 4, 5  # columns of Evaluator


def is_taken(continued: Any, again: Any) -> bool:
    """Whether the model that is continued is taken. Both have importances and losses of the rows of the second half,
    by this model and by the one trained again. The latter's importances count: they have no weights of classes."""
    if len(continued) != len(again):  # rows of a class that only one of them knows
        means = [total(np.ascontiguousarray(rows[:, 1])) / max(len(rows), 1) for rows in (continued, again)]
        return bool(means[0] <= means[1])
    d = again[:, 0] * (continued[:, 1] - again[:, 1])
    return bool(total(d) <= sqrt(dot(d, d)))


def judged(evaluator: Evaluator, rows: Any, of_classes: bool) -> Any:
    """The importance and the loss by which models are judged, of each row of an Evaluator whose importance is above 0.
    """
    rows = rows[: evaluator.filled]
    return rows[rows[:, IMPORTANCE] > 0][:, [IMPORTANCE, LOG_LOSS if of_classes else LOSS]]


def halves(batches: Iterable[Batch], n: int) -> Iterator[tuple[Batch, Batch]]:
    """Each batch in two parts: up to the n-th line of all that can be learned, and behind it."""
    for batch in batches:
        usable = np.cumsum(learnable(batch))
        lines = int(np.searchsorted(usable, n))
        lines = min(lines + 1, len(batch)) if n > 0 else 0
        n -= int(usable[lines - 1]) if lines else 0
        yield batch.part(0, lines), batch.part(lines, len(batch))


def rows_of_second_half(job: Job, n: int, of_classes: bool, stopped: Callable[[], bool]) -> Any:
    """What `judged` has of the rows of DATA behind the first n, by a model that learned these n.

    job: its learner has the state of the model that is continued. DataError: it diverges.
    """
    settings, evaluator, found = job.resolved.settings, Evaluator(job.learner), [np.zeros((0, 2))]
    source = source_of(job, BadLines(ExitStack(), skip=True))
    source.open()
    with source.batches(stopped) as batches:
        for first, second in halves((parsed.batch for parsed in batches), n):
            feed(job.learner, first, settings)
            rows = np.empty((len(second), evaluator.width))
            evaluator.into(rows)
            feed(evaluator, second, settings)
            found.append(judged(evaluator, rows, of_classes))
    return np.concatenate(found)
