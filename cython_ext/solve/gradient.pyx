"""First-order methods on the l1 ball or the simplex, for one class or for several with a ball each.

    projected-gradient  w+ = Pi(w - t g), b+ = b - t sum_i r_i: the constant is neither penalised nor projected.
                        armijo: t is halved until L(w+) <= L(w) + <g, w+ - w> + ||w+ - w||^2 / (2 t), and the next step
                        begins with 1.3 t; fixed: t = eta0; sqrt: t = eta0 / sqrt(k) for step k.
    accelerated         the same, backtracking, from v = w+ + (th - 1) / th+ (w+ - w), th+ = (1 + sqrt(1 + 4 th^2)) / 2;
                        th = 1 again when <v - w+, w+ - w> > 0.
    minibatch           projected gradient with the gradient of a sample, n / |S| sum over S of r_i x_i.
    eg, eg-pm           w_i <- w_i exp(-eta g_i / c_i) / Z on the simplex; on the ball, two such vectors, w = w+ - w-,
                        which have the radius together. With the gradient of all examples or of a sample.

Pi is the Euclidean projection of `vwlite.core.projection`: onto sum_j c_j |w_j| <= radius, w >= 0 if asked for, or onto
the simplex, sum_j c_j w_j = radius. With several classes, each has its own.

Near the optimum a difference of two losses is rounding; there the curvature along the step stands for it, 1/2 of
sum_i (r+_i - r_i) (p+_i - p_i).

L1B: Duchi, Shalev-Shwartz, Singer, Chandra. Efficient Projections onto the l1-Ball. ICML 2008; section 7, eq. 13.
Accelerated: Beck, Teboulle. A Fast Iterative Shrinkage-Thresholding Algorithm. 2009; restarts: O'Donoghue, Candes.
Adaptive Restart for Accelerated Gradient Schemes. 2015.
"""

import array

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset

from vwlite.core.base.elementary cimport exp_of
from vwlite.core.solve.losses cimport LOGISTIC, evaluate, is_smooth, log_of
from vwlite.core.solve.problem cimport Problem, larger, smaller, total
from vwlite.core.solve.random cimport random_below
from vwlite.core.solve.rows cimport Sparse, visit
from vwlite.core.solve.softmax cimport SoftmaxProblem, softmax_row
from vwlite.core.solve.solver cimport Solver

from vwlite.core.projection import project_general, project_plain

cdef enum:
    WHOLE_GRADIENTS = 10    # of one step, when each is of all examples

cdef double GROWTH = 1.3        # of t, from one step to the next
cdef double NOISE = 1e-9        # of the loss: what is promised below this is judged by the curvature
cdef double FAR = 700           # below a logarithm: no mass
cdef double INNER = 0.1         # of the mass is for weights that are zero, at the start of eg


cdef inline double mass_of(double logarithm) noexcept nogil:
    return exp_of(smaller(logarithm, FAR)) if logarithm > -FAR else 0


cdef class _FirstOrder(Solver):
    """What all have: the weights of one class or of several as one array, gradients, projection.

    iterations: gradients of one step; 0: 10, or as many samples as make a pass.
    """
    cdef SoftmaxProblem softmax     # None: one class
    cdef size_t classes, n, d, size     # size: classes * d
    cdef size_t iterations
    cdef double eta0, t
    cdef uint64_t k                 # gradients so far
    cdef bint begun
    # Those of the problem.
    cdef double* w                  # [classes, d]
    cdef double* g                  # [classes, d]
    cdef double* b                  # [classes]
    cdef double* r                  # [classes, n]
    cdef double* predictions        # [classes, n]
    # Owned.
    cdef double* b_slope            # [classes]
    cdef double* left               # [classes, d] the weights as the last step left them
    cdef double* b_left             # [classes]
    cdef double[::1] given, projected, of_penalty

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
        self.b_slope, self.b_left = self.room(self.classes), self.room(self.classes)
        self.left = self.room(self.size)
        self.given, self.projected = array.array("d", bytes(8 * self.d + 8)), array.array("d", bytes(8 * self.d + 8))
        if problem.c != NULL:
            self.of_penalty = array.array("d", bytes(8 * self.d + 8))

    def __dealloc__(self):
        free(self.b_slope)
        free(self.left)
        free(self.b_left)

    cdef double* room(self, size_t items) except NULL:
        cdef double* found = <double*>calloc(items + 1, 8)
        if found == NULL:
            raise MemoryError("no memory for the gradients")
        return found

    cdef int begin(self) except -1:
        cdef Problem p = self.problem
        if self.softmax is None:
            self.w, self.g, self.b = p.weights, p.g, &p.b
            self.r, self.predictions = p.r, p.predictions
        else:
            self.w, self.g, self.b = self.softmax.every_weight, self.softmax.every_g, self.softmax.constants
            self.r, self.predictions = self.softmax.every_r, self.softmax.every_prediction
        self.columns = self.d
        if self.begun and self.is_as_left():
            return 0
        self.k = 0
        with nogil:
            self.t = self.safe_rate()
            if self.eta0 > 0:
                self.t = self.eta0
            self.restart()
            self.finish()
        self.begun = True
        return 0

    cdef int restart(self) except -1 nogil:
        """Begin from the weights of the problem, brought into the set."""
        cdef size_t c
        for c in range(self.classes):
            self.project(c)
        return 0

    cdef bint is_as_left(self) noexcept nogil:
        return (memcmp(self.w, self.left, 8 * self.size) == 0 and memcmp(self.b, self.b_left, 8 * self.classes) == 0)

    cdef void finish(self) noexcept nogil:
        """The end of a step: where the problem stands."""
        self.problem.whole()
        self.accesses += 2 * self.problem.rows.nonzeros
        memcpy(self.left, self.w, 8 * self.size)
        memcpy(self.b_left, self.b, 8 * self.classes)

    cdef double most_curved(self) noexcept nogil:
        """A bound on l'', for several classes on the curvature along any direction of the scores; 1 if there is none."""
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
            visit(a, i)
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
        cdef bint plain = p.c == NULL
        if m == 0:
            return 0
        if p.simplex and not plain:
            # Along c nothing changes the projection: enough of it, and theta is not below 0.
            for j in range(m):
                along += self.of_penalty[j] * self.given[j]
                squares += self.of_penalty[j] * self.of_penalty[j]
            shift = larger((p.ball - along) / squares, 0)
            for j in range(m):
                self.given[j] += shift * self.of_penalty[j]
        if p.nonnegative and not (p.simplex and plain):
            for j in range(m):
                self.given[j] = larger(self.given[j], 0)
        with gil:
            if plain:
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


cdef class ProjectedGradient(_FirstOrder):
    """projected-gradient: the gradient of all examples, and the projection.

    step: armijo, fixed or sqrt. eta0: the first t, or that of all; None: 1 over a bound on the curvature of the mean
    loss, with which the objective never rises (Poisson's has none). iterations: gradients of one step; 0: 10.
    Losses without kinks; a radius, simplex, w >= 0, weights of features, l2; one class or several.
    ValueError: another step, no radius, a loss with kinks.
    """
    cdef bint backtracks, accelerates, halves_with_time
    cdef double momentum            # th
    cdef double value_v             # L(v)
    # Owned: what the next step begins from; [classes, d], [classes] or [classes, n].
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
        self.last, self.v, self.g_v = self.room(self.size), self.room(self.size), self.room(self.size)
        self.b_last, self.b_v = self.room(self.classes), self.room(self.classes)
        self.b_slope_v = self.room(self.classes)
        self.predictions_last, self.predictions_v = self.room(self.classes * self.n), self.room(self.classes * self.n)
        self.r_v = self.room(self.classes * self.n)

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
        _FirstOrder.restart(self)
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


cdef class _Sampled(_FirstOrder):
    """Gradients of samples, drawn without replacement: their columns, and `sample_g` there.

    batch: the number of examples, all if there are fewer, or if below 1 the fraction of all; None: all of them.
    """
    cdef size_t batch               # 0: all
    cdef int power                  # the rate falls with k^(power / 2)
    cdef uint32_t* order            # [n]
    cdef uint32_t* touched          # [d] columns of the sample
    cdef size_t many_touched
    cdef uint8_t* is_touched        # [d]
    cdef double* sample_g           # [classes, d] 0 elsewhere
    cdef double* scores             # [2, classes] of one row, and its r
    cdef double* factor             # [classes] by which the weights that are kept are multiplied

    def __init__(self, Problem problem not None, *, uint64_t seed=1, str step="sqrt", eta0=None, batch=None,
                 size_t iterations=0):
        cdef size_t i
        super().__init__(problem, seed=seed, eta0=eta0, iterations=iterations)
        if step not in ("fixed", "sqrt", "inverse"):
            raise ValueError(f"step is {step!r}: it is fixed, sqrt or inverse")
        if batch is not None:
            if not 0 < batch < INFINITY or not (batch < 1 or batch == int(batch)):
                raise ValueError(f"batch is {batch}: it is a number of examples, or a fraction of them")
            self.batch = max(1, round(batch * self.n)) if batch < 1 else int(min(batch, self.n))
        self.power = {"fixed": 0, "sqrt": 1, "inverse": 2}[step]
        self.sample_g, self.scores = self.room(self.size), self.room(2 * self.classes)
        self.factor = self.room(self.classes)
        self.order = <uint32_t*>malloc(4 * self.n)
        self.touched, self.is_touched = <uint32_t*>malloc(4 * self.d + 4), <uint8_t*>calloc(self.d + 1, 1)
        if self.order == NULL or self.touched == NULL or self.is_touched == NULL:
            raise MemoryError("no memory for the samples")
        for i in range(self.n):
            self.order[i] = <uint32_t>i

    def __dealloc__(self):
        free(self.order)
        free(self.touched)
        free(self.is_touched)
        free(self.sample_g)
        free(self.scores)
        free(self.factor)

    cdef size_t rounds(self) noexcept nogil:
        """Gradients of a step."""
        if self.iterations:
            return self.iterations
        return (self.n + self.batch - 1) / self.batch if self.batch else <size_t>WHOLE_GRADIENTS

    cdef double rate(self) noexcept nogil:
        return self.t if self.power == 0 else self.t / (sqrt(<double>self.k) if self.power == 1 else <double>self.k)

    cdef void sample(self) noexcept nogil:
        """The gradient of the next sample at factor * w and b; the sums of its r are b_slope."""
        cdef size_t s, other
        cdef uint32_t i
        memset(self.b_slope, 0, 8 * self.classes)
        for s in range(self.batch):
            other = s + random_below(&self.random, self.n - s)
            i = self.order[other]
            self.order[other] = self.order[s]
            self.order[s] = i
            self.look_at(self.problem, i, <double>self.n / self.batch)

    cdef void look_at(self, Problem p, size_t i, double scale) noexcept nogil:
        """Add the gradient of an example."""
        cdef const Sparse* a = &p.rows.a
        cdef size_t e, c, j
        cdef double sum, curvature
        cdef double* r = self.scores + self.classes
        visit(a, i)
        for c in range(self.classes):
            sum = 0
            for e in range(a.begin[i], a.begin[i + 1]):
                sum += self.w[c * self.d + a.index[e]] * a.value[e]
            self.scores[c] = self.factor[c] * sum + self.b[c] + p.rows.initial[i]
        if self.softmax is None:
            evaluate(p.loss, self.scores[0], p.y[i], r, &curvature)
            r[0] *= p.h[i]
        else:
            softmax_row(self.scores, 1, self.classes, self.softmax.class_of[i], p.h[i], r)
        for e in range(a.begin[i], a.begin[i + 1]):
            j = a.index[e]
            if not self.is_touched[j]:
                self.is_touched[j] = True
                self.touched[self.many_touched] = <uint32_t>j
                self.many_touched += 1
        for c in range(self.classes):
            for e in range(a.begin[i], a.begin[i + 1]):
                self.sample_g[c * self.d + a.index[e]] += scale * r[c] * a.value[e]
            if p.constant:
                self.b_slope[c] += scale * r[c]
        self.accesses += 2 * (a.begin[i + 1] - a.begin[i])

    cdef void forget_sample(self) noexcept nogil:
        cdef size_t at, c
        for at in range(self.many_touched):
            self.is_touched[self.touched[at]] = False
            for c in range(self.classes):
                self.sample_g[c * self.d + self.touched[at]] = 0
        self.many_touched = 0


cdef class Minibatch(_Sampled):
    """minibatch: projected gradient with the gradients of samples.

    batch: the number of examples in a sample, all if there are fewer, or if below 1 the fraction of all. step: sqrt, eta0 / sqrt(k) for sample
    k; inverse, eta0 / k; or fixed. eta0: None: 1 over a bound on the curvature of the mean loss. iterations: samples of one step; 0: as many
    as make a pass. seed: of the samples.
    All losses; a radius, simplex, w >= 0, weights of features, l2; one class or several. It does not end.
    ValueError: another step, another batch, no radius.
    """
    cdef uint32_t* support          # [classes, d] columns that are not zero
    cdef size_t* many_support       # [classes]
    cdef uint8_t* in_support        # [classes, d]

    def __init__(self, Problem problem not None, *, uint64_t seed=1, batch=100, str step="sqrt", eta0=None,
                 size_t iterations=0):
        if batch is None:
            raise ValueError("a sample has a size")
        super().__init__(problem, seed=seed, step=step, eta0=eta0, batch=batch, iterations=iterations)
        self.support, self.in_support = <uint32_t*>malloc(4 * self.size + 4), <uint8_t*>calloc(self.size + 1, 1)
        self.many_support = <size_t*>calloc(self.classes, sizeof(size_t))
        if self.support == NULL or self.in_support == NULL or self.many_support == NULL:
            raise MemoryError("no memory for the samples")

    def __dealloc__(self):
        free(self.support)
        free(self.many_support)
        free(self.in_support)

    cdef int restart(self) except -1 nogil:
        cdef size_t c, j
        _FirstOrder.restart(self)
        for c in range(self.classes):
            self.factor[c] = 1
            self.many_support[c] = 0
            for j in range(self.d):
                self.in_support[c * self.d + j] = False
                if self.w[c * self.d + j] != 0:
                    self.take_in(c, j)
        return 0

    cdef inline void take_in(self, size_t c, size_t j) noexcept nogil:
        if not self.in_support[c * self.d + j]:
            self.in_support[c * self.d + j] = True
            self.support[c * self.d + self.many_support[c]] = <uint32_t>j
            self.many_support[c] += 1

    cdef int iterate(self, Problem p) except -1 nogil:
        cdef size_t round
        for round in range(self.rounds()):
            if self.stopped():
                break
            self.k += 1
            self.sample()
            self.move(self.rate())
            self.forget_sample()
        self.finish()
        return 0

    cdef int move(self, double t) except -1 nogil:
        """A step along the sample's gradient, and the projection: of what can be other than zero."""
        cdef size_t c, at, j, kept
        cdef double* w
        for c in range(self.classes):
            w = self.w + c * self.d
            self.b[c] -= t * self.b_slope[c]
            if self.problem.l2 > 0:
                for at in range(self.many_support[c]):
                    j = self.support[c * self.d + at]
                    w[j] -= t * self.problem.l2 * w[j]
            for at in range(self.many_touched):
                j = self.touched[at]
                w[j] -= t * self.sample_g[c * self.d + j]
                self.take_in(c, j)
            if self.problem.simplex:        # any weight may rise
                self.project(c)
                continue
            for at in range(self.many_support[c]):
                j = self.support[c * self.d + at]
                self.given[at] = w[j]
                if self.problem.c != NULL:
                    self.of_penalty[at] = self.problem.c[j]
            self.project_given(self.problem, self.many_support[c])
            kept = 0
            for at in range(self.many_support[c]):
                j = self.support[c * self.d + at]
                w[j] = self.projected[at]
                if w[j] != 0:
                    self.support[c * self.d + kept] = <uint32_t>j
                    kept += 1
                else:
                    self.in_support[c * self.d + j] = False
            self.many_support[c] = kept
        return 0


cdef class ExponentiatedGradient(_Sampled):
    """eg: weights that are multiplied, on the simplex; all begin alike.

    step: armijo, eta is halved until L(w+) <= L(w) + <g, w+ - w> + KL(w+, w) / eta, and the next step begins with 1.3 eta;
    sqrt, eta0 / sqrt(k) for gradient k; inverse, eta0 / k; or fixed. None: armijo, or with samples, which do not take it,
    sqrt. eta0: None: one with which, fixed and with the gradient of all examples, the objective never rises (Poisson's has
    no bound); it is small. batch: the number of examples in a sample, all if there are fewer, or if below 1 the fraction
    of all; None: all. iterations: gradients of one step; 0: 10, or a pass of samples. seed: of the samples.
    The constant goes by the gradient, at the rate eta radius max_j sum_i h_i x_ij^2 / c_j^2.
    All losses; the simplex, with weights of features; l2 only without samples; one class or several.
    Of weights to begin from, at least a tenth is shared out to all alike.
    ValueError: another step, another batch, no simplex (several classes: w >= 0 stands for it).
    """
    cdef size_t parts               # 2: with negative ones
    cdef double* logarithms         # [classes, parts, d] of the masses
    cdef double* shift              # [classes] that `normalize` has taken off the logarithms
    cdef double* sum                # [classes] of the masses
    cdef double* least              # [classes] below which the sum is made anew
    cdef double constant_rate       # that of the constant for eta = 1
    cdef double safe                # the rate with which, fixed, the objective never rises
    cdef bint backtracks
    cdef double* logarithms_before  # as `logarithms`, and the others likewise, if it backtracks
    cdef double* r_before
    cdef double* predictions_before
    cdef double* w_before
    cdef double* b_before

    def __init__(self, Problem problem not None, *, uint64_t seed=1, str step=None, eta0=None, batch=None,
                 size_t iterations=0):
        self.backtracks = step == "armijo" or (step is None and batch is None)
        super().__init__(problem, seed=seed, step="fixed" if self.backtracks else step or "sqrt", eta0=eta0, batch=batch,
                         iterations=iterations)
        if self.backtracks and batch is not None:
            raise ValueError("step is 'armijo': with samples it is fixed, sqrt or inverse")
        if self.backtracks and not is_smooth(problem.loss):
            raise ValueError("step is 'armijo': for a loss with kinks it is fixed, sqrt or inverse")
        if problem.l2 > 0 and batch is not None:
            raise ValueError("with samples, exponentiated gradient takes no l2")
        self.parts = 1
        self.take_set()
        self.logarithms = self.room(self.parts * self.size)
        self.shift, self.sum, self.least = self.room(self.classes), self.room(self.classes), self.room(self.classes)
        if self.backtracks:
            self.logarithms_before, self.b_before = self.room(self.parts * self.size), self.room(self.classes)
            self.w_before, self.r_before = self.room(self.size), self.room(self.classes * self.n)
            self.predictions_before = self.room(self.classes * self.n)

    def take_set(self):
        """What weights there can be. ValueError."""
        if not (self.problem.simplex or (self.softmax is not None and self.problem.nonnegative)):
            raise ValueError("exponentiated gradient takes the simplex")

    def __dealloc__(self):
        free(self.logarithms)
        free(self.shift)
        free(self.sum)
        free(self.least)
        free(self.logarithms_before)
        free(self.w_before)
        free(self.r_before)
        free(self.predictions_before)
        free(self.b_before)

    cdef double safe_rate(self) noexcept nogil:
        """1 over radius and the curvature in the norm sum_j c_j |w_j|, max_j sum_i h_i x_ij^2 / c_j^2 times that of l."""
        cdef const Sparse* a = &self.problem.rows.a
        cdef size_t i, e, j
        cdef double most = 0, c
        memset(self.sample_g, 0, 8 * self.d)
        for i in range(self.n):
            visit(a, i)
            for e in range(a.begin[i], a.begin[i + 1]):
                self.sample_g[a.index[e]] += self.problem.h[i] * a.value[e] * a.value[e]
        for j in range(self.d):
            c = self.problem.c[j] if self.problem.c != NULL else 1
            most = larger(most, self.sample_g[j] / (c * c))
        memset(self.sample_g, 0, 8 * self.d)
        self.constant_rate = self.problem.ball * most if most > 0 else 1
        most = most * self.most_curved() * (2 if self.problem.constant else 1) + self.problem.l2
        self.safe = 1 / (self.problem.ball * most) if most > 0 else 1
        return self.safe

    cdef int restart(self) except -1 nogil:
        cdef size_t c, j, part
        cdef double used, rest, mass, size
        cdef double* w
        for c in range(self.classes):
            w = self.w + c * self.d
            used = 0
            for j in range(self.d):
                used += fabs(w[j]) * (self.problem.c[j] if self.problem.c != NULL else 1) / self.problem.ball
            if used == 0:
                memset(self.logarithms + c * self.parts * self.d, 0, 8 * self.parts * self.d)
            else:
                rest = larger(1 - used, INNER)
                for part in range(self.parts):
                    for j in range(self.d):
                        size = larger(-w[j] if part else w[j], 0) * (self.problem.c[j] if self.problem.c != NULL else 1)
                        mass = size / self.problem.ball * ((1 - rest) / used) + rest / (self.parts * self.d)
                        self.logarithms[(c * self.parts + part) * self.d + j] = log_of(mass)
            self.normalize(c)
        self.spread()
        return 0

    cdef void normalize(self, size_t c) noexcept nogil:
        """Masses and their sum from the logarithms, the largest of which is 0 then; the weights times sum / radius."""
        cdef size_t i, j
        cdef double most = -INFINITY, sum = 0
        cdef double* logarithms = self.logarithms + c * self.parts * self.d
        for i in range(self.parts * self.d):
            most = larger(most, logarithms[i])
        for i in range(self.parts * self.d):
            logarithms[i] -= most
            sum += mass_of(logarithms[i])
        for j in range(self.d):
            self.weigh(c, j)
        if self.d == 0:
            sum, most = 1, 0
        self.sum[c], self.least[c], self.shift[c] = sum, sum / 2, most
        self.factor[c] = self.problem.ball / sum

    cdef inline double weigh(self, size_t c, size_t j) noexcept nogil:
        """A weight times sum / radius, from its masses; their sum."""
        cdef double up = mass_of(self.logarithms[c * self.parts * self.d + j]), down = 0
        if self.parts == 2:
            down = mass_of(self.logarithms[(2 * c + 1) * self.d + j])
        self.w[c * self.d + j] = (up - down) / (self.problem.c[j] if self.problem.c != NULL else 1)
        return up + down

    cdef void spread(self) noexcept nogil:
        """The weights themselves."""
        cdef size_t c, j
        for c in range(self.classes):
            for j in range(self.d):
                self.w[c * self.d + j] *= self.factor[c]
            self.factor[c] = 1

    cdef int iterate(self, Problem p) except -1 nogil:
        cdef size_t round, c
        if self.batch:
            for c in range(self.classes):
                self.normalize(c)
        for round in range(self.rounds()):
            if self.stopped():
                break
            self.k += 1
            if self.batch:
                self.sample()
                self.multiply_touched(self.rate())
                self.forget_sample()
            elif not self.backtracks:
                self.value()
                self.slopes(self.w)
                self.multiply(self.rate())
            elif not self.descend():
                break
        self.spread()
        self.finish()
        return 0

    cdef bint descend(self) noexcept nogil:
        """A step that backtracks. False: none is small enough."""
        cdef size_t i, c
        cdef double reached, promised, moved, before = self.value(), along = 0, further, normalizers
        cdef bint good
        self.slopes(self.w)
        memcpy(self.logarithms_before, self.logarithms, 8 * self.parts * self.size)
        memcpy(self.w_before, self.w, 8 * self.size)
        memcpy(self.r_before, self.r, 8 * self.classes * self.n)
        memcpy(self.predictions_before, self.predictions, 8 * self.classes * self.n)
        memcpy(self.b_before, self.b, 8 * self.classes)
        for i in range(self.size):
            along += self.g[i] * self.w[i]
        while True:
            # <g, w+ - w> + KL(w+, w) / eta = -<g, w> - radius / eta ln Z
            normalizers = further = moved = 0
            for c in range(self.classes):
                normalizers -= log_of(self.sum[c])
            self.multiply(self.t)
            for c in range(self.classes):
                normalizers += self.shift[c] + log_of(self.sum[c])
                moved += self.t * self.constant_rate * self.b_slope[c] * self.b_slope[c] / 2
            for i in range(self.size):
                further += self.g[i] * self.w[i]
            normalizers *= self.problem.ball / self.t
            promised = -along - normalizers - moved
            moved += -further - normalizers
            reached = self.value()
            if moved < NOISE * fabs(before):
                good = self.curved_part() <= moved * (1 + 1e-9) + 1e-16 * fabs(before)
            else:
                good = reached <= before + promised
            if good:
                self.t = smaller(GROWTH * self.t, 1e9 * self.safe)
                return True
            memcpy(self.logarithms, self.logarithms_before, 8 * self.parts * self.size)
            memcpy(self.b, self.b_before, 8 * self.classes)
            for c in range(self.classes):
                self.normalize(c)
            self.spread()
            self.t /= 2
            if not self.t > 1e-12 * self.safe:      # which may be 0, far out
                return False

    cdef double curved_part(self) noexcept nogil:
        """Half of the curvature along the step from before."""
        cdef size_t i
        cdef double found = 0
        for i in range(self.classes * self.n):
            found += (self.r[i] - self.r_before[i]) * (self.predictions[i] - self.predictions_before[i]) / 2
        if self.problem.l2 > 0:
            for i in range(self.size):
                found += self.problem.l2 / 2 * (self.w[i] - self.w_before[i]) * (self.w[i] - self.w_before[i])
        return found

    cdef void multiply(self, double eta) noexcept nogil:
        """By the gradient of all examples."""
        cdef size_t c, part, j
        cdef double by
        for c in range(self.classes):
            for part in range(self.parts):
                for j in range(self.d):
                    by = eta * self.g[c * self.d + j] / (self.problem.c[j] if self.problem.c != NULL else 1)
                    self.logarithms[(c * self.parts + part) * self.d + j] += by if part else -by
            self.normalize(c)
            self.b[c] -= eta * self.constant_rate * self.b_slope[c]
        self.spread()

    cdef void multiply_touched(self, double eta) noexcept nogil:
        """By the gradient of a sample."""
        cdef size_t c, at, j, part, i
        cdef double by, before
        cdef bint far
        for c in range(self.classes):
            far = False
            for at in range(self.many_touched):
                j = self.touched[at]
                by = eta * self.sample_g[c * self.d + j] / (self.problem.c[j] if self.problem.c != NULL else 1)
                before = self.weigh(c, j)
                for part in range(self.parts):
                    i = (c * self.parts + part) * self.d + j
                    self.logarithms[i] += by if part else -by
                    far |= self.logarithms[i] > 300
                self.sum[c] += self.weigh(c, j) - before
            if far or self.sum[c] < self.least[c]:
                self.normalize(c)
            else:
                self.factor[c] = self.problem.ball / self.sum[c]
            self.b[c] -= eta * self.constant_rate * self.b_slope[c]


cdef class ExponentiatedGradientBothSigns(ExponentiatedGradient):
    """eg-pm: two vectors that are multiplied, w = w+ - w-, on the ball; w begins at 0.

    Options and losses as `ExponentiatedGradient`; a radius, with weights of features, of any sign.
    ValueError: as there; the simplex or w >= 0.
    """

    def take_set(self):
        if self.problem.nonnegative:
            raise ValueError("exponentiated gradient with both signs does not take w >= 0")
        self.parts = 2
