"""Stochastic projected subgradient on the l1 ball: w <- P(w - eta_t g), ||w||_1 <= z after every example.

Duchi, Shalev-Shwartz, Singer, Chandra. Efficient Projections onto the l1-Ball. ICML 2008; section 6.

A nonzero weight is a raw magnitude u and one global shift Theta: w = sign(u) (|u| - Theta). With S the
sum of |u| and rho the count over the active set {|u| > Theta}, projecting means raising Theta to
(S - z) / rho, after dropping the active features that this makes zero. The cost of every drop is covered by an earlier
insertion, so the cost does not depend on the dimension.

Implementation:

- Theta never falls, so a monotone queue finds the features that become zero: a radix heap, which only appends and
  scans short arrays. Rounding must not let Theta fall either: from one round of a projection to the next, or below
  that of the example before, (S - z) / rho can be one bit lower, and across the border of two floats
  the queue would move back, and lose entries. So a round takes the maximum of its own Theta and the one before.
- An entry of the queue (active_set.pxd) is a lower bound of |u| (a float, rounded down) and a key: 8 bytes.

S is an integer, the sum of each |u| rounded to a multiple of z / 2^50 or so. Integers add in a cycle, where a
compensated sum of doubles is a long chain; integer sums do not depend on the order, so nothing depends on the order of
entries in the queue (which differs after a model is loaded); and however long the stream, S stays the sum of |u|.

With a weight a for each feature and a box, ||w||_inf <= b, the same algorithm works on v = w / a: see WeightedL1Ball.
"""

from libc.math cimport INFINITY, copysign, fabs, frexp, ldexp, llrint
from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport free

from vwlite.core.base.active_set cimport (
    WAITING, ActiveSet, bound_of, free_active_set, push, queue_waiting, rank_below, reserve_waiting, wait,
)
from vwlite.core.base.buffers cimport reserve
from vwlite.core.base.elementary cimport pow
from vwlite.core.base.int128 cimport int128
from vwlite.core.learn.nonzeros cimport Limited
from vwlite.core.learn.prox cimport positive_part
from vwlite.core.learn.rule cimport Example, Outcome, Rule, iterate, learning_rate, next_chunk
from vwlite.core.learn.table cimport next_slot
from vwlite.core.rules._active_slots cimport drop_below, rebuild, remove_stale
from vwlite.core.rules._averaging cimport RunningSum, bring_up, mean

cdef double SMALLEST_RADIUS = 1e-100     # these two for --nonzeros: see nonzeros.pyx
cdef double GAIN = 0.2
cdef double LARGEST_SHIFT = 1e5    # rebase when S outgrows this many radii: see `is_far`
cdef double FINE = <double>(<int64_t>1 << 50)      # S counts in z / 2^50 (or rather the power of two above z) ...
cdef double COARSE = 1 << 10          # ... and what is large of a number in z / 2^10 first
cdef double SMALL = 1 << 11           # of |u| in z: up to so much an integer of 64 bits is enough
cdef double LARGEST = <double>(<int64_t>1 << 45)   # of |u| in z; beyond, a double has no digits left for z


cdef struct Slot:
    uint32_t mark
    uint32_t rank     # see active_set.pxd
    double u          # sign(w) (|w| + Theta); 0 if w is 0. For the intercept: w itself


# The beginning is that of Slot, so that the queue is the same.
cdef struct WeightedSlot:
    uint32_t mark
    uint32_t rank
    double u          # sign(w) (|w| / a + Theta)
    double a


# The same, with the fields of _averaging.pxd; the shrinking size is |u|.
cdef struct AveragedSlot:
    uint32_t mark
    uint32_t rank
    double u
    RunningSum total


cdef struct Capped:
    WeightedSlot* slot
    double u          # |u| without the box


cdef class L1Ball(Limited):
    """P(w - eta_t g) onto ||w||_1 <= radius; with `nonnegative`, and w >= 0"""

    SLOT = [("mark", "<u4"), ("_rank", "<u4"), ("u", "<f8")]
    SLOT_BYTES = sizeof(Slot)
    WEIGHS_ALONE = True
    SCALARS = ["t", "shift", "count_of_sum", "active"]

    cdef public double shift          # Theta
    cdef int128 count_of_units        # S, in scale / 2^50
    cdef public size_t active         # rho
    cdef readonly double radius       # z
    cdef readonly bint nonnegative
    cdef double scale                 # the power of two above z
    cdef double to_coarse, to_fine, from_coarse, from_fine    # numbers as counts, and back
    cdef double small                 # SMALL, as a number
    cdef ActiveSet active_set

    def __init__(self, loss, *, double radius, bint nonnegative=False, **schedule):
        super().__init__(loss, **schedule)
        self.nonnegative = nonnegative
        self.active_set.rank_at = sizeof(uint32_t)
        self.strength = radius
        self.set_strength(radius)

    cdef void set_strength(self, double radius) noexcept nogil:
        cdef int exponent
        frexp(radius, &exponent)
        self.radius = radius
        self.scale = ldexp(1, exponent)
        self.to_coarse, self.to_fine = COARSE / self.scale, FINE / self.scale
        self.from_coarse, self.from_fine = self.scale / COARSE, self.scale / FINE
        self.small = self.scale * SMALL

    cdef void update_state(self) noexcept nogil:
        """Recompute S, as its unit depends on the radius, and project."""
        self.rebase()
        self.project()

    cdef double l1_norm(self) noexcept nogil:
        return self.sum() - self.active * self.shift

    cdef double next_strength(self, size_t n, double examples) noexcept nogil:
        cdef double norm = self.l1_norm()
        cdef double factor = min(max(pow(self.target_count() / n, GAIN), 0.25), 4.0) if n else 4.0
        if n > self.target_count():
            return max(min(norm, self.radius) * factor, SMALLEST_RADIUS)
        return self.radius * factor if norm > 0.999 * self.radius else self.radius

    @property
    def slack(self):
        """Whether there are fewer weights than the limit, without any shrinkage."""
        return Rule.count_nonzero(self) <= self.nonzeros and self.l1_norm() < 0.999 * self.radius

    def __dealloc__(self):
        free_active_set(&self.active_set)

    # What JSON can hold of S: Python's integers have any size.

    @property
    def count_of_sum(self):
        """S in units of scale / 2^50."""
        return (int(<int64_t>(self.count_of_units >> 32)) << 32) + int(<uint32_t>self.count_of_units)

    @count_of_sum.setter
    def count_of_sum(self, value):
        self.count_of_units = (<int128><int64_t>(value >> 32) << 32) + <uint32_t>(value & 0xFFFFFFFF)

    cdef inline double now(self, const Slot* s) noexcept nogil:
        """The weight of any feature but the intercept."""
        return copysign(positive_part(fabs(s.u) - self.shift), s.u)

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef const float* x
        cdef Slot** slots
        cdef double sum = 0
        cdef Example part = iterate(e)
        while next_chunk(&part):
            slots, x = <Slot**>part.slots, part.x
            for i in range(part.size):
                sum += (slots[i].u if slots[i].mark == self.constant_mark else self.now(slots[i])) * x[i]
        return e.initial + sum

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef double step
        cdef Example part = iterate(e)
        if self.t >= self.next_recount_t:
            self.adapt_strength()
        self.t += 1
        self.occurrences += e.size
        step = -learning_rate(&self.schedule, self.t) * o.importance * o.dloss
        if step == 0:
            return
        remove_stale(&self.active_set, self.table, self.active)
        while next_chunk(&part):
            if reserve_waiting(&self.active_set, part.size):
                break
            self.descend(&part, step)
        self.bound(e)
        self.project()
        if self.is_far():
            self.rebase()
            self.project()      # rounding of one step

    cdef void descend(self, const Example* part, double step) noexcept nogil:
        """w += step x, before the projection."""
        cdef size_t i
        cdef const float* x = part.x
        cdef Slot** slots = <Slot**>part.slots
        for i in range(part.size):
            if slots[i].mark == self.constant_mark:
                slots[i].u += step * x[i]
            else:
                self.change(slots[i], step * x[i])

    cdef inline void change(self, Slot* s, double by) noexcept nogil:
        """w += by, before the projection."""
        cdef double v = self.now(s) + by
        cdef double old = fabs(s.u)
        cdef double new = min(fabs(v) + self.shift, LARGEST * self.scale)
        if not new > self.shift:    # v is 0 within rounding
            if old != 0:
                self.drop(s)
            return
        s.u = copysign(new, v)
        self.count(new, old)
        if old == 0:
            self.active += 1
            self.wait(s)
        else:
            self.requeue(s)

    cdef void bound(self, const Example* e) noexcept nogil:
        """The constraint on each weight of an example, w >= 0 if there is one, before that on their norm: the projection
        of the rest is the projection of all."""
        cdef size_t i
        cdef Slot* s
        cdef Example part = iterate(e)
        while self.nonnegative and next_chunk(&part):
            for i in range(part.size):
                s = <Slot*>part.slots[i]
                if s.u < 0 and s.mark != self.constant_mark:
                    self.drop(s)

    cdef void project(self) noexcept nogil:
        """Raise the shift until ||w||_1 <= radius, and queue the waiting features.

        In rounds: drop all features that the shift makes zero; that raises the shift, until nothing is dropped.
        """
        cdef double shift = self.shift
        if self.l1_norm() > self.radius:
            while True:
                shift = max(shift, self.required_shift())     # so all dropped values are at most the final shift
                if not self.leave_behind(shift):
                    break
            self.shift = shift
        self.queue_waiting()

    cdef bint leave_behind(self, double shift) noexcept nogil:
        """Drop all features that a shift drops; returns whether there are any."""
        cdef size_t i, before = self.active
        for i in range(drop_below(&self.active_set, self.table, shift)):
            if (<Slot*>self.active_set.dropped[i]).u != 0:
                self.drop(<Slot*>self.active_set.dropped[i])
        return self.active < before

    cdef inline double sum(self) noexcept nogil:
        """S"""
        return <double>self.count_of_units * self.from_fine

    cdef inline bint is_far(self) noexcept nogil:
        """Whether u - Theta would lose digits. S is at least Theta, unless steps of 2^45 radii and more, whose digits
        end above z, have left no weight at all; then Theta would stay there."""
        cdef double limit = LARGEST_SHIFT * self.radius
        return self.sum() > limit or (self.active == 0 and self.shift > limit)

    cdef inline double required_shift(self) noexcept nogil:
        """(S - z) / rho"""
        return (self.sum() - self.radius) / self.active if self.active else 0

    cdef inline void count(self, double new, double old) noexcept nogil:
        """S += new - old"""
        if new < self.small and old < self.small:
            self.count_of_units += llrint(new * self.to_fine) - llrint(old * self.to_fine)
        else:
            self.count_of_units += self.units(new) - self.units(old)

    cdef int128 units(self, double u) noexcept nogil:
        """A number of any size in units of S. Up to 2^45 radii are 2^95 units: 2^32 of them fit."""
        cdef int64_t coarse = 0 if u < self.small else llrint(u * self.to_coarse)
        return (<int128>coarse << 40) + llrint((u - coarse * self.from_coarse) * self.to_fine)

    cdef inline void drop(self, Slot* s) noexcept nogil:
        """w = 0, for an active feature."""
        self.count(0, fabs(s.u))
        self.active -= 1
        s.u = 0

    # --- merges ------------------------------------------------------------------------------

    def state_of(self, m):
        """u = w, without a shift."""
        self.count_weights(m, m.w)
        return {"u": m.w}

    def count_weights(self, m, w, counts=True):
        """rho, of those that count, and S of these weights, in whole units."""
        import math
        import numpy as np
        m.scalars["active"] = [int(n) for n in np.count_nonzero(m.free & (m.w != 0) & counts, axis=0)]
        counts = []
        for c, radius in enumerate(m.strengths("radius")):
            unit = math.ldexp(2.0**50, -math.frexp(radius)[1])
            sizes = np.abs(w[:, c])[m.free[:, 0]]
            counts.append(int(np.rint(sizes * unit).astype(np.int64).sum()))
        m.scalars["count_of_sum"] = counts

    def restricted(self, m, w):
        import numpy as np
        out = w.copy()
        for c, radius in enumerate(m.strengths("radius")):
            nonzero = np.flatnonzero(m.free[:, 0] & (w[:, c] != 0))
            v = w[nonzero, c]
            v = np.maximum(v, 0) if self.nonnegative else v
            a = m.extra[nonzero, c] if m.settings.feature_weights else None
            out[nonzero, c] = m.project_l1(v, radius, weights=a, box=m.settings.box) if len(v) else v
        return out

    @property
    def norm(self):
        """||w||_1 = S - rho Theta"""
        return self.l1_norm()

    # --- the queue ---------------------------------------------------------------------------

    cdef inline void wait(self, Slot* s) noexcept nogil:
        # At most once for each feature of an example: it does not wait again before it was dropped, and is not
        # dropped while the example changes weights, unless its weight comes to be 0 just then.
        if self.active_set.size < self.active_set.capacity:
            wait(&self.active_set, <char*>s)

    cdef inline void requeue(self, Slot* s) noexcept nogil:
        """Requeue a feature that has fallen below its bound."""
        if fabs(s.u) < bound_of(s.rank):
            push(&self.active_set, <char*>s, rank_below(fabs(s.u)))

    cdef void queue_waiting(self) noexcept nogil:
        queue_waiting(&self.active_set)
        self.out_of_memory |= self.active_set.out_of_memory

    cdef bint is_free(self, const Slot* s) noexcept nogil:
        """Whether the weight is not part of the norm; then u is the weight."""
        return s.mark == self.constant_mark

    cdef size_t count_active(self) noexcept nogil:
        cdef size_t n = 0
        cdef char* slot = NULL
        cdef Slot* s
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            n += s.u != 0 and not self.is_free(s)
        return n

    cdef void rebuild(self) noexcept nogil:
        """Rebuild the queue from the table."""
        rebuild(&self.active_set, self.table, self.shift, self.constant_mark)
        self.out_of_memory |= self.active_set.out_of_memory

    cdef void rebase(self) noexcept nogil:
        """Subtract the shift from every |u|, and recompute S."""
        cdef char* slot = NULL
        cdef Slot* s
        self.count_of_units = 0
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            if s.u != 0 and not self.is_free(s):
                self.pay(s)
        self.shift = 0
        self.rebuild()

    cdef void pay(self, Slot* s) noexcept nogil:
        """Subtract the shift from the |u| of an active feature, which S does not have yet."""
        s.u = self.now(s)
        self.count(fabs(s.u), 0)
        self.active -= s.u == 0

    cdef double weight(self, const char* slot) noexcept nogil:
        cdef const Slot* s = <const Slot*>slot
        return s.u if s.mark == self.constant_mark else self.now(s)

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).u == 0

    def load(self, scalars, slots):
        super().load(scalars, slots)
        if self.active != self.count_active():
            raise ValueError("the number of active features is not that of the weights")
        self.rebuild()
        if self.out_of_memory:
            raise MemoryError("no memory for the queue of the l1 ball")

    def radius_changed(self):
        """Continue from a loaded state with another radius."""
        self.change_strength(self.strength if self.nonzeros else self.radius)


cdef class AveragedL1Ball(L1Ball):
    """The mean of the weights of the l1 ball

    The sums are those of _averaging.pxd, without a history: a weight that becomes zero is dropped by the queue
    at once, and its sum is updated then. Those of an example's features are up to date before its update.
    """

    SLOT = [*L1Ball.SLOT, ("sum", "<f8"), ("since", "<f8"), ("area", "<f8")]
    SLOT_BYTES = sizeof(AveragedSlot)
    SCALARS = [*L1Ball.SCALARS, "area"]

    cdef public double area       # the sum of the shifts after 0, ..., t - 1 examples

    cdef inline double pending(self, const AveragedSlot* s) noexcept nogil:
        """The contribution of the examples since the last touch to the sum. 0 if the weight is zero."""
        if s.u == 0:
            return 0
        if s.mark == self.constant_mark:
            return (self.t - s.total.since) * s.u
        return copysign((self.t - s.total.since) * fabs(s.u) - (self.area - s.total.area), s.u)

    cdef inline void catch_up(self, AveragedSlot* s) noexcept nogil:
        bring_up(&s.total, self.pending(s), self.t, self.area)

    cdef bint leave_behind(self, double shift) noexcept nogil:
        cdef size_t i, before = self.active
        for i in range(drop_below(&self.active_set, self.table, shift)):
            if (<Slot*>self.active_set.dropped[i]).u != 0:
                self.catch_up(<AveragedSlot*>self.active_set.dropped[i])
                self.drop(<Slot*>self.active_set.dropped[i])
        return self.active < before

    cdef void pay(self, Slot* s) noexcept nogil:
        self.catch_up(<AveragedSlot*>s)
        L1Ball.pay(self, s)

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t i
        cdef Example part = iterate(e)
        self.area += self.shift
        self.t += 1
        while next_chunk(&part):
            for i in range(part.size):
                self.catch_up(<AveragedSlot*>part.slots[i])
        self.t -= 1
        L1Ball.update(self, e, o)

    cdef double predict(self, const Example* e) noexcept nogil:
        return Rule.predict(self, e)

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        return L1Ball.predict(self, e)

    cdef double weight(self, const char* slot) noexcept nogil:
        cdef const AveragedSlot* s = <const AveragedSlot*>slot
        return mean(&s.total, self.pending(s), self.t)

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return (<const AveragedSlot*>slot).u == 0 and (<const AveragedSlot*>slot).total.sum == 0


cdef class WeightedL1Ball(L1Ball):
    """P(w - eta_t g) onto sum of a_i |w_i| <= radius, |w_i| <= box

    a is 1 unless `set_weights` says otherwise. In v = w / a, all features shrink by one common amount, as in the l1
    ball: w = sign(u) a (|u| - Theta), S = sum of a^2 |u|, rho = sum of a^2. rho is an integer too. A feature with a = 0
    is outside of the ball, as the intercept, but in the box.

    Only features of this example can be outside of the box, as the others only shrink. They are capped at first, and
    are not part of S. If that is not enough, the shift rises; when it takes more of a capped feature than the part
    outside of the box, the feature takes part uncapped.
    """

    SLOT = [("mark", "<u4"), ("_rank", "<u4"), ("u", "<f8"), ("a", "<f8")]
    SLOT_BYTES = sizeof(WeightedSlot)

    cdef readonly double box
    cdef int128 squares               # rho, as `square` counts it
    cdef double to_square, from_square
    cdef Capped* capped               # owned; the features outside of the box
    cdef size_t capped_size, capped_capacity

    def __init__(self, loss, *, double box=INFINITY, **options):
        super().__init__(loss, **options)
        self.box = box
        self.count_squares()

    def __dealloc__(self):
        free(self.capped)

    def blank(self):
        cdef WeightedSlot slot = WeightedSlot(0, 0, 0, 1)
        return (<const char*>&slot)[:sizeof(WeightedSlot)]

    def set_weights(self, const uint32_t[::1] keys, const double[::1] weights):
        """Before learning: set the weights of these keys, each at least 0. MemoryError."""
        cdef Py_ssize_t i
        cdef char* slot
        for i in range(keys.shape[0]):
            if self.table.resolve(&keys[i], 1, &slot):
                raise MemoryError("no memory for the weights of features")
            (<WeightedSlot*>slot).a = weights[i]
        self.count_squares()

    cdef void count_squares(self) noexcept nogil:
        """Recompute rho, in units of the smallest a^2 / 2^50."""
        cdef char* slot = NULL
        cdef WeightedSlot* s
        cdef double smallest = 1
        while next_slot(self.table, &slot):
            s = <WeightedSlot*>slot
            if 0 < s.a < smallest:
                smallest = s.a
        self.to_square = FINE / (smallest * smallest)
        self.from_square = 1 / self.to_square
        self.squares = 0
        while next_slot(self.table, &slot):
            s = <WeightedSlot*>slot
            if s.u != 0 and s.mark != self.constant_mark:
                self.squares += self.square(<Slot*>s)

    cdef bint is_free(self, const Slot* s) noexcept nogil:
        return s.mark == self.constant_mark or (<const WeightedSlot*>s).a == 0

    cdef void rebuild(self) noexcept nogil:
        cdef char* slot = NULL
        L1Ball.rebuild(self)
        while next_slot(self.table, &slot):
            if (<WeightedSlot*>slot).a == 0:
                (<WeightedSlot*>slot).rank = WAITING    # its entry is stale

    cdef inline double part(self, const Slot* s) noexcept nogil:
        """The contribution of a feature to S: a^2 |u|."""
        return (<WeightedSlot*>s).a * (<WeightedSlot*>s).a * fabs(s.u)

    cdef inline int128 square(self, const Slot* s) noexcept nogil:
        """a^2, as an integer."""
        return <int128>((<WeightedSlot*>s).a * (<WeightedSlot*>s).a * self.to_square)

    cdef inline void drop_weighted(self, Slot* s) noexcept nogil:
        self.count(0, self.part(s))
        self.active -= 1
        self.squares -= self.square(s)
        s.u = 0

    cdef bint leave_behind(self, double shift) noexcept nogil:
        cdef size_t i, before = self.active
        for i in range(drop_below(&self.active_set, self.table, shift)):
            if (<Slot*>self.active_set.dropped[i]).u != 0:
                self.drop_weighted(<Slot*>self.active_set.dropped[i])
        return self.active < before

    cdef void pay(self, Slot* s) noexcept nogil:
        s.u = self.now(s)
        self.count(self.part(s), 0)
        if s.u == 0:
            self.active -= 1
            self.squares -= self.square(s)

    def state_of(self, m):
        """u = w / a, without a shift."""
        import numpy as np
        self.count_weights(m, m.w * m.extra, m.extra != 0)
        return {"u": np.divide(m.w, m.extra, out=m.w.copy(), where=m.extra != 0), "a": m.extra}

    cdef inline double now_weighted(self, const WeightedSlot* s) noexcept nogil:
        cdef double size = s.a * (fabs(s.u) - self.shift)
        if s.a == 0:
            return s.u
        return copysign(min(max(size, 0.0), self.box), s.u)

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef const float* x
        cdef WeightedSlot** slots
        cdef double sum = 0
        cdef Example part = iterate(e)
        while next_chunk(&part):
            slots, x = <WeightedSlot**>part.slots, part.x
            for i in range(part.size):
                sum += (slots[i].u if slots[i].mark == self.constant_mark else self.now_weighted(slots[i])) * x[i]
        return e.initial + sum

    cdef void descend(self, const Example* part, double step) noexcept nogil:
        cdef size_t i
        cdef const float* x = part.x
        cdef WeightedSlot** slots = <WeightedSlot**>part.slots
        for i in range(part.size):
            if slots[i].mark == self.constant_mark or slots[i].a == 0:
                slots[i].u += step * x[i]
            else:
                self.change_weighted(slots[i], step * x[i])

    cdef void bound(self, const Example* e) noexcept nogil:
        """And |w| <= box: record the features that are outside, and cap them."""
        cdef size_t i
        cdef WeightedSlot** slots
        cdef Example part = iterate(e)
        while next_chunk(&part):
            if reserve(<void**>&self.capped, &self.capped_capacity, self.capped_size + part.size, sizeof(Capped)):
                self.out_of_memory = True
                break
            slots = <WeightedSlot**>part.slots
            for i in range(part.size):
                if slots[i].mark == self.constant_mark:
                    continue
                if slots[i].a == 0:
                    slots[i].u = min(max(slots[i].u, 0 if self.nonnegative else -self.box), self.box)
                elif self.nonnegative and slots[i].u < 0:
                    self.drop_weighted(<Slot*>slots[i])
                elif fabs(slots[i].u) > self.cap(slots[i]):
                    self.capped[self.capped_size] = Capped(slots[i], fabs(slots[i].u))
                    self.capped_size += 1
                    self.set_u(slots[i], copysign(self.cap(slots[i]), slots[i].u))    # a second visit finds it inside

    cdef inline double cap(self, const WeightedSlot* s) noexcept nogil:
        """|u| at the border of the box."""
        return self.box / s.a + self.shift

    cdef inline void change_weighted(self, WeightedSlot* s, double by) noexcept nogil:
        """w += by, before the projection; w may be outside of the box for now."""
        cdef double size = fabs(s.u) - self.shift
        cdef double v = copysign(s.a * size if size > 0 else 0, s.u) + by
        cdef double largest = LARGEST * self.scale
        cdef double new = min(fabs(v) / s.a + self.shift, largest / max(s.a * s.a, 1.0))
        if not new > self.shift:    # v is 0 within rounding
            if s.u != 0:
                self.drop_weighted(<Slot*>s)
            return
        if s.u == 0:
            self.active += 1
            self.squares += self.square(<Slot*>s)
            self.wait(<Slot*>s)
        self.set_u(s, copysign(new, v))

    cdef inline void set_u(self, WeightedSlot* s, double u) noexcept nogil:
        """Set u of an active feature; S and the queue are updated."""
        cdef double old = self.part(<Slot*>s)
        s.u = u
        self.count(self.part(<Slot*>s), old)
        self.requeue(<Slot*>s)

    cdef inline double rho(self) noexcept nogil:
        return <double>self.squares * self.from_square

    cdef void project(self) noexcept nogil:
        """As for the l1 ball, in rounds; before the shift passes the part of a capped feature outside of the box, that
        feature takes part."""
        cdef double shift = self.shift, target, rho, capped = 0, limit, most
        cdef size_t i, first
        cdef WeightedSlot* s
        if self.l1_norm() > self.radius:
            most = LARGEST * self.scale
            for i in range(self.capped_size):
                s = self.capped[i].slot
                capped += s.a * self.box
                self.count(0, self.part(<Slot*>s))
                self.squares -= self.square(<Slot*>s)
                s.u = copysign(2 * most, s.u)     # the shift does not drop it
            while True:
                rho = self.rho()
                if rho > 0:
                    target = max((self.sum() + capped - self.radius) / rho, shift)
                else:
                    target = INFINITY if capped > self.radius else shift
                first, limit = 0, INFINITY
                for i in range(self.capped_size):
                    s = self.capped[i].slot
                    if self.capped[i].u - self.box / s.a < limit:
                        first, limit = i, self.capped[i].u - self.box / s.a
                if limit < target:
                    s = self.capped[first].slot
                    capped -= s.a * self.box
                    self.take_part(s, self.capped[first].u)
                    self.capped_size -= 1
                    self.capped[first] = self.capped[self.capped_size]
                    continue
                shift = target
                if not self.leave_behind(shift):
                    break
            self.shift = shift
            for i in range(self.capped_size):
                self.take_part(self.capped[i].slot, min(self.cap(self.capped[i].slot), most))
        self.capped_size = 0
        self.queue_waiting()

    cdef void take_part(self, WeightedSlot* s, double u) noexcept nogil:
        """Count a capped feature again, with |u| = u."""
        s.u = copysign(u, s.u)
        self.count(self.part(<Slot*>s), 0)
        self.squares += self.square(<Slot*>s)
        self.requeue(<Slot*>s)

    cdef double l1_norm(self) noexcept nogil:
        """sum of a_i |w_i| = S - rho Theta"""
        return self.sum() - self.rho() * self.shift

    cdef double weight(self, const char* slot) noexcept nogil:
        cdef const WeightedSlot* s = <const WeightedSlot*>slot
        return s.u if s.mark == self.constant_mark else self.now_weighted(s)

    cdef bint is_default(self, const char* slot) noexcept nogil:
        return (<const WeightedSlot*>slot).u == 0 and (<const WeightedSlot*>slot).a == 1

    def load(self, scalars, slots):
        cdef char* slot = NULL
        cdef WeightedSlot* s
        super().load(scalars, slots)
        while next_slot(self.table, &slot):
            s = <WeightedSlot*>slot
            if s.mark != 0 and not 0 <= s.a < INFINITY:
                raise ValueError("the weight of a feature is not a number of at least 0")
        self.count_squares()
