"""Conjugate gradients with a preconditioner. Without a library of linear algebra: every sum has one order."""

from collections.abc import Callable
from typing import Any

import numpy as np

from vwlite.core.base.dense import dot

TINY = 1e-300


def conjugate_gradients(
    times: Callable[[Any], Any], r: Any, diagonal: Any, gain: float, part: float, most: int = 100
) -> Any:
    """s with times(s) = r, nearly: s times(s) / 2 - r s is the least. The diagonal of `times` is the preconditioner.
    It ends with a step that gains less than a part of `gain` and of all that was gained, or after `most` steps."""
    s, q, whole = np.zeros_like(r), r / diagonal, 0.0
    rz = inner(r, q)
    for _ in range(most):
        along = times(q)
        a = rz / max(inner(q, along), TINY)
        s, r = s + a * q, r - a * along
        whole += a * rz / 2
        if a * rz / 2 <= part * (whole + gain):
            break
        z = r / diagonal
        before, rz = rz, inner(r, z)
        q = z + rz / before * q
    return s


def inner(a: Any, b: Any) -> float:
    a, b = np.broadcast_arrays(a, b)
    return float(dot(a.ravel(), b.ravel()))
