"""SMIDAS: mirror descent with a p-norm link, made sparse by a soft threshold in the dual space.

Shalev-Shwartz, Tewari. Stochastic Methods for l1 Regularized Loss Minimization. ICML 2009, Algorithm 3.

    theta~ = theta - eta_t g_t,  theta_j = soft(theta~_j, eta_t l1),
    w_j = sign(theta_j) |theta_j|^(p-1) / ||theta||_p^(p-2),  p = max(2, 2 ln d).

Implementation:

- All |theta_j| shrink by the same amount in a step: as in the l1 ball, a nonzero theta is a raw magnitude u and one
  global shift Theta, theta = sign(u) max(|u| - Theta, 0).
- ||theta||_p changes in every step, but few coordinates determine it: with d of them, those below
  c max|theta|, c = (p eps / d)^(1/p), add up to less than p eps of the p-th power, so eps of the norm. The others,
  the heavy ones, are stored in a list (with some margin, so that it does not change with every step).
- The list is not summed in every step either. For a moment when Theta was Theta_0 and the largest |theta| was L, with
  a_j = (|u_j| - Theta_0) / L, the sums M_k of a_j^(p - k) over the heavy ones are stored, and

      sum of ((|u_j| - Theta) / L)^p = sum over k of binomial(p, k) (-delta)^k M_k,    delta = (Theta - Theta_0) / L.

  While p delta is small, six terms are enough, and a touched feature is subtracted from the sums and added again: a
  step costs O(k). Otherwise, or if the norm has moved far from L, the sums are recomputed from the list.

The list holds every |u| from `least` on. As Theta grows, everything decreases by the same amount, and nothing that is
not in the list becomes heavy; only when the largest |theta| itself falls much below its previous value, the table is
scanned. The terms of the sums are exactly those that were heavy at Theta_0 and L, as integers: nothing depends on other
entries of the list, or on its order.
"""

from libc.math cimport INFINITY, copysign, fabs, llrint
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from vwlite.core.base.elementary cimport exp, log, powers
from vwlite.core.learn.prox cimport positive_part
from vwlite.core.base.buffers cimport reserve
from vwlite.core.base.int128 cimport int128
from vwlite.core.learn.rule cimport Example, Outcome, Rule, iterate, learning_rate, next_chunk
from vwlite.core.learn.table cimport find, next_slot

cdef double NEGLIGIBLE = 1e-13      # of ||theta||_p
cdef double MARGIN = 0.7            # the list starts at this fraction of the heavy limit
cdef double UNIT = <double>(<int64_t>1 << 56)
cdef double LARGEST = 1.1           # a: its power is below 2^7 times the unit, for any p up to 50
cdef double LEAST_SUM = 0.3         # of a^p: what is not heavy is still negligible beside it
cdef double FARTHEST = 0.02         # p delta: the seventh term is below 1e-13 of the first

cdef double LEAST_P = 12            # for more than one term: that of 400 features

cdef enum:
    TERMS = 6


cdef struct Slot:
    uint32_t mark
    uint32_t place    # in the list, from 1; 0: not in it
    double u          # sign(theta) (|theta| + Theta); theta is 0 where |u| <= Theta. For the intercept: w itself


cdef class Smidas(Rule):
    """theta <- soft(theta - eta_t g, eta_t l1), w = the p-norm link of theta

    features: d; if it is 0, the number of features in the examples learned so far, without the intercept. smidas_p: p,
    at most 50; 0: 2 ln d.
    """

    SLOT = [("mark", "<u4"), ("_place", "<u4"), ("u", "<f8")]
    SLOT_BYTES = sizeof(Slot)
    SCALARS = ["t", "shift", "base", "unit"]

    cdef public double shift            # Theta
    cdef public double base             # Theta_0
    cdef public double unit             # L; 0: without sums
    cdef int128 moments[TERMS]          # M_k
    cdef int terms                      # 1 if there are few features: then M_0 is recomputed when Theta changes
    cdef double heaviest                # |u| that would make a power too large
    cdef double lightest                # |u| above which a feature is in the sums
    cdef double l1
    cdef readonly uint64_t features     # d, if it is given
    cdef double given_p                 # p, if it is given
    cdef readonly double p
    cdef readonly double norm           # ||theta||_p
    cdef double share                   # c
    cdef uint64_t d                     # from which p is computed
    cdef double* heavy                  # owned; |u| of those with |u| >= least, at least ...
    cdef uint32_t* keys                 # owned; ... and which they are
    cdef size_t size, capacity, key_capacity
    cdef double* scratch                # owned; numbers whose powers are requested ...
    cdef double* sizes                  # owned; ... and their original values
    cdef size_t scratch_capacity, sizes_capacity
    cdef size_t usual                   # entries after the list was built or pruned
    cdef double least

    def __init__(self, loss, *, double l1=0, uint64_t features=0, double smidas_p=0, **schedule):
        super().__init__(loss, **schedule)
        self.l1, self.features, self.given_p = l1, features, smidas_p
        self.no_preallocation = features == 0
        self.set_d()

    def __dealloc__(self):
        free(self.heavy)
        free(self.keys)
        free(self.scratch)
        free(self.sizes)

    cdef inline double now(self, const Slot* s) noexcept nogil:
        """theta of any feature but the intercept."""
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
        cdef const float* x
        cdef Slot** slots
        cdef double* power
        cdef double shift = self.shift, scale = 1 / self.norm if self.norm > 0 else 0
        cdef double sum = 0, rest = 0
        cdef Example part = iterate(e)
        while next_chunk(&part):
            if reserve(<void**>&self.scratch, &self.scratch_capacity, part.size, sizeof(double)):
                self.out_of_memory = True
                return 0
            slots, x = <Slot**>part.slots, part.x
            power = self.scratch
            for i in range(part.size):
                power[i] = positive_part(fabs(slots[i].u) - shift) * scale
                if slots[i].mark == self.constant_mark:
                    power[i] = 0
                    rest += slots[i].u * x[i]
            powers(power, self.p - 1, power, part.size)
            for i in range(part.size):
                sum += copysign(power[i], slots[i].u) * x[i]
        return e.initial + (self.norm * sum + rest)

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t i, changed
        cdef const float* x
        cdef Slot** slots
        cdef double eta, step
        cdef Example part = iterate(e)
        cdef bint grown = self.set_d()
        self.t += 1
        eta = learning_rate(&self.schedule, self.t)
        step = -eta * o.importance * o.dloss
        if grown:
            self.unit = 0
        while step != 0 and next_chunk(&part):
            if reserve(<void**>&self.scratch, &self.scratch_capacity, 2 * part.size, sizeof(double)):
                self.out_of_memory = True
                return
            slots, x, changed = <Slot**>part.slots, part.x, 0
            for i in range(part.size):
                if slots[i].mark == self.constant_mark:
                    slots[i].u += step * x[i]
                else:
                    self.change(slots[i], step * x[i], &changed)
            if self.unit > 0:
                self.count(self.scratch, changed, 1)
        self.shift += eta * self.l1
        if step != 0 or self.l1 != 0 or grown:
            self.renormalize()

    cdef inline void change(self, Slot* s, double by, size_t* changed) noexcept nogil:
        """theta += by. Values that leave and enter the sums are pairs in `scratch`, negative if in neither."""
        cdef double v = self.now(s) + by
        cdef double u = fabs(v) + self.shift, old = fabs(s.u)
        s.u = copysign(u, v)
        if s.place != 0:
            self.heavy[s.place - 1] = u
        elif u >= self.least:
            self.put(s)
        if old >= self.lightest or u >= self.lightest:
            self.scratch[changed[0]] = old
            self.scratch[changed[0] + 1] = u
            changed[0] += 2
            if u > self.heaviest:
                self.unit = 0       # the sums must be recomputed

    cdef bint set_d(self) noexcept nogil:
        """Compute p from the number of features; returns whether it has changed."""
        cdef uint64_t d = self.features
        if d == 0:
            d = self.table.used + self.table.has_last
            d -= d > 0 and self.has_constant
        if d == self.d and self.p != 0:
            return False
        self.d = d
        self.p = self.given_p or max(2.0, 2 * log(<double>max(d, <uint64_t>1)))
        self.terms = TERMS if self.p >= LEAST_P else 1
        self.share = exp(log(self.p * NEGLIGIBLE / max(d, <uint64_t>1)) / self.p)
        return True

    cdef void renormalize(self) noexcept nogil:
        """Recompute ||theta||_p."""
        cdef double sum = self.sum_of_powers() if self.unit > 0 else 0
        if sum < LEAST_SUM:
            self.sum_up()
            sum = self.sum_of_powers() if self.unit > 0 else 0
        self.norm = self.unit * exp(log(sum) / self.p) if self.unit > 0 else 0

    cdef double sum_of_powers(self) noexcept nogil:
        """The sum of (|theta| / L)^p; 0 if it must be recomputed."""
        cdef int k
        cdef double delta = (self.shift - self.base) / self.unit, sum = 0, factor = 1
        if delta * self.p > FARTHEST or 8 * delta > self.share or (delta > 0 and self.terms == 1):
            return 0
        for k in range(self.terms):
            sum += factor * (<double>self.moments[k] / UNIT)
            factor *= -delta * (self.p - k) / (k + 1)
        return sum

    cdef void sum_up(self) noexcept nogil:
        """Recompute the sums from the list."""
        cdef size_t i, heavy = 0
        cdef double top = self.top()
        if self.least > self.shift and not self.least - self.shift <= self.share * (top - self.shift):
            top = self.rebuild_list()
        self.set_base(self.shift, top - self.shift)
        if self.unit == 0:
            return
        self.count_list()
        for i in range(self.size):
            heavy += self.heavy[i] >= self.lightest
        if self.size > 2 * max(self.usual, heavy) + 64:
            self.prune(self.shift + MARGIN * self.share * self.unit)

    cdef void count_list(self) noexcept nogil:
        """Compute the sums of the list, for the current base."""
        cdef size_t i
        memset(self.moments, 0, sizeof(self.moments))
        if reserve(<void**>&self.scratch, &self.scratch_capacity, self.size, sizeof(double)):
            self.out_of_memory = True
            return
        for i in range(self.size):
            self.scratch[i] = self.heavy[i]
        self.count(self.scratch, self.size, 0)

    cdef void set_base(self, double base, double unit) noexcept nogil:
        self.base, self.unit = base, unit if unit > 0 else 0
        self.heaviest = base + LARGEST * unit if unit > 0 else INFINITY
        self.lightest = base + self.share * unit if unit > 0 else INFINITY

    cdef void count(self, double* u, size_t n, size_t sign) noexcept nogil:
        """Add the powers of heavy |u| to the sums; with sign 1 those at even places are subtracted. u is overwritten."""
        cdef size_t i
        cdef int k
        cdef double scale = 1 / self.unit, base = self.base, lightest = self.lightest
        cdef double a, power
        cdef int64_t whole, minus
        cdef double* size
        if reserve(<void**>&self.sizes, &self.sizes_capacity, n, sizeof(double)):
            self.out_of_memory = True
            return
        size = self.sizes
        for i in range(n):
            size[i] = (u[i] - base) * scale
            u[i] = size[i] if u[i] >= lightest else 0
        powers(u, self.p - (self.terms - 1), u, n)
        for i in range(n):
            a, power = size[i], u[i]
            if power == 0:
                continue
            minus = -<int64_t>(sign & ~i & 1)
            for k in range(self.terms - 1, -1, -1):
                whole = llrint(power * UNIT)
                self.moments[k] += (whole ^ minus) - minus
                power *= a

    # --- the list ------------------------------------------------------------------------------

    cdef double top(self) noexcept nogil:
        """The largest |u| in the list, or 0."""
        cdef size_t i
        cdef double top = 0
        for i in range(self.size):
            top = max(top, self.heavy[i])
        return top

    cdef void put(self, Slot* s) noexcept nogil:
        if (reserve(<void**>&self.heavy, &self.capacity, self.size + 1, sizeof(double))
                or reserve(<void**>&self.keys, &self.key_capacity, self.size + 1, sizeof(uint32_t))):
            self.out_of_memory = True
            return
        self.heavy[self.size], self.keys[self.size] = fabs(s.u), s.mark - 1
        self.size += 1
        s.place = <uint32_t>self.size

    cdef void prune(self, double least) noexcept nogil:
        """Keep those with |u| >= least in the list."""
        cdef size_t i, kept = 0
        cdef Slot* s
        self.least = max(least, self.least)
        for i in range(self.size):
            s = <Slot*>find(self.table, self.keys[i])
            if self.heavy[i] < self.least:
                if s != NULL:         # still in the table
                    s.place = 0
                continue
            self.heavy[kept], self.keys[kept] = self.heavy[i], self.keys[i]
            kept += 1
            s.place = <uint32_t>kept
        self.size = self.usual = kept

    cdef double rebuild_list(self) noexcept nogil:
        """Rebuild the list from the table, with some entries that are not heavy; returns the largest |u|, or Theta."""
        cdef char* slot = NULL
        cdef Slot* s
        cdef double u = self.shift
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            if s.mark != self.constant_mark:
                s.place = 0
                u = max(u, fabs(s.u))
        self.least = self.shift + MARGIN * self.share * (u - self.shift)
        self.size = 0
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            if fabs(s.u) >= self.least and s.u != 0 and s.mark != self.constant_mark:
                self.put(s)
        self.usual = self.size
        return u

    cdef double weight(self, const char* slot) noexcept nogil:
        cdef const Slot* s = <const Slot*>slot
        return s.u if s.mark == self.constant_mark else self.link(self.now(s))

    cdef bint is_default(self, const char* slot) noexcept nogil:
        if self.features == 0 or (<const Slot*>slot).mark == self.constant_mark:     # it counts as a feature
            return False
        return self.now(<const Slot*>slot) == 0

    def load(self, scalars, slots):
        super().load(scalars, slots)
        self.set_d()
        self.rebuild_list()
        self.set_base(self.base, self.unit)
        if self.unit > 0:
            self.count_list()
        self.renormalize()
        if self.out_of_memory:
            raise MemoryError("no memory for the list of heavy features")


cdef struct AveragedSlot:
    uint32_t mark
    uint32_t place
    double u
    double sum        # of the weights that made predictions


cdef class AveragedSmidas(Smidas):
    """The mean of the weights of SMIDAS

    The norm changes all of them in every step, in no closed form: each is added for each example.
    """

    SLOT = [*Smidas.SLOT, ("sum", "<f8")]
    SLOT_BYTES = sizeof(AveragedSlot)

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef char* slot = NULL
        while next_slot(self.table, &slot):
            (<AveragedSlot*>slot).sum += Smidas.weight(self, slot)
        Smidas.update(self, e, o)

    cdef double predict(self, const Example* e) noexcept nogil:
        return Rule.predict(self, e)

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        return Smidas.predict(self, e)

    cdef double weight(self, const char* slot) noexcept nogil:
        return (<const AveragedSlot*>slot).sum / self.t if self.t else 0

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return Smidas.is_default(self, slot) and (<const AveragedSlot*>slot).sum == 0
