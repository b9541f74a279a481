"""Multinomial logistic regression with a ball for each class. See softmax.pyx."""

from libc.stdint cimport uint32_t

from vwlite.core.solve.problem cimport Problem


cdef class SoftmaxProblem(Problem):
    cdef readonly size_t classes
    # Owned.
    cdef uint32_t* class_of         # [n] counted from 0
    cdef double* share              # [classes] of the importance
    cdef double* every_weight       # [classes, d]
    cdef double* every_g            # [classes, d]
    cdef double* every_prediction   # [classes, n]
    cdef double* every_r            # [classes, n] h (P(class) - [it is the label])
    cdef double* constants          # [classes]
    cdef double* mean               # [classes] of the probabilities

    cdef object table(self, double* data)
    cdef void lend(self, size_t k) noexcept nogil
    cdef void make_balanced(self) noexcept nogil


cdef double softmax_row(const double* scores, size_t stride, size_t classes, size_t label, double h,
                        double* r) noexcept nogil
