"""Many bytes of text at a time.

Words are eight bytes in a 64-bit integer ("SIMD within a register"): the first byte of the text is
the lowest of the integer, on every processor. Windows are 32 bytes of text, of which one asks where
the delimiters are; this has a fast way for x86-64, where VWLITE_SSE2 is defined, and a portable one for the others.
"""

from libc.stdint cimport uint32_t, uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    static inline uint64_t vwlite_load64(const void *p) {
        uint64_t word;
        memcpy(&word, p, 8);
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
    #endif
        return word;
    }

    static inline void vwlite_store64(void *p, uint64_t word) {
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
    #endif
        memcpy(p, &word, 8);
    }

    static inline uint32_t vwlite_load32(const void *p) {
        uint32_t word;
        memcpy(&word, p, 4);
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap32(word);
    #endif
        return word;
    }

    #define VWLITE_EACH(byte) ((uint64_t)0x0101010101010101u * (uint8_t)(byte))

    /* The top bit of each byte that is zero, exactly: no carry leaves a byte. */
    static inline uint64_t vwlite_zeros(uint64_t w) {
        return ~(((w & VWLITE_EACH(0x7F)) + VWLITE_EACH(0x7F)) | w | VWLITE_EACH(0x7F));
    }

    static inline uint32_t vwlite_delimiters_portable(const char *p, char other) {
        uint32_t found = 0;
        for (int i = 0; i < 4; i++) {
            uint64_t w = vwlite_load64(p + 8 * i);
            uint64_t marks = (~(((w & VWLITE_EACH(0x7F)) + VWLITE_EACH(0x7F - 0x20)) | w) & VWLITE_EACH(0x80))
                | vwlite_zeros(w ^ VWLITE_EACH(':')) | vwlite_zeros(w ^ VWLITE_EACH(other));
            /* Gathers the marks in the highest byte. */
            found |= (uint32_t)(((marks >> 7) * 0x0102040810204080u) >> 56) << (8 * i);
        }
        return found;
    }

    #if defined(__SSE2__) && !defined(VWLITE_PORTABLE)
    #define VWLITE_SSE2
    #include <emmintrin.h>

    static inline uint32_t vwlite_delimiters16(const char *p, char other) {
        __m128i w = _mm_loadu_si128((const __m128i *)p), blank = _mm_set1_epi8(0x20);
        __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(w, blank), w);
        __m128i colon = _mm_cmpeq_epi8(w, _mm_set1_epi8(':'));
        __m128i third = _mm_cmpeq_epi8(w, _mm_set1_epi8(other));
        return (uint32_t)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(low, colon), third));
    }

    static inline uint32_t vwlite_delimiters(const char *p, char other) {
        return vwlite_delimiters16(p, other) | vwlite_delimiters16(p + 16, other) << 16;
    }
    #else
    #define vwlite_delimiters vwlite_delimiters_portable
    #endif

    /* The positions of the bits of 64 bytes, as numbers from `at` on, of the first `left` bytes. Returns their number.
       Six at a time, because their number is hard to predict: so the array must have space for 66. */
    static inline size_t vwlite_write_positions(uint64_t bits, size_t left, uint32_t at, uint32_t *positions) {
        size_t found;
        bits = left < 64 ? bits & (((uint64_t)1 << left) - 1) : bits;
        found = __builtin_popcountll(bits);
        for (size_t i = 0; i < found; i += 6) {
            for (size_t j = i; j < i + 6; j++) {
                positions[j] = at + __builtin_ctzll(bits | (uint64_t)1 << 63);
                bits &= bits - 1;
                __asm__ volatile("" ::: "memory");  /* one store each: a vector store would have to be assembled */
            }
        }
        return found;
    }

    static inline uint64_t vwlite_digits_of(uint64_t word) {
        return word ^ VWLITE_EACH('0');
    }

    static inline int vwlite_are_digits(uint64_t digits) {
        return !(((digits + VWLITE_EACH(0x76)) | digits) & VWLITE_EACH(0x80));
    }

    static inline uint64_t vwlite_decimal(uint64_t digits) {
        digits = digits * 10 + (digits >> 8);
        return ((digits & 0x000000FF000000FFu) * 0x000F424000000064u
                + ((digits >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u) >> 32;
    }

    /* Four digits each, two, one: parts of a word are divided at once, by multiplication. */
    static inline uint64_t vwlite_eight_digits(uint32_t n) {
        uint64_t fours = n / 10000 | (uint64_t)(n % 10000) << 32;
        uint64_t hundreds = (fours * 10486 >> 20) & 0x0000007F0000007Fu;
        uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
        uint64_t tens = (twos * 103 >> 10) & 0x000F000F000F000Fu;
        return tens | (twos - 10 * tens) << 8;
    }

    static inline unsigned vwlite_lowest(uint32_t bits) {
        return (unsigned)__builtin_ctz(bits);
    }

    static inline unsigned vwlite_zeros_before(uint64_t word) {
        return (unsigned)__builtin_ctzll(word) / 8;
    }

    static inline unsigned vwlite_zeros_behind(uint64_t word) {
        return (unsigned)__builtin_clzll(word) / 8;
    }

    /* A branch that the processor predicts lets it run ahead; the same choice by arithmetic makes
          the next address wait for the last byte. Compilers prefer the latter: this prevents it. */
    static inline const char *vwlite_foretold(const char *p) {
        __asm__ volatile("" : "+r"(p));
        return p;
    }
    """
    uint64_t load64 "vwlite_load64"(const void* p) noexcept nogil
    void store64 "vwlite_store64"(void* p, uint64_t word) noexcept nogil
    uint32_t load32 "vwlite_load32"(const void* p) noexcept nogil
    uint64_t EACH "VWLITE_EACH"(int byte) noexcept nogil
    # Digits become their values, 0 to 9; everything else becomes a byte above 9.
    uint64_t digits_of "vwlite_digits_of"(uint64_t word) noexcept nogil
    # Whether all eight bytes of a word made by `digits_of` are.
    bint are_digits "vwlite_are_digits"(uint64_t digits) noexcept nogil
    # The number that eight digits (as values) make.
    uint64_t decimal "vwlite_decimal"(uint64_t digits) noexcept nogil
    # The digits of n < 10^8 (as values), with leading zeros.
    uint64_t eight_digits "vwlite_eight_digits"(uint32_t n) noexcept nogil
    # How many bytes are zero before the first other one, and behind the last; there must be one.
    unsigned int zeros_before "vwlite_zeros_before"(uint64_t word) noexcept nogil
    unsigned int zeros_behind "vwlite_zeros_behind"(uint64_t word) noexcept nogil
    # Bit i: p[i] is ':' or `other` or at most 0x20, for i from 0 to 31.
    uint32_t delimiters "vwlite_delimiters"(const char* p, char other) noexcept nogil
    uint32_t delimiters_portable "vwlite_delimiters_portable"(const char* p, char other) noexcept nogil
    # The number of the lowest bit; there must be one.
    unsigned int lowest "vwlite_lowest"(uint32_t bits) noexcept nogil
    const char* foretold "vwlite_foretold"(const char* p) noexcept nogil
    bint likely(bint) noexcept nogil
    bint unlikely(bint) noexcept nogil

cdef enum:
    PADDING = 64  # bytes behind the last one of a text that must be readable


cdef inline uint64_t first_bytes(uint64_t word, unsigned int n) noexcept nogil:
    """The first n bytes, 0 to 7, and zeros behind."""
    return word & ((<uint64_t>1 << (8 * n)) - 1)


cdef inline uint64_t last_of(uint64_t word, unsigned int n) noexcept nogil:
    """The first n bytes, 0 to 7, and zeros before: leading zeros, if the word has digits."""
    return (word << (56 - 8 * n)) << 8
