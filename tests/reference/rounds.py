"""Methods that learn of an objective and its gradient at one point a round, by plain NumPy, as in the papers.

The last coordinate is the constant: no penalty, no projection, and a scale of its own, 1 over its curvature.
"""

from collections.abc import Callable

import numpy as np

Array = np.ndarray


class Descent:
    """`tell` with the mean loss, its gradient, and the second derivative by the constant at `trial`."""

    def __init__(self, x: Array, l2: float = 0.0) -> None:
        self.trial = x.copy()
        self.x: Array | None = None
        self.mask = np.append(np.ones(len(x) - 1), 0.0)  # 1 for weights
        self.l2 = l2
        self.rate = 0.0
        self.done = False

    def penalty(self, x: Array) -> float:
        return 0.0

    def tell(self, loss: float, gradient: Array, curvature: float) -> bool:
        value = loss + self.l2 / 2 * float((self.mask * self.trial**2).sum()) + self.penalty(self.trial)
        g = gradient + self.l2 * self.mask * self.trial
        if self.x is not None and value > self.most() + 1e-4 * self.promise() + 1e-14 * abs(self.objective):
            slope = float(self.slopes @ self.direction)
            bend = value - self.objective - self.step * slope
            shorter = -slope * self.step**2 / (2 * bend) if bend > 0 else 0.0
            self.step = float(np.clip(shorter, self.step / 10, self.step / 2))
            self.trial = self.moved()
            return False
        self.curvature = max(curvature, 1e-12)
        if self.x is not None:
            self.learn(self.trial - self.x, g - self.g)
        self.x, self.g, self.objective = self.trial, g, value
        self.taken()
        self.slopes = self.steepest()
        self.direction = self.aim()
        self.step = 1.0
        self.done = not self.slopes @ self.direction < 0
        self.trial = self.moved()
        return True

    def most(self) -> float:
        return self.objective

    def promise(self) -> float:
        return float(self.slopes @ (self.trial - self.x))

    def taken(self) -> None:
        pass

    def steepest(self) -> Array:
        return self.g

    def moved(self) -> Array:
        return self.x + self.step * self.direction


class OWLQN(Descent):
    """Andrew, Gao. Scalable Training of L1-Regularized Log-Linear Models. ICML 2007, Algorithm 1; the inverse
    Hessian is that of the coordinates which are neither 0 nor held there. Without l1: Liu, Nocedal. On the Limited
    Memory BFGS Method for Large Scale Optimization. 1989. hessian: a function of x and the constant's curvature, whose
    inverse is the first inverse Hessian."""

    def __init__(
        self, x: Array, l1: float, l2: float = 0.0, pairs: int = 10,
        hessian: Callable[[Array, float], Array] | None = None,
    ) -> None:
        super().__init__(x, l2)
        self.hessian = hessian
        self.l1 = l1 * self.mask
        self.pairs = pairs
        self.history: list[tuple[Array, Array]] = []

    def penalty(self, x: Array) -> float:
        return float(self.l1 @ np.abs(x))

    def steepest(self) -> Array:
        """The pseudo-gradient, equation 4."""
        right, left = self.g + self.l1, self.g - self.l1
        at_zero = np.where(right < 0, right, np.where(left > 0, left, 0.0))
        return np.where(self.x > 0, right, np.where(self.x < 0, left, at_zero))

    def learn(self, s: Array, y: Array) -> None:
        self.history = [*self.history, (s, y)][-self.pairs :]
        if not s @ y > 1e-10 * (y @ y):
            self.history.pop()

    def aim(self) -> Array:
        """-H times the pseudo-gradient, H the matrix of BFGS; components that go up its slope are 0."""
        smooth = not self.l1.any()
        free = (self.x != 0) | (self.slopes != 0) | (self.mask == 0) | smooth
        pairs = [(s * free, y * free) for s, y in self.history]
        pairs = [(s, y) for s, y in pairs if s @ y > 1e-10 * (y @ y)]
        if pairs:
            s, y = (self.mask * each for each in pairs[-1])
            if s @ y > 0:
                self.rate = float(s @ y / (y @ y))
        if self.rate == 0:
            size = float(np.linalg.norm(self.mask * self.slopes))
            self.rate = 1 / size if size > 0 else 1.0
        inverse = np.diag(np.where(self.mask > 0, self.rate, 1 / self.curvature))
        if self.hessian is not None:
            inverse = np.linalg.inv(self.hessian(self.x, self.curvature))
        for s, y in pairs:
            rho = 1 / (s @ y)
            left = np.eye(len(s)) - rho * np.outer(s, y)
            inverse = left @ inverse @ left.T + rho * np.outer(s, s)
        found = np.where(free, -inverse @ self.slopes, 0.0)
        found = np.where((self.mask > 0) & (found * self.slopes >= 0) & (not smooth), 0.0, found)
        if self.history and not self.slopes @ found < 0:
            self.history, self.rate = [], 0.0
            return self.aim()
        return found

    def moved(self) -> Array:
        """Onto the orthant of x, and where x is 0 of the steepest descent."""
        x = super().moved()
        side = np.where(self.x != 0, np.sign(self.x), -np.sign(self.slopes))
        return np.where((self.l1 > 0) & (np.sign(x) != side), 0.0, x)


class SPG(Descent):
    """Birgin, Martinez, Raydan. Nonmonotone Spectral Projected Gradient Methods on Convex Sets. 2000, Algorithm 2.2."""

    def __init__(self, x: Array, radius: float, l2: float = 0.0, memory: int = 10) -> None:
        super().__init__(x, l2)
        self.radius, self.memory = radius, memory
        self.last: list[float] = []
        self.least = np.inf
        self.trial = self.project(self.trial)

    def project(self, x: Array) -> Array:
        """By bisection for the threshold."""
        w = x[:-1]
        if np.abs(w).sum() <= self.radius:
            return x
        low, high = 0.0, float(np.abs(w).max())
        for _ in range(200):
            middle = (low + high) / 2
            if np.maximum(np.abs(w) - middle, 0).sum() > self.radius:
                low = middle
            else:
                high = middle
        return np.append(np.sign(w) * np.maximum(np.abs(w) - high, 0), x[-1])

    def most(self) -> float:
        return max(self.last)

    def promise(self) -> float:
        return self.step * float(self.slopes @ self.direction)

    def learn(self, s: Array, y: Array) -> None:
        s, y = self.mask * s, self.mask * y
        if s @ s > 0:
            self.rate = float(np.clip(s @ s / (s @ y), 1e-30, 1e30)) if s @ y > 0 else 1e30

    def taken(self) -> None:
        self.last = [*self.last, self.objective][-self.memory :]
        if self.objective < self.least:
            self.least, self.best = self.objective, self.x

    def aim(self) -> Array:
        if self.rate == 0:
            self.rate = 1.0
            largest = float(np.abs(self.mask * self.aim()).max())
            self.rate = 1 / largest if largest > 0 else 1.0
        scale = np.where(self.mask > 0, self.rate, 1 / self.curvature)
        return self.project(self.x - scale * self.g) - self.x
