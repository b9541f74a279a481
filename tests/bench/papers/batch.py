"""Solvers of `vwlite solve`, followed step by step."""

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from vwlite.algorithms.solvers import SOLVERS
from vwlite.core.solve.newton import Newton
from vwlite.core.solve.problem import Problem
from vwlite.core.solve.solver import Solver


@dataclass
class Trace:
    """Where a solver was: at the start, and after each of its steps."""

    accesses: list[float] = field(default_factory=list)  # entries of the data that were read
    seconds: list[float] = field(default_factory=list)  # of the processor, in its steps
    objectives: list[float] = field(default_factory=list)
    nonzeros: list[float] = field(default_factory=list)

    def add(self, accesses: float, seconds: float, problem: Problem) -> None:
        self.accesses.append(accesses)
        self.seconds.append(seconds)
        self.objectives.append(problem.objective)
        self.nonzeros.append(float(problem.nonzeros))


def solver_of(name: str, problem: Problem, **options: Any) -> Solver:
    module, kind = SOLVERS[name].kind.split(":")
    made: Solver = getattr(import_module(f"vwlite.core.solve.{module}"), kind)(problem, **options)
    return made


def begin(problem: Problem) -> None:
    """At w = 0; of all classes, if there are several."""
    constants = np.zeros(np.shape(problem.b))
    problem.set(np.zeros(np.shape(problem.w)), constants if constants.shape else 0.0)
    problem.evaluate()


def follow(
    name: str, problem: Problem, *, accesses: float = math.inf, seconds: float = math.inf, steps: int = 100_000,
    reach: float = -math.inf, **options: Any,
) -> Trace:
    """From w = 0 until one of the limits, or until the objective is at most `reach`."""
    begin(problem)
    trace = Trace()
    trace.add(0, 0, problem)
    solver = solver_of(name, problem, **options)
    spent = 0.0
    for _ in range(steps):
        began = time.process_time()
        solver.step()
        spent += time.process_time() - began
        if not math.isfinite(problem.objective):
            break
        trace.add(solver.accesses, spent, problem)
        if solver.done or solver.accesses >= accesses or spent >= seconds or problem.objective <= reach:
            break
    return trace


def follow_at_best_rate(
    name: str, problem: Problem, etas: Iterable[float], first: dict[str, Any], last: dict[str, Any], **options: Any
) -> tuple[float, Trace]:
    """With each eta0 up to the limits `first`; with the one of the least objective there, up to the limits `last`."""
    tried = {
        eta: min(follow(name, problem, eta0=eta, **first, **options).objectives[1:], default=math.inf) for eta in etas
    }
    best = min(tried, key=tried.__getitem__)
    return best, follow(name, problem, eta0=best, **last, **options)


def optimum(problem: Problem, gap: float = 1e-7, steps: int = 300) -> float:
    """The least objective, by proximal Newton: with at most this relative error, if reached in `steps` steps."""
    begin(problem)
    solver = Newton(problem)
    for _ in range(steps):
        solver.step()
        if solver.done or problem.gap <= gap * problem.objective:
            break
    return float(problem.objective)
