"""The slow reference of `--algorithm auto`: lanes, folds, order and stacking as plain NumPy, from their definitions.

An example is `keys` and `values`, with the intercept among them and without equal keys. Everything is float64.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations

import numpy as np
from slow_rules import Expectile, Gamma, Huber, Logistic, Loss, Poisson, Quantile, Squared, Tweedie

MASK = 2**64 - 1
RATES = (1.0, 8.0, 2.0, 32.0)  # of gd, gd, nsgd, nsgd
LARGE_RATES = (1.0, 8.0, 32.0, 512.0)
TAU, DELTA = 0.7, 0.4  # of the losses that take one
WIDTH = 0.05


# --- losses ------------------------------------------------------------------------------------


class ScaledHuber(Huber):
    """Huber's loss over min(delta, 1), whose slope does not vanish with delta."""

    @property
    def factor(self) -> float:
        return 1 / min(self.delta, 1)

    def value(self, p: float, y: float) -> float:
        return self.factor * super().value(p, y)

    def dloss(self, p: float, y: float) -> float:
        return self.factor * super().dloss(p, y)

    def invariant_step(self, p: float, y: float, s: float, h: float) -> float:
        return self.factor * super().invariant_step(p, y, s, self.factor * h)

    def curvature(self, p: float, y: float) -> float:
        return 2 * self.factor * (abs(p - y) <= self.delta)


class SmoothQuantile(Quantile):
    """The mean of the quantile loss over labels spread evenly over [y - WIDTH, y + WIDTH]."""

    def value(self, p: float, y: float) -> float:
        def integral(r: float) -> float:
            return (self.tau if r > 0 else 1 - self.tau) * r * abs(r) / 2

        return (integral(y + WIDTH - p) - integral(y - WIDTH - p)) / (2 * WIDTH)

    def dloss(self, p: float, y: float) -> float:
        return (super().value(p, y - WIDTH) - super().value(p, y + WIDTH)) / (2 * WIDTH)

    def curvature(self, p: float, y: float) -> float:
        return (super().dloss(p, y - WIDTH) - super().dloss(p, y + WIDTH)) / (2 * WIDTH)


LOSSES: dict[str, Loss] = {
    "logistic": Logistic(), "squared": Squared(), "poisson": Poisson(), "gamma": Gamma(),
    "tweedie": Tweedie(), "quantile": Quantile(TAU), "huber": ScaledHuber(DELTA),
    "expectile": Expectile(TAU),
}
SMOOTH: dict[str, Loss] = LOSSES | {"quantile": SmoothQuantile(TAU), "huber": ScaledHuber(max(DELTA, WIDTH))}
CURVATURES: dict[str, Callable[[float, float], float]] = {
    "logistic": lambda p, y: 1 / ((1 + np.exp(p)) * (1 + np.exp(-p))),
    "squared": lambda p, y: 2.0,
    "poisson": lambda p, y: np.exp(p),
    "gamma": lambda p, y: y * np.exp(-p),
    "tweedie": lambda p, y: (np.exp(p / 2) + y * np.exp(-p / 2)) / 2,
    "quantile": SmoothQuantile(TAU).curvature,
    "huber": ScaledHuber(max(DELTA, WIDTH)).curvature,
    "expectile": lambda p, y: 2 * Expectile(TAU).rate(p, y),
}


def best_constant(loss: Loss, y: Sequence[float], h: Sequence[float]) -> float:
    """The least of the predictions for all examples with the least loss: among the labels for a loss that is linear
    between them, else by ternary search."""

    def total(p: float) -> float:
        return float(np.dot(h, [loss.value(p, label) for label in y]))

    if isinstance(loss, Quantile):
        return min(sorted(y), key=lambda p: round(total(p), 9))
    low, high = min(y), max(y)
    for _ in range(200):
        third = (high - low) / 3
        low, high = (low, high - third) if total(low + third) <= total(high - third) else (low + third, high)
    return (low + high) / 2


# --- lanes -------------------------------------------------------------------------------------


class SlowLanes:
    """Four kinds of lanes, each with a lane for every fold, over `size` keys."""

    def __init__(self, size: int, loss: str, folds: int, rates: Sequence[float] = RATES) -> None:
        self.loss, self.folds, self.rates = LOSSES[loss], folds, rates
        self.s = np.zeros(size)
        self.w = np.zeros((4, folds, size))
        self.A = np.zeros((4, folds, size))
        self.G = np.zeros((2, folds, size))
        self.T = np.zeros((4, folds))
        self.t = self.S = 0.0

    def grow(self, keys: np.ndarray, x: np.ndarray) -> None:
        for i, v in zip(keys, np.abs(x), strict=True):
            if v > self.s[i]:
                if self.s[i] > 0:
                    r = self.s[i] / v
                    for array in (self.w, self.A):
                        array[:2, :, i] *= r
                        array[2:, :, i] *= r**2
                self.s[i] = v

    def scores(self, keys: np.ndarray, x: np.ndarray, fold: int) -> np.ndarray:
        last = self.w[:, fold, keys] @ x
        T = self.T[:, fold]
        return np.r_[last, np.where(T > 0, last - self.A[:, fold, keys] @ x / np.maximum(T, 1), 0)]

    def learn(self, keys: Sequence[int], values: Sequence[float], y: float, fold: int, h=1.0, initial=0.0):
        """Learn an example; the scores before, if it is in a fold."""
        keys, x = np.array(keys, int), np.array(values, float)
        self.grow(keys, x)
        s = self.s[keys]
        self.S += h * ((x / s) ** 2).sum()
        self.t += h
        found = self.scores(keys, x, fold) if fold < self.folds else None
        a = np.sqrt(self.t / self.S) if self.S else 0
        for k in range(4):
            for j in range(self.folds):
                if self.folds > 1 and j == fold:
                    continue
                p = initial + self.w[k, j, keys] @ x
                g = self.loss.dloss(p, y)
                self.T[k, j] += 1
                if k < 2:
                    self.G[k, j, keys] += h * g**2 * x**2
                    root = np.sqrt(self.G[k, j, keys])
                    c = a * (x**2 / (s * root)).sum()
                    change = self.loss.invariant_step(p, y, h * self.rates[k], c) * a * x / (s * root)
                else:
                    c = a**2 * (x**2 / s**2).sum()
                    rate = h * self.rates[k] / np.sqrt(self.T[k, j])
                    change = self.loss.invariant_step(p, y, rate, c) * a**2 * x / s**2
                self.w[k, j, keys] += change
                self.A[k, j, keys] += change * (self.T[k, j] - 1)
        return found

    def columns(self) -> np.ndarray:
        """[8, keys]: the last and the mean weights of each kind, averaged over the folds that have learned."""
        found = []
        for mean in (False, True):
            for k in range(4):
                weights = [
                    self.w[k, j] - mean * self.A[k, j] / self.T[k, j] for j in range(self.folds) if self.T[k, j] > 0
                ]
                found.append(np.mean(weights, axis=0) if weights else 0 * self.s)
        return np.array(found)


def starting_scales(
    rows: Sequence[dict[int, float]], namespaces: dict[int, int], sample: Sequence[dict[int, float]]
) -> dict[int, float]:
    """The scales with which rare features begin. rows: key -> value of each example; namespaces: of each key that is no
    product; sample: of some examples, with normalized values."""
    rare = set()
    for key in {key for row in rows for key in row}:
        values = [row[key] for row in rows if key in row]
        if len(values) < min(100, len(rows) / 2) and set(values) != {1}:
            rare.add(key)
    sizes: dict[int | None, list[float]] = {}
    for row in sample:
        for key in rare & {*row}:
            sizes.setdefault(namespaces.get(key), []).append(abs(row[key]))
    large = {space: sorted(found)[-(-99 * len(found) // 100) - 1] for space, found in sizes.items()}
    return {key: large.get(namespaces.get(key), 0) for key in rare}


def slow_class_lanes(classes: int, size: int, folds: int) -> list[SlowLanes]:
    """Those of each class, from 1, which learn y = 1 from its examples and y = -1 from the others."""
    return [SlowLanes(size, "logistic", folds) for _ in range(classes)]


# --- folds and order ---------------------------------------------------------------------------


def mixed(x: int) -> int:
    """The output function of SplitMix64."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def content_of(keys: Sequence[int], values: Sequence[float]) -> int:
    """A hash of the pairs of an example, in any order, after equal keys are added."""
    sums: dict[int, np.float32] = {}
    for key, value in zip(keys, values, strict=True):
        sums[key] = np.float32(sums.get(key, np.float32(0)) + np.float32(value))
    pairs = ((key, int(np.array(value).view(np.uint32))) for key, value in sums.items() if value != 0)
    return mixed(sum(mixed(key << 32 | bits) for key, bits in pairs) & MASK)


ORDERS = list(permutations(range(4)))


def natural(contents: Sequence[int], features: Sequence[int], labels: Sequence[float]) -> list[bool]:
    """Which examples, if others equal them, do so because there are few different ones: they are no copies."""
    n, size, pairs = len(contents), Counter(contents), set(zip(contents, labels, strict=True))
    if len(size) < n == len(pairs) and 2 * len(set(labels)) <= n:
        return [False] * n  # a table of counts
    first: dict[int, int] = {}
    for i, c in enumerate(contents):
        first.setdefault(c, i)
    any_two = 1 - sum(Fraction(k, n) ** 2 for k in Counter(labels).values())

    def labels_differ(among: Sequence[bool]) -> bool:
        rest = [i for i, c in enumerate(contents) if i != first[c] and among[i]]
        differ = sum(labels[i] != labels[first[contents[i]]] for i in rest)
        return bool(rest and any_two and Fraction(differ, len(rest)) >= any_two / 10)

    found = [f <= 1 or (size[c] >= 4 and 8 * size[c] > n) for c, f in zip(contents, features, strict=True)]
    large = [size[c] >= 4 and 64 * size[c] > n and not x for c, x in zip(contents, found, strict=True)]
    if len(size) <= 32 or labels_differ(large):
        found = [x or y for x, y in zip(found, large, strict=True)]
    return [True] * n if labels_differ([not x for x in found]) else found


def folds_by_kinds(
    contents: Sequence[int], features: Sequence[int], labels: Sequence[float], folds: int = 4, seed: int = 0
) -> list[int]:
    """Natural kinds are dealt to all folds alike, others are in that of the run of their first example."""
    return [fold for fold, _ in dealt(contents, features, labels, folds, seed)]


def held_out(contents: Sequence[int], features: Sequence[int], labels: Sequence[float]) -> list[bool]:
    """Two fifths of what would be in the first fold: a tenth."""
    return [fold == 0 and number // 24 % 5 < 2 for fold, number in dealt(contents, features, labels)]


def permutation(number: int, folds: int) -> list[int]:
    if folds == 4:
        return [*ORDERS[number % 24]]
    found = [*range(folds)]
    for i in range(folds - 1, 0, -1):
        number = mixed((number + 1) & MASK)
        j = number % (i + 1)
        found[i], found[j] = found[j], found[i]
    return found


def dealt(
    contents: Sequence[int], features: Sequence[int], labels: Sequence[float], folds: int = 4, seed: int = 0
) -> list[tuple[int, int]]:
    """The fold of each example, and the number by which its block was dealt."""
    n = len(contents)
    length, size, first = min(16, max(1, n // (16 * folds))), Counter(contents), dict[int, int]()
    before, found = Counter[int](), []
    for i, (c, is_natural) in enumerate(zip(contents, natural(contents, features, labels), strict=True)):
        first.setdefault(c, i)
        place, block = first[c] // length, first[c] // length // folds + 1
        if is_natural and size[c] > 1:
            place = before[c]
            block = (mixed(first[c] + 1) + place // folds) & MASK
        number = mixed((block + mixed(seed)) & MASK)
        found.append((permutation(number, folds)[place % folds], number))
        before[c] += 1
    return found


def drawn_order(n: int, cursors: int = 64, seed: int = 1) -> list[int]:
    ends = [(k + 1) * n // cursors for k in range(cursors)]
    left = [end - begin for end, begin in zip(ends, [0, *ends], strict=False)]
    found, state = [], seed
    for rest in range(n, 0, -1):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        number = int((mixed(state) >> 11) / 2**53 * rest)
        k = 0
        while number >= left[k]:
            number -= left[k]
            k += 1
        found.append(ends[k] - left[k])
        left[k] -= 1
    return found


# --- stacking ----------------------------------------------------------------------------------


def stacked(scores: np.ndarray, y: np.ndarray, h: np.ndarray, start: np.ndarray, loss: str, strength=5.0) -> np.ndarray:
    """argmin sum h loss(o . u, y) + strength |u - start|^2, by Newton's method until nothing changes; a loss with kinks
    is smoothed."""

    def objective(u):
        losses = [SMOOTH[loss].value(p, label) for p, label in zip(scores @ u, y, strict=True)]
        return h @ losses + strength * ((u - start) ** 2).sum()

    u = start.astype(float)
    for _ in range(100):
        p = scores @ u
        first = np.array([SMOOTH[loss].dloss(*pair) for pair in zip(p, y, strict=True)])
        second = np.array([CURVATURES[loss](*pair) for pair in zip(p, y, strict=True)])
        gradient = scores.T @ (h * first) + 2 * strength * (u - start)
        matrix = scores.T @ (scores * (h * second)[:, None]) + 2 * strength * np.eye(len(u))
        step, size = np.linalg.solve(matrix, gradient), 1.0
        while objective(u - size * step) > objective(u) and size > 1e-12:
            size /= 2
        u = u - size * step
        if np.abs(step).max() < 1e-13:
            break
    return u


def turns_round(scores: np.ndarray, h: np.ndarray, u: np.ndarray, start: np.ndarray) -> bool:
    """Whether the stacked scores have a negative covariance with those of the best column. Of several classes: scores
    [examples, classes, columns], each example's less their mean over the classes."""
    a, b = scores @ u, scores @ start
    if a.ndim == 2:
        h = np.repeat(h, a.shape[1])
        a, b = ((x - x.mean(axis=1, keepdims=True)).ravel() for x in (a, b))
    return bool(np.average((a - np.average(a, weights=h)) * (b - np.average(b, weights=h)), weights=h) < 0)


def log_loss_of_classes(scores: np.ndarray, y: np.ndarray, h: np.ndarray) -> float:
    """The sum of h times -log of the probability of each label, from scores [examples, classes]."""
    most = scores.max(axis=1)
    total = np.log(np.exp(scores - most[:, None]).sum(axis=1)) + most
    return float(h @ (total - scores[np.arange(len(y)), y.astype(int) - 1]))


def stacked_classes(
    scores: np.ndarray, y: np.ndarray, h: np.ndarray, start: np.ndarray, strength=5.0, offsets=0.5
) -> tuple[np.ndarray, np.ndarray]:
    """argmin over u and b of the log loss of scores [examples, classes, columns] @ u + b, + strength |u - start|^2
    + offsets |b|^2, by Newton's method until nothing changes."""
    n, classes, columns = scores.shape
    x = np.concatenate([scores, np.broadcast_to(np.eye(classes), (n, classes, classes))], axis=2)
    weights = np.r_[np.full(columns, strength), np.full(classes, offsets)]
    begin = np.r_[start, np.zeros(classes)].astype(float)
    one = np.eye(classes)[y.astype(int) - 1]

    def objective(v):
        return log_loss_of_classes(x @ v, y, h) + weights @ (v - begin) ** 2

    v = begin
    for _ in range(100):
        z = x @ v
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        gradient = np.einsum("i,ik,ikc->c", h, p - one, x) + 2 * weights * (v - begin)
        mean = np.einsum("ik,ikc->ic", p, x)
        matrix = np.einsum("i,ik,ikc,ikd->cd", h, p, x, x) - np.einsum("i,ic,id->cd", h, mean, mean)
        step, size = np.linalg.solve(matrix + 2 * np.diag(weights), gradient), 1.0
        while objective(v - size * step) > objective(v) and size > 1e-12:
            size /= 2
        v = v - size * step
        if np.abs(step).max() < 1e-13:
            break
    return v[:columns], v[columns:]


class SlowOnlineStack:
    """Implicit Newton steps with forgetting."""

    def __init__(self, loss: str, columns: int = 8) -> None:
        self.dloss, self.curvature = SMOOTH[loss].dloss, CURVATURES[loss]
        self.u, self.B = np.full(columns, 1 / columns), 0.3 * np.eye(columns)

    def learn(self, o: np.ndarray, y: float, h: float = 1, initial: float = 0) -> float:
        """Learn an example; the score before."""
        p = initial + self.u @ o
        if np.trace(self.B) < 0.3 * len(o):
            self.B = self.B / 0.9999
        q = o @ self.B @ o
        z = implicit(lambda z: h * self.dloss(z, y), p, q)
        curvature = h * max(self.curvature(z, y), 1e-4)
        v = self.B @ o
        self.u = self.u - v * h * self.dloss(z, y)
        self.B = self.B - curvature * np.outer(v, v) / (1 + curvature * q)
        return p


def implicit(dloss: Callable[[float], float], p: float, q: float) -> float:
    """z with z = p - q dloss(z), by bisection."""
    low, high = sorted((p, p - q * dloss(p)))
    for _ in range(200):
        z = (low + high) / 2
        if z - p + q * dloss(z) > 0:
            high = z
        else:
            low = z
    return z


# --- many examples -----------------------------------------------------------------------------


class SlowLarge:
    """Many examples, that is: a tenth is held out, candidates race on a sample, and passes end that gain little.

    values: for each candidate the examples, as keys and values, of one namespace; "none": as they are. sample, judged:
    how many examples learn and judge in the race. Labels are -1 and 1, contents differ.
    """

    def __init__(self, values, y: Sequence[float], size: int, sample: int, judged: int) -> None:
        n = len(y)
        self.values, self.y, self.size = values, y, size
        is_out = held_out(range(1, n + 1), [2] * n, y)
        self.order = drawn_order(n)
        self.held = [i for i in self.order if is_out[i]]
        self.fold = [0 if out else 2 for out in is_out]
        self.race = {name: self.passes(name, self.order[:sample], self.held[:judged], 3, ends=False) for name in values}
        first = min(found[0] for found, *_ in self.race.values())
        for found, *_ in self.race.values():
            if found[0] > 1.10 * first:
                del found[1:]  # it ends after the first pass
        least = min(min(found) for found, *_ in self.race.values())
        self.going_on: list[str] = []
        for name, (found, *_) in self.race.items():
            others = [min(self.race[other][0]) for other in self.going_on]
            if min(found) <= 1.001 * least and all(abs(min(found) - x) > 1e-4 * least for x in others):
                self.going_on.append(name)
        all_passes = {name: self.passes(name, self.order, self.held, 60) for name in self.going_on}
        self.best = min(all_passes, key=lambda name: all_passes[name][0][0])
        self.losses, self.weights = all_passes[self.best]

    def passes(self, name: str, learned: Sequence[int], judged: Sequence[int], most: int, *, ends: bool = True):
        """The loss of each pass, and the weights of the best one."""
        lanes, found, least = SlowLanes(self.size, "logistic", 2, LARGE_RATES), [], np.inf
        plain, own = ([dict(zip(*x, strict=True)) for x in self.values[which]] for which in ("none", name))
        for key, scale in starting_scales(plain, {}, own).items():
            lanes.s[key] = scale
        y, before = np.array([self.y[i] for i in judged]), None
        for _ in range(most):
            for i in learned:
                lanes.learn(*self.values[name][i], self.y[i], self.fold[i])
            scores = np.array([lanes.scores(*map(np.array, self.values[name][i]), 0) for i in judged])
            loss, u, predictions = judged_by_stack(scores, y)
            found.append(loss)
            if not loss < least * (1 - 1e-4):
                break
            least, weights = loss, u @ lanes.columns()
            if ends and before is not None:
                gains = np.logaddexp(0, -y * before) - np.logaddexp(0, -y * predictions)
                error = np.sqrt(((gains - gains.mean()) ** 2).sum()) / len(y)
                if gains.mean() + error < 1e-3 * np.logaddexp(0, -y * before).mean():
                    break
            before = predictions
        return found, weights


def judged_by_stack(scores: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """The loss of the best column or of the stack, which is judged by the half that it is not fitted to; the weights of
    the columns; the predictions."""
    ones, losses = np.ones(len(y)), np.logaddexp(0, -y[:, None] * scores).mean(axis=0)
    start, half = np.eye(8)[losses.argmin()], np.arange(len(y)) % 2 == 1

    def fitted(rows):
        u = stacked(scores[rows], y[rows], ones[rows], start, "logistic")
        return start if turns_round(scores[rows], ones[rows], u, start) else u

    predictions = np.where(half, scores @ fitted(~half), scores @ fitted(half))
    loss = np.logaddexp(0, -y * predictions).mean()
    if loss < losses.min():
        return loss, fitted(ones > 0), predictions
    return losses.min(), start, scores @ start
