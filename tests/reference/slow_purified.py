"""Purified effects as in the paper: means of slices are moved until none is left.

Lengerich, Tan, Chang, Hooker, Caruana. Purifying Interaction Effects with the Functional ANOVA: An Efficient Algorithm
for Recovering Identifiable Additive Models. AISTATS 2020, algorithm 1.
"""

from itertools import combinations, product

import numpy as np

ENOUGH = 1e-13
MOST_ROUNDS = 100_000


def purified(grid: np.ndarray, weights: np.ndarray) -> dict[tuple[int, ...], np.ndarray]:
    """The parts of a function of several axes, by their axes: () is the mean. Parts of one axis have the mean 0, and so
    has every slice of the others."""
    n = grid.ndim
    parts = {of: np.zeros([grid.shape[k] for k in of]) for size in range(n + 1) for of in combinations(range(n), size)}
    parts[tuple(range(n))] = grid.astype(float).copy()
    for size in range(n, 0, -1):
        for of in combinations(range(n), size):
            of_part = marginal(weights, of)
            for _ in range(MOST_ROUNDS):
                if not move(parts, of, of_part):
                    break
            else:
                raise AssertionError("the means of slices do not vanish")
    return parts


def move(parts: dict[tuple[int, ...], np.ndarray], of: tuple[int, ...], weights: np.ndarray) -> bool:
    """Move the means of all slices along each axis once; whether one was not 0."""
    most = 0.0
    for axis in range(len(of)):
        rest = of[:axis] + of[axis + 1 :]
        for place in product(*(range(parts[of].shape[k]) for k in range(len(of)) if k != axis)):
            slice_ = (*place[:axis], slice(None), *place[axis:])
            w = weights[slice_]
            if w.sum() > 0:
                mean = (w * parts[of][slice_]).sum() / w.sum()
                parts[of][slice_] -= mean
                parts[rest][place] += mean
                most = max(most, abs(mean))
    return most > ENOUGH


def marginal(weights: np.ndarray, of: tuple[int, ...]) -> np.ndarray:
    return weights.sum(axis=tuple(k for k in range(weights.ndim) if k not in of))


def slices(grid: np.ndarray, weights: np.ndarray) -> list[float]:
    """The weighted sums of all slices along one axis of a grid."""
    return np.concatenate([(grid * weights).sum(axis=k).ravel() for k in range(grid.ndim)]).tolist()
