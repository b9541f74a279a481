"""From what Python calls a matrix to the rows that the core reads: scipy's sparse ones and arrays, by their manners.

scipy itself is not imported.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from vwlite.core.data.matrix import Matrix
from vwlite.options.settings import Settings

_REAL = (np.dtype(np.float32), np.dtype(np.float64))
LARGE = 1 << 18  # values that two threads check
_INDEX = (np.dtype(np.int32), np.dtype(np.int64))


def is_sparse(x: Any) -> bool:
    """Whether it is one of scipy's sparse matrices or arrays."""
    return hasattr(x, "tocsr") and hasattr(x, "nnz")


def matrix_of(
    x: Any, settings: Settings, *, label: Any = None, importance: Any = None, names: Sequence[str] | None = None
) -> Matrix:
    """A matrix as the core reads it, checked; CSR of float32 or float64 with rising columns is not copied.

    Other sparse formats become CSR, other types float64. Where a row of CSR has a column several times, their sum
    counts, as for scipy. settings: of the model. label, importance: an array of float64 each. names: of the columns,
    for messages.
    ValueError with row and column for what is not finite as float32, or lies outside of the matrix.
    """
    more: dict[str, Any] = {
        "label": None if label is None else np.ascontiguousarray(label, dtype=np.float64),
        "importance": None if importance is None else np.ascontiguousarray(importance, dtype=np.float64),
        "hash_all": settings.hash == "all",
        "spaces": bool(settings.crosses),
    }
    if not is_sparse(x):
        array = _real(np.asarray(x))
        if array.ndim != 2:
            raise ValueError(f"X has {array.ndim} dimensions, but a matrix has 2")
        return _checked(Matrix(array, **more), names)
    x = x.tocsr()
    found = _csr(x, more)
    fault = _fault(found)
    if fault is not None and fault[0] == "order":
        # A new one, as the old may believe of itself what was true once.
        x = type(x)((x.data, x.indices, x.indptr), shape=x.shape, copy=True)
        x.sum_duplicates()
        found = _csr(x, more)
        fault = _fault(found)
    _refuse(fault, names)
    return found


def _csr(x: Any, more: dict[str, Any]) -> Matrix:
    kind = x.indices.dtype if x.indices.dtype == x.indptr.dtype and x.indices.dtype in _INDEX else np.dtype(np.int64)
    columns, begins = (np.ascontiguousarray(a, dtype=kind) for a in (x.indices, x.indptr))
    n = int(begins[-1])
    values = np.ascontiguousarray(_real(x.data)[:n])  # behind the last row, there may be room for more
    return Matrix(values, columns[:n], begins, width=x.shape[1], **more)


def _real(array: Any) -> Any:
    """As float32 or float64 in this machine's order of bytes."""
    if array.dtype in _REAL and array.dtype.isnative:
        return array
    if array.dtype.kind == "c":
        raise ValueError("X has complex numbers, which no feature can be")
    return array.astype(np.float64)


def _checked(found: Matrix, names: Sequence[str] | None) -> Matrix:
    _refuse(_fault(found), names)
    return found


def _fault(found: Matrix) -> Any:
    """What is wrong with a matrix; of a large one, another thread checks the second half."""
    half = found.rows // 2
    if found.size < LARGE:
        return found.check()
    with ThreadPoolExecutor(1) as other:
        later = other.submit(found.check, half)
        return found.check(0, half) or later.result()


def _refuse(fault: Any, names: Sequence[str] | None) -> None:
    if fault is None:
        return
    what, row, column = fault
    shown = repr(names[column]) if names is not None and column < len(names) else column
    if what == "begin":
        raise ValueError(f"X is no valid sparse matrix: row {row} ends before it begins, or behind the last value")
    if what == "column":
        raise ValueError(f"X is no valid sparse matrix: row {row} has a value in column {column}, which is not there")
    why = "" if what == "NaN" else ", or a number too large for a 32-bit float"
    advice = "impute it, or leave it out of a sparse matrix" if what == "NaN" else "scale the column"
    raise ValueError(f"X contains {what}{why}, at row {row}, column {shown}: {advice}")
