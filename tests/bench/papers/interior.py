"""An interior point method for the penalised problems of Duchi et al.'s figures, to be compared with: not in the
product.

    min over w of (1/m) sum_i l(<w, x_i>, y_i) + l1 ||w||_1

by a logarithmic barrier: with -u <= w <= u, Newton steps on t (L + l1 sum u) - sum log(u + w) - sum log(u - w), t
doubled while they go well, each step by conjugate gradients. It is that of l1_ls and of l1_logreg, with their
constants.

Kim, Koh, Lustig, Boyd, Gorinevsky. An Interior-Point Method for Large-Scale l1-Regularized Least Squares. 2007; Koh,
Kim, Boyd. An Interior-Point Method for Large-Scale l1-Regularized Logistic Regression. 2007.
"""

from collections.abc import Callable, Iterator

import numpy as np

Array = np.ndarray


def squared(p: Array, y: Array) -> tuple[Array, Array, Array]:
    return (p - y) ** 2, 2 * (p - y), np.full(len(p), 2.0)


def logistic(p: Array, y: Array) -> tuple[Array, Array, Array]:
    q = 1 / (1 + np.exp(np.clip(y * p, -500, 500)))
    return np.logaddexp(0, -y * p), -y * q, q * (1 - q)


def squared_dual(alpha: Array, y: Array) -> Array:
    """-l*(-alpha)."""
    return alpha * y - alpha**2 / 4


def logistic_dual(alpha: Array, y: Array) -> Array:
    a = np.clip(alpha * y, 1e-300, 1 - 1e-16)
    return -(a * np.log(a) + (1 - a) * np.log1p(-a))


LOSSES = {"squared": (squared, squared_dual), "logistic": (logistic, logistic_dual)}


def interior_point(X: Array, y: Array, loss: str, l1: float, tolerance: float = 1e-8) -> Iterator[tuple[float, float]]:
    """Floating point operations and objective after each Newton step, until the gap is this part of the objective.

    A product with X or its transpose is 2 m n operations; what is done with vectors is left out.
    """
    value_of, dual_of = LOSSES[loss]
    m, n = X.shape
    product = 2.0 * m * n
    squares = X * X
    w, u, p, direction = np.zeros(n), np.ones(n), np.zeros(m), np.zeros(n)
    l1 *= m  # of the sum of losses, which the constants are made for
    t = min(max(1.0, 1 / l1), 2 * n / 1e-3)
    flops, lower, step = product, -np.inf, 1.0
    for _ in range(200):
        values, slopes, curves = value_of(p, y)
        g = X.T @ slopes
        flops += product
        objective = values.sum() + l1 * np.abs(w).sum()
        shrink = min(1.0, l1 / np.abs(g).max())
        lower = max(lower, float(dual_of(-shrink * slopes, y).sum()))
        gap = objective - lower
        yield flops, float(objective) / m
        if gap <= tolerance * objective:
            return
        if step >= 0.5:
            t = max(2 * min(2 * n / gap, t), t)

        def barrier(w: Array, u: Array, p: Array, t: float = t) -> float:
            if not (u > np.abs(w)).all():
                return np.inf
            smooth = value_of(p, y)[0].sum() + l1 * u.sum()
            return float(t * smooth - np.log(u + w).sum() - np.log(u - w).sum())

        above, below = 1 / (u + w), 1 / (u - w)
        by_w, by_u = t * g - above + below, t * l1 - above - below
        d1, d2 = above**2 + below**2, above**2 - below**2
        reduced = d1 - d2**2 / d1
        scaled = t * curves
        diagonal = squares.T @ scaled + reduced
        flops += product
        goal = min(0.1, 1e-3 * gap / min(1.0, float(np.hypot(np.linalg.norm(by_w), np.linalg.norm(by_u)))))
        direction, steps = conjugate_gradients(
            lambda v, s=scaled, r=reduced: X.T @ (s * (X @ v)) + r * v,  # type: ignore[misc]
            d2 * by_u / d1 - by_w, diagonal, direction, goal,
        )
        flops += 2 * product * (steps + 1)
        along_u = -(by_u + d2 * direction) / d1
        change = X @ direction
        flops += product

        slope = float(by_w @ direction + by_u @ along_u)
        before, step = barrier(w, u, p), 1.0
        while True:
            moved = w + step * direction, u + step * along_u, p + step * change
            if step <= 1e-12 or barrier(*moved) <= before + 0.01 * step * slope:
                break
            step /= 2
        w, u, p = moved


def conjugate_gradients(
    times: Callable[[Array], Array], right: Array, diagonal: Array, start: Array, tolerance: float
) -> tuple[Array, int]:
    """The solution of A x = right, preconditioned by the diagonal, and how many products with A it took beside one."""
    x = start.copy()
    r = right - times(x)
    z = r / diagonal
    d, rho = z, float(r @ z)
    size = float(np.linalg.norm(right))
    steps = 0
    while np.linalg.norm(r) > tolerance * size and steps < 400:
        q = times(d)
        alpha = rho / float(d @ q)
        x = x + alpha * d
        r = r - alpha * q
        z = r / diagonal
        before, rho = rho, float(r @ z)
        d = z + rho / before * d
        steps += 1
    return x, steps
