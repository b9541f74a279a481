"""The sample of a large file from which features are derived: its first rows in drawn order, and more rows of a rare
label.

Of N rows, P have the rarer one of two labels; of the first n in drawn order p. Below FEWEST_RARE of them, the sample
takes the next rows with that label, until it has p' = min(FEWEST_RARE, P). These keep their importance, and that of the
n - p others is multiplied by

    v = p' (N - P) / (P (n - p)).

So P / p' times a sum over the sample, of whatever a row has times its importance, is an unbiased estimate of the sum
over the file: the rare rows are p' of P, the others n - p of N - P. The variance of the first part is p / p' times that
of the first n rows. The sample counts as N p' / P rows, in nats as well: if the label is rare, residuals of its rows,
near 1, have nearly all of the variance of a sum of residuals, and their importance is 1.
"""

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from vwlite.core.data.batch import Batch
from vwlite.records import record
from vwlite.training.auto.auto_data import AutoData
from vwlite.training.auto.data import DrawnExamples

FEWEST_RARE = 2_000


@record(frozen=True)
class Sample:
    """Rows of a file. places: the numbers of all rows of the file, those of the sample first. counts_for: so many rows
    of the file."""

    batches: Sequence[Batch]
    places: Any
    counts_for: float


@record(frozen=True)
class Mask:
    """Which rows are a sample. weights: by which importances of all rows are multiplied there; None: 1. counts_for: so
    many rows of the file."""

    chosen: Any
    weights: Any
    counts_for: float


def with_rare(labels: Any, chosen: Any) -> Mask:
    """A sample with more rows of the rarer one of two labels, the next ones in order. chosen: a mask of the sample
    before. labels: of all rows; empty: there are not two."""
    chosen, labels = np.array(chosen, bool), np.asarray(labels)
    values, counts = np.unique(labels, return_counts=True)
    rows = int(chosen.sum())
    if len(values) != 2 or rows == len(chosen):
        return Mask(chosen, None, float(rows))
    is_rare = labels == values[counts.argmin()]
    before, all_rare, n = int((is_rare & chosen).sum()), int(is_rare.sum()), len(labels)
    more = np.flatnonzero(is_rare & ~chosen)[: max(FEWEST_RARE - before, 0)]
    if not len(more) or rows == before:
        return Mask(chosen, None, float(rows))
    chosen[more] = True
    rare = before + len(more)
    weights = np.where(is_rare, 1.0, rare * (n - all_rare) / (all_rare * (rows - before)))
    return Mask(chosen, weights, n * rare / all_rare)


def sample_of(data: AutoData, examples: DrawnExamples, n: int) -> Sample:
    """The first n examples, and more of a rare label."""
    order = np.asarray(examples.order)
    labels = np.asarray(data.summary.labels)[order] if data.has_two_labels else ()
    found, batches, at = with_rare(labels, np.arange(len(order)) < n), list[Batch](), 0
    end = int(np.flatnonzero(found.chosen)[-1]) + 1
    for batch in examples.batches():
        part = slice(at, at + len(batch))
        mask = found.chosen[part]
        some = batch.part(0, len(batch)) if mask.all() else batch.chosen(mask.view(np.uint8))
        if found.weights is not None:
            some.set_importance(np.asarray(some.importance) * found.weights[part][mask])
        if len(some):
            batches.append(some)
        at += len(batch)
        if at >= end:
            break
    places = np.concatenate((order[found.chosen], order[~found.chosen]))
    return Sample(batches, array("I", places.tolist()), found.counts_for)
