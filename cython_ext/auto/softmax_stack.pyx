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
from vwlite.core.base.targets cimport *

cdef extern from *:
    """
    #include <stddef.h>

    #define VWLITE_COLUMNS 8
    #define VWLITE_FARTHEST (-600.0)    /* below the largest score, for vwlite_exp */

    /* The loops over the classes of an example, in vectors over classes or over columns; a sum over classes has their
       order. o: [classes][columns] scores; across: the same, [columns][classes]. */

    static inline double vwlite_not_far(double z) {
        return z < VWLITE_FARTHEST ? VWLITE_FARTHEST : z;
    }

    /* z = u . o + b; b may be NULL. Returns the largest. */
    VWLITE_CLONES static double vwlite_combine(const float *restrict across, size_t classes, const double *u,
                                               const double *restrict b, double *restrict z) {
        double most;
        for (size_t k = 0; k < classes; k++) {
            double sum = 0;
            for (int c = 0; c < VWLITE_COLUMNS; c++)
                sum += u[c] * across[c * classes + k];
            z[k] = sum;
        }
        if (b)
            for (size_t k = 0; k < classes; k++)
                z[k] += b[k];
        most = z[0];
        for (size_t k = 1; k < classes; k++)
            most = z[k] > most ? z[k] : most;
        return most;
    }

    /* p = the softmax of z. Returns the sum of exp(z - most). */
    VWLITE_CLONES static double vwlite_softmax(const double *restrict z, size_t classes, double most, double *restrict p) {
        double sum = 0;
        for (size_t k = 0; k < classes; k++)
            p[k] = vwlite_exp(vwlite_not_far(z[k] - most));
        for (size_t k = 0; k < classes; k++)
            sum += p[k];
        for (size_t k = 0; k < classes; k++)
            p[k] /= sum;
        return sum;
    }

    /* Of each column alone: the largest score, the sum of exp(score - largest). */
    VWLITE_CLONES static void vwlite_columns(const float *restrict o, size_t classes, double *restrict most,
                                             double *restrict sum) {
        for (int c = 0; c < VWLITE_COLUMNS; c++) {
            most[c] = o[c];
            sum[c] = 0;
        }
        for (size_t k = 1; k < classes; k++)
            for (int c = 0; c < VWLITE_COLUMNS; c++)
                most[c] = o[k * VWLITE_COLUMNS + c] > most[c] ? o[k * VWLITE_COLUMNS + c] : most[c];
        for (size_t k = 0; k < classes; k++)
            for (int c = 0; c < VWLITE_COLUMNS; c++)
                sum[c] += vwlite_exp(vwlite_not_far(o[k * VWLITE_COLUMNS + c] - most[c]));
    }

    /* Add an example to the derivatives, see below. y: its class; n: of the matrix. */
    VWLITE_CLONES static void vwlite_derive(const float *restrict o, size_t classes, const double *restrict p, size_t y,
                                            double h, size_t n, double *restrict gradient, double *restrict hessian) {
        double mean[VWLITE_COLUMNS] = {0}, slope[VWLITE_COLUMNS], sums[VWLITE_COLUMNS][VWLITE_COLUMNS];
        for (int c = 0; c < VWLITE_COLUMNS; c++) {
            slope[c] = gradient[c];
            for (int d = 0; d < VWLITE_COLUMNS; d++)
                sums[c][d] = hessian[c * n + d];
        }
        for (size_t k = 0; k < classes; k++) {
            double dloss = h * (p[k] - (k == y));
            for (int c = 0; c < VWLITE_COLUMNS; c++) {
                mean[c] += p[k] * o[k * VWLITE_COLUMNS + c];
                slope[c] += dloss * o[k * VWLITE_COLUMNS + c];
            }
        }
        for (size_t k = 0; k < classes; k++) {
            double far[VWLITE_COLUMNS], share = h * p[k];
            for (int c = 0; c < VWLITE_COLUMNS; c++)
                far[c] = o[k * VWLITE_COLUMNS + c] - mean[c];
            for (int c = 0; c < VWLITE_COLUMNS / 2; c++)
                for (int d = 0; d < VWLITE_COLUMNS / 2; d++)
                    sums[c][d] += share * far[c] * far[d];
            for (int c = VWLITE_COLUMNS / 2; c < VWLITE_COLUMNS; c++)
                for (int d = 0; d < VWLITE_COLUMNS; d++)
                    sums[c][d] += share * far[c] * far[d];
            if (n > VWLITE_COLUMNS) {
                double *row = hessian + (VWLITE_COLUMNS + k) * n;
                gradient[VWLITE_COLUMNS + k] += h * (p[k] - (k == y));
                for (int c = 0; c < VWLITE_COLUMNS; c++)
                    row[c] += share * far[c];
                for (size_t j = 0; j <= k; j++)
                    row[VWLITE_COLUMNS + j] -= share * p[j];
                row[VWLITE_COLUMNS + k] += share;
            }
        }
        for (int c = 0; c < VWLITE_COLUMNS; c++) {
            gradient[c] = slope[c];
            for (int d = 0; d <= c; d++)
                hessian[c * n + d] = sums[c][d];
        }
    }
    """
    double vwlite_combine(const float* across, size_t classes, const double* u, const double* b, double* z) noexcept nogil
    double vwlite_softmax(const double* z, size_t classes, double most, double* p) noexcept nogil
    void vwlite_columns(const float* o, size_t classes, double* most, double* sum) noexcept nogil
    void vwlite_derive(const float* o, size_t classes, const double* p, size_t y, double h, size_t n, double* gradient,
                       double* hessian) noexcept nogil

cdef double OFFSETS = 0.5
cdef double FARTHEST = -600     # as above


cdef class ClassScored:
    """Examples with COLUMNS scores for each class, labels and importances.

    scores: [examples * records * COLUMNS], of which the first `classes` records of an example take part. label: from 1 to
    `classes`. has_offsets: whether b is fitted, else it is 0. A stack is a list: u, then b unless it is 0.
    """

    cdef const float[::1] scores
    cdef float* across                # owned, [examples][columns][classes]: those that take part
    cdef const double[::1] label, importance
    cdef readonly size_t size, records, classes, unknowns
    cdef double* z                    # owned, [classes]
    cdef double* p                    # owned, [classes]; probabilities
    cdef double* numbers              # owned; the work space of Newton's method

    def __cinit__(self, const float[::1] scores not None, const double[::1] label not None,
                  const double[::1] importance not None, size_t records, size_t classes, bint has_offsets=True):
        cdef size_t i, k, c, n
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
        self.across = <float*>malloc(max(self.size * COLUMNS * classes, 1) * sizeof(float))
        if self.z == NULL or self.p == NULL or self.numbers == NULL or self.across == NULL:
            raise MemoryError("the stack does not fit: use --algorithm gd")
        for i in range(self.size):
            for c in range(COLUMNS):
                for k in range(classes):
                    self.across[(i * COLUMNS + c) * classes + k] = scores[(i * records + k) * COLUMNS + c]

    def __dealloc__(self):
        free(self.z)
        free(self.p)
        free(self.numbers)
        free(self.across)

    def losses(self, which=None):
        """The mean loss of each column, over the rows whose entry in `which` is not 0."""
        cdef const uint8_t[::1] rows = which
        cdef double found[COLUMNS]
        cdef double most[COLUMNS]
        cdef double sum[COLUMNS]
        cdef double total = 0
        cdef const float* o
        cdef size_t c, i
        memset(found, 0, sizeof(found))
        with nogil:
            for i in range(self.size):
                if rows is not None and not rows[i]:
                    continue
                total += self.importance[i]
                o = &self.scores[i * self.records * COLUMNS]
                vwlite_columns(o, self.classes, most, sum)
                o += COLUMNS * (<size_t>self.label[i] - 1)
                for c in range(COLUMNS):
                    found[c] += self.importance[i] * (log(sum[c]) + (most[c] - o[c]))
        return [found[c] / total for c in range(COLUMNS)]

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
    return vwlite_combine(
        self.across + i * COLUMNS * self.classes, self.classes, stack, stack + COLUMNS if n > COLUMNS else NULL, self.z)


cdef double evaluate(ClassScored self, const double* stack, size_t n, size_t i) noexcept nogil:
    """The loss of an example; fills in z and p."""
    cdef double most = combine(self, stack, n, i)
    cdef double sum = vwlite_softmax(self.z, self.classes, most, self.p)
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
    cdef size_t n = self.unknowns, i
    memset(gradient, 0, n * sizeof(double))
    memset(hessian, 0, n * n * sizeof(double))
    for i in range(self.size):
        if rows is None or rows[i]:
            evaluate(self, stack, n, i)
            vwlite_derive(&self.scores[i * self.records * COLUMNS], self.classes, self.p, <size_t>self.label[i] - 1,
                          self.importance[i], n, gradient, hessian)


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
