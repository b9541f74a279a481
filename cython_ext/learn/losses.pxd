"""Losses: the value for a prediction and a label, its derivative, and the importance-aware step. See losses.pyx."""

cdef class Loss:
    cdef readonly double largest_p     # a rule that clips its predictions also clips them to [-largest_p, largest_p]
    cdef readonly double least_p       # --algorithm auto clips to [least_p, largest_p]
    # p is the logarithm of the mean m, and the variance of labels grows as m^power: 1 Poisson, 2 gamma; 0: p is the mean
    cdef readonly double power
    cdef public bint of_log            # labels are log(1 + y), and exp(p) - 1 predicts y
    cdef readonly bint keeps_labels    # its best constant is not the mean of the labels, and needs the labels themselves
    cdef double value(self, double p, double y) noexcept nogil
    cdef double dloss(self, double p, double y) noexcept nogil
    cdef double evaluate(self, double p, double y, double* dloss) noexcept nogil
    cdef double invariant_step(self, double p, double y, double dloss, double eta, double h) noexcept nogil
    cdef double curvature(self, double p, double y) noexcept nogil


cdef inline double bounded(Loss loss, double p) noexcept nogil:
    return min(max(p, loss.least_p), loss.largest_p)


cdef class Squared(Loss):
    pass


cdef class Logistic(Loss):
    pass


cdef class Quantile(Loss):
    cdef readonly double tau


cdef class Expectile(Squared):
    cdef double below, above        # what multiplies the square on each side of the label
    cdef double factor(self, double p, double y) noexcept nogil


cdef class Huber(Squared):
    cdef readonly double delta


cdef class Poisson(Loss):
    pass


cdef class Gamma(Loss):
    pass


cdef enum:
    TERMS = 26


cdef class Tweedie(Loss):
    cdef double a, b                # power - 1, 2 - power
    cdef double series[2][TERMS]    # see `time_from_infinity`; for means below and above the label
    cdef double flow(self, double q, double t) noexcept nogil
    cdef double time_from_infinity(self, double x, bint above) noexcept nogil
    cdef double near(self, double x, bint above) noexcept nogil
    cdef double far(self, double x, bint above) noexcept nogil
