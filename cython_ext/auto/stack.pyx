"""Stacking: one weight for each column of scores, such that their sum has the least loss.

From files, u minimizes sum of h loss(o . u, y) + strength |u - u_0|^2 over out-of-fold scores o, by Newton's method; a loss
with kinks is smoothed for it (robust.pyx), and not where losses are compared.
From a stream, u takes an implicit Newton step after each example, with forgetting: the derivative is that of the score
where the step ends, so that no step overshoots. (Toulis, Airoldi. Asymptotic and finite-sample properties of estimators based
on stochastic gradients. Annals of Statistics 2017.)

Wolpert. Stacked Generalization. Neural Networks 1992. No sum is left to a library, whose order would be its own: the same
bytes everywhere.
"""

from libc.float cimport FLT_MAX
from libc.math cimport fabs, isfinite, sqrt
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free, malloc

from vwlite.core.auto.lanes cimport COLUMNS, STATE
from vwlite.core.auto.robust cimport smoothed
from vwlite.core.base.targets cimport *
from vwlite.core.learn.losses cimport Loss, bounded

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>

    typedef float F4 __attribute__((vector_size(16), aligned(4), may_alias));
    typedef double D4 __attribute__((vector_size(32), aligned(8), may_alias));
    #define VWLITE_WIDE(at) __builtin_convertvector(*(const F4 *)(at), D4)

    /* Add rows of 8 scores to the derivatives: slope o to the gradient, curvature o o' to the lower half of the matrix. */
    VWLITE_CLONES_V3 static void vwlite_derivatives(const float *scores, const uint32_t *rows, size_t n, const double *slope,
                                                    const double *curvature, double *gradient, double *matrix) {
        D4 *g = (D4 *)gradient, *m = (D4 *)matrix, low_slope = g[0], high_slope = g[1];
        D4 m0 = m[0], m1 = m[2], m2 = m[4], m3 = m[6], m4 = m[8], m5 = m[10], m6 = m[12], m7 = m[14];
        D4 n4 = m[9], n5 = m[11], n6 = m[13], n7 = m[15];
        for (size_t i = 0; i < n; i++) {
            const float *o = scores + 8 * (size_t)rows[i];
            D4 low = VWLITE_WIDE(o), high = VWLITE_WIDE(o + 4);
            D4 part = curvature[i] * low, high_part = curvature[i] * high;
            low_slope += slope[i] * low;
            high_slope += slope[i] * high;
            m0 += part[0] * low;
            m1 += part[1] * low;
            m2 += part[2] * low;
            m3 += part[3] * low;
            m4 += high_part[0] * low;
            n4 += high_part[0] * high;
            m5 += high_part[1] * low;
            n5 += high_part[1] * high;
            m6 += high_part[2] * low;
            n6 += high_part[2] * high;
            m7 += high_part[3] * low;
            n7 += high_part[3] * high;
        }
        g[0] = low_slope, g[1] = high_slope;
        m[0] = m0, m[2] = m1, m[4] = m2, m[6] = m3, m[8] = m4, m[10] = m5, m[12] = m6, m[14] = m7;
        m[9] = n4, m[11] = n5, m[13] = n6, m[15] = n7;
    }
    """
    void add_derivatives "vwlite_derivatives"(const float* scores, const uint32_t* rows, size_t n, const double* slope,
                                              const double* curvature, double* gradient, double* matrix) noexcept nogil

cdef enum:
    BLOCK = 256         # rows whose derivatives are added together

WIDTH = COLUMNS                     # for Python
cdef double TOLERANCE = 1e-10
cdef double LEAST_CURVATURE = 1e-4
cdef double PRIOR = 0.3             # B of a stream begins with this times the unit matrix
cdef double FORGETTING = 0.9999


cdef class Scored:
    """Examples with COLUMNS scores each, labels, importances and initial predictions."""

    cdef Loss loss, smooth
    cdef const float[::1] scores
    cdef const double[::1] label, importance, initial
    cdef readonly size_t size
    cdef double* p                    # owned, [size]; predictions where the objective was asked for last,
    cdef double* slope                # ... and the derivatives of the smooth loss there

    def __cinit__(self, Loss loss not None, const float[::1] scores not None, const double[::1] label not None,
                  const double[::1] importance not None, const double[::1] initial not None):
        self.p = <double*>malloc((label.shape[0] + 1) * sizeof(double))
        self.slope = <double*>malloc((label.shape[0] + 1) * sizeof(double))
        if self.p == NULL or self.slope == NULL:
            raise MemoryError("no memory for the stack")

    def __dealloc__(self):
        free(self.p)
        free(self.slope)

    def __init__(self, Loss loss not None, const float[::1] scores not None, const double[::1] label not None,
                 const double[::1] importance not None, const double[::1] initial not None):
        self.loss, self.smooth, self.scores = loss, smoothed(loss), scores
        self.label, self.importance, self.initial = label, importance, initial
        self.size = label.shape[0]
        if not (<size_t>scores.shape[0] == COLUMNS * self.size
                and <size_t>importance.shape[0] == <size_t>initial.shape[0] == self.size):
            raise ValueError("arrays of different lengths")

    def losses(self, which=None):
        """The mean loss of each column, over the rows whose entry in `which` is not 0."""
        cdef const uint8_t[::1] rows = which
        cdef double found[COLUMNS]
        cdef double dloss, total = 0
        cdef size_t i, c
        for c in range(COLUMNS):
            found[c] = 0
        with nogil:
            for i in range(self.size):
                if rows is not None and not rows[i]:
                    continue
                total += self.importance[i]
                for c in range(COLUMNS):
                    found[c] += self.importance[i] * self.loss.evaluate(
                        bounded(self.loss, self.initial[i] + self.scores[i * COLUMNS + c]), self.label[i], &dloss)
        return [found[c] / total for c in range(COLUMNS)]

    def loss_of(self, u, which=None):
        """The sum of importance times loss of o . u, over the rows whose entry in `which` is not 0."""
        cdef double weights[COLUMNS]
        cdef double found
        cdef const uint8_t[::1] rows = which
        take(u, weights)
        with nogil:
            found = objective(self, self.loss, weights, rows)
        return found

    def fit(self, u_0, double strength, which=None):
        """u by Newton's method, from u_0, over the rows whose entry in `which` is not 0: to a relative 1e-10."""
        cdef double u[COLUMNS]
        cdef double start[COLUMNS]
        cdef const uint8_t[::1] rows = which
        take(u_0, u)
        take(u_0, start)
        with nogil:
            newton(self, u, start, strength, rows)
        return [u[c] for c in range(COLUMNS)]

    def turns_round(self, u, u_0, which=None):
        """Whether o . u has a negative covariance with o . u_0, weighted by importance, over the rows whose entry in `which`
        is not 0."""
        cdef double a[COLUMNS]
        cdef double b[COLUMNS]
        cdef const uint8_t[::1] rows = which
        take(u, a)
        take(u_0, b)
        return covariance(self, a, b, rows) < 0

    def predictions(self, u, double[::1] out not None, which=None):
        """Fill in the scores initial + o . u of the rows whose entry in `which` is not 0."""
        cdef double weights[COLUMNS]
        cdef const uint8_t[::1] rows = which
        cdef size_t i
        take(u, weights)
        for i in range(self.size):
            if rows is None or rows[i]:
                out[i] = combined(self, weights, i)


cdef take(u, double* out):
    if len(u) != COLUMNS:
        raise ValueError("one weight for each column")
    for c in range(COLUMNS):
        out[c] = u[c]


cdef inline double combined(Scored self, const double* u, size_t i) noexcept nogil:
    cdef size_t c
    cdef double p = self.initial[i]
    for c in range(COLUMNS):
        p += u[c] * self.scores[i * COLUMNS + c]
    return bounded(self.loss, p)


cdef double covariance(Scored self, const double* u, const double* v, const uint8_t[::1] rows) noexcept nogil:
    """That of o . u and o . v, times the sum of the importances."""
    cdef size_t i
    cdef double total = 0, sum_u = 0, sum_v = 0, sum = 0, h
    for i in range(self.size):
        if rows is None or rows[i]:
            h = self.importance[i]
            total += h
            sum_u += h * dot(self, u, i)
            sum_v += h * dot(self, v, i)
    for i in range(self.size):
        if rows is None or rows[i]:
            sum += self.importance[i] * (dot(self, u, i) - sum_u / total) * (dot(self, v, i) - sum_v / total)
    return sum


cdef inline double dot(Scored self, const double* u, size_t i) noexcept nogil:
    cdef size_t c
    cdef double sum = 0
    for c in range(COLUMNS):
        sum += u[c] * self.scores[i * COLUMNS + c]
    return sum


cdef double objective(Scored self, Loss loss, const double* u, const uint8_t[::1] rows) noexcept nogil:
    cdef size_t i
    cdef double sum = 0
    for i in range(self.size):
        if rows is None or rows[i]:
            self.p[i] = combined(self, u, i)
            sum += self.importance[i] * loss.evaluate(self.p[i], self.label[i], &self.slope[i])
    return sum


cdef double penalty(const double* u, const double* start, double strength) noexcept nogil:
    cdef size_t c
    cdef double sum = 0
    for c in range(COLUMNS):
        sum += (u[c] - start[c]) * (u[c] - start[c])
    return strength * sum


cdef void newton(Scored self, double* u, const double* start, double strength, const uint8_t[::1] rows) noexcept nogil:
    """Newton's method; a step is halved until the objective falls. Derivatives are those where it was asked for last."""
    cdef double gradient[COLUMNS]
    cdef double tried[COLUMNS]
    cdef double hessian[COLUMNS * COLUMNS]
    cdef double now = objective(self, self.smooth, u, rows) + penalty(u, start, strength), after, size
    cdef size_t c, turn, halving
    for turn in range(MOST_ROUNDS):
        derivatives(self, rows, gradient, hessian)
        for c in range(COLUMNS):
            gradient[c] += 2 * strength * (u[c] - start[c])
            hessian[c * COLUMNS + c] += 2 * strength
        if not solve(hessian, gradient, COLUMNS):
            return
        size = 1
        after = now
        for halving in range(MOST_HALVINGS):
            for c in range(COLUMNS):
                tried[c] = u[c] - size * gradient[c]
            after = objective(self, self.smooth, tried, rows) + penalty(tried, start, strength)
            if after < now:
                break
            size /= 2
        if not after < now:
            return
        for c in range(COLUMNS):
            u[c] = tried[c]
        if now - after <= TOLERANCE * fabs(after):
            return
        now = after


cdef void derivatives(Scored self, const uint8_t[::1] rows, double* gradient, double* hessian) noexcept nogil:
    """Those of the objective without the penalty; of the matrix the lower half."""
    cdef uint32_t[BLOCK] which
    cdef double[BLOCK] slope
    cdef double[BLOCK] curvature
    cdef size_t i, c, n = 0
    for c in range(COLUMNS):
        gradient[c] = 0
    for c in range(COLUMNS * COLUMNS):
        hessian[c] = 0
    for i in range(self.size):
        if rows is not None and not rows[i]:
            continue
        which[n], slope[n] = <uint32_t>i, self.importance[i] * self.slope[i]
        curvature[n] = self.importance[i] * self.smooth.curvature(self.p[i], self.label[i])
        n += 1
        if n == BLOCK:
            add_derivatives(&self.scores[0], which, n, slope, curvature, gradient, hessian)
            n = 0
    if n:
        add_derivatives(&self.scores[0], which, n, slope, curvature, gradient, hessian)


cdef bint solve(double* matrix, double* x, size_t n) noexcept nogil:
    """x = matrix^-1 x for an n x n matrix, by Cholesky's factors of the lower half; false if it is not positive definite."""
    cdef size_t i, j, k
    cdef double sum
    for i in range(n):
        for j in range(i + 1):
            sum = matrix[i * n + j]
            for k in range(j):
                sum -= matrix[i * n + k] * matrix[j * n + k]
            if i > j:
                matrix[i * n + j] = sum / matrix[j * n + j]
            elif sum > 0 and isfinite(sum):
                matrix[i * n + i] = sqrt(sum)
            else:
                return False
    for i in range(n):
        for k in range(i):
            x[i] -= matrix[i * n + k] * x[k]
        x[i] /= matrix[i * n + i]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] -= matrix[k * n + i] * x[k]
        x[i] /= matrix[i * n + i]
    return True


cdef class OnlineStack:
    """The weights of a stream, which learn after each example. Everything is in the order of the examples."""

    def __init__(self, Loss loss not None):
        cdef size_t c
        self.loss = smoothed(loss)
        for c in range(COLUMNS):
            self.u[c] = 1.0 / COLUMNS
            self.B[c * COLUMNS + c] = PRIOR

    @property
    def weights(self):
        return [self.u[c] for c in range(COLUMNS)]

    def learn(self, scores, double label, double importance=1, double initial=0):
        """Learn one example; returns its score before."""
        cdef float given[COLUMNS]
        for c in range(COLUMNS):
            given[c] = scores[c]
        return self.step(given, label, importance, initial)

    cdef double step(self, const float* o, double label, double importance, double initial) noexcept nogil:
        """Learn one example; returns its score before, initial + o . u.

        p = u . o; q = o' B o; z = p - q loss'(z); u <- u - B o loss'(z); B <- B - h B o o' B / (1 + h q), h the
        curvature at z.
        """
        cdef double direction[COLUMNS]
        cdef double p = initial, q = 0, trace = 0, z, dloss, curvature, factor
        cdef size_t c, d
        for c in range(COLUMNS):
            p += self.u[c] * o[c]
            trace += self.B[c * COLUMNS + c]
        if trace < PRIOR * COLUMNS:
            for c in range(COLUMNS * COLUMNS):
                self.B[c] /= FORGETTING
        for c in range(COLUMNS):
            direction[c] = 0
            for d in range(COLUMNS):
                direction[c] += self.B[c * COLUMNS + d] * o[d]
            q += direction[c] * o[c]
        if not (isfinite(p) and isfinite(q)):
            return p
        z = implicit(self.loss, p, q * importance, label)
        self.loss.evaluate(z, label, &dloss)
        curvature = importance * max(self.loss.curvature(z, label), LEAST_CURVATURE)
        for c in range(COLUMNS):
            self.u[c] -= importance * direction[c] * dloss
        factor = curvature / (1 + curvature * q)
        for c in range(COLUMNS):
            for d in range(COLUMNS):    # B stays symmetric: else what differs by rounding grows by 1 / FORGETTING a step
                self.B[c * COLUMNS + d] -= factor * (direction[c] * direction[d])
        return p

    def state(self):
        """All that was learned, which `load` restores."""
        return {"u": self.weights, "B": [self.B[c] for c in range(COLUMNS * COLUMNS)]}

    def load(self, state):
        for c in range(COLUMNS):
            self.u[c] = state["u"][c]
        for c in range(COLUMNS * COLUMNS):
            self.B[c] = state["B"][c]


cdef double implicit(Loss loss, double p, double q, double y) noexcept nogil:
    """z with z = p - q loss'(z), by Newton's method within bounds."""
    cdef double z = bounded(loss, p), low, high, value, next, dloss
    cdef size_t turn
    loss.evaluate(z, y, &dloss)
    if not isfinite(dloss):
        return z
    low, high = min(z, z - q * dloss), max(z, z - q * dloss)
    for turn in range(MOST_ROUNDS):
        if high - low <= 1e-12 * (1 + fabs(z)):
            break
        loss.evaluate(z, y, &dloss)
        value = z - p + q * dloss
        if value > 0:
            high = z
        else:
            low = z
        next = z - value / (1 + q * loss.curvature(z, y))
        if not low < next < high:
            next = (low + high) / 2
        if fabs(next - z) < 1e-12 * (1 + fabs(z)):
            return next
        z = next
    return z


def stacked_scores(Loss loss not None, const float[::1] scores not None, u, const double[::1] initial not None,
                   double[::1] out not None):
    """out = initial + o . u for rows of COLUMNS scores, as `Scored.predictions`."""
    cdef double weights[COLUMNS]
    cdef size_t i, c
    take(u, weights)
    if scores.shape[0] < COLUMNS * out.shape[0]:
        raise ValueError("fewer scores than places")
    if initial.shape[0] != out.shape[0]:
        raise ValueError("as many initial predictions as places")
    for i in range(<size_t>out.shape[0]):
        out[i] = initial[i]
        for c in range(COLUMNS):
            out[i] += weights[c] * scores[i * COLUMNS + c]
        out[i] = bounded(loss, out[i])


def gathered(const double[::1] values not None, const uint32_t[::1] order not None, double[::1] out not None,
             double mean=0, double scale=1):
    """out[i] = (values[order[i]] - mean) / scale"""
    cdef size_t i
    if order.shape[0] < out.shape[0]:
        raise ValueError("fewer numbers than places")
    for i in range(<size_t>out.shape[0]):
        if order[i] >= <size_t>values.shape[0]:
            raise IndexError(order[i])
        out[i] = (values[order[i]] - mean) / scale


def folds_in_order(const uint8_t[::1] folds not None, const uint32_t[::1] order not None, uint8_t[::1] out not None):
    """out[i] = folds[order[i]]"""
    cdef size_t i
    if order.shape[0] < out.shape[0]:
        raise ValueError("fewer numbers than places")
    for i in range(<size_t>out.shape[0]):
        if order[i] >= <size_t>folds.shape[0]:
            raise IndexError(order[i])
        out[i] = folds[order[i]]


def combined_weights(const float[::1] columns not None, u, double[::1] out not None, double scale=1):
    """out = the sum of u_c its column c for each feature, times `scale`."""
    cdef double weights[COLUMNS]
    cdef size_t i, c
    take(u, weights)
    if columns.shape[0] != STATE * out.shape[0]:
        raise ValueError("arrays of different lengths")
    for i in range(<size_t>out.shape[0]):
        out[i] = 0
        for c in range(COLUMNS):
            out[i] += weights[c] * columns[i * STATE + c]
        out[i] *= scale


def column_of(const float[::1] columns not None, size_t c, float[::1] out not None, double scale=1):
    """out = column c of each feature, times `scale`, at most FLT_MAX."""
    cdef size_t i
    if columns.shape[0] != STATE * out.shape[0] or c >= STATE:
        raise ValueError("arrays of different lengths")
    for i in range(<size_t>out.shape[0]):
        out[i] = <float>min(columns[i * STATE + c] * scale, FLT_MAX)
