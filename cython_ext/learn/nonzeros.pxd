"""Rules that can limit the number of nonzero weights. See nonzeros.pyx."""

from libc.stdint cimport uint32_t

from vwlite.core.learn.rule cimport Rule


cdef class Limited(Rule):
    cdef readonly size_t nonzeros     # the maximal number of nonzero weights; 0: no limit
    cdef public double strength       # current l1 or radius
    cdef public double next_recount_t        # t of the next recount of the weights
    cdef double occurrences           # features of all learned examples, where an update makes weights nonzero at once
    cdef double* sizes                # owned; sizes of weights, collected by a recount
    cdef size_t capacity
    cdef double cut                   # the model omits smaller weights, and those of this size with larger keys
    cdef uint32_t cut_key

    cdef double target_count(self) noexcept nogil
    cdef double size(self, const char* slot) noexcept nogil
    cdef void set_strength(self, double strength) noexcept nogil
    cdef void update_state(self) noexcept nogil
    cdef double next_strength(self, size_t n, double examples) noexcept nogil
    cdef void adapt_strength(self) noexcept nogil
    cdef size_t collect_sizes(self, bint of_weights) noexcept nogil
    cdef void select_largest(self) noexcept nogil
    cdef double next_shrinkage(self, size_t n, double rate, double examples) noexcept nogil


cdef double kth_largest(const double* numbers, size_t n, size_t k) noexcept nogil
