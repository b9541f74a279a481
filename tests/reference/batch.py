"""Batch problems, solved by plain NumPy: dense, eager, one coordinate after the other until nothing moves.

    min over w, b of sum_i h_i l(p_i, y_i) + l1 sum_j c_j |w_j| + l2 / 2 ||w||^2,   p = X w + b + initial

A coordinate goes to the minimum of its own function of one number, by bisection of that function's slope. So neither
bounds on curvature nor shortcuts are shared with the compiled solvers.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


def _x_log_x(x: Array) -> Array:
    return np.where(x > 0, x * np.log(np.where(x > 0, x, 1)), 0.0)


@dataclass(frozen=True)
class Loss:
    """value and dloss of predictions and labels; conjugate l*(-alpha)."""

    value: Callable[[Array, Array], Array]
    dloss: Callable[[Array, Array], Array]
    curvature: Callable[[Array, Array], Array]


LOSSES = {
    "squared": Loss(lambda p, y: (p - y) ** 2, lambda p, y: 2 * (p - y), lambda p, y: 2 + 0 * p),
    "logistic": Loss(
        lambda p, y: np.logaddexp(0, -y * p),
        lambda p, y: -y / (1 + np.exp(np.clip(y * p, -700, 700))),
        lambda p, y: np.exp(-np.logaddexp(0, p) - np.logaddexp(0, -p)),
    ),
    "squared-hinge": Loss(
        lambda p, y: np.maximum(0, 1 - y * p) ** 2,
        lambda p, y: -2 * y * np.maximum(0, 1 - y * p),
        lambda p, y: 2.0 * (y * p < 1),
    ),
    "poisson": Loss(
        lambda p, y: np.exp(p) - y * p - (y - _x_log_x(y)),
        lambda p, y: np.exp(p) - y,
        lambda p, y: np.exp(p),
    ),
    "hinge": Loss(lambda p, y: np.maximum(0, 1 - y * p), lambda p, y: -y * (y * p < 1), lambda p, y: 0 * p),
}


@dataclass
class Problem:
    """X [n, d], labels y, importance, what is added to predictions; c: weights of the penalty."""

    x: Array
    y: Array
    loss: str
    l1: float = 0.0
    l2: float = 0.0
    constant: bool = True
    importance: Array | None = None
    initial: Array | None = None
    c: Array | None = None
    nonnegative: bool = False
    box: float = np.inf

    def __post_init__(self) -> None:
        n, d = self.x.shape
        self.h = np.ones(n) if self.importance is None else self.importance
        self.h = self.h / self.h.sum()
        self.offset = np.zeros(n) if self.initial is None else self.initial
        self.weights = np.ones(d) if self.c is None else self.c

    def predictions(self, w: Array, b: float) -> Array:
        return self.x @ w + b + self.offset

    def mean_loss(self, w: Array, b: float) -> float:
        return float(self.h @ LOSSES[self.loss].value(self.predictions(w, b), self.y))

    def objective(self, w: Array, b: float) -> float:
        penalty = self.l1 * self.weights @ np.abs(w) + self.l2 / 2 * (w @ w)
        return self.mean_loss(w, b) + float(penalty)

    def gradient(self, w: Array, b: float) -> tuple[Array, float]:
        """Of the mean loss, by the weights and by the constant."""
        r = self.h * LOSSES[self.loss].dloss(self.predictions(w, b), self.y)
        return self.x.T @ r, float(r.sum())

    def violations(self, w: Array, b: float) -> Array:
        """How far 0 is from the subgradients, for each weight and the constant."""
        g, by_b = self.gradient(w, b)
        g = g + self.l2 * w
        a = self.l1 * self.weights
        low = 0.0 if self.nonnegative else -self.box
        up, down = np.maximum(0, -g - a), np.maximum(0, g - a)  # gains of going up and down from 0
        at_zero = np.maximum(up, 0 if self.nonnegative else down)
        slope = g + a * np.sign(w)
        elsewhere = np.where(
            w >= self.box, np.maximum(slope, 0), np.where(w <= low, np.maximum(-slope, 0), np.abs(slope))
        )
        found = np.where(w == 0, at_zero, elsewhere)
        return np.append(found, abs(by_b) if self.constant else 0.0)


def _root(slope: Callable[[float], float], start: float, step: float) -> float:
    """Where an increasing function of one number passes 0, by widening and bisection."""
    low = high = start
    if slope(start) < 0:
        while slope(high) < 0 and high - start < 1e6:
            low, high, step = high, high + step, 2 * step
    else:
        while slope(low) > 0 and start - low < 1e6:
            low, high, step = low - step, low, 2 * step
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if slope(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def best_constant(problem: Problem, w: Array) -> float:
    """The b with the least objective."""
    return _root(lambda b: problem.gradient(w, b)[1], 0.0, 1.0)


def l1_max(problem: Problem) -> float:
    w = np.zeros(problem.x.shape[1])
    g, _ = problem.gradient(w, best_constant(problem, w) if problem.constant else 0.0)
    return float(np.max((-g if problem.nonnegative else np.abs(g)) / problem.weights, initial=0))


def solve(problem: Problem, *, tolerance: float = 1e-12, sweeps: int = 20_000) -> tuple[Array, float]:
    """Weights and constant with violations of at most `tolerance`: coordinate descent, then Newton on what is not 0."""
    d = problem.x.shape[1]
    loss = LOSSES[problem.loss]
    w, b = np.zeros(d), 0.0
    low = 0.0 if problem.nonnegative else -problem.box
    for sweep in range(sweeps):
        p = problem.predictions(w, b)
        if problem.constant:
            b = _root(lambda to, p=p, at=b: float(problem.h @ loss.dloss(p + (to - at), problem.y)), b, 1.0)
        p = problem.predictions(w, b)
        for j in range(d):
            x, at, a = problem.x[:, j], w[j], problem.l1 * problem.weights[j]
            if not x.any():
                w[j] = 0.0
                continue

            def slope(u: float, x: Array = x, at: float = at, p: Array = p) -> float:
                return float(problem.h @ (loss.dloss(p + (u - at) * x, problem.y) * x)) + problem.l2 * u

            if abs(slope(0.0)) <= a:
                u = 0.0
            elif slope(0.0) < 0:
                u = _root(lambda u, slope=slope, a=a: slope(u) + a, max(at, 0.0), 0.1)
            else:
                u = _root(lambda u, slope=slope, a=a: slope(u) - a, min(at, 0.0), 0.1)
            u = min(max(u, low), problem.box)
            if u != at:
                p = p + (u - at) * x
                w[j] = u
        if problem.violations(w, b).max() <= tolerance:
            break
        if sweep % 5 == 4:
            w, b = _newton(problem, w, b)
    return w, b


def _newton(problem: Problem, w: Array, b: float) -> tuple[Array, float]:
    """Newton steps on the weights that are neither 0 nor at the edge of the box, while signs stay and P falls."""
    low = 0.0 if problem.nonnegative else -problem.box
    for _ in range(20):
        free = np.flatnonzero((w != 0) & (w > low) & (w < problem.box))
        z = problem.x[:, free]
        if problem.constant:
            z = np.column_stack([z, np.ones(len(z))])
        g, by_b = problem.gradient(w, b)
        g = (g + problem.l2 * w + problem.l1 * problem.weights * np.sign(w))[free]
        g = np.append(g, by_b) if problem.constant else g
        curved = problem.h * LOSSES[problem.loss].curvature(problem.predictions(w, b), problem.y)
        hessian = z.T @ (curved[:, None] * z) + np.diag([problem.l2] * len(free) + [0.0] * int(problem.constant))
        step = np.linalg.lstsq(hessian, -g, rcond=1e-13)[0] if len(g) else g
        new, new_b = w.copy(), b
        new[free] += step[: len(free)]
        new_b += float(step[-1]) if problem.constant else 0.0
        inside = np.all(np.sign(new) == np.sign(w)) and np.all((new >= low) & (new <= problem.box))
        if not inside or not problem.objective(new, new_b) <= problem.objective(w, b):
            break
        w, b = new, new_b
    return w, b
