"""Stacking merges: a regression on the holdout over the scores of the merges of all ways and of the shards.

The coefficients b of the scores x minimize

    sum of h l(x b) + scale strength |b - b_0|^2 / 2

with losses l and importances h of mean 1. b_0 averages the merges, each weighted by exp(-its loss / (2 scale)): half of
the loss, as merges and steps overfit a small holdout. The step along a way is the average of those that are tried, with
the same weights, above 1 over step^2: what overshoots does most harm where the data to come are harder than the
holdout. scale is 1 for log likelihoods, else the mean loss of the best merge. The strength is chosen by cross fitting;
infinity leaves b_0. A label of a class is right with probability (n + 1/2) / (n + 1) of n examples, so that examples
that are separated do not ask for ever larger weights.

Wolpert. Stacked Generalization. Neural Networks 1992. Breiman. Stacked Regressions. Machine Learning 1996.
Grünwald. The Safe Bayesian. ALT 2012 (half of the loss). Platt. Probabilistic Outputs for Support Vector Machines.
Advances in Large Margin Classifiers 1999 (labels).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import e, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from vwlite.algorithms.build import make_loss
from vwlite.algorithms.losses import loss_function
from vwlite.core.base.elementary import each, power
from vwlite.merging.holdout import Candidate, Scores
from vwlite.options.settings import Settings

Numbers = NDArray[np.float64]

STRENGTHS: tuple[float, ...] = (inf, 300.0, 100.0, 30.0)
FOLDS, MOST_GROUPS, MOST_STEPS = 5, 16, 25
TOLERANCE = 1e-10


@dataclass(frozen=True)
class Examples:
    """Labelled examples. labels: a number, or for each class 1 or -1. sure: the probability that a label is right.
    clip: of predictions. Arrays of scores are [examples, classes]."""

    settings: Settings
    labels: Numbers
    importance: Numbers
    initial: Numbers
    clip: tuple[float, float]
    sure: float = 1.0

    @classmethod
    def of(cls, x: Scores, settings: Settings, named: int, clip: tuple[float, float] | None) -> "Examples":
        """named: the number of classes with a name; examples of others do not count."""
        labels, importance = x.labels[:, None], x.importance
        if named:
            importance = np.where((x.labels >= 1) & (x.labels <= named), importance, 0)
            labels = np.where(labels == np.arange(1, named + 1), 1.0, -1.0)
        importance = importance * (len(labels) / max(float(importance.sum()), 1e-300))
        return cls(settings, labels, importance, x.initial, clip or (-inf, inf))

    def smoothed(self) -> "Examples":
        """The same for the regression: labels of classes may be wrong, predictions are not clipped."""
        if loss_function(self.settings.loss).labels != "binary":
            return replace(self, clip=(-inf, inf))
        n = int(np.count_nonzero(self.importance))
        return replace(self, sure=(n + 0.5) / (n + 1), clip=(-inf, inf))

    def derivatives(self, scores: Numbers) -> list[Numbers]:
        """The loss of each example, and its first and second derivatives by the scores of classes with a name."""
        p = scores + self.initial[:, None]
        if self.settings.probable == "softmax":
            return self._of_softmax(p)
        loss, p = make_loss(self.settings), np.clip(p[:, : self.labels.shape[1]], *self.clip)
        found = np.zeros((3, *p.shape))
        for labels, share in ((self.labels, self.sure), (-self.labels, 1 - self.sure)):
            if share:
                one = np.empty((3, p.size))
                loss.evaluate_each(p.reshape(-1), labels.reshape(-1), *one)
                found += share * one.reshape(found.shape)
        # A loss with kinks has no curvature: as if it were a log likelihood.
        return [found[0].sum(axis=1), found[1], found[2] if found[2].any() else found[1] ** 2]

    def _of_softmax(self, p: Numbers) -> list[Numbers]:
        p = p - p.max(axis=1, keepdims=True)
        share, log_sum = np.empty(p.shape), np.empty(len(p))
        each("exp", p.reshape(-1), share.reshape(-1))
        each("log", share.sum(axis=1), log_sum)
        share /= share.sum(axis=1, keepdims=True)
        named = self.labels.shape[1]
        p, share = p[:, :named], share[:, :named]
        target = np.where(self.labels > 0, self.sure, (1 - self.sure) / max(named - 1, 1))
        return [log_sum - (target * p).sum(axis=1), share - target, share]

    def losses(self, scores: Numbers) -> Numbers:
        """Of each example; infinite where it is not a number."""
        with np.errstate(all="ignore"):
            found = self.derivatives(scores)[0]
        finite = np.isfinite(scores).all(axis=1) & np.isfinite(found)
        return np.where(finite, found, inf)

    def mean(self, losses: Numbers) -> tuple[float, float]:
        """The mean of losses, and its standard error; infinity if it is not finite."""
        counted = self.importance > 0
        h, losses = self.importance[counted], losses[counted]
        if not (n := len(losses)) or not np.isfinite(losses).all():
            return inf, 0.0
        found = float((h * losses).sum() / h.sum())
        return found, sqrt(float(((h * (losses - found)) ** 2).sum()) * n / max(n - 1, 1)) / float(h.sum())

    def judged(self, c: Candidate, scores: Numbers) -> Candidate:
        loss, error = self.mean(self.losses(scores))
        return replace(c, loss=loss, error=error)


    def total(self, scores: Numbers) -> float:
        """The sum of losses."""
        return float((self.importance * self.losses(scores))[self.importance > 0].sum())

    def weights(self, each: Iterable[Numbers]) -> tuple[Numbers, float]:
        """Those of scores that are averaged, and the scale."""
        losses = [self.total(scores) for scores in each]
        least = min(losses)
        likelihood = loss_function(self.settings.loss).links
        scale = 1.0 if likelihood else max(least / float(self.importance.sum()), 1e-300)
        found = np.array([1.0 if one == least else power(e, (least - one) / (2 * scale)) for one in losses])
        return found / found.sum(), scale


def mean_step(examples: Examples, start: Numbers, whole: Numbers, steps: list[float]) -> float:
    """The average of steps along a way. start, whole: the scores of the steps 0 and 1."""
    weights, _ = examples.weights([start + step * (whole - start) for step in steps])
    weights /= [max(step, 1.0) ** 2 for step in steps]
    return float((weights * steps).sum() / weights.sum())


def stacked(
    examples: Examples, x: Numbers, merges: int, strengths: tuple[float, ...] = STRENGTHS
) -> tuple[Numbers, float]:
    """The coefficients of scores, [columns, examples, classes], and the strength that was chosen. The first columns
    are merges, the others shards; of many shards, neighbours in their order have one coefficient."""
    finite = np.array([np.isfinite(one).all() for one in x])
    if not finite.all():
        b, strength = np.eye(len(x))[0], inf
        if finite[:merges].any():
            b[:] = 0
            b[finite], strength = stacked(examples, x[finite], int(finite[:merges].sum()), strengths)
        return b, strength
    count = len(x) - merges
    group = np.arange(count) * min(count, MOST_GROUPS) // max(count, 1)
    columns = np.array([*x[:merges], *(x[merges:][group == g].mean(axis=0) for g in np.unique(group))])
    totals, fold = np.zeros(len(strengths)), np.arange(len(examples.labels)) % FOLDS
    for k in range(FOLDS if len(strengths) > 1 else 0):
        rest = replace(examples, importance=examples.importance * (fold != k))
        held = replace(examples, importance=examples.importance * (fold == k))
        for i, strength in enumerate(strengths):
            totals[i] += held.total(combined(columns, fitted(rest, columns, merges, strength)))
    strength = strengths[int(np.argmin(totals))]
    b = fitted(examples, columns, merges, strength)
    return np.append(b[:merges], b[merges:][group] / np.bincount(group, minlength=1)[group]), strength


def fitted(examples: Examples, x: Numbers, merges: int, strength: float) -> Numbers:
    """b by Newton's method, from b_0; a step is halved until the objective falls."""
    h, flat = examples.importance[:, None], x[:, :, : examples.labels.shape[1]].reshape(len(x), -1)

    start = np.zeros(len(x))
    start[:merges], scale = examples.weights(x[:merges])

    def objective(b: Numbers) -> float:
        return examples.total(combined(x, b)) + scale * strength / 2 * float(((b - start) ** 2).sum())

    b = start
    now = objective(b) if strength < inf else inf
    for _ in range(MOST_STEPS if now < inf else 0):
        _, first, second = examples.derivatives(combined(x, b))
        gradient = (flat * (h * first).reshape(-1)).sum(axis=1) + scale * strength * (b - start)
        curved = flat * (h * second).reshape(-1)
        hessian = np.array([(flat * one).sum(axis=1) for one in curved]) + scale * strength * np.eye(len(b))
        step = solved(hessian, gradient)
        while (after := objective(b - step)) > now and np.abs(step).max() > TOLERANCE:
            step = step / 2
        if not now - after > TOLERANCE * abs(now):
            break
        b, now = b - step, after
    return b


def solved(matrix: Numbers, right: Numbers) -> Numbers:
    """The x of matrix x = right, for a positive definite matrix: Gaussian elimination. That of NumPy has results that
    depend on the processor."""
    rows, x = np.column_stack([matrix, right]), np.zeros(len(right))
    with np.errstate(all="ignore"):
        for i in range(len(rows)):
            rows[i + 1 :] -= (rows[i + 1 :, i] / rows[i, i])[:, None] * rows[i]
        for i in reversed(range(len(rows))):
            x[i] = (rows[i, -1] - (rows[i, i:-1] * x[i:]).sum()) / rows[i, i]
    return x


def combined(x: Numbers, b: Numbers) -> Numbers:
    """x b, added up in the order of the columns; those with a coefficient of 0 may be infinite."""
    found = np.zeros(x.shape[1:])
    for u, scores in zip(b, x, strict=True):
        if u:
            found += u * scores
    return found
