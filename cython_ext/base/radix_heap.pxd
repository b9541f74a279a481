"""A monotone queue: a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan 1990). It only appends, and scans short arrays.

An entry is a rank, an integer by which the queue is ordered, and a key, which identifies the feature. `last` never
falls; no valid entry ranks below it. An entry is stored in the bucket of the highest bit in which its rank differs from
`last`: those in lower buckets come earlier, and when `last` rises only the buckets up to the highest bit that changes
are scanned. An entry moves to a lower bucket each time, so at most 32 times.

The queue does not detect stale entries: its user does.
"""

from libc.stdint cimport uint32_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from vwlite.core.base.buffers cimport reserve

cdef extern from *:
    """
    #define vwlite_bit_length(x) ((x) ? 32 - __builtin_clz(x) : 0)
    """
    int bit_length "vwlite_bit_length" (uint32_t x) noexcept nogil

cdef enum:
    BUCKETS = 33


cdef struct HeapEntry:
    uint32_t rank
    uint32_t key


cdef struct Bucket:
    HeapEntry* entries    # owned by the bucket's owner
    size_t size, capacity


cdef struct Queue:
    Bucket buckets[BUCKETS]
    uint32_t last
    size_t size       # entries in all buckets


cdef inline uint32_t bits_of(float f) noexcept nogil:
    """A positive float as a rank: their order is that of their bits."""
    cdef uint32_t bits
    memcpy(&bits, &f, 4)
    return bits


cdef inline float below(double u) noexcept nogil:
    """The largest float that is at most u."""
    cdef float f = <float>u
    cdef uint32_t bits
    if f <= u:
        return f
    bits = bits_of(f)
    if f > 0:
        bits -= 1
    elif f < 0:
        bits += 1
    else:
        bits = 0x80000001       # the negative float next to zero
    memcpy(&f, &bits, 4)
    return f


cdef inline int append(Bucket* bucket, HeapEntry entry) noexcept nogil:
    """-1: no memory, and nothing has changed."""
    if reserve(<void**>&bucket.entries, &bucket.capacity, bucket.size + 1, sizeof(HeapEntry)):
        return -1
    bucket.entries[bucket.size] = entry
    bucket.size += 1
    return 0


cdef inline int put(Queue* queue, HeapEntry entry) noexcept nogil:
    """-1: no memory."""
    if append(&queue.buckets[bit_length(entry.rank ^ queue.last)], entry):
        return -1
    queue.size += 1
    return 0


cdef inline int take(Queue* queue, uint32_t to, Bucket* due) noexcept nogil:
    """Raise `last` to `to`, and move the entries that rank no higher to the end of `due`; -1: no memory."""
    cdef int i, failed = 0
    cdef int top = bit_length(to ^ queue.last)
    cdef size_t j
    cdef Bucket* bucket
    cdef HeapEntry entry
    queue.last = to
    for i in range(top + 1):    # below the top all are due; from the top, those above `to` go to emptied buckets
        bucket = &queue.buckets[i]
        for j in range(bucket.size):
            entry = bucket.entries[j]
            if entry.rank > to:
                failed |= append(&queue.buckets[bit_length(entry.rank ^ to)], entry)
            else:
                failed |= append(due, entry)
                queue.size -= 1
        bucket.size = 0
    return failed


cdef inline void clear(Queue* queue, uint32_t last) noexcept nogil:
    """Delete all entries, and restart at `last`."""
    cdef int i
    for i in range(BUCKETS):
        queue.buckets[i].size = 0
    queue.size = 0
    queue.last = last


cdef inline void free_queue(Queue* queue) noexcept nogil:
    cdef int i
    for i in range(BUCKETS):
        free(queue.buckets[i].entries)
