"""Newton's method for a model of one score or of classes, with its penalty: w minimizes

    sum of u_i l(<w, x_i>, y_i) + 1/2 sum of penalty_j (w_j - center_j)^2

Steps are found by conjugate gradients, preconditioned by the diagonal of the curvature, and halved until the objective
falls. They end when one gains less than GAIN nats. Rows are those of `vwlite solve`; all sums have one order.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from vwlite.algorithms.settings import Settings
from vwlite.core.base.dense import dot
from vwlite.core.learn.losses import Hinge, Logistic, Loss, Quantile
from vwlite.core.solve.products import Products
from vwlite.core.solve.rows import Rows
from vwlite.core.solve.softmax import softmax_each
from vwlite.model.learners import make_expander, make_loss

GAIN = 0.3  # nats, and MORE of the objective
MORE = 1e-3
PART = 0.02  # of GAIN and of all that they have gained: conjugate gradients that gain less end
MOST_STEPS, MOST_PRODUCTS = 25, 100
LEAST_PART, ARMIJO = 1e-4, 1e-4  # of a step; of the decrease that its slope promises
FARTHEST = 27.0  # scores of labels and classes are clipped to it before they are judged
FLAT = 1e-9  # the least second derivative, and the least part of a whole
TINY = 1e-300


class Design:
    """Rows as a matrix, whose last column is the intercept; arrays of weights are [columns + 1, classes]."""

    def __init__(self, rows: Rows) -> None:
        self._matrix, self._rows, self._columns = Products(rows), len(rows), len(rows.keys)

    def extremes(self) -> tuple[Any, Any, Any]:
        """The least and the largest value of each column that are not 0, and how many they are."""
        found = np.zeros((3, self._columns))
        self._matrix.extremes(*found)
        return found[0], found[1], found[2]

    def scores(self, w: Any, first: int) -> Any:
        """Of the rows from `first` on."""
        return self._products(w[:-1], first) + w[-1]

    def gradients(self, r: Any, first: int) -> Any:
        """sum of r_ik x_ij over these rows"""
        return np.vstack([self._sums(r, first), r.sum(axis=0)])

    def squares(self, r: Any, first: int) -> Any:
        """sum of r_ik x_ij^2 over these rows"""
        return np.vstack([self._sums(r, first, True), r.sum(axis=0)])

    def _products(self, w: Any, first: int) -> Any:
        out = np.zeros((self._rows - first, w.shape[1]))
        self._matrix.scores(w, out, first)
        return out

    def _sums(self, r: Any, first: int, squares: bool = False) -> Any:
        out = np.zeros((self._columns, r.shape[1]))
        self._matrix.gradients(r, out, first, squares)
        return out


class Targets:
    """Labels with a loss. scale: by which losses are divided. longest: step of a level. is_flat: no loss is curved."""

    scale = longest = 1.0
    is_flat = False

    def at(self, p: Any, first: int) -> tuple[Any, Any, Any]:
        """For scores of the rows from `first` on: the losses, and their first and second derivatives by each score."""
        raise NotImplementedError

    def along(self, s: Any) -> Any:
        """The second derivatives of the last `at`, times a change of scores."""
        raise NotImplementedError

    def clipped(self, p: Any) -> Any:
        return np.clip(p, -FARTHEST, FARTHEST)

    def level(self, p: Any, v: Any, first: int, penalty: Any) -> Any:
        """What is added to scores, of each class, so that losses are least. p: scores of the rows from `first` on.
        v: importances of those of them that count, which come first."""
        found = np.zeros(p.shape[1])
        for _ in range(MOST_PRODUCTS):
            _, slopes, curvatures = self.at(p + found, first)
            step, curvature = ((v[:, None] * x[: len(v)]).sum(axis=0) for x in (slopes, curvatures))
            step = np.clip(step / (curvature + penalty), -self.longest, self.longest)
            found -= step
            if np.abs(step).max() <= FLAT * np.abs(found).max():
                break
        return found


class Numbers(Targets):
    """One score of a row."""

    def __init__(self, loss: Loss, y: Any, initial: Any) -> None:
        self._loss, self._y, self._initial = loss, y, initial
        self.longest = 1.0 if isinstance(loss, Logistic) or loss.power > 0 else np.inf
        self.is_flat = isinstance(loss, Hinge | Quantile)

    def at(self, p: Any, first: int) -> tuple[Any, Any, Any]:
        values, slopes, curvatures = np.zeros((3, len(p)))
        self._loss.evaluate_each(p[:, 0] + self._initial[first:], self._y[first:], values, slopes, curvatures)
        self._curvatures = np.maximum(curvatures, FLAT)[:, None] / self.scale
        return values / self.scale, slopes[:, None] / self.scale, self._curvatures

    def along(self, s: Any) -> Any:
        return self._curvatures * s

    def clipped(self, p: Any) -> Any:
        most = FARTHEST if isinstance(self._loss, Logistic) else self._loss.largest_p
        return np.clip(p, max(-most, self._loss.least_p), most)


class Classes(Targets):
    """A score for each class, and the log loss of their softmax. numbers: of each row's class, from 0."""

    def __init__(self, numbers: Any) -> None:
        self._numbers = numbers.astype(np.uint32)

    def at(self, p: Any, first: int) -> tuple[Any, Any, Any]:
        values, slopes = np.zeros(len(p)), np.zeros_like(p)
        softmax_each(p, self._numbers[first:], values, slopes)
        self._q = slopes.copy()
        self._q[np.arange(len(p)), self._numbers[first:]] += 1
        return values, slopes, np.maximum(self._q * (1 - self._q), FLAT)

    def along(self, s: Any) -> Any:
        return self._q * (s - (self._q * s).sum(axis=1, keepdims=True))


def targets_of(settings: Settings, rows: Rows, classes: int = 0) -> tuple[Targets, Any]:
    """The labels of rows, and which scores of a model they use. classes: how many have scores; 0: those that rows have.
    """
    y = np.array(rows.labels)
    if settings.outputs.task != "classes":
        return Numbers(make_loss(settings), y, np.array(rows.initial)), np.zeros(1, int)
    if classes:
        return Classes(y - 1), np.arange(classes)
    found, numbers = np.unique(y, return_inverse=True)
    return Classes(numbers), found.astype(int) - 1


def aligned(settings: Settings, rows: Rows, keys: Any, weights: Any) -> Any:
    """The weights of the columns of rows, and of the intercept, which is 0 if there is none."""
    constant = make_expander(settings).constant_key
    wanted, known = np.append(rows.keys, constant if constant is not None else 0).astype(np.uint32), np.asarray(keys)
    found = np.zeros((len(wanted), weights.shape[1]))
    if len(known):
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        found = np.where((known[at] == wanted)[:, None], weights[at], 0.0)
    if constant is None:
        found[-1] = 0
    return found


def minimized(
    design: Design, targets: Targets, u: Any, first: int, w: Any, penalty: Any, center: Any
) -> tuple[Any, Any]:
    """The weights, and the scores of the rows from `first` on, whose importances are u. w: the start."""
    u_each, p = u[:, None], design.scores(w, first)
    values, slopes, curvatures = targets.at(p, first)
    value = dot(u, values) + inner(penalty, np.square(w - center)) / 2
    for _ in range(MOST_STEPS):
        gradient = design.gradients(u_each * slopes, first) + penalty * (w - center)
        step = _conjugate_gradients(
            lambda q: design.gradients(u_each * targets.along(design.scores(q, first)), first) + penalty * q,
            -gradient, design.squares(u_each * curvatures, first) + penalty,
        )
        ahead, slope, part = design.scores(step, first), inner(gradient, step), 1.0
        while True:
            values, slopes, curvatures = targets.at(p + part * ahead, first)
            after = dot(u, values) + inner(penalty, np.square(w + part * step - center)) / 2
            if after <= value + ARMIJO * part * slope:
                break
            part /= 2
            if part < LEAST_PART:
                return w, p
        w, p, gain, value = w + part * step, p + part * ahead, value - after, after
        if gain < GAIN * (1 + MORE * abs(value)):
            break
    return w, p


def _conjugate_gradients(times: Callable[[Any], Any], r: Any, diagonal: Any) -> Any:
    """s with times(s) = r, nearly: s times(s) / 2 - r s is the least. The diagonal of `times` is the preconditioner."""
    s, q, whole = np.zeros_like(r), r / diagonal, 0.0
    rz = inner(r, q)
    for _ in range(MOST_PRODUCTS):
        along = times(q)
        a = rz / max(inner(q, along), TINY)
        s, r = s + a * q, r - a * along
        whole += a * rz / 2
        if a * rz / 2 <= PART * (whole + GAIN):
            break
        z = r / diagonal
        before, rz = rz, inner(r, z)
        q = z + rz / before * q
    return s


def inner(a: Any, b: Any) -> float:
    a, b = np.broadcast_arrays(a, b)
    return float(dot(a.ravel(), b.ravel()))


def products_of(x: Any, w: Any) -> Any:
    """<x, w_k> of each class."""
    return np.array([dot(x, np.ascontiguousarray(column)) for column in w.T])
