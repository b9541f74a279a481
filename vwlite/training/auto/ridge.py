"""Ridge regression: a candidate of the race beside lanes, with the same methods, where it is quick.

Where columns are nearly collinear, small steps take very long to find the weights of their differences; where features
are more than examples, they stop at weights that are too large. For each fold, and for each of COLUMNS strengths s, w
minimizes

    sum of h l(<w, x>, y) + s d / 2 sum of (unit_i w_i)^2

over the examples that are not of the fold, d the number of features, in Newton steps. The intercept has no penalty.
unit is the root of the mean square of a feature that at least half of the examples have, and the largest |x| of another
one. (Hoerl, Kennard. Ridge Regression. Technometrics 1970.)

With more features than examples, w is a sum of these: with Z of the examples in units, Z Z' = V D V', and w = Z' V
D^(-1/2) u, scores are V D^(1/2) u, and the penalty is that of u.

The first pass takes the examples; later passes change nothing.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from vwlite.core.base.dense import add_outer_products, dot, eigenvectors, solve, times, times_transposed
from vwlite.core.data.batch import Batch
from vwlite.core.data.expand import Expander
from vwlite.core.learn.losses import Loss
from vwlite.core.solve.rows import Rows
from vwlite.training.auto.selection import COLUMNS, STATE

MOST_STEPS = 20
MOST_HALVED = 8
CLOSE = 1e-6  # steps end when one changes no weight by more, relative to the largest weight
FLAT = 1e-6  # the least second derivative
TINY = 1e-19  # values below it count as nothing: their weights might be too large for a float
NULL = 1e-10  # eigenvalues below this, relative to the largest, are 0
LARGEST = float(np.finfo(np.float32).max)
SMALLEST = float(np.finfo(np.float32).tiny)


class Ridge:
    """expander: without the intercept. constant_key: of the intercept; None: there is none. strengths: COLUMNS of them,
    falling."""

    classes = 1

    def __init__(
        self, loss: Loss, expander: Expander, constant_key: int | None, strengths: Sequence[float], folds: int = 1
    ) -> None:
        if len(strengths) != COLUMNS:
            raise ValueError(f"{COLUMNS} strengths are needed")
        self.folds = folds
        self._loss, self._expander, self._constant_key, self._strengths = loss, expander, constant_key, strengths
        self._rows, self._folds = Rows(expander), bytearray()
        self._solved: _Solved | None = None

    def learn(
        self, batch: Batch, folds: Any, *, mean: float = 0.0, scale: float = 1.0, initial_scale: float = 1.0,
        keep: bool = False,
    ) -> None:
        """As of lanes. After the first call of `score`, examples are those that were learned."""
        if self._solved is not None:
            return
        self._rows.add(batch)
        self._folds += bytes(folds[: len(batch)])
        self._scales = mean, scale, initial_scale

    def score(self, batch: Batch, folds: Any, scores: Any, *, keep: bool = False) -> None:
        """As of lanes."""
        found = self._solution()
        rows = Rows(self._expander)
        rows.add(batch)
        rows.finish()
        x, of = _matrix(rows, found.keys, self._constant_key), np.frombuffer(bytes(folds[: len(batch)]), np.uint8)
        out = np.asarray(scores)[: COLUMNS * len(batch)].reshape(-1, COLUMNS)
        for fold in range(self.folds):
            mine = np.flatnonzero(of == fold)
            some, p = np.ascontiguousarray(x[mine]), np.empty(len(mine))
            for column, weights in enumerate(found.weights[fold]):
                times(some, weights, p)
                out[mine, column] = p

    def _solution(self) -> "_Solved":
        if self._solved is None:
            self._rows.finish()
            mean, scale, initial_scale = self._scales
            y, initial = (np.asarray(self._rows.labels) - mean) / scale, np.asarray(self._rows.initial) / initial_scale
            self._solved = _Solved(self._loss, self._rows, y, initial, self._constant_key)
            self._solved.solve(np.frombuffer(self._folds, np.uint8), self.folds, self._strengths)
        return self._solved

    def __len__(self) -> int:
        found = self._solution()
        return len(found.keys) + found.has_intercept

    # --- for the model --------------------------------------------------------------------------

    def weights(self, keys: Any, columns: Any) -> None:
        """As of lanes. N is the largest |x|; G is the sum of squares that gd would have at the end."""
        found = self._solution()
        np.asarray(keys)[:] = [*found.keys.tolist(), *([] if self._constant_key is None else [self._constant_key])]
        out = np.asarray(columns).reshape(-1, STATE)
        out[:, :COLUMNS] = found.weights.mean(axis=0).T
        out[:, COLUMNS] = np.maximum(found.largest, TINY)
        out[:, COLUMNS + 1 :] = np.clip(found.squares, SMALLEST, LARGEST)[:, None]

    def fold_weights(self, u: Sequence[float], out: Any) -> None:
        """As of lanes."""
        found = self._solution().weights
        np.asarray(out)[:] = sum(x * found[:, column].T for column, x in enumerate(u)).ravel()  # type: ignore[union-attr]

    def scalars(self, kind: int, k: int = 0) -> dict[str, float]:
        """As of lanes."""
        found = self._solution()
        return {"t": float(found.h.sum()), "S": found.norms, "learned": float(len(found.h))}


class _Solved:
    """The examples as a matrix x, whose last column is the intercept, and the weights [folds, COLUMNS, features] that
    `solve` finds."""

    def __init__(self, loss: Loss, rows: Rows, y: Any, initial: Any, constant_key: int | None) -> None:
        keys = np.array(rows.keys)
        self.keys, self.has_intercept = keys[keys != constant_key], constant_key is not None
        self.h = np.array(rows.importance)
        self._loss, self._y, self._initial = loss, y, initial
        self._x = x = _matrix(rows, self.keys, constant_key)
        self.largest = np.abs(x).max(axis=0, initial=0)
        often = 2 * np.count_nonzero(x, axis=0) >= len(x)
        unit = np.where(often, np.sqrt(np.mean(np.square(x), axis=0)), self.largest)
        self._unit = np.where(unit < TINY, 1.0, unit)
        self._unit[len(self.keys) :] = 1.0

    def solve(self, of: Any, folds: int, strengths: Sequence[float]) -> None:
        """of: the fold of each example, which does not learn it; with one fold all are learned."""
        basis = self._basis()
        rows = self._x / self._unit if basis is None else basis[0]
        d, width = len(self.keys), rows.shape[1]
        self.weights = np.zeros((folds, len(strengths), self._x.shape[1]))
        for fold in range(folds):
            mine = np.flatnonzero(of != fold) if folds > 1 else np.arange(len(rows))
            some = _Examples(self._loss, np.ascontiguousarray(rows[mine]), self._y[mine], self.h[mine],
                             self._initial[mine])
            w = np.zeros(width)
            for column, strength in enumerate(strengths):
                penalty = np.full(width, strength * max(d, 1))
                penalty[width - self.has_intercept :] = 0
                w = some.minimized(penalty, w)
                self.weights[fold, column] = (w if basis is None else self._unfolded(w, basis[1])) / self._unit
        self._add_up(of, folds)

    def _basis(self) -> tuple[Any, Any] | None:
        """With more features than examples: these as V D^(1/2), and the intercept; and V D^(-1/2)."""
        z = np.ascontiguousarray((self._x / self._unit)[:, : len(self.keys)])
        n, d = z.shape
        if d <= n:
            return None
        gram, values = np.zeros((n, n)), np.zeros(n)
        add_outer_products(gram, np.ones(d), np.ascontiguousarray(z.T))
        eigenvectors(gram, values)
        kept = values > NULL * values[-1]
        vectors, roots = gram[kept].T, np.sqrt(values[kept])
        return np.column_stack([vectors * roots, self._x[:, d:]]), vectors / roots

    def _unfolded(self, u: Any, inverse: Any) -> Any:
        """The weights of all features, and of the intercept, from those of the basis."""
        d, k = len(self.keys), inverse.shape[1]
        a, found = np.zeros(len(inverse)), np.zeros(d)
        times(np.ascontiguousarray(inverse), np.ascontiguousarray(u[:k]), a)
        times_transposed(np.ascontiguousarray((self._x / self._unit)[:, :d]), a, found)
        return np.append(found, u[k:])

    def _add_up(self, of: Any, folds: int) -> None:
        """What gd would have added up at the end, by the weights of a strength in the middle."""
        p = np.zeros(len(self._x))
        for fold in range(folds):
            mine = np.flatnonzero(of == fold) if folds > 1 else np.arange(len(p))
            own = np.zeros(len(mine))
            times(np.ascontiguousarray(self._x[mine]), self.weights[fold, COLUMNS // 2], own)
            p[mine] = own
        _, slopes, _ = _derivatives(self._loss, p + self._initial, self._y)
        self.squares = np.zeros(self._x.shape[1])
        times_transposed(np.square(self._x), self.h * np.square(slopes), self.squares)
        norms = np.square(self._x / np.maximum(self.largest, TINY)).sum(axis=1)
        self.norms = dot(self.h, norms)


class _Examples:
    """Examples, for which weights are found: those of columns of `rows`."""

    def __init__(self, loss: Loss, rows: Any, y: Any, h: Any, initial: Any) -> None:
        self._loss, self._rows, self._y, self._h, self._initial = loss, rows, y, h, initial

    def minimized(self, penalty: Any, w: Any) -> Any:
        """The weights with the least loss and penalty, from w on: Newton steps, halved where they do not go down. w, if
        none does."""
        value, slopes, curvatures = self._at(w, penalty)
        for _ in range(MOST_STEPS):
            step, hessian = np.zeros(len(w)), np.zeros((len(w), len(w)))
            times_transposed(self._rows, slopes, step)
            step += penalty * w
            add_outer_products(hessian, curvatures, self._rows)
            hessian[np.diag_indices(len(w))] += penalty
            solve(hessian, step)
            for _ in range(MOST_HALVED):
                after, *derivatives = self._at(w - step, penalty)
                if after <= value:
                    break
                step /= 2
            else:
                return w
            w, value, (slopes, curvatures) = w - step, after, derivatives
            if np.abs(step).max() <= CLOSE * max(np.abs(w).max(), 1.0):
                break
        return w

    def _at(self, w: Any, penalty: Any) -> tuple[float, Any, Any]:
        """The objective, and the derivatives of the losses times the importances."""
        p = np.zeros(len(self._rows))
        times(self._rows, w, p)
        values, slopes, curvatures = _derivatives(self._loss, p + self._initial, self._y)
        objective = dot(self._h, values) + dot(penalty, np.square(w)) / 2
        return objective, self._h * slopes, self._h * np.maximum(curvatures, FLAT)


def _derivatives(loss: Loss, p: Any, y: Any) -> tuple[Any, Any, Any]:
    """The loss of each prediction, and its first two derivatives."""
    values, first, second = (np.empty(len(p)) for _ in range(3))
    loss.evaluate_each(p, y, values, first, second)
    return values, first, second


def _matrix(rows: Rows, keys: Any, constant_key: int | None) -> Any:
    """Examples as a matrix: a column for each of these ascending keys, which leaves out others; then the intercept,
    with the features that share its key."""
    begins, index, values = map(np.asarray, rows.entries)
    own, columns = np.asarray(rows.keys), np.full(len(rows.keys), -1)
    _, of_own, of_all = np.intersect1d(own, keys, assume_unique=True, return_indices=True)
    columns[of_own] = of_all
    columns[own == constant_key] = len(keys)
    places, lines = columns[index], np.repeat(np.arange(len(rows)), begins[1:].astype(int) - begins[:-1].astype(int))
    known = places >= 0
    x = np.zeros((len(rows), len(keys) + (constant_key is not None)))
    x[lines[known], places[known]] = values[known]
    x[:, len(keys) :] += 1
    return x
