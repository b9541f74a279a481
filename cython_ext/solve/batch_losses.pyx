"""Losses l(p, y) of the batch problems, in loops over whole arrays, with their conjugates.

They are losses of learn/losses.pyx, where each is a class that evaluates one example: squared (p - y)^2, logistic,
hinge, quantile, Poisson's half deviance, and the squared hinge max(0, 1 - y p)^2. None is below 0, so that 0 is a lower
bound of every objective. The lower bounds of problem.pyx use the conjugates l*(-alpha): squared alpha^2 / 4 - alpha y;
with a = alpha y, logistic a ln a + (1 - a) ln (1 - a) on [0, 1], squared hinge a^2 / 4 - a on a >= 0, hinge -a on
[0, 1]; quantile -a for tau - 1 <= alpha <= tau; Poisson, with m = y - alpha >= 0, m ln m - m + y - y ln y.

The result has the same bits on every processor: sums are in eight lanes and blocks of `BLOCK`, in a fixed order, with
the rounding error of the sum of blocks kept, and exponentials are those of base/elementary.pxd.
"""

from vwlite.core.base.sums cimport Sum, add, value_of
from vwlite.core.base.targets cimport *

cdef extern from *:
    """
    #define VWLITE_BLOCK 512

    /* The sum of a block, in eight lanes. n is at most VWLITE_BLOCK; x has zeros up to a multiple of 8. */
    static inline double vwlite_block_sum(const double *x) {
        double lanes[8] = {0};
        for (int i = 0; i < VWLITE_BLOCK; i += 8)
            for (int k = 0; k < 8; k++)
                lanes[k] += x[i + k];
        return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
    }

    VWLITE_CLONES static double vwlite_logistic_block(const double *p, const double *y, const double *h, double *r,
                                                      double *curved, size_t n) {
        double terms[VWLITE_BLOCK] = {0};
        for (size_t i = 0; i < n; i++) {
            double share, curvature;
            double value = vwlite_logistic_smooth(y[i] * p[i], &share, &curvature);
            r[i] = -h[i] * y[i] * share;
            curved[i] = h[i] * curvature;
            terms[i] = h[i] * value;
        }
        return vwlite_block_sum(terms);
    }

    VWLITE_CLONES static double vwlite_squared_block(const double *p, const double *y, const double *h, double *r,
                                                     double *curved, size_t n) {
        double terms[VWLITE_BLOCK] = {0};
        for (size_t i = 0; i < n; i++) {
            double d = p[i] - y[i];
            r[i] = 2 * h[i] * d;
            curved[i] = 2 * h[i];
            terms[i] = h[i] * d * d;
        }
        return vwlite_block_sum(terms);
    }

    VWLITE_CLONES static double vwlite_squared_hinge_block(const double *p, const double *y, const double *h, double *r,
                                                           double *curved, size_t n) {
        double terms[VWLITE_BLOCK] = {0};
        for (size_t i = 0; i < n; i++) {
            double d = 1 - y[i] * p[i];
            double short_of = d > 0 ? d : 0;
            r[i] = -2 * h[i] * y[i] * short_of;
            curved[i] = d > 0 ? 2 * h[i] : 0;
            terms[i] = h[i] * short_of * short_of;
        }
        return vwlite_block_sum(terms);
    }

    VWLITE_CLONES static double vwlite_logistic_conjugates(const double *alpha, const double *y, const double *h,
                                                           size_t n) {
        double terms[VWLITE_BLOCK] = {0};
        for (size_t i = 0; i < n; i++) {
            double a = alpha[i] * y[i], b = 1 - a;
            a = a > 1e-300 ? a : 1e-300;
            b = b > 1e-300 ? b : 1e-300;
            terms[i] = h[i] * (a * vwlite_log(a) + b * vwlite_log(b));
        }
        return vwlite_block_sum(terms);
    }
    """
    double logistic_block "vwlite_logistic_block"(
        const double* p, const double* y, const double* h, double* r, double* curved, size_t n) noexcept nogil
    double squared_block "vwlite_squared_block"(
        const double* p, const double* y, const double* h, double* r, double* curved, size_t n) noexcept nogil
    double squared_hinge_block "vwlite_squared_hinge_block"(
        const double* p, const double* y, const double* h, double* r, double* curved, size_t n) noexcept nogil
    double logistic_conjugates "vwlite_logistic_conjugates"(
        const double* alpha, const double* y, const double* h, size_t n) noexcept nogil
    double block_sum "vwlite_block_sum"(const double* x) noexcept nogil
    enum:
        BLOCK "VWLITE_BLOCK"

NAMES = ("squared", "logistic", "squared-hinge", "poisson", "hinge", "quantile")


cdef double evaluate_range(BatchLoss loss, const double* p, const double* y, const double* h, double* r, double* curved,
                           size_t n) noexcept nogil:
    """sum h l(p, y); r = h l', curved = h l''. h: the examples' shares of the whole weight."""
    cdef double[BLOCK] terms
    cdef size_t begin = 0, size, i
    cdef double part, dloss, curvature
    cdef Sum total = Sum(0, 0)
    while begin < n:
        size = min(n - begin, <size_t>BLOCK)
        if loss.kind == LOGISTIC:
            part = logistic_block(p + begin, y + begin, h + begin, r + begin, curved + begin, size)
        elif loss.kind == SQUARED:
            part = squared_block(p + begin, y + begin, h + begin, r + begin, curved + begin, size)
        elif loss.kind == SQUARED_HINGE:
            part = squared_hinge_block(p + begin, y + begin, h + begin, r + begin, curved + begin, size)
        else:
            for i in range(size):
                terms[i] = h[begin + i] * evaluate(loss, p[begin + i], y[begin + i], &dloss, &curvature)
                r[begin + i], curved[begin + i] = h[begin + i] * dloss, h[begin + i] * curvature
            for i in range(size, <size_t>BLOCK):
                terms[i] = 0
            part = block_sum(terms)
        add(&total, part)
        begin += size
    return value_of(&total)


cdef double conjugates(BatchLoss loss, const double* alpha, const double* y, const double* h, size_t n) noexcept nogil:
    """sum h l*(-alpha, y)"""
    cdef double[BLOCK] terms
    cdef size_t begin = 0, size, i
    cdef double part
    cdef Sum total = Sum(0, 0)
    while begin < n:
        size = min(n - begin, <size_t>BLOCK)
        if loss.kind == LOGISTIC:
            part = logistic_conjugates(alpha + begin, y + begin, h + begin, size)
        else:
            for i in range(size):
                terms[i] = h[begin + i] * conjugate(loss, alpha[begin + i], y[begin + i])
            for i in range(size, <size_t>BLOCK):
                terms[i] = 0
            part = block_sum(terms)
        add(&total, part)
        begin += size
    return value_of(&total)


def loss_at(str name, double p, double y, double tau=0.5):
    """A loss by its name at one prediction: l, dl/dp, d2l/dp2. For tests."""
    cdef BatchLoss loss
    cdef double value, dloss, curvature
    loss.kind, loss.tau = <LossKind><int>NAMES.index(name), tau
    value = evaluate(loss, p, y, &dloss, &curvature)
    return value, dloss, curvature


def conjugate_at(str name, double alpha, double y, double tau=0.5):
    """l*(-alpha). For tests."""
    cdef BatchLoss loss
    loss.kind, loss.tau = <LossKind><int>NAMES.index(name), tau
    return conjugate(loss, alpha, y)
