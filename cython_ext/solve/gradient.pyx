"""First-order methods on the l1 ball or the simplex, for one class or for several with a ball each.

    projected-gradient  w+ = Pi(w - t g), b+ = b - t sum_i r_i: the intercept is neither penalised nor projected.
                        armijo: t is halved until L(w+) <= L(w) + <g, w+ - w> + ||w+ - w||^2 / (2 t), and the next step
                        starts with 1.3 t; fixed: t = eta0; sqrt: t = eta0 / sqrt(k) for step k.
    accelerated         the same, backtracking, from v = w+ + (th - 1) / th+ (w+ - w), th+ = (1 + sqrt(1 + 4 th^2)) / 2;
                        th = 1 again when <v - w+, w+ - w> > 0.
    frank-wolfe         w+ = w + t (s - w), s the corner of the set where <g, s> is least: one coordinate a step. t = min(1,
                        <g, w - s> / q), q a bound on the curvature from w to s, so that the objective never rises. The
                        intercept is fitted before and after.

Pi is the Euclidean projection of `vwlite.core.projection`: onto sum_j c_j |w_j| <= radius, w >= 0 if asked for, or onto
the simplex, sum_j c_j w_j = radius. With several classes, each has its own.

Near the optimum a difference of two losses is dominated by rounding; there it is replaced by the curvature along the
step, 1/2 of sum_i (r+_i - r_i) (p+_i - p_i).

Frank, Wolfe. An Algorithm for Quadratic Programming. 1956; Clarkson. Coresets, Sparse Greedy Approximation, and the
Frank-Wolfe Algorithm. 2008: what section 1.1 of Shalev-Shwartz, Tewari. Stochastic Methods for l1 Regularized Loss
Minimization. ICML 2009 compares with.
L1B: Duchi, Shalev-Shwartz, Singer, Chandra. Efficient Projections onto the l1-Ball. ICML 2008; section 6.
Accelerated: Beck, Teboulle. A Fast Iterative Shrinkage-Thresholding Algorithm. 2009; restarts: O'Donoghue, Candes.
Adaptive Restart for Accelerated Gradient Schemes. 2015.
"""

import array

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset

from vwlite.core.solve.batch_losses cimport LOGISTIC, POISSON, is_smooth
from vwlite.core.solve.problem cimport Problem, larger, smaller, total
from vwlite.core.solve.rows cimport Sparse
from vwlite.core.solve.softmax cimport SoftmaxProblem
from vwlite.core.solve.solver cimport Solver

from vwlite.core.projection import project_general, project_plain

cdef double GROWTH = 1.3
cdef double NOISE = 1e-9


cdef class FirstOrder(Solver):
    """The common part: the weights of one class or of several as one array, gradients, projection.

    iterations: gradients of one step; 0: 10, or as many samples as make a pass.
    """

    def __init__(self, Problem problem not None, *, uint64_t seed=1, eta0=None, size_t iterations=0):
        super().__init__(problem, seed=seed)
        if problem.ball < 0:
            raise ValueError("this solver takes a radius")
        if eta0 is not None and not 0 < eta0 < INFINITY:
            raise ValueError("eta0 is a number above 0")
        self.softmax = problem if isinstance(problem, SoftmaxProblem) else None
        self.classes = 1 if self.softmax is None else self.softmax.classes
        self.n, self.d, self.size = problem.n, problem.d, self.classes * problem.d
        self.iterations, self.eta0 = iterations, -1 if eta0 is None else eta0
        self.b_slope, self.b_left = self.allocate(self.classes), self.allocate(self.classes)
        self.left = self.allocate(self.size)
        self.given, self.projected = array.array("d", bytes(8 * self.d + 8)), array.array("d", bytes(8 * self.d + 8))
        if problem.c != NULL:
            self.of_penalty = array.array("d", bytes(8 * self.d + 8))

    def __dealloc__(self):
        free(self.b_slope)
        free(self.left)
        free(self.b_left)

    cdef double* allocate(self, size_t items) except NULL:
        cdef double* found = <double*>calloc(items + 1, 8)
        if found == NULL:
            raise MemoryError("no memory for the gradients")
        return found

    cdef int prepare(self) except -1:
        cdef Problem p = self.problem
        if self.softmax is None:
            self.w, self.g, self.b = p.weights, p.g, &p.b
            self.r, self.predictions = p.r, p.predictions
        else:
            self.w, self.g, self.b = self.softmax.every_weight, self.softmax.every_g, self.softmax.constants
            self.r, self.predictions = self.softmax.every_r, self.softmax.every_prediction
        self.columns = self.d
        if self.started and self.is_as_left():
            return 0
        self.k = 0
        with nogil:
            self.t = self.safe_rate()
            if self.eta0 > 0:
                self.t = self.eta0
            self.restart()
            self.finish()
        self.started = True
        return 0

    cdef int restart(self) except -1 nogil:
        """Start from the weights of the problem, projected onto the set."""
        cdef size_t c
        for c in range(self.classes):
            self.project(c)
        return 0

    cdef bint is_as_left(self) noexcept nogil:
        return (memcmp(self.w, self.left, 8 * self.size) == 0 and memcmp(self.b, self.b_left, 8 * self.classes) == 0)

    cdef void finish(self) noexcept nogil:
        """The end of a step: evaluate the problem."""
        self.problem.whole()
        self.accesses += 2 * self.problem.rows.nonzeros
        memcpy(self.left, self.w, 8 * self.size)
        memcpy(self.b_left, self.b, 8 * self.classes)

    cdef double most_curved(self) noexcept nogil:
        """A bound on l'', for several classes on the curvature along any direction of the scores; 1 without a bound."""
        if self.softmax is not None:
            return 0.5
        if self.problem.loss.kind == LOGISTIC:
            return 0.25
        return 2 if is_smooth(self.problem.loss) else 1

    cdef double safe_rate(self) noexcept nogil:
        """1 over a bound on the curvature of the mean loss, max_i ||x_i||^2 times that of l. For Poisson's, which has
        none, just a rate to begin with."""
        cdef const Sparse* a = &self.problem.rows.a
        cdef size_t i, e
        cdef double most = 0, squares
        for i in range(self.n):
            squares = 1 if self.problem.constant else 0
            for e in range(a.begin[i], a.begin[i + 1]):
                squares += <double>a.value[e] * a.value[e]
            most = larger(most, squares)
        most = most * self.most_curved() + self.problem.l2
        return 1 / most if most > 0 else 1

    # --- values, gradients, projections ------------------------------------------------------

    cdef double value(self) noexcept nogil:
        """Predictions and r at the weights; the mean loss, with l2."""
        self.problem.predict()
        self.accesses += self.problem.rows.nonzeros
        return self.problem.lose() + self.squares(self.w)

    cdef double squares(self, const double* w) noexcept nogil:
        cdef size_t j
        cdef double found = 0
        if self.problem.l2 > 0:
            for j in range(self.size):
                found += w[j] * w[j]
        return self.problem.l2 / 2 * found

    cdef void slopes(self, const double* w) noexcept nogil:
        """g and b_slope, from r."""
        cdef size_t j, c
        self.problem.gradient(False)
        self.accesses += self.problem.rows.nonzeros
        if self.problem.l2 > 0:
            for j in range(self.size):
                self.g[j] += self.problem.l2 * w[j]
        for c in range(self.classes):
            self.b_slope[c] = total(self.r + c * self.n, self.n) if self.problem.constant else 0

    cdef int project(self, size_t c) except -1 nogil:
        """The weights of a class onto the set."""
        cdef size_t j
        if self.d == 0:
            return 0
        memcpy(&self.given[0], self.w + c * self.d, 8 * self.d)
        if self.problem.c != NULL:
            memcpy(&self.of_penalty[0], self.problem.c, 8 * self.d)
        self.project_given(self.problem, self.d)
        for j in range(self.d):
            self.w[c * self.d + j] = self.projected[j]
        return 0

    cdef int project_given(self, Problem p, size_t m) except -1 nogil:
        """`given` onto the set, as `projected`: m numbers, and their weights in the penalty."""
        cdef size_t j
        cdef double shift, along = 0, squares = 0, top = 0, top_c = 0
        cdef bint unweighted = p.c == NULL
        if m == 0:
            return 0
        if p.simplex and not unweighted:
            # Along c nothing changes the projection: enough of it, and theta is not below 0.
            for j in range(m):
                along += self.of_penalty[j] * self.given[j]
                squares += self.of_penalty[j] * self.of_penalty[j]
            shift = larger((p.ball - along) / squares, 0)
            for j in range(m):
                self.given[j] += shift * self.of_penalty[j]
        if p.nonnegative and not (p.simplex and unweighted):
            for j in range(m):
                self.given[j] = larger(self.given[j], 0)
        with gil:
            if unweighted:
                project_plain(self.given[:m], p.ball, p.simplex, self.projected[:m])
            else:
                for j in range(m):
                    top, top_c = larger(top, fabs(self.given[j])), larger(top_c, self.of_penalty[j])
                project_general(self.given[:m], p.ball, self.of_penalty[:m], INFINITY, 1 / power_of_two(top),
                                1 / power_of_two(top_c), self.projected[:m])
        return 0


cdef double power_of_two(double x) noexcept nogil:
    """The least power of two above x, between 2^-1000 and 2^1000."""
    cdef double found = 1
    while found <= x and found < 1e300:
        found *= 2
    while found > 2 * x and found > 1e-300:
        found /= 2
    return found


cdef class ProjectedGradient(FirstOrder):
    """projected-gradient: the gradient of all examples, and the projection.

    step: armijo, fixed or sqrt. eta0: the first t, or that of all; None: 1 over a bound on the curvature of the mean
    loss, with which the objective never rises (not for Poisson loss). iterations: gradients of one step; 0: 10.
    Losses without kinks; a radius, simplex, w >= 0, weights of features, l2; one class or several.
    ValueError: another step, no radius, a loss with kinks.
    """
    cdef bint backtracks, accelerates, halves_with_time
    cdef double momentum            # th
    cdef double value_v             # L(v)
    # Owned: the start of the next step; [classes, d], [classes] or [classes, n].
    cdef double* last               # w
    cdef double* b_last
    cdef double* predictions_last
    cdef double* v
    cdef double* b_v
    cdef double* predictions_v
    cdef double* r_v
    cdef double* g_v
    cdef double* b_slope_v

    def __init__(self, Problem problem not None, *, uint64_t seed=1, str step="armijo", eta0=None, size_t iterations=0):
        super().__init__(problem, seed=seed, eta0=eta0, iterations=iterations)
        if step not in ("armijo", "fixed", "sqrt"):
            raise ValueError(f"step is {step!r}: it is armijo, fixed or sqrt")
        if not is_smooth(problem.loss):
            raise ValueError("this solver does not take a loss with kinks")
        self.backtracks, self.halves_with_time = step == "armijo", step == "sqrt"
        self.last, self.v, self.g_v = self.allocate(self.size), self.allocate(self.size), self.allocate(self.size)
        self.b_last, self.b_v = self.allocate(self.classes), self.allocate(self.classes)
        self.b_slope_v = self.allocate(self.classes)
        self.predictions_last = self.allocate(self.classes * self.n)
        self.predictions_v = self.allocate(self.classes * self.n)
        self.r_v = self.allocate(self.classes * self.n)

    def __dealloc__(self):
        free(self.last)
        free(self.v)
        free(self.g_v)
        free(self.b_last)
        free(self.b_v)
        free(self.b_slope_v)
        free(self.predictions_last)
        free(self.predictions_v)
        free(self.r_v)

    cdef int restart(self) except -1 nogil:
        FirstOrder.restart(self)
        self.momentum = 1
        memcpy(self.last, self.w, 8 * self.size)
        memcpy(self.b_last, self.b, 8 * self.classes)
        self.value_v = self.value()
        memcpy(self.predictions_last, self.predictions, 8 * self.classes * self.n)
        self.take_v()
        return 0

    cdef void take_v(self) noexcept nogil:
        """The weights of the problem are v, with predictions and r: keep them, and the gradient there."""
        memcpy(self.v, self.w, 8 * self.size)
        memcpy(self.b_v, self.b, 8 * self.classes)
        memcpy(self.predictions_v, self.predictions, 8 * self.classes * self.n)
        memcpy(self.r_v, self.r, 8 * self.classes * self.n)
        self.slopes(self.w)
        memcpy(self.g_v, self.g, 8 * self.size)
        memcpy(self.b_slope_v, self.b_slope, 8 * self.classes)

    cdef int iterate(self, Problem p) except -1 nogil:
        cdef size_t round
        memcpy(self.w, self.last, 8 * self.size)
        memcpy(self.b, self.b_last, 8 * self.classes)
        for round in range(self.iterations if self.iterations else <size_t>WHOLE_GRADIENTS):
            if self.stopped():
                break
            self.k += 1
            if not self.descend():
                self.done = True
                break
        self.finish()
        return 0

    cdef bint descend(self) except -1 nogil:
        """One step from v to the next. False: it leads nowhere."""
        cdef size_t j, c
        cdef double t = self.t, reached, moved, by_weights, promised, curved, change, slow, back
        cdef bint good
        if self.halves_with_time:
            t /= sqrt(<double>self.k)
        while True:
            moved = promised = 0
            for j in range(self.size):
                self.w[j] = self.v[j] - t * self.g_v[j]
            for c in range(self.classes):
                self.project(c)
                change = -t * self.b_slope_v[c]
                self.b[c] = self.b_v[c] + change
                moved += change * change
                promised += self.b_slope_v[c] * change
            by_weights = 0
            for j in range(self.size):
                change = self.w[j] - self.v[j]
                by_weights += change * change
                promised += self.g_v[j] * change
            moved += by_weights
            reached = self.value()
            if not self.backtracks:
                break
            moved /= 2 * t
            if moved < NOISE * fabs(self.value_v):
                curved = self.problem.l2 / 2 * by_weights
                for j in range(self.classes * self.n):
                    curved += (self.r[j] - self.r_v[j]) * (self.predictions[j] - self.predictions_v[j]) / 2
                good = curved <= moved * (1 + 1e-9)
            else:
                good = reached <= self.value_v + promised + moved
            if good:
                break
            t /= 2
            if t < 1e-300:
                memcpy(self.w, self.last, 8 * self.size)
                memcpy(self.b, self.b_last, 8 * self.classes)
                return False
        if moved == 0 and self.momentum == 1:
            return False
        if self.backtracks:
            self.t = smaller(GROWTH * t, 1e290)
        slow = 0
        if self.accelerates:
            back = 0
            for j in range(self.size):
                back += (self.v[j] - self.w[j]) * (self.w[j] - self.last[j])
            for c in range(self.classes):
                back += (self.b_v[c] - self.b[c]) * (self.b[c] - self.b_last[c])
            if back > 0:
                self.momentum = 1
            else:
                slow = self.momentum - 1
                self.momentum = (1 + sqrt(1 + 4 * self.momentum * self.momentum)) / 2
                slow /= self.momentum
        self.extrapolate(slow, reached)
        return True

    cdef void extrapolate(self, double by, double reached) noexcept nogil:
        """v = w + by (w - last), and all that is known there; w is the last one then, and in the problem."""
        cdef size_t j, c
        cdef double now
        if by == 0:
            memcpy(self.last, self.w, 8 * self.size)
            memcpy(self.b_last, self.b, 8 * self.classes)
            memcpy(self.predictions_last, self.predictions, 8 * self.classes * self.n)
            self.value_v = reached
            self.take_v()
            return
        for j in range(self.size):
            now = self.w[j]
            self.w[j] += by * (now - self.last[j])
            self.last[j] = now
        for c in range(self.classes):
            now = self.b[c]
            self.b[c] += by * (now - self.b_last[c])
            self.b_last[c] = now
        for j in range(self.classes * self.n):
            now = self.predictions[j]
            self.predictions[j] += by * (now - self.predictions_last[j])
            self.predictions_last[j] = now
        self.value_v = self.problem.lose() + self.squares(self.w)
        self.take_v()
        memcpy(self.w, self.last, 8 * self.size)
        memcpy(self.b, self.b_last, 8 * self.classes)


cdef class AcceleratedGradient(ProjectedGradient):
    """accelerated: projected gradient with momentum, backtracking and restarts. The objective may rise on the way.

    eta0: the first t; None: as for `ProjectedGradient`. iterations, losses, penalties, errors: as there.
    """

    def __init__(self, Problem problem not None, *, uint64_t seed=1, eta0=None, size_t iterations=0):
        super().__init__(problem, seed=seed, eta0=eta0, iterations=iterations)
        self.accelerates = True


cdef class FrankWolfe(FirstOrder):
    """frank-wolfe: each step goes towards one corner of the set, so that it moves one weight and shrinks the others.

    iterations: gradients of one step; 0: 10. Squared, logistic, squared hinge; a radius, simplex, w >= 0, weights of
    features, l2; one class. ValueError: no radius, another loss, several classes.
    """
    cdef double* start              # [d] w
    cdef double* predictions_start  # [n]

    def __init__(self, Problem problem not None, *, uint64_t seed=1, size_t iterations=0):
        super().__init__(problem, seed=seed, iterations=iterations)
        if self.softmax is not None or not is_smooth(problem.loss) or problem.loss.kind == POISSON:
            raise ValueError("frank-wolfe takes one class, and a loss whose curvature is bounded")
        self.start, self.predictions_start = self.allocate(self.d), self.allocate(self.n)

    def __dealloc__(self):
        free(self.start)
        free(self.predictions_start)

    cdef int iterate(self, Problem p) except -1 nogil:
        cdef size_t round
        for round in range(self.iterations if self.iterations else <size_t>WHOLE_GRADIENTS):
            if self.stopped():
                break
            self.k += 1
            self.fit_constant(p)
            self.slopes(self.w)
            if not self.approach_corner(p):
                self.done = True
                break
            self.fit_constant(p)
        self.finish()
        return 0

    cdef void fit_constant(self, Problem p) noexcept nogil:
        p.predict()
        p.fit_constant(False)
        self.accesses += p.rows.nonzeros

    cdef bint approach_corner(self, Problem p) noexcept nogil:
        """w <- w + t (s - w). False: it leads nowhere."""
        cdef size_t j, corner = 0
        cdef double least = INFINITY if p.simplex else 0, at_corner = 0, at, slope = 0, curved = 0, t, change
        for j in range(self.d):
            at = p.ball / p.c[j] if p.c != NULL else p.ball
            if self.g[j] > 0 and not (p.simplex or p.nonnegative):
                at = -at
            if self.g[j] * at < least:
                least, corner, at_corner = self.g[j] * at, j, at
            slope += self.g[j] * self.w[j]
        slope -= least
        if not 0 < slope < INFINITY:
            return False
        memcpy(self.start, self.w, 8 * self.d)
        memcpy(self.predictions_start, self.predictions, 8 * self.n)
        memset(self.w, 0, 8 * self.d)
        if at_corner != 0:              # else s = 0
            self.w[corner] = at_corner
        p.predict()
        self.accesses += p.rows.nonzeros
        for j in range(self.n):
            change = self.predictions[j] - self.predictions_start[j]
            curved += p.h[j] * change * change
        curved *= self.most_curved()
        for j in range(self.d):
            change = self.w[j] - self.start[j]
            curved += p.l2 * change * change
        t = smaller(slope / curved, 1) if curved > 0 else 1
        for j in range(self.d):
            self.w[j] = self.start[j] + t * (self.w[j] - self.start[j])
        return True
