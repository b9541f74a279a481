"""Convert matrices (scipy's sparse formats, and arrays) to the rows that the core reads.

scipy is not imported: attributes identify its types. For models of tables, rows may be dictionaries, as in JSON lines.
"""

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vwlite.algorithms.settings import Settings
from vwlite.core.data.batch import Batch
from vwlite.core.tables.matrix import Matrix
from vwlite.core.tables.tables import TableParser
from vwlite.input.diagnostics import bad_lines
from vwlite.input.strangers import KnownColumns, bare_rows

_REAL = (np.dtype(np.float32), np.dtype(np.float64))
AT_ONCE = 1000  # dictionaries in a batch
_INDEX = (np.dtype(np.int32), np.dtype(np.int64))


def is_sparse(x: Any) -> bool:
    """Whether it is one of scipy's sparse matrices or arrays."""
    return hasattr(x, "tocsr") and hasattr(x, "nnz")


class MatrixRows:
    """The rows of a matrix, as batches."""

    def __init__(self, matrix: Matrix, names: Sequence[str] | None) -> None:
        """names: of the columns, for messages."""
        self._matrix, self._names = matrix, names
        self.rows = matrix.rows

    def fill(self, batch: Batch, row: int) -> int:
        """Fill a batch with rows from `row` on; returns the row after them. ValueError with row and column for a value
        that is not finite as float32, or is outside the matrix."""
        after = self._matrix.fill(batch, row)
        if after < 0:
            _refuse(self._matrix.fault, self._names)
        return after


def are_dictionaries(x: Any) -> bool:
    """Whether it is a list of rows, each a dictionary; an empty list may be one."""
    return isinstance(x, list | tuple) and all(isinstance(row, Mapping) for row in x[:1])


class DictionaryRows:
    """Rows that are dictionaries, as batches. parser: of JSON lines, with the columns set. known: those of the model,
    of which each row must have one. notes: a row that has none is a warning, not an error."""

    def __init__(
        self, rows: Sequence[Mapping[str, Any]], parser: TableParser, known: KnownColumns | None, *, notes: bool
    ) -> None:
        self._rows, self._parser, self._known, self._notes = rows, parser, known, notes
        self.rows = len(rows)

    def fill(self, batch: Batch, row: int) -> int:
        """Fill a batch with rows from `row` on; returns the row after them. TypeError or ValueError with the row if a
        row is not a dictionary, or has a value that JSON cannot have."""
        after = min(row + AT_ONCE, self.rows)
        text = b"".join(_json_line(self._rows[i], i) for i in range(row, after))
        if self._parser.parse(text, batch):
            bad = bad_lines(self._parser, text, batch)[0]
            raise ValueError(f"row {bad.line}: {bad.message}")
        self._parser.take_unknown()  # keys that the model does not have are ignored
        for bare in bare_rows(batch, self._known.absent) if self._known else ():
            self._check(row + bare)
        return after


    def _check(self, row: int) -> None:
        why = self._known.wrong(self._rows[row]) if self._known else ""
        if why and not self._notes:
            raise ValueError(f"row {row}: {why}; on_unknown='note' predicts it by the intercept")
        if why:
            self._known = None  # said once
            warnings.warn(f"row {row}: {why}", stacklevel=2)


def _json_line(row: Any, number: int) -> bytes:
    if not isinstance(row, Mapping):
        raise TypeError(f"row {number}: expected a dictionary, not {type(row).__name__}")
    for key in row:
        if not isinstance(key, str):
            raise TypeError(f"row {number}: the key {key!r} is not a string")
    try:
        return _ENCODER.encode(row if type(row) is dict else dict(row)).encode() + b"\n"
    except RecursionError:
        raise ValueError(f"row {number}: nested too deep") from None
    except ValueError:
        why = "a number is not finite: if it is missing, omit the key, or pass None"
        raise ValueError(f"row {number}: {why}") from None
    except TypeError as e:
        raise TypeError(f"row {number}: {e}") from None


def _json_value(value: Any) -> Any:
    """Convert a NumPy number or array, or a Decimal, to Python objects. TypeError for anything else."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if type(value).__module__ == "decimal":  # which is not imported here
        return int(value) if value.is_finite() and value == int(value) else float(value)
    raise TypeError(f"a value of type {type(value).__name__} is not a number, string, boolean, list, or None")


_ENCODER = json.JSONEncoder(allow_nan=False, default=_json_value)


def matrix_of(
    x: Any, settings: Settings, *, label: Any = None, importance: Any = None, names: Sequence[str] | None = None,
    spaces: bool = False,
) -> MatrixRows:
    """A matrix as the core reads it; arrays and CSR of float32 or float64 are not copied.

    Other sparse formats are converted to CSR, other types to float64. Duplicate entries of a CSR row are summed, as in
    scipy. settings: of the model. label, importance: an array of float64 each. names: of the columns, for messages.
    spaces: batches have the hashes of namespaces.
    """
    more: dict[str, Any] = {
        "label": None if label is None else np.ascontiguousarray(label, dtype=np.float64),
        "importance": None if importance is None else np.ascontiguousarray(importance, dtype=np.float64),
        "hash_all": settings.hash == "all",
        "spaces": spaces or settings.needs_spaces,
    }
    if is_sparse(x):
        return MatrixRows(_csr(x.tocsr(), more), names)
    array = _real(np.asarray(x))
    if array.ndim != 2:
        raise ValueError(f"X has {array.ndim} dimensions: expected 2")
    return MatrixRows(Matrix(array, **more), names)


def _csr(x: Any, more: dict[str, Any]) -> Matrix:
    kind = x.indices.dtype if x.indices.dtype == x.indptr.dtype and x.indices.dtype in _INDEX else np.dtype(np.int64)
    columns, begins = (np.ascontiguousarray(a, dtype=kind) for a in (x.indices, x.indptr))
    if begins.shape != (x.shape[0] + 1,):
        raise ValueError(f"X is not a valid sparse matrix: its indptr has the shape {begins.shape}, expected "
                         f"({x.shape[0] + 1},) for {x.shape[0]} rows")
    n, most = int(begins[-1]), min(len(columns), len(x.data))
    if begins[0] != 0 or n < 0:
        raise ValueError(f"X is not a valid sparse matrix: its indptr is from {begins[0]} to {n}, and must start at 0")
    if n > most:
        raise ValueError(f"X is not a valid sparse matrix: its indptr ends with {n}, but it has {most} values")
    values = np.ascontiguousarray(_real(x.data)[:n])  # there may be unused entries after the last row
    return Matrix(values, columns[:n], begins, width=x.shape[1], **more)


def _real(array: Any) -> Any:
    """As float32 or float64 in native byte order."""
    if array.dtype in _REAL and array.dtype.isnative:
        return array
    if array.dtype.kind == "c":
        raise ValueError("X has complex numbers: not supported")
    return array.astype(np.float64)


def _refuse(fault: tuple[str, int, int], names: Sequence[str] | None) -> None:
    what, row, column = fault
    shown = repr(names[column]) if names is not None and column < len(names) else column
    if what == "begin":
        raise ValueError(f"X is not a valid sparse matrix: row {row} ends before it begins, or after the last value")
    if what == "column":
        raise ValueError(f"X is not a valid sparse matrix: row {row} has a value in column {column}: no such column")
    why = "" if what == "NaN" else ", or a number too large for a 32-bit float"
    advice = "impute it, or omit it in a sparse matrix" if what == "NaN" else "scale the column"
    raise ValueError(f"X contains {what}{why}, at row {row}, column {shown}: {advice}")
