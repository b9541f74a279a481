"""The features of a model, for parsers of tables: whether the model knows a word."""

from libc.stddef cimport size_t
from libc.stdint cimport uint32_t, uint64_t

cdef enum:
    FEW_KEYS = 8    # that are looked at one after the other


# Keys that begin with the same bits stand together: keys[first[b]] and on are those that begin with b. Owned by KnownKeys.
cdef struct Known:
    const uint32_t* keys
    uint32_t* first
    uint32_t mask       # from a hash to a key
    int shift           # from a key to b
    bint words          # words that are none of these are unknown; else only absent cells are limited to these


cdef class KnownKeys:
    cdef Known known
    cdef const uint32_t[::1] keys


cdef inline bint is_known(const Known* known, uint32_t hash) noexcept nogil:
    """Whether the model has a feature. Two places in memory are read, mostly, as hashes are spread evenly."""
    cdef uint32_t key = hash & known.mask
    cdef size_t begins = <size_t>(<uint64_t>key >> known.shift)
    cdef size_t low = known.first[begins], high = known.first[begins + 1], middle
    while high - low > FEW_KEYS:
        middle = low + (high - low) // 2
        if known.keys[middle] <= key:
            low = middle
        else:
            high = middle
    while low < high:
        if known.keys[low] == key:
            return True
        low += 1
    return False
