"""XXH64 (Y. Collet, seed 0): a checksum that detects damage, many times as fast as learning. It does not protect from
intentional changes.

`row_hashes`: the first 64 bits of MurmurHash3_x64_128 (A. Appleby), by which `vwlite split` divides rows.
"""

from cpython.array cimport array, clone
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from vwlite.core.base.simd cimport load32, load64     # their C functions are used below

cdef extern from *:
    """
    #define VWLITE_P1 0x9E3779B185EBCA87ULL
    #define VWLITE_P2 0xC2B2AE3D27D4EB4FULL
    #define VWLITE_P3 0x165667B19E3779F9ULL
    #define VWLITE_P4 0x85EBCA77C2B2AE63ULL
    #define VWLITE_P5 0x27D4EB2F165667C5ULL

    static inline uint64_t vwlite_turn(uint64_t x, int bits) {
        return x << bits | x >> (64 - bits);
    }

    static inline uint64_t vwlite_round(uint64_t sum, uint64_t input) {
        return vwlite_turn(sum + input * VWLITE_P2, 31) * VWLITE_P1;
    }

    /* The stripes of 32 bytes that are whole. */
    static void vwlite_stripes(uint64_t sums[4], const uint8_t *p, size_t size) {
        for (const uint8_t *end = p + (size & ~(size_t)31); p < end; p += 32) {
            for (int i = 0; i < 4; i++) {
                sums[i] = vwlite_round(sums[i], vwlite_load64(p + 8 * i));
            }
        }
    }

    /* size: of all; p: the bytes after the last whole stripe. */
    static uint64_t vwlite_finish_sum(const uint64_t sums[4], const uint8_t *p, size_t size) {
        const uint8_t *end = p + size % 32;
        uint64_t h = VWLITE_P5;
        if (size >= 32) {
            h = vwlite_turn(sums[0], 1) + vwlite_turn(sums[1], 7) + vwlite_turn(sums[2], 12) + vwlite_turn(sums[3], 18);
            for (int i = 0; i < 4; i++) {
                h = (h ^ vwlite_round(0, sums[i])) * VWLITE_P1 + VWLITE_P4;
            }
        }
        h += size;
        for (; end - p >= 8; p += 8) {
            h = vwlite_turn(h ^ vwlite_round(0, vwlite_load64(p)), 27) * VWLITE_P1 + VWLITE_P4;
        }
        for (; end - p >= 4; p += 4) {
            h = vwlite_turn(h ^ vwlite_load32(p) * VWLITE_P1, 23) * VWLITE_P2 + VWLITE_P3;
        }
        for (; p < end; p++) {
            h = vwlite_turn(h ^ *p * VWLITE_P5, 11) * VWLITE_P1;
        }
        h = (h ^ h >> 33) * VWLITE_P2;
        h = (h ^ h >> 29) * VWLITE_P3;
        return h ^ h >> 32;
    }
    static const uint64_t vwlite_first_sums[4] = {VWLITE_P1 + VWLITE_P2, VWLITE_P2, 0, 0 - VWLITE_P1};
    """
    const uint64_t* first_sums "vwlite_first_sums"
    void stripes "vwlite_stripes"(uint64_t* sums, const uint8_t* p, size_t size) noexcept nogil
    uint64_t finish_sum "vwlite_finish_sum"(const uint64_t* sums, const uint8_t* p, size_t size) noexcept nogil


cdef class Checksum:
    """The sum of bytes that come in parts."""
    cdef uint64_t[4] sums
    cdef size_t size
    cdef bytes rest

    def __init__(self):
        self.rest = b""
        self.size = 0
        for i in range(4):
            self.sums[i] = first_sums[i]

    def add(self, const uint8_t[::1] data):
        """The next part. ValueError: one came before that was not of whole stripes of 32 bytes; only the last may be."""
        cdef size_t size = data.shape[0], whole = size & ~<size_t>31
        if self.rest:
            raise ValueError("a part that is not the last is not of whole stripes")
        if size == 0:
            return
        with nogil:
            stripes(self.sums, &data[0], size)
        self.rest = bytes(data[whole:])
        self.size += size

    @property
    def value(self):
        """The checksum of all parts so far, 64 bits."""
        return finish_sum(self.sums, self.rest, self.size)


def checksum(const uint8_t[::1] data):
    """The sum of bytes, of 64 bits."""
    cdef Checksum found = Checksum()
    found.add(data)
    return found.value


cdef extern from *:
    """
    #define VWLITE_C1 0x87c37b91114253d5ULL
    #define VWLITE_C2 0x4cf5ad432745937fULL

    static inline uint64_t vwlite_avalanche(uint64_t k) {
        k = (k ^ k >> 33) * 0xff51afd7ed558ccdULL;
        k = (k ^ k >> 33) * 0xc4ceb9fe1a85ec53ULL;
        return k ^ k >> 33;
    }

    static uint64_t vwlite_murmur128(const char *s, size_t size, uint32_t seed) {
        uint64_t h1 = seed, h2 = seed, k[2];
        const char *end = s + (size & ~(size_t)15);
        for (; s < end; s += 16) {
            h1 ^= vwlite_turn(vwlite_load64(s) * VWLITE_C1, 31) * VWLITE_C2;
            h1 = (vwlite_turn(h1, 27) + h2) * 5 + 0x52dce729;
            h2 ^= vwlite_turn(vwlite_load64(s + 8) * VWLITE_C2, 33) * VWLITE_C1;
            h2 = (vwlite_turn(h2, 31) + h1) * 5 + 0x38495ab5;
        }
        k[0] = k[1] = 0;
        for (size_t i = 0; i < size % 16; i++) k[i / 8] |= (uint64_t)(uint8_t)s[i] << 8 * (i % 8);
        h2 ^= vwlite_turn(k[1] * VWLITE_C2, 33) * VWLITE_C1 ^ size;
        h1 ^= vwlite_turn(k[0] * VWLITE_C1, 31) * VWLITE_C2 ^ size;
        h1 += h2;
        h2 += h1;
        h1 = vwlite_avalanche(h1);
        return h1 + vwlite_avalanche(h2);
    }
    """
    uint64_t murmur128 "vwlite_murmur128"(const char* s, size_t size, uint32_t seed) noexcept nogil


def row_hashes(list texts, uint32_t seed):
    """An array("Q") with the hash of each text, which is bytes: as mmh3.hash64(text, seed, signed=False)[0]."""
    cdef array found = clone(array("Q"), len(texts), False)
    cdef bytes text
    cdef size_t i
    for i in range(len(texts)):
        text = texts[i]
        found.data.as_ulonglongs[i] = murmur128(text, len(text), seed)
    return found
