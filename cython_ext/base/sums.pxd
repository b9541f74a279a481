"""A sum that also keeps its rounding error.

Neumaier. Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen. ZAMM 54, 1974.
"""

from libc.math cimport fabs

cdef struct Sum:
    double rounded, lost    # both 0: nothing is summed yet


cdef inline void add(Sum* sum, double term) noexcept nogil:
    cdef double before = sum.rounded
    sum.rounded += term
    if fabs(before) >= fabs(term):
        sum.lost += (before - sum.rounded) + term
    else:
        sum.lost += (term - sum.rounded) + before


cdef inline double value_of(const Sum* sum) noexcept nogil:
    return sum.rounded + sum.lost
