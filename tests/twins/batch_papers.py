"""The papers' batch solvers, step by step, in plain NumPy: dense, every number computed anew where that can be.

Random numbers are drawn as by the compiled solvers, so that a twin goes the same way: splitmix64, of which the upper 32
bits decide.

SMD: Shalev-Shwartz, Tewari. Stochastic Methods for l1 Regularized Loss Minimization. ICML 2009.
L1B: Duchi, Shalev-Shwartz, Singer, Chandra. Efficient Projections onto the l1-Ball. ICML 2008.
"""

from dataclasses import dataclass

import batch
import numpy as np

Array = np.ndarray
CURVATURE = {"squared": 2.0, "logistic": 0.25, "squared-hinge": 2.0}
MASK = (1 << 64) - 1


@dataclass
class Random:
    """splitmix64 (Steele, Lea, Flood, 2014)."""

    state: int

    def below(self, n: int) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
        return (z >> 32) * n >> 32


class Coordinates:
    """SMD, algorithms 1 and 2, over u >= 0 in 2 d numbers: scd and detcd. The constant is fitted where they do."""

    def __init__(self, problem: batch.Problem, entries: Array, *, seed: int = 1, beta: str = "mean") -> None:
        self.problem, self.random = problem, Random(seed)
        x, d = problem.x, problem.x.shape[1]
        squares = problem.h @ x**2 if beta == "mean" else (x**2).max(axis=0)
        self.bound = np.tile(CURVATURE[problem.loss] * squares, 2)
        self.signed = np.hstack([x, -x])
        self.u, self.b = np.zeros(2 * d), 0.0
        self.entries = np.tile(entries, 2)
        self.accesses = self.unfitted = 0
        self.fit()

    @property
    def w(self) -> Array:
        up, down = np.split(self.u, 2)
        return up - down

    def fit(self) -> None:
        self.unfitted = 0
        if self.problem.constant:
            self.b = batch.best_constant(self.problem, self.w)

    def objective(self) -> float:
        """That of the 2 d numbers."""
        p = self.problem
        penalty = p.l1 * np.tile(p.weights, 2) @ self.u + p.l2 / 2 * (self.w @ self.w)
        return p.mean_loss(self.w, self.b) + float(penalty)

    def steps(self) -> tuple[Array, Array]:
        """The step of each number, and what it promises."""
        p = self.problem
        r = p.h * batch.LOSSES[p.loss].dloss(p.predictions(self.w, self.b), p.y)
        g = self.signed.T @ r + p.l2 * np.append(self.w, -self.w) + p.l1 * np.tile(p.weights, 2)
        curved = self.bound + p.l2
        step = np.where(curved > 0, -g / np.where(curved > 0, curved, 1), np.where(g > 0, -self.u, 0))
        step = np.clip(step, -self.u, p.box - self.u)
        step = np.where(np.abs(step) <= 1e-14 * self.u, 0, step)
        return step, -(g * step + curved * step**2 / 2)

    def move(self, k: int, step: float) -> None:
        before = self.objective()
        self.u[k] += step
        assert self.objective() <= before * (1 + 1e-12)
        self.accesses += self.entries[k]
        self.unfitted += self.entries[k]
        if self.unfitted > 8 * len(self.problem.y):
            self.fit()

    def stochastic(self, visits: int) -> None:
        many = len(self.u) // (2 if self.problem.nonnegative else 1)
        for _ in range(visits):
            k = self.random.below(many)
            self.accesses += self.entries[k]
            step = float(self.steps()[0][k])
            if step != 0:
                self.move(k, step)
        self.fit()

    def deterministic(self, visits: int) -> None:
        many = len(self.u) // (2 if self.problem.nonnegative else 1)
        for _ in range(visits):
            self.accesses += self.entries[: len(self.u) // 2].sum()
            step, gain = (found[:many] for found in self.steps())
            k = int(np.argmax(gain))
            if gain[k] <= 0:
                break
            self.move(k, float(step[k]))
        self.fit()
