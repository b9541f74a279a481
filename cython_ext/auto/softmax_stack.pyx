"""Stacking with several classes: one weight for each column of scores, the same for all classes, and an offset for each class.

u and b minimize, over out-of-fold scores o_ik of example i and class k,

    sum_i h_i (log(sum_k exp(z_ik)) - z_iy) + strength |u - u_0|^2 + OFFSETS |b|^2,   z_ik = o_ik . u + b_k

by Newton's method. The softmax does not change if all z_i are shifted, and a class without examples would have an offset of
minus infinity: hence the penalty of b. A u for each class would overfit.
"""

from array import array

from libc.math cimport fabs
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from vwlite.core.auto.lanes cimport COLUMNS
from vwlite.core.auto.stack cimport MOST_HALVINGS, MOST_ROUNDS, TOLERANCE, solve
from vwlite.core.base.elementary cimport exp_of, log

cdef double OFFSETS = 0.5
cdef double FARTHEST = -600     # below the largest score, for exp_of


cdef class ClassScored:
    """Examples with COLUMNS scores for each class, labels and importances.

    scores: [examples * records * COLUMNS], of which the first `classes` records of an example take part. label: from 1 to
    `classes`. has_offsets: whether b is fitted, else it is 0. A stack is a list: u, then b unless it is 0.
    """

    cdef const float[::1] scores
    cdef const double[::1] label, importance
    cdef readonly size_t size, records, classes, unknowns
    cdef double* z                    # owned, [classes]
    cdef double* p                    # owned, [classes]; probabilities
    cdef double* numbers              # owned; the work space of Newton's method

    def __cinit__(self, const float[::1] scores not None, const double[::1] label not None,
                  const double[::1] importance not None, size_t records, size_t classes, bint has_offsets=True):
        cdef size_t i, n
        self.scores, self.label, self.importance = scores, label, importance
        self.size, self.records, self.classes = label.shape[0], records, classes
        if not (<size_t>scores.shape[0] == records * COLUMNS * self.size
                and <size_t>importance.shape[0] == self.size and 1 <= classes <= records):
            raise ValueError("arrays of different lengths")
        for i in range(self.size):
            if not 1 <= label[i] <= classes:
                raise ValueError("a label is none of the classes")
        self.unknowns = n = COLUMNS + (classes if has_offsets else 0)
        self.z = <double*>malloc(classes * sizeof(double))
        self.p = <double*>malloc(classes * sizeof(double))
        self.numbers = <double*>malloc((4 * n + n * n) * sizeof(double))
        if self.z == NULL or self.p == NULL or self.numbers == NULL:
            raise MemoryError("the stack does not fit: use --algorithm gd")

    def __dealloc__(self):
        free(self.z)
        free(self.p)
        free(self.numbers)

    def losses(self, which=None):
        """The mean loss of each column, over the rows whose entry in `which` is not 0."""
        cdef const uint8_t[::1] rows = which
        cdef double u[COLUMNS]
        cdef double sum, total = 0
        cdef size_t c, i
        for i in range(self.size):
            if rows is None or rows[i]:
                total += self.importance[i]
        found = []
        for c in range(COLUMNS):
            memset(u, 0, sizeof(u))
            u[c] = 1
            with nogil:
                sum = objective(self, u, COLUMNS, rows)
            found.append(sum / total)
        return found

    def loss_of(self, stack, which=None):
        """The sum of importance times loss, over the rows whose entry in `which` is not 0."""
        cdef const uint8_t[::1] rows = which
        cdef size_t n = len(stack)
        cdef double found
        self.take(stack, self.numbers)
        with nogil:
            found = objective(self, self.numbers, n, rows)
        return found

    def fit(self, u_0, double strength, which=None):
        """The stack by Newton's method, over the rows whose entry in `which` is not 0: to a relative 1e-10."""
        cdef const uint8_t[::1] rows = which
        cdef size_t i
        self.take(u_0, self.numbers)
        for i in range(COLUMNS, self.unknowns):
            self.numbers[i] = 0
        with nogil:
            newton(self, strength, rows)
        return [self.numbers[i] for i in range(self.unknowns)]

    def turns_round(self, stack, u_0, which=None):
        """Whether o . u, less its mean over the classes of an example, has a negative covariance with o . u_0, weighted by
        importance, over the rows whose entry in `which` is not 0. Offsets do not count."""
        cdef double u[COLUMNS]
        cdef double v[COLUMNS]
        cdef const uint8_t[::1] rows = which
        for c in range(COLUMNS):
            u[c], v[c] = stack[c], u_0[c]
        return covariance(self, u, v, rows) < 0

    def predictions(self, stack, double[::1] out not None, which=None):
        """Fill in z, [examples * classes], of the rows whose entry in `which` is not 0."""
        cdef const uint8_t[::1] rows = which
        cdef size_t i, k, n = len(stack)
        if <size_t>out.shape[0] != self.size * self.classes:
            raise ValueError("one place for each class of an example")
        self.take(stack, self.numbers)
        for i in range(self.size):
            if rows is None or rows[i]:
                combine(self, self.numbers, n, i)
                for k in range(self.classes):
                    out[i * self.classes + k] = self.z[k]

    cdef take(self, stack, double* out):
        if len(stack) not in (COLUMNS, self.unknowns):
            raise ValueError("one weight for each column, and one for each class or none")
        for i in range(len(stack)):
            out[i] = stack[i]


cdef double covariance(ClassScored self, const double* u, const double* v, const uint8_t[::1] rows) noexcept nogil:
    """That of o . u and o . v, each less its mean over the classes of an example, times the sum of the importances: these
    have the mean 0 over all classes."""
    cdef const float* o
    cdef double sum = 0, of_both, sum_u, sum_v, x, y
    cdef size_t i, k, c
    for i in range(self.size):
        if rows is not None and not rows[i]:
            continue
        of_both = sum_u = sum_v = 0
        for k in range(self.classes):
            o = &self.scores[(i * self.records + k) * COLUMNS]
            x = y = 0
            for c in range(COLUMNS):
                x += u[c] * o[c]
                y += v[c] * o[c]
            of_both += x * y
            sum_u += x
            sum_v += y
        sum += self.importance[i] * (of_both - sum_u * sum_v / self.classes)
    return sum


cdef double combine(ClassScored self, const double* stack, size_t n, size_t i) noexcept nogil:
    """Fill in z of an example; the largest."""
    cdef const float* o = &self.scores[i * self.records * COLUMNS]
    cdef double most = 0, z
    cdef size_t k, c
    for k in range(self.classes):
        z = 0
        for c in range(COLUMNS):
            z += stack[c] * o[c]
        if n > COLUMNS:
            z += stack[COLUMNS + k]
        self.z[k] = z
        if k == 0 or z > most:
            most = z
        o += COLUMNS
    return most


cdef double evaluate(ClassScored self, const double* stack, size_t n, size_t i) noexcept nogil:
    """The loss of an example; fills in z and p."""
    cdef double most = combine(self, stack, n, i), sum = 0
    cdef size_t k
    for k in range(self.classes):
        self.p[k] = exp_of(max(self.z[k] - most, FARTHEST))
        sum += self.p[k]
    for k in range(self.classes):
        self.p[k] /= sum
    return log(sum) + (most - self.z[<size_t>self.label[i] - 1])


cdef double objective(ClassScored self, const double* stack, size_t n, const uint8_t[::1] rows) noexcept nogil:
    cdef size_t i
    cdef double sum = 0
    for i in range(self.size):
        if rows is None or rows[i]:
            sum += self.importance[i] * evaluate(self, stack, n, i)
    return sum


cdef double penalty(const double* stack, const double* start, size_t n, double strength) noexcept nogil:
    cdef size_t c
    cdef double sum = 0
    for c in range(n):
        sum += (strength if c < COLUMNS else OFFSETS) * (stack[c] - start[c]) * (stack[c] - start[c])
    return sum


cdef void newton(ClassScored self, double strength, const uint8_t[::1] rows) noexcept nogil:
    """Newton's method from what is in `numbers`; a step is halved until the objective falls."""
    cdef size_t n = self.unknowns, c, turn, halving
    cdef double* stack = self.numbers
    cdef double* start = stack + n
    cdef double* tried = start + n
    cdef double* gradient = tried + n
    cdef double* hessian = gradient + n
    cdef double now, after, size, weight
    for c in range(n):
        start[c] = stack[c]
    now = objective(self, stack, n, rows)
    for turn in range(MOST_ROUNDS):
        derivatives(self, stack, rows, gradient, hessian)
        for c in range(n):
            weight = strength if c < COLUMNS else OFFSETS
            gradient[c] += 2 * weight * (stack[c] - start[c])
            hessian[c * n + c] += 2 * weight
        if not solve(hessian, gradient, n):
            return
        size = 1
        after = now
        for halving in range(MOST_HALVINGS):
            for c in range(n):
                tried[c] = stack[c] - size * gradient[c]
            after = objective(self, tried, n, rows) + penalty(tried, start, n, strength)
            if after < now:
                break
            size /= 2
        if not after < now:
            return
        for c in range(n):
            stack[c] = tried[c]
        if now - after <= TOLERANCE * fabs(after):
            return
        now = after


cdef void derivatives(ClassScored self, const double* stack, const uint8_t[::1] rows, double* gradient,
                      double* hessian) noexcept nogil:
    """Those of the objective without the penalty; of the matrix the lower half.

    With m = sum_k p_k o_k: sum_k (p_k - [k = y]) o_k for u, p_k - [k = y] for b_k; sum_k p_k (o_k - m) (o_k - m)' for u,
    p_k (o_k - m) for b_k and u, [j = k] p_k - p_j p_k for b.
    """
    cdef size_t n = self.unknowns, i, k, j, c, d
    cdef double mean[COLUMNS]
    cdef double far[COLUMNS]
    cdef const float* o
    cdef double* row
    cdef double h, p, dloss
    memset(gradient, 0, n * sizeof(double))
    memset(hessian, 0, n * n * sizeof(double))
    for i in range(self.size):
        if rows is not None and not rows[i]:
            continue
        evaluate(self, stack, n, i)
        h = self.importance[i]
        memset(mean, 0, sizeof(mean))
        for k in range(self.classes):
            o = &self.scores[(i * self.records + k) * COLUMNS]
            dloss = h * (self.p[k] - (k + 1 == self.label[i]))
            for c in range(COLUMNS):
                mean[c] += self.p[k] * o[c]
                gradient[c] += dloss * o[c]
            if n > COLUMNS:
                gradient[COLUMNS + k] += dloss
        for k in range(self.classes):
            o = &self.scores[(i * self.records + k) * COLUMNS]
            p = h * self.p[k]
            for c in range(COLUMNS):
                far[c] = o[c] - mean[c]
            for c in range(COLUMNS):
                for d in range(c + 1):
                    hessian[c * n + d] += p * far[c] * far[d]
            if n == COLUMNS:
                continue
            row = hessian + (COLUMNS + k) * n
            for c in range(COLUMNS):
                row[c] += p * far[c]
            for j in range(k + 1):
                row[COLUMNS + j] -= p * self.p[j]
            row[COLUMNS + k] += p


def importance_of_classes(const double[::1] labels not None, const double[::1] importances not None, size_t classes):
    """The sum of the importances of the examples of each class."""
    cdef size_t i
    cdef double[::1] found
    out = array("d", bytes(8 * classes))
    found = out
    if labels.shape[0] != importances.shape[0]:
        raise ValueError("arrays of different lengths")
    for i in range(<size_t>labels.shape[0]):
        if not 1 <= labels[i] <= classes:
            raise ValueError("a label is none of the classes")
        found[<size_t>labels[i] - 1] += importances[i]
    return out


def constant_loss(const double[::1] scores not None, const double[::1] weights not None):
    """The mean log loss of constant scores, of examples with these sums of importances."""
    cdef size_t k
    cdef double most, sum = 0, loss = 0, total = 0
    if scores.shape[0] != weights.shape[0] or scores.shape[0] == 0:
        raise ValueError("as many scores as weights")
    most = max(scores)
    for k in range(<size_t>scores.shape[0]):
        sum += exp_of(max(scores[k] - most, FARTHEST))
    for k in range(<size_t>scores.shape[0]):
        loss += weights[k] * (log(sum) + (most - scores[k]))
        total += weights[k]
    return loss / total if total else 0.0
