"""Solutions along the regularization path: the one with a given norm, the one with a given number of weights.

The weights w(l1) of the penalized problem shrink as l1 grows. So the solution on a ball is found by a search for the l1 at
which sum_j c_j |w_j| is the radius, and the largest model of at most N weights by a search for the least l1 with no more
than N; every regularization strength starts from the weights of the previous one.
"""

from libc.math cimport INFINITY, fabs, fmax, fmin, sqrt
from libc.stdint cimport uint64_t

from vwlite.core.base.elementary cimport exp, log
from vwlite.core.solve.problem cimport Problem
from vwlite.core.solve.solver cimport Solver

from vwlite.core.solve.newton import Newton

cdef double LOOSE = 0.1         # the tolerance of the violation, as a fraction of l1, at the first strength
cdef double TIGHTER = 0.1       # and its factor for each following one
cdef double FADED = 1e-9        # strengths below this fraction of the largest count as 0


cdef class NewtonOnBall(Solver):
    """The solution on a ball: solves the penalized problem, and adapts l1 by the secant method for the logarithm of the
    norm as a function of that of l1. After a step, the problem has its weights, scaled down if they are outside of the
    ball.

    ValueError: no radius; a simplex; a loss with kinks.
    """
    cdef Problem inside             # the penalized problem
    cdef Solver solver              # of it
    cdef double strongest           # l1 above which all weights are zero
    cdef double low, high           # logarithms of strengths with a larger and a smaller norm
    cdef double last, last_norm     # logarithms of the previous strength and its norm; infinite: none
    cdef double precision           # the tolerance of the violation, as a fraction of l1

    def __init__(self, Problem problem not None, *, uint64_t seed=1):
        super().__init__(problem, seed=seed)
        if problem.ball < 0:
            raise ValueError("this solver needs a radius")
        if problem.simplex:
            raise ValueError("this solver does not take a simplex")
        self.inside = problem.penalized()
        self.solver = Newton(self.inside, seed=seed)

    @property
    def l1(self):
        """An estimate of the strength of this solution: the multiplier of the ball, max_j |g_j| / c_j."""
        return self.problem.steepest

    def stop(self):
        super().stop()
        self.solver.stop()

    cdef int prepare(self) except -1:
        cdef double norm
        cdef Problem p = self.problem
        self.strongest = self.inside.l1_max()
        norm = p.norm()
        self.inside.set(p.w, p.b)
        self.inside.set_l1(0.1 * self.strongest)
        self.low, self.high = -INFINITY, log(self.strongest) if self.strongest > 0 else -INFINITY
        self.last = INFINITY
        self.precision = LOOSE
        self.show()
        return 0

    def step(self):
        """One step of the penalized problem, and a new strength if it is solved well enough for the current one."""
        cdef Problem p = self.problem
        cdef Problem inside = self.inside
        if self.changes != p.changes:
            self.prepare()
            self.changes = p.changes
            self.scale = max(self.scale, inside.l1 + p.violation)
            self.best, self.idle = p.objective, 0
            self.done, self.why = False, ""
        if self.done:
            return
        self.solver.step()
        self.accesses = self.solver.accesses
        self.columns = self.solver.columns
        if self.solver.done or inside.violation <= self.precision * inside.l1:
            self.move()
        self.show()
        with nogil:
            self.done = self.exact(p)
        if self.done:
            exact = p.violation <= 1e-14 * self.scale
            self.why = "the weights are exact to rounding" if exact else "the objective has stopped falling"

    cdef object move(self):
        """Choose another strength."""
        cdef Problem inside = self.inside
        cdef double here, norm, target = log(self.problem.ball), slope, to
        if inside.l1 == 0:
            return
        here, norm = log(inside.l1), inside.norm()
        norm = log(norm) if norm > 0 else -INFINITY
        if norm > target:
            self.low = fmax(self.low, here)
        else:
            self.high = fmin(self.high, here)
        if self.low >= self.high:       # one of them was found too loosely
            self.low, self.high = here - 0.01, here + 0.01
        if norm == -INFINITY:
            to = here - log(2)
        else:
            slope = -1
            if self.last < INFINITY and self.last_norm > -INFINITY and self.last != here and self.last_norm != norm:
                slope = fmin((self.last_norm - norm) / (self.last - here), -1e-3)
            to = here + fmin(fmax((target - norm) / slope, -log(10)), log(10))
            self.last, self.last_norm = here, norm
        if not self.low < to < self.high and self.low > -INFINITY and self.high < INFINITY:
            to = (self.low + self.high) / 2
        if fabs(norm - target) < 0.1 or self.solver.done:
            self.precision = fmax(self.precision * TIGHTER, 1e-13)
            if self.precision > 1e-13:      # the former solutions were too inexact for the next strength
                self.low, self.high = -INFINITY, INFINITY
        to = fmin(to, log(self.strongest))      # where all weights are zero, as they should be long before; no more
        if exp(to) < FADED * self.strongest:     # the ball is larger than the norm without a penalty
            inside.set_l1(0)
        elif to != here:
            inside.set_l1(exp(to))

    cdef object show(self):
        """Set the problem's weights, scaled into the ball, and evaluate them."""
        cdef Problem p = self.problem
        cdef Problem inside = self.inside
        cdef double norm = inside.norm(), scale = 1
        cdef size_t j
        if norm > p.ball:
            scale = p.ball / norm
        with nogil:
            for j in range(p.d):
                p.weights[j] = scale * inside.weights[j]
            p.b = inside.b
            p.known = False
            p.predict()
            p.settle(False)


cdef class NewtonToCount(Solver):
    """The solution with the smallest strength at which at most N weights are not zero, assuming that their number grows
    while the strength falls; the final bracket is 0.1 % wide. The strength is the problem's l1.

    nonzeros: N. ValueError: a radius; a loss with kinks.
    """
    cdef Solver solver
    cdef size_t most
    cdef double low, high           # strengths with more, and with at most N weights
    cdef double strongest
    cdef readonly size_t strengths  # number of strengths tried

    def __init__(self, Problem problem not None, *, size_t nonzeros, uint64_t seed=1):
        super().__init__(problem, seed=seed)
        if problem.ball >= 0:
            raise ValueError("this solver does not take a radius")
        self.most = nonzeros
        self.solver = Newton(problem, seed=seed)

    @property
    def settled(self):
        """Whether the strength is found; its solution may still be inaccurate."""
        return self.low * 1.001 >= self.high and self.problem.l1 == self.high

    def stop(self):
        super().stop()
        self.solver.stop()

    def step(self):
        """One step at a strength, and another strength if that one is solved well enough to count nonzeros."""
        cdef Problem p = self.problem
        cdef bint known
        if self.changes == <size_t>-1:
            self.strongest = p.l1_max()
            self.low, self.high = 0, self.strongest
            p.set_l1(self.high / 2)
            self.changes = 0
        if self.done:
            return
        known = self.low * 1.001 >= self.high and p.l1 == self.high
        self.solver.step()
        self.accesses, self.columns = self.solver.accesses, self.solver.columns
        if known:
            if p.nonzeros > self.most:          # seen more closely
                self.low = p.l1
                self.high = 1.002 * self.high
                self.go(self.high)
            elif self.solver.done:
                self.done, self.why = True, self.solver.why
            return
        if self.solver.done or p.violation <= 1e-3 * p.l1:
            if p.nonzeros > self.most:
                self.low = p.l1
            else:
                self.high = p.l1
            if p.nonzeros == self.most:
                self.low = self.high
                return
            if self.low * 1.001 >= self.high:
                self.go(self.high)
            elif self.low > 0:
                self.go(sqrt(self.low) * sqrt(self.high))
            elif self.high < FADED * self.strongest or self.high == 0:
                self.low = self.high
            else:
                self.go(self.high / 2)

    cdef object go(self, double l1):
        if l1 != self.problem.l1:
            self.problem.set_l1(l1)
            self.strengths += 1
