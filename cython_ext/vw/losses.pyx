"""The losses that only Vowpal Wabbit has, or has in another form. What a loss is: see learn/losses.pyx."""

from libc.math cimport INFINITY, exp, log

from vwlite.core.learn.losses cimport Expectile as ExpectileOfTau, Logistic, Loss, Poisson, Squared


cdef inline double within(double p, double largest) noexcept nogil:
    return -largest if p < -largest else largest if p > largest else p


cdef class Classic(Squared):
    """(p - y)^2, with plain steps: a large importance passes the label, as in Vowpal Wabbit's classic loss"""

    cdef double invariant_step(self, double p, double y, double dloss, double eta, double h) noexcept nogil:
        return Loss.invariant_step(self, p, y, dloss, eta, h)


cdef class Expectile(ExpectileOfTau):
    """q (p - y)^2 above the label, (1 - q) (p - y)^2 below it"""

    def __init__(self, double q=0.5):
        self.below, self.above = 1 - q, q


cdef double LOST_LOSS = 5.960464299903386e-08     # log(1 + 2^-24)


cdef class SoftLogistic(Logistic):
    """z log(1 + exp(-p)) + (1 - z) log(1 + exp(p)), z = (y - low) / (high - low): labels between two ends

    In single precision 1 + exp(-yp) is 1 from yp = 16.6 on, so Vowpal Wabbit has no loss there, and does not learn.
    """
    cdef double low, high

    def __init__(self, double low=-1, double high=1):
        self.low, self.high = low, high

    cdef double evaluate(self, double p, double y, double* dloss) noexcept nogil:
        cdef double z = (y - self.low) / (self.high - self.low)
        cdef double value, rising
        if z == 1 or z == 0:
            value = Logistic.evaluate(self, p, 2 * z - 1, dloss)
            return value if value > LOST_LOSS else 0
        value = z * Logistic.evaluate(self, p, 1, dloss)
        rising = z * dloss[0]
        value += (1 - z) * Logistic.evaluate(self, p, -1, dloss)
        dloss[0] = rising + (1 - z) * dloss[0]
        return value

    cdef double dloss(self, double p, double y) noexcept nogil:
        cdef double dloss
        self.evaluate(p, y, &dloss)
        return dloss

    cdef double invariant_step(self, double p, double y, double dloss, double eta, double h) noexcept nogil:
        cdef double z = (y - self.low) / (self.high - self.low)
        cdef double up, down
        if z == 1 or z == 0:
            return Logistic.invariant_step(self, p, 2 * z - 1, dloss, eta, h)
        Logistic.evaluate(self, p, 1, &up)
        Logistic.evaluate(self, p, -1, &down)
        return (z * Logistic.invariant_step(self, p, 1, up, eta, h)
                + (1 - z) * Logistic.invariant_step(self, p, -1, down, eta, h))


cdef class PoissonDeviance(Poisson):
    """2 (y (log(y + 1e-6) - p) - (y - exp(p))): the deviance, as Vowpal Wabbit reports it; steps are Poisson's

    A p beyond 44 in size has the loss of 44; predictions may be larger.
    """

    def __cinit__(self, *args, **options):
        self.largest_p = INFINITY       # the learner has limits of its own

    cdef double value(self, double p, double y) noexcept nogil:
        p = within(p, 44)
        return 2 * (y * (log(y + 1e-6) - p) - (y - exp(p)))

    cdef double dloss(self, double p, double y) noexcept nogil:
        return Poisson.dloss(self, within(p, 44), y)

    cdef double curvature(self, double p, double y) noexcept nogil:
        return Poisson.curvature(self, within(p, 44), y)

    cdef double invariant_step(self, double p, double y, double dloss, double eta, double h) noexcept nogil:
        return Poisson.invariant_step(self, within(p, 44), y, dloss, eta, h)
