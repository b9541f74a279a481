"""Sorting many numbers."""

from libc.stddef cimport size_t
from libc.stdint cimport uint64_t
from libc.string cimport memset


cdef inline uint64_t* sort_by_high_half(uint64_t* items, uint64_t* spare, size_t n) noexcept nogil:
    """Sort by the upper 32 bits, stable. `spare` has the same size; the result is in one of the
    two, which is returned."""
    cdef size_t count[256]
    cdef size_t i, sum, size
    cdef uint64_t differ = 0
    cdef int byte, shift
    for i in range(n):
        differ |= items[i] ^ items[0]
    for shift in range(32, 64, 8):
        if not (differ >> shift) & 255:
            continue
        memset(count, 0, sizeof(count))
        for i in range(n):
            count[(items[i] >> shift) & 255] += 1
        sum = 0
        for byte in range(256):
            size = count[byte]
            count[byte] = sum
            sum += size
        for i in range(n):
            byte = (items[i] >> shift) & 255
            spare[count[byte]] = items[i]
            count[byte] += 1
        items, spare = spare, items
    return items
