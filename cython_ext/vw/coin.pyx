"""Coin betting: each coordinate bets a fraction of its winnings so far; without a learning rate.

With z = -(sum of g), n = sum of |g|, m the largest |x|, L the largest |dloss| (at least beta) and r the reward,

    v = (alpha + r) z / (L m (L m + n)),    r <- r - g v,    p = sum of v x / A,

A the average of sum of (x / m)^2 over the examples. Orabona, Tommasi. Training Deep Networks without Learning Rates
Through Coin Betting. NIPS 2017, without the sigmoid; as in Vowpal Wabbit. An example that is only predicted sees
the weights w = v / A after the last examples.

All this is computed in single precision and in Vowpal Wabbit's order: bets are often such simple fractions that the
last bit of a prediction decides on which side of the hinge's corner it is. Several models in one table have one A.
"""

from libc.stdint cimport uint32_t

from vwlite.core.learn.rule cimport Example, Outcome, Rule, iterate, next_chunk

cdef extern from "<math.h>" nogil:
    float fabsf(float)


cdef struct Slot:
    uint32_t mark
    float w
    float z
    float n
    float m
    float reward
    float L


cdef inline float bet(Coin self, const Slot* s, float m) noexcept nogil:
    cdef float Lm = s.L * m
    return (self.alpha + s.reward) / (Lm * (Lm + s.n)) * s.z if Lm > 0 else 0


cdef class Coin(Rule):
    """w = (alpha + r) z / (L m (L m + n)) / A"""

    SLOT = [("mark", "<u4"), ("w", "<f4"), ("z", "<f4"), ("n", "<f4"), ("m", "<f4"), ("reward", "<f4"), ("L", "<f4")]
    SLOT_BYTES = sizeof(Slot)
    SCALARS = ["t", "norm_sum", "weight_sum"]
    CLIPS = True

    def __init__(self, loss, *, double alpha=4, double beta=1, **schedule):
        super().__init__(loss, **schedule)
        self.alpha, self.beta = alpha, beta
        self.norm_sum = self.weight_sum = 0

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef Slot** slots
        cdef float sum = 0, norms = 0, m, unit
        cdef Example part = iterate(e)
        while next_chunk(&part):
            slots = <Slot**>part.slots
            for i in range(part.size):
                m = max(slots[i].m, fabsf(part.x[i]))
                sum += bet(self, slots[i], m) * part.x[i]
                if m > 0:
                    unit = part.x[i] / m
                    norms += unit * unit
        self.next_norm_sum = self.norm_sum + self.importance * norms
        self.next_weight_sum = self.weight_sum + self.importance
        self.average = <float>((self.next_norm_sum + 1e-6) / self.next_weight_sum)
        return sum / self.average     # as in Vowpal Wabbit, without e.initial

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t i
        cdef Slot* s
        cdef float g, v, dloss = <float>(o.importance * o.dloss), size = fabsf(dloss)
        cdef Example part = iterate(e)
        self.t += 1
        self.norm_sum, self.weight_sum = self.next_norm_sum, self.next_weight_sum
        while next_chunk(&part):
            for i in range(part.size):
                s = <Slot*>part.slots[i]
                g = dloss * part.x[i]
                s.m = max(s.m, fabsf(part.x[i]))
                if size > s.L:
                    s.L = max(size, self.beta)
                v = bet(self, s, s.m)
                s.z -= g
                s.n += fabsf(g)
                s.reward -= g * v
                s.w = v / self.average

    cdef double weight(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w

    cdef bint is_default(self, const char* slot) noexcept nogil:
        cdef const Slot* s = <const Slot*>slot
        return s.w == 0 and s.z == 0 and s.n == 0 and s.m == 0 and s.reward == 0 and s.L == 0
