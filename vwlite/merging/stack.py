"""Stacking merges: their average, weighted by losses on a holdout, plus a regression on the differences of shards.

The average is over the directions of a merge (ways), the steps along them, the start and the shards. Each weighs

    prior exp(-its loss / (2 scale))

with half of the loss, because merges and steps overfit a small holdout. The prior was chosen among some 250 on 13 draws
of five data sets (tests/bench/MERGE.md tests it on others, too); a factor of 2 in one of its weights hardly matters. To
the scores of the average, x u is added, where x are the scores of each shard minus the mean of all, and u minimizes

    sum of h l(average + x u) + scale strength |u|^2 / 2

with losses l and importances h of mean 1. These differences show which shards count more, not how large weights are:
that is chosen by the steps, and a second choice by few examples would overfit. scale is 1 for log likelihoods, else the
least mean loss that was tried. The strength is chosen by cross validation; infinity leaves the average. A label of a
class is taken as right with probability (n + 1/2) / (n + 1), for n examples: else weights would grow without limit if
examples are separable.

Wolpert. Stacked Generalization. Neural Networks 1992. Breiman. Stacked Regressions. Machine Learning 1996.
Grünwald. The Safe Bayesian. ALT 2012 (half of the loss). Platt. Probabilistic Outputs for Support Vector Machines.
Advances in Large Margin Classifiers 1999 (labels).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import e, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from vwlite.algorithms.losses import loss_function
from vwlite.algorithms.settings import Settings
from vwlite.core.auto.stack import WIDTH, Scored
from vwlite.core.base.elementary import each, power
from vwlite.merging.holdout import OWN, START, Candidate, HoldoutScores
from vwlite.model.learners import make_loss

Numbers = NDArray[np.float64]

# By way: its weight, and an exponent. Half of the weight is on the step 1; the other half is log-normal around the
# number of shards to the power of the exponent, with a standard deviation of SPREAD. All shards share one weight.
PRIOR = {"start": (1, 0.0), "shard": (4, 0.0), "mean": (2, 0.35), "touched": (2, 0.35), "information": (16, 0.35),
         "path2": (1, 0.0), "path": (2, 0.0), "path32": (8, 0.0), "dual": (16, 0.0), "root": (2, -0.35)}
STEPS = np.array([quarters * 2.0**octave for octave in range(-4, 0) for quarters in (4, 5, 6, 7)] + [4.0])
SPREAD = 0.3
STRENGTHS = (inf, 300.0, 100.0, 30.0)
FOLDS = 5


@dataclass(frozen=True)
class Labelled:
    """Labelled examples. labels: a number, or for each class 1 or -1. sure: the probability that a label is right.
    clip: the range of predictions. Arrays of scores are [examples, classes]."""

    settings: Settings
    labels: Numbers
    importance: Numbers
    initial: Numbers
    clip: tuple[float, float]
    sure: float = 1.0

    @classmethod
    def of(cls, x: HoldoutScores, settings: Settings, named: int, clip: tuple[float, float] | None) -> "Labelled":
        """named: the number of classes with a name; examples of other classes do not count."""
        labels, importance = x.labels[:, None], x.importance
        if named:
            importance = np.where((x.labels >= 1) & (x.labels <= named), importance, 0)
            labels = np.where(labels == np.arange(1, named + 1), 1.0, -1.0)
        importance = importance * (len(labels) / max(float(importance.sum()), 1e-300))
        return cls(settings, labels, importance, x.initial, clip or (-inf, inf))

    def every(self, k: int) -> "Labelled":
        """Every k-th example."""
        labels = np.ascontiguousarray(self.labels[::k])
        return replace(self, labels=labels, importance=self.importance[::k], initial=self.initial[::k])

    def smoothed(self) -> "Labelled":
        """The examples for the stack: labels of classes may be wrong, predictions are not clipped."""
        if loss_function(self.settings.loss).labels != "binary":
            return replace(self, clip=(-inf, inf))
        n = int(np.count_nonzero(self.importance))
        return replace(self, sure=(n + 0.5) / (n + 1), clip=(-inf, inf))

    @property
    def softmax(self) -> bool:
        return self.settings.outputs.shares == "softmax"

    @property
    def signed(self) -> list[tuple[Numbers, float]]:
        """Possible labels, and their probabilities."""
        return [(y, share) for y, share in ((self.labels, self.sure), (-self.labels, 1 - self.sure)) if share]

    def losses(self, scores: Numbers) -> Numbers:
        """The loss of each example; infinity if it is not a number."""
        p = scores + self.initial[:, None]
        with np.errstate(all="ignore"):
            found = self._of_softmax(p) if self.softmax else self._of_each_class(p[:, : self.labels.shape[1]])
        return np.where(np.isfinite(scores).all(axis=1) & np.isfinite(found), found, inf)

    def _of_each_class(self, p: Numbers) -> Numbers:
        loss, p, found = make_loss(self.settings), np.clip(p, *self.clip), np.zeros(p.shape)
        for labels, share in self.signed:
            value = np.empty((3, p.size))  # and derivatives
            loss.evaluate_each(p.reshape(-1), labels.reshape(-1), *value)
            found += share * value[0].reshape(p.shape)
        return np.asarray(found.sum(axis=1))

    def _of_softmax(self, p: Numbers) -> Numbers:
        p = p - p.max(axis=1, keepdims=True)
        exponentials, log_sum = np.empty(p.shape), np.empty(len(p))
        each("exp", p.reshape(-1), exponentials.reshape(-1))
        each("log", exponentials.sum(axis=1), log_sum)
        named = self.labels.shape[1]
        target = np.where(self.labels > 0, self.sure, (1 - self.sure) / max(named - 1, 1))
        return np.asarray(log_sum - (target * p[:, :named]).sum(axis=1))

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
        """The sum of the losses, weighted by importance."""
        return float((self.importance * self.losses(scores))[self.importance > 0].sum())

    def likelihoods(self, each: Iterable[Numbers]) -> tuple[Numbers, float]:
        """exp(-loss / (2 scale)) of several scores, divided by the largest, and the scale."""
        losses = np.array([self.total(scores) for scores in each])
        least = float(losses.min())
        scale = 1.0 if loss_function(self.settings.loss).links else max(least / float(self.importance.sum()), 1e-300)
        found = np.array([1.0 if one == least else power(e, (least - one) / (2 * scale)) for one in losses])
        return found, scale


def prior(c: Candidate, shards: int, steps: bool) -> Numbers:
    """The prior weights of the STEPS along the way of a candidate."""
    weight, growth = PRIOR[c.way]
    if c.way in OWN or not steps:
        return np.where(STEPS == 1, weight / (shards if c.way == "shard" else 1), 0.0)
    logs, found = np.empty(len(STEPS) + 1), np.empty(len(STEPS))
    each("log", np.append(STEPS, shards), logs)
    each("exp", -(((logs[:-1] - growth * logs[-1]) / SPREAD) ** 2) / 2, found)
    return np.asarray(weight * (found / found.sum() + (STEPS == 1)))


def averaged(
    examples: Labelled, x: dict[Candidate, Numbers], shards: int, steps: bool = True
) -> tuple[dict[Candidate, float], float]:
    """The coefficients of the candidates in their average, whose sum is 1, and the scale. x: their scores; candidates
    with scores that are not finite are left out. steps: whether steps other than 1 are tried."""
    with np.errstate(all="ignore"):
        changes = {c: change for c, scores in x.items() if np.isfinite(change := scores - x[START]).all()}
    tried = [(c, step, u) for c in changes for step, u in zip(STEPS, prior(c, shards, steps), strict=True) if u]
    found = dict.fromkeys(x, 0.0)
    if not tried:
        return found | {START: 1.0}, 1.0
    likelihoods, scale = examples.likelihoods(x[START] + step * changes[c] for c, step, _ in tried)
    weights = likelihoods * [u for *_, u in tried]
    for (c, step, _), u in zip(tried, weights / weights.sum(), strict=True):
        found[c] += float(step * u)
        found[START] += float((1 - step) * u)
    return found, scale


def differences(examples: Labelled, average: Numbers, x: Numbers, scale: float) -> tuple[Numbers, float]:
    """The coefficients of shards, whose sum is 0, and the chosen strength. x: scores, [shards, examples, classes]. If
    there are many shards, neighbours in their order share a coefficient. With --softmax, all are 0."""
    if len(x) < 2 or examples.softmax or not np.isfinite(average).all():
        return np.zeros(len(x)), inf
    (n, named), count, signed = examples.labels.shape, min(len(x), WIDTH), examples.signed
    group = np.arange(len(x)) * count // len(x)
    columns = np.array([x[group == g].mean(axis=0) for g in range(count)]) - x.mean(axis=0)
    scores = np.zeros((len(signed), n * named, WIDTH), np.float32)
    scores[:, :, :count] = columns[:, :, :named].reshape(count, -1).T
    scored = Scored(
        make_loss(examples.settings), scores.reshape(-1), np.concatenate([y.reshape(-1) for y, _ in signed]),
        np.concatenate([np.repeat(share * examples.importance, named) for _, share in signed]),
        np.tile((average + examples.initial[:, None])[:, :named].reshape(-1), len(signed)),
    )
    totals, fold = np.zeros(len(STRENGTHS)), np.tile(np.repeat(np.arange(n) % FOLDS, named), len(signed))

    def fitted(strength: float, which: NDArray[np.uint8] | None = None) -> list[float]:
        return scored.fit([0.0] * WIDTH, scale * strength / 2, which) if strength < inf else [0.0] * WIDTH

    for k in range(FOLDS):
        rest, held = ((fold != k).astype(np.uint8), (fold == k).astype(np.uint8))
        for i, strength in enumerate(STRENGTHS):
            totals[i] += scored.loss_of(fitted(strength, rest), held)
    strength = STRENGTHS[int(np.argmin(totals))]
    u = np.array(fitted(strength)[:count])
    return u[group] / np.bincount(group)[group] - u.sum() / len(x), strength
