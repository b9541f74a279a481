"""The base class of rules with a matrix. See full_matrix.pyx."""

from libc.stdint cimport uint32_t

from vwlite.core.learn.rule cimport Example, Outcome, Rule


cdef struct Slot:
    uint32_t mark
    uint32_t place      # of the feature in the arrays, from 1; 0: none so far


cdef class FullMatrix(Rule):
    cdef size_t n                 # features with a place
    cdef object penalized         # [n] 1, or 0 for the intercept
    cdef object w                 # [n]
    cdef double[::1] now          # w

    cdef learn(self, const Example* e, const Outcome* o)
    cdef vector(self, const Example* e, double factor)
    cdef arrays(self)
    cdef put(self, arrays)
    cdef grow(self, size_t more)
