"""Made from cython_ext/solve/scd.pyx by tests/stubs.py."""

from typing import Any

from vwlite.core.solve.problem import Problem
from vwlite.core.solve.solver import Solver

class _Halves(Solver):
    def __init__(self, problem: Problem, *, seed: int = ..., beta: str = ..., visits: int = ...) -> None: ...
    @property
    def halves(self) -> Any: ...
class StochasticCoordinateDescent(_Halves):
    ...
class DeterministicCoordinateDescent(_Halves):
    ...
