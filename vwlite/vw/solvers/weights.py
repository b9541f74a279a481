"""The weights of a batch solver, and the directions of its search."""

from math import isnan

import numpy as np

from vwlite.vw.solvers.rows import Floats, dot, ratio

LARGEST_RATIO = 10000.0  # of the diagonal of the preconditioner


class NoCurvature(Exception):
    """Raised if the last step found no curvature."""


class Weights:
    """The weights and the numbers stored with each; the L-BFGS memory.

    w: weights; g: gradient; d: direction of the search; h: the preconditioner, a diagonal. r, u: the regularizer
    sum r (w - u)^2 / 2. free: the place of a weight that is not regularized.
    """

    def __init__(self, w: Floats, r: Floats, u: Floats, memory: int, free: int | None = None) -> None:
        self.w, self.r, self.u, self.memory, self.free = w, r, u, memory, free
        self.g, self.d, self.h = (np.zeros_like(w) for _ in range(3))
        self.old_w, self.old_g = w.copy(), np.zeros_like(w)
        self.steps: list[tuple[Floats, Floats, float]] = []  # y, s, 1 / <y, s>; the newest first

    def regularize(self) -> float:
        """Add the gradient of the regularizer; its value."""
        away = self.w - self.u
        force = self.r * away
        value = 0.5 * dot(self.r, away, away)
        if self.free is not None:
            value -= 0.5 * float(force[self.free]) * float(away[self.free])
            force[self.free] = 0
        self.g += force
        return value

    def curvature_along(self) -> float:
        """The second derivative of the regularizer along d."""
        return dot(self.d, self.d, self.r)

    def invert(self) -> None:
        """From second derivatives to the preconditioner."""
        self.h += self.r
        largest = float(self.h.max(initial=0))
        np.divide(1, self.h, out=self.h, where=self.h > 0)
        if largest:
            np.minimum(self.h, np.float32(LARGEST_RATIO / largest), out=self.h)

    def magnitudes(self) -> tuple[float, float]:
        """<g, g> and <g, H g>."""
        return dot(self.g, self.g), dot(self.g, self.g, self.h)

    def remember(self) -> None:
        self.old_g[:], self.old_w[:] = self.g, self.w
        self.g[:] = 0

    def start(self) -> None:
        """The first direction. The second derivatives of the loss are used for it only."""
        self.d[:] = -self.h * self.g
        self.remember()
        self.h[:] = 0
        self.invert()

    def conjugate(self) -> float:
        """The next direction of conjugate gradient; the share that the last one has in it."""
        change = self.g - self.old_g
        top, bottom = dot(self.g, self.h, change), dot(self.old_g, self.h, self.old_g)
        beta = ratio(top, bottom)
        if beta < 0 or isnan(beta):
            beta = 0.0
        self.d *= np.float32(beta)
        self.d -= self.h * self.g
        self.remember()
        return float(np.float32(beta))

    def two_loop_recursion(self) -> None:
        """The next direction of L-BFGS. NoCurvature if the last step found no curvature."""
        y, s = self.g - self.old_g, self.w - self.old_w
        d = self.d
        d[:] = self.g
        y_s, y_hy = dot(y, s), dot(y, y, self.h)
        if y_s <= 0 or y_hy <= 0:
            raise NoCurvature
        self.steps.insert(0, (y, s, 1 / y_s))
        del self.steps[self.memory :]
        alphas = []
        for y, s, rho in self.steps:
            alphas.append(rho * dot(s, d))
            d -= np.float32(alphas[-1]) * y
        d *= np.float32(y_s / y_hy) * self.h
        for (y, s, rho), alpha in zip(reversed(self.steps), reversed(alphas), strict=True):
            d += np.float32(alpha - rho * dot(y, d)) * s
        np.negative(d, out=d)
        self.remember()

    def step(self, step: float) -> None:
        self.w += np.float32(step) * self.d
