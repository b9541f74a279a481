"""Labels that are kept for the best constant. See labels.pyx."""

from libc.stdint cimport uint64_t


cdef class LabelSample:
    cdef double* label                # owned, [capacity]
    cdef double* importance           # owned, [capacity]
    cdef size_t size, capacity
    cdef uint64_t seen, random

    cdef int add(self, double label, double importance) noexcept nogil
