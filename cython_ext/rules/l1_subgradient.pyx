"""Subgradient descent on the l1-regularised loss: w <- w - eta_t g_t - c_t sgn(w), c_t = eta_t l1, applied lazily.

Langford, Li, Zhang. Sparse Online Learning via Truncated Gradient. JMLR 10, 2009; section 3.2, eq. 5.

A baseline: a weight crosses zero and returns, but is almost never exactly zero; --round-at-end makes the model sparse.
A slot stores the time of its last touch, and A_t = sum of c_s at that time. An untouched weight moves towards zero;
until it reaches zero it is |w| - (A_t - A_slot). At a constant rate it moves to r = |w| mod c and then
alternates between r and r - c. At a decaying rate a weight that has reached zero is simulated step by step: this
costs one step for each example since the last touch. --gravity constant: c_t is l1 times the rate of the first example,
which the model keeps.
"""

from libc.math cimport copysign, fabs, floor
from libc.stdint cimport uint32_t

from vwlite.core.learn.rule cimport (
    Example, Outcome, Rule, Schedule, iterate, learning_rate, next_chunk, positive
)
from vwlite.core.learn.table cimport next_slot


cdef struct Slot:
    uint32_t mark
    double w            # as of the last touch
    double last         # t at the last touch
    double gravity      # A at the last touch


cdef class L1Subgradient(Rule):
    """w - eta_t g - eta_t l1 sgn(w)"""

    SLOT = [("mark", "<u4"), ("w", "<f8"), ("last", "<f8"), ("gravity", "<f8")]
    SLOT_BYTES = sizeof(Slot)
    WEIGHS_ALONE = True
    SCALARS = ["t", "gravity", "strength"]

    cdef public double gravity      # A_t
    cdef Schedule shrinkage         # of the c that are pending in all slots; its decay is always 1
    cdef double gravity_rate        # of a constant gravity; 0: the learning rate
    cdef double l1, theta

    def __init__(self, loss, *, double l1=0, double round_at_end=0, str gravity="rate", **schedule):
        super().__init__(loss, **schedule)
        self.l1, self.theta = l1, round_at_end
        self.shrinkage = self.schedule
        if gravity == "constant":
            self.gravity_rate = learning_rate(&self.schedule, 1)
            self.shrinkage.power_t = 0
        self.strength = (self.gravity_rate or self.schedule.rate) * l1

    def scalars(self):
        """The state that is not per feature, by name."""
        return super().scalars() | ({"gravity_rate": self.gravity_rate} if self.gravity_rate else {})

    def set_scalars(self, scalars):
        super().set_scalars(scalars)
        if self.gravity_rate:
            self.gravity_rate = positive(scalars["gravity_rate"], "rate of gravity")

    def restricted(self, m, w):
        import numpy as np
        return np.where(m.free & (np.abs(w) < m.settings.round_at_end), 0, w)

    @property
    def strength(self):
        """c_t is strength * (t + initial_t)^-power_t, or for a constant gravity strength."""
        return self.shrinkage.rate

    @strength.setter
    def strength(self, double strength):
        self.shrinkage.rate = strength

    @property
    def pass_decay(self):
        """rho^(pass - 1)."""
        return self.schedule.decay

    @pass_decay.setter
    def pass_decay(self, double decay):
        self.schedule.decay = decay
        self.strength_changed()

    def load(self, scalars, slots):
        """Continue from `scalars()` and `slots()`."""
        cdef char* slot = NULL
        cdef Slot* s
        super().load(scalars, slots)
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            if not 0 <= s.last <= self.t:
                raise ValueError("a feature was seen before the first example, or after the last one")
        self.strength_changed()

    cdef void strength_changed(self):
        """From now on shrink with the current rate, decay and l1; pending steps use the previous ones."""
        cdef double strength = (self.gravity_rate or self.schedule.rate * self.schedule.decay) * self.l1
        cdef char* slot = NULL
        cdef Slot* s
        if strength == self.shrinkage.rate:
            return
        with nogil:
            while next_slot(self.table, &slot):
                s = <Slot*>slot
                s.w = self.now(s)
                s.last, s.gravity = self.t, self.gravity
        self.shrinkage.rate = strength

    cdef inline double now(self, const Slot* s) noexcept nogil:
        """The weight after all pending steps."""
        cdef double size = fabs(s.w)
        cdef double missed = self.gravity - s.gravity
        if s.w == 0 or missed == 0 or s.mark == self.constant_mark:
            return s.w
        if missed < size:
            return copysign(size - missed, s.w)
        return self.walk(s)

    cdef double walk(self, const Slot* s) noexcept nogil:
        """The weight after steps that reach zero or cross it."""
        cdef double size = fabs(s.w), w = s.w, t = s.last, c, rest, steps, more
        if self.shrinkage.power_t == 0:
            c = self.shrinkage.rate
            steps = floor(size / c)
            rest = size - steps * c
            if rest < 0:        # the quotient was rounded up to a whole number
                steps -= 1
                rest += c
            more = self.t - s.last - steps
            if more < 0:
                return copysign(rest - more * c, w)
            if rest != 0 and 2 * floor(more / 2) != more:
                rest -= c
            return rest if w > 0 else -rest
        while t < self.t and w != 0:
            t += 1
            w -= copysign(learning_rate(&self.shrinkage, t), w)
        return w

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
        cdef Slot* s
        cdef double t = self.t + 1
        cdef double step = -learning_rate(&self.schedule, t) * o.importance * o.dloss
        cdef double c = learning_rate(&self.shrinkage, t)
        cdef double gravity = self.gravity + c
        cdef double w
        cdef Example part = iterate(e)
        while next_chunk(&part):
            slots, x = <Slot**>part.slots, part.x
            for i in range(part.size):
                s = slots[i]
                if s.last != t:     # not updated yet in this example
                    w = self.now(s)
                    if w != 0 and s.mark != self.constant_mark:
                        w -= copysign(c, w)
                    s.w, s.last, s.gravity = w, t, gravity
                s.w += step * x[i]
        self.t, self.gravity = t, gravity

    cdef double weight(self, const char* slot) noexcept nogil:
        cdef double w = self.now(<const Slot*>slot)
        if self.final and fabs(w) < self.theta and (<const Slot*>slot).mark != self.constant_mark:
            return 0
        return w

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).w == 0 or (self.final and self.weight(slot) == 0)
