"""Sorting many numbers."""

from libc.stddef cimport size_t
from libc.stdint cimport uint64_t
from libc.string cimport memset


cdef inline uint64_t* sort_by_high_half(uint64_t* items, uint64_t* spare, size_t n) noexcept nogil:
    """Sort by the upper 32 bits, those with the same ones as they stand. `spare` has as much room; one of the two is
    where they are then."""
    cdef size_t count[4][256]
    cdef size_t* begin
    cdef size_t i, sum, size
    cdef int byte, shift
    memset(count, 0, sizeof(count))
    for i in range(n):
        for byte in range(4):
            count[byte][(items[i] >> (32 + 8 * byte)) & 255] += 1
    for shift in range(32, 64, 8):
        begin = count[(shift - 32) // 8]
        if n == 0 or begin[(items[0] >> shift) & 255] == n:     # the same byte in all of them
            continue
        sum = 0
        for byte in range(256):
            size = begin[byte]
            begin[byte] = sum
            sum += size
        for i in range(n):
            byte = (items[i] >> shift) & 255
            spare[begin[byte]] = items[i]
            begin[byte] += 1
        items, spare = spare, items
    return items
