"""The active set of a rule: that of base/active_set.pxd, with its slots in the rule's table."""

from libc.stdint cimport uint32_t, uint64_t

from vwlite.core.base.active_set cimport ActiveSet, drop_waiting, is_valid, push, rank_below, sift_due, size_in, take_due
from vwlite.core.base.prefetch cimport prefetch_write
from vwlite.core.base.radix_heap cimport BUCKETS, Bucket, clear
from vwlite.core.learn.table cimport Table, find, home, next_slot


cdef inline size_t drop_below(ActiveSet* m, Table table, double shift) noexcept nogil:
    """List the features of a table that a shift drops in `dropped`, the waiting ones first; returns their number."""
    cdef size_t i, n = drop_waiting(m, shift)
    take_due(m, rank_below(shift), n)
    for i in range(m.due.size):
        prefetch_write(table.slots + table.stride * home(table, m.due.entries[i].key + <uint32_t>1))
    for i in range(m.due.size):
        m.found[i] = find(table, m.due.entries[i].key)
    for i in range(sift_due(m, shift, &n)):
        push(m, m.found[i], rank_below(size_in(m.found[i])))
    return n


cdef inline void remove_stale(ActiveSet* m, Table table, size_t active) noexcept nogil:
    """Remove the stale entries if they are many compared with the number of active features."""
    cdef int i
    cdef size_t j, kept
    cdef Bucket* bucket
    if m.queue.size <= 2 * active + 1024:
        return
    m.queue.size = 0
    for i in range(BUCKETS):
        bucket = &m.queue.buckets[i]
        kept = 0
        for j in range(bucket.size):
            if is_valid(m, find(table, bucket.entries[j].key), bucket.entries[j]):
                bucket.entries[kept] = bucket.entries[j]
                kept += 1
        bucket.size = kept
        m.queue.size += kept


cdef inline void rebuild(ActiveSet* m, Table table, double shift, uint64_t intercept) noexcept nogil:
    """Requeue all active features of a table; `intercept` is the mark of the intercept, which is never shrunk."""
    cdef char* slot = NULL
    clear(&m.queue, rank_below(shift))
    while next_slot(table, &slot):
        if size_in(slot) != 0 and (<uint32_t*>slot)[0] != intercept:
            push(m, slot, rank_below(size_in(slot)))
