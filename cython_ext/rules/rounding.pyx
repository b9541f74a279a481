"""Simple coefficient rounding: w <- T0(w - eta_t g_t, theta) when K divides t, applied lazily.

Langford, Li, Zhang. Sparse Online Learning via Truncated Gradient. JMLR 10, 2009; section 3.1, eq. 4.

T0(v, theta) = 0 if |v| < theta, else v. (The indicator in the paper is misprinted.) Rounding twice is
rounding once, so a slot stores only how many roundings took place before its last touch: if there
were more since, its weight is rounded before it is read.
"""

from libc.math cimport fabs
from libc.stdint cimport uint32_t, uint64_t

from vwlite.core.learn.prox cimport only_if
from vwlite.core.learn.rule cimport Example, Outcome, Rule, iterate, learning_rate, next_chunk
from vwlite.core.learn.table cimport next_slot

cdef uint32_t LAST = 0xFFFFFFFF     # the largest count of roundings


cdef struct Slot:
    uint32_t mark
    uint32_t rounds     # roundings before the last touch
    double w            # as of the last touch


cdef class Rounding(Rule):
    """T0(w - eta_t g, theta) every K examples"""

    SLOT = [("mark", "<u4"), ("rounds", "<u4"), ("w", "<f8")]
    SLOT_BYTES = sizeof(Slot)
    WEIGHS_ALONE = True
    SCALARS = ["t", "rounds"]

    cdef public uint32_t rounds     # since the beginning, or since all slots were rounded at once
    cdef double theta
    cdef size_t period

    def __init__(self, loss, *, double threshold, size_t period=1, **schedule):
        super().__init__(loss, **schedule)
        self.theta, self.period = threshold, period

    cdef inline double now(self, const Slot* s) noexcept nogil:
        """The weight after a pending rounding. One condition without branches: its parts are unpredictable."""
        return only_if((s.rounds == self.rounds) | (fabs(s.w) >= self.theta) | (s.mark == self.constant_mark), s.w)

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef const float* x
        cdef Slot** slots
        cdef double sum = 0
        cdef Example part = iterate(e)
        while next_chunk(&part):
            slots, x = <Slot**>part.slots, part.x
            for i in range(part.size):
                sum += self.now(slots[i]) * x[i]
        return e.initial + sum

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t i
        cdef const float* x
        cdef Slot** slots
        cdef double step
        cdef Example part = iterate(e)
        self.t += 1
        step = -learning_rate(&self.schedule, self.t) * o.importance * o.dloss
        while step != 0 and next_chunk(&part):
            slots, x = <Slot**>part.slots, part.x
            for i in range(part.size):
                slots[i].w = self.now(slots[i]) + step * x[i]
                slots[i].rounds = self.rounds
        if <uint64_t>self.t % self.period == 0:
            if self.rounds == LAST:
                self.round_all()
            self.rounds += 1

    cdef void round_all(self) noexcept nogil:
        """Apply every pending rounding, and count from 0 again."""
        cdef char* slot = NULL
        cdef Slot* s
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            s.w = self.now(s)
            s.rounds = 0
        self.rounds = 0

    cdef double weight(self, const char* slot) noexcept nogil:
        return self.now(<const Slot*>slot)

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return self.now(<const Slot*>slot) == 0
