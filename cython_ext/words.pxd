"""Eight bytes of text at a time, in plain 64-bit arithmetic ("SIMD within a register").

A word is loaded so that the first byte of the text is the lowest byte of the integer, on every
processor. The searches below set the top bit of each byte that they look for; a borrow or carry
may also mark a byte *after* a true one, so only the lowest mark counts, and that one is exact.
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

    static inline uint32_t vwlite_load32(const void *p) {
        uint32_t word;
        memcpy(&word, p, 4);
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap32(word);
    #endif
        return word;
    }

    static inline unsigned vwlite_lowest_byte(uint64_t marks) {
        return (unsigned)__builtin_ctzll(marks) >> 3;
    }

    /* A branch that the processor foretells lets it run ahead; the same choice as arithmetic makes
       the next address wait for the last byte. Compilers prefer the latter: this stops them. */
    static inline const char *vwlite_foretold(const char *p) {
        __asm__ volatile("" : "+r"(p));
        return p;
    }
    """
    const char* foretold "vwlite_foretold"(const char* p) noexcept nogil
    uint64_t load64 "vwlite_load64"(const void* p) noexcept nogil
    uint32_t load32 "vwlite_load32"(const void* p) noexcept nogil
    # The index of the byte with the lowest mark; there must be one.
    unsigned int lowest_byte "vwlite_lowest_byte"(uint64_t marks) noexcept nogil
    bint likely(bint) noexcept nogil
    bint unlikely(bint) noexcept nogil

cdef enum:
    PADDING = 16  # bytes behind the last one of a text that must be readable

cdef extern from *:
    """
    #define VWLITE_EACH(byte) ((uint64_t)0x0101010101010101u * (uint8_t)(byte))
    """
    uint64_t EACH "VWLITE_EACH"(int byte) noexcept nogil


cdef inline uint64_t mark_zeros(uint64_t word) noexcept nogil:
    return (word - EACH(1)) & ~word & EACH(0x80)


cdef inline uint64_t mark_delimiters(uint64_t word) noexcept nogil:
    """Marks bytes up to 0x20, ':' and '|': all that may end a name, and some that do not."""
    return ((word - EACH(0x21)) & ~word & EACH(0x80)) \
        | mark_zeros(word ^ EACH(c':')) | mark_zeros(word ^ EACH(c'|'))


cdef inline uint64_t digits_of(uint64_t word) noexcept nogil:
    """Digits become their values, 0 to 9; everything else becomes a byte above 9."""
    return word ^ EACH(c'0')


cdef inline uint64_t mark_non_digits(uint64_t digits) noexcept nogil:
    """For a word made by `digits_of`."""
    return ((digits + EACH(0x76)) | digits) & EACH(0x80)


cdef inline uint64_t first_bytes(uint64_t word, unsigned int n) noexcept nogil:
    """The first n bytes, 0 to 7, and zeros."""
    return word & ((<uint64_t>1 << (8 * n)) - 1)


cdef inline uint64_t decimal8(uint64_t digits) noexcept nogil:
    """The number that eight digits (as values) make."""
    digits = digits * 10 + (digits >> 8)
    return ((digits & <uint64_t>0x000000FF000000FF) * <uint64_t>0x000F424000000064
            + ((digits >> 16) & <uint64_t>0x000000FF000000FF) * <uint64_t>0x0000271000000001) >> 32


cdef inline uint64_t decimal(uint64_t digits, unsigned int n) noexcept nogil:
    """The number that the first n digits (as values) make, n from 0 to 7."""
    return decimal8((digits << (56 - 8 * n)) << 8)
