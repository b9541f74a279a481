"""PiSTOL: parameter-free stochastic learning, each coordinate on its own.

With z = -(sum of g), n = sum of |g| and m the largest |x| seen,

    T = 1 / (alpha m (n + m)),    w = sqrt(n) beta z exp(z^2 T / 2) T.

Orabona. Simultaneous Model Selection and Optimization through Parameter-free Stochastic Learning. NIPS 2014; as in
Vowpal Wabbit, which keeps the weight of the last example learned: an example that is only predicted sees that.
"""

from libc.math cimport exp, fabs, sqrt
from libc.stdint cimport uint32_t

from vwlite.core.learn.rule cimport Example, Outcome, Rule, iterate, next_chunk


cdef struct Slot:
    uint32_t mark
    float w      # as of the last example learned
    float z
    float n
    float m


cdef class Pistol(Rule):
    """w = sqrt(n) beta z exp(z^2 T / 2) T"""

    SLOT = [("mark", "<u4"), ("w", "<f4"), ("z", "<f4"), ("n", "<f4"), ("m", "<f4")]
    SLOT_BYTES = sizeof(Slot)
    CLIPS = True

    cdef double alpha, beta

    def __init__(self, loss, *, double alpha=1, double beta=0.5, **schedule):
        super().__init__(loss, **schedule)
        self.alpha, self.beta = alpha, beta

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef Slot* s
        cdef double sum = 0, T
        cdef Example part = iterate(e)
        while next_chunk(&part):
            for i in range(part.size):
                s = <Slot*>part.slots[i]
                s.m = max(s.m, <float>fabs(part.x[i]))
                if s.m > 0:
                    T = 1 / (self.alpha * s.m * (<double>s.n + s.m))
                    s.w = <float>(sqrt(s.n) * self.beta * s.z * exp(<double>s.z * s.z * T / 2) * T)
                sum += <double>s.w * part.x[i]
        return sum      # as in Vowpal Wabbit, without e.initial

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t i
        cdef Slot** slots
        cdef double g
        cdef Example part = iterate(e)
        self.t += 1
        while next_chunk(&part):
            slots = <Slot**>part.slots
            for i in range(part.size):
                g = o.importance * o.dloss * part.x[i]
                slots[i].z -= <float>g
                slots[i].n += <float>fabs(g)

    cdef double weight(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w

    cdef bint is_default(self, const char* slot) noexcept nogil:
        cdef const Slot* s = <const Slot*>slot
        return s.w == 0 and s.z == 0 and s.n == 0 and s.m == 0
