"""Rows of all shards at the driver: their curvature is the first inverse Hessian of L-BFGS for a smooth objective.

    B = a H + (1 - a) diag(H) + m / V diag(max(0, Q - S)) + l2,    H = 1/V sum over the sample of v_i l''_i x_i x_i'

V: the sum of v over all rows; Q_j, S_j: the sums of v x_j^2 over all rows and over the sample; m: the mean l'' of all
rows. So the matrix is the sample's curvature for what the sample has, and a diagonal for what it lacks. Rows of a shard
are weighted so that their v add up to that of the whole shard. The intercept has no penalty, and what the sample lacks
of its curvature is max(0, m - H_bb). B^-1 q is computed by conjugate gradients.

    a = 1 / (1 + r^2),    r = NOISE (1 - part of the rows that is drawn) parameters / rows

where rows are (sum u)^2 / sum u^2, u = v l'', and parameters the sum of H_jj / (H_jj + l2). With few rows for a
parameter, H has directions that are nearly flat by chance, in which steps would be too long: 100 of 400 rows with 40
features, squared hinge loss, took 142 rounds to a gap of 1e-3 with a = 1, and take 22.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vwlite.algorithms.settings import Settings
from vwlite.conjugate_gradients import TINY, conjugate_gradients
from vwlite.core.solve.products import Products
from vwlite.core.solve.rows import Rows
from vwlite.model.learners import make_loss
from vwlite.solving.rounds.sums import FeaturesOfShards

MOST_ROWS, MOST_ENTRIES = 10_000, 1_000_000  # of all shards
CLOSE = 1e-4  # of all that conjugate gradients have gained: they end with a step that gains less
NOISE = 2.0
KINDS = {  # of arrays
    "counts": "I", "columns": "I", "values": "f", "labels": "d", "initial": "d", "v": "d", "lacking": "d", "rows": "d",
}
GOLDEN = (5**0.5 - 1) / 2


@dataclass
class ShardSample:
    """Rows of one shard. counts: how many entries each has; columns, values: of the entries, one row after the other;
    v: importances; squares: Q, of each feature of the shard; rows: how many it has."""

    counts: Any
    columns: Any
    values: Any
    labels: Any
    initial: Any
    v: Any
    squares: Any
    rows: int


def sample_of(rows: Rows, shards: int) -> ShardSample:
    """The sample of one of so many shards: a row of each of the equal parts of the shard."""
    begins, columns, values = map(np.asarray, rows.entries)
    begins, n = begins.astype(np.int64), len(rows)
    share = min(1.0, MOST_ROWS / shards / n, MOST_ENTRIES / shards / max(len(columns), 1))
    parts = max(1, int(share * n))
    bounds = np.arange(parts + 1) * n // parts
    places = np.arange(parts) * GOLDEN % 1  # not the same in each part: rows may be in some periodic order
    at = bounds[:-1] + (places * np.diff(bounds)).astype(np.int64)
    counts = (begins[1:] - begins[:-1])[at]
    entries = np.repeat(begins[at] - np.append(0, np.cumsum(counts)[:-1]), counts) + np.arange(counts.sum())
    importance = np.asarray(rows.importance)
    squares = np.zeros((len(rows.keys), 1))
    Products(rows).gradients(np.ascontiguousarray(importance[:, None]), squares, 0, True)
    v = importance[at]
    return ShardSample(
        counts.astype(np.uint32), columns[entries], values[entries], np.asarray(rows.labels)[at],
        np.asarray(rows.initial)[at], v * (_sum(importance) / _sum(v)), squares[:, 0], n,
    )


@np.errstate(all="ignore")
def united(samples: Sequence[ShardSample], features: FeaturesOfShards) -> dict[str, Any]:
    """The arrays of a `Sample`, of those of the shards in their order. Not finite if sums are not."""
    found = {
        name: np.concatenate([getattr(one, name) for one in samples])
        for name in ("counts", "values", "labels", "initial", "v")
    }
    found["rows"] = np.array([one.rows for one in samples], float)
    columns = [places[one.columns] for one, places in zip(samples, features.places, strict=True)]
    found["columns"] = np.concatenate(columns).astype(np.uint32)
    own = np.repeat(found["v"], found["counts"]) * np.square(found["values"], dtype=float)
    squares = np.bincount(found["columns"], own, len(features.keys))
    found["lacking"] = np.maximum(features.sum([one.squares for one in samples]) - squares, 0)
    return {name: found[name] for name in KINDS}


class Sample:
    """The sample at the driver. arrays: as of `united`."""

    def __init__(self, arrays: dict[str, Any], settings: Settings) -> None:
        """ValueError: impossible arrays, of a damaged file."""
        each = {name: np.asarray(arrays[name]) for name in KINDS}
        begins = np.append(0, np.cumsum(each["counts"], dtype=np.uintp)).astype(np.uintp)
        self._products = Products.of(begins, each["columns"], each["values"], len(each["lacking"]))
        self._y, self._initial, self._v, self._lacking = (each[k] for k in ("labels", "initial", "v", "lacking"))
        if {len(self._y), len(self._initial), len(self._v)} != {len(each["counts"])}:
            raise ValueError("the arrays of its sample do not match")
        finite = all(np.isfinite(x).all() for x in each.values())
        if not finite or self._v.min() <= 0 or self._lacking.min(initial=0.0) < 0 or _sum(each["rows"]) < len(self._v):
            raise ValueError("numbers of its sample are impossible")
        self._total = _sum(self._v)
        self._part = len(self._v) / _sum(each["rows"])
        self._loss, self._l2, self._has_intercept = make_loss(settings), settings.l2, settings.constant

    @np.errstate(all="ignore")
    def solve(self, x: Any, q: Any, curvature: float) -> Any:
        """B^-1 q at the weights x, which have the intercept last. curvature: m. Not finite if sums are not."""
        u = self._v * self._curvatures(self._scores(np.asarray(x))) / self._total
        own = self._sums(u, squares=True)
        share = self._share(u, own[:-1])
        of_intercept = max(curvature - own[-1], 0.0) if self._has_intercept else 1.0
        diagonal = np.append(self._lacking * (curvature / self._total) + self._l2, of_intercept) + (1 - share) * own

        def times(s: Any) -> Any:
            return share * self._sums(u * self._scores(s), squares=False) + diagonal * s

        return conjugate_gradients(times, np.asarray(q), share * own + diagonal, 0.0, CLOSE)

    def _share(self, u: Any, own: Any) -> float:
        """a. own: the diagonal of H."""
        rows, parameters = _sum(u) ** 2 / max(_sum(u * u), TINY), _sum(np.append(0.0, own / (own + self._l2)))
        return 1 / (1 + (NOISE * (1 - self._part) * parameters / max(rows, TINY)) ** 2)

    def _curvatures(self, p: Any) -> Any:
        values, slopes, found = np.zeros((3, len(p)))
        self._loss.evaluate_each(p + self._initial, self._y, values, slopes, found)
        return np.where(np.isfinite(found), found, 0.0)

    def _scores(self, w: Any) -> Any:
        p = np.zeros((len(self._v), 1))
        self._products.scores(np.ascontiguousarray(w[:-1, None]), p)
        return p[:, 0] + (w[-1] if self._has_intercept else 0.0)

    def _sums(self, r: Any, *, squares: bool) -> Any:
        """sum of r_i x_ij or of r_i x_ij^2, with the intercept's last."""
        found = np.zeros((len(self._lacking) + 1, 1))
        self._products.gradients(np.ascontiguousarray(r[:, None]), found[:-1], 0, squares)
        found[-1] = _sum(r) if self._has_intercept else 0.0
        return found[:, 0]


def _sum(x: Any) -> float:
    """In the order of the rows."""
    return float(np.cumsum(x)[-1])
