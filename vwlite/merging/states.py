"""What becomes of the state when the weights of a merge are known: the numbers from which the algorithm goes on.

Each function is the way back from weights w and evidence S to what a slot keeps, so that the next step is that of a
learner that came to w by itself. Arrays have a row of all classes for each key.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import frexp, ldexp
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vwlite.core.base.arrays import total
from vwlite.core.base.elementary import each, power
from vwlite.options.settings import Settings
from vwlite.projection import project_l1

Weights: TypeAlias = NDArray[np.float64]
State: TypeAlias = dict[str, NDArray[Any]]  # fields of the slots; those that are missing hold a number of the rule

ROWS = 1 << 14  # that are worked on at a time
LN2 = 0.6931471805599453


@dataclass
class Merged:
    """What a merge has found, apart from the weights."""

    settings: Settings
    scalars: dict[str, list[Any]]  # of the rule, for each class; the functions add to it what follows from the weights
    keys: NDArray[np.uint32]
    constant: int | None  # where in the keys that of the constant is
    w: Weights  # that learning goes on from
    S: Weights  # evidence
    extra: Weights
    absent: Weights  # what shards without the key would have shrunk it by
    unseen: list[float]  # the weight of a key that is not there, for each class
    features: int  # how many there can be

    def parts(self) -> Iterator[tuple[slice, "Merged"]]:
        """Some rows after the other, so that what is made of them stays in the cache; the scalars are those of all."""
        for begin in range(0, max(len(self.keys), 1), ROWS):
            rows = slice(begin, begin + ROWS)
            at = -1 if self.constant is None else self.constant - begin
            yield rows, replace(
                self, keys=self.keys[rows], constant=at if 0 <= at < ROWS else None,
                w=self.w[rows], S=self.S[rows], extra=self.extra[rows], absent=self.absent[rows],
            )  # fmt: skip

    @property
    def free(self) -> NDArray[np.bool_]:
        """Which rows the constant is not: it has no strength."""
        free = np.ones((len(self.keys), 1), dtype=bool)
        if self.constant is not None:
            free[self.constant] = False
        return free

    def of(self, name: str) -> Weights:
        """A number of the rule, for each class; 0 for the constant."""
        return np.asarray(self.scalars[name], dtype=float) * self.free

    @property
    def l1(self) -> Weights:
        """The strength, which --nonzeros finds."""
        found = self.scalars.get("strength", [self.settings.l1] * self.w.shape[1])
        return np.asarray(found, dtype=float) * self.free


# --- descent -----------------------------------------------------------------------------------


def plain(m: Merged) -> State:
    return {"w": m.w}


def normalized(m: Merged) -> State:
    return {"w": m.w, "G": m.S, "N": m.extra}


def arow(m: Merged) -> State:
    return {"w": m.w, "sigma": 1 / m.S}


def rounded_at_end(m: Merged, w: Weights) -> Weights:
    return np.where(m.free & (np.abs(w) < m.settings.round_at_end), 0, w)


# --- weights from duals ------------------------------------------------------------------------


def _soft(v: Weights, a: Weights) -> Weights:
    return np.copysign(np.maximum(np.abs(v) - a, 0), v) + 0.0


def _metric(m: Merged) -> Weights:
    """H"""
    return m.settings.delta + np.sqrt(m.S)


def adagrad(m: Merged) -> State:
    """|z| = H |w| + shift, so that soft(z, shift) / H = w."""
    shift = m.of("shift") if "shift" in m.scalars else 0.0
    return {"S": m.S, "z": np.where(m.w == 0, 0, np.copysign(np.abs(m.w) * _metric(m) + shift, m.w))}


def shrunk(m: Merged, w: Weights) -> Weights:
    """soft(H w, what the shards without the feature would have shrunk it by) / H"""
    H = _metric(m)
    return _soft(w * H, m.absent * m.free) / H


def shift_since(now: Callable[[str], Any], before: Callable[[str], Any]) -> float:
    """What a shard has shrunk every H |w| by: its shift, or with --l2 about that many steps of the last one. now,
    before: the numbers of its rule and of the start's, by name."""
    steps = now("t") - before("t")
    return float(now("shift") - before("shift") + steps * now("shrinkage"))


def adagrad_rda(m: Merged) -> State:
    """|z| = |w| (H + scale t l2) / scale + shift; where w = 0, the sum of z, as far as it leaves w there."""
    s = m.settings
    m.scalars["shift"] = [t * l1 for t, l1 in zip(m.scalars["t"], _strengths(m), strict=True)]
    m.scalars["scale"] = [scale_of(s, t) for t in m.scalars["t"]]
    shift, scale = m.of("shift"), np.asarray(m.scalars["scale"])
    damping = scale * m.of("t") * s.l2
    lively = np.copysign(np.abs(m.w) * (_metric(m) + damping) / scale + shift, m.w)
    return {"S": m.S, "z": np.where(m.w == 0, np.clip(m.extra, -shift, shift), lively)}


def scale_of(s: Settings, t: float) -> float:
    """eta_t"""
    return s.learning_rate * power(t + s.initial_t, -s.power_t) if s.power_t else s.learning_rate


def _strengths(m: Merged) -> list[float]:
    return m.scalars.get("strength", [m.settings.l1] * m.w.shape[1])


def ftrl(m: Merged) -> State:
    """|z| = |w| ((beta + root) / alpha + l2) + l1; where w = 0, the sum of z, as far as it leaves w there."""
    s, root = m.settings, np.sqrt(m.S)
    size = np.abs(m.w) * ((s.ftrl_beta + root) / s.ftrl_alpha + s.l2 * m.free) + m.l1
    return {"root": root, "z": np.where(m.w == 0, np.clip(m.extra, -m.l1, m.l1), -np.copysign(size, m.w))}


def supported(m: Merged, w: Weights) -> Weights:
    """Zero where the sum of the shards' z says so: |z| <= t l1, or l1."""
    if not np.any(m.l1):
        return w
    bound = m.l1 * (np.asarray(m.scalars["t"]) if m.settings.algorithm == "adagrad-rda" else 1.0)
    return np.where(m.free & (np.abs(m.extra) <= bound), 0, w)


# --- balls -------------------------------------------------------------------------------------


def ball(m: Merged) -> State:
    """u = w / a, without a shift; the sum is counted in whole units (l1_ball.pyx)."""
    s = m.settings
    weighted = s.feature_weights or s.box is not None
    u = m.w / m.extra if weighted else m.w
    m.scalars["active"] = [int(n) for n in np.count_nonzero(m.free & (m.w != 0), axis=0)]
    counts = []
    for c, radius in enumerate(_radii(m)):
        unit = ldexp(2.0**50, -frexp(radius)[1])
        sizes = np.abs(m.w[:, c] * m.extra[:, c] if weighted else m.w[:, c])[m.free[:, 0]]
        counts.append(int(np.rint(sizes * unit).astype(np.int64).sum()))
    m.scalars["count_of_sum"] = counts
    return {"u": u, **({"a": m.extra} if weighted else {})}


def _radii(m: Merged) -> list[float]:
    return m.scalars.get("strength", [m.settings.radius] * m.w.shape[1])


def in_ball(m: Merged, w: Weights) -> Weights:
    s = m.settings
    out: Weights = w.copy()
    for c, radius in enumerate(_radii(m)):
        lively = np.flatnonzero(m.free[:, 0] & (w[:, c] != 0))
        v = w[lively, c]
        v = np.maximum(v, 0) if s.nonnegative else v
        a = m.extra[lively, c] if s.feature_weights else None
        out[lively, c] = project_l1(v, radius, weights=a, box=s.box) if len(v) else v
    return out


def adagrad_ball(m: Merged) -> State:
    """z = w H, without a shift, and the sums over the ball."""
    inverse = 1 / _metric(m)
    inside = m.free & (m.w != 0)
    m.scalars["sum"] = [total(column) for column in np.where(inside, np.abs(m.w), 0).T]
    m.scalars["inverses"] = [total(column) for column in np.where(inside, inverse, 0).T]
    m.scalars["largest"] = m.scalars["inverses"]
    return {"S": m.S, "z": m.w * _metric(m)}


def in_adaptive_ball(m: Merged, w: Weights) -> Weights:
    """The nearest weights of the ball in the norm of H."""
    out: Weights = w.copy()
    radius = m.settings.radius
    assert radius is not None
    for c in range(w.shape[1]):
        lively = np.flatnonzero(m.free[:, 0] & (w[:, c] != 0))
        root = np.sqrt(_metric(m)[lively, c])
        if len(lively):
            out[lively, c] = project_l1(w[lively, c] * root, radius, weights=1 / root) / root
    return out


# --- weights that add up -----------------------------------------------------------------------


def simplex(m: Merged) -> State:
    """u = w, without a shift."""
    m.scalars["unseen"] = m.unseen
    return {"u": m.w}


def exponentiated(m: Merged) -> State:
    """v = w / unseen, as that of a feature that was never seen is 1."""
    m.scalars["unseen"] = m.unseen
    unit = [x if x > 0 else m.settings.radius / m.features for x in m.unseen if m.settings.radius]
    return _in_blocks(m, (_each("log", np.where(m.free, m.w, 1)) - _each("log", np.array(unit))) / LN2)


def exponentiated_two_sided(m: Merged) -> State:
    """w = radius (v - 1 / v) / Z, Z the sum of v + 1 / v over all features: asinh(w Z / (2 radius)) = ln v.

    Z by Newton's method, from below: with z = Z / (2 radius), z radius = sum sqrt(1 + (z w)^2), both sides rising, the
    left one faster.
    """
    m.scalars["unseen"] = m.unseen
    radius = m.settings.radius
    assert radius is not None
    logs = np.zeros_like(m.w)
    inside = m.free[:, 0]
    for c in range(m.w.shape[1]):
        w = m.w[inside, c]
        untouched, z = m.features - len(w), 0.0
        for _ in range(200):
            root = np.sqrt(1 + (z * w) ** 2)
            slope = radius - total(z * w * w / root)
            step = (untouched + total(root) - z * radius) / slope if slope > 0 else 0.0
            if not step > 1e-15 * z or z + step > 1e100:
                break
            z += step
        size = np.minimum(np.abs(z * w), 1e150)
        logs[inside, c] = np.copysign(_each("log1p", size + size * (size / (1 + np.sqrt(1 + size * size)))), w) / LN2
    return _in_blocks(m, logs)


def _each(name: str, x: Weights) -> Weights:
    """A function of each number, the same on every machine: those of NumPy are not."""
    out = np.array(x, dtype=float, order="C")
    each(name, out.reshape(-1), out.reshape(-1))
    return out


def _in_blocks(m: Merged, logs: Weights) -> State:
    """v = m 2^(10 block), of log2 v; the constant's m is its weight."""
    logs = np.where(m.free, np.clip(logs, -1e6, 1e6), 0.0)
    block = np.floor(logs / 10)
    mantissa = np.clip(_each("exp", (logs - 10 * block) * LN2), 1, np.nextafter(1024, 0))
    return {"block": block, "m": np.where(m.free, mantissa, m.w)}
