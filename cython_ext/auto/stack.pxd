"""One weight for each column of scores. See stack.pyx."""

from vwlite.core.auto.lanes cimport COLUMNS
from vwlite.core.learn.losses cimport Loss


cdef class OnlineStack:
    cdef Loss loss
    cdef double u[COLUMNS]
    cdef double B[COLUMNS * COLUMNS]  # about the inverse of the Hessian, with forgetting

    cdef double step(self, const float* o, double label, double importance, double initial) noexcept nogil
