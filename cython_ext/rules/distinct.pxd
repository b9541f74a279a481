"""The distinct features of an example.

A feature that stands twice in an example, or two that share a key, are one coordinate whose value is the sum. A rule
whose update is not linear in the values needs them so. Its slots begin as `Seen` does; `place` is 0 but between
`merge` and the end of the update, which sets it back, and `w` is the weight.
"""

from libc.stdint cimport uint32_t
from libc.stdlib cimport free

from vwlite.core.base.buffers cimport ample, resize
from vwlite.core.learn.rule cimport Example, next_piece, sweep


cdef struct Seen:
    uint32_t mark
    uint32_t place      # 1 + where the feature stands in the list
    double w


cdef struct Distinct:
    char** slots        # owned by the rule, as x; [capacity]
    double* x
    size_t size, capacity


cdef inline int merge(Distinct* d, const Example* e) noexcept nogil:
    """List the distinct features of an example; -1: no memory, and no feature has a place."""
    cdef size_t i, n, size = 0
    cdef Seen* s
    cdef char** slots
    cdef const float* x
    cdef Example part = sweep(e)
    while next_piece(&part):
        slots, x, n = part.slots, part.x, part.size
        if size + n > d.capacity and grow(d, ample(size + n)):
            for i in range(size):
                (<Seen*>d.slots[i]).place = 0
            return -1
        for i in range(n):
            s = <Seen*>slots[i]
            if s.place == 0:
                d.slots[size] = slots[i]
                d.x[size] = x[i]
                size += 1
                s.place = <uint32_t>size
            else:
                d.x[s.place - 1] += x[i]
    d.size = size
    return 0


cdef inline int grow(Distinct* d, size_t capacity) noexcept nogil:
    if resize(<void**>&d.slots, capacity, sizeof(char*)) or resize(<void**>&d.x, capacity, sizeof(double)):
        return -1
    d.capacity = capacity
    return 0


cdef inline void release(Distinct* d) noexcept nogil:
    free(d.slots)
    free(d.x)


cdef inline double dot(const Example* e) noexcept nogil:
    """The sum of w x, in two sums, so that additions overlap."""
    cdef size_t i, n
    cdef char** slots
    cdef const float* x
    cdef double even = 0, odd = 0
    cdef Example part = sweep(e)
    while next_piece(&part):
        slots, x, n = part.slots, part.x, part.size
        i = 0
        while i + 1 < n:
            even += (<Seen*>slots[i]).w * x[i]
            odd += (<Seen*>slots[i + 1]).w * x[i + 1]
            i += 2
        if i < n:
            even += (<Seen*>slots[i]).w * x[i]
    return even + odd
