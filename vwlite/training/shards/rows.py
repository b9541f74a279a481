"""The rows of a shard in the features of the sample's model, and what is summed over them.

Labels and scores are in the unit of the sample's labels, z = (y - mean) / deviation, where the loss has a unit. Arrays
of weights are [features + 1, scores], with the intercept at the end; v are importances, 0 of rows that are held out.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from vwlite.algorithms.settings import Settings
from vwlite.conjugate_gradients import inner
from vwlite.core.auto.robust import smoothed
from vwlite.core.base.dense import dot
from vwlite.core.learn.losses import Quantile
from vwlite.core.solve.products import Products
from vwlite.core.solve.rows import Rows
from vwlite.model.learners import make_loss
from vwlite.records import record
from vwlite.training.newton import Classes, Numbers, Targets

LEAST_OF_SMOOTHED = 1e-3  # the least second derivative of losses that are smoothed


@record(frozen=True)
class Unit:
    """Of labels. scores: of a row."""

    mean: float = 0.0
    deviation: float = 1.0
    scores: int = 1

    def fold(self, w: Any) -> Any:
        """Weights for labels, of weights for z."""
        return w * self.deviation + np.append(np.zeros(len(w) - 1), self.mean)[:, None]

    def unfold(self, w: Any) -> Any:
        """The reverse."""
        return (w - np.append(np.zeros(len(w) - 1), self.mean)[:, None]) / self.deviation


@record(frozen=True)
class Point:
    """p + sum of at_k s_k: scores, changed along directions. places: the k by which derivatives are asked for."""

    at: tuple[float, ...]
    places: tuple[int, ...] = ()


class Quantiles(Targets):
    """A score for each quantile."""

    def __init__(self, each: Sequence[Numbers]) -> None:
        self._each = each

    def at(self, p: Any, first: int) -> tuple[Any, Any, Any]:
        found = [one.at(p[:, k : k + 1], first) for k, one in enumerate(self._each)]
        slopes, self._curvatures = (np.hstack([x[i] for x in found]) for i in (1, 2))
        return sum(x[0] for x in found), slopes, self._curvatures

    def along(self, s: Any) -> Any:
        return self._curvatures * s


def targets_of(settings: Settings, unit: Unit, labels: Any, initial: Any) -> Targets:
    """Labels with the loss that is minimized: that of the model, or one that is smoothed."""
    if settings.outputs.task == "classes":
        return Classes(labels - 1)
    in_unit = replace(settings, huber_delta=settings.huber_delta / unit.deviation)
    y, p = (labels - unit.mean) / unit.deviation, initial / unit.deviation
    levels = in_unit.quantile_tau
    if isinstance(levels, tuple):
        return Quantiles([Numbers(smoothed(Quantile(tau)), y, p, LEAST_OF_SMOOTHED) for tau in levels])
    loss = make_loss(in_unit)
    found = smoothed(loss)
    return Numbers(found, y, p) if found is loss else Numbers(found, y, p, LEAST_OF_SMOOTHED)


class ShardRows:
    """rows: finished. held: a mask of those that are held out. Arrays of weights are of its own features, or of all of
    which `widen` was told."""

    _places: Any = None  # of its features among all
    _lacking: Any = None  # those that are not among them

    def __init__(self, rows: Rows, settings: Settings, unit: Unit, held: Any) -> None:
        self.rows, self._products, self.keys = rows, Products(rows), np.array(rows.keys)
        v, self._has_intercept = np.array(rows.importance), settings.constant
        self.v, self.held = np.where(held, 0.0, v), np.where(held, v, 0.0)
        settings = replace(settings, derived=None)
        self._make_targets = partial(targets_of, settings, unit, np.array(rows.labels), np.array(rows.initial))
        self.targets = self._make_targets()

    def __len__(self) -> int:
        return len(self.v)

    def widen(self, keys: Any, *, may_lack: bool = False) -> None:
        """From now on weights are of these features, which are ascending, and among which its own are; with `may_lack`,
        those that are not have the weight 0."""
        self._places, self.features = np.append(np.searchsorted(keys, self.keys), len(keys)), len(keys)
        if may_lack:
            at = np.minimum(self._places[:-1], max(len(keys) - 1, 0))
            self._lacking = np.append(keys[at] != self.keys, False)
            self._places[:-1] = at

    def scores(self, w: Any, first: int = 0) -> Any:
        """p_ik = <x_i, w_k>"""
        own = w if self._places is None else w[self._places]
        if self._lacking is not None:
            own[self._lacking] = 0.0
        p = np.zeros((len(self) - first, w.shape[1]))
        self._products.scores(np.ascontiguousarray(own[:-1]), p, first)
        return p + own[-1]

    def gradients(self, r: Any, first: int = 0) -> Any:
        """sum of r_ik x_ij"""
        return self._sums(r, first, squares=False)

    def squares(self, r: Any, first: int = 0) -> Any:
        """sum of r_ik x_ij^2"""
        return self._sums(r, first, squares=True)

    def _sums(self, r: Any, first: int, *, squares: bool) -> Any:
        found = np.zeros((len(self.keys) + 1, r.shape[1]))
        self._products.gradients(np.ascontiguousarray(r), found[:-1], first, squares)
        if self._has_intercept:
            found[-1] = r.sum(axis=0)
        if self._places is None:
            return found
        wide = np.zeros((self.features + 1, r.shape[1]))
        wide[self._places] = found
        return wide

    def slopes(self, w: Any) -> tuple[Any, Any]:
        """g = sum of v l' x and C = sum of v l'' x^2"""
        _, slopes, curvatures = self.targets.at(self.scores(w), 0)
        v = self.v[:, None]
        return self.gradients(v * slopes), self.squares(v * curvatures)

    def projected(self, w: Any, directions: Sequence[Any]) -> "Projected":
        along = [self.scores(d) for d in directions]
        return Projected(self._make_targets, self.v, self.held, self.scores(w), along)


@record(frozen=True)
class Projected:
    """The scores p of the rows of a shard, and their changes along directions: what a search needs of it. It can be
    pickled."""

    make_targets: Callable[[], Targets]
    v: Any
    held: Any
    p: Any
    along: Sequence[Any]

    def _at(self, point: Point) -> Any:
        p = self.p
        for a, s in zip(point.at, self.along, strict=True):
            if a:
                p = p + a * s
        return p

    def sums(self, points: Sequence[Point]) -> list[Any]:
        """For each point the loss, its first and its second derivatives by the places, one behind the other."""
        return [self._sums(point) for point in points]

    def _sums(self, point: Point) -> Any:
        targets, v = self.make_targets(), self.v[:, None]
        values, slopes, _ = targets.at(self._at(point), 0)
        g, along = v * slopes, [self.along[k] for k in point.places]
        curved = [v * targets.along(s) for s in along]
        first = [inner(g, s) for s in along]
        second = [inner(h, s) for h in curved for s in along]
        return np.array([dot(self.v, values), *first, *second])

    def losses_apart(self, points: Sequence[Point]) -> Any:
        """Of the rows that are held out, for each point: the sum of losses, of their differences to those of the first
        point, and of the squares of these."""
        found, first, targets = [], None, self.make_targets()
        for point in points:
            values, _, _ = targets.at(targets.clipped(self._at(point)), 0)
            first = values if first is None else first
            d = values - first
            found.append([dot(self.held, values), dot(self.held, d), dot(self.held, d * d)])
        return np.array(found)

    def smearing(self, point: Point, deviation: float) -> Any:
        """Of the rows that are held out: the sum of exp(label - prediction) of labels that are logarithms, and that of
        importances."""
        targets = self.make_targets()
        assert isinstance(targets, Numbers)
        return np.array([dot(self.held, np.exp(deviation * targets.residuals(self._at(point)))), self.held.sum()])
