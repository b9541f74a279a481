"""Sorting many numbers."""

from libc.stddef cimport size_t
from libc.stdint cimport uint64_t
from libc.string cimport memset


cdef inline void sort_by_high_half(uint64_t* items, uint64_t* spare, size_t n) noexcept nogil:
    """Sort by the upper 32 bits, byte by byte from the lowest one; `spare` has as much room."""
    cdef size_t count[256]
    cdef size_t i, sum
    cdef int byte, shift
    for shift in range(32, 64, 8):
        memset(count, 0, sizeof(count))
        for i in range(n):
            count[(items[i] >> shift) & 255] += 1
        sum = 0
        for byte in range(256):
            sum += count[byte]
            count[byte] = sum - count[byte]
        for i in range(n):
            byte = (items[i] >> shift) & 255
            spare[count[byte]] = items[i]
            count[byte] += 1
        items, spare = spare, items
