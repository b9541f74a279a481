"""MurmurHash3_x86_32, and Vowpal Wabbit's hash of names on top of it.

Written for names of a few bytes: up to seven need no loop and no branch on their length. The reference
is the mmh3 package, in `vwlite/hashing.py`. Little-endian.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy


cdef inline uint32_t rotl(uint32_t x, int r) noexcept nogil:
    return (x << r) | (x >> (32 - r))


cdef inline uint32_t scramble(uint32_t k) noexcept nogil:
    return rotl(k * <uint32_t>0xCC9E2D51, 15) * <uint32_t>0x1B873593


cdef inline uint32_t add_block(uint32_t h, uint32_t k) noexcept nogil:
    return rotl(h ^ scramble(k), 13) * 5 + <uint32_t>0xE6546B64


cdef inline uint32_t finish(uint32_t h, uint32_t size) noexcept nogil:
    h ^= size
    h = (h ^ (h >> 16)) * <uint32_t>0x85EBCA6B
    h = (h ^ (h >> 13)) * <uint32_t>0xC2B2AE35
    return h ^ (h >> 16)


cdef inline uint32_t murmur_short(uint64_t word, uint32_t size, uint32_t seed) noexcept nogil:
    """The hash of the lowest `size` < 8 bytes of a word."""
    cdef uint32_t low = <uint32_t>word
    cdef uint32_t blocked = add_block(seed, low)
    cdef bint block = size >= 4
    cdef uint32_t h = blocked if block else seed
    cdef uint32_t tail = <uint32_t>(word >> 32) if block else low
    tail &= (<uint32_t>1 << (8 * (size & 3))) - 1
    return finish(h ^ scramble(tail), size)     # scramble(0) is 0: no tail, no change


cdef inline uint32_t murmur(const char* data, size_t size, uint32_t seed) noexcept nogil:
    """The hash of any bytes."""
    cdef uint32_t h = seed, k
    cdef size_t i = 0
    while i + 4 <= size:
        memcpy(&k, data + i, 4)
        h = add_block(h, k)
        i += 4
    k = 0
    if i < size:
        memcpy(&k, data + i, size - i)
    return finish(h ^ scramble(k), <uint32_t>size)


cdef inline uint32_t hash_name(const char* data, size_t size, uint32_t seed) noexcept nogil:
    """Vowpal Wabbit's `strings` hash: a run of digits counts as its number, all else is murmured.

    Bytes up to the space do not count at either end.
    """
    cdef const unsigned char* begin = <const unsigned char*>data
    cdef const unsigned char* end = begin + size
    cdef const unsigned char* p
    cdef uint64_t number = 0
    while begin < end and begin[0] <= 32:
        begin += 1
    while begin < end and end[-1] <= 32:
        end -= 1
    p = begin
    while p < end and 48 <= p[0] <= 57:
        number = number * 10 + (p[0] - 48)
        p += 1
    if p == end:
        return <uint32_t>number + seed
    return murmur(<const char*>begin, end - begin, seed)
