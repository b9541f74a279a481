"""AdaGrad on the l1 ball: w <- argmin over ||w||_1 <= radius of the distance to w - eta_t g / H, in the norm of H.

Duchi, Hazan, Singer. Adaptive Subgradient Methods for Online Learning and Stochastic Optimization. JMLR 12, 2011;
eq. 2. Duchi, Shalev-Shwartz, Singer, Chandra. Efficient Projections onto the l1-Ball. ICML 2008; section 6.

The solution is w_i = sign(v_i) max(|v_i| - theta / H_i, 0), theta = (sum of |v_i| - radius) / (sum of 1 / H_i), both sums
over the remaining ones: those with the largest H_i |v_i|. So the numbers H w all shrink by the same theta, and as for
the ball in the Euclidean norm (l1_ball.pyx) one global shift Theta, the sum of all theta, represents the shrinkage of
untouched weights: z = sign(w) (H |w| + Theta), w = soft(z, Theta) / H. The sums are S = sum of |z_i| / H_i and
R = sum of 1 / H_i over the active set {|z| > Theta}; projecting means raising Theta to (S - radius) / R, after dropping
the weights that become zero. The cost of every drop is covered by an earlier insertion.

For the queue and the waiting features see active_set.pxd. Waiting features are not yet part of S and R.

Terms of S and R may differ by many powers of ten, and what was added is later subtracted: both are sums of two doubles,
exact in the high part. If the rest of R is so small that cancellation may have destroyed its digits, it is recomputed
from the remaining features. Simultaneous subtractions are done in the order of keys, so nothing depends on the order of
entries in the queue (which differs after a model is loaded).
"""

from libc.math cimport copysign, fabs
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc, qsort

from vwlite.core.base.active_set cimport (
    WAITING, ActiveSet, bound_of, free_active_set, push, queue_waiting, rank_below, reserve_waiting, wait,
)
from vwlite.core.learn.rule cimport Example, Outcome, learning_rate
from vwlite.core.learn.table cimport next_slot
from vwlite.core.rules._active_slots cimport drop_below, rebuild, remove_stale
from vwlite.core.rules._gathered cimport CHUNK, gather_chunks, give_back, sort_by_last
from vwlite.core.rules.adagrad cimport Adaptive, Slot as AdaptiveSlot, Visit, descend

from vwlite.core.base.arrays import total

cdef double LARGEST_SHIFT = 1e5    # rebase when S outgrows this many radii: |z| - Theta would lose digits
cdef double LARGEST = 3.5e13       # of |w| in radii, before it is projected
cdef size_t RANK_AT = sizeof(AdaptiveSlot)
cdef double LEFT = 2.0 ** -50      # of the largest R since it was recomputed: two doubles hold twice as many digits


cdef struct Slot:         # begins like that of Adaptive
    uint32_t mark
    uint32_t at
    double z              # 0 if w is 0
    double S              # the sum of g^2
    double inverse        # 1 / H
    uint32_t rank         # see active_set.pxd


cdef struct DoubleDouble:
    double high, low


cdef inline void add(DoubleDouble* sum, double x) noexcept nogil:
    """sum += x; the rounding error of the high part is added to the low one (Knuth's two-sum)."""
    cdef double high = sum.high + x
    cdef double part = high - sum.high
    sum.low += (sum.high - (high - part)) + (x - part)
    sum.high = high


cdef inline void replace(DoubleDouble* sum, double x, double old) noexcept nogil:
    """sum += x - old; old was added before."""
    cdef double by = x - old
    cdef double part = by - x
    sum.low += (x - (by - part)) - (old + part)
    add(sum, by)


cdef inline void renormalize(DoubleDouble* sum) noexcept nogil:
    """Move as much of the sum as a double can hold to the high part."""
    cdef double high = sum.high + sum.low
    sum.low -= high - sum.high
    sum.high = high


cdef inline void sort_by_key(Slot** list, size_t n) noexcept nogil:
    cdef size_t i, j
    cdef Slot* s
    if n > 64:
        qsort(list, n, sizeof(Slot*), by_key)
        return
    for i in range(1, n):
        s = list[i]
        j = i
        while j > 0 and list[j - 1].mark > s.mark:
            list[j] = list[j - 1]
            j -= 1
        list[j] = s


cdef inline bint is_close(double x, double y) noexcept nogil:
    return fabs(x - y) <= 1e-6 * y


cdef int by_key(const void* a, const void* b) noexcept nogil:
    cdef uint32_t one = (<Slot**>a)[0].mark, other = (<Slot**>b)[0].mark
    return (one > other) - (one < other)


cdef class AdagradBall(Adaptive):
    """The projection of w - eta g / H onto ||w||_1 <= radius in the norm of H"""

    SLOT = [("mark", "<u4"), ("_at", "<u4"), ("z", "<f8"), ("S", "<f8"), ("_inverse", "<f8"), ("_rank", "<u4")]
    SLOT_BYTES = sizeof(Slot)
    WEIGHS_ALONE = False

    cdef readonly double radius
    cdef readonly size_t active       # features with a nonzero weight, without the intercept
    cdef DoubleDouble S                        # of |z| / H
    cdef DoubleDouble R                        # of 1 / H
    cdef double largest               # largest value of R since it was recomputed
    cdef ActiveSet active_set

    def __init__(self, loss, *, double radius, **options):
        super().__init__(loss, **options)
        self.radius = radius
        self.active_set.rank_at = RANK_AT

    def __dealloc__(self):
        free_active_set(&self.active_set)

    def scalars(self):
        return {
            **super().scalars(), "sum": self.S.high, "sum_rest": self.S.low, "inverses": self.R.high,
            "inverses_rest": self.R.low, "largest": self.largest,
        }

    def set_scalars(self, scalars):
        super().set_scalars(scalars)
        self.S = DoubleDouble(scalars["sum"], scalars["sum_rest"])
        self.R = DoubleDouble(scalars["inverses"], scalars["inverses_rest"])
        self.largest = scalars.get("largest", scalars["inverses"])      # absent in older models

    @property
    def norm(self):
        """||w||_1 = S - R Theta"""
        return self.S.high - self.R.high * self.shift

    def state_of(self, m):
        """z = w H, without a shift, and the sums over the ball."""
        import numpy as np
        inverse, inside = 1 / m.metric, m.free & (m.w != 0)
        m.scalars["sum"] = [total(column) for column in np.where(inside, np.abs(m.w), 0).T]
        m.scalars["inverses"] = [total(column) for column in np.where(inside, inverse, 0).T]
        m.scalars["largest"] = m.scalars["inverses"]
        return {"S": m.S, "z": m.w * m.metric}

    def restricted(self, m, w):
        """The nearest weights of the ball in the norm of H."""
        import numpy as np
        out = w.copy()
        for c in range(w.shape[1]):
            nonzero = np.flatnonzero(m.free[:, 0] & (w[:, c] != 0))
            root = np.sqrt(m.metric[nonzero, c])
            if len(nonzero):
                out[nonzero, c] = m.project_l1(w[nonzero, c] * root, m.settings.radius, weights=1 / root) / root
        return out

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef double dloss = o.importance * o.dloss, eta
        self.t += 1
        if dloss == 0:
            return
        eta = learning_rate(&self.schedule, self.t)
        if e.chunks != NULL:
            self.learn_chunks(e, dloss, eta)
        elif self.reserve_for(e.size):
            return
        else:
            self.merge(e)
            descend(&self.visited, e.x, e.size, dloss, eta, self.delta, self.shift)
            self.change_all(e, self.visited.repeated)
        self.project()
        if self.S.high > LARGEST_SHIFT * self.radius:
            self.rebase()
            self.project()      # rounding of one step

    cdef void learn_chunks(self, const Example* e, double dloss, double eta) noexcept nogil:
        """Learn each feature once, in the order of last positions."""
        cdef size_t begin = 0
        cdef Example chunk
        if gather_chunks(&self.gathering, e):
            self.out_of_memory = True
        elif not self.reserve_for(self.gathering.size):
            sort_by_last(&self.gathering)
            while begin < self.gathering.size and not self.visit_chunk(begin, &chunk):
                descend(&self.visited, NULL, chunk.size, dloss, eta, self.delta, self.shift)
                self.change_all(&chunk, False)
                begin += CHUNK
        give_back(&self.gathering)

    cdef inline void change_all(self, const Example* e, bint repeated) noexcept nogil:
        """Update the features of an example before the projection. repeated: features that occur more than once are
        updated at their last position."""
        cdef size_t i
        cdef Slot** slots = <Slot**>e.slots
        cdef Visit* v = &self.visited
        cdef Slot* s
        cdef DoubleDouble S = self.S, R = self.R
        for i in range(e.size):
            s = slots[i]
            if repeated and s.at != i:
                continue
            s.S = v.S[i]
            if s.mark == self.constant_mark:
                s.z, s.inverse = v.z[i], v.inverse[i]
            else:
                self.change(s, v.z[i], v.inverse[i], &S, &R)
        self.S, self.R = S, R

    cdef inline void change(self, Slot* s, double z, double inverse, DoubleDouble* S, DoubleDouble* R) noexcept nogil:
        """Update a feature before the projection; S and R are those of the ball."""
        cdef double old = fabs(s.z)
        cdef double new = fabs(z)
        cdef double old_inverse = s.inverse
        s.inverse = inverse
        if new <= self.shift:
            if old != 0:
                add(S, -old * old_inverse)
                add(R, -old_inverse)
                self.active -= 1
                s.z = 0
            return
        if (new - self.shift) * inverse > LARGEST * self.radius:
            new = LARGEST * self.radius / inverse + self.shift
        s.z = copysign(new, z)
        if old == 0:
            wait(&self.active_set, <char*>s)
            return
        replace(S, new * inverse, old * old_inverse)
        replace(R, inverse, old_inverse)
        if new < bound_of(s.rank):
            push(&self.active_set, <char*>s, rank_below(new))

    cdef void project(self) noexcept nogil:
        """Raise the shift until ||w||_1 <= radius, and queue the waiting features.

        In rounds: drop all features that the shift makes zero; that raises the shift, until nothing is dropped.
        """
        cdef double shift = self.shift
        cdef double S, R        # including the waiting features
        cdef size_t i, before
        cdef Slot* s
        cdef ActiveSet* m = &self.active_set
        self.sum_up(&S, &R)
        if S - R * shift > self.radius:
            while True:
                before = self.active + m.size
                if before:
                    shift = max(shift, (S - self.radius) / R)
                self.leave_behind(shift)
                if self.active + m.size == before:
                    break
                self.sum_up(&S, &R)
            self.shift = shift
        for i in range(m.size):
            s = <Slot*>m.waiting[i]
            add(&self.S, fabs(s.z) * s.inverse)
            add(&self.R, s.inverse)
        self.active += m.size
        queue_waiting(m)
        self.out_of_memory |= m.out_of_memory
        renormalize(&self.S)
        renormalize(&self.R)

    cdef inline void sum_up(self, double* S, double* R) noexcept nogil:
        """S and R, including the waiting features."""
        cdef size_t i
        cdef double sum = 0, inverses = 0
        for i in range(self.active_set.size):
            sum += fabs((<Slot*>self.active_set.waiting[i]).z) * (<Slot*>self.active_set.waiting[i]).inverse
            inverses += (<Slot*>self.active_set.waiting[i]).inverse
        if self.R.high + self.R.low + inverses < LEFT * self.largest:
            self.make_sums(0)
            self.largest = 0
        S[0] = (self.S.high + self.S.low) + sum
        R[0] = (self.R.high + self.R.low) + inverses
        self.largest = max(self.largest, R[0])

    cdef void make_sums(self, double less) noexcept nogil:
        """Subtract a number from every |z|, and recompute S and R, in the order of keys; without the waiting
        features."""
        cdef size_t i, n = 0
        cdef char* slot = NULL
        cdef Slot* s
        cdef Slot** all = <Slot**>malloc((self.active + 1) * sizeof(Slot*))
        if all == NULL:
            self.out_of_memory = True
            return
        while self.active and next_slot(self.table, &slot):
            s = <Slot*>slot
            if self.is_active(s) and s.rank != WAITING:
                all[n] = s
                n += 1
        sort_by_key(all, n)
        self.S = self.R = DoubleDouble(0, 0)
        for i in range(n):
            s = all[i]
            s.z = copysign(fabs(s.z) - less, s.z)
            add(&self.S, fabs(s.z) * s.inverse)
            add(&self.R, s.inverse)
        free(all)
        renormalize(&self.S)
        renormalize(&self.R)

    cdef void leave_behind(self, double shift) noexcept nogil:
        """Drop all features that a shift drops."""
        cdef size_t i, waiting = self.active_set.size
        cdef size_t n = drop_below(&self.active_set, self.table, shift)
        cdef Slot** dropped = <Slot**>self.active_set.dropped
        waiting -= self.active_set.size
        for i in range(waiting):
            dropped[i].z = copysign(0, dropped[i].z)
        sort_by_key(dropped + waiting, n - waiting)
        for i in range(waiting, n):
            self.drop(dropped[i])

    cdef inline void drop(self, Slot* s) noexcept nogil:
        add(&self.S, -fabs(s.z) * s.inverse)
        add(&self.R, -s.inverse)
        self.active -= 1
        s.z = 0

    cdef int reserve_for(self, size_t n) noexcept nogil:
        """Reserve space for n more waiting features, and remove stale entries; -1: no memory."""
        remove_stale(&self.active_set, self.table, self.active)
        if reserve_waiting(&self.active_set, n):
            self.out_of_memory = True
            return -1
        return 0

    cdef inline bint is_active(self, const Slot* s) noexcept nogil:
        return s.z != 0 and s.mark != self.constant_mark

    cdef void rebase(self) noexcept nogil:
        """Restart with a shift of 0."""
        self.make_sums(self.shift)
        self.largest = self.R.high
        self.shift = 0
        rebuild(&self.active_set, self.table, self.shift, self.constant_mark)

    def load(self, scalars, slots):
        cdef char* slot = NULL
        cdef Slot* s
        cdef DoubleDouble sum = DoubleDouble(0, 0), inverses = DoubleDouble(0, 0)
        super().load(scalars, slots)
        self.active = 0
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            if self.is_active(s):
                if fabs(s.z) <= self.shift:
                    raise ValueError("a feature is neither active nor not")
                self.active += 1
                add(&sum, fabs(s.z) * s.inverse)
                add(&inverses, s.inverse)
        if not (is_close(self.S.high, sum.high) and is_close(self.R.high, inverses.high)):
            raise ValueError("the sums are not those of the weights")
        rebuild(&self.active_set, self.table, self.shift, self.constant_mark)
        if self.active_set.out_of_memory:
            raise MemoryError("no memory for the queue of the l1 ball")

    def radius_changed(self):
        """Continue from a loaded state with another radius."""
        self.project()
