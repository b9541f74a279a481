"""FreeGrad, each coordinate on its own: a parameter-free method that adapts to the scale of the gradients.

With G = sum of importance * g, V = sum of importance * g^2, h the largest |g| and h_1 the first,

    w = -G epsilon (2 V + h |G|) h_1^2 / (2 (V + h |G|)^2 sqrt(V)) exp(|G|^2 / (2 V + 2 h |G|)).

A gradient larger than h is cut to it. Mhammedi, Koolen. Lipschitz and Comparator-Norm Adaptivity in Online Learning.
COLT 2020, equation 9; as in Vowpal Wabbit, which keeps the weight that the last example learned was predicted with:
an example that is only predicted sees that.
"""

from libc.math cimport exp, fabs, sqrt
from libc.stdint cimport uint32_t

from vwlite.core.rule cimport Example, Outcome, Rule


cdef struct Slot:
    uint32_t mark
    float w      # before the last example learned
    float G
    float V
    float h1
    float h
    float S      # sum of |g| / h


cdef class FreeGrad(Rule):
    """restart: begin anew when h has grown by more than S + 2."""

    SLOT = [("mark", "<u4"), ("w", "<f4"), ("G", "<f4"), ("V", "<f4"), ("h1", "<f4"), ("h", "<f4"), ("S", "<f4")]
    CLIPS = True

    cdef readonly double weight_sum     # of the examples learned
    cdef double epsilon
    cdef bint restart

    def __init__(self, loss, *, double epsilon=1, bint restart=False, **schedule):
        super().__init__(loss, **schedule)
        self.epsilon, self.restart = epsilon, restart

    cdef inline double now(self, const Slot* s) noexcept nogil:
        cdef double size = fabs(s.G), hG
        if s.h1 <= 0:
            return 0
        hG = s.h * size
        return (-s.G * self.epsilon * (2 * s.V + hG) * s.h1 * s.h1 / (2 * (s.V + hG) * (s.V + hG) * sqrt(s.V))
                * exp(size * size / (2 * s.V + 2 * hG)))

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef Slot** slots = <Slot**>e.slots
        cdef double sum = 0
        for i in range(e.size):
            sum += self.now(slots[i]) * e.x[i]
        return sum      # as in Vowpal Wabbit, without e.initial

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t i
        cdef Slot** slots = <Slot**>e.slots
        cdef Slot* s
        cdef double g, cut, before, importance = o.importance
        cdef double more = importance - 1       # what an importance adds is not cut, as in Vowpal Wabbit
        self.t += 1
        self.weight_sum += importance
        for i in range(e.size):
            s = slots[i]
            g = o.slope * e.x[i]
            cut, before = g, s.h
            s.w = <float>self.now(s)
            if g == 0:
                continue
            if s.h1 == 0:
                s.h1 = s.h = <float>fabs(g)
                s.V += <float>(importance * g * g)      # and once more below, as Vowpal Wabbit does
            elif fabs(g) > s.h:
                cut = g * s.h / fabs(g)
                s.h = <float>fabs(g)
            if self.restart and s.h / s.h1 > s.S + 2:
                s.h1 = s.h
                s.G, s.V = <float>(cut + more * g), <float>(cut * cut + more * g * g)
            else:
                s.G += <float>(cut + more * g)
                s.V += <float>(cut * cut + more * g * g)
            if before > 0:
                s.S += <float>(importance * fabs(cut) / before)

    cdef double weight(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w

    cdef bint idle(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).h1 == 0
