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


def directions(
    w0: Vector, S0: Vector, w: Vector, S: Vector, *, eta: Vector, beta: float, c: float, variance: bool = False
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
    u0, u = w0 * metric(S0, beta, variance), w * metric(S, beta, variance)
    found["dual"] = ratio(u0 + (u - u0).sum(axis=0), metric(S0 + total, beta, variance)) - w0
    found["dual"][metric(S0 + total, beta, variance) == 0] = 0
    if not variance:
        each = np.array([share(S0, dk, eta, beta, c) for dk in d])
        raised = ratio(d * delta, each).sum(axis=0)
        found["path"] = np.where(total > 0, ratio(share(S0, total, eta, beta, c) * raised, total), touched)
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
