"""Losses: the value for a prediction and a label, its derivative, and the importance-aware step. See losses.pyx."""

cdef class Loss:
    cdef readonly double largest_p     # a rule that clips its predictions also clips them to [-largest_p, largest_p]
    cdef readonly bint keeps_labels    # no sums over the labels tell its best constant, which is not their mean
    cdef double value(self, double p, double y) noexcept nogil
    cdef double dloss(self, double p, double y) noexcept nogil
    cdef double evaluate(self, double p, double y, double* dloss) noexcept nogil
    cdef double invariant_step(self, double p, double y, double dloss, double eta, double h) noexcept nogil
    cdef double curvature(self, double p, double y) noexcept nogil


cdef class Squared(Loss):
    pass


cdef class Logistic(Loss):
    pass


cdef class Quantile(Loss):
    cdef readonly double tau


cdef class Huber(Squared):
    cdef readonly double delta


cdef class Poisson(Loss):
    pass
