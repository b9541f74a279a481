"""With which scales lanes begin to learn rare features that have values.

A weight is for values up to the scale of its feature, the largest |x| so far. A feature of few examples may have had small
values only: then its weight is large, and a larger value in a new example gives a score beyond all others. Examples out of
fold do not show it, as scales are of all examples. So the scale of such a feature begins with a large value of features of
its kind: the least one that 99 of 100 values of the rare features of its namespace do not exceed.

Rare are features that fewer than 100 examples have, and fewer than half of all. Others show their scales themselves, which
say nothing about those of rare ones; nor do words, whose values are all 1 as they are read.
"""

from libc.math cimport fabs
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, qsort

from vwlite.core.auto.order cimport is_used
from vwlite.core.base.buffers cimport reserve
from vwlite.core.data.batch cimport Arrays, Batch
from vwlite.core.data.expand cimport WHOLE, Expander
from vwlite.core.learn.table cimport Table, find, next_slot

cdef enum:
    MANY = 100              # examples that show the scale of a feature


cdef struct Value:
    float size
    uint32_t namespace


cdef class Starts:
    """Of no feature, before `find_starts`."""

    def __getitem__(self, uint32_t key):
        """The scale that a feature begins with; 0: with its first value."""
        return self.of(key)

    cdef float of(self, uint32_t key) noexcept nogil:
        cdef const ColumnCount* c = <ColumnCount*>find(self.columns, key)
        return self.start[c.namespace] if c != NULL and begins_large(c, self.examples) else 0


cdef bint begins_large(const ColumnCount* c, size_t examples) noexcept nogil:
    """Whether a feature is rare and no word."""
    return c.count < MANY and 2 * <size_t>c.count < examples and (c.differs or c.first != 1)


cdef int by_namespace(const void* a, const void* b) noexcept nogil:
    cdef const Value* x = <const Value*>a
    cdef const Value* y = <const Value*>b
    if x.namespace != y.namespace:
        return 1 if x.namespace > y.namespace else -1
    return (x.size > y.size) - (x.size < y.size)


cdef Starts find_starts(Table columns, size_t examples, Expander expander, batches):
    """columns: of `ColumnCount`. expander: with the normalization of the values. batches: a sample of the examples. None, if
    no feature has one. MemoryError."""
    cdef Starts found = Starts()
    cdef Batch batch
    cdef Value* values = NULL
    cdef char* slot = NULL
    cdef size_t capacity = 0, n = 0, i, end
    cdef int failed = 0
    cdef bint some = False
    with nogil:
        while not some and next_slot(columns, &slot):
            some = begins_large(<ColumnCount*>slot, examples)
    if not some:
        return None
    found.columns, found.examples = columns, examples
    try:
        for batch in batches:
            if batch.decode():
                raise MemoryError("no memory for the hashes of a batch")
            with nogil:
                failed = take(found, &batch.a, expander, &values, &n, &capacity)
            if failed:
                raise MemoryError("no memory for a sample of values")
        with nogil:
            qsort(values, n, sizeof(Value), by_namespace)
            i = 0
            while i < n:
                end = i
                while end < n and values[end].namespace == values[i].namespace:
                    end += 1
                found.start[values[i].namespace] = values[i + (99 * (end - i) + 99) // 100 - 1].size
                i = end
    finally:
        free(values)
    return found


cdef int take(Starts self, const Arrays* a, Expander expander, Value** values, size_t* n, size_t* capacity) noexcept nogil:
    """Add the values of rare features of a batch; -1: no memory."""
    cdef size_t line, i
    cdef const ColumnCount* c
    for line in range(a.lines):
        if not is_used(a, line) or expander.expand(a, line, 0, False) != WHOLE:
            continue
        if reserve(<void**>values, capacity, n[0] + expander.buffers[0].size, sizeof(Value)):
            return -1
        for i in range(expander.buffers[0].size):
            c = <ColumnCount*>find(self.columns, expander.buffers[0].keys[i])
            if c != NULL and begins_large(c, self.examples):
                values[0][n[0]].size, values[0][n[0]].namespace = fabs(expander.buffers[0].values[i]), c.namespace
                n[0] += 1
    return 0
