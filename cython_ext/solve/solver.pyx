"""The base class of solvers: steps over a problem, which stores weights, objective and lower bound.

A solver is a subclass with `prepare`, which is called before the first step and after any other change of the
problem, and `iterate`, one outer step without the GIL, after which the problem is evaluated.
"""

from libc.stdint cimport uint64_t

from vwlite.core.learn.chunks cimport vwlite_load, vwlite_store
from vwlite.core.solve.problem cimport Problem


cdef class Solver:
    """The base. seed: of the order of coordinates or of samples."""

    def __init__(self, Problem problem not None, *, uint64_t seed=1):
        self.problem, self.random = problem, seed
        self.why = ""
        self.changes = <size_t>-1

    @property
    def passes(self):
        """The number of entries read so far."""
        return self.accesses / max(self.problem.rows.nonzeros, 1)

    @property
    def settled(self):
        """Whether the problem is the one to be solved: a search for its regularization strength may come first."""
        return True

    def step(self):
        """One outer step, unless it is done. MemoryError."""
        cdef Problem problem = self.problem
        if self.changes != self.problem.changes:
            self.prepare()
            self.scale = max(self.scale, problem.l1 + problem.violation)
            self.best, self.idle = problem.objective, 0
            self.changes = self.problem.changes
            self.done, self.why = False, ""
        if self.done:
            return
        problem.known = False
        with nogil:
            self.iterate(problem)
            self.done = self.done or self.exact(problem)
        if self.done and not self.why:
            exact = problem.violation <= 1e-14 * self.scale
            self.why = "the weights are exact to rounding" if exact else "the objective has stopped falling"

    def stop(self):
        """Let `step` return soon, with valid weights. May be called from any thread."""
        vwlite_store(self.stopping, 1)

    cdef bint exact(self, Problem p) noexcept nogil:
        """Whether the violation is rounding, or next to it while the objective has stopped falling."""
        self.idle = self.idle + 1 if p.objective >= self.best * (1 - 1e-15) else 0
        self.best = min(self.best, p.objective)
        return p.violation <= 1e-14 * self.scale or (self.idle >= 3 and p.violation <= 1e-11 * self.scale)

    cdef bint stopped(self) noexcept nogil:
        return vwlite_load(self.stopping)

    cdef int prepare(self) except -1:
        return 0

    cdef int iterate(self, Problem p) except -1 nogil:
        return 0
