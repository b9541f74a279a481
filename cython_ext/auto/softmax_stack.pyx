"""Stacking with several classes: one weight for each column of scores, the same for all classes, and an offset for each class.

u and b minimize, over out-of-fold scores o_ik of example i and class k,

    sum_i h_i (log(sum_k exp(z_ik)) - z_iy) + strength |u - u_0|^2 + OFFSETS |b|^2,   z_ik = o_ik . u + b_k

by Newton's method. The softmax does not change if all z_i are shifted, and a class without examples would have an offset of
minus infinity: hence the penalty of b. A u for each class would overfit.
"""

from array import array

from libc.math cimport INFINITY, fabs
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from vwlite.core.auto.lanes cimport COLUMNS
from vwlite.core.auto.stack cimport MOST_HALVINGS, MOST_ROUNDS, TOLERANCE, solve
from vwlite.core.base.elementary cimport exp_of, log
from vwlite.core.base.targets cimport *

cdef extern from *:
    """
    #include <stddef.h>

    #define VWLITE_FARTHEST (-600.0)    /* below the largest score, for vwlite_exp */

    /* The loops over the classes of an example, of 8 or 4 columns, in vectors over classes or over columns; a sum over
       classes has their order. o: [classes][columns] scores; across: the same, [columns][classes]. */

    static inline double vwlite_not_far(double z) {
        return z < VWLITE_FARTHEST ? VWLITE_FARTHEST : z;
    }

    /* z = u . o + b; b may be NULL. Returns the largest. */
    VWLITE_CLONES static double vwlite_combine(const float *restrict across, size_t classes, const double *u,
                                               size_t columns, const double *restrict b, double *restrict z) {
        double most;
        for (size_t k = 0; k < classes; k++) {
            double sum = 0;
            for (int c = 0; c < 4; c++)
                sum += u[c] * across[c * classes + k];
            z[k] = sum;
        }
        if (columns == 8)
            for (size_t k = 0; k < classes; k++) {
                double sum = z[k];
                for (int c = 4; c < 8; c++)
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
    #define VWLITE_OF_COLUMNS(C) \
        for (int c = 0; c < C; c++) { \
            most[c] = o[c]; \
            sum[c] = 0; \
        } \
        for (size_t k = 1; k < classes; k++) \
            for (int c = 0; c < C; c++) \
                most[c] = o[k * C + c] > most[c] ? o[k * C + c] : most[c]; \
        for (size_t k = 0; k < classes; k++) \
            for (int c = 0; c < C; c++) \
                sum[c] += vwlite_exp(vwlite_not_far(o[k * C + c] - most[c]));
    VWLITE_CLONES static void vwlite_columns(const float *restrict o, size_t classes, size_t columns,
                                             double *restrict most, double *restrict sum) {
        if (columns == 8) {
            VWLITE_OF_COLUMNS(8)
        } else {
            VWLITE_OF_COLUMNS(4)
        }
    }

    typedef float F4 __attribute__((vector_size(16), aligned(4), may_alias));
    typedef double D4 __attribute__((vector_size(32), aligned(8), may_alias));
    #define VWLITE_WIDE(at) __builtin_convertvector(*(const F4 *)(at), D4)

    /* Add an example to the derivatives by b, see below. y: its class; n: of the matrix, of which the lower half is used. */
    VWLITE_CLONES static void vwlite_derive_offsets(const float *restrict o, size_t classes, size_t columns,
                                                    const double *restrict p, size_t y, double h, size_t n,
                                                    const double *restrict mean, double *restrict gradient,
                                                    double *restrict hessian) {
        for (size_t k = 0; k < classes; k++) {
            double share = h * p[k], *restrict row = hessian + (columns + k) * n;
            gradient[columns + k] += h * (p[k] - (k == y));
            for (size_t c = 0; c < columns; c++)
                row[c] += share * (o[k * columns + c] - mean[c]);
            for (size_t j = 0; j <= k; j++)
                row[columns + j] -= share * p[j];
            row[columns + k] += share;
        }
    }

    #define VWLITE_ROW(c, at) (*(D4 *)(hessian + (c) * n + (at)))

    /* Add an example to the derivatives by u of 4 columns; fill in their means. */
    VWLITE_CLONES static void vwlite_derive_4(const float *restrict o, size_t classes, const double *restrict p, size_t y,
                                              double h, size_t n, double *restrict means, double *restrict gradient,
                                              double *restrict hessian) {
        D4 mean = {0}, slope = *(D4 *)gradient;
        D4 h0 = VWLITE_ROW(0, 0), h1 = VWLITE_ROW(1, 0), h2 = VWLITE_ROW(2, 0), h3 = VWLITE_ROW(3, 0);
        for (size_t k = 0; k < classes; k++) {
            D4 low = VWLITE_WIDE(o + 4 * k);
            mean += p[k] * low;
            slope += h * (p[k] - (k == y)) * low;
        }
        for (size_t k = 0; k < classes; k++) {
            D4 low = VWLITE_WIDE(o + 4 * k) - mean, part = h * p[k] * low;
            h0 += part[0] * low;
            h1 += part[1] * low;
            h2 += part[2] * low;
            h3 += part[3] * low;
        }
        *(D4 *)means = mean;
        *(D4 *)gradient = slope;
        VWLITE_ROW(0, 0) = h0, VWLITE_ROW(1, 0) = h1, VWLITE_ROW(2, 0) = h2, VWLITE_ROW(3, 0) = h3;
    }

    /* The same of 8. */
    VWLITE_CLONES static void vwlite_derive_8(const float *restrict o, size_t classes, const double *restrict p, size_t y,
                                              double h, size_t n, double *restrict means, double *restrict gradient,
                                              double *restrict hessian) {
        D4 mean = {0}, mean_high = {0}, slope = *(D4 *)gradient, slope_high = *(D4 *)(gradient + 4);
        for (size_t k = 0; k < classes; k++) {
            double dloss = h * (p[k] - (k == y));
            D4 low = VWLITE_WIDE(o + 8 * k), high = VWLITE_WIDE(o + 8 * k + 4);
            mean += p[k] * low;
            mean_high += p[k] * high;
            slope += dloss * low;
            slope_high += dloss * high;
        }
        *(D4 *)means = mean;
        *(D4 *)(means + 4) = mean_high;
        *(D4 *)gradient = slope;
        *(D4 *)(gradient + 4) = slope_high;
        {
            D4 h0 = VWLITE_ROW(0, 0), h1 = VWLITE_ROW(1, 0), h2 = VWLITE_ROW(2, 0), h3 = VWLITE_ROW(3, 0);
            D4 h4 = VWLITE_ROW(4, 0), h5 = VWLITE_ROW(5, 0), h6 = VWLITE_ROW(6, 0), h7 = VWLITE_ROW(7, 0);
            D4 g4 = VWLITE_ROW(4, 4), g5 = VWLITE_ROW(5, 4), g6 = VWLITE_ROW(6, 4), g7 = VWLITE_ROW(7, 4);
            for (size_t k = 0; k < classes; k++) {
                double share = h * p[k];
                D4 low = VWLITE_WIDE(o + 8 * k) - mean, high = VWLITE_WIDE(o + 8 * k + 4) - mean_high;
                D4 part = share * low, part_high = share * high;
                h0 += part[0] * low;
                h1 += part[1] * low;
                h2 += part[2] * low;
                h3 += part[3] * low;
                h4 += part_high[0] * low;
                g4 += part_high[0] * high;
                h5 += part_high[1] * low;
                g5 += part_high[1] * high;
                h6 += part_high[2] * low;
                g6 += part_high[2] * high;
                h7 += part_high[3] * low;
                g7 += part_high[3] * high;
            }
            VWLITE_ROW(0, 0) = h0, VWLITE_ROW(1, 0) = h1, VWLITE_ROW(2, 0) = h2, VWLITE_ROW(3, 0) = h3;
            VWLITE_ROW(4, 0) = h4, VWLITE_ROW(5, 0) = h5, VWLITE_ROW(6, 0) = h6, VWLITE_ROW(7, 0) = h7;
            VWLITE_ROW(4, 4) = g4, VWLITE_ROW(5, 4) = g5, VWLITE_ROW(6, 4) = g6, VWLITE_ROW(7, 4) = g7;
        }
    }
    """
    double vwlite_combine(const float* across, size_t classes, const double* u, size_t columns, const double* b,
                          double* z) noexcept nogil
    double vwlite_softmax(const double* z, size_t classes, double most, double* p) noexcept nogil
    void vwlite_columns(const float* o, size_t classes, size_t columns, double* most, double* sum) noexcept nogil
    void vwlite_derive_4(const float* o, size_t classes, const double* p, size_t y, double h, size_t n, double* means,
                         double* gradient, double* hessian) noexcept nogil
    void vwlite_derive_8(const float* o, size_t classes, const double* p, size_t y, double h, size_t n, double* means,
                         double* gradient, double* hessian) noexcept nogil
    void vwlite_derive_offsets(const float* o, size_t classes, size_t columns, const double* p, size_t y, double h, size_t n,
                               const double* mean, double* gradient, double* hessian) noexcept nogil

cdef double OFFSETS = 0.5
cdef double FARTHEST = -600     # as above


cdef class ClassScored:
    """Examples with COLUMNS scores for each class, labels and importances.

    scores: [examples * records * COLUMNS], of which the first `classes` records of an example take part. label: from 1 to
    `classes`. has_offsets: whether b is fitted, else it is 0. A stack is a list: u, then b unless it is 0. which: half of the
    columns, which alone take part, or None: all. begin: a stack near those to find, or nothing: Newton's method begins there,
    and then at the last stack that it has found. None: it always begins at u_0.
    """

    cdef const float[::1] scores      # keeps the memory of rows
    cdef const float* rows            # [examples][stride]: [classes][columns] of those that take part, or the same as scores
    cdef float* packed                # owned; these rows, of half of the columns
    cdef float* across                # owned, [examples][columns][classes]: those that take part
    cdef size_t columns, stride
    cdef size_t column[COLUMNS]       # the number of each of them
    cdef const double[::1] label, importance
    cdef readonly size_t size, records, classes, unknowns
    cdef double* z                    # owned, [classes]
    cdef double* p                    # owned, [classes]; probabilities
    cdef double* numbers              # owned; the work space of Newton's method
    cdef bint is_warm                 # it begins with the last stack
    cdef object last

    def __cinit__(self, const float[::1] scores not None, const double[::1] label not None,
                  const double[::1] importance not None, size_t records, size_t classes, bint has_offsets=True, *,
                  begin=None, which=None):
        cdef size_t i, k, c, n
        cdef const float* o
        self.scores, self.label, self.importance = scores, label, importance
        self.is_warm, self.last = begin is not None, begin or None
        self.size, self.records, self.classes = label.shape[0], records, classes
        if not (<size_t>scores.shape[0] == records * COLUMNS * self.size
                and <size_t>importance.shape[0] == self.size and 1 <= classes <= records):
            raise ValueError("arrays of different lengths")
        if which is not None and len(which) != COLUMNS // 2:
            raise ValueError("all columns, or half of them")
        for i in range(self.size):
            if not 1 <= label[i] <= classes:
                raise ValueError("a label is none of the classes")
        for c, k in enumerate(range(COLUMNS) if which is None else which):
            self.column[c] = k
        self.columns = COLUMNS if which is None else COLUMNS // 2
        self.unknowns = n = self.columns + (classes if has_offsets else 0)
        self.z = <double*>malloc(classes * sizeof(double))
        self.p = <double*>malloc(classes * sizeof(double))
        self.numbers = <double*>malloc((4 * n + n * n) * sizeof(double))
        self.across = <float*>malloc(max(self.size * self.columns * classes, 1) * sizeof(float))
        self.rows, self.stride = &scores[0] if self.size else NULL, records * COLUMNS
        if which is not None:
            self.stride = classes * self.columns
            self.packed = <float*>malloc(max(self.size * self.stride, 1) * sizeof(float))
            self.rows = self.packed
        if self.z == NULL or self.p == NULL or self.numbers == NULL or self.across == NULL or (
                which is not None and self.packed == NULL):
            raise MemoryError("the stack does not fit: use --algorithm gd")
        for i in range(self.size):
            for k in range(classes):
                o = &scores[(i * records + k) * COLUMNS]
                for c in range(self.columns):
                    self.across[(i * self.columns + c) * classes + k] = o[self.column[c]]
                    if self.packed != NULL:
                        self.packed[i * self.stride + k * self.columns + c] = o[self.column[c]]

    def __dealloc__(self):
        free(self.z)
        free(self.p)
        free(self.numbers)
        free(self.across)
        free(self.packed)

    def losses(self, which=None):
        """The mean loss of each column, over the rows whose entry in `which` is not 0; infinity of those that take no
        part."""
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
                o = self.rows + i * self.stride
                vwlite_columns(o, self.classes, self.columns, most, sum)
                o += self.columns * (<size_t>self.label[i] - 1)
                for c in range(self.columns):
                    found[c] += self.importance[i] * (log(sum[c]) + (most[c] - o[c]))
        means = [INFINITY] * COLUMNS
        for c in range(self.columns):
            means[self.column[c]] = found[c] / total
        return means

    def loss_of(self, stack, which=None):
        """The sum of importance times loss, over the rows whose entry in `which` is not 0."""
        cdef const uint8_t[::1] rows = which
        cdef size_t n = self.take(stack, self.numbers)
        cdef double found
        with nogil:
            found = objective(self, self.numbers, n, rows)
        return found

    def fit(self, u_0, double strength, which=None):
        """The stack by Newton's method, over the rows whose entry in `which` is not 0: to a relative 1e-10."""
        cdef const uint8_t[::1] rows = which
        cdef size_t i
        cdef double* start = self.numbers + self.unknowns
        for i in range(self.take(u_0, start), self.unknowns):
            start[i] = 0
        memcpy(self.numbers, start, self.unknowns * sizeof(double))
        if self.is_warm and self.last is not None:
            self.take(self.last, self.numbers)
        with nogil:
            newton(self, strength, rows)
        found = [0.0] * COLUMNS + [self.numbers[i] for i in range(self.columns, self.unknowns)]
        for i in range(self.columns):
            found[self.column[i]] = self.numbers[i]
        self.last = found
        return found

    def turns_round(self, stack, u_0, which=None):
        """Whether o . u, less its mean over the classes of an example, has a negative covariance with o . u_0, weighted by
        importance, over the rows whose entry in `which` is not 0. Offsets do not count."""
        cdef double u[COLUMNS]
        cdef double v[COLUMNS]
        cdef const uint8_t[::1] rows = which
        for c in range(self.columns):
            u[c], v[c] = stack[self.column[c]], u_0[self.column[c]]
        return covariance(self, u, v, rows) < 0

    def predictions(self, stack, double[::1] out not None, which=None):
        """Fill in z, [examples * classes], of the rows whose entry in `which` is not 0."""
        cdef const uint8_t[::1] rows = which
        cdef size_t i, k, n
        if <size_t>out.shape[0] != self.size * self.classes:
            raise ValueError("one place for each class of an example")
        n = self.take(stack, self.numbers)
        for i in range(self.size):
            if rows is None or rows[i]:
                combine(self, self.numbers, n, i)
                for k in range(self.classes):
                    out[i * self.classes + k] = self.z[k]

    cdef size_t take(self, stack, double* out) except 0:
        """The columns that take part, and the offsets, if there are some. Returns how many numbers."""
        cdef size_t i, n = len(stack)
        if n not in (COLUMNS, COLUMNS + self.unknowns - self.columns):
            raise ValueError("one weight for each column, and one for each class or none")
        for i in range(self.columns):
            out[i] = stack[self.column[i]]
        for i in range(COLUMNS, n):
            out[self.columns + i - COLUMNS] = stack[i]
        return self.columns + n - COLUMNS


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
            o = self.rows + i * self.stride + k * self.columns
            x = y = 0
            for c in range(self.columns):
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
        self.across + i * self.columns * self.classes, self.classes, stack, self.columns,
        stack + self.columns if n > self.columns else NULL, self.z)


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


cdef double penalty(const double* stack, const double* start, size_t n, size_t columns, double strength) noexcept nogil:
    cdef size_t c
    cdef double sum = 0
    for c in range(n):
        sum += (strength if c < columns else OFFSETS) * (stack[c] - start[c]) * (stack[c] - start[c])
    return sum


cdef void newton(ClassScored self, double strength, const uint8_t[::1] rows) noexcept nogil:
    """Newton's method from what is in `numbers`, where the center of the penalty follows it; a step is halved until the
    objective falls."""
    cdef size_t n = self.unknowns, c, turn, halving
    cdef double* stack = self.numbers
    cdef double* start = stack + n
    cdef double* tried = start + n
    cdef double* gradient = tried + n
    cdef double* hessian = gradient + n
    cdef double now, after, size, weight
    now = objective(self, stack, n, rows) + penalty(stack, start, n, self.columns, strength)
    for turn in range(MOST_ROUNDS):
        derivatives(self, stack, rows, gradient, hessian)
        for c in range(n):
            weight = strength if c < self.columns else OFFSETS
            gradient[c] += 2 * weight * (stack[c] - start[c])
            hessian[c * n + c] += 2 * weight
        if not solve(hessian, gradient, n):
            return
        size = 1
        after = now
        for halving in range(MOST_HALVINGS):
            for c in range(n):
                tried[c] = stack[c] - size * gradient[c]
            after = objective(self, tried, n, rows) + penalty(tried, start, n, self.columns, strength)
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
    cdef size_t n = self.unknowns, i, y
    cdef double mean[COLUMNS]
    cdef const float* o
    memset(gradient, 0, n * sizeof(double))
    memset(hessian, 0, n * n * sizeof(double))
    for i in range(self.size):
        if rows is not None and not rows[i]:
            continue
        evaluate(self, stack, n, i)
        o, y = self.rows + i * self.stride, <size_t>self.label[i] - 1
        if self.columns == COLUMNS:
            vwlite_derive_8(o, self.classes, self.p, y, self.importance[i], n, mean, gradient, hessian)
        else:
            vwlite_derive_4(o, self.classes, self.p, y, self.importance[i], n, mean, gradient, hessian)
        if n > self.columns:
            vwlite_derive_offsets(o, self.classes, self.columns, self.p, y, self.importance[i], n, mean, gradient, hessian)


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
