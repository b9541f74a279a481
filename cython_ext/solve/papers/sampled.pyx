"""Methods on the l1 ball or the simplex that papers compare with, for one class or for several with a ball each.

    minibatch           projected gradient (gradient.pyx) with the gradient of a sample, n / |S| sum over S of r_i x_i.
    eg, eg-pm           w_i <- w_i exp(-eta g_i / c_i) / Z on the simplex; on the ball, two such vectors, w = w+ - w-,
                        which have the radius together. With the gradient of all examples or of a sample.

L1B: Duchi, Shalev-Shwartz, Singer, Chandra. Efficient Projections onto the l1-Ball. ICML 2008; section 7, eq. 13.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from vwlite.core.base.elementary cimport exp_of
from vwlite.core.solve.gradient cimport GROWTH, NOISE, WHOLE_GRADIENTS, FirstOrder
from vwlite.core.solve.batch_losses cimport evaluate, is_smooth, log_of
from vwlite.core.solve.problem cimport Problem, larger, smaller
from vwlite.core.solve.random cimport random_below
from vwlite.core.solve.rows cimport Sparse
from vwlite.core.solve.softmax cimport softmax_row

cdef double FAR = 700           # below a logarithm: no mass
cdef double INNER = 0.1         # of the mass is for weights that are zero, at the start of eg


cdef inline double mass_of(double logarithm) noexcept nogil:
    return exp_of(smaller(logarithm, FAR)) if logarithm > -FAR else 0


cdef class _Sampled(FirstOrder):
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
        self.sample_g, self.scores = self.allocate(self.size), self.allocate(2 * self.classes)
        self.factor = self.allocate(self.classes)
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
        FirstOrder.restart(self)
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
        """A step along the sample's gradient, and the projection, both of the weights that can be nonzero."""
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
    """eg: multiplicative updates, on the simplex; all weights start equal.

    step: armijo, eta is halved until L(w+) <= L(w) + <g, w+ - w> + KL(w+, w) / eta, and the next step begins with 1.3 eta;
    sqrt, eta0 / sqrt(k) for gradient k; inverse, eta0 / k; or fixed. None: armijo, or with samples, which do not take it,
    sqrt. eta0: None: one with which, fixed and with the gradient of all examples, the objective never rises (Poisson's has
    no bound); it is small. batch: the number of examples in a sample, all if there are fewer, or if below 1 the fraction
    of all; None: all. iterations: gradients of one step; 0: 10, or a pass of samples. seed: of the samples.
    The intercept is updated by the gradient, at the rate eta radius max_j sum_i h_i x_ij^2 / c_j^2.
    All losses; the simplex, with weights of features; l2 only without samples; one class or several.
    Of initial weights, at least a tenth is distributed equally.
    ValueError: another step, another batch, no simplex (several classes: w >= 0 instead).
    """
    cdef size_t parts               # 2: with negative ones
    cdef double* logarithms         # [classes, parts, d] of the masses
    cdef double* shift              # [classes] that `normalize` has taken off the logarithms
    cdef double* sum                # [classes] of the masses
    cdef double* least              # [classes] below which the sum is recomputed
    cdef double constant_rate       # the rate of the intercept for eta = 1
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
        self.logarithms = self.allocate(self.parts * self.size)
        self.shift, self.sum = self.allocate(self.classes), self.allocate(self.classes)
        self.least = self.allocate(self.classes)
        if self.backtracks:
            self.logarithms_before, self.b_before = self.allocate(self.parts * self.size), self.allocate(self.classes)
            self.w_before, self.r_before = self.allocate(self.size), self.allocate(self.classes * self.n)
            self.predictions_before = self.allocate(self.classes * self.n)

    def take_set(self):
        """Check the constraint set. ValueError."""
        if not (self.problem.simplex or (self.softmax is not None and self.problem.nonnegative)):
            raise ValueError("exponentiated gradient requires the simplex")

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
        """A step with backtracking. False: no step is small enough."""
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
        """Update the weights by the gradient of all examples."""
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
        """Update the weights by the gradient of a sample."""
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
