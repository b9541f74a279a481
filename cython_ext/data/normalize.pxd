"""What is done to the values of an example before it is learned. See normalize.pyx."""

from libc.stdint cimport uint16_t, uint32_t, uint64_t

cdef enum Normalization:
    NONE = 0
    L2 = 1
    LOG = 2
    CENTER = 3

cdef enum:
    MOST_DENSE = 300        # columns that `center` takes
    PLACES = 1024           # of their keys in a table


cdef class Normalizer:
    cdef readonly str name
    cdef Normalization kind
    # Equal keys are found by a table of positions that is not cleared: `stamp` marks those of the current example.
    cdef uint64_t* seen       # owned, [capacity]: stamp << 32 | position
    cdef size_t capacity
    cdef uint32_t stamp
    # The columns that are centered.
    cdef readonly size_t extra        # features that `apply` may add
    cdef uint32_t dense_key[MOST_DENSE]
    cdef double mean[MOST_DENSE]
    cdef bint equal[MOST_DENSE]       # all values of the column are equal: it is left out
    cdef float centered[MOST_DENSE]
    cdef uint16_t place[PLACES]       # 1 + the column of the key at this place

    cdef int apply(self, uint32_t* keys, float* values, size_t* size) noexcept nogil
