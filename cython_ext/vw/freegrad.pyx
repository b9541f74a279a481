"""FreeGrad, each coordinate on its own: a parameter-free method that adapts to the scale of the gradients.

With G = sum of importance * g, V = sum of importance * g^2, h the largest |g| and h_1 the first,

    w = -G epsilon (2 V + h |G|) h_1^2 / (2 (V + h |G|)^2 sqrt(V)) exp(|G|^2 / (2 V + 2 h |G|)).

A gradient larger than h is cut to it. Mhammedi, Koolen. Lipschitz and Comparator-Norm Adaptivity in Online Learning.
COLT 2020, equation 9; as in Vowpal Wabbit, which keeps the weight that the last example learned was predicted with:
an example that is only predicted sees that.

All this is computed in single precision and in Vowpal Wabbit's order: with gradients above 1e9 or so the products are
no floats any more, and a weight is not a number then.
"""

from libc.stdint cimport uint32_t

from vwlite.core.learn.rule cimport Example, Outcome, Rule, iterate, next_chunk

cdef extern from "<math.h>" nogil:
    float expf(float)
    float fabsf(float)
    float sqrtf(float)


cdef struct Slot:
    uint32_t mark
    float w      # before the last example learned
    float G
    float V
    float h1
    float h
    float S      # sum of |g| / h


cdef class FreeGrad(Rule):
    """restart: reset when h has grown by more than S + 2."""

    SLOT = [("mark", "<u4"), ("w", "<f4"), ("G", "<f4"), ("V", "<f4"), ("h1", "<f4"), ("h", "<f4"), ("S", "<f4")]
    SLOT_BYTES = sizeof(Slot)
    CLIPS = True

    cdef readonly double weight_sum     # of the examples learned
    cdef float epsilon
    cdef bint restart

    def __init__(self, loss, *, double epsilon=1, bint restart=False, **schedule):
        super().__init__(loss, **schedule)
        self.epsilon, self.restart = epsilon, restart

    cdef inline float now(self, const Slot* s) noexcept nogil:
        cdef float size = fabsf(s.G), both
        if s.h1 <= 0:
            return 0
        both = s.V + s.h * size
        return (-s.G * self.epsilon * (2 * s.V + s.h * size) * (s.h1 * s.h1) / (2 * (both * both) * sqrtf(s.V))
                * expf(size * size / (2 * s.V + 2 * s.h * size)))

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef float sum = 0
        cdef Example part = iterate(e)
        while next_chunk(&part):
            for i in range(part.size):
                sum += self.now(<Slot*>part.slots[i]) * part.x[i]
        return sum      # as in Vowpal Wabbit, without e.initial

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t i
        cdef Slot* s
        cdef float g, cut, before, dloss = <float>o.dloss, importance = <float>o.importance
        cdef float more = importance - 1        # what an importance adds is not cut, as in Vowpal Wabbit
        cdef Example part = iterate(e)
        self.t += 1
        self.weight_sum += importance
        while next_chunk(&part):
            for i in range(part.size):
                s = <Slot*>part.slots[i]
                g = dloss * part.x[i]
                cut, before = g, s.h
                if s.h1 > 0:
                    s.w = self.now(s)
                if g == 0:
                    continue
                if s.h1 == 0:
                    s.h1 = s.h = fabsf(g)
                    s.V += importance * (g * g)     # and once more below, as Vowpal Wabbit does
                elif fabsf(g) > s.h:
                    cut = g * (s.h / fabsf(g))
                    s.h = fabsf(g)
                if self.restart and s.h / s.h1 > s.S + 2:
                    s.h1 = s.h
                    s.G, s.V = cut + more * g, cut * cut + more * (g * g)
                else:
                    s.G += cut + more * g
                    s.V += cut * cut + more * (g * g)
                if before > 0:
                    s.S += fabsf(cut) / before + more * fabsf(g) / s.h

    cdef double weight(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).h1 == 0 and (<const Slot*>slot).w == 0
