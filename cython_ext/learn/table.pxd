"""The weight table: from the key of a feature to its slot. See table.pyx."""

from libc.stdint cimport uint32_t, uint64_t

from vwlite.core.base.fibonacci cimport place_of
from vwlite.core.base.prefetch cimport prefetch_write


# Every slot begins with this field. 0: a free slot; else the key plus one.
cdef struct Head:
    uint32_t mark


ctypedef bint (*IsDefault)(void* rule, const char* slot) noexcept nogil


cdef class Table:
    cdef char* slots          # owned; capacity slots, and one for the key 2^32 - 1, whose mark would be 0
    cdef char* blank          # owned; one slot in the initial state, used for unseen features
    cdef size_t stride        # bytes from one slot to the next
    cdef size_t record        # bytes of one of the records that make a slot; each begins with the mark
    cdef size_t capacity      # a power of two
    cdef size_t used          # slots taken, including idle ones
    cdef size_t limit         # above this number, the table is rebuilt first
    cdef size_t asked         # keys that were looked up since the last rebuild
    cdef uint64_t moves       # number of rebuilds: each one moves all slots
    cdef int shift
    cdef bint has_last        # the slot after the last is taken
    cdef bint blank_is_zero   # the initial state is all zero bytes
    cdef IsDefault is_default            # whether a slot is in its initial state; NULL: never
    cdef void* rule           # its first argument; borrowed
    cdef Table owner          # if this table is a view of one record of each slot: the table that owns slots and blank
    cdef size_t offset        # of that record

    cdef int allocate(self, size_t capacity) noexcept nogil
    cdef int grow(self, size_t n) noexcept nogil
    cdef int resolve(self, const uint32_t* keys, size_t n, char** out) noexcept nogil
    cdef char* taken(self, uint32_t mark) noexcept nogil
    cdef int resolve_all(self, const uint32_t* keys, size_t n, char** out) noexcept nogil
    cdef void lookup(self, const uint32_t* keys, size_t n, char** out) noexcept nogil
    cdef size_t live(self, uint64_t* out) noexcept nogil
    cdef size_t count_live(self) noexcept nogil
    cdef void give_up(self) noexcept
    cdef void view(self, Table owner, size_t offset)
    cdef void sync_view(self) noexcept nogil


cdef inline size_t home(Table table, uint32_t mark) noexcept nogil:
    """The position where the search for a mark starts."""
    return place_of(mark, table.shift)


cdef inline char* find(Table table, uint32_t key) noexcept nogil:
    """The slot of a key, or NULL."""
    cdef uint32_t mark = key + 1
    cdef size_t at
    cdef char* slot
    if mark == 0:
        return table.slots + table.capacity * table.stride if table.has_last else NULL
    at = home(table, mark)
    while True:
        slot = table.slots + at * table.stride
        if (<Head*>slot).mark == mark:
            return slot
        if (<Head*>slot).mark == 0:
            return NULL
        at = (at + 1) & (table.capacity - 1)


cdef inline void prefetch(Table table, const uint32_t* keys, size_t n) noexcept nogil:
    """Prefetch the slots of an example that is needed soon."""
    cdef size_t i
    cdef char* slots = table.slots
    cdef size_t stride = table.stride
    cdef int shift = table.shift
    for i in range(n):
        prefetch_write(slots + stride * place_of(keys[i] + <uint32_t>1, shift))


cdef inline bint next_slot(Table table, char** slot) noexcept nogil:
    """Iterate over the slots that are taken: `while next_slot(table, &slot)`, which is NULL before and after."""
    cdef char* last = table.slots + table.capacity * table.stride
    cdef char* s = table.slots if slot[0] == NULL else slot[0] + table.stride
    while s < last and (<Head*>s).mark == 0:
        s += table.stride
    slot[0] = s if s < last or (s == last and table.has_last) else NULL
    return slot[0] != NULL
