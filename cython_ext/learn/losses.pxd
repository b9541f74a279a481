"""Losses: a number for a prediction and a label, its derivative, and the invariant step."""

from libc.math cimport exp


cdef inline double sigmoid(double p) noexcept nogil:
    """1 / (1 + e^-p), the probability of the label 1"""
    return 1 / (1 + exp(-p))


cdef class Loss:
    cdef double largest_p     # a rule that clips its predictions clips them to [-largest_p, largest_p] too
    cdef double value(self, double p, double y) noexcept nogil
    cdef double slope(self, double p, double y) noexcept nogil
    cdef double judge(self, double p, double y, double* slope) noexcept nogil
    cdef double invariant_step(self, double p, double y, double slope, double eta, double h) noexcept nogil
    cdef double curvature(self, double p, double y) noexcept nogil
