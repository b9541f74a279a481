"""Made from cython_ext/solve/dual.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.solve.problem import Problem
from vwlite.core.solve.solver import Solver

class DualCoordinateDescent(Solver):
    def __init__(self, problem: Problem, *, seed: int = ..., order: str = ...) -> None: ...
    @property
    def a(self) -> Any: ...
