"""Losses of the batch problems, in double: value, derivative, curvature, conjugate. See batch_losses.pyx."""

from libc.math cimport INFINITY

from vwlite.core.base.elementary cimport exp_of
from vwlite.core.base.logistic cimport logistic_smooth

cdef extern from *:
    """
    #include <math.h>

    static inline double vwlite_bounded(double x, double most) {
        return x > most ? most : x < -most ? -most : x;
    }

    /* x ln x for x >= 0 */
    static inline double vwlite_x_log_x(double x) {
        return x < 1e-300 ? 0 : x * vwlite_log(x);
    }
    """
    double log_of "vwlite_log"(double x) noexcept nogil            # normal x > 0
    double x_log_x "vwlite_x_log_x"(double x) noexcept nogil
    double bounded "vwlite_bounded"(double x, double most) noexcept nogil

cdef enum LossKind:
    SQUARED = 0
    LOGISTIC = 1
    SQUARED_HINGE = 2
    POISSON = 3
    HINGE = 4
    QUANTILE = 5


cdef enum:
    MOST_EXPONENT = 600     # of e^p, so that its square times a weight is still a number


cdef struct BatchLoss:
    LossKind kind
    double tau          # of the quantile loss


cdef inline bint classifies(BatchLoss loss) noexcept nogil:
    """Whether labels are -1 and 1."""
    return loss.kind == LOGISTIC or loss.kind == SQUARED_HINGE or loss.kind == HINGE


cdef inline bint is_smooth(BatchLoss loss) noexcept nogil:
    return loss.kind != HINGE and loss.kind != QUANTILE


cdef inline double evaluate(BatchLoss loss, double p, double y, double* dloss, double* curvature) noexcept nogil:
    """l(p, y), and its first two derivatives by p."""
    cdef double e, share, value, z = y * p
    if loss.kind == LOGISTIC:
        value = logistic_smooth(z, &share, curvature)
        dloss[0] = -y * share
        return value
    if loss.kind == SQUARED:
        dloss[0] = 2 * (p - y)
        curvature[0] = 2
        return (p - y) * (p - y)
    if loss.kind == SQUARED_HINGE:
        if z >= 1:
            dloss[0] = curvature[0] = 0
            return 0
        dloss[0] = -2 * y * (1 - z)
        curvature[0] = 2
        return (1 - z) * (1 - z)
    if loss.kind == POISSON:
        e = exp_of(bounded(p, MOST_EXPONENT))
        dloss[0] = e - y
        curvature[0] = e
        return e - y * p - (y - x_log_x(y))
    curvature[0] = 0
    if loss.kind == HINGE:
        dloss[0] = -y if z < 1 else 0
        return 1 - z if z < 1 else 0
    dloss[0] = -loss.tau if y > p else 1 - loss.tau if y < p else 0
    return loss.tau * (y - p) if y > p else (1 - loss.tau) * (p - y)


cdef inline double conjugate(BatchLoss loss, double alpha, double y) noexcept nogil:
    """l*(-alpha), the supremum over p of -alpha p - l(p, y); infinite outside of its domain."""
    cdef double a = alpha * y
    if loss.kind == SQUARED:
        return alpha * alpha / 4 - a
    if loss.kind == LOGISTIC:
        if a < 0 or a > 1:
            return INFINITY
        return x_log_x(a) + x_log_x(1 - a)
    if loss.kind == SQUARED_HINGE:
        return a * a / 4 - a if a >= 0 else INFINITY
    if loss.kind == POISSON:
        if alpha > y:
            return INFINITY
        return x_log_x(y - alpha) - (y - alpha) + (y - x_log_x(y))
    if loss.kind == HINGE:
        return -a if 0 <= a <= 1 else INFINITY
    return -a if loss.tau - 1 <= alpha <= loss.tau else INFINITY


cdef double evaluate_range(BatchLoss loss, const double* p, const double* y, const double* h, double* r, double* curved,
                           size_t n) noexcept nogil
cdef double conjugates(BatchLoss loss, const double* alpha, const double* y, const double* h, size_t n) noexcept nogil
