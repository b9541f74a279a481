"""Labels that are kept for the best constant. See labels.pyx."""

from libc.stdint cimport uint64_t


cdef class LabelSample:
    cdef double* label                # owned, [MOST]
    cdef double* importance           # owned, [MOST]
    cdef size_t size
    cdef uint64_t seen, random

    cdef int add(self, double label, double importance) noexcept nogil
