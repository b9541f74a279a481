"""Coin betting: each coordinate bets a share of what it has won so far; there is no learning rate.

With z = -(sum of g), n = sum of |g|, m the largest |x|, L the largest |slope| (at least beta) and r the reward,

    v = (alpha + r) z / (L m (L m + n)),    r <- r - g v,    p = sum of v x / A,

A the average of sum of (x / m)^2 over the examples. Orabona, Tommasi. Training Deep Networks without Learning Rates
Through Coin Betting. NIPS 2017, without the sigmoid; as in Vowpal Wabbit. An example that is only predicted sees
the weights w = v / A as the last examples left them.
"""

from libc.math cimport fabs
from libc.stdint cimport uint32_t

from vwlite.core.rule cimport Example, Outcome, Rule


cdef struct Slot:
    uint32_t mark
    float w
    float z
    float n
    float m
    float reward
    float L


cdef class Coin(Rule):
    """w = (alpha + r) z / (L m (L m + n)) / A"""

    SLOT = [("mark", "<u4"), ("w", "<f4"), ("z", "<f4"), ("n", "<f4"), ("m", "<f4"), ("reward", "<f4"), ("L", "<f4")]
    SCALARS = ["t", "norm_sum", "weight_sum"]
    CLIPS = True

    cdef public double norm_sum, weight_sum
    cdef double alpha, beta, weight_of_next

    def __init__(self, loss, *, double alpha=4, double beta=1, **schedule):
        super().__init__(loss, **schedule)
        self.alpha, self.beta = alpha, beta
        self.norm_sum = self.weight_sum = 0

    cdef inline double bet(self, const Slot* s, double m) noexcept nogil:
        cdef double Lm = s.L * m
        return (self.alpha + s.reward) / (Lm * (Lm + s.n)) * s.z if Lm > 0 else 0

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef Slot** slots = <Slot**>e.slots
        cdef double sum = 0, norms = 0, m
        for i in range(e.size):
            m = max(slots[i].m, <float>fabs(e.x[i]))
            sum += self.bet(slots[i], m) * e.x[i]
            if m > 0:
                norms += <double>e.x[i] * e.x[i] / (m * m)
        self.norm_sum += e.importance * norms
        self.weight_sum += e.importance
        return sum / self.average()     # as in Vowpal Wabbit, without e.initial

    cdef inline double average(self) noexcept nogil:
        return (self.norm_sum + 1e-6) / self.weight_sum

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t i
        cdef Slot** slots = <Slot**>e.slots
        cdef Slot* s
        cdef double g, v, slope = o.importance * o.slope
        self.t += 1
        for i in range(e.size):
            s = slots[i]
            g = slope * e.x[i]
            s.m = max(s.m, <float>fabs(e.x[i]))
            if fabs(slope) > s.L:
                s.L = <float>max(fabs(slope), self.beta)
            v = self.bet(s, s.m)
            s.z -= <float>g
            s.n += <float>fabs(g)
            s.reward -= <float>(g * v)
            s.w = <float>(v / self.average())

    cdef double weight(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w

    cdef bint idle(self, const char* slot) noexcept nogil:
        cdef const Slot* s = <const Slot*>slot
        return s.w == 0 and s.z == 0 and s.n == 0 and s.m == 0 and s.reward == 0 and s.L == 0
