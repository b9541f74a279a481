"""Euclidean projections onto the simplex and the l1 ball.

Duchi, Shalev-Shwartz, Singer, Chandra. Efficient Projections onto the l1-Ball for Learning in High Dimensions. ICML
2008.

    project_simplex(v, z)                       the nearest w to v with w >= 0, sum w_i = z
    project_l1(v, z)                            ... with sum |w_i| <= z
    project_simplex(v, z, weights=a, box=b)     ... with sum a_i w_i = z, and 0 <= w_i <= b
    project_l1(v, z, weights=a, box=b)          ... with sum a_i |w_i| <= z, and every |w_i| <= b
    SparseBall(n, z)                            a vector that stays on the l1 ball while a few of its numbers change

A coordinate whose weight a_i is 0 is free: only the box limits it, and for the simplex 0.

Two methods: "linear" is compiled and takes O(n) expected time for any input; "sort" is NumPy and O(n log n), the
definition written down. Their results differ by rounding only: of z or, with weights or box, of the largest |v_i|.
"""

from math import frexp, inf, isnan, ldexp
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vwlite.core.projection import SparseBall, project_general, project_plain

__all__ = ["SparseBall", "project_l1", "project_simplex"]

Vector = NDArray[np.float64]
Method = Literal["linear", "sort"]

WIDEST = 1e150  # the largest weight over the smallest positive one: their squares are added
HUGE = 2.0**960  # a sum of so large numbers could overflow
DOWN = 2.0**-64


def project_simplex(
    v: ArrayLike,
    z: float = 1.0,
    *,
    method: Method = "linear",
    weights: ArrayLike | None = None,
    box: float | None = None,
    out: Vector | None = None,
) -> Vector:
    """The nearest point to v on the simplex {w >= 0, sum w_i = z}: w_i = max(v_i - theta, 0). With weights and box: on
    {0 <= w_i <= b, sum a_i w_i = z}: w_i = min(b, max(v_i - theta a_i, 0)).

    v: a vector; it is not changed. z: 0 or more. weights, box, out: as for `project_l1`. Raises ValueError for anything
    else, and if there is no such point: for an empty v if z > 0, or if sum a_i b < z.

    Duchi et al. 2008, Fig. 1 ("sort") and 2 ("linear").
    """
    vector, z, out = _checked(v, z, method, out)
    b = inf if box is None else _number("box", box)
    a = None if weights is None else _checked_weights(weights, vector)
    if z == inf:
        raise ValueError("z is inf: the simplex needs a finite sum")
    if len(vector) == 0 and z > 0:
        raise ValueError(f"v is empty: no numbers have a sum of {z}")
    if a is not None and not a.all():
        _check_finite(vector)
        free, rest = np.clip(vector, 0, b), a > 0
        free[rest] = project_simplex(vector[rest], z, method=method, weights=a[rest], box=b)
        out[:] = free
    elif z == 0:
        _check_finite(vector)
        out[:] = 0
    elif a is not None or b < inf:
        _check_finite(vector)
        total = float(len(vector)) if a is None else _total(a)
        if total * b < z:
            raise ValueError(f"box is {b:g}: no numbers up to it have a sum of {z:g}, as weights add up to {total:g}")
        _general(vector, z, a, b, method, out, simplex=True)
    elif z > HUGE:
        project_simplex(vector * DOWN, z * DOWN, method=method, out=out)
        out /= DOWN
    elif method == "sort":
        _check_finite(vector)
        out[:] = _sort_simplex(vector, z)
    elif not project_plain(vector, z, True, out):
        _check_finite(vector)
    return out


def project_l1(
    v: ArrayLike,
    z: float = 1.0,
    *,
    method: Method = "linear",
    weights: ArrayLike | None = None,
    box: float | None = None,
    out: Vector | None = None,
) -> Vector:
    """The nearest point to v with sum a_i |w_i| <= z and |w_i| <= b: w_i = sign(v_i) min(b, max(|v_i| - theta a_i, 0)).

    v: a vector; it is not changed. z: 0 or more; inf is no ball at all, which leaves the box. weights: the a_i, as many
    as v_i, 0 or more, the largest at most 1e150 times the smallest positive one; None: all 1. box: b, 0 or more; None:
    inf. out: where the result goes, a float64 vector that does not overlap v; a new one if None. Raises ValueError for
    anything else.

    A v that fulfils both is returned as it is, bit by bit.

    Duchi et al. 2008, section 4, with weights as its remark at the end of section 5.
    """
    vector, z, out = _checked(v, z, method, out)
    b = inf if box is None else _number("box", box)
    a = None if weights is None else _checked_weights(weights, vector)
    if weights is None and box is None and method == "linear" and 0 < z <= HUGE:
        if not project_plain(vector, z, False, out):
            _check_finite(vector)
        return out
    _check_finite(vector)
    if a is not None and not a.all():
        free, rest = np.clip(vector, -b, b), a > 0
        free[rest] = project_l1(vector[rest], z, method=method, weights=a[rest], box=b)
        out[:] = free
        return out
    size = np.abs(vector)
    if z == 0 or b == 0:
        out[:] = 0
    elif z == inf:
        np.clip(vector, -b, b, out=out)
    elif a is None and b == inf:
        if _total(size) <= z:
            out[:] = vector
        elif z > HUGE:
            project_l1(vector * DOWN, z * DOWN, method=method, out=out)
            out /= DOWN
        else:
            out[:] = np.copysign(_sort_simplex(size, z), vector)
    else:
        _general(vector, z, a, b, method, out)
    return out


def _general(
    v: Vector, z: float, a: Vector | None, b: float, method: Method, out: Vector, simplex: bool = False
) -> None:
    """With weights or box, all positive."""
    size = v if simplex else np.abs(v)
    unit = _power_of_two(max(np.abs(v).max(initial=0.0), z if simplex else 0.0))
    a_unit = 1.0 if a is None else _power_of_two(a.max(initial=0.0))
    if method == "linear":
        project_general(v, z, a, b, 1 / unit, 1 / a_unit, out, simplex)
        return
    scaled = np.ones_like(v) if a is None else a / a_unit
    w = _sort_general(size / unit, z / unit / a_unit, scaled, b / unit, -inf if simplex else 0.0)
    out[:] = np.clip(v, -b, b) if w is None else np.copysign(w * unit, 1 if simplex else v)


# --- the reference: sorting ------------------------------------------------------------------


def _sort_simplex(v: Vector, z: float) -> Vector:
    """Fig. 1. Numbers are less the largest one, so that no digits of z are lost."""
    with np.errstate(over="ignore"):
        d = v - v.max()
    mu = np.sort(d)[::-1]
    mu = mu[mu > -z]  # the others have no part in it
    rho = np.flatnonzero(mu * np.arange(1, len(mu) + 1) > np.cumsum(mu) - z)[-1] + 1
    theta = (mu[:rho].sum() - z) / rho
    w: Vector = np.maximum(d - theta, 0)
    return w


def _sort_general(size: Vector, z: float, a: Vector, b: float, lowest: float) -> Vector | None:
    """With weights and box, for positive z and b, theta >= lowest; None if the box alone does it.

    m(theta) = sum a_i min(b, max(|v_i| - theta a_i, 0)) falls in theta, and is linear between the breakpoints
    |v_i| / a_i, from where on w_i is 0, and (|v_i| - b) / a_i, up to where w_i is b.
    """
    if lowest == 0 and _total(a * np.minimum(size, b)) <= z:
        return None
    zero, clip = size / a, (size - b) / a
    points = np.concatenate([zero, clip])
    order = np.argsort(points)[::-1]
    points = points[order]
    # The mass at a breakpoint, from what the breakpoints down to it have added to it: linear - theta slope.
    # Those at theta itself change nothing there.
    edge = np.zeros_like(a) if b == inf else a * size - a * b
    linear = np.cumsum(np.concatenate([a * size, -edge])[order])
    slope = np.cumsum(np.concatenate([a * a, -a * a])[order])
    with np.errstate(invalid="ignore"):
        mass = linear - points * slope
    usable = np.isfinite(points) & (points > lowest)
    reached = np.flatnonzero(usable & (mass >= z))
    low = points[reached[0]] if len(reached) else lowest
    above = points[usable & (points > low)]
    if len(reached):
        above = points[: reached[0]][points[: reached[0]] > low]
    high = above[-1] if len(above) else inf
    inside = (zero >= high) & (clip <= low)
    rest = a[clip >= high].sum() * b if b < inf else 0.0
    square = (a[inside] ** 2).sum()
    theta = low if square == 0 else ((a * size)[inside].sum() + rest - z) / square
    w: Vector = np.clip(size - min(max(theta, low), high) * a, 0, b)
    return w


# --- what was given --------------------------------------------------------------------------


def _checked(v: ArrayLike, z: float, method: str, out: Vector | None) -> tuple[Vector, float, Vector]:
    if method not in ("linear", "sort"):
        raise ValueError(f"method is {method!r}: it must be 'linear' or 'sort'")
    vector = _vector("v", v)
    if out is None:
        out = np.empty(len(vector))
    elif not (
        isinstance(out, np.ndarray) and out.dtype == np.float64 and out.flags.c_contiguous and out.flags.writeable
    ):
        raise ValueError("out must be a contiguous, writeable float64 array")
    elif out.shape != vector.shape:
        raise ValueError(f"out has shape {out.shape}, v {vector.shape}")
    elif np.may_share_memory(out, vector):
        raise ValueError("out and v share memory")
    return vector, _number("z", z), out


def _vector(name: str, given: Any) -> Vector:
    array = np.asarray(given)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions: it must be a vector")
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} has numbers of type {array.dtype}: they must be real")
    return np.ascontiguousarray(array, dtype=np.float64)


def _number(name: str, given: float) -> float:
    number = float(given)
    if isnan(number) or number < 0:
        raise ValueError(f"{name} is {number}: it must be 0 or more")
    return number


def _checked_weights(weights: ArrayLike, v: Vector) -> Vector:
    a = _vector("weights", weights)
    if a.shape != v.shape:
        raise ValueError(f"weights has {len(a)} numbers, v {len(v)}")
    if len(a) == 0:
        return a
    smallest, largest = a.min(), a.max()
    if not (smallest >= 0 and largest < inf):  # also if one is nan
        raise ValueError("weights must be 0 or more, and finite")
    if largest * (1 / WIDEST) > a.min(where=a > 0, initial=inf):
        raise ValueError(f"the largest weight is more than {WIDEST:g} times the smallest positive one")
    return a


def _check_finite(v: Vector) -> None:
    bad = np.flatnonzero(~np.isfinite(v))
    if len(bad):
        raise ValueError(f"v[{bad[0]}] is {v[bad[0]]}: all numbers must be finite")


def _total(x: Vector) -> float:
    with np.errstate(over="ignore"):
        return float(x.sum())


def _power_of_two(x: float) -> float:
    """About x, such that dividing by it and multiplying with it is exact."""
    return ldexp(1.0, max(-1000, min(1000, frexp(x)[1])))
