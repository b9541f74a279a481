"""The formulas of a merge, on C doubles: the precision of a weight, and the progress that it has made.

S is the precision (Fisher information) of a weight: the sum of its squared gradients, or what its algorithm stores of
it. The learner takes steps of the size eta / H(S) along it.
"""

from libc.math cimport sqrt

from vwlite.core.base.elementary cimport exp_of, expm1

cdef extern from *:
    """
    #include <math.h>
    /* log(1 + x), x >= 0; that of elementary.pxd where 1 + x keeps most digits of x. */
    static inline double vwlite_log_of_more(double x) {
        return x > 1e-3 ? vwlite_log(1 + x) : vwlite_log1p(x);
    }
    """
    double log_of_more "vwlite_log_of_more"(double x) noexcept nogil

# What the number that a model keeps says of S.
cdef enum EvidenceKind:
    ITSELF              # it is S, H = beta + sqrt S
    ROOT                # it is sqrt S, H = beta + sqrt S
    VARIANCE            # it is 1 / S, H = S: the precision of a normal distribution


cdef enum:
    LEAST_C = 2         # c of path2; that of path and path32 is four times the one before


cdef inline double evidence_of(double number, EvidenceKind kind) noexcept nogil:
    """S, of the number that a model keeps."""
    if kind == ROOT:
        return number * number
    if kind == VARIANCE:
        return 1 / (number if number > 1e-100 else 1e-100)      # none is known more surely
    return number


cdef inline double path_length(double root, double d, double later, double beta) noexcept nogil:
    """The integral of ds / (2 (beta + sqrt s)) from S to S + d, of root = sqrt S and later = sqrt(S + d): the length of the
    path in units of eta.

    q - beta log(1 + q / (beta + sqrt S)), q = sqrt(S + d) - sqrt S. Where q and sqrt S are small beside beta that
    cancels: there it is the beginning of the series.
    """
    cdef double q
    if d <= 0:
        return 0
    q = d / (root + later)
    if beta == 0:
        return q
    if q < 1e-5 * beta and root < 1e-5 * beta:
        return q * ((q / 2 + root) / beta - (q * q / 3 + q * root + root * root) / (beta * beta))
    return q - beta * log_of_more(q / (beta + root))


cdef inline double share_of_way(double root, double d, double later, double beta, double rate) noexcept nogil:
    """1 - exp(-rate L): the share of the way to its optimum that a weight has gone; rate: c eta."""
    cdef double x = rate * path_length(root, d, later, beta)
    if x > 1e-3:
        return 1 - exp_of(-x if x < 700 else -700.0)
    return -expm1(-x)


cdef inline double share_at_four_times(double share) noexcept nogil:
    """The share of the way at 4 c, of that at c: 1 - (1 - share)^4."""
    return share * (4 - share * (6 - share * (4 - share)))
