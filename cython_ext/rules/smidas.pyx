"""SMIDAS: mirror descent with a p-norm link, made sparse by a soft threshold in the dual space.

Shalev-Shwartz, Tewari. Stochastic Methods for l1 Regularized Loss Minimization. ICML 2009, Algorithm 3.

    theta~ = theta - eta_t g_t,  theta_j = soft(theta~_j, eta_t l1),
    w_j = sign(theta_j) |theta_j|^(p-1) / ||theta||_p^(p-2),  p = max(2, 2 ln d).

What makes it fast:

- All |theta_j| shrink by the same amount in a step: as in the l1 ball, a nonzero theta is a raw magnitude u and one
  global shift Theta, theta = sign(u) max(|u| - Theta, 0).
- ||theta||_p changes in every step, but few coordinates make it: with d of them, those below
  c max|theta|, c = (p eps / d)^(1/p), add up to less than p eps of the p-th power, so eps of the norm. The others, the
  heavy ones, stand in a list (and those near to them, so that it does not change with every step): a step costs
  O(k + heavy).

The list holds every |u| from `least` on. As Theta grows, everything comes down by the same, and nothing that is not
in the list becomes heavy; only when the largest |theta| itself falls much below what it was, the table is swept.
What is summed is exactly what is heavy, in integers: nothing depends on what else is in the list, or on its order.
"""

from libc.math cimport copysign, exp, fabs, log
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free

from vwlite.core.elementary cimport powers
from vwlite.core.prox cimport positive_part
from vwlite.core.room cimport make_room
from vwlite.core.rule cimport Example, Outcome, Rule, learning_rate

cdef extern from *:
    """
    typedef __int128 vwlite_int128;
    """
    ctypedef int int128 "vwlite_int128"

cdef double NEGLIGIBLE = 5e-13      # of ||theta||_p
cdef double MARGIN = 0.7            # the list begins at this share of what is heavy
cdef double UNIT = <double>(<int64_t>1 << 62)


cdef struct Slot:
    uint32_t mark
    uint32_t place    # in the list, from 1; 0: not in it
    double u          # sign(theta) (|theta| + Theta); theta is 0 where |u| <= Theta. The constant: w itself


cdef class Smidas(Rule):
    """theta <- soft(theta - eta_t g, eta_t l1), w = the p-norm link of theta

    features: d; if it is 0, the number of features in the examples learned so far, the constant left out.
    """

    SLOT = [("mark", "<u4"), ("_place", "<u4"), ("u", "<f8")]
    SCALARS = ["t", "shift"]

    cdef public double shift            # Theta
    cdef double l1
    cdef readonly uint64_t features     # d, if it is given
    cdef readonly double p
    cdef readonly double norm           # ||theta||_p
    cdef double share                   # c
    cdef uint64_t d                     # of which p is made
    cdef double* heavy                  # owned; |u| of those with |u| >= least, at least ...
    cdef uint32_t* keys                 # owned; ... and which they are
    cdef size_t size, capacity, key_capacity
    cdef double* scratch                # owned; the powers of thetas
    cdef size_t scratch_capacity
    cdef size_t usual                   # entries after the list was made or pruned
    cdef double least
    cdef double top                     # the largest |u| in the list, or 0
    cdef bint top_fell                  # and is to be looked for

    def __init__(self, loss, *, double l1=0, uint64_t features=0, **schedule):
        super().__init__(loss, **schedule)
        self.l1, self.features = l1, features
        self.counts_slots = features == 0
        self.set_d()

    def __dealloc__(self):
        free(self.heavy)
        free(self.keys)
        free(self.scratch)

    cdef inline double now(self, const Slot* s) noexcept nogil:
        """theta, if it is not the constant's."""
        return copysign(positive_part(fabs(s.u) - self.shift), s.u)

    cdef inline double link(self, double theta) noexcept nogil:
        """w"""
        cdef double power
        if theta == 0:
            return 0
        power = fabs(theta) / self.norm
        powers(&power, self.p - 1, &power, 1)
        return copysign(self.norm * power, theta)

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef const float* x = e.x
        cdef Slot** slots = <Slot**>e.slots
        cdef double* power
        cdef double shift = self.shift, scale = 1 / self.norm if self.norm > 0 else 0
        cdef double sum = 0, rest = 0
        if make_room(<void**>&self.scratch, &self.scratch_capacity, e.size, sizeof(double)):
            self.out_of_memory = True
            return 0
        power = self.scratch
        for i in range(e.size):
            power[i] = positive_part(fabs(slots[i].u) - shift) * scale
            if slots[i].mark == self.constant:
                power[i] = 0
                rest += slots[i].u * x[i]
        powers(power, self.p - 1, power, e.size)
        for i in range(e.size):
            sum += copysign(power[i], slots[i].u) * x[i]
        return e.initial + (self.norm * sum + rest)

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t i
        cdef const float* x = e.x
        cdef Slot** slots = <Slot**>e.slots
        cdef double eta, step
        cdef bint grown = self.set_d()
        self.t += 1
        eta = learning_rate(&self.schedule, self.t)
        step = -eta * o.importance * o.slope
        if step != 0:
            for i in range(e.size):
                if slots[i].mark == self.constant:
                    slots[i].u += step * x[i]
                else:
                    self.change(slots[i], step * x[i])
        self.shift += eta * self.l1
        if step != 0 or self.l1 != 0 or grown:
            self.settle()

    cdef inline void change(self, Slot* s, double by) noexcept nogil:
        """theta += by"""
        cdef double v = self.now(s) + by
        cdef double u = fabs(v) + self.shift
        s.u = copysign(u, v)
        if s.place != 0:
            if self.heavy[s.place - 1] == self.top and u < self.top:
                self.top_fell = True
            self.heavy[s.place - 1] = u
            self.top = max(self.top, u)
        elif u >= self.least:
            self.put(s)

    cdef bint set_d(self) noexcept nogil:
        """Make p of the number of features; whether it has changed."""
        cdef uint64_t d = self.features
        if d == 0:
            d = self.table.used + self.table.has_last
            d -= d > 0 and self.has_constant
        if d == self.d and self.p != 0:
            return False
        self.d = d
        self.p = max(2.0, 2 * log(<double>max(d, <uint64_t>1)))
        self.share = exp(log(self.p * NEGLIGIBLE / max(d, <uint64_t>1)) / self.p)
        return True

    cdef void settle(self) noexcept nogil:
        """Make ||theta||_p anew."""
        cdef size_t i, heavy = 0
        cdef double largest, scale, shift = self.shift
        cdef double* power
        cdef int128 total = 0
        if self.top_fell:
            self.find_top()
        if self.least > self.shift and not self.least - self.shift <= self.share * (self.top - self.shift):
            self.sweep()
        largest = self.top - self.shift
        if largest <= 0:
            self.norm = 0
            return
        if make_room(<void**>&self.scratch, &self.scratch_capacity, self.size, sizeof(double)):
            self.out_of_memory = True
            return
        power, scale = self.scratch, 1 / largest
        for i in range(self.size):
            power[i] = (self.heavy[i] - shift) * scale
            power[i] = power[i] if power[i] >= self.share else 0
        powers(power, self.p, power, self.size)
        for i in range(self.size):
            heavy += power[i] > 0
            total += <int64_t>(power[i] * UNIT)
        self.norm = largest * exp(log(<double>total / UNIT) / self.p)
        if self.size > 2 * max(self.usual, heavy) + 64:
            self.prune(self.shift + MARGIN * self.share * largest)

    # --- the list ------------------------------------------------------------------------------

    cdef void find_top(self) noexcept nogil:
        cdef size_t i
        self.top_fell = False
        self.top = 0
        for i in range(self.size):
            self.top = max(self.top, self.heavy[i])

    cdef void put(self, Slot* s) noexcept nogil:
        if (make_room(<void**>&self.heavy, &self.capacity, self.size + 1, sizeof(double))
                or make_room(<void**>&self.keys, &self.key_capacity, self.size + 1, sizeof(uint32_t))):
            self.out_of_memory = True
            return
        self.heavy[self.size], self.keys[self.size] = fabs(s.u), s.mark - 1
        self.size += 1
        s.place = <uint32_t>self.size
        self.top = max(self.top, fabs(s.u))

    cdef void prune(self, double least) noexcept nogil:
        """Leave those with |u| >= least in the list."""
        cdef size_t i, kept = 0
        cdef Slot* s
        self.least = max(least, self.least)
        for i in range(self.size):
            s = <Slot*>self.table.find(self.keys[i])
            if self.heavy[i] < self.least:
                if s != NULL:         # the table has not forgotten it
                    s.place = 0
                continue
            self.heavy[kept], self.keys[kept] = self.heavy[i], self.keys[i]
            kept += 1
            s.place = <uint32_t>kept
        self.size = self.usual = kept

    cdef void sweep(self) noexcept nogil:
        """Make the list anew from the table, with some that are not heavy."""
        cdef size_t i
        cdef Slot* s
        cdef double u = self.shift
        for i in range(self.table.capacity + 1):
            s = <Slot*>(self.table.slots + i * self.table.stride)
            if s.mark != self.constant:
                s.place = 0
                u = max(u, fabs(s.u))
        self.least = self.shift + MARGIN * self.share * (u - self.shift)
        self.size = 0
        self.top, self.top_fell = 0, False
        for i in range(self.table.capacity + 1):
            s = <Slot*>(self.table.slots + i * self.table.stride)
            if fabs(s.u) >= self.least and s.u != 0 and s.mark != self.constant:
                self.put(s)
        self.usual = self.size

    cdef double weight(self, const char* slot) noexcept nogil:
        cdef const Slot* s = <const Slot*>slot
        return s.u if s.mark == self.constant else self.link(self.now(s))

    cdef bint idle(self, const char* slot) noexcept nogil:
        if self.features == 0 or (<const Slot*>slot).mark == self.constant:     # it counts as a feature
            return False
        return self.now(<const Slot*>slot) == 0

    def load(self, scalars, slots):
        super().load(scalars, slots)
        self.set_d()
        self.sweep()
        self.settle()
        if self.out_of_memory:
            raise MemoryError("no memory for the list of heavy features")
