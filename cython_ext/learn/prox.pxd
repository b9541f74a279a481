"""Proximal operators and other shrinkage formulas, each in one place, on C doubles."""

from libc.math cimport fabs

cdef extern from *:
    """
    #include <math.h>
    #include <stdint.h>
    #include <string.h>

    /* Without a branch: whether a weight is zero is unpredictable. */
    static inline double vwlite_only_if(int condition, double x) {
        uint64_t bits;
        memcpy(&bits, &x, 8);
        bits &= -(uint64_t)(condition != 0);
        memcpy(&x, &bits, 8);
        return x;
    }

    /* max(x, 0) for a finite x, exactly, and without the jump that compilers may make of a condition. */
    static inline double vwlite_positive_part(double x) {
        return 0.5 * (x + fabs(x));
    }

    /* sign(v) max(|v| - a, 0), for a >= 0; never -0. */
    static inline double vwlite_soft_threshold(double v, double a) {
        return copysign(vwlite_positive_part(fabs(v) - a), v) + 0.0;
    }
    """
    double only_if "vwlite_only_if"(bint condition, double x) noexcept nogil     # else 0
    double positive_part "vwlite_positive_part"(double x) noexcept nogil
    double soft_threshold "vwlite_soft_threshold"(double v, double a) noexcept nogil


cdef inline double truncate(double v, double a, double theta) noexcept nogil:
    """T1(v, a, theta): as soft_threshold, but only where |v| <= theta (Langford, Li, Zhang 2009, section 3.3)."""
    return soft_threshold(v, a) if fabs(v) <= theta else v
