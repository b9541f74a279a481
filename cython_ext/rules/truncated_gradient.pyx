"""Truncated gradient: w <- T1(w - eta_t g_t, eta_t K l1, theta) when K divides t, applied lazily.

Langford, Li, Zhang. Sparse Online Learning via Truncated Gradient. JMLR 10, 2009; section 3.3, eq. 6.

The cumulative gravity A_t = sum of eta_s K l1 over s <= t with K | s is one global number; a slot
stores A at its last touch. Before a weight is read, the pending truncation is applied:
w <- T1(w, A - A_slot, theta). That is exact: an untouched weight either exceeds theta and is never
shrunk, or does not, and then T1(T1(w, a), b) = T1(w, a + b).

With --l2 it is the elastic net's: where |v| <= theta, w <- T1(v, a_t, theta) / (1 + b_t), a_t = eta_t K l1 and
b_t = eta_t K l2, which for theta = infinity and K = 1 minimizes eta_t (l1 |w| + l2 w^2 / 2) + (w - v)^2 / 2. With the
growth c_t = product of (1 + b_s), the size |w| c falls by a_t c_{t-1} with every step, so with A_t = sum of a_s c_{s-1}
a weight that was last touched at r is

    |w_t| = max(0, |w_r| c_r - (A_t - A_r)) / c_t,

again if it does not exceed theta: else it stays, as a shrunk weight never exceeds theta. Slots store c_r too. Before c
leaves the range of a double, it, A and those of all slots are multiplied by a power of two, which changes no digit.
--gravity constant shrinks by the rate of the first example in place of eta_t, which makes the g_i of eq. 6 grow as the
learning rate falls: g_i = g eta_1 / eta_i. The model keeps that rate.

Without l1, with K = 1 and theta infinite, this is gradient descent with weight decay: `sgd` with --l2.

A slot keeps w in 32 bits. |w| <= theta is decided at that precision: theta is rounded to 32 bits as well, else 0.1 as a
weight, which is above 0.1 as a double, would exceed a theta of 0.1.
"""

from libc.math cimport INFINITY, copysign, fabs, fmin
from libc.stdint cimport uint32_t, uint64_t

from vwlite.core.rules._averaging cimport (
    History, RunningSum, append, bring_up, close, free_history, mean, reset, shrinking
)
from vwlite.core.learn.nonzeros cimport Limited
from vwlite.core.learn.prox cimport soft_threshold, truncate
from vwlite.core.learn.rule cimport Example, Outcome, Rule, iterate, learning_rate, next_chunk, positive
from vwlite.core.learn.table cimport next_slot


cdef struct Slot:
    uint32_t mark
    float w             # as of the last touch
    double gravity      # the cumulative gravity at the last touch


cdef class TruncatedGradient(Limited):
    """T1(w - eta_t g, eta_t K l1, theta) every K examples"""

    SLOT = [("mark", "<u4"), ("w", "<f4"), ("gravity", "<f8")]
    SLOT_BYTES = sizeof(Slot)
    WEIGHS_ALONE = True
    SCALARS = ["t", "gravity"]

    cdef public double gravity    # A_t
    cdef double gravity_rate      # of a constant gravity; 0: the learning rate
    cdef double l1, theta
    cdef size_t period

    def __init__(self, loss, *, double l1=0, size_t period=1, double threshold=INFINITY, str gravity="rate",
                 **schedule):
        super().__init__(loss, **schedule)
        self.gravity_rate = learning_rate(&self.schedule, 1) if gravity == "constant" else 0
        self.l1 = self.strength = l1
        self.period, self.theta = period, <float>threshold

    def scalars(self):
        """The state that is not per feature, by name."""
        return super().scalars() | ({"gravity_rate": self.gravity_rate} if self.gravity_rate else {})

    def set_scalars(self, scalars):
        super().set_scalars(scalars)
        if self.gravity_rate:
            self.gravity_rate = positive(scalars["gravity_rate"], "rate of gravity")

    cdef void set_strength(self, double strength) noexcept nogil:
        self.l1 = strength

    cdef double size(self, const char* slot) noexcept nogil:
        cdef double size = fabs(self.now(<const Slot*>slot))
        return size if size <= self.theta else INFINITY

    cdef double next_strength(self, size_t n, double examples) noexcept nogil:
        return self.next_shrinkage(n, self.gravity_rate or learning_rate(&self.schedule, self.t + 1), examples)

    cdef inline double now(self, const Slot* s) noexcept nogil:
        """The weight after all pending truncations."""
        return s.w if s.mark == self.constant_mark else truncate(s.w, self.gravity - s.gravity, self.theta)

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
        cdef double eta, step
        cdef Example part = iterate(e)
        if self.t >= self.next_recount_t:
            self.adapt_strength()
        self.t += 1
        self.occurrences += e.size
        eta = learning_rate(&self.schedule, self.t)
        step = -eta * o.importance * o.dloss
        while step != 0 and next_chunk(&part):
            self.descend(&part, step)
        if <uint64_t>self.t % self.period == 0:
            self.shrink((self.gravity_rate or eta) * self.period)

    cdef void descend(self, const Example* part, double step) noexcept nogil:
        """w += step x, for a weight without pending truncations."""
        cdef size_t i
        cdef const float* x = part.x
        cdef Slot** slots = <Slot**>part.slots
        for i in range(part.size):
            slots[i].w = <float>(self.now(slots[i]) + step * x[i])
            slots[i].gravity = self.gravity

    cdef void shrink(self, double rate) noexcept nogil:
        """Shrink all weights by the sum for K examples at this rate."""
        self.gravity += rate * self.l1

    cdef double weight(self, const char* slot) noexcept nogil:
        return self.now(<const Slot*>slot)

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return self.now(<const Slot*>slot) == 0


cdef double FAR = 2.0**256          # a weight in 32 bits that is shrunk by it, or to this part, is zero
cdef double BACK = 2.0**-256


cdef struct ElasticSlot:
    uint32_t mark
    float w             # as of the last touch
    double gravity      # A and c at the last touch
    double growth


cdef class ElasticTruncatedGradient(TruncatedGradient):
    """T1(w - eta_t g, eta_t K l1, theta) / (1 + eta_t K l2) every K examples"""

    SLOT = [*TruncatedGradient.SLOT, ("growth", "<f8")]
    SLOT_BYTES = sizeof(ElasticSlot)
    SCALARS = [*TruncatedGradient.SCALARS, "growth"]

    cdef public double growth     # c_t
    cdef double l2

    def __init__(self, loss, *, double l2, **options):
        super().__init__(loss, **options)
        self.l2, self.growth = l2, 1

    cdef inline double left(self, const ElasticSlot* s) noexcept nogil:
        """The weight after all pending updates."""
        if s.mark == self.constant_mark or fabs(s.w) > self.theta:
            return s.w
        return soft_threshold(s.w * s.growth, self.gravity - s.gravity) / self.growth

    cdef double size(self, const char* slot) noexcept nogil:
        cdef double size = fabs(self.left(<const ElasticSlot*>slot))
        return size if size <= self.theta else INFINITY

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef const float* x
        cdef ElasticSlot** slots
        cdef double sum = 0
        cdef Example part = iterate(e)
        while next_chunk(&part):
            slots, x = <ElasticSlot**>part.slots, part.x
            for i in range(part.size):
                sum += self.left(slots[i]) * x[i]
        return e.initial + sum

    cdef void descend(self, const Example* part, double step) noexcept nogil:
        cdef size_t i
        cdef const float* x = part.x
        cdef ElasticSlot** slots = <ElasticSlot**>part.slots
        for i in range(part.size):
            slots[i].w = <float>(self.left(slots[i]) + step * x[i])
            slots[i].gravity, slots[i].growth = self.gravity, self.growth

    cdef void shrink(self, double rate) noexcept nogil:
        self.gravity += fmin(rate * self.l1, FAR) * self.growth
        self.growth *= fmin(1 + rate * self.l2, FAR)
        if self.growth > FAR:
            self.rescale()

    cdef void rescale(self) noexcept nogil:
        """Divide c and A by a power of two, here and in all slots."""
        cdef char* slot = NULL
        cdef ElasticSlot* s
        self.gravity *= BACK
        self.growth *= BACK
        while next_slot(self.table, &slot):
            s = <ElasticSlot*>slot
            s.gravity *= BACK
            s.growth *= BACK

    cdef double weight(self, const char* slot) noexcept nogil:
        return self.left(<const ElasticSlot*>slot)

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return self.left(<const ElasticSlot*>slot) == 0

    def load(self, scalars, slots):
        super().load(scalars, slots)
        positive(self.growth, "growth")


cdef struct AveragedSlot:
    uint32_t mark
    float w
    double gravity
    RunningSum total


cdef class AveragedTruncatedGradient(TruncatedGradient):
    """The mean of the weights of truncated gradient: see _averaging.pxd"""

    SLOT = [*TruncatedGradient.SLOT, ("sum", "<f8"), ("since", "<f8"), ("area", "<f8")]
    SLOT_BYTES = sizeof(AveragedSlot)
    SCALARS = [*TruncatedGradient.SCALARS, "area"]

    cdef public double area       # the sum of A_0, ..., A_{t-1}
    cdef History history

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.reset_history()

    def __dealloc__(self):
        free_history(&self.history)

    cdef void reset_history(self) noexcept nogil:
        if reset(&self.history, self.t, self.gravity, self.area):
            self.out_of_memory = True

    cdef inline double pending(self, const AveragedSlot* s) noexcept nogil:
        """The contribution of the examples since the last touch to the sum."""
        cdef double size = fabs(s.w)
        if s.w == 0:
            return 0
        if size > self.theta or s.mark == self.constant_mark:
            return (self.t - s.total.since) * s.w
        return copysign(shrinking(&self.history, &s.total, size, s.gravity, self.gravity, self.t, self.area), s.w)

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        self.area += self.gravity
        TruncatedGradient.update(self, e, o)
        if append(&self.history, self.gravity, self.area):
            self.out_of_memory = True
        if self.history.size > self.table.capacity:
            self.close_zero_sums()

    cdef void descend(self, const Example* part, double step) noexcept nogil:
        cdef size_t i
        cdef AveragedSlot* s
        for i in range(part.size):
            s = <AveragedSlot*>part.slots[i]
            bring_up(&s.total, self.pending(s), self.t, self.area)
            s.w = <float>(self.now(<Slot*>s) + step * part.x[i])
            s.gravity = self.gravity

    cdef void close_zero_sums(self) noexcept nogil:
        """Close the sums of the weights that have become zero."""
        cdef char* slot = NULL
        cdef AveragedSlot* s
        while next_slot(self.table, &slot):
            s = <AveragedSlot*>slot
            if s.w != 0 and self.now(<Slot*>s) == 0 and s.mark != self.constant_mark:
                close(&s.total, self.pending(s))
                s.w = s.gravity = 0
        self.reset_history()

    def flush(self):
        """No sum of a zero weight stays open: the history is not saved."""
        self.close_zero_sums()

    def load(self, scalars, slots):
        super().load(scalars, slots)
        self.reset_history()

    cdef double predict(self, const Example* e) noexcept nogil:
        return Rule.predict(self, e)

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        return TruncatedGradient.predict(self, e)

    cdef double weight(self, const char* slot) noexcept nogil:
        cdef const AveragedSlot* s = <const AveragedSlot*>slot
        return mean(&s.total, self.pending(s), self.t)

    cdef bint is_default(self, const char* slot) noexcept nogil:
        cdef const AveragedSlot* s = <const AveragedSlot*>slot
        return self.now(<const Slot*>s) == 0 and s.total.sum + self.pending(s) == 0
