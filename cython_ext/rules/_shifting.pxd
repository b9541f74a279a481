"""One global shift Theta: a weight is |u| - Theta, and what a risen Theta leaves behind is found by a queue.

The queue is monotone (radix_heap.pxd); an entry is a lower bound of |u| as a rank, and a key that says whose it is. A weight
that rises keeps its entry; when Theta comes to it, it is put in again with the bound of now. One that falls below its
bound gets a new entry, and the old one is stale: its rank is not that of the bound in the slot. A feature that has just
become active waits outside until Theta is known, as most of them are dropped at once.

What is summed over the active features to find Theta is each rule's own, as are ranks and keys.
"""

from libc.stdint cimport uint32_t
from libc.stdlib cimport free

from vwlite.core.base.buffers cimport reserve
from vwlite.core.rules.radix_heap cimport Bucket, Entry, Queue, free_queue, put, take


cdef struct Shifting:
    Queue queue           # of the active features that do not wait; no entry that is valid ranks below the shift
    Bucket due            # owned; what was taken from the queue
    void** waiting        # owned; the slots of features that wait ...
    size_t size, capacity # ... and how many they are


cdef inline int room_to_wait(Shifting* m, size_t n) noexcept nogil:
    """Make room for n more features to wait; -1: no memory."""
    return reserve(<void**>&m.waiting, &m.capacity, m.size + n, sizeof(void*))


cdef inline void wait(Shifting* m, void* slot) noexcept nogil:
    """There is room for it."""
    m.waiting[m.size] = slot
    m.size += 1


cdef inline int push(Shifting* m, uint32_t rank, uint32_t key) noexcept nogil:
    """An entry; -1: no memory."""
    return put(&m.queue, Entry(rank, key))


cdef inline int due_at(Shifting* m, uint32_t rank) noexcept nogil:
    """Take the entries up to this rank from the queue, which goes on from there, to the end of `due`; -1: no memory."""
    return take(&m.queue, rank, &m.due)


cdef inline void free_shifting(Shifting* m) noexcept nogil:
    free_queue(&m.queue)
    free(m.due.entries)
    free(m.waiting)
