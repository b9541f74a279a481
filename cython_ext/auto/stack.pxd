"""One weight for each column of scores. See stack.pyx."""

from vwlite.core.auto.lanes cimport COLUMNS
from vwlite.core.learn.losses cimport Loss

cdef enum:
    MOST_ROUNDS = 100       # of Newton's method
    MOST_HALVINGS = 40

cdef double TOLERANCE       # relative


cdef bint solve(double* matrix, double* x, size_t n) noexcept nogil


cdef class OnlineStack:
    cdef Loss loss
    cdef double u[COLUMNS]
    cdef double B[COLUMNS * COLUMNS]  # about the inverse of the Hessian, with forgetting

    cdef double step(self, const float* o, double label, double importance, double initial) noexcept nogil
