"""The slow references: every rule as dense, eager NumPy, straight from its definition.

No laziness and no cleverness: a reference holds one number per key for the whole key space, and does
everything to every weight at every step. The compiled rules must agree with them.

An example is `keys` and `values` of equal length; a key may occur more than once. The constant is a
key like any other, but never shrunk, truncated or projected (except by gd, which treats it as Vowpal
Wabbit does). State is float64, in gd float32 where Vowpal Wabbit's is.

To add a rule, write a class with `weights`, `predict` and `learn`, like those at the end.
"""

from collections.abc import Sequence
from math import copysign, exp, expm1, floor, fsum, inf, log, log1p, sqrt, tanh
from typing import Protocol

import numpy as np

Keys = Sequence[int]
Values = Sequence[float]


# --- formulas --------------------------------------------------------------------------------


def soft(v, a):
    """sign(v) max(|v| - a, 0)"""
    return np.sign(v) * np.maximum(np.abs(v) - a, 0)


def t1(v, a, theta):
    """max(0, v - a) for 0 <= v <= theta; min(0, v + a) for -theta <= v <= 0; else v."""
    v = np.asarray(v, float)
    shrunk = np.where(v >= 0, np.maximum(0, v - a), np.minimum(0, v + a))
    return np.where(np.abs(v) <= theta, shrunk, v)


def t0(v, theta):
    """0 where |v| < theta, else v."""
    v = np.asarray(v, float)
    return np.where(np.abs(v) < theta, 0, v)


def project_simplex(v, z):
    """The nearest point w to v with w >= 0, sum w = z; by sorting."""
    v = np.asarray(v, float)
    mu = np.sort(v)[::-1]
    sums = np.cumsum(mu)
    count = np.arange(1, len(v) + 1)
    rho = count[mu - (sums - z) / count > 0].max(initial=1)
    return np.maximum(v - (sums[rho - 1] - z) / rho, 0)


def project_l1(v, z):
    """The nearest point w to v with ||w||_1 <= z."""
    v = np.asarray(v, float)
    return v if np.abs(v).sum() <= z else np.sign(v) * project_simplex(np.abs(v), z)


def project_weighted(v, z, a, b):
    """The nearest point w to v with sum a_i |w_i| <= z, |w_i| <= b: sign(v) min(b, max(|v| - theta a, 0)).

    theta is found by its pieces: sum a_i |w_i| is linear in theta between the points where a weight reaches 0 or b.
    Coordinates with a_i = 0 are not in the sum.
    """
    v, a = np.asarray(v, float), np.broadcast_to(np.asarray(a, float), np.shape(v))
    if (a == 0).any():
        w = np.clip(v, -b, b)
        w[a > 0] = project_weighted(v[a > 0], z, a[a > 0], b)
        return w

    def at(theta):
        return np.minimum(b, np.maximum(np.abs(v) - theta * a, 0))

    if (a * at(0)).sum() <= z:
        return np.sign(v) * at(0)
    points = np.unique(np.concatenate([[0], np.abs(v) / a, (np.abs(v) - b) / a]))
    points = points[(points >= 0) & np.isfinite(points)]
    low = max(theta for theta in points if (a * at(theta)).sum() > z)
    high = min(theta for theta in points if (a * at(theta)).sum() <= z)
    middle = (low + high) / 2
    w = at(middle)
    free = (w > 0) & (np.abs(v) - middle * a < b)
    if not free.any():  # all are 0 or b, so that their sum is z but for rounding, from low to high
        return np.sign(v) * w
    theta = ((a * np.abs(v))[free].sum() + (a * b)[(w > 0) & ~free].sum() - z) / (a * a)[free].sum()
    return np.sign(v) * at(theta)


def project_l1_weighted(v, H, z):
    """The nearest point w to v with ||w||_1 <= z, in the norm sum of H_i (w_i - v_i)^2; by sorting."""
    size = np.abs(v)
    if size.sum() <= z:
        return v
    order = np.argsort(-H * size)  # those that stay are the first
    theta = (np.cumsum(size[order]) - z) / np.cumsum(1 / H[order])
    count = np.flatnonzero((H * size)[order] > theta).max(initial=0)
    return np.sign(v) * np.maximum(size - theta[count] / H, 0)


def projection_by_bisection(v, z, *, simplex=False, weights=None, box=inf):
    """The nearest w to v with 0 <= w <= b, sum a w = z (simplex), or with sum a |w| <= z and |w| <= b; a >= 0.

    No sorting: w is known but for one number theta, in which its mass falls, so that number is found by halving. For
    the simplex without weights v is shifted by its largest number first, which does not change w.
    """
    v = np.asarray(v, float)
    a = np.ones_like(v) if weights is None else np.asarray(weights, float)
    counts = a > 0
    if simplex:
        v = v - v.max() if weights is None and box == inf else v
        ends = (v[counts] - z / a.sum()) / a[counts], v[counts] / a[counts]  # all have at least their share; none
        low, high = float(ends[0].min()), float(ends[1].max())
        low -= 1e-9 * abs(low)

        def at(theta):
            return np.clip(v - theta * a, 0, box)
    else:
        low, high = 0.0, float((np.abs(v[counts]) / a[counts]).max(initial=0))

        def at(theta):
            return np.sign(v) * np.clip(np.abs(v) - theta * a, 0, box)

        if fsum(a * np.abs(at(low))) <= z:
            return at(low)
    for _ in range(2000):
        theta = (low + high) / 2
        if theta in (low, high):
            break
        if fsum(a * np.abs(at(theta))) > z:
            low = theta
        else:
            high = theta
    return at(high)


def l1_quadratic(S, b, c):
    """argmin w^T S w / 2 - b^T w + sum of c_i |w_i|, one weight after the other until none moves."""
    if not c.any():
        return np.linalg.solve(S, b)
    w = np.zeros(len(b))
    parts = list(zip(S, S.diagonal().tolist(), b.tolist(), c.tolist(), strict=True))
    for _ in range(100_000):
        before = w.copy()
        for i, (row, own, linear, most) in enumerate(parts):
            v = linear - float(row @ w) + own * float(w[i])
            w[i] = copysign(max(abs(v) - most, 0), v) / own
        if np.abs(w - before).max() <= 1e-15 * np.abs(w).max():
            break
    return w


# --- losses ----------------------------------------------------------------------------------


class Loss(Protocol):
    def value(self, p: float, y: float) -> float: ...

    def dloss(self, p: float, y: float) -> float: ...

    def invariant_step(self, p: float, y: float, s: float, h: float) -> float:
        """Vowpal Wabbit's step u for the learning rate s times importance, h = sum of x^2 r."""


def exp_or_inf(z: float) -> float:
    return exp(z) if z < 709 else inf


class Squared:
    def value(self, p, y):
        return (p - y) ** 2

    def dloss(self, p, y):
        return 2 * (p - y)

    def invariant_step(self, p, y, s, h):
        if s * h < 1e-6:
            return 2 * (y - p) * s
        return (y - p) * (1 - exp(-2 * s * h)) / h


class Logistic:
    def value(self, p, y):
        return float(np.logaddexp(0, -y * p))

    def dloss(self, p, y):
        return -y / (1 + exp_or_inf(y * p))

    def invariant_step(self, p, y, s, h):
        plain = s / (1 + exp_or_inf(y * p))
        if s * h < 1e-6:
            return y * plain
        if y * p > 15:  # x = e^{yp} has no digits left for w(x): solve d + e^{yp} (e^d - 1) = s h for small d
            return y * log1p(h * plain) / h
        # The true step is between zero and the unmodified one; the error of w(x) is not always.
        step = -(lambert_w_of_exp_minus(s * h + y * p + exp(y * p)) + y * p) / h
        return y * min(max(step, 0), plain)


class Hinge:
    def value(self, p, y):
        return max(0, 1 - y * p)

    def dloss(self, p, y):
        return -y if y * p < 1 else 0

    def invariant_step(self, p, y, s, h):
        return y * min(s, (1 - y * p) / h) if y * p < 1 else 0


class SquaredHinge:
    def value(self, p, y):
        return max(0, 1 - y * p) ** 2

    def dloss(self, p, y):
        return -2 * y * max(0, 1 - y * p)

    def invariant_step(self, p, y, s, h):
        """What the margin lacks, m = 1 - y p, falls as exp(-2 h s)."""
        m = max(0, 1 - y * p)
        return 2 * y * m * s if s * h < 1e-6 else y * m * (1 - exp(-2 * s * h)) / h


class Quantile:
    def __init__(self, tau=0.5):
        self.tau = tau

    def value(self, p, y):
        return self.tau * (y - p) if y > p else (1 - self.tau) * (p - y)

    def dloss(self, p, y):
        return -self.tau if y > p else 1 - self.tau if y < p else 0

    def invariant_step(self, p, y, s, h):
        e = y - p
        if e > 0:
            return e / h if self.tau * s * h >= e else self.tau * s
        if e < 0:
            return e / h if (1 - self.tau) * s * h >= -e else -(1 - self.tau) * s
        return 0


class Expectile:
    """A step stays on its side of y, so it is that of the square for a time that runs at another rate."""

    def __init__(self, tau=0.5):
        self.tau = tau

    def rate(self, p, y):
        return 2 * abs(self.tau - (y < p))

    def value(self, p, y):
        return self.rate(p, y) * (p - y) ** 2

    def dloss(self, p, y):
        return self.rate(p, y) * 2 * (p - y)

    def invariant_step(self, p, y, s, h):
        return Squared().invariant_step(p, y, self.rate(p, y) * s, h)


class Huber:
    def __init__(self, delta=1.0):
        self.delta = delta

    def value(self, p, y):
        r = abs(p - y)
        return r**2 if r <= self.delta else self.delta * (2 * r - self.delta)

    def dloss(self, p, y):
        return 2 * max(-self.delta, min(self.delta, p - y))

    def invariant_step(self, p, y, s, h):
        """First on the line, as far as the time s or the line goes; what time is left, on the parabola."""
        if s * h < 1e-6:
            return -s * self.dloss(p, y)
        sign, r = (1 if p > y else -1), abs(p - y)
        time = min(s, max(0, r - self.delta) / (2 * h * self.delta))
        end = r - 2 * time * h * self.delta
        if time < s:
            end *= exp(-2 * h * (s - time))
        return -sign * (r - end) / h


class Poisson:
    def value(self, p, y):
        """exp(p) - y p, less its smallest value."""
        return exp_or_inf(p) - y * p - (y - y * log(y) if y > 0 else 0)

    def dloss(self, p, y):
        return exp_or_inf(p) - y

    def invariant_step(self, p, y, s, h):
        if y == 0:
            return -log1p(exp(p) * s * h) / h
        if y * s * h > 44:
            return -(p - log(y)) / h
        return y * s - log1p(exp(p) * expm1(y * s * h) / y) / h


class Gamma:
    def value(self, p, y):
        return y * exp_or_inf(-p) + p - 1 - log(y)

    def dloss(self, p, y):
        return 1 - y * exp_or_inf(-p)

    def invariant_step(self, p, y, s, h):
        """The mean u = exp(p) moves by du/ds = -h (u - y)."""
        return -s * self.dloss(p, y) if s * h < 1e-9 else (log(y + (exp(p) - y) * exp(-s * h)) - p) / h


class Tweedie:
    def __init__(self, power=1.5):
        self.power = power

    def value(self, p, y):
        a, b = self.power - 1, 2 - self.power
        return exp_or_inf(b * p) / b + (y * exp_or_inf(-a * p) / a - y**b / (a * b) if y > 0 else 0)

    def dloss(self, p, y):
        return exp_or_inf((2 - self.power) * p) - (y * exp_or_inf((1 - self.power) * p) if y > 0 else 0)

    def invariant_step(self, p, y, s, h):
        """Of the power 1.5: the root v of the mean moves by dv/ds = -h (v^2 - y) / 2, a Riccati equation."""
        assert self.power == 1.5
        v, r = exp(p / 2), y**0.5
        if s * h < 1e-9:
            return -s * self.dloss(p, y)
        if y == 0:
            return -2 * log1p(v * s * h / 2) / h
        t = tanh(r * s * h / 2)
        return (2 * log(r * (v + r * t) / (r + v * t)) - p) / h


def lambert_w_of_exp_minus(x):
    """W(e^x) - x by Vowpal Wabbit's approximation, to 9e-5."""
    if x >= 1:
        w0 = 0.86 * x + 0.01
        r = x - log(w0) - w0
    else:
        w0 = exp(0.8 * x - 0.65)
        r = 0.2 * x + 0.65 - w0
    t = 1 + w0
    v = 2 * t * (t + 2 * r / 3)
    return w0 * (1 + r / t * (v - r) / (v - 2 * r)) - x


# --- losses of several scores ------------------------------------------------------------------


def multinomial_loss(scores, y):
    """log(1 + sum over r != y of exp(s_r - s_y))"""
    return np.log1p(np.exp(np.delete(scores, y) - scores[y]).sum())


def softmax(scores):
    """exp(s_r) / sum of exp(s)"""
    return np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()


# --- rules -----------------------------------------------------------------------------------


class Reference:
    """Stochastic gradient descent; what comes after the gradient step is the business of `after_step`.

    size: of the key space. t counts the examples learned; eta_t = rate decay (t + initial_t)^-power_t.
    """

    clips = False
    gravity = "rate"

    def __init__(self, loss: Loss, size: int, *, rate=0.5, power_t=0.5, initial_t=0.0, constant_key=None):
        self.loss = loss
        self.weights = np.zeros(size)
        self.rate, self.power_t, self.initial_t, self.decay = rate, power_t, initial_t, 1.0
        self.first_rate = rate * (1 + initial_t) ** -power_t
        self.t = 0
        self.penalized = np.ones(size, bool)
        if constant_key is not None:
            self.penalized[constant_key] = False

    def eta(self) -> float:
        return self.rate * self.decay * (self.t + self.initial_t) ** -self.power_t

    def shrinking_rate(self, t: int) -> float:
        """By which l1 and l2 shrink after example t: eta_t, or for the gravity "constant" that of the first example."""
        if self.gravity == "constant":
            return self.first_rate
        return self.rate * self.decay * (t + self.initial_t) ** -self.power_t

    def predict(self, keys: Keys, values: Values, initial=0.0) -> float:
        return initial + sum(self.weights[k] * x for k, x in zip(keys, values, strict=True))

    def gradient(self, keys: Keys, values: Values, p: float, y: float, importance: float) -> np.ndarray:
        gradient = np.zeros_like(self.weights)
        for k, x in zip(keys, values, strict=True):
            gradient[k] += importance * self.loss.dloss(p, y) * x
        return gradient

    def learn(self, keys: Keys, values: Values, p: float, y: float, importance=1.0) -> None:
        self.t += 1
        self.step(self.gradient(keys, values, p, y, importance))

    def step(self, gradient: np.ndarray) -> None:
        self.weights = self.weights - self.eta() * gradient
        self.after_step()

    def after_step(self) -> None:
        pass


class Sgd(Reference):
    """w <- (w - eta_t g_t) / (1 + eta_t l2), with the weights of an example's features kept in 32 bits"""

    def __init__(self, loss, size, *, l2=0.0, **schedule):
        super().__init__(loss, size, **schedule)
        self.l2 = l2

    def learn(self, keys, values, p, y, importance=1.0):
        self.t += 1
        step = -self.eta() * importance * self.loss.dloss(p, y)
        for k, x in zip(keys, values, strict=True) if step else ():
            self.weights[k] = np.float32(self.weights[k] + step * x)
        self.after_step()

    def after_step(self):
        self.weights = np.where(self.penalized, self.weights / (1 + self.eta() * self.l2), self.weights)


class TruncatedGradient(Sgd):
    """v = w - eta_t g_t; w <- T1(v, eta_t K l1, theta) / (1 + eta_t K l2) where |v| <= theta, if K divides t, else v.

    theta in 32 bits, as w is kept. gravity: constant: with eta_1 of the first pass in place of the eta_t that shrink.
    """

    def __init__(self, loss, size, *, l1=0.0, period=1, threshold=inf, gravity="rate", **schedule):
        super().__init__(loss, size, **schedule)
        self.gravity = gravity
        self.l1, self.period, self.threshold = l1, period, float(np.float32(threshold))

    def after_step(self):
        if self.t % self.period == 0:
            rate = self.shrinking_rate(self.t) * self.period
            shrunk = t1(self.weights, rate * self.l1, self.threshold) / (1 + rate * self.l2)
            self.weights = np.where(self.penalized & (np.abs(self.weights) <= self.threshold), shrunk, self.weights)


class Rounding(Reference):
    """w <- T0(w - eta_t g_t, theta) if K divides t, else w - eta_t g_t."""

    def __init__(self, loss, size, *, threshold, period=1, **schedule):
        super().__init__(loss, size, **schedule)
        self.threshold, self.period = threshold, period

    def after_step(self):
        if self.t % self.period == 0:
            self.weights = np.where(self.penalized, t0(self.weights, self.threshold), self.weights)


class L1Subgradient(Reference):
    """w <- w - eta_t g_t - eta_t l1 sgn(w); gravity: constant: - eta_1 l1 sgn(w), eta_1 of the first pass."""

    def __init__(self, loss, size, *, l1=0.0, gravity="rate", **schedule):
        super().__init__(loss, size, **schedule)
        self.l1, self.gravity = l1, gravity

    def learn(self, keys, values, p, y, importance=1.0):
        before = self.weights
        super().learn(keys, values, p, y, importance)
        self.weights = self.weights - self.shrinking_rate(self.t) * self.l1 * np.sign(before) * self.penalized


class L1Ball(Reference):
    """w <- P(w - eta_t g_t), P the projection onto ||w||_1 <= radius; nonnegative: onto that with w >= 0."""

    def __init__(self, loss, size, *, radius, nonnegative=False, **schedule):
        super().__init__(loss, size, **schedule)
        self.radius, self.nonnegative = radius, nonnegative

    def after_step(self):
        v = self.weights[self.penalized]
        if self.nonnegative:  # what is below zero is zero in the nearest point, too
            v = np.maximum(v, 0)
        self.weights[self.penalized] = project_l1(v, self.radius)


class WeightedL1Ball(Reference):
    """The same for sum of a_i |w_i| <= radius and |w_i| <= box."""

    def __init__(self, loss, size, *, radius, a=1.0, box=inf, **schedule):
        super().__init__(loss, size, **schedule)
        self.radius, self.box = radius, box
        self.a = np.broadcast_to(np.asarray(a, float), (size,))[self.penalized]

    def after_step(self):
        self.weights[self.penalized] = project_weighted(self.weights[self.penalized], self.radius, self.a, self.box)


class Simplex(Reference):
    """w <- P(w - eta_t g_t), P the projection onto w >= 0, sum w = radius; all begin with radius / d.

    features: d, those that never occur too, which all weigh the same; all keys but the constant's if not given.
    """

    def __init__(self, loss, size, *, radius, features=None, **schedule):
        super().__init__(loss, size, **schedule)
        self.radius = radius
        keys = np.count_nonzero(self.penalized)
        self.others = (features or keys) - keys  # features that are none of the keys
        assert self.others >= 0
        self.other = radius / (keys + self.others)
        self.weights[self.penalized] = self.other

    def learn(self, keys, values, p, y, importance=1.0):
        if self.loss.dloss(p, y) == 0:
            self.t += 1  # a point of the simplex is its own projection
        else:
            super().learn(keys, values, p, y, importance)

    def after_step(self):
        v = np.append(self.weights[self.penalized], np.full(self.others, self.other))
        w = project_simplex(v, self.radius)
        self.weights[self.penalized] = w[: w.size - self.others]
        self.other = w[-1]


class Eg(Reference):
    """w_i <- w_i exp(-eta_t g_i) / Z on {w >= 0, sum w = radius}; in logarithms, so that nothing overflows.

    features: d, those that never occur too; all keys but the constant's if not given.
    """

    signs = (1,)

    def __init__(self, loss, size, *, radius, features=None, **schedule):
        super().__init__(loss, size, **schedule)
        self.radius = radius
        self.features = np.count_nonzero(self.penalized) if features is None else features
        self.logs = np.zeros(size)
        self.seen = ~self.penalized
        self.set_weights()

    def set_weights(self):
        rest = self.features - np.count_nonzero(self.seen & self.penalized)
        assert rest >= 0
        counts = self.penalized & (self.seen | (rest > 0))  # those not seen yet have the logarithm 0
        logs = [np.where(counts, sign * self.logs, -np.inf) for sign in self.signs]
        top = max(*(part.max() for part in logs), 0 if rest else -np.inf)
        parts = [np.exp(part - top) for part in logs]
        others = rest * exp(-top) if rest else 0
        total = sum(part[self.seen & self.penalized].sum() + others for part in parts)
        weights = self.radius / total * sum(sign * part for sign, part in zip(self.signs, parts, strict=True))
        self.weights = np.where(self.penalized, weights, self.weights)

    def learn(self, keys, values, p, y, importance=1.0):
        self.t += 1
        step = self.eta() * self.gradient(keys, values, p, y, importance)
        self.logs -= np.where(self.penalized, step, 0)
        self.weights = np.where(self.penalized, 0, self.weights - step)
        if self.loss.dloss(p, y) != 0:
            self.seen[list(keys)] = True
        self.set_weights()


class EgPm(Eg):
    """The same for w+ and w-, w = w+ - w-, sum w+ + w- = radius: g for w+, -g for w-."""

    signs = (1, -1)


class Smidas(Reference):
    """theta <- soft(theta - eta_t g_t, eta_t l1), w_j = sign(theta_j) |theta_j|^(p-1) / ||theta||_p^(p-2), p = 2 ln d.

    features: d; if it is not given, the number of features in the examples learned so far. The constant has no
    part in it, nor in the norm: its weight is its theta, and it does not shrink. p is at least 2; smidas_p: another p.
    """

    def __init__(self, loss, size, *, l1=0.0, features=None, smidas_p=None, **schedule):
        super().__init__(loss, size, **schedule)
        self.l1, self.features, self.smidas_p = l1, features, smidas_p
        self.theta = np.zeros(size)
        self.seen = ~self.penalized

    @property
    def p(self):
        d = self.features or np.count_nonzero(self.seen & self.penalized)
        return self.smidas_p or max(2, 2 * log(max(d, 1)))

    @property
    def norm(self):
        return (np.abs(self.theta[self.penalized]) ** self.p).sum() ** (1 / self.p)

    def learn(self, keys, values, p, y, importance=1.0):
        self.t += 1
        self.theta = self.theta - self.eta() * self.gradient(keys, values, p, y, importance)
        self.theta = np.where(self.penalized, soft(self.theta, self.eta() * self.l1), self.theta)
        self.seen[list(keys)] = True
        linked = np.zeros_like(self.theta)
        if self.norm > 0:
            linked = np.sign(self.theta) * np.abs(self.theta) ** (self.p - 1) / self.norm ** (self.p - 2)
        self.weights = np.where(self.penalized, linked, self.theta)


class Adagrad(Reference):
    """w <- soft(H w - eta_t g, eta_t l1) / (H + eta_t l2), H = delta + sqrt(sum of g^2); clipped to |w| <= box."""

    def __init__(self, loss, size, *, l1=0.0, l2=0.0, delta=1e-8, box=inf, **schedule):
        super().__init__(loss, size, **schedule)
        self.l1, self.l2, self.delta, self.box = l1, l2, delta, box
        self.squares = np.zeros(size)

    def step(self, gradient):
        self.squares += gradient**2
        H = self.delta + np.sqrt(self.squares)
        v = self.weights - self.eta() * gradient / H
        shrunk = soft(v, self.eta() * self.l1 / H) * H / (H + self.eta() * self.l2)
        self.weights = np.where(self.penalized, np.clip(shrunk, -self.box, self.box), v)


class AdagradRda(Reference):
    """w <- -sign(G) eta_t t / (H + eta_t t l2) max(|G| / t - l1, 0), G = sum of g, H = delta + sqrt(sum of g^2);
    clipped to |w| <= box."""

    def __init__(self, loss, size, *, l1=0.0, l2=0.0, delta=1e-8, box=inf, **schedule):
        super().__init__(loss, size, **schedule)
        self.l1, self.l2, self.delta, self.box = l1, l2 * self.penalized, delta, box
        self.sums, self.squares = np.zeros(size), np.zeros(size)

    def step(self, gradient):
        self.sums += gradient
        self.squares += gradient**2
        H = self.delta + np.sqrt(self.squares)
        average = np.abs(self.sums) / self.t
        kept = np.where(self.penalized, np.maximum(average - self.l1, 0), average)
        w = -np.sign(self.sums) * self.eta() * self.t / (H + self.eta() * self.t * self.l2) * kept
        self.weights = np.where(self.penalized, np.clip(w, -self.box, self.box), w)


class Rda(Reference):
    """w <- -sign(G) eta_t t max(|G| / t - l1, 0), G = sum of g."""

    def __init__(self, loss, size, *, l1=0.0, **schedule):
        super().__init__(loss, size, **schedule)
        self.l1, self.sums = l1, np.zeros(size)

    def step(self, gradient):
        self.sums += gradient
        average = np.abs(self.sums) / self.t
        kept = np.where(self.penalized, np.maximum(average - self.l1, 0), average)
        self.weights = -np.sign(self.sums) * self.eta() * self.t * kept


class AdagradBall(Reference):
    """w <- argmin sum of H_i (w_i - v_i)^2 over ||w||_1 <= radius, v = w - eta_t g / H; H as for adagrad."""

    def __init__(self, loss, size, *, radius, delta=1e-8, **schedule):
        super().__init__(loss, size, **schedule)
        self.radius, self.delta = radius, delta
        self.squares = np.zeros(size)

    def step(self, gradient):
        self.squares += gradient**2
        H = self.delta + np.sqrt(self.squares)
        v = self.weights - self.eta() * gradient / H
        v[self.penalized] = project_l1_weighted(v[self.penalized], H[self.penalized], self.radius)
        self.weights = v


class AdagradFull(Reference):
    """The argmin over w of

    cmd: eta_t <g, w> + eta_t l1 ||w||_1 + (w - w_t)^T S (w - w_t) / 2
    rda: eta_t <sum of g, w> + eta_t t l1 ||w||_1 + w^T S w / 2

    with S = delta I + G^(1/2), G = sum of g g^T, over ||w||_2 <= radius. The root is recomputed after `root_every`
    gradients, and when S^-1 g would be longer than 1.
    """

    def __init__(self, loss, size, *, update="cmd", l1=0.0, delta=1e-8, root_every=1, radius=inf, **schedule):
        super().__init__(loss, size, **schedule)
        self.update, self.l1, self.delta, self.root_every, self.radius = update, l1, delta, root_every, radius
        self.sums, self.G, self.S = np.zeros(size), np.zeros((size, size)), delta * np.eye(size)
        self.age = self.roots = self.projections = 0

    def step(self, g):
        self.sums += g
        self.G += np.outer(g, g)
        self.age += g.any()
        if self.age >= self.root_every or np.linalg.norm(np.linalg.solve(self.S, g)) > 1 + 1e-9:
            values, vectors = np.linalg.eigh(self.G)
            values[values < 1e-14 * values.max()] = 0  # an error of 1e-16 in a zero would be one of 1e-8 in its root
            self.S = self.delta * np.eye(len(g)) + vectors @ np.diag(np.sqrt(values)) @ vectors.T
            self.age = 0
            self.roots += 1
        c = self.eta() * self.l1 * self.penalized
        if self.update == "cmd":
            self.weights = self.in_ball(self.S @ self.weights - self.eta() * g, c)
        else:
            self.weights = self.in_ball(-self.eta() * self.sums, self.t * c)

    def in_ball(self, b, c):
        """The minimum over the ball: with x ||w||^2 / 2 added, for the least x that is enough, found by halving."""

        def at(x):
            return l1_quadratic(self.S + x * np.diag(self.penalized), b, c)

        def is_out(w):
            return np.linalg.norm(w[self.penalized]) > self.radius

        low, high = 0.0, 1.0
        if not is_out(w := at(0.0)):
            return w
        self.projections += 1
        while is_out(at(high)):
            low, high = high, 4 * high
        while high - low > 1e-14 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if is_out(at(middle)) else (low, middle)
        return at(high)


def dense(keys: Keys, values: Values, size: int):
    """An example as a vector."""
    x = np.zeros(size)
    np.add.at(x, list(keys), list(values))
    return x


class Pa(Reference):
    """w <- w + tau y x, tau = l / ||x||^2; l is the hinge loss."""

    def tau(self, loss, norm, importance):
        return loss / norm

    def learn(self, keys, values, p, y, importance=1.0):
        self.t += 1
        x = dense(keys, values, len(self.weights))
        loss = max(0, 1 - y * p)
        if loss > 0 and x @ x > 0:
            self.weights = self.weights + self.tau(loss, x @ x, importance) * y * x


class PaI(Pa):
    """tau = min(h C, l / ||x||^2)"""

    def __init__(self, loss, size, *, pa_c=1.0, **schedule):
        super().__init__(loss, size, **schedule)
        self.pa_c = pa_c

    def tau(self, loss, norm, importance):
        return min(importance * self.pa_c, loss / norm)


class PaII(PaI):
    """tau = l / (||x||^2 + 1 / (2 h C))"""

    def tau(self, loss, norm, importance):
        return loss / (norm + 1 / (2 * importance * self.pa_c))


class Arow(Reference):
    """beta = 1 / (x' Sigma x + r / h); w <- w + l beta y Sigma x; Sigma_ii <- Sigma_ii - beta (Sigma_ii x_i)^2.

    Nothing if y p >= 1: the figure in the paper leaves such an example out.
    """

    def __init__(self, loss, size, *, arow_r=1.0, **schedule):
        super().__init__(loss, size, **schedule)
        self.r = arow_r
        self.sigma = np.ones(size)

    def learn(self, keys, values, p, y, importance=1.0):
        self.t += 1
        if y * p >= 1:
            return
        x = dense(keys, values, len(self.weights))
        beta = 1 / (x @ (self.sigma * x) + self.r / importance)
        self.weights = self.weights + (1 - y * p) * beta * y * self.sigma * x
        self.sigma = self.sigma - beta * (self.sigma * x) ** 2


class ArowFull(Arow):
    """beta = 1 / (x' Sigma x + r / h); w <- w + l beta y Sigma x; Sigma <- Sigma - beta Sigma x x' Sigma.

    So the inverse of Sigma is I + sum of h x x' / r.
    """

    def __init__(self, loss, size, **options):
        super().__init__(loss, size, **options)
        self.precision = np.eye(size)

    def learn(self, keys, values, p, y, importance=1.0):
        self.t += 1
        if y * p >= 1:
            return
        x = dense(keys, values, len(self.weights))
        across = np.linalg.solve(self.precision, x)
        beta = 1 / (x @ across + self.r / importance)
        self.weights = self.weights + (1 - y * p) * beta * y * across
        self.precision += importance / self.r * np.outer(x, x)


class Ftrl(Reference):
    """sigma = (sqrt(n + g^2) - sqrt(n)) / alpha; z <- z + g - sigma w; n <- n + g^2;

    w = 0 if |z| <= l1 else -(z - sign(z) l1) / ((beta + sqrt(n)) / alpha + l2). The constant: l1 = l2 = 0.
    """

    def __init__(self, loss, size, *, ftrl_alpha=0.5, ftrl_beta=1.0, l1=0.0, l2=0.0, **schedule):
        super().__init__(loss, size, **schedule)
        self.alpha, self.beta = ftrl_alpha, ftrl_beta
        self.l1, self.l2 = l1 * self.penalized, l2 * self.penalized
        self.z, self.n = np.zeros(size), np.zeros(size)

    def learn(self, keys, values, p, y, importance=1.0):
        self.t += 1
        g = importance * self.loss.dloss(p, y) * dense(keys, values, len(self.weights))
        sigma = (np.sqrt(self.n + g**2) - np.sqrt(self.n)) / self.alpha
        self.z = self.z + g - sigma * self.weights
        self.n = self.n + g**2
        far = -(self.z - np.sign(self.z) * self.l1) / ((self.beta + np.sqrt(self.n)) / self.alpha + self.l2)
        self.weights = np.where(np.abs(self.z) <= self.l1, 0, far)


class Averaged:
    """The mean of w_1, ..., w_T, the weights of a reference that predicted T examples before it learned them.

    `predict` is for examples that are learned next, `answer` for others. A subclass names the reference.
    """

    clips = False
    kind: type[Reference]

    def __init__(self, loss, size, **options):
        self.reference = self.kind(loss, size, **options)
        self.sum = np.zeros(size)

    @property
    def weights(self):
        return self.sum / max(self.reference.t, 1)

    def predict(self, keys, values, initial=0.0):
        return self.reference.predict(keys, values, initial)

    def answer(self, keys, values, initial=0.0):
        return initial + sum(self.weights[k] * x for k, x in zip(keys, values, strict=True))

    def learn(self, keys, values, p, y, importance=1.0):
        self.sum += self.reference.weights
        self.reference.learn(keys, values, p, y, importance)

    @property
    def t(self):
        return self.reference.t

    @property
    def decay(self):
        return self.reference.decay

    @decay.setter
    def decay(self, decay):
        self.reference.decay = decay


class AveragedSgd(Averaged):
    kind = Sgd


class AveragedTruncatedGradient(Averaged):
    kind = TruncatedGradient


class AveragedL1Ball(Averaged):
    kind = L1Ball


class AveragedAdagrad(Averaged):
    kind = Adagrad


class AveragedSmidas(Averaged):
    kind = Smidas


class Limited:
    """--nonzeros: looks at the weights before some examples, and adapts the strength; see learn/nonzeros.pyx.

    After 8 examples, then a sixteenth more (at most 131,072 more), but at least a 64th of `features` and 1 more.
    A subclass is also of a rule. `features` counts the features in the table; `model` has the N largest weights.
    `examples_long`: the limit on the way is the features of that many examples, if more than 2 N.
    """

    margin, gain, examples_long = 2, 0.7, 8

    def __init__(self, loss, size, *, nonzeros, **options):
        super().__init__(loss, size, **options)
        self.nonzeros, self.next_recount_t, self.occurrences = nonzeros, 8, 0

    @property
    def goal(self):
        return max(self.margin * self.nonzeros, floor(self.examples_long * self.occurrences / max(self.t, 1)))

    @property
    def model(self):
        order = sorted(np.flatnonzero(self.weights * self.penalized), key=lambda k: (-abs(self.weights[k]), k))
        kept = np.where(self.penalized, 0, self.weights)
        kept[order[: self.nonzeros]] = self.weights[order[: self.nonzeros]]
        return kept

    def learn(self, keys, values, p, y, importance=1.0):
        if self.t >= self.next_recount_t:
            examples = max(min(self.t // 16, 131072), self.features() // 64, 1)
            sizes = self.sizes()[self.penalized]
            self.adapt(-np.sort(-sizes[sizes > 0]), examples)
            self.next_recount_t = self.t + examples
        self.occurrences += len(keys)
        super().learn(keys, values, p, y, importance)

    def features(self):
        """Those that are not forgotten: in a rule without memory, those whose weight is not 0."""
        return np.count_nonzero(self.weights)

    def sizes(self):
        return np.abs(self.weights)

    def adapt(self, sizes, examples):
        """sizes: those above 0, falling."""
        rate = self.shrinking_rate(self.t + 1)
        finite = sizes[np.isfinite(sizes)]
        largest = finite[0] if finite.size else 0
        if self.l1 == 0:
            if sizes.size > self.goal:
                self.l1 = 65 / 64 * min(sizes[self.goal], largest) / (rate * examples)
            return
        new = self.l1 * min(max((sizes.size / self.goal) ** self.gain, 0.25), 4)
        if sizes.size < self.goal:
            self.l1 = 0 if new * rate * examples < 1e-6 * largest else new
        else:
            self.l1 = min(new, max(self.l1, 2 * largest / rate))

    @property
    def strength(self):
        return self.l1


class LimitedTruncatedGradient(Limited, TruncatedGradient):
    def sizes(self):
        return np.where(np.abs(self.weights) > self.threshold, inf, np.abs(self.weights))


class LimitedAdagrad(Limited, Adagrad):
    def sizes(self):
        return np.abs(self.weights) * (self.delta + np.sqrt(self.squares))

    def features(self):
        return np.count_nonzero(self.squares)


class LimitedAdagradRda(Limited, AdagradRda):
    examples_long = 0

    def features(self):
        return np.count_nonzero(self.squares)

    def sizes(self):
        return np.abs(self.sums)

    def adapt(self, sizes, examples):
        self.l1 = sizes[self.goal] / self.t if sizes.size > self.goal else 0


class LimitedRda(Limited, Rda):
    examples_long = 0
    sizes, adapt = LimitedAdagradRda.sizes, LimitedAdagradRda.adapt

    def features(self):
        return np.count_nonzero(self.sums)


class LimitedFtrl(Limited, Ftrl):
    examples_long = 0

    def __init__(self, loss, size, *, l1=0.0, **options):
        super().__init__(loss, size, l1=l1, **options)
        self.strength = l1

    def features(self):
        return np.count_nonzero(self.n)

    def sizes(self):
        return np.abs(self.z)

    def adapt(self, sizes, examples):
        self.strength = sizes[self.goal] if sizes.size > self.goal else 0
        self.l1 = self.strength * self.penalized
        far = -(self.z - np.sign(self.z) * self.l1) / ((self.beta + np.sqrt(self.n)) / self.alpha + self.l2)
        self.weights = np.where(np.abs(self.z) <= self.l1, 0, far)

    strength = 0.0


class LimitedL1Ball(Limited, L1Ball):
    gain = 0.2

    def __init__(self, loss, size, *, radius=1.0, **options):
        super().__init__(loss, size, radius=radius, **options)

    def adapt(self, sizes, examples):
        norm, n = sizes.sum(), sizes.size
        factor = min(max((self.goal / n) ** self.gain, 0.25), 4) if n else 4
        if n > self.goal:
            self.radius = min(norm, self.radius) * factor
        elif norm > 0.999 * self.radius:
            self.radius *= factor
        self.after_step()

    @property
    def strength(self):
        return self.radius


class Gd:
    """Vowpal Wabbit's default update: adaptive, normalized, invariant; in the order of its gd.

    w, G and N are float32, the rest float64. `stored` is w before gravity and contraction are paid.
    Where squares underflow, Vowpal Wabbit gets infinite rates; here G counts as at least the smallest
    normal float.
    """

    clips = True
    tiny_square, tiny = np.float32(1.17549e-38), np.float32(1.084202e-19)
    smallest = float(np.finfo(np.float32).tiny)

    def __init__(self, loss, size, *, rate=0.5, power_t=0.5, initial_t=0.0, l1=0.0, l2=0.0, constant_key=None):
        self.loss = loss
        self.rate, self.power_t, self.decay = rate, power_t, 1.0
        self.l1, self.l2 = l1, l2
        self.stored = np.zeros(size, np.float32)
        self.G = np.full(size, initial_t, np.float32)
        self.N = np.zeros(size, np.float32)
        self.S = self.W = float(initial_t)
        self.gravity, self.contraction = 0.0, 1.0
        self.t = self.folds = 0

    @property
    def weights(self):
        return soft(self.stored.astype(float), self.gravity) * self.contraction

    def predict(self, keys, values, initial=0.0):
        w = soft(self.stored.astype(float), self.gravity)
        return self.contraction * (initial + sum(w[k] * x for k, x in zip(keys, values, strict=True)))

    def learn(self, keys, values, p, y, importance=1.0):
        self.t += 1
        if self.loss.value(p, y) <= 0:
            return
        dloss = self.loss.dloss(p, y)
        g2 = np.float32(min(importance * dloss**2, np.finfo(np.float32).max))
        h, M = 1.0, self.average_scale()
        if g2 != 0:
            h = self.adapt(keys, values, g2, importance)
            M = self.average_scale()
            h *= M
        u = self.loss.invariant_step(p, y, self.rate * self.decay * importance, h)
        if (self.l1 or self.l2) and abs(u) > 1e-8:
            bare = -u / dloss if abs(dloss) > 1e-8 else 0
            if abs(dloss) > 1e-8:
                self.contraction *= 1 - self.l2 * bare
            u /= self.contraction
            self.gravity += bare * self.l1
        for k, x in zip(keys, values, strict=True):
            self.stored[k] += np.float32(u * M * x * self.factor(k))
        if self.contraction < 1e-9 or self.gravity > 1e3:
            self.stored = self.weights.astype(np.float32)
            self.gravity, self.contraction = 0.0, 1.0
            self.folds += 1

    def adapt(self, keys, values, g2, importance):
        """Take the example into G, N, S and W; sum of x^2 r."""
        h = norms = 0.0
        for k, x in zip(keys, values, strict=True):
            size = abs(np.float32(x))
            square = size * size
            if square < self.tiny_square:
                square, size = self.tiny_square, self.tiny
            self.G[k] = min(self.G[k] + g2 * square, np.finfo(np.float32).max)
            if size > self.N[k]:
                if self.N[k] > 0:
                    shrink = float(self.N[k]) / float(size)
                    self.stored[k] *= shrink if self.power_t == 0.5 else (1 / shrink**2) ** (self.power_t - 1)
                self.N[k] = size
            norms += float(square) / float(self.N[k]) ** 2
            h += float(square) * self.factor(k)
        self.S += importance * norms
        self.W += importance
        return h

    def factor(self, k):
        """r: the rate of one weight."""
        G, N = max(float(self.G[k]), self.smallest), float(self.N[k])
        if self.power_t == 0.5:
            return 1 / (sqrt(G) * N)
        return G**-self.power_t * (N**2) ** (self.power_t - 1)

    def average_scale(self):
        """M = (S / W)^(power_t - 1)"""
        return (self.S / self.W) ** (self.power_t - 1) if self.S > 0 and self.W > 0 else 1.0


# --- Vowpal Wabbit's parameter-free rules: each feature on its own, one place after the other ------


class ParameterFree:
    """State in single precision. `predict` is for examples that are learned next, without the initial prediction as in
    Vowpal Wabbit; `answer` for others, with the weights that the last examples left."""

    clips = True
    importance = 1.0  # of the example that is predicted
    fields: tuple[str, ...]

    def __init__(self, loss, size, *, constant_key=None):
        self.loss = loss
        self.t, self.decay = 0, 1.0
        self.w = np.zeros(size, np.float32)
        for name in self.fields:
            setattr(self, name, np.zeros(size, np.float32))

    @property
    def weights(self):
        return self.w.astype(float)

    def answer(self, keys, values, initial=0.0):
        return initial + sum(self.weights[k] * x for k, x in zip(keys, values, strict=True))


class Pistol(ParameterFree):
    """m = max |x|, T = 1 / (alpha m (n + m)), w = sqrt(n) beta z exp(z^2 T / 2) T; then z -= g, n += |g|

    Orabona. Simultaneous Model Selection and Optimization through Parameter-free Stochastic Learning. NIPS 2014.
    """

    fields = ("z", "n", "m")

    def __init__(self, loss, size, *, alpha=1.0, beta=0.5, **options):
        super().__init__(loss, size, **options)
        self.alpha, self.beta = alpha, beta

    def predict(self, keys, values, initial=0.0):
        total = 0.0
        for k, x in zip(keys, values, strict=True):
            self.m[k] = max(self.m[k], abs(x))
            z, n, m = float(self.z[k]), float(self.n[k]), float(self.m[k])
            if m > 0:
                T = 1 / (self.alpha * m * (n + m))
                self.w[k] = sqrt(n) * self.beta * z * exp(z * z * T / 2) * T
            total += float(self.w[k]) * x
        return total

    def learn(self, keys, values, p, y, importance=1.0):
        self.t += 1
        for k, x in zip(keys, values, strict=True):
            g = np.float32(importance * self.loss.dloss(p, y) * x)
            self.z[k] -= g
            self.n[k] += abs(g)


class Coin(ParameterFree):
    """v = (alpha + r) z / (L m (L m + n)), w = v / A; L = max |dloss| (at least beta), r -= g v, z -= g, n += |g|

    A = (S + 1e-6) / W: S is the sum of importance (x / m)^2, W that of the importance, with the example itself. The
    prediction has the m of now, but the L before. Orabona, Tommasi. Training Deep Networks without Learning Rates
    Through Coin Betting. NIPS 2017.
    """

    fields = ("z", "n", "m", "reward", "L")

    def __init__(self, loss, size, *, alpha=4.0, beta=1.0, **options):
        super().__init__(loss, size, **options)
        self.alpha, self.beta = np.float32(alpha), np.float32(beta)
        self.S = self.W = 0.0

    def bet(self, k, m):
        Lm = self.L[k] * m
        return (self.alpha + self.reward[k]) / (Lm * (Lm + self.n[k])) * self.z[k] if Lm > 0 else np.float32(0)

    def predict(self, keys, values, initial=0.0):
        total = norms = np.float32(0)
        for k, x in zip(keys, map(np.float32, values), strict=True):
            m = max(self.m[k], abs(x))
            total += self.bet(k, m) * x
            if m > 0:
                norms += (x / m) * (x / m)
        self.next = self.S + self.importance * float(norms), self.W + self.importance
        self.A = np.float32((self.next[0] + 1e-6) / self.next[1])
        return float(total / self.A)

    def learn(self, keys, values, p, y, importance=1.0):
        self.t += 1
        self.S, self.W = self.next
        dloss = np.float32(importance * self.loss.dloss(p, y))
        for k, x in zip(keys, map(np.float32, values), strict=True):
            g = dloss * x
            self.m[k] = max(self.m[k], abs(x))
            if abs(dloss) > self.L[k]:
                self.L[k] = max(abs(dloss), self.beta)
            v = self.bet(k, self.m[k])
            self.z[k] -= g
            self.n[k] += abs(g)
            self.reward[k] -= g * v
            self.w[k] = v / self.A


class FreeGrad(ParameterFree):
    """w = -G epsilon (2 V + h |G|) h1^2 / (2 (V + h |G|)^2 sqrt(V)) exp(|G|^2 / (2 V + 2 h |G|))

    G is the sum of g, V that of g^2, h the largest |g| and h1 the first; a g that is larger than h counts as h before.
    The first g^2 counts twice. restart: G, V and h1 restart when h / h1 exceeds 2 + the sum of |g| / h. Mhammedi,
    Koolen. Lipschitz and Comparator-Norm Adaptivity in Online Learning. COLT 2020; equation 9.
    """

    fields = ("G", "V", "h1", "h", "ratios")

    def __init__(self, loss, size, *, epsilon=1.0, restart=False, **options):
        super().__init__(loss, size, **options)
        self.epsilon, self.restart = np.float32(epsilon), restart

    def now(self, k):
        G, V, h, h1 = self.G[k], self.V[k], self.h[k], self.h1[k]
        if h1 == 0:
            return np.float32(0)
        both = V + h * abs(G)
        rate = -G * self.epsilon * (2 * V + h * abs(G)) * (h1 * h1) / (2 * (both * both) * np.sqrt(V))
        return rate * np.exp(G * G / (2 * V + 2 * h * abs(G)))

    def predict(self, keys, values, initial=0.0):
        total = np.float32(0)
        for k, x in zip(keys, map(np.float32, values), strict=True):
            total += self.now(k) * x
        return float(total)

    def learn(self, keys, values, p, y, importance=1.0):
        self.t += 1
        dloss, importance = np.float32(self.loss.dloss(p, y)), np.float32(importance)
        more = importance - np.float32(1)
        for k, x in zip(keys, map(np.float32, values), strict=True):
            g, before = dloss * x, self.h[k]
            cut = g
            self.w[k] = self.now(k)
            if g == 0:
                continue
            if before == 0:
                self.h1[k] = self.h[k] = abs(g)
                self.V[k] += importance * (g * g)
            elif abs(g) > before:
                cut, self.h[k] = g * (before / abs(g)), abs(g)
            if self.restart and self.h[k] / self.h1[k] > self.ratios[k] + 2:
                self.h1[k] = self.h[k]
                self.G[k] = self.V[k] = 0
            self.G[k] += cut + more * g
            self.V[k] += cut * cut + more * (g * g)
            if before > 0:
                self.ratios[k] += abs(cut) / before + more * abs(g) / self.h[k]


# --- the sum of a cache --------------------------------------------------------------------------


def xxh64(data):
    """XXH64 of bytes with seed 0: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md"""
    p1, p2, p3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
    p4, p5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
    mask = (1 << 64) - 1

    def turned(x, bits):
        x &= mask
        return (x << bits | x >> 64 - bits) & mask

    def step(accumulator, lane):
        return turned(accumulator + lane * p2, 31) * p1 & mask

    at, acc = 0, p5
    if len(data) >= 32:
        accumulators = [p1 + p2, p2, 0, -p1]
        for at in range(0, len(data) - 31, 32):
            lanes = [int.from_bytes(data[at + i : at + i + 8], "little") for i in (0, 8, 16, 24)]
            accumulators = [step(a, lane) for a, lane in zip(accumulators, lanes, strict=True)]
        at += 32
        acc = sum(turned(a, bits) for a, bits in zip(accumulators, (1, 7, 12, 18), strict=True))
        for a in accumulators:
            acc = (acc ^ step(0, a)) * p1 + p4 & mask
    acc += len(data)
    while at + 8 <= len(data):
        acc = turned(acc & mask ^ step(0, int.from_bytes(data[at : at + 8], "little")), 27) * p1 + p4
        at += 8
    if at + 4 <= len(data):
        acc = turned(acc & mask ^ int.from_bytes(data[at : at + 4], "little") * p1 & mask, 23) * p2 + p3
        at += 4
    for byte in data[at:]:
        acc = turned(acc & mask ^ byte * p5 & mask, 11) * p1
    acc &= mask
    acc = (acc ^ acc >> 33) * p2 & mask
    acc = (acc ^ acc >> 29) * p3 & mask
    return acc ^ acc >> 32
