"""Coordinate descent as in the paper: stochastic (scd) and deterministic (detcd).

The weights are w_j = u_j - u_{d+j} with u >= 0 in 2 d numbers, and x^ = [x; -x]. Coordinate k is updated by

    max(-u_k, -g_k / (B_k + l2)),   g_k = sum_i r_i x^_ik + l1 c_j + l2 w^_k,   r_i = h_i l'(p_i), w^ = [w; -w].

scd draws k uniformly from all 2 d; detcd takes the k with the largest guaranteed decrease, - (g_k step + (B_k + l2)
step^2 / 2). B_k is beta max_i x_ik^2, as in the paper, or the smaller beta sum_i h_i x_ik^2, which is a bound as well;
beta bounds l'': 2 for squared loss and squared hinge, 1/4 for logistic. What never rises is sum_i h_i l(p_i) + l1 sum_k
c u_k + l2 / 2 ||w||^2, which is the objective as long as no weight has two parts. The paper has no intercept: here it
is fitted at the end of every step, and whenever 8 n entries of columns have been moved.

`accesses` counts what the paper plots: the entries of each column that is visited, once a visit, whether the weight
moves or not, as a pass of an online algorithm counts each entry once. Reads for the evaluation of the problem are not
counted.

Shalev-Shwartz, Tewari. Stochastic Methods for l1 Regularized Loss Minimization. ICML 2009; algorithms 1 and 2.
"""

from libc.math cimport fabs
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free, malloc

from vwlite.core.solve.columns cimport NOT_KEPT, ByColumn, dot
from vwlite.core.solve.batch_losses cimport LOGISTIC, POISSON, evaluate, is_smooth
from vwlite.core.solve.problem cimport Penalty, Problem, larger, smaller
from vwlite.core.solve.random cimport random_below
from vwlite.core.solve.solver cimport Solver

cdef enum:
    RECOMPUTE = 16         # steps after which predictions are recomputed
    GREEDY_VISITS = 10  # of a step of detcd, each of which reads all columns

cdef double ROUNDING = 1e-14    # relative: a smaller step counts as 0


cdef class _Halves(Solver):
    """The common part of both. The weights are those of the problem, computed from `u`."""
    cdef bint tight                 # beta is that of the mean
    cdef size_t visits              # of a step; 0: the default
    cdef double* u                  # [2 d]
    cdef size_t* entries            # [d] of each column, kept or not
    cdef double* bound              # [columns kept] B
    cdef size_t steps
    cdef uint64_t unfitted          # entries moved since the intercept was fitted

    def __init__(self, Problem problem not None, *, uint64_t seed=1, str beta="mean", size_t visits=0):
        super().__init__(problem, seed=seed)
        if beta not in ("mean", "paper"):
            raise ValueError(f"beta is {beta!r}: it is mean or paper")
        if problem.ball >= 0:
            raise ValueError("coordinate descent does not take a radius")
        if not is_smooth(problem.loss) or problem.loss.kind == POISSON:
            raise ValueError("the paper's coordinate descent takes a loss whose curvature is bounded")
        self.tight, self.visits = beta == "mean", visits

    def __dealloc__(self):
        free(self.u)
        free(self.entries)
        free(self.bound)

    @property
    def halves(self):
        """u, as a list. For tests."""
        return [self.u[k] for k in range(2 * self.problem.d)] if self.u != NULL else []

    cdef int prepare(self) except -1:
        cdef Problem p = self.problem
        cdef size_t i, j
        p.prepare()
        if self.u == NULL:
            self.u = <double*>calloc(2 * p.d + 1, 8)
            self.entries = <size_t*>calloc(p.d + 1, sizeof(size_t))
            if self.u == NULL or self.entries == NULL:
                raise MemoryError("no memory for the coordinates")
            for i in range(p.n):
                for j in range(p.rows.a.begin[i], p.rows.a.begin[i + 1]):
                    self.entries[p.rows.a.index[j]] += 1
        free(self.bound)
        self.bound = <double*>malloc(8 * (p.columns.a.size + 1))
        if self.bound == NULL:
            raise MemoryError("no memory for the coordinates")
        with nogil:
            self.look_at_columns(p)
            for j in range(p.d):
                if p.weights[j] != self.u[j] - self.u[p.d + j]:
                    self.u[j], self.u[p.d + j] = larger(p.weights[j], 0), larger(-p.weights[j], 0)
        self.steps = 0
        return 0

    cdef void look_at_columns(self, Problem p) noexcept nogil:
        cdef const ByColumn* a = &p.columns.a
        cdef size_t k, e
        cdef double squares, most, x
        cdef double beta = 0.25 if p.loss.kind == LOGISTIC else 2
        for k in range(a.size):
            squares = most = 0
            for e in range(a.begin[k], a.begin[k + 1]):
                x = a.entry[e].value
                squares += p.h[a.entry[e].row] * x * x
                most = larger(most, x * x)
            self.bound[k] = beta * (squares if self.tight else most)

    cdef double step_of(self, Problem p, size_t column, double g, bint negative, double* gain) noexcept nogil:
        """The step of one of the two numbers of a column that is kept, and what it promises. g: of the mean loss by the
        weight."""
        cdef size_t j = p.columns.rows_column[column]
        cdef double u = self.u[j + p.d if negative else j], step
        cdef double h = self.bound[column] + p.l2
        cdef Penalty penalty = p.penalty_of(j)
        g += p.l2 * p.weights[j]
        g = penalty.l1 + (-g if negative else g)
        if h > 0:
            step = -g / h
        else:               # the loss does not depend on it
            step = -u if g > 0 else 0
        step = smaller(larger(step, -u), penalty.high - u)
        if fabs(step) <= ROUNDING * u:
            step = 0
        gain[0] = -(g * step + h * step * step / 2)
        return step

    cdef void move(self, Problem p, size_t column, double step, bint negative) noexcept nogil:
        """Add to one of the two numbers of a column, and to the predictions of its rows."""
        cdef const ByColumn* a = &p.columns.a
        cdef size_t e, i, j = p.columns.rows_column[column]
        cdef double dloss, curvature, before = p.weights[j]
        self.u[j + p.d if negative else j] += step
        p.weights[j] = self.u[j] - self.u[p.d + j]
        step = p.weights[j] - before
        for e in range(a.begin[column], a.begin[column + 1]):
            i = a.entry[e].row
            p.predictions[i] += step * a.entry[e].value
            evaluate(p.loss, p.predictions[i], p.y[i], &dloss, &curvature)
            p.r[i] = p.h[i] * dloss
        self.unfitted += self.entries[j]
        if p.constant and self.unfitted > 8 * p.n:
            p.fit_constant(False)
            self.unfitted = 0

    cdef void finish(self, Problem p) noexcept nogil:
        """The end of a step."""
        self.columns = p.columns.a.size
        self.steps += 1
        if self.steps % RECOMPUTE == 0:
            p.predict()
        p.settle(False)
        self.unfitted = 0


cdef class StochasticCoordinateDescent(_Halves):
    """scd: coordinates drawn from all 2 d alike, of which half go down and half up (with w >= 0: from the d that go up).

    beta: mean, or paper: by which bound on the curvature. visits: of one step; 0: one for each of the 2 d numbers.
    Squared, logistic, squared hinge; penalty l1, l2, weights of features, w >= 0, box.
    ValueError: another beta, a radius, another loss.
    """

    cdef int iterate(self, Problem p) except -1 nogil:
        cdef size_t many = p.d if p.nonnegative else 2 * p.d
        cdef size_t visit, k, j, column
        cdef double step, gain
        if many == 0:
            self.finish(p)
            return 0
        for visit in range(self.visits if self.visits else many):
            k = random_below(&self.random, many)
            j = k - p.d if k >= p.d else k
            self.accesses += self.entries[j]
            column = p.columns.position[j]
            if column == NOT_KEPT:      # it is 0 and has |g| < l1: the step is 0
                continue
            step = self.step_of(p, column, dot(p.r, &p.columns.a, column), k >= p.d, &gain)
            if step != 0:
                self.move(p, column, step, k >= p.d)
            if visit % 256 == 255 and self.stopped():
                break
        self.finish(p)
        return 0


cdef class DeterministicCoordinateDescent(_Halves):
    """detcd: each step takes the coordinate with the largest bound of its gain, by the whole gradient.

    beta: mean, or paper: by which bound on the curvature. visits: of one step; 0: 10.
    Losses, penalties and errors as `StochasticCoordinateDescent`.
    """

    cdef int iterate(self, Problem p) except -1 nogil:
        cdef const ByColumn* a = &p.columns.a
        cdef size_t visit, column, best
        cdef double step, gain, g, most, best_step
        cdef bint negative, best_negative
        for visit in range(self.visits if self.visits else GREEDY_VISITS):
            most, best, best_step, best_negative = 0, 0, 0, False
            for column in range(a.size):
                g = dot(p.r, a, column)
                for negative in range(1 if p.nonnegative else 2):
                    step = self.step_of(p, column, g, negative, &gain)
                    if gain > most:
                        most, best, best_step, best_negative = gain, column, step, negative
            self.accesses += p.rows.nonzeros
            if most == 0 or self.stopped():
                break
            self.move(p, best, best_step, best_negative)
        self.finish(p)
        return 0
