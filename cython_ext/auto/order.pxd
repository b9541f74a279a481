"""Which examples are learned. See order.pyx."""

from libc.math cimport isnan

from vwlite.core.data.batch cimport EXAMPLE, Arrays


cdef inline bint is_used(const Arrays* a, size_t line) noexcept nogil:
    """Whether an example can be learned: it has a label and an importance."""
    return a.kind[line] == EXAMPLE and not isnan(a.label[line]) and a.importance[line] > 0
