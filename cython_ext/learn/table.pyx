"""The weight table: an open-addressing hash table from feature keys to slots.

One table serves all rules: the rule defines the size of a slot, the table finds it. Keys are
the whole 32-bit hashes (masked by the learner when `-b` is below 32), so there are nearly no
collisions, and memory is proportional to the number of features that were seen.

Design:

- Key and state are stored in one record, so a feature costs one cache line.
- Linear probing with a load of at most 0.6: the next slot is usually in the same line.
- A free slot is all zeros, so a new table is untouched memory; the mark is the key
  plus one, and the one key whose mark would be zero has its own slot after the last one.
- An example's keys become addresses in one loop. The table grows before that loop if necessary, so
  the addresses stay valid until the next example.
- Slots are free (without a key) or used. `blank` is the initial state of a slot. A used slot that is
  back in that state, such as a truncated weight at zero, is idle (`is_default`), the others are live.
- Before it doubles, it drops idle slots. The others are copied bit by bit: the time of a rebuild has no effect on
  any weight.
- A slot may have several records, one after the other, each with a copy of the mark: one lookup serves several
  rules of the same kind. Each of them has a table that is a view of its record of every slot.
"""

cimport cython
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from vwlite.core.base.fibonacci cimport place_of, shift_of
from vwlite.core.base.simd cimport unlikely
from vwlite.core.base.sorting cimport sort_by_high_half

cdef extern from *:
    """
    #include <stdint.h>
    #include <stdlib.h>
    #if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
    #include <sys/mman.h>
    #ifdef MADV_HUGEPAGE
    #define VWLITE_HUGE ((size_t)1 << 21)
    #endif
    #endif

    /* Large blocks use pages of 2 MB: accesses are spread over the whole table, so with pages of 4 KB nearly
          every one would miss the TLB. */
    #ifdef VWLITE_HUGE
    static void *vwlite_zeros_of(size_t bytes) {
        size_t whole, before;
        char *all, *aligned;
        if (bytes < VWLITE_HUGE) {
            return calloc(1, bytes);
        }
        bytes = (bytes + 65535) / 65536 * 65536;  /* whole pages, whatever their size */
        whole = bytes + VWLITE_HUGE;
        all = (char *)mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (all == (char *)MAP_FAILED) {
            return NULL;
        }
        before = -(uintptr_t)all % VWLITE_HUGE;
        aligned = all + before;
        if (before) {
            munmap(all, before);
        }
        munmap(aligned + bytes, VWLITE_HUGE - before);
        madvise(aligned, bytes, MADV_HUGEPAGE);  /* a hint: it may be refused */
        return aligned;
    }

    static void vwlite_give_back(void *memory, size_t bytes) {
        if (memory && bytes >= VWLITE_HUGE) {
            munmap(memory, (bytes + 65535) / 65536 * 65536);
        } else {
            free(memory);
        }
    }
    #else
    #define vwlite_zeros_of(bytes) calloc(1, bytes)
    #define vwlite_give_back(memory, bytes) free(memory)
    #endif
    """
    void* zeros_of "vwlite_zeros_of"(size_t size) noexcept nogil
    void give_back "vwlite_give_back"(void* memory, size_t size) noexcept nogil

cdef enum:
    SMALLEST = 1024
    LITTLE = 1 << 20    # bytes of a table that may double although few of its slots are used


cdef inline char* near_home(char* slots, size_t stride, int shift, uint32_t mark) noexcept nogil:
    """The slot where the search for a mark starts, or the next one if the first has another mark. Most searches end in
    one of the two, and which one is unpredictable: so it is selected without a branch. (After the last slot
    is that of the last key, whose mark is 0.)"""
    cdef char* slot = slots + place_of(mark, shift) * stride
    return slot + (stride & (0 - <size_t>((<Head*>slot).mark != mark)))


@cython.no_gc_clear   # else the garbage collector clears `owner` before __dealloc__ reads it
cdef class Table:
    """Slots by key, each with `records` records of `record` bytes. `blank`: the initial record, zeros if not given."""

    def __cinit__(self, size_t record, bytes blank=None, size_t records=1):
        cdef const char* initial
        cdef size_t i
        if record < sizeof(Head) or (blank is not None and len(blank) != record):
            raise ValueError("a slot begins with its mark, and the blank one has the same size")
        self.record = record
        self.stride = record * records
        self.blank_is_zero = True
        self.blank = <char*>calloc(1, self.stride)
        if self.blank == NULL or self.allocate(SMALLEST):
            raise MemoryError("no memory for the weight table")
        if blank is not None:
            initial = blank
            for i in range(records):
                memcpy(self.blank + i * record, initial, record)
                memset(self.blank + i * record, 0, sizeof(Head))
            self.blank_is_zero = not any(blank)

    def __dealloc__(self):
        self.give_up()

    cdef void give_up(self) noexcept:
        if self.owner is None:
            give_back(self.slots, (self.capacity + 1) * self.stride)
            free(self.blank)

    cdef void view(self, Table owner, size_t offset):
        """Become a view of the record at that offset in each slot of another table; only that one creates slots."""
        self.give_up()
        self.owner, self.offset = owner, offset
        self.stride = owner.stride
        self.limit = <size_t>-1
        self.sync_view()

    cdef void sync_view(self) noexcept nogil:
        """Copy the current state of the owner: it may have moved, or have more slots."""
        self.slots, self.blank = self.owner.slots + self.offset, self.owner.blank + self.offset
        self.capacity, self.shift = self.owner.capacity, self.owner.shift
        self.used, self.has_last, self.moves = self.owner.used, self.owner.has_last, self.owner.moves

    cdef int allocate(self, size_t capacity) noexcept nogil:
        """Allocate empty memory for `capacity` slots; -1 without memory, and then nothing has changed."""
        cdef char* slots = <char*>zeros_of((capacity + 1) * self.stride)
        if slots == NULL:
            return -1
        self.slots = slots
        self.capacity = capacity
        self.shift = shift_of(capacity)
        self.limit = capacity * 6 // 10
        self.used = 0
        return 0

    cdef int grow(self, size_t n) noexcept nogil:
        """Reserve space for `n` more keys: drop the idle slots, then double as long as necessary."""
        cdef char* old = self.slots
        cdef char* slot
        cdef char* target
        cdef size_t old_capacity = self.capacity
        cdef size_t capacity = self.capacity
        cdef size_t keep = n
        cdef size_t i, at
        cdef uint32_t mark
        for i in range(old_capacity):
            slot = old + i * self.stride
            if (<Head*>slot).mark and not (self.is_default and self.is_default(self.rule, slot)):
                keep += 1
        # Dropping idle slots is worth it only if enough capacity is free afterwards,
        while keep > capacity * 42 // 100:
            capacity *= 2
        # and if there were many lookups since the last rebuild: otherwise dropped slots are soon created again.
        if (capacity == old_capacity and self.asked < 16 * capacity
                and (capacity <= 4 * keep or capacity * self.stride <= LITTLE)):
            capacity *= 2
        self.asked = 0
        if self.allocate(capacity):
            return -1
        self.moves += 1
        for i in range(old_capacity):
            slot = old + i * self.stride
            mark = (<Head*>slot).mark
            if mark and not (self.is_default and self.is_default(self.rule, slot)):
                at = home(self, mark)
                target = self.slots + at * self.stride
                while (<Head*>target).mark:
                    at = (at + 1) & (capacity - 1)
                    target = self.slots + at * self.stride
                memcpy(target, slot, self.stride)
                self.used += 1
        memcpy(self.slots + capacity * self.stride, old + old_capacity * self.stride, self.stride)
        give_back(old, (old_capacity + 1) * self.stride)
        return 0

    cdef int resolve(self, const uint32_t* keys, size_t n, char** out) noexcept nogil:
        """The slots of n keys; missing ones are created. They do not move until the
        next call. -1: out of memory."""
        cdef char* slots
        cdef char* slot
        cdef size_t i
        cdef uint32_t mark
        self.asked += n
        if self.used + n > self.limit and self.grow(n):
            return -1
        slots = self.slots
        for i in range(n):
            mark = keys[i] + 1
            slot = near_home(slots, self.stride, self.shift, mark)
            if unlikely((<Head*>slot).mark != mark or mark == 0):
                slot = self.taken(mark)
            out[i] = slot
        return 0

    cdef int resolve_all(self, const uint32_t* keys, size_t n, char** out) noexcept nogil:
        """`resolve` for many keys of which most are present already: capacity is reserved for the missing ones only."""
        cdef size_t i, missing = 0
        self.asked += n
        self.lookup(keys, n, out)
        for i in range(n):
            missing += out[i] == self.blank
        if missing == 0:
            return 0
        if self.used + missing > self.limit:
            if self.grow(missing):
                return -1
            for i in range(n):      # all have moved
                out[i] = self.taken(keys[i] + 1)
            return 0
        for i in range(n):
            if out[i] == self.blank:
                out[i] = self.taken(keys[i] + 1)
        return 0

    cdef char* taken(self, uint32_t mark) noexcept nogil:
        """The slot of a mark; it is created if it is missing. Capacity must have been reserved."""
        cdef size_t at = home(self, mark)
        cdef char* slot
        if mark == 0:
            slot = self.slots + self.capacity * self.stride
            if self.has_last:
                return slot
            self.has_last = True
        else:
            while True:
                slot = self.slots + at * self.stride
                if (<Head*>slot).mark == mark:
                    return slot
                if (<Head*>slot).mark == 0:
                    break
                at = (at + 1) & (self.capacity - 1)
            self.used += 1
        if not self.blank_is_zero:
            memcpy(slot, self.blank, self.stride)
        at = 0
        while at < self.stride:
            (<Head*>(slot + at)).mark = mark
            at += self.record
        return slot

    cdef void lookup(self, const uint32_t* keys, size_t n, char** out) noexcept nogil:
        """The slots of n keys, the blank slot for missing ones. Changes nothing."""
        cdef char* slots = self.slots
        cdef char* slot
        cdef size_t i
        cdef uint32_t mark
        for i in range(n):
            mark = keys[i] + 1
            slot = near_home(slots, self.stride, self.shift, mark)
            if unlikely((<Head*>slot).mark != mark or mark == 0):
                slot = find(self, keys[i])
                if slot == NULL:
                    slot = self.blank
            out[i] = slot

    cdef size_t live(self, uint64_t* out) noexcept nogil:
        """The positions of the slots that are not idle: key * 2^32 + position, in `out`, which needs space for all
        taken slots and one more. Returns their number."""
        cdef size_t i, n = 0, taken = 0
        cdef uint32_t mark
        for i in range(self.capacity):      # without a branch: which slots are taken is unpredictable
            mark = (<Head*>(self.slots + i * self.stride)).mark
            out[taken] = <uint64_t>(mark - 1) << 32 | i
            taken += mark != 0
        if self.has_last:
            out[taken] = <uint64_t><uint32_t>-1 << 32 | self.capacity
            taken += 1
        if not self.is_default:
            return taken
        for i in range(taken):
            out[n] = out[i]
            n += not self.is_default(self.rule, self.slots + <uint32_t>out[i] * self.stride)
        return n

    cdef size_t count_live(self) noexcept nogil:
        """The number of slots that are not idle."""
        cdef size_t n = 0
        cdef char* slot = NULL
        while next_slot(self, &slot):
            n += not (self.is_default and self.is_default(self.rule, slot))
        return n

    # --- Python interface --------------------------------------------------------------------

    def __len__(self):
        """Number of taken slots, including idle ones."""
        return self.used + self.has_last

    @property
    def nbytes(self):
        return (self.capacity + 1) * self.stride

    def slots_in_order(self):
        """The slots that are not idle, by increasing key, as a bytearray of `stride` bytes each."""
        cdef size_t i, n, most
        cdef size_t stride = self.stride
        cdef uint64_t* places
        cdef uint64_t* sorted
        cdef char* data
        if self.owner is not None:      # the owner may have more slots by now
            self.sync_view()
        most = self.used + self.has_last
        places = <uint64_t*>malloc((2 * most + 1) * sizeof(uint64_t))
        if places == NULL:
            raise MemoryError("no memory for the slots in order")
        try:
            with nogil:
                n = self.live(places)
                sorted = sort_by_high_half(places, places + n, n)    # memory after the end is never touched
            out = bytearray(n * stride)
            data = out
            with nogil:
                for i in range(n):
                    memcpy(data + i * stride, self.slots + <uint32_t>sorted[i] * stride, stride)
        finally:
            free(places)
        return out

    def load(self, const unsigned char[::1] slots):
        """Insert slots as returned by `slots_in_order`, for keys that are not in the table yet."""
        cdef size_t i, n = slots.shape[0] // self.stride
        cdef uint32_t key
        cdef char* slot
        cdef const char* given
        for i in range(n):
            given = <const char*>&slots[i * self.stride]
            key = (<const Head*>given).mark - 1
            if self.resolve(&key, 1, &slot):
                raise MemoryError("no memory for the weight table")
            memcpy(slot, given, self.stride)
