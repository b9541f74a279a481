"""The formulas that shrink a weight: each exists once, on plain doubles."""

from libc.math cimport copysign, fabs

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    /* No branch, not even a hidden one: whether a weight is zero is a coin toss. */
    static inline double vwlite_only_if(int condition, double x) {
        uint64_t bits;
        memcpy(&bits, &x, 8);
        bits &= -(uint64_t)(condition != 0);
        memcpy(&x, &bits, 8);
        return x;
    }
    """
    double only_if "vwlite_only_if"(bint condition, double x) noexcept nogil     # else 0


cdef inline double positive_part(double x) noexcept nogil:
    """max(x, 0) for a finite x, exactly, and without the jump that compilers may make of a conditional expression."""
    return 0.5 * (x + fabs(x))


cdef inline double soft_threshold(double v, double a) noexcept nogil:
    """sign(v) max(|v| - a, 0), for a >= 0; never -0."""
    return copysign(positive_part(fabs(v) - a), v) + 0.0


cdef inline double truncate(double v, double a, double theta) noexcept nogil:
    """T1(v, a, theta): as soft_threshold, but only where |v| <= theta (Langford, Li, Zhang 2009, section 3.3)."""
    return soft_threshold(v, a) if fabs(v) <= theta else v
