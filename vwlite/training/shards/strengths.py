"""The strengths of the ridge, by four folds of the sample:

    L_j = strength * s2 * unit_j^2 (q_j / unit_j^2)^power, times ratio if j is a cell of a product
    L_j = strength * s2 / (w_j^2 + (NEAR unit_j^-1 r)^2), r the root of the mean square of unit_j w_j    (sparse)

and .001 of the intercept. q_j = 100 / N sum of v x_j^2 over all rows that are learned; s2 is twice the mean loss out of
fold of the squared loss, in the unit of the sample's labels, else 1. A plain ridge (power 0) has the same
penalty for rare and frequent words: on texts a power is better, on tables not. The sparse one is for many
features of which few matter, and w in it is that of the last fit: the maximum of a posterior with priors of Student's
t, by majorization. (Figueiredo. Adaptive Sparseness for Supervised Learning. PAMI 2003.) On drawn documents of 47,236
words, of which 1,000 have a weight, it halves the loss; on tables it wins by little, and by chance: adult +.8 %.

From strength 1 and ratio 4, in turns: a third of the strength, itself and three times it; ratios 1 and 4. The one with
the least loss out of fold of all that were tried. The sparse one is tried, and taken, only where it is CLEARLY better.
"""

from typing import Any

import numpy as np

from vwlite.core.base.arrays import total
from vwlite.core.base.dense import dot
from vwlite.records import record
from vwlite.training.newton import OF_INTERCEPT, minimum
from vwlite.training.shards.rows import ShardRows

FOLDS = 4
POWERS, RATIOS, FIRST_RATIO = (0.0, 0.75), (1.0, 4.0), 4.0
SPARSE = -1.0  # in place of a power
LEAST = {0.0: 1 / 27, 0.75: 1 / 3, SPARSE: 1 / 9}  # the least strength of each power
NEAR = 0.3
CLEARLY = 0.95  # of the least loss of the others: more is not enough for the sparse one
REWEIGHTED = 2  # fits with a sparse penalty, each with the weights of the one before
MOST_TURNS = 6
FIRST_SHARE = 0.4  # s2 at first
GAIN = 0.1  # Newton steps that gain less end
RARE = 1e-9


@record(frozen=True)
class Strength:
    strength: float
    ratio: float
    power: float
    share: float = 1.0  # s2


@record(frozen=True)
class Penalties:
    """What penalties are made of. squares: q without the intercept. units: of each feature. is_product: a mask."""

    squares: Any
    units: Any
    is_product: Any

    def of(self, s: Strength, w: Any, factor: float = 1.0) -> Any:
        """L of each feature and of the intercept. w: of the last fit. factor: of the strength."""
        square, scale = np.square(self.units), factor * s.strength * s.share
        if s.power == SPARSE:
            own = np.square(w[:-1])
            least = NEAR**2 * (square[:, None] * own).mean(axis=0) / square[:, None]
            return np.vstack([scale / np.maximum(own + least, RARE), np.full_like(w[-1:], OF_INTERCEPT)])
        found = scale * square * np.maximum(self.squares / square, RARE) ** s.power
        return np.append(np.where(self.is_product, s.ratio * found, found), OF_INTERCEPT)[:, None]


class StrengthSearch:
    """rows: the sample. folds: of each row. has_unit: the loss is squared."""

    def __init__(self, rows: ShardRows, folds: Any, penalties: Penalties, w: Any, *, has_unit: bool) -> None:
        self._rows, self._folds, self._penalties = rows, folds, penalties
        self._starts, self._has_unit = [w] * FOLDS, has_unit
        self._share, self._found = FIRST_SHARE if has_unit else 1.0, dict[tuple[float, float, float], float]()
        self._least, self._best = np.inf, self._starts  # the least loss so far, and its weights

    def best(self) -> Strength:
        if self._has_unit:
            first = self._loss(1.0, FIRST_RATIO, 0.0)
            self._share, self._found, self._least = 2 * first / total(self._rows.v), {}, np.inf
        has_products = bool(self._penalties.is_product.any())
        for power in (*POWERS, SPARSE):
            strength, ratio = 1.0, FIRST_RATIO if has_products and power != SPARSE else 1.0
            if power == SPARSE and self._loss(1.0, ratio, power) >= CLEARLY * self._least:
                break
            for _ in range(MOST_TURNS):
                before = strength, ratio
                near = [x for x in (strength / 3, strength, 3 * strength) if x >= LEAST[power] / 1.5]
                strength = min(near, key=lambda x: self._loss(x, ratio, power))
                if has_products and power != SPARSE:
                    ratio = min(RATIOS, key=lambda x: self._loss(strength, x, power))
                if before == (strength, ratio):
                    break
        key = min(self._found, key=lambda s: self._found[s] / (CLEARLY if s[2] == SPARSE else 1.0))
        share = min(self._share, 2 * self._found[key] / total(self._rows.v)) if self._has_unit else self._share
        return Strength(*key, share)

    def _loss(self, strength: float, ratio: float, power: float) -> float:
        """The sum of losses of rows by fits without their fold."""
        key = strength, ratio, power
        if key not in self._found:
            rows, loss, s = self._rows, 0.0, Strength(*key, self._share)
            starts = [*(self._best if power == SPARSE else self._starts)]
            for k in range(FOLDS):
                u = np.where(self._folds == k, 0.0, rows.v)
                starts[k], p = fitted(rows, u, self._penalties, s, starts[k], gain=GAIN)
                values, _, _ = rows.targets.at(rows.targets.clipped(p), 0)
                loss += dot(rows.v - u, values)
            self._found[key], self._starts = loss, starts
            if loss < self._least and power != SPARSE:
                self._least, self._best = loss, starts
        return self._found[key]


def fitted(rows: ShardRows, u: Any, penalties: Penalties, s: Strength, w: Any, *, gain: float) -> tuple[Any, Any]:
    """The fit to rows with importances u, from w, and its scores. gain: Newton steps that gain less end."""
    p = None
    for _ in range(REWEIGHTED if s.power == SPARSE else 1):
        w, p = minimum(rows, rows.targets, u, penalties.of(s, w), 0.0, w, gain_at_end=gain)
    return w, p
