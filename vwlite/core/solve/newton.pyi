"""Made from cython_ext/solve/newton.pyx by tests/stubs.py."""


from vwlite.core.solve.problem import Problem
from vwlite.core.solve.solver import Solver

class Newton(Solver):
    def __init__(self, problem: Problem, *, seed: int = ..., gram: bool = ...) -> None: ...
