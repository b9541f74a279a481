"""Passive-aggressive learning: w <- w + tau y x, the smallest step that removes the hinge loss.

Crammer, Dekel, Keshet, Shalev-Shwartz, Singer. Online Passive-Aggressive Algorithms. JMLR 7, 2006; figure 1.

    PA:     min ||w - v||^2 / 2  over  l(v) = 0             tau = l / ||x||^2
    PA-I:   min ||w - v||^2 / 2 + h C l(v)                  tau = min(h C, l / ||x||^2)
    PA-II:  min ||w - v||^2 / 2 + h C l(v)^2                tau = l / (||x||^2 + 1 / (2 h C))

l is the hinge loss. The importance h multiplies it in the objective; in PA, where the loss must vanish, h has no
effect as long as it is not 0.
"""

from libc.math cimport fmin
from libc.stdint cimport uint32_t

from vwlite.core.rules._gathered cimport SummedFeature, Gathering, dot, gather, give_back
from vwlite.core.learn.rule cimport Example, Outcome, Rule


cdef struct Slot:
    uint32_t mark
    uint32_t at         # see _gathered.pxd
    double w


cdef class Pa(Rule):
    """tau = l / ||x||^2"""

    SLOT = [("mark", "<u4"), ("_at", "<u4"), ("w", "<f8")]
    SLOT_BYTES = sizeof(Slot)
    WEIGHS_ALONE = True

    cdef double C
    cdef Gathering gathering

    def __dealloc__(self):
        give_back(&self.gathering)

    cdef double tau(self, double loss, double norm, double importance) noexcept nogil:
        """The size of the step; norm is ||x||^2, above 0."""
        return loss / norm

    cdef double predict(self, const Example* e) noexcept nogil:
        return e.initial + dot(e)

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t i
        cdef Slot* s
        cdef const SummedFeature* found
        cdef double norm = 0, step = 0
        self.t += 1
        if o.loss <= 0:
            return
        if gather(&self.gathering, e):
            self.out_of_memory = True
            return
        found = self.gathering.features
        for i in range(self.gathering.size):
            norm += found[i].x * found[i].x
        if norm > 0:
            step = -o.dloss * self.tau(o.loss, norm, o.importance)     # the dloss of the hinge loss is -y
        for i in range(self.gathering.size):
            s = <Slot*>found[i].slot
            s.w += step * found[i].x

    cdef double weight(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w

    cdef bint is_default(self, const char* slot) noexcept nogil:
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
