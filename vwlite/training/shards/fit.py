"""The fit of the weights over shards:

    w = argmin of F(w) = sum of v_i l(<w, x_i>, y_i) + 1/2 sum of L_j (w_j - a_j)^2

over the rows of all shards that are learned. a is 0 unless a model is continued (`past.py`), whose weights are then the
first ones; else it starts from the fit to the sample alone. A round:

    1  shards   g = sum of v l' x, C = sum of v l'' x^2
    2  driver   u_i = v_i l'' N / n over the sample; c = SHARE sum of u x^2; D = 2 max(0, C - c)
    3  driver   in each lane, k of LANES times the strength so far:
                d = -(SHARE X' u X + D + L)^-1 (g + L (w - a)), by conjugate gradients with the preconditioner c + D + L
    4  shards   scores of their rows along each d, and along the last step
    5  both     in each lane Newton steps in the plane of d and the last step, whose derivatives are sums of numbers
    6  shards   losses of the rows that are held out, at the end of each lane. Another lane than that of the
                strength so far is taken if its loss is less by a standard error
    7           w moves

The matrix is the sample's curvature for what the sample has, and the exact diagonal for what it lacks: twice, as such
features (a new word, its n-grams) move together. The last step in the plane makes it a conjugate gradient with the
sample's curvature as preconditioner. All sums over shards are in their order, so the result does not depend on who
computed them, and on how rows are divided only through the rounding of sums.
"""

from collections.abc import Generator, Sequence
from dataclasses import replace
from math import isfinite, sqrt
from typing import Any, Protocol

import numpy as np

from vwlite.conjugate_gradients import TINY, conjugate_gradients, inner
from vwlite.records import record
from vwlite.training.shards.rows import Point, ShardRows
from vwlite.training.shards.strengths import SPARSE, Penalties, Strength, fitted

LANES = (1.0, 1 / 3, 3.0)
SHARE = 0.9  # of the sample's curvature: where it has more features than rows, its null space is stepped along too far
TOGETHER = 2.0  # by which the curvature of what the sample lacks is multiplied
CLOSE = 1e-3  # of all that conjugate gradients have gained: they end with a step that gains less
MOST_STEPS, MOST_HALVED = 10, 10  # of a search
GAIN, ARMIJO = 1e-6, 1e-4  # of a search: the gain of its last step, relative to F; of what a slope promises
OF_START = 1e-3  # the same for the fit to the sample
MIXTURES = tuple(i / 10 for i in range(10))


Search = Generator[Point, Any, "End"]


class Shards(Protocol):
    """Sums over all shards, in their order: g and C, and after `project` those of a `Projected`."""

    def slopes(self, w: Any) -> tuple[Any, Any]: ...

    def project(self, w: Any, directions: Sequence[Any]) -> None: ...

    def sums(self, points: Sequence[Point]) -> Sequence[Any]: ...

    def losses_apart(self, points: Sequence[Point]) -> Any: ...

    def smearing(self, point: Point, deviation: float) -> Any: ...


@record(frozen=True)
class Round:
    """After a round. loss: the mean of the rows that are held out. objective: F at the end of its lane. step: |w - w'|.
    fell: whether F is less than before. others: the losses of other weights."""

    loss: float
    objective: float
    strength: float
    step: float
    fell: bool
    others: tuple[float, ...] = ()


class ShardFit:
    """sample: its rows, with the features of all shards, without those that are held out. total: N, the sum of v of all
    rows that are learned. held: the same of those that are held out."""

    def __init__(
        self, shards: Shards, sample: ShardRows, penalties: Penalties, strength: Strength, total: float, held: float,
        w: Any, *, is_start: bool = False, center: Any = 0.0,
    ) -> None:
        """w: where the fit to the sample begins; is_start: where the rounds do, in its place. center: a."""
        self._shards, self._sample, self._penalties, self.strength = shards, sample, penalties, strength
        self._total, self._held, self.factor, self._center = total, held, 1.0, center
        self.last: Any = None  # step; with the factor of its lane, what another process continues with
        self._end: tuple[float, ...] = ()  # of the last round, along its directions
        self.curvature: Any = None  # C of the last round
        self.w = w
        if is_start:
            return
        if strength.power == SPARSE:
            w, _ = fitted(sample, sample.v, penalties, replace(strength, power=0.0), w, gain=OF_START)
        self.w, _ = fitted(sample, sample.v, penalties, strength, w, gain=OF_START)

    def round(self, lanes: Sequence[float] = LANES, others: Sequence[Any] = ()) -> Round:
        """Do a round. If F does not fall, w stays. others: weights whose loss of the rows that are held out is asked
        for, and of which `mix` takes the last."""
        w, shards = self.w, self._shards
        g, self.curvature = shards.slopes(w)
        factors = [self.factor * lane for lane in lanes]
        ends = [self._penalties.of(self.strength, w, factor) for factor in factors]
        steps = [self._direction(g, self.curvature, penalty) for penalty in ends]
        plane = [] if self.last is None else [self.last]
        directions = [*steps, *plane, *(other - w for other in others)]
        shards.project(w, directions)
        last = tuple(range(len(steps), len(steps) + len(plane)))
        searches = [search(w - self._center, directions, (i, *last), penalty) for i, penalty in enumerate(ends)]
        found = self._searched(searches)
        unit = np.eye(len(directions))
        points = [end.at for end in found] + [tuple(row) for row in unit[len(directions) - len(others) :].tolist()]
        apart = shards.losses_apart([Point(at) for at in points])
        best = chosen(apart[: len(lanes)])
        end, move, fell = found[best], np.zeros_like(w), found[best].objective < found[best].first
        self._end = tuple(0.0 for _ in directions)
        if fell:
            move = sum((a * d for a, d in zip(end.at, directions, strict=True) if a), move)
            self.w, self.last, self.factor, self._end = w + move, move, factors[best], end.at
        losses = (apart[:, 0] / max(self._held, TINY)).tolist()
        return Round(losses[best], end.objective, self.factor * self.strength.strength, sqrt(inner(move, move)), fell,
                     tuple(losses[len(lanes) :]))

    def mix(self, other: Any) -> tuple[float, float]:
        """Replace w by (1 - u) other + u w, with the u of MIXTURES that is best for rows that are held out, if
        it is better than w by two standard errors. Returns u and the loss. other: the last of `others`."""
        shares, to_other = (1.0, *MIXTURES), len(self._end) - 1
        points = [Point((*(u * a for a in self._end[:to_other]), 1 - u)) for u in shares]
        apart = self._shards.losses_apart(points)
        best = chosen(apart, errors=2.0)
        u = shares[best]
        self._end = points[best].at
        if u < 1:
            self.w = other + u * (self.w - other)
        return u, float(apart[best, 0]) / max(self._held, TINY)

    def smearing(self, deviation: float) -> Any:
        """As of `Projected.smearing`, at the end of the last round."""
        return self._shards.smearing(Point(self._end), deviation)

    def gradients_over_curvature(self) -> Any:
        """Of each score, the sum of v l'^2 over that of v l'', of the sample at the end."""
        rows = self._sample
        _, slopes, curvatures = rows.targets.at(rows.scores(self.w), 0)
        v = rows.v[:, None]
        return (v * slopes * slopes).sum(axis=0) / np.maximum((v * curvatures).sum(axis=0), TINY)

    def _direction(self, g: Any, curvature: Any, penalty: Any) -> Any:
        """Of a lane: what minimizes the quadratic model of F."""
        rows = self._sample
        targets = rows.targets
        _, _, of_rows = targets.at(rows.scores(self.w), 0)
        u = SHARE * self._total / rows.v.sum() * rows.v[:, None]
        own = rows.squares(u * of_rows)
        lacking = TOGETHER * np.maximum(curvature - own, 0)

        def times(q: Any) -> Any:
            return rows.gradients(u * targets.along(rows.scores(q))) + (lacking + penalty) * q

        return conjugate_gradients(times, -(g + penalty * (self.w - self._center)), own + lacking + penalty, 0.0, CLOSE)

    def _searched(self, searches: Sequence[Search]) -> "list[End]":
        """Run the searches of all lanes, which ask for sums at the same time: few messages, no row is read."""
        ends: list[Any] = [None] * len(searches)
        waiting = {i: next(one) for i, one in enumerate(searches)}
        while waiting:
            found = self._shards.sums([*waiting.values()])
            for i, sums in zip([*waiting], found, strict=True):
                try:
                    waiting[i] = searches[i].send(sums)
                except StopIteration as e:
                    ends[i] = e.value
                    del waiting[i]
        return ends


@record(frozen=True)
class End:
    """Of a search: the point, F there, and F where it began."""

    at: tuple[float, ...]
    objective: float
    first: float


def search(moved: Any, directions: Sequence[Any], places: tuple[int, ...], penalty: Any) -> Search:
    """Newton steps in the plane of some directions, with halving, to a gain of GAIN (1 + |F|). A generator: it yields
    points, gets the sums there, and returns its `End`. moved: w - a."""
    own = [directions[k] for k in places]
    products = [[inner(penalty, s * t) for t in own] for s in own]
    start, slopes = inner(penalty, moved * moved), [inner(penalty, moved * s) for s in own]
    n = len(places)

    def point(a: Any) -> Point:
        at = [0.0] * len(directions)
        for k, x in zip(places, a, strict=True):
            at[k] = float(x)
        return Point(tuple(at), places)

    def with_prior(a: Any, sums: Any) -> tuple[float, Any, Any]:
        matrix, b = np.array(products), np.array(slopes)
        moved = (matrix * a).sum(axis=1)
        value = sums[0] + (start + 2 * (b * a).sum() + (moved * a).sum()) / 2
        return float(value), sums[1 : 1 + n] + b + moved, sums[1 + n :].reshape(n, n) + matrix

    a = np.zeros(n)
    value, g, h = with_prior(a, (yield point(a)))
    first = value
    for _ in range(MOST_STEPS):
        step, part = -solved(h, g), 1.0
        slope = float((g * step).sum())
        if not slope < 0:
            break
        for _ in range(MOST_HALVED):
            after = with_prior(a + part * step, (yield point(a + part * step)))
            if isfinite(after[0]) and after[0] <= value + ARMIJO * part * slope:
                break
            part /= 2
        else:
            break
        gain, a, (value, g, h) = value - after[0], a + part * step, after
        if gain < GAIN * (1 + abs(value)):
            break
    return End(point(a).at, value, first)


def solved(h: Any, g: Any) -> Any:
    """h^-1 g of one or two numbers; if they are nearly dependent, along the first alone."""
    if len(g) == 2:
        determinant = h[0, 0] * h[1, 1] - h[0, 1] * h[1, 0]
        if determinant > 1e-12 * h[0, 0] * h[1, 1]:
            return np.array([h[1, 1] * g[0] - h[0, 1] * g[1], h[0, 0] * g[1] - h[1, 0] * g[0]]) / determinant
    return np.array([g[0] / h[0, 0] if h[0, 0] > 0 else 0.0, *[0.0] * (len(g) - 1)])


def chosen(apart: Any, errors: float = 1.0) -> int:
    """The lane with the least loss, of the first one and those that are better by so many standard errors of the
    difference."""
    able = [0, *(i for i in range(1, len(apart)) if -apart[i, 1] > errors * sqrt(apart[i, 2]))]
    return min(able, key=lambda i: apart[i, 0])
