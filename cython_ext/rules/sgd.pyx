"""Stochastic gradient descent: w <- w - eta_t g, eta_t = rate * decay * (t + t0)^-power_t."""

from libc.stdint cimport uint32_t

from vwlite.core.rule cimport Example, Outcome, Rule, learning_rate


cdef struct Slot:
    uint32_t mark
    float w


cdef class Sgd(Rule):
    """w <- w - eta_t h l'(p, y) x"""

    SLOT = [("mark", "<u4"), ("w", "<f4")]

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i = 0, n = e.size
        cdef const float* x = e.x
        cdef Slot** slots = <Slot**>e.slots
        cdef double even = 0, odd = 0      # two sums, so that additions overlap
        while i + 1 < n:
            even += <double>slots[i].w * x[i]
            odd += <double>slots[i + 1].w * x[i + 1]
            i += 2
        if i < n:
            even += <double>slots[i].w * x[i]
        return e.initial + (even + odd)

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t i
        cdef const float* x = e.x
        cdef Slot** slots = <Slot**>e.slots
        cdef double step
        self.t += 1
        step = -learning_rate(&self.schedule, self.t) * o.importance * o.slope
        if step == 0:
            return
        for i in range(e.size):
            slots[i].w += <float>(step * x[i])

    cdef double weight(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w

    cdef bint idle(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w == 0
