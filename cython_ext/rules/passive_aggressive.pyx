"""Passive-aggressive learning: w <- w + tau y x, the smallest step that makes up for the hinge loss.

Crammer, Dekel, Keshet, Shalev-Shwartz, Singer. Online Passive-Aggressive Algorithms. JMLR 7, 2006; figure 1.

    PA:     min ||w - v||^2 / 2  over  l(v) = 0             tau = l / ||x||^2
    PA-I:   min ||w - v||^2 / 2 + h C l(v)                  tau = min(h C, l / ||x||^2)
    PA-II:  min ||w - v||^2 / 2 + h C l(v)^2                tau = l / (||x||^2 + 1 / (2 h C))

l is the hinge loss. The importance h multiplies it in the objective; where the loss must vanish, in PA, h makes no
difference as long as it is not 0.
"""

from libc.math cimport fmin
from libc.stdint cimport uint32_t

from vwlite.core.rules.distinct cimport Distinct, dot, merge, release
from vwlite.core.learn.rule cimport Example, Outcome, Rule


cdef struct Slot:
    uint32_t mark
    uint32_t place      # see distinct.pxd
    double w


cdef class Pa(Rule):
    """tau = l / ||x||^2"""

    SLOT = [("mark", "<u4"), ("_place", "<u4"), ("w", "<f8")]
    SLOT_BYTES = sizeof(Slot)

    cdef double C
    cdef Distinct found

    def __dealloc__(self):
        release(&self.found)

    cdef double tau(self, double loss, double norm, double importance) noexcept nogil:
        """The size of the step; norm is ||x||^2, above 0."""
        return loss / norm

    cdef double predict(self, const Example* e) noexcept nogil:
        return e.initial + dot(e)

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t i
        cdef Slot** slots
        cdef const double* x
        cdef double norm = 0, step = 0
        self.t += 1
        if o.loss <= 0:
            return
        if merge(&self.found, e):
            self.out_of_memory = True
            return
        slots, x = <Slot**>self.found.slots, self.found.x
        for i in range(self.found.size):
            norm += x[i] * x[i]
        if norm > 0:
            step = -o.slope * self.tau(o.loss, norm, o.importance)     # the slope of the hinge loss is -y
        for i in range(self.found.size):
            slots[i].w += step * x[i]
            slots[i].place = 0

    cdef double weight(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w

    cdef bint idle(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w == 0


cdef class PaI(Pa):
    """tau = min(h C, l / ||x||^2)"""

    def __init__(self, loss, *, double pa_c=1, **schedule):
        super().__init__(loss, **schedule)
        self.C = pa_c

    cdef double tau(self, double loss, double norm, double importance) noexcept nogil:
        return fmin(importance * self.C, loss / norm)


cdef class PaII(PaI):
    """tau = l / (||x||^2 + 1 / (2 h C))"""

    cdef double tau(self, double loss, double norm, double importance) noexcept nogil:
        return loss / (norm + 1 / (2 * importance * self.C))
