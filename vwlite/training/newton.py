"""Newton's method with conjugate gradients, for labels with a loss and a ridge:

    w = argmin of sum of u_i l(<w, x_i>, y_i) + 1/2 sum of L_j (w_j - c_j)^2

A step is halved until the objective falls. (Nocedal, Wright. Numerical Optimization. 2006. Algorithm 7.1.)
"""

from typing import Any

import numpy as np

from vwlite.conjugate_gradients import conjugate_gradients, inner
from vwlite.core.base.dense import dot
from vwlite.core.learn.losses import Hinge, Logistic, Loss, Quantile
from vwlite.core.solve.softmax import softmax_each

GAIN = 0.3  # of the objective, and MORE of it: Newton steps that gain less end
MORE = 1e-3
PART = 0.02  # of GAIN and of all that they have gained: conjugate gradients that gain less end
MOST_STEPS, MOST_PRODUCTS = 25, 100
LEAST_PART, ARMIJO = 1e-4, 1e-4  # of a step; of the decrease that its slope promises
OF_INTERCEPT = 1e-3  # L
FARTHEST = 27.0  # scores of labels and classes are clipped to it before they are judged
FLAT = 1e-9  # the least second derivative, and the least part of a whole


def is_flat(loss: Loss) -> bool:
    """Whether its second derivative is 0, where it has one."""
    return isinstance(loss, Hinge | Quantile)


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

    def __init__(self, loss: Loss, y: Any, initial: Any, least: float = FLAT) -> None:
        """least: the least second derivative."""
        self._loss, self._y, self._initial, self._least = loss, y, initial, least
        self.longest = 1.0 if isinstance(loss, Logistic) or loss.power > 0 else np.inf
        self.is_flat = is_flat(loss)

    def at(self, p: Any, first: int) -> tuple[Any, Any, Any]:
        values, slopes, curvatures = np.zeros((3, len(p)))
        self._loss.evaluate_each(p[:, 0] + self._initial[first:], self._y[first:], values, slopes, curvatures)
        self._curvatures = np.maximum(curvatures, self._least)[:, None] / self.scale
        return values / self.scale, slopes[:, None] / self.scale, self._curvatures

    def along(self, s: Any) -> Any:
        return self._curvatures * s

    def residuals(self, p: Any) -> Any:
        """y - p"""
        return self._y - self._initial - p[:, 0]

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


def minimum(
    design: Any, targets: Targets, u: Any, penalty: Any, center: Any, w: Any, first: int = 0,
    gain_at_end: float | None = None,
) -> tuple[Any, Any]:
    """The minimum, and its scores. design: has the methods of `ShardRows`. u: the importances of the rows from `first`
    on. penalty, center: L and c. w: where it starts. gain_at_end: GAIN."""
    u_each, least = u[:, None], GAIN if gain_at_end is None else gain_at_end
    p = design.scores(w, first)
    values, slopes, curvatures = targets.at(p, first)
    value = dot(u, values) + inner(penalty, np.square(w - center)) / 2
    for _ in range(MOST_STEPS):
        gradient = design.gradients(u_each * slopes, first) + penalty * (w - center)
        step = conjugate_gradients(
            lambda q: design.gradients(u_each * targets.along(design.scores(q, first)), first) + penalty * q,
            -gradient, design.squares(u_each * curvatures, first) + penalty, least, PART, MOST_PRODUCTS,
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
        if gain < least * (1 + MORE * abs(value)):
            break
    return w, p
