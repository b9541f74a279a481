"""The hashes of names: MurmurHash3_x86_32, and Vowpal Wabbit's two uses of it.

    murmur(s, seed)      Austin Appleby's MurmurHash3_x86_32, as mmh3.hash(s, seed, signed=False)
    all(s, seed)         murmur(s, seed)
    strings(s, seed)     strip bytes <= 0x20 at both ends; if only digits are left (or nothing):
                         their decimal value + seed, mod 2^32; else murmur(stripped, seed)

The steps are separate, so that the parser can hash eight bytes while it has them in a register,
and in C, so that lines_fast.pyx can hash many names at once.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t

from vwlite.core.base.simd cimport load32


cdef extern from *:
    """
    #include <stdint.h>

    static inline uint32_t vwlite_scramble(uint32_t k) {
        k *= 0xcc9e2d51u;
        k = (k << 15) | (k >> 17);
        return k * 0x1b873593u;
    }

    static inline uint32_t vwlite_mix(uint32_t h, uint32_t k) {
        h ^= vwlite_scramble(k);
        h = (h << 13) | (h >> 19);
        return h * 5 + 0xe6546b64u;
    }

    static inline uint32_t vwlite_finish(uint32_t h, uint32_t length) {
        h ^= length;
        h ^= h >> 16;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
        return h ^ (h >> 16);
    }
    """
    uint32_t scramble "vwlite_scramble"(uint32_t k) noexcept nogil
    # Take in four bytes. (The last one to three, zeros behind, are only xored in scrambled.)
    uint32_t mix "vwlite_mix"(uint32_t h, uint32_t k) noexcept nogil
    uint32_t finish "vwlite_finish"(uint32_t h, uint32_t length) noexcept nogil


cdef inline uint32_t murmur(const char* s, size_t n, uint32_t seed) noexcept nogil:
    """Reads the n bytes and none behind them."""
    cdef uint32_t h = seed
    cdef uint32_t tail = 0
    cdef size_t i = 0
    while n - i >= 4:
        h = mix(h, load32(s + i))
        i += 4
    if n - i == 3:
        tail = <uint32_t><uint8_t>s[i + 2] << 16
    if n - i >= 2:
        tail |= <uint32_t><uint8_t>s[i + 1] << 8
    if n - i >= 1:
        tail |= <uint8_t>s[i]
    return finish(h ^ scramble(tail), <uint32_t>n)


cdef inline uint32_t hash_strings(const char* s, size_t n, uint32_t seed) noexcept nogil:
    cdef uint32_t number = 0
    cdef size_t i
    while n > 0 and <uint8_t>s[0] <= 0x20:
        s += 1
        n -= 1
    while n > 0 and <uint8_t>s[n - 1] <= 0x20:
        n -= 1
    for i in range(n):
        if s[i] < c'0' or s[i] > c'9':
            return murmur(s, n, seed)
        number = number * 10 + <uint32_t>(s[i] - c'0')   # mod 2^32, as the low bits of mod 2^64 are
    return number + seed
