"""Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4): places in open-addressing tables of 2^k places.

Good for murmured and for running keys: the high bits of a product with 2^64 over the golden ratio.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint32_t, uint64_t


cdef inline size_t place_of(uint32_t key, int shift) noexcept nogil:
    """Where the search for a key begins. shift: `shift_of` the places."""
    return (key * <uint64_t>0x9E3779B97F4A7C15) >> shift


cdef inline int shift_of(size_t places) noexcept nogil:
    """For a table with `places` places, a power of two and at least 2."""
    cdef int shift = 64
    while places > 1:
        places //= 2
        shift -= 1
    return shift
