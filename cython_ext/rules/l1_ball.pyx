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

S is a sum of integers: each |u|, rounded to a multiple of z / 2^50 or so, as a coarse and a fine count.
Integers add in a cycle, where a compensated sum of doubles is a long chain; they add to the same in any order,
so nothing depends on how the heap happens to lie (it lies otherwise after a model is loaded); and however long
the stream, S stays the sum of |u|.
"""

from math import frexp, ldexp

from libc.math cimport INFINITY, copysign, fabs, llrint
from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport free, realloc

from vwlite.core.rule cimport Example, Outcome, Rule, learning_rate

cdef extern from "<math.h>" nogil:
    float nextafterf(float, float)

cdef double LARGEST_SHIFT = 1e5    # rebase when S outgrows this many radii: u - Theta would lose digits
cdef double COARSE = 1 << 10          # coarse counts in z (or rather the power of two above it)
cdef double FINE = <double>(<int64_t>1 << 50)      # fine counts in z
cdef double LARGEST = <double>(<int64_t>1 << 45)   # of |u| in z; beyond, a double has no digits left for z


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
    SCALARS = ["t", "shift", "coarse", "fine", "active"]

    cdef public double shift          # Theta
    cdef public int64_t coarse, fine  # S = (coarse / 2^10 + fine / 2^50) * scale
    cdef public size_t active         # rho
    cdef readonly double radius       # z
    cdef double scale                 # the power of two above z
    cdef double to_coarse, to_fine, from_coarse, from_fine    # numbers as counts, and back
    cdef Entry* heap                  # owned; a 4-ary min-heap by bound
    cdef size_t heap_size, heap_capacity
    cdef Slot** waiting               # owned; active, but not in the heap yet
    cdef size_t waiting_size, waiting_capacity

    def __init__(self, loss, *, double radius, **schedule):
        super().__init__(loss, **schedule)
        self.radius = radius
        self.scale = ldexp(1, frexp(radius)[1])
        self.to_coarse, self.to_fine = COARSE / self.scale, FINE / self.scale
        self.from_coarse, self.from_fine = self.scale / COARSE, self.scale / FINE

    def __dealloc__(self):
        free(self.heap)
        free(self.waiting)

    cdef inline double now(self, const Slot* s) noexcept nogil:
        """The weight, if it is not the constant's. No branch: whether a weight is zero is a coin toss."""
        cdef double size = fabs(s.u) - self.shift
        return copysign(size if size > 0 else 0, s.u)

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef const float* x = e.x
        cdef Slot** slots = <Slot**>e.slots
        cdef double sum = 0
        for i in range(e.size):
            sum += (slots[i].u if slots[i].mark == self.constant else self.now(slots[i])) * x[i]
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
        if self.sum() > LARGEST_SHIFT * self.radius:
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
        new = min(fabs(v) + self.shift, LARGEST * self.scale)
        s.u = copysign(new, v)
        self.count(new, old)
        if old == 0:
            self.active += 1
            self.wait(s)
        elif new < s.bound and s.bound != INFINITY:
            s.bound = below(new)
            self.push(s)

    cdef void project(self) noexcept nogil:
        """Raise the shift until ||w||_1 <= radius, and take the waiting features into the heap.

        In rounds: drop all that the shift leaves behind; that raises the shift, as long as there is something.
        """
        cdef double shift
        cdef size_t i, kept, before
        cdef Slot* s
        if self.sum() - self.active * self.shift > self.radius:
            shift = self.wanted_shift()
            while True:
                before = self.active
                kept = 0
                for i in range(self.waiting_size):
                    s = self.waiting[i]
                    if s.bound == INFINITY and fabs(s.u) > shift:
                        self.waiting[kept] = s
                        kept += 1
                    elif s.bound == INFINITY and s.u != 0:
                        self.drop(s)
                self.waiting_size = kept
                while self.heap_size and self.heap[0].bound <= shift:
                    s = self.top_slot()
                    if s == NULL:
                        self.pop()
                    elif fabs(s.u) <= shift:
                        self.pop()
                        self.drop(s)
                    else:
                        s.bound = below(fabs(s.u))
                        if s.bound > shift:
                            self.heap[0].bound = s.bound
                            self.sift_down(0)
                        else:       # closer than a float can tell
                            self.pop()
                            self.wait(s)
                if self.active == before:
                    break
                shift = self.wanted_shift()
            if shift > self.shift:
                self.shift = shift
        for i in range(self.waiting_size):
            s = self.waiting[i]
            if s.u != 0 and s.bound == INFINITY:
                s.bound = below(fabs(s.u))
                self.push(s)
        self.waiting_size = 0

    cdef inline double sum(self) noexcept nogil:
        """S"""
        return self.coarse * self.from_coarse + self.fine * self.from_fine

    cdef inline double wanted_shift(self) noexcept nogil:
        """(S - z) / rho"""
        return (self.sum() - self.radius) / self.active if self.active else 0

    cdef inline void count(self, double new, double old) noexcept nogil:
        """S += new - old"""
        cdef int64_t coarse_new = llrint(new * self.to_coarse)
        cdef int64_t coarse_old = llrint(old * self.to_coarse)
        self.coarse += coarse_new - coarse_old
        self.fine += (llrint((new - coarse_new * self.from_coarse) * self.to_fine)
                      - llrint((old - coarse_old * self.from_coarse) * self.to_fine))

    cdef inline void drop(self, Slot* s) noexcept nogil:
        self.count(0, fabs(s.u))
        self.active -= 1
        s.u = 0

    @property
    def norm(self):
        """||w||_1 = S - rho Theta"""
        return self.sum() - self.active * self.shift

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
        """Subtract the shift from every |u|, and make S anew."""
        cdef size_t i
        cdef Slot* s
        self.coarse = self.fine = 0
        for i in range(self.table.capacity + 1):
            s = <Slot*>(self.table.slots + i * self.table.stride)
            if s.u != 0 and s.mark != self.constant:
                s.u = self.now(s)
                self.count(fabs(s.u), 0)
                if s.u == 0:
                    self.active -= 1
        self.shift = 0
        if self.rebuild():
            self.out_of_memory = True

    cdef double weight(self, const char* slot) noexcept nogil:
        cdef const Slot* s = <const Slot*>slot
        return s.u if s.mark == self.constant else self.now(s)

    cdef bint idle(self, const char* slot) noexcept nogil:
        return (<const Slot*>slot).u == 0

    def load(self, scalars, slots):
        super().load(scalars, slots)
        if self.rebuild():
            raise MemoryError("no memory for the heap of the l1 ball")

    def shrink(self):
        """Project now: for a radius that is smaller than that of the loaded state."""
        self.project()
