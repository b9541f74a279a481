"""Stochastic projected subgradient on the l1 ball: w <- P(w - eta_t g), ||w||_1 <= z after every example.

Duchi, Shalev-Shwartz, Singer, Chandra. Efficient Projections onto the l1-Ball. ICML 2008; section 6.

A nonzero weight is a raw magnitude u and one global shift Theta: w = sign(u) (|u| - Theta). With S the
sum of |u| and rho the count over the active set {|u| > Theta}, projecting means raising Theta to
(S - z) / rho, after dropping the active |u| that this leaves behind. Theta never falls, so a min-heap
finds those in O(log n) each, and every drop is paid for by an earlier insertion.

What makes it fast:

- A heap entry is a lower bound of |u| (a float, rounded down) and a key: 8 bytes. A weight that rises
  keeps its entry; only when the entry comes to the top, it is pushed again with the bound of now. A weight
  that falls below its bound gets a new entry, and the old one is stale: it is known by its bound, which is
  not that of the slot.
- A feature that has just become active waits outside of the heap until Theta is known, as most of them
  are dropped at once.

S is kept as an unevaluated sum of two doubles, so that it stays the sum of |u| however long the stream.
Everything that is added to it is a multiple of radius / 2^78 or so, which makes the sum exact: it does
not depend on the order in which features are dropped, and with it no weight depends on how the heap
happens to lie. (After a model is loaded, it lies otherwise.)
"""

from math import frexp, ldexp

from libc.math cimport INFINITY, copysign, fabs, llrint, nextafter
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc

from vwlite.core.rule cimport Example, Outcome, Rule, learning_rate

cdef extern from "<math.h>" nogil:
    float nextafterf(float, float)

cdef double LARGEST_SHIFT = 1e5    # rebase when S outgrows this many radii: u - Theta would lose digits
cdef double GRID = 1.0 / (1 << 26)


cdef struct Slot:
    uint32_t mark
    float bound       # that of the valid heap entry; infinite while it waits outside of the heap
    double u          # sign(w) (|w| + Theta); 0 if w is 0. The constant: w itself


cdef struct Entry:
    float bound
    uint32_t key


cdef inline float below(double u) noexcept nogil:
    """The largest float that is at most u."""
    cdef float f = <float>u
    return f if f <= u else nextafterf(f, 0)


cdef class L1Ball(Rule):
    """P(w - eta_t g) onto ||w||_1 <= radius"""

    SLOT = [("mark", "<u4"), ("_bound", "<f4"), ("u", "<f8")]
    SCALARS = ["t", "shift", "sum", "sum_rest", "active"]

    cdef public double shift          # Theta
    cdef public double sum, sum_rest  # S = sum + sum_rest
    cdef public size_t active         # rho
    cdef readonly double radius       # z
    cdef double scale                 # the power of two above z
    cdef Entry* heap                  # owned; a 4-ary min-heap by bound
    cdef size_t heap_size, heap_capacity
    cdef Slot** waiting               # owned; active, but not in the heap yet
    cdef size_t waiting_size, waiting_capacity

    def __init__(self, loss, *, double radius, **schedule):
        super().__init__(loss, **schedule)
        self.radius = radius
        self.scale = ldexp(1, frexp(radius)[1])

    def __dealloc__(self):
        free(self.heap)
        free(self.waiting)

    cdef inline double now(self, const Slot* s) noexcept nogil:
        if s.mark == self.constant or s.u == 0:
            return s.u
        return copysign(fabs(s.u) - self.shift, s.u)

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef const float* x = e.x
        cdef Slot** slots = <Slot**>e.slots
        cdef double sum = 0
        for i in range(e.size):
            sum += self.now(slots[i]) * x[i]
        return e.initial + sum

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef size_t i
        cdef const float* x = e.x
        cdef Slot** slots = <Slot**>e.slots
        cdef double step
        self.t += 1
        step = -learning_rate(&self.schedule, self.t) * o.importance * o.slope
        if step == 0:
            return
        if self.room(e.size):
            self.out_of_memory = True
            return
        for i in range(e.size):
            if slots[i].mark == self.constant:
                slots[i].u += step * x[i]
            else:
                self.change(slots[i], step * x[i])
        self.project()
        if self.sum > LARGEST_SHIFT * self.radius:
            self.rebase()

    cdef inline void change(self, Slot* s, double by) noexcept nogil:
        """w += by, before the projection."""
        cdef double v = self.now(s) + by
        cdef double old = fabs(s.u)
        cdef double new
        if v == 0:
            if old != 0:
                self.drop(s)
            return
        new = fabs(v) + self.shift
        s.u = copysign(new, v)
        self.add(new)
        self.add(-old)
        if old == 0:
            self.active += 1
            self.wait(s)
        elif new < s.bound and s.bound != INFINITY:
            s.bound = below(new)
            self.push(s)

    cdef void project(self) noexcept nogil:
        """Raise the shift until ||w||_1 <= radius, and take the waiting features into the heap."""
        cdef double shift
        cdef size_t i
        cdef bint dropped = True
        cdef Slot* s
        if (self.sum - self.active * self.shift) + self.sum_rest > self.radius:
            shift = self.wanted_shift()
            while dropped:
                dropped = False
                while self.heap_size and self.heap[0].bound <= shift:
                    s = self.top_slot()
                    if s == NULL:
                        self.pop()
                    elif fabs(s.u) <= shift:
                        self.pop()
                        self.drop(s)
                        shift = self.wanted_shift()
                    else:
                        s.bound = below(fabs(s.u))
                        if s.bound > shift:
                            self.heap[0].bound = s.bound
                            self.sift_down(0)
                        else:       # closer than a float can tell
                            self.pop()
                            self.wait(s)
                for i in range(self.waiting_size):
                    s = self.waiting[i]
                    if s.u != 0 and s.bound == INFINITY and fabs(s.u) <= shift:
                        self.drop(s)
                        shift = self.wanted_shift()
                        dropped = True
            if shift > self.shift:
                self.shift = shift
        for i in range(self.waiting_size):
            s = self.waiting[i]
            if s.u != 0 and s.bound == INFINITY:
                s.bound = below(fabs(s.u))
                self.push(s)
        self.waiting_size = 0

    cdef inline double wanted_shift(self) noexcept nogil:
        """(S - z) / rho"""
        return ((self.sum - self.radius) + self.sum_rest) / self.active if self.active else 0

    cdef inline void add(self, double a) noexcept nogil:
        """S += a, a taken to the next multiple of scale / 2^78. `sum` is S rounded, `sum_rest` what that leaves."""
        cdef double unit, sum, b, rest
        if fabs(a) < self.scale * GRID:
            unit = copysign(self.scale * GRID, a)      # 2^52 times the multiple
            a = (unit + a) - unit
        sum = self.sum + a
        b = sum - self.sum
        rest = ((self.sum - (sum - b)) + (a - b)) + self.sum_rest
        self.sum = sum + rest
        self.sum_rest = rest - (self.sum - sum)

    cdef inline void drop(self, Slot* s) noexcept nogil:
        self.add(-fabs(s.u))
        self.active -= 1
        s.u = 0

    # --- the heap ----------------------------------------------------------------------------

    cdef int room(self, size_t n) noexcept nogil:
        """Make room for what an example of n features can push, and throw out stale entries; -1: no memory."""
        cdef size_t want
        cdef void* grown
        if self.heap_size > 2 * self.active + 1024:
            self.clean()
        # Each change pushes at most once, each waiting feature once; those that were popped to wait were in the heap.
        if self.heap_size + 2 * n > self.heap_capacity:
            want = 2 * (self.heap_size + 2 * n)
            grown = realloc(self.heap, want * sizeof(Entry))
            if grown == NULL:
                return -1
            self.heap = <Entry*>grown
            self.heap_capacity = want
        # Every feature of the example and every entry of the heap could come to wait, in theory.
        if self.heap_capacity + n > self.waiting_capacity:
            want = self.heap_capacity + n
            grown = realloc(self.waiting, want * sizeof(Slot*))
            if grown == NULL:
                return -1
            self.waiting = <Slot**>grown
            self.waiting_capacity = want
        return 0

    cdef inline void wait(self, Slot* s) noexcept nogil:
        s.bound = INFINITY
        self.waiting[self.waiting_size] = s
        self.waiting_size += 1

    cdef inline Slot* top_slot(self) noexcept nogil:
        """The slot of the smallest entry; NULL if the entry is stale."""
        cdef Slot* s = <Slot*>self.table.find(self.heap[0].key)
        if s == NULL or s.u == 0 or s.bound != self.heap[0].bound:
            return NULL
        return s

    cdef inline void push(self, const Slot* s) noexcept nogil:
        """An entry for a slot, by its bound."""
        cdef size_t at = self.heap_size
        cdef size_t parent
        cdef Entry* heap = self.heap
        self.heap_size += 1
        while at:
            parent = (at - 1) >> 2
            if heap[parent].bound <= s.bound:
                break
            heap[at] = heap[parent]
            at = parent
        heap[at].bound = s.bound
        heap[at].key = s.mark - 1

    cdef inline void pop(self) noexcept nogil:
        self.heap_size -= 1
        self.heap[0] = self.heap[self.heap_size]
        self.sift_down(0)

    cdef void sift_down(self, size_t at) noexcept nogil:
        cdef Entry* heap = self.heap
        cdef Entry moving = heap[at]
        cdef size_t size = self.heap_size
        cdef size_t first, child, smallest
        while True:
            first = 4 * at + 1
            if first >= size:
                break
            smallest = first
            for child in range(first + 1, min(first + 4, size)):
                if heap[child].bound < heap[smallest].bound:
                    smallest = child
            if heap[smallest].bound >= moving.bound:
                break
            heap[at] = heap[smallest]
            at = smallest
        heap[at] = moving

    cdef void heapify(self) noexcept nogil:
        cdef size_t at = (self.heap_size + 2) >> 2
        while at:
            at -= 1
            self.sift_down(at)

    cdef void clean(self) noexcept nogil:
        """Throw the stale entries out."""
        cdef size_t i, kept = 0
        cdef Slot* s
        for i in range(self.heap_size):
            s = <Slot*>self.table.find(self.heap[i].key)
            if s != NULL and s.u != 0 and s.bound == self.heap[i].bound:
                self.heap[kept] = self.heap[i]
                kept += 1
        self.heap_size = kept
        self.heapify()

    cdef int rebuild(self) noexcept nogil:
        """Make the heap anew from the table; -1: no memory."""
        cdef size_t i
        cdef Slot* s
        self.heap_size = 0
        if self.room(self.active):
            return -1
        for i in range(self.table.capacity + 1):
            s = <Slot*>(self.table.slots + i * self.table.stride)
            if s.u != 0 and s.mark != self.constant:
                s.bound = below(fabs(s.u))
                self.heap[self.heap_size] = Entry(s.bound, s.mark - 1)
                self.heap_size += 1
        self.heapify()
        return 0

    cdef void rebase(self) noexcept nogil:
        """Subtract the shift from every |u|, and make S anew.

        The new S is a sum of integers, multiples of scale / 2^61, so that it does not depend on the
        order in which the table happens to hold the slots.
        """
        cdef size_t i
        cdef Slot* s
        cdef double unit = self.scale / (<int64_t>1 << 61)
        cdef double norm = 0
        cdef uint64_t total = 0
        for i in range(self.table.capacity + 1):
            s = <Slot*>(self.table.slots + i * self.table.stride)
            if s.u != 0 and s.mark != self.constant:
                s.u = self.now(s)
                norm += fabs(s.u)
                if fabs(s.u) <= self.scale:
                    total += <uint64_t>llrint(fabs(s.u) / unit)
                if s.u == 0:
                    self.active -= 1
        # A radius too small for the digits of a double leaves noise: the next example projects it.
        self.shift, self.sum, self.sum_rest = 0, total * unit if norm <= 2 * self.scale else norm, 0
        if self.rebuild():
            self.out_of_memory = True

    cdef double weight(self, const char* slot) noexcept nogil:
        return self.now(<const Slot*>slot)

    cdef bint idle(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).u == 0

    def load(self, scalars, slots):
        super().load(scalars, slots)
        if self.rebuild():
            raise MemoryError("no memory for the heap of the l1 ball")

    def shrink(self):
        """Project now: for a radius that is smaller than that of the loaded state."""
        self.project()
