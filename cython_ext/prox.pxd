"""The formulas that shrink a weight: each exists once, on plain doubles."""

from libc.math cimport fabs


cdef inline double soft_threshold(double v, double a) noexcept nogil:
    """sign(v) max(|v| - a, 0), for a >= 0."""
    if v > a:
        return v - a
    if v < -a:
        return v + a
    return 0


cdef inline double truncate(double v, double a, double theta) noexcept nogil:
    """T1(v, a, theta): as soft_threshold, but only where |v| <= theta (Langford, Li, Zhang 2009, section 3.3)."""
    return soft_threshold(v, a) if fabs(v) <= theta else v
