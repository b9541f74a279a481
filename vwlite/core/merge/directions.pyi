"""Made from cython_ext/merge/directions.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.merge.sums import Sums

NEEDS: Any
def direction(sums: Sums, name: str) -> Any: ...
def dual_average(sums: Sums, shifts: Any, scales: Any, dampings: Any, constant: Any) -> Any: ...
def moved_by(start: Any, change: Any, step: float) -> Any: ...
