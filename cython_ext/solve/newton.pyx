"""Proximal Newton: coordinate descent on a quadratic model of the loss, whose working set grows with the solution.

An outer step starts from r_i = h_i l'(p_i), D_i = h_i l''(p_i) and the gradient g at the weights; the working set is
every weight that is not zero and the largest violators. There it minimizes, by cycles of coordinate descent over Delta,

    sum_j g_j Delta_j + 1/2 sum_i D_i (X Delta + delta_b)_i^2 + penalty(w + Delta).

The intercept is eliminated: delta_b = -sum_j c_j Delta_j / SD with c_j = sum_i D_i x_ij and SD = sum_i D_i, so that the
curvature of a coordinate is sum_i D_i x_ij^2 - c_j^2 / SD. A line search follows, which halves the step or makes it
longer: where the curvature of the loss decreases, as far from the solution, and after few cycles, a step is too short,
and evaluations of the loss along it are cheap compared with its columns. Then the best intercept is computed.

Where a loss is flat now it may not be after the step, and steps computed with D are too long. So D is that of a parabola
that is valid for a fraction of the change of the prediction in the last step: far from the solution a bound, near it
l''. This fraction and the number of cycles are adapted by the actual decrease of the objective, relative to the
decrease that the model predicted.

Few columns with many entries use the Gram matrix X^T D X instead, once the cycles have cost as much as the matrix.

Friedman, Hastie, Tibshirani, 2010 (glmnet); Yuan, Ho, Lin. An Improved GLMNET for L1-regularized Logistic Regression. JMLR
2012; Johnson, Guestrin. BLITZ: A Principled Meta-Algorithm for Scaling Sparse Optimization. ICML 2015 (the intercept).
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from vwlite.core.solve.columns cimport (
    NOT_KEPT,
    ByColumn,
    Entry,
    add_column,
    add_scaled,
    curvature_along,
    dot,
    dot_float,
    fetch_column,
    largest_size,
)
from vwlite.core.solve.batch_losses cimport POISSON, SQUARED, SQUARED_HINGE, BatchLoss, is_smooth
from vwlite.core.solve.problem cimport Penalty, Problem, larger, minimizer, smaller, total, violation_of
from vwlite.core.solve.random cimport random_below
from vwlite.core.solve.solver cimport Solver

cdef extern from *:
    """
    /* sum r s and sum d s^2, in four lanes. */
    static inline double vwlite_slope_along(const double *r, const double *d, const double *s, size_t n, double *curvature) {
        double slope[4] = {0}, curved[4] = {0};
        size_t i = 0;
        for (; i + 4 <= n; i += 4)
            for (int k = 0; k < 4; k++) {
                slope[k] += r[i + k] * s[i + k];
                curved[k] += d[i + k] * s[i + k] * s[i + k];
            }
        for (; i < n; i++) {
            slope[0] += r[i] * s[i];
            curved[0] += d[i] * s[i] * s[i];
        }
        *curvature = (curved[0] + curved[1]) + (curved[2] + curved[3]);
        return (slope[0] + slope[1]) + (slope[2] + slope[3]);
    }

    /* t += s + b; sum d t^2, in four lanes. */
    static inline double vwlite_add_steps(double *t, const double *s, double b, const float *d, size_t n) {
        double sum[4] = {0};
        for (size_t i = 0; i < n; i++) {
            t[i] += s[i] + b;
            sum[i & 3] += d[i] * t[i] * t[i];
        }
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    """
    double add_steps "vwlite_add_steps"(double* t, const double* s, double b, const float* d, size_t n) noexcept nogil
    double slope_along "vwlite_slope_along"(
        const double* r, const double* d, const double* s, size_t n, double* curvature) noexcept nogil

cdef enum:
    LEAST_VIOLATORS = 100   # minimal number added to a working set, if available
    FEW_CYCLES = 2          # far from the solution
    NEAR_CYCLES = 8         # where the weights of a similar strength are near it
    MOST_CYCLES = 64
    HALVINGS = 40
    MOST_GRAM = 1500        # weights of a Gram matrix
    BLOCK = 256             # rows
    GRAM_CYCLES = 500
    AHEAD = 2               # weights whose columns are prefetched
    RECOMPUTE = 16             # steps after which predictions are recomputed
    LONGER = 4              # maximal number of times that a step is made longer

cdef double LENGTHEN = 0.1      # a step is made longer by at least this part of it, or not at all
cdef double ENOUGH = 0.1        # cycles end when the last one gained at most this part of what all of them did
cdef double GOOD = 0.75         # if the objective falls by this part of the predicted decrease: more cycles
cdef double BAD = 0.25
cdef double NEAR = 0.1          # predictions that went no further have the curvature where they are
cdef double GRAM_ENOUGH = 1e-3  # the same, where cycles cost nearly nothing
cdef double SAME = 0.2          # reuse a Gram matrix while the sum of curvatures changes less than this
cdef double FLAT = 1e-10        # least fraction of a weight's curvature after eliminating the intercept
cdef double INNER = 0.2         # Newton steps end when the violation in the working set is this much of the outer one
cdef double ARMIJO = 0.01
cdef double NOISE = 1e-10       # predicted decreases below this part of the objective: differences of it are rounding
cdef double FURTHEST = 10       # a weight changes no prediction by more in one visit
cdef double CHEAP = 3           # a Gram matrix is made at once if it costs this many times the entries of its columns
cdef double COPIED = 2          # entries of cycles that it costs to count an entry and to put it beside those of its row
cdef double EACH = 8            # and of each line of the matrix, for each of its weights and for every 64 rows
cdef double CAREFUL = 0.2       # the least part of how far a prediction went for which D holds
cdef double MOST_CAREFUL = 2    # and the largest


# A weight of the working set.
cdef struct Coordinate:
    uint32_t k              # its column, of those kept
    uint32_t j              # and in the problem
    bint live               # not zero, or it was not in this step
    double g                # of the mean loss, at the start
    double h                # curvature, with the intercept eliminated; below 0: not known yet
    double c                # sum D x
    double largest          # |x|
    double w, start
    Penalty penalty


cdef class Newton(Solver):
    """Penalty l1, l2, weights of features, w >= 0, box; no ball. Smooth losses.

    gram: whether it may buy the Gram matrix. ValueError: a ball, or a loss with kinks.
    """
    cdef bint gram_allowed
    cdef Coordinate* working        # [columns kept]
    cdef size_t size
    cdef uint32_t* list             # [columns kept] of the working set: those that later cycles visit
    cdef float* v                   # [n] D_i (X Delta)_i
    cdef float* d                   # [n] D_i
    cdef double* t                  # [n] (X Delta)_i
    cdef double* outward            # [n] the part of it by weights that go away from 0
    cdef double* start              # [n] predictions
    cdef double* values             # [columns kept] scratch
    cdef float* largest             # [columns kept] |x|, or -1 if not computed yet
    cdef double along               # delta_b
    # The Gram matrix X^T D X of a working set, with the intercept eliminated.
    cdef double* gram               # [gram_size, gram_size]
    cdef size_t gram_size           # 0: not computed
    cdef size_t gram_capacity
    cdef uint32_t* gram_at          # [columns of the rows] the line of the matrix, or NOT_KEPT
    cdef float* gram_d              # [n] the D with which it was made
    cdef double* gram_c             # [MOST_GRAM] sum D x
    cdef double gram_sum_d
    cdef double paid                # entries read by cycles since the last one was made
    cdef double last_paid           # by all cycles of the last step that did without
    cdef float* moved               # [n] how far the prediction went in the last step
    cdef Entry* block               # [block_capacity] of a block of rows: lines of the matrix, and values
    cdef size_t block_capacity
    cdef size_t* next_entry         # [MOST_GRAM] of the columns: the first one that is not in a block yet
    cdef double gram_cost           # of the working set, in entries; below 0: not known yet
    cdef double sum_d
    cdef size_t steps
    cdef int patience               # cycles at most
    cdef double caution             # the part of how far a prediction went for which D holds

    def __init__(self, Problem problem not None, *, uint64_t seed=1, bint gram=True):
        super().__init__(problem, seed=seed)
        self.gram_allowed = gram
        if problem.ball >= 0:
            raise ValueError("this solver does not take a radius")
        if not is_smooth(problem.loss):
            raise ValueError("this solver does not take a loss with kinks")
        self.v, self.d = <float*>malloc(4 * problem.n), <float*>malloc(4 * problem.n)
        self.t, self.start = <double*>malloc(8 * problem.n), <double*>malloc(8 * problem.n)
        self.outward = <double*>malloc(8 * problem.n)
        self.moved, self.gram_d = <float*>malloc(4 * problem.n), <float*>malloc(4 * problem.n)
        self.gram_c = <double*>malloc(8 * MOST_GRAM)
        self.next_entry = <size_t*>malloc(MOST_GRAM * sizeof(size_t))
        if (self.v == NULL or self.d == NULL or self.t == NULL or self.start == NULL or self.gram_d == NULL or self.moved == NULL
                or self.outward == NULL or self.gram_c == NULL or self.next_entry == NULL):
            raise MemoryError("no memory for the Newton step")

    def __dealloc__(self):
        free(self.working)
        free(self.list)
        free(self.v)
        free(self.d)
        free(self.t)
        free(self.outward)
        free(self.start)
        free(self.values)
        free(self.largest)
        free(self.gram)
        free(self.gram_at)
        free(self.gram_d)
        free(self.moved)
        free(self.gram_c)
        free(self.block)
        free(self.next_entry)

    cdef int prepare(self) except -1:
        cdef Problem p = self.problem
        cdef size_t size, k
        p.prepare()
        size = p.columns.a.size + 1
        free(self.working)
        free(self.list)
        free(self.values)
        free(self.largest)
        free(self.gram_at)
        self.working = <Coordinate*>malloc(size * sizeof(Coordinate))
        self.list, self.values = <uint32_t*>malloc(4 * size), <double*>malloc(8 * (size + MOST_GRAM))
        self.largest, self.gram_at = <float*>malloc(4 * size), <uint32_t*>malloc(4 * (p.d + 1))
        if (self.working == NULL or self.list == NULL or self.values == NULL or self.largest == NULL
                or self.gram_at == NULL):
            raise MemoryError("no memory for the working set")
        self.accesses += 3 * p.columns.nonzeros
        for k in range(size - 1):
            self.largest[k] = -1
        self.steps, self.caution = 0, CAREFUL
        self.patience = FEW_CYCLES if p.violation > p.l1 else NEAR_CYCLES
        for k in range(p.n):
            self.moved[k] = 0
        self.gram_size = 0
        self.paid = self.last_paid = 0
        return 0

    cdef int iterate(self, Problem p) except -1 nogil:
        cdef double before = p.violation
        cdef int rounds = 1 if before > p.l1 else 2, round
        cdef bint moved = False, known = True
        if before > p.l1:       # other weights will come
            self.paid = 0
        self.pick(p)
        self.columns, self.gram_cost = self.size, -1
        for round in range(rounds):
            if self.model(p, round > 0) <= INNER * before and round > 0:
                break
            self.descend(p)
            if not self.search(p):
                break
            moved = True
            if self.stopped():
                break
        self.steps += 1
        if self.steps % RECOMPUTE == 0 or not moved:
            p.predict()
            known = False
            self.accesses += p.rows.nonzeros
        p.settle(known)
        self.accesses += p.columns.nonzeros
        self.done = not (moved or self.stopped())
        return 0

    cdef void pick(self, Problem p) noexcept nogil:
        """The working set: weights that are not zero, and the largest violators."""
        cdef size_t k, j, violators = 0, nonzeros = 0, most
        cdef double least = 0, violation
        cdef Penalty penalty
        cdef Coordinate* q
        for k in range(p.columns.a.size):
            j = p.columns.rows_column[k]
            if p.weights[j] != 0:
                nonzeros += 1
                continue
            if fabs(p.g[j]) <= (p.l1 if p.c == NULL else p.l1 * p.c[j]):
                continue
            penalty = p.penalty_of(j)
            violation = violation_of(&penalty, 0, p.g[j])
            if violation > 0:
                self.values[violators] = violation
                violators += 1
        most = max(<size_t>LEAST_VIOLATORS, nonzeros, violators / 4)
        if violators > most:
            least = largest_but(self.values, violators, most)
        self.size = 0
        for k in range(p.columns.a.size):
            j = p.columns.rows_column[k]
            if p.weights[j] == 0 and fabs(p.g[j]) <= (p.l1 if p.c == NULL else p.l1 * p.c[j]):
                continue
            penalty = p.penalty_of(j)
            if p.weights[j] == 0:
                violation = violation_of(&penalty, 0, p.g[j])
                if violation <= 0 or violation < least:
                    continue
            q = &self.working[self.size]
            self.size += 1
            q.k, q.j, q.penalty, q.g = <uint32_t>k, <uint32_t>j, penalty, p.g[j]
            q.w = p.weights[j]

    cdef double model(self, Problem p, bint again) noexcept nogil:
        """The model at the predictions as they are, in the working set; the largest violation there. again: the
        gradient that the problem has is an older one."""
        cdef const ByColumn* a = &p.columns.a
        cdef Coordinate* q
        cdef size_t at, i
        cdef double worst = 0, curved
        memset(self.v, 0, 4 * p.n)
        for i in range(p.n):
            self.d[i] = <float>smaller(p.curved[i], 1e30)       # Poisson's may be more than a float holds
        if p.loss.kind != SQUARED:
            for i in range(p.n):
                if self.moved[i] > NEAR:
                    curved = curvature_nearby(p.loss, p.predictions[i], p.y[i], p.h[i], p.r[i], p.curved[i],
                                              self.caution * self.moved[i])
                    self.d[i] = <float>smaller(curved, 1e30)
        self.sum_d = 0
        if p.constant:
            for i in range(p.n):
                self.t[i] = self.d[i]
            self.sum_d = total(self.t, p.n)
        self.along = 0
        self.keep_gram(p)
        for at in range(self.size):
            q = &self.working[at]
            if again:
                q.g = dot(p.r, a, q.k)
                self.accesses += a.begin[q.k + 1] - a.begin[q.k]
            worst = larger(worst, violation_of(&q.penalty, q.w, q.g))
            q.start, q.live = q.w, q.w != 0
            if self.largest[q.k] < 0:
                self.largest[q.k] = largest_size(a, q.k)
            q.largest = self.largest[q.k]
            q.h = -1
        return worst

    cdef void bend(self, const ByColumn* a, Coordinate* q) noexcept nogil:
        """The curvature of a weight: when it is visited first, while its column is at hand."""
        cdef double c, h = curvature_along(self.d, a, q.k, &c)
        q.c = c if self.sum_d > 0 else 0
        q.h = larger(h - q.c * c / self.sum_d if self.sum_d > 0 else h, larger(FLAT * h, 1e-300))
        self.accesses += a.begin[q.k + 1] - a.begin[q.k]

    cdef void descend(self, Problem p) noexcept nogil:
        """Cycles over the working set, then over those of it that live."""
        cdef const ByColumn* a = &p.columns.a
        cdef Coordinate* q
        cdef size_t at, size = self.size, kept
        cdef int cycle
        cdef double g, u, step, gained, whole = 0
        cdef uint64_t before = self.accesses
        for at in range(size):
            self.list[at] = <uint32_t>at
        if self.gram_size:
            self.descend_gram(p)
            return
        for cycle in range(self.patience):
            if self.buys_gram(p):
                self.descend_gram(p)
                return
            gained = kept = 0
            self.shuffle(size)
            for at in range(size):
                q = &self.working[self.list[at]]
                if at + AHEAD < size:
                    fetch_column(a, self.working[self.list[at + AHEAD]].k)
                if q.h < 0:
                    self.bend(a, q)
                g = q.g + add_dot(self, a, q)
                u = minimizer(&q.penalty, q.w, g, q.h)
                step = u - q.w
                if fabs(step) * q.largest > FURTHEST:
                    step = FURTHEST / q.largest if step > 0 else -FURTHEST / q.largest
                    u = q.w + step
                if step != 0:
                    q.w, q.live = u, True
                    add_scaled(self.v, self.d, <float>step, a, q.k)
                    if self.sum_d > 0:
                        self.along -= step * q.c / self.sum_d
                    gained += step * step * q.h
                    self.accesses += a.begin[q.k + 1] - a.begin[q.k]
                    self.paid += a.begin[q.k + 1] - a.begin[q.k]
                self.accesses += a.begin[q.k + 1] - a.begin[q.k]
                self.paid += a.begin[q.k + 1] - a.begin[q.k]
                if q.live:
                    self.list[kept] = self.list[at]
                    kept += 1
            size = kept
            whole += gained
            if (gained <= ENOUGH * whole and cycle > 0) or self.stopped():
                break
        self.last_paid = self.accesses - before

    cdef void keep_gram(self, Problem p) noexcept nogil:
        """Drop the Gram matrix unless it still serves: all of the working set is in it, and the curvature is much as it
        was."""
        cdef size_t at, i
        cdef double change = 0, whole = 0
        if self.gram_size == 0:
            return
        for i in range(p.n):
            change += fabs(self.d[i] - self.gram_d[i])
            whole += self.gram_d[i]
        if change <= SAME * whole:
            for at in range(self.size):
                if self.gram_at[self.working[at].j] == NOT_KEPT:
                    break
            else:
                return
        self.gram_size = 0

    cdef bint buys_gram(self, Problem p) noexcept nogil:
        """Whether to have the Gram matrix of the working set, and if so, make it: if it costs less than a few cycles, less
        than the cycles since the last one did, or less than those of the last step."""
        cdef const ByColumn* a = &p.columns.a
        cdef size_t at, i, entries = 0, m = self.size
        cdef double least, most
        cdef bint counted = False
        if not self.gram_allowed or m == 0 or m > MOST_GRAM:
            return False
        for at in range(m):
            entries += a.begin[self.working[at].k + 1] - a.begin[self.working[at].k]
        most = larger(larger(CHEAP * entries, self.paid), self.last_paid)
        # A lower bound of the cost, for rows of equal length; the real cost is counted if this is small enough.
        least = <double>entries * entries / p.n / 2 + COPIED * entries
        if least > most:
            return False
        if self.gram_cost < 0:
            self.count_rows(p)
            counted = True
            self.gram_cost = 0
            for i in range(p.n):
                self.gram_cost += self.t[i] * self.t[i]
            self.gram_cost = self.gram_cost / 2 + COPIED * entries + EACH * m * (m + p.n / 64)
        if self.gram_cost > most:
            return False
        if not counted:
            self.count_rows(p)
        if not self.allocate_gram(p):
            return False
        self.make_gram(p)
        self.accesses += <uint64_t>self.gram_cost
        self.paid = 0
        return True

    cdef void count_rows(self, Problem p) noexcept nogil:
        """t: how many entries each row has in the working set."""
        cdef const ByColumn* a = &p.columns.a
        cdef size_t at, e, k
        memset(self.t, 0, 8 * p.n)
        for at in range(self.size):
            k = self.working[at].k
            for e in range(a.begin[k], a.begin[k + 1]):
                self.t[a.entry[e].row] += 1

    cdef bint allocate_gram(self, Problem p) noexcept nogil:
        """Whether there is memory for the matrix, and for the entries of any block of rows, as counted."""
        cdef size_t i, m = self.size, longest = 0
        cdef double here = 0
        for i in range(p.n):
            here = self.t[i] if i % BLOCK == 0 else here + self.t[i]
            longest = max(longest, <size_t>here)
        if longest > self.block_capacity:
            free(self.block)
            self.block = <Entry*>malloc(sizeof(Entry) * longest)
            self.block_capacity = longest if self.block != NULL else 0
            if self.block == NULL:
                return False
        if m > self.gram_capacity:
            free(self.gram)
            self.gram = <double*>malloc(8 * m * m)
            self.gram_capacity = m if self.gram != NULL else 0
            if self.gram == NULL:
                return False
        return True

    cdef void make_gram(self, Problem p) noexcept nogil:
        """By blocks of rows: the entries of the working set there, row by row, then all pairs of each row."""
        cdef const ByColumn* a = &p.columns.a
        cdef size_t at, i, e, f, k, m = self.size, first = 0, last
        cdef uint32_t[BLOCK] place      # the place of the next entry of a row, and finally the end of the row
        cdef size_t row, begin
        cdef double c
        cdef double* line
        memset(self.gram, 0, 8 * m * m)
        memset(self.gram_at, 0xFF, 4 * p.d)
        memcpy(self.gram_d, self.d, 4 * p.n)
        for at in range(m):
            if self.working[at].h < 0:
                self.bend(a, &self.working[at])
            self.gram_at[self.working[at].j] = <uint32_t>at
            self.next_entry[at] = a.begin[self.working[at].k]
        while first < p.n:
            last = min(first + BLOCK, p.n)
            begin = 0
            for i in range(first, last):
                place[i - first] = <uint32_t>begin
                begin += <size_t>self.t[i]
            for at in range(m):
                k = self.working[at].k
                e = self.next_entry[at]
                while e < a.begin[k + 1] and a.entry[e].row < last:
                    row = a.entry[e].row - first
                    self.block[place[row]].row, self.block[place[row]].value = <uint32_t>at, a.entry[e].value
                    place[row] += 1
                    e += 1
                self.next_entry[at] = e
            begin = 0
            for i in range(first, last):
                for e in range(begin, place[i - first]):
                    line = self.gram + self.block[e].row * m
                    c = self.d[i] * <double>self.block[e].value
                    for f in range(begin, e + 1):
                        line[self.block[f].row] += c * self.block[f].value
                begin = place[i - first]
            first = last
        for e in range(m):
            self.gram_c[e] = self.working[e].c
            for f in range(e):
                c = self.gram[e * m + f]
                if self.sum_d > 0:
                    c -= self.working[e].c * self.working[f].c / self.sum_d
                self.gram[e * m + f] = self.gram[f * m + e] = c
            self.gram[e * m + e] = self.working[e].h
        self.gram_size, self.gram_sum_d = m, self.sum_d

    cdef void descend_gram(self, Problem p) noexcept nogil:
        """Cycles that keep the gradient of the model instead of predictions."""
        cdef size_t at, j, m = self.gram_size, size = self.size, kept
        cdef int cycle
        cdef double u, step, gained, whole = 0
        cdef double* g = self.values
        cdef const double* line
        cdef Coordinate* q
        memset(g, 0, 8 * m)
        for at in range(size):
            q = &self.working[at]
            j = self.gram_at[q.j]
            g[j] += q.g
            q.h, q.c = self.gram[j * m + j], self.gram_c[j]
            if q.w != q.start:
                add_line(g, self.gram + j * m, q.w - q.start, m)
            self.list[at] = <uint32_t>at
        for cycle in range(GRAM_CYCLES):
            gained = kept = 0
            self.shuffle(size)
            for at in range(size):
                q = &self.working[self.list[at]]
                j = self.gram_at[q.j]
                u = minimizer(&q.penalty, q.w, g[j], q.h)
                step = u - q.w
                if fabs(step) * q.largest > FURTHEST:
                    step = FURTHEST / q.largest if step > 0 else -FURTHEST / q.largest
                    u = q.w + step
                if step != 0:
                    q.w, q.live = u, True
                    add_line(g, self.gram + j * m, step, m)
                    gained += step * step * q.h
                if q.live:
                    self.list[kept] = self.list[at]
                    kept += 1
            size = kept
            whole += gained
            if gained <= GRAM_ENOUGH * whole and cycle > 0 or (cycle % 8 == 7 and self.stopped()):
                break
        self.along = 0
        if self.gram_sum_d > 0:
            for at in range(self.size):
                q = &self.working[at]
                self.along -= (q.w - q.start) * q.c / self.gram_sum_d

    cdef void trust(self, double quality) noexcept nogil:
        """Adapt to the decrease of the objective, as a part of the predicted one; 0: the whole step was too long."""
        if quality < BAD:
            self.caution = smaller(4 * self.caution, MOST_CAREFUL)
            self.patience = max(self.patience // 2, FEW_CYCLES)
        elif quality > GOOD:
            self.caution = larger(self.caution / 4, CAREFUL)
            self.patience = min(2 * self.patience, MOST_CYCLES)

    cdef void shuffle(self, size_t size) noexcept nogil:
        """Put the list in a random order. In the order of the data, or in one order drawn for good, cycles take several
        times as many: columns that are alike follow each other."""
        cdef size_t at, other
        cdef uint32_t swap
        for at in range(size):
            other = at + random_below(&self.random, size - at)
            swap = self.list[at]
            self.list[at] = self.list[other]
            self.list[other] = swap

    cdef bint search(self, Problem p) noexcept nogil:
        """Line search: returns whether a point with enough decrease of the objective was found."""
        cdef const ByColumn* a = &p.columns.a
        cdef Coordinate* q
        cdef size_t at, i
        cdef int halving
        cdef double part = 1, step, predicted = 0, quadratic, before = p.mean_loss, b = p.b, change, u, loss, quality
        memset(self.t, 0, 8 * p.n)
        memset(self.outward, 0, 8 * p.n)
        for at in range(self.size):
            q = &self.working[at]
            step = q.w - q.start
            if step == 0:
                continue
            predicted += q.g * step + penalty_change(&q.penalty, q.start, q.w)
            add_column(self.outward if goes_outward(q) else self.t, step, a, q.k)
        memcpy(self.start, p.predictions, 8 * p.n)
        quadratic = add_steps(self.t, self.outward, self.along, self.d, p.n)
        for halving in range(HALVINGS):
            change = 0
            for at in range(self.size):
                q = &self.working[at]
                if q.w != q.start:
                    u = q.w if halving == 0 else q.start + part * (q.w - q.start)
                    change += penalty_change(&q.penalty, q.start, u)
            for i in range(p.n):
                p.predictions[i] = self.start[i] + part * self.t[i]
            loss = p.lose()
            change += loss - before
            if change <= ARMIJO * part * predicted or (
                    -predicted < NOISE * fabs(p.objective) and change <= 1e-13 * fabs(p.objective)):
                p.b = b + part * self.along
                quality = change / (predicted + quadratic / 2) if halving == 0 else 0
                self.trust(quality)
                if halving == 0:
                    self.lengthen(p)
                else:
                    self.gram_size = 0          # its curvature does not hold
                for at in range(self.size):
                    q = &self.working[at]
                    if q.w != q.start:
                        if halving:
                            q.w = q.start + part * (q.w - q.start)
                        p.weights[q.j] = q.w
                for i in range(p.n):
                    self.moved[i] = fabs(self.t[i])
                p.fit_constant(True)
                p.objective = p.mean_loss + p.penalties()
                return True
            part /= 2
        memcpy(p.predictions, self.start, 8 * p.n)
        p.lose()
        for at in range(self.size):
            self.working[at].w = self.working[at].start
        return False

    cdef void lengthen(self, Problem p) noexcept nogil:
        """After a whole step: have its weights that went away from 0 go further, by Newton's method for how far, while
        the objective falls. The others stay where they came to: most of them at 0."""
        cdef Coordinate* q
        cdef size_t at, i
        cdef int times
        cdef double along = 0, sum_d = self.gram_sum_d if self.gram_size else self.sum_d
        cdef double linear = 0, squares = 0, furthest = INFINITY, step, slope, curvature, by = 0, change
        cdef double loss = p.mean_loss, least = 0, best = 0, to
        for at in range(self.size):
            q = &self.working[at]
            step = q.w - q.start
            if step == 0 or not goes_outward(q):
                continue
            linear += q.penalty.l1 * fabs(step) + q.penalty.l2 * q.w * step
            squares += q.penalty.l2 * step * step
            furthest = smaller(furthest, ((q.penalty.high if step > 0 else q.penalty.low) - q.w) / step)
            if sum_d > 0:
                along -= step * q.c / sum_d
        if along != 0:
            for i in range(p.n):
                self.outward[i] += along
        for times in range(LONGER):
            slope = slope_along(p.r, p.curved, self.outward, p.n, &curvature) + linear + by * squares
            curvature += squares
            if slope >= 0 or curvature <= 0:
                break
            to = smaller(by - slope / curvature, furthest)
            if to - by < LENGTHEN * (1 + by) or slope * (to - by) / 2 > ENOUGH * least:
                break
            for i in range(p.n):
                p.predictions[i] += (to - by) * self.outward[i]
            by = to
            change = p.lose() - loss + by * linear + by * by / 2 * squares
            if change >= least:
                break
            least, best = change, by
        if by != best:
            for i in range(p.n):
                p.predictions[i] += (best - by) * self.outward[i]
            p.lose()
        if best == 0:
            return
        p.b += best * along
        for at in range(self.size):
            q = &self.working[at]
            if q.w != q.start and goes_outward(q):
                q.w = smaller(larger(q.w + best * (q.w - q.start), q.penalty.low), q.penalty.high)


cdef inline bint goes_outward(const Coordinate* q) noexcept nogil:
    """Whether its step leads away from 0, so that it could continue."""
    return q.start >= 0 and q.w > q.start or q.start <= 0 and q.w < q.start


cdef inline double curvature_nearby(BatchLoss loss, double p, double y, double h, double r, double curved,
                                    double away) noexcept nogil:
    """A curvature that holds for a step of size `away`. As D(p + s) <= e^|s| D(p), that of a parabola above the loss at
    both ends is D 2 (e^s - s - 1) / s^2, of which this is the beginning of the series; for the logistic loss
    tanh(p / 2) / (2 p) holds for any step (Jaakkola, Jordan. Bayesian Parameter Estimation via Variational Methods. 2000);
    for the squared hinge, that of the other side."""
    cdef double growth
    if loss.kind == SQUARED_HINGE:
        return 2 * h if y * p < 1 + away else curved
    if loss.kind == SQUARED:
        return curved
    away = smaller(away, 10)
    growth = 1 + away * (1 / 3.0 + away * (1 / 12.0 + away * (1 / 60.0 + away * (1 / 360.0))))
    if loss.kind == POISSON or fabs(p) < 0.01:
        return curved * growth
    return larger(smaller(curved * growth, fabs(h - 2 * fabs(r)) / (2 * fabs(p))), curved)


cdef inline void add_line(double* out, const double* line, double step, size_t n) noexcept nogil:
    cdef size_t i
    for i in range(n):
        out[i] += step * line[i]


cdef inline double add_dot(Newton self, const ByColumn* a, const Coordinate* q) noexcept nogil:
    """The change of the gradient by the steps so far."""
    return dot_float(self.v, a, q.k) + q.c * self.along


cdef inline double penalty_change(const Penalty* penalty, double w, double u) noexcept nogil:
    return penalty.l1 * (fabs(u) - fabs(w)) + penalty.l2 / 2 * (u - w) * (u + w)


cdef double largest_but(double* values, size_t n, size_t most) noexcept nogil:
    """The `most`-th largest of n numbers, by Hoare's selection; their order changes."""
    cdef size_t low = 0, high = n - 1, i, j
    cdef double pivot, swap
    while low < high:
        pivot = values[low + (high - low) / 2]
        i, j = low, high
        while True:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i >= j:
                break
            swap = values[i]
            values[i] = values[j]
            values[j] = swap
            i += 1
            j -= 1
        if most - 1 <= j:
            high = j
        else:
            low = j + 1
    return values[most - 1]
