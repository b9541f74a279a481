"""Coordinate descent: one weight after the other, each to the minimum of a bound on the objective.

With r_i = h_i l'(p_i), D_i = h_i l''(p_i) and g_j = sum_i r_i x_ij, weight j goes to the minimum over u of

    g_j (u - w_j) + B (u - w_j)^2 / 2 + l1 c_j |u| + l2 u^2 / 2.

Squared loss: B = 2 sum_i h_i x_ij^2, which is exact. Squared hinge: the same, a bound. Logistic and Poisson: as
D(p + s) <= e^|s| D(p), B = e^(|s| X_j) sum_i D_i x_ij^2 with X_j = max_i |x_ij| holds for a step of size s; a B is taken
that covers its own step, for logistic at most 1/4 sum_i h_i x_ij^2. So the objective never rises, without a line search.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from vwlite.core.base.elementary cimport exp_of
from vwlite.core.solve.columns cimport ByColumn, Columns, Entry, dot, fetch_column
from vwlite.core.solve.batch_losses cimport LOGISTIC, POISSON, SQUARED, SQUARED_HINGE, evaluate, is_smooth
from vwlite.core.solve.problem cimport Penalty, Problem, larger, minimizer, smaller, violation_of
from vwlite.core.solve.random cimport random_below
from vwlite.core.solve.solver cimport Solver

cdef enum:
    SWEEPS = 10         # of one step, at most
    RECOMPUTE = 16         # steps after which predictions are recomputed
    AHEAD = 2           # columns that are fetched before they are visited

cdef double BETTER = 0.1        # a step ends when the largest violation is this part of the first one
cdef double CLOSE = 1.2         # a bound on the curvature may be this much above the least one that covers its step


cdef class CoordinateDescent(Solver):
    """cd: random orders; coordinates that are zero and will stay zero are left out of a step (shrinking).

    Penalty l1, l2, weights of features, w >= 0, box; no ball. Smooth losses. The intercept: for squared loss eliminated
    exactly from each coordinate's step, for others refitted repeatedly.
    ValueError: a ball, or a loss with kinks.

    Friedman, Hastie, Tibshirani. Regularization Paths for Generalized Linear Models via Coordinate Descent. 2010.
    Shrinking: Yuan, Ho, Lin. An Improved GLMNET for L1-regularized Logistic Regression. JMLR 2012.
    """
    cdef double* bound              # [columns kept] sum_i h_i x_ij^2, times that of l''; below 0: not known yet
    cdef double* mean               # [columns kept] sum_i h_i x_ij
    cdef double* largest            # [columns kept] max_i |x_ij|
    cdef uint32_t* active           # [columns kept]
    cdef size_t steps
    cdef double excess              # squared loss: the sum of r, since the intercept was optimal
    cdef uint64_t unfitted          # entries read since the intercept was fitted

    def __init__(self, Problem problem not None, *, uint64_t seed=1):
        super().__init__(problem, seed=seed)
        if problem.ball >= 0:
            raise ValueError("coordinate descent does not take a radius")
        if not is_smooth(problem.loss):
            raise ValueError("coordinate descent does not take a loss with kinks")

    def __dealloc__(self):
        free(self.bound)
        free(self.mean)
        free(self.largest)
        free(self.active)

    cdef int prepare(self) except -1:
        cdef Problem p = self.problem
        cdef Columns columns
        cdef size_t size, k
        p.prepare()
        columns = p.columns
        size = 8 * (columns.a.size + 1)
        free(self.bound)
        free(self.mean)
        free(self.largest)
        free(self.active)
        self.bound, self.mean = <double*>malloc(size), <double*>malloc(size)
        self.largest, self.active = <double*>malloc(size), <uint32_t*>malloc(size)
        if self.bound == NULL or self.mean == NULL or self.largest == NULL or self.active == NULL:
            raise MemoryError("no memory for the coordinates")
        for k in range(columns.a.size):
            self.bound[k] = -1
        self.steps = 0
        self.accesses += 2 * columns.nonzeros
        return 0

    cdef void look_at(self, Problem p, uint32_t k) noexcept nogil:
        """A column that is visited for the first time."""
        cdef const ByColumn* a = &p.columns.a
        cdef size_t e
        cdef double squares = 0, sum = 0, most = 0, x, h
        cdef double beta = 0.25 if p.loss.kind == LOGISTIC else 2
        for e in range(a.begin[k], a.begin[k + 1]):
            x, h = a.entry[e].value, p.h[a.entry[e].row]
            squares += h * x * x
            sum += h * x
            most = larger(most, fabs(x))
        self.bound[k], self.mean[k], self.largest[k] = beta * squares, sum, most
        self.accesses += a.begin[k + 1] - a.begin[k]

    cdef int iterate(self, Problem p) except -1 nogil:
        cdef const ByColumn* a = &p.columns.a
        cdef size_t k, i, j, size = 0, sweep
        cdef double before = p.violation, limit, worst
        cdef Penalty penalty
        cdef bint moved = False
        for k in range(a.size):
            j = p.columns.rows_column[k]
            penalty = p.penalty_of(j)
            if p.weights[j] != 0 or violation_of(&penalty, 0, p.g[j]) > 0 or fabs(p.g[j]) > penalty.l1 - before / 10:
                self.active[size] = <uint32_t>k
                size += 1
        self.columns = size
        limit = before
        self.excess = self.unfitted = 0
        for sweep in range(SWEEPS):
            worst = self.sweep(p, &size, limit / 10, &moved)
            limit = worst
            if worst <= BETTER * before or self.stopped():
                break
        self.steps += 1
        if p.loss.kind == SQUARED:
            for i in range(p.n):
                p.predictions[i] = p.y[i] + p.r[i] / p.curved[i]
        if self.steps % RECOMPUTE == 0 or not moved:
            p.predict()
            self.accesses += p.rows.nonzeros
        p.settle(False)
        self.accesses += p.columns.nonzeros
        self.done = not (moved or self.stopped())
        return 0

    cdef double sweep(self, Problem p, size_t* size, double margin, bint* moved) noexcept nogil:
        """Visit the active coordinates in a random order; those that are zero and by more than `margin` inside of the
        penalty leave. The largest violation that was met."""
        cdef const ByColumn* a = &p.columns.a
        cdef size_t at, other, j
        cdef uint32_t k
        cdef double worst = 0, g, h, w, u, violation
        cdef bint eliminated = p.constant and p.loss.kind == SQUARED
        cdef Penalty penalty
        for at in range(size[0]):
            other = at + random_below(&self.random, size[0] - at)
            k = self.active[other]
            self.active[other] = self.active[at]
            self.active[at] = k
        at = 0
        while at < size[0]:
            if at + AHEAD < size[0]:
                fetch_column(a, self.active[at + AHEAD])
            k = self.active[at]
            j = p.columns.rows_column[k]
            if self.bound[k] < 0:
                self.look_at(p, k)
            w, penalty = p.weights[j], p.penalty_of(j)
            g = self.slope(p, k, &h)
            self.accesses += a.begin[k + 1] - a.begin[k]
            if eliminated:
                g -= self.excess * self.mean[k]
            violation = violation_of(&penalty, w, g)
            worst = larger(worst, violation)
            if w == 0 and fabs(g) < penalty.l1 - margin:
                size[0] -= 1
                self.active[at] = self.active[size[0]]
                self.active[size[0]] = k
                continue
            at += 1
            if violation == 0:
                continue
            u = self.target(k, &penalty, w, g, h)
            if u == w:
                continue
            p.weights[j] = u
            moved[0] = True
            self.move(p, k, u - w)
            if p.constant and not eliminated:
                self.unfitted += a.begin[k + 1] - a.begin[k]
                if self.unfitted > 8 * p.n:
                    p.fit_constant(False)
                    self.unfitted = 0
            if at % 256 == 0 and self.stopped():
                break
        return worst

    cdef double slope(self, Problem p, uint32_t k, double* h) noexcept nogil:
        """g_j, and for losses whose curvature changes sum_i D_i x_ij^2."""
        cdef const ByColumn* a = &p.columns.a
        cdef const double* r = p.r
        cdef const double* curved = p.curved
        cdef const Entry* entry = a.entry
        cdef size_t e
        cdef double g = 0, squares = 0, x
        if p.loss.kind == SQUARED or p.loss.kind == SQUARED_HINGE:
            h[0] = 0
            return dot(r, a, k)
        for e in range(a.begin[k], a.begin[k + 1]):
            x = entry[e].value
            g += r[entry[e].row] * x
            squares += curved[entry[e].row] * (x * x)
        h[0] = squares
        return g

    cdef double target(self, uint32_t k, const Penalty* penalty, double w, double g, double h) noexcept nogil:
        """The new value of the weight."""
        cdef double most = self.bound[k], low, high, middle, u
        if self.problem.loss.kind == SQUARED and self.problem.constant:
            most -= 2 * self.mean[k] * self.mean[k]
            most = larger(most, 1e-12 * self.bound[k])
        if most == 0:
            return w
        if self.problem.loss.kind == SQUARED or self.problem.loss.kind == SQUARED_HINGE:
            return minimizer(penalty, w, g, most)
        if self.problem.loss.kind == POISSON:
            most = INFINITY
        low = smaller(larger(h, 1e-12 * self.bound[k]), most)
        u = minimizer(penalty, w, g, low)
        high = smaller(most, low * exp_of(smaller(fabs(u - w) * self.largest[k], 500)))
        u = minimizer(penalty, w, g, high)
        while high > CLOSE * low:
            middle = sqrt(low) * sqrt(high)
            u = minimizer(penalty, w, g, middle)
            if h * exp_of(smaller(fabs(u - w) * self.largest[k], 500)) <= middle:
                high = middle
            else:
                low = middle
        return minimizer(penalty, w, g, high)

    cdef void move(self, Problem p, uint32_t k, double step) noexcept nogil:
        """Add to the weight in the predictions of its rows."""
        cdef const ByColumn* a = &p.columns.a
        cdef size_t e
        cdef uint32_t i
        cdef double dloss, curvature
        if p.loss.kind == SQUARED:
            for e in range(a.begin[k], a.begin[k + 1]):
                i = a.entry[e].row
                p.r[i] += p.curved[i] * (step * a.entry[e].value)
            self.excess += 2 * self.mean[k] * step
            return
        for e in range(a.begin[k], a.begin[k + 1]):
            i = a.entry[e].row
            p.predictions[i] += step * a.entry[e].value
            evaluate(p.loss, p.predictions[i], p.y[i], &dloss, &curvature)
            p.r[i], p.curved[i] = p.h[i] * dloss, p.h[i] * curvature
