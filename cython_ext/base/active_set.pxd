"""The active set of a projection: features with a nonzero weight, and a queue that finds those that become zero.

One global shift Theta represents all the shrinkage: a weight is |u| - Theta, and a feature is active while |u| > Theta.
Raising Theta drops the active features with |u| <= Theta. A monotone queue (radix_heap.pxd) finds them; an entry is the
key of a feature and a rank, which encodes a lower bound of its |u|.

- A weight that grows keeps its entry; when Theta reaches the entry, the feature is queued again with its current |u|.
- A weight that falls below its bound gets a new entry, and the old one is stale: its rank is not the one in the slot.
- A feature that has just become active is kept in a waiting list until Theta is known, as most of them
  are dropped at once.

Its user keeps its own sums over the active features to compute Theta. So a projection has rounds: a shift is computed
from the sums, the features that it drops are listed and subtracted from the sums, until no feature is dropped.

Slots begin with a mark, the key plus one, and have u at U_AT. They are accessed by offset, not as a
struct: each user has its own struct. Where the slot of a key is only the user knows: rules/_active_slots.pxd is for
those of a table.
"""

from libc.math cimport fabs
from libc.stdint cimport uint32_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from vwlite.core.base.buffers cimport reserve
from vwlite.core.base.prefetch cimport prefetch_write
from vwlite.core.base.radix_heap cimport BUCKETS, Bucket, HeapEntry, Queue, below, bits_of, clear, free_queue, put, take

cdef enum:
    AHEAD = 16            # prefetch distance
    U_AT = 8
    WAITING = 0xFFFFFFFF  # the rank of a feature without an entry. As a float it is NaN: nothing is below it


cdef struct ActiveSet:
    Queue queue           # of the active features that do not wait; no entry that is valid ranks below the shift
    Bucket due            # owned; entries taken from the queue ...
    char** found          # owned; ... and their slots
    size_t found_capacity
    char** waiting        # owned; the slots of features that wait. A feature whose u is 0 does not count, nor does the
    size_t size, capacity # ... second occurrence of one that is listed twice
    char** dropped        # owned; the slots of features that `drop_below` drops
    size_t dropped_capacity
    size_t rank_at        # where a slot has its rank
    bint out_of_memory    # the queue is not complete


cdef inline uint32_t rank_below(double u) noexcept nogil:
    """The rank of the largest float that is at most u."""
    return bits_of(below(u))


cdef inline float bound_of(uint32_t rank) noexcept nogil:
    """The float with a given rank."""
    cdef float bound
    memcpy(&bound, &rank, 4)
    return bound


cdef inline double size_in(const char* slot) noexcept nogil:
    """|u|"""
    return fabs((<const double*>(slot + U_AT))[0])


cdef inline uint32_t* rank_in(const ActiveSet* m, char* slot) noexcept nogil:
    return <uint32_t*>(slot + m.rank_at)


cdef inline int reserve_waiting(ActiveSet* m, size_t n) noexcept nogil:
    """Reserve space for n more waiting features; -1: no memory."""
    if reserve(<void**>&m.waiting, &m.capacity, m.size + n, sizeof(char*)):
        m.out_of_memory = True
        return -1
    return 0


cdef inline void add_waiting(ActiveSet* m, char* slot) noexcept nogil:
    """Space must have been reserved."""
    m.waiting[m.size] = slot
    m.size += 1


cdef inline void wait(ActiveSet* m, char* slot) noexcept nogil:
    """The same for a feature whose entries are stale."""
    rank_in(m, slot)[0] = WAITING
    add_waiting(m, slot)


cdef inline void push(ActiveSet* m, char* slot, uint32_t rank) noexcept nogil:
    """Put a feature into the queue."""
    rank_in(m, slot)[0] = rank
    m.out_of_memory |= put(&m.queue, HeapEntry(rank, (<uint32_t*>slot)[0] - 1)) != 0


cdef inline void queue_waiting(ActiveSet* m) noexcept nogil:
    """Put the waiting features into the queue."""
    cdef size_t i
    for i in range(m.size):
        if size_in(m.waiting[i]) != 0 and rank_in(m, m.waiting[i])[0] == WAITING:
            push(m, m.waiting[i], rank_below(size_in(m.waiting[i])))
    m.size = 0


# --- a round of a projection

cdef inline size_t drop_waiting(ActiveSet* m, double shift) noexcept nogil:
    """List the waiting features that a shift drops, in their order, as the first of `dropped`; returns their number."""
    cdef size_t i, kept = 0, n = 0
    cdef char* slot
    cdef bint stays
    if reserve(<void**>&m.dropped, &m.dropped_capacity, m.size, sizeof(char*)):
        m.out_of_memory = True
        return 0
    for i in range(m.size):     # without a branch: which ones stay is unpredictable
        slot = m.waiting[i]
        stays = size_in(slot) > shift
        m.waiting[kept] = m.dropped[n] = slot
        kept += stays
        n += not stays
    m.size = kept
    return n


cdef inline void take_due(ActiveSet* m, uint32_t rank, size_t dropped) noexcept nogil:
    """Move the entries up to a rank from the queue to `due`, with space for their slots in
    `found` and after the dropped ones in `dropped`."""
    m.due.size = 0
    m.out_of_memory |= take(&m.queue, rank, &m.due) != 0
    if (reserve(<void**>&m.found, &m.found_capacity, m.due.size, sizeof(char*))
            or reserve(<void**>&m.dropped, &m.dropped_capacity, dropped + m.due.size, sizeof(char*))):
        m.out_of_memory = True
        m.due.size = 0


cdef inline bint is_valid(const ActiveSet* m, char* slot, HeapEntry entry) noexcept nogil:
    """Whether an entry is the one of a feature. The slot may be NULL."""
    return slot != NULL and rank_in(m, slot)[0] == entry.rank and size_in(slot) != 0


cdef inline size_t sift_due(ActiveSet* m, double shift, size_t* dropped) noexcept nogil:
    """Of the features in `found`, append those that a shift drops to `dropped`, and keep those that have risen since
    they were queued; returns the number of dropped ones."""
    cdef size_t i, risen = 0
    cdef char* slot
    for i in range(m.due.size):
        if i + AHEAD < m.due.size:
            prefetch_write(m.found[i + AHEAD])
        slot = m.found[i]
        if not is_valid(m, slot, m.due.entries[i]):
            continue
        rank_in(m, slot)[0] = WAITING       # so that another entry of it is stale
        if size_in(slot) > shift:
            m.found[risen] = slot
            risen += 1
        else:
            m.dropped[dropped[0]] = slot
            dropped[0] += 1
    return risen


cdef inline void free_active_set(ActiveSet* m) noexcept nogil:
    free_queue(&m.queue)
    free(m.due.entries)
    free(m.found)
    free(m.waiting)
    free(m.dropped)
