"""Stochastic gradient descent: w <- w - eta_t g, eta_t = rate * decay * (t + t0)^-power_t.

Averaged, the model is the mean of w_1, ..., w_T, the weights that made the predictions. A slot stores the sum up to its
last touch: since then its weight has not changed.
"""

from libc.stdint cimport uint32_t

from vwlite.core.learn.rule cimport Example, Outcome, Rule, iterate, learning_rate, next_chunk


cdef struct Slot:
    uint32_t mark
    float w


cdef class Sgd(Rule):
    """w <- w - eta_t h l'(p, y) x"""

    SLOT = [("mark", "<u4"), ("w", "<f4")]
    SLOT_BYTES = sizeof(Slot)
    WEIGHS_ALONE = True

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i, n
        cdef const float* x
        cdef Slot** slots
        cdef double even = 0, odd = 0      # two sums, so that additions overlap
        cdef Example part = iterate(e)
        while next_chunk(&part):
            slots, x, n = <Slot**>part.slots, part.x, part.size
            i = 0
            while i + 1 < n:
                even += <double>slots[i].w * x[i]
                odd += <double>slots[i + 1].w * x[i + 1]
                i += 2
            if i < n:
                even += <double>slots[i].w * x[i]
        return e.initial + (even + odd)

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t i
        cdef const float* x
        cdef Slot** slots
        cdef double step
        cdef Example part = iterate(e)
        self.t += 1
        step = -learning_rate(&self.schedule, self.t) * o.importance * o.dloss
        if step == 0:
            return
        while next_chunk(&part):
            slots, x = <Slot**>part.slots, part.x
            for i in range(part.size):
                slots[i].w += <float>(step * x[i])

    cdef double weight(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w == 0


cdef struct AveragedSlot:
    uint32_t mark
    float w
    double sum          # of the weights of the examples 1, ..., since
    double since


cdef class AveragedSgd(Sgd):
    """The mean of the weights of gradient descent"""

    SLOT = [("mark", "<u4"), ("w", "<f4"), ("sum", "<f8"), ("since", "<f8")]
    SLOT_BYTES = sizeof(AveragedSlot)

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t i
        cdef const float* x
        cdef AveragedSlot** slots
        cdef double step
        cdef Example part = iterate(e)
        self.t += 1
        step = -learning_rate(&self.schedule, self.t) * o.importance * o.dloss
        if step == 0:
            return
        while next_chunk(&part):
            slots, x = <AveragedSlot**>part.slots, part.x
            for i in range(part.size):
                slots[i].sum += (self.t - slots[i].since) * slots[i].w
                slots[i].since = self.t
                slots[i].w += <float>(step * x[i])

    cdef inline double mean(self, const AveragedSlot* s) noexcept nogil:
        return (s.sum + (self.t - s.since) * s.w) / self.t if self.t else 0

    cdef double predict(self, const Example* e) noexcept nogil:
        return Rule.predict(self, e)

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        return Sgd.predict(self, e)

    cdef double weight(self, const char* slot) noexcept nogil:
        return self.mean(<const AveragedSlot*>slot)

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return (<const AveragedSlot*>slot).w == 0 and (<const AveragedSlot*>slot).sum == 0
