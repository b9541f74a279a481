"""The merge, eager and dense, as its specification writes it down: one number for each shard and weight.

Every shard has every weight: a key that it lacks has the blank numbers there. Arrays are [n], those of shards [K, n].
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwlite.projection import project_l1

Vector = NDArray[np.float64]


def path_length(S: Vector, d: Vector, beta: float, pieces: int = 4000) -> Vector:
    """The integral of ds / (2 (beta + sqrt s)) from S to S + d. With s = (e^t - 1)^2 beta^2 it is that of
    beta (e^t - 1) dt, which is smooth, so the midpoint rule does."""
    low, high = np.sqrt(S), np.sqrt(S + d)
    if beta == 0:
        return high - low
    begin = np.log1p(low / beta)
    step = np.log1p((d / (high + low + (high == 0))) / (beta + low)) / pieces
    total = np.zeros_like(low)
    for i in range(pieces):
        total += np.expm1(begin + (i + 0.5) * step)
    result: Vector = total * step * beta
    return result


def share(S: Vector, d: Vector, eta: Vector, beta: float, c: float) -> Vector:
    """How much of its way to the optimum a weight has gone."""
    result: Vector = -np.expm1(-c * eta * path_length(S, d, beta))
    return result


def soft(v: Vector, a: Any) -> Vector:
    result: Vector = np.sign(v) * np.maximum(np.abs(v) - a, 0)
    return result


def ratio(a: Vector, b: Vector) -> Vector:
    """a / b; 0 where b is 0."""
    result: Vector = np.divide(a, b, out=np.zeros_like(a), where=b != 0)
    return result


def evidence(S0: Vector, S: Vector) -> Vector:
    """dS_k"""
    result: Vector = np.maximum(S - S0, 0)
    return result


def metric(S: Vector, beta: float, variance: bool = False) -> Vector:
    return S if variance else beta + np.sqrt(S)


PATHS = {"path2": 2.0, "path": 8.0, "path32": 32.0}  # c


def directions(
    w0: Vector, S0: Vector, w: Vector, S: Vector, *, eta: Vector, beta: float, variance: bool = False
) -> dict[str, Vector]:
    """All ways, by their names."""
    delta, d = w - w0, evidence(S0, S)
    total, moved = d.sum(axis=0), (delta != 0).sum(axis=0).astype(float)
    touched = delta.sum(axis=0) / np.maximum(1, moved)
    found = {
        "mean": delta.mean(axis=0),
        "touched": touched,
        "root": ratio(delta.sum(axis=0), np.sqrt(moved)),
        "information": np.where(total > 0, ratio((d * delta).sum(axis=0), total), touched),
    }
    if variance:
        found["dual"] = ratio(w0 * S0 + (w * S - w0 * S0).sum(axis=0), S0 + total) - w0
        found["dual"][S0 + total == 0] = 0
    for path, c in ({} if variance else PATHS).items():
        each = np.array([share(S0, dk, eta, beta, c) for dk in d])
        raised = ratio(d * delta, each).sum(axis=0)
        found[path] = np.where(total > 0, ratio(share(S0, total, eta, beta, c) * raised, total), touched)
    return found


# --- the state afterwards, for weights w and evidence S ----------------------------------------


def adagrad_z(w: Vector, S: Vector, delta: float, shift: Vector) -> Vector:
    """shift: 0 for the constant."""
    result: Vector = np.where(w == 0, 0, np.sign(w) * (np.abs(w) * (delta + np.sqrt(S)) + shift))
    return result


def rda_z(w: Vector, S: Vector, delta: float, shift: Vector, scale: float, z: Vector) -> Vector:
    """z: z_0 + sum (z_k - z_0)."""
    active = np.sign(w) * (np.abs(w) * (delta + np.sqrt(S)) / scale + shift)
    result: Vector = np.where(w == 0, np.clip(z, -shift, shift), active)
    return result


def ftrl_z(w: Vector, S: Vector, alpha: float, beta: float, l1: Vector, l2: Vector, z: Vector) -> Vector:
    active = -w * ((beta + np.sqrt(S)) / alpha + l2) - np.sign(w) * l1
    result: Vector = np.where(w == 0, np.clip(z, -l1, l1), active)
    return result


def project_adaptive(w: Vector, S: Vector, delta: float, radius: float) -> Vector:
    """The nearest weights of the ball in the norm of H; without the constant."""
    root = np.sqrt(delta + np.sqrt(S))
    return project_l1(w * root, radius, weights=1 / root, method="sort") / root


def product(w0: Vector, sigma0: Vector, w: Vector, sigma: Vector) -> tuple[Vector, Vector]:
    """The product of normal distributions, with the prior divided out: means and variances."""
    precision0, precision = 1 / sigma0, 1 / sigma
    joint = precision0 + (precision - precision0).sum(axis=0)
    mean = (precision0 * w0 + (precision * w - precision0 * w0).sum(axis=0)) / joint
    return mean, 1 / joint


# --- the stack ---------------------------------------------------------------------------------


def stack_loss(p: Vector, labels: Vector, importance: Vector, loss: str) -> float:
    """The sum over examples. p: [n, classes]; labels: numbers, or of several classes theirs from 0; of
    two, 1 and -1."""
    total = 0.0
    h = importance / importance.mean()
    if loss in ("squared", "poisson"):
        for i, y in enumerate(labels):
            s = p[i, 0]
            deviance = np.exp(s) - y * s - y + (y * np.log(y) if y > 0 else 0.0)
            total += h[i] * ((s - y) ** 2 if loss == "squared" else deviance)
        return float(total)
    classes = p.shape[1]
    of_class = np.array([[1.0 if y == c else -1.0 for c in range(classes)] for y in labels])
    of_class = labels[:, None] if classes == 1 else of_class
    n = sum(1 for one in h if one > 0)
    sure = (n + 0.5) / (n + 1)
    for i, y in enumerate(labels):
        if loss == "logistic":
            for c in range(classes):
                margin = of_class[i, c] * p[i, c]
                total += h[i] * (sure * np.log1p(np.exp(-margin)) + (1 - sure) * np.log1p(np.exp(margin)))
        else:
            log_share = p[i] - np.log(np.exp(p[i]).sum())
            rest = (1 - sure) / (classes - 1)
            total -= h[i] * sum((sure if c == y else rest) * log_share[c] for c in range(classes))
    return float(total)


# The weight of each candidate, and the power of the number of shards that steps are about; None: only the step 1.
STACK_PRIOR: dict[str, tuple[float, float | None]] = {
    "start": (1, None), "shard": (4, None), "mean": (2, 0.35), "touched": (2, 0.35), "information": (16, 0.35),
    "path2": (1, 0), "path": (2, 0), "path32": (8, 0), "dual": (16, 0), "root": (2, -0.35),
}
STACK_STEPS = [1 / 4, 5 / 16, 3 / 8, 7 / 16, 1 / 2, 5 / 8, 3 / 4, 7 / 8, 1, 5 / 4, 3 / 2, 7 / 4, 2, 5 / 2, 3, 7 / 2, 4]


def stack_average(
    x: dict[tuple[str, int], Vector], labels: Vector, importance: Vector, loss: str
) -> tuple[Vector, float]:
    """The scores of the average, and the scale. x: of candidates, by way and the number of the shard."""
    shards, start = sum(1 for way, _ in x if way == "shard"), x["start", 0]
    tried = []
    for (way, _), scores in x.items():
        weight, power = STACK_PRIOR[way]
        about = [0.0 if power is None else np.exp(-((np.log(s / shards**power) / 0.3) ** 2) / 2) for s in STACK_STEPS]
        for step, density in zip(STACK_STEPS, about, strict=True):
            likely = (step == 1) + (0 if power is None else density / sum(about))
            tried.append((weight * likely / (shards if way == "shard" else 1), start + step * (scores - start)))
    losses = np.array([stack_loss(scores, labels, importance, loss) for _, scores in tried])
    scale = losses.min() / len(labels) if loss == "squared" else 1.0
    weights = np.array([u for u, _ in tried]) * np.exp(-(losses - losses.min()) / (2 * scale))
    average: Vector = np.tensordot(weights / weights.sum(), np.array([scores for _, scores in tried]), axes=1)
    return average, float(scale)


def stack_differences(
    x: Vector, average: Vector, labels: Vector, importance: Vector, strength: float, loss: str
) -> Vector:
    """The coefficients of the shards, by gradients from differences and BFGS: slow, and nothing of it is that of the
    merge. x: their scores, [shards, examples, classes]. strength: with the scale."""
    x = x - x.mean(axis=0)

    def objective(u: Vector) -> float:
        scores = average + np.tensordot(u, x, axes=1)
        return stack_loss(scores, labels, importance, loss) + strength / 2 * float((u**2).sum())

    def gradient(u: Vector) -> Vector:
        steps = 1e-5 * np.eye(len(u))
        return np.array([(objective(u + e) - objective(u - e)) / 2e-5 for e in steps])

    u, g, inverse = np.zeros(len(x)), gradient(np.zeros(len(x))), np.eye(len(x)) / strength
    for _ in range(200):
        step, size = -inverse @ g, 1.0
        while objective(u + size * step) > objective(u) + 1e-4 * size * (g @ step) and size > 1e-10:
            size /= 2
        after = u + size * step
        d, y = after - u, gradient(after) - g
        u, g = after, g + y
        if np.abs(d).max() < 1e-9 or d @ y <= 0:
            break
        left = np.eye(len(x)) - np.outer(d, y) / (d @ y)
        inverse = left @ inverse @ left.T + np.outer(d, d) / (d @ y)
    return u - u.mean()
