"""AdaGrad on the l1 ball: w <- argmin over ||w||_1 <= radius of the distance to w - eta_t g / H, in the norm of H.

Duchi, Hazan, Singer. Adaptive Subgradient Methods for Online Learning and Stochastic Optimization. JMLR 12, 2011;
eq. 2. Duchi, Shalev-Shwartz, Singer, Chandra. Efficient Projections onto the l1-Ball. ICML 2008; section 6.

The solution is w_i = sign(v_i) max(|v_i| - theta / H_i, 0), theta = (sum of |v_i| - radius) / (sum of 1 / H_i), both sums
over those that stay: the ones with the largest H_i |v_i|. So in the numbers H w all shrink by the same theta, and as for
the ball in the common norm (l1_ball.pyx) one global shift Theta, the sum of all theta, stands for the weights that an
example does not touch: z = sign(w) (H |w| + Theta), w = soft(z, Theta) / H. The sums are S = sum of |z_i| / H_i and
R = sum of 1 / H_i over the active set {|z| > Theta}; projecting means raising Theta to (S - radius) / R, after dropping
what this leaves behind. Every drop is paid for by an earlier insertion.

As in l1_ball.pyx, the queue of active features holds lower bounds of |z|: one that rises keeps its entry, one that falls
below it gets another; and a feature that has just become active waits outside until Theta is known.

Terms of S and R may differ by many powers of ten, and what was added is later taken away: both are sums of two doubles,
without error for the first of them. A remainder of R so small that the other terms may have taken its digits along is
made anew from what stays. What is taken away at once is taken in the order of keys, so nothing depends on how the queue
happens to lie (it lies otherwise after a model is loaded).
"""

from libc.math cimport INFINITY, copysign, fabs
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc, qsort

from vwlite.core.base.prefetch cimport prefetch_write
from vwlite.core.rules._shifting cimport Shifting, due_at, free_shifting, push, room_to_wait, wait
from vwlite.core.rules.radix_heap cimport Entry, below, bits_of, clear
from vwlite.core.rules._gathered cimport CHUNK, gather_chunks, give_back, sort_by_last
from vwlite.core.learn.rule cimport Example, Outcome, learning_rate
from vwlite.core.rules.adagrad cimport Adaptive, Visit, descend
from vwlite.core.learn.table cimport next_slot

cdef double LARGEST_SHIFT = 1e5    # rebase when S outgrows this many radii: |z| - Theta would lose digits
cdef double LARGEST = 3.5e13       # of |w| in radii, before it is projected
cdef double LEFT = 2.0 ** -50      # of the largest R since it was made anew: two doubles hold twice as many digits


cdef struct Slot:         # begins like that of Adaptive
    uint32_t mark
    uint32_t at
    double z              # 0 if w is 0
    double S              # the sum of g^2
    double inverse        # 1 / H
    double bound          # that of the valid entry of the queue: a float


cdef struct Sum:
    double high, low


cdef inline void add(Sum* sum, double x) noexcept nogil:
    """sum += x; what the high part loses goes into the low one (Knuth's two-sum)."""
    cdef double high = sum.high + x
    cdef double part = high - sum.high
    sum.low += (sum.high - (high - part)) + (x - part)
    sum.high = high


cdef inline void replace(Sum* sum, double x, double old) noexcept nogil:
    """sum += x - old; old was added before."""
    cdef double by = x - old
    cdef double part = by - x
    sum.low += (x - (by - part)) - (old + part)
    add(sum, by)


cdef inline void renormalize(Sum* sum) noexcept nogil:
    """Let the high part be all of the sum that a double can hold."""
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

    SLOT = [("mark", "<u4"), ("_at", "<u4"), ("z", "<f8"), ("S", "<f8"), ("_inverse", "<f8"), ("_bound", "<f8")]
    SLOT_BYTES = sizeof(Slot)
    SCALARS = ["t", "shift", "sum", "sum_rest", "inverses", "inverses_rest", "largest"]

    cdef readonly double radius
    cdef readonly size_t active       # features whose weight is not zero, the constant left out
    cdef Sum S                        # of |z| / H
    cdef Sum R                        # of 1 / H
    cdef public double largest        # R has been, since it was made anew
    cdef Shifting shifting            # a key is a place in the table; behind those that wait come those that are dropped
    cdef char* slots_of_queue         # where the table was then

    def __init__(self, loss, *, double radius, **options):
        super().__init__(loss, **options)
        self.radius = radius

    def __dealloc__(self):
        free_shifting(&self.shifting)

    @property
    def sum(self):
        return self.S.high

    @sum.setter
    def sum(self, double x):
        self.S.high = x

    @property
    def sum_rest(self):
        return self.S.low

    @sum_rest.setter
    def sum_rest(self, double x):
        self.S.low = x

    @property
    def inverses(self):
        return self.R.high

    @inverses.setter
    def inverses(self, double x):
        self.R.high = x

    @property
    def inverses_rest(self):
        return self.R.low

    @inverses_rest.setter
    def inverses_rest(self, double x):
        self.R.low = x

    @property
    def norm(self):
        """||w||_1 = S - R Theta"""
        return self.S.high - self.R.high * self.shift

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef double dloss = o.importance * o.dloss, eta
        self.t += 1
        if dloss == 0:
            return
        eta = learning_rate(&self.schedule, self.t)
        if e.pieces != NULL:
            self.learn_pieces(e, dloss, eta)
        elif self.room(self.active + e.size):
            return
        else:
            self.merge(e)
            descend(&self.visited, e.x, e.size, dloss, eta, self.delta, self.shift)
            self.change_all(e, self.visited.repeated)
        self.project()
        if self.S.high > LARGEST_SHIFT * self.radius:
            self.rebase()
            self.project()      # what one step has lost in digits before

    cdef void learn_pieces(self, const Example* e, double dloss, double eta) noexcept nogil:
        """Learn each feature once, in the order of the last places where they stand."""
        cdef size_t begin = 0
        cdef Example chunk
        if gather_chunks(&self.gathering, e):
            self.out_of_memory = True
        elif not self.room(self.active + self.gathering.size):
            sort_by_last(&self.gathering)
            while begin < self.gathering.size and not self.visit_chunk(begin, &chunk):
                descend(&self.visited, NULL, chunk.size, dloss, eta, self.delta, self.shift)
                self.change_all(&chunk, False)
                begin += CHUNK
        give_back(&self.gathering)

    cdef inline void change_all(self, const Example* e, bint repeated) noexcept nogil:
        """Give features their state from before the projection. repeated: those that stand more than once do so in the
        last place."""
        cdef size_t i
        cdef Slot** slots = <Slot**>e.slots
        cdef Visit* v = &self.visited
        cdef Slot* s
        cdef Sum S = self.S, R = self.R
        for i in range(e.size):
            s = slots[i]
            if repeated and s.at != i:
                continue
            s.S = v.S[i]
            if s.mark == self.constant:
                s.z, s.inverse = v.z[i], v.inverse[i]
            else:
                self.change(s, v.z[i], v.inverse[i], &S, &R)
        self.S, self.R = S, R

    cdef inline void change(self, Slot* s, double z, double inverse, Sum* S, Sum* R) noexcept nogil:
        """Give a feature its state from before the projection; S and R are those of the ball."""
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
            s.bound = INFINITY      # an entry from earlier is stale
            wait(&self.shifting, s)
            return
        replace(S, new * inverse, old * old_inverse)
        replace(R, inverse, old_inverse)
        if new < s.bound:
            s.bound = below(new)
            self.push(s)

    cdef void project(self) noexcept nogil:
        """Raise the shift until ||w||_1 <= radius, and take the waiting features into the queue.

        In rounds: drop all that the shift leaves behind; that raises the shift, as long as there is something.
        """
        cdef double shift = self.shift
        cdef double S, R        # with those that wait
        cdef size_t i, before
        cdef Slot* s
        self.sum_up(&S, &R)
        if S - R * shift > self.radius:
            while True:
                before = self.active + self.shifting.size
                if before:
                    shift = max(shift, (S - self.radius) / R)
                self.turn_away(shift)
                self.advance(shift)
                if self.active + self.shifting.size == before:
                    break
                self.sum_up(&S, &R)
            self.shift = shift
        for i in range(self.shifting.size):
            s = <Slot*>self.shifting.waiting[i]
            add(&self.S, fabs(s.z) * s.inverse)
            add(&self.R, s.inverse)
            s.bound = below(fabs(s.z))
            self.push(s)
        self.active += self.shifting.size
        self.shifting.size = 0
        renormalize(&self.S)
        renormalize(&self.R)

    cdef inline void sum_up(self, double* S, double* R) noexcept nogil:
        """S and R, with the features that wait."""
        cdef size_t i
        cdef double sum = 0, inverses = 0
        for i in range(self.shifting.size):
            sum += fabs((<Slot*>self.shifting.waiting[i]).z) * (<Slot*>self.shifting.waiting[i]).inverse
            inverses += (<Slot*>self.shifting.waiting[i]).inverse
        if self.R.high + self.R.low + inverses < LEFT * self.largest:
            self.make_sums(0)
            self.largest = 0
        S[0] = (self.S.high + self.S.low) + sum
        R[0] = (self.R.high + self.R.low) + inverses
        self.largest = max(self.largest, R[0])

    cdef void make_sums(self, double less) noexcept nogil:
        """Subtract a number from every |z|, and make S and R anew, in the order of keys; without those that wait."""
        cdef size_t i, n = 0
        cdef char* slot = NULL
        cdef Slot* s
        cdef Slot** all = <Slot**>malloc((self.active + 1) * sizeof(Slot*))
        if all == NULL:
            self.out_of_memory = True
            return
        while self.active and next_slot(self.table, &slot):
            s = <Slot*>slot
            if self.is_active(s) and s.bound != INFINITY:
                all[n] = s
                n += 1
        sort_by_key(all, n)
        self.S = self.R = Sum(0, 0)
        for i in range(n):
            s = all[i]
            s.z = copysign(fabs(s.z) - less, s.z)
            add(&self.S, fabs(s.z) * s.inverse)
            add(&self.R, s.inverse)
        free(all)
        renormalize(&self.S)
        renormalize(&self.R)

    cdef inline void turn_away(self, double shift) noexcept nogil:
        """Drop the features that wait and that a shift leaves behind."""
        cdef size_t i, kept = 0
        cdef Slot* s
        cdef bint stays
        for i in range(self.shifting.size):
            s = <Slot*>self.shifting.waiting[i]
            stays = fabs(s.z) > shift
            self.shifting.waiting[kept] = s
            kept += stays
            s.z *= stays
        self.shifting.size = kept

    cdef inline void drop(self, Slot* s) noexcept nogil:
        add(&self.S, -fabs(s.z) * s.inverse)
        add(&self.R, -s.inverse)
        self.active -= 1
        s.z = 0

    # --- the queue ---------------------------------------------------------------------------

    cdef int room(self, size_t n) noexcept nogil:
        """Make room for so many features in the list, and throw out stale entries; -1: no memory."""
        if self.shifting.queue.size > 3 * self.active + 1024 or self.slots_of_queue != self.table.slots:
            self.rebuild()
        if room_to_wait(&self.shifting, n):
            self.out_of_memory = True
            return -1
        return 0

    cdef inline void push(self, const Slot* s) noexcept nogil:
        """An entry for a slot, by its bound."""
        cdef uint32_t at = <uint32_t>(<const Slot*>s - <const Slot*>self.table.slots)
        if push(&self.shifting, bits_of(<float>s.bound), at):
            self.out_of_memory = True

    cdef void advance(self, double shift) noexcept nogil:
        """Drop every feature of the queue that a shift leaves behind."""
        cdef size_t j, dropped = 0
        cdef Slot** list = <Slot**>self.shifting.waiting + self.shifting.size     # with those that wait, they are at most all active ones
        cdef Entry entry
        cdef Slot* s
        self.shifting.due.size = 0
        if due_at(&self.shifting, bits_of(below(shift))):
            self.out_of_memory = True
        for j in range(self.shifting.due.size):
            prefetch_write(<Slot*>self.table.slots + self.shifting.due.entries[j].key)
        for j in range(self.shifting.due.size):
            entry = self.shifting.due.entries[j]
            s = <Slot*>self.table.slots + entry.key
            if s.z == 0 or bits_of(<float>s.bound) != entry.rank:
                continue            # stale
            if fabs(s.z) <= shift:
                s.bound = INFINITY  # so that another entry of it is stale
                list[dropped] = s
                dropped += 1
            else:                   # it has risen since
                s.bound = below(fabs(s.z))
                self.push(s)
        sort_by_key(list, dropped)
        for j in range(dropped):
            self.drop(list[j])

    cdef inline bint is_active(self, const Slot* s) noexcept nogil:
        return s.z != 0 and s.mark != self.constant

    cdef void rebuild(self) noexcept nogil:
        """Make the queue anew from the table."""
        cdef char* slot = NULL
        cdef Slot* s
        clear(&self.shifting.queue, bits_of(below(self.shift)))
        self.slots_of_queue = self.table.slots
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            if self.is_active(s):
                s.bound = below(fabs(s.z))
                self.push(s)

    cdef void rebase(self) noexcept nogil:
        """Begin anew with a shift of 0."""
        self.make_sums(self.shift)
        self.largest = self.R.high
        self.shift = 0
        self.rebuild()

    def load(self, scalars, slots):
        cdef char* slot = NULL
        cdef Slot* s
        cdef Sum sum = Sum(0, 0), inverses = Sum(0, 0)
        super().load({"largest": scalars["inverses"], **scalars}, slots)    # older models have no such number
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
        self.rebuild()
        if self.out_of_memory:
            raise MemoryError("no memory for the queue of the l1 ball")

    def radius_changed(self):
        """Go on from a loaded state with another radius."""
        self.room(self.active)
        self.project()
