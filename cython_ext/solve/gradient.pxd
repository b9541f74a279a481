"""What first-order methods share. See gradient.pyx."""

from libc.stdint cimport uint64_t

from vwlite.core.solve.problem cimport Problem
from vwlite.core.solve.softmax cimport SoftmaxProblem
from vwlite.core.solve.solver cimport Solver

cdef enum:
    WHOLE_GRADIENTS = 10    # of one step, when each is of all examples

cdef double GROWTH              # of t, from one step to the next
cdef double NOISE               # of the loss: expected decreases below this are computed from the curvature


cdef class FirstOrder(Solver):
    cdef SoftmaxProblem softmax     # None: one class
    cdef size_t classes, n, d, size     # size: classes * d
    cdef size_t iterations
    cdef double eta0, t
    cdef uint64_t k                 # gradients so far
    cdef bint started
    # Those of the problem.
    cdef double* w                  # [classes, d]
    cdef double* g                  # [classes, d]
    cdef double* b                  # [classes]
    cdef double* r                  # [classes, n]
    cdef double* predictions        # [classes, n]
    # Owned.
    cdef double* b_slope            # [classes]
    cdef double* left               # [classes, d] the weights as the last step left them
    cdef double* b_left             # [classes]
    cdef double[::1] given, projected, of_penalty

    cdef double* allocate(self, size_t items) except NULL
    cdef int restart(self) except -1 nogil
    cdef bint is_as_left(self) noexcept nogil
    cdef void finish(self) noexcept nogil
    cdef double most_curved(self) noexcept nogil
    cdef double safe_rate(self) noexcept nogil
    cdef double value(self) noexcept nogil
    cdef double squares(self, const double* w) noexcept nogil
    cdef void slopes(self, const double* w) noexcept nogil
    cdef int project(self, size_t c) except -1 nogil
    cdef int project_given(self, Problem p, size_t m) except -1 nogil
