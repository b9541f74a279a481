"""The papers' batch solvers, step by step, in plain NumPy: dense, every number recomputed where possible.

Random numbers are drawn as by the compiled solvers, so that both take the same steps: splitmix64, of which the upper 32
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


@dataclass
class Ball:
    """sum_j c_j |w_j| <= z, w >= 0 if asked for; the simplex: w >= 0 and = z."""

    z: float
    c: Array
    nonnegative: bool = False
    simplex: bool = False

    def project(self, v: Array) -> Array:
        """w_i = sign(v_i) max(|v_i| - theta c_i, 0), theta by bisection."""
        if self.nonnegative and not self.simplex:
            v = np.maximum(v, 0)
        sign, size = (np.ones(len(v)), v) if self.simplex else (np.sign(v), np.abs(v))
        if not self.simplex and size @ self.c <= self.z:
            return v
        low, high = -np.max(np.abs(v) / self.c) - self.z / self.c.min() ** 2, np.max(size / self.c)
        for _ in range(300):
            theta = (low + high) / 2
            if self.c @ np.maximum(size - theta * self.c, 0) > self.z:
                low = theta
            else:
                high = theta
        active = size > high * self.c
        if active.any():
            high = (size[active] @ self.c[active] - self.z) / (self.c[active] ** 2).sum()
        return sign * np.maximum(size - high * self.c, 0)


def best_constant(problem: batch.Problem, w: Array) -> float:
    return batch.best_constant(problem, w) if problem.constant else 0.0


def curvature(problem: batch.Problem) -> float:
    return CURVATURE.get(problem.loss, 1.0 if problem.loss != "poisson" else 2.0)


def safe_rate(problem: batch.Problem) -> float:
    """1 over the bound max_i ||x_i||^2 on the curvature."""
    squares = (problem.x**2).sum(axis=1) + float(problem.constant)
    return 1 / (squares.max() * curvature(problem) + problem.l2)


@dataclass
class Point:
    """Weights and constant, with the value there and the slopes."""

    problem: batch.Problem
    w: Array
    b: float

    def __post_init__(self) -> None:
        p = self.problem
        self.value = p.mean_loss(self.w, self.b) + p.l2 / 2 * float(self.w @ self.w)
        self.g, slope = p.gradient(self.w, self.b)
        self.g = self.g + p.l2 * self.w
        self.slope = slope if p.constant else 0.0


class Gradient:
    """L1B, section 7: projected gradient, with backtracking, at a fixed rate or at eta0 / sqrt(k); and accelerated."""

    def __init__(self, problem: batch.Problem, ball: Ball, *, how: str = "armijo", eta0: float | None = None) -> None:
        self.problem, self.ball, self.how = problem, ball, how
        self.t = safe_rate(problem) if eta0 is None else eta0
        self.k, self.momentum = 0, 1.0
        self.at = self.v = Point(problem, ball.project(np.zeros(problem.x.shape[1])), 0.0)

    def step(self) -> None:
        self.k += 1
        t = self.t / np.sqrt(self.k) if self.how == "sqrt" else self.t
        v = self.v
        while True:
            new = Point(self.problem, self.ball.project(v.w - t * v.g), v.b - t * v.slope)
            moved = (np.sum((new.w - v.w) ** 2) + (new.b - v.b) ** 2) / (2 * t)
            promised = v.g @ (new.w - v.w) + v.slope * (new.b - v.b)
            curved = ((new.g - v.g) @ (new.w - v.w) + (new.slope - v.slope) * (new.b - v.b)) / 2
            if self.how in ("fixed", "sqrt"):
                break
            if curved <= moved * (1 + 1e-9) if moved < 1e-9 * v.value else new.value <= v.value + promised + moved:
                self.t = 1.3 * t
                break
            t /= 2
        by = 0.0
        if self.how == "accelerated":
            last = self.at
            if (v.w - new.w) @ (new.w - last.w) + (v.b - new.b) * (new.b - last.b) > 0:
                self.momentum = 1.0
            else:
                after = (1 + np.sqrt(1 + 4 * self.momentum**2)) / 2
                by, self.momentum = (self.momentum - 1) / after, after
            self.v = Point(self.problem, new.w + by * (new.w - last.w), new.b + by * (new.b - last.b))
        else:
            self.v = new
        self.at = new


class FrankWolfe:
    """Steps towards the corner s of the ball with the least <g, s>: t = min(1, <g, w - s> / q), q the curvature there.

    The constant is the best one, before and after a step.
    """

    def __init__(self, problem: batch.Problem, ball: Ball) -> None:
        self.problem = problem
        corners = np.diag(ball.z / ball.c)
        signs = [corners] if ball.simplex else [corners, np.zeros((1, len(corners)))]
        self.corners = np.vstack(signs if ball.nonnegative or ball.simplex else [*signs, -corners])
        self.w = ball.project(np.zeros(len(corners)))
        self.b = best_constant(problem, self.w)

    def step(self) -> None:
        p = self.problem
        g = Point(p, self.w, self.b).g
        s = self.corners[np.argmin(self.corners @ g)]
        q = curvature(p) * p.h @ (p.x @ (s - self.w)) ** 2 + p.l2 * np.sum((s - self.w) ** 2)
        slope = g @ (self.w - s)
        self.w = self.w + (min(1, slope / q) if q > 0 else 1) * (s - self.w)
        self.b = best_constant(p, self.w)


class Samples:
    """Gradients of samples without replacement; with all examples, in their order."""

    def __init__(self, problem: batch.Problem, batch_size: int | None, seed: int) -> None:
        self.problem, self.size, self.random = problem, batch_size, Random(seed)
        self.order = list(range(len(problem.y)))

    def gradient(self, w: Array, b: float) -> tuple[Array, float]:
        p, n = self.problem, len(self.problem.y)
        if self.size is None:
            point = Point(p, w, b)
            return point.g, point.slope
        for s in range(self.size):
            other = s + self.random.below(n - s)
            self.order[s], self.order[other] = self.order[other], self.order[s]
        chosen = self.order[: self.size]
        r = p.h * batch.LOSSES[p.loss].dloss(p.predictions(w, b), p.y)
        r = n / self.size * r[chosen]
        return p.x[chosen].T @ r + p.l2 * w, float(r.sum()) if p.constant else 0.0


class Minibatch:
    """L1B, section 7: projected gradient from samples."""

    def __init__(self, problem: batch.Problem, ball: Ball, *, size: int, how: str = "sqrt", eta0: float | None = None,
                 seed: int = 1) -> None:
        self.samples, self.ball, self.how = Samples(problem, size, seed), ball, how
        self.t = safe_rate(problem) if eta0 is None else eta0
        self.k, self.w, self.b = 0, ball.project(np.zeros(problem.x.shape[1])), 0.0

    def step(self) -> None:
        self.k += 1
        t = self.t * {"sqrt": self.k**-0.5, "inverse": 1 / self.k}.get(self.how, 1.0)
        g, slope = self.samples.gradient(self.w, self.b)
        self.w, self.b = self.ball.project(self.w - t * g), self.b - t * slope


class Exponentiated:
    """L1B, eq. 13, over the masses c_j w_j / z, which sum to 1; with both signs, of two vectors."""

    def __init__(self, problem: batch.Problem, ball: Ball, *, both: bool, size: int | None = None, how: str = "fixed",
                 eta0: float | None = None, seed: int = 1) -> None:
        self.samples, self.ball, self.how = Samples(problem, size, seed), ball, how
        d = problem.x.shape[1]
        self.signs = np.repeat([1.0, -1.0], d)[: 2 * d if both else d]
        self.c = np.tile(ball.c, 2)[: len(self.signs)]
        self.mass = np.full(len(self.signs), 1 / len(self.signs))
        most = np.max(problem.h @ problem.x**2 / ball.c**2)
        self.constant_rate = ball.z * most
        self.t = 1 / (ball.z * (most * curvature(problem) * (2 if problem.constant else 1) + problem.l2))
        self.t = self.t if eta0 is None else eta0
        self.k, self.b = 0, 0.0

    @property
    def w(self) -> Array:
        d = len(self.ball.c)
        signed = self.ball.z * self.signs * self.mass / self.c
        return signed[:d] + (signed[d:] if len(signed) > d else 0)

    def step(self) -> None:
        self.k += 1
        t = self.t * {"sqrt": self.k**-0.5, "inverse": 1 / self.k}.get(self.how, 1.0)
        p, w, b, mass = self.samples.problem, self.w, self.b, self.mass
        g, slope = self.samples.gradient(w, b)
        before = Point(p, w, b)
        while True:
            self.mass = mass * np.exp(-t * self.signs * np.tile(g, 2)[: len(self.signs)] / self.c)
            self.mass /= self.mass.sum()
            self.b = b - t * self.constant_rate * slope
            if self.how != "armijo":
                break
            after = Point(p, self.w, self.b)
            moved = self.ball.z / t * float(self.mass @ np.log(self.mass / mass))
            moved += t * self.constant_rate * slope**2 / 2
            promised = g @ (after.w - w) + slope * (after.b - b)
            curved = ((after.g - g) @ (after.w - w) + (after.slope - slope) * (after.b - b)) / 2
            if curved <= moved if moved < 1e-9 * before.value else after.value <= before.value + promised + moved:
                self.t = 1.3 * t
                break
            t /= 2


@dataclass
class Softmax:
    """L1B, eq. 12: weights [classes, d] and constants of the multinomial logistic loss; y counts from 0."""

    x: Array
    y: Array
    h: Array
    classes: int
    constant: bool = True
    l2: float = 0.0

    def __post_init__(self) -> None:
        self.expected = np.eye(self.classes)[self.y]

    def probabilities(self, w: Array, b: Array) -> Array:
        s = self.x @ w.T + b
        s = np.exp(s - s.max(axis=1, keepdims=True))
        return s / s.sum(axis=1, keepdims=True)

    def objective(self, w: Array, b: Array) -> float:
        s = self.x @ w.T + b
        own = s[np.arange(len(s)), self.y]
        return float(self.h @ (np.logaddexp.reduce(s, axis=1) - own)) + self.l2 / 2 * float((w**2).sum())

    def gradient(self, w: Array, b: Array) -> tuple[Array, Array]:
        r = self.h[:, None] * (self.probabilities(w, b) - self.expected)
        return r.T @ self.x + self.l2 * w, r.sum(axis=0) * self.constant

    def bound(self, q: Array, ball: Ball) -> float:
        """The dual at probabilities whose shares are those of the labels; l2 = 0."""
        assert not self.constant or np.allclose(self.h @ (q - self.expected), 0, atol=1e-12)
        v = (self.h[:, None] * (self.expected - q)).T @ self.x / ball.c
        most = np.maximum(v, 0).max(axis=1) if ball.nonnegative else np.abs(v).max(axis=1)
        entropy = -np.where(q > 0, q * np.log(np.where(q > 0, q, 1)), 0).sum(axis=1)
        return float(self.h @ entropy) - ball.z * float(most.sum())


class Dual:
    """The SVM's dual in its box, by exact steps of one a after the other, and both sides of the gap. The constant is a
    feature of value 1."""

    def __init__(self, problem: batch.Problem) -> None:
        self.problem = problem
        self.x = np.column_stack([problem.x, np.ones(len(problem.y))]) if problem.constant else problem.x
        self.most = problem.h / problem.l2
        self.a = np.zeros(len(problem.y))

    @property
    def w(self) -> Array:
        return self.x.T @ (self.a * self.problem.y)

    def objective(self, w: Array) -> float:
        p = self.problem
        margin = p.y * (self.x @ w + p.offset)
        return float(p.h @ np.maximum(0, 1 - margin)) + p.l2 / 2 * float(w @ w)

    def bound(self, a: Array) -> float:
        p = self.problem
        w = self.x.T @ (a * p.y)
        return p.l2 * float(a @ (1 - p.y * p.offset) - w @ w / 2)

    def visit(self, i: int) -> None:
        p = self.problem
        slope = p.y[i] * (self.x[i] @ self.w + p.offset[i]) - 1
        squared = self.x[i] @ self.x[i]
        best = self.a[i] - slope / squared if squared > 0 else (np.inf if slope < 0 else 0.0)
        self.a[i] = np.clip(best, 0, self.most[i])

    def solve(self, sweeps: int = 20_000) -> Array:
        for _ in range(sweeps):
            for i in range(len(self.a)):
                self.visit(i)
            if self.objective(self.w) - self.bound(self.a) <= 1e-12 * self.objective(self.w):
                break
        return self.w
