"""AROW, diagonal: a normal distribution for each weight; w moves far if the variance is large, and each update of w
reduces the variance.

Crammer, Kulesza, Dredze. Adaptive Regularization of Weight Vectors. NIPS 2009; figure 1, equations 7 and 9.

With the hinge loss l, Sigma diagonal and 1 at first, if l > 0:

    beta = 1 / (x' Sigma x + r / h),    w <- w + l beta y Sigma x,    Sigma_ii <- Sigma_ii - beta (Sigma_ii x_i)^2.

The importance h multiplies both terms of the objective for the example, loss and variance. The equations
alone would reduce Sigma also for an example without loss; the figure in the paper, and so this code, does not.
"""

from libc.stdint cimport uint32_t

from vwlite.core.rules._gathered cimport SummedFeature, Gathering, dot, gather, give_back
from vwlite.core.learn.rule cimport Example, Outcome, Rule


cdef struct Slot:
    uint32_t mark
    uint32_t at         # see _gathered.pxd
    double w
    double sigma        # the variance of w


cdef class Arow(Rule):
    """w + l y Sigma x / (x' Sigma x + r)"""

    SLOT = [("mark", "<u4"), ("_at", "<u4"), ("w", "<f8"), ("sigma", "<f8")]
    SLOT_BYTES = sizeof(Slot)
    WEIGHS_ALONE = True

    cdef double r
    cdef Gathering gathering

    def __init__(self, loss, *, double arow_r=1, **schedule):
        super().__init__(loss, **schedule)
        self.r = arow_r

    def __dealloc__(self):
        give_back(&self.gathering)

    def state_of(self, m):
        return {"w": m.w, "sigma": 1 / m.S}

    def blank(self):
        cdef Slot slot = Slot(0, 0, 0, 1)
        return (<const char*>&slot)[:sizeof(Slot)]

    cdef double predict(self, const Example* e) noexcept nogil:
        return e.initial + dot(e)

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t i
        cdef Slot* s
        cdef const SummedFeature* found
        cdef double variance = 0, beta, step, rest, sx
        self.t += 1
        if o.loss <= 0:
            return
        if gather(&self.gathering, e):
            self.out_of_memory = True
            return
        found = self.gathering.features
        for i in range(self.gathering.size):
            s = <Slot*>found[i].slot
            variance += s.sigma * found[i].x * found[i].x
        beta = 1 / (variance + self.r / o.importance)
        step = -o.dloss * o.loss * beta     # the dloss of the hinge loss is -y
        for i in range(self.gathering.size):
            s = <Slot*>found[i].slot
            sx = s.sigma * found[i].x
            rest = 1 - beta * sx * found[i].x
            s.w += step * sx
            s.sigma *= rest if rest > 0 else 0       # below 0 by rounding only

    cdef double weight(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w == 0 and (<const Slot*>slot).sigma == 1
