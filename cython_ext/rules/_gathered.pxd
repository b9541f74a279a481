"""Features that occur twice in an example, or share a key: one coordinate, whose value is the sum.

A rule whose update is not linear in the values needs this. Slots begin as `Met` does. There are two ways:

- a list of the distinct features (`gather`);
- for rules that copy the state of an example's features into arrays, compute there and write it back: all
  occurrences of a feature get the sum (`add_up`), so that each of them computes the same and writing
  it twice is harmless. Most examples have no such feature (`met`): then nothing has to be done.
"""

from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc, qsort

from vwlite.core.base.buffers cimport reserve
from vwlite.core.learn.rule cimport Example, iterate, next_chunk


# The values of an example's features, or their sums if some occur twice.
ctypedef fused Value:
    float
    double


cdef struct Weighed:      # Met, and a weight without lazy updates
    uint32_t mark
    uint32_t at
    double w


cdef struct Met:
    uint32_t mark
    uint32_t at           # of the last example with the feature: a number, the last position there, or that in the list


cdef inline bint met(void* slot, uint32_t example_number) noexcept nogil:
    """Record that the example of this number has the feature; returns whether it was recorded already."""
    cdef Met* s = <Met*>slot
    cdef bint before = s.at == example_number
    s.at = example_number
    return before


cdef inline void add_up(char** slots, const float* x, size_t n, double* sums) noexcept nogil:
    """Set every occurrence of a feature to the sum of its values; `at` is its last position then."""
    cdef size_t i
    for i in range(n):
        (<Met*>slots[i]).at = <uint32_t>i
        sums[i] = 0
    for i in range(n):
        sums[(<Met*>slots[i]).at] += x[i]
    for i in range(n):
        sums[i] = sums[(<Met*>slots[i]).at]


# --- a list of the features, each once

cdef enum:
    CHUNK = 1 << 14       # features of an oversized example that are learned at a time


cdef struct SummedFeature:
    char* slot
    double x              # the sum
    size_t last           # the last position of the feature


cdef struct Gathering:
    SummedFeature* features    # owned, by first position
    size_t size, capacity
    char** slots          # owned, [CHUNK]; of those that are learned at a time


cdef inline int by_last(const void* a, const void* b) noexcept nogil:
    cdef size_t one = (<const SummedFeature*>a).last, other = (<const SummedFeature*>b).last
    return (one > other) - (one < other)


cdef inline int gather(Gathering* g, const Example* e) noexcept nogil:
    """List the features of an example; `at` is their place in the list then. -1: no memory."""
    cdef size_t i, j, place = 0
    cdef Met* s
    cdef Example part = iterate(e)
    g.size = 0
    while next_chunk(&part):
        if reserve(<void**>&g.features, &g.capacity, g.size + part.size, sizeof(SummedFeature)):
            return -1
        for i in range(part.size):
            s = <Met*>part.slots[i]
            j = s.at
            if j < g.size and g.features[j].slot == <char*>s:
                g.features[j].x += part.x[i]
            else:
                j = g.size
                s.at = <uint32_t>j
                g.features[j].slot, g.features[j].x = <char*>s, part.x[i]
                g.size += 1
            g.features[j].last = place
            place += 1
    if g.size < place:
        for j in range(g.size):
            g.features[j].x += 0.0      # as if each sum had started at 0, which matters only for -0
    return 0


cdef inline int gather_chunks(Gathering* g, const Example* e) noexcept nogil:
    """`gather` for an example whose features are learned in chunks; -1: no memory."""
    if g.slots == NULL:
        g.slots = <char**>malloc(CHUNK * sizeof(char*))
    return -1 if g.slots == NULL else gather(g, e)


cdef inline void chunk_of(Gathering* g, size_t begin, size_t n, double* x) noexcept nogil:
    """Copy n features of the list into `slots` and their sums into x."""
    cdef size_t i
    for i in range(n):
        g.slots[i] = g.features[begin + i].slot
        x[i] = g.features[begin + i].x


cdef inline void sort_by_last(Gathering* g) noexcept nogil:
    """Order the list by the last position of each feature."""
    qsort(g.features, g.size, sizeof(SummedFeature), by_last)


cdef inline void give_back(Gathering* g) noexcept nogil:
    free(g.features)
    free(g.slots)
    g[0] = Gathering(NULL, 0, 0, NULL)


cdef inline double dot(const Example* e) noexcept nogil:
    """The sum of w x of slots that begin as Weighed, in two sums, so that additions overlap."""
    cdef size_t i, n
    cdef char** slots
    cdef const float* x
    cdef double even = 0, odd = 0
    cdef Example part = iterate(e)
    while next_chunk(&part):
        slots, x, n = part.slots, part.x, part.size
        i = 0
        while i + 1 < n:
            even += (<Weighed*>slots[i]).w * x[i]
            odd += (<Weighed*>slots[i + 1]).w * x[i + 1]
            i += 2
        if i < n:
            even += (<Weighed*>slots[i]).w * x[i]
    return even + odd


cdef inline double product(const double* w, const float* x, size_t n) noexcept nogil:
    """<w, x>, as two sums, so that additions overlap."""
    cdef size_t i = 0
    cdef double even = 0, odd = 0
    while i + 1 < n:
        even += w[i] * x[i]
        odd += w[i + 1] * x[i + 1]
        i += 2
    if i < n:
        even += w[i] * x[i]
    return even + odd
