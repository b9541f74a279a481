"""sdca: the support vector machine, solved by dual coordinate ascent with box constraints.

    min over w of P = sum_i h_i max(0, 1 - y_i p_i) + l2 / 2 ||w||^2

has the dual, divided by l2 and with C_i = h_i / l2,

    min over a of 1/2 ||sum_i a_i y_i x_i||^2 - sum_i a_i (1 - y_i initial_i),   0 <= a_i <= C_i,   w = sum_i a_i y_i x_i.

One a after the other is set to its optimum, clip(a_i - G_i / ||x_i||^2, 0, C_i) with G_i = y_i p_i - 1, and w is
updated; only rows are read. In LIBLINEAR's terms C_i = C h_i n. The gap of P and the dual is exact: it is 0 at the
solution.

With coordinates in order, the weights of a pass oscillate around the solution: the objective at w varies by more than
the remaining error. So the reported weights are an average of those of the last visits, which oscillates less; the
bound is that of a. With random coordinates, as in the paper, they are w.

The intercept is a feature of value 1, so l2 applies to it too: an intercept without penalty would add the condition
sum_i a_i y_i = 0, which no update of a single a can keep.

Hsieh, Chang, Lin, Keerthi, Sundararajan. A Dual Coordinate Descent Method for Large-scale Linear SVM. ICML 2008.
Shalev-Shwartz, Tewari. Stochastic Methods for l1 Regularized Loss Minimization. ICML 2009: its box constraints.
"""

from libc.math cimport INFINITY
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from vwlite.core.base.prefetch cimport prefetch_read
from vwlite.core.solve.batch_losses cimport HINGE
from vwlite.core.solve.problem cimport Problem, larger, smaller, total
from vwlite.core.solve.random cimport random_below
from vwlite.core.solve.rows cimport Sparse
from vwlite.core.solve.solver cimport Solver

cdef extern from *:
    """
    /* <w, x>, in four lanes. */
    static inline double vwlite_row_dot(const double *w, const uint32_t *index, const float *value, size_t n) {
        double a = 0, b = 0, c = 0, d = 0;
        size_t i = 0;
        for (; i + 4 <= n; i += 4) {
            a += w[index[i]] * value[i];
            b += w[index[i + 1]] * value[i + 1];
            c += w[index[i + 2]] * value[i + 2];
            d += w[index[i + 3]] * value[i + 3];
        }
        for (; i < n; i++)
            a += w[index[i]] * value[i];
        return (a + b) + (c + d);
    }

    static inline void vwlite_row_add(double *w, double by, const uint32_t *index, const float *value, size_t n) {
        for (size_t i = 0; i < n; i++)
            w[index[i]] += by * value[i];
    }
    """
    double row_dot "vwlite_row_dot"(const double* w, const uint32_t* index, const float* value, size_t n) noexcept nogil
    void row_add "vwlite_row_add"(double* w, double by, const uint32_t* index, const float* value, size_t n) noexcept nogil

cdef enum:
    PASSES = 4          # of a step, in entries, at least
    MOST_PASSES = 16    # at most, until the violation is half of the first one
    RECOMPUTE = 16         # steps after which the weights are recomputed
    AHEAD = 4           # rows that are on the way from memory
    LINE = 64           # bytes of a cache line
    SHOTS = 8           # times that a pass over all rows is added to the average
    SPARED = 8          # entries that are read for each weight before that, at least


# What a visit needs to know of a row, together: one line of the cache.
cdef struct DualVariable:
    double a
    double most         # C_i
    double squared      # ||x_i||^2
    double inverse      # 1 / ||x_i||^2
    double y, initial
    size_t begin        # of its entries
    size_t size


cdef double FRESH = 0.25        # the part of an average that is the newest weights
cdef double LOOSEST = 0.1       # of violations: where all rows come back for the first time
cdef double TIGHTEST = 1e-14


cdef class DualCoordinateDescent(Solver):
    """sdca: hinge loss with l2.

    order: permuted, with rows left out while they are at an edge of the box and will stay there (shrinking); or random,
    rows drawn uniformly, as in the paper. The problem's intercept is penalised from now on. Initial weights
    determine the a: those of their margins, at the edges of the box.
    ValueError: another order, another loss, no l2, or any other penalty or constraint.
    """
    cdef bint permuted
    cdef void* memory               # of the duals
    cdef DualVariable* duals                # [n]
    cdef uint32_t* active           # [n]
    cdef double* w                  # [d] sum_i a_i y_i x_i
    cdef double b                   # sum_i a_i y_i, with an intercept
    cdef uint64_t shot              # accesses from which on the weights are taken into the average
    cdef bint averaged              # whether some are there
    cdef double* left               # [d] the weights as the last step left them
    cdef double b_left
    cdef size_t size                # of active
    cdef double high, low           # of the slopes in the previous pass: beyond, a row is left out
    cdef double target              # violation at which all rows return
    cdef size_t steps
    cdef bint started

    def __init__(self, Problem problem not None, *, uint64_t seed=1, str order="permuted"):
        super().__init__(problem, seed=seed)
        if order not in ("permuted", "random"):
            raise ValueError(f"order is {order!r}: it is permuted or random")
        if problem.loss.kind != HINGE:
            raise ValueError("this solver takes hinge loss")
        if problem.l2 == 0 or problem.l1 > 0 or problem.ball >= 0 or problem.box < INFINITY or problem.nonnegative:
            raise ValueError("this solver takes l2, and nothing beside it")
        self.permuted = order == "permuted"
        self.memory = calloc(problem.n + 1, sizeof(DualVariable))
        self.duals = <DualVariable*>((<size_t>self.memory + LINE - 1) & ~<size_t>(LINE - 1))
        self.active, self.left = <uint32_t*>malloc(4 * problem.n), <double*>malloc(8 * (problem.d + 1))
        self.w = <double*>malloc(8 * (problem.d + 1))
        if self.memory == NULL or self.active == NULL or self.left == NULL or self.w == NULL:
            raise MemoryError("no memory for the dual")
        if problem.constant and not problem.penalizes_constant:
            problem.penalizes_constant = True
            problem.forget()

    def __dealloc__(self):
        free(self.memory)
        free(self.active)
        free(self.left)
        free(self.w)

    @property
    def a(self):
        """The dual variables, one number for each row. For tests."""
        return [self.duals[i].a for i in range(self.problem.n)]

    cdef int prepare(self) except -1:
        cdef Problem p = self.problem
        cdef size_t j
        cdef bint same = self.started and self.b_left == p.b
        for j in range(p.d):
            same = same and p.weights[j] == self.left[j]
        if same:
            return 0
        with nogil:
            self.start(p)
            self.finish(p)
        self.started = True
        return 0

    cdef void start(self, Problem p) noexcept nogil:
        cdef const Sparse* rows = &p.rows.a
        cdef size_t i, e, j
        cdef DualVariable* dual
        cdef bint known = p.b != 0
        for j in range(p.d):
            known = known or p.weights[j] != 0
        if known:
            p.predict()
        for i in range(p.n):
            dual = &self.duals[i]
            dual.most, dual.y, dual.initial = p.h[i] / p.l2, p.y[i], p.rows.initial[i]
            dual.begin, dual.size = rows.begin[i], rows.begin[i + 1] - rows.begin[i]
            dual.squared = 1 if p.constant else 0
            for e in range(dual.begin, dual.begin + dual.size):
                dual.squared += <double>rows.value[e] * rows.value[e]
            dual.inverse = 1 / dual.squared if dual.squared > 0 else 0
            dual.a = dual.most if known and dual.y * p.predictions[i] < 1 else 0
            self.active[i] = <uint32_t>i
        self.columns, self.steps = p.d, 0
        self.all_back(p)
        self.target = LOOSEST
        self.averaged = False
        self.shot = 0
        self.combine(p)
        self.show(p)

    cdef void all_back(self, Problem p) noexcept nogil:
        self.size, self.high, self.low = p.n, INFINITY, -INFINITY

    cdef void combine(self, Problem p) noexcept nogil:
        """w = sum_i a_i y_i x_i, and the intercept likewise."""
        cdef const Sparse* rows = &p.rows.a
        cdef size_t i, e
        cdef double by
        memset(self.w, 0, 8 * p.d)
        self.b = 0
        for i in range(p.n):
            if self.duals[i].a != 0:
                by = self.duals[i].a * p.y[i]
                for e in range(rows.begin[i], rows.begin[i + 1]):
                    self.w[rows.index[e]] += by * rows.value[e]
                if p.constant:
                    self.b += by

    cdef void show(self, Problem p) noexcept nogil:
        """Copy w to the problem."""
        memcpy(p.weights, self.w, 8 * p.d)
        p.b = self.b

    cdef void average(self, Problem p) noexcept nogil:
        """Take w into the average that the problem holds."""
        cdef size_t j
        if not self.averaged:
            self.show(p)
        else:
            for j in range(p.d):
                p.weights[j] += FRESH * (self.w[j] - p.weights[j])
            p.b += FRESH * (self.b - p.b)
        self.averaged = True

    cdef int iterate(self, Problem p) except -1 nogil:
        cdef uint64_t before = self.accesses, read
        cdef double met = 0, first = INFINITY
        cdef bint moved = True, whole = True
        while True:
            whole = not self.permuted or self.size == p.n
            moved = self.sweep_permuted(p) if self.permuted else self.sweep_random(p)
            if self.stopped():
                break
            if self.permuted:
                met = self.high - self.low
                if first == INFINITY:
                    first = met
                if met <= self.target or self.size == 0:
                    if whole:
                        self.target = larger(smaller(self.target, met) / 10, TIGHTEST)
                    self.all_back(p)
                else:
                    self.high = self.high if self.high > 0 else INFINITY
                    self.low = self.low if self.low < 0 else -INFINITY
            read = self.accesses - before
            if (whole and not moved) or read >= MOST_PASSES * p.rows.nonzeros:
                break
            if read >= PASSES * p.rows.nonzeros and (met <= first / 2 or not self.permuted):
                break
        self.steps += 1
        if self.steps % RECOMPUTE == 0 or not moved:
            self.combine(p)
            self.accesses += p.rows.nonzeros
        if not self.permuted or (whole and not moved) or not self.averaged:
            self.show(p)
        self.finish(p)
        self.done = whole and not moved and self.permuted and not self.stopped()
        return 0

    cdef bint sweep_permuted(self, Problem p) noexcept nogil:
        """Visit the active rows in a random order. Whether any moved."""
        cdef const uint32_t* index = p.rows.a.index
        cdef const float* value = p.rows.a.value
        cdef uint32_t* active = self.active
        cdef double* w = self.w
        cdef size_t at, other
        cdef uint32_t i
        cdef uint64_t read
        cdef double high = -INFINITY, low = INFINITY, slope, change, best, b = self.b
        cdef double limit_high = self.high, limit_low = self.low
        cdef DualVariable* dual
        cdef bint moved = False
        for at in range(self.size):
            other = at + random_below(&self.random, self.size - at)
            i = active[other]
            active[other] = active[at]
            active[at] = i
        at = 0
        read = self.accesses
        while at < self.size:
            if at + 2 * AHEAD < self.size:
                prefetch_read(&self.duals[active[at + 2 * AHEAD]])
            if at + AHEAD < self.size:
                dual = &self.duals[active[at + AHEAD]]
                prefetch_read(index + dual.begin)
                prefetch_read(value + dual.begin)
                prefetch_read(index + dual.begin + 16)
                prefetch_read(value + dual.begin + 16)
            i = active[at]
            dual = &self.duals[i]
            slope = dual.y * (row_dot(w, index + dual.begin, value + dual.begin, dual.size) + b + dual.initial) - 1
            read += dual.size
            if (dual.a == 0 and slope > limit_high) or (dual.a == dual.most and slope < limit_low):
                self.size -= 1
                active[at] = active[self.size]
                active[self.size] = i
                continue
            at += 1
            if (dual.a == 0 and slope > 0) or (dual.a == dual.most and slope < 0):
                slope = 0
            high, low = larger(high, slope), smaller(low, slope)
            if slope != 0:
                best = best_of(dual, slope)
                if best != dual.a:
                    moved = True
                    change = (best - dual.a) * dual.y
                    dual.a = best
                    row_add(w, change, index + dual.begin, value + dual.begin, dual.size)
                    if p.constant:
                        b += change
            if read >= self.shot:
                self.b = b
                self.average(p)
                self.shot = read + <uint64_t>max(<size_t>(p.rows.nonzeros / p.n * self.size / SHOTS), SPARED * p.d)
            if at % 1024 == 0 and self.stopped():
                break
        self.b, self.accesses = b, read
        self.high, self.low = high, low
        return moved

    cdef bint sweep_random(self, Problem p) noexcept nogil:
        cdef const uint32_t* index = p.rows.a.index
        cdef const float* value = p.rows.a.value
        cdef size_t visit
        cdef double slope, before
        cdef DualVariable* dual
        cdef bint moved = False
        for visit in range(p.n):
            dual = &self.duals[random_below(&self.random, p.n)]
            slope = row_dot(self.w, index + dual.begin, value + dual.begin, dual.size)
            slope = dual.y * (slope + self.b + dual.initial) - 1
            self.accesses += dual.size
            before = dual.a
            if slope != 0:
                dual.a = best_of(dual, slope)
            if dual.a != before:
                moved = True
                row_add(self.w, (dual.a - before) * dual.y, index + dual.begin, value + dual.begin, dual.size)
                if p.constant:
                    self.b += (dual.a - before) * dual.y
            if visit % 1024 == 1023 and self.stopped():
                break
        return moved

    cdef void finish(self, Problem p) noexcept nogil:
        """Evaluate the problem, using all rows."""
        cdef size_t i, j
        cdef double squares = self.b * self.b if p.constant else 0, bound, slope, high = 0, low = 0
        cdef const DualVariable* dual
        p.predict()
        p.lose()
        p.objective = p.mean_loss + p.penalties()
        p.nonzeros = 0
        for j in range(p.d):
            squares += self.w[j] * self.w[j]
            p.nonzeros += p.weights[j] != 0
        for i in range(p.n):
            dual = &self.duals[i]
            p.scratch[i] = dual.a * (1 - dual.y * dual.initial)
            slope = dual.y * p.predictions[i] - 1
            if dual.a < dual.most:
                low = smaller(low, slope)
            if dual.a > 0:
                high = larger(high, slope)
        bound = p.l2 * (total(p.scratch, p.n) - squares / 2)
        p.lower_bound = larger(p.lower_bound, bound)
        p.violation = larger(high, -low)
        self.accesses += p.rows.nonzeros
        memcpy(self.left, p.weights, 8 * p.d)
        self.b_left = p.b

    cdef bint exact(self, Problem p) noexcept nogil:
        """Whether the gap is rounding, or the slopes are."""
        return p.objective - p.lower_bound <= 1e-14 * p.objective or p.violation <= 1e-14


cdef inline double best_of(const DualVariable* dual, double slope) noexcept nogil:
    """The new value of a."""
    if dual.squared > 0:
        return smaller(larger(dual.a - slope * dual.inverse, 0), dual.most)
    return dual.most if slope < 0 else 0        # nothing but its own label decides
