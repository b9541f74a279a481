"""Stochastic projected subgradient on the simplex: w <- P(w - eta_t g), w >= 0 and sum w = z after every example.

Duchi, Shalev-Shwartz, Singer, Chandra. Efficient Projections onto the l1-Ball. ICML 2008; sections 3 and 6.

As in the l1 ball, a weight is a raw number u less one global shift Theta, w = max(u - Theta, 0), and a step costs
O(k log n). The difference: the sum is always z, so Theta falls as well as it rises, and when it falls, all weights
rise, including zeros. So of active_set.pxd it uses the memory of the queue and of the waiting features, but
not the rounds of a projection.

- All zero weights are equivalent. They are only counted, until Theta falls from a value T: then they become
  a level, a group of that many weights with u = T. When Theta returns to T, they are zero again. So the
  levels are a stack, the lowest last. A slot stores the name of the next level at its last touch: if the
  first level since then is not below its u, it belongs to that level. A feature that is to be learned leaves its
  level when its weight is read, and has its own u from then on.
- Features that were never touched (up to 2^32) share one weight.
- A queue finds the weights that become zero when Theta rises. Its entries are lower bounds of u (floats, rounded
  down), as in the l1 ball, to a few digits of the distance from Theta: so the heap seldom moves them. It is a radix heap
  from the largest Theta on; entries below that, after Theta has fallen, go into a small heap with four children per
  node: when it grows, everything is requeued from the current Theta.

The sum S over the active weights is an integer, as in the l1 ball, exact in any order: a level counts as much as its
weights one by one, so after a model is loaded the result does not depend on levels.
"""

from math import frexp, ldexp

from libc.math cimport INFINITY, fabs, llrint
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from vwlite.core.base.active_set cimport ActiveSet, add_waiting, free_active_set, reserve_waiting
from vwlite.core.base.buffers cimport reserve
from vwlite.core.base.int128 cimport int128
from vwlite.core.base.prefetch cimport prefetch_write
from vwlite.core.base.radix_heap cimport BUCKETS, Bucket, HeapEntry, append, below, bit_length, bits_of, clear, put, take
from vwlite.core.learn.prox cimport positive_part
from vwlite.core.learn.rule cimport Example, Outcome, Rule, iterate, last_slot, learning_rate, next_chunk
from vwlite.core.learn.table cimport next_slot

cdef double LARGEST_SHIFT = 4e6    # rebase when |Theta| times the touched weights outgrows this many radii: the rounding
                                   # of Theta affects each of them, also the zeros once they are lifted
cdef double FINE = <double>(<int64_t>1 << 50)     # S counts in z / 2^50 (or rather the power of two above z) ...
cdef double FINER = <double>(<int64_t>1 << 20) * FINE     # ... and Theta, which counts once for each weight, in z / 2^70
cdef double SMALL = 1 << 12        # of |u| in z: up to so much an integer of 64 bits is enough
cdef double LARGEST = <double>(<int64_t>1 << 45)  # of |u| in z

cdef double UNTOUCHED = -1.7976931348623157e308    # u in a model, where only other classes have touched the feature

cdef enum:
    FEW = 4             # levels; rarely more
    MANY = 4096         # features of an example: if none moves by more than z, an integer of 64 bits can hold the sum
    DISTANCE_BITS = 6   # of a bound

cdef uint64_t WAITING = <uint64_t>-1


cdef struct Slot:
    uint32_t mark
    float bound       # that of the valid entry of the queue; infinite without an entry
    double u          # the weight plus Theta, unless a level since then is not below it. For the intercept: w itself
    uint64_t since    # the next level when it was touched; 0: never touched, or the intercept; WAITING: in this
                      # example


cdef struct Level:
    uint64_t name     # ascending, from 1
    double u          # descending, all above Theta
    uint64_t size     # weights in it


cdef Level NO_LEVEL = Level(<uint64_t>-1, -INFINITY, 0)


cdef inline uint32_t rank_of(float bound) noexcept nogil:
    """A number of any sign as a rank in the same order."""
    cdef uint32_t bits = bits_of(bound)
    return bits ^ ((<uint32_t>0 - (bits >> 31)) | (<uint32_t>1 << 31))


cdef inline float bound_of(double u, double shift) noexcept nogil:
    """The largest number that is at most u and whose rank is above that of the shift by few digits."""
    cdef uint32_t rank = rank_of(below(u))
    cdef uint32_t distance = rank - rank_of(below(shift))
    cdef uint32_t bits
    cdef float bound
    rank &= <uint32_t>0 - (<uint32_t>1 << max(bit_length(distance) - DISTANCE_BITS, 0))
    bits = rank ^ (((rank >> 31) - 1) | (<uint32_t>1 << 31))
    memcpy(&bound, &bits, 4)
    return bound


cdef class Simplex(Rule):
    """P(w - eta_t g) onto w >= 0, sum w = radius

    features: d; `too_many` is set when more are touched. All start at radius / d.
    """

    SLOT = [("mark", "<u4"), ("_bound", "<f4"), ("u", "<f8"), ("_since", "<u8")]
    SLOT_BYTES = sizeof(Slot)
    WEIGHS_ALONE = True
    SCALARS = ["t", "shift", "unseen"]
    UNSEEN_WEIGHS = True

    cdef public double shift            # Theta
    cdef public double unseen           # the weight of each feature that was never touched
    cdef readonly double radius         # z
    cdef readonly uint64_t features     # d
    cdef readonly uint64_t touched
    cdef readonly uint64_t zeros                 # touched features whose weight is zero
    cdef readonly uint64_t active                # touched features with a nonzero weight, without the waiting ones
    cdef int128 sum                     # S, over the active ones
    cdef double scale                   # the power of two above z
    cdef double to_fine, from_fine, to_finer, from_finer, small
    cdef Level* levels                  # owned
    cdef size_t level_size, level_capacity
    cdef bint expects                   # an update: features have left their levels, and may be in no queue
    cdef uint64_t next_level
    cdef ActiveSet active_set           # its queue has the bounds from its `last` on; a key is a place in the table
    cdef char* slots_of_queue           # the table's slots at that time
    cdef uint64_t* heap                 # owned; of bounds below that: rank, place. The children of i are 4 i + 1 to 4 i + 4
    cdef size_t heap_size, heap_capacity

    def __init__(self, loss, *, double radius, uint64_t features, **schedule):
        super().__init__(loss, **schedule)
        self.radius, self.features = radius, features
        self.scale = ldexp(1, frexp(radius)[1])
        self.to_fine, self.from_fine = FINE / self.scale, self.scale / FINE
        self.to_finer, self.from_finer = FINER / self.scale, self.scale / FINER
        self.small = SMALL * self.scale
        self.unseen = radius / features
        self.next_level = 1
        if self.make_levels(FEW):
            raise MemoryError("no memory for the levels of the simplex")

    def __dealloc__(self):
        free(self.levels)
        free_active_set(&self.active_set)
        free(self.heap)

    def state_of(self, m):
        """u = w, without a shift."""
        m.scalars["unseen"] = m.unseen
        return {"u": m.w}

    # --- weights -----------------------------------------------------------------------------

    cdef int make_levels(self, size_t n) noexcept nogil:
        """Reserve space for n levels, and NO_LEVEL after the last one; -1: no memory."""
        cdef size_t i, before = self.level_capacity
        if reserve(<void**>&self.levels, &self.level_capacity, n + 1, sizeof(Level)):
            return -1
        for i in range(before, self.level_capacity):
            self.levels[i] = NO_LEVEL
        return 0

    cdef inline Level* level_since(self, uint64_t since) noexcept nogil:
        """The first level with this name or a later one, or NO_LEVEL."""
        cdef size_t i, low = 0, high = self.level_size, middle
        if high <= FEW:     # no branch depends on which one it is
            for i in range(FEW):
                low += self.levels[i].name < since
            return &self.levels[low]
        while low < high:
            middle = (low + high) // 2
            if self.levels[middle].name < since:
                low = middle + 1
            else:
                high = middle
        return &self.levels[low]

    cdef inline double now(self, const Slot* s) noexcept nogil:
        """The weight of any feature but the intercept."""
        if s.since == 0:
            return self.unseen
        return positive_part(max(s.u, self.level_since(s.since).u) - self.shift)

    cdef double predict(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef const float* x
        cdef Slot** slots
        cdef double sum = 0
        cdef Example part = iterate(e)
        if e.size > 0 and self.has_constant:     # it is the last
            sum = (<Slot*>last_slot(e)).u
        while next_chunk(&part):
            slots, x = <Slot**>part.slots, part.x
            for i in range(part.size - (part.ends and self.has_constant)):
                sum += (slots[i].u if slots[i].mark == self.constant_mark else self.now(slots[i])) * x[i]
        return e.initial + sum

    cdef double predict_to_learn(self, const Example* e) noexcept nogil:
        cdef size_t i
        cdef const float* x
        cdef Slot** slots
        cdef Slot* s
        cdef Level* level
        cdef double sum = 0, shift = self.shift
        cdef uint64_t next_level = self.next_level
        cdef Example part = iterate(e)
        if self.expects:
            self.keep_all()
        self.expects = True
        if e.size > 0 and self.has_constant:
            sum = (<Slot*>last_slot(e)).u
        while next_chunk(&part):
            slots, x = <Slot**>part.slots, part.x
            for i in range(part.size - (part.ends and self.has_constant)):
                s = slots[i]
                if s.mark == self.constant_mark:
                    sum += s.u * x[i]
                elif s.since == 0:
                    sum += self.unseen * x[i]
                else:
                    level = self.level_since(s.since)
                    level.size -= level.u >= s.u
                    s.u = max(s.u, level.u)
                    s.since = next_level
                    sum += positive_part(s.u - shift) * x[i]
        return e.initial + sum

    cdef double weight(self, const char* slot) noexcept nogil:
        cdef const Slot* s = <const Slot*>slot
        return s.u if s.mark == self.constant_mark else self.now(s)

    cdef bint is_default(self, const char* slot) noexcept nogil:
        cdef const Slot* s = <const Slot*>slot
        return s.since == 0 and s.mark != self.constant_mark

    # --- learning ----------------------------------------------------------------------------

    cdef void update(self, const Example* e, const Outcome* o) noexcept nogil:
        cdef double step
        cdef Example part = iterate(e)
        self.t += 1
        step = -learning_rate(&self.schedule, self.t) * o.importance * o.dloss
        self.expects = False
        self.order_queue()
        while step == 0 and next_chunk(&part):
            self.keep(<Slot**>part.slots, part.size)
        if step == 0:
            return
        if e.size > 0 and self.has_constant:
            (<Slot*>last_slot(e)).u += step
        while next_chunk(&part):
            if reserve_waiting(&self.active_set, part.size):
                self.out_of_memory = True
                break
            self.descend(&part, step, e.size <= MANY)
        self.project()
        if self.touched * fabs(self.shift) > LARGEST_SHIFT * self.radius:
            self.rebase()
            self.project()      # rounding of one step

    cdef void descend(self, const Example* e, double step, bint few) noexcept nogil:
        """u += step x, for a chunk, without the intercept. Features whose weight is above zero before and after that
        are finished, the others wait. few: the example has at most MANY features."""
        cdef size_t i
        cdef const float* x = e.x
        cdef Slot** slots = <Slot**>e.slots
        cdef Slot* s
        cdef double by, u, new, shift = self.shift, scale = self.scale, to_fine = self.to_fine
        cdef double small = self.small - scale if few and fabs(shift) < self.small else -INFINITY
        cdef int64_t change = 0
        for i in range(e.size - (e.ends and self.has_constant)):
            s = slots[i]
            by = step * x[i]
            u = s.u
            new = u + by
            if ((u > shift) & (new > shift) & (u < small) & (fabs(by) <= scale)
                    & (s.since != 0) & (s.since != WAITING)):
                change += llrint(new * to_fine) - llrint(u * to_fine)
                s.u = new
                if s.bound > new:       # also without an entry
                    s.bound = bound_of(new, shift)
                    self.push(s)
            else:
                self.move(s, by)
        self.sum += change

    cdef void move(self, Slot* s, double by) noexcept nogil:
        """u += by, for any feature; it waits."""
        cdef double most = LARGEST * self.scale
        if s.mark == self.constant_mark:
            s.u += by
            return
        if s.since == WAITING:      # it occurs twice
            self.sum -= self.units(s.u)
        else:
            self.take_out(s)
        s.u = min(max(s.u + by, -most), most)
        self.sum += self.units(s.u)

    cdef inline void take_out(self, Slot* s) noexcept nogil:
        """Remove a feature from the counts, and add it to the waiting ones."""
        if s.since == 0:
            s.u = self.unseen + self.shift
            s.bound = INFINITY
            self.touched += 1
            self.too_many = self.touched > self.features
        elif s.u > self.shift:
            self.sum -= self.units(s.u)
            self.active -= 1
        else:
            s.u = self.shift
            self.zeros -= 1
        s.since = WAITING
        add_waiting(&self.active_set, <char*>s)

    cdef void project(self) noexcept nogil:
        """Move the shift so that the sum of the weights is z, and empty the waiting list.

        In rounds: start with all weights, including zeros; drop all that the shift makes zero; that raises the shift,
        until nothing is dropped.

        Rounding must not let the shift fall from one round to the next, not even by one bit: a weight that was dropped
        at the higher shift is counted as a zero, and would be above the lower shift, so it would have a weight, and be
        handled as active when it is learned; and zeros that should stay zero would be lifted.
        So a round takes the maximum of its own shift and that of the round before. As `shift + by` is rounded
        monotonically, every u that was ever dropped is at most the final shift, and every other one is
        above it: the last round compared all of them. The maximum corrects only rounding errors.
        """
        cdef double by = -INFINITY, shift
        cdef size_t i, kept
        cdef char** waiting = self.active_set.waiting
        cdef Slot* s
        cdef uint64_t unseen = self.features - min(self.touched, self.features)
        cdef uint64_t lifted = self.zeros        # zeros that the shift lifts
        cdef uint64_t dropped = 0, count, before
        self.active += self.active_set.size
        kept = self.active_set.size
        while True:
            count = self.active + lifted + unseen
            by = max(by, self.excess(unseen) / <double>count)
            shift = self.shift + by
            before = count
            if by >= 0:
                lifted = 0
            if self.unseen <= by:
                unseen = 0
            i = 0
            while i < kept:
                s = <Slot*>waiting[i]
                if s.u > shift:
                    i += 1
                    continue
                self.sum -= self.units(s.u)
                self.active -= 1
                dropped += 1
                kept -= 1
                waiting[i], waiting[kept] = waiting[kept], <char*>s
            while self.level_size > 0 and self.levels[self.level_size - 1].u <= shift:
                self.level_size -= 1
                self.sum -= <int128>self.levels[self.level_size].size * self.units(self.levels[self.level_size].u)
                self.active -= self.levels[self.level_size].size
                dropped += self.levels[self.level_size].size
                self.levels[self.level_size] = NO_LEVEL
            dropped += self.drop_below(shift)
            count = self.active + lifted + unseen
            if count == before or count == 0:
                break
        if lifted > 0 and shift < self.shift:     # by may be below rounding
            self.lift()
        self.unseen = self.unseen - by if unseen > 0 else 0
        self.shift = shift
        self.zeros += dropped
        for i in range(self.active_set.size):
            s = <Slot*>waiting[i]
            s.since = self.next_level
            if i >= kept:
                s.bound = INFINITY
            elif s.bound > s.u:       # also without an entry
                s.bound = bound_of(s.u, shift)
                self.push(s)
        self.active_set.size = 0

    cdef inline double excess(self, uint64_t unseen) noexcept nogil:
        """The sum of the weights, with this many unseen ones, minus z."""
        return <double>((self.sum << 20) - <int128>self.active * self.fine_units(self.shift)) * self.from_finer + (
            unseen * self.unseen - self.radius)

    cdef void lift(self) noexcept nogil:
        """Turn the zeros into a level."""
        if self.make_levels(self.level_size + 1):
            self.out_of_memory = True
            return
        self.levels[self.level_size] = Level(self.next_level, self.shift, self.zeros)
        self.level_size += 1
        self.next_level += 1
        self.sum += <int128>self.zeros * self.units(self.shift)
        self.active += self.zeros
        self.zeros = 0

    cdef inline int128 units(self, double u) noexcept nogil:
        """A number in units of S."""
        if fabs(u) < self.small:
            return llrint(u * self.to_fine)
        return <int128>(u * self.to_fine)

    cdef inline int128 fine_units(self, double u) noexcept nogil:
        """A number in z / 2^70."""
        cdef int64_t fine
        if fabs(u) < self.small:
            fine = llrint(u * self.to_fine)
            return (<int128>fine << 20) + llrint((u - fine * self.from_fine) * self.to_finer)
        return <int128>(u * self.to_finer)

    # --- the queue ---------------------------------------------------------------------------

    cdef void order_queue(self) noexcept nogil:
        """Before an example: remove stale entries, and update the queue if the table has moved."""
        if self.slots_of_queue != self.table.slots:
            self.enter_all()
        elif (self.active_set.queue.size + self.heap_size > 2 * self.active + 1024
                or self.heap_size > self.active // 16 + 256):
            self.queue_anew()

    cdef void keep(self, Slot** slots, size_t n) noexcept nogil:
        """Queue the features that have left a level and are not in a queue."""
        cdef size_t i
        cdef Slot* s
        for i in range(n):
            s = slots[i]
            if (s.mark != self.constant_mark and s.since != 0 and s.u > self.shift and s.bound > s.u
                    and self.level_since(s.since).u < s.u):
                s.bound = bound_of(s.u, self.shift)
                self.push(s)

    cdef void keep_all(self) noexcept nogil:
        """After an example that was predicted, but not learned."""
        cdef char* slot = NULL
        cdef Slot* s
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            self.keep(&s, 1)

    cdef inline void push(self, const Slot* s) noexcept nogil:
        """An entry for a slot, by its bound."""
        self.push_entry(HeapEntry(rank_of(s.bound), <uint32_t>(s - <const Slot*>self.table.slots)))

    cdef inline void push_entry(self, HeapEntry entry) noexcept nogil:
        if entry.rank < self.active_set.queue.last:
            self.push_low(entry)
        elif put(&self.active_set.queue, entry):
            self.out_of_memory = True

    cdef void push_low(self, HeapEntry entry) noexcept nogil:
        """Onto the heap."""
        cdef size_t i, up
        cdef uint64_t item = <uint64_t>entry.rank << 32 | entry.key
        if reserve(<void**>&self.heap, &self.heap_capacity, self.heap_size + 1, sizeof(uint64_t)):
            self.out_of_memory = True
            return
        i = self.heap_size
        self.heap_size += 1
        while i > 0:
            up = (i - 1) // 4
            if self.heap[up] <= item:
                break
            self.heap[i] = self.heap[up]
            i = up
        self.heap[i] = item

    cdef HeapEntry pop(self) noexcept nogil:
        """Remove the smallest entry from the heap, which is not empty."""
        cdef uint64_t* heap = self.heap
        cdef uint64_t item = heap[0], last, least
        cdef size_t i = 0, first = 1, down, j, size = self.heap_size - 1
        last = heap[size]
        self.heap_size = size
        while first < size:
            down, least = first, heap[first]
            for j in range(first + 1, min(first + 4, size)):
                down = j if heap[j] < least else down
                least = min(least, heap[j])
            if least >= last:
                break
            heap[i] = least
            i = down
            first = 4 * i + 1
        heap[i] = last
        return HeapEntry(<uint32_t>(item >> 32), <uint32_t>item)

    cdef inline Slot* slot_of(self, HeapEntry entry) noexcept nogil:
        """The slot of an entry; NULL if the entry is stale."""
        cdef Slot* s = <Slot*>self.table.slots + entry.key
        return s if s.since != 0 and rank_of(s.bound) == entry.rank else NULL

    cdef uint64_t drop_below(self, double shift) noexcept nogil:
        """Drop every feature of the queue that a shift makes zero; returns their number."""
        cdef uint32_t to = rank_of(below(shift))
        cdef uint64_t dropped = 0
        cdef size_t i
        cdef Slot* s
        self.active_set.due.size = 0
        while self.heap_size > 0 and self.heap[0] >> 32 <= to:
            if append(&self.active_set.due, self.pop()):
                self.out_of_memory = True
        if to >= self.active_set.queue.last and take(&self.active_set.queue, to, &self.active_set.due):
            self.out_of_memory = True
        for i in range(self.active_set.due.size):
            prefetch_write(<Slot*>self.table.slots + self.active_set.due.entries[i].key)
        for i in range(self.active_set.due.size):
            s = self.slot_of(self.active_set.due.entries[i])
            if s == NULL:
                continue
            if s.since == WAITING:
                s.bound = INFINITY
            elif s.u > shift:       # it has risen since, or equals the shift within float precision
                s.bound = bound_of(s.u, shift)
                self.push(s)
            else:
                s.bound = INFINITY
                self.sum -= self.units(s.u)
                self.active -= 1
                dropped += 1
        return dropped

    cdef void queue_anew(self) noexcept nogil:
        """Remove the stale entries, and empty the heap."""
        cdef int j
        cdef size_t i
        cdef Bucket* bucket
        self.active_set.due.size = 0
        for i in range(self.heap_size):
            self.set_aside(HeapEntry(<uint32_t>(self.heap[i] >> 32), <uint32_t>self.heap[i]))
        for j in range(BUCKETS):
            bucket = &self.active_set.queue.buckets[j]
            for i in range(bucket.size):
                self.set_aside(bucket.entries[i])
        self.heap_size = 0
        clear(&self.active_set.queue, rank_of(below(self.shift)))
        for i in range(self.active_set.due.size):
            self.push_entry(self.active_set.due.entries[i])

    cdef inline void set_aside(self, HeapEntry entry) noexcept nogil:
        if self.slot_of(entry) != NULL and append(&self.active_set.due, entry):
            self.out_of_memory = True

    cdef void enter_all(self) noexcept nogil:
        """Rebuild the queue from the table, which has moved."""
        cdef char* slot = NULL
        cdef Slot* s
        self.slots_of_queue = self.table.slots
        self.heap_size = 0
        clear(&self.active_set.queue, rank_of(below(self.shift)))
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            if s.since != 0 and s.mark != self.constant_mark and s.bound < INFINITY:
                self.push(s)

    # --- all at once -------------------------------------------------------------------------

    cdef void catch_up(self, Slot* s) noexcept nogil:
        """Apply the pending updates of a slot; a zero has u = Theta."""
        s.u = max(max(s.u, self.level_since(s.since).u), self.shift)

    cdef void rebuild(self) noexcept nogil:
        """Recompute everything but the weights, from slots without pending updates."""
        cdef char* slot = NULL
        cdef Slot* s
        while self.level_size > 0:
            self.level_size -= 1
            self.levels[self.level_size] = NO_LEVEL
        self.heap_size = 0
        clear(&self.active_set.queue, rank_of(below(self.shift)))
        self.slots_of_queue = self.table.slots
        self.next_level = 1
        self.sum = 0
        self.touched = self.active = self.zeros = 0
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            if s.since == 0 or s.mark == self.constant_mark:
                continue
            s.since = 1
            s.bound = INFINITY
            self.touched += 1
            if s.u > self.shift:
                self.sum += self.units(s.u)
                self.active += 1
                s.bound = bound_of(s.u, self.shift)
                self.push(s)
            else:
                self.zeros += 1

    cdef void rebase(self) noexcept nogil:
        """Subtract the shift from every u."""
        cdef char* slot = NULL
        cdef Slot* s
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            if s.since != 0 and s.mark != self.constant_mark:
                self.catch_up(s)
                s.u -= self.shift
        self.shift = 0
        self.rebuild()

    cdef void normalize(self, char* slot) noexcept nogil:
        if (<Slot*>slot).mark != self.constant_mark:
            if (<Slot*>slot).since == 0:
                (<Slot*>slot).u = UNTOUCHED
            else:
                self.catch_up(<Slot*>slot)

    def on_load(self, slots):
        touched = bytearray(slots)
        cdef char* data = touched
        cdef Slot* s
        cdef size_t i, n = len(touched) // sizeof(Slot)
        for i in range(n):
            s = <Slot*>(data + i * sizeof(Slot))
            if s.u == UNTOUCHED:
                s.u = 0
            elif s.mark != self.constant_mark:       # `descend` detects the intercept by its 0
                s.since = 1
        return touched

    def load(self, scalars, slots):
        cdef size_t n = 0
        cdef char* slot = NULL
        cdef Slot* s
        super().load(scalars, slots)
        while next_slot(self.table, &slot):
            s = <Slot*>slot
            if s.since != 0:
                n += 1
                if not self.shift <= s.u <= LARGEST * self.scale:
                    raise ValueError("a weight is negative or too large")
        if n > self.features or not self.unseen >= 0:
            raise ValueError("there are more weights than features")
        self.rebuild()
        if self.out_of_memory:
            raise MemoryError("no memory for the queue of the simplex")

    def radius_changed(self):
        self.project()
