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


def is_taken(continued: Any, again: Any) -> bool:
    """Whether the model that is continued is taken. Losses of the second half: by it, and by the one trained again."""
    if len(continued) != len(again):  # rows of a class that only one of them knows
        return bool(total(continued) * len(again) <= total(again) * len(continued))
    d = continued - again
    return bool(total(d) <= sqrt(dot(d, d)))


def halves(batches: Iterable[Batch], n: int) -> Iterator[tuple[Batch, Batch]]:
    """Each batch in two parts: up to the n-th line of all that can be learned, and behind it."""
    for batch in batches:
        usable = np.cumsum(learnable(batch))
        lines = int(np.searchsorted(usable, n))
        lines = min(lines + 1, len(batch)) if n > 0 else 0
        n -= int(usable[lines - 1]) if lines else 0
        yield batch.part(0, lines), batch.part(lines, len(batch))


def losses_of_second_half(job: Job, n: int, column: int, stopped: Callable[[], bool]) -> Any:
    """The loss, times the importance, of the rows of DATA behind the first n, by a model that learned these n.

    job: its learner has the state of the model that is continued. column: of Evaluator. DataError: it diverges.
    """
    settings, evaluator, found = job.resolved.settings, Evaluator(job.learner), [np.zeros(0)]
    source = source_of(job, BadLines(ExitStack(), skip=True))
    source.open()
    with source.batches(stopped) as batches:
        for first, second in halves((parsed.batch for parsed in batches), n):
            feed(job.learner, first, settings)
            rows = np.empty((len(second), evaluator.width))
            evaluator.into(rows)
            feed(evaluator, second, settings)
            rows = rows[: evaluator.filled]
            found.append(rows[:, 2] * rows[:, column])
    return np.concatenate(found)
